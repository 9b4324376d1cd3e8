/* One launch: its records are read (reading.c), then the bits that its CTAs left are looked through
 * once. */
#include <stdlib.h>
#include <string.h>

#include "analyze/access/access-model.h"

/* ---- looking through the bits ---- */

/* What one look through the bits of a launch has at hand. */
struct scan {
    struct cts_access_model *model;
    struct cts_access_place_sum *places;
    size_t hint;
    bool finds;                          /* faults are looked for */
    bool keeps_races;                    /* bytes that race are suspects; else they are counted */
    uint64_t written_start, written_end; /* a stretch of memory that is ... */
    bool is_written;                     /* ... or is not written */
    uint64_t fill_start, fill_end;       /* written in this launch, to be noted */
    size_t place;                        /* of the bytes up to place_end */
    uint64_t place_start, place_end;
};

static uint64_t written_mask(struct scan *scan, uint64_t start)
{
    uint64_t mask = 0;
    if (start >= scan->written_start && start < scan->written_end &&
        scan->written_end - start >= 64)
        return scan->is_written ? UINT64_MAX : 0;
    for (uint64_t at = start; at - start < 64;) {
        if (at < scan->written_start || at >= scan->written_end) {
            uint32_t writer;
            const uint64_t most = at > UINT64_MAX - (1 << 22) ? UINT64_MAX : at + (1 << 22);
            scan->written_start = at;
            scan->written_end = cts_shadow_run(&scan->model->written_view, at, most, &writer);
            scan->is_written = (writer & CTS_WRITER_MASK) != CTS_WRITER_NOBODY;
        }
        const uint64_t left = scan->written_end - start;
        const unsigned from = (unsigned)(at - start), end = left < 64 ? (unsigned)left : 64;
        if (scan->is_written)
            mask |= (UINT64_MAX << from) & (end < 64 ? (UINT64_C(1) << end) - 1 : UINT64_MAX);
        if (end == 64) break;
        at = start + end;
    }
    return mask;
}

static enum cts_status suspect(struct scan *scan, unsigned plane, uint64_t start, uint64_t mask,
                               struct cts_error *error)
{
    struct cts_bits *const bits = &scan->model->suspects;
    uint64_t *const words = cts_bits_page(bits, start, error);
    if (!words) return error ? error->status : CTS_MEMORY;
    words[start / 64 % CTS_BITS_PAGE_WORDS * bits->planes + plane] |= mask;
    scan->model->found[plane] = true;
    return CTS_OK;
}

/* Memory that the host may have written unseen, or that is made with its values. */
static bool starts_written(const struct cts_access_model *model, size_t allocation)
{
    const struct cts_allocation *const a = &model->catalogue->allocations[allocation];
    const char *const kind = a->kind ? a->kind : "";
    if (cts_access_is_imported(a)) return true;
    if (!strcmp(kind, "managed") || !strcmp(kind, "pinned") || !strcmp(kind, "mapped"))
        return !model->host_seen;
    return strcmp(kind, "device") != 0;
}

/* How far from an allocation an access outside is taken for one that missed it. Further away, as a
 * program that ran to its end shows, lies memory of another origin: the device's heap, or the
 * host's own. Variables have constants and tables of functions of their module beside them. */
enum { NEAR_BYTES = 1 << 26, NEAR_VARIABLE_BYTES = 1 << 12 };

static bool is_near(const struct cts_access_model *model, size_t place, uint64_t distance,
                    bool *by_variable)
{
    const struct cts_place *const item = &model->places.items[place];
    const char *const kind = model->catalogue->allocations[item->allocation].kind;
    const bool is_variable = kind && !strcmp(kind, "variable");
    if (distance >= (is_variable ? NEAR_VARIABLE_BYTES : NEAR_BYTES)) return false;
    *by_variable &= is_variable;
    return true;
}

/* Of the bytes touched in a word outside of all allocations those that should not be. */
static uint64_t strayed(struct scan *scan, const uint64_t *bits, uint64_t start, uint64_t touched)
{
    const struct cts_access_model *const model = scan->model;
    const size_t next = scan->hint; /* the first place behind */
    bool by_variable = true, near = false;
    if (start < CTS_NULL_PAGE_BYTES) return touched;
    if (next) {
        const uint64_t end = model->places.items[next - 1].end;
        near |= is_near(model, next - 1, start > end ? start - end : 0, &by_variable);
    }
    if (next < model->places.count) {
        const uint64_t ahead = model->places.items[next].start - start;
        near |= is_near(model, next, ahead > 64 ? ahead - 64 : 0, &by_variable);
    }
    if (near && !by_variable) return touched;
    if (near) return touched & (bits[CTS_PLANE_STORED] | bits[CTS_PLANE_ATOMIC]);
    return cts_access_was_freed(model->catalogue, model->launch, start) == SIZE_MAX ? 0 : touched;
}

/* Whether reads of the allocation by the launch at hand cannot be judged. */
static bool is_hidden(const struct cts_access_model *model, size_t allocation)
{
    return model->result->no_allocations || cts_access_reaches(&model->reach, allocation);
}

/* Bytes of one word that lie in one place. */
static enum cts_status scan_place(struct scan *scan, const uint64_t *bits, uint64_t start,
                                  uint64_t inside, struct cts_error *error)
{
    struct cts_access_model *const model = scan->model;
    const bool is_outside = scan->place == SIZE_MAX;
    struct cts_access_place_sum *const sum =
        &scan->places[is_outside ? model->catalogue->allocation_count : scan->place];
    const uint64_t touched = bits[CTS_PLANE_TOUCHED] & inside;
    const uint64_t read = (bits[CTS_PLANE_READ] | bits[CTS_PLANE_ATOMIC]) & inside;
    sum->launch_distinct_bytes += cts_bits_count(touched);
    sum->read_bytes += cts_bits_count(read);
    sum->written_bytes +=
        cts_bits_count((bits[CTS_PLANE_STORED] | bits[CTS_PLANE_ATOMIC]) & inside);
    if (!scan->finds || !touched) return CTS_OK;
    const uint64_t race = bits[CTS_PLANE_MANY] & bits[CTS_PLANE_STORED] & inside;
    enum cts_status status = CTS_OK;
    if (race && scan->keeps_races) status = suspect(scan, CTS_SUSPECT_RACE, start, race, error);
    model->found[CTS_SUSPECT_RACE] |= race != 0;
    const uint64_t stale = model->knows_order
                               ? bits[CTS_PLANE_MANY] & bits[CTS_PLANE_ATOMIC] &
                                     bits[CTS_PLANE_READ] & ~bits[CTS_PLANE_STORED] & inside
                               : 0;
    if (stale && !status) status = suspect(scan, CTS_SUSPECT_STALE, start, stale, error);
    if (is_outside && !status && !model->result->no_allocations) {
        const uint64_t stray = strayed(scan, bits, start, touched);
        model->result->foreign_bytes += cts_bits_count(touched & ~stray);
        if (stray) status = suspect(scan, CTS_SUSPECT_OUTSIDE, start, stray, error);
    }
    if (is_outside || status || !read || !model->written || is_hidden(model, scan->place))
        return status;
    uint64_t unwritten = read & ~written_mask(scan, start);
    const struct cts_access_layout *const layout =
        unwritten ? cts_access_allocation_layout(&model->padding, scan->place) : NULL;
    if (layout)
        unwritten &= ~cts_access_padding_mask(
            layout, model->catalogue->allocations[scan->place].address, start, false);
    if (unwritten && !starts_written(model, scan->place))
        status = suspect(scan, CTS_SUSPECT_UNWRITTEN, start, unwritten, error);
    return status;
}

static enum cts_status scan_places(struct scan *scan, const uint64_t *bits, uint64_t start,
                                   struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    if (start >= scan->place_start && start < scan->place_end && scan->place_end - start >= 64)
        return scan_place(scan, bits, start, UINT64_MAX, error);
    for (uint64_t at = start; at - start < 64 && !status;) {
        if (at < scan->place_start || at >= scan->place_end) {
            scan->place_start = at;
            scan->place = cts_place_of(&scan->model->places, &scan->hint, at, &scan->place_end);
        }
        const uint64_t left = scan->place_end - start;
        const unsigned from = (unsigned)(at - start), end = left < 64 ? (unsigned)left : 64;
        status = scan_place(
            scan, bits, start,
            (UINT64_MAX << from) & (end < 64 ? (UINT64_C(1) << end) - 1 : UINT64_MAX), error);
        if (end == 64) break;
        at = start + end;
    }
    return status;
}

static enum cts_status note_written(struct scan *scan, uint64_t start, uint64_t end,
                                    struct cts_error *error)
{
    if (start == scan->fill_end) {
        scan->fill_end = end;
        return CTS_OK;
    }
    const uint64_t fill_start = scan->fill_start, fill_end = scan->fill_end;
    scan->fill_start = start;
    scan->fill_end = end;
    return cts_shadow_fill(scan->model->written, fill_start, fill_end, CTS_WRITER_HOST, error);
}

/* Runs of ones that nobody wrote before are noted as written. */
static enum cts_status note_word(struct scan *scan, uint64_t start, uint64_t mask,
                                 struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    mask &= ~written_mask(scan, start);
    if (mask == UINT64_MAX) return note_written(scan, start, start + 64, error);
    while (mask && !status) {
        const unsigned first = (unsigned)__builtin_ctzll(mask);
        const uint64_t rest = ~(mask >> first);
        const unsigned length = rest ? (unsigned)__builtin_ctzll(rest) : 64;
        const unsigned count = length > 64 - first ? 64 - first : length;
        status = note_written(scan, start + first, start + first + count, error);
        mask &= first + count < 64 ? UINT64_MAX << (first + count) : 0;
    }
    return status;
}

static enum cts_status scan_page(void *state, uint64_t page_start, uint64_t *words,
                                 struct cts_error *error)
{
    struct scan *const scan = state;
    enum cts_status status = CTS_OK;
    for (unsigned w = 0; w < CTS_BITS_PAGE_WORDS && !status; w++) {
        const uint64_t *const bits = words + (size_t)w * CTS_PLANE_COUNT;
        const uint64_t start = page_start + (uint64_t)w * 64;
        if (bits[CTS_PLANE_TOUCHED]) status = scan_places(scan, bits, start, error);
        /* Only now: what was read has been compared with what was written before the launch. */
        const uint64_t written = bits[CTS_PLANE_STORED] | bits[CTS_PLANE_ATOMIC];
        if (!status && written && scan->model->written)
            status = note_word(scan, start, written, error);
    }
    return status;
}

/* ---- the launch ---- */

static enum cts_status list_places(struct cts_access_model *model,
                                   struct cts_access_place_sum *sums, struct cts_error *error)
{
    const size_t count = model->catalogue->allocation_count + 1;
    for (size_t i = 0; i < count; i++) {
        const struct cts_access_place_sum *const sum = &sums[i];
        if (!sum->accesses && !sum->launch_distinct_bytes) continue;
        if (CTS_ARRAY_RESERVE(&model->allocations, model->allocations.count + 1, error))
            return CTS_MEMORY;
        model->allocations.items[model->allocations.count++] = (struct cts_access_allocation){
            .launch = model->launch_index,
            .allocation = i + 1 == count ? SIZE_MAX : i,
            .accesses = sum->accesses,
            .requested_bytes = sum->requested_bytes,
            .request_distinct_bytes = sum->request_distinct_bytes,
            .cta_distinct_bytes = sum->cta_distinct_bytes,
            .launch_distinct_bytes = sum->launch_distinct_bytes,
            .read_bytes = sum->read_bytes,
            .written_bytes = sum->written_bytes,
        };
    }
    return CTS_OK;
}

static void gather_places(struct cts_access_model *model)
{
    struct cts_access_place_sum *const sums = model->workers[0].places;
    const size_t count = model->catalogue->allocation_count + 1;
    for (unsigned i = 1; i < model->worker_count; i++) {
        struct cts_access_place_sum *const more = model->workers[i].places;
        for (size_t k = 0; k < count; k++) {
            sums[k].accesses += more[k].accesses;
            sums[k].requested_bytes += more[k].requested_bytes;
            sums[k].request_distinct_bytes += more[k].request_distinct_bytes;
            sums[k].cta_distinct_bytes += more[k].cta_distinct_bytes;
        }
        memset(more, 0, count * sizeof *more);
    }
}

/* Reads the launch for examples of its races, unless it has been. */
static enum cts_status find_witnesses(struct cts_access_model *model, struct cts_error *error)
{
    const enum cts_access_look look = model->look;
    enum cts_status status = CTS_OK;
    if (model->witnesses.count && !model->witnesses.are_read) {
        model->look = CTS_LOOK_OTHER;
        status = cts_access_read_launch(model, error);
        model->look = look;
    }
    if (!status) cts_access_conclude_witnesses(model);
    return status;
}

static enum cts_status finish(struct cts_access_model *model, bool is_wanted,
                              struct cts_error *error)
{
    struct cts_access_place_sum *const sums = model->workers[0].places;
    const size_t count = model->catalogue->allocation_count + 1;
    struct scan scan = {
        .model = model,
        .places = sums,
        .finds = is_wanted && !model->options.per_launch && !model->result->packed_lanes,
        .keeps_races = cts_access_may_be_ordered(model) || !cts_access_can_count_races(model)};
    enum cts_status status = CTS_OK;
    gather_places(model);
    memset(model->found, 0, sizeof model->found);
    status = cts_bits_each(&model->touched, scan_page, &scan, error);
    if (!status && model->written)
        status =
            cts_shadow_fill(model->written, scan.fill_start, scan.fill_end, CTS_WRITER_HOST, error);
    if (!status && is_wanted) status = list_places(model, sums, error);
    memset(sums, 0, count * sizeof *sums);
    if (!status && (!cts_bits_is_empty(&model->suspects) || model->found[CTS_SUSPECT_RACE]))
        status = cts_access_name_suspects(model, error);
    if (!status) status = cts_access_find_cta_races(model, error);
    if (!status) status = find_witnesses(model, error);
    cts_access_forget_stores(model);
    cts_bits_clear(&model->touched);
    cts_bits_clear(&model->suspects);
    return status;
}

/* Whether reads of shared memory can be judged: all of the launch's writes are known. */
static bool knows_all(const struct cts_access_model *model)
{
    const struct cts_launch *const launch = model->launch;
    const struct cts_catalogue *const catalogue = model->catalogue;
    if (launch->dropped_accesses || model->result->packed_lanes) return false;
    const uint32_t module =
        launch->kernel < catalogue->kernel_count ? catalogue->kernels[launch->kernel].module : 0;
    for (size_t i = 0; i < catalogue->skipped_count; i++)
        if (catalogue->skipped[i].module == module) return false;
    return true;
}

enum cts_status cts_access_run_launch(struct cts_access_model *model,
                                      const struct cts_access_turn *turn, struct cts_error *error)
{
    const bool is_wanted = turn->is_wanted;
    model->launch = &model->catalogue->launches[turn->launch_index];
    model->launch_index = turn->launch_index;
    model->owner = model->options.per_launch ? turn->launch_index : model->launch->kernel;
    model->look = is_wanted ? CTS_LOOK_COUNT : CTS_LOOK_WRITES;
    model->has_signals = false;
    model->counts_stores = is_wanted && !model->options.per_launch && !model->options.costs_only &&
                           !model->result->packed_lanes;
    cts_access_begin_races(model, is_wanted);
    model->watches_shared = !model->options.per_launch && knows_all(model);
    if (turn->chunk_begin == turn->chunk_end) return CTS_OK;
    model->scope = (struct cts_walk_scope){.chunk_begin = turn->chunk_begin,
                                           .chunk_end = turn->chunk_end,
                                           .end_cta = UINT64_MAX,
                                           .progress = model->options.progress};
    enum cts_status status = cts_walk_count_ctas(model->launch, &model->scope.cta_count, error);
    if (!status) status = cts_places_at(model->catalogue, model->launch, &model->places, error);
    if (!status) status = cts_access_read_launch(model, error);
    if (!status && !model->options.costs_only) status = finish(model, is_wanted, error);
    for (size_t i = 0; i < model->faults.count; i++) cts_bits_clear(&model->faults.items[i].bytes);
    return status;
}
