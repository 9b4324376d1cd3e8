// Threads exchange values by shared memory with cuda::barrier, in three ways: arrive and wait apart, all
// at once, and with threads that leave. 1: a value is read between arrive and wait. 2: only the
// first of two barriers is waited for.
#include "pair.h"
#include "block-barrier.h"
enum { BLOCK = 128, CTAS = 8 };
using barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void apart(int *out)
{
    __shared__ barrier ready;
    __shared__ int s[BLOCK];
    const int t = threadIdx.x;
    if (t == 0) init(&ready, BLOCK);
    __syncthreads();
    s[t] = t; // @1 possible race
    auto token = ready.arrive();
    int sum = DEFECT == 1 ? s[BLOCK - 1 - t] : 0; // @1 possible race|uninitialised read
    ready.wait(std::move(token));
    if (DEFECT != 1) sum = s[BLOCK - 1 - t];
    out[blockIdx.x * BLOCK + t] = sum;
}

__global__ void two(int *out)
{
    __shared__ barrier first, second;
    __shared__ int a[BLOCK / 2], b[BLOCK / 2];
    const int t = threadIdx.x, half = t % (BLOCK / 2), other = BLOCK / 2 - 1 - half;
    if (t == 0) {
        init(&first, BLOCK);
        init(&second, BLOCK);
    }
    __syncthreads();
    int sum = 0;
    if (t >= BLOCK / 2) {
        a[half] = t;
        (void)first.arrive();
        b[half] = t; // @2 possible race
        (void)second.arrive();
    } else {
        auto token = first.arrive(), later = second.arrive();
        first.wait(std::move(token));
        sum = a[other];
        if (DEFECT != 2) second.wait(std::move(later));
        sum += b[other]; // @2 possible race|uninitialised read
    }
    out[blockIdx.x * BLOCK + t] = sum;
}

__global__ void leaving(int *out)
{
    __shared__ barrier bar;
    __shared__ int s[BLOCK];
    const int t = threadIdx.x;
    if (t == 0) init(&bar, BLOCK);
    __syncthreads();
    s[t] = t;
    if (t >= BLOCK / 2) {
        bar.arrive_and_drop();
        return;
    }
    bar.arrive_and_wait();
    const int v = s[BLOCK - 1 - t] + s[BLOCK / 2 - 1 - t];
    bar.arrive_and_wait();
    s[t] = v;
    bar.arrive_and_wait();
    out[blockIdx.x * BLOCK + t] = s[BLOCK / 2 - 1 - t];
}

int main()
{
    int *const out = device_zeros<int>(3 * CTAS * BLOCK);
    apart<<<CTAS, BLOCK>>>(out);
    two<<<CTAS, BLOCK>>>(out + CTAS * BLOCK);
    leaving<<<CTAS, BLOCK>>>(out + 2 * CTAS * BLOCK);
    CHECK(cudaDeviceSynchronize());
}
