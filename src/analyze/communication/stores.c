/* What launches stored, booked when it is known what was read later.
 *
 * While a launch is analysed nobody knows which of its stores will be read. So its strides and the
 * sums of its sites wait. At the end, a launch none of whose bytes were read has no communicating
 * stores; one of which every byte was read, each by one writer, has no others: what waited is
 * booked whole. Launches between the two are *retraced* (retrace.c). */
#include <stdlib.h>
#include <string.h>

#include "analyze/communication/comm-model.h"

/* Different strides of a launch that wait; a launch with more is retraced if need be. */
enum { STRIDES_WAITING_MAX = 4096 };

static uint32_t kernel_of(const struct cts_comm_model *model, size_t launch)
{
    return model->catalogue->launches[model->result->launches[launch].index].kernel;
}

/* The threads' strides in the first one's. */
static enum cts_status join_strides(struct cts_comm_model *model, unsigned kind,
                                    struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (unsigned i = 1; !status && i < model->worker_count; i++) {
        struct cts_strides *const more = &model->workers[i].strides[kind];
        status = cts_strides_merge(&model->workers[0].strides[kind], more, error);
        cts_strides_clear(more);
    }
    return status;
}

static enum cts_status keep_strides(struct cts_comm_model *model, struct cts_comm_stores *stores,
                                    unsigned k, struct cts_error *error)
{
    struct cts_strides *const strides = &model->workers[0].strides[CTS_STRIDE_STORE_LANE + k];
    const size_t count = cts_strides_count(strides);
    if (count > STRIDES_WAITING_MAX) {
        stores->dropped = true;
    } else if (count) {
        stores->strides[k] = cts_array_zeroed(count, sizeof *stores->strides[k], error);
        if (!stores->strides[k]) return CTS_MEMORY;
        for (uint32_t bin = 0; (bin = cts_strides_next(strides, bin)) < CTS_STRIDE_BINS; bin++)
            stores->strides[k][stores->stride_counts[k]++] =
                (struct cts_map_entry){bin, strides->counts[bin]};
    }
    cts_strides_clear(strides);
    return CTS_OK;
}

/* The sites that wrote in this launch, of all threads, in the first one's list. */
static void join_sites(struct cts_comm_model *model)
{
    struct cts_comm_worker *const first = &model->workers[0];
    for (unsigned i = 1; i < model->worker_count; i++) {
        struct cts_comm_worker *const worker = &model->workers[i];
        for (size_t k = 0; k < worker->written_site_count; k++) {
            const uint32_t site = worker->written_sites[k];
            if (!first->written[site].accesses)
                first->written_sites[first->written_site_count++] = site;
            first->written[site].accesses += worker->written[site].accesses;
            first->written[site].access_bytes += worker->written[site].access_bytes;
            worker->written[site] = (struct cts_comm_written){0};
        }
        worker->written_site_count = 0;
    }
}

static enum cts_status keep_sites(struct cts_comm_model *model, struct cts_comm_stores *stores,
                                  struct cts_error *error)
{
    struct cts_comm_worker *const first = &model->workers[0];
    join_sites(model);
    stores->sites = cts_array_zeroed(first->written_site_count, sizeof *stores->sites, error);
    if (!stores->sites) return CTS_MEMORY;
    for (size_t k = 0; k < first->written_site_count; k++) {
        const uint32_t site = first->written_sites[k];
        stores->sites[stores->site_count++] =
            (struct cts_comm_site_sum){.site = site,
                                       .accesses = first->written[site].accesses,
                                       .access_bytes = first->written[site].access_bytes};
        first->written[site] = (struct cts_comm_written){0};
    }
    first->written_site_count = 0;
    return CTS_OK;
}

enum cts_status cts_comm_stores_gather(struct cts_comm_model *model, struct cts_error *error)
{
    const struct cts_comm_launch *const launch = &model->result->launches[model->launch];
    struct cts_comm_stores *const stores = &model->stores[model->launch];
    struct cts_strides *const of_kernel = model->kernel_strides[kernel_of(model, model->launch)];
    enum cts_status status = CTS_OK;
    for (unsigned kind = 0; !status && kind < CTS_STRIDE_KIND_COUNT; kind++)
        status = join_strides(model, kind, error);
    for (unsigned kind = 0; !status && kind < CTS_STRIDE_STORE_LANE; kind++) {
        status = cts_strides_merge(&of_kernel[kind], &model->workers[0].strides[kind], error);
        cts_strides_clear(&model->workers[0].strides[kind]);
    }
    for (unsigned k = 0; !status && k < 2; k++) status = keep_strides(model, stores, k, error);
    for (unsigned i = 0; i < model->worker_count; i++) {
        stores->written_bytes += model->workers[i].node_written_bytes;
        stores->access_bytes += model->workers[i].node_written_access_bytes;
        model->workers[i].node_written_bytes = model->workers[i].node_written_access_bytes = 0;
    }
    stores->contended = launch->counts.conflict_bytes || launch->counts.atomic_shared_bytes;
    return status ? status : keep_sites(model, stores, error);
}

/* ---- at the end ---- */

static enum cts_status book_whole(struct cts_comm_model *model, size_t index,
                                  struct cts_error *error)
{
    const struct cts_comm_stores *const stores = &model->stores[index];
    struct cts_strides *const of_kernel = model->kernel_strides[kernel_of(model, index)];
    for (unsigned k = 0; k < 2; k++) {
        for (size_t i = 0; i < stores->stride_counts[k]; i++) {
            const struct cts_map_entry *const entry = &stores->strides[k][i];
            const enum cts_status status = cts_strides_add_bin(
                &of_kernel[CTS_STRIDE_STORE_LANE + k], (uint32_t)entry->key, entry->value, error);
            if (status) return status;
        }
    }
    for (size_t i = 0; i < stores->site_count; i++) {
        const struct cts_comm_site_sum *const more = &stores->sites[i];
        struct cts_comm_site_sum *const sum = &model->workers[0].site_sums[more->site];
        sum->sent_accesses += more->accesses;
        sum->sent_access_bytes += more->access_bytes;
    }
    model->result->launches[index].communicated_out_access_bytes = stores->access_bytes;
    return CTS_OK;
}

/* What the processes know of a launch, together. */
struct known {
    uint64_t written_bytes, read_bytes, dropped, contended; /* the last two: by how many */
};
_Static_assert(sizeof(struct known) == 4 * sizeof(uint64_t), "they are added up as words");

static void sum_up(struct cts_comm_model *model, struct known *known)
{
    const size_t count = model->result->launch_count;
    for (size_t i = 0; i < count; i++)
        known[i] = (struct known){model->stores[i].written_bytes,
                                  model->result->launches[i].counts.communicated_out_bytes,
                                  model->stores[i].dropped, model->stores[i].contended};
    cts_processes_reduce_u64(model->options.processes, (uint64_t *)known, 4 * count,
                             CTS_REDUCE_SUM);
    for (size_t i = 0; i < count; i++) model->stores[i].contended = known[i].contended > 0;
}

enum cts_status cts_comm_stores_resolve(struct cts_comm_model *model, bool *wanted,
                                        struct cts_error *error)
{
    struct cts_comm *const result = model->result;
    const size_t count = result->launch_count;
    struct known *const known = cts_array_zeroed(count, sizeof *known, error);
    enum cts_status status = known ? CTS_OK : CTS_MEMORY;
    if (!cts_processes_agree(model->options.processes, &status, error)) goto out;
    sum_up(model, known);
    for (size_t i = 0; !status && i < count; i++) {
        const struct cts_comm_stores *const stores = &model->stores[i];
        const bool is_whole = !stores->contended && !stores->carried && !known[i].dropped &&
                              known[i].read_bytes == known[i].written_bytes;
        if (!known[i].read_bytes) continue;
        if (is_whole)
            status = book_whole(model, i, error);
        else
            wanted[i] = true;
        result->retraced_launches += wanted[i];
    }
    (void)cts_processes_agree(model->options.processes, &status, error);
out:
    free(known);
    return status;
}

void cts_comm_stores_release(struct cts_comm_model *model)
{
    for (size_t i = 0; model->stores && i < model->result->launch_count; i++) {
        free(model->stores[i].strides[0]);
        free(model->stores[i].strides[1]);
        free(model->stores[i].sites);
    }
    free(model->stores);
    model->stores = NULL;
    for (size_t i = 0; model->kernel_strides && i < model->kernel_limit; i++)
        for (unsigned kind = 0; kind < CTS_STRIDE_KIND_COUNT; kind++)
            cts_strides_release(&model->kernel_strides[i][kind]);
    free(model->kernel_strides);
    model->kernel_strides = NULL;
}

/* ---- the result ---- */

static void add_totals(struct cts_comm *result)
{
    for (size_t i = 0; i < result->stride_count; i++)
        for (unsigned kind = 0; kind < CTS_STRIDE_KIND_COUNT; kind++)
            for (size_t k = 0; k < result->strides[i].counts[kind]; k++)
                result->strides[i].totals[kind] += result->strides[i].entries[kind][k].count;
}

enum cts_status cts_comm_strides_conclude(struct cts_comm_model *model, struct cts_error *error)
{
    struct cts_comm *const result = model->result;
    result->stride_count = result->kernel_count + 1;
    result->strides = cts_array_zeroed(result->stride_count, sizeof *result->strides, error);
    if (!result->strides) return CTS_MEMORY;
    for (unsigned kind = 0; kind < CTS_STRIDE_KIND_COUNT; kind++) {
        struct cts_strides all = {0};
        enum cts_status status = CTS_OK;
        for (size_t i = 0; !status && i < result->kernel_count; i++) {
            const struct cts_strides *const strides =
                &model->kernel_strides[result->kernels[i].kernel][kind];
            struct cts_comm_kernel_strides *const row = &result->strides[i + 1];
            row->kernel = i;
            row->entries[kind] = cts_strides_sorted(strides, &row->counts[kind], error);
            status = row->entries[kind] ? cts_strides_merge(&all, strides, error) : CTS_MEMORY;
        }
        result->strides[0].kernel = SIZE_MAX;
        if (!status)
            result->strides[0].entries[kind] =
                cts_strides_sorted(&all, &result->strides[0].counts[kind], error);
        cts_strides_release(&all);
        if (!result->strides[0].entries[kind]) return CTS_MEMORY;
    }
    add_totals(result);
    return CTS_OK;
}
