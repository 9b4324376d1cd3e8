// Brightness of an image of four channels. 1: lanes run down the columns. 2: a vertical blur reads the
// row above the first, of another allocation or none.
#include "pair.h"
enum { WIDTH = 256, HEIGHT = 128 };

__global__ void brightness(const uchar4 *in, float *out)
{
    const int lane = blockIdx.x * 32 + threadIdx.x, other = blockIdx.y * 4 + threadIdx.y;
    const int x = DEFECT == 1 ? other : lane, y = DEFECT == 1 ? lane : other;
    const uchar4 pixel = in[y * WIDTH + x]; // @1 strided access|scattered access
    float light = 0.3f * pixel.x + 0.6f * pixel.y + 0.1f * pixel.z;
    if (DEFECT == 2 || y + 1 < HEIGHT) {
        const uchar4 below = in[(y + 1) * WIDTH + x]; // @2 access outside allocations
        light = 0.5f * light + 0.15f * below.x + 0.3f * below.y + 0.05f * below.z;
    }
    out[y * WIDTH + x] = light;
}

int main()
{
    uchar4 *in = device_array<uchar4>(WIDTH * HEIGHT, [](size_t i) {
        return make_uchar4((unsigned char)i, (unsigned char)(i / 3), 7, 255);
    });
    float *out = device_zeros<float>(WIDTH * HEIGHT);
    const dim3 grid = DEFECT == 1 ? dim3(HEIGHT / 32, WIDTH / 4) : dim3(WIDTH / 32, HEIGHT / 4);
    brightness<<<grid, dim3(32, 4)>>>(in, out);
    CHECK(cudaDeviceSynchronize());
}
