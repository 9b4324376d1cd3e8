// Little else than barriers: a tree of sums in shared memory, 40 times over, in 2,048 CTAs.
#include <cstdio>
#include <cuda_runtime.h>
enum { BLOCK = 256, CTAS = 2048, ROUNDS = 40 };

__global__ void sums(const float *in, float *out)
{
    __shared__ float s[BLOCK];
    const int t = threadIdx.x;
    float all = 0;
    for (int round = 0; round < ROUNDS; round++) {
        s[t] = in[t] + round;
        __syncthreads();
        for (int step = BLOCK / 2; step; step /= 2) {
            if (t < step) s[t] += s[t + step];
            __syncthreads();
        }
        all += s[0];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = all;
}

int main()
{
    float *in, *out;
    cudaMalloc(&in, BLOCK * sizeof(float));
    cudaMalloc(&out, CTAS * sizeof(float));
    cudaMemset(in, 0, BLOCK * sizeof(float));
    sums<<<CTAS, BLOCK>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
