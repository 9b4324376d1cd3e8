#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>
#include <vector>
#include <cub/cub.cuh>
#define CubCheck(x)                                                                                \
    do {                                                                                           \
        cudaError_t e = (x);                                                                       \
        if (e) {                                                                                   \
            printf("%s: %s\n", #x, cudaGetErrorString(e));                                         \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)
template <int THREADS, int ITEMS>
__launch_bounds__(THREADS) __global__ void block_sort(const int *in, int *out, int *sums)
{
    using Load = cub::BlockLoad<int, THREADS, ITEMS, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using Store = cub::BlockStore<int, THREADS, ITEMS, cub::BLOCK_STORE_TRANSPOSE>;
    using Sort = cub::BlockRadixSort<int, THREADS, ITEMS>;
    using Reduce = cub::BlockReduce<int, THREADS>;
    using Scan = cub::BlockScan<int, THREADS, cub::BLOCK_SCAN_RAKING>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Store::TempStorage store;
        typename Sort::TempStorage sort;
        typename Reduce::TempStorage reduce;
        typename Scan::TempStorage scan;
    } temp;
    int v[ITEMS], offset = blockIdx.x * THREADS * ITEMS;
    Load(temp.load).Load(in + offset, v);
    __syncthreads();
    Sort(temp.sort).Sort(v);
    __syncthreads();
    Store(temp.store).Store(out + offset, v);
    __syncthreads();
    int s = Reduce(temp.reduce).Sum(v);
    __syncthreads();
    int one = threadIdx.x, ex, total;
    Scan(temp.scan).ExclusiveSum(one, ex, total);
    if (threadIdx.x == 0) sums[2 * blockIdx.x] = s;
    if (threadIdx.x == THREADS - 1)
        sums[2 * blockIdx.x + 1] = ex + (total == THREADS * (THREADS - 1) / 2);
}
__global__ void warps(const float *in, float *out)
{
    using W = cub::WarpReduce<float, 16>;
    __shared__ W::TempStorage t[8];
    int w = threadIdx.x / 16;
    float r = W(t[w]).Reduce(in[threadIdx.x], [](float a, float b) { return a > b ? a : b; });
    if (threadIdx.x % 16 == 0) out[w] = r;
    using S = cub::WarpScan<int>;
    __shared__ S::TempStorage s[4];
    int x = 1, y;
    S(s[threadIdx.x / 32]).InclusiveSum(x, y);
    out[8 + threadIdx.x] = y;
}
struct Even {
    __host__ __device__ bool operator()(int x) const { return (x & 1) == 0; }
};
int main()
{
    const int n = 4096;
    std::vector<int> h(n), w(n), g(n);
    std::mt19937 rng(5);
    for (int &x : h) x = int(rng() % 100000) - 50000;
    int *a, *b, *c, *num, bad = 0;
    cudaMalloc(&a, n * 4);
    cudaMalloc(&b, n * 4);
    cudaMalloc(&c, n * 4);
    cudaMalloc(&num, 64 * 4);
    cudaMemcpy(a, h.data(), n * 4, cudaMemcpyHostToDevice);
    auto fetch = [&](int *p, size_t k) {
        std::vector<int> r(k);
        cudaMemcpy(r.data(), p, k * 4, cudaMemcpyDeviceToHost);
        return r;
    };
    block_sort<128, 4><<<n / 512, 128>>>(a, b, num);
    w = h;
    for (int i = 0; i < n; i += 512) std::sort(w.begin() + i, w.begin() + i + 512);
    bad += fetch(b, n) != w;
    auto s = fetch(num, 2 * n / 512);
    for (int i = 0; i < n / 512; i++)
        bad += s[2 * i] != std::accumulate(h.begin() + 512 * i, h.begin() + 512 * i + 512, 0) ||
               s[2 * i + 1] != 127 * 126 / 2 + 1;
    printf("block: %d\n", bad);
    std::vector<float> f(128), o(136);
    for (int i = 0; i < 128; i++) f[i] = (i * 37) % 101;
    cudaMemcpy(c, f.data(), 512, cudaMemcpyHostToDevice);
    warps<<<1, 128>>>((float *)c, (float *)b);
    cudaMemcpy(o.data(), b, 136 * 4, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 8; i++)
        bad += o[i] != *std::max_element(f.begin() + 16 * i, f.begin() + 16 * i + 16);
    for (int i = 0; i < 128; i++) bad += o[8 + i] != i % 32 + 1;
    printf("warp: %d\n", bad);
    void *tmp = nullptr;
    size_t bytes = 0, most = 0;
    for (int pass = 0; pass < 2; pass++) {
        bytes = 0;
        CubCheck(cub::DeviceSelect::If(pass ? tmp : nullptr, pass ? (bytes = most) : bytes, a, b,
                                       num, n, Even{}));
        most = std::max(most, bytes);
        if (pass) {
            std::vector<int> e;
            std::copy_if(h.begin(), h.end(), std::back_inserter(e), Even{});
            auto k = fetch(num, 1)[0];
            bad += k != (int)e.size() || fetch(b, k) != e;
            printf("select: %d\n", bad);
        }
        bytes = most;
        CubCheck(cub::DeviceScan::InclusiveSum(pass ? tmp : nullptr, bytes, a, b, n));
        most = std::max(most, bytes);
        if (pass) {
            std::partial_sum(h.begin(), h.end(), w.begin());
            bad += fetch(b, n) != w;
            printf("scan: %d\n", bad);
        }
        bytes = most;
        CubCheck(cub::DeviceRadixSort::SortKeysDescending(pass ? tmp : nullptr, bytes, a, b, n));
        most = std::max(most, bytes);
        if (pass) {
            w = h;
            std::sort(w.rbegin(), w.rend());
            bad += fetch(b, n) != w;
            printf("sort: %d\n", bad);
        }
        bytes = most;
        CubCheck(cub::DeviceHistogram::HistogramEven(pass ? tmp : nullptr, bytes, a, num, 11,
                                                     -50000, 50000, n));
        most = std::max(most, bytes);
        if (pass) {
            std::vector<int> e(10);
            for (int x : h) e[(x + 50000) / 10000]++;
            bad += fetch(num, 10) != e;
            printf("histogram: %d\n", bad);
        }
        bytes = most;
        CubCheck(cub::DeviceReduce::ArgMin(pass ? tmp : nullptr, bytes, a,
                                           (cub::KeyValuePair<int, int> *)num, n));
        most = std::max(most, bytes);
        if (pass) {
            auto r = fetch(num, 2);
            auto m = std::min_element(h.begin(), h.end());
            bad += r[0] != m - h.begin() || r[1] != *m;
            printf("argmin: %d\n", bad);
        }
        if (!pass) cudaMalloc(&tmp, most);
    }
    printf("bad %d\n", bad);
    return bad != 0;
}
