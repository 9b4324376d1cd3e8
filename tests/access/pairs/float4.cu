// y = a x + y, four floats at a time. 1: each thread takes four vectors that lie side by side. 2: the
// vectors begin 16 bytes into the allocation.
#include "pair.h"
enum { N = 8192, BLOCK = 128, EACH = 4 };

__global__ void axpy(float a, const float4 *x, float4 *y)
{
    const int t = blockIdx.x * BLOCK + threadIdx.x, threads = N / EACH;
    for (int k = 0; k < EACH; k++) {
        const int i = DEFECT == 1 ? t * EACH + k : t + k * threads;
        const float4 p = x[i]; // @1 strided access|blocked arrangement // @2 misaligned access
        float4 q = y[i];
        q.x += a * p.x, q.y += a * p.y, q.z += a * p.z, q.w += a * p.w;
        y[i] = q;
    }
}

int main()
{
    const int shift = DEFECT == 2;
    float4 *x = device_array<float4>(N + 1, [](size_t i) { return make_float4(i, 1, 2, 3); });
    float4 *y = device_zeros<float4>(N);
    axpy<<<N / EACH / BLOCK, BLOCK>>>(2, x + shift, y);
    CHECK(cudaDeviceSynchronize());
}
