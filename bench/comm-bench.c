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
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analyze/communication/communication.h"
#include "record/collector/collector.h"
#include "trace/acc.h"

enum { LAUNCHES = 4, REPEATS = 3, WARP = 32 };
static const uint64_t buffers[3] = {0x7f0000000000, 0x7f1000000000, 0x7f2000000000};

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void stop(const struct cts_error *error)
{
    fprintf(stderr, "comm-bench: %s\n", error->text);
    exit(1);
}

struct workload {
    const char *name;
    unsigned block_x, block_y;
    void (*warp)(struct cts_stream *stream, unsigned launch, uint16_t warp, const uint32_t x[WARP],
                 const uint32_t y[WARP], uint32_t side);
};

static uint64_t seed = 1;
static uint32_t random_below(uint32_t limit)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((seed >> 33) % limit);
}

/* Sites: 0..4 loads, 5 a store; all of 4 bytes. */
static void add(struct cts_stream *stream, uint32_t site, uint16_t warp, uint32_t mask,
                uint64_t addresses[WARP])
{
    if (mask) cts_stream_add(stream, site, CTS_SPACE_GLOBAL, warp, mask, addresses, 0, NULL);
}

static void stencil(struct cts_stream *stream, unsigned launch, uint16_t warp,
                    const uint32_t x[WARP], const uint32_t y[WARP], uint32_t side)
{
    static const int dx[] = {0, -1, 1, 0, 0}, dy[] = {0, 0, 0, -1, 1};
    const uint64_t from = buffers[launch & 1], to = buffers[~launch & 1];
    uint64_t addresses[WARP];
    for (uint32_t site = 0; site < 5; site++) {
        uint32_t mask = 0;
        for (unsigned lane = 0; lane < WARP; lane++) {
            const uint32_t column = x[lane] + (uint32_t)dx[site],
                           row = y[lane] + (uint32_t)dy[site];
            if (column >= side || row >= side) continue;
            mask |= 1u << lane;
            addresses[lane] = from + ((uint64_t)row * side + column) * 4;
        }
        add(stream, site, warp, mask, addresses);
    }
    for (unsigned lane = 0; lane < WARP; lane++)
        addresses[lane] = to + ((uint64_t)y[lane] * side + x[lane]) * 4;
    add(stream, 5, warp, UINT32_MAX, addresses);
}

static void one_each(struct cts_stream *stream, uint32_t site, uint16_t warp, uint64_t buffer,
                     const uint32_t x[WARP], const uint32_t y[WARP], uint32_t side)
{
    uint64_t addresses[WARP];
    for (unsigned lane = 0; lane < WARP; lane++)
        addresses[lane] = buffer + ((uint64_t)y[lane] * side + x[lane]) * 4;
    add(stream, site, warp, UINT32_MAX, addresses);
}

static void axpy(struct cts_stream *stream, unsigned launch, uint16_t warp, const uint32_t x[WARP],
                 const uint32_t y[WARP], uint32_t side)
{
    (void)launch;
    one_each(stream, 0, warp, buffers[0], x, y, side);
    one_each(stream, 1, warp, buffers[1], x, y, side);
    one_each(stream, 5, warp, buffers[1], x, y, side);
}

static void gather(struct cts_stream *stream, unsigned launch, uint16_t warp,
                   const uint32_t x[WARP], const uint32_t y[WARP], uint32_t side)
{
    uint64_t addresses[WARP];
    for (unsigned lane = 0; lane < WARP; lane++)
        addresses[lane] = buffers[0] + (uint64_t)random_below(side * side) * 4;
    if (launch > 0) add(stream, 0, warp, UINT32_MAX, addresses);
    one_each(stream, 5, warp, buffers[launch > 0], x, y, side);
}

static const struct workload workloads[] = {{"stencil 32x8", 32, 8, stencil},
                                            {"stencil 16x16", 16, 16, stencil},
                                            {"axpy", 256, 1, axpy},
                                            {"gather", 256, 1, gather}};

/* CTAs are dealt to the access files in portions, as workers take them. */
static void run_launch(const struct workload *w, struct cts_stream *const *streams,
                       unsigned stream_count, unsigned launch, uint32_t side)
{
    const uint32_t grid_x = side / w->block_x, grid_y = side / w->block_y;
    for (uint32_t cta = 0; cta < grid_x * grid_y; cta++) {
        struct cts_stream *const stream = streams[cta / 64 % stream_count];
        cts_stream_begin_cta(stream, launch, cta);
        for (unsigned first = 0; first < w->block_x * w->block_y; first += WARP) {
            uint32_t x[WARP], y[WARP];
            for (unsigned lane = 0; lane < WARP; lane++) {
                x[lane] = cta % grid_x * w->block_x + (first + lane) % w->block_x;
                y[lane] = cta / grid_x * w->block_y + (first + lane) / w->block_x;
            }
            w->warp(stream, launch, (uint16_t)(first / WARP), x, y, side);
        }
        cts_stream_end_cta(stream);
    }
    for (unsigned i = 0; i < stream_count; i++) cts_stream_flush(streams[i]);
}

static void record(const struct workload *w, const char *path, unsigned files, uint32_t side,
                   struct cts_catalogue *catalogue, struct cts_launch *launches,
                   struct cts_site *sites)
{
    struct cts_error error;
    struct cts_collector *collector;
    struct cts_stream *streams[64];
    const struct cts_collector_options options = {.run_path = path};
    if (cts_collector_open(&options, &collector, &error)) stop(&error);
    for (unsigned i = 0; i < files; i++)
        if (cts_collector_stream(collector, &streams[i], &error)) stop(&error);
    for (unsigned i = 0; i < 6; i++)
        sites[i] = (struct cts_site){.site = i,
                                     .operation = i < 5 ? CTS_LOAD : CTS_STORE,
                                     .space = CTS_SPACE_GLOBAL,
                                     .width_bytes = 4};
    for (unsigned i = 0; i < LAUNCHES; i++) {
        launches[i] = (struct cts_launch){.launch = i,
                                          .op = i,
                                          .grid = {side / w->block_x, side / w->block_y, 1},
                                          .block = {w->block_x, w->block_y, 1},
                                          .recorded = "all",
                                          .start_ns = 1 + i,
                                          .end_ns = 2 + i};
        run_launch(w, streams, files, i, side);
    }
    if (cts_collector_close(collector, &error)) stop(&error);
    *catalogue = (struct cts_catalogue){
        .launches = launches, .launch_count = LAUNCHES, .sites = sites, .site_count = 6};
}

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
    char path[4096];
    struct cts_catalogue catalogue;
    struct cts_launch launches[LAUNCHES];
    struct cts_site sites[6];
    struct cts_acc_reader *reader;
    struct cts_error error;
    snprintf(path, sizeof path, "%s/comm-bench-XXXXXX", directory);
    if (!mkdtemp(path)) return perror(path);
    record(w, path, threads < 64 ? threads : 64, side, &catalogue, launches, sites);
    if (cts_acc_open(path, &reader, &error)) stop(&error);
    const struct cts_access_source source = cts_access_source_of(reader);
    double best = 1e9, best_decode = 1e9;
    struct cts_comm comm;
    for (int i = 0; i < REPEATS; i++) {
        const struct cts_comm_options options = {.threads = threads, .top_count = 10};
        const double start = now_seconds();
        if (cts_comm_analyze(&catalogue, &source, &options, &comm, &error)) stop(&error);
        const double seconds = now_seconds() - start, decoding = decode(&source);
        if (seconds < best) best = seconds;
        if (decoding < best_decode) best_decode = decoding;
        if (i + 1 < REPEATS) cts_comm_release(&comm);
    }
    const uint64_t accesses = comm.total.global_load_accesses + comm.total.global_store_accesses;
    printf("%-14s %9.1f M/s  %8.2f ns/record  decoding %6.2f ns/record  %" PRIu64 " accesses  %zu "
           "chunks  shadow %.1f MB  sets %.1f MB  transfers %" PRIu64 "  received %" PRIu64 "\n",
           w->name, (double)accesses / best / 1e6, best * 1e9 / (double)comm.record_count,
           best_decode * 1e9 / (double)comm.record_count, accesses, source.chunk_count,
           (double)comm.peak_shadow_bytes / 1e6, (double)comm.peak_set_bytes / 1e6,
           comm.total.received_transfers, comm.total.received_bytes);
    fflush(stdout);
    cts_comm_release(&comm);
    cts_acc_close(reader);
    char command[4200];
    snprintf(command, sizeof command, "rm -r '%s'", path);
    if (system(command)) perror(path);
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
