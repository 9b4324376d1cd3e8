/* Fingerprints of recorded values are made here as recorders make them (trace/value-hash.h). Where
 * the recorder made them, the records are read for what has no fingerprint: atomics and volatile
 * accesses, and accesses whose values the recorder did not get. */
#include "analyze/flow/flow-values.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/map.h"
#include "trace/value-hash.h"

enum { KNOWN_WORDS = 16 }; /* of a value: wider accesses keep no more (trace/access.h) */

/* A CTA's part; zeroed when it is made, and by close(). */
struct part {
    struct cts_value_hash hash; /* of the sum only where values were recorded */
    bool is_unknown;
};

struct cts_flow_fingerprinter {
    struct cts_flow_reading reading;
    struct part whole; /* of the launch at hand; threads add to it by atomics */
    struct cts_map
        of_launch; /* id -> index + 1 of the recorder's fingerprint; UINT64_MAX: several */
    bool is_hashed;
};

/* One record's accesses, all of one site, CTA and width. */
static void add_record(struct part *part, const struct cts_access *access, uint32_t width_bytes)
{
    const unsigned words = access->value_words, rest = width_bytes % 8;
    const uint64_t last_mask = rest ? (UINT64_C(1) << 8 * rest) - 1 : UINT64_MAX;
    uint64_t addresses[CTS_WARP_LANES], value[UINT8_MAX];
    cts_access_addresses(access, addresses);
    const uint64_t *next = access->values;
    for (uint32_t left = access->mask; left; left &= left - 1, next += words) {
        memcpy(value, next, words * sizeof *value);
        value[words - 1] &= last_mask;
        cts_value_hash_add(&part->hash, &(struct cts_value_hash_record){.site = access->site,
                                                                        .cta = access->cta,
                                                                        .mask = left & -left,
                                                                        .addresses = addresses,
                                                                        .values = value,
                                                                        .words = words,
                                                                        .word_step = 1});
    }
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
        if (site->is_volatile || cts_operation_is_atomic(site->operation) ||
            width > 8 * KNOWN_WORDS)
            part->is_unknown = true;
        else if (printer->is_hashed)
            part->hash.accesses += (unsigned)__builtin_popcount(access.mask);
        else if (access.values && access.value_words)
            add_record(part, &access, width);
        else
            part->is_unknown = true;
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
    __atomic_fetch_add(&printer->whole.hash.sum, part->hash.sum, __ATOMIC_RELAXED);
    __atomic_fetch_add(&printer->whole.hash.accesses, part->hash.accesses, __ATOMIC_RELAXED);
    if (part->is_unknown) __atomic_store_n(&printer->whole.is_unknown, true, __ATOMIC_RELAXED);
    *part = (struct part){.is_unknown = false};
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

/* What the recorder hashed counts if it hashed every access. */
static void take_recorded(const struct cts_flow_fingerprinter *printer, size_t launch,
                          struct cts_flow_fingerprint *print)
{
    const struct cts_catalogue *const catalogue = printer->reading.options.catalogue;
    const uint64_t *const found =
        cts_map_find(&printer->of_launch, catalogue->launches[launch].launch);
    print->is_known &= found && *found != UINT64_MAX;
    if (!print->is_known) return;
    const struct cts_fingerprint *const row = &catalogue->fingerprints[*found - 1];
    print->sum = row->hash;
    print->is_known = row->accesses == print->accesses;
}

enum cts_status cts_flow_fingerprint(struct cts_flow_fingerprinter *printer, size_t launch,
                                     struct cts_flow_fingerprint *print, struct cts_error *error)
{
    printer->whole = (struct part){.is_unknown = false};
    const enum cts_status status = cts_flow_read(&printer->reading, launch, printer, error);
    *print = (struct cts_flow_fingerprint){.sum = printer->whole.hash.sum,
                                           .accesses = printer->whole.hash.accesses,
                                           .is_known = !printer->whole.is_unknown};
    if (printer->is_hashed) take_recorded(printer, launch, print);
    return status;
}

static enum cts_status index_rows(struct cts_flow_fingerprinter *printer,
                                  const struct cts_catalogue *catalogue, struct cts_error *error)
{
    printer->is_hashed = catalogue->fingerprint_count > 0;
    for (size_t i = 0; i < catalogue->fingerprint_count; i++) {
        uint64_t *const place =
            cts_map_at(&printer->of_launch, catalogue->fingerprints[i].launch, error);
        if (!place) return CTS_MEMORY;
        *place = *place ? UINT64_MAX : i + 1;
    }
    return CTS_OK;
}

enum cts_status cts_flow_fingerprinter_new(const struct cts_flow_touch_options *options,
                                           struct cts_flow_fingerprinter **printer,
                                           struct cts_error *error)
{
    struct cts_flow_fingerprinter *const made = cts_array_zeroed(1, sizeof *made, error);
    *printer = NULL;
    if (!made) return CTS_MEMORY;
    enum cts_status status = cts_flow_reading_begin(&made->reading, options, &walk_ops, error);
    if (!status) status = index_rows(made, options->catalogue, error);
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
    cts_map_release(&printer->of_launch);
    free(printer);
}
