#include "kernels.hpp"
#include <cuda_runtime.h>
#include <iostream>
#include <memory>
#include <stdexcept>
struct free_device { void operator()(void *p) const noexcept { cudaFree(p); } };
template <class T> std::unique_ptr<T[], free_device> make(std::size_t n) { T *p; if (auto e = cudaMalloc(&p, n * sizeof(T)); e != cudaSuccess) throw std::runtime_error(cudaGetErrorName(e)); return std::unique_ptr<T[], free_device>(p); }
int main() { try { constexpr std::size_t n = 20000; auto d = make<float>(n); cudaStream_t s; cudaStreamCreate(&s); k::iota(d.get(), n, s); float total = k::reduce(k::op::sum, d.get(), n, s), top = k::reduce(k::op::max, d.get(), n, s); cudaStreamDestroy(s); bool ok = total == 990000.0f && top == 99.0f; std::cout << (ok ? "PASSED " : "FAILED ") << total << ' ' << top << '\n'; return ok ? 0 : 1; } catch (const std::exception &e) { std::cerr << e.what() << '\n'; return 2; } }
