/* Three sorts: bitonic in shared memory, odd-even merge over launches, and a radix sort whose ranks
 * come from ballots, __match_any_sync and __popc. */
#include "helper.h"
#include <algorithm>
#include <random>
#include <vector>

template <typename T> __device__ __forceinline__ void comparator(T &a, T &b, bool up)
{
    if ((a > b) == up) {
        const T t = a;
        a = b;
        b = t;
    }
}

__global__ void __launch_bounds__(256) bitonic_shared(unsigned *keys, bool up)
{
    __shared__ unsigned s[512];
    keys += blockIdx.x * 512;
    s[threadIdx.x] = keys[threadIdx.x];
    s[threadIdx.x + 256] = keys[threadIdx.x + 256];
    for (unsigned size = 2; size <= 512; size <<= 1) {
        const bool direction = size == 512 ? up : (threadIdx.x & (size / 2)) == 0;
        for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            const unsigned pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            comparator(s[pos], s[pos + stride], direction);
        }
    }
    __syncthreads();
    keys[threadIdx.x] = s[threadIdx.x];
    keys[threadIdx.x + 256] = s[threadIdx.x + 256];
}

__global__ void odd_even_step(float *keys, int n, int odd)
{
    const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + odd;
    if (i + 1 < n) comparator(keys[i], keys[i + 1], true);
}

/* One pass of four bits over the keys of one block of 256 threads; stable. */
__device__ void radix_pass(unsigned *keys, unsigned *out, unsigned *counts, int shift)
{
    const unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    const unsigned key = keys[threadIdx.x], digit = key >> shift & 15;
    for (unsigned i = threadIdx.x; i < 16 * warps; i += blockDim.x) counts[i] = 0;
    __syncthreads();
    const unsigned same = __match_any_sync(0xffffffff, digit);
    const unsigned before = __popc(same & ((1u << lane) - 1));
    if (before == 0) counts[digit * warps + warp] = __popc(same);
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned sum = 0;
        for (unsigned i = 0; i < 16 * warps; i++) {
            const unsigned count = counts[i];
            counts[i] = sum;
            sum += count;
        }
    }
    __syncthreads();
    out[counts[digit * warps + warp] + before] = key;
    __syncthreads();
}

__global__ void radix_sort(unsigned *keys)
{
    __shared__ unsigned a[256], b[256], counts[16 * 8];
    a[threadIdx.x] = keys[blockIdx.x * 256 + threadIdx.x];
    __syncthreads();
    for (int shift = 0; shift < 32; shift += 8) {
        radix_pass(a, b, counts, shift);
        radix_pass(b, a, counts, shift + 4);
    }
    keys[blockIdx.x * 256 + threadIdx.x] = a[threadIdx.x];
}

/* One bit at a time with ballots: a split of one warp. */
__global__ void split_sort(unsigned *keys)
{
    const unsigned lane = threadIdx.x;
    __shared__ unsigned s[32];
    unsigned key = keys[lane];
    for (int bit = 0; bit < 32; bit++) {
        const unsigned ones = __ballot_sync(~0u, key >> bit & 1), zeros = ~ones;
        const unsigned below = (1u << lane) - 1;
        const unsigned at =
            key >> bit & 1 ? __popc(zeros) + __popc(ones & below) : __popc(zeros & below);
        s[at] = key;
        __syncwarp();
        key = s[lane];
        __syncwarp();
    }
    keys[lane] = key;
}

int main()
{
    const int n = 2048;
    std::mt19937 random(7);
    std::vector<unsigned> host(n), got(n);
    for (auto &key : host) key = random();
    unsigned *keys;
    checkCudaErrors(cudaMalloc(&keys, n * sizeof(unsigned)));

    auto put = [&] {
        checkCudaErrors(cudaMemcpy(keys, host.data(), n * 4, cudaMemcpyHostToDevice));
    };
    auto sorted_runs = [&](int run, const char *name, bool up = true) {
        checkCudaErrors(cudaMemcpy(got.data(), keys, n * 4, cudaMemcpyDeviceToHost));
        std::vector<unsigned> want = host;
        for (int i = 0; i < n; i += run) {
            std::sort(want.begin() + i, want.begin() + i + run);
            if (!up) std::reverse(want.begin() + i, want.begin() + i + run);
        }
        EXPECT(want == got, "%s", name);
    };
    put();
    bitonic_shared<<<n / 512, 256>>>(keys, true);
    sorted_runs(512, "bitonic");
    put();
    bitonic_shared<<<n / 512, 256>>>(keys, false);
    sorted_runs(512, "bitonic downwards", false);
    put();
    radix_sort<<<n / 256, 256>>>(keys);
    sorted_runs(256, "radix");
    put();
    for (int i = 0; i < n; i += 32) split_sort<<<1, 32>>>(keys + i);
    sorted_runs(32, "split");

    const int m = 256;
    std::vector<float> floats(m), floats_got(m);
    std::uniform_real_distribution<float> uniform(-5, 5);
    for (auto &f : floats) f = uniform(random);
    float *d;
    checkCudaErrors(cudaMalloc(&d, m * sizeof(float)));
    checkCudaErrors(cudaMemcpy(d, &floats[0], m * sizeof(float), cudaMemcpyHostToDevice));
    for (int i = 0; i < m; i++) odd_even_step<<<m / 2 / 64, 64>>>(d, m, i & 1);
    checkCudaErrors(cudaMemcpy(&floats_got[0], d, m * sizeof(float), cudaMemcpyDeviceToHost));
    std::sort(floats.begin(), floats.end());
    EXPECT(floats == floats_got, "odd-even");
    cudaFree(keys);
    cudaFree(d);
    return verdict();
}
