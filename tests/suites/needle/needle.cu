#define LIMIT -999
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <math.h>
#include "needle.h"
#include <cuda.h>
#include <sys/time.h>
// includes, kernels
#include "needle_kernel.cu"

void runTest( int argc, char** argv);

int blosum62[8][8] = {
{ 4, -1, -2, -2,  0, -1, -1,  0}, {-1,  5,  0, -2, -3,  1,  0, -2}, {-2,  0,  6,  1, -3,  0,  0,  0}, {-2, -2,  1,  6, -3,  0,  2, -1},
{ 0, -3, -3, -3,  9, -3, -4, -3}, {-1,  1,  0,  0, -3,  5,  2, -2}, {-1,  0,  0,  2, -4,  2,  5, -2}, { 0, -2,  0, -1, -3, -2, -2,  6}
};

double gettime() {
  struct timeval t;
  gettimeofday(&t,NULL);
  return t.tv_sec+t.tv_usec*1e-6;
}

int main( int argc, char** argv)
{
  printf("WG size of kernel = %d \n", BLOCK_SIZE);
  runTest( argc, argv);
  return EXIT_SUCCESS;
}

void runTest( int argc, char** argv)
{
  int max_rows = 256, max_cols = 256, penalty = 10;
  int *input_itemsets, *output_itemsets, *referrence, *expected;
  int *matrix_cuda, *referrence_cuda;
  if (argc == 3) { max_rows = max_cols = atoi(argv[1]); penalty = atoi(argv[2]); }
  max_rows = max_rows + 1;
  max_cols = max_cols + 1;
  int size = max_rows * max_cols;
  referrence = (int *)malloc( size * sizeof(int) );
  input_itemsets = (int *)calloc( size, sizeof(int) );
  output_itemsets = (int *)malloc( size * sizeof(int) );
  expected = (int *)calloc( size, sizeof(int) );
  srand ( 7 );
  for( int i=1; i< max_rows ; i++) input_itemsets[i*max_cols] = rand() % 7 + 1;
  for( int j=1; j< max_cols ; j++) input_itemsets[j] = rand() % 7 + 1;
  for (int i = 1 ; i < max_cols; i++)
    for (int j = 1 ; j < max_rows; j++)
      referrence[i*max_cols+j] = blosum62[input_itemsets[i*max_cols]][input_itemsets[j]];
  for( int i = 1; i< max_rows ; i++) input_itemsets[i*max_cols] = -i * penalty;
  for( int j = 1; j< max_cols ; j++) input_itemsets[j] = -j * penalty;

  memcpy(expected, input_itemsets, size * sizeof(int));
  for (int i = 1; i < max_rows; i++)
    for (int j = 1; j < max_cols; j++)
      expected[i*max_cols+j] = maximum(expected[(i-1)*max_cols+j-1] + referrence[i*max_cols+j],
        expected[i*max_cols+j-1] - penalty, expected[(i-1)*max_cols+j] - penalty);

  cudaMalloc((void**)& referrence_cuda, sizeof(int)*size);
  cudaMalloc((void**)& matrix_cuda, sizeof(int)*size);
  cudaMemcpy(referrence_cuda, referrence, sizeof(int) * size, cudaMemcpyHostToDevice);
  cudaMemcpy(matrix_cuda, input_itemsets, sizeof(int) * size, cudaMemcpyHostToDevice);
  dim3 dimGrid;
  dim3 dimBlock(BLOCK_SIZE, 1);
  int block_width = ( max_cols - 1 )/BLOCK_SIZE;
  double t = gettime();
  for( int i = 1 ; i <= block_width ; i++){
    dimGrid.x = i;
    dimGrid.y = 1;
    needle_cuda_shared_1<<<dimGrid, dimBlock>>>(referrence_cuda, matrix_cuda, max_cols, penalty, i, block_width);
  }
  for( int i = block_width - 1  ; i >= 1 ; i--){
    dimGrid.x = i;
    dimGrid.y = 1;
    needle_cuda_shared_2<<<dimGrid, dimBlock>>>(referrence_cuda, matrix_cuda, max_cols, penalty, i, block_width);
  }
  cudaDeviceSynchronize();
  printf("kernel time %f\n", gettime() - t);
  cudaMemcpy(output_itemsets, matrix_cuda, sizeof(int) * size, cudaMemcpyDeviceToHost);
  for (int i = 0; i < size; i++)
    if (output_itemsets[i] != expected[i]) { fprintf(stderr, "wrong at %d: %d %d\n", i, output_itemsets[i], expected[i]); exit(1); }
  printf("Test PASSED\n");
  cudaFree(referrence_cuda);
  cudaFree(matrix_cuda);
  free(referrence); free(input_itemsets); free(output_itemsets);
}
