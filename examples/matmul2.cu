// Two chained matrix products, E = (A B) D, tile by tile through shared memory. A block of the
// second launch reads a whole row of tiles of A B: it hears from every block of the first launch in
// its own row of the grid, 4*16*16 bytes each.
// matmul2 [EDGE = 256]
#include "common.h"
#include <vector>

enum { TILE = 16 };

__global__ void multiply(const float *a, const float *b, float *c, int n)
{
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    float sum = 0;
    for (int start = 0; start < n; start += TILE) {
        const int ax = start + threadIdx.x, by = start + threadIdx.y;
        tile_a[threadIdx.y][threadIdx.x] = y < n && ax < n ? a[y * n + ax] : 0;
        tile_b[threadIdx.y][threadIdx.x] = by < n && x < n ? b[by * n + x] : 0;
        __syncthreads();
        for (int k = 0; k < TILE; k++) sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
        __syncthreads();
    }
    if (x < n && y < n) c[y * n + x] = sum;
}

int main(int argc, char **argv)
{
    const int n = argument(argc, argv, 1, 256);
    const size_t count = (size_t)n * n;
    std::vector<float> a(count), b(count), d(count), ab(count), e(count);
    Random random; // small integers: float sums are exact
    for (size_t i = 0; i < count; i++)
        a[i] = random.next() % 4, b[i] = random.next() % 4, d[i] = random.next() % 2;

    float *d_a = device_copy(a.data(), count), *d_b = device_copy(b.data(), count);
    float *d_d = device_copy(d.data(), count), *d_ab, *d_e;
    CHECK(cudaMalloc(&d_ab, count * sizeof(float)));
    CHECK(cudaMalloc(&d_e, count * sizeof(float)));
    const dim3 block(TILE, TILE), grid((n + TILE - 1) / TILE, (n + TILE - 1) / TILE);
    multiply<<<grid, block>>>(d_a, d_b, d_ab, n);
    multiply<<<grid, block>>>(d_ab, d_d, d_e, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(e.data(), d_e, count * sizeof(float), cudaMemcpyDeviceToHost));

    for (int y = 0; y < n; y++)
        for (int k = 0; k < n; k++)
            for (int x = 0; x < n; x++) ab[y * n + x] += a[y * n + k] * b[k * n + x];
    std::vector<float> expected(count);
    for (int y = 0; y < n; y++)
        for (int k = 0; k < n; k++)
            for (int x = 0; x < n; x++) expected[y * n + x] += ab[y * n + k] * d[k * n + x];
    for (float *p : {d_a, d_b, d_d, d_ab, d_e}) CHECK(cudaFree(p));
    return verdict("matmul2", e == expected);
}
