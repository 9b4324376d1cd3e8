/* Putting together what the processes of one analysis found (exchange.c says how they share it).
 *
 * A transfer belongs to its reader, so that no pair is found twice; what concerns bytes belongs to
 * the owner of their region; what all processes find alike the first of them counts. So most
 * results are sums. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/communication/comm-model.h"

static unsigned process_count(const struct cts_comm_model *model)
{
    return model->options.processes ? model->options.processes->count : 1;
}

/* All processes' items of a list, in a new array. */
static void *gather_list(const struct cts_comm_model *model, const void *items, size_t item_bytes,
                         size_t *count, struct cts_error *error)
{
    void *all;
    size_t *offsets;
    if (cts_processes_all_gather(model->options.processes,
                                 (struct cts_sent_block){items, *count * item_bytes}, &all,
                                 &offsets, error))
        return NULL;
    *count = offsets[process_count(model)] / item_bytes;
    free(offsets);
    return all;
}

static enum cts_status merge_map(const struct cts_comm_model *model, struct cts_map *map,
                                 struct cts_error *error)
{
    size_t count = map->count;
    struct cts_map_entry *const mine = cts_map_sorted(map, error);
    enum cts_status status = mine ? CTS_OK : CTS_MEMORY;
    struct cts_map_entry *all = NULL;
    if (cts_processes_agree(model->options.processes, &status, error)) {
        all = gather_list(model, mine, sizeof *mine, &count, error);
        if (!all) status = CTS_MEMORY;
    }
    struct cts_map sum = {0};
    for (size_t i = 0; !status && i < count; i++) {
        uint64_t *const value = cts_map_at(&sum, all[i].key, error);
        if (!value) status = CTS_MEMORY;
        if (value) *value += all[i].value;
    }
    free(mine);
    free(all);
    cts_map_release(map);
    *map = sum;
    return status;
}

/* Sums in items of a kind: `word_count` numbers of 64 bits at `offset_bytes` of each. */
struct sums {
    void *items;
    size_t count, item_bytes;
    size_t offset_bytes, word_count;
};

static enum cts_status add_up(const struct cts_comm_model *model, const struct sums *sums,
                              struct cts_error *error)
{
    const size_t count = sums->count, row_bytes = sums->word_count * sizeof(uint64_t);
    assert(sums->offset_bytes + row_bytes <= sums->item_bytes);
    if (!count) return CTS_OK; /* on all processes alike */
    char *const rows = cts_array_zeroed(count, row_bytes, error);
    enum cts_status status = rows ? CTS_OK : CTS_MEMORY;
    if (!cts_processes_agree(model->options.processes, &status, error)) goto out;
    char *const first = (char *)sums->items + sums->offset_bytes;
    for (size_t i = 0; i < count; i++)
        memcpy(rows + i * row_bytes, first + i * sums->item_bytes, row_bytes);
    cts_processes_reduce_u64(model->options.processes, (uint64_t *)(void *)rows,
                             count * sums->word_count, CTS_REDUCE_SUM);
    for (size_t i = 0; i < count; i++)
        memcpy(first + i * sums->item_bytes, rows + i * row_bytes, row_bytes);
out:
    free(rows);
    return status;
}

/* Sums by launch. */
static enum cts_status merge_launches(struct cts_comm_model *model, struct cts_error *error)
{
    struct cts_comm *const result = model->result;
    const struct sums sums = {.items = result->launches,
                              .count = result->launch_count,
                              .item_bytes = sizeof *result->launches,
                              .offset_bytes = offsetof(struct cts_comm_launch, counts),
                              .word_count = CTS_COMM_FIELD_COUNT + 1};
    return add_up(model, &sums, error);
}

static enum cts_status merge_degrees(struct cts_comm_model *model, struct cts_error *error)
{
    struct cts_comm *const result = model->result;
    size_t count = result->launch_count;
    struct cts_comm_degree *const mine = cts_array_zeroed(count, sizeof *mine, error);
    enum cts_status status = mine ? CTS_OK : CTS_MEMORY;
    for (size_t i = 0; mine && i < count; i++) mine[i] = result->launches[i].in_degree;
    struct cts_comm_degree *all = NULL;
    if (cts_processes_agree(model->options.processes, &status, error)) {
        all = gather_list(model, mine, sizeof *mine, &count, error);
        if (!all) status = CTS_MEMORY;
    }
    for (size_t i = 0; !status && i < result->launch_count; i++) {
        result->launches[i].in_degree = (struct cts_comm_degree){0};
        for (size_t k = i; k < count; k += result->launch_count)
            cts_comm_degree_add(&result->launches[i].in_degree, &all[k]);
    }
    free(mine);
    free(all);
    return status;
}

static int by_reader_writer(const void *left, const void *right)
{
    const struct cts_comm_pair *const a = left, *const b = right;
    if (a->reader != b->reader) return a->reader < b->reader ? -1 : 1;
    return (a->writer > b->writer) - (a->writer < b->writer);
}

static enum cts_status merge_pairs(struct cts_comm_model *model, struct cts_error *error)
{
    size_t count = model->pairs.count, kept = 0;
    struct cts_comm_pair *const all =
        gather_list(model, model->pairs.items, sizeof *all, &count, error);
    if (!all) return CTS_MEMORY;
    qsort(all, count, sizeof *all, by_reader_writer);
    for (size_t i = 0; i < count; i++) {
        if (kept && !by_reader_writer(&all[kept - 1], &all[i]))
            cts_comm_pair_combine(&all[kept - 1], &all[i]);
        else
            all[kept++] = all[i];
    }
    free(model->pairs.items);
    model->pairs.items = all;
    model->pairs.count = kept;
    model->pairs.capacity = count;
    return CTS_OK;
}

static enum cts_status merge_transfers(struct cts_comm_model *model, struct cts_error *error)
{
    struct cts_comm_transfers *const list = &model->transfers;
    const size_t most =
        model->options.transfer_max ? model->options.transfer_max : CTS_COMM_TRANSFER_MAX;
    size_t count = list->count;
    struct cts_comm_transfer *const all =
        gather_list(model, list->items, sizeof *all, &count, error);
    if (!all) return CTS_MEMORY;
    free(list->items);
    *list = (struct cts_comm_transfers){.items = all, .count = count, .capacity = count};
    cts_processes_reduce_u64(model->options.processes, &model->result->transfers_left_out, 1,
                             CTS_REDUCE_SUM);
    cts_comm_transfers_cut(list, most, &model->result->transfers_left_out);
    return CTS_OK;
}

static int by_size(const void *left, const void *right)
{
    const struct cts_comm_transfer *const a = left, *const b = right;
    return cts_comm_is_less(a, b) - cts_comm_is_less(b, a);
}

static enum cts_status merge_top(struct cts_comm_model *model, struct cts_error *error)
{
    struct cts_comm *const result = model->result;
    size_t count = result->top_count;
    struct cts_comm_transfer *const all =
        gather_list(model, result->top, sizeof *all, &count, error);
    if (!all) return CTS_MEMORY;
    free(result->top);
    qsort(all, count, sizeof *all, by_size);
    result->top = all;
    result->top_count = count < model->options.top_count ? count : model->options.top_count;
    return CTS_OK;
}

struct stride_item {
    uint64_t kernel, kind, bin, count;
};

static enum cts_status merge_strides(struct cts_comm_model *model, struct cts_error *error)
{
    struct {
        struct stride_item *items;
        size_t count, capacity;
    } mine = {0};
    enum cts_status status = CTS_OK;
    for (size_t kernel = 0; kernel < model->kernel_limit; kernel++) {
        for (unsigned kind = 0; kind < CTS_STRIDE_KIND_COUNT; kind++) {
            struct cts_strides *const strides = &model->kernel_strides[kernel][kind];
            for (uint32_t bin = 0;
                 !status && (bin = cts_strides_next(strides, bin)) < CTS_STRIDE_BINS; bin++) {
                status = CTS_ARRAY_RESERVE(&mine, mine.count + 1, error);
                if (!status)
                    mine.items[mine.count++] =
                        (struct stride_item){kernel, kind, bin, strides->counts[bin]};
            }
            cts_strides_clear(strides);
        }
    }
    size_t count = mine.count;
    struct stride_item *all = NULL;
    if (cts_processes_agree(model->options.processes, &status, error)) {
        all = gather_list(model, mine.items, sizeof *all, &count, error);
        if (!all) status = CTS_MEMORY;
    }
    for (size_t i = 0; !status && i < count; i++)
        status = cts_strides_add_bin(&model->kernel_strides[all[i].kernel][all[i].kind],
                                     (uint32_t)all[i].bin, all[i].count, error);
    free(mine.items);
    free(all);
    return status;
}

_Static_assert(offsetof(struct cts_comm_launch, communicated_out_access_bytes) ==
                   offsetof(struct cts_comm_launch, counts) + sizeof(struct cts_comm_counts),
               "the sums of a launch follow one another");
_Static_assert(offsetof(struct cts_comm_site_sum, sent_access_bytes) -
                       offsetof(struct cts_comm_site_sum, accesses) ==
                   5 * sizeof(uint64_t),
               "six sums of a site follow one another");
_Static_assert(offsetof(struct cts_comm_allocation, communicated_out_bytes) -
                       offsetof(struct cts_comm_allocation, read_bytes) ==
                   3 * sizeof(uint64_t),
               "four sums of an allocation follow one another");

static enum cts_status merge_sites(struct cts_comm_model *model, struct cts_error *error)
{
    const struct sums sums = {.items = model->workers[0].site_sums,
                              .count = model->catalogue->site_count,
                              .item_bytes = sizeof(struct cts_comm_site_sum),
                              .offset_bytes = offsetof(struct cts_comm_site_sum, accesses),
                              .word_count = 6};
    return add_up(model, &sums, error);
}

static enum cts_status merge_places(struct cts_comm_model *model, struct cts_error *error)
{
    const struct sums sums = {.items = model->workers[0].places.sums,
                              .count = model->catalogue->allocation_count + 1,
                              .item_bytes = sizeof(struct cts_comm_allocation),
                              .offset_bytes = offsetof(struct cts_comm_allocation, read_bytes),
                              .word_count = 4};
    return add_up(model, &sums, error);
}

static enum cts_status merge_devices(struct cts_comm_model *model, struct cts_error *error)
{
    const struct sums sums = {.items = model->workers[0].device_sums,
                              .count = cts_comm_device_cells(model),
                              .item_bytes = sizeof(struct cts_comm_device_sum),
                              .word_count = 2};
    return add_up(model, &sums, error);
}

static enum cts_status merge_sms(struct cts_comm_model *model, struct cts_error *error)
{
    struct cts_comm *const result = model->result;
    const struct sums sums = {.items = result->sms,
                              .count = result->sm_count,
                              .item_bytes = sizeof *result->sms,
                              .offset_bytes = offsetof(struct cts_comm_sm, counts),
                              .word_count = CTS_COMM_FIELD_COUNT};
    return add_up(model, &sums, error);
}

static enum cts_status merge_rest(struct cts_comm_model *model, struct cts_error *error)
{
    const struct cts_processes *const processes = model->options.processes;
    struct cts_comm *const result = model->result;
    (void)error;
    for (size_t i = 0; model->cta_counts && i < result->launch_count; i++)
        if (model->cta_counts[i])
            cts_processes_reduce_u64(processes, (uint64_t *)model->cta_counts[i],
                                     result->launches[i].cta_count * CTS_COMM_FIELD_COUNT,
                                     CTS_REDUCE_SUM);
    if (result->density.cells)
        cts_processes_reduce_u64(processes, result->density.cells,
                                 2 * (size_t)result->density.bin_count * result->density.bin_count,
                                 CTS_REDUCE_SUM);
    cts_processes_reduce_u64(processes, &result->record_count, 1, CTS_REDUCE_SUM);
    cts_processes_reduce_u64(processes, &result->peak_shadow_bytes, 1, CTS_REDUCE_MAX);
    cts_processes_reduce_u64(processes, &result->peak_set_bytes, 1, CTS_REDUCE_MAX);
    return CTS_OK;
}

static enum cts_status merge_maps(struct cts_comm_model *model, struct cts_error *error)
{
    struct cts_comm_worker *const first = &model->workers[0];
    struct cts_map *const maps[] = {&first->transfers.sizes, &first->in_degrees,
                                    &first->places.pairs};
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
        status = merge_map(model, maps[i], error);
        if (!cts_processes_agree(model->options.processes, &status, error)) break;
    }
    return status;
}

enum cts_status cts_comm_merge(struct cts_comm_model *model, struct cts_error *error)
{
    static enum cts_status (*const steps[])(struct cts_comm_model *, struct cts_error *) = {
        merge_launches, merge_sites, merge_places, merge_devices, merge_sms, merge_rest,
        merge_degrees,  merge_pairs, merge_maps,   merge_strides, merge_top, merge_transfers};
    enum cts_status status = CTS_OK;
    if (process_count(model) == 1) return CTS_OK;
    for (size_t i = 0; !status && i < sizeof steps / sizeof *steps; i++) {
        status = steps[i](model, error);
        if (!cts_processes_agree(model->options.processes, &status, error)) break;
    }
    return status;
}
