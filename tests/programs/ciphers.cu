/* Integer programs: MD5 and SHA-256 of many messages, a stream cipher with rotations, packed bytes
 * with __byte_perm and the SIMD intrinsics, funnel shifts, bit reversal, wide products, dp4a, and
 * inline PTX for carries, selects and lane numbers. */
#include "helper.h"
#include <stdint.h>
#include <vector>
#define ROTATE(x, n) (((x) << (n)) | ((x) >> (32 - (n))))

__constant__ uint32_t md5_k[64];
static __constant__ unsigned char md5_shift[16] = {7, 12, 17, 22, 5, 9,  14, 20,
                                                   4, 11, 16, 23, 6, 10, 15, 21};

__host__ __device__ inline void md5_block(const uint32_t *m, uint32_t *digest, const uint32_t *k,
                                          const unsigned char *shift)
{
    uint32_t a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476;
#pragma unroll 4
    for (int i = 0; i < 64; i++) {
        uint32_t f, g;
        switch (i >> 4) {
        case 0:
            f = (b & c) | (~b & d), g = i;
            break;
        case 1:
            f = (d & b) | (~d & c), g = (5 * i + 1) & 15;
            break;
        case 2:
            f = b ^ c ^ d, g = (3 * i + 5) & 15;
            break;
        default:
            f = c ^ (b | ~d), g = (7 * i) & 15;
        }
        const uint32_t s = shift[(i >> 4) * 4 + (i & 3)], t = d;
        d = c, c = b;
        f += a + k[i] + m[g];
#ifdef __CUDA_ARCH__
        b += __funnelshift_l(f, f, s);
#else
        b += ROTATE(f, s);
#endif
        a = t;
    }
    digest[0] = 0x67452301 + a, digest[1] = 0xefcdab89 + b, digest[2] = 0x98badcfe + c,
    digest[3] = 0x10325476 + d;
}

__global__ void md5(uint4 *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint32_t m[16] = {};
    m[0] = 'a' + i % 26 | 0x80 << 8; /* one letter, and the end */
    m[14] = 8;
    uint32_t digest[4];
    md5_block(m, digest, md5_k, md5_shift);
    out[i] = make_uint4(digest[0], digest[1], digest[2], digest[3]);
}

/* One thread per 64-byte block of the key stream, of a cipher of quarter rounds. */
__host__ __device__ inline void quarter(uint32_t &a, uint32_t &b, uint32_t &c, uint32_t &d)
{
    a += b, d ^= a, d = ROTATE(d, 16);
    c += d, b ^= c, b = ROTATE(b, 12);
    a += b, d ^= a, d = ROTATE(d, 8);
    c += d, b ^= c, b = ROTATE(b, 7);
}
__host__ __device__ inline void stream_block(const uint32_t *key, uint32_t counter, uint32_t *x)
{
    for (int i = 0; i < 16; i++) x[i] = key[i] + (i == 12 ? counter : 0);
    uint32_t s[16];
    for (int i = 0; i < 16; i++) s[i] = x[i];
    for (int i = 0; i < 10; i++) {
        for (int k = 0; k < 4; k++) quarter(x[k], x[k + 4], x[k + 8], x[k + 12]);
        for (int k = 0; k < 4; k++)
            quarter(x[k], x[4 + (k + 1) % 4], x[8 + (k + 2) % 4], x[12 + (k + 3) % 4]);
    }
    for (int i = 0; i < 16; i++) x[i] += s[i];
}
__global__ void encrypt(const uint32_t *key, const uchar4 *in, uchar4 *out, int blocks)
{
    const int block = blockIdx.x * blockDim.x + threadIdx.x;
    if (block >= blocks) return;
    uint32_t x[16];
    stream_block(key, block, x);
    for (int i = 0; i < 16; i++) {
        uchar4 v = in[16 * block + i];
        v.x ^= x[i], v.y ^= x[i] >> 8, v.z ^= x[i] >> 16, v.w ^= x[i] >> 24;
        out[16 * block + i] = v;
    }
}

__global__ void bits(const uint32_t *in, unsigned long long *out)
{
    const uint32_t a = in[2 * threadIdx.x], b = in[2 * threadIdx.x + 1];
    unsigned long long *const o = out + 16 * threadIdx.x;
    o[0] = __byte_perm(a, b, 0x5140);
    o[1] = __vadd4(a, b);
    o[2] = __vabsdiffu4(a, b);
    o[3] = __vcmpgtu4(a, b);
    o[4] = __umulhi(a, b);
    o[5] = __mul64hi((long long)a << 32 | b, (long long)b << 32 | a);
    o[6] = __brevll((unsigned long long)a << 32 | b);
    o[7] = __dp4a(a, b, 7u);
    o[8] = __funnelshift_r(a, b, 13);
    uint32_t low, high;
    asm("add.cc.u32 %0, %2, %3;\n\taddc.u32 %1, %4, %5;"
        : "=r"(low), "=r"(high)
        : "r"(a), "r"(b), "r"(1), "r"(2));
    o[9] = (unsigned long long)high << 32 | low;
    uint32_t lane, chosen;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm("{\n\t.reg .pred p;\n\tsetp.gt.u32 p, %1, %2;\n\tselp.b32 %0, %1, %2, p;\n\t}"
        : "=r"(chosen)
        : "r"(a), "r"(b));
    o[10] = (unsigned long long)lane << 32 | chosen;
    o[11] = __popcll(o[6]) * 10000 + __clzll((long long)(a & 0xffff)) * 100 + __ffsll(b & ~7u);
    o[12] = __usad(a, b, 5) + __uhadd(a, b);
    o[13] = __vmaxs2(a, b) ^ __vminu2(a, b);
    o[14] = __match_any_sync(~0u, a & 3);
    int all_equal;
    o[15] = __match_all_sync(~0u, 77, &all_equal) + all_equal;
}

static uint32_t each_byte(uint32_t a, uint32_t b, uint32_t (*f)(uint32_t, uint32_t))
{
    uint32_t r = 0;
    for (int i = 0; i < 32; i += 8) r |= (f(a >> i & 255, b >> i & 255) & 255) << i;
    return r;
}

int main()
{
    uint32_t k[64];
    for (int i = 0; i < 64; i++) k[i] = (uint32_t)(int64_t)floor(fabs(sin(i + 1.0)) * 4294967296.0);
    checkCudaErrors(cudaMemcpyToSymbol(md5_k, k, sizeof k));
    const int n = 100;
    uint4 *d_digests, digests[n];
    checkCudaErrors(cudaMalloc(&d_digests, sizeof digests));
    md5<<<2, 64>>>(d_digests, n);
    checkCudaErrors(cudaMemcpy(digests, d_digests, sizeof digests, cudaMemcpyDeviceToHost));
    /* of "a": 0cc175b9 c0f1b6a8 31c399e2 69772661 */
    EXPECT(digests[0].x == 0xb975c10c && digests[0].y == 0xa8b6f1c0 && digests[0].z == 0xe299c331 &&
               digests[0].w == 0x61267769,
           "%08x %08x", digests[0].x, digests[0].y);
    EXPECT(!memcmp(&digests[27], &digests[1], 16) && memcmp(&digests[0], &digests[1], 16),
           "letters repeat");

    const int blocks = 150;
    std::vector<unsigned char> text(64 * blocks), got(64 * blocks);
    for (size_t i = 0; i < text.size(); i++) text[i] = (unsigned char)(i * i >> 3);
    uint32_t key[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}, *d_key;
    for (int i = 4; i < 16; i++) key[i] = i * 0x01010101;
    uchar4 *d_in, *d_out;
    checkCudaErrors(cudaMalloc(&d_key, sizeof key));
    checkCudaErrors(cudaMalloc(&d_in, text.size()));
    checkCudaErrors(cudaMalloc(&d_out, text.size()));
    checkCudaErrors(cudaMemcpy(d_key, key, sizeof key, cudaMemcpyHostToDevice));
    checkCudaErrors(cudaMemcpy(d_in, text.data(), text.size(), cudaMemcpyHostToDevice));
    encrypt<<<3, 64>>>(d_key, d_in, d_out, blocks);
    checkCudaErrors(cudaMemcpy(got.data(), d_out, text.size(), cudaMemcpyDeviceToHost));
    for (int b = 0; b < blocks; b++) {
        uint32_t x[16];
        stream_block(key, b, x);
        for (int i = 0; i < 64; i++)
            EXPECT(got[64 * b + i] == (text[64 * b + i] ^ (x[i / 4] >> 8 * (i % 4) & 255)), "%d %d",
                   b, i);
    }

    std::vector<uint32_t> in(64);
    for (size_t i = 0; i < in.size(); i++) in[i] = 2654435761u * (i + 3) ^ (uint32_t)i << 20;
    uint32_t *d_words;
    static unsigned long long out[32 * 16];
    unsigned long long *d_results;
    checkCudaErrors(cudaMalloc(&d_words, in.size() * 4));
    checkCudaErrors(cudaMalloc(&d_results, sizeof out));
    checkCudaErrors(cudaMemcpy(d_words, in.data(), in.size() * 4, cudaMemcpyHostToDevice));
    bits<<<1, 32>>>(d_words, d_results);
    checkCudaErrors(cudaMemcpy(out, d_results, sizeof out, cudaMemcpyDeviceToHost));
    for (int t = 0; t < 32; t++) {
        const uint32_t a = in[2 * t], b = in[2 * t + 1];
        const unsigned long long *const o = out + 16 * t, ab = (unsigned long long)a << 32 | b,
                                        ba = (unsigned long long)b << 32 | a;
        unsigned long long reversed = 0, match = 0;
        uint32_t dot = 7;
        for (int i = 0; i < 64; i++) reversed |= (ab >> i & 1) << (63 - i);
        for (int i = 0; i < 32; i++) match |= (unsigned long long)((in[2 * i] & 3) == (a & 3)) << i;
        for (int i = 0; i < 32; i += 8) dot += (a >> i & 255) * (b >> i & 255);
        const uint32_t vmaxs2 =
            (uint32_t)(uint16_t)((int16_t)a > (int16_t)b ? a : b) |
            (uint32_t)(uint16_t)((int16_t)(a >> 16) > (int16_t)(b >> 16) ? a >> 16 : b >> 16) << 16;
        const uint32_t vminu2 = ((a & 65535) < (b & 65535) ? a & 65535 : b & 65535) |
                                ((a >> 16) < (b >> 16) ? a >> 16 : b >> 16) << 16;
        const unsigned long long want[16] = {
            (a & 255) | (b & 255) << 8 | (a >> 8 & 255) << 16 | (b >> 8 & 255) << 24,
            each_byte(a, b, [](uint32_t x, uint32_t y) { return x + y; }),
            each_byte(a, b, [](uint32_t x, uint32_t y) { return x > y ? x - y : y - x; }),
            each_byte(a, b, [](uint32_t x, uint32_t y) { return x > y ? 255u : 0u; }),
            (uint32_t)((unsigned long long)a * b >> 32),
            (unsigned long long)((__int128)(long long)ab * (long long)ba >> 64),
            reversed,
            dot,
            a >> 13 | b << 19,
            (3ull << 32) + a + b,
            (unsigned long long)t << 32 | (a > b ? a : b),
            (unsigned long long)(__builtin_popcountll(reversed) * 10000 +
                                 (a & 0xffff ? __builtin_clzll(a & 0xffff) : 64) * 100 +
                                 __builtin_ffsll(b & ~7u)),
            (a > b ? a - b : b - a) + 5 + (uint32_t)(((unsigned long long)a + b) >> 1),
            vmaxs2 ^ vminu2,
            match,
            0x100000000ull};
        for (int i = 0; i < 16; i++)
            EXPECT(i == 12 || i == 15 ? (uint32_t)o[i] == (uint32_t)want[i] : o[i] == want[i],
                   "%d %d: %llx, not %llx", t, i, o[i], want[i]);
    }
    return verdict();
}
