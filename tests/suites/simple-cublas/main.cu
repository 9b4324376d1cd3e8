#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <helper_cuda.h>
#define N 45
#define IDX(i, j, ld) (((j) * (ld)) + (i))
static void simple_sgemm(int n, float alpha, const float *A, const float *B, float beta, float *C) {
  for (int i = 0; i < n; ++i) for (int j = 0; j < n; ++j) { float prod = 0; for (int k = 0; k < n; ++k) prod += A[k * n + i] * B[j * n + k]; C[j * n + i] = alpha * prod + beta * C[j * n + i]; }
}
int main() {
  static float h_A[N * N], h_B[N * N], h_C[N * N], ref[N * N], got[N * N]; float *d_A, *d_B, *d_C, alpha = 1.0f, beta = 0.5f; double worst = 0;
  for (int i = 0; i < N * N; i++) { h_A[i] = rand() / (float)RAND_MAX; h_B[i] = rand() / (float)RAND_MAX; ref[i] = h_C[i] = rand() / (float)RAND_MAX; }
  cublasHandle_t handle; checkCudaErrors(cublasCreate(&handle));
  checkCudaErrors(cudaMalloc((void **)&d_A, sizeof h_A)); checkCudaErrors(cudaMalloc((void **)&d_B, sizeof h_A)); checkCudaErrors(cudaMalloc((void **)&d_C, sizeof h_A));
  checkCudaErrors(cublasSetVector(N * N, sizeof(h_A[0]), h_A, 1, d_A, 1)); checkCudaErrors(cublasSetMatrix(N, N, sizeof(float), h_B, N, d_B, N)); checkCudaErrors(cublasSetVector(N * N, sizeof(h_C[0]), h_C, 1, d_C, 1));
  checkCudaErrors(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &alpha, d_A, N, d_B, N, &beta, d_C, N));
  checkCudaErrors(cublasGetVector(N * N, sizeof(float), d_C, 1, got, 1)); simple_sgemm(N, alpha, h_A, h_B, beta, ref);
  for (int i = 0; i < N * N; i++) worst = fmax(worst, fabs(ref[i] - got[i]));
  float nrm, dot; checkCudaErrors(cublasSnrm2(handle, N * N, d_A, 1, &nrm)); checkCudaErrors(cublasSdot(handle, N * N, d_A, 1, d_B, 1, &dot)); int imax; checkCudaErrors(cublasIsamax(handle, N * N, d_A, 1, &imax));
  double n2 = 0, dd = 0; int im = 0; for (int i = 0; i < N * N; i++) { n2 += (double)h_A[i] * h_A[i]; dd += (double)h_A[i] * h_B[i]; if (h_A[i] > h_A[im]) im = i; }
  checkCudaErrors(cublasSaxpy(handle, N, &alpha, d_A, 1, d_B, 1)); checkCudaErrors(cublasSscal(handle, N, &beta, d_B, 1));
  checkCudaErrors(cublasSgemv(handle, CUBLAS_OP_T, N, N, &alpha, d_A, N, d_B, 1, &beta, d_C, 1)); checkCudaErrors(cublasGetVector(N, 4, d_C, 1, h_C, 1));
  for (int j = 0; j < N; j++) { double s = 0.5 * got[j]; for (int i = 0; i < N; i++) s += h_A[IDX(i, j, N)] * 0.5 * (h_A[i] + h_B[i]); worst = fmax(worst, fabs(s - h_C[j])); }
  bool ok = worst < 1e-3 && fabs(nrm - sqrt(n2)) < 1e-3 && fabs(dot - dd) < 1e-1 && imax == im + 1;
  checkCudaErrors(cublasDestroy(handle)); printf("%s %g\n", ok ? "PASSED" : "FAILED", worst); return !ok;
}
