/* Histograms: bytes per warp in shared memory with tags, shared atomics, all widths of global
 * atomics, compare-and-swap loops for float and double, and warp-aggregated counting. */
#include "helper.h"
#include <stdint.h>
#include <vector>

typedef unsigned int uint;
typedef unsigned char uchar;
#define WARP_COUNT 6
#define BINS       256

inline __device__ void addByte(uint *s_WarpHist, uint data)
{
    atomicAdd(s_WarpHist + data, 1);
}

__global__ void histogram256(uint *partial, const uint *data, uint count)
{
    __shared__ uint s_Hist[WARP_COUNT * BINS];
    uint *const mine = s_Hist + (threadIdx.x >> 5) * BINS;
#pragma unroll
    for (uint i = 0; i < BINS / 32; i++) s_Hist[threadIdx.x + i * WARP_COUNT * 32] = 0;
    __syncthreads();
    for (uint pos = blockIdx.x * blockDim.x + threadIdx.x; pos < count;
         pos += gridDim.x * blockDim.x) {
        const uint word = data[pos];
        addByte(mine, word & 0xFF);
        addByte(mine, (word >> 8) & 0xFF);
        addByte(mine, (word >> 16) & 0xFF);
        addByte(mine, word >> 24);
    }
    __syncthreads();
    for (uint bin = threadIdx.x; bin < BINS; bin += blockDim.x) {
        uint sum = 0;
        for (uint i = 0; i < WARP_COUNT; i++) sum += s_Hist[bin + i * BINS];
        partial[blockIdx.x * BINS + bin] = sum;
    }
}

__global__ void merge(uint *out, uint *partial, uint count)
{
    uint sum = 0;
    for (uint i = threadIdx.x; i < count; i += blockDim.x) sum += partial[blockIdx.x + i * BINS];
    __shared__ uint data[64];
    data[threadIdx.x] = sum;
    for (uint stride = 32; stride > 0; stride >>= 1) {
        __syncthreads();
        if (threadIdx.x < stride) data[threadIdx.x] += data[threadIdx.x + stride];
    }
    if (threadIdx.x == 0) out[blockIdx.x] = data[0];
}

/* The classic from before double atomics. */
__device__ double atomicAddDouble(double *address, double val)
{
    unsigned long long int *address_as_ull = (unsigned long long int *)address,
                           old = *address_as_ull, assumed;
    do {
        assumed = old;
        old = atomicCAS(address_as_ull, assumed,
                        __double_as_longlong(val + __longlong_as_double(assumed)));
    } while (assumed != old);
    return __longlong_as_double(old);
}

__device__ static float atomicMaxf(float *address, float val)
{
    int *as_int = (int *)address, old = *as_int, assumed;
    do {
        assumed = old;
        old = ::atomicCAS(as_int, assumed, __float_as_int(::fmaxf(val, __int_as_float(assumed))));
    } while (assumed != old);
    return __int_as_float(old);
}

struct results {
    int add, sub, exch, min, max, inc, dec, cas, and_, or_, xor_;
    uint umin, umax, wrap;
    unsigned long long ladd, lmax, lxor;
    long long smin;
    float fadd, fmax;
    double dadd, cas_dadd;
    unsigned short half_word;
};

__global__ void all_atomics(results *r)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&r->add, i);
    atomicSub(&r->sub, 2);
    atomicExch(&r->exch, 7);
    atomicMin(&r->min, -i);
    atomicMax(&r->max, i);
    atomicInc((uint *)&r->inc, 16);
    atomicDec((uint *)&r->dec, 9);
    atomicCAS(&r->cas, i, i + 1);
    atomicAnd(&r->and_, ~(1 << (i & 15)));
    atomicOr(&r->or_, 1 << (i & 31));
    atomicXor(&r->xor_, 1 << (i % 7));
    atomicMin(&r->umin, 100u + i);
    atomicMax(&r->umax, 100u + i);
    atomicAdd(&r->ladd, 0x100000000ull + i);
    atomicMax(&r->lmax, 1ull << (i & 63));
    atomicXor(&r->lxor, 1ull << (i & 63));
    atomicMin(&r->smin, -(long long)i * (1ll << 33));
    atomicAdd(&r->fadd, 0.5f);
    atomicMaxf(&r->fmax, (float)i / 4);
    atomicAdd(&r->dadd, 0.25);
    atomicAddDouble(&r->cas_dadd, 0.125);
    atomicAdd_system(&r->wrap, 3);
    atomicCAS(&r->half_word, (unsigned short)i, (unsigned short)(i + 1));
}

__global__ void aggregated(const int *in, int n, int *out, int *count)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        if (in[i] % 3 == 0) {
            const unsigned active = __activemask();
            const int leader = __ffs(active) - 1, lane = threadIdx.x & 31;
            int base = 0;
            if (lane == leader) base = atomicAdd(count, __popc(active));
            base = __shfl_sync(active, base, leader);
            out[base + __popc(active & ((1u << lane) - 1))] = in[i];
        }
}

int main()
{
    const int n = 20000, blocks = 8;
    std::vector<uint> words(n), want(BINS), got(BINS);
    uint seed = 1;
    for (auto &w : words) {
        w = seed = seed * 1664525 + 1013904223;
        for (int k = 0; k < 4; k++) want[w >> 8 * k & 255]++;
    }
    uint *d_data, *d_partial, *d_hist;
    checkCudaErrors(cudaMalloc((void **)&d_data, n * sizeof(uint)));
    checkCudaErrors(cudaMalloc((void **)&d_partial, blocks * BINS * sizeof(uint)));
    checkCudaErrors(cudaMalloc((void **)&d_hist, BINS * sizeof(uint)));
    checkCudaErrors(cudaMemcpy(d_data, words.data(), n * sizeof(uint), cudaMemcpyHostToDevice));
    histogram256<<<blocks, WARP_COUNT * 32>>>(d_partial, d_data, n);
    merge<<<BINS, 64>>>(d_hist, d_partial, blocks);
    checkCudaErrors(cudaMemcpy(got.data(), d_hist, BINS * sizeof(uint), cudaMemcpyDeviceToHost));
    EXPECT(got == want, "histogram");

    results *r, h;
    memset(&h, 0, sizeof h);
    h.and_ = 0xffff, h.umin = 1000;
    checkCudaErrors(cudaMalloc(&r, sizeof *r));
    checkCudaErrors(cudaMemcpy(r, &h, sizeof h, cudaMemcpyHostToDevice));
    all_atomics<<<4, 96>>>(r);
    checkCudaErrors(cudaMemcpy(&h, r, sizeof h, cudaMemcpyDeviceToHost));
    const int t = 384;
    EXPECT(h.add == t * (t - 1) / 2 && h.sub == -2 * t && h.exch == 7, "%d %d %d", h.add, h.sub,
           h.exch);
    EXPECT(h.min == -383 && h.max == 383 && h.umin == 100 && h.umax == 483, "%d %d", h.min, h.max);
    EXPECT(h.inc == t % 17 && h.dec == (10 - t % 10) % 10, "%d %d", h.inc, h.dec);
    EXPECT(h.and_ == 0 && h.or_ == -1, "%x %x", h.and_, h.or_);
    int bits = 0;
    for (int i = 0; i < t; i++) bits ^= 1 << (i % 7);
    EXPECT(h.xor_ == bits && h.lxor == 0 && h.lmax == 1ull << 63, "%x %llx", h.xor_, h.lmax);
    EXPECT(h.ladd == 0x18000000000ull + t * (t - 1) / 2 && h.smin == -383ll * (1ll << 33), "%llx",
           h.ladd);
    EXPECT(h.fadd == 192 && h.fmax == 95.75f && h.dadd == 96 && h.cas_dadd == 48, "%g %g", h.fadd,
           h.fmax);
    EXPECT(h.wrap == 1152 && h.cas >= 1 && h.half_word >= 1, "%u %d", h.wrap, h.cas);

    std::vector<int> in(n), out(n);
    int count = 0, total;
    for (int i = 0; i < n; i++) in[i] = words[i] >> 8, count += in[i] % 3 == 0;
    int *d_in = (int *)d_data, *d_out, *d_count;
    checkCudaErrors(cudaMalloc(&d_out, n * sizeof(int)));
    checkCudaErrors(cudaMalloc(&d_count, sizeof(int)));
    checkCudaErrors(cudaMemset(d_count, 0, sizeof(int)));
    checkCudaErrors(cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    aggregated<<<16, 128>>>(d_in, n, d_out, d_count);
    checkCudaErrors(cudaMemcpy(&total, d_count, sizeof total, cudaMemcpyDeviceToHost));
    checkCudaErrors(cudaMemcpy(out.data(), d_out, n * sizeof(int), cudaMemcpyDeviceToHost));
    long long sum = 0, want_sum = 0;
    for (int i = 0; i < n; i++) {
        if (in[i] % 3 == 0) want_sum += in[i];
        if (i < total) sum += out[i];
    }
    EXPECT(total == count && sum == want_sum, "%d, not %d", total, count);
    return verdict();
}
