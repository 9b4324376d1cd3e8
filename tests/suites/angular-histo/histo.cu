#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#define NUM_BINS 20
#define BLOCK 128
#define NUM_HISTOGRAMS 4
struct cartesian { float x, y, z; };
__constant__ float dev_binb[NUM_BINS+1];
__global__ void gen_hists(unsigned long long *histograms, float *all_x, int n)
{
  __shared__ struct cartesian data_s[BLOCK];
  __shared__ unsigned int warp_hists[NUM_BINS][NUM_HISTOGRAMS];
  unsigned tid = threadIdx.x, hist = tid % NUM_HISTOGRAMS;
  float *all_y = all_x + n, *all_z = all_y + n;
  for (unsigned w = tid; w < NUM_BINS * NUM_HISTOGRAMS; w += BLOCK) warp_hists[w / NUM_HISTOGRAMS][w % NUM_HISTOGRAMS] = 0;
  for (unsigned i = 0; i < n; i += BLOCK) {
    __syncthreads();
    if (tid + i < n) { data_s[tid].x = all_x[tid+i]; data_s[tid].y = all_y[tid+i]; data_s[tid].z = all_z[tid+i]; }
    __syncthreads();
    int mine = blockIdx.x * BLOCK + tid;
    if (mine < n)
      for (unsigned j = 0; j < BLOCK && i + j < n; j++) {
        if (i + j <= mine) continue;
        float distance = data_s[j].x * all_x[mine] + data_s[j].y * all_y[mine] + data_s[j].z * all_z[mine];
        unsigned min = 0, max = NUM_BINS;
        while (max > min + 1) {
          unsigned k = (min + max) / 2;
          if (distance >= dev_binb[k]) max = k; else min = k;
        }
        atomicAdd(&warp_hists[min][hist], 1U);
      }
  }
  __syncthreads();
  if (tid < NUM_BINS) {
    unsigned long long sum = 0;
    for (int h = 0; h < NUM_HISTOGRAMS; h++) sum += warp_hists[tid][h];
    atomicAdd(&histograms[tid], sum);
  }
}
int main()
{
  const int n = 300;
  float x[3 * n], binb[NUM_BINS+1];
  for (int i = 0; i < n; i++) {
    float a = i * 2.399963f, z = 1 - (2 * i + 1.0f) / n, r = sqrtf(1 - z * z);
    x[i] = r * cosf(a); x[i+n] = r * sinf(a); x[i+2*n] = z;
  }
  for (int k = 0; k <= NUM_BINS; k++) binb[k] = cosf(M_PI * k / NUM_BINS);
  float *d; unsigned long long *h, got[NUM_BINS], want[NUM_BINS] = {0}, pairs = 0;
  cudaMalloc(&d, sizeof x); cudaMalloc(&h, sizeof got);
  cudaMemcpy(d, x, sizeof x, cudaMemcpyHostToDevice);
  cudaMemset(h, 0, sizeof got);
  cudaMemcpyToSymbol(dev_binb, binb, sizeof binb);
  gen_hists <<< dim3((n + BLOCK - 1) / BLOCK), dim3(BLOCK) >>> (h, d, n);
  cudaMemcpy(got, h, sizeof got, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++) for (int j = i + 1; j < n; j++) {
    float dot = x[j] * x[i] + x[j+n] * x[i+n] + x[j+2*n] * x[i+2*n];
    int k = 0; while (k < NUM_BINS - 1 && dot < binb[k+1]) k++;
    want[k]++;
  }
  long off = 0;
  for (int k = 0; k < NUM_BINS; k++) { off += labs((long)(got[k] - want[k])); pairs += got[k]; printf("%llu ", got[k]); }
  int good = off < 8 && pairs == (unsigned long long)n * (n - 1) / 2;
  printf("\n%s\n", good ? "PASSED" : "FAILED");
  return !good;
}
