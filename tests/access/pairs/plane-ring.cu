// A stencil in three dimensions that keeps planes in a ring of shared memory and marches through z.
// 1: the ring has a plane less than one barrier a step needs. 2: x and z are swapped in the volume.
#include "pair.h"
enum { NX = 32, NY = 8, NZ = 24, TILES = 8, RING = DEFECT == 1 ? 3 : 4 };

__device__ size_t at(int x, int y, int z)
{
    const int rows = NY * TILES;
    return DEFECT == 2 ? ((size_t)x * rows + y) * NZ + z : ((size_t)z * rows + y) * NX + x;
}

__global__ void smooth(const float *in, float *out)
{
    __shared__ float ring[RING][NY][NX];
    const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.x * NY + y;
    const int left = x ? x - 1 : 0, up = y ? y - 1 : 0;
    ring[0][y][x] = in[at(x, row, 0)]; // @2 strided access
    ring[1][y][x] = in[at(x, row, 1)]; // @2 strided access
    for (int z = 1; z < NZ - 1; z++) {
        ring[(z + 1) % RING][y][x] = in[at(x, row, z + 1)]; // @1 possible race // @2 strided access
        __syncthreads();
        const float sum = ring[(z - 1) % RING][up][left] + ring[z % RING][y][left] + // @1 possible race
                          ring[z % RING][up][x] + ring[(z + 1) % RING][up][left];     // @1 possible race
        out[at(x, row, z)] = sum * 0.25f; // @2 strided access
    }
}

int main()
{
    const size_t count = (size_t)NX * NY * NZ * TILES;
    float *const in = device_array<float>(count, [](size_t i) { return float(i % 11); });
    float *const out = device_zeros<float>(count);
    smooth<<<TILES, dim3(NX, NY)>>>(in, out);
    CHECK(cudaDeviceSynchronize());
}
