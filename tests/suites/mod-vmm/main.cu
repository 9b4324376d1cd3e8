// A growable vector on the driver's virtual memory management.
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda.h>
#include <cuda_runtime.h>
#define DRV(x)                                                                                     \
    do {                                                                                           \
        CUresult r_ = (x);                                                                         \
        if (r_ != CUDA_SUCCESS) {                                                                  \
            const char *s;                                                                         \
            cuGetErrorName(r_, &s);                                                                \
            std::fprintf(stderr, "%s: %s\n", #x, s);                                               \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)
class VectorVMM
{
    CUdeviceptr base = 0;
    size_t reserved = 0, mapped = 0, gran = 0;
    CUmemAllocationProp prop = {};
    CUmemAccessDesc access = {};
    std::vector<std::pair<CUmemGenericAllocationHandle, size_t>> chunks;

  public:
    explicit VectorVMM(int device, size_t most)
    {
        prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        prop.location.id = device;
        access.location = prop.location;
        access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        DRV(cuMemGetAllocationGranularity(&gran, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
        reserved = (most + gran - 1) / gran * gran;
        DRV(cuMemAddressReserve(&base, reserved, 0, 0, 0));
    }
    ~VectorVMM()
    {
        if (mapped) DRV(cuMemUnmap(base, mapped));
        for (auto &c : chunks) DRV(cuMemRelease(c.first));
        DRV(cuMemAddressFree(base, reserved));
    }
    void grow(size_t bytes)
    {
        if (bytes <= mapped) return;
        size_t add = (bytes - mapped + gran - 1) / gran * gran;
        CUmemGenericAllocationHandle h;
        DRV(cuMemCreate(&h, add, &prop, 0));
        DRV(cuMemMap(base + mapped, add, 0, h, 0));
        DRV(cuMemSetAccess(base + mapped, add, &access, 1));
        chunks.push_back({h, add});
        mapped += add;
    }
    template <class T> T *as() const { return reinterpret_cast<T *>(base); }
    size_t size() const { return mapped; }
};
__global__ void iota(int *p, int from, int to)
{
    for (int i = from + blockIdx.x * blockDim.x + threadIdx.x; i < to; i += gridDim.x * blockDim.x)
        p[i] = i;
}
__global__ void sum(const int *p, int n, unsigned long long *out)
{
    unsigned long long s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        s += p[i];
    for (int o = 16; o; o >>= 1) s += __shfl_down_sync(~0u, s, o);
    if ((threadIdx.x & 31) == 0) atomicAdd(out, s);
}
int main()
{
    DRV(cuInit(0));
    CUdevice dev;
    DRV(cuDeviceGet(&dev, 0));
    int ok = 0;
    DRV(cuDeviceGetAttribute(&ok, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, dev));
    if (!ok) {
        puts("no VMM");
        return 3;
    }
    cudaFree(0);
    VectorVMM v(0, 64 << 20);
    unsigned long long *out, h;
    cudaMallocManaged(&out, 8);
    int bad = 0, n = 0;
    for (int step = 1; step <= 3; step++) {
        int to = step * 700000;
        v.grow(size_t(to) * 4);
        iota<<<16, 128>>>(v.as<int>(), n, to);
        n = to;
        *out = 0;
        sum<<<16, 128>>>(v.as<int>(), n, out);
        cudaDeviceSynchronize();
        h = *out;
        bad += h != (unsigned long long)n * (n - 1) / 2;
        printf("%d in %zu bytes: %llu\n", n, v.size(), h);
    }
    return bad || cudaGetLastError() != cudaSuccess;
}
