// Bytes that no analysis finds in order: each thread writes one element anywhere and reads another,
// each element once, then all of them update a table by atomics, so many rounds.
//     scatter BITS [ROUNDS]        2^BITS elements
#include <cstdio>
#include <cstdlib>

__device__ unsigned place(unsigned i, unsigned mask)
{
    return i * 2654435761u & mask; // odd: a permutation
}

__global__ void scatter(int *a, unsigned mask)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    a[place(i, mask)] = (int)i;
}

__global__ void gather(const int *a, int *b, unsigned mask)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = a[place(i ^ 12345, mask)];
}

__global__ void update(int *b, unsigned mask, unsigned rounds)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned k = 0; k < rounds; k++) atomicAdd(&b[place(i * 7 + 3 + 977 * k, mask)], 1);
}

int main(int argc, char **argv)
{
    const unsigned count = 1u << (argc > 1 ? atoi(argv[1]) : 20), mask = count - 1;
    int *a, *b;
    if (cudaMalloc(&a, count * sizeof *a) || cudaMalloc(&b, count * sizeof *b)) return 1;
    scatter<<<count / 1024, 1024>>>(a, mask);
    gather<<<count / 1024, 1024>>>(a, b, mask);
    update<<<count / 1024, 1024>>>(b, mask, argc > 2 ? atoi(argv[2]) : 1);
    return cudaDeviceSynchronize() != cudaSuccess;
}
