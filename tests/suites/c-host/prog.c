#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>
#include "kern.h"
#define TRY(x)                                                                                     \
    do {                                                                                           \
        cudaError_t e = (x);                                                                       \
        if (e != cudaSuccess) {                                                                    \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e));             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
int main(void)
{
    enum { N = 777 };
    particle *h = malloc(N * sizeof *h), *d, *o = malloc(N * sizeof *o);
    struct cudaDeviceProp prop;
    int bad = 0, n = N, i;
    float dt = 0.25f;
    float3 box = {5, 6, 7};
    void *args[4];
    dim3 grid = {(N + 63) / 64, 1, 1}, block = {64, 1, 1};
    cudaStream_t s;
    cudaEvent_t a, b;
    float ms;
    TRY(cudaGetDeviceProperties(&prop, 0));
    memset(h, 0, N * sizeof *h);
    for (i = 0; i < N; i++) {
        h[i].pos.x = i % 5;
        h[i].pos.y = i * 0.3f;
        h[i].pos.z = i * 0.7f;
        h[i].pos.w = 1 + i % 3;
        h[i].weight = i;
    }
    TRY(cudaStreamCreate(&s));
    TRY(cudaEventCreate(&a));
    TRY(cudaEventCreate(&b));
    TRY(cudaMalloc((void **)&d, N * sizeof *d));
    TRY(cudaMemcpyAsync(d, h, N * sizeof *h, cudaMemcpyHostToDevice, s));
    reset_count();
    args[0] = &d;
    args[1] = &dt;
    args[2] = &n;
    args[3] = &box;
    TRY(cudaEventRecord(a, s));
    TRY(cudaLaunchKernel(advance_entry, grid, block, args, 0, s));
    TRY(cudaEventRecord(b, s));
    TRY(cudaMemcpyAsync(o, d, N * sizeof *o, cudaMemcpyDeviceToHost, s));
    TRY(cudaStreamSynchronize(s));
    TRY(cudaEventElapsedTime(&ms, a, b));
    for (i = 0; i < N; i++) {
        float x = fmodf(h[i].pos.x + h[i].pos.w * dt, 5);
        bad += o[i].pos.x != x || o[i].cell.x != (int)floorf(x) ||
               o[i].cell.z != (int)lrintf(h[i].pos.z) || o[i].weight != i + 0.5;
    }
    bad += read_count() != N;
    printf("%s %g ms bad %d\n", prop.name, ms, bad);
    return bad != 0;
}
