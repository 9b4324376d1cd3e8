#include <stdlib.h>
#include <math.h>
#include <string.h>
#include <stdio.h>
#include <cuda.h>
#include "define.c"
#include "reduce_kernel.cu"
#include "srad_kernel.cu"
int main(int argc, char *argv []){
	int Nr = 40, Nc = 53, i, j;
	long Ne = Nr*Nc;
	fp *image = (fp*)malloc(sizeof(fp) * Ne), *c = (fp*)malloc(sizeof(fp) * Ne);
	int *iN = (int*)malloc(sizeof(int)*Nr), *iS = (int*)malloc(sizeof(int)*Nr);
	for (i=0; i<Nr; i++) { iN[i] = i-1; iS[i] = i+1; }
	iN[0] = 0; iS[Nr-1] = Nr-1;
	for (i=0; i<Ne; i++) image[i] = exp((fp)((i*31)%255)/255);
	fp *d_I, *d_c, *d_sums, *d_sums2; int *d_iN, *d_iS;
	cudaMalloc((void **)&d_I, sizeof(fp)*Ne);
	cudaMalloc((void **)&d_c, sizeof(fp)*Ne);
	cudaMalloc((void **)&d_sums, sizeof(fp)*Ne);
	cudaMalloc((void **)&d_sums2, sizeof(fp)*Ne);
	cudaMalloc((void **)&d_iN, sizeof(int)*Nr); cudaMemcpy(d_iN, iN, sizeof(int)*Nr, cudaMemcpyHostToDevice);
	cudaMalloc((void **)&d_iS, sizeof(int)*Nr); cudaMemcpy(d_iS, iS, sizeof(int)*Nr, cudaMemcpyHostToDevice);
	cudaMemcpy(d_I, image, sizeof(fp)*Ne, cudaMemcpyHostToDevice);
	fp *squares = (fp*)malloc(sizeof(fp) * Ne);
	double total0 = 0, total20 = 0;
	for (i=0; i<Ne; i++) { squares[i] = image[i]*image[i]; total0 += image[i]; total20 += squares[i]; }
	cudaMemcpy(d_sums, image, sizeof(fp)*Ne, cudaMemcpyHostToDevice);
	cudaMemcpy(d_sums2, squares, sizeof(fp)*Ne, cudaMemcpyHostToDevice);
	int no = Ne, mul = 1;
	int blocks_x = Ne/NUMBER_THREADS;
	if (Ne % NUMBER_THREADS != 0) blocks_x = blocks_x + 1;
	dim3 threads, blocks;
	threads.x = NUMBER_THREADS; threads.y = 1;
	blocks.x = blocks_x; blocks.y = 1;
	int blocks2_x = blocks_x; dim3 blocks2; blocks2.y = 1;
	while(blocks2_x != 0){
		blocks2.x = blocks2_x;
		reduce<<<blocks2, threads>>>( Ne, no, mul, d_sums, d_sums2);
		no = blocks2_x;
		if(blocks2_x == 1) blocks2_x = 0;
		else{
			mul = mul * NUMBER_THREADS;
			blocks_x = blocks2_x/NUMBER_THREADS;
			if (blocks2_x % NUMBER_THREADS != 0) blocks_x = blocks_x + 1;
			blocks2_x = blocks_x;
		}
	}
	fp total, total2;
	cudaMemcpy(&total, d_sums, sizeof(fp), cudaMemcpyDeviceToHost);
	cudaMemcpy(&total2, d_sums2, sizeof(fp), cudaMemcpyDeviceToHost);
	fp mean = total / Ne, var = total2 / Ne - mean*mean, q0sqr = var / (mean*mean);
	srad<<<blocks, threads>>>(q0sqr, Nr, Ne, d_iN, d_iS, d_c, d_I);
	cudaMemcpy(c, d_c, sizeof(fp)*Ne, cudaMemcpyDeviceToHost);
	int bad = fabs(total-total0) > 1e-3*total0 || fabs(total2-total20) > 1e-3*total20;
	for (j=0; j<Nc; j++) for (i=0; i<Nr; i++) {
		fp v = image[i+Nr*j], n = image[iN[i]+Nr*j]-v, s = image[iS[i]+Nr*j]-v;
		fp g2 = (n*n+s*s)/(v*v), r = 1.0/(1.0+(g2-q0sqr)/(q0sqr*(1+q0sqr)));
		r = r < 0 ? 0 : r > 1 ? 1 : r;
		if (fabs(r - c[i+Nr*j]) > 1e-3) bad++;
	}
	printf("%s sums %f %f, %d wrong\n", bad ? "FAILED" : "PASSED", total, total2, bad);
	return bad != 0;
}
