/* Modules of the driver API. A module is a shared library that `ctascope cc -fatbin` (or -cubin,
 * -ptx) made: device code for this host with the stubs by which the registry knows its kernels and
 * variables. Each load is a library of its own, from an anonymous file with the image's bytes, so
 * that two modules of one image have variables of their own, as on a GPU.
 *
 * A CUfunction is the host's stub of the kernel, which is what the runtime API launches. */
#include "runtime.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#pragma GCC visibility push(default)
#include "../include/ctascope_driver_api.h"
#pragma GCC visibility pop

#include "driver.h"
#include "registry.h"

enum { FILE_BYTES_MAX = 1 << 30 };

struct CUmod_st {
    int file; /* open as long as the module lives: a library of the same name would be this one */
    void *library; /* of dlopen() */
    struct cts_image image;
};

/* ---- images ---- */

/* The size of an ELF file in memory: its section headers are its end; 0: it is no shared library
 * of ours. */
static size_t image_bytes(const void *image)
{
    Elf64_Ehdr header;
    memcpy(&header, image, sizeof header.e_ident);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
        return 0;
    memcpy(&header, image, sizeof header);
    const size_t bytes = header.e_shoff + (size_t)header.e_shnum * header.e_shentsize;
    return header.e_type == ET_DYN && bytes < FILE_BYTES_MAX ? bytes : 0;
}

static bool write_all(int file, const char *bytes, size_t count)
{
    while (count > 0) {
        const ssize_t written = write(file, bytes, count);
        if (written <= 0) return false;
        bytes += written;
        count -= (size_t)written;
    }
    return true;
}

/* Makes a library of an image's bytes; false: it cannot be loaded. */
static bool open_image(struct CUmod_st *module, const void *image, size_t bytes)
{
    char path[32];
    struct link_map *map;
    module->file = memfd_create("ctascope-module", MFD_CLOEXEC);
    if (module->file < 0) return false;
    snprintf(path, sizeof path, "/proc/self/fd/%d", module->file);
    if (write_all(module->file, image, bytes))
        module->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!module->library) {
        const char *const reason = dlerror();
        cts_say("a module cannot be loaded: %s", reason ? reason : "no memory");
    } else if (dlinfo(module->library, RTLD_DI_LINKMAP, &map) == 0 &&
               cts_image_find(map->l_ld, &module->image)) {
        return true;
    } else {
        dlclose(module->library);
    }
    close(module->file);
    return false;
}

/* What an image is that is none of ours. */
static CUresult refuse_image(const char *function, const void *image)
{
    const unsigned char *const bytes = image;
    const bool is_cubin = memcmp(bytes, ELFMAG, SELFMAG) == 0;
    const bool is_fatbin = bytes[0] == 0x50 && bytes[1] == 0xed && bytes[2] == 0x55;
    cts_say("%s: %s cannot run on the CPU device; make the module with 'ctascope cc -fatbin'",
            function,
            is_cubin    ? "machine code of a GPU"
            : is_fatbin ? "a fat binary for GPUs"
                        : "PTX, or what else this image is,");
    return CUDA_ERROR_INVALID_IMAGE;
}

static CUresult load(const char *function, CUmodule *module, const void *image)
{
    if (!module || !image) return CUDA_ERROR_INVALID_VALUE;
    if (cts_enter_lenient() != cudaSuccess) return CUDA_ERROR_NOT_INITIALIZED;
    const size_t bytes = image_bytes(image);
    if (!bytes) return refuse_image(function, image);
    struct CUmod_st *const loaded = calloc(1, sizeof *loaded);
    if (!loaded) return CUDA_ERROR_OUT_OF_MEMORY;
    if (!open_image(loaded, image, bytes)) {
        free(loaded);
        return CUDA_ERROR_INVALID_IMAGE;
    }
    cts_registry_load();
    *module = loaded;
    return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    CTS_KEEP_LAST_ERROR();
    return load(__func__, module, image);
}

/* Options say how to compile PTX. */
CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions,
                            CUjit_option *options, void **optionValues)
{
    (void)numOptions, (void)options, (void)optionValues;
    CTS_KEEP_LAST_ERROR();
    return load(__func__, module, image);
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *fatCubin)
{
    CTS_KEEP_LAST_ERROR();
    return load(__func__, module, fatCubin);
}

/* A file's bytes with a zero behind them, to be freed. */
static void *read_file(const char *path)
{
    FILE *const file = fopen(path, "rb");
    char *bytes = NULL;
    size_t count = 0, capacity = 1 << 16;
    if (!file) return NULL;
    for (;;) {
        char *const grown = capacity < FILE_BYTES_MAX ? realloc(bytes, capacity) : NULL;
        if (!grown) break;
        bytes = grown;
        count += fread(bytes + count, 1, capacity - count - 1, file);
        bytes[count] = '\0';
        if (count < capacity - 1) {
            fclose(file);
            return bytes;
        }
        capacity *= 2;
    }
    free(bytes);
    fclose(file);
    return NULL;
}

CUresult cuModuleLoad(CUmodule *module, const char *fname)
{
    enum { LEAST_BYTES = 64 };
    CTS_KEEP_LAST_ERROR();
    if (!module || !fname) return CUDA_ERROR_INVALID_VALUE;
    char *const bytes = read_file(fname);
    if (!bytes) return CUDA_ERROR_FILE_NOT_FOUND;
    const bool is_elf = strncmp(bytes, ELFMAG, SELFMAG) == 0;
    const CUresult result = is_elf ? load(__func__, module, bytes)
                                   : refuse_image(__func__, strlen(bytes) ? bytes : "PTX");
    free(bytes);
    return result;
}

CUresult cuModuleUnload(CUmodule hmod)
{
    CTS_CALL();
    CTS_KEEP_LAST_ERROR();
    if (!hmod) return CUDA_ERROR_INVALID_HANDLE;
    (void)cudaDeviceSynchronize();
    dlclose(hmod->library);
    close(hmod->file);
    free(hmod);
    return CUDA_SUCCESS;
}

/* ---- what is in a module ---- */

CUresult cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name)
{
    CTS_KEEP_LAST_ERROR();
    if (!hfunc || !name) return CUDA_ERROR_INVALID_VALUE;
    if (!hmod) return CUDA_ERROR_INVALID_HANDLE;
    const void *const stub = cts_registry_stub(&hmod->image, name);
    if (!stub) return CUDA_ERROR_NOT_FOUND;
    *hfunc = (CUfunction)(uintptr_t)stub;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod, const char *name)
{
    CTS_KEEP_LAST_ERROR();
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    if (!hmod) return CUDA_ERROR_INVALID_HANDLE;
    const void *const shadow = cts_registry_shadow(&hmod->image, name);
    const struct cts_variable_desc *const variable = shadow ? cts_registry_variable(shadow) : NULL;
    if (!variable) return CUDA_ERROR_NOT_FOUND;
    if (dptr) *dptr = (CUdeviceptr)(uintptr_t)variable->address;
    if (bytes) *bytes = variable->size_bytes;
    return CUDA_SUCCESS;
}

/* ---- functions ---- */

CUresult cuFuncGetAttribute(int *pi, CUfunction_attribute attrib, CUfunction hfunc)
{
    CTS_KEEP_LAST_ERROR();
    struct cudaFuncAttributes all;
    if (!pi) return CUDA_ERROR_INVALID_VALUE;
    const cudaError_t error = cudaFuncGetAttributes(&all, (const void *)hfunc);
    if (error != cudaSuccess) return cts_driver_result(error);
    const int values[] = {
        [CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK] = all.maxThreadsPerBlock,
        [CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES] = (int)all.sharedSizeBytes,
        [CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES] = (int)all.constSizeBytes,
        [CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES] = (int)all.localSizeBytes,
        [CU_FUNC_ATTRIBUTE_NUM_REGS] = all.numRegs,
        [CU_FUNC_ATTRIBUTE_PTX_VERSION] = all.ptxVersion,
        [CU_FUNC_ATTRIBUTE_BINARY_VERSION] = all.binaryVersion,
        [CU_FUNC_ATTRIBUTE_CACHE_MODE_CA] = all.cacheModeCA,
        [CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES] = all.maxDynamicSharedSizeBytes,
        [CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT] = all.preferredShmemCarveout};
    if ((unsigned)attrib >= sizeof values / sizeof values[0]) return CUDA_ERROR_INVALID_VALUE;
    *pi = values[attrib];
    return CUDA_SUCCESS;
}

/* The two attributes that can be set have the runtime API's numbers. */
CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value)
{
    CTS_KEEP_LAST_ERROR();
    return cts_driver_result(
        cudaFuncSetAttribute((const void *)hfunc, (enum cudaFuncAttribute)attrib, value));
}

CUresult cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config)
{
    CTS_KEEP_LAST_ERROR();
    return cts_driver_result(
        cudaFuncSetCacheConfig((const void *)hfunc, (enum cudaFuncCache)config));
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, CUfunction func, int blockSize,
                                                     size_t dynamicSMemSize)
{
    CTS_KEEP_LAST_ERROR();
    return cts_driver_result(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        numBlocks, (const void *)func, blockSize, dynamicSMemSize));
}

/* ---- launches ---- */

/* Where the parameters lie in a buffer that holds them one behind the other, each at a multiple of
 * its alignment; to be freed. NULL: the buffer is too small, or no memory. */
static void **find_parameters(const struct cts_kernel_desc *kernel, char *buffer, size_t size_bytes)
{
    void **const places = calloc(kernel->parameter_count + 1, sizeof *places);
    size_t at = 0;
    for (uint32_t i = 0; places && i < kernel->parameter_count; i++) {
        const size_t align = kernel->parameters[i].align_bytes;
        at = (at + align - 1) / align * align;
        places[i] = buffer + at;
        at += kernel->parameters[i].size_bytes;
        if (at <= size_bytes) continue;
        free(places);
        return NULL;
    }
    return places;
}

/* The parameters of a launch with `extra`; to be freed. */
static void **unpack(CUfunction function, void **extra)
{
    const struct cts_cpu_kernel *const kernel = cts_registry_kernel((const void *)function);
    char *buffer = NULL;
    size_t size_bytes = 0;
    for (; kernel && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[1];
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
            memcpy(&size_bytes, extra[1], sizeof size_bytes);
        else
            return NULL;
    }
    return kernel && buffer ? find_parameters(kernel->desc, buffer, size_bytes) : NULL;
}

CUresult cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                        unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
                        unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
                        void **kernelParams, void **extra)
{
    CTS_CALL();
    CTS_KEEP_LAST_ERROR();
    const dim3 grid = {gridDimX, gridDimY, gridDimZ}, block = {blockDimX, blockDimY, blockDimZ};
    void **const unpacked = extra && !kernelParams ? unpack(f, extra) : NULL;
    if (extra && !unpacked) return CUDA_ERROR_INVALID_VALUE;
    const cudaError_t error = cudaLaunchKernel(
        (const void *)f, grid, block, unpacked ? unpacked : kernelParams, sharedMemBytes, hStream);
    free(unpacked);
    return cts_driver_result(error);
}

CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                                   unsigned int gridDimZ, unsigned int blockDimX,
                                   unsigned int blockDimY, unsigned int blockDimZ,
                                   unsigned int sharedMemBytes, CUstream hStream,
                                   void **kernelParams)
{
    CTS_CALL();
    CTS_KEEP_LAST_ERROR();
    const dim3 grid = {gridDimX, gridDimY, gridDimZ}, block = {blockDimX, blockDimY, blockDimZ};
    return cts_driver_result(cudaLaunchCooperativeKernel((const void *)f, grid, block, kernelParams,
                                                         sharedMemBytes, hStream));
}
