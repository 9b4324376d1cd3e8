/* What is no kernel: copies, memsets, frees and the CPU's own accesses. */
#include <stdlib.h>
#include <string.h>

#include "analyze/communication/comm-model.h"
#include "analyze/copy.h"

bool cts_comm_is_host_visible(const struct cts_allocation *allocation)
{
    const char *const kind = allocation->kind ? allocation->kind : "";
    return !strcmp(kind, "managed") || !strcmp(kind, "pinned") || !strcmp(kind, "mapped");
}

/* How many bytes of [start, end) are this process's to count. */
static uint64_t bytes_counted_here(const struct cts_comm_model *model, uint64_t start, uint64_t end)
{
    uint64_t bytes = 0;
    if (!cts_comm_has_regions(model)) return end - start;
    for (uint64_t at = start, stop; at < end; at = stop) {
        const uint64_t last = cts_comm_region_last(&model->regions, at);
        const struct cts_comm_region *const region = cts_comm_region_find(&model->regions, at);
        stop = last < end - 1 ? last + 1 : end;
        if (region && region->owner == model->options.processes->rank) bytes += stop - at;
    }
    return bytes;
}

/* The host reads [start, stop): a column of its own for who wrote it. */
static void read_range(struct cts_comm_model *model, struct cts_shadow_view *view, uint64_t start,
                       uint64_t stop)
{
    size_t hint = 0;
    for (uint64_t at = start; at < stop;) {
        uint32_t writer;
        const uint64_t end = cts_shadow_run(view, at, stop, &writer);
        writer &= CTS_WRITER_MASK;
        if (writer >= CTS_WRITER_FIRST_NODE) {
            const size_t launch = cts_comm_launch_of(model->result, writer, &hint);
            const uint64_t bytes = bytes_counted_here(model, at, end);
            model->result->launches[launch].counts.host_read_bytes += bytes;
            CTS_COMM_CTA_ADD(model, launch, writer, host_read_bytes, bytes);
        }
        at = end;
    }
}

static void read_rows(struct cts_comm_model *model, struct cts_shadow_view *view,
                      const struct cts_copy_rows *g)
{
    for (uint64_t z = 0; z < g->depth; z++) {
        for (uint64_t y = 0; y < g->height; y++) {
            const uint64_t start = cts_copy_row_start(&g->from, z, y);
            read_range(model, view, start, start + g->width);
        }
    }
}

static enum cts_status put_run(void *state, const struct cts_copy_run *run, struct cts_error *error)
{
    struct cts_comm_model *const model = state;
    const enum cts_status status =
        cts_shadow_fill(model->shadow, run->start, run->end, (uint32_t)run->writer, error);
    if (status || (run->writer & CTS_WRITER_MASK) < CTS_WRITER_FIRST_NODE) return status;
    model->result->carried_bytes += run->end - run->start;
    return model->options.processes ? cts_comm_own(model, run->start, run->end, error) : CTS_OK;
}

static bool carries(const struct cts_copy *copy)
{
    return copy->kind && (!strcmp(copy->kind, "DtoD") || !strcmp(copy->kind, "PtoP"));
}

enum cts_status cts_comm_follow_source(struct cts_comm_model *model, const struct cts_copy *copy,
                                       enum cts_status status, struct cts_error *error)
{
    struct cts_copy_rows rows;
    if (!cts_comm_has_regions(model) || !carries(copy) || model->options.paper_model ||
        model->options.ignore_copies)
        return status;
    if (cts_copy_rows_of(copy, true, &rows, NULL) || !rows.width || !rows.height || !rows.depth)
        return status; /* what is wrong cts_comm_copy() says */
    return cts_comm_follow_everywhere(model, rows.from.start, rows.from.end, status, error);
}

enum cts_status cts_comm_copy(struct cts_comm_model *model, const struct cts_copy *copy,
                              struct cts_error *error)
{
    const char *const kind = copy->kind ? copy->kind : "";
    const bool is_memset = !strcmp(kind, "memset");
    struct cts_copy_rows g;
    is_memset ? model->result->memset_count++ : model->result->copy_count++;
    if (model->options.paper_model || model->options.ignore_copies) return CTS_OK;
    const enum cts_status status = cts_copy_rows_of(copy, !is_memset, &g, error);
    if (status || !g.width || !g.height || !g.depth) return status;
    struct cts_shadow_view *const view = &model->workers[0].view;
    if (view->shadow != model->shadow) *view = (struct cts_shadow_view){.shadow = model->shadow};
    if (is_memset || !strcmp(kind, "HtoD") || !strcmp(kind, "HtoH"))
        return cts_copy_fill(model->shadow, &g, CTS_WRITER_HOST, error);
    if (!strcmp(kind, "DtoH")) {
        read_rows(model, view, &g);
        return cts_copy_fill(model->shadow, &g, CTS_WRITER_HOST,
                             error); /* it may be mapped memory */
    }
    if (carries(copy)) return cts_copy_carry(view, &g, put_run, model, error);
    return cts_fail(error, CTS_FORMAT, "copy %u has the unknown kind '%s'", copy->copy, kind);
}

enum cts_status cts_comm_free(struct cts_comm_model *model, const struct cts_allocation *allocation,
                              struct cts_error *error)
{
    if (model->options.paper_model) return CTS_OK;
    if (allocation->size_bytes > UINT64_MAX - allocation->address)
        return cts_fail(error, CTS_FORMAT, "allocation %u extends past the address space",
                        allocation->allocation);
    return cts_shadow_fill(model->shadow, allocation->address,
                           allocation->address + allocation->size_bytes, CTS_WRITER_NOBODY, error);
}

enum cts_status cts_comm_host_access(struct cts_comm_model *model,
                                     const struct cts_host_access *access, struct cts_error *error)
{
    if (model->options.paper_model || model->options.ignore_copies) return CTS_OK;
    if (access->size_bytes > UINT64_MAX - access->address)
        return cts_fail(error, CTS_FORMAT,
                        "a CPU access after op %llu extends past the address space",
                        (unsigned long long)access->op);
    const uint64_t end = access->address + access->size_bytes;
    if (access->is_store)
        return cts_shadow_fill(model->shadow, access->address, end, CTS_WRITER_HOST, error);
    struct cts_shadow_view *const view = &model->workers[0].view;
    if (view->shadow != model->shadow) *view = (struct cts_shadow_view){.shadow = model->shadow};
    read_range(model, view, access->address, end);
    return CTS_OK;
}

/* ---- backwards (retrace.c) ---- */

struct copied_row {
    uint64_t to, from, width_bytes;
};

/* A row of a copy: its destination is dead before the copy, and where it was live the source will
 * be. */
static enum cts_status uncarry_row(struct cts_shadow_view *view, const struct copied_row *row,
                                   struct cts_copy_runs *runs, struct cts_error *error)
{
    const uint64_t to = row->to, from = row->from, to_end = to + row->width_bytes;
    for (uint64_t at = to; at < to_end;) {
        uint32_t writer;
        const uint64_t end = cts_shadow_run(view, at, to_end, &writer);
        if (writer == CTS_WRITER_HOST &&
            cts_copy_runs_add(runs, from + (at - to), from + (end - to), writer, error))
            return CTS_MEMORY;
        at = end;
    }
    return cts_shadow_fill(view->shadow, to, to_end, CTS_WRITER_NOBODY, error);
}

static enum cts_status uncarry(struct cts_comm_model *model, const struct cts_copy_rows *g,
                               struct cts_error *error)
{
    struct cts_shadow_view view = {.shadow = model->shadow};
    struct cts_copy_runs runs = {0};
    enum cts_status status = CTS_OK;
    for (uint64_t z = g->depth; !status && z-- > 0;)
        for (uint64_t y = g->height; !status && y-- > 0;)
            status = uncarry_row(&view,
                                 &(struct copied_row){.to = cts_copy_row_start(&g->to, z, y),
                                                      .from = cts_copy_row_start(&g->from, z, y),
                                                      .width_bytes = g->width},
                                 &runs, error);
    for (size_t i = 0; !status && i < runs.count; i++)
        status = cts_shadow_fill(model->shadow, runs.items[i].start, runs.items[i].end,
                                 CTS_WRITER_HOST, error);
    free(runs.items);
    return status;
}

static enum cts_status uncopy(struct cts_comm_model *model, const struct cts_copy *copy,
                              struct cts_error *error)
{
    const char *const kind = copy->kind ? copy->kind : "";
    struct cts_copy_rows g;
    if (model->options.ignore_copies) return CTS_OK;
    const enum cts_status status = cts_copy_rows_of(copy, strcmp(kind, "memset") != 0, &g, error);
    if (status || !g.width || !g.height || !g.depth) return status;
    if (carries(copy)) return uncarry(model, &g, error);
    return cts_copy_fill(model->shadow, &g, CTS_WRITER_NOBODY, error);
}

enum cts_status cts_comm_untake(struct cts_comm_model *model, const struct cts_step *step,
                                struct cts_error *error)
{
    const struct cts_catalogue *const catalogue = model->catalogue;
    if (model->options.paper_model) return CTS_OK;
    switch (step->kind) {
    case CTS_STEP_COPY:
        return uncopy(model, &catalogue->copies[step->index], error);
    case CTS_STEP_FREE: {
        const struct cts_allocation *const a = &catalogue->allocations[step->index];
        return cts_shadow_fill(model->shadow, a->address, a->address + a->size_bytes,
                               CTS_WRITER_NOBODY, error);
    }
    case CTS_STEP_HOST_ACCESS: {
        const struct cts_host_access *const access = &catalogue->host_accesses[step->index];
        if (!access->is_store || model->options.ignore_copies) return CTS_OK;
        return cts_shadow_fill(model->shadow, access->address, access->address + access->size_bytes,
                               CTS_WRITER_NOBODY, error);
    }
    case CTS_STEP_LAUNCH:
        break;
    }
    return CTS_OK;
}
