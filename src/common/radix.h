/* Radix sort by a key of 64 bits, least significant digit first. */
#ifndef CTS_COMMON_RADIX_H
#define CTS_COMMON_RADIX_H

#include <stddef.h>
#include <stdint.h>

/* So few items are sorted in place, without touching `spare`. */
enum { CTS_RADIX_FEW = 40 };

/* Defines static type *name(type *items, type *spare, size_t count): sorts by ascending
 * key_of(item), an expression of a type *; items with the same key keep their order. `spare` has
 * room for `count` items unless there are at most CTS_RADIX_FEW. The result is where the return
 * value points: items or spare. Digits in which all keys agree cost nothing. Digits of 8 bits suit
 * small inputs, of 11 bits large ones. */
#define CTS_RADIX_SORT(name, type, key_of, digit_bits)                                             \
    static void name##_few(type *items, size_t count)                                              \
    {                                                                                              \
        for (size_t i = 1; i < count; i++) {                                                       \
            const type item = items[i];                                                            \
            size_t k = i;                                                                          \
            for (; k > 0 && key_of(&items[k - 1]) > key_of(&item); k--) items[k] = items[k - 1];   \
            items[k] = item;                                                                       \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void name##_by_digit(const type *from, type *to, size_t count, unsigned shift)          \
    {                                                                                              \
        size_t places[1u << (digit_bits)] = {0};                                                   \
        const uint64_t mask = (1u << (digit_bits)) - 1;                                            \
        for (size_t i = 0; i < count; i++) places[(key_of(&from[i]) >> shift) & mask]++;           \
        size_t place = 0;                                                                          \
        for (uint64_t digit = 0; digit <= mask; digit++) {                                         \
            const size_t here = places[digit];                                                     \
            places[digit] = place;                                                                 \
            place += here;                                                                         \
        }                                                                                          \
        for (size_t i = 0; i < count; i++)                                                         \
            to[places[(key_of(&from[i]) >> shift) & mask]++] = from[i];                            \
    }                                                                                              \
                                                                                                   \
    static type *name(type *items, type *spare, size_t count)                                      \
    {                                                                                              \
        uint64_t differing = 0;                                                                    \
        if (count <= CTS_RADIX_FEW) {                                                              \
            name##_few(items, count);                                                              \
            return items;                                                                          \
        }                                                                                          \
        for (size_t i = 1; i < count; i++) differing |= key_of(&items[i]) ^ key_of(&items[0]);     \
        for (unsigned shift = 0; shift < 64; shift += (digit_bits)) {                              \
            if (!((differing >> shift) & ((1u << (digit_bits)) - 1))) continue;                    \
            name##_by_digit(items, spare, count, shift);                                           \
            type *const sorted = spare;                                                            \
            spare = items;                                                                         \
            items = sorted;                                                                        \
        }                                                                                          \
        return items;                                                                              \
    }

#endif
