/* The public API on a run whose every number is known (tests/golden/make-run.c). Uses the public
 * header only. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <ctascope/ctascope.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *make_run_program;
static char directory[64];

static struct cts_run *open_kind(const char *kind)
{
    char command[600], path[100], error[CTS_ERROR_BYTES];
    snprintf(path, sizeof path, "%s/%s", directory, kind);
    snprintf(command, sizeof command, "rm -rf %s; (%s %s %s; :) 2>/dev/null", path,
             make_run_program, kind, path);
    if (system(command)) fail_msg("make-run does not run");
    struct cts_run *run = NULL;
    if (cts_run_open(path, &run, error, sizeof error)) fail_msg("%s", error);
    return run;
}

static void the_catalogue_is_there(void **state)
{
    (void)state;
    struct cts_run *const run = open_kind("complete");
    assert_string_equal(cts_run_key(run, "host"), "example");
    assert_null(cts_run_key(run, "nothing"));
    assert_int_equal(cts_run_is_complete(run), 1);
    assert_int_equal(cts_run_dropped_accesses(run), 0);

    struct cts_kernel_info kernel = CTS_INFO_INIT(struct cts_kernel_info);
    assert_int_equal(cts_run_kernel_count(run), 2);
    assert_int_equal(cts_run_kernel(run, 1, &kernel), CTS_RESULT_OK);
    assert_string_equal(kernel.name, "sum(int *)");
    assert_string_equal(kernel.path, "/src/app.cu");
    assert_int_equal(kernel.line, 9);
    assert_int_equal(kernel.static_shared_bytes, 128);
    assert_int_equal(cts_run_kernel(run, 2, &kernel), CTS_RESULT_USAGE);

    struct cts_launch_info launch = CTS_INFO_INIT(struct cts_launch_info);
    assert_int_equal(cts_run_launch_count(run), 3);
    assert_int_equal(cts_run_launch(run, 1, &launch), CTS_RESULT_OK);
    assert_int_equal(launch.kernel, 1);
    assert_int_equal(launch.grid[1], 3);
    assert_int_equal(launch.recorded, CTS_RECORDED_SAMPLE);
    assert_int_equal(launch.end_ns - launch.start_ns, 300);
    assert_int_equal(launch.accesses, 70);
    assert_int_equal(cts_run_find_launch(run, 2, &launch), CTS_RESULT_OK);
    assert_int_equal(launch.recorded, CTS_RECORDED_NONE);
    assert_int_equal(cts_run_find_launch(run, 3, &launch), CTS_RESULT_USAGE);
    assert_int_equal(cts_run_launch(run, 3, &launch), CTS_RESULT_USAGE);

    struct cts_site_info site = CTS_INFO_INIT(struct cts_site_info);
    assert_int_equal(cts_run_site_count(run), 4);
    assert_int_equal(cts_run_site(run, 3, &site), CTS_RESULT_OK);
    assert_string_equal(site.operation, "atomic add");
    assert_string_equal(site.space, "generic");
    assert_int_equal(site.reads && site.writes, 1);
    assert_string_equal(site.variable, "total");
    assert_int_equal(cts_run_site(run, 1, &site), CTS_RESULT_OK);
    assert_int_equal(site.reads, 0);
    assert_int_equal(site.writes, 1);
    assert_int_equal(cts_run_site(run, 4, &site), CTS_RESULT_USAGE);

    struct cts_allocation_info allocation = CTS_INFO_INIT(struct cts_allocation_info);
    assert_int_equal(cts_run_allocation_count(run), 2);
    assert_int_equal(cts_run_allocation(run, 0, &allocation), CTS_RESULT_OK);
    assert_int_equal(allocation.freed_op, 10);
    assert_int_equal(cts_run_allocation(run, 1, &allocation), CTS_RESULT_OK);
    assert_int_equal(allocation.freed_op, CTS_NEVER);
    assert_int_equal(allocation.address, 0x7100000);
    assert_string_equal(allocation.kind, "managed");
    assert_int_equal(cts_run_allocation(run, 2, &allocation), CTS_RESULT_USAGE);
    cts_run_close(run);
}

/* Records and thread accesses of a launch, or of all. */
static void count(const struct cts_run *run, uint32_t launch, unsigned *records, unsigned *accesses)
{
    char error[CTS_ERROR_BYTES];
    struct cts_accesses *all;
    struct cts_warp_record record = CTS_INFO_INIT(struct cts_warp_record);
    if (cts_accesses_open(run, launch, &all, error, sizeof error)) fail_msg("%s", error);
    *records = *accesses = 0;
    int more;
    while ((more = cts_accesses_next(all, &record)) == 1) {
        ++*records;
        *accesses += (unsigned)__builtin_popcount(record.lanes);
    }
    assert_int_equal(more, 0);
    assert_int_equal(cts_accesses_next(all, &record), 0);
    cts_accesses_close(all);
}

static void records_come_back(void **state)
{
    (void)state;
    struct cts_run *const run = open_kind("complete");
    unsigned records, accesses;
    count(run, CTS_UNKNOWN, &records, &accesses);
    assert_int_equal(records, 7);
    assert_int_equal(accesses, 166);
    count(run, 1, &records, &accesses);
    assert_int_equal(records, 3);
    assert_int_equal(accesses, 70);
    count(run, 2, &records, &accesses);
    assert_int_equal(records, 0);

    struct cts_accesses *accesses_of_one;
    struct cts_warp_record record = CTS_INFO_INIT(struct cts_warp_record);
    assert_int_equal(cts_accesses_open(run, 1, &accesses_of_one, NULL, 0), CTS_RESULT_OK);
    assert_int_equal(cts_accesses_next(accesses_of_one, &record), 1);
    assert_int_equal(record.cta, 5);
    assert_string_equal(record.space, "shared");
    assert_int_equal(record.width_bytes, 8);
    assert_int_equal(record.addresses[31], 64 + 8 * 15);
    assert_int_equal(record.value_words, 0);
    assert_int_equal(cts_accesses_next(accesses_of_one, &record), 1);
    assert_int_equal(record.addresses[7], 0x7100000);
    assert_int_equal(cts_accesses_next(accesses_of_one, &record), 1);
    assert_int_equal(record.lanes, 0x800000f1);
    assert_int_equal(record.addresses[31], 0x7000000 + 4 * (31 * 31 % 61));
    assert_int_equal(record.addresses[30], 0); /* took no part */
    cts_accesses_close(accesses_of_one);
    cts_run_close(run);
}

/* In columns of any capacity the same accesses come as record by record. */
static void columns_hold_what_records_hold(void **state)
{
    (void)state;
    struct cts_run *const run = open_kind("complete");
    for (size_t capacity = 1; capacity <= 200; capacity += capacity < 70 ? 1 : 43) {
        uint64_t addresses[200];
        uint32_t launches[200], sites[200], ctas[200], warps[200];
        uint8_t lanes[200];
        struct cts_access_columns columns = CTS_INFO_INIT(struct cts_access_columns);
        columns.capacity = capacity;
        columns.addresses = addresses;
        columns.launches = launches;
        columns.sites = sites;
        columns.ctas = ctas;
        columns.warps = warps;
        columns.lanes = lanes;
        struct cts_warp_record record = CTS_INFO_INIT(struct cts_warp_record);
        struct cts_accesses *by_record, *by_column;
        assert_int_equal(cts_accesses_open(run, CTS_UNKNOWN, &by_record, NULL, 0), CTS_RESULT_OK);
        assert_int_equal(cts_accesses_open(run, CTS_UNKNOWN, &by_column, NULL, 0), CTS_RESULT_OK);
        int64_t filled = 0, at = 0;
        uint64_t left = 166;
        while (cts_accesses_next(by_record, &record) == 1)
            for (unsigned lane = 0; lane < 32; lane++) {
                if (!(record.lanes >> lane & 1)) continue;
                if (at == filled) {
                    assert_int_equal(cts_accesses_left(by_column), left);
                    filled = cts_accesses_fill(by_column, &columns);
                    at = 0;
                    assert_true(filled > 0 && (uint64_t)filled <= capacity);
                    left -= (uint64_t)filled;
                }
                assert_int_equal(addresses[at], record.addresses[lane]);
                assert_int_equal(launches[at], record.launch);
                assert_int_equal(sites[at], record.site);
                assert_int_equal(ctas[at], record.cta);
                assert_int_equal(warps[at], record.warp);
                assert_int_equal(lanes[at], lane);
                at++;
            }
        assert_int_equal(at, filled);
        assert_int_equal(cts_accesses_fill(by_column, &columns), 0);
        assert_int_equal(cts_accesses_left(by_column), 0);
        cts_accesses_close(by_record);
        cts_accesses_close(by_column);
    }
    cts_run_close(run);
}

/* A caller whose header knows more members gets 0 in them; one without a size is refused. */
static void structs_may_grow(void **state)
{
    (void)state;
    struct cts_run *const run = open_kind("complete");
    struct {
        struct cts_kernel_info info;
        uint64_t newer;
    } grown = {.newer = 77};
    grown.info.struct_size = sizeof grown;
    assert_int_equal(cts_run_kernel(run, 1, &grown.info), CTS_RESULT_OK);
    assert_int_equal(grown.info.struct_size, sizeof grown);
    assert_int_equal(grown.info.line, 9);
    assert_int_equal(grown.newer, 0);
    struct cts_kernel_info none = {0};
    assert_int_equal(cts_run_kernel(run, 1, &none), CTS_RESULT_USAGE);
    struct cts_accesses *accesses;
    assert_int_equal(cts_accesses_open(run, CTS_UNKNOWN, &accesses, NULL, 0), CTS_RESULT_OK);
    assert_int_equal(cts_accesses_fill(accesses, &(struct cts_access_columns){0}), -1);
    assert_non_null(strstr(cts_accesses_error(accesses), "struct_size"));
    cts_accesses_close(accesses);
    cts_run_close(run);
}

static void a_run_without_time_has_no_archive(void **state)
{
    (void)state;
    struct cts_run *const run = open_kind("complete");
    char error[CTS_ERROR_BYTES], path[100];
    snprintf(path, sizeof path, "%s/complete", directory);
    struct cts_archive *archive;
    assert_int_not_equal(cts_archive_open(path, &archive, error, sizeof error), CTS_RESULT_OK);
    assert_null(archive);
    assert_non_null(strstr(error, "complete"));
    cts_archive_close(NULL);
    cts_run_close(run);
}

static void values_come_back(void **state)
{
    (void)state;
    struct cts_run *const run = open_kind("values");
    struct cts_accesses *accesses;
    struct cts_warp_record record = CTS_INFO_INIT(struct cts_warp_record);
    assert_int_equal(cts_accesses_open(run, 0, &accesses, NULL, 0), CTS_RESULT_OK);
    assert_int_equal(cts_accesses_next(accesses, &record), 1);
    assert_int_equal(record.lanes, 0x9);
    assert_int_equal(record.value_words, 1);
    assert_int_equal(record.values[0], 0x3f800000);
    assert_int_equal(record.values[1], 0x40490fdb);
    cts_accesses_close(accesses);
    cts_run_close(run);
}

static void a_killed_program_s_run_opens(void **state)
{
    (void)state;
    struct cts_run *const run = open_kind("killed");
    unsigned records, accesses;
    assert_int_equal(cts_run_is_complete(run), 0);
    count(run, CTS_UNKNOWN, &records, &accesses);
    assert_int_equal(records, 7);
    cts_run_close(run);
}

static void errors_are_texts(void **state)
{
    (void)state;
    char error[CTS_ERROR_BYTES], path[100], small[10];
    struct cts_run *run = (struct cts_run *)path;
    snprintf(path, sizeof path, "%s/nothing", directory);
    assert_int_equal(cts_run_open(path, &run, error, sizeof error), CTS_RESULT_IO);
    assert_null(run);
    assert_non_null(strstr(error, "No such file or directory"));
    assert_int_equal(cts_run_open(path, &run, NULL, 0), CTS_RESULT_IO);
    assert_int_equal(cts_run_open(path, &run, small, sizeof small), CTS_RESULT_IO);
    assert_string_equal(small, "cannot re");
    assert_int_equal(cts_run_open("/", &run, error, sizeof error), CTS_RESULT_FORMAT);
    assert_string_equal(error, "'/' is not a run: it has no run.db");
    cts_run_close(NULL);
    cts_accesses_close(NULL);

    run = open_kind("complete");
    struct cts_accesses *accesses;
    assert_int_equal(cts_accesses_open(run, 77, &accesses, error, sizeof error), CTS_RESULT_USAGE);
    assert_null(accesses);
    assert_non_null(strstr(error, "has no launch 77"));
    char command[200];
    snprintf(command, sizeof command, "echo noise noise noise noise >%s/complete/rank-0/0.acc",
             directory);
    assert_int_equal(system(command), 0);
    cts_run_close(run);
    char path_of_run[200];
    snprintf(path_of_run, sizeof path_of_run, "%s/complete", directory);
    assert_int_equal(cts_run_open(path_of_run, &run, error, sizeof error), CTS_RESULT_OK);
    assert_false(cts_run_is_complete(run));
    assert_non_null(strstr(cts_run_missing(run, 0), "rank-0/0.acc"));
    assert_null(cts_run_missing(run, 1));
    assert_int_equal(cts_accesses_open(run, CTS_UNKNOWN, &accesses, error, sizeof error),
                     CTS_RESULT_FORMAT);
    assert_non_null(strstr(error, "rank-0/0.acc"));
    cts_run_close(run);
}

static void *count_in_thread(void *run)
{
    unsigned records, accesses;
    for (int i = 0; i < 20; i++) {
        count(run, CTS_UNKNOWN, &records, &accesses);
        if (accesses != 166) return run;
    }
    return NULL;
}

static void a_run_serves_several_threads(void **state)
{
    (void)state;
    struct cts_run *const run = open_kind("complete");
    pthread_t threads[4];
    void *wrong;
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, count_in_thread, run);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    cts_run_close(run);
}

static int remove_directory(void **state)
{
    (void)state;
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

int main(int argc, char **argv)
{
    if (argc != 2) return 1;
    make_run_program = argv[1];
    snprintf(directory, sizeof directory, "/tmp/cts-api-XXXXXX");
    if (!mkdtemp(directory)) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_catalogue_is_there),
        cmocka_unit_test(records_come_back),
        cmocka_unit_test(columns_hold_what_records_hold),
        cmocka_unit_test(structs_may_grow),
        cmocka_unit_test(a_run_without_time_has_no_archive),
        cmocka_unit_test(values_come_back),
        cmocka_unit_test(a_killed_program_s_run_opens),
        cmocka_unit_test(errors_are_texts),
        cmocka_unit_test(a_run_serves_several_threads),
    };
    return cmocka_run_group_tests(tests, NULL, remove_directory);
}
