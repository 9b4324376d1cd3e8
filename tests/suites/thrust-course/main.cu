#include <thrust/host_vector.h>
#include <thrust/device_vector.h>
#include <thrust/transform.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/functional.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/inner_product.h>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/transform_reduce.h>
#include <thrust/iterator/constant_iterator.h>
#include <algorithm>
#include <iostream>
#include <numeric>
struct saxpy_functor { const float a; saxpy_functor(float _a) : a(_a) {} __host__ __device__ float operator()(const float &x, const float &y) const { return a * x + y; } };
struct square { __host__ __device__ int operator()(const int &x) const { return x * x; } };
int main() {
  const int n = 3000; thrust::host_vector<int> h(n); for (int i = 0; i < n; i++) h[i] = (i * 7919) % 1009;
  thrust::device_vector<int> d = h; thrust::sort(d.begin(), d.end());
  thrust::device_vector<int> keys(n), counts(n); auto end = thrust::reduce_by_key(d.begin(), d.end(), thrust::make_constant_iterator(1), keys.begin(), counts.begin());
  thrust::host_vector<int> s = d; bool ok = true; std::sort(h.begin(), h.end()); for (int i = 0; i < n; i++) ok = ok && s[i] == h[i];
  ok = ok && end.first - keys.begin() == 1009 && thrust::reduce(counts.begin(), end.second) == n;
  thrust::device_vector<float> x(n), y(n, 1.0f); thrust::sequence(x.begin(), x.end()); thrust::transform(x.begin(), x.end(), y.begin(), y.begin(), saxpy_functor(2));
  ok = ok && y[10] == 21.0f; int sum = thrust::transform_reduce(d.begin(), d.end(), square(), 0, thrust::plus<int>()); long want = 0; for (int v : h) want += v * v; ok = ok && sum == want;
  thrust::exclusive_scan(d.begin(), d.end(), d.begin()); ok = ok && d[n - 1] == std::accumulate(h.begin(), h.end() - 1, 0);
  auto even = thrust::count_if(thrust::counting_iterator<int>(0), thrust::counting_iterator<int>(n), [] __device__(int i) { return i % 2 == 0; }); ok = ok && even == n / 2;
  float dot = thrust::inner_product(x.begin(), x.begin() + 100, x.begin(), 0.0f); ok = ok && dot == 328350.0f;
  std::cout << (ok ? "PASSED" : "FAILED") << std::endl; return !ok;
}
