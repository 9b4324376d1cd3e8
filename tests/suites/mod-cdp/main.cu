// Dynamic parallelism (CUDA 12): Mariani-Silver subdivision with fire-and-forget children, a tail
// launch, device streams.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>
__host__ __device__ int dwell(int w, int h, int x, int y, int max)
{
    float cx = -2.0f + 3.0f * x / w, cy = -1.5f + 3.0f * y / h, zx = cx, zy = cy;
    int d = 0;
    while (d < max && zx * zx + zy * zy < 4.0f) {
        float t = zx * zx - zy * zy + cx;
        zy = 2 * zx * zy + cy;
        zx = t;
        d++;
    }
    return d;
}
__global__ void fill_k(int *dw, int w, int x0, int y0, int d, int v)
{
    int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
    if (x < d && y < d) dw[(y0 + y) * w + x0 + x] = v;
}
__global__ void pixel_k(int *dw, int w, int h, int x0, int y0, int d, int max)
{
    int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
    if (x < d && y < d) dw[(y0 + y) * w + x0 + x] = dwell(w, h, x0 + x, y0 + y, max);
}
__device__ int combine(int a, int b)
{
    return a == -1 ? b : b == -1 || a == b ? a : -2;
}
__global__ void mandel(int *dw, int w, int h, int x0, int y0, int d, int depth, int max)
{
    x0 += d * blockIdx.x;
    y0 += d * blockIdx.y;
    __shared__ int ldwells[64];
    int same = -1;
    for (int r = threadIdx.x; r < d; r += blockDim.x) {
        same = combine(same, dwell(w, h, x0 + r, y0, max));
        same = combine(same, dwell(w, h, x0 + r, y0 + d - 1, max));
        same = combine(same, dwell(w, h, x0, y0 + r, max));
        same = combine(same, dwell(w, h, x0 + d - 1, y0 + r, max));
    }
    ldwells[threadIdx.x] = same;
    __syncthreads();
    for (int nt = blockDim.x / 2; nt > 0; nt /= 2) {
        if (threadIdx.x < nt)
            ldwells[threadIdx.x] = combine(ldwells[threadIdx.x], ldwells[threadIdx.x + nt]);
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        dim3 bs(8, 8), grid((d + 7) / 8, (d + 7) / 8);
        if (ldwells[0] >= 0)
            fill_k<<<grid, bs>>>(dw, w, x0, y0, d, ldwells[0]);
        else if (depth + 1 < 4 && d / 2 > 8)
            mandel<<<dim3(2, 2), 64, 0, cudaStreamFireAndForget>>>(dw, w, h, x0, y0, d / 2,
                                                                   depth + 1, max);
        else
            pixel_k<<<grid, bs, 0, cudaStreamFireAndForget>>>(dw, w, h, x0, y0, d, max);
    }
}
__global__ void count_k(const int *dw, int n, unsigned long long *sum)
{
    unsigned long long s = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) s += dw[i];
    atomicAdd(sum, s);
}
__global__ void parent(int *data, int n)
{
    if (threadIdx.x == 0) {
        cudaStream_t s;
        cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
        fill_k<<<1, dim3(8, 8), 0, s>>>(data, 8, 0, 0, 8, 5);
        fill_k<<<1, dim3(4, 4), 0, s>>>(data, 8, 0, 0, 4, 9);
        cudaEvent_t e;
        cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
        cudaEventRecord(e, s);
        cudaStreamDestroy(s);
        count_k<<<1, 32, 0, cudaStreamTailLaunch>>>(
            data, 64, reinterpret_cast<unsigned long long *>(data + 64));
        if (cudaGetLastError() != cudaSuccess) data[66] = 1;
    }
}
__global__ void quick(int *v, int lo, int hi, int depth)
{
    if (hi - lo < 16 || depth > 20) {
        for (int i = lo + 1; i <= hi; i++) {
            int x = v[i], j = i - 1;
            while (j >= lo && v[j] > x) {
                v[j + 1] = v[j];
                j--;
            }
            v[j + 1] = x;
        }
        return;
    }
    int l = lo, r = hi, p = v[(lo + hi) / 2];
    while (l <= r) {
        while (v[l] < p) l++;
        while (v[r] > p) r--;
        if (l <= r) {
            int t = v[l];
            v[l++] = v[r];
            v[r--] = t;
        }
    }
    cudaStream_t s;
    if (lo < r) {
        cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
        quick<<<1, 1, 0, s>>>(v, lo, r, depth + 1);
        cudaStreamDestroy(s);
    }
    if (l < hi) {
        cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
        quick<<<1, 1, 0, s>>>(v, l, hi, depth + 1);
        cudaStreamDestroy(s);
    }
}
int main()
{
    const int W = 128, max = 64;
    std::vector<int> got(W * W);
    int *d, bad = 0;
    cudaMalloc(&d, W * W * 4);
    cudaMemset(d, 0xff, W * W * 4);
    mandel<<<dim3(4, 4), 64>>>(d, W, W, 0, 0, W / 4, 1, max);
    cudaMemcpy(got.data(), d, W * W * 4, cudaMemcpyDeviceToHost);
    for (int y = 0; y < W; y++)
        for (int x = 0; x < W; x++) bad += abs(got[y * W + x] - dwell(W, W, x, y, max)) > 0;
    printf("mandelbrot: %d pixels differ\n", bad);
    bad = bad > W * W / 100;
    cudaMemset(d, 0, 1000);
    parent<<<1, 32>>>(d, 64);
    cudaMemcpy(got.data(), d, 4 * 70, cudaMemcpyDeviceToHost);
    int sum = 0;
    for (int i = 0; i < 64; i++) {
        int want = i % 8 < 4 && i / 8 < 4 ? 9 : 5;
        bad += got[i] != want;
        sum += want;
    }
    bad += got[64] != sum || got[66];
    std::vector<int> v(2000);
    unsigned x = 1;
    for (int &e : v) {
        x = x * 1664525u + 1013904223u;
        e = x >> 12;
    }
    cudaMemcpy(d, v.data(), 8000, cudaMemcpyHostToDevice);
    cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 4096);
    quick<<<1, 1>>>(d, 0, 1999, 0);
    cudaMemcpy(v.data(), d, 8000, cudaMemcpyDeviceToHost);
    for (int i = 1; i < 2000; i++) bad += v[i - 1] > v[i];
    printf("bad %d: %s\n", bad, cudaGetErrorString(cudaGetLastError()));
    return bad != 0;
}
