/* What a run directory knows of a timeline's kernels: occupancy, and the join of two recordings. */
#include <math.h>

#include "path-fixture.h"
#include "report/path-kernels.h"

static void expect_occupancy(uint32_t major, uint32_t minor, uint32_t threads, uint32_t registers,
                             uint64_t shared_bytes, unsigned warps, unsigned of)
{
    const double occupancy = cts_occupancy(major, minor, threads, registers, shared_bytes);
    if (fabs(occupancy - (double)warps / of) > 1e-12)
        fail_msg("%u.%u, %u threads, %u registers, %llu bytes: %g, not %u of %u warps", major,
                 minor, threads, registers, (unsigned long long)shared_bytes, occupancy, warps, of);
}

/* NVIDIA's occupancy calculator gives the same. */
static void occupancy(void **state)
{
    (void)state;
    expect_occupancy(9, 0, 256, 32, 0, 64, 64);
    expect_occupancy(9, 0, 1, 0, 0, 32, 64);     /* 32 CTAs of a warp */
    expect_occupancy(9, 0, 256, 64, 0, 32, 64);  /* 65536 / (64 * 32) warps */
    expect_occupancy(9, 0, 256, 33, 0, 48, 64);  /* 40 registers each: 51 warps, 12 a quarter */
    expect_occupancy(9, 0, 1024, 40, 0, 32, 64); /* one CTA of 32 warps in 48 */
    expect_occupancy(9, 0, 128, 16, 48 << 10, 16, 64); /* four of 49 KiB in 228 */
    expect_occupancy(8, 6, 256, 32, 0, 48, 48);
    expect_occupancy(7, 5, 1024, 32, 0, 32, 32);
    assert_true(isnan(cts_occupancy(3, 5, 256, 32, 0)));       /* not in the table */
    assert_true(isnan(cts_occupancy(9, 0, 1024, 255, 0)));     /* does not fit */
    assert_true(isnan(cts_occupancy(9, 0, 128, 16, 1 << 20))); /* nor this */
    assert_true(isnan(cts_occupancy(9, 0, 0, 0, 0)));
}

/* A rank with two streams: kernels a, b on the first, b on the second. */
struct join {
    struct trace *trace;
    uint32_t a, b;
    struct cts_kernel kernels[2];
    struct cts_launch launches[3];
    struct cts_cuda_stream streams[3];
    struct cts_device device;
    struct cts_catalogue catalogue;
    struct cts_access_site sites[3];
    struct cts_access_result access;
    struct cts_path_kernels result;
};

static void add_kernel(struct trace *t, uint32_t stream, uint64_t time_ns, const char *name,
                       uint32_t grid, uint32_t registers)
{
    struct trace_event *const enter = trace_enter(t, stream, time_ns, name);
    trace_set(enter, CTS_ATTRIBUTE_GRID_X, grid);
    trace_set(enter, CTS_ATTRIBUTE_BLOCK_X, 256);
    trace_set(enter, CTS_ATTRIBUTE_REGISTERS, registers);
    trace_leave(t, stream, time_ns + 9, name);
}

static struct join *begin(void)
{
    struct join *const j = calloc(1, sizeof *j);
    assert_non_null(j);
    j->trace = trace_new();
    const uint32_t host = trace_rank(j->trace);
    const uint32_t first = trace_stream(j->trace, host, 13);
    const uint32_t second = trace_stream(j->trace, host, 14);
    (void)trace_stream(j->trace, host, 7);                   /* without kernels */
    add_kernel(j->trace, first, 10, "void a kernel", 4, 32); /* a template's name */
    add_kernel(j->trace, first, 20, "b kernel", 5, 32);
    trace_call(j->trace, first, 30, 40, "cuMemsetD8"); /* no kernel */
    add_kernel(j->trace, second, 10, "b kernel", 6, 64);
    j->a = trace_region(j->trace, "void a kernel");
    j->b = trace_region(j->trace, "b kernel");
    j->kernels[0] = (struct cts_kernel){.kernel = 0, .name = "a kernel"};
    j->kernels[1] = (struct cts_kernel){.kernel = 1, .name = "?", .mangled = "b kernel"};
    j->launches[0] = (struct cts_launch){
        .launch = 0, .stream = 1, .kernel = 0, .grid = {4, 1, 1}, .block = {256, 1, 1}};
    j->launches[1] = (struct cts_launch){
        .launch = 1, .stream = 2, .kernel = 1, .grid = {6, 1, 1}, .block = {256, 1, 1}};
    j->launches[2] = (struct cts_launch){.launch = 2,
                                         .stream = 1,
                                         .ordinal = 1,
                                         .kernel = 1,
                                         .grid = {5, 1, 1},
                                         .block = {256, 1, 1}};
    j->device = (struct cts_device){.compute_major = 9};
    j->catalogue = (struct cts_catalogue){.kernels = j->kernels,
                                          .kernel_count = 2,
                                          .launches = j->launches,
                                          .launch_count = 3,
                                          .devices = &j->device,
                                          .device_count = 1,
                                          .streams = j->streams,
                                          .stream_count = 3};
    j->sites[0] =
        (struct cts_access_site){.kernel = 0, .counts = {.sectors = 32, .ideal_sectors = 4}};
    j->sites[1] =
        (struct cts_access_site){.kernel = 0, .counts = {.sectors = 4, .ideal_sectors = 4}};
    j->sites[2] =
        (struct cts_access_site){.kernel = 1, .counts = {.sectors = 8, .ideal_sectors = 4}};
    j->access = (struct cts_access_result){.sites = j->sites, .site_count = 3};
    return j;
}

static void find(struct join *j, bool with_access)
{
    const struct cts_path_source source = trace_source(j->trace);
    struct cts_error error;
    if (cts_path_kernels_find(&source, &j->catalogue, with_access ? &j->access : NULL, &j->result,
                              &error))
        fail_msg("%s", error.text);
}

static void end_join(struct join *j)
{
    cts_path_kernels_release(&j->result);
    trace_free(j->trace);
    free(j);
}

static void expect_efficiency(const struct join *j, uint32_t region, double expected)
{
    const double value = j->result.by_region[region].memory_efficiency;
    if (isnan(expected) ? !isnan(value) : !(fabs(value - expected) < 1e-12))
        fail_msg("efficiency of region %u: %g, not %g", region, value, expected);
}

static void all_fit(void **state)
{
    (void)state;
    struct join *const j = begin();
    find(j, true);
    assert_int_equal(j->result.mismatches, 0);
    expect_efficiency(j, j->a, 8.0 / 36);
    expect_efficiency(j, j->b, 0.5);
    assert_true(fabs(j->result.by_region[j->a].occupancy - 1) < 1e-12);
    assert_true(fabs(j->result.by_region[j->b].occupancy - 0.75) < 1e-12); /* 64 and 32 of 64 */
    end_join(j);
}

/* The second stream is the default stream, which the catalogue has first. */
static void default_stream(void **state)
{
    (void)state;
    struct join *const j = begin();
    j->streams[0].kind = "legacy default";
    j->streams[1].kind = "blocking";
    j->launches[1].stream = 0;
    find(j, true);
    assert_int_equal(j->result.mismatches, 2);
    cts_path_kernels_release(&j->result);
    struct cts_timeline *const timeline = &j->trace->timeline;
    for (uint32_t l = 0; l < timeline->location_count; l++)
        timeline->locations[l].null_stream = timeline->locations[l].stream == 14;
    find(j, true);
    assert_int_equal(j->result.mismatches, 0);
    expect_efficiency(j, j->b, 0.5);
    end_join(j);
}

static void without_accesses(void **state)
{
    (void)state;
    struct join *const j = begin();
    find(j, false);
    assert_int_equal(j->result.mismatches, 0);
    expect_efficiency(j, j->a, NAN);
    assert_false(isnan(j->result.by_region[j->a].occupancy));
    end_join(j);
}

static void another_grid(void **state)
{
    (void)state;
    struct join *const j = begin();
    j->launches[2].grid[0] = 7;
    find(j, true);
    assert_int_equal(j->result.mismatches, 1);
    assert_string_equal(
        j->result.first_mismatch,
        "rank 0, stream 0 with kernels, launch 1: 'b kernel' 5x1x1 in the timeline, "
        "'?' 7x1x1 in the memory recording");
    expect_efficiency(j, j->a, 8.0 / 36);
    expect_efficiency(j, j->b, NAN);
    end_join(j);
}

static void another_kernel(void **state)
{
    (void)state;
    struct join *const j = begin();
    j->launches[0].kernel = 1;
    find(j, true);
    assert_int_equal(j->result.mismatches, 1);
    expect_efficiency(j, j->a, NAN); /* it, and what follows on that stream */
    expect_efficiency(j, j->b, NAN);
    end_join(j);
}

static void another_count(void **state)
{
    (void)state;
    struct join *const j = begin();
    j->catalogue.launch_count = 2; /* the second launch of the first stream is missing */
    find(j, true);
    assert_int_equal(j->result.mismatches, 1);
    expect_efficiency(j, j->a, 8.0 / 36);
    expect_efficiency(j, j->b, NAN);
    end_join(j);
}

static void another_stream(void **state)
{
    (void)state;
    struct join *const j = begin();
    j->launches[2].stream = 2;
    j->launches[1].ordinal = 1;
    find(j, true);
    assert_true(j->result.mismatches > 0);
    expect_efficiency(j, j->b, NAN);
    j->launches[2].stream = j->launches[1].stream = 1; /* one stream in all */
    cts_path_kernels_release(&j->result);
    find(j, true);
    assert_string_equal(
        j->result.first_mismatch,
        "rank 0: 2 streams with kernels in the timeline, 1 in the memory recording");
    expect_efficiency(j, j->a, NAN);
    end_join(j);
}

static void times_are_those_of_the_launches(void **state)
{
    (void)state;
    struct join *const j = begin();
    const struct cts_path_source source = trace_source(j->trace);
    uint64_t launch_ns[3] = {0};
    struct cts_error error;
    if (cts_path_launch_times(&source, &j->catalogue, launch_ns, &j->result, &error))
        fail_msg("%s", error.text);
    assert_int_equal(j->result.mismatches, 0);
    for (unsigned i = 0; i < 3; i++) assert_int_equal(launch_ns[i], 9);
    cts_path_kernels_release(&j->result);
    j->launches[2].grid[0] = 7; /* the second of its stream: its time is not known */
    memset(launch_ns, 0, sizeof launch_ns);
    if (cts_path_launch_times(&source, &j->catalogue, launch_ns, &j->result, &error))
        fail_msg("%s", error.text);
    assert_int_equal(j->result.mismatches, 1);
    assert_int_equal(launch_ns[0], 9);
    assert_int_equal(launch_ns[1], 9);
    assert_int_equal(launch_ns[2], 0);
    end_join(j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(occupancy),
        cmocka_unit_test(all_fit),
        cmocka_unit_test(without_accesses),
        cmocka_unit_test(another_grid),
        cmocka_unit_test(another_kernel),
        cmocka_unit_test(another_count),
        cmocka_unit_test(another_stream),
        cmocka_unit_test(default_stream),
        cmocka_unit_test(times_are_those_of_the_launches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
