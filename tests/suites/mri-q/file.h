void inputData(int numX, int numK, float *kx, float *x, float *phi);
