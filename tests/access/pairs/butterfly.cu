// A Walsh-Hadamard transform of constant geometry in shared memory, from one buffer to the other.
// 1: no barrier between its stages. 2: a pair is stored as two words, two words apart for the lanes.
#include "pair.h"
enum { POINTS = 256, BLOCK = POINTS / 2, ROWS = 64 };

__global__ void transform(const float *in, float *out)
{
    __shared__ float2 buffers[2][BLOCK];
    const int t = threadIdx.x, row = blockIdx.x * POINTS;
    float *const first = (float *)buffers[0];
    first[t] = in[row + t];
    first[t + BLOCK] = in[row + t + BLOCK];
    int now = 0;
    __syncthreads();
    for (int stage = 1; stage < POINTS; stage *= 2) {
        const float *const from = (const float *)buffers[now];
        float *const to = (float *)buffers[1 - now];
        const float a = from[t];         // @1 possible race
        const float b = from[t + BLOCK]; // @1 possible race
        if (DEFECT == 2) {
            to[2 * t] = a + b; // @2 bank conflicts
            __syncwarp();
            to[2 * t + 1] = a - b; // @2 bank conflicts
        } else {
            buffers[1 - now][t] = make_float2(a + b, a - b); // @1 possible race
        }
        now = 1 - now;
        if (DEFECT != 1) __syncthreads();
    }
    if (DEFECT == 1) __syncthreads();
    out[row + t] = ((const float *)buffers[now])[t];
    out[row + t + BLOCK] = ((const float *)buffers[now])[t + BLOCK];
}

int main()
{
    float *const in = device_array<float>(POINTS * ROWS, [](size_t i) { return (float)(i % 17); });
    float *const out = device_zeros<float>(POINTS * ROWS);
    transform<<<ROWS, BLOCK>>>(in, out);
    CHECK(cudaDeviceSynchronize());
}
