/* Copies and fills in one, two and three dimensions, symbols, and what is refused. */
#include "kernels.h"

enum { W = 37, H = 11, D = 5 };

static void fill_bytes(unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) bytes[i] = (unsigned char)(i * 7 + i / 256);
}

static void one_dimension(void **state)
{
    (void)state;
    unsigned char there[10000], back[10000] = {0};
    unsigned char *a, *b;
    fill_bytes(there, sizeof there);
    assert_success(cudaMalloc((void **)&a, sizeof there));
    assert_success(cudaMalloc((void **)&b, sizeof there));
    assert_success(cudaMemcpy(a, there, sizeof there, cudaMemcpyHostToDevice));
    assert_success(cudaMemcpy(b + 3, a + 5, 9000, cudaMemcpyDeviceToDevice));
    assert_success(cudaMemcpy(back, b + 3, 9000, cudaMemcpyDefault));
    assert_memory_equal(back, there + 5, 9000);
    assert_success(cudaMemcpy(back, there, 10, cudaMemcpyHostToHost));
    assert_memory_equal(back, there, 10);
    assert_success(cudaMemcpyPeer(b, 0, a, 0, 100));
    assert_int_equal(cudaMemcpyPeer(b, 0, a, 1, 100), cudaErrorInvalidDevice);
    assert_success(cudaFree(a));
    assert_success(cudaFree(b));
    cudaGetLastError();
}

static void what_is_refused(void **state)
{
    (void)state;
    unsigned char host[100], *device;
    assert_success(cudaMalloc((void **)&device, 100));
    assert_int_equal(cudaMemcpy(device, host, 101, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    assert_int_equal(cudaMemcpy(host, device + 50, 51, cudaMemcpyDeviceToHost),
                     cudaErrorInvalidValue);
    assert_int_equal(cudaMemcpy(host, host, 10, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    assert_int_equal(cudaMemcpy(device, device, 10, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    assert_int_equal(cudaMemcpy(device, host, 10, (enum cudaMemcpyKind)9),
                     cudaErrorInvalidMemcpyDirection);
    assert_int_equal(cudaMemcpy(NULL, host, 10, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    assert_success(cudaMemcpy(NULL, NULL, 0, cudaMemcpyHostToDevice));
    assert_int_equal(cudaMemcpy2D(device, 10, host, 10, 11, 2, cudaMemcpyHostToDevice),
                     cudaErrorInvalidPitchValue);
    assert_int_equal(cudaMemcpy2D(device, 20, host, 10, 10, 6, cudaMemcpyHostToDevice),
                     cudaErrorInvalidValue); /* 110 bytes of device memory */
    assert_success(cudaMemcpy2D(device, 18, host, 10, 10, 6, cudaMemcpyHostToDevice));
    assert_int_equal(cudaMemset(host, 0, 10), cudaErrorInvalidValue);
    assert_success(cudaFree(device));
    assert_int_equal(cudaMemcpy(host, device, 10, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    cudaGetLastError();
}

static void two_dimensions(void **state)
{
    (void)state;
    unsigned char there[W * H], back[W * H], *device;
    size_t pitch;
    fill_bytes(there, sizeof there);
    assert_success(cudaMallocPitch((void **)&device, &pitch, W, H));
    assert_success(cudaMemset2D(device, pitch, 0xAA, W, H));
    assert_success(
        cudaMemcpy2D(device + pitch + 2, pitch, there, W, W - 4, H - 2, cudaMemcpyHostToDevice));
    assert_success(cudaMemcpy2D(back, W, device, pitch, W, H, cudaMemcpyDeviceToHost));
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            const bool inside = y >= 1 && y < H - 1 && x >= 2 && x < W - 2;
            assert_int_equal(back[y * W + x], inside ? there[(y - 1) * W + x - 2] : 0xAA);
        }
    assert_success(cudaFree(device));
}

static void three_dimensions(void **state)
{
    (void)state;
    static unsigned char there[W * H * D], back[W * H * D];
    fill_bytes(there, sizeof there);
    struct cudaPitchedPtr box;
    assert_success(cudaMalloc3D(&box, make_cudaExtent(W, H, D)));
    assert_success(cudaMemset3D(box, 0x55, make_cudaExtent(W, H, D)));
    struct cudaMemcpy3DParms in = {.srcPtr = make_cudaPitchedPtr(there, W, W, H),
                                   .srcPos = make_cudaPos(1, 2, 1),
                                   .dstPtr = box,
                                   .dstPos = make_cudaPos(3, 1, 2),
                                   .extent = make_cudaExtent(W - 5, H - 4, D - 2),
                                   .kind = cudaMemcpyHostToDevice};
    assert_success(cudaMemcpy3D(&in));
    struct cudaMemcpy3DParms out = {.srcPtr = box,
                                    .dstPtr = make_cudaPitchedPtr(back, W, W, H),
                                    .extent = make_cudaExtent(W, H, D),
                                    .kind = cudaMemcpyDeviceToHost};
    assert_success(cudaMemcpy3DAsync(&out, NULL));
    assert_success(cudaDeviceSynchronize());
    for (int z = 0; z < D; z++)
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++) {
                const int fx = x - 3 + 1, fy = y - 1 + 2, fz = z - 2 + 1;
                const bool inside =
                    x >= 3 && x < 3 + W - 5 && y >= 1 && y < 1 + H - 4 && z >= 2 && z < 2 + D - 2;
                assert_int_equal(back[(z * H + y) * W + x],
                                 inside ? there[(fz * H + fy) * W + fx] : 0x55);
            }
    in.extent = make_cudaExtent(W, H, D); /* with the position it leaves the box */
    assert_int_equal(cudaMemcpy3D(&in), cudaErrorInvalidValue);
    assert_success(cudaFree(box.ptr));
    cudaGetLastError();
}

static void symbols(void **state)
{
    (void)state;
    int there[16], back[16], constants[4];
    for (int i = 0; i < 16; i++) there[i] = i * i;
    assert_success(
        cudaMemcpyToSymbol(shadow_table, there, sizeof there, 0, cudaMemcpyHostToDevice));
    assert_success(cudaMemcpyFromSymbol(back, shadow_table, 20, 12, cudaMemcpyDeviceToHost));
    assert_memory_equal(back, there + 3, 20);
    assert_success(cudaMemcpyFromSymbol(constants, shadow_constant, 16, 0, cudaMemcpyDefault));
    assert_int_equal(constants[3], 4);
    int *address = NULL;
    size_t size = 0;
    assert_success(cudaGetSymbolAddress((void **)&address, shadow_table));
    assert_success(cudaGetSymbolSize(&size, shadow_table));
    assert_int_equal(size, 64);
    assert_success(launch_add(address, 100, 16, NULL));
    assert_success(cudaMemcpyFromSymbol(back, shadow_table, 64, 0, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 16; i++) assert_int_equal(back[i], i * i + 100);
    struct cudaPointerAttributes attributes;
    assert_success(cudaPointerGetAttributes(&attributes, address));
    assert_int_equal(attributes.type, cudaMemoryTypeDevice);
    assert_int_equal(cudaMemcpyToSymbol(shadow_table, there, 64, 4, cudaMemcpyHostToDevice),
                     cudaErrorInvalidValue);
    assert_int_equal(cudaMemcpyToSymbol(shadow_table, there, 64, 0, cudaMemcpyDeviceToHost),
                     cudaErrorInvalidMemcpyDirection);
    assert_int_equal(cudaMemcpyToSymbol(there, there, 4, 0, cudaMemcpyHostToDevice),
                     cudaErrorInvalidSymbol);
    assert_success(cudaGetSymbolAddress((void **)&address, &shadow_managed));
    assert_int_equal(*address, 7); /* the host sees it too */
    cudaGetLastError();
}

/* The source of an asynchronous copy from pageable memory may be reused when the call returns. */
static void pageable_sources_are_staged(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    cudaStream_t stream;
    volatile int *const flag = new_flag();
    int *const there = calloc(COUNT, sizeof *there), *const back = calloc(COUNT, sizeof *back);
    int *done, *device;
    assert_success(cudaStreamCreate(&stream));
    assert_success(cudaMallocHost((void **)&done, sizeof *done));
    assert_success(cudaMalloc((void **)&device, COUNT * sizeof *device));
    for (int i = 0; i < COUNT; i++) there[i] = i;
    assert_success(launch_wait(flag, done, stream));
    assert_success(
        cudaMemcpyAsync(device, there, COUNT * sizeof *there, cudaMemcpyHostToDevice, stream));
    assert_int_equal(cudaStreamQuery(stream), cudaErrorNotReady);
    memset(there, 0xFF, COUNT * sizeof *there);
    __atomic_store_n((int *)(uintptr_t)flag, 1, __ATOMIC_RELEASE);
    /* To pageable memory the call waits. */
    assert_success(
        cudaMemcpyAsync(back, device, COUNT * sizeof *back, cudaMemcpyDeviceToHost, stream));
    for (int i = 0; i < COUNT; i++) assert_int_equal(back[i], i);
    assert_success(cudaStreamDestroy(stream));
    assert_success(cudaFree(device));
    free(there);
    free(back);
    cudaGetLastError();
}

static void arrays(void **state)
{
    (void)state;
    const struct cudaChannelFormatDesc format =
        cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindSigned);
    int there[H][W], back[H][W];
    for (int i = 0; i < W * H; i++) (&there[0][0])[i] = i * 3;
    cudaArray_t array, copy;
    assert_success(cudaMallocArray(&array, &format, W, H, cudaArrayDefault));
    assert_success(cudaMallocArray(&copy, &format, W, H, cudaArrayDefault));
    assert_success(
        cudaMemcpy2DToArray(array, 0, 0, there, W * 4, W * 4, H, cudaMemcpyHostToDevice));
    assert_success(
        cudaMemcpy2DArrayToArray(copy, 0, 0, array, 0, 0, W * 4, H, cudaMemcpyDeviceToDevice));
    assert_success(
        cudaMemcpy2DFromArray(back, W * 4, copy, 0, 0, W * 4, H, cudaMemcpyDeviceToHost));
    assert_memory_equal(there, back, sizeof there);
    memset(back, 0, sizeof back);
    assert_success(cudaMemcpyToArray(copy, 8, 1, there, W * 4 * 3 + 12, cudaMemcpyHostToDevice));
    assert_success(cudaMemcpyFromArray(back, copy, 8, 1, W * 4 * 3 + 12, cudaMemcpyDeviceToHost));
    assert_memory_equal(there, back, W * 4 * 3 + 12);
    assert_int_equal(
        cudaMemcpy2DToArray(array, 4, 0, there, W * 4, W * 4, H, cudaMemcpyHostToDevice),
        cudaErrorInvalidValue);
    struct cudaExtent size;
    struct cudaChannelFormatDesc own;
    unsigned flags;
    assert_success(cudaArrayGetInfo(&own, &size, &flags, array));
    assert_int_equal(size.width, W);
    assert_int_equal(size.depth, 0);
    assert_int_equal(own.x, 32);

    /* In a 3-D copy to an array widths are in elements. */
    cudaArray_t box;
    assert_success(cudaMalloc3DArray(&box, &format, make_cudaExtent(W, H, 2), 0));
    struct cudaMemcpy3DParms in = {.srcPtr = make_cudaPitchedPtr(there, W * 4, W, H),
                                   .dstArray = box,
                                   .dstPos = make_cudaPos(0, 0, 1),
                                   .extent = make_cudaExtent(W, H, 1),
                                   .kind = cudaMemcpyHostToDevice};
    assert_success(cudaMemcpy3D(&in));
    memset(back, 0, sizeof back);
    struct cudaMemcpy3DParms out = {.srcArray = box,
                                    .srcPos = make_cudaPos(0, 0, 1),
                                    .dstPtr = make_cudaPitchedPtr(back, W * 4, W, H),
                                    .extent = make_cudaExtent(W, H, 1),
                                    .kind = cudaMemcpyDeviceToHost};
    assert_success(cudaMemcpy3D(&out));
    assert_memory_equal(there, back, sizeof there);
    assert_success(cudaFreeArray(box));
    assert_success(cudaFreeArray(copy));
    assert_success(cudaFreeArray(array));
    assert_int_equal(cudaFreeArray(array), cudaErrorInvalidResourceHandle);
    const struct cudaChannelFormatDesc odd =
        cudaCreateChannelDesc(8, 8, 8, 0, cudaChannelFormatKindUnsigned);
    assert_int_equal(cudaMallocArray(&array, &odd, 4, 4, 0), cudaErrorInvalidChannelDescriptor);
    cudaGetLastError();
}

static void fetch(cudaTextureObject_t object, int *out)
{
    void *args[] = {&out, &object};
    assert_success(
        cudaLaunchKernel((const void *)(uintptr_t)stub_fetch, extent(1), extent(1), args, 0, NULL));
    assert_success(cudaDeviceSynchronize());
}

static void textures(void **state)
{
    (void)state;
    int there[W], *linear, *out;
    for (int i = 0; i < W; i++) there[i] = 1000 + i;
    assert_success(cudaMalloc((void **)&linear, sizeof there));
    assert_success(cudaMallocManaged((void **)&out, sizeof there, cudaMemAttachGlobal));
    assert_success(cudaMemcpy(linear, there, sizeof there, cudaMemcpyHostToDevice));
    const struct cudaChannelFormatDesc format =
        cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindSigned);
    struct cudaResourceDesc resource = {.resType = cudaResourceTypeLinear};
    resource.res.linear.devPtr = linear;
    resource.res.linear.desc = format;
    resource.res.linear.sizeInBytes = sizeof there;
    struct cudaTextureDesc description = {.readMode = cudaReadModeElementType};
    cudaTextureObject_t object = 0;
    assert_success(cudaCreateTextureObject(&object, &resource, &description, NULL));
    fetch(object, out);
    assert_memory_equal(out, there, sizeof there);
    struct cudaResourceDesc read_back;
    assert_success(cudaGetTextureObjectResourceDesc(&read_back, object));
    assert_ptr_equal(read_back.res.linear.devPtr, linear);
    assert_success(cudaDestroyTextureObject(object));
    assert_int_equal(cudaDestroyTextureObject(object), cudaErrorInvalidValue);
    description.filterMode = cudaFilterModeLinear; /* not of integers */
    assert_int_equal(cudaCreateTextureObject(&object, &resource, &description, NULL),
                     cudaErrorInvalidFilterSetting);

    /* A reference. */
    struct textureReference *const reference = (void *)shadow_texture;
    size_t offset = 99;
    memset(out, 0, sizeof there);
    assert_success(cudaBindTexture(&offset, reference, linear, &format, UINT32_MAX));
    assert_int_equal(offset, 0);
    fetch(0, out);
    assert_memory_equal(out, there, sizeof there);
    assert_success(cudaUnbindTexture(reference));
    assert_int_equal(cudaGetTextureAlignmentOffset(&offset, reference),
                     cudaErrorInvalidTextureBinding);
    assert_success(cudaFree(linear));
    assert_success(cudaFree(out));
    cudaGetLastError();
}

static void the_driver_api_is_the_same_device(void **state)
{
    (void)state;
    CUdevice device;
    CUcontext context;
    CUdeviceptr words;
    unsigned back[10];
    assert_int_equal(cuInit(0), CUDA_SUCCESS);
    assert_int_equal(cuDeviceGet(&device, 0), CUDA_SUCCESS);
    assert_int_equal(cuDeviceGet(&device, 7), CUDA_ERROR_INVALID_DEVICE);
    assert_int_equal(cuCtxCreate(&context, 0, device), CUDA_SUCCESS);
    assert_int_equal(cuMemAlloc(&words, sizeof back), CUDA_SUCCESS);
    assert_int_equal(cuMemsetD32(words, 0x01020304, 10), CUDA_SUCCESS);
    assert_int_equal(cuMemcpyDtoH(back, words, sizeof back), CUDA_SUCCESS);
    assert_int_equal(back[9], 0x01020304);
    assert_int_equal(cuMemFree(words), CUDA_SUCCESS);
    assert_int_equal(cuMemFree(words), CUDA_ERROR_INVALID_VALUE);
    const char *name = NULL;
    assert_int_equal(cuGetErrorName(CUDA_ERROR_OUT_OF_MEMORY, &name), CUDA_SUCCESS);
    assert_string_equal(name, "CUDA_ERROR_OUT_OF_MEMORY");
    assert_int_equal(cuCtxDestroy(context), CUDA_SUCCESS);
    cudaGetLastError();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_dimension),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(two_dimensions),
        cmocka_unit_test(three_dimensions),
        cmocka_unit_test(symbols),
        cmocka_unit_test(pageable_sources_are_staged),
        cmocka_unit_test(arrays),
        cmocka_unit_test(textures),
        cmocka_unit_test(the_driver_api_is_the_same_device),
    };
    return cmocka_run_group_tests_name("copy", tests, NULL, NULL);
}
