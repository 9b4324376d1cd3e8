/* A module of device code, and what is known of its instructions. */
#ifndef CTS_MEMORY_LOADED_MODULE_H
#define CTS_MEMORY_LOADED_MODULE_H

#include <sanitizer.h>

#include "instrumented.h"
#include "record/inject/cubin/cubin.h"
#include "record/ring/ring.h"

#define CTS_PC_MASK (((uint32_t)1 << CTS_RING_PC_BITS) - 1)

struct cts_memory_module {
    CUmodule handle; /* NULL: unloaded */
    CUcontext context;
    struct cts_cubin cubin;
    struct cts_instrumented *instrumented; /* NULL: it is to be patched */
    uint32_t id;                           /* in the catalogue; CTS_NONE: no row yet */
    uint32_t *sources;                     /* per file of the cubin; CTS_NONE: no row yet */
    uint64_t *variable_addresses;          /* per variable of the cubin; 0: not known. Or NULL */
    uint32_t first_allocation;             /* that stands for one of them; CTS_NONE: none does */
    void *image;                           /* kept for a disassembler; NULL: not */
    size_t image_bytes;
    bool is_patched, cannot_patch;
    bool told_unknown_copy;
    bool records_copies; /* its markers are patched */
};

struct cts_code_range { /* of instructions */
    uint32_t first, count;
    struct cts_memory_module *module;
    const struct cts_cubin_function *function; /* NULL: not in the cubin */
    char *name;
};

#endif
