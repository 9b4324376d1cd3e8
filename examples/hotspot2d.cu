// Heat in a chip, on a 2-D grid of cells with a source of power each, as in Rodinia's hotspot. A
// launch advances HEIGHT steps: a block of 16x16 threads computes them in shared memory, on a tile
// that shrinks by one cell a side with every step, and writes the inner 16 - 2*HEIGHT cells each
// way. What it reads of its neighbours is a halo HEIGHT cells deep.
// hotspot2d [EDGE = 512] [STEPS = 10] [HEIGHT = 2]
#include "common.h"
#include <algorithm>
#include <cmath>
#include <vector>

enum { TILE = 16 };

__host__ __device__ static inline float heated(float here, float west, float east, float north,
                                               float south, float watts)
{
    return here + 0.1f * (west + east + north + south - 4.0f * here) + 0.05f * watts +
           0.01f * (80.0f - here);
}

__global__ void heat2d(const float *power, const float *from, float *to, int n, int height)
{
    __shared__ float tile[TILE][TILE];
    const int tx = threadIdx.x, ty = threadIdx.y, inner = TILE - 2 * height;
    const int x = blockIdx.x * inner + tx - height, y = blockIdx.y * inner + ty - height;
    const bool inside = x >= 0 && x < n && y >= 0 && y < n;
    float here = 0, watts = 0;
    if (inside) {
        here = from[y * n + x];
        watts = power[y * n + x];
    }
    tile[ty][tx] = here;
    __syncthreads();
    for (int step = 1; step <= height; step++) {
        if (inside && tx >= step && tx < TILE - step && ty >= step && ty < TILE - step)
            here =
                heated(here, x > 0 ? tile[ty][tx - 1] : here, x < n - 1 ? tile[ty][tx + 1] : here,
                       y > 0 ? tile[ty - 1][tx] : here, y < n - 1 ? tile[ty + 1][tx] : here, watts);
        __syncthreads();
        tile[ty][tx] = here;
        __syncthreads();
    }
    if (inside && tx >= height && tx < TILE - height && ty >= height && ty < TILE - height)
        to[y * n + x] = here;
}

static void step_host(const std::vector<float> &power, const std::vector<float> &in,
                      std::vector<float> &out, int n)
{
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            const int i = y * n + x;
            const float here = in[i];
            out[i] = heated(here, x > 0 ? in[i - 1] : here, x < n - 1 ? in[i + 1] : here,
                            y > 0 ? in[i - n] : here, y < n - 1 ? in[i + n] : here, power[i]);
        }
}

int main(int argc, char **argv)
{
    const int n = argument(argc, argv, 1, 512), steps = argument(argc, argv, 2, 10);
    const int height = std::min(argument(argc, argv, 3, 2), TILE / 2 - 1);
    std::vector<float> heat((size_t)n * n), power(heat.size()), next(heat.size());
    Random random;
    for (size_t i = 0; i < heat.size(); i++)
        heat[i] = 80.0f + 20.0f * random.unit(), power[i] = random.unit();

    float *d_power = device_copy(power.data(), power.size());
    float *from = device_copy(heat.data(), heat.size()), *to;
    CHECK(cudaMalloc(&to, heat.size() * sizeof(float)));
    for (int done = 0; done < steps; done += height) {
        const int now = std::min(height, steps - done), inner = TILE - 2 * now;
        const dim3 grid((n + inner - 1) / inner, (n + inner - 1) / inner);
        heat2d<<<grid, dim3(TILE, TILE)>>>(d_power, from, to, n, now);
        CHECK(cudaGetLastError());
        std::swap(from, to);
    }
    for (int t = 0; t < steps; t++) {
        step_host(power, heat, next, n);
        heat.swap(next);
    }
    CHECK(cudaMemcpy(next.data(), from, next.size() * sizeof(float), cudaMemcpyDeviceToHost));
    bool right = true;
    for (size_t i = 0; i < heat.size(); i++) right &= std::fabs(heat[i] - next[i]) < 1e-2f;
    for (float *p : {d_power, from, to}) CHECK(cudaFree(p));
    return verdict("hotspot2d", right);
}
