/* Names as people read them: demangled, short, cut, and still different. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/short-names.h"

static void expect_short(const char *name, const char *wanted)
{
    struct cts_short_names names;
    struct cts_error error;
    assert_int_equal(cts_short_names_make(&name, 1, &names, &error), CTS_OK);
    assert_string_equal(names.short_form[0], wanted);
    cts_short_names_release(&names);
}

static void short_forms(void **state)
{
    (void)state;
    expect_short("_Z11copy_kernelPfPKfii", "copy_kernel");
    expect_short("_Z6reduceIfLi256EEvPfi", "reduce<float, 256>");
    expect_short("void at::native::vectorized_elementwise_kernel<4, "
                 "at::native::FillFunctor<float>, std::array<char*, 1ul> >(int, "
                 "at::native::FillFunctor<float>, std::array<char*, 1ul>)",
                 "vectorized_elementwise_kernel<4, FillFunctor<float>>");
    expect_short(
        "void (anonymous namespace)::softmax_warp_forward<c10::BFloat16, float, 10, false, "
        "(bool)1>(float*, c10::BFloat16 const*, int)",
        "softmax_warp_forward<BFloat16, float, 10, false, true>");
    expect_short("void f<(int)4, (unsigned int)7, 3ul, -2l>(int)", "f<4, 7, 3, -2>");
    expect_short("std::vector<int, std::allocator<int> >::push_back(int&&)", "push_back");
    expect_short("app::run(int)::{lambda(int)#1}::operator()(int)", "{lambda(int)#1}::operator()");
    expect_short("app::Task::operator()(int)", "Task::operator()");
    expect_short("float* ns::find<ns::Key const*>(ns::Key const*)", "find<Key const*>");
    expect_short("void k<std::array<char*, 3ul> >()", "k");
}

/* What is not of C++ says what it says. */
static void other_names(void **state)
{
    static const char *const names[] = {"",
                                        "main",
                                        "int main",
                                        "!$omp for @jacobi_cuda.c:175",
                                        "!$omp critical <name> @a.c:2",
                                        "copy host to device",
                                        "$rot13",
                                        "cuMemcpyHtoD_v2",
                                        "_Znot mangled at all",
                                        "a < b",
                                        "ncclKernel_AllReduce_RING_LL_Sum_int8_t"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strchr(names[i], '>')) expect_short(names[i], names[i]);
}

/* Same short forms of different names: namespaces, then parameters come back; equal names stay. */
static void told_apart(void **state)
{
    (void)state;
    const char *const list[] = {"a::scale(float*)",
                                "b::scale(float*)",
                                "solve(int)",
                                "solve(double)",
                                "a::plain(int)",
                                "main",
                                "main"};
    struct cts_short_names names;
    struct cts_error error;
    assert_int_equal(cts_short_names_make(list, 7, &names, &error), CTS_OK);
    assert_string_equal(names.short_form[0], "a::scale");
    assert_string_equal(names.short_form[1], "b::scale");
    assert_string_equal(names.short_form[2], "solve(int)");
    assert_string_equal(names.short_form[3], "solve(double)");
    assert_string_equal(names.short_form[4], "plain");
    assert_string_equal(names.short_form[5], "main");
    assert_string_equal(names.short_form[6], "main");
    cts_short_names_release(&names);
}

/* Cut in the middle; what differs stays in sight, wherever it is. */
static void fitted(void **state)
{
    (void)state;
    const char *const list[] = {"a_long_name_of_a_kernel_that_begins_alike_one_and_ends_alike",
                                "a_long_name_of_a_kernel_that_begins_alike_two_and_ends_alike",
                                "a_long_name_of_a_kernel_that_begins_alike_and_ends_in_three",
                                "another_name_that_is_too_long_for_the_width", "short"};
    struct cts_short_names names;
    struct cts_error error;
    char texts[5][27];
    assert_int_equal(cts_short_names_make(list, 5, &names, &error), CTS_OK);
    for (size_t i = 0; i < 5; i++) {
        (void)cts_short_name_fitted(&names, i, texts[i], sizeof texts[i]);
        assert_true(strlen(texts[i]) < sizeof texts[i]);
        for (size_t k = 0; k < i; k++) assert_string_not_equal(texts[i], texts[k]);
    }
    assert_non_null(strstr(texts[0], "one"));
    assert_non_null(strstr(texts[1], "two"));
    assert_non_null(strstr(texts[2], "three"));
    assert_non_null(strstr(texts[3], ".."));
    assert_string_equal(texts[4], "short");
    cts_short_names_release(&names);
}

/* One difference tells a name from the second, another from the third; a letter at the end is none
 * to rely on. */
static void fitted_by_several(void **state)
{
    (void)state;
    const char *const list[] = {
        "a_long_name_of_a_kernel<A, 1, and_more_that_is_the_same<float>>",
        "a_long_name_of_a_kernel<B, 1, and_more_that_is_the_same<float>>",
        "a_long_name_of_a_kernel<A, 1, and_more_that_is_not_the_same<float>>"};
    struct cts_short_names names;
    struct cts_error error;
    char texts[3][31];
    assert_int_equal(cts_short_names_make(list, 3, &names, &error), CTS_OK);
    for (size_t i = 0; i < 3; i++) {
        (void)cts_short_name_fitted(&names, i, texts[i], sizeof texts[i]);
        for (size_t k = 0; k < i; k++) assert_string_not_equal(texts[i], texts[k]);
    }
    cts_short_names_release(&names);
    const char *const functors[] = {"vectorized_elementwise_kernel<4, CUDAFunctor_add<float>>",
                                    "vectorized_elementwise_kernel<4, binary_MulFunctor<float>>"};
    assert_int_equal(cts_short_names_make(functors, 2, &names, &error), CTS_OK);
    assert_non_null(
        strstr(cts_short_name_fitted(&names, 0, texts[0], sizeof texts[0]), "CUDAFunc"));
    assert_non_null(
        strstr(cts_short_name_fitted(&names, 1, texts[1], sizeof texts[1]), "binary_M"));
    cts_short_names_release(&names);
}

/* Broken brackets, every cut of a long name, all widths: nothing is read or written outside. */
static void hostile(void **state)
{
    static const char full[] = "void a::b<c<(d)1>, {lambda(int)#1}, operator<<, e->f>::g<\xc3\xa4>"
                               "(int (*)(char), h<i>) const";
    (void)state;
    for (size_t length = 0; length < sizeof full; length++)
        for (size_t from = 0; from < length; from += 3) {
            char *const part = strndup(full + from, length - from);
            const char *const list[] = {part, full};
            struct cts_short_names names;
            struct cts_error error;
            assert_int_equal(cts_short_names_make(list, 2, &names, &error), CTS_OK);
            for (size_t size = 8; size < 40; size++) {
                char *const buffer = malloc(size);
                assert_non_null(buffer);
                assert_true(strlen(cts_short_name_fitted(&names, 0, buffer, size)) < size);
                free(buffer);
            }
            cts_short_names_release(&names);
            free(part);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_forms),       cmocka_unit_test(other_names),
        cmocka_unit_test(told_apart),        cmocka_unit_test(fitted),
        cmocka_unit_test(fitted_by_several), cmocka_unit_test(hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
