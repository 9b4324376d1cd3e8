// Each thread tries to claim a word whose owner is another one, and then reads who that is. 1: nobody has set
// the words: a compare-and-swap that fails does not either.
#include "pair.h"
enum { N = 4096, BLOCK = 128 };

__global__ void claim(int *owners, int *out)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    atomicCAS(&owners[i], -12345678, i);
    __threadfence();
    out[i] = owners[i] + 1; // @1 uninitialised read
}

int main()
{
    int *owners, *out = device_zeros<int>(N);
    CHECK(cudaMalloc(&owners, N * sizeof(int)));
    if (DEFECT != 1) CHECK(cudaMemset(owners, 0, N * sizeof(int)));
    claim<<<N / BLOCK, BLOCK>>>(owners, out);
    CHECK(cudaDeviceSynchronize());
}
