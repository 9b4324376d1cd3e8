#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cstdio>
#include <cmath>
template <typename T> struct Vec; 
template <> struct Vec<half> { typedef half2 type; };
template <> struct Vec<__nv_bfloat16> { typedef __nv_bfloat162 type; };
template <typename T> __global__ void axpy(const typename Vec<T>::type *x, typename Vec<T>::type *y, T a, int n2) {
  typename Vec<T>::type aa; aa.x = a; aa.y = a;
  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n2) y[i] = __hfma2(aa, x[i], y[i]);
}
__global__ void convert(const float *in, float *out, unsigned char *f8) {
  int i = threadIdx.x; half h = __float2half_rn(in[i]); __nv_bfloat16 b = __float2bfloat16(in[i]); b += __nv_bfloat16(1); __nv_bfloat16 c = 0; c = int(2); 
  out[i] = __half2float(hsqrt(__habs(h))) + __bfloat162float(b * c) + (float)__hadd(h, h) + (__hgt(h, __float2half(0.f)) ? 1 : 0) + __half2float(__hmax(h, __ushort_as_half(0x3c00)));
  __nv_fp8_e4m3 q(in[i]); f8[i] = q.__x; out[i] += float(q); atomicAdd((half2 *)(out + 64), __float2half2_rn(1.0f));
}
int main() {
  const int n = 256; half *x, *y; __nv_bfloat16 *u, *v; float *f, *o; unsigned char *f8; int bad = 0;
  cudaMallocManaged(&x, n * 2); cudaMallocManaged(&y, n * 2); cudaMallocManaged(&u, n * 2); cudaMallocManaged(&v, n * 2); cudaMallocManaged(&f, n * 4); cudaMallocManaged(&o, n * 4); cudaMallocManaged(&f8, n);
  for (int i = 0; i < n; i++) { x[i] = __float2half(i % 16); y[i] = half(1.0f); u[i] = __float2bfloat16(i % 16); v[i] = __nv_bfloat16(1.0f); f[i] = (i - 32) * 0.25f; }
  axpy<half><<<1, 128>>>((half2 *)x, (half2 *)y, __float2half(2.0f), n / 2); axpy<__nv_bfloat16><<<1, 128>>>((__nv_bfloat162 *)u, (__nv_bfloat162 *)v, __float2bfloat16(2.0f), n / 2); convert<<<1, 64>>>(f, o, f8);
  if (cudaDeviceSynchronize() != cudaSuccess) return 2;
  for (int i = 0; i < n; i++) bad += __half2float(y[i]) != 2 * (i % 16) + 1 || (float)v[i] != 2 * (i % 16) + 1;
  for (int i = 0; i < 64; i++) { double w = sqrt(fabs(f[i])) + 2 * (f[i] + 1) + 2 * f[i] + (f[i] > 0) + fmax(f[i], 1.0f) + f[i]; if (fabs(w - o[i]) > 0.3) { bad++; printf("%d %f %f\n", i, w, o[i]); } }
  half2 c = *(half2 *)(o + 64); bad += __low2float(c) != 64.0f; printf("%s %d\n", bad ? "FAILED" : "PASSED", bad); return bad != 0;
}
