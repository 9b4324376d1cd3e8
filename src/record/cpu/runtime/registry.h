/* What the compiled files registered: kernels and variables by the host's pointers. */
#ifndef CTS_CPU_REGISTRY_H
#define CTS_CPU_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "common/image.h"
#include "record/cpu/engine.h"
#include "runtime.h"

struct cts_fat_binary;

/* A file's device code. Lives until the process ends, also when its library is unloaded; what
 * `loaded.desc` and `kernels[].desc` point to lies in the library and goes with it. */
struct cts_file {
    struct cts_file *next;
    struct cts_image image;         /* that it lies in */
    struct cts_fat_binary *binary;  /* its host side; NULL: none yet */
    struct cts_loaded_file loaded;  /* what the engine is told; sites only while recording */
    struct cts_cpu_kernel *kernels; /* one per desc->kernels */
    uint32_t module, first_source, first_kernel, first_variable; /* catalogue ids */
    bool recorded;                                               /* its rows are in the catalogue */
    bool has_slots;                                              /* the engine was asked for them */
    bool is_loaded;                                              /* variables are known as ranges */
    _Atomic bool is_gone;                                        /* its library was unloaded */
};

struct cts_cpu_kernel {
    const struct cts_kernel_desc *desc;
    struct cts_file *file;
    uint32_t id;            /* catalogue id */
    uint32_t dynamic_limit; /* bytes; cudaFuncAttributeMaxDynamicSharedMemorySize */
    int carveout;
    bool is_selected;                 /* by CTASCOPE_KERNEL_NAME */
    _Atomic uint32_t timeline_region; /* plus one; 0: not yet asked for */
};

/* The kernel behind a host stub; NULL, and one line the first time, when there is none. */
struct cts_cpu_kernel *cts_registry_kernel(const void *host_function);

/* The host's stub of a kernel, or its shadow of a variable, of a library, by the mangled name;
 * NULL: there is none. */
const void *cts_registry_stub(const struct cts_image *image, const char *name);
const void *cts_registry_shadow(const struct cts_image *image, const char *name);

/* Address and size of a variable by the host's shadow; NULL when unknown. */
const struct cts_variable_desc *cts_registry_variable(const void *shadow);

/* The device's 8-byte handle variable of a texture or surface reference; NULL when unknown. */
uint64_t *cts_registry_texture(const void *reference);

/* Prepares files that were registered since the last time; cheap when there are none. */
void cts_registry_load(void);

/* The process ends: libraries that say goodbye from now on stay in memory. */
void cts_registry_note_exit(void);

#endif
