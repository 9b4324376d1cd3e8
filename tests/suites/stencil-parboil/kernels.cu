#include "common.h"
#include <stdio.h>
__global__ void block2D_reg_tiling(float c0,float c1,float *A0,float *Anext, int nx, int ny, int nz)
{
	const unsigned int ty=threadIdx.y, tx=threadIdx.x;
	int i = blockIdx.x*blockDim.x+tx, j = blockIdx.y*blockDim.y+ty;
	extern __shared__ float sh_A0[];
	if (i >= nx || j >= ny) { for (int k=1;k<nz-1;k++) { __syncthreads(); __syncthreads(); } return; }
	float bottom=A0[Index3D (nx, ny, i, j, 0)], current=A0[Index3D (nx, ny, i, j, 1)];
	int sh = ty*blockDim.x+tx, inner = i>0 && j>0 && i<nx-1 && j<ny-1;
	for(int k=1;k<nz-1;k++)
	{
		float top = A0[Index3D (nx, ny, i, j, k+1)];
		sh_A0[sh]=current;
		__syncthreads();
		if (inner) {
			float l = (tx==0)? A0[Index3D (nx, ny, i-1, j, k)] : sh_A0[sh-1];
			float r = (tx==blockDim.x-1)? A0[Index3D (nx, ny, i+1, j, k)] : sh_A0[sh+1];
			float u = (ty==0)? A0[Index3D (nx, ny, i, j-1, k)] : sh_A0[sh-blockDim.x];
			float d = (ty==blockDim.y-1)? A0[Index3D (nx, ny, i, j+1, k)] : sh_A0[sh+blockDim.x];
			Anext[Index3D (nx, ny, i, j, k)] = (top + bottom + u + d + l + r)*c1 - current*c0;
		}
		__syncthreads();
		bottom=current; current=top;
	}
}
extern "C" int run_stencil(float c0, float c1, float *A0, float *Anext, int nx, int ny, int nz, int iterations)
{
	float *d_A0, *d_Anext; size_t size = sizeof(float)*nx*ny*nz;
	cudaMalloc((void **)&d_A0, size); cudaMalloc((void **)&d_Anext, size);
	cudaMemcpy(d_A0, A0, size, cudaMemcpyHostToDevice); cudaMemcpy(d_Anext, d_A0, size, cudaMemcpyDeviceToDevice);
	dim3 block (16, 4, 1), grid ((nx+15)/16, (ny+3)/4, 1);
	for(int t=0;t<iterations;t++) { block2D_reg_tiling<<<grid, block, 16*4*sizeof(float)>>>(c0,c1, d_A0, d_Anext, nx, ny, nz); float *d_temp = d_A0; d_A0 = d_Anext; d_Anext = d_temp; }
	cudaError_t err = cudaGetLastError(); if (err) { fprintf(stderr, "%s\n", cudaGetErrorString(err)); return 1; }
	cudaMemcpy(A0, d_A0, size, cudaMemcpyDeviceToHost); cudaFree(d_A0); cudaFree(d_Anext); return 0;
}
