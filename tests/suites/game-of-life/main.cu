#include <iostream>
#include <cstdlib>
#include <cstring>
#include <omp.h>
#include <cuda_runtime.h>
#include <device_launch_parameters.h>
using std::cout; using std::endl;
typedef unsigned char ubyte;
#define CHECK_ERROR(call) if ((call) != cudaSuccess) { cout << "ERROR at line " << __LINE__ << ": " << cudaGetErrorString(cudaGetLastError()) << endl; return EXIT_FAILURE; }
__constant__ ubyte rule[2][9] = {{0, 0, 0, 1, 0, 0, 0, 0, 0}, {0, 0, 1, 1, 0, 0, 0, 0, 0}};
__global__ void simpleLifeKernel(const ubyte* lifeData, size_t pitch, int worldWidth, int worldHeight, ubyte* resultLifeData, unsigned *alive) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y; bool in = x < worldWidth && y < worldHeight; ubyte next = 0;
  if (in) { int n = 0; for (int dy = -1; dy <= 1; dy++) for (int dx = -1; dx <= 1; dx++) if (dx || dy) n += lifeData[(y + dy + worldHeight) % worldHeight * pitch + (x + dx + worldWidth) % worldWidth]; next = rule[lifeData[y * pitch + x]][n]; resultLifeData[y * pitch + x] = next; }
  int c = __syncthreads_count(next); if (threadIdx.x == 0 && threadIdx.y == 0) atomicAdd(alive, c); }
int main() {
  const int w = 100, h = 60, gens = 5; ubyte *world = new ubyte[w * h], *ref = new ubyte[w * h], *tmp = new ubyte[w * h], *got = new ubyte[w * h]; srand(1); for (int i = 0; i < w * h; i++) world[i] = ref[i] = rand() & 1;
  ubyte *d_a, *d_b; size_t pitch; unsigned *alive, *d_alive; CHECK_ERROR(cudaMallocPitch((void **)&d_a, &pitch, w, h)); CHECK_ERROR(cudaMallocPitch(&d_b, &pitch, w, h)); CHECK_ERROR(cudaHostAlloc((void **)&alive, 4, cudaHostAllocMapped)); CHECK_ERROR(cudaHostGetDevicePointer((void **)&d_alive, alive, 0));
  CHECK_ERROR(cudaMemcpy2D(d_a, pitch, world, w, w, h, cudaMemcpyHostToDevice)); dim3 block(16, 16), grid((w + 15) / 16, (h + 15) / 16);
  for (int g = 0; g < gens; g++) { *alive = 0; simpleLifeKernel<<<grid, block>>>(d_a, pitch, w, h, d_b, d_alive); CHECK_ERROR(cudaDeviceSynchronize()); std::swap(d_a, d_b);
#pragma omp parallel for schedule(static)
    for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) { int n = 0; for (int dy = -1; dy <= 1; dy++) for (int dx = -1; dx <= 1; dx++) if (dx || dy) n += ref[(y + dy + h) % h * w + (x + dx + w) % w]; tmp[y * w + x] = n == 3 || (n == 2 && ref[y * w + x]); }
    std::swap(ref, tmp); }
  CHECK_ERROR(cudaMemcpy2D(got, w, d_a, pitch, w, h, cudaMemcpyDeviceToHost)); unsigned live = 0; for (int i = 0; i < w * h; i++) live += ref[i]; bool ok = !memcmp(got, ref, w * h) && live == *alive; cout << (ok ? "Correct! " : "WRONG ") << live << " alive of " << w * h << endl; cudaFree(d_a); cudaFree(d_b); cudaFreeHost(alive); return ok ? EXIT_SUCCESS : EXIT_FAILURE; }
