// A kernel that is left out of the recording gets a table of pointers: it may have stored anything
// into any memory that was allocated then.
// 1: memory that is allocated later is read before anybody sets it.
// 2: memory that was allocated before is not set; who says that the table did not have it?
// options: --kernel-name consume
#include "pair.h"
enum { N = 4096, BLOCK = 128, ROWS = 4 };

__global__ void produce(float **rows)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    for (int r = 0; r < ROWS; r++)
        if (rows[r]) rows[r][i] = (float)r;
}

__global__ void consume(const float *first, const float *last, const float *later, float *out)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    const float sum = first[i] + last[i]; // @2? uninitialised read
    out[i] = sum + later[i];              // @1 uninitialised read
}

int main()
{
    float *rows[ROWS], *later, *out = device_zeros<float>(N);
    for (float *&row : rows) CHECK(cudaMalloc(&row, N * sizeof *row));
    float *const last = rows[ROWS - 1];
    if (DEFECT == 2) rows[ROWS - 1] = nullptr;
    float **const table = device_array<float *>(ROWS, [&](size_t i) { return rows[i]; });
    produce<<<N / BLOCK, BLOCK>>>(table);
    CHECK(cudaMalloc(&later, N * sizeof *later));
    if (DEFECT != 1) CHECK(cudaMemset(later, 0, N * sizeof *later));
    consume<<<N / BLOCK, BLOCK>>>(rows[0], last, later, out);
    CHECK(cudaDeviceSynchronize());
}
