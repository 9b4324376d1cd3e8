/* The access analysis against its brute-force twin: sectors, lines, bytes and bank words of random
 * requests by looking at every byte of every lane; and closed forms that everybody knows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/access/access-analysis.h"
#include "random.h"
#include "record-fixture.h"

/* ---- the twin ---- */

struct bytes {
    uint64_t items[CTS_WARP_LANES * CTS_WIDTH_MAX];
    size_t count;
};

static void put(struct bytes *bytes, uint64_t value)
{
    for (size_t i = 0; i < bytes->count; i++)
        if (bytes->items[i] == value) return;
    bytes->items[bytes->count++] = value;
}

static unsigned twin_units(const uint64_t *addresses, uint32_t mask, uint32_t width, uint64_t unit)
{
    struct bytes units = {.count = 0};
    for (unsigned lane = 0; lane < 32; lane++)
        for (uint32_t b = 0; b < width && mask >> lane & 1; b++)
            put(&units, (addresses[lane] + b) / unit);
    return (unsigned)units.count;
}

/* Whether active lanes whose numbers differ by `step` have one address. */
static bool twin_pairs(const uint64_t *addresses, uint32_t mask, unsigned step)
{
    for (unsigned a = 0; a < 32; a++)
        for (unsigned b = 0; b < 32; b++)
            if (mask >> a & mask >> b & 1 && (a ^ b) == step && addresses[a] != addresses[b])
                return false;
    return true;
}

static void twin_banks(const uint64_t *addresses, uint32_t mask, uint32_t width, unsigned bank,
                       bool loads, struct cts_request_cost *cost)
{
    unsigned lanes = width <= 4 ? 32 : width <= 8 ? 16 : 8;
    if (lanes < 32 && loads && bank == 4)
        lanes <<= twin_pairs(addresses, mask, 1) || twin_pairs(addresses, mask, 2);
    for (unsigned phase = 0; phase < 32 / lanes; phase++) {
        struct bytes words = {.count = 0};
        unsigned most = 0;
        for (unsigned lane = phase * lanes; lane < (phase + 1) * lanes; lane++)
            for (uint32_t b = 0; b < width && mask >> lane & 1; b++)
                put(&words, (addresses[lane] + b) / bank);
        for (unsigned k = 0; k < 32; k++) {
            unsigned here = 0;
            for (size_t i = 0; i < words.count; i++) here += words.items[i] % 32 == k;
            if (here > most) most = here;
        }
        cost->wavefronts = (uint16_t)(cost->wavefronts + most);
        cost->ideal_wavefronts = (uint16_t)(cost->ideal_wavefronts + (words.count + 31) / 32);
        if (most > cost->ways) cost->ways = (uint16_t)most;
    }
}

/* Byte b of word w of lane l lies at 128 w + 4 l + b. */
static void twin_local(const uint64_t *addresses, uint32_t mask, uint32_t width,
                       struct cts_request_cost *cost)
{
    struct bytes sectors = {.count = 0}, lines = {.count = 0};
    cost->distinct_bytes = 0;
    cost->same_address = 1;
    for (unsigned lane = 0; lane < 32; lane++)
        for (uint32_t b = 0; b < width && mask >> lane & 1; b++) {
            const uint64_t offset = addresses[lane] + b;
            const uint64_t place = offset / 4 * 128 + lane * UINT64_C(4) + offset % 4;
            put(&sectors, place / 32);
            put(&lines, place / 128);
            cost->distinct_bytes++;
        }
    cost->sectors = (uint16_t)sectors.count;
    cost->lines = (uint16_t)lines.count;
}

static struct cts_request_cost twin(const struct cts_access *access, uint32_t width, unsigned bank,
                                    bool loads)
{
    uint64_t addresses[32];
    struct cts_request_cost cost = {.lanes = (uint8_t)__builtin_popcount(access->mask)};
    cts_access_addresses(access, addresses);
    for (unsigned lane = 0; lane < 32; lane++) {
        unsigned same = 0;
        for (unsigned other = 0; other < 32; other++)
            same += access->mask >> lane & access->mask >> other & 1 &&
                    addresses[other] == addresses[lane];
        if (same > cost.same_address) cost.same_address = (uint8_t)same;
    }
    cost.distinct_bytes = (uint16_t)twin_units(addresses, access->mask, width, 1);
    if (access->space == CTS_SPACE_LOCAL) {
        twin_local(addresses, access->mask, width, &cost);
    } else if (access->space == CTS_SPACE_SHARED) {
        twin_banks(addresses, access->mask, width, bank, loads, &cost);
    } else {
        cost.sectors = (uint16_t)twin_units(addresses, access->mask, width, 32);
        cost.lines = (uint16_t)twin_units(addresses, access->mask, width, 128);
    }
    return cost;
}

static struct cts_access random_access(uint32_t offsets[32])
{
    static const uint8_t spaces[] = {CTS_SPACE_GLOBAL, CTS_SPACE_SHARED, CTS_SPACE_LOCAL};
    struct cts_access access = {
        .mask = below(3) ? UINT32_MAX : 1 + (uint32_t)below(UINT32_MAX),
        .space = spaces[below(3)],
        .pattern = (uint8_t)below(4),
        .base = 0x10000 + below(400),
        .offsets = offsets,
    };
    if (below(8) == 0) access.mask = UINT32_C(1) << below(32);
    if (access.pattern == CTS_PATTERN_AFFINE) access.s0 = (int32_t)below(300) - 100;
    if (access.pattern == CTS_PATTERN_TWO_LEVEL) {
        access.row_lanes = (uint8_t)(2 + below(30));
        access.s0 = (int32_t)below(40);
        access.s1 = (int32_t)below(600) - 200;
    }
    for (unsigned i = 0; i < 32; i++) offsets[i] = (uint32_t)below(below(2) ? 64 : 900);
    if (below(2)) { /* aligned, as programs are */
        access.base &= ~UINT64_C(15);
        for (unsigned i = 0; i < 32; i++) offsets[i] &= ~15u;
    }
    /* often in pairs of lanes; an offset stands where its lane does among the active ones */
    const unsigned pairs = below(2) ? 0 : 1 + below(2);
    if (access.mask == UINT32_MAX)
        for (unsigned i = 0; i < 32; i++) offsets[i] = offsets[i & ~pairs];
    return access;
}

static void assert_same_cost(const struct cts_request_cost *a, const struct cts_request_cost *b)
{
    assert_int_equal(a->lanes, b->lanes);
    assert_int_equal(a->same_address, b->same_address);
    assert_int_equal(a->distinct_bytes, b->distinct_bytes);
    assert_int_equal(a->sectors, b->sectors);
    assert_int_equal(a->lines, b->lines);
    assert_int_equal(a->wavefronts, b->wavefronts);
    assert_int_equal(a->ideal_wavefronts, b->ideal_wavefronts);
    assert_int_equal(a->ways, b->ways);
}

static void test_requests(void **unused)
{
    (void)unused;
    static const uint32_t widths[] = {1, 2, 4, 8, 16, 12, 3, 32};
    struct cts_cost_memory *const memory = calloc(1, sizeof *memory);
    for (unsigned round = 0; round < 20000; round++) {
        uint32_t offsets[32];
        const struct cts_access access = random_access(offsets);
        const uint32_t width = widths[below(sizeof widths / sizeof *widths)];
        const bool loads = below(2);
        const struct cts_request_cost expected = twin(&access, width, 4, loads);
        const struct cts_request_cost once = cts_request_cost(&access, width, 4, loads);
        assert_same_cost(&once, &expected);
        for (int again = 0; again < 2; again++) {
            const struct cts_request_cost kept =
                cts_request_cost_remembered(memory, &access, width, 4, loads);
            assert_same_cost(&kept, &once);
            assert_int_equal(kept.layout, once.layout);
            assert_int_equal(kept.stride_bytes, once.stride_bytes);
        }
        struct cts_access moved = access; /* one index reads several arrays */
        moved.base += below(400);
        const struct cts_request_cost there = cts_request_cost(&moved, width, 4, loads);
        const struct cts_request_cost known =
            cts_request_cost_remembered(memory, &moved, width, 4, loads);
        assert_same_cost(&known, &there);
        assert_int_equal(known.layout, there.layout);
        const struct cts_request_cost wide = twin(&access, width, 8, loads);
        const struct cts_request_cost banks = cts_request_cost(&access, width, 8, loads);
        assert_same_cost(&banks, &wide);
    }
    free(memory);
}

/* ---- closed forms ---- */

static struct cts_request_cost affine(enum cts_space space, uint64_t base, int32_t stride,
                                      uint32_t width)
{
    const struct cts_access access = {.mask = UINT32_MAX,
                                      .space = (uint8_t)space,
                                      .pattern = CTS_PATTERN_AFFINE,
                                      .base = base,
                                      .s0 = stride};
    return cts_request_cost(&access, width, 4, true);
}

static void test_closed_forms(void **unused)
{
    (void)unused;
    /* side by side, and shifted by one element */
    assert_int_equal(affine(CTS_SPACE_GLOBAL, 0x1000, 4, 4).sectors, 4);
    assert_int_equal(affine(CTS_SPACE_GLOBAL, 0x1004, 4, 4).sectors, 5);
    assert_int_equal(affine(CTS_SPACE_GLOBAL, 0x1000, -4, 4).layout, CTS_LAYOUT_DENSE);
    /* a row of a matrix per lane: naive transpose */
    assert_int_equal(affine(CTS_SPACE_GLOBAL, 0x1000, 4096, 4).sectors, 32);
    /* 8 bytes of a struct of 24 */
    const struct cts_request_cost field = affine(CTS_SPACE_GLOBAL, 0x1000, 24, 8);
    assert_int_equal(field.sectors, 24);
    assert_int_equal(field.distinct_bytes, 256);
    assert_int_equal(field.stride_bytes, 24);
    /* stride-2 doubles: twice the sectors */
    assert_int_equal(affine(CTS_SPACE_GLOBAL, 0x1000, 16, 8).sectors, 16);
    /* a column of a 32x32 tile, and of a padded one */
    assert_int_equal(affine(CTS_SPACE_SHARED, 0, 128, 4).wavefronts, 32);
    assert_int_equal(affine(CTS_SPACE_SHARED, 0, 132, 4).wavefronts, 1);
    /* 2^k words apart: 2^k ways */
    for (unsigned k = 0; k <= 5; k++)
        assert_int_equal(affine(CTS_SPACE_SHARED, 0, 4 << k, 4).ways, 1 << k);
    /* one word for all: no conflict; doubles and float4 go in phases without any */
    assert_int_equal(affine(CTS_SPACE_SHARED, 64, 0, 4).wavefronts, 1);
    assert_int_equal(affine(CTS_SPACE_SHARED, 0, 8, 8).wavefronts, 2);
    assert_int_equal(affine(CTS_SPACE_SHARED, 0, 16, 16).wavefronts, 4);
    assert_int_equal(affine(CTS_SPACE_SHARED, 0, 16, 16).ideal_wavefronts, 4);
    /* an array of each thread: word w of all lanes is a line; of bytes, a word of each lane moves
     */
    assert_int_equal(affine(CTS_SPACE_LOCAL, 0x40, 0, 4).sectors, 4);
    assert_int_equal(affine(CTS_SPACE_LOCAL, 0x40, 0, 4).layout, CTS_LAYOUT_DENSE);
    assert_int_equal(affine(CTS_SPACE_LOCAL, 0x40, 0, 16).sectors, 16);
    assert_int_equal(affine(CTS_SPACE_LOCAL, 0x40, 0, 1).sectors, 4);
    assert_int_equal(affine(CTS_SPACE_LOCAL, 0x40, 0, 1).distinct_bytes, 32);
    assert_int_equal(affine(CTS_SPACE_LOCAL, 0x40, 4, 4).sectors, 32);
    assert_int_equal(affine(CTS_SPACE_LOCAL, 0x40, 4, 4).layout, CTS_LAYOUT_IRREGULAR);
    /* of one vector for all, half as many phases */
    assert_int_equal(affine(CTS_SPACE_SHARED, 0, 0, 8).wavefronts, 1);
    assert_int_equal(affine(CTS_SPACE_SHARED, 0, 0, 16).wavefronts, 2);
}

/* ---- the whole analysis ---- */

enum { SITES = 6, LAUNCHES = 4, KERNELS = 2, RECORDS = 3000, CHUNKS = 7 };

struct program {
    struct cts_catalogue catalogue;
    struct cts_kernel kernels[KERNELS];
    struct cts_site sites[SITES];
    struct cts_launch launches[LAUNCHES];
    struct cts_acc_chunk chunks[CHUNKS];
    struct cts_access records[CHUNKS][RECORDS];
    uint32_t offsets[CHUNKS][RECORDS][32];
};

static enum cts_status read_chunk(const void *given, const struct cts_acc_chunk *chunk,
                                  struct cts_acc_batch *batch, struct cts_error *error)
{
    const struct program *const program = given;
    if (batch_start(batch, chunk, error)) return CTS_MEMORY;
    for (size_t i = 0; i < chunk->record_count; i++)
        batch_put(batch, &program->records[chunk->offset_bytes][i]);
    return CTS_OK;
}

static struct program *random_program(void)
{
    static const uint32_t widths[] = {4, 8, 16, 1, 4, 4};
    struct program *const p = calloc(1, sizeof *p);
    for (uint32_t i = 0; i < KERNELS; i++)
        p->kernels[i] = (struct cts_kernel){.kernel = i, .name = i ? "second" : "first"};
    for (uint32_t i = 0; i < SITES; i++)
        p->sites[i] = (struct cts_site){.site = i,
                                        .operation = i == 5 ? CTS_ATOMIC_ADD : CTS_LOAD,
                                        .width_bytes = widths[i],
                                        .source = CTS_NONE};
    for (uint32_t i = 0; i < LAUNCHES; i++)
        p->launches[i] = (struct cts_launch){.launch = i,
                                             .op = i,
                                             .kernel = i % KERNELS,
                                             .grid = {4, 1, 1},
                                             .block = {80, 1, 1},
                                             .recorded = "all"};
    for (size_t c = 0; c < CHUNKS; c++) {
        p->chunks[c] = (struct cts_acc_chunk){.launch = (uint32_t)(c * LAUNCHES / CHUNKS),
                                              .offset_bytes = c,
                                              .record_count = RECORDS};
        for (size_t i = 0; i < RECORDS; i++) {
            struct cts_access *const record = &p->records[c][i];
            *record = random_access(p->offsets[c][i]);
            record->launch = p->chunks[c].launch;
            record->site = (uint32_t)below(SITES);
            record->warp = (uint16_t)below(3); /* of 80 threads: the last has 16 */
            if (record->warp == 2) record->mask &= 0xffff;
            if (!record->mask) record->mask = 1;
        }
    }
    p->catalogue.kernels = p->kernels;
    p->catalogue.kernel_count = KERNELS;
    p->catalogue.sites = p->sites;
    p->catalogue.site_count = SITES;
    p->catalogue.launches = p->launches;
    p->catalogue.launch_count = LAUNCHES;
    return p;
}

/* The sums of one row, over all records anew. */
static void check_row(const struct program *p, const struct cts_access_site *row)
{
    struct cts_access_counts sum = {0};
    uint32_t worst = 0;
    for (size_t c = 0; c < CHUNKS; c++)
        for (size_t i = 0; i < RECORDS; i++) {
            const struct cts_access *const record = &p->records[c][i];
            const struct cts_launch *const launch = &p->launches[record->launch];
            if (record->site != row->site || record->space != row->space) continue;
            if (row->launch == SIZE_MAX ? launch->kernel != row->kernel
                                        : record->launch != row->launch)
                continue;
            const uint32_t width = p->sites[row->site].width_bytes;
            const bool loads = p->sites[row->site].operation == CTS_LOAD;
            const struct cts_request_cost cost = twin(record, width, 4, loads);
            const unsigned ideal = (cost.distinct_bytes + 31u) / 32;
            const unsigned live = record->warp == 2 ? 16 : 32;
            sum.requests++;
            sum.accesses += cost.lanes;
            sum.live_lanes += live;
            sum.partial_requests += cost.lanes < live;
            sum.requested_bytes += (uint64_t)cost.lanes * width;
            sum.distinct_bytes += cost.distinct_bytes;
            sum.sectors += cost.sectors;
            sum.ideal_sectors += cost.sectors ? ideal : 0;
            sum.lines += cost.lines;
            sum.wavefronts += cost.wavefronts;
            sum.ideal_wavefronts += cost.ideal_wavefronts;
            sum.conflict_requests += cost.ways > 1;
            if (row->site == 5) sum.same_address_lanes += cost.same_address - 1u;
            if (cost.ways > worst) worst = cost.ways;
        }
    const struct cts_access_counts *const found = &row->counts;
    assert_int_equal(found->requests, sum.requests);
    assert_int_equal(found->accesses, sum.accesses);
    assert_int_equal(found->live_lanes, sum.live_lanes);
    assert_int_equal(found->partial_requests, sum.partial_requests);
    assert_int_equal(found->requested_bytes, sum.requested_bytes);
    assert_int_equal(found->distinct_bytes, sum.distinct_bytes);
    assert_int_equal(found->sectors, sum.sectors);
    assert_int_equal(found->ideal_sectors, sum.ideal_sectors);
    assert_int_equal(found->lines, sum.lines);
    assert_int_equal(found->wavefronts, sum.wavefronts);
    assert_int_equal(found->ideal_wavefronts, sum.ideal_wavefronts);
    assert_int_equal(found->conflict_requests, sum.conflict_requests);
    assert_int_equal(found->same_address_lanes, sum.same_address_lanes);
    assert_int_equal(row->worst_ways, worst);
    assert_int_equal(found->uniform_requests + found->dense_requests + found->strided_requests +
                         found->two_level_requests + found->irregular_requests,
                     sum.requests);
}

static void test_analysis(void **unused)
{
    (void)unused;
    struct program *const program = random_program();
    const struct cts_access_source source = {.chunks = program->chunks,
                                             .chunk_count = CHUNKS,
                                             .state = program,
                                             .read = read_chunk,
                                             .release = cts_acc_batch_release};
    struct cts_error error = {0};
    struct cts_access_result first = {0};
    for (unsigned threads = 1; threads <= 3; threads++)
        for (int per_launch = 0; per_launch < 2; per_launch++) {
            const struct cts_access_options options = {.per_launch = per_launch,
                                                       .threads = threads};
            struct cts_access_result result;
            assert_int_equal(
                cts_access_analyze(&program->catalogue, &source, &options, &result, &error),
                CTS_OK);
            assert_int_equal(result.record_count, CHUNKS * RECORDS);
            uint64_t requests = 0;
            for (size_t i = 0; i < result.site_count; i++) {
                if (threads == 1 || i % 7 == 0) check_row(program, &result.sites[i]);
                requests += result.sites[i].counts.requests;
            }
            assert_int_equal(requests, CHUNKS * RECORDS);
            if (per_launch) {
                assert_int_equal(result.finding_count, 0);
                cts_access_release(&result);
                continue;
            }
            assert_true(result.finding_count > 0);
            if (threads == 1) {
                first = result;
                continue;
            }
            assert_int_equal(result.site_count, first.site_count);
            for (size_t i = 0; i < result.site_count; i++) {
                const struct cts_access_site *const a = &result.sites[i];
                const struct cts_access_site *const b = &first.sites[i];
                assert_int_equal(a->kernel, b->kernel);
                assert_int_equal(a->site, b->site);
                assert_int_equal(a->space, b->space);
                assert_int_equal(a->stride_bytes, b->stride_bytes);
                assert_int_equal(a->stride_requests, b->stride_requests);
                assert_memory_equal(&a->counts, &b->counts, sizeof a->counts);
            }
            assert_int_equal(result.finding_count, first.finding_count);
            for (size_t i = 0; i < result.finding_count; i++) {
                assert_int_equal(result.findings[i].kind, first.findings[i].kind);
                assert_int_equal(result.findings[i].site, first.findings[i].site);
                assert_true(result.findings[i].waste == first.findings[i].waste);
                assert_true(result.findings[i].share <= 1);
                if (i && !cts_finding_is_fault(result.findings[i - 1].kind))
                    assert_true(result.findings[i].waste <= result.findings[i - 1].waste);
                if (i && cts_finding_is_fault(result.findings[i].kind))
                    assert_true(cts_finding_is_fault(result.findings[i - 1].kind));
            }
            cts_access_release(&result);
        }
    cts_access_release(&first);
    free(program);
}

/* One warp of a launch. */
static void put_record(struct program *p, uint32_t launch, uint32_t site, int32_t stride,
                       uint64_t base)
{
    struct cts_acc_chunk *const chunk = &p->chunks[launch];
    p->records[launch][chunk->record_count++] = (struct cts_access){.launch = launch,
                                                                    .site = site,
                                                                    .mask = UINT32_MAX,
                                                                    .space = CTS_SPACE_GLOBAL,
                                                                    .pattern = CTS_PATTERN_AFFINE,
                                                                    .s0 = stride,
                                                                    .base = base};
}

static const struct cts_finding *finding_at(const struct cts_access_result *result, uint32_t site)
{
    for (size_t i = 0; i < result->finding_count; i++)
        if (result->sites[result->findings[i].site].site == site) return &result->findings[i];
    return NULL;
}

/* Kernels without source lines, as libraries have them: pieces that each lane takes of its bytes
 * are no structs; what one function does alike is one finding, also of several instances and of
 * disassemblies, and functions in an anonymous namespace are not one. */
static void test_without_lines(void **unused)
{
    (void)unused;
    enum { HERE = 7 };
    struct program *const p = calloc(1, sizeof *p);
    struct cts_kernel kernels[] = {
        {.kernel = 0,
         .name = "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, "
                 "float, false>(int, float, float const*)"},
        {.kernel = 1,
         .name = "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<double, "
                 "double, false>(int, double, double const*)"},
        {.kernel = 2,
         .name = "void at::native::(anonymous namespace)::layer_norm_grad_input_kernel<float, "
                 "false>(float const*)"},
    };
    struct cts_source sources[] = {{.path = "vectorized_layer_norm_kernel.sass"}};
    struct cts_site sites[HERE];
    for (uint32_t i = 0; i < HERE; i++)
        sites[i] = (struct cts_site){.site = i,
                                     .operation = CTS_LOAD,
                                     .width_bytes = i < 6 ? 8 : 4,
                                     .source = i < 4 ? 0 : CTS_NONE,
                                     .line = i};
    for (uint32_t i = 0; i < 3; i++) {
        p->launches[i] = (struct cts_launch){.launch = i,
                                             .op = i,
                                             .kernel = i,
                                             .grid = {1, 1, 1},
                                             .block = {32, 1, 1},
                                             .recorded = "all"};
        p->chunks[i] = (struct cts_acc_chunk){.launch = i, .offset_bytes = i};
        for (uint32_t half = 0; half < 2; half++)
            put_record(p, i, 2 * i + half, 16, 0x10000 + 8 * half);
    }
    put_record(p, 2, 6, 64, 0x20000); /* 4 bytes of 64 */
    p->catalogue.kernels = kernels;
    p->catalogue.kernel_count = 3;
    p->catalogue.sources = sources;
    p->catalogue.source_count = 1;
    p->catalogue.sites = sites;
    p->catalogue.site_count = HERE;
    p->catalogue.launches = p->launches;
    p->catalogue.launch_count = 3;
    const struct cts_access_source source = {.chunks = p->chunks,
                                             .chunk_count = 3,
                                             .state = p,
                                             .read = read_chunk,
                                             .release = cts_acc_batch_release};
    struct cts_error error = {0};
    struct cts_access_result result;
    assert_int_equal(cts_access_analyze(&p->catalogue, &source,
                                        &(struct cts_access_options){.threads = 1}, &result,
                                        &error),
                     CTS_OK);
    assert_int_equal(result.finding_count, 3);
    const struct cts_finding *const both = finding_at(&result, 0);
    assert_non_null(both);
    assert_int_equal(both->kind, CTS_FINDING_BLOCKED);
    assert_int_equal(both->site_count, 4);
    assert_int_equal(both->struct_bytes, 16);
    assert_int_equal(both->used_bytes, 16);
    const struct cts_finding *const other = finding_at(&result, 4);
    assert_non_null(other);
    assert_int_equal(other->kind, CTS_FINDING_BLOCKED);
    assert_int_equal(other->site_count, 2);
    const struct cts_finding *const field = finding_at(&result, 6);
    assert_non_null(field);
    assert_int_equal(field->kind, CTS_FINDING_STRUCT_STRIDE);
    assert_int_equal(field->used_bytes, 4);
    cts_access_release(&result);
    free(p);
}

/* A field that a warp loads from structs of 64 bytes, and where: (kernel line, variable). */
struct field {
    uint32_t line;
    const char *variable;
    uint32_t offset_bytes;
};

/* The members of one array of structs are one finding, on whatever lines a kernel loads them; those
 * of another array are another one. */
static void test_members_are_one_finding(void **unused)
{
    (void)unused;
    static const struct field fields[] = {
        {10, "p->x", 0}, {10, "p->y", 4}, {12, "p->z", 8}, {12, "q->x", 0x100000}, {14, "p->x", 0}};
    enum { HERE = sizeof fields / sizeof *fields };
    struct program *const p = calloc(1, sizeof *p);
    struct cts_kernel kernels[] = {{.kernel = 0, .name = "move"}};
    struct cts_source sources[] = {{.path = "move.cu"}};
    struct cts_site sites[HERE];
    p->launches[0] = (struct cts_launch){
        .launch = 0, .kernel = 0, .grid = {1, 1, 1}, .block = {32, 1, 1}, .recorded = "all"};
    p->chunks[0] = (struct cts_acc_chunk){.launch = 0};
    for (uint32_t i = 0; i < HERE; i++) {
        sites[i] = (struct cts_site){.site = i,
                                     .operation = CTS_LOAD,
                                     .width_bytes = 4,
                                     .line = fields[i].line,
                                     .variable = fields[i].variable};
        put_record(p, 0, i, 64, 0x10000 + fields[i].offset_bytes);
    }
    p->catalogue.kernels = kernels;
    p->catalogue.sources = sources;
    p->catalogue.sites = sites;
    p->catalogue.launches = p->launches;
    p->catalogue.kernel_count = p->catalogue.source_count = p->catalogue.launch_count = 1;
    p->catalogue.site_count = HERE;
    const struct cts_access_source source = {.chunks = p->chunks,
                                             .chunk_count = 1,
                                             .state = p,
                                             .read = read_chunk,
                                             .release = cts_acc_batch_release};
    struct cts_error error = {0};
    struct cts_access_result result;
    assert_int_equal(cts_access_analyze(&p->catalogue, &source,
                                        &(struct cts_access_options){.threads = 1}, &result,
                                        &error),
                     CTS_OK);
    char name[CTS_VARIABLE_BYTES];
    const struct cts_finding *const members = finding_at(&result, 0), *const other =
                                                                          finding_at(&result, 3);
    assert_non_null(members);
    assert_int_equal(members->kind, CTS_FINDING_STRUCT_STRIDE);
    assert_int_equal(members->site_count, 4);
    assert_int_equal(members->used_bytes, 12);
    assert_string_equal(cts_finding_variable(&p->catalogue, &result, members, name, sizeof name),
                        "p");
    assert_non_null(other);
    assert_int_equal(other->site_count, 1);
    assert_string_equal(cts_finding_variable(&p->catalogue, &result, other, name, sizeof name),
                        "q->x");
    for (uint32_t i = 0; i < HERE; i++)
        if (i != 0 && i != 3) assert_null(finding_at(&result, i));
    cts_access_release(&result);
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests), cmocka_unit_test(test_closed_forms),
        cmocka_unit_test(test_analysis), cmocka_unit_test(test_without_lines),
        cmocka_unit_test(test_members_are_one_finding)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
