#include <stdlib.h>
#include "lbm_macros.h"
#define OMEGA           (1.85f)
#define TEST_FLAG(g, f) ((*(unsigned int *)(void *)(&(g))) & (f))
typedef float *LBM_Grid;
__global__ void performStreamCollide_kernel(float *srcGrid, float *dstGrid)
{
    SWEEP_VAR
    SWEEP_X = threadIdx.x;
    SWEEP_Y = blockIdx.x;
    SWEEP_Z = blockIdx.y;
    float tempC, tempE, tempN, tempT, rho;
    tempC = SRC_C(srcGrid);
    tempE = SRC_E(srcGrid);
    tempN = SRC_N(srcGrid);
    tempT = SRC_T(srcGrid);
    rho = +tempC + tempE + tempN + tempT;
    DST(dstGrid, 0) = (1.0f - OMEGA) * tempC + OMEGA * 0.25f * rho;
    DST(dstGrid, 1) = (1.0f - OMEGA) * tempE + OMEGA * 0.25f * rho;
    DST(dstGrid, 2) = (1.0f - OMEGA) * tempN + OMEGA * 0.25f * rho;
    DST(dstGrid, 3) = (1.0f - OMEGA) * tempT + OMEGA * 0.25f * rho;
}
extern "C" void LBM_run(float *grid, int steps)
{
    float *a, *b, *t;
    size_t bytes = TOTAL * N_CELL_ENTRIES * sizeof(float);
    cudaMalloc((void **)&a, bytes);
    cudaMalloc((void **)&b, bytes);
    cudaMemcpy(a, grid, bytes, cudaMemcpyHostToDevice);
    dim3 dimBlock, dimGrid;
    dimBlock.x = SIZE_X;
    dimGrid.x = SIZE_Y;
    dimGrid.y = SIZE_Z;
    dimBlock.y = dimBlock.z = dimGrid.z = 1;
    for (int i = 0; i < steps; i++) {
        performStreamCollide_kernel<<<dimGrid, dimBlock>>>(a, b);
        t = a;
        a = b;
        b = t;
    }
    if (cudaDeviceSynchronize() != cudaSuccess) abort();
    cudaMemcpy(grid, a, bytes, cudaMemcpyDeviceToHost);
    cudaFree(a);
    cudaFree(b);
}
