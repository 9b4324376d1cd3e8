// Quantised matrix-vector products: int8 with dp4a, packed int4 with byte permutes, fp8 with
// scales; video instructions.
#include <cstdint>
#include <cstdio>
#include <cmath>
#include <vector>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#define QK 32
typedef struct {
    half d;
    int8_t qs[QK];
} block_q8;
typedef struct {
    half d;
    uint8_t qs[QK / 2];
} block_q4;
static_assert(sizeof(block_q8) == sizeof(half) + QK, "wrong q8 block size");
static __device__ __forceinline__ int get_int_b2(const void *x, const int &i32)
{
    const uint16_t *x16 = (const uint16_t *)x;
    int x32 = x16[2 * i32 + 0] << 0;
    x32 |= x16[2 * i32 + 1] << 16;
    return x32;
}
__global__ void quantize_q8(const float *__restrict__ x, block_q8 *__restrict__ y, int k)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= k) return;
    const float xi = x[i];
    float amax = fabsf(xi);
    for (int m = 16; m; m >>= 1) amax = fmaxf(amax, __shfl_xor_sync(0xffffffff, amax, m, 32));
    const float d = amax / 127;
    const int8_t q = amax == 0.0f ? 0 : roundf(xi / d);
    y[i / QK].qs[i % QK] = q;
    if (i % QK == 0) y[i / QK].d = d;
}
template <int rows>
__global__ void mul_mat_vec_q4_q8(const block_q4 *__restrict__ vx, const block_q8 *__restrict__ vy,
                                  float *__restrict__ dst, int ncols, int nrows)
{
    const int row0 = rows * blockIdx.x, nb = ncols / QK;
    float tmp[rows] = {0.0f};
    for (int ib = threadIdx.x; ib < nb; ib += 32) {
        const block_q8 *by = vy + ib;
#pragma unroll
        for (int r = 0; r < rows; ++r) {
            if (row0 + r >= nrows) break;
            const block_q4 *bx = vx + (row0 + r) * nb + ib;
            int sumi = 0, sumy = 0;
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const int v = get_int_b2(bx->qs, i);
                const int vi0 = (v >> 0) & 0x0F0F0F0F, vi1 = (v >> 4) & 0x0F0F0F0F;
                const int u0 = get_int_b2(by->qs, i), u1 = get_int_b2(by->qs, i + 4);
                sumi = __dp4a(vi0, u0, sumi);
                sumi = __dp4a(vi1, u1, sumi);
                sumy = __dp4a(0x01010101, u0, sumy);
                sumy = __dp4a(0x01010101, u1, sumy);
            }
            tmp[r] += __half2float(bx->d) * __half2float(by->d) * (sumi - 8 * sumy);
        }
    }
#pragma unroll
    for (int r = 0; r < rows; ++r) {
        for (int m = 16; m; m >>= 1) tmp[r] += __shfl_xor_sync(0xffffffff, tmp[r], m);
        if (threadIdx.x == 0 && row0 + r < nrows) dst[row0 + r] = tmp[r];
    }
}
__global__ void video(const unsigned *a, const unsigned *b, unsigned *o)
{
    int t = threadIdx.x;
    unsigned x = a[t], y = b[t];
    o[t] = __vabsdiffu4(x, y);
    o[64 + t] = __vaddus4(x, y);
    o[128 + t] = __vsub4(x, y);
    o[192 + t] = __vcmpgtu4(x, y);
    o[256 + t] = __vmaxs2(x, y);
    o[320 + t] = __byte_perm(x, y, 0x5140);
    o[384 + t] = __usad(x, y, 1u);
    o[448 + t] = __umulhi(x, y) + __uhadd(x, y) + __dp2a_lo((unsigned)x, (unsigned)y, 3u);
}
__global__ void fp8(const float *x, __nv_fp8_e4m3 *q, float *back, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        q[i] = __nv_fp8_e4m3(x[i]);
        __nv_fp8_e5m2 r(x[i]);
        back[i] = float(q[i]);
        back[n + i] = float(r);
    }
}
int main()
{
    const int cols = 1024, rows = 37, nb = cols / QK;
    std::vector<float> x(cols), got(rows);
    for (int i = 0; i < cols; i++) x[i] = std::sin(i * 0.37f) * 3;
    std::vector<block_q4> w(rows * nb);
    for (size_t i = 0; i < w.size(); i++) {
        w[i].d = __float2half(0.01f + i % 7 * 0.01f);
        for (int k = 0; k < 16; k++) w[i].qs[k] = uint8_t(i * 31 + k * 17);
    }
    float *dx, *dy;
    block_q8 *q;
    block_q4 *dw;
    int bad = 0;
    cudaMalloc(&dx, cols * 4);
    cudaMalloc(&dy, 8192);
    cudaMalloc(&q, nb * sizeof(block_q8));
    cudaMalloc(&dw, w.size() * sizeof(block_q4));
    cudaMemcpy(dx, x.data(), cols * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(dw, w.data(), w.size() * sizeof(block_q4), cudaMemcpyHostToDevice);
    quantize_q8<<<cols / 256, 256>>>(dx, q, cols);
    mul_mat_vec_q4_q8<2><<<(rows + 1) / 2, 32>>>(dw, q, dy, cols, rows);
    cudaMemcpy(got.data(), dy, rows * 4, cudaMemcpyDeviceToHost);
    for (int r = 0; r < rows; r++) {
        double s = 0, mag = 0;
        for (int b = 0; b < nb; b++)
            for (int k = 0; k < 16; k++) {
                const block_q4 &e = w[r * nb + b];
                double d = __half2float(e.d);
                s += d * ((e.qs[k] & 15) - 8) * x[b * 32 + k] +
                     d * ((e.qs[k] >> 4) - 8) * x[b * 32 + 16 + k];
                mag += d * 8 * 3;
            }
        bad += std::fabs(s - got[r]) > 0.002 * mag;
    }
    printf("q4: %d\n", bad);
    unsigned a[64], b[64], o[512], *da, *db, *dout;
    for (int i = 0; i < 64; i++) {
        a[i] = 2654435761u * i;
        b[i] = 40503u * i * i + 7;
    }
    cudaMalloc(&da, 256);
    cudaMalloc(&db, 256);
    cudaMalloc(&dout, 2048);
    cudaMemcpy(da, a, 256, cudaMemcpyHostToDevice);
    cudaMemcpy(db, b, 256, cudaMemcpyHostToDevice);
    video<<<1, 64>>>(da, db, dout);
    cudaMemcpy(o, dout, 2048, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 64; i++) {
        unsigned w[8] = {};
        for (int k = 0; k < 4; k++) {
            int p = a[i] >> 8 * k & 255, r = b[i] >> 8 * k & 255;
            w[0] |= unsigned(abs(p - r)) << 8 * k;
            w[1] |= unsigned(p + r > 255 ? 255 : p + r) << 8 * k;
            w[2] |= unsigned((p - r) & 255) << 8 * k;
            w[3] |= (p > r ? 255u : 0u) << 8 * k;
        }
        for (int k = 0; k < 2; k++) {
            short p = a[i] >> 16 * k, r = b[i] >> 16 * k;
            w[4] |= unsigned((unsigned short)(p > r ? p : r)) << 16 * k;
        }
        w[5] = (a[i] & 255) | (b[i] & 255) << 8 | (a[i] >> 8 & 255) << 16 | (b[i] >> 8 & 255) << 24;
        w[6] = (a[i] > b[i] ? a[i] - b[i] : b[i] - a[i]) + 1;
        w[7] = unsigned((unsigned long long)a[i] * b[i] >> 32) +
               unsigned(((unsigned long long)a[i] + b[i]) >> 1) + 3 +
               (a[i] & 65535) * (b[i] & 255) + (a[i] >> 16) * (b[i] >> 8 & 255);
        for (int k = 0; k < 8; k++)
            if (o[64 * k + i] != w[k]) {
                if (bad++ < 5)
                    printf("video %d: %x %x: %x not %x\n", k, a[i], b[i], o[64 * k + i], w[k]);
            }
    }
    __nv_fp8_e4m3 *f8;
    cudaMalloc(&f8, cols);
    std::vector<float> back(2 * cols);
    cudaMemcpy(dx, x.data(), cols * 4, cudaMemcpyHostToDevice);
    fp8<<<4, 256>>>(dx, f8, dy, cols);
    cudaMemcpy(back.data(), dy, 2 * cols * 4, cudaMemcpyDeviceToHost);
    for (int i = 0; i < cols; i++)
        bad += std::fabs(back[i] - x[i]) > std::fabs(x[i]) / 16 + 0.001f ||
               std::fabs(back[cols + i] - x[i]) > std::fabs(x[i]) / 8 + 1e-5f;
    printf("bad %d %s\n", bad, cudaGetErrorString(cudaGetLastError()));
    return bad != 0;
}
