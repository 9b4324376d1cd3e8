/* Which bytes of records hold no value, against a look at the text for each byte; rows that make no
 * sense. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/access/record-padding.h"
#include "random.h"

/* Whether a text of ranges has a byte. */
static bool has_byte(const char *text, uint64_t byte)
{
    unsigned long long first, last;
    int length;
    for (; text && *text; text += length + (text[length] == ',')) {
        if (sscanf(text, "%llu-%llu%n", &first, &last, &length) != 2) return false;
        if (byte >= first && byte <= last) return true;
    }
    return false;
}

static struct cts_padded_type types[] = {
    {.module = 0, .type = "Body", .size_bytes = 24, .padding = "1-3,18-23"},
    {.module = 0, .type = "Shape", .size_bytes = 72, .padding = "4-7", .alternatives = "16-70"},
    {.module = 0, .type = "Both", .size_bytes = 8, .padding = "1-3"},
    {.module = 1, .type = "Both", .size_bytes = 8, .padding = "5-7"},
};
static struct cts_allocation allocations[] = {
    {.type = "Body"}, {.type = "Shape"}, {.type = "Both"}, {.type = "float"}, {.type = NULL}};
static struct cts_site sites[] = {
    {.site = 0, .module = 1, .type = "Both", .width_bytes = 16},
    {.site = 1, .module = 0, .type = "Body", .width_bytes = 16},
    {.site = 2, .module = 1, .type = "Body", .width_bytes = 24},
};
static struct cts_variable variables[] = {
    {.module = 0, .type = "Body", .kind = "shared", .address = 64, .size_bytes = 48},
    {.module = 0, .type = "Shape", .kind = "shared", .address = 100, .size_bytes = 72},
    {.module = 1, .type = "Both", .kind = "device", .address = 0, .size_bytes = 4096},
};

static struct cts_catalogue catalogue_of(void)
{
    return (struct cts_catalogue){.padded_types = types,
                                  .padded_type_count = 4,
                                  .allocations = allocations,
                                  .allocation_count = 5,
                                  .sites = sites,
                                  .site_count = 3,
                                  .variables = variables,
                                  .variable_count = 3};
}

static void test_masks(void **state)
{
    (void)state;
    const struct cts_catalogue catalogue = catalogue_of();
    struct cts_access_padding padding;
    struct cts_error error = {0};
    assert_int_equal(cts_access_padding_init(&padding, &catalogue, &error), CTS_OK);
    for (unsigned round = 0; round < 2000; round++) {
        const size_t which = below(2);
        const bool alternatives = below(2);
        const uint64_t origin = 0x10000 + below(200), start = 0x10000 + below(400);
        const struct cts_access_layout *const layout =
            cts_access_allocation_layout(&padding, which);
        const uint64_t mask = cts_access_padding_mask(layout, origin, start, alternatives);
        for (unsigned i = 0; i < 64; i++) {
            const uint64_t byte = (start + i - origin) % types[which].size_bytes;
            const bool expected = start + i >= origin &&
                                  (has_byte(types[which].padding, byte) ||
                                   (alternatives && has_byte(types[which].alternatives, byte)));
            assert_int_equal(mask >> i & 1, expected);
        }
    }
    cts_access_padding_release(&padding);
}

static void test_types(void **state)
{
    (void)state;
    const struct cts_catalogue catalogue = catalogue_of();
    struct cts_access_padding padding;
    struct cts_error error = {0};
    uint64_t origin = 0;
    assert_int_equal(cts_access_padding_init(&padding, &catalogue, &error), CTS_OK);
    assert_null(cts_access_allocation_layout(&padding, 2)); /* two types of that name */
    assert_null(cts_access_allocation_layout(&padding, 3));
    assert_null(cts_access_allocation_layout(&padding, 4));
    const struct cts_access_layout *const two = cts_access_site_layout(&padding, &sites[0]);
    assert_int_equal(two->padding[0], 0xe0);
    assert_true(cts_access_takes_whole(two, &sites[0]));
    assert_false(cts_access_takes_whole(cts_access_site_layout(&padding, &sites[1]), &sites[1]));
    assert_null(cts_access_site_layout(&padding, &sites[2])); /* of another module */
    assert_string_equal(cts_access_shared_layout(&padding, &catalogue, 0, 64, &origin)->type,
                        "Body");
    assert_int_equal(origin, 64);
    assert_null(cts_access_shared_layout(&padding, &catalogue, 0, 63, &origin));
    assert_null(cts_access_shared_layout(&padding, &catalogue, 0, 105, &origin)); /* two have it */
    assert_null(cts_access_shared_layout(&padding, &catalogue, 1, 105, &origin));
    cts_access_padding_release(&padding);
}

static void test_bad_rows(void **state)
{
    (void)state;
    static const char *const texts[] = {"1", "3-1", "1-24", "1-2,", "a-b", "1-2;3-4", "-1-2"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct cts_padded_type row = {.type = "Body", .size_bytes = 24, .padding = texts[i]};
        const struct cts_catalogue catalogue = {.padded_types = &row, .padded_type_count = 1};
        struct cts_access_padding padding;
        struct cts_error error = {0};
        const enum cts_status status = cts_access_padding_init(&padding, &catalogue, &error);
        if (!strcmp(texts[i], "1-2,")) { /* an empty range at the end */
            assert_int_equal(status, CTS_OK);
        } else {
            assert_int_equal(status, CTS_FORMAT);
            assert_non_null(strstr(error.text, "padded_types"));
        }
        cts_access_padding_release(&padding);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_masks), cmocka_unit_test(test_types),
                                       cmocka_unit_test(test_bad_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
