// Where records are best written to: what a ring in host memory takes, and what a ring in device
// memory that is copied takes. gpu-ring prints, for each way, records per second and GB/s.
//
// Each warp writes records of 32 bytes at positions that it gets from its multiprocessor's counter,
// round and round in 64 K slots, as the recorder's patches do; nobody reads them. Copied: a thread
// copies 64 MiB buffers to pinned memory in a stream of its own while the kernel writes the others.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

static void check(cudaError_t status)
{
    if (status == cudaSuccess) return;
    fprintf(stderr, "gpu-ring: %s\n", cudaGetErrorString(status));
    exit(1);
}

enum { SLOTS_LOG2 = 16, SLOT_BYTES = 32, BINS = 1024 };
enum way { ONE_LANE, TWO_LANES, EIGHT_LANES };

template <way Way> __global__ void produce(char *slots, unsigned long long *heads, int records)
{
    unsigned sm;
    asm("mov.u32 %0, %%smid;" : "=r"(sm));
    const int lane = threadIdx.x % 32;
    char *const bin = slots + ((size_t)sm << SLOTS_LOG2) * SLOT_BYTES;
    for (int i = 0; i < records; i++) {
        unsigned long long position = 0;
        if (lane == 0) position = atomicAdd(heads + sm * 16, 1ull);
        position = __shfl_sync(~0u, position, 0) & ((1 << SLOTS_LOG2) - 1);
        char *const slot = bin + position * SLOT_BYTES;
        const unsigned w = (unsigned)position ^ (unsigned)i;
        if (Way == ONE_LANE && lane == 0) {
            asm volatile("st.volatile.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(slot), "r"(w));
            asm volatile("st.volatile.global.v4.u32 [%0+16], {%1, %1, %1, %1};" ::"l"(slot),
                         "r"(w));
        } else if (Way == TWO_LANES && lane < 2) {
            asm volatile(
                "st.volatile.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(slot + 16 * lane),
                "r"(w));
        } else if (Way == EIGHT_LANES && lane < 8) {
            asm volatile("st.volatile.global.u32 [%0], %1;" ::"l"(slot + 4 * lane), "r"(w));
        }
    }
}

static double seconds_since(std::chrono::steady_clock::time_point start)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

static std::atomic<bool> copying;
static std::atomic<uint64_t> copied_bytes;

static void copy(char *device, char *host)
{
    const size_t bytes = (size_t)64 << 20;
    cudaStream_t stream;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    while (copying) {
        check(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream));
        check(cudaStreamSynchronize(stream));
        copied_bytes += bytes;
    }
    check(cudaStreamDestroy(stream));
}

template <way Way>
static void measure(const char *name, int warps_per_sm, char *slots, unsigned long long *heads,
                    char *copy_from, char *copy_to)
{
    int sms;
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    const int records = 20000 * 16 / warps_per_sm;
    const int threads = warps_per_sm > 16 ? 512 : warps_per_sm * 32;
    const int blocks = sms * (warps_per_sm * 32 / threads);
    produce<Way><<<blocks, threads>>>(slots, heads, 100);
    check(cudaDeviceSynchronize());
    std::thread copier;
    copied_bytes = 0;
    copying = copy_from != nullptr;
    if (copy_from) copier = std::thread(copy, copy_from, copy_to);
    while (copy_from && !copied_bytes) std::this_thread::yield();
    copied_bytes = 0;
    const auto start = std::chrono::steady_clock::now();
    produce<Way><<<blocks, threads>>>(slots, heads, records);
    check(cudaGetLastError());
    check(cudaStreamSynchronize(0));
    const double s = seconds_since(start);
    const double copied = (double)copied_bytes;
    copying = false;
    if (copy_from) copier.join();
    const double count = (double)records * warps_per_sm * sms;
    printf("%-44s %2d warps/SM: %6.2f ns per record, %6.1f GB/s", name, warps_per_sm,
           s / count * 1e9, count * SLOT_BYTES / s / 1e9);
    if (copy_from) printf(", copied meanwhile %6.1f GB/s", copied / s / 1e9);
    printf("\n");
}

int main()
{
    const size_t bytes = ((size_t)BINS << SLOTS_LOG2) * SLOT_BYTES / 4; // 256 SMs
    char *host, *device, *target;
    unsigned long long *heads;
    check(cudaMallocHost(&host, bytes));
    check(cudaMallocHost(&target, bytes));
    check(cudaMalloc(&device, bytes));
    check(cudaMalloc(&heads, BINS * 128));
    check(cudaMemset(heads, 0, BINS * 128));
    memset(host, 0, bytes);
    memset(target, 0, bytes);
    for (int warps : {8, 64}) {
        measure<ONE_LANE>("host memory, a lane 2 x 16 bytes", warps, host, heads, nullptr, nullptr);
        measure<TWO_LANES>("host memory, 2 lanes 16 bytes each", warps, host, heads, nullptr,
                           nullptr);
        measure<EIGHT_LANES>("host memory, 8 lanes 4 bytes each", warps, host, heads, nullptr,
                             nullptr);
        measure<TWO_LANES>("device memory, 2 lanes 16 bytes each", warps, device, heads, nullptr,
                           nullptr);
        measure<TWO_LANES>("device memory, copied", warps, device, heads, device, target);
    }
    return 0;
}
