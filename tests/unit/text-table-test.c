#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text-table.h"
#include "random.h"

static void columns_are_aligned(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size = 0;
    FILE *const file = open_memstream(&text, &size);
    struct cts_text_table table = {.indent = 2};
    cts_text_table_column(&table, "name", CTS_LEFT);
    cts_text_table_column(&table, "n", CTS_RIGHT);
    cts_text_table_column(&table, "where", CTS_LEFT);
    cts_text_table_cell(&table, "%s", "\xc3\xa9t\xc3\xa9"); /* three columns in five bytes */
    cts_text_table_cell(&table, "%d", 1234);
    cts_text_table_cell(&table, "%s", "a\nb\x1b[31m");
    cts_text_table_cell(&table, "%s", "");
    cts_text_table_cell(&table, "%d", 5);
    cts_text_table_cell(&table, "%s", "c");
    struct cts_error error;
    assert_int_equal(cts_text_table_print(&table, file, &error), CTS_OK);
    fclose(file);
    assert_string_equal(text, "  name     n  where\n"
                              "  \xc3\xa9t\xc3\xa9   1234  a?b?[31m\n"
                              "           5  c\n");
    cts_text_table_release(&table);
    free(text);
}

static void sizes_have_three_digits(void **state)
{
    (void)state;
    assert_string_equal(cts_bytes_text(0).text, "0 B");
    assert_string_equal(cts_bytes_text(1023).text, "1023 B");
    assert_string_equal(cts_bytes_text(1024).text, "1.00 KiB");
    assert_string_equal(cts_bytes_text(1536).text, "1.50 KiB");
    assert_string_equal(cts_bytes_text(12600).text, "12.3 KiB");
    assert_string_equal(cts_bytes_text((1 << 20) - 1).text, "1.00 MiB");
    assert_string_equal(cts_bytes_text((uint64_t)5 << 30).text, "5.00 GiB");
    assert_string_equal(cts_bytes_text(UINT64_MAX).text, "16.0 EiB");
}

/* Reads back as itself to half a unit of the fourth digit, without an exponent. */
static void reals_have_no_exponent(void **state)
{
    (void)state;
    assert_string_equal(cts_real_text(59190).text, "59,190");
    assert_string_equal(cts_real_text(9999.4).text, "9999");
    assert_string_equal(cts_real_text(9999.6).text, "10,000");
    assert_string_equal(cts_real_text(-12345.6).text, "-12,346");
    assert_string_equal(cts_real_text(0.5).text, "0.5");
    for (unsigned i = 0; i < 20000; i++) {
        const double value = (double)(random_u64() >> (11 + below(52))) / (i % 2 ? 1 : 1000);
        char plain[32];
        size_t length = 0;
        const struct cts_scaled text = cts_real_text(value);
        for (const char *at = text.text; *at; at++)
            if (*at != ',') plain[length++] = *at;
        plain[length] = 0;
        if (value >= 1e-4) assert_null(strchr(plain, 'e'));
        assert_true(fabs(strtod(plain, NULL) - value) <= 0.00051 * value);
    }
}

static void times_and_counts_are_scaled(void **state)
{
    (void)state;
    assert_string_equal(cts_time_text(999).text, "999 ns");
    assert_string_equal(cts_time_text(1000).text, "1.00 us");
    assert_string_equal(cts_time_text(999499).text, "999 us");
    assert_string_equal(cts_time_text(999500).text, "1.00 ms");
    assert_string_equal(cts_time_text(105000000000).text, "105 s");
    assert_string_equal(cts_count_text(0).text, "0");
    assert_string_equal(cts_count_text(999).text, "999");
    assert_string_equal(cts_count_text(1234567).text, "1,234,567");
    assert_string_equal(cts_count_text(UINT64_MAX).text, "18,446,744,073,709,551,615");
    assert_string_equal(cts_counted_text(1, "launch", "launches").text, "1 launch");
    assert_string_equal(cts_counted_text(2000, "launch", "launches").text, "2,000 launches");
    assert_string_equal(cts_percent_text(1, 8).text, "12.5%");
    assert_string_equal(cts_percent_text(1, 0).text, "-");
}

static void csv_fields_are_quoted_when_they_must_be(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size = 0;
    FILE *const file = open_memstream(&text, &size);
    const char *const fields[] = {"plain", "with, comma", "say \"hi\"", "two\nlines", "", NULL};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        cts_csv_field(file, fields[i]);
        fputc('|', file);
    }
    fclose(file);
    assert_string_equal(text, "plain|\"with, comma\"|\"say \"\"hi\"\"\"|\"two\nlines\"|||");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_aligned),
        cmocka_unit_test(sizes_have_three_digits),
        cmocka_unit_test(reals_have_no_exponent),
        cmocka_unit_test(times_and_counts_are_scaled),
        cmocka_unit_test(csv_fields_are_quoted_when_they_must_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
