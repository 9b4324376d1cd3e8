/* Which launches there are, in which order, and what was recorded of each.
 *
 * Nodes are numbered launch after launch in the order in which launches run, from
 * CTS_WRITER_FIRST_NODE on; launches of which nothing was recorded have none. */
#include <string.h>

#include "analyze/shadow.h"
#include "analyze/summary/summary.h"
#include "common/array.h"
#include "common/search.h"

static const struct cts_kernel *find_kernel(const struct cts_catalogue *catalogue, uint32_t kernel)
{
    const size_t at = CTS_SEARCH(catalogue->kernel_count, i, catalogue->kernels[i].kernel < kernel);
    return at < catalogue->kernel_count && catalogue->kernels[at].kernel == kernel
               ? &catalogue->kernels[at]
               : NULL;
}

bool cts_summary_is_incomplete(const struct cts_catalogue *catalogue, const struct cts_launch *row)
{
    const struct cts_rank *const rank = cts_catalogue_find_rank(catalogue, row->rank);
    const struct cts_kernel *const kernel = find_kernel(catalogue, row->kernel);
    return (row->recorded && strcmp(row->recorded, "all") != 0) || row->dropped_accesses ||
           (kernel && !kernel->instrumented) || (rank && !rank->end_ns && !row->end_ns) ||
           row->missing_records || row->missing_accesses;
}

static enum cts_status number_launches(struct cts_summary_plan *plan, struct cts_error *error)
{
    const struct cts_catalogue *const catalogue = plan->catalogue;
    plan->launches = cts_array_zeroed(catalogue->launch_count, sizeof *plan->launches, error);
    if (!plan->launches) return CTS_MEMORY;
    for (size_t i = 0; i < plan->order.step_count; i++) {
        const struct cts_step *const step = &plan->order.steps[i];
        if (step->kind != CTS_STEP_LAUNCH) continue;
        const struct cts_launch *const row = &catalogue->launches[step->index];
        struct cts_summary_launch *const launch = &plan->launches[plan->launch_count++];
        *launch =
            (struct cts_summary_launch){.index = step->index,
                                        .rank = step->rank,
                                        .superstep = step->superstep,
                                        .ordinal = step->launch_ordinal,
                                        .incomplete = cts_summary_is_incomplete(catalogue, row)};
        const enum cts_status status = cts_walk_count_ctas(row, &launch->cta_count, error);
        if (status) return status;
        plan->unrecorded_launches += launch->incomplete;
    }
    return CTS_OK;
}

struct by_id {
    uint32_t id;
    size_t index; /* in plan->launches */
};

static int compare_ids(const void *left, const void *right)
{
    const struct by_id *const a = left, *const b = right;
    return (a->id > b->id) - (a->id < b->id);
}

/* Chunks of launches below `launch` that are nobody's: passed over, or damage. */
static enum cts_status skip_chunks(struct cts_summary_plan *plan, uint64_t launch, size_t *chunk,
                                   struct cts_error *error)
{
    const struct cts_access_source *const source = plan->source;
    const bool fine = cts_catalogue_may_be_behind(plan->catalogue);
    while (*chunk < source->chunk_count && source->chunks[*chunk].launch < launch) {
        const uint32_t stray = source->chunks[*chunk].launch;
        if (!fine)
            return cts_fail(error, CTS_FORMAT,
                            "access file %u has records of launch %u, which the catalogue does not "
                            "have",
                            source->chunks[*chunk].file, stray);
        plan->unrecorded_launches++;
        while (*chunk < source->chunk_count && source->chunks[*chunk].launch == stray) ++*chunk;
    }
    return CTS_OK;
}

/* Which chunks belong to which launch; both are walked by launch id. */
static enum cts_status assign_chunks(struct cts_summary_plan *plan, struct cts_error *error)
{
    const struct cts_access_source *const source = plan->source;
    struct by_id *const ids = cts_array_zeroed(plan->launch_count, sizeof *ids, error);
    if (!ids) return CTS_MEMORY;
    for (size_t i = 0; i < plan->launch_count; i++)
        ids[i] = (struct by_id){plan->catalogue->launches[plan->launches[i].index].launch, i};
    qsort(ids, plan->launch_count, sizeof *ids, compare_ids);
    enum cts_status status = CTS_OK;
    size_t chunk = 0;
    for (size_t i = 0; !status && i < plan->launch_count; i++) {
        status = skip_chunks(plan, ids[i].id, &chunk, error);
        struct cts_summary_launch *const launch = &plan->launches[ids[i].index];
        launch->chunk_begin = chunk;
        while (chunk < source->chunk_count && source->chunks[chunk].launch == ids[i].id) chunk++;
        launch->chunk_end = chunk;
    }
    if (!status) status = skip_chunks(plan, UINT64_MAX, &chunk, error);
    free(ids);
    return status;
}

static enum cts_status number_nodes(struct cts_summary_plan *plan, struct cts_error *error)
{
    uint64_t node = CTS_WRITER_FIRST_NODE;
    for (size_t i = 0; i < plan->launch_count; i++) {
        struct cts_summary_launch *const launch = &plan->launches[i];
        const struct cts_launch *const row = &plan->catalogue->launches[launch->index];
        const bool recorded = !row->recorded || strcmp(row->recorded, "none") != 0;
        launch->first_node = node;
        launch->counted = recorded || launch->chunk_begin < launch->chunk_end;
        if (!launch->counted) continue;
        if (launch->cta_count > CTS_WRITER_MASK - node)
            return cts_fail(error, CTS_LIMIT, "the launches up to %u have over %d CTAs together",
                            row->launch, CTS_WRITER_MASK);
        node += launch->cta_count;
    }
    plan->node_count = node - CTS_WRITER_FIRST_NODE;
    return CTS_OK;
}

static void judge_soundness(struct cts_summary_plan *plan)
{
    const struct cts_catalogue *const catalogue = plan->catalogue;
    for (size_t i = 0; i < catalogue->rank_count; i++)
        plan->dropped_accesses += catalogue->ranks[i].dropped_accesses;
    const char *const key =
        catalogue->private_data ? cts_catalogue_get(catalogue, "host_accesses") : NULL;
    plan->host_seen = catalogue->host_access_count > 0 || (key && !strcmp(key, "1"));
    for (size_t i = 0; i < catalogue->allocation_count && !plan->host_seen; i++) {
        const char *const kind = catalogue->allocations[i].kind;
        plan->unseen_allocations += kind && (!strcmp(kind, "managed") || !strcmp(kind, "pinned") ||
                                             !strcmp(kind, "mapped"));
    }
    plan->incomplete_files = plan->source->incomplete_count;
    bool is_unfinished = false; /* a rank that is not known to have recorded everything */
    for (size_t i = 0; i < catalogue->rank_count; i++) is_unfinished |= !catalogue->ranks[i].end_ns;
    plan->lower_bound = plan->unrecorded_launches || plan->dropped_accesses ||
                        plan->incomplete_files || is_unfinished || cts_gaps_any(&catalogue->gaps);
}

enum cts_status cts_summary_plan_make(const struct cts_catalogue *catalogue,
                                      const struct cts_access_source *source,
                                      struct cts_summary_plan *plan, struct cts_error *error)
{
    *plan = (struct cts_summary_plan){.catalogue = catalogue, .source = source};
    enum cts_status status = cts_order_build(catalogue, &plan->order, error);
    if (!status) status = cts_walk_sites_make(catalogue, &plan->sites, error);
    if (!status) status = number_launches(plan, error);
    if (!status) status = assign_chunks(plan, error);
    if (!status) status = number_nodes(plan, error);
    if (!status)
        judge_soundness(plan);
    else
        cts_summary_plan_release(plan);
    return status;
}

void cts_summary_plan_release(struct cts_summary_plan *plan)
{
    cts_order_release(&plan->order);
    cts_walk_sites_release(&plan->sites);
    free(plan->launches);
    *plan = (struct cts_summary_plan){0};
}

size_t cts_summary_launch_of(const struct cts_summary_plan *plan, uint32_t node, size_t *hint)
{
    const struct cts_summary_launch *const launches = plan->launches;
    const size_t count = plan->launch_count;
    size_t low = *hint;
    if (low < count && launches[low].counted && launches[low].first_node <= node &&
        node - launches[low].first_node < launches[low].cta_count)
        return low;
    low = CTS_SEARCH(count, i, launches[i].first_node <= node);
    if (low > 0) low--; /* the last launch that begins at or before the node */
    while (low > 0 && !launches[low].counted) low--; /* it shares its first node with the next */
    *hint = low;
    return low;
}
