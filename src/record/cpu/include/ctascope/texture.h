/* Textures and surfaces: references of file scope (texture<>, surface<>), their binding, and the
 * fetches for references and objects.
 *
 * A fetch asks the device library where the texels lie (devlib/texture.c) and loads them with plain
 * loads, one per texel that it uses: those are what the recorder sees. A handle is the address of a
 * struct cts_texture; a reference is an 8-byte device variable that holds one, through clang's
 * device_builtin_texture_type.
 *
 * There are no mipmaps: fetches with a level of detail or gradients read level 0. */
#ifndef CTASCOPE_TEXTURE_FETCHES_H
#define CTASCOPE_TEXTURE_FETCHES_H

#define cudaTextureType1D             0x01
#define cudaTextureType2D             0x02
#define cudaTextureType3D             0x03
#define cudaTextureTypeCubemap        0x0C
#define cudaTextureType1DLayered      0xF1
#define cudaTextureType2DLayered      0xF2
#define cudaTextureTypeCubemapLayered 0xFC
#define cudaSurfaceType1D             0x01
#define cudaSurfaceType2D             0x02
#define cudaSurfaceType3D             0x03
#define cudaSurfaceTypeCubemap        0x0C
#define cudaSurfaceType1DLayered      0xF1
#define cudaSurfaceType2DLayered      0xF2
#define cudaSurfaceTypeCubemapLayered 0xFC

template <class T, int type = cudaTextureType1D, cudaTextureReadMode mode = cudaReadModeElementType>
struct __device_builtin_texture_type__ texture : public textureReference {
    __host__ constexpr texture(int norm = 0, cudaTextureFilterMode filter = cudaFilterModePoint,
                               cudaTextureAddressMode address = cudaAddressModeClamp)
        : textureReference{norm,
                           filter,
                           {address, address, address},
                           {cts_channel_<T>::bits[0], cts_channel_<T>::bits[1],
                            cts_channel_<T>::bits[2], cts_channel_<T>::bits[3],
                            cts_channel_<T>::format},
                           0,
                           0,
                           cudaFilterModePoint,
                           0,
                           0,
                           0,
                           0,
                           {}}
    {
    }
    __host__ constexpr texture(int norm, cudaTextureFilterMode filter,
                               cudaTextureAddressMode address, cudaChannelFormatDesc desc)
        : textureReference{
              norm, filter, {address, address, address}, desc, 0, 0, cudaFilterModePoint, 0, 0, 0,
              0,    {}}
    {
    }
};

template <class T, int type = cudaSurfaceType1D>
struct __device_builtin_surface_type__ surface : public surfaceReference {
    __host__ constexpr surface() : surfaceReference{} {}
};
template <int type>
struct __device_builtin_surface_type__ surface<void, type> : public surfaceReference {
    __host__ constexpr surface() : surfaceReference{} {}
};

/* ---- binding, on the host ---- */

template <class T, int type, cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture(size_t *offset, const texture<T, type, mode> &reference,
                                          const void *memory, const cudaChannelFormatDesc &desc,
                                          size_t size_bytes = UINT32_MAX)
{
    return ::cudaBindTexture(offset, (const textureReference *)&reference, memory, &desc,
                             size_bytes);
}
template <class T, int type, cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture(size_t *offset, const texture<T, type, mode> &reference,
                                          const void *memory, size_t size_bytes = UINT32_MAX)
{
    return ::cudaBindTexture(offset, (const textureReference *)&reference, memory,
                             &reference.channelDesc, size_bytes);
}
template <class T, int type, cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture2D(size_t *offset, const texture<T, type, mode> &reference,
                                            const void *memory, const cudaChannelFormatDesc &desc,
                                            size_t width, size_t height, size_t pitch_bytes)
{
    return ::cudaBindTexture2D(offset, (const textureReference *)&reference, memory, &desc, width,
                               height, pitch_bytes);
}
template <class T, int type, cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture2D(size_t *offset, const texture<T, type, mode> &reference,
                                            const void *memory, size_t width, size_t height,
                                            size_t pitch_bytes)
{
    return ::cudaBindTexture2D(offset, (const textureReference *)&reference, memory,
                               &reference.channelDesc, width, height, pitch_bytes);
}
template <class T, int type, cudaTextureReadMode mode>
static inline cudaError_t cudaBindTextureToArray(const texture<T, type, mode> &reference,
                                                 cudaArray_const_t array,
                                                 const cudaChannelFormatDesc &desc)
{
    return ::cudaBindTextureToArray((const textureReference *)&reference, array, &desc);
}
template <class T, int type, cudaTextureReadMode mode>
static inline cudaError_t cudaBindTextureToArray(const texture<T, type, mode> &reference,
                                                 cudaArray_const_t array)
{
    cudaChannelFormatDesc desc;
    const cudaError_t error = ::cudaGetChannelDesc(&desc, array);
    return error != cudaSuccess
               ? error
               : ::cudaBindTextureToArray((const textureReference *)&reference, array, &desc);
}
template <class T, int type, cudaTextureReadMode mode>
static inline cudaError_t cudaUnbindTexture(const texture<T, type, mode> &reference)
{
    return ::cudaUnbindTexture((const textureReference *)&reference);
}
template <class T, int type, cudaTextureReadMode mode>
static inline cudaError_t cudaGetTextureAlignmentOffset(size_t *offset,
                                                        const texture<T, type, mode> &reference)
{
    return ::cudaGetTextureAlignmentOffset(offset, (const textureReference *)&reference);
}
template <class T, int type>
static inline cudaError_t cudaBindSurfaceToArray(const surface<T, type> &reference,
                                                 cudaArray_const_t array,
                                                 const cudaChannelFormatDesc &desc)
{
    return ::cudaBindSurfaceToArray((const surfaceReference *)&reference, array, &desc);
}
template <class T, int type>
static inline cudaError_t cudaBindSurfaceToArray(const surface<T, type> &reference,
                                                 cudaArray_const_t array)
{
    cudaChannelFormatDesc desc;
    const cudaError_t error = ::cudaGetChannelDesc(&desc, array);
    return error != cudaSuccess
               ? error
               : ::cudaBindSurfaceToArray((const surfaceReference *)&reference, array, &desc);
}

/* ---- the device library's side ---- */

extern "C" {
#define CTS_TEXEL_ __device__ __attribute__((const, nothrow))
CTS_TEXEL_ const void *__cts_texel(unsigned long long handle, int dims, int tap, float x, float y,
                                   float z, int layer);
CTS_TEXEL_ const void *__cts_texel_linear(unsigned long long handle, long long i);
CTS_TEXEL_ float __cts_tap_weight(unsigned long long handle, int dims, int tap, float x, float y,
                                  float z);
CTS_TEXEL_ int __cts_tex_is_filtered(unsigned long long handle);
CTS_TEXEL_ int __cts_tex_bits(unsigned long long handle, int channels);
CTS_TEXEL_ float __cts_tex_border(unsigned long long handle, int channel);
CTS_TEXEL_ float __cts_tex_channel(unsigned long long handle, int channel, unsigned int bits);
#undef CTS_TEXEL_
__device__ int __cts_cube_face(float x, float y, float z, float *s, float *t)
    __attribute__((nothrow));
__device__ void *__cts_surface(unsigned long long handle, int dims, int x, int y, int z, int layer,
                               int access_bytes, int mode) __attribute__((nothrow));
}

#define CTS_FETCH_ static __device__ __forceinline__

/* A reference is passed by value as its 64-bit handle, whatever its type looks like to C++. */
template <class R_> CTS_FETCH_ unsigned long long cts_handle_(R_ reference)
{
    return *(const unsigned long long *)(const void *)&reference;
}

/* Texel types: element and number of channels. */
template <class T> struct cts_texel_;
#define CTS_TEXEL_TYPE_(type, element, n)                                                          \
    template <> struct cts_texel_<type> {                                                          \
        typedef element base;                                                                      \
        static constexpr int count = n;                                                            \
    };
#define CTS_TEXEL_TYPES_(name, element)                                                            \
    CTS_TEXEL_TYPE_(element, element, 1)                                                           \
    CTS_TEXEL_TYPE_(name##1, element, 1)                                                           \
    CTS_TEXEL_TYPE_(name##2, element, 2)                                                           \
    CTS_TEXEL_TYPE_(name##4, element, 4)
CTS_TEXEL_TYPE_(char, signed char, 1)
CTS_TEXEL_TYPES_(char, signed char)
CTS_TEXEL_TYPES_(uchar, unsigned char)
CTS_TEXEL_TYPES_(short, short)
CTS_TEXEL_TYPES_(ushort, unsigned short)
CTS_TEXEL_TYPES_(int, int)
CTS_TEXEL_TYPES_(uint, unsigned int)
CTS_TEXEL_TYPES_(float, float)
#undef CTS_TEXEL_TYPES_
#undef CTS_TEXEL_TYPE_

template <int n> struct cts_float_vector_;
template <> struct cts_float_vector_<1> {
    typedef float type;
};
template <> struct cts_float_vector_<2> {
    typedef float2 type;
};
template <> struct cts_float_vector_<4> {
    typedef float4 type;
};

/* n elements, loaded by one load. */
template <class E_, int n> struct cts_lanes_ {
    typedef E_ type __attribute__((ext_vector_type(n), may_alias));
};
template <class E_> struct cts_lanes_<E_, 1> {
    typedef E_ type __attribute__((ext_vector_type(1), may_alias));
};

/* One texel as floats. E is the channels' type in memory, wide enough for its bits. */
template <class E_, int n>
CTS_FETCH_ void cts_add_texel_(unsigned long long handle, const void *texel, float weight,
                               float *sum)
{
    const typename cts_lanes_<E_, n>::type raw = *(const typename cts_lanes_<E_, n>::type *)texel;
    for (int c = 0; c < n; c++)
        sum[c] += weight * __cts_tex_channel(handle, c, (unsigned int)raw[c]);
}
template <int n>
CTS_FETCH_ void cts_add_tap_(unsigned long long handle, int bits, const void *texel, float weight,
                             float *sum)
{
    if (!texel) {
        for (int c = 0; c < n; c++) sum[c] += weight * __cts_tex_border(handle, c);
    } else if (bits == 32) {
        cts_add_texel_<unsigned int, n>(handle, texel, weight, sum);
    } else if (bits == 16) {
        cts_add_texel_<unsigned short, n>(handle, texel, weight, sum);
    } else {
        cts_add_texel_<unsigned char, n>(handle, texel, weight, sum);
    }
}

/* A fetch whose result is floating point: of float channels, or of integers as fractions. */
template <class T, int dims, bool linear_memory> struct cts_float_fetch_ {
    static constexpr int n = cts_texel_<T>::count;
    CTS_FETCH_ T run(unsigned long long handle, float x, float y, float z, int layer, long long i)
    {
        const int bits = __cts_tex_bits(handle, n);
        float sum[4] = {-0.0f, -0.0f, -0.0f, -0.0f};
        if (linear_memory) {
            cts_add_tap_<n>(handle, bits, __cts_texel_linear(handle, i), 1.0f, sum);
        } else {
            cts_add_tap_<n>(handle, bits, __cts_texel(handle, dims, 0, x, y, z, layer),
                            __cts_tap_weight(handle, dims, 0, x, y, z), sum);
            if (__cts_tex_is_filtered(handle))
#pragma unroll
                for (int tap = 1; tap < 1 << dims; tap++)
                    cts_add_tap_<n>(handle, bits, __cts_texel(handle, dims, tap, x, y, z, layer),
                                    __cts_tap_weight(handle, dims, tap, x, y, z), sum);
        }
        T result;
        __builtin_memcpy(&result, sum, sizeof result);
        return result;
    }
};

/* A fetch of integers: point sampling, one load of the whole texel. */
template <class T, int dims, bool linear_memory> struct cts_integer_fetch_ {
    typedef typename cts_texel_<T>::base base;
    static constexpr int n = cts_texel_<T>::count;
    CTS_FETCH_ T run(unsigned long long handle, float x, float y, float z, int layer, long long i)
    {
        if (__cts_tex_bits(handle, n) != 8 * (int)sizeof(base)) __builtin_trap();
        const void *const texel = linear_memory ? __cts_texel_linear(handle, i)
                                                : __cts_texel(handle, dims, 0, x, y, z, layer);
        typename cts_lanes_<base, n>::type value;
        if (texel)
            value = *(const typename cts_lanes_<base, n>::type *)texel;
        else
            for (int c = 0; c < n; c++) value[c] = (base)__cts_tex_border(handle, c);
        return __builtin_bit_cast(T, value);
    }
};

template <class A_, class B_> struct cts_same_ {
    static constexpr bool value = false;
};
template <class A_> struct cts_same_<A_, A_> {
    static constexpr bool value = true;
};
template <bool, class A_, class B_> struct cts_choose_ {
    typedef A_ type;
};
template <class A_, class B_> struct cts_choose_<false, A_, B_> {
    typedef B_ type;
};

template <class T, int dims, bool linear_memory = false>
CTS_FETCH_ T cts_fetch_(unsigned long long handle, float x, float y, float z, int layer,
                        long long i = 0)
{
    typedef typename cts_choose_<cts_same_<typename cts_texel_<T>::base, float>::value,
                                 cts_float_fetch_<T, dims, linear_memory>,
                                 cts_integer_fetch_<T, dims, linear_memory>>::type fetch;
    return fetch::run(handle, x, y, z, layer, i);
}

/* What a fetch through a reference yields: the texel, or its channels as fractions. */
template <class T, cudaTextureReadMode mode> struct cts_fetched_ {
    typedef T type;
};
template <class T> struct cts_fetched_<T, cudaReadModeNormalizedFloat> {
    typedef typename cts_float_vector_<cts_texel_<T>::count>::type type;
};

/* ---- fetches ---- */

/* One function: for a reference, for an object, and the object's form with a result pointer.
 * `type` is the texture's dimensionality, `parameters` the coordinates; the body is a fetch. */
#define CTS_TEXTURE_(name, texture_type, parameters, arguments, dims, x, y, z, layer)              \
    template <class T> CTS_FETCH_ T name(cudaTextureObject_t handle, CTS_LIST_ parameters)         \
    {                                                                                              \
        return cts_fetch_<T, dims>(handle, x, y, z, layer);                                        \
    }                                                                                              \
    template <class T>                                                                             \
    CTS_FETCH_ void name(T *result, cudaTextureObject_t handle, CTS_LIST_ parameters)              \
    {                                                                                              \
        *result = cts_fetch_<T, dims>(handle, x, y, z, layer);                                     \
    }                                                                                              \
    template <class T, cudaTextureReadMode mode>                                                   \
    CTS_FETCH_ typename cts_fetched_<T, mode>::type name(texture<T, texture_type, mode> reference, \
                                                         CTS_LIST_ parameters)                     \
    {                                                                                              \
        return cts_fetch_<typename cts_fetched_<T, mode>::type, dims>(cts_handle_(reference), x,   \
                                                                      y, z, layer);                \
    }
#define CTS_LIST_(...) __VA_ARGS__

CTS_TEXTURE_(tex1D, cudaTextureType1D, (float x), (x), 1, x, 0, 0, 0)
CTS_TEXTURE_(tex2D, cudaTextureType2D, (float x, float y), (x, y), 2, x, y, 0, 0)
CTS_TEXTURE_(tex3D, cudaTextureType3D, (float x, float y, float z), (x, y, z), 3, x, y, z, 0)
CTS_TEXTURE_(tex1DLayered, cudaTextureType1DLayered, (float x, int layer), (x, layer), 1, x, 0, 0,
             layer)
CTS_TEXTURE_(tex2DLayered, cudaTextureType2DLayered, (float x, float y, int layer), (x, y, layer),
             2, x, y, 0, layer)
CTS_TEXTURE_(tex1DLod, cudaTextureType1D, (float x, float), (x), 1, x, 0, 0, 0)
CTS_TEXTURE_(tex2DLod, cudaTextureType2D, (float x, float y, float), (x, y), 2, x, y, 0, 0)
CTS_TEXTURE_(tex3DLod, cudaTextureType3D, (float x, float y, float z, float), (x, y, z), 3, x, y, z,
             0)
CTS_TEXTURE_(tex1DLayeredLod, cudaTextureType1DLayered, (float x, int layer, float), (x, layer), 1,
             x, 0, 0, layer)
CTS_TEXTURE_(tex2DLayeredLod, cudaTextureType2DLayered, (float x, float y, int layer, float),
             (x, y, layer), 2, x, y, 0, layer)
CTS_TEXTURE_(tex1DGrad, cudaTextureType1D, (float x, float, float), (x), 1, x, 0, 0, 0)
CTS_TEXTURE_(tex2DGrad, cudaTextureType2D, (float x, float y, float2, float2), (x, y), 2, x, y, 0,
             0)
CTS_TEXTURE_(tex3DGrad, cudaTextureType3D, (float x, float y, float z, float4, float4), (x, y, z),
             3, x, y, z, 0)
CTS_TEXTURE_(tex1DLayeredGrad, cudaTextureType1DLayered, (float x, int layer, float, float),
             (x, layer), 1, x, 0, 0, layer)
CTS_TEXTURE_(tex2DLayeredGrad, cudaTextureType2DLayered,
             (float x, float y, int layer, float2, float2), (x, y, layer), 2, x, y, 0, layer)
#undef CTS_TEXTURE_
#undef CTS_LIST_

template <class T> CTS_FETCH_ T tex1Dfetch(cudaTextureObject_t handle, int x)
{
    return cts_fetch_<T, 1, true>(handle, 0, 0, 0, 0, x);
}
template <class T> CTS_FETCH_ void tex1Dfetch(T *result, cudaTextureObject_t handle, int x)
{
    *result = cts_fetch_<T, 1, true>(handle, 0, 0, 0, 0, x);
}
template <class T, cudaTextureReadMode mode>
CTS_FETCH_ typename cts_fetched_<T, mode>::type
tex1Dfetch(texture<T, cudaTextureType1D, mode> reference, int x)
{
    return cts_fetch_<typename cts_fetched_<T, mode>::type, 1, true>(cts_handle_(reference), 0, 0,
                                                                     0, 0, x);
}

/* Cube maps: a face is a layer. Edges are not seamless. */
template <class T>
CTS_FETCH_ T cts_cube_fetch_(unsigned long long handle, float x, float y, float z, int layer)
{
    float s, t;
    const int face = __cts_cube_face(x, y, z, &s, &t);
    return cts_fetch_<T, 2>(handle, s, t, 0, 6 * layer + face);
}
template <class T> CTS_FETCH_ T texCubemap(cudaTextureObject_t handle, float x, float y, float z)
{
    return cts_cube_fetch_<T>(handle, x, y, z, 0);
}
template <class T>
CTS_FETCH_ T texCubemapLayered(cudaTextureObject_t handle, float x, float y, float z, int layer)
{
    return cts_cube_fetch_<T>(handle, x, y, z, layer);
}
template <class T>
CTS_FETCH_ T texCubemapLod(cudaTextureObject_t handle, float x, float y, float z, float)
{
    return cts_cube_fetch_<T>(handle, x, y, z, 0);
}
template <class T>
CTS_FETCH_ T texCubemapLayeredLod(cudaTextureObject_t handle, float x, float y, float z, int layer,
                                  float)
{
    return cts_cube_fetch_<T>(handle, x, y, z, layer);
}
template <class T, cudaTextureReadMode mode>
CTS_FETCH_ typename cts_fetched_<T, mode>::type
texCubemap(texture<T, cudaTextureTypeCubemap, mode> reference, float x, float y, float z)
{
    return cts_cube_fetch_<typename cts_fetched_<T, mode>::type>(cts_handle_(reference), x, y, z,
                                                                 0);
}

/* ---- surfaces: x counts bytes ---- */

template <class T>
CTS_FETCH_ T cts_surface_load_(unsigned long long handle, int dims, int x, int y, int z, int layer,
                               cudaSurfaceBoundaryMode mode)
{
    typedef typename cts_lanes_<typename cts_texel_<T>::base, cts_texel_<T>::count>::type lanes;
    const void *const texel =
        __cts_surface(handle, dims, x, y, z, layer, (int)sizeof(T), (int)mode);
    lanes value = (typename cts_texel_<T>::base)0;
    if (texel) value = *(const lanes *)texel;
    return __builtin_bit_cast(T, value);
}
template <class T>
CTS_FETCH_ void cts_surface_store_(T value, unsigned long long handle, int dims, int x, int y,
                                   int z, int layer, cudaSurfaceBoundaryMode mode)
{
    typedef typename cts_lanes_<typename cts_texel_<T>::base, cts_texel_<T>::count>::type lanes;
    void *const texel = __cts_surface(handle, dims, x, y, z, layer, (int)sizeof(T), (int)mode);
    if (texel) *(lanes *)texel = __builtin_bit_cast(lanes, value);
}

#define CTS_SURFACE_(name, surface_type, parameters, dims, x, y, z, layer)                         \
    template <class T>                                                                             \
    CTS_FETCH_ T name##read(cudaSurfaceObject_t handle, CTS_LIST_ parameters,                      \
                            cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                   \
    {                                                                                              \
        return cts_surface_load_<T>(handle, dims, x, y, z, layer, mode);                           \
    }                                                                                              \
    template <class T>                                                                             \
    CTS_FETCH_ void name##read(T *result, cudaSurfaceObject_t handle, CTS_LIST_ parameters,        \
                               cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                \
    {                                                                                              \
        *result = cts_surface_load_<T>(handle, dims, x, y, z, layer, mode);                        \
    }                                                                                              \
    template <class T>                                                                             \
    CTS_FETCH_ void name##write(T value, cudaSurfaceObject_t handle, CTS_LIST_ parameters,         \
                                cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)               \
    {                                                                                              \
        cts_surface_store_<T>(value, handle, dims, x, y, z, layer, mode);                          \
    }                                                                                              \
    template <class T, class S_>                                                                   \
    CTS_FETCH_ T name##read(surface<S_, surface_type> reference, CTS_LIST_ parameters,             \
                            cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                   \
    {                                                                                              \
        return cts_surface_load_<T>(cts_handle_(reference), dims, x, y, z, layer, mode);           \
    }                                                                                              \
    template <class T, class S_>                                                                   \
    CTS_FETCH_ void name##read(T *result, surface<S_, surface_type> reference,                     \
                               CTS_LIST_ parameters,                                               \
                               cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                \
    {                                                                                              \
        *result = cts_surface_load_<T>(cts_handle_(reference), dims, x, y, z, layer, mode);        \
    }                                                                                              \
    template <class T, class S_>                                                                   \
    CTS_FETCH_ void name##write(T value, surface<S_, surface_type> reference,                      \
                                CTS_LIST_ parameters,                                              \
                                cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)               \
    {                                                                                              \
        cts_surface_store_<T>(value, cts_handle_(reference), dims, x, y, z, layer, mode);          \
    }
#define CTS_LIST_(...) __VA_ARGS__
CTS_SURFACE_(surf1D, cudaSurfaceType1D, (int x), 1, x, 0, 0, 0)
CTS_SURFACE_(surf2D, cudaSurfaceType2D, (int x, int y), 2, x, y, 0, 0)
CTS_SURFACE_(surf3D, cudaSurfaceType3D, (int x, int y, int z), 3, x, y, z, 0)
CTS_SURFACE_(surf1DLayered, cudaSurfaceType1DLayered, (int x, int layer), 1, x, 0, 0, layer)
CTS_SURFACE_(surf2DLayered, cudaSurfaceType2DLayered, (int x, int y, int layer), 2, x, y, 0, layer)
CTS_SURFACE_(surfCubemap, cudaSurfaceTypeCubemap, (int x, int y, int face), 2, x, y, 0, face)
CTS_SURFACE_(surfCubemapLayered, cudaSurfaceTypeCubemapLayered, (int x, int y, int layer_face), 2,
             x, y, 0, layer_face)
#undef CTS_LIST_
#undef CTS_SURFACE_

#endif
