// Kernels with and without their barriers: barriers.py says which of them race.
//   barriers.cu -DNAME: MISSING: a tile is used again without a barrier between the rounds
#include <cstdio>
#include <cuda_runtime.h>

__global__ void tile(const float *in, float *out)
{
    __shared__ float s[256];
    const int t = threadIdx.x, i = blockIdx.x * 256 + t;
    for (int round = 0; round < 4; round++) {
        s[t] = in[i] + round;
        __syncthreads();
        out[i] += s[255 - t];
#ifndef MISSING
        __syncthreads();
#endif
    }
}

__global__ void warps(const float *in, float *out)
{
    __shared__ float s[256];
    const int t = threadIdx.x;
    s[t] = in[blockIdx.x * 256 + t];
    __syncwarp();
    for (int step = 16; step; step /= 2) {
        const float other = s[t ^ step];
        __syncwarp();
        s[t] += other;
        __syncwarp();
    }
    out[blockIdx.x * 256 + t] = s[t];
}

__global__ void named(const float *in, float *out)
{
    __shared__ float s[256];
    const int t = threadIdx.x, half = t / 128;
    s[t] = in[blockIdx.x * 256 + t];
    asm volatile("bar.sync %0, 128;" ::"r"(1 + half) : "memory");
    out[blockIdx.x * 256 + t] = s[half * 128 + 127 - t % 128];
}

int main()
{
    float *in, *out;
    const size_t bytes = 64 * 256 * sizeof(float);
    cudaMalloc(&in, bytes);
    cudaMalloc(&out, bytes);
    cudaMemset(in, 0, bytes);
    cudaMemset(out, 0, bytes);
    tile<<<64, 256>>>(in, out);
    warps<<<64, 256>>>(in, out);
    named<<<64, 256>>>(in, out);
    const cudaError_t error = cudaDeviceSynchronize();
    printf("%s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
