#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>
#include <cstdio>
namespace cg = cooperative_groups;
using barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init
__global__ void with_barrier(const float *in, float *out, int n) {
  __shared__ float tile[128];
  __shared__ barrier bar;
  auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&bar, block.size());
  block.sync();
  for (int base = blockIdx.x * 128; base < n; base += gridDim.x * 128) {
    cuda::memcpy_async(tile + threadIdx.x, in + base + threadIdx.x, cuda::aligned_size_t<4>(sizeof(float)), bar);
    barrier::arrival_token token = bar.arrive(); bar.wait(std::move(token));
    out[base + threadIdx.x] = tile[127 - threadIdx.x]; bar.arrive_and_wait();
  }
}
template <size_t stages> __global__ void with_pipeline(const int *in, int *out, int batches) {
  extern __shared__ int shared[];
  auto block = cg::this_thread_block();
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  auto pipe = cuda::make_pipeline(block, &state);
  int sum = 0;
  for (int compute = 0, fetch = 0; compute < batches; ++compute) {
    for (; fetch < batches && fetch < compute + stages; ++fetch) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, shared + (fetch % stages) * block.size(), in + fetch * block.size(), sizeof(int) * block.size(), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait(); sum += shared[(compute % stages) * block.size() + block.size() - 1 - block.thread_rank()]; pipe.consumer_release();
  }
  out[block.thread_rank()] = sum;
}
__global__ void with_primitives(const int4 *in, int4 *out) {
  __shared__ int4 buf[64];
  __pipeline_memcpy_async(&buf[threadIdx.x], &in[threadIdx.x], sizeof(int4)); __pipeline_commit(); __pipeline_wait_prior(0); __syncthreads();
  out[threadIdx.x] = buf[63 - threadIdx.x];
  __shared__ int more[64]; auto g = cg::this_thread_block();
  cg::memcpy_async(g, more, (const int *)in, sizeof(int) * 64); cg::wait(g); if (threadIdx.x == 0) out[0].y = more[5];
}
int main() {
  const int n = 1024; float *x, *y; int *a, *b; int4 *p, *q;
  cudaMallocManaged(&x, n * 4); cudaMallocManaged(&y, n * 4); cudaMallocManaged(&a, n * 4); cudaMallocManaged(&b, 64 * 4); cudaMallocManaged(&p, 1024); cudaMallocManaged(&q, 1024);
  for (int i = 0; i < n; i++) { x[i] = i; a[i] = i * 3; } for (int i = 0; i < 64; i++) p[i] = make_int4(i, i + 1, i + 2, i + 3);
  with_barrier<<<2, 128>>>(x, y, n); with_pipeline<2><<<1, 64, 2 * 64 * sizeof(int)>>>(a, b, n / 64); with_primitives<<<1, 64>>>(p, q);
  cudaError_t e = cudaDeviceSynchronize(); int bad = e != cudaSuccess;
  for (int i = 0; i < n; i++) bad += y[i] != (i / 128 * 128 + 127 - i % 128);
  for (int t = 0; t < 64; t++) { int s = 0; for (int k = 0; k < n / 64; k++) s += a[k * 64 + 63 - t]; bad += s != b[t]; }
  for (int t = 1; t < 64; t++) bad += q[t].z != 63 - t + 2; bad += q[0].y != 2;
  printf("%s %d %s\n", bad ? "FAILED" : "PASSED", bad, cudaGetErrorString(e)); return bad != 0;
}
