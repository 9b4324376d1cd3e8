/* What clang's host code calls to announce kernels and variables; not for programs. */
#ifndef CTASCOPE_API_REGISTRATION_H
#define CTASCOPE_API_REGISTRATION_H

#include "textures.h"

CTS_BEGIN_C

void **__cudaRegisterFatBinary(void *fat_binary);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host_function, char *device_function,
                            const char *device_name, int thread_limit, void *tid, void *bid,
                            void *block_dim, void *grid_dim, int *warp_size);
void __cudaRegisterVar(void **handle, char *host_variable, char *device_address,
                       const char *device_name, int is_extern, size_t size, int is_constant,
                       int is_global);
void __cudaRegisterManagedVar(void **handle, void **host_variable, char *device_address,
                              const char *device_name, int is_extern, size_t size, int is_constant,
                              int is_global);
void __cudaRegisterTexture(void **handle, const struct textureReference *host_variable,
                           const void **device_address, const char *device_name, int dimensions,
                           int normalized, int is_extern);
void __cudaRegisterSurface(void **handle, const struct surfaceReference *host_variable,
                           const void **device_address, const char *device_name, int dimensions,
                           int is_extern);
unsigned int __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim,
                                         size_t sharedMem CTS_DEFAULT(0),
                                         struct CUstream_st *stream CTS_DEFAULT(0));
cudaError_t __cudaPopCallConfiguration(dim3 *gridDim, dim3 *blockDim, size_t *sharedMem,
                                       void *stream);

CTS_END_C

/* In a program that has a translation unit compiled with one default stream per thread, stream 0
 * means the calling thread's own. */
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) && !defined(CTS_CUDART)
#ifdef __cplusplus
extern "C"
#endif
    void
    __cts_per_thread_default_stream(void);
static __attribute__((constructor)) void cts_per_thread_default_stream_constructor(void)
{
    __cts_per_thread_default_stream();
}
#endif

#endif
