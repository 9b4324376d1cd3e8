#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <cuda_runtime.h>
#include "common.h"
static void cpu_stencil(float c0, float c1, const float *A0, float *Anext, const int nx, const int ny, const int nz)
{
	int i, j, k;
	for (i = 1; i < nx-1; i++) for (j = 1; j < ny-1; j++) for (k = 1; k < nz-1; k++)
		Anext[Index3D(nx, ny, i, j, k)] = (A0[Index3D(nx, ny, i, j, k + 1)] + A0[Index3D(nx, ny, i, j, k - 1)] + A0[Index3D(nx, ny, i, j + 1, k)] +
			A0[Index3D(nx, ny, i, j - 1, k)] + A0[Index3D(nx, ny, i + 1, j, k)] + A0[Index3D(nx, ny, i - 1, j, k)])*c1 - A0[Index3D(nx, ny, i, j, k)]*c0;
}
int main(int argc, char** argv)
{
	int nx = 34, ny = 20, nz = 12, iteration = 3, i, n = nx*ny*nz, device;
	float c0 = 1.0f/6.0f, c1 = 1.0f/6.0f/6.0f, *a = malloc(n*sizeof(float)), *b = malloc(n*sizeof(float)), *g = malloc(n*sizeof(float)), *g2 = malloc(n*sizeof(float)), *t;
	struct cudaDeviceProp prop;
	enum cudaError err = cudaGetDevice(&device);
	if (err != cudaSuccess) { fprintf(stderr, "%s\n", cudaGetErrorString(err)); return 1; }
	cudaGetDeviceProperties(&prop, device);
	printf("%s\n", prop.name);
	for (i = 0; i < n; i++) a[i] = b[i] = g[i] = g2[i] = (i*7 % 31) / 31.0f;
	if (run_stencil(c0, c1, g, g2, nx, ny, nz, iteration)) return 2;
	for (i = 0; i < iteration; i++) { cpu_stencil(c0, c1, a, b, nx, ny, nz); t = a; a = b; b = t; }
	double worst = 0;
	for (i = 0; i < n; i++) worst = fmax(worst, fabs(a[i] - g[i]));
	printf("%s %g\n", worst < 1e-4 ? "PASSED" : "FAILED", worst);
	return worst >= 1e-4;
}
