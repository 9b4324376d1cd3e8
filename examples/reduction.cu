// The sum of doubles by repeated block reductions, in three ways: interleaved addressing (bank
// conflicts and divergence), sequential addressing, and warp shuffles; templates over the way and
// the block size. Each pass of a grid of n/(2*B) blocks leaves one value a block for the next pass:
// a gather, in-degree up to 2*B.
// reduction [ELEMENTS = 65536]
#include "common.h"
#include <cmath>
#include <vector>

enum Way { INTERLEAVED, SEQUENTIAL, SHUFFLE };

template <Way WAY, int BLOCK> __global__ void reduce(const double *in, double *out, int n)
{
    __shared__ double partial[BLOCK];
    const int t = threadIdx.x;
    const int i = blockIdx.x * BLOCK * 2 + t;
    double sum = i < n ? in[i] : 0.0;
    if (i + BLOCK < n) sum += in[i + BLOCK];

    if (WAY == SHUFFLE) {
        for (int lanes = 16; lanes > 0; lanes /= 2)
            sum += __shfl_down_sync(0xffffffffu, sum, lanes);
        if (t % 32 == 0) partial[t / 32] = sum;
        __syncthreads();
        if (t == 0)
            for (int w = 1; w < BLOCK / 32; w++) sum += partial[w];
    } else {
        partial[t] = sum;
        __syncthreads();
        if (WAY == INTERLEAVED) {
            for (int step = 1; step < BLOCK; step *= 2) {
                const int k = 2 * step * t;
                if (k < BLOCK) partial[k] += partial[k + step];
                __syncthreads();
            }
        } else {
            for (int step = BLOCK / 2; step > 0; step /= 2) {
                if (t < step) partial[t] += partial[t + step];
                __syncthreads();
            }
        }
        sum = partial[0];
    }
    if (t == 0) out[blockIdx.x] = sum;
}

template <Way WAY, int BLOCK> double total(const std::vector<double> &values)
{
    int n = (int)values.size();
    double *from = device_copy(values.data(), n), *to;
    CHECK(cudaMalloc(&to, ((n + 2 * BLOCK - 1) / (2 * BLOCK)) * sizeof(double)));
    while (n > 1) {
        const int blocks = (n + 2 * BLOCK - 1) / (2 * BLOCK);
        reduce<WAY, BLOCK><<<blocks, BLOCK>>>(from, to, n);
        CHECK(cudaGetLastError());
        double *const swap = from;
        from = to, to = swap;
        n = blocks;
    }
    double sum;
    CHECK(cudaMemcpy(&sum, from, sizeof sum, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(from));
    CHECK(cudaFree(to));
    return sum;
}

int main(int argc, char **argv)
{
    const int n = argument(argc, argv, 1, 65536);
    std::vector<double> values(n);
    Random random;
    double expected = 0; // small integers: every order of adding gives the same
    for (double &value : values) expected += value = random.next() % 1000;
    const bool right =
        total<INTERLEAVED, 128>(values) == expected && total<SEQUENTIAL, 128>(values) == expected &&
        total<SEQUENTIAL, 256>(values) == expected && total<SHUFFLE, 256>(values) == expected;
    return verdict("reduction", right);
}
