/* The communication analysis on programs whose answer is a formula, through real run directories:
 * recorded with the collector, read with the catalogue's and the access files' readers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyze/communication/communication.h"
#include "trace/write/collector.h"
#include "report/comm.h"
#include "trace/acc.h"

enum { LOAD = 0, STORE = 1, ATOMIC = 2, LOAD_WIDE = 3 }; /* sites; widths 4, 4, 4, 16 */
enum { BUFFER_A = 0x10000000, BUFFER_B = 0x20000000 };

/* ---- a run being recorded ---- */

struct recording {
    char path[64];
    struct cts_collector *collector;
    struct cts_catalogue_writer *catalogue;
    struct cts_stream *stream;
    uint32_t kernel, site;
    uint32_t streams[3]; /* legacy default, non-blocking, non-blocking */
    uint64_t now_ns;
};

static void expect_ok(enum cts_status status, const struct cts_error *error)
{
    if (status) fail_msg("%s", error->text);
}

static void start(struct recording *r)
{
    struct cts_error error = {0};
    *r = (struct recording){.path = "/tmp/ctascope-comm-XXXXXX", .now_ns = 1000};
    assert_non_null(mkdtemp(r->path));
    const struct cts_collector_options options = {.run_path = r->path};
    expect_ok(cts_collector_open(&options, &r->collector, &error), &error);
    expect_ok(cts_collector_stream(r->collector, &r->stream, &error), &error);
    r->catalogue = cts_collector_catalogue(r->collector);
    const uint32_t module = cts_catalogue_reserve(r->catalogue, CTS_ID_MODULE, 1);
    cts_catalogue_add_module(r->catalogue, &(struct cts_module){.module = module, .name = "m"});
    r->kernel = cts_catalogue_reserve(r->catalogue, CTS_ID_KERNEL, 2);
    for (uint32_t i = 0; i < 2; i++)
        cts_catalogue_add_kernel(r->catalogue, &(struct cts_kernel){.kernel = r->kernel + i,
                                                                    .module = module,
                                                                    .name = i ? "second" : "first",
                                                                    .source = CTS_NONE,
                                                                    .instrumented = true});
    static const uint8_t operations[] = {CTS_LOAD, CTS_STORE, CTS_ATOMIC_ADD, CTS_LOAD};
    static const uint32_t widths[] = {4, 4, 4, 16};
    r->site = cts_catalogue_reserve(r->catalogue, CTS_ID_SITE, 4);
    for (uint32_t i = 0; i < 4; i++)
        cts_catalogue_add_site(r->catalogue, &(struct cts_site){.site = r->site + i,
                                                                .module = module,
                                                                .operation = operations[i],
                                                                .space = CTS_SPACE_GLOBAL,
                                                                .width_bytes = widths[i],
                                                                .source = CTS_NONE});
    const uint32_t first = cts_catalogue_reserve(r->catalogue, CTS_ID_STREAM, 3);
    for (uint32_t i = 0; i < 3; i++) {
        r->streams[i] = first + i;
        cts_catalogue_add_stream(
            r->catalogue, &(struct cts_cuda_stream){.stream = first + i,
                                                    .kind = i ? "non-blocking" : "legacy default",
                                                    .destroyed_op = UINT64_MAX});
    }
}

/* Begins a launch of `ctas` CTAs; its records follow. */
static uint32_t begin_launch(struct recording *r, unsigned stream, uint32_t kernel, uint32_t ctas)
{
    const uint32_t launch = cts_catalogue_reserve(r->catalogue, CTS_ID_LAUNCH, 1);
    cts_catalogue_add_launch(r->catalogue,
                             &(struct cts_launch){.launch = launch,
                                                  .op = cts_catalogue_next_op(r->catalogue),
                                                  .stream = r->streams[stream],
                                                  .kernel = r->kernel + kernel,
                                                  .grid = {ctas, 1, 1},
                                                  .block = {32, 1, 1},
                                                  .recorded = "all",
                                                  .call_ns = r->now_ns,
                                                  .start_ns = r->now_ns + 1,
                                                  .end_ns = r->now_ns + 2});
    r->now_ns += 10;
    return launch;
}

/* One warp record: lane l of `lanes` at address + l * stride. */
static void touch(struct recording *r, uint32_t site, uint64_t address, int64_t stride,
                  unsigned lanes)
{
    uint64_t addresses[CTS_WARP_LANES];
    for (unsigned i = 0; i < lanes; i++) addresses[i] = address + (uint64_t)(stride * (int)i);
    const uint32_t mask = lanes == 32 ? UINT32_MAX : (1u << lanes) - 1;
    cts_stream_add(r->stream, &(struct cts_stream_row){.site = r->site + site,
                                                       .space = CTS_SPACE_GLOBAL,
                                                       .warp = 0,
                                                       .mask = mask,
                                                       .addresses = addresses,
                                                       .value_words = 0,
                                                       .values = NULL});
}

static void copy(struct recording *r, const char *kind, uint64_t to, uint64_t from, uint64_t bytes)
{
    const uint32_t id = cts_catalogue_reserve(r->catalogue, CTS_ID_COPY, 1);
    cts_catalogue_add_copy(r->catalogue,
                           &(struct cts_copy){.copy = id,
                                              .op = cts_catalogue_next_op(r->catalogue),
                                              .stream = r->streams[0],
                                              .kind = kind,
                                              .destination = to,
                                              .source = from,
                                              .width_bytes = bytes,
                                              .height = 1,
                                              .depth = 1,
                                              .destination_pitch = bytes,
                                              .source_pitch = bytes,
                                              .destination_slice = bytes,
                                              .source_slice = bytes,
                                              .start_ns = r->now_ns,
                                              .end_ns = r->now_ns + 1});
    r->now_ns += 10;
}

/* ---- a run being analysed ---- */

struct analysis {
    struct cts_catalogue catalogue;
    struct cts_acc_reader *reader;
    struct cts_comm comm;
};

static void analyse(struct recording *r, const struct cts_comm_options *options, struct analysis *a)
{
    struct cts_error error = {0};
    cts_stream_flush(r->stream);
    expect_ok(cts_collector_close(r->collector, &error), &error);
    expect_ok(cts_catalogue_read(r->path, &a->catalogue, &error), &error);
    expect_ok(cts_acc_open(r->path, &a->reader, &error), &error);
    const struct cts_access_source source = cts_access_source_of(a->reader);
    expect_ok(cts_comm_analyze(&a->catalogue, &source, options, &a->comm, &error), &error);
}

static void finish(struct recording *r, struct analysis *a)
{
    char command[100];
    cts_comm_release(&a->comm);
    cts_acc_close(a->reader);
    cts_catalogue_release(&a->catalogue);
    snprintf(command, sizeof command, "rm -r '%s'", r->path);
    assert_int_equal(system(command), 0);
}

static const struct cts_comm_options everything = {
    .keep_ctas = true, .keep_transfers = true, .top_count = 4, .threads = 2};

/* ---- a stencil in ping-pong ---- */

enum { SIDE = 64, TILE = 16, TILES = SIDE / TILE, STEPS = 5 };

static void record_tile(struct recording *r, unsigned step, unsigned tile_x, unsigned tile_y)
{
    const uint64_t from = step & 1 ? BUFFER_B : BUFFER_A, to = step & 1 ? BUFFER_A : BUFFER_B;
    static const int dx[] = {0, -1, 1, 0, 0}, dy[] = {0, 0, 0, -1, 1};
    for (unsigned row = 0; row < TILE; row++) {
        const int y = (int)(tile_y * TILE + row);
        for (unsigned k = 0; k < 5; k++) {
            const int at_y = y + dy[k];
            int first = (int)(tile_x * TILE) + dx[k], last = first + TILE - 1;
            if (first < 0) first = 0;
            if (last >= SIDE) last = SIDE - 1;
            if (at_y < 0 || at_y >= SIDE) continue;
            touch(r, LOAD, from + 4 * (uint64_t)(at_y * SIDE + first), 4,
                  (unsigned)(last - first + 1));
        }
        touch(r, STORE, to + 4 * (uint64_t)(y * SIDE + (int)(tile_x * TILE)), 4, TILE);
    }
}

static void a_stencil_exchanges_its_halos(void **state)
{
    (void)state;
    struct recording r;
    struct analysis a;
    start(&r);
    for (unsigned step = 0; step < STEPS; step++) {
        const uint32_t launch = begin_launch(&r, 0, 0, TILES * TILES);
        for (unsigned tile = 0; tile < TILES * TILES; tile++) {
            cts_stream_begin_cta(r.stream, launch, tile);
            record_tile(&r, step, tile % TILES, tile / TILES);
            cts_stream_end_cta(r.stream);
        }
        cts_stream_flush(r.stream);
    }
    analyse(&r, &everything, &a);
    const struct cts_comm *const c = &a.comm;
    const uint64_t cells = SIDE * SIDE, tiles = TILES * TILES;
    const uint64_t borders = 4 * TILES * (TILES - 1); /* a tile and a neighbour */
    const uint64_t reads = 5 * cells - 4 * SIDE;      /* loads of a step */
    assert_false(c->lower_bound);
    assert_int_equal(c->unordered_pairs, 0);
    assert_int_equal(c->total.global_load_accesses, STEPS * reads);
    assert_int_equal(c->total.global_load_bytes, STEPS * reads * 4);
    assert_int_equal(c->total.global_store_accesses, STEPS * cells);
    assert_int_equal(c->total.global_written_unique_bytes, STEPS * cells * 4);
    assert_int_equal(c->total.global_read_unique_bytes, STEPS * 4 * (cells + borders * TILE));
    assert_int_equal(c->total.received_bytes, (STEPS - 1) * 4 * (cells + borders * TILE));
    assert_int_equal(c->total.received_access_bytes, (STEPS - 1) * reads * 4);
    assert_int_equal(c->total.received_accesses, (STEPS - 1) * reads);
    assert_int_equal(c->total.communicated_out_bytes, (STEPS - 1) * cells * 4);
    assert_int_equal(c->total.conflict_bytes, 0);
    assert_int_equal(c->transfer_count, (STEPS - 1) * (tiles + borders));
    assert_int_equal(c->transfer_size_count, 2);
    assert_int_equal(c->transfer_sizes[0].key, TILE * 4);
    assert_int_equal(c->transfer_sizes[0].value, (STEPS - 1) * borders);
    assert_int_equal(c->transfer_sizes[1].key, TILE * TILE * 4);
    assert_int_equal(c->transfer_sizes[1].value, (STEPS - 1) * tiles);
    for (unsigned i = 0; i < STEPS; i++) {
        const struct cts_comm_degree *const in = &c->launches[i].in_degree;
        const struct cts_comm_degree *const out = &c->launches[i].out_degree;
        assert_int_equal(in->sum, i ? tiles + borders : 0);
        assert_int_equal(in->smallest, i ? 3 : 0); /* itself and the neighbours of a corner */
        assert_int_equal(in->largest, i ? 5 : 0);
        assert_int_equal(out->sum, i < STEPS - 1 ? tiles + borders : 0);
        assert_int_equal(out->largest, i < STEPS - 1 ? 5 : 0);
    }
    assert_int_equal(c->kernel_pair_count, 1);
    assert_int_equal(c->kernel_pairs[0].bytes, c->total.received_bytes);
    assert_int_equal(c->launch_pair_count, STEPS - 1);
    finish(&r, &a);
}

/* ---- all to all, and a two-step histogram ---- */

static void all_ctas_read_from_all(void **state)
{
    (void)state;
    enum { CTAS = 9, BYTES = 128 };
    struct recording r;
    struct analysis a;
    start(&r);
    const uint32_t write = begin_launch(&r, 0, 0, CTAS);
    for (unsigned cta = 0; cta < CTAS; cta++) {
        cts_stream_begin_cta(r.stream, write, cta);
        touch(&r, STORE, BUFFER_A + cta * BYTES, 4, 32);
        cts_stream_end_cta(r.stream);
    }
    cts_stream_flush(r.stream);
    const uint32_t read = begin_launch(&r, 0, 1, CTAS);
    for (unsigned cta = 0; cta < CTAS; cta++) {
        cts_stream_begin_cta(r.stream, read, cta);
        for (unsigned i = 0; i < CTAS * BYTES; i += 4) /* every lane reads each body */
            touch(&r, LOAD, BUFFER_A + i, 0, 32);
        cts_stream_end_cta(r.stream);
    }
    analyse(&r, &everything, &a);
    const struct cts_comm *const c = &a.comm;
    assert_int_equal(c->transfer_count, CTAS * CTAS);
    for (unsigned i = 0; i < CTAS * CTAS; i++) {
        assert_int_equal(c->transfers[i].reader_cta, i / CTAS);
        assert_int_equal(c->transfers[i].writer_cta, i % CTAS);
        assert_int_equal(c->transfers[i].bytes, BYTES);
        assert_int_equal(c->transfers[i].access_bytes, BYTES * 32);
        assert_int_equal(c->transfers[i].accesses, BYTES / 4 * 32);
    }
    assert_int_equal(c->total.communicated_out_bytes, CTAS * BYTES);
    assert_int_equal(c->total.sent_bytes, CTAS * CTAS * BYTES);
    assert_int_equal(c->launches[1].in_degree.smallest, CTAS);
    assert_int_equal(c->launches[0].out_degree.largest, CTAS);
    assert_true(cts_comm_degree_mean(&c->launches[1].in_degree) == CTAS);
    assert_true(cts_comm_degree_deviation(&c->launches[1].in_degree) == 0);
    finish(&r, &a);
}

static void a_histogram_gathers(void **state)
{
    (void)state;
    enum { PARTS = 12, BINS = 64 };
    struct recording r;
    struct analysis a;
    start(&r);
    const uint32_t parts = begin_launch(&r, 0, 0, PARTS);
    for (unsigned cta = 0; cta < PARTS; cta++) {
        cts_stream_begin_cta(r.stream, parts, cta);
        for (unsigned bin = 0; bin < BINS; bin += 32)
            touch(&r, STORE, BUFFER_A + 4 * (cta * BINS + bin), 4, 32);
        cts_stream_end_cta(r.stream);
    }
    cts_stream_flush(r.stream);
    const uint32_t merge = begin_launch(&r, 0, 1, BINS);
    for (unsigned bin = 0; bin < BINS; bin++) {
        cts_stream_begin_cta(r.stream, merge, bin);
        touch(&r, LOAD, BUFFER_A + 4 * bin, 4 * BINS, PARTS);
        touch(&r, STORE, BUFFER_B + 4 * bin, 0, 1);
        cts_stream_end_cta(r.stream);
    }
    analyse(&r, &everything, &a);
    const struct cts_comm *const c = &a.comm;
    assert_int_equal(c->transfer_count, PARTS * BINS);
    assert_int_equal(c->transfer_size_count, 1);
    assert_int_equal(c->transfer_sizes[0].key, 4);
    assert_int_equal(c->launches[1].in_degree.smallest, PARTS);
    assert_int_equal(c->launches[0].out_degree.smallest, BINS);
    assert_int_equal(c->total.communicated_out_bytes, 4 * PARTS * BINS);
    assert_int_equal(cts_comm_ratio_written(&c->total), 4 * PARTS * BINS + 4 * BINS);
    finish(&r, &a);
}

/* ---- who writes what ---- */

/* One CTA's record in a launch of its own grid. */
static void cta_access(struct recording *r, uint32_t launch, uint32_t cta, uint32_t site,
                       uint64_t address, unsigned lanes)
{
    cts_stream_begin_cta(r->stream, launch, cta);
    touch(r, site, address, 4, lanes);
    cts_stream_end_cta(r->stream);
}

static void conflicts_are_told_from_atomics(void **state)
{
    (void)state;
    struct recording r;
    struct analysis a;
    start(&r);
    uint32_t launch = begin_launch(&r, 0, 0, 3);
    for (uint32_t cta = 0; cta < 3; cta++) {
        cts_stream_begin_cta(r.stream, launch, cta);
        touch(&r, ATOMIC, BUFFER_A, 4, 8);                   /* 32 bytes, all atomic */
        touch(&r, STORE, BUFFER_A + 100 + 40 * cta, 4, 11);  /* neighbours share one word */
        if (cta == 0) touch(&r, STORE, BUFFER_A + 28, 4, 1); /* spoils the last word */
        cts_stream_end_cta(r.stream);
    }
    cts_stream_flush(r.stream);
    launch = begin_launch(&r, 0, 1, 1);
    cta_access(&r, launch, 0, LOAD, BUFFER_A + 140, 1);
    analyse(&r, &everything, &a);
    assert_int_equal(a.comm.total.atomic_shared_bytes, 28);
    assert_int_equal(a.comm.total.conflict_bytes, 4 + 2 * 4);
    assert_int_equal(a.comm.transfer_count, 1);
    assert_int_equal(a.comm.transfers[0].writer_cta, 1); /* the higher of 0 and 1 */
    assert_int_equal(a.comm.total.global_written_unique_bytes, 3 * (32 + 44));
    finish(&r, &a);
}

static void copies_carry_writers_and_the_host_is_one(void **state)
{
    (void)state;
    struct recording r;
    struct analysis a;
    start(&r);
    copy(&r, "HtoD", BUFFER_A, 0x1000, 256);
    uint32_t launch = begin_launch(&r, 0, 0, 1);
    cta_access(&r, launch, 0, LOAD, BUFFER_A, 32); /* from the host */
    cta_access(&r, launch, 0, STORE, BUFFER_A, 16);
    cts_stream_flush(r.stream);
    copy(&r, "DtoD", BUFFER_B, BUFFER_A, 128); /* half a kernel's, half the host's */
    copy(&r, "memset", BUFFER_A, 0, 256);
    launch = begin_launch(&r, 0, 1, 1);
    cta_access(&r, launch, 0, LOAD, BUFFER_B, 32);
    cts_stream_flush(r.stream);
    copy(&r, "DtoH", 0x1000, BUFFER_B, 128);
    analyse(&r, &everything, &a);
    const struct cts_comm_counts *const t = &a.comm.total;
    assert_int_equal(t->from_host_bytes, 128 + 64);
    assert_int_equal(t->received_bytes, 64);
    assert_int_equal(t->communicated_out_bytes, 64);
    assert_int_equal(t->host_read_bytes, 64);
    assert_int_equal(a.comm.carried_bytes, 64);
    assert_int_equal(t->from_nobody_bytes, 0);
    finish(&r, &a);
}

/* A copy onto its own source, with more changes of writer than are carried at a time. */
static void an_overlapping_copy_reads_before_it_writes(void **state)
{
    (void)state;
    enum { WORDS = 10240 };
    struct recording r;
    struct analysis a;
    start(&r);
    uint32_t launch = begin_launch(&r, 0, 0, 2);
    for (uint32_t cta = 0; cta < 2; cta++) {
        cts_stream_begin_cta(r.stream, launch, cta);
        for (unsigned i = 0; i < WORDS; i += 64) touch(&r, STORE, BUFFER_A + 4 * (i + cta), 8, 32);
        cts_stream_end_cta(r.stream);
    }
    cts_stream_flush(r.stream);
    copy(&r, "DtoD", BUFFER_A + 4, BUFFER_A, 4 * (WORDS - 1));
    launch = begin_launch(&r, 0, 1, 1);
    cts_stream_begin_cta(r.stream, launch, 0);
    for (unsigned i = 0; i < WORDS; i += 32) touch(&r, LOAD, BUFFER_A + 4 * i, 4, 32);
    cts_stream_end_cta(r.stream);
    analyse(&r, &everything, &a);
    assert_int_equal(a.comm.transfer_count, 2);
    assert_int_equal(a.comm.transfers[0].bytes, 4 * (WORDS / 2 + 1)); /* word 0 and all odd ones */
    assert_int_equal(a.comm.transfers[1].bytes, 4 * (WORDS / 2 - 1));
    finish(&r, &a);
}

static void the_paper_model_has_no_copies(void **state)
{
    (void)state;
    struct recording r;
    struct analysis a;
    struct cts_comm_options options = everything;
    options.paper_model = true;
    start(&r);
    uint32_t launch = begin_launch(&r, 0, 0, 1);
    cta_access(&r, launch, 0, STORE, BUFFER_A, 16);
    cts_stream_flush(r.stream);
    copy(&r, "memset", BUFFER_A, 0, 256);
    launch = begin_launch(&r, 0, 1, 1);
    cta_access(&r, launch, 0, LOAD, BUFFER_A, 32);
    analyse(&r, &options, &a);
    assert_int_equal(a.comm.total.received_bytes, 64);
    assert_int_equal(a.comm.total.from_host_bytes, 64);
    finish(&r, &a);
}

static void freed_memory_has_no_writers(void **state)
{
    (void)state;
    struct recording r;
    struct analysis a;
    start(&r);
    const uint32_t id = cts_catalogue_reserve(r.catalogue, CTS_ID_ALLOCATION, 1);
    struct cts_allocation row = {.allocation = id,
                                 .op = cts_catalogue_next_op(r.catalogue),
                                 .freed_op = UINT64_MAX,
                                 .address = BUFFER_A,
                                 .size_bytes = 64,
                                 .kind = "device",
                                 .call = "cudaMalloc",
                                 .path = NULL};
    cts_catalogue_add_allocation(r.catalogue, &row);
    uint32_t launch = begin_launch(&r, 0, 0, 1);
    cta_access(&r, launch, 0, STORE, BUFFER_A, 32);
    cts_stream_flush(r.stream);
    cts_catalogue_free_allocation(r.catalogue, id, cts_catalogue_next_op(r.catalogue));
    launch = begin_launch(&r, 0, 1, 1);
    cta_access(&r, launch, 0, LOAD, BUFFER_A, 32);
    analyse(&r, &everything, &a);
    assert_int_equal(a.comm.total.from_nobody_bytes, 64);
    assert_int_equal(a.comm.total.received_bytes, 64);
    finish(&r, &a);
}

static void a_cta_that_stores_first_is_told(void **state)
{
    (void)state;
    struct recording r;
    struct analysis a;
    start(&r);
    uint32_t launch = begin_launch(&r, 0, 0, 1);
    cta_access(&r, launch, 0, STORE, BUFFER_A, 32);
    cts_stream_flush(r.stream);
    launch = begin_launch(&r, 0, 1, 1);
    cts_stream_begin_cta(r.stream, launch, 0);
    touch(&r, LOAD, BUFFER_A, 4, 8); /* 32 bytes read before */
    touch(&r, STORE, BUFFER_A, 4, 16);
    touch(&r, LOAD_WIDE, BUFFER_A, 16, 8);
    cts_stream_end_cta(r.stream);
    analyse(&r, &everything, &a);
    assert_int_equal(a.comm.total.received_bytes, 128);
    assert_int_equal(a.comm.total.own_write_first_bytes, 32);
    assert_int_equal(a.comm.total.received_accesses, 16);
    finish(&r, &a);
}

/* ---- soundness ---- */

static void unordered_launches_are_counted(void **state)
{
    (void)state;
    struct recording r;
    struct analysis a;
    start(&r);
    uint32_t launch = begin_launch(&r, 1, 0, 1);
    cta_access(&r, launch, 0, STORE, BUFFER_A, 32);
    cts_stream_flush(r.stream);
    launch = begin_launch(&r, 2, 1, 1);
    cta_access(&r, launch, 0, LOAD, BUFFER_A, 32);
    cts_stream_flush(r.stream);
    cts_catalogue_add_sync(r.catalogue, &(struct cts_sync){.op = cts_catalogue_next_op(r.catalogue),
                                                           .kind = "device sync",
                                                           .stream = CTS_NONE,
                                                           .start_ns = 1,
                                                           .end_ns = 2});
    launch = begin_launch(&r, 1, 1, 1);
    cta_access(&r, launch, 0, LOAD, BUFFER_A, 16);
    analyse(&r, &everything, &a);
    assert_int_equal(a.comm.unordered_pairs, 1);
    assert_int_equal(a.comm.unordered_transfers, 1);
    assert_int_equal(a.comm.unordered_bytes, 128);
    assert_true(a.comm.launch_pairs[0].unordered);
    assert_false(a.comm.launch_pairs[1].unordered);
    finish(&r, &a);
}

static void what_is_missing_makes_a_lower_bound(void **state)
{
    (void)state;
    struct recording r;
    struct analysis a;
    start(&r);
    const uint32_t launch = begin_launch(&r, 0, 0, 4);
    cta_access(&r, launch, 1, LOAD, BUFFER_A, 32);
    cts_stream_flush(r.stream);
    const uint32_t skipped = cts_catalogue_reserve(r.catalogue, CTS_ID_LAUNCH, 1);
    cts_catalogue_add_launch(r.catalogue,
                             &(struct cts_launch){.launch = skipped,
                                                  .op = cts_catalogue_next_op(r.catalogue),
                                                  .stream = r.streams[0],
                                                  .kernel = r.kernel,
                                                  .grid = {4, 1, 1},
                                                  .block = {32, 1, 1},
                                                  .recorded = "none",
                                                  .end_ns = 5000});
    analyse(&r, &everything, &a);
    assert_true(a.comm.lower_bound);
    assert_int_equal(a.comm.unrecorded_launches, 1);
    assert_int_equal(a.comm.node_count, 4);
    assert_false(a.comm.launches[1].counted);
    assert_int_equal(a.comm.launches[1].in_degree.cta_count, 0);
    finish(&r, &a);
}

/* ---- renderers ---- */

static void all_forms_say_the_same(void **state)
{
    (void)state;
    struct recording r;
    struct analysis a;
    char *text = NULL;
    size_t size = 0;
    struct cts_error error = {0};
    start(&r);
    uint32_t launch = begin_launch(&r, 0, 0, 2);
    cta_access(&r, launch, 0, STORE, BUFFER_A, 32);
    cta_access(&r, launch, 1, STORE, BUFFER_A + 128, 32);
    cts_stream_flush(r.stream);
    launch = begin_launch(&r, 0, 1, 1);
    cta_access(&r, launch, 0, LOAD, BUFFER_A + 64, 32);
    analyse(&r, &everything, &a);
    const struct cts_comm_report report = {
        .run_path = "r", .catalogue = &a.catalogue, .comm = &a.comm};
    const struct cts_sheet sheet = cts_comm_sheet_of(&report, CTS_COMM_SHEET_TRANSFER);
    const struct cts_sheet_choice choice = {.sort = "-writer_cta"};
    struct cts_sheet_rows rows;
    expect_ok(cts_sheet_choose(&sheet, &choice, &rows, &error), &error);
    FILE *file = open_memstream(&text, &size);
    expect_ok(cts_sheet_csv(&sheet, &rows, file, &error), &error);
    expect_ok(cts_sheet_table(&sheet, &rows, file, &error), &error);
    fclose(file);
    free(rows.rows);
    assert_string_equal(text,
                        "writer_launch,writer_kernel,writer_cta,reader_launch,reader_kernel,"
                        "reader_cta,bytes,access_bytes,accesses\n"
                        "0,first,0,1,second,0,64,64,16\n"
                        "0,first,1,1,second,0,64,64,16\n"
                        "  from launch  kernel  CTA  to launch  kernel  CTA  bytes  accesses\n"
                        "            0  first     0          1  second    0   64 B        16\n"
                        "            0  first     1          1  second    0   64 B        16\n");
    free(text);
    file = open_memstream(&text, &size);
    const struct cts_sheet_choice plain = {0};
    expect_ok(
        cts_comm_print_json(&report, &(struct cts_comm_lists){true, true, &plain}, file, &error),
        &error);
    fclose(file);
    assert_non_null(strstr(text, "\"communicated_out_bytes\": 128"));
    assert_non_null(strstr(text, "\"writer_cta\": 1, \"reader_launch\": 1"));
    assert_non_null(strstr(text, "\"transfers_left_out\": 0"));
    free(text);
    const struct cts_sheet_choice wrong = {.sort = "size"};
    assert_int_equal(cts_sheet_choose(&sheet, &wrong, &rows, &error), CTS_USAGE);
    assert_non_null(strstr(error.text, "unknown column 'size' of 'transfers'"));
    finish(&r, &a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stencil_exchanges_its_halos),
        cmocka_unit_test(all_ctas_read_from_all),
        cmocka_unit_test(a_histogram_gathers),
        cmocka_unit_test(conflicts_are_told_from_atomics),
        cmocka_unit_test(copies_carry_writers_and_the_host_is_one),
        cmocka_unit_test(an_overlapping_copy_reads_before_it_writes),
        cmocka_unit_test(the_paper_model_has_no_copies),
        cmocka_unit_test(freed_memory_has_no_writers),
        cmocka_unit_test(a_cta_that_stores_first_is_told),
        cmocka_unit_test(unordered_launches_are_counted),
        cmocka_unit_test(what_is_missing_makes_a_lower_bound),
        cmocka_unit_test(all_forms_say_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
