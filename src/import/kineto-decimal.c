/* Decimal text to integers, without floating point. */
#include "import/kineto-read.h"

#include <limits.h>

#define LARGEST ((__int128)1 << 100)

struct decimal {
    __int128 digits;
    int scale; /* the value is digits * 10^scale */
};

static const char *take_digits(const char *at, const char *end, struct decimal *d, bool fraction)
{
    for (; at < end && *at >= '0' && *at <= '9'; at++) {
        if (d->digits < LARGEST / 10) {
            d->digits = d->digits * 10 + (*at - '0');
            d->scale -= fraction;
        } else {
            d->scale += !fraction; /* digits that cannot matter */
        }
    }
    return at;
}

static bool take_exponent(const char *at, const char *end, int *scale)
{
    enum { EXPONENT_MAX = 1000 };
    const bool down = at < end && *at == '-';
    int exponent = 0;
    if (at < end && (*at == '-' || *at == '+')) at++;
    if (at == end) return false;
    for (; at < end && *at >= '0' && *at <= '9'; at++)
        if (exponent < EXPONENT_MAX) exponent = exponent * 10 + (*at - '0');
    *scale += down ? -exponent : exponent;
    return at == end;
}

bool cts_kineto_decimal(const char *text, size_t length, int scale, __int128 *value)
{
    const char *at = text, *const end = text + length;
    struct decimal d = {0, scale};
    const bool negative = at < end && *at == '-';
    at += negative;
    const char *const first = at;
    at = take_digits(at, end, &d, false);
    if (at == first) return false;
    if (at < end && *at == '.') at = take_digits(at + 1, end, &d, true);
    if (at < end && (*at == 'e' || *at == 'E') && !take_exponent(at + 1, end, &d.scale))
        return false;
    if (at < end && *at != 'e' && *at != 'E') return false;
    for (; d.scale > 0 && d.digits; d.scale--) {
        if (d.digits > LARGEST / 10) return false;
        d.digits *= 10;
    }
    for (; d.scale < 0 && d.digits; d.scale++) d.digits /= 10;
    *value = negative ? -d.digits : d.digits;
    return true;
}
