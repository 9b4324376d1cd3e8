// One kernel is left out of the recording and may have stored anything into what was allocated then.
// 1: memory that was allocated later is read before anybody sets it.
// options: --kernel-name consume
#include "pair.h"
enum { N = 4096, BLOCK = 128 };

__global__ void produce(float *out)
{
    out[blockIdx.x * BLOCK + threadIdx.x] = 1;
}

__global__ void consume(const float *in, const float *later, float *out)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    out[i] = in[i] + later[i]; // @1 uninitialised read
}

int main()
{
    float *in, *later, *out = device_zeros<float>(N);
    CHECK(cudaMalloc(&in, N * sizeof *in));
    produce<<<N / BLOCK, BLOCK>>>(in);
    CHECK(cudaMalloc(&later, N * sizeof *later));
    if (DEFECT != 1) CHECK(cudaMemset(later, 0, N * sizeof *later));
    consume<<<N / BLOCK, BLOCK>>>(in, later, out);
    CHECK(cudaDeviceSynchronize());
}
