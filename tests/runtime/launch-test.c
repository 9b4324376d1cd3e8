/* Launching: checks, arguments, attributes, occupancy, devices. Three devices of 48 KiB shared
 * memory per CTA here, 96 after opting in. */
#include "kernels.h"

static const void *function(void (*stub)(void))
{
    return (const void *)(uintptr_t)stub;
}

static void shapes_are_checked(void **state)
{
    (void)state;
    int *data = NULL, value = 0, n = 0;
    void *args[] = {&data, &value, &n};
    const struct {
        dim3 grid, block;
        size_t shared_bytes;
        cudaError_t error;
    } cases[] = {
        {{1, 1, 1}, {1, 1, 1}, 0, cudaSuccess},
        {{1, 1, 1}, {1024, 1, 1}, 0, cudaSuccess},
        {{0, 1, 1}, {1, 1, 1}, 0, cudaErrorInvalidConfiguration},
        {{1, 1, 1}, {1, 0, 1}, 0, cudaErrorInvalidConfiguration},
        {{1, 1, 1}, {1025, 1, 1}, 0, cudaErrorInvalidConfiguration},
        {{1, 1, 1}, {32, 32, 2}, 0, cudaErrorInvalidConfiguration},
        {{1, 1, 1}, {1, 1, 65}, 0, cudaErrorInvalidConfiguration},
        {{1, 65536, 1}, {1, 1, 1}, 0, cudaErrorInvalidConfiguration},
        {{0x80000000u, 1, 1}, {1, 1, 1}, 0, cudaErrorInvalidConfiguration},
        {{1, 1, 1}, {1, 1, 1}, 48 << 10, cudaSuccess},
        {{1, 1, 1}, {1, 1, 1}, (48 << 10) + 1, cudaErrorInvalidValue},
        {{1, 1, 1}, {1, 1, 1}, SIZE_MAX, cudaErrorInvalidValue},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(cudaLaunchKernel(function(stub_fill), cases[i].grid, cases[i].block, args,
                                          cases[i].shared_bytes, NULL),
                         cases[i].error);
        assert_int_equal(cudaGetLastError(), cases[i].error);
    }
    assert_int_equal(cudaLaunchKernel(function(stub_small), extent(1), extent(65), NULL, 0, NULL),
                     cudaErrorLaunchOutOfResources);
    assert_success(cudaLaunchKernel(function(stub_small), extent(1), extent(64), NULL, 0, NULL));
    assert_int_equal(cudaLaunchKernel(function(stub_fill), extent(1), extent(1), NULL, 0, NULL),
                     cudaErrorInvalidValue);
    assert_success(cudaDeviceSynchronize());
    cudaGetLastError();
}

static void more_shared_memory_by_opting_in(void **state)
{
    (void)state;
    enum { BYTES = 90 << 10 };
    int *out, n = BYTES / 4;
    assert_success(cudaMallocManaged((void **)&out, 8, cudaMemAttachGlobal));
    void *args[] = {&out, &n};
    assert_int_equal(
        cudaLaunchKernel(function(stub_shared), extent(2), extent(1), args, BYTES, NULL),
        cudaErrorInvalidValue);
    assert_int_equal(cudaFuncSetAttribute(function(stub_shared),
                                          cudaFuncAttributeMaxDynamicSharedMemorySize, 97 << 10),
                     cudaErrorInvalidValue);
    assert_success(cudaFuncSetAttribute(function(stub_shared),
                                        cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES));
    assert_success(
        cudaLaunchKernel(function(stub_shared), extent(2), extent(1), args, BYTES, NULL));
    assert_success(cudaDeviceSynchronize());
    assert_int_equal(out[0], n * (n - 1) / 2);
    assert_int_equal(out[1], n * (n - 1) / 2);
    struct cudaFuncAttributes attributes;
    assert_success(cudaFuncGetAttributes(&attributes, function(stub_shared)));
    assert_int_equal(attributes.maxDynamicSharedSizeBytes, BYTES);
    assert_success(cudaFree(out));
    cudaGetLastError();
}

static void arguments_are_copied(void **state)
{
    (void)state;
    int64_t *out;
    assert_success(cudaMallocManaged((void **)&out, 8, cudaMemAttachGlobal));
    struct five_words words = {{1, 20, 300, 4000, 50000}};
    char last = 7;
    void *args[] = {&out, &words, &last};
    assert_success(cudaLaunchKernel(function(stub_struct), extent(1), extent(1), args, 0, NULL));
    memset(&words, 0xFF, sizeof words);
    last = 99;
    assert_success(cudaDeviceSynchronize());
    assert_int_equal(*out, 54328);
    assert_success(cudaFree(out));
}

static void launch_missing(void *data)
{
    *(cudaError_t *)data =
        cudaLaunchKernel(function(stub_missing), extent(1), extent(1), NULL, 0, NULL);
}

static void a_kernel_without_device_code_is_named(void **state)
{
    (void)state;
    char text[500];
    cudaError_t error = cudaSuccess;
    catch_stderr(launch_missing, &error, text, sizeof text);
    assert_int_equal(error, cudaErrorInvalidDeviceFunction);
    assert_string_equal(text, "ctascope: no device code for kernel '_Z7missingv': was its file "
                              "compiled with 'ctascope cc --device=cpu'?\n");
    catch_stderr(launch_missing, &error, text, sizeof text); /* said once */
    assert_int_equal(error, cudaErrorInvalidDeviceFunction);
    assert_string_equal(text, "");
    cudaGetLastError();
}

static void the_triple_chevron(void **state)
{
    (void)state;
    dim3 grid = {0, 0, 0}, block = {0, 0, 0};
    size_t shared_bytes = 0;
    cudaStream_t stream = NULL;
    assert_int_equal(
        __cudaPushCallConfiguration((dim3){1, 2, 3}, (dim3){4, 5, 6}, 7, cudaStreamPerThread), 0);
    assert_int_equal(__cudaPushCallConfiguration(extent(9), extent(8), 0, NULL), 0);
    assert_success(__cudaPopCallConfiguration(&grid, &block, &shared_bytes, &stream));
    assert_int_equal(grid.x, 9);
    assert_success(__cudaPopCallConfiguration(&grid, &block, &shared_bytes, &stream));
    assert_int_equal(grid.z, 3);
    assert_int_equal(block.y, 5);
    assert_int_equal(shared_bytes, 7);
    assert_ptr_equal(stream, cudaStreamPerThread);
    assert_int_equal(__cudaPopCallConfiguration(&grid, &block, &shared_bytes, &stream),
                     cudaErrorMissingConfiguration);
    cudaGetLastError();
}

static void occupancy(void **state)
{
    (void)state;
    int count = 0;
    assert_success(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, function(stub_fill), 256, 0));
    assert_int_equal(count, 8);
    assert_success(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, function(stub_fill), 33, 0));
    assert_int_equal(count, 32);
    assert_success(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, function(stub_fill), 64, 32 << 10));
    assert_int_equal(count, 3); /* 96 KiB */
    assert_success(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, function(stub_small), 128, 0));
    assert_int_equal(count, 0);
    size_t bytes = 0;
    assert_success(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, function(stub_small), 2, 64));
    assert_int_equal(bytes, (48 << 10) - 1024);
}

static void cooperative_grids_must_fit(void **state)
{
    (void)state;
    int *data = NULL, value = 0, n = 0;
    void *args[] = {&data, &value, &n};
    struct cudaDeviceProp properties;
    assert_success(cudaGetDeviceProperties(&properties, 0));
    assert_int_equal(properties.multiProcessorCount, 4);
    assert_success(
        cudaLaunchCooperativeKernel(function(stub_fill), extent(8), extent(1024), args, 0, NULL));
    assert_int_equal(
        cudaLaunchCooperativeKernel(function(stub_fill), extent(9), extent(1024), args, 0, NULL),
        cudaErrorCooperativeLaunchTooLarge);
    cudaLaunchAttribute attribute = {.id = cudaLaunchAttributeCooperative};
    attribute.val.cooperative = 1;
    const cudaLaunchConfig_t config = {
        .gridDim = extent(9), .blockDim = extent(1024), .attrs = &attribute, .numAttrs = 1};
    assert_int_equal(cudaLaunchKernelExC(&config, function(stub_fill), args),
                     cudaErrorCooperativeLaunchTooLarge);
    assert_success(cudaDeviceSynchronize());
    cudaGetLastError();
}

static void devices(void **state)
{
    (void)state;
    int count = 0, device = -1, value = 0, can = 0;
    assert_success(cudaGetDeviceCount(&count));
    assert_int_equal(count, 3);
    assert_int_equal(cudaSetDevice(3), cudaErrorInvalidDevice);
    assert_int_equal(cudaSetDevice(-1), cudaErrorInvalidDevice);
    assert_success(cudaSetDevice(2));
    assert_success(cudaGetDevice(&device));
    assert_int_equal(device, 2);
    struct cudaDeviceProp properties;
    assert_success(cudaGetDeviceProperties(&properties, 2));
    assert_int_equal(properties.warpSize, 32);
    assert_int_equal(properties.sharedMemPerBlockOptin, 96 << 10);
    assert_success(cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 2));
    assert_int_equal(value, 1024);
    assert_int_equal(cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr)9999, 2),
                     cudaErrorInvalidValue);
    assert_success(cudaDeviceCanAccessPeer(&can, 0, 2));
    assert_int_equal(can, 1);
    assert_success(cudaDeviceEnablePeerAccess(0, 0));
    assert_int_equal(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessAlreadyEnabled);

    /* Memory of two devices, and a copy between them. */
    int *here, *there, back = 0, word = 77;
    assert_success(cudaMalloc((void **)&here, 4));
    assert_success(cudaSetDevice(0));
    assert_success(cudaMalloc((void **)&there, 4));
    assert_success(cudaMemcpy(there, &word, 4, cudaMemcpyHostToDevice));
    assert_success(cudaMemcpyPeer(here, 2, there, 0, 4));
    assert_success(cudaMemcpy(&back, here, 4, cudaMemcpyDefault));
    assert_int_equal(back, 77);
    struct cudaPointerAttributes attributes;
    assert_success(cudaPointerGetAttributes(&attributes, here));
    assert_int_equal(attributes.device, 2);
    assert_success(cudaFree(here));
    assert_success(cudaFree(there));
    char id[20];
    assert_success(cudaDeviceGetPCIBusId(id, sizeof id, 1));
    assert_success(cudaDeviceGetByPCIBusId(&device, id));
    assert_int_equal(device, 1);
    size_t limit = 0;
    assert_success(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20));
    assert_success(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
    assert_int_equal(limit, 1 << 20);
    cudaGetLastError();
}

static void call_unsupported(void *data)
{
    cudaMipmappedArray_t array;
    const struct cudaChannelFormatDesc format =
        cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    cudaError_t *const errors = data;
    for (int i = 0; i < 2; i++)
        errors[i] = cudaMallocMipmappedArray(&array, &format, make_cudaExtent(4, 4, 0), 2, 0);
}

static void what_is_not_supported_is_named(void **state)
{
    (void)state;
    char text[500];
    cudaError_t errors[2];
    catch_stderr(call_unsupported, errors, text, sizeof text);
    assert_int_equal(errors[0], cudaErrorNotSupported);
    assert_int_equal(errors[1], cudaErrorNotSupported);
    assert_string_equal(text,
                        "ctascope: cudaMallocMipmappedArray is not supported: mipmapped arrays\n");
    assert_int_equal(cudaGetLastError(), cudaErrorNotSupported);
}

static void error_names(void **state)
{
    (void)state;
    assert_string_equal(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress");
    assert_string_equal(cudaGetErrorString(cudaSuccess), "no error");
    assert_string_equal(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
    assert_string_equal(cudaGetErrorName((cudaError_t)12345), "unrecognized error code");
    assert_string_equal(cudaGetErrorString((cudaError_t)12345), "unrecognized error code");
}

int main(void)
{
    setenv("CTASCOPE_DEVICES", "3", 1);
    setenv("CTASCOPE_SM_COUNT", "4", 1);
    setenv("CTASCOPE_SHARED_MEMORY", "96K", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_are_checked),
        cmocka_unit_test(more_shared_memory_by_opting_in),
        cmocka_unit_test(arguments_are_copied),
        cmocka_unit_test(a_kernel_without_device_code_is_named),
        cmocka_unit_test(the_triple_chevron),
        cmocka_unit_test(occupancy),
        cmocka_unit_test(cooperative_grids_must_fit),
        cmocka_unit_test(devices),
        cmocka_unit_test(what_is_not_supported_is_named),
        cmocka_unit_test(error_names),
    };
    return cmocka_run_group_tests_name("launch", tests, NULL, NULL);
}
