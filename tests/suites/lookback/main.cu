// Single-pass scan with decoupled look-back, dynamic tile ids; stream compaction on top.
#include <cstdio>
#include <vector>
#include <cuda/atomic>
enum : unsigned { INVALID = 0, AGGREGATE = 1, PREFIX = 2 };
struct alignas(8) Status {
    unsigned flag;
    int value;
};
__device__ unsigned next_tile;
template <int T, int I>
__global__ void __launch_bounds__(T)
    scan(const int *in, int *out, unsigned long long *status, int n)
{
    __shared__ unsigned tile_s;
    __shared__ int warp_sums[T / 32], prefix_s;
    if (threadIdx.x == 0) tile_s = atomicAdd(&next_tile, 1u);
    __syncthreads();
    const int tile = tile_s, base = tile * T * I;
    int v[I], sum = 0;
    for (int i = 0; i < I; i++) {
        int k = base + threadIdx.x * I + i;
        v[i] = k < n ? in[k] : 0;
        sum += v[i];
        v[i] = sum;
    }
    int lane = threadIdx.x & 31, w = threadIdx.x >> 5, x = sum;
    for (int o = 1; o < 32; o <<= 1) {
        int y = __shfl_up_sync(~0u, x, o);
        if (lane >= o) x += y;
    }
    if (lane == 31) warp_sums[w] = x;
    __syncthreads();
    if (w == 0) {
        int y = lane < T / 32 ? warp_sums[lane] : 0;
        for (int o = 1; o < 32; o <<= 1) {
            int z = __shfl_up_sync(~0u, y, o);
            if (lane >= o) y += z;
        }
        if (lane < T / 32) warp_sums[lane] = y;
    }
    __syncthreads();
    int total = warp_sums[T / 32 - 1];
    auto put = [&](unsigned flag, int value) {
        cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> r(status[tile]);
        r.store((unsigned long long)flag << 32 | (unsigned)value, cuda::memory_order_release);
    };
    if (w == 0) {
        if (lane == 0) put(tile ? AGGREGATE : PREFIX, total);
        int prefix = 0;
        for (int look = tile - 1 - lane; tile > 0;) {
            unsigned flag;
            int value;
            do {
                unsigned long long s = PREFIX * (1ull << 32);
                if (look >= 0)
                    s = cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>(
                            status[look])
                            .load(cuda::memory_order_acquire);
                flag = unsigned(s >> 32);
                value = int(s);
            } while (__any_sync(~0u, flag == INVALID));
            unsigned done = __ballot_sync(~0u, flag == PREFIX);
            int stop = done ? __ffs(done) - 1 : 31, part = lane <= stop ? value : 0;
            for (int o = 16; o; o >>= 1) part += __shfl_xor_sync(~0u, part, o);
            prefix += part;
            if (done) break;
            look -= 32;
        }
        if (lane == 0) {
            if (tile) put(PREFIX, prefix + total);
            prefix_s = prefix;
        }
    }
    __syncthreads();
    int add = prefix_s + x - sum + (w ? warp_sums[w - 1] : 0);
    for (int i = 0; i < I; i++) {
        int k = base + threadIdx.x * I + i;
        if (k < n) out[k] = v[i] + add;
    }
}
__global__ void compact(const int *in, const int *pos, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i]) out[pos[i] - 1] = i;
}
int main()
{
    const int n = 50001, T = 128, I = 4, tiles = (n + T * I - 1) / (T * I);
    std::vector<int> h(n), o(n);
    for (int i = 0; i < n; i++) h[i] = (i * 7919 % 13) < 4;
    int *a, *b, *c;
    unsigned long long *s;
    cudaMalloc(&a, n * 4);
    cudaMalloc(&b, n * 4);
    cudaMalloc(&c, n * 4);
    cudaMalloc(&s, tiles * 8);
    cudaMemcpy(a, h.data(), n * 4, cudaMemcpyHostToDevice);
    cudaMemset(s, 0, tiles * 8);
    scan<T, I><<<tiles, T>>>(a, b, s, n);
    compact<<<(n + 255) / 256, 256>>>(a, b, c, n);
    cudaMemcpy(o.data(), b, n * 4, cudaMemcpyDeviceToHost);
    int bad = 0, run = 0;
    for (int i = 0; i < n; i++) {
        run += h[i];
        bad += o[i] != run;
    }
    cudaMemcpy(o.data(), c, run * 4, cudaMemcpyDeviceToHost);
    for (int i = 0, k = 0; i < n; i++)
        if (h[i]) bad += o[k++] != i;
    printf("bad %d %s\n", bad, cudaGetErrorString(cudaGetLastError()));
    return bad != 0;
}
