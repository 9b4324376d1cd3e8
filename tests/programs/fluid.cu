/* A finite-volume solver in the style of cfd: structures of arrays in one allocation, float3 in
 * __constant__ memory, neighbours by index, a min-reduction for the time step, and the host's
 * OpenMP threads computing the same. */
// options: -std=c++14 -Xcompiler -fopenmp,-Wall -lgomp -DBLOCKS=192
#include "helper.h"
#include <cstdint>
#include <iostream>
#include <omp.h>
#include <vector>

#define GAMMA        1.4f
#define NDIM         3
#define NNB          4
#define VAR_DENSITY  0
#define VAR_MOMENTUM 1
#define VAR_ENERGY   (VAR_MOMENTUM + NDIM)
#define NVAR         (VAR_ENERGY + 1)

struct flux_type {
    float3 x, y, z;
};
__constant__ float ff_variable[NVAR];
__constant__ flux_type ff_flux[1];

__host__ __device__ inline float speed2(const float3 &v)
{
    return v.x * v.x + v.y * v.y + v.z * v.z;
}
__host__ __device__ inline float pressure_of(float density, float energy, float v2)
{
    return (GAMMA - 1.0f) * (energy - 0.5f * density * v2);
}
inline __host__ __device__ float3 operator*(const float3 &a, float b)
{
    return make_float3(a.x * b, a.y * b, a.z * b);
}

__host__ __device__ inline void flux(int i, int n, const int *neighbours, const float *normals,
                                     const float *v, float *out, const float *far,
                                     const flux_type &far_flux)
{
    const float density = v[i + VAR_DENSITY * n];
    const float3 momentum = {v[i + 1 * n], v[i + 2 * n], v[i + 3 * n]};
    const float energy = v[i + VAR_ENERGY * n];
    const float3 velocity = momentum * (1 / density);
    const float pressure = pressure_of(density, energy, speed2(velocity));
    float sum[NVAR] = {};
    for (int j = 0; j < NNB; j++) {
        const int nb = neighbours[i + j * n];
        const float3 normal = {normals[i + (j + 0 * NNB) * n], normals[i + (j + 1 * NNB) * n],
                               normals[i + (j + 2 * NNB) * n]};
        const float length = sqrtf(speed2(normal));
        if (nb >= 0) {
            const float factor = -length * 0.2f * 0.5f * (1 + sqrtf(GAMMA * pressure / density));
            for (int k = 0; k < NVAR; k++) sum[k] += factor * (v[i + k * n] - v[nb + k * n]);
        } else if (nb == -1) {
            sum[1] += normal.x * pressure;
            sum[2] += normal.y * pressure;
            sum[3] += normal.z * pressure;
        } else {
            const float factor = 0.5f * normal.x;
            sum[VAR_DENSITY] += factor * (far[VAR_MOMENTUM] + momentum.x);
            sum[1] += factor * (far_flux.x.x + velocity.x * momentum.x + pressure);
            sum[2] += factor * (far_flux.y.x + velocity.y * momentum.x);
            sum[3] += factor * (far_flux.z.x + velocity.z * momentum.x);
        }
    }
    for (int k = 0; k < NVAR; k++) out[i + k * n] = sum[k];
}

__global__ void cuda_compute_flux(int n, int *neighbours, float *normals, float *variables,
                                  float *fluxes)
{
    const int i = (blockDim.x * blockIdx.x + threadIdx.x);
    flux(i, n, neighbours, normals, variables, fluxes, ff_variable, ff_flux[0]);
}

__global__ void time_step(int n, float *variables, const float *fluxes, float factor)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    for (int k = 0; k < NVAR; k++) variables[i + k * n] += factor * fluxes[i + k * n];
}

template <int THREADS> __global__ void least(const float *in, float *out, int n)
{
    __shared__ volatile float s[THREADS];
    const int tid = threadIdx.x;
    float value = INFINITY;
    for (int i = blockIdx.x * THREADS + tid; i < n; i += gridDim.x * THREADS)
        value = fminf(value, in[i]);
    s[tid] = value;
    __syncthreads();
    for (int step = THREADS / 2; step > 32; step >>= 1) {
        if (tid < step) s[tid] = min(s[tid], s[tid + step]);
        __syncthreads();
    }
    if (tid < 32) { /* a warp goes in step, as older programs believe */
        s[tid] = fminf(s[tid], s[tid + 32]);
        s[tid] = fminf(s[tid], s[tid + 16]);
        s[tid] = fminf(s[tid], s[tid + 8]);
        s[tid] = fminf(s[tid], s[tid + 4]);
        s[tid] = fminf(s[tid], s[tid + 2]);
        s[tid] = fminf(s[tid], s[tid + 1]);
    }
    if (tid == 0) out[blockIdx.x] = s[0];
}

int main()
{
    const int n = BLOCKS * 8;
    std::vector<int> neighbours(n * NNB);
    std::vector<float> normals(n * NNB * NDIM), v(n * NVAR), flux_want(n * NVAR);
    for (int i = 0; i < n * NNB; i++) {
        const int element = i % n, hop[] = {-1, 1, -40, 40}, to = element + hop[i / n];
        neighbours[i] = to < 0 ? -1 : to >= n ? -2 : to;
    }
    for (size_t i = 0; i < normals.size(); i++) normals[i] = 0.01f * (float)((i * 31) % 17) - 0.08f;
    for (int i = 0; i < n; i++) {
        v[i] = 1.4f + 0.01f * (i % 9);
        for (int k = 1; k < 4; k++) v[i + k * n] = 0.1f * k + 0.01f * (i % 5);
        v[i + VAR_ENERGY * n] = 3.0f + 0.02f * (i % 11);
    }
    const float far[NVAR] = {1.4f, 1.2f, 0, 0, 3.1f};
    const flux_type far_flux = {{1.5f, 0.1f, 0.2f}, {0.3f, 1, 0}, {0.4f, 0, 1}};
    checkCudaErrors(cudaMemcpyToSymbol(ff_variable, far, NVAR * sizeof(float)));
    checkCudaErrors(cudaMemcpyToSymbol(ff_flux, &far_flux, sizeof far_flux));

    /* all arrays in one piece of memory */
    char *arena;
    const size_t bytes = (neighbours.size() + normals.size() + 2 * v.size()) * 4;
    checkCudaErrors(cudaMalloc(&arena, bytes + 256));
    int *d_nb = (int *)arena;
    float *d_normals = (float *)(d_nb + neighbours.size()), *d_v = d_normals + normals.size(),
          *d_flux = d_v + v.size(), *d_least = d_flux + v.size();
    checkCudaErrors(
        cudaMemcpy(d_nb, neighbours.data(), neighbours.size() * 4, cudaMemcpyHostToDevice));
    checkCudaErrors(
        cudaMemcpy(d_normals, normals.data(), normals.size() * 4, cudaMemcpyHostToDevice));
    checkCudaErrors(cudaMemcpy(d_v, v.data(), v.size() * 4, cudaMemcpyHostToDevice));
    for (int step = 0; step < 3; step++) {
        cuda_compute_flux<<<n / 192, 192>>>(n, d_nb, d_normals, d_v, d_flux);
        time_step<<<n / 192, 192>>>(n, d_v, d_flux, 0.1f);
        getLastCudaError("time_step");
#pragma omp parallel for schedule(static)
        for (int i = 0; i < n; i++)
            flux(i, n, &neighbours[0], &normals[0], &v[0], &flux_want[0], far, far_flux);
        for (int i = 0; i < n * NVAR; i++) v[i] += 0.1f * flux_want[i];
    }
    std::vector<float> got(v.size());
    checkCudaErrors(cudaMemcpy(&got[0], d_v, v.size() * 4, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n * NVAR; i++)
        EXPECT(close_to(got[i], v[i], 1e-4), "%d: %g, not %g", i, got[i], v[i]);

    least<128><<<4, 128>>>(d_v, d_least, n * NVAR);
    least<128><<<1, 128>>>(d_least, d_least, 4);
    float smallest, want = INFINITY;
    checkCudaErrors(cudaMemcpy(&smallest, d_least, 4, cudaMemcpyDeviceToHost));
    for (float value : got) want = std::min(want, value);
    EXPECT(smallest == want, "%g, not %g", smallest, want);
    int threads = 0;
#pragma omp parallel num_threads(3) reduction(+ : threads)
    threads += omp_in_parallel();
    EXPECT(threads == 3, "%d threads", threads);
    std::cout << "smallest " << smallest << std::endl;
    return verdict();
}
