/* Naming what is suspected in a launch, by reading it again: rare, so that it may be slow.
 *
 * The second look is for bytes that were read although nobody wrote them before the launch. In what
 * order CTAs run is not known, but each CTA's own order is: the first access of any CTA to such a
 * byte is a read for certain if every CTA that touches it reads it first. A byte that some CTA
 * stores first may have been stored in time; that is a race and told as one.
 *
 * The third look counts, for each site, accesses to what is outside, uninitialised or stored in a
 * race, and keeps an example: of the first launch the lowest address, then CTA, then thread. Races
 * can mostly be counted without it (race-counts.c). Who touches the byte of a race's example is
 * found in the last look (witnesses.c). */
#include <stdlib.h>
#include <string.h>

#include "analyze/access/access-model.h"

/* ---- a launch ---- */

/* What is left of the unwritten bytes after the second look. */
static enum cts_status judge_page(void *state, uint64_t page_start, uint64_t *words,
                                  struct cts_error *error)
{
    bool *const found = state;
    (void)page_start;
    (void)error;
    for (unsigned w = 0; w < CTS_BITS_PAGE_WORDS; w++) {
        uint64_t *const word = words + (size_t)w * CTS_SUSPECT_COUNT;
        word[CTS_SUSPECT_UNWRITTEN] = word[CTS_SUSPECT_EXPOSED] & ~word[CTS_SUSPECT_WRITE_FIRST];
        *found |= word[CTS_SUSPECT_UNWRITTEN] != 0;
    }
    return CTS_OK;
}

bool cts_access_may_be_ordered(const struct cts_access_model *model)
{
    const struct cts_catalogue *const catalogue = model->catalogue;
    bool may = model->has_signals;
    for (size_t i = 0; i < catalogue->site_count && !may; i++)
        may = (unsigned)catalogue->sites[i].operation == CTS_BARRIER_GRID_SYNC;
    return may;
}

/* Takes what is ordered from the suspected races. */
static enum cts_status take_ordered(struct cts_access_model *model, struct cts_error *error)
{
    model->look = CTS_LOOK_SIGNAL;
    const enum cts_status status = cts_access_read_launch(model, error);
    if (status) return status;
    if (model->knows_order) return cts_access_judge_logged(model, error);
    model->found[CTS_SUSPECT_RACE] = cts_access_take_ordered(model);
    return CTS_OK;
}

enum cts_status cts_access_name_suspects(struct cts_access_model *model, struct cts_error *error)
{
    bool *const found = model->found;
    const enum cts_access_look look = model->look;
    enum cts_status status = CTS_OK;
    if (found[CTS_SUSPECT_UNWRITTEN]) {
        model->look = CTS_LOOK_ORDER;
        status = cts_access_read_launch(model, error);
        found[CTS_SUSPECT_UNWRITTEN] = false;
        if (!status)
            status =
                cts_bits_each(&model->suspects, judge_page, &found[CTS_SUSPECT_UNWRITTEN], error);
    }
    const bool may_be_ordered = cts_access_may_be_ordered(model);
    if (!status && (found[CTS_SUSPECT_RACE] || found[CTS_SUSPECT_STALE]) && may_be_ordered)
        status = take_ordered(model, error);
    if (!status && found[CTS_SUSPECT_RACE] && cts_access_can_count_races(model)) {
        status = cts_access_count_races(model, may_be_ordered, error);
        found[CTS_SUSPECT_RACE] = false;
    }
    const bool any = found[CTS_SUSPECT_OUTSIDE] || found[CTS_SUSPECT_UNWRITTEN] ||
                     found[CTS_SUSPECT_RACE] || found[CTS_SUSPECT_STALE];
    if (!status && any) {
        model->look = CTS_LOOK_NAME;
        status = cts_access_read_launch(model, error);
    }
    if (!status) status = cts_access_list_witnesses(model, error);
    model->look = look;
    cts_map_release(&model->logged.tests);
    return status;
}

/* ---- after the last launch ---- */

size_t cts_access_was_freed(const struct cts_catalogue *catalogue, const struct cts_launch *launch,
                            uint64_t address)
{
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < catalogue->allocation_count; i++) {
        const struct cts_allocation *const a = &catalogue->allocations[i];
        if (a->rank != launch->rank || a->freed_op >= launch->op || address < a->address ||
            address - a->address >= a->size_bytes)
            continue;
        if (found == SIZE_MAX || a->freed_op > catalogue->allocations[found].freed_op) found = i;
    }
    return found;
}

static void find_nearest(struct cts_access_model *model, struct cts_access_fault *fault)
{
    const struct cts_place *const items = model->places.items;
    const uint64_t address = fault->example.address;
    size_t after = 0; /* the first place behind the address */
    while (after < model->places.count && items[after].start <= address) after++;
    const size_t freed = cts_access_was_freed(
        model->catalogue, &model->catalogue->launches[fault->example.launch], address);
    if (freed != SIZE_MAX) {
        fault->allocation = freed;
        fault->is_freed = true;
        return;
    }
    const uint64_t past = after ? address - items[after - 1].end : UINT64_MAX;
    const uint64_t ahead = after < model->places.count ? items[after].start - address : UINT64_MAX;
    if (past == UINT64_MAX && ahead == UINT64_MAX) return;
    fault->allocation = items[past <= ahead ? after - 1 : after].allocation;
    fault->distance_bytes = past <= ahead ? (int64_t)past : -(int64_t)ahead;
}

enum cts_status cts_access_conclude_faults(struct cts_access_model *model, struct cts_error *error)
{
    const struct cts_catalogue *const catalogue = model->catalogue;
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < model->faults.count && !status; i++) {
        struct cts_access_fault_row *const row = &model->faults.items[i];
        struct cts_access_fault *const fault = &row->fault;
        if (row->space != CTS_SPACE_GLOBAL || !fault->example.known) continue;
        status = cts_places_at(catalogue, &catalogue->launches[fault->example.launch],
                               &model->places, error);
        if (status) break;
        size_t hint = 0;
        uint64_t end;
        if (row->kind == CTS_FINDING_OUTSIDE)
            find_nearest(model, fault);
        else
            fault->allocation = cts_place_of(&model->places, &hint, fault->example.address, &end);
    }
    return status;
}
