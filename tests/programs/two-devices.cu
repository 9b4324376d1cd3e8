/* Several devices: properties and attributes, peer access and copies, work on both at once; and the
 * part of the driver API that programs mix in. */
#include <cuda.h>
#include <cuda_profiler_api.h>
#include <device_launch_parameters.h>
#include "helper.h"
#include <algorithm>

__global__ void SimpleKernel(const float *src, float *dst)
{
    const int idx = blockIdx.x * blockDim.x + threadIdx.x;
    dst[idx] = src[idx] * 2.0f;
}

int main(int argc, char **argv)
{
    /* The number of devices is read when the program starts: start again with two. */
    if (!getenv("CTASCOPE_DEVICES")) {
        setenv("CTASCOPE_DEVICES", "2", 1);
    }
    CUdevice cu_device;
    int count = 0, major = 0, minor = 0, version = 0, runtime = 0, cu_count = 0;
    char name[100];
    size_t bytes;
    EXPECT(cuInit(0) == CUDA_SUCCESS, "cuInit");
    EXPECT(cuDeviceGetCount(&cu_count) == CUDA_SUCCESS &&
               cuDeviceGet(&cu_device, 0) == CUDA_SUCCESS,
           "driver");
    EXPECT(cuDeviceGetName(name, sizeof name, cu_device) == CUDA_SUCCESS && name[0], "name");
    EXPECT(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, cu_device) ==
                   CUDA_SUCCESS &&
               cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
                                    cu_device) == CUDA_SUCCESS,
           "attributes");
    EXPECT(cuDeviceTotalMem(&bytes, cu_device) == CUDA_SUCCESS && bytes > 0, "memory");
    EXPECT(cuDriverGetVersion(&version) == CUDA_SUCCESS, "version");
    checkCudaErrors(cudaRuntimeGetVersion(&runtime));
    checkCudaErrors(cudaGetDeviceCount(&count));
    EXPECT(count == cu_count && count >= 1 && version >= 11000 && runtime >= 11000, "%d %d", count,
           version);
    cudaDeviceProp prop;
    for (int dev = 0; dev < count; dev++) {
        checkCudaErrors(cudaSetDevice(dev));
        checkCudaErrors(cudaGetDeviceProperties(&prop, dev));
        EXPECT(prop.major == major && prop.minor == minor && prop.warpSize == 32, "%d.%d",
               prop.major, prop.minor);
        EXPECT(prop.multiProcessorCount > 0 && prop.maxThreadsPerBlock == 1024 &&
                   prop.sharedMemPerBlock >= 48 << 10 && prop.totalConstMem == 65536 &&
                   prop.regsPerBlock > 0 && prop.maxGridSize[0] > 65535 &&
                   prop.maxThreadsDim[2] == 64 && prop.clockRate > 0 && prop.unifiedAddressing &&
                   prop.canMapHostMemory && prop.concurrentKernels && prop.asyncEngineCount > 0 &&
                   prop.memoryBusWidth > 0 && prop.l2CacheSize > 0 &&
                   prop.maxThreadsPerMultiProcessor >= 1024 && prop.totalGlobalMem > 0 &&
                   prop.textureAlignment > 0,
               "properties");
        int value = 0;
        checkCudaErrors(cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, dev));
        EXPECT(value == 1024, "%d", value);
        printf("Device %d: \"%s\"\n", dev, prop.name);
    }
    cudaDeviceProp wish;
    memset(&wish, 0, sizeof wish);
    wish.major = 3;
    int chosen = -1;
    checkCudaErrors(cudaChooseDevice(&chosen, &wish));
    EXPECT(chosen >= 0 && chosen < count, "%d", chosen);
    EXPECT(cudaSetDevice(count) == cudaErrorInvalidDevice, "no such device");
    EXPECT(cudaGetLastError() == cudaErrorInvalidDevice, "last");
    checkCudaErrors(cudaSetDevice(0));
    checkCudaErrors(cudaProfilerStart());

    const int other = count > 1 ? 1 : 0, n = 4096;
    EXPECT(count == 2, "%d devices, with CTASCOPE_DEVICES=2", count);
    float *g0, *g1, *h0;
    if (other) {
        int access = 0;
        checkCudaErrors(cudaDeviceCanAccessPeer(&access, 0, other));
        EXPECT(access, "peer access");
        checkCudaErrors(cudaDeviceEnablePeerAccess(other, 0));
        EXPECT(cudaDeviceEnablePeerAccess(other, 0) == cudaErrorPeerAccessAlreadyEnabled, "twice");
        cudaGetLastError();
        checkCudaErrors(cudaSetDevice(other));
        checkCudaErrors(cudaDeviceEnablePeerAccess(0, 0));
        checkCudaErrors(cudaSetDevice(0));
    }
    checkCudaErrors(cudaMalloc(&g0, n * sizeof(float)));
    checkCudaErrors(cudaSetDevice(other));
    checkCudaErrors(cudaMalloc(&g1, n * sizeof(float)));
    cudaStream_t stream1;
    checkCudaErrors(cudaStreamCreate(&stream1));
    checkCudaErrors(cudaMallocHost(&h0, n * sizeof(float)));
    for (int i = 0; i < n; i++) h0[i] = (float)(i % 4096);
    cudaPointerAttributes attributes;
    checkCudaErrors(cudaPointerGetAttributes(&attributes, g1));
    EXPECT(attributes.device == other && attributes.type == cudaMemoryTypeDevice, "%d",
           attributes.device);
    checkCudaErrors(cudaSetDevice(0));
    checkCudaErrors(cudaMemcpy(g0, h0, n * sizeof(float), cudaMemcpyDefault));
    checkCudaErrors(cudaMemcpyPeer(g1, other, g0, 0, n * sizeof(float)));
    checkCudaErrors(cudaMemcpyPeerAsync(g0, 0, g1, other, n * sizeof(float), 0));
    checkCudaErrors(cudaDeviceSynchronize());
    checkCudaErrors(cudaSetDevice(other));
    SimpleKernel<<<n / 512, 512, 0, stream1>>>(g0, g1);
    checkCudaErrors(cudaStreamSynchronize(stream1));
    checkCudaErrors(cudaSetDevice(0));
    SimpleKernel<<<n / 512, 512>>>(g1, g0);
    checkCudaErrors(cudaDeviceSynchronize());
    checkCudaErrors(cudaMemcpy(h0, g0, n * sizeof(float), cudaMemcpyDefault));
    for (int i = 0; i < n; i++) EXPECT(h0[i] == (float)i * 4, "%d: %g", i, h0[i]);
    if (other) {
        checkCudaErrors(cudaDeviceDisablePeerAccess(other));
        EXPECT(cudaDeviceDisablePeerAccess(other) == cudaErrorPeerAccessNotEnabled, "twice");
        cudaGetLastError();
    }
    checkCudaErrors(cudaProfilerStop());
    cudaFree(g0), cudaFree(g1), cudaFreeHost(h0);
    return verdict();
}
