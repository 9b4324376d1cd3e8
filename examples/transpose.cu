// A matrix transposed in three ways: naive (a warp's stores lie a row apart: 32 sectors a request),
// through a 32x32 tile in shared memory (its columns all in one bank: 32-way conflicts), and
// through a tile padded to 33 columns (no conflict).
// transpose [EDGE = 1024]
#include "common.h"
#include <vector>

enum { TILE = 32, ROWS = 8 };

__global__ void transpose_naive(const float *in, float *out, int n)
{
    const int x = blockIdx.x * TILE + threadIdx.x;
    for (int r = threadIdx.y; r < TILE; r += ROWS) {
        const int y = blockIdx.y * TILE + r;
        if (x < n && y < n) out[x * n + y] = in[y * n + x];
    }
}

template <int PITCH> __global__ void transpose_tiled(const float *in, float *out, int n)
{
    __shared__ float tile[TILE][PITCH];
    const int x = blockIdx.x * TILE + threadIdx.x;
    for (int r = threadIdx.y; r < TILE; r += ROWS) {
        const int y = blockIdx.y * TILE + r;
        if (x < n && y < n) tile[r][threadIdx.x] = in[y * n + x];
    }
    __syncthreads();
    const int out_x = blockIdx.y * TILE + threadIdx.x;
    for (int r = threadIdx.y; r < TILE; r += ROWS) {
        const int out_y = blockIdx.x * TILE + r;
        if (out_x < n && out_y < n) out[out_y * n + out_x] = tile[threadIdx.x][r];
    }
}

int main(int argc, char **argv)
{
    const int n = argument(argc, argv, 1, 1024);
    const size_t count = (size_t)n * n;
    std::vector<float> in(count), out(count);
    for (size_t i = 0; i < count; i++) in[i] = (float)(i % 65521);
    float *d_in = device_copy(in.data(), count), *d_out;
    CHECK(cudaMalloc(&d_out, count * sizeof(float)));

    const dim3 block(TILE, ROWS), grid((n + TILE - 1) / TILE, (n + TILE - 1) / TILE);
    bool right = true;
    for (int way = 0; way < 3; way++) {
        CHECK(cudaMemset(d_out, 0, count * sizeof(float)));
        if (way == 0) transpose_naive<<<grid, block>>>(d_in, d_out, n);
        if (way == 1) transpose_tiled<TILE><<<grid, block>>>(d_in, d_out, n);
        if (way == 2) transpose_tiled<TILE + 1><<<grid, block>>>(d_in, d_out, n);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(out.data(), d_out, count * sizeof(float), cudaMemcpyDeviceToHost));
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) right &= out[x * (size_t)n + y] == in[y * (size_t)n + x];
    }
    CHECK(cudaFree(d_in));
    CHECK(cudaFree(d_out));
    return verdict("transpose", right);
}
