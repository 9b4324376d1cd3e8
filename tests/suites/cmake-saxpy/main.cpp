#include <cuda_runtime.h>
#include <cstdio>
void saxpy(int n, float a, const float *x, float *y);
int main() {
  const int n = 10000; float *x, *y;
  if (cudaMallocManaged(&x, n * sizeof *x) != cudaSuccess || cudaMallocManaged(&y, n * sizeof *y) != cudaSuccess) return 2;
  for (int i = 0; i < n; i++) { x[i] = i; y[i] = 1; }
  saxpy(n, 2, x, y);
  if (cudaDeviceSynchronize() != cudaSuccess) return 3;
  int bad = 0; for (int i = 0; i < n; i++) bad += y[i] != 2.0f * i + 1;
  printf("%s\n", bad ? "FAILED" : "PASSED");
  cudaFree(x); cudaFree(y);
  return bad != 0;
}
