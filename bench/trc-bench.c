/* What a .trc costs until the read and write set of every CTA is known: import, then the sets.
 *
 *     trc-bench FILE RUN [threads]      FILE from trc-generate; RUN is made anew; 2 threads without
 *
 * Prints thread accesses and, best of three, seconds of the import, of the sets, and of both. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/summary/summary.h"
#include "bench.h"
#include "import/import.h"
#include "trace/acc.h"

enum { REPEATS = 3, THREADS_MAX = 64, PADDING = 8 };

static uint64_t import(const char *path, const char *run_path, unsigned threads)
{
    const struct cts_import_options options = {
        .paths = &path, .path_count = 1, .run_path = run_path, .replace = true, .threads = threads};
    struct cts_import_result result;
    struct cts_error error;
    if (cts_import(&options, &result, &error)) stop(&error);
    const uint64_t accesses = result.accesses;
    cts_import_result_release(&result);
    return accesses;
}

static enum cts_status count_part(void *state, unsigned thread, const struct cts_summary_part *part,
                                  struct cts_error *error)
{
    uint64_t *const counts = state;
    (void)error;
    counts[PADDING * thread] += part->reads->count + part->writes->count;
    return CTS_OK;
}

/* Returns how many intervals the sets have. */
static uint64_t make_sets(const char *run_path, unsigned threads)
{
    struct cts_error error;
    struct cts_catalogue catalogue;
    struct cts_acc_reader *reader;
    struct cts_summary_plan plan;
    struct cts_summary_reader *reader_of_sets;
    uint64_t counts[THREADS_MAX * PADDING] = {0}, intervals = 0;
    if (cts_catalogue_read(run_path, &catalogue, &error)) stop(&error);
    if (cts_acc_open(run_path, &reader, &error)) stop(&error);
    const struct cts_access_source source = cts_access_source_of(reader);
    if (cts_summary_plan_make(&catalogue, &source, &plan, &error)) stop(&error);
    if (cts_summary_reader_new(&plan, threads, &reader_of_sets, &error)) stop(&error);
    const struct cts_summary_reading reading = {
        .share_count = 1, .take = count_part, .state = counts};
    for (size_t i = 0; i < plan.launch_count; i++)
        if (cts_summary_read(reader_of_sets, i, &reading, &error)) stop(&error);
    for (unsigned i = 0; i < threads; i++) intervals += counts[PADDING * i];
    cts_summary_reader_free(reader_of_sets);
    cts_summary_plan_release(&plan);
    cts_acc_close(reader);
    cts_catalogue_release(&catalogue);
    return intervals;
}

int main(int argc, char **argv)
{
    const unsigned long threads = argc > 3 ? strtoul(argv[3], NULL, 10) : 2;
    if (argc < 3 || threads < 1 || threads > THREADS_MAX) {
        fprintf(stderr, "usage: %s FILE RUN [threads]\n", argv[0]);
        return 2;
    }
    double best_import = 1e9, best_sets = 1e9, best_both = 1e9;
    uint64_t accesses = 0, intervals = 0;
    for (int i = 0; i < REPEATS; i++) {
        const double start = now_seconds();
        accesses = import(argv[1], argv[2], (unsigned)threads);
        const double middle = now_seconds();
        intervals = make_sets(argv[2], (unsigned)threads);
        const double end = now_seconds();
        if (middle - start < best_import) best_import = middle - start;
        if (end - middle < best_sets) best_sets = end - middle;
        if (end - start < best_both) best_both = end - start;
    }
    fprintf(stderr, "%" PRIu64 " intervals\n", intervals);
    printf("%" PRIu64 " %.4f %.4f %.4f\n", accesses, best_import, best_sets, best_both);
    return 0;
}
