// A program that uses CUPTI itself before CUDA starts: the timeline has to stand back.
#include <cstdio>

#include <cuda_runtime.h>
#include <cupti.h>

__global__ void first(float *data)
{
    data[threadIdx.x] += 1.0f;
}

static void CUPTIAPI on_call(void *, CUpti_CallbackDomain, CUpti_CallbackId, const void *) {}

int main()
{
    CUpti_SubscriberHandle subscriber;
    float *data;
    if (cuptiSubscribe(&subscriber, on_call, nullptr) != CUPTI_SUCCESS) return 1;
    if (cudaMalloc(&data, 4096) != cudaSuccess) return 2;
    first<<<1, 32>>>(data);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 3;
}
