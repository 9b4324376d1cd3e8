/* Which machine instructions the recorder knows: one of each kind, as the assembler of CUDA 13.0
 * made it. The first column is the PTX instruction and the architecture. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "record/inject/cubin/sass.h"
#include "trace/access.h"

static const struct {
    const char *name;
    uint64_t low, high;
    uint8_t kind, operation;
} samples[] = {
    {"atom.global.add.u32, 75", 0x00000002ff0209a8u, 0x000ea800081f4144u, CTS_SASS_ATOMIC,
     CTS_ATOMIC_ADD},
    {"red.global.add.u32, 75", 0x00000000ff00098eu, 0x000fe8000c114104u, CTS_SASS_ATOMIC,
     CTS_ATOMIC_ADD},
    {"atom.global.min.u32, 75", 0x00000000ff0079a8u, 0x004ea800089f4144u, CTS_SASS_ATOMIC,
     CTS_ATOMIC_MIN},
    {"red.global.min.u32, 75", 0x00000000ff00898eu, 0x0041e2000c914104u, CTS_SASS_ATOMIC,
     CTS_ATOMIC_MIN},
    {"atom.global.max.u32, 75", 0x00000000ff0079a8u, 0x004ea800091f4144u, CTS_SASS_ATOMIC,
     CTS_ATOMIC_MAX},
    {"red.global.max.u32, 75", 0x00000000ff00898eu, 0x0041e2000d114104u, CTS_SASS_ATOMIC,
     CTS_ATOMIC_MAX},
    {"atom.global.inc.u32, 75", 0x00000000ff0079a8u, 0x004ea800099f4144u, CTS_SASS_ATOMIC,
     CTS_ATOMIC_INC},
    {"red.global.inc.u32, 75", 0x00000000ff00798eu, 0x004fe8000d914104u, CTS_SASS_ATOMIC,
     CTS_ATOMIC_INC},
    {"atom.global.dec.u32, 75", 0x00000000ff0079a8u, 0x004ea8000a1f4144u, CTS_SASS_ATOMIC,
     CTS_ATOMIC_DEC},
    {"red.global.dec.u32, 75", 0x00000000ff00798eu, 0x004fe8000e114104u, CTS_SASS_ATOMIC,
     CTS_ATOMIC_DEC},
    {"atom.global.and.b32, 75", 0x00000000ff0079a8u, 0x004ea8000a9f4144u, CTS_SASS_ATOMIC,
     CTS_ATOMIC_AND},
    {"red.global.and.b32, 75", 0x00000000ff00898eu, 0x0041e2000e914104u, CTS_SASS_ATOMIC,
     CTS_ATOMIC_AND},
    {"atom.global.or.b32, 75", 0x00000000ff0079a8u, 0x004ea8000b1f4144u, CTS_SASS_ATOMIC,
     CTS_ATOMIC_OR},
    {"red.global.or.b32, 75", 0x00000000ff00898eu, 0x0041e2000f114104u, CTS_SASS_ATOMIC,
     CTS_ATOMIC_OR},
    {"atom.global.xor.b32, 75", 0x00000000ff0079a8u, 0x004ea8000b9f4144u, CTS_SASS_ATOMIC,
     CTS_ATOMIC_XOR},
    {"red.global.xor.b32, 75", 0x00000000ff00898eu, 0x0041e2000f914104u, CTS_SASS_ATOMIC,
     CTS_ATOMIC_XOR},
    {"atom.global.exch.b32, 75", 0x00000000ff0079a8u, 0x004ea8000c1f4144u, CTS_SASS_ATOMIC,
     CTS_ATOMIC_EXCH},
    {"atom.global.cas.b32, 75", 0x00000004020273a9u, 0x004ea800001f4105u, CTS_SASS_ATOMIC,
     CTS_ATOMIC_CAS},
    {"atom.shared.add.u32, 75", 0x000000030203038cu, 0x008e6800000000ffu, CTS_SASS_ATOMIC,
     CTS_ATOMIC_ADD},
    {"atom.shared.min.u32, 75", 0x000000000300738cu, 0x004e2800008000ffu, CTS_SASS_ATOMIC,
     CTS_ATOMIC_MIN},
    {"atom.shared.max.u32, 75", 0x000000000300738cu, 0x004e2800010000ffu, CTS_SASS_ATOMIC,
     CTS_ATOMIC_MAX},
    {"atom.shared.inc.u32, 75", 0x000000000300738cu, 0x004e2800018000ffu, CTS_SASS_ATOMIC,
     CTS_ATOMIC_INC},
    {"atom.shared.dec.u32, 75", 0x000000000300738cu, 0x004e2800020000ffu, CTS_SASS_ATOMIC,
     CTS_ATOMIC_DEC},
    {"atom.shared.and.b32, 75", 0x000000000300738cu, 0x004e2800028000ffu, CTS_SASS_ATOMIC,
     CTS_ATOMIC_AND},
    {"atom.shared.or.b32, 75", 0x000000000300738cu, 0x004e2800030000ffu, CTS_SASS_ATOMIC,
     CTS_ATOMIC_OR},
    {"atom.shared.xor.b32, 75", 0x000000000300738cu, 0x004e2800038000ffu, CTS_SASS_ATOMIC,
     CTS_ATOMIC_XOR},
    {"atom.shared.exch.b32, 75", 0x000000000300738cu, 0x004e2800040000ffu, CTS_SASS_ATOMIC,
     CTS_ATOMIC_EXCH},
    {"atom.shared.cas.b32, 75", 0x000000020000738du, 0x004e280000000003u, CTS_SASS_ATOMIC,
     CTS_ATOMIC_CAS},
    {"atom.add.u32, 75", 0x00000002ff02098au, 0x000ea800081f4144u, CTS_SASS_ATOMIC, CTS_ATOMIC_ADD},
    {"atom.min.u32, 75", 0x00000000ff00798au, 0x004ea800089f4144u, CTS_SASS_ATOMIC, CTS_ATOMIC_MIN},
    {"atom.max.u32, 75", 0x00000000ff00798au, 0x004ea800091f4144u, CTS_SASS_ATOMIC, CTS_ATOMIC_MAX},
    {"atom.inc.u32, 75", 0x00000000ff00798au, 0x004ea800099f4144u, CTS_SASS_ATOMIC, CTS_ATOMIC_INC},
    {"atom.dec.u32, 75", 0x00000000ff00798au, 0x004ea8000a1f4144u, CTS_SASS_ATOMIC, CTS_ATOMIC_DEC},
    {"atom.and.b32, 75", 0x00000000ff00798au, 0x004ea8000a9f4144u, CTS_SASS_ATOMIC, CTS_ATOMIC_AND},
    {"atom.or.b32, 75", 0x00000000ff00798au, 0x004ea8000b1f4144u, CTS_SASS_ATOMIC, CTS_ATOMIC_OR},
    {"atom.xor.b32, 75", 0x00000000ff00798au, 0x004ea8000b9f4144u, CTS_SASS_ATOMIC, CTS_ATOMIC_XOR},
    {"atom.exch.b32, 75", 0x00000000ff00798au, 0x004ea8000c1f4144u, CTS_SASS_ATOMIC,
     CTS_ATOMIC_EXCH},
    {"atom.cas.b32, 75", 0x000000040202738bu, 0x004ea800001f4105u, CTS_SASS_ATOMIC, CTS_ATOMIC_CAS},
    {"atom.global.add.f32, 90", 0x00000007020779a3u, 0x004ea800081ef3c4u, CTS_SASS_ATOMIC,
     CTS_ATOMIC_ADD},
    {"red.global.add.f32, 90", 0x00000007020079a6u, 0x004fe8000c10f384u, CTS_SASS_ATOMIC,
     CTS_ATOMIC_ADD},
    {"atom.add.f32, 90", 0x00000007020079a2u, 0x004362000810f3c4u, CTS_SASS_ATOMIC, CTS_ATOMIC_ADD},
    {"atom.global.add.f32, 100", 0x80000007020779a3u, 0x004ea8000c1ef304u, CTS_SASS_ATOMIC,
     CTS_ATOMIC_ADD},
    {"atom.add.f32, 100", 0x80000007020079a2u, 0x004362000c10f304u, CTS_SASS_ATOMIC,
     CTS_ATOMIC_ADD},
    {"UTMALDG tile, 90a", 0x00000004080075b4u, 0x0001f40008008000u, CTS_SASS_TENSOR_LOAD, 0},
    {"UTMALDG im2col, 90a", 0x00000008060073b4u, 0x0001f20008050004u, CTS_SASS_TENSOR_LOAD, 0},
    {"UTMASTG, 90a", 0x00000004080073b5u, 0x0001e40008008000u, CTS_SASS_TENSOR_STORE, 0},
    {"tensormap fence acquire, 90a", 0x00000000040079b9u, 0x0001e40008000000u,
     CTS_SASS_TENSOR_MAP_CHANGE, 0},
    {"prefetch.tensormap, 90a", 0x00000000040079b9u, 0x0001e40008040000u, CTS_SASS_OTHER, 0},
    {"UTMAREDG, 90a", 0x00000004080073b6u, 0x0001d80008008000u, CTS_SASS_TENSOR_REDUCTION, 0},
    {"UTMAPF tensor prefetch, 90a", 0x00000004060075b8u, 0x0001e40008008000u, CTS_SASS_OTHER, 0},
    {"bulk g2s, 90a", 0x00000004080073bau, 0x0001f40008000206u, CTS_SASS_OTHER, 0},
    {"bulk red, 90a", 0x00000006040073bbu, 0x0001d80008000405u, CTS_SASS_OTHER, 0},
    {"bulk prefetch, 90a", 0x00000000060073bcu, 0x0001e40008000004u, CTS_SASS_OTHER, 0},
    {"wgmma, 90a", 0x00000000041879f0u, 0x000fe60008000818u, CTS_SASS_WARPGROUP_MATRIX, 0},
    {"wgmma i8, 90a", 0x00000000041879f1u, 0x000fe60008041018u, CTS_SASS_WARPGROUP_MATRIX, 0},
    {"wgmma e4m3, 90a", 0x00000000041879f3u, 0x000fe60008000818u, CTS_SASS_WARPGROUP_MATRIX, 0},
    {"wgmma b1, 90a", 0x00000000041879f2u, 0x000fe60008014018u, CTS_SASS_WARPGROUP_MATRIX, 0},
    {"multimem.red, 90a", 0x000000070200098eu, 0x001fe2000c114186u, CTS_SASS_ATOMIC,
     CTS_ATOMIC_ADD},
    {"tex, 75", 0x3800000400057361u, 0x004f4400019e01ffu, CTS_SASS_TEXTURE, 0},
    {"tex int, 75", 0x1800000500057367u, 0x004f4400009e01ffu, CTS_SASS_TEXTURE, 0},
    {"tld4, 75", 0x3800000004057364u, 0x004f4400001e01ffu, CTS_SASS_TEXTURE, 0},
    {"suld, 75", 0x700000000200799au, 0x004f6400001f0900u, CTS_SASS_SURFACE, 0},
    {"sust, 75", 0x700000020200799eu, 0x004fe20000110900u, CTS_SASS_SURFACE, 0},
    {"sured, 75", 0x70000002020073a0u, 0x004fe20000116100u, CTS_SASS_SURFACE, 0},
    {"ldmatrix, 80", 0x00000000ff04783bu, 0x000e220000000200u, CTS_SASS_OTHER, 0},
    {"bar.sync 1, 128, 75", 0x0042000000007b1du, 0x000fea0000000000u, CTS_SASS_BARRIER,
     CTS_BARRIER_CTA_SYNC},
    {"bar.arrive 1, 128, 75", 0x0042000000007b1du, 0x000fea0000002000u, CTS_SASS_BARRIER,
     CTS_BARRIER_CTA_ARRIVE},
    {"bar.red.popc, 75", 0x0000000000007b1du, 0x000fea0004004000u, CTS_SASS_BARRIER,
     CTS_BARRIER_CTA_SYNC},
    {"bar.sync 0, 80", 0x0000000000007b1du, 0x000fec0000010000u, CTS_SASS_BARRIER,
     CTS_BARRIER_CTA_SYNC},
    {"bar.arrive r, r, 80", 0x000000030000731du, 0x000fec0000002000u, CTS_SASS_BARRIER,
     CTS_BARRIER_CTA_ARRIVE},
    {"bar.sync r, 128, 90", 0x000200000000751du, 0x001fec0000010000u, CTS_SASS_BARRIER,
     CTS_BARRIER_CTA_SYNC},
    {"bar.arrive 2, r, 90", 0x008000000000791du, 0x001fec0000002000u, CTS_SASS_BARRIER,
     CTS_BARRIER_CTA_ARRIVE},
    {"bar.sync r, r, 100", 0x000000030000731du, 0x0001e40000010000u, CTS_SASS_BARRIER,
     CTS_BARRIER_CTA_SYNC},
    {"bar.arrive r, 128, 100", 0x000200000000751du, 0x001fec0000002000u, CTS_SASS_BARRIER,
     CTS_BARRIER_CTA_ARRIVE},
    {"cp.async, 80", 0x0000000002ff7faeu, 0x000fe2000b921844u, CTS_SASS_OTHER, 0},
    {"ld.global, 80", 0x0000000402057981u, 0x000ea8000c1e1900u, CTS_SASS_OTHER, 0},
    {"ld.shared, 80", 0x0000000502007388u, 0x001fe20000000800u, CTS_SASS_OTHER, 0},
    {"tcgen05 cp, 100a", 0x00000006040079e7u, 0x0001d80008000000u, CTS_SASS_TENSOR_MATRIX, 0},
    {"tcgen05 mma, 100a", 0x00ff040a080075eau, 0x0001d80008000006u, CTS_SASS_TENSOR_MATRIX, 0},
};

static void test_samples(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        const struct cts_sass sass = cts_sass_of(samples[i].low, samples[i].high);
        if (sass.kind != samples[i].kind || sass.operation != samples[i].operation)
            fail_msg("%s: kind %d, operation %d", samples[i].name, sass.kind, sass.operation);
    }
}

/* What is in no table is no atomic and is not said to be lost. */
static void test_what_is_not_recorded_has_a_reason(void **state)
{
    (void)state;
    for (int kind = 0; kind < CTS_SASS_KIND_COUNT; kind++) {
        const char *reason = "?", *const what = cts_sass_unrecorded(kind, &reason);
        const int is_recorded = kind == CTS_SASS_OTHER || kind == CTS_SASS_ATOMIC ||
                                kind == CTS_SASS_BARRIER || kind == CTS_SASS_MARKED_COPY;
        assert_int_equal(what == NULL, is_recorded);
        assert_int_equal(reason == NULL, is_recorded);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_what_is_not_recorded_has_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
