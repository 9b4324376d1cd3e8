/* Division of many numbers by one; private to selection/. */
#ifndef CTS_SELECTION_DIVIDE_H
#define CTS_SELECTION_DIVIDE_H

#include <stdint.h>

struct divisor {
    uint64_t value, reciprocal; /* floor((2^64 - 1) / value) */
};
static inline struct divisor divisor_of(uint64_t value)
{
    return (struct divisor){value, UINT64_MAX / value};
}
/* Exact: the product is at most two below the quotient. */
static inline uint64_t divide(uint64_t number, struct divisor by)
{
    uint64_t quotient = (uint64_t)((unsigned __int128)number * by.reciprocal >> 64);
    while (number - quotient * by.value >= by.value) quotient++;
    return quotient;
}

#endif
