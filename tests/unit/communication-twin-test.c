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
#include <pthread.h>

#include "arena.h"
#include "analyze/communication/communication.h"
#include "analyze/communication/comm-query.h"
#include "count.h"
#include "random.h"
#include "record-fixture.h"

enum {
    REGION_BYTES = 1200, /* of global memory that programs use */
    SPACE_BYTES = 256,   /* of shared, constant and local memory */
    THREADS = 64,        /* two warps */
    CALLS_MAX = 40,
    STREAMS_MAX = 4,
    ALLOCATIONS_MAX = 6,
    DEVICES = 3,
    CTAS_MAX = 6,
    RECORDS_MAX = 24,
    SITES = 24,
    NODES_MAX = CALLS_MAX * CTAS_MAX,
    CHUNKS_MAX = CALLS_MAX * CTAS_MAX * 4,
    KERNELS = 3,
    PROGRAMS = 1000,
    PROGRAMS_QUICK = 150,
};
/* The region lies across the border of a 2 MiB block, and so of a page. */
static const uint64_t region = UINT64_C(0x7f0000200000) - 500;

/* ---- a program ---- */

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
    struct cts_cta_sm cta_sms[NODES_MAX + 4];
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
                                .host_accesses = p->host_accesses,
                                .cta_sms = p->cta_sms};
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
                               .device = below(DEVICES),
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
            .device = below(DEVICES),
            .kind = kinds[below(6)]};
    }
}

/* Where CTAs ran: of some programs, of most CTAs; rows of CTAs that do not exist, and several of
 * one.
 */
static void make_sms(struct program *p)
{
    struct cts_catalogue *const c = &p->catalogue;
    if (!chance(40)) return;
    for (unsigned i = 0; i < c->launch_count; i++)
        for (unsigned cta = 0; cta < p->bodies[i].cta_count; cta++)
            if (chance(90) && c->cta_sm_count < NODES_MAX)
                p->cta_sms[c->cta_sm_count++] =
                    (struct cts_cta_sm){p->launches[i].launch, cta, below(3)};
    p->cta_sms[c->cta_sm_count++] = (struct cts_cta_sm){3, 1000, 0};
    p->cta_sms[c->cta_sm_count++] = (struct cts_cta_sm){3, 0, 7};
    p->cta_sms[c->cta_sm_count++] = (struct cts_cta_sm){4, 0, 1};
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
        uint64_t least = UINT64_MAX, most = 0; /* lane addresses in global memory */
        for (unsigned i = 0; i < count; i++) {
            const struct chunk_record at = p->contents[chunk][i];
            const struct record *const r = &body->ctas[at.cta].records[at.record];
            unsigned active = 0;
            for (unsigned lane = 0; r->space == CTS_SPACE_GLOBAL && lane < 32; lane++) {
                if (!(r->mask >> lane & 1)) continue;
                const uint64_t address = lane_address(r, lane, active++);
                if (address < least) least = address;
                if (address > most) most = address;
            }
        }
        p->content_counts[chunk] = count;
        p->chunks[chunk] = (struct cts_acc_chunk){.launch = p->launches[launch].launch,
                                                  .file = file,
                                                  .first_cta = first,
                                                  .last_cta = last,
                                                  .first_address = least,
                                                  .last_address = most,
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
    make_sms(p);
    for (unsigned i = 0; i < p->catalogue.launch_count; i++)
        for (unsigned file = 0; file < 3; file++) cut_chunks(p, i, file);
    qsort(p->chunks, p->chunk_count, sizeof *p->chunks, by_launch_cta_file);
}

/* ---- the program as a source of batches ---- */

static enum cts_status read_chunk(const void *state, const struct cts_acc_chunk *chunk,
                                  struct cts_acc_batch *batch, struct cts_error *error)
{
    const struct program *const p = state;
    if (batch_start(batch, chunk, error)) return CTS_MEMORY;
    unsigned launch = 0;
    while (p->launches[launch].launch != chunk->launch) launch++;
    for (size_t i = 0; i < p->content_counts[chunk->offset_bytes]; i++) {
        const struct chunk_record at = p->contents[chunk->offset_bytes][i];
        const struct cts_access record = record_access(
            &p->bodies[launch].ctas[at.cta].records[at.record], chunk->launch, at.cta);
        batch_put(batch, &record);
    }
    return CTS_OK;
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

enum { NOBODY = -1, HOST = -2, STRIDE_MAX = 2 * REGION_BYTES };

struct byte {
    int writer; /* node, NOBODY or HOST */
    bool was_read, was_read_in_stream;
    unsigned place; /* where the writer stored it: a copy carries it along */
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
    bool ignores_copies;
    /* by node, of bytes it stored: a later node read it */
    bool sent[NODES_MAX][REGION_BYTES];
    uint64_t distinct[CALLS_MAX][CALLS_MAX]; /* by places of writing and reading launch */
    uint64_t stream_out[CALLS_MAX];          /* by place: read later in the same stream */
    uint64_t out_access_bytes[CALLS_MAX];    /* by place */
    struct cts_comm_site_sum sites[SITES];
    struct cts_comm_allocation allocations[ALLOCATIONS_MAX + 1];
    uint64_t allocation_pairs[ALLOCATIONS_MAX + 1][KERNELS][KERNELS];
    /* by device and memory: of devices, the host, managed */
    struct cts_comm_device_sum devices[DEVICES][DEVICES + 2];
    /* by kernel, kind, stride + STRIDE_MAX */
    uint64_t strides[KERNELS][CTS_STRIDE_KIND_COUNT][2 * STRIDE_MAX];
};

static bool in_region(uint64_t address)
{
    return address >= region && address < region + REGION_BYTES;
}

static bool is_unseen(const struct twin *t, uint64_t address, uint64_t op)
{
    const struct cts_catalogue *const c = &t->program->catalogue;
    if (t->ignores_copies || c->host_access_count) return false;
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
        if (writer == HOST || (writer == NOBODY && t->ignores_copies))
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

static unsigned kernel_of(const struct twin *t, unsigned node)
{
    return t->program->launches[t->nodes[node].launch].kernel;
}

static void add_stride(struct twin *t, unsigned node, unsigned kind, int64_t stride)
{
    t->strides[kernel_of(t, node)][kind][stride + STRIDE_MAX]++;
}

/* Strides of both kinds and sums by site, of what reads (kinds 0, 1) or writes (2, 3): of bytes of
 * the region that matter. */
static void measure_cta(struct twin *t, unsigned node, const struct cta *cta, bool writes,
                        const bool *matters)
{
    bool addresses[REGION_BYTES] = {false};
    for (unsigned k = 0; k < cta->record_count; k++) {
        const struct record *const r = &cta->records[k];
        const struct cts_site *const site = &t->program->sites[r->site];
        if (r->space != CTS_SPACE_GLOBAL) continue;
        if (site->operation == (writes ? CTS_LOAD : CTS_STORE)) continue;
        struct cts_comm_site_sum *const sum = &t->sites[r->site];
        unsigned active = 0;
        bool any = false;
        for (unsigned lane = 0; lane < 32; lane++) {
            if (!(r->mask >> lane & 1)) continue;
            const unsigned at = (unsigned)(lane_address(r, lane, active++) - region);
            uint64_t bytes = 0;
            for (unsigned i = 0; i < site->width_bytes; i++) bytes += matters[at + i];
            any |= bytes > 0;
            addresses[at] |= bytes > 0;
            *(writes ? &sum->sent_accesses : &sum->received_accesses) += bytes > 0;
            *(writes ? &sum->sent_access_bytes : &sum->received_access_bytes) += bytes;
            if (writes) t->out_access_bytes[t->nodes[node].order] += bytes;
        }
        uint64_t last = 0;
        active = 0;
        for (unsigned lane = 0; any && lane < 32; lane++) {
            if (!(r->mask >> lane & 1)) continue;
            const uint64_t at = lane_address(r, lane, active++);
            if (active > 1) add_stride(t, node, writes ? 2 : 0, (int64_t)(at - last));
            last = at;
        }
    }
    int last = -1;
    for (int i = 0; i < REGION_BYTES; i++) {
        if (!addresses[i]) continue;
        if (last >= 0) add_stride(t, node, writes ? 3 : 1, i - last);
        last = i;
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
            if (r->space == CTS_SPACE_GLOBAL) {
                t->sites[r->site].accesses++;
                t->sites[r->site].access_bytes += site->width_bytes;
            }
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

/* The allocation of a byte at `op`, the newest of several; ALLOCATIONS_MAX: none. */
static unsigned allocation_of(const struct twin *t, uint64_t address, uint64_t op)
{
    const struct cts_catalogue *const c = &t->program->catalogue;
    unsigned found = ALLOCATIONS_MAX;
    for (unsigned i = 0; i < c->allocation_count; i++) {
        const struct cts_allocation *const a = &c->allocations[i];
        if (a->op >= op || a->freed_op <= op || address < a->address ||
            address - a->address >= a->size_bytes)
            continue;
        if (found == ALLOCATIONS_MAX || a->op >= c->allocations[found].op) found = i;
    }
    return found;
}

static void count_device(struct twin *t, unsigned node, unsigned allocation, const struct touch *at)
{
    if (allocation == ALLOCATIONS_MAX) return;
    const struct cts_allocation *const a = &t->program->allocations[allocation];
    const unsigned memory = a->kind[1] == 'a' && a->kind[2] == 'n' ? DEVICES + 1 /* managed */
                            : a->kind[0] == 'd'                    ? a->device
                                                                   : DEVICES;
    struct cts_comm_device_sum *const sum =
        &t->devices[t->program->launches[t->nodes[node].launch].device][memory];
    sum->read_bytes += at->read;
    sum->written_bytes += at->stored || at->atomic;
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
        struct cts_comm_allocation *const place = &t->allocations[allocation_of(t, region + i, op)];
        place->read_bytes += at->read;
        place->written_bytes += at->stored || at->atomic;
        count_device(t, node, (unsigned)(place - t->allocations), at);
        if (!at->read) continue;
        const int writer = t->memory[i].writer;
        if (writer == HOST || (writer == NOBODY && t->ignores_copies))
            c->from_host_bytes++;
        else if (writer == NOBODY)
            c->from_nobody_bytes++;
        else {
            t->edges[writer][node].bytes++;
            place->received_bytes++;
            t->allocation_pairs[place - t->allocations][kernel_of(t, (unsigned)writer)]
                               [kernel_of(t, node)]++;
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
        bool from_node[REGION_BYTES];
        for (unsigned k = 0; k < REGION_BYTES; k++) from_node[k] = t->memory[k].writer >= 0;
        look_at_cta(t, first + i, &body->ctas[i], &views[i]);
        measure_cta(t, first + i, &body->ctas[i], false, from_node);
        count_unique(t, first + i, &views[i], row->op, marked);
    }
    for (unsigned i = 0; i < REGION_BYTES; i++) {
        struct byte *const byte = &t->memory[i];
        if (marked[i]) {
            const struct node *const writer = &t->nodes[byte->writer];
            const bool in_stream = t->program->launches[writer->launch].stream == row->stream;
            t->distinct[writer->order][place]++;
            t->stream_out[writer->order] += in_stream && !byte->was_read_in_stream;
            byte->was_read_in_stream |= in_stream;
            t->sent[byte->writer][byte->place] = true;
        }
        if (marked[i] && !byte->was_read) {
            byte->was_read = true;
            t->allocations[allocation_of(t, region + i, row->op)].communicated_out_bytes++;
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
            *byte = (struct byte){.writer = (int)(first + k), .place = i};
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
    if (in_region(address)) t->memory[address - region] = (struct byte){.writer = HOST};
}

static void run_twin_copy(struct twin *t, const struct cts_copy *c)
{
    static uint64_t to[4096], from[4096];
    static struct byte old[REGION_BYTES];
    if (t->ignores_copies) return;
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
                t->memory[a->address + k - region] = (struct byte){.writer = NOBODY};
        }
        for (unsigned i = 0; !t->ignores_copies && i < c->host_access_count; i++) {
            const struct cts_host_access *const a = &c->host_accesses[i];
            for (uint64_t k = 0; a->op == op && k < a->size_bytes; k++)
                a->is_store ? host_writes(t, a->address + k) : host_reads(t, a->address + k);
        }
    }
}

static void run_twin(const struct program *p, const struct cts_comm_options *options,
                     struct twin *t)
{
    memset(t, 0, sizeof *t);
    t->program = p;
    t->paper_model = options->paper_model;
    t->ignores_copies = options->paper_model || options->ignore_copies;
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
    for (unsigned n = 0; n < t->node_count; n++)
        measure_cta(t, n, &p->bodies[t->nodes[n].launch].ctas[t->nodes[n].cta], true, t->sent[n]);
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

/* Of a launch of which only some CTAs were recorded, CTAs without records have no degrees. */
static bool has_degrees(const struct twin *t, unsigned n)
{
    const unsigned launch = t->launch_order[t->nodes[n].order];
    return strcmp(t->program->launches[launch].recorded, "sample") != 0 ||
           t->program->bodies[launch].ctas[t->nodes[n].cta].record_count;
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
            if (!has_degrees(t, n)) continue;
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
            if (!has_degrees(t, n)) continue;
            in += t->nodes[n].counts.received_transfers == degree;
            out += t->nodes[n].counts.sent_transfers == degree;
        }
        assert_int_equal(value_of(c->in_degrees, c->in_degree_count, degree), in);
        assert_int_equal(value_of(c->out_degrees, c->out_degree_count, degree), out);
    }
}

static void check_strides(const struct twin *t, const struct cts_comm *c)
{
    assert_int_equal(c->stride_count, c->kernel_count + 1);
    for (size_t row = 0; row < c->stride_count; row++) {
        const struct cts_comm_kernel_strides *const strides = &c->strides[row];
        assert_int_equal(strides->kernel, row ? row - 1 : SIZE_MAX);
        for (unsigned kind = 0; kind < CTS_STRIDE_KIND_COUNT; kind++) {
            size_t i = 0;
            for (int stride = -STRIDE_MAX; stride < STRIDE_MAX; stride++) {
                uint64_t wanted = 0;
                for (unsigned k = 0; k < KERNELS; k++)
                    if (!row || c->kernels[row - 1].kernel == k)
                        wanted += t->strides[k][kind][stride + STRIDE_MAX];
                if (!wanted) continue;
                assert_true(i < strides->counts[kind]);
                if (strides->entries[kind][i].stride != stride ||
                    strides->entries[kind][i].count != wanted)
                    fail_msg("%s strides, row %zu: %llu times %lld, not %llu times %d",
                             cts_stride_kind_text(kind), row,
                             (unsigned long long)strides->entries[kind][i].count,
                             (long long)strides->entries[kind][i].stride,
                             (unsigned long long)wanted, stride);
                assert_int_equal(strides->entries[kind][i++].width, 1);
            }
            assert_int_equal(strides->counts[kind], i);
        }
    }
}

static void check_sites(const struct twin *t, const struct cts_comm *c)
{
    size_t k = 0;
    for (unsigned i = 0; i < SITES; i++) {
        const struct cts_comm_site_sum *const wanted = &t->sites[i];
        if (!wanted->accesses) continue;
        assert_true(k < c->site_count);
        const struct cts_comm_site_sum *const found = &c->sites[k++];
        assert_int_equal(found->site, i);
        assert_int_equal(found->accesses, wanted->accesses);
        assert_int_equal(found->access_bytes, wanted->access_bytes);
        assert_int_equal(found->received_accesses, wanted->received_accesses);
        assert_int_equal(found->received_access_bytes, wanted->received_access_bytes);
        assert_int_equal(found->sent_accesses, wanted->sent_accesses);
        assert_int_equal(found->sent_access_bytes, wanted->sent_access_bytes);
    }
    assert_int_equal(k, c->site_count);
}

static void check_devices(const struct twin *t, const struct cts_comm *c)
{
    size_t k = 0;
    for (unsigned d = 0; d < DEVICES; d++)
        for (unsigned m = 0; m < DEVICES + 2; m++) {
            const struct cts_comm_device_sum *const wanted = &t->devices[d][m];
            if (!wanted->read_bytes && !wanted->written_bytes) continue;
            assert_true(k < c->device_pair_count);
            const struct cts_comm_device_pair *const found = &c->device_pairs[k++];
            assert_int_equal(found->device, d);
            assert_int_equal(found->memory, m < DEVICES    ? CTS_COMM_MEMORY_DEVICE
                                            : m == DEVICES ? CTS_COMM_MEMORY_HOST
                                                           : CTS_COMM_MEMORY_MANAGED);
            assert_int_equal(found->memory_device, m < DEVICES ? m : CTS_NONE);
            assert_int_equal(found->sum.read_bytes, wanted->read_bytes);
            assert_int_equal(found->sum.written_bytes, wanted->written_bytes);
        }
    assert_int_equal(k, c->device_pair_count);
}

static void check_allocations(const struct twin *t, const struct cts_comm *c)
{
    size_t k = 0, pairs = 0;
    for (unsigned i = 0; i <= ALLOCATIONS_MAX; i++) {
        const struct cts_comm_allocation *const wanted = &t->allocations[i];
        const size_t name = i == ALLOCATIONS_MAX ? SIZE_MAX : i;
        for (unsigned w = 0; w < KERNELS; w++)
            for (unsigned r = 0; r < KERNELS; r++) {
                if (!t->allocation_pairs[i][w][r]) continue;
                assert_true(pairs < c->allocation_pair_count);
                const struct cts_comm_allocation_pair *const found = &c->allocation_pairs[pairs++];
                assert_int_equal(found->allocation, name);
                assert_int_equal(c->kernels[found->writer].kernel, w);
                assert_int_equal(c->kernels[found->reader].kernel, r);
                assert_int_equal(found->bytes, t->allocation_pairs[i][w][r]);
            }
        if (!wanted->read_bytes && !wanted->written_bytes && !wanted->communicated_out_bytes)
            continue;
        assert_true(k < c->allocation_count);
        const struct cts_comm_allocation *const found = &c->allocations[k++];
        assert_int_equal(found->allocation, name);
        assert_int_equal(found->read_bytes, wanted->read_bytes);
        assert_int_equal(found->written_bytes, wanted->written_bytes);
        assert_int_equal(found->received_bytes, wanted->received_bytes);
        assert_int_equal(found->communicated_out_bytes, wanted->communicated_out_bytes);
    }
    assert_int_equal(k, c->allocation_count);
    assert_int_equal(pairs, c->allocation_pair_count);
}

/* One pair of launches from its edges. */
static struct cts_comm_pair pair_of(const struct twin *t, unsigned from, unsigned to)
{
    struct cts_comm_pair pair = {.writer = from, .reader = to};
    uint64_t out[NODES_MAX] = {0}, in[NODES_MAX] = {0};
    const uint32_t *const a = t->program->launches[t->launch_order[from]].grid;
    const uint32_t *const b = t->program->launches[t->launch_order[to]].grid;
    pair.same_grid = !memcmp(a, b, 3 * sizeof *a);
    for (unsigned d = 0; d < 3; d++) {
        pair.offset_min[d] = INT64_MAX;
        pair.offset_max[d] = INT64_MIN;
        if (a[d] > 1 || b[d] > 1) pair.bisection_dimensions |= (uint8_t)(1 << d);
    }
    for (unsigned w = 0; w < t->node_count; w++)
        for (unsigned r = 0; t->nodes[w].order == from && r < t->node_count; r++) {
            const uint64_t bytes = t->edges[w][r].bytes;
            if (!bytes || t->nodes[r].order != to) continue;
            const uint32_t x = t->nodes[w].cta, y = t->nodes[r].cta;
            const uint32_t p[3] = {x % a[0], x / a[0] % a[1], x / a[0] / a[1]};
            const uint32_t q[3] = {y % b[0], y / b[0] % b[1], y / b[0] / b[1]};
            out[w]++;
            in[r]++;
            pair.transfers++;
            for (unsigned d = 0; d < 3; d++) {
                if (2 * p[d] / a[d] != 2 * q[d] / b[d]) pair.bisection_bytes[d] += bytes;
                const int64_t offset = (int64_t)q[d] - p[d];
                if (offset < pair.offset_min[d]) pair.offset_min[d] = offset;
                if (offset > pair.offset_max[d]) pair.offset_max[d] = offset;
            }
        }
    for (unsigned n = 0; n < t->node_count; n++) {
        pair.senders += out[n] > 0;
        pair.receivers += in[n] > 0;
        if (out[n] > pair.largest_out_degree) pair.largest_out_degree = out[n];
        if (in[n] > pair.largest_in_degree) pair.largest_in_degree = in[n];
    }
    pair.distinct_bytes = t->distinct[from][to];
    return pair;
}

static void check_pairs(const struct twin *t, const struct cts_comm *c)
{
    uint64_t bisection[3] = {0};
    for (size_t i = 0; i < c->launch_pair_count; i++) {
        const struct cts_comm_pair *const found = &c->launch_pairs[i];
        const struct cts_comm_pair wanted =
            pair_of(t, (unsigned)found->writer, (unsigned)found->reader);
        assert_int_equal(found->transfers, wanted.transfers);
        assert_int_equal(found->distinct_bytes, wanted.distinct_bytes);
        assert_int_equal(found->senders, wanted.senders);
        assert_int_equal(found->receivers, wanted.receivers);
        assert_int_equal(found->largest_in_degree, wanted.largest_in_degree);
        assert_int_equal(found->largest_out_degree, wanted.largest_out_degree);
        assert_int_equal(found->bisection_dimensions, wanted.bisection_dimensions);
        assert_int_equal(found->same_grid, wanted.same_grid);
        assert_memory_equal(found->bisection_bytes, wanted.bisection_bytes, sizeof bisection);
        assert_memory_equal(found->offset_min, wanted.offset_min, sizeof wanted.offset_min);
        assert_memory_equal(found->offset_max, wanted.offset_max, sizeof wanted.offset_max);
        for (unsigned d = 0; d < 3; d++) bisection[d] += wanted.bisection_bytes[d];
    }
    assert_memory_equal(c->bisection_bytes, bisection, sizeof bisection);
}

static uint32_t stream_of(const struct twin *t, size_t place)
{
    return t->program->launches[t->launch_order[place]].stream;
}

/* Launches between two, of all or of their stream. */
static uint64_t distance_of(const struct twin *t, unsigned from, unsigned to, bool per_stream)
{
    uint64_t distance = 0;
    for (unsigned i = from + 1; i < to; i++)
        distance += !per_stream || stream_of(t, i) == stream_of(t, to);
    return distance;
}

static void check_evolution(const struct twin *t, const struct cts_comm *c)
{
    uint64_t bytes[CALLS_MAX] = {0}, transfers[CALLS_MAX] = {0}, loads[CALLS_MAX] = {0},
             access_bytes[CALLS_MAX] = {0}, distinct[CALLS_MAX] = {0};
    for (unsigned w = 0; w < t->node_count; w++)
        for (unsigned r = 0; r < t->node_count; r++) {
            const struct edge *const e = &t->edges[w][r];
            const unsigned from = t->nodes[w].order, to = t->nodes[r].order;
            if (!e->bytes || (c->per_stream && stream_of(t, from) != stream_of(t, to))) continue;
            const uint64_t distance = distance_of(t, from, to, c->per_stream);
            transfers[distance]++;
            bytes[distance] += e->bytes;
            loads[to] += e->bytes;
            access_bytes[to] += e->access_bytes;
        }
    for (unsigned from = 0; from < t->launch_count; from++)
        for (unsigned to = from + 1; to < t->launch_count; to++)
            if (!c->per_stream || stream_of(t, from) == stream_of(t, to))
                distinct[distance_of(t, from, to, c->per_stream)] += t->distinct[from][to];
    size_t k = 0;
    for (unsigned distance = 0; distance < CALLS_MAX; distance++) {
        if (!transfers[distance]) continue;
        assert_true(k < c->distance_count);
        assert_int_equal(c->distances[k].distance, distance);
        assert_int_equal(c->distances[k].transfers, transfers[distance]);
        assert_int_equal(c->distances[k].bytes, bytes[distance]);
        assert_int_equal(c->distances[k++].distinct_bytes, distinct[distance]);
    }
    assert_int_equal(k, c->distance_count);
    uint64_t out_access_bytes = 0;
    for (unsigned i = 0; i < t->launch_count; i++) {
        const struct cts_comm_evolution *const row = &c->evolution[i];
        out_access_bytes += t->out_access_bytes[i];
        assert_int_equal(c->launches[i].communicated_out_access_bytes, t->out_access_bytes[i]);
        assert_int_equal(row->load_bytes, loads[i]);
        assert_int_equal(row->load_access_bytes, access_bytes[i]);
        assert_int_equal(row->store_bytes, c->per_stream
                                               ? t->stream_out[i]
                                               : c->launches[i].counts.communicated_out_bytes);
    }
    assert_int_equal(c->communicated_out_access_bytes, out_access_bytes);
}

/* The SM of a node: the last row that names it; -1: none does. */
static int sm_of(const struct twin *t, const struct node *node)
{
    const struct cts_catalogue *const c = &t->program->catalogue;
    for (size_t i = c->cta_sm_count; i-- > 0;)
        if (c->cta_sms[i].launch == t->program->launches[node->launch].launch &&
            c->cta_sms[i].cta == node->cta)
            return (int)c->cta_sms[i].sm;
    return -1;
}

static void check_sms(const struct twin *t, const struct cts_comm *c)
{
    uint64_t known = 0, found = 0;
    for (size_t i = 0; i < c->sm_count; i++) {
        struct cts_comm_counts wanted = {0};
        uint64_t cta_count = 0;
        for (unsigned n = 0; n < t->node_count; n++) {
            if (t->nodes[n].order != c->sms[i].launch ||
                sm_of(t, &t->nodes[n]) != (int)c->sms[i].sm)
                continue;
            cts_comm_counts_add(&wanted, &t->nodes[n].counts);
            cta_count++;
        }
        found += cta_count;
        assert_int_equal(c->sms[i].cta_count, cta_count);
        check_counts(&c->sms[i].counts, &wanted, "row of SMs", (unsigned)i);
    }
    for (unsigned n = 0; n < t->node_count; n++) known += sm_of(t, &t->nodes[n]) >= 0;
    assert_int_equal(found, known);
}

/* ---- several processes, as threads ---- */

struct team {
    pthread_barrier_t barrier;
    unsigned count;
    const void *sent[4];
    const size_t *sizes[4];
};

struct member {
    struct team *team;
    struct cts_processes processes;
    const struct program *program;
    struct cts_comm_options options;
    struct cts_comm result;
    struct cts_error error;
    enum cts_status status;
};

static void meet(void *state)
{
    pthread_barrier_wait(&((struct member *)state)->team->barrier);
}

static void reduce(void *state, uint64_t *values, size_t count, enum cts_reduction reduction)
{
    struct member *const m = state;
    struct team *const team = m->team;
    uint64_t *const sums = malloc(count * sizeof *sums);
    team->sent[m->processes.rank] = values;
    meet(state);
    for (size_t i = 0; i < count; i++) {
        sums[i] = ((const uint64_t *)team->sent[0])[i];
        for (unsigned k = 1; k < team->count; k++) {
            const uint64_t value = ((const uint64_t *)team->sent[k])[i];
            if (reduction == CTS_REDUCE_SUM) sums[i] += value;
            if (reduction == CTS_REDUCE_OR) sums[i] |= value;
            if (reduction == CTS_REDUCE_MIN && value < sums[i]) sums[i] = value;
            if (reduction == CTS_REDUCE_MAX && value > sums[i]) sums[i] = value;
        }
    }
    meet(state);
    memcpy(values, sums, count * sizeof *sums);
    free(sums);
}

static void broadcast(void *state, void *data, size_t size, unsigned root)
{
    struct member *const m = state;
    m->team->sent[m->processes.rank] = data;
    meet(state);
    if (m->processes.rank != root) memcpy(data, m->team->sent[root], size);
    meet(state);
}

static void all_gather(void *state, const void *mine, void *all, const size_t *sizes)
{
    struct member *const m = state;
    char *at = all;
    m->team->sent[m->processes.rank] = mine;
    meet(state);
    for (unsigned i = 0; i < m->team->count; i++) {
        if (sizes[i]) memcpy(at, m->team->sent[i], sizes[i]);
        at += sizes[i];
    }
    meet(state);
}

static void all_to_all(void *state, const void *send, const size_t *send_sizes, void *receive,
                       const size_t *receive_sizes)
{
    struct member *const m = state;
    struct team *const team = m->team;
    char *at = receive;
    team->sent[m->processes.rank] = send;
    team->sizes[m->processes.rank] = send_sizes;
    meet(state);
    for (unsigned i = 0; i < team->count; i++) {
        size_t before = 0;
        for (unsigned k = 0; k < m->processes.rank; k++) before += team->sizes[i][k];
        assert_int_equal(team->sizes[i][m->processes.rank], receive_sizes[i]);
        if (!receive_sizes[i]) continue;
        memcpy(at, (const char *)team->sent[i] + before, receive_sizes[i]);
        at += receive_sizes[i];
    }
    meet(state);
}

static const struct cts_processes_operations team_operations = {.version = CTS_PROCESSES_VERSION,
                                                                .barrier = meet,
                                                                .reduce_u64 = reduce,
                                                                .broadcast = broadcast,
                                                                .all_gather = all_gather,
                                                                .all_to_all = all_to_all};

static enum cts_status analyze(const struct program *p, const struct cts_comm_options *options,
                               struct cts_comm *result, struct cts_error *error)
{
    const struct cts_access_source source = {.chunks = p->chunks,
                                             .chunk_count = p->chunk_count,
                                             .state = p,
                                             .read = read_chunk,
                                             .release = cts_acc_batch_release};
    return cts_comm_analyze(&p->catalogue, &source, options, result, error);
}

static void *run_member(void *argument)
{
    struct member *const m = argument;
    m->options.processes = &m->processes;
    m->status = analyze(m->program, &m->options, &m->result, &m->error);
    return NULL;
}

static void check_result(const struct twin *t, const struct cts_comm *c,
                         const struct cts_comm_options *options);

/* Every process has the whole result. */
static void check_processes(const struct program *p, const struct twin *t,
                            const struct cts_comm_options *options, unsigned count)
{
    struct team team = {.count = count};
    struct member members[4];
    pthread_t threads[4];
    pthread_barrier_init(&team.barrier, NULL, count);
    for (unsigned i = 0; i < count; i++) {
        members[i] = (struct member){.team = &team, .program = p, .options = *options};
        members[i].processes = (struct cts_processes){
            .rank = i, .count = count, .state = &members[i], .operations = &team_operations};
        assert_int_equal(pthread_create(&threads[i], NULL, run_member, &members[i]), 0);
    }
    for (unsigned i = 0; i < count; i++) pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < count; i++) {
        if (members[i].status) fail_msg("process %u of %u: %s", i, count, members[i].error.text);
        check_result(t, &members[i].result, options);
        cts_comm_release(&members[i].result);
    }
    pthread_barrier_destroy(&team.barrier);
}

static void check_result(const struct twin *t, const struct cts_comm *c,
                         const struct cts_comm_options *options)
{
    check_density(t, c);
    assert_int_equal(c->unordered_pairs, t->order.unordered_pairs);
    assert_int_equal(c->superstep_count, t->order.count);
    assert_int_equal(c->carried_bytes, t->carried_bytes);
    assert_int_equal(c->node_count, t->node_count);
    check_launches(t, c);
    check_ctas(t, c);
    check_transfers(t, c, options->transfer_max);
    check_top(t, c, options->top_count);
    check_degrees(t, c);
    check_pairs(t, c);
    check_evolution(t, c);
    check_sites(t, c);
    check_allocations(t, c);
    check_devices(t, c);
    check_sms(t, c);
    check_strides(t, c);
}

/* Operations on some range, by looking at every thread access. */
static void check_query(const struct program *p)
{
    const struct cts_access_source source = {.chunks = p->chunks,
                                             .chunk_count = p->chunk_count,
                                             .state = p,
                                             .read = read_chunk,
                                             .release = cts_acc_batch_release};
    const uint64_t start = region + below(REGION_BYTES), end = start + 1 + below(40);
    struct cts_query query;
    struct cts_error error;
    const struct cts_interval range = {start, end};
    assert_int_equal(cts_comm_query(&p->catalogue, &source, range, &query, &error), CTS_OK);
    size_t row = 0;
    uint64_t reads = 0, written_bytes = 0;
    for (unsigned l = 0; l < p->catalogue.launch_count; l++)
        for (unsigned c = 0; c < p->bodies[l].cta_count; c++)
            for (unsigned site = 0; site < SITES; site++) {
                const struct cta *const cta = &p->bodies[l].ctas[c];
                uint64_t accesses = 0, bytes = 0;
                for (unsigned k = 0; k < cta->record_count; k++) {
                    const struct record *const r = &cta->records[k];
                    unsigned active = 0;
                    if (r->site != site || r->space != CTS_SPACE_GLOBAL) continue;
                    for (unsigned lane = 0; lane < 32; lane++) {
                        if (!(r->mask >> lane & 1)) continue;
                        const uint64_t address = lane_address(r, lane, active++);
                        uint64_t inside = 0;
                        for (unsigned i = 0; i < p->sites[site].width_bytes; i++)
                            inside += address + i >= start && address + i < end;
                        accesses += inside > 0;
                        bytes += inside;
                    }
                }
                if (!accesses) continue;
                assert_true(row < query.row_count);
                assert_int_equal(query.rows[row].launch, p->launches[l].launch);
                assert_int_equal(query.rows[row].cta, c);
                assert_int_equal(query.rows[row].site, site);
                assert_int_equal(query.rows[row].accesses, accesses);
                assert_int_equal(query.rows[row++].bytes, bytes);
                if (p->sites[site].operation != CTS_STORE) reads += accesses;
                if (p->sites[site].operation != CTS_LOAD) written_bytes += bytes;
            }
    assert_int_equal(query.row_count, row);
    assert_int_equal(query.reads, reads);
    assert_int_equal(query.written_bytes, written_bytes);
    cts_query_release(&query);
}

static void check_program(uint64_t seed)
{
    static struct program program;
    static struct twin twin;
    random_start(seed);
    make_program(&program);
    const struct cts_comm_options options = {.paper_model = chance(20),
                                             .ignore_copies = chance(15),
                                             .per_stream = chance(25),
                                             .keep_ctas = true,
                                             .keep_transfers = true,
                                             .transfer_max = chance(20) ? 1 + below(20) : 100000,
                                             .top_count = below(12),
                                             .density_bins = 1 + below(5),
                                             .threads = 1 + below(3),
                                             .region_bits = chance(80) ? 4 + below(7) : 0};
    struct cts_comm result;
    struct cts_error error = {0};
    if (analyze(&program, &options, &result, &error))
        fail_msg("program %llu: %s", (unsigned long long)seed, error.text);
    run_twin(&program, &options, &twin);
    check_result(&twin, &result, &options);
    cts_comm_release(&result);
    check_query(&program);
    if (chance(4)) check_processes(&program, &twin, &options, 2 + below(3));
}

static uint64_t current_program;
static bool finished;

static void agrees_with_the_twin_on_random_programs(void **state)
{
    (void)state;
    const char *const wanted = getenv("CTS_TWIN_PROGRAM"); /* one program, to look into it */
    const uint64_t only = wanted ? strtoull(wanted, NULL, 10) : 0;
    const uint64_t last = wanted ? only : cts_test_count(PROGRAMS_QUICK, PROGRAMS);
    for (uint64_t seed = wanted ? only : 1; seed <= last; seed++) {
        current_program = seed;
        check_program(seed);
    }
    finished = true;
}

static int name_the_program(void **state)
{
    (void)state;
    if (!finished)
        print_error("failed in program %llu: CTS_TWIN_PROGRAM=%llu runs it alone\n",
                    (unsigned long long)current_program, (unsigned long long)current_program);
    return 0;
}

int main(void)
{
    use_arena_if_asked();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(agrees_with_the_twin_on_random_programs, name_the_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
