// The last steps of a reduction within a warp, through shared memory. 1: no __syncwarp. 2: the
// CTA's steps before have no barrier.
// only: faults
#include "../pairs/pair.h"
enum { B = 256 };

__global__ void reduce(const float *in, float *out)
{
    __shared__ float s[B];
    const int t = threadIdx.x;
    s[t] = in[blockIdx.x * B + t];
    __syncthreads();
    for (int step = B / 2; step >= 32; step /= 2) {
        if (t < step) s[t] += s[t + step]; // @2 possible race
#if DEFECT != 2
        __syncthreads();
#endif
    }
    __syncthreads();
    if (t < 32)
        for (int step = 16; step; step /= 2) {
            const float add = t < step ? s[t + step] : 0;
#if DEFECT != 1
            __syncwarp();
#endif
            if (t < step) s[t] += add; // @1 race in a warp
#if DEFECT != 1
            __syncwarp();
#endif
        }
    if (t == 0) out[blockIdx.x] = s[0];
}

int main()
{
    float *in = device_zeros<float>(B * 8), *out = device_zeros<float>(8);
    reduce<<<8, B>>>(in, out);
    CHECK(cudaDeviceSynchronize());
}
