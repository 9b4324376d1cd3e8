// One default stream per thread: a kernel that waits in one thread's default stream does not hold
// up another thread's. Compiled with --default-stream=per-thread.
#include <cuda_runtime.h>

#include <thread>

#include "../../lang/programs/check.h"

__global__ void wait_for(volatile int *flag, int *done)
{
    while (!*flag) __nanosleep(100);
    *done = 1;
}

__global__ void add(int *data)
{
    atomicAdd(data, 1);
}

int main()
{
    int *const flag = managed<int>(1), *const done = managed<int>(1), *const data = managed<int>(1);
    wait_for<<<1, 1>>>(flag, done);
    CHECK(cudaStreamQuery(0) == cudaErrorNotReady);
    std::thread([&] {
        add<<<2, 64>>>(data);
        CUDA(cudaStreamSynchronize(0));
        CHECK(*data == 128, "%d", *data);
        CHECK(*done == 0);
    }).join();
    *(volatile int *)flag = 1;
    CUDA(cudaStreamSynchronize(0));
    CHECK(*done == 1);
    return finish();
}
