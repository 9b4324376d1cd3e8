// The largest of each row, a warp for each. 1: one lane of each warp does the work. 2: a factor is loaded
// again for each element, since the maximum is stored in between.
#include "pair.h"
enum { ROWS = 256, COLUMNS = 2048, BLOCK = 128 };

__global__ void largest(const float *in, const float *scale, float *out)
{
    const int row = (blockIdx.x * BLOCK + threadIdx.x) / 32, lane = threadIdx.x % 32;
#if DEFECT == 1
    if (lane == 0) {
        float most = in[row * COLUMNS];
        for (int i = 1; i < COLUMNS; i++) most = fmaxf(most, in[row * COLUMNS + i]); // @1 few active lanes
        out[row] = most;
    }
#else
    float most = 0;
    for (int i = lane; i < COLUMNS; i += 32) {
#if DEFECT == 2
        most = fmaxf(most, in[row * COLUMNS + i] * *scale); // @2 repeated loads
        out[row] = most;
#else
        most = fmaxf(most, in[row * COLUMNS + i]);
#endif
    }
    for (int step = 16; step > 0; step /= 2)
        most = fmaxf(most, __shfl_down_sync(~0u, most, step));
    if (lane == 0) out[row] = most; // @0 few active lanes
#endif
}

int main()
{
    float *in = device_array<float>(ROWS * COLUMNS, [](size_t i) { return float(i * 31 % 1009); });
    float *scale = device_array<float>(1, [](size_t) { return 2.0f; });
    float *out = device_zeros<float>(ROWS);
    largest<<<ROWS * 32 / BLOCK, BLOCK>>>(in, scale, out);
    CHECK(cudaDeviceSynchronize());
}
