/* Markers before tensor copies: which instructions are copies, what the marked cubin is, and that
 * the check of it finds whatever else is changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "count.h"
#include "random.h"
#include "record/inject/cubin/cubin.h"
#include "record/inject/cubin/copy-marks.h"
#include "trace/access.h"

static uint8_t *read_fixture(const char *name, size_t *size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/cubin/%s", CTS_FIXTURES, name);
    FILE *const file = fopen(path, "rb");
    if (!file) fail_msg("cannot open '%s'", path);
    uint8_t *const bytes = malloc(1 << 20);
    assert_non_null(bytes);
    *size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

/* ---- instructions ---- */

enum { NONE = CTS_NO_REGISTER };

static const struct {
    const char *text; /* as nvdisasm of CUDA 13.0 prints it */
    uint64_t low, high;
    struct cts_tensor_copy copy;
} samples[] = {
    {"UTMALDG.1D [UR4], [UR8]",
     0x00000004080075b4u,
     0x0001d80008000000u,
     {CTS_LOAD, 1, 8, 6, NONE, 7, false}},
    {"UTMALDG.2D [UR8], [UR6], desc[UR4]",
     0x00000408060075b4u,
     0x0001d80008009000u,
     {CTS_LOAD, 2, 6, 10, NONE, 7, false}},
    {"UTMALDG.2D.MULTICAST [UR8], [UR12], UR4, desc[UR6]",
     0x000006080c0073b4u,
     0x0001d80008009804u,
     {CTS_LOAD, 2, 12, 10, 4, 7, false}},
    {"UTMALDG.3D.MULTICAST [UR8], [UR34], UR33",
     0x00000008220073b4u,
     0x0001e40008010821u,
     {CTS_LOAD, 3, 34, 10, 33, 7, false}},
    {"UTMALDG.5D [UR8], [UR4]",
     0x00000008040075b4u,
     0x0001d80008020000u,
     {CTS_LOAD, 5, 4, 10, NONE, 7, false}},
    {"UTMALDG.5D.IM2COL.MULTICAST [UR8], [UR6], UR5",
     0x00000008060073b4u,
     0x0001d80008060805u,
     {CTS_LOAD, 5, 6, 10, 5, 7, true}},
    {"UTMALDG.3D.IM2COL [UR8], [UR6], UR4",
     0x00000008060073b4u,
     0x0001d80008050004u,
     {CTS_LOAD, 3, 6, 10, NONE, 7, true}},
    {"@UP3 UTMASTG.3D [UR32], [UR22]",
     0x00000020160033b5u,
     0x0001e20008010000u,
     {CTS_STORE, 3, 22, 33, NONE, 3, false}},
    {"@!UP1 UTMASTG.2D [UR8], [UR6]",
     0x00000008060093b5u,
     0x0001e40008008000u,
     {CTS_STORE, 2, 6, 9, NONE, 9, false}},
    {"UTMAREDG.2D.ADD [UR8], [UR6]",
     0x00000008060073b6u,
     0x0001f20008008000u,
     {CTS_ATOMIC_ADD, 2, 6, 9, NONE, 7, false}},
    {"UTMAREDG.2D.MIN [UR8], [UR6]",
     0x00000008060073b6u,
     0x0001f20008808000u,
     {CTS_ATOMIC_MIN, 2, 6, 9, NONE, 7, false}},
    {"UTMAREDG.2D.MAX [UR8], [UR6]",
     0x00000008060073b6u,
     0x0001f20009008000u,
     {CTS_ATOMIC_MAX, 2, 6, 9, NONE, 7, false}},
    {"UTMAREDG.2D.INC [UR8], [UR6]",
     0x00000008060073b6u,
     0x0001f20009808000u,
     {CTS_ATOMIC_INC, 2, 6, 9, NONE, 7, false}},
    {"UTMAREDG.2D.DEC [UR8], [UR6]",
     0x00000008060073b6u,
     0x0001f2000a008000u,
     {CTS_ATOMIC_DEC, 2, 6, 9, NONE, 7, false}},
    {"UTMAREDG.2D.AND [UR8], [UR6]",
     0x00000008060073b6u,
     0x0001f2000a808000u,
     {CTS_ATOMIC_AND, 2, 6, 9, NONE, 7, false}},
    {"UTMAREDG.2D.OR [UR8], [UR6]",
     0x00000008060073b6u,
     0x0001f2000b008000u,
     {CTS_ATOMIC_OR, 2, 6, 9, NONE, 7, false}},
    {"UTMAREDG.2D.XOR [UR8], [UR6]",
     0x00000008060073b6u,
     0x0001f2000b808000u,
     {CTS_ATOMIC_XOR, 2, 6, 9, NONE, 7, false}},
};

static void test_copies_are_told_from_their_words(void **state)
{
    (void)state;
    struct cts_tensor_copy copy;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        memset(&copy, 0x55, sizeof copy);
        if (!cts_tensor_copy_decode(samples[i].low, samples[i].high, &copy))
            fail_msg("%s is no copy", samples[i].text);
        if (memcmp(&copy, &samples[i].copy, sizeof copy) != 0)
            fail_msg("%s: operation %u, %u dimensions, registers %u %u %u, predicate %u",
                     samples[i].text, copy.operation, copy.dimensions, copy.map_register,
                     copy.point_register, copy.multicast_register, copy.predicate);
    }
    /* a prefetch, a flush, and a shuffle */
    assert_false(cts_tensor_copy_decode(0x00000006040075b8u, 0x0001e40008008000u, &copy));
    assert_false(cts_tensor_copy_decode(0x00000000000079b7u, 0x0007e20000000000u, &copy));
    assert_false(cts_tensor_copy_decode(0x00001fffffff7589u, 0x000fe200000e0000u, &copy));
}

/* ---- a cubin ---- */

static const struct {
    const char *name;
    unsigned copies, loads, stores, unmarked_loads; /* in im2col mode */
} functions[] = {{"loads", 4, 4, 0, 0},
                 {"stores", 6, 0, 6, 0},
                 {"reductions", 3, 0, 0, 0},
                 {"others", 0, 0, 0, 1}};

struct marked_fixture {
    uint8_t *original;
    size_t bytes;
    struct cts_marked marked;
};

static void mark_fixture(struct marked_fixture *f)
{
    struct cts_error error = {0};
    f->original = read_fixture("copies.cubin", &f->bytes);
    if (cts_marks_put(f->original, f->bytes, &f->marked, &error)) fail_msg("%s", error.text);
    assert_non_null(f->marked.image);
}

static void release_fixture(struct marked_fixture *f)
{
    free(f->original);
    free(f->marked.image);
}

static void check_function(const struct cts_cubin *before, const struct cts_cubin *after, size_t i)
{
    const struct cts_cubin_function *const old = cts_cubin_find(before, functions[i].name);
    const struct cts_cubin_function *const new = cts_cubin_find(after, functions[i].name);
    unsigned copies = 0, loads = 0, stores = 0, unmarked = 0;
    assert_non_null(old);
    assert_non_null(new);
    for (uint32_t k = 0; k < new->mark_count; k++) {
        const struct cts_cubin_mark *const mark = after->marks + new->first_mark + k;
        unmarked += mark->sass.kind == CTS_SASS_TENSOR_LOAD;
        assert_int_not_equal(mark->sass.kind, CTS_SASS_TENSOR_STORE);
        assert_int_not_equal(mark->sass.kind, CTS_SASS_TENSOR_REDUCTION);
        if (mark->sass.kind != CTS_SASS_MARKED_COPY) continue;
        copies++;
        loads += mark->sass.operation == CTS_LOAD;
        stores += mark->sass.operation == CTS_STORE;
        /* the original has a copy there, of the same source line */
        const struct cts_cubin_mark *const was = cts_cubin_mark_at(before, old, mark->origin_bytes);
        assert_non_null(was);
        assert_true(was->sass.kind >= CTS_SASS_TENSOR_LOAD &&
                    was->sass.kind <= CTS_SASS_TENSOR_REDUCTION);
        const struct cts_cubin_line *const line = cts_cubin_line_at(after, new, mark->origin_bytes);
        assert_non_null(line);
        assert_int_equal(line->line, cts_cubin_line_at(before, old, mark->origin_bytes)->line);
    }
    assert_int_equal(copies, functions[i].copies);
    assert_int_equal(loads, functions[i].loads);
    assert_int_equal(stores, functions[i].stores);
    assert_int_equal(unmarked, functions[i].unmarked_loads);
    assert_int_equal(new->registers, old->registers);
}

static void test_every_copy_but_im2col_gets_a_marker(void **state)
{
    (void)state;
    struct marked_fixture f;
    struct cts_cubin before, after;
    struct cts_error error = {0};
    mark_fixture(&f);
    assert_int_equal(f.marked.copies, 13);
    if (cts_cubin_read(f.original, f.bytes, &before, &error)) fail_msg("%s", error.text);
    if (cts_cubin_read(f.marked.image, f.marked.bytes, &after, &error)) fail_msg("%s", error.text);
    assert_int_equal(after.function_count, before.function_count);
    assert_int_equal(after.line_count, before.line_count);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        check_function(&before, &after, i);
    cts_cubin_release(&before);
    cts_cubin_release(&after);
    release_fixture(&f);
}

static void test_a_cubin_without_copies_stays_as_it_is(void **state)
{
    (void)state;
    size_t bytes;
    struct cts_marked marked;
    struct cts_error error = {0};
    uint8_t *const image = read_fixture("kernels.cubin", &bytes);
    assert_int_equal(cts_marks_put(image, bytes, &marked, &error), CTS_OK);
    assert_null(marked.image);
    free(image);
}

static void test_another_architecture_is_refused(void **state)
{
    (void)state;
    size_t bytes;
    struct cts_marked marked;
    struct cts_error error = {0};
    uint8_t *const image = read_fixture("copies.cubin", &bytes);
    image[0x31] = 100; /* of e_flags */
    assert_int_equal(cts_marks_put(image, bytes, &marked, &error), CTS_UNSUPPORTED);
    assert_string_equal(error.text, "tensor copies of compute capability 10.0 are not known");
    assert_null(marked.image);
    free(image);
}

/* ---- the check ---- */

/* Sections with content, by reading the headers anew. */
static bool is_in_a_section(const uint8_t *image, size_t at)
{
    uint64_t sections, offset, size;
    uint32_t type;
    uint16_t count;
    memcpy(&sections, image + 0x28, sizeof sections);
    memcpy(&count, image + 0x3c, sizeof count);
    for (uint16_t i = 0; i < count; i++) {
        const uint8_t *const header = image + sections + 64 * i;
        memcpy(&type, header + 4, sizeof type);
        memcpy(&offset, header + 24, sizeof offset);
        memcpy(&size, header + 32, sizeof size);
        if (type != 8 && at >= offset && at - offset < size) return true;
    }
    return false;
}

static void test_the_check_finds_every_flipped_bit_of_a_section(void **state)
{
    (void)state;
    struct marked_fixture f;
    struct random random = {4711};
    mark_fixture(&f);
    const uint64_t tries = cts_test_count(3000, 60000);
    uint64_t flipped = 0;
    for (uint64_t i = 0; i < tries; i++) {
        struct cts_error error = {0};
        const size_t at = random_below(&random, (uint32_t)f.marked.bytes);
        const uint8_t bit = (uint8_t)(1 << random_below(&random, 8));
        if (!is_in_a_section(f.marked.image, at)) continue;
        f.marked.image[at] ^= bit;
        if (cts_marks_check(f.original, f.bytes, &f.marked, &error) == CTS_OK)
            fail_msg("bit 0x%02x of byte 0x%zx makes no difference", bit, at);
        f.marked.image[at] ^= bit;
        flipped++;
    }
    assert_true(flipped > tries / 3); /* the rest are headers */
    struct cts_error error = {0};
    assert_int_equal(cts_marks_check(f.original, f.bytes, &f.marked, &error), CTS_OK);
    release_fixture(&f);
}

static void test_the_check_says_what_differs(void **state)
{
    (void)state;
    struct marked_fixture f;
    struct cts_error error = {0};
    mark_fixture(&f);
    struct cts_marked unmarked = {.image = f.original, .bytes = f.bytes, .copies = 13};
    assert_int_equal(cts_marks_check(f.original, f.bytes, &unmarked, &error), CTS_FORMAT);
    assert_string_equal(error.text, "check of the marked module: 0 copies, not 13");
    f.marked.copies--;
    error = (struct cts_error){0};
    assert_int_equal(cts_marks_check(f.original, f.bytes, &f.marked, &error), CTS_FORMAT);
    assert_string_equal(error.text, "check of the marked module: 13 copies, not 12");
    release_fixture(&f);
}

/* Damaged cubins are refused, or marked so that the check agrees; nothing else is touched. */
static void test_damaged_cubins_harm_nobody(void **state)
{
    (void)state;
    size_t bytes;
    struct random random = {1};
    uint8_t *const image = read_fixture("copies.cubin", &bytes);
    uint8_t *const spoiled = malloc(bytes);
    assert_non_null(spoiled);
    for (uint64_t i = 0, tries = cts_test_count(2000, 50000); i < tries; i++) {
        struct cts_marked marked;
        struct cts_error error = {0};
        memcpy(spoiled, image, bytes);
        for (uint32_t k = 0; k <= i % 4; k++)
            spoiled[random_below(&random, (uint32_t)(i % 3 ? bytes : 64))] ^=
                (uint8_t)(1 << random_below(&random, 8));
        const size_t size = i % 7 ? bytes : random_below(&random, (uint32_t)bytes);
        const enum cts_status status = cts_marks_put(spoiled, size, &marked, &error);
        assert_true(status == CTS_OK || *error.text);
        if (!status && marked.image)
            assert_int_equal(cts_marks_check(spoiled, size, &marked, &error), CTS_OK);
        free(marked.image);
    }
    free(image);
    free(spoiled);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copies_are_told_from_their_words),
        cmocka_unit_test(test_every_copy_but_im2col_gets_a_marker),
        cmocka_unit_test(test_a_cubin_without_copies_stays_as_it_is),
        cmocka_unit_test(test_another_architecture_is_refused),
        cmocka_unit_test(test_the_check_finds_every_flipped_bit_of_a_section),
        cmocka_unit_test(test_the_check_says_what_differs),
        cmocka_unit_test(test_damaged_cubins_harm_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
