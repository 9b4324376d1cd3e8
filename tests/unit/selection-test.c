/* Selections against a twin that spreads every record into lanes and every range into bytes: random
 * launches, every question, random filters, whatever the number of threads and the memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>

#include "analyze/access/request.h"
#include "count.h"
#include "view/selection/selection.h"
#include "trace/acc.h"

enum {
    CHUNKS = 7,
    RECORDS = 70, /* in a chunk */
    ALL = CHUNKS * RECORDS,
    SITES = 14,
    CTAS = 12,
    THREADS = 140, /* of a CTA: 4 warps and 12 lanes */
    ALLOCATIONS = 5,
    GLOBAL_BYTES = 8192,
    SHARED_BYTES = 1024,
    ROUNDS = 36, /* of which the gate makes a third: each way to ask comes in twelve */
    ROUNDS_QUICK = 12,
    FILTERS = 12,
};
/* Around the end of a page, where windows are cut. */
static const uint64_t global_first = (UINT64_C(3) << 20) - GLOBAL_BYTES / 2;

static uint64_t seed = 1;
static uint32_t below(uint32_t limit)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((seed >> 33) % limit);
}

struct record {
    struct cts_access access; /* offsets point into `offsets` */
    uint32_t offsets[CTS_WARP_LANES];
};

struct program {
    struct record records[ALL];
    struct cts_site sites[SITES];
    struct cts_allocation allocations[ALLOCATIONS];
    struct cts_launch launch;
    struct cts_catalogue catalogue;
    struct cts_acc_chunk chunks[CHUNKS];
    uint32_t cta[ALL], site[ALL], mask[ALL], offset_start[ALL], value_start[ALL];
    uint16_t warp[ALL];
    uint8_t space[ALL], pattern[ALL], row_lanes[ALL];
    int32_t s0[ALL], s1[ALL];
    uint64_t base[ALL];
    uint32_t offsets[ALL * CTS_WARP_LANES];
    int damaged; /* a chunk that cannot be read; -1: none */
    uint32_t warp_end;
};

/* ---- a random launch ---- */

static void make_sites(struct program *p)
{
    static const uint8_t operations[] = {CTS_LOAD, CTS_LOAD, CTS_STORE, CTS_ATOMIC_ADD,
                                         CTS_ATOMIC_CAS};
    static const uint8_t spaces[] = {CTS_SPACE_GLOBAL, CTS_SPACE_GLOBAL, CTS_SPACE_SHARED,
                                     CTS_SPACE_LOCAL, CTS_SPACE_CONSTANT};
    static const uint8_t widths[] = {1, 2, 4, 4, 4, 8, 16, 12};
    const unsigned finest = below(3); /* no access narrower than this power of two */
    for (uint32_t s = 0; s < SITES; s++) {
        uint32_t width = widths[below(8)];
        if (width % (1u << finest)) width = 4;
        p->sites[s] = (struct cts_site){.site = s,
                                        .operation = operations[below(5)],
                                        .space = spaces[below(5)],
                                        .width_bytes = width,
                                        .source = below(6) ? below(2) : CTS_NONE,
                                        .line = below(5)};
        if (below(20) == 0) p->sites[s].width_bytes = 0; /* reserved and never written */
    }
}

/* Addresses that are multiples of the width's power of two, within the bytes of the space. */
static void make_addresses(struct record *r, uint32_t width, bool is_apart)
{
    struct cts_access *const a = &r->access;
    const uint32_t step = width % 8 == 0 ? 8 : width % 4 == 0 ? 4 : width % 2 == 0 ? 2 : 1;
    const bool is_small = a->space == CTS_SPACE_SHARED || a->space == CTS_SPACE_LOCAL;
    const bool is_kept = is_apart && !is_small;
    const uint64_t first = is_small ? 0 : global_first + (is_kept ? 3000 + 1504 * a->site : 0);
    const uint32_t bytes = is_small ? SHARED_BYTES : is_kept ? 1500 : GLOBAL_BYTES;
    const uint32_t steps = (bytes - 16) / step;
    a->base = first + below(steps) * step;
    a->pattern = (uint8_t)below(4);
    if (a->pattern == CTS_PATTERN_AFFINE) {
        a->s0 = below(3) ? (int32_t)width
                         : ((int32_t)below(steps / 16) - (int32_t)(steps / 32)) * (int32_t)step;
    } else if (a->pattern == CTS_PATTERN_TWO_LEVEL) {
        a->row_lanes = (uint8_t)(2 + below(30));
        a->s0 = (int32_t)(below(2) * step);
        a->s1 = (int32_t)(below(10) * step);
    } else if (a->pattern == CTS_PATTERN_LIST) {
        a->offsets = r->offsets;
        for (uint32_t k = 0; k < CTS_WARP_LANES; k++)
            r->offsets[k] = below(4) ? below(steps / 2) * step : 0;
    }
    uint64_t at[CTS_WARP_LANES];
    cts_access_addresses(a, at);
    for (uint32_t mask = a->mask; mask; mask &= mask - 1) {
        const uint64_t address = at[__builtin_ctz(mask)];
        if (address >= first && address - first < (uint64_t)steps * step) continue;
        a->pattern = CTS_PATTERN_UNIFORM; /* it would go too far */
        a->row_lanes = 0;
        a->s0 = a->s1 = 0;
        a->offsets = NULL;
        return;
    }
}

/* Regular kernels have few sites, all lanes, few warps, so that there are tallies of their chunks;
 * apart: each site goes to an allocation of its own. */
enum regularity { ANY, MANY_WARPS, REGULAR, REGULAR_APART };

static uint32_t random_site(enum regularity regularity)
{
    if (below(40) == 0) return SITES + below(3); /* unknown now and then */
    return below(regularity >= REGULAR ? 2 : SITES);
}

static void make_record(struct program *p, size_t i, uint32_t cta, enum regularity regularity)
{
    struct record *const r = &p->records[i];
    struct cts_access *const a = &r->access;
    const uint32_t site = random_site(regularity);
    const uint32_t width =
        site < SITES && p->sites[site].width_bytes ? p->sites[site].width_bytes : 4;
    memset(r, 0, sizeof *r);
    a->cta = cta;
    a->site = site;
    a->warp = (uint16_t)below(regularity >= REGULAR ? 2 : regularity == MANY_WARPS ? 100 : 5);
    a->mask = regularity >= REGULAR || below(2) ? UINT32_MAX : below(UINT32_MAX - 1) + 1;
    if (a->warp == 4 && below(3)) a->mask &= 0xfff;
    if (!a->mask) a->mask = 1;
    a->space = site < SITES ? p->sites[site].space : CTS_SPACE_GLOBAL;
    make_addresses(r, width, regularity == REGULAR_APART && site < 2);
    if (a->warp + 1u > p->warp_end) p->warp_end = a->warp + 1u;
}

enum { ALIKE_RECORDS = 35 }; /* of a CTA; the last one has more, and comes in pieces */

static void move_record(struct record *to, const struct record *from, uint32_t cta)
{
    *to = *from;
    to->access.cta = cta;
    if (from->access.offsets) to->access.offsets = to->offsets;
}

/* The same but for a detail, if a record of shared memory is found. */
static void vary_one(struct program *p, size_t first)
{
    const unsigned what = below(5);
    size_t i = first + below(ALIKE_RECORDS);
    for (unsigned tries = 0; tries < 200; tries++) {
        const struct cts_access *const a = &p->records[i].access;
        if (a->space == CTS_SPACE_SHARED && (what || a->pattern == CTS_PATTERN_LIST)) break;
        i = first + below(ALIKE_RECORDS);
    }
    struct record *const r = &p->records[i];
    struct cts_access *const a = &r->access;
    uint64_t at[CTS_WARP_LANES], lowest = UINT64_MAX;
    cts_access_addresses(a, at);
    for (uint32_t mask = a->mask; mask; mask &= mask - 1)
        if (at[__builtin_ctz(mask)] < lowest) lowest = at[__builtin_ctz(mask)];
    const struct cts_site *const other = &p->sites[below(SITES)];
    switch (what) {
    case 0: /* all lanes where one is */
        for (uint32_t k = 0; k < CTS_WARP_LANES; k++)
            r->offsets[k] = r->offsets[__builtin_ctz(a->mask)];
        return;
    case 1:
        if (a->mask & (a->mask - 1)) a->mask &= a->mask - 1;
        return;
    case 2:
        a->warp = (uint16_t)below(4);
        return;
    case 3:
        if (lowest >= 16) a->base -= 16;
        return;
    default:
        if (a->site < SITES && other->space == a->space &&
            other->width_bytes == p->sites[a->site].width_bytes)
            a->site = other->site;
    }
}

/* All CTAs do what the first one does, some in another order, some not quite. */
static void make_alike(struct program *p)
{
    for (size_t i = 0; i < ALL; i++) {
        const uint32_t cta = i / ALIKE_RECORDS < CTAS ? (uint32_t)(i / ALIKE_RECORDS) : CTAS - 1;
        move_record(&p->records[i], &p->records[i % ALIKE_RECORDS], cta);
    }
    for (uint32_t cta = 1; cta < CTAS; cta++) {
        const size_t first = (size_t)cta * ALIKE_RECORDS;
        const size_t a = first + below(ALIKE_RECORDS), b = first + below(ALIKE_RECORDS);
        if (below(2)) vary_one(p, first);
        if (below(3)) continue;
        const struct record kept = p->records[a];
        move_record(&p->records[a], &p->records[b], cta);
        move_record(&p->records[b], &kept, cta);
    }
}

static void fill_columns(struct program *p)
{
    for (size_t i = 0; i < ALL; i++) {
        const struct cts_access *const a = &p->records[i].access;
        p->cta[i] = a->cta;
        p->site[i] = a->site;
        p->mask[i] = a->mask;
        p->warp[i] = a->warp;
        p->space[i] = a->space;
        p->pattern[i] = a->pattern;
        p->row_lanes[i] = a->row_lanes;
        p->s0[i] = a->s0;
        p->s1[i] = a->s1;
        p->base[i] = a->base;
        p->value_start[i] = UINT32_MAX;
        p->offset_start[i] = (uint32_t)(i % RECORDS * CTS_WARP_LANES);
        memcpy(p->offsets + i * CTS_WARP_LANES, p->records[i].offsets,
               sizeof p->records[i].offsets);
    }
}

static void make_chunks(struct program *p)
{
    for (uint32_t k = 0; k < CHUNKS; k++) {
        struct cts_acc_chunk *const c = &p->chunks[k];
        *c = (struct cts_acc_chunk){
            .launch = 5, .offset_bytes = k, .record_count = RECORDS, .first_cta = UINT32_MAX};
        for (size_t i = k * RECORDS; i < (k + 1) * RECORDS; i++) {
            if (p->cta[i] < c->first_cta) c->first_cta = p->cta[i];
            if (p->cta[i] > c->last_cta) c->last_cta = p->cta[i];
        }
    }
}

static struct program *random_program_of(bool is_alike)
{
    struct program *const p = calloc(1, sizeof *p);
    assert_non_null(p);
    /* CTAs in one piece each, as recorders write them; in pieces; or mixed. */
    const unsigned mixing = below(3);
    const uint32_t kind = below(5);
    const enum regularity regularity = kind == 0   ? MANY_WARPS
                                       : kind == 1 ? REGULAR
                                       : kind == 2 ? REGULAR_APART
                                                   : ANY;
    make_sites(p);
    uint32_t cta = 0;
    for (size_t i = 0; i < ALL; i++) {
        if (mixing == 0) cta = (uint32_t)(i * CTAS / ALL);
        if (mixing == 1 && i % 9 == 0) cta = below(CTAS);
        if (mixing == 2 && below(30) == 0) cta = below(4) ? (cta + 1) % CTAS : below(CTAS);
        make_record(p, i, cta, regularity);
    }
    if (is_alike) make_alike(p);
    fill_columns(p);
    make_chunks(p);
    for (uint32_t a = 0; a < ALLOCATIONS; a++)
        p->allocations[a] =
            (struct cts_allocation){.allocation = 10 + a,
                                    .op = a == 3 ? 9 : 1, /* after the launch */
                                    .freed_op = a == 4 ? 2 : UINT64_MAX,
                                    .address = global_first + (ALLOCATIONS - 1 - a) * 1500,
                                    .size_bytes = below(3) ? 1500 : 1 + below(1500)};
    p->launch =
        (struct cts_launch){.launch = 5, .op = 3, .grid = {CTAS, 1, 1}, .block = {THREADS, 1, 1}};
    p->catalogue = (struct cts_catalogue){.sites = p->sites,
                                          .site_count = SITES,
                                          .launches = &p->launch,
                                          .launch_count = 1,
                                          .allocations = p->allocations,
                                          .allocation_count = ALLOCATIONS};
    p->damaged = below(6) ? -1 : (int)below(CHUNKS);
    return p;
}

static struct program *random_program(void)
{
    return random_program_of(below(6) == 0);
}

static enum cts_status read_chunk(const void *state, const struct cts_acc_chunk *chunk,
                                  struct cts_acc_batch *batch, struct cts_error *error)
{
    struct program *const p = (struct program *)state;
    const size_t at = chunk->offset_bytes * RECORDS;
    if (p->damaged == (int)chunk->offset_bytes) return cts_fail(error, CTS_FORMAT, "spoiled");
    *batch = (struct cts_acc_batch){
        .record_count = RECORDS,
        .launch = 5,
        .cta = p->cta + at,
        .site = p->site + at,
        .mask = p->mask + at,
        .warp = p->warp + at,
        .space = p->space + at,
        .pattern = p->pattern + at,
        .row_lanes = p->row_lanes + at,
        .s0 = p->s0 + at,
        .s1 = p->s1 + at,
        .base = p->base + at,
        .offset_start = p->offset_start + at,
        .value_start = p->value_start + at,
        .offsets = p->offsets + at * CTS_WARP_LANES,
        .offset_count = RECORDS * CTS_WARP_LANES,
    };
    return CTS_OK;
}

static void release_batch(struct cts_acc_batch *batch)
{
    (void)batch;
}

/* ---- the twin: filters ---- */

static uint8_t space_of(const struct program *p, size_t i)
{
    return p->space[i] == CTS_SPACE_CONSTANT ? CTS_SPACE_GLOBAL : p->space[i];
}

static const struct cts_site *site_of(const struct program *p, size_t i)
{
    return &p->sites[p->site[i]];
}

static bool is_known(const struct program *p, size_t i)
{
    return p->site[i] < SITES && p->sites[p->site[i]].width_bytes &&
           (int)(i / RECORDS) != p->damaged;
}

static bool in_ranges(const struct cts_selection_range *ranges, size_t count, uint32_t value)
{
    for (size_t k = 0; k < count; k++)
        if (value >= ranges[k].first && value <= ranges[k].last) return true;
    return !count;
}

struct lanes {
    uint32_t mask;
    uint64_t at[CTS_WARP_LANES];
};
static struct lanes lanes_of(const struct program *p, size_t i)
{
    struct lanes lanes = {.mask = p->mask[i]};
    cts_access_addresses(&p->records[i].access, lanes.at);
    return lanes;
}

static bool lane_touches(const struct program *p, size_t i, const struct lanes *lanes,
                         unsigned lane, uint64_t first, uint64_t last)
{
    const uint64_t end = lanes->at[lane] + site_of(p, i)->width_bytes - 1;
    return lanes->mask >> lane & 1 && lanes->at[lane] <= last && end >= first;
}

static bool passes_range(const struct program *p, const struct cts_selection_filter *f, size_t i)
{
    const struct lanes lanes = lanes_of(p, i);
    if (!f->range_space) return true;
    for (unsigned lane = 0; lane < CTS_WARP_LANES; lane++)
        if (space_of(p, i) == f->range_space &&
            lane_touches(p, i, &lanes, lane, f->range_first, f->range_last))
            return true;
    return false;
}

static bool passes(const struct program *p, const struct cts_selection_filter *f, size_t i)
{
    if (!is_known(p, i)) return false;
    const struct cts_site *const site = site_of(p, i);
    const unsigned kind = site->operation == CTS_LOAD    ? CTS_SELECTION_LOADS
                          : site->operation == CTS_STORE ? CTS_SELECTION_STORES
                                                         : CTS_SELECTION_ATOMICS;
    const unsigned live = p->warp[i] < 4 ? 32 : p->warp[i] == 4 ? 12 : 0;
    bool site_passes = !f->site_count, line_passes = !f->line_count;
    for (size_t k = 0; k < f->site_count; k++) site_passes |= f->sites[k] == p->site[i];
    for (size_t k = 0; k < f->line_count; k++)
        line_passes |= f->lines[k].source == site->source && f->lines[k].line == site->line;
    return in_ranges(f->ctas, f->cta_count, p->cta[i]) &&
           in_ranges(f->warps, f->warp_count, p->warp[i]) && site_passes && line_passes &&
           (!f->kinds || f->kinds & kind) && (!f->space || f->space == space_of(p, i)) &&
           (!f->partial || (unsigned)__builtin_popcount(p->mask[i]) < live) &&
           passes_range(p, f, i);
}

struct filter {
    struct cts_selection_filter f;
    struct cts_selection_range ctas[3], warps[3];
    uint32_t sites[5];
    struct cts_selection_line lines[4];
};

static void random_ranges(struct cts_selection_range *ranges, size_t *count, uint32_t limit)
{
    *count = 1 + below(3);
    for (size_t k = 0; k < *count; k++) {
        const uint32_t first = below(limit);
        ranges[k] = (struct cts_selection_range){first, first + below(limit - first + 2)};
        if (below(20) == 0) ranges[k].last = UINT32_MAX;
        if (below(20) == 0) ranges[k] = (struct cts_selection_range){3, 2};
    }
}

/* Bytes that begin or end where a lane does, or beside it. */
static void range_at_lane(const struct program *p, struct cts_selection_filter *f)
{
    const size_t i = below(ALL);
    if (!is_known(p, i)) return;
    const struct lanes lanes = lanes_of(p, i);
    const uint64_t at = lanes.at[__builtin_ctz(lanes.mask)], end = at + site_of(p, i)->width_bytes;
    const uint64_t edges[] = {at ? at - 1 : 0, at, end - 1, end};
    const uint64_t edge = edges[below(4)];
    f->range_space = space_of(p, i);
    f->range_first = below(2) ? edge : edge > 300 ? edge - below(300) : 0;
    f->range_last = edge > f->range_first ? edge : edge + below(3) * below(150);
}

static void random_filter(const struct program *p, struct filter *filter)
{
    static const uint8_t spaces[] = {CTS_SPACE_GLOBAL, CTS_SPACE_SHARED, CTS_SPACE_LOCAL};
    struct cts_selection_filter *const f = &filter->f;
    memset(filter, 0, sizeof *filter);
    f->ctas = filter->ctas;
    f->warps = filter->warps;
    f->sites = filter->sites;
    f->lines = filter->lines;
    if (below(3) == 0) return; /* everything passes */
    if (below(3) == 0) random_ranges(filter->ctas, &f->cta_count, CTAS);
    if (below(4) == 0) random_ranges(filter->warps, &f->warp_count, 6);
    if (below(4) == 0) f->site_count = 1 + below(5);
    for (size_t k = 0; k < f->site_count; k++) filter->sites[k] = below(SITES + 2);
    if (below(4) == 0) f->line_count = 1 + below(4);
    for (size_t k = 0; k < f->line_count; k++)
        filter->lines[k] = (struct cts_selection_line){below(2), below(5)};
    if (below(4) == 0) f->kinds = below(8);
    if (below(4) == 0) f->space = spaces[below(3)];
    if (below(4) == 0) f->partial = true;
    if (below(2)) return;
    if (below(2)) return range_at_lane(p, f);
    f->range_space = spaces[below(3)];
    f->range_first = (f->range_space == CTS_SPACE_GLOBAL ? global_first : 0) + below(1200);
    f->range_last = f->range_first + below(below(2) ? 64 : 3000);
}

/* ---- questions ---- */

struct asking {
    const struct program *program;
    struct cts_selection *selection;
    struct cts_selection_question question;
    bool passes[ALL];
    uint64_t total;
};

static void check_records(const struct asking *it)
{
    const struct program *const p = it->program;
    struct cts_selection_records records;
    struct cts_error error = {0};
    const uint64_t from = below((uint32_t)it->total + 3);
    const size_t count = below(2) ? ALL : below(20);
    assert_int_equal(cts_selection_records(it->selection, &it->question,
                                           (struct cts_selection_page){from, count}, &records,
                                           &error),
                     CTS_OK);
    assert_int_equal(records.total, it->total);
    uint64_t place = 0;
    size_t taken = 0;
    for (size_t i = 0; i < ALL; i++) {
        if (!it->passes[i] || place++ < from || taken >= count) continue;
        const struct cts_selection_record *const r = &records.items[taken++];
        const struct lanes lanes = lanes_of(p, i);
        const struct cts_request_cost cost =
            cts_request_cost(&p->records[i].access, site_of(p, i)->width_bytes, 4,
                             site_of(p, i)->operation == CTS_LOAD);
        assert_true(taken <= records.count);
        assert_int_equal(r->index, i);
        assert_int_equal(r->cta, p->cta[i]);
        assert_int_equal(r->warp, p->warp[i]);
        assert_int_equal(r->site, p->site[i]);
        assert_int_equal(r->mask, p->mask[i]);
        assert_int_equal(r->space, space_of(p, i));
        for (unsigned lane = 0; lane < CTS_WARP_LANES; lane++)
            assert_int_equal(r->addresses[lane], lanes.mask >> lane & 1 ? lanes.at[lane] : 0);
        assert_int_equal(r->sectors, cost.sectors);
        assert_int_equal(r->ideal_sectors, cost.sectors ? (cost.distinct_bytes + 31) / 32 : 0);
        assert_int_equal(r->wavefronts, cost.wavefronts);
        assert_int_equal(r->ideal_wavefronts, cost.ideal_wavefronts);
    }
    assert_int_equal(taken, records.count);
    cts_selection_records_release(&records);
}

static void check_position(const struct asking *it)
{
    const size_t index = below(ALL + 2);
    int64_t position, expected = 0;
    struct cts_error error = {0};
    assert_int_equal(cts_selection_position(it->selection, &it->question, index, &position, &error),
                     CTS_OK);
    for (size_t i = 0; i < ALL && i < index; i++) expected += it->passes[i];
    assert_int_equal(position, index < ALL && it->passes[index] ? expected : -1);
}

static void key_of(const struct program *p, size_t i, enum cts_selection_grouping by,
                   uint32_t key[2])
{
    const struct cts_site *const site = site_of(p, i);
    key[1] = 0;
    switch (by) {
    case CTS_SELECTION_BY_LINE:
        key[0] = site->source;
        key[1] = site->source == CTS_NONE ? CTS_NONE : site->line;
        return;
    case CTS_SELECTION_BY_WARP:
        key[0] = p->warp[i];
        return;
    case CTS_SELECTION_BY_CTA:
        key[0] = p->cta[i];
        return;
    case CTS_SELECTION_BY_SITE:
        key[0] = p->site[i];
        return;
    case CTS_SELECTION_BY_OPERATION:
        key[0] = site->operation;
        return;
    default:
        break;
    }
    const struct lanes lanes = lanes_of(p, i);
    const uint64_t address = lanes.at[__builtin_ctz(lanes.mask)];
    key[0] = space_of(p, i) == CTS_SPACE_SHARED  ? CTS_SELECTION_PLACE_SHARED
             : space_of(p, i) == CTS_SPACE_LOCAL ? CTS_SELECTION_PLACE_LOCAL
                                                 : CTS_SELECTION_PLACE_OUTSIDE;
    if (key[0] != CTS_SELECTION_PLACE_OUTSIDE) return;
    for (uint32_t a = 0; a < 3; a++) /* the others are not alive */
        if (address >= p->allocations[a].address &&
            address - p->allocations[a].address < p->allocations[a].size_bytes)
            key[0] = a;
}

static struct cts_selection_sums sums_of(const struct asking *it, enum cts_selection_grouping by,
                                         const uint32_t key[2])
{
    const struct program *const p = it->program;
    struct cts_selection_sums sums = {0};
    for (size_t i = 0; i < ALL; i++) {
        uint32_t own[2];
        if (!it->passes[i]) continue;
        key_of(p, i, by, own);
        if (own[0] != key[0] || own[1] != key[1]) continue;
        const struct cts_request_cost cost =
            cts_request_cost(&p->records[i].access, site_of(p, i)->width_bytes, 4,
                             site_of(p, i)->operation == CTS_LOAD);
        sums.record_count++;
        sums.access_count += cost.lanes;
        sums.requested_bytes += (uint64_t)cost.lanes * site_of(p, i)->width_bytes;
        sums.sectors += cost.sectors;
        sums.ideal_sectors += cost.sectors ? (cost.distinct_bytes + 31) / 32 : 0;
        sums.wavefronts += cost.wavefronts;
        sums.ideal_wavefronts += cost.ideal_wavefronts;
    }
    return sums;
}

static void check_groups(const struct asking *it, enum cts_selection_grouping by)
{
    struct cts_selection_groups all, some;
    struct cts_error error = {0};
    uint64_t records = 0;
    const size_t count = below(6);
    assert_int_equal(cts_selection_groups(it->selection, &it->question,
                                          (struct cts_selection_ranking){by, 10000}, &all, &error),
                     CTS_OK);
    assert_int_equal(cts_selection_groups(it->selection, &it->question,
                                          (struct cts_selection_ranking){by, count}, &some, &error),
                     CTS_OK);
    assert_int_equal(all.total, all.count);
    assert_int_equal(some.total, all.total);
    assert_int_equal(some.count, count < all.count ? count : all.count);
    for (size_t g = 0; g < all.count; g++) {
        const struct cts_selection_group *const group = &all.items[g];
        const struct cts_selection_sums sums = sums_of(it, by, group->key);
        assert_memory_equal(&sums, &group->sums, sizeof sums);
        records += sums.record_count;
        if (g) {
            const struct cts_selection_group *const before = &all.items[g - 1];
            assert_true(before->sums.access_count >= sums.access_count);
            if (before->sums.access_count == sums.access_count)
                assert_true(before->key[0] < group->key[0] ||
                            (before->key[0] == group->key[0] && before->key[1] < group->key[1]));
        }
        if (g < some.count) assert_memory_equal(group, &some.items[g], sizeof *group);
    }
    assert_int_equal(records, it->total);
    cts_selection_groups_release(&all);
    cts_selection_groups_release(&some);
}

static void random_window(uint8_t *space, uint64_t *first, uint64_t *last)
{
    static const uint8_t spaces[] = {CTS_SPACE_GLOBAL, CTS_SPACE_SHARED, CTS_SPACE_LOCAL};
    *space = spaces[below(3)];
    *first = (*space == CTS_SPACE_GLOBAL ? global_first : 0) + below(2) * below(5000);
    *last = *first + below(below(2) ? 100 : GLOBAL_BYTES + 100);
}

/* A window that begins where a record's lanes do. */
static void window_at_lane(const struct program *p, struct cts_selection_window *window)
{
    const size_t i = below(ALL);
    const struct lanes lanes = lanes_of(p, i);
    if (!is_known(p, i)) return;
    window->space = space_of(p, i);
    window->first = UINT64_MAX;
    for (uint32_t mask = lanes.mask; mask; mask &= mask - 1)
        if (lanes.at[__builtin_ctz(mask)] < window->first)
            window->first = lanes.at[__builtin_ctz(mask)];
    window->last = window->first + below(below(2) ? 300 : 3000);
}

static void check_density(const struct asking *it)
{
    const struct program *const p = it->program;
    struct cts_selection_window window = {.cells = 1 + below(300), .with_warps = below(2)};
    struct cts_selection_density density;
    struct cts_error error = {0};
    random_window(&window.space, &window.first, &window.last);
    if (below(3) == 0) window_at_lane(p, &window);
    assert_int_equal(cts_selection_density(it->selection, &it->question, &window, &density, &error),
                     CTS_OK);
    uint64_t cell = 1;
    while ((window.last - window.first) / cell >= window.cells) cell *= 2;
    assert_int_equal(density.cell_bytes, cell);
    assert_int_equal(density.cell_count, (window.last - window.first) / cell + 1);
    for (size_t c = 0; c < density.cell_count; c++) {
        const uint64_t first = window.first + c * cell;
        const uint64_t last = first + cell - 1 < window.last ? first + cell - 1 : window.last;
        uint64_t reads = 0, writes = 0, warps = 0;
        static bool seen[CTAS][100];
        memset(seen, 0, sizeof seen);
        for (size_t i = 0; i < ALL; i++) {
            if (!it->passes[i] || space_of(p, i) != window.space) continue;
            const struct lanes lanes = lanes_of(p, i);
            for (unsigned lane = 0; lane < CTS_WARP_LANES; lane++) {
                if (!lane_touches(p, i, &lanes, lane, first, last)) continue;
                reads += site_of(p, i)->operation != CTS_STORE;
                writes += site_of(p, i)->operation != CTS_LOAD;
                warps += !seen[p->cta[i]][p->warp[i]];
                seen[p->cta[i]][p->warp[i]] = true;
            }
        }
        assert_int_equal(density.reads[c], reads);
        assert_int_equal(density.writes[c], writes);
        if (!window.with_warps)
            assert_null(density.warps);
        else if (p->warp_end <= 64)
            assert_int_equal(density.warps[c], warps);
        else
            assert_int_equal(density.warps[c], warps < 2 ? warps : 2); /* several */
    }
    cts_selection_density_release(&density);
}

static void check_order(const struct asking *it)
{
    const struct program *const p = it->program;
    struct cts_selection_raster raster = {.rows = 1 + below(40), .columns = 1 + below(40)};
    struct cts_selection_order order;
    struct cts_error error = {0};
    random_window(&raster.space, &raster.first, &raster.last);
    raster.first_record = below(ALL);
    raster.last_record = raster.first_record + below(ALL);
    assert_int_equal(cts_selection_order(it->selection, &it->question, &raster, &order, &error),
                     CTS_OK);
    const uint64_t row_bytes = (raster.last - raster.first + raster.rows) / raster.rows;
    const uint64_t column_records =
        (raster.last_record - raster.first_record + raster.columns) / raster.columns;
    assert_int_equal(order.row_bytes, row_bytes);
    assert_int_equal(order.column_records, column_records);
    assert_true(order.rows <= raster.rows && order.columns <= raster.columns);
    uint32_t *const expected = calloc((size_t)order.rows * order.columns, 2 * sizeof *expected);
    assert_non_null(expected);
    for (size_t i = 0; i < ALL; i++) {
        if (!it->passes[i] || space_of(p, i) != raster.space || i < raster.first_record ||
            i > raster.last_record)
            continue;
        const struct lanes lanes = lanes_of(p, i);
        const uint64_t column = (i - raster.first_record) / column_records;
        for (uint64_t row = 0; row < order.rows; row++)
            for (unsigned lane = 0; lane < CTS_WARP_LANES; lane++) {
                const uint64_t first = raster.first + row * row_bytes;
                uint64_t last = first + row_bytes - 1;
                if (last > raster.last) last = raster.last;
                if (!lane_touches(p, i, &lanes, lane, first, last)) continue;
                expected[2 * (row * order.columns + column)] +=
                    site_of(p, i)->operation != CTS_STORE;
                expected[2 * (row * order.columns + column) + 1] +=
                    site_of(p, i)->operation != CTS_LOAD;
            }
    }
    for (size_t c = 0; c < (size_t)order.rows * order.columns; c++) {
        assert_int_equal(order.reads[c], expected[2 * c]);
        assert_int_equal(order.writes[c], expected[2 * c + 1]);
    }
    free(expected);
    cts_selection_order_release(&order);
}

static void check_touch(const struct program *p, const struct cts_selection_touch *touch, size_t i,
                        unsigned lane)
{
    const struct lanes lanes = lanes_of(p, i);
    assert_int_equal(touch->index, i);
    assert_int_equal(touch->lane, lane);
    assert_int_equal(touch->address, lanes.at[lane]);
    assert_int_equal(touch->cta, p->cta[i]);
    assert_int_equal(touch->warp, p->warp[i]);
    assert_int_equal(touch->site, p->site[i]);
}

static void check_touching(const struct asking *it)
{
    const struct program *const p = it->program;
    struct cts_selection_touches touches;
    struct cts_error error = {0};
    uint8_t space;
    uint64_t first, last, total = 0;
    const size_t count = below(2) ? 100000 : below(50);
    random_window(&space, &first, &last);
    assert_int_equal(
        cts_selection_touching(it->selection, &it->question,
                               &(struct cts_selection_bytes){space, first, last, count}, &touches,
                               &error),
        CTS_OK);
    for (size_t i = 0; i < ALL; i++) {
        if (!it->passes[i] || space_of(p, i) != space) continue;
        const struct lanes lanes = lanes_of(p, i);
        for (unsigned lane = 0; lane < CTS_WARP_LANES; lane++) {
            if (!lane_touches(p, i, &lanes, lane, first, last)) continue;
            if (total < touches.count) check_touch(p, &touches.items[total], i, lane);
            total++;
        }
    }
    assert_int_equal(touches.total, total);
    assert_int_equal(touches.count, total < count ? total : count);
    cts_selection_touches_release(&touches);
}

/* ---- conflicts ---- */

enum { READ = 1, WRITE = 2, PLAIN = 4 };
struct byte {
    uint8_t does[CTAS][100]; /* by warp */
};

static void spread(const struct asking *it, uint8_t space, uint32_t cta, struct byte *bytes,
                   size_t count, uint64_t base)
{
    const struct program *const p = it->program;
    const struct cts_selection_filter *const f = it->question.filter;
    memset(bytes, 0, count * sizeof *bytes);
    for (size_t i = 0; i < ALL; i++) {
        if (!it->passes[i] || space_of(p, i) != space) continue;
        if (space == CTS_SPACE_SHARED && p->cta[i] != cta) continue;
        const struct lanes lanes = lanes_of(p, i);
        const unsigned operation = site_of(p, i)->operation;
        const unsigned does = (operation != CTS_STORE) * READ | (operation != CTS_LOAD) * WRITE |
                              (operation == CTS_STORE) * PLAIN;
        for (unsigned lane = 0; lane < CTS_WARP_LANES; lane++)
            for (uint64_t b = 0; lanes.mask >> lane & 1 && b < site_of(p, i)->width_bytes; b++) {
                const uint64_t at = lanes.at[lane] + b;
                if (f->range_space == space && (at < f->range_first || at > f->range_last))
                    continue;
                assert_true(at >= base && at - base < count);
                bytes[at - base].does[p->cta[i]][p->warp[i]] |= (uint8_t)does;
            }
    }
}

static unsigned warps_of(const struct byte *byte, unsigned does)
{
    unsigned count = 0;
    for (size_t cta = 0; cta < CTAS; cta++)
        for (size_t w = 0; w < 100; w++) count += (byte->does[cta][w] & does) != 0;
    return count;
}

struct expected {
    struct cts_selection_conflict conflict;
    unsigned kind;
};

static int by_listing(const void *a, const void *b)
{
    const struct expected *const x = a, *const y = b;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if (x->conflict.cta != y->conflict.cta) return x->conflict.cta < y->conflict.cta ? -1 : 1;
    return (x->conflict.first > y->conflict.first) - (x->conflict.first < y->conflict.first);
}

static size_t expect(const struct byte *bytes, size_t count, uint64_t base, uint32_t cta,
                     struct expected *expected)
{
    size_t found = 0;
    for (size_t b = 0; b < count; b++) {
        const unsigned warps = warps_of(&bytes[b], READ | WRITE);
        if (warps < 2) continue;
        if (b && found && !memcmp(&bytes[b], &bytes[b - 1], sizeof *bytes)) {
            expected[found - 1].conflict.last++;
            continue;
        }
        const unsigned writers = warps_of(&bytes[b], WRITE), plain = warps_of(&bytes[b], PLAIN);
        expected[found++] = (struct expected){.conflict = {.first = base + b,
                                                           .last = base + b,
                                                           .cta = cta,
                                                           .warp_count = warps,
                                                           .writer_count = writers,
                                                           .is_atomic = writers && !plain},
                                              .kind = plain     ? 0
                                                      : writers ? 1
                                                                : 2};
    }
    return found;
}

static void check_conflict(const struct asking *it, uint8_t space,
                           const struct cts_selection_conflict *got,
                           const struct cts_selection_conflict *wanted)
{
    const struct program *const p = it->program;
    uint64_t total = 0;
    assert_int_equal(got->first, wanted->first);
    assert_int_equal(got->last, wanted->last);
    assert_int_equal(got->cta, wanted->cta);
    assert_int_equal(got->warp_count, wanted->warp_count);
    assert_int_equal(got->writer_count, wanted->writer_count);
    assert_int_equal(got->is_atomic, wanted->is_atomic);
    for (size_t i = 0; i < ALL; i++) {
        if (!it->passes[i] || space_of(p, i) != space) continue;
        if (wanted->cta != CTS_NONE && p->cta[i] != wanted->cta) continue;
        const struct lanes lanes = lanes_of(p, i);
        for (unsigned lane = 0; lane < CTS_WARP_LANES; lane++) {
            if (!lane_touches(p, i, &lanes, lane, wanted->first, wanted->last)) continue;
            if (total < got->touch_count) check_touch(p, &got->touches[total], i, lane);
            total++;
        }
    }
    assert_int_equal(got->touch_total, total);
    assert_int_equal(got->touch_count, total < CTS_SELECTION_TOUCHES_PER_CONFLICT
                                           ? total
                                           : CTS_SELECTION_TOUCHES_PER_CONFLICT);
}

static void check_conflicts(const struct asking *it, uint8_t space)
{
    static struct byte bytes[GLOBAL_BYTES + 64];
    static struct expected expected[CTAS * (GLOBAL_BYTES + 64)];
    struct cts_selection_conflicts conflicts;
    struct cts_error error = {0};
    const struct cts_selection_filter *const f = it->question.filter;
    size_t found = 0;
    if (space == CTS_SPACE_GLOBAL) {
        spread(it, space, 0, bytes, GLOBAL_BYTES + 64, global_first);
        found = expect(bytes, GLOBAL_BYTES + 64, global_first, CTS_NONE, expected);
    }
    for (uint32_t cta = 0; space == CTS_SPACE_SHARED && cta < CTAS; cta++) {
        spread(it, space, cta, bytes, SHARED_BYTES + 64, 0);
        found += expect(bytes, SHARED_BYTES + 64, 0, cta, expected + found);
    }
    if (f->range_space && f->range_space != space) found = 0;
    qsort(expected, found, sizeof *expected, by_listing);
    const size_t count = below(2) ? 100000 : below(30);
    assert_int_equal(cts_selection_conflicts_find(it->selection, &it->question,
                                                  (struct cts_selection_ranges){space, count},
                                                  &conflicts, &error),
                     CTS_OK);
    assert_int_equal(conflicts.total, found);
    assert_int_equal(conflicts.count, found < count ? found : count);
    for (size_t c = 0; c < conflicts.count; c++)
        if (c < 20 || c % 10 == 0)
            check_conflict(it, space, &conflicts.items[c], &expected[c].conflict);
    cts_selection_conflicts_release(&conflicts);
}

static void check_launch(const struct asking *it)
{
    const struct program *const p = it->program;
    struct cts_selection_launch launch;
    struct cts_error error = {0};
    uint64_t records = 0, unknown = 0, accesses = 0, first = UINT64_MAX, last = 0;
    assert_int_equal(cts_selection_launch(it->selection, &it->question, &launch, &error), CTS_OK);
    for (size_t i = 0; i < ALL; i++) {
        if ((int)(i / RECORDS) == p->damaged) continue;
        unknown += !is_known(p, i);
        if (!is_known(p, i)) continue;
        records++;
        accesses += (unsigned)__builtin_popcount(p->mask[i]);
        const struct lanes lanes = lanes_of(p, i);
        for (unsigned lane = 0; lane < 32 && space_of(p, i) == CTS_SPACE_GLOBAL; lane++) {
            if (!(lanes.mask >> lane & 1)) continue;
            const uint64_t end = lanes.at[lane] + site_of(p, i)->width_bytes - 1;
            if (lanes.at[lane] < first) first = lanes.at[lane];
            if (end > last) last = end;
        }
    }
    assert_int_equal(launch.record_count, records);
    assert_int_equal(launch.unknown_count, unknown);
    assert_int_equal(launch.access_count, accesses);
    if (last) {
        assert_int_equal(launch.spaces[0].space, CTS_SPACE_GLOBAL);
        assert_int_equal(launch.spaces[0].first, first);
        assert_int_equal(launch.spaces[0].last, last);
    }
    assert_int_equal(launch.allocation_count, 3);
    for (size_t a = 0; a < 3; a++) {
        const struct cts_allocation *const row = &p->allocations[launch.allocations[a].index];
        bool touched = false;
        assert_int_equal(launch.allocations[a].index, 2 - a);
        for (size_t i = 0; i < ALL; i++) {
            if (!is_known(p, i) || space_of(p, i) != CTS_SPACE_GLOBAL) continue;
            const struct lanes lanes = lanes_of(p, i);
            for (unsigned lane = 0; lane < 32; lane++)
                touched |= lane_touches(p, i, &lanes, lane, row->address,
                                        row->address + row->size_bytes - 1);
        }
        assert_int_equal(launch.allocations[a].is_touched, touched);
    }
    cts_selection_launch_release(&launch);
}

static void set_filter(struct asking *it, const struct filter *filter)
{
    it->question.filter = &filter->f;
    it->total = 0;
    for (size_t i = 0; i < ALL; i++) {
        it->passes[i] = passes(it->program, &filter->f, i);
        it->total += it->passes[i];
    }
}

static void ask_all(struct asking *it)
{
    struct filter filter;
    check_launch(it);
    for (unsigned n = 0; n < FILTERS; n++) {
        random_filter(it->program, &filter);
        set_filter(it, &filter);
        check_records(it);
        check_position(it);
        for (int by = 0; by < CTS_SELECTION_GROUPING_COUNT; by++)
            if (below(2)) check_groups(it, (enum cts_selection_grouping)by);
        check_density(it);
        check_order(it);
        check_touching(it);
        if (n % 3 == 0) check_conflicts(it, CTS_SPACE_GLOBAL);
        if (n % 3 == 1) check_conflicts(it, CTS_SPACE_SHARED);
        if (n % 3 == 2) check_conflicts(it, CTS_SPACE_LOCAL);
    }
}

static struct cts_access_source source_of(const struct program *p)
{
    return (struct cts_access_source){.chunks = p->chunks,
                                      .chunk_count = CHUNKS,
                                      .state = p,
                                      .read = read_chunk,
                                      .release = release_batch};
}

static struct asking *open_asking(struct program *p, const struct cts_access_source *source,
                                  const struct cts_selection_options *options)
{
    struct asking *const it = calloc(1, sizeof *it);
    struct cts_error error = {0};
    assert_non_null(it);
    it->program = p;
    assert_int_equal(cts_selection_open(&p->catalogue, source, options, &it->selection, &error),
                     CTS_OK);
    it->question.launch = 5;
    return it;
}

static void test_twin(void **unused)
{
    (void)unused;
    const unsigned rounds = cts_test_count(ROUNDS_QUICK, ROUNDS);
    for (unsigned round = 0; round < rounds; round++) {
        struct program *const p = random_program();
        const struct cts_access_source source = source_of(p);
        /* All, some and none of the chunks are kept. */
        const struct cts_selection_options options = {.threads = round % 3 == 2 ? 4 : round % 3 + 1,
                                                      .memory_bytes = round % 4 == 0   ? 1
                                                                      : round % 4 == 1 ? 30000
                                                                                       : 0};
        struct asking *const it = open_asking(p, &source, &options);
        struct cts_error error = {0};
        ask_all(it);
        assert_int_equal(cts_selection_damage(it->selection, &error), p->damaged >= 0);
        if (options.memory_bytes)
            assert_true(cts_selection_memory(it->selection) <= options.memory_bytes);
        cts_selection_close(it->selection);
        free(it);
        free(p);
    }
}

/* CTAs that do the same in shared memory, or nearly. */
static void test_alike(void **unused)
{
    (void)unused;
    const unsigned rounds = cts_test_count(20, 100);
    for (unsigned round = 0; round < rounds; round++) {
        struct program *const p = random_program_of(true);
        const struct cts_access_source source = source_of(p);
        const struct cts_selection_options options = {.threads = 1 + round % 3};
        struct asking *const it = open_asking(p, &source, &options);
        struct filter filter = {0};
        set_filter(it, &filter);
        check_conflicts(it, CTS_SPACE_SHARED);
        filter.f.space = round % 2 ? CTS_SPACE_SHARED : CTS_SPACE_GLOBAL;
        set_filter(it, &filter);
        check_conflicts(it, CTS_SPACE_SHARED);
        if (round % 10 < 2) check_conflicts(it, CTS_SPACE_GLOBAL);
        random_filter(p, &filter);
        set_filter(it, &filter);
        check_conflicts(it, CTS_SPACE_SHARED);
        cts_selection_close(it->selection);
        free(it);
        free(p);
    }
}

/* ---- what makes no sense ---- */

static bool always(void *state)
{
    (void)state;
    return true;
}

static void test_refusals(void **unused)
{
    (void)unused;
    struct program *const p = random_program();
    p->damaged = -1;
    const struct cts_access_source source = source_of(p);
    const struct cts_selection_options options = {.threads = 2};
    struct cts_selection *selection;
    struct cts_error error = {0};
    assert_int_equal(cts_selection_open(&p->catalogue, &source, &options, &selection, &error),
                     CTS_OK);
    struct cts_selection_question question = {.launch = 6};
    struct cts_selection_launch launch;
    assert_int_equal(cts_selection_launch(selection, &question, &launch, &error), CTS_USAGE);
    assert_string_equal(error.text, "there is no launch 6");
    question.launch = 5;
    struct cts_selection_density density;
    const struct cts_selection_window backwards = {CTS_SPACE_GLOBAL, 10, 9, 4, false};
    assert_int_equal(cts_selection_density(selection, &question, &backwards, &density, &error),
                     CTS_USAGE);
    const struct cts_selection_window none = {CTS_SPACE_GLOBAL, 0, 9, 0, false};
    assert_int_equal(cts_selection_density(selection, &question, &none, &density, &error),
                     CTS_USAGE);
    const struct cts_selection_window widest = {CTS_SPACE_GLOBAL, 0, UINT64_MAX, 3, true};
    assert_int_equal(cts_selection_density(selection, &question, &widest, &density, &error),
                     CTS_OK);
    assert_int_equal(density.cell_bytes, UINT64_C(1) << 63);
    cts_selection_density_release(&density);
    struct cts_selection_conflicts conflicts; /* what is kept is of one launch */
    assert_int_equal(cts_selection_conflicts_find(
                         selection, &question, (struct cts_selection_ranges){CTS_SPACE_GLOBAL, 10},
                         &conflicts, &error),
                     CTS_OK);
    cts_selection_conflicts_release(&conflicts);
    question.launch = 6;
    assert_int_equal(cts_selection_conflicts_find(
                         selection, &question, (struct cts_selection_ranges){CTS_SPACE_GLOBAL, 10},
                         &conflicts, &error),
                     CTS_USAGE);
    question.launch = 5;
    struct cts_selection_order order;
    const struct cts_selection_raster huge = {
        .space = CTS_SPACE_GLOBAL, .last = 1, .rows = 1 << 16, .columns = 1 << 16};
    assert_int_equal(cts_selection_order(selection, &question, &huge, &order, &error), CTS_USAGE);
    struct cts_selection_touches touches;
    assert_int_equal(
        cts_selection_touching(selection, &question,
                               &(struct cts_selection_bytes){CTS_SPACE_GLOBAL, 2, 1, 1}, &touches,
                               &error),
        CTS_USAGE);
    question.is_given_up = always;
    struct cts_selection_records records;
    assert_int_equal(cts_selection_records(selection, &question, (struct cts_selection_page){0, 1},
                                           &records, &error),
                     CTS_IO);
    assert_string_equal(error.text, "the request was cancelled");
    cts_selection_close(selection);
    free(p);
}

/* Several threads ask at once, of a memory that cannot hold all. */
struct crowd {
    const struct program *program;
    struct cts_selection *selection;
    uint64_t expected[2];
};

static void *ask_often(void *state)
{
    const struct crowd *const crowd = state;
    const struct cts_selection_question question = {.launch = 5};
    for (unsigned n = 0; n < 50; n++) {
        struct cts_selection_groups groups;
        struct cts_selection_records records;
        struct cts_error error = {0};
        if (cts_selection_groups(crowd->selection, &question,
                                 (struct cts_selection_ranking){CTS_SELECTION_BY_OPERATION, 100},
                                 &groups, &error) ||
            cts_selection_records(crowd->selection, &question, (struct cts_selection_page){n, 5},
                                  &records, &error))
            return (void *)"failed";
        uint64_t accesses = 0;
        for (size_t g = 0; g < groups.count; g++) accesses += groups.items[g].sums.access_count;
        const bool is_right = accesses == crowd->expected[1] && records.total == crowd->expected[0];
        cts_selection_groups_release(&groups);
        cts_selection_records_release(&records);
        if (!is_right) return (void *)"wrong";
    }
    return NULL;
}

static void test_crowd(void **unused)
{
    (void)unused;
    struct program *const p = random_program();
    p->damaged = -1;
    const struct cts_access_source source = source_of(p);
    const struct cts_selection_options options = {.threads = 2, .memory_bytes = 20000};
    struct crowd crowd = {.program = p};
    struct cts_error error = {0};
    assert_int_equal(cts_selection_open(&p->catalogue, &source, &options, &crowd.selection, &error),
                     CTS_OK);
    for (size_t i = 0; i < ALL; i++) {
        crowd.expected[0] += is_known(p, i);
        crowd.expected[1] += is_known(p, i) ? (unsigned)__builtin_popcount(p->mask[i]) : 0;
    }
    pthread_t threads[4];
    for (unsigned t = 0; t < 4; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, ask_often, &crowd), 0);
    for (unsigned t = 0; t < 4; t++) {
        void *trouble;
        assert_int_equal(pthread_join(threads[t], &trouble), 0);
        assert_null(trouble);
    }
    cts_selection_close(crowd.selection);
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_twin),
        cmocka_unit_test(test_alike),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_crowd),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
