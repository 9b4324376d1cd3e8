#include <cstdint>
#include <cstdio>
#include <thread>
#include <unordered_map>
#include <vector>
typedef unsigned long long ull;
constexpr uint32_t kEmpty = 0xffffffff;
struct KeyValue { uint32_t key, value; };
template <class K> struct Hash { using result = uint32_t; __host__ __device__ static uint32_t of(K k) { k ^= k >> 16; k *= 0x85ebca6b; k ^= k >> 13; k *= 0xc2b2ae35; k ^= k >> 16; return k; } };
template <class K, template <class> class H> struct Table {
  KeyValue *slots; uint32_t mask; using R = typename H<K>::result;
  __device__ void insert(K key, uint32_t value) { R slot = H<K>::of(key) & mask; while (true) { uint32_t prev = atomicCAS(&slots[slot].key, kEmpty, key); if (prev == kEmpty || prev == key) { slots[slot].value = value; return; } slot = (slot + 1) & mask; } }
  __device__ bool find(K key, uint32_t *value) const { for (R slot = H<K>::of(key) & mask;; slot = (slot + 1) & mask) { if (slots[slot].key == key) { *value = slots[slot].value; return true; } if (slots[slot].key == kEmpty) return false; } } };
template <class T> __global__ void build(T t, const KeyValue *kv, unsigned n) { unsigned i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) t.insert(kv[i].key, kv[i].value); }
template <class T> __global__ void probe(const __grid_constant__ T t, const uint32_t *keys, unsigned n, ull *matches, ull *sum) { unsigned i = blockIdx.x * blockDim.x + threadIdx.x; uint32_t v; if (i < n && t.find(keys[i], &v)) { atomicAdd(matches, 1ull); atomicAdd(sum, (ull)v); } }
__device__ __managed__ ull totals[2]; __device__ unsigned calls; 
__global__ void bump() { atomicInc(&calls, 1000); if (calls == 0) printf("impossible\n"); }
int main() {
  const unsigned n = 1500, slots = 4096; Table<uint32_t, Hash> t{nullptr, slots - 1}; cudaMalloc(&t.slots, slots * sizeof(KeyValue)); cudaMemset(t.slots, 0xff, slots * sizeof(KeyValue));
  std::vector<KeyValue> kv(n); std::vector<uint32_t> q(2 * n); std::unordered_map<uint32_t, uint32_t> m; for (unsigned i = 0; i < n; i++) { kv[i] = {i * 2654435761u >> 4, i}; m[kv[i].key] = i; } for (unsigned i = 0; i < 2 * n; i++) q[i] = i % 2 ? kv[i / 2].key : i;
  KeyValue *dkv; uint32_t *dq; cudaMalloc(&dkv, n * sizeof(KeyValue)); cudaMalloc(&dq, 8 * n); cudaMemcpy(dkv, kv.data(), n * sizeof(KeyValue), cudaMemcpyHostToDevice); cudaMemcpy(dq, q.data(), 8 * n, cudaMemcpyHostToDevice);
  build<<<(n + 255) / 256, 256>>>(t, dkv, n); totals[0] = totals[1] = 0; cudaDeviceSynchronize(); probe<<<(2 * n + 255) / 256, 256>>>(t, dq, 2 * n, &totals[0], &totals[1]);
  std::vector<std::thread> threads; for (int i = 0; i < 3; i++) threads.emplace_back([] { bump<<<1, 32>>>(); cudaStreamSynchronize(cudaStreamPerThread); }); for (auto &x : threads) x.join(); cudaDeviceSynchronize();
  unsigned c = 0; void *sym; size_t size; cudaMemcpyFromSymbol(&c, calls, sizeof c); cudaGetSymbolAddress(&sym, calls); cudaGetSymbolSize(&size, calls); ull w0 = 0, w1 = 0; for (auto k : q) if (m.count(k)) { w0++; w1 += m[k]; }
  bool ok = totals[0] == w0 && totals[1] == w1 && c == 96 && size == 4; printf("%s %llu %llu %u\n", ok ? "PASSED" : "FAILED", totals[0], totals[1], c); return !ok; }
