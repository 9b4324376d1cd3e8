/* What the communication analysis costs per thread access, with records from real access files:
 *
 *     stencil 32x8, 16x16   5-point, ping-pong between two buffers, LAUNCHES launches
 *     axpy                  y = a*x + y, in place
 *     gather                LAUNCHES - 1 times b[i] = a[random], after a kernel that wrote a
 *
 * Usage: comm-bench [directory for the runs [threads [side [part of a workload's name]]]]; /tmp, 1
 * and 4096 without: buffers of side x side floats, as many access files as threads. Prints the best
 * of three: million thread accesses per second, reading the files included, and apart what decoding
 * them alone costs. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/communication/communication.h"
#include "workload.h"

enum { LAUNCHES = 4, REPEATS = 3 };

static void axpy(const struct warp *w)
{
    one_each(w, 0, buffers[0]);
    one_each(w, 1, buffers[1]);
    one_each(w, 5, buffers[1]);
}

static void gather(const struct warp *w)
{
    if (w->launch > 0) any_each(w, 0, buffers[0]);
    one_each(w, 5, buffers[w->launch > 0]);
}

static const struct workload workloads[] = {{"stencil 32x8", 32, 8, LAUNCHES, stencil},
                                            {"stencil 16x16", 16, 16, LAUNCHES, stencil},
                                            {"axpy", 256, 1, LAUNCHES, axpy},
                                            {"gather", 256, 1, LAUNCHES, gather}};

static double decode(const struct cts_access_source *source)
{
    struct cts_acc_batch batch = {0};
    struct cts_error error;
    const double start = now_seconds();
    for (size_t i = 0; i < source->chunk_count; i++)
        if (source->read(source->state, &source->chunks[i], &batch, &error)) stop(&error);
    const double seconds = now_seconds() - start;
    source->release(&batch);
    return seconds;
}

static void bench(const struct workload *w, const char *directory, unsigned threads, uint32_t side)
{
    static struct run run;
    struct cts_error error;
    make_run(&run, w, directory, threads < FILES_MAX ? threads : FILES_MAX, side);
    double best = 1e9, best_decode = 1e9;
    struct cts_comm comm;
    for (int i = 0; i < REPEATS; i++) {
        const struct cts_comm_options options = {.threads = threads, .top_count = 10};
        const double start = now_seconds();
        if (cts_comm_analyze(&run.catalogue, &run.source, &options, &comm, &error)) stop(&error);
        const double seconds = now_seconds() - start, decoding = decode(&run.source);
        if (seconds < best) best = seconds;
        if (decoding < best_decode) best_decode = decoding;
        if (i + 1 < REPEATS) cts_comm_release(&comm);
    }
    const uint64_t accesses = comm.total.global_load_accesses + comm.total.global_store_accesses;
    printf("%-14s %9.1f M/s  %8.2f ns/record  decoding %6.2f ns/record  %" PRIu64 " accesses  %zu "
           "chunks  shadow %.1f MB  sets %.1f MB  transfers %" PRIu64 "  received %" PRIu64 "\n",
           w->name, (double)accesses / best / 1e6, best * 1e9 / (double)comm.record_count,
           best_decode * 1e9 / (double)comm.record_count, accesses, run.source.chunk_count,
           (double)comm.peak_shadow_bytes / 1e6, (double)comm.peak_set_bytes / 1e6,
           comm.total.received_transfers, comm.total.received_bytes);
    fflush(stdout);
    cts_comm_release(&comm);
    drop_run(&run);
}

int main(int argc, char **argv)
{
    const char *const directory = argc > 1 ? argv[1] : "/tmp";
    const unsigned threads = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 1;
    const uint32_t side = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 4096;
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++)
        if (argc < 5 || strstr(workloads[i].name, argv[4]))
            bench(&workloads[i], directory, threads, side);
    return 0;
}
