/* The communication analysis against a brute-force twin on random small programs.
 *
 * The twin knows nothing of intervals, shadow memory or clocks: it keeps one entry per byte and one
 * list per CTA of thread accesses, orders supersteps by reachability in a graph of host and stream
 * nodes, and is written from docs/communication.md alone. Every number of the result must agree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/communication/communication.h"

enum {
    REGION_BYTES = 1200, /* of global memory that programs use */
    SPACE_BYTES = 256,   /* of shared, constant and local memory */
    THREADS = 64,        /* two warps */
    CALLS_MAX = 40,
    STREAMS_MAX = 4,
    ALLOCATIONS_MAX = 6,
    CTAS_MAX = 6,
    RECORDS_MAX = 24,
    SITES = 24,
    NODES_MAX = CALLS_MAX * CTAS_MAX,
    CHUNKS_MAX = CALLS_MAX * CTAS_MAX * 4,
    KERNELS = 3,
    PROGRAMS = 1000,
};
/* The region lies across the border of a 2 MiB block, and so of a page. */
static const uint64_t region = UINT64_C(0x7f0000200000) - 500;

/* ---- random numbers ---- */

static uint64_t random_state;

static uint64_t random_u64(void)
{
    random_state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = random_state;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static unsigned below(unsigned limit)
{
    return (unsigned)(random_u64() % limit);
}

static bool chance(unsigned percent)
{
    return below(100) < percent;
}

/* ---- a program ---- */

struct record {
    uint32_t site, mask, offsets[32];
    uint16_t warp;
    uint8_t space, pattern, row_lanes;
    int32_t s0, s1;
    uint64_t base;
};

struct cta {
    struct record records[RECORDS_MAX];
    unsigned record_count;
    unsigned file;
};

struct kernel_launch {
    struct cta ctas[CTAS_MAX];
    unsigned cta_count;
};

struct chunk_record {
    unsigned cta, record;
};

struct program {
    struct cts_catalogue catalogue;
    struct cts_rank ranks[1];
    struct cts_kernel kernels[KERNELS];
    struct cts_site sites[SITES];
    struct cts_cuda_stream streams[STREAMS_MAX];
    struct cts_launch launches[CALLS_MAX];
    struct kernel_launch bodies[CALLS_MAX]; /* by index of the launch */
    struct cts_copy copies[CALLS_MAX];
    struct cts_sync syncs[CALLS_MAX];
    struct cts_allocation allocations[ALLOCATIONS_MAX];
    struct cts_host_access host_accesses[CALLS_MAX];
    struct cts_acc_chunk chunks[CHUNKS_MAX];
    unsigned chunk_count;
    struct chunk_record contents[CHUNKS_MAX][CTAS_MAX * RECORDS_MAX]; /* by offset_bytes */
    unsigned content_counts[CHUNKS_MAX];
};

static const uint32_t widths[] = {1, 2, 4, 8, 16, 3};

static void make_tables(struct program *p)
{
    struct cts_catalogue *const c = &p->catalogue;
    p->ranks[0] = (struct cts_rank){.end_ns = 1000000};
    for (unsigned i = 0; i < KERNELS; i++)
        p->kernels[i] = (struct cts_kernel){.kernel = i, .name = "k", .instrumented = true};
    for (unsigned i = 0; i < SITES; i++) {
        const unsigned kind = below(100);
        const uint8_t operation = (uint8_t)(kind < 45   ? CTS_LOAD
                                            : kind < 80 ? CTS_STORE
                                                        : CTS_ATOMIC_ADD + below(11));
        p->sites[i] = (struct cts_site){.site = i,
                                        .operation = operation,
                                        .space = (uint8_t)CTS_SPACE_GLOBAL,
                                        .width_bytes = widths[chance(60) ? 2 : below(6)]};
    }
    static const char *const kinds[] = {"legacy default", "blocking", "non-blocking",
                                        "per-thread default"};
    const unsigned stream_count = chance(30) ? 1 : 2 + below(STREAMS_MAX - 1);
    const bool two_devices = chance(15);
    for (unsigned i = 0; i < stream_count; i++)
        p->streams[i] = (struct cts_cuda_stream){.stream = i,
                                                 .device = two_devices ? below(2) : 0,
                                                 .kind = kinds[i == 0 ? 0 : 1 + below(3)],
                                                 .destroyed_op = UINT64_MAX};
    *c = (struct cts_catalogue){.ranks = p->ranks,
                                .rank_count = 1,
                                .kernels = p->kernels,
                                .kernel_count = KERNELS,
                                .sites = p->sites,
                                .site_count = SITES,
                                .streams = p->streams,
                                .stream_count = stream_count,
                                .launches = p->launches,
                                .copies = p->copies,
                                .syncs = p->syncs,
                                .allocations = p->allocations,
                                .host_accesses = p->host_accesses};
}

static uint64_t lane_address(const struct record *r, unsigned lane, unsigned active_before)
{
    switch (r->pattern) {
    case CTS_PATTERN_UNIFORM:
        return r->base;
    case CTS_PATTERN_AFFINE:
        return r->base + (uint64_t)((int64_t)r->s0 * lane);
    case CTS_PATTERN_TWO_LEVEL:
        return r->base + (uint64_t)((int64_t)r->s0 * (lane % r->row_lanes)) +
               (uint64_t)((int64_t)r->s1 * (lane / r->row_lanes));
    default:
        return r->base + r->offsets[active_before];
    }
}

/* Whether all lanes stay in [start, start + size). */
static bool stays_inside(const struct record *r, uint32_t width, uint64_t start, uint64_t size)
{
    unsigned active = 0;
    for (unsigned lane = 0; lane < 32; lane++) {
        if (!(r->mask >> lane & 1)) continue;
        const uint64_t address = lane_address(r, lane, active++);
        if (address < start || address > start + size - width) return false;
    }
    return true;
}

static void make_record(const struct program *p, struct record *r)
{
    *r = (struct record){.site = below(SITES), .warp = (uint16_t)below(THREADS / 32)};
    const uint32_t width = p->sites[r->site].width_bytes;
    r->space = (uint8_t)(chance(80)   ? CTS_SPACE_GLOBAL
                         : chance(60) ? CTS_SPACE_SHARED
                         : chance(50) ? CTS_SPACE_LOCAL
                                      : CTS_SPACE_CONSTANT);
    const bool is_global = r->space == CTS_SPACE_GLOBAL;
    const uint64_t start = is_global ? region : 0, size = is_global ? REGION_BYTES : SPACE_BYTES;
    for (int tries = 0; tries < 20; tries++) {
        const unsigned kind = below(4);
        r->mask = chance(50)   ? UINT32_MAX
                  : chance(50) ? (1u << (1 + below(31))) - 1
                               : (uint32_t)random_u64() | 1u << below(32);
        r->base = start + below((unsigned)(size - width));
        if (chance(80)) r->base -= r->base % width;
        r->pattern = (uint8_t)(tries == 19 ? CTS_PATTERN_UNIFORM : kind);
        if (tries == 19) r->base = start;
        if (kind == CTS_PATTERN_AFFINE || kind == CTS_PATTERN_TWO_LEVEL) {
            const int32_t strides[] = {(int32_t)width, -(int32_t)width, 2 * (int32_t)width, 0,
                                       (int32_t)below(20) - 10};
            r->s0 = strides[chance(60) ? 0 : below(5)];
        }
        if (kind == CTS_PATTERN_TWO_LEVEL) {
            r->row_lanes = (uint8_t)(2 + below(30));
            r->s1 = (int32_t)below(200) - 100;
        }
        for (unsigned i = 0; kind == CTS_PATTERN_LIST && i < 32; i++)
            r->offsets[i] = chance(30) && i ? r->offsets[i - 1] + width : below((unsigned)size / 2);
        if (stays_inside(r, width, start, size)) return;
    }
    fail_msg("no record fits");
}

static void make_launch(struct program *p, uint64_t op, uint64_t start_ns)
{
    struct cts_catalogue *const c = &p->catalogue;
    const unsigned index = (unsigned)c->launch_count++;
    const uint32_t x = 1 + below(3), y = 1 + below(2);
    struct cts_launch *const row = &p->launches[index];
    *row = (struct cts_launch){.launch = 7 * index + 3, /* ids with gaps */
                               .op = op,
                               .stream = below((unsigned)c->stream_count),
                               .kernel = below(KERNELS),
                               .grid = {x, y, 1},
                               .block = {THREADS, 1, 1},
                               .recorded = chance(90)   ? "all"
                                           : chance(50) ? "none"
                                                        : "sample",
                               .start_ns = start_ns,
                               .end_ns = start_ns + 5};
    struct kernel_launch *const body = &p->bodies[index];
    body->cta_count = x * y;
    for (unsigned i = 0; i < body->cta_count; i++) {
        struct cta *const cta = &body->ctas[i];
        cta->file = below(3);
        const bool is_silent = !strcmp(row->recorded, "none") ||
                               (!strcmp(row->recorded, "sample") && chance(50)) || chance(5);
        cta->record_count = is_silent ? 0 : below(chance(10) ? RECORDS_MAX : 9);
        for (unsigned k = 0; k < cta->record_count; k++) make_record(p, &cta->records[k]);
    }
}

static void make_copy(struct program *p, uint64_t op, uint64_t start_ns)
{
    static const char *const kinds[] = {"HtoD", "DtoH", "DtoD", "memset", "PtoP", "HtoH", "DtoD"};
    struct cts_catalogue *const c = &p->catalogue;
    const unsigned index = (unsigned)c->copy_count++;
    struct cts_copy *const row = &p->copies[index];
    *row = (struct cts_copy){.copy = index,
                             .op = op,
                             .stream = below((unsigned)c->stream_count),
                             .kind = kinds[below(7)],
                             .asynchronous = chance(60),
                             .start_ns = start_ns,
                             .end_ns = start_ns + 3,
                             .height = 1,
                             .depth = 1};
    const bool is_flat = chance(50);
    row->width_bytes = 1 + below(is_flat ? 400 : 20);
    if (!is_flat) {
        row->height = 1 + below(6);
        row->depth = 1 + below(3);
    }
    row->destination_pitch = row->width_bytes + (chance(50) ? 0 : below(12));
    row->source_pitch = row->width_bytes + (chance(50) ? 0 : below(12));
    row->destination_slice = row->destination_pitch * row->height + (chance(50) ? 0 : below(9));
    row->source_slice = row->source_pitch * row->height + (chance(50) ? 0 : below(9));
    const uint64_t to = (row->depth - 1) * row->destination_slice +
                        (row->height - 1) * row->destination_pitch + row->width_bytes;
    const uint64_t from = (row->depth - 1) * row->source_slice +
                          (row->height - 1) * row->source_pitch + row->width_bytes;
    row->destination = region + below((unsigned)(REGION_BYTES - to));
    row->source = chance(60) ? region + below((unsigned)(REGION_BYTES - from)) : 0x1000;
    if (!strcmp(row->kind, "DtoH") && chance(70)) row->destination = 0x4000;
    if (row->kind[0] == 'D' || row->kind[0] == 'P')
        row->source = region + below((unsigned)(REGION_BYTES - from));
}

static void make_sync(struct program *p, uint64_t op)
{
    static const char *const kinds[] = {"event record", "event record", "stream wait",
                                        "stream wait",  "event sync",   "stream sync",
                                        "device sync",  "event query",  "stream query"};
    struct cts_catalogue *const c = &p->catalogue;
    struct cts_sync *const row = &p->syncs[c->sync_count++];
    *row = (struct cts_sync){.op = op,
                             .kind = kinds[below(9)],
                             .stream = below((unsigned)c->stream_count),
                             .event = 0x500 + below(3),
                             .result = chance(15) ? 600 : 0};
    if (!strncmp(row->kind, "event s", 7) || !strncmp(row->kind, "event q", 7))
        row->stream = CTS_NONE;
    if (!strcmp(row->kind, "device sync") && chance(50)) row->stream = CTS_NONE;
}

static void make_allocations(struct program *p, unsigned call_count)
{
    static const char *const kinds[] = {"device",  "device", "device",
                                        "managed", "mapped", "pinned"};
    p->catalogue.allocation_count = 1 + below(ALLOCATIONS_MAX);
    for (unsigned i = 0; i < p->catalogue.allocation_count; i++) {
        const unsigned start = below(REGION_BYTES);
        const unsigned op = chance(60) ? 0 : below(2 * call_count);
        p->allocations[i] = (struct cts_allocation){
            .allocation = i,
            .op = op,
            .freed_op = chance(50) ? UINT64_MAX : op + 1 + below(2 * call_count),
            .address = region + start,
            .size_bytes = 1 + below(REGION_BYTES - start),
            .kind = kinds[below(6)]};
    }
}

/* The chunks of one access file of a launch: some cuts through the CTAs' records. Records of a CTA
 * stay together within a chunk and in order over the chunks. */
static void cut_chunks(struct program *p, unsigned launch, unsigned file)
{
    struct kernel_launch *const body = &p->bodies[launch];
    unsigned next[CTAS_MAX] = {0};
    const bool in_order = chance(70);
    for (bool more = true; more;) {
        more = false;
        const unsigned chunk = p->chunk_count;
        unsigned count = 0;
        uint32_t first = UINT32_MAX, last = 0;
        for (unsigned cta = 0; cta < body->cta_count; cta++) {
            if (body->ctas[cta].file != file) continue;
            const unsigned left = body->ctas[cta].record_count - next[cta];
            unsigned take = in_order || chance(50) ? left : below(left + 1);
            if (in_order && chance(25)) take = below(left + 1);
            for (unsigned i = 0; i < take; i++)
                p->contents[chunk][count++] = (struct chunk_record){cta, next[cta]++};
            if (take && cta < first) first = cta;
            if (take && cta > last) last = cta;
            if (next[cta] < body->ctas[cta].record_count) more = true;
            if (in_order && more) break; /* the rest goes on in the next chunk */
        }
        if (!count) continue;
        p->content_counts[chunk] = count;
        p->chunks[chunk] = (struct cts_acc_chunk){.launch = p->launches[launch].launch,
                                                  .file = file,
                                                  .first_cta = first,
                                                  .last_cta = last,
                                                  .offset_bytes = chunk,
                                                  .record_count = count};
        p->chunk_count++;
        assert_true(p->chunk_count < CHUNKS_MAX);
    }
}

static int by_launch_cta_file(const void *left, const void *right)
{
    const struct cts_acc_chunk *const a = left, *const b = right;
    if (a->launch != b->launch) return a->launch < b->launch ? -1 : 1;
    if (a->first_cta != b->first_cta) return a->first_cta < b->first_cta ? -1 : 1;
    if (a->file != b->file) return a->file < b->file ? -1 : 1;
    return (a->offset_bytes > b->offset_bytes) - (a->offset_bytes < b->offset_bytes);
}

static void make_program(struct program *p)
{
    memset(p, 0, offsetof(struct program, contents));
    make_tables(p);
    const unsigned call_count = 4 + below(CALLS_MAX - 4);
    const bool host_accesses = chance(20);
    for (unsigned i = 0; i < call_count; i++) {
        const uint64_t op = 2 * i + 1, start_ns = 1000 + 10 * i + below(60);
        const unsigned kind = below(100);
        if (kind < 45)
            make_launch(p, op, start_ns);
        else if (kind < 65)
            make_copy(p, op, start_ns);
        else if (kind < 90 || !host_accesses)
            make_sync(p, op);
        else {
            const unsigned start = below(REGION_BYTES);
            p->host_accesses[p->catalogue.host_access_count++] =
                (struct cts_host_access){.op = op,
                                         .is_store = chance(50),
                                         .address = region + start,
                                         .size_bytes = 1 + below(REGION_BYTES - start)};
        }
    }
    make_allocations(p, call_count);
    for (unsigned i = 0; i < p->catalogue.launch_count; i++)
        for (unsigned file = 0; file < 3; file++) cut_chunks(p, i, file);
    qsort(p->chunks, p->chunk_count, sizeof *p->chunks, by_launch_cta_file);
}

/* ---- the program as a source of batches ---- */

static enum cts_status read_chunk(const void *state, const struct cts_acc_chunk *chunk,
                                  struct cts_acc_batch *batch, struct cts_error *error)
{
    enum { N = CTAS_MAX * RECORDS_MAX };
    const struct program *const p = state;
    (void)error;
    if (!batch->cta) {
        batch->cta = calloc(N, sizeof *batch->cta);
        batch->site = calloc(N, sizeof *batch->site);
        batch->mask = calloc(N, sizeof *batch->mask);
        batch->warp = calloc(N, sizeof *batch->warp);
        batch->space = calloc(N, sizeof *batch->space);
        batch->pattern = calloc(N, sizeof *batch->pattern);
        batch->row_lanes = calloc(N, sizeof *batch->row_lanes);
        batch->s0 = calloc(N, sizeof *batch->s0);
        batch->s1 = calloc(N, sizeof *batch->s1);
        batch->base = calloc(N, sizeof *batch->base);
        batch->offset_start = calloc(N, sizeof *batch->offset_start);
        batch->value_start = calloc(N, sizeof *batch->value_start);
        batch->offsets = calloc(32 * N, sizeof *batch->offsets);
    }
    unsigned launch = 0;
    while (p->launches[launch].launch != chunk->launch) launch++;
    batch->launch = chunk->launch;
    batch->record_count = p->content_counts[chunk->offset_bytes];
    for (size_t i = 0; i < batch->record_count; i++) {
        const struct chunk_record at = p->contents[chunk->offset_bytes][i];
        const struct record *const r = &p->bodies[launch].ctas[at.cta].records[at.record];
        batch->cta[i] = at.cta;
        batch->site[i] = r->site;
        batch->mask[i] = r->mask;
        batch->warp[i] = r->warp;
        batch->space[i] = r->space;
        batch->pattern[i] = r->pattern;
        batch->row_lanes[i] = r->row_lanes;
        batch->s0[i] = r->s0;
        batch->s1[i] = r->s1;
        batch->base[i] = r->base;
        batch->offset_start[i] = (uint32_t)(32 * i);
        batch->value_start[i] = UINT32_MAX;
        memcpy(batch->offsets + 32 * i, r->offsets, sizeof r->offsets);
    }
    return CTS_OK;
}

static void release_batch(struct cts_acc_batch *batch)
{
    free(batch->cta);
    free(batch->site);
    free(batch->mask);
    free(batch->warp);
    free(batch->space);
    free(batch->pattern);
    free(batch->row_lanes);
    free(batch->s0);
    free(batch->s1);
    free(batch->base);
    free(batch->offset_start);
    free(batch->value_start);
    free(batch->offsets);
}

/* ---- the twin: order ---- */

enum { GRAPH_MAX = 4 * CALLS_MAX };

struct superstep {
    bool is_launch;
    unsigned index; /* in launches or copies */
    uint64_t op, start_ns;
    unsigned node; /* in the graph */
};

struct twin_order {
    bool edge[GRAPH_MAX][GRAPH_MAX]; /* then: reaches */
    struct superstep steps[CALLS_MAX];
    unsigned count;
    unsigned node_of_launch[CALLS_MAX];
    uint64_t unordered_pairs;
};

/* What the host did with number `op`, or NULL. */
static const struct cts_sync *sync_with(const struct program *p, uint64_t op)
{
    for (unsigned i = 0; i < p->catalogue.sync_count; i++)
        if (p->syncs[i].op == op) return &p->syncs[i];
    return NULL;
}

static bool superstep_with(const struct program *p, uint64_t op, struct superstep *step)
{
    for (unsigned i = 0; i < p->catalogue.launch_count; i++)
        if (p->launches[i].op == op) {
            *step = (struct superstep){true, i, op, p->launches[i].start_ns, 0};
            return true;
        }
    for (unsigned i = 0; i < p->catalogue.copy_count; i++)
        if (p->copies[i].op == op) {
            *step = (struct superstep){false, i, op, p->copies[i].start_ns, 0};
            return true;
        }
    return false;
}

/* Node 2k: the host makes call k. Node 2k+1: call k's command runs in its stream. */
static void build_graph(const struct program *p, struct twin_order *o)
{
    int last[STREAMS_MAX] = {-1, -1, -1, -1}, recorded[3] = {-1, -1, -1};
    memset(o, 0, sizeof *o);
    for (unsigned k = 0; k < CALLS_MAX; k++) {
        const uint64_t op = 2 * k + 1;
        const unsigned host = 2 * k, command = 2 * k + 1;
        if (k) o->edge[host - 2][host] = true;
        struct superstep step;
        const struct cts_sync *const sync = sync_with(p, op);
        const bool is_step = superstep_with(p, op, &step);
        unsigned stream = CTS_NONE;
        if (is_step)
            stream = step.is_launch ? p->launches[step.index].stream : p->copies[step.index].stream;
        const bool is_event_command =
            sync && !sync->result &&
            (!strcmp(sync->kind, "event record") || !strcmp(sync->kind, "stream wait"));
        if (is_event_command) stream = sync->stream;
        if (stream != CTS_NONE) {
            o->edge[host][command] = true;
            if (last[stream] >= 0) o->edge[last[stream]][command] = true;
            const struct cts_cuda_stream *const own = &p->streams[stream];
            for (unsigned s = 0; s < p->catalogue.stream_count; s++) {
                const struct cts_cuda_stream *const other = &p->streams[s];
                if (other->device != own->device || last[s] < 0) continue;
                const bool own_waits = own->kind[0] == 'l' && strcmp(other->kind, "non-blocking");
                const bool other_holds = other->kind[0] == 'l' && strcmp(own->kind, "non-blocking");
                if (own_waits || other_holds) o->edge[last[s]][command] = true;
            }
            last[stream] = (int)command;
        }
        if (is_step) {
            step.node = command;
            o->steps[o->count++] = step;
            if (step.is_launch) o->node_of_launch[step.index] = command;
            const struct cts_copy *const copy = &p->copies[step.index];
            if (!step.is_launch && !copy->asynchronous && k + 1 < CALLS_MAX &&
                (!strcmp(copy->kind, "HtoD") || !strcmp(copy->kind, "DtoH") ||
                 !strcmp(copy->kind, "HtoH")))
                o->edge[command][host + 2] = true;
        }
        if (!sync || sync->result) continue;
        int *const event = &recorded[sync->event - 0x500];
        if (!strcmp(sync->kind, "event record")) *event = (int)command;
        if (!strcmp(sync->kind, "stream wait") && *event >= 0) o->edge[*event][command] = true;
        if ((!strcmp(sync->kind, "event sync") || !strcmp(sync->kind, "event query")) &&
            *event >= 0)
            o->edge[*event][host] = true;
        if (!strncmp(sync->kind, "stream s", 8) || !strncmp(sync->kind, "stream q", 8))
            if (last[sync->stream] >= 0) o->edge[last[sync->stream]][host] = true;
        if (!strcmp(sync->kind, "device sync")) {
            bool several = false;
            for (unsigned s = 1; s < p->catalogue.stream_count; s++)
                several |= p->streams[s].device != p->streams[0].device;
            for (unsigned s = 0; s < p->catalogue.stream_count; s++) {
                const bool is_meant = sync->stream == CTS_NONE
                                          ? !several
                                          : p->streams[s].device == p->streams[sync->stream].device;
                if (is_meant && last[s] >= 0) o->edge[last[s]][host] = true;
            }
        }
    }
    for (unsigned via = 0; via < GRAPH_MAX; via++)
        for (unsigned a = 0; a < GRAPH_MAX; a++)
            for (unsigned b = 0; o->edge[a][via] && b < GRAPH_MAX; b++)
                o->edge[a][b] |= o->edge[via][b];
}

static void twin_order(const struct program *p, struct twin_order *o)
{
    build_graph(p, o);
    for (unsigned a = 0; a < o->count; a++)
        for (unsigned b = a + 1; b < o->count; b++)
            o->unordered_pairs += !o->edge[o->steps[a].node][o->steps[b].node] &&
                                  !o->edge[o->steps[b].node][o->steps[a].node];
    for (unsigned place = 0; place < o->count; place++) {
        unsigned best = CTS_NONE;
        for (unsigned i = place; i < o->count; i++) {
            bool ready = true;
            for (unsigned k = place; k < o->count; k++)
                ready &= !o->edge[o->steps[k].node][o->steps[i].node];
            if (!ready) continue;
            if (best == CTS_NONE || o->steps[i].start_ns < o->steps[best].start_ns ||
                (o->steps[i].start_ns == o->steps[best].start_ns &&
                 o->steps[i].op < o->steps[best].op))
                best = i;
        }
        const struct superstep chosen = o->steps[best];
        o->steps[best] = o->steps[place];
        o->steps[place] = chosen;
    }
}

/* ---- the twin: communication ---- */

enum { NOBODY = -1, HOST = -2 };

struct byte {
    int writer; /* node, NOBODY or HOST */
    bool was_read;
};

struct edge {
    uint64_t bytes, access_bytes, accesses;
};

struct twin {
    const struct program *program;
    bool paper_model;
    struct byte memory[REGION_BYTES];
    unsigned node_count;
    struct node {
        unsigned order, launch, cta; /* order: place among launches that ran */
        struct cts_comm_counts counts;
    } nodes[NODES_MAX];
    struct edge edges[NODES_MAX][NODES_MAX];        /* [writer][reader] */
    struct cts_comm_counts launch_extra[CALLS_MAX]; /* conflicts; by place */
    unsigned launch_order[CALLS_MAX], launch_count;
    uint64_t carried_bytes;
    struct twin_order order;
};

static bool in_region(uint64_t address)
{
    return address >= region && address < region + REGION_BYTES;
}

static bool is_unseen(const struct twin *t, uint64_t address, uint64_t op)
{
    const struct cts_catalogue *const c = &t->program->catalogue;
    if (t->paper_model || c->host_access_count) return false;
    for (unsigned i = 0; i < c->allocation_count; i++) {
        const struct cts_allocation *const a = &c->allocations[i];
        if (strcmp(a->kind, "device") && a->op < op && op < a->freed_op && address >= a->address &&
            address - a->address < a->size_bytes)
            return true;
    }
    return false;
}

/* What one CTA did to one byte. */
struct touch {
    bool read, stored, atomic;
    char first; /* 'r' or 's' */
};

struct cta_view {
    struct touch global[REGION_BYTES], shared[SPACE_BYTES], constant[SPACE_BYTES];
    struct touch local[THREADS][SPACE_BYTES];
};

static void touch(struct touch *t, uint8_t operation)
{
    const bool reads = operation != CTS_STORE;
    if (!t->first) t->first = reads ? 'r' : 's';
    t->read |= reads;
    t->stored |= operation == CTS_STORE;
    t->atomic |= operation > CTS_STORE;
}

static void count_access(struct cts_comm_counts *c, uint8_t space, uint8_t operation,
                         uint32_t width)
{
#define COUNT(name)                                                                                \
    do {                                                                                           \
        if (operation == CTS_LOAD) c->name##_load_accesses++, c->name##_load_bytes += width;       \
        if (operation == CTS_STORE) c->name##_store_accesses++, c->name##_store_bytes += width;    \
        if (operation > CTS_STORE) c->name##_atomic_accesses++, c->name##_atomic_bytes += width;   \
    } while (0)
    if (space == CTS_SPACE_GLOBAL) COUNT(global);
    if (space == CTS_SPACE_SHARED) COUNT(shared);
    if (space == CTS_SPACE_CONSTANT) COUNT(constant);
    if (space == CTS_SPACE_LOCAL) COUNT(local);
#undef COUNT
}

/* One thread access of global memory that reads: books it on each writer it meets. */
static void read_access(struct twin *t, unsigned reader, uint64_t address, uint32_t width)
{
    struct cts_comm_counts *const c = &t->nodes[reader].counts;
    bool met[NODES_MAX] = {false};
    for (uint32_t i = 0; i < width; i++) {
        const int writer = t->memory[address - region + i].writer;
        if (writer == HOST || (writer == NOBODY && t->paper_model))
            c->from_host_access_bytes++;
        else if (writer == NOBODY)
            c->from_nobody_access_bytes++;
        else {
            struct edge *const edge = &t->edges[writer][reader];
            edge->access_bytes++;
            edge->accesses += !met[writer];
            met[writer] = true;
        }
    }
}

static void look_at_cta(struct twin *t, unsigned node, const struct cta *cta, struct cta_view *view)
{
    memset(view, 0, sizeof *view);
    for (unsigned k = 0; k < cta->record_count; k++) {
        const struct record *const r = &cta->records[k];
        const struct cts_site *const site = &t->program->sites[r->site];
        unsigned active = 0;
        for (unsigned lane = 0; lane < 32; lane++) {
            if (!(r->mask >> lane & 1)) continue;
            const uint64_t address = lane_address(r, lane, active++);
            count_access(&t->nodes[node].counts, r->space, site->operation, site->width_bytes);
            for (uint32_t i = 0; i < site->width_bytes; i++) {
                struct touch *const at = r->space == CTS_SPACE_GLOBAL
                                             ? &view->global[address - region + i]
                                         : r->space == CTS_SPACE_SHARED ? &view->shared[address + i]
                                         : r->space == CTS_SPACE_CONSTANT
                                             ? &view->constant[address + i]
                                             : &view->local[r->warp * 32 + lane][address + i];
                touch(at, site->operation);
            }
            if (r->space == CTS_SPACE_GLOBAL && site->operation != CTS_STORE)
                read_access(t, node, address, site->width_bytes);
        }
    }
}

static void count_unique(struct twin *t, unsigned node, const struct cta_view *view, uint64_t op,
                         bool *marked)
{
    struct cts_comm_counts *const c = &t->nodes[node].counts;
    for (unsigned i = 0; i < REGION_BYTES; i++) {
        const struct touch *const at = &view->global[i];
        const bool unseen = is_unseen(t, region + i, op);
        c->global_read_unique_bytes += at->read;
        c->global_written_unique_bytes += at->stored || at->atomic;
        c->unseen_read_bytes += unseen && at->read;
        c->unseen_written_bytes += unseen && (at->stored || at->atomic);
        if (!at->read) continue;
        const int writer = t->memory[i].writer;
        if (writer == HOST || (writer == NOBODY && t->paper_model))
            c->from_host_bytes++;
        else if (writer == NOBODY)
            c->from_nobody_bytes++;
        else {
            t->edges[writer][node].bytes++;
            c->own_write_first_bytes += at->first == 's';
            marked[i] = true;
        }
    }
    for (unsigned i = 0; i < SPACE_BYTES; i++) {
        c->shared_read_unique_bytes += view->shared[i].read;
        c->shared_written_unique_bytes += view->shared[i].stored || view->shared[i].atomic;
        c->constant_read_unique_bytes += view->constant[i].read;
        c->constant_written_unique_bytes += view->constant[i].stored || view->constant[i].atomic;
        for (unsigned thread = 0; thread < THREADS; thread++) {
            const struct touch *const at = &view->local[thread][i];
            c->local_read_unique_bytes += at->read;
            c->local_written_unique_bytes += at->stored || at->atomic;
        }
    }
}

static void run_twin_launch(struct twin *t, unsigned index)
{
    static struct cta_view views[CTAS_MAX];
    bool marked[REGION_BYTES] = {false};
    const struct cts_launch *const row = &t->program->launches[index];
    const struct kernel_launch *const body = &t->program->bodies[index];
    const unsigned place = t->launch_count++;
    t->launch_order[place] = index;
    if (!strcmp(row->recorded, "none")) return;
    const unsigned first = t->node_count;
    t->node_count += body->cta_count;
    for (unsigned i = 0; i < body->cta_count; i++) {
        t->nodes[first + i] = (struct node){.order = place, .launch = index, .cta = i};
        look_at_cta(t, first + i, &body->ctas[i], &views[i]);
        count_unique(t, first + i, &views[i], row->op, marked);
    }
    for (unsigned i = 0; i < REGION_BYTES; i++) {
        struct byte *const byte = &t->memory[i];
        if (marked[i] && !byte->was_read) {
            byte->was_read = true;
            t->nodes[byte->writer].counts.communicated_out_bytes++;
            t->nodes[byte->writer].counts.unseen_communicated_out_bytes +=
                is_unseen(t, region + i, row->op);
        }
        unsigned writers = 0;
        bool any_store = false;
        for (unsigned k = 0; k < body->cta_count; k++) {
            const struct touch *const at = &views[k].global[i];
            if (!at->stored && !at->atomic) continue;
            writers++;
            any_store |= at->stored;
            *byte = (struct byte){(int)(first + k), false};
        }
        t->launch_extra[place].conflict_bytes += writers > 1 && any_store;
        t->launch_extra[place].atomic_shared_bytes += writers > 1 && !any_store;
    }
}

/* The byte-by-byte addresses of a copy: offsets of both sides. */
static unsigned copy_offsets(const struct cts_copy *c, uint64_t *to, uint64_t *from)
{
    unsigned count = 0;
    for (uint64_t z = 0; z < c->depth; z++)
        for (uint64_t y = 0; y < c->height; y++)
            for (uint64_t x = 0; x < c->width_bytes; x++) {
                to[count] =
                    c->destination + z * c->destination_slice + y * c->destination_pitch + x;
                from[count++] = c->source + z * c->source_slice + y * c->source_pitch + x;
            }
    return count;
}

static void host_reads(struct twin *t, uint64_t address)
{
    if (!in_region(address)) return;
    const int writer = t->memory[address - region].writer;
    if (writer >= 0) t->nodes[writer].counts.host_read_bytes++;
}

static void host_writes(struct twin *t, uint64_t address)
{
    if (in_region(address)) t->memory[address - region] = (struct byte){HOST, false};
}

static void run_twin_copy(struct twin *t, const struct cts_copy *c)
{
    static uint64_t to[4096], from[4096];
    static struct byte old[REGION_BYTES];
    if (t->paper_model) return;
    const unsigned count = copy_offsets(c, to, from);
    memcpy(old, t->memory, sizeof old);
    for (unsigned i = 0; i < count; i++) {
        if (!strcmp(c->kind, "DtoH")) host_reads(t, from[i]);
        if (!strcmp(c->kind, "DtoD") || !strcmp(c->kind, "PtoP")) {
            t->memory[to[i] - region] = old[from[i] - region];
            t->carried_bytes += old[from[i] - region].writer >= 0;
        }
    }
    for (unsigned i = 0; i < count; i++)
        if (strcmp(c->kind, "DtoD") && strcmp(c->kind, "PtoP")) host_writes(t, to[i]);
}

/* Frees and CPU accesses with an op in [from, until). */
static void run_between(struct twin *t, uint64_t from, uint64_t until)
{
    const struct cts_catalogue *const c = &t->program->catalogue;
    for (uint64_t op = from; !t->paper_model && op < until; op++) {
        for (unsigned i = 0; i < c->allocation_count; i++) {
            const struct cts_allocation *const a = &c->allocations[i];
            for (uint64_t k = 0; a->freed_op == op && k < a->size_bytes; k++)
                t->memory[a->address + k - region] = (struct byte){NOBODY, false};
        }
        for (unsigned i = 0; i < c->host_access_count; i++) {
            const struct cts_host_access *const a = &c->host_accesses[i];
            for (uint64_t k = 0; a->op == op && k < a->size_bytes; k++)
                a->is_store ? host_writes(t, a->address + k) : host_reads(t, a->address + k);
        }
    }
}

static void run_twin(const struct program *p, bool paper_model, struct twin *t)
{
    memset(t, 0, sizeof *t);
    t->program = p;
    t->paper_model = paper_model;
    for (unsigned i = 0; i < REGION_BYTES; i++) t->memory[i].writer = NOBODY;
    twin_order(p, &t->order);
    uint64_t done = 0; /* ops below it have had their frees and CPU accesses */
    for (unsigned i = 0; i < t->order.count; i++) {
        const struct superstep *const step = &t->order.steps[i];
        if (step->op > done) {
            run_between(t, done, step->op);
            done = step->op;
        }
        if (step->is_launch)
            run_twin_launch(t, step->index);
        else
            run_twin_copy(t, &p->copies[step->index]);
    }
    run_between(t, done, 4 * CALLS_MAX + 10);
    for (unsigned w = 0; w < t->node_count; w++) {
        for (unsigned r = 0; r < t->node_count; r++) {
            const struct edge *const e = &t->edges[w][r];
            if (!e->bytes) continue;
            t->nodes[w].counts.sent_transfers++;
            t->nodes[w].counts.sent_bytes += e->bytes;
            t->nodes[r].counts.received_transfers++;
            t->nodes[r].counts.received_bytes += e->bytes;
            t->nodes[r].counts.received_access_bytes += e->access_bytes;
            t->nodes[r].counts.received_accesses += e->accesses;
        }
    }
}

/* ---- comparing ---- */

static void check_counts(const struct cts_comm_counts *found, const struct cts_comm_counts *wanted,
                         const char *where, unsigned i)
{
    for (size_t k = 0; k < CTS_COMM_FIELD_COUNT; k++)
        if (cts_comm_field(found, k) != cts_comm_field(wanted, k))
            fail_msg("%s %u: %s is %llu, not %llu", where, i, cts_comm_field_names[k],
                     (unsigned long long)cts_comm_field(found, k),
                     (unsigned long long)cts_comm_field(wanted, k));
}

static void check_degree(const struct cts_comm_degree *found, const uint64_t *degrees,
                         unsigned count)
{
    struct cts_comm_degree wanted = {.cta_count = count, .smallest = count ? UINT64_MAX : 0};
    for (unsigned i = 0; i < count; i++) {
        wanted.sum += degrees[i];
        wanted.sum_of_squares += degrees[i] * degrees[i];
        if (degrees[i] < wanted.smallest) wanted.smallest = degrees[i];
        if (degrees[i] > wanted.largest) wanted.largest = degrees[i];
    }
    assert_int_equal(found->cta_count, wanted.cta_count);
    assert_int_equal(found->sum, wanted.sum);
    assert_int_equal(found->smallest, wanted.smallest);
    assert_int_equal(found->largest, wanted.largest);
    assert_true(found->sum_of_squares == wanted.sum_of_squares);
}

static void check_launches(const struct twin *t, const struct cts_comm *c)
{
    struct cts_comm_counts total = {0}, by_kernel[KERNELS] = {0};
    assert_int_equal(c->launch_count, t->launch_count);
    for (unsigned i = 0; i < t->launch_count; i++) {
        uint64_t in[CTAS_MAX], out[CTAS_MAX];
        unsigned count = 0;
        struct cts_comm_counts wanted = t->launch_extra[i];
        for (unsigned n = 0; n < t->node_count; n++) {
            if (t->nodes[n].order != i) continue;
            cts_comm_counts_add(&wanted, &t->nodes[n].counts);
            in[count] = t->nodes[n].counts.received_transfers;
            out[count++] = t->nodes[n].counts.sent_transfers;
        }
        assert_int_equal(c->launches[i].index, t->launch_order[i]);
        check_counts(&c->launches[i].counts, &wanted, "launch", i);
        check_degree(&c->launches[i].in_degree, in, count);
        check_degree(&c->launches[i].out_degree, out, count);
        cts_comm_counts_add(&total, &wanted);
        cts_comm_counts_add(&by_kernel[t->program->launches[t->launch_order[i]].kernel], &wanted);
    }
    check_counts(&c->total, &total, "run", 0);
    for (unsigned i = 0; i < c->kernel_count; i++)
        check_counts(&c->kernels[i].counts, &by_kernel[c->kernels[i].kernel], "kernel", i);
}

static void check_ctas(const struct twin *t, const struct cts_comm *c)
{
    static const struct cts_comm_counts nothing;
    size_t k = 0;
    for (unsigned n = 0; n < t->node_count; n++) {
        if (!memcmp(&t->nodes[n].counts, &nothing, sizeof nothing)) continue;
        assert_true(k < c->cta_count);
        assert_int_equal(c->ctas[k].launch, t->nodes[n].order);
        assert_int_equal(c->ctas[k].cta, t->nodes[n].cta);
        check_counts(&c->ctas[k++].counts, &t->nodes[n].counts, "node", n);
    }
    assert_int_equal(k, c->cta_count);
}

static uint64_t value_of(const struct cts_map_entry *entries, size_t count, uint64_t key)
{
    for (size_t i = 0; i < count; i++) {
        if (i) assert_true(entries[i - 1].key < entries[i].key);
        if (entries[i].key == key) return entries[i].value;
    }
    return 0;
}

/* Every cell of the density map against the edges, one by one. */
static void check_density(const struct twin *t, const struct cts_comm *c)
{
    const struct cts_comm_density *const density = &c->density;
    for (unsigned x = 0; x < density->bin_count; x++)
        for (unsigned y = 0; y < density->bin_count; y++) {
            uint64_t transfers = 0, bytes = 0;
            for (unsigned w = 0; w < t->node_count; w++)
                for (unsigned r = 0; r < t->node_count; r++) {
                    if (!t->edges[w][r].bytes || t->nodes[w].cta / density->bin_ctas != x ||
                        t->nodes[r].cta / density->bin_ctas != y)
                        continue;
                    transfers++;
                    bytes += t->edges[w][r].bytes;
                }
            assert_int_equal(cts_comm_density_cell(density, x, y)[0], transfers);
            assert_int_equal(cts_comm_density_cell(density, x, y)[1], bytes);
        }
}

static void check_transfers(const struct twin *t, const struct cts_comm *c, size_t room)
{
    struct edge pairs[CALLS_MAX][CALLS_MAX] = {0};
    static uint64_t pair_transfers[CALLS_MAX][CALLS_MAX], sizes[REGION_BYTES + 1];
    memset(pair_transfers, 0, sizeof pair_transfers);
    memset(sizes, 0, sizeof sizes);
    size_t k = 0, count = 0;
    uint64_t unordered = 0, unordered_bytes = 0, kernel_bytes[KERNELS][KERNELS] = {0};
    for (unsigned r = 0; r < t->node_count; r++) {
        for (unsigned w = 0; w < t->node_count; w++) {
            const struct edge *const e = &t->edges[w][r];
            const struct node *const writer = &t->nodes[w], *const reader = &t->nodes[r];
            if (!e->bytes) continue;
            count++;
            sizes[e->bytes]++;
            pair_transfers[writer->order][reader->order]++;
            pairs[writer->order][reader->order].bytes += e->bytes;
            pairs[writer->order][reader->order].access_bytes += e->access_bytes;
            pairs[writer->order][reader->order].accesses += e->accesses;
            kernel_bytes[t->program->launches[writer->launch].kernel]
                        [t->program->launches[reader->launch].kernel] += e->bytes;
            if (!t->order.edge[t->order.node_of_launch[writer->launch]]
                              [t->order.node_of_launch[reader->launch]]) {
                unordered++;
                unordered_bytes += e->bytes;
            }
            if (k == room) continue;
            const struct cts_comm_transfer *const found = &c->transfers[k++];
            assert_int_equal(found->writer_launch, writer->order);
            assert_int_equal(found->writer_cta, writer->cta);
            assert_int_equal(found->reader_launch, reader->order);
            assert_int_equal(found->reader_cta, reader->cta);
            assert_int_equal(found->bytes, e->bytes);
            assert_int_equal(found->access_bytes, e->access_bytes);
            assert_int_equal(found->accesses, e->accesses);
        }
    }
    assert_int_equal(c->transfer_count, k);
    assert_int_equal(c->transfers_left_out, count - k);
    assert_int_equal(c->unordered_transfers, unordered);
    assert_int_equal(c->unordered_bytes, unordered_bytes);
    for (unsigned i = 0; i <= REGION_BYTES; i++)
        assert_int_equal(value_of(c->transfer_sizes, c->transfer_size_count, i), sizes[i]);
    size_t pair_count = 0;
    for (unsigned r = 0; r < t->launch_count; r++) {
        for (unsigned w = 0; w < t->launch_count; w++) {
            if (!pair_transfers[w][r]) continue;
            assert_true(pair_count < c->launch_pair_count);
            const struct cts_comm_pair *const found = &c->launch_pairs[pair_count++];
            assert_int_equal(found->writer, w);
            assert_int_equal(found->reader, r);
            assert_int_equal(found->transfers, pair_transfers[w][r]);
            assert_int_equal(found->bytes, pairs[w][r].bytes);
            assert_int_equal(found->access_bytes, pairs[w][r].access_bytes);
            assert_int_equal(found->accesses, pairs[w][r].accesses);
        }
    }
    assert_int_equal(pair_count, c->launch_pair_count);
    for (size_t i = 0; i < c->kernel_pair_count; i++) {
        uint64_t *const wanted = &kernel_bytes[c->kernels[c->kernel_pairs[i].writer].kernel]
                                              [c->kernels[c->kernel_pairs[i].reader].kernel];
        assert_int_equal(c->kernel_pairs[i].bytes, *wanted);
        *wanted = 0;
    }
    for (unsigned i = 0; i < KERNELS * KERNELS; i++)
        assert_int_equal(kernel_bytes[i / KERNELS][i % KERNELS], 0);
}

/* The largest transfers of the whole list, by selection. */
static void check_top(const struct twin *t, const struct cts_comm *c, size_t most)
{
    static bool taken[NODES_MAX][NODES_MAX];
    memset(taken, 0, sizeof taken);
    for (size_t k = 0; k < most; k++) {
        int best_w = -1, best_r = -1;
        for (unsigned r = 0; r < t->node_count; r++)
            for (unsigned w = 0; w < t->node_count; w++)
                if (t->edges[w][r].bytes && !taken[w][r] &&
                    (best_w < 0 || t->edges[w][r].bytes > t->edges[best_w][best_r].bytes))
                    best_w = (int)w, best_r = (int)r;
        if (best_w < 0) {
            assert_int_equal(c->top_count, k);
            return;
        }
        taken[best_w][best_r] = true;
        assert_true(k < c->top_count);
        assert_int_equal(c->top[k].bytes, t->edges[best_w][best_r].bytes);
        assert_int_equal(c->top[k].reader_launch, t->nodes[best_r].order);
        assert_int_equal(c->top[k].reader_cta, t->nodes[best_r].cta);
        assert_int_equal(c->top[k].writer_launch, t->nodes[best_w].order);
        assert_int_equal(c->top[k].writer_cta, t->nodes[best_w].cta);
    }
    assert_int_equal(c->top_count, most);
}

static void check_degrees(const struct twin *t, const struct cts_comm *c)
{
    for (unsigned degree = 0; degree <= NODES_MAX; degree++) {
        uint64_t in = 0, out = 0;
        for (unsigned n = 0; n < t->node_count; n++) {
            in += t->nodes[n].counts.received_transfers == degree;
            out += t->nodes[n].counts.sent_transfers == degree;
        }
        assert_int_equal(value_of(c->in_degrees, c->in_degree_count, degree), in);
        assert_int_equal(value_of(c->out_degrees, c->out_degree_count, degree), out);
    }
}

static void check_program(uint64_t seed)
{
    static struct program program;
    static struct twin twin;
    random_state = seed;
    make_program(&program);
    const struct cts_access_source source = {.chunks = program.chunks,
                                             .chunk_count = program.chunk_count,
                                             .state = &program,
                                             .read = read_chunk,
                                             .release = release_batch};
    const struct cts_comm_options options = {.paper_model = chance(20),
                                             .keep_ctas = true,
                                             .keep_transfers = true,
                                             .transfer_max = chance(20) ? 1 + below(20) : 100000,
                                             .top_count = below(12),
                                             .density_bins = 1 + below(5),
                                             .threads = 1 + below(3),
                                             .set_bytes = chance(10) ? 48 : 0};
    struct cts_comm result;
    struct cts_error error = {0};
    if (cts_comm_analyze(&program.catalogue, &source, &options, &result, &error))
        fail_msg("program %llu: %s", (unsigned long long)seed, error.text);
    run_twin(&program, options.paper_model, &twin);
    check_density(&twin, &result);
    assert_int_equal(result.unordered_pairs, twin.order.unordered_pairs);
    assert_int_equal(result.superstep_count, twin.order.count);
    assert_int_equal(result.carried_bytes, twin.carried_bytes);
    assert_int_equal(result.node_count, twin.node_count);
    check_launches(&twin, &result);
    check_ctas(&twin, &result);
    check_transfers(&twin, &result, options.transfer_max);
    check_top(&twin, &result, options.top_count);
    check_degrees(&twin, &result);
    cts_comm_release(&result);
}

static uint64_t current_program;

static void agrees_with_the_twin_on_random_programs(void **state)
{
    (void)state;
    const char *const wanted = getenv("CTS_TWIN_PROGRAM"); /* one program, to look into it */
    const uint64_t only = wanted ? strtoull(wanted, NULL, 10) : 0;
    for (uint64_t seed = wanted ? only : 1; seed <= (wanted ? only : PROGRAMS); seed++) {
        current_program = seed;
        check_program(seed);
    }
}

static int name_the_program(void **state)
{
    (void)state;
    if (current_program < PROGRAMS)
        print_error("failed in program %llu: CTS_TWIN_PROGRAM=%llu runs it alone\n",
                    (unsigned long long)current_program, (unsigned long long)current_program);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(agrees_with_the_twin_on_random_programs, name_the_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
