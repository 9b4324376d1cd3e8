/* A second decoder, written from docs/format.md alone, one field at a time and without thought for
 * speed. What it reads from random files must be what the reader reads. It may assume that the
 * file is whole: damage is the other tests' business. */
#include <zstd.h>

#include "acc-random.h"
#include "count.h"

struct plain_record {
    uint32_t cta, site, mask, warp, kind;
    int32_t s0, s1;
    uint64_t base;
    uint32_t offsets[32];
    uint64_t values[32 * 16];
};

static uint64_t number(const uint8_t *bytes, unsigned length)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < length; i++) value += (uint64_t)bytes[i] << 8 * i;
    return value;
}

static uint64_t difference(uint64_t code)
{
    return code % 2 ? 0 - (code / 2 + 1) : code / 2;
}

struct plain_combo {
    uint32_t site, kind, mask;
    uint32_t s0, s1;
    uint64_t base, shift;
};

struct plain_chunk {
    const uint8_t *sections[14];
    uint32_t section_bytes[14];
    struct plain_combo *combos;
    uint32_t record_count, instance_count, template_count, defined_count, value_count, list_count;
    uint32_t mask, warp, next_list, next_value, next_defined;
    uint64_t next_bit;
    struct plain_record *records;
    uint32_t done;
};

/* The next sized number of a section. */
static uint64_t take(struct plain_chunk *chunk, int section, unsigned length)
{
    assert_true(chunk->section_bytes[section] >= length);
    const uint64_t value = number(chunk->sections[section], length);
    chunk->sections[section] += length;
    chunk->section_bytes[section] -= length;
    return value;
}

static unsigned lane_count(uint32_t mask)
{
    unsigned count = 0;
    for (unsigned lane = 0; lane < 32; lane++) count += mask >> lane & 1;
    return count;
}

static struct plain_combo *combo_of(struct plain_chunk *chunk, uint32_t defined, uint32_t count)
{
    const unsigned width = count <= 256 ? 1 : count <= 65536 ? 2 : 4;
    return &chunk->combos[number(chunk->sections[3] + (size_t)defined * width, width)];
}

static void define(struct plain_chunk *chunk, struct plain_record *record, uint32_t combo_count)
{
    const uint32_t defined = chunk->next_defined++;
    struct plain_combo *const combo = combo_of(chunk, defined, combo_count);
    const unsigned control =
        chunk->sections[4][defined] + 256u * chunk->sections[4][chunk->defined_count + defined];
    const unsigned mask_code = control & 7, warp_code = control >> 3 & 3;
    if (mask_code >= 1 && mask_code <= 4) chunk->mask ^= (uint32_t)take(chunk, 5, mask_code);
    if (mask_code == 5) chunk->mask = combo->mask;
    if (mask_code == 6) chunk->mask = 0xffffffffu;
    if (warp_code == 1) chunk->warp = (chunk->warp + 1) % 65536;
    if (warp_code == 2) chunk->warp = (uint32_t)take(chunk, 6, 2);
    if (warp_code == 3) chunk->warp = 0;
    combo->mask = chunk->mask;
    combo->s0 += (uint32_t)difference(take(chunk, 7, control >> 5 & 7));
    combo->s1 += (uint32_t)difference(take(chunk, 7, control >> 12 & 7));
    combo->base += difference(take(chunk, 8, control >> 8 & 15));
    *record = (struct plain_record){
        .site = combo->site,
        .kind = combo->kind,
        .mask = chunk->mask,
        .warp = chunk->warp,
        .s0 = (int32_t)combo->s0,
        .s1 = (int32_t)combo->s1,
        .base = combo->base,
    };
}

static void take_list(struct plain_chunk *chunk, struct plain_record *record)
{
    if ((record->kind >> 3 & 3) != 3) return;
    const uint32_t list = chunk->next_list++;
    const unsigned bits = chunk->sections[11][list];
    const unsigned shift = chunk->sections[11][chunk->list_count + list];
    for (unsigned k = 0; k < lane_count(record->mask); k++) {
        uint64_t offset = 0;
        for (unsigned bit = 0; bit < bits; bit++, chunk->next_bit++)
            offset |=
                (uint64_t)(chunk->sections[12][chunk->next_bit / 8] >> chunk->next_bit % 8 & 1)
                << bit;
        record->offsets[k] = (uint32_t)(offset << shift);
    }
    chunk->next_bit = (chunk->next_bit + 7) / 8 * 8;
}

static void take_values(struct plain_chunk *chunk, struct plain_record *record)
{
    const unsigned words = (record->kind >> 10) * lane_count(record->mask);
    for (unsigned i = 0; i < words; i++, chunk->next_value++) {
        record->values[i] = 0;
        for (unsigned plane = 0; plane < 8; plane++)
            record->values[i] |=
                (uint64_t)
                    chunk->sections[13][(size_t)plane * chunk->value_count + chunk->next_value]
                << 8 * plane;
    }
}

struct plain_template {
    uint32_t first_defined, record_count;
    uint32_t latest; /* record index of its latest segment */
};

/* The 16 bytes of an instance stand in four columns. */
static uint32_t instance_field(const struct plain_chunk *chunk, uint32_t instance, unsigned column)
{
    return (uint32_t)number(
        chunk->sections[2] + 4 * ((size_t)column * chunk->instance_count + instance), 4);
}

static uint64_t *shift_values(struct plain_chunk *chunk, const struct plain_template *t,
                              uint32_t combo_count)
{
    uint64_t *const values = calloc(t->record_count, sizeof *values);
    assert_non_null(values);
    for (uint32_t i = 0; i < t->record_count; i++) {
        struct plain_combo *const combo = combo_of(chunk, t->first_defined + i, combo_count);
        combo->shift += difference(take(chunk, 10, (unsigned)take(chunk, 9, 1)));
        values[i] = combo->shift;
    }
    return values;
}

static void decode_instances(struct plain_chunk *chunk, struct plain_template *templates,
                             uint32_t combo_count)
{
    uint64_t **const shifts = calloc(chunk->instance_count + 1, sizeof *shifts);
    assert_non_null(shifts);
    uint32_t shift_count = 0, cta = 0;
    for (uint32_t i = 0; i < chunk->instance_count; i++) {
        struct plain_template *const t = &templates[instance_field(chunk, i, 0)];
        const uint32_t code = instance_field(chunk, i, 1);
        if (code && code / 2 - 1 == shift_count)
            shifts[shift_count++] = shift_values(chunk, t, combo_count);
        for (uint32_t n = 0; n < instance_field(chunk, i, 3); n++) {
            struct plain_record *const segment = &chunk->records[chunk->done];
            assert_true(chunk->done + t->record_count <= chunk->record_count);
            cta += instance_field(chunk, i, 2);
            for (uint32_t k = 0; k < t->record_count; k++) {
                if (code == 0) {
                    define(chunk, &segment[k], combo_count);
                } else {
                    segment[k] = chunk->records[t->latest + k];
                    segment[k].base += shifts[code / 2 - 1][k];
                }
                segment[k].cta = cta;
            }
            for (uint32_t k = 0; k < t->record_count && (code == 0 || code % 2); k++)
                take_list(chunk, &segment[k]);
            for (uint32_t k = 0; k < t->record_count; k++) take_values(chunk, &segment[k]);
            t->latest = chunk->done;
            chunk->done += t->record_count;
        }
    }
    for (uint32_t i = 0; i < shift_count; i++) free(shifts[i]);
    free(shifts);
}

/* All records of the chunk at `bytes`; free() them. */
static struct plain_record *decode_plainly(const uint8_t *bytes, uint32_t *record_count)
{
    const size_t raw_bytes = number(bytes + 64, 4);
    uint8_t *const raw = malloc(raw_bytes + 1);
    assert_non_null(raw);
    assert_int_equal(ZSTD_decompress(raw, raw_bytes, bytes + 80, number(bytes + 68, 4)), raw_bytes);
    struct plain_chunk chunk = {
        .record_count = (uint32_t)number(bytes + 28, 4),
        .value_count = (uint32_t)number(bytes + 60, 4),
        .mask = 0xffffffffu,
    };
    const uint8_t *at = raw + 14 * 4;
    for (int s = 0; s < 14; s++) {
        chunk.sections[s] = at;
        chunk.section_bytes[s] = (uint32_t)number(raw + 4 * s, 4);
        at += chunk.section_bytes[s];
    }
    assert_ptr_equal(at, raw + raw_bytes);
    const uint32_t combo_count = chunk.section_bytes[0] / 8;
    chunk.template_count = chunk.section_bytes[1] / 4;
    chunk.instance_count = chunk.section_bytes[2] / 16;
    chunk.defined_count = chunk.section_bytes[4] / 2;
    chunk.list_count = chunk.section_bytes[11] / 2;
    chunk.combos = calloc(combo_count, sizeof *chunk.combos);
    chunk.records = calloc(chunk.record_count, sizeof *chunk.records);
    struct plain_template *const templates = calloc(chunk.template_count, sizeof *templates);
    assert_true(chunk.combos && chunk.records && templates);
    for (uint32_t i = 0; i < combo_count; i++) {
        chunk.combos[i].site = (uint32_t)number(chunk.sections[0] + 8 * (size_t)i, 4);
        chunk.combos[i].kind = (uint32_t)number(chunk.sections[0] + 8 * (size_t)i + 4, 4);
    }
    for (uint32_t i = 0, defined = 0; i < chunk.template_count; i++) {
        templates[i].record_count = (uint32_t)number(chunk.sections[1] + 4 * (size_t)i, 4);
        templates[i].first_defined = defined;
        defined += templates[i].record_count;
    }
    decode_instances(&chunk, templates, combo_count);
    assert_int_equal(chunk.done, chunk.record_count);
    free(templates);
    free(chunk.combos);
    free(raw);
    *record_count = chunk.record_count;
    return chunk.records;
}

static void compare_plain(const struct plain_record *plain, const struct cts_access *access)
{
    assert_int_equal(plain->cta, access->cta);
    assert_int_equal(plain->site, access->site);
    assert_int_equal(plain->mask, access->mask);
    assert_int_equal(plain->warp, access->warp);
    assert_int_equal(plain->kind & 7, access->space);
    assert_int_equal(plain->kind >> 3 & 3, access->pattern);
    assert_int_equal(plain->kind >> 5 & 31, access->row_lanes);
    assert_int_equal(plain->s0, access->s0);
    assert_int_equal(plain->s1, access->s1);
    assert_int_equal(plain->base, access->base);
    const unsigned lanes = lane_count(plain->mask);
    if (access->pattern == CTS_PATTERN_LIST)
        assert_memory_equal(plain->offsets, access->offsets, lanes * sizeof *plain->offsets);
    const unsigned words = (plain->kind >> 10) * lanes;
    assert_int_equal(words != 0, access->values != NULL);
    if (words) assert_memory_equal(plain->values, access->values, words * sizeof *plain->values);
}

static void compare_decoders(const struct fixture *fixture)
{
    char path[128];
    fixture_path(fixture, 0, path);
    size_t size_bytes;
    uint8_t *const bytes = file_bytes(path, &size_bytes);
    struct cts_acc_reader *reader = NULL;
    struct cts_acc_batch batch = {0};
    struct cts_error error = {0};
    if (cts_acc_open_memory(bytes, size_bytes, &reader, &error)) fail_msg("%s", error.text);
    size_t chunk_count;
    const struct cts_acc_chunk *const chunks = cts_acc_chunks(reader, &chunk_count);
    assert_int_not_equal(chunk_count, 0);
    for (size_t c = 0; c < chunk_count; c++) {
        uint32_t count;
        struct plain_record *const records = decode_plainly(bytes + chunks[c].offset_bytes, &count);
        if (cts_acc_read(reader, &chunks[c], &batch, &error)) fail_msg("%s", error.text);
        assert_int_equal(count, batch.record_count);
        for (uint32_t i = 0; i < count; i++) {
            const struct cts_access access = cts_acc_record(&batch, i);
            compare_plain(&records[i], &access);
        }
        free(records);
    }
    cts_acc_batch_release(&batch);
    cts_acc_close(reader);
    free(bytes);
}

static void test_a_decoder_from_the_specification_agrees(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= cts_test_count(4, 15); seed++) {
        struct random random = {seed * 0x9e3779b97f4a7c15u};
        struct recording recording;
        recording_start(&recording);
        struct expected_list list = {0};
        record_random_launches(recording.stream, &list, &random);
        recording_close(&recording);
        compare_decoders(&recording.fixture);
        expected_release(&list);
        fixture_remove(&recording.fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_decoder_from_the_specification_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
