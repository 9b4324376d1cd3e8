#include <iostream>
#include <fstream>
#include <cmath>
#include <vector>
#include <cstdlib>
#if CUDART_VERSION < 3000
struct double3 {
    double x, y, z;
};
#endif
#define GAMMA               1.4f
#define NDIM                3
#define NNB                 4
#define RK                  3
#define ff_mach             1.2f
#define deg_angle_of_attack 0.0f
#define VAR_DENSITY         0
#define VAR_MOMENTUM        1
#define VAR_DENSITY_ENERGY  (VAR_MOMENTUM + NDIM)
#define NVAR                (VAR_DENSITY_ENERGY + 1)
template <typename T> T *alloc(int N)
{
    T *t;
    if (cudaMalloc((void **)&t, sizeof(T) * N) != cudaSuccess) {
        std::cerr << "alloc failed\n";
        exit(1);
    }
    return t;
}
template <typename T> void upload(T *dst, const T *src, int N)
{
    cudaMemcpy((void *)dst, (void *)src, N * sizeof(T), cudaMemcpyHostToDevice);
}
template <typename T> void download(T *dst, T *src, int N)
{
    cudaMemcpy((void *)dst, (void *)src, N * sizeof(T), cudaMemcpyDeviceToHost);
}
__constant__ float ff_variable[NVAR];
__constant__ float3 ff_flux_contribution_momentum_x[1];
__host__ __device__ inline void compute_velocity(float &density, float3 &momentum, float3 &velocity)
{
    velocity.x = momentum.x / density;
    velocity.y = momentum.y / density;
    velocity.z = momentum.z / density;
}
__host__ __device__ inline float compute_speed_sqd(float3 &v)
{
    return v.x * v.x + v.y * v.y + v.z * v.z;
}
__host__ __device__ inline float compute_pressure(float &density, float &density_energy,
                                                  float &speed_sqd)
{
    return (float(GAMMA) - float(1.0f)) * (density_energy - float(0.5f) * density * speed_sqd);
}
__host__ __device__ inline float compute_speed_of_sound(float &density, float &pressure)
{
    return sqrtf(float(GAMMA) * pressure / density);
}
__global__ void cuda_initialize_variables(int nelr, float *variables)
{
    const int i = (blockDim.x * blockIdx.x + threadIdx.x);
    for (int j = 0; j < NVAR; j++) variables[i + j * nelr] = ff_variable[j];
}
__global__ void cuda_compute_step_factor(int nelr, float *variables, float *areas,
                                         float *step_factors)
{
    const int i = (blockDim.x * blockIdx.x + threadIdx.x);
    float density = variables[i + VAR_DENSITY * nelr];
    float3 momentum;
    momentum.x = variables[i + (VAR_MOMENTUM + 0) * nelr];
    momentum.y = variables[i + (VAR_MOMENTUM + 1) * nelr];
    momentum.z = variables[i + (VAR_MOMENTUM + 2) * nelr];
    float density_energy = variables[i + VAR_DENSITY_ENERGY * nelr];
    float3 velocity;
    compute_velocity(density, momentum, velocity);
    float speed_sqd = compute_speed_sqd(velocity);
    float pressure = compute_pressure(density, density_energy, speed_sqd);
    float speed_of_sound = compute_speed_of_sound(density, pressure);
    step_factors[i] = float(0.5f) / (sqrtf(areas[i]) * (sqrtf(speed_sqd) + speed_of_sound));
}
__global__ void cuda_compute_flux(int nelr, int *nb_elems, float *normals, float *variables,
                                  float *fluxes)
{
    const int i = (blockDim.x * blockIdx.x + threadIdx.x);
    float flux[NVAR] = {0, 0, 0, 0, 0};
#pragma unroll
    for (int j = 0; j < NNB; j++) {
        int nb = nb_elems[i + j * nelr];
        float n = normals[i + j * nelr];
        if (nb >= 0) {
            for (int v = 0; v < NVAR; v++)
                flux[v] += n * (variables[nb + v * nelr] - variables[i + v * nelr]);
        } else if (nb == -1)
            flux[VAR_DENSITY] += n * 0.01f;
        else if (nb == -2) {
            flux[VAR_MOMENTUM] +=
                n * ff_variable[VAR_MOMENTUM] * ff_flux_contribution_momentum_x[0].y;
        }
    }
    for (int v = 0; v < NVAR; v++) fluxes[i + v * nelr] = flux[v];
}
__global__ void cuda_time_step(int j, int nelr, float *old_variables, float *variables,
                               float *step_factors, float *fluxes)
{
    const int i = (blockDim.x * blockIdx.x + threadIdx.x);
    float factor = step_factors[i] / float(RK + 1 - j);
    for (int v = 0; v < NVAR; v++)
        variables[i + v * nelr] = old_variables[i + v * nelr] + factor * fluxes[i + v * nelr];
}
int main(int argc, char **argv)
{
    const int nelr = block_length * 5;
    int dev;
    cudaGetDevice(&dev);
    cudaDeviceProp prop;
    cudaGetDeviceProperties(&prop, dev);
    std::cout << "Name: " << prop.name << std::endl;
    float h_ff[NVAR];
    h_ff[VAR_DENSITY] = 1.4f;
    float p = 1, c = sqrt(GAMMA * p / h_ff[0]), speed = ff_mach * c;
    h_ff[1] = h_ff[0] * speed;
    h_ff[2] = 0;
    h_ff[3] = 0;
    h_ff[4] = h_ff[0] * (0.5f * (speed * speed)) + p / (GAMMA - 1.0f);
    float3 fc = {1, 2, 3};
    cudaMemcpyToSymbol(ff_variable, h_ff, NVAR * sizeof(float));
    cudaMemcpyToSymbol(ff_flux_contribution_momentum_x, &fc, sizeof(float3));
    std::vector<float> areas(nelr), normals(nelr * NNB);
    std::vector<int> nb(nelr * NNB);
    for (int i = 0; i < nelr; i++) {
        areas[i] = 1 + i % 7;
        for (int j = 0; j < NNB; j++) {
            normals[i + j * nelr] = 0.1f * ((i + j) % 5);
            int o = i + (j < 2 ? (j ? 1 : -1) : (j == 2 ? 32 : -32));
            nb[i + j * nelr] = o < 0 ? -1 : o >= nelr ? -2 : o;
        }
    }
    float *v = alloc<float>(nelr * NVAR), *old = alloc<float>(nelr * NVAR),
          *fl = alloc<float>(nelr * NVAR), *sf = alloc<float>(nelr), *ar = alloc<float>(nelr),
          *nm = alloc<float>(nelr * NNB);
    int *nbd = alloc<int>(nelr * NNB);
    upload(ar, &areas[0], nelr);
    upload(nm, &normals[0], nelr * NNB);
    upload(nbd, &nb[0], nelr * NNB);
    dim3 Dg(nelr / block_length), Db(block_length);
    cuda_initialize_variables<<<Dg, Db>>>(nelr, v);
    for (int i = 0; i < 4; i++) {
        cudaMemcpy(old, v, nelr * NVAR * 4, cudaMemcpyDeviceToDevice);
        cuda_compute_step_factor<<<Dg, Db>>>(nelr, v, ar, sf);
        for (int j = 0; j < RK; j++) {
            cuda_compute_flux<<<Dg, Db>>>(nelr, nbd, nm, v, fl);
            cuda_time_step<<<Dg, Db>>>(j, nelr, old, v, sf, fl);
        }
    }
    std::vector<float> got(nelr * NVAR), hv(nelr * NVAR), ho, hf(nelr * NVAR), hs(nelr);
    download(&got[0], v, nelr * NVAR);
    for (int k = 0; k < NVAR; k++)
        for (int i = 0; i < nelr; i++) hv[i + k * nelr] = h_ff[k];
    for (int it = 0; it < 4; it++) {
        ho = hv;
        for (int i = 0; i < nelr; i++) {
            float d = hv[i], e = hv[i + 4 * nelr];
            float3 m = {hv[i + nelr], hv[i + 2 * nelr], hv[i + 3 * nelr]}, vel;
            compute_velocity(d, m, vel);
            float q = compute_speed_sqd(vel), pr = compute_pressure(d, e, q);
            hs[i] = 0.5f / (sqrtf(areas[i]) * (sqrtf(q) + compute_speed_of_sound(d, pr)));
        }
        for (int j = 0; j < RK; j++) {
            for (int i = 0; i < nelr; i++) {
                float flux[NVAR] = {};
                for (int k = 0; k < NNB; k++) {
                    int o = nb[i + k * nelr];
                    float n = normals[i + k * nelr];
                    if (o >= 0)
                        for (int w = 0; w < NVAR; w++)
                            flux[w] += n * (hv[o + w * nelr] - hv[i + w * nelr]);
                    else if (o == -1)
                        flux[0] += n * 0.01f;
                    else
                        flux[1] += n * h_ff[1] * fc.y;
                }
                for (int w = 0; w < NVAR; w++) hf[i + w * nelr] = flux[w];
            }
            for (int i = 0; i < nelr; i++)
                for (int w = 0; w < NVAR; w++)
                    hv[i + w * nelr] =
                        ho[i + w * nelr] + hs[i] / float(RK + 1 - j) * hf[i + w * nelr];
        }
    }
    int bad = 0;
    for (size_t i = 0; i < hv.size(); i++) bad += std::fabs(hv[i] - got[i]) > 1e-3f;
    std::cout << "bad " << bad << std::endl;
    return bad != 0;
}
