// examples/srad.cu; `flow` says: fuse `coefficients` and `diffuse`, by tiles with a halo.
// srad before|after [REPEATS] [EDGE = 8192]
#define main example_main
#include "../../examples/srad.cu"
#undef main
#include "measure.h"

// Tiles with a halo: a CTA of 32 x 8 threads makes the coefficients of 32 x 32 pixels and 31 x 31
// pixels of the next image, which need those below and to the right of them. The image with a halo
// of 1 and the coefficients stay in shared memory.
enum { WIDTH = 32, ROWS = 8, EDGE = WIDTH - 1, HALO = WIDTH + 2 };

__device__ static float coefficient_in(const float (*image)[HALO], int x, int y, float q0)
{
    return coefficient(image[y][x], image[y - 1][x], image[y + 1][x], image[y][x - 1],
                       image[y][x + 1], q0);
}

__global__ void diffuse_fused(const float *image, float *next, int n, float q0)
{
    __shared__ float tile[HALO][HALO], c[WIDTH][WIDTH];
    const int left = blockIdx.x * EDGE, top = blockIdx.y * EDGE, tx = threadIdx.x;
    for (int t = threadIdx.y * WIDTH + tx; t < HALO * HALO; t += WIDTH * ROWS) {
        const int x = min(max(left + t % HALO - 1, 0), n - 1);
        const int y = min(max(top + t / HALO - 1, 0), n - 1);
        tile[t / HALO][t % HALO] = image[y * n + x];
    }
    __syncthreads();
    // At the lower and the right edge of the image, the coefficient of the edge itself.
    for (int ty = threadIdx.y; ty < WIDTH; ty += ROWS)
        c[ty][tx] = coefficient_in(tile, min(tx, n - 1 - left) + 1, min(ty, n - 1 - top) + 1, q0);
    __syncthreads();
    for (int ty = threadIdx.y; ty < EDGE; ty += ROWS) {
        const int x = left + tx, y = top + ty;
        if (tx >= EDGE || x >= n || y >= n) return;
        const float here = tile[ty + 1][tx + 1];
        next[y * n + x] = here + 0.125f * (c[ty][tx] * (tile[ty][tx + 1] - here) +
                                           c[ty + 1][tx] * (tile[ty + 2][tx + 1] - here) +
                                           c[ty][tx] * (tile[ty + 1][tx] - here) +
                                           c[ty][tx + 1] * (tile[ty + 1][tx + 2] - here));
    }
}

int main(int argc, char **argv)
{
    const Variant variant = variant_of(argc, argv);
    const int n = argument(argc, argv, 3, 8192), count = n * n;
    const int sum_blocks = (count + SUM_BLOCK - 1) / SUM_BLOCK;
    std::vector<float> image(count);
    std::vector<float2> partial(sum_blocks);
    Random random;
    for (float &pixel : image) pixel = 1.0f + random.unit();
    float *from = device_copy(image.data(), image.size()), *to, *c;
    float2 *d_partial;
    CHECK(cudaMalloc(&to, image.size() * sizeof(float)));
    CHECK(cudaMalloc(&c, image.size() * sizeof(float)));
    CHECK(cudaMalloc(&d_partial, partial.size() * sizeof(float2)));
    const dim3 block(TILE, TILE), grid((n + TILE - 1) / TILE, (n + TILE - 1) / TILE);
    const auto step = [&](auto mark) {
        sum<<<sum_blocks, SUM_BLOCK>>>(from, d_partial, count);
        CHECK(cudaMemcpy(partial.data(), d_partial, partial.size() * sizeof(float2),
                         cudaMemcpyDeviceToHost));
        double total = 0, squares = 0;
        for (const float2 &p : partial) total += p.x, squares += p.y;
        const double mean = total / count, variance = squares / count - mean * mean;
        const float q0 = (float)(variance / (mean * mean));
        mark();
        if (variant.is_after) {
            const dim3 tiles((n + EDGE - 1) / EDGE, (n + EDGE - 1) / EDGE);
            diffuse_fused<<<tiles, dim3(WIDTH, ROWS)>>>(from, to, n, q0);
        } else {
            coefficients<<<grid, block>>>(from, c, n, q0);
            diffuse<<<grid, block>>>(from, to, c, n);
        }
        CHECK(cudaGetLastError());
        std::swap(from, to);
    };
    return measure("srad", variant, step, [&] { return sum_of(from, count); });
}
