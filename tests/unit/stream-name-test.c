#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "trace/stream-name.h"

static struct cts_cuda_stream streams[] = {
    {.stream = 0, .kind = "blocking"},
    {.stream = 1, .kind = "legacy default"},
    {.stream = 2, .kind = NULL}, /* an id that a killed process reserved */
    {.stream = 3, .kind = "non-blocking"},
    {.stream = 4, .device = 1, .kind = "per-thread default"},
    {.stream = 5, .device = 1, .kind = "legacy default"},
    {.stream = 6, .rank = 1, .kind = "blocking"},
};
static struct cts_device devices[] = {{.device = 0}, {.rank = 1, .device = 0}, {.device = 1}};

/* The first `device_count` of the devices. */
static struct cts_catalogue catalogue_of(size_t device_count)
{
    struct cts_catalogue catalogue = {.streams = streams,
                                      .stream_count = sizeof streams / sizeof *streams,
                                      .devices = devices,
                                      .device_count = device_count};
    struct cts_error error;
    assert_int_equal(cts_cuda_stream_number_all(&catalogue, &error), CTS_OK);
    return catalogue;
}

#define ASSERT_NAME(catalogue, stream, expected_name, expected_cell)                               \
    do {                                                                                           \
        char text[CTS_STREAM_NAME_BYTES];                                                          \
        assert_string_equal(cts_cuda_stream_name(catalogue, stream, text), expected_name);         \
        assert_string_equal(cts_cuda_stream_cell(catalogue, stream, text), expected_cell);         \
    } while (0)

/* Only the default stream could be taken for CUDA's stream 0. */
static void test_one_device(void **state)
{
    (void)state;
    const struct cts_catalogue c = catalogue_of(2);
    ASSERT_NAME(&c, 0, "stream 1", "1");
    ASSERT_NAME(&c, 1, "the default stream", "default");
    ASSERT_NAME(&c, 2, "an unknown stream", "?");
    ASSERT_NAME(&c, 3, "stream 2", "2");
    ASSERT_NAME(&c, 6, "stream 1", "1"); /* each rank counts its own */
}

static void test_several_devices(void **state)
{
    (void)state;
    const struct cts_catalogue c = catalogue_of(3);
    ASSERT_NAME(&c, 0, "stream 1 of device 0", "1 of device 0");
    ASSERT_NAME(&c, 4, "stream 1 of device 1", "1 of device 1");
    ASSERT_NAME(&c, 5, "the default stream of device 1", "default of device 1");
}

static void test_streams_that_are_not_there(void **state)
{
    (void)state;
    const struct cts_catalogue c = catalogue_of(1);
    ASSERT_NAME(&c, 7, "an unknown stream", "?");
    ASSERT_NAME(&c, CTS_NONE, "an unknown stream", "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_device),
        cmocka_unit_test(test_several_devices),
        cmocka_unit_test(test_streams_that_are_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
