/* Texture fetches and surfaces against a model on the host: address modes, both filters, integer
 * and float channels, references and objects, linear memory, pitched memory, arrays, layers. */
#include "check.h"

/* ---- the model: one axis gives up to two texels and the weight of the second ---- */

struct axis_taps {
    int index[2]; /* -1: border */
    float weight; /* of the second */
};

static int resolve(int i, int size, cudaTextureAddressMode mode, bool normalized)
{
    if (!normalized && (mode == cudaAddressModeWrap || mode == cudaAddressModeMirror))
        mode = cudaAddressModeClamp;
    switch (mode) {
    case cudaAddressModeWrap:
        return ((i % size) + size) % size;
    case cudaAddressModeMirror: {
        const int period = ((i % (2 * size)) + 2 * size) % (2 * size);
        return period < size ? period : 2 * size - 1 - period;
    }
    case cudaAddressModeBorder:
        return i < 0 || i >= size ? -1 : i;
    default:
        return i < 0 ? 0 : i >= size ? size - 1 : i;
    }
}

static axis_taps taps(float x, int size, const cudaTextureDesc &desc)
{
    float at = desc.normalizedCoords ? x * (float)size : x;
    axis_taps t = {};
    if (desc.filterMode == cudaFilterModeLinear) at -= 0.5f;
    const int i = (int)floorf(at);
    t.index[0] = resolve(i, size, desc.addressMode[0], desc.normalizedCoords);
    t.index[1] = resolve(i + 1, size, desc.addressMode[0], desc.normalizedCoords);
    if (desc.filterMode == cudaFilterModeLinear)
        t.weight = floorf((at - floorf(at)) * 256 + 0.5f) / 256; /* 8 bits of fraction */
    return t;
}

enum { WIDTH = 7, HEIGHT = 5, DEPTH = 3 };

static float texel(const float *data, int x, int y, int z, float border)
{
    return x < 0 || y < 0 || z < 0 ? border : data[(z * HEIGHT + y) * WIDTH + x];
}

static float model(const float *data, int dims, float x, float y, float z, int layer,
                   const cudaTextureDesc &desc)
{
    const axis_taps none = {{layer, layer}, 0};
    const axis_taps ax = taps(x, WIDTH, desc);
    const axis_taps ay = dims > 1 ? taps(y, HEIGHT, desc) : axis_taps{{0, 0}, 0};
    const axis_taps az = dims > 2 ? taps(z, DEPTH, desc) : none;
    /* Of two weights' product 8 bits are kept, and the four add up to 1. */
    float sum = 0;
    for (int k = 0; k < 2; k++)
        for (int j = 0; j < 2; j++)
            for (int i = 0; i < 2; i++) {
                const float a = ax.weight, b = ay.weight, c = az.weight;
                const float both = floorf(a * b * 256 + 0.5f) / 256;
                const float weight = dims == 3 ? (i ? a : 1 - a) * (j ? b : 1 - b) * (k ? c : 1 - c)
                                     : k       ? 0
                                     : i && j  ? both
                                     : i       ? a - both
                                     : j       ? b - both
                                               : 1 - a - b + both;
                if (weight != 0)
                    sum += weight *
                           texel(data, ax.index[i], ay.index[j], az.index[k], desc.borderColor[0]);
            }
    return sum;
}

/* ---- objects over arrays ---- */

enum { SAMPLES = 64 };

__global__ void sample(float *out, const float *at, int dims, int layer, cudaTextureObject_t t)
{
    const int i = threadIdx.x;
    const float x = at[3 * i], y = at[3 * i + 1], z = at[3 * i + 2];
    if (layer >= 0)
        out[i] = tex2DLayered<float>(t, x, y, layer);
    else
        out[i] = dims == 1   ? tex1D<float>(t, x)
                 : dims == 2 ? tex2D<float>(t, x, y)
                             : tex3D<float>(t, x, y, z);
}

static void fill_array(cudaArray_t array, const void *data, size_t element_bytes, int height,
                       int depth)
{
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr((void *)data, WIDTH * element_bytes, WIDTH, HEIGHT);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(WIDTH, height, depth);
    copy.kind = cudaMemcpyHostToDevice;
    CUDA(cudaMemcpy3D(&copy));
}

static void test_objects(int dims, bool layered)
{
    static float data[DEPTH * HEIGHT * WIDTH];
    for (int i = 0; i < DEPTH * HEIGHT * WIDTH; i++) data[i] = (float)((i * 37) % 101) / 8;
    const int height = dims > 1 ? HEIGHT : 1, depth = dims > 2 || layered ? DEPTH : 1;
    const cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    CUDA(cudaMalloc3DArray(
        &array, &channels,
        make_cudaExtent(WIDTH, dims > 1 ? HEIGHT : 0, dims > 2 || layered ? DEPTH : 0),
        layered ? cudaArrayLayered : cudaArrayDefault));
    fill_array(array, data, sizeof(float), height, depth);
    float *const out = managed<float>(SAMPLES), *const at = managed<float>(3 * SAMPLES);
    const cudaTextureAddressMode modes[] = {cudaAddressModeWrap, cudaAddressModeClamp,
                                            cudaAddressModeMirror, cudaAddressModeBorder};
    for (int combination = 0; combination < 16; combination++) {
        cudaResourceDesc resource = {};
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = array;
        cudaTextureDesc desc = {};
        /* Of the axes in use: hardware gives a line a second one, of one texel. */
        for (int i = 0; i < dims; i++) desc.addressMode[i] = modes[combination & 3];
        desc.filterMode = combination & 4 ? cudaFilterModeLinear : cudaFilterModePoint;
        desc.normalizedCoords = combination >> 3;
        desc.borderColor[0] = 2.5f;
        cudaTextureObject_t texture;
        CUDA(cudaCreateTextureObject(&texture, &resource, &desc, nullptr));
        for (int i = 0; i < 3 * SAMPLES; i++) {
            const int size = i % 3 == 0 ? WIDTH : i % 3 == 1 ? HEIGHT : DEPTH;
            const float inside = (float)((i * 7919) % 1000) / 1000 * 2 - 0.5f; /* -0.5 .. 1.5 */
            at[i] = desc.normalizedCoords ? inside : inside * (float)size;
        }
        const int layer = layered ? combination % DEPTH : -1;
        sample<<<1, SAMPLES>>>(out, at, dims, layer, texture);
        CUDA(cudaDeviceSynchronize());
        for (int i = 0; i < SAMPLES; i++) {
            const float want = model(data, dims, at[3 * i], at[3 * i + 1], at[3 * i + 2],
                                     layered ? layer : 0, desc);
            CHECK(fabsf(out[i] - want) <= 1e-5f * (1 + fabsf(want)),
                  "%d-D%s combination %d at (%g, %g, %g): %g, not %g", dims,
                  layered ? " layered" : "", combination, at[3 * i], at[3 * i + 1], at[3 * i + 2],
                  out[i], want);
        }
        CUDA(cudaDestroyTextureObject(texture));
    }
    CUDA(cudaFreeArray(array));
}

/* ---- channels ---- */

template <class T> __global__ void fetch_linear(T *out, cudaTextureObject_t t)
{
    out[threadIdx.x] = tex1Dfetch<T>(t, (int)threadIdx.x - 1);
}

/* tex1Dfetch of n texels of type M read as T; outside there is 0. */
template <class M, class T>
static void test_channels(const char *name, cudaTextureReadMode mode,
                          cudaChannelFormatDesc channels, T (*convert)(M))
{
    enum { N = 16 };
    M *const memory = managed<M>(N);
    T *const out = managed<T>(N + 2);
    unsigned char *const bytes = (unsigned char *)memory;
    for (size_t i = 0; i < N * sizeof(M); i++) bytes[i] = (unsigned char)(i * 73 % 120 + 3);
    bytes[0] = 0x80;
    bytes[sizeof(M) - 1] = sizeof(M) <= 4 ? 0x80 : bytes[sizeof(M) - 1];
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = memory;
    resource.res.linear.desc = channels;
    resource.res.linear.sizeInBytes = N * sizeof(M);
    cudaTextureDesc desc = {};
    desc.readMode = mode;
    cudaTextureObject_t texture;
    CUDA(cudaCreateTextureObject(&texture, &resource, &desc, nullptr));
    fetch_linear<T><<<1, N + 2>>>(out, texture);
    CUDA(cudaDeviceSynchronize());
    const T zero = {};
    CHECK(memcmp(&out[0], &zero, sizeof zero) == 0 && memcmp(&out[N + 1], &zero, sizeof zero) == 0,
          "%s outside", name);
    for (int i = 0; i < N; i++) {
        const T want = convert(memory[i]);
        CHECK(memcmp(&out[i + 1], &want, sizeof want) == 0, "%s at %d", name, i);
    }
}

template <class T> static T same(T value)
{
    return value;
}
static float4 of_uchar4(uchar4 v)
{
    return make_float4((float)v.x / 255, (float)v.y / 255, (float)v.z / 255, (float)v.w / 255);
}
static float signed_fraction(int value, float top)
{
    return fmaxf((float)value / top, -1.0f);
}
static float of_char(signed char v)
{
    return signed_fraction(v, 127);
}
static float2 of_short2(short2 v)
{
    return make_float2(signed_fraction(v.x, 32767), signed_fraction(v.y, 32767));
}
static float of_ushort(unsigned short v)
{
    return (float)v / 65535;
}

/* ---- references: CUDA 12 took them out ---- */

#ifdef __CTASCOPE__
texture<float, cudaTextureType1D> reference_linear;
static texture<unsigned char, cudaTextureType2D, cudaReadModeNormalizedFloat> reference_picture;
texture<int2, cudaTextureType2D> reference_pitch;
surface<void, cudaSurfaceType2D> reference_surface;

__global__ void through_references(float *out, float x, float y)
{
    out[0] = tex1Dfetch(reference_linear, 3);
    out[1] = tex2D(reference_picture, x, y);
    const int2 pair = tex2D(reference_pitch, 2, 3);
    out[2] = (float)pair.x;
    out[3] = (float)pair.y;
}

static void test_references()
{
    float *const linear = managed<float>(8), *const out = managed<float>(4);
    for (int i = 0; i < 8; i++) linear[i] = (float)i * 1.5f;
    size_t offset = 77;
    CUDA(cudaBindTexture(&offset, reference_linear, linear, 8 * sizeof(float)));
    CHECK(offset == 0, "%zu", offset);

    static unsigned char picture[HEIGHT * WIDTH];
    static float fractions[HEIGHT * WIDTH];
    for (int i = 0; i < HEIGHT * WIDTH; i++)
        picture[i] = (unsigned char)(i * 31), fractions[i] = (float)picture[i] / 255;
    const cudaChannelFormatDesc channels = cudaCreateChannelDesc<unsigned char>();
    cudaArray_t array;
    CUDA(cudaMallocArray(&array, &channels, WIDTH, HEIGHT));
    CUDA(cudaMemcpy2DToArray(array, 0, 0, picture, WIDTH, WIDTH, HEIGHT, cudaMemcpyHostToDevice));
    reference_picture.normalized = true;
    reference_picture.filterMode = cudaFilterModeLinear;
    reference_picture.addressMode[0] = reference_picture.addressMode[1] = cudaAddressModeWrap;
    CUDA(cudaBindTextureToArray(reference_picture, array, channels));

    int2 *plane;
    size_t pitch;
    CUDA(cudaMallocPitch(&plane, &pitch, WIDTH * sizeof(int2), HEIGHT));
    static int2 pairs[HEIGHT * WIDTH];
    for (int i = 0; i < HEIGHT * WIDTH; i++) pairs[i] = make_int2(i, -i);
    CUDA(cudaMemcpy2D(plane, pitch, pairs, WIDTH * sizeof(int2), WIDTH * sizeof(int2), HEIGHT,
                      cudaMemcpyHostToDevice));
    CUDA(cudaBindTexture2D(nullptr, reference_pitch, plane, WIDTH, HEIGHT, pitch));

    through_references<<<1, 1>>>(out, 0.93f, 1.27f);
    CUDA(cudaDeviceSynchronize());
    cudaTextureDesc desc = {};
    desc.filterMode = cudaFilterModeLinear;
    desc.normalizedCoords = 1;
    desc.addressMode[0] = desc.addressMode[1] = cudaAddressModeWrap;
    const float want = model(fractions, 2, 0.93f, 1.27f, 0, 0, desc);
    CHECK(out[0] == 4.5f, "%g", out[0]);
    CHECK(fabsf(out[1] - want) < 1e-5f, "%g, not %g", out[1], want);
    CHECK(out[2] == 3 * WIDTH + 2 && out[3] == -(3 * WIDTH + 2), "%g %g", out[2], out[3]);
    CUDA(cudaUnbindTexture(reference_linear));
}

#endif

/* ---- surfaces ---- */

__global__ void paint(cudaSurfaceObject_t s, float *out)
{
    const int x = threadIdx.x, y = threadIdx.y;
    surf2Dwrite((float)(10 * y + x), s, x * (int)sizeof(float), y);
    /* Outside: dropped, and read as zero; or at the edge. */
    surf2Dwrite(-1.0f, s, (x + WIDTH) * (int)sizeof(float), y, cudaBoundaryModeZero);
    __syncthreads();
    out[y * WIDTH + x] = surf2Dread<float>(s, (WIDTH - 1 - x) * (int)sizeof(float), y);
    if (x == 0 && y == 0) {
        out[HEIGHT * WIDTH] = surf2Dread<float>(s, -4, 0, cudaBoundaryModeZero);
        out[HEIGHT * WIDTH + 1] = surf2Dread<float>(s, 400, 2, cudaBoundaryModeClamp);
    }
}

#ifdef __CTASCOPE__
__global__ void paint_reference()
{
    surf2Dwrite(make_float2((float)threadIdx.x, 1), reference_surface,
                (int)(threadIdx.x * sizeof(float2)), 1);
}
#endif

static void test_surfaces()
{
    cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    CUDA(cudaMallocArray(&array, &channels, WIDTH, HEIGHT, cudaArraySurfaceLoadStore));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaSurfaceObject_t surface;
    CUDA(cudaCreateSurfaceObject(&surface, &resource));
    float *const out = managed<float>(HEIGHT * WIDTH + 2);
    paint<<<1, dim3(WIDTH, HEIGHT)>>>(surface, out);
    CUDA(cudaDeviceSynchronize());
    static float host[HEIGHT * WIDTH];
    CUDA(cudaMemcpy2DFromArray(host, WIDTH * sizeof(float), array, 0, 0, WIDTH * sizeof(float),
                               HEIGHT, cudaMemcpyDeviceToHost));
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            CHECK(host[y * WIDTH + x] == (float)(10 * y + x), "%d %d", x, y);
            CHECK(out[y * WIDTH + x] == (float)(10 * y + WIDTH - 1 - x), "%d %d", x, y);
        }
    CHECK(out[HEIGHT * WIDTH] == 0 && out[HEIGHT * WIDTH + 1] == 20 + WIDTH - 1, "%g %g",
          out[HEIGHT * WIDTH], out[HEIGHT * WIDTH + 1]);
    CUDA(cudaDestroySurfaceObject(surface));

#ifdef __CTASCOPE__
    channels = cudaCreateChannelDesc<float2>();
    CUDA(cudaMallocArray(&array, &channels, WIDTH, HEIGHT, cudaArraySurfaceLoadStore));
    CUDA(cudaBindSurfaceToArray(reference_surface, array));
    paint_reference<<<1, WIDTH>>>();
    static float2 pairs[HEIGHT * WIDTH];
    CUDA(cudaMemcpy2DFromArray(pairs, WIDTH * sizeof(float2), array, 0, 0, WIDTH * sizeof(float2),
                               HEIGHT, cudaMemcpyDeviceToHost));
    for (int x = 0; x < WIDTH; x++)
        CHECK(pairs[WIDTH + x].x == (float)x && pairs[WIDTH + x].y == 1, "%d: %g", x,
              pairs[WIDTH + x].x);
#endif
}

/* ---- cube maps: every face has its own value, and a texel of another ---- */

__global__ void look(float *out, const float3 *directions, cudaTextureObject_t t)
{
    const float3 d = directions[threadIdx.x];
    out[threadIdx.x] = texCubemap<float>(t, d.x, d.y, d.z);
}

static void test_cube()
{
    enum { SIDE = 4, DIRECTIONS = 12 };
    static float faces[6][SIDE][SIDE];
    for (int i = 0; i < 6 * SIDE * SIDE; i++) (&faces[0][0][0])[i] = (float)i;
    cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    CUDA(cudaMalloc3DArray(&array, &channels, make_cudaExtent(SIDE, SIDE, 6), cudaArrayCubemap));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(faces, SIDE * sizeof(float), SIDE, SIDE);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(SIDE, SIDE, 6);
    copy.kind = cudaMemcpyHostToDevice;
    CUDA(cudaMemcpy3D(&copy));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc desc = {};
    for (int i = 0; i < 3; i++) desc.addressMode[i] = cudaAddressModeClamp;
    desc.normalizedCoords = 1;
    cudaTextureObject_t texture;
    CUDA(cudaCreateTextureObject(&texture, &resource, &desc, nullptr));
    /* One axis dominates; the other two pick a quarter of the face. By the table of the programming
     * guide: face, column from s, row from t. */
    float3 *const directions = managed<float3>(DIRECTIONS);
    float *const out = managed<float>(DIRECTIONS);
    float want[DIRECTIONS];
    for (int i = 0; i < DIRECTIONS; i++) {
        const int face = i % 6;
        const float major = face & 1 ? -2.0f : 2.0f, u = i < 6 ? 1.2f : -0.6f, v = -0.4f;
        const float3 d = face < 2   ? make_float3(major, u, v)
                         : face < 4 ? make_float3(u, major, v)
                                    : make_float3(u, v, major);
        const float s = face == 0 ? -d.z : face == 1 ? d.z : face == 5 ? -d.x : d.x;
        const float t = face == 2 ? d.z : face == 3 ? -d.z : -d.y;
        directions[i] = d;
        want[i] = faces[face][(int)((t / 2 + 1) / 2 * SIDE)][(int)((s / 2 + 1) / 2 * SIDE)];
    }
    look<<<1, DIRECTIONS>>>(out, directions, texture);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < DIRECTIONS; i++)
        CHECK(out[i] == want[i], "cube %d: %g, not %g", i, out[i], want[i]);
    CUDA(cudaDestroyTextureObject(texture));
    CUDA(cudaFreeArray(array));
}

int main()
{
    test_cube();
    test_objects(1, false);
    test_objects(2, false);
    test_objects(3, false);
    test_objects(2, true);
    const cudaTextureReadMode element = cudaReadModeElementType,
                              normalized = cudaReadModeNormalizedFloat;
    test_channels<float, float>("float", element, cudaCreateChannelDesc<float>(), same<float>);
    test_channels<float4, float4>("float4", element, cudaCreateChannelDesc<float4>(), same<float4>);
    test_channels<int, int>("int", element, cudaCreateChannelDesc<int>(), same<int>);
    test_channels<uint2, uint2>("uint2", element, cudaCreateChannelDesc<uint2>(), same<uint2>);
    test_channels<short4, short4>("short4", element, cudaCreateChannelDesc<short4>(), same<short4>);
    test_channels<uchar4, uchar4>("uchar4", element, cudaCreateChannelDesc<uchar4>(), same<uchar4>);
    test_channels<unsigned char, unsigned char>(
        "unsigned char", element, cudaCreateChannelDesc<unsigned char>(), same<unsigned char>);
    test_channels<uchar4, float4>("uchar4 as float4", normalized, cudaCreateChannelDesc<uchar4>(),
                                  of_uchar4);
    test_channels<signed char, float>("char as float", normalized, cudaCreateChannelDesc<char>(),
                                      of_char);
    test_channels<short2, float2>("short2 as float2", normalized, cudaCreateChannelDesc<short2>(),
                                  of_short2);
    test_channels<unsigned short, float>("ushort as float", normalized,
                                         cudaCreateChannelDesc<unsigned short>(), of_ushort);
#ifdef __CTASCOPE__
    test_references();
#endif
    test_surfaces();
    return finish();
}
