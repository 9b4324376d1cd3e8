// Rows are smoothed by a convolution: padded rows transformed in place; the host is compiled by g++.
#include <cuda_runtime.h>
#include <cufft.h>
#include <cstdio>
#include <cmath>
#include <vector>
void multiply(cufftComplex *, const cufftComplex *, int n, float);
int main() { const int n = 1000, rows = 5; std::vector<float> a(rows*2*(n/2+1)), b = a; for (int r = 0; r < rows; r++) for (int i = 0; i < n; i++) a[r*(n+2)+i] = sinf(i*.01f*(r+1)), b[r*(n+2)+i] = i < 10 ? .1f : 0; float *da, *db; cudaMalloc((void**)&da, a.size()*4); cudaMalloc((void**)&db, a.size()*4); cudaMemcpy(da, a.data(), a.size()*4, cudaMemcpyHostToDevice); cudaMemcpy(db, b.data(), b.size()*4, cudaMemcpyHostToDevice);
 cufftHandle f, g; int nn[] = {n}; if (cufftPlanMany(&f, 1, nn, NULL, 1, 0, NULL, 1, 0, CUFFT_R2C, rows) || cufftPlan1d(&g, n, CUFFT_C2R, rows)) return 2; cufftExecR2C(f, da, (cufftComplex*)da); cufftExecR2C(f, db, (cufftComplex*)db); multiply((cufftComplex*)da, (cufftComplex*)db, rows*(n/2+1), 1.f/n); cufftExecC2R(g, (cufftComplex*)da, da); std::vector<float> o(a.size()); cudaMemcpy(o.data(), da, o.size()*4, cudaMemcpyDeviceToHost); double w = 0; for (int r = 0; r < rows; r++) for (int i = 0; i < n; i++) { double s = 0; for (int k = 0; k < 10; k++) s += .1*a[r*(n+2)+(i-k+n)%n]; w = fmax(w, fabs(s-o[r*(n+2)+i])); } printf("%s %g\n", w < 1e-5 ? "PASSED" : "FAILED", w); return w >= 1e-5; }
