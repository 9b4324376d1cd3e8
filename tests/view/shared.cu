// Shared memory in all its places: two kernels with a variable of one name, a function's own, a
// struct, and what a launch adds.
#include <cuda_runtime.h>

struct pair {
    float first;
    double second;
};

__device__ __noinline__ int reversed(int value)
{
    __shared__ int turn[64];
    turn[63 - threadIdx.x] = value;
    __syncthreads();
    return turn[threadIdx.x];
}

template <int PITCH> __global__ void turn_tile(int *out)
{
    __shared__ int tile[8][PITCH];
    tile[threadIdx.x / 8][threadIdx.x % 8] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x % 8][threadIdx.x / 8];
}

__global__ void others(int *out)
{
    __shared__ char letters[50];
    __shared__ pair pairs[64];
    extern __shared__ double more[];
    const int i = threadIdx.x;
    if (i < 50) letters[i] = i;
    pairs[i].first = i;
    pairs[i].second = i;
    more[i] = i;
    __syncthreads();
    out[i] = reversed(i) + (int)(pairs[63 - i].second + pairs[i ^ 1].first + more[63 - i]) +
             letters[(i + 1) % 50];
}

int main()
{
    int *out;
    cudaMalloc(&out, 64 * sizeof *out);
    turn_tile<8><<<2, 64>>>(out);
    turn_tile<9><<<2, 64>>>(out);
    others<<<1, 64, 64 * sizeof(double)>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
