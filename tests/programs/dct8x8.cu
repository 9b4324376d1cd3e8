/* Discrete cosine transform of 8x8 blocks: one with a texture and a __constant__ matrix, one with
 * device pointers into shared memory handed to __device__ functions, quantisation in between. */
#include "helper.h"
#define BLOCK_SIZE 8
#define C_a        1.387039845322148f
#define FMUL(x, y) (__mul24(x, y))

__constant__ float DCTv8matrix[64];
__constant__ short Q[64] = {16, 11, 10, 16, 24,  40,  51,  61,  12, 12, 14, 19, 26,  58,  60,  55,
                            14, 13, 16, 24, 40,  57,  69,  56,  14, 17, 22, 29, 51,  87,  80,  62,
                            18, 22, 37, 56, 68,  109, 103, 77,  24, 35, 55, 64, 81,  104, 113, 92,
                            49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99};
__shared__ float CurBlockLocal1[BLOCK_SIZE * BLOCK_SIZE];
__shared__ float CurBlockLocal2[BLOCK_SIZE * BLOCK_SIZE];
texture<float, 2, cudaReadModeElementType> TexSrc;

__global__ void CUDAkernel1DCT(float *Dst, int ImgWidth, int OffsetXBlocks, int OffsetYBlocks)
{
    const int bx = blockIdx.x + OffsetXBlocks, by = blockIdx.y + OffsetYBlocks;
    const int tx = threadIdx.x, ty = threadIdx.y;
    const float tex_x = (float)((bx << 3) + tx) + 0.5f, tex_y = (float)((by << 3) + ty) + 0.5f;
    CurBlockLocal1[(ty << 3) + tx] = tex2D(TexSrc, tex_x, tex_y);
    __syncthreads();
    float curelem = 0;
    int DCTv8matrixIndex = 0 * BLOCK_SIZE + ty;
    int CurBlockLocal1Index = 0 * BLOCK_SIZE + tx;
#pragma unroll
    for (int i = 0; i < BLOCK_SIZE; i++) {
        curelem += DCTv8matrix[DCTv8matrixIndex] * CurBlockLocal1[CurBlockLocal1Index];
        DCTv8matrixIndex += BLOCK_SIZE;
        CurBlockLocal1Index += BLOCK_SIZE;
    }
    CurBlockLocal2[(ty << 3) + tx] = curelem;
    __syncthreads();
    curelem = 0;
    for (int i = 0; i < BLOCK_SIZE; i++)
        curelem += CurBlockLocal2[(ty << 3) + i] * DCTv8matrix[i * BLOCK_SIZE + tx];
    __syncthreads();
    Dst[FMUL(((by << 3) + ty), ImgWidth) + ((bx << 3) + tx)] = curelem;
}

__device__ void line(float *first, int step, bool inverse)
{
    float v[8];
    for (int i = 0; i < 8; i++) v[i] = first[i * step];
    for (int i = 0; i < 8; i++) {
        float sum = 0;
        for (int k = 0; k < 8; k++)
            sum += inverse ? DCTv8matrix[i * 8 + k] * v[k] : DCTv8matrix[k * 8 + i] * v[k];
        first[i * step] = sum;
    }
}

/* Four blocks of 8x8 side by side; each thread does a column, then a row. */
template <bool INVERSE> __global__ void in_place(float *data, int stride)
{
    __shared__ float block[8][33];
    const int column = threadIdx.x + 8 * threadIdx.y;
    data += blockIdx.y * 8 * stride + blockIdx.x * 32;
    for (int i = 0; i < 8; i++) block[i][column] = data[i * stride + column];
    __syncthreads();
    line(&block[0][column], 33, INVERSE);
    __syncthreads();
    line(&block[threadIdx.x][8 * threadIdx.y], 1, INVERSE);
    __syncthreads();
    for (int i = 0; i < 8; i++) data[i * stride + column] = block[i][column];
}

__global__ void quantize(short *out, const float *in, int stride)
{
    const int at = (blockIdx.y * 8 + threadIdx.y) * stride + blockIdx.x * 8 + threadIdx.x;
    short quantum = Q[threadIdx.y * 8 + threadIdx.x];
    const short coefficient = (short)__float2int_rn(in[at]);
    short quantized = abs(coefficient) + (quantum >> 1);
    quantized /= quantum;
    out[at] = coefficient < 0 ? -quantized : quantized;
}

int main()
{
    const int w = 64, h = 32;
    static float image[h][w], a[h][w], b[h][w], back[h][w], matrix[8][8];
    static short q[h][w];
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) image[y][x] = (float)((x * y + 3 * x) % 256) - 128;
    for (int x = 0; x < 8; x++)
        for (int u = 0; u < 8; u++)
            matrix[x][u] = (float)(cos((2 * x + 1) * u * M_PI / 16) * (u ? 0.5 : sqrt(0.125)));
    checkCudaErrors(cudaMemcpyToSymbol(DCTv8matrix, matrix, sizeof matrix));
    cudaArray *Src;
    float *Dst;
    short *d_q;
    cudaChannelFormatDesc floattex = cudaCreateChannelDesc<float>();
    checkCudaErrors(cudaMallocArray(&Src, &floattex, w, h));
    checkCudaErrors(cudaMalloc((void **)&Dst, sizeof image));
    checkCudaErrors(cudaMalloc((void **)&d_q, sizeof q));
    checkCudaErrors(cudaMemcpy2DToArray(Src, 0, 0, image, w * sizeof(float), w * sizeof(float), h,
                                        cudaMemcpyHostToDevice));
    checkCudaErrors(cudaBindTextureToArray(TexSrc, Src, floattex));
    CUDAkernel1DCT<<<dim3(w / 16, h / 8), dim3(8, 8)>>>(Dst, w, 0, 0);
    CUDAkernel1DCT<<<dim3(w / 16, h / 8), dim3(8, 8)>>>(Dst, w, w / 16, 0);
    getLastCudaError("CUDAkernel1DCT");
    checkCudaErrors(cudaUnbindTexture(TexSrc));
    checkCudaErrors(cudaMemcpy(a, Dst, sizeof a, cudaMemcpyDeviceToHost));
    quantize<<<dim3(w / 8, h / 8), dim3(8, 8)>>>(d_q, Dst, w);
    checkCudaErrors(cudaMemcpy(q, d_q, sizeof q, cudaMemcpyDeviceToHost));
    checkCudaErrors(cudaMemcpy(Dst, image, sizeof image, cudaMemcpyHostToDevice));
    in_place<false><<<dim3(w / 32, h / 8), dim3(8, 4)>>>(Dst, w);
    checkCudaErrors(cudaMemcpy(b, Dst, sizeof b, cudaMemcpyDeviceToHost));
    in_place<true><<<dim3(w / 32, h / 8), dim3(8, 4)>>>(Dst, w);
    checkCudaErrors(cudaMemcpy(back, Dst, sizeof back, cudaMemcpyDeviceToHost));
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            const int by = y & ~7, bx = x & ~7;
            double want = 0;
            for (int j = 0; j < 8; j++)
                for (int i = 0; i < 8; i++)
                    want += image[by + j][bx + i] * matrix[j][y & 7] * matrix[i][x & 7];
            EXPECT(fabs(a[y][x] - want) < 1e-2 && fabs(b[y][x] - want) < 1e-2,
                   "(%d, %d): %g %g, not %g", x, y, a[y][x], b[y][x], want);
            EXPECT(fabs(back[y][x] - image[y][x]) < 1e-2, "(%d, %d): %g", x, y, back[y][x]);
            const int c = (int)rintf(a[y][x]);
            static const short dc = 16;
            if (!((x | y) & 7)) {
                const int rounded = (abs(c) + 8) / dc;
                EXPECT(q[y][x] == (c < 0 ? -rounded : rounded), "(%d, %d): %d", x, y, q[y][x]);
            }
        }
    return verdict();
}
