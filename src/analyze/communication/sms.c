/* Volumes by multiprocessor, where the catalogue says on which one CTAs ran: a row per launch and
 * SM, and for every node its row, so that what is learnt of a writer later finds it. */
#include <stdlib.h>

#include "analyze/communication/comm-model.h"
#include "common/search.h"

/* The catalogue's rows by launch, CTA, then as written: the last row of a CTA counts. */
static int by_launch_cta(const void *left, const void *right, void *rows_argument)
{
    const struct cts_cta_sm *const rows = rows_argument;
    const uint32_t i = *(const uint32_t *)left, k = *(const uint32_t *)right;
    const struct cts_cta_sm *const a = &rows[i], *const b = &rows[k];
    if (a->launch != b->launch) return a->launch < b->launch ? -1 : 1;
    if (a->cta != b->cta) return a->cta < b->cta ? -1 : 1;
    return (i > k) - (i < k);
}

enum cts_status cts_comm_sms_set_up(struct cts_comm_model *model, struct cts_error *error)
{
    const struct cts_catalogue *const catalogue = model->catalogue;
    const size_t count = catalogue->cta_sm_count;
    if (!count) return CTS_OK;
    if (count > UINT32_MAX)
        return cts_fail(error, CTS_LIMIT, "the catalogue has over 2^32 rows of 'cta_sms'");
    model->sms.order = cts_array_zeroed(count, sizeof *model->sms.order, error);
    model->sms.of_nodes =
        cts_array_zeroed(model->result->node_count, sizeof *model->sms.of_nodes, error);
    if (!model->sms.order || !model->sms.of_nodes) return CTS_MEMORY;
    for (size_t i = 0; i < count; i++) model->sms.order[i] = (uint32_t)i;
    qsort_r(model->sms.order, count, sizeof *model->sms.order, by_launch_cta, catalogue->cta_sms);
    return CTS_OK;
}

/* The first row in sm_order of a launch. */
static size_t first_row(const struct cts_comm_model *model, uint32_t launch)
{
    const struct cts_cta_sm *const rows = model->catalogue->cta_sms;
    return CTS_SEARCH(model->catalogue->cta_sm_count, i, rows[model->sms.order[i]].launch < launch);
}

static int by_sm(const void *left, const void *right)
{
    const struct cts_comm_sm *const a = left, *const b = right;
    return (a->sm > b->sm) - (a->sm < b->sm);
}

/* Adds a row for each SM that the launch's CTAs [begin, end) of sm_order name. */
static enum cts_status add_rows(struct cts_comm_model *model, size_t begin, size_t end,
                                const struct cts_launch *row, struct cts_error *error)
{
    struct cts_comm *const result = model->result;
    struct cts_map sms = {0};
    enum cts_status status = CTS_OK;
    for (size_t i = begin; !status && i < end; i++)
        if (!cts_map_at(&sms, model->catalogue->cta_sms[model->sms.order[i]].sm, error))
            status = CTS_MEMORY;
    const size_t count = result->sm_count + sms.count;
    struct cts_comm_sm *const rows =
        status ? NULL : reallocarray(result->sms, count ? count : 1, sizeof *rows);
    if (!status && !rows)
        status = cts_fail(error, CTS_MEMORY, "no memory for the volumes of %zu SMs", count);
    if (!status) {
        result->sms = rows;
        struct cts_comm_sm *at = rows + result->sm_count;
        for (size_t i = 0; i < sms.capacity; i++)
            if (sms.used[i])
                *at++ = (struct cts_comm_sm){.launch = (uint32_t)model->launch,
                                             .sm = (uint32_t)sms.entries[i].key,
                                             .device = row->device};
        qsort(rows + result->sm_count, sms.count, sizeof *rows, by_sm);
        result->sm_count = count;
    }
    cts_map_release(&sms);
    return status;
}

enum cts_status cts_comm_sms_find(struct cts_comm_model *model, struct cts_error *error)
{
    if (!model->sms.of_nodes) return CTS_OK;
    struct cts_comm *const result = model->result;
    const struct cts_comm_launch *const launch = &result->launches[model->launch];
    const struct cts_launch *const row = &model->catalogue->launches[launch->index];
    const size_t begin = first_row(model, row->launch), first = result->sm_count;
    size_t end = begin;
    while (end < model->catalogue->cta_sm_count &&
           model->catalogue->cta_sms[model->sms.order[end]].launch == row->launch)
        end++;
    const enum cts_status status = add_rows(model, begin, end, row, error);
    if (status) return status;
    for (size_t i = begin; i < end; i++) {
        const struct cts_cta_sm *const sm = &model->catalogue->cta_sms[model->sms.order[i]];
        const bool is_last =
            i + 1 == end || model->catalogue->cta_sms[model->sms.order[i + 1]].cta != sm->cta;
        if (!is_last || sm->cta >= launch->cta_count) continue;
        const struct cts_comm_sm key = {.sm = sm->sm};
        struct cts_comm_sm *const found =
            bsearch(&key, result->sms + first, result->sm_count - first, sizeof key, by_sm);
        found->cta_count++;
        model->sms.of_nodes[launch->first_node - CTS_WRITER_FIRST_NODE + sm->cta] =
            (uint32_t)(found - result->sms) + 1;
    }
    return CTS_OK;
}

void cts_comm_sm_add(struct cts_comm_model *model, uint32_t row,
                     const struct cts_comm_counts *counts)
{
    if (!row) return;
    uint64_t *const sum = (uint64_t *)&model->result->sms[row - 1].counts;
    for (size_t i = 0; i < CTS_COMM_FIELD_COUNT; i++) {
        const uint64_t more = cts_comm_field(counts, i);
        if (more) __atomic_fetch_add(&sum[i], more, __ATOMIC_RELAXED);
    }
}
