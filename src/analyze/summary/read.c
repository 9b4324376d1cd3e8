/* From warp records to the sets of a CTA.
 *
 * Threads take chunks one after the other. The records of a CTA that follow one another in a chunk
 * become dense spans (analyze/dense.h), and what touches one of the last few spans joins it; so
 * that regular kernels make a few spans per row and not 32 per record. Sorting and uniting the
 * spans gives the CTA's sets. A CTA that goes on in another chunk has several parts: uniting them
 * is the taker's affair. */
#include <stdatomic.h>

#include "analyze/dense.h"
#include "analyze/summary/summary.h"
#include "common/parallel.h"

/* Spans of a CTA beyond this are handed over as a part. */
enum { SPANS_MAX = 1 << 20 };

struct job {
    const struct cts_summary_plan *plan;
    const struct cts_summary_launch *launch;
    const struct cts_summary_reading *reading;
    struct cts_summary_thread *threads;
    _Atomic size_t next; /* chunk */
};

/* The record at hand. */
struct record {
    struct cts_summary_thread *thread;
    struct cts_spans *spans[2]; /* where its bytes go: the second may be NULL */
    uint32_t width_bytes;
};

static inline enum cts_status add_dense(void *state, uint64_t start, uint32_t lane_count,
                                        uint32_t multiplicity)
{
    const struct record *const r = state;
    const uint64_t length_bytes = (uint64_t)lane_count * r->width_bytes;
    struct cts_error *const error = &r->thread->error;
    (void)multiplicity; /* of sets */
    if (__builtin_expect(start > UINT64_MAX - length_bytes, 0))
        return cts_fail(error, CTS_FORMAT, "an access passes the end of memory");
    if (cts_spans_add(r->spans[0], start, (uint32_t)length_bytes, 0, 0, error)) return CTS_MEMORY;
    return r->spans[1] ? cts_spans_add(r->spans[1], start, (uint32_t)length_bytes, 0, 0, error)
                       : CTS_OK;
}

static enum cts_status add_record(struct cts_summary_thread *thread,
                                  const struct cts_summary_plan *plan, size_t i)
{
    const struct cts_acc_batch *const batch = &thread->batch;
    const uint32_t site = batch->site[i];
    struct cts_error *const error = &thread->error;
    if (site >= plan->catalogue->site_count || !plan->sites[site].width_bytes)
        return cts_fail(error, CTS_FORMAT, "a record names site %u, which the catalogue %s", site,
                        site < plan->catalogue->site_count ? "gives no usable operation and width"
                                                           : "does not have");
    if (!batch->mask[i])
        return cts_fail(error, CTS_FORMAT, "a record of site %u has no active lane", site);
    const struct cts_summary_site *const s = &plan->sites[site];
    struct record r = {.thread = thread,
                       .spans = {s->reads ? &thread->reads : &thread->writes,
                                 s->reads && s->writes ? &thread->writes : NULL},
                       .width_bytes = s->width_bytes};
    return cts_dense_record(batch, i, r.width_bytes, add_dense, &r, error);
}

static enum cts_status unite(struct cts_summary_thread *thread, struct cts_spans *spans,
                             struct cts_intervals *set)
{
    set->count = 0;
    enum cts_status status = cts_spans_sort(spans, &thread->sorting, &thread->error);
    if (!status) status = cts_spans_unite(spans, set, &thread->error);
    cts_spans_clear(spans);
    return status;
}

static enum cts_status hand_over(const struct job *job, unsigned index, uint32_t cta,
                                 uint64_t accesses)
{
    struct cts_summary_thread *const thread = &job->threads[index];
    enum cts_status status = unite(thread, &thread->reads, &thread->read_set);
    if (!status) status = unite(thread, &thread->writes, &thread->write_set);
    if (status || !accesses) return status;
    const struct cts_summary_part part = {
        .cta = cta, .reads = &thread->read_set, .writes = &thread->write_set, .accesses = accesses};
    return job->reading->take(job->reading->state, index, &part, &thread->error);
}

/* Records of a batch from `begin` to `end`, all of one CTA. */
static enum cts_status read_records(const struct job *job, unsigned index, size_t begin, size_t end)
{
    struct cts_summary_thread *const thread = &job->threads[index];
    const struct cts_acc_batch *const batch = &thread->batch;
    uint64_t accesses = 0;
    for (size_t i = begin; i < end; i++) {
        if (batch->space[i] != CTS_SPACE_GLOBAL) continue;
        enum cts_status status = add_record(thread, job->plan, i);
        accesses += (uint64_t)__builtin_popcount(batch->mask[i]);
        if (!status && thread->reads.count + thread->writes.count >= SPANS_MAX) {
            status = hand_over(job, index, batch->cta[i], accesses);
            accesses = 0;
        }
        if (status) return status;
    }
    return hand_over(job, index, batch->cta[begin], accesses);
}

static enum cts_status read_chunk(const struct job *job, unsigned index,
                                  const struct cts_acc_chunk *chunk)
{
    struct cts_summary_thread *const thread = &job->threads[index];
    const struct cts_access_source *const source = job->plan->source;
    const struct cts_acc_batch *const batch = &thread->batch;
    enum cts_status status = source->read(source->state, chunk, &thread->batch, &thread->error);
    if (status) return status;
    for (size_t begin = 0, end; !status && begin < batch->record_count; begin = end) {
        const uint32_t cta = batch->cta[begin];
        for (end = begin + 1; end < batch->record_count && batch->cta[end] == cta;) end++;
        if (cta >= job->launch->cta_count)
            status = cts_fail(&thread->error, CTS_FORMAT,
                              "a record names CTA %u of a launch with %llu CTAs", cta,
                              (unsigned long long)job->launch->cta_count);
        if (!status) status = read_records(job, index, begin, end);
    }
    if (job->reading->progress) cts_progress_add(job->reading->progress, chunk->access_count);
    if (!status) return CTS_OK;
    return cts_context(&thread->error, "'%s': chunk at byte %llu of launch %u",
                       source->path ? source->path(source->state, chunk->file) : "",
                       (unsigned long long)chunk->offset_bytes, chunk->launch);
}

static void read_chunks(void *state, unsigned index)
{
    struct job *const job = state;
    const struct cts_summary_reading *const reading = job->reading;
    struct cts_summary_thread *const thread = &job->threads[index];
    thread->status = CTS_OK;
    cts_spans_clear(&thread->reads); /* an error may have left something */
    cts_spans_clear(&thread->writes);
    while (!thread->status) {
        const size_t next = atomic_fetch_add(&job->next, reading->share_count);
        if (next >= job->launch->chunk_end) break;
        thread->status = read_chunk(job, index, &job->plan->source->chunks[next]);
    }
    if (thread->status) atomic_store(&job->next, job->launch->chunk_end);
}

enum cts_status cts_summary_read(const struct cts_summary_plan *plan, size_t launch,
                                 const struct cts_summary_reading *reading,
                                 struct cts_summary_thread *threads, struct cts_error *error)
{
    struct job job = {
        .plan = plan, .launch = &plan->launches[launch], .reading = reading, .threads = threads};
    const size_t chunks = job.launch->chunk_end - job.launch->chunk_begin;
    const size_t mine =
        chunks / reading->share_count + (reading->share < chunks % reading->share_count);
    const unsigned used = mine < reading->threads ? (unsigned)mine : reading->threads;
    atomic_init(&job.next, job.launch->chunk_begin + reading->share);
    cts_parallel(used, read_chunks, &job);
    for (unsigned i = 0; i < used; i++) {
        if (!threads[i].status) continue;
        if (error) *error = threads[i].error;
        return threads[i].status;
    }
    return CTS_OK;
}

void cts_summary_thread_release(struct cts_summary_thread *thread,
                                const struct cts_summary_plan *plan)
{
    if (plan->source && plan->source->release) plan->source->release(&thread->batch);
    cts_spans_release(&thread->reads);
    cts_spans_release(&thread->writes);
    cts_spans_release(&thread->sorting);
    cts_intervals_release(&thread->read_set);
    cts_intervals_release(&thread->write_set);
    *thread = (struct cts_summary_thread){0};
}
