// A wave equation on a grid with rows padded to 64 elements. 1: rows of 61 elements. 2: the rim is
// not left out.
#include "../pairs/pair.h"
enum { NX = 61, NY = 64, PITCH = DEFECT == 1 ? 61 : 64 };

__global__ void step(const float *u, const float *v, float *w)
{
    const int x = threadIdx.x, y = blockIdx.x * 4 + threadIdx.y;
#if DEFECT == 2
    if (x >= NX) return;
#else
    if (x < 1 || x >= NX - 1 || y < 1 || y >= NY - 1) return;
#endif
    const int i = y * PITCH + x;
    const float x2 = u[i - 1] + u[i + 1];         // @0 misaligned access // @1 misaligned access
    const float y2 = u[i - PITCH] + u[i + PITCH]; // @2 access outside allocations | fault
    w[i] = 2 * u[i] - v[i] + 0.1f * (x2 + y2 - 4 * u[i]); // @1 misaligned access
}

int main()
{
    float *u = device_zeros<float>(PITCH * NY), *v = device_zeros<float>(PITCH * NY),
          *w = device_zeros<float>(PITCH * NY);
    step<<<NY / 4, dim3(64, 4)>>>(u, v, w);
    CHECK(cudaDeviceSynchronize());
}
