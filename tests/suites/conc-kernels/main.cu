#include <cstdio>
#include <vector>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void clock_block(clock_t *d_o, clock_t clock_count)
{
    unsigned int start_clock = (unsigned int)clock();
    clock_t clock_offset = 0;
    while (clock_offset < clock_count) {
        unsigned int end_clock = (unsigned int)clock();
        clock_offset = (clock_t)(end_clock - start_clock);
    }
    d_o[0] = clock_offset;
}
__global__ void sum(clock_t *d_clocks, int N)
{
    cg::thread_block cta = cg::this_thread_block();
    __shared__ clock_t s_clocks[32];
    clock_t my_sum = 0;
    for (int i = threadIdx.x; i < N; i += blockDim.x) my_sum += d_clocks[i];
    s_clocks[threadIdx.x] = my_sum;
    cg::sync(cta);
    for (int i = 16; i > 0; i /= 2) {
        if (threadIdx.x < i) s_clocks[threadIdx.x] += s_clocks[threadIdx.x + i];
        cg::sync(cta);
    }
    d_clocks[0] = s_clocks[0];
}
int main()
{
    int nkernels = 8, nstreams = nkernels + 1;
    size_t nbytes = nkernels * sizeof(clock_t);
    clock_t *a, *d_a, total = 0;
    cudaMallocHost((void **)&a, nbytes);
    cudaMalloc((void **)&d_a, nbytes);
    std::vector<cudaStream_t> s(nstreams);
    for (auto &x : s) cudaStreamCreate(&x);
    cudaEvent_t start, stop;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    std::vector<cudaEvent_t> ke(nkernels);
    for (auto &e : ke) cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    clock_t t = 100000;
    cudaEventRecord(start, 0);
    for (int i = 0; i < nkernels; ++i) {
        clock_block<<<1, 1, 0, s[i]>>>(&d_a[i], t);
        total += t;
        cudaEventRecord(ke[i], s[i]);
        cudaStreamWaitEvent(s[nstreams - 1], ke[i], 0);
    }
    sum<<<1, 32, 0, s[nstreams - 1]>>>(d_a, nkernels);
    cudaMemcpyAsync(a, d_a, sizeof(clock_t), cudaMemcpyDeviceToHost, s[nstreams - 1]);
    cudaEventRecord(stop, 0);
    cudaEventSynchronize(stop);
    float ms;
    cudaEventElapsedTime(&ms, start, stop);
    printf("%f ms, %ld of %ld\n", ms, (long)a[0], (long)total);
    bool ok = a[0] >= total && ms > 0;
    for (auto x : s) cudaStreamDestroy(x);
    return ok ? 0 : 1;
}
