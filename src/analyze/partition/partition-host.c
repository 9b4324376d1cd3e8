/* What is no kernel: copies, memsets, frees and the CPU's own accesses, as the communication
 * analysis has them. A device-to-device copy carries writers; nobody has read the copy yet, so that
 * histories stay behind. Writers are collected from all regions, of all processes, before any is
 * set: a copy reads all before it writes. */
#include <string.h>

#include "analyze/copy.h"
#include "analyze/partition/partition-model.h"

/* Every region gets the whole range: parts of other regions lie there unread. */
static enum cts_status fill(struct cts_partition_model *model, uint64_t start, uint64_t end,
                            uint32_t writer, struct cts_error *error)
{
    for (unsigned r = 0; r < model->thread_count; r++) {
        struct cts_partition_region *const region = &model->regions[r];
        enum cts_status status = cts_shadow_fill(region->writers, start, end, writer, error);
        if (!status) status = cts_shadow_fill(region->histories, start, end, 0, error);
        if (status) return status;
    }
    return CTS_OK;
}

static enum cts_status fill_rows(struct cts_partition_model *model,
                                 const struct cts_copy_rows *rows, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (uint64_t z = 0; !status && z < rows->depth; z++) {
        for (uint64_t y = 0; !status && y < rows->height; y++) {
            const uint64_t start = cts_copy_row_start(&rows->to, z, y);
            status = fill(model, start, start + rows->width, CTS_WRITER_HOST, error);
        }
    }
    return status;
}

/* A row of a copy. */
struct row {
    uint64_t from, to, width;
};

/* The writers of this process's bytes of a row. */
static enum cts_status collect_row(struct cts_partition_model *model, struct row row,
                                   struct cts_copy_runs *runs, struct cts_error *error)
{
    const uint64_t stop = row.from + row.width;
    for (uint64_t at = row.from; at < stop;) {
        const uint64_t block_last = at | ((UINT64_C(1) << CTS_SHADOW_BLOCK_BITS) - 1);
        const uint64_t block_end = block_last < stop - 1 ? block_last + 1 : stop;
        struct cts_partition_region *const region = cts_partition_own_region(model, at);
        while (region && at < block_end) {
            uint32_t writer;
            const uint64_t end = cts_shadow_run(&region->writer_view, at, block_end, &writer);
            if (cts_copy_runs_add(runs, row.to + (at - row.from), row.to + (end - row.from), writer,
                                  error))
                return CTS_MEMORY;
            at = end;
        }
        at = block_end;
    }
    return CTS_OK;
}

/* Sets the part of a run that lies in this process's regions. */
static enum cts_status put_run(struct cts_partition_model *model, const struct cts_copy_run *run,
                               struct cts_error *error)
{
    for (uint64_t at = run->start; at < run->end;) {
        const uint64_t block_last = at | ((UINT64_C(1) << CTS_SHADOW_BLOCK_BITS) - 1);
        const uint64_t end = block_last < run->end - 1 ? block_last + 1 : run->end;
        struct cts_partition_region *const region = cts_partition_own_region(model, at);
        enum cts_status status = CTS_OK;
        if (region)
            status = cts_shadow_fill(region->writers, at, end, (uint32_t)run->writer, error);
        if (region && !status) status = cts_shadow_fill(region->histories, at, end, 0, error);
        if (status) return status;
        at = end;
    }
    return CTS_OK;
}

static enum cts_status carry(struct cts_partition_model *model, const struct cts_copy_rows *rows,
                             struct cts_error *error)
{
    struct cts_copy_runs mine = {0};
    enum cts_status status = CTS_OK;
    for (uint64_t z = 0; !status && z < rows->depth; z++)
        for (uint64_t y = 0; !status && y < rows->height; y++) {
            const struct row row = {cts_copy_row_start(&rows->from, z, y),
                                    cts_copy_row_start(&rows->to, z, y), rows->width};
            status = collect_row(model, row, &mine, error);
        }
    if (!cts_processes_agree(model->processes, &status, error)) {
        free(mine.items);
        return status;
    }
    void *all = mine.items;
    size_t *offsets = NULL, all_bytes = mine.count * sizeof *mine.items;
    if (model->process_count > 1) {
        status = cts_processes_all_gather(model->processes,
                                          (struct cts_sent_block){mine.items, all_bytes}, &all,
                                          &offsets, error);
        if (!status) all_bytes = offsets[model->process_count];
        free(mine.items);
    }
    const struct cts_copy_run *const runs = all;
    for (size_t i = 0; !status && i < all_bytes / sizeof *runs; i++)
        status = put_run(model, &runs[i], error);
    free(offsets);
    if (!status || model->process_count == 1) free(all);
    return status;
}

enum cts_status cts_partition_copy(struct cts_partition_model *model, const struct cts_copy *copy,
                                   struct cts_error *error)
{
    const char *const kind = copy->kind ? copy->kind : "";
    const bool is_memset = !strcmp(kind, "memset");
    struct cts_copy_rows rows;
    if (model->options.paper_model) return CTS_OK;
    const enum cts_status status = cts_copy_rows_of(copy, !is_memset, &rows, error);
    if (status || !rows.width || !rows.height || !rows.depth) return status;
    if (is_memset || !strcmp(kind, "HtoD") || !strcmp(kind, "HtoH") || !strcmp(kind, "DtoH"))
        return fill_rows(model, &rows, error); /* what DtoH writes may be mapped memory */
    if (!strcmp(kind, "DtoD") || !strcmp(kind, "PtoP")) return carry(model, &rows, error);
    return cts_fail(error, CTS_FORMAT, "copy %u has the unknown kind '%s'", copy->copy, kind);
}

/* Pages that lie wholly in freed memory lose their homes. */
static void forget_homes(struct cts_partition_model *model, uint64_t start, uint64_t end)
{
    const unsigned bits = model->page_bits;
    const uint64_t first = (start + (UINT64_C(1) << bits) - 1) >> bits, last = end >> bits;
    for (unsigned r = 0; r < model->thread_count; r++) {
        struct cts_map *const homes = &model->regions[r].homes;
        if (last > first && last - first > homes->capacity) {
            for (size_t i = 0; i < homes->capacity; i++)
                if (homes->used[i] && homes->entries[i].key >= first &&
                    homes->entries[i].key < last)
                    homes->entries[i].value = 0;
            continue;
        }
        for (uint64_t page = first; page < last; page++) {
            const uint64_t *const home = cts_map_find(homes, page);
            if (home) *(uint64_t *)(uintptr_t)home = 0;
        }
    }
}

enum cts_status cts_partition_free(struct cts_partition_model *model,
                                   const struct cts_allocation *allocation, struct cts_error *error)
{
    if (model->options.paper_model) return CTS_OK;
    if (allocation->size_bytes > UINT64_MAX - allocation->address)
        return cts_fail(error, CTS_FORMAT, "allocation %u extends past the address space",
                        allocation->allocation);
    const uint64_t end = allocation->address + allocation->size_bytes;
    forget_homes(model, allocation->address, end);
    return fill(model, allocation->address, end, CTS_WRITER_NOBODY, error);
}

enum cts_status cts_partition_host_access(struct cts_partition_model *model,
                                          const struct cts_host_access *access,
                                          struct cts_error *error)
{
    if (model->options.paper_model) return CTS_OK;
    if (access->size_bytes > UINT64_MAX - access->address)
        return cts_fail(error, CTS_FORMAT,
                        "a CPU access after op %llu extends past the address space",
                        (unsigned long long)access->op);
    if (!access->is_store) return CTS_OK;
    return fill(model, access->address, access->address + access->size_bytes, CTS_WRITER_HOST,
                error);
}
