// Barriers of the grid written by hand, in seven ways, between the steps of a relaxation. 1: they are
// left out. 2: the relaxation is in place.
#include "pair.h"
enum { CTAS = 8, BLOCK = 64, N = CTAS * BLOCK };

__device__ unsigned arrived[8], phase[8];
__device__ volatile unsigned sense[8];
__device__ __align__(128) volatile int in_flags[32], out_flags[32], told[4][32];

template <int KIND> __device__ void meet_alone(unsigned round)
{
    if (KIND == 0) { // a counter that only grows
        atomicAdd(&arrived[0], 1u);
        while (*(volatile unsigned *)&arrived[0] < CTAS * (round + 1)) continue;
    } else if (KIND == 1) { // sense reversal: the last one resets the counter
        if (atomicAdd(&arrived[1], 1u) == CTAS - 1) {
            arrived[1] = 0;
            __threadfence();
            sense[1] = !(round & 1);
        } else {
            while (sense[1] == (round & 1)) continue;
        }
    } else if (KIND == 2) { // generations
        const unsigned seen = atomicAdd(&phase[2], 0u);
        __threadfence();
        if (atomicInc(&arrived[2], CTAS - 1) == CTAS - 1)
            atomicAdd(&phase[2], 1u);
        else
            while (atomicAdd(&phase[2], 0u) == seen) continue; // @0 few active lanes // @2 few active lanes
    } else if (KIND == 3) { // a bit flips
        const unsigned old = atomicAdd(&arrived[3], blockIdx.x ? 1u : 0x80000000u - (CTAS - 1));
        while (!((old ^ *(volatile unsigned *)&arrived[3]) >> 31)) continue;
    } else if (KIND == 4) { // dissemination: without atomics
        for (int k = 0, step = 1; step < CTAS; k++, step *= 2) {
            __threadfence();
            told[k][(blockIdx.x + step) % CTAS] = round + 1;
            while (told[k][blockIdx.x] < int(round + 1)) continue;
        }
    } else if (KIND == 5) { // two counters in turn, each reset while the other one counts
        unsigned *const count = &arrived[4 + round % 2];
        if (atomicAdd(count, 1u) == CTAS - 1) atomicExch(&arrived[4 + (round + 1) % 2], 0u);
        while (atomicCAS(count, ~0u, ~0u) < CTAS) continue;
    }
    __threadfence();
}

template <int KIND> __device__ void meet(unsigned round)
{
    __syncthreads();
    if (KIND < 6) {
        if (threadIdx.x == 0) {
            __threadfence();
            meet_alone<KIND>(round);
        }
    } else { // the first CTA looks at a flag of each
        if (threadIdx.x == 0) {
            __threadfence();
            in_flags[blockIdx.x] = round + 1;
        }
        if (blockIdx.x == 0) {
            if (threadIdx.x < CTAS)
                while (in_flags[threadIdx.x] != int(round + 1)) continue;
            __syncthreads();
            __threadfence();
            if (threadIdx.x < CTAS) out_flags[threadIdx.x] = round + 1;
        }
        if (threadIdx.x == 0)
            while (out_flags[blockIdx.x] != int(round + 1)) continue;
    }
    __syncthreads();
}

template <int KIND> __global__ void relax(float *a, float *b, int steps)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    for (int s = 0; s < steps; s++) {
        float *const to = s % 2 ? a : b, *const from = DEFECT == 2 ? to : s % 2 ? b : a;
        to[i] = 0.5f * (from[(i + N - 1) % N] + from[(i + 1) % N]); // @1 possible race // @2 possible race
        if (DEFECT != 1) meet<KIND>(s);
    }
}

int main()
{
    float *const a = device_array<float>(N, [](size_t i) { return float(i % 9); });
    float *const b = device_zeros<float>(N);
    relax<0><<<CTAS, BLOCK>>>(a, b, 4);
    relax<1><<<CTAS, BLOCK>>>(a, b, 4);
    relax<2><<<CTAS, BLOCK>>>(a, b, 4);
    relax<3><<<CTAS, BLOCK>>>(a, b, 4);
    relax<4><<<CTAS, BLOCK>>>(a, b, 4);
    relax<5><<<CTAS, BLOCK>>>(a, b, 4);
    relax<6><<<CTAS, BLOCK>>>(a, b, 4);
    CHECK(cudaDeviceSynchronize());
}
