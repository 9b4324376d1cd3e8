/* What must hold of a rank after any events were given to it: they are counted once, items come
 * sorted, and name threads, streams and regions that exist. */
#ifndef CTS_TESTS_FUZZ_PROFILE_CHECK_H
#define CTS_TESTS_FUZZ_PROFILE_CHECK_H

#include <stdlib.h>

#include "import/profile-rank.h"

struct checking {
    const struct cts_profile_rank *rank;
    struct cts_profile_host_item last;
    uint64_t count;
};

static inline void require(bool holds)
{
    if (!holds) abort();
}

static inline enum cts_status check_host(void *state, const void *from, struct cts_error *error)
{
    struct checking *const checking = state;
    const struct cts_profile_host_item *const item = from;
    (void)error;
    require(item->start_ns <= item->end_ns && item->track < checking->rank->tracks.count);
    require(item->region < checking->rank->regions.count);
    require(item->collective <= checking->rank->collectives.count);
    require(!checking->count || cts_profile_by_nesting(&checking->last, item) < 0);
    require(item->start_ns >= checking->rank->first_ns && item->end_ns <= checking->rank->last_ns);
    checking->last = *item;
    checking->count++;
    return CTS_OK;
}

static inline enum cts_status check_device(void *state, const void *from, struct cts_error *error)
{
    struct checking *const checking = state;
    const struct cts_profile_device_item *const item = from;
    (void)error;
    require(item->start_ns <= item->end_ns && item->stream < checking->rank->streams.count);
    require(item->is_copy || item->region < checking->rank->regions.count);
    checking->count++;
    return CTS_OK;
}

static inline void profile_check(struct cts_profile_rank *rank)
{
    struct checking checking = {.rank = rank};
    uint64_t counted = 0, host = 0, device = 0;
    for (size_t i = 0; i < rank->count_of_category.count; i++)
        counted += rank->count_of_category.items[i].value;
    require(counted == rank->event_count);
    for (int c = 0; c < CTS_PROFILE_KERNEL; c++) host += rank->counts[c];
    for (int c = CTS_PROFILE_KERNEL; c < CTS_PROFILE_SYNC; c++) device += rank->counts[c];
    require(!cts_spill_finish(&rank->host, check_host, &checking, NULL) && checking.count == host);
    checking.count = 0;
    require(!cts_spill_finish(&rank->device, check_device, &checking, NULL));
    require(checking.count == device);
}

#endif
