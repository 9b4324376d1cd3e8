#include <stdlib.h>
#include <math.h>
#include <string.h>
#include <sys/time.h>
#include <cuda.h>
#include <stdio.h>
extern "C" {
#include "neural.h"
}

__global__ void
layerforward_CUDA(float *input_cuda, float *input_hidden_cuda, float *hidden_partial_sum, int in, int hid)
{
   int by = blockIdx.y;
   int tx = threadIdx.x;
   int ty = threadIdx.y;
   int index =  ( hid + 1 ) * HEIGHT * by + ( hid + 1 ) * ty + tx + 1 + ( hid + 1 ) ;  
   int index_in = HEIGHT * by + ty + 1;
   __shared__ float input_node[HEIGHT];
   __shared__ float weight_matrix[HEIGHT][WIDTH];
   if ( tx == 0 )
   input_node[ty] = input_cuda[index_in] ;
   __syncthreads();
   weight_matrix[ty][tx] = input_hidden_cuda[index];
   __syncthreads();
   weight_matrix[ty][tx] = weight_matrix[ty][tx] * input_node[ty];
   __syncthreads();   
   for ( int i = 1 ; i <= __log2f(HEIGHT) ; i++){
	   int power_two = __powf(2, i);
	   if( ty % power_two == 0 )
	   weight_matrix[ty][tx] = weight_matrix[ty][tx] + weight_matrix[ty + power_two/2][tx];
	   __syncthreads();
   }
   if ( tx == 0 ) {
	   hidden_partial_sum[by * hid + ty] = weight_matrix[tx][ty];
   }
}

extern "C"
void layer_forward_cuda(NET *net, float *hidden)
{
  int in = net->input_n, hid = net->hidden_n;
  int num_blocks = in / 16, m = 0;
  float *input_weights_one_dim = (float *) malloc((in + 1)* (hid + 1) * sizeof(float));
  float *partial_sum = (float *) malloc(num_blocks * WIDTH * sizeof(float));
  for (int k = 0; k <= in; k++) for (int j = 0; j <= hid; j++) input_weights_one_dim[m++] = net->input_weights[k][j];
  float *input_cuda, *input_hidden_cuda, *hidden_partial_sum;
  dim3  grid( 1 , num_blocks);
  dim3  threads(16 , 16);
  cudaMalloc((void**) &input_cuda, (in + 1) * sizeof(float));
  cudaMalloc((void**) &input_hidden_cuda, (in + 1) * (hid + 1) * sizeof(float));
  cudaMalloc((void**) &hidden_partial_sum, num_blocks * WIDTH * sizeof(float));
  cudaMemcpy(input_cuda, net->input_units, (in + 1) * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(input_hidden_cuda, input_weights_one_dim, (in + 1) * (hid + 1) * sizeof(float), cudaMemcpyHostToDevice);
  layerforward_CUDA<<< grid, threads >>>(input_cuda, input_hidden_cuda, hidden_partial_sum, in, hid);
  cudaDeviceSynchronize();
  cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) {
	printf("bpnn kernel error: %s\n", cudaGetErrorString(error));
	exit(EXIT_FAILURE);
  }
  cudaMemcpy(partial_sum, hidden_partial_sum, num_blocks * WIDTH * sizeof(float), cudaMemcpyDeviceToHost);
  for (int j = 1; j <= hid; j++) {
    float sum = 0.0;
    for (int k = 0; k < num_blocks; k++) sum += partial_sum[k * hid + j-1] ;
    sum += net->input_weights[0][j];
    hidden[j] = float(1.0 / (1.0 + exp(-sum)));
  }
}
