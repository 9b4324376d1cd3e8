/* Parts of CTAs come from several threads in any order; at the end of a launch they are sorted by
 * CTA, parts of one CTA are united, and rows go into the database. For the index, the launch's CTAs
 * that touch each block of addresses are kept as a range. */
#include "analyze/summary/store.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/summary/summary.h"
#include "common/map.h"
#include "common/parallel.h"
#include "common/promise.h"
#include "trace/summaries.h"

enum { THREADS_MAX = 64 };

struct piece {
    uint32_t cta, thread;
    size_t read_begin, read_end, write_begin, write_end; /* in the thread's intervals */
    uint64_t accesses;
};

struct keeper {
    struct cts_intervals intervals;
    struct {
        struct piece *items;
        size_t count, capacity;
    } pieces;
};

struct store {
    const struct cts_summary_plan *plan;
    struct cts_summaries_writer *writer;
    struct keeper keepers[THREADS_MAX];
    struct cts_intervals reads, writes; /* of the CTA at hand */
    struct cts_map blocks;              /* block -> first CTA << 32 | last CTA */
};

static enum cts_status append(struct cts_intervals *to, const struct cts_interval *items,
                              size_t count, struct cts_error *error)
{
    if (!count) return CTS_OK;
    if (CTS_ARRAY_RESERVE(to, to->count + count, error)) return CTS_MEMORY;
    memcpy(to->items + to->count, items, count * sizeof *items);
    to->count += count;
    return CTS_OK;
}

static enum cts_status keep(void *state, unsigned thread, const struct cts_summary_part *part,
                            struct cts_error *error)
{
    assert(thread < THREADS_MAX);
    struct store *const store = state;
    struct keeper *const k = &store->keepers[thread];
    struct piece piece = {.cta = part->cta,
                          .thread = thread,
                          .read_begin = k->intervals.count,
                          .accesses = part->accesses};
    enum cts_status status = append(&k->intervals, part->reads->items, part->reads->count, error);
    piece.read_end = piece.write_begin = k->intervals.count;
    if (!status) status = append(&k->intervals, part->writes->items, part->writes->count, error);
    piece.write_end = k->intervals.count;
    if (!status) status = CTS_ARRAY_RESERVE(&k->pieces, k->pieces.count + 1, error);
    if (!status) k->pieces.items[k->pieces.count++] = piece;
    return status;
}

static int by_cta(const void *left, const void *right)
{
    const struct piece *const a = left, *const b = right;
    if (a->cta != b->cta) return a->cta < b->cta ? -1 : 1;
    return (a->thread > b->thread) - (a->thread < b->thread);
}

static enum cts_status add_blocks(struct store *store, const struct cts_intervals *set,
                                  uint32_t cta, struct cts_error *error)
{
    uint64_t known = UINT64_MAX;
    for (size_t i = 0; i < set->count; i++) {
        const uint64_t last = (set->items[i].end - 1) >> CTS_SUMMARY_BLOCK_BITS;
        for (uint64_t block = set->items[i].start >> CTS_SUMMARY_BLOCK_BITS; block <= last;
             block++) {
            if (block == known) continue;
            known = block;
            uint64_t *const at = cts_map_at(&store->blocks, block, error);
            if (!at) return CTS_MEMORY;
            /* CTAs ascend; 0 is no range, so that CTAs count from 1 here */
            *at = (*at ? *at & ~(uint64_t)UINT32_MAX : ((uint64_t)cta + 1) << 32) | cta;
        }
    }
    return CTS_OK;
}

/* Pieces [begin, end) are one CTA's. */
static enum cts_status add_cta(struct store *store, const struct piece *pieces, size_t count,
                               uint32_t launch, struct cts_error *error)
{
    assert(count); /* pieces of one CTA */
    CTS_ASSERT_ORDER(i, count, pieces[i].cta == pieces[0].cta);
    uint64_t accesses = 0;
    enum cts_status status = CTS_OK;
    store->reads.count = store->writes.count = 0;
    for (size_t i = 0; !status && i < count; i++) {
        const struct piece *const p = &pieces[i];
        const struct cts_interval *const items = store->keepers[p->thread].intervals.items;
        accesses += p->accesses;
        status = append(&store->reads, items + p->read_begin, p->read_end - p->read_begin, error);
        if (!status)
            status = append(&store->writes, items + p->write_begin, p->write_end - p->write_begin,
                            error);
    }
    if (!status && count > 1) status = cts_intervals_normalise(&store->reads, error);
    if (!status && count > 1) status = cts_intervals_normalise(&store->writes, error);
    if (!status) status = add_blocks(store, &store->reads, pieces->cta, error);
    if (!status) status = add_blocks(store, &store->writes, pieces->cta, error);
    const struct cts_summary_row row = {
        .launch = launch,
        .cta = pieces->cta,
        .reads = {(const uint64_t *)store->reads.items, store->reads.count},
        .writes = {(const uint64_t *)store->writes.items, store->writes.count},
        .accesses = accesses};
    return status ? status : cts_summaries_add(store->writer, &row, error);
}

static enum cts_status add_launch(struct store *store, unsigned threads, size_t index,
                                  struct cts_error *error)
{
    const struct cts_launch *const row =
        &store->plan->catalogue->launches[store->plan->launches[index].index];
    size_t count = 0;
    for (unsigned i = 0; i < threads; i++) count += store->keepers[i].pieces.count;
    struct piece *const all = cts_array_zeroed(count, sizeof *all, error);
    if (!all) return CTS_MEMORY;
    count = 0;
    for (unsigned i = 0; i < threads; i++) {
        const struct keeper *const k = &store->keepers[i];
        if (k->pieces.count) memcpy(all + count, k->pieces.items, k->pieces.count * sizeof *all);
        count += k->pieces.count;
    }
    qsort(all, count, sizeof *all, by_cta);
    enum cts_status status = CTS_OK;
    for (size_t begin = 0, end; !status && begin < count; begin = end) {
        for (end = begin + 1; end < count && all[end].cta == all[begin].cta;) end++;
        status = add_cta(store, all + begin, end - begin, row->launch, error);
    }
    free(all);
    for (size_t i = 0; !status && i < store->blocks.capacity; i++) {
        if (!store->blocks.used[i]) continue;
        const uint64_t range = store->blocks.entries[i].value;
        status = cts_summaries_add_block(
            store->writer,
            &(struct cts_summary_block){.rank = row->rank,
                                        .block = store->blocks.entries[i].key,
                                        .launch = row->launch,
                                        .first_cta = (uint32_t)((range >> 32) - 1),
                                        .last_cta = (uint32_t)range},
            error);
    }
    cts_map_release(&store->blocks);
    return status;
}

static enum cts_status store_all(struct store *store, unsigned threads,
                                 struct cts_progress *progress, struct cts_error *error)
{
    struct cts_summary_reader *reader = NULL;
    const struct cts_summary_reading reading = {
        .share_count = 1, .take = keep, .state = store, .progress = progress};
    enum cts_status status = cts_summary_reader_new(store->plan, threads, &reader, error);
    for (size_t i = 0; !status && i < store->plan->launch_count; i++) {
        for (unsigned k = 0; k < threads; k++)
            store->keepers[k].pieces.count = store->keepers[k].intervals.count = 0;
        status = cts_summary_read(reader, i, &reading, error);
        if (!status) status = add_launch(store, threads, i, error);
    }
    cts_summary_reader_free(reader);
    return status;
}

enum cts_status cts_summaries_store(const struct cts_summaries_options *options,
                                    const struct cts_catalogue *catalogue,
                                    const struct cts_access_source *source, struct cts_error *error)
{
    struct cts_summary_plan plan;
    struct store *const store = cts_array_zeroed(1, sizeof *store, error);
    if (!store) return CTS_MEMORY;
    unsigned threads = cts_thread_count(options->threads);
    if (threads > THREADS_MAX) threads = THREADS_MAX;
    enum cts_status status = cts_summary_plan_make(catalogue, source, &plan, error);
    if (status) {
        free(store);
        return status;
    }
    store->plan = &plan;
    status = cts_summaries_create(options->run_path, &store->writer, error);
    if (!status) {
        struct cts_error late;
        status = store_all(store, threads, options->progress, error);
        const enum cts_status closed =
            cts_summaries_close(store->writer, !status, status ? &late : error);
        if (!status) status = closed;
    }
    for (unsigned i = 0; i < threads; i++) {
        cts_intervals_release(&store->keepers[i].intervals);
        free(store->keepers[i].pieces.items);
    }
    cts_intervals_release(&store->reads);
    cts_intervals_release(&store->writes);
    cts_map_release(&store->blocks);
    free(store);
    cts_summary_plan_release(&plan);
    return status;
}
