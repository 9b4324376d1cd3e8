// Functions that are compiled apart (-rdc) and a kernel that launches another one.
#include <cstdio>

extern __device__ float gathered(const float *from, int i); // memory_separate_part.cu

__global__ void child(float *to)
{
    to[threadIdx.x] = 1;
}

__global__ void caller(const float *from, float *to)
{
    to[threadIdx.x] = gathered(from, threadIdx.x);
}

__global__ void parent(float *to)
{
    if (threadIdx.x == 0) child<<<1, 32>>>(to);
}

int main(int argc, char **)
{
    float *memory;
    cudaMalloc(&memory, 1 << 20);
    cudaMemset(memory, 0, 1 << 20);
    caller<<<1, 32>>>(memory, memory + 1024);
    printf("expect accesses at least %d\n", 64);
    printf("expect function gathered 1\n");
    if (argc > 1) {
        parent<<<1, 32>>>(memory);
        printf("expect skipped launches 1\n");
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
