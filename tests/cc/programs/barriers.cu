/* Barriers after threads have left, counting barriers, pre-Volta warp code on volatile memory. */
#include <stdio.h>

__global__ void leaves_early(int *out, int n)
{
    __shared__ int s[64];
    const int i = threadIdx.x;
    if (i >= n) return;
    s[i] = i;
    __syncthreads();
    out[i] = s[n - 1 - i];
    __syncthreads();
}

__global__ void counts(int *out)
{
    const int i = threadIdx.x;
    const int odd = __syncthreads_count(i % 2);
    const int all = __syncthreads_and(i >= 0), any = __syncthreads_or(i == 7);
    out[i] = odd * 100 + all * 10 + any;
}

__global__ void warp_sum(int *out)
{
    __shared__ volatile int s[64];
    const int i = threadIdx.x;
    s[i] = i;
    __syncthreads();
    if (i < 32) {
        s[i] += s[i + 32];
        s[i] += s[i + 16];
        s[i] += s[i + 8];
        s[i] += s[i + 4];
        s[i] += s[i + 2];
        s[i] += s[i + 1];
    }
    if (i == 0) *out = s[0];
}

__global__ void dynamic(float *out, int n)
{
    extern __shared__ float window[];
    float *const first = window, *const second = window + n;
    __shared__ double fixed[2];
    const int i = threadIdx.x;
    first[i] = i;
    second[i] = 10 * i;
    if (i < 2) fixed[i] = i + 0.5;
    __syncthreads();
    out[i] = first[(i + 1) % n] + second[(i + 2) % n] + (float)fixed[i & 1];
}

int main(void)
{
    int *device, host[64], bad = 0;
    float *numbers, values[32];
    cudaMalloc((void **)&device, sizeof host);
    cudaMalloc((void **)&numbers, sizeof values);
    leaves_early<<<1, 64>>>(device, 40);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 40; i++) bad |= host[i] != 39 - i;
    counts<<<1, 64>>>(device);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 64; i++) bad |= (host[i] != 3211) << 1;
    warp_sum<<<1, 64>>>(device);
    cudaMemcpy(host, device, sizeof(int), cudaMemcpyDeviceToHost);
    bad |= (host[0] != 2016) << 2;
    dynamic<<<1, 32, 64 * sizeof(float)>>>(numbers, 32);
    cudaMemcpy(values, numbers, sizeof values, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 32; i++)
        bad |= (values[i] != (i + 1) % 32 + 10 * ((i + 2) % 32) + (i & 1) + 0.5f) << 3;
    printf(bad ? "wrong %d\n" : "right\n", bad);
    return bad;
}
