/* Finds, for each segment, the template it repeats (see acc-builder.h for the words).
 *
 * The usual segment costs one memcmp of its shapes with the template that followed the previous
 * one last time, one pass over its bases, and a counter. A segment of unknown shapes is looked up
 * by a hash of them, and becomes a new template when nobody has them. Kernels whose CTAs are all
 * different define a template per segment: the definitions are then coded as plain columns
 * (acc-encode.c), and nothing else is paid but the hash.
 *
 * Everything lives in growing arrays that belong to the chunk and are emptied with it. */
#include "trace/acc-builder.h"

#include <stdlib.h>
#include <zstd.h>

#include "common/hash.h"
#include "common/promise.h"

#define NONE UINT32_MAX

static struct cts_acc_template *templates_of(const struct cts_acc_builder *b)
{
    return (struct cts_acc_template *)b->templates.data;
}
static struct cts_acc_shift *shifts_of(const struct cts_acc_builder *b)
{
    return (struct cts_acc_shift *)b->shifts.data;
}
static struct cts_acc_instance *instances_of(const struct cts_acc_builder *b)
{
    return (struct cts_acc_instance *)b->instances.data;
}
static const struct cts_acc_shape *shapes_of(const struct cts_acc_builder *b)
{
    return (const struct cts_acc_shape *)b->shapes.data;
}
static uint64_t *words_of(const struct cts_buffer *buffer)
{
    return (uint64_t *)buffer->data;
}

enum cts_status cts_acc_builder_init(struct cts_acc_builder *b, int compression_level,
                                     struct cts_error *error)
{
    *b = (struct cts_acc_builder){0};
    b->compression_level = compression_level ? compression_level : CTS_ACC_DEFAULT_LEVEL;
    b->target_raw_bytes = CTS_ACC_TARGET_RAW_BYTES;
    b->slots = calloc(CTS_ACC_SLOT_COUNT, sizeof *b->slots);
    b->zstd = ZSTD_createCCtx();
    /* Templates without lists point at offset 0 all the same. */
    const enum cts_status status = cts_buffer_reserve(&b->offsets, sizeof(uint32_t), NULL);
    if (!b->slots || !b->zstd || status) {
        cts_acc_builder_release(b);
        return cts_fail(error, CTS_MEMORY, "no memory for a stream of warp records");
    }
    cts_acc_builder_clear(b);
    return CTS_OK;
}

void cts_acc_builder_release(struct cts_acc_builder *b)
{
    struct cts_buffer *const buffers[] = {
        &b->shapes,    &b->bases,       &b->offsets,      &b->values, &b->templates,
        &b->instances, &b->shifts,      &b->shift_values, &b->lasts,  &b->combos,
        &b->combo_ids, &b->combo_slots, &b->raw,
    };
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) cts_buffer_release(buffers[i]);
    free(b->slots);
    ZSTD_freeCCtx(b->zstd);
    *b = (struct cts_acc_builder){0};
}

void cts_acc_builder_clear(struct cts_acc_builder *b)
{
    struct cts_buffer *const buffers[] = {
        &b->shapes,    &b->bases,  &b->offsets,      &b->values, &b->templates,
        &b->instances, &b->shifts, &b->shift_values, &b->lasts,
    };
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) cts_buffer_clear(buffers[i]);
    if (b->template_count) memset(b->slots, 0, CTS_ACC_SLOT_COUNT * sizeof *b->slots);
    b->template_count = b->instance_count = b->shift_count = b->list_count = 0;
    b->previous_template = NONE;
    b->previous_cta = 0;
    b->first_cta = UINT32_MAX;
    b->last_cta = 0;
    b->record_count = b->barrier_count = 0;
    b->access_count = 0;
    b->first_address = UINT64_MAX;
    b->last_address = 0;
}

bool cts_acc_builder_full(const struct cts_acc_builder *b)
{
    const size_t raw_bytes = b->shapes.size_bytes + b->bases.size_bytes + b->offsets.size_bytes +
                             b->values.size_bytes + b->shift_values.size_bytes +
                             b->templates.size_bytes + b->instances.size_bytes;
    return raw_bytes >= b->target_raw_bytes;
}

/* Four products side by side; only speed depends on its quality, equality is always checked. */
static uint64_t hash_of(const void *bytes, size_t byte_count)
{
    uint64_t lane[4] = {byte_count, ~byte_count, CTS_HASH_FACTOR, ~CTS_HASH_FACTOR};
    const uint8_t *at = bytes;
    uint64_t word;
    for (; byte_count >= 32; at += 32, byte_count -= 32) {
        for (int i = 0; i < 4; i++) {
            memcpy(&word, at + 8 * i, 8);
            lane[i] = cts_hash_add(lane[i], word);
            lane[i] ^= lane[i] >> 32;
        }
    }
    for (; byte_count; at++, byte_count--) lane[0] = cts_hash_add(lane[0], *at);
    uint64_t hash = 0;
    for (int i = 0; i < 4; i++) hash = cts_hash_fold(hash, lane[i]);
    return hash;
}

/* ---- templates ---- */

static bool is_template(const struct cts_acc_builder *b, uint32_t index,
                        const struct cts_acc_segment *segment)
{
    const struct cts_acc_template *const t = &templates_of(b)[index];
    return t->record_count == segment->record_count &&
           memcmp(shapes_of(b) + t->first_record, segment->shapes,
                  segment->record_count * sizeof *segment->shapes) == 0;
}

/* The template of a segment, or NONE with its hash and the slot where it belongs. */
static uint32_t find_template(const struct cts_acc_builder *b,
                              const struct cts_acc_segment *segment, uint64_t *hash, uint32_t *slot)
{
    if (b->previous_template != NONE) {
        const uint32_t expected = templates_of(b)[b->previous_template].next;
        if (is_template(b, expected, segment)) return expected;
    }
    *hash = hash_of(segment->shapes, segment->record_count * sizeof *segment->shapes);
    *slot = (uint32_t)(*hash >> 40) % CTS_ACC_SLOT_COUNT;
    while (b->slots[*slot]) {
        const uint32_t index = b->slots[*slot] - 1;
        if (templates_of(b)[index].hash == *hash && is_template(b, index, segment)) return index;
        *slot = (*slot + 1) % CTS_ACC_SLOT_COUNT;
    }
    return NONE;
}

static void count_shapes(struct cts_acc_template *t, const struct cts_acc_shape *shapes)
{
    for (uint32_t i = 0; i < t->record_count; i++) {
        const bool is_barrier = cts_acc_kind_space(shapes[i].kind) == CTS_SPACE_BARRIER;
        t->barrier_count += is_barrier;
        t->access_count += is_barrier ? 0 : cts_acc_access_count(&shapes[i]);
        t->more_records += cts_acc_record_count(&shapes[i]) - 1;
        t->list_count += cts_acc_kind_pattern(shapes[i].kind) == CTS_PATTERN_LIST;
    }
}

/* Returns where they start. cts_acc_builder_add() made room for them, so this cannot fail. */
static uint32_t keep_lists(struct cts_acc_builder *b, const struct cts_acc_segment *segment)
{
    assert(segment->record_count);
    const uint32_t start = (uint32_t)(b->offsets.size_bytes / sizeof(uint32_t));
    (void)!cts_buffer_append(&b->offsets, segment->offsets,
                             segment->offset_count * sizeof(uint32_t), NULL);
    return start;
}

static enum cts_status define_template(struct cts_acc_builder *b,
                                       const struct cts_acc_segment *segment, uint64_t hash,
                                       uint32_t slot, struct cts_error *error)
{
    assert(slot < CTS_ACC_SLOT_COUNT && !b->slots[slot]);
    const uint32_t n = segment->record_count;
    enum cts_status status = cts_buffer_reserve(&b->shapes, n * sizeof *segment->shapes, error);
    if (!status) status = cts_buffer_reserve(&b->bases, n * sizeof(uint64_t), error);
    if (!status) status = cts_buffer_reserve(&b->templates, sizeof(struct cts_acc_template), error);
    struct cts_acc_template t = {
        .hash = hash,
        .first_record = (uint32_t)(b->bases.size_bytes / sizeof(uint64_t)),
        .record_count = n,
        .offset_count = segment->offset_count,
        .last_start = NONE,
        .shift = NONE,
        .next = b->template_count,
    };
    if (status) return status;
    t.offset_start = keep_lists(b, segment);
    count_shapes(&t, segment->shapes);
    /* Room was made above, so that these cannot fail. */
    (void)!cts_buffer_append(&b->shapes, segment->shapes, n * sizeof *segment->shapes, NULL);
    (void)!cts_buffer_append(&b->bases, segment->bases, n * sizeof(uint64_t), NULL);
    (void)!cts_buffer_append(&b->templates, &t, sizeof t, NULL);
    b->template_count++;
    b->list_count += t.list_count;
    /* A table more than half full would be slow: templates beyond are not found again. */
    if (b->template_count <= CTS_ACC_SLOT_COUNT / 2) b->slots[slot] = b->template_count;
    return CTS_OK;
}

/* ---- shifts ---- */

static bool has_shift(const uint64_t *bases, const uint64_t *last, const uint64_t *shift,
                      uint32_t count)
{
    uint64_t differ = 0;
    for (uint32_t i = 0; i < count; i++) differ |= (bases[i] - last[i]) ^ shift[i];
    return differ == 0;
}

static uint32_t recent_shift(const struct cts_acc_builder *b, const struct cts_acc_template *t,
                             uint64_t hash, const uint64_t *values)
{
    const uint32_t kept = sizeof t->recent / sizeof *t->recent;
    for (uint32_t i = 0; i < kept && i < t->recent_count; i++) {
        const struct cts_acc_shift *const shift = &shifts_of(b)[t->recent[i]];
        if (shift->hash == hash && memcmp(words_of(&b->shift_values) + shift->start, values,
                                          t->record_count * sizeof *values) == 0)
            return t->recent[i];
    }
    return NONE;
}

/* The index of the shift from the template's last instance to `bases`; a new one if need be. */
static enum cts_status find_shift(struct cts_acc_builder *b, struct cts_acc_template *t,
                                  const uint64_t *bases, uint32_t *index, struct cts_error *error)
{
    const uint64_t *const last = words_of(&b->lasts) + t->last_start;
    const uint32_t n = t->record_count;
    if (t->shift != NONE &&
        has_shift(bases, last, words_of(&b->shift_values) + shifts_of(b)[t->shift].start, n)) {
        *index = t->shift;
        return CTS_OK;
    }
    enum cts_status status = cts_buffer_reserve(&b->shift_values, n * sizeof *bases, error);
    if (!status) status = cts_buffer_reserve(&b->shifts, sizeof(struct cts_acc_shift), error);
    if (status) return status;
    uint64_t *const values = (uint64_t *)(b->shift_values.data + b->shift_values.size_bytes);
    for (uint32_t i = 0; i < n; i++) values[i] = bases[i] - last[i];
    const struct cts_acc_shift shift = {
        .hash = hash_of(values, n * sizeof *values),
        .template_index = (uint32_t)(t - templates_of(b)),
        .start = (uint32_t)(b->shift_values.size_bytes / sizeof *values),
    };
    *index = recent_shift(b, t, shift.hash, values);
    if (*index != NONE) return CTS_OK;
    b->shift_values.size_bytes += n * sizeof *values;
    (void)!cts_buffer_append(&b->shifts, &shift, sizeof shift, NULL);
    *index = b->shift_count++;
    t->recent[t->recent_count++ % (sizeof t->recent / sizeof *t->recent)] = *index;
    return CTS_OK;
}

/* ---- address range ---- */

static void cover(struct cts_acc_builder *b, uint64_t first, uint64_t last)
{
    if (first < b->first_address) b->first_address = first;
    if (last > b->last_address) b->last_address = last;
}

static bool is_power_of_two(unsigned n)
{
    return n && !(n & (n - 1));
}

/* Widens the chunk's range of global addresses by the records of one instance. Called for the
 * first and the last instance of a run only: between them every base moves in equal steps. */
static void cover_instance(struct cts_acc_builder *b, const struct cts_acc_shape *shapes,
                           const uint64_t *bases, const uint32_t *offsets, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct cts_acc_shape *const s = &shapes[i];
        const unsigned pattern = cts_acc_kind_pattern(s->kind);
        const unsigned lanes = cts_acc_list_words(s);
        const bool global = cts_acc_kind_space(s->kind) == CTS_SPACE_GLOBAL;
        if (cts_acc_kind_is_box(s->kind)) {
            const struct cts_box box = cts_box_get(offsets);
            offsets += lanes;
            cover(b, bases[i], bases[i] + cts_box_span(&box));
        } else if (pattern == CTS_PATTERN_LIST) {
            uint32_t most = 0;
            for (unsigned k = 0; k < lanes; k++) most = offsets[k] > most ? offsets[k] : most;
            offsets += lanes;
            if (global) cover(b, bases[i], bases[i] + most);
        } else if (global && pattern == CTS_PATTERN_TWO_LEVEL && s->mask == UINT32_MAX &&
                   is_power_of_two(cts_acc_kind_row_lanes(s->kind))) {
            const int64_t w = cts_acc_kind_row_lanes(s->kind);
            const int64_t across = s->s0 * (w - 1), down = s->s1 * (CTS_WARP_LANES / w - 1);
            const int64_t low = (across < 0 ? across : 0) + (down < 0 ? down : 0);
            cover(b, bases[i] + (uint64_t)low, bases[i] + (uint64_t)(across + down - low));
        } else if (global && pattern == CTS_PATTERN_TWO_LEVEL) {
            const unsigned w = cts_acc_kind_row_lanes(s->kind);
            for (uint32_t rest = s->mask; rest; rest &= rest - 1) {
                const unsigned lane = (unsigned)__builtin_ctz(rest);
                const uint64_t address = bases[i] +
                                         (uint64_t)((int64_t)s->s0 * (int64_t)(lane % w)) +
                                         (uint64_t)((int64_t)s->s1 * (int64_t)(lane / w));
                cover(b, address, address);
            }
        } else if (global) {
            const int64_t low = (int64_t)s->s0 * __builtin_ctz(s->mask);
            const int64_t high = (int64_t)s->s0 * (31 - __builtin_clz(s->mask));
            cover(b, bases[i] + (uint64_t)(low < high ? low : high),
                  bases[i] + (uint64_t)(low < high ? high : low));
        }
    }
}

static void end_run(struct cts_acc_builder *b)
{
    if (!b->instance_count) return;
    const struct cts_acc_instance *const run = &instances_of(b)[b->instance_count - 1];
    if (run->repeat < 2) return;
    const struct cts_acc_template *const t = &templates_of(b)[run->template_index];
    cover_instance(b, shapes_of(b) + t->first_record, words_of(&b->lasts) + t->last_start,
                   (const uint32_t *)b->offsets.data + t->offset_start, t->record_count);
}

/* ---- segments ---- */

/* Makes room for the bases of a template's last instance when it is about to get a second one. */
static enum cts_status ensure_last(struct cts_acc_builder *b, struct cts_acc_template *t,
                                   struct cts_error *error)
{
    if (t->last_start != NONE) return CTS_OK;
    const uint32_t start = (uint32_t)(b->lasts.size_bytes / sizeof(uint64_t));
    const enum cts_status status =
        cts_buffer_append(&b->lasts, words_of(&b->bases) + t->first_record,
                          t->record_count * sizeof(uint64_t), error);
    if (!status) t->last_start = start;
    return status;
}

static enum cts_status add_instance(struct cts_acc_builder *b, uint32_t index, uint32_t cta,
                                    const struct cts_acc_segment *segment, struct cts_error *error)
{
    struct cts_acc_template *const t = &templates_of(b)[index];
    uint32_t shift = 0;
    enum cts_status status = ensure_last(b, t, error);
    if (!status) status = find_shift(b, t, segment->bases, &shift, error);
    if (status) return status;
    const bool new_lists =
        t->offset_count && memcmp((uint32_t *)b->offsets.data + t->offset_start, segment->offsets,
                                  t->offset_count * sizeof(uint32_t)) != 0;
    const struct cts_acc_instance instance = {
        .template_index = index,
        .shift = (shift + 1) * 2 + new_lists,
        .step = cta - b->previous_cta,
        .repeat = 1,
    };
    struct cts_acc_instance *const run = &instances_of(b)[b->instance_count - 1];
    uint64_t *const last = words_of(&b->lasts) + t->last_start;
    if (!new_lists && run->template_index == index && run->shift == instance.shift &&
        run->step == instance.step) {
        run->repeat++;
    } else {
        end_run(b);
        if (new_lists) {
            t->offset_start = keep_lists(b, segment);
            b->list_count += t->list_count;
        }
        (void)!cts_buffer_append(&b->instances, &instance, sizeof instance, NULL);
        b->instance_count++;
        cover_instance(b, segment->shapes, segment->bases, segment->offsets, segment->record_count);
    }
    t->shift = shift;
    memcpy(last, segment->bases, segment->record_count * sizeof *last);
    return CTS_OK;
}

static void add_first_instance(struct cts_acc_builder *b, uint32_t template_index, uint32_t cta,
                               const struct cts_acc_segment *segment)
{
    const struct cts_acc_instance instance = {
        .template_index = template_index, .step = cta - b->previous_cta, .repeat = 1};
    end_run(b);
    (void)!cts_buffer_append(&b->instances, &instance, sizeof instance, NULL);
    b->instance_count++;
    cover_instance(b, segment->shapes, segment->bases, segment->offsets, segment->record_count);
}

enum cts_status cts_acc_builder_add(struct cts_acc_builder *b, uint32_t cta,
                                    const struct cts_acc_segment *segment, struct cts_error *error)
{
    if (!segment->record_count) return CTS_OK;
    enum cts_status status =
        cts_buffer_reserve(&b->instances, sizeof(struct cts_acc_instance), error);
    if (!status)
        status = cts_buffer_reserve(&b->values, segment->value_count * sizeof(uint64_t), error);
    if (!status)
        status = cts_buffer_reserve(&b->offsets, segment->offset_count * sizeof(uint32_t), error);
    if (status) return status;
    uint64_t hash = 0;
    uint32_t slot = 0;
    uint32_t index = find_template(b, segment, &hash, &slot);
    if (index != NONE) {
        status = add_instance(b, index, cta, segment, error);
    } else {
        index = b->template_count;
        status = define_template(b, segment, hash, slot, error);
        if (!status) add_first_instance(b, index, cta, segment);
    }
    if (status) return status;
    (void)!cts_buffer_append(&b->values, segment->values, segment->value_count * sizeof(uint64_t),
                             NULL);
    if (b->previous_template != NONE) templates_of(b)[b->previous_template].next = index;
    b->previous_template = index;
    b->previous_cta = cta;
    if (cta < b->first_cta) b->first_cta = cta;
    if (cta > b->last_cta) b->last_cta = cta;
    b->record_count += segment->record_count + templates_of(b)[index].more_records;
    b->barrier_count += templates_of(b)[index].barrier_count;
    b->access_count += templates_of(b)[index].access_count;
    return CTS_OK;
}

static enum cts_status compress(struct cts_acc_builder *b, struct cts_buffer *out,
                                struct cts_error *error)
{
    ZSTD_CCtx *const zstd = b->zstd;
    const size_t bound = ZSTD_compressBound(b->raw.size_bytes);
    cts_buffer_clear(out);
    const enum cts_status status =
        cts_buffer_reserve(out, CTS_ACC_CHUNK_HEADER_BYTES + bound, error);
    if (status) return status;
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, b->compression_level);
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
    const size_t size = ZSTD_compress2(zstd, out->data + CTS_ACC_CHUNK_HEADER_BYTES, bound,
                                       b->raw.data, b->raw.size_bytes);
    if (ZSTD_isError(size))
        return cts_fail(error, CTS_MEMORY, "no memory to compress a chunk: %s",
                        ZSTD_getErrorName(size));
    out->size_bytes = CTS_ACC_CHUNK_HEADER_BYTES + size;
    return CTS_OK;
}

enum cts_status cts_acc_builder_finish(struct cts_acc_builder *b, struct cts_buffer *out,
                                       struct cts_acc_chunk_header *header, struct cts_error *error)
{
    cts_buffer_clear(out);
    *header = (struct cts_acc_chunk_header){0};
    if (!b->record_count) return CTS_OK;
    end_run(b);
    enum cts_status status = cts_acc_encode_payload(b, error);
    if (!status) status = compress(b, out, error);
    if (!status) {
        const size_t stored_bytes = out->size_bytes - CTS_ACC_CHUNK_HEADER_BYTES;
        *header = (struct cts_acc_chunk_header){
            .size_bytes = out->size_bytes,
            .launch = b->launch,
            .first_cta = b->first_cta,
            .last_cta = b->last_cta,
            .first_address = b->first_address,
            .last_address = b->last_address,
            .record_count = b->record_count - b->barrier_count,
            .barrier_count = b->barrier_count,
            .offset_count = (uint32_t)(b->offsets.size_bytes / sizeof(uint32_t)),
            .value_count = (uint32_t)(b->values.size_bytes / sizeof(uint64_t)),
            .access_count = b->access_count,
            .raw_bytes = (uint32_t)b->raw.size_bytes,
            .stored_bytes = (uint32_t)stored_bytes,
            .stored_crc = cts_acc_crc32c(0, out->data + CTS_ACC_CHUNK_HEADER_BYTES, stored_bytes),
        };
        cts_acc_put_chunk_header(out->data, header);
    }
    cts_acc_builder_clear(b);
    return status;
}
