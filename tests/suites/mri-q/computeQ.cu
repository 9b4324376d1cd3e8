#include "computeQ.h"
__constant__ __device__ kValues ck[KERNEL_Q_K_ELEMS_PER_GRID];
__global__ void ComputePhiMag_GPU(float* phiR, float* phiI, float* phiMag, int numK) {
  int indexK = blockIdx.x*KERNEL_PHI_MAG_THREADS_PER_BLOCK + threadIdx.x;
  if (indexK < numK) {
    float real = phiR[indexK];
    float imag = phiI[indexK];
    phiMag[indexK] = real*real + imag*imag;
  }
}
__global__ void ComputeQ_GPU(int numK, int kGlobalIndex, float* x, float* y, float* z, float* Qr , float* Qi) {
  float sX, sY, sZ, sQr, sQi;
  int xIndex = blockIdx.x*KERNEL_Q_THREADS_PER_BLOCK + threadIdx.x;
  sX = x[xIndex]; sY = y[xIndex]; sZ = z[xIndex]; sQr = Qr[xIndex]; sQi = Qi[xIndex];
  int kIndex = 0;
  if (numK % 2) {
    float expArg = PIx2 * (ck[0].Kx * sX + ck[0].Ky * sY + ck[0].Kz * sZ);
    sQr += ck[0].PhiMag * cos(expArg);
    sQi += ck[0].PhiMag * sin(expArg);
    kIndex++; kGlobalIndex++;
  }
  for (; (kIndex < KERNEL_Q_K_ELEMS_PER_GRID) && (kGlobalIndex < numK); kIndex += 2, kGlobalIndex += 2) {
    float expArg = PIx2 * (ck[kIndex].Kx * sX + ck[kIndex].Ky * sY + ck[kIndex].Kz * sZ);
    sQr += ck[kIndex].PhiMag * cos(expArg);
    sQi += ck[kIndex].PhiMag * sin(expArg);
    int kIndex1 = kIndex + 1;
    float expArg1 = PIx2 * (ck[kIndex1].Kx * sX + ck[kIndex1].Ky * sY + ck[kIndex1].Kz * sZ);
    sQr += ck[kIndex1].PhiMag * cos(expArg1);
    sQi += ck[kIndex1].PhiMag * sin(expArg1);
  }
  Qr[xIndex] = sQr;
  Qi[xIndex] = sQi;
}
void computePhiMag_GPU(int numK, float* phiR_d, float* phiI_d, float* phiMag_d) {
  int phiMagBlocks = numK / KERNEL_PHI_MAG_THREADS_PER_BLOCK;
  if (numK % KERNEL_PHI_MAG_THREADS_PER_BLOCK) phiMagBlocks++;
  ComputePhiMag_GPU <<< phiMagBlocks, KERNEL_PHI_MAG_THREADS_PER_BLOCK >>> (phiR_d, phiI_d, phiMag_d, numK);
}
void computeQ_GPU(int numK, int numX, float* x_d, float* y_d, float* z_d, kValues* kVals, float* Qr_d, float* Qi_d) {
  int QGrids = (numK + KERNEL_Q_K_ELEMS_PER_GRID - 1) / KERNEL_Q_K_ELEMS_PER_GRID;
  dim3 DimQBlock(KERNEL_Q_THREADS_PER_BLOCK, 1), DimQGrid(numX / KERNEL_Q_THREADS_PER_BLOCK, 1);
  for (int QGrid = 0; QGrid < QGrids; QGrid++) {
    int QGridBase = QGrid * KERNEL_Q_K_ELEMS_PER_GRID;
    kValues* kValsTile = kVals + QGridBase;
    int numElems = numK - QGridBase < KERNEL_Q_K_ELEMS_PER_GRID ? numK - QGridBase : KERNEL_Q_K_ELEMS_PER_GRID;
    cudaMemcpyToSymbol(ck, kValsTile, numElems * sizeof(kValues), 0);
    ComputeQ_GPU <<< DimQGrid, DimQBlock >>> (numK, QGridBase, x_d, y_d, z_d, Qr_d, Qi_d);
  }
}
