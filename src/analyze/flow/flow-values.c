/* A thread access is hashed as a chain: site and CTA, its address, the words of its value. A
 * launch's fingerprint is the sum over all of its accesses. */
#include "analyze/flow/flow-values.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/hash.h"

enum { KNOWN_WORDS = 16 }; /* of a value: wider accesses keep no more (trace/access.h) */

/* A CTA's part; zeroed when it is made, and by close(). */
struct part {
    uint64_t sum, accesses;
    bool is_unknown;
};

struct cts_flow_fingerprinter {
    struct cts_flow_reading reading;
    struct part whole; /* of the launch at hand; threads add to it by atomics */
};

/* One record's accesses, all of one site, CTA and width. */
static void add_record(struct part *part, const struct cts_access *access, uint32_t width_bytes)
{
    const uint64_t start =
        cts_hash_fold(CTS_HASH_START, (uint64_t)access->site << 32 | access->cta);
    const unsigned words = access->value_words, rest = width_bytes % 8;
    const uint64_t last_mask = rest ? (UINT64_C(1) << 8 * rest) - 1 : UINT64_MAX;
    uint64_t addresses[CTS_WARP_LANES];
    cts_access_addresses(access, addresses);
    const uint64_t *value = access->values;
    for (uint32_t left = access->mask; left; left &= left - 1, value += words) {
        uint64_t hash = cts_hash_fold(start, addresses[__builtin_ctz(left)]);
        for (unsigned w = 0; w + 1 < words; w++) hash = cts_hash_fold(hash, value[w]);
        part->sum += cts_hash_draw(cts_hash_fold(hash, value[words - 1] & last_mask));
    }
    part->accesses += (unsigned)__builtin_popcount(access->mask);
}

static enum cts_status take_records(void *state, unsigned thread, void *cta_state,
                                    const struct cts_walk_run *run, struct cts_error *error)
{
    const struct cts_flow_fingerprinter *const printer = state;
    struct part *const part = cta_state;
    (void)thread;
    (void)error;
    for (size_t i = run->begin; i < run->end && !part->is_unknown; i++) {
        const struct cts_access access = cts_acc_record(run->batch, i);
        if (access.space != CTS_SPACE_GLOBAL) continue;
        const struct cts_site *const site = &printer->reading.options.catalogue->sites[access.site];
        const uint32_t width = printer->reading.sites.items[access.site].width_bytes;
        if (!access.values || !access.value_words || width > 8 * KNOWN_WORDS || site->is_volatile ||
            cts_operation_is_atomic(site->operation))
            part->is_unknown = true;
        else
            add_record(part, &access, width);
    }
    return CTS_OK;
}

static enum cts_status close_part(void *state, unsigned thread, void *cta_state,
                                  struct cts_error *error)
{
    struct cts_flow_fingerprinter *const printer = state;
    struct part *const part = cta_state;
    (void)thread;
    (void)error;
    __atomic_fetch_add(&printer->whole.sum, part->sum, __ATOMIC_RELAXED);
    __atomic_fetch_add(&printer->whole.accesses, part->accesses, __ATOMIC_RELAXED);
    if (part->is_unknown) __atomic_store_n(&printer->whole.is_unknown, true, __ATOMIC_RELAXED);
    *part = (struct part){0};
    return CTS_OK;
}

static bool is_enough(const void *state)
{
    const struct cts_flow_fingerprinter *const printer = state;
    return __atomic_load_n(&printer->whole.is_unknown, __ATOMIC_RELAXED);
}

static const struct cts_walk_ops walk_ops = {
    .cta_bytes = sizeof(struct part),
    .takes_parts = true,
    .record = take_records,
    .close = close_part,
    .is_enough = is_enough,
};

enum cts_status cts_flow_fingerprint(struct cts_flow_fingerprinter *printer, size_t launch,
                                     struct cts_flow_fingerprint *print, struct cts_error *error)
{
    printer->whole = (struct part){0};
    const enum cts_status status = cts_flow_read(&printer->reading, launch, printer, error);
    *print = (struct cts_flow_fingerprint){.sum = printer->whole.sum,
                                           .accesses = printer->whole.accesses,
                                           .is_known = !printer->whole.is_unknown};
    return status;
}

enum cts_status cts_flow_fingerprinter_new(const struct cts_flow_touch_options *options,
                                           struct cts_flow_fingerprinter **printer,
                                           struct cts_error *error)
{
    struct cts_flow_fingerprinter *const made = cts_array_zeroed(1, sizeof *made, error);
    *printer = NULL;
    if (!made) return CTS_MEMORY;
    const enum cts_status status =
        cts_flow_reading_begin(&made->reading, options, &walk_ops, error);
    if (status)
        cts_flow_fingerprinter_free(made);
    else
        *printer = made;
    return status;
}

void cts_flow_fingerprinter_free(struct cts_flow_fingerprinter *printer)
{
    if (!printer) return;
    cts_flow_reading_release(&printer->reading);
    free(printer);
}
