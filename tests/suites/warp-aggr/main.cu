// Warp intrinsics: aggregated atomics by hand and by coalesced groups, match, reduce, vote, labeled
// partitions, lane masks.
#include <cstdio>
#include <vector>
#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__device__ int atomicAggInc(int *ptr)
{
    int mask = __match_any_sync(__activemask(), (unsigned long long)ptr);
    int leader = __ffs(mask) - 1;
    int res;
    unsigned lanemask_lt;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lanemask_lt));
    int lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    if (lane == leader) res = atomicAdd(ptr, __popc(mask));
    res = __shfl_sync(mask, res, leader);
    return res + __popc(mask & lanemask_lt);
}
__device__ int atomicAggIncCG(int *p)
{
    cg::coalesced_group active = cg::coalesced_threads();
    int prev = 0;
    if (active.thread_rank() == 0) prev = atomicAdd(p, active.num_threads());
    prev = active.thread_rank() + active.shfl(prev, 0);
    return prev;
}
__global__ void filter(int *dst, int *nres, const int *src, int n, bool byGroups)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
    if (src[i] > 0) dst[byGroups ? atomicAggIncCG(nres) : atomicAggInc(nres)] = src[i];
}
__global__ void votes(unsigned *out, const int *in)
{
    int t = threadIdx.x, v = in[t];
    unsigned all = 0xffffffffu;
    out[t] = __ballot_sync(all, v > 0);
    out[32 + t] = __all_sync(all, v > -100);
    out[64 + t] = __any_sync(all, v == 1234);
    out[96 + t] = __reduce_add_sync(all, v);
    out[128 + t] = __reduce_max_sync(all, v);
    out[160 + t] = __reduce_xor_sync(all, (unsigned)v);
    int pred;
    out[192 + t] = __match_all_sync(all, v & 0, &pred) + pred * 0;
    out[224 + t] = __shfl_up_sync(all, v, 3, 8);
    out[256 + t] = __shfl_xor_sync(all, t, 5);
    out[288 + t] = __popcll((unsigned long long)v) + __clz(t) + __brev(t) + __ffsll(v);
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    auto part = cg::labeled_partition(warp, t % 3);
    out[320 + t] = cg::reduce(part, t, cg::plus<int>()) * 100 + part.size();
    auto bin = cg::binary_partition(warp, v > 0);
    out[352 + t] = bin.meta_group_rank() * 0 + bin.num_threads();
    out[384 + t] = cg::exclusive_scan(warp, v, cg::plus<int>());
    out[416 + t] = cg::inclusive_scan(cg::tiled_partition<8>(warp), t);
    if (t % 4 == 1) {
        auto c = cg::coalesced_threads();
        out[448 + t] = c.ballot(1) * 10 + c.thread_rank() + c.any(t > 28);
    } else
        out[448 + t] = 7u;
}
int main()
{
    const int n = 5000;
    std::vector<int> h(n), o(n);
    int *d, *e, *c, bad = 0, pos = 0;
    for (int i = 0; i < n; i++) {
        h[i] = (i * 7919) % 201 - 100;
        pos += h[i] > 0;
    }
    cudaMalloc(&d, n * 4);
    cudaMalloc(&e, n * 4);
    cudaMalloc(&c, 4);
    cudaMemcpy(d, h.data(), n * 4, cudaMemcpyHostToDevice);
    for (int k = 0; k < 2; k++) {
        int got;
        cudaMemset(c, 0, 4);
        cudaMemset(e, 0, n * 4);
        filter<<<(n + 255) / 256, 256>>>(e, c, d, n, k);
        cudaMemcpy(&got, c, 4, cudaMemcpyDeviceToHost);
        cudaMemcpy(o.data(), e, n * 4, cudaMemcpyDeviceToHost);
        long a = 0, b = 0;
        for (int i = 0; i < n; i++) {
            a += h[i] > 0 ? h[i] : 0;
            b += o[i];
            bad += i < pos ? o[i] <= 0 : o[i] != 0;
        }
        bad += got != pos || a != b;
    }
    printf("filter: %d\n", bad);
    unsigned *u, r[480];
    cudaMalloc(&u, sizeof r);
    votes<<<1, 32>>>(u, d);
    cudaMemcpy(r, u, sizeof r, cudaMemcpyDeviceToHost);
    unsigned bal = 0, x = 0;
    int sum = 0, mx = -999, npos = 0;
    for (int t = 0; t < 32; t++) {
        bal |= (unsigned)(h[t] > 0) << t;
        sum += h[t];
        x ^= (unsigned)h[t];
        if (h[t] > mx) mx = h[t];
        npos += h[t] > 0;
    }
    int pre = 0;
    for (int t = 0; t < 32; t++) {
        int tri = 0, trin = 0, s8 = 0;
        for (int k = 0; k < 32; k++)
            if (k % 3 == t % 3) {
                tri += k;
                trin++;
            }
        for (int k = t / 8 * 8; k <= t; k++) s8 += k;
        unsigned rev = 0;
        for (int b = 0; b < 32; b++) rev |= ((unsigned)t >> b & 1) << (31 - b);
        long long v = h[t];
        unsigned long long uv = (unsigned long long)v;
        bool ok[] = {r[t] == bal,
                     r[32 + t] == (h[0] > -100 &&
                                   [&] {
                                       for (int k = 0; k < 32; k++)
                                           if (h[k] <= -100) return false;
                                       return true;
                                   }()),
                     r[64 + t] == 0,
                     (int)r[96 + t] == sum,
                     (int)r[128 + t] == mx,
                     r[160 + t] == x,
                     r[192 + t] == ~0u,
                     (int)r[224 + t] == h[t % 8 < 3 ? t : t - 3],
                     r[256 + t] == unsigned(t ^ 5),
                     r[288 + t] == unsigned(__builtin_popcountll(uv) + (t ? __builtin_clz(t) : 32) +
                                            rev + __builtin_ffsll(v)),
                     r[320 + t] == unsigned(tri * 100 + trin),
                     (int)r[352 + t] == (h[t] > 0 ? npos : 32 - npos),
                     (int)r[384 + t] == pre,
                     (int)r[416 + t] == s8,
                     r[448 + t] == (t % 4 == 1 ? 2550u + t / 4 + 1 : 7u)};
        for (int k = 0; k < 15; k++)
            if (!ok[k]) {
                bad++;
                if (bad < 10) printf("vote %d lane %d: %u\n", k, t, r[32 * k + t]);
            }
        pre += h[t];
    }
    printf("bad %d\n", bad);
    return bad != 0;
}
