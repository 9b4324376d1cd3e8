// The end of a program: static objects give CUDA things back after main(), work is in flight, and
// the output of kernels still comes. expect: from the kernel expect: freed
#include <cuda_runtime.h>

#include "../../lang/programs/check.h"

static struct keeper {
    int *memory = nullptr;
    cudaStream_t stream = nullptr;
    ~keeper()
    {
        if (cudaStreamSynchronize(stream) == cudaSuccess && cudaFree(memory) == cudaSuccess &&
            cudaStreamDestroy(stream) == cudaSuccess)
            puts("freed");
    }
} keeper;

__global__ void print(int *memory)
{
    memory[threadIdx.x] = 1;
    if (threadIdx.x == 0) printf("from the kernel\n");
}

int main()
{
    CUDA(cudaMalloc(&keeper.memory, 128));
    CUDA(cudaStreamCreate(&keeper.stream));
    print<<<1, 32, 0, keeper.stream>>>(keeper.memory);
    return 0;
}
