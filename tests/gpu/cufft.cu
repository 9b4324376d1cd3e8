// A Fourier transform by cuFFT: 64 of 4096 points, in place.
#include <cstdio>

#include <cuda_runtime.h>
#include <cufft.h>

int main()
{
    enum { POINTS = 4096, BATCH = 64 };
    const size_t bytes = sizeof(cufftComplex) * POINTS * BATCH;
    cufftComplex *data;
    cufftHandle plan;
    if (cudaMalloc(&data, bytes) || cudaMemset(data, 0, bytes)) return 1;
    if (cufftPlan1d(&plan, POINTS, CUFFT_C2C, BATCH) != CUFFT_SUCCESS) return 2;
    if (cufftExecC2C(plan, data, data, CUFFT_FORWARD) != CUFFT_SUCCESS) return 3;
    if (cudaDeviceSynchronize() != cudaSuccess) return 4;
    printf("expect global bytes read at least %zu\n", bytes);
    printf("expect global bytes written at least %zu\n", bytes);
    return 0;
}
