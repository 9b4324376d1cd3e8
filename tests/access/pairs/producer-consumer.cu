// Two warps fill buffers that two others sum, with named barriers: 'full' and 'empty'. 1: the
// consumers read before they wait for 'full'. 2: they say 'empty' before they have read.
#include "pair.h"
enum { ROUNDS = 6, HALF = 64, CTAS = 32 };

__device__ void arrive(int id) { asm volatile("bar.arrive %0, 128;" ::"r"(id) : "memory"); }
__device__ void await(int id) { asm volatile("bar.sync %0, 128;" ::"r"(id) : "memory"); }

__global__ void pipeline(const int *in, int *out)
{
    __shared__ int buffer[2][HALF];
    const int t = threadIdx.x % HALF;
    if (threadIdx.x < HALF) {
        for (int round = 0; round < ROUNDS; round++) {
            const int b = round & 1;
            if (round >= 2) await(3 + b);
            buffer[b][t] = in[(blockIdx.x * ROUNDS + round) * HALF + t]; // @1 possible race // @2 possible race
            arrive(1 + b);
        }
    } else {
        int sum = 0;
        for (int round = 0; round < ROUNDS; round++) {
            const int b = round & 1;
            if (DEFECT == 1) sum += buffer[b][HALF - 1 - t];
            await(1 + b);
            if (round + 2 < ROUNDS && DEFECT == 2) arrive(3 + b);
            if (DEFECT != 1) sum += buffer[b][HALF - 1 - t];
            if (round + 2 < ROUNDS && DEFECT != 2) arrive(3 + b);
        }
        out[blockIdx.x * HALF + t] = sum;
    }
}

int main()
{
    int *in = device_array<int>(CTAS * ROUNDS * HALF, [](size_t i) { return int(i); });
    int *out = device_zeros<int>(CTAS * HALF);
    pipeline<<<CTAS, 2 * HALF>>>(in, out);
    CHECK(cudaDeviceSynchronize());
}
