/* The language at large: kinds of variables, templates, lambdas, virtual functions, recursion,
 * function pointers, allocation in kernels, dynamic shared memory, launch bounds. */
#include "check.h"
#include <assert.h>
#include <cuda_runtime.h>
#include <device_launch_parameters.h>

__constant__ float coefficients[4];
__device__ int device_counter = 5;
__device__ float device_table[16];
__managed__ int managed_value = 3;
static __device__ __constant__ int constant_one = 1;

struct shape {
    __device__ virtual ~shape() {}
    __device__ virtual float area() const = 0;
};
struct square : shape {
    float side;
    __device__ square(float s) : side(s) {}
    __device__ float area() const override { return side * side; }
};
struct circle : shape {
    float radius;
    __device__ circle(float r) : radius(r) {}
    __device__ float area() const override { return 3 * radius * radius; }
};

__device__ __noinline__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__device__ int add_one(int x)
{
    return x + 1;
}
__device__ int twice(int x)
{
    return 2 * x;
}
typedef int (*function)(int);
__device__ function table[] = {add_one, twice};

template <class T, int N> struct stack {
    T items[N];
    int count = 0;
    __host__ __device__ void push(T item) { items[count++] = item; }
    __host__ __device__ T pop() { return items[--count]; }
};

__global__ void __launch_bounds__(128, 2) objects(float *__restrict__ out)
{
    shape *const s = threadIdx.x % 2 ? (shape *)new square(2) : (shape *)new circle(1);
    out[threadIdx.x] =
        s->area() + (float)fibonacci((int)threadIdx.x % 10) + (float)table[threadIdx.x % 2](10);
    delete s;
    stack<int, 8> numbers;
    for (int i = 0; i < 5; i++) numbers.push(i);
    out[threadIdx.x] += (float)numbers.pop();
    int *const block = (int *)malloc(16 * sizeof(int));
    for (int i = 0; i < 16; i++) block[i] = i;
    out[threadIdx.x] += (float)block[threadIdx.x % 16];
    free(block);
    assert(numbers.count == 4);
}

__global__ void variables(int *out)
{
    out[0] = atomicAdd(&device_counter, 2);
    out[1] = (int)(coefficients[1] * 10) + constant_one;
    managed_value += 4;
    device_table[threadIdx.x] = (float)threadIdx.x;
}

template <class F> __global__ void apply(int *out, F f)
{
    out[threadIdx.x] = f(threadIdx.x);
}

__global__ void dynamic(int *out, int n)
{
    extern __shared__ int memory[];
    __shared__ int fixed[32];
    memory[threadIdx.x] = (int)threadIdx.x;
    fixed[threadIdx.x % 32] = 1;
    __syncthreads();
    out[threadIdx.x] = memory[n - 1 - (int)threadIdx.x] + fixed[threadIdx.x % 32];
}

__global__ void geometry(int *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
              z = blockIdx.z * blockDim.z + threadIdx.z;
    const int width = gridDim.x * blockDim.x, height = gridDim.y * blockDim.y;
    out[(z * height + y) * width + x] = 10000 * z + 100 * y + x;
}

int main()
{
    float *const out = managed<float>(128);
    objects<<<1, 128>>>(out);
    CUDA(cudaDeviceSynchronize());
    const int fibonacci[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34};
    for (int i = 0; i < 128; i++)
        CHECK(out[i] == (float)((i % 2 ? 4 + 20 : 3 + 11) + fibonacci[i % 10] + 4 + i % 16),
              "%d: %g", i, out[i]);

    const float host_coefficients[4] = {0, 1.5f, 2, 3};
    CUDA(cudaMemcpyToSymbol(coefficients, host_coefficients, sizeof host_coefficients));
    int *const ints = managed<int>(4096);
    variables<<<1, 1>>>(ints);
    CUDA(cudaDeviceSynchronize());
    CHECK(ints[0] == 5 && ints[1] == 16 && managed_value == 7, "%d %d %d", ints[0], ints[1],
          managed_value);
    int counter;
    CUDA(cudaMemcpyFromSymbol(&counter, device_counter, sizeof counter));
    CHECK(counter == 7, "%d", counter);
    void *address;
    size_t size;
    CUDA(cudaGetSymbolAddress(&address, device_table));
    CUDA(cudaGetSymbolSize(&size, device_table));
    CHECK(size == 64 && address, "%zu", size);

    const int base = 1000;
    apply<<<1, 64>>>(ints, [=] __device__(int i) { return base + i * i; });
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < 64; i++) CHECK(ints[i] == 1000 + i * i, "%d", ints[i]);

    dynamic<<<1, 256, 256 * sizeof(int)>>>(ints, 256);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < 256; i++) CHECK(ints[i] == 256 - i, "%d: %d", i, ints[i]);

    geometry<<<dim3(2, 3, 2), dim3(8, 4, 2)>>>(ints);
    CUDA(cudaDeviceSynchronize());
    for (int z = 0; z < 4; z++)
        for (int y = 0; y < 12; y++)
            for (int x = 0; x < 16; x++)
                CHECK(ints[(z * 12 + y) * 16 + x] == 10000 * z + 100 * y + x, "%d %d %d", x, y, z);

    int grid_size, block_size;
    CUDA(cudaOccupancyMaxPotentialBlockSize(&grid_size, &block_size, objects));
    CHECK(block_size > 0 && block_size <= 128 && block_size % 32 == 0, "%d", block_size);
    cudaFuncAttributes attributes;
    CUDA(cudaFuncGetAttributes(&attributes, dynamic));
    CHECK(attributes.sharedSizeBytes == 128, "%zu", attributes.sharedSizeBytes);

    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(1);
    config.blockDim = dim3(32);
    config.dynamicSmemBytes = 32 * sizeof(int);
    CUDA(cudaLaunchKernelEx(&config, dynamic, ints, 32));
    CUDA(cudaDeviceSynchronize());
    CHECK(ints[0] == 32 && ints[31] == 1, "%d", ints[0]);
    return finish();
}
