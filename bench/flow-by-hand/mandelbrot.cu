// examples/mandelbrot.cu; `flow` says: fuse the launches of `refine`, CTA by CTA.
// mandelbrot before|after [REPEATS] [EDGE = 8192] [ROUNDS = 10]
#define main example_main
#include "../../examples/mandelbrot.cu"
#undef main
#include "measure.h"

// All rounds in one kernel: a pixel's z stays in a register.
__global__ void refine_fused(float2 *z, int *escaped, int n, int iterations)
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
            escaped[i] = k + 1;
            return;
        }
    }
    z[i] = p;
}

int main(int argc, char **argv)
{
    const Variant variant = variant_of(argc, argv);
    const int n = argument(argc, argv, 3, 8192), rounds = argument(argc, argv, 4, 10), each = 16;
    const size_t count = (size_t)n * n;
    float2 *z;
    int *escaped;
    CHECK(cudaMalloc(&z, count * sizeof(float2)));
    CHECK(cudaMalloc(&escaped, count * sizeof(int)));
    const dim3 block(16, 16), grid((n + 15) / 16, (n + 15) / 16);
    const auto step = [&](auto mark) {
        mark();
        CHECK(cudaMemset(z, 0, count * sizeof(float2)));
        CHECK(cudaMemset(escaped, 0, count * sizeof(int)));
        if (variant.is_after)
            refine_fused<<<grid, block>>>(z, escaped, n, rounds * each);
        else
            for (int round = 0; round < rounds; round++)
                refine<<<grid, block>>>(z, escaped, n, round * each, each);
        CHECK(cudaGetLastError());
    };
    return measure("mandelbrot", variant, step, [&] { return sum_of(escaped, count); });
}
