#include <cuda/atomic>
#include <cuda/std/array>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/limits>
#include <cuda/std/utility>
#include <cstdio>
struct node { int key; cuda::atomic<int, cuda::thread_scope_device> value; };
__global__ void count(const int *keys, int n, node *table, int slots, unsigned *plain) {
  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;
  cuda::std::array<int, 2> pair = {keys[i], 1}; auto t = cuda::std::make_tuple(pair[0], pair[1]);
  int s = cuda::std::get<0>(t) % slots; table[s].value.fetch_add(cuda::std::get<1>(t), cuda::std::memory_order_relaxed);
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> ref(plain[s]); ref.fetch_max((unsigned)keys[i]);
  unsigned old = ref.load(); while (!ref.compare_exchange_weak(old, old | 0u)) {} cuda::atomic_thread_fence(cuda::std::memory_order_seq_cst, cuda::thread_scope_device);
  static_assert(cuda::std::is_same<decltype(old), unsigned>::value, ""); if (old > cuda::std::numeric_limits<unsigned>::max() - 1) plain[s] = 0;
}
int main() {
  const int n = 2000, slots = 37; int *keys; node *table; unsigned *plain; cudaMallocManaged(&keys, n * 4); cudaMallocManaged(&table, slots * sizeof(node)); cudaMallocManaged(&plain, slots * 4); int want[slots] = {}; unsigned top[slots] = {}; int bad = 0;
  for (int i = 0; i < slots; i++) new (&table[i].value) cuda::atomic<int, cuda::thread_scope_device>(0);
  for (int i = 0; i < n; i++) { keys[i] = (i * 31) % 977; want[keys[i] % slots]++; if ((unsigned)keys[i] > top[keys[i] % slots]) top[keys[i] % slots] = keys[i]; }
  count<<<(n + 127) / 128, 128>>>(keys, n, table, slots, plain); if (cudaDeviceSynchronize()) return 2;
  for (int s = 0; s < slots; s++) bad += table[s].value.load() != want[s] || plain[s] != top[s];
  printf("%s %d\n", bad ? "FAILED" : "PASSED", bad); return bad != 0;
}
