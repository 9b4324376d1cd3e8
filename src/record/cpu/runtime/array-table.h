/* CUDA arrays: texels in rows (and planes) in device memory. The layout is plain, not swizzled. */
#ifndef CTS_CPU_ARRAY_H
#define CTS_CPU_ARRAY_H

#include "runtime.h"

struct cudaArray {
    struct cudaArray *next; /* all arrays */
    struct cudaChannelFormatDesc format;
    uint64_t width, height, depth; /* texels; 0 where the array has no such dimension */
    uint64_t pitch_bytes, slice_bytes;
    uint32_t texel_bytes;
    unsigned flags;
    unsigned char *data;
};

/* ---- the program's arrays (array-table.c) ---- */

void cts_array_insert(struct cudaArray *array);
/* False: it was not there. */
bool cts_array_take(const struct cudaArray *array);
/* NULL counts as known. */
bool cts_array_is_known(const struct cudaArray *array);

/* ---- array-api.c ---- */

/* Channels of equal bits: their number, and the bytes of a texel; false for other formats. */
bool cts_format_texel(const struct cudaChannelFormatDesc *format, uint32_t *channel_count,
                      uint32_t *texel_bytes);

#endif
