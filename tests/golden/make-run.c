/* Makes small runs whose every byte of output is known: a recorder that needs no compiler. The run
 * goes to CTASCOPE_RUN, or to the path given; times, process and host are set to fixed values, so
 * that answers can be compared exactly.
 *
 *     make-run KIND [PATH]
 *
 *     long-names complete, with kernels whose names have 300 characters, as PyTorch's have
 *     complete   two kernels, three launches, every pattern, two streams, a copy, messages
 *     values     one load whose values were kept
 *     boxes      two launches whose accesses are boxes, as tensor copies make them
 *     box-rows   the same bytes, recorded as rows of threads
 *     killed     like complete, but the process kills itself before it closes the run
 *     no-launch  a recorder that saw no launch
 *     filtered   launches, all left out by a filter
 *     status     like complete, and ends with status 3 */
#include <limits.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unistd.h>

#include "trace/write/collector.h"

enum { A = 0x7000000, B = 0x7100000 };

/* First ids of this process; all 0 in a run of one. */
static uint32_t first[CTS_ID_KIND_COUNT], rank;
#define ID(kind) first[CTS_ID_##kind]

static void die(const char *text)
{
    fprintf(stderr, "make-run: %s\n", text);
    exit(99);
}

/* ---- the catalogue ---- */

#define ELEMENTWISE(functor)                                                                       \
    "void at::native::vectorized_elementwise_kernel<4, at::native::" functor                       \
    "<float>, std::array<char*, 3ul> >(int, at::native::" functor "<float>, std::array<char*, "    \
    "3ul>, at::native::detail::memory::LoadWithCast<2>, "                                          \
    "at::native::detail::memory::StoreWithCast<1>, OffsetCalculator<2, unsigned int, false>, "     \
    "TrivialOffsetCalculator<1, unsigned int>)"
static const char *names[2] = {"copy(float *, const float *)", "sum(int *)"};

static uint32_t width_bytes = 4; /* of the first two sites */

static void name_as_pytorch(void)
{
    names[0] = ELEMENTWISE("CUDAFunctor_add");
    names[1] = ELEMENTWISE("binary_internal::MulFunctor");
}

static void reserve_ids(struct cts_catalogue_writer *w)
{
    static const uint32_t counts[CTS_ID_KIND_COUNT] = {
        [CTS_ID_MODULE] = 1,   [CTS_ID_SOURCE] = 1, [CTS_ID_KERNEL] = 2,
        [CTS_ID_SITE] = 4,     [CTS_ID_STREAM] = 2, [CTS_ID_LAUNCH] = 3,
        [CTS_ID_VARIABLE] = 1, [CTS_ID_COPY] = 1,   [CTS_ID_ALLOCATION] = 2};
    rank = cts_catalogue_rank(w);
    for (unsigned i = 0; i < CTS_ID_KIND_COUNT; i++)
        first[i] = cts_catalogue_reserve(w, i, counts[i]);
}

static void add_code(struct cts_catalogue_writer *w)
{
    cts_catalogue_add_device(w, &(struct cts_device){.rank = rank,
                                                     .name = "CPU device",
                                                     .kind = "cpu",
                                                     .sm_count = 4,
                                                     .memory_bytes = 1 << 30,
                                                     .compute_major = 9});
    cts_catalogue_add_module(
        w, &(struct cts_module){
               .module = ID(MODULE), .rank = rank, .name = "app.cu", .checksum = "00c0ffee"});
    cts_catalogue_add_source(w, &(struct cts_source){.source = ID(SOURCE),
                                                     .module = ID(MODULE),
                                                     .path = "/src/app.cu",
                                                     .text = "// first line\n// second line\n"});
    cts_catalogue_add_kernel(w, &(struct cts_kernel){.kernel = ID(KERNEL),
                                                     .module = ID(MODULE),
                                                     .source = ID(SOURCE),
                                                     .name = names[0],
                                                     .mangled = "_Z4copyPfPKf",
                                                     .line = 3,
                                                     .max_threads = 256,
                                                     .instrumented = true});
    cts_catalogue_add_kernel(w, &(struct cts_kernel){.kernel = ID(KERNEL) + 1,
                                                     .module = ID(MODULE),
                                                     .source = ID(SOURCE),
                                                     .name = names[1],
                                                     .mangled = "_Z3sumPi",
                                                     .line = 9,
                                                     .static_shared_bytes = 128,
                                                     .instrumented = true});
    static const struct cts_site sites[] = {
        {.operation = CTS_LOAD,
         .space = CTS_SPACE_GLOBAL,
         .width_bytes = 4,
         .line = 5,
         .column = 12,
         .type = "float",
         .variable = "in"},
        {.operation = CTS_STORE,
         .space = CTS_SPACE_GLOBAL,
         .width_bytes = 4,
         .line = 5,
         .column = 10,
         .type = "float",
         .variable = "out"},
        {.operation = CTS_STORE,
         .space = CTS_SPACE_SHARED,
         .width_bytes = 8,
         .line = 11,
         .column = 5,
         .type = "double",
         .variable = "tile",
         .loop_depth = 1},
        {.operation = CTS_ATOMIC_ADD,
         .space = CTS_SPACE_GENERIC,
         .width_bytes = 4,
         .line = 13,
         .column = 5,
         .type = "int",
         .variable = "total",
         .is_volatile = true},
    };
    for (uint32_t i = 0; i < sizeof sites / sizeof *sites; i++) {
        struct cts_site site = sites[i];
        site.site = ID(SITE) + i;
        site.module = ID(MODULE);
        if (i < 2) site.width_bytes = width_bytes;
        site.source = ID(SOURCE);
        site.function = names[i >= 2];
        site.inlined_at = "";
        cts_catalogue_add_site(w, &site);
    }
    cts_catalogue_add_variable(w, &(struct cts_variable){.variable = ID(VARIABLE),
                                                         .module = ID(MODULE),
                                                         .source = ID(SOURCE),
                                                         .name = "tile",
                                                         .mangled = "tile",
                                                         .type = "double",
                                                         .kind = "shared",
                                                         .size_bytes = 128,
                                                         .function = "sum(int *)",
                                                         .line = 10});
    cts_catalogue_add_skipped(w, &(struct cts_skipped){.module = ID(MODULE),
                                                       .source = ID(SOURCE),
                                                       .what = "inline PTX in sum(int *)",
                                                       .reason = "'bar.warp.sync' is not known",
                                                       .line = 14,
                                                       .count = 1});
}

static void add_host_side(struct cts_catalogue_writer *w)
{
    cts_catalogue_add_stream(w, &(struct cts_cuda_stream){.stream = ID(STREAM),
                                                          .rank = rank,
                                                          .kind = "legacy default",
                                                          .destroyed_op = UINT64_MAX});
    cts_catalogue_add_stream(w, &(struct cts_cuda_stream){.stream = ID(STREAM) + 1,
                                                          .rank = rank,
                                                          .handle = 0x5000,
                                                          .kind = "non-blocking",
                                                          .priority = -1,
                                                          .created_op = 2,
                                                          .destroyed_op = 9});
    cts_catalogue_add_allocation(w, &(struct cts_allocation){.allocation = ID(ALLOCATION),
                                                             .rank = rank,
                                                             .op = 0,
                                                             .freed_op = 10,
                                                             .address = A,
                                                             .size_bytes = 4096,
                                                             .kind = "device",
                                                             .call = "cudaMalloc",
                                                             .variable = "d_in",
                                                             .type = "float",
                                                             .element_bytes = 4,
                                                             .path = "/src/app.cu",
                                                             .line = 20,
                                                             .column = 5,
                                                             .function = "main"});
    cts_catalogue_add_allocation(w, &(struct cts_allocation){.allocation = ID(ALLOCATION) + 1,
                                                             .rank = rank,
                                                             .op = 1,
                                                             .freed_op = UINT64_MAX,
                                                             .address = B,
                                                             .size_bytes = 8192,
                                                             .kind = "managed",
                                                             .call = "cudaMallocManaged",
                                                             .variable = "out, \"the\" result",
                                                             .type = "float",
                                                             .element_bytes = 4,
                                                             .path = "/src/app.cu",
                                                             .line = 21,
                                                             .column = 5,
                                                             .function = "main"});
    cts_catalogue_add_copy(w, &(struct cts_copy){.copy = ID(COPY),
                                                 .rank = rank,
                                                 .stream = ID(STREAM),
                                                 .op = 3,
                                                 .kind = "HtoD",
                                                 .destination = A,
                                                 .source = 0x10000,
                                                 .width_bytes = 4096,
                                                 .height = 1,
                                                 .depth = 1,
                                                 .call_ns = 1000100,
                                                 .start_ns = 1000200,
                                                 .end_ns = 1000300});
    cts_catalogue_add_sync(w, &(struct cts_sync){.rank = rank,
                                                 .op = 8,
                                                 .kind = "stream sync",
                                                 .stream = ID(STREAM) + 1,
                                                 .start_ns = 1004000,
                                                 .end_ns = 1005000});
    cts_catalogue_add_host_access(
        w, &(struct cts_host_access){.rank = rank, .op = 8, .address = B, .size_bytes = 64});
    cts_catalogue_add_message(w, "warning", "the kernel 'sum' was launched with 1 thread\t");
}

static void add_launch(struct cts_catalogue_writer *w, uint32_t launch, const char *recorded,
                       uint64_t records, uint64_t accesses)
{
    static const uint32_t kernels[] = {0, 1, 0};
    cts_catalogue_add_launch(
        w, &(struct cts_launch){.launch = ID(LAUNCH) + launch,
                                .rank = rank,
                                .op = 4 + launch,
                                .stream = ID(STREAM) + launch % 2,
                                .ordinal = launch / 2,
                                .kernel = ID(KERNEL) + kernels[launch],
                                .grid = {launch == 2 ? 4 : 2, launch == 1 ? 3 : 1, 1},
                                .block = {32, 1, 1},
                                .recorded = recorded,
                                .call_ns = 1001000 + 500 * launch,
                                .start_ns = 1001100 + 500 * launch,
                                .end_ns = 1001400 + 500 * launch,
                                .records = records,
                                .accesses = accesses});
}

/* ---- the accesses ---- */

/* lane l: base + s0 * (l % row) + s1 * (l / row), of the lanes in `mask` */
static void add_record(struct cts_stream *stream, uint32_t site, enum cts_space space,
                       uint32_t mask, uint64_t base, int64_t s0, int64_t s1, unsigned row)
{
    uint64_t addresses[CTS_WARP_LANES];
    for (unsigned l = 0; l < CTS_WARP_LANES; l++)
        addresses[l] = base + (uint64_t)(s0 * (l % row) + s1 * (l / row));
    cts_stream_add(stream, &(struct cts_stream_row){.site = ID(SITE) + site,
                                                    .space = space,
                                                    .warp = 0,
                                                    .mask = mask,
                                                    .addresses = addresses,
                                                    .value_words = 0,
                                                    .values = NULL});
}

static void record_copy_launch(struct cts_stream *stream, uint32_t launch)
{
    for (uint32_t cta = 0; cta < 2; cta++) {
        cts_stream_begin_cta(stream, ID(LAUNCH) + launch, cta);
        add_record(stream, 0, CTS_SPACE_GLOBAL, 0xffffffff, A + 128 * cta, 4, 0, 32);
        add_record(stream, 1, CTS_SPACE_GLOBAL, 0x0000ffff, B + 128 * cta, 4, 0, 32);
        cts_stream_end_cta(stream);
    }
    cts_stream_flush(stream);
}

static void record_sum_launch(struct cts_stream *stream)
{
    uint64_t scattered[CTS_WARP_LANES];
    for (unsigned l = 0; l < CTS_WARP_LANES; l++) scattered[l] = A + 4 * (l * l % 61);
    cts_stream_begin_cta(stream, ID(LAUNCH) + 1, 5);
    add_record(stream, 2, CTS_SPACE_SHARED, 0xffffffff, 0, 8, 64, 16);
    add_record(stream, 3, CTS_SPACE_GLOBAL, 0xffffffff, B, 0, 0, 32);
    cts_stream_add(stream, &(struct cts_stream_row){.site = ID(SITE),
                                                    .space = CTS_SPACE_GLOBAL,
                                                    .warp = 0,
                                                    .mask = 0x800000f1,
                                                    .addresses = scattered,
                                                    .value_words = 0,
                                                    .values = NULL});
    cts_stream_end_cta(stream);
    cts_stream_flush(stream);
}

static void record_complete(struct cts_collector *collector, struct cts_stream *stream)
{
    struct cts_catalogue_writer *const w = cts_collector_catalogue(collector);
    add_code(w);
    add_host_side(w);
    record_copy_launch(stream, 0);
    add_launch(w, 0, "all", 4, 96);
    record_sum_launch(stream);
    add_launch(w, 1, "sample", 3, 70);
    add_launch(w, 2, "none", 0, 0);
}

static void record_values(struct cts_collector *collector, struct cts_stream *stream)
{
    struct cts_catalogue_writer *const w = cts_collector_catalogue(collector);
    add_code(w);
    add_host_side(w);
    uint64_t addresses[CTS_WARP_LANES] = {[0] = A, [3] = A + 12};
    const uint64_t values[] = {0x3f800000, 0x40490fdb};
    cts_stream_begin_cta(stream, ID(LAUNCH), 0);
    cts_stream_add(stream, &(struct cts_stream_row){.site = ID(SITE),
                                                    .space = CTS_SPACE_GLOBAL,
                                                    .warp = 0,
                                                    .mask = 0x9,
                                                    .addresses = addresses,
                                                    .value_words = 1,
                                                    .values = values});
    cts_stream_end_cta(stream);
    cts_stream_flush(stream);
    add_launch(w, 0, "all", 1, 2);
}

/* ---- boxes ---- */

static bool as_rows;

/* As one record, or each 32 rows of it as one. */
static void add_box(struct cts_stream *stream, uint32_t site, uint64_t base,
                    const struct cts_box *box)
{
    const struct cts_stream_box record = {.site = ID(SITE) + site, .base = base, .box = *box};
    const struct cts_box_plan plan = cts_box_plan_of(box);
    if (!as_rows) cts_stream_add_box(stream, &record);
    for (uint32_t k = 0; as_rows && k < plan.record_count; k++) {
        const struct cts_box_record part = cts_box_record_of(&plan, k);
        add_record(stream, site, CTS_SPACE_GLOBAL, part.mask, base + part.offset, part.s0, part.s1,
                   part.row_lanes ? part.row_lanes : CTS_WARP_LANES);
    }
}

/* CTAs store tiles of a matrix of 40 rows of 256 bytes; others load them as other tiles. */
static void record_boxes(struct cts_collector *collector, struct cts_stream *stream)
{
    static const struct cts_box stored = {{40, 1, 1, 1}, {256, 0, 0, 0}, 0};
    static const struct cts_box loaded = {{5, 4, 2, 1}, {256, 1280, 5120, 0}, 3};
    struct cts_catalogue_writer *const w = cts_collector_catalogue(collector);
    add_code(w);
    add_host_side(w);
    for (uint32_t cta = 0; cta < 2; cta++) {
        cts_stream_begin_cta(stream, ID(LAUNCH), cta);
        add_box(stream, 1, A + 128 * cta, &stored);
        add_box(stream, 1, A + 128 * cta + 64, &stored);
        cts_stream_end_cta(stream);
    }
    cts_stream_flush(stream);
    add_launch(w, 0, "all", 8, 160);
    for (uint32_t cta = 0; cta < 4; cta++) {
        cts_stream_begin_cta(stream, ID(LAUNCH) + 2, cta);
        add_box(stream, 0, A + 64 * (3 - cta), &loaded);
        cts_stream_end_cta(stream);
    }
    cts_stream_flush(stream);
    add_launch(w, 1, "none", 0, 0);
    add_launch(w, 2, "all", 8, 160);
}

/* ---- fixed times ---- */

static void fix_times(const char *run, int complete)
{
    static const char sql[] =
        "UPDATE ranks SET pid = 4711, host = 'example', program = '/home/user/app',"
        " arguments = './app 100', directory = '/home/user', start_ns = 1000000,"
        " unix_start_ns = 1700000000000000000;"
        "UPDATE ranks SET end_ns = 3000000 WHERE end_ns IS NOT NULL;"
        "REPLACE INTO run VALUES ('created', '2026-01-02T03:04:05Z'), ('host', 'example'),"
        " ('system', 'Linux 6.1 x86_64'), ('cpu_model', 'A processor'), ('cpu_count', '8'),"
        " ('ctascope_version', '0.2.0');";
    char path[PATH_MAX];
    struct cts_error error;
    sqlite3 *db;
    if (cts_catalogue_tidy(run, &error)) die(error.text); /* as `record` does later */
    snprintf(path, sizeof path, "%s/run.db", run);
    if (sqlite3_open(path, &db) || sqlite3_exec(db, sql, NULL, NULL, NULL)) die(sqlite3_errmsg(db));
    if (!complete && sqlite3_exec(db, "UPDATE ranks SET end_ns = NULL", NULL, NULL, NULL))
        die(sqlite3_errmsg(db));
    sqlite3_close(db);
}

int main(int argc, char **argv)
{
    const char *const kind = argc > 1 ? argv[1] : "";
    const char *const run = argc > 2 ? argv[2] : getenv("CTASCOPE_RUN");
    struct cts_error error = {0};
    struct cts_collector *collector;
    struct cts_stream *stream;
    if (!run) die("no run");
    if (strcmp(kind, "long-names") == 0) name_as_pytorch();
    as_rows = strcmp(kind, "box-rows") == 0;
    if (strcmp(kind, "boxes") == 0 || as_rows) width_bytes = 64;
    if (strcmp(kind, "killed") == 0) { /* what is left by one is put in order by another */
        const pid_t recording = fork();
        if (recording) {
            waitpid(recording, NULL, 0);
            fix_times(run, 0);
            raise(SIGKILL);
        }
    }
    const int with_values = strcmp(kind, "values") == 0;
    if (cts_collector_open(&(struct cts_collector_options){.run_path = run, .values = with_values},
                           &collector, &error) ||
        cts_collector_stream(collector, &stream, &error))
        die(error.text);
    reserve_ids(cts_collector_catalogue(collector));
    if (with_values) {
        record_values(collector, stream);
    } else if (strcmp(kind, "boxes") == 0 || as_rows) {
        record_boxes(collector, stream);
    } else if (strcmp(kind, "filtered") == 0) {
        add_code(cts_collector_catalogue(collector));
        add_host_side(cts_collector_catalogue(collector));
        add_launch(cts_collector_catalogue(collector), 0, "none", 0, 0);
    } else if (strcmp(kind, "no-launch") != 0) {
        record_complete(collector, stream);
    }
    if (strcmp(kind, "killed") == 0) raise(SIGKILL);
    if (cts_collector_close(collector, &error)) die(error.text);
    fix_times(run, 1);
    return strcmp(kind, "status") == 0 ? 3 : 0;
}
