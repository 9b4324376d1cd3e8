#include "particles.cuh"
#include <math.h>

__device__ int advance_count;
__constant__ float step_sizes[4] = {0.5f, 0.25f, 0.125f, 0};

__host__ __device__ float v3::length() const
{
    return sqrtf(x * x + y * y + z * z);
}

__host__ __device__ void v3::scramble()
{
    const float t = x;
    x = y + 1;
    y = z + 2;
    z = t;
}

__host__ __device__ void particle::advance(float distance)
{
    const float l = velocity.length();
    const v3 unit(velocity.x / l, velocity.y / l, velocity.z / l);
    position.x += distance * unit.x;
    position.y += distance * unit.y;
    position.z += distance * unit.z;
    velocity.scramble();
#ifdef __CUDA_ARCH__
    atomicAdd(&advance_count, 1);
#endif
}

__device__ int external_function(int i, int (*f)(int))
{
    return i > 0 ? f(i) + external_function(i - 1, f) : 0;
}
