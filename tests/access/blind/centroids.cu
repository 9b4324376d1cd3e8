// The sums of k-means. 1: plain additions. 2: all points belong to one centre.
#include "../pairs/pair.h"
enum { N = 8192, K = 32 };

__global__ void assign(const float *x, const int *nearest, float *sum, int *members)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int k = nearest[i];
#if DEFECT == 1
    sum[k] += x[i]; // @1 possible race
#else
    atomicAdd(&sum[k], x[i]); // @2 atomics on one address
#endif
    atomicAdd(&members[k], 1); // @2 atomics on one address
}

int main()
{
    float *x = device_zeros<float>(N), *sum = device_zeros<float>(K);
    int *members = device_zeros<int>(K);
    int *nearest = device_array<int>(N, [](size_t i) { return DEFECT == 2 ? 3 : (int)(i % K); });
    assign<<<N / 128, 128>>>(x, nearest, sum, members);
    CHECK(cudaDeviceSynchronize());
}
