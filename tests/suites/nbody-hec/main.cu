#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include "reference.h"
#define BLOCK_SIZE 64
inline __host__ __device__ float3 operator+(const float3 &a, const float3 &b) { return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }
inline __host__ __device__ void operator+=(float3 &a, const float3 b) { a = a + b; }
inline __host__ __device__ float3 operator*(float3 a, float s) { return {a.x * s, a.y * s, a.z * s}; }
__device__ __forceinline__ float3 interact(const float4 bi, const float4 bj, float softening) {
  float3 r{bj.x - bi.x, bj.y - bi.y, bj.z - bi.z}; float d = fmaf(r.z, r.z, fmaf(r.y, r.y, r.x * r.x)) + softening, inv = rsqrtf(d); return r * (bj.w * inv * inv * inv); }
template <int B> __global__ void __launch_bounds__(B, 2) bodyForce(const float4 *__restrict__ p, float3 *__restrict__ a, const int n, const float softening) {
  __shared__ float4 spos[B]; const int i = blockDim.x * blockIdx.x + threadIdx.x; float3 F = {0.f, 0.f, 0.f}; const float4 me = p[min(i, n - 1)];
  for (int tile = 0; tile < gridDim.x; tile++) { const int k = tile * B + threadIdx.x; spos[threadIdx.x] = k < n ? p[k] : make_float4(0, 0, 0, 0); __syncthreads();
#pragma unroll 8
    for (int j = 0; j < B; j++) F += interact(me, spos[j], softening); __syncthreads(); }
  if (i < n) a[i] = F; }
int main(int argc, char *argv[]) {
  const int repeat = argc > 1 ? std::atoi(argv[1]) : 2; constexpr int n = 300; const float soft = 1e-3f; float *pos = (float *)malloc(n * sizeof(float4)), *ref = new float[3 * n], *got = new float[3 * n]; srand(42);
  std::generate(pos, pos + 4 * n, [] { return rand() / (float)RAND_MAX; }); float4 *d_pos; float3 *d_acc; cudaMalloc((void **)&d_pos, n * sizeof(float4)); cudaMalloc(&d_acc, n * sizeof(float3)); cudaMemcpy(d_pos, pos, n * sizeof(float4), cudaMemcpyHostToDevice); cudaDeviceSynchronize();
  auto start = std::chrono::steady_clock::now(); for (int i = 0; i < repeat; i++) bodyForce<BLOCK_SIZE><<<(n + BLOCK_SIZE - 1) / BLOCK_SIZE, BLOCK_SIZE>>>(d_pos, d_acc, n, soft); cudaDeviceSynchronize(); auto end = std::chrono::steady_clock::now();
  printf("Average kernel execution time: %f (ms)\n", std::chrono::duration<double, std::milli>(end - start).count() / repeat); cudaMemcpy(got, d_acc, n * sizeof(float3), cudaMemcpyDeviceToHost); reference<float>(n, pos, ref, soft); bool ok = true;
  for (int i = 0; i < 3 * n; i++) if (std::fabs(got[i] - ref[i]) > 1e-3f * (1 + std::fabs(ref[i]))) { ok = false; break; } printf("%s\n", ok ? "PASS" : "FAIL"); cudaFree(d_pos); cudaFree(d_acc); free(pos); delete[] ref; delete[] got; return ok ? 0 : 1; }
