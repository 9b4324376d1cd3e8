#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"

/* What a piece of writing comes to. */
static void assert_json(void (*write)(struct cts_json *json), const char *expected)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const file = open_memstream(&text, &size);
    struct cts_json json;
    struct cts_error error = {0};
    cts_json_begin(&json, file);
    write(&json);
    assert_int_equal(cts_json_end(&json, &error), CTS_OK);
    assert_int_equal(json.depth, 0);
    fclose(file);
    assert_string_equal(text, expected);
    free(text);
}

static void write_numbers(struct cts_json *json)
{
    cts_json_open_array_row(json);
    cts_json_u64(json, UINT64_MAX);
    cts_json_i64(json, INT64_MIN);
    cts_json_double(json, 0.1);
    cts_json_double(json, 1.0 / 3);
    cts_json_double(json, 1e300);
    cts_json_double(json, NAN);
    cts_json_double(json, -INFINITY);
    cts_json_bool(json, true);
    cts_json_null(json);
    cts_json_hex(json, 0xdeadbeef00000001);
    cts_json_close_array(json);
}

static void numbers_keep_all_their_digits(void **state)
{
    (void)state;
    assert_json(write_numbers, "[18446744073709551615, -9223372036854775808, 0.1, "
                               "0.3333333333333333, 1e+300, null, null, true, null, "
                               "\"0xdeadbeef00000001\"]\n");
}

static void write_whole_numbers(struct cts_json *json)
{
    cts_json_open_array_row(json);
    cts_json_u64(json, 0);
    cts_json_i64(json, INT64_MAX);
    cts_json_i64(json, -7);
    cts_json_double(json, 0.0);
    cts_json_double(json, -0.0);
    cts_json_double(json, -12);
    cts_json_double(json, 999999999999999);
    cts_json_double(json, 1e15);
    cts_json_double(json, 9007199254740993.0);
    cts_json_double(json, -1e19);
    cts_json_double(json, 0.99995);
    cts_json_close_array(json);
}

/* As printf's %.15g to %.17g write them. */
static void whole_numbers_are_their_digits(void **state)
{
    (void)state;
    assert_json(write_whole_numbers,
                "[0, 9223372036854775807, -7, 0, -0, -12, 999999999999999, 1e+15, "
                "9007199254740992, -1e+19, 0.99995]\n");
}

static void write_texts(struct cts_json *json)
{
    cts_json_open_array_row(json);
    cts_json_string(json, "a\"b\\c\n\t\x01\x7f");
    cts_json_string(json, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"); /* two, three, four bytes */
    cts_json_string(json, "x\xffy\xc3");                           /* stray, cut off */
    cts_json_string(json, "\xc0\xaf\xed\xa0\x80");                 /* overlong, surrogate */
    cts_json_string(json, NULL);
    cts_json_string(json, "");
    cts_json_close_array(json);
}

static void texts_are_escaped_and_well_formed(void **state)
{
    (void)state;
    assert_json(write_texts, "[\"a\\\"b\\\\c\\n\\t\\u0001\\u007f\", "
                             "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\", \"x\\ufffdy\\ufffd\", "
                             "\"\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\", null, \"\"]\n");
}

static void write_nested(struct cts_json *json)
{
    cts_json_open_object(json);
    cts_json_member_u64(json, "one", 1);
    cts_json_key(json, "rows");
    cts_json_open_array(json);
    for (int i = 0; i < 2; i++) {
        cts_json_open_object_row(json);
        cts_json_member_i64(json, "i", i);
        cts_json_key(json, "list");
        cts_json_open_array(json);
        cts_json_u64(json, 1);
        cts_json_u64(json, 2);
        cts_json_close_array(json);
        cts_json_close_object(json);
    }
    cts_json_close_array(json);
    cts_json_key(json, "none");
    cts_json_open_array(json);
    cts_json_close_array(json);
    cts_json_close_object(json);
}

static void containers_are_laid_out(void **state)
{
    (void)state;
    assert_json(write_nested, "{\n"
                              "  \"one\": 1,\n"
                              "  \"rows\": [\n"
                              "    {\"i\": 0, \"list\": [1, 2]},\n"
                              "    {\"i\": 1, \"list\": [1, 2]}\n"
                              "  ],\n"
                              "  \"none\": []\n"
                              "}\n");
}

static void a_full_device_is_noticed(void **state)
{
    (void)state;
    FILE *const file = fopen("/dev/full", "w");
    assert_non_null(file);
    struct cts_json json;
    struct cts_error error = {0};
    cts_json_begin(&json, file);
    cts_json_u64(&json, 1);
    assert_int_equal(cts_json_end(&json, &error), CTS_IO);
    assert_string_equal(error.text, "cannot write the JSON output: No space left on device");
    fclose(file);
}

static void what_failed_may_be_open(void **state)
{
    (void)state;
    FILE *const file = fopen("/dev/null", "w");
    assert_non_null(file);
    struct cts_json json;
    struct cts_error error = {0};
    cts_json_begin(&json, file);
    cts_json_open_object(&json);
    cts_json_key(&json, "rows");
    (void)cts_fail(&error, CTS_MEMORY, "no memory for rows");
    assert_int_equal(cts_json_end_after(&json, error.status, &error), CTS_MEMORY);
    assert_string_equal(error.text, "no memory for rows");
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_keep_all_their_digits),
        cmocka_unit_test(whole_numbers_are_their_digits),
        cmocka_unit_test(texts_are_escaped_and_well_formed),
        cmocka_unit_test(containers_are_laid_out),
        cmocka_unit_test(a_full_device_is_noticed),
        cmocka_unit_test(what_failed_may_be_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
