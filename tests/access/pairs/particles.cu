// Particles as a struct of arrays. 1: as an array of structs. 2: the velocities are freed before the
// second step.
#include "pair.h"
enum { N = 8192, BLOCK = 128 };

struct Particle {
    float x, y, z, mass, vx, vy, vz, charge;
};

__global__ void drift(float *x, const float *v, float dt)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    x[i] += v[i] * dt; // @2 access outside allocations|fault
}

__global__ void drift_structs(Particle *p, float dt)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    p[i].x += p[i].vx * dt; // @1 array of structs
}

int main()
{
#if DEFECT == 1
    Particle *p = device_zeros<Particle>(N);
    for (int step = 0; step < 2; step++) drift_structs<<<N / BLOCK, BLOCK>>>(p, 0.1f);
#else
    float *x = device_zeros<float>(N), *v = device_zeros<float>(N);
    drift<<<N / BLOCK, BLOCK>>>(x, v, 0.1f);
    if (DEFECT == 2) CHECK(cudaFree(v));
    drift<<<N / BLOCK, BLOCK>>>(x, v, 0.1f);
#endif
    CHECK(cudaDeviceSynchronize());
}
