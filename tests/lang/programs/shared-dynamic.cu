/* Dynamic shared memory is aligned as on a GPU, whatever static variables the file's other kernels
 * have: vector types and structs of 128 bytes fit at its begin. */
#include "check.h"

struct alignas(64) wide {
    int4 parts[4];
};

__global__ void beside(int *out)
{
    __shared__ int small[1];
    small[threadIdx.x] = 1;
    out[0] = small[0];
}

__global__ void alone(int *out)
{
    extern __shared__ char memory[];
    wide *const all = (wide *)memory;
    all[threadIdx.x].parts[3] = make_int4(1, 2, 3, threadIdx.x);
    __syncthreads();
    out[threadIdx.x] = all[threadIdx.x ^ 1].parts[3].w;
    if (threadIdx.x == 0) out[blockDim.x] = (int)((uintptr_t)memory % 128);
}

__global__ void behind_its_own(int *out)
{
    extern __shared__ wide more[];
    __shared__ int small;
    small = 7;
    more[threadIdx.x].parts[0] = make_int4(threadIdx.x, 0, 0, 0);
    __syncthreads();
    out[threadIdx.x] = more[threadIdx.x ^ 1].parts[0].x + small;
    if (threadIdx.x == 0) out[blockDim.x] = (int)((uintptr_t)more % 64);
}

int main()
{
    const int n = 64;
    int *const out = managed<int>(n + 1);
    beside<<<1, 1>>>(out);
    CUDA(cudaDeviceSynchronize());
    CHECK(out[0] == 1);
    alone<<<1, n, n * sizeof(wide)>>>(out);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++) CHECK(out[i] == (i ^ 1), "%d", out[i]);
    CHECK(out[n] == 0, "%d", out[n]);
    behind_its_own<<<1, n, n * sizeof(wide)>>>(out);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++) CHECK(out[i] == (i ^ 1) + 7, "%d", out[i]);
    CHECK(out[n] == 0, "%d", out[n]);
    return failures != 0;
}
