/* What is read from a cubin, and that a damaged one harms nobody. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/inject/memory/cubin.c" /* the library around it needs the Sanitizer's headers */

static uint8_t *read_fixture(size_t *size)
{
    char path[4096];
    const char *const slash = strrchr(__FILE__, '/');
    snprintf(path, sizeof path, "%.*s/../fixtures/cubin/kernels.cubin", (int)(slash - __FILE__),
             __FILE__);
    FILE *const file = fopen(path, "rb");
    if (!file) fail_msg("cannot open '%s'", path);
    uint8_t *const bytes = malloc(1 << 20);
    assert_non_null(bytes);
    *size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

static void test_functions_and_lines(void **state)
{
    (void)state;
    size_t size;
    struct cts_cubin cubin;
    struct cts_error error = {0};
    uint8_t *const bytes = read_fixture(&size);
    if (cts_cubin_read(bytes, size, &cubin, &error)) fail_msg("%s", error.text);
    assert_int_equal(cubin.function_count, 2);
    const struct cts_cubin_function *const plain = cts_cubin_find(&cubin, "_Z5plainPKfPf");
    const struct cts_cubin_function *const bar = cts_cubin_find(&cubin, "_Z3barPKfPf");
    assert_non_null(plain);
    assert_non_null(bar);
    assert_null(cts_cubin_find(&cubin, "_Z6helperPKfi"));
    assert_false(plain->may_have_barriers);
    assert_true(bar->may_have_barriers);
    assert_int_equal(plain->static_shared_bytes, 0);
    assert_int_equal(bar->static_shared_bytes, 64 * sizeof(float));
    assert_true(plain->registers > 0 && bar->registers > 0);
    assert_int_equal(cubin.file_count, 1);
    assert_non_null(strstr(cubin.files[0], "kernels.cu"));
    uint32_t least = UINT32_MAX, most = 0;
    for (uint64_t offset = 0; offset < 0x200; offset += 16) {
        const struct cts_cubin_line *const line = cts_cubin_line_at(&cubin, bar, offset);
        if (!line) continue;
        least = line->line < least ? line->line : least;
        most = line->line > most ? line->line : most;
    }
    assert_true(least >= 12 && most <= 12 + 6 && least < most);
    cts_cubin_release(&cubin);
    free(bytes);
}

static void test_damaged_ones_harm_nobody(void **state)
{
    (void)state;
    size_t size;
    uint8_t *const bytes = read_fixture(&size);
    uint32_t random = 1;
    for (int round = 0; round < 3000; round++) {
        random = random * 1664525u + 1013904223u;
        const size_t part = round % 3 ? size : random % size;
        uint8_t *const copy = malloc(part + 1); /* so that a sanitizer sees its end */
        assert_non_null(copy);
        memcpy(copy, bytes, part);
        for (int i = 0; i < 1 + round % 9 && part; i++) {
            random = random * 1664525u + 1013904223u;
            copy[(random >> 8) % part] = (uint8_t)random;
        }
        struct cts_cubin cubin;
        struct cts_error error;
        if (cts_cubin_read(copy, part, &cubin, &error) == CTS_OK) {
            for (size_t f = 0; f < cubin.function_count; f++)
                (void)cts_cubin_line_at(&cubin, &cubin.functions[f], random % 4096);
            cts_cubin_release(&cubin);
        }
        free(copy);
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions_and_lines),
        cmocka_unit_test(test_damaged_ones_harm_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
