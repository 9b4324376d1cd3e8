#include <stdio.h>
#include <math.h>
#include <cuda.h>
#include <curand.h>
#include <curand_kernel.h>
#define CUDA_CALL(x) do { if((x) != cudaSuccess) { printf("Error at %s:%d\n",__FILE__,__LINE__); return EXIT_FAILURE;}} while(0)
#define CURAND_CALL(x) do { if((x)!=CURAND_STATUS_SUCCESS) { printf("Error at %s:%d\n",__FILE__,__LINE__); return EXIT_FAILURE;}} while(0)
__global__ void setup_kernel(curandState *state) { int id = threadIdx.x + blockIdx.x * 64; curand_init(1234, id, 0, &state[id]); }
__global__ void inside(curandState *state, int n, unsigned *result, curandStatePhilox4_32_10_t *ph) {
  int id = threadIdx.x + blockIdx.x * 64; curandState local = state[id]; unsigned count = 0;
  for (int i = 0; i < n; i++) { float x = curand_uniform(&local), y = curand_uniform(&local); if (x * x + y * y <= 1) count++; }
  state[id] = local; result[id] = count; curandStatePhilox4_32_10_t p; curand_init(5, id, 0, &p); float4 f = curand_normal4(&p); ph[id] = p; if (f.x > 100) result[id] = 0;
}
int main() {
  const int threads = 64 * 4, n = 200; curandState *s; curandStatePhilox4_32_10_t *ph; unsigned *d, h[threads];
  CUDA_CALL(cudaMalloc((void **)&s, threads * sizeof(curandState))); CUDA_CALL(cudaMalloc((void **)&ph, threads * sizeof *ph)); CUDA_CALL(cudaMalloc(&d, sizeof h));
  setup_kernel<<<4, 64>>>(s); inside<<<4, 64>>>(s, n, d, ph); CUDA_CALL(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
  double in = 0; for (int i = 0; i < threads; i++) in += h[i]; double pi = 4 * in / (threads * n);
  curandGenerator_t gen; float *dev, host[2000]; CUDA_CALL(cudaMalloc(&dev, sizeof host));
  CURAND_CALL(curandCreateGenerator(&gen, CURAND_RNG_PSEUDO_DEFAULT)); CURAND_CALL(curandSetPseudoRandomGeneratorSeed(gen, 1234ULL)); CURAND_CALL(curandGenerateUniform(gen, dev, 2000));
  CUDA_CALL(cudaMemcpy(host, dev, sizeof host, cudaMemcpyDeviceToHost)); CURAND_CALL(curandDestroyGenerator(gen));
  double mean = 0; for (int i = 0; i < 2000; i++) mean += host[i] / 2000;
  int ok = fabs(pi - M_PI) < 0.03 && fabs(mean - 0.5) < 0.03; printf("%s pi %f mean %f\n", ok ? "PASSED" : "FAILED", pi, mean); return !ok;
}
