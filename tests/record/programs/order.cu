// Results that depend on the order in which threads take turns: a sum of floats by atomics, and who
// gets which number of a counter. One run may differ from the next, unless it is deterministic.
#include <cstdio>
#include <cstring>
__global__ void sum(float *total, const float *in, int n, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < rounds; k++) atomicAdd(total, in[(i * 31 + k * 7) % n]);
}
__global__ void grab(int *next, int *who, int n)
{
    int i;
    while ((i = atomicAdd(next, 1)) < n) who[i] = threadIdx.x;
}
int main()
{
    const int n = 4096;
    static float in[n];
    static int who[n];
    for (int i = 0; i < n; i++) in[i] = 1.0f / (i + 3);
    float *d, *t;
    int *w, *next;
    cudaMalloc(&d, sizeof in);
    cudaMalloc(&t, 4);
    cudaMalloc(&w, sizeof who);
    cudaMalloc(&next, 4);
    cudaMemset(t, 0, 4);
    cudaMemset(next, 0, 4);
    cudaMemcpy(d, in, sizeof in, cudaMemcpyHostToDevice);
    sum<<<4, 64>>>(t, d, n, 5000);
    grab<<<1, 64>>>(next, w, n);
    float total;
    unsigned b;
    cudaMemcpy(&total, t, 4, cudaMemcpyDeviceToHost);
    cudaMemcpy(who, w, sizeof who, cudaMemcpyDeviceToHost);
    memcpy(&b, &total, 4);
    printf("%08x\n", b);
    for (int i = 0; i < n; i += 64) printf("%d\n", who[i]);
}
