/* The partition analysis on programs whose answer is known: the paper's worked examples and closed
 * forms of stencils, n-body, chained products and transposes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/partition/partition.h"
#include "analyze/summary/summary.h"
#include "record-fixture.h"

enum { LOAD = 0, STORE = 1, ATOMIC = 2, SITES = 3, LAUNCHES_MAX = 64 };

/* ---- a program of affine records, CTA by CTA ---- */

struct item {
    uint32_t launch, cta, site;
    uint64_t base;
    uint32_t lanes; /* floats side by side */
};

struct script {
    struct cts_catalogue catalogue;
    struct cts_rank rank;
    struct cts_kernel kernels[3];
    struct cts_site sites[SITES];
    struct cts_launch launches[LAUNCHES_MAX];
    struct cts_copy copies[4];
    struct cts_acc_chunk chunks[LAUNCHES_MAX];
    struct item *items;
    size_t count, capacity;
};

static struct script *new_script(void)
{
    struct script *const s = calloc(1, sizeof *s);
    s->rank.end_ns = 1;
    for (uint32_t i = 0; i < 3; i++)
        s->kernels[i] = (struct cts_kernel){.kernel = i, .name = "k", .instrumented = true};
    static const uint8_t operations[] = {CTS_LOAD, CTS_STORE, CTS_ATOMIC_ADD};
    for (uint32_t i = 0; i < SITES; i++)
        s->sites[i] = (struct cts_site){
            .site = i, .operation = operations[i], .space = CTS_SPACE_GLOBAL, .width_bytes = 4};
    s->catalogue = (struct cts_catalogue){.ranks = &s->rank,
                                          .rank_count = 1,
                                          .kernels = s->kernels,
                                          .kernel_count = 3,
                                          .sites = s->sites,
                                          .site_count = SITES,
                                          .launches = s->launches,
                                          .copies = s->copies};
    return s;
}

static void free_script(struct script *s)
{
    free(s->items);
    free(s);
}

static uint64_t next_op(const struct script *s)
{
    return s->catalogue.launch_count + s->catalogue.copy_count;
}

static uint32_t launch(struct script *s, uint32_t kernel, uint32_t x, uint32_t y)
{
    const uint32_t index = (uint32_t)s->catalogue.launch_count++;
    const uint64_t op = next_op(s);
    s->launches[index] = (struct cts_launch){.launch = index,
                                             .op = op,
                                             .kernel = kernel,
                                             .grid = {x, y, 1},
                                             .block = {32, 1, 1},
                                             .recorded = "all",
                                             .start_ns = op,
                                             .end_ns = op + 1};
    return index;
}

static void touch(struct script *s, uint32_t launch_index, uint32_t cta, uint32_t site,
                  uint64_t base, uint64_t floats)
{
    for (; floats > 0; base += 128) {
        const uint32_t lanes = floats < 32 ? (uint32_t)floats : 32;
        if (s->count == s->capacity) {
            s->capacity = s->capacity ? 2 * s->capacity : 1024;
            s->items = realloc(s->items, s->capacity * sizeof *s->items);
        }
        s->items[s->count++] = (struct item){launch_index, cta, site, base, lanes};
        floats -= lanes;
    }
}

static enum cts_status read_launch(const void *state, const struct cts_acc_chunk *chunk,
                                   struct cts_acc_batch *batch, struct cts_error *error)
{
    const struct script *const s = state;
    if (batch_start(batch, chunk, error)) return CTS_MEMORY;
    for (size_t i = 0; i < chunk->record_count; i++) {
        const struct item *const item = &s->items[chunk->offset_bytes + i];
        const uint32_t mask = item->lanes == 32 ? UINT32_MAX : (UINT32_C(1) << item->lanes) - 1;
        const struct cts_access record = {.cta = item->cta,
                                          .site = item->site,
                                          .mask = mask,
                                          .space = CTS_SPACE_GLOBAL,
                                          .pattern = CTS_PATTERN_AFFINE,
                                          .s0 = 4,
                                          .base = item->base};
        batch_put(batch, &record);
    }
    return CTS_OK;
}

static struct cts_access_source source_of(struct script *s)
{
    size_t chunk_count = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (i && s->items[i].launch == s->items[i - 1].launch) {
            struct cts_acc_chunk *const chunk = &s->chunks[chunk_count - 1];
            chunk->record_count++;
            if (s->items[i].cta < chunk->first_cta) chunk->first_cta = s->items[i].cta;
            if (s->items[i].cta > chunk->last_cta) chunk->last_cta = s->items[i].cta;
            continue;
        }
        s->chunks[chunk_count++] = (struct cts_acc_chunk){.launch = s->items[i].launch,
                                                          .first_cta = s->items[i].cta,
                                                          .last_cta = s->items[i].cta,
                                                          .offset_bytes = i,
                                                          .record_count = 1};
    }
    return (struct cts_access_source){.chunks = s->chunks,
                                      .chunk_count = chunk_count,
                                      .state = s,
                                      .read = read_launch,
                                      .release = cts_acc_batch_release};
}

/* All mappings and the best found, at 2 to 8 partitions. */
static struct cts_partition analyze_with_launches_of(struct script *s, double launch_s)
{
    static const uint32_t counts[] = {2, 3, 4, 5, 6, 7, 8};
    struct cts_partition result;
    struct cts_error error;
    const struct cts_access_source source = source_of(s);
    const struct cts_partition_options options = {.counts = counts,
                                                  .count_count = 7,
                                                  .mappings = cts_mappings,
                                                  .mapping_count = CTS_MAPPING_COUNT,
                                                  .best_found = true,
                                                  .local_bytes_per_s = launch_s != 0 ? 1e9 : 0,
                                                  .launch_s = launch_s,
                                                  .threads = 2};
    if (cts_partition_analyze(&s->catalogue, &source, &options, &result, &error))
        fail_msg("%s", error.text);
    return result;
}

static struct cts_partition analyze(struct script *s)
{
    return analyze_with_launches_of(s, 0);
}

static const struct cts_partition_scale *scale(const struct cts_partition *result,
                                               const char *mapping, uint32_t p)
{
    for (size_t i = 0; i < result->mapping_count; i++)
        if (!strcmp(result->mappings[i], mapping)) return cts_partition_find(result, i, p);
    fail_msg("no mapping '%s'", mapping);
    return NULL;
}

static const uint64_t a = UINT64_C(0x7f0000000000), b = UINT64_C(0x7f1000000000),
                      c = UINT64_C(0x7f2000000000), d = UINT64_C(0x7f3000000000);

/* ---- the paper's examples ---- */

static enum cts_status keep_part(void *state, unsigned thread, const struct cts_summary_part *part,
                                 struct cts_error *error)
{
    struct cts_intervals *const kept = state;
    (void)thread;
    assert_int_equal(part->accesses, 4);
    assert_int_equal(part->writes->count, 0);
    for (size_t i = 0; i < part->reads->count; i++)
        if (cts_intervals_add(kept, part->reads->items[i].start, part->reads->items[i].end, error))
            return CTS_MEMORY;
    return CTS_OK;
}

/* 004, 5.2: four reads of size 4 at 8, 10, 12 and 20 are {8..15} and {20..23}. */
static void a_summary_unites_what_overlaps_or_touches(void **state)
{
    struct script *const s = new_script();
    const uint32_t k = launch(s, 0, 1, 1);
    static const uint64_t addresses[] = {8, 10, 12, 20};
    (void)state;
    for (unsigned i = 0; i < 4; i++) touch(s, k, 0, LOAD, addresses[i], 1);
    const struct cts_access_source source = source_of(s);
    struct cts_summary_plan plan;
    struct cts_summary_reader *reader;
    struct cts_intervals kept = {0};
    struct cts_error error;
    assert_int_equal(cts_summary_plan_make(&s->catalogue, &source, &plan, &error), CTS_OK);
    const struct cts_summary_reading reading = {
        .share_count = 1, .take = keep_part, .state = &kept};
    assert_int_equal(cts_summary_reader_new(&plan, 1, &reader, &error), CTS_OK);
    assert_int_equal(cts_summary_read(reader, 0, &reading, &error), CTS_OK);
    assert_int_equal(kept.count, 2);
    assert_int_equal(kept.items[0].start, 8);
    assert_int_equal(kept.items[0].end, 16);
    assert_int_equal(kept.items[1].start, 20);
    assert_int_equal(kept.items[1].end, 24);
    cts_intervals_release(&kept);
    cts_summary_reader_free(reader);
    cts_summary_plan_release(&plan);
    free_script(s);
}

/* As figure 1 of 004: memory begins as the host's, CTAs of K1 write, two CTAs of K2 write the same
 * bytes and the higher one wins. Eight words; a third kernel of 4 CTAs reads them. */
static void the_higher_cta_wins_a_conflict(void **state)
{
    struct script *const s = new_script();
    (void)state;
    const uint32_t k1 = launch(s, 0, 4, 1);
    touch(s, k1, 0, STORE, a, 2);
    touch(s, k1, 1, STORE, a + 8, 2);
    const uint32_t k2 = launch(s, 1, 4, 1);
    touch(s, k2, 3, STORE, a + 4, 2); /* words 1, 2 */
    touch(s, k2, 2, STORE, a + 4, 1); /* word 1: CTA 3 wins */
    const uint32_t k3 = launch(s, 2, 4, 1);
    touch(s, k3, 0, LOAD, a, 8); /* all of it, from one CTA */
    struct cts_partition result = analyze(s);
    assert_int_equal(result.launches[1].sums.conflict_bytes, 4);
    assert_int_equal(result.launches[2].sums.gpu_set_bytes, 16);
    assert_int_equal(result.launches[2].sums.host_set_bytes, 16);
    assert_int_equal(result.launches[2].sums.critical_bytes, 8);
    /* four partitions: CTA 0 reads words 1, 2 of CTA 3 and word 3 of CTA 1 */
    assert_int_equal(scale(&result, "lexicographic", 4)->traffic_bytes, 12);
    assert_int_equal(scale(&result, "lexicographic", 4)->parts[0].in_bytes, 12);
    assert_int_equal(scale(&result, "lexicographic", 4)->parts[1].out_bytes, 4);
    assert_int_equal(scale(&result, "lexicographic", 4)->parts[3].out_bytes, 8);
    /* two: CTAs 0, 1 against 2, 3 */
    assert_int_equal(scale(&result, "lexicographic", 2)->traffic_bytes, 8);
    assert_int_equal(scale(&result, "lexicographic", 2)->owner_remote_write_bytes, 0);
    assert_int_equal(scale(&result, "lexicographic", 4)->owner_remote_write_bytes, 4);
    assert_int_equal(result.sets.gpu_bytes, 16);
    assert_int_equal(result.sets.host_bytes, 16);
    assert_int_equal(result.sets.both_bytes, 0);
    assert_int_equal(result.empty_gpu_sets, 2);
    cts_partition_release(&result);
    free_script(s);
}

/* ---- closed forms ---- */

enum { TILE = 8, TILES = 8, SIDE = TILE * TILES, STEPS = 6 };

/* A 5-point stencil, one CTA per tile of TILE x TILE, ping-pong. */
static struct script *stencil(void)
{
    struct script *const s = new_script();
    for (uint32_t step = 0; step < STEPS; step++) {
        const uint64_t from = step & 1 ? b : a, to = step & 1 ? a : b;
        const uint32_t k = launch(s, 0, TILES, TILES);
        for (uint32_t cta = 0; cta < TILES * TILES; cta++) {
            const uint32_t x = cta % TILES * TILE, y = cta / TILES * TILE;
            const uint32_t left = x ? x - 1 : 0, right = x + TILE < SIDE ? x + TILE + 1 : SIDE;
            for (uint32_t row = y; row < y + TILE; row++) {
                touch(s, k, cta, LOAD, from + 4 * ((uint64_t)row * SIDE + left), right - left);
                touch(s, k, cta, STORE, to + 4 * ((uint64_t)row * SIDE + x), TILE);
            }
            if (y) touch(s, k, cta, LOAD, from + 4 * ((uint64_t)(y - 1) * SIDE + x), TILE);
            if (y + TILE < SIDE)
                touch(s, k, cta, LOAD, from + 4 * ((uint64_t)(y + TILE) * SIDE + x), TILE);
        }
    }
    return s;
}

static void a_stencil_sends_two_rows_of_halo_for_each_cut(void **state)
{
    struct script *const s = stencil();
    struct cts_partition result = analyze(s);
    const uint64_t cut = 2 * SIDE * 4; /* bytes over one straight cut in one step */
    (void)state;
    for (uint32_t p = 2; p <= 8; p *= 2) { /* cuts lie between rows of tiles */
        const struct cts_partition_scale *const rows = scale(&result, "lexicographic", p);
        const struct cts_partition_scale *const columns = scale(&result, "colexicographic", p);
        assert_int_equal(rows->traffic_bytes, (STEPS - 1) * (p - 1) * cut);
        assert_int_equal(columns->traffic_bytes, (STEPS - 1) * (p - 1) * cut);
        assert_int_equal(rows->replica_bytes, rows->traffic_bytes);
        for (uint32_t q = 0; q < p; q++)
            assert_int_equal(rows->parts[q].in_bytes,
                             (STEPS - 1) * (q == 0 || q == p - 1 ? cut / 2 : cut));
    }
    /* four squares: two cuts */
    assert_int_equal(scale(&result, "z-order", 4)->traffic_bytes, (STEPS - 1) * 2 * cut);
    assert_int_equal(scale(&result, "hilbert", 4)->traffic_bytes, (STEPS - 1) * 2 * cut);
    assert_true(scale(&result, "best-found", 4)->traffic_bytes <= (STEPS - 1) * 2 * cut);
    assert_true(scale(&result, "best-found", 3)->traffic_bytes <=
                scale(&result, "hilbert", 3)->traffic_bytes);
    assert_int_equal(result.launches[1].sums.critical_bytes, SIDE * SIDE * 4);
    assert_int_equal(result.launches[1].sums.critical_base_bytes, SIDE * SIDE * 4);
    assert_int_equal(result.empty_gpu_sets, 1);
    assert_true(result.pattern_count <= 4); /* the first, the second, and two that take turns */
    assert_int_equal(result.sets.gpu_bytes, 2 * SIDE * SIDE * 4);
    assert_int_equal(result.sets.host_bytes, SIDE * SIDE * 4);
    const struct cts_partition_box *const box = &scale(&result, "lexicographic", 2)->box;
    assert_int_equal(box->count, STEPS - 1); /* the first launch cannot have traffic */
    assert_true(box->median == (double)cut && box->least == (double)cut && box->outliers == 0);
    cts_partition_release(&result);
    free_script(s);
}

/* Each of p partitions needs every position that another one wrote: (p - 1) times all of them. A
 * second reading of the same positions is traffic again, but for who keeps replicas. */
static void n_body_is_all_to_all(void **state)
{
    enum { CTAS = 16, EACH = 32, BODIES = CTAS * EACH };
    struct script *const s = new_script();
    (void)state;
    const uint32_t move = launch(s, 0, CTAS, 1);
    for (uint32_t i = 0; i < CTAS; i++) touch(s, move, i, STORE, a + i * EACH * 4, EACH);
    for (uint32_t twice = 0; twice < 2; twice++) {
        const uint32_t forces = launch(s, 1, CTAS, 1);
        for (uint32_t i = 0; i < CTAS; i++) touch(s, forces, i, LOAD, a, BODIES);
    }
    struct cts_partition result = analyze(s);
    for (uint32_t p = 2; p <= 8; p++) {
        for (size_t m = 0; m < result.mapping_count; m++) {
            const struct cts_partition_scale *const n = cts_partition_find(&result, m, p);
            assert_int_equal(n->traffic_bytes, 2 * (p - 1) * BODIES * 4);
            assert_int_equal(n->replica_bytes, (p - 1) * BODIES * 4);
        }
    }
    /* p - 1 is a line: the fit finds it */
    assert_true(result.fits[0].is_known && !result.fits[0].limited_is_better);
    assert_true(result.fits[0].linear_residual < 1e-9);
    const struct cts_partition_answer answer = cts_partition_answer(&result, &s->catalogue);
    assert_int_equal(answer.verdict, CTS_PARTITION_NO_GAIN);
    cts_partition_release(&result);
    free_script(s);
}

/* Two partitions read the same 1024 bytes of each other twice: between, and in both launches, each
 * touches 2 * 2048 bytes, and a cache holds them from that size on, not below. */
static void a_cache_holds_what_fits(void **state)
{
    enum { EACH = 256, HALF_BYTES = EACH * 4 };
    struct script *const s = new_script();
    static const uint32_t two[] = {2};
    (void)state;
    const uint32_t first = launch(s, 0, 2, 1);
    for (uint32_t i = 0; i < 2; i++) touch(s, first, i, STORE, a + i * HALF_BYTES, EACH);
    for (uint32_t twice = 0; twice < 2; twice++) {
        const uint32_t k = launch(s, 1, 2, 1);
        for (uint32_t i = 0; i < 2; i++) touch(s, k, i, LOAD, a, 2 * EACH);
    }
    const struct cts_access_source source = source_of(s);
    for (uint64_t short_by = 0; short_by < 2; short_by++) {
        struct cts_partition result;
        struct cts_error error;
        const struct cts_partition_options options = {.counts = two,
                                                      .count_count = 1,
                                                      .mappings = cts_mappings,
                                                      .mapping_count = 1,
                                                      .l2_bytes = 4 * HALF_BYTES - short_by};
        assert_int_equal(cts_partition_analyze(&s->catalogue, &source, &options, &result, &error),
                         CTS_OK);
        assert_int_equal(result.scales[0].traffic_bytes, 4 * HALF_BYTES);
        assert_int_equal(result.scales[0].replica_bytes, 2 * HALF_BYTES);
        assert_int_equal(result.scales[0].held_bytes, short_by ? 0 : 2 * HALF_BYTES);
        cts_partition_release(&result);
    }
    free_script(s);
}

/* Two products, E = (A B) D, a tile of the result per CTA: rows of the first factor stay in slabs
 * of rows, and travel to all of a row where columns are cut. */
static void chained_products_like_rows(void **state)
{
    struct script *const s = new_script();
    (void)state;
    for (uint32_t product = 0; product < 2; product++) {
        const uint64_t left = product ? c : a, right = product ? d : b, to = product ? a : c;
        const uint32_t k = launch(s, product, TILES, TILES);
        for (uint32_t cta = 0; cta < TILES * TILES; cta++) {
            const uint32_t x = cta % TILES * TILE, y = cta / TILES * TILE;
            for (uint32_t i = 0; i < TILE; i++) {
                touch(s, k, cta, LOAD, left + 4 * ((uint64_t)(y + i) * SIDE), SIDE);
                touch(s, k, cta, STORE, to + 4 * ((uint64_t)(y + i) * SIDE + x), TILE);
            }
            for (uint32_t i = 0; i < SIDE; i++)
                touch(s, k, cta, LOAD, right + 4 * ((uint64_t)i * SIDE + x), TILE);
        }
    }
    struct cts_partition result = analyze(s);
    for (uint32_t p = 2; p <= 8; p *= 2) {
        assert_int_equal(scale(&result, "lexicographic", p)->traffic_bytes, 0);
        assert_int_equal(scale(&result, "colexicographic", p)->traffic_bytes,
                         (p - 1) * SIDE * SIDE * 4);
        assert_int_equal(scale(&result, "best-found", p)->traffic_bytes, 0);
    }
    /* four squares: each needs the rows' other half */
    assert_int_equal(scale(&result, "z-order", 4)->traffic_bytes, SIDE * SIDE * 4);
    cts_partition_release(&result);
    free_script(s);
}

/* Writing tiles, then reading them transposed: of p slabs, each keeps its 1/p of its columns. */
static void a_transpose_keeps_a_share_of_one_in_p(void **state)
{
    struct script *const s = new_script();
    (void)state;
    for (uint32_t pass = 0; pass < 2; pass++) {
        const uint32_t k = launch(s, pass, TILES, TILES);
        for (uint32_t cta = 0; cta < TILES * TILES; cta++) {
            const uint32_t x = cta % TILES * TILE, y = cta / TILES * TILE;
            for (uint32_t i = 0; i < TILE; i++)
                touch(s, k, cta, pass ? LOAD : STORE,
                      a + 4 * (pass ? (uint64_t)(x + i) * SIDE + y : (uint64_t)(y + i) * SIDE + x),
                      TILE);
        }
    }
    struct cts_partition result = analyze(s);
    for (uint32_t p = 2; p <= 8; p *= 2) {
        assert_int_equal(scale(&result, "lexicographic", p)->traffic_bytes,
                         SIDE * SIDE * 4 / p * (p - 1));
        assert_int_equal(scale(&result, "colexicographic", p)->traffic_bytes,
                         SIDE * SIDE * 4 / p * (p - 1));
    }
    /* quarters on the diagonal stay */
    assert_int_equal(scale(&result, "z-order", 4)->traffic_bytes, SIDE * SIDE * 4 / 2);
    /* a mapping that knows both kernels has none */
    assert_int_equal(scale(&result, "best-found", 2)->traffic_bytes, 0);
    cts_partition_release(&result);
    free_script(s);
}

static void partitions_may_be_empty(void **state)
{
    struct script *const s = new_script();
    (void)state;
    const uint32_t k = launch(s, 0, 3, 1);
    for (uint32_t i = 0; i < 3; i++) touch(s, k, i, STORE, a + 4 * i, 1);
    struct cts_partition result = analyze(s);
    const struct cts_partition_scale *const eight = scale(&result, "lexicographic", 8);
    assert_int_equal(eight->idle_partitions, 5);
    assert_int_equal(eight->idle_slots, 5);
    assert_int_equal(eight->parts[0].ctas, 1);
    assert_int_equal(eight->parts[1].ctas, 0);
    assert_true(eight->cta_imbalance > 2.6 && eight->cta_imbalance < 2.7);
    const struct cts_partition_answer answer = cts_partition_answer(&result, &s->catalogue);
    assert_int_equal(answer.verdict, CTS_PARTITION_NO_GAIN); /* 12 bytes are less than a launch */
    cts_partition_release(&result);
    free_script(s);
}

static bool is_near(double value, double expected, double error)
{
    return value >= expected - error && value <= expected + error;
}

/* Three launches of 8 CTAs that write 4,000 bytes each, at 1 GB/s: 4 us a CTA and launch. */
static void launches_bound_the_speed_up(void **state)
{
    static const double launch_s[] = {-1, 4e-6, 32e-6, 320e-6};
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct script *const s = new_script();
        for (int round = 0; round < 3; round++) {
            const uint32_t k = launch(s, 0, 8, 1);
            for (uint32_t cta = 0; cta < 8; cta++) touch(s, k, cta, STORE, a + 4000 * cta, 1000);
        }
        struct cts_partition result = analyze_with_launches_of(s, launch_s[i]);
        const double each_s = launch_s[i] > 0 ? launch_s[i] : 0;
        const struct cts_partition_time *const four = &scale(&result, "lexicographic", 4)->time;
        assert_true(is_near(four->launch_s, 3 * each_s, 1e-12));
        assert_true(is_near(four->no_overlap_s, 3 * (each_s + 8e-6), 1e-12));
        assert_true(is_near(four->full_overlap_s, 3 * (each_s + 8e-6), 1e-12));
        assert_true(is_near(result.whole.time.no_overlap_s, 3 * (each_s + 32e-6), 1e-12));
        assert_true(is_near(four->no_overlap_speedup, (each_s + 32e-6) / (each_s + 8e-6), 1e-9));
        const struct cts_partition_answer answer = cts_partition_answer(&result, &s->catalogue);
        /* 8 partitions: 8, 4.5, 1.78 and 1.09 times as fast */
        assert_int_equal(answer.verdict, i < 2   ? CTS_PARTITION_NO_TRAFFIC_GAIN
                                         : i < 3 ? CTS_PARTITION_INEFFICIENT_GAIN
                                                 : CTS_PARTITION_NO_GAIN);
        if (i > 1) {
            assert_int_equal(answer.limit, CTS_PARTITION_LIMIT_LAUNCHES);
            assert_true(is_near(answer.limit_s, 3 * each_s, 1e-12));
        }
        cts_partition_release(&result);
        free_script(s);
    }
}

static void nonsense_is_refused(void **state)
{
    struct script *const s = new_script();
    const struct cts_access_source source = source_of(s);
    struct cts_partition result;
    struct cts_error error;
    static const uint32_t zero[] = {0};
    (void)state;
    struct cts_partition_options options = {
        .counts = zero, .count_count = 1, .mappings = cts_mappings, .mapping_count = 1};
    assert_int_equal(cts_partition_analyze(&s->catalogue, &source, &options, &result, &error),
                     CTS_USAGE);
    options.count_count = 0;
    options.page_bytes = 5000;
    assert_int_equal(cts_partition_analyze(&s->catalogue, &source, &options, &result, &error),
                     CTS_USAGE);
    options.page_bytes = 0;
    options.link_bytes_per_s = -1;
    assert_int_equal(cts_partition_analyze(&s->catalogue, &source, &options, &result, &error),
                     CTS_USAGE);
    options.link_bytes_per_s = 0;
    assert_int_equal(cts_partition_analyze(&s->catalogue, &source, &options, &result, &error),
                     CTS_OK);
    assert_int_equal(cts_partition_answer(&result, &s->catalogue).verdict, CTS_PARTITION_NO_DATA);
    cts_partition_release(&result);
    free_script(s);
}

static void fits_find_their_own_curves(void **state)
{
    double p[63], y[63];
    struct cts_partition_fit fit = {0};
    (void)state;
    for (int i = 0; i < 63; i++) {
        p[i] = i + 2;
        y[i] = 1000 - 1000 / (3.5 + p[i]);
    }
    cts_partition_fit_points(p, y, 63, &fit);
    assert_true(fit.is_known && fit.limited_is_better);
    assert_true(fit.limited_residual < 1e-6);
    assert_true(fit.limited_a > 999.9 && fit.limited_a < 1000.1);
    assert_true(fit.limited_b > 3.49 && fit.limited_b < 3.51);
    for (int i = 0; i < 63; i++) y[i] = 10 + 7 * p[i];
    cts_partition_fit_points(p, y, 63, &fit);
    assert_false(fit.limited_is_better);
    assert_true(fit.linear_residual < 1e-9);
    assert_true(fit.linear_a > 9.999 && fit.linear_a < 10.001);
}

static void boxes_have_quartiles_whiskers_and_outliers(void **state)
{
    const uint64_t values[] = {7, 1, 3, 100, 5, 4, 6, 2};
    uint64_t scratch[8];
    (void)state;
    const struct cts_partition_box box = cts_partition_box_of(values, 8, scratch);
    assert_true(box.quartile1 == 2.75 && box.median == 4.5 && box.quartile3 == 6.25);
    assert_true(box.least == 1 && box.most == 100 && box.mean == 16);
    assert_true(box.low_whisker == 1 && box.high_whisker == 7);
    assert_int_equal(box.outliers, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_summary_unites_what_overlaps_or_touches),
        cmocka_unit_test(the_higher_cta_wins_a_conflict),
        cmocka_unit_test(a_stencil_sends_two_rows_of_halo_for_each_cut),
        cmocka_unit_test(n_body_is_all_to_all),
        cmocka_unit_test(a_cache_holds_what_fits),
        cmocka_unit_test(chained_products_like_rows),
        cmocka_unit_test(a_transpose_keeps_a_share_of_one_in_p),
        cmocka_unit_test(partitions_may_be_empty),
        cmocka_unit_test(launches_bound_the_speed_up),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(fits_find_their_own_curves),
        cmocka_unit_test(boxes_have_quartiles_whiskers_and_outliers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
