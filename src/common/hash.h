/* FNV-1a, 64 bits: a number for bytes that is the same in every run and on every machine. Start
 * with CTS_HASH_START; parts follow each other. */
#ifndef CTS_COMMON_HASH_H
#define CTS_COMMON_HASH_H

#include <stddef.h>
#include <stdint.h>

#define CTS_HASH_START 14695981039346656037u

static inline uint64_t cts_hash_byte(uint64_t hash, unsigned char byte)
{
    return (hash ^ byte) * 1099511628211u;
}

static inline uint64_t cts_hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hash = cts_hash_byte(hash, ((const unsigned char *)bytes)[i]);
    return hash;
}

/* A text (NULL: an empty one) and its end, so that "ab", "c" and "a", "bc" differ. */
static inline uint64_t cts_hash_text(uint64_t hash, const char *text)
{
    for (; text && *text; text++) hash = cts_hash_byte(hash, (unsigned char)*text);
    return cts_hash_byte(hash, 0xff);
}

#endif
