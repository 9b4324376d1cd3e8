/* Fat binaries, byte for byte, and what device code calls that is nowhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cc/cc-fatbin.h"

static uint64_t number_at(const struct cts_buffer *buffer, size_t at, size_t byte_count)
{
    uint64_t value = 0;
    assert_true(at + byte_count <= buffer->size_bytes);
    for (size_t i = byte_count; i-- > 0;) value = value << 8 | buffer->data[at + i];
    return value;
}

/* As NVIDIA's own program writes it, uncompressed, for a text whose length is each of 8 .. 24. */
static void test_layout(void **state)
{
    (void)state;
    struct cts_error error = {0};
    for (size_t more = 0; more <= 16; more++) {
        char ptx[64] = ".version 8.3\n................";
        ptx[13 + more] = '\0';
        const size_t length = strlen(ptx), image = (length + 8) / 8 * 8;
        struct cts_buffer out = {0};
        assert_int_equal(cc_fatbin(ptx, "sm_75", &out, &error), CTS_OK);
        assert_int_equal(out.size_bytes, 16 + 80 + image);
        assert_int_equal(number_at(&out, 0, 8), 0x00100001BA55ED50);
        assert_int_equal(number_at(&out, 8, 8), 80 + image);
        assert_int_equal(number_at(&out, 16, 8), 0x0000005001010001);
        assert_int_equal(number_at(&out, 24, 8), image);
        assert_int_equal(number_at(&out, 32, 8), UINT64_C(64) << 32);
        assert_int_equal(number_at(&out, 40, 8), 75ULL << 32 | 8 << 16 | 3);
        assert_int_equal(number_at(&out, 48, 8), 0);
        assert_int_equal(number_at(&out, 56, 8), 0x11);
        assert_int_equal(number_at(&out, 64, 8), 0);
        assert_int_equal(number_at(&out, 72, 8), 0);
        assert_int_equal(number_at(&out, 80, 8), 72);
        assert_int_equal(number_at(&out, 88, 8), 0);
        assert_memory_equal(out.data + 96, ptx, length);
        for (size_t i = 96 + length; i < out.size_bytes; i++) assert_int_equal(out.data[i], 0);
        cts_buffer_release(&out);
    }
}

static void test_architectures(void **state)
{
    (void)state;
    struct cts_error error = {0};
    struct cts_buffer out = {0};
    static const char *const wrong[] = {"sm_", "90", "sm_90x", "sm_1000", "sm_90aa", ""};
    assert_int_equal(cc_fatbin(".version 8.0\n", "sm_90a", &out, &error), CTS_OK);
    assert_int_equal(number_at(&out, 44, 4), 90);
    assert_int_equal(number_at(&out, 56, 8), 0x100011);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(cc_fatbin(".version 8.0\n", wrong[i], &out, &error), CTS_FORMAT);
    static const char *const no_ptx[] = {"", ".version", ".version x.1", ".version 8",
                                         ".version 8,1"};
    for (size_t i = 0; i < sizeof no_ptx / sizeof *no_ptx; i++)
        assert_int_equal(cc_fatbin(no_ptx[i], "sm_75", &out, &error), CTS_FORMAT);
    cts_buffer_release(&out);
}

static void test_missing_functions(void **state)
{
    (void)state;
    char name[8];
    static const struct {
        const char *ptx, *missing;
    } cases[] = {
        {"", NULL},
        {".extern .shared .align 4 .b8 x[];\n.visible .func f()", NULL},
        {".extern .func  (.param .b32 r) vprintf\n(\n", NULL},
        {".extern .func free\n(", NULL},
        {".extern .func  (.param .b64 r) j0\n(\n", "j0"},
        {".extern .func malloc\n(\n)\n.extern .func (.param .b32 r)\ncosf(", "cosf"},
        {".extern .func _Z5thereiii$(", "_Z5ther"},
        {".extern .func mallocs\n", "mallocs"},
        {".extern .func  (.param .b64 r", NULL},
        {".extern .func ", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bool found = cc_ptx_missing(cases[i].ptx, name, sizeof name);
        assert_int_equal(found, cases[i].missing != NULL);
        if (found) assert_string_equal(name, cases[i].missing);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_architectures),
        cmocka_unit_test(test_missing_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
