#include <stdio.h>
#include <cuda.h>
#include "common.h"
__global__ void findK(long height, knode *knodesD, long knodes_elem, record *recordsD,
                      long *currKnodeD, long *offsetD, int *keysD, record *ansD)
{
    int thid = threadIdx.x;
    int bid = blockIdx.x;
    int i;
    for (i = 0; i < height; i++) {
        if ((knodesD[currKnodeD[bid]].keys[thid]) <= keysD[bid] &&
            (knodesD[currKnodeD[bid]].keys[thid + 1] > keysD[bid])) {
            if (knodesD[offsetD[bid]].indices[thid] < knodes_elem) {
                offsetD[bid] = knodesD[offsetD[bid]].indices[thid];
            }
        }
        __syncthreads();
        if (thid == 0) {
            currKnodeD[bid] = offsetD[bid];
        }
        __syncthreads();
    }
    if (knodesD[currKnodeD[bid]].keys[thid] == keysD[bid]) {
        ansD[bid].value = recordsD[knodesD[currKnodeD[bid]].indices[thid]].value;
    }
}
static void checkCUDAError(const char *msg)
{
    cudaError_t err = cudaGetLastError();
    if (cudaSuccess != err) {
        fprintf(stderr, "Cuda error: %s: %s.\n", msg, cudaGetErrorString(err));
        fflush(NULL);
        exit(EXIT_FAILURE);
    }
}
extern "C" void kernel_gpu_cuda_wrapper(record *records, long records_mem, knode *knodes,
                                        long knodes_elem, long knodes_mem, int order,
                                        long maxheight, int count, long *currKnode, long *offset,
                                        int *keys, record *ans)
{
    cudaFree(0);
    record *recordsD;
    knode *knodesD;
    long *currKnodeD, *offsetD;
    int *keysD;
    record *ansD;
    cudaMalloc((void **)&recordsD, records_mem);
    checkCUDAError("cudaMalloc  recordsD");
    cudaMalloc((void **)&knodesD, knodes_mem);
    cudaMalloc((void **)&currKnodeD, count * sizeof(long));
    cudaMalloc((void **)&offsetD, count * sizeof(long));
    cudaMalloc((void **)&keysD, count * sizeof(int));
    cudaMalloc((void **)&ansD, count * sizeof(record));
    cudaMemcpy(recordsD, records, records_mem, cudaMemcpyHostToDevice);
    cudaMemcpy(knodesD, knodes, knodes_mem, cudaMemcpyHostToDevice);
    cudaMemcpy(currKnodeD, currKnode, count * sizeof(long), cudaMemcpyHostToDevice);
    cudaMemcpy(offsetD, offset, count * sizeof(long), cudaMemcpyHostToDevice);
    cudaMemcpy(keysD, keys, count * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(ansD, ans, count * sizeof(record), cudaMemcpyHostToDevice);
    findK<<<count, order>>>(maxheight, knodesD, knodes_elem, recordsD, currKnodeD, offsetD, keysD,
                            ansD);
    cudaDeviceSynchronize();
    checkCUDAError("findK");
    cudaMemcpy(ans, ansD, count * sizeof(record), cudaMemcpyDeviceToHost);
    cudaFree(recordsD);
    cudaFree(knodesD);
    cudaFree(currKnodeD);
    cudaFree(offsetD);
    cudaFree(keysD);
    cudaFree(ansD);
}
