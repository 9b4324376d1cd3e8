/* The flow analysis against a brute-force twin on random small programs.
 *
 * The twin knows nothing of clocks, runs or states: order is reachability in a graph of calls and
 * works, memory is a list of writers and readers for each byte. Written from docs/flow.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/flow/flow-picture.h"
#include "count.h"
#include "random.h"
#include "record-fixture.h"

enum {
    SLOTS = 4,
    SLOT_BYTES = 300,
    REGION_BYTES = SLOTS * SLOT_BYTES,
    OPS_MAX = 90,
    THREAD_EDGES_MAX = 12,
    STREAMS_MAX = 4,
    THREADS_MAX = 3,
    FUNCTION_THREADS = 50, /* and the stream */
    CTAS = 3,
    RECORDS_MAX = 4,
    SITES = 24,
    EVENTS = 3,
    GRAPH_NODES = 5,
    VERTICES = 3 * OPS_MAX,
    NODES_MAX = 2 * OPS_MAX,
    LIST_MAX = 2 * NODES_MAX,
    PROGRAMS = 2000,
    PROGRAMS_QUICK = 250,
};
/* The region lies across the border of a page of runs. */
static const uint64_t region = UINT64_C(0x7f0000010000) - 650;

/* ---- a program ---- */

struct cta {
    struct record records[RECORDS_MAX];
    unsigned record_count;
};

struct program {
    struct cts_catalogue catalogue;
    struct cts_rank ranks[1];
    struct cts_kernel kernels[2];
    struct cts_site sites[SITES];
    struct cts_cuda_stream streams[STREAMS_MAX];
    struct cts_launch launches[OPS_MAX];
    struct cta bodies[OPS_MAX][CTAS];
    struct cts_copy copies[OPS_MAX];
    struct cts_sync syncs[OPS_MAX];
    struct cts_allocation allocations[OPS_MAX];
    struct cts_host_access host_accesses[OPS_MAX];
    struct cts_host_call calls[OPS_MAX];
    struct cts_host_function functions[OPS_MAX];
    struct cts_thread_edge thread_edges[THREAD_EDGES_MAX];
    struct cts_graph_node graph_nodes[OPS_MAX];
    struct cts_graph_edge graph_edges[GRAPH_NODES * GRAPH_NODES];
    struct cts_acc_chunk chunks[OPS_MAX];
    unsigned chunk_count;
    unsigned thread_count;
    size_t tenant[SLOTS]; /* index + 1 of the live allocation */
    bool is_plain;        /* every access recorded and in an allocation, no host functions */
    unsigned slot;        /* plain: that the launch or copy at hand touches */
    enum { ANY, PRODUCES, CONSUMES } role; /* plain: of the launch at hand */
    bool is_tiled; /* plain: each CTA of the launch at hand touches a part of its own */
    uint64_t op;
};

static void add_call(struct program *p, uint32_t thread, uint32_t stream, const char *api)
{
    p->calls[p->catalogue.call_count++] = (struct cts_host_call){
        .op = p->op, .thread = thread, .device = below(2), .stream = stream, .api = api};
}

static uint32_t some_thread(const struct program *p)
{
    return below(p->thread_count);
}

static uint32_t some_stream(const struct program *p)
{
    return below((unsigned)p->catalogue.stream_count);
}

static void make_tables(struct program *p)
{
    static const char *const kinds[] = {"legacy default", "blocking", "non-blocking",
                                        "per-thread default"};
    p->ranks[0] = (struct cts_rank){.end_ns = 1};
    for (unsigned i = 0; i < 2; i++)
        p->kernels[i] = (struct cts_kernel){.kernel = i, .name = "k", .instrumented = true};
    for (unsigned i = 0; i < SITES; i++) {
        const unsigned kind = below(100);
        p->sites[i] = (struct cts_site){
            .site = i,
            .operation = (uint8_t)(kind < 45   ? CTS_LOAD
                                   : kind < 85 ? CTS_STORE
                                               : CTS_ATOMIC_ADD + below(chance(50) ? 2 : 12)),
            .space = CTS_SPACE_GLOBAL,
            .width_bytes = chance(70) ? 4 : 1u << below(4),
            .is_volatile = chance(8)};
    }
    p->thread_count = chance(50) ? 1 : 2 + below(THREADS_MAX - 1);
    const unsigned streams = 1 + below(STREAMS_MAX);
    const bool two_devices = chance(20);
    for (unsigned i = 0; i < streams; i++)
        p->streams[i] = (struct cts_cuda_stream){.stream = i,
                                                 .device = two_devices ? below(2) : 0,
                                                 .kind = kinds[i == 0 ? 0 : 1 + below(3)],
                                                 .destroyed_op = UINT64_MAX};
    p->catalogue = (struct cts_catalogue){.ranks = p->ranks,
                                          .rank_count = 1,
                                          .kernels = p->kernels,
                                          .kernel_count = 2,
                                          .sites = p->sites,
                                          .site_count = SITES,
                                          .streams = p->streams,
                                          .stream_count = streams,
                                          .launches = p->launches,
                                          .copies = p->copies,
                                          .syncs = p->syncs,
                                          .allocations = p->allocations,
                                          .host_accesses = p->host_accesses,
                                          .calls = p->calls,
                                          .thread_edges = p->thread_edges,
                                          .host_functions = p->functions,
                                          .graph_nodes = p->graph_nodes,
                                          .graph_edges = p->graph_edges};
}

static void make_record(const struct program *p, unsigned cta, struct record *r)
{
    const unsigned part = SLOT_BYTES / CTAS;
    /* Producers and consumers also load a table, which both need. */
    const bool is_table = p->role != ANY && chance(25);
    const unsigned slot = (p->slot + is_table) % SLOTS;
    *r = (struct record){.site = below(SITES), .space = CTS_SPACE_GLOBAL};
    for (unsigned tries = 0; p->role && tries < 20; tries++) {
        const struct cts_site *const site = &p->sites[r->site];
        const bool is_store = p->role == PRODUCES && !is_table;
        if (!site->is_volatile && site->operation == (is_store ? CTS_STORE : CTS_LOAD)) break;
        r->site = below(SITES);
    }
    const uint32_t width = p->sites[r->site].width_bytes;
    const bool is_tiled = p->is_plain && p->is_tiled;
    const uint64_t start =
        p->is_plain ? region + slot * SLOT_BYTES + (is_tiled ? cta * part : 0) : region;
    const uint64_t size = is_tiled ? part : p->is_plain ? SLOT_BYTES : REGION_BYTES;
    for (;;) {
        r->mask = chance(60) ? UINT32_MAX : (uint32_t)random_u64() | 1;
        r->pattern = (uint8_t)below(2); /* uniform or affine */
        r->base = start + below((unsigned)size - 8);
        if (chance(80)) r->base -= r->base % width;
        if (is_tiled) r->mask &= (1u << below(width < 4 ? 32 : 100 / width)) - 1;
        if (!r->mask) r->mask = 1;
        r->s0 = chance(70) ? (int32_t)width : (int32_t)below(20) - 10;
        if (stays_inside(r, width, start, size)) return;
    }
}

static void make_launch(struct program *p, uint32_t stream)
{
    const size_t i = p->catalogue.launch_count++;
    p->role = !p->is_plain || chance(40) ? ANY : p->role == PRODUCES ? CONSUMES : PRODUCES;
    if (p->role != CONSUMES) p->slot = below(SLOTS);
    const bool is_reduction = p->role == CONSUMES && chance(50);
    p->is_tiled = !is_reduction && chance(80);
    p->launches[i] = (struct cts_launch){.launch = (uint32_t)i,
                                         .op = p->op,
                                         .stream = stream,
                                         .kernel = below(2),
                                         .grid = {CTAS, 1, 1},
                                         .block = {32, 1, 1},
                                         .recorded = p->is_plain || chance(96) ? "all" : "sample",
                                         .end_ns = 1};
    unsigned records = 0;
    for (unsigned k = 0; k < CTAS; k++) {
        p->bodies[i][k].record_count = is_reduction && k ? 0 : below(RECORDS_MAX + 1);
        records += p->bodies[i][k].record_count;
        for (unsigned r = 0; r < p->bodies[i][k].record_count; r++)
            make_record(p, k, &p->bodies[i][k].records[r]);
    }
    if (records)
        p->chunks[p->chunk_count++] = (struct cts_acc_chunk){.launch = (uint32_t)i,
                                                             .last_cta = CTAS - 1,
                                                             .first_address = region,
                                                             .last_address = region + REGION_BYTES,
                                                             .record_count = records};
}

static uint64_t some_side(const struct program *p, uint64_t width, bool is_host)
{
    if (p->is_plain && !is_host)
        return region + p->slot * SLOT_BYTES + below((unsigned)(SLOT_BYTES - width));
    if (is_host && chance(70)) return 0x5000 + below(300);
    return region + below((unsigned)(REGION_BYTES - width));
}

static void make_copy(struct program *p, uint32_t stream, uint32_t thread, bool is_step)
{
    static const char *const kinds[] = {"HtoD", "DtoH", "DtoD", "DtoD", "memset", "HtoH", "PtoP"};
    const size_t i = p->catalogue.copy_count++;
    const uint64_t width = 1 + below(p->is_plain ? 40 : 250);
    p->slot = below(SLOTS);
    struct cts_copy *const row = &p->copies[i];
    *row = (struct cts_copy){.copy = (uint32_t)i,
                             .op = p->op,
                             .stream = stream,
                             .kind = kinds[below(7)],
                             .width_bytes = width,
                             .height = 1,
                             .depth = 1,
                             .asynchronous = chance(50),
                             .destination_pitch = width,
                             .source_pitch = width};
    if (!p->is_plain && chance(20)) {
        row->width_bytes = 1 + below(20);
        row->height = 1 + below(4);
        row->destination_pitch = row->source_pitch = row->width_bytes + below(10);
    }
    const uint64_t span = (row->height - 1) * row->source_pitch + row->width_bytes;
    row->destination = some_side(p, span, row->kind[3] == 'H');
    row->source = some_side(p, span, row->kind[0] == 'H');
    if (chance(30) && i && p->copies[i - 1].kind[0] == row->kind[0]) { /* again */
        const uint64_t op = row->op;
        *row = p->copies[i - 1];
        row->op = op;
        row->copy = (uint32_t)i;
        row->stream = stream;
    }
    if (!is_step) add_call(p, thread, CTS_NONE, chance(50) ? "cudaMemcpy" : "cudaMemcpyAsync");
}

static void make_sync(struct program *p, uint32_t thread)
{
    static const char *const kinds[] = {"event record", "event record", "stream wait",
                                        "stream wait",  "event sync",   "stream sync",
                                        "device sync",  "event query",  "stream query"};
    struct cts_sync *const row = &p->syncs[p->catalogue.sync_count++];
    *row = (struct cts_sync){.op = p->op,
                             .kind = kinds[below(9)],
                             .stream = some_stream(p),
                             .event = 5 + below(EVENTS),
                             .result = chance(15) ? 600 : 0};
    if (!strncmp(row->kind, "event s", 7) || !strncmp(row->kind, "event q", 7) ||
        !strcmp(row->kind, "device sync"))
        row->stream = CTS_NONE;
    add_call(p, thread, CTS_NONE, chance(80) ? "call" : NULL);
}

static void allocate(struct program *p, unsigned slot)
{
    static const char *const kinds[] = {"device", "device", "device", "pinned", "managed"};
    const size_t i = p->catalogue.allocation_count++;
    const bool is_whole = p->is_plain;
    const uint64_t start = is_whole || chance(50) ? 0 : below(SLOT_BYTES);
    p->allocations[i] = (struct cts_allocation){
        .allocation = (uint32_t)i,
        .op = p->op,
        .freed_op = UINT64_MAX,
        .device = p->streams[some_stream(p)].device,
        .kind = kinds[below(5)],
        .address = region + slot * SLOT_BYTES + start,
        .size_bytes = is_whole || chance(50) ? SLOT_BYTES - start
                                             : 1 + below((unsigned)(SLOT_BYTES - start))};
    p->tenant[slot] = i + 1;
}

static void make_memory(struct program *p, uint32_t thread)
{
    const unsigned slot = below(SLOTS);
    const bool in_stream = chance(40);
    const uint32_t stream = in_stream ? some_stream(p) : CTS_NONE;
    const bool is_free = p->tenant[slot] > 0;
    add_call(p, thread, stream, "memory");
    if (is_free) {
        p->allocations[p->tenant[slot] - 1].freed_op = p->op;
        p->tenant[slot] = 0;
    }
    if (is_free && !p->is_plain) return;
    if (is_free) { /* and allocated again */
        p->op++;
        add_call(p, thread, stream, "memory");
    }
    allocate(p, slot);
}

static void make_access(struct program *p, uint32_t thread)
{
    struct cts_host_access *const row = &p->host_accesses[p->catalogue.host_access_count++];
    const uint64_t start = below(REGION_BYTES);
    *row = (struct cts_host_access){.op = p->op,
                                    .is_store = chance(50),
                                    .address = region + start,
                                    .size_bytes = 1 + below((unsigned)(REGION_BYTES - start))};
    if (chance(70) && row->size_bytes > 60) row->size_bytes = 60;
    add_call(p, thread, CTS_NONE, NULL);
}

/* A host function, whose thread is its stream's: begin, accesses, end come a few ops later. */
static void make_function(struct program *p, uint32_t stream, uint32_t thread, bool is_step)
{
    const uint64_t op = p->op;
    const uint32_t own = FUNCTION_THREADS + stream;
    if (!is_step) add_call(p, thread, CTS_NONE, "cudaLaunchHostFunc");
    p->op++;
    const uint64_t begin = p->op;
    add_call(p, own, CTS_NONE, NULL);
    for (unsigned i = below(3); i; i--) {
        p->op++;
        make_access(p, own);
    }
    p->op++;
    add_call(p, own, CTS_NONE, NULL);
    p->functions[p->catalogue.host_function_count++] = (struct cts_host_function){
        .op = op, .stream = stream, .thread = own, .begin_op = begin, .end_op = p->op};
}

static void make_graph(struct program *p)
{
    for (uint32_t n = 1; n < GRAPH_NODES; n++)
        for (uint32_t after = 0; after < n; after++)
            if (chance(40))
                p->graph_edges[p->catalogue.graph_edge_count++] =
                    (struct cts_graph_edge){0, 1, n, after};
}

static void launch_graph(struct program *p, uint32_t thread)
{
    const uint64_t launch_op = p->op;
    const uint32_t stream = some_stream(p);
    add_call(p, thread, CTS_NONE, "cudaGraphLaunch");
    for (uint32_t n = 0; n < GRAPH_NODES; n++) {
        if (n && chance(20)) continue; /* does nothing */
        p->op++;
        const uint64_t op = p->op;
        add_call(p, thread, CTS_NONE, "cudaGraphLaunch");
        const unsigned kind = below(10);
        if (kind < 6)
            make_launch(p, stream);
        else if (kind < 9 || p->is_plain)
            make_copy(p, stream, thread, true);
        else
            make_function(p, stream, thread, true);
        p->graph_nodes[p->catalogue.graph_node_count++] =
            (struct cts_graph_node){.op = op, .graph = 1, .launch_op = launch_op, .node = n};
    }
}

/* Threads that synchronise; some edges point to what comes later, and mean nothing. */
static void make_thread_edges(struct program *p)
{
    const size_t count = p->thread_count > 1 && chance(60) ? below(THREAD_EDGES_MAX) : 0;
    uint64_t op = 0;
    for (size_t i = 0; i < count && op < p->op; i++) {
        op += below(6);
        p->thread_edges[p->catalogue.thread_edge_count++] = (struct cts_thread_edge){
            .op = op, .after = chance(90) ? below((unsigned)op + 1) : op + 3};
    }
}

static void make_program(struct program *p)
{
    memset(p, 0, sizeof *p);
    make_tables(p);
    make_graph(p);
    p->is_plain = chance(40);
    const bool has_accesses = chance(50), has_graphs = chance(30);
    for (unsigned i = 0; i < SLOTS; i++, p->op++) make_memory(p, 0); /* of some slots */
    for (unsigned i = 0; i < SLOTS && p->is_plain; i++)              /* of all */
        if (!p->tenant[i]) {
            add_call(p, 0, CTS_NONE, "memory");
            allocate(p, i);
            p->op++;
        }
    const unsigned count = 5 + below(30);
    for (unsigned i = 0; i < count && p->op + 16 < OPS_MAX; i++, p->op++) {
        const uint32_t thread = some_thread(p), stream = some_stream(p);
        const unsigned kind = below(100);
        if (kind < 40) {
            add_call(p, thread, CTS_NONE, "cudaLaunchKernel");
            make_launch(p, stream);
        } else if (kind < 55)
            make_copy(p, stream, thread, false);
        else if (kind < 75)
            make_sync(p, thread);
        else if (kind < 85)
            make_memory(p, thread);
        else if (kind < 93 && has_accesses)
            make_access(p, thread);
        else if (kind < 96 && has_graphs)
            launch_graph(p, thread);
        else if (!p->is_plain)
            make_function(p, stream, thread, false);
    }
    make_thread_edges(p);
}

static enum cts_status read_chunk(const void *state, const struct cts_acc_chunk *chunk,
                                  struct cts_acc_batch *batch, struct cts_error *error)
{
    const struct program *const p = state;
    if (batch_start(batch, chunk, error)) return CTS_MEMORY;
    for (uint32_t cta = 0; cta < CTAS; cta++)
        for (unsigned k = 0; k < p->bodies[chunk->launch][cta].record_count; k++) {
            const struct cts_access record =
                record_access(&p->bodies[chunk->launch][cta].records[k], chunk->launch, cta);
            batch_put(batch, &record);
        }
    return CTS_OK;
}

/* ---- the twin: nodes and order ---- */

/* Op k: vertex 3k is its call, 3k + 1 what it asks for, 3k + 2 its return. */
static unsigned call_of(uint64_t op)
{
    return 3 * (unsigned)op;
}
static unsigned work_of(uint64_t op)
{
    return 3 * (unsigned)op + 1;
}
static unsigned return_of(uint64_t op)
{
    return 3 * (unsigned)op + 2;
}

struct twin_node {
    uint8_t kind;
    size_t index;
    uint64_t op;
    unsigned vertex;
    bool in_stream, staged, hides;
};

struct twin {
    const struct program *p;
    bool reach[CTS_FLOW_LEVELS][VERTICES][VERTICES];
    struct twin_node nodes[NODES_MAX];
    unsigned node_count;
};

static const struct cts_host_call *call_at(const struct program *p, uint64_t op)
{
    for (size_t i = 0; i < p->catalogue.call_count; i++)
        if (p->calls[i].op == op) return &p->calls[i];
    return NULL;
}

static bool is_pinned_at(const struct program *p, uint64_t address, uint64_t op)
{
    for (size_t i = 0; i < p->catalogue.allocation_count; i++) {
        const struct cts_allocation *const a = &p->allocations[i];
        if (a->op <= op && op < a->freed_op && address >= a->address &&
            address < a->address + a->size_bytes && strcmp(a->kind, "device") != 0)
            return true;
    }
    return false;
}

static void add_node(struct twin *t, uint8_t kind, size_t index, uint64_t op, unsigned vertex,
                     bool in_stream)
{
    struct twin_node *const n = &t->nodes[t->node_count++];
    *n = (struct twin_node){
        .kind = kind, .index = index, .op = op, .vertex = vertex, .in_stream = in_stream};
    if (kind == CTS_FLOW_LAUNCH) n->hides = strcmp(t->p->launches[index].recorded, "all") != 0;
}

/* The node of the work with this op, if there is one; returns whether it is a work. */
static bool add_work(struct twin *t, uint64_t op, uint32_t *stream, bool is_step)
{
    const struct program *const p = t->p;
    const struct cts_catalogue *const c = &p->catalogue;
    for (size_t i = 0; i < c->launch_count; i++)
        if (p->launches[i].op == op) {
            add_node(t, CTS_FLOW_LAUNCH, i, op, work_of(op), true);
            *stream = p->launches[i].stream;
            return true;
        }
    for (size_t i = 0; i < c->copy_count; i++)
        if (p->copies[i].op == op) {
            const bool is_memset = !strcmp(p->copies[i].kind, "memset");
            add_node(t, is_memset ? CTS_FLOW_MEMSET : CTS_FLOW_COPY, i, op, work_of(op), true);
            t->nodes[t->node_count - 1].staged = !is_step && !strcmp(p->copies[i].kind, "HtoD") &&
                                                 !is_pinned_at(p, p->copies[i].source, op);
            *stream = p->copies[i].stream;
            return true;
        }
    for (size_t f = 0; f < c->host_function_count; f++) {
        const struct cts_host_function *const row = &p->functions[f];
        if (row->op != op) continue;
        for (int stores = 0; stores < 2; stores++)
            for (size_t i = 0; i < c->host_access_count; i++)
                if (p->host_accesses[i].op >= row->begin_op &&
                    p->host_accesses[i].op <= row->end_op &&
                    p->host_accesses[i].is_store == (stores == 1))
                    add_node(t, stores ? CTS_FLOW_HOST_STORE : CTS_FLOW_HOST_LOAD, i, op,
                             work_of(op), true);
        *stream = row->stream;
        return true;
    }
    return false;
}

static bool in_function(const struct program *p, uint64_t op)
{
    for (size_t f = 0; f < p->catalogue.host_function_count; f++)
        if (op >= p->functions[f].begin_op && op <= p->functions[f].end_op) return true;
    return false;
}

static bool is_step(const struct program *p, uint64_t op)
{
    for (size_t i = 0; i < p->catalogue.graph_node_count; i++)
        if (p->graph_nodes[i].op == op) return true;
    return false;
}

static bool is_graph_launch(const struct program *p, uint64_t op)
{
    for (size_t i = 0; i < p->catalogue.graph_node_count; i++)
        if (p->graph_nodes[i].launch_op == op) return true;
    return false;
}

struct building {
    struct twin *t;
    bool (*edge)[VERTICES]; /* of the level */
    unsigned level;
    int last[STREAMS_MAX];        /* vertex of a stream's last command */
    int returned[THREADS_MAX];    /* of a thread's last call */
    int in_function[STREAMS_MAX]; /* last return of a host function's thread */
    int freed[THREADS_MAX];
    int recorded[EVENTS];
    int graph_end;
    int shared; /* return of the last call of any thread */
    const bool *tells_host;
    const bool *omits; /* by synchronisation: it waits for nothing; NULL: none */
};

static void enter_stream(struct building *b, uint32_t stream, unsigned vertex)
{
    const struct program *const p = b->t->p;
    const struct cts_cuda_stream *const own = &p->streams[stream];
    if (b->last[stream] >= 0) b->edge[b->last[stream]][vertex] = true;
    for (unsigned s = 0; s < p->catalogue.stream_count; s++) {
        const struct cts_cuda_stream *const other = &p->streams[s];
        if (other->device != own->device || b->last[s] < 0) continue;
        const bool own_waits = own->kind[0] == 'l' && strcmp(other->kind, "non-blocking");
        const bool other_holds = other->kind[0] == 'l' && strcmp(own->kind, "non-blocking");
        if (own_waits || other_holds) b->edge[b->last[s]][vertex] = true;
    }
    b->last[stream] = (int)vertex;
}

static bool is_api(const struct program *p, uint64_t op, const char *part)
{
    const struct cts_host_call *const call = call_at(p, op);
    return call && call->api && strstr(call->api, part);
}

static void return_from_copy(struct building *b, const struct cts_copy *copy)
{
    const struct program *const p = b->t->p;
    const bool is_async = is_api(p, copy->op, "Async");
    bool waits = !strcmp(copy->kind, "HtoH");
    if (!strcmp(copy->kind, "HtoD")) waits = !is_async;
    if (!strcmp(copy->kind, "DtoH"))
        waits = !is_async ||
                (b->level >= CTS_FLOW_CALLS && !is_pinned_at(p, copy->destination, copy->op));
    if (!strcmp(copy->kind, "memset"))
        waits = !is_async && is_pinned_at(p, copy->destination, copy->op);
    if (waits) b->edge[work_of(copy->op)][return_of(copy->op)] = true;
}

static void add_sync(struct building *b, const struct cts_sync *sync)
{
    const struct program *const p = b->t->p;
    const unsigned work = work_of(sync->op), done = return_of(sync->op);
    int *const event = &b->recorded[sync->event - 5];
    if (sync->result || (b->omits && b->omits[sync - p->syncs])) return;
    if (!strcmp(sync->kind, "event record")) {
        b->edge[call_of(sync->op)][work] = true;
        enter_stream(b, sync->stream, work);
        *event = (int)work;
    } else if (!strcmp(sync->kind, "stream wait")) {
        b->edge[call_of(sync->op)][work] = true;
        enter_stream(b, sync->stream, work);
        if (*event >= 0) b->edge[*event][work] = true;
    } else if (!strncmp(sync->kind, "event", 5)) {
        if (*event >= 0) b->edge[*event][done] = true;
    } else if (!strncmp(sync->kind, "stream", 6)) {
        if (b->last[sync->stream] >= 0) b->edge[b->last[sync->stream]][done] = true;
        const struct cts_cuda_stream *const own = &p->streams[sync->stream];
        for (unsigned s = 0; s < p->catalogue.stream_count; s++)
            if (b->level >= CTS_FLOW_CALLS && !strcmp(sync->kind, "stream sync") &&
                own->kind[0] == 'l' && p->streams[s].device == own->device &&
                strcmp(p->streams[s].kind, "non-blocking") && b->last[s] >= 0)
                b->edge[b->last[s]][done] = true;
    } else {
        const struct cts_host_call *const call = call_at(p, sync->op);
        bool several = false;
        for (unsigned s = 1; s < p->catalogue.stream_count; s++)
            several |= p->streams[s].device != p->streams[0].device;
        for (unsigned s = 0; s < p->catalogue.stream_count; s++) {
            const bool covers = call->api ? p->streams[s].device == call->device
                                          : !several || b->level >= CTS_FLOW_CALLS;
            if (covers && b->last[s] >= 0) b->edge[b->last[s]][done] = true;
        }
    }
}

static bool overlap(const struct cts_allocation *a, const struct cts_allocation *b)
{
    return a->address < b->address + b->size_bytes && b->address < a->address + a->size_bytes;
}

static void add_memory(struct building *b, uint64_t op, uint32_t thread)
{
    const struct program *const p = b->t->p;
    const struct cts_host_call *const call = call_at(p, op);
    const unsigned work = work_of(op);
    for (size_t i = 0; i < p->catalogue.allocation_count; i++) {
        const struct cts_allocation *const a = &p->allocations[i];
        if (a->op == op) {
            add_node(b->t, CTS_FLOW_ALLOCATION, i, op, work, call->stream != CTS_NONE);
            b->edge[call_of(op)][work] = true;
            if (call->stream != CTS_NONE)
                enter_stream(b, call->stream, work);
            else
                b->edge[work][return_of(op)] = true;
            for (size_t k = 0; k < p->catalogue.allocation_count; k++)
                if (p->allocations[k].freed_op < op && overlap(a, &p->allocations[k]))
                    b->edge[work_of(p->allocations[k].freed_op)][work] = true;
        }
        if (a->freed_op != op) continue;
        add_node(b->t, CTS_FLOW_FREE, i, op, work, call->stream != CTS_NONE);
        b->edge[call_of(op)][work] = true;
        if (call->stream != CTS_NONE) {
            enter_stream(b, call->stream, work);
            continue;
        }
        for (unsigned s = 0; s < p->catalogue.stream_count; s++)
            if (p->streams[s].device == a->device && b->last[s] >= 0)
                b->edge[b->last[s]][work] = true;
        if (b->freed[thread] >= 0) b->edge[b->freed[thread]][work] = true;
        b->freed[thread] = (int)work;
        if (b->level >= CTS_FLOW_CALLS) b->edge[work][return_of(op)] = true;
    }
}

static void add_graph(struct building *b, uint64_t launch_op)
{
    const struct program *const p = b->t->p;
    const unsigned begin = work_of(launch_op), end = return_of(launch_op);
    /* The launch's return vertex is its end; the call's own return is its call vertex. */
    uint32_t stream = 0;
    unsigned vertices[GRAPH_NODES];
    uint64_t ops[GRAPH_NODES] = {0};
    for (size_t i = 0; i < p->catalogue.graph_node_count; i++)
        if (p->graph_nodes[i].launch_op == launch_op)
            ops[p->graph_nodes[i].node] = p->graph_nodes[i].op;
    const unsigned nodes_before = b->t->node_count;
    for (unsigned n = 0; n < GRAPH_NODES; n++)
        if (ops[n]) (void)add_work(b->t, ops[n], &stream, true);
    assert_true(b->t->node_count >= nodes_before);
    b->edge[call_of(launch_op)][begin] = true;
    enter_stream(b, stream, begin);
    if (b->graph_end >= 0) b->edge[b->graph_end][begin] = true;
    b->edge[begin][end] = true;
    /* A node that does nothing hands on what it follows. */
    bool follows[GRAPH_NODES][GRAPH_NODES] = {{false}};
    for (size_t i = 0; i < p->catalogue.graph_edge_count; i++)
        follows[p->graph_edges[i].node][p->graph_edges[i].after] = true;
    for (unsigned n = 0; n < GRAPH_NODES; n++)
        for (unsigned a = 0; a < n; a++)
            for (unsigned k = 0; follows[n][a] && k < a; k++) follows[n][k] |= follows[a][k];
    for (unsigned n = 0; n < GRAPH_NODES; n++) {
        if (!ops[n]) continue;
        vertices[n] = work_of(ops[n]);
        b->edge[begin][vertices[n]] = b->edge[vertices[n]][end] = true;
        for (unsigned a = 0; a < n; a++)
            if (follows[n][a] && ops[a]) b->edge[vertices[a]][vertices[n]] = true;
    }
    b->last[stream] = b->graph_end = (int)end;
}

static void close_graph(bool edge[VERTICES][VERTICES], unsigned count)
{
    for (unsigned via = 0; via < count; via++)
        for (unsigned a = 0; a < count; a++)
            for (unsigned c = 0; edge[a][via] && c < count; c++) edge[a][c] |= edge[via][c];
}

static void tell(struct building *b, uint64_t op, unsigned call)
{
    const struct program *const p = b->t->p;
    if (b->level < CTS_FLOW_SIGNALS) return;
    for (size_t f = 0; f < p->catalogue.host_function_count; f++)
        if (p->functions[f].end_op <= op && p->functions[f].op < op)
            b->edge[work_of(p->functions[f].op)][call] = true;
    for (size_t i = 0; i < p->catalogue.launch_count; i++) {
        uint64_t from = p->launches[i].op;
        for (size_t k = 0; k < p->catalogue.graph_node_count; k++)
            if (p->graph_nodes[k].op == from) from = p->graph_nodes[k].launch_op;
        if (b->tells_host[i] && from < op) b->edge[work_of(p->launches[i].op)][call] = true;
    }
}

static void learn_from_threads(struct building *b, uint64_t op)
{
    const struct program *const p = b->t->p;
    for (size_t i = 0; i < p->catalogue.thread_edge_count; i++) {
        const uint64_t after = p->thread_edges[i].after;
        if (p->thread_edges[i].op != op || after >= op || !call_at(p, after)) continue;
        const bool returns = !is_graph_launch(p, after) && !is_step(p, after);
        b->edge[returns ? return_of(after) : call_of(after)][call_of(op)] = true;
    }
}

/* The op of a graph's step is one of the thread that launches the graph. */
static void pass_through_step(struct building *b, uint64_t op)
{
    int *const returned = &b->returned[call_at(b->t->p, op)->thread];
    if (*returned >= 0) b->edge[*returned][call_of(op)] = true;
    learn_from_threads(b, op);
    *returned = (int)call_of(op);
}

/* The ops of a host function are its thread's: they order nothing but what they are told. */
static void pass_through_function(struct building *b, uint64_t op)
{
    const uint32_t stream = call_at(b->t->p, op)->thread - FUNCTION_THREADS;
    if (b->in_function[stream] >= 0) b->edge[b->in_function[stream]][call_of(op)] = true;
    learn_from_threads(b, op);
    b->edge[call_of(op)][return_of(op)] = true;
    b->in_function[stream] = (int)return_of(op);
}

static void build_without(struct twin *t, unsigned level, const bool *tells_host, const bool *omits)
{
    const struct program *const p = t->p;
    struct building b = {.t = t,
                         .edge = t->reach[level],
                         .level = level,
                         .tells_host = tells_host,
                         .omits = omits,
                         .graph_end = -1,
                         .shared = -1};
    memset(t->reach[level], 0, sizeof t->reach[level]);
    for (unsigned i = 0; i < STREAMS_MAX; i++) b.last[i] = b.in_function[i] = -1;
    for (unsigned i = 0; i < THREADS_MAX; i++) b.returned[i] = b.freed[i] = -1;
    for (unsigned i = 0; i < EVENTS; i++) b.recorded[i] = -1;
    t->node_count = 0;
    for (uint64_t op = 0; op <= p->op; op++) {
        const struct cts_host_call *const call = call_at(p, op);
        if (call && in_function(p, op))
            pass_through_function(&b, op);
        else if (call && is_step(p, op))
            pass_through_step(&b, op);
        if (!call || in_function(p, op) || is_step(p, op)) continue;
        const uint32_t thread = call->thread;
        const bool is_graph = is_graph_launch(p, op);
        const unsigned done = is_graph ? call_of(op) : return_of(op);
        if (b.returned[thread] >= 0) b.edge[b.returned[thread]][call_of(op)] = true;
        if (level >= CTS_FLOW_THREADS && b.shared >= 0) b.edge[b.shared][call_of(op)] = true;
        learn_from_threads(&b, op);
        tell(&b, op, call_of(op));
        if (!is_graph) b.edge[call_of(op)][done] = true;
        uint32_t stream;
        if (is_graph) {
            add_graph(&b, op);
        } else if (add_work(t, op, &stream, false)) {
            b.edge[call_of(op)][work_of(op)] = true;
            enter_stream(&b, stream, work_of(op));
        }
        for (size_t i = 0; i < p->catalogue.copy_count; i++)
            if (p->copies[i].op == op && !is_graph) return_from_copy(&b, &p->copies[i]);
        for (size_t i = 0; i < p->catalogue.sync_count; i++)
            if (p->syncs[i].op == op) add_sync(&b, &p->syncs[i]);
        for (size_t i = 0; i < p->catalogue.host_access_count; i++)
            if (p->host_accesses[i].op == op)
                add_node(t, p->host_accesses[i].is_store ? CTS_FLOW_HOST_STORE : CTS_FLOW_HOST_LOAD,
                         i, op, call_of(op), false);
        add_memory(&b, op, thread);
        b.returned[thread] = (int)done;
        b.shared = (int)done;
    }
    close_graph(t->reach[level], 3 * (unsigned)p->op + 3);
}

static void build(struct twin *t, unsigned level, const bool *tells_host)
{
    build_without(t, level, tells_host, NULL);
}

static bool precedes(const struct twin *t, unsigned level, unsigned u, unsigned v)
{
    if (t->nodes[u].vertex == t->nodes[v].vertex) return u < v;
    return t->reach[level][t->nodes[u].vertex][t->nodes[v].vertex];
}

/* ---- the twin: memory ---- */

struct touch {
    unsigned node;
    uint32_t ways;
    unsigned last_reader; /* + 1 */
};

struct byte {
    unsigned tenant; /* + 1 */
    struct touch writers[LIST_MAX], readers[LIST_MAX];
    unsigned writer_count, reader_count;
};

struct twin_edge {
    uint64_t raw, possible, war, waw, unread_waw, commuting, end, race;
};

static struct byte bytes[REGION_BYTES + 2000]; /* behind the region: pageable memory of the host */
static struct twin_edge edges[NODES_MAX][NODES_MAX][OPS_MAX + 1]; /* from, to, tenant */
static struct cts_flow_use uses[NODES_MAX];
static bool tells_host[OPS_MAX];
static unsigned groups[NODES_MAX];
static int64_t live[NODES_MAX + 1];
static unsigned last_use[OPS_MAX]; /* by allocation: node + 1 */

static int index_of(uint64_t address)
{
    if (address >= region && address < region + REGION_BYTES) return (int)(address - region);
    if (address >= 0x5000 && address < 0x5000 + 2000) return REGION_BYTES + (int)(address - 0x5000);
    fail_msg("an address that nobody makes");
    return 0;
}

static void set(uint32_t *ways, uint64_t start, uint64_t size, uint32_t way)
{
    for (uint64_t i = 0; i < size; i++) ways[index_of(start + i)] |= way;
}

/* By launch and CTA: bytes that it stores, and loads before that. */
static bool all_stored[OPS_MAX][CTAS][REGION_BYTES], all_loaded[OPS_MAX][CTAS][REGION_BYTES];

static void touch_launch(const struct program *p, size_t launch, uint32_t *ways)
{
    bool(*const stored)[REGION_BYTES] = all_stored[launch];
    bool(*const loaded)[REGION_BYTES] = all_loaded[launch];
    memset(stored, 0, sizeof all_stored[launch]);
    memset(loaded, 0, sizeof all_loaded[launch]);
    for (unsigned cta = 0; cta < CTAS; cta++)
        for (unsigned k = 0; k < p->bodies[launch][cta].record_count; k++) {
            const struct record *const r = &p->bodies[launch][cta].records[k];
            const struct cts_site *const site = &p->sites[r->site];
            static uint8_t before[REGION_BYTES];
            memcpy(before, stored[cta], sizeof before);
            for (unsigned lane = 0; lane < 32; lane++) {
                if (!(r->mask >> lane & 1)) continue;
                for (unsigned i = 0; i < site->width_bytes; i++) {
                    const int at = index_of(lane_address(r, lane, 0) + i);
                    const bool is_atomic = site->operation >= CTS_ATOMIC_ADD;
                    const unsigned class =
                        site->operation <= CTS_ATOMIC_SUB ? 0u : site->operation - 4u;
                    if (is_atomic || site->is_volatile) ways[at] |= CTS_WAY_SIGNAL;
                    if (site->operation == CTS_STORE) {
                        stored[cta][at] = true;
                        ways[at] |= CTS_WAY_STORE;
                    } else if (before[at]) {
                        ways[at] |= CTS_WAY_OWN_READ;
                    } else if (is_atomic) {
                        ways[at] |= (uint32_t)CTS_WAY_ATOMIC << class;
                    } else {
                        ways[at] |= CTS_WAY_READ;
                        loaded[cta][at] = true;
                    }
                }
            }
        }
    for (unsigned a = 0; a < CTAS; a++)
        for (unsigned b = 0; b < CTAS; b++)
            for (unsigned i = 0; i < REGION_BYTES; i++)
                if (a != b && loaded[a][i] && stored[b][i]) ways[i] |= CTS_WAY_CROSS;
    for (unsigned i = 0; i < REGION_BYTES; i++)
        if (ways[i] & CTS_WAY_ANY_ATOMIC && ways[i] & CTS_WAY_STORE) ways[i] |= CTS_WAY_CROSS;
}

static void touch_node(const struct twin *t, const struct twin_node *n, uint32_t *ways)
{
    const struct program *const p = t->p;
    if (n->kind == CTS_FLOW_LAUNCH) {
        touch_launch(p, n->index, ways);
    } else if (n->kind == CTS_FLOW_COPY || n->kind == CTS_FLOW_MEMSET) {
        const struct cts_copy *const c = &p->copies[n->index];
        for (uint64_t y = 0; y < c->height; y++) {
            if (n->kind == CTS_FLOW_COPY)
                set(ways, c->source + y * c->source_pitch, c->width_bytes, CTS_WAY_READ);
            set(ways, c->destination + y * c->destination_pitch, c->width_bytes, CTS_WAY_STORE);
        }
    } else if (n->kind == CTS_FLOW_HOST_LOAD || n->kind == CTS_FLOW_HOST_STORE) {
        const struct cts_host_access *const a = &p->host_accesses[n->index];
        set(ways, a->address, a->size_bytes,
            n->kind == CTS_FLOW_HOST_LOAD ? CTS_WAY_READ : CTS_WAY_STORE);
    } else {
        const struct cts_allocation *const a = &p->allocations[n->index];
        set(ways, a->address, a->size_bytes, CTS_WAY_END);
    }
}

static bool writes(uint32_t ways)
{
    return ways & (CTS_WAY_STORE | CTS_WAY_END | CTS_WAY_ANY_ATOMIC);
}

static bool commutes(uint32_t a, uint32_t b)
{
    a &= ~(uint32_t)CTS_WAY_SIGNAL;
    b &= ~(uint32_t)CTS_WAY_SIGNAL;
    return a == b && (a & CTS_WAY_ANY_ATOMIC) == a && __builtin_popcount(a) == 1;
}

static bool is_device(const struct program *p, unsigned tenant)
{
    return tenant && !strcmp(p->allocations[tenant - 1].kind, "device");
}

static bool is_exempt(const struct twin *t, unsigned u, unsigned v, unsigned tenant)
{
    const struct twin_node *const a = &t->nodes[u], *const b = &t->nodes[v];
    const bool a_ends = a->kind >= CTS_FLOW_ALLOCATION, b_ends = b->kind >= CTS_FLOW_ALLOCATION;
    return b->kind == CTS_FLOW_ALLOCATION || (a_ends && b_ends) ||
           (a->kind == CTS_FLOW_ALLOCATION && !a->in_stream) || (!tenant && !a_ends && !b_ends);
}

static unsigned find_group(unsigned node)
{
    return groups[node] == node ? node : find_group(groups[node]);
}

static void relate(struct twin *t, const struct touch *from, unsigned v, uint32_t to,
                   unsigned tenant)
{
    const uint32_t a = from->ways, data = CTS_WAY_STORE | CTS_WAY_ANY_ATOMIC;
    const uint32_t reads = CTS_WAY_READ | CTS_WAY_ANY_ATOMIC;
    if (!writes(a) && !writes(to)) return;
    struct twin_edge *const e = &edges[from->node][v][tenant];
    const bool ordered = precedes(t, CTS_FLOW_SURE, from->node, v);
    if (!ordered && a & to & CTS_WAY_SIGNAL) groups[find_group(v)] = find_group(from->node);
    if (commutes(a, to)) {
        e->commuting++;
        return;
    }
    if ((a | to) & CTS_WAY_END) {
        e->end++;
    } else {
        e->raw += a & data && to & reads;
        e->possible += a & data && to & reads && to & CTS_WAY_CROSS;
        e->waw += a & data && to & data;
        e->unread_waw += a & data && to & data && !(to & reads) && !from->last_reader;
        e->war += a & (reads | CTS_WAY_OWN_READ) && to & data;
    }
    e->race += !ordered && !is_exempt(t, from->node, v, tenant);
}

/* `storing`: the node that stores over it, + 1. */
static void forget(struct twin *t, const struct touch *writer, unsigned tenant, uint64_t *dead,
                   unsigned storing)
{
    if (writer->ways & CTS_WAY_END || !tenant) return;
    uses[writer->node].unread_bytes += !is_device(t->p, tenant) && !writer->last_reader;
    if (!is_device(t->p, tenant)) return;
    if (!writer->last_reader) {
        ++*dead;
        return;
    }
    live[writer->node]++;
    live[writer->last_reader - (storing == writer->last_reader)]--;
}

static void touch_byte(struct twin *t, struct byte *b, unsigned v, uint32_t ways)
{
    const struct twin_node *const n = &t->nodes[v];
    const uint32_t covers = ways & (CTS_WAY_STORE | CTS_WAY_END);
    const uint32_t reads = ways & (CTS_WAY_READ | CTS_WAY_ANY_ATOMIC);
    const unsigned tenant = b->tenant;
    const struct cts_allocation *const row = tenant ? &t->p->allocations[tenant - 1] : NULL;
    if (!(ways & CTS_WAY_END)) {
        uses[v].read_bytes += reads || ways & CTS_WAY_OWN_READ;
        uses[v].written_bytes += writes(ways);
        uses[v].outside_bytes += writes(ways) && !tenant;
        if (tenant) last_use[tenant - 1] = v + 1;
        const bool visible = row && strcmp(row->kind, "device") != 0;
        uses[v].host_bytes += writes(ways) && visible;
        if (writes(ways) && visible && ways & CTS_WAY_SIGNAL && n->kind == CTS_FLOW_LAUNCH)
            tells_host[n->index] = true;
    }
    bool only_stale = b->writer_count > 0, any_stale = false, was_written = false;
    struct touch kept[LIST_MAX];
    unsigned kept_count = 0;
    for (unsigned i = 0; i < b->writer_count; i++) {
        struct touch w = b->writers[i];
        relate(t, &w, v, ways, tenant);
        const bool data = w.ways & (CTS_WAY_STORE | CTS_WAY_ANY_ATOMIC);
        only_stale &= !data;
        any_stale |= (w.ways & CTS_WAY_STALE) != 0;
        was_written |= data || w.ways & CTS_WAY_STALE;
        if (reads && !(w.ways & CTS_WAY_END)) w.last_reader = v + 1;
        if (precedes(t, CTS_FLOW_SURE, w.node, v) && (covers || commutes(w.ways, ways)))
            forget(t, &w, tenant,
                   ways & CTS_WAY_END ? &uses[w.node].freed_bytes : &uses[w.node].overwritten_bytes,
                   ways & CTS_WAY_END ? 0 : v + 1);
        else
            kept[kept_count++] = w;
    }
    uses[v].stale_bytes += only_stale && any_stale && reads && is_device(t->p, tenant);
    for (unsigned i = 0; writes(ways) && i < b->reader_count; i++)
        relate(t, &b->readers[i], v, ways, tenant);
    memcpy(b->writers, kept, sizeof *kept * kept_count);
    b->writer_count = kept_count;
    if (covers) {
        unsigned left = 0;
        for (unsigned i = 0; i < b->reader_count; i++)
            if (!precedes(t, CTS_FLOW_SURE, b->readers[i].node, v))
                b->readers[left++] = b->readers[i];
        b->reader_count = left;
    }
    struct touch own = {v, ways, 0};
    if (ways & CTS_WAY_END && was_written) own.ways |= CTS_WAY_STALE;
    if (ways & (CTS_WAY_OWN_READ | CTS_WAY_CROSS | CTS_WAY_ANY_ATOMIC)) own.last_reader = v + 1;
    if (ways & CTS_WAY_END) b->tenant = n->kind == CTS_FLOW_ALLOCATION ? (unsigned)n->index + 1 : 0;
    if (writes(ways))
        b->writers[b->writer_count++] = own;
    else if (!n->staged)
        b->readers[b->reader_count++] = own;
    assert_true(b->writer_count < LIST_MAX && b->reader_count < LIST_MAX);
}

static void walk(struct twin *t)
{
    static uint32_t ways[REGION_BYTES + 2000];
    memset(bytes, 0, sizeof bytes);
    memset(edges, 0, sizeof edges);
    memset(uses, 0, sizeof uses);
    memset(tells_host, 0, sizeof tells_host);
    memset(live, 0, sizeof live);
    memset(last_use, 0, sizeof last_use);
    for (unsigned v = 0; v < t->node_count; v++) groups[v] = v;
    for (unsigned v = 0; v < t->node_count; v++) {
        memset(ways, 0, sizeof ways);
        touch_node(t, &t->nodes[v], ways);
        for (unsigned i = 0; i < REGION_BYTES + 2000; i++)
            if (ways[i]) touch_byte(t, &bytes[i], v, ways[i]);
    }
    for (unsigned i = 0; i < REGION_BYTES + 2000; i++)
        for (unsigned k = 0; k < bytes[i].writer_count; k++)
            forget(t, &bytes[i].writers[k], bytes[i].tenant,
                   &uses[bytes[i].writers[k].node].left_bytes, 0);
}

/* ---- comparing ---- */

static void compare_order(const struct twin *t, unsigned level, const struct cts_flow_order *order)
{
    assert_int_equal(order->node_count, t->node_count);
    for (unsigned u = 0; u < t->node_count; u++) {
        assert_int_equal(order->nodes[u].kind, t->nodes[u].kind);
        assert_int_equal(order->nodes[u].index, t->nodes[u].index);
        assert_int_equal(order->nodes[u].is_staged, t->nodes[u].staged);
        for (unsigned v = 0; v < t->node_count; v++)
            if (u != v && cts_flow_precedes(order, u, v) != precedes(t, level, u, v))
                fail_msg("level %u: node %u (op %llu) before node %u (op %llu): twin says %d",
                         level, u, (unsigned long long)t->nodes[u].op, v,
                         (unsigned long long)t->nodes[v].op, precedes(t, level, u, v));
    }
}

static void compare_levels(struct twin *t, const struct cts_flow_result *flow)
{
    compare_order(t, CTS_FLOW_SURE, &flow->order);
    for (unsigned level = 1; level < CTS_FLOW_LEVELS; level++) {
        struct cts_flow_order order;
        struct cts_error error;
        const struct cts_flow_order_options options = {.level = (enum cts_flow_level)level,
                                                       .tells_host = tells_host};
        assert_int_equal(cts_flow_order_make(&t->p->catalogue, &options, &order, &error), CTS_OK);
        build(t, level, tells_host);
        compare_order(t, level, &order);
        cts_flow_order_release(&order);
    }
}

static bool is_hidden_between(const struct twin *t, unsigned u, unsigned v)
{
    for (unsigned w = 0; w < t->node_count; w++)
        if (t->nodes[w].hides && w != u && !precedes(t, CTS_FLOW_SURE, w, u) &&
            !precedes(t, CTS_FLOW_SURE, v, w))
            return true;
    return false;
}

static bool is_implied(const struct twin *t, unsigned u, unsigned v)
{
    static const struct twin_edge none;
    if (!precedes(t, CTS_FLOW_SURE, u, v)) return false;
    for (unsigned w = 0; w < t->node_count; w++)
        for (unsigned a = 0; a <= t->p->catalogue.allocation_count; a++)
            if (memcmp(&edges[w][v][a], &none, sizeof none) && w != u &&
                precedes(t, CTS_FLOW_SURE, w, v) && precedes(t, CTS_FLOW_SURE, u, w))
                return true;
    return false;
}

static void compare_edges(const struct twin *t, const struct cts_flow_result *flow)
{
    static const struct twin_edge none;
    size_t count = 0;
    const bool host_seen = t->p->catalogue.host_access_count > 0;
    for (unsigned u = 0; u < t->node_count; u++)
        for (unsigned v = 0; v < t->node_count; v++)
            for (unsigned a = 0; a <= t->p->catalogue.allocation_count; a++)
                count += memcmp(&edges[u][v][a], &none, sizeof none) != 0;
    assert_int_equal(flow->walk.edge_count, count);
    for (size_t i = 0; i < flow->walk.edge_count; i++) {
        const struct cts_flow_edge *const e = &flow->walk.edges[i];
        const unsigned tenant = e->allocation == CTS_NONE ? 0 : e->allocation + 1;
        const struct twin_edge *const x = &edges[e->from][e->to][tenant];
        assert_int_equal(e->raw_bytes, x->raw);
        assert_int_equal(e->war_bytes, x->war);
        assert_int_equal(e->waw_bytes, x->waw);
        assert_int_equal(e->commuting_bytes, x->commuting);
        assert_int_equal(e->end_bytes, x->end);
        assert_int_equal(e->race_bytes, x->race);
        assert_int_equal(e->is_ordered, precedes(t, CTS_FLOW_SURE, e->from, e->to));
        assert_int_equal(e->is_implied, is_implied(t, e->from, e->to));
        const bool unseen = !tenant || (!host_seen && !is_device(t->p, tenant));
        const bool possible = x->raw && (unseen || is_hidden_between(t, e->from, e->to));
        assert_int_equal(e->possible_raw_bytes, possible ? x->raw : x->possible);
    }
}

static void compare_uses(const struct twin *t, const struct cts_flow_result *flow)
{
    for (unsigned v = 0; v < t->node_count; v++) {
        const struct cts_flow_use *const u = &flow->walk.uses[v];
        assert_int_equal(u->read_bytes, uses[v].read_bytes);
        assert_int_equal(u->written_bytes, uses[v].written_bytes);
        assert_int_equal(u->outside_bytes, uses[v].outside_bytes);
        assert_int_equal(u->host_bytes, uses[v].host_bytes);
        assert_int_equal(u->overwritten_bytes, uses[v].overwritten_bytes);
        assert_int_equal(u->freed_bytes, uses[v].freed_bytes);
        assert_int_equal(u->left_bytes, uses[v].left_bytes);
        assert_int_equal(u->unread_bytes, uses[v].unread_bytes);
        assert_int_equal(u->stale_bytes, uses[v].stale_bytes);
        assert_int_equal(flow->walk.live_bytes[v], live[v]);
    }
    for (size_t i = 0; i < t->p->catalogue.launch_count; i++)
        assert_int_equal(flow->walk.tells_host[i], tells_host[i]);
}

/* ---- the twin: findings ---- */

static enum cts_flow_reason race_reason(const struct twin *t, unsigned u, unsigned v)
{
    static const enum cts_flow_reason reasons[] = {CTS_FLOW_REASON_CERTAIN, CTS_FLOW_REASON_THREADS,
                                                   CTS_FLOW_REASON_CALLS, CTS_FLOW_REASON_TOLD};
    for (unsigned level = 1; level < CTS_FLOW_LEVELS; level++)
        if (precedes(t, level, u, v) || precedes(t, level, v, u)) return reasons[level];
    for (size_t f = 0; f < t->p->catalogue.host_function_count; f++) {
        const struct cts_host_function *const row = &t->p->functions[f];
        const bool(*const reach)[VERTICES] = t->reach[CTS_FLOW_SURE];
        if ((reach[work_of(row->op)][t->nodes[v].vertex] && row->end_op > t->nodes[u].op) ||
            (reach[work_of(row->op)][t->nodes[u].vertex] && row->end_op > t->nodes[v].op))
            return CTS_FLOW_REASON_FUNCTION;
    }
    return find_group(u) == find_group(v) ? CTS_FLOW_REASON_SIGNAL : CTS_FLOW_REASON_CERTAIN;
}

/* Races by reason: how many, and in how many bytes; findings are sums of them. */
static void compare_races(const struct twin *t, const struct cts_flow_result *flow)
{
    uint64_t times[CTS_FLOW_REASON_COUNT] = {0}, sums[CTS_FLOW_REASON_COUNT] = {0};
    for (unsigned u = 0; u < t->node_count; u++)
        for (unsigned v = 0; v < t->node_count; v++)
            for (unsigned a = 0; a <= t->p->catalogue.allocation_count; a++) {
                if (!edges[u][v][a].race) continue;
                const enum cts_flow_reason reason = race_reason(t, u, v);
                times[reason]++;
                sums[reason] += edges[u][v][a].race;
            }
    for (size_t i = 0; i < flow->finding_count; i++) {
        const struct cts_flow_finding *const f = &flow->findings[i];
        if (f->kind != CTS_FLOW_RACE && f->kind != CTS_FLOW_POSSIBLE_RACE) continue;
        assert_int_equal(f->kind == CTS_FLOW_RACE, f->reason == CTS_FLOW_REASON_CERTAIN);
        times[f->reason] -= f->times;
        sums[f->reason] -= f->bytes;
    }
    for (unsigned i = 0; i < CTS_FLOW_REASON_COUNT; i++) {
        assert_int_equal(times[i], 0);
        assert_int_equal(sums[i], 0);
    }
}

static bool needs(const struct twin *t, unsigned v, bool *seen)
{
    const struct twin_node *const n = &t->nodes[v];
    const bool to_host = n->kind == CTS_FLOW_COPY && t->p->copies[n->index].kind[3] == 'H';
    if (to_host || n->kind == CTS_FLOW_HOST_LOAD || n->kind == CTS_FLOW_HOST_STORE ||
        uses[v].host_bytes || uses[v].outside_bytes || n->hides ||
        (n->kind == CTS_FLOW_LAUNCH && uses[v].read_bytes && !uses[v].written_bytes))
        return true;
    seen[v] = true;
    for (unsigned w = 0; w < t->node_count; w++)
        for (unsigned a = 0; a <= t->p->catalogue.allocation_count; a++)
            if ((edges[v][w][a].raw || edges[v][w][a].commuting) && !seen[w] && needs(t, w, seen))
                return true;
    return false;
}

static void compare_dead(const struct twin *t, const struct cts_flow_result *flow)
{
    uint64_t count = 0, sum = 0;
    for (unsigned v = 0; v < t->node_count; v++) {
        bool seen[NODES_MAX] = {false};
        if (t->nodes[v].kind > CTS_FLOW_MEMSET || !uses[v].written_bytes || needs(t, v, seen))
            continue;
        count++;
        sum += uses[v].written_bytes;
    }
    for (size_t i = 0; i < flow->finding_count; i++) {
        if (flow->findings[i].kind != CTS_FLOW_DEAD_WORK) continue;
        count -= flow->findings[i].times;
        sum -= flow->findings[i].bytes;
    }
    assert_int_equal(count, 0);
    assert_int_equal(sum, 0);
}

static void compare_avoidable(const struct twin *t, const struct cts_flow_result *flow)
{
    uint64_t count = 0;
    for (unsigned v = 0; v < t->node_count; v++) {
        const struct twin_node *const n = &t->nodes[v];
        if (n->kind != CTS_FLOW_COPY || strcmp(t->p->copies[n->index].kind, "DtoD") ||
            uses[v].host_bytes || uses[v].outside_bytes)
            continue;
        bool any = false, safe = true;
        const unsigned all = (unsigned)t->p->catalogue.allocation_count;
        for (unsigned r = 0; r < t->node_count; r++)
            for (unsigned a = 0; a <= all; a++) {
                safe &= !edges[v][r][a].race;
                if (!edges[v][r][a].raw) continue;
                any = true;
                safe &= precedes(t, CTS_FLOW_SURE, v, r) && !edges[v][r][a].waw;
                for (unsigned x = 0; x < t->node_count; x++) safe &= x == v || !edges[x][r][a].raw;
                for (unsigned w = 0; w < t->node_count; w++)
                    for (unsigned k = 0; k <= all; k++) {
                        const struct twin_edge *const e = &edges[v][w][k];
                        if (e->war || e->waw || e->end)
                            safe &= w != r && precedes(t, CTS_FLOW_SURE, r, w);
                    }
            }
        count += any && safe;
    }
    for (size_t i = 0; i < flow->finding_count; i++)
        if (flow->findings[i].kind == CTS_FLOW_AVOIDABLE_COPY) count -= flow->findings[i].times;
    assert_int_equal(count, 0);
}

static bool is_copy(const struct twin *t, unsigned v, const char *kind)
{
    return t->nodes[v].kind == CTS_FLOW_COPY && !strcmp(t->p->copies[t->nodes[v].index].kind, kind);
}

/* The copy that does again what copy `v` did, + 1; 0: none. */
static unsigned repeated_by(const struct twin *t, unsigned v)
{
    const unsigned all = (unsigned)t->p->catalogue.allocation_count;
    const bool host_seen = t->p->catalogue.host_access_count > 0;
    const struct cts_copy *const a = &t->p->copies[t->nodes[v].index];
    if (!is_copy(t, v, "DtoD") && !is_copy(t, v, "PtoP") &&
        !(is_copy(t, v, "HtoD") && host_seen && !t->nodes[v].staged))
        return 0;
    for (unsigned r = 0; r < t->node_count; r++)
        for (unsigned k = 0; k <= all; k++)
            if (edges[v][r][k].race) return 0;
    for (unsigned w = v + 1; w < t->node_count; w++) {
        uint64_t kept = 0;
        bool touched = false;
        for (unsigned k = 0; k <= all; k++) {
            kept += edges[v][w][k].waw;
            touched |= edges[v][w][k].war || edges[v][w][k].waw || edges[v][w][k].end;
        }
        if (!touched) continue;
        const struct cts_copy *const b = &t->p->copies[t->nodes[w].index];
        const bool same = t->nodes[w].kind == CTS_FLOW_COPY && !strcmp(a->kind, b->kind) &&
                          a->destination == b->destination && a->source == b->source &&
                          a->width_bytes == b->width_bytes && a->height == b->height &&
                          a->destination_pitch == b->destination_pitch;
        return same && kept == uses[w].written_bytes ? w + 1 : 0;
    }
    return 0;
}

static unsigned peak_node(const struct twin *t)
{
    uint64_t now = 0, most = 0;
    unsigned peak = 0;
    for (unsigned v = 0; v < t->node_count; v++) {
        const struct twin_node *const n = &t->nodes[v];
        if (n->kind < CTS_FLOW_ALLOCATION || !is_device(t->p, (unsigned)n->index + 1)) continue;
        const uint64_t size = t->p->allocations[n->index].size_bytes;
        now = n->kind == CTS_FLOW_FREE ? now - size : now + size;
        if (now <= most) continue;
        most = now;
        peak = v + 1;
    }
    return peak;
}

static void compare_others(const struct twin *t, const struct cts_flow_result *flow)
{
    const struct cts_catalogue *const c = &t->p->catalogue;
    uint64_t times[CTS_FLOW_FINDING_KINDS] = {0};
    for (unsigned v = 0; v < t->node_count; v++) {
        const struct cts_flow_use *const u = &uses[v];
        const uint64_t dead = u->overwritten_bytes + u->freed_bytes + u->left_bytes;
        bool seen[NODES_MAX] = {false};
        times[CTS_FLOW_STALE_READ] += u->stale_bytes > 0;
        times[CTS_FLOW_UNREAD_COPY] += is_copy(t, v, "DtoH") && c->host_access_count &&
                                       u->unread_bytes && u->unread_bytes >= u->written_bytes / 8;
        if (t->nodes[v].kind == CTS_FLOW_COPY) {
            times[CTS_FLOW_REPEATED_COPY] += repeated_by(t, v) > 0;
            for (unsigned w = 0; w < t->node_count; w++)
                for (unsigned k = 1; k <= c->allocation_count; k++)
                    times[CTS_FLOW_ROUND_TRIP] += is_copy(t, v, "DtoH") && is_copy(t, w, "HtoD") &&
                                                  c->host_access_count && edges[v][w][k].raw;
        }
        if (t->nodes[v].kind > CTS_FLOW_MEMSET || !u->written_bytes || !needs(t, v, seen)) continue;
        const bool much = dead && dead >= u->written_bytes / 8;
        if (t->nodes[v].kind == CTS_FLOW_MEMSET)
            times[CTS_FLOW_OVERWRITTEN_MEMSET] += u->overwritten_bytes > 0;
        else
            times[t->nodes[v].kind == CTS_FLOW_COPY ? CTS_FLOW_OVERSIZED_COPY
                                                    : CTS_FLOW_DEAD_BYTES] += much;
    }
    const unsigned peak = peak_node(t);
    for (size_t i = 0; i < c->allocation_count; i++) {
        const struct cts_allocation *const row = &t->p->allocations[i];
        if (!is_device(t->p, (unsigned)i + 1)) continue;
        times[CTS_FLOW_UNUSED_ALLOCATION] += !last_use[i];
        times[CTS_FLOW_LATE_FREE] += peak && last_use[i] && row->op < t->nodes[peak - 1].op &&
                                     row->freed_op > t->nodes[peak - 1].op && last_use[i] < peak;
    }
    for (size_t i = 0; i < flow->finding_count; i++)
        times[flow->findings[i].kind] -= flow->findings[i].times;
    for (unsigned kind = CTS_FLOW_DEAD_BYTES; kind < CTS_FLOW_NEEDLESS_ORDER; kind++)
        if (kind != CTS_FLOW_AVOIDABLE_COPY && times[kind])
            fail_msg("%lld more of '%s' by the twin", (long long)times[kind],
                     cts_flow_finding_text((enum cts_flow_finding_kind)kind));
}

/* ---- the twin: needless order ---- */

struct twin_lengths {
    unsigned enforced, needed, raw;
};

static bool is_twin_work(const struct twin *t, unsigned v)
{
    return t->nodes[v].kind <= CTS_FLOW_MEMSET;
}

static bool is_twin_unknown(const struct twin *t, unsigned v)
{
    const struct twin_node *const n = &t->nodes[v];
    return n->hides || uses[v].outside_bytes ||
           (n->kind == CTS_FLOW_LAUNCH && tells_host[n->index]);
}

/* Whether the thread that requested work v knew that u had ended. */
static bool is_told(const struct twin *t, unsigned u, unsigned v)
{
    uint64_t op = t->nodes[v].op;
    for (size_t i = 0; i < t->p->catalogue.graph_node_count; i++)
        if (t->p->graph_nodes[i].op == op) {
            op = t->p->graph_nodes[i].launch_op;
            break;
        }
    return t->reach[CTS_FLOW_SURE][t->nodes[u].vertex][call_of(op)];
}

/* Bytes of edges u -> v by kind: those that need order. */
static struct twin_edge twin_edges_between(const struct twin *t, unsigned u, unsigned v)
{
    struct twin_edge sum = {0};
    for (unsigned a = 0; a <= t->p->catalogue.allocation_count; a++) {
        if (!precedes(t, CTS_FLOW_SURE, u, v)) continue;
        sum.raw += edges[u][v][a].raw;
        sum.war += edges[u][v][a].war;
        sum.waw += edges[u][v][a].waw;
        sum.unread_waw += edges[u][v][a].unread_waw;
        sum.end += edges[u][v][a].end;
    }
    return sum;
}

/* Whether v needs u's bytes, or may leave them where it did not store. */
static bool is_true(const struct twin *t, const struct twin_edge *e, unsigned v)
{
    return e->raw || (e->unread_waw && t->nodes[v].kind == CTS_FLOW_LAUNCH && uses[v].read_bytes);
}

static void take_longer(unsigned *length, unsigned other)
{
    if (*length < other) *length = other;
}

static void measure(const struct twin *t, struct twin_lengths *lengths, unsigned v)
{
    const struct twin_node *const n = &t->nodes[v];
    struct twin_lengths *const l = &lengths[v];
    const bool is_known_work = is_twin_work(t, v) && !is_twin_unknown(t, v);
    const bool is_end = n->kind == CTS_FLOW_ALLOCATION || n->kind == CTS_FLOW_FREE;
    *l = (struct twin_lengths){0};
    for (unsigned u = 0; u < v; u++) {
        const struct twin_edge e = twin_edges_between(t, u, v);
        const bool before = precedes(t, CTS_FLOW_SURE, u, v);
        bool needed = is_known_work ? is_told(t, u, v) ||
                                          (is_twin_work(t, u) && is_twin_unknown(t, u) && before)
                                    : before && !(is_end && n->in_stream);
        if (before) take_longer(&l->enforced, lengths[u].enforced);
        if (needed || e.raw || e.war || e.waw || e.end) take_longer(&l->needed, lengths[u].needed);
        if (needed || is_true(t, &e, v)) take_longer(&l->raw, lengths[u].raw);
    }
    l->enforced += is_twin_work(t, v);
    l->needed += is_twin_work(t, v);
    l->raw += is_twin_work(t, v);
}

/* Allocations and frees by which u -> v, and v itself: bytes of what leads to v. */
static bool follow(const struct twin *t, unsigned from, unsigned v, bool *seen, uint64_t *sum)
{
    const struct twin_edge e = twin_edges_between(t, from, v);
    bool found = e.raw || e.war || e.waw || e.end;
    *sum += e.war + e.waw + e.end;
    for (unsigned w = from + 1; w < v; w++) {
        const struct twin_edge x = twin_edges_between(t, from, w);
        if (seen[w] || !(x.raw || x.war || x.waw || x.end) ||
            (t->nodes[w].kind != CTS_FLOW_ALLOCATION && t->nodes[w].kind != CTS_FLOW_FREE))
            continue;
        seen[w] = true;
        found |= follow(t, w, v, seen, sum);
    }
    return found;
}

/* Each marked chain has the longest length, and every work on it is one longer than the one before.
 */
static void compare_marks(const struct twin *t, const struct cts_flow_result *flow,
                          const struct twin_lengths *lengths)
{
    unsigned enforced = 0, raw = 0;
    unsigned last = NODES_MAX;
    for (unsigned v = 0; v < t->node_count; v++) {
        if (!flow->chain_marks[v]) continue;
        assert_true(is_twin_work(t, v));
        if (flow->chain_marks[v] & CTS_FLOW_ON_TRUE) assert_int_equal(lengths[v].raw, ++raw);
        if (!(flow->chain_marks[v] & CTS_FLOW_ON_ENFORCED)) continue;
        assert_int_equal(lengths[v].enforced, ++enforced);
        assert_true(last == NODES_MAX || precedes(t, CTS_FLOW_SURE, last, v));
        last = v;
    }
    assert_int_equal(enforced, flow->longest_enforced);
    assert_int_equal(raw, flow->longest_raw);
}

static void compare_needless(const struct twin *t, const struct cts_flow_result *flow)
{
    static struct twin_lengths lengths[NODES_MAX];
    struct twin_lengths most = {0};
    uint64_t counts[2] = {0}, sums[2] = {0};
    unsigned last = NODES_MAX;
    const bool is_judged = t->p->catalogue.host_function_count == 0;
    for (unsigned v = 0; v < t->node_count && is_judged; v++) {
        measure(t, lengths, v);
        if (is_twin_work(t, v) && lengths[v].enforced > most.enforced) last = v;
        take_longer(&most.enforced, lengths[v].enforced);
        take_longer(&most.needed, lengths[v].needed);
        take_longer(&most.raw, lengths[v].raw);
    }
    assert_int_equal(flow->longest_enforced, most.enforced);
    assert_int_equal(flow->longest_needed, most.needed);
    assert_int_equal(flow->longest_raw, most.raw);
    if (is_judged) compare_marks(t, flow, lengths);
    while (last != NODES_MAX) {
        const unsigned v = last;
        unsigned u = NODES_MAX;
        for (unsigned w = 0; w < v; w++)
            if (is_twin_work(t, w) && precedes(t, CTS_FLOW_SURE, w, v) &&
                lengths[w].enforced + 1 == lengths[v].enforced)
                u = w;
        last = u;
        if (u == NODES_MAX) break;
        if (is_twin_unknown(t, u) || is_twin_unknown(t, v) || is_told(t, u, v) ||
            find_group(u) == find_group(v))
            continue;
        const struct twin_edge direct = twin_edges_between(t, u, v);
        if (is_true(t, &direct, v)) continue;
        bool seen[NODES_MAX] = {false};
        uint64_t sum = 0;
        const bool is_reuse = follow(t, u, v, seen, &sum);
        const uint64_t a = uses[u].read_bytes + uses[u].written_bytes,
                       b = uses[v].read_bytes + uses[v].written_bytes;
        if ((is_reuse ? most.raw : most.needed) == most.enforced) continue;
        counts[is_reuse]++;
        sums[is_reuse] += is_reuse ? sum : a < b ? a : b;
    }
    for (size_t i = 0; i < flow->finding_count; i++) {
        const struct cts_flow_finding *const f = &flow->findings[i];
        if (f->kind != CTS_FLOW_NEEDLESS_ORDER && f->kind != CTS_FLOW_REUSE_ORDER) continue;
        counts[f->kind == CTS_FLOW_REUSE_ORDER] -= f->times;
        sums[f->kind == CTS_FLOW_REUSE_ORDER] -= f->bytes;
    }
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(counts[i], 0);
        assert_int_equal(sums[i], 0);
    }
}

/* ---- the twin: needless waits ---- */

static bool is_wait(const struct cts_sync *sync)
{
    return !sync->result && strstr(sync->kind, " sync");
}

static bool is_unseen(const struct twin *t, unsigned v)
{
    const struct twin_node *const n = &t->nodes[v];
    const char *const kind = n->kind == CTS_FLOW_COPY ? t->p->copies[n->index].kind : "";
    return is_twin_work(t, v) && is_twin_unknown(t, v) && strcmp(kind, "DtoH") &&
           strcmp(kind, "HtoH");
}

static uint32_t all_touched[NODES_MAX][REGION_BYTES + 2000]; /* ways, by node */
static uint8_t by_allocation[NODES_MAX][OPS_MAX + 1]; /* 1: all_touched, 2: written; 0: of none */
static bool before_waits[VERTICES][VERTICES];

/* The allocation + 1 that a node finds at a byte; 0: none. */
static size_t tenant_at(const struct twin *t, unsigned v, unsigned i)
{
    const struct program *const p = t->p;
    const struct twin_node *const n = &t->nodes[v];
    if (n->kind >= CTS_FLOW_ALLOCATION) return n->index + 1;
    for (size_t a = 0; a < p->catalogue.allocation_count && i < REGION_BYTES; a++)
        if (p->allocations[a].op < n->op && n->op < p->allocations[a].freed_op &&
            region + i >= p->allocations[a].address &&
            region + i < p->allocations[a].address + p->allocations[a].size_bytes)
            return a + 1;
    return 0;
}

static size_t all_tenants[NODES_MAX][REGION_BYTES + 2000];

static void touch_all(const struct twin *t)
{
    memset(all_touched, 0, sizeof all_touched);
    memset(by_allocation, 0, sizeof by_allocation);
    for (unsigned v = 0; v < t->node_count; v++) {
        touch_node(t, &t->nodes[v], all_touched[v]);
        for (unsigned i = 0; i < REGION_BYTES + 2000; i++) {
            if (!all_touched[v][i]) continue;
            const size_t tenant = tenant_at(t, v, i);
            all_tenants[v][i] = tenant;
            by_allocation[v][tenant] |= writes(all_touched[v][i]) ? 3 : 1;
        }
    }
}

static bool conflict_in_bytes(unsigned u, unsigned v)
{
    for (unsigned i = 0; i < REGION_BYTES + 2000; i++)
        if (all_touched[u][i] && all_touched[v][i] && all_tenants[u][i] &&
            all_tenants[u][i] == all_tenants[v][i] &&
            (writes(all_touched[u][i]) || writes(all_touched[v][i])) &&
            !commutes(all_touched[u][i], all_touched[v][i]))
            return true;
    return false;
}

static bool conflict_in_allocations(unsigned u, unsigned v)
{
    for (unsigned a = 0; a <= OPS_MAX; a++)
        if (by_allocation[u][a] && by_allocation[v][a] &&
            (by_allocation[u][a] | by_allocation[v][a]) & 2)
            return true;
    return false;
}

static bool can_host_use(const struct twin *t, unsigned u)
{
    const struct program *const p = t->p;
    if (is_unseen(t, u)) return true;
    if (t->nodes[u].staged) return false;
    for (unsigned a = 0; a <= p->catalogue.allocation_count; a++)
        if (by_allocation[u][a] && (!a || strcmp(p->allocations[a - 1].kind, "device")))
            return true;
    return false;
}

/* A copy from or to memory whose accesses by the host no run shows. */
static bool is_pageable(const struct twin *t, unsigned u)
{
    return t->nodes[u].kind == CTS_FLOW_COPY && !t->nodes[u].staged && by_allocation[u][0];
}

/* Whether some thread knows at some return that u has ended. */
static bool is_ever_known(const struct twin *t, bool reach[VERTICES][VERTICES], unsigned u)
{
    for (uint64_t op = t->nodes[u].op + 1; op <= t->p->op; op++)
        if (call_at(t->p, op) && !in_function(t->p, op) && !is_step(t->p, op) &&
            reach[t->nodes[u].vertex][is_graph_launch(t->p, op) ? call_of(op) : return_of(op)])
            return true;
    return false;
}

static bool is_ordering_event(const struct program *p, uint64_t event)
{
    for (size_t i = 0; i < p->catalogue.sync_count; i++)
        if (!strcmp(p->syncs[i].kind, "stream wait") && p->syncs[i].event == event) return true;
    return false;
}

/* An event's record that the wait tells of, and that follows a work. */
static bool loses_event(const struct twin *t, const struct cts_sync *record, unsigned done)
{
    const unsigned work = work_of(record->op);
    if (record->result || strcmp(record->kind, "event record") ||
        is_ordering_event(t->p, record->event) || !before_waits[work][done] ||
        t->reach[CTS_FLOW_SURE][work][done])
        return false;
    for (unsigned u = 0; u < t->node_count; u++)
        if (t->nodes[u].in_stream && before_waits[t->nodes[u].vertex][work] &&
            !t->reach[CTS_FLOW_SURE][t->nodes[u].vertex][done])
            return true;
    return false;
}

/* What goes wrong if these waits are left out; NULL: nothing. before_waits: the order with them. */
static const char *loss_without(struct twin *t, const bool *omits, bool host_seen,
                                bool (*conflict)(unsigned, unsigned))
{
    const struct program *const p = t->p;
    build_without(t, CTS_FLOW_SURE, NULL, omits);
    bool(*const reach)[VERTICES] = t->reach[CTS_FLOW_SURE];
    for (unsigned u = 0; u < t->node_count; u++)
        for (unsigned v = 0; v < t->node_count; v++) {
            const unsigned a = t->nodes[u].vertex, b = t->nodes[v].vertex;
            if (a == b || !before_waits[a][b] || reach[a][b]) continue;
            if (conflict(u, v)) {
                static char text[128];
                snprintf(text, sizeof text, "the order of ops %llu and %llu, which conflict,",
                         (unsigned long long)t->nodes[u].op, (unsigned long long)t->nodes[v].op);
                return text;
            }
            if ((is_unseen(t, u) && is_twin_work(t, v)) || (is_unseen(t, v) && is_twin_work(t, u)))
                return "a pair that may conflict";
        }
    for (unsigned u = 0; u < t->node_count; u++)
        if (is_twin_work(t, u) && is_ever_known(t, before_waits, u) && !is_ever_known(t, reach, u))
            return "the end of a work";
    for (size_t i = 0; i < p->catalogue.sync_count; i++) {
        const unsigned done = return_of(p->syncs[i].op);
        if (!omits[i]) continue;
        for (unsigned u = 0; u < t->node_count; u++)
            if (is_twin_work(t, u) && (!host_seen || is_unseen(t, u) || is_pageable(t, u)) &&
                can_host_use(t, u) && before_waits[t->nodes[u].vertex][done] &&
                !reach[t->nodes[u].vertex][done])
                return "what the host may use";
        for (size_t k = 0; k < p->catalogue.sync_count; k++)
            if (loses_event(t, &p->syncs[k], done)) return "an event's time";
    }
    return NULL;
}

static uint64_t waits_seen, needless_waits_seen;

static void compare_waits(struct twin *t, const struct cts_flow_result *flow)
{
    const struct program *const p = t->p;
    bool omits[OPS_MAX] = {false};
    if (p->catalogue.host_function_count) {
        assert_null(flow->is_needless_wait);
        return;
    }
    memcpy(before_waits, t->reach[CTS_FLOW_SURE], sizeof before_waits);
    touch_all(t);
    uint64_t needless = 0, needed = 0;
    for (size_t i = 0; i < p->catalogue.sync_count; i++) {
        omits[i] = flow->is_needless_wait[i];
        if (omits[i] && !is_wait(&p->syncs[i])) fail_msg("seed: sync %zu is no wait", i);
        needless += omits[i];
        needed += is_wait(&p->syncs[i]) && !omits[i];
    }
    const char *loss = loss_without(t, omits, flow->host_seen, conflict_in_bytes);
    if (loss) fail_msg("%llu waits left out: %s is lost", (unsigned long long)needless, loss);
    assert_int_equal(needed, flow->needed_waits);
    waits_seen += needless + needed;
    needless_waits_seen += needless;
    /* Not one more can be left out. */
    for (size_t i = 0; i < p->catalogue.sync_count && p->thread_count == 1; i++) {
        if (!is_wait(&p->syncs[i]) || omits[i]) continue;
        omits[i] = true;
        loss = loss_without(t, omits, flow->host_seen, conflict_in_allocations);
        omits[i] = false;
        if (!loss) fail_msg("wait %zu is needless, too", i);
    }
    memcpy(t->reach[CTS_FLOW_SURE], before_waits, sizeof before_waits);
}

/* ---- the twin: fusion ---- */

static uint64_t maps_seen[CTS_FLOW_MAP_REDUCTION + 1], shared_seen, lessened;

static bool has_detour(const struct twin *t, unsigned from, unsigned at, unsigned to, bool *seen)
{
    for (unsigned w = at + 1; w <= to; w++) {
        const struct twin_edge e = twin_edges_between(t, at, w);
        if (!e.raw && !e.war && !e.waw && !e.end && !e.race) continue;
        if (w == to && at != from) return true;
        if (w == to || seen[w]) continue;
        seen[w] = true;
        if (has_detour(t, from, w, to, seen)) return true;
    }
    return false;
}

/* Whether nothing stores over what u wrote to some allocation of which v reads, nor frees it. */
static bool is_left(const struct twin *t, unsigned u, unsigned v)
{
    for (unsigned a = 0; a <= t->p->catalogue.allocation_count; a++) {
        bool has_end = !edges[u][v][a].raw || !is_device(t->p, a);
        for (unsigned w = 0; w < t->node_count; w++)
            has_end |= edges[u][w][a].waw || edges[u][w][a].end;
        if (!has_end) return true;
    }
    return false;
}

static uint64_t saved[NODES_MAX][NODES_MAX];

/* What one kernel made of launches u and v saves, as far as this run shows; 0: it cannot be one. */
static uint64_t saved_here(const struct twin *t, unsigned u, unsigned v)
{
    static const struct twin_edge none;
    uint64_t sum = 0;
    if (t->nodes[u].kind != CTS_FLOW_LAUNCH || t->nodes[v].kind != CTS_FLOW_LAUNCH) return 0;
    for (unsigned a = 0; a <= t->p->catalogue.allocation_count; a++) {
        const struct twin_edge *const e = &edges[u][v][a];
        if (!memcmp(e, &none, sizeof none)) continue;
        if (!precedes(t, CTS_FLOW_SURE, u, v) || e->commuting) return 0;
        if (!e->raw || !is_device(t->p, a)) continue;
        unsigned others = 0;
        for (unsigned w = 0; w < t->node_count; w++)
            others += w != v && (edges[u][w][a].raw || edges[u][w][a].race);
        sum += e->raw * (others ? 1 : 2);
    }
    const uint64_t touched =
        uses[u].read_bytes + uses[u].written_bytes + uses[v].read_bytes + uses[v].written_bytes;
    bool seen[NODES_MAX] = {false};
    if (sum < touched / 8 || is_twin_unknown(t, u) || is_twin_unknown(t, v) || is_told(t, u, v) ||
        find_group(u) == find_group(v) || has_detour(t, u, u, v, seen))
        return 0;
    return sum;
}

/* saved[u][v]; what is left when the run ends saves no more than the pair like it before. */
static void find_saved(const struct twin *t)
{
    const struct cts_launch *const launches = t->p->launches;
    for (unsigned v = 0; v < t->node_count; v++)
        for (unsigned u = 0; u < v; u++) {
            uint64_t before = UINT64_MAX;
            saved[u][v] = saved_here(t, u, v);
            for (unsigned b = 0; saved[u][v] && is_left(t, u, v) && b <= v; b++)
                for (unsigned a = 0; a < (b < v ? b : u); a++)
                    if (saved[a][b] &&
                        launches[t->nodes[a].index].kernel == launches[t->nodes[u].index].kernel &&
                        launches[t->nodes[b].index].kernel == launches[t->nodes[v].index].kernel &&
                        twin_edges_between(t, a, b).raw == twin_edges_between(t, u, v).raw)
                        before = saved[a][b];
            lessened += before < saved[u][v];
            if (before < saved[u][v]) saved[u][v] = before;
        }
}

/* pairs[w][r]: CTA r of the one set has a byte of CTA w of the other; returns how many bytes are in
 * both sets. */
static uint64_t pair_up(bool (*writers)[REGION_BYTES], bool (*readers)[REGION_BYTES],
                        bool pairs[CTAS][CTAS])
{
    uint64_t common = 0;
    for (unsigned i = 0; i < REGION_BYTES; i++) {
        bool any = false;
        for (unsigned w = 0; w < CTAS; w++)
            for (unsigned r = 0; r < CTAS; r++) {
                if (!writers[w][i] || !readers[r][i]) continue;
                any = pairs[w][r] = true;
            }
        common += any;
    }
    return common;
}

static bool is_diagonal(bool pairs[CTAS][CTAS])
{
    for (unsigned w = 0; w < CTAS; w++)
        for (unsigned r = 0; r < CTAS; r++)
            if (w != r && pairs[w][r]) return false;
    return true;
}

static enum cts_flow_map twin_map(const struct twin *t, unsigned u, unsigned v)
{
    const size_t from = t->nodes[u].index, to = t->nodes[v].index;
    const struct twin_edge e = twin_edges_between(t, u, v);
    bool pairs[CTAS][CTAS] = {{false}}, overwritten[CTAS][CTAS] = {{false}};
    if (pair_up(all_stored[from], all_loaded[to], pairs) != e.raw) return CTS_FLOW_MAP_OTHER;
    pair_up(all_stored[from], all_stored[to], overwritten);
    pair_up(all_loaded[from], all_stored[to], overwritten);
    if ((e.war || e.waw) && !is_diagonal(overwritten)) return CTS_FLOW_MAP_OTHER;
    if (is_diagonal(pairs)) return CTS_FLOW_MAP_SAME_CTA;
    unsigned count = 0;
    bool is_reduction = true;
    for (unsigned i = 0; i < CTAS; i++) {
        unsigned readers = 0, writers = 0;
        for (unsigned k = 0; k < CTAS; k++) {
            readers += pairs[i][k];
            writers += pairs[k][i];
        }
        count += readers;
        is_reduction &= readers <= 1 && writers != 1;
    }
    if (is_reduction) return CTS_FLOW_MAP_REDUCTION;
    /* All of the three CTAs lie next to each other. */
    return count < CTAS * CTAS / 2 ? CTS_FLOW_MAP_NEIGHBOUR : CTS_FLOW_MAP_OTHER;
}

/* Bytes that a CTA of u and the same one of v load, or, as all CTAs are neighbours, any; u must not
 * store them. */
static uint64_t shared_by(const struct twin *t, unsigned u, unsigned v, enum cts_flow_map map)
{
    const size_t from = t->nodes[u].index, to = t->nodes[v].index;
    uint64_t count = 0;
    if (map != CTS_FLOW_MAP_SAME_CTA && map != CTS_FLOW_MAP_NEIGHBOUR) return 0;
    for (unsigned i = 0; i < REGION_BYTES; i++) {
        bool is_shared = false, is_stored = false;
        for (unsigned a = 0; a < CTAS; a++) {
            is_stored |= all_stored[from][a][i];
            for (unsigned b = 0; b < CTAS; b++)
                is_shared |= (a == b || map == CTS_FLOW_MAP_NEIGHBOUR) && all_loaded[from][a][i] &&
                             all_loaded[to][b][i];
        }
        count += is_shared && !is_stored;
    }
    shared_seen += count;
    return count;
}

/* The pair that is mapped for u -> v: the first of the same kernels and bytes. */
static void first_like(const struct twin *t, unsigned *u, unsigned *v)
{
    const struct cts_launch *const from = &t->p->launches[t->nodes[*u].index];
    const struct cts_launch *const to = &t->p->launches[t->nodes[*v].index];
    const uint64_t wanted = saved[*u][*v];
    for (unsigned b = 0; b <= *v; b++)
        for (unsigned a = 0; a < b; a++) {
            if (saved[a][b] != wanted || t->p->launches[t->nodes[a].index].kernel != from->kernel ||
                t->p->launches[t->nodes[b].index].kernel != to->kernel)
                continue;
            *u = a;
            *v = b;
            return;
        }
}

static uint64_t compare_fusion(const struct twin *t, const struct cts_flow_result *flow)
{
    enum { MAPS = CTS_FLOW_MAP_REDUCTION + 1 };
    uint64_t counts[MAPS] = {0}, sums[MAPS] = {0}, all = 0;
    find_saved(t);
    for (unsigned u = 0; u < t->node_count; u++)
        for (unsigned v = u + 1; v < t->node_count; v++) {
            unsigned a = u, b = v;
            if (!saved[u][v]) continue;
            first_like(t, &a, &b);
            const enum cts_flow_map map = twin_map(t, a, b);
            all += map != CTS_FLOW_MAP_OTHER;
            maps_seen[map]++;
            counts[map]++;
            sums[map] += saved[u][v] + shared_by(t, a, b, map);
        }
    for (size_t i = 0; i < flow->finding_count; i++) {
        if (flow->findings[i].kind != CTS_FLOW_FUSION) continue;
        counts[flow->findings[i].map] -= flow->findings[i].times;
        sums[flow->findings[i].map] -= flow->findings[i].bytes;
    }
    for (unsigned map = CTS_FLOW_MAP_SAME_CTA; map < MAPS; map++)
        if (counts[map] || sums[map])
            fail_msg("%lld more fusions of '%s' by the twin, %lld bytes", (long long)counts[map],
                     cts_flow_map_text((enum cts_flow_map)map), (long long)sums[map]);
    return all;
}

static unsigned seed;

/* ---- the picture ---- */

/* Nodes before this one at its place. */
static unsigned occurrence(const struct cts_flow_picture *picture, unsigned node)
{
    unsigned count = 0;
    for (unsigned i = 0; i < node; i++) count += picture->place_of[i] == picture->place_of[node];
    return count;
}

/* Edge by edge: what a link must sum. */
static void sum_link(const struct cts_flow_result *flow, const struct cts_flow_picture *picture,
                     const struct cts_flow_link *link, struct cts_flow_sums *sums)
{
    for (size_t i = 0; i < flow->walk.edge_count; i++) {
        const struct cts_flow_edge *const e = &flow->walk.edges[i];
        if (!cts_flow_carries(e) || picture->place_of[e->from] != link->from ||
            picture->place_of[e->to] != link->to)
            continue;
        const bool is_later =
            link->from >= link->to ||
            (picture->places[link->from].times == picture->places[link->to].times &&
             occurrence(picture, e->from) != occurrence(picture, e->to));
        if (is_later != link->is_carried) continue;
        sums->edges++;
        sums->raw_bytes += e->raw_bytes;
        sums->possible_raw_bytes += e->possible_raw_bytes;
        sums->war_bytes += e->war_bytes;
        sums->waw_bytes += e->waw_bytes;
        sums->commuting_bytes += e->commuting_bytes;
        sums->race_bytes += e->race_bytes;
    }
}

static void compare_links(const struct cts_flow_result *flow,
                          const struct cts_flow_picture *picture)
{
    size_t summed = 0, carrying = 0;
    for (size_t i = 0; i < flow->walk.edge_count; i++)
        carrying += cts_flow_carries(&flow->walk.edges[i]);
    for (size_t i = 0; i < picture->link_count; i++) {
        const struct cts_flow_link *const link = &picture->links[i];
        struct cts_flow_sums sums = {0};
        uint64_t raw_of_parts = 0;
        sum_link(flow, picture, link, &sums);
        assert_memory_equal(&sums, &link->sums, sizeof sums);
        summed += sums.edges;
        for (size_t p = link->part_begin; p < link->part_end; p++)
            raw_of_parts += picture->parts[p].sums.raw_bytes;
        assert_int_equal(raw_of_parts, sums.raw_bytes);
    }
    assert_int_equal(summed, carrying);
}

/* Every byte of a true dependence of two works lies in one cell. */
static void compare_matrix(const struct cts_flow_result *flow,
                           const struct cts_flow_picture *picture)
{
    uint64_t in_cells = 0, in_edges = 0;
    for (size_t i = 0; i < (size_t)picture->bin_count * picture->bin_count; i++)
        in_cells += picture->matrix[i];
    for (size_t i = 0; i < flow->walk.edge_count; i++) {
        const struct cts_flow_edge *const e = &flow->walk.edges[i];
        if (flow->order.nodes[e->from].kind <= CTS_FLOW_MEMSET &&
            flow->order.nodes[e->to].kind <= CTS_FLOW_MEMSET)
            in_edges += e->raw_bytes;
    }
    assert_int_equal(in_cells, in_edges);
}

/* Whether something was folded. */
static bool compare_picture(const struct cts_flow_result *flow)
{
    struct cts_flow_picture picture;
    size_t shown = 0;
    uint64_t times = 0;
    bool is_folded = false;
    assert_int_equal(cts_flow_picture_make(flow, &picture, NULL), CTS_OK);
    for (unsigned i = 0; i < flow->order.node_count; i++) {
        const uint32_t place = picture.place_of[i];
        assert_true(place != CTS_NONE || flow->order.nodes[i].kind > CTS_FLOW_MEMSET);
        if (place == CTS_NONE) continue;
        shown++;
        const struct cts_flow_node *const first = &flow->order.nodes[picture.places[place].node];
        assert_int_equal(flow->order.nodes[i].kind, first->kind);
        assert_int_equal(flow->order.nodes[i].stream, first->stream);
    }
    for (uint32_t i = 0; i < picture.fold.place_count; i++) {
        times += picture.places[i].times;
        is_folded |= picture.places[i].times > 1;
    }
    assert_int_equal(times, shown);
    compare_links(flow, &picture);
    compare_matrix(flow, &picture);
    cts_flow_picture_release(&picture);
    return is_folded;
}

static void same_as_the_twin(void **state)
{
    (void)state;
    struct program *const p = malloc(sizeof *p);
    struct twin *const t = malloc(sizeof *t);
    const char *const one = getenv("CTS_TWIN_SEED");
    const unsigned first = one ? (unsigned)strtoul(one, NULL, 10) : 0;
    const unsigned count = one ? 1 : cts_test_count(PROGRAMS_QUICK, PROGRAMS);
    uint64_t folded = 0, races = 0, possible = 0, edge_sum = 0, needless = 0, reused = 0,
             fusions = 0, unmapped = 0;
    for (seed = first; seed < first + count; seed++) {
        random_start(seed);
        make_program(p);
        const struct cts_access_source source = {.chunks = p->chunks,
                                                 .chunk_count = p->chunk_count,
                                                 .state = p,
                                                 .read = read_chunk,
                                                 .release = cts_acc_batch_release};
        struct cts_flow_result flow;
        struct cts_error error;
        /* Every second program is mapped in windows of a few runs. */
        const struct cts_flow_options options = {.threads = 1 + seed % 3,
                                                 .runs_at_a_time = seed % 2 ? 24 : 0};
        if (cts_flow_analyze(&p->catalogue, &source, &options, &flow, &error))
            fail_msg("seed %u: %s", seed, error.text);
        t->p = p;
        build(t, CTS_FLOW_SURE, NULL);
        walk(t);
        compare_uses(t, &flow);
        compare_levels(t, &flow);
        compare_edges(t, &flow);
        compare_races(t, &flow);
        compare_dead(t, &flow);
        compare_avoidable(t, &flow);
        compare_others(t, &flow);
        compare_needless(t, &flow);
        fusions += compare_fusion(t, &flow);
        compare_waits(t, &flow);
        folded += compare_picture(&flow);
        needless += flow.longest_needed < flow.longest_enforced;
        reused += flow.longest_raw < flow.longest_needed;
        races += flow.race_pairs;
        possible += flow.possible_pairs;
        edge_sum += flow.walk.edge_count;
        unmapped += flow.unmapped_pairs;
        cts_flow_release(&flow);
    }
    print_message(
        "%u programs: %llu edges, %llu races, %llu possible ones; %llu with needless "
        "order, %llu with order by reuse; %llu fusions (%llu %llu %llu); %llu of %llu waits "
        "needless\n",
        count, (unsigned long long)edge_sum, (unsigned long long)races,
        (unsigned long long)possible, (unsigned long long)needless, (unsigned long long)reused,
        (unsigned long long)fusions, (unsigned long long)maps_seen[CTS_FLOW_MAP_SAME_CTA],
        (unsigned long long)maps_seen[CTS_FLOW_MAP_NEIGHBOUR],
        (unsigned long long)maps_seen[CTS_FLOW_MAP_REDUCTION],
        (unsigned long long)needless_waits_seen, (unsigned long long)waits_seen);
    print_message("%llu shared bytes, %llu pairs at the end of a run that save less\n",
                  (unsigned long long)shared_seen, (unsigned long long)lessened);
    assert_true(one || folded > 0);
    assert_true(count < PROGRAMS_QUICK || shared_seen > 0); /* sanitized builds make fewer */
    assert_int_equal(unmapped, 0);
    assert_true(one ||
                (races > count && possible > count && needless > 0 && reused > 0 && fusions > 0));
    free(p);
    free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_as_the_twin)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (failed) print_message("CTS_TWIN_SEED=%u\n", seed);
    return failed;
}
