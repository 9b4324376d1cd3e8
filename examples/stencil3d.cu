// A seven-point stencil on a flat 3-D grid, two buffers in ping-pong, as in hotspot 3D. A block of
// 64x4 threads walks through all planes of its column, so blocks meet in x and y only.
// stencil3d [EDGE = 512] [PLANES = 8] [STEPS = 10]
#include "common.h"
#include <cmath>
#include <vector>

__host__ __device__ static inline float relax(float here, float west, float east, float north,
                                              float south, float below, float above)
{
    return 0.4f * here + 0.1f * (west + east + north + south + below + above);
}

__global__ void step3d(const float *in, float *out, int n, int planes)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    const int plane = n * n;
    for (int z = 0; z < planes; z++) {
        const int i = z * plane + y * n + x;
        const float here = in[i];
        out[i] = relax(here, x > 0 ? in[i - 1] : here, x < n - 1 ? in[i + 1] : here,
                       y > 0 ? in[i - n] : here, y < n - 1 ? in[i + n] : here,
                       z > 0 ? in[i - plane] : here, z < planes - 1 ? in[i + plane] : here);
    }
}

static void step_host(const std::vector<float> &in, std::vector<float> &out, int n, int planes)
{
    const int plane = n * n;
    for (int z = 0; z < planes; z++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) {
                const int i = z * plane + y * n + x;
                const float here = in[i];
                out[i] = relax(here, x > 0 ? in[i - 1] : here, x < n - 1 ? in[i + 1] : here,
                               y > 0 ? in[i - n] : here, y < n - 1 ? in[i + n] : here,
                               z > 0 ? in[i - plane] : here, z < planes - 1 ? in[i + plane] : here);
            }
}

int main(int argc, char **argv)
{
    const int n = argument(argc, argv, 1, 512), planes = argument(argc, argv, 2, 8);
    const int steps = argument(argc, argv, 3, 10);
    std::vector<float> heat((size_t)n * n * planes), next(heat.size());
    Random random;
    for (float &cell : heat) cell = random.unit();

    float *from = device_copy(heat.data(), heat.size()), *to;
    CHECK(cudaMalloc(&to, heat.size() * sizeof(float)));
    const dim3 block(64, 4), grid((n + 63) / 64, (n + 3) / 4);
    for (int t = 0; t < steps; t++) {
        step3d<<<grid, block>>>(from, to, n, planes);
        CHECK(cudaGetLastError());
        float *const swap = from;
        from = to, to = swap;
        step_host(heat, next, n, planes);
        heat.swap(next);
    }
    CHECK(cudaMemcpy(next.data(), from, next.size() * sizeof(float), cudaMemcpyDeviceToHost));
    bool right = true;
    for (size_t i = 0; i < heat.size(); i++) right &= std::fabs(heat[i] - next[i]) < 1e-4f;
    CHECK(cudaFree(from));
    CHECK(cudaFree(to));
    return verdict("stencil3d", right);
}
