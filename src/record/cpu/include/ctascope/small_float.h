/* What __half and __nv_bfloat16 share: rounding of a double to 16 bits in a direction, and
 * saturating conversion to integers. Host and device. */
#ifndef CTASCOPE_SMALL_FLOAT_H
#define CTASCOPE_SMALL_FLOAT_H

#include "../cuda_runtime.h"

#define CTS_SMALL_ static __inline__ __host__ __device__ __attribute__((always_inline))

enum cts_direction_ { cts_to_zero_, cts_up_, cts_down_ };

/* `bits` is `exact` rounded to nearest, whose value is `nearest`: one step to the neighbour when
 * the direction asks for it. Steps go through infinity and zero as they should, since magnitudes
 * are ordered as their bits. */
CTS_SMALL_ unsigned short cts_redirect_(unsigned short bits, double nearest, double exact,
                                        cts_direction_ direction)
{
    const double size = nearest < 0 ? -nearest : nearest, exact_size = exact < 0 ? -exact : exact;
    if (direction == cts_to_zero_) return size > exact_size ? (unsigned short)(bits - 1) : bits;
    if (direction == cts_up_ ? nearest < exact : nearest > exact) {
        const bool grows = (direction == cts_up_) == !(bits & 0x8000);
        return (unsigned short)(grows ? bits + 1 : bits - 1);
    }
    return bits;
}

enum cts_integer_rounding_ { cts_int_nearest_, cts_int_zero_, cts_int_up_, cts_int_down_ };

/* Of NaN: 0, or the top bit alone for 64 bits. */
template <class I_> CTS_SMALL_ I_ cts_to_integer_(double value, cts_integer_rounding_ rounding)
{
    constexpr bool is_signed = (I_)-1 < (I_)0;
    constexpr int bits = 8 * (int)sizeof(I_) - is_signed;
    constexpr double limit = bits == 63   ? 0x1p63
                             : bits == 64 ? 0x1p64
                                          : (double)(1ull << (bits & 63));
    constexpr I_ top = (I_)(1ull << (8 * (int)sizeof(I_) - 1));
    if (value != value) return sizeof(I_) == 8 ? top : (I_)0;
    const double whole = rounding == cts_int_nearest_ ? __builtin_rint(value)
                         : rounding == cts_int_zero_  ? __builtin_trunc(value)
                         : rounding == cts_int_up_    ? __builtin_ceil(value)
                                                      : __builtin_floor(value);
    if (whole >= limit) return is_signed ? (I_)~top : (I_)-1;
    if (whole < (is_signed ? -limit : 0.0)) return is_signed ? top : (I_)0;
    return (I_)whole;
}

#endif
