/* What nvcc takes and clang by itself does not. */
// clang-format off
#include <stdio.h>
#include <inttypes.h>

#define FMT "d"
#if !defined(__DRIVER_TYPES_H__) || !defined(__CUDA_RUNTIME_H__) || !defined(__VECTOR_TYPES_H__)
#error "a guard of the toolkit's headers is missing"
#endif

template <int N> struct times { __device__ static int of(int i) { return N * i; } };
template <class A, class B = times<2> > struct pair_of { typedef A first; };

__device__ unsigned lane() { unsigned l; asm("mov.u32 %0, %laneid;" : "=r"(l)); return l; }
__device__ unsigned doubled() { unsigned l; asm volatile("{ mov.u32 %0, %%laneid; }" : "=r"(l)); return l; }

template <class T> __global__ void fill(int *p, int n)
{
    register int i = threadIdx.x; /* "k << <1, 2>> >(x)" is text: so is `%laneid` here */
    if (i < n) p[i] = T::of(i) + (lane() != doubled());
}

#define BUFFER(type, name) __shared__ \
    alignas(sizeof(type)) type name
__device__ alignas(32) int base[3];
extern __shared__ /* at run time */ alignas(16) unsigned char dynamic[];

__global__ void aligned(int *p)
{
    __shared__ char before;
    __shared__ alignas(64) int shared[32];
    BUFFER(double, pair)[2];
    before = 1;
    shared[threadIdx.x] = threadIdx.x;
    __syncthreads();
    unsigned long long wrong = (unsigned long long)shared % 64 | (unsigned long long)base % 32 |
        (unsigned long long)pair % 8 | (unsigned long long)dynamic % 16;
    p[threadIdx.x] = wrong ? -1 : shared[threadIdx.x] * 2 + (before != 1);
}

static int wrong;
static void check(int *p, const char *text)
{
    int h[32];
    cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 32; i++)
        if (h[i] != 2 * i) wrong++;
    printf("%s %"FMT" %"PRIu64"\n", text, h[1], (uint64_t)1);
    cudaMemset(p, 0, sizeof h);
}

int main()
{
    int *p, length = 32;
    unsigned char narrow[] = {length, 2};
    cudaMalloc(&p, 32 * sizeof *p);
    fill<times<2>> << <1, narrow[0]>> >(p, 32);
    check(p, "<< < and >> >");
    fill<pair_of<times<2>, pair_of<times<2>>>::first> <<<dim3(1), dim3(32)>> > (p, 32);
    check(p, "<<< and >> > behind a template's >>>");
    fill<times<2>> < << 1, (64 >> 1) >>> (p, 32);
    check(p, "< <<");
    printf("%s %d\n", "k << <1, 2>> >(x)", 64 >> 5 > 1);
    aligned<<<1, 32, 64>>>(p);
    check(p, "__shared__ alignas(64)");
    puts(wrong ? "wrong" : "right");
    return wrong != 0;
}
