#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <math.h>
#include <cuda_runtime.h>
#include <helper_cuda.h>
__global__ void fill(cudaSurfaceObject_t s, int w, int h) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h) surf2Dwrite(x * 1.0f + y * 100.0f, s, x * 4, y, cudaBoundaryModeTrap);
}
__global__ void rotate(float *out, int width, int height, float theta, cudaTextureObject_t tex) {
  unsigned int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float u = (float)x - (float)width / 2, v = (float)y - (float)height / 2;
  float tu = u * cosf(theta) - v * sinf(theta), tv = v * cosf(theta) + u * sinf(theta);
  tu /= (float)width; tv /= (float)height;
  out[y * width + x] = tex2D<float>(tex, tu + 0.5f, tv + 0.5f);
}
__global__ void bytes(uchar4 *out, cudaTextureObject_t t, cudaTextureObject_t t3, float *o3) {
  int x = threadIdx.x; uchar4 c = tex2D<uchar4>(t, x + 0.5f, 1.5f); out[x] = make_uchar4(c.w, c.z, c.y, c.x);
  o3[x] = tex3D<float>(t3, x % 4 + 0.5f, x / 4 % 4 + 0.5f, x / 16 % 2 + 0.5f);
}
int main() {
  const int w = 64, h = 32; bool good = true;
  cudaChannelFormatDesc cd = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
  cudaArray *arr; checkCudaErrors(cudaMallocArray(&arr, &cd, w, h, cudaArraySurfaceLoadStore));
  cudaResourceDesc rd; memset(&rd, 0, sizeof rd); rd.resType = cudaResourceTypeArray; rd.res.array.array = arr;
  cudaSurfaceObject_t surf = 0; checkCudaErrors(cudaCreateSurfaceObject(&surf, &rd));
  dim3 b(8, 8, 1), g(w / b.x, h / b.y, 1);
  fill<<<g, b>>>(surf, w, h); getLastCudaError("fill");
  cudaTextureDesc td; memset(&td, 0, sizeof td);
  td.normalizedCoords = true; td.filterMode = cudaFilterModeLinear; td.addressMode[0] = td.addressMode[1] = cudaAddressModeWrap; td.readMode = cudaReadModeElementType;
  cudaTextureObject_t tex; checkCudaErrors(cudaCreateTextureObject(&tex, &rd, &td, NULL));
  float *d, *o = (float *)malloc(w * h * 4); checkCudaErrors(cudaMalloc(&d, w * h * 4));
  rotate<<<g, b, 0>>>(d, w, h, 0.0f, tex); checkCudaErrors(cudaMemcpy(o, d, w * h * 4, cudaMemcpyDeviceToHost));
  // Sampled at texel corners: the mean of four neighbours, wrapped at the edges.
  for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) {
    int xl = (x + w - 1) % w, yl = (y + h - 1) % h; float want = (xl + x) * 0.5f + (yl + y) * 50.0f;
    if (fabsf(want - o[y * w + x]) > 0.5f) good = false;
  }
  uchar4 pix[2][16], got[32]; for (int i = 0; i < 32; i++) pix[i / 16][i % 16] = make_uchar4(i, 2 * i, 3 * i, 4 * i);
  cudaArray_t a2; cudaChannelFormatDesc c4 = cudaCreateChannelDesc<uchar4>(); checkCudaErrors(cudaMallocArray(&a2, &c4, 16, 2));
  checkCudaErrors(cudaMemcpy2DToArray(a2, 0, 0, pix, 64, 64, 2, cudaMemcpyHostToDevice));
  cudaResourceDesc r2 = {}; r2.resType = cudaResourceTypeArray; r2.res.array.array = a2; cudaTextureDesc t2 = {}; t2.filterMode = cudaFilterModePoint; t2.readMode = cudaReadModeElementType;
  cudaTextureObject_t tex2; checkCudaErrors(cudaCreateTextureObject(&tex2, &r2, &t2, 0));
  cudaExtent ext = make_cudaExtent(4, 4, 2); cudaArray *a3; checkCudaErrors(cudaMalloc3DArray(&a3, &cd, ext));
  float vol[32]; for (int i = 0; i < 32; i++) vol[i] = i * i;
  cudaMemcpy3DParms p = {0}; p.srcPtr = make_cudaPitchedPtr(vol, 16, 4, 4); p.dstArray = a3; p.extent = ext; p.kind = cudaMemcpyHostToDevice; checkCudaErrors(cudaMemcpy3D(&p));
  r2.res.array.array = a3; cudaTextureObject_t tex3; checkCudaErrors(cudaCreateTextureObject(&tex3, &r2, &t2, 0));
  uchar4 *dc; float *d3, o3[32]; checkCudaErrors(cudaMalloc(&dc, 64)); checkCudaErrors(cudaMalloc(&d3, 128));
  bytes<<<1, 16>>>(dc, tex2, tex3, d3); checkCudaErrors(cudaMemcpy(got, dc, 64, cudaMemcpyDeviceToHost)); checkCudaErrors(cudaMemcpy(o3, d3, 64, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 16; i++) good = good && got[i].w == 16 + i && got[i].x == (unsigned char)(4 * (16 + i)) && o3[i] == i * i;
  checkCudaErrors(cudaDestroyTextureObject(tex)); checkCudaErrors(cudaDestroySurfaceObject(surf)); checkCudaErrors(cudaFreeArray(arr));
  puts(good ? "PASSED" : "FAILED"); return !good;
}
