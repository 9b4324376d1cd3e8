#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <assert.h>
#include <sys/time.h>
#include <cuda.h>
#include "../poly-common/polybench.h"
#define GPU_DEVICE 0
#define PERCENT_DIFF_ERROR_THRESHOLD 1.05
#define M 40
#define N 48
#define FLOAT_N 48.0f
#define EPS 0.005f
#define sqrt_of_array_cell(x,j) sqrt(x[j])
typedef float DATA_TYPE;
__global__ void mean_kernel(DATA_TYPE *mean, DATA_TYPE *data) {
	int j = blockIdx.x * blockDim.x + threadIdx.x;
	if (j < M) { mean[j] = 0.0; int i; for(i=0; i < N; i++) mean[j] += data[i*M + j]; mean[j] /= (DATA_TYPE)FLOAT_N; } }
__global__ void std_kernel(DATA_TYPE *mean, DATA_TYPE *std, DATA_TYPE *data) {
	int j = blockIdx.x * blockDim.x + threadIdx.x;
	if (j < M) { std[j] = 0.0; int i; for(i = 0; i < N; i++) std[j] += (data[i*M + j] - mean[j]) * (data[i*M + j] - mean[j]);
		std[j] /= (FLOAT_N); std[j] = sqrt(std[j]); if(std[j] <= EPS) std[j] = 1.0; } }
__global__ void reduce_kernel(DATA_TYPE *mean, DATA_TYPE *std, DATA_TYPE *data) {
	int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
	if ((i < N) && (j < M)) { data[i*M + j] -= mean[j]; data[i*M + j] /= (sqrt(FLOAT_N) * std[j]); } }
__global__ void corr_kernel(DATA_TYPE *symmat, DATA_TYPE *data) {
	int j1 = blockIdx.x * blockDim.x + threadIdx.x, i, j2;
	if (j1 < (M-1)) { symmat[j1*M + j1] = 1.0; for (j2 = (j1 + 1); j2 < M; j2++) { symmat[j1*M + j2] = 0.0; for(i = 0; i < N; i++) symmat[j1*M + j2] += data[i*M + j1] * data[i*M + j2]; symmat[j2*M + j1] = symmat[j1*M + j2]; } } }
int main() {
	POLYBENCH_2D_ARRAY_DECL(data,DATA_TYPE,N,M,n,m); POLYBENCH_2D_ARRAY_DECL(out,DATA_TYPE,M,M,m,m);
	for (int i = 0; i < N; i++) for (int j = 0; j < M; j++) (*data)[i][j] = (DATA_TYPE)(i*j % 17)/M + i * 0.1f;
	DATA_TYPE *d, *mean, *sd, *sym; cudaMalloc((void **)&d, sizeof(DATA_TYPE)*M*N); cudaMalloc((void **)&sym, sizeof(DATA_TYPE)*M*M); cudaMalloc((void **)&sd, sizeof(DATA_TYPE)*M); cudaMalloc((void **)&mean, sizeof(DATA_TYPE)*M);
	cudaMemcpy(d, data, sizeof *data, cudaMemcpyHostToDevice);
	dim3 block1(256, 1), grid1((size_t)(ceil((float)(M)) / ((float)256)) + 1, 1), block3(32, 8), grid3((size_t)(ceil((float)M / 32)), (size_t)(ceil((float)N / 8)));
	polybench_start_instruments;
	mean_kernel<<< grid1, block1 >>>(mean, d); std_kernel << < grid1, block1 >> > (mean, sd, d); reduce_kernel << <grid3, block3>> >(mean, sd, d); corr_kernel<<<grid1,block1>>>(sym, d); cudaDeviceSynchronize();
	polybench_stop_instruments;
	DATA_TYPE last = 1.0; cudaMemcpy(&sym[(M-1)*M + (M-1)], &last, sizeof last, cudaMemcpyHostToDevice); cudaMemcpy(out, sym, sizeof *out, cudaMemcpyDeviceToHost); int fail = 0;
	for (int a = 0; a < M; a++) for (int b = 0; b < M; b++) { double ma = 0, mb = 0, va = 0, vb = 0, c = 0; for (int i = 0; i < N; i++) { ma += (*data)[i][a] / N; mb += (*data)[i][b] / N; }
		for (int i = 0; i < N; i++) { double x = (*data)[i][a]-ma, y = (*data)[i][b]-mb; va += x*x; vb += y*y; c += x*y; } if (percentDiff(c / sqrt(va*vb), (*out)[a][b]) > PERCENT_DIFF_ERROR_THRESHOLD) fail++; }
	printf("Non-Matching CPU-GPU Outputs Beyond Error Threshold of %4.2f Percent: %d\n", PERCENT_DIFF_ERROR_THRESHOLD, fail); POLYBENCH_FREE_ARRAY(data); return fail != 0; }
