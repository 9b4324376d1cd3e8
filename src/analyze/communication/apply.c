/* The end of a launch: what was read is marked, what was written gets its writer.
 *
 * Each thread has a share of the address space (shards of the shadow memory) and goes through the
 * sets of all threads for what lies there. The order inside a set does not matter: of several
 * writers the highest node wins, and sharing shows when a byte already has a writer of this launch.
 * Atomics are applied before stores, so that
 *
 *     an atomic that finds another CTA of the launch       -> shared by atomics (so far)
 *     a store that finds another CTA of the launch,
 *       or its own CTA on a byte that is shared by atomics -> write conflict
 *
 * finds every byte that several CTAs wrote. */
#include "analyze/communication/comm-model.h"

enum { AHEAD = 8 }; /* items whose shadow is fetched in advance */

#define BLOCK_LAST ((UINT64_C(1) << CTS_SHADOW_BLOCK_BITS) - 1)
#define PAGE_LAST  UINT64_C(4095)

struct applying {
    struct cts_comm_model *model;
    struct cts_comm_worker *worker;
    uint32_t first_node; /* of the launch */
    bool counts;         /* what is counted once this process counts at the place at hand */
    /* communicated bytes of one writing launch, not yet added up */
    size_t writer_launch;
    uint64_t bytes, unseen_bytes;
    uint64_t again_bytes; /* read in earlier launches, too */
};

static bool is_mine(const struct applying *a, uint64_t address)
{
    return cts_shadow_shard(address) % a->model->worker_count == a->worker->index;
}

static void flush(struct applying *a)
{
    struct cts_comm_counts *const counts = &a->model->result->launches[a->writer_launch].counts;
    if (a->again_bytes + a->bytes) {
        cts_comm_pair_use(a->worker, a->writer_launch);
        a->worker->pairs.by_writer[a->writer_launch].sum.distinct_bytes +=
            a->again_bytes + a->bytes;
    }
    if (a->bytes) __atomic_fetch_add(&counts->communicated_out_bytes, a->bytes, __ATOMIC_RELAXED);
    if (a->unseen_bytes)
        __atomic_fetch_add(&counts->unseen_communicated_out_bytes, a->unseen_bytes,
                           __ATOMIC_RELAXED);
    a->bytes = a->unseen_bytes = a->again_bytes = 0;
}

/* Makes the writer's launch the one whose bytes are added up; returns it. */
static size_t turn_to(struct applying *a, uint32_t writer)
{
    size_t launch = a->writer_launch;
    cts_comm_launch_of(a->model->result, writer & CTS_WRITER_MASK, &launch);
    if (launch != a->writer_launch) flush(a);
    a->writer_launch = launch;
    return launch;
}

static void mark_places(struct applying *a, uint64_t start, uint64_t stop)
{
    for (uint64_t at = start, end; at < stop; at = end) {
        const size_t place = cts_comm_place_of(a->worker, at, &end);
        if (end > stop) end = stop;
        a->worker->places.sums[place].communicated_out_bytes += end - at;
    }
}

/* Bytes of one writer that are read for the first time. */
static void count_marked(struct applying *a, uint64_t start, uint64_t end, uint32_t writer)
{
    struct cts_comm_model *const model = a->model;
    const size_t launch = turn_to(a, writer);
    const uint64_t unseen =
        model->unseen.count ? cts_intervals_overlap(&model->unseen, start, end) : 0;
    writer &= CTS_WRITER_MASK;
    a->bytes += end - start;
    a->unseen_bytes += unseen;
    mark_places(a, start, end);
    CTS_COMM_CTA_ADD(model, launch, writer, communicated_out_bytes, end - start);
    CTS_COMM_CTA_ADD(model, launch, writer, unseen_communicated_out_bytes, unseen);
}

/* Marks [start, stop) of one block. */
static enum cts_status mark(struct applying *a, uint64_t start, uint64_t stop, uint32_t node)
{
    (void)node;
    for (uint64_t at = start; at < stop;) {
        uint32_t writer;
        const uint64_t end = cts_shadow_run(&a->worker->view, at, stop, &writer);
        if (writer >= CTS_WRITER_FIRST_NODE && !(writer & CTS_WRITER_READ)) {
            const enum cts_status status = cts_shadow_set(
                &a->worker->view, at, end, writer | CTS_WRITER_READ, &a->worker->error);
            if (status) return status;
            if (a->counts) count_marked(a, at, end, writer);
        }
        at = end;
    }
    return CTS_OK;
}

/* Bytes that were read in earlier launches are counted once by taking their mark away, and get it
 * back afterwards. */
static enum cts_status unmark(struct applying *a, uint64_t start, uint64_t stop, uint32_t node)
{
    (void)node;
    if (!a->counts) return CTS_OK;
    for (uint64_t at = start; at < stop;) {
        uint32_t writer;
        const uint64_t end = cts_shadow_run(&a->worker->view, at, stop, &writer);
        if (writer & CTS_WRITER_READ) {
            turn_to(a, writer);
            a->again_bytes += end - at;
            const enum cts_status status = cts_shadow_set(
                &a->worker->view, at, end, writer & CTS_WRITER_MASK, &a->worker->error);
            if (status) return status;
        }
        at = end;
    }
    return CTS_OK;
}

static enum cts_status mark_again(struct applying *a, uint64_t start, uint64_t stop, uint32_t node)
{
    (void)node;
    if (!a->counts) return CTS_OK;
    for (uint64_t at = start; at < stop;) {
        uint32_t writer;
        const uint64_t end = cts_shadow_run(&a->worker->view, at, stop, &writer);
        const enum cts_status status =
            cts_shadow_set(&a->worker->view, at, end, writer | CTS_WRITER_READ, &a->worker->error);
        if (status) return status;
        at = end;
    }
    return CTS_OK;
}

static enum cts_status add_shared(struct applying *a, unsigned plane, uint64_t start, uint64_t end)
{
    struct cts_comm_worker *const worker = a->worker;
    if (!a->counts) return CTS_OK;
    if (cts_bits_set(&worker->contended, plane, start, end, &worker->error))
        return worker->error.status;
    return CTS_OK;
}

/* The bytes of [start, end), inside one page, that atomics of other CTAs share conflict with a
 * store. */
static void conflict_with_atomics(struct applying *a, uint64_t start, uint64_t end)
{
    struct cts_bits *const bits = &a->worker->contended;
    uint64_t *const words = a->counts ? cts_bits_find(bits, start) : NULL;
    const unsigned first = (unsigned)(start & PAGE_LAST), stop = (unsigned)(end - start) + first;
    for (unsigned w = first / 64; words && w <= (stop - 1) / 64; w++) {
        uint64_t *const word = &words[w * bits->planes];
        word[CTS_CONTENDED_CONFLICT] |= word[CTS_CONTENDED_SHARED] & cts_bits_mask(w, first, stop);
    }
}

/* Claims [start, stop) of one page, byte ranges that may have a writer of this launch. */
static enum cts_status claim_carefully(struct applying *a, uint64_t start, uint64_t stop,
                                       uint32_t node, bool atomic)
{
    struct cts_comm_worker *const worker = a->worker;
    for (uint64_t at = start; at < stop;) {
        uint32_t writer;
        const uint64_t end = cts_shadow_run(&worker->view, at, stop, &writer);
        enum cts_status status = CTS_OK;
        writer &= CTS_WRITER_MASK;
        if (writer >= a->first_node && writer != node)
            status = add_shared(a, atomic ? CTS_CONTENDED_SHARED : CTS_CONTENDED_CONFLICT, at, end);
        else if (writer == node && !atomic)
            conflict_with_atomics(a, at, end);
        const uint32_t winner = writer >= a->first_node && writer > node ? writer : node;
        if (!status) status = cts_shadow_set(&worker->view, at, end, winner, &worker->error);
        if (status) return status;
        at = end;
    }
    return CTS_OK;
}

static enum cts_status claim(struct applying *a, uint64_t start, uint64_t stop, uint32_t node,
                             bool atomic)
{
    while (start < stop) {
        const uint64_t page_last = start | PAGE_LAST;
        const uint64_t end = page_last < stop - 1 ? page_last + 1 : stop;
        if (!cts_shadow_set_fresh(&a->worker->view, start, end, node, a->first_node)) {
            const enum cts_status status = claim_carefully(a, start, end, node, atomic);
            if (status) return status;
        }
        start = end;
    }
    return CTS_OK;
}

static enum cts_status claim_store(struct applying *a, uint64_t start, uint64_t stop, uint32_t node)
{
    return claim(a, start, stop, node, false);
}

static enum cts_status claim_atomic(struct applying *a, uint64_t start, uint64_t stop,
                                    uint32_t node)
{
    return claim(a, start, stop, node, true);
}

typedef enum cts_status (*item_function)(struct applying *, uint64_t start, uint64_t stop,
                                         uint32_t node);

/* Goes through the items of a set that lie in this thread's share, block by block. */
static enum cts_status for_items(struct applying *a, const struct cts_set_item *items, size_t count,
                                 item_function act)
{
    for (size_t i = 0; i < count && i < AHEAD; i++)
        if (is_mine(a, items[i].start)) cts_shadow_prefetch(&a->worker->view, items[i].start);
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count && is_mine(a, items[i + AHEAD].start))
            cts_shadow_prefetch(&a->worker->view, items[i + AHEAD].start);
        const struct cts_set_item item = items[i];
        const uint64_t stop = item.start + item.length_bytes;
        for (uint64_t at = item.start; at < stop;) {
            const uint64_t block_last = at | BLOCK_LAST;
            const uint64_t end = block_last < stop - 1 ? block_last + 1 : stop;
            const enum cts_status status = is_mine(a, at) ? act(a, at, end, item.node) : CTS_OK;
            if (status) return status;
            at = end;
        }
    }
    return CTS_OK;
}

/* The same, region by region, of those that this process follows. */
static enum cts_status for_followed(struct applying *a, const struct cts_set_item *items,
                                    size_t count, item_function act)
{
    const struct cts_comm_regions *const regions = &a->model->regions;
    const struct cts_comm_region *region = NULL;
    enum cts_status status = CTS_OK;
    for (size_t i = 0; !status && i < count; i++) {
        const uint64_t last = items[i].start + (items[i].length_bytes - 1);
        if (i + AHEAD < count && is_mine(a, items[i + AHEAD].start))
            cts_shadow_prefetch(&a->worker->view, items[i + AHEAD].start);
        for (uint64_t at = items[i].start; !status && at <= last;) {
            const uint64_t region_last = cts_comm_region_last(regions, at);
            const uint64_t end = region_last < last ? region_last + 1 : last + 1;
            if (!region || region->key != at >> regions->bits)
                region = cts_comm_region_find(regions, at);
            if (region && region->followed && is_mine(a, at)) {
                a->counts = region->owner == regions->processes->rank;
                status = act(a, at, end, items[i].node);
            }
            at = end;
        }
    }
    return status;
}

/* The same for the sets of one kind of all threads and processes. */
static enum cts_status for_all(struct applying *a, enum cts_comm_set kind, item_function act)
{
    const struct cts_comm_model *const model = a->model;
    const unsigned process_count = model->parcels.remotes ? model->options.processes->count : 0;
    enum cts_status (*const go)(struct applying *, const struct cts_set_item *, size_t,
                                item_function) =
        cts_comm_has_regions(model) ? for_followed : for_items;
    enum cts_status status = CTS_OK;
    a->counts = true;
    for (unsigned i = 0; !status && i < model->worker_count; i++) {
        const struct cts_sets *const sets = &model->workers[i].sets[kind];
        struct cts_sets_place place = {0};
        const struct cts_set_item *items;
        size_t done = 0;
        for (size_t count; !status && (count = cts_sets_next(sets, &place, &items));) {
            status = cts_access_source_pause(model->source, done++ * (CTS_SET_CHUNK_ITEMS + 1),
                                             &a->worker->error);
            if (!status) status = go(a, items, count, act);
        }
    }
    for (unsigned i = 0; !status && i < process_count; i++)
        status = go(a, model->parcels.remotes[i].items[kind],
                    model->parcels.remotes[i].counts[kind], act);
    return status;
}

static enum cts_status apply_claims(struct applying *a)
{
    cts_bits_clear(&a->worker->contended);
    const enum cts_status status = for_all(a, CTS_COMM_ATOMICS, claim_atomic);
    return status ? status : for_all(a, CTS_COMM_STORES, claim_store);
}

static enum cts_status count_contended(void *state, uint64_t page_start, uint64_t *words,
                                       struct cts_error *error)
{
    struct cts_comm_counts *const counts = state;
    (void)page_start;
    (void)error;
    for (unsigned w = 0; w < CTS_BITS_PAGE_WORDS; w++) {
        const uint64_t *const word = words + (size_t)w * CTS_CONTENDED_COUNT;
        counts->conflict_bytes += cts_bits_count(word[CTS_CONTENDED_CONFLICT]);
        counts->atomic_shared_bytes +=
            cts_bits_count(word[CTS_CONTENDED_SHARED] & ~word[CTS_CONTENDED_CONFLICT]);
    }
    return CTS_OK;
}

void cts_comm_apply(void *state, unsigned worker_index)
{
    struct cts_comm_model *const model = state;
    struct cts_comm_worker *const worker = &model->workers[worker_index];
    const struct cts_comm_launch *const launch = &model->result->launches[model->launch];
    struct applying a = {
        .model = model, .worker = worker, .first_node = (uint32_t)launch->first_node};
    enum cts_status status = for_all(&a, CTS_COMM_REREADS, unmark);
    if (!status) status = for_all(&a, CTS_COMM_REREADS, mark_again);
    if (!status) status = for_all(&a, CTS_COMM_MARKS, mark);
    flush(&a);
    if (!status) status = apply_claims(&a);
    if (!status)
        status =
            cts_bits_each(&worker->contended, count_contended, &worker->counts, &worker->error);
    cts_bits_clear(&worker->contended);
    worker->status = status;
}

void cts_comm_apply_winners(void *state, unsigned worker_index)
{
    struct cts_comm_model *const model = state;
    struct cts_comm_worker *const worker = &model->workers[worker_index];
    struct applying a = {.model = model,
                         .worker = worker,
                         .first_node = (uint32_t)model->result->launches[model->launch].first_node};
    worker->status = apply_claims(&a);
}

static enum cts_status kill(struct applying *a, uint64_t start, uint64_t stop, uint32_t node)
{
    (void)node;
    return cts_shadow_set(&a->worker->view, start, stop, CTS_WRITER_NOBODY, &a->worker->error);
}

static enum cts_status revive(struct applying *a, uint64_t start, uint64_t stop, uint32_t node)
{
    (void)node;
    return cts_shadow_set(&a->worker->view, start, stop, CTS_WRITER_HOST, &a->worker->error);
}

/* Backwards: what the launch wrote is dead before it, what it read is live. */
void cts_comm_apply_retrace(void *state, unsigned worker_index)
{
    struct cts_comm_model *const model = state;
    struct applying a = {.model = model, .worker = &model->workers[worker_index]};
    enum cts_status status = for_all(&a, CTS_COMM_STORES, kill);
    if (!status) status = for_all(&a, CTS_COMM_ATOMICS, kill);
    if (!status) status = for_all(&a, CTS_COMM_MARKS, revive);
    a.worker->status = status;
}
