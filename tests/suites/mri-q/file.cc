#include "file.h"
void inputData(int numX, int numK, float *kx, float *x, float *phi) {
  for (int i = 0; i < 3 * numX; i++) x[i] = (i * 17 % 64) / 64.0f;
  for (int i = 0; i < 3 * numK; i++) kx[i] = (i * 13 % 32) / 32.0f;
  for (int i = 0; i < 2 * numK; i++) phi[i] = (i * 7 % 16) / 16.0f - 0.5f;
}
