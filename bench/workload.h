/* Runs for benches to analyse: what kernels on a grid of side x side threads record, made through a
 * collector, so that the access files are real ones. Thread (x, y) works on element y * side + x of
 * arrays of 4-byte elements. Sites 0 to 4 load, site 5 stores. */
#ifndef CTS_BENCH_WORKLOAD_H
#define CTS_BENCH_WORKLOAD_H

#include "analyze/access-source.h"
#include "bench.h"
#include "trace/write/collector.h"
#include "trace/acc.h"
#include "trace/catalogue.h"

enum { WARP = 32, SITES = 6, LAUNCHES_MAX = 1000, FILES_MAX = 64 };

static const uint64_t buffers[3] = {0x7f0000000000, 0x7f1000000000, 0x7f2000000000};

/* One warp of one launch. */
struct warp {
    struct cts_stream *stream;
    unsigned launch;
    uint16_t warp; /* in its CTA */
    uint32_t x[WARP], y[WARP], side;
};

struct workload {
    const char *name;
    unsigned block_x, block_y, launches;
    void (*record)(const struct warp *warp);
};

static inline void add(const struct warp *w, uint32_t site, uint32_t mask, uint64_t addresses[WARP])
{
    if (mask)
        cts_stream_add(w->stream, &(struct cts_stream_row){.site = site,
                                                           .space = CTS_SPACE_GLOBAL,
                                                           .warp = w->warp,
                                                           .mask = mask,
                                                           .addresses = addresses,
                                                           .value_words = 0,
                                                           .values = NULL});
}

/* Every thread its own element. */
static inline void one_each(const struct warp *w, uint32_t site, uint64_t buffer)
{
    uint64_t addresses[WARP];
    for (unsigned lane = 0; lane < WARP; lane++)
        addresses[lane] = buffer + ((uint64_t)w->y[lane] * w->side + w->x[lane]) * 4;
    add(w, site, UINT32_MAX, addresses);
}

/* 5 points, ping-pong between two buffers. */
static inline void stencil(const struct warp *w)
{
    static const int dx[] = {0, -1, 1, 0, 0}, dy[] = {0, 0, 0, -1, 1};
    const uint64_t from = buffers[w->launch & 1], to = buffers[~w->launch & 1];
    uint64_t addresses[WARP];
    for (uint32_t site = 0; site < 5; site++) {
        uint32_t mask = 0;
        for (unsigned lane = 0; lane < WARP; lane++) {
            const uint32_t column = w->x[lane] + (uint32_t)dx[site],
                           row = w->y[lane] + (uint32_t)dy[site];
            if (column >= w->side || row >= w->side) continue;
            mask |= 1u << lane;
            addresses[lane] = from + ((uint64_t)row * w->side + column) * 4;
        }
        add(w, site, mask, addresses);
    }
    one_each(w, 5, to);
}

/* Every thread any element. */
static inline void any_each(const struct warp *w, uint32_t site, uint64_t buffer)
{
    uint64_t addresses[WARP];
    for (unsigned lane = 0; lane < WARP; lane++)
        addresses[lane] = buffer + (uint64_t)random_below(w->side * w->side) * 4;
    add(w, site, UINT32_MAX, addresses);
}

/* ---- a run ---- */

struct run {
    char path[4096];
    struct cts_catalogue catalogue;
    struct cts_launch launches[LAUNCHES_MAX];
    struct cts_site sites[SITES];
    struct cts_acc_reader *reader;
    struct cts_access_source source;
    uint64_t accesses; /* thread accesses */
};

/* CTAs are dealt to the access files in portions, as workers take them. */
static inline void record_launch(const struct workload *workload, struct cts_stream *const *streams,
                                 unsigned stream_count, unsigned launch, uint32_t side)
{
    const uint32_t grid_x = side / workload->block_x, grid_y = side / workload->block_y;
    const unsigned threads = workload->block_x * workload->block_y;
    for (uint32_t cta = 0; cta < grid_x * grid_y; cta++) {
        struct warp w = {
            .stream = streams[cta / 64 % stream_count], .launch = launch, .side = side};
        cts_stream_begin_cta(w.stream, launch, cta);
        for (unsigned first = 0; first < threads; first += WARP) {
            w.warp = (uint16_t)(first / WARP);
            for (unsigned lane = 0; lane < WARP; lane++) {
                w.x[lane] = cta % grid_x * workload->block_x + (first + lane) % workload->block_x;
                w.y[lane] = cta / grid_x * workload->block_y + (first + lane) / workload->block_x;
            }
            workload->record(&w);
        }
        cts_stream_end_cta(w.stream);
    }
    for (unsigned i = 0; i < stream_count; i++) cts_stream_flush(streams[i]);
}

/* Records into a new directory below `directory`, with so many access files, and opens it. */
static inline void make_run(struct run *run, const struct workload *workload, const char *directory,
                            unsigned files, uint32_t side)
{
    struct cts_error error;
    struct cts_collector *collector;
    struct cts_stream *streams[FILES_MAX];
    snprintf(run->path, sizeof run->path, "%s/bench-XXXXXX", directory);
    if (!mkdtemp(run->path)) perror(run->path), exit(1);
    const struct cts_collector_options options = {.run_path = run->path};
    if (cts_collector_open(&options, &collector, &error)) stop(&error);
    for (unsigned i = 0; i < files; i++)
        if (cts_collector_stream(collector, &streams[i], &error)) stop(&error);
    for (unsigned i = 0; i < SITES; i++)
        run->sites[i] = (struct cts_site){.site = i,
                                          .operation = i < 5 ? CTS_LOAD : CTS_STORE,
                                          .space = CTS_SPACE_GLOBAL,
                                          .width_bytes = 4};
    for (unsigned i = 0; i < workload->launches; i++) {
        run->launches[i] =
            (struct cts_launch){.launch = i,
                                .op = i,
                                .grid = {side / workload->block_x, side / workload->block_y, 1},
                                .block = {workload->block_x, workload->block_y, 1},
                                .recorded = "all",
                                .start_ns = 1 + i,
                                .end_ns = 2 + i};
        record_launch(workload, streams, files, i, side);
    }
    if (cts_collector_close(collector, &error)) stop(&error);
    run->catalogue = (struct cts_catalogue){.launches = run->launches,
                                            .launch_count = workload->launches,
                                            .sites = run->sites,
                                            .site_count = SITES};
    if (cts_acc_open(run->path, &run->reader, &error)) stop(&error);
    run->source = cts_access_source_of(run->reader);
    run->accesses = 0;
    for (size_t i = 0; i < run->source.chunk_count; i++)
        run->accesses += run->source.chunks[i].access_count;
}

static inline void drop_run(struct run *run)
{
    char command[4200];
    cts_acc_close(run->reader);
    snprintf(command, sizeof command, "rm -r '%s'", run->path);
    if (system(command)) perror(run->path);
}

#endif
