// Matrices in the registers of a warp, by PTX: mma.sync of every shape and type, ldmatrix,
// stmatrix. Inputs are small integers, so that sums are exact in every order.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "check.h"

enum { K_MAX = 256 };

struct matrices {
    int a[16][K_MAX], b[K_MAX][8], c[16][8]; // what is multiplied
    int d[16][8];                            // the result
};

// ---- how elements lie in registers ----

// `bits` of an element from value; BF16 and F16 by their own rules.
enum kind { F16, BF16, TF32, F64, E4M3, E5M2, S8, U8, S4, U4, B1 };

static __device__ unsigned encode(int value, kind of)
{
    switch (of) {
    case F16:
        return __half_as_ushort(__int2half_rn(value));
    case BF16:
        return __bfloat16_as_ushort(__float2bfloat16((float)value));
    case TF32:
        return __float_as_uint((float)value) | 0x123u; // the low bits are ignored
    case E4M3: {                                       // at most 4 bits of value
        const unsigned half = __half_as_ushort(__int2half_rn(value));
        return (half & 0x8000) >> 8 | (value ? (((half >> 7) & 0xff) - (8 << 3)) & 0x7f : 0);
    }
    case E5M2:
        return __half_as_ushort(__int2half_rn(value)) >> 8;
    default:
        return (unsigned)value;
    }
}

template <int BITS> static __device__ unsigned pack(const int *values, int stride, kind of)
{
    unsigned word = 0;
    for (int j = 0; j < 32 / BITS; j++)
        word |= (encode(values[j * stride], of) & (BITS == 32 ? ~0u : (1u << BITS % 32) - 1))
                << j * BITS;
    return word;
}

// The registers of a lane: A of M rows, B.
template <int M, int K, int BITS>
static __device__ void load_inputs(const matrices &in, kind a_kind, kind b_kind, unsigned *a,
                                   unsigned *b)
{
    constexpr int e = 32 / BITS, block = 4 * e;
    const int g = threadIdx.x / 4, t = threadIdx.x % 4;
    for (int k = 0; k < K / block; k++) {
        for (int half = 0; half < M / 8; half++)
            a[k * (M / 8) + half] = pack<BITS>(&in.a[g + 8 * half][k * block + t * e], 1, a_kind);
        b[k] = pack<BITS>(&in.b[k * block + t * e][g], 8, b_kind);
    }
}

template <class T> static __device__ void store_result(matrices &out, const T *d, int m)
{
    const int g = threadIdx.x / 4, t = threadIdx.x % 4;
    for (int i = 0; i < m / 4; i++) out.d[g + i / 2 * 8][2 * t + i % 2] = (int)d[i];
}
template <class T> static __device__ void load_sums(const matrices &in, T *c, int m)
{
    const int g = threadIdx.x / 4, t = threadIdx.x % 4;
    for (int i = 0; i < m / 4; i++) c[i] = (T)in.c[g + i / 2 * 8][2 * t + i % 2];
}

// ---- one kernel for each instruction ----

#define OUT4(d, type) "+" type(d[0]), "+" type(d[1]), "+" type(d[2]), "+" type(d[3])
#define OUT2(d, type) "+" type(d[0]), "+" type(d[1])
#define A4_B2         "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])
#define A2_B1         "r"(a[0]), "r"(a[1]), "r"(b[0])
#define A1_B1         "r"(a[0]), "r"(b[0])

#define DEFINE(name, M, K, BITS, a_kind, b_kind, sum, type, text, out, in)                         \
    __global__ void name(matrices *m)                                                              \
    {                                                                                              \
        unsigned a[4] = {}, b[2] = {};                                                             \
        sum d[4];                                                                                  \
        load_inputs<M, K, BITS>(*m, a_kind, b_kind, a, b);                                         \
        load_sums(*m, d, M);                                                                       \
        asm volatile(text : out(d, type) : in);                                                    \
        store_result(*m, d, M);                                                                    \
    }
#define LARGE(shape, types)                                                                        \
    "mma.sync.aligned." shape ".row.col." types                                                    \
    " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
#define MIDDLE(shape, types)                                                                       \
    "mma.sync.aligned." shape ".row.col." types " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
#define SMALL(shape, types)                                                                        \
    "mma.sync.aligned." shape ".row.col." types " {%0,%1}, {%2}, {%3}, {%0,%1};"

DEFINE(f16_8, 16, 8, 16, F16, F16, float, "f", MIDDLE("m16n8k8", "f32.f16.f16.f32"), OUT4, A2_B1)
DEFINE(f16_16, 16, 16, 16, F16, F16, float, "f", LARGE("m16n8k16", "f32.f16.f16.f32"), OUT4, A4_B2)
DEFINE(bf16_8, 16, 8, 16, BF16, BF16, float, "f", MIDDLE("m16n8k8", "f32.bf16.bf16.f32"), OUT4,
       A2_B1)
DEFINE(bf16_16, 16, 16, 16, BF16, BF16, float, "f", LARGE("m16n8k16", "f32.bf16.bf16.f32"), OUT4,
       A4_B2)
DEFINE(tf32_4, 16, 4, 32, TF32, TF32, float, "f", MIDDLE("m16n8k4", "f32.tf32.tf32.f32"), OUT4,
       A2_B1)
DEFINE(tf32_8, 16, 8, 32, TF32, TF32, float, "f", LARGE("m16n8k8", "f32.tf32.tf32.f32"), OUT4,
       A4_B2)
DEFINE(e4m3_32, 16, 32, 8, E4M3, E4M3, float, "f", LARGE("m16n8k32", "f32.e4m3.e4m3.f32"), OUT4,
       A4_B2)
DEFINE(e5m2_32, 16, 32, 8, E5M2, E4M3, float, "f", LARGE("m16n8k32", "f32.e5m2.e4m3.f32"), OUT4,
       A4_B2)
DEFINE(s8_small, 8, 16, 8, S8, U8, int, "r", SMALL("m8n8k16", "s32.s8.u8.s32"), OUT2, A1_B1)
DEFINE(s8_16, 16, 16, 8, S8, S8, int, "r", MIDDLE("m16n8k16", "satfinite.s32.s8.s8.s32"), OUT4,
       A2_B1)
DEFINE(u8_32, 16, 32, 8, U8, S8, int, "r", LARGE("m16n8k32", "s32.u8.s8.s32"), OUT4, A4_B2)
DEFINE(s4_32, 16, 32, 4, S4, S4, int, "r", MIDDLE("m16n8k32", "s32.s4.s4.s32"), OUT4, A2_B1)
DEFINE(u4_64, 16, 64, 4, U4, S4, int, "r", LARGE("m16n8k64", "s32.u4.s4.s32"), OUT4, A4_B2)
DEFINE(b1_and, 16, 256, 1, B1, B1, int, "r", LARGE("m16n8k256", "s32.b1.b1.s32.and.popc"), OUT4,
       A4_B2)
DEFINE(b1_xor, 16, 128, 1, B1, B1, int, "r", MIDDLE("m16n8k128", "s32.b1.b1.s32.xor.popc"), OUT4,
       A2_B1)

__global__ void f64_4(matrices *m)
{
    const int g = threadIdx.x / 4, t = threadIdx.x % 4;
    double d[2];
    load_sums(*m, d, 8);
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                 : "+d"(d[0]), "+d"(d[1])
                 : "d"((double)m->a[g][t]), "d"((double)m->b[t][g]));
    store_result(*m, d, 8);
}
// Sums in half precision, two in a register.
__global__ void f16_f16(matrices *m)
{
    unsigned a[4], b[2];
    float c[4];
    load_inputs<16, 16, 16>(*m, F16, F16, a, b);
    load_sums(*m, c, 16);
    __half2 d[2] = {__floats2half2_rn(c[0], c[1]), __floats2half2_rn(c[2], c[3])};
    unsigned *const word = reinterpret_cast<unsigned *>(d);
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7},"
        " {%0,%1};"
        : "+r"(word[0]), "+r"(word[1])
        : A4_B2);
    const float sums[4] = {__low2float(d[0]), __high2float(d[0]), __low2float(d[1]),
                           __high2float(d[1])};
    store_result(*m, sums, 16);
}

// ---- the host's product ----

struct shape {
    int m, k, a_low, a_high, b_low, b_high;
    bool is_xor;
};

static void test(const char *name, void (*kernel)(matrices *), shape of)
{
    matrices *const m = managed<matrices>(1);
    srand(7);
    for (int i = 0; i < 16; i++)
        for (int k = 0; k < of.k; k++) m->a[i][k] = of.a_low + rand() % (of.a_high - of.a_low + 1);
    for (int k = 0; k < of.k; k++)
        for (int j = 0; j < 8; j++) m->b[k][j] = of.b_low + rand() % (of.b_high - of.b_low + 1);
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 8; j++) m->c[i][j] = rand() % 21 - 10;
    kernel<<<1, 32>>>(m);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < of.m; i++)
        for (int j = 0; j < 8; j++) {
            int want = m->c[i][j];
            for (int k = 0; k < of.k; k++)
                want += of.is_xor ? m->a[i][k] ^ m->b[k][j] : m->a[i][k] * m->b[k][j];
            CHECK(m->d[i][j] == want, "%s: (%d,%d) is %d, not %d", name, i, j, m->d[i][j], want);
        }
    CUDA(cudaFree(m));
}

// ---- ldmatrix and stmatrix ----

template <bool TRANSPOSED> __global__ void move(const unsigned short *in, unsigned short *out)
{
    __shared__ __align__(16) unsigned short from[4][8][8], to[4][8][8];
    const unsigned lane = threadIdx.x;
    for (int i = lane; i < 256; i += 32) (&from[0][0][0])[i] = in[i];
    __syncwarp();
    const unsigned row = (unsigned)__cvta_generic_to_shared(&from[lane / 8][lane % 8][0]);
    const unsigned target = (unsigned)__cvta_generic_to_shared(&to[lane / 8][lane % 8][0]);
    unsigned r[4], one, two[2];
    if (TRANSPOSED)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                     : "r"(row));
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared::cta.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                     : "r"(row));
    for (int i = 0; i < 4; i++) // element 2t and 2t + 1 of row g
        for (int j = 0; j < 2; j++)
            out[64 * i + lane / 4 * 8 + lane % 4 * 2 + j] = (unsigned short)(r[i] >> 16 * j);
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(target),
                 "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
                 : "memory");
    __syncwarp();
    for (int i = lane; i < 256; i += 32) out[256 + i] = (&to[0][0][0])[i];
    __syncwarp();
    asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1,%2};" ::"r"(target),
                 "r"(r[0]), "r"(r[1])
                 : "memory");
    __syncwarp();
    for (int i = lane; i < 128; i += 32) out[512 + i] = (&to[0][0][0])[i];
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(one) : "r"(row));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2+128];" // one matrix on
                 : "=r"(two[0]), "=r"(two[1])
                 : "r"(row));
    out[640 + lane] = (unsigned short)one;
    out[672 + lane] = (unsigned short)(two[1] >> 16);
}

static void test_moves(bool transposed)
{
    unsigned short *const in = managed<unsigned short>(256);
    unsigned short *const out = managed<unsigned short>(704);
    for (int i = 0; i < 256; i++) in[i] = (unsigned short)(257 * i);
    if (transposed)
        move<true><<<1, 32>>>(in, out);
    else
        move<false><<<1, 32>>>(in, out);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < 4; i++)
        for (int r = 0; r < 8; r++)
            for (int c = 0; c < 8; c++) {
                const unsigned short straight = in[64 * i + 8 * r + c];
                const unsigned short turned = in[64 * i + 8 * c + r];
                const unsigned short want = transposed ? turned : straight;
                CHECK(out[64 * i + 8 * r + c] == want, "ldmatrix");
                CHECK(out[256 + 64 * i + 8 * r + c] == want, "stmatrix");
                if (i < 2)
                    CHECK(out[512 + 64 * i + 8 * r + c] == (transposed ? straight : turned),
                          "stmatrix.trans");
            }
    for (int lane = 0; lane < 32; lane++) {
        const int at = lane / 4 * 8 + lane % 4 * 2;
        CHECK(out[640 + lane] == in[at], "ldmatrix.x1");
        CHECK(out[672 + lane] == in[128 + at + 1], "ldmatrix.x2");
    }
}

int main()
{
    test("f16 k8", f16_8, {16, 8, -8, 8, -8, 8});
    test("f16 k16", f16_16, {16, 16, -8, 8, -8, 8});
    test("f16 sums", f16_f16, {16, 16, -8, 8, -8, 8});
    test("bf16 k8", bf16_8, {16, 8, -8, 8, -8, 8});
    test("bf16 k16", bf16_16, {16, 16, -8, 8, -8, 8});
    test("tf32 k4", tf32_4, {16, 4, -8, 8, -8, 8});
    test("tf32 k8", tf32_8, {16, 8, -8, 8, -8, 8});
    test("f64", f64_4, {8, 4, -99, 99, -99, 99});
    test("e4m3", e4m3_32, {16, 32, -8, 8, -8, 8});
    test("e5m2", e5m2_32, {16, 32, -4, 4, -8, 8});
    test("s8 m8", s8_small, {8, 16, -128, 127, 0, 255});
    test("s8 k16", s8_16, {16, 16, -128, 127, -128, 127});
    test("u8 k32", u8_32, {16, 32, 0, 255, -128, 127});
    test("s4", s4_32, {16, 32, -8, 7, -8, 7});
    test("u4", u4_64, {16, 64, 0, 15, -8, 7});
    test("b1 and", b1_and, {16, 256, 0, 1, 0, 1});
    test("b1 xor", b1_xor, {16, 128, 0, 1, 0, 1, true});
    test_moves(false);
    test_moves(true);
    return finish();
}
