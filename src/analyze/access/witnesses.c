/* Examples of races between CTAs: of the first launch that has the race, the store to the lowest
 * racing address by the first CTA and thread, and the first access of another CTA to that byte.
 *
 * The address is known before; who touches it is found in one reading of the launch. Which CTA the
 * example's store is of is known only at its end, so the first accesses of two CTAs are kept: one
 * of them is another CTA's. */
#include <stdlib.h>

#include "analyze/access/access-model.h"

/* ---- what is looked for ---- */

static int by_address(const void *left, const void *right)
{
    const struct cts_access_witness *const a = left, *const b = right;
    if (a->address != b->address) return a->address < b->address ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

enum cts_status cts_access_list_witnesses(struct cts_access_model *model, struct cts_error *error)
{
    model->witnesses.count = 0;
    model->witnesses.are_read = false;
    for (size_t i = 0; i < model->faults.count; i++) {
        const struct cts_access_fault_row *const row = &model->faults.items[i];
        if (row->kind != CTS_FINDING_RACE || row->fault.scope != CTS_RACE_OF_CTAS ||
            row->last_launch != model->launch_index + 1 || row->fault.launch_count != 1)
            continue;
        if (CTS_ARRAY_RESERVE(&model->witnesses, model->witnesses.count + 1, error))
            return CTS_MEMORY;
        model->witnesses.items[model->witnesses.count++] = (struct cts_access_witness){
            .address = row->fault.example.address, .row = i, .site = row->site};
    }
    if (model->witnesses.count)
        qsort(model->witnesses.items, model->witnesses.count, sizeof *model->witnesses.items,
              by_address);
    return CTS_OK;
}

/* ---- a record ---- */

/* The first witness at or after an address. */
static size_t first_from(const struct cts_access_model *model, uint64_t address)
{
    const struct cts_access_witness *const items = model->witnesses.items;
    size_t begin = 0, end = model->witnesses.count;
    while (begin < end) {
        const size_t middle = begin + (end - begin) / 2;
        if (items[middle].address < address)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

static bool is_between(const struct cts_access_model *model, uint64_t start, uint64_t end)
{
    const size_t i = first_from(model, start);
    return i < model->witnesses.count && model->witnesses.items[i].address < end;
}

static bool list_may_touch(const struct cts_access_worker *worker, size_t record, uint32_t width)
{
    enum { FEW = 16 };
    const struct cts_access_model *const model = worker->model;
    const struct cts_acc_batch *const batch = worker->batch;
    const uint32_t *const offsets = batch->offsets + batch->offset_start[record];
    const unsigned lanes = (unsigned)__builtin_popcount(batch->mask[record]);
    const uint64_t base = batch->base[record];
    bool may = false;
    for (size_t i = 0; model->witnesses.count <= FEW && i < model->witnesses.count && !may; i++) {
        const uint64_t from_base = model->witnesses.items[i].address - base;
        for (unsigned k = 0; k < lanes; k++) may |= from_base - offsets[k] < width;
    }
    for (unsigned k = 0; model->witnesses.count > FEW && k < lanes && !may; k++)
        may = is_between(model, base + offsets[k], base + offsets[k] + width);
    return may;
}

static enum cts_status may_touch(struct cts_access_worker *worker, size_t record, uint32_t width,
                                 bool *may)
{
    struct cts_access_stretch stretches[CTS_WARP_LANES];
    if (worker->batch->pattern[record] == CTS_PATTERN_LIST) {
        *may = list_may_touch(worker, record, width);
        return CTS_OK;
    }
    const unsigned count =
        cts_access_stretches(worker->batch, record, width, stretches, &worker->error);
    *may = false;
    for (unsigned i = 0; i < count && !*may; i++) {
        const struct cts_access_stretch *const s = &stretches[i];
        *may = is_between(worker->model, s->start,
                          s->start + (uint64_t)s->stride_bytes * (s->count - 1) + s->length_bytes);
    }
    return count ? CTS_OK : worker->error.status;
}

/* By CTA, thread and site. */
static bool is_before(const struct cts_access_example *a, const struct cts_access_example *b)
{
    if (!b->known || a->cta != b->cta) return !b->known || a->cta < b->cta;
    if (a->thread != b->thread) return a->thread < b->thread;
    return a->site < b->site;
}

/* Keeps the first accesses of the first two CTAs. */
static void keep_first(struct cts_access_example first[2], const struct cts_access_example *one)
{
    if (first[0].known && first[0].cta == one->cta) {
        if (is_before(one, &first[0])) first[0] = *one;
    } else if (is_before(one, &first[0])) {
        first[1] = first[0];
        first[0] = *one;
    } else if (is_before(one, &first[1])) {
        first[1] = *one;
    }
}

static bool is_load(const struct cts_access_model *model, uint32_t site)
{
    return !cts_operation_writes(model->catalogue->sites[site].operation);
}

/* One lane's access; the caller holds the lock. What races with a load is no other load. */
static void take_lane(struct cts_access_model *model, const struct cts_access_example *lane,
                      uint32_t width)
{
    for (size_t i = first_from(model, lane->address); i < model->witnesses.count; i++) {
        struct cts_access_witness *const witness = &model->witnesses.items[i];
        if (witness->address - lane->address >= width) break;
        const bool is_own = lane->site == witness->site;
        if (!is_own && is_load(model, witness->site) && is_load(model, lane->site)) continue;
        struct cts_access_example one = *lane;
        one.address = witness->address;
        if (!is_own || !is_load(model, witness->site)) keep_first(witness->first, &one);
        if (is_own && is_before(&one, &witness->store)) witness->store = one;
    }
}

static void take_record(struct cts_access_worker *worker, uint32_t cta, size_t record,
                        uint32_t width)
{
    struct cts_access_model *const model = worker->model;
    const struct cts_access access = cts_acc_record(worker->batch, record);
    uint64_t addresses[CTS_WARP_LANES];
    cts_access_addresses(&access, addresses);
    pthread_mutex_lock(&model->faults_lock);
    for (uint32_t mask = access.mask; mask; mask &= mask - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(mask);
        const struct cts_access_example one = {.known = true,
                                               .launch = model->launch_index,
                                               .cta = cta,
                                               .thread =
                                                   (uint32_t)access.warp * CTS_WARP_LANES + lane,
                                               .site = access.site,
                                               .address = addresses[lane]};
        take_lane(model, &one, width);
    }
    pthread_mutex_unlock(&model->faults_lock);
}

enum cts_status cts_access_look_for_witnesses(struct cts_access_worker *worker,
                                              const struct cts_access_cta *cta,
                                              const struct cts_walk_run *run)
{
    const struct cts_catalogue *const catalogue = worker->model->catalogue;
    enum cts_status status = CTS_OK;
    if (!worker->model->witnesses.count) return CTS_OK;
    for (size_t i = run->begin; i < run->end && !status; i++) {
        const uint32_t site = run->batch->site[i];
        if (run->batch->space[i] != CTS_SPACE_GLOBAL || site >= catalogue->site_count) continue;
        const uint32_t width = catalogue->sites[site].width_bytes;
        if (!width || width > CTS_ACCESS_WIDTH_MAX) continue;
        bool may;
        status = may_touch(worker, i, width, &may);
        if (!status && may) take_record(worker, cta->cta, i, width);
    }
    return status;
}

/* ---- the launch ---- */

void cts_access_conclude_witnesses(struct cts_access_model *model)
{
    for (size_t i = 0; i < model->witnesses.count; i++) {
        const struct cts_access_witness *const witness = &model->witnesses.items[i];
        struct cts_access_fault *const fault = &model->faults.items[witness->row].fault;
        if (witness->store.known) fault->example = witness->store;
        fault->other = witness->first[witness->first[0].cta == fault->example.cta];
    }
    model->witnesses.count = 0;
}
