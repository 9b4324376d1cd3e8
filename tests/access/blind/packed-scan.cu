// Single-pass scan: each CTA publishes its sum and then its prefix with a status in one 64-bit
// word. 1: sums and statuses are words of their own, without a fence. 2: a barrier is missing in
// the CTA's scan.
// only: faults
#include "../pairs/pair.h"
enum { B = 128, CTAS = 24 };
typedef unsigned long long word;

__device__ int wait_for(volatile word *state, int cta, int *value)
{
    word seen;
    while (!((seen = state[cta]) >> 32)) {
    }
    *value = (int)seen;
    return (int)(seen >> 32);
}

__global__ void scan(const int *in, int *out, word *state, int *sums, int *ready, unsigned *order)
{
    __shared__ int tile[B], prefix;
    __shared__ unsigned cta;
    const int t = threadIdx.x;
    if (t == 0) cta = atomicAdd(order, 1);
    __syncthreads();
    const int at = cta * B + t;
    int x = in[at];
    tile[t] = x;
    __syncthreads();
    for (int step = 1; step < B; step *= 2) {
        const int add = t >= step ? tile[t - step] : 0;
#if DEFECT != 2
        __syncthreads();
#endif
        tile[t] += add; // @2 possible race | race in a warp
        __syncthreads();
    }
    if (t == 0) {
        const int total = tile[B - 1];
        int sum = 0;
#if DEFECT == 1
        if (cta) {
            while (!*(volatile int *)&ready[cta - 1]) {
            }
            sum = sums[cta - 1];
        }
        sums[cta] = sum + total; // @1 possible race
        *(volatile int *)&ready[cta] = 1;
#else
        if (cta == 0) {
            atomicExch(&state[0], (word)2 << 32 | (unsigned)total);
        } else {
            atomicExch(&state[cta], (word)1 << 32 | (unsigned)total);
            for (int back = cta - 1;; back--) {
                int value;
                const int status = wait_for(state, back, &value);
                sum += value;
                if (status == 2) break;
            }
            atomicExch(&state[cta], (word)2 << 32 | (unsigned)(sum + total));
        }
#endif
        prefix = sum;
    }
    __syncthreads();
    out[at] = tile[t] + prefix;
}

int main()
{
    int *in = device_array<int>(B * CTAS, [](size_t i) { return (int)(i % 7); });
    int *out = device_zeros<int>(B * CTAS), *sums = device_zeros<int>(CTAS),
        *ready = device_zeros<int>(CTAS);
    word *state = device_zeros<word>(CTAS);
    unsigned *order = device_zeros<unsigned>(1);
    scan<<<CTAS, B>>>(in, out, state, sums, ready, order);
    CHECK(cudaDeviceSynchronize());
}
