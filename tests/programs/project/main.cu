#include "particles.cuh"
#include "helper.h"
#include <vector>
#ifndef STEPS
#error "STEPS comes from the command line"
#endif

__global__ void advance_all(float dt, particle *particles, int n)
{
    const int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n) particles[i].advance(dt + step_sizes[i % 4]);
}

__device__ int square(int i)
{
    return i * i;
}

__global__ void sums(int *out)
{
    out[threadIdx.x] = external_function(threadIdx.x, square);
}

int main()
{
    const int n = 300;
    std::vector<particle> particles(n), got(n);
    for (int i = 0; i < n; i++) {
        particles[i].position = v3(i, 2 * i, 3 * i);
        particles[i].velocity = v3(1 + i % 3, 1 + i % 5, 1 + i % 7);
    }
    particle *d;
    checkCudaErrors(cudaMalloc(&d, n * sizeof(particle)));
    checkCudaErrors(cudaMemcpy(d, &particles[0], n * sizeof(particle), cudaMemcpyHostToDevice));
    const float sizes[] = {0.5f, 0.25f, 0.125f, 0.0625f};
    checkCudaErrors(cudaMemcpyToSymbol(step_sizes, sizes, sizeof sizes));
    for (int i = 0; i < STEPS; i++) {
        advance_all<<<(n + 127) / 128, 128>>>(0.5f, d, n);
        for (int k = 0; k < n; k++) particles[k].advance(0.5f + sizes[k % 4]);
    }
    checkCudaErrors(cudaMemcpy(&got[0], d, n * sizeof(particle), cudaMemcpyDeviceToHost));
    std::vector<float> distances;
    for (int i = 0; i < n; i++) {
        const v3 a = got[i].position, b = particles[i].position;
        distances.push_back(v3(a.x - b.x, a.y - b.y, a.z - b.z).length());
    }
    EXPECT(host::mean(&distances[0], n) < 1e-3, "%g", host::mean(&distances[0], n));
    int count, *out, h[64];
    checkCudaErrors(cudaMemcpyFromSymbol(&count, advance_count, sizeof count));
    EXPECT(count == STEPS * n, "%d", count);
    checkCudaErrors(cudaMalloc(&out, sizeof h));
    sums<<<1, 64>>>(out);
    checkCudaErrors(cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost));
    int want = 0;
    for (int i = 0; i < 64; i++) want += i * (i + 1) * (2 * i + 1) / 6;
    EXPECT(host_sum(h, 64) == want, "%d, not %d", host_sum(h, 64), want);
    return verdict();
}
