/* Votes, shuffles, matches and reductions of warps against a model on the host, for full and
 * partial masks, all widths and types. */
#include "check.h"

enum { LANES = 32 };

template <class T> __global__ void shuffle(T *out, const T *in, int offset, int width)
{
    const int lane = threadIdx.x;
    const T value = in[lane];
    out[lane] = __shfl_sync(0xffffffffu, value, offset, width);
    out[LANES + lane] = __shfl_up_sync(0xffffffffu, value, (unsigned)offset, width);
    out[2 * LANES + lane] = __shfl_down_sync(0xffffffffu, value, (unsigned)offset, width);
    out[3 * LANES + lane] = __shfl_xor_sync(0xffffffffu, value, offset, width);
#ifdef __CTASCOPE__ /* gone from newer GPUs, not from here */
    out[4 * LANES + lane] = __shfl(value, offset, width);
#else
    out[4 * LANES + lane] = __shfl_sync(0xffffffffu, value, offset, width);
#endif
}

/* The lane that `lane` reads from. */
static int source(int kind, int lane, int offset, int width)
{
    const int first = lane & ~(width - 1), in_segment = lane & (width - 1);
    switch (kind) {
    case 0:
    case 4:
        return first + (offset & (width - 1));
    case 1:
        return in_segment >= offset ? lane - offset : lane;
    case 2:
        return in_segment + offset < width ? lane + offset : lane;
    default: /* may leave the segment downwards, but not beyond its end */
        return (lane ^ offset) < first + width ? lane ^ offset : lane;
    }
}

template <class T> static void test_shuffles(const char *name, T scale)
{
    T *const in = managed<T>(LANES), *const out = managed<T>(5 * LANES);
    for (int i = 0; i < LANES; i++) in[i] = (T)(i + 1) * scale;
    for (int width = 2; width <= 32; width *= 2)
        for (int offset = 0; offset < width; offset += width > 4 ? 3 : 1) {
            shuffle<<<1, LANES>>>(out, in, offset, width);
            CUDA(cudaDeviceSynchronize());
            for (int kind = 0; kind < 5; kind++)
                for (int lane = 0; lane < LANES; lane++)
                    CHECK(out[kind * LANES + lane] == in[source(kind, lane, offset, width)],
                          "%s kind %d width %d offset %d lane %d", name, kind, width, offset, lane);
        }
}

struct answers {
    int all, any, uni, match_all_predicate;
    unsigned ballot, match_any, match_all, active, match_any_wide;
    unsigned add, umin, umax, conjunction, disjunction, parity;
    int min, max, sum;
};

/* Only the lanes of `mask` take part. */
__global__ void collect(answers *out, const int *in, unsigned mask)
{
    const int lane = threadIdx.x;
    if (!(mask >> lane & 1)) return;
    const int value = in[lane];
    answers a;
    a.all = __all_sync(mask, value > 0);
    a.any = __any_sync(mask, value > 20);
    a.uni = __uni_sync(mask, value > 0);
    a.ballot = __ballot_sync(mask, value & 1);
    a.match_any = __match_any_sync(mask, value / 3);
    a.match_any_wide = __match_any_sync(mask, (long long)(value / 5) << 33);
    a.match_all = __match_all_sync(mask, value / 64, &a.match_all_predicate);
    a.active = __activemask();
    a.add = __reduce_add_sync(mask, (unsigned)value);
    a.sum = __reduce_add_sync(mask, -value);
    a.umin = __reduce_min_sync(mask, (unsigned)value);
    a.umax = __reduce_max_sync(mask, (unsigned)value);
    a.min = __reduce_min_sync(mask, -value);
    a.max = __reduce_max_sync(mask, -value);
    a.conjunction = __reduce_and_sync(mask, (unsigned)value | 64);
    a.disjunction = __reduce_or_sync(mask, (unsigned)value);
    a.parity = __reduce_xor_sync(mask, (unsigned)value);
    __syncwarp(mask);
    out[lane] = a;
}

static void test_collectives(unsigned mask)
{
    int *const in = managed<int>(LANES);
    answers *const out = managed<answers>(LANES);
    unsigned seed = mask;
    for (int i = 0; i < LANES; i++) in[i] = (int)((seed = seed * 1664525u + 1013904223u) >> 27);
    collect<<<1, LANES>>>(out, in, mask);
    CUDA(cudaDeviceSynchronize());
    answers want = {};
    want.all = want.uni = 1;
    want.umin = ~0u, want.conjunction = ~0u, want.max = -1000;
    want.min = 1000;
    int positive = 0;
    for (int i = 0; i < LANES; i++) {
        if (!(mask >> i & 1)) continue;
        positive += in[i] > 0;
        want.all &= in[i] > 0;
        want.any |= in[i] > 20;
        want.ballot |= (unsigned)(in[i] & 1) << i;
        want.add += (unsigned)in[i];
        want.sum -= in[i];
        want.umin = (unsigned)in[i] < want.umin ? (unsigned)in[i] : want.umin;
        want.umax = (unsigned)in[i] > want.umax ? (unsigned)in[i] : want.umax;
        want.min = -in[i] < want.min ? -in[i] : want.min;
        want.max = -in[i] > want.max ? -in[i] : want.max;
        want.conjunction &= (unsigned)in[i] | 64;
        want.disjunction |= (unsigned)in[i];
        want.parity ^= (unsigned)in[i];
    }
    want.uni = positive == 0 || positive == __builtin_popcount(mask);
    for (int lane = 0; lane < LANES; lane++) {
        if (!(mask >> lane & 1)) continue;
        const answers a = out[lane];
        unsigned same = 0, same_wide = 0;
        for (int i = 0; i < LANES; i++) {
            same |= (unsigned)((mask >> i & 1) && in[i] / 3 == in[lane] / 3) << i;
            same_wide |= (unsigned)((mask >> i & 1) && in[i] / 5 == in[lane] / 5) << i;
        }
        CHECK(!a.all == !want.all && !a.any == !want.any && !a.uni == !want.uni, "mask %x", mask);
        CHECK(a.ballot == want.ballot, "mask %x: %x, not %x", mask, a.ballot, want.ballot);
        CHECK(a.match_any == same && a.match_any_wide == same_wide, "mask %x lane %d", mask, lane);
        CHECK(a.match_all == mask && a.match_all_predicate, "mask %x: %x", mask, a.match_all);
        CHECK((a.active & 1u << lane) && (a.active & ~mask) == 0, "mask %x: %x", mask, a.active);
        CHECK(a.add == want.add && a.sum == want.sum, "mask %x", mask);
        CHECK(a.umin == want.umin && a.umax == want.umax, "mask %x", mask);
        CHECK(a.min == want.min && a.max == want.max, "mask %x", mask);
        CHECK(a.conjunction == want.conjunction && a.disjunction == want.disjunction &&
                  a.parity == want.parity,
              "mask %x", mask);
    }
}

__global__ void block_votes(int *out)
{
    const int n = __syncthreads_count(threadIdx.x % 3 == 0);
    const int all = __syncthreads_and(threadIdx.x < 1000),
              any = __syncthreads_or(threadIdx.x == 77);
    if (threadIdx.x == 0) out[0] = n, out[1] = all != 0, out[2] = any != 0;
    out[3 + threadIdx.x] =
        __popc(__ballot_sync(__activemask(), 1) & ((1u << threadIdx.x % 32) - 1));
}

int main()
{
    test_shuffles<int>("int", -3);
    test_shuffles<unsigned>("unsigned", 0x7000001u);
    test_shuffles<long>("long", -(1l << 40));
    test_shuffles<unsigned long>("unsigned long", 1ul << 50);
    test_shuffles<long long>("long long", -(1ll << 33));
    test_shuffles<unsigned long long>("unsigned long long", 3ull << 57);
    test_shuffles<float>("float", 0.1f);
    test_shuffles<double>("double", 0.1);
    const unsigned masks[] = {0xffffffffu, 0x0000ffffu, 0xaaaaaaaau,
                              0x80000001u, 0x00000010u, 0x12345678u};
    for (const unsigned mask : masks) test_collectives(mask);
    int *const out = managed<int>(300);
    block_votes<<<1, 200>>>(out);
    CUDA(cudaDeviceSynchronize());
    CHECK(out[0] == 67 && out[1] == 1 && out[2] == 1, "%d %d %d", out[0], out[1], out[2]);
    for (int i = 0; i < 200; i++) CHECK(out[3 + i] == i % 32, "%d: %d", i, out[3 + i]);
    return finish();
}
