#include "kernels.hpp"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
namespace cg = cooperative_groups;
namespace {
struct sum { template <class T> __device__ constexpr T operator()(T a, T b) const { return a + b; } static constexpr float identity = 0; };
struct largest { template <class T> __device__ T operator()(T a, T b) const { return a > b ? a : b; } static constexpr float identity = std::numeric_limits<float>::lowest(); };
template <class Op, unsigned Block, class... More> __global__ __launch_bounds__(Block) void reduce_kernel(const float *in, std::size_t n, float *out, Op op, More... more) {
  __shared__ float part[Block / 32]; auto block = cg::this_thread_block(); auto warp = cg::tiled_partition<32>(block); float v = Op::identity;
  for (std::size_t i = std::size_t(blockIdx.x) * Block + threadIdx.x; i < n; i += std::size_t(gridDim.x) * Block) v = op(v, in[i]);
  if constexpr (sizeof...(More) > 0) v = (v + ... + more);
  v = cg::reduce(warp, v, op); if (warp.thread_rank() == 0) part[warp.meta_group_rank()] = v; block.sync();
  if (warp.meta_group_rank() == 0) { v = warp.thread_rank() < Block / 32 ? part[warp.thread_rank()] : Op::identity; v = cg::reduce(warp, v, op); cg::invoke_one(warp, [&] { out[blockIdx.x] = v; }); } }
template <class F> __global__ void generate(float *p, std::size_t n, F f) { if (std::size_t i = blockIdx.x * std::size_t(blockDim.x) + threadIdx.x; i < n) p[i] = f(i); }
template <class Op> float run(const float *d, std::size_t n, cudaStream_t s, Op op) {
  constexpr unsigned block = 256, grid = 6; float *tmp = nullptr, h = 0; if (cudaMallocAsync(&tmp, grid * sizeof(float), s) != cudaSuccess) return -1;
  cudaLaunchConfig_t c{}; c.gridDim = grid; c.blockDim = block; c.stream = s; cudaLaunchAttribute a{}; a.id = cudaLaunchAttributePriority; a.val.priority = 0; c.attrs = &a; c.numAttrs = 1;
  cudaLaunchKernelEx(&c, reduce_kernel<Op, block>, d, n, tmp, op); reduce_kernel<Op, block, float, float><<<1, block, 0, s>>>(tmp, grid, tmp, op, 0.0f, 0.0f); cudaMemcpyAsync(&h, tmp, sizeof h, cudaMemcpyDeviceToHost, s); cudaFreeAsync(tmp, s); cudaStreamSynchronize(s); return h; }
}
float k::reduce(op o, const float *d, std::size_t n, cudaStream_t s) { return o == op::sum ? run(d, n, s, sum{}) : run(d, n, s, largest{}); }
void k::iota(float *d, std::size_t n, cudaStream_t s) { generate<<<unsigned((n + 127) / 128), 128, 0, s>>>(d, n, [] __device__(std::size_t i) { return float(i % 100); }); }
