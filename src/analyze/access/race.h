/* Races between the threads of one CTA: two accesses of one byte by different threads, at least one
 * of them a store, that nothing orders.
 *
 * The accesses and barriers of the CTA are replayed in the order in which they were recorded. What
 * orders them (CTS_BARRIER_MAP in trace/access.h): barriers of all or some of its threads,
 * __syncwarp, mbarriers, barriers of the grid, and a store or atomic of a word behind a fence that
 * another thread's volatile load or atomic comes upon later. Atomics and volatile accesses do not
 * race with one another, nor do lanes that store one byte in one request. An asynchronous copy goes
 * on until its thread has waited for it.
 *
 * Each thread has a vector clock; see race.c. Not thread-safe: one struct cts_race a thread. */
#ifndef CTS_ACCESS_RACE_H
#define CTS_ACCESS_RACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "trace/access.h"

enum { CTS_RACE_THREADS_MAX = 1024 };

/* One request. */
struct cts_race_access {
    uint32_t site, width_bytes, mask;
    uint16_t warp;
    uint8_t space;                         /* shared or global */
    bool is_store, is_atomic, is_volatile; /* neither of the first two: a load */
    uint64_t addresses[CTS_WARP_LANES];
};

/* One of the two in a race, as an example of them. */
struct cts_race_end {
    uint32_t site, thread; /* its index in the CTA, x fastest */
};

/* All races of two sites, in either order. */
struct cts_race_pair {
    struct cts_race_end first, second; /* first.site <= second.site */
    uint8_t space;
    bool is_in_warp;      /* their threads are of one warp */
    bool is_asynchronous; /* one is an asynchronous copy that has not been waited for */
    uint64_t address;     /* the lowest byte */
    uint64_t bytes;       /* distinct ones */
};

struct cts_race;

struct cts_race *cts_race_new(struct cts_error *error);
void cts_race_free(struct cts_race *race); /* NULL is fine */

/* Begins a CTA of `thread_count` threads, at most CTS_RACE_THREADS_MAX, and forgets the previous
 * CTA. `has_fences`: fences are recorded; without them, every store or atomic counts as fenced. */
void cts_race_begin(struct cts_race *race, uint32_t thread_count, bool has_fences);
CTS_MUST_CHECK enum cts_status cts_race_add_access(struct cts_race *race,
                                                   const struct cts_race_access *access,
                                                   struct cts_error *error);
/* What the lanes of `mask` did: an operation and its argument. */
struct cts_race_sync {
    uint32_t operation; /* enum cts_barrier_operation */
    uint32_t mask;
    uint16_t warp;
    uint64_t argument;
};
CTS_MUST_CHECK enum cts_status
cts_race_barrier(struct cts_race *race, const struct cts_race_sync *sync, struct cts_error *error);

/* What has been found since cts_race_begin(); borrowed, valid until the next call. */
const struct cts_race_pair *cts_race_pairs(const struct cts_race *race, size_t *count);
/* Whether threads may have waited for each other in ways that are not known, or more words are
 * signals than are kept: what was found may be none. */
bool cts_race_is_over(const struct cts_race *race);

#endif
