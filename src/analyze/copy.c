/* Sizes come from a file: every product and sum is checked before a row is touched. */
#include "analyze/copy.h"

/* More rows than any real copy has: beyond, a catalogue is damaged. */
#define ROWS_MAX (UINT64_C(1) << 28)

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

/* Where the last byte of a side ends; false when it passes the end of memory. */
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
        return cts_fail(error, CTS_FORMAT, "copy %u passes the end of memory", copy->copy);
    rows->overlapping = rows->to.start < rows->from.end && rows->from.start < rows->to.end;
    join_rows(rows);
    if (rows->height > ROWS_MAX || rows->depth > ROWS_MAX / rows->height)
        return cts_fail(error, CTS_FORMAT, "copy %u has %llu x %llu rows", copy->copy,
                        (unsigned long long)copy->height, (unsigned long long)copy->depth);
    return CTS_OK;
}
