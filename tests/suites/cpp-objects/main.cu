#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>
#include <typeinfo>
#include <concepts>
#include <span>
#include <ranges>
#include <algorithm>
class Managed { public:
  void *operator new(size_t len) { void *ptr; if (cudaMallocManaged(&ptr, len) != cudaSuccess) throw std::bad_alloc(); cudaDeviceSynchronize(); return ptr; }
  void operator delete(void *ptr) { cudaDeviceSynchronize(); cudaFree(ptr); } };
class cuda_error : public std::runtime_error { public: explicit cuda_error(cudaError_t e, const std::string &what) : std::runtime_error(what + ": " + cudaGetErrorString(e)) {} };
#define ck(x) do { if (cudaError_t e = (x); e != cudaSuccess) throw cuda_error(e, #x); } while (false)
struct Shape { __device__ virtual float area() const = 0; __device__ virtual ~Shape() {} };
struct Square : Shape { float s; __device__ Square(float v) : s(v) {} __device__ float area() const override { return s * s; } };
struct Disc final : Shape { float r; __device__ Disc(float v) : r(v) {} __device__ float area() const override { return 3.0f * r * r; } };
__global__ void make(Shape **shapes, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { if (i & 1) shapes[i] = new Square(i); else shapes[i] = new Disc(i); } }
template <std::integral I> __global__ void areas(Shape **shapes, float *out, I n) { I i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { out[i] = shapes[i]->area(); delete shapes[i]; } }
struct Table : Managed { float values[64]; int count = 0; };
template <typename T> class device_ptr { T *p = nullptr; public: explicit device_ptr(size_t n) { ck(cudaMalloc(&p, n * sizeof(T))); } ~device_ptr() { cudaFree(p); } device_ptr(const device_ptr &) = delete; T *get() const { return p; } };
struct Base { virtual ~Base() = default; }; struct Derived : Base {};
int main() try {
  const int n = 64; device_ptr<Shape *> shapes(n); auto table = std::make_unique<Table>(); make<<<2, 32>>>(shapes.get(), n); ck(cudaGetLastError()); areas<int><<<2, 32>>>(shapes.get(), table->values, n); ck(cudaDeviceSynchronize());
  bool ok = true; for (int i : std::views::iota(0, n)) ok = ok && table->values[i] == (i & 1 ? 1.0f : 3.0f) * i * i; std::span<float> view(table->values); ok = ok && std::ranges::count(view, 0.0f) == 1;
  std::unique_ptr<Base> b(new Derived); ok = ok && dynamic_cast<Derived *>(b.get()) && typeid(*b) == typeid(Derived);
  try { ck(cudaMemcpy(nullptr, table.get(), size_t(1) << 10, cudaMemcpyKind(77))); ok = false; } catch (const cuda_error &e) { std::cout << "caught: " << e.what() << "\n"; cudaGetLastError(); }
  std::cout << (ok ? "PASSED" : "FAILED") << std::endl; return ok ? 0 : 1;
} catch (const std::exception &e) { std::cerr << typeid(e).name() << " " << e.what() << "\n"; return 2; }
