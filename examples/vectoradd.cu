// c = a + b, one element a thread. Nothing is communicated between thread blocks: a and b come from
// the host, c goes back to it. Volumes: 8n bytes loaded, 4n stored.
// vectoradd [ELEMENTS = 50000]
#include "common.h"
#include <vector>

__global__ void add(const float *a, const float *b, float *c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

int main(int argc, char **argv)
{
    const int n = argument(argc, argv, 1, 50000);
    std::vector<float> a(n), b(n), c(n);
    Random random;
    for (int i = 0; i < n; i++) a[i] = random.unit(), b[i] = random.unit();

    float *d_a = device_copy(a.data(), n), *d_b = device_copy(b.data(), n), *d_c;
    CHECK(cudaMalloc(&d_c, n * sizeof(float)));
    add<<<(n + 255) / 256, 256>>>(d_a, d_b, d_c, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c.data(), d_c, n * sizeof(float), cudaMemcpyDeviceToHost));

    bool right = true;
    for (int i = 0; i < n; i++) right &= c[i] == a[i] + b[i];
    CHECK(cudaFree(d_a));
    CHECK(cudaFree(d_b));
    CHECK(cudaFree(d_c));
    return verdict("vectoradd", right);
}
