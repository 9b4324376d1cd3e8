// Cells with six values each, as arrays. 1: as an array of structs. 2: the values of a cell lie far
// apart and lanes take whole cells.
#include "../pairs/pair.h"
enum { N = 8192 };
struct Cell {
    float rho, u, v, w, e, p;
};

__global__ void update(float *rho, const float *u, float *p)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    rho[i] += u[i];
    p[i] = rho[i] * 0.4f;
}

__global__ void update_structs(Cell *cells)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    cells[i].rho += cells[i].u; // @1 array of structs
    cells[i].p = cells[i].rho * 0.4f;
}

__global__ void update_columns(float *all)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 64; k++) all[i * 64 + k] += 1; // @2 strided access | blocked arrangement
}

int main()
{
#if DEFECT == 1
    update_structs<<<N / 128, 128>>>(device_zeros<Cell>(N));
#elif DEFECT == 2
    update_columns<<<N / 128, 128>>>(device_zeros<float>(N * 64));
#else
    update<<<N / 128, 128>>>(device_zeros<float>(N), device_zeros<float>(N),
                             device_zeros<float>(N));
#endif
    CHECK(cudaDeviceSynchronize());
}
