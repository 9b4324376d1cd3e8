/* Only where all devices have the one compute capability whose copies are known: a library may be
 * loaded on any of them later. The driver is asked whether it takes a marked image before the
 * program's call goes on with it; if anything fails, the call has the original. Marked images stay
 * for good: the driver may read them until their library is unloaded, and the same library may come
 * again. */
#include "images.h"

#include <elf.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/buffer.h"
#include "common/hash.h"
#include "library.h"
#include "memory-run.h"
#include "patching.h"
#include "record/inject/cubin/fatbin.h"
#include "record/inject/cubin/copy-marks.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    struct known {
        uint64_t checksum; /* of the cubin */
        void *marked;      /* NULL: it stays as it is */
        char *reason;      /* NULL: it has no copies */
    } *items;
    size_t count, capacity;
} images;

/* ---- devices ---- */

static bool has_capability(CUdevice device)
{
    return cts_device_attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
               cts_device_attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR) ==
           CTS_TENSOR_COPY_CAPABILITY;
}

static bool all_have_capability(void)
{
    int count = 0;
    if (!cts_sanitizer.cuDeviceGetCount || cts_sanitizer.cuDeviceGetCount(&count) != CUDA_SUCCESS)
        return false;
    for (int device = 0; device < count; device++)
        if (!has_capability(device)) return false;
    return count > 0;
}

/* ---- an image ---- */

/* The size of a cubin, which the API is not told: to the end of what its headers name. */
static size_t cubin_bytes(const uint8_t *image)
{
    Elf64_Ehdr header;
    memcpy(&header, image, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_shentsize != sizeof(Elf64_Shdr))
        return 0;
    uint64_t end = header.e_shoff + (uint64_t)header.e_shnum * sizeof(Elf64_Shdr);
    const uint64_t segments_end = header.e_phoff + (uint64_t)header.e_phnum * sizeof(Elf64_Phdr);
    if (segments_end > end) end = segments_end;
    for (uint16_t i = 0; i < header.e_shnum; i++) {
        Elf64_Shdr section;
        memcpy(&section, image + header.e_shoff + i * sizeof section, sizeof section);
        const uint64_t bytes = section.sh_type == SHT_NOBITS ? 0 : section.sh_size;
        if (section.sh_offset + bytes > end) end = section.sh_offset + bytes;
    }
    return (size_t)end;
}

/* The cubin that the driver will take, in place or unpacked into `unpacked`; NULL: not known. */
static const void *find_cubin(const void *image, size_t *bytes, struct cts_buffer *unpacked)
{
    const void *const fatbin = cts_fatbin_of(image, bytes);
    struct cts_error error;
    if (!fatbin) {
        *bytes = cubin_bytes(image);
        return *bytes ? image : NULL;
    }
    if (cts_fatbin_cubin(fatbin, *bytes, CTS_TENSOR_COPY_CAPABILITY, unpacked, &error)) return NULL;
    *bytes = unpacked->size_bytes;
    return unpacked->data;
}

/* Whether the driver takes an image. */
static bool is_taken(const void *image, struct cts_error *error)
{
    CUlibrary library = NULL;
    const CUresult result =
        cts_sanitizer.cuLibraryLoadData && cts_sanitizer.cuLibraryUnload
            ? cts_sanitizer.cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0)
            : CUDA_ERROR_NOT_SUPPORTED;
    if (result == CUDA_SUCCESS) (void)cts_sanitizer.cuLibraryUnload(library);
    if (result != CUDA_SUCCESS)
        (void)cts_fail(error, CTS_UNSUPPORTED,
                       "the driver does not take the module with markers (error %d)", (int)result);
    return result == CUDA_SUCCESS;
}

static struct known make(const void *cubin, size_t bytes, uint64_t checksum)
{
    struct known known = {.checksum = checksum};
    struct cts_marked marked;
    struct cts_error error = {0};
    const enum cts_status status = cts_marks_put(cubin, bytes, &marked, &error);
    const bool is_good = !status && marked.image && is_taken(marked.image, &error);
    if (is_good)
        known.marked = marked.image;
    else if (status || marked.image)
        known.reason = strdup(error.text);
    if (!is_good) free(marked.image);
    return known;
}

/* ---- all ---- */

static const struct known *find(uint64_t checksum)
{
    for (size_t i = 0; i < images.count; i++)
        if (images.items[i].checksum == checksum) return &images.items[i];
    return NULL;
}

static void *marked_of(const void *cubin, size_t bytes)
{
    const uint64_t checksum = cts_hash_words(CTS_HASH_START ^ bytes, cubin, bytes);
    pthread_mutex_lock(&lock);
    const struct known *known = find(checksum);
    if (!known && CTS_ARRAY_RESERVE(&images, images.count + 1, NULL) == CTS_OK) {
        images.items[images.count] = make(cubin, bytes, checksum);
        known = &images.items[images.count++];
    }
    void *const marked = known ? known->marked : NULL;
    pthread_mutex_unlock(&lock);
    return marked;
}

void cts_image_replace(void *parameters)
{
    struct {
        void *handle;
        const void *image;
    } call;
    struct cts_buffer unpacked = {0};
    size_t bytes = 0;
    memcpy(&call, parameters, sizeof call);
    if (!call.image || !cts_patching_has_tensors() || !all_have_capability()) return;
    const void *const cubin = find_cubin(call.image, &bytes, &unpacked);
    void *const marked = cubin ? marked_of(cubin, bytes) : NULL;
    if (marked) {
        call.image = marked;
        memcpy(parameters, &call, sizeof call);
    }
    cts_buffer_release(&unpacked);
}

const char *cts_image_reason(const struct cts_cubin *cubin, const char *otherwise)
{
    pthread_mutex_lock(&lock);
    const struct known *const known = find(cubin->checksum);
    const char *const reason = known ? known->reason : NULL;
    pthread_mutex_unlock(&lock);
    return reason ? reason : otherwise;
}
