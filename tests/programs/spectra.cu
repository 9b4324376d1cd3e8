/* Transforms: an FFT per block in shared memory with float2 and sincospif, a long one over several
 * launches, the matrix Q of MRI in chunks of __constant__ memory, fast Walsh, haar wavelets. */
#include "helper.h"
#include <complex>
#include <vector>
typedef float2 Complex;

static __device__ __host__ inline Complex ComplexAdd(Complex a, Complex b)
{
    return make_float2(a.x + b.x, a.y + b.y);
}
static __device__ __host__ inline Complex ComplexSub(Complex a, Complex b)
{
    return make_float2(a.x - b.x, a.y - b.y);
}
static __device__ __host__ inline Complex ComplexMul(Complex a, Complex b)
{
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

template <int LOG> __global__ void fft_block(Complex *data)
{
    const int n = 1 << LOG;
    __shared__ Complex s[1 << LOG];
    Complex *const mine = data + blockIdx.x * n;
    for (int i = threadIdx.x; i < n; i += blockDim.x) s[__brev(i) >> (32 - LOG)] = mine[i];
    __syncthreads();
#pragma unroll
    for (int half = 1; half < n; half *= 2) {
        for (int i = threadIdx.x; i < n / 2; i += blockDim.x) {
            const int k = i & (half - 1), at = (i - k) * 2 + k;
            Complex w;
            sincospif(-(float)k / half, &w.y, &w.x);
            const Complex a = s[at], b = ComplexMul(w, s[at + half]);
            s[at] = ComplexAdd(a, b);
            s[at + half] = ComplexSub(a, b);
        }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < n; i += blockDim.x) mine[i] = s[i];
}

__global__ void fft_step(const Complex *in, Complex *out, int n, int span) /* Stockham, radix 2 */
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 2) return;
    const int k = i % span;
    float s, c;
    __sincosf(-3.14159265358979f * k / span, &s, &c);
    const Complex a = in[i], b = ComplexMul(make_float2(c, s), in[i + n / 2]);
    const int to = (i - k) * 2 + k;
    out[to] = ComplexAdd(a, b);
    out[to + span] = ComplexSub(a, b);
}

struct kValues {
    float Kx, Ky, Kz, PhiMag;
};
#define KERNEL_Q_K_ELEMS_PER_GRID 256
__constant__ __device__ kValues ck[KERNEL_Q_K_ELEMS_PER_GRID];

__global__ void ComputeQ_GPU(int numK, int kGlobalIndex, const float *x, const float *y,
                             const float *z, float *Qr, float *Qi)
{
    const int xIndex = blockIdx.x * blockDim.x + threadIdx.x;
    float sX = x[xIndex], sY = y[xIndex], sZ = z[xIndex], sQr = Qr[xIndex], sQi = Qi[xIndex];
    int kIndex = 0;
    if (numK % 2) {
        const float expArg = 6.2831853f * (ck[0].Kx * sX + ck[0].Ky * sY + ck[0].Kz * sZ);
        sQr += ck[0].PhiMag * cosf(expArg);
        sQi += ck[0].PhiMag * sinf(expArg);
        kIndex++, kGlobalIndex++;
    }
    for (; kIndex < KERNEL_Q_K_ELEMS_PER_GRID && kGlobalIndex < numK;
         kIndex += 2, kGlobalIndex += 2)
        for (int j = 0; j < 2; j++) {
            const kValues &v = ck[kIndex + j];
            const float expArg = 6.2831853f * (v.Kx * sX + v.Ky * sY + v.Kz * sZ);
            sQr += v.PhiMag * cosf(expArg);
            sQi += v.PhiMag * sinf(expArg);
        }
    Qr[xIndex] = sQr, Qi[xIndex] = sQi;
}

__global__ void fwt_shared(float *data, int log2N)
{
    extern __shared__ float s_data[];
    const int N = 1 << log2N, base = blockIdx.x << log2N;
    for (int pos = threadIdx.x; pos < N; pos += blockDim.x) s_data[pos] = data[base + pos];
    int stride = N / 4;
    const int pos = threadIdx.x;
    for (; stride > 0; stride >>= 2) { /* radix 4 */
        const int lo = pos & (stride - 1), i0 = ((pos - lo) << 2) + lo, i1 = i0 + stride,
                  i2 = i1 + stride, i3 = i2 + stride;
        __syncthreads();
        const float D0 = s_data[i0], D1 = s_data[i1], D2 = s_data[i2], D3 = s_data[i3];
        float T = D0;
        const float A = D0 + D2, B = D1 + D3, C = T - D2, D = D1 - D3;
        s_data[i0] = A + B, s_data[i1] = A - B, s_data[i2] = C + D, s_data[i3] = C - D;
    }
    if (log2N & 1) {
        __syncthreads();
        for (int p = threadIdx.x; p < N / 2; p += blockDim.x) {
            const float D0 = s_data[2 * p], D1 = s_data[2 * p + 1];
            s_data[2 * p] = D0 + D1, s_data[2 * p + 1] = D0 - D1;
        }
    }
    __syncthreads();
    for (int p = threadIdx.x; p < N; p += blockDim.x) data[base + p] = s_data[p];
}

__global__ void haar(const float *in, float *out, int levels)
{
    __shared__ float s[256];
    const int t = threadIdx.x;
    const float2 pair = reinterpret_cast<const float2 *>(in)[blockIdx.x * blockDim.x + t];
    float sum = (pair.x + pair.y) * 0.5f;
    out[blockIdx.x * 512 + 256 + t] = (pair.x - pair.y) * 0.5f;
    int active = 128;
    for (int level = 1; level < levels; level++, active >>= 1) {
        s[t] = sum;
        __syncthreads();
        if (t < active) {
            const float a = s[2 * t], b = s[2 * t + 1];
            sum = (a + b) * 0.5f;
            out[blockIdx.x * 512 + active + t] = (a - b) * 0.5f;
        }
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x * 512] = sum;
}

static void dft_check(const char *name, const std::vector<Complex> &in,
                      const std::vector<Complex> &got, int n, int at)
{
    for (int k = 0; k < n; k += 17) {
        std::complex<double> sum = 0;
        for (int i = 0; i < n; i++)
            sum += std::complex<double>(in[at + i].x, in[at + i].y) *
                   std::polar(1.0, -2 * M_PI * k * i / n);
        EXPECT(std::abs(sum - std::complex<double>(got[at + k].x, got[at + k].y)) < 1e-2,
               "%s %d: %g, not %g", name, k, got[at + k].x, sum.real());
    }
}

int main()
{
    const int n = 1024;
    std::vector<Complex> signal(n), got(n);
    for (int i = 0; i < n; i++)
        signal[i] = make_float2(sinf(0.1f * i) + (i % 7 == 0), (float)(i % 5) - 2);
    Complex *d[2];
    for (auto &p : d) checkCudaErrors(cudaMalloc(&p, n * sizeof(Complex)));
    checkCudaErrors(cudaMemcpy(d[0], &signal[0], n * sizeof(Complex), cudaMemcpyHostToDevice));
    fft_block<8><<<n / 256, 64>>>(d[0]);
    checkCudaErrors(cudaMemcpy(&got[0], d[0], n * sizeof(Complex), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i += 256) dft_check("block", signal, got, 256, i);
    checkCudaErrors(cudaMemcpy(d[0], &signal[0], n * sizeof(Complex), cudaMemcpyHostToDevice));
    int from = 0;
    for (int span = 1; span < n; span *= 2, from ^= 1)
        fft_step<<<n / 2 / 128, 128>>>(d[from], d[from ^ 1], n, span);
    checkCudaErrors(cudaMemcpy(&got[0], d[from], n * sizeof(Complex), cudaMemcpyDeviceToHost));
    dft_check("steps", signal, got, n, 0);

    const int numX = 128, numK = 601;
    std::vector<float> xs(3 * numX), q(2 * numX);
    std::vector<kValues> k(numK);
    for (int i = 0; i < 3 * numX; i++) xs[i] = 0.01f * (i % 50);
    for (int i = 0; i < numK; i++)
        k[i] = {0.1f * (i % 9), 0.05f * (i % 13), 0.2f * (i % 4), 1.0f / (1 + i % 6)};
    float *dx, *dq;
    checkCudaErrors(cudaMalloc(&dx, 3 * numX * 4));
    checkCudaErrors(cudaMalloc(&dq, 2 * numX * 4));
    checkCudaErrors(cudaMemcpy(dx, &xs[0], 3 * numX * 4, cudaMemcpyHostToDevice));
    checkCudaErrors(cudaMemset(dq, 0, 2 * numX * 4));
    for (int first = 0; first < numK; first += KERNEL_Q_K_ELEMS_PER_GRID) {
        const int left = std::min(numK - first, (int)KERNEL_Q_K_ELEMS_PER_GRID);
        checkCudaErrors(cudaMemcpyToSymbol(ck, &k[first], left * sizeof(kValues), 0));
        ComputeQ_GPU<<<numX / 64, 64>>>(left, 0, dx, dx + numX, dx + 2 * numX, dq, dq + numX);
    }
    checkCudaErrors(cudaMemcpy(&q[0], dq, 2 * numX * 4, cudaMemcpyDeviceToHost));
    for (int i = 0; i < numX; i++) {
        double re = 0, im = 0;
        for (auto &v : k) {
            const double arg =
                2 * M_PI * (v.Kx * xs[i] + v.Ky * xs[numX + i] + v.Kz * xs[2 * numX + i]);
            re += v.PhiMag * cos(arg), im += v.PhiMag * sin(arg);
        }
        EXPECT(fabs(q[i] - re) < 1e-2 && fabs(q[numX + i] - im) < 1e-2, "%d: %g, not %g", i, q[i],
               re);
    }

    std::vector<float> data(n), want(n), out(n);
    for (int i = 0; i < n; i++) want[i] = data[i] = (float)(i * 37 % 19) - 9;
    float *df = (float *)d[0], *dg = (float *)d[1];
    for (int log = 8; log <= 9; log++) {
        const int N = 1 << log;
        checkCudaErrors(cudaMemcpy(df, &data[0], n * 4, cudaMemcpyHostToDevice));
        fwt_shared<<<n / N, N / 4, N * sizeof(float)>>>(df, log);
        checkCudaErrors(cudaMemcpy(&out[0], df, n * 4, cudaMemcpyDeviceToHost));
        want = data;
        for (int h = 1; h < N; h *= 2)
            for (int i = 0; i < n; i++)
                if (!(i & h)) {
                    const float a = want[i], b = want[i + h];
                    want[i] = a + b, want[i + h] = a - b;
                }
        for (int i = 0; i < n; i++)
            EXPECT(out[i] == want[i], "walsh %d %d: %g, not %g", log, i, out[i], want[i]);
    }
    checkCudaErrors(cudaMemcpy(df, &data[0], n * 4, cudaMemcpyHostToDevice));
    haar<<<2, 256>>>(df, dg, 9);
    checkCudaErrors(cudaMemcpy(&out[0], dg, n * 4, cudaMemcpyDeviceToHost));
    for (int b = 0; b < n; b += 512) {
        std::vector<float> rest(data.begin() + b, data.begin() + b + 512);
        for (int size = 256; size >= 1; size /= 2) {
            for (int i = 0; i < size; i++) {
                const float x = rest[2 * i], y = rest[2 * i + 1];
                EXPECT(fabsf(out[b + size + i] - (x - y) / 2) < 1e-4f, "haar %d %d", size, i);
                rest[i] = (x + y) / 2;
            }
        }
        EXPECT(fabsf(out[b] - rest[0]) < 1e-4f, "haar mean %g", out[b]);
    }
    return verdict();
}
