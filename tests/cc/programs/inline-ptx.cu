#include <cstdio>
#include <cstdint>
__global__ void arith(const unsigned *in, unsigned *out, long long *wide, float *fo)
{
    unsigned a = in[threadIdx.x], r, lane, smid;
    long long c64;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm volatile("mov.u32 %0, %%smid;" : "=r"(smid));
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(c64));
    asm("bfe.u32 %0, %1, 4, 8;" : "=r"(r) : "r"(a));
    out[threadIdx.x * 16 + 0] = r;
    asm("bfi.b32 %0, %1, %2, 8, 8;" : "=r"(r) : "r"(a), "r"(0xFFFFFFFFu));
    out[threadIdx.x * 16 + 1] = r;
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(r) : "r"(a), "r"(0x0F0F0F0Fu), "r"(0x12345678u));
    out[threadIdx.x * 16 + 2] = r;
    asm("prmt.b32 %0, %1, %2, 0x5410;" : "=r"(r) : "r"(a), "r"(0xAABBCCDDu));
    out[threadIdx.x * 16 + 3] = r;
    asm("popc.b32 %0, %1;" : "=r"(r) : "r"(a));
    out[threadIdx.x * 16 + 4] = r;
    asm("clz.b32 %0, %1;" : "=r"(r) : "r"(a));
    out[threadIdx.x * 16 + 5] = r;
    asm("brev.b32 %0, %1;" : "=r"(r) : "r"(a));
    out[threadIdx.x * 16 + 6] = r;
    asm("bfind.u32 %0, %1;" : "=r"(r) : "r"(a));
    out[threadIdx.x * 16 + 7] = r;
    unsigned lo, hi;
    asm("{ add.cc.u32 %0, %2, %3; addc.u32 %1, %4, 0; }"
        : "=r"(lo), "=r"(hi)
        : "r"(a), "r"(0xF0000000u), "r"(7u));
    out[threadIdx.x * 16 + 8] = lo;
    out[threadIdx.x * 16 + 9] = hi;
    asm("{ .reg .pred p; setp.gt.u32 p, %1, 1000; selp.u32 %0, 1, 2, p; }" : "=r"(r) : "r"(a));
    out[threadIdx.x * 16 + 10] = r;
    unsigned old = 5;
    asm("{ .reg .pred p; setp.lt.u32 p, %1, 1000;\n\t @p mov.u32 %0, 77; }" : "+r"(old) : "r"(a));
    out[threadIdx.x * 16 + 11] = old;
    asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(3u), "r"(4u));
    out[threadIdx.x * 16 + 12] = r;
    out[threadIdx.x * 16 + 13] = lane;
    unsigned wrapped;
    asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(r) : "r"(a & 63), "r"(a >> 8 & 63));
    asm("bmsk.wrap.b32 %0, %1, %2;" : "=r"(wrapped) : "r"(a & 63), "r"(a >> 8 & 63));
    out[threadIdx.x * 16 + 14] = (c64 != 0) ^ r ^ (wrapped << 1);
    asm("shf.l.wrap.b32 %0, %1, %2, 8;" : "=r"(r) : "r"(a), "r"(0xAABBCCDDu));
    out[threadIdx.x * 16 + 15] = r;
    long long w;
    asm("mul.wide.s32 %0, %1, %2;" : "=l"(w) : "r"((int)a), "r"(-3));
    wide[threadIdx.x] = w;
    float f;
    asm("cvt.rn.f32.u32 %0, %1;" : "=f"(f) : "r"(a));
    asm("fma.rn.f32 %0, %0, 0f40000000, %1;" : "+f"(f) : "f"(1.0f));
    fo[threadIdx.x] = f;
}
__global__ void mem(const float4 *in, float4 *out, int *cnt)
{
    __shared__ int s[64];
    float4 v;
    int t = threadIdx.x, got;
    asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0,%1,%2,%3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(in + t));
    asm volatile("st.global.cs.v4.f32 [%0], {%1,%2,%3,%4};" ::"l"(out + t), "f"(v.w), "f"(v.z),
                 "f"(v.y), "f"(v.x)
                 : "memory");
    unsigned sa = (unsigned)__cvta_generic_to_shared(&s[t]);
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(sa), "r"(t * 10) : "memory");
    asm volatile("bar.sync 0;" ::: "memory");
    asm volatile("ld.shared.u32 %0, [%1+4];"
                 : "=r"(got)
                 : "r"((unsigned)__cvta_generic_to_shared(&s[(t + 1) % 63])));
    asm volatile("red.global.add.u32 [%0], %1;" ::"l"(cnt), "r"(got) : "memory");
    int o;
    asm volatile("atom.global.max.s32 %0, [%1], %2;" : "=r"(o) : "l"(cnt + 1), "r"(t) : "memory");
    asm volatile(
        "{ .reg .pred p; setp.eq.u32 p, %1, 0; @p st.global.u32 [%0], 99; }" ::"l"(cnt + 2), "r"(t)
        : "memory");
}
int main()
{
    unsigned h[32], *in, *out, ho[512];
    long long *w, hw[32];
    float *f, hf[32];
    for (int i = 0; i < 32; i++) h[i] = i * 2654435761u + 17;
    cudaMalloc((void **)&in, 128);
    cudaMalloc((void **)&out, 2048);
    cudaMalloc((void **)&w, 256);
    cudaMalloc((void **)&f, 128);
    cudaMemcpy(in, h, 128, cudaMemcpyHostToDevice);
    arith<<<1, 32>>>(in, out, w, f);
    cudaMemcpy(ho, out, 2048, cudaMemcpyDeviceToHost);
    cudaMemcpy(hw, w, 256, cudaMemcpyDeviceToHost);
    cudaMemcpy(hf, f, 128, cudaMemcpyDeviceToHost);
    int bad = 0;
    for (int i = 0; i < 32; i++) {
        unsigned a = h[i], *o = ho + 16 * i;
        unsigned rev = 0;
        for (int b = 0; b < 32; b++) rev |= (a >> b & 1) << (31 - b);
        uint64_t s = (uint64_t)a + 0xF0000000u;
        const unsigned at = a & 63, length = a >> 8 & 63;
        const unsigned clamped =
            (unsigned)(((1ull << (length > 32 ? 32 : length)) - 1) << (at > 32 ? 32 : at));
        const unsigned wrapped = ((1u << (length & 31)) - 1) << (at & 31);
        unsigned e[16] = {(a >> 4) & 255,
                          (0xFFFFFFFFu & ~0xFF00u) | (a & 255) << 8,
                          a ^ 0x0F0F0F0Fu ^ 0x12345678u,
                          (a & 0xFFFF) | 0xCCDD0000u,
                          (unsigned)__builtin_popcount(a),
                          (unsigned)__builtin_clz(a),
                          rev,
                          31u - __builtin_clz(a),
                          (unsigned)s,
                          7u + (unsigned)(s >> 32),
                          a > 1000 ? 1u : 2u,
                          a < 1000 ? 77u : 5u,
                          a * 3 + 4,
                          (unsigned)i,
                          1 ^ clamped ^ (wrapped << 1),
                          0xAABBCCDDu << 8 | a >> 24};
        for (int k = 0; k < 16; k++)
            if (o[k] != e[k]) {
                printf("lane %d item %d: %x want %x\n", i, k, o[k], e[k]);
                bad = 1;
            }
        if (hw[i] != (long long)(int)a * -3) {
            printf("wide %d\n", i);
            bad = 1;
        }
        if (hf[i] != (float)a * 2 + 1) {
            printf("f %d %g\n", i, hf[i]);
            bad = 1;
        }
    }
    float4 hi4[64], ho4[64], *i4, *o4;
    int *cnt, hc[3] = {0, -5, 0};
    for (int i = 0; i < 64; i++) hi4[i] = make_float4(i, i + .5f, i + .25f, -i);
    cudaMalloc((void **)&i4, 1024);
    cudaMalloc((void **)&o4, 1024);
    cudaMalloc((void **)&cnt, 12);
    cudaMemcpy(i4, hi4, 1024, cudaMemcpyHostToDevice);
    cudaMemcpy(cnt, hc, 12, cudaMemcpyHostToDevice);
    mem<<<1, 64>>>(i4, o4, cnt);
    cudaMemcpy(ho4, o4, 1024, cudaMemcpyDeviceToHost);
    cudaMemcpy(hc, cnt, 12, cudaMemcpyDeviceToHost);
    int sum = 0;
    for (int t = 0; t < 64; t++) sum += ((t + 1) % 63 + 1) * 10;
    for (int i = 0; i < 64; i++)
        if (ho4[i].x != hi4[i].w || ho4[i].w != hi4[i].x) {
            printf("vec %d\n", i);
            bad = 1;
        }
    if (hc[0] != sum || hc[1] != 63 || hc[2] != 99) {
        printf("mem %d want %d, %d, %d\n", hc[0], sum, hc[1], hc[2]);
        bad = 1;
    }
    puts(bad ? "BAD" : "right");
    return bad;
}
