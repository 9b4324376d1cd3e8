#include <cstdio>
#include <cstdlib>
#include <algorithm>
#include <vector>
#include <omp.h>
__global__ void triad(float* A, float* B, float* C, float s) {
    int gid = threadIdx.x + (blockIdx.x * blockDim.x);
    C[gid] = A[gid] + s*B[gid];
}
#define SAFE(x) if ((x) != cudaSuccess) { printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(cudaGetLastError())); return 1; }
int main() {
    const size_t numMaxFloats = 32768, elems = 4096, blockSize = 128;
    float *h; SAFE(cudaHostAlloc(&h, numMaxFloats * sizeof(float), cudaHostAllocDefault));
    float *dA[2], *dB[2], *dC[2]; cudaStream_t streams[2];
    for (int i = 0; i < 2; i++) {
        SAFE(cudaMalloc((void**)&dA[i], elems * 4)); SAFE(cudaMalloc((void**)&dB[i], elems * 4)); SAFE(cudaMalloc((void**)&dC[i], elems * 4));
        SAFE(cudaStreamCreate(&streams[i]));
    }
    const float scalar = 1.75f;
#pragma omp parallel for
    for (size_t j = 0; j < numMaxFloats; ++j) h[j] = (j % 1024) * 0.5f;
    int crtIdx = 0;
    for (size_t at = 0; at < numMaxFloats; at += elems, crtIdx++) {
        int s = crtIdx & 1;
        cudaMemcpyAsync(dA[s], h + at, elems * 4, cudaMemcpyHostToDevice, streams[s]);
        cudaMemcpyAsync(dB[s], h + at, elems * 4, cudaMemcpyHostToDevice, streams[s]);
        triad<<<elems / blockSize, blockSize, 0, streams[s]>>>(dA[s], dB[s], dC[s], scalar);
        cudaMemcpyAsync(h + at, dC[s], elems * 4, cudaMemcpyDeviceToHost, streams[s]);
    }
    SAFE(cudaDeviceSynchronize());
    size_t wrong = 0;
    for (size_t j = 0; j < numMaxFloats; ++j) wrong += h[j] != (j % 1024) * 0.5f * (1 + scalar);
    printf("%s %zu wrong, %d host threads\n", wrong ? "FAILED" : "PASSED", wrong, omp_get_max_threads());
    for (auto s : streams) cudaStreamDestroy(s);
    return wrong != 0;
}
