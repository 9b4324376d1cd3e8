/* Bad calls and launches give the errors that programs look for; errors of launches are fetched
 * once, errors of kernels stay. */
#include "helper.h"

__global__ void nothing() {}
__global__ void write(int *p)
{
    *p = 1;
}
__global__ void big(int *p)
{
    extern __shared__ int s[];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    p[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
__global__ void __launch_bounds__(64) bounded() {}
__global__ void failing(int *p, int limit)
{
    if (threadIdx.x == 3) *(volatile int *)p = limit;
    asm volatile("trap;");
}
__device__ int symbol;
static int not_a_symbol;

static void expect_error(cudaError_t got, cudaError_t want, int line)
{
    EXPECT(got == want, "line %d: %s, not %s", line, cudaGetErrorName(got), cudaGetErrorName(want));
    const cudaError_t last = cudaGetLastError();
    EXPECT(last == want, "line %d: last error %s", line, cudaGetErrorName(last));
    EXPECT(cudaGetLastError() == cudaSuccess && cudaPeekAtLastError() == cudaSuccess, "line %d",
           line);
}
#define FAILS(call, error) expect_error((call), error, __LINE__)
#define LAUNCH_FAILS(launch, error)                                                                \
    do {                                                                                           \
        launch;                                                                                    \
        expect_error(cudaPeekAtLastError(), error, __LINE__);                                      \
    } while (0)

int main()
{
    int *p, h[1024];
    checkCudaErrors(cudaMalloc(&p, sizeof h));
    LAUNCH_FAILS((nothing<<<1, 1025>>>()), cudaErrorInvalidConfiguration);
    LAUNCH_FAILS((nothing<<<0, 32>>>()), cudaErrorInvalidConfiguration);
    LAUNCH_FAILS((nothing<<<1, 0>>>()), cudaErrorInvalidConfiguration);
    LAUNCH_FAILS((nothing<<<dim3(1, 65536), 32>>>()), cudaErrorInvalidConfiguration);
    LAUNCH_FAILS((nothing<<<1, dim3(1, 1, 65)>>>()), cudaErrorInvalidConfiguration);
    LAUNCH_FAILS((nothing<<<1, dim3(64, 64)>>>()), cudaErrorInvalidConfiguration);
    LAUNCH_FAILS((big<<<1, 32, 1 << 20>>>(p)), cudaErrorInvalidValue);
    LAUNCH_FAILS((big<<<1, 32, 50000>>>(p)), cudaErrorInvalidValue);
    bounded<<<1, 128>>>();
    EXPECT(cudaGetLastError() != cudaSuccess && cudaGetLastError() == cudaSuccess, "launch bounds");
    /* more than 48 KiB after asking for it */
    checkCudaErrors(cudaFuncSetAttribute(big, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
    big<<<1, 1024, 60000>>>(p);
    checkCudaErrors(cudaGetLastError());
    checkCudaErrors(cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 1024; i++) EXPECT(h[i] == 1023 - i, "%d: %d", i, h[i]);
    cudaFuncAttributes attributes;
    checkCudaErrors(cudaFuncGetAttributes(&attributes, bounded));
    EXPECT(attributes.maxThreadsPerBlock == 64 && attributes.numRegs > 0, "%d",
           attributes.maxThreadsPerBlock);
    int least, best, blocks;
    checkCudaErrors(cudaOccupancyMaxPotentialBlockSize(&least, &best, big, 0, 256));
    EXPECT(least > 0 && best > 0 && best <= 256, "%d", best);
    checkCudaErrors(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, big, 1024, 40000));
    EXPECT(blocks >= 1 && blocks <= 2, "%d", blocks);
    checkCudaErrors(cudaFuncSetCacheConfig(big, cudaFuncCachePreferShared));
    checkCudaErrors(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));

    FAILS(cudaMemcpy(NULL, h, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    FAILS(cudaMemcpy(p, h, 4, (cudaMemcpyKind)77), cudaErrorInvalidMemcpyDirection);
    FAILS(cudaMemcpyToSymbol(not_a_symbol, h, 4), cudaErrorInvalidSymbol);
    FAILS(cudaMemcpyToSymbol(symbol, h, 8), cudaErrorInvalidValue);
    FAILS(cudaMalloc(NULL, 4), cudaErrorInvalidValue);
    FAILS(cudaSetDevice(99), cudaErrorInvalidDevice);
    FAILS(cudaFree(p + 1), cudaErrorInvalidValue);
    FAILS(cudaMemset(p, 0, 1 << 20), cudaErrorInvalidValue);
    FAILS(cudaEventSynchronize(NULL), cudaErrorInvalidResourceHandle);
    FAILS(cudaGetDeviceProperties(NULL, 0), cudaErrorInvalidValue);
    FAILS(cudaFreeHost(h), cudaErrorInvalidValue);
    EXPECT(cudaFree(NULL) == cudaSuccess && cudaFreeHost(NULL) == cudaSuccess, "nothing is freed");
    EXPECT(cudaMemcpy(p, h, 0, cudaMemcpyHostToDevice) == cudaSuccess, "nothing is copied");
    EXPECT(!strcmp(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation"),
           "name");
    EXPECT(!strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory"), "text");
    EXPECT(!strcmp(cudaGetErrorString(cudaSuccess), "no error"), "text");
    write<<<1, 1>>>(p);
    checkCudaErrors(cudaMemcpy(h, p, 4, cudaMemcpyDeviceToHost));
    EXPECT(h[0] == 1, "after all that");

    /* A kernel that failed takes the context with it. */
    failing<<<1, 32>>>(p, 5);
    /* the launch itself is right; its failure may be seen from here on */
    const cudaError_t error = cudaDeviceSynchronize();
    EXPECT(error == cudaErrorLaunchFailure, "%s", cudaGetErrorName(error));
    EXPECT(cudaGetLastError() == error && cudaGetLastError() == error, "it stays");
    EXPECT(cudaMemcpy(h, p, 4, cudaMemcpyDeviceToHost) == error, "it stays");
    void *more;
    EXPECT(cudaMalloc(&more, 4) == error, "it stays");
    nothing<<<1, 1>>>();
    EXPECT(cudaGetLastError() == error, "it stays");
    checkCudaErrors(cudaDeviceReset()); /* a new context */
    checkCudaErrors(cudaMalloc(&p, 4));
    write<<<1, 1>>>(p);
    checkCudaErrors(cudaMemcpy(h + 1, p, 4, cudaMemcpyDeviceToHost));
    EXPECT(h[1] == 1, "in a new context");
    return verdict();
}
