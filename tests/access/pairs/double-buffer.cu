// Tiles come through shared memory while the one before is summed. 1: one buffer for both. 2: two
// buffers, but no barrier at the end of a round.
#include "pair.h"
enum { N = 16384, BLOCK = 128, ROUNDS = 8 };

__global__ void sums(const float *in, float *out)
{
    __shared__ float tile[2][BLOCK];
    const int t = threadIdx.x, first = blockIdx.x * BLOCK * ROUNDS;
    float sum = 0;
    tile[0][t] = in[first + t];
    __syncthreads();
    for (int round = 0; round < ROUNDS; round++) {
        const int now = DEFECT == 1 ? 0 : round & 1, next = DEFECT == 1 ? 0 : now ^ 1;
        if (round + 1 < ROUNDS)
            tile[next][t] = in[first + (round + 1) * BLOCK + t]; // @1 possible race // @2 possible race
        for (int k = 0; k < 4; k++) sum += tile[now][(t + 37 * k) % BLOCK]; // @0 bank conflicts
        if (DEFECT != 2) __syncthreads();
    }
    out[blockIdx.x * BLOCK + t] = sum;
}

int main()
{
    float *in = device_array<float>(N, [](size_t i) { return float(i % 7); });
    float *out = device_zeros<float>(N / ROUNDS);
    sums<<<N / BLOCK / ROUNDS, BLOCK>>>(in, out);
    CHECK(cudaDeviceSynchronize());
}
