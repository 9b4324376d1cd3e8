// CTA k waits for the flag of CTA k - 1 alone, and reads what all before it have stored. 1: CTA 5 does not
// wait. 2: CTA 3 raises its flag before it has waited, so that nothing orders what lies behind.
#include "pair.h"
enum { BLOCK = 64, CTAS = 8 };

__global__ void chain(int *data, volatile int *flags, int *out)
{
    const int b = blockIdx.x, t = threadIdx.x;
    const bool early = DEFECT == 2 && b == 3;
    if (early && t == 0) {
        __threadfence();
        flags[b] = 1; // @0 few active lanes
    }
    if (t == 0 && b > 0 && (DEFECT != 1 || b != 5)) {
        while (flags[b - 1] == 0) // @0 few active lanes
            __nanosleep(500);
        __threadfence();
    }
    __syncthreads();
    int sum = t;
    for (int k = 0; k < b; k++) sum += data[k * BLOCK + t]; // @1 possible race // @2 possible race
    data[b * BLOCK + t] = sum % 1000; // @1 possible race // @2 possible race
    out[b * BLOCK + t] = sum;
    __threadfence();
    __syncthreads();
    if (t == 0 && !early) flags[b] = 1; // @0 few active lanes
}

int main()
{
    int *data = device_zeros<int>(CTAS * BLOCK), *flags = device_zeros<int>(CTAS);
    int *out = device_zeros<int>(CTAS * BLOCK);
    chain<<<CTAS, BLOCK>>>(data, flags, out);
    CHECK(cudaDeviceSynchronize());
}
