// Gravity of tiles of bodies in shared memory. 1: no barrier after the tile was used. 2: the bodies
// of another array are read in the inner loop by every thread.
#include "../pairs/pair.h"
enum { N = 512, B = 128 };

__global__ void pull(const float4 *body, float3 *force)
{
    __shared__ float4 tile[B];
    const int i = blockIdx.x * B + threadIdx.x;
    const float4 me = body[i];
    float3 f = {0, 0, 0};
    for (int first = 0; first < N; first += B) {
        tile[threadIdx.x] = body[first + threadIdx.x]; // @1 possible race
        __syncthreads();
        for (int k = 0; k < B; k++) {
#if DEFECT == 2
            const float4 other = body[(first + k) % 16]; // @2 repeated loads
#else
            const float4 other = tile[k];
#endif
            const float x = other.x - me.x, y = other.y - me.y, z = other.z - me.z;
            const float d = other.w / (x * x + y * y + z * z + 1e-3f);
            f.x += d * x;
            f.y += d * y;
            f.z += d * z;
        }
#if DEFECT != 1
        __syncthreads();
#endif
    }
    force[i] = f; // @0 array of structs | blocked arrangement | strided access
}

int main()
{
    float4 *body = device_zeros<float4>(N);
    float3 *force = device_zeros<float3>(N);
    pull<<<N / B, B>>>(body, force);
    CHECK(cudaDeviceSynchronize());
}
