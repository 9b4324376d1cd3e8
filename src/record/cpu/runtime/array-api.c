/* CUDA arrays and the copies that name them. Rows begin at multiples of 512 bytes, so that an array
 * looks like pitched memory to everything else. */
#include "array-table.h"

#include <stdlib.h>

#include "copy-api.h"
#include "memory-api.h"
#include "stream.h"
#include "try-watch.h"

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                   enum cudaChannelFormatKind f)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, f};
}

bool cts_format_texel(const struct cudaChannelFormatDesc *format, uint32_t *channel_count,
                      uint32_t *texel_bytes)
{
    const int bits[4] = {format->x, format->y, format->z, format->w};
    uint32_t count = 0;
    while (count < 4 && bits[count] == bits[0]) count++;
    for (uint32_t i = count; i < 4; i++)
        if (bits[i] != 0) return false;
    if (count != 1 && count != 2 && count != 4) return false;
    if (bits[0] != 8 && bits[0] != 16 && bits[0] != 32) return false;
    if (format->f == cudaChannelFormatKindFloat ? bits[0] == 8
                                                : (unsigned)format->f > cudaChannelFormatKindFloat)
        return false;
    *channel_count = count;
    *texel_bytes = count * (uint32_t)bits[0] / 8;
    return true;
}

static cudaError_t create(cudaArray_t *handle, const struct cudaChannelFormatDesc *format,
                          struct cudaExtent extent, unsigned flags, const char *call)
{
    uint32_t channels, texel_bytes;
    if (!handle || !format || extent.width == 0) return cudaErrorInvalidValue;
    if (!cts_format_texel(format, &channels, &texel_bytes))
        return cudaErrorInvalidChannelDescriptor;
    const unsigned known =
        cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap | cudaArrayTextureGather;
    if (flags & ~known || extent.width > UINT32_MAX || extent.height > UINT32_MAX ||
        extent.depth > UINT32_MAX)
        return cudaErrorInvalidValue;
    struct cudaArray *const array = calloc(1, sizeof *array);
    if (!array) return cudaErrorMemoryAllocation;
    *array = (struct cudaArray){.format = *format,
                                .width = extent.width,
                                .height = extent.height,
                                .depth = extent.depth,
                                .pitch_bytes = (extent.width * texel_bytes + 511) / 512 * 512,
                                .texel_bytes = texel_bytes,
                                .flags = flags};
    array->slice_bytes = array->pitch_bytes * (extent.height ? extent.height : 1);
    uint64_t bytes;
    void *data;
    const bool fits =
        !__builtin_mul_overflow(array->slice_bytes, extent.depth ? extent.depth : 1, &bytes);
    const cudaError_t error = fits ? cts_memory_allocate(CTS_RANGE_ARRAY, bytes, 0, call, &data)
                                   : cudaErrorMemoryAllocation;
    if (error != cudaSuccess) {
        free(array);
        return error;
    }
    array->data = data;
    cts_array_insert(array);
    *handle = array;
    return cudaSuccess;
}

cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
                            size_t width, size_t height, unsigned int flags)
{
    CTS_ENTER();
    return cts_return(create(array, desc, make_cudaExtent(width, height, 0), flags, __func__));
}

cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
                              struct cudaExtent extent, unsigned int flags)
{
    CTS_ENTER();
    return cts_return(create(array, desc, extent, flags, __func__));
}

cudaError_t cudaFreeArray(cudaArray_t array)
{
    CTS_ENTER();
    if (!array) return cudaSuccess;
    if (!cts_array_take(array)) return cts_return(cudaErrorInvalidResourceHandle);
    const bool stays = cts_try_is_on() && cts_try_watcher->keeps();
    const cudaError_t error = cts_memory_free(array->data, 1u << CTS_RANGE_ARRAY);
    if (!stays) free(array);
    return cts_return(error);
}

static const char no_mipmaps[] = "mipmapped arrays";

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *mipmappedArray,
                                     const struct cudaChannelFormatDesc *desc,
                                     struct cudaExtent extent, unsigned int numLevels,
                                     unsigned int flags)
{
    (void)mipmappedArray, (void)desc, (void)extent, (void)numLevels, (void)flags;
    return cts_refuse(__func__, no_mipmaps);
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *levelArray,
                                       cudaMipmappedArray_const_t mipmappedArray,
                                       unsigned int level)
{
    (void)levelArray, (void)mipmappedArray, (void)level;
    return cts_refuse(__func__, no_mipmaps);
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t mipmappedArray)
{
    return mipmappedArray ? cts_refuse(__func__, no_mipmaps) : cudaSuccess;
}

cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent,
                             unsigned int *flags, cudaArray_t array)
{
    CTS_ENTER();
    if (!array || !cts_array_is_known(array)) return cts_return(cudaErrorInvalidResourceHandle);
    if (desc) *desc = array->format;
    if (extent) *extent = make_cudaExtent(array->width, array->height, array->depth);
    if (flags) *flags = array->flags;
    return cudaSuccess;
}

cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_const_t array)
{
    CTS_ENTER();
    if (!desc) return cts_return(cudaErrorInvalidValue);
    if (!array || !cts_array_is_known(array)) return cts_return(cudaErrorInvalidResourceHandle);
    *desc = array->format;
    return cudaSuccess;
}

/* ---- copies ---- */

/* A corner of an array; x in bytes. */
struct corner {
    const struct cudaArray *array;
    size_t x_bytes, y;
};

static uint64_t address_of(const struct corner *corner)
{
    return (uint64_t)corner->array->data + corner->y * corner->array->pitch_bytes + corner->x_bytes;
}

/* Whether `height` rows of `width_bytes` lie in the array from the corner on. */
static bool fits(const struct corner *corner, size_t width_bytes, size_t height)
{
    const struct cudaArray *const array = corner->array;
    if (!array || !cts_array_is_known(array)) return false;
    const uint64_t row = array->width * array->texel_bytes;
    const uint64_t rows = array->height ? array->height : 1;
    return corner->x_bytes <= row && width_bytes <= row - corner->x_bytes && corner->y <= rows &&
           height <= rows - corner->y;
}

static cudaError_t copy_2d_to(const struct corner *to, struct cts_pitched from, size_t width,
                              size_t height, struct cts_copy_call call)
{
    if (!fits(to, width, height)) return cudaErrorInvalidValue;
    if (height > 1 && width > from.pitch_bytes) return cudaErrorInvalidPitchValue;
    const struct cts_geometry geometry = {.destination = address_of(to),
                                          .source = (uint64_t)from.pointer,
                                          .width_bytes = width,
                                          .height = height,
                                          .depth = 1,
                                          .destination_pitch = to->array->pitch_bytes,
                                          .source_pitch = from.pitch_bytes,
                                          .destination_slice = to->array->slice_bytes,
                                          .source_slice = from.pitch_bytes * height};
    return cts_copy_queue(&geometry, call);
}

static cudaError_t copy_2d_from(struct cts_pitched to, const struct corner *from, size_t width,
                                size_t height, struct cts_copy_call call)
{
    if (!fits(from, width, height)) return cudaErrorInvalidValue;
    if (height > 1 && width > to.pitch_bytes) return cudaErrorInvalidPitchValue;
    const struct cts_geometry geometry = {.destination = (uint64_t)to.pointer,
                                          .source = address_of(from),
                                          .width_bytes = width,
                                          .height = height,
                                          .depth = 1,
                                          .destination_pitch = to.pitch_bytes,
                                          .source_pitch = from->array->pitch_bytes,
                                          .destination_slice = to.pitch_bytes * height,
                                          .source_slice = from->array->slice_bytes};
    return cts_copy_queue(&geometry, call);
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src,
                                size_t spitch, size_t width, size_t height,
                                enum cudaMemcpyKind kind)
{
    CTS_ENTER();
    const struct corner to = {dst, wOffset, hOffset};
    return cts_return(copy_2d_to(&to, (struct cts_pitched){src, spitch}, width, height,
                                 (struct cts_copy_call){kind, false, NULL}));
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset,
                                     const void *src, size_t spitch, size_t width, size_t height,
                                     enum cudaMemcpyKind kind, cudaStream_t stream)
{
    CTS_ENTER();
    const struct corner to = {dst, wOffset, hOffset};
    return cts_return(copy_2d_to(&to, (struct cts_pitched){src, spitch}, width, height,
                                 (struct cts_copy_call){kind, true, stream}));
}

cudaError_t cudaMemcpy2DFromArray(void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset,
                                  size_t hOffset, size_t width, size_t height,
                                  enum cudaMemcpyKind kind)
{
    CTS_ENTER();
    const struct corner from = {src, wOffset, hOffset};
    return cts_return(copy_2d_from((struct cts_pitched){dst, dpitch}, &from, width, height,
                                   (struct cts_copy_call){kind, false, NULL}));
}

cudaError_t cudaMemcpy2DFromArrayAsync(void *dst, size_t dpitch, cudaArray_const_t src,
                                       size_t wOffset, size_t hOffset, size_t width, size_t height,
                                       enum cudaMemcpyKind kind, cudaStream_t stream)
{
    CTS_ENTER();
    const struct corner from = {src, wOffset, hOffset};
    return cts_return(copy_2d_from((struct cts_pitched){dst, dpitch}, &from, width, height,
                                   (struct cts_copy_call){kind, true, stream}));
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst,
                                     cudaArray_const_t src, size_t wOffsetSrc, size_t hOffsetSrc,
                                     size_t width, size_t height, enum cudaMemcpyKind kind)
{
    CTS_ENTER();
    const struct corner to = {dst, wOffsetDst, hOffsetDst}, from = {src, wOffsetSrc, hOffsetSrc};
    if (!fits(&from, width, height)) return cts_return(cudaErrorInvalidValue);
    const struct cts_pitched source = {(const void *)address_of(&from), src->pitch_bytes};
    return cts_return(
        copy_2d_to(&to, source, width, height, (struct cts_copy_call){kind, false, NULL}));
}

/* The old one-dimensional copies run on from row to row: part of a first row, whole rows, part of
 * a last one. `copy` gets each piece; `done` bytes are behind it. */
static cudaError_t in_pieces(const struct corner *start, size_t count,
                             cudaError_t (*copy)(const struct corner *at, size_t done, size_t width,
                                                 size_t height, void *data),
                             void *data)
{
    const struct cudaArray *const array = start->array;
    if (!array || !cts_array_is_known(array)) return cudaErrorInvalidValue;
    const size_t row = array->width * array->texel_bytes;
    struct corner at = *start;
    cudaError_t error = cudaSuccess;
    for (size_t done = 0; done < count && error == cudaSuccess;) {
        size_t width = row - at.x_bytes, height = 1;
        if (at.x_bytes > row) return cudaErrorInvalidValue;
        if (width > count - done) width = count - done;
        if (at.x_bytes == 0 && width == row) height = (count - done) / row;
        if (width == 0) return cudaErrorInvalidValue;
        error = copy(&at, done, width, height, data);
        done += width * height;
        at.x_bytes = 0;
        at.y += height;
    }
    return error;
}

struct linear_copy {
    const char *source;
    char *destination;
    struct cts_copy_call call;
};

static cudaError_t piece_to(const struct corner *at, size_t done, size_t width, size_t height,
                            void *data)
{
    const struct linear_copy *const copy = data;
    return copy_2d_to(at, (struct cts_pitched){copy->source + done, width}, width, height,
                      copy->call);
}

static cudaError_t piece_from(const struct corner *at, size_t done, size_t width, size_t height,
                              void *data)
{
    const struct linear_copy *const copy = data;
    return copy_2d_from((struct cts_pitched){copy->destination + done, width}, at, width, height,
                        copy->call);
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src,
                                   size_t count, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    CTS_ENTER();
    const struct corner to = {dst, wOffset, hOffset};
    struct linear_copy copy = {src, NULL, {kind, true, stream}};
    return cts_return(in_pieces(&to, count, piece_to, &copy));
}

cudaError_t cudaMemcpyToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src,
                              size_t count, enum cudaMemcpyKind kind)
{
    CTS_ENTER();
    const struct corner to = {dst, wOffset, hOffset};
    struct linear_copy copy = {src, NULL, {kind, false, NULL}};
    return cts_return(in_pieces(&to, count, piece_to, &copy));
}

cudaError_t cudaMemcpyFromArrayAsync(void *dst, cudaArray_const_t src, size_t wOffset,
                                     size_t hOffset, size_t count, enum cudaMemcpyKind kind,
                                     cudaStream_t stream)
{
    CTS_ENTER();
    const struct corner from = {src, wOffset, hOffset};
    struct linear_copy copy = {NULL, dst, {kind, true, stream}};
    return cts_return(in_pieces(&from, count, piece_from, &copy));
}

cudaError_t cudaMemcpyFromArray(void *dst, cudaArray_const_t src, size_t wOffset, size_t hOffset,
                                size_t count, enum cudaMemcpyKind kind)
{
    CTS_ENTER();
    const struct corner from = {src, wOffset, hOffset};
    struct linear_copy copy = {NULL, dst, {kind, false, NULL}};
    return cts_return(in_pieces(&from, count, piece_from, &copy));
}

cudaError_t cudaMemcpyArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst,
                                   cudaArray_const_t src, size_t wOffsetSrc, size_t hOffsetSrc,
                                   size_t count, enum cudaMemcpyKind kind)
{
    CTS_ENTER();
    /* Equal shapes and whole rows are what it is used for. */
    const struct corner to = {dst, wOffsetDst, hOffsetDst}, from = {src, wOffsetSrc, hOffsetSrc};
    if (!fits(&to, 0, 0) || !fits(&from, 0, 0)) return cts_return(cudaErrorInvalidValue);
    const size_t row = src->width * src->texel_bytes;
    if (count % row == 0 && wOffsetDst == 0 && wOffsetSrc == 0)
        return cudaMemcpy2DArrayToArray(dst, 0, hOffsetDst, src, 0, hOffsetSrc, row, count / row,
                                        kind);
    if (count <= row - wOffsetSrc)
        return cudaMemcpy2DArrayToArray(dst, wOffsetDst, hOffsetDst, src, wOffsetSrc, hOffsetSrc,
                                        count, 1, kind);
    return cts_refuse(__func__, "a count that is neither within a row nor whole rows");
}
