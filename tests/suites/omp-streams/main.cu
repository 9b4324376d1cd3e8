#include <cstdio>
#include <vector>
#include <omp.h>
#include <cuda_runtime.h>
#pragma omp declare reduction(                                                                     \
        merge : std::vector<int> : omp_out.insert(omp_out.end(), omp_in.begin(), omp_in.end()))
__global__ void kernelAddConstant(int *g_a, const int b)
{
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    g_a[idx] += b;
}
__global__ void collatz(const unsigned *in, unsigned *steps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned long long v = in[i];
        unsigned s = 0;
        while (v > 1) {
            v = v & 1 ? 3 * v + 1 : v >> 1;
            s++;
        }
        steps[i] = s;
    }
}
int main()
{
    int gpus;
    cudaGetDeviceCount(&gpus);
    const int nwords = 4 * 512, per = nwords / 4;
    std::vector<int> a(nwords);
    for (int i = 0; i < nwords; i++) a[i] = i;
    int bad = 0;
#pragma omp parallel num_threads(4) reduction(+ : bad)
    {
        int t = omp_get_thread_num();
        cudaSetDevice(t % gpus);
        int *d, *sub = a.data() + t * per;
        bad += cudaMalloc((void **)&d, per * 4) != cudaSuccess;
        cudaMemset(d, 0, per * 4);
        cudaMemcpyAsync(d, sub, per * 4, cudaMemcpyHostToDevice, cudaStreamPerThread);
        kernelAddConstant<<<per / 128, 128>>>(d, t + 3);
        cudaMemcpyAsync(sub, d, per * 4, cudaMemcpyDeviceToHost, 0);
        cudaStreamSynchronize(0);
        cudaFree(d);
    }
    for (int i = 0; i < nwords; i++) bad += a[i] != i + i / per + 3;
    const int n = 900;
    unsigned *in, *out;
    cudaMallocManaged(&in, n * 4);
    cudaMallocManaged(&out, n * 4);
#pragma omp parallel for schedule(dynamic, 16)
    for (int i = 0; i < n; i++) in[i] = i + 1;
    collatz<<<(n + 63) / 64, 64>>>(in, out, n);
    cudaDeviceSynchronize();
#pragma omp parallel for reduction(+ : bad)
    for (int i = 0; i < n; i++) {
        unsigned long long v = i + 1;
        unsigned s = 0;
        while (v > 1) {
            v = v & 1 ? 3 * v + 1 : v / 2;
            s++;
        }
        bad += s != out[i];
    }
    printf("gpus %d bad %d %s\n", gpus, bad, cudaGetErrorString(cudaGetLastError()));
    return bad != 0;
}
