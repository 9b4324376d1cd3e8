/* Two units with static kernels, constants and host-device functions of the same names. */
#include <stdio.h>
#include "units.h"

static __constant__ int offset;
static __global__ void kernel(int *out)
{
    out[threadIdx.x] = shared_value(threadIdx.x) + offset;
}

int from_b(int i);

int main(void)
{
    int *device, host[32], bad = 0;
    const int hundred = 100;
    cudaMemcpyToSymbol(offset, &hundred, sizeof hundred);
    cudaMalloc((void **)&device, sizeof host);
    kernel<<<1, 32>>>(device);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 32; i++) bad |= host[i] != 3 * i + 100 || from_b(i) != 3 * i + 200;
    bad |= shared_value(5) != 15;
    puts(bad ? "wrong" : "right");
    return bad;
}
