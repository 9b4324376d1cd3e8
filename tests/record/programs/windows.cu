// Accesses of shared memory outside of an array and outside of the CTA's window, by an offset.
#include <cstdio>
#include <cstdlib>

__global__ void waits(int *out, int off)
{
    __shared__ int a[250];
    __shared__ int b[64];
    const int t = threadIdx.x;
    a[t] = t;
    b[t] = 2 * t;
    __syncthreads();
    out[t] = a[t + off] + b[63 - t];
}

__global__ void straight(int *out, int off)
{
    extern __shared__ int d[];
    const int t = threadIdx.x;
    d[t + off] = t;
    out[t] = d[t + off] + 1;
}

int main(int argc, char **argv)
{
    int *out;
    const int off = atoi(argv[2]);
    cudaMalloc(&out, 4096);
    if (*argv[1] == 'w')
        waits<<<4, 64>>>(out, off);
    else
        straight<<<4, 64, 1000>>>(out, off);
    puts(cudaGetErrorName(cudaDeviceSynchronize()));
}
