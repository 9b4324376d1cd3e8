// A histogram of bytes into 64 bins (the upper six bits) in two steps, as in CUDA's histogram64:
// each block counts its share in shared memory and writes 64 partial counts; a second kernel of 64
// blocks adds them, one bin a block: every block of the second launch reads 4 bytes of every block
// of the first, a full gather.
// histogram [MIB = 64] [BLOCKS = 256]
#include "common.h"
#include <vector>

enum { BINS = 64, THREADS = 128 };

__global__ void count_partial(const uint32_t *data, uint32_t *partial, int words)
{
    __shared__ uint32_t bins[BINS];
    if (threadIdx.x < BINS) bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x) {
        const uint32_t four = data[i];
        atomicAdd(&bins[four >> 2 & 63], 1u);
        atomicAdd(&bins[four >> 10 & 63], 1u);
        atomicAdd(&bins[four >> 18 & 63], 1u);
        atomicAdd(&bins[four >> 26 & 63], 1u);
    }
    __syncthreads();
    if (threadIdx.x < BINS) partial[blockIdx.x * BINS + threadIdx.x] = bins[threadIdx.x];
}

__global__ void merge(const uint32_t *partial, uint32_t *histogram, int blocks)
{
    __shared__ uint32_t sums[THREADS];
    uint32_t sum = 0;
    for (int b = threadIdx.x; b < blocks; b += THREADS) sum += partial[b * BINS + blockIdx.x];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int step = THREADS / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) sums[threadIdx.x] += sums[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) histogram[blockIdx.x] = sums[0];
}

int main(int argc, char **argv)
{
    const int mib = argument(argc, argv, 1, 64), blocks = argument(argc, argv, 2, 256);
    const int words = mib << 18;
    std::vector<uint32_t> data(words);
    uint32_t expected[BINS] = {0}, histogram[BINS];
    Random random;
    for (uint32_t &word : data) {
        word = random.next() ^ random.next() << 16;
        for (int shift = 2; shift < 32; shift += 8) expected[word >> shift & 63]++;
    }

    uint32_t *d_data = device_copy(data.data(), data.size()), *d_partial, *d_histogram;
    CHECK(cudaMalloc(&d_partial, blocks * sizeof histogram));
    CHECK(cudaMalloc(&d_histogram, sizeof histogram));
    count_partial<<<blocks, THREADS>>>(d_data, d_partial, words);
    merge<<<BINS, THREADS>>>(d_partial, d_histogram, blocks);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(histogram, d_histogram, sizeof histogram, cudaMemcpyDeviceToHost));

    bool right = true;
    for (int bin = 0; bin < BINS; bin++) right &= histogram[bin] == expected[bin];
    CHECK(cudaFree(d_data));
    CHECK(cudaFree(d_partial));
    CHECK(cudaFree(d_histogram));
    return verdict("histogram", right);
}
