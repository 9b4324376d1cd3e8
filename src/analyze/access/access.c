/* Threads take chunks; each sums by (kernel or launch, site, space) in a table of its own, which
 * are added up at the end. Sums do not depend on who took what. The most frequent stride comes from
 * a map of all of them; equal counts go to the smaller stride. */
#include "analyze/access/access.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/parallel.h"

enum { SPACES = CTS_SPACE_LAST + 1 };

const char *const cts_access_field_names[CTS_ACCESS_FIELD_COUNT] = {
#define X(name) #name,
    CTS_ACCESS_FIELDS(X)
#undef X
};

uint64_t cts_access_field(const struct cts_access_counts *counts, size_t field)
{
    uint64_t value;
    memcpy(&value, (const char *)counts + field * sizeof value, sizeof value);
    return value;
}

void cts_access_counts_add(struct cts_access_counts *sum, const struct cts_access_counts *more)
{
    uint64_t *const fields = &sum->requests;
    for (size_t i = 0; i < CTS_ACCESS_FIELD_COUNT; i++) fields[i] += cts_access_field(more, i);
}

double cts_access_cost(const struct cts_access_counts *counts)
{
    return (double)counts->wavefronts + (double)counts->sectors / 4;
}

/* A row while it is being summed. */
struct row {
    uint64_t owner; /* kernel id, or index of the launch */
    uint32_t site, kernel;
    uint8_t space;
    uint32_t worst_ways;
    struct cts_access_counts counts;
    struct cts_map strides; /* stride -> requests */
};

struct rows {
    struct row *items;
    size_t count, capacity;
    struct cts_map index; /* (owner, site, space) -> place + 1 */
};

struct analysis {
    const struct cts_catalogue *catalogue;
    const struct cts_access_source *source;
    struct cts_access_options options;
    struct cts_map launches; /* id -> index in catalogue->launches */
    atomic_size_t next_chunk;
    atomic_bool stop;
};

struct worker {
    struct analysis *analysis;
    struct rows rows;
    struct cts_acc_batch batch;
    struct cts_cost_memory costs;
    struct row **recent; /* by site * SPACES + space, of the chunk at hand */
    uint32_t *used;      /* places in recent */
    size_t used_count;
    uint64_t record_count, access_count;
    enum cts_status status;
    struct cts_error error;
};

static uint64_t row_key(uint64_t owner, uint32_t site, uint8_t space)
{
    return owner << 32 ^ (uint64_t)site << 3 ^ space; /* sites: below 2^29, checked */
}

/* The row of (owner, site, space); valid until the next new one. */
static struct row *row_of(struct rows *rows, uint64_t owner, uint32_t kernel, uint32_t site,
                          uint8_t space, struct cts_error *error)
{
    uint64_t *const place = cts_map_at(&rows->index, row_key(owner, site, space), error);
    if (!place) return NULL;
    if (!*place) {
        if (CTS_ARRAY_RESERVE(rows, rows->count + 1, error)) return NULL;
        rows->items[rows->count++] =
            (struct row){.owner = owner, .kernel = kernel, .site = site, .space = space};
        *place = rows->count;
    }
    return &rows->items[*place - 1];
}

static void rows_release(struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) cts_map_release(&rows->items[i].strides);
    free(rows->items);
    cts_map_release(&rows->index);
}

/* ---- one chunk ---- */

static enum cts_status add_request(struct row *row, const struct cts_site *site,
                                   const struct cts_request_cost *cost, unsigned live,
                                   struct cts_error *error)
{
    struct cts_access_counts *const sum = &row->counts;
    const unsigned ideal = (cost->distinct_bytes + CTS_SECTOR_BYTES - 1u) / CTS_SECTOR_BYTES;
    sum->requests++;
    sum->accesses += cost->lanes;
    sum->live_lanes += live;
    sum->partial_requests += cost->lanes < live;
    sum->requested_bytes += (uint64_t)cost->lanes * site->width_bytes;
    sum->distinct_bytes += cost->distinct_bytes;
    sum->sectors += cost->sectors;
    sum->lines += cost->lines;
    sum->ideal_sectors += cost->sectors ? ideal : 0;
    if (cost->layout == CTS_LAYOUT_DENSE && cost->sectors)
        sum->dense_excess_sectors += cost->sectors - ideal;
    sum->wavefronts += cost->wavefronts;
    sum->ideal_wavefronts += cost->ideal_wavefronts;
    sum->conflict_requests += cost->ways > 1;
    if (cts_operation_is_atomic(site->operation)) sum->same_address_lanes += cost->same_address - 1;
    if (cost->ways > row->worst_ways) row->worst_ways = cost->ways;
    (&sum->uniform_requests)[cost->layout]++;
    if (cost->layout != CTS_LAYOUT_STRIDED) return CTS_OK;
    uint64_t *const count = cts_map_at(&row->strides, (uint64_t)cost->stride_bytes, error);
    if (!count) return CTS_MEMORY;
    ++*count;
    return CTS_OK;
}

/* Lanes of a warp that exist: the last warp of a CTA may have fewer. */
static unsigned live_lanes(const struct cts_launch *launch, uint16_t warp)
{
    const uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    const uint64_t first = (uint64_t)warp * CTS_WARP_LANES;
    if (first >= threads) return 0;
    return threads - first < CTS_WARP_LANES ? (unsigned)(threads - first) : CTS_WARP_LANES;
}

static enum cts_status add_record(struct worker *worker, const struct cts_launch *launch,
                                  uint64_t owner, size_t i)
{
    const struct cts_catalogue *const catalogue = worker->analysis->catalogue;
    const struct cts_access access = cts_acc_record(&worker->batch, i);
    if (access.site >= catalogue->site_count || access.space > CTS_SPACE_LAST)
        return CTS_OK; /* ahead of the catalogue of a killed program */
    const struct cts_site *const site = &catalogue->sites[access.site];
    if (!site->width_bytes || site->width_bytes > CTS_WIDTH_MAX) return CTS_OK;
    const size_t place = (size_t)access.site * SPACES + access.space;
    struct row *row = worker->recent[place];
    if (!row) {
        row =
            row_of(&worker->rows, owner, launch->kernel, access.site, access.space, &worker->error);
        if (!row) return CTS_MEMORY;
        /* New rows move the others: only this one is known to be where it is. */
        for (size_t k = 0; k < worker->used_count; k++) worker->recent[worker->used[k]] = NULL;
        worker->used_count = 0;
        worker->recent[place] = row;
        worker->used[worker->used_count++] = (uint32_t)place;
    }
    const struct cts_request_cost cost = cts_request_cost_remembered(
        &worker->costs, &access, site->width_bytes, worker->analysis->options.bank_bytes);
    const unsigned live = live_lanes(launch, access.warp);
    worker->record_count++;
    worker->access_count += cost.lanes;
    return add_request(row, site, &cost, live > cost.lanes ? live : cost.lanes, &worker->error);
}

static enum cts_status add_chunk(struct worker *worker, const struct cts_acc_chunk *chunk)
{
    const struct analysis *const analysis = worker->analysis;
    const uint64_t *const place = cts_map_find(&analysis->launches, chunk->launch);
    if (!place) return CTS_OK; /* ahead of the catalogue of a killed program */
    const struct cts_launch *const launch = &analysis->catalogue->launches[*place];
    const uint64_t owner = analysis->options.per_launch ? *place : launch->kernel;
    enum cts_status status =
        analysis->source->read(analysis->source->state, chunk, &worker->batch, &worker->error);
    for (size_t i = 0; i < worker->batch.record_count && !status; i++)
        status = add_record(worker, launch, owner, i);
    for (size_t k = 0; k < worker->used_count; k++) worker->recent[worker->used[k]] = NULL;
    worker->used_count = 0;
    return status;
}

static void work(void *state, unsigned index)
{
    struct worker *const worker = &((struct worker *)state)[index];
    struct analysis *const analysis = worker->analysis;
    while (!worker->status && !atomic_load_explicit(&analysis->stop, memory_order_relaxed)) {
        const size_t chunk = atomic_fetch_add(&analysis->next_chunk, 1);
        if (chunk >= analysis->source->chunk_count) return;
        worker->status = add_chunk(worker, &analysis->source->chunks[chunk]);
        if (analysis->options.progress)
            cts_progress_add(analysis->options.progress,
                             analysis->source->chunks[chunk].access_count);
    }
    if (worker->status) atomic_store(&analysis->stop, true);
}

/* ---- the whole ---- */

static enum cts_status merge(struct rows *sum, struct rows *more, struct cts_error *error)
{
    for (size_t i = 0; i < more->count; i++) {
        const struct row *const from = &more->items[i];
        struct row *const to =
            row_of(sum, from->owner, from->kernel, from->site, from->space, error);
        if (!to) return CTS_MEMORY;
        cts_access_counts_add(&to->counts, &from->counts);
        if (from->worst_ways > to->worst_ways) to->worst_ways = from->worst_ways;
        for (size_t e = 0; e < from->strides.capacity; e++) {
            if (!from->strides.used[e]) continue;
            uint64_t *const count = cts_map_at(&to->strides, from->strides.entries[e].key, error);
            if (!count) return CTS_MEMORY;
            *count += from->strides.entries[e].value;
        }
    }
    return CTS_OK;
}

static void find_stride(const struct cts_map *strides, struct cts_access_site *site)
{
    for (size_t e = 0; e < strides->capacity; e++) {
        if (!strides->used[e]) continue;
        const int64_t stride = (int64_t)strides->entries[e].key;
        const uint64_t count = strides->entries[e].value;
        if (count < site->stride_requests ||
            (count == site->stride_requests && stride > site->stride_bytes))
            continue;
        site->stride_bytes = stride;
        site->stride_requests = count;
    }
}

static int by_place(const void *a, const void *b)
{
    const struct cts_access_site *const x = a, *const y = b;
    if (x->kernel != y->kernel) return x->kernel < y->kernel ? -1 : 1;
    if (x->launch != y->launch) return x->launch < y->launch ? -1 : 1;
    if (x->site != y->site) return x->site < y->site ? -1 : 1;
    return (x->space > y->space) - (x->space < y->space);
}

static enum cts_status collect(const struct analysis *analysis, const struct rows *rows,
                               struct cts_access_result *result, struct cts_error *error)
{
    result->sites = cts_array_zeroed(rows->count, sizeof *result->sites, error);
    if (!result->sites) return CTS_MEMORY;
    for (size_t i = 0; i < rows->count; i++) {
        const struct row *const row = &rows->items[i];
        struct cts_access_site *const site = &result->sites[result->site_count++];
        *site = (struct cts_access_site){
            .kernel = row->kernel,
            .site = row->site,
            .launch = analysis->options.per_launch ? (size_t)row->owner : SIZE_MAX,
            .space = row->space,
            .counts = row->counts,
            .worst_ways = row->worst_ways,
        };
        find_stride(&row->strides, site);
    }
    qsort(result->sites, result->site_count, sizeof *result->sites, by_place);
    return CTS_OK;
}

static void note_soundness(const struct analysis *analysis, struct cts_access_result *result)
{
    const struct cts_catalogue *const catalogue = analysis->catalogue;
    const char *const lanes = cts_catalogue_get(catalogue, "lanes");
    result->packed_lanes = lanes && strcmp(lanes, "packed") == 0;
    result->incomplete_files = analysis->source->incomplete_count;
    for (size_t i = 0; i < catalogue->rank_count; i++)
        result->dropped_accesses += catalogue->ranks[i].dropped_accesses;
    for (size_t i = 0; i < catalogue->launch_count; i++) {
        const char *const recorded = catalogue->launches[i].recorded;
        result->unrecorded_launches += !recorded || strcmp(recorded, "all") != 0;
    }
}

static enum cts_status prepare(struct worker *worker, struct analysis *analysis,
                               struct cts_error *error)
{
    const size_t places = analysis->catalogue->site_count * SPACES;
    worker->analysis = analysis;
    worker->recent = cts_array_zeroed(places, sizeof *worker->recent, error);
    worker->used = cts_array_zeroed(places, sizeof *worker->used, error);
    return worker->recent && worker->used ? CTS_OK : CTS_MEMORY;
}

static enum cts_status index_launches(struct analysis *analysis, struct cts_error *error)
{
    for (size_t i = 0; i < analysis->catalogue->launch_count; i++) {
        uint64_t *const place =
            cts_map_at(&analysis->launches, analysis->catalogue->launches[i].launch, error);
        if (!place) return CTS_MEMORY;
        *place = i;
    }
    return CTS_OK;
}

enum cts_status cts_access_analyze(const struct cts_catalogue *catalogue,
                                   const struct cts_access_source *source,
                                   const struct cts_access_options *options,
                                   struct cts_access_result *result, struct cts_error *error)
{
    *result = (struct cts_access_result){0};
    if (catalogue->site_count >= UINT32_C(1) << 29)
        return cts_fail(error, CTS_LIMIT, "%zu sites are more than 2^29", catalogue->site_count);
    struct analysis analysis = {.catalogue = catalogue, .source = source, .options = *options};
    if (!analysis.options.bank_bytes) analysis.options.bank_bytes = 4;
    const unsigned threads = cts_thread_count(options->threads);
    struct worker *const workers = cts_array_zeroed(threads, sizeof *workers, error);
    if (!workers) return CTS_MEMORY;
    enum cts_status status = index_launches(&analysis, error);
    for (unsigned i = 0; i < threads && !status; i++)
        status = prepare(&workers[i], &analysis, error);
    if (!status) cts_parallel(threads, work, workers);
    struct rows sum = {0};
    for (unsigned i = 0; i < threads && !status; i++) {
        status = workers[i].status;
        if (status && error) *error = workers[i].error;
        if (!status) status = merge(&sum, &workers[i].rows, error);
        result->record_count += workers[i].record_count;
        result->access_count += workers[i].access_count;
    }
    if (!status) status = collect(&analysis, &sum, result, error);
    note_soundness(&analysis, result);
    if (!status && !options->per_launch) status = cts_access_find(catalogue, result, error);
    for (unsigned i = 0; i < threads; i++) {
        rows_release(&workers[i].rows);
        source->release(&workers[i].batch);
        free(workers[i].recent);
        free(workers[i].used);
    }
    rows_release(&sum);
    cts_map_release(&analysis.launches);
    free(workers);
    if (status) cts_access_release(result);
    return status;
}

void cts_access_release(struct cts_access_result *result)
{
    free(result->sites);
    free(result->findings);
    *result = (struct cts_access_result){0};
}
