// One program for each way in which a stretch can go: outcomes CASE.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <csignal>

#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

static const int COUNT = 4096;

__global__ void fill(float *x, float value)
{
    x[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__global__ void twice(const float *x, float *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 2 * x[i];
}

__global__ void tick(unsigned long long *x)
{
    if (threadIdx.x == 0 && blockIdx.x == 0) x[0] = clock64();
}

__global__ void follow(const int *index, const float *x, float *y)
{
    y[threadIdx.x] = x[index[threadIdx.x]];
}

__global__ void put(int *index, int value)
{
    index[threadIdx.x] = value;
}

__global__ void wait_for(volatile int *flag)
{
    while (*flag == 0) continue;
}

__global__ void say()
{
    if (threadIdx.x == 0) printf("from the device\n");
}

__global__ void fail(int *x)
{
    x[1 << 30] = 1;
}

__device__ float state[32];
__global__ void keep()
{
    state[threadIdx.x] = state[threadIdx.x] * 2 + 1;
}

/* One CTA after the other: each notes how many came before. */
__global__ void arrive(int *count, int *places)
{
    if (threadIdx.x == 0) places[blockIdx.x] = atomicAdd(count, 1);
}

static void host_function(void *) {}

int main(int argc, char **argv)
{
    const char *const which = argc > 1 ? argv[1] : "";
    const auto is = [&](const char *name) { return !strcmp(which, name); };
    float *x, *y, *managed, *pinned;
    int *index;
    cudaMalloc(&x, COUNT * 4);
    cudaMalloc(&y, COUNT * 4);
    cudaMalloc(&index, 4096);
    cudaMallocManaged(&managed, COUNT * 4);
    cudaMallocHost(&pinned, 16 * COUNT * 4);
    cudaMemset(index, 0, 4096);
    if (is("never")) {
        fill<<<16, 256>>>(x, 1);
        cudaDeviceSynchronize();
        return 0;
    }
    if (is("killed-before")) raise(SIGKILL);
    if (is("large")) cudaMalloc(&x, 80 << 20);
    if (is("ranges")) {
        for (int i = 0; i < 3; i++) {
            fill<<<16, 256>>>(y, i);
            nvtxRangePushA("step");
            fill<<<16, 256>>>(x, i + 1);
            twice<<<16, 256>>>(x, y);
            nvtxRangePop();
            cudaDeviceSynchronize();
        }
        return 0;
    }
    cudaProfilerStart();
    fill<<<16, 256>>>(x, 1);
    if (is("killed")) raise(SIGKILL);
    if (is("exits")) exit(7);
    if (is("host-function")) cudaLaunchHostFunc(0, host_function, nullptr);
    if (is("printf")) say<<<1, 32>>>();
    if (is("clock")) tick<<<1, 32>>>((unsigned long long *)index);
    if (is("fault")) fail<<<1, 1>>>((int *)x);
    if (is("first")) arrive<<<16, 32>>>(index, index + 16);
    if (is("variable")) keep<<<1, 32>>>();
    if (is("index")) {
        put<<<1, 32>>>(index, 5);
        put<<<1, 32>>>((int *)y, 1 << 28);
        cudaMemcpyAsync(y, index, 128, cudaMemcpyDeviceToDevice);
        follow<<<1, 32>>>((int *)y, x, y + 64);
    }
    if (is("flag")) {
        put<<<1, 32>>>(index, 1);
        wait_for<<<1, 1>>>(index);
    }
    if (is("managed")) {
        cudaDeviceSynchronize();
        for (int i = 0; i < COUNT; i++) managed[i] = 3;
        twice<<<16, 256>>>(managed, y);
    }
    if (is("pinned-late")) {
        cudaStream_t stream;
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        volatile int *const flag = (volatile int *)managed;
        wait_for<<<1, 1, 0, stream>>>(flag);
        cudaMemcpyAsync(y, pinned, 4 * COUNT, cudaMemcpyHostToDevice, stream);
        pinned[0] += 1;
        *flag = 1;
        cudaStreamSynchronize(stream);
    }
    if (is("freed")) {
        float *z;
        cudaMalloc(&z, COUNT * 4);
        twice<<<16, 256>>>(x, z);
        twice<<<16, 256>>>(z, y);
        cudaFree(z);
    }
    if (is("pool")) {
        for (int i = 0; i < 3; i++) {
            float *z;
            cudaMallocAsync(&z, COUNT * 4, 0);
            twice<<<16, 256>>>(i ? y : x, z);
            twice<<<16, 256>>>(z, y);
            cudaFreeAsync(z, 0);
        }
    }
    if (is("threads")) {
        std::thread other([&] {
            twice<<<16, 256>>>(x, y);
            cudaDeviceSynchronize();
        });
        other.join();
        twice<<<16, 256>>>(y, x);
    }
    twice<<<16, 256>>>(x, y);
    if (!is("open")) cudaProfilerStop();
    float value = 0;
    cudaMemcpy(&value, y, 4, cudaMemcpyDeviceToHost);
    printf("%s: %g\n", which, value);
    return is("status") ? 3 : 0;
}
