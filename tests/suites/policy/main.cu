// A small performance-portability layer: policies, views, reductions by functors and lambdas.
#include <cstdio>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>
#include <cuda_runtime.h>
#define PORT_LAMBDA [=] __host__ __device__
#define PORT_INLINE __host__ __device__ __forceinline__
namespace port
{
struct Serial {
};
struct Cuda {
    cudaStream_t stream = nullptr;
    int block = 128;
};
template <class T, int Rank> class View
{
    std::shared_ptr<T> owner_;
    T *data_;
    size_t ext_[Rank];

  public:
    template <class... N> explicit View(N... n) : ext_{static_cast<size_t>(n)...}
    {
        static_assert(sizeof...(N) == Rank, "rank");
        T *p;
        cudaMallocManaged(&p, size() * sizeof(T));
        owner_ = std::shared_ptr<T>(p, [](T *q) { cudaFree(q); });
        data_ = p;
    }
    struct Ref {
        T *data;
        size_t ext[Rank];
        template <class... I> PORT_INLINE T &operator()(I... i) const
        {
            size_t idx[] = {static_cast<size_t>(i)...}, o = 0;
            for (int k = 0; k < Rank; k++) o = o * ext[k] + idx[k];
            return data[o];
        }
    };
    Ref ref() const
    {
        Ref r;
        r.data = data_;
        for (int k = 0; k < Rank; k++) r.ext[k] = ext_[k];
        return r;
    }
    size_t size() const
    {
        size_t s = 1;
        for (size_t e : ext_) s *= e;
        return s;
    }
};
template <class F> __global__ void for_kernel(size_t n, F f)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
         i += size_t(gridDim.x) * blockDim.x)
        f(i);
}
template <class F> void parallel_for(Serial, size_t n, F f)
{
    for (size_t i = 0; i < n; i++) f(i);
}
template <class F> void parallel_for(const Cuda &p, size_t n, F f)
{
    for_kernel<<<unsigned((n + p.block - 1) / p.block), p.block, 0, p.stream>>>(n, f);
}
template <class T> struct Sum {
    using value_type = T;
    PORT_INLINE static T identity() { return T(); }
    PORT_INLINE static T join(const T &a, const T &b) { return a + b; }
};
template <class T> struct Max {
    using value_type = T;
    PORT_INLINE static T identity() { return T(-1e30); }
    PORT_INLINE static T join(const T &a, const T &b) { return a < b ? b : a; }
};
template <class R, class F, int B>
__global__ void reduce_kernel(size_t n, F f, typename R::value_type *out)
{
    using T = typename R::value_type;
    __shared__ T s[B];
    T acc = R::identity();
    for (size_t i = blockIdx.x * size_t(B) + threadIdx.x; i < n; i += size_t(gridDim.x) * B)
        acc = R::join(acc, f(i));
    s[threadIdx.x] = acc;
    for (int k = B / 2; k; k >>= 1) {
        __syncthreads();
        if (threadIdx.x < k) s[threadIdx.x] = R::join(s[threadIdx.x], s[threadIdx.x + k]);
    }
    if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}
template <template <class> class R, class F>
auto parallel_reduce(const Cuda &p, size_t n, F f) -> std::decay_t<decltype(f(size_t()))>
{
    using T = std::decay_t<decltype(f(size_t()))>;
    constexpr int B = 64, G = 8;
    T *out;
    cudaMallocManaged(&out, G * sizeof(T));
    reduce_kernel<R<T>, F, B><<<G, B, 0, p.stream>>>(n, f, out);
    cudaStreamSynchronize(p.stream);
    T r = R<T>::identity();
    for (int i = 0; i < G; i++) r = R<T>::join(r, out[i]);
    cudaFree(out);
    return r;
}
template <class... Fs> struct Overload;
template <class F> struct Overload<F> : F {
    PORT_INLINE Overload(F f) : F(f) {}
    using F::operator();
};
template <class F, class... Fs> struct Overload<F, Fs...> : F, Overload<Fs...> {
    PORT_INLINE Overload(F f, Fs... fs) : F(f), Overload<Fs...>(fs...) {}
    using F::operator();
    using Overload<Fs...>::operator();
};
} // namespace port
template <class Policy> int run(Policy policy, port::Cuda dev)
{
    const size_t nx = 40, ny = 30;
    port::View<double, 2> a(nx, ny), b(nx, ny);
    auto A = a.ref(), B = b.ref();
    port::parallel_for(policy, nx * ny, PORT_LAMBDA(size_t i) { A(i / ny, i % ny) = double(i); });
    port::parallel_for(
        policy, nx * ny, PORT_LAMBDA(size_t k) {
            size_t i = k / ny, j = k % ny;
            auto at = [&](size_t x, size_t y) { return A(x, y); };
            B(i, j) = i && j ? at(i - 1, j) + at(i, j - 1) : 0.0;
        });
    cudaDeviceSynchronize();
    double s = port::parallel_reduce<port::Sum>(
        dev, nx * ny, PORT_LAMBDA(size_t i) { return B(i / ny, i % ny); });
    float m = port::parallel_reduce<port::Max>(
        dev, nx * ny, PORT_LAMBDA(size_t i)->float { return float(A(i / ny, i % ny)); });
    double w = 0;
    for (size_t i = 1; i < nx; i++)
        for (size_t j = 1; j < ny; j++) w += double((i - 1) * ny + j) + double(i * ny + j - 1);
    return s != w || m != float(nx * ny - 1);
}
int main()
{
    port::Cuda dev;
    cudaStreamCreate(&dev.stream);
    int bad = run(port::Serial(), dev) + run(dev, dev);
    auto f1 = [] __host__ __device__(int x) { return x + 1; };
    auto f2 = [] __host__ __device__(double x) { return x * 2; };
    port::Overload<decltype(f1), decltype(f2)> f(f1, f2);
    double *o;
    cudaMallocManaged(&o, 16);
    port::parallel_for(dev, 1, [=] __device__(size_t) {
        o[0] = f(1);
        o[1] = f(1.5);
    });
    cudaDeviceSynchronize();
    bad += o[0] != 2 || o[1] != 3;
    printf("bad %d %s\n", bad, cudaGetErrorString(cudaGetLastError()));
    return bad;
}
