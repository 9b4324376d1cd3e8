// An image with rows of 1,000 bytes in pitched memory; a vertical blur.
// 1: the second kernel takes the rows for packed ones. 2: it reads a row past the last one.
#include "pair.h"
enum { WIDTH = 250, HEIGHT = 200 };

__global__ void draw(char *image, size_t pitch)
{
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x < WIDTH && y < HEIGHT) ((float *)(image + y * pitch))[x] = (float)(x ^ y);
}

__global__ void blur(const char *image, size_t pitch, float *out, size_t out_pitch)
{
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    const size_t step = DEFECT == 1 ? WIDTH * sizeof(float) : pitch;
    if (x >= WIDTH || y >= HEIGHT) return;
    const int below = y + (DEFECT == 2 || y + 1 < HEIGHT);
    const float a = ((const float *)(image + y * step))[x];     // @1 uninitialised read|misaligned access
    const float b = ((const float *)(image + below * step))[x]; // @2 access outside allocations|fault
    ((float *)((char *)out + y * out_pitch))[x] = (a + b) / 2;
}

int main()
{
    char *image;
    float *out;
    size_t pitch, out_pitch;
    CHECK(cudaMallocPitch(&image, &pitch, WIDTH * sizeof(float), HEIGHT));
    CHECK(cudaMallocPitch(&out, &out_pitch, WIDTH * sizeof(float), HEIGHT));
    const dim3 block(32, 8), grid((WIDTH + 31) / 32, HEIGHT / 8);
    draw<<<grid, block>>>(image, pitch);
    blur<<<grid, block>>>(image, pitch, out, out_pitch);
    cudaDeviceSynchronize();
}
