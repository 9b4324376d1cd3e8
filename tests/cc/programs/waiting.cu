/* Loops that only another thread can end. A CTA's threads must take turns, or this never ends. */
#include <stdio.h>

__global__ void handshake(volatile int *flag, int *polled, int *out)
{
    if (threadIdx.x == 0) {
        while (atomicAdd(polled, 0) == 0) {
        }
        out[0] = 7;
    } else if (threadIdx.x == 40) {
        out[1] = 8;
        __threadfence();
        atomicExch(polled, 1);
    }
    if (threadIdx.x == 1)
        while (*flag == 0) {
        }
    if (threadIdx.x == 50) *flag = 1;
}

__global__ void lock(int *mutex, int *count)
{
    bool done = false;
    while (!done) {
        if (atomicCAS(mutex, 0, 1) == 0) {
            *count += 1;
            __threadfence();
            atomicExch(mutex, 0);
            done = true;
        }
    }
}

__device__ double add_double(double *address, double value)
{
    unsigned long long *const bits = (unsigned long long *)address;
    unsigned long long old = *bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
    } while (assumed != old);
    return __longlong_as_double(old);
}

__global__ void retry(double *sum)
{
    add_double(sum, threadIdx.x);
}

int main(void)
{
    int *device, host[8] = {0}, bad = 0;
    double *sum, total = 0;
    cudaMalloc((void **)&device, sizeof host);
    cudaMalloc((void **)&sum, sizeof total);
    cudaMemset(device, 0, sizeof host);
    cudaMemset(sum, 0, sizeof total);
    handshake<<<1, 64>>>(device, device + 1, device + 2);
    lock<<<4, 64>>>(device + 4, device + 5);
    retry<<<4, 64>>>(sum);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    cudaMemcpy(&total, sum, sizeof total, cudaMemcpyDeviceToHost);
    bad |= host[2] != 7 || host[3] != 8 || host[5] != 256 || total != 4 * 2016;
    puts(bad ? "wrong" : "right");
    return bad;
}
