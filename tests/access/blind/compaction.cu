// Elements that pass a test are appended, one atomic a warp. 1: one atomic a lane. 2: one atomic of
// the CTA, whose result is read before it is there.
#include "../pairs/pair.h"
enum { N = 1 << 13 };

__global__ void keep(const int *in, int *out, int *count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    const int x = in[i];
    const bool passes = x % 2 == 0;
#if DEFECT == 1
    if (passes) out[atomicAdd(count, 1)] = x; // @1 atomics on one address
#elif DEFECT == 2
    __shared__ int base, local;
    if (threadIdx.x == 0) local = 0;
    __syncthreads();
    const int mine = passes ? atomicAdd(&local, 1) : 0; // @2 atomics on one address
    __syncthreads();
    if (threadIdx.x == 0) base = atomicAdd(count, local); // @2 possible race
    if (passes) out[base + mine] = x;
#else
    const unsigned mask = __ballot_sync(~0u, passes);
    int base = 0;
    if (lane == 0) base = atomicAdd(count, __popc(mask));
    base = __shfl_sync(~0u, base, 0);
    if (passes) out[base + __popc(mask & ((1u << lane) - 1))] = x; // @0 misaligned access
#endif
}

int main()
{
    int *in = device_array<int>(N, [](size_t i) { return (int)(i * 2654435761u >> 9); });
    int *out = device_zeros<int>(N), *count = device_zeros<int>(1);
    keep<<<N / 128, 128>>>(in, out, count);
    CHECK(cudaDeviceSynchronize());
}
