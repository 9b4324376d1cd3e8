#include <cstdio>
#include <cstdint>
#include <cuda_runtime.h>
#define FULL 0xffffffffu
__device__ __forceinline__ uint32_t lane_id() { uint32_t r; asm volatile("mov.u32 %0, %%laneid;" : "=r"(r)); return r; }
__device__ __forceinline__ uint32_t lanemask_lt() { uint32_t r; asm("mov.u32 %0, %lanemask_lt;" : "=r"(r)); return r; }
__device__ inline unsigned long long globaltime() { unsigned long long t; asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t)); return t; }
static __device__ __inline__ uint32_t __mysmid() { uint32_t smid; asm volatile("mov.u32 %0, %%smid;" : "=r"(smid)); return smid; }
__device__ __forceinline__ int bfe(unsigned v, unsigned s, unsigned n) { unsigned r; asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(v), "r"(s), "r"(n)); return r; }
__device__ __forceinline__ unsigned lop3_xor(unsigned a, unsigned b, unsigned c) { unsigned d; asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); return d; }
__device__ unsigned long long mad_wide(unsigned a, unsigned b, unsigned long long c) { unsigned long long d; asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(d) : "r"(a), "r"(b), "l"(c)); return d; }
__device__ void add128(unsigned &lo, unsigned &hi, unsigned alo, unsigned ahi) { asm("{\n\t add.cc.u32 %0, %0, %2;\n\t addc.u32 %1, %1, %3;\n}" : "+r"(lo), "+r"(hi) : "r"(alo), "r"(ahi)); }
__device__ float ldcg(const float *p) { float v; asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(v) : "l"(p)); return v; }
__device__ void prefetch(const void *p) { asm volatile("prefetch.global.L2 [%0];" ::"l"(p)); }
__global__ void k(const float *in, unsigned *out, unsigned long long *t) {
  unsigned id = threadIdx.x, l = lane_id(); t[0] = globaltime(); prefetch(in);
  unsigned b = __ballot_sync(FULL, l % 3 == 0), m = __match_any_sync(FULL, id / 8), rank = __popc(b & lanemask_lt()), sum = __reduce_add_sync(FULL, l), up = __shfl_up_sync(FULL, id, 1), x = __shfl_xor_sync(FULL, id, 16, 32);
  int pred; unsigned all = __match_all_sync(FULL, 7, &pred); int any = __any_sync(FULL, l == 31), every = __all_sync(FULL, l < 32); unsigned act = __activemask();
  unsigned lo = 0xffffffffu, hi = l; add128(lo, hi, 1, 2); float f = ldcg(in + id); asm("{ .reg .pred p; setp.ge.u32 p, %1, 16; selp.u32 %0, 100, 200, p; }" : "=r"(act) : "r"(l));
  out[id] = b + m + rank + sum + up + x + (all == FULL && pred) + any + every + act + lo + hi + bfe(id * 64, 6, 4) + lop3_xor(id, 5, 9) + (unsigned)mad_wide(id, 3, 1) + (unsigned)f + __brev(1u << l) + __clz(id + 1) + __ffs(id) + __byte_perm(id, 0, 0x4440) + __funnelshift_l(id, id, 3) + (__mysmid() > 4096) + __popcll(id) + __mulhi(id, 1 << 30) + __umul24(id, id) + __sad(id, 3, 1) + __vabsdiffu4(id, 0x01010101u) + __dp4a(id, 0x01010101u, 1u) + __vadd2(id, 0x10001u) + __vmaxs2(id, 3) + __vcmpeq4(id, 0);
  asm volatile("bar.sync 0;" ::: "memory"); asm volatile("membar.gl;"); __nanosleep(10); if (id == 0) t[1] = clock64() - clock();
}
static unsigned pc(unsigned v) { return __builtin_popcount(v); }
int main() {
  float *in; unsigned *out, bad = 0; unsigned long long *t; cudaMallocManaged(&in, 256); cudaMallocManaged(&out, 256); cudaMallocManaged(&t, 16); for (int i = 0; i < 64; i++) in[i] = i;
  k<<<1, 64>>>(in, out, t); if (cudaDeviceSynchronize() != cudaSuccess) { puts(cudaGetErrorString(cudaGetLastError())); return 1; }
  for (unsigned id = 0; id < 64; id++) {
    unsigned l = id % 32, b = 0; for (int i = 0; i < 32; i += 3) b |= 1u << i; unsigned vad = 0, d4 = 1, vm = 0, ve = 0;
    for (int i = 0; i < 4; i++) { int x = id >> 8 * i & 255; vad |= (unsigned)(x > 1 ? x - 1 : 1 - x) << 8 * i; d4 += x; ve |= x == 0 ? 255u << 8 * i : 0; } vm = id > 3 ? id : 3;
    unsigned w = b + (255u << (l / 8 * 8)) + pc(b & ((1u << l) - 1)) + 496 + (l ? id - 1 : id) + (id ^ 16) + 1 + 1 + 1 + (l >= 16 ? 100 : 200) + 0 + (l + 3) + (id & 15) + (id ^ 5 ^ 9) + (id * 3 + 1) + id + (1u << (31 - l)) + __builtin_clz(id + 1) + __builtin_ffs(id)
      + (id & 255) + ((id << 3) | (id >> 29)) + pc(id) + (unsigned)(((long long)(int)id << 30) >> 32) + id * id + ((int)id > 3 ? id - 3 : 3 - id) + 1 + vad + d4 + (id + 1) + 0x10000u + vm + ve;
    if (w != out[id]) { if (!bad++) printf("%u: %u want %u\n", id, out[id], w); }
  }
  printf("%s %u\n", bad ? "FAILED" : "PASSED", bad); return bad != 0;
}
