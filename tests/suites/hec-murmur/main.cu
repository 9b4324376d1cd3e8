#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
#include <string.h>
#include <cuda.h>
#ifndef BLOCK_SIZE
#define BLOCK_SIZE 256
#endif
#define FORCE_INLINE    inline __attribute__((always_inline))
#define BIG_CONSTANT(x) (x##LLU)
__host__ __device__ FORCE_INLINE uint64_t rotl64(uint64_t x, uint8_t r)
{
    return (x << r) | (x >> (64 - r));
}
#define ROTL64(x, y) rotl64(x, y)
__host__ __device__ FORCE_INLINE uint64_t getblock64(const uint8_t *p, uint32_t i)
{
    uint64_t s = 0;
    for (uint32_t n = 0; n < 8; n++) s |= ((uint64_t)p[8 * i + n] << (n * 8));
    return s;
}
__host__ __device__ FORCE_INLINE uint64_t fmix64(uint64_t k)
{
    k ^= k >> 33;
    k *= BIG_CONSTANT(0xff51afd7ed558ccd);
    k ^= k >> 33;
    k *= BIG_CONSTANT(0xc4ceb9fe1a85ec53);
    k ^= k >> 33;
    return k;
}
__host__ __device__ void MurmurHash3_x64_128(const void *key, const uint32_t len,
                                             const uint32_t seed, void *out)
{
    const uint8_t *data = (const uint8_t *)key;
    const uint32_t nblocks = len / 16;
    uint64_t h1 = seed, h2 = seed;
    const uint64_t c1 = BIG_CONSTANT(0x87c37b91114253d5), c2 = BIG_CONSTANT(0x4cf5ad432745937f);
    for (uint32_t i = 0; i < nblocks; i++) {
        uint64_t k1 = getblock64(data, i * 2 + 0), k2 = getblock64(data, i * 2 + 1);
        k1 *= c1;
        k1 = ROTL64(k1, 31);
        k1 *= c2;
        h1 ^= k1;
        h1 = ROTL64(h1, 27);
        h1 += h2;
        h1 = h1 * 5 + 0x52dce729;
        k2 *= c2;
        k2 = ROTL64(k2, 33);
        k2 *= c1;
        h2 ^= k2;
        h2 = ROTL64(h2, 31);
        h2 += h1;
        h2 = h2 * 5 + 0x38495ab5;
    }
    const uint8_t *tail = (const uint8_t *)(data + nblocks * 16);
    uint64_t k1 = 0, k2 = 0;
    switch (len & 15) {
    case 15:
        k2 ^= ((uint64_t)tail[14]) << 48;
    case 14:
        k2 ^= ((uint64_t)tail[13]) << 40;
    case 13:
        k2 ^= ((uint64_t)tail[12]) << 32;
    case 12:
        k2 ^= ((uint64_t)tail[11]) << 24;
    case 11:
        k2 ^= ((uint64_t)tail[10]) << 16;
    case 10:
        k2 ^= ((uint64_t)tail[9]) << 8;
    case 9:
        k2 ^= ((uint64_t)tail[8]) << 0;
        k2 *= c2;
        k2 = ROTL64(k2, 33);
        k2 *= c1;
        h2 ^= k2;
    case 8:
        k1 ^= ((uint64_t)tail[7]) << 56;
    case 7:
        k1 ^= ((uint64_t)tail[6]) << 48;
    case 6:
        k1 ^= ((uint64_t)tail[5]) << 40;
    case 5:
        k1 ^= ((uint64_t)tail[4]) << 32;
    case 4:
        k1 ^= ((uint64_t)tail[3]) << 24;
    case 3:
        k1 ^= ((uint64_t)tail[2]) << 16;
    case 2:
        k1 ^= ((uint64_t)tail[1]) << 8;
    case 1:
        k1 ^= ((uint64_t)tail[0]) << 0;
        k1 *= c1;
        k1 = ROTL64(k1, 31);
        k1 *= c2;
        h1 ^= k1;
    };
    h1 ^= len;
    h2 ^= len;
    h1 += h2;
    h2 += h1;
    h1 = fmix64(h1);
    h2 = fmix64(h2);
    h1 += h2;
    h2 += h1;
    ((uint64_t *)out)[0] = h1;
    ((uint64_t *)out)[1] = h2;
}
__global__ void MurmurHash3_x64_128_kernel(const uint8_t *d_keys, const uint32_t *d_length,
                                           const uint32_t *length, uint64_t *out,
                                           const uint32_t numKeys)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < numKeys) MurmurHash3_x64_128(d_keys + d_length[i], length[i], i, out + i * 2);
}
int main(int argc, char **argv)
{
    uint32_t numKeys = argc > 1 ? atoi(argv[1]) : 2000;
    srand(3);
    uint32_t *length = (uint32_t *)malloc(sizeof(uint32_t) * numKeys),
             *offset = (uint32_t *)malloc(sizeof(uint32_t) * (numKeys + 1)), total = 0;
    for (uint32_t i = 0; i < numKeys; i++) {
        length[i] = rand() % 97;
        offset[i] = total;
        total += length[i];
    }
    uint8_t *keys = (uint8_t *)malloc(total);
    for (uint32_t i = 0; i < total; i++) keys[i] = rand() & 255;
    uint64_t *out = (uint64_t *)malloc(numKeys * 16), *d_out;
    uint8_t *d_keys;
    uint32_t *d_len, *d_off;
    cudaMalloc((void **)&d_keys, total);
    cudaMemcpy(d_keys, keys, total, cudaMemcpyHostToDevice);
    cudaMalloc((void **)&d_off, sizeof(uint32_t) * numKeys);
    cudaMemcpy(d_off, offset, sizeof(uint32_t) * numKeys, cudaMemcpyHostToDevice);
    cudaMalloc((void **)&d_len, sizeof(uint32_t) * numKeys);
    cudaMemcpy(d_len, length, sizeof(uint32_t) * numKeys, cudaMemcpyHostToDevice);
    cudaMalloc((void **)&d_out, 16 * numKeys);
    MurmurHash3_x64_128_kernel<<<(numKeys + BLOCK_SIZE - 1) / BLOCK_SIZE, BLOCK_SIZE>>>(
        d_keys, d_off, d_len, d_out, numKeys);
    cudaMemcpy(out, d_out, 16 * numKeys, cudaMemcpyDeviceToHost);
    bool error = false;
    for (uint32_t i = 0; i < numKeys; i++) {
        uint64_t o[2];
        MurmurHash3_x64_128(keys + offset[i], length[i], i, o);
        if (o[0] != out[2 * i] || o[1] != out[2 * i + 1]) error = true;
    }
    printf("%s\n", error ? "FAIL" : "PASS");
    return error;
}
