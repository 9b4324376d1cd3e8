/* cuRAND's device functions for the CPU device: XORWOW, Philox4_32_10 and MRG32k3a, with the
 * sequences of NVIDIA's. Integers, uniform numbers and Poisson numbers below a mean of 64 are
 * NVIDIA's bit for bit; normal and log-normal ones up to the rounding of log, sin and cos. MTGP32
 * and Sobol sequences are not declared: the compiler refuses them by name. */
#ifndef CURAND_KERNEL_H_
#define CURAND_KERNEL_H_

#include "cuda_runtime.h"
#include "curand.h"

#ifndef QUALIFIERS
#define QUALIFIERS static __forceinline__ __device__
#endif

/* The second number of a pair of normal ones is kept for the next call. */
#define CTS_RAND_NORMALS_                                                                          \
    int boxmuller_flag;                                                                            \
    int boxmuller_flag_double;                                                                     \
    float boxmuller_extra;                                                                         \
    double boxmuller_extra_double;

struct curandStateXORWOW {
    unsigned int d, v[5];
    CTS_RAND_NORMALS_
};
struct curandStateMRG32k3a {
    unsigned int s1[3], s2[3];
    CTS_RAND_NORMALS_
};
struct curandStatePhilox4_32_10 {
    uint4 ctr, output;
    uint2 key;
    unsigned int STATE; /* how many numbers of `output` are used */
    CTS_RAND_NORMALS_
};
#undef CTS_RAND_NORMALS_
typedef struct curandStateXORWOW curandStateXORWOW_t, curandState_t, curandState;
typedef struct curandStateMRG32k3a curandStateMRG32k3a_t;
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

/* A table that the host made: sums[i] = P(value <= first + i). */
struct curandDiscreteDistribution_st {
    const double *sums;
    unsigned int count, first;
};

#ifdef __CUDACC__ /* a host compiler needs the states' sizes only */

/* `count` times 2^power steps; the state is a local copy. */
extern "C" __host__ __device__ void
__cts_dev_skip_xorwow(unsigned int *state, unsigned long long count, unsigned int power);
extern "C" __host__ __device__ void
__cts_dev_skip_mrg(unsigned int *state, unsigned long long count, unsigned int power);

template <class State> QUALIFIERS void cts_rand_forget_normals(State *state)
{
    state->boxmuller_flag = 0;
    state->boxmuller_flag_double = 0;
    state->boxmuller_extra = 0;
    state->boxmuller_extra_double = 0;
}

/* ---- XORWOW: Marsaglia's xorwow ---- */

QUALIFIERS void cts_rand_skip(curandStateXORWOW_t *state, unsigned long long count, unsigned power)
{
    if (count == 0) return;
    unsigned int v[5];
    for (int i = 0; i < 5; i++) v[i] = state->v[i];
    __cts_dev_skip_xorwow(v, count, power);
    for (int i = 0; i < 5; i++) state->v[i] = v[i];
    if (power == 0) state->d += 362437u * (unsigned int)count;
}

QUALIFIERS void skipahead(unsigned long long n, curandStateXORWOW_t *state)
{
    cts_rand_skip(state, n, 0);
}

QUALIFIERS void skipahead_sequence(unsigned long long n, curandStateXORWOW_t *state)
{
    cts_rand_skip(state, n, 67);
}

QUALIFIERS void curand_init(unsigned long long seed, unsigned long long subsequence,
                            unsigned long long offset, curandStateXORWOW_t *state)
{
    const unsigned int low = ((unsigned int)seed ^ 0xaad26b49u) * 1099087573u;
    const unsigned int high = ((unsigned int)(seed >> 32) ^ 0xf7dcefddu) * 2591861531u;
    curandStateXORWOW_t made;
    made.d = 6615241u + high + low;
    made.v[0] = 123456789u + low;
    made.v[1] = 362436069u ^ low;
    made.v[2] = 521288629u + high;
    made.v[3] = 88675123u ^ high;
    made.v[4] = 5783321u + low;
    skipahead_sequence(subsequence, &made);
    skipahead(offset, &made);
    cts_rand_forget_normals(&made);
    *state = made;
}

QUALIFIERS unsigned int curand(curandStateXORWOW_t *state)
{
    const unsigned int first = state->v[0] ^ state->v[0] >> 2, last = state->v[4];
    state->v[0] = state->v[1];
    state->v[1] = state->v[2];
    state->v[2] = state->v[3];
    state->v[3] = last;
    const unsigned int next = last ^ last << 4 ^ first ^ first << 1;
    state->v[4] = next;
    const unsigned int d = state->d + 362437u;
    state->d = d;
    return next + d;
}

/* ---- MRG32k3a: L'Ecuyer's combined recurrences ---- */

QUALIFIERS void cts_rand_skip(curandStateMRG32k3a_t *state, unsigned long long count,
                              unsigned power)
{
    if (count == 0) return;
    unsigned int s[6];
    for (int i = 0; i < 3; i++) s[i] = state->s1[i], s[3 + i] = state->s2[i];
    __cts_dev_skip_mrg(s, count, power);
    for (int i = 0; i < 3; i++) state->s1[i] = s[i], state->s2[i] = s[3 + i];
}

QUALIFIERS void skipahead(unsigned long long n, curandStateMRG32k3a_t *state)
{
    cts_rand_skip(state, n, 0);
}

QUALIFIERS void skipahead_subsequence(unsigned long long n, curandStateMRG32k3a_t *state)
{
    cts_rand_skip(state, n, 76);
}

QUALIFIERS void skipahead_sequence(unsigned long long n, curandStateMRG32k3a_t *state)
{
    cts_rand_skip(state, n, 127);
}

QUALIFIERS void curand_init(unsigned long long seed, unsigned long long subsequence,
                            unsigned long long offset, curandStateMRG32k3a_t *state)
{
    const unsigned long long m1 = 4294967087ull, m2 = 4294944443ull;
    const unsigned int low = seed ? (unsigned int)seed ^ 0x55555555u : 1;
    const unsigned int high = seed ? (unsigned int)(seed >> 32) ^ 0xaaaaaaaau : 1;
    curandStateMRG32k3a_t made;
    made.s1[0] = made.s1[2] = (unsigned int)(12345ull * low % m1);
    made.s1[1] = (unsigned int)(12345ull * high % m1);
    made.s2[0] = made.s2[2] = (unsigned int)(12345ull * high % m2);
    made.s2[1] = (unsigned int)(12345ull * low % m2);
    skipahead_subsequence(subsequence, &made);
    skipahead(offset, &made);
    cts_rand_forget_normals(&made);
    *state = made;
}

/* From 1 to 4294967087. */
QUALIFIERS double curand_MRG32k3a(curandStateMRG32k3a_t *state)
{
    const long long m1 = 4294967087ll, m2 = 4294944443ll;
    const long long next1 = (1403580ll * state->s1[1] + 810728ll * (m1 - state->s1[0])) % m1;
    const long long next2 = (527612ll * state->s2[2] + 1370589ll * (m2 - state->s2[0])) % m2;
    state->s1[0] = state->s1[1];
    state->s1[1] = state->s1[2];
    state->s1[2] = (unsigned int)next1;
    state->s2[0] = state->s2[1];
    state->s2[1] = state->s2[2];
    state->s2[2] = (unsigned int)next2;
    return (double)(next1 > next2 ? next1 - next2 : next1 - next2 + m1);
}

QUALIFIERS unsigned int curand(curandStateMRG32k3a_t *state)
{
    return (unsigned int)(curand_MRG32k3a(state) * 1.000000048662);
}

/* ---- Philox4_32_10: Salmon and others' counter-based generator ---- */

QUALIFIERS uint4 curand_Philox4x32_10(uint4 counter, uint2 key)
{
    for (int round = 0; round < 10; round++) {
        const unsigned long long first = 0xd2511f53ull * counter.x,
                                 second = 0xcd9e8d57ull * counter.z;
        counter = make_uint4((unsigned int)(second >> 32) ^ counter.y ^ key.x, (unsigned int)second,
                             (unsigned int)(first >> 32) ^ counter.w ^ key.y, (unsigned int)first);
        key.x += 0x9e3779b9u;
        key.y += 0xbb67ae85u;
    }
    return counter;
}

/* Adds to the counter's low or high half; the low one carries. */
QUALIFIERS void cts_rand_count(uint4 *counter, unsigned long long low, unsigned long long high)
{
    const unsigned long long old = counter->x | (unsigned long long)counter->y << 32;
    const unsigned long long sum = old + low;
    const unsigned long long above =
        (counter->z | (unsigned long long)counter->w << 32) + high + (sum < old);
    *counter = make_uint4((unsigned int)sum, (unsigned int)(sum >> 32), (unsigned int)above,
                          (unsigned int)(above >> 32));
}

QUALIFIERS void skipahead(unsigned long long n, curandStatePhilox4_32_10_t *state)
{
    const unsigned int used = state->STATE + (unsigned int)(n & 3);
    cts_rand_count(&state->ctr, (n >> 2) + (used >> 2), 0);
    state->STATE = used & 3;
    state->output = curand_Philox4x32_10(state->ctr, state->key);
}

QUALIFIERS void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t *state)
{
    cts_rand_count(&state->ctr, 0, n);
    state->output = curand_Philox4x32_10(state->ctr, state->key);
}

QUALIFIERS void curand_init(unsigned long long seed, unsigned long long subsequence,
                            unsigned long long offset, curandStatePhilox4_32_10_t *state)
{
    curandStatePhilox4_32_10_t made;
    made.ctr = make_uint4(0, 0, (unsigned int)subsequence, (unsigned int)(subsequence >> 32));
    made.key = make_uint2((unsigned int)seed, (unsigned int)(seed >> 32));
    made.STATE = 0;
    cts_rand_forget_normals(&made);
    skipahead(offset, &made);
    *state = made;
}

QUALIFIERS unsigned int cts_rand_word(uint4 words, unsigned int index)
{
    return index == 0 ? words.x : index == 1 ? words.y : index == 2 ? words.z : words.w;
}

QUALIFIERS unsigned int curand(curandStatePhilox4_32_10_t *state)
{
    const unsigned int result = cts_rand_word(state->output, state->STATE);
    if (++state->STATE == 4) {
        cts_rand_count(&state->ctr, 1, 0);
        state->output = curand_Philox4x32_10(state->ctr, state->key);
        state->STATE = 0;
    }
    return result;
}

/* The next four numbers, also across two values of the counter. */
QUALIFIERS uint4 curand4(curandStatePhilox4_32_10_t *state)
{
    const uint4 old = state->output;
    cts_rand_count(&state->ctr, 1, 0);
    state->output = curand_Philox4x32_10(state->ctr, state->key);
    const uint4 next = state->output;
    switch (state->STATE) {
    case 1:
        return make_uint4(old.y, old.z, old.w, next.x);
    case 2:
        return make_uint4(old.z, old.w, next.x, next.y);
    case 3:
        return make_uint4(old.w, next.x, next.y, next.z);
    }
    return old;
}

/* ---- uniform numbers in (0, 1] ---- */

#define CTS_RAND_2POW32_ 2.3283064365386963e-10 /* 2^-32 */
#define CTS_RAND_2POW53_ 1.1102230246251565e-16 /* 2^-53 */
#define CTS_RAND_MRG_    2.3283065498378288e-10 /* 1 / 4294967088 */

QUALIFIERS float _curand_uniform(unsigned int x)
{
    return (float)x * (float)CTS_RAND_2POW32_ + (float)(CTS_RAND_2POW32_ / 2);
}

QUALIFIERS double _curand_uniform_double_hq(unsigned int x, unsigned int y)
{
    const unsigned long long bits = (unsigned long long)x ^ (unsigned long long)y << 21;
    return bits * CTS_RAND_2POW53_ + CTS_RAND_2POW53_ / 2;
}

QUALIFIERS float curand_uniform(curandStateXORWOW_t *state)
{
    return _curand_uniform(curand(state));
}
QUALIFIERS float curand_uniform(curandStatePhilox4_32_10_t *state)
{
    return _curand_uniform(curand(state));
}
QUALIFIERS float curand_uniform(curandStateMRG32k3a_t *state)
{
    return (float)(curand_MRG32k3a(state) * CTS_RAND_MRG_);
}

QUALIFIERS double curand_uniform_double(curandStateXORWOW_t *state)
{
    const unsigned int x = curand(state), y = curand(state);
    return _curand_uniform_double_hq(x, y);
}
QUALIFIERS double curand_uniform_double(curandStatePhilox4_32_10_t *state)
{
    return curand(state) * CTS_RAND_2POW32_ + CTS_RAND_2POW32_; /* 32 bits, as NVIDIA's */
}
QUALIFIERS double curand_uniform_double(curandStateMRG32k3a_t *state)
{
    return curand_MRG32k3a(state) * CTS_RAND_MRG_;
}

QUALIFIERS float4 curand_uniform4(curandStatePhilox4_32_10_t *state)
{
    const uint4 x = curand4(state);
    return make_float4(_curand_uniform(x.x), _curand_uniform(x.y), _curand_uniform(x.z),
                       _curand_uniform(x.w));
}

QUALIFIERS double2 curand_uniform2_double(curandStatePhilox4_32_10_t *state)
{
    const uint4 x = curand4(state);
    return make_double2(_curand_uniform_double_hq(x.x, x.y), _curand_uniform_double_hq(x.z, x.w));
}

QUALIFIERS double4 curand_uniform4_double(curandStatePhilox4_32_10_t *state)
{
    const double2 low = curand_uniform2_double(state), high = curand_uniform2_double(state);
    return make_double4(low.x, low.y, high.x, high.y);
}

/* ---- normal numbers, by Box and Muller ---- */

QUALIFIERS float2 cts_rand_normal_pair(float uniform, float angle)
{
    const float size = sqrtf(-2.0f * logf(uniform));
    float2 result;
    sincosf(angle, &result.x, &result.y); // NVIDIA's: __sincosf, an instruction's approximation
    result.x *= size;
    result.y *= size;
    return result;
}

QUALIFIERS double2 cts_rand_normal_pair(double uniform, double half_turns)
{
    const double size = sqrt(-2.0 * log(uniform));
    double2 result;
    sincospi(half_turns, &result.x, &result.y);
    result.x *= size;
    result.y *= size;
    return result;
}

QUALIFIERS float2 _curand_box_muller(unsigned int x, unsigned int y)
{
    const float turn = (float)(CTS_RAND_2POW32_ * 6.2831855);
    return cts_rand_normal_pair(_curand_uniform(x), (float)y * turn + turn / 2);
}

QUALIFIERS double2 _curand_box_muller_double(unsigned int x0, unsigned int x1, unsigned int y0,
                                             unsigned int y1)
{
    return cts_rand_normal_pair(_curand_uniform_double_hq(x0, x1),
                                2 * _curand_uniform_double_hq(y0, y1));
}

QUALIFIERS float2 curand_normal2(curandStateXORWOW_t *state)
{
    const unsigned int x = curand(state), y = curand(state);
    return _curand_box_muller(x, y);
}
QUALIFIERS float2 curand_normal2(curandStatePhilox4_32_10_t *state)
{
    const unsigned int x = curand(state), y = curand(state);
    return _curand_box_muller(x, y);
}
QUALIFIERS float2 curand_normal2(curandStateMRG32k3a_t *state)
{
    const float uniform = curand_uniform(state);
    return cts_rand_normal_pair(
        uniform, (float)(curand_MRG32k3a(state) * CTS_RAND_MRG_ * 6.2831853071795860));
}

QUALIFIERS double2 curand_normal2_double(curandStateXORWOW_t *state)
{
    const unsigned int x0 = curand(state), x1 = curand(state);
    const unsigned int y0 = curand(state), y1 = curand(state);
    return _curand_box_muller_double(x0, x1, y0, y1);
}
QUALIFIERS double2 curand_normal2_double(curandStatePhilox4_32_10_t *state)
{
    const uint4 x = curand4(state);
    return _curand_box_muller_double(x.x, x.y, x.z, x.w);
}
QUALIFIERS double2 curand_normal2_double(curandStateMRG32k3a_t *state)
{
    const double uniform = curand_uniform_double(state);
    return cts_rand_normal_pair(uniform, 2 * curand_uniform_double(state));
}

QUALIFIERS float4 curand_normal4(curandStatePhilox4_32_10_t *state)
{
    const uint4 x = curand4(state);
    const float2 low = _curand_box_muller(x.x, x.y), high = _curand_box_muller(x.z, x.w);
    return make_float4(low.x, low.y, high.x, high.y);
}

QUALIFIERS double4 curand_normal4_double(curandStatePhilox4_32_10_t *state)
{
    const double2 low = curand_normal2_double(state), high = curand_normal2_double(state);
    return make_double4(low.x, low.y, high.x, high.y);
}

template <class State> QUALIFIERS float curand_normal(State *state)
{
    if (state->boxmuller_flag) {
        state->boxmuller_flag = 0;
        return state->boxmuller_extra;
    }
    const float2 pair = curand_normal2(state);
    state->boxmuller_extra = pair.y;
    state->boxmuller_flag = 1;
    return pair.x;
}

template <class State> QUALIFIERS double curand_normal_double(State *state)
{
    if (state->boxmuller_flag_double) {
        state->boxmuller_flag_double = 0;
        return state->boxmuller_extra_double;
    }
    const double2 pair = curand_normal2_double(state);
    state->boxmuller_extra_double = pair.y;
    state->boxmuller_flag_double = 1;
    return pair.x;
}

/* ---- log-normal numbers ---- */

template <class State> QUALIFIERS float curand_log_normal(State *state, float mean, float stddev)
{
    return expf(mean + stddev * curand_normal(state));
}

template <class State> QUALIFIERS float2 curand_log_normal2(State *state, float mean, float stddev)
{
    const float2 x = curand_normal2(state);
    return make_float2(expf(mean + stddev * x.x), expf(mean + stddev * x.y));
}

QUALIFIERS float4 curand_log_normal4(curandStatePhilox4_32_10_t *state, float mean, float stddev)
{
    const float4 x = curand_normal4(state);
    return make_float4(expf(mean + stddev * x.x), expf(mean + stddev * x.y),
                       expf(mean + stddev * x.z), expf(mean + stddev * x.w));
}

template <class State>
QUALIFIERS double curand_log_normal_double(State *state, double mean, double stddev)
{
    return exp(mean + stddev * curand_normal_double(state));
}

template <class State>
QUALIFIERS double2 curand_log_normal2_double(State *state, double mean, double stddev)
{
    const double2 x = curand_normal2_double(state);
    return make_double2(exp(mean + stddev * x.x), exp(mean + stddev * x.y));
}

QUALIFIERS double4 curand_log_normal4_double(curandStatePhilox4_32_10_t *state, double mean,
                                             double stddev)
{
    const double4 x = curand_normal4_double(state);
    return make_double4(exp(mean + stddev * x.x), exp(mean + stddev * x.y),
                        exp(mean + stddev * x.z), exp(mean + stddev * x.w));
}

/* ---- Poisson numbers ---- */

/* Knuth's product of uniform numbers. */
template <class State> QUALIFIERS unsigned int cts_rand_poisson_small(State *state, double lambda)
{
    const double end = exp(-lambda);
    unsigned int count = 0;
    for (double product = curand_uniform(state); product > end; product *= curand_uniform(state))
        count++;
    return count;
}

/* Inversion of one uniform number that searches from the most likely value outwards; ours. */
QUALIFIERS unsigned int cts_rand_poisson_search(double uniform, double lambda)
{
    const double middle = floor(lambda);
    double up = exp(middle * log(lambda) - lambda - lgamma(middle + 1)), down = up;
    double left = uniform - up;
    for (double above = middle, below = middle; left > 0 && (up > 0 || below > 0);) {
        up *= lambda / ++above;
        left -= up;
        if (left <= 0) return (unsigned int)above;
        if (below == 0) continue;
        down *= below-- / lambda;
        left -= down;
        if (left <= 0) return (unsigned int)below;
    }
    return (unsigned int)middle;
}

template <class State> QUALIFIERS unsigned int curand_poisson(State *state, double lambda)
{
    if (lambda < 64) return cts_rand_poisson_small(state, lambda);
    if (lambda <= 4000) return cts_rand_poisson_search(curand_uniform_double(state), lambda);
    return (unsigned int)(sqrt(lambda) * curand_normal_double(state) + lambda + 0.5);
}

QUALIFIERS uint4 curand_poisson4(curandStatePhilox4_32_10_t *state, double lambda)
{
    const unsigned int x = curand_poisson(state, lambda), y = curand_poisson(state, lambda);
    const unsigned int z = curand_poisson(state, lambda), w = curand_poisson(state, lambda);
    return make_uint4(x, y, z, w);
}

template <class State>
QUALIFIERS unsigned int curand_discrete(State *state, curandDiscreteDistribution_t distribution)
{
    const double uniform = curand_uniform_double(state);
    unsigned int low = 0, high = distribution->count - 1;
    while (low < high) {
        const unsigned int middle = (low + high) / 2;
        if (distribution->sums[middle] < uniform)
            low = middle + 1;
        else
            high = middle;
    }
    return distribution->first + low;
}

QUALIFIERS uint4 curand_discrete4(curandStatePhilox4_32_10_t *state,
                                  curandDiscreteDistribution_t distribution)
{
    const unsigned int x = curand_discrete(state, distribution);
    const unsigned int y = curand_discrete(state, distribution);
    const unsigned int z = curand_discrete(state, distribution);
    const unsigned int w = curand_discrete(state, distribution);
    return make_uint4(x, y, z, w);
}

#endif /* __CUDACC__ */

#endif
