/* For tests of access files: a run directory of one rank, what was recorded into it as a plain
 * array, and the comparison of that array with what is read. */
#ifndef CTS_TESTS_ACC_FIXTURE_H
#define CTS_TESTS_ACC_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "trace/write/collector-private.h"
#include "trace/acc-decode.h"
#include "trace/acc.h"
#include "random.h"

/* One warp record as it was given to the collector. */
struct expected {
    uint32_t launch, cta, site, mask;
    uint16_t warp;
    uint8_t space;
    uint8_t value_words;
    size_t first_value; /* in expected_list.values */
    uint64_t addresses[CTS_WARP_LANES];
};

struct expected_list {
    struct expected *records;
    size_t count, capacity;
    uint64_t *values;
    size_t value_count, value_capacity;
    uint64_t access_count;
};

static inline struct expected *expected_add(struct expected_list *list)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 1024;
        list->records = realloc(list->records, list->capacity * sizeof *list->records);
        assert_non_null(list->records);
    }
    struct expected *const record = &list->records[list->count++];
    memset(record, 0, sizeof *record);
    return record;
}

static inline size_t expected_add_values(struct expected_list *list, const uint64_t *values,
                                         size_t count)
{
    if (!count) return list->value_count;
    while (list->value_count + count > list->value_capacity) {
        list->value_capacity = list->value_capacity ? 2 * list->value_capacity : 4096;
        list->values = realloc(list->values, list->value_capacity * sizeof *list->values);
        assert_non_null(list->values);
    }
    memcpy(list->values + list->value_count, values, count * sizeof *values);
    list->value_count += count;
    return list->value_count - count;
}

static inline void expected_release(struct expected_list *list)
{
    free(list->records);
    free(list->values);
    *list = (struct expected_list){0};
}

/* ---- a run directory ---- */

struct fixture {
    char run_path[64], rank_path[80];
};

static inline void fixture_make(struct fixture *fixture)
{
    snprintf(fixture->run_path, sizeof fixture->run_path, "/tmp/ctascope-test-XXXXXX");
    assert_non_null(mkdtemp(fixture->run_path));
    snprintf(fixture->rank_path, sizeof fixture->rank_path, "%s/rank-0", fixture->run_path);
    assert_int_equal(mkdir(fixture->rank_path, 0777), 0);
}

static inline void fixture_path(const struct fixture *fixture, unsigned stream, char path[128])
{
    snprintf(path, 128, "%s/%u.acc", fixture->rank_path, stream);
}

static inline void fixture_remove(struct fixture *fixture)
{
    for (unsigned i = 0; i < 16; i++) {
        char path[128];
        fixture_path(fixture, i, path);
        (void)!unlink(path);
    }
    assert_int_equal(rmdir(fixture->rank_path), 0);
    assert_int_equal(rmdir(fixture->run_path), 0);
}

static inline struct cts_collector *fixture_collector(const struct fixture *fixture,
                                                      struct cts_collector_options options)
{
    struct cts_collector *collector = NULL;
    struct cts_error error;
    options.values = true; /* where records have some */
    assert_int_equal(cts_collector_open_directory(fixture->rank_path, &options, &collector, &error),
                     CTS_OK);
    return collector;
}

static inline struct cts_stream *fixture_stream(struct cts_collector *collector)
{
    struct cts_stream *stream = NULL;
    struct cts_error error = {0};
    if (cts_collector_stream(collector, &stream, &error)) fail_msg("%s", error.text);
    return stream;
}

/* ---- one stream that records into a run directory of its own; fixture_remove() it ---- */

struct recording {
    struct fixture fixture;
    struct cts_collector *collector;
    struct cts_stream *stream;
};

static inline void recording_start(struct recording *recording)
{
    fixture_make(&recording->fixture);
    recording->collector =
        fixture_collector(&recording->fixture, (struct cts_collector_options){0});
    recording->stream = fixture_stream(recording->collector);
}

/* What was recorded can be read now. */
static inline void recording_close(struct recording *recording)
{
    struct cts_error error = {0};
    if (cts_collector_close(recording->collector, &error)) fail_msg("%s", error.text);
}

/* The bytes of a file; free() them. */
static inline uint8_t *file_bytes(const char *path, size_t *size_bytes)
{
    FILE *const file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *size_bytes = (size_t)ftell(file);
    rewind(file);
    uint8_t *const bytes = malloc(*size_bytes + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size_bytes, file), *size_bytes);
    fclose(file);
    return bytes;
}

/* ---- comparison ---- */

static inline int compare_places(const void *a, const void *b)
{
    const struct cts_acc_chunk *const x = a, *const y = b;
    if (x->file != y->file) return x->file < y->file ? -1 : 1;
    return (x->offset_bytes > y->offset_bytes) - (x->offset_bytes < y->offset_bytes);
}

/* Compares one record that was read with the part of `expected` that it is; returns its lanes. */
static inline uint32_t compare_record(const struct expected *expected, const uint64_t *values,
                                      const struct cts_access *access)
{
    assert_int_equal(access->launch, expected->launch);
    assert_int_equal(access->cta, expected->cta);
    assert_int_equal(access->site, expected->site);
    assert_int_equal(access->warp, expected->warp);
    assert_int_equal(access->space, expected->space);
    assert_int_not_equal(access->mask, 0);
    assert_int_equal(access->mask & ~expected->mask, 0);
    assert_int_equal(access->offsets != NULL, access->pattern == CTS_PATTERN_LIST);
    assert_int_equal(access->values != NULL, expected->value_words != 0);
    uint64_t addresses[CTS_WARP_LANES];
    cts_access_addresses(access, addresses);
    size_t nth = 0, nth_expected = 0; /* active lanes of the record, of the expected one */
    for (unsigned lane = 0; lane < CTS_WARP_LANES; lane++) {
        if (access->mask >> lane & 1) {
            if (addresses[lane] != expected->addresses[lane]) /* an assertion each is slow */
                assert_int_equal(addresses[lane], expected->addresses[lane]);
            for (size_t w = 0; w < expected->value_words; w++)
                assert_int_equal(access->values[nth * expected->value_words + w],
                                 values[nth_expected * expected->value_words + w]);
            nth++;
        }
        nth_expected += expected->mask >> lane & 1;
    }
    return access->mask;
}

/* Every chunk of the reader, in the order of the files, against the list from its start on.
 * Returns how many of the list's records were there; they must be whole. */
static inline size_t compare_reader(const struct cts_acc_reader *reader,
                                    const struct expected_list *list)
{
    size_t chunk_count;
    const struct cts_acc_chunk *const chunks = cts_acc_chunks(reader, &chunk_count);
    struct cts_acc_chunk *const sorted = malloc((chunk_count + 1) * sizeof *sorted);
    assert_non_null(sorted);
    if (chunk_count) memcpy(sorted, chunks, chunk_count * sizeof *sorted);
    qsort(sorted, chunk_count, sizeof *sorted, compare_places);
    struct cts_acc_batch batch = {0};
    struct cts_error error = {0};
    size_t at = 0;
    uint32_t seen = 0; /* lanes of the expected record */
    for (size_t c = 0; c < chunk_count; c++) {
        if (cts_acc_read(reader, &sorted[c], &batch, &error)) fail_msg("%s", error.text);
        assert_int_equal(batch.record_count, sorted[c].record_count);
        uint64_t access_count = 0;
        for (size_t i = 0; i < batch.record_count; i++) {
            assert_true(at < list->count);
            const struct expected *const expected = &list->records[at];
            const struct cts_access access = cts_acc_record(&batch, i);
            const uint64_t *const values =
                expected->value_words ? list->values + expected->first_value : NULL;
            const uint32_t lanes = compare_record(expected, values, &access);
            assert_int_equal(lanes & seen, 0);
            seen |= lanes;
            access_count += (uint64_t)__builtin_popcount(lanes);
            assert_true(access.cta >= sorted[c].first_cta && access.cta <= sorted[c].last_cta);
            for (unsigned l = 0; l < CTS_WARP_LANES && access.space == CTS_SPACE_GLOBAL; l++)
                if (lanes >> l & 1 && (expected->addresses[l] < sorted[c].first_address ||
                                       expected->addresses[l] > sorted[c].last_address))
                    fail_msg("address 0x%llx is not in the chunk's range",
                             (unsigned long long)expected->addresses[l]);
            if (seen == expected->mask) {
                seen = 0;
                at++;
            }
        }
        assert_int_equal(access_count, sorted[c].access_count);
    }
    assert_int_equal(seen, 0);
    cts_acc_batch_release(&batch);
    free(sorted);
    return at;
}

#endif
