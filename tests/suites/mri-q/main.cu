#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include "file.h"
#include "computeQ.h"
#define CUDA_ERRCK { cudaError_t err = cudaGetLastError(); if (err) { fprintf(stderr, "CUDA error: %s\n", cudaGetErrorString(err)); exit(-1); } }
int main(int argc, char *argv[]) {
  const int numX = 512, numK = 192;
  float *k = new float[3*numK], *x = new float[3*numX], *phi = new float[2*numK], mag[numK], *Q = new float[2*numX];
  inputData(numX, numK, k, x, phi);
  float *phi_d, *mag_d, *x_d, *Q_d;
  cudaMalloc((void**)&phi_d, 2*numK*sizeof(float)); cudaMalloc((void**)&mag_d, numK*sizeof(float));
  cudaMalloc((void**)&x_d, 3*numX*sizeof(float)); cudaMalloc((void**)&Q_d, 2*numX*sizeof(float));
  CUDA_ERRCK
  cudaMemcpy(phi_d, phi, 2*numK*sizeof(float), cudaMemcpyHostToDevice);
  computePhiMag_GPU(numK, phi_d, phi_d + numK, mag_d);
  cudaMemcpy(mag, mag_d, sizeof mag, cudaMemcpyDeviceToHost);
  CUDA_ERRCK
  kValues *kVals = (struct kValues*)calloc(numK, sizeof (struct kValues));
  for (int i = 0; i < numK; i++) { kVals[i].Kx = k[i]; kVals[i].Ky = k[i+numK]; kVals[i].Kz = k[i+2*numK]; kVals[i].PhiMag = mag[i]; }
  cudaMemcpy(x_d, x, 3*numX*sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset((void *)Q_d, 0, 2*numX*sizeof(float));
  computeQ_GPU(numK, numX, x_d, x_d + numX, x_d + 2*numX, kVals, Q_d, Q_d + numX);
  cudaMemcpy(Q, Q_d, 2*numX*sizeof(float), cudaMemcpyDeviceToHost);
  CUDA_ERRCK
  double worst = 0;
  for (int i = 0; i < numX; i++) {
    double r = 0, m = 0;
    for (int j = 0; j < numK; j++) {
      double p = (double)phi[j]*phi[j] + (double)phi[j+numK]*phi[j+numK], a = 2*M_PI*(kVals[j].Kx*x[i] + kVals[j].Ky*x[i+numX] + kVals[j].Kz*x[i+2*numX]);
      r += p*cos(a); m += p*sin(a);
    }
    worst = fmax(worst, fmax(fabs(r-Q[i]), fabs(m-Q[i+numX])));
  }
  printf("%s worst %g\n", worst < 1e-2 ? "PASSED" : "FAILED", worst);
  return worst >= 1e-2;
}
