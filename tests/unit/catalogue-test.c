/* Writer and reader of the catalogue: what goes in comes out, from threads, processes and killed
 * processes; damaged and hostile databases give one exact error each. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "count.h"
#include "trace/access.h"
#include "catalogue-rows.h"
#include "trace/catalogue-schema.h"
#include "trace/catalogue-tables.h"
#include "trace/catalogue.h"

/* ---- a directory per test ---- */

struct place {
    char directory[64];
    char run[80];
    char database[96];
};

static int make_place(void **state)
{
    static const char *const variables[] = {"CTASCOPE_SESSION", "OMPI_COMM_WORLD_RANK",
                                            "OMPI_COMM_WORLD_SIZE", "PMI_RANK"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) unsetenv(variables[i]);
    struct place *const place = calloc(1, sizeof *place);
    snprintf(place->directory, sizeof place->directory, "/tmp/cts-catalogue-XXXXXX");
    if (!mkdtemp(place->directory)) return -1;
    snprintf(place->run, sizeof place->run, "%s/run", place->directory);
    snprintf(place->database, sizeof place->database, "%s/run.db", place->run);
    *state = place;
    return 0;
}

static int remove_place(void **state)
{
    struct place *const place = *state;
    char command[200];
    snprintf(command, sizeof command, "chmod -R u+w %s; rm -rf %s", place->directory,
             place->directory);
    const int code = system(command);
    free(place);
    return code;
}

static struct cts_catalogue_writer *create(const char *run)
{
    struct cts_error error = {0};
    struct cts_catalogue_writer *writer = NULL;
    if (cts_catalogue_create(run, &writer, &error)) fail_msg("%s", error.text);
    return writer;
}

static void close_writer(struct cts_catalogue_writer *writer)
{
    struct cts_error error = {0};
    if (cts_catalogue_close(writer, &error)) fail_msg("%s", error.text);
}

static struct cts_catalogue read_run(const char *run)
{
    struct cts_catalogue catalogue;
    struct cts_error error = {0};
    if (cts_catalogue_read(run, &catalogue, &error)) fail_msg("%s", error.text);
    return catalogue;
}

static bool exists(const char *directory, const char *name)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return access(path, F_OK) == 0;
}

static void make_run(const struct place *place)
{
    struct cts_catalogue_writer *const w = create(place->run);
    add_one_of_each(w);
    close_writer(w);
}

/* ---- what goes in comes out ---- */

/* Field by field, by the same description; that the description itself is right is checked by
 * columns_are_those_of_the_schema and by the fields looked at below. */
static void assert_row(const struct cts_catalogue *catalogue, enum cts_table_id table,
                       const void *expected)
{
    const struct cts_table *const t = &cts_tables[table];
    assert_int_equal(cts_catalogue_row_count(catalogue, table), 1);
    const void *const row = cts_catalogue_row(catalogue, table, 0);
    for (unsigned c = 0; c < t->column_count; c++) {
        const struct cts_table_column *const column = &t->columns[c];
        if (column->type != CTS_COLUMN_TEXT)
            assert_int_equal(cts_column_number(column, row), cts_column_number(column, expected));
        else if (cts_column_text(column, expected))
            assert_string_equal(cts_column_text(column, row), cts_column_text(column, expected));
        else
            assert_null(cts_column_text(column, row));
    }
}

static void every_field_comes_back(void **state)
{
    const struct place *const place = *state;
    make_run(place);
    struct cts_catalogue c = read_run(place->run);
    assert_row(&c, CTS_TABLE_DEVICES, &device_row);
    assert_row(&c, CTS_TABLE_MODULES, &module_row);
    assert_row(&c, CTS_TABLE_SOURCES, &source_row);
    assert_row(&c, CTS_TABLE_KERNELS, &kernel_row);
    assert_row(&c, CTS_TABLE_SITES, &site_row);
    assert_row(&c, CTS_TABLE_VARIABLES, &variable_row);
    assert_row(&c, CTS_TABLE_SKIPPED, &skipped_row);
    assert_row(&c, CTS_TABLE_STREAMS, &stream_row);
    assert_row(&c, CTS_TABLE_LAUNCHES, &launch_row);
    assert_row(&c, CTS_TABLE_COPIES, &copy_row);
    assert_row(&c, CTS_TABLE_ALLOCATIONS, &allocation_row);
    assert_row(&c, CTS_TABLE_SYNCS, &sync_row);
    assert_row(&c, CTS_TABLE_CALLS, &call_row);
    assert_row(&c, CTS_TABLE_HOST_FUNCTIONS, &host_function_row);
    assert_row(&c, CTS_TABLE_GRAPH_NODES, &graph_node_row);
    assert_row(&c, CTS_TABLE_GRAPH_EDGES, &graph_edge_row);
    assert_row(&c, CTS_TABLE_HOST_ACCESSES, &host_access_row);
    assert_row(&c, CTS_TABLE_CTA_SMS, &cta_sm_row);
    assert_row(&c, CTS_TABLE_CLUSTERS, &cluster_row);
    assert_row(&c, CTS_TABLE_LAUNCH_POINTERS, &pointer_row);
    assert_row(&c, CTS_TABLE_TENSOR_MAPS, &tensor_map_row);
    assert_row(&c, CTS_TABLE_PADDED_TYPES, &padded_type_row);
    assert_row(&c, CTS_TABLE_FINGERPRINTS, &fingerprint_row);
    assert_int_equal(c.tensor_maps[0].stride_bytes[1], 128);
    assert_int_equal(c.clusters[0].ctas[1], 2);
    assert_int_equal(c.launches[0].block[1], 8);
    assert_int_equal(c.copies[0].source_slice, 300);
    assert_int_equal(c.streams[0].handle, 0xffff800000000001);
    assert_int_equal(c.streams[0].priority, -1);
    assert_int_equal(c.allocations[0].freed_op, UINT64_MAX);
    assert_int_equal(c.variables[0].source, CTS_NONE);
    assert_string_equal(c.messages[0].text, "it is \"cold\"\n");
    assert_string_equal(cts_catalogue_get(&c, "colour"), "blue");
    assert_string_equal(cts_catalogue_get(&c, "format_version"), "1");
    assert_string_equal(cts_catalogue_get(&c, "ctascope_version"), CTASCOPE_VERSION);
    assert_int_equal(strlen(cts_catalogue_get(&c, "created")), strlen("2026-11-20T22:00:45Z"));
    assert_null(cts_catalogue_get(&c, "no such key"));
    assert_int_equal(c.ranks[0].pid, getpid());
    assert_int_equal(c.ranks[0].end_ns, 0);
    assert_ptr_equal(cts_catalogue_launch(&c, 0), &c.launches[0]);
    assert_null(cts_catalogue_launch(&c, 1));
    cts_catalogue_release(&c);
    assert_null(c.sites);
}

/* Every column of schema.sql is described, and the other way round. */
static void columns_are_those_of_the_schema(void **state)
{
    const struct place *const place = *state;
    make_run(place);
    sqlite3 *db;
    assert_int_equal(sqlite3_open(place->database, &db), SQLITE_OK);
    for (unsigned t = 0; t < CTS_TABLE_COUNT; t++) {
        sqlite3_stmt *statement;
        sqlite3_prepare_v2(db, "SELECT name FROM pragma_table_info(?) ORDER BY cid", -1, &statement,
                           NULL);
        sqlite3_bind_text(statement, 1, cts_tables[t].name, -1, SQLITE_STATIC);
        unsigned c = 0;
        while (sqlite3_step(statement) == SQLITE_ROW) {
            const char *const name = (const char *)sqlite3_column_text(statement, 0);
            bool found = false;
            for (unsigned i = 0; i < cts_tables[t].column_count; i++)
                found |= strcmp(cts_tables[t].columns[i].name, name) == 0;
            if (!found) fail_msg("%s.%s is not described", cts_tables[t].name, name);
            c++;
        }
        assert_int_equal(c, cts_tables[t].column_count);
        sqlite3_finalize(statement);
    }
    sqlite3_close(db);
}

static void an_orderly_close_leaves_one_plain_file(void **state)
{
    const struct place *const place = *state;
    make_run(place);
    assert_true(exists(place->run, "run.db"));
    assert_true(exists(place->run, "rank-0"));
    assert_false(exists(place->run, "run.db-wal"));
    assert_false(exists(place->run, "run.db-shm"));
    struct cts_catalogue c = read_run(place->run);
    cts_catalogue_release(&c);
    assert_false(exists(place->run, "run.db-wal"));
    assert_false(exists(place->run, "run.db-shm"));
}

static void a_row_added_again_replaces_the_first(void **state)
{
    const struct place *const place = *state;
    struct cts_catalogue_writer *const w = create(place->run);
    add_one_of_each(w);
    struct cts_launch launch = launch_row;
    launch.end_ns = 0;
    cts_catalogue_add_launch(w, &launch);
    for (int i = 0; i < 3; i++) { /* counts arrive: no launch more is asked for */
        launch.records++;
        cts_catalogue_update_launch(w, &launch);
    }
    launch.end_ns = 777;
    cts_catalogue_add_launch(w, &launch);
    cts_catalogue_free_allocation(w, 0, 42);
    cts_catalogue_destroy_stream(w, 0, 43);
    cts_catalogue_add_rank(w, &(struct cts_rank){.end_ns = 9000, .recorder = "cpu", .records = 3});
    close_writer(w);
    struct cts_catalogue c = read_run(place->run);
    assert_int_equal(c.launch_count, 1);
    assert_int_equal(c.launches[0].end_ns, 777);
    assert_int_equal(c.allocations[0].freed_op, 42);
    assert_int_equal(c.streams[0].destroyed_op, 43);
    assert_int_equal(c.rank_count, 1);
    assert_int_equal(c.ranks[0].end_ns, 9000);
    assert_int_equal(c.ranks[0].pid, getpid()); /* what was left open */
    cts_catalogue_release(&c);
}

static void a_flush_makes_rows_visible_to_readers(void **state)
{
    const struct place *const place = *state;
    struct cts_catalogue_writer *const w = create(place->run);
    add_one_of_each(w);
    assert_int_equal(cts_catalogue_flush(w, NULL), CTS_OK);
    struct cts_catalogue c = read_run(place->run);
    assert_int_equal(c.launch_count, 1);
    cts_catalogue_release(&c);
    close_writer(w);
}

static void rows_are_written_without_a_flush(void **state)
{
    const struct place *const place = *state;
    struct cts_catalogue_writer *const w = create(place->run);
    cts_catalogue_add_module(w, &module_row);
    size_t count = 0;
    for (int i = 0; i < 200 && !count; i++) {
        usleep(20 * 1000);
        struct cts_catalogue c = read_run(place->run);
        count = c.module_count;
        cts_catalogue_release(&c);
    }
    assert_int_equal(count, 1);
    close_writer(w);
}

/* ---- threads and processes ---- */

enum { THREADS = 4, ROWS = 5000 };

static void *add_many(void *argument)
{
    struct cts_catalogue_writer *const w = argument;
    for (int i = 0; i < ROWS; i++) {
        struct cts_allocation row = allocation_row;
        row.allocation = cts_catalogue_reserve(w, CTS_ID_ALLOCATION, 1);
        row.op = cts_catalogue_next_op(w);
        cts_catalogue_add_allocation(w, &row);
    }
    return NULL;
}

static void threads_lose_nothing(void **state)
{
    const struct place *const place = *state;
    struct cts_catalogue_writer *const w = create(place->run);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, add_many, w);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    close_writer(w);
    struct cts_catalogue c = read_run(place->run);
    assert_int_equal(c.allocation_count, THREADS * ROWS);
    bool *const seen = calloc(THREADS * ROWS, sizeof *seen);
    for (size_t i = 0; i < c.allocation_count; i++) {
        assert_int_equal(c.allocations[i].allocation, i); /* dense from 0 in one process */
        assert_true(c.allocations[i].op < THREADS * ROWS);
        assert_false(seen[c.allocations[i].op]);
        seen[c.allocations[i].op] = true;
    }
    free(seen);
    cts_catalogue_release(&c);
}

/* In a process of its own; the exit status says whether all went well. */
static pid_t in_child(int (*work)(const char *run), const char *run)
{
    const pid_t pid = fork();
    if (pid == 0) _exit(work(run));
    assert_true(pid > 0);
    return pid;
}

static int status_of(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static int say(const struct cts_error *error)
{
    fprintf(stderr, "%s\n", error->text);
    return 1;
}

static int record_sites(const char *run)
{
    struct cts_catalogue_writer *w;
    struct cts_error error;
    if (cts_catalogue_create(run, &w, &error)) return say(&error);
    struct cts_module module = module_row;
    module.module = cts_catalogue_reserve(w, CTS_ID_MODULE, 1);
    module.rank = cts_catalogue_rank(w);
    cts_catalogue_add_module(w, &module);
    for (int i = 0; i < 50; i++) {
        const uint32_t first = cts_catalogue_reserve(w, CTS_ID_SITE, 3);
        for (uint32_t k = 0; k < 3; k++) {
            struct cts_site site = site_row;
            site.site = first + k;
            site.module = module.module;
            site.source = CTS_NONE;
            site.line = first; /* consecutive ids: site - line < 3 */
            cts_catalogue_add_site(w, &site);
        }
    }
    return cts_catalogue_close(w, &error) ? say(&error) : 0;
}

static void processes_share_a_run(void **state)
{
    enum { PROCESSES = 4 };
    const struct place *const place = *state;
    pid_t pids[PROCESSES];
    setenv("CTASCOPE_SESSION", "one", 1);
    for (int i = 0; i < PROCESSES; i++) pids[i] = in_child(record_sites, place->run);
    for (int i = 0; i < PROCESSES; i++) assert_int_equal(status_of(pids[i]), 0);
    struct cts_catalogue c = read_run(place->run);
    assert_int_equal(c.rank_count, PROCESSES);
    assert_int_equal(c.module_count, PROCESSES);
    assert_int_equal(c.site_count, PROCESSES * 150);
    for (size_t i = 0; i < c.site_count; i++) {
        assert_int_equal(c.sites[i].site, i);
        assert_in_range(i - c.sites[i].line, 0, 2);
        assert_int_equal(c.sites[i].module, c.sites[c.sites[i].line].module);
    }
    for (uint32_t i = 0; i < PROCESSES; i++) assert_int_equal(c.ranks[i].rank, i);
    cts_catalogue_release(&c);
    /* Processes that close at the same instant may each leave the log to the other: record tidies.
     */
    struct cts_error error;
    assert_int_equal(cts_catalogue_tidy(place->run, &error), CTS_OK);
    assert_false(exists(place->run, "run.db-wal"));
}

static void a_rank_takes_the_number_that_mpi_gave_it(void **state)
{
    const struct place *const place = *state;
    setenv("OMPI_COMM_WORLD_RANK", "2", 1);
    setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
    struct cts_catalogue_writer *const first = create(place->run);
    struct cts_catalogue_writer *const second = create(place->run); /* not another rank's */
    assert_int_equal(cts_catalogue_rank(first), 2);
    assert_int_equal(cts_catalogue_rank(second), 4);
    close_writer(first);
    close_writer(second);
    assert_true(exists(place->run, "rank-2"));
    assert_true(exists(place->run, "rank-4"));
}

static int use_inherited(struct cts_catalogue_writer *w)
{
    struct cts_error error = {0};
    cts_catalogue_add_launch(w, &launch_row);
    cts_catalogue_set(w, "child", "was here");
    cts_catalogue_reserve(w, CTS_ID_SITE, 5);
    if (cts_catalogue_flush(w, &error)) return 1;
    if (cts_catalogue_failure(w, &error)) return 2;
    return cts_catalogue_close(w, &error) != CTS_OK;
}

static void a_forked_child_does_nothing(void **state)
{
    const struct place *const place = *state;
    struct cts_catalogue_writer *const w = create(place->run);
    pthread_t busy;
    pthread_create(&busy, NULL, add_many, w); /* locks are held at the time of some forks */
    for (int i = 0; i < 20; i++) {
        const pid_t pid = fork();
        if (pid == 0) _exit(use_inherited(w));
        assert_int_equal(status_of(pid), 0);
    }
    pthread_join(busy, NULL);
    close_writer(w);
    struct cts_catalogue c = read_run(place->run);
    assert_int_equal(c.launch_count, 0);
    assert_int_equal(c.allocation_count, ROWS);
    assert_null(cts_catalogue_get(&c, "child"));
    cts_catalogue_release(&c);
}

/* ---- killed ---- */

static int record_until_killed(const char *run)
{
    struct cts_catalogue_writer *w;
    if (cts_catalogue_create(run, &w, NULL)) return 1;
    cts_catalogue_add_module(w, &module_row);
    cts_catalogue_add_source(w, &source_row);
    cts_catalogue_add_kernel(w, &kernel_row);
    cts_catalogue_add_stream(w, &stream_row);
    if (cts_catalogue_flush(w, NULL)) return 1;
    for (;;) {
        struct cts_launch row = launch_row;
        row.launch = cts_catalogue_reserve(w, CTS_ID_LAUNCH, 1);
        row.op = cts_catalogue_next_op(w);
        cts_catalogue_add_launch(w, &row);
        usleep(20); /* else there are millions to read */
    }
}

/* Until there are some, or only until there is a run: a process may be killed at any time. */
static void wait_for_launches(const char *run, bool some)
{
    struct cts_catalogue c;
    for (int i = 0; i < 3000; i++) {
        usleep(10 * 1000);
        if (cts_catalogue_read(run, &c, NULL)) continue;
        const bool enough = !some || c.launch_count;
        cts_catalogue_release(&c);
        if (enough) return;
    }
    fail_msg("nothing is written to '%s'", run);
}

static void a_killed_process_leaves_a_readable_run(void **state)
{
    const struct place *const place = *state;
    for (int round = 0; round < 6; round++) {
        char run[120];
        snprintf(run, sizeof run, "%s-%d", place->run, round);
        const pid_t pid = in_child(record_until_killed, run);
        wait_for_launches(run, round > 2);
        usleep(17 * 1000 * (useconds_t)round);
        kill(pid, SIGKILL);
        assert_true(WIFSIGNALED(status_of(pid)));
        struct cts_catalogue c = read_run(run);
        if (round > 2) assert_true(c.launch_count > 0);
        for (size_t i = 0; i < c.launch_count; i++) assert_int_equal(c.launches[i].launch, i);
        if (round > 2) assert_int_equal(c.rank_count, 1); /* else it may not have come that far */
        if (c.rank_count) assert_int_equal(c.ranks[0].end_ns, 0);
        const size_t count = c.launch_count;
        cts_catalogue_release(&c);
        assert_int_equal(cts_catalogue_tidy(run, NULL), CTS_OK);
        assert_false(exists(run, "run.db-wal"));
        c = read_run(run);
        assert_int_equal(c.launch_count, count);
        cts_catalogue_release(&c);
    }
}

static int record_two_blocks(const char *run)
{
    struct cts_catalogue_writer *w;
    if (cts_catalogue_create(run, &w, NULL)) return 1;
    cts_catalogue_reserve(w, CTS_ID_SITE, 3); /* never written, as if killed in between */
    struct cts_site site = site_row;
    site.site = cts_catalogue_reserve(w, CTS_ID_SITE, 1);
    site.module = site.source = CTS_NONE;
    cts_catalogue_add_site(w, &site);
    return cts_catalogue_close(w, NULL) != CTS_OK;
}

static void ids_never_written_become_empty_rows(void **state)
{
    const struct place *const place = *state;
    assert_int_equal(status_of(in_child(record_two_blocks, place->run)), 0);
    struct cts_catalogue c = read_run(place->run);
    assert_int_equal(c.site_count, 4);
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(c.sites[i].site, i);
    assert_int_equal(c.sites[1].operation, 0);
    assert_int_equal(c.sites[1].source, CTS_NONE);
    assert_int_equal(c.sites[3].operation, CTS_STORE);
    cts_catalogue_release(&c);
}

/* ---- a full disk ---- */

static int record_on_a_full_disk(const char *run)
{
    struct cts_catalogue_writer *w;
    struct cts_error error = {0};
    if (cts_catalogue_create(run, &w, &error)) return 1;
    add_one_of_each(w);
    if (cts_catalogue_flush(w, &error)) return 2;
    const struct rlimit limit = {.rlim_cur = 300 << 10, .rlim_max = 300 << 10};
    setrlimit(RLIMIT_FSIZE, &limit); /* and SIGXFSZ does not reach the writer's thread */
    signal(SIGXFSZ, SIG_IGN);
    for (int i = 0; i < 20000; i++) {
        struct cts_allocation row = allocation_row;
        row.allocation = cts_catalogue_reserve(w, CTS_ID_ALLOCATION, 1);
        cts_catalogue_add_allocation(w, &row);
    }
    if (cts_catalogue_flush(w, &error) != CTS_IO) return 3;
    struct cts_error kept = {0};
    if (!cts_catalogue_failure(w, &kept) || strcmp(kept.text, error.text) != 0) return 4;
    cts_catalogue_add_allocation(w, &allocation_row); /* goes on, and is dropped */
    if (cts_catalogue_close(w, &error) != CTS_IO || strcmp(kept.text, error.text) != 0) return 5;
    return strstr(error.text, "cannot keep a row of the catalogue") ? 0 : 6;
}

static void a_full_disk_gives_one_failure(void **state)
{
    const struct place *const place = *state;
    const int status = status_of(in_child(record_on_a_full_disk, place->run));
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    struct cts_catalogue c = read_run(place->run); /* what was written before is whole */
    assert_int_equal(c.launch_count, 1);
    cts_catalogue_release(&c);
}

/* ---- whose directory it is ---- */

static void assert_refused(const char *run, const char *text)
{
    struct cts_catalogue_writer *writer;
    struct cts_error error = {0};
    assert_int_not_equal(cts_catalogue_create(run, &writer, &error), CTS_OK);
    assert_null(writer);
    assert_string_equal(error.text, text);
}

static void a_directory_of_something_else_is_refused(void **state)
{
    const struct place *const place = *state;
    char text[300], path[200];
    mkdir(place->run, 0777);
    snprintf(path, sizeof path, "%s/thesis.tex", place->run);
    fclose(fopen(path, "w"));
    snprintf(text, sizeof text, "'%s' is not empty and not a run", place->run);
    assert_refused(place->run, text);
    assert_false(exists(place->run, "run.db"));
    snprintf(text, sizeof text, "cannot make '%s/x/y': No such file or directory",
             place->directory);
    snprintf(path, sizeof path, "%s/x/y", place->directory);
    assert_refused(path, text);
    struct cts_error error;
    assert_int_equal(cts_catalogue_prepare(place->run, "s", "c", true, &error), CTS_USAGE);
    assert_true(exists(place->run, "thesis.tex")); /* not even by force */
}

static void a_database_of_something_else_is_left_alone(void **state)
{
    const struct place *const place = *state;
    char text[300];
    sqlite3 *db;
    mkdir(place->run, 0777);
    sqlite3_open(place->database, &db);
    sqlite3_exec(db, "CREATE TABLE recipes (name)", NULL, NULL, NULL);
    sqlite3_close(db);
    snprintf(text, sizeof text, "'%s' is not empty and not a run: its run.db holds something else",
             place->run);
    assert_refused(place->run, text);
    struct cts_error error;
    assert_int_equal(cts_catalogue_prepare(place->run, "s", "c", true, &error), CTS_USAGE);
    assert_string_equal(error.text, text);
    assert_true(exists(place->run, "run.db"));
}

static void a_finished_run_is_refused(void **state)
{
    const struct place *const place = *state;
    char text[300];
    struct cts_catalogue_writer *const w = create(place->run);
    cts_catalogue_add_rank(w, &(struct cts_rank){.end_ns = 1});
    close_writer(w);
    snprintf(text, sizeof text, "'%s' is not empty: it already holds a run", place->run);
    assert_refused(place->run, text);
    setenv("CTASCOPE_SESSION", "mine", 1);
    assert_refused(place->run, text);
}

static void a_prepared_run_is_for_its_session(void **state)
{
    const struct place *const place = *state;
    struct cts_error error;
    assert_int_equal(cts_catalogue_prepare(place->run, "s1", "./app 'a b'", false, &error), CTS_OK);
    setenv("CTASCOPE_SESSION", "s1", 1);
    close_writer(create(place->run));
    close_writer(create(place->run)); /* the second program of a script */
    setenv("CTASCOPE_SESSION", "s2", 1);
    char text[300];
    snprintf(text, sizeof text, "'%s' is not empty: it already holds a run", place->run);
    assert_refused(place->run, text);
    assert_int_equal(cts_catalogue_prepare(place->run, "s1", "x", true, &error), CTS_OK);
    struct cts_catalogue c = read_run(place->run); /* the same session: nothing was replaced */
    assert_int_equal(c.rank_count, 2);
    assert_string_equal(cts_catalogue_get(&c, "command"), "./app 'a b'");
    cts_catalogue_release(&c);
    assert_int_equal(cts_catalogue_prepare(place->run, "s2", "x", false, &error), CTS_USAGE);
    assert_string_equal(error.text, text);
    assert_int_equal(cts_catalogue_prepare(place->run, "s2", "x", true, &error), CTS_OK);
    c = read_run(place->run);
    assert_int_equal(c.rank_count, 0);
    assert_string_equal(cts_catalogue_get(&c, "command"), "x");
    cts_catalogue_release(&c);
    assert_false(exists(place->run, "rank-0"));
    cts_catalogue_discard_empty(place->run);
    assert_false(exists(place->directory, "run"));
}

static void a_run_with_a_rank_is_not_discarded(void **state)
{
    const struct place *const place = *state;
    make_run(place);
    cts_catalogue_discard_empty(place->run);
    struct cts_catalogue c = read_run(place->run);
    assert_int_equal(c.rank_count, 1);
    cts_catalogue_release(&c);
}

/* ---- directories that are no runs ---- */

static void assert_unreadable(const char *run, enum cts_status status, const char *format, ...)
{
    char expected[500];
    va_list args;
    va_start(args, format);
    vsnprintf(expected, sizeof expected, format, args);
    va_end(args);
    struct cts_catalogue catalogue;
    struct cts_error error = {0};
    const enum cts_status got = cts_catalogue_read(run, &catalogue, &error);
    if (got != status) fail_msg("status %d instead of %d for '%s'", got, status, expected);
    assert_string_equal(error.text, expected);
    assert_null(catalogue.private_data);
}

static void write_file(const char *path, const void *bytes, size_t byte_count)
{
    FILE *const file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, byte_count, file), byte_count);
    fclose(file);
}

static void what_is_no_run_is_called_what_it_is(void **state)
{
    const struct place *const place = *state;
    char path[200];
    assert_unreadable(place->run, CTS_IO, "cannot read '%s': No such file or directory",
                      place->run);
    mkdir(place->run, 0777);
    assert_unreadable(place->run, CTS_FORMAT, "'%s' is an empty directory, not a run", place->run);
    snprintf(path, sizeof path, "%s/notes", place->run);
    write_file(path, "x", 1);
    assert_unreadable(place->run, CTS_FORMAT, "'%s' is not a run: it has no run.db", place->run);
    assert_unreadable(path, CTS_FORMAT, "'%s' is a file, not a run directory", path);
    write_file(place->database, "", 0);
    assert_unreadable(place->run, CTS_FORMAT, "cannot read '%s': an empty database, not a run",
                      place->database);
    char noise[5000];
    memset(noise, 'n', sizeof noise);
    write_file(place->database, noise, sizeof noise);
    assert_unreadable(place->run, CTS_FORMAT,
                      "cannot read '%s': cannot read the schema: file is not a database",
                      place->database);
    unlink(place->database);
    mkdir(place->database, 0777);
    assert_unreadable(place->run, CTS_FORMAT, "'%s' is not a regular file", place->database);
}

/* ---- one spoilt field each ---- */

static const struct {
    const char *sql;
    enum cts_status status;
    const char *text; /* behind "cannot read '.../run.db': " */
} damages[] = {
    {"UPDATE run SET value = '2' WHERE key = 'format_version'", CTS_VERSION,
     "it has format version 2; this ctascope reads up to version 1"},
    {"UPDATE run SET value = 'new' WHERE key = 'format_version'", CTS_FORMAT,
     "table 'run', key 'format_version': 'new' is not a version"},
    {"DELETE FROM run", CTS_FORMAT, "table 'run', key 'format_version': missing"},
    {"DROP TABLE run", CTS_FORMAT,
     "a database of another program, not a run: it has no table 'run'"},
    {"DROP TABLE sites", CTS_FORMAT, "it has no table 'sites'"},
    {"ALTER TABLE sites DROP COLUMN type", CTS_FORMAT, "table 'sites' has no column 'type'"},
    {"ALTER TABLE sites RENAME TO s; CREATE VIEW sites AS SELECT * FROM s", CTS_FORMAT,
     "it has no table 'sites'"},
    {"DROP TABLE launches; CREATE VIRTUAL TABLE launches USING fts4(launch)", CTS_FORMAT,
     "it has no table 'launches'"},
    {"UPDATE ranks SET pid = 'seven'", CTS_FORMAT,
     "table 'ranks', rank 0: column 'pid': not a whole number"},
    {"UPDATE ranks SET records = -1", CTS_FORMAT,
     "table 'ranks', rank 0: column 'records': -1 is out of range"},
    {"UPDATE ranks SET recorder = 'scribe'", CTS_FORMAT,
     "table 'ranks', rank 0: column 'recorder': unknown word 'scribe'"},
    {"UPDATE devices SET kind = NULL", CTS_FORMAT,
     "table 'devices', row 1: column 'kind': NULL where a value is needed"},
    {"UPDATE devices SET rank = 3", CTS_FORMAT,
     "table 'devices', row 1: column 'rank': 3 names no row of table 'ranks'"},
    {"UPDATE modules SET rank = 4294967295", CTS_FORMAT,
     "table 'modules', module 0: column 'rank': 4294967295 names no row of table 'ranks'"},
    {"UPDATE modules SET module = 3000000", CTS_FORMAT,
     "table 'modules', module 3000000: column 'module': more than 1048576 ids are missing below "
     "3000000"},
    {"UPDATE modules SET module = -1", CTS_FORMAT,
     "table 'modules', module 18446744073709551615: column 'module': -1 is out of range"},
    {"UPDATE sources SET text = x'00ff'", CTS_FORMAT,
     "table 'sources', source 0: column 'text': not a text"},
    {"UPDATE sources SET path = CAST(x'610062' AS TEXT)", CTS_FORMAT,
     "table 'sources', source 0: column 'path': the text holds a NUL byte"},
    {"UPDATE kernels SET source = 9", CTS_FORMAT,
     "table 'kernels', kernel 0: column 'source': 9 names no row of table 'sources'"},
    {"UPDATE kernels SET instrumented = 2", CTS_FORMAT,
     "table 'kernels', kernel 0: column 'instrumented': 2 is out of range"},
    {"UPDATE kernels SET line = 1.5", CTS_FORMAT,
     "table 'kernels', kernel 0: column 'line': not a whole number"},
    {"UPDATE sites SET operation = 15", CTS_FORMAT,
     "table 'sites', site 0: column 'operation': 15 is not an operation"},
    {"UPDATE sites SET operation = 0", CTS_FORMAT,
     "table 'sites', site 0: column 'operation': 0 is not an operation"},
    {"UPDATE sites SET operation = 300", CTS_FORMAT,
     "table 'sites', site 0: column 'operation': 300 is out of range"},
    {"UPDATE sites SET space = 2", CTS_FORMAT,
     "table 'sites', site 0: column 'space': 2 is not an address space"},
    {"UPDATE sites SET width_bytes = 0", CTS_FORMAT,
     "table 'sites', site 0: column 'width_bytes': 0 is not in 1..65536"},
    {"UPDATE sites SET width_bytes = NULL", CTS_FORMAT,
     "table 'sites', site 0: column 'width_bytes': NULL where a value is needed"},
    {"UPDATE sites SET source = 1", CTS_FORMAT,
     "table 'sites', site 0: column 'source': 1 names no row of table 'sources'"},
    {"UPDATE sites SET module = 1", CTS_FORMAT,
     "table 'sites', site 0: column 'module': 1 names no row of table 'modules'"},
    {"UPDATE variables SET address = -16, size_bytes = 17", CTS_FORMAT,
     "table 'variables', variable 0: column 'size_bytes': 17 bytes from 0xfffffffffffffff0 "
     "extend past the address space"},
    {"UPDATE skipped SET count = 'many'", CTS_FORMAT,
     "table 'skipped', row 1: column 'count': not a whole number"},
    {"UPDATE streams SET kind = 'river'", CTS_FORMAT,
     "table 'streams', stream 0: column 'kind': unknown word 'river'"},
    {"UPDATE streams SET priority = 4294967296", CTS_FORMAT,
     "table 'streams', stream 0: column 'priority': 4294967296 is out of range"},
    {"UPDATE launches SET kernel = 1", CTS_FORMAT,
     "table 'launches', launch 0: column 'kernel': 1 names no row of table 'kernels'"},
    {"UPDATE launches SET kernel = NULL", CTS_FORMAT,
     "table 'launches', launch 0: column 'kernel': NULL where a value is needed"},
    {"UPDATE launches SET stream = 7", CTS_FORMAT,
     "table 'launches', launch 0: column 'stream': 7 names no row of table 'streams'"},
    {"UPDATE launches SET rank = 1", CTS_FORMAT,
     "table 'launches', launch 0: column 'rank': 1 names no row of table 'ranks'"},
    {"UPDATE launches SET grid_y = 0", CTS_FORMAT,
     "table 'launches', launch 0: column 'grid_y': an extent of 0"},
    {"UPDATE launches SET block_z = 0", CTS_FORMAT,
     "table 'launches', launch 0: column 'block_z': an extent of 0"},
    {"UPDATE launches SET block_x = 1024", CTS_FORMAT,
     "table 'launches', launch 0: column 'block_x': 1024 x 8 x 1 is more than 1024"},
    {"UPDATE launches SET grid_x = 4294967295, grid_y = 4294967295, grid_z = 2", CTS_FORMAT,
     "table 'launches', launch 0: column 'grid_x': 4294967295 x 4294967295 x 2 is more than "
     "4294967295"},
    {"UPDATE launches SET grid_x = 4294967296", CTS_FORMAT,
     "table 'launches', launch 0: column 'grid_x': 4294967296 is out of range"},
    {"UPDATE launches SET recorded = 'some'", CTS_FORMAT,
     "table 'launches', launch 0: column 'recorded': unknown word 'some'"},
    {"UPDATE launches SET accesses = -320", CTS_FORMAT,
     "table 'launches', launch 0: column 'accesses': -320 is out of range"},
    {"UPDATE launches SET start_ns = -5", CTS_FORMAT,
     "table 'launches', launch 0: column 'start_ns': -5 is out of range"},
    {"UPDATE copies SET stream = 3", CTS_FORMAT,
     "table 'copies', copy 0: column 'stream': 3 names no row of table 'streams'"},
    {"UPDATE copies SET kind = 'HtoM'", CTS_FORMAT,
     "table 'copies', copy 0: column 'kind': unknown word 'HtoM'"},
    {"UPDATE copies SET destination_pitch = 9223372036854775807, height = 9", CTS_FORMAT,
     "table 'copies', copy 0: column 'destination': the copy extends past the address space"},
    {"UPDATE copies SET source_pitch = 9223372036854775807", CTS_FORMAT,
     "table 'copies', copy 0: column 'source': the copy extends past the address space"},
    {"UPDATE copies SET height = 4611686018427387904, destination_pitch = 0, source_pitch = 0",
     CTS_FORMAT,
     "table 'copies', copy 0: column 'width_bytes': 100 x 4611686018427387904 x 2 is more than "
     "281474976710656"},
    {"UPDATE copies SET depth = -1", CTS_FORMAT,
     "table 'copies', copy 0: column 'depth': -1 is out of range"},
    {"UPDATE allocations SET size_bytes = -1", CTS_FORMAT,
     "table 'allocations', allocation 0: column 'size_bytes': -1 is out of range"},
    {"UPDATE allocations SET address = -1", CTS_FORMAT,
     "table 'allocations', allocation 0: column 'size_bytes': 4096 bytes from 0xffffffffffffffff "
     "extend past the address space"},
    {"UPDATE allocations SET kind = 'heap'", CTS_FORMAT,
     "table 'allocations', allocation 0: column 'kind': unknown word 'heap'"},
    {"UPDATE syncs SET stream = 2", CTS_FORMAT,
     "table 'syncs', row 1: column 'stream': 2 names no row of table 'streams'"},
    {"UPDATE syncs SET kind = 'nap'", CTS_FORMAT,
     "table 'syncs', row 1: column 'kind': unknown word 'nap'"},
    {"DROP TABLE cta_sms; CREATE VIEW cta_sms AS SELECT 1", CTS_FORMAT,
     "it has no table 'cta_sms'"},
    {"UPDATE cta_sms SET sm = -1", CTS_FORMAT,
     "table 'cta_sms', launch 0: column 'sm': -1 is out of range"},
    {"UPDATE host_accesses SET is_store = 7", CTS_FORMAT,
     "table 'host_accesses', row 1: column 'is_store': 7 is out of range"},
    {"UPDATE host_accesses SET address = -8", CTS_FORMAT,
     "table 'host_accesses', row 1: column 'size_bytes': 16 bytes from 0xfffffffffffffff8 extend "
     "past the "
     "address space"},
    {"UPDATE messages SET rank = 5", CTS_FORMAT,
     "table 'messages', row 1: column 'rank': 5 names no row of table 'ranks'"},
    {"UPDATE messages SET text = x'11'", CTS_FORMAT,
     "table 'messages', row 1: column 'text': not a text"},
    /* tables without the constraints that ours have */
    {"ALTER TABLE sites RENAME TO s; CREATE TABLE sites AS SELECT * FROM s; INSERT INTO sites "
     "SELECT * FROM s",
     CTS_FORMAT, "table 'sites', site 0: column 'site': 0 is duplicated or out of order"},
    {"ALTER TABLE launches RENAME TO l; CREATE TABLE launches AS SELECT * FROM l; INSERT INTO "
     "launches SELECT * FROM l",
     CTS_FORMAT, "table 'launches', launch 0: column 'launch': duplicate"},
};

static void every_spoilt_field_is_named(void **state)
{
    CTS_TEST_STARTS_NO_THREAD();
    const struct place *const place = *state;
    make_run(place);
    char good[120], command[400];
    snprintf(good, sizeof good, "%s/good.db", place->directory);
    snprintf(command, sizeof command, "cp %s %s", place->database, good);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, "cp %s %s", good, place->database);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        assert_int_equal(system(command), 0);
        sqlite3 *db;
        char *problem = NULL;
        assert_int_equal(sqlite3_open(place->database, &db), SQLITE_OK);
        sqlite3_exec(db, "PRAGMA legacy_alter_table=ON", NULL, NULL, NULL);
        if (sqlite3_exec(db, damages[i].sql, NULL, NULL, &problem))
            fail_msg("%s: %s", damages[i].sql, problem);
        sqlite3_close(db);
        assert_unreadable(place->run, damages[i].status, "cannot read '%s': %s", place->database,
                          damages[i].text);
    }
}

/* What is missing at the end or flipped anywhere: an error or a good read, never anything else. */
static void cut_and_flipped_databases_do_not_crash(void **state)
{
    CTS_TEST_STARTS_NO_THREAD();
    const struct place *const place = *state;
    make_run(place);
    FILE *const file = fopen(place->database, "rb");
    assert_non_null(file);
    static uint8_t bytes[1 << 20], changed[1 << 20];
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_true(size > 4096 && size < sizeof bytes);
    struct cts_catalogue catalogue;
    struct cts_error error;
    size_t refused = 0, cut_refused = 0;
    for (size_t cut = 0; cut < size; cut += 1536) {
        write_file(place->database, bytes, cut);
        if (cts_catalogue_read(place->run, &catalogue, &error)) cut_refused++;
        cts_catalogue_release(&catalogue);
    }
    assert_true(cut_refused > 20); /* the last pages may be of an index, which nobody reads */
    srand(1);
    for (int i = 0; i < 800; i++) {
        memcpy(changed, bytes, size);
        for (int k = 0; k < 4; k++) changed[(size_t)rand() % size] ^= (uint8_t)(1 << rand() % 8);
        write_file(place->database, changed, size);
        memset(&error, 0, sizeof error);
        if (cts_catalogue_read(place->run, &catalogue, &error)) {
            assert_true(error.text[0]);
            refused++;
        }
        cts_catalogue_release(&catalogue);
    }
    assert_true(refused > 0);
}

/* ---- directories that cannot be written ---- */

static int read_as_nobody(const char *run)
{
    if (geteuid() == 0 && (setegid(65534) || seteuid(65534))) return 1;
    struct cts_catalogue catalogue;
    struct cts_error error = {0};
    const enum cts_status status = cts_catalogue_read(run, &catalogue, &error);
    if (status) fprintf(stderr, "%s\n", error.text);
    const size_t launch_count = status ? 0 : catalogue.launch_count;
    cts_catalogue_release(&catalogue);
    return launch_count == 1 ? 0 : 2;
}

static void a_run_of_an_earlier_version_lacks_a_table(void **state)
{
    const struct place *const place = *state;
    sqlite3 *db;
    make_run(place);
    assert_int_equal(sqlite3_open(place->database, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "DROP TABLE cta_sms; DROP TABLE clusters; DROP TABLE "
                                  "tensor_maps; DROP TABLE launch_pointers; "
                                  "DROP TABLE padded_types; DROP TABLE fingerprints",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
    struct cts_catalogue c = read_run(place->run);
    assert_int_equal(c.cta_sm_count, 0);
    assert_int_equal(c.cluster_count, 0);
    assert_int_equal(c.launch_pointer_count, 0);
    assert_int_equal(c.launch_count, 1);
    cts_catalogue_release(&c);
}

/* The reader asks for the columns only of tables that it does not know by their text; and a text in
 * the row of another table makes none ours. */
static void tables_are_known_by_their_text(void **state)
{
    const struct place *const place = *state;
    struct cts_schema schema;
    struct cts_error error = {0};
    sqlite3 *db;
    make_run(place);
    assert_int_equal(sqlite3_open(place->database, &db), SQLITE_OK);
    assert_int_equal(cts_schema_list(db, &schema, &error), CTS_OK);
    for (unsigned t = 0; t <= CTS_TABLE_COUNT; t++)
        assert_int_equal(schema.objects[t], CTS_OBJECT_OURS);
    assert_int_equal(
        sqlite3_exec(db,
                     "DROP TABLE clusters; DROP TABLE cta_sms; CREATE TABLE cta_sms (launch); "
                     "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = (SELECT sql FROM "
                     "sqlite_schema WHERE name = 'files') WHERE name = 'faults'",
                     NULL, NULL, NULL),
        SQLITE_OK);
    assert_int_equal(cts_schema_list(db, &schema, &error), CTS_OK);
    assert_int_equal(schema.objects[CTS_TABLE_CLUSTERS], CTS_OBJECT_ABSENT);
    assert_int_equal(schema.objects[CTS_TABLE_CTA_SMS], CTS_OBJECT_OTHER);
    assert_int_equal(schema.objects[CTS_TABLE_FAULTS], CTS_OBJECT_OTHER);
    assert_int_equal(cts_schema_check(db, &schema, CTS_TABLE_LAUNCHES, &error), CTS_OK);
    assert_int_equal(cts_schema_check(db, &schema, CTS_TABLE_CTA_SMS, &error), CTS_FORMAT);
    assert_string_equal(error.text, "table 'cta_sms' has no column 'cta'");
    cts_schema_release(&schema);
    sqlite3_close(db);
}

static void a_read_only_run_is_readable(void **state)
{
    const struct place *const place = *state;
    char command[300];
    make_run(place);
    snprintf(command, sizeof command, "chmod 755 %s; chmod -R a-w,a+rX %s", place->directory,
             place->run);
    assert_int_equal(system(command), 0);
    assert_int_equal(status_of(in_child(read_as_nobody, place->run)), 0);
    /* one that says it has a write-ahead log, which nobody could open there as usual */
    sqlite3 *db;
    sqlite3_open(place->database, &db);
    sqlite3_exec(db, "PRAGMA journal_mode=WAL", NULL, NULL, NULL);
    sqlite3_close(db);
    assert_int_equal(system(command), 0);
    assert_int_equal(status_of(in_child(read_as_nobody, place->run)), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_place, remove_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_field_comes_back),
        TEST(columns_are_those_of_the_schema),
        TEST(an_orderly_close_leaves_one_plain_file),
        TEST(a_row_added_again_replaces_the_first),
        TEST(a_flush_makes_rows_visible_to_readers),
        TEST(rows_are_written_without_a_flush),
        TEST(threads_lose_nothing),
        TEST(processes_share_a_run),
        TEST(a_rank_takes_the_number_that_mpi_gave_it),
        TEST(a_forked_child_does_nothing),
        TEST(a_killed_process_leaves_a_readable_run),
        TEST(ids_never_written_become_empty_rows),
        TEST(a_full_disk_gives_one_failure),
        TEST(a_directory_of_something_else_is_refused),
        TEST(a_database_of_something_else_is_left_alone),
        TEST(a_finished_run_is_refused),
        TEST(a_prepared_run_is_for_its_session),
        TEST(a_run_with_a_rank_is_not_discarded),
        TEST(what_is_no_run_is_called_what_it_is),
        TEST(every_spoilt_field_is_named),
        TEST(cut_and_flipped_databases_do_not_crash),
        TEST(a_run_of_an_earlier_version_lacks_a_table),
        TEST(tables_are_known_by_their_text),
        TEST(a_read_only_run_is_readable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
