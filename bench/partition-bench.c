/* What summaries and the partition analysis cost, with records from real access files:
 *
 *     sets       the read and write set of every CTA: vector add, stencil, gather; million thread
 *                accesses per second, best of three
 *     scales     a 5-point stencil, 16,384 CTAs of 16 x 16, LAUNCHES launches, ping-pong: five
 *                mappings at 1 to 64 partitions; seconds and peak memory
 *
 * Usage: partition-bench [directory [threads [launches of the stencil]]]; /tmp, one per processor
 * and 100 without. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "analyze/partition/partition.h"
#include "analyze/summary/summary.h"
#include "record/collector/collector.h"
#include "trace/acc.h"

enum { REPEATS = 3, WARP = 32, LAUNCHES_MAX = 1000, SIDE = 2048, TILE = 16 };
static const uint64_t buffers[3] = {0x7f0000000000, 0x7f1000000000, 0x7f2000000000};

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void stop(const struct cts_error *error)
{
    fprintf(stderr, "partition-bench: %s\n", error->text);
    exit(1);
}

struct workload {
    const char *name;
    unsigned block_x, block_y, launches;
    void (*warp)(struct cts_stream *stream, unsigned launch, uint16_t warp, const uint32_t x[WARP],
                 const uint32_t y[WARP]);
};

/* Sites: 0 to 4 load, 5 stores, 4 bytes each. */
static void add(struct cts_stream *stream, uint32_t site, uint16_t warp, uint32_t mask,
                uint64_t addresses[WARP])
{
    if (mask) cts_stream_add(stream, site, CTS_SPACE_GLOBAL, warp, mask, addresses, 0, NULL);
}

static void one_each(struct cts_stream *stream, uint32_t site, uint16_t warp, uint64_t buffer,
                     const uint32_t x[WARP], const uint32_t y[WARP])
{
    uint64_t addresses[WARP];
    for (unsigned lane = 0; lane < WARP; lane++)
        addresses[lane] = buffer + ((uint64_t)y[lane] * SIDE + x[lane]) * 4;
    add(stream, site, warp, UINT32_MAX, addresses);
}

static void stencil(struct cts_stream *stream, unsigned launch, uint16_t warp,
                    const uint32_t x[WARP], const uint32_t y[WARP])
{
    static const int dx[] = {0, -1, 1, 0, 0}, dy[] = {0, 0, 0, -1, 1};
    const uint64_t from = buffers[launch & 1], to = buffers[~launch & 1];
    uint64_t addresses[WARP];
    for (uint32_t site = 0; site < 5; site++) {
        uint32_t mask = 0;
        for (unsigned lane = 0; lane < WARP; lane++) {
            const uint32_t column = x[lane] + (uint32_t)dx[site],
                           row = y[lane] + (uint32_t)dy[site];
            if (column >= SIDE || row >= SIDE) continue;
            mask |= 1u << lane;
            addresses[lane] = from + ((uint64_t)row * SIDE + column) * 4;
        }
        add(stream, site, warp, mask, addresses);
    }
    one_each(stream, 5, warp, to, x, y);
}

static void vector_add(struct cts_stream *stream, unsigned launch, uint16_t warp,
                       const uint32_t x[WARP], const uint32_t y[WARP])
{
    (void)launch;
    one_each(stream, 0, warp, buffers[0], x, y);
    one_each(stream, 1, warp, buffers[1], x, y);
    one_each(stream, 5, warp, buffers[2], x, y);
}

static void gather(struct cts_stream *stream, unsigned launch, uint16_t warp,
                   const uint32_t x[WARP], const uint32_t y[WARP])
{
    static uint64_t seed = 1;
    uint64_t addresses[WARP];
    (void)launch;
    for (unsigned lane = 0; lane < WARP; lane++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        addresses[lane] = buffers[0] + (seed >> 33) % (SIDE * SIDE) * 4;
    }
    add(stream, 0, warp, UINT32_MAX, addresses);
    one_each(stream, 5, warp, buffers[1], x, y);
}

static void run_launch(const struct workload *w, struct cts_stream *const *streams,
                       unsigned stream_count, unsigned launch)
{
    const uint32_t grid_x = SIDE / w->block_x, grid_y = SIDE / w->block_y;
    for (uint32_t cta = 0; cta < grid_x * grid_y; cta++) {
        struct cts_stream *const stream = streams[cta / 64 % stream_count];
        cts_stream_begin_cta(stream, launch, cta);
        for (unsigned first = 0; first < w->block_x * w->block_y; first += WARP) {
            uint32_t x[WARP], y[WARP];
            for (unsigned lane = 0; lane < WARP; lane++) {
                x[lane] = cta % grid_x * w->block_x + (first + lane) % w->block_x;
                y[lane] = cta / grid_x * w->block_y + (first + lane) / w->block_x;
            }
            w->warp(stream, launch, (uint16_t)(first / WARP), x, y);
        }
        cts_stream_end_cta(stream);
    }
    for (unsigned i = 0; i < stream_count; i++) cts_stream_flush(streams[i]);
}

struct run {
    char path[4096];
    struct cts_catalogue catalogue;
    struct cts_launch launches[LAUNCHES_MAX];
    struct cts_site sites[6];
    struct cts_acc_reader *reader;
    struct cts_access_source source;
    uint64_t accesses;
};

static void make_run(struct run *run, const struct workload *w, const char *directory)
{
    struct cts_error error;
    struct cts_collector *collector;
    struct cts_stream *streams[2];
    snprintf(run->path, sizeof run->path, "%s/partition-bench-XXXXXX", directory);
    if (!mkdtemp(run->path)) perror(run->path), exit(1);
    const struct cts_collector_options options = {.run_path = run->path};
    if (cts_collector_open(&options, &collector, &error)) stop(&error);
    for (unsigned i = 0; i < 2; i++)
        if (cts_collector_stream(collector, &streams[i], &error)) stop(&error);
    for (unsigned i = 0; i < 6; i++)
        run->sites[i] = (struct cts_site){.site = i,
                                          .operation = i < 5 ? CTS_LOAD : CTS_STORE,
                                          .space = CTS_SPACE_GLOBAL,
                                          .width_bytes = 4};
    for (unsigned i = 0; i < w->launches; i++) {
        run->launches[i] = (struct cts_launch){.launch = i,
                                               .op = i,
                                               .grid = {SIDE / w->block_x, SIDE / w->block_y, 1},
                                               .block = {w->block_x, w->block_y, 1},
                                               .recorded = "all",
                                               .start_ns = 1 + i,
                                               .end_ns = 2 + i};
        run_launch(w, streams, 2, i);
    }
    if (cts_collector_close(collector, &error)) stop(&error);
    run->catalogue = (struct cts_catalogue){.launches = run->launches,
                                            .launch_count = w->launches,
                                            .sites = run->sites,
                                            .site_count = 6};
    if (cts_acc_open(run->path, &run->reader, &error)) stop(&error);
    run->source = cts_access_source_of(run->reader);
    run->accesses = 0;
    for (size_t i = 0; i < run->source.chunk_count; i++)
        run->accesses += run->source.chunks[i].access_count;
}

static void drop_run(struct run *run)
{
    char command[4200];
    cts_acc_close(run->reader);
    snprintf(command, sizeof command, "rm -r '%s'", run->path);
    if (system(command)) perror(run->path);
}

/* ---- sets ---- */

static enum cts_status count_part(void *state, unsigned thread, const struct cts_summary_part *part,
                                  struct cts_error *error)
{
    uint64_t *const counts = state;
    (void)error;
    counts[8 * thread] += part->reads->count + part->writes->count;
    return CTS_OK;
}

static void bench_sets(const struct workload *w, const char *directory, unsigned threads)
{
    static struct run run;
    struct cts_error error;
    make_run(&run, w, directory);
    double best = 1e9;
    uint64_t intervals = 0;
    for (int i = 0; i < REPEATS; i++) {
        struct cts_summary_plan plan;
        struct cts_summary_thread memory[64] = {0};
        uint64_t counts[64 * 8] = {0};
        const double start = now_seconds();
        if (cts_summary_plan_make(&run.catalogue, &run.source, &plan, &error)) stop(&error);
        const struct cts_summary_reading reading = {
            .threads = threads, .share_count = 1, .take = count_part, .state = counts};
        for (size_t k = 0; k < plan.launch_count; k++)
            if (cts_summary_read(&plan, k, &reading, memory, &error)) stop(&error);
        const double seconds = now_seconds() - start;
        if (seconds < best) best = seconds;
        intervals = 0;
        for (unsigned k = 0; k < threads; k++) {
            intervals += counts[8 * k];
            cts_summary_thread_release(&memory[k], &plan);
        }
        cts_summary_plan_release(&plan);
    }
    printf("sets    %-12s %9.1f M/s  %" PRIu64 " accesses  %" PRIu64 " intervals\n", w->name,
           (double)run.accesses / best / 1e6, run.accesses, intervals);
    fflush(stdout);
    drop_run(&run);
}

/* ---- scales ---- */

static void bench_scales(const struct workload *w, const char *directory, unsigned threads)
{
    static struct run run;
    struct cts_error error;
    struct cts_partition result;
    uint32_t counts[64];
    size_t mapping_count = 0;
    while (cts_mappings[mapping_count]) mapping_count++;
    for (uint32_t i = 0; i < 64; i++) counts[i] = i + 1;
    make_run(&run, w, directory);
    const struct cts_partition_options options = {.counts = counts,
                                                  .count_count = 64,
                                                  .mappings = cts_mappings,
                                                  .mapping_count = mapping_count,
                                                  .threads = threads};
    const double start = now_seconds();
    if (cts_partition_analyze(&run.catalogue, &run.source, &options, &result, &error)) stop(&error);
    const double seconds = now_seconds() - start;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("scales  %-12s %9.2f s    %" PRIu64 " accesses  %u launches  %zu scales  %" PRIu64
           " patterns  peak %.0f MB\n",
           w->name, seconds, run.accesses, w->launches, result.scale_count, result.pattern_count,
           (double)usage.ru_maxrss / 1e3);
    cts_partition_release(&result);
    drop_run(&run);
}

int main(int argc, char **argv)
{
    const char *const directory = argc > 1 ? argv[1] : "/tmp";
    const unsigned long wanted = argc > 2 ? strtoul(argv[2], NULL, 10) : 2;
    const unsigned threads = wanted && wanted < 64 ? (unsigned)wanted : 2;
    const unsigned long steps = argc > 3 ? strtoul(argv[3], NULL, 10) : 100;
    const struct workload sets[] = {{"vector add", 256, 1, 2, vector_add},
                                    {"stencil", TILE, TILE, 2, stencil},
                                    {"gather", 256, 1, 2, gather}};
    const struct workload scales = {"stencil", TILE, TILE,
                                    steps && steps < LAUNCHES_MAX ? (unsigned)steps : 100, stencil};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        bench_sets(&sets[i], directory, threads);
    bench_scales(&scales, directory, threads);
    return 0;
}
