/* Vector types have CUDA's sizes and alignments, make_* fills them, kernels load and store them. */
#include "check.h"

template <class T> struct layout {
    static constexpr int size = (int)sizeof(T), align = (int)alignof(T);
};
#define LAYOUT(type, bytes, alignment)                                                             \
    static_assert(layout<type>::size == bytes && layout<type>::align == alignment, #type);
LAYOUT(char1, 1, 1)
LAYOUT(char2, 2, 2)
LAYOUT(char3, 3, 1)
LAYOUT(char4, 4, 4)
LAYOUT(uchar1, 1, 1)
LAYOUT(uchar2, 2, 2)
LAYOUT(uchar3, 3, 1)
LAYOUT(uchar4, 4, 4)
LAYOUT(short1, 2, 2)
LAYOUT(short2, 4, 4)
LAYOUT(short3, 6, 2)
LAYOUT(short4, 8, 8)
LAYOUT(ushort2, 4, 4)
LAYOUT(ushort3, 6, 2)
LAYOUT(ushort4, 8, 8)
LAYOUT(int1, 4, 4)
LAYOUT(int2, 8, 8)
LAYOUT(int3, 12, 4)
LAYOUT(int4, 16, 16)
LAYOUT(uint1, 4, 4)
LAYOUT(uint2, 8, 8)
LAYOUT(uint3, 12, 4)
LAYOUT(uint4, 16, 16)
LAYOUT(long1, 8, 8)
LAYOUT(long2, 16, 16)
LAYOUT(long3, 24, 8)
LAYOUT(long4, 32, 16)
LAYOUT(ulong2, 16, 16)
LAYOUT(ulong4, 32, 16)
LAYOUT(longlong1, 8, 8)
LAYOUT(longlong2, 16, 16)
LAYOUT(longlong3, 24, 8)
LAYOUT(longlong4, 32, 16)
LAYOUT(ulonglong2, 16, 16)
LAYOUT(ulonglong4, 32, 16)
LAYOUT(float1, 4, 4)
LAYOUT(float2, 8, 8)
LAYOUT(float3, 12, 4)
LAYOUT(float4, 16, 16)
LAYOUT(double1, 8, 8)
LAYOUT(double2, 16, 16)
LAYOUT(double3, 24, 8)
LAYOUT(double4, 32, 16)
LAYOUT(dim3, 12, 4)

/* What kernels see of a mixed struct lies where the host put it. */
struct mixed {
    char c;
    float4 f;
    short2 s;
    double2 d;
    uchar3 u;
    int3 i;
};
static_assert(sizeof(mixed) == 80 && offsetof(mixed, f) == 16 && offsetof(mixed, d) == 48 &&
                  offsetof(mixed, i) == 68,
              "mixed");

__global__ void rotate(mixed *m, float4 *f, const int2 *pairs, int *out, mixed by_value)
{
    const int i = threadIdx.x;
    mixed v = m[i];
    v.f = make_float4(v.f.y, v.f.z, v.f.w, v.f.x);
    v.s = make_short2(v.s.y, v.s.x);
    v.d.x += by_value.d.y;
    v.u.z = (unsigned char)(v.u.x + v.u.y);
    v.i = make_int3(v.i.z, v.i.x, v.i.y);
    m[i] = v;
    __stcs(&f[i], __ldg(&f[i + 1]));
    const int2 p = __ldcg(&pairs[i]);
    out[i] = p.x * 100 + p.y;
    const uint3 index = threadIdx;
    const dim3 block = blockDim;
    if (index.x != (unsigned)i || block.x != blockDim.x || block.z != 1) out[i] = -1;
}

int main()
{
    enum { N = 64 };
    mixed *const m = managed<mixed>(N);
    float4 *const f = managed<float4>(N + 1);
    int2 *const pairs = managed<int2>(N);
    int *const out = managed<int>(N);
    for (int i = 0; i < N; i++) {
        const float x = (float)i;
        m[i] = {(char)i,
                make_float4(x, x + 1, x + 2, x + 3),
                make_short2((short)i, (short)-i),
                make_double2(i, i * 2),
                make_uchar3((unsigned char)i, 3, 0),
                make_int3(i, i + 1, i + 2)};
        pairs[i] = make_int2(i, i + 7);
    }
    for (int i = 0; i <= N; i++) f[i] = make_float4((float)i, 1, 2, 3);
    mixed value = {};
    value.d.y = 1000;
    rotate<<<1, 1>>>(m, f, pairs, out, value);
    rotate<<<1, N>>>(m, f, pairs, out, value);
    CUDA(cudaDeviceSynchronize());
    for (int i = 1; i < N; i++) {
        const float x = (float)i;
        CHECK(m[i].c == (char)i && m[i].f.x == x + 1 && m[i].f.w == x, "%d", i);
        CHECK(m[i].s.x == -i && m[i].s.y == i && m[i].d.x == i + 1000 && m[i].d.y == 2 * i, "%d",
              i);
        CHECK(m[i].u.z == i + 3 && m[i].i.x == i + 2 && m[i].i.z == i + 1, "%d", i);
        CHECK(out[i] == 100 * i + i + 7, "%d: %d", i, out[i]);
    }
    constexpr dim3 grid(3, 2);
    static_assert(grid.x == 3 && grid.y == 2 && grid.z == 1, "constexpr");
    return finish();
}
