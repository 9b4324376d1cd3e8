/* Matrix products: a template over the tile, __launch_bounds__, static and dynamic shared memory in
 * one kernel, double precision, rectangular sizes that do not fit the tile. */
#include "helper.h"
#include <vector>

template <int BLOCK_SIZE>
__global__ void __launch_bounds__(BLOCK_SIZE *BLOCK_SIZE)
    matrixMulCUDA(float *C, const float *__restrict__ A, const float *__restrict__ B, int wA,
                  int wB)
{
    const int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    const int aBegin = wA * BLOCK_SIZE * by, aEnd = aBegin + wA - 1, aStep = BLOCK_SIZE;
    const int bBegin = BLOCK_SIZE * bx, bStep = BLOCK_SIZE * wB;
    float Csub = 0;
    for (int a = aBegin, b = bBegin; a <= aEnd; a += aStep, b += bStep) {
        __shared__ float As[BLOCK_SIZE][BLOCK_SIZE];
        __shared__ float Bs[BLOCK_SIZE][BLOCK_SIZE];
        As[ty][tx] = A[a + wA * ty + tx];
        Bs[ty][tx] = B[b + wB * ty + tx];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BLOCK_SIZE; ++k) Csub += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    const int c = wB * BLOCK_SIZE * by + BLOCK_SIZE * bx;
    C[c + wB * ty + tx] = Csub;
}

/* Any size, two tiles in memory of the launch and a statically sized column of partial sums. */
template <typename T> struct Matrix {
    T *data;
    int rows, columns, stride;
    __host__ __device__ T &at(int i, int j) const { return data[i * stride + j]; }
};

extern __shared__ __align__(16) unsigned char launch_memory[];

template <typename T, int TILE> __global__ void product(Matrix<T> c, Matrix<T> a, Matrix<T> b)
{
    T *const as = reinterpret_cast<T *>(launch_memory), *const bs = as + TILE * TILE;
    __shared__ T last[TILE][TILE + 1];
    const int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    last[threadIdx.y][threadIdx.x] = T(0);
    for (int k = 0; k < a.columns; k += TILE) {
        const int ka = k + (int)threadIdx.x, kb = k + (int)threadIdx.y;
        as[threadIdx.y * TILE + threadIdx.x] =
            row < a.rows && ka < a.columns ? a.at(row, ka) : T(0);
        bs[threadIdx.y * TILE + threadIdx.x] =
            kb < b.rows && column < b.columns ? b.at(kb, column) : T(0);
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            last[threadIdx.y][threadIdx.x] =
                fma(as[threadIdx.y * TILE + i], bs[i * TILE + threadIdx.x],
                    last[threadIdx.y][threadIdx.x]);
        __syncthreads();
    }
    if (row < c.rows && column < c.columns) c.at(row, column) = last[threadIdx.y][threadIdx.x];
}

template <typename T> static void multiply(int m, int n, int k)
{
    std::vector<T> a(m * k), b(k * n), c(m * n);
    for (int i = 0; i < m * k; i++) a[i] = T(i % 13 - 6);
    for (int i = 0; i < k * n; i++) b[i] = T(i % 11 - 4);
    Matrix<T> da{nullptr, m, k, k}, db{nullptr, k, n, n}, dc{nullptr, m, n, n};
    checkCudaErrors(cudaMalloc(&da.data, a.size() * sizeof(T)));
    checkCudaErrors(cudaMalloc(&db.data, b.size() * sizeof(T)));
    checkCudaErrors(cudaMalloc(&dc.data, c.size() * sizeof(T)));
    checkCudaErrors(cudaMemcpy(da.data, a.data(), a.size() * sizeof(T), cudaMemcpyDefault));
    checkCudaErrors(cudaMemcpy(db.data, b.data(), b.size() * sizeof(T), cudaMemcpyDefault));
    constexpr int TILE = 8;
    dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE), block(TILE, TILE);
    product<T, TILE><<<grid, block, 2 * TILE * TILE * sizeof(T)>>>(dc, da, db);
    getLastCudaError("product");
    checkCudaErrors(cudaMemcpy(c.data(), dc.data, c.size() * sizeof(T), cudaMemcpyDefault));
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            T want = 0;
            for (int x = 0; x < k; x++) want += a[i * k + x] * b[x * n + j];
            EXPECT(c[i * n + j] == want, "(%d, %d): %g", i, j, (double)c[i * n + j]);
        }
    cudaFree(da.data), cudaFree(db.data), cudaFree(dc.data);
}

int main()
{
    const int hA = 64, wA = 96, wB = 32;
    float *hostA = (float *)malloc(hA * wA * 4), *hostB = (float *)malloc(wA * wB * 4);
    float *hostC = (float *)malloc(hA * wB * 4), *A, *B, *C;
    for (int i = 0; i < hA * wA; i++) hostA[i] = 1.0f;
    for (int i = 0; i < wA * wB; i++) hostB[i] = 0.01f * (i % 5);
    cudaMalloc((void **)&A, hA * wA * 4);
    cudaMalloc((void **)&B, wA * wB * 4);
    cudaMalloc((void **)&C, hA * wB * 4);
    cudaMemcpy(A, hostA, hA * wA * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(B, hostB, wA * wB * 4, cudaMemcpyHostToDevice);
    for (int block = 16; block <= 32; block *= 2) {
        cudaMemset(C, 0, hA * wB * 4);
        dim3 threads(block, block), grid(wB / threads.x, hA / threads.y);
        if (block == 16)
            matrixMulCUDA<16><<<grid, threads>>>(C, A, B, wA, wB);
        else
            matrixMulCUDA<32><<<grid, threads>>>(C, A, B, wA, wB);
        getLastCudaError("matrixMulCUDA");
        cudaMemcpy(hostC, C, hA * wB * 4, cudaMemcpyDeviceToHost);
        for (int i = 0; i < hA * wB; i++) {
            double want = 0;
            for (int k = 0; k < wA; k++) want += hostB[k * wB + i % wB];
            EXPECT(close_to(hostC[i], want, 1e-5), "%d: %g, not %g", i, hostC[i], want);
        }
    }
    multiply<float>(37, 29, 41);
    multiply<double>(19, 50, 7);
    multiply<int>(8, 8, 8);
    free(hostA), free(hostB), free(hostC);
    return verdict();
}
