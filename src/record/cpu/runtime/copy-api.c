/* Copies and fills: what every cudaMemcpy* and cudaMemset* comes down to is a *geometry* (rows,
 * planes) between two *places* (a pointer, or an offset in an array), checked once.
 *
 * When the host waits follows CUDA: a copy that touches pageable host memory is over when the call
 * returns, except that an asynchronous one from pageable memory only has taken its source (a
 * staging copy); device-to-device copies and fills never make the host wait. */
#include "copy-api.h"

#include <stdlib.h>
#include <string.h>

#include "array-table.h"
#include "range.h"
#include "record.h"
#include "stream.h"
#include "common/promise.h"

/* ---- what lies where ---- */

enum side { SIDE_HOST, SIDE_DEVICE };

/* Bytes from the first to behind the last one of the side with this pitch and slice. */
static bool span(const struct cts_geometry *geometry, uint64_t pitch, uint64_t slice,
                 uint64_t *bytes)
{
    assert(geometry->height && geometry->depth);
    uint64_t planes, rows;
    return !__builtin_mul_overflow(geometry->depth - 1, slice, &planes) &&
           !__builtin_mul_overflow(geometry->height - 1, pitch, &rows) &&
           !__builtin_add_overflow(planes, rows, bytes) &&
           !__builtin_add_overflow(*bytes, geometry->width_bytes, bytes);
}

struct side_check {
    bool is_known;
    struct cts_range range;
};

/* Whether `bytes` at `address` can be what the copy's kind says they are. */
static bool check_side(uint64_t address, uint64_t bytes, enum side side, bool is_told,
                       struct side_check *check)
{
    check->is_known = cts_range_find((const void *)address, &check->range);
    if (!check->is_known) {
        if (side == SIDE_DEVICE && is_told) return false;
        return address != 0;
    }
    const struct cts_range *const range = &check->range;
    if (bytes > range->address + range->size_bytes - address)
        return range->kind == CTS_RANGE_REGISTERED; /* partly registered host memory is fine */
    return !is_told || side == SIDE_DEVICE || !cts_range_is_device(range);
}

static bool is_on_device(const struct side_check *check)
{
    return check->is_known &&
           (cts_range_is_device(&check->range) || check->range.kind == CTS_RANGE_MANAGED);
}

static const char *kind_name(bool from_device, bool to_device, const struct side_check *source,
                             const struct side_check *destination)
{
    if (!from_device) return to_device ? "HtoD" : "HtoH";
    if (!to_device) return "DtoH";
    const bool is_peer = cts_range_is_device(&source->range) && source->is_known &&
                         cts_range_is_device(&destination->range) && destination->is_known &&
                         source->range.device != destination->range.device;
    return is_peer ? "PtoP" : "DtoD";
}

/* ---- copying ---- */

static void *stage(const struct cts_geometry *geometry)
{
    const uint64_t row = geometry->width_bytes;
    char *const staging = malloc(row * geometry->height * geometry->depth);
    if (!staging) return NULL;
    struct cts_geometry packed = *geometry;
    packed.destination = (uint64_t)staging;
    packed.destination_pitch = row;
    packed.destination_slice = row * geometry->height;
    cts_geometry_copy(&packed);
    return staging;
}

/* How an asynchronous copy is queued: with its source staged, or waiting after all. */
static enum cts_submission asynchronous_wait(struct cts_work *work, const struct side_check *source,
                                             const struct side_check *destination,
                                             cudaStream_t stream)
{
    const bool from_pageable = !source->is_known, to_pageable = !destination->is_known;
    if (!from_pageable && !to_pageable) return CTS_ASYNCHRONOUS;
    const enum cts_stream_state state = cts_stream_state(stream);
    if (state == CTS_STREAM_CAPTURING) return CTS_ASYNCHRONOUS; /* copied when the graph runs */
    if (to_pageable) return CTS_WAIT_UNTIL_DONE;
    if (state == CTS_STREAM_IDLE) return CTS_WAIT_UNTIL_DONE; /* as quick as staging */
    work->copy.staging = stage(&work->copy.geometry);
    return work->copy.staging ? CTS_ASYNCHRONOUS : CTS_WAIT_UNTIL_DONE;
}

cudaError_t cts_copy_queue(const struct cts_geometry *geometry, struct cts_copy_call call)
{
    const enum cudaMemcpyKind kind = call.kind;
    if ((unsigned)kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
    if (geometry->width_bytes == 0 || geometry->height == 0 || geometry->depth == 0)
        return cudaSuccess;
    const bool is_told = kind != cudaMemcpyDefault;
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    uint64_t source_bytes, destination_bytes;
    struct side_check source, destination;
    if (!span(geometry, geometry->source_pitch, geometry->source_slice, &source_bytes) ||
        !span(geometry, geometry->destination_pitch, geometry->destination_slice,
              &destination_bytes))
        return cudaErrorInvalidValue;
    if (!check_side(geometry->source, source_bytes, from_device ? SIDE_DEVICE : SIDE_HOST, is_told,
                    &source) ||
        !check_side(geometry->destination, destination_bytes, to_device ? SIDE_DEVICE : SIDE_HOST,
                    is_told, &destination))
        return cudaErrorInvalidValue;
    if (!is_told) {
        from_device = is_on_device(&source);
        to_device = is_on_device(&destination);
    }
    struct cts_work work = {
        .kind = CTS_WORK_COPY,
        .copy = {.geometry = *geometry,
                 .kind = kind_name(from_device, to_device, &source, &destination)}};
    enum cts_submission wait = CTS_WAIT_UNTIL_DONE;
    if (call.asynchronous) wait = asynchronous_wait(&work, &source, &destination, call.stream);
    if (!call.asynchronous && from_device && to_device) wait = CTS_ASYNCHRONOUS; /* as in CUDA */
    work.copy.asynchronous = wait == CTS_ASYNCHRONOUS;
    return cts_stream_submit(call.stream, &work, wait);
}

static struct cts_geometry linear(const void *destination, const void *source, size_t count)
{
    return (struct cts_geometry){.destination = (uint64_t)destination,
                                 .source = (uint64_t)source,
                                 .width_bytes = count,
                                 .height = 1,
                                 .depth = 1,
                                 .destination_pitch = count,
                                 .source_pitch = count,
                                 .destination_slice = count,
                                 .source_slice = count};
}

cudaError_t cudaMemcpy(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind)
{
    CTS_ENTER();
    const struct cts_geometry geometry = linear(dst, src, count);
    return cts_return(cts_copy_queue(&geometry, (struct cts_copy_call){kind, false, NULL}));
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    CTS_ENTER();
    const struct cts_geometry geometry = linear(dst, src, count);
    return cts_return(cts_copy_queue(&geometry, (struct cts_copy_call){kind, true, stream}));
}

static cudaError_t copy_peer(int to_device, int from_device, const struct cts_geometry *geometry,
                             bool asynchronous, cudaStream_t stream)
{
    if (!cts_device_is_valid(to_device) || !cts_device_is_valid(from_device))
        return cudaErrorInvalidDevice;
    return cts_copy_queue(geometry,
                          (struct cts_copy_call){cudaMemcpyDeviceToDevice, asynchronous, stream});
}

cudaError_t cudaMemcpyPeer(void *dst, int dstDevice, const void *src, int srcDevice, size_t count)
{
    CTS_ENTER();
    const struct cts_geometry geometry = linear(dst, src, count);
    return cts_return(copy_peer(dstDevice, srcDevice, &geometry, false, NULL));
}

cudaError_t cudaMemcpyPeerAsync(void *dst, int dstDevice, const void *src, int srcDevice,
                                size_t count, cudaStream_t stream)
{
    CTS_ENTER();
    const struct cts_geometry geometry = linear(dst, src, count);
    return cts_return(copy_peer(dstDevice, srcDevice, &geometry, true, stream));
}

/* ---- two dimensions ---- */

static cudaError_t copy_2d(struct cts_pitched to, struct cts_pitched from, size_t width,
                           size_t height, struct cts_copy_call call)
{
    if (width > to.pitch_bytes || width > from.pitch_bytes) return cudaErrorInvalidPitchValue;
    struct cts_geometry geometry = linear(to.pointer, from.pointer, width);
    geometry.height = height;
    geometry.destination_pitch = to.pitch_bytes;
    geometry.source_pitch = from.pitch_bytes;
    geometry.destination_slice = to.pitch_bytes * height;
    geometry.source_slice = from.pitch_bytes * height;
    return cts_copy_queue(&geometry, call);
}

cudaError_t cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                         size_t height, enum cudaMemcpyKind kind)
{
    CTS_ENTER();
    const struct cts_pitched to = {dst, dpitch}, from = {src, spitch};
    return cts_return(copy_2d(to, from, width, height, (struct cts_copy_call){kind, false, NULL}));
}

cudaError_t cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream)
{
    CTS_ENTER();
    const struct cts_pitched to = {dst, dpitch}, from = {src, spitch};
    return cts_return(copy_2d(to, from, width, height, (struct cts_copy_call){kind, true, stream}));
}

/* ---- three dimensions ---- */

/* One side of a three-dimensional copy: an address and how to go on from it. */
struct place {
    uint64_t address, pitch, slice;
};

static bool place_of_pointer(const struct cudaPitchedPtr *pointer, struct cudaPos position,
                             const struct cudaExtent *extent, uint64_t width_bytes,
                             struct place *place)
{
    if (!pointer->ptr) return false;
    if (extent->height > 1 || extent->depth > 1)
        if (width_bytes > pointer->pitch || position.x > pointer->pitch - width_bytes) return false;
    const uint64_t rows = pointer->ysize ? pointer->ysize : extent->height;
    if (extent->depth > 1 && extent->height + position.y > rows) return false;
    place->pitch = pointer->pitch ? pointer->pitch : width_bytes;
    place->slice = place->pitch * rows;
    place->address =
        (uint64_t)pointer->ptr + position.z * place->slice + position.y * place->pitch + position.x;
    return true;
}

/* In arrays x and the width are counted in elements. */
static bool place_in_array(const struct cudaArray *array, struct cudaPos position,
                           const struct cudaExtent *extent, struct place *place)
{
    const uint64_t height = array->height ? array->height : 1;
    const uint64_t depth = array->depth ? array->depth : 1;
    if (position.x > array->width || extent->width > array->width - position.x ||
        position.y > height || extent->height > height - position.y || position.z > depth ||
        extent->depth > depth - position.z)
        return false;
    place->pitch = array->pitch_bytes;
    place->slice = array->slice_bytes;
    place->address = (uint64_t)array->data + position.z * place->slice + position.y * place->pitch +
                     position.x * array->texel_bytes;
    return true;
}

bool cts_copy_geometry_3d(const struct cudaMemcpy3DParms *parameters, struct cts_geometry *geometry)
{
    const struct cudaMemcpy3DParms *const p = parameters;
    const struct cudaArray *const array = p->srcArray ? p->srcArray : p->dstArray;
    const uint64_t element = array ? array->texel_bytes : 1;
    if (p->srcArray && p->dstArray && p->srcArray->texel_bytes != p->dstArray->texel_bytes)
        return false;
    uint64_t width_bytes;
    if (__builtin_mul_overflow(p->extent.width, element, &width_bytes)) return false;
    /* With an array on the other side, a pointer's x counts the array's elements, not bytes. */
    struct cudaPos from_position = p->srcPos, to_position = p->dstPos;
    if (!p->srcArray && __builtin_mul_overflow(from_position.x, element, &from_position.x))
        return false;
    if (!p->dstArray && __builtin_mul_overflow(to_position.x, element, &to_position.x))
        return false;
    struct place from, to;
    const bool source =
        p->srcArray ? place_in_array(p->srcArray, from_position, &p->extent, &from)
                    : place_of_pointer(&p->srcPtr, from_position, &p->extent, width_bytes, &from);
    const bool destination =
        p->dstArray ? place_in_array(p->dstArray, to_position, &p->extent, &to)
                    : place_of_pointer(&p->dstPtr, to_position, &p->extent, width_bytes, &to);
    if (!source || !destination) return false;
    *geometry = (struct cts_geometry){.destination = to.address,
                                      .source = from.address,
                                      .width_bytes = width_bytes,
                                      .height = p->extent.height,
                                      .depth = p->extent.depth,
                                      .destination_pitch = to.pitch,
                                      .source_pitch = from.pitch,
                                      .destination_slice = to.slice,
                                      .source_slice = from.slice};
    return true;
}

static cudaError_t copy_3d(const struct cudaMemcpy3DParms *p, bool asynchronous,
                           cudaStream_t stream)
{
    if (!p) return cudaErrorInvalidValue;
    if (p->extent.width == 0 || p->extent.height == 0 || p->extent.depth == 0) return cudaSuccess;
    if (!cts_array_is_known(p->srcArray) || !cts_array_is_known(p->dstArray))
        return cudaErrorInvalidValue;
    struct cts_geometry geometry;
    if (!cts_copy_geometry_3d(p, &geometry)) return cudaErrorInvalidValue;
    return cts_copy_queue(&geometry, (struct cts_copy_call){p->kind, asynchronous, stream});
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p)
{
    CTS_ENTER();
    return cts_return(copy_3d(p, false, NULL));
}

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
    CTS_ENTER();
    return cts_return(copy_3d(p, true, stream));
}

static cudaError_t copy_3d_peer(const struct cudaMemcpy3DPeerParms *p, bool asynchronous,
                                cudaStream_t stream)
{
    if (!p) return cudaErrorInvalidValue;
    if (!cts_device_is_valid(p->srcDevice) || !cts_device_is_valid(p->dstDevice))
        return cudaErrorInvalidDevice;
    const struct cudaMemcpy3DParms plain = {.srcArray = p->srcArray,
                                            .srcPos = p->srcPos,
                                            .srcPtr = p->srcPtr,
                                            .dstArray = p->dstArray,
                                            .dstPos = p->dstPos,
                                            .dstPtr = p->dstPtr,
                                            .extent = p->extent,
                                            .kind = cudaMemcpyDeviceToDevice};
    return copy_3d(&plain, asynchronous, stream);
}

cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p)
{
    CTS_ENTER();
    return cts_return(copy_3d_peer(p, false, NULL));
}

cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream)
{
    CTS_ENTER();
    return cts_return(copy_3d_peer(p, true, stream));
}

/* ---- symbols ---- */

/* Part of a variable of the device. */
struct symbol_part {
    const void *symbol;
    size_t offset, count; /* bytes */
};

static cudaError_t find_symbol(struct symbol_part part, char **address)
{
    const struct cts_variable_desc *const variable = cts_registry_variable(part.symbol);
    if (!variable || !variable->address) return cudaErrorInvalidSymbol;
    if (part.offset > variable->size_bytes || part.count > variable->size_bytes - part.offset)
        return cudaErrorInvalidValue;
    *address = (char *)variable->address + part.offset;
    return cudaSuccess;
}

static cudaError_t copy_to_symbol(struct symbol_part to, const void *from,
                                  struct cts_copy_call call)
{
    if (call.kind != cudaMemcpyHostToDevice && call.kind != cudaMemcpyDeviceToDevice &&
        call.kind != cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    char *address;
    const cudaError_t error = find_symbol(to, &address);
    if (error != cudaSuccess) return error;
    const struct cts_geometry geometry = linear(address, from, to.count);
    return cts_copy_queue(&geometry, call);
}

static cudaError_t copy_from_symbol(void *to, struct symbol_part from, struct cts_copy_call call)
{
    if (call.kind != cudaMemcpyDeviceToHost && call.kind != cudaMemcpyDeviceToDevice &&
        call.kind != cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    char *address;
    const cudaError_t error = find_symbol(from, &address);
    if (error != cudaSuccess) return error;
    const struct cts_geometry geometry = linear(to, address, from.count);
    return cts_copy_queue(&geometry, call);
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *src, size_t count, size_t offset,
                               enum cudaMemcpyKind kind)
{
    CTS_ENTER();
    return cts_return(copy_to_symbol((struct symbol_part){symbol, offset, count}, src,
                                     (struct cts_copy_call){kind, false, NULL}));
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t count,
                                    size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    CTS_ENTER();
    return cts_return(copy_to_symbol((struct symbol_part){symbol, offset, count}, src,
                                     (struct cts_copy_call){kind, true, stream}));
}

cudaError_t cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t count, size_t offset,
                                 enum cudaMemcpyKind kind)
{
    CTS_ENTER();
    return cts_return(copy_from_symbol(dst, (struct symbol_part){symbol, offset, count},
                                       (struct cts_copy_call){kind, false, NULL}));
}

cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t count, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream)
{
    CTS_ENTER();
    return cts_return(copy_from_symbol(dst, (struct symbol_part){symbol, offset, count},
                                       (struct cts_copy_call){kind, true, stream}));
}

cudaError_t cudaGetSymbolAddress(void **devPtr, const void *symbol)
{
    CTS_ENTER();
    if (!devPtr) return cts_return(cudaErrorInvalidValue);
    char *address;
    const cudaError_t error = find_symbol((struct symbol_part){.symbol = symbol}, &address);
    if (error == cudaSuccess) *devPtr = address;
    return cts_return(error);
}

cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol)
{
    CTS_ENTER();
    if (!size) return cts_return(cudaErrorInvalidValue);
    const struct cts_variable_desc *const variable = cts_registry_variable(symbol);
    if (!variable) return cts_return(cudaErrorInvalidSymbol);
    *size = variable->size_bytes;
    return cudaSuccess;
}

/* ---- fills ---- */

cudaError_t cts_fill(const struct cts_geometry *geometry, uint32_t value, uint32_t element_bytes,
                     cudaStream_t stream)
{
    if (geometry->width_bytes == 0 || geometry->height == 0 || geometry->depth == 0)
        return cudaSuccess;
    uint64_t bytes;
    struct cts_range range;
    if (!span(geometry, geometry->destination_pitch, geometry->destination_slice, &bytes) ||
        !cts_range_find((const void *)geometry->destination, &range) ||
        bytes > range.address + range.size_bytes - geometry->destination)
        return cudaErrorInvalidValue;
    struct cts_work work = {.kind = CTS_WORK_MEMSET, .memset = {*geometry, value, element_bytes}};
    /* Memory that the host reads without asking must be filled when the call returns. */
    const bool is_host = range.kind == CTS_RANGE_PINNED || range.kind == CTS_RANGE_REGISTERED;
    return cts_stream_submit(stream, &work, is_host ? CTS_WAIT_UNTIL_DONE : CTS_ASYNCHRONOUS);
}

static cudaError_t fill_bytes(struct cudaPitchedPtr to, int value, struct cudaExtent extent,
                              cudaStream_t stream)
{
    if (extent.height > 1 && extent.width > to.pitch) return cudaErrorInvalidPitchValue;
    if (extent.depth > 1 && extent.height > to.ysize) return cudaErrorInvalidValue;
    struct cts_geometry geometry = linear(to.ptr, NULL, extent.width);
    geometry.height = extent.height;
    geometry.depth = extent.depth;
    geometry.destination_pitch = to.pitch;
    geometry.destination_slice = to.pitch * to.ysize;
    return cts_fill(&geometry, (uint8_t)value, 1, stream);
}

cudaError_t cudaMemset(void *devPtr, int value, size_t count)
{
    CTS_CALL();
    return cudaMemsetAsync(devPtr, value, count, NULL);
}

cudaError_t cudaMemset2D(void *devPtr, size_t pitch, int value, size_t width, size_t height)
{
    CTS_CALL();
    return cudaMemset2DAsync(devPtr, pitch, value, width, height, NULL);
}

cudaError_t cudaMemset3D(struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent)
{
    CTS_CALL();
    return cudaMemset3DAsync(pitchedDevPtr, value, extent, NULL);
}

cudaError_t cudaMemsetAsync(void *devPtr, int value, size_t count, cudaStream_t stream)
{
    CTS_ENTER();
    return cts_return(fill_bytes(make_cudaPitchedPtr(devPtr, count, count, 1), value,
                                 make_cudaExtent(count, 1, 1), stream));
}

cudaError_t cudaMemset2DAsync(void *devPtr, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream)
{
    CTS_ENTER();
    return cts_return(fill_bytes(make_cudaPitchedPtr(devPtr, pitch, width, height), value,
                                 make_cudaExtent(width, height, 1), stream));
}

cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr pitchedDevPtr, int value,
                              struct cudaExtent extent, cudaStream_t stream)
{
    CTS_ENTER();
    return cts_return(fill_bytes(pitchedDevPtr, value, extent, stream));
}
