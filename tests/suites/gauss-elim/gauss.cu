// API of CUDA 12: cudaThreadSynchronize, cudaDeviceProp::clockRate
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include "cuda.h"
#include <string.h>
#include <math.h>
#define MAXBLOCKSIZE 512
#define BLOCK_SIZE_XY 4
int Size = 48;
float *a, *b, *finalVec, *m, *a0, *b0;
void PrintDeviceProperties();
void checkCUDAError(const char *msg);
unsigned int totalKernelTime = 0;

__global__ void Fan1(float *m_cuda, float *a_cuda, int Size, int t)
{   
	if(threadIdx.x + blockIdx.x * blockDim.x >= Size-1-t) return;
	*(m_cuda+Size*(blockDim.x*blockIdx.x+threadIdx.x+t+1)+t) = *(a_cuda+Size*(blockDim.x*blockIdx.x+threadIdx.x+t+1)+t) / *(a_cuda+Size*t+t);
}
__global__ void Fan2(float *m_cuda, float *a_cuda, float *b_cuda,int Size, int j1, int t)
{
	if(threadIdx.x + blockIdx.x * blockDim.x >= Size-1-t) return;
	if(threadIdx.y + blockIdx.y * blockDim.y >= Size-t) return;
	int xidx = blockIdx.x * blockDim.x + threadIdx.x;
	int yidx = blockIdx.y * blockDim.y + threadIdx.y;
	a_cuda[Size*(xidx+1+t)+(yidx+t)] -= m_cuda[Size*(xidx+1+t)+t] * a_cuda[Size*t+(yidx+t)];
	if(yidx == 0){
		b_cuda[xidx+1+t] -= m_cuda[Size*(xidx+1+t)+(yidx+t)] * b_cuda[t];
	}
}
void ForwardSub()
{
	int t;
    float *m_cuda,*a_cuda,*b_cuda;
	cudaMalloc((void **) &m_cuda, Size * Size * sizeof(float));
	cudaMalloc((void **) &a_cuda, Size * Size * sizeof(float));
	cudaMalloc((void **) &b_cuda, Size * sizeof(float));	
	cudaMemcpy(m_cuda, m, Size * Size * sizeof(float),cudaMemcpyHostToDevice );
	cudaMemcpy(a_cuda, a, Size * Size * sizeof(float),cudaMemcpyHostToDevice );
	cudaMemcpy(b_cuda, b, Size * sizeof(float),cudaMemcpyHostToDevice );
	int block_size,grid_size;
	block_size = MAXBLOCKSIZE;
	grid_size = (Size/block_size) + (!(Size%block_size)? 0:1);
	dim3 dimBlock(block_size);
	dim3 dimGrid(grid_size);
	int blockSize2d = BLOCK_SIZE_XY, gridSize2d = (Size/blockSize2d) + (!(Size%blockSize2d?0:1)); 
	dim3 dimBlockXY(blockSize2d,blockSize2d);
	dim3 dimGridXY(gridSize2d,gridSize2d);
    struct timeval time_start;
    gettimeofday(&time_start, NULL);
	for (t=0; t<(Size-1); t++) {
		Fan1<<<dimGrid,dimBlock>>>(m_cuda,a_cuda,Size,t);
		cudaThreadSynchronize();
		Fan2<<<dimGridXY,dimBlockXY>>>(m_cuda,a_cuda,b_cuda,Size,Size-t,t);
		cudaThreadSynchronize();
		checkCUDAError("Fan2");
	}
	struct timeval time_end;
    gettimeofday(&time_end, NULL);
    totalKernelTime = (time_end.tv_sec * 1000000 + time_end.tv_usec) - (time_start.tv_sec * 1000000 + time_start.tv_usec);
	cudaMemcpy(m, m_cuda, Size * Size * sizeof(float),cudaMemcpyDeviceToHost );
	cudaMemcpy(a, a_cuda, Size * Size * sizeof(float),cudaMemcpyDeviceToHost );
	cudaMemcpy(b, b_cuda, Size * sizeof(float),cudaMemcpyDeviceToHost );
	cudaFree(m_cuda); cudaFree(a_cuda); cudaFree(b_cuda);
}
int main(int argc, char *argv[])
{
    int i,j;
    if (argc > 1) Size = atoi(argv[1]);
    PrintDeviceProperties();
    a = (float *) malloc(Size * Size * sizeof(float)); a0 = (float *) malloc(Size * Size * sizeof(float));
    b = (float *) malloc(Size * sizeof(float)); b0 = (float *) malloc(Size * sizeof(float));
    m = (float *) calloc(Size * Size, sizeof(float)); finalVec = (float *) malloc(Size * sizeof(float));
    for (i=0; i<Size; i++) {
        for (j=0; j<Size; j++) a[i*Size+j] = a0[i*Size+j] = 10.0f * expf(-0.1f * abs(i-j));
        b[i] = b0[i] = 1.0;
    }
    ForwardSub();
    for(i=0;i<Size;i++){
        finalVec[Size-i-1]=b[Size-i-1];
        for(j=0;j<i;j++) finalVec[Size-i-1]-=*(a+Size*(Size-i-1)+(Size-j-1)) * finalVec[Size-j-1];
        finalVec[Size-i-1]=finalVec[Size-i-1]/ *(a+Size*(Size-i-1)+(Size-i-1));
    }
    double worst = 0;
    for (i=0; i<Size; i++) {
        double sum = 0;
        for (j=0; j<Size; j++) sum += a0[i*Size+j] * finalVec[j];
        worst = fmax(worst, fabs(sum - b0[i]));
    }
    printf("%s residual %g in %u us\n", worst < 1e-3 ? "PASSED" : "FAILED", worst, totalKernelTime);
    return worst >= 1e-3;
}
void PrintDeviceProperties(){
	cudaDeviceProp deviceProp;  
	int nDevCount = 0;  
	cudaGetDeviceCount( &nDevCount );  
	printf( "Total Device found: %d", nDevCount );  
	for (int nDeviceIdx = 0; nDeviceIdx < nDevCount; ++nDeviceIdx )  
	{  
	    memset( &deviceProp, 0, sizeof(deviceProp));  
	    if( cudaSuccess == cudaGetDeviceProperties(&deviceProp, nDeviceIdx))  
	        {
				printf( "\nDevice Name \t\t - %s ", deviceProp.name );  
			    printf( "\nTotal Global Memory\t\t - %lu KB", deviceProp.totalGlobalMem/1024 );  
			    printf( "\nShared memory available per block \t - %lu KB", deviceProp.sharedMemPerBlock/1024 );  
			    printf( "\nNumber of registers per thread block \t - %d", deviceProp.regsPerBlock );  
			    printf( "\nWarp size in threads \t - %d", deviceProp.warpSize );  
			    printf( "\nMemory Pitch \t - %zu bytes", deviceProp.memPitch );  
			    printf( "\nMaximum Thread Dimension (block) \t - %d %d %d", deviceProp.maxThreadsDim[0], deviceProp.maxThreadsDim[1], deviceProp.maxThreadsDim[2] );  
			    printf( "\nTotal constant memory \t - %zu bytes", deviceProp.totalConstMem );  
			    printf( "\nClock rate \t - %d KHz", deviceProp.clockRate );  
			    printf( "\nDevice Overlap \t - %d", deviceProp.deviceOverlap );
			    printf( "\nMultiprocessor count \t - %d\n\n", deviceProp.multiProcessorCount );  
			}  
	    else  
	        printf( "\n%s", cudaGetErrorString(cudaGetLastError()));  
	}  
}
void checkCUDAError(const char *msg)
{
    cudaError_t err = cudaGetLastError();
    if( cudaSuccess != err) 
    {
        fprintf(stderr, "Cuda error: %s: %s.\n", msg, cudaGetErrorString( err) );
        exit(EXIT_FAILURE);
    }                         
}
