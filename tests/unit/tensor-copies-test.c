/* What a tensor copy touches, against its elements one by one; the patch's placeholders; cubins in
 * fat binaries. */
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
#include "record/inject/cubin/fatbin.h"
#include "record/inject/cubin/copy-marks.h"
#include "record/inject/cubin/placeholders.h"
#include "record/inject/cubin/tensor-box.h"

/* ---- boxes ---- */

enum { SPACE_BYTES = 1 << 20, DIMENSIONS_MAX = 5 };

/* A tensor in a space of its own from address 0x100000 on. */
struct tensor {
    uint32_t dimensions, type, element_bytes;
    uint64_t size[DIMENSIONS_MAX], stride[DIMENSIONS_MAX]; /* of dimension 0: the element's bytes */
    uint32_t box[DIMENSIONS_MAX], step[DIMENSIONS_MAX];
};
enum { BASE = 0x100000 };

/* Small sizes, so that boxes often pass the edges; strides with room between rows, or overlap. */
static struct tensor random_tensor(struct random *random)
{
    static const uint8_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2};
    struct tensor t = {.dimensions = 1 + random_below(random, DIMENSIONS_MAX),
                       .type = random_below(random, 11)};
    uint64_t stride = 16 * (1 + random_below(random, 8));
    t.element_bytes = bytes[t.type];
    for (uint32_t d = 0; d < t.dimensions; d++) {
        t.size[d] = 1 + random_below(random, d ? 9 : 40);
        t.box[d] = 1 + random_below(random, d ? 6 : 24);
        t.step[d] = d && !random_below(random, 3) ? 1 + random_below(random, 8) : 1;
        t.stride[d] = d ? stride : t.element_bytes;
        if (d) stride = 16 * (1 + stride * t.size[d] / 16) % 8192;
        if (d && !stride) stride = 16;
    }
    return t;
}

/* As the driver encodes it (cubin/tensor-map.c). */
static void encode(const struct tensor *t, uint32_t w[16])
{
    memset(w, 0, 16 * sizeof *w);
    w[0] = BASE;
    w[2] = (t->dimensions - 1) << 4 | t->type << 7 | 1u << 18;
    for (uint32_t d = 0; d < t->dimensions; d++) {
        w[8 + d] = (uint32_t)t->size[d] - 1;
        w[13] |= (t->step[d] - 1) << 3 * d;
        if (d) w[2 + d] = (uint32_t)(t->stride[d] / 16);
        if (d == 0)
            w[13] |= (t->box[0] - 1) << 24;
        else
            w[14] |= (t->box[d] - 1) << 8 * (d - 1);
    }
}

/* Counts each byte that the copy touches, element by element. */
static void touch_elements(const struct tensor *t, const int32_t *point, uint8_t *touched)
{
    uint32_t i[DIMENSIONS_MAX] = {0};
    for (;;) {
        uint64_t offset = 0;
        bool is_inside = true;
        for (uint32_t d = 0; d < t->dimensions; d++) {
            const int64_t at = (int64_t)point[d] + (int64_t)i[d] * t->step[d];
            is_inside = is_inside && at >= 0 && at < (int64_t)t->size[d];
            offset += is_inside ? (uint64_t)at * t->stride[d] : 0;
        }
        for (uint32_t b = 0; is_inside && b < t->element_bytes; b++) touched[offset + b]++;
        uint32_t d = 0;
        while (d < t->dimensions && ++i[d] == (t->box[d] + t->step[d] - 1) / t->step[d]) i[d++] = 0;
        if (d == t->dimensions) return;
    }
}

static void touch_rows(const struct cts_tensor_rows *rows, uint8_t *touched)
{
    const struct cts_box *const box = &rows->box;
    uint32_t i[4];
    for (i[3] = 0; i[3] < box->extents[3]; i[3]++)
        for (i[2] = 0; i[2] < box->extents[2]; i[2]++)
            for (i[1] = 0; i[1] < box->extents[1]; i[1]++)
                for (i[0] = 0; i[0] < box->extents[0]; i[0]++) {
                    uint64_t at = rows->base - BASE;
                    for (int d = 0; d < 4; d++) at += i[d] * box->strides[d];
                    for (uint32_t b = 0; b < rows->row_bytes; b++) touched[at + b]++;
                }
}

static void test_boxes_touch_what_their_elements_touch(void **state)
{
    (void)state;
    uint8_t *const expected = malloc(2 * (size_t)SPACE_BYTES), *const found =
                                                                   expected + SPACE_BYTES;
    struct random random = {7};
    unsigned empty = 0, clipped = 0;
    assert_non_null(expected);
    for (uint64_t n = 0, tries = cts_test_count(400, 20000); n < tries; n++) {
        const struct tensor t = random_tensor(&random);
        uint32_t words[16], point[DIMENSIONS_MAX] = {0};
        struct cts_tensor_rows rows;
        encode(&t, words);
        for (uint32_t d = 0; d < t.dimensions; d++)
            point[d] = random_below(&random, (uint32_t)t.size[d] + 24) - 12u;
        memset(expected, 0, 2 * (size_t)SPACE_BYTES);
        touch_elements(&t, (const int32_t *)point, expected);
        assert_true(cts_tensor_box(words, point, &rows));
        touch_rows(&rows, found);
        assert_memory_equal(expected, found, SPACE_BYTES);
        empty += !cts_box_rows(&rows.box);
        clipped += cts_box_rows(&rows.box) && rows.row_bytes < t.box[0] * t.element_bytes;
        assert_true(rows.row_bytes > 0);
    }
    assert_true(empty > 0 && clipped > 0);
    free(expected);
}

static void test_maps_of_another_form_are_not_known(void **state)
{
    (void)state;
    struct random random = {11};
    const struct tensor t = random_tensor(&random);
    uint32_t words[16];
    const uint32_t point[DIMENSIONS_MAX] = {0};
    struct cts_tensor_rows rows;
    encode(&t, words);
    assert_true(cts_tensor_box(words, point, &rows));
    words[2] |= 1; /* im2col */
    assert_false(cts_tensor_box(words, point, &rows));
    words[2] ^= 1 | 1u << 11; /* interleaved */
    assert_false(cts_tensor_box(words, point, &rows));
    memset(words, 0, sizeof words);
    assert_false(cts_tensor_box(words, point, &rows));
}

/* ---- files ---- */

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

/* Each uniform register is read once, and stored where its number says: as nvdisasm tells, too. */
static void test_placeholders_become_reads_of_registers(void **state)
{
    (void)state;
    size_t bytes;
    struct cts_error error = {0};
    uint8_t *const image = read_fixture("placeholders.cubin", &bytes);
    uint8_t *const before = malloc(bytes);
    uint64_t seen = 0;
    assert_non_null(before);
    memcpy(before, image, bytes);
    if (cts_placeholders_fill(image, bytes, &error)) fail_msg("%s", error.text);
    for (size_t at = 0; at + 16 <= bytes; at += 8) {
        uint64_t old[2], new[2];
        memcpy(old, before + at, sizeof old);
        memcpy(new, image + at, sizeof new);
        if (old[0] == new[0]) continue;
        const uint64_t number = (old[0] >> 32) - CTS_PLACEHOLDER;
        assert_true(number < CTS_PLACEHOLDER_COUNT);
        assert_int_equal(new[0], (old[0] & 0xfff000) | number << 32 | 0xc02); /* MOV R, UR */
        assert_int_equal((uint32_t)new[1], 0x08000f00);
        assert_true((new[1] >> 41 & 15) >= 8);
        seen |= UINT64_C(1) << number;
        at += 8;
    }
    assert_int_equal(seen, (UINT64_C(1) << CTS_PLACEHOLDER_COUNT) - 1);
    assert_int_equal(cts_placeholders_fill(image, bytes, &error), CTS_FORMAT);
    assert_string_equal(error.text, "the patch has placeholders 0x0 of 63");
    free(image);
    free(before);
}

static void check_fatbin(const char *name)
{
    size_t bytes, size;
    struct cts_error error = {0};
    struct cts_buffer cubin = {0};
    struct cts_marked marked;
    uint8_t *const image = read_fixture(name, &bytes);
    /* as the compiler wraps it */
    struct {
        uint32_t magic, version;
        const void *fatbin, *unused;
    } wrapper = {0x466243b1, 1, image, NULL};
    assert_ptr_equal(cts_fatbin_of(&wrapper, &size), image);
    assert_ptr_equal(cts_fatbin_of(image, &size), image);
    assert_int_equal(size, bytes);
    if (cts_fatbin_cubin(image, bytes, 90, &cubin, &error)) fail_msg("%s", error.text);
    assert_int_equal(cubin.size_bytes, 12744);
    assert_int_equal(cts_marks_put(cubin.data, cubin.size_bytes, &marked, &error), CTS_OK);
    assert_int_equal(marked.copies, 13);
    free(marked.image);
    assert_int_equal(cts_fatbin_cubin(image, bytes, 80, &cubin, &error), CTS_UNSUPPORTED);
    assert_string_equal(error.text, "a fat binary has 0 cubins for 8.0");
    /* truncated and spoilt ones: an error, or a cubin of the promised size */
    struct random random = {3};
    for (uint64_t i = 0, tries = cts_test_count(300, 20000); i < tries; i++) {
        uint8_t *const spoiled = malloc(bytes);
        const size_t left = i % 4 ? bytes : random_below(&random, (uint32_t)bytes);
        assert_non_null(spoiled);
        memcpy(spoiled, image, bytes);
        spoiled[random_below(&random, (uint32_t)bytes)] ^= (uint8_t)(1 << random_below(&random, 8));
        memcpy(spoiled + 72, image + 72, 8); /* not its size: a large one is only slow */
        const enum cts_status status = cts_fatbin_cubin(spoiled, left, 90, &cubin, &error);
        assert_true(status || cubin.size_bytes);
        free(spoiled);
    }
    cts_buffer_release(&cubin);
    free(image);
}

static void test_cubins_are_found_in_fat_binaries(void **state)
{
    (void)state;
    size_t bytes, size;
    check_fatbin("copies-zstd.fatbin");
    check_fatbin("copies-lz4.fatbin");
    uint8_t *const cubin = read_fixture("copies.cubin", &bytes);
    assert_null(cts_fatbin_of(cubin, &size));
    free(cubin);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boxes_touch_what_their_elements_touch),
        cmocka_unit_test(test_maps_of_another_form_are_not_known),
        cmocka_unit_test(test_placeholders_become_reads_of_registers),
        cmocka_unit_test(test_cubins_are_found_in_fat_binaries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
