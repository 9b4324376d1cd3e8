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
#include <sys/resource.h>

#include "analyze/partition/partition.h"
#include "analyze/summary/summary.h"
#include "workload.h"

enum { REPEATS = 3, FILES = 2, SIDE = 2048, TILE = 16 };

static void vector_add(const struct warp *w)
{
    one_each(w, 0, buffers[0]);
    one_each(w, 1, buffers[1]);
    one_each(w, 5, buffers[2]);
}

static void gather(const struct warp *w)
{
    any_each(w, 0, buffers[0]);
    one_each(w, 5, buffers[1]);
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
    make_run(&run, w, directory, FILES, SIDE);
    double best = 1e9;
    uint64_t intervals = 0;
    for (int i = 0; i < REPEATS; i++) {
        struct cts_summary_plan plan;
        struct cts_summary_reader *reader;
        uint64_t counts[64 * 8] = {0};
        const double start = now_seconds();
        if (cts_summary_plan_make(&run.catalogue, &run.source, &plan, &error)) stop(&error);
        if (cts_summary_reader_new(&plan, threads, &reader, &error)) stop(&error);
        const struct cts_summary_reading reading = {
            .share_count = 1, .take = count_part, .state = counts};
        for (size_t k = 0; k < plan.launch_count; k++)
            if (cts_summary_read(reader, k, &reading, &error)) stop(&error);
        const double seconds = now_seconds() - start;
        if (seconds < best) best = seconds;
        intervals = 0;
        for (unsigned k = 0; k < threads; k++) intervals += counts[8 * k];
        cts_summary_reader_free(reader);
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
    for (uint32_t i = 0; i < 64; i++) counts[i] = i + 1;
    make_run(&run, w, directory, FILES, SIDE);
    const struct cts_partition_options options = {.counts = counts,
                                                  .count_count = 64,
                                                  .mappings = cts_mappings,
                                                  .mapping_count = CTS_MAPPING_COUNT,
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
