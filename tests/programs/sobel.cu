/* Edge detection in the way of older suites: texture references bound to an array, to pitched and
 * to linear memory, and bytes as normalized floats. */
#include <cuda_runtime.h>
#include <cstdlib>
#include "helper.h"

typedef unsigned char Pixel;
enum { W = 80, H = 50 };

texture<Pixel, 2, cudaReadModeElementType> tex;
texture<Pixel, 2, cudaReadModeNormalizedFloat> texFloat;
texture<int, 1, cudaReadModeElementType> tex1;
static texture<float4, 1> texQuads;

__device__ Pixel compute(Pixel ul, Pixel um, Pixel ur, Pixel ml, Pixel mr, Pixel ll, Pixel lm,
                         Pixel lr, float scale)
{
    const short horizontal = ur + 2 * mr + lr - ul - 2 * ml - ll;
    const short vertical = ul + 2 * um + ur - ll - 2 * lm - lr;
    const short sum = (short)(scale * (abs((int)horizontal) + abs((int)vertical)));
    return sum < 0 ? 0 : sum > 255 ? 255 : (Pixel)sum;
}

__global__ void sobel_texture(Pixel *out, unsigned pitch, int w, int h, float scale)
{
    Pixel *const row = out + blockIdx.x * pitch;
    for (int i = threadIdx.x; i < w; i += blockDim.x) {
        Pixel around[8];
        for (int k = 0, n = 0; k < 9; k++)
            if (k != 4)
                around[n++] =
                    tex2D(tex, (float)(i + k % 3 - 1), (float)((int)blockIdx.x + k / 3 - 1));
        row[i] = compute(around[0], around[1], around[2], around[3], around[4], around[5],
                         around[6], around[7], scale);
    }
}

__global__ void brightness(float *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x < W) out[y * W + x] = tex2D(texFloat, x + 0.5f, y + 0.5f);
}

__global__ void linear(int *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float4 quad = tex1Dfetch(texQuads, i / 4);
        out[i] = tex1Dfetch(tex1, n - 1 - i) + (int)(i % 2 ? quad.y : quad.w);
    }
}

static int clamp(int i, int n)
{
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

int main(int argc, char *argv[])
{
    static Pixel in[H][W], got[H][W];
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) in[y][x] = (Pixel)((x * x / 7 + y * 13) & 255);
    cudaArray *array;
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<unsigned char>();
    checkCudaErrors(cudaMallocArray(&array, &desc, W, H));
    checkCudaErrors(cudaMemcpyToArray(array, 0, 0, in, sizeof in, cudaMemcpyHostToDevice));
    Pixel *out;
    checkCudaErrors(cudaMalloc((void **)&out, sizeof in));

    checkCudaErrors(cudaBindTextureToArray(tex, array));
    sobel_texture<<<H, 32>>>(out, W, W, H, 0.5f);
    checkCudaErrors(cudaUnbindTexture(tex));
    checkCudaErrors(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            auto p = [&](int dx, int dy) { return (int)in[clamp(y + dy, H)][clamp(x + dx, W)]; };
            const int gx = p(1, -1) + 2 * p(1, 0) + p(1, 1) - p(-1, -1) - 2 * p(-1, 0) - p(-1, 1);
            const int gy = p(-1, -1) + 2 * p(0, -1) + p(1, -1) - p(-1, 1) - 2 * p(0, 1) - p(1, 1);
            const int want = clamp((int)(0.5f * (abs(gx) + abs(gy))), 256);
            EXPECT(got[y][x] == want, "(%d, %d): %d, not %d", x, y, got[y][x], want);
        }

    Pixel *pitched;
    size_t pitch;
    float *floats;
    static float floats_got[H * W];
    checkCudaErrors(cudaMallocPitch((void **)&pitched, &pitch, W, H));
    checkCudaErrors(cudaMemcpy2D(pitched, pitch, in, W, W, H, cudaMemcpyHostToDevice));
    checkCudaErrors(cudaMalloc((void **)&floats, sizeof floats_got));
    texFloat.addressMode[0] = cudaAddressModeClamp;
    texFloat.addressMode[1] = cudaAddressModeClamp;
    texFloat.filterMode = cudaFilterModeLinear;
    texFloat.normalized = false;
    checkCudaErrors(cudaBindTexture2D(NULL, texFloat, pitched, desc, W, H, pitch));
    brightness<<<dim3(3, H), 32>>>(floats);
    checkCudaErrors(cudaMemcpy(floats_got, floats, sizeof floats_got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < W * H; i++)
        EXPECT(close_to(floats_got[i], in[0][i] / 255.0f, 1e-6), "%d: %g", i, floats_got[i]);

    const int n = 1000;
    static int ints[n];
    for (int i = 0; i < n; i++) ints[i] = 3 * i;
    int *d_ints, *d_out;
    checkCudaErrors(cudaMalloc((void **)&d_ints, sizeof ints));
    checkCudaErrors(cudaMalloc((void **)&d_out, sizeof ints));
    checkCudaErrors(cudaMemcpy(d_ints, ints, sizeof ints, cudaMemcpyHostToDevice));
    size_t offset = 99;
    checkCudaErrors(cudaBindTexture(&offset, tex1, d_ints, sizeof ints));
    checkCudaErrors(cudaBindTexture(0, texQuads, floats, sizeof floats_got));
    linear<<<(n + 127) / 128, 128>>>(d_out, n);
    checkCudaErrors(cudaMemcpy(ints, d_out, sizeof ints, cudaMemcpyDeviceToHost));
    EXPECT(offset == 0, "%zu", offset);
    for (int i = 0; i < n; i++) {
        const int want = 3 * (n - 1 - i) + (int)floats_got[i / 4 * 4 + (i % 2 ? 1 : 3)];
        EXPECT(ints[i] == want, "%d: %d", i, ints[i]);
    }
    cudaFreeArray(array);
    return verdict();
}
