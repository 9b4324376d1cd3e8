#include <stdio.h>
#include <stdlib.h>
#include "cuda_runtime.h"
#include "nccl.h"
#define CUDACHECK(cmd)                                                                             \
    do {                                                                                           \
        cudaError_t err = cmd;                                                                     \
        if (err != cudaSuccess) {                                                                  \
            printf("Failed: Cuda error %s:%d '%s'\n", __FILE__, __LINE__,                          \
                   cudaGetErrorString(err));                                                       \
            exit(EXIT_FAILURE);                                                                    \
        }                                                                                          \
    } while (0)
#define NCCLCHECK(cmd)                                                                             \
    do {                                                                                           \
        ncclResult_t res = cmd;                                                                    \
        if (res != ncclSuccess) {                                                                  \
            printf("Failed, NCCL error %s:%d '%s'\n", __FILE__, __LINE__,                          \
                   ncclGetErrorString(res));                                                       \
            exit(EXIT_FAILURE);                                                                    \
        }                                                                                          \
    } while (0)
__global__ void init(float *p, int n, float base)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = base + i;
}
int main(int argc, char *argv[])
{
    int nDev = 0, size = 32 * 1024, bad = 0;
    CUDACHECK(cudaGetDeviceCount(&nDev));
    if (nDev > 4) nDev = 4;
    ncclComm_t *comms = new ncclComm_t[nDev];
    int *devs = new int[nDev];
    for (int i = 0; i < nDev; i++) devs[i] = i;
    float **sendbuff = (float **)malloc(nDev * sizeof(float *));
    float **recvbuff = (float **)malloc(nDev * sizeof(float *));
    cudaStream_t *s = (cudaStream_t *)malloc(sizeof(cudaStream_t) * nDev);
    for (int i = 0; i < nDev; ++i) {
        CUDACHECK(cudaSetDevice(i));
        CUDACHECK(cudaMalloc((void **)sendbuff + i, size * sizeof(float)));
        CUDACHECK(cudaMalloc((void **)recvbuff + i, size * sizeof(float)));
        CUDACHECK(cudaMemset(recvbuff[i], 0, size * sizeof(float)));
        CUDACHECK(cudaStreamCreate(s + i));
        init<<<size / 256, 256, 0, s[i]>>>(sendbuff[i], size, i);
    }
    NCCLCHECK(ncclCommInitAll(comms, nDev, devs));
    NCCLCHECK(ncclGroupStart());
    for (int i = 0; i < nDev; ++i)
        NCCLCHECK(ncclAllReduce((const void *)sendbuff[i], (void *)recvbuff[i], size, ncclFloat,
                                ncclSum, comms[i], s[i]));
    NCCLCHECK(ncclGroupEnd());
    float *h = (float *)malloc(size * 4);
    for (int i = 0; i < nDev; ++i) {
        CUDACHECK(cudaSetDevice(i));
        CUDACHECK(cudaStreamSynchronize(s[i]));
        CUDACHECK(cudaMemcpy(h, recvbuff[i], size * 4, cudaMemcpyDeviceToHost));
        for (int k = 0; k < size; k++) bad += h[k] != nDev * k + nDev * (nDev - 1) / 2;
        int count, rank;
        NCCLCHECK(ncclCommCount(comms[i], &count));
        NCCLCHECK(ncclCommUserRank(comms[i], &rank));
        bad += count != nDev || rank != i;
    }
    NCCLCHECK(ncclGroupStart());
    for (int i = 0; i < nDev; ++i)
        NCCLCHECK(ncclBroadcast(sendbuff[i], recvbuff[i], size, ncclFloat, 0, comms[i], s[i]));
    NCCLCHECK(ncclGroupEnd());
    for (int i = 0; i < nDev; ++i) {
        CUDACHECK(cudaSetDevice(i));
        CUDACHECK(cudaStreamSynchronize(s[i]));
        CUDACHECK(cudaMemcpy(h, recvbuff[i], size * 4, cudaMemcpyDeviceToHost));
        for (int k = 0; k < size; k++) bad += h[k] != k;
    }
    NCCLCHECK(ncclGroupStart());
    for (int i = 0; i < nDev; ++i) {
        NCCLCHECK(ncclSend(sendbuff[i], size, ncclFloat, (i + 1) % nDev, comms[i], s[i]));
        NCCLCHECK(ncclRecv(recvbuff[i], size, ncclFloat, (i + nDev - 1) % nDev, comms[i], s[i]));
    }
    NCCLCHECK(ncclGroupEnd());
    for (int i = 0; i < nDev; ++i) {
        CUDACHECK(cudaSetDevice(i));
        CUDACHECK(cudaStreamSynchronize(s[i]));
        CUDACHECK(cudaMemcpy(h, recvbuff[i], size * 4, cudaMemcpyDeviceToHost));
        for (int k = 0; k < size; k++) bad += h[k] != k + (i + nDev - 1) % nDev;
        CUDACHECK(cudaFree(sendbuff[i]));
        CUDACHECK(cudaFree(recvbuff[i]));
    }
    for (int i = 0; i < nDev; ++i) ncclCommDestroy(comms[i]);
    printf("%d devices, bad %d: %s\n", nDev, bad, bad ? "FAILED" : "Success");
    return bad != 0;
}
