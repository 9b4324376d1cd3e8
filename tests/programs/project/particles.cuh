/* What the units of the project share. */
#ifndef PARTICLES_CUH
#define PARTICLES_CUH
#include <cuda_runtime.h>

class v3
{
  public:
    float x, y, z;
    __host__ __device__ v3() : x(0), y(0), z(0) {}
    __host__ __device__ v3(float x, float y, float z) : x(x), y(y), z(z) {}
    __host__ __device__ float length() const;
    __host__ __device__ void scramble();
};

struct particle {
    v3 position, velocity;
    __host__ __device__ void advance(float distance);
};

extern __device__ int advance_count;                    /* v3.cu */
extern __constant__ float step_sizes[4];                /* v3.cu */
__device__ int external_function(int i, int (*f)(int)); /* v3.cu */

#ifdef __cplusplus
extern "C" {
#endif
int host_sum(const int *values, int n); /* sums.c */
#ifdef __cplusplus
}
#endif
namespace host
{
double mean(const float *values, int n); /* host.cpp */
}
#endif
