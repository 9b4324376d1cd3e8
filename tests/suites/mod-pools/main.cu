// Stream-ordered allocation: pools, thresholds, attributes, allocation in one stream and free in
// another; occupancy; priorities.
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <memory>
#include <vector>
#include <cuda_runtime.h>
#define CK(x)                                                                                      \
    do {                                                                                           \
        auto e_ = (x);                                                                             \
        if (e_) {                                                                                  \
            fprintf(stderr, "%d: %s\n", __LINE__, cudaGetErrorString(e_));                         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
struct StreamDeleter {
    void operator()(cudaStream_t s) const { cudaStreamDestroy(s); }
};
using Stream = std::unique_ptr<CUstream_st, StreamDeleter>;
template <typename T> class AsyncBuffer
{
    T *p_ = nullptr;
    cudaStream_t s_;

  public:
    AsyncBuffer(size_t n, cudaStream_t s) : s_(s) { CK(cudaMallocAsync(&p_, n * sizeof(T), s)); }
    ~AsyncBuffer() { cudaFreeAsync(p_, s_); }
    AsyncBuffer(const AsyncBuffer &) = delete;
    T *get() const { return p_; }
};
__global__ void histogram(const uint8_t *in, size_t n, unsigned *bins)
{
    extern __shared__ unsigned local[];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
    __syncthreads();
    size_t stride = size_t(gridDim.x) * blockDim.x;
    const uchar4 *in4 = reinterpret_cast<const uchar4 *>(in);
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += stride) {
        uchar4 v = __ldcs(in4 + i);
        atomicAdd(local + v.x, 1);
        atomicAdd(local + v.y, 1);
        atomicAdd(local + v.z, 1);
        atomicAdd(local + v.w, 1);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        if (local[i]) atomicAdd(bins + i, local[i]);
}
int main()
{
    int ok;
    CK(cudaDeviceGetAttribute(&ok, cudaDevAttrMemoryPoolsSupported, 0));
    if (!ok) return 2;
    cudaMemPool_t pool;
    CK(cudaDeviceGetDefaultMemPool(&pool, 0));
    uint64_t threshold = UINT64_MAX;
    CK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    int least, greatest;
    CK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    cudaStream_t raw;
    CK(cudaStreamCreateWithPriority(&raw, cudaStreamNonBlocking, greatest));
    Stream a(raw);
    CK(cudaStreamCreate(&raw));
    Stream b(raw);
    int minGrid, block;
    CK(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&minGrid, &block, histogram,
                                                      [](int) { return size_t(1024); }));
    int grid;
    CK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, histogram, 1024, 256));
    printf("block %d grid %d\n", block, grid);
    const size_t n = 1 << 16;
    std::vector<uint8_t> h(n);
    std::vector<unsigned> want(256), got(256);
    for (size_t i = 0; i < n; i++) {
        h[i] = uint8_t(i * i >> 7);
        want[h[i]]++;
    }
    int bad = 0;
    cudaEvent_t e;
    CK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming | cudaEventBlockingSync));
    for (int round = 0; round < 4; round++) {
        AsyncBuffer<uint8_t> in(n, a.get());
        AsyncBuffer<unsigned> bins(256, a.get());
        CK(cudaMemcpyAsync(in.get(), h.data(), n, cudaMemcpyHostToDevice, a.get()));
        CK(cudaMemsetAsync(bins.get(), 0, 1024, a.get()));
        histogram<<<8, (block < 256 ? block : 256), 1024, a.get()>>>(in.get(), n, bins.get());
        CK(cudaGetLastError());
        CK(cudaEventRecord(e, a.get()));
        CK(cudaStreamWaitEvent(b.get(), e));
        CK(cudaMemcpyAsync(got.data(), bins.get(), 1024, cudaMemcpyDefault, b.get()));
        CK(cudaStreamSynchronize(b.get()));
        bad += got != want;
    }
    uint64_t used, high;
    CK(cudaStreamSynchronize(a.get()));
    CK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    CK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &high));
    printf("used %lu high %lu\n", used, high);
    bad += used != 0 || high < n;
    cudaMemPoolProps props = {};
    props.allocType = cudaMemAllocationTypePinned;
    props.location = {cudaMemLocationTypeDevice, 0};
    cudaMemPool_t own;
    CK(cudaMemPoolCreate(&own, &props));
    void *p;
    CK(cudaMallocFromPoolAsync(&p, 1000, own, a.get()));
    CK(cudaFreeAsync(p, a.get()));
    CK(cudaStreamSynchronize(a.get()));
    CK(cudaMemPoolTrimTo(own, 0));
    CK(cudaMemPoolDestroy(own));
    size_t fr, tot;
    CK(cudaMemGetInfo(&fr, &tot));
    bad += fr > tot;
    printf("bad %d\n", bad);
    return bad != 0;
}
