/* Device functions, variables and function pointers across translation units: -rdc=true. */
#include <stdio.h>
#include "units.h"

extern __device__ int store_and_count(int *out, int i);
extern __device__ int counter;
extern __device__ float table[4];
typedef int (*operation)(int *, int);
extern __device__ operation address_from_b(void);

extern __device__ int sum_of_block(int value);

/* Shared variables of both units are in use at once. */
__global__ void shared_in_both(int *out)
{
    __shared__ int own[32];
    own[threadIdx.x] = 1000 + threadIdx.x;
    const int sum = sum_of_block(threadIdx.x);
    __syncthreads();
    out[threadIdx.x] = own[31 - threadIdx.x] * 1000 + sum;
}

__global__ void kernel(int *out, int *same)
{
    const int i = threadIdx.x;
    store_and_count(out, i);
    operation own = store_and_count;
    if (i == 0) {
        *same = own == address_from_b() && address_from_b()(out, 40) == 80;
        table[1] = table[0] + twice(1.5f);
    }
}

int main(void)
{
    int *device, host[64] = {0}, count, bad = 0;
    float numbers[4] = {2, 0, 0, 0};
    cudaMemcpyToSymbol(table, numbers, sizeof numbers);
    cudaMalloc((void **)&device, sizeof host);
    cudaMemset(device, 0, sizeof host);
    kernel<<<1, 32>>>(device, device + 63);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    cudaMemcpyFromSymbol(&count, counter, sizeof count);
    cudaMemcpyFromSymbol(numbers, table, sizeof numbers);
    for (int i = 0; i < 32; i++) bad |= host[i] != 2 * i;
    bad |= host[40] != 80 || host[63] != 1 || count != 33 || numbers[1] != 5;
    shared_in_both<<<1, 32>>>(device);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 32; i++) bad |= (host[i] != (1031 - i) * 1000 + 496) << 1;
    if (bad) printf("%d %d %d %g\n", host[40], host[63], count, numbers[1]);
    puts(bad ? "wrong" : "right");
    return bad;
}
