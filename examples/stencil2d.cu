// A five-point stencil on a 2-D grid, two buffers in ping-pong, as in hotspot. A block of 32x8
// threads updates its tile; what it reads beyond the tile is its neighbours' halo: 32 cells above
// and below, 8 left and right. From the second step on each block receives its own tile (the same
// block id of the step before is a partner too) and the halos of up to four neighbours.
// stencil2d [EDGE = 512] [STEPS = 10]
#include "common.h"
#include <cmath>
#include <vector>

__global__ void step2d(const float *in, float *out, int n)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    const int i = y * n + x;
    const float here = in[i];
    const float west = x > 0 ? in[i - 1] : here;
    const float east = x < n - 1 ? in[i + 1] : here;
    const float north = y > 0 ? in[i - n] : here;
    const float south = y < n - 1 ? in[i + n] : here;
    out[i] = here + 0.125f * (west + east + north + south - 4.0f * here);
}

static void step_host(const std::vector<float> &in, std::vector<float> &out, int n)
{
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            const int i = y * n + x;
            const float here = in[i];
            const float west = x > 0 ? in[i - 1] : here, east = x < n - 1 ? in[i + 1] : here;
            const float north = y > 0 ? in[i - n] : here, south = y < n - 1 ? in[i + n] : here;
            out[i] = here + 0.125f * (west + east + north + south - 4.0f * here);
        }
}

int main(int argc, char **argv)
{
    const int n = argument(argc, argv, 1, 512), steps = argument(argc, argv, 2, 10);
    std::vector<float> heat((size_t)n * n), next(heat.size());
    Random random;
    for (float &cell : heat) cell = 300.0f + 50.0f * random.unit();

    float *from = device_copy(heat.data(), heat.size()), *to;
    CHECK(cudaMalloc(&to, heat.size() * sizeof(float)));
    const dim3 block(32, 8), grid((n + 31) / 32, (n + 7) / 8);
    for (int t = 0; t < steps; t++) {
        step2d<<<grid, block>>>(from, to, n);
        CHECK(cudaGetLastError());
        float *const swap = from;
        from = to, to = swap;
        step_host(heat, next, n);
        heat.swap(next);
    }
    CHECK(cudaMemcpy(next.data(), from, next.size() * sizeof(float), cudaMemcpyDeviceToHost));
    bool right = true;
    for (size_t i = 0; i < heat.size(); i++) right &= std::fabs(heat[i] - next[i]) < 1e-2f;
    CHECK(cudaFree(from));
    CHECK(cudaFree(to));
    return verdict("stencil2d", right);
}
