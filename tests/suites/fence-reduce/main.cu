#include <cstdio>
#include <cstdlib>
#include <cmath>
__device__ unsigned int retirementCount = 0;
template <unsigned int blockSize>
__device__ void warpReduce(volatile float *sdata, unsigned int tid)
{
    if (blockSize >= 64) sdata[tid] += sdata[tid + 32];
    if (blockSize >= 32) sdata[tid] += sdata[tid + 16];
    if (blockSize >= 16) sdata[tid] += sdata[tid + 8];
    if (blockSize >= 8) sdata[tid] += sdata[tid + 4];
    if (blockSize >= 4) sdata[tid] += sdata[tid + 2];
    if (blockSize >= 2) sdata[tid] += sdata[tid + 1];
}
template <unsigned int blockSize>
__device__ void reduceBlock(volatile float *sdata, float mySum, const unsigned int tid)
{
    sdata[tid] = mySum;
    __syncthreads();
    if (blockSize >= 256) {
        if (tid < 128) sdata[tid] += sdata[tid + 128];
        __syncthreads();
    }
    if (blockSize >= 128) {
        if (tid < 64) sdata[tid] += sdata[tid + 64];
        __syncthreads();
    }
    if (tid < 32) warpReduce<blockSize>(sdata, tid);
}
template <unsigned int blockSize, bool nIsPow2>
__device__ void reduceBlocks(const float *g_idata, float *g_odata, unsigned int n)
{
    extern __shared__ float sdata[];
    unsigned int tid = threadIdx.x, i = blockIdx.x * (blockSize * 2) + threadIdx.x,
                 gridSize = blockSize * 2 * gridDim.x;
    float mySum = 0;
    while (i < n) {
        mySum += g_idata[i];
        if (nIsPow2 || i + blockSize < n) mySum += g_idata[i + blockSize];
        i += gridSize;
    }
    reduceBlock<blockSize>(sdata, mySum, tid);
    if (tid == 0) g_odata[blockIdx.x] = sdata[0];
}
template <unsigned int blockSize, bool nIsPow2>
__global__ void reduceSinglePass(const float *g_idata, volatile float *g_odata, unsigned int n)
{
    reduceBlocks<blockSize, nIsPow2>(g_idata, (float *)g_odata, n);
    if (gridDim.x > 1) {
        const unsigned int tid = threadIdx.x;
        __shared__ bool amLast;
        extern float __shared__ smem[];
        __threadfence();
        if (tid == 0) {
            unsigned int ticket = atomicInc(&retirementCount, gridDim.x);
            amLast = (ticket == gridDim.x - 1);
        }
        __syncthreads();
        if (amLast) {
            int i = tid;
            float mySum = (float)0;
            while (i < gridDim.x) {
                mySum += g_odata[i];
                i += blockSize;
            }
            reduceBlock<blockSize>(smem, mySum, tid);
            if (tid == 0) {
                g_odata[0] = smem[0];
                retirementCount = 0;
            }
        }
    }
}
extern "C" bool isPow2(unsigned int x)
{
    return ((x & (x - 1)) == 0);
}
extern "C" void run(int size, int threads, int blocks, float *d_idata, float *d_odata)
{
    int smemSize = (threads <= 32) ? 2 * threads * sizeof(float) : threads * sizeof(float);
#define CASE(T)                                                                                    \
    case T:                                                                                        \
        if (isPow2(size))                                                                          \
            reduceSinglePass<T, true><<<blocks, threads, smemSize>>>(d_idata, d_odata, size);      \
        else                                                                                       \
            reduceSinglePass<T, false><<<blocks, threads, smemSize>>>(d_idata, d_odata, size);     \
        break;
    switch (threads) {
        CASE(256) CASE(128) CASE(64)
    }
}
int main()
{
    int bad = 0;
    for (int n : {1 << 15, 30001})
        for (int threads : {64, 128, 256}) {
            float *h = (float *)malloc(n * 4), *d, *o, r;
            double w = 0;
            for (int i = 0; i < n; i++) w += h[i] = (i * 31 % 17) * 0.25f;
            cudaMalloc(&d, n * 4);
            cudaMalloc(&o, 64 * 4);
            cudaMemcpy(d, h, n * 4, cudaMemcpyHostToDevice);
            for (int k = 0; k < 2; k++) {
                run(n, threads, 24, d, o);
                cudaMemcpy(&r, o, 4, cudaMemcpyDeviceToHost);
                bad += fabs(r - w) > 1e-5 * w;
            }
            free(h);
            cudaFree(d);
            cudaFree(o);
        }
    printf("bad %d %s\n", bad, cudaGetErrorString(cudaGetLastError()));
    return bad;
}
