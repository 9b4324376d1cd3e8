#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
__global__ void simple_kernel(const int *pIn, int *pOut, int a)
{
    __shared__ int sData[128];
    int tid = threadIdx.x + blockDim.x * blockIdx.x;
    sData[threadIdx.x] = pIn[tid];
    __syncthreads();
    pOut[tid] = sData[threadIdx.x] * a + tid;
}
__global__ void simple_kernel(const int2 *pIn, int *pOut, int a)
{
    __shared__ int2 sData[128];
    int tid = threadIdx.x + blockDim.x * blockIdx.x;
    sData[threadIdx.x] = pIn[tid];
    __syncthreads();
    pOut[tid] = (sData[threadIdx.x].x + sData[threadIdx.x].y) * a + tid;
}
__global__ void simple_kernel(const int *pIn1, const int *pIn2, int *pOut, int a)
{
    int tid = threadIdx.x + blockDim.x * blockIdx.x;
    pOut[tid] = (pIn1[tid] + pIn2[tid]) * a + tid;
}
namespace outer
{
namespace
{
struct Local {
    int k;
};
} // namespace
template <class A, int N = 3> struct Op {
    static __device__ A go(A a) { return a * N; }
    template <class B> struct Inner {
        __device__ B operator()(B b) const { return Op<B, N + 1>::go(b); }
    };
};
template <template <class> class F, class T> __global__ void apply(T *p)
{
    p[threadIdx.x] = F<T>()(p[threadIdx.x]);
}
__global__ void local(Local l, int *p)
{
    p[threadIdx.x] += l.k;
}
} // namespace outer
template <class T> struct Times5 : outer::Op<T, 4>::template Inner<T> {
};
struct Base {
    int a;
};
struct Mixin {
    float b;
};
struct Derived : Base, Mixin {
    double c;
    char tail;
    Derived(int x) : Base{x}, Mixin{x + 0.5f}, c(x * 2.0), tail((char)x) {}
};
struct Empty {
};
__global__ void by_value(Derived d, Empty, const __grid_constant__ Derived e, double *out)
{
    out[0] = d.a + d.b + d.c + d.tail;
    out[1] = e.a - e.b;
}
class Image
{
    int w_, h_;
    int *data_;

  public:
    Image(int w, int h) : w_(w), h_(h) { cudaMallocManaged(&data_, w * h * sizeof(int)); }
    ~Image() { cudaFree(data_); }
    __host__ __device__ int &at(int x, int y) const { return data_[y * w_ + x]; }
    __host__ __device__ int w() const { return w_; }
    int run();
};
__global__ void paint(int *data, int w)
{
    data[blockIdx.x * w + threadIdx.x] = blockIdx.x * 1000 + threadIdx.x;
}
int Image::run()
{
    paint<<<h_, w_>>>(data_, w_);
    cudaDeviceSynchronize();
    return at(w_ - 1, h_ - 1);
}
int main()
{
    const int N = 512;
    int h[2 * N], o[N], *d, *out, bad = 0;
    for (int i = 0; i < 2 * N; i++) h[i] = i * 3;
    cudaMalloc(&d, sizeof h);
    cudaMalloc(&out, sizeof o);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    void (*f1)(const int *, int *, int) = simple_kernel;
    void (*f2)(const int2 *, int *, int) = simple_kernel;
    void (*f3)(const int *, const int *, int *, int) = simple_kernel;
    cudaFuncAttributes at;
    memset(&at, 0, sizeof at);
    cudaFuncSetCacheConfig(*f1, cudaFuncCachePreferShared);
    cudaFuncGetAttributes(&at, *f1);
    printf("shared %zu threads %d\n", at.sharedSizeBytes, at.maxThreadsPerBlock);
    bad += at.sharedSizeBytes != 512;
    (*f1)<<<4, 128>>>(d, out, 2);
    cudaMemcpy(o, out, sizeof o, cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++) bad += o[i] != h[i] * 2 + i;
    (*f2)<<<4, 128>>>((int2 *)d, out, 2);
    cudaMemcpy(o, out, sizeof o, cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++) bad += o[i] != (h[2 * i] + h[2 * i + 1]) * 2 + i;
    (*f3)<<<4, 128>>>(d, d + N, out, 2);
    cudaMemcpy(o, out, sizeof o, cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++) bad += o[i] != (h[i] + h[i + N]) * 2 + i;
    outer::apply<Times5><<<1, 32>>>(out);
    outer::local<<<1, 32>>>(outer::Local{9}, out);
    int o2[32];
    cudaMemcpy(o2, out, sizeof o2, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 32; i++) bad += o2[i] != o[i] * 5 + 9;
    double *dd;
    cudaMallocManaged(&dd, 16);
    by_value<<<1, 1>>>(Derived(3), Empty(), Derived(10), dd);
    cudaDeviceSynchronize();
    bad += dd[0] != 3 + 3.5 + 6 + 3 || dd[1] != -0.5;
    Image im(40, 20);
    bad += im.run() != 19039;
    printf("bad %d %s\n", bad, cudaGetErrorString(cudaGetLastError()));
    return bad != 0;
}
