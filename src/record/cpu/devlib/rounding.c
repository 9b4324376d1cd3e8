/* Arithmetic rounded towards zero, up or down, exactly, without touching the CPU's rounding mode
 * (which LLVM assumes to be the default one, and which costs a pipeline drain).
 *
 * A finite number is sign, integer mantissa and exponent: (-1)^s * m * 2^e. Operations work on 128
 * bits; what does not fit is remembered as a *sticky* bit: the lowest bit of the mantissa is set
 * when anything nonzero was cut off below it. pack() then rounds once into the wanted format. NaN
 * and infinity take the CPU's own operation, which is exact for them. */
#include "devlib.h"

typedef unsigned __int128 wide;

struct number {
    wide mantissa;
    int exponent;
    int negative;
};

struct format {
    int precision;    /* bits of the mantissa with the leading one */
    int min_exponent; /* of the lowest bit of a subnormal */
    int bias;         /* biased exponent 1 is min_exponent */
    int max_biased;   /* of infinity */
};
static const struct format double_format = {53, -1074, 1075, 2047};
static const struct format float_format = {24, -149, 150, 255};
static const struct format half_format = {11, -24, 25, 31};
static const struct format bfloat_format = {8, -133, 134, 255};

static int bit_length(wide value)
{
    const uint64_t high = (uint64_t)(value >> 64), low = (uint64_t)value;
    return high ? 128 - __builtin_clzll(high) : low ? 64 - __builtin_clzll(low) : 0;
}

/* Shifts right by any amount; bits lost go to the sticky bit. */
static wide shift_right_sticky(wide value, int amount)
{
    if (amount <= 0) return value;
    if (amount >= 128) return value != 0;
    const wide lost = value & (((wide)1 << amount) - 1);
    return value >> amount | (lost != 0);
}

/* The bits of the number in a format, without the sign. */
static uint64_t pack_magnitude(struct number n, const struct format *f, enum cts_rounding mode)
{
    const int length = bit_length(n.mantissa);
    if (length == 0) return 0;
    int lowest = n.exponent + length - f->precision; /* exponent of the result's lowest bit */
    if (lowest < f->min_exponent) lowest = f->min_exponent;
    const int cut = lowest - n.exponent;
    uint64_t kept;
    int up = 0;
    if (cut <= 0) {
        kept = (uint64_t)(n.mantissa << -cut);
    } else {
        kept = cut >= 128 ? 0 : (uint64_t)(n.mantissa >> cut);
        const wide half = cut >= 129 ? 0 : (wide)1 << (cut - 1);
        const wide rest = cut >= 128 ? n.mantissa : n.mantissa & (((wide)1 << cut) - 1);
        if (mode == CTS_RN)
            up = half != 0 && (rest > half || (rest == half && (kept & 1)));
        else if (mode == CTS_RU)
            up = rest != 0 && !n.negative;
        else if (mode == CTS_RD)
            up = rest != 0 && n.negative;
    }
    kept += (uint64_t)up;
    const uint64_t hidden = (uint64_t)1 << (f->precision - 1);
    if (kept == hidden << 1) {
        kept = hidden;
        lowest++;
    }
    const int biased = kept < hidden ? 0 : lowest + f->bias;
    const uint64_t infinity = (uint64_t)f->max_biased << (f->precision - 1);
    if (biased >= f->max_biased) {
        const int to_infinity =
            mode == CTS_RN || (mode == CTS_RU && !n.negative) || (mode == CTS_RD && n.negative);
        return to_infinity ? infinity : infinity - 1;
    }
    return (uint64_t)biased << (f->precision - 1) | (kept & (hidden - 1));
}

static double pack_double(struct number n, enum cts_rounding mode)
{
    return cts_double_of(pack_magnitude(n, &double_format, mode) | (uint64_t)n.negative << 63);
}

static float pack_float(struct number n, enum cts_rounding mode)
{
    return cts_float_of((uint32_t)pack_magnitude(n, &float_format, mode) | (uint32_t)n.negative
                                                                               << 31);
}

/* Of a finite double. */
static struct number unpack(double value)
{
    const uint64_t bits = cts_double_bits(value);
    const int biased = (int)(bits >> 52 & 2047);
    const uint64_t fraction = bits & (((uint64_t)1 << 52) - 1);
    return (struct number){.mantissa = biased ? fraction | (uint64_t)1 << 52 : fraction,
                           .exponent = biased ? biased - 1075 : -1074,
                           .negative = (int)(bits >> 63)};
}

static int is_finite(double value)
{
    return (cts_double_bits(value) >> 52 & 2047) != 2047;
}

/* The top bit of a nonzero mantissa moves to bit 125, so that two such add without overflow. */
static struct number normalise(struct number n)
{
    const int up = 126 - bit_length(n.mantissa);
    n.mantissa <<= up;
    n.exponent -= up;
    return n;
}

/* The exact sum; a sticky bit stands for what lies more than 125 bits below the larger one. The
 * sign of an exact zero: as IEEE 754 has it, - when rounding down. */
static struct number sum(struct number a, struct number b, enum cts_rounding mode)
{
    if (a.mantissa == 0 && b.mantissa == 0) {
        a.negative = a.negative == b.negative ? a.negative : mode == CTS_RD;
        return a;
    }
    if (a.mantissa == 0) return b;
    if (b.mantissa == 0) return a;
    a = normalise(a);
    b = normalise(b);
    if (a.exponent < b.exponent || (a.exponent == b.exponent && a.mantissa < b.mantissa)) {
        const struct number swap = a;
        a = b;
        b = swap;
    }
    const wide low = shift_right_sticky(b.mantissa, a.exponent - b.exponent);
    if (a.negative == b.negative) {
        a.mantissa = (a.mantissa + low) | (low & 1);
    } else {
        /* low's sticky bit was rounded up into it: the true difference lies in (d, d + 1), and d's
         * lowest bit becomes the sticky one. Where nothing was cut, it is exact. */
        const int cut = a.exponent - b.exponent > 0 &&
                        (a.exponent - b.exponent >= 128 ||
                         (b.mantissa & (((wide)1 << (a.exponent - b.exponent)) - 1)) != 0);
        if (cut)
            a.mantissa = (a.mantissa - (low | 1)) | 1;
        else
            a.mantissa -= low;
        if (a.mantissa == 0) a.negative = mode == CTS_RD;
    }
    return a;
}

static struct number product(struct number a, struct number b)
{
    return (struct number){.mantissa = a.mantissa * b.mantissa,
                           .exponent = a.exponent + b.exponent,
                           .negative = a.negative ^ b.negative};
}

/* b is not zero. 53-bit operands: the quotient has at least 72 - 53 + 53 bits, more than any format
 * needs, and the remainder goes to the sticky bit. */
static struct number quotient(struct number a, struct number b)
{
    struct number q = {.negative = a.negative ^ b.negative};
    if (a.mantissa == 0) return q;
    const int up = 126 - bit_length(a.mantissa);
    const wide dividend = a.mantissa << up;
    q.mantissa = dividend / b.mantissa;
    q.mantissa |= dividend % b.mantissa != 0;
    q.exponent = a.exponent - up - b.exponent;
    return q;
}

static struct number square_root(struct number a)
{
    if (a.mantissa == 0) return a;
    int up = 124 - bit_length(a.mantissa);
    if ((a.exponent - up) & 1) up--;
    const wide radicand = a.mantissa << up;
    uint64_t root = (uint64_t)__builtin_sqrt((double)radicand);
    /* The estimate is good to 53 bits of the 62; one Newton step, then the last unit. */
    root = (uint64_t)((root + radicand / root) / 2);
    while ((wide)root * root > radicand) root--;
    while (((wide)root + 1) * ((wide)root + 1) <= radicand) root++;
    const int exact = (wide)root * root == radicand;
    return (struct number){
        .mantissa = (wide)root << 1 | !exact, .exponent = (a.exponent - up) / 2 - 1, .negative = 0};
}

/* What both types share: not a number and infinity go the way of the plain operation. */
#define OPERATIONS(type, suffix)                                                                   \
    CTS_FUNCTION type cts_fma_##type(type a, type b, type c, enum cts_rounding mode)               \
    {                                                                                              \
        if (!is_finite(a) || !is_finite(b) || !is_finite(c))                                       \
            return __builtin_fma##suffix(a, b, c);                                                 \
        return pack_##type(sum(product(unpack(a), unpack(b)), unpack(c), mode), mode);             \
    }                                                                                              \
                                                                                                   \
    CTS_FUNCTION type cts_add_##type(type a, type b, enum cts_rounding mode)                       \
    {                                                                                              \
        if (!is_finite(a) || !is_finite(b)) return a + b;                                          \
        return pack_##type(sum(unpack(a), unpack(b), mode), mode);                                 \
    }                                                                                              \
                                                                                                   \
    CTS_FUNCTION type cts_mul_##type(type a, type b, enum cts_rounding mode)                       \
    {                                                                                              \
        if (!is_finite(a) || !is_finite(b)) return a * b;                                          \
        return pack_##type(product(unpack(a), unpack(b)), mode);                                   \
    }                                                                                              \
                                                                                                   \
    CTS_FUNCTION type cts_div_##type(type a, type b, enum cts_rounding mode)                       \
    {                                                                                              \
        if (!is_finite(a) || !is_finite(b) || b == 0) return a / b;                                \
        return pack_##type(quotient(unpack(a), unpack(b)), mode);                                  \
    }                                                                                              \
                                                                                                   \
    CTS_FUNCTION type cts_sqrt_##type(type a, enum cts_rounding mode)                              \
    {                                                                                              \
        if (!is_finite(a) || a < 0) return __builtin_sqrt##suffix(a);                              \
        return pack_##type(square_root(unpack(a)), mode);                                          \
    }

OPERATIONS(double, )
OPERATIONS(float, f)
#undef OPERATIONS

CTS_FUNCTION double cts_integer_to_double(uint64_t magnitude, int negative, enum cts_rounding mode)
{
    const struct number n = {.mantissa = magnitude, .exponent = 0, .negative = negative};
    return pack_double(n, mode);
}

CTS_FUNCTION float cts_integer_to_float(uint64_t magnitude, int negative, enum cts_rounding mode)
{
    const struct number n = {.mantissa = magnitude, .exponent = 0, .negative = negative};
    return pack_float(n, mode);
}

CTS_FUNCTION float cts_double_to_float(double a, enum cts_rounding mode)
{
    return is_finite(a) ? pack_float(unpack(a), mode) : (float)a;
}

static uint32_t to_16_bits(double a, const struct format *f, enum cts_rounding mode)
{
    const uint32_t sign = (uint32_t)(cts_double_bits(a) >> 63) << 15;
    const uint32_t infinity = (uint32_t)f->max_biased << (f->precision - 1);
    if (a != a) return 0x7fff;
    if (!is_finite(a)) return sign | infinity;
    return sign | (uint32_t)pack_magnitude(unpack(a), f, mode);
}

CTS_FUNCTION uint32_t cts_double_to_half(double a, enum cts_rounding mode)
{
    return to_16_bits(a, &half_format, mode);
}

CTS_FUNCTION uint32_t cts_double_to_bfloat(double a, enum cts_rounding mode)
{
    return to_16_bits(a, &bfloat_format, mode);
}

CTS_FUNCTION uint32_t cts_fma_bfloat(float a, float b, float c)
{
    if (!is_finite(a) || !is_finite(b) || !is_finite(c))
        return cts_double_to_bfloat(__builtin_fma(a, b, c), CTS_RN);
    const struct number n = sum(product(unpack(a), unpack(b)), unpack(c), CTS_RN);
    return (uint32_t)pack_magnitude(n, &bfloat_format, CTS_RN) | (uint32_t)n.negative << 15;
}
