/* Fingerprints of launches: what their accesses to global memory loaded and stored, where, and by
 * which CTA, as a sum that does not depend on the order of the accesses. Recorders make them
 * (`record --hash`), or analyses from recorded values; docs/catalogue.md, 'fingerprints'. */
#ifndef CTS_TRACE_VALUE_HASH_H
#define CTS_TRACE_VALUE_HASH_H

#include <stdint.h>

#include "common/hash.h"

struct cts_value_hash {
    uint64_t sum;      /* of a hash of each thread access, modulo 2^64 */
    uint64_t accesses; /* thread accesses */
};

/* One record of a warp: the lanes of `mask`. Word w of lane l's value is at values[l * lane_step +
 * w
 * * word_step]; bits beyond the width of the access are 0. */
struct cts_value_hash_record {
    uint32_t site, cta, mask;
    const uint64_t *addresses; /* by lane */
    const uint64_t *values;
    uint32_t words, lane_step, word_step;
};

static inline void cts_value_hash_add(struct cts_value_hash *hash,
                                      const struct cts_value_hash_record *record)
{
    const uint64_t start =
        cts_hash_fold(CTS_HASH_START, (uint64_t)record->site << 32 | record->cta);
    for (uint32_t left = record->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        const uint64_t *const value = record->values + (uint64_t)lane * record->lane_step;
        uint64_t one = cts_hash_fold(start, record->addresses[lane]);
        for (uint32_t w = 0; w < record->words; w++)
            one = cts_hash_fold(one, value[w * record->word_step]);
        hash->sum += cts_hash_draw(one);
    }
    hash->accesses += (unsigned)__builtin_popcount(record->mask);
}

#endif
