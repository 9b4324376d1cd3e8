/* Mappings: the paper's pictures, properties that define a curve, and integer arithmetic. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/partition/mapping.h"

/* The partitions of a grid's CTAs in *parts; the caller frees. */
static uint32_t *partitions(const char *name, uint32_t x, uint32_t y, uint32_t z, uint32_t p)
{
    const struct cts_mapping *const mapping = cts_mapping_named(name);
    const uint32_t extents[3] = {x, y, z};
    const struct cts_mapping_grid grid = cts_mapping_grid_of(extents);
    uint64_t *const positions = calloc(grid.cta_count, sizeof *positions);
    uint32_t *const parts = calloc(grid.cta_count, sizeof *parts);
    uint64_t length;
    if (!mapping) fail_msg("CTS_MAPPINGS has no mapping '%s'", name);
    assert_int_equal(cts_mapping_lay_out(mapping, &grid, positions, &length, NULL), CTS_OK);
    for (uint32_t i = 0; i < grid.cta_count; i++) {
        parts[i] = cts_mapping_partition(mapping, positions[i], length, p, 0);
        assert_true(parts[i] < p);
    }
    free(positions);
    return parts;
}

static void check_parts(const char *name, uint32_t x, uint32_t y, uint32_t z, uint32_t p,
                        const uint32_t *expected)
{
    uint32_t *const parts = partitions(name, x, y, z, p);
    for (uint32_t i = 0; i < x * y * z; i++)
        if (parts[i] != expected[i])
            fail_msg("%s: CTA %u is in %u, not %u", name, i, parts[i], expected[i]);
    free(parts);
}

/* Paper 004, figure 2: a Z-order curve over 16 points. */
static void the_z_order_curve_covers_sixteen_points(void **state)
{
    static const uint32_t order[] = {0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15};
    (void)state;
    check_parts("z-order", 4, 4, 1, 16, order);
}

static void the_z_order_curve_in_three_dimensions_interleaves_z_y_x(void **state)
{
    uint32_t order[64];
    (void)state;
    for (uint32_t i = 0; i < 64; i++) {
        const uint32_t x = i % 4, y = i / 4 % 4, z = i / 16;
        order[i] = (z >> 1 & 1) << 5 | (y >> 1 & 1) << 4 | (x >> 1 & 1) << 3 | (z & 1) << 2 |
                   (y & 1) << 1 | (x & 1);
    }
    check_parts("z-order", 4, 4, 4, 64, order);
}

/* 3 x 2 CTAs fill the square of 4: x is scaled to 0, 1, 2 (floor of 4/3 and 8/3), y to 0, 2. */
static void the_z_order_curve_scales_other_grids(void **state)
{
    static const uint32_t order[] = {0, 1, 4, 8, 9, 12};
    (void)state;
    check_parts("z-order", 3, 2, 1, 16, order);
}

static void lexicographic_cuts_rows_and_colexicographic_columns(void **state)
{
    static const uint32_t rows[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
    static const uint32_t columns[] = {0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1};
    (void)state;
    check_parts("lexicographic", 4, 4, 1, 2, rows);
    check_parts("colexicographic", 4, 4, 1, 2, columns);
}

/* Paper 004, 4.4: on grids of one dimension the mappings are the same, whichever dimension it is.
 */
static void mappings_are_one_on_a_line(void **state)
{
    static const char *const names[] = {"lexicographic", "colexicographic", "z-order", "hilbert"};
    (void)state;
    for (uint32_t n = 1; n < 60; n++) {
        for (uint32_t p = 1; p <= 64; p += 3) {
            for (unsigned k = 0; k < 12; k++) {
                const uint32_t extents[3] = {k % 3 == 0 ? n : 1, k % 3 == 1 ? n : 1,
                                             k % 3 == 2 ? n : 1};
                uint32_t *const parts =
                    partitions(names[k / 3], extents[0], extents[1], extents[2], p);
                for (uint32_t i = 0; i < n; i++) assert_int_equal(parts[i], i * p / n);
                free(parts);
            }
        }
    }
}

/* floor(i / n * p) in doubles puts some CTAs one partition too low: 1/49*49 is below 1. */
static void integers_do_not_fall_into_the_trap_of_doubles(void **state)
{
    unsigned wrong = 0;
    (void)state;
    for (uint32_t n = 1; n < 200; n++) {
        uint32_t *const parts = partitions("lexicographic", n, 1, 1, n);
        for (uint32_t i = 0; i < n; i++) {
            const volatile double u = (double)i / n;
            wrong += (uint32_t)(u * n) != i;
            assert_int_equal(parts[i], i);
        }
        free(parts);
    }
    assert_true(wrong > 100);
}

static void check_hilbert(unsigned dimensions, uint32_t side)
{
    const struct cts_mapping *const mapping = cts_mapping_named("hilbert");
    const uint32_t extents[3] = {side, side, dimensions == 3 ? side : 1};
    const struct cts_mapping_grid grid = cts_mapping_grid_of(extents);
    uint64_t *const positions = calloc(grid.cta_count, sizeof *positions);
    uint32_t *const at = calloc(grid.cta_count, sizeof *at);
    uint64_t length;
    assert_int_equal(cts_mapping_lay_out(mapping, &grid, positions, &length, NULL), CTS_OK);
    assert_int_equal(length, grid.cta_count);
    for (uint32_t i = 0; i < grid.cta_count; i++) at[positions[i]] = i;
    for (uint32_t i = 1; i < grid.cta_count; i++) {
        uint32_t a[3], b[3], distance = 0;
        cts_mapping_coordinates(&grid, at[i - 1], a);
        cts_mapping_coordinates(&grid, at[i], b);
        for (unsigned d = 0; d < dimensions; d++)
            distance += a[d] > b[d] ? a[d] - b[d] : b[d] - a[d];
        assert_int_equal(distance, 1);
    }
    free(positions);
    free(at);
}

static void the_hilbert_curve_steps_from_neighbour_to_neighbour(void **state)
{
    (void)state;
    for (uint32_t side = 2; side <= 64; side *= 2) check_hilbert(2, side);
    for (uint32_t side = 2; side <= 16; side *= 2) check_hilbert(3, side);
}

/* Curves without gaps: partitions differ by one CTA at most, on any grid. */
static void fixed_mappings_are_even(void **state)
{
    static const char *const names[] = {"lexicographic", "colexicographic", "hilbert"};
    static const uint32_t grids[][3] = {{5, 7, 1}, {3, 1, 9}, {6, 5, 4}, {1, 13, 11}, {2, 2, 2}};
    (void)state;
    for (unsigned k = 0; k < 15; k++) {
        const uint32_t *const g = grids[k / 3];
        const uint32_t n = g[0] * g[1] * g[2];
        for (uint32_t p = 1; p <= n + 3; p++) {
            uint32_t *const parts = partitions(names[k % 3], g[0], g[1], g[2], p);
            uint32_t counts[256] = {0};
            for (uint32_t i = 0; i < n; i++) counts[parts[i]]++;
            for (uint32_t q = 0; q < p; q++)
                assert_true(counts[q] == n / p || counts[q] == (n + p - 1) / p);
            free(parts);
        }
    }
}

static void block_cyclic_deals_blocks(void **state)
{
    const struct cts_mapping *const mapping = cts_mapping_named("block-cyclic");
    (void)state;
    for (uint64_t i = 0; i < 100; i++)
        assert_int_equal(cts_mapping_partition(mapping, i, 100, 3, 4), i / 4 % 3);
    /* by default, eight blocks for each partition: of ceil(100 / 16) CTAs */
    for (uint64_t i = 0; i < 100; i++)
        assert_int_equal(cts_mapping_partition(mapping, i, 100, 2, 0), i / 7 % 2);
}

static void grids_that_are_too_long_for_a_curve_are_refused(void **state)
{
    const struct cts_mapping_grid grid = {
        .dimensions = 3, .extents = {1u << 21, 2, 2}, .cta_count = 1};
    struct cts_error error;
    uint64_t position, length;
    (void)state;
    assert_int_equal(
        cts_mapping_lay_out(cts_mapping_named("z-order"), &grid, &position, &length, &error),
        CTS_LIMIT);
    assert_null(cts_mapping_named("zorder"));
}

/* Also of a mapping that no other case here knows: partitions() and cts_mapping_lay_out() assert
 * what must hold of it. */
static void every_mapping_lays_out_every_grid(void **state)
{
    static const uint32_t grids[][3] = {{5, 7, 1}, {3, 1, 9}, {6, 5, 4}, {2, 2, 2}, {33, 2, 1}};
    (void)state;
    for (size_t m = 0; m < CTS_MAPPING_COUNT; m++)
        for (size_t g = 0; g < sizeof grids / sizeof *grids; g++)
            for (uint32_t p = 1; p < 200; p += 1 + p / 8)
                free(partitions(cts_mappings[m]->name, grids[g][0], grids[g][1], grids[g][2], p));
}

static void the_list_names_them_as_they_name_themselves(void **state)
{
    static const char *const names[] = {
#define X(symbol, name) name,
        CTS_MAPPINGS(X)
#undef X
    };
    (void)state;
    for (size_t i = 0; i < CTS_MAPPING_COUNT; i++) {
        assert_string_equal(cts_mappings[i]->name, names[i]);
        assert_non_null(cts_mappings[i]->summary);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_z_order_curve_covers_sixteen_points),
        cmocka_unit_test(the_z_order_curve_in_three_dimensions_interleaves_z_y_x),
        cmocka_unit_test(the_z_order_curve_scales_other_grids),
        cmocka_unit_test(lexicographic_cuts_rows_and_colexicographic_columns),
        cmocka_unit_test(mappings_are_one_on_a_line),
        cmocka_unit_test(integers_do_not_fall_into_the_trap_of_doubles),
        cmocka_unit_test(the_hilbert_curve_steps_from_neighbour_to_neighbour),
        cmocka_unit_test(fixed_mappings_are_even),
        cmocka_unit_test(block_cyclic_deals_blocks),
        cmocka_unit_test(grids_that_are_too_long_for_a_curve_are_refused),
        cmocka_unit_test(every_mapping_lays_out_every_grid),
        cmocka_unit_test(the_list_names_them_as_they_name_themselves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
