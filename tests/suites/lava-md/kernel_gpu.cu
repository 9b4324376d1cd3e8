#include <stdio.h>
#include "main.h"
#include "kernel.cu"
extern "C" void kernel_gpu_cuda_wrapper(par_str par_cpu, dim_str dim_cpu, box_str *box_cpu,
                                        FOUR_VECTOR *rv_cpu, fp *qv_cpu, FOUR_VECTOR *fv_cpu)
{
    cudaDeviceSynchronize();
    box_str *d_box_gpu;
    FOUR_VECTOR *d_rv_gpu;
    fp *d_qv_gpu;
    FOUR_VECTOR *d_fv_gpu;
    dim3 threads, blocks;
    blocks.x = dim_cpu.number_boxes;
    blocks.y = 1;
    threads.x = NUMBER_THREADS;
    threads.y = 1;
    cudaMalloc((void **)&d_box_gpu, dim_cpu.box_mem);
    cudaMalloc((void **)&d_rv_gpu, dim_cpu.space_mem);
    cudaMalloc((void **)&d_qv_gpu, dim_cpu.space_mem2);
    cudaMalloc((void **)&d_fv_gpu, dim_cpu.space_mem);
    cudaMemcpy(d_box_gpu, box_cpu, dim_cpu.box_mem, cudaMemcpyHostToDevice);
    cudaMemcpy(d_rv_gpu, rv_cpu, dim_cpu.space_mem, cudaMemcpyHostToDevice);
    cudaMemcpy(d_qv_gpu, qv_cpu, dim_cpu.space_mem2, cudaMemcpyHostToDevice);
    cudaMemcpy(d_fv_gpu, fv_cpu, dim_cpu.space_mem, cudaMemcpyHostToDevice);
    kernel_gpu_cuda<<<blocks, threads>>>(par_cpu, dim_cpu, d_box_gpu, d_rv_gpu, d_qv_gpu, d_fv_gpu);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        printf("Start: %s\n", cudaGetErrorString(error));
        exit(1);
    }
    cudaDeviceSynchronize();
    cudaMemcpy(fv_cpu, d_fv_gpu, dim_cpu.space_mem, cudaMemcpyDeviceToHost);
    cudaFree(d_rv_gpu);
    cudaFree(d_qv_gpu);
    cudaFree(d_fv_gpu);
    cudaFree(d_box_gpu);
}
