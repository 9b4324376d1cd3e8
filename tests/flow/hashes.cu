// Launches that repeat others, with values of 1 to 16 bytes; and one with atomics, which are not
// compared.
#include <cstdio>
__global__ void fill(float *t, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) t[i] = 0.5f * i;
}
__global__ void use(const float *t, double *o, float s, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = t[i] * s;
}
__global__ void wide(const float4 *a, float4 *b)
{
    b[threadIdx.x] = a[threadIdx.x];
}
__global__ void bytes(const unsigned char *a, unsigned char *b)
{
    b[threadIdx.x] = a[threadIdx.x] + 1;
}
__global__ void count(int *c)
{
    atomicAdd(c, 1);
}
int main()
{
    const int n = 4000;
    float *t;
    double *o;
    float4 *a, *b;
    int *c;
    unsigned char *x, *y;
    cudaMalloc(&t, n * 4);
    cudaMalloc(&o, n * 8);
    cudaMalloc(&a, 4096);
    cudaMalloc(&b, 4096);
    cudaMalloc(&c, 4);
    cudaMalloc(&x, 100);
    cudaMalloc(&y, 100);
    cudaMemset(a, 1, 4096);
    cudaMemset(c, 0, 4);
    cudaMemset(x, 7, 100);
    for (int i = 0; i < 6; i++) {
        fill<<<16, 256>>>(t, n);
        use<<<16, 256>>>(t, o, i / 2, n);
        wide<<<1, 256>>>(a, b);
        bytes<<<1, 100>>>(x, y);
        count<<<2, 32>>>(c);
    }
    double r[1];
    cudaMemcpy(r, o, 8, cudaMemcpyDeviceToHost);
    printf("%g\n", r[0]);
}
