/* The one place where hashes are made. All of them are part of file formats or of numbers that
 * processes compute alike: they never change. */
#ifndef CTS_COMMON_HASH_H
#define CTS_COMMON_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* 2^64 / golden ratio: neighbours spread out, best in the upper bits. */
#define CTS_HASH_FACTOR UINT64_C(0x9e3779b97f4a7c15)

/* One number, in the upper bits: take them with a shift. */
static inline uint64_t cts_hash(uint64_t key)
{
    return key * CTS_HASH_FACTOR;
}

/* One more number, in order. */
static inline uint64_t cts_hash_add(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * CTS_HASH_FACTOR;
}

/* Likewise; lower bits are usable, too. */
static inline uint64_t cts_hash_fold(uint64_t hash, uint64_t value)
{
    hash = cts_hash_add(hash, value);
    return hash ^ hash >> 29;
}

/* Every bit of the value in every bit (the finaliser of splitmix64): for sums of hashes. */
static inline uint64_t cts_hash_mix(uint64_t value)
{
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

/* The same for values that may be 0. */
static inline uint64_t cts_hash_draw(uint64_t value)
{
    return cts_hash_mix(value + CTS_HASH_FACTOR);
}

/* FNV-1a: start with CTS_HASH_START; parts follow each other. */
#define CTS_HASH_START UINT64_C(0xcbf29ce484222325)

static inline uint64_t cts_hash_unit(uint64_t hash, uint64_t unit)
{
    return (hash ^ unit) * UINT64_C(0x100000001b3);
}

static inline uint64_t cts_hash_bytes(uint64_t hash, const void *bytes, size_t byte_count)
{
    const uint8_t *const at = bytes;
    for (size_t i = 0; i < byte_count; i++) hash = cts_hash_unit(hash, at[i]);
    return hash;
}

/* By words of eight bytes, the last one filled up with zeros: faster, and another number. */
static inline uint64_t cts_hash_words(uint64_t hash, const void *bytes, size_t byte_count)
{
    for (const uint8_t *at = bytes; byte_count;) {
        uint64_t word = 0;
        const size_t part = byte_count < sizeof word ? byte_count : sizeof word;
        memcpy(&word, at, part);
        hash = cts_hash_unit(hash, word);
        hash ^= hash >> 29;
        at += part;
        byte_count -= part;
    }
    return hash;
}

/* A text (NULL: an empty one) and its end, so that "ab", "c" and "a", "bc" differ. */
static inline uint64_t cts_hash_text(uint64_t hash, const char *text)
{
    for (; text && *text; text++) hash = cts_hash_unit(hash, (uint8_t)*text);
    return cts_hash_unit(hash, 0xff);
}

#endif
