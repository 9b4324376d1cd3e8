#include <assert.h>
#include <cuda.h>
#include <mma.h>
#include <cuda_fp16.h>
#include <stdio.h>
#include <math.h>
using namespace nvcuda;
#define M 32
#define N 48
#define K 64
__global__ void wmma_gemm(const half *a, const half *b, const float *c, float *d, float alpha, float beta) {
  int warpM = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize, warpN = blockIdx.y * blockDim.y + threadIdx.y;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a_frag;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b_frag;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc_frag, c_frag;
  wmma::fill_fragment(acc_frag, 0.0f);
  for (int i = 0; i < K; i += 16) {
    int aRow = warpM * 16, bCol = warpN * 16;
    if (aRow < M && bCol < N) {
      wmma::load_matrix_sync(a_frag, a + i + aRow * K, K);
      wmma::load_matrix_sync(b_frag, b + i + bCol * K, K);
      wmma::mma_sync(acc_frag, a_frag, b_frag, acc_frag);
    }
  }
  int cCol = warpN * 16, cRow = warpM * 16;
  if (cRow < M && cCol < N) {
    wmma::load_matrix_sync(c_frag, c + cCol + cRow * N, N, wmma::mem_row_major);
    for (int i = 0; i < c_frag.num_elements; i++) c_frag.x[i] = alpha * acc_frag.x[i] + beta * c_frag.x[i];
    wmma::store_matrix_sync(d + cCol + cRow * N, c_frag, N, wmma::mem_row_major);
  }
}
int main() {
  half *a, *b; float *c, *d;
  cudaMallocManaged(&a, M * K * sizeof(half)); cudaMallocManaged(&b, K * N * sizeof(half)); cudaMallocManaged(&c, M * N * 4); cudaMallocManaged(&d, M * N * 4);
  for (int i = 0; i < M * K; i++) a[i] = (half)(float)(i % 3);
  for (int i = 0; i < K * N; i++) b[i] = __float2half(i % 5 * 0.5f);
  for (int i = 0; i < M * N; i++) c[i] = i % 4;
  dim3 block(64, 2), grid((M + 31) / 32, (N + 31) / 32);
  wmma_gemm<<<grid, block>>>(a, b, c, d, 1.1f, 1.2f);
  cudaError_t e = cudaDeviceSynchronize();
  if (e != cudaSuccess) { printf("%s\n", cudaGetErrorString(e)); return 1; }
  double worst = 0;
  for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) {
    double s = 0; for (int k = 0; k < K; k++) s += (double)__half2float(a[i * K + k]) * (float)b[j * K + k];
    worst = fmax(worst, fabs(1.1 * s + 1.2 * c[i * N + j] - d[i * N + j]));
  }
  printf("%s %g\n", worst < 1e-3 ? "PASSED" : "FAILED", worst); return worst >= 1e-3;
}
