#include <array>
#include <concepts>
#include <cstdio>
#include <numeric>
#include <ranges>
#include <span>
#include <type_traits>
#include <vector>
#include <cuda/std/array>
#include <cuda/std/limits>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/complex>
#include <cuda/std/mdspan>
template <typename T>
concept Number = std::integral<T> || std::floating_point<T>;
template <typename F, typename T>
concept Reducer = requires(F f, T a, T b) {
    { f(a, b) } -> std::convertible_to<T>;
};
constexpr int log2i(unsigned n)
{
    int r = 0;
    while (n >>= 1) ++r;
    return r;
}
template <int N> struct Poly {
    std::array<float, N> c;
    constexpr float operator()(float x) const
    {
        float r = 0;
        for (int i = N - 1; i >= 0; i--) r = r * x + c[i];
        return r;
    }
};
enum class Op : unsigned char { add, max };
template <Op op, Number T> struct Fold {
    __device__ constexpr T operator()(T a, T b) const
    {
        if constexpr (op == Op::add)
            return a + b;
        else
            return a > b ? a : b;
    }
};
template <Number T, typename F>
    requires Reducer<F, T>
__global__ void reduce(cuda::std::span<const T> in, T *out, T zero, F f)
{
    T r = zero;
    for (size_t i = threadIdx.x; i < in.size(); i += blockDim.x) r = f(r, in[i]);
#pragma unroll
    for (int step = 0; step < log2i(32); ++step)
        r = f(r, __shfl_xor_sync(0xffffffff, r, 1 << step));
    if (threadIdx.x == 0) *out = r;
}
template <typename F> __global__ void for_each_index(int n, F f)
{
    if (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n) f(i);
}
template <typename... Ts> __global__ void sum_all(float *out, Ts... values)
{
    *out = (static_cast<float>(values) + ...);
}
template <auto V> struct constant {
    static constexpr auto value = V;
};
struct Particle {
    float3 pos;
    float mass;
    [[nodiscard]] __host__ __device__ auto operator<=>(const Particle &o) const
    {
        return mass <=> o.mass;
    }
    bool operator==(const Particle &) const = delete;
};
__device__ cuda::std::optional<int> find(cuda::std::span<int> s, int v)
{
    for (size_t i = 0; i < s.size(); i++)
        if (s[i] == v) return int(i);
    return cuda::std::nullopt;
}
__global__ void misc(float *out, int *data)
{
    auto [a, b] = cuda::std::make_tuple(1.5f, 2);
    cuda::std::complex<float> z{1, 2};
    z *= z;
    cuda::std::array<int, 4> arr{4, 3, 2, 1};
    cuda::std::mdspan<int, cuda::std::extents<int, 3, 4>> m(data);
    int t = 0;
    for (int i = 0; i < m.extent(0); i++)
        for (int j = 0; j < m.extent(1); j++) {
            m(i, j) = 10 * i + j;
            t += m(i, j);
        }
    auto hit = find({data, 12}, 21);
    auto miss = find({data, 12}, 99);
    Particle p{{1, 2, 3}, 4}, q{.pos = {0, 0, 0}, .mass = 5};
    out[0] = a + b;
    out[1] = z.real();
    out[2] = z.imag();
    out[3] = arr[0] + arr.back();
    out[4] = t;
    out[5] = hit.value_or(-1);
    out[6] = miss.value_or(-1);
    out[7] = (p < q) + cuda::std::numeric_limits<short>::max() + constant<7>::value;
}
int main()
{
    std::vector<int> h(1000);
    std::iota(h.begin(), h.end(), -300);
    int *d, *o, bad = 0;
    cudaMallocManaged(&d, 4000);
    cudaMallocManaged(&o, 4);
    std::ranges::copy(h, d);
    reduce<int><<<1, 32>>>(cuda::std::span<const int>(d, 1000), o, 0, Fold<Op::add, int>{});
    cudaDeviceSynchronize();
    bad += *o != std::accumulate(h.begin(), h.end(), 0);
    reduce<int><<<1, 32>>>(cuda::std::span<const int>(d, 1000), o, -9999,
                           [] __device__(int a, int b) { return a > b ? a : b; });
    cudaDeviceSynchronize();
    bad += *o != 699;
    constexpr Poly<3> poly{{1, 2, 3}};
    float *f;
    cudaMallocManaged(&f, 4000);
    static_assert(poly(2.0f) == 17.0f);
    for_each_index<<<4, 256>>>(1000, [=] __device__(int i) { f[i] = poly(i * 0.5f); });
    cudaDeviceSynchronize();
    for (int i : std::views::iota(0, 1000) | std::views::filter([](int i) { return i % 3 == 0; }))
        bad += f[i] != poly(i * 0.5f);
    auto both = [] __host__ __device__(int x) { return x * x; };
    for_each_index<<<1, 32>>>(32, [=] __device__(int i) mutable { d[i] = both(i); });
    cudaDeviceSynchronize();
    for (int i = 0; i < 32; i++) bad += d[i] != both(i);
    sum_all<<<1, 1>>>(f, 1, 2.5f, 3.0, 'a', 5ull);
    cudaDeviceSynchronize();
    bad += f[0] != 108.5f;
    misc<<<1, 1>>>(f, d);
    cudaDeviceSynchronize();
    const float want[] = {3.5f, -3, 4, 5, 138, 9, -1, 32775};
    for (int i = 0; i < 8; i++)
        if (f[i] != want[i]) {
            bad++;
            printf("%d: %f\n", i, f[i]);
        }
    printf("bad %d %s\n", bad, cudaGetErrorString(cudaGetLastError()));
    return bad != 0;
}
