#include <cub/cub.cuh>
#include <cstdio>
#include <vector>
#include <algorithm>
#define CK(x) do { cudaError_t e = (x); if (e != cudaSuccess) { printf("%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e)); exit(1); } } while (0)
template <int BLOCK, int ITEMS> __global__ void block_sums(const int *in, int *out, int *sorted) {
  using Load = cub::BlockLoad<int, BLOCK, ITEMS, cub::BLOCK_LOAD_TRANSPOSE>; using Reduce = cub::BlockReduce<int, BLOCK>; using Sort = cub::BlockRadixSort<int, BLOCK, ITEMS>; using Scan = cub::BlockScan<int, BLOCK>;
  __shared__ union { typename Load::TempStorage load; typename Reduce::TempStorage reduce; typename Sort::TempStorage sort; typename Scan::TempStorage scan; } t;
  int v[ITEMS]; Load(t.load).Load(in + blockIdx.x * BLOCK * ITEMS, v); __syncthreads();
  int sum = Reduce(t.reduce).Sum(v); if (threadIdx.x == 0) out[blockIdx.x] = sum; __syncthreads();
  Sort(t.sort).Sort(v); __syncthreads(); int pre[ITEMS]; Scan(t.scan).ExclusiveSum(v, pre); 
  for (int i = 0; i < ITEMS; i++) sorted[blockIdx.x * BLOCK * ITEMS + threadIdx.x * ITEMS + i] = v[i];
  typedef cub::WarpReduce<int> WR; __shared__ typename WR::TempStorage w[BLOCK / 32]; int ws = WR(w[threadIdx.x / 32]).Sum(1); if (threadIdx.x == 0 && ws != 32) out[blockIdx.x] = -1;
}
int main() {
  const int n = 4096; std::vector<int> h(n), s(n), r(8); for (int i = 0; i < n; i++) h[i] = (i * 7919) % 4001;
  int *in, *out, *sums; CK(cudaMalloc(&in, n * 4)); CK(cudaMalloc(&out, n * 4)); CK(cudaMalloc(&sums, 64)); CK(cudaMemcpy(in, h.data(), n * 4, cudaMemcpyHostToDevice));
  void *temp = nullptr; size_t bytes = 0; CK(cub::DeviceReduce::Sum(temp, bytes, in, sums, n)); CK(cudaMalloc(&temp, bytes)); CK(cub::DeviceReduce::Sum(temp, bytes, in, sums, n)); int total; CK(cudaMemcpy(&total, sums, 4, cudaMemcpyDeviceToHost));
  CK(cudaFree(temp)); temp = nullptr; CK(cub::DeviceScan::InclusiveSum(temp, bytes, in, out, n)); CK(cudaMalloc(&temp, bytes)); CK(cub::DeviceScan::InclusiveSum(temp, bytes, in, out, n)); CK(cudaMemcpy(s.data(), out, n * 4, cudaMemcpyDeviceToHost));
  long want = 0; bool ok = true; for (int i = 0; i < n; i++) { want += h[i]; ok = ok && s[i] == want; } ok = ok && total == want; printf("scan %d\n", ok);
  CK(cudaFree(temp)); temp = nullptr; CK(cub::DeviceRadixSort::SortKeys(temp, bytes, in, out, n)); CK(cudaMalloc(&temp, bytes)); CK(cub::DeviceRadixSort::SortKeys(temp, bytes, in, out, n)); CK(cudaMemcpy(s.data(), out, n * 4, cudaMemcpyDeviceToHost));
  std::vector<int> k = h; std::sort(k.begin(), k.end()); ok = ok && k == s; printf("sort %d\n", ok);
  block_sums<128, 4><<<8, 128>>>(in, sums, out); CK(cudaGetLastError()); CK(cudaMemcpy(r.data(), sums, 32, cudaMemcpyDeviceToHost)); CK(cudaMemcpy(s.data(), out, n * 4, cudaMemcpyDeviceToHost));
  for (int b = 0; b < 8; b++) { int t = 0; for (int i = 0; i < 512; i++) t += h[b * 512 + i]; ok = ok && t == r[b]; std::sort(h.begin() + b * 512, h.begin() + b * 512 + 512); } ok = ok && h == s;
  puts(ok ? "PASSED" : "FAILED"); return !ok;
}
