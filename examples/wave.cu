// A wave over a 2-D buffer: every launch writes the height of a moving sine at each point, as in
// CUDA's simpleGL. The buffer is written again and again and read by nobody but the host: stores,
// no communication.
// wave [EDGE = 256] [LAUNCHES = 50]
#include "common.h"
#include <cmath>
#include <vector>

__global__ void draw(float4 *points, int n, float time)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    const float u = 2.0f * x / n - 1.0f, v = 2.0f * y / n - 1.0f;
    points[y * n + x] = make_float4(u, sinf(u * 4.0f + time) * cosf(v * 4.0f + time) * 0.5f, v, 1);
}

int main(int argc, char **argv)
{
    const int n = argument(argc, argv, 1, 256), launches = argument(argc, argv, 2, 50);
    const size_t count = (size_t)n * n;
    float4 *d_points;
    CHECK(cudaMalloc(&d_points, count * sizeof(float4)));
    const dim3 block(8, 8), grid((n + 7) / 8, (n + 7) / 8);
    for (int launch = 0; launch < launches; launch++)
        draw<<<grid, block>>>(d_points, n, 0.01f * launch);
    CHECK(cudaGetLastError());
    std::vector<float4> points(count);
    CHECK(cudaMemcpy(points.data(), d_points, count * sizeof(float4), cudaMemcpyDeviceToHost));

    const float time = 0.01f * (launches - 1);
    bool right = true;
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            const float u = 2.0f * x / n - 1.0f, v = 2.0f * y / n - 1.0f;
            const float height = std::sin(u * 4.0f + time) * std::cos(v * 4.0f + time) * 0.5f;
            right &= std::fabs(points[(size_t)y * n + x].y - height) < 1e-4f;
        }
    CHECK(cudaFree(d_points));
    return verdict("wave", right);
}
