/* The reader of access files: damage, cuts, other versions, and the files of a run. */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "acc-random.h"

/* ---- a small file with everything in it ---- */

struct small_file {
    struct fixture fixture;
    struct expected_list list;
    uint8_t *bytes;
    size_t size_bytes;
    size_t records_until[8]; /* in the first n chunks */
    size_t chunk_count;
};

static void add_small_record(struct cts_stream *stream, struct expected_list *list, uint32_t launch,
                             uint32_t cta, uint32_t site, unsigned kind)
{
    struct expected *const r = expected_add(list);
    *r = (struct expected){.launch = launch,
                           .cta = cta,
                           .site = site,
                           .warp = (uint16_t)(site / 2),
                           .space = site % 3 ? CTS_SPACE_GLOBAL : CTS_SPACE_SHARED,
                           .mask = kind == 2 ? 0x00ff00f1u : UINT32_MAX};
    r->value_words = kind == 3;
    for (unsigned l = 0; l < CTS_WARP_LANES; l++)
        r->addresses[l] = 0x10000 * (site + 1) + cta * 512 +
                          (kind == 2   ? (l * 2654435761u >> 18) * 4
                           : kind == 1 ? l % 8 * 4 + l / 8 * 100
                                       : l * 4);
    uint64_t values[CTS_WARP_LANES];
    for (unsigned l = 0; l < CTS_WARP_LANES; l++) values[l] = 1000u * cta + l;
    if (r->value_words) r->first_value = expected_add_values(list, values, CTS_WARP_LANES);
    cts_stream_add(stream, &(struct cts_stream_row){.site = r->site,
                                                    .space = r->space,
                                                    .warp = r->warp,
                                                    .mask = r->mask,
                                                    .addresses = r->addresses,
                                                    .value_words = r->value_words,
                                                    .values = r->value_words ? values : NULL});
}

static void add_small_launch(struct cts_stream *stream, struct expected_list *list, uint32_t launch)
{
    for (uint32_t cta = 0; cta < 4; cta++) {
        cts_stream_begin_cta(stream, launch, cta);
        for (unsigned kind = 0; kind < 4; kind++)
            add_small_record(stream, list, launch, cta, kind + launch, kind);
        cts_stream_end_cta(stream);
    }
}

/* Three chunks: three launches of four CTAs with an affine, a two-level, a list record, and one
 * with values. `footer`: as if it was closed; else as if it was killed. */
static void make_small_file_with(struct small_file *small, bool footer, bool with_reserve)
{
    *small = (struct small_file){0};
    fixture_make(&small->fixture);
    struct cts_collector *const collector =
        fixture_collector(&small->fixture, (struct cts_collector_options){0});
    struct cts_stream *const stream = fixture_stream(collector);
    char path[128];
    fixture_path(&small->fixture, 0, path);
    for (uint32_t launch = 0; launch < 3; launch++) {
        add_small_launch(stream, &small->list, launch);
        cts_stream_flush(stream);
        small->records_until[++small->chunk_count] = small->list.count;
    }
    if (!footer) {
        small->bytes = file_bytes(path, &small->size_bytes);
        assert_true(small->size_bytes >= cts_access_file_bytes(&stream->file));
        if (!with_reserve) small->size_bytes = cts_access_file_bytes(&stream->file);
    }
    struct cts_error error = {0};
    if (cts_collector_close(collector, &error)) fail_msg("%s", error.text);
    if (footer) small->bytes = file_bytes(path, &small->size_bytes);
}

static void make_small_file(struct small_file *small, bool footer)
{
    make_small_file_with(small, footer, false);
}

static void release_small_file(struct small_file *small)
{
    free(small->bytes);
    expected_release(&small->list);
    fixture_remove(&small->fixture);
}

/* Opens and reads everything; the status of what fails first. */
static enum cts_status read_all(const uint8_t *bytes, size_t size_bytes,
                                struct cts_acc_batch *batch, struct cts_error *error)
{
    struct cts_acc_reader *reader = NULL;
    enum cts_status status = cts_acc_open_memory(bytes, size_bytes, &reader, error);
    if (status) return status;
    size_t chunk_count;
    const struct cts_acc_chunk *const chunks = cts_acc_chunks(reader, &chunk_count);
    for (size_t i = 0; i < chunk_count && !status; i++)
        status = cts_acc_read(reader, &chunks[i], batch, error);
    cts_acc_close(reader);
    return status;
}

static void cut_everywhere(bool footer)
{
    struct small_file small;
    make_small_file(&small, footer);
    struct cts_acc_reader *reader = NULL;
    struct cts_error error = {0};
    if (cts_acc_open_memory(small.bytes, small.size_bytes, &reader, &error))
        fail_msg("%s", error.text);
    assert_int_equal(cts_acc_incomplete_count(reader), footer ? 0 : 1);
    size_t chunk_count;
    const struct cts_acc_chunk *const chunks = cts_acc_chunks(reader, &chunk_count);
    assert_int_equal(chunk_count, 3);
    for (size_t size = 0; size < small.size_bytes; size++) {
        /* A copy of that size, so that a read behind its end is seen by the sanitizer. */
        uint8_t *const cut = malloc(size + !size);
        assert_non_null(cut);
        memcpy(cut, small.bytes, size);
        struct cts_acc_reader *part = NULL;
        if (cts_acc_open_memory(cut, size, &part, &error))
            fail_msg("cut to %zu bytes: %s", size, error.text);
        size_t whole = 0;
        while (whole < 3 && chunks[whole].offset_bytes + chunks[whole].size_bytes <= size) whole++;
        assert_int_equal(cts_acc_incomplete_count(part), 1);
        assert_int_equal(compare_reader(part, &small.list), small.records_until[whole]);
        cts_acc_close(part);
        free(cut);
    }
    cts_acc_close(reader);
    release_small_file(&small);
}

static void test_a_file_cut_anywhere_has_its_whole_chunks(void **state)
{
    (void)state;
    cut_everywhere(true);
    cut_everywhere(false);
}

/* What a killed program leaves: zeros behind the last chunk end the file, and anything else there
 * is damage. */
static void test_zeros_that_were_reserved_end_a_file(void **state)
{
    (void)state;
    struct small_file small;
    make_small_file_with(&small, false, true);
    struct cts_acc_batch batch = {0};
    struct cts_error error = {0};
    struct cts_acc_reader *reader = NULL;
    if (cts_acc_open_memory(small.bytes, small.size_bytes, &reader, &error))
        fail_msg("%s", error.text);
    size_t chunk_count;
    const struct cts_acc_chunk *const chunks = cts_acc_chunks(reader, &chunk_count);
    assert_int_equal(chunk_count, 3);
    assert_int_equal(cts_acc_incomplete_count(reader), 1);
    const uint64_t end_bytes = chunks[2].offset_bytes + chunks[2].size_bytes;
    assert_true(small.size_bytes > end_bytes + 4);
    assert_int_equal(compare_reader(reader, &small.list), small.list.count);
    cts_acc_close(reader);
    small.bytes[end_bytes + 2] = 1;
    assert_int_equal(read_all(small.bytes, small.size_bytes, &batch, &error), CTS_FORMAT);
    cts_acc_batch_release(&batch);
    release_small_file(&small);
}

static void flip_every_bit(bool footer)
{
    struct small_file small;
    make_small_file(&small, footer);
    struct cts_acc_batch batch = {0};
    struct cts_error error = {0};
    assert_int_equal(read_all(small.bytes, small.size_bytes, &batch, &error), CTS_OK);
    for (size_t bit = 0; bit < 8 * small.size_bytes; bit++) {
        small.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        error.text[0] = 0;
        const enum cts_status status = read_all(small.bytes, small.size_bytes, &batch, &error);
        if (status == CTS_OK) fail_msg("bit %zu of byte %zu went unnoticed", bit % 8, bit / 8);
        assert_int_not_equal(error.text[0], 0);
        assert_int_equal(status, error.status);
        small.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    cts_acc_batch_release(&batch);
    release_small_file(&small);
}

static void test_no_flipped_bit_goes_unnoticed(void **state)
{
    (void)state;
    flip_every_bit(true);
    flip_every_bit(false);
}

static void test_a_newer_version_is_refused(void **state)
{
    (void)state;
    struct small_file small;
    make_small_file(&small, true);
    small.bytes[8] = CTS_ACC_VERSION + 1;
    struct cts_acc_batch batch = {0};
    struct cts_error error = {0};
    assert_int_equal(read_all(small.bytes, small.size_bytes, &batch, &error), CTS_VERSION);
    assert_string_equal(error.text, "access file version 4; this program reads up to 3");
    release_small_file(&small);
}

/* Barriers stand between the records of their CTA, count neither as records nor as accesses, and
 * are one for each argument that lanes have. */
static void test_barriers_are_parted_from_accesses(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_make(&fixture);
    struct cts_collector *const collector =
        fixture_collector(&fixture, (struct cts_collector_options){0});
    struct cts_stream *const stream = fixture_stream(collector);
    uint64_t all[CTS_WARP_LANES], tiles[CTS_WARP_LANES], addresses[CTS_WARP_LANES];
    for (unsigned l = 0; l < CTS_WARP_LANES; l++) {
        all[l] = 1;
        tiles[l] = l < 16 ? 0xffff : 0xffff0000;
        addresses[l] = 4096 + 4 * l;
    }
    for (uint32_t cta = 0; cta < 100; cta++) {
        cts_stream_begin_cta(stream, 5, cta);
        cts_stream_add(stream, &(struct cts_stream_row){.site = 1,
                                                        .space = CTS_SPACE_GLOBAL,
                                                        .warp = 0,
                                                        .mask = UINT32_MAX,
                                                        .addresses = addresses,
                                                        .value_words = 0,
                                                        .values = NULL});
        cts_stream_add(stream, &(struct cts_stream_row){.site = 7,
                                                        .space = CTS_SPACE_BARRIER,
                                                        .warp = 0,
                                                        .mask = UINT32_MAX,
                                                        .addresses = all,
                                                        .value_words = 0,
                                                        .values = NULL});
        cts_stream_add(stream, &(struct cts_stream_row){.site = 2,
                                                        .space = CTS_SPACE_SHARED,
                                                        .warp = 1,
                                                        .mask = 3,
                                                        .addresses = addresses,
                                                        .value_words = 0,
                                                        .values = NULL});
        cts_stream_add(stream, &(struct cts_stream_row){.site = 8,
                                                        .space = CTS_SPACE_BARRIER,
                                                        .warp = 1,
                                                        .mask = UINT32_MAX,
                                                        .addresses = tiles,
                                                        .value_words = 0,
                                                        .values = NULL});
        cts_stream_end_cta(stream);
    }
    const struct cts_stream_counts counts = cts_stream_take_counts(stream);
    assert_int_equal(counts.records, 200);
    assert_int_equal(counts.accesses, 3400);
    char path[128];
    size_t size_bytes;
    fixture_path(&fixture, 0, path);
    assert_int_equal(cts_collector_close(collector, NULL), CTS_OK);
    uint8_t *const bytes = file_bytes(path, &size_bytes);
    assert_in_range(size_bytes, 100, 600); /* 200 barriers of 100 CTAs that do the same */
    struct cts_acc_reader *reader = NULL;
    struct cts_acc_batch batch = {0};
    assert_int_equal(cts_acc_open_memory(bytes, size_bytes, &reader, NULL), CTS_OK);
    size_t chunk_count;
    const struct cts_acc_chunk *const chunks = cts_acc_chunks(reader, &chunk_count);
    assert_int_equal(chunk_count, 1);
    assert_int_equal(chunks->record_count, 200);
    assert_int_equal(chunks->access_count, 3400);
    assert_int_equal(chunks->barrier_count, 200);
    assert_int_equal(cts_acc_read(reader, chunks, &batch, NULL), CTS_OK);
    assert_int_equal(batch.record_count, 200);
    assert_int_equal(batch.barrier_count, 300);
    for (uint32_t i = 0; i < 200; i++) {
        assert_int_equal(batch.cta[i], i / 2);
        assert_int_equal(batch.site[i], 1 + i % 2);
        assert_int_equal(batch.space[i], i % 2 ? CTS_SPACE_SHARED : CTS_SPACE_GLOBAL);
        assert_int_equal(batch.mask[i], i % 2 ? 3 : UINT32_MAX);
    }
    for (uint32_t i = 0; i < 300; i++) {
        const struct cts_acc_barrier *const b = &batch.barriers[i];
        const uint32_t tile = i % 3 == 1 ? 0xffff : 0xffff0000;
        assert_int_equal(b->cta, i / 3);
        assert_int_equal(b->before, i / 3 * 2 + (i % 3 ? 2 : 1));
        assert_int_equal(b->site, i % 3 ? 8 : 7);
        assert_int_equal(b->mask, i % 3 ? tile : UINT32_MAX);
        assert_int_equal(b->argument, i % 3 ? tile : 1);
        assert_int_equal(b->warp, i % 3 != 0);
    }
    cts_acc_batch_release(&batch);
    cts_acc_close(reader);
    free(bytes);
    fixture_remove(&fixture);
}

static void write_file(const char *path, const uint8_t *bytes, size_t size_bytes)
{
    FILE *const file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size_bytes, file), size_bytes);
    assert_int_equal(fclose(file), 0);
}

static void test_errors_name_file_and_place(void **state)
{
    (void)state;
    struct small_file small;
    make_small_file(&small, true);
    char path[128], expected[400];
    fixture_path(&small.fixture, 0, path);
    struct cts_acc_reader *reader = NULL;
    struct cts_error error = {0};
    small.bytes[32 + 80 + 9] ^= 1; /* in the payload of the first chunk */
    write_file(path, small.bytes, small.size_bytes);
    assert_int_equal(cts_acc_open(small.fixture.run_path, &reader, &error), CTS_OK);
    size_t chunk_count;
    const struct cts_acc_chunk *const chunks = cts_acc_chunks(reader, &chunk_count);
    struct cts_acc_batch batch = {0};
    assert_int_equal(cts_acc_read(reader, &chunks[0], &batch, &error), CTS_FORMAT);
    assert_int_equal(batch.record_count, 0);
    snprintf(expected, sizeof expected,
             "cannot read '%s': chunk at byte 32: payload checksum differs", path);
    assert_string_equal(error.text, expected);
    assert_int_equal(cts_acc_read(reader, &chunks[1], &batch, &error), CTS_OK);
    cts_acc_close(reader);

    write_file(path, (const uint8_t *)"hello world, this is no trace at all", 36);
    assert_int_equal(cts_acc_open(small.fixture.run_path, &reader, &error), CTS_FORMAT);
    assert_null(reader);
    snprintf(expected, sizeof expected, "cannot read '%s': not an access file (no magic at byte 0)",
             path);
    assert_string_equal(error.text, expected);
    cts_acc_batch_release(&batch);
    release_small_file(&small);
}

static void test_the_files_of_a_run_are_found_in_order(void **state)
{
    (void)state;
    struct small_file small;
    make_small_file(&small, true);
    char path[160];
    for (unsigned k = 1; k < 12; k++) {
        fixture_path(&small.fixture, k, path);
        write_file(path, small.bytes, small.size_bytes);
    }
    snprintf(path, sizeof path, "%s/01.acc", small.fixture.rank_path); /* not one of ours */
    write_file(path, (const uint8_t *)"x", 1);
    struct cts_acc_reader *reader = NULL;
    struct cts_error error = {0};
    if (cts_acc_open(small.fixture.run_path, &reader, &error)) fail_msg("%s", error.text);
    size_t chunk_count;
    const struct cts_acc_chunk *const chunks = cts_acc_chunks(reader, &chunk_count);
    assert_int_equal(chunk_count, 3 * 12);
    for (size_t i = 0; i < chunk_count; i++) { /* by launch, then file: 10 is behind 9 */
        assert_int_equal(chunks[i].launch, i / 12);
        assert_int_equal(chunks[i].file, i % 12);
        assert_int_equal(chunks[i].first_cta, 0);
        assert_int_equal(chunks[i].last_cta, 3);
        fixture_path(&small.fixture, (unsigned)(i % 12), path);
        assert_string_equal(cts_acc_file_path(reader, chunks[i].file), path);
    }
    cts_acc_close(reader);
    snprintf(path, sizeof path, "%s/01.acc", small.fixture.rank_path);
    assert_int_equal(unlink(path), 0);

    fixture_path(&small.fixture, 3, path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0777), 0);
    assert_int_equal(cts_acc_open(small.fixture.run_path, &reader, &error), CTS_FORMAT);
    assert_non_null(strstr(error.text, "3.acc': not a regular file"));
    assert_int_equal(rmdir(path), 0);
    release_small_file(&small);
}

static void test_an_empty_run_has_no_chunks(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_make(&fixture);
    struct cts_acc_reader *reader = NULL;
    struct cts_error error = {0};
    assert_int_equal(cts_acc_open(fixture.run_path, &reader, &error), CTS_OK);
    size_t chunk_count;
    (void)cts_acc_chunks(reader, &chunk_count);
    assert_int_equal(chunk_count, 0);
    assert_int_equal(cts_acc_incomplete_count(reader), 0);
    cts_acc_close(reader);
    fixture_remove(&fixture);
    assert_int_equal(cts_acc_open(fixture.run_path, &reader, &error), CTS_IO);
    assert_non_null(strstr(error.text, fixture.run_path));
}

/* A program that is killed in the middle of a launch: what was flushed before is there. */
static void test_a_killed_program_leaves_what_it_flushed(void **state)
{
    (void)state;
    struct small_file small;
    make_small_file(&small, true);
    char path[128];
    fixture_path(&small.fixture, 0, path);
    assert_int_equal(unlink(path), 0);
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct cts_collector *const collector =
            fixture_collector(&small.fixture, (struct cts_collector_options){0});
        struct cts_stream *const stream = fixture_stream(collector);
        struct expected_list list = {0};
        for (uint32_t launch = 0; launch < 3; launch++) {
            add_small_launch(stream, &list, launch);
            if (launch < 2) cts_stream_flush(stream);
        }
        kill(getpid(), SIGKILL);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    struct cts_acc_reader *reader = NULL;
    struct cts_error error = {0};
    if (cts_acc_open(small.fixture.run_path, &reader, &error)) fail_msg("%s", error.text);
    assert_int_equal(cts_acc_incomplete_count(reader), 1);
    assert_int_equal(compare_reader(reader, &small.list), small.records_until[2]);
    cts_acc_close(reader);
    release_small_file(&small);
}

/* Headers with counts that no file can have must be refused before anything is allocated. */
static void test_ceilings_are_checked(void **state)
{
    (void)state;
    struct cts_acc_chunk_header good = {.size_bytes = 90,
                                        .record_count = 1,
                                        .access_count = 1,
                                        .raw_bytes = 56,
                                        .stored_bytes = 10};
    struct cts_acc_chunk_header bad[7];
    for (size_t i = 0; i < 7; i++) bad[i] = good;
    bad[0].record_count = 0;
    bad[1].record_count = (1 << 18) + 1;
    bad[2].access_count = 33;
    bad[3].raw_bytes = UINT32_MAX;
    bad[4].offset_count = (4 << 20) + 1;
    bad[5].value_count = UINT32_MAX;
    bad[6].size_bytes = 91;
    uint8_t bytes[CTS_ACC_CHUNK_HEADER_BYTES];
    struct cts_error error = {0};
    struct cts_acc_chunk_header header;
    cts_acc_put_chunk_header(bytes, &good);
    assert_int_equal(cts_acc_get_chunk_header(bytes, &header, &error), CTS_OK);
    uint8_t again[CTS_ACC_CHUNK_HEADER_BYTES];
    cts_acc_put_chunk_header(again, &header);
    assert_memory_equal(bytes, again, sizeof bytes);
    for (size_t i = 0; i < 7; i++) {
        cts_acc_put_chunk_header(bytes, &bad[i]);
        assert_int_not_equal(cts_acc_get_chunk_header(bytes, &header, &error), CTS_OK);
    }
}

static void test_checksum_is_the_one_of_the_specification(void **state)
{
    (void)state;
    assert_int_equal(cts_acc_crc32c(0, "123456789", 9), 0xe3069283);
    uint8_t bytes[64];
    for (unsigned i = 0; i < 64; i++) bytes[i] = (uint8_t)(i * 37);
    const uint32_t half = cts_acc_crc32c(0, bytes, 23);
    assert_int_equal(cts_acc_crc32c(half, bytes + 23, 41), cts_acc_crc32c(0, bytes, 64));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zeros_that_were_reserved_end_a_file),
        cmocka_unit_test(test_a_file_cut_anywhere_has_its_whole_chunks),
        cmocka_unit_test(test_no_flipped_bit_goes_unnoticed),
        cmocka_unit_test(test_a_newer_version_is_refused),
        cmocka_unit_test(test_barriers_are_parted_from_accesses),
        cmocka_unit_test(test_errors_name_file_and_place),
        cmocka_unit_test(test_the_files_of_a_run_are_found_in_order),
        cmocka_unit_test(test_an_empty_run_has_no_chunks),
        cmocka_unit_test(test_a_killed_program_leaves_what_it_flushed),
        cmocka_unit_test(test_ceilings_are_checked),
        cmocka_unit_test(test_checksum_is_the_one_of_the_specification),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
