// Sums of four numbers each, whose fields lie in arrays of their own. 1: each thread takes four
// neighbours of one array. 2: each thread takes the fields of a struct.
#include "pair.h"
enum { N = 4096, BLOCK = 128 };
struct Row {
    float a, b, c, d;
};

__global__ void sums(const float *x, const Row *rows, float *out)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (DEFECT == 2)
        out[i] = rows[i].a + rows[i].b * rows[i].c - rows[i].d; // @2 array of structs
    else if (DEFECT == 1)
        out[i] = x[4 * i] + x[4 * i + 1] * x[4 * i + 2] - x[4 * i + 3]; // @1 blocked arrangement
    else
        out[i] = x[i] + x[i + N] * x[i + 2 * N] - x[i + 3 * N];
}

int main()
{
    float *const x = device_array<float>(4 * N, [](size_t i) { return float(i % 7); });
    float *const out = device_zeros<float>(N);
    sums<<<N / BLOCK, BLOCK>>>(x, reinterpret_cast<Row *>(x), out);
    CHECK(cudaDeviceSynchronize());
}
