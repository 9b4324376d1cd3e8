#include <cstdio>
#include <cmath>
#include <curand_kernel.h>
__global__ void init(curandStateXORWOW_t *s, unsigned long long seed) { int i = blockIdx.x * blockDim.x + threadIdx.x; curand_init(seed, i, 0, &s[i]); }
__global__ void paths(curandStateXORWOW_t *s, double *sum, int per, float S, float K, float r, float v, float T) {
  __shared__ double t[128]; int i = blockIdx.x * blockDim.x + threadIdx.x; curandStateXORWOW_t l = s[i]; double a = 0; for (int k = 0; k < per; k++) { float z = curand_normal(&l), p = S * expf((r - 0.5f * v * v) * T + v * sqrtf(T) * z) - K; a += p > 0 ? p : 0; } s[i] = l; t[threadIdx.x] = a; __syncthreads();
  for (int d = 64; d; d >>= 1) { if (threadIdx.x < d) t[threadIdx.x] += t[threadIdx.x + d]; __syncthreads(); } if (!threadIdx.x) atomicAdd(sum, t[0]); }
int main() { const int threads = 512, per = 200; curandStateXORWOW_t *s; double *sum, h; cudaMalloc(&s, threads * sizeof *s); cudaMalloc(&sum, 8); cudaMemset(sum, 0, 8); init<<<4, 128>>>(s, 77ULL); paths<<<4, 128>>>(s, sum, per, 100, 100, 0.05f, 0.2f, 1); cudaMemcpy(&h, sum, 8, cudaMemcpyDeviceToHost); double price = exp(-0.05) * h / (threads * per); bool ok = std::fabs(price - 10.4506) < 0.3; std::printf("%s price %f\n", ok ? "PASSED" : "FAILED", price); return !ok; }
