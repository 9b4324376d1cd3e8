#include <iostream>
#include <sstream>
#include <cstdlib>
#include <cmath>
#include <cuda_runtime.h>
#define BLOCK_SIZE_SP 256
#define BLOCK_SIZE_DP 128
template <class T> __global__ void MAddU(T *target, T val1, T val2);
template <class T> __global__ void __launch_bounds__(256, 2) MulMAddU(T *target, T val1, T val2);
#define ADD1(i)    s##i = v * val1 + s##i;
#define MADD8_OP s=v-s*t; s=v-s*t; s=v-s*t; s=v-s*t; s=v-s*t; s=v-s*t; s=v-s*t; s=v-s*t;
#define MADD64_OP MADD8_OP MADD8_OP MADD8_OP MADD8_OP MADD8_OP MADD8_OP MADD8_OP MADD8_OP
#define MULMADD8_OP s=s*s*t+v; s=s*s*t+v; s=s*s*t+v; s=s*s*t+v; s=s*s*t+v; s=s*s*t+v; s=s*s*t+v; s=s*s*t+v;
template <class T> __global__ void MAddU(T *target, T t, T v)
{
    int index = blockIdx.x*blockDim.x + threadIdx.x;
    T s = target[index];
    #pragma unroll 2
    for (int j = 0; j < 10; ++j) { MADD64_OP }
    target[index] = s;
}
template <class T> __global__ void __launch_bounds__(256, 2) MulMAddU(T *target, T t, T v)
{
    int index = blockIdx.x*blockDim.x + threadIdx.x;
    register T s = target[index];
    for (int j = 0; j < 10; ++j) { MULMADD8_OP }
    target[index] = s;
}
template <class T> int RunTest(const char *testName, int n, int block, double eps)
{
    T *host = new T[n], *back = new T[n], *dev;
    for (int i = 0; i < n; i++) host[i] = (T) (drand48() * 0.5);
    int bad = 0;
    if (cudaMalloc(&dev, n * sizeof(T)) != cudaSuccess) abort();
    for (int which = 0; which < 2; which++) {
        cudaMemcpy(dev, host, n * sizeof(T), cudaMemcpyHostToDevice);
        void (*k)(T *, T, T) = which ? MulMAddU<T> : MAddU<T>;
        k<<<n / block, block>>>(dev, (T) 0.355, (T) 0.5);
        cudaDeviceSynchronize();
        cudaMemcpy(back, dev, n * sizeof(T), cudaMemcpyDeviceToHost);
        for (int i = 0; i < n; i++) {
            double s = host[i];
            if (which) for (int j = 0; j < 80; j++) s = s * s * 0.355 + 0.5; else for (int j = 0; j < 640; j++) s = 0.5 - s * 0.355;
            bad += fabs(s - back[i]) > eps;
        }
    }
    std::ostringstream os; os << testName << " " << n << " bad " << bad;
    std::cout << os.str() << "\n";
    cudaFree(dev); delete[] host; delete[] back;
    return bad;
}
int main()
{
    cudaDeviceProp deviceProp;
    cudaGetDeviceProperties(&deviceProp, 0);
    int n = 64 * 256, bad = RunTest<float>("SP", n, BLOCK_SIZE_SP, 1e-5);
    if ((deviceProp.major == 1 && deviceProp.minor >= 3) || deviceProp.major >= 2) bad += RunTest<double>("DP", n, BLOCK_SIZE_DP, 1e-12);
    return bad != 0;
}
