// Which errors the runtime API keeps as the thread's last error: a row per call, with what it
// returned, what cudaPeekAtLastError() said after it, and what two cudaGetLastError() said then.
// A failure is kept until it is asked for, and a success clears nothing; that work is pending
// (cudaErrorNotReady) is an answer, not a failure; and what the driver API returns is not kept.
//
// All arguments are such that a GPU's runtime refuses them and does not fault.
#include <cuda.h>
#include <cuda_runtime.h>

#include <functional>

#include "../../lang/programs/check.h"

__global__ void nothing() {}
__global__ void hold(volatile int *flag)
{
    while (!*flag) {
    }
}
__device__ int variable[4];

static void row(const char *name, int returned, int kept)
{
    const int peeked = (int)cudaPeekAtLastError();
    const int got = (int)cudaGetLastError(), again = (int)cudaGetLastError();
    printf("%-34s %3d %3d %3d %3d\n", name, returned, peeked, got, again);
    CHECK(peeked == kept && got == kept && again == 0, "%s", name);
}

static void fails(const char *name, const std::function<cudaError_t()> &call)
{
    const int returned = (int)call();
    CHECK(returned != 0, "%s", name);
    row(name, returned, returned);
}

static void launch(const char *name, dim3 grid, dim3 block, size_t shared_bytes)
{
    nothing<<<grid, block, shared_bytes>>>();
    const int kept = (int)cudaPeekAtLastError();
    CHECK(kept != 0, "%s", name);
    row(name, 0, kept);
}

/* Everything else in the table returns at once. */
static void pending()
{
    cudaStream_t stream;
    cudaEvent_t start, event;
    int *flag;
    CUDA(cudaHostAlloc(&flag, sizeof *flag, cudaHostAllocMapped));
    *flag = 0;
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(cudaEventCreate(&start));
    CUDA(cudaEventCreate(&event));
    CUDA(cudaEventRecord(start, stream));
    hold<<<1, 1, 0, stream>>>(flag);
    CUDA(cudaEventRecord(event, stream));
    float ms;
    const cudaError_t of_stream = cudaStreamQuery(stream);
    row("cudaStreamQuery, pending", of_stream, 0);
    const cudaError_t of_event = cudaEventQuery(event);
    row("cudaEventQuery, pending", of_event, 0);
    const cudaError_t elapsed = cudaEventElapsedTime(&ms, start, event);
    row("cudaEventElapsedTime, pending", elapsed, 0);
    CHECK(of_stream == cudaErrorNotReady && of_event == cudaErrorNotReady &&
          elapsed == cudaErrorNotReady);
    const cudaError_t before = cudaSetDevice(12345);
    const cudaError_t then = cudaStreamQuery(stream);
    CHECK(before == cudaErrorInvalidDevice && then == cudaErrorNotReady);
    row("cudaStreamQuery after a failure", then, before);
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
    CUDA(cudaStreamSynchronize(stream));
    row("cudaStreamQuery, done", cudaStreamQuery(stream), 0);
    CUDA(cudaEventDestroy(start));
    CUDA(cudaEventDestroy(event));
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaFreeHost(flag));
}

static void memory()
{
    void *p = nullptr;
    size_t size = 0;
    cudaArray_t array = nullptr;
    char host[64] = {0};
    int *device;
    CUDA(cudaMalloc(&device, 4096));
    fails("cudaMalloc, too large", [&] { return cudaMalloc(&p, (size_t)1 << 50); });
    fails("cudaMallocManaged, flags", [&] { return cudaMallocManaged(&p, 16, 99); });
    fails("cudaHostAlloc, flags", [&] { return cudaHostAlloc(&p, 16, 0xff00); });
    fails("cudaMallocPitch, too large",
          [&] { return cudaMallocPitch(&p, &size, (size_t)1 << 40, 1 << 10); });
    fails("cudaMallocArray, too large", [&] {
        const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
        return cudaMallocArray(&array, &format, (size_t)1 << 40, (size_t)1 << 10);
    });
    fails("cudaFree, inside an allocation", [&] { return cudaFree((char *)device + 16); });
    fails("cudaHostUnregister, unknown", [&] { return cudaHostUnregister(host); });
    fails("cudaHostGetDevicePointer, unknown",
          [&] { return cudaHostGetDevicePointer(&p, host, 0); });
    fails("cudaMemcpy, kind", [&] { return cudaMemcpy(host, device, 16, (cudaMemcpyKind)99); });
    fails("cudaMemcpyAsync, kind",
          [&] { return cudaMemcpyAsync(host, device, 16, (cudaMemcpyKind)99); });
    fails("cudaMemcpy2D, pitch",
          [&] { return cudaMemcpy2D(host, 4, device, 4, 16, 2, cudaMemcpyDeviceToHost); });
    fails("cudaMemcpy, too far", [&] {
        return cudaMemcpy(host, (char *)device + ((size_t)1 << 45), 16, cudaMemcpyDeviceToHost);
    });
    fails("cudaMemset, too far",
          [&] { return cudaMemset((char *)device + ((size_t)1 << 45), 0, 16); });
    fails("cudaMemcpyPeer, device", [&] { return cudaMemcpyPeer(device, 0, device, 12345, 16); });
    fails("cudaMemcpyToSymbol, no symbol",
          [&] { return cudaMemcpyToSymbol((const void *)host, host, 4); });
    fails("cudaMemcpyToSymbol, too much",
          [&] { return cudaMemcpyToSymbol(variable, host, sizeof variable + 4); });
    fails("cudaMemcpyFromSymbol, kind",
          [&] { return cudaMemcpyFromSymbol(host, variable, 4, 0, cudaMemcpyHostToDevice); });
    fails("cudaGetSymbolAddress, no symbol",
          [&] { return cudaGetSymbolAddress(&p, (const void *)host); });
    fails("cudaGetSymbolSize, no symbol",
          [&] { return cudaGetSymbolSize(&size, (const void *)host); });
    cudaPointerAttributes attributes;
    const cudaError_t of_host = cudaPointerGetAttributes(&attributes, host);
    row("cudaPointerGetAttributes, host", of_host, 0);
    CUDA(cudaFree(nullptr));
    CUDA(cudaFree(device));
}

static void devices_and_streams()
{
    int value;
    float ms;
    cudaDeviceProp properties;
    cudaStream_t stream;
    cudaEvent_t event, other;
    cudaFuncAttributes attributes;
    fails("cudaSetDevice", [] { return cudaSetDevice(12345); });
    fails("cudaGetDeviceProperties", [&] { return cudaGetDeviceProperties(&properties, 12345); });
    fails("cudaDeviceGetAttribute, device",
          [&] { return cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 12345); });
    fails("cudaDeviceGetAttribute, attribute",
          [&] { return cudaDeviceGetAttribute(&value, (cudaDeviceAttr)9999, 0); });
    fails("cudaDeviceCanAccessPeer", [&] { return cudaDeviceCanAccessPeer(&value, 0, 12345); });
    fails("cudaDeviceEnablePeerAccess, itself", [] { return cudaDeviceEnablePeerAccess(0, 0); });
    fails("cudaDeviceDisablePeerAccess", [] { return cudaDeviceDisablePeerAccess(12345); });
    fails("cudaDeviceSetLimit", [] { return cudaDeviceSetLimit((cudaLimit)99, 1); });
    fails("cudaStreamCreateWithFlags", [&] { return cudaStreamCreateWithFlags(&stream, 0xff00); });
    fails("cudaEventCreateWithFlags", [&] { return cudaEventCreateWithFlags(&event, 0xff00); });
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaEventCreate(&event));
    CUDA(cudaEventCreate(&other));
    fails("cudaEventElapsedTime, unrecorded",
          [&] { return cudaEventElapsedTime(&ms, event, other); });
    fails("cudaStreamWaitEvent, flags", [&] { return cudaStreamWaitEvent(stream, event, 0xff00); });
    fails("cudaLaunchHostFunc, none", [&] { return cudaLaunchHostFunc(stream, nullptr, nullptr); });
    fails("cudaFuncGetAttributes, no kernel",
          [&] { return cudaFuncGetAttributes(&attributes, (const void *)&value); });
    fails("cudaFuncSetAttribute, no kernel", [&] {
        return cudaFuncSetAttribute((const void *)&value,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, 16);
    });
    row("cudaEventQuery, unrecorded", cudaEventQuery(event), 0);
    row("cudaGetErrorString", (cudaGetErrorString(cudaErrorInvalidValue), 0), 0);
    CUDA(cudaEventDestroy(event));
    CUDA(cudaEventDestroy(other));
    CUDA(cudaStreamDestroy(stream));
}

static void launches()
{
    launch("launch, no CTA", dim3(0), dim3(32), 0);
    launch("launch, no thread", dim3(1), dim3(0), 0);
    launch("launch, 4096 threads", dim3(1), dim3(4096), 0);
    launch("launch, grid.y of 70000", dim3(1, 70000), dim3(32), 0);
    launch("launch, 16 MiB of shared memory", dim3(1), dim3(32), 16 << 20);
    fails("cudaLaunchKernel, no kernel", [] {
        static int none;
        return cudaLaunchKernel((const void *)&none, dim3(1), dim3(1), nullptr, 0, nullptr);
    });
    nothing<<<1, 4096>>>();
    CUDA(cudaDeviceSynchronize());
    row("cudaDeviceSynchronize after it", 0, cudaErrorInvalidConfiguration);
}

static void driver()
{
    CUdeviceptr pointer;
    CUdevice device;
    int value;
    const CUresult alloc = cuMemAlloc(&pointer, (size_t)1 << 50);
    row("cuMemAlloc, too large", alloc, 0);
    const CUresult get = cuDeviceGet(&device, 12345);
    row("cuDeviceGet", get, 0);
    const CUresult attribute = cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 12345);
    row("cuDeviceGetAttribute", attribute, 0);
    CHECK(alloc && get && attribute);
    const cudaError_t before = cudaSetDevice(12345);
    const CUresult count = cuDeviceGetCount(&value);
    CHECK(count == CUDA_SUCCESS);
    row("cuDeviceGetCount after a failure", count, before);
}

int main()
{
    CUDA(cudaFree(nullptr));
    printf("%-34s %3s %3s %3s %3s\n", "call", "ret", "pee", "get", "get");
    memory();
    devices_and_streams();
    launches();
    driver();
    pending();
    return finish();
}
