// Buffers of a class. 1: one is never filled. 2: one goes out of scope before the kernel that uses
// it.
// only: faults
#include "../pairs/pair.h"
#include <memory>
enum { N = 4096 };

template <typename T> class Buffer
{
    T *data_ = nullptr;

  public:
    explicit Buffer(size_t n) { CHECK(cudaMalloc(&data_, n * sizeof(T))); }
    Buffer(const Buffer &) = delete;
    ~Buffer() { cudaFree(data_); }
    void fill(int byte, size_t n) { CHECK(cudaMemset(data_, byte, n * sizeof(T))); }
    T *get() const { return data_; }
};

__global__ void add(const float *a, const float *b, float *c)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i]; // @1 uninitialised read // @2 access outside allocations | fault
}

int main()
{
    Buffer<float> a(N), c(N);
    auto b = std::make_unique<Buffer<float>>(N);
    a.fill(0, N);
    if (DEFECT != 1) b->fill(0, N);
    const float *second = b->get();
    if (DEFECT == 2) b.reset();
    add<<<N / 256, 256>>>(a.get(), second, c.get());
    CHECK(cudaDeviceSynchronize());
}
