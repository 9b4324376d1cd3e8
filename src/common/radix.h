/* Radix sort by a key of 64 bits, least significant digit first. */
#ifndef CTS_COMMON_RADIX_H
#define CTS_COMMON_RADIX_H

#include <stddef.h>
#include <stdint.h>

/* So few items are sorted in place, without touching `spare`. */
enum { CTS_RADIX_FEW = 40 };

/* How the bits in which keys differ are cut into digits: as few of them as digits of at most
 * `most_bits` allow, all of one size. */
struct cts_radix_digits {
    unsigned shift, bits, count;
};
static inline struct cts_radix_digits cts_radix_cut(uint64_t differing, unsigned most_bits)
{
    if (!differing) return (struct cts_radix_digits){0, 1, 0};
    const unsigned shift = (unsigned)__builtin_ctzll(differing);
    const unsigned bits = 64 - (unsigned)__builtin_clzll(differing) - shift;
    const unsigned count = (bits + most_bits - 1) / most_bits;
    return (struct cts_radix_digits){shift, (bits + count - 1) / count, count};
}

/* Defines static type *name(type *items, type *spare, size_t count): sorts by ascending
 * key_of(item), an expression of a type *; items with the same key keep their order. `spare` has
 * room for `count` items unless there are at most CTS_RADIX_FEW. The result is where the return
 * value points: items or spare. Bits in which all keys agree cost nothing. Digits of up to 8 bits
 * suit small inputs, of 11 bits large ones. */
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
    static void name##_by_digit(const type *from, type *to, size_t count, unsigned shift,          \
                                unsigned bits)                                                     \
    {                                                                                              \
        size_t places[1u << (digit_bits)];                                                         \
        const uint64_t mask = (UINT64_C(1) << bits) - 1;                                           \
        for (uint64_t digit = 0; digit <= mask; digit++) places[digit] = 0;                        \
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
        const struct cts_radix_digits digits = cts_radix_cut(differing, digit_bits);               \
        for (unsigned d = 0; d < digits.count; d++) {                                              \
            const unsigned shift = digits.shift + d * digits.bits;                                 \
            if (!(differing >> shift & ((UINT64_C(1) << digits.bits) - 1))) continue;              \
            name##_by_digit(items, spare, count, shift, digits.bits);                              \
            type *const sorted = spare;                                                            \
            spare = items;                                                                         \
            items = sorted;                                                                        \
        }                                                                                          \
        return items;                                                                              \
    }

#endif
