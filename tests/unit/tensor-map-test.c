/* Tensor maps that programs had on an H200. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "record/inject/cubin/tensor-map.h"

static struct cts_tensor_map decoded(const uint32_t words[16])
{
    struct cts_tensor_map map = {0};
    assert_true(cts_tensor_map_decode(words, &map));
    return map;
}

/* cuTensorMapEncodeTiled: 256 rows of 512 floats, boxes of 64 x 16. */
static void test_plain_map(void **state)
{
    const uint32_t words[16] = {0xafe00000, 0x7fd7, 0x390, 0x80, 0, 0,          0, 0,
                                511,        255,    0,     0,    0, 0x3f000000, 15};
    (void)state;
    const struct cts_tensor_map map = decoded(words);
    assert_int_equal(map.address, 0x7fd7afe00000);
    assert_string_equal(map.element_type, "f32");
    assert_int_equal(map.element_bytes, 4);
    assert_int_equal(map.dimensions, 2);
    assert_int_equal(map.size[0], 512);
    assert_int_equal(map.size[1], 256);
    assert_int_equal(map.size[2], 1);
    assert_int_equal(map.stride_bytes[0], 4);
    assert_int_equal(map.stride_bytes[1], 2048);
    assert_int_equal(map.stride_bytes[2], 0);
    assert_int_equal(map.box[0], 64);
    assert_int_equal(map.box[1], 16);
    assert_false(map.im2col || map.interleaved);
    assert_int_equal(map.swizzle_bytes, 0);
}

/* cuBLAS leaves a stride behind the last dimension but one, and sets a bit that the driver does
 * not. */
static void test_map_of_cublas(void **state)
{
    const uint32_t words[16] = {0xbc000000, 0x7f20, 0x46522, 0x200, 0, 0x10000000, 0,   0,
                                0xfff,      0xfff,  0,       0,     0, 0x3f000000, 0x7f};
    (void)state;
    const struct cts_tensor_map map = decoded(words);
    assert_string_equal(map.element_type, "bf16");
    assert_int_equal(map.dimensions, 3);
    assert_int_equal(map.size[1], 4096);
    assert_int_equal(map.stride_bytes[1], 8192);
    assert_int_equal(map.stride_bytes[3], 0);
    assert_int_equal(map.box[1], 128);
    assert_int_equal(map.box[2], 1);
    assert_int_equal(map.swizzle_bytes, 128);
}

static void test_im2col_map_of_cudnn(void **state)
{
    const uint32_t words[16] = {0x26800000, 0x7f1d, 0x46543, 8, 0x1c0, 0x6200,     0x6200,     0,
                                63,         55,     55,      0, 7,     0x3f000000, 0x03ff03ff, 63};
    (void)state;
    const struct cts_tensor_map map = decoded(words);
    assert_true(map.im2col);
    assert_int_equal(map.dimensions, 5);
    assert_int_equal(map.size[4], 8);
    assert_int_equal(map.stride_bytes[4], 0x62000);
    assert_int_equal(map.box[0], 64);
    assert_int_equal(map.box[1], 1);
}

static void test_other_bytes_are_no_map(void **state)
{
    static const struct {
        int word;
        uint32_t value;
    } wrong[] = {{0, 0xafe00008} /* alignment */, {1, 0x2000000} /* address */,
                 {2, 0x80390} /* no bit */,       {2, 0x3d0} /* 6 dimensions */,
                 {2, 0x590} /* type 11 */,        {2, 0x1b90} /* interleave 3 */,
                 {10, 1} /* beyond dimensions */, {13, 0x3f008000} /* no bit */};
    const uint32_t words[16] = {0xafe00000, 0x7fd7, 0x390, 0x80, 0, 0,          0, 0,
                                511,        255,    0,     0,    0, 0x3f000000, 15};
    const uint32_t pointer[16] = {0xbc000000, 0x7f20};
    struct cts_tensor_map map;
    (void)state;
    assert_false(cts_tensor_map_decode(pointer, &map));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint32_t changed[16];
        memcpy(changed, words, sizeof changed);
        changed[wrong[i].word] = wrong[i].value;
        if (cts_tensor_map_decode(changed, &map)) fail_msg("case %zu is taken for a map", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_map),
        cmocka_unit_test(test_map_of_cublas),
        cmocka_unit_test(test_im2col_map_of_cudnn),
        cmocka_unit_test(test_other_bytes_are_no_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
