// new, delete, placement new and virtual functions in device code; a vector and a stack of objects.
#include <stdio.h>
#include <stdlib.h>
#include <new>
#include <cuda_runtime.h>
template <class T> class Container
{
  public:
    __device__ Container() {}
    __device__ virtual ~Container() {}
    __device__ virtual void push(T e) = 0;
    __device__ virtual bool pop(T &e) = 0;
};
template <class T> class Vector : public Container<T>
{
    int m_max, m_top;
    T *m_data;

  public:
    __device__ explicit Vector(int max) : m_max(max), m_top(0) { m_data = new T[max]; }
    __device__ Vector(int max, T *prealloc) : m_max(max), m_top(0), m_data(prealloc) {}
    __device__ ~Vector() override
    {
        if (m_data) delete[] m_data;
    }
    __device__ void push(T e) override
    {
        if (m_data) {
            int i = atomicAdd(&m_top, 1);
            if (i < m_max) m_data[i] = e;
        }
    }
    __device__ bool pop(T &e) override
    {
        if (m_data && m_top > 0) {
            int i = atomicAdd(&m_top, -1);
            e = m_data[i - 1];
            return true;
        }
        return false;
    }
};
__device__ Container<int> **g_container;
__global__ void create(int max)
{
    g_container = new Container<int> *;
    *g_container = new Vector<int>(max);
}
__global__ void destroy(int *left)
{
    int v;
    *left = 0;
    while ((*g_container)->pop(v)) ++*left;
    delete *g_container;
    delete g_container;
}
__global__ void consume(int *out)
{
    (*g_container)->push(threadIdx.x + blockIdx.x * blockDim.x);
    __syncthreads();
    int v;
    if ((*g_container)->pop(v)) out[threadIdx.x + blockIdx.x * blockDim.x] = v;
}
struct Shape {
    __device__ virtual float area() const = 0;
    __device__ virtual const char *name() const { return "shape"; }
};
struct Disc : Shape {
    float r;
    __device__ Disc(float r) : r(r) {}
    __device__ float area() const { return 3.0f * r * r; }
};
struct Box final : Shape {
    float a, b;
    __device__ Box(float a, float b) : a(a), b(b) {}
    __device__ float area() const { return a * b; }
    __device__ const char *name() const { return "box"; }
};
__global__ void placement(float *out)
{
    __shared__ __align__(16) unsigned char buffer[64 * sizeof(Box)];
    Shape *s;
    if (threadIdx.x % 2)
        s = new (buffer + threadIdx.x * sizeof(Box)) Box(threadIdx.x, 2);
    else
        s = new (buffer + threadIdx.x * sizeof(Box)) Disc(threadIdx.x);
    __syncthreads();
    out[threadIdx.x] = s->area();
    if (threadIdx.x < 2) printf("%s %f\n", s->name(), s->area());
}
struct Point {
    int x, y;
};
__global__ void heap(Point **list, int n, int *sum)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Point *p = new Point{i, 2 * i};
    int *scratch = (int *)malloc(sizeof(int) * (i % 5 + 1));
    if (!p || !scratch) __trap();
    scratch[i % 5] = p->x + p->y;
    atomicAdd(sum, scratch[i % 5]);
    free(scratch);
    list[i] = p;
}
__global__ void unheap(Point **list, int n, int *sum)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicSub(sum, list[i]->x + list[i]->y);
        delete list[i];
    }
}
int main()
{
    cudaDeviceSetLimit(cudaLimitMallocHeapSize, 128 * 1024 * 1024);
    size_t size;
    cudaDeviceGetLimit(&size, cudaLimitMallocHeapSize);
    printf("heap %zu\n", size);
    const int n = 4 * 64;
    int *d, *left, h[n], hl, bad = 0;
    cudaMalloc(&d, n * 4);
    cudaMalloc(&left, 4);
    cudaMemset(d, 0xff, n * 4);
    create<<<1, 1>>>(n);
    consume<<<4, 64>>>(d);
    destroy<<<1, 1>>>(left);
    cudaMemcpy(h, d, n * 4, cudaMemcpyDeviceToHost);
    cudaMemcpy(&hl, left, 4, cudaMemcpyDeviceToHost);
    int got = 0;
    for (int i = 0; i < n; i++) got += h[i] >= 0;
    bad += got + hl != n;
    float *f, hf[64];
    cudaMalloc(&f, 256);
    placement<<<1, 64>>>(f);
    cudaMemcpy(hf, f, 256, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 64; i++) bad += hf[i] != (i % 2 ? 2.0f * i : 3.0f * i * i);
    Point **list;
    cudaMalloc(&list, 500 * sizeof *list);
    cudaMemset(left, 0, 4);
    heap<<<4, 128>>>(list, 500, left);
    cudaMemcpy(&hl, left, 4, cudaMemcpyDeviceToHost);
    bad += hl != 3 * 499 * 250;
    unheap<<<4, 128>>>(list, 500, left);
    cudaMemcpy(&hl, left, 4, cudaMemcpyDeviceToHost);
    bad += hl != 0;
    cudaError_t e = cudaDeviceSynchronize();
    printf("bad %d %s\n", bad, cudaGetErrorString(e));
    return bad || e;
}
