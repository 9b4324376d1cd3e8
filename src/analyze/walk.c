/* Chunks become *groups*, threads take groups one after the other.
 *
 * Where parts will do, a chunk is a group. Else a group is a run of chunks of one access file that
 * may share CTAs, and no CTA is in two groups, since its records lie in one file. Within a group a
 * CTA is complete when no later chunk of the group can have it: at once in files that go through
 * their CTAs in order. With several threads a file is also cut where one CTA goes on in the next
 * chunk: it belongs to the group in which it begins, whose thread then reads on for it alone. */
#include "analyze/walk.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/parallel.h"
#include "common/promise.h"

#define NO_CTA UINT64_MAX

struct range {
    uint32_t first, last; /* inclusive; first > last: none */
};

struct group {
    size_t begin, end;  /* in walk->chunks */
    uint64_t skipped;   /* a CTA that began in the group before; NO_CTA: none */
    uint64_t continued; /* a CTA that goes on in the chunks after; NO_CTA: none */
};

/* A CTA whose records are not all read yet. */
struct open_cta {
    uint32_t cta;
    void *state;
};

struct thread {
    struct cts_acc_batch batch;
    struct {
        struct open_cta *items;
        size_t count, capacity;
    } open; /* one, or more where a file mixes CTAs */
    struct {
        void **items;
        size_t count, capacity;
    } spare;
};

struct cts_walk {
    const struct cts_access_source *source;
    const struct cts_walk_sites *sites;
    const struct cts_walk_ops *ops;
    struct thread *threads;
    unsigned thread_count;
    /* of the launch at hand */
    const struct cts_walk_scope *scope;
    void *state;
    struct {
        const struct cts_acc_chunk **items;
        size_t count, capacity;
    } chunks;
    struct {
        struct range *items;
        size_t count, capacity;
    } after; /* by chunk: the CTAs that come after it in its file */
    struct {
        struct group *items;
        size_t count, capacity;
    } groups;
    uint32_t
        *owners; /* by CTA from owned.first on: its file + 1; NULL: all chunks are in one file */
    struct range owned;
    bool is_enough;
};

/* ---- groups ---- */

static int by_place(const void *left, const void *right)
{
    const struct cts_acc_chunk *const a = *(const struct cts_acc_chunk *const *)left;
    const struct cts_acc_chunk *const b = *(const struct cts_acc_chunk *const *)right;
    if (a->file != b->file) return a->file < b->file ? -1 : 1;
    return (a->offset_bytes > b->offset_bytes) - (a->offset_bytes < b->offset_bytes);
}

static enum cts_status add_group(struct cts_walk *walk, const struct group *group,
                                 struct cts_error *error)
{
    if (CTS_ARRAY_RESERVE(&walk->groups, walk->groups.count + 1, error)) return CTS_MEMORY;
    walk->groups.items[walk->groups.count++] = *group;
    return CTS_OK;
}

/* Which CTAs come after each chunk in its file. */
static enum cts_status look_ahead(struct cts_walk *walk, struct cts_error *error)
{
    const struct cts_acc_chunk *const *const chunks = walk->chunks.items;
    const size_t count = walk->chunks.count;
    if (CTS_ARRAY_RESERVE(&walk->after, count, error)) return CTS_MEMORY;
    for (size_t i = count; i-- > 0;) {
        struct range after = {UINT32_MAX, 0};
        if (i + 1 < count && chunks[i + 1]->file == chunks[i]->file) {
            after = walk->after.items[i + 1];
            if (chunks[i + 1]->first_cta < after.first) after.first = chunks[i + 1]->first_cta;
            if (chunks[i + 1]->last_cta > after.last) after.last = chunks[i + 1]->last_cta;
        }
        walk->after.items[i] = after;
    }
    return CTS_OK;
}

/* Cuts the chunks, by file and offset, wherever all CTAs before are below all after, and, with
 * several threads, also where one CTA goes on in the next chunk. */
static enum cts_status group_by_cta(struct cts_walk *walk, struct cts_error *error)
{
    const struct cts_acc_chunk **const chunks = walk->chunks.items;
    const size_t count = walk->chunks.count;
    const bool splits = walk->thread_count > 1;
    struct group group = {.skipped = NO_CTA};
    uint32_t most_before = 0;
    if (count) qsort(chunks, count, sizeof *chunks, by_place);
    enum cts_status status = look_ahead(walk, error);
    for (size_t i = 0; !status && i < count; i++) {
        if (i == group.begin || chunks[i]->last_cta > most_before)
            most_before = chunks[i]->last_cta;
        const uint32_t first_after = walk->after.items[i].first; /* above all: no chunk follows */
        const bool is_last = i + 1 == count || chunks[i + 1]->file != chunks[i]->file;
        const bool shares_one = !is_last && splits && first_after == most_before &&
                                chunks[i + 1]->last_cta > most_before &&
                                chunks[i]->first_cta < most_before;
        if (!is_last && first_after <= most_before && !shares_one) continue;
        group.end = i + 1;
        group.continued = shares_one ? most_before : NO_CTA;
        status = add_group(walk, &group, error);
        group = (struct group){.begin = i + 1, .skipped = group.continued};
    }
    return status;
}

static enum cts_status group_by_chunk(struct cts_walk *walk, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (size_t i = 0; !status && i < walk->chunks.count; i++) {
        const struct group group = {i, i + 1, NO_CTA, NO_CTA};
        status = add_group(walk, &group, error);
    }
    return status;
}

/* A table of which file each CTA is in, where there is more than one. */
static enum cts_status make_owners(struct cts_walk *walk, struct cts_error *error)
{
    const struct cts_acc_chunk *const *const chunks = walk->chunks.items;
    const uint64_t cta_count = walk->scope->cta_count;
    struct range all = {UINT32_MAX, 0};
    bool is_one_file = true;
    for (size_t i = 0; i < walk->chunks.count; i++) {
        is_one_file &= chunks[i]->file == chunks[0]->file;
        if (chunks[i]->first_cta < all.first) all.first = chunks[i]->first_cta;
        if (chunks[i]->last_cta > all.last) all.last = chunks[i]->last_cta;
    }
    if (all.last >= cta_count) all.last = cta_count ? (uint32_t)(cta_count - 1) : 0;
    walk->owned = all;
    if (is_one_file || all.first > all.last) return CTS_OK;
    walk->owners = cts_array_zeroed((size_t)all.last - all.first + 1, sizeof *walk->owners, error);
    return walk->owners ? CTS_OK : CTS_MEMORY;
}

static enum cts_status prepare(struct cts_walk *walk, struct cts_error *error)
{
    const struct cts_walk_scope *const scope = walk->scope;
    walk->chunks.count = walk->groups.count = 0;
    walk->is_enough = false;
    if (CTS_ARRAY_RESERVE(&walk->chunks, scope->chunk_end - scope->chunk_begin, error))
        return CTS_MEMORY;
    for (size_t i = scope->chunk_begin; i < scope->chunk_end; i++) {
        const struct cts_acc_chunk *const chunk = &walk->source->chunks[i];
        if (chunk->last_cta < scope->first_cta || chunk->first_cta >= scope->end_cta) continue;
        walk->chunks.items[walk->chunks.count++] = chunk;
    }
    const enum cts_status status = make_owners(walk, error);
    if (status) return status;
    return walk->ops->takes_parts ? group_by_chunk(walk, error) : group_by_cta(walk, error);
}

/* ---- CTAs ---- */

/* What the functions below have at hand. */
struct reading {
    struct cts_walk *walk;
    struct thread *thread;
    unsigned index; /* of the thread */
    struct cts_error *error;
};

/* Notes the file of a CTA that is opened: whoever comes from another one is refused. */
static enum cts_status own(const struct reading *r, uint32_t cta, const struct cts_acc_chunk *chunk)
{
    struct cts_walk *const walk = r->walk;
    if (!walk->owners) return CTS_OK;
    uint32_t *const owner = &walk->owners[cta - walk->owned.first];
    uint32_t before = __atomic_load_n(owner, __ATOMIC_RELAXED);
    if (!before && __atomic_compare_exchange_n(owner, &before, chunk->file + 1, false,
                                               __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return CTS_OK;
    if (before == chunk->file + 1) return CTS_OK;
    const struct cts_access_source *const source = walk->source;
    return cts_fail(r->error, CTS_FORMAT,
                    "the records of CTA %u are in several files, also in '%s'", cta,
                    source->path ? source->path(source->state, before - 1) : "");
}

static void *take_state(const struct reading *r)
{
    struct thread *const thread = r->thread;
    if (thread->spare.count) return thread->spare.items[--thread->spare.count];
    return cts_array_zeroed(1, r->walk->ops->cta_bytes, r->error);
}

static void drop_state(const struct cts_walk *walk, void *state)
{
    if (state && walk->ops->release) walk->ops->release(state);
    free(state);
}

/* The place of a CTA among the open ones; it is opened if it is new. */
static enum cts_status open_cta(const struct reading *r, const struct cts_acc_chunk *chunk,
                                uint32_t cta, size_t *place)
{
    struct thread *const thread = r->thread;
    const struct cts_walk_ops *const ops = r->walk->ops;
    for (size_t i = thread->open.count; i-- > 0;) {
        if (thread->open.items[i].cta != cta) continue;
        *place = i;
        return CTS_OK;
    }
    enum cts_status status = own(r, cta, chunk);
    if (!status) status = CTS_ARRAY_RESERVE(&thread->open, thread->open.count + 1, r->error);
    if (status) return status;
    void *const state = ops->cta_bytes ? take_state(r) : NULL;
    if (ops->cta_bytes && !state) return CTS_MEMORY;
    *place = thread->open.count;
    thread->open.items[thread->open.count++] = (struct open_cta){cta, state};
    return ops->open ? ops->open(r->walk->state, r->index, state, cta, r->error) : CTS_OK;
}

static enum cts_status close_cta(const struct reading *r, size_t place)
{
    assert(place < r->thread->open.count);
    struct thread *const thread = r->thread;
    const struct cts_walk_ops *const ops = r->walk->ops;
    void *const state = thread->open.items[place].state;
    enum cts_status status =
        ops->close ? ops->close(r->walk->state, r->index, state, r->error) : CTS_OK;
    if (!status && state)
        status = CTS_ARRAY_RESERVE(&thread->spare, thread->spare.count + 1, r->error);
    if (status) return status;
    thread->open.items[place] = thread->open.items[--thread->open.count];
    if (state) thread->spare.items[thread->spare.count++] = state;
    return CTS_OK;
}

/* Closes the open CTAs that later chunks cannot have. */
static enum cts_status close_others(const struct reading *r, struct range after)
{
    for (size_t i = r->thread->open.count; i-- > 0;) {
        const uint32_t cta = r->thread->open.items[i].cta;
        const enum cts_status status =
            cta >= after.first && cta <= after.last ? CTS_OK : close_cta(r, i);
        if (status) return status;
    }
    return CTS_OK;
}

/* ---- reading ---- */

/* Which records of a chunk are wanted. */
struct wanted {
    uint64_t skipped, only; /* a CTA or NO_CTA */
    struct range after;     /* CTAs that may come again: they stay open */
};

/* The next run of a batch: from *next on, of accesses and, where they are wanted, barriers. False
 * behind the last one. */
struct next {
    size_t record, barrier;
};

static bool next_run(const struct cts_acc_batch *batch, bool takes_barriers, struct next *next,
                     struct cts_walk_run *run)
{
    const struct cts_acc_barrier *const barriers = batch->barriers;
    const size_t barrier_count = takes_barriers ? batch->barrier_count : 0;
    size_t i = next->record, b = next->barrier;
    if (i == batch->record_count && b == barrier_count) return false;
    const bool is_barrier = b < barrier_count && barriers[b].before <= i;
    const uint32_t cta = is_barrier ? barriers[b].cta : batch->cta[i];
    *run = (struct cts_walk_run){.batch = batch, .begin = i, .barrier_begin = b, .cta = cta};
    for (;;) {
        if (b < barrier_count && barriers[b].before <= i) {
            if (barriers[b].cta != cta) break;
            b++;
        } else {
            const size_t stop = b < barrier_count ? barriers[b].before : batch->record_count;
            while (i < stop && batch->cta[i] == cta) i++;
            if (i < stop || i == batch->record_count) break;
        }
    }
    while (b < barrier_count && barriers[b].before <= i && barriers[b].cta == cta) b++;
    run->end = next->record = i;
    run->barrier_end = next->barrier = b;
    return true;
}

/* Whether each CTA has one run of records. Not where CTAs take turns: at barriers of the grid, and
 * while one waits for memory that another writes. */
static bool is_in_order(const struct cts_acc_batch *batch, bool takes_barriers)
{
    for (size_t i = 1; i < batch->record_count; i++)
        if (batch->cta[i] < batch->cta[i - 1]) return false;
    const struct cts_acc_barrier *const barriers = batch->barriers;
    for (size_t b = 0; takes_barriers && b < batch->barrier_count; b++) {
        const size_t at = barriers[b].before;
        if ((at && batch->cta[at - 1] > barriers[b].cta) ||
            (at < batch->record_count && batch->cta[at] < barriers[b].cta) ||
            (b && barriers[b].cta < barriers[b - 1].cta))
            return false;
    }
    return true;
}

/* Hands the batch over run by run; CTAs that cannot come again are closed: here, or, if the batch
 * may have them again, by the caller. */
static enum cts_status hand_over(const struct reading *r, const struct cts_acc_chunk *chunk,
                                 const struct wanted *wanted)
{
    struct cts_walk *const walk = r->walk;
    const struct cts_acc_batch *const batch = &r->thread->batch;
    const bool takes_barriers = walk->ops->takes_barriers;
    const bool closes = walk->ops->takes_parts || is_in_order(batch, takes_barriers);
    struct cts_walk_run run;
    for (struct next next = {0}; next_run(batch, takes_barriers, &next, &run);) {
        const uint32_t cta = run.cta;
        if (cta < walk->scope->first_cta || cta >= walk->scope->end_cta) continue;
        if (cta == wanted->skipped || (wanted->only != NO_CTA && cta != wanted->only)) continue;
        size_t place = 0;
        enum cts_status status = open_cta(r, chunk, cta, &place);
        if (!status)
            status = walk->ops->record(walk->state, r->index, r->thread->open.items[place].state,
                                       &run, r->error);
        if (!status && closes && (cta < wanted->after.first || cta > wanted->after.last))
            status = close_cta(r, place);
        if (status) return status;
    }
    return CTS_OK;
}

static enum cts_status read_chunk(const struct reading *r, const struct cts_acc_chunk *chunk,
                                  const struct wanted *wanted)
{
    struct cts_walk *const walk = r->walk;
    const struct cts_walk_scope *const scope = walk->scope;
    const struct cts_walk_ops *const ops = walk->ops;
    if (ops->is_enough && ops->is_enough(walk->state)) {
        __atomic_store_n(&walk->is_enough, true, __ATOMIC_RELAXED);
        return CTS_OK;
    }
    const struct cts_walk_bounds bounds = {walk->sites, scope->cta_count};
    enum cts_status status =
        cts_walk_read_chunk(walk->source, bounds, chunk, &r->thread->batch, r->error);
    if (status) return status;
    status = hand_over(r, chunk, wanted);
    if (status) return cts_walk_in_chunk(walk->source, chunk, r->error);
    if (scope->progress && wanted->only == NO_CTA)
        cts_progress_add(scope->progress, chunk->access_count);
    return CTS_OK;
}

static enum cts_status read_chunks(const struct reading *r, const struct group *group)
{
    const struct cts_walk *const walk = r->walk;
    const struct cts_acc_chunk *const *const chunks = walk->chunks.items;
    const struct range none = {UINT32_MAX, 0};
    const bool looks_ahead = !walk->ops->takes_parts;
    enum cts_status status = CTS_OK;
    for (size_t i = group->begin; !status && i < group->end; i++) {
        const struct wanted wanted = {group->skipped, NO_CTA,
                                      looks_ahead ? walk->after.items[i] : none};
        status = read_chunk(r, chunks[i], &wanted);
        if (!status) status = close_others(r, wanted.after);
    }
    if (status || group->continued == NO_CTA) return status;
    const struct wanted rest = {NO_CTA, group->continued, walk->after.items[group->end - 1]};
    for (size_t i = group->end; !status; i++) {
        if (walk->after.items[i - 1].first > group->continued) break; /* it does not come again */
        if (chunks[i]->first_cta <= group->continued) status = read_chunk(r, chunks[i], &rest);
    }
    return status ? status : close_others(r, none);
}

static enum cts_status read_group(void *state, unsigned index, size_t item, struct cts_error *error)
{
    struct cts_walk *const walk = state;
    const struct reading reading = {walk, &walk->threads[index], index, error};
    if (__atomic_load_n(&walk->is_enough, __ATOMIC_RELAXED)) return CTS_OK;
    return read_chunks(&reading, &walk->groups.items[item]);
}

/* CTAs that a failure left open. */
static void drop_open(struct cts_walk *walk)
{
    for (unsigned i = 0; i < walk->thread_count; i++) {
        struct thread *const thread = &walk->threads[i];
        while (thread->open.count) drop_state(walk, thread->open.items[--thread->open.count].state);
    }
}

enum cts_status cts_walk_launch(struct cts_walk *walk, const struct cts_walk_scope *scope,
                                void *state, struct cts_error *error)
{
    walk->scope = scope;
    walk->state = state;
    enum cts_status status = prepare(walk, error);
    const size_t groups = walk->groups.count;
    const unsigned threads = groups < walk->thread_count ? (unsigned)groups : walk->thread_count;
    if (!status && walk->ops->begin) walk->ops->begin(state, threads ? threads : 1);
    if (!status) status = cts_for_each(groups, threads, read_group, walk, error);
    drop_open(walk);
    free(walk->owners);
    walk->owners = NULL;
    return status;
}

/* ---- a walk ---- */

enum cts_status cts_walk_new(const struct cts_walk_options *options, struct cts_walk **out,
                             struct cts_error *error)
{
    struct cts_walk *const walk = *out = cts_array_zeroed(1, sizeof *walk, error);
    if (!walk) return CTS_MEMORY;
    walk->source = options->source;
    walk->sites = options->sites;
    walk->ops = options->ops;
    walk->thread_count = cts_thread_count(options->threads);
    walk->threads = cts_array_zeroed(walk->thread_count, sizeof *walk->threads, error);
    if (walk->threads) return CTS_OK;
    cts_walk_free(walk);
    *out = NULL;
    return CTS_MEMORY;
}

void cts_walk_free(struct cts_walk *walk)
{
    if (!walk) return;
    for (unsigned i = 0; walk->threads && i < walk->thread_count; i++) {
        struct thread *const thread = &walk->threads[i];
        while (thread->spare.count) drop_state(walk, thread->spare.items[--thread->spare.count]);
        if (walk->source->release) walk->source->release(&thread->batch);
        free(thread->open.items);
        free(thread->spare.items);
    }
    free(walk->threads);
    free(walk->chunks.items);
    free(walk->after.items);
    free(walk->groups.items);
    free(walk);
}
