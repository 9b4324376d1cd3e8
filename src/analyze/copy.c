/* Sizes come from a file: every product and sum is checked before a row is touched. */
#include "analyze/copy.h"

#include <stdlib.h>

#include "common/array.h"

/* More rows than any real copy has: beyond, a catalogue is damaged. */
#define ROWS_MAX (UINT64_C(1) << 28)

enum { RUNS_MAX = 16 }; /* kept on the way where the sides do not overlap */

static void join_rows(struct cts_copy_rows *rows)
{
    struct cts_copy_side *const to = &rows->to, *const from = &rows->from;
    if (rows->height == 1 || (to->pitch == rows->width && from->pitch == rows->width)) {
        rows->width *= rows->height;
        rows->height = rows->depth;
        to->pitch = to->slice;
        from->pitch = from->slice;
        rows->depth = 1;
    }
    if (rows->depth == 1 && rows->height > 1 && to->pitch == rows->width &&
        from->pitch == rows->width) {
        rows->width *= rows->height;
        rows->height = 1;
    }
}

/* Where the last byte of a side ends; false when it extends past the address space. */
static bool find_end(const struct cts_copy_rows *rows, struct cts_copy_side *side)
{
    uint64_t planes, lines, sum;
    return !__builtin_mul_overflow(rows->depth - 1, side->slice, &planes) &&
           !__builtin_mul_overflow(rows->height - 1, side->pitch, &lines) &&
           !__builtin_add_overflow(planes, lines, &sum) &&
           !__builtin_add_overflow(sum, rows->width, &sum) &&
           !__builtin_add_overflow(sum, side->start, &side->end);
}

enum cts_status cts_copy_rows_of(const struct cts_copy *copy, bool with_source,
                                 struct cts_copy_rows *rows, struct cts_error *error)
{
    *rows = (struct cts_copy_rows){
        .width = copy->width_bytes,
        .height = copy->height,
        .depth = copy->depth,
        .to = {copy->destination, copy->destination_pitch, copy->destination_slice, 0},
        .from = {copy->source, copy->source_pitch, copy->source_slice, 0}};
    if (!with_source) rows->from = rows->to;
    uint64_t lines, bytes;
    if (!rows->width || !rows->height || !rows->depth) return CTS_OK;
    if (__builtin_mul_overflow(rows->height, rows->depth, &lines) ||
        __builtin_mul_overflow(lines, rows->width, &bytes) || !find_end(rows, &rows->to) ||
        !find_end(rows, &rows->from))
        return cts_fail(error, CTS_FORMAT, "copy %u extends past the address space", copy->copy);
    rows->overlapping = rows->to.start < rows->from.end && rows->from.start < rows->to.end;
    join_rows(rows);
    if (rows->height > ROWS_MAX || rows->depth > ROWS_MAX / rows->height)
        return cts_fail(error, CTS_FORMAT, "copy %u has %llu x %llu rows", copy->copy,
                        (unsigned long long)copy->height, (unsigned long long)copy->depth);
    return CTS_OK;
}

enum cts_status cts_copy_fill(struct cts_shadow *shadow, const struct cts_copy_rows *rows,
                              uint32_t writer, struct cts_error *error)
{
    for (uint64_t z = 0; z < rows->depth; z++) {
        for (uint64_t y = 0; y < rows->height; y++) {
            const uint64_t start = cts_copy_row_start(&rows->to, z, y);
            const enum cts_status status =
                cts_shadow_fill(shadow, start, start + rows->width, writer, error);
            if (status) return status;
        }
    }
    return CTS_OK;
}

enum cts_status cts_copy_runs_add(struct cts_copy_runs *runs, uint64_t start, uint64_t end,
                                  uint32_t writer, struct cts_error *error)
{
    struct cts_copy_run *const last = runs->count ? &runs->items[runs->count - 1] : NULL;
    if (last && last->writer == writer && last->end == start) {
        last->end = end;
        return CTS_OK;
    }
    if (CTS_ARRAY_RESERVE(runs, runs->count + 1, error)) return CTS_MEMORY;
    runs->items[runs->count++] = (struct cts_copy_run){start, end, writer};
    return CTS_OK;
}

struct carrying {
    struct cts_shadow_view *view;
    bool overlapping;
    cts_copy_put put;
    void *state;
    struct cts_copy_runs runs;
    struct cts_error *error;
};

static enum cts_status put_runs(struct carrying *c)
{
    enum cts_status status = CTS_OK;
    for (size_t i = 0; !status && i < c->runs.count; i++)
        status = c->put(c->state, &c->runs.items[i], c->error);
    c->runs.count = 0;
    return status;
}

static enum cts_status carry_row(struct carrying *c, uint64_t from, uint64_t to, uint64_t width)
{
    enum cts_status status = CTS_OK;
    for (uint64_t at = from, end; !status && at < from + width; at = end) {
        uint32_t writer;
        end = cts_shadow_run(c->view, at, from + width, &writer);
        status = cts_copy_runs_add(&c->runs, to + (at - from), to + (end - from), writer, c->error);
        if (!status && !c->overlapping && c->runs.count >= RUNS_MAX) status = put_runs(c);
    }
    return status;
}

enum cts_status cts_copy_carry(struct cts_shadow_view *view, const struct cts_copy_rows *rows,
                               cts_copy_put put, void *state, struct cts_error *error)
{
    struct carrying c = {
        .view = view, .overlapping = rows->overlapping, .put = put, .state = state, .error = error};
    enum cts_status status = CTS_OK;
    for (uint64_t z = 0; !status && z < rows->depth; z++)
        for (uint64_t y = 0; !status && y < rows->height; y++)
            status = carry_row(&c, cts_copy_row_start(&rows->from, z, y),
                               cts_copy_row_start(&rows->to, z, y), rows->width);
    if (!status) status = put_runs(&c);
    free(c.runs.items);
    return status;
}
