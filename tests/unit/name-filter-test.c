/* Which kernels --kernel-name wants. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/name-filter.h"

static bool takes(const char *wanted, const char *name, const char *mangled)
{
    struct cts_name_filter filter;
    struct cts_error error;
    if (cts_name_filter_make(&filter, wanted, &error)) fail_msg("%s", error.text);
    const bool result = cts_name_filter_takes_kernel(&filter, name, mangled);
    cts_name_filter_release(&filter);
    return result;
}

static void test_names_with_and_without_parameters(void **state)
{
    (void)state;
    assert_true(takes(NULL, "add(int *)", "_Z3addPi"));
    assert_true(takes("add", "add(int *)", "_Z3addPi"));
    assert_true(takes("add(int *)", "add(int *)", "_Z3addPi"));
    assert_true(takes("_Z3addPi", "add(int *)", "_Z3addPi"));
    assert_true(takes("add", "add<float>(float *)", "_Z3addIfEvPT_"));
    assert_true(takes("add", "add", "add"));
    assert_false(takes("ad", "add(int *)", "_Z3addPi"));
    assert_false(takes("add", "add_all(int *)", "_Z7add_allPi"));
    assert_false(takes("add(int", "add(int *)", "_Z3addPi"));
    assert_false(takes("", "add(int *)", "_Z3addPi"));
}

/* As tables print names. */
static void test_namespaces_may_be_left_out(void **state)
{
    (void)state;
    assert_true(takes("add", "a::b::add(int *)", "_ZN1a1b3addEPi"));
    assert_true(takes("b::add", "a::b::add(int *)", "_ZN1a1b3addEPi"));
    assert_true(takes("a::b::add", "a::b::add(int *)", "_ZN1a1b3addEPi"));
    assert_true(takes("add<2>", "a::add<2>(int *)", "_ZN1a3addILi2EEEvPi"));
    assert_true(takes("add", "a::(anonymous namespace)::add(int *)", "_ZN1a12_GLOBAL__N_13addEPi"));
    assert_true(takes("add", "(anonymous namespace)::add<x::y>()", "_ZN12_GLOBAL__N_13addEv"));
    assert_false(takes("a::add", "a::b::add(int *)", "_ZN1a1b3addEPi"));
    assert_false(takes("a", "a::add(int *)", "_ZN1a3addEPi"));
    assert_false(takes("dd", "a::add(int *)", "_ZN1a3addEPi"));
    assert_false(takes("x", "a::add<b::x>(b::x)", "_ZN1a3addIN1b1xEEEvT_"));
    assert_false(takes("x", "add(b::x)", "_Z3addN1b1xE"));
    assert_false(takes("", "a::add(int *)", "_ZN1a3addEPi"));
}

static void test_expressions_are_found_anywhere_in_the_name(void **state)
{
    (void)state;
    assert_true(takes("regex:dd", "add(int *)", "_Z3addPi"));
    assert_true(takes("regex:^(add|sub)\\(", "sub(int *)", "_Z3subPi"));
    assert_false(takes("regex:^dd", "add(int *)", "_Z3addPi"));
    assert_false(takes("regex:_Z3", "add(int *)", "_Z3addPi")); /* not in the mangled one */
}

static void test_what_is_no_expression_is_said(void **state)
{
    (void)state;
    struct cts_name_filter filter;
    struct cts_error error = {0};
    assert_int_equal(cts_name_filter_make(&filter, "regex:a(b", &error), CTS_USAGE);
    assert_true(strlen(error.text) > 0);
    assert_null(strstr(error.text, "regex:"));
    assert_int_equal(cts_name_filter_make(&filter, "a(b", &error), CTS_OK); /* a name */
    cts_name_filter_release(&filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_with_and_without_parameters),
        cmocka_unit_test(test_namespaces_may_be_left_out),
        cmocka_unit_test(test_expressions_are_found_anywhere_in_the_name),
        cmocka_unit_test(test_what_is_no_expression_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
