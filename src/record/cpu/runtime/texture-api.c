/* The host side of textures and surfaces: objects and references become a `struct cts_texture` that
 * device code reads (ctascope_texture.h). An object's handle is the struct's address; a reference
 * has an 8-byte device variable that holds the address of what it is bound to.
 *
 * Binding a reference anew waits for the device: on a GPU launches in flight keep the old binding.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "array-table.h"
#include "range.h"
#include "record/cpu/texture.h"
#include "registry.h"
#include "runtime.h"
#include "stream.h"
#include "try-watch.h"
#include "common/promise.h"

struct object {
    struct cts_texture texture; /* first: the handle points here */
    struct object *next;
    struct cudaResourceDesc resource;
    struct cudaTextureDesc description;
    bool is_surface;
};

/* What a texture or surface reference is bound to. */
struct binding {
    struct binding *next;
    const void *reference;
    struct cts_texture texture;
    size_t offset_bytes;
    bool is_bound;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct object *objects;
static struct binding *bindings;

/* ---- resources ---- */

static cudaError_t set_format(struct cts_texture *texture,
                              const struct cudaChannelFormatDesc *format)
{
    if (!cts_format_texel(format, &texture->channel_count, &texture->texel_bytes))
        return cudaErrorInvalidChannelDescriptor;
    texture->channel_bits = (unsigned)format->x;
    texture->channel_kind = format->f;
    return cudaSuccess;
}

static cudaError_t set_array(struct cts_texture *texture, const struct cudaArray *array)
{
    if (!array || !cts_array_is_known(array)) return cudaErrorInvalidValue;
    texture->form = CTS_TEXTURE_ARRAY;
    texture->data = array->data;
    texture->width = array->width;
    texture->height = array->height;
    texture->depth = array->depth;
    texture->pitch_bytes = array->pitch_bytes;
    texture->slice_bytes = array->slice_bytes;
    texture->array_flags = array->flags;
    return set_format(texture, &array->format);
}

static bool is_device_memory(const void *pointer, uint64_t bytes)
{
    struct cts_range range;
    return cts_range_find(pointer, &range) &&
           bytes <= range.address + range.size_bytes - (uint64_t)pointer;
}

static cudaError_t set_linear(struct cts_texture *texture, void *pointer,
                              const struct cudaChannelFormatDesc *format, uint64_t bytes)
{
    const cudaError_t error = set_format(texture, format);
    if (error != cudaSuccess) return error;
    if (!is_device_memory(pointer, bytes)) return cudaErrorInvalidValue;
    texture->form = CTS_TEXTURE_LINEAR;
    texture->data = pointer;
    texture->width = bytes / texture->texel_bytes;
    return cudaSuccess;
}

static cudaError_t set_pitched(struct cts_texture *texture, void *pointer,
                               const struct cudaChannelFormatDesc *format, struct cudaExtent extent,
                               uint64_t pitch_bytes)
{
    const cudaError_t error = set_format(texture, format);
    if (error != cudaSuccess) return error;
    if (extent.width == 0 || extent.height == 0 ||
        extent.width > pitch_bytes / texture->texel_bytes || extent.height > UINT32_MAX ||
        pitch_bytes > UINT32_MAX ||
        !is_device_memory(pointer,
                          pitch_bytes * (extent.height - 1) + extent.width * texture->texel_bytes))
        return cudaErrorInvalidValue;
    texture->form = CTS_TEXTURE_PITCH;
    texture->data = pointer;
    texture->width = extent.width;
    texture->height = extent.height;
    texture->pitch_bytes = pitch_bytes;
    texture->slice_bytes = pitch_bytes * extent.height;
    return cudaSuccess;
}

static cudaError_t set_resource(struct cts_texture *texture,
                                const struct cudaResourceDesc *resource)
{
    switch (resource->resType) {
    case cudaResourceTypeArray:
        return set_array(texture, resource->res.array.array);
    case cudaResourceTypeLinear:
        return set_linear(texture, resource->res.linear.devPtr, &resource->res.linear.desc,
                          resource->res.linear.sizeInBytes);
    case cudaResourceTypePitch2D:
        return set_pitched(
            texture, resource->res.pitch2D.devPtr, &resource->res.pitch2D.desc,
            make_cudaExtent(resource->res.pitch2D.width, resource->res.pitch2D.height, 1),
            resource->res.pitch2D.pitchInBytes);
    case cudaResourceTypeMipmappedArray:
        break;
    }
    return cts_refuse("cudaCreateTextureObject", "mipmapped arrays");
}

/* Filtering needs float results: not of integers read as they are. */
static bool is_filter_possible(const struct cts_texture *texture)
{
    return texture->filter_mode == cudaFilterModePoint ||
           texture->read_mode == cudaReadModeNormalizedFloat ||
           texture->channel_kind == cudaChannelFormatKindFloat;
}

static cudaError_t set_description(struct cts_texture *texture,
                                   const struct cudaTextureDesc *description)
{
    for (int i = 0; i < 3; i++) {
        if ((unsigned)description->addressMode[i] > cudaAddressModeBorder)
            return cudaErrorInvalidValue;
        texture->address_mode[i] = description->addressMode[i];
    }
    texture->filter_mode = description->filterMode;
    texture->read_mode = description->readMode;
    texture->normalized = description->normalizedCoords != 0;
    texture->srgb = description->sRGB != 0;
    memcpy(texture->border, description->borderColor, sizeof texture->border);
    const bool is_known = (unsigned)description->filterMode <= cudaFilterModeLinear &&
                          (unsigned)description->readMode <= cudaReadModeNormalizedFloat;
    return is_known ? cudaSuccess : cudaErrorInvalidValue;
}

static cudaError_t check_conversion(const struct cts_texture *texture)
{
    if (!is_filter_possible(texture)) return cudaErrorInvalidFilterSetting;
    if (texture->read_mode == cudaReadModeNormalizedFloat && texture->channel_bits == 32 &&
        texture->channel_kind != cudaChannelFormatKindFloat)
        return cudaErrorInvalidNormSetting;
    return cudaSuccess;
}

/* ---- objects ---- */

static void add_object(struct object *object)
{
    pthread_mutex_lock(&lock);
    object->next = objects;
    objects = object;
    pthread_mutex_unlock(&lock);
}

static bool find_object(unsigned long long handle, bool is_surface, struct object *copy)
{
    pthread_mutex_lock(&lock);
    const struct object *object = objects;
    while (object && (uint64_t)object != handle) object = object->next;
    const bool found = object && object->is_surface == is_surface;
    if (found) *copy = *object;
    pthread_mutex_unlock(&lock);
    return found;
}

static cudaError_t destroy_object(unsigned long long handle, bool is_surface)
{
    struct object copy;
    if (!handle) return cudaSuccess;
    if (!find_object(handle, is_surface, &copy)) return cudaErrorInvalidValue;
    const bool stays = cts_try_is_on() && cts_try_watcher->keeps();
    cts_streams_wait_device(cts_current_device()); /* launches in flight may read it */
    pthread_mutex_lock(&lock);
    struct object **place = &objects;
    while (*place && (uint64_t)*place != handle) place = &(*place)->next;
    struct object *const object = *place;
    if (object) *place = object->next;
    pthread_mutex_unlock(&lock);
    const bool done = object != NULL;
    if (!stays) free(object);
    return done ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *pTexObject,
                                    const struct cudaResourceDesc *pResDesc,
                                    const struct cudaTextureDesc *pTexDesc,
                                    const struct cudaResourceViewDesc *pResViewDesc)
{
    CTS_ENTER();
    if (!pTexObject || !pResDesc || !pTexDesc) return cts_return(cudaErrorInvalidValue);
    if (pResViewDesc && pResViewDesc->format != cudaResViewFormatNone)
        return cts_refuse(__func__, "resource views with a format of their own");
    struct object *const object = calloc(1, sizeof *object);
    if (!object) return cts_return(cudaErrorMemoryAllocation);
    object->resource = *pResDesc;
    object->description = *pTexDesc;
    cudaError_t error = set_resource(&object->texture, pResDesc);
    if (error == cudaSuccess) error = set_description(&object->texture, pTexDesc);
    if (error == cudaSuccess) error = check_conversion(&object->texture);
    if (error != cudaSuccess) {
        free(object);
        return cts_return(error);
    }
    add_object(object);
    *pTexObject = (cudaTextureObject_t)object;
    return cudaSuccess;
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texObject)
{
    CTS_ENTER();
    return cts_return(destroy_object(texObject, false));
}

cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *pResDesc,
                                             cudaTextureObject_t texObject)
{
    CTS_ENTER();
    struct object object;
    if (!pResDesc || !find_object(texObject, false, &object))
        return cts_return(cudaErrorInvalidValue);
    *pResDesc = object.resource;
    return cudaSuccess;
}

cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *pTexDesc,
                                            cudaTextureObject_t texObject)
{
    CTS_ENTER();
    struct object object;
    if (!pTexDesc || !find_object(texObject, false, &object))
        return cts_return(cudaErrorInvalidValue);
    *pTexDesc = object.description;
    return cudaSuccess;
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *pSurfObject,
                                    const struct cudaResourceDesc *pResDesc)
{
    CTS_ENTER();
    if (!pSurfObject || !pResDesc || pResDesc->resType != cudaResourceTypeArray)
        return cts_return(cudaErrorInvalidValue);
    const struct cudaArray *const array = pResDesc->res.array.array;
    if (!array || !cts_array_is_known(array) || !(array->flags & cudaArraySurfaceLoadStore))
        return cts_return(cudaErrorInvalidValue);
    struct object *const object = calloc(1, sizeof *object);
    if (!object) return cts_return(cudaErrorMemoryAllocation);
    object->resource = *pResDesc;
    object->is_surface = true;
    const cudaError_t error = set_array(&object->texture, array);
    if (error != cudaSuccess) {
        free(object);
        return cts_return(error);
    }
    add_object(object);
    *pSurfObject = (cudaSurfaceObject_t)object;
    return cudaSuccess;
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surfObject)
{
    CTS_ENTER();
    return cts_return(destroy_object(surfObject, true));
}

cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *pResDesc,
                                             cudaSurfaceObject_t surfObject)
{
    CTS_ENTER();
    struct object object;
    if (!pResDesc || !find_object(surfObject, true, &object))
        return cts_return(cudaErrorInvalidValue);
    *pResDesc = object.resource;
    return cudaSuccess;
}

/* ---- references ---- */

static struct binding *find_binding(const void *reference)
{
    CTS_ASSERT_HELD(&lock);
    struct binding *binding = bindings;
    while (binding && binding->reference != reference) binding = binding->next;
    return binding;
}

/* Makes the reference's device variable point at the texture. */
static cudaError_t bind(const void *reference, const struct cts_texture *texture,
                        size_t offset_bytes)
{
    uint64_t *const handle = cts_registry_texture(reference);
    if (!handle) return cudaErrorInvalidTexture;
    cts_streams_wait_device(cts_current_device());
    pthread_mutex_lock(&lock);
    struct binding *binding = find_binding(reference);
    if (!binding) {
        binding = calloc(1, sizeof *binding);
        if (binding) {
            binding->reference = reference;
            binding->next = bindings;
            bindings = binding;
        }
    }
    if (binding) {
        binding->texture = *texture;
        binding->offset_bytes = offset_bytes;
        binding->is_bound = true;
        *handle = (uint64_t)&binding->texture;
    }
    pthread_mutex_unlock(&lock);
    return binding ? cudaSuccess : cudaErrorMemoryAllocation;
}

/* The read mode of a reference is part of its type, which the fetch knows. */
static cudaError_t set_modes(struct cts_texture *texture, const struct textureReference *reference)
{
    struct cudaTextureDesc description = {.filterMode = reference->filterMode,
                                          .readMode = cudaReadModeElementType,
                                          .sRGB = reference->sRGB,
                                          .normalizedCoords = reference->normalized};
    memcpy(description.addressMode, reference->addressMode, sizeof description.addressMode);
    return set_description(texture, &description);
}

cudaError_t cudaBindTexture(size_t *offset, const struct textureReference *texref,
                            const void *devPtr, const struct cudaChannelFormatDesc *desc,
                            size_t size)
{
    CTS_ENTER();
    if (!texref || !desc) return cts_return(cudaErrorInvalidValue);
    struct cts_range range;
    if (!cts_range_find(devPtr, &range)) return cts_return(cudaErrorInvalidDevicePointer);
    /* The default size means: to the end of the memory. */
    const uint64_t rest = range.address + range.size_bytes - (uint64_t)devPtr;
    struct cts_texture texture = {0};
    cudaError_t error =
        set_linear(&texture, (void *)(uintptr_t)devPtr, desc, size < rest ? size : rest);
    if (error == cudaSuccess) error = set_modes(&texture, texref);
    if (error == cudaSuccess) error = bind(texref, &texture, 0);
    if (error == cudaSuccess && offset) *offset = 0; /* any element can be the first */
    return cts_return(error);
}

cudaError_t cudaBindTexture2D(size_t *offset, const struct textureReference *texref,
                              const void *devPtr, const struct cudaChannelFormatDesc *desc,
                              size_t width, size_t height, size_t pitch)
{
    CTS_ENTER();
    if (!texref || !desc) return cts_return(cudaErrorInvalidValue);
    struct cts_texture texture = {0};
    cudaError_t error = set_pitched(&texture, (void *)(uintptr_t)devPtr, desc,
                                    make_cudaExtent(width, height, 1), pitch);
    if (error == cudaSuccess) error = set_modes(&texture, texref);
    if (error == cudaSuccess) error = bind(texref, &texture, 0);
    if (error == cudaSuccess && offset) *offset = 0;
    return cts_return(error);
}

cudaError_t cudaBindTextureToArray(const struct textureReference *texref, cudaArray_const_t array,
                                   const struct cudaChannelFormatDesc *desc)
{
    CTS_ENTER();
    if (!texref) return cts_return(cudaErrorInvalidTexture);
    struct cts_texture texture = {0};
    cudaError_t error = set_array(&texture, array);
    if (error == cudaSuccess && desc) error = set_format(&texture, desc);
    if (error == cudaSuccess && array->texel_bytes != texture.texel_bytes)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess) error = set_modes(&texture, texref);
    if (error == cudaSuccess) error = bind(texref, &texture, 0);
    return cts_return(error);
}

cudaError_t cudaUnbindTexture(const struct textureReference *texref)
{
    CTS_ENTER();
    uint64_t *const handle = cts_registry_texture(texref);
    if (!handle) return cts_return(cudaErrorInvalidTexture);
    cts_streams_wait_device(cts_current_device());
    pthread_mutex_lock(&lock);
    struct binding *const binding = find_binding(texref);
    if (binding) binding->is_bound = false;
    *handle = 0;
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

cudaError_t cudaGetTextureAlignmentOffset(size_t *offset, const struct textureReference *texref)
{
    CTS_ENTER();
    pthread_mutex_lock(&lock);
    const struct binding *const binding = find_binding(texref);
    const bool is_bound = binding && binding->is_bound;
    if (is_bound && offset) *offset = binding->offset_bytes;
    pthread_mutex_unlock(&lock);
    if (!offset) return cts_return(cudaErrorInvalidValue);
    return cts_return(is_bound ? cudaSuccess : cudaErrorInvalidTextureBinding);
}

cudaError_t cudaGetTextureReference(const struct textureReference **texref, const void *symbol)
{
    CTS_ENTER();
    if (!texref || !cts_registry_texture(symbol)) return cts_return(cudaErrorInvalidTexture);
    *texref = symbol; /* the host object begins with it */
    return cudaSuccess;
}

cudaError_t cudaBindSurfaceToArray(const struct surfaceReference *surfref, cudaArray_const_t array,
                                   const struct cudaChannelFormatDesc *desc)
{
    CTS_ENTER();
    (void)desc; /* the array knows its own */
    struct cts_texture texture = {0};
    cudaError_t error = set_array(&texture, array);
    if (error == cudaSuccess && !(array->flags & cudaArraySurfaceLoadStore))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess) error = bind(surfref, &texture, 0);
    return cts_return(error);
}

cudaError_t cudaGetSurfaceReference(const struct surfaceReference **surfref, const void *symbol)
{
    CTS_ENTER();
    if (!surfref || !cts_registry_texture(symbol)) return cts_return(cudaErrorInvalidSurface);
    *surfref = symbol;
    return cudaSuccess;
}
