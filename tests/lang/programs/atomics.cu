/* Every atomic function, by all threads of a grid on the same word: the sums and extremes must be
 * exact, the values that were seen a permutation. */
#include "check.h"

enum { CTAS = 8, THREADS = 256, TOTAL = CTAS * THREADS };

template <class T> struct words {
    T add, sub, min, max, conjunction, disjunction, parity, exchanged, swapped;
};

/* The 64-bit signed forms that CUDA lacks, as programs add them. */
#define AS_UNSIGNED(name)                                                                          \
    static __device__ long long name(long long *p, long long value)                                \
    {                                                                                              \
        return (long long)name((unsigned long long *)p, (unsigned long long)value);                \
    }
AS_UNSIGNED(atomicAdd)
AS_UNSIGNED(atomicExch)
static __device__ long long atomicCAS(long long *p, long long expected, long long value)
{
    return (long long)atomicCAS((unsigned long long *)p, (unsigned long long)expected,
                                (unsigned long long)value);
}

/* Each thread's id takes its turn in every operation. */
template <class T> __global__ void integers(words<T> *w, T *seen)
{
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    seen[id] = atomicAdd(&w->add, (T)1);
    atomicMin(&w->min, (T)(1000 - id));
    atomicMax(&w->max, (T)id);
    atomicAnd(&w->conjunction, (T) ~((T)1 << id % 31));
    atomicOr(&w->disjunction, (T)1 << id % 31);
    atomicXor(&w->parity, (T)id);
    atomicExch(&w->exchanged, (T)id);
    T old = w->swapped, expected;
    do {
        expected = old;
        old = atomicCAS(&w->swapped, expected, (T)(expected + 3));
    } while (old != expected);
}

template <class T> static void test_integers(const char *name)
{
    words<T> *const w = managed<words<T>>(1);
    T *const seen = managed<T>(TOTAL);
    w->conjunction = (T)-1;
    integers<<<CTAS, THREADS>>>(w, seen);
    CUDA(cudaDeviceSynchronize());
    T parity = 0;
    for (int i = 0; i < TOTAL; i++) parity ^= (T)i;
    const bool is_signed = (T)-1 < 0;
    CHECK(w->add == TOTAL, "%s %lld", name, (long long)w->add);
    CHECK(w->min == (is_signed ? (T)(1000 - TOTAL + 1) : 0), "%s %lld", name, (long long)w->min);
    CHECK(w->max == TOTAL - 1, "%s %lld", name, (long long)w->max);
    CHECK(w->conjunction == (T) ~(T)0x7fffffff, "%s %llx", name, (long long)w->conjunction);
    CHECK(w->disjunction == (T)0x7fffffff, "%s %llx", name, (long long)w->disjunction);
    CHECK(w->parity == parity, "%s %lld", name, (long long)w->parity);
    CHECK(w->exchanged >= 0 && w->exchanged < TOTAL, "%s %lld", name, (long long)w->exchanged);
    CHECK(w->swapped == 3 * TOTAL, "%s %lld", name, (long long)w->swapped);
    static bool found[TOTAL];
    memset(found, 0, sizeof found);
    for (int i = 0; i < TOTAL; i++) {
        CHECK(seen[i] >= 0 && seen[i] < TOTAL && !found[seen[i]], "%s: %lld twice", name,
              (long long)seen[i]);
        if (seen[i] >= 0 && seen[i] < TOTAL) found[seen[i]] = true;
    }
}

struct others {
    unsigned increment, decrement, unsigned_difference;
    int difference;
    float sum;
    double wide_sum;
    float2 pair;
    float4 quad;
    unsigned short halves[2];
    unsigned long long scoped;
    float exchanged;
};

__global__ void rest(others *o)
{
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    atomicInc(&o->increment, 99);
    atomicDec(&o->decrement, 99);
    atomicSub(&o->difference, 2);
    atomicSub(&o->unsigned_difference, 2u);
    atomicAdd(&o->sum, 0.5f);
    atomicAdd(&o->wide_sum, 0.25);
    atomicAdd(&o->pair, make_float2(1, 2));
    atomicAdd(&o->quad, make_float4(1, 2, 3, 4));
    atomicAdd_system(&o->scoped, 5ull);
    atomicAdd_block(&o->scoped, 2ull);
    atomicExch(&o->exchanged, (float)id);
    unsigned short *const half = &o->halves[id & 1];
    unsigned short old = *half, expected;
    do {
        expected = old;
        old = atomicCAS(half, expected, (unsigned short)(expected + 1));
    } while (old != expected);
}

__global__ void in_shared(int *out)
{
    __shared__ int count;
    __shared__ unsigned long long top;
    if (threadIdx.x == 0) count = 0, top = 0;
    __syncthreads();
    atomicAdd(&count, (int)threadIdx.x);
    atomicMax(&top, (unsigned long long)threadIdx.x);
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = count + (int)top;
}

int main()
{
    test_integers<int>("int");
    test_integers<unsigned>("unsigned");
    test_integers<long long>("long long");
    test_integers<unsigned long long>("unsigned long long");

    others *const o = managed<others>(1);
    rest<<<CTAS, THREADS>>>(o);
    CUDA(cudaDeviceSynchronize());
    CHECK(o->increment == TOTAL % 100, "%u", o->increment);
    CHECK(o->decrement == (100 - TOTAL % 100) % 100, "%u", o->decrement);
    CHECK(o->difference == -2 * TOTAL, "%d", o->difference);
    CHECK(o->unsigned_difference == 0u - 2u * TOTAL, "%u", o->unsigned_difference);
    CHECK(o->sum == 0.5f * TOTAL, "%f", o->sum);
    CHECK(o->wide_sum == 0.25 * TOTAL, "%f", o->wide_sum);
    CHECK(o->pair.x == TOTAL && o->pair.y == 2 * TOTAL);
    CHECK(o->quad.x == TOTAL && o->quad.w == 4 * TOTAL);
    CHECK(o->halves[0] == TOTAL / 2 && o->halves[1] == TOTAL / 2, "%d", o->halves[0]);
    CHECK(o->scoped == 7ull * TOTAL, "%llu", o->scoped);
    CHECK(o->exchanged >= 0 && o->exchanged < TOTAL, "%f", o->exchanged);

    int *const out = managed<int>(CTAS);
    in_shared<<<CTAS, THREADS>>>(out);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < CTAS; i++)
        CHECK(out[i] == THREADS * (THREADS - 1) / 2 + THREADS - 1, "%d", out[i]);
    return finish();
}
