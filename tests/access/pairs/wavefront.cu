// Edit distance along anti-diagonals, a launch each, the table stored by diagonals. 1: stored by rows.
// 2: all diagonals in one launch, with barriers of CTAs only.
#include "pair.h"
enum { N = 256, BLOCK = 64 };

__device__ int cell(int diagonal, int i)
{
    return DEFECT == 1 ? i * (2 * N + 1) + diagonal : diagonal * (N + 32) + i + 32 - 1;
}

__global__ void advance(const char *a, const char *b, int *table, int from, int to)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x + 1;
    for (int d = from; d < to; d++) {
        const int j = d - i;
        if (i < N && j >= 1 && j < N) {
            const int up = table[cell(d - 1, i - 1)], left = table[cell(d - 1, i)]; // @1 strided access|scattered access // @0 misaligned access|few active lanes
            const int corner = table[cell(d - 2, i - 1)] + (a[i] != b[j]); // @0 misaligned access|few active lanes // @1 strided access
            table[cell(d, i)] = min(min(up, left) + 1, corner); // @2 possible race // @0 few active lanes|misaligned access
        }
        if (DEFECT == 2) __syncthreads();
    }
}

int main()
{
    char *a = device_array<char>(N, [](size_t i) { return char('a' + i % 5); });
    char *b = device_array<char>(N, [](size_t i) { return char('a' + i % 7); });
    int *table = device_zeros<int>((2 * N + 1) * (N + 33));
    if (DEFECT == 2)
        advance<<<N / BLOCK, BLOCK>>>(a, b, table, 2, 2 * N);
    else
        for (int d = 2; d < 2 * N; d += 8)
            for (int k = d; k < d + 8 && k < 2 * N; k++)
                advance<<<N / BLOCK, BLOCK>>>(a, b, table, k, k + 1);
    CHECK(cudaDeviceSynchronize());
}
