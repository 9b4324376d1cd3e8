/* From warp records to the sets of a CTA.
 *
 * Each run of records of a CTA (analyze/walk.h) becomes dense spans (analyze/dense.h), and what
 * touches one of the last few spans joins it; so that regular kernels make a few spans per row and
 * not 32 per record. Sorting and uniting the spans gives the CTA's sets. A CTA that goes on in
 * another chunk has several parts: uniting them is the taker's affair. */
#include "analyze/dense.h"
#include "analyze/summary/summary.h"
#include "common/array.h"

/* Spans of a CTA beyond this are handed over as a part. */
enum { SPANS_MAX = 1 << 20 };

/* A thread's memory. */
struct thread {
    struct cts_spans reads, writes, sorting;
    struct cts_intervals read_set, write_set;
};

struct cts_summary_reader {
    const struct cts_summary_plan *plan;
    struct cts_walk *walk;
    struct thread *threads;
    unsigned thread_count;
    const struct cts_summary_reading *reading; /* of the launch at hand */
};

/* The record at hand. */
struct record {
    struct cts_spans *spans[2]; /* where its bytes go: the second may be NULL */
    uint32_t width_bytes;
    struct cts_error *error;
};

static inline enum cts_status add_dense(void *state, uint64_t start, uint32_t lane_count,
                                        uint32_t multiplicity)
{
    const struct record *const r = state;
    const uint64_t length_bytes = (uint64_t)lane_count * r->width_bytes;
    struct cts_error *const error = r->error;
    (void)multiplicity; /* of sets */
    if (__builtin_expect(start > UINT64_MAX - length_bytes, 0))
        return cts_fail(error, CTS_FORMAT, "an access extends past the address space");
    const struct cts_span span = {start, (uint32_t)length_bytes, 0};
    if (cts_spans_add(r->spans[0], span, 0, error)) return CTS_MEMORY;
    return r->spans[1] ? cts_spans_add(r->spans[1], span, 0, error) : CTS_OK;
}

static enum cts_status add_record(struct thread *thread, const struct cts_walk_site *site,
                                  const struct cts_acc_batch *batch, size_t i,
                                  struct cts_error *error)
{
    const bool reads = cts_walk_site_reads(site), writes = cts_walk_site_writes(site);
    struct record r = {.spans = {reads ? &thread->reads : &thread->writes,
                                 reads && writes ? &thread->writes : NULL},
                       .width_bytes = site->width_bytes,
                       .error = error};
    return cts_dense_record(batch, i, r.width_bytes, (struct cts_dense_sink){add_dense, &r}, error);
}

static enum cts_status unite(struct thread *thread, struct cts_spans *spans,
                             struct cts_intervals *set, struct cts_error *error)
{
    set->count = 0;
    enum cts_status status = cts_spans_sort(spans, &thread->sorting, error);
    if (!status) status = cts_spans_unite(spans, set, error);
    cts_spans_clear(spans);
    return status;
}

static enum cts_status hand_over(const struct cts_summary_reader *reader, unsigned index,
                                 uint32_t cta, uint64_t accesses, struct cts_error *error)
{
    struct thread *const thread = &reader->threads[index];
    enum cts_status status = unite(thread, &thread->reads, &thread->read_set, error);
    if (!status) status = unite(thread, &thread->writes, &thread->write_set, error);
    if (status || !accesses) return status;
    const struct cts_summary_part part = {
        .cta = cta, .reads = &thread->read_set, .writes = &thread->write_set, .accesses = accesses};
    return reader->reading->take(reader->reading->state, index, &part, error);
}

static enum cts_status read_run(void *state, unsigned index, void *cta_state,
                                const struct cts_walk_run *run, struct cts_error *error)
{
    const struct cts_summary_reader *const reader = state;
    const struct cts_walk_site *const sites = reader->plan->sites.items;
    const struct cts_acc_batch *const batch = run->batch;
    struct thread *const thread = &reader->threads[index];
    uint64_t accesses = 0;
    (void)cta_state;
    for (size_t i = run->begin; i < run->end; i++) {
        if (batch->space[i] != CTS_SPACE_GLOBAL) continue;
        enum cts_status status = add_record(thread, &sites[batch->site[i]], batch, i, error);
        accesses += (uint64_t)__builtin_popcount(batch->mask[i]);
        if (!status && thread->reads.count + thread->writes.count >= SPANS_MAX) {
            status = hand_over(reader, index, run->cta, accesses, error);
            accesses = 0;
        }
        if (status) return status;
    }
    return hand_over(reader, index, run->cta, accesses, error);
}

enum cts_status cts_summary_read(struct cts_summary_reader *reader, size_t launch,
                                 const struct cts_summary_reading *reading, struct cts_error *error)
{
    const struct cts_summary_launch *const from = &reader->plan->launches[launch];
    struct cts_walk_scope scope = {.chunk_begin = from->chunk_begin,
                                   .chunk_end = from->chunk_end,
                                   .cta_count = from->cta_count,
                                   .end_cta = UINT64_MAX,
                                   .progress = reading->progress};
    if (reading->share_count > 1)
        cts_walk_share(reader->plan->source, reading->share, reading->share_count, &scope);
    for (unsigned i = 0; i < reader->thread_count; i++) { /* an error may have left something */
        cts_spans_clear(&reader->threads[i].reads);
        cts_spans_clear(&reader->threads[i].writes);
    }
    reader->reading = reading;
    return cts_walk_launch(reader->walk, &scope, reader, error);
}

enum cts_status cts_summary_reader_new(const struct cts_summary_plan *plan, unsigned threads,
                                       struct cts_summary_reader **out, struct cts_error *error)
{
    static const struct cts_walk_ops ops = {.takes_parts = true, .record = read_run};
    const struct cts_walk_options options = {
        .source = plan->source, .sites = &plan->sites, .ops = &ops, .threads = threads};
    struct cts_summary_reader *const reader = cts_array_zeroed(1, sizeof *reader, error);
    *out = NULL;
    if (!reader) return CTS_MEMORY;
    reader->plan = plan;
    reader->thread_count = threads;
    reader->threads = cts_array_zeroed(threads, sizeof *reader->threads, error);
    const enum cts_status status =
        reader->threads ? cts_walk_new(&options, &reader->walk, error) : CTS_MEMORY;
    if (status)
        cts_summary_reader_free(reader);
    else
        *out = reader;
    return status;
}

void cts_summary_reader_free(struct cts_summary_reader *reader)
{
    if (!reader) return;
    cts_walk_free(reader->walk);
    for (unsigned i = 0; reader->threads && i < reader->thread_count; i++) {
        struct thread *const thread = &reader->threads[i];
        cts_spans_release(&thread->reads);
        cts_spans_release(&thread->writes);
        cts_spans_release(&thread->sorting);
        cts_intervals_release(&thread->read_set);
        cts_intervals_release(&thread->write_set);
    }
    free(reader->threads);
    free(reader);
}
