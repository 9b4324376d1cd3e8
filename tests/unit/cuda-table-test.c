/* The table of an instrumented module: one is written here by its specification and read; then
 * every byte of it is damaged in turn, and every length of it tried: never more than an error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/abi.h"
#include "record/cuda/table.h"
#include "trace/access.h"

struct writer {
    uint8_t bytes[2048];
    size_t size;
};

static void put(struct writer *writer, uint32_t word)
{
    for (int i = 0; i < 4; i++) writer->bytes[writer->size++] = (uint8_t)(word >> (8 * i));
}

static void put_words(struct writer *writer, const uint32_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++) put(writer, words[i]);
}

static struct writer good_table(void)
{
    static const char *const texts[] = {"",    "unit", "/k.cu", "_Z1kPi", "k(int*)", "line\n",
                                        "int", "p",    "call",  "reason", "S",       "1-3"};
    enum { TEXTS = sizeof texts / sizeof *texts };
    static const uint32_t source[] = {2, 5}, other_source[] = {5, 0};
    static const uint32_t kernel[] = {3, 4, 0, 7, 0};
    static const uint32_t site[] = {
        0, 8, 9, 4, CTS_ATOMIC_ADD | CTS_SPACE_GLOBAL << 8 | 1 << 16 | 2 << 24, 4, 6, 7, 0};
    static const uint32_t variable[] = {7, 7, 6, CTS_VARIABLE_SHARED, 0, 3, 4, 64, 1};
    static const uint32_t skipped[] = {8, 9, UINT32_MAX, 0}, padded[] = {10, 11, 0, 16};
    struct writer writer = {.size = 8};
    memcpy(writer.bytes, CTS_CUDA_TABLE_MAGIC, 8);
    put_words(&writer, (uint32_t[]){2, 0, 2, TEXTS, 2, 1, 1, 1, 1, 1, 1, 2}, 12);
    for (size_t i = 0; i < TEXTS; i++) {
        put(&writer, (uint32_t)strlen(texts[i]));
        memcpy(writer.bytes + writer.size, texts[i], strlen(texts[i]));
        writer.size += strlen(texts[i]);
    }
    put_words(&writer, source, 2);
    put_words(&writer, other_source, 2);
    put_words(&writer, kernel, 5);
    put_words(&writer, site, 9);
    put_words(&writer, variable, 9);
    put_words(&writer, skipped, 4);
    put_words(&writer, padded, 4);
    writer.bytes[12] = (uint8_t)writer.size;
    writer.bytes[13] = (uint8_t)(writer.size >> 8);
    return writer;
}

static void table_is_read(void **state)
{
    (void)state;
    const struct writer writer = good_table();
    struct cts_cuda_table table;
    struct cts_error error;
    assert_int_equal(cts_cuda_table_read(writer.bytes, writer.size + 5, &table, &error), CTS_OK);
    assert_string_equal(table.unit, "unit");
    assert_string_equal(table.path, "/k.cu");
    assert_int_equal(table.flags, 2);
    assert_int_equal(table.source_count, 2);
    assert_string_equal(table.sources[0].text, "line\n");
    assert_null(table.sources[1].text);
    assert_string_equal(table.kernels[0].symbol, "_Z1kPi");
    assert_string_equal(table.kernels[0].name, "k(int*)");
    assert_int_equal(table.kernels[0].line, 7);
    assert_int_equal(table.sites[0].operation, CTS_ATOMIC_ADD);
    assert_int_equal(table.sites[0].space, CTS_SPACE_GLOBAL);
    assert_int_equal(table.sites[0].is_volatile, 1);
    assert_int_equal(table.sites[0].loop_depth, 2);
    assert_int_equal(table.sites[0].column, 9);
    assert_string_equal(table.sites[0].type, "int");
    assert_string_equal(table.sites[0].variable, "p");
    assert_null(table.sites[0].inlined_at);
    assert_int_equal(table.variables[0].kind, CTS_VARIABLE_SHARED);
    assert_true(table.variables[0].size_bytes == ((uint64_t)1 << 32 | 64));
    assert_string_equal(table.skipped[0].reason, "reason");
    assert_int_equal(table.skipped[0].source, UINT32_MAX);
    assert_int_equal(table.padded_type_count, 1);
    assert_string_equal(table.padded_types[0].name, "S");
    assert_string_equal(table.padded_types[0].padding, "1-3");
    assert_null(table.padded_types[0].alternatives);
    assert_int_equal(table.padded_types[0].size_bytes, 16);
    cts_cuda_table_release(&table);
}

static void another_version_is_refused(void **state)
{
    (void)state;
    struct writer writer = good_table();
    struct cts_cuda_table table;
    struct cts_error error;
    writer.bytes[8] = 1;
    assert_int_equal(cts_cuda_table_read(writer.bytes, writer.size, &table, &error), CTS_VERSION);
    assert_non_null(strstr(error.text, "version 1, not 2"));
}

/* Rows name texts and sources that exist, and nothing is left over. */
static void numbers_are_checked(void **state)
{
    (void)state;
    const struct writer good = good_table();
    struct cts_cuda_table table;
    struct cts_error error;
    const size_t rows = good.size - 4 * (2 + 2 + 5 + 9 + 9 + 4 + 4);
    static const size_t words[] = {0, 4, 5, 6, 9, 13, 14, 18, 22, 27, 29, 31, 32};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct writer bad = good;
        bad.bytes[rows + 4 * words[i] + 2] = 0x7f;
        if (words[i] == 13) bad.bytes[rows + 4 * words[i]] = 15; /* no operation */
        assert_int_equal(cts_cuda_table_read(bad.bytes, bad.size, &table, &error), CTS_FORMAT);
    }
    struct writer more = good;
    put(&more, 0);
    more.bytes[12] = (uint8_t)more.size;
    more.bytes[13] = (uint8_t)(more.size >> 8);
    assert_int_equal(cts_cuda_table_read(more.bytes, more.size, &table, &error), CTS_FORMAT);
}

static void damage_is_no_more_than_an_error(void **state)
{
    (void)state;
    const struct writer good = good_table();
    struct cts_cuda_table table;
    struct cts_error error;
    for (size_t size = 0; size < good.size; size++) {
        uint8_t *const part = malloc(size ? size : 1); /* so that a read behind it is seen */
        assert_non_null(part);
        memcpy(part, good.bytes, size);
        assert_int_not_equal(cts_cuda_table_read(part, size, &table, &error), CTS_OK);
        free(part);
    }
    for (size_t i = 0; i < good.size; i++)
        for (unsigned value = 0; value < 256; value += 51) {
            struct writer bad = good;
            bad.bytes[i] = (uint8_t)value;
            if (cts_cuda_table_read(bad.bytes, bad.size, &table, &error) == CTS_OK)
                cts_cuda_table_release(&table);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_is_read),
        cmocka_unit_test(another_version_is_refused),
        cmocka_unit_test(numbers_are_checked),
        cmocka_unit_test(damage_is_no_more_than_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
