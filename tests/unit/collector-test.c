/* The collector and the codec together: what is recorded is what is read. */
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "count.h"
#include "acc-random.h"

static void check_counts(struct cts_stream_counts counts, const struct expected_list *list)
{
    assert_true(counts.records >= list->count); /* more where lanes are too far apart */
    assert_int_equal(counts.accesses, list->access_count);
    assert_int_equal(counts.dropped_records, 0);
    assert_int_equal(counts.dropped_accesses, 0);
}

static void check_run(const struct fixture *fixture, const struct expected_list *list)
{
    struct cts_acc_reader *reader = NULL;
    struct cts_error error = {0};
    if (cts_acc_open(fixture->run_path, &reader, &error)) fail_msg("%s", error.text);
    assert_int_equal(cts_acc_incomplete_count(reader), 0);
    assert_int_equal(compare_reader(reader, list), list->count);
    cts_acc_close(reader);
}

static void round_trip(uint64_t seed, const struct cts_zip *zip)
{
    struct random random = {seed * 0x9e3779b97f4a7c15u + 1};
    struct recording recording;
    recording_start(&recording);
    if (zip) recording.stream->zip = zip;
    struct expected_list list = {0};
    record_random_launches(recording.stream, &list, &random);
    check_counts(cts_stream_take_counts(recording.stream), &list);
    const struct cts_stream_counts again = cts_stream_take_counts(recording.stream);
    assert_int_equal(again.records + again.accesses, 0);
    recording_close(&recording);
    check_run(&recording.fixture, &list);
    expected_release(&list);
    fixture_remove(&recording.fixture);
}

static void test_random_kernels_round_trip(void **state)
{
    (void)state;
    CTS_TEST_STARTS_NO_THREAD();
    for (uint64_t seed = 1, last = cts_test_count(24, 200); seed <= last; seed++)
        round_trip(seed, NULL);
}

static void test_every_instruction_set_round_trips(void **state)
{
    (void)state;
    CTS_TEST_STARTS_NO_THREAD();
    const struct cts_zip *const best = cts_zip_best();
    const uint64_t count = cts_test_count(12, 100);
    for (uint64_t seed = 1000; seed < 1000 + count; seed++) round_trip(seed, &cts_zip_generic);
#if defined(__x86_64__)
    if (best == &cts_zip_avx512 || best == &cts_zip_avx2)
        for (uint64_t seed = 2000; seed < 2000 + count; seed++) round_trip(seed, &cts_zip_avx2);
#endif
    assert_non_null(best->name);
}

/* ---- patterns ---- */

/* Records one row and returns the single record that it becomes. */
struct one_row {
    struct recording recording;
    struct cts_acc_reader *reader;
    struct cts_acc_batch batch;
};

static void one_row_begin(struct one_row *one)
{
    *one = (struct one_row){0};
    recording_start(&one->recording);
    cts_stream_begin_cta(one->recording.stream, 0, 0);
}

static void one_row_read(struct one_row *one)
{
    struct cts_error error = {0};
    cts_stream_end_cta(one->recording.stream);
    recording_close(&one->recording);
    if (cts_acc_open(one->recording.fixture.run_path, &one->reader, &error))
        fail_msg("%s", error.text);
    size_t count;
    const struct cts_acc_chunk *const chunks = cts_acc_chunks(one->reader, &count);
    assert_int_equal(count, 1);
    if (cts_acc_read(one->reader, chunks, &one->batch, &error)) fail_msg("%s", error.text);
}

static void one_row_end(struct one_row *one)
{
    cts_acc_batch_release(&one->batch);
    cts_acc_close(one->reader);
    fixture_remove(&one->recording.fixture);
}

struct pattern_case {
    const char *name;
    uint32_t mask;
    uint64_t base;
    int64_t s0, s1;
    unsigned row_lanes; /* of the addresses; 0: base + s0 * lane */
    uint64_t odd;       /* added to lane 5 */
    enum cts_pattern pattern;
    unsigned found_row_lanes;
    size_t record_count;
};

static const struct pattern_case pattern_cases[] = {
    {"affine", UINT32_MAX, 1 << 20, 4, 0, 0, 0, CTS_PATTERN_AFFINE, 0, 1},
    {"descending", UINT32_MAX, 1 << 20, -8, 0, 0, 0, CTS_PATTERN_AFFINE, 0, 1},
    {"uniform", UINT32_MAX, 1 << 20, 0, 0, 0, 0, CTS_PATTERN_UNIFORM, 0, 1},
    {"one lane", 1u << 9, 1 << 20, 4, 0, 0, 0, CTS_PATTERN_UNIFORM, 0, 1},
    {"two lanes", 0x80000001u, 1 << 20, 4, 0, 0, 0, CTS_PATTERN_AFFINE, 0, 1},
    {"holes", 0x12345679u, 1 << 20, 12, 0, 0, 0, CTS_PATTERN_AFFINE, 0, 1},
    {"two rows", UINT32_MAX, 1 << 20, 4, 4096, 16, 0, CTS_PATTERN_TWO_LEVEL, 16, 1},
    {"four rows", UINT32_MAX, 1 << 20, 4, 4096, 8, 0, CTS_PATTERN_TWO_LEVEL, 8, 1},
    {"rows of 12", UINT32_MAX, 1 << 20, 4, 4096, 12, 0, CTS_PATTERN_TWO_LEVEL, 12, 1},
    {"one address a row", UINT32_MAX, 1 << 20, 0, 64, 16, 0, CTS_PATTERN_TWO_LEVEL, 16, 1},
    {"rows without their first lane", 0xfffefffeu, 1 << 20, 4, 4096, 16, 0, CTS_PATTERN_TWO_LEVEL,
     16, 1},
    {"rows without their last lanes", 0x3fff3fffu, 1 << 20, 4, 4096, 16, 0, CTS_PATTERN_TWO_LEVEL,
     16, 1},
    {"odd lane", UINT32_MAX, 1 << 20, 4, 0, 0, 1, CTS_PATTERN_LIST, 0, 1},
    {"odd lane, partial", 0x7fffffffu, 1 << 20, 4, 0, 0, 1, CTS_PATTERN_LIST, 0, 1},
    {"stride of 2 GiB", UINT32_MAX, 1 << 20, 0x7fffffff, 0, 0, 0, CTS_PATTERN_AFFINE, 0, 1},
    {"two lanes 4 GiB apart", 0x10001u, 1 << 20, 1 << 28, 0, 0, 0, CTS_PATTERN_AFFINE, 0, 1},
    {"two lanes too far for a stride", 3, 1 << 20, 0xffffffff, 0, 0, 0, CTS_PATTERN_LIST, 0, 1},
    {"two lanes too far for a list", 3, 1 << 20, 0x100000000, 0, 0, 0, CTS_PATTERN_UNIFORM, 0, 2},
    {"all too far", UINT32_MAX, 1ull << 40, -0x100000000, 0, 0, 0, CTS_PATTERN_UNIFORM, 0, 32},
};

static void check_pattern(const struct pattern_case *c, const struct cts_zip *zip)
{
    struct one_row one;
    one_row_begin(&one);
    one.recording.stream->zip = zip;
    struct expected_list list = {0};
    struct expected *const r = expected_add(&list);
    *r = (struct expected){.mask = c->mask, .site = 3, .warp = 2, .space = CTS_SPACE_GLOBAL};
    for (int64_t l = 0; l < CTS_WARP_LANES; l++) {
        const int64_t w = c->row_lanes ? (int64_t)c->row_lanes : 32;
        r->addresses[l] =
            c->base + (uint64_t)(c->s0 * (l % w) + c->s1 * (l / w)) + (l == 5 ? c->odd : 0);
    }
    cts_stream_add(one.recording.stream, &(struct cts_stream_row){.site = 3,
                                                                  .space = CTS_SPACE_GLOBAL,
                                                                  .warp = 2,
                                                                  .mask = c->mask,
                                                                  .addresses = r->addresses,
                                                                  .value_words = 0,
                                                                  .values = NULL});
    one_row_read(&one);
    if (one.batch.record_count != c->record_count || one.batch.pattern[0] != c->pattern ||
        one.batch.row_lanes[0] != c->found_row_lanes)
        fail_msg("%s (%s): %zu records, pattern %u, rows of %u", c->name, zip->name,
                 one.batch.record_count, one.batch.pattern[0], one.batch.row_lanes[0]);
    assert_int_equal(compare_reader(one.reader, &list), 1);
    expected_release(&list);
    one_row_end(&one);
}

static void test_patterns_are_recognised(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pattern_cases / sizeof *pattern_cases; i++) {
        check_pattern(&pattern_cases[i], &cts_zip_generic);
        check_pattern(&pattern_cases[i], cts_zip_best());
    }
}

/* ---- rows ---- */

enum { ROW_SLOTS = 5, ROW_VALUES = 1 + 2 + 3 + 1 + 16 };
static const uint8_t row_value_words[ROW_SLOTS] = {1, 2, 3, 1, 16};

/* Any number; of no two words the same. */
static uint64_t row_value(uint32_t slot, uint32_t word, uint32_t lane)
{
    return ((uint64_t)slot << 20 | word << 10 | lane) * 0x9e3779b97f4a7c15u;
}

static void fill_values(uint64_t rows[ROW_VALUES][CTS_WARP_LANES], struct expected_list *list)
{
    for (uint32_t slot = 0, row = 0; slot < ROW_SLOTS; slot++)
        for (uint32_t w = 0; w < row_value_words[slot]; w++, row++)
            for (uint32_t l = 0; l < CTS_WARP_LANES; l++) rows[row][l] = row_value(slot, w, l);
    for (size_t i = 0; i < list->count; i++) {
        struct expected *const r = &list->records[i];
        const uint32_t slot = r->site - 100;
        r->value_words = row_value_words[slot];
        r->first_value = list->value_count;
        for (uint32_t l = 0; l < CTS_WARP_LANES; l++)
            for (uint32_t w = 0; r->mask >> l & 1 && w < r->value_words; w++)
                expected_add_values(list, &(uint64_t){row_value(slot, w, l)}, 1);
    }
}

static void fill_rows(uint64_t lanes[ROW_SLOTS][CTS_WARP_LANES], struct expected_list *list)
{
    const uint64_t window = 0x5000;
    memset(lanes, 0, ROW_SLOTS * sizeof *lanes);
    for (unsigned l = 0; l < CTS_WARP_LANES; l++) {
        lanes[0][l] = 0x100000 + 4 * l;                                /* global */
        lanes[1][l] = window + 8 * l;                                  /* shared */
        lanes[3][l] = l < 10 ? window + 64 + 4 * l : 0x200000 + 4 * l; /* generic, both */
        if (l % 2) lanes[4][l] = 0x300000 + 4 * l;                     /* odd lanes only */
    }
    const struct {
        uint32_t slot, mask, space;
    } records[] = {{0, UINT32_MAX, CTS_SPACE_GLOBAL},
                   {1, UINT32_MAX, CTS_SPACE_SHARED},
                   {3, 0xfffffc00u, CTS_SPACE_GLOBAL},
                   {3, 0x3ff, CTS_SPACE_SHARED},
                   {4, 0xaaaaaaaau, CTS_SPACE_GLOBAL}};
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        struct expected *const r = expected_add(list);
        *r = (struct expected){.launch = 1, .cta = 9, .site = 100 + records[i].slot, .warp = 6};
        r->mask = records[i].mask;
        r->space = (uint8_t)records[i].space;
        for (unsigned l = 0; l < CTS_WARP_LANES; l++)
            r->addresses[l] =
                lanes[records[i].slot][l] - (r->space == CTS_SPACE_SHARED ? window : 0);
    }
}

static void check_rows(const struct cts_zip *zip, bool values)
{
    struct one_row one;
    one_row_begin(&one);
    one.recording.stream->zip = zip;
    cts_stream_begin_cta(one.recording.stream, 1, 9);
    static _Alignas(64) uint64_t lanes[ROW_SLOTS][CTS_WARP_LANES];
    static _Alignas(64) uint64_t value_rows[ROW_VALUES][CTS_WARP_LANES];
    const uint32_t sites[ROW_SLOTS] = {100, 101, 102, 103, 104};
    const uint8_t spaces[ROW_SLOTS] = {CTS_SPACE_GLOBAL, CTS_SPACE_SHARED, CTS_SPACE_GLOBAL,
                                       CTS_SPACE_GENERIC, CTS_SPACE_GLOBAL};
    struct expected_list list = {0};
    fill_rows(lanes, &list);
    if (values) fill_values(value_rows, &list);
    const struct cts_row_batch batch = {.lanes = lanes[0],
                                        .sites = sites,
                                        .spaces = spaces,
                                        .slot_count = ROW_SLOTS,
                                        .warp = 6,
                                        .values = values ? value_rows[0] : NULL,
                                        .value_words = row_value_words,
                                        .shared_base = 0x5000,
                                        .shared_bytes = 0x1000};
    cts_stream_add_rows(one.recording.stream, &batch);
    for (unsigned s = 0; s < ROW_SLOTS; s++)
        for (unsigned l = 0; l < CTS_WARP_LANES; l++) assert_int_equal(lanes[s][l], 0);
    cts_stream_add_rows(one.recording.stream, &batch); /* nothing is active now */
    one_row_read(&one);
    assert_int_equal(compare_reader(one.reader, &list), list.count);
    assert_int_equal(one.batch.record_count, list.count);
    expected_release(&list);
    one_row_end(&one);
}

static void test_rows_become_records_and_zeros(void **state)
{
    (void)state;
    for (int values = 0; values < 2; values++) {
        check_rows(&cts_zip_generic, values);
        check_rows(cts_zip_best(), values);
#if defined(__x86_64__)
        if (cts_zip_best() == &cts_zip_avx512) check_rows(&cts_zip_avx2, values);
#endif
    }
}

/* Each bit alone: the bytes around it are left out when they are stored. */
static void test_values_of_one_bit(void **state)
{
    (void)state;
    for (unsigned bit = 0; bit < 64; bit++) {
        struct one_row one;
        struct expected_list list = {0};
        uint64_t values[CTS_WARP_LANES];
        one_row_begin(&one);
        struct expected *const r = expected_add(&list);
        *r = (struct expected){.mask = UINT32_MAX, .site = 1, .space = CTS_SPACE_GLOBAL};
        r->value_words = 1;
        for (unsigned l = 0; l < CTS_WARP_LANES; l++) {
            r->addresses[l] = 0x1000 + 8 * l;
            values[l] = (uint64_t)1 << bit;
        }
        expected_add_values(&list, values, CTS_WARP_LANES);
        cts_stream_add(one.recording.stream, &(struct cts_stream_row){.site = 1,
                                                                      .space = CTS_SPACE_GLOBAL,
                                                                      .warp = 0,
                                                                      .mask = UINT32_MAX,
                                                                      .addresses = r->addresses,
                                                                      .value_words = 1,
                                                                      .values = values});
        one_row_read(&one);
        assert_int_equal(compare_reader(one.reader, &list), 1);
        expected_release(&list);
        one_row_end(&one);
    }
}

/* ---- large CTAs ---- */

/* One CTA of more records than a chunk holds, in segments that repeat and in such that do not. */
static void giant_cta(bool random_bases)
{
    struct random random = {17};
    struct recording recording;
    recording_start(&recording);
    struct expected_list list = {0};
    const uint32_t record_count = random_bases ? 60000 : 300000;
    cts_stream_begin_cta(recording.stream, 4, 1000000);
    for (uint32_t i = 0; i < record_count; i++) {
        struct expected record = {.launch = 4, .cta = 1000000, .site = i % 8};
        record.mask = UINT32_MAX;
        record.space = CTS_SPACE_GLOBAL;
        for (unsigned l = 0; l < CTS_WARP_LANES; l++)
            record.addresses[l] =
                random_bases ? 4096 + random_below(&random, 1 << 30) : 4096 + 16 * i + 4 * l;
        record_one(recording.stream, &list, &random, &record);
    }
    cts_stream_end_cta(recording.stream);
    check_counts(cts_stream_take_counts(recording.stream), &list);
    recording_close(&recording);
    struct cts_error error = {0};
    struct cts_acc_reader *reader = NULL;
    if (cts_acc_open(recording.fixture.run_path, &reader, &error)) fail_msg("%s", error.text);
    size_t chunk_count;
    const struct cts_acc_chunk *const chunks = cts_acc_chunks(reader, &chunk_count);
    assert_true(chunk_count >= 2);
    for (size_t i = 0; i < chunk_count; i++) {
        assert_true(chunks[i].record_count <= CTS_ACC_CHUNK_RECORDS_MAX);
        assert_int_equal(chunks[i].first_cta, 1000000);
        assert_true(i == 0 || chunks[i].offset_bytes > chunks[i - 1].offset_bytes);
    }
    assert_int_equal(compare_reader(reader, &list), list.count);
    cts_acc_close(reader);
    expected_release(&list);
    fixture_remove(&recording.fixture);
}

static void test_a_cta_larger_than_a_chunk(void **state)
{
    (void)state;
    giant_cta(false);
    giant_cta(true);
}

/* ---- sizes ---- */

static uint64_t file_size(const struct fixture *fixture, unsigned stream)
{
    char path[128];
    fixture_path(fixture, stream, path);
    struct stat status;
    return stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
}

/* Records with `record`, a million thread accesses or more; returns bytes of file per access. */
static double bytes_per_access(void (*record)(struct cts_stream *stream))
{
    struct recording recording;
    recording_start(&recording);
    record(recording.stream);
    const struct cts_stream_counts counts = cts_stream_take_counts(recording.stream);
    assert_true(counts.accesses > 1000000);
    recording_close(&recording);
    const double result = (double)file_size(&recording.fixture, 0) / (double)counts.accesses;
    fixture_remove(&recording.fixture);
    return result;
}

static void put_warp(struct cts_stream *stream, uint32_t site, uint32_t warp, uint32_t mask,
                     const uint64_t addresses[CTS_WARP_LANES])
{
    cts_stream_add(stream, &(struct cts_stream_row){.site = site,
                                                    .space = CTS_SPACE_GLOBAL,
                                                    .warp = (uint16_t)warp,
                                                    .mask = mask,
                                                    .addresses = addresses,
                                                    .value_words = 0,
                                                    .values = NULL});
}

static void record_vectoradd(struct cts_stream *stream)
{
    uint64_t addresses[CTS_WARP_LANES];
    for (uint32_t cta = 0; cta < 4096; cta++) {
        cts_stream_begin_cta(stream, 0, cta);
        for (uint32_t warp = 0; warp < 8; warp++) {
            for (uint32_t site = 0; site < 3; site++) {
                for (unsigned l = 0; l < CTS_WARP_LANES; l++)
                    addresses[l] = (1 << 24) * (site + 1ull) + (cta * 256 + warp * 32 + l) * 4;
                put_warp(stream, site, warp, UINT32_MAX, addresses);
            }
        }
        cts_stream_end_cta(stream);
    }
}

static void record_stencil(struct cts_stream *stream, uint32_t block_x)
{
    const uint32_t nx = 1024, ny = 512, block_y = 256 / block_x;
    const int64_t neighbours[] = {0, -4, 4, -4096, 4096, 1 << 24};
    for (uint32_t cta = 0; cta < nx / block_x * (ny / block_y); cta++) {
        cts_stream_begin_cta(stream, 0, cta);
        for (uint32_t warp = 0; warp < 8; warp++) {
            for (uint32_t site = 0; site < 6; site++) {
                uint64_t addresses[CTS_WARP_LANES];
                uint32_t mask = 0;
                for (uint32_t l = 0; l < CTS_WARP_LANES; l++) {
                    const uint32_t thread = warp * 32 + l;
                    const uint32_t x = cta % (nx / block_x) * block_x + thread % block_x;
                    const uint32_t y = cta / (nx / block_x) * block_y + thread / block_x;
                    const bool inside = x > 0 && y > 0 && x < nx - 1 && y < ny - 1;
                    mask |= (uint32_t)inside << l;
                    addresses[l] = (1ull << 32) + (y * nx + x) * 4 + (uint64_t)neighbours[site];
                }
                if (mask) put_warp(stream, site, warp, mask, addresses);
            }
        }
        cts_stream_end_cta(stream);
    }
}
static void record_stencil_32x8(struct cts_stream *stream)
{
    record_stencil(stream, 32);
}
static void record_stencil_16x16(struct cts_stream *stream)
{
    record_stencil(stream, 16);
}

static void record_gather(struct cts_stream *stream)
{
    struct random random = {3};
    for (uint32_t cta = 0; cta < 8192; cta++) {
        cts_stream_begin_cta(stream, 0, cta);
        for (uint32_t warp = 0; warp < 8; warp++) {
            uint64_t addresses[CTS_WARP_LANES];
            for (unsigned l = 0; l < CTS_WARP_LANES; l++)
                addresses[l] = (1ull << 32) + 4 * (random_next(&random) >> 40);
            put_warp(stream, 0, warp, UINT32_MAX, addresses);
            for (unsigned l = 0; l < CTS_WARP_LANES; l++)
                addresses[l] = (1ull << 36) + (cta * 256 + warp * 32 + l) * 4;
            put_warp(stream, 1, warp, UINT32_MAX, addresses);
        }
        cts_stream_end_cta(stream);
    }
}

static void record_matmul(struct cts_stream *stream)
{
    for (uint32_t cta = 0; cta < 40; cta++) {
        cts_stream_begin_cta(stream, 0, cta);
        for (uint32_t i = 0; i < 64 * 8 * 4; i++) {
            const uint32_t tile = i / 32, warp = i / 4 % 8, site = i % 4;
            uint64_t addresses[CTS_WARP_LANES];
            for (unsigned l = 0; l < CTS_WARP_LANES; l++) {
                const uint64_t row = warp * 2 + l / 16;
                addresses[l] = site == 0   ? (1 << 20) + (cta / 32 * 16 + row) * 4096 + tile * 64
                               : site == 1 ? (1 << 24) + (tile * 16 + row) * 4096 + cta % 32 * 64
                                           : (1 << 28) + row * 64 * (site - 2);
                addresses[l] += l % 16 * 4;
            }
            put_warp(stream, site, warp, UINT32_MAX, addresses);
        }
        cts_stream_end_cta(stream);
    }
}

static void test_regular_kernels_take_next_to_nothing(void **state)
{
    (void)state;
    const double vectoradd = bytes_per_access(record_vectoradd);
    const double stencil_32x8 = bytes_per_access(record_stencil_32x8);
    const double stencil_16x16 = bytes_per_access(record_stencil_16x16);
    const double gather = bytes_per_access(record_gather);
    const double matmul = bytes_per_access(record_matmul);
    print_message("bytes per access: vectoradd %.5f, stencils %.5f and %.5f, gather %.3f, matmul "
                  "%.5f\n",
                  vectoradd, stencil_32x8, stencil_16x16, gather, matmul);
    assert_true(vectoradd < 0.001);
    assert_true(stencil_32x8 < 0.001);
    assert_true(stencil_16x16 < 0.001);
    assert_true(gather < 1.7); /* half of the accesses have 24 random bits */
    assert_true(matmul < 0.005);
}

/* ---- limits and failures ---- */

/* A launch of `cta_count` CTAs of random gathers: about a kilobyte each. */
static void record_bulk(struct cts_stream *stream, struct expected_list *list,
                        struct random *random, uint32_t launch, uint32_t cta_count)
{
    for (uint32_t cta = 0; cta < cta_count; cta++) {
        cts_stream_begin_cta(stream, launch, cta);
        for (unsigned i = 0; i < 10; i++) {
            struct expected record = {.launch = launch, .cta = cta, .mask = UINT32_MAX};
            record.space = CTS_SPACE_GLOBAL;
            for (unsigned l = 0; l < CTS_WARP_LANES; l++)
                record.addresses[l] = (1 << 30) + 4ull * random_below(random, 1 << 24);
            record_one(stream, list, random, &record);
        }
        cts_stream_end_cta(stream);
    }
    cts_stream_flush(stream);
}

static void test_the_size_limit_holds_over_all_files(void **state)
{
    (void)state;
    const uint64_t limit_bytes = 100000;
    struct random random = {5};
    struct fixture fixture;
    fixture_make(&fixture);
    struct cts_collector *const collector =
        fixture_collector(&fixture, (struct cts_collector_options){.max_size_bytes = limit_bytes});
    struct cts_stream *const streams[] = {fixture_stream(collector), fixture_stream(collector)};
    struct expected_list lists[2] = {{0}, {0}};
    for (uint32_t launch = 0; launch < 10; launch++)
        for (unsigned s = 0; s < 2; s++) record_bulk(streams[s], &lists[s], &random, launch, 10);
    const struct cts_error *const failure = cts_collector_failure(collector);
    assert_non_null(failure);
    assert_int_equal(failure->status, CTS_LIMIT);
    assert_non_null(strstr(failure->text, "size limit of 100000 bytes"));
    const struct cts_stream_counts all = cts_collector_counts(collector);
    assert_int_equal(all.records + all.dropped_records, lists[0].count + lists[1].count);
    assert_int_equal(all.accesses + all.dropped_accesses,
                     lists[0].access_count + lists[1].access_count);
    assert_true(all.records > 0 && all.dropped_records > 0);
    struct cts_error error = {0};
    assert_int_equal(cts_collector_close(collector, &error), CTS_LIMIT);
    const uint64_t size_bytes = file_size(&fixture, 0) + file_size(&fixture, 1);
    assert_true(size_bytes <= limit_bytes && size_bytes > limit_bytes / 2);
    struct cts_acc_reader *reader = NULL;
    if (cts_acc_open(fixture.run_path, &reader, &error)) fail_msg("%s", error.text);
    assert_int_equal(cts_acc_incomplete_count(reader), 0);
    size_t chunk_count;
    const struct cts_acc_chunk *const chunks = cts_acc_chunks(reader, &chunk_count);
    uint64_t record_count = 0;
    for (size_t i = 0; i < chunk_count; i++) record_count += chunks[i].record_count;
    assert_int_equal(record_count, all.records);
    cts_acc_close(reader);
    for (unsigned s = 0; s < 2; s++) expected_release(&lists[s]);
    fixture_remove(&fixture);
}

/* In a child: files may have 50,000 bytes, and nobody handles the signal. */
static int record_into_a_full_disk(const struct fixture *fixture)
{
    struct random random = {7};
    struct cts_collector *const collector =
        fixture_collector(fixture, (struct cts_collector_options){0});
    struct cts_stream *const stream = fixture_stream(collector);
    struct expected_list list = {0};
    const struct rlimit limit = {50000, 50000};
    if (setrlimit(RLIMIT_FSIZE, &limit)) return 2;
    for (uint32_t launch = 0; launch < 12; launch++)
        record_bulk(stream, &list, &random, launch, 10);
    const struct cts_stream_counts counts = cts_stream_take_counts(stream);
    if (counts.records + counts.dropped_records != list.count) return 3;
    if (counts.accesses + counts.dropped_accesses != list.access_count) return 4;
    if (!counts.records || counts.records % 100 || !counts.dropped_records) return 5;
    const struct cts_error *const failure = cts_collector_failure(collector);
    if (!failure || failure->status != CTS_IO || !strstr(failure->text, "0.acc': File too large"))
        return 6;
    struct cts_error error = {0};
    return cts_collector_close(collector, &error) == CTS_IO ? 0 : 7;
}

static void test_a_full_disk_costs_records_and_nothing_else(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_make(&fixture);
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(record_into_a_full_disk(&fixture));
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    /* The same records again, to compare with those that fitted. */
    struct random random = {7};
    struct recording other;
    recording_start(&other);
    struct expected_list list = {0};
    for (uint32_t launch = 0; launch < 12; launch++)
        record_bulk(other.stream, &list, &random, launch, 10);
    recording_close(&other);
    struct cts_error error = {0};
    struct cts_acc_reader *reader = NULL;
    if (cts_acc_open(fixture.run_path, &reader, &error)) fail_msg("%s", error.text);
    const size_t kept = compare_reader(reader, &list);
    assert_true(kept >= 300 && kept % 100 == 0);  /* whole launches: a chunk each */
    assert_true(file_size(&fixture, 0) <= 65536); /* what was reserved before the limit */
    cts_acc_close(reader);
    expected_release(&list);
    fixture_remove(&other.fixture);
    fixture_remove(&fixture);
}

/* A forked child has our streams too; what it records must not get into our file. */
static void test_a_forked_child_does_not_write(void **state)
{
    (void)state;
    struct random random = {11};
    struct recording recording;
    recording_start(&recording);
    struct expected_list list = {0};
    record_bulk(recording.stream, &list, &random, 0, 3);
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        record_bulk(recording.stream, &list, &random, 1, 3);
        const struct cts_stream_counts counts = cts_stream_take_counts(recording.stream);
        struct cts_error error;
        const enum cts_status closed = cts_collector_close(recording.collector, &error);
        _exit(counts.dropped_records == 30 && closed == CTS_OK ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    record_bulk(recording.stream, &list, &random, 2, 3);
    recording_close(&recording);
    check_run(&recording.fixture, &list);
    expected_release(&list);
    fixture_remove(&recording.fixture);
}

static void test_existing_files_are_not_overwritten(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_make(&fixture);
    char path[128];
    fixture_path(&fixture, 0, path);
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    struct cts_collector *const collector =
        fixture_collector(&fixture, (struct cts_collector_options){0});
    struct cts_stream *stream = NULL;
    struct cts_error error = {0};
    struct random random = {3};
    struct expected_list list = {0};
    assert_int_equal(cts_collector_stream(collector, &stream, &error), CTS_OK);
    record_bulk(stream, &list, &random, 0, 3); /* goes on, and is dropped */
    const struct cts_stream_counts counts = cts_stream_take_counts(stream);
    assert_int_equal(counts.records, 0);
    assert_int_equal(counts.dropped_records, list.count);
    assert_non_null(cts_collector_failure(collector));
    assert_non_null(strstr(cts_collector_failure(collector)->text, "0.acc': File exists"));
    assert_int_equal(cts_collector_close(collector, &error), CTS_IO);
    assert_int_equal(file_size(&fixture, 0), 0);
    expected_release(&list);
    fixture_remove(&fixture);
}

/* ---- with the catalogue ---- */

static void remove_tree(const char *path)
{
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s'", path);
    assert_int_equal(system(command), 0);
}

static void test_a_run_has_a_catalogue_with_the_totals(void **state)
{
    (void)state;
    char run_path[] = "/tmp/ctascope-test-XXXXXX";
    assert_non_null(mkdtemp(run_path));
    const struct cts_collector_options options = {.run_path = run_path, .recorder = "import"};
    struct cts_collector *collector = NULL;
    struct cts_stream *stream = NULL;
    struct cts_error error = {0};
    if (cts_collector_open(&options, &collector, &error)) fail_msg("%s", error.text);
    assert_non_null(cts_collector_catalogue(collector));
    if (cts_collector_stream(collector, &stream, &error)) fail_msg("%s", error.text);
    struct random random = {23};
    struct expected_list list = {0};
    record_bulk(stream, &list, &random, 0, 4);
    assert_null(cts_collector_failure(collector));
    if (cts_collector_close(collector, &error)) fail_msg("%s", error.text);

    struct cts_catalogue catalogue;
    if (cts_catalogue_read(run_path, &catalogue, &error)) fail_msg("%s", error.text);
    assert_int_equal(catalogue.rank_count, 1);
    assert_int_equal(catalogue.ranks[0].rank, 0);
    assert_int_equal(catalogue.ranks[0].pid, getpid());
    assert_string_equal(catalogue.ranks[0].recorder, "import");
    assert_int_equal(catalogue.ranks[0].records, list.count);
    assert_int_equal(catalogue.ranks[0].accesses, list.access_count);
    assert_int_equal(catalogue.ranks[0].dropped_records, 0);
    assert_true(catalogue.ranks[0].end_ns > catalogue.ranks[0].start_ns);
    assert_null(catalogue.ranks[0].failure);
    cts_catalogue_release(&catalogue);

    struct cts_acc_reader *reader = NULL;
    if (cts_acc_open(run_path, &reader, &error)) fail_msg("%s", error.text);
    assert_int_equal(compare_reader(reader, &list), list.count);
    cts_acc_close(reader);
    expected_release(&list);
    remove_tree(run_path);
}

static void test_a_directory_of_something_else_is_refused(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_make(&fixture); /* has a rank-0, but no run.db */
    const struct cts_collector_options options = {.run_path = fixture.run_path};
    struct cts_collector *collector = NULL;
    struct cts_error error = {0};
    assert_int_equal(cts_collector_open(&options, &collector, &error), CTS_USAGE);
    assert_null(collector);
    assert_non_null(strstr(error.text, fixture.run_path));
    fixture_remove(&fixture);
}

/* ---- threads ---- */

struct worker {
    struct cts_collector *collector;
    struct expected_list list;
    uint64_t seed;
    pthread_t thread;
};

static void *work(void *argument)
{
    struct worker *const worker = argument;
    struct random random = {worker->seed};
    struct cts_stream *stream = NULL;
    struct cts_error error;
    if (cts_collector_stream(worker->collector, &stream, &error)) return NULL;
    record_random_launches(stream, &worker->list, &random);
    return worker;
}

static void test_streams_of_several_threads(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_make(&fixture);
    struct cts_collector *const collector =
        fixture_collector(&fixture, (struct cts_collector_options){0});
    struct worker workers[4];
    for (unsigned i = 0; i < 4; i++) {
        workers[i] = (struct worker){.collector = collector, .seed = i + 1};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    uint64_t access_count = 0;
    for (unsigned i = 0; i < 4; i++) {
        void *result;
        assert_int_equal(pthread_join(workers[i].thread, &result), 0);
        assert_ptr_equal(result, &workers[i]);
        access_count += workers[i].list.access_count;
    }
    struct cts_error error = {0};
    if (cts_collector_close(collector, &error)) fail_msg("%s", error.text);
    struct cts_acc_reader *reader = NULL;
    if (cts_acc_open(fixture.run_path, &reader, &error)) fail_msg("%s", error.text);
    size_t chunk_count;
    const struct cts_acc_chunk *const chunks = cts_acc_chunks(reader, &chunk_count);
    for (size_t i = 0; i < chunk_count; i++) access_count -= chunks[i].access_count;
    assert_int_equal(access_count, 0);
    cts_acc_close(reader);
    for (unsigned i = 0; i < 4; i++) expected_release(&workers[i].list);
    fixture_remove(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_kernels_round_trip),
        cmocka_unit_test(test_every_instruction_set_round_trips),
        cmocka_unit_test(test_patterns_are_recognised),
        cmocka_unit_test(test_rows_become_records_and_zeros),
        cmocka_unit_test(test_values_of_one_bit),
        cmocka_unit_test(test_a_cta_larger_than_a_chunk),
        cmocka_unit_test(test_regular_kernels_take_next_to_nothing),
        cmocka_unit_test(test_the_size_limit_holds_over_all_files),
        cmocka_unit_test(test_a_full_disk_costs_records_and_nothing_else),
        cmocka_unit_test(test_a_forked_child_does_not_write),
        cmocka_unit_test(test_existing_files_are_not_overwritten),
        cmocka_unit_test(test_a_run_has_a_catalogue_with_the_totals),
        cmocka_unit_test(test_a_directory_of_something_else_is_refused),
        cmocka_unit_test(test_streams_of_several_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
