/* Where a texel lies: addressing, filtering weights and conversion of textures and surfaces.
 *
 * Device code asks these functions for addresses and does the loads and stores itself, so that the
 * recorder sees accesses of the texels and none of the descriptors. A *tap* is one of the texels
 * that linear filtering mixes: bit 0 of its number is the step in x, bit 1 in y, bit 2 in z. A
 * fetch without filtering has tap 0 only. */
#define _GNU_SOURCE
#include <math.h>

#include "devlib.h"
#include "record/cpu/include/ctascope_texture.h"

/* Values of the runtime API's enums that are needed here. */
enum { ADDRESS_WRAP = 0, ADDRESS_CLAMP = 1, ADDRESS_MIRROR = 2, ADDRESS_BORDER = 3 };
enum { KIND_SIGNED = 0, KIND_UNSIGNED = 1, KIND_FLOAT = 2 };
enum { BOUNDARY_ZERO = 0, BOUNDARY_CLAMP = 1, BOUNDARY_TRAP = 2 };

void __cts_dev_trap(void);

static inline const struct cts_texture *texture_of(uint64_t handle)
{
    if (handle == 0) /* a reference that is not bound */
        __cts_dev_trap();
    return (const struct cts_texture *)(uintptr_t)handle;
}

static inline int64_t size_of(const struct cts_texture *t, int axis)
{
    const uint64_t size = axis == 0 ? t->width : axis == 1 ? t->height : t->depth;
    return size ? (int64_t)size : 1;
}

/* The coordinate in texels; with filtering, relative to the texels' centres. */
static inline float in_texels(const struct cts_texture *t, int axis, float coordinate)
{
    const float scaled = t->normalized ? coordinate * (float)size_of(t, axis) : coordinate;
    return t->filter_mode ? scaled - 0.5f : scaled;
}

/* The texel's index along an axis by the address mode, or -1: border. Wrap and mirror are for
 * normalised coordinates; others clamp. */
static inline int64_t index_of(const struct cts_texture *t, int axis, int64_t i)
{
    const int64_t size = size_of(t, axis);
    unsigned mode = t->address_mode[axis];
    if (!t->normalized && (mode == ADDRESS_WRAP || mode == ADDRESS_MIRROR)) mode = ADDRESS_CLAMP;
    if (mode == ADDRESS_WRAP) {
        const int64_t rest = i % size;
        return rest < 0 ? rest + size : rest;
    }
    if (mode == ADDRESS_MIRROR) {
        int64_t rest = i % (2 * size);
        if (rest < 0) rest += 2 * size;
        return rest < size ? rest : 2 * size - 1 - rest;
    }
    if (mode == ADDRESS_BORDER) return i < 0 || i >= size ? -1 : i;
    return i < 0 ? 0 : i >= size ? size - 1 : i;
}

static inline int64_t to_index(float position)
{
    const float whole = __builtin_floorf(position);
    return whole != whole     ? 0
           : whole < -0x1p40f ? -(1ll << 40)
           : whole > 0x1p40f  ? 1ll << 40
                              : (int64_t)whole;
}

/* The address of a tap, or NULL: the border's colour. `layer` counts slices and is clamped; dims is
 * the number of filtered axes. */
CTS_SMALL const void *__cts_texel(uint64_t handle, int dims, int tap, float x, float y, float z,
                                  int layer)
{
    const struct cts_texture *const t = texture_of(handle);
    const int64_t i = index_of(t, 0, to_index(in_texels(t, 0, x)) + (tap & 1));
    int64_t j = 0, k = 0;
    if (dims > 1) j = index_of(t, 1, to_index(in_texels(t, 1, y)) + (tap >> 1 & 1));
    if (dims > 2)
        k = index_of(t, 2, to_index(in_texels(t, 2, z)) + (tap >> 2 & 1));
    else if (layer > 0)
        k = layer < size_of(t, 2) ? layer : size_of(t, 2) - 1;
    if (i < 0 || j < 0 || k < 0) return NULL;
    return t->data + (uint64_t)i * t->texel_bytes + (uint64_t)j * t->pitch_bytes +
           (uint64_t)k * t->slice_bytes;
}

/* tex1Dfetch: no filter, no normalisation; NULL outside. */
CTS_SMALL const void *__cts_texel_linear(uint64_t handle, int64_t i)
{
    const struct cts_texture *const t = texture_of(handle);
    if (i < 0 || (uint64_t)i >= t->width) return NULL;
    return t->data + (uint64_t)i * t->texel_bytes;
}

/* Hardware keeps 8 bits of a weight's fraction. */
static inline float to_256ths(float weight)
{
    return __builtin_floorf(weight * 256.0f + 0.5f) / 256.0f;
}

static inline float fraction(float position)
{
    return to_256ths(position - __builtin_floorf(position));
}

/* In one and two dimensions as an H200 was seen to do it, to the bit: of the two fractions' product
 * 8 bits are kept too, and the four weights are made to add up to 1. In three dimensions plain
 * products, a 256th or two away from the hardware's. */
CTS_SMALL float __cts_tap_weight(uint64_t handle, int dims, int tap, float x, float y, float z)
{
    const struct cts_texture *const t = texture_of(handle);
    if (!t->filter_mode) return 1.0f;
    const float a = fraction(in_texels(t, 0, x));
    if (dims == 1) return tap & 1 ? a : 1.0f - a;
    const float b = fraction(in_texels(t, 1, y));
    if (dims == 2) {
        const float both = to_256ths(a * b);
        return tap == 3 ? both : tap == 2 ? b - both : tap == 1 ? a - both : 1.0f - a - b + both;
    }
    const float c = fraction(in_texels(t, 2, z));
    return (tap & 1 ? a : 1.0f - a) * (tap & 2 ? b : 1.0f - b) * (tap & 4 ? c : 1.0f - c);
}

CTS_SMALL int __cts_tex_is_filtered(uint64_t handle)
{
    return texture_of(handle)->filter_mode != 0;
}

/* Bits of a channel. A fetch of more channels than the texture has is stopped here: it would read
 * the neighbour's. */
CTS_SMALL int __cts_tex_bits(uint64_t handle, int channels)
{
    const struct cts_texture *const t = texture_of(handle);
    if ((unsigned)channels > t->channel_count) __cts_dev_trap();
    return (int)t->channel_bits;
}

CTS_SMALL float __cts_tex_border(uint64_t handle, int channel)
{
    const struct cts_texture *const t = texture_of(handle);
    return t->address_mode[0] == ADDRESS_BORDER || t->address_mode[1] == ADDRESS_BORDER ||
                   t->address_mode[2] == ADDRESS_BORDER
               ? t->border[channel]
               : 0.0f;
}

static inline float linear_of_srgb(float s)
{
    return s <= 0.04045f ? s / 12.92f : powf((s + 0.055f) / 1.055f, 2.4f);
}

/* A channel's bits as a float: integers as fractions of their largest value. */
CTS_SMALL float __cts_tex_channel(uint64_t handle, int channel, uint32_t bits)
{
    const struct cts_texture *const t = texture_of(handle);
    if (t->channel_kind == KIND_FLOAT)
        return t->channel_bits == 16 ? (float)__builtin_bit_cast(_Float16, (uint16_t)bits)
                                     : cts_float_of(bits);
    if (t->channel_kind == KIND_SIGNED) {
        const float value = t->channel_bits == 8    ? (float)(int8_t)bits / 127.0f
                            : t->channel_bits == 16 ? (float)(int16_t)bits / 32767.0f
                                                    : (float)(int32_t)bits / 2147483647.0f;
        return value < -1.0f ? -1.0f : value;
    }
    if (t->channel_bits == 8) {
        const float value = (float)(uint8_t)bits / 255.0f;
        return t->srgb && channel < 3 ? linear_of_srgb(value) : value;
    }
    return t->channel_bits == 16 ? (float)(uint16_t)bits / 65535.0f : (float)bits / 4294967295.0f;
}

/* The face (x+ x- y+ y- z+ z-) that a direction meets, and where on it: 0 .. 1. */
CTS_SMALL int __cts_cube_face(float x, float y, float z, float *s, float *t)
{
    const float ax = fabsf(x), ay = fabsf(y), az = fabsf(z);
    float major, sc, tc;
    int face;
    if (ax >= ay && ax >= az) {
        face = x < 0;
        major = ax, sc = x < 0 ? z : -z, tc = -y;
    } else if (ay >= az) {
        face = 2 + (y < 0);
        major = ay, sc = x, tc = y < 0 ? -z : z;
    } else {
        face = 4 + (z < 0);
        major = az, sc = z < 0 ? -x : x, tc = -y;
    }
    *s = (sc / major + 1.0f) / 2.0f;
    *t = (tc / major + 1.0f) / 2.0f;
    return face;
}

/* The address of access_bytes bytes of a surface, x in bytes; NULL: outside, by the boundary
 * mode. */
CTS_SMALL void *__cts_surface(uint64_t handle, int dims, int x, int y, int z, int layer,
                              int access_bytes, int mode)
{
    const struct cts_texture *const t = texture_of(handle);
    const int64_t last[3] = {(int64_t)t->width * t->texel_bytes - access_bytes,
                             dims > 1 ? size_of(t, 1) - 1 : 0, dims > 2 ? size_of(t, 2) - 1 : 0};
    int64_t at[3] = {x, dims > 1 ? y : 0, dims > 2 ? z : 0};
    for (int axis = 0; axis < 3; axis++) {
        if (at[axis] >= 0 && at[axis] <= last[axis]) continue;
        if (mode == BOUNDARY_TRAP) __cts_dev_trap();
        if (mode != BOUNDARY_CLAMP) return NULL;
        at[axis] = at[axis] < 0 ? 0 : last[axis];
    }
    if (dims < 3 && layer > 0) {
        if (layer >= size_of(t, 2)) {
            if (mode == BOUNDARY_TRAP) __cts_dev_trap();
            if (mode != BOUNDARY_CLAMP) return NULL;
            layer = (int)size_of(t, 2) - 1;
        }
        at[2] = layer;
    }
    return t->data + (uint64_t)at[0] + (uint64_t)at[1] * t->pitch_bytes +
           (uint64_t)at[2] * t->slice_bytes;
}
