/* Function pointers, tables of them, virtual functions, recursion: equal and right, recorded or
 * not. */
#include <stdio.h>

typedef float (*function)(float *, float);
__device__ __noinline__ float add(float *p, float x)
{
    return *p + x;
}
__device__ __noinline__ float multiply(float *p, float x)
{
    return *p * x;
}
__device__ __noinline__ float pure(float *, float x)
{
    return x + 1;
}
__device__ function table[3] = {add, multiply, pure};

struct shape {
    __device__ virtual float area() const = 0;
    __device__ virtual ~shape() {}
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

__device__ __noinline__ int fibonacci(int *calls, int n)
{
    atomicAdd(calls, 1);
    return n < 2 ? n : fibonacci(calls, n - 1) + fibonacci(calls, n - 2);
}

__global__ void kernel(float *out, int *calls, int which)
{
    const int i = threadIdx.x;
    float value = i;
    out[i] = table[(i + which) % 3](&value, 2.0f);
    out[i] += table[0] == add && table[1] != add ? 0.0f : 1000.0f;
    shape *s = i % 2 ? (shape *)new square(i) : (shape *)new circle(i);
    out[32 + i] = s->area();
    delete s;
    out[64 + i] = fibonacci(calls, 10);
}

int main(void)
{
    float *out, host[96];
    int *calls, count, bad = 0;
    cudaMalloc((void **)&out, sizeof host);
    cudaMalloc((void **)&calls, sizeof count);
    cudaMemset(calls, 0, sizeof count);
    kernel<<<1, 32>>>(out, calls, 1);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    cudaMemcpy(&count, calls, sizeof count, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 32; i++) {
        const int k = (i + 1) % 3;
        bad |= host[i] != (k == 0 ? i + 2.0f : k == 1 ? i * 2.0f : 3.0f);
        bad |= host[32 + i] != (i % 2 ? 1.0f : 3.0f) * i * i;
        bad |= host[64 + i] != 55;
    }
    bad |= count != 32 * 177;
    puts(bad ? "wrong" : "right");
    return bad;
}
