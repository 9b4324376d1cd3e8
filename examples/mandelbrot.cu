// The Mandelbrot set, ten times, each time with more iterations, every pixel refined from the one
// before: a pixel keeps its z in memory. A block reads only what the same block wrote before.
// mandelbrot [EDGE = 256] [ROUNDS = 10]
#include "common.h"
#include <vector>

__global__ void refine(float2 *z, int *escaped, int n, int first, int iterations)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    const int i = y * n + x;
    if (escaped[i]) return;
    const float cx = -2.0f + 3.0f * x / n, cy = -1.5f + 3.0f * y / n;
    float2 p = z[i];
    for (int k = 0; k < iterations; k++) {
        const float next = p.x * p.x - p.y * p.y + cx;
        p.y = 2.0f * p.x * p.y + cy;
        p.x = next;
        if (p.x * p.x + p.y * p.y > 4.0f) {
            escaped[i] = first + k + 1;
            return;
        }
    }
    z[i] = p;
}

int main(int argc, char **argv)
{
    const int n = argument(argc, argv, 1, 256), rounds = argument(argc, argv, 2, 10), each = 16;
    const size_t count = (size_t)n * n;
    float2 *z;
    int *escaped;
    CHECK(cudaMalloc(&z, count * sizeof(float2)));
    CHECK(cudaMalloc(&escaped, count * sizeof(int)));
    CHECK(cudaMemset(z, 0, count * sizeof(float2)));
    CHECK(cudaMemset(escaped, 0, count * sizeof(int)));
    const dim3 block(16, 16), grid((n + 15) / 16, (n + 15) / 16);
    for (int round = 0; round < rounds; round++)
        refine<<<grid, block>>>(z, escaped, n, round * each, each);
    CHECK(cudaGetLastError());
    std::vector<int> result(count);
    CHECK(cudaMemcpy(result.data(), escaped, count * sizeof(int), cudaMemcpyDeviceToHost));

    // Rounding near the border may differ by an iteration or two between compilers: most pixels
    // must agree exactly.
    size_t same = 0;
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            const float cx = -2.0f + 3.0f * x / n, cy = -1.5f + 3.0f * y / n;
            float px = 0, py = 0;
            int steps = 0;
            for (int k = 0; k < rounds * each && !steps; k++) {
                const float next = px * px - py * py + cx;
                py = 2.0f * px * py + cy;
                px = next;
                if (px * px + py * py > 4.0f) steps = k + 1;
            }
            same += result[(size_t)y * n + x] == steps;
        }
    CHECK(cudaFree(z));
    CHECK(cudaFree(escaped));
    return verdict("mandelbrot", same >= count - count / 50);
}
