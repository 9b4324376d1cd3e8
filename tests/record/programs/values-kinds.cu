// Every kind of access: widths, vectors, structs, atomics, loops, barriers, copies, PTX. All of
// global memory holds one pattern: the byte at offset o of an allocation is 7 * o + 3. Kernels copy
// it from place to place at the same offsets, so that whatever is loaded or stored, and whatever an
// atomic finds, is that pattern at its offset.
#include <cstdio>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

enum { N = 96, CTAS = 3, BYTES = N * 256 };

template <int WORDS> struct Words {
    unsigned word[WORDS];
};
struct alignas(8) Mixed {
    double a;
    float b;
    short c;
    char d, e;
};

template <class T> __global__ void copy(const T *in, T *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];
}

// Lanes of different trip counts, with sites that some iterations leave out.
__global__ void diverge(const int *in, int *out, const short *odd, short *odd_out)
{
    const int t = threadIdx.x;
    for (int i = t; i < N * (t % 5); i += N) {
        if (i % 3 == 0) {
            out[i] = in[i];
        } else {
            for (int k = 0; k < t % 4; k++) odd_out[i * 4 + k] = odd[i * 4 + k];
        }
    }
}

// Each tile of shared memory goes to its place the long way round.
template <class T> __global__ void tiles(const T *in, T *out)
{
    __shared__ T tile[32];
    const int t = threadIdx.x, base = blockIdx.x * 32;
    tile[t] = in[base + t];
    __syncthreads();
    for (int step = 1; step < 32; step *= 2) {
        const T other = tile[t ^ step];
        __syncthreads();
        tile[t] = other;
        __syncthreads();
    }
    out[base + (t ^ 31)] = tile[t];
}

template <class T> __global__ void atomics(T *cells)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    atomicAdd(cells + i, (T)1);
    atomicExch(cells + n + i, (T)2);
    atomicCAS(cells + 2 * n + i, cells[3 * n + i], (T)3);
    atomicMax(cells + 4 * n + i, (T)4);
    atomicMin(cells + 5 * n + i, (T)5);
    atomicAnd(cells + 6 * n + i, (T)6);
    atomicOr(cells + 7 * n + i, (T)7);
    atomicXor(cells + 8 * n + i, (T)8);
}

__global__ void atomics_32(unsigned *cells, float *reals, double *wide, unsigned short *narrow)
{
    const int i = threadIdx.x;
    atomicSub(cells + i, 1u);
    atomicInc(cells + N + i, 9u);
    atomicDec(cells + 2 * N + i, 9u);
    atomicAdd(reals + i, 1.0f);
    atomicAdd(wide + i, 1.0);
    atomicCAS(narrow + i, narrow[N + i], (unsigned short)5);
    if (i % 2) atomicAdd(cells + 3 * N + i, 3u); // no one looks at the result
}

__device__ __noinline__ int pass_on(const int *from, int depth)
{
    return depth ? pass_on(from, depth - 1) : *from;
}
__device__ __noinline__ void put(int *to, int value)
{
    *to = value;
}
__device__ void (*put_function)(int *, int) = put;

__global__ void calls(const int *in, int *out)
{
    const int i = threadIdx.x;
    const int value = pass_on(in + i, i % 4);
    if (i % 3)
        put(out + i, value);
    else
        put_function(out + i, value);
}

// The space is known at run time only.
__global__ void generic(const int *in, int *out, int which)
{
    __shared__ int own[N];
    const int i = threadIdx.x;
    own[i] = in[i];
    __syncthreads();
    const int *from = (i + which) % 3 ? in : own;
    out[i] = *(const volatile int *)(from + i);
}

// The same without a barrier, and with local and constant memory.
__constant__ int fixed[4];
__global__ void generic_row(const int *in, int *out, int which)
{
    __shared__ int tile[N];
    int own[4];
    const int i = threadIdx.x;
    tile[i] = in[i];
    own[i % 4] = in[i] ^ 85;
    const int kind = (i / 3 + which) % 4;
    const int *from = kind == 0   ? in + i
                      : kind == 1 ? tile + i
                      : kind == 2 ? own + i % 4
                                  : fixed + i % 4;
    const int value = *from;
    if (kind != 3) out[i] = kind == 2 ? value ^ 85 : value;
}

__global__ void ranges(const char *in, char *out, int bytes)
{
    const int i = threadIdx.x;
    memcpy(out + i * 64, in + i * 64, bytes + i % 8);
}

__global__ void async_copies(const char *in, char *out)
{
    __shared__ __align__(16) char stage[32 * 32];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(stage + 16 * t, in + 16 * t, 16);
    __pipeline_memcpy_async(stage + 512 + 8 * t, in + 512 + 8 * t, 8);
    __pipeline_memcpy_async(stage + 768 + 4 * t, in + 768 + 4 * t, 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    for (int i = t; i < 896; i += 32) out[i] = stage[i];
}

__global__ void ptx(const int *in, int *out, unsigned *cells)
{
    const int i = threadIdx.x * 4;
    int a, b, c, d;
    unsigned old;
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "l"(in + i));
    asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(out + i), "r"(a), "r"(b) : "memory");
    asm volatile("st.global.u32 [%0], %1;" ::"l"(out + i + 2), "r"(c) : "memory");
    asm volatile("st.global.u32 [%0+12], %1;" ::"l"(out + i), "r"(d) : "memory");
    asm volatile("atom.global.add.u32 %0, [%1], 5;" : "=r"(old) : "l"(cells + i) : "memory");
    asm volatile("red.global.max.u32 [%0], 6;" ::"l"(cells + i + 1) : "memory");
}

__global__ void shapes(const long long *in, long long *out)
{
    const int i = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    if (i % 5) out[i] = __ldg(in + i);
}

template <class T> static T *pattern()
{
    static unsigned char host[BYTES];
    for (int o = 0; o < BYTES; o++) host[o] = (unsigned char)(7 * o + 3);
    void *device;
    cudaMalloc(&device, BYTES);
    cudaMemcpy(device, host, BYTES, cudaMemcpyHostToDevice);
    return (T *)device;
}

template <class T> static void copy_all()
{
    copy<T><<<CTAS, N / CTAS>>>(pattern<const T>(), pattern<T>());
}

int main()
{
    copy_all<char>();
    copy_all<__half>();
    copy_all<short>();
    copy_all<int>();
    copy_all<float2>();
    copy_all<float3>();
    copy_all<float4>();
    copy_all<char3>();
    copy_all<long long>();
    copy_all<double2>();
    copy_all<double4>();
    copy_all<Mixed>();
    copy_all<void *>();
    copy_all<Words<6>>();
    copy_all<Words<7>>();
    copy_all<Words<33>>();
    copy_all<Words<60>>();
    diverge<<<1, N>>>(pattern<int>(), pattern<int>(), pattern<short>(), pattern<short>());
    tiles<char><<<CTAS, 32>>>(pattern<char>(), pattern<char>());
    tiles<double><<<CTAS, 32>>>(pattern<double>(), pattern<double>());
    tiles<float4><<<CTAS, 32>>>(pattern<float4>(), pattern<float4>());
    tiles<Words<5>><<<CTAS, 32>>>(pattern<Words<5>>(), pattern<Words<5>>());
    atomics<<<CTAS, 24>>>(pattern<int>());
    atomics<<<CTAS, 24>>>(pattern<unsigned long long>());
    atomics_32<<<1, N>>>(pattern<unsigned>(), pattern<float>(), pattern<double>(),
                         pattern<unsigned short>());
    calls<<<1, N>>>(pattern<int>(), pattern<int>());
    generic<<<1, N>>>(pattern<int>(), pattern<int>(), 1);
    generic_row<<<1, N>>>(pattern<int>(), pattern<int>(), 1);
    ranges<<<1, N>>>(pattern<char>(), pattern<char>(), 40);
    async_copies<<<1, 32>>>(pattern<char>(), pattern<char>());
    ptx<<<1, 48>>>(pattern<int>(), pattern<int>(), pattern<unsigned>());
    shapes<<<1, dim3(10, 3, 3)>>>(pattern<long long>(), pattern<long long>());
    return cudaDeviceSynchronize();
}
