/* A chunk's payload into columns. docs/format.md, "Payload", is the specification.
 *
 * Segments are decoded in order into the batch. A definition decodes record by record; an instance
 * copies the columns of its template's definition, which stand further up in the same batch, and
 * adds its shift to the bases of the template's last instance. A run doubles what it has copied,
 * so that small CTAs cost little too.
 *
 * Nothing in the payload is trusted. Each section has an end; reads of up to 8 bytes start before
 * it or at it, and the payload is followed by padding, so that one check per record is enough. */
#include "trace/acc-decode.h"

#include "common/array.h"
#include "common/cursor.h"

struct combo {
    uint32_t site, mask;
    uint16_t kind;
    uint8_t space, pattern, row_lanes, value_words;
    bool is_box;
    uint32_t s0_allowed, s1_allowed; /* all bits, or none */
    int32_t s0, s1;
    uint64_t base, shift;
};

struct template_rows {
    uint32_t record_count;
    uint32_t first_record;        /* among the defined ones */
    uint32_t first_row, last_row; /* in the batch: the definition, the last instance */
    uint32_t access_count, list_count, value_count, barrier_count, box_count;
};

struct shift {
    uint32_t template_index, start;
};

struct decoder {
    const struct cts_acc_chunk_header *header;
    struct cts_acc_batch *batch;
    struct cts_error *error;
    struct cts_cursor sections[CTS_ACC_SECTION_COUNT];
    struct combo *combos;
    uint32_t combo_count;
    struct template_rows *templates;
    uint32_t template_count, templates_defined;
    const uint8_t *ids, *controls; /* of the defined records */
    unsigned id_bytes;
    uint32_t defined_count, defined; /* records */
    const uint8_t *list_bits, *list_shifts;
    uint32_t list_count, list; /* stored lists */
    uint32_t instance_count;
    uint32_t shift_count;
    uint32_t row_count; /* to come, barriers too */
    uint32_t row, offset, value;
    uint64_t access_count, barrier_count, box_count;
    uint32_t cta, first_cta, last_cta;
};

/* ---- tables ---- */

static enum cts_status read_sections(struct decoder *d, const uint8_t *raw)
{
    const size_t table_bytes = 4 * CTS_ACC_SECTION_COUNT;
    struct cts_cursor sizes = cts_cursor_of(raw, d->header->raw_bytes);
    struct cts_cursor rest = sizes;
    (void)cts_cursor_bytes(&rest, table_bytes);
    for (int i = 0; i < CTS_ACC_SECTION_COUNT; i++) {
        const uint32_t size_bytes = cts_cursor_u32(&sizes);
        const uint8_t *const start = cts_cursor_bytes(&rest, size_bytes);
        if (!start)
            return cts_fail(d->error, CTS_FORMAT, "section %d of %u bytes ends after the payload",
                            i, size_bytes);
        d->sections[i] = cts_cursor_of(start, size_bytes);
    }
    if (cts_cursor_left(&rest))
        return cts_fail(d->error, CTS_FORMAT, "%zu bytes after the last section",
                        cts_cursor_left(&rest));
    return CTS_OK;
}

static size_t size_of(const struct decoder *d, enum cts_acc_section section)
{
    return cts_cursor_left(&d->sections[section]);
}

static bool is_valid_kind(const struct combo *c)
{
    const bool space_ok = c->space == CTS_SPACE_GLOBAL || c->space == CTS_SPACE_SHARED ||
                          c->space == CTS_SPACE_CONSTANT || c->space == CTS_SPACE_LOCAL ||
                          (c->space == CTS_SPACE_BARRIER && !c->value_words);
    const bool rows_ok =
        c->pattern == CTS_PATTERN_TWO_LEVEL ? c->row_lanes >= 2 : c->row_lanes == 0;
    if (c->is_box)
        return c->space == CTS_SPACE_GLOBAL && c->pattern == CTS_PATTERN_LIST && !c->row_lanes &&
               !c->value_words;
    return space_ok && rows_ok && c->value_words <= CTS_ACC_VALUE_WORDS_MAX;
}

static enum cts_status read_combos(struct decoder *d)
{
    struct cts_acc_batch_private *const p = d->batch->private_data;
    struct cts_cursor *const cursor = &d->sections[CTS_ACC_COMBOS];
    const size_t count = cts_cursor_left(cursor) / 8;
    if (cts_cursor_left(cursor) % 8 || count > d->row_count)
        return cts_fail(d->error, CTS_FORMAT, "section of combos has %zu bytes",
                        cts_cursor_left(cursor));
    d->combos = (struct combo *)cts_acc_room_in(&p->combos, count * sizeof *d->combos);
    if (!d->combos && count) return cts_acc_fail_memory(d->error);
    d->combo_count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        struct combo c = {.site = cts_cursor_u32(cursor)};
        const uint32_t kind = cts_cursor_u32(cursor);
        c.kind = (uint16_t)kind;
        c.space = (uint8_t)cts_acc_kind_space(c.kind);
        c.pattern = (uint8_t)cts_acc_kind_pattern(c.kind);
        c.row_lanes = (uint8_t)cts_acc_kind_row_lanes(c.kind);
        c.value_words = (uint8_t)cts_acc_kind_value_words(c.kind);
        c.is_box = cts_acc_kind_is_box(c.kind);
        c.s1_allowed = c.pattern == CTS_PATTERN_TWO_LEVEL || c.is_box ? UINT32_MAX : 0;
        c.s0_allowed = c.pattern == CTS_PATTERN_AFFINE ? UINT32_MAX : c.s1_allowed;
        if (kind >> 16 || !is_valid_kind(&c))
            return cts_fail(d->error, CTS_FORMAT, "combo %zu has kind 0x%x", i, kind);
        d->combos[i] = c;
    }
    return CTS_OK;
}

static enum cts_status read_templates(struct decoder *d)
{
    struct cts_acc_batch_private *const p = d->batch->private_data;
    struct cts_cursor *const cursor = &d->sections[CTS_ACC_TEMPLATES];
    const size_t count = cts_cursor_left(cursor) / 4;
    if (cts_cursor_left(cursor) % 4 || count > d->row_count)
        return cts_fail(d->error, CTS_FORMAT, "section of templates has %zu bytes",
                        cts_cursor_left(cursor));
    d->templates =
        (struct template_rows *)cts_acc_room_in(&p->templates, count * sizeof *d->templates);
    if (!d->templates && count) return cts_acc_fail_memory(d->error);
    d->template_count = (uint32_t)count;
    uint64_t records = 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t record_count = cts_cursor_u32(cursor);
        d->templates[i] =
            (struct template_rows){.record_count = record_count, .first_record = (uint32_t)records};
        records += record_count;
        if (record_count == 0 || records > d->row_count)
            return cts_fail(d->error, CTS_FORMAT, "template %zu has %u records", i, record_count);
    }
    d->defined_count = (uint32_t)records;
    return CTS_OK;
}

/* The sections whose size follows from a count. */
static enum cts_status read_columns(struct decoder *d)
{
    d->id_bytes = d->combo_count <= 1u << 8 ? 1 : d->combo_count <= 1u << 16 ? 2 : 4;
    if (size_of(d, CTS_ACC_COMBO_IDS) != (size_t)d->id_bytes * d->defined_count ||
        size_of(d, CTS_ACC_CONTROLS) != 2 * (size_t)d->defined_count)
        return cts_fail(d->error, CTS_FORMAT, "columns of %u defined records: %zu and %zu bytes",
                        d->defined_count, size_of(d, CTS_ACC_COMBO_IDS),
                        size_of(d, CTS_ACC_CONTROLS));
    d->ids = d->sections[CTS_ACC_COMBO_IDS].at;
    d->controls = d->sections[CTS_ACC_CONTROLS].at;
    const size_t headers_bytes = size_of(d, CTS_ACC_LIST_HEADERS);
    if (headers_bytes % 2 || headers_bytes / 2 > d->header->offset_count)
        return cts_fail(d->error, CTS_FORMAT, "section of list headers has %zu bytes",
                        headers_bytes);
    d->list_count = (uint32_t)(headers_bytes / 2);
    d->list_bits = d->sections[CTS_ACC_LIST_HEADERS].at;
    d->list_shifts = d->list_bits + d->list_count;
    const size_t instances_bytes = size_of(d, CTS_ACC_INSTANCES);
    if (instances_bytes % 16 || instances_bytes / 16 > d->row_count)
        return cts_fail(d->error, CTS_FORMAT, "section of instances has %zu bytes",
                        instances_bytes);
    d->instance_count = (uint32_t)(instances_bytes / 16);
    if (size_of(d, CTS_ACC_SHIFT_LENGTHS) > CTS_ACC_CHUNK_SHIFTS_MAX)
        return cts_fail(d->error, CTS_LIMIT, "%zu values of shifts (at most %d)",
                        size_of(d, CTS_ACC_SHIFT_LENGTHS), CTS_ACC_CHUNK_SHIFTS_MAX);
    if (size_of(d, CTS_ACC_VALUES) != 8 * (size_t)d->header->value_count)
        return cts_fail(d->error, CTS_FORMAT, "section of values has %zu bytes for %u values",
                        size_of(d, CTS_ACC_VALUES), d->header->value_count);
    return CTS_OK;
}

/* ---- definitions ---- */

static inline uint32_t id_at(const struct decoder *d, uint32_t record)
{
    const uint8_t *const at = d->ids + (size_t)record * d->id_bytes;
    return d->id_bytes == 1 ? *at : d->id_bytes == 2 ? cts_get_u16(at) : cts_get_u32(at);
}

static inline int32_t stride_of(int32_t predicted, uint64_t code)
{
    const uint32_t word = (uint32_t)code;
    return (int32_t)((uint32_t)predicted + (word >> 1 ^ (0 - (word & 1))));
}

/* The state that definitions carry from record to record. */
struct previous {
    uint32_t mask;
    uint16_t warp;
};

static inline bool decode_mask(struct decoder *d, unsigned code, struct combo *combo,
                               struct previous *previous)
{
    if (code == CTS_ACC_MASK_COMBO) {
        previous->mask = combo->mask;
    } else if (code == CTS_ACC_MASK_FULL) {
        previous->mask = UINT32_MAX;
    } else if (code != CTS_ACC_MASK_PREVIOUS) {
        struct cts_cursor *const masks = &d->sections[CTS_ACC_MASKS];
        previous->mask ^= (uint32_t)cts_get_sized(masks->at, code & 7);
        masks->at += code;
        if (masks->at > masks->end || code > 4) return false;
    }
    combo->mask = previous->mask;
    return previous->mask != 0;
}

static inline bool decode_warp(struct decoder *d, unsigned code, struct previous *previous)
{
    if (code == CTS_ACC_WARP_PREVIOUS) return true;
    if (code == CTS_ACC_WARP_NEXT) {
        previous->warp++;
    } else if (code == CTS_ACC_WARP_ZERO) {
        previous->warp = 0;
    } else {
        struct cts_cursor *const warps = &d->sections[CTS_ACC_WARPS];
        previous->warp = cts_get_u16(warps->at);
        warps->at += 2;
        return warps->at <= warps->end;
    }
    return true;
}

static inline bool decode_numbers(struct decoder *d, unsigned control, struct combo *combo)
{
    const unsigned s0_bytes = control >> CTS_ACC_CONTROL_S0_SHIFT & 7;
    const unsigned s1_bytes = control >> CTS_ACC_CONTROL_S1_SHIFT & 7;
    const unsigned base_bytes = control >> CTS_ACC_CONTROL_BASE_SHIFT & 15;
    if (s0_bytes > 4 || s1_bytes > 4 || base_bytes > 8 || control >> 15) return false;
    if (s0_bytes | s1_bytes) {
        struct cts_cursor *const strides = &d->sections[CTS_ACC_STRIDES];
        combo->s0 = stride_of(combo->s0, cts_get_sized(strides->at, s0_bytes));
        combo->s1 = stride_of(combo->s1, cts_get_sized(strides->at + s0_bytes, s1_bytes));
        strides->at += s0_bytes + s1_bytes;
        if (strides->at > strides->end) return false;
    }
    struct cts_cursor *const bases = &d->sections[CTS_ACC_BASES];
    combo->base += cts_unzigzag(cts_get_sized(bases->at, base_bytes));
    bases->at += base_bytes;
    return bases->at <= bases->end && !((uint32_t)combo->s0 & ~combo->s0_allowed) &&
           !((uint32_t)combo->s1 & ~combo->s1_allowed);
}

static enum cts_status decode_definition(struct decoder *d, struct template_rows *t,
                                         struct previous *previous)
{
    struct cts_acc_batch *const batch = d->batch;
    for (uint32_t i = 0; i < t->record_count; i++) {
        const uint32_t record = t->first_record + i;
        const uint32_t row = t->first_row + i;
        const uint32_t id = id_at(d, record);
        const unsigned control =
            d->controls[record] | (unsigned)d->controls[d->defined_count + record] << 8;
        struct combo *const combo = &d->combos[id < d->combo_count ? id : 0];
        if (id >= d->combo_count || !decode_mask(d, control & 7, combo, previous) ||
            !decode_warp(d, control >> CTS_ACC_CONTROL_WARP_SHIFT & 3, previous) ||
            !decode_numbers(d, control, combo))
            return cts_fail(d->error, CTS_FORMAT, "defined record %u: combo %u, control 0x%04x",
                            record, id, control);
        batch->site[row] = combo->site;
        batch->mask[row] = previous->mask;
        batch->warp[row] = previous->warp;
        batch->space[row] = combo->space;
        batch->pattern[row] = combo->is_box ? CTS_ACC_PATTERN_BOX : combo->pattern;
        batch->row_lanes[row] = combo->row_lanes;
        batch->s0[row] = combo->s0;
        batch->s1[row] = combo->s1;
        batch->base[row] = combo->base;
        batch->offset_start[row] = 0;
        const uint32_t lanes = cts_lane_count(previous->mask);
        t->box_count += combo->is_box;
        t->barrier_count += combo->space == CTS_SPACE_BARRIER;
        t->access_count += combo->space == CTS_SPACE_BARRIER ? 0
                           : combo->is_box                   ? (uint32_t)combo->s0
                                                             : lanes;
        t->list_count += combo->pattern == CTS_PATTERN_LIST;
        t->value_count += combo->value_words * lanes;
    }
    return CTS_OK;
}

/* ---- lists and values ---- */

static void unpack_list(const uint8_t *from, unsigned lanes, unsigned bits, unsigned shift,
                        uint32_t *offsets)
{
    const uint64_t keep = bits ? UINT64_MAX >> (64 - bits) : 0;
    for (unsigned k = 0, at = 0; k < lanes; k++, at += bits)
        offsets[k] = (uint32_t)((cts_get_u64(from + at / 8) >> at % 8 & keep) << shift);
}

/* The stored lists of the rows [row, row + count). */
static enum cts_status decode_lists(struct decoder *d, uint32_t row, uint32_t count)
{
    struct cts_acc_batch *const batch = d->batch;
    struct cts_cursor *const packed = &d->sections[CTS_ACC_LIST_BITS];
    for (uint32_t i = row; i < row + count; i++) {
        const bool is_box = batch->pattern[i] == CTS_ACC_PATTERN_BOX;
        if (batch->pattern[i] != CTS_PATTERN_LIST && !is_box) continue;
        if (d->list == d->list_count)
            return cts_fail(d->error, CTS_FORMAT, "more lists than the %u stored", d->list_count);
        const unsigned lanes = is_box ? CTS_BOX_WORDS : cts_lane_count(batch->mask[i]);
        const unsigned bits = d->list_bits[d->list];
        const unsigned shift = d->list_shifts[d->list];
        if (bits + shift > 32 || shift > 31 || lanes > d->header->offset_count - d->offset)
            return cts_fail(d->error, CTS_FORMAT, "list %u: %u offsets of %u bits above %u",
                            d->list, lanes, bits, shift);
        const uint8_t *const from = cts_cursor_bytes(packed, (lanes * bits + 7) / 8);
        if (!from) return cts_fail(d->error, CTS_FORMAT, "list %u is truncated", d->list);
        unpack_list(from, lanes, bits, shift, batch->offsets + d->offset);
        batch->offset_start[i] = d->offset;
        d->offset += lanes;
        d->list++;
    }
    return CTS_OK;
}

/* Where the values of the rows [row, row + count) start; `t` says which rows have any. */
static enum cts_status assign_values(struct decoder *d, const struct template_rows *t, uint32_t row,
                                     uint32_t repeat)
{
    struct cts_acc_batch *const batch = d->batch;
    if (!t->value_count) {
        memset(batch->value_start + row, 0xff,
               (size_t)t->record_count * repeat * sizeof *batch->value_start);
        return CTS_OK;
    }
    if ((uint64_t)t->value_count * repeat > d->header->value_count - d->value)
        return cts_fail(d->error, CTS_FORMAT, "more values than the %u stored",
                        d->header->value_count);
    for (uint32_t k = 0; k < repeat; k++) {
        for (uint32_t i = 0; i < t->record_count; i++, row++) {
            const struct combo *const combo = &d->combos[id_at(d, t->first_record + i)];
            const uint32_t words = combo->value_words * cts_lane_count(batch->mask[row]);
            batch->value_start[row] = words ? d->value : UINT32_MAX;
            batch->value_words[row] = combo->value_words;
            d->value += words;
        }
    }
    return CTS_OK;
}

static void decode_values(struct decoder *d)
{
    const uint8_t *const planes = d->sections[CTS_ACC_VALUES].at;
    const size_t count = d->header->value_count;
    for (size_t i = 0; i < count; i++) {
        uint64_t value = 0;
        for (size_t plane = 0; plane < 8; plane++)
            value |= (uint64_t)planes[plane * count + i] << 8 * plane;
        d->batch->values[i] = value;
    }
}

/* ---- instances ---- */

/* The values of shift `index`, which is known or the next one. */
static enum cts_status find_shift(struct decoder *d, uint32_t index, uint32_t template_index,
                                  const uint64_t **values)
{
    struct cts_acc_batch_private *const p = d->batch->private_data;
    const struct template_rows *const t = &d->templates[template_index];
    if (index < d->shift_count) {
        const struct shift *const shift = &((const struct shift *)p->shifts.data)[index];
        if (shift->template_index != template_index)
            return cts_fail(d->error, CTS_FORMAT, "shift %u belongs to template %u, not %u", index,
                            shift->template_index, template_index);
        *values = (const uint64_t *)p->shift_values.data + shift->start;
        return CTS_OK;
    }
    const uint8_t *const lengths =
        cts_cursor_bytes(&d->sections[CTS_ACC_SHIFT_LENGTHS], t->record_count);
    if (index > d->shift_count || !lengths)
        return cts_fail(d->error, CTS_FORMAT, "shift %u does not exist", index);
    const struct shift shift = {
        .template_index = template_index,
        .start = (uint32_t)(p->shift_values.size_bytes / sizeof(uint64_t)),
    };
    enum cts_status status = cts_buffer_append(&p->shifts, &shift, sizeof shift, d->error);
    if (!status)
        status = cts_buffer_reserve(&p->shift_values, t->record_count * sizeof(uint64_t), d->error);
    if (status) return status;
    uint64_t *const out = (uint64_t *)p->shift_values.data + shift.start;
    struct cts_cursor *const bytes = &d->sections[CTS_ACC_SHIFT_BYTES];
    for (uint32_t i = 0; i < t->record_count; i++) {
        struct combo *const combo = &d->combos[id_at(d, t->first_record + i)];
        if (lengths[i] > 8 || lengths[i] > cts_cursor_left(bytes))
            return cts_fail(d->error, CTS_FORMAT, "shift %u: value %u of %u bytes", index, i,
                            lengths[i]);
        combo->shift += cts_unzigzag(cts_get_sized(bytes->at, lengths[i]));
        bytes->at += lengths[i];
        out[i] = combo->shift;
    }
    p->shift_values.size_bytes += t->record_count * sizeof(uint64_t);
    d->shift_count++;
    *values = out;
    return CTS_OK;
}

/* Fills `total` elements at `to` with copies of the `count` at `from`, which stand before it. */
static void tile(void *to, const void *from, size_t count, size_t total, size_t element_bytes)
{
    memcpy(to, from, count * element_bytes);
    for (size_t done = count; done < total;) {
        const size_t more = done < total - done ? done : total - done;
        memcpy((uint8_t *)to + done * element_bytes, to, more * element_bytes);
        done += more;
    }
}

static void copy_rows(struct cts_acc_batch *batch, const struct template_rows *t, uint32_t row,
                      uint32_t repeat)
{
    const size_t n = t->record_count;
    const size_t total = n * repeat;
    const uint32_t from = t->first_row;
    tile(batch->site + row, batch->site + from, n, total, sizeof *batch->site);
    tile(batch->mask + row, batch->mask + from, n, total, sizeof *batch->mask);
    tile(batch->s0 + row, batch->s0 + from, n, total, sizeof *batch->s0);
    tile(batch->s1 + row, batch->s1 + from, n, total, sizeof *batch->s1);
    tile(batch->warp + row, batch->warp + from, n, total, sizeof *batch->warp);
    tile(batch->space + row, batch->space + from, n, total, sizeof *batch->space);
    tile(batch->pattern + row, batch->pattern + from, n, total, sizeof *batch->pattern);
    tile(batch->row_lanes + row, batch->row_lanes + from, n, total, sizeof *batch->row_lanes);
    tile(batch->offset_start + row, batch->offset_start + t->last_row, n, total,
         sizeof *batch->offset_start);
}

static void add_shift(uint64_t *restrict bases, const uint64_t *restrict last,
                      const uint64_t *restrict shift, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) bases[i] = last[i] + shift[i];
}

static enum cts_status decode_run(struct decoder *d, uint32_t template_index, uint32_t shift_code,
                                  uint32_t repeat)
{
    struct cts_acc_batch *const batch = d->batch;
    struct template_rows *const t = &d->templates[template_index];
    const uint64_t *shift = NULL;
    const enum cts_status status = find_shift(d, shift_code / 2 - 1, template_index, &shift);
    if (status) return status;
    copy_rows(batch, t, d->row, repeat);
    uint32_t last = t->last_row;
    for (uint32_t k = 0, row = d->row; k < repeat; k++, row += t->record_count) {
        add_shift(batch->base + row, batch->base + last, shift, t->record_count);
        last = row;
    }
    t->last_row = last;
    if (!(shift_code & 1)) return CTS_OK;
    if (repeat != 1)
        return cts_fail(d->error, CTS_FORMAT, "a run of %u records has its own lists", repeat);
    return decode_lists(d, d->row, t->record_count);
}

/* CTA numbers of a run: they must lie in the header's range, and not wrap around. */
static enum cts_status assign_ctas(struct decoder *d, uint32_t step, uint32_t repeat,
                                   uint32_t count)
{
    const int64_t first = (uint32_t)(d->cta + step);
    const int64_t last = first + (int64_t)(int32_t)step * (repeat - 1);
    const int64_t low = first < last ? first : last;
    const int64_t high = first < last ? last : first;
    if (low < d->header->first_cta || high > d->header->last_cta)
        return cts_fail(d->error, CTS_FORMAT, "CTAs %lld to %lld are outside %u to %u",
                        (long long)low, (long long)high, d->header->first_cta, d->header->last_cta);
    uint32_t *to = d->batch->cta + d->row;
    uint32_t cta = (uint32_t)first;
    for (uint32_t k = 0; k < repeat; k++, cta += step)
        for (uint32_t i = 0; i < count; i++) *to++ = cta;
    d->cta = (uint32_t)last;
    if (low < d->first_cta) d->first_cta = (uint32_t)low;
    if (high > d->last_cta) d->last_cta = (uint32_t)high;
    return CTS_OK;
}

static enum cts_status decode_instance(struct decoder *d, uint32_t instance,
                                       struct previous *previous)
{
    const uint8_t *const at = d->sections[CTS_ACC_INSTANCES].at + 4 * (size_t)instance;
    const size_t column_bytes = 4 * (size_t)d->instance_count;
    const uint32_t template_index = cts_get_u32(at);
    const uint32_t shift_code = cts_get_u32(at + column_bytes);
    const uint32_t step = cts_get_u32(at + 2 * column_bytes);
    const uint32_t repeat = cts_get_u32(at + 3 * column_bytes);
    const bool defines = shift_code == 0;
    if (template_index >= d->templates_defined + defines ||
        template_index < (defines ? d->templates_defined : 0) ||
        template_index >= d->template_count || shift_code == 1 || repeat == 0 ||
        (defines && repeat != 1))
        return cts_fail(d->error, CTS_FORMAT, "instance %u: template %u, shift %u, repeated %u",
                        instance, template_index, shift_code, repeat);
    struct template_rows *const t = &d->templates[template_index];
    const uint64_t rows = (uint64_t)t->record_count * repeat;
    if (rows > d->row_count - d->row)
        return cts_fail(d->error, CTS_FORMAT, "instance %u: more records than %u", instance,
                        d->row_count);
    enum cts_status status = assign_ctas(d, step, repeat, t->record_count);
    if (status) return status;
    if (defines) {
        t->first_row = t->last_row = d->row;
        d->templates_defined++;
        status = decode_definition(d, t, previous);
        if (!status && t->list_count) status = decode_lists(d, d->row, t->record_count);
    } else {
        status = decode_run(d, template_index, shift_code, repeat);
    }
    if (!status) status = assign_values(d, t, d->row, repeat);
    d->row += (uint32_t)rows;
    d->access_count += (uint64_t)t->access_count * repeat;
    d->barrier_count += (uint64_t)t->barrier_count * repeat;
    d->box_count += (uint64_t)t->box_count * repeat;
    return status;
}

/* What the header promised must have come, and nothing may be left over. */
static enum cts_status check_end(const struct decoder *d)
{
    const struct cts_acc_chunk_header *const h = d->header;
    const bool all_rows = d->box_count ? d->row <= d->row_count : d->row == d->row_count;
    if (!all_rows || d->barrier_count != h->barrier_count || d->access_count != h->access_count ||
        d->offset != h->offset_count || d->value != h->value_count ||
        d->first_cta != h->first_cta || d->last_cta != h->last_cta)
        return cts_fail(d->error, CTS_FORMAT,
                        "%u records, %llu accesses, %u offsets, %u values differ from the header",
                        d->row, (unsigned long long)d->access_count, d->offset, d->value);
    static const enum cts_acc_section streams[] = {
        CTS_ACC_MASKS,         CTS_ACC_WARPS,       CTS_ACC_STRIDES,  CTS_ACC_BASES,
        CTS_ACC_SHIFT_LENGTHS, CTS_ACC_SHIFT_BYTES, CTS_ACC_LIST_BITS};
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++)
        if (size_of(d, streams[i]))
            return cts_fail(d->error, CTS_FORMAT, "%zu bytes left in section %d",
                            size_of(d, streams[i]), streams[i]);
    if (d->templates_defined != d->template_count || d->list != d->list_count)
        return cts_fail(d->error, CTS_FORMAT, "unused templates or lists");
    return CTS_OK;
}

/* ---- barriers ---- */

/* Moves the records [from, to) of all columns to the front, to `at`. */
static void move_rows(struct cts_acc_batch *batch, size_t at, size_t from, size_t to)
{
    const size_t n = to - from;
    if (at == from || !n) return;
#define MOVE(column) memmove(batch->column + at, batch->column + from, n * sizeof *batch->column)
    MOVE(cta);
    MOVE(site);
    MOVE(mask);
    MOVE(warp);
    MOVE(space);
    MOVE(pattern);
    MOVE(row_lanes);
    MOVE(s0);
    MOVE(s1);
    MOVE(base);
    MOVE(value_words);
    MOVE(offset_start);
    MOVE(value_start);
#undef MOVE
}

/* One for each argument that lanes of the record have. */
static enum cts_status add_barriers(struct cts_acc_batch *batch, size_t row, size_t before,
                                    struct cts_error *error)
{
    struct cts_acc_batch_private *const p = batch->private_data;
    const struct cts_access record = cts_acc_record(batch, row);
    uint64_t arguments[CTS_WARP_LANES];
    if (batch->barrier_count + CTS_WARP_LANES > p->barrier_capacity &&
        cts_array_grow((void **)&batch->barriers, &p->barrier_capacity,
                       batch->barrier_count + CTS_WARP_LANES, sizeof *batch->barriers, error))
        return CTS_MEMORY;
    cts_access_addresses(&record, arguments);
    for (uint32_t rest = record.mask; rest;) {
        struct cts_acc_barrier barrier = {.before = (uint32_t)before,
                                          .cta = record.cta,
                                          .site = record.site,
                                          .argument = arguments[__builtin_ctz(rest)],
                                          .warp = record.warp};
        for (uint32_t left = rest; left; left &= left - 1)
            if (arguments[__builtin_ctz(left)] == barrier.argument) barrier.mask |= left & -left;
        rest &= ~barrier.mask;
        batch->barriers[batch->barrier_count++] = barrier;
    }
    return CTS_OK;
}

/* Takes the barriers out of the columns, which are then of accesses alone. */
static enum cts_status part_barriers(struct cts_acc_batch *batch, size_t row_count,
                                     struct cts_error *error)
{
    size_t kept = 0, begin = 0;
    for (size_t i = 0; i < row_count; i++) {
        if (batch->space[i] != CTS_SPACE_BARRIER) continue;
        move_rows(batch, kept, begin, i);
        kept += i - begin;
        begin = i + 1;
        if (add_barriers(batch, i, kept, error)) return CTS_MEMORY;
    }
    move_rows(batch, kept, begin, row_count);
    return CTS_OK;
}

enum cts_status cts_acc_decode_payload(const struct cts_acc_chunk_header *header,
                                       const uint8_t *raw, struct cts_acc_batch *batch,
                                       struct cts_error *error)
{
    struct decoder d = {.header = header,
                        .batch = batch,
                        .error = error,
                        .row_count = header->record_count + header->barrier_count,
                        .first_cta = UINT32_MAX};
    enum cts_status status = cts_acc_batch_reserve(batch, header, error);
    if (!status) status = read_sections(&d, raw);
    if (!status) status = read_combos(&d);
    if (!status) status = read_templates(&d);
    if (!status) status = read_columns(&d);
    if (status) return status;
    cts_buffer_clear(&batch->private_data->shifts);
    cts_buffer_clear(&batch->private_data->shift_values);
    struct previous previous = {.mask = UINT32_MAX};
    for (uint32_t i = 0; i < d.instance_count && !status; i++)
        status = decode_instance(&d, i, &previous);
    if (!status) status = check_end(&d);
    if (status) return status;
    decode_values(&d);
    batch->launch = header->launch;
    batch->record_count = header->record_count;
    batch->offset_count = header->offset_count;
    batch->value_count = header->value_count;
    if (header->barrier_count) status = part_barriers(batch, d.row, error);
    if (!status && d.box_count)
        status = cts_acc_expand_boxes(batch, d.row - header->barrier_count, error);
    return status;
}
