// A histogram per CTA in shared memory, merged at the end. 1: no barrier after the bins are
// cleared. 2: merged by plain additions.
// only: faults
#include "../pairs/pair.h"
enum { BINS = 256, B = 128 };

__global__ void count(const unsigned char *in, int n, unsigned *bins)
{
    __shared__ unsigned mine[BINS];
    for (int b = threadIdx.x; b < BINS; b += B) mine[b] = 0; // @1 possible race
#if DEFECT != 1
    __syncthreads();
#endif
    for (int i = blockIdx.x * B + threadIdx.x; i < n; i += gridDim.x * B)
        atomicAdd(&mine[in[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += B)
#if DEFECT == 2
        bins[b] += mine[b]; // @2 possible race
#else
        if (mine[b]) atomicAdd(&bins[b], mine[b]);
#endif
}

int main()
{
    const int n = 20000;
    unsigned char *in =
        device_array<unsigned char>(n, [](size_t i) { return (unsigned char)(i * 31 + i / 7); });
    unsigned *bins = device_zeros<unsigned>(BINS);
    count<<<8, B>>>(in, n, bins);
    CHECK(cudaDeviceSynchronize());
}
