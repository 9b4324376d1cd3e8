/* Reuse, allocations and faults of the access analysis against a twin that looks at every byte of
 * every lane, on random programs: launches with allocations, frees, copies and memsets between
 * them, CTAs that take turns, several files, threads, and hardly any memory for bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "count.h"
#include "arena.h"
#include "analyze/access/access-analysis.h"
#include "random.h"
#include "record-fixture.h"

enum {
    SITES = 9,
    KERNELS = 2,
    LAUNCHES = 5,
    CTAS = 4,
    WARPS = 3,
    RECORDS = 24, /* of a CTA */
    CHUNK_RECORDS = CTAS * RECORDS,
    CHUNKS_MAX = 2 * LAUNCHES * CTAS,
    ALLOCATIONS = 8,
    COPIES = 10,
    SPAN = 1 << 15, /* of addresses that the twin looks at */
    SHARED = 1 << 13
};
static const uint64_t base = 0x200000000000;

struct program {
    struct cts_catalogue catalogue;
    struct cts_kernel kernels[KERNELS];
    struct cts_site sites[SITES];
    struct cts_launch launches[LAUNCHES];
    struct cts_cuda_stream stream;
    struct cts_rank rank;
    struct cts_allocation allocations[ALLOCATIONS];
    struct cts_copy copies[COPIES];
    struct cts_acc_chunk chunks[CHUNKS_MAX];
    size_t chunk_count;
    bool is_aligned; /* lanes of stores are aligned, and each is known */
    struct cts_access records[CHUNKS_MAX][CHUNK_RECORDS];
    uint32_t offsets[CHUNKS_MAX][CHUNK_RECORDS][32];
};

/* ---- a random program ---- */

/* What scattered updates are: lists of aligned lanes, which may repeat. */
static void align_record(struct cts_access *r, uint32_t *offsets)
{
    enum { STORE_OF_24 = 6, STORE_OF_8 = 1 };
    if (r->site == STORE_OF_24) r->site = STORE_OF_8;
    r->pattern = CTS_PATTERN_LIST;
    r->base -= r->base % 8;
    for (unsigned i = 0; i < 32; i++) offsets[i] = offsets[i] / 8 * 8;
}

static void random_record(struct program *p, size_t chunk, size_t place, uint32_t launch,
                          uint32_t cta)
{
    struct cts_access *const r = &p->records[chunk][place];
    uint32_t *const offsets = p->offsets[chunk][place];
    static const uint8_t spaces[] = {CTS_SPACE_GLOBAL, CTS_SPACE_GLOBAL,   CTS_SPACE_GLOBAL,
                                     CTS_SPACE_SHARED, CTS_SPACE_CONSTANT, CTS_SPACE_LOCAL};
    *r = (struct cts_access){.launch = launch,
                             .cta = cta,
                             .site = (uint32_t)below(SITES),
                             .mask = below(2) ? UINT32_MAX : (uint32_t)below(1 << 20),
                             .warp = (uint16_t)below(WARPS),
                             .space = spaces[below(6)],
                             .pattern = (uint8_t)below(4),
                             .offsets = offsets};
    const uint64_t where = below(4) ? 512 * below(8) : below(4096);
    r->base = r->space == CTS_SPACE_GLOBAL ? base + SPAN / 2 + where : 2048 + where / 4;
    if (!r->mask) r->mask = 1;
    static const int32_t strides[] = {4, 8, 16, 24, 24, 0, -4, 1, 128};
    if (r->pattern == CTS_PATTERN_AFFINE) r->s0 = strides[below(9)];
    if (r->s0 == 24) { /* fields of structs, also side by side in one loop */
        r->mask = UINT32_MAX;
        r->warp = (uint16_t)below(2);
        r->base = r->base / 4096 * 4096 + 768 * below(2) + 4 * below(3);
        r->site = below(2) ? 0 : 5;
    }
    if (r->pattern == CTS_PATTERN_TWO_LEVEL) {
        r->row_lanes = below(2) ? 16 : (uint8_t)(2 + below(30));
        r->s0 = below(2) ? 4 : (int32_t)below(12);
        r->s1 = (int32_t)below(300) - 100;
    }
    for (unsigned i = 0; i < 32; i++) offsets[i] = (uint32_t)below(below(2) ? 64 : 900);
    if (p->is_aligned) align_record(r, offsets);
}

static void open_chunk(struct program *p, uint32_t launch, uint32_t file, uint32_t first_cta,
                       uint32_t last_cta)
{
    p->chunks[p->chunk_count] = (struct cts_acc_chunk){.launch = launch,
                                                       .file = file,
                                                       .first_cta = first_cta,
                                                       .last_cta = last_cta,
                                                       .offset_bytes = p->chunk_count};
    p->chunk_count++;
}

/* Chunks of a launch: its CTAs apart in several files, some of which go on in the next chunk of
 * theirs, or taking turns in one chunk. */
/* The record before this one once more, by the store of `a[i] += x` after its load. */
static void repeat_record(struct program *p, size_t chunk, size_t place)
{
    enum { LOAD = 0, STORE = 7 }; /* both of 4 bytes */
    struct cts_access *const load = &p->records[chunk][place - 1];
    struct cts_access *const store = &p->records[chunk][place];
    load->site = LOAD;
    *store = *load;
    store->site = STORE;
    store->offsets = p->offsets[chunk][place];
    memcpy(p->offsets[chunk][place], p->offsets[chunk][place - 1], sizeof p->offsets[chunk][place]);
}

static void random_launch(struct program *p, uint32_t launch)
{
    const bool turns = below(3) == 0, updates = below(3) == 0;
    for (uint32_t cta = 0; cta < CTAS; cta++) {
        const uint32_t file = turns ? 0 : (uint32_t)below(2);
        if (!turns || cta == 0)
            open_chunk(p, launch, file, turns ? 0 : cta, turns ? CTAS - 1 : cta);
        for (unsigned i = 0; i < RECORDS; i++) {
            if (!turns && i == RECORDS / 2 && below(2)) open_chunk(p, launch, file, cta, cta);
            const size_t chunk = p->chunk_count - 1, place = p->chunks[chunk].record_count++;
            if (updates && place % 2)
                repeat_record(p, chunk, place);
            else
                random_record(p, chunk, place, launch, turns ? (uint32_t)below(CTAS) : cta);
        }
    }
}

static void random_host(struct program *p)
{
    static const char *const kinds[] = {"device", "device", "device", "managed", "pinned"};
    for (uint32_t i = 0; i < ALLOCATIONS; i++) {
        const uint64_t op = i ? below(1000) : 0;
        p->allocations[i] =
            (struct cts_allocation){.allocation = i,
                                    .op = op,
                                    .freed_op = i && below(3) ? op + 1 + below(900) : UINT64_MAX,
                                    .address = base + SPAN / 2 - 2048 + 1000 * i,
                                    .size_bytes = 64 + below(900),
                                    .kind = i ? kinds[below(5)] : "device"};
    }
    for (uint32_t i = 0; i < COPIES; i++) {
        static const char *const copies[] = {"memset", "HtoD", "DtoD", "DtoD"};
        p->copies[i] = (struct cts_copy){.copy = i,
                                         .op = 2 * (1 + below(600)),
                                         .kind = copies[below(4)],
                                         .destination = base + SPAN / 2 - 2048 + below(8000),
                                         .source = base + SPAN / 2 - 2048 + below(8000),
                                         .width_bytes = below(1500),
                                         .height = 1,
                                         .depth = 1};
    }
}

/* Operations have numbers of their own: launches end in 5, copies and allocations get the next. */
static void number_operations(struct program *p)
{
    for (uint32_t i = 0; i < COPIES; i++) p->copies[i].op = p->copies[i].op * 100 + 10 + i;
    for (uint32_t i = 0; i < ALLOCATIONS; i++) {
        p->allocations[i].op = i ? p->allocations[i].op * 100 + 30 + i : 0;
        if (p->allocations[i].freed_op != UINT64_MAX)
            p->allocations[i].freed_op = p->allocations[i].freed_op * 100 + 50 + i;
    }
    for (uint32_t i = 0; i < LAUNCHES; i++) p->launches[i].op = (200 * i + 150) * 100 + 5;
}

static int by_op(const void *a, const void *b)
{
    const struct cts_copy *const x = a, *const y = b;
    return (x->op > y->op) - (x->op < y->op);
}

static struct program *random_program(void)
{
    static const uint32_t widths[] = {4, 8, 16, 1, 4, 4, 24, 4, 4};
    static const uint8_t operations[] = {CTS_LOAD, CTS_STORE, CTS_LOAD,  CTS_LOAD,      CTS_STORE,
                                         CTS_LOAD, CTS_STORE, CTS_STORE, CTS_ATOMIC_ADD};
    struct program *const p = calloc(1, sizeof *p);
    for (uint32_t i = 0; i < KERNELS; i++)
        p->kernels[i] = (struct cts_kernel){.kernel = i, .name = "k", .instrumented = true};
    for (uint32_t i = 0; i < SITES; i++)
        p->sites[i] = (struct cts_site){.site = i,
                                        .operation = operations[i],
                                        .width_bytes = widths[i],
                                        .source = CTS_NONE,
                                        .line = i + 1};
    for (uint32_t i = 0; i < LAUNCHES; i++)
        p->launches[i] = (struct cts_launch){.launch = i,
                                             .kernel = i % KERNELS,
                                             .ordinal = i,
                                             .grid = {CTAS, 1, 1},
                                             .block = {32 * WARPS, 1, 1},
                                             .recorded = "all",
                                             .end_ns = 1};
    p->is_aligned = below(3) == 0;
    for (uint32_t i = 0; i < LAUNCHES; i++) random_launch(p, i);
    random_host(p);
    number_operations(p);
    qsort(p->copies, COPIES, sizeof *p->copies, by_op);
    p->stream = (struct cts_cuda_stream){.kind = "legacy default", .destroyed_op = UINT64_MAX};
    p->rank = (struct cts_rank){.end_ns = 1};
    p->catalogue = (struct cts_catalogue){.kernels = p->kernels,
                                          .kernel_count = KERNELS,
                                          .sites = p->sites,
                                          .site_count = SITES,
                                          .launches = p->launches,
                                          .launch_count = LAUNCHES,
                                          .streams = &p->stream,
                                          .stream_count = 1,
                                          .ranks = &p->rank,
                                          .rank_count = 1,
                                          .allocations = p->allocations,
                                          .allocation_count = ALLOCATIONS,
                                          .copies = p->copies,
                                          .copy_count = COPIES};
    return p;
}

static enum cts_status read_chunk(const void *given, const struct cts_acc_chunk *chunk,
                                  struct cts_acc_batch *batch, struct cts_error *error)
{
    const struct program *const program = given;
    if (batch_start(batch, chunk, error)) return CTS_MEMORY;
    for (size_t i = 0; i < chunk->record_count; i++)
        batch_put(batch, &program->records[chunk->offset_bytes][i]);
    return CTS_OK;
}

/* ---- the twin ---- */

static const struct cts_allocation *owner_of(const struct program *p, uint64_t op, uint64_t address)
{
    const struct cts_allocation *owner = NULL;
    for (size_t i = 0; i < ALLOCATIONS; i++) {
        const struct cts_allocation *const a = &p->allocations[i];
        if (a->op < op && a->freed_op > op && address >= a->address &&
            address - a->address < a->size_bytes && (!owner || a->op > owner->op))
            owner = a;
    }
    return owner;
}

/* Calls for each lane of each record of a launch, CTA by CTA in the order of its records. */
struct lane {
    const struct cts_access *record;
    unsigned lane;
    uint64_t address;
    uint32_t width;
    bool reads, writes, stores;
};
typedef void (*lane_function)(void *given, const struct lane *lane, bool first, bool last);

static void each_lane(const struct program *p, uint32_t launch, lane_function act, void *given)
{
    for (uint32_t cta = 0; cta < CTAS; cta++)
        for (size_t c = 0; c < p->chunk_count; c++)
            for (size_t i = 0; i < p->chunks[c].record_count; i++) {
                const struct cts_access *const r = &p->records[c][i];
                if (r->launch != launch || r->cta != cta) continue;
                uint64_t addresses[32];
                cts_access_addresses(r, addresses);
                const enum cts_operation operation = p->sites[r->site].operation;
                for (uint32_t mask = r->mask; mask; mask &= mask - 1) {
                    const unsigned l = (unsigned)__builtin_ctz(mask);
                    const struct lane lane = {.record = r,
                                              .lane = l,
                                              .address = addresses[l],
                                              .width = p->sites[r->site].width_bytes,
                                              .reads = cts_operation_reads(operation),
                                              .writes = cts_operation_writes(operation),
                                              .stores = operation == CTS_STORE};
                    act(given, &lane, mask == r->mask, !(mask & (mask - 1)));
                }
            }
}

struct fault {
    uint64_t accesses, bytes, launches;
    struct cts_access_example example, other;
};

struct twin {
    const struct program *program;
    const struct cts_launch *launch;
    size_t launch_index;
    bool written[SPAN];
    /* of a launch */
    uint8_t touching[SPAN]; /* bit: CTA */
    bool stored[SPAN], read[SPAN], exposed[SPAN], write_first[SPAN], wrote[SPAN];
    bool seen[CTAS][SPAN], own[CTAS][SPAN], shared[CTAS][SHARED];
    bool bad[SITES][3][SPAN], bad_shared[SITES][CTAS][SHARED];
    bool is_new[SITES][2][3];
    uint32_t moment[CTAS]; /* records so far; what follows are moments, 0: never */
    uint32_t begun[CTAS][SPAN], ended[CTAS][SPAN], updated[CTAS][SPAN], looked[CTAS][SPAN];
    uint32_t plain[CTAS][SPAN]; /* first access that is no atomic */
    bool stores[CTAS][SPAN], race[SPAN], orders[SPAN], receives[CTAS][SPAN];
    struct fault faults[KERNELS][SITES][2][3]; /* [shared][kind] */
    /* distinct bytes: of warp, CTA, launch */
    struct cts_map distinct[KERNELS][SITES][CTS_SPACE_LAST + 1][3];
};

static size_t place_in(uint64_t address)
{
    assert_true(address >= base && address < base + SPAN);
    return (size_t)(address - base);
}

static void put_distinct(struct twin *t, const struct lane *lane)
{
    const struct cts_access *const r = lane->record;
    struct cts_map *const maps = t->distinct[t->launch->kernel][r->site][r->space];
    for (uint32_t b = 0; b < lane->width; b++) {
        uint64_t key = (lane->address + b) & ((1u << 17) - 1);
        if (r->space == CTS_SPACE_LOCAL) key |= (uint64_t)(r->warp * 32u + lane->lane) << 17;
        key |= (uint64_t)t->launch_index << 32;
        /* A launch's shared and local memory is its CTAs' own. */
        const bool own = r->space == CTS_SPACE_SHARED || r->space == CTS_SPACE_LOCAL;
        const uint64_t cta = key | (uint64_t)(r->cta + 1) << 40;
        (void)cts_map_at(&maps[2], own ? cta : key, NULL);
        (void)cts_map_at(&maps[1], cta, NULL);
        (void)cts_map_at(&maps[0], cta | (uint64_t)(r->warp + 1) << 48, NULL);
    }
}

static void note_moments(struct twin *t, const struct lane *lane, bool first)
{
    const uint32_t cta = lane->record->cta;
    const size_t word = place_in(lane->address);
    t->moment[cta] += first;
    for (uint32_t b = 0; b < lane->width; b++) {
        if (!t->begun[cta][word + b]) t->begun[cta][word + b] = t->moment[cta];
        t->ended[cta][word + b] = t->moment[cta];
        t->stores[cta][word + b] |= lane->stores;
        if ((lane->stores || !lane->writes) && !t->plain[cta][word + b])
            t->plain[cta][word + b] = t->moment[cta];
    }
    if (lane->stores || !lane->writes) return; /* no atomic */
    t->updated[cta][word] = t->moment[cta];
    if (!t->looked[cta][word]) t->looked[cta][word] = t->moment[cta];
}

static void first_pass(void *given, const struct lane *lane, bool first, bool last)
{
    struct twin *const t = given;
    const struct cts_access *const r = lane->record;
    (void)last;
    put_distinct(t, lane);
    if (r->space != CTS_SPACE_GLOBAL) return;
    note_moments(t, lane, first);
    for (uint32_t b = 0; b < lane->width; b++) {
        const size_t at = place_in(lane->address + b);
        t->touching[at] |= (uint8_t)(1u << r->cta);
        t->stored[at] |= lane->stores;
        t->read[at] |= lane->reads;
        t->wrote[at] |= lane->writes;
        if (!t->seen[r->cta][at]) (lane->stores ? t->write_first : t->exposed)[at] = true;
        t->seen[r->cta][at] = true;
    }
}

static bool is_uninitialised(const struct twin *t, size_t at)
{
    const struct cts_allocation *const a = owner_of(t->program, t->launch->op, base + at);
    return a && !strcmp(a->kind, "device") && t->read[at] && !t->written[at] && t->exposed[at] &&
           !t->write_first[at];
}

/* Whether atomics on the word hand the byte on from CTA to CTA. */
static bool hands_on(const struct twin *t, size_t word, size_t at)
{
    unsigned early = 0;
    for (unsigned cta = 0; cta < CTAS; cta++) {
        if (!t->begun[cta][at]) continue;
        if (!t->looked[cta][word]) return false;
        if (t->stores[cta][at] && t->updated[cta][word] <= t->ended[cta][at]) return false;
        early += t->looked[cta][word] >= t->begun[cta][at];
    }
    return early <= 1;
}

/* The word orders a byte: who gets the byte from another CTA over it. */
static void hand_on(struct twin *t, size_t word, size_t at)
{
    t->orders[word] = true;
    for (unsigned to = 0; to < CTAS; to++)
        for (unsigned from = 0; from < CTAS; from++)
            t->receives[to][word] |= from != to && t->stores[from][at] && t->begun[to][at] &&
                                     t->looked[to][word] < t->begun[to][at];
}

/* Whether only the CTA that has got something over the word touches its byte otherwise than by
 * atomics, and not before. */
static bool is_reset(const struct twin *t, size_t word, size_t at)
{
    unsigned plain = 0;
    for (unsigned cta = 0; cta < CTAS; cta++) {
        if (!t->plain[cta][at]) continue;
        plain++;
        if (!t->receives[cta][word] || t->plain[cta][at] <= t->looked[cta][word]) return false;
    }
    return plain == 1;
}

static void find_races(struct twin *t)
{
    static size_t words[SPAN];
    size_t count = 0;
    for (size_t at = 0; at < SPAN; at++)
        if (t->updated[0][at] || t->updated[1][at] || t->updated[2][at] || t->updated[3][at])
            words[count++] = at;
    for (size_t at = 0; at < SPAN; at++) {
        t->race[at] = t->stored[at] && t->touching[at] & (t->touching[at] - 1);
        for (size_t i = 0; i < count && t->race[at]; i++) {
            t->race[at] = !hands_on(t, words[i], at);
            if (!t->race[at]) hand_on(t, words[i], at);
        }
    }
    for (size_t at = 0; at < SPAN; at++)
        for (size_t i = 0; i < count && t->race[at]; i++)
            if (t->orders[words[i]] && words[i] <= at && at < words[i] + 4)
                t->race[at] = !is_reset(t, words[i], at);
}

static bool is_race(const struct twin *t, size_t at)
{
    return t->race[at];
}

static bool comes_before(const struct cts_access_example *a, const struct cts_access_example *b)
{
    if (!b->known) return true;
    if (a->launch != b->launch) return a->launch < b->launch;
    if (a->address != b->address) return a->address < b->address;
    if (a->cta != b->cta) return a->cta < b->cta;
    if (a->thread != b->thread) return a->thread < b->thread;
    return a->site < b->site;
}

static void put_fault(struct twin *t, const struct lane *lane, unsigned kind, uint64_t address)
{
    const struct cts_access *const r = lane->record;
    const bool shared = r->space == CTS_SPACE_SHARED;
    struct fault *const fault = &t->faults[t->launch->kernel][r->site][shared][kind];
    const struct cts_access_example example = {.known = true,
                                               .launch = t->launch_index,
                                               .cta = r->cta,
                                               .thread = r->warp * 32u + lane->lane,
                                               .site = r->site,
                                               .address = address};
    fault->accesses++;
    fault->launches += !t->is_new[r->site][shared][kind];
    t->is_new[r->site][shared][kind] = true;
    if (comes_before(&example, &fault->example)) fault->example = example;
}

static void shared_lane(struct twin *t, const struct lane *lane)
{
    const struct cts_access *const r = lane->record;
    uint64_t first = UINT64_MAX;
    for (uint32_t b = 0; b < lane->width && lane->reads; b++) {
        const uint64_t at = lane->address + b;
        if (t->shared[r->cta][at]) continue;
        if (first == UINT64_MAX) first = at;
        t->faults[t->launch->kernel][r->site][1][CTS_FINDING_UNINITIALISED].bytes +=
            !t->bad_shared[r->site][r->cta][at];
        t->bad_shared[r->site][r->cta][at] = true;
    }
    if (first != UINT64_MAX) put_fault(t, lane, CTS_FINDING_UNINITIALISED, first);
}

/* What a record writes counts after all of its lanes have read. */
static void mark_written(struct twin *t, const struct cts_access *r, uint32_t width)
{
    uint64_t addresses[32];
    cts_access_addresses(r, addresses);
    for (uint32_t mask = r->mask; mask; mask &= mask - 1)
        for (uint32_t b = 0; b < width; b++) {
            const uint64_t at = addresses[__builtin_ctz(mask)] + b;
            if (r->space == CTS_SPACE_SHARED)
                t->shared[r->cta][at] = true;
            else
                t->own[r->cta][place_in(at)] = true;
        }
}

static void second_pass(void *given, const struct lane *lane, bool first, bool last)
{
    struct twin *const t = given;
    const struct cts_access *const r = lane->record;
    (void)first;
    if (r->space == CTS_SPACE_SHARED) shared_lane(t, lane);
    for (unsigned kind = 0; kind < 3 && r->space == CTS_SPACE_GLOBAL; kind++) {
        uint64_t found = UINT64_MAX;
        for (uint32_t b = 0; b < lane->width; b++) {
            const size_t at = place_in(lane->address + b);
            const bool is_bad = kind == CTS_FINDING_OUTSIDE
                                    ? !owner_of(t->program, t->launch->op, base + at)
                                : kind == CTS_FINDING_RACE
                                    ? lane->stores && is_race(t, at)
                                    : lane->reads && is_uninitialised(t, at) && !t->own[r->cta][at];
            if (!is_bad) continue;
            if (found == UINT64_MAX) found = base + at;
            t->faults[t->launch->kernel][r->site][0][kind].bytes += !t->bad[r->site][kind][at];
            t->bad[r->site][kind][at] = true;
        }
        if (found != UINT64_MAX) put_fault(t, lane, kind, found);
    }
    if (last && lane->writes && (r->space == CTS_SPACE_SHARED || r->space == CTS_SPACE_GLOBAL))
        mark_written(t, r, lane->width);
}

static void third_pass(void *given, const struct lane *lane, bool first, bool last)
{
    struct twin *const t = given;
    const struct cts_access *const r = lane->record;
    (void)first;
    (void)last;
    for (size_t site = 0; site < SITES && r->space == CTS_SPACE_GLOBAL; site++) {
        struct fault *const fault = &t->faults[t->launch->kernel][site][0][CTS_FINDING_RACE];
        const struct cts_access_example *const e = &fault->example;
        if (!e->known || e->launch != t->launch_index || e->cta == r->cta ||
            e->address < lane->address || e->address - lane->address >= lane->width)
            continue;
        const struct cts_access_example other = {.known = true,
                                                 .launch = e->launch,
                                                 .cta = r->cta,
                                                 .thread = r->warp * 32u + lane->lane,
                                                 .site = r->site,
                                                 .address = e->address};
        if (comes_before(&other, &fault->other)) fault->other = other;
    }
}

static void run_launch(struct twin *t, size_t index)
{
    t->launch = &t->program->launches[index];
    t->launch_index = index;
    const size_t begin = offsetof(struct twin, touching), end = offsetof(struct twin, faults);
    memset((char *)t + begin, 0, end - begin);
    each_lane(t->program, t->launch->launch, first_pass, t);
    find_races(t);
    each_lane(t->program, t->launch->launch, second_pass, t);
    each_lane(t->program, t->launch->launch, third_pass, t);
    for (size_t at = 0; at < SPAN; at++) t->written[at] |= t->wrote[at];
}

static void run_copy(struct twin *t, const struct cts_copy *copy)
{
    bool moved[SPAN];
    for (uint64_t b = 0; b < copy->width_bytes; b++)
        moved[b] = strcmp(copy->kind, "DtoD") ? true : t->written[place_in(copy->source + b)];
    for (uint64_t b = 0; b < copy->width_bytes; b++)
        t->written[place_in(copy->destination + b)] = moved[b];
}

static struct twin *run_twin(const struct program *p)
{
    struct twin *const t = calloc(1, sizeof *t);
    t->program = p;
    uint64_t past = 0; /* operations up to here are done */
    for (size_t i = 0; i <= LAUNCHES; i++) {
        const uint64_t op = i < LAUNCHES ? p->launches[i].op : UINT64_MAX - 1;
        for (;;) { /* the next copy or free before the launch */
            const struct cts_copy *copy = NULL;
            const struct cts_allocation *freed = NULL;
            uint64_t next = op;
            for (size_t k = 0; k < COPIES; k++)
                if (p->copies[k].op > past && p->copies[k].op < next) {
                    copy = &p->copies[k];
                    next = copy->op;
                }
            for (size_t k = 0; k < ALLOCATIONS; k++)
                if (p->allocations[k].freed_op > past && p->allocations[k].freed_op < next) {
                    freed = &p->allocations[k];
                    next = freed->freed_op;
                }
            if (next == op) break;
            past = next;
            if (freed)
                memset(&t->written[place_in(freed->address)], 0, freed->size_bytes);
            else
                run_copy(t, copy);
        }
        if (i < LAUNCHES) run_launch(t, i);
    }
    return t;
}

static void free_twin(struct twin *t)
{
    for (size_t k = 0; k < KERNELS; k++)
        for (size_t s = 0; s < SITES; s++)
            for (size_t space = 0; space <= CTS_SPACE_LAST; space++)
                for (size_t i = 0; i < 3; i++) cts_map_release(&t->distinct[k][s][space][i]);
    free(t);
}

/* ---- comparing ---- */

static void compare_sites(const struct twin *t, const struct cts_access_result *result)
{
    for (size_t i = 0; i < result->site_count; i++) {
        const struct cts_access_site *const site = &result->sites[i];
        const struct cts_map *const maps = t->distinct[site->kernel][site->site][site->space];
        assert_int_equal(site->counts.warp_distinct_bytes, maps[0].count);
        assert_int_equal(site->counts.cta_distinct_bytes, maps[1].count);
        assert_int_equal(site->counts.launch_distinct_bytes, maps[2].count);
    }
}

static void compare_examples(const struct cts_access_example *a, const struct cts_access_example *b)
{
    assert_int_equal(a->known, b->known);
    if (!a->known) return;
    assert_int_equal(a->launch, b->launch);
    assert_int_equal(a->address, b->address);
    assert_int_equal(a->cta, b->cta);
    assert_int_equal(a->thread, b->thread);
    assert_int_equal(a->site, b->site);
}

/* An access outside: freed memory, or the nearest allocation that is alive. */
static void check_nearest(const struct program *p, const struct cts_access_fault *fault)
{
    const uint64_t op = p->launches[fault->example.launch].op, address = fault->example.address;
    uint64_t freed_op = 0, nearest = UINT64_MAX;
    for (size_t i = 0; i < ALLOCATIONS; i++) {
        const struct cts_allocation *const a = &p->allocations[i];
        if (a->freed_op < op && a->freed_op > freed_op && address >= a->address &&
            address - a->address < a->size_bytes)
            freed_op = a->freed_op;
        if (a->op > op || a->freed_op < op) continue;
        const uint64_t past = address - (a->address + a->size_bytes);
        const uint64_t distance = address < a->address ? a->address - address : past;
        if (distance < nearest) nearest = distance;
    }
    assert_int_equal(fault->is_freed, freed_op != 0);
    if (freed_op)
        assert_int_equal(p->allocations[fault->allocation].freed_op, freed_op);
    else
        assert_int_equal(llabs(fault->distance_bytes), nearest);
}

static size_t compare_faults(const struct twin *t, const struct cts_access_result *result)
{
    size_t found = 0, expected = 0;
    for (size_t k = 0; k < KERNELS; k++)
        for (size_t s = 0; s < SITES; s++)
            for (size_t i = 0; i < 6; i++) expected += t->faults[k][s][i / 3][i % 3].accesses > 0;
    for (size_t i = 0; i < result->finding_count; i++) {
        const struct cts_finding *const f = &result->findings[i];
        if (!cts_finding_is_fault(f->kind)) continue;
        assert_int_equal(found, i); /* they come first */
        found++;
        const struct cts_access_site *const site = &result->sites[f->site];
        const bool shared = site->space == CTS_SPACE_SHARED;
        const struct fault *const twin = &t->faults[site->kernel][site->site][shared][f->kind];
        assert_int_equal(f->fault.accesses, twin->accesses);
        assert_int_equal(f->fault.bytes, twin->bytes);
        assert_int_equal(f->fault.launch_count, twin->launches);
        compare_examples(&f->fault.example, &twin->example);
        compare_examples(&f->fault.other, &twin->other);
        if (f->kind == CTS_FINDING_OUTSIDE) check_nearest(t->program, &f->fault);
    }
    assert_int_equal(found, expected);
    return found;
}

/* One row of a launch and an allocation, counted anew. */
struct place_count {
    const struct program *program;
    const struct cts_allocation *owner;
    uint64_t op, accesses, requested, request_distinct;
    bool in_request[SPAN], in_cta[CTAS][SPAN], in_launch[SPAN], read[SPAN], wrote[SPAN];
};

static void count_lane(void *given, const struct lane *lane, bool first, bool last)
{
    struct place_count *const c = given;
    (void)last;
    if (lane->record->space != CTS_SPACE_GLOBAL) return;
    if (first) memset(c->in_request, 0, sizeof c->in_request);
    for (uint32_t b = 0; b < lane->width; b++) {
        const size_t at = place_in(lane->address + b);
        if (owner_of(c->program, c->op, base + at) != c->owner) continue;
        c->accesses += b == 0;
        c->requested++;
        c->request_distinct += !c->in_request[at];
        c->in_request[at] = c->in_cta[lane->record->cta][at] = c->in_launch[at] = true;
        c->read[at] |= lane->reads;
        c->wrote[at] |= lane->writes;
    }
}

static uint64_t count_set(const bool *set)
{
    uint64_t count = 0;
    for (size_t i = 0; i < SPAN; i++) count += set[i];
    return count;
}

static void compare_allocation(const struct program *p, const struct cts_access_allocation *row)
{
    struct place_count *const c = calloc(1, sizeof *c);
    uint64_t in_ctas = 0;
    c->program = p;
    c->op = p->launches[row->launch].op;
    c->owner = row->allocation == SIZE_MAX ? NULL : &p->allocations[row->allocation];
    each_lane(p, p->launches[row->launch].launch, count_lane, c);
    for (size_t i = 0; i < CTAS; i++) in_ctas += count_set(c->in_cta[i]);
    assert_int_equal(row->accesses, c->accesses);
    assert_int_equal(row->requested_bytes, c->requested);
    assert_int_equal(row->request_distinct_bytes, c->request_distinct);
    assert_int_equal(row->cta_distinct_bytes, in_ctas);
    assert_int_equal(row->launch_distinct_bytes, count_set(c->in_launch));
    assert_int_equal(row->read_bytes, count_set(c->read));
    assert_int_equal(row->written_bytes, count_set(c->wrote));
    free(c);
}

static struct cts_access_result analyze(const struct program *p,
                                        const struct cts_access_options *options)
{
    const struct cts_access_source source = {.chunks = p->chunks,
                                             .chunk_count = p->chunk_count,
                                             .state = p,
                                             .read = read_chunk,
                                             .release = cts_acc_batch_release};
    struct cts_error error = {0};
    struct cts_access_result result;
    if (cts_access_analyze(&p->catalogue, &source, options, &result, &error))
        fail_msg("%s", error.text);
    return result;
}

static void test_random_programs(void **unused)
{
    (void)unused;
    size_t faults = 0;
    const unsigned rounds = cts_test_count(60, 240);
    for (unsigned round = 0; round < rounds; round++) {
        struct program *const p = random_program();
        struct twin *const t = run_twin(p);
        for (unsigned threads = 1; threads <= 3; threads++) {
            const struct cts_access_options options = {
                .threads = threads, .late_ranges = (uint32_t)((round + threads) % 4)};
            struct cts_access_result result = analyze(p, &options);
            compare_sites(t, &result);
            faults += compare_faults(t, &result);
            for (size_t i = round % 3; i < result.allocation_count && threads == 1; i += 3)
                compare_allocation(p, &result.allocations[i]);
            cts_access_release(&result);
        }
        free_twin(t);
        free(p);
    }
    assert_true(faults > 16 * rounds);
}

/* One launch alone: with a history the same faults as among all, without it none that need one. */
static void test_one_launch(void **unused)
{
    (void)unused;
    size_t uninitialised = 0;
    for (unsigned round = 0; round < 20; round++) {
        struct program *const p = random_program();
        const size_t launch = below(LAUNCHES);
        bool wanted[LAUNCHES] = {0};
        wanted[launch] = true;
        p->launches[launch].kernel = 1; /* the only launch of its kernel */
        for (size_t i = 0; i < LAUNCHES; i++)
            if (i != launch) p->launches[i].kernel = 0;
        struct twin *const t = run_twin(p);
        memset(t->faults[0], 0, sizeof t->faults[0]);
        const struct cts_access_options options = {.threads = 2, .wanted = wanted, .history = true};
        struct cts_access_result result = analyze(p, &options);
        compare_sites(t, &result);
        compare_faults(t, &result);
        assert_int_equal(result.unwatched_launches, 0);
        cts_access_release(&result);
        const struct cts_access_options alone = {.threads = 1, .wanted = wanted};
        result = analyze(p, &alone);
        for (size_t s = 0; s < SITES; s++) {
            struct fault *const fault = &t->faults[1][s][0][CTS_FINDING_UNINITIALISED];
            uninitialised += fault->accesses > 0;
            *fault = (struct fault){0};
        }
        compare_faults(t, &result);
        assert_int_equal(result.unwatched_launches, 1);
        cts_access_release(&result);
        free_twin(t);
        free(p);
    }
    assert_true(uninitialised > 3);
}

/* What was allocated when a launch of which something is missing ran counts as written after it. (A
 * copy within the device would bring unwritten bytes of later memory there.) */
static void test_what_is_missing(void **unused)
{
    (void)unused;
    size_t later = 0;
    for (int turn = 0; turn < 20; turn++) {
        struct program *const p = random_program();
        p->launches[0].recorded = "sample";
        for (size_t i = 0; i < COPIES; i++)
            if (!strcmp(p->copies[i].kind, "DtoD")) p->copies[i].kind = "HtoD";
        const struct cts_access_options options = {.threads = 1};
        struct cts_access_result result = analyze(p, &options);
        assert_int_equal(result.unwatched_launches, 1);
        for (size_t i = 0; i < result.finding_count; i++) {
            const struct cts_finding *const f = &result.findings[i];
            if (f->kind != CTS_FINDING_UNINITIALISED ||
                result.sites[f->site].space == CTS_SPACE_SHARED)
                continue;
            assert_true(f->fault.allocation < p->catalogue.allocation_count);
            assert_true(p->catalogue.allocations[f->fault.allocation].op > p->launches[0].op);
            later++;
        }
        cts_access_release(&result);
        free(p);
    }
    assert_true(later > 0);
}

/* A program of one launch of a warp, which touches 4 bytes a lane at these addresses. */
static struct program *touching(const char *kind, uint8_t operation, uint64_t address)
{
    struct program *const p = calloc(1, sizeof *p);
    p->kernels[0] = (struct cts_kernel){.name = "k", .instrumented = true};
    p->sites[0] = (struct cts_site){.operation = operation, .width_bytes = 4, .source = CTS_NONE};
    p->launches[0] = (struct cts_launch){
        .op = 5, .grid = {1, 1, 1}, .block = {32, 1, 1}, .recorded = "all", .end_ns = 1};
    p->allocations[0] = (struct cts_allocation){
        .op = 1, .freed_op = UINT64_MAX, .address = base, .size_bytes = 256, .kind = kind};
    p->chunks[0] = (struct cts_acc_chunk){.record_count = 1};
    p->chunk_count = 1;
    p->records[0][0] = (struct cts_access){.mask = UINT32_MAX,
                                           .space = CTS_SPACE_GLOBAL,
                                           .pattern = CTS_PATTERN_AFFINE,
                                           .base = address,
                                           .s0 = 4,
                                           .offsets = p->offsets[0][0]};
    p->stream = (struct cts_cuda_stream){.kind = "legacy default", .destroyed_op = UINT64_MAX};
    p->rank = (struct cts_rank){.end_ns = 1};
    p->catalogue = (struct cts_catalogue){.kernels = p->kernels,
                                          .kernel_count = 1,
                                          .sites = p->sites,
                                          .site_count = 1,
                                          .launches = p->launches,
                                          .launch_count = 1,
                                          .streams = &p->stream,
                                          .stream_count = 1,
                                          .ranks = &p->rank,
                                          .rank_count = 1,
                                          .allocations = p->allocations,
                                          .allocation_count = 1};
    return p;
}

/* The kind of the only fault and how many bytes it has; `foreign` bytes are judged to be none. */
static void check_touch(const char *kind, uint8_t operation, uint64_t address, int fault,
                        uint64_t bytes, uint64_t foreign)
{
    struct program *const p = touching(kind, operation, address);
    const struct cts_access_options options = {.threads = 1};
    struct cts_access_result result = analyze(p, &options);
    const bool found = result.finding_count && cts_finding_is_fault(result.findings[0].kind);
    assert_int_equal(found, fault >= 0);
    if (found) {
        assert_int_equal(result.findings[0].kind, fault);
        assert_int_equal(result.findings[0].fault.bytes, bytes);
    }
    assert_int_equal(result.foreign_bytes, foreign);
    cts_access_release(&result);
    free(p);
}

/* Memory of other origin, null pointers, variables, the host's memory. */
static void test_origins(void **unused)
{
    (void)unused;
    check_touch("device", CTS_LOAD, base, CTS_FINDING_UNINITIALISED, 128, 0);
    check_touch("device", CTS_STORE, base, -1, 0, 0);
    check_touch("managed", CTS_LOAD, base, -1, 0, 0);
    check_touch("variable", CTS_LOAD, base, -1, 0, 0);
    check_touch("device", CTS_STORE, base + 192, CTS_FINDING_OUTSIDE, 64, 0);
    check_touch("device", CTS_STORE, base - 100, CTS_FINDING_OUTSIDE, 100, 0);
    check_touch("device", CTS_LOAD, base + (1u << 27), -1, 0, 128);
    check_touch("variable", CTS_LOAD, base + 1024, -1, 0, 128);
    check_touch("variable", CTS_STORE, base + 1024, CTS_FINDING_OUTSIDE, 128, 0);
    check_touch("variable", CTS_STORE, base + (1 << 20), -1, 0, 128);
    check_touch("device", CTS_LOAD, 16, CTS_FINDING_OUTSIDE, 128, 0);
}

/* Memory that another process, or another address of the same pages, may have written. */
static void test_imported(void **unused)
{
    (void)unused;
    static const char *const calls[] = {"cuIpcOpenMemHandle_v2", "cuMemMap",
                                        "cuMemPoolImportPointer", "cuExternalMemoryGetMappedBuffer",
                                        "cuMemAlloc_v2"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct program *const p = touching("device", CTS_LOAD, base);
        const bool is_own = !strcmp(calls[i], "cuMemAlloc_v2");
        p->allocations[0].call = calls[i];
        const struct cts_access_options options = {.threads = 1};
        struct cts_access_result result = analyze(p, &options);
        assert_int_equal(result.imported_allocations, !is_own);
        assert_int_equal(result.finding_count && cts_finding_is_fault(result.findings[0].kind),
                         is_own);
        cts_access_release(&result);
        free(p);
    }
}

/* Structs of 24 bytes: one warp takes two fields of its 32, the other one of the next 32. */
static void test_fields(void **unused)
{
    (void)unused;
    struct program *const p = touching("variable", CTS_LOAD, base);
    p->launches[0].block[0] = 64;
    p->chunks[0].record_count = 3;
    p->records[0][0].s0 = 24;
    p->records[0][1] = p->records[0][2] = p->records[0][0];
    p->records[0][1].base += 4;
    p->records[0][2].base += 24 * 32;
    p->records[0][2].warp = 1;
    const struct cts_access_options options = {.threads = 1};
    struct cts_access_result result = analyze(p, &options);
    assert_int_equal(result.sites[0].counts.requested_bytes, 3 * 128);
    assert_int_equal(result.sites[0].counts.warp_distinct_bytes, 32 * 8 + 32 * 4);
    assert_int_equal(result.sites[0].counts.cta_distinct_bytes, 32 * 8 + 32 * 4);
    assert_int_equal(result.sites[0].counts.launch_distinct_bytes, 32 * 8 + 32 * 4);
    cts_access_release(&result);
    free(p);
}

/* Requests alone: the same costs, and nothing else. */
static void test_costs_only(void **unused)
{
    (void)unused;
    struct program *const p = random_program();
    const struct cts_access_options all = {.threads = 1},
                                    costs = {.threads = 2, .costs_only = true};
    struct cts_access_result a = analyze(p, &all), b = analyze(p, &costs);
    assert_int_equal(a.site_count, b.site_count);
    assert_int_equal(b.allocation_count, 0);
    for (size_t i = 0; i < a.site_count; i++) {
        assert_int_equal(a.sites[i].counts.sectors, b.sites[i].counts.sectors);
        assert_int_equal(a.sites[i].counts.wavefronts, b.sites[i].counts.wavefronts);
        assert_int_equal(b.sites[i].counts.launch_distinct_bytes, 0);
    }
    cts_access_release(&a);
    cts_access_release(&b);
    free(p);
}

int main(void)
{
    use_arena_if_asked();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_programs), cmocka_unit_test(test_one_launch),
        cmocka_unit_test(test_what_is_missing), cmocka_unit_test(test_origins),
        cmocka_unit_test(test_imported),        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_costs_only)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
