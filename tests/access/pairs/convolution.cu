// A convolution along columns, its weights in constant memory. 1: the weights that are used lie in an
// array of the thread, indexed at run time (recorded with --locals). 2: every thread loads the same weights from global
// memory for every output it makes.
// options: --locals
#include "pair.h"
enum { WIDTH = 256, HEIGHT = 64, TAPS = 9, BLOCK = 128 };
__constant__ float weights[TAPS];

__global__ void convolve(const float *in, float *out, const float *global_weights, const int *order)
{
    const int x = blockIdx.x * BLOCK + threadIdx.x;
#if DEFECT == 1
    float mine[TAPS];
    for (int k = 0; k < TAPS; k++) mine[(order[k] + threadIdx.x) % TAPS] = weights[k]; // @1 local memory
#endif
    for (int y = 0; y < HEIGHT; y++) {
        float sum = 0;
        for (int k = 0; k < TAPS; k++) {
#if DEFECT == 1
            const float w = mine[(order[k] + y) % TAPS]; // @1 local memory
#elif DEFECT == 2
            const float w = global_weights[k]; // @2 repeated loads
#else
            const float w = weights[k];
#endif
            sum += w * in[(y + k) * WIDTH + x];
        }
        out[y * WIDTH + x] = sum;
    }
}

int main()
{
    float *in = device_array<float>(WIDTH * (HEIGHT + TAPS), [](size_t i) { return float(i % 13); });
    float *out = device_zeros<float>(WIDTH * HEIGHT);
    float *global_weights = device_array<float>(TAPS, [](size_t k) { return 1.0f / (k + 1); });
    int *order = device_array<int>(TAPS, [](size_t k) { return int(k * 4 % TAPS); });
    float host[TAPS];
    for (int k = 0; k < TAPS; k++) host[k] = 1.0f / (k + 1);
    CHECK(cudaMemcpyToSymbol(weights, host, sizeof host));
    convolve<<<WIDTH / BLOCK, BLOCK>>>(in, out, global_weights, order);
    CHECK(cudaDeviceSynchronize());
}
