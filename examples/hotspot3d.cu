// Heat in a chip of several layers with a source of power in each cell, as in Rodinia's hotspot 3D.
// A block of 64x4 threads walks up through the layers of its column and keeps the cells below and
// above in registers, so that it reads each of its own cells once as such, and four neighbours.
// Cells at the border have themselves for a neighbour. Blocks meet in x and y only: a block reads
// 64 cells of the neighbours above and below, but only 4 of those left and right.
// hotspot3d [EDGE = 512] [LAYERS = 8] [STEPS = 10]
#include "common.h"
#include <algorithm>
#include <cmath>
#include <vector>

__host__ __device__ static inline float heated(float here, float west, float east, float north,
                                               float south, float below, float above, float watts)
{
    return 0.4f * here + 0.1f * (west + east + north + south) + 0.09f * (below + above) +
           0.05f * watts + 0.02f * 80.0f;
}

__global__ void heat3d(const float *power, const float *from, float *to, int n, int layers)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    int i = y * n + x;
    const int layer = n * n;
    const int west = x > 0 ? -1 : 0, east = x < n - 1 ? 1 : 0;
    const int north = y > 0 ? -n : 0, south = y < n - 1 ? n : 0;
    float below = from[i], here = below;
    for (int z = 0; z < layers; z++, i += layer) {
        const float above = z < layers - 1 ? from[i + layer] : here;
        to[i] = heated(here, from[i + west], from[i + east], from[i + north], from[i + south],
                       below, above, power[i]);
        below = here;
        here = above;
    }
}

static void step_host(const std::vector<float> &power, const std::vector<float> &in,
                      std::vector<float> &out, int n, int layers)
{
    const int layer = n * n;
    for (int z = 0; z < layers; z++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) {
                const int i = z * layer + y * n + x;
                out[i] =
                    heated(in[i], in[x > 0 ? i - 1 : i], in[x < n - 1 ? i + 1 : i],
                           in[y > 0 ? i - n : i], in[y < n - 1 ? i + n : i],
                           in[z > 0 ? i - layer : i], in[z < layers - 1 ? i + layer : i], power[i]);
            }
}

int main(int argc, char **argv)
{
    const int n = argument(argc, argv, 1, 512), layers = argument(argc, argv, 2, 8);
    const int steps = argument(argc, argv, 3, 10);
    std::vector<float> heat((size_t)n * n * layers), power(heat.size()), next(heat.size());
    Random random;
    for (size_t i = 0; i < heat.size(); i++)
        heat[i] = 80.0f + 20.0f * random.unit(), power[i] = random.unit();

    float *d_power = device_copy(power.data(), power.size());
    float *from = device_copy(heat.data(), heat.size()), *to;
    CHECK(cudaMalloc(&to, heat.size() * sizeof(float)));
    const dim3 block(64, 4), grid((n + 63) / 64, (n + 3) / 4);
    for (int t = 0; t < steps; t++) {
        heat3d<<<grid, block>>>(d_power, from, to, n, layers);
        CHECK(cudaGetLastError());
        std::swap(from, to);
        step_host(power, heat, next, n, layers);
        heat.swap(next);
    }
    CHECK(cudaMemcpy(next.data(), from, next.size() * sizeof(float), cudaMemcpyDeviceToHost));
    bool right = true;
    for (size_t i = 0; i < heat.size(); i++) right &= std::fabs(heat[i] - next[i]) < 1e-2f;
    for (float *p : {d_power, from, to}) CHECK(cudaFree(p));
    return verdict("hotspot3d", right);
}
