/* Matrices in the registers of a warp: ldmatrix, stmatrix and mma.sync. Each lane leaves a pointer
 * to its registers, all meet, each takes what it needs from the others, and all meet again before a
 * lane may change its registers.
 *
 * Who has what (PTX manual, "Matrix Fragments for mma"). With g = lane / 4, t = lane % 4 and e
 * elements in a register, a matrix A of m rows is cut into blocks of 4 e columns: the lane has, for
 * each block, the elements t e ... t e + e - 1 of row g, and of row g + 8 if m is 16. B is the same
 * with the columns as rows. Of C and D the lane has the elements 2 t and 2 t + 1 of these rows.
 *
 * Products are exact, their sum is rounded to the type of D once. A GPU rounds in between. */
#include "record/cpu/engine/worker.h"

#include <string.h>

#include "record/instrument/nvvm-abi.h"

enum { ALL_LANES = -1, K_MAX = 256 };

/* ---- 8x8 matrices of 16-bit elements ---- */

static uint16_t half_word(const uint32_t *words, uint32_t index)
{
    return (uint16_t)(words[index / 2] >> (index % 2 * 16));
}

static const uint32_t *registers_of(const struct cts_cta *cta, uint32_t lane)
{
    return cta->registers[cta->lane / CTS_WARP_LANES * CTS_WARP_LANES + lane];
}

static struct cts_cta *leave_registers(const uint32_t *words)
{
    struct cts_cta *const cta = cts_cta_current();
    cta->registers[cta->lane] = words;
    __cts_nvvm_bar_warp_sync((uint32_t)ALL_LANES);
    return cta;
}

CTS_EXPORT void __cts_matrix_load(const uint32_t row[4], uint32_t out[4], uint32_t form)
{
    const struct cts_cta *const cta = leave_registers(row);
    const uint32_t lane = cta->lane % CTS_WARP_LANES, g = lane / 4, t = lane % 4;
    for (uint32_t i = 0; i < (form & ~CTS_MATRIX_TRANSPOSED); i++) {
        if (form & CTS_MATRIX_TRANSPOSED)
            out[i] = half_word(registers_of(cta, 8 * i + 2 * t), g) |
                     (uint32_t)half_word(registers_of(cta, 8 * i + 2 * t + 1), g) << 16;
        else
            out[i] = registers_of(cta, 8 * i + g)[t];
    }
    __cts_nvvm_bar_warp_sync((uint32_t)ALL_LANES);
}

/* Element `column` of row `r` of a matrix that lanes hold in register `i`. */
static uint16_t held_element(const struct cts_cta *cta, uint32_t i, uint32_t r, uint32_t column)
{
    return half_word(registers_of(cta, 4 * r + column / 2) + i, column % 2);
}

CTS_EXPORT void __cts_matrix_store(const uint32_t in[4], uint32_t row[4], uint32_t form)
{
    const struct cts_cta *const cta = leave_registers(in);
    const uint32_t lane = cta->lane % CTS_WARP_LANES, i = lane / 8, r = lane % 8;
    for (uint32_t c = 0; c < 8 && i < (form & ~CTS_MATRIX_TRANSPOSED); c += 2) {
        const bool is_transposed = form & CTS_MATRIX_TRANSPOSED;
        const uint16_t low =
            is_transposed ? held_element(cta, i, c, r) : held_element(cta, i, r, c);
        const uint16_t high =
            is_transposed ? held_element(cta, i, c + 1, r) : held_element(cta, i, r, c + 1);
        row[c / 2] = low | (uint32_t)high << 16;
    }
    __cts_nvvm_bar_warp_sync((uint32_t)ALL_LANES);
}

/* ---- elements ---- */

static const uint8_t element_bits[] = {
#define BITS(name, enumerator, bits) bits,
    CTS_MATRIX_KINDS(BITS)
#undef BITS
};

/* A floating-point format with subnormal numbers; `ends`: with infinities and NaNs as IEEE 754. */
struct format {
    int exponent_bits, fraction_bits;
    bool ends;
};
static const struct format half_format = {5, 10, true}, brain_format = {8, 7, true},
                           e4m3_format = {4, 3, false}, e5m2_format = {5, 2, true};

/* 2^exponent, of a double that is not subnormal. */
static double power_of_two(int exponent)
{
    const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double small_float(uint32_t bits, const struct format *format)
{
    const int fraction_bits = format->fraction_bits, exponent_bits = format->exponent_bits;
    const int top = (1 << exponent_bits) - 1, bias = top >> 1;
    const int exponent = (int)(bits >> fraction_bits) & top;
    const uint32_t fraction = bits & ((1u << fraction_bits) - 1);
    const bool negative = bits >> (fraction_bits + exponent_bits) & 1;
    const double unit = power_of_two((exponent ? exponent : 1) - bias - fraction_bits);
    double value = (double)(exponent ? fraction | 1u << fraction_bits : fraction) * unit;
    if (exponent == top && format->ends)
        value = fraction ? __builtin_nan("") : __builtin_inf();
    else if (exponent == top && fraction == (1u << fraction_bits) - 1)
        value = __builtin_nan("");
    return negative ? -value : value;
}

/* Rounded to nearest, ties to even. */
static uint16_t half_of(double value)
{
    enum { FRACTION_BITS = 10, LEAST_EXPONENT = -14, DOUBLE_FRACTION_BITS = 52, BITS = 64 };
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint16_t sign = (uint16_t)(bits >> 63 << 15);
    const int exponent = (int)(bits >> DOUBLE_FRACTION_BITS & 0x7ff) - 1023;
    const int least = exponent < LEAST_EXPONENT ? LEAST_EXPONENT : exponent;
    const int shift = DOUBLE_FRACTION_BITS - FRACTION_BITS + least - exponent;
    const uint64_t one = (uint64_t)1 << DOUBLE_FRACTION_BITS, size = (bits & (one - 1)) | one;
    if (value != value) return 0x7fff;
    if (shift >= BITS) return sign;
    const uint64_t rest = size & (((uint64_t)1 << shift) - 1), tie = (uint64_t)1 << (shift - 1);
    uint64_t units = size >> shift;
    units += rest > tie || (rest == tie && (units & 1));
    units += (uint64_t)(least - LEAST_EXPONENT) << FRACTION_BITS;
    return units > 0x7c00 ? sign | 0x7c00 : (uint16_t)(sign | units);
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double double_at(const uint32_t *words)
{
    double value;
    memcpy(&value, words, sizeof value);
    return value;
}

/* Element `index` of the registers from `words` on. */
static double element_at(const uint32_t *words, uint32_t index, enum cts_matrix_kind kind)
{
    const uint32_t bits = element_bits[kind];
    if (kind == CTS_MATRIX_F64) return double_at(words + 2 * (size_t)index);
    const uint32_t per_word = 32 / bits;
    const uint32_t raw = words[index / per_word] >> index % per_word * bits;
    switch (kind) {
    case CTS_MATRIX_F16:
        return small_float(raw & 0xffff, &half_format);
    case CTS_MATRIX_BF16:
        return small_float(raw & 0xffff, &brain_format);
    case CTS_MATRIX_TF32: /* the low bits are ignored */
        return (double)float_of(raw & ~0x1fffu);
    case CTS_MATRIX_F32:
        return (double)float_of(raw);
    case CTS_MATRIX_E4M3:
        return small_float(raw & 0xff, &e4m3_format);
    case CTS_MATRIX_E5M2:
        return small_float(raw & 0xff, &e5m2_format);
    case CTS_MATRIX_S8:
        return (int8_t)raw;
    case CTS_MATRIX_U8:
        return (uint8_t)raw;
    case CTS_MATRIX_S4:
        return (int32_t)(raw << 28) >> 28;
    case CTS_MATRIX_U4:
        return raw & 15;
    case CTS_MATRIX_B1:
        return raw & 1;
    default:
        return (int32_t)raw;
    }
}

/* ---- mma.sync ---- */

struct multiplication {
    uint32_t m, k;
    enum cts_matrix_kind a, b, c, d;
    uint32_t flags;
};

/* The elements of row `row` of A, or of column `row` of B (one half of 8 rows). */
static void gather(const struct cts_cta *cta, const struct multiplication *of, bool is_b,
                   uint32_t row, double line[K_MAX])
{
    const enum cts_matrix_kind kind = is_b ? of->b : of->a;
    const uint32_t per_register = kind == CTS_MATRIX_F64 ? 1 : 32 / element_bits[kind];
    const uint32_t block = 4 * per_register, halves = is_b ? 1 : of->m / 8;
    for (uint32_t k = 0; k < of->k; k++) {
        const uint32_t lane = row % 8 * 4 + k % block / per_register;
        const uint32_t index = k / block * halves + row / 8;
        const uint32_t *const words = registers_of(cta, lane) + (is_b ? CTS_MATRIX_B_WORD : 0);
        line[k] = element_at(words, index * per_register + k % per_register, kind);
    }
}

static double dot(const struct multiplication *of, const double *a, const double *b)
{
    double sum = 0.0;
    for (uint32_t k = 0; k < of->k; k++) {
        if (of->a != CTS_MATRIX_B1)
            sum += a[k] * b[k];
        else if (of->flags & CTS_MATRIX_AND)
            sum += a[k] * b[k];
        else
            sum += a[k] != b[k];
    }
    return sum;
}

/* Integers wrap around, or stop at the ends of their type. */
static uint32_t integer_bits(double value, bool saturates)
{
    if (saturates && value > (double)INT32_MAX) return (uint32_t)INT32_MAX;
    if (saturates && value < (double)INT32_MIN) return (uint32_t)INT32_MIN;
    return (uint32_t)(int64_t)value;
}

static void set_element(uint32_t *words, uint32_t index, const struct multiplication *of,
                        double value)
{
    const float single = (float)value;
    switch (of->d) {
    case CTS_MATRIX_F64:
        memcpy(words + 2 * (size_t)index, &value, sizeof value);
        break;
    case CTS_MATRIX_F32:
        memcpy(words + index, &single, sizeof single);
        break;
    case CTS_MATRIX_F16:
        if (index % 2 == 0) words[index / 2] = 0;
        words[index / 2] |= (uint32_t)half_of(value) << index % 2 * 16;
        break;
    default:
        words[index] = integer_bits(value, of->flags & CTS_MATRIX_SATURATE);
    }
}

/* This lane's elements of D. */
static void multiply(const struct cts_cta *cta, const struct multiplication *of, const uint32_t *c,
                     uint32_t *d)
{
    const uint32_t lane = cta->lane % CTS_WARP_LANES, g = lane / 4, t = lane % 4;
    double b[2][K_MAX], a[K_MAX];
    for (uint32_t j = 0; j < 2; j++) gather(cta, of, true, 2 * t + j, b[j]);
    for (uint32_t half = 0; half < of->m / 8; half++) {
        gather(cta, of, false, g + 8 * half, a);
        for (uint32_t j = 0; j < 2; j++) {
            const uint32_t index = 2 * half + j;
            const double sum = dot(of, a, b[j]) + element_at(c, index, of->c);
            set_element(d, index, of, sum);
        }
    }
}

CTS_EXPORT void __cts_matrix_multiply(uint32_t *fragments, uint32_t shape, uint32_t kinds)
{
    enum { KIND_MASK = (1 << CTS_MATRIX_KIND_BITS) - 1 };
    const struct multiplication of = {.m = shape & 255,
                                      .k = shape >> 16,
                                      .a = kinds & KIND_MASK,
                                      .b = kinds >> 8 & KIND_MASK,
                                      .c = kinds >> 16 & KIND_MASK,
                                      .d = kinds >> 24 & KIND_MASK,
                                      .flags = kinds >> 24 & ~(uint32_t)KIND_MASK};
    uint32_t d[CTS_MATRIX_WORDS - CTS_MATRIX_C_WORD] = {0};
    const struct cts_cta *const cta = leave_registers(fragments);
    multiply(cta, &of, fragments + CTS_MATRIX_C_WORD, d);
    __cts_nvvm_bar_warp_sync((uint32_t)ALL_LANES);
    memcpy(fragments + CTS_MATRIX_C_WORD, d, sizeof d);
}
