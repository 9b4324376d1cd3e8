/* Modules and what is made of their instructions: shared by modules.c and sites.c. */
#ifndef CTS_MEMORY_MODULES_H
#define CTS_MEMORY_MODULES_H

#include "instrumented.h"
#include "memory.h"
#include "record/inject/cubin/cubin.h"

#define CTS_PC_MASK (((uint32_t)1 << CTS_RING_PC_BITS) - 1)

struct cts_memory_module {
    CUmodule handle; /* NULL: unloaded */
    CUcontext context;
    struct cts_cubin cubin;
    struct cts_instrumented *instrumented; /* NULL: it is to be patched */
    uint32_t id;                           /* in the catalogue; CTS_NONE: no row yet */
    uint32_t *sources;                     /* per file of the cubin; CTS_NONE: no row yet */
    void *image;                           /* kept for a disassembler; NULL: not */
    size_t image_bytes;
    bool is_patched, cannot_patch;
};

struct cts_code_range { /* of instructions */
    uint32_t first, count;
    struct cts_memory_module *module;
    const struct cts_cubin_function *function; /* NULL: not in the cubin */
    char *name;
};

/* The catalogue's rows; under the lock of modules.c. */
void cts_module_make_row(struct cts_memory_module *module);
uint32_t cts_module_source(struct cts_memory_module *module, uint32_t file);
uint32_t cts_module_add_site(const struct cts_code_range *range,
                             const struct cts_ring_record *record);
/* What of a kernel is not recorded. */
void cts_module_tell_unrecorded(struct cts_memory_module *module,
                                const struct cts_cubin_function *function, const char *name);

/* A name as sources have it; the caller frees. NULL: no memory. */
char *cts_memory_demangled(const char *name);
/* Files that are not the user's. */
bool cts_memory_is_of_toolkit(const char *path);

/* Sites without a line get one in the disassembly of their function, if the toolkit's disassembler
 * is there (disassembly.c). */
bool cts_disassembly_is_wanted(size_t image_bytes);
void cts_disassembly_add(const struct cts_code_range *range, const struct cts_site *site,
                         uint64_t offset_bytes);
/* At the end of the program: runs the disassembler and writes the rows again. */
void cts_disassembly_finish(void);

#endif
