// One kernel is left out of the recording. It may have stored anything into what its arguments point
// to, here into all of `in` and into the first half of `both`.
// 1: memory that was allocated later is read before anybody sets it.
// 2: memory that was there, but that no argument points to, is read before anybody sets it.
// options: --kernel-name consume
#include "pair.h"
enum { N = 4096, BLOCK = 128 };

struct outputs {
    int count;
    float *in, *both;
};

__global__ void produce(outputs to)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    to.in[i] = 1;
    to.both[i] = 2;
}

__global__ void consume(const float *in, const float *both, const float *later, const float *aside,
                        float *out)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    const float sum = in[i] + both[i] + later[i]; // @1 uninitialised read
    out[i] = sum + aside[i];                      // @2 uninitialised read
}

int main()
{
    float *in, *both, *aside, *later, *out = device_zeros<float>(N);
    CHECK(cudaMalloc(&in, N * sizeof *in));
    CHECK(cudaMalloc(&both, 2 * N * sizeof *both));
    CHECK(cudaMalloc(&aside, N * sizeof *aside));
    if (DEFECT != 2) CHECK(cudaMemset(aside, 0, N * sizeof *aside));
    produce<<<N / BLOCK, BLOCK>>>({N, in, both});
    CHECK(cudaMalloc(&later, N * sizeof *later));
    if (DEFECT != 1) CHECK(cudaMemset(later, 0, N * sizeof *later));
    consume<<<N / BLOCK, BLOCK>>>(in, both, later, aside, out);
    CHECK(cudaDeviceSynchronize());
}
