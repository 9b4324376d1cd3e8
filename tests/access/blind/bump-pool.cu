// A pool that hands out memory inside a kernel. 1: threads take a block of 16 bytes and write 20.
// 2: a block is read before it is written.
// only: faults
#include "../pairs/pair.h"
enum { THREADS = 512, BYTES = 16 };

__global__ void build(char *pool, unsigned *next, int **mine)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int *const block = (int *)(pool + atomicAdd(next, BYTES));
    for (int k = 0; k < (DEFECT == 1 ? 5 : 4); k++) block[k] = i + k; // @1 possible race
    mine[i] = block;
}

__global__ void use(int *const *mine, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = mine[i][3] + mine[i][0]; // @2 uninitialised read
}

int main()
{
    char *pool;
    int **mine, *out = device_zeros<int>(THREADS);
    unsigned *next = device_zeros<unsigned>(1);
    CHECK(cudaMalloc(&pool, THREADS * BYTES + 64));
    CHECK(cudaMalloc(&mine, THREADS * sizeof(int *)));
    if (DEFECT == 2) {
        int **host = (int **)malloc(THREADS * sizeof(int *));
        for (int i = 0; i < THREADS; i++) host[i] = (int *)(pool + i * BYTES);
        CHECK(cudaMemcpy(mine, host, THREADS * sizeof(int *), cudaMemcpyHostToDevice));
    } else {
        build<<<8, 64>>>(pool, next, mine);
    }
    use<<<8, 64>>>(mine, out);
    CHECK(cudaDeviceSynchronize());
}
