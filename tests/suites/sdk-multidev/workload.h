#pragma once
#include <cuda_runtime.h>
typedef struct {
    int dataN;
    float *h_Data;
    float *d_Data;
    float *d_Sum;
    float *h_Sum_from_device;
    cudaStream_t stream;
    cudaEvent_t done;
    int device;
    volatile int called;
} TGPUplan;
extern "C" void launch_reduceKernel(float *d_Result, float *d_Input, int N, int BLOCK_N,
                                    int THREAD_N, cudaStream_t &s);
