#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/universal_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/random.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>
#include <thrust/inner_product.h>
#include <thrust/tabulate.h>
#include <thrust/unique.h>
#include <thrust/binary_search.h>
#include <thrust/zip_function.h>
#include <cuda/functional>
#include <cstdio>
#include <cmath>
struct Rand {
    unsigned seed;
    __host__ __device__ float operator()(int i) const
    {
        thrust::default_random_engine r(seed);
        thrust::uniform_real_distribution<float> d(-1, 1);
        r.discard(2 * i);
        float x = d(r), y = d(r);
        return x * x + y * y <= 1 ? 4.0f : 0.0f;
    }
};
struct saxpy {
    const float a;
    saxpy(float _a) : a(_a) {}
    __host__ __device__ float operator()(const float &x, const float &y) const { return a * x + y; }
};
int main()
{
    int bad = 0;
    const int n = 5000;
    float pi = thrust::transform_reduce(thrust::device, thrust::counting_iterator<int>(0),
                                        thrust::counting_iterator<int>(n), Rand{7}, 0.0f,
                                        thrust::plus<float>()) /
               n;
    bad += std::fabs(pi - 3.14f) > 0.15f;
    printf("pi %f\n", pi);
    thrust::device_vector<float> x(n), y(n, 1);
    thrust::sequence(x.begin(), x.end());
    thrust::transform(x.begin(), x.end(), y.begin(), y.begin(), saxpy(2));
    bad += y[10] != 21 || y.back() != 2 * (n - 1) + 1;
    auto z = thrust::make_zip_iterator(thrust::make_tuple(x.begin(), y.begin()));
    float dot = thrust::transform_reduce(
        z, z + n, thrust::make_zip_function([] __device__(float a, float b) { return a / b; }),
        0.0f, thrust::plus<float>());
    double want = 0;
    for (int i = 0; i < n; i++) want += i / (2.0 * i + 1);
    bad += std::fabs(dot - want) > 0.5;
    thrust::device_vector<int> k(n), v(n), ko(n), vo(n);
    thrust::tabulate(k.begin(), k.end(), [] __device__(int i) { return (i * 31) % 17; });
    thrust::sequence(v.begin(), v.end());
    thrust::stable_sort_by_key(k.begin(), k.end(), v.begin());
    auto ends = thrust::reduce_by_key(k.begin(), k.end(), thrust::constant_iterator<int>(1),
                                      ko.begin(), vo.begin());
    bad += ends.first - ko.begin() != 17;
    bad += thrust::reduce(vo.begin(), ends.second) != n;
    thrust::host_vector<int> hv = v, hk = k;
    for (int i = 1; i < n; i++)
        bad += hk[i] < hk[i - 1] || (hk[i] == hk[i - 1] && hv[i] < hv[i - 1]) ||
               hv[i] * 31 % 17 != hk[i];
    thrust::device_vector<int> map{3, 1, 2};
    auto p = thrust::make_permutation_iterator(x.begin(), map.begin());
    bad += thrust::reduce(p, p + 3) != 6;
    auto sq = thrust::make_transform_iterator(
        x.begin(), cuda::proclaim_return_type<double>(
                       [] __device__(float a) -> double { return double(a) * a; }));
    thrust::device_vector<double> sc(n);
    thrust::exclusive_scan(sq, sq + n, sc.begin(), 1.0);
    bad += sc[4] != 1 + 0 + 1 + 4 + 9;
    thrust::universal_vector<int> u(100);
    thrust::for_each(thrust::device, u.begin(), u.end(), [] __device__(int &e) { e = 5; });
    cudaDeviceSynchronize();
    for (int e : u) bad += e != 5;
    thrust::device_vector<int> a{1, 3, 5, 7}, b{3, 4, 5}, c(4);
    auto e = thrust::set_intersection(a.begin(), a.end(), b.begin(), b.end(), c.begin());
    bad += e - c.begin() != 2 || c[0] != 3 || c[1] != 5;
    thrust::device_vector<int> q{0, 5, 16, 20}, r(4);
    thrust::lower_bound(k.begin(), k.end(), q.begin(), q.end(), r.begin());
    bad += r[0] != 0 || r[3] != n;
    cudaStream_t s;
    cudaStreamCreate(&s);
    thrust::fill(thrust::cuda::par.on(s), y.begin(), y.end(), 3.0f);
    thrust::sort(thrust::cuda::par_nosync.on(s), x.begin(), x.end(), thrust::greater<float>());
    cudaStreamSynchronize(s);
    bad += x[0] != n - 1;
    bad += thrust::inner_product(y.begin(), y.begin() + 4, y.begin(), 0.0f) != 36;
    int cnt = thrust::count_if(x.begin(), x.end(), [] __device__(float f) { return f < 10; });
    bad += cnt != 10;
    try {
        thrust::device_vector<char> huge(size_t(1) << 60);
        bad++;
    } catch (std::exception &ex) {
        printf("%s\n", ex.what());
    }
    printf("bad %d\n", bad);
    return bad != 0;
}
