// API of CUDA 12: cudaDeviceSetSharedMemConfig
#include <cuda.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>
#include <vector>
#define CU(x) do { CUresult r = (x); if (r != CUDA_SUCCESS) { const char *s; cuGetErrorString(r, &s); printf("%s: %s\n", #x, s); return 1; } } while (0)
#define RT(x) do { cudaError_t r = (x); if (r != cudaSuccess) { printf("%s: %s\n", #x, cudaGetErrorString(r)); return 1; } } while (0)
__global__ void square(int *array, int n) { extern __shared__ int dyn[]; int i = threadIdx.x + blockIdx.x * blockDim.x; dyn[threadIdx.x] = i; if (i < n) array[i] *= array[i] + 0 * dyn[threadIdx.x]; }
size_t smem(int block) { return block * sizeof(int); }
int main() {
  CU(cuInit(0)); int count; CU(cuDeviceGetCount(&count)); CUdevice dev; CU(cuDeviceGet(&dev, 0)); char name[100]; CU(cuDeviceGetName(name, 100, dev)); int major, minor, sms, version, rt, l2; size_t bytes, free, total;
  CU(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, dev)); CU(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, dev)); CU(cuDeviceTotalMem(&bytes, dev)); CU(cuDriverGetVersion(&version)); RT(cudaRuntimeGetVersion(&rt));
  RT(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0)); RT(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, 0)); RT(cudaMemGetInfo(&free, &total)); printf("%s %d.%d, %zu MiB, driver %d runtime %d\n", name, major, minor, bytes >> 20, version, rt);
  int minGrid, block, perSm; RT(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&minGrid, &block, square, smem, 0)); RT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&perSm, square, block, block * 4)); RT(cudaOccupancyMaxPotentialBlockSize(&minGrid, &block, (void *)square, 0, 256));
  cudaFuncAttributes fa; RT(cudaFuncGetAttributes(&fa, square)); RT(cudaFuncSetCacheConfig(square, cudaFuncCachePreferShared)); RT(cudaFuncSetAttribute(square, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared));
  int *d; const int n = 1000; std::vector<int> h(n); for (int i = 0; i < n; i++) h[i] = i; size_t pitch; void *p2; RT(cudaMallocPitch(&p2, &pitch, 100, 10)); RT(cudaMemset2D(p2, pitch, 1, 100, 10)); RT(cudaFree(p2));
  RT(cudaMalloc(&d, n * 4)); RT(cudaMemcpy(d, h.data(), n * 4, cudaMemcpyHostToDevice)); square<<<(n + block - 1) / block, block, block * 4>>>(d, n); RT(cudaPeekAtLastError()); CU(cuCtxSynchronize());
  RT(cudaMemcpy(h.data(), d, n * 4, cudaMemcpyDeviceToHost)); int bad = 0; for (int i = 0; i < n; i++) bad += h[i] != i * i; CUdeviceptr cp; CU(cuMemAlloc(&cp, 400)); CU(cuMemsetD32(cp, 7, 100)); int seven[100]; CU(cuMemcpyDtoH(seven, cp, 400)); CU(cuMemFree(cp)); bad += seven[99] != 7;
  cudaDeviceProp p; RT(cudaGetDeviceProperties(&p, 0)); RT(cudaChooseDevice(&dev, &p)); bad += p.major != major || p.warpSize != 32 || perSm < 1 || fa.maxThreadsPerBlock < 1 || p.uuid.bytes[0] != p.uuid.bytes[0]; RT(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeFourByte)); square<<<1, 4096>>>(d, n); bad += cudaGetLastError() != cudaErrorInvalidConfiguration;
  printf("%s\n", bad ? "FAILED" : "PASSED"); return bad != 0; }
