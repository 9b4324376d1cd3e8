#include <stdlib.h>
#include <stdio.h>
#include <math.h>
#include <cuda_runtime.h>
#include <cufft.h>
#include <cufftXt.h>
#include <helper_cuda.h>
typedef float2 Complex;
static __device__ __host__ inline Complex ComplexMul(Complex a, Complex b) { Complex c; c.x = a.x * b.x - a.y * b.y; c.y = a.x * b.y + a.y * b.x; return c; }
static __global__ void mulScale(Complex *a, const Complex *b, int size, float scale) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += blockDim.x * gridDim.x) { Complex c = ComplexMul(a[i], b[i]); a[i] = make_float2(c.x * scale, c.y * scale); } }
int main() {
  const int n = 64; Complex s[n], f[n], o[n], *ds, *df; double worst = 0;
  for (int i = 0; i < n; i++) { s[i] = make_float2(i % 5, 0); f[i] = make_float2(i < 4 ? 0.25f : 0, 0); }
  checkCudaErrors(cudaMalloc((void **)&ds, sizeof s)); checkCudaErrors(cudaMalloc((void **)&df, sizeof f)); checkCudaErrors(cudaMemcpy(ds, s, sizeof s, cudaMemcpyHostToDevice)); checkCudaErrors(cudaMemcpy(df, f, sizeof f, cudaMemcpyHostToDevice));
  cufftHandle plan; checkCudaErrors(cufftPlan1d(&plan, n, CUFFT_C2C, 1));
  checkCudaErrors(cufftExecC2C(plan, reinterpret_cast<cufftComplex *>(ds), reinterpret_cast<cufftComplex *>(ds), CUFFT_FORWARD)); checkCudaErrors(cufftExecC2C(plan, (cufftComplex *)df, (cufftComplex *)df, CUFFT_FORWARD));
  mulScale<<<2, 32>>>(ds, df, n, 1.0f / n); getLastCudaError("mul"); checkCudaErrors(cufftExecC2C(plan, ds, ds, CUFFT_INVERSE)); checkCudaErrors(cudaMemcpy(o, ds, sizeof o, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; i++) { double w = 0; for (int k = 0; k < 4; k++) w += 0.25 * s[(i - k + n) % n].x; worst = fmax(worst, fabs(w - o[i].x)); }
  checkCudaErrors(cufftDestroy(plan)); printf("%s %g\n", worst < 1e-4 ? "PASSED" : "FAILED", worst); return worst >= 1e-4;
}
