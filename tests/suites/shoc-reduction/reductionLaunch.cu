#include <cassert>
#include <cuda.h>
#include <cstdio>
#include <cstdlib>
#include <iostream>
// Dynamically sized shared memory of any type: the usual trick against the clash of names.
template <class T> class SharedMem {
  public:
      __device__ inline T* getPointer() { extern __shared__ T s[]; return s; };
};
template <> class SharedMem<double> {
  public:
      __device__ inline double* getPointer() { extern __shared__ double s_double[]; return s_double; }
};
template <class T, int blockSize>
__global__ void reduce(const T* __restrict__ g_idata, T* __restrict__ g_odata, const unsigned int n)
{
    const unsigned int tid = threadIdx.x;
    unsigned int i = (blockIdx.x*(blockDim.x*2)) + tid;
    const unsigned int gridSize = blockDim.x*2*gridDim.x;
    SharedMem<T> shared;
    volatile T* sdata = shared.getPointer();
    sdata[tid] = 0.0f;
    while (i < n) {
        sdata[tid] += g_idata[i] + (i + blockSize < n ? g_idata[i+blockSize] : 0);
        i += gridSize;
    }
    __syncthreads();
    if (blockSize >= 512) { if (tid < 256) { sdata[tid] += sdata[tid + 256]; } __syncthreads(); }
    if (blockSize >= 256) { if (tid < 128) { sdata[tid] += sdata[tid + 128]; } __syncthreads(); }
    if (blockSize >= 128) { if (tid < 64)  { sdata[tid] += sdata[tid + 64];  } __syncthreads(); }
    if (tid < warpSize) {
        if (blockSize >= 64) sdata[tid] += sdata[tid + 32];
        if (blockSize >= 32) sdata[tid] += sdata[tid + 16];
        if (blockSize >= 16) sdata[tid] += sdata[tid + 8];
        if (blockSize >= 8)  sdata[tid] += sdata[tid + 4];
        if (blockSize >= 4)  sdata[tid] += sdata[tid + 2];
        if (blockSize >= 2)  sdata[tid] += sdata[tid + 1];
    }
    if (tid == 0) g_odata[blockIdx.x] = sdata[0];
}
#define CUDA_SAFE_CALL(call) do { cudaError_t err = call; if (cudaSuccess != err) { fprintf(stderr, "Cuda error in file '%s' in line %i : %s.\n", __FILE__, __LINE__, cudaGetErrorString(err)); exit(EXIT_FAILURE); } } while (0)
template <class T> double runReduce(const T *in, int n, T *result)
{
    const int num_blocks = 8, num_threads = 256, smem_size = sizeof(T) * num_threads;
    T *d_idata, *d_odata, h_odata[num_blocks];
    CUDA_SAFE_CALL(cudaMalloc((void**) &d_idata, n * sizeof(T)));
    CUDA_SAFE_CALL(cudaMalloc((void**) &d_odata, sizeof h_odata));
    CUDA_SAFE_CALL(cudaMemcpy(d_idata, in, n * sizeof(T), cudaMemcpyHostToDevice));
    cudaEvent_t start, stop;
    CUDA_SAFE_CALL(cudaEventCreate(&start)); CUDA_SAFE_CALL(cudaEventCreate(&stop));
    CUDA_SAFE_CALL(cudaEventRecord(start, 0));
    reduce<T, num_threads><<<num_blocks,num_threads, smem_size>>>(d_idata, d_odata, n);
    cudaEventRecord(stop, 0); cudaEventSynchronize(stop);
    float t; CUDA_SAFE_CALL(cudaEventElapsedTime(&t, start, stop));
    CUDA_SAFE_CALL(cudaMemcpy(h_odata, d_odata, sizeof h_odata, cudaMemcpyDeviceToHost));
    *result = 0;
    for (int i = 0; i < num_blocks; i++) *result += h_odata[i];
    cudaFree(d_idata); cudaFree(d_odata);
    return t * 1.e-3;
}
template double runReduce<float>(const float *, int, float *);
template double runReduce<double>(const double *, int, double *);
