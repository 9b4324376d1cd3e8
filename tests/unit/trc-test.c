/* Importing and exporting traces: random ones against a plain list of their accesses, damaged ones
 * byte by byte. The traces are written and read here by code of the test's own. */
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

#include "count.h"
#include "import/export.h"
#include "import/import.h"
#include "trace/acc.h"
#include "trace/catalogue.h"
#include "random.h"

/* ---- a trace and what it says ---- */

enum { TRC_2 = 2, TRC_3 = 3, TRC_2017 = 17, TRC_2017_REVERSED = 18 };

struct access {
    uint32_t launch;
    uint64_t cta; /* as three numbers in a word: x << 32 | y << 16 | z */
    uint32_t operation, size_bytes;
    uint64_t address;
    uint64_t serial;
};

struct trace {
    int format;
    uint8_t *bytes;
    size_t byte_count, byte_capacity;
    struct access *accesses; /* good ones, in order */
    size_t access_count, access_capacity;
    uint32_t launch_count;
    uint32_t sms[64]; /* by CTA x, of all launches */
};

static void put(struct trace *t, uint64_t number, unsigned byte_count)
{
    if (t->byte_count + 8 > t->byte_capacity) {
        t->byte_capacity = t->byte_capacity ? 2 * t->byte_capacity : 4096;
        t->bytes = realloc(t->bytes, t->byte_capacity);
        assert_non_null(t->bytes);
    }
    for (unsigned i = 0; i < byte_count; i++)
        t->bytes[t->byte_count++] = (uint8_t)(number >> (8 * i));
}

static void put_text(struct trace *t, const char *text)
{
    for (; *text; text++) put(t, (uint8_t)*text, 1);
}

static void begin(struct trace *t, int format)
{
    *t = (struct trace){.format = format};
    if (format == TRC_2 || format == TRC_3) {
        put(t, format == TRC_2 ? 0x19 : 0x1a, 1);
        put_text(t, "CUDATRACE");
    } else {
        put(t, 24, 1);
        put(t, '\n', 1);
    }
}

static bool is_2017(const struct trace *t)
{
    return t->format == TRC_2017 || t->format == TRC_2017_REVERSED;
}

static void end_launch(struct trace *t)
{
    for (unsigned i = 0; is_2017(t) && t->launch_count && i < 3; i++) put(t, 0, 8);
}

static void put_kernel(struct trace *t, const char *name)
{
    end_launch(t);
    if (!is_2017(t)) {
        put(t, 0, 1);
        put(t, strlen(name), 2);
    }
    put_text(t, name);
    if (is_2017(t)) put(t, '\n', 1);
    t->launch_count++;
}

static void put_words(struct trace *t, uint64_t descriptor, uint64_t address, uint64_t cta)
{
    put(t, t->format == TRC_2017_REVERSED ? cta : descriptor, 8);
    put(t, address, 8);
    put(t, t->format == TRC_2017_REVERSED ? descriptor : cta, 8);
}

static void expect(struct trace *t, uint32_t operation, uint32_t size_bytes, uint64_t cta,
                   uint64_t address)
{
    if (t->access_count == t->access_capacity) {
        t->access_capacity = t->access_capacity ? 2 * t->access_capacity : 1024;
        t->accesses = realloc(t->accesses, t->access_capacity * sizeof *t->accesses);
        assert_non_null(t->accesses);
    }
    t->accesses[t->access_count] =
        (struct access){t->launch_count - 1, cta, operation, size_bytes, address, t->access_count};
    t->access_count++;
}

/* `count` consecutive accesses: a record or, in a .trc, a run. */
static void put_accesses(struct trace *t, uint32_t operation, uint32_t size_bytes, uint64_t cta,
                         uint64_t address, uint32_t count)
{
    const uint64_t type = is_2017(t)               ? operation
                          : operation == CTS_LOAD  ? 0
                          : operation == CTS_STORE ? 1
                                                   : 2;
    const uint64_t sm = t->sms[(cta >> 32) % 64];
    const uint64_t descriptor = sm << 32 | type << 28 | size_bytes;
    if (!is_2017(t)) put(t, count == 1 ? 0xff : 0xfe, 1);
    put_words(t, descriptor, address, cta);
    if (!is_2017(t) && count != 1) put(t, count, 2);
    const uint32_t told = is_2017(t) || operation <= CTS_STORE ? operation : CTS_ATOMIC_OTHER;
    for (uint32_t i = 0; i < count; i++)
        expect(t, told, size_bytes, cta, address + (uint64_t)i * size_bytes);
}

static void release(struct trace *t)
{
    free(t->bytes);
    free(t->accesses);
}

/* ---- random traces ---- */

static void put_random_records(struct trace *t)
{
    static const uint32_t sizes[] = {1, 2, 4, 4, 4, 8, 12, 16, 65536};
    const uint64_t cta = (uint64_t)below(7) << 32 | (uint64_t)below(3) << 16 | below(2);
    const uint32_t size_bytes = sizes[below(sizeof sizes / sizeof *sizes)];
    const uint32_t operation = 1 + below(is_2017(t) ? 13 : 3);
    const uint32_t shape = below(4);
    uint64_t address = 0x7f0000000000 + 4 * (uint64_t)below(1 << 20);
    if (shape == 3) address = (uint64_t)below(1u << 31) << 33; /* too far apart for one record */
    if (t->format == TRC_3 && shape == 0) {
        put_accesses(t, operation, size_bytes, cta, address, below(10) ? below(100) + 1 : 65535);
        return;
    }
    for (uint32_t n = below(50) + 1; n; n--) {
        put_accesses(t, operation, size_bytes, cta, address, 1);
        if (shape == 1) address += size_bytes;
        if (shape >= 2) address = address * 31 % 0x7fffffffffff;
    }
}

static void put_random_trace(struct trace *t, int format, uint64_t seed)
{
    random_start(seed);
    begin(t, format);
    for (unsigned i = 0; i < 64; i++) t->sms[i] = seed % 2 ? below(132) : 0;
    for (uint32_t launches = 1 + below(5); launches; launches--) {
        char name[16];
        snprintf(name, sizeof name, "kernel%u", below(3));
        put_kernel(t, name);
        for (uint32_t n = below(4) ? below(60) : 0; n; n--) put_random_records(t);
    }
    end_launch(t);
}

/* ---- runs ---- */

struct place {
    char folder[64], trace[96], run[96];
};

static void make_place(struct place *place)
{
    snprintf(place->folder, sizeof place->folder, "%s/ctascope-trc-XXXXXX",
             access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm"); /* hundreds of runs are made */
    assert_non_null(mkdtemp(place->folder));
    snprintf(place->trace, sizeof place->trace, "%s/a.trc", place->folder);
    snprintf(place->run, sizeof place->run, "%s/run", place->folder);
}

static void remove_run(const struct place *place)
{
    static const char *const names[] = {"rank-0/0.acc", "rank-0/1.acc", "rank-0/2.acc",
                                        "run.db",       "run.db-wal",   "run.db-shm"};
    char path[160];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", place->run, names[i]);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/rank-0", place->run);
    rmdir(path);
    rmdir(place->run);
}

static void remove_place(const struct place *place)
{
    remove_run(place);
    unlink(place->trace);
    assert_int_equal(rmdir(place->folder), 0);
}

static void write_bytes(const char *path, const uint8_t *bytes, size_t byte_count)
{
    FILE *const file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, byte_count, file), byte_count);
    assert_int_equal(fclose(file), 0);
}

static enum cts_status import_bytes(const struct place *place, const uint8_t *bytes,
                                    size_t byte_count, struct cts_import_options options,
                                    struct cts_import_result *result, struct cts_error *error)
{
    const char *const path = place->trace;
    write_bytes(path, bytes, byte_count);
    options.paths = &path;
    options.path_count = 1;
    options.run_path = place->run;
    return cts_import(&options, result, error);
}

/* Imports the whole trace, which must succeed. */
static struct cts_import_result import_trace(const struct place *place, const struct trace *t,
                                             struct cts_import_options options)
{
    struct cts_import_result result;
    struct cts_error error;
    if (import_bytes(place, t->bytes, t->byte_count, options, &result, &error))
        fail_msg("%s", error.text);
    return result;
}

static const struct cts_import_options one_thread = {.threads = 1};

/* For what is looked at in the run alone. */
static void make_run(const struct place *place, const struct trace *t,
                     struct cts_import_options options)
{
    struct cts_import_result result = import_trace(place, t, options);
    cts_import_result_release(&result);
}

static struct cts_catalogue catalogue_of(const char *run_path)
{
    struct cts_catalogue catalogue;
    struct cts_error error;
    if (cts_catalogue_read(run_path, &catalogue, &error)) fail_msg("%s", error.text);
    return catalogue;
}

static int by_cta(const void *left, const void *right)
{
    const struct access *const a = left, *const b = right;
    if (a->launch != b->launch) return a->launch < b->launch ? -1 : 1;
    if (a->cta != b->cta) return a->cta < b->cta ? -1 : 1;
    return (a->serial > b->serial) - (a->serial < b->serial);
}

/* What a run holds, CTA by CTA, in the order of the records of each; returns a new array. */
static struct access *read_run(const char *run_path, size_t *count)
{
    struct cts_catalogue catalogue = catalogue_of(run_path);
    struct cts_acc_reader *reader;
    struct cts_error error;
    if (cts_acc_open(run_path, &reader, &error)) fail_msg("%s", error.text);
    size_t chunk_count, capacity = 0;
    const struct cts_acc_chunk *const chunks = cts_acc_chunks(reader, &chunk_count);
    struct cts_acc_batch batch = {0};
    struct access *accesses = NULL;
    *count = 0;
    for (size_t i = 0; i < chunk_count; i++) capacity += chunks[i].access_count;
    accesses = calloc(capacity + 1, sizeof *accesses);
    assert_non_null(accesses);
    for (size_t i = 0; i < chunk_count; i++) {
        if (cts_acc_read(reader, &chunks[i], &batch, &error)) fail_msg("%s", error.text);
        for (size_t k = 0; k < batch.record_count; k++) {
            const struct cts_access a = cts_acc_record(&batch, k);
            const struct cts_launch *const launch = cts_catalogue_launch(&catalogue, a.launch);
            const uint64_t nx = launch->grid[0], ny = launch->grid[1];
            uint64_t addresses[CTS_WARP_LANES];
            cts_access_addresses(&a, addresses);
            assert_int_equal(a.space, CTS_SPACE_GLOBAL);
            for (uint32_t mask = a.mask; mask; mask &= mask - 1)
                accesses[(*count)++] = (struct access){
                    .launch = a.launch,
                    .cta = a.cta % nx << 32 | a.cta / nx % ny << 16 | a.cta / (nx * ny),
                    .operation = catalogue.sites[a.site].operation,
                    .size_bytes = catalogue.sites[a.site].width_bytes,
                    .address = addresses[__builtin_ctz(mask)],
                    .serial = (uint64_t)chunks[i].offset_bytes << 32 | (k << 5) |
                              (unsigned)__builtin_ctz(mask)};
        }
    }
    qsort(accesses, *count, sizeof *accesses, by_cta);
    cts_acc_batch_release(&batch);
    cts_acc_close(reader);
    cts_catalogue_release(&catalogue);
    return accesses;
}

static void compare(const struct access *expected, size_t expected_count, const char *run_path)
{
    size_t count;
    struct access *const found = read_run(run_path, &count);
    assert_int_equal(count, expected_count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(found[i].launch, expected[i].launch);
        assert_int_equal(found[i].cta, expected[i].cta);
        assert_int_equal(found[i].operation, expected[i].operation);
        assert_int_equal(found[i].size_bytes, expected[i].size_bytes);
        assert_int_equal(found[i].address, expected[i].address);
    }
    free(found);
}

static void check_sms(const struct trace *t, const struct access *sorted, const char *run_path)
{
    struct cts_catalogue catalogue = catalogue_of(run_path);
    size_t expected = 0;
    for (size_t i = 0; i < t->access_count; i++)
        expected += i == 0 || sorted[i].launch != sorted[i - 1].launch ||
                    sorted[i].cta != sorted[i - 1].cta;
    for (size_t i = 0; i < catalogue.cta_sm_count; i++) {
        const struct cts_cta_sm *const row = &catalogue.cta_sms[i];
        const struct cts_launch *const launch = cts_catalogue_launch(&catalogue, row->launch);
        assert_int_equal(row->sm, t->sms[row->cta % launch->grid[0]]);
    }
    if (t->sms[0] | t->sms[1] | t->sms[2])
        assert_true(catalogue.cta_sm_count <= expected); /* a launch on SM 0 alone has none */
    else
        assert_int_equal(catalogue.cta_sm_count, 0);
    cts_catalogue_release(&catalogue);
}

/* ---- export ---- */

static uint64_t get(const uint8_t *at, unsigned byte_count)
{
    uint64_t number = 0;
    for (unsigned i = 0; i < byte_count; i++) number |= (uint64_t)at[i] << (8 * i);
    return number;
}

/* Reads what export wrote; returns a new array by CTA. */
static struct access *read_export(const char *path, int version, size_t *count, uint32_t *launches)
{
    FILE *const file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    const size_t byte_count = (size_t)ftell(file);
    rewind(file);
    uint8_t *const bytes = malloc(byte_count + 1);
    assert_int_equal(fread(bytes, 1, byte_count, file), byte_count);
    fclose(file);
    assert_memory_equal(bytes,
                        version == 2 ? "\x19"
                                       "CUDATRACE"
                                     : "\x1a"
                                       "CUDATRACE",
                        10);
    size_t capacity = 1 << 16;
    struct access *accesses = malloc(capacity * sizeof *accesses);
    *count = *launches = 0;
    for (size_t at = 10; at < byte_count;) {
        if (bytes[at] == 0) {
            at += 3 + get(bytes + at + 1, 2);
            ++*launches;
            continue;
        }
        const bool is_run = bytes[at] == 0xfe;
        if (!is_run) assert_int_equal(bytes[at], 0xff);
        if (version == 2) assert_false(is_run);
        const uint64_t descriptor = get(bytes + at + 1, 8);
        const uint64_t n = is_run ? get(bytes + at + 25, 2) : 1;
        if (is_run) assert_true(n > 1);
        for (uint64_t i = 0; i < n; i++) {
            if (*count == capacity)
                accesses = realloc(accesses, (capacity *= 2) * sizeof *accesses);
            assert_non_null(accesses);
            accesses[*count] = (struct access){.launch = *launches - 1,
                                               .cta = get(bytes + at + 17, 8),
                                               .operation = (uint32_t)(descriptor >> 28) & 15,
                                               .size_bytes = (uint32_t)descriptor & 0x0fffffff,
                                               .serial = *count};
            accesses[*count].address = get(bytes + at + 9, 8) + i * accesses[*count].size_bytes;
            ++*count;
        }
        at += is_run ? 27 : 25;
    }
    qsort(accesses, *count, sizeof *accesses, by_cta);
    free(bytes);
    return accesses;
}

static enum cts_status export_to(const struct place *place, unsigned version,
                                 struct cts_export_result *result, struct cts_error *error)
{
    struct cts_catalogue catalogue = catalogue_of(place->run);
    struct cts_acc_reader *reader;
    if (cts_acc_open(place->run, &reader, error)) fail_msg("%s", error->text);
    const struct cts_export_options options = {
        .path = place->trace, .version = version, .rank = CTS_NONE, .stream = CTS_NONE};
    const enum cts_status status = cts_export_trc(&catalogue, reader, &options, result, error);
    cts_acc_close(reader);
    cts_catalogue_release(&catalogue);
    return status;
}

static void check_export(const struct place *place, const struct access *sorted, size_t count,
                         uint32_t launch_count, unsigned version)
{
    struct cts_export_result result;
    struct cts_error error;
    if (export_to(place, version, &result, &error)) fail_msg("%s", error.text);
    size_t found_count;
    uint32_t found_launches;
    struct access *const found =
        read_export(place->trace, (int)version, &found_count, &found_launches);
    assert_int_equal(found_count, count);
    assert_int_equal(result.accesses, count);
    assert_int_equal(found_launches, launch_count);
    for (size_t i = 0; i < count; i++) {
        const uint32_t operation = sorted[i].operation;
        assert_int_equal(found[i].launch, sorted[i].launch);
        assert_int_equal(found[i].cta, sorted[i].cta);
        assert_int_equal(found[i].operation, operation > CTS_STORE ? 2 : operation - 1);
        assert_int_equal(found[i].size_bytes, sorted[i].size_bytes);
        assert_int_equal(found[i].address, sorted[i].address);
    }
    free(found);
}

/* ---- tests ---- */

static void round_trip(int format, uint64_t seed, unsigned threads, uint64_t memory_bytes)
{
    struct trace t;
    struct place place;
    struct cts_import_result result;
    struct cts_error error;
    put_random_trace(&t, format, seed);
    make_place(&place);
    const struct cts_import_options options = {.threads = threads, .memory_bytes = memory_bytes};
    if (import_bytes(&place, t.bytes, t.byte_count, options, &result, &error))
        fail_msg("seed %llu: %s", (unsigned long long)seed, error.text);
    assert_int_equal(result.launches, t.launch_count);
    assert_int_equal(result.accesses, t.access_count);
    assert_int_equal(result.dropped_accesses, 0);
    assert_int_equal(result.note_count, 2); /* nothing is wrong with the file */
    cts_import_result_release(&result);
    if (t.access_count) qsort(t.accesses, t.access_count, sizeof *t.accesses, by_cta);
    compare(t.accesses, t.access_count, place.run);
    check_sms(&t, t.accesses, place.run);
    check_export(&place, t.accesses, t.access_count, t.launch_count, 2);
    check_export(&place, t.accesses, t.access_count, t.launch_count, 3);
    remove_place(&place);
    release(&t);
}

static void test_random_traces_round_trip(void **state)
{
    (void)state;
    static const int formats[] = {TRC_2, TRC_3, TRC_2017, TRC_2017_REVERSED};
    for (uint64_t seed = 1, last = cts_test_count(24, 96); seed <= last; seed++)
        round_trip(formats[seed % 4], seed, 1 + (unsigned)(seed / 4 % 3), 0);
}

static void test_little_memory_takes_rounds(void **state)
{
    (void)state;
    for (uint64_t seed = 100; seed < 106; seed++) round_trip(TRC_3, seed, 1 + seed % 2, 1);
}

/* Large enough for workers to share the launch, in rounds too. */
static void shared_launch(uint64_t memory_bytes)
{
    struct trace t;
    struct place place;
    begin(&t, TRC_3);
    put_kernel(&t, "large");
    for (uint64_t i = 0; i < 10; i++)
        for (uint64_t cta = 0; cta < 37; cta++)
            put_accesses(&t, i % 2 ? CTS_STORE : CTS_LOAD, 4, cta << 32,
                         0x10000000 * (cta + 1) + 4000 * i, 1000);
    make_place(&place);
    make_run(&place, &t, (struct cts_import_options){.threads = 3, .memory_bytes = memory_bytes});
    if (t.access_count) qsort(t.accesses, t.access_count, sizeof *t.accesses, by_cta);
    compare(t.accesses, t.access_count, place.run);
    remove_place(&place);
    release(&t);
}

static void test_workers_share_a_launch(void **state)
{
    (void)state;
    shared_launch(0);
    shared_launch(1 << 20);
}

static void test_launches_without_records_and_grids(void **state)
{
    (void)state;
    struct trace t;
    struct place place;
    struct cts_error error;
    begin(&t, TRC_2);
    put_kernel(&t, "first");
    put_kernel(&t, "second");
    put_accesses(&t, CTS_LOAD, 4, UINT64_C(5) << 32 | 3 << 16 | 1, 64, 1);
    put_kernel(&t, "first");
    make_place(&place);
    struct cts_import_result result = import_trace(&place, &t, one_thread);
    assert_int_equal(result.launches, 3);
    assert_int_equal(result.kernels, 2);
    cts_import_result_release(&result);
    struct cts_catalogue catalogue = catalogue_of(place.run);
    assert_int_equal(catalogue.launch_count, 3);
    assert_int_equal(catalogue.launches[0].kernel, catalogue.launches[2].kernel);
    assert_int_equal(catalogue.launches[1].grid[0], 6);
    assert_int_equal(catalogue.launches[1].grid[1], 4);
    assert_int_equal(catalogue.launches[1].grid[2], 2);
    assert_int_equal(catalogue.launches[2].ordinal, 2);
    assert_string_equal(cts_catalogue_get(&catalogue, "grids"), "inferred");
    assert_string_equal(cts_catalogue_get(&catalogue, "lanes"), "packed");
    cts_catalogue_release(&catalogue);
    struct cts_import_options given = {.threads = 1, .replace = true, .grid = "16;second=8x4x2"};
    make_run(&place, &t, given);
    catalogue = catalogue_of(place.run);
    assert_int_equal(catalogue.launches[0].grid[0], 16);
    assert_int_equal(catalogue.launches[1].grid[0], 8);
    assert_string_equal(cts_catalogue_get(&catalogue, "grids"), "given");
    cts_catalogue_release(&catalogue);
    static const char *const refused[] = {"third=8x4x2", "8x", "0", "second=5x4x2"};
    for (unsigned i = 0; i < sizeof refused / sizeof *refused; i++) {
        given.grid = refused[i];
        assert_int_equal(import_bytes(&place, t.bytes, t.byte_count, given, &result, &error),
                         CTS_USAGE);
    }
    assert_non_null(strstr(error.text, "launch 1 of 'second' has CTA x = 5"));
    remove_place(&place);
    release(&t);
}

static void test_several_files_are_streams(void **state)
{
    (void)state;
    struct trace t;
    struct place place;
    struct cts_import_result result;
    struct cts_error error;
    begin(&t, TRC_2);
    put_kernel(&t, "k");
    put_accesses(&t, CTS_STORE, 4, 0, 64, 1);
    make_place(&place);
    write_bytes(place.trace, t.bytes, t.byte_count);
    const char *const paths[] = {place.trace, place.trace};
    const struct cts_import_options options = {
        .paths = paths, .path_count = 2, .run_path = place.run, .threads = 1};
    assert_int_equal(cts_import(&options, &result, &error), CTS_OK);
    assert_int_equal(result.launches, 2);
    assert_int_equal(result.kernels, 1);
    assert_int_equal(result.note_count, 3);
    assert_non_null(strstr(result.notes[1], "order between files is unknown"));
    cts_import_result_release(&result);
    struct cts_catalogue catalogue = catalogue_of(place.run);
    assert_int_equal(catalogue.stream_count, 2);
    assert_int_equal(catalogue.launches[1].stream, 1);
    assert_int_equal(catalogue.launches[1].ordinal, 0);
    assert_string_equal(cts_catalogue_get(&catalogue, "stream_order"), "unknown");
    cts_catalogue_release(&catalogue);
    remove_place(&place);
    release(&t);
}

/* Each oddity is counted, told, and the rest imported. */
static void test_bad_records_are_left_out_and_told(void **state)
{
    (void)state;
    struct trace t;
    struct place place;
    begin(&t, TRC_3);
    put_kernel(&t, "k");
    put_accesses(&t, CTS_LOAD, 4, 0, 64, 1);
    put(&t, 0xff, 1);
    put_words(&t, UINT64_C(3) << 28 | 4, 64, 0); /* byte 14 + 25: type 3 */
    put(&t, 0xfe, 1);
    put_words(&t, UINT64_C(7) << 28 | 4, 64, 0);
    put(&t, 10, 2);
    put(&t, 0xff, 1);
    put_words(&t, 0, 64, 0); /* size 0 */
    put(&t, 0xff, 1);
    put_words(&t, 65537, 64, 0); /* size too large */
    put(&t, 0xfe, 1);
    put_words(&t, 4, UINT64_MAX - 10, 0); /* 12 bytes from there pass the end */
    put(&t, 3, 2);
    put(&t, 0xfe, 1);
    put_words(&t, UINT64_C(1) << 28 | 8, 4096, 0); /* wrapped */
    put(&t, 0, 2);
    for (unsigned i = 0; i < 65536; i++) expect(&t, CTS_STORE, 8, 0, 4096 + 8 * (uint64_t)i);
    make_place(&place);
    struct cts_import_result result = import_trace(&place, &t, one_thread);
    assert_int_equal(result.accesses, 1 + 65536);
    assert_int_equal(result.dropped_accesses, 1 + 10 + 1 + 1 + 3);
    assert_int_equal(result.note_count, 2 + 4);
    assert_non_null(strstr(result.notes[2], "11 accesses of an unknown type"));
    assert_non_null(strstr(result.notes[2], "the first at byte 39"));
    assert_non_null(strstr(result.notes[3], "2 accesses of an impossible size"));
    assert_non_null(strstr(result.notes[4], "3 accesses past the end of memory"));
    assert_non_null(strstr(result.notes[5], "1 run has a count of 0"));
    cts_import_result_release(&result);
    compare(t.accesses, t.access_count, place.run);
    struct cts_catalogue catalogue = catalogue_of(place.run);
    assert_int_equal(catalogue.launches[0].dropped_accesses, 16);
    assert_int_equal(catalogue.message_count, 6);
    cts_catalogue_release(&catalogue);
    remove_place(&place);
    release(&t);
}

static void put_small(struct trace *t, int format)
{
    begin(t, format);
    put_kernel(t, "ab");
    put_accesses(t, CTS_LOAD, 4, UINT64_C(1) << 32, 0x1000, 1);
    put_accesses(t, CTS_LOAD, 4, UINT64_C(1) << 32, 0x1004, 1);
    if (format == TRC_3) put_accesses(t, CTS_STORE, 8, 0, 0x2000, 3);
    put_kernel(t, "c");
    put_accesses(t, CTS_STORE, 4, 0, 0x1000, 1);
    end_launch(t);
}

/* A trace that ends anywhere: what is whole comes through, and what is missing is told. */
static void cut_everywhere(int format)
{
    struct trace t;
    struct place place;
    struct cts_import_result result;
    struct cts_error error;
    put_small(&t, format);
    make_place(&place);
    uint64_t accesses_before = 0;
    for (size_t size = 0; size < t.byte_count; size++) {
        const struct cts_import_options options = {.threads = 1, .replace = true};
        const enum cts_status status =
            import_bytes(&place, t.bytes, size, options, &result, &error);
        if (status) {
            assert_int_equal(status, CTS_FORMAT);
            assert_non_null(strstr(error.text, place.trace));
            assert_int_equal(accesses_before, 0);
            continue;
        }
        assert_true(result.accesses >= accesses_before && result.accesses < t.access_count + 1);
        accesses_before = result.accesses;
        bool told = false;
        for (size_t i = 0; i < result.note_count; i++)
            told |= strstr(result.notes[i], "ends early") != NULL;
        struct cts_catalogue catalogue = catalogue_of(place.run);
        bool marked = false;
        for (size_t i = 0; i < catalogue.launch_count; i++)
            marked |= catalogue.launches[i].dropped_accesses ||
                      !strcmp(catalogue.launches[i].recorded, "none");
        assert_int_equal(told, marked);
        if (format == TRC_2017) /* only a whole launch, and no other, ends well */
            assert_int_equal(told, size != 2 + 3 + 3 * 24);
        cts_catalogue_release(&catalogue);
        size_t count;
        free(read_run(place.run, &count));
        assert_int_equal(count, result.accesses);
        cts_import_result_release(&result);
    }
    assert_true(accesses_before + (format != TRC_2017) >= t.access_count);
    remove_place(&place);
    release(&t);
}

static void test_truncation_at_every_byte(void **state)
{
    (void)state;
    CTS_TEST_STARTS_NO_THREAD();
    cut_everywhere(TRC_3);
    cut_everywhere(TRC_2017);
}

/* Every byte set to something else: an error that names the file, or a run that can be read. */
static void test_any_byte_spoiled(void **state)
{
    (void)state;
    CTS_TEST_STARTS_NO_THREAD();
    static const uint8_t values[] = {0x00, 0xff, 0xfe, 0x80};
    struct trace t;
    struct place place;
    put_small(&t, TRC_3);
    make_place(&place);
    uint8_t *const spoiled = malloc(t.byte_count);
    assert_non_null(spoiled);
    for (size_t at = 0; at < t.byte_count; at++) {
        memcpy(spoiled, t.bytes, t.byte_count);
        spoiled[at] = values[at % 4] == t.bytes[at] ? 0x55 : values[at % 4];
        const struct cts_import_options options = {.threads = 1, .replace = true};
        struct cts_import_result result;
        struct cts_error error;
        if (import_bytes(&place, spoiled, t.byte_count, options, &result, &error)) {
            assert_non_null(strstr(error.text, place.trace));
            continue;
        }
        assert_true(at >= 10);
        size_t count;
        free(read_run(place.run, &count));
        assert_int_equal(count, result.accesses);
        cts_import_result_release(&result);
    }
    free(spoiled);
    remove_place(&place);
    release(&t);
}

static void expect_refused(const char *bytes, size_t byte_count, const char *reason)
{
    struct place place;
    struct cts_import_result result;
    struct cts_error error;
    make_place(&place);
    const struct cts_import_options options = {.threads = 1};
    const enum cts_status status =
        import_bytes(&place, (const uint8_t *)bytes, byte_count, options, &result, &error);
    assert_true(status == CTS_FORMAT || status == CTS_LIMIT);
    if (!strstr(error.text, reason)) fail_msg("'%s' does not say '%s'", error.text, reason);
    assert_non_null(strstr(error.text, place.trace));
    assert_int_equal(access(place.run, F_OK), -1); /* nothing was made */
    remove_place(&place);
}

static void test_what_is_no_trace_is_refused(void **state)
{
    (void)state;
    expect_refused("", 0, "none of the supported formats");
    expect_refused("\x19"
                   "CUDATRAC",
                   9, "none of the supported formats");
    expect_refused("\x1b"
                   "CUDATRACE",
                   10, "none of the supported formats");
    expect_refused("\x18 CUDA", 6, "none of the supported formats");
    expect_refused("\x1a"
                   "CUDATRACE",
                   10, "no launch");
    expect_refused("\x18\n", 2, "no launch");
    expect_refused("\x1a"
                   "CUDATRACE\x01",
                   11, "byte 10: 0x01 does not begin an entry");
    expect_refused("\x1a"
                   "CUDATRACE\xff"
                   "aaaaaaaabbbbbbbbcccccccc",
                   35, "byte 10: a record before the first kernel");
    expect_refused("\x1a"
                   "CUDATRACE\xff",
                   11, "byte 10: a record before the first kernel");
    /* a CTA that needs a grid of 2^32 */
    expect_refused("\x1a"
                   "CUDATRACE\0\0\0\xff"
                   "\4\0\0\0\0\0\0\0"
                   "\0\1\0\0\0\0\0\0"
                   "\xff\xff\xff\xff\xff\xff\xff\xff",
                   38, "a grid of 2^32 CTAs or more");
}

static void test_a_name_as_long_as_can_be(void **state)
{
    (void)state;
    struct trace t;
    struct place place;
    char *const name = malloc(65536);
    assert_non_null(name);
    memset(name, 'n', 65535);
    name[65535] = 0;
    name[7] = (char)0xff; /* no UTF-8 */
    begin(&t, TRC_2);
    put_kernel(&t, name);
    put_accesses(&t, CTS_LOAD, 4, 0, 64, 1);
    make_place(&place);
    make_run(&place, &t, one_thread);
    struct cts_catalogue catalogue = catalogue_of(place.run);
    assert_int_equal(strlen(catalogue.kernels[0].name), 65535);
    assert_int_equal(catalogue.kernels[0].name[7], '?');
    cts_catalogue_release(&catalogue);
    free(name);
    remove_place(&place);
    release(&t);
}

/* At what a count holds, and where another CTA, operation or size begins. */
static void test_runs_end_where_they_must(void **state)
{
    (void)state;
    struct trace t;
    struct place place;
    struct cts_export_result exported;
    struct cts_error error;
    begin(&t, TRC_3);
    put_kernel(&t, "k");
    put_accesses(&t, CTS_STORE, 4, 0, 0, 65535);
    put_accesses(&t, CTS_STORE, 4, 0, 4 * 65535, 65535);
    put_accesses(&t, CTS_STORE, 4, 0, 8 * 65535, 2);
    put_accesses(&t, CTS_STORE, 4, UINT64_C(1) << 32, 8 * 65535 + 8, 1); /* another CTA's */
    put_accesses(&t, CTS_LOAD, 4, UINT64_C(1) << 32, 8 * 65535 + 12, 1);
    put_accesses(&t, CTS_LOAD, 2, UINT64_C(1) << 32, 8 * 65535 + 16, 1);
    make_place(&place);
    make_run(&place, &t, one_thread);
    assert_int_equal(export_to(&place, 3, &exported, &error), CTS_OK);
    assert_int_equal(exported.entries, 1 + 3 + 3);
    struct stat facts;
    assert_int_equal(stat(place.trace, &facts), 0);
    assert_int_equal(facts.st_size, t.byte_count);
    remove_place(&place);
    release(&t);
}

static void test_export_refuses_what_does_not_fit(void **state)
{
    (void)state;
    struct trace t;
    struct place place;
    struct cts_import_result result;
    struct cts_export_result exported;
    struct cts_error error;
    begin(&t, TRC_2);
    put_kernel(&t, "k");
    put_accesses(&t, CTS_LOAD, 4, UINT64_C(70000) << 32, 64, 1);
    make_place(&place);
    struct cts_import_options options = {.threads = 1, .grid = "1x70001"};
    /* 70000 in x does not fit into 1 */
    assert_int_equal(import_bytes(&place, t.bytes, t.byte_count, options, &result, &error),
                     CTS_USAGE);
    options.grid = NULL;
    make_run(&place, &t, options);
    assert_int_equal(export_to(&place, 2, &exported, &error), CTS_OK); /* x may be as large */
    struct cts_catalogue catalogue = catalogue_of(place.run);
    struct cts_acc_reader *reader;
    assert_int_equal(cts_acc_open(place.run, &reader, &error), CTS_OK);
    catalogue.launches[0].grid[0] = 1; /* the same CTA as y = 70000 */
    catalogue.launches[0].grid[1] = 70001;
    struct cts_export_options to = {
        .path = place.trace, .version = 2, .rank = CTS_NONE, .stream = CTS_NONE};
    assert_int_equal(cts_export_trc(&catalogue, reader, &to, &exported, &error), CTS_LIMIT);
    assert_non_null(strstr(error.text, "(0, 70000, 0)"));
    to.rank = 3;
    assert_int_equal(cts_export_trc(&catalogue, reader, &to, &exported, &error), CTS_USAGE);
    to.rank = CTS_NONE;
    to.stream = 9;
    assert_int_equal(cts_export_trc(&catalogue, reader, &to, &exported, &error), CTS_USAGE);
    cts_acc_close(reader);
    cts_catalogue_release(&catalogue);
    remove_place(&place);
    release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_traces_round_trip),
        cmocka_unit_test(test_little_memory_takes_rounds),
        cmocka_unit_test(test_workers_share_a_launch),
        cmocka_unit_test(test_launches_without_records_and_grids),
        cmocka_unit_test(test_several_files_are_streams),
        cmocka_unit_test(test_bad_records_are_left_out_and_told),
        cmocka_unit_test(test_truncation_at_every_byte),
        cmocka_unit_test(test_any_byte_spoiled),
        cmocka_unit_test(test_what_is_no_trace_is_refused),
        cmocka_unit_test(test_a_name_as_long_as_can_be),
        cmocka_unit_test(test_runs_end_where_they_must),
        cmocka_unit_test(test_export_refuses_what_does_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
