#include <cstdio>
#include <cstdint>
#include <cstring>
#define ROTR(x, n) (((x) >> (n)) | ((x) << (32 - (n))))
__constant__ uint32_t dK[64];
static uint32_t hK[64];
#if defined(__CUDA_ARCH__)
#define K(i) dK[i]
#else
#define K(i) hK[i]
#endif
__device__ __forceinline__ uint32_t xor3(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t r;
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
}
__device__ __forceinline__ uint32_t andor(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t r;
    asm("{ .reg .u32 m, n, o;\n\tand.b32 m, %1, %2;\n\tand.b32 n, %1, %3;\n\tand.b32 o, %2, "
        "%3;\n\txor.b32 m, m, n;\n\txor.b32 %0, m, o; }"
        : "=r"(r)
        : "r"(a), "r"(b), "r"(c));
    return r;
}
__device__ __forceinline__ uint32_t rotr(uint32_t x, int n)
{
    uint32_t r;
    asm("shf.r.wrap.b32 %0, %1, %1, %2;" : "=r"(r) : "r"(x), "r"(n));
    return r;
}
__device__ __forceinline__ uint64_t bswap64(uint64_t x)
{
    uint64_t r;
    asm("{ .reg .b32 lo, hi, a, b;\n mov.b64 {lo, hi}, %1;\n prmt.b32 a, lo, 0, 0x0123;\n prmt.b32 "
        "b, hi, 0, 0x0123;\n mov.b64 %0, {b, a}; }"
        : "=l"(r)
        : "l"(x));
    return r;
}
__device__ void sha_dev(const uint32_t *m, uint32_t *out)
{
    uint32_t w[16], s[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                            0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19},
                    v[8];
#pragma unroll
    for (int i = 0; i < 16; i++) w[i] = m[i];
    for (int i = 0; i < 8; i++) v[i] = s[i];
#pragma unroll 16
    for (int i = 0; i < 64; i++) {
        if (i >= 16) {
            uint32_t a = w[(i + 1) & 15], b = w[(i + 14) & 15];
            w[i & 15] += xor3(rotr(a, 7), rotr(a, 18), a >> 3) + w[(i + 9) & 15] +
                         xor3(rotr(b, 17), rotr(b, 19), b >> 10);
        }
        uint32_t t1 = v[7] + xor3(rotr(v[4], 6), rotr(v[4], 11), rotr(v[4], 25)) +
                      ((v[4] & v[5]) ^ (~v[4] & v[6])) + K(i) + w[i & 15],
                 t2 = xor3(rotr(v[0], 2), rotr(v[0], 13), rotr(v[0], 22)) + andor(v[0], v[1], v[2]);
        v[7] = v[6];
        v[6] = v[5];
        v[5] = v[4];
        v[4] = v[3] + t1;
        v[3] = v[2];
        v[2] = v[1];
        v[1] = v[0];
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) out[i] = s[i] + v[i];
}
static void sha_host(const uint32_t *m, uint32_t *out)
{
    uint32_t w[64], s[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                            0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19},
                    v[8];
    for (int i = 0; i < 16; i++) w[i] = m[i];
    for (int i = 16; i < 64; i++)
        w[i] = w[i - 16] + (ROTR(w[i - 15], 7) ^ ROTR(w[i - 15], 18) ^ (w[i - 15] >> 3)) +
               w[i - 7] + (ROTR(w[i - 2], 17) ^ ROTR(w[i - 2], 19) ^ (w[i - 2] >> 10));
    memcpy(v, s, 32);
    for (int i = 0; i < 64; i++) {
        uint32_t t1 = v[7] + (ROTR(v[4], 6) ^ ROTR(v[4], 11) ^ ROTR(v[4], 25)) +
                      ((v[4] & v[5]) ^ (~v[4] & v[6])) + K(i) + w[i],
                 t2 = (ROTR(v[0], 2) ^ ROTR(v[0], 13) ^ ROTR(v[0], 22)) +
                      ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        v[7] = v[6];
        v[6] = v[5];
        v[5] = v[4];
        v[4] = v[3] + t1;
        v[3] = v[2];
        v[2] = v[1];
        v[1] = v[0];
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) out[i] = s[i] + v[i];
}
__global__ void mine(uint32_t base, uint32_t mask, uint32_t *found, uint64_t *first)
{
    uint32_t nonce = base + blockIdx.x * blockDim.x + threadIdx.x, m[16] = {}, h[8];
    m[0] = nonce;
    m[1] = 0x80000000u;
    m[15] = 32;
    sha_dev(m, h);
    if ((h[0] & mask) == 0) {
        atomicAdd(found, 1);
        atomicMin((unsigned long long *)first, (unsigned long long)nonce << 32 | h[7]);
    }
    if (nonce == base) first[1] = bswap64((uint64_t)h[0] << 32 | h[1]);
}
int main()
{
    const uint64_t primes[] = {2, 3, 5, 7};
    (void)primes;
    for (uint32_t i = 0; i < 64; i++) hK[i] = 0x428a2f98u * (i + 1) ^ (i << 27);
    cudaMemcpyToSymbol(dK, hK, sizeof hK);
    uint32_t *f, hf;
    uint64_t *first, hl[2] = {~0ull, 0};
    cudaMalloc(&f, 4);
    cudaMalloc(&first, 16);
    cudaMemset(f, 0, 4);
    cudaMemcpy(first, hl, 16, cudaMemcpyHostToDevice);
    mine<<<64, 128>>>(5, 0xff, f, first);
    cudaMemcpy(&hf, f, 4, cudaMemcpyDeviceToHost);
    cudaMemcpy(hl, first, 16, cudaMemcpyDeviceToHost);
    uint32_t wf = 0;
    uint64_t wl = ~0ull, w1 = 0;
    for (uint32_t n = 5; n < 5 + 64 * 128; n++) {
        uint32_t m[16] = {n, 0x80000000u}, h[8];
        m[15] = 32;
        sha_host(m, h);
        if ((h[0] & 0xff) == 0) {
            wf++;
            uint64_t x = (uint64_t)n << 32 | h[7];
            if (x < wl) wl = x;
        }
        if (n == 5) w1 = __builtin_bswap64((uint64_t)h[0] << 32 | h[1]);
    }
    printf("%u of %u, %lx %lx, %lx %lx\n", hf, wf, (long)hl[0], (long)wl, (long)hl[1], (long)w1);
    return hf != wf || hl[0] != wl || hl[1] != w1;
}
