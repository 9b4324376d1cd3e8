// AES-128 in counter mode: tables in constant and shared memory, one block of 16 bytes a thread.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>
#include <array>
#include <cuda_runtime.h>
using word = uint32_t;
constexpr uint8_t xtime(uint8_t x)
{
    return uint8_t((x << 1) ^ ((x >> 7) * 0x1b));
}
constexpr uint8_t mul(uint8_t a, uint8_t b)
{
    uint8_t r = 0;
    while (b) {
        if (b & 1) r ^= a;
        a = xtime(a);
        b >>= 1;
    }
    return r;
}
constexpr std::array<uint8_t, 256> make_sbox()
{
    std::array<uint8_t, 256> s{};
    for (int i = 0; i < 256; i++) {
        uint8_t inv = 0;
        for (int j = 1; j < 256 && i; j++)
            if (mul(uint8_t(i), uint8_t(j)) == 1) {
                inv = uint8_t(j);
                break;
            }
        uint8_t r = 0x63;
        for (int k = 0; k < 5; k++) r ^= uint8_t((inv << k) | (inv >> (8 - k)));
        s[i] = r;
    }
    return s;
}
static const std::array<uint8_t, 256> sbox_host = make_sbox();
__constant__ uint8_t sbox[256];
__constant__ word te0[256];
__constant__ word round_keys[44];
struct block16 {
    word w[4];
};
static_assert(sizeof(block16) == 16, "a block has 16 bytes");
__device__ __forceinline__ word rotl8(word x, int n)
{
    return __funnelshift_l(x, x, 8 * n);
}
__device__ __forceinline__ word column(const word *t, word a, word b, word c, word d)
{
    return t[a & 255] ^ rotl8(t[(b >> 8) & 255], 1) ^ rotl8(t[(c >> 16) & 255], 2) ^
           rotl8(t[d >> 24], 3);
}
__global__ void __launch_bounds__(128) ctr(const block16 *in, block16 *out, uint64_t nonce, int n)
{
    __shared__ word t[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) t[i] = te0[i];
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    word s[4] = {word(nonce), word(nonce >> 32), 0, __byte_perm(word(i), 0, 0x0123)};
#pragma unroll
    for (int k = 0; k < 4; k++) s[k] ^= round_keys[k];
    for (int r = 1; r < 10; r++) {
        word u[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            u[k] = column(t, s[k], s[(k + 1) & 3], s[(k + 2) & 3], s[(k + 3) & 3]) ^
                   round_keys[4 * r + k];
#pragma unroll
        for (int k = 0; k < 4; k++) s[k] = u[k];
    }
    block16 b = in[i];
#pragma unroll
    for (int k = 0; k < 4; k++)
        b.w[k] ^= (word(sbox[s[k] & 255]) | word(sbox[(s[(k + 1) & 3] >> 8) & 255]) << 8 |
                   word(sbox[(s[(k + 2) & 3] >> 16) & 255]) << 16 |
                   word(sbox[s[(k + 3) & 3] >> 24]) << 24) ^
                  round_keys[40 + k];
    out[i] = b;
}
static void encrypt_host(const uint8_t *key, uint8_t *b)
{
    uint8_t k[176];
    memcpy(k, key, 16);
    for (int i = 16, rc = 1; i < 176; i += 4) {
        uint8_t t[4];
        memcpy(t, k + i - 4, 4);
        if (i % 16 == 0) {
            uint8_t x = t[0];
            t[0] = sbox_host[t[1]] ^ rc;
            t[1] = sbox_host[t[2]];
            t[2] = sbox_host[t[3]];
            t[3] = sbox_host[x];
            rc = xtime(rc);
        }
        for (int j = 0; j < 4; j++) k[i + j] = k[i + j - 16] ^ t[j];
    }
    if (!b) {
        cudaMemcpyToSymbol(round_keys, k, 176);
        return;
    }
    for (int i = 0; i < 16; i++) b[i] ^= k[i];
    for (int r = 1; r <= 10; r++) {
        uint8_t t[16];
        for (int c = 0; c < 4; c++)
            for (int j = 0; j < 4; j++) t[4 * c + j] = sbox_host[b[(4 * (c + j) + j) % 16]];
        if (r < 10)
            for (int c = 0; c < 4; c++) {
                uint8_t *q = t + 4 * c, a[4];
                memcpy(a, q, 4);
                for (int j = 0; j < 4; j++)
                    q[j] = mul(a[j], 2) ^ mul(a[(j + 1) & 3], 3) ^ a[(j + 2) & 3] ^ a[(j + 3) & 3];
            }
        for (int i = 0; i < 16; i++) b[i] = t[i] ^ k[16 * r + i];
    }
}
int main()
{
    const int n = 3000;
    const uint64_t nonce = 0x0123456789abcdefull;
    uint8_t key[16];
    for (int i = 0; i < 16; i++) key[i] = uint8_t(i * 17);
    word te[256];
    for (int i = 0; i < 256; i++) {
        uint8_t s = sbox_host[i];
        te[i] = word(mul(s, 2)) | word(s) << 8 | word(s) << 16 | word(mul(s, 3)) << 24;
    }
    cudaMemcpyToSymbol(sbox, sbox_host.data(), 256);
    cudaMemcpyToSymbol(te0, te, sizeof te);
    encrypt_host(key, nullptr);
    std::vector<block16> in(n), out(n);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 4; k++) in[i].w[k] = 2654435761u * (4 * i + k);
    block16 *a, *b;
    cudaMalloc(&a, n * 16);
    cudaMalloc(&b, n * 16);
    cudaMemcpy(a, in.data(), n * 16, cudaMemcpyHostToDevice);
    ctr<<<(n + 127) / 128, 128>>>(a, b, nonce, n);
    cudaMemcpy(out.data(), b, n * 16, cudaMemcpyDeviceToHost);
    int bad = 0;
    for (int i = 0; i < n; i++) {
        uint8_t c[16] = {};
        memcpy(c, &nonce, 8);
        c[12] = i >> 24;
        c[13] = i >> 16;
        c[14] = i >> 8;
        c[15] = i;
        encrypt_host(key, c);
        bad += memcmp(&in[i], &out[i], 16) == 0;
        for (int k = 0; k < 16; k++)
            if ((reinterpret_cast<uint8_t *>(&in[i])[k] ^ c[k]) !=
                reinterpret_cast<uint8_t *>(&out[i])[k]) {
                bad++;
                break;
            }
    }
    printf("bad %d %s\n", bad, cudaGetErrorString(cudaGetLastError()));
    return bad != 0;
}
