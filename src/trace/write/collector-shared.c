/* What the streams of a collector share: the first failure, the size limit and the totals. */
#include <assert.h>

#include "trace/write/collector-private.h"

const struct cts_error *cts_collector_failure(const struct cts_collector *collector)
{
    return atomic_load(&collector->has_failed) ? &collector->failure : NULL;
}

void cts_collector_fail(struct cts_collector *collector, const struct cts_error *error)
{
    pthread_mutex_lock(&collector->lock);
    cts_collector_fail_locked(collector, error);
    pthread_mutex_unlock(&collector->lock);
}

void cts_collector_fail_locked(struct cts_collector *collector, const struct cts_error *error)
{
    assert(error->status != CTS_OK);
    if (atomic_load(&collector->has_failed)) return;
    collector->failure = *error;
    if (collector->catalogue) cts_catalogue_note_failure(collector->catalogue, error->text);
    atomic_store(&collector->has_failed, true);
}

bool cts_collector_reserve(struct cts_collector *collector, uint64_t byte_count)
{
    const uint64_t size_bytes = atomic_fetch_add(&collector->size_bytes, byte_count) + byte_count;
    if (!collector->max_size_bytes || size_bytes <= collector->max_size_bytes) return true;
    cts_collector_unreserve(collector, byte_count);
    atomic_store(&collector->is_full, true);
    return false;
}

void cts_collector_unreserve(struct cts_collector *collector, uint64_t byte_count)
{
    atomic_fetch_sub(&collector->size_bytes, byte_count);
}

struct cts_stream_counts cts_collector_counts(const struct cts_collector *collector)
{
    return (struct cts_stream_counts){
        .records = atomic_load(&collector->records),
        .accesses = atomic_load(&collector->accesses),
        .dropped_records = atomic_load(&collector->dropped_records),
        .dropped_accesses = atomic_load(&collector->dropped_accesses),
    };
}
