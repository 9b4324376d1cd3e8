// e8m0: each code's value, and conversions to it with both roundings, on host and device.
#include <cuda_fp8.h>

#include "check.h"

struct seen {
    float value[256];
    unsigned char exact[256], above[256], below[256], constructed[256];
    unsigned char special[8];
};

__host__ __device__ static void look(seen *out)
{
    for (int code = 0; code < 256; code++) {
        __nv_fp8_e8m0 scale;
        scale.__x = (__nv_fp8_storage_t)code;
        out->value[code] = (float)scale;
        const double value = code == 255 ? 1.0 : ldexp(1.0, code - 127);
        out->exact[code] = __nv_cvt_double_to_e8m0(-value, __NV_NOSAT, cudaRoundPosInf);
        out->above[code] = __nv_cvt_double_to_e8m0(value * 1.0001, __NV_SATFINITE, cudaRoundPosInf);
        out->below[code] = __nv_cvt_double_to_e8m0(value * 1.9999, __NV_NOSAT, cudaRoundZero);
        out->constructed[code] = __nv_fp8_e8m0((double)value).__x;
    }
    const float values[8] = {0, INFINITY, NAN, 1e-40f, 3.0e38f, 3.0e38f, -3, 3};
    for (int i = 0; i < 8; i++)
        out->special[i] = __nv_cvt_float_to_e8m0(values[i], i == 4 ? __NV_SATFINITE : __NV_NOSAT,
                                                 i == 7 ? cudaRoundZero : cudaRoundPosInf);
}

__global__ void look_there(seen *out)
{
    look(out);
}

static void check(const seen &got, const char *where)
{
    for (int code = 0; code < 255; code++) {
        CHECK(got.value[code] == (float)ldexp(1.0, code - 127), "%s: code %d", where, code);
        CHECK(got.exact[code] == code && got.constructed[code] == code, "%s: code %d", where, code);
        CHECK(got.above[code] == (code < 254 ? code + 1 : 254), "%s: code %d", where, code);
        CHECK(got.below[code] == code, "%s: code %d", where, code);
    }
    CHECK(std::isnan(got.value[255]), "%s", where);
    // 0 and what is too small; infinity; NaN; 3.0e38 lies between 2^127 and 2^128.
    const unsigned char special[8] = {0, 255, 255, 0, 254, 255, 129, 128};
    CHECK(memcmp(special, got.special, 8) == 0, "%s", where);
}

int main()
{
    seen *const there = managed<seen>(1);
    static seen here;
    look(&here);
    look_there<<<1, 1>>>(there);
    CUDA(cudaDeviceSynchronize());
    check(here, "host");
    check(*there, "device");
    return finish();
}
