/* Boxes: the records that they become against their rows one by one, through the collector, the
 * file and the reader. */
#include "acc-fixture.h"
#include "count.h"

enum { SITES = 4, ROWS_MAX = 600 };

static struct cts_box random_box(struct random *random)
{
    static const uint64_t strides[] = {
        16, 48, 4096, 1 << 20, INT32_MAX, UINT64_C(1) << 31, UINT64_C(3) << 36};
    struct cts_box box;
    uint32_t rows = 1;
    for (unsigned d = 0; d < CTS_BOX_DIMENSIONS; d++) {
        box.extents[d] = random_below(random, 2) ? 1 : 1 + random_below(random, 70);
        if (rows * box.extents[d] > ROWS_MAX) box.extents[d] = 1;
        rows *= box.extents[d];
        box.strides[d] = strides[random_below(random, sizeof strides / sizeof *strides)];
    }
    box.multicast = random_below(random, 2) ? random_below(random, 1 << 16) : 0;
    return box;
}

/* The address of row `row`, counted with the first dimension first. */
static uint64_t row_address(const struct cts_box *box, uint64_t base, uint32_t row)
{
    for (unsigned d = 0; d < CTS_BOX_DIMENSIONS; d++) {
        base += row % box->extents[d] * box->strides[d];
        row /= box->extents[d];
    }
    return base;
}

/* What was recorded: a box, or a row of 32 lanes, or a barrier in all lanes. */
enum { IS_BOX, IS_ROW, IS_BARRIER };
struct item {
    int what;
    uint32_t cta, site;
    uint16_t warp;
    uint8_t lane;
    uint64_t base;
    struct cts_box box;
};

static struct item random_item(struct random *random, uint32_t cta)
{
    return (struct item){.what = (int)random_below(random, 3),
                         .cta = cta,
                         .site = random_below(random, SITES),
                         .warp = (uint16_t)random_below(random, 12),
                         .lane = (uint8_t)random_below(random, 32),
                         .base = UINT64_C(0x7f0000000000) + random_below(random, 1 << 20) * 16,
                         .box = random_box(random)};
}

static void record_item(struct cts_stream *stream, const struct item *item)
{
    uint64_t addresses[CTS_WARP_LANES];
    const bool is_barrier = item->what == IS_BARRIER;
    if (item->what == IS_BOX) {
        cts_stream_add_box(stream, &(struct cts_stream_box){.site = item->site,
                                                            .warp = item->warp,
                                                            .lane = item->lane,
                                                            .base = item->base,
                                                            .box = item->box});
        return;
    }
    for (unsigned l = 0; l < CTS_WARP_LANES; l++)
        addresses[l] = is_barrier ? 1 : item->base + l * item->box.strides[0];
    cts_stream_add(
        stream, &(struct cts_stream_row){.site = item->site,
                                         .space = is_barrier ? CTS_SPACE_BARRIER : CTS_SPACE_GLOBAL,
                                         .warp = item->warp,
                                         .mask = UINT32_MAX,
                                         .addresses = addresses});
}

/* Takes the box's records from `record` on; returns the one behind them. */
static size_t check_box(const struct cts_acc_batch *batch, size_t record, const struct item *item)
{
    const uint32_t rows = cts_box_rows(&item->box);
    uint32_t row = 0;
    for (bool first = true; row < rows; first = false, record++) {
        assert_true(record < batch->record_count);
        const struct cts_access access = cts_acc_record(batch, record);
        uint64_t addresses[CTS_WARP_LANES];
        assert_int_equal(access.box, first ? CTS_BOX_BEGINS : CTS_BOX_CONTINUES);
        const struct cts_box box = cts_box_get(access.box_words);
        assert_memory_equal(box.extents, item->box.extents, sizeof box.extents);
        assert_memory_equal(box.strides, item->box.strides, sizeof box.strides);
        assert_int_equal(box.multicast, item->box.multicast);
        assert_int_equal(access.cta, item->cta);
        assert_int_equal(access.site, item->site);
        assert_int_equal(access.warp, item->warp);
        assert_int_equal(access.space, CTS_SPACE_GLOBAL);
        assert_null(access.offsets);
        cts_access_addresses(&access, addresses);
        for (uint32_t mask = access.mask; mask; mask &= mask - 1, row++)
            assert_int_equal(addresses[__builtin_ctz(mask)],
                             row_address(&item->box, item->base, row));
        assert_true(access.mask == UINT32_MAX || (access.mask & (access.mask + 1)) == 0);
    }
    assert_int_equal(row, rows);
    return record;
}

static void check_batch(const struct cts_acc_batch *batch, const struct item *items, size_t count,
                        size_t *next)
{
    size_t record = 0, barrier = 0;
    while (record < batch->record_count || barrier < batch->barrier_count) {
        assert_true(*next < count);
        const struct item *const item = &items[(*next)++];
        if (item->what == IS_BARRIER) {
            assert_true(barrier < batch->barrier_count);
            assert_int_equal(batch->barriers[barrier].before, record);
            assert_int_equal(batch->barriers[barrier++].cta, item->cta);
        } else if (item->what == IS_BOX) {
            record = check_box(batch, record, item);
        } else {
            for (uint32_t lanes = 0; lanes != UINT32_MAX; record++) { /* split, if far apart */
                const struct cts_access access = cts_acc_record(batch, record);
                assert_int_equal(access.box, CTS_BOX_NONE);
                assert_int_equal(access.site, item->site);
                lanes |= access.mask;
            }
        }
    }
}

static void check_file(const char *run_path, const struct item *items, size_t count,
                       struct cts_stream_counts counts)
{
    struct cts_acc_reader *reader = NULL;
    struct cts_acc_batch batch = {0};
    struct cts_error error = {0};
    size_t chunk_count, next = 0;
    uint64_t records = 0, accesses = 0;
    if (cts_acc_open(run_path, &reader, &error)) fail_msg("%s", error.text);
    const struct cts_acc_chunk *const chunks = cts_acc_chunks(reader, &chunk_count);
    for (size_t i = 0; i < chunk_count; i++) {
        if (cts_acc_read(reader, &chunks[i], &batch, &error)) fail_msg("%s", error.text);
        assert_int_equal(batch.record_count, chunks[i].record_count);
        records += batch.record_count;
        for (size_t k = 0; k < batch.record_count; k++) {
            accesses += (unsigned)__builtin_popcount(batch.mask[k]);
            if (batch.space[k] != CTS_SPACE_GLOBAL) continue;
            assert_true(cts_acc_record(&batch, k).base >= chunks[i].first_address);
        }
        check_batch(&batch, items, count, &next);
    }
    assert_int_equal(next, count);
    assert_int_equal(records, counts.records);
    assert_int_equal(accesses, counts.accesses);
    cts_acc_batch_release(&batch);
    cts_acc_close(reader);
}

/* CTAs that do the same at shifted addresses, or with other boxes, or anything. */
static void round_trip(uint64_t seed)
{
    struct random random = {seed * 0x9e3779b97f4a7c15u + 1};
    struct recording recording;
    recording_start(&recording);
    const uint32_t ctas = 1 + random_below(&random, 12), each = 1 + random_below(&random, 20);
    const unsigned likeness = random_below(&random, 3);
    struct item *const items = calloc((size_t)ctas * each, sizeof *items);
    assert_non_null(items);
    for (uint32_t i = 0; i < ctas * each; i++) {
        items[i] = random_item(&random, i / each);
        if (likeness && i >= each) {
            const struct item *const model = &items[i - each];
            const struct cts_box box = items[i].box;
            items[i] = *model;
            items[i].cta++;
            items[i].base += 4096;
            if (likeness == 2 && cts_box_rows(&box) == cts_box_rows(&model->box))
                items[i].box = box;
        }
    }
    for (uint32_t i = 0; i < ctas * each; i++) {
        if (i % each == 0) cts_stream_begin_cta(recording.stream, 0, i / each);
        record_item(recording.stream, &items[i]);
    }
    cts_stream_end_cta(recording.stream);
    const struct cts_stream_counts counts = cts_stream_take_counts(recording.stream);
    recording_close(&recording);
    check_file(recording.fixture.run_path, items, (size_t)ctas * each, counts);
    free(items);
    fixture_remove(&recording.fixture);
}

static void test_boxes_are_read_as_their_rows(void **state)
{
    (void)state;
    CTS_TEST_STARTS_NO_THREAD();
    for (uint64_t seed = 1, last = cts_test_count(100, 2000); seed <= last; seed++)
        round_trip(seed);
}

/* As many records as fit, and no record twice. */
static void test_large_boxes_go_into_chunks(void **state)
{
    (void)state;
    CTS_TEST_STARTS_NO_THREAD();
    enum { COUNT = 40 };
    struct item items[COUNT];
    struct recording recording;
    recording_start(&recording);
    cts_stream_begin_cta(recording.stream, 0, 0);
    for (uint32_t i = 0; i < COUNT; i++) {
        items[i] = (struct item){.what = IS_BOX,
                                 .base = UINT64_C(1) << 40,
                                 .box = {{256, 1, 128, 1}, {UINT64_C(1) << 33, 0, 16, 0}, 0}};
        record_item(recording.stream, &items[i]); /* a record for each row: too far apart */
    }
    cts_stream_end_cta(recording.stream);
    const struct cts_stream_counts counts = cts_stream_take_counts(recording.stream);
    assert_int_equal(counts.records, 40 * 256 * 128 / 32 * 32);
    recording_close(&recording);
    check_file(recording.fixture.run_path, items, COUNT, counts);
    fixture_remove(&recording.fixture);
}

static void test_a_box_has_at_least_one_row_and_not_too_many(void **state)
{
    (void)state;
    const struct cts_box none = {.extents = {1, 0, 1, 1}};
    const struct cts_box many = {.extents = {1 << 9, 1 << 9, 1, 2}};
    const struct cts_box most = {.extents = {1 << 9, 1 << 9, 1, 1}};
    assert_int_equal(cts_box_rows(&none), 0);
    assert_int_equal(cts_box_rows(&many), 0);
    assert_int_equal(cts_box_rows(&most), CTS_BOX_ROWS_MAX);
}

/* ---- damage ---- */

/* Reads a chunk of one box whose words or shape were spoilt before they were written. */
static void expect_damage(void (*spoil)(struct cts_acc_shape *shape, uint32_t *words),
                          const char *expected)
{
    struct cts_acc_builder builder;
    struct cts_acc_batch batch = {0};
    struct cts_buffer chunk = {0};
    struct cts_acc_chunk_header header;
    struct cts_error error = {0};
    const struct cts_box box = {{8, 2, 1, 1}, {256, 4096, 0, 0}, 0};
    struct cts_acc_shape shape = {.mask = 4, .s0 = 16, .s1 = 1};
    uint64_t base = 1 << 20;
    uint32_t words[CTS_BOX_WORDS];
    shape.kind = cts_acc_kind(CTS_SPACE_GLOBAL, CTS_PATTERN_LIST, 0, 0) | CTS_ACC_KIND_BOX;
    cts_box_put(&box, words);
    if (spoil) spoil(&shape, words);
    const struct cts_acc_segment segment = {.shapes = &shape,
                                            .bases = &base,
                                            .offsets = words,
                                            .record_count = 1,
                                            .offset_count = CTS_BOX_WORDS};
    assert_int_equal(cts_acc_builder_init(&builder, 0, &error), CTS_OK);
    assert_int_equal(cts_acc_builder_add(&builder, 0, &segment, &error), CTS_OK);
    assert_int_equal(cts_acc_builder_finish(&builder, &chunk, &header, &error), CTS_OK);
    const enum cts_status status = cts_acc_decode_chunk(&header, chunk.data, &batch, &error);
    assert_int_equal(status, spoil ? CTS_FORMAT : CTS_OK);
    if (spoil) assert_string_equal(error.text, expected);
    if (!spoil) assert_int_equal(batch.record_count, 1);
    cts_acc_batch_release(&batch);
    cts_acc_builder_release(&builder);
    cts_buffer_release(&chunk);
}

static void spoil_extent(struct cts_acc_shape *shape, uint32_t *words)
{
    (void)shape;
    words[1] = 3;
}
static void spoil_extent_to_none(struct cts_acc_shape *shape, uint32_t *words)
{
    (void)shape;
    words[2] = 0;
}
static void spoil_mask(struct cts_acc_shape *shape, uint32_t *words)
{
    (void)words;
    shape->mask = 5;
}
static void spoil_space(struct cts_acc_shape *shape, uint32_t *words)
{
    (void)words;
    shape->kind = (uint16_t)((shape->kind & ~7u) | CTS_SPACE_SHARED);
}

static void test_boxes_that_contradict_themselves_are_damage(void **state)
{
    (void)state;
    expect_damage(NULL, "");
    expect_damage(spoil_extent, "a box of 8 x 3 x 1 x 1 rows, mask 0x00000004, says 16 rows in 1 "
                                "records");
    expect_damage(spoil_extent_to_none, "a box of 8 x 2 x 0 x 1 rows, mask 0x00000004, says 16 "
                                        "rows in 1 records");
    expect_damage(spoil_mask, "a box of 8 x 2 x 1 x 1 rows, mask 0x00000005, says 16 rows in 1 "
                              "records");
    expect_damage(spoil_space, "combo 0 has kind 0x801b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boxes_are_read_as_their_rows),
        cmocka_unit_test(test_large_boxes_go_into_chunks),
        cmocka_unit_test(test_a_box_has_at_least_one_row_and_not_too_many),
        cmocka_unit_test(test_boxes_that_contradict_themselves_are_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
