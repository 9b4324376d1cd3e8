// A stencil with its halo in shared memory. 1: the halo is read before it is stored. 2: the next step
// stores while others still read.
#include "pair.h"
enum { BLOCK = 128, CTAS = 32, STEPS = 4 };

__global__ void stencil(const float *in, float *out)
{
    __shared__ float s[BLOCK + 2];
    const int t = threadIdx.x + 1, i = blockIdx.x * BLOCK + threadIdx.x;
    float value = in[i + 1]; // @0 misaligned access
    for (int step = 0; step < STEPS; step++) {
        s[t] = value; // @1 possible race // @2 possible race
        if (t == 1) s[0] = in[i]; // @0 few active lanes
        if (t == BLOCK) s[BLOCK + 1] = in[i + 2]; // @0 few active lanes
        if (DEFECT != 1) __syncthreads();
        value = (s[t - 1] + s[t] + s[t + 1]) / 3;
        if (DEFECT != 2) __syncthreads();
    }
    out[i] = value;
}

int main()
{
    float *in = device_array<float>(CTAS * BLOCK + 2, [](size_t i) { return float(i % 9); });
    float *out = device_zeros<float>(CTAS * BLOCK);
    stencil<<<CTAS, BLOCK>>>(in, out);
    CHECK(cudaDeviceSynchronize());
}
