/* What instrumented device code and the recorder agree on: two symbols of every module that
 * `ctascope cc --device=cuda` compiles. Plain C that clang compiles for NVPTX, too.
 *
 * __cts_module, a variable: what the producer (producer.cu) needs. Zero, so long as nobody records;
 * the recorder (inject/memory/instrumented.c) fills it in when the module is loaded.
 *
 * __cts_table, a constant: what the plugin knows of the module's sites, kernels, variables and
 * sources. Code never reads it; the recorder finds it in the module's image (table.h). */
#ifndef CTS_CUDA_MODULE_H
#define CTS_CUDA_MODULE_H

#include <stdint.h>

#define CTS_CUDA_MODULE "__cts_module"
#define CTS_CUDA_TABLE  "__cts_table"

/* Which launch a warp belongs to. The hardware's number of a grid (%gridid) is the one that the
 * Sanitizer tells at the launch; of a graph's node it is the same in every replay. Before a launch
 * that is recorded, and in its stream, its entry is written at grids[grid id % CTS_CUDA_GRIDS]: the
 * grid id << 20 | the launch's number in the ring. A grid that does not find its id there is not
 * recorded. */
enum { CTS_CUDA_GRIDS = 1 << 16, CTS_CUDA_NUMBER_BITS = 20 };

/* As enum cts_ring_space; and what is found out at run time. */
enum cts_cuda_space {
    CTS_CUDA_GLOBAL = 0,
    CTS_CUDA_SHARED = 1,
    CTS_CUDA_LOCAL = 2,
    CTS_CUDA_UNKNOWN = 3,
};

/* Bits of `spaces`: 1 << enum cts_cuda_space. */
struct cts_cuda_module {
    uint64_t bins;  /* address of struct cts_ring_bin[bin_count]; 0: nobody records */
    uint64_t grids; /* address of uint64_t[CTS_CUDA_GRIDS] */
    uint32_t bin_count, slots_log2;
    uint32_t cta_sample; /* every n-th CTA */
    uint32_t spaces;     /* those that are recorded */
    uint32_t first_site; /* records name site + first_site in the place of an instruction */
    uint32_t padding;
};

#endif
