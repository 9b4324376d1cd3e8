// Threads that wait for each other by volatile and atomic accesses.
#include <cstdio>

__global__ void pass(volatile int *flag, volatile int *data)
{
    const int t = threadIdx.x;
    if (t == 33) {
        data[0] = 99;
        __threadfence();
        flag[0] = 5;
    }
    if (t == 0) {
        while (flag[0] != 5) {
        }
        data[1] = data[0] + 1;
    }
}

__global__ void take_turns(int *mutex, volatile int *count)
{
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(mutex, 0, 7)) {
        }
        *count = *count + 1;
        __threadfence();
        atomicExch(mutex, 0);
    }
}

__global__ void warp_sum(const int *in, int *out)
{
    __shared__ volatile int s[64];
    const int t = threadIdx.x;
    s[t] = in[t] + 1;
    s[t + 32] = 0;
    for (int d = 16; d; d /= 2) s[t] += s[t + d];
    if (t == 0) out[0] = s[0];
}

int main()
{
    int host[32], *a, *b;
    for (int i = 0; i < 32; i++) host[i] = 100 * i;
    cudaMalloc(&a, sizeof host);
    cudaMalloc(&b, sizeof host);
    cudaMemset(a, 0, sizeof host);
    cudaMemset(b, 0, sizeof host);
    pass<<<1, 64>>>(a, b);
    cudaMemset(a, 0, sizeof host);
    cudaMemset(b, 0, sizeof host);
    take_turns<<<4, 64>>>(a, b);
    cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
    warp_sum<<<1, 32>>>(a, b);
    return cudaDeviceSynchronize();
}
