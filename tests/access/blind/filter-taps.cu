// options: --locals
// A filter with seven taps in registers. 1: the window is indexed at run time. 2: each thread reads
// its window a byte beyond an aligned start.
#include "../pairs/pair.h"
enum { N = 1 << 14, TAPS = 7 };

__global__ void filter(const float *in, float *out, int turn)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
#if DEFECT == 1
    float window[8];
    for (int k = 0; k < 8; k++) window[k] = in[i + (k ? 0 : 0)] * k; // @1 local memory
    float sum = 0;
    for (int k = 0; k < TAPS; k++) sum += window[(k * turn + i) & 7]; // @1 local memory
    out[i] = sum;
#elif DEFECT == 2
    float sum = 0;
    for (int k = 0; k < 8; k++) sum += in[i + 8 * 0 + 1]; // @2 misaligned access
    out[i + 1] = sum;                                     // @2 misaligned access
#else
    out[i] = in[i] * turn;
#endif
}

int main()
{
    float *in = device_zeros<float>(N + 64), *out = device_zeros<float>(N + 64);
    filter<<<N / 256, 256>>>(in, out, 3);
    CHECK(cudaDeviceSynchronize());
}
