/* hotspot (a pyramid of time steps in one launch), srad (two kernels, gradients kept in memory,
 * a reduction in between) and a 3-D stencil that keeps a column in registers. */
#include "helper.h"
#include <vector>

#define BLOCK_SIZE               16
#define IN_RANGE(x, min, max)    ((x) >= (min) && (x) <= (max))
#define CLAMP_RANGE(x, min, max) x = (x < (min)) ? min : ((x > (max)) ? max : x)
#define MIN(a, b)                ((a) <= (b) ? (a) : (b))

__global__ void hotspot(int iterations, float *power, float *src, float *dst, int n, int border,
                        float cap)
{
    __shared__ float temp[BLOCK_SIZE][BLOCK_SIZE];
    __shared__ float power_here[BLOCK_SIZE][BLOCK_SIZE];
    __shared__ float next[BLOCK_SIZE][BLOCK_SIZE];
    const int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    const int small = BLOCK_SIZE - iterations * 2;
    const int y0 = small * by - border, x0 = small * bx - border;
    const int y1 = y0 + BLOCK_SIZE - 1, x1 = x0 + BLOCK_SIZE - 1;
    const int y = y0 + ty, x = x0 + tx, index = n * y + x;
    if (IN_RANGE(y, 0, n - 1) && IN_RANGE(x, 0, n - 1)) {
        temp[ty][tx] = src[index];
        power_here[ty][tx] = power[index];
    }
    __syncthreads();
    const int top = y0 < 0 ? -y0 : 0, left = x0 < 0 ? -x0 : 0;
    const int bottom = y1 > n - 1 ? BLOCK_SIZE - 1 - (y1 - n + 1) : BLOCK_SIZE - 1;
    const int right = x1 > n - 1 ? BLOCK_SIZE - 1 - (x1 - n + 1) : BLOCK_SIZE - 1;
    int N = ty - 1, S = ty + 1, W = tx - 1, E = tx + 1;
    N = N < top ? top : N;
    S = S > bottom ? bottom : S;
    W = W < left ? left : W;
    E = E > right ? right : E;
    bool computed;
    for (int i = 0; i < iterations; i++) {
        computed = false;
        if (IN_RANGE(tx, i + 1, BLOCK_SIZE - i - 2) && IN_RANGE(ty, i + 1, BLOCK_SIZE - i - 2) &&
            IN_RANGE(tx, left, right) && IN_RANGE(ty, top, bottom)) {
            computed = true;
            next[ty][tx] =
                temp[ty][tx] +
                cap * (power_here[ty][tx] + (temp[S][tx] + temp[N][tx] - 2 * temp[ty][tx]) * 0.5f +
                       (temp[ty][E] + temp[ty][W] - 2 * temp[ty][tx]) * 0.5f);
        }
        __syncthreads();
        if (i == iterations - 1) break;
        if (computed) temp[ty][tx] = next[ty][tx];
        __syncthreads();
    }
    if (computed) dst[index] = next[ty][tx];
}

__global__ void srad_1(float *dn, float *ds, float *dw, float *de, const float *j, float *c, int n,
                       float q0)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int at = y * n + x;
    const float jc = j[at];
    dn[at] = j[y > 0 ? at - n : at] - jc;
    ds[at] = j[y < n - 1 ? at + n : at] - jc;
    dw[at] = j[x > 0 ? at - 1 : at] - jc;
    de[at] = j[x < n - 1 ? at + 1 : at] - jc;
    const float g2 =
        (dn[at] * dn[at] + ds[at] * ds[at] + dw[at] * dw[at] + de[at] * de[at]) / (jc * jc);
    const float l = (dn[at] + ds[at] + dw[at] + de[at]) / jc;
    const float num = 0.5f * g2 - 1.0f / 16.0f * (l * l), den = 1 + 0.25f * l;
    const float q = num / (den * den), d = (q - q0) / (q0 * (1 + q0));
    float v = 1.0f / (1.0f + d);
    if (v < 0)
        v = 0;
    else if (v > 1)
        v = 1;
    c[at] = v;
}

__global__ void srad_2(const float *dn, const float *ds, const float *dw, const float *de, float *j,
                       const float *c, int n, float lambda)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int at = y * n + x;
    const float cs = c[y < n - 1 ? at + n : at], ce = c[x < n - 1 ? at + 1 : at];
    j[at] += 0.25f * lambda * (c[at] * dn[at] + cs * ds[at] + c[at] * dw[at] + ce * de[at]);
}

template <unsigned RADIUS> __global__ void column_stencil(const float *in, float *out, dim3 size)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int slice = size.x * size.y;
    float ahead[RADIUS], behind[RADIUS], current;
    int at = y * size.x + x;
    if (x >= size.x || y >= size.y) return;
#pragma unroll
    for (int i = 0; i < RADIUS; i++) behind[i] = in[at + (RADIUS - 1 - i) * slice];
    current = in[at + RADIUS * slice];
#pragma unroll
    for (int i = 0; i < RADIUS; i++) ahead[i] = in[at + (RADIUS + 1 + i) * slice];
    for (int z = RADIUS; z < size.z - RADIUS; z++) {
        float sum = current;
        for (int i = 0; i < RADIUS; i++) sum += 0.5f / (i + 1) * (ahead[i] + behind[i]);
        out[at + z * slice] = sum;
        for (int i = RADIUS - 1; i > 0; i--) behind[i] = behind[i - 1];
        behind[0] = current;
        current = ahead[0];
        for (int i = 0; i < RADIUS - 1; i++) ahead[i] = ahead[i + 1];
        if (z + RADIUS + 1 < size.z) ahead[RADIUS - 1] = in[at + (z + RADIUS + 1) * slice];
    }
}

typedef std::vector<float> grid_t;

static float *to_device(const grid_t &host)
{
    float *d;
    checkCudaErrors(cudaMalloc(&d, host.size() * sizeof(float)));
    checkCudaErrors(
        cudaMemcpy(d, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice));
    return d;
}

static void compare(const char *name, const grid_t &want, const float *device)
{
    grid_t got(want.size());
    checkCudaErrors(cudaMemcpy(&got[0], device, 4 * want.size(), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < want.size(); i++)
        EXPECT(close_to(got[i], want[i], 1e-4), "%s %zu: %g, not %g", name, i, got[i], want[i]);
}

int main()
{
    const int n = 60, pyramid = 3, steps = 7;
    grid_t t(n * n), p(n * n), u;
    for (int i = 0; i < n * n; i++) t[i] = 300 + i % 17, p[i] = 0.1f * (i % 5);
    float *d_t[2] = {to_device(t), to_device(t)}, *d_p = to_device(p);
    const int small = BLOCK_SIZE - pyramid * 2, blocks = (n + small - 1) / small;
    int src = 1, dst = 0;
    for (int i = 0; i < steps; i += pyramid) {
        const int temp = src;
        src = dst;
        dst = temp;
        /* a launch of fewer steps still covers tiles of the same size */
        const int now = MIN(pyramid, steps - i), tile = BLOCK_SIZE - now * 2;
        const int grid = (n + tile - 1) / tile;
        hotspot<<<dim3(grid, grid), dim3(BLOCK_SIZE, BLOCK_SIZE)>>>(now, d_p, d_t[src], d_t[dst], n,
                                                                    now, 0.1f);
    }
    (void)blocks;
    for (int i = 0; i < steps; i++) {
        u = t;
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) {
                const float c = u[y * n + x];
                const float N = u[(y ? y - 1 : 0) * n + x], S = u[MIN(y + 1, n - 1) * n + x];
                const float W = u[y * n + (x ? x - 1 : 0)], E = u[y * n + MIN(x + 1, n - 1)];
                t[y * n + x] =
                    c + 0.1f * (p[y * n + x] + (S + N - 2 * c) * 0.5f + (E + W - 2 * c) * 0.5f);
            }
    }
    compare("hotspot", t, d_t[dst]);

    const int m = 48;
    grid_t j(m * m), dn(m * m), ds(m * m), dw(m * m), de(m * m), c(m * m);
    for (int i = 0; i < m * m; i++) j[i] = expf((float)((i * 37) % 256) / 255);
    float *d_j = to_device(j), *d_dn = to_device(j), *d_ds = to_device(j), *d_dw = to_device(j),
          *d_de = to_device(j), *d_c = to_device(j);
    for (int step = 0; step < 3; step++) {
        float sum = 0, sum2 = 0;
        for (float v : j) sum += v, sum2 += v * v;
        const float mean = sum / (m * m), q0 = (sum2 / (m * m) - mean * mean) / (mean * mean);
        const dim3 grid(m / 16, m / 16), block(16, 16);
        srad_1<<<grid, block>>>(d_dn, d_ds, d_dw, d_de, d_j, d_c, m, q0);
        srad_2<<<grid, block>>>(d_dn, d_ds, d_dw, d_de, d_j, d_c, m, 0.5f);
        for (int at = 0; at < m * m; at++) {
            const int x = at % m, y = at / m;
            dn[at] = j[y ? at - m : at] - j[at];
            ds[at] = j[y < m - 1 ? at + m : at] - j[at];
            dw[at] = j[x ? at - 1 : at] - j[at];
            de[at] = j[x < m - 1 ? at + 1 : at] - j[at];
            const float g2 =
                (dn[at] * dn[at] + ds[at] * ds[at] + dw[at] * dw[at] + de[at] * de[at]) /
                (j[at] * j[at]);
            const float l = (dn[at] + ds[at] + dw[at] + de[at]) / j[at];
            const float q = (0.5f * g2 - l * l / 16) / ((1 + 0.25f * l) * (1 + 0.25f * l));
            const float v = 1 / (1 + (q - q0) / (q0 * (1 + q0)));
            c[at] = v < 0 ? 0 : v > 1 ? 1 : v;
        }
        for (int at = 0; at < m * m; at++) {
            const int x = at % m, y = at / m;
            j[at] += 0.125f * (c[at] * dn[at] + c[y < m - 1 ? at + m : at] * ds[at] +
                               c[at] * dw[at] + c[x < m - 1 ? at + 1 : at] * de[at]);
        }
        compare("srad", j, d_j);
    }

    const dim3 size(40, 24, 12);
    const int slice = size.x * size.y;
    grid_t in(slice * size.z), want(in.size());
    for (size_t i = 0; i < in.size(); i++) in[i] = (float)(i * 7 % 101);
    for (int z = 3; z < 9; z++)
        for (int i = 0; i < slice; i++) {
            float sum = in[z * slice + i];
            for (int k = 1; k <= 3; k++)
                sum += 0.5f / k * (in[(z - k) * slice + i] + in[(z + k) * slice + i]);
            want[z * slice + i] = sum;
        }
    float *d_in = to_device(in), *d_out = to_device(grid_t(in.size()));
    column_stencil<3><<<dim3(2, 3), dim3(32, 8)>>>(d_in, d_out, size);
    compare("columns", want, d_out);
    return verdict();
}
