/* The log of a warp, and how the entries of its 32 lanes become warp records. See log.c. */
#ifndef CTS_ENGINE_LOG_H
#define CTS_ENGINE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "record/abi.h"
#include "trace/write/collector.h"
#include "record/cpu/engine/fiber.h"
#include "record/cpu/engine/slots.h"

enum {
    CTS_LOG_ROWS = 64, /* a lane with so many entries (and value words) stops until a merge */
    CTS_LOG_ROWS_ALL = CTS_LOG_ROWS + 1 + CTS_LOG_VALUE_WORDS_MAX,
};

/* Where a lane stands in its program, as a sequence of words that compares like program order:
 * word 0 counts what repeats outside of loops; then for each loop around the site, outermost first,
 * (lowest slot in the loop << 32) | iteration; last (slot << 32). count 0: nowhere yet. */
struct cts_log_key {
    uint32_t slot;
    uint32_t count;
    uint64_t words[CTS_SLOT_LOOPS_MAX + 2];
};

enum { CTS_LOG_KEYS = 2 * CTS_WARP_LANES }; /* old and new ones while a merge goes on */

/* What is known of the lanes of a warp between merges. All lanes at the start: after
 * cts_log_state_reset(). Lanes at the same place mostly share a key. */
struct cts_log_state {
    bool mixed;       /* lanes differ: lane l is at keys[key_of[l]]; else all at `common` */
    uint32_t pending; /* mixed: lanes whose key is that of their next entry */
    struct cts_log_key common; /* of the last entry that was merged */
    uint8_t key_of[CTS_WARP_LANES];
    uint64_t used_keys; /* mask, while a merge goes on */
    struct cts_log_key keys[CTS_LOG_KEYS];
};
void cts_log_state_reset(struct cts_log_state *state);

struct cts_log_merge {
    struct cts_stream *stream; /* NULL: nothing is kept */
    uint64_t *log;             /* [CTS_LOG_ROWS_ALL][32] */
    uint32_t *row_count;       /* [32] of each lane; in and out: what is left moves to the start */
    uint32_t live;             /* lanes that will go on later */
    uint32_t open;             /* of those: lanes whose next entry is not known yet; see log.c */
    uint16_t warp;
    uint64_t shared_base, shared_bytes;
    struct cts_stack *const *stacks; /* [32], of lanes that have run */
    uint64_t invalid_count;          /* out, added: entries of no known slot, dropped */
};

/* Emits what can be emitted. */
void cts_log_merge(struct cts_log_merge *merge, struct cts_log_state *state);

#if defined(__x86_64__)
#define CTS_LOG_AVX512
void cts_log_merge_avx512(struct cts_log_merge *merge, struct cts_log_state *state);
#endif
void cts_log_merge_generic(struct cts_log_merge *merge, struct cts_log_state *state);

#endif
