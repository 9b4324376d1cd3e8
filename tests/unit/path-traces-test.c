/* The path analysis of real traces that others made (../shared/traces beside the project; skipped
 * where they are not): sums hold, calls and inclusive times are those that otf2-print's events
 * give, and the waits of MPI and OpenMP are those that CASITA 1.9 found, to the microsecond. */
#include "common/short-names.h"
#include "path-fixture.h"

static const char *trace_path(const char *name, char *buffer, size_t size)
{
    snprintf(buffer, size, "%s/../../../shared/traces/%s/traces.otf2", CTS_FIXTURES, name);
    return buffer;
}

/* ---- what otf2-print says ---- */

struct counted {
    char name[512];
    uint64_t calls, ticks;
};
struct counts {
    struct counted regions[256];
    size_t count;
};

static struct counted *counted_of(struct counts *counts, const char *name, size_t length)
{
    for (size_t i = 0; i < counts->count; i++)
        if (strlen(counts->regions[i].name) == length &&
            !memcmp(counts->regions[i].name, name, length))
            return &counts->regions[i];
    assert_true(counts->count < 256 && length < sizeof counts->regions[0].name);
    struct counted *const counted = &counts->regions[counts->count++];
    memcpy(counted->name, name, length);
    return counted;
}

struct open_call {
    struct counted *region;
    uint64_t location, ticks;
};

/* Inclusive time is that of the outermost call of a name on a location. */
static bool read_print(const char *path, struct counts *counts)
{
    char command[1100], *line = NULL;
    size_t capacity = 0, depth = 0;
    static struct open_call open[4096];
    snprintf(command, sizeof command, "otf2-print '%s' 2>/dev/null", path);
    FILE *const pipe = popen(command, "r");
    if (!pipe) return false;
    uint64_t lines = 0;
    while (getline(&line, &capacity, pipe) > 0) {
        const bool enter = !strncmp(line, "ENTER ", 6), leave = !strncmp(line, "LEAVE ", 6);
        const char *const name = strstr(line, "Region: \"");
        if ((!enter && !leave) || !name) continue;
        char *rest;
        const uint64_t location = strtoull(line + 6, &rest, 10), ticks = strtoull(rest, NULL, 10);
        const char *const end = strstr(name + 9, "\" <");
        struct counted *const region = counted_of(counts, name + 9, (size_t)(end - name) - 9);
        lines++;
        if (enter) {
            assert_true(depth < 4096);
            open[depth++] = (struct open_call){region, location, ticks};
            continue;
        }
        size_t at = depth;
        while (at-- > 0)
            if (open[at].location == location) break;
        assert_ptr_equal(open[at].region, region);
        bool outer = true;
        for (size_t i = 0; i < at; i++)
            outer &= open[i].location != location || open[i].region != region;
        region->calls++;
        if (outer) region->ticks += ticks - open[at].ticks;
        memmove(&open[at], &open[at + 1], (depth - at - 1) * sizeof *open);
        depth--;
    }
    free(line);
    return pclose(pipe) == 0 && lines > 0;
}

static void compare_with_print(const char *path, const struct cts_timeline *timeline,
                               const struct cts_path *result)
{
    struct counts *const counts = calloc(1, sizeof *counts);
    assert_non_null(counts);
    if (!read_print(path, counts)) {
        print_message("otf2-print is not at hand: calls are not compared\n");
        free(counts);
        return;
    }
    for (size_t i = 0; i < counts->count; i++) {
        const struct counted *const counted = &counts->regions[i];
        uint64_t calls = 0, inclusive_ns = 0;
        char *const shown = cts_demangled(counted->name); /* as results name it */
        assert_non_null(shown);
        for (size_t k = 0; k < result->row_count; k++)
            if (!strcmp(result->region_names[result->rows[k].region], shown)) {
                calls += result->rows[k].calls;
                inclusive_ns += result->rows[k].inclusive_ns;
            }
        free(shown);
        if (calls != counted->calls)
            fail_msg("'%s' has %llu calls, otf2-print says %llu", counted->name,
                     (unsigned long long)calls, (unsigned long long)counted->calls);
        const double expected_ns =
            (double)counted->ticks * 1e9 / (double)timeline->ticks_per_second;
        const double off_ns = (double)inclusive_ns - expected_ns;
        if (off_ns > (double)calls + 1 || off_ns < -(double)calls - 1)
            fail_msg("'%s' takes %llu ns, otf2-print's events say %.0f", counted->name,
                     (unsigned long long)inclusive_ns, expected_ns);
    }
    free(counts);
}

/* ---- the traces ---- */

static void check_us(const struct cts_path *result, const enum cts_path_pattern *patterns,
                     unsigned count, uint64_t expected_us)
{
    uint64_t time_ns = 0;
    for (unsigned i = 0; i < count; i++) time_ns += result->patterns[patterns[i]].time_ns;
    assert_int_equal((time_ns + 500) / 1000, expected_us);
}

#define CHECK_US(result, us, ...)                                                                  \
    check_us(result, (const enum cts_path_pattern[]){__VA_ARGS__},                                 \
             sizeof((const enum cts_path_pattern[]){__VA_ARGS__}) / sizeof(enum cts_path_pattern), \
             us)
#define COLLECTIVES                                                                                \
    CTS_PATH_PATTERN_MPI_BARRIER, CTS_PATH_PATTERN_N_TO_N, CTS_PATH_PATTERN_INIT_FINALIZE

/* False: the trace is not there. */
static bool analyze(const char *name, struct cts_timeline *timeline, struct cts_path *result)
{
    char path[1024];
    FILE *const file = fopen(trace_path(name, path, sizeof path), "rb");
    if (!file) {
        print_message("%s is not there: skipped\n", path);
        return false;
    }
    fclose(file);
    struct cts_error error;
    if (cts_timeline_open(path, timeline, &error)) fail_msg("%s", error.text);
    const struct cts_path_source source = cts_path_source_of(timeline);
    const struct cts_path_options options = {.threads = 2, .keep_segments = true};
    if (cts_path_analyze(&source, &options, result, &error)) fail_msg("%s", error.text);
    assert_invariants(result);
    assert_same_on_processes(&source, &options, 2, result);
    assert_same_on_processes(&source, &options, 4, result);
    uint64_t covered_ns = 0;
    for (size_t i = 0; i < result->kept.segments.count; i++)
        covered_ns +=
            result->kept.segments.items[i].end_ns - result->kept.segments.items[i].begin_ns;
    assert_int_equal(covered_ns, result->path_ns);
    compare_with_print(path, timeline, result);
    return true;
}

static void end_trace(struct cts_timeline *timeline, struct cts_path *result)
{
    cts_path_release(result);
    cts_timeline_close(timeline);
}

static void late_senders_and_a_barrier(void **state)
{
    (void)state;
    struct cts_timeline timeline;
    struct cts_path r;
    if (!analyze("4_mpi_ls_barr", &timeline, &r)) skip();
    CHECK_US(&r, 30020573, CTS_PATH_PATTERN_LATE_SENDER);
    CHECK_US(&r, 21664176, COLLECTIVES);
    assert_int_equal(r.patterns[CTS_PATH_PATTERN_LATE_SENDER].count, 3);
    assert_true(row_named(&r, "foo").path_share > 0.99);
    end_trace(&timeline, &r);
}

static void tags(void **state)
{
    (void)state;
    struct cts_timeline timeline;
    struct cts_path r;
    if (!analyze("10_scorep_mpi_tags", &timeline, &r)) skip();
    CHECK_US(&r, 231348, CTS_PATH_PATTERN_LATE_SENDER);
    CHECK_US(&r, 882899, COLLECTIVES);
    end_trace(&timeline, &r);
}

static void jacobi(void **state)
{
    (void)state;
    struct cts_timeline timeline;
    struct cts_path r;
    if (!analyze("2_cuda_simple", &timeline, &r)) skip();
    CHECK_US(&r, 43, CTS_PATH_PATTERN_LATE_SENDER);
    CHECK_US(&r, 19517, COLLECTIVES);
    CHECK_US(&r, 3353, CTS_PATH_PATTERN_OMP_BARRIER);
    assert_int_equal(
        (row_named(&r, "copy_kernel(float*, float const*, int, int)").path_ns + 500) / 1000, 4914);
    assert_int_equal((row_named(&r, "init_cuda").path_ns + 500) / 1000, 419458);
    for (unsigned i = 0; i < CTS_PATH_WARNING_COUNT; i++) assert_int_equal(r.warnings[i], 0);
    end_trace(&timeline, &r);
}

static void jacobi_on_the_host(void **state)
{
    (void)state;
    struct cts_timeline timeline;
    struct cts_path r;
    if (!analyze("2_jacobi_blame_cpu_050", &timeline, &r)) skip();
    CHECK_US(&r, 7533, CTS_PATH_PATTERN_LATE_SENDER);
    CHECK_US(&r, 47718, COLLECTIVES);
    CHECK_US(&r, 160971, CTS_PATH_PATTERN_OMP_BARRIER);
    assert_true(row_named(&r, "!$omp for @jacobi_cuda.c:175").path_share > 0.7);
    /* CUPTI lost records: 40 of 4,000 kernels, 76 of 8,006 copies */
    assert_int_equal(r.warnings[CTS_PATH_WARNING_LAUNCH_WITHOUT_WORK], 116);
    assert_int_equal(r.warnings[CTS_PATH_WARNING_WORK_WITHOUT_LAUNCH], 0);
    end_trace(&timeline, &r);
}

static void opencl(void **state)
{
    (void)state;
    struct cts_timeline timeline;
    struct cts_path r;
    if (!analyze("1_ocl_deps", &timeline, &r)) skip();
    assert_int_equal(r.patterns[CTS_PATH_PATTERN_BLAME_KERNEL].count, 1);
    assert_true(row_named(&r, "$rot13").blame_ns > 0);
    end_trace(&timeline, &r);
}

static void nested_openmp(void **state)
{
    (void)state;
    struct cts_timeline timeline;
    struct cts_path r;
    if (!analyze("1_scorep-ompt-host-nested", &timeline, &r)) skip();
    assert_int_equal(r.patterns[CTS_PATH_PATTERN_OMP_BARRIER].count, 5);
    end_trace(&timeline, &r);
}

static void ping_pong(void **state)
{
    (void)state;
    struct cts_timeline timeline;
    struct cts_path r;
    if (!analyze("2_pipit_ping_pong", &timeline, &r)) skip();
    assert_int_equal(r.patterns[CTS_PATH_PATTERN_LATE_SENDER].count, 4);
    assert_int_equal(r.patterns[CTS_PATH_PATTERN_LATE_RECEIVER].count, 12);
    end_trace(&timeline, &r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(late_senders_and_a_barrier),
        cmocka_unit_test(tags),
        cmocka_unit_test(jacobi),
        cmocka_unit_test(jacobi_on_the_host),
        cmocka_unit_test(opencl),
        cmocka_unit_test(nested_openmp),
        cmocka_unit_test(ping_pong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
