/* What is read from a cubin, and that a damaged one harms nobody. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/inject/cubin/cubin.h"

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

static void test_functions_and_lines(void **state)
{
    (void)state;
    size_t size;
    struct cts_cubin cubin;
    struct cts_error error = {0};
    uint8_t *const bytes = read_fixture("kernels.cubin", &size);
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

/* variables.cubin: float scale[64] of a device, int weights[16] constant, double total managed, a
 * static int counter. */
static void test_variables(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t size_bytes;
        bool is_constant, is_managed;
    } expected[] = {
        {"scale", 256, false, false},
        {"weights", 64, true, false},
        {"counter", 4, false, false},
        {"total", 8, false, true},
    };
    size_t size;
    struct cts_cubin cubin;
    struct cts_error error = {0};
    uint8_t *const bytes = read_fixture("variables.cubin", &size);
    if (cts_cubin_read(bytes, size, &cubin, &error)) fail_msg("%s", error.text);
    assert_int_equal(cubin.variable_count, 4);
    for (size_t i = 0; i < 4; i++) {
        size_t v = 0;
        while (v < 4 && strcmp(cubin.variables[v].name, expected[i].name) != 0) v++;
        if (v == 4) fail_msg("no %s", expected[i].name);
        assert_int_equal(cubin.variables[v].size_bytes, expected[i].size_bytes);
        assert_int_equal(cubin.variables[v].is_constant, expected[i].is_constant);
        assert_int_equal(cubin.variables[v].is_managed, expected[i].is_managed);
    }
    cts_cubin_release(&cubin);
    free(bytes);
}

/* inlined.cubin: calls that were inlined, a function that was not, instructions that are marked. */
static void expect_calls(const struct cts_cubin *cubin, const struct cts_cubin_line *line,
                         const char *expected)
{
    char text[200] = "";
    for (uint32_t c = line->call; c != CTS_CUBIN_NONE; c = cubin->calls[c].parent) {
        const size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, "%s %u;",
                 cts_cubin_callee(cubin, cubin->calls + c), cubin->calls[c].line);
    }
    assert_string_equal(text, expected);
}

static void test_inlined_calls(void **state)
{
    (void)state;
    size_t size;
    struct cts_cubin cubin;
    struct cts_error error = {0};
    uint8_t *const bytes = read_fixture("inlined.cubin", &size);
    if (cts_cubin_read(bytes, size, &cubin, &error)) fail_msg("%s", error.text);
    assert_int_equal(cubin.capability, 90);
    const struct cts_cubin_function *const first = cts_cubin_find(&cubin, "_Z5firstPKfPf");
    assert_non_null(first);
    unsigned inlined = 0, own = 0, outside = 0;
    for (uint64_t offset = 0; offset < 0x200; offset += 16) {
        const struct cts_cubin_line *const line = cts_cubin_line_at(&cubin, first, offset);
        const struct cts_cubin_part *const part = cts_cubin_part_at(&cubin, first, offset);
        if (!line) continue;
        if (line->line == 4) expect_calls(&cubin, line, "_Z5innerPKfi 8;_Z6middlePKfi 17;");
        if (line->line == 17) expect_calls(&cubin, line, "");
        if (line->line == 12) assert_string_equal(part ? part->name : "none", "_Z7outsidePKfi");
        if (line->line <= 8 || line->line >= 15) assert_null(part);
        inlined += line->line == 4;
        own += line->line == 17;
        outside += line->line == 12;
    }
    assert_true(inlined > 0 && own > 0 && outside > 0);
    cts_cubin_release(&cubin);
    free(bytes);
}

static void test_marked_instructions(void **state)
{
    (void)state;
    size_t size, code_bytes;
    struct cts_cubin cubin;
    uint8_t *const bytes = read_fixture("inlined.cubin", &size);
    assert_int_equal(cts_cubin_read(bytes, size, &cubin, NULL), CTS_OK);
    const struct cts_cubin_function *const second = cts_cubin_find(&cubin, "_Z6secondPKfPfPjy");
    assert_non_null(second);
    char text[100] = "";
    for (uint64_t offset = 0; offset < 0x400; offset += 16) {
        const struct cts_cubin_mark *const mark = cts_cubin_mark_at(&cubin, second, offset);
        const struct cts_sass *const sass = mark ? &mark->sass : NULL;
        const size_t length = strlen(text);
        if (sass)
            snprintf(text + length, sizeof text - length, "%d %d;", sass->kind, sass->operation);
    }
    assert_string_equal(text, "9 0;1 7;1 10;"); /* a texture fetch, a maximum, compare-and-swap */
    const uint8_t *const code = cts_cubin_code(bytes, size, second, &code_bytes);
    assert_non_null(code);
    assert_true(code_bytes % 16 == 0 && code + code_bytes <= bytes + size);
    cts_cubin_release(&cubin);
    free(bytes);
}

static void expect_reached(const struct cts_cubin *cubin, const char *from,
                           const char *const *names, size_t count)
{
    bool reached[16] = {false};
    size_t reached_count = 0;
    assert_true(cubin->function_count <= 16);
    cts_cubin_reach(cubin, cts_cubin_find(cubin, from), reached);
    for (size_t f = 0; f < cubin->function_count; f++) reached_count += reached[f];
    assert_int_equal(reached_count, count);
    for (size_t i = 0; i < count; i++)
        assert_true(reached[cts_cubin_find(cubin, names[i]) - cubin->functions]);
}

static void test_called_functions(void **state)
{
    (void)state;
    size_t size;
    struct cts_cubin cubin;
    uint8_t *const bytes = read_fixture("called.cubin", &size);
    static const char *const all[] = {"_Z5callsPKfPf", "_Z6branchPKfi", "_Z4leafPKfi"};
    static const char *const one[] = {"_Z5alonePf"};
    assert_int_equal(cts_cubin_read(bytes, size, &cubin, NULL), CTS_OK);
    expect_reached(&cubin, all[0], all, 3);
    expect_reached(&cubin, all[1], all + 1, 2);
    expect_reached(&cubin, one[0], one, 1);
    for (size_t f = 0; f < cubin.function_count; f++)
        assert_false(cubin.functions[f].launches_kernels);
    cts_cubin_release(&cubin);
    free(bytes);
}

static void look_at(const struct cts_cubin *cubin, const struct cts_cubin_function *function,
                    uint64_t offset)
{
    const struct cts_cubin_line *const line = cts_cubin_line_at(cubin, function, offset);
    for (uint32_t c = line ? line->call : CTS_CUBIN_NONE; c != CTS_CUBIN_NONE;
         c = cubin->calls[c].parent)
        (void)strlen(cts_cubin_callee(cubin, cubin->calls + c));
    (void)cts_cubin_mark_at(cubin, function, offset);
    bool *const reached = calloc(cubin->function_count, sizeof *reached);
    assert_non_null(reached);
    cts_cubin_reach(cubin, function, reached);
    free(reached);
    (void)cts_cubin_part_at(cubin, function, offset);
}

static void damage(const char *name)
{
    size_t size;
    uint8_t *const bytes = read_fixture(name, &size);
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
                look_at(&cubin, &cubin.functions[f], random % 4096);
            cts_cubin_release(&cubin);
        }
        free(copy);
    }
    free(bytes);
}

static void test_damaged_ones_harm_nobody(void **state)
{
    (void)state;
    damage("kernels.cubin");
    damage("inlined.cubin");
    damage("called.cubin");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions_and_lines), cmocka_unit_test(test_variables),
        cmocka_unit_test(test_inlined_calls),       cmocka_unit_test(test_marked_instructions),
        cmocka_unit_test(test_called_functions),    cmocka_unit_test(test_damaged_ones_harm_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
