/* The CTASCOPE_* variables. */
#include "kernels.h"

#include "record/cpu/runtime/environment.h"

static void unset_all(void)
{
    static const char *const names[] = {
        "DEVICES",       "SM_COUNT",           "MEMORY",     "SHARED_MEMORY", "WORKERS",
        "STACK",         "DETERMINISTIC",      "SPIN_LIMIT", "RUN",           "KERNEL_NAME",
        "LAUNCH_SKIP",   "LAUNCH_COUNT",       "CTA_SAMPLE", "MAX_SIZE",      "VALUES",
        "HOST_ACCESSES", "PROFILE_FROM_START", "ACCESSES",   "TIMELINE"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char name[64] = "CTASCOPE_";
        strncat(name, names[i], 40);
        unsetenv(name);
    }
}

static void defaults(void **state)
{
    (void)state;
    struct cts_environment environment;
    unset_all();
    assert_int_equal(cts_environment_read(&environment, NULL), CTS_OK);
    assert_int_equal(environment.device_count, 1);
    assert_int_equal(environment.cta_sample, 1);
    assert_true(environment.launch_count == UINT64_MAX);
    assert_null(environment.run_path);
    assert_true(environment.profile_from_start);
    assert_true(environment.accesses);
    assert_false(environment.timeline);
    assert_int_equal(environment.shared_bytes, 227 << 10);
}

static void good_values(void **state)
{
    (void)state;
    struct cts_environment environment;
    unset_all();
    setenv("CTASCOPE_MEMORY", "2G", 1);
    setenv("CTASCOPE_SHARED_MEMORY", "96KiB", 1);
    setenv("CTASCOPE_MAX_SIZE", "1500000", 1);
    setenv("CTASCOPE_CTA_SAMPLE", "1/8", 1);
    setenv("CTASCOPE_LAUNCH_SKIP", "3", 1);
    setenv("CTASCOPE_DETERMINISTIC", "1", 1);
    setenv("CTASCOPE_PROFILE_FROM_START", "0", 1);
    setenv("CTASCOPE_ACCESSES", "0", 1);
    setenv("CTASCOPE_TIMELINE", "1", 1);
    setenv("CTASCOPE_RUN", "/tmp/r", 1);
    assert_int_equal(cts_environment_read(&environment, NULL), CTS_OK);
    assert_int_equal(environment.memory_bytes, (uint64_t)2 << 30);
    assert_int_equal(environment.shared_bytes, 96 << 10);
    assert_int_equal(environment.max_size_bytes, 1500000);
    assert_int_equal(environment.cta_sample, 8);
    assert_int_equal(environment.launch_skip, 3);
    assert_true(environment.deterministic);
    assert_false(environment.profile_from_start);
    assert_false(environment.accesses);
    assert_true(environment.timeline);
    assert_string_equal(environment.run_path, "/tmp/r");
}

static void bad_values_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value, *text;
    } cases[] = {
        {"CTASCOPE_CTA_SAMPLE", "0", "CTASCOPE_CTA_SAMPLE='0' is not between 1 and 4294967295"},
        {"CTASCOPE_CTA_SAMPLE", "1/0", "CTASCOPE_CTA_SAMPLE='1/0' is not between 1 and 4294967295"},
        {"CTASCOPE_CTA_SAMPLE", "8/1", "CTASCOPE_CTA_SAMPLE='8/1' is not a number"},
        {"CTASCOPE_WORKERS", "-1", "CTASCOPE_WORKERS='-1' is not a number"},
        {"CTASCOPE_WORKERS", "4x", "CTASCOPE_WORKERS='4x' is not a number"},
        {"CTASCOPE_MEMORY", "99999999999999999999",
         "CTASCOPE_MEMORY='99999999999999999999' is not "
         "a number"},
        {"CTASCOPE_MEMORY", "17592186044416M", "CTASCOPE_MEMORY='17592186044416M' is not a number"},
        {"CTASCOPE_VALUES", "yes", "CTASCOPE_VALUES='yes' is not 0 or 1"},
        {"CTASCOPE_DEVICES", "17", "CTASCOPE_DEVICES='17' is not between 1 and 16"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cts_environment environment;
        struct cts_error error;
        unset_all();
        setenv(cases[i].name, cases[i].value, 1);
        setenv("CTASCOPE_SM_COUNT", "9", 1);
        assert_int_equal(cts_environment_read(&environment, &error), CTS_USAGE);
        assert_string_equal(error.text, cases[i].text);
        assert_int_equal(environment.sm_count, 9); /* the others count all the same */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(good_values),
        cmocka_unit_test(bad_values_are_named),
    };
    return cmocka_run_group_tests_name("environment", tests, NULL, NULL);
}
