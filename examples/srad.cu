// Speckle-reducing diffusion of an image, three kernels an iteration, as in Rodinia's srad:
// `sum` adds up the image and its squares block by block, `coefficients` computes how much each
// pixel diffuses from its four neighbours, `diffuse` makes the next image from its own coefficient
// and those below and to the right. Kernels of one and of two dimensions alternate, so
// that the blocks of one kernel own other pixels than those of the next.
// srad [EDGE = 256] [ITERATIONS = 4]
#include "common.h"
#include <algorithm>
#include <cmath>
#include <vector>

enum { SUM_BLOCK = 256, TILE = 16 };

__global__ void sum(const float *image, float2 *partial, int count)
{
    __shared__ float2 sums[SUM_BLOCK];
    const int t = threadIdx.x, i = blockIdx.x * SUM_BLOCK + t;
    const float value = i < count ? image[i] : 0;
    sums[t] = make_float2(value, value * value);
    __syncthreads();
    for (int step = SUM_BLOCK / 2; step > 0; step /= 2) {
        if (t < step) sums[t].x += sums[t + step].x, sums[t].y += sums[t + step].y;
        __syncthreads();
    }
    if (t == 0) partial[blockIdx.x] = sums[0];
}

__host__ __device__ static inline float coefficient(float here, float north, float south,
                                                    float west, float east, float q0)
{
    const float n = north - here, s = south - here, w = west - here, e = east - here;
    const float g = (n * n + s * s + w * w + e * e) / (here * here);
    const float l = (n + s + w + e) / here;
    const float part = 1.0f + 0.25f * l, q = (0.5f * g - l * l / 16.0f) / (part * part);
    const float c = 1.0f / (1.0f + (q - q0) / (q0 * (1.0f + q0)));
    return c < 0 ? 0 : c > 1 ? 1 : c;
}

__global__ void coefficients(const float *image, float *c, int n, float q0)
{
    const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x >= n || y >= n) return;
    const int i = y * n + x;
    c[i] = coefficient(image[i], image[y > 0 ? i - n : i], image[y < n - 1 ? i + n : i],
                       image[x > 0 ? i - 1 : i], image[x < n - 1 ? i + 1 : i], q0);
}

__global__ void diffuse(const float *image, float *next, const float *c, int n)
{
    const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x >= n || y >= n) return;
    const int i = y * n + x;
    const int north = y > 0 ? i - n : i, south = y < n - 1 ? i + n : i;
    const int west = x > 0 ? i - 1 : i, east = x < n - 1 ? i + 1 : i;
    const float here = image[i];
    next[i] = here + 0.125f * (c[i] * (image[north] - here) + c[south] * (image[south] - here) +
                               c[i] * (image[west] - here) + c[east] * (image[east] - here));
}

static void iterate_host(std::vector<float> &image, int n, float q0)
{
    std::vector<float> c(image.size()), next(image.size());
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            const int i = y * n + x;
            c[i] = coefficient(image[i], image[y > 0 ? i - n : i], image[y < n - 1 ? i + n : i],
                               image[x > 0 ? i - 1 : i], image[x < n - 1 ? i + 1 : i], q0);
        }
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            const int i = y * n + x;
            const int north = y > 0 ? i - n : i, south = y < n - 1 ? i + n : i;
            const int west = x > 0 ? i - 1 : i, east = x < n - 1 ? i + 1 : i;
            next[i] =
                image[i] +
                0.125f * (c[i] * (image[north] - image[i]) + c[south] * (image[south] - image[i]) +
                          c[i] * (image[west] - image[i]) + c[east] * (image[east] - image[i]));
        }
    image.swap(next);
}

int main(int argc, char **argv)
{
    const int n = argument(argc, argv, 1, 256), iterations = argument(argc, argv, 2, 4);
    const int count = n * n, sum_blocks = (count + SUM_BLOCK - 1) / SUM_BLOCK;
    std::vector<float> image(count), result(count);
    std::vector<float2> partial(sum_blocks);
    Random random;
    for (float &pixel : image) pixel = std::exp(random.unit());

    float *from = device_copy(image.data(), image.size()), *to, *c;
    float2 *d_partial;
    CHECK(cudaMalloc(&to, image.size() * sizeof(float)));
    CHECK(cudaMalloc(&c, image.size() * sizeof(float)));
    CHECK(cudaMalloc(&d_partial, partial.size() * sizeof(float2)));
    const dim3 block(TILE, TILE), grid((n + TILE - 1) / TILE, (n + TILE - 1) / TILE);
    for (int t = 0; t < iterations; t++) {
        sum<<<sum_blocks, SUM_BLOCK>>>(from, d_partial, count);
        CHECK(cudaMemcpy(partial.data(), d_partial, partial.size() * sizeof(float2),
                         cudaMemcpyDeviceToHost));
        double total = 0, squares = 0;
        for (const float2 &p : partial) total += p.x, squares += p.y;
        const double mean = total / count, variance = squares / count - mean * mean;
        const float q0 = (float)(variance / (mean * mean));
        coefficients<<<grid, block>>>(from, c, n, q0);
        diffuse<<<grid, block>>>(from, to, c, n);
        CHECK(cudaGetLastError());
        std::swap(from, to);
        iterate_host(image, n, q0);
    }
    CHECK(cudaMemcpy(result.data(), from, result.size() * sizeof(float), cudaMemcpyDeviceToHost));
    bool right = true;
    for (int i = 0; i < count; i++) right &= std::fabs(result[i] - image[i]) < 1e-3f;
    for (void *p : {(void *)from, (void *)to, (void *)c, (void *)d_partial}) CHECK(cudaFree(p));
    return verdict("srad", right);
}
