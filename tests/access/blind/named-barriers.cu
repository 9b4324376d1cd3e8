// Two warps fill two buffers in turn, two warps drain them; named barriers say full and empty. 1:
// empty is said before the buffer is read. 2: full is said before it is filled.
//
// only: faults
#include "../pairs/pair.h"
enum { STEPS = 8, HALF = 64 };

__device__ void sync(int id)
{
    asm volatile("bar.sync %0, 128;" ::"r"(id) : "memory");
}
__device__ void arrive(int id)
{
    asm volatile("bar.arrive %0, 128;" ::"r"(id) : "memory");
}

__global__ void roles(const float *in, float *out)
{
    __shared__ float buffer[2][HALF];
    const int t = threadIdx.x % HALF;
    if (threadIdx.x < HALF) {
        for (int k = 0; k < STEPS; k++) {
            if (k >= 2) sync(3 + k % 2);
            if (DEFECT == 2) arrive(1 + k % 2);
            buffer[k % 2][t] = in[k * HALF + t]; // @1 possible race // @2 possible race
            if (DEFECT != 2) arrive(1 + k % 2);
        }
    } else {
        for (int k = 0; k < STEPS; k++) {
            sync(1 + k % 2);
            if (DEFECT == 1 && k + 2 < STEPS) arrive(3 + k % 2);
            out[(blockIdx.x * STEPS + k) * HALF + t] = buffer[k % 2][HALF - 1 - t];
            if (DEFECT != 1 && k + 2 < STEPS) arrive(3 + k % 2);
        }
    }
}

int main()
{
    float *in = device_zeros<float>(STEPS * HALF), *out = device_zeros<float>(3 * STEPS * HALF);
    roles<<<3, 2 * HALF>>>(in, out);
    CHECK(cudaDeviceSynchronize());
}
