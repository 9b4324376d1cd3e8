#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <malloc.h>
#include <vector>
#include "sgemm_kernel.cu"
extern bool readColMajorMatrixFile(const char *fn, int &nr_row, int &nr_col, std::vector<float>&v);
int main (int argc, char *argv[]) {
  float *dA, *dB, *dC;
  size_t A_sz, B_sz, C_sz;
  int matArow, matAcol, matBrow, matBcol;
  std::vector<float> matA, matBT;
  if (!readColMajorMatrixFile("matrix1.txt", matArow, matAcol, matA)) return 1;
  if (!readColMajorMatrixFile("matrix2t.txt", matBcol, matBrow, matBT)) return 1;
  A_sz = matArow*matAcol*sizeof(float);
  B_sz = matBrow*matBcol*sizeof(float);
  C_sz = matArow*matBcol*sizeof(float);
  std::vector<float> matC(matArow*matBcol);
  cudaMalloc((void**)&dA, A_sz);
  cudaMalloc((void**)&dB, B_sz);
  cudaMalloc((void**)&dC, C_sz);
  cudaMemset(dC, 0, C_sz);
  cudaMemcpy(dA, &matA.front(), A_sz, cudaMemcpyHostToDevice);
  cudaMemcpy(dB, &matBT.front(), B_sz, cudaMemcpyHostToDevice);
  regtileSgemm('N', 'T', matArow, matBcol, matAcol, 1.0f, dA, matArow, dB, matBcol, 0.0f, dC, matArow);
  cudaMemcpy(&matC.front(), dC, C_sz, cudaMemcpyDeviceToHost);
  int bad = 0;
  for (int m = 0; m < matArow; m++) for (int n = 0; n < matBcol; n++) {
    double c = 0;
    for (int k = 0; k < matAcol; k++) c += matA[m + k * matArow] * matBT[n + k * matBcol];
    if (fabs(c - matC[m + n * matArow]) > 1e-3) bad++;
  }
  std::cout << "bad " << bad << std::endl;
  cudaFree(dA); cudaFree(dB); cudaFree(dC);
  return bad != 0;
}
