/* A chunk's payload from the builder's arrays. docs/format.md, "Payload", is the specification.
 *
 * Definitions are coded record by record, each field against a prediction: (site, kind) pairs are
 * numbered in order of appearance (*combos*), and mask, strides and base are predicted from the
 * previous record of the same combo, or simply the previous record. What differs is kept in as
 * many bytes as it needs; a control word says how many. Shifts are coded as differences to the
 * combo's previous shift, which is mostly the same. Lists are packed to the bits they need.
 *
 * Sections are first written far enough apart for the worst case, then moved together. */
#include "common/hash.h"
#include "trace/acc-builder.h"

#define NONE UINT32_MAX

struct combo {
    uint32_t site;
    uint16_t kind;
    uint32_t mask;
    int32_t s0, s1;
    uint64_t base, shift;
};

struct section {
    uint8_t *start, *end;
};

struct encoder {
    const struct cts_acc_builder *b;
    const struct cts_acc_template *templates;
    const struct cts_acc_shift *shifts;
    const struct cts_acc_instance *instances;
    const struct cts_acc_shape *shapes;
    const uint64_t *bases, *shift_values;
    const uint32_t *offsets;
    uint32_t record_count; /* defined ones */
    uint32_t shift_value_count;
    struct combo *combos;
    uint32_t combo_count;
    uint32_t *ids; /* of each defined record */
    struct section sections[CTS_ACC_SECTION_COUNT];
};

/* ---- combos ---- */

static uint32_t combo_slot(uint32_t site, uint16_t kind, uint32_t slot_count)
{
    const uint64_t key = (uint64_t)site << 16 | kind;
    return (uint32_t)(cts_hash(key) >> 40) & (slot_count - 1);
}

static enum cts_status grow_slots(struct cts_acc_builder *b, const struct encoder *e,
                                  struct cts_error *error)
{
    const size_t old_count = b->combo_slots.size_bytes / sizeof(uint32_t);
    const size_t count = old_count ? old_count * 2 : 1024;
    cts_buffer_clear(&b->combo_slots);
    const enum cts_status status =
        cts_buffer_reserve(&b->combo_slots, count * sizeof(uint32_t), error);
    if (status) return status;
    b->combo_slots.size_bytes = count * sizeof(uint32_t);
    uint32_t *const slots = (uint32_t *)b->combo_slots.data;
    memset(slots, 0, b->combo_slots.size_bytes);
    for (uint32_t i = 0; i < e->combo_count; i++) {
        uint32_t slot = combo_slot(e->combos[i].site, e->combos[i].kind, (uint32_t)count);
        while (slots[slot]) slot = (slot + 1) & (uint32_t)(count - 1);
        slots[slot] = i + 1;
    }
    return CTS_OK;
}

static enum cts_status add_combo(struct cts_acc_builder *b, struct encoder *e,
                                 const struct cts_acc_shape *shape, struct cts_error *error)
{
    const struct combo combo = {.site = shape->site, .kind = shape->kind};
    const enum cts_status status = cts_buffer_append(&b->combos, &combo, sizeof combo, error);
    if (status) return status;
    e->combos = (struct combo *)b->combos.data;
    e->combo_count++;
    return e->combo_count * sizeof(uint32_t) * 2 > b->combo_slots.size_bytes
               ? grow_slots(b, e, error)
               : CTS_OK;
}

/* Numbers the combos of all defined records. */
static enum cts_status number_combos(struct cts_acc_builder *b, struct encoder *e,
                                     struct cts_error *error)
{
    cts_buffer_clear(&b->combos);
    cts_buffer_clear(&b->combo_ids);
    cts_buffer_clear(&b->combo_slots);
    enum cts_status status =
        cts_buffer_reserve(&b->combo_ids, e->record_count * sizeof(uint32_t), error);
    if (!status) status = grow_slots(b, e, error);
    e->ids = (uint32_t *)b->combo_ids.data;
    for (uint32_t i = 0; i < e->record_count && !status; i++) {
        const struct cts_acc_shape *const shape = &e->shapes[i];
        const uint32_t count = (uint32_t)(b->combo_slots.size_bytes / sizeof(uint32_t));
        uint32_t *const slots = (uint32_t *)b->combo_slots.data;
        uint32_t slot = combo_slot(shape->site, shape->kind, count);
        while (slots[slot] && (e->combos[slots[slot] - 1].site != shape->site ||
                               e->combos[slots[slot] - 1].kind != shape->kind))
            slot = (slot + 1) & (count - 1);
        if (!slots[slot]) {
            slots[slot] = e->combo_count + 1;
            status = add_combo(b, e, shape, error);
            e->ids[i] = e->combo_count - 1;
        } else {
            e->ids[i] = slots[slot] - 1;
        }
    }
    return status;
}

/* ---- sections ---- */

static void place(struct encoder *e, enum cts_acc_section section, uint8_t **at, size_t most_bytes)
{
    e->sections[section] = (struct section){*at, *at};
    *at += most_bytes + sizeof(uint64_t); /* sized values are stored eight bytes at a time */
}

static unsigned id_bytes(uint32_t combo_count)
{
    return combo_count <= 1u << 8 ? 1 : combo_count <= 1u << 16 ? 2 : 4;
}

static enum cts_status place_sections(struct cts_acc_builder *b, struct encoder *e,
                                      struct cts_error *error)
{
    const size_t records = e->record_count;
    const size_t offsets = b->offsets.size_bytes / sizeof(uint32_t);
    const size_t most_bytes[CTS_ACC_SECTION_COUNT] = {
        [CTS_ACC_COMBOS] = 8 * (size_t)e->combo_count,
        [CTS_ACC_TEMPLATES] = 4 * (size_t)b->template_count,
        [CTS_ACC_INSTANCES] = 16 * (size_t)b->instance_count,
        [CTS_ACC_COMBO_IDS] = id_bytes(e->combo_count) * records,
        [CTS_ACC_CONTROLS] = 2 * records,
        [CTS_ACC_MASKS] = 4 * records,
        [CTS_ACC_WARPS] = 2 * records,
        [CTS_ACC_STRIDES] = 8 * records,
        [CTS_ACC_BASES] = 8 * records,
        [CTS_ACC_SHIFT_LENGTHS] = e->shift_value_count,
        [CTS_ACC_SHIFT_BYTES] = 8 * (size_t)e->shift_value_count,
        [CTS_ACC_LIST_HEADERS] = 2 * (size_t)b->list_count,
        [CTS_ACC_LIST_BITS] = 4 * offsets + b->list_count,
        [CTS_ACC_VALUES] = b->values.size_bytes,
    };
    size_t total = 4 * CTS_ACC_SECTION_COUNT;
    for (int i = 0; i < CTS_ACC_SECTION_COUNT; i++) total += most_bytes[i] + sizeof(uint64_t);
    cts_buffer_clear(&b->raw);
    const enum cts_status status = cts_buffer_reserve(&b->raw, total, error);
    if (status) return status;
    uint8_t *at = b->raw.data + 4 * CTS_ACC_SECTION_COUNT;
    for (int i = 0; i < CTS_ACC_SECTION_COUNT; i++) place(e, i, &at, most_bytes[i]);
    return CTS_OK;
}

/* Moves the sections together behind their sizes. */
static void close_gaps(struct cts_acc_builder *b, const struct encoder *e)
{
    uint8_t *at = b->raw.data + 4 * CTS_ACC_SECTION_COUNT;
    for (int i = 0; i < CTS_ACC_SECTION_COUNT; i++) {
        const size_t size_bytes = (size_t)(e->sections[i].end - e->sections[i].start);
        cts_put_u32(b->raw.data + 4 * i, (uint32_t)size_bytes);
        memmove(at, e->sections[i].start, size_bytes);
        at += size_bytes;
    }
    b->raw.size_bytes = (size_t)(at - b->raw.data);
}

/* ---- the parts ---- */

static void encode_tables(struct encoder *e)
{
    struct section *const combos = &e->sections[CTS_ACC_COMBOS];
    for (uint32_t i = 0; i < e->combo_count; i++, combos->end += 8) {
        cts_put_u32(combos->end, e->combos[i].site);
        cts_put_u32(combos->end + 4, e->combos[i].kind);
    }
    struct section *const templates = &e->sections[CTS_ACC_TEMPLATES];
    for (uint32_t i = 0; i < e->b->template_count; i++, templates->end += 4)
        cts_put_u32(templates->end, e->templates[i].record_count);
    struct section *const instances = &e->sections[CTS_ACC_INSTANCES];
    const size_t column_bytes = 4 * (size_t)e->b->instance_count;
    for (uint32_t i = 0; i < e->b->instance_count; i++) {
        const struct cts_acc_instance *const instance = &e->instances[i];
        uint8_t *const at = instances->start + 4 * (size_t)i;
        cts_put_u32(at, instance->template_index);
        cts_put_u32(at + column_bytes, instance->shift);
        cts_put_u32(at + 2 * column_bytes, instance->step);
        cts_put_u32(at + 3 * column_bytes, instance->repeat);
    }
    instances->end += 4 * column_bytes;
}

static void encode_ids(struct encoder *e)
{
    uint8_t *at = e->sections[CTS_ACC_COMBO_IDS].start;
    const unsigned width = id_bytes(e->combo_count);
    for (uint32_t i = 0; i < e->record_count; i++, at += width) {
        if (width == 1)
            *at = (uint8_t)e->ids[i];
        else if (width == 2)
            cts_put_u16(at, (uint16_t)e->ids[i]);
        else
            cts_put_u32(at, e->ids[i]);
    }
    e->sections[CTS_ACC_COMBO_IDS].end = at;
}

static inline unsigned put_sized(struct section *section, uint64_t value)
{
    const unsigned length = cts_length_of(value);
    cts_put_u64(section->end, value);
    section->end += length;
    return length;
}

static inline uint64_t stride_code(int32_t stride, int32_t predicted)
{
    const uint32_t difference = (uint32_t)stride - (uint32_t)predicted;
    return (uint32_t)(difference << 1 ^ (uint32_t)((int32_t)difference >> 31));
}

static void encode_definitions(struct encoder *e)
{
    struct section *const controls = &e->sections[CTS_ACC_CONTROLS];
    struct section masks = e->sections[CTS_ACC_MASKS];
    struct section warps = e->sections[CTS_ACC_WARPS];
    struct section strides = e->sections[CTS_ACC_STRIDES];
    struct section bases = e->sections[CTS_ACC_BASES];
    uint32_t mask = UINT32_MAX;
    uint16_t warp = 0;
    for (uint32_t i = 0; i < e->record_count; i++) {
        const struct cts_acc_shape *const s = &e->shapes[i];
        struct combo *const combo = &e->combos[e->ids[i]];
        unsigned control;
        if (s->mask == mask)
            control = CTS_ACC_MASK_PREVIOUS;
        else if (s->mask == UINT32_MAX)
            control = CTS_ACC_MASK_FULL;
        else if (s->mask == combo->mask)
            control = CTS_ACC_MASK_COMBO;
        else
            control = put_sized(&masks, s->mask ^ mask);
        if (s->warp == warp) {
            control |= CTS_ACC_WARP_PREVIOUS << CTS_ACC_CONTROL_WARP_SHIFT;
        } else if (s->warp == (uint16_t)(warp + 1)) {
            control |= CTS_ACC_WARP_NEXT << CTS_ACC_CONTROL_WARP_SHIFT;
        } else if (s->warp == 0) {
            control |= CTS_ACC_WARP_ZERO << CTS_ACC_CONTROL_WARP_SHIFT;
        } else {
            control |= CTS_ACC_WARP_EXPLICIT << CTS_ACC_CONTROL_WARP_SHIFT;
            cts_put_u16(warps.end, s->warp);
            warps.end += 2;
        }
        control |= put_sized(&strides, stride_code(s->s0, combo->s0)) << CTS_ACC_CONTROL_S0_SHIFT;
        control |= put_sized(&strides, stride_code(s->s1, combo->s1)) << CTS_ACC_CONTROL_S1_SHIFT;
        control |= put_sized(&bases, cts_zigzag(e->bases[i] - combo->base))
                   << CTS_ACC_CONTROL_BASE_SHIFT;
        controls->start[i] = (uint8_t)control;
        controls->start[e->record_count + i] = (uint8_t)(control >> 8);
        mask = combo->mask = s->mask;
        warp = s->warp;
        combo->s0 = s->s0;
        combo->s1 = s->s1;
        combo->base = e->bases[i];
    }
    controls->end = controls->start + 2 * (size_t)e->record_count;
    e->sections[CTS_ACC_MASKS] = masks;
    e->sections[CTS_ACC_WARPS] = warps;
    e->sections[CTS_ACC_STRIDES] = strides;
    e->sections[CTS_ACC_BASES] = bases;
}

static void encode_shifts(struct encoder *e)
{
    struct section lengths = e->sections[CTS_ACC_SHIFT_LENGTHS];
    struct section bytes = e->sections[CTS_ACC_SHIFT_BYTES];
    for (uint32_t i = 0; i < e->b->shift_count; i++) {
        const struct cts_acc_template *const t = &e->templates[e->shifts[i].template_index];
        const uint32_t *const ids = e->ids + t->first_record;
        const uint64_t *const values = e->shift_values + e->shifts[i].start;
        for (uint32_t k = 0; k < t->record_count; k++) {
            struct combo *const combo = &e->combos[ids[k]];
            *lengths.end++ = (uint8_t)put_sized(&bytes, cts_zigzag(values[k] - combo->shift));
            combo->shift = values[k];
        }
    }
    e->sections[CTS_ACC_SHIFT_LENGTHS] = lengths;
    e->sections[CTS_ACC_SHIFT_BYTES] = bytes;
}

/* Appends values of `bits` bits each, whole bytes as soon as they are full. */
struct bit_writer {
    uint8_t *at;
    uint64_t pending;
    unsigned pending_bits; /* below 8 between calls */
};
static inline void put_bits(struct bit_writer *writer, uint64_t value, unsigned bits)
{
    writer->pending |= value << writer->pending_bits;
    writer->pending_bits += bits;
    cts_put_u64(writer->at, writer->pending);
    writer->at += writer->pending_bits / 8;
    writer->pending >>= writer->pending_bits & ~7u; /* below 64, see pack_list() */
    writer->pending_bits %= 8;
}

/* A list in `bits` bits per offset, above `shift` low bits that are all 0; ends at a whole byte. */
static uint8_t *pack_list(const uint32_t *offsets, unsigned count, uint8_t *bits_of,
                          uint8_t *shift_of, uint8_t *at)
{
    uint32_t all = 0;
    for (unsigned k = 0; k < count; k++) all |= offsets[k];
    const unsigned shift = all ? (unsigned)__builtin_ctz(all) : 0;
    const unsigned bits = all ? 32 - (unsigned)__builtin_clz(all) - shift : 0;
    struct bit_writer writer = {.at = at};
    unsigned k = 0;
    /* Two at a time while both, and the bits that are pending, fit into less than 64. */
    for (; bits <= 28 && k + 1 < count; k += 2)
        put_bits(&writer, offsets[k] >> shift | (uint64_t)(offsets[k + 1] >> shift) << bits,
                 2 * bits);
    for (; k < count; k++) put_bits(&writer, offsets[k] >> shift, bits);
    *bits_of = (uint8_t)bits;
    *shift_of = (uint8_t)shift;
    return writer.at + (writer.pending_bits > 0);
}

static void encode_lists(struct encoder *e)
{
    uint8_t *const headers = e->sections[CTS_ACC_LIST_HEADERS].start;
    uint8_t *at = e->sections[CTS_ACC_LIST_BITS].start;
    const uint32_t *offsets = e->offsets;
    uint32_t list = 0;
    for (uint32_t i = 0; i < e->b->instance_count; i++) {
        const struct cts_acc_instance *const instance = &e->instances[i];
        const struct cts_acc_template *const t = &e->templates[instance->template_index];
        if (!t->list_count || (instance->shift && !(instance->shift & 1))) continue;
        for (uint32_t k = 0; k < t->record_count; k++) {
            const struct cts_acc_shape *const s = &e->shapes[t->first_record + k];
            if (cts_acc_kind_pattern(s->kind) != CTS_PATTERN_LIST) continue;
            const unsigned lanes = cts_acc_list_words(s);
            at = pack_list(offsets, lanes, &headers[list], &headers[e->b->list_count + list], at);
            offsets += lanes;
            list++;
        }
    }
    e->sections[CTS_ACC_LIST_HEADERS].end += 2 * (size_t)e->b->list_count;
    e->sections[CTS_ACC_LIST_BITS].end = at;
}

/* Byte planes: the high bytes of most values are alike. In blocks that stay in the first cache. */
static void encode_values(struct encoder *e)
{
    enum { BLOCK = 2048 };
    const size_t count = e->b->values.size_bytes / sizeof(uint64_t);
    const uint64_t *const values = (const uint64_t *)e->b->values.data;
    uint8_t *const start = e->sections[CTS_ACC_VALUES].start;
    for (size_t first = 0; first < count; first += BLOCK) {
        const size_t n = count - first < BLOCK ? count - first : BLOCK;
        uint64_t any = 0;
        for (size_t i = 0; i < n; i++) any |= values[first + i];
        for (size_t plane = 0; plane < sizeof(uint64_t); plane++) {
            uint8_t *const to = start + plane * count + first;
            if (!(any >> 8 * plane & 0xff)) {
                memset(to, 0, n);
                continue;
            }
            for (size_t i = 0; i < n; i++) to[i] = (uint8_t)(values[first + i] >> 8 * plane);
        }
    }
    e->sections[CTS_ACC_VALUES].end += count * sizeof(uint64_t);
}

enum cts_status cts_acc_encode_payload(struct cts_acc_builder *b, struct cts_error *error)
{
    struct encoder e = {
        .b = b,
        .templates = (const struct cts_acc_template *)b->templates.data,
        .shifts = (const struct cts_acc_shift *)b->shifts.data,
        .instances = (const struct cts_acc_instance *)b->instances.data,
        .shapes = (const struct cts_acc_shape *)b->shapes.data,
        .bases = (const uint64_t *)b->bases.data,
        .shift_values = (const uint64_t *)b->shift_values.data,
        .offsets = (const uint32_t *)b->offsets.data,
        .record_count = (uint32_t)(b->bases.size_bytes / sizeof(uint64_t)),
        .shift_value_count = (uint32_t)(b->shift_values.size_bytes / sizeof(uint64_t)),
    };
    enum cts_status status = number_combos(b, &e, error);
    if (!status) status = place_sections(b, &e, error);
    if (status) return status;
    encode_tables(&e);
    encode_ids(&e);
    encode_definitions(&e);
    encode_shifts(&e);
    encode_lists(&e);
    encode_values(&e);
    close_gaps(b, &e);
    return CTS_OK;
}
