#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <sys/time.h>
#include <cuda.h>
#include "../poly-common/polybench.h"
#define M 32
#define N 24
#define DIM_THREAD_BLOCK_X 256
typedef float DATA_TYPE;
__global__ void gramschmidt_kernel1(DATA_TYPE *a, DATA_TYPE *r, DATA_TYPE *q, int k)
{
	int tid = blockIdx.x * blockDim.x + threadIdx.x;
	if(tid==0)
	{
		DATA_TYPE nrm = 0.0;
		int i;
		for (i = 0; i < M; i++) nrm += a[i * N + k] * a[i * N + k];
      		r[k * N + k] = sqrt(nrm);
	}
}
__global__ void gramschmidt_kernel2(DATA_TYPE *a, DATA_TYPE *r, DATA_TYPE *q, int k)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < M) q[i * N + k] = a[i * N + k] / r[k * N + k];
}
__global__ void gramschmidt_kernel3(DATA_TYPE *a, DATA_TYPE *r, DATA_TYPE *q, int k)
{
	int j = blockIdx.x * blockDim.x + threadIdx.x;
	if ((j > k) && (j < N))
	{
		r[k*N + j] = 0.0;
		for (int i = 0; i < M; i++) r[k*N + j] += q[i*N + k] * a[i*N + j];
		for (int i = 0; i < M; i++) a[i*N + j] -= q[i*N + k] * r[k*N + j];
	}
}
int main()
{
	DATA_TYPE *A = (DATA_TYPE*)malloc(M*N*sizeof(DATA_TYPE)), *Q = (DATA_TYPE*)malloc(M*N*sizeof(DATA_TYPE));
	for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) A[i*N + j] = ((DATA_TYPE) (i+1)*(j+1)) / (M+1) + (i == j) * 3;
	dim3 block(DIM_THREAD_BLOCK_X, 1), grid1(1), grid2((size_t)ceil(((float)M) / ((float)DIM_THREAD_BLOCK_X))), grid3((size_t)ceil(((float)N) / ((float)DIM_THREAD_BLOCK_X)), 1);
	DATA_TYPE *a, *r, *q;
	cudaMalloc(&a, sizeof(DATA_TYPE) * M * N); cudaMalloc(&r, sizeof(DATA_TYPE) * M * N); cudaMalloc(&q, sizeof(DATA_TYPE) * M * N);
	cudaMemcpy(a, A, sizeof(DATA_TYPE) * M * N, cudaMemcpyHostToDevice);
	polybench_start_instruments;
	for (int k = 0; k < N; k++)
	{
		gramschmidt_kernel1 << <grid1, block >> >(a, r, q, k);
		cudaDeviceSynchronize();
		gramschmidt_kernel2 << < grid2, block >> > (a, r, q, k);
		cudaDeviceSynchronize();
		gramschmidt_kernel3 <<< grid3, block >>> (a, r, q, k);
		cudaDeviceSynchronize();
	}
	polybench_stop_instruments;
	cudaMemcpy(Q, q, sizeof(DATA_TYPE) * M * N, cudaMemcpyDeviceToHost);
	double worst = 0;
	for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) {
		double dot = 0;
		for (int k = 0; k < M; k++) dot += Q[k*N + i] * Q[k*N + j];
		worst = fmax(worst, fabs(dot - (i == j)));
	}
	printf("orthogonal to %g, %f%%: %s\n", worst, percentDiff(worst, worst), worst < 1e-2 ? "PASSED" : "FAILED");
	return worst >= 1e-2;
}
