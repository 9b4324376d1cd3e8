#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/gather.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>
#include <thrust/unique.h>
#include <thrust/sort.h>
#include <thrust/binary_search.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/extrema.h>
#include <cub/device/device_segmented_reduce.cuh>
#include <cub/device/device_histogram.cuh>
#include <cstdio>
#include <set>
#include <vector>
struct product { __host__ __device__ double operator()(const thrust::tuple<double, double> &t) const { return thrust::get<0>(t) * thrust::get<1>(t); } };
int main() {
  const int rows = 60; std::vector<int> off(1, 0), col; std::vector<double> val; for (int r = 0; r < rows; r++) { for (int c = r % 5; c < rows; c += 7) { col.push_back(c); val.push_back(1 + (r * c) % 3); } off.push_back((int)col.size()); }
  thrust::device_vector<int> dcol(col.begin(), col.end()), doff(off.begin(), off.end()); thrust::device_vector<double> dval(val.begin(), val.end()), x(rows), y(rows); thrust::sequence(thrust::device, x.begin(), x.end(), 1.0);
  auto products = thrust::make_transform_iterator(thrust::make_zip_iterator(thrust::make_tuple(dval.begin(), thrust::make_permutation_iterator(x.begin(), dcol.begin()))), product());
  size_t bytes = 0; cub::DeviceSegmentedReduce::Sum(nullptr, bytes, products, y.begin(), rows, doff.begin(), doff.begin() + 1); thrust::device_vector<char> temp(bytes); cudaError_t e = cub::DeviceSegmentedReduce::Sum(thrust::raw_pointer_cast(temp.data()), bytes, products, y.begin(), rows, doff.begin(), doff.begin() + 1); if (e != cudaSuccess) { printf("%s\n", cudaGetErrorString(e)); return 1; }
  thrust::host_vector<double> h = y; bool ok = true; for (int r = 0; r < rows; r++) { double s = 0; for (int k = off[r]; k < off[r + 1]; k++) s += val[k] * (col[k] + 1); ok = ok && h[r] == s; }
  thrust::device_vector<int> keys = dcol; thrust::stable_sort(keys.begin(), keys.end(), thrust::greater<int>()); auto last = thrust::unique(keys.begin(), keys.end()); ok = ok && last - keys.begin() == (long)std::set<int>(col.begin(), col.end()).size() && keys[0] == rows - 1; thrust::sort_by_key(dcol.begin(), dcol.end(), dval.begin());
  thrust::device_vector<int> low(rows); thrust::lower_bound(dcol.begin(), dcol.end(), thrust::counting_iterator<int>(0), thrust::counting_iterator<int>(rows), low.begin()); int first1 = 0; for (int c : col) first1 += c < 1; ok = ok && low[1] == first1; auto top = thrust::max_element(thrust::device, y.begin(), y.end()); double best = 0; for (double v : h) best = v > best ? v : best; ok = ok && *top == best;
  thrust::device_vector<int> hist(6); bytes = 0; cub::DeviceHistogram::HistogramEven(nullptr, bytes, thrust::raw_pointer_cast(dcol.data()), thrust::raw_pointer_cast(hist.data()), 7, 0, 60, (int)dcol.size()); temp.resize(bytes); cub::DeviceHistogram::HistogramEven(thrust::raw_pointer_cast(temp.data()), bytes, thrust::raw_pointer_cast(dcol.data()), thrust::raw_pointer_cast(hist.data()), 7, 0, 60, (int)dcol.size()); int in0 = 0; for (int c : col) in0 += c < 10; ok = ok && hist[0] == in0;
  thrust::for_each(thrust::device, y.begin(), y.end(), [=] __device__(double &v) { v = sqrt(v); }); ok = ok && std::abs((double)y[3] * (double)y[3] - h[3]) < 1e-9 * h[3]; printf("%s\n", ok ? "PASSED" : "FAILED"); return !ok; }
