#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define KERNEL_RADIUS        8
#define KERNEL_LENGTH        (2 * KERNEL_RADIUS + 1)
#define ROWS_BLOCKDIM_X      16
#define ROWS_BLOCKDIM_Y      4
#define ROWS_RESULT_STEPS    8
#define ROWS_HALO_STEPS      1
#define COLUMNS_BLOCKDIM_X   16
#define COLUMNS_BLOCKDIM_Y   8
#define COLUMNS_RESULT_STEPS 8
#define COLUMNS_HALO_STEPS   1
__constant__ float c_Kernel[KERNEL_LENGTH];
extern "C" void setConvolutionKernel(float *h_Kernel)
{
    cudaMemcpyToSymbol(c_Kernel, h_Kernel, KERNEL_LENGTH * sizeof(float));
}
__global__ void convolutionRowsKernel(float *d_Dst, float *d_Src, int imageW, int imageH, int pitch)
{
    cg::thread_block cta = cg::this_thread_block();
    __shared__ float s_Data[ROWS_BLOCKDIM_Y]
                           [(ROWS_RESULT_STEPS + 2 * ROWS_HALO_STEPS) * ROWS_BLOCKDIM_X];
    const int baseX = (blockIdx.x * ROWS_RESULT_STEPS - ROWS_HALO_STEPS) * ROWS_BLOCKDIM_X +
                      threadIdx.x,
              baseY = blockIdx.y * ROWS_BLOCKDIM_Y + threadIdx.y;
    d_Src += baseY * pitch + baseX;
    d_Dst += baseY * pitch + baseX;
#pragma unroll
    for (int i = ROWS_HALO_STEPS; i < ROWS_HALO_STEPS + ROWS_RESULT_STEPS; i++)
        s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X] = d_Src[i * ROWS_BLOCKDIM_X];
#pragma unroll
    for (int i = 0; i < ROWS_HALO_STEPS; i++)
        s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X] =
            (baseX >= -i * ROWS_BLOCKDIM_X) ? d_Src[i * ROWS_BLOCKDIM_X] : 0;
#pragma unroll
    for (int i = ROWS_HALO_STEPS + ROWS_RESULT_STEPS;
         i < ROWS_HALO_STEPS + ROWS_RESULT_STEPS + ROWS_HALO_STEPS; i++)
        s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X] =
            (imageW - baseX > i * ROWS_BLOCKDIM_X) ? d_Src[i * ROWS_BLOCKDIM_X] : 0;
    cg::sync(cta);
#pragma unroll
    for (int i = ROWS_HALO_STEPS; i < ROWS_HALO_STEPS + ROWS_RESULT_STEPS; i++) {
        float sum = 0;
#pragma unroll
        for (int j = -KERNEL_RADIUS; j <= KERNEL_RADIUS; j++)
            sum += c_Kernel[KERNEL_RADIUS - j] *
                   s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X + j];
        d_Dst[i * ROWS_BLOCKDIM_X] = sum;
    }
}
__global__ void convolutionColumnsKernel(float *d_Dst, float *d_Src, int imageW, int imageH,
                                         int pitch)
{
    __shared__ float
        s_Data[COLUMNS_BLOCKDIM_X]
              [(COLUMNS_RESULT_STEPS + 2 * COLUMNS_HALO_STEPS) * COLUMNS_BLOCKDIM_Y + 1];
    const int baseX = blockIdx.x * COLUMNS_BLOCKDIM_X + threadIdx.x,
              baseY =
                  (blockIdx.y * COLUMNS_RESULT_STEPS - COLUMNS_HALO_STEPS) * COLUMNS_BLOCKDIM_Y +
                  threadIdx.y;
    d_Src += baseY * pitch + baseX;
    d_Dst += baseY * pitch + baseX;
#pragma unroll
    for (int i = 0; i < 2 * COLUMNS_HALO_STEPS + COLUMNS_RESULT_STEPS; i++) {
        int y = baseY + i * COLUMNS_BLOCKDIM_Y;
        s_Data[threadIdx.x][threadIdx.y + i * COLUMNS_BLOCKDIM_Y] =
            (y >= 0 && y < imageH) ? d_Src[i * COLUMNS_BLOCKDIM_Y * pitch] : 0;
    }
    __syncthreads();
    for (int i = COLUMNS_HALO_STEPS; i < COLUMNS_HALO_STEPS + COLUMNS_RESULT_STEPS; i++) {
        float sum = 0;
        for (int j = -KERNEL_RADIUS; j <= KERNEL_RADIUS; j++)
            sum += c_Kernel[KERNEL_RADIUS - j] *
                   s_Data[threadIdx.x][threadIdx.y + i * COLUMNS_BLOCKDIM_Y + j];
        d_Dst[i * COLUMNS_BLOCKDIM_Y * pitch] = sum;
    }
}
int main()
{
    const int W = 256, H = 128;
    float k[KERNEL_LENGTH], *h = (float *)malloc(W * H * 4), *t = (float *)malloc(W * H * 4),
                            *o = (float *)malloc(W * H * 4), *a, *b, *c;
    for (int i = 0; i < KERNEL_LENGTH; i++) k[i] = i % 5;
    for (int i = 0; i < W * H; i++) h[i] = i % 13;
    cudaMalloc(&a, W * H * 4);
    cudaMalloc(&b, W * H * 4);
    cudaMalloc(&c, W * H * 4);
    setConvolutionKernel(k);
    cudaMemcpy(a, h, W * H * 4, cudaMemcpyHostToDevice);
    convolutionRowsKernel<<<dim3(W / 128, H / 4), dim3(16, 4)>>>(b, a, W, H, W);
    convolutionColumnsKernel<<<dim3(W / 16, H / 64), dim3(16, 8)>>>(c, b, W, H, W);
    cudaMemcpy(o, c, W * H * 4, cudaMemcpyDeviceToHost);
    int bad = 0;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            float s = 0;
            for (int j = -8; j <= 8; j++)
                if (x + j >= 0 && x + j < W) s += k[8 - j] * h[y * W + x + j];
            t[y * W + x] = s;
        }
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            float s = 0;
            for (int j = -8; j <= 8; j++)
                if (y + j >= 0 && y + j < H) s += k[8 - j] * t[(y + j) * W + x];
            bad += fabsf(s - o[y * W + x]) > 1e-2f * (1 + s);
        }
    printf("bad %d %s\n", bad, cudaGetErrorString(cudaGetLastError()));
    return bad != 0;
}
