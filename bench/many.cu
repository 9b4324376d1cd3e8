// A file with 132 instantiated kernels, like the reduction of CUDA's samples: what compiling costs.
#include "../examples/common.h"

template <int WAY, int BLOCK, bool WHOLE>
__global__ void reduce(const double *in, double *out, int n)
{
    __shared__ double partial[BLOCK];
    const int t = threadIdx.x, stride = BLOCK * (WAY % 2 + 1) * gridDim.x;
    double sum = 0;
    for (int i = blockIdx.x * BLOCK + t; i < n; i += stride) {
        sum += in[i];
        if (WHOLE || i + BLOCK < n) sum += in[i + BLOCK];
    }
    partial[t] = sum;
    __syncthreads();
    if (WAY < 2) {
        for (int step = 1; step < BLOCK; step *= 2) {
            if (t % (2 * step) == 0 && t + step < BLOCK) partial[t] += partial[t + step];
            __syncthreads();
        }
    } else if (WAY < 4) {
        for (int step = BLOCK / 2; step > 0; step /= 2) {
            if (t < step) partial[t] += partial[t + step];
            __syncthreads();
        }
    } else {
        for (int step = BLOCK / 2; step >= 32; step /= 2) {
            if (t < step) partial[t] += partial[t + step];
            __syncthreads();
        }
        if (t < 32) {
            sum = partial[t];
            for (int lanes = 16; lanes > 0; lanes /= 2)
                sum += __shfl_down_sync(0xffffffffu, sum, lanes);
            if (t == 0) partial[0] = sum;
        }
    }
    if (t == 0) out[blockIdx.x] = partial[0];
}

template <int WAY, bool WHOLE> static void block_sizes(const double *in, double *out, int n)
{
    reduce<WAY, 1, WHOLE><<<64, 1>>>(in, out, n);
    reduce<WAY, 2, WHOLE><<<64, 2>>>(in, out, n);
    reduce<WAY, 4, WHOLE><<<64, 4>>>(in, out, n);
    reduce<WAY, 8, WHOLE><<<64, 8>>>(in, out, n);
    reduce<WAY, 16, WHOLE><<<64, 16>>>(in, out, n);
    reduce<WAY, 32, WHOLE><<<64, 32>>>(in, out, n);
    reduce<WAY, 64, WHOLE><<<64, 64>>>(in, out, n);
    reduce<WAY, 128, WHOLE><<<64, 128>>>(in, out, n);
    reduce<WAY, 256, WHOLE><<<64, 256>>>(in, out, n);
    reduce<WAY, 512, WHOLE><<<64, 512>>>(in, out, n);
    reduce<WAY, 1024, WHOLE><<<64, 1024>>>(in, out, n);
}

template <int WAY> static void both(const double *in, double *out, int n)
{
    block_sizes<WAY, true>(in, out, n);
    block_sizes<WAY, false>(in, out, n);
}

int main()
{
    double *in, *out;
    const int n = 1 << 16;
    CHECK(cudaMalloc(&in, 2 * n * sizeof(double)));
    CHECK(cudaMalloc(&out, 64 * sizeof(double)));
    CHECK(cudaMemset(in, 0, 2 * n * sizeof(double)));
    both<0>(in, out, n);
    both<1>(in, out, n);
    both<2>(in, out, n);
    both<3>(in, out, n);
    both<4>(in, out, n);
    both<5>(in, out, n);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
