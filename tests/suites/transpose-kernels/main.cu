// Kernels by function pointer, bank conflicts and diagonal order
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#include <cuda_runtime.h>
#include <helper_cuda.h>
#define TILE_DIM 16
#define BLOCK_ROWS 16
#define FLOOR(a, b) (a - (a % b))
int NUM_REPS = 2;
__global__ void copySharedMem(float *odata, float *idata, int width, int height) { cg::thread_block cta = cg::this_thread_block(); __shared__ float tile[TILE_DIM][TILE_DIM]; int x = blockIdx.x * TILE_DIM + threadIdx.x, y = blockIdx.y * TILE_DIM + threadIdx.y, index = x + width * y;
  for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS) if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = idata[index]; cg::sync(cta); for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS) if (x < height && y < width) odata[index] = tile[threadIdx.y][threadIdx.x]; }
__global__ void transposeNaive(float *odata, float *idata, int width, int height) { int x = blockIdx.x * TILE_DIM + threadIdx.x, y = blockIdx.y * TILE_DIM + threadIdx.y, in = x + width * y, out = y + height * x; for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS) odata[out + i] = idata[in + i * width]; }
template <int PAD> __global__ void transposeShared(float *odata, float *idata, int width, int height) { cg::thread_block cta = cg::this_thread_block(); __shared__ float tile[TILE_DIM][TILE_DIM + PAD]; int x = blockIdx.x * TILE_DIM + threadIdx.x, y = blockIdx.y * TILE_DIM + threadIdx.y, in = x + y * width; x = blockIdx.y * TILE_DIM + threadIdx.x; y = blockIdx.x * TILE_DIM + threadIdx.y; int out = x + y * height;
  for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS) tile[threadIdx.y + i][threadIdx.x] = idata[in + i * width]; cg::sync(cta); for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS) odata[out + i * height] = tile[threadIdx.x][threadIdx.y + i]; }
__global__ void transposeDiagonal(float *odata, float *idata, int width, int height) { __shared__ float tile[TILE_DIM][TILE_DIM + 1]; int bx, by; if (width == height) { by = blockIdx.x; bx = (blockIdx.x + blockIdx.y) % gridDim.x; } else { int bid = blockIdx.x + gridDim.x * blockIdx.y; by = bid % gridDim.y; bx = ((bid / gridDim.y) + by) % gridDim.x; }
  int x = bx * TILE_DIM + threadIdx.x, y = by * TILE_DIM + threadIdx.y; tile[threadIdx.y][threadIdx.x] = idata[x + y * width]; __syncthreads(); x = by * TILE_DIM + threadIdx.x; y = bx * TILE_DIM + threadIdx.y; odata[x + y * height] = tile[threadIdx.x][threadIdx.y]; }
bool compareData(const float *reference, const float *data, unsigned int len, float epsilon) { for (unsigned i = 0; i < len; ++i) { float diff = reference[i] - data[i]; if (!((diff <= epsilon) && (diff >= -epsilon))) return false; } return true; }
int main(int argc, char **argv) {
  int size_x = 64, size_y = 64, devID = findCudaDevice(argc, (const char **)argv); void (*kernel)(float *, float *, int, int); const char *kernelName; dim3 grid(size_x / TILE_DIM, size_y / TILE_DIM), threads(TILE_DIM, BLOCK_ROWS); size_t mem_size = sizeof(float) * size_x * size_y; cudaEvent_t start, stop; bool success = devID >= 0;
  float *h_idata = (float *)malloc(mem_size), *h_odata = (float *)malloc(mem_size), *gold = (float *)malloc(mem_size), *d_idata, *d_odata; checkCudaErrors(cudaMalloc((void **)&d_idata, mem_size)); checkCudaErrors(cudaMalloc((void **)&d_odata, mem_size)); for (int i = 0; i < (size_x * size_y); ++i) h_idata[i] = (float)i; for (int y = 0; y < size_y; ++y) for (int x = 0; x < size_x; ++x) gold[(x * size_y) + y] = h_idata[(y * size_x) + x];
  checkCudaErrors(cudaMemcpy(d_idata, h_idata, mem_size, cudaMemcpyHostToDevice)); checkCudaErrors(cudaEventCreate(&start)); checkCudaErrors(cudaEventCreate(&stop));
  for (int k = 0; k < 5; k++) { switch (k) { case 0: kernel = &copySharedMem; kernelName = "shared memory copy"; break; case 1: kernel = &transposeNaive; kernelName = "naive"; break; case 2: kernel = &transposeShared<0>; kernelName = "coalesced"; break; case 3: kernel = transposeShared<1>; kernelName = "optimized"; break; default: kernel = &transposeDiagonal; kernelName = "diagonal"; }
    kernel<<<grid, threads>>>(d_odata, d_idata, size_x, size_y); getLastCudaError("warm-up"); checkCudaErrors(cudaEventRecord(start, 0)); for (int i = 0; i < NUM_REPS; i++) { kernel<<<grid, threads>>>(d_odata, d_idata, size_x, size_y); checkCudaErrors(cudaGetLastError()); } checkCudaErrors(cudaEventRecord(stop, 0)); checkCudaErrors(cudaEventSynchronize(stop)); float t; checkCudaErrors(cudaEventElapsedTime(&t, start, stop));
    checkCudaErrors(cudaMemcpy(h_odata, d_odata, mem_size, cudaMemcpyDeviceToHost)); bool res = compareData(k ? gold : h_idata, h_odata, size_x * size_y, 0.01f); if (!res) { printf("*** %s kernel FAILED ***\n", kernelName); success = false; } printf("transpose %s, Throughput = %.4f GB/s\n", kernelName, 2 * mem_size / (t / NUM_REPS) / 1e6); }
  free(h_idata); cudaFree(d_idata); cudaFree(d_odata); if (!success) { printf("Test failed!\n"); exit(EXIT_FAILURE); } printf("Test passed\n"); exit(EXIT_SUCCESS); }
