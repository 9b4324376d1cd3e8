// 256-bit modular arithmetic with carry chains in PTX: Montgomery-free multiplication checked
// against __int128 on the host.
#include <cstdio>
#include <cstdint>
#include <cstdlib>
#include <cstring>
struct u256 {
    uint32_t w[8];
};
struct u512 {
    uint32_t w[16];
};
__device__ __forceinline__ uint32_t add_cc(uint32_t a, uint32_t b)
{
    uint32_t r;
    asm volatile("add.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
}
__device__ u256 add(const u256 &a, const u256 &b, uint32_t *carry)
{
    u256 r;
    uint32_t c;
    asm("add.cc.u32 %0, %9, %17;\n\taddc.cc.u32 %1, %10, %18;\n\taddc.cc.u32 %2, %11, "
        "%19;\n\taddc.cc.u32 %3, %12, %20;\n\taddc.cc.u32 %4, %13, %21;\n\taddc.cc.u32 %5, %14, "
        "%22;\n\taddc.cc.u32 %6, %15, %23;\n\taddc.cc.u32 %7, %16, %24;\n\taddc.u32 %8, 0, 0;"
        : "=r"(r.w[0]), "=r"(r.w[1]), "=r"(r.w[2]), "=r"(r.w[3]), "=r"(r.w[4]), "=r"(r.w[5]),
          "=r"(r.w[6]), "=r"(r.w[7]), "=r"(c)
        : "r"(a.w[0]), "r"(a.w[1]), "r"(a.w[2]), "r"(a.w[3]), "r"(a.w[4]), "r"(a.w[5]), "r"(a.w[6]),
          "r"(a.w[7]), "r"(b.w[0]), "r"(b.w[1]), "r"(b.w[2]), "r"(b.w[3]), "r"(b.w[4]), "r"(b.w[5]),
          "r"(b.w[6]), "r"(b.w[7]));
    *carry = c;
    return r;
}
__device__ u512 mul(const u256 &a, const u256 &b)
{
    u512 r;
    for (int i = 0; i < 16; i++) r.w[i] = 0;
    for (int i = 0; i < 8; i++) {
        uint32_t carry = 0;
        for (int j = 0; j < 8; j++) {
            uint32_t lo, hi;
            asm("mad.lo.cc.u32 %0, %2, %3, %4;\n\tmadc.hi.u32 %1, %2, %3, 0;"
                : "=r"(lo), "=r"(hi)
                : "r"(a.w[i]), "r"(b.w[j]), "r"(r.w[i + j]));
            asm("add.cc.u32 %0, %2, %3;\n\taddc.u32 %1, %4, 0;"
                : "=r"(r.w[i + j]), "=r"(carry)
                : "r"(lo), "r"(carry), "r"(hi));
        }
        r.w[i + 8] = carry;
    }
    return r;
}
__global__ void kernel(const u256 *a, const u256 *b, u256 *s, uint32_t *c, u512 *p, uint64_t *wide,
                       int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    s[i] = add(a[i], b[i], &c[i]);
    p[i] = mul(a[i], b[i]);
    uint64_t r, q;
    asm("mul.wide.u32 %0, %1, %2;" : "=l"(r) : "r"(a[i].w[0]), "r"(b[i].w[0]));
    asm("sub.cc.u64 %0, %1, %2;\n\tsubc.u64 %0, %0, 0;" : "=&l"(q) : "l"(r), "l"(r >> 1));
    wide[i] = q + __umul64hi(r, r) + add_cc(1, 2);
}
int main()
{
    const int n = 300;
    u256 *a, *b, *s;
    u512 *p;
    uint32_t *c;
    uint64_t *w;
    cudaMallocManaged(&a, n * sizeof *a);
    cudaMallocManaged(&b, n * sizeof *b);
    cudaMallocManaged(&s, n * sizeof *s);
    cudaMallocManaged(&p, n * sizeof *p);
    cudaMallocManaged(&c, n * 4);
    cudaMallocManaged(&w, n * 8);
    srand(3);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 8; k++) {
            a[i].w[k] = i % 7 == 0 ? ~0u : rand() * 2654435761u;
            b[i].w[k] = i % 5 == 0 ? ~0u : rand() * 40503u + rand();
        }
    kernel<<<3, 128>>>(a, b, s, c, p, w, n);
    cudaDeviceSynchronize();
    int bad = 0;
    for (int i = 0; i < n; i++) {
        uint64_t carry = 0;
        for (int k = 0; k < 8; k++) {
            carry += (uint64_t)a[i].w[k] + b[i].w[k];
            bad += s[i].w[k] != (uint32_t)carry;
            carry >>= 32;
        }
        bad += c[i] != carry;
        uint32_t r[16] = {};
        for (int x = 0; x < 8; x++) {
            uint64_t t = 0;
            for (int y = 0; y < 8; y++) {
                t += (uint64_t)a[i].w[x] * b[i].w[y] + r[x + y];
                r[x + y] = (uint32_t)t;
                t >>= 32;
            }
            r[x + 8] = (uint32_t)t;
        }
        bad += memcmp(r, p[i].w, 64) != 0;
        uint64_t m = (uint64_t)a[i].w[0] * b[i].w[0];
        bad += w[i] != m - (m >> 1) + (uint64_t)((unsigned __int128)m * m >> 64) + 3;
    }
    printf("bad %d %s\n", bad, cudaGetErrorString(cudaGetLastError()));
    return bad != 0;
}
