// A three-point stencil through shared memory. 1: the right halo of the last CTA lies past the array.
// 2: the array begins one element into its allocation.
#include "pair.h"
enum { N = 8192, BLOCK = 256 };

__global__ void relax(const float *in, float *out)
{
    __shared__ float tile[BLOCK + 2];
    const int i = blockIdx.x * BLOCK + threadIdx.x, t = threadIdx.x + 1;
    tile[t] = in[i]; // @2 misaligned access
    if (threadIdx.x == 0) tile[0] = i > 0 ? in[i - 1] : 0; // @0 few active lanes
    if (threadIdx.x == BLOCK - 1)
        tile[BLOCK + 1] = DEFECT == 1 || i + 1 < N ? in[i + 1] : 0; // @1 access outside allocations // @0 few active lanes
    __syncthreads();
    out[i] = 0.25f * tile[t - 1] + 0.5f * tile[t] + 0.25f * tile[t + 1];
}

int main()
{
    const int shift = DEFECT == 2;
    float *in = device_array<float>(N + shift, [](size_t i) { return float(i % 7); });
    float *out = device_zeros<float>(N);
    for (int step = 0; step < 2; step++) relax<<<N / BLOCK, BLOCK>>>(in + shift, out);
    CHECK(cudaDeviceSynchronize());
}
