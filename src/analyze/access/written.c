/* What was written before a launch: a shadow memory in which a byte that a kernel, copy, memset or
 * the host wrote belongs to the host, and any other to nobody. A copy from device to device takes
 * along whether its source was written. */
#include <string.h>

#include "analyze/access/access-model.h"
#include "analyze/copy.h"

static enum cts_status put_run(void *state, const struct cts_copy_run *run, struct cts_error *error)
{
    const struct cts_access_model *const model = state;
    return cts_shadow_fill(model->written, run->start, run->end, (uint32_t)run->writer, error);
}

static enum cts_status take_copy(struct cts_access_model *model, const struct cts_copy *copy,
                                 struct cts_error *error)
{
    const char *const kind = copy->kind ? copy->kind : "";
    struct cts_copy_rows rows;
    const enum cts_status status =
        cts_copy_rows_of(copy, strcmp(kind, "memset") != 0, &rows, error);
    if (status || !rows.width || !rows.height || !rows.depth) return status;
    if (!strcmp(kind, "DtoD") || !strcmp(kind, "PtoP"))
        return cts_copy_carry(&model->written_view, &rows, put_run, model, error);
    return cts_copy_fill(model->written, &rows, CTS_WRITER_HOST, error);
}

static enum cts_status fill(struct cts_access_model *model, uint64_t start, uint64_t size_bytes,
                            uint32_t writer, struct cts_error *error)
{
    if (size_bytes > UINT64_MAX - start)
        return cts_fail(error, CTS_FORMAT,
                        "an allocation or CPU access of %llu bytes at 0x%llx "
                        "extends past the address space",
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
