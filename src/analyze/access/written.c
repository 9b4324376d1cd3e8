/* What was written before a launch: a shadow memory in which a byte that a kernel, copy, memset or
 * the host wrote belongs to the host, and any other to nobody. A copy from device to device takes
 * along whether its source was written. */
#include <stdlib.h>
#include <string.h>

#include "analyze/access/model.h"
#include "analyze/copy.h"

/* A stretch of a copy's destination that is written, or is not. */
struct run {
    uint64_t start, end;
    uint32_t writer;
};
struct runs {
    struct run *items;
    size_t count, capacity;
};

static enum cts_status put_runs(struct cts_access_model *model, struct runs *runs,
                                struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < runs->count && !status; i++)
        status = cts_shadow_fill(model->written, runs->items[i].start, runs->items[i].end,
                                 runs->items[i].writer, error);
    runs->count = 0;
    return status;
}

static enum cts_status carry_row(struct cts_access_model *model, uint64_t from, uint64_t to,
                                 uint64_t width, struct runs *runs, struct cts_error *error)
{
    for (uint64_t at = from, end; at < from + width; at = end) {
        uint32_t writer;
        end = cts_shadow_run(&model->written_view, at, from + width, &writer);
        if (CTS_ARRAY_RESERVE(runs, runs->count + 1, error)) return CTS_MEMORY;
        runs->items[runs->count++] = (struct run){to + (at - from), to + (end - from), writer};
    }
    return CTS_OK;
}

/* Rows are put as they come, unless the two sides overlap: a copy reads all before it writes. */
static enum cts_status carry(struct cts_access_model *model, const struct cts_copy_rows *rows,
                             struct cts_error *error)
{
    struct runs runs = {0};
    enum cts_status status = CTS_OK;
    for (uint64_t z = 0; z < rows->depth && !status; z++)
        for (uint64_t y = 0; y < rows->height && !status; y++) {
            status = carry_row(model, cts_copy_row_start(&rows->from, z, y),
                               cts_copy_row_start(&rows->to, z, y), rows->width, &runs, error);
            if (!status && !rows->overlapping) status = put_runs(model, &runs, error);
        }
    if (!status) status = put_runs(model, &runs, error);
    free(runs.items);
    return status;
}

static enum cts_status take_copy(struct cts_access_model *model, const struct cts_copy *copy,
                                 struct cts_error *error)
{
    const char *const kind = copy->kind ? copy->kind : "";
    struct cts_copy_rows rows;
    enum cts_status status = cts_copy_rows_of(copy, strcmp(kind, "memset") != 0, &rows, error);
    if (status || !rows.width || !rows.height || !rows.depth) return status;
    if (!strcmp(kind, "DtoD") || !strcmp(kind, "PtoP")) return carry(model, &rows, error);
    for (uint64_t z = 0; z < rows.depth && !status; z++)
        for (uint64_t y = 0; y < rows.height && !status; y++) {
            const uint64_t start = cts_copy_row_start(&rows.to, z, y);
            status =
                cts_shadow_fill(model->written, start, start + rows.width, CTS_WRITER_HOST, error);
        }
    return status;
}

static enum cts_status fill(struct cts_access_model *model, uint64_t start, uint64_t size_bytes,
                            uint32_t writer, struct cts_error *error)
{
    if (size_bytes > UINT64_MAX - start)
        return cts_fail(error, CTS_FORMAT,
                        "an allocation or CPU access of %llu bytes at 0x%llx "
                        "passes the end of memory",
                        (unsigned long long)size_bytes, (unsigned long long)start);
    return cts_shadow_fill(model->written, start, start + size_bytes, writer, error);
}

enum cts_status cts_access_take_step(struct cts_access_model *model, const struct cts_step *step,
                                     struct cts_error *error)
{
    const struct cts_catalogue *const catalogue = model->catalogue;
    if (!model->written) return CTS_OK;
    switch (step->kind) {
    case CTS_STEP_COPY:
        return take_copy(model, &catalogue->copies[step->index], error);
    case CTS_STEP_FREE: {
        const struct cts_allocation *const a = &catalogue->allocations[step->index];
        return fill(model, a->address, a->size_bytes, CTS_WRITER_NOBODY, error);
    }
    case CTS_STEP_HOST_ACCESS: {
        const struct cts_host_access *const access = &catalogue->host_accesses[step->index];
        if (!access->is_store) return CTS_OK;
        return fill(model, access->address, access->size_bytes, CTS_WRITER_HOST, error);
    }
    case CTS_STEP_LAUNCH:
        break;
    }
    return CTS_OK;
}
