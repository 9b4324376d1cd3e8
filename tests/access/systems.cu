// Requests that load different systems, each with one thing wrong, and the same without it.
#include <cstdio>
#include <cuda_runtime.h>

// 16x16 blocks over rows that are not aligned (pitch: 1001 floats), and over aligned ones.
__global__ void add_rows(const float *a, float *b, int pitch, int height)
{
    const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < pitch && y < height) b[y * pitch + x] = a[y * pitch + x] * 2;
}

// Rows of lanes that have one address each.
__global__ void product(const float *a, const float *b, float *c, int n)
{
    const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}

// The same coefficients again and again, and kept in registers.
__global__ void polynomials(const float *coefficients, const float *in, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
#pragma unroll 1
    for (int round = 0; round < 100; round++)
#pragma unroll 1
        for (int k = 0; k < 16; k++) sum = sum * in[i] + coefficients[k];
    out[i] = sum;
}

// A scattered store in a kernel that does 2,000 loads of shared memory for each.
__global__ void mostly_shared(float *out)
{
    __shared__ float tile[256];
    float sum = 0;
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < 2000; k++) sum += tile[(threadIdx.x + k) & 255];
    out[(blockIdx.x * 256 + threadIdx.x) * 32] = sum;
}

// One line in two instances of a template.
template <typename T> __global__ void instances(T *out, const T *in)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i * 33] = in[i];
}

// Lanes that meet at one address, and lanes that do not.
__global__ void counters(int *bins, int spread)
{
    atomicAdd(&bins[(blockIdx.x * blockDim.x + threadIdx.x) * spread / 32], 1);
}

int main()
{
    float *a, *b;
    int *d;
    cudaMalloc(&a, 8 << 20);
    cudaMalloc(&b, 8 << 20);
    cudaMalloc(&d, 8 << 20);
    cudaMemset(a, 0, 8 << 20);
    cudaMemset(b, 0, 8 << 20);
    cudaMemset(d, 0, 8 << 20);
    add_rows<<<dim3(63, 32), dim3(16, 16)>>>(a, b, 1001, 512);
    add_rows<<<dim3(64, 32), dim3(16, 16)>>>(a, b, 1024, 512);
    product<<<dim3(4, 4), dim3(16, 16)>>>(a, b, b + 1000000, 64);
    polynomials<<<8, 256>>>(a, a + 1000, b);
    mostly_shared<<<16, 256>>>(b);
    instances<<<64, 256>>>(a, b);
    instances<<<64, 256>>>(d, d + (1 << 20));
    counters<<<8, 256>>>(d, 1);
    counters<<<8, 256>>>(d, 32);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    puts("systems: right");
}
