#include <stdio.h>
#include <stdlib.h>
#include <assert.h>
#include <math.h>
#include <thread>
#include <vector>
#include "workload.h"
#define CK(x)                                                                                      \
    do {                                                                                           \
        cudaError_t e = (x);                                                                       \
        if (e != cudaSuccess) {                                                                    \
            printf("%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e));                       \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
const int MAX_GPU_COUNT = 32, DATA_N = 1048576 / 4, BLOCK_N = 8, THREAD_N = 128,
          ACCUM_N = BLOCK_N * THREAD_N;
static void CUDART_CB myCallback(cudaStream_t, cudaError_t status, void *data)
{
    TGPUplan *p = (TGPUplan *)data;
    p->called = status == cudaSuccess ? 1 : -1;
}
static void hostFn(void *data)
{
    ((TGPUplan *)data)->called += 10;
}
__global__ void touch(float *p, float v)
{
    p[threadIdx.x] += v;
}
int main(int argc, char **argv)
{
    TGPUplan plan[MAX_GPU_COUNT] = {};
    int GPU_N;
    CK(cudaGetDeviceCount(&GPU_N));
    if (GPU_N > MAX_GPU_COUNT) GPU_N = MAX_GPU_COUNT;
    printf("CUDA-capable device count: %i\n", GPU_N);
    double want = 0, got = 0;
    int bad = 0;
    for (int i = 0; i < GPU_N; i++) {
        plan[i].dataN = DATA_N / GPU_N;
        plan[i].device = i;
        CK(cudaSetDevice(i));
        CK(cudaStreamCreateWithFlags(&plan[i].stream, cudaStreamNonBlocking));
        CK(cudaEventCreateWithFlags(&plan[i].done, cudaEventDisableTiming));
        CK(cudaMalloc((void **)&plan[i].d_Data, plan[i].dataN * sizeof(float)));
        CK(cudaMalloc((void **)&plan[i].d_Sum, ACCUM_N * sizeof(float)));
        CK(cudaHostAlloc((void **)&plan[i].h_Sum_from_device, ACCUM_N * sizeof(float),
                         cudaHostAllocPortable));
        CK(cudaMallocHost((void **)&plan[i].h_Data, plan[i].dataN * sizeof(float)));
        for (int j = 0; j < plan[i].dataN; j++) {
            plan[i].h_Data[j] = (float)rand() / (float)RAND_MAX;
            want += plan[i].h_Data[j];
        }
    }
    std::vector<std::thread> threads;
    for (int i = 0; i < GPU_N; i++)
        threads.emplace_back([&plan, i] {
            CK(cudaSetDevice(i));
            CK(cudaMemcpyAsync(plan[i].d_Data, plan[i].h_Data, plan[i].dataN * sizeof(float),
                               cudaMemcpyHostToDevice, plan[i].stream));
            launch_reduceKernel(plan[i].d_Sum, plan[i].d_Data, plan[i].dataN, BLOCK_N, THREAD_N,
                                plan[i].stream);
            CK(cudaMemcpyAsync(plan[i].h_Sum_from_device, plan[i].d_Sum, ACCUM_N * sizeof(float),
                               cudaMemcpyDeviceToHost, plan[i].stream));
            CK(cudaStreamAddCallback(plan[i].stream, myCallback, &plan[i], 0));
            CK(cudaLaunchHostFunc(plan[i].stream, hostFn, &plan[i]));
            CK(cudaEventRecord(plan[i].done, plan[i].stream));
        });
    for (auto &t : threads) t.join();
    for (int i = 0; i < GPU_N; i++) {
        CK(cudaSetDevice(i));
        while (cudaEventQuery(plan[i].done) == cudaErrorNotReady) std::this_thread::yield();
        CK(cudaStreamSynchronize(plan[i].stream));
        for (int j = 0; j < ACCUM_N; j++) got += plan[i].h_Sum_from_device[j];
        bad += plan[i].called != 11;
    }
    bad += fabs(got - want) > 1e-4 * want;
    for (int a = 0; a < GPU_N; a++)
        for (int b = 0; b < GPU_N; b++)
            if (a != b) {
                int can;
                CK(cudaDeviceCanAccessPeer(&can, a, b));
                CK(cudaSetDevice(a));
                if (can) {
                    cudaError_t e = cudaDeviceEnablePeerAccess(b, 0);
                    if (e != cudaErrorPeerAccessAlreadyEnabled)
                        CK(e);
                    else
                        (void)cudaGetLastError();
                }
                float v[2];
                CK(cudaMemcpy(v, plan[b].d_Sum, 4, cudaMemcpyDefault));
                if (can) {
                    touch<<<1, 32>>>(plan[b].d_Sum, 1.0f);
                    CK(cudaDeviceSynchronize());
                } else
                    v[0] -= 1;
                CK(cudaMemcpyPeer(plan[a].d_Data, a, plan[b].d_Sum, b, 128));
                CK(cudaMemcpy(v + 1, plan[a].d_Data, 4, cudaMemcpyDeviceToHost));
                bad += v[1] != v[0] + 1;
            }
    for (int i = 0; i < GPU_N; i++) {
        cudaSetDevice(i);
        cudaPointerAttributes at;
        CK(cudaPointerGetAttributes(&at, plan[i].d_Data));
        bad += at.device != i || at.type != cudaMemoryTypeDevice;
        CK(cudaPointerGetAttributes(&at, plan[i].h_Data));
        bad += at.type != cudaMemoryTypeHost;
        cudaFreeHost(plan[i].h_Data);
        cudaFreeHost(plan[i].h_Sum_from_device);
        cudaFree(plan[i].d_Data);
        cudaFree(plan[i].d_Sum);
        cudaStreamDestroy(plan[i].stream);
        cudaEventDestroy(plan[i].done);
    }
    printf("sum %f of %f, bad %d\n", got, want, bad);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
