/* C++17 and templates: kernels in namespaces and classes, overloaded, as parameters of templates
 * and behind pointers; if constexpr, folds, CRTP, constexpr tables, structured bindings, lambdas
 * that capture by value, unions and bit fields, default arguments, placement new. */
// options: -std=c++17 --extended-lambda --expt-relaxed-constexpr
#include "helper.h"
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

namespace outer
{
namespace
{
template <auto Op, typename T> __global__ void map(T *data, int n)
{
    if (const int i = blockIdx.x * blockDim.x + threadIdx.x; i < n) data[i] = Op(data[i]);
}
__device__ constexpr int triple(int x)
{
    return 3 * x;
}
} // namespace
inline namespace v2
{
__global__ void overloaded(int *p)
{
    *p = 1;
}
__global__ void overloaded(float *p)
{
    *p = 2.5f;
}
static __global__ void with_default(int *p, int a, int b)
{
    *p += 10 * a + b;
}
} // namespace v2
} // namespace outer

class Solver
{
    struct Params {
        float a[3];
        std::int8_t flags : 3, mode : 5;
        union {
            float f;
            unsigned u;
        };
    };

  public:
    template <int... Is> static __global__ void run(float *out, Params p)
    {
        const int i = threadIdx.x;
        float sum = 0;
        ((sum += p.a[Is] * (float)(i + Is)), ...);
        out[i] = sum + p.flags + 100 * p.mode + (p.u == 0x40000000 ? p.f : -1);
    }
    void go(float *out)
    {
        Params p{{1, 2, 3}, 2, -3, {2.0f}};
        run<0, 1, 2><<<1, 32>>>(out, p);
    }
};

template <typename Derived> struct Shape {
    __host__ __device__ float twice() const
    {
        return 2 * static_cast<const Derived *>(this)->area();
    }
};
struct Square : Shape<Square> {
    float side;
    explicit __host__ __device__ Square(float s) : side(s) {}
    __host__ __device__ float area() const { return side * side; }
};

template <typename T> struct Limits;
template <> struct Limits<int> {
    static constexpr int lowest = -7;
};
template <> struct Limits<float> {
    static constexpr float lowest = -0.5f;
};

struct Table {
    int v[16];
    constexpr Table() : v{}
    {
        for (int i = 0; i < 16; i++) v[i] = i * i + 1;
    }
};
__device__ constexpr Table squares{};
__constant__ Table constant_squares{};

template <typename T, typename Tuple> __global__ void mixed(T *out, Tuple t)
{
    auto [a, b] = t;
    if constexpr (std::is_same_v<T, int>)
        out[threadIdx.x] = a + squares.v[threadIdx.x % 16] + Limits<int>::lowest;
    else
        out[threadIdx.x] = b + (T)constant_squares.v[threadIdx.x % 16] + Limits<T>::lowest;
    alignas(Square) unsigned char raw[sizeof(Square)];
    Square *const square = new (raw) Square((float)threadIdx.x);
    out[threadIdx.x] += (T)square->twice();
    square->~Square();
}
struct Two {
    int a;
    float b;
};

/* A launcher that gets the kernel as an argument, and one that keeps it in a variable. */
template <typename... P, typename... A>
static void launch(void (*kernel)(P...), dim3 grid, dim3 block, A &&...a)
{
    kernel<<<grid, block>>>(std::forward<A>(a)...);
    getLastCudaError("launch");
}

template <class T> class DeviceVector
{
    struct Free {
        void operator()(T *p) const { cudaFree(p); }
    };
    std::unique_ptr<T[], Free> memory;
    size_t count;

  public:
    explicit DeviceVector(const std::vector<T> &from) : count(from.size())
    {
        T *p;
        checkCudaErrors(cudaMalloc(&p, count * sizeof(T)));
        memory.reset(p);
        checkCudaErrors(cudaMemcpy(p, from.data(), count * sizeof(T), cudaMemcpyHostToDevice));
    }
    T *data() { return memory.get(); }
    std::vector<T> host() const
    {
        std::vector<T> out(count);
        checkCudaErrors(
            cudaMemcpy(out.data(), memory.get(), count * sizeof(T), cudaMemcpyDeviceToHost));
        return out;
    }
};

template <class F> __global__ void for_each(int n, F f)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) f(i);
}
template <class F> static void parallel_for(int n, F &&f)
{
    int grid = 0, block = 0;
    checkCudaErrors(cudaOccupancyMaxPotentialBlockSize(&grid, &block, for_each<std::decay_t<F>>));
    for_each<<<std::min(grid, (n + block - 1) / block), block>>>(n, std::forward<F>(f));
}

int main()
{
    std::vector<int> ints(100);
    std::iota(ints.begin(), ints.end(), -20);
    DeviceVector<int> d(ints);
    outer::map<outer::triple><<<4, 32>>>(d.data(), 100);
    auto got = d.host();
    EXPECT(
        std::equal(got.begin(), got.end(), ints.begin(), [](int a, int b) { return a == 3 * b; }),
        "map");

    float *f;
    int *p;
    checkCudaErrors(cudaMallocManaged(&f, 128));
    checkCudaErrors(cudaMallocManaged(&p, 128));
    void (*first)(int *) = outer::overloaded;
    first<<<1, 1>>>(p);
    launch(static_cast<void (*)(float *)>(outer::overloaded), 1, 1, f);
    checkCudaErrors(cudaDeviceSynchronize());
    EXPECT(*p == 1 && *f == 2.5f, "%d %g", *p, *f);
    void (*kernels[])(int *, int, int) = {outer::with_default, &outer::with_default};
    for (auto kernel : kernels) launch(kernel, 1, 1, p, 3, 4);
    checkCudaErrors(cudaDeviceSynchronize());
    EXPECT(*p == 69, "%d", *p);
    int a1 = 5, a2 = 6;
    void *args[] = {&p, &a1, &a2};
    checkCudaErrors(
        cudaLaunchKernel((const void *)outer::with_default, dim3(1), dim3(1), args, 0, 0));
    checkCudaErrors(cudaDeviceSynchronize());
    EXPECT(*p == 125, "%d", *p);
    Solver().go(f);
    checkCudaErrors(cudaDeviceSynchronize());
    for (int i = 0; i < 32; i++) EXPECT(f[i] == 6 * i + 2 + 6 + 2 - 300 + 2, "%d: %g", i, f[i]);
    mixed<<<1, 32>>>(p, Two{5, 0.25f});
    mixed<<<1, 32>>>(f, Two{5, 0.25f});
    checkCudaErrors(cudaDeviceSynchronize());
    for (int i = 0; i < 32; i++) {
        const int sq = (i % 16) * (i % 16) + 1;
        EXPECT(p[i] == 5 + sq - 7 + 2 * i * i && f[i] == 0.25f + sq - 0.5f + 2 * i * i, "%d: %d %g",
               i, p[i], f[i]);
    }
    int *const raw = d.data();
    const std::optional<int> shift = 7;
    parallel_for(100, [=, s = *shift] __device__(int i) {
        auto square = [](int x) { return x * x; };
        raw[i] = square(i) + s;
    });
    got = d.host();
    for (int i = 0; i < 100; i++) EXPECT(got[i] == i * i + 7, "%d: %d", i, got[i]);
    using namespace std::chrono_literals;
    EXPECT(std::string_view("CUDA").substr(1) == "UDA" && 1s == 1000ms, "host library");
    return verdict();
}
