/* Allocating, freeing and asking about memory. The device has 64 MiB here. */
#include "kernels.h"

#include <sys/wait.h>
#include <unistd.h>

enum { MIB = 1 << 20 };

static void malloc_and_free(void **state)
{
    (void)state;
    int *a = NULL, *b = NULL;
    assert_success(cudaMalloc((void **)&a, 1000));
    assert_success(cudaMalloc((void **)&b, MIB));
    assert_int_equal((uintptr_t)a % 256, 0);
    assert_int_equal((uintptr_t)b % 256, 0);
    struct cudaPointerAttributes attributes;
    assert_success(cudaPointerGetAttributes(&attributes, (char *)b + 100));
    assert_int_equal(attributes.type, cudaMemoryTypeDevice);
    assert_int_equal(attributes.device, 0);
    assert_success(cudaFree(a));
    assert_success(cudaFree(b));
    assert_success(cudaFree(NULL));
    int *again = NULL;
    assert_success(cudaMalloc((void **)&again, 1000));
    assert_ptr_equal(again, a); /* the same calls give the same addresses */
    assert_success(cudaFree(again));
}

static void wrong_frees(void **state)
{
    (void)state;
    int *a = NULL, *pinned = NULL, on_stack;
    assert_success(cudaMalloc((void **)&a, MIB));
    assert_success(cudaMallocHost((void **)&pinned, 100));
    assert_int_equal(cudaFree(a + 1), cudaErrorInvalidValue);
    assert_int_equal(cudaFree(&on_stack), cudaErrorInvalidValue);
    assert_int_equal(cudaFree(pinned), cudaErrorInvalidValue);
    assert_int_equal(cudaFreeHost(a), cudaErrorInvalidValue);
    assert_success(cudaFree(a));
    assert_int_equal(cudaFree(a), cudaErrorInvalidValue); /* twice */
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidValue);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    assert_success(cudaFreeHost(pinned));
}

static void no_more_memory(void **state)
{
    (void)state;
    size_t free_bytes, total;
    assert_success(cudaMemGetInfo(&free_bytes, &total));
    assert_int_equal(total, 64 * MIB);
    assert_int_equal(free_bytes, 64 * MIB);
    void *most = NULL, *more = NULL;
    assert_success(cudaMalloc(&most, 40 * MIB));
    assert_int_equal(cudaMalloc(&more, 40 * MIB), cudaErrorMemoryAllocation);
    assert_int_equal(cudaPeekAtLastError(), cudaErrorMemoryAllocation);
    assert_int_equal(cudaGetLastError(), cudaErrorMemoryAllocation);
    assert_success(cudaMemGetInfo(&free_bytes, &total));
    assert_int_equal(free_bytes, 24 * MIB);
    assert_success(cudaFree(most));
    assert_success(cudaMalloc(&more, 60 * MIB));
    assert_success(cudaFree(more));
    assert_int_equal(cudaMalloc(&more, SIZE_MAX), cudaErrorMemoryAllocation);
    cudaGetLastError();
}

static void pitched(void **state)
{
    (void)state;
    char *rows = NULL;
    size_t pitch = 0;
    assert_success(cudaMallocPitch((void **)&rows, &pitch, 700, 10));
    assert_int_equal(pitch, 1024);
    assert_success(cudaFree(rows));
    struct cudaPitchedPtr box;
    assert_success(cudaMalloc3D(&box, make_cudaExtent(100, 20, 30)));
    assert_int_equal(box.pitch, 512);
    assert_int_equal(box.xsize, 100);
    assert_int_equal(box.ysize, 20);
    assert_success(cudaMemset(box.ptr, 1, 512 * 20 * 30));
    assert_int_equal(cudaMemset(box.ptr, 1, 512 * 20 * 30 + 1), cudaErrorInvalidValue);
    assert_success(cudaFree(box.ptr));
    assert_int_equal(cudaMallocPitch((void **)&rows, &pitch, SIZE_MAX / 2, 9),
                     cudaErrorMemoryAllocation);
    cudaGetLastError();
}

static void host_memory(void **state)
{
    (void)state;
    int *mapped = NULL, *device = NULL;
    assert_success(cudaHostAlloc((void **)&mapped, 4096, cudaHostAllocMapped));
    assert_success(cudaHostGetDevicePointer((void **)&device, mapped, 0));
    assert_success(launch_fill(device, 5, 100, NULL));
    assert_success(cudaDeviceSynchronize());
    for (int i = 0; i < 100; i++) assert_int_equal(mapped[i], 5 + i);
    struct cudaPointerAttributes attributes;
    assert_success(cudaPointerGetAttributes(&attributes, mapped));
    assert_int_equal(attributes.type, cudaMemoryTypeHost);
    unsigned flags = 0;
    assert_success(cudaHostGetFlags(&flags, mapped));
    assert_int_equal(flags & cudaHostAllocMapped, cudaHostAllocMapped);
    assert_success(cudaFreeHost(mapped));
    assert_int_equal(cudaFreeHost(mapped), cudaErrorInvalidValue);

    int *const own = calloc(100, sizeof *own);
    assert_int_equal(cudaHostGetDevicePointer((void **)&device, own, 0), cudaErrorInvalidValue);
    assert_success(cudaHostRegister(own, 400, cudaHostRegisterMapped));
    assert_int_equal(cudaHostRegister(own + 10, 40, 0), cudaErrorHostMemoryAlreadyRegistered);
    assert_success(cudaHostGetDevicePointer((void **)&device, own + 50, 0));
    assert_success(cudaHostUnregister(own));
    assert_int_equal(cudaHostUnregister(own), cudaErrorHostMemoryNotRegistered);
    assert_success(cudaPointerGetAttributes(&attributes, own));
    assert_int_equal(attributes.type, cudaMemoryTypeUnregistered);
    free(own);
    cudaGetLastError();
}

static void managed_memory(void **state)
{
    (void)state;
    int *data = NULL;
    assert_success(cudaMallocManaged((void **)&data, 4000, cudaMemAttachGlobal));
    data[3] = 1;
    assert_success(launch_add(data, 7, 1000, NULL));
    assert_success(cudaDeviceSynchronize());
    assert_int_equal(data[3], 8);
    assert_int_equal(data[999], 7);
    struct cudaPointerAttributes attributes;
    assert_success(cudaPointerGetAttributes(&attributes, data));
    assert_int_equal(attributes.type, cudaMemoryTypeManaged);
    assert_success(cudaMemPrefetchAsync(data, 4000, 0, NULL));
    assert_success(cudaMemAdvise(data, 4000, cudaMemAdviseSetReadMostly, 0));
    assert_int_equal(cudaMemPrefetchAsync(data, 4001, 0, NULL), cudaErrorInvalidValue);
    assert_success(cudaFree(data));
    cudaGetLastError();
}

static void pools_reuse_in_stream_order(void **state)
{
    (void)state;
    cudaStream_t stream, other;
    assert_success(cudaStreamCreate(&stream));
    assert_success(cudaStreamCreate(&other));
    int *a = NULL, *b = NULL, *c = NULL;
    volatile int *const flag = new_flag();
    int *done = NULL;
    assert_success(cudaMallocHost((void **)&done, sizeof *done));
    assert_success(cudaMallocAsync((void **)&a, 4000, stream));
    assert_success(launch_wait(flag, done, stream)); /* the stream does not get on */
    assert_success(launch_fill(a, 1, 1000, stream));
    assert_success(cudaFreeAsync(a, stream));
    assert_int_equal(cudaFreeAsync(a, stream), cudaErrorInvalidValue);
    assert_success(cudaMallocAsync((void **)&b, 4000, stream));
    assert_ptr_equal(b, a); /* safe: the same stream */
    assert_success(cudaMallocAsync((void **)&c, 4000, other));
    assert_ptr_not_equal(c, a);
    cudaMemPool_t pool;
    uint64_t used = 0;
    assert_success(cudaDeviceGetDefaultMemPool(&pool, 0));
    assert_success(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    assert_int_equal(used, 8000);
    __atomic_store_n((int *)(uintptr_t)flag, 1, __ATOMIC_RELEASE);
    assert_success(cudaFreeAsync(b, stream));
    assert_success(cudaFreeAsync(c, other));
    assert_success(cudaDeviceSynchronize());
    assert_success(cudaMemPoolTrimTo(pool, 0));
    size_t free_bytes, total;
    assert_success(cudaMemGetInfo(&free_bytes, &total));
    assert_int_equal(free_bytes, total);
    assert_success(cudaStreamDestroy(stream));
    assert_success(cudaStreamDestroy(other));
    assert_success(cudaFreeHost((void *)(uintptr_t)flag));
    assert_success(cudaFreeHost(done));
    cudaGetLastError();
}

static void a_forked_child_is_refused(void **state)
{
    (void)state;
    void *memory;
    assert_success(cudaMalloc(&memory, 100));
    const pid_t child = fork();
    if (child == 0) {
        void *more;
        const bool refused = cudaMalloc(&more, 100) == cudaErrorInitializationError &&
                             cudaDeviceSynchronize() == cudaErrorInitializationError &&
                             cudaGetLastError() == cudaErrorInitializationError;
        exit(refused ? 0 : 1); /* with the destructors */
    }
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_success(cudaFree(memory));
}

static void reset_gives_everything_back(void **state)
{
    (void)state;
    void *memory;
    cudaStream_t stream;
    size_t free_bytes, total;
    assert_success(cudaMalloc(&memory, MIB));
    assert_success(cudaStreamCreate(&stream));
    assert_success(cudaDeviceReset());
    assert_success(cudaMemGetInfo(&free_bytes, &total));
    assert_int_equal(free_bytes, total);
    assert_int_equal(cudaFree(memory), cudaErrorInvalidValue);
    assert_int_equal(cudaStreamQuery(stream), cudaErrorInvalidResourceHandle);
    cudaGetLastError();
}

int main(void)
{
    setenv("CTASCOPE_MEMORY", "64M", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(malloc_and_free),
        cmocka_unit_test(wrong_frees),
        cmocka_unit_test(no_more_memory),
        cmocka_unit_test(pitched),
        cmocka_unit_test(host_memory),
        cmocka_unit_test(managed_memory),
        cmocka_unit_test(pools_reuse_in_stream_order),
        cmocka_unit_test(a_forked_child_is_refused),
        cmocka_unit_test(reset_gives_everything_back),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
