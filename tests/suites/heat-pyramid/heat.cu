#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <math.h>
#include <assert.h>

#ifdef RD_WG_SIZE_0_0                                                            
        #define BLOCK_SIZE RD_WG_SIZE_0_0                                        
#else                                                                            
        #define BLOCK_SIZE 16                                                            
#endif                                                                           

#define STR_SIZE 256
#define EXPAND_RATE 2
#define IN_RANGE(x, min, max)   ((x)>=(min) && (x)<=(max))
#define CLAMP_RANGE(x, min, max) x = (x<(min)) ? min : ((x>(max)) ? max : x )
#define MIN(a, b) ((a)<=(b) ? (a) : (b))

void run(int argc, char** argv);
static int failed = 0;

void 
fatal(char *s)
{
	fprintf(stderr, "error: %s\n", s);
}

__global__ void calculate_temp(int iteration, float *power, float *temp_src, float *temp_dst,
                               int grid_cols, int grid_rows, int border_cols, int border_rows, float k)
{
        __shared__ float temp_on_cuda[BLOCK_SIZE][BLOCK_SIZE];
        __shared__ float power_on_cuda[BLOCK_SIZE][BLOCK_SIZE];
        __shared__ float temp_t[BLOCK_SIZE][BLOCK_SIZE];
	int bx = blockIdx.x;
        int by = blockIdx.y;
	int tx=threadIdx.x;
	int ty=threadIdx.y;
	int small_block_rows = BLOCK_SIZE-iteration*EXPAND_RATE;
	int small_block_cols = BLOCK_SIZE-iteration*EXPAND_RATE;
        int blkY = small_block_rows*by-border_rows;
        int blkX = small_block_cols*bx-border_cols;
        int blkYmax = blkY+BLOCK_SIZE-1;
        int blkXmax = blkX+BLOCK_SIZE-1;
	int yidx = blkY+ty;
	int xidx = blkX+tx;
	int index = grid_cols*yidx+xidx;
	if(IN_RANGE(yidx, 0, grid_rows-1) && IN_RANGE(xidx, 0, grid_cols-1)){
            temp_on_cuda[ty][tx] = temp_src[index];
            power_on_cuda[ty][tx] = power[index];
	}
	__syncthreads();
        int validYmin = (blkY < 0) ? -blkY : 0;
        int validYmax = (blkYmax > grid_rows-1) ? BLOCK_SIZE-1-(blkYmax-grid_rows+1) : BLOCK_SIZE-1;
        int validXmin = (blkX < 0) ? -blkX : 0;
        int validXmax = (blkXmax > grid_cols-1) ? BLOCK_SIZE-1-(blkXmax-grid_cols+1) : BLOCK_SIZE-1;
        int N = ty-1, S = ty+1, W = tx-1, E = tx+1;
        N = (N < validYmin) ? validYmin : N;
        S = (S > validYmax) ? validYmax : S;
        W = (W < validXmin) ? validXmin : W;
        E = (E > validXmax) ? validXmax : E;
        bool computed;
        for (int i=0; i<iteration ; i++){ 
            computed = false;
            if( IN_RANGE(tx, i+1, BLOCK_SIZE-i-2) && IN_RANGE(ty, i+1, BLOCK_SIZE-i-2) &&
                IN_RANGE(tx, validXmin, validXmax) && IN_RANGE(ty, validYmin, validYmax) ) {
                  computed = true;
                  temp_t[ty][tx] =   temp_on_cuda[ty][tx] + k * (power_on_cuda[ty][tx] + 
	       	         (temp_on_cuda[S][tx] + temp_on_cuda[N][tx] - 2.0*temp_on_cuda[ty][tx]) + 
		             (temp_on_cuda[ty][E] + temp_on_cuda[ty][W] - 2.0*temp_on_cuda[ty][tx]));
            }
            __syncthreads();
            if(i==iteration-1)
                break;
            if(computed)
                temp_on_cuda[ty][tx]= temp_t[ty][tx];
            __syncthreads();
          }
      if (computed){
          temp_dst[index]= temp_t[ty][tx];		
      }
}

int compute_tran_temp(float *MatrixPower,float *MatrixTemp[2], int col, int row,
		int total_iterations, int num_iterations, int blockCols, int blockRows, int borderCols, int borderRows) 
{
        dim3 dimBlock(BLOCK_SIZE, BLOCK_SIZE);
        dim3 dimGrid(blockCols, blockRows);  
        int src = 1, dst = 0;
	for (int t = 0; t < total_iterations; t+=num_iterations) {
            int temp = src;
            src = dst;
            dst = temp;
            calculate_temp<<<dimGrid, dimBlock>>>(MIN(num_iterations, total_iterations-t), MatrixPower,MatrixTemp[src],MatrixTemp[dst],
		col,row,borderCols, borderRows, 0.1f);
	}
        return dst;
}

void usage(int argc, char **argv)
{
	fprintf(stderr, "Usage: %s <grid_rows/grid_cols> <pyramid_height> <sim_time>\n", argv[0]);
	exit(1);
}

int main(int argc, char** argv)
{
  printf("WG size of kernel = %d X %d\n", BLOCK_SIZE, BLOCK_SIZE);
    run(argc,argv);
    return failed;
}

void run(int argc, char** argv)
{
    int grid_rows = 64, grid_cols = 64, pyramid_height = 2, total_iterations = 6;
    if (argc != 1 && argc != 4) usage(argc, argv);
    if (argc == 4) { grid_rows = grid_cols = atoi(argv[1]); pyramid_height = atoi(argv[2]); total_iterations = atoi(argv[3]); }
    int borderCols = (pyramid_height)*EXPAND_RATE/2, borderRows = borderCols;
    int smallBlockCol = BLOCK_SIZE-(pyramid_height)*EXPAND_RATE, smallBlockRow = smallBlockCol;
    int blockCols = grid_cols/smallBlockCol+((grid_cols%smallBlockCol==0)?0:1);
    int blockRows = grid_rows/smallBlockRow+((grid_rows%smallBlockRow==0)?0:1);
    int size = grid_cols*grid_rows;
    float *temp = (float *)malloc(size*sizeof(float)), *power = (float*)malloc(size*sizeof(float)), *out = (float*)calloc(size, sizeof(float));
    if( !temp || !power || !out) fatal("unable to allocate memory");
    for (int i = 0; i < size; i++) { temp[i] = 320 + i % 13; power[i] = (i % 7) * 0.01f; }
    float *MatrixTemp[2], *MatrixPower;
    cudaMalloc((void**)&MatrixTemp[0], sizeof(float)*size);
    cudaMalloc((void**)&MatrixTemp[1], sizeof(float)*size);
    cudaMemcpy(MatrixTemp[0], temp, sizeof(float)*size, cudaMemcpyHostToDevice);
    cudaMalloc((void**)&MatrixPower, sizeof(float)*size);
    cudaMemcpy(MatrixPower, power, sizeof(float)*size, cudaMemcpyHostToDevice);
    int ret = compute_tran_temp(MatrixPower,MatrixTemp,grid_cols,grid_rows, total_iterations,pyramid_height, blockCols, blockRows, borderCols, borderRows);
    cudaMemcpy(out, MatrixTemp[ret], sizeof(float)*size, cudaMemcpyDeviceToHost);
    float *a = (float *)malloc(size*sizeof(float));
    for (int t = 0; t < total_iterations; t++) {
        for (int r = 0; r < grid_rows; r++) for (int c = 0; c < grid_cols; c++) {
            int n = r ? r-1 : 0, s = r < grid_rows-1 ? r+1 : r, w = c ? c-1 : 0, e = c < grid_cols-1 ? c+1 : c;
            float v = temp[r*grid_cols+c];
            a[r*grid_cols+c] = v + 0.1f*(power[r*grid_cols+c] + (temp[s*grid_cols+c]+temp[n*grid_cols+c]-2.0*v) + (temp[r*grid_cols+e]+temp[r*grid_cols+w]-2.0*v));
        }
        float *x = temp; temp = a; a = x;
    }
    float worst = 0;
    for (int i = 0; i < size; i++) worst = fmaxf(worst, fabsf(temp[i]-out[i]));
    failed = worst > 1e-2;
    printf("%s (largest difference %g)\n", failed ? "FAILED" : "PASSED", worst);
    cudaFree(MatrixPower); cudaFree(MatrixTemp[0]); cudaFree(MatrixTemp[1]);
}
