/* Second buffers: random programs, executed on symbols in random orders that the remaining needs
 * allow, leave what the program leaves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/try/try-buffers.h"
#include "count.h"

enum { OPS_MAX = 14, REGIONS = 3, BUFFERS_MAX = REGIONS * OPS_MAX };

static uint32_t seed = 11;
static uint32_t random_below(uint32_t limit)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % limit;
}

enum use { UNUSED, READS, WRITES, CHANGES };
struct program {
    size_t count;
    enum use uses[OPS_MAX][REGIONS];
};

static struct program random_program(void)
{
    struct program p = {.count = 2 + random_below(OPS_MAX - 1)};
    for (size_t i = 0; i < p.count; i++)
        for (size_t r = 0; r < REGIONS; r++)
            p.uses[i][r] = random_below(2) ? UNUSED : READS + random_below(3);
    return p;
}

static struct cts_stretch stretch_of(const struct program *p)
{
    struct cts_error error;
    struct cts_stretch stretch = {.device = "test", .refusal = ""};
    for (uint32_t r = 0; r < REGIONS; r++)
        assert_int_equal(
            cts_stretch_add_region(&stretch,
                                   &(struct cts_trial_region){.address = 4096 * (r + 1),
                                                              .size_bytes = 64,
                                                              .op = CTS_TRIAL_NONE,
                                                              .number = r,
                                                              .variable = "",
                                                              .kind = "device"},
                                   &error),
            CTS_OK);
    for (uint32_t i = 0; i < p->count; i++) {
        const struct cts_trial_op op = {.kind = CTS_TRIAL_LAUNCH, .number = i, .name = "k"};
        assert_int_equal(cts_stretch_add_op(&stretch, &op, &error), CTS_OK);
        for (uint32_t r = 0; r < REGIONS; r++) {
            const uint64_t pointer = 4096 * (r + 1) + 8;
            if (p->uses[i][r])
                assert_int_equal(
                    cts_stretch_add_links(&stretch, i, &pointer, sizeof pointer, &error), CTS_OK);
        }
    }
    return stretch;
}

static void add_need(struct cts_try_needs *needs, struct cts_try_need need)
{
    needs->items[needs->count++] = need;
}

/* By their definition, pair by pair: conflicts with no write between. */
static struct cts_try_needs needs_of(const struct program *p)
{
    struct cts_try_needs needs = {.are_known = true};
    needs.items = calloc(REGIONS * OPS_MAX * OPS_MAX, sizeof *needs.items);
    needs.touches.items = calloc(REGIONS * OPS_MAX, sizeof *needs.touches.items);
    needs.inflows.items = calloc(REGIONS * OPS_MAX, sizeof *needs.inflows.items);
    assert_true(needs.items && needs.touches.items && needs.inflows.items);
    for (uint32_t i = 0; i < p->count; i++)
        for (uint32_t from = 0; from <= i; from++)
            for (uint32_t r = 0; r < REGIONS; r++) {
                const enum use a = p->uses[from][r], b = p->uses[i][r];
                if (from == i || !a || !b || (a == READS && b == READS)) continue;
                bool between = false;
                for (uint32_t k = from + 1; k < i; k++) between |= p->uses[k][r] > READS;
                if (!between)
                    add_need(&needs, (struct cts_try_need){
                                         from, i, r, a != READS && b != WRITES ? 64 : 0,
                                         a == READS ? 64 : 0, a != READS && b != READS ? 64 : 0});
            }
    for (uint32_t i = 0; i < p->count; i++)
        for (uint32_t r = 0; r < REGIONS; r++) {
            uint32_t writer = CTS_TRIAL_NONE;
            if (!p->uses[i][r]) continue;
            needs.touches.items[needs.touches.count++] =
                (struct cts_try_touch){i, r, p->uses[i][r] != READS};
            for (uint32_t k = 0; k < i; k++)
                if (p->uses[k][r] > READS) writer = k;
            if (p->uses[i][r] != WRITES)
                needs.inflows.items[needs.inflows.count++] = (struct cts_try_inflow){writer, i, r};
        }
    return needs;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * 1099511628211u + (hash >> 31);
}

/* An operation on symbols: what it writes is a hash of its number and of all that it reads. */
static void execute(const struct program *p, uint32_t op, uint64_t *const places[REGIONS])
{
    uint64_t hash = op + 1;
    for (uint32_t r = 0; r < REGIONS; r++)
        if (p->uses[op][r] == READS || p->uses[op][r] == CHANGES) hash = mix(hash, *places[r]);
    for (uint32_t r = 0; r < REGIONS; r++)
        if (p->uses[op][r] > READS) *places[r] = mix(hash, r);
}

static void execute_in_order(const struct program *p, uint64_t memory[REGIONS])
{
    uint64_t *const places[REGIONS] = {&memory[0], &memory[1], &memory[2]};
    for (uint32_t i = 0; i < p->count; i++) execute(p, i, places);
}

static bool is_free(const struct cts_try_needs *needs, uint32_t op, const bool *done, bool raw_only)
{
    for (size_t i = 0; i < needs->count; i++)
        if (needs->items[i].to == op && !done[needs->items[i].from] &&
            (!raw_only || needs->items[i].raw_bytes))
            return false;
    return true;
}

/* Any order that the needs allow, with the places that operations then have. */
static void execute_anyhow(const struct program *p, const struct cts_try_needs *needs,
                           const struct cts_try_placings *where, bool raw_only,
                           uint64_t memory[REGIONS])
{
    uint64_t buffers[BUFFERS_MAX];
    bool done[OPS_MAX] = {false};
    for (size_t i = 0; i < BUFFERS_MAX; i++) buffers[i] = 0xa5a5a5;
    for (size_t n = 0; n < p->count; n++) {
        uint32_t op = random_below((uint32_t)p->count);
        while (done[op] || !is_free(needs, op, done, raw_only)) op = (op + 1) % (uint32_t)p->count;
        uint64_t *places[REGIONS] = {&memory[0], &memory[1], &memory[2]};
        for (size_t i = 0; i < where->count; i++)
            if (where->items[i].op == op)
                places[where->items[i].region] = &buffers[where->items[i].buffer];
        execute(p, op, places);
        done[op] = true;
    }
    for (size_t i = 0; i < where->count; i++)
        if (where->items[i].op == CTS_TRIAL_NONE)
            memory[where->items[i].region] = buffers[where->items[i].buffer];
}

/* Gives all regions the same number of buffers more; how many got them. */
static uint32_t rename_all(const struct cts_stretch *stretch, const struct cts_try_needs *needs,
                           uint32_t extra, struct cts_try_renamed *renamed)
{
    uint32_t count = 0;
    for (uint32_t r = 0; r < REGIONS; r++) {
        struct cts_error error;
        const struct cts_try_second_buffer wish = {r, extra, r * extra};
        const enum cts_status status =
            cts_try_rename(stretch, count ? &renamed->needs : needs, &wish, renamed, &error);
        assert_true(!status || (status == CTS_USAGE && strstr(error.text, "rewrites")));
        count += !status;
    }
    return count;
}

static void renamed_programs_leave_the_same(void **state)
{
    CTS_TEST_STARTS_NO_THREAD();
    (void)state;
    unsigned renamed = 0, true_orders = 0;
    for (unsigned round = 0; round < cts_test_count(2000, 100000); round++) {
        struct cts_error error;
        struct cts_try_renamed made = {0};
        const struct program p = random_program();
        const uint64_t begin[REGIONS] = {1000, 2000, 3000};
        uint64_t expected[REGIONS], found[REGIONS];
        struct cts_stretch stretch = stretch_of(&p);
        struct cts_try_needs plain = needs_of(&p);
        const uint32_t count = rename_all(&stretch, &plain, 1 + random_below(OPS_MAX - 1), &made);
        const struct cts_try_needs *const needs = count ? &made.needs : &plain;
        renamed += count;
        memcpy(expected, begin, sizeof begin);
        execute_in_order(&p, expected);
        for (int order = 0; order < 4; order++) {
            const bool raw_only = !cts_try_check_true_order(&stretch, needs, &error);
            true_orders += raw_only;
            memcpy(found, begin, sizeof begin);
            execute_anyhow(&p, needs, &made.placings, raw_only, found);
            for (int r = 0; r < REGIONS; r++) assert_true(found[r] == expected[r]);
        }
        cts_try_needs_release(&plain);
        cts_try_renamed_release(&made);
        cts_stretch_release(&stretch);
    }
    assert_true(renamed > 500 && true_orders > 50);
}

static void what_cannot_be_renamed_is_refused(void **state)
{
    (void)state;
    struct cts_error error;
    struct cts_try_renamed made = {0};
    const struct program p = {2, {{READS}, {WRITES}}}, in_place = {2, {{READS}, {CHANGES}}};
    const struct cts_try_second_buffer wish = {0, 1, 0};
    struct cts_stretch stretch = stretch_of(&p);
    struct cts_try_needs needs = needs_of(&p), changed = needs_of(&in_place);
    assert_int_equal(cts_try_check_true_order(&stretch, &needs, &error), CTS_USAGE);
    assert_non_null(strstr(error.text, "launch 1 writes allocation:0, which launch 0 uses before"));
    assert_int_equal(cts_try_rename(&stretch, &changed, &wish, &made, &error), CTS_USAGE);
    assert_non_null(strstr(error.text, "rewrites all of allocation:0"));
    stretch.link_count = 0;
    assert_int_equal(cts_try_rename(&stretch, &needs, &wish, &made, &error), CTS_USAGE);
    assert_string_equal(
        error.text, "--second-buffer: launch 0 uses allocation:0, but no argument points to it");
    cts_try_needs_release(&needs);
    cts_try_needs_release(&changed);
    cts_stretch_release(&stretch);
}

/* ---- orders of CTAs ---- */

static uint32_t *ctas_of(const struct cts_try_cta_order *order, const uint32_t grid[3])
{
    struct cts_error error;
    uint32_t *ctas;
    assert_int_equal(cts_try_order_ctas(order, grid, &ctas, &error), CTS_OK);
    return ctas;
}

static void assert_order(enum cts_try_cta_order_kind kind, uint32_t rows, const uint32_t grid[3],
                         const uint32_t *expected)
{
    uint32_t *const ctas =
        ctas_of(&(struct cts_try_cta_order){.kind = kind, .group_rows = rows}, grid);
    for (uint32_t i = 0; i < grid[0] * grid[1] * grid[2]; i++)
        assert_int_equal(ctas[i], expected[i]);
    free(ctas);
}

static void ctas_begin_in_order(void **state)
{
    (void)state;
    struct cts_error error;
    uint32_t listed[] = {1, 1, 0, 2}, *ctas;
    const uint32_t grid[] = {4, 2, 1}, deep[] = {2, 1, 2}, four[] = {4, 1, 1};
    struct cts_try_cta_order list = {CTS_TRY_CTAS_LISTED, 0, listed, 4, "f"};
    assert_order(CTS_TRY_CTAS_ROW, 0, grid, (const uint32_t[]){0, 1, 2, 3, 4, 5, 6, 7});
    assert_order(CTS_TRY_CTAS_COLUMN, 0, grid, (const uint32_t[]){0, 4, 1, 5, 2, 6, 3, 7});
    assert_order(CTS_TRY_CTAS_COLUMN, 0, deep, (const uint32_t[]){0, 1, 2, 3});
    assert_order(CTS_TRY_CTAS_ZORDER, 0, grid, (const uint32_t[]){0, 1, 4, 5, 2, 3, 6, 7});
    assert_order(CTS_TRY_CTAS_GROUPED, 1, grid, (const uint32_t[]){0, 1, 2, 3, 4, 5, 6, 7});
    assert_order(CTS_TRY_CTAS_GROUPED, 2, grid, (const uint32_t[]){0, 4, 1, 5, 2, 6, 3, 7});
    assert_int_equal(cts_try_order_ctas(&list, four, &ctas, &error), CTS_USAGE);
    assert_string_equal(error.text, "'f', entry 2: CTA 1 occurs twice");
    listed[1] = 4;
    assert_int_equal(cts_try_order_ctas(&list, four, &ctas, &error), CTS_USAGE);
    assert_string_equal(error.text, "'f', entry 2: no CTA 4 in a launch of 4 CTAs");
    listed[1] = 3;
    ctas = ctas_of(&list, four);
    assert_memory_equal(ctas, listed, sizeof listed);
    free(ctas);
    assert_int_equal(cts_try_order_ctas(&list, grid, &ctas, &error), CTS_USAGE);
    assert_string_equal(error.text, "'f' lists 4 CTAs; the launch has 8");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(renamed_programs_leave_the_same),
        cmocka_unit_test(what_cannot_be_renamed_is_refused),
        cmocka_unit_test(ctas_begin_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
