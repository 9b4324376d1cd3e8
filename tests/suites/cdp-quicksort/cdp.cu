#include <iostream>
#include <cstdio>
#include <algorithm>
#define MAX_DEPTH 16
#define INSERTION_SORT 32
__device__ void selection_sort(unsigned int *data, int left, int right) {
  for (int i = left; i <= right; ++i) {
    unsigned min_val = data[i]; int min_idx = i;
    for (int j = i + 1; j <= right; ++j) { unsigned val_j = data[j]; if (val_j < min_val) { min_idx = j; min_val = val_j; } }
    if (i != min_idx) { data[min_idx] = data[i]; data[i] = min_val; }
  }
}
__global__ void cdp_simple_quicksort(unsigned int *data, int left, int right, int depth) {
  if (depth >= MAX_DEPTH || right - left <= INSERTION_SORT) { selection_sort(data, left, right); return; }
  unsigned int *lptr = data + left, *rptr = data + right, pivot = data[(left + right) / 2];
  while (lptr <= rptr) {
    unsigned int lval = *lptr, rval = *rptr;
    while (lval < pivot) { lptr++; lval = *lptr; }
    while (rval > pivot) { rptr--; rval = *rptr; }
    if (lptr <= rptr) { *lptr++ = rval; *rptr-- = lval; }
  }
  int nright = rptr - data, nleft = lptr - data;
  if (left < (rptr - data)) {
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cdp_simple_quicksort<<<1, 1, 0, s>>>(data, left, nright, depth + 1);
    cudaStreamDestroy(s);
  }
  if ((lptr - data) < right) {
    cudaStream_t s1;
    cudaStreamCreateWithFlags(&s1, cudaStreamNonBlocking);
    cdp_simple_quicksort<<<1, 1, 0, s1>>>(data, nleft, right, depth + 1);
    cudaStreamDestroy(s1);
  }
}
__global__ void parent(int *out) { if (threadIdx.x == 0) cdp_simple_quicksort<<<1, 1>>>((unsigned *)out, 0, 3, MAX_DEPTH); }
int main() {
  const int n = 600; unsigned h[n], want[n], *d;
  srand(2047); for (int i = 0; i < n; i++) h[i] = want[i] = rand() % n;
  cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 4096);
  cudaMalloc((void **)&d, sizeof h); cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
  cdp_simple_quicksort<<<1, 1>>>(d, 0, n - 1, 0);
  if (cudaDeviceSynchronize() != cudaSuccess) { std::cout << cudaGetErrorString(cudaGetLastError()) << std::endl; return 1; }
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost); std::sort(want, want + n);
  int small[4] = {3, 1, 2, 0}, *ds; cudaMalloc(&ds, 16); cudaMemcpy(ds, small, 16, cudaMemcpyHostToDevice);
  parent<<<1, 32>>>(ds); cudaMemcpy(small, ds, 16, cudaMemcpyDeviceToHost);
  bool ok = std::equal(h, h + n, want) && small[0] == 0 && small[3] == 3;
  std::cout << "Validating results: " << (ok ? "OK" : "FAILED") << std::endl; return !ok;
}
