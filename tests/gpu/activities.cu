// What the timeline of a GPU program must hold: one small program per word on the command line.
// Each prints what it did ("expect KEY COUNT"), as check.py compares it with the archive.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const cudaError_t check = (call);                                                          \
        if (check != cudaSuccess) {                                                                \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(check));         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static void expect(const char *key, long long count)
{
    printf("expect %s %lld\n", key, count);
}

// ---- kernels ----

__global__ void spin(long long cycles)
{
    const long long start = clock64();
    while (clock64() - start < cycles) {
    }
}
__global__ void first(float *data)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] += 1.0f;
}
__global__ void second(float *data)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] *= 2.0f;
}
template <typename T> __global__ void __launch_bounds__(64) shaped(T *data)
{
    __shared__ T shared[64];
    extern __shared__ T dynamic[];
    dynamic[threadIdx.x] = data[threadIdx.x];
    shared[threadIdx.x] = dynamic[63 - threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = shared[63 - threadIdx.x];
}
__global__ void cooperative(int *sum)
{
    const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    if (threadIdx.x == 0) atomicAdd(&sum[0], 1);
    grid.sync();
    if (threadIdx.x == 0) atomicAdd(&sum[1], sum[0]);
}
__global__ void fault(int *nowhere)
{
    *nowhere = 1;
}
__device__ float symbol[256];

static long long cycles_per_us()
{
    int khz = 0;
    CHECK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
    return khz / 1000;
}

// ---- programs ----

// How long kernels are, told in two other ways than by the recorder: by CUDA events and by
// themselves.
//
// Events around one kernel also count what lies between an event and a kernel, more than 2 us.
// Events around N and around 2N kernels, one behind the other, differ by N kernels and N gaps
// between two kernels. All of a batch is queued behind a kernel that waits for the host, so that it
// never waits for being launched. `batch US N: NS` gives the events' time around N kernels of US
// microseconds, `kernel US: NS` a kernel's own first to last look at the device's clock, in the
// order of launches. kernel_times.py compares.
__global__ void wait_for_host(const volatile int *go)
{
    while (!*go) {
    }
}
enum { TIMED_CTAS = 4 };
__global__ void timed(long long cycles, unsigned long long *looks)
{
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    if (threadIdx.x == 0) looks[2 * blockIdx.x] = now;
    const long long start = clock64();
    while (clock64() - start < cycles) {
    }
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    if (threadIdx.x == 0) looks[2 * blockIdx.x + 1] = now;
}

static unsigned long long own_ns(const unsigned long long *looks)
{
    unsigned long long first = looks[0], last = looks[1];
    for (int cta = 1; cta < TIMED_CTAS; cta++) {
        if (looks[2 * cta] < first) first = looks[2 * cta];
        if (looks[2 * cta + 1] > last) last = looks[2 * cta + 1];
    }
    return last - first;
}

static void times()
{
    enum { KINDS = 6, SIZES = 4, ROUNDS = 9, LARGEST = 64, LOOKS = 2 * TIMED_CTAS };
    static const int us[KINDS] = {0, 1, 5, 20, 100, 1000};
    static const int sizes[SIZES] = {0, 1, LARGEST / 2, LARGEST};
    const long long cycles = cycles_per_us();
    unsigned long long *looks, host_looks[LARGEST * LOOKS];
    volatile int *go;
    cudaEvent_t before, after;
    cudaStream_t stream;
    cudaFuncAttributes loaded; // now, not behind a kernel that waits for the host
    int launches = 0;
    CHECK(cudaFuncGetAttributes(&loaded, timed));
    CHECK(cudaMalloc(&looks, sizeof host_looks));
    CHECK(cudaMallocHost((void **)&go, sizeof *go));
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaEventCreate(&before));
    CHECK(cudaEventCreate(&after));
    for (int i = 0; i < ROUNDS * KINDS * SIZES; i++) {
        const int length = us[i / SIZES % KINDS], size = sizes[i % SIZES];
        *go = 0;
        wait_for_host<<<1, 1, 0, stream>>>((const int *)go);
        CHECK(cudaEventRecord(before, stream));
        for (int k = 0; k < size; k++)
            timed<<<TIMED_CTAS, 32, 0, stream>>>(length * cycles, looks + k * LOOKS);
        CHECK(cudaEventRecord(after, stream));
        *go = 1;
        CHECK(cudaStreamSynchronize(stream));
        float ms;
        CHECK(cudaEventElapsedTime(&ms, before, after));
        CHECK(cudaMemcpy(host_looks, looks, sizeof host_looks, cudaMemcpyDeviceToHost));
        printf("batch %d %d: %.0f\n", length, size, ms * 1e6);
        for (int k = 0; k < size; k++)
            printf("kernel %d: %llu\n", length, own_ns(host_looks + k * LOOKS));
        launches += size;
    }
    expect("kernel-named timed(", launches);
    expect("calls cuEventRecord", 2 * ROUNDS * KINDS * SIZES);
}

static void copies()
{
    const size_t bytes = 1 << 20;
    char *device, *other, *pinned;
    char *const pageable = (char *)malloc(bytes);
    memset(pageable, 1, bytes);
    CHECK(cudaMalloc(&device, bytes));
    CHECK(cudaMalloc(&other, bytes));
    CHECK(cudaMallocHost(&pinned, bytes));
    memset(pinned, 2, bytes);
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMemcpy(device, pinned, 1000, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyAsync(device, pinned, 2000, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyToSymbol(symbol, pinned, sizeof symbol));
    CHECK(cudaMemcpy2D(device, 1024, pinned, 512, 512, 16, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyAsync(pinned, device, 3000, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaMemcpy(pinned, device, 4000, cudaMemcpyDefault));
    CHECK(cudaMemcpyAsync(other, device, 5000, cudaMemcpyDeviceToDevice, stream));
    CHECK(cudaMemcpy(other, device, 6000, cudaMemcpyDeviceToDevice));
    cudaArray_t array;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    CHECK(cudaMallocArray(&array, &format, 64, 16));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, pinned, 256, 256, 16, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy2DFromArray(pinned, 256, array, 0, 0, 256, 16, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy2DFromArray(device, 256, array, 0, 0, 256, 16, cudaMemcpyDeviceToDevice));
    CHECK(cudaDeviceSynchronize());
    // host to device: RMA_GET; device to host: RMA_PUT; device to device: RMA_GET
    expect("copy host-to-device", 5);
    expect("bytes host-to-device", 1000 + 2000 + (long long)sizeof(float) * 256 + 8192 + 4096);
    expect("copy device-to-host", 3);
    expect("bytes device-to-host", 3000 + 4000 + 4096);
    expect("copy device-to-device", 3);
    expect("bytes device-to-device", 5000 + 6000 + 4096);
}

static void memsets()
{
    char *device;
    CHECK(cudaMalloc(&device, 1 << 20));
    CHECK(cudaMemset(device, 0, 1 << 20));
    CHECK(cudaMemsetAsync(device, 1, 4096, 0));
    CHECK(cudaMemset2D(device, 1024, 2, 512, 16));
    CHECK((cudaError_t)cuMemsetD32((CUdeviceptr)device, 7, 1024));
    CHECK(cudaDeviceSynchronize());
    expect("kernel cuMemset", 4);
}

// Two streams, one after the other's event; polling; the null stream between.
static void events()
{
    const long long cycles = cycles_per_us();
    cudaStream_t blocking, free_running;
    cudaEvent_t event;
    CHECK(cudaStreamCreate(&blocking));
    CHECK(cudaStreamCreateWithFlags(&free_running, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    spin<<<1, 1, 0, blocking>>>(2000 * cycles);
    CHECK(cudaEventRecord(event, blocking));
    CHECK(cudaStreamWaitEvent(free_running, event, 0));
    spin<<<1, 1, 0, free_running>>>(500 * cycles);
    long long event_queries = 1, stream_queries = 1;
    while (cudaEventQuery(event) == cudaErrorNotReady) {
        event_queries++;
        usleep(100);
    }
    while (cudaStreamQuery(free_running) == cudaErrorNotReady) {
        stream_queries++;
        usleep(100);
    }
    spin<<<1, 1>>>(100 * cycles);
    CHECK(cudaEventRecord(event, 0));
    CHECK(cudaEventSynchronize(event));
    CHECK(cudaStreamSynchronize(blocking));
    CHECK(cudaStreamDestroy(blocking));
    CHECK(cudaStreamDestroy(free_running));
    expect("kernel spin(long long)", 3);
    expect("calls cuEventQuery", event_queries);
    expect("failed cuEventQuery", event_queries - 1);
    expect("calls cuStreamQuery", stream_queries);
    expect("failed cuStreamQuery", stream_queries - 1);
    expect("calls cuStreamWaitEvent", 1);
    expect("calls cuEventRecord", 2);
    expect("calls cuEventSynchronize", 1);
    expect("calls cuStreamSynchronize", 1);
    expect("streams", 3);
    expect("null streams", 1);
    expect("non-blocking streams", 1);
}

static void graph()
{
    enum { LAUNCHES = 5 };
    float *data, *host;
    CHECK(cudaMalloc(&data, 1 << 16));
    CHECK(cudaMallocHost(&host, 1 << 16));
    cudaStream_t stream, branch;
    cudaEvent_t fork_event, join_event;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamCreate(&branch));
    CHECK(cudaEventCreate(&fork_event));
    CHECK(cudaEventCreate(&join_event));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemsetAsync(data, 0, 1 << 16, stream));
    first<<<64, 64, 0, stream>>>(data);
    CHECK(cudaEventRecord(fork_event, stream));
    CHECK(cudaStreamWaitEvent(branch, fork_event, 0));
    second<<<32, 64, 0, branch>>>(data);
    second<<<32, 64, 0, stream>>>(data + 2048);
    CHECK(cudaEventRecord(join_event, branch));
    CHECK(cudaStreamWaitEvent(stream, join_event, 0));
    CHECK(cudaMemcpyAsync(host, data, 1 << 16, cudaMemcpyDeviceToHost, stream));
    cudaGraph_t captured;
    cudaGraphExec_t executable;
    CHECK(cudaStreamEndCapture(stream, &captured));
    CHECK(cudaGraphInstantiate(&executable, captured, 0));
    for (int i = 0; i < LAUNCHES; i++) CHECK(cudaGraphLaunch(executable, stream));
    CHECK(cudaStreamSynchronize(stream));
    expect("kernel first(float*)", LAUNCHES);
    expect("kernel second(float*)", 2 * LAUNCHES);
    expect("kernel cuMemset", LAUNCHES);
    expect("copy device-to-host", LAUNCHES);
    expect("calls cuGraphLaunch", LAUNCHES);
}

static void shapes()
{
    double *data;
    CHECK(cudaMalloc(&data, 4096));
    shaped<double><<<dim3(3, 2, 1), dim3(64, 1, 1), 1024>>>(data);
    int *sum, blocks = 8;
    CHECK(cudaMalloc(&sum, 8));
    CHECK(cudaMemset(sum, 0, 8));
    void *arguments[] = {&sum};
    CHECK(
        cudaLaunchCooperativeKernel((void *)cooperative, dim3(blocks), dim3(64), arguments, 0, 0));
    CHECK(cudaDeviceSynchronize());
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(2);
    config.blockDim = dim3(32);
    float *floats;
    CHECK(cudaMalloc(&floats, 4096));
    CHECK(cudaLaunchKernelEx(&config, first, floats));
    CHECK(cudaDeviceSynchronize());
    expect("kernel void shaped<double>(double*)", 1);
    expect("kernel cooperative(int*)", 1);
    expect("kernel first(float*)", 1);
    expect("shape void shaped<double>(double*) 3 2 1 64 1 1 512 1024", 1);
}

static void managed()
{
    float *data;
    CHECK(cudaMallocManaged(&data, 1 << 20));
    for (int i = 0; i < 1 << 18; i++) data[i] = 1.0f;
    first<<<1024, 256>>>(data);
    CHECK(cudaDeviceSynchronize());
    if (data[77] != 2.0f) exit(1);
    expect("kernel first(float*)", 1);
}

// Every device has a stream with kernels; with two or more, copies between the first two: through
// the host, as CUDA does it at first, and directly.
static void devices()
{
    int count;
    CHECK(cudaGetDeviceCount(&count));
    std::vector<float *> data(count);
    std::vector<cudaStream_t> streams(count);
    for (int i = 0; i < count; i++) {
        CHECK(cudaSetDevice(i));
        CHECK(cudaMalloc(&data[i], 1 << 20));
        CHECK(cudaStreamCreate(&streams[i]));
    }
    for (int round = 0; round < 10; round++)
        for (int i = 0; i < count; i++) {
            CHECK(cudaSetDevice(i));
            first<<<64, 64, 0, streams[i]>>>(data[i]);
        }
    int can_reach = 0;
    if (count > 1) {
        CHECK(cudaSetDevice(0));
        CHECK(cudaMemcpyPeerAsync(data[1], 1, data[0], 0, 1 << 20, streams[0]));
        CHECK(cudaStreamSynchronize(streams[0]));
        CHECK(cudaDeviceCanAccessPeer(&can_reach, 0, 1));
        if (can_reach) {
            CHECK(cudaDeviceEnablePeerAccess(1, 0));
            CHECK(cudaMemcpyPeerAsync(data[1], 1, data[0], 0, 1 << 20, streams[0]));
            CHECK(cudaStreamSynchronize(streams[0]));
        }
    }
    for (int i = 0; i < count; i++) {
        CHECK(cudaSetDevice(i));
        CHECK(cudaDeviceSynchronize());
    }
    expect("kernel first(float*)", 10 * count);
    expect("devices", count);
    if (count > 1) expect("copy device-to-host", 1);
    if (count > 1) expect("copy host-to-device", 1);
    expect("copy device-to-device", can_reach);
}

static void threads()
{
    enum { THREADS = 8, LAUNCHES = 100 };
    std::vector<std::thread> pool;
    float *data;
    CHECK(cudaMalloc(&data, 1 << 20));
    for (int t = 0; t < THREADS; t++)
        pool.emplace_back([=] {
            cudaStream_t stream;
            CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
            for (int i = 0; i < LAUNCHES; i++) first<<<4, 64, 0, stream>>>(data + 1024 * t);
            first<<<4, 64, 0, cudaStreamPerThread>>>(data + 1024 * t);
            CHECK(cudaStreamSynchronize(stream));
            CHECK(cudaStreamSynchronize(cudaStreamPerThread));
            CHECK(cudaStreamDestroy(stream));
        });
    for (std::thread &thread : pool) thread.join();
    expect("kernel first(float*)", THREADS * (LAUNCHES + 1));
    expect("threads", THREADS + 1);
    expect("streams", 2 * THREADS);
}

// Ends while a kernel runs that nothing waits for.
static void no_wait()
{
    const long long cycles = cycles_per_us();
    spin<<<1, 1>>>(50000 * cycles);
    CHECK(cudaGetLastError());
    expect("kernel spin(long long)", 1);
}

static void forks()
{
    float *data;
    CHECK(cudaMalloc(&data, 1 << 20));
    first<<<4, 64>>>(data);
    CHECK(cudaDeviceSynchronize());
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) exit(7);
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 7) exit(1);
    first<<<4, 64>>>(data);
    CHECK(cudaDeviceSynchronize());
    expect("kernel first(float*)", 2);
}

static void many_then(const char *what)
{
    float *data;
    CHECK(cudaMalloc(&data, 1 << 20));
    for (int i = 0; i < 1000; i++) first<<<4, 64>>>(data);
    CHECK(cudaDeviceSynchronize());
    usleep(500000); // several flushes
    expect("kernel first(float*)", 1000);
    fflush(stdout);
    if (strcmp(what, "crash") == 0) raise(SIGSEGV);
    if (strcmp(what, "kill") == 0) raise(SIGKILL);
    if (strcmp(what, "quick-exit") == 0) _exit(5);
}

static void device_fault()
{
    float *data;
    CHECK(cudaMalloc(&data, 1 << 20));
    first<<<4, 64>>>(data);
    CHECK(cudaDeviceSynchronize());
    fault<<<1, 1>>>((int *)0x10);
    if (cudaDeviceSynchronize() == cudaSuccess) exit(1);
    expect("kernel first(float*)", 1);
    fflush(stdout);
    exit(3);
}

// Context reset and modules of a second life.
static void reset()
{
    float *data;
    for (int round = 0; round < 2; round++) {
        CHECK(cudaMalloc(&data, 1 << 20));
        first<<<4, 64>>>(data);
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaDeviceReset());
    }
    expect("kernel first(float*)", 2);
}

int main(int argc, char **argv)
{
    const char *const what = argc > 1 ? argv[1] : "";
    static const struct {
        const char *name;
        void (*run)();
    } programs[] = {{"times", times},     {"copies", copies},   {"memsets", memsets},
                    {"events", events},   {"graph", graph},     {"shapes", shapes},
                    {"managed", managed}, {"devices", devices}, {"threads", threads},
                    {"no-wait", no_wait}, {"forks", forks},     {"device-fault", device_fault},
                    {"reset", reset}};
    for (const auto &program : programs)
        if (strcmp(what, program.name) == 0) {
            program.run();
            return 0;
        }
    if (strcmp(what, "crash") == 0 || strcmp(what, "kill") == 0 ||
        strcmp(what, "quick-exit") == 0) {
        many_then(what);
        return 0;
    }
    fprintf(stderr, "usage: %s PROGRAM\n", argv[0]);
    return 2;
}
