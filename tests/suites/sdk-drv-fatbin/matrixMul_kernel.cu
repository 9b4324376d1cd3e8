#define AS(i, j) As[i][j]
#define BS(i, j) Bs[i][j]
__constant__ float alpha;
template <int block_size, typename size_type>
__device__ void matrixMul(float *C, float *A, float *B, size_type wA, size_type wB)
{
    size_type bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    size_type aBegin = wA * block_size * by, aEnd = aBegin + wA - 1, aStep = block_size,
              bBegin = block_size * bx, bStep = block_size * wB;
    float Csub = 0;
    for (size_type a = aBegin, b = bBegin; a <= aEnd; a += aStep, b += bStep) {
        __shared__ float As[block_size][block_size];
        __shared__ float Bs[block_size][block_size];
        AS(ty, tx) = A[a + wA * ty + tx];
        BS(ty, tx) = B[b + wB * ty + tx];
        __syncthreads();
#pragma unroll
        for (size_type k = 0; k < block_size; ++k) Csub += AS(ty, k) * BS(k, tx);
        __syncthreads();
    }
    C[wB * block_size * by + block_size * bx + wB * ty + tx] = alpha * Csub;
}
extern "C" __global__ void matrixMul_bs16_64bit(float *C, float *A, float *B, size_t wA, size_t wB)
{
    matrixMul<16, size_t>(C, A, B, wA, wB);
}
extern "C" __global__ void matrixMul_bs32_64bit(float *C, float *A, float *B, size_t wA, size_t wB)
{
    matrixMul<32, size_t>(C, A, B, wA, wB);
}
