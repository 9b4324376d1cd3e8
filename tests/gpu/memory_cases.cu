// What a memory recorder has to cope with: memory_cases CASE. Each case says on stdout what it did,
// one "expect KEY COUNT" a line; tests/gpu/memory.py compares that with the run.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <csignal>
#include <unistd.h>

#include <cuda_pipeline.h>

static void check(cudaError_t status, int line)
{
    if (status == cudaSuccess) return;
    fprintf(stderr, "memory_cases: line %d: %s\n", line, cudaGetErrorString(status));
    exit(3);
}
#define CHECK(call) check(call, __LINE__)

static void expect(const char *key, long count)
{
    printf("expect %s %ld\n", key, count);
}

enum { N = 1 << 16, THREADS = 256, SPARE_MIB = 384 };

__global__ void copy(const float *from, float *to)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[i];
}

__global__ void count(unsigned *counter)
{
    atomicAdd(counter + threadIdx.x % 7, 1u);
}

// Rows of 16 lanes; and each lane its own distance: neither uniform, affine nor two-level.
__global__ void shapes(const float *in, float *rows, float *list)
{
    const int x = threadIdx.x, y = threadIdx.y;
    rows[y * 1024 + x] = in[0];
    list[(y * 16 + x) * (y * 16 + x + 1) / 2] = in[y];
}

// Lanes that are gigabytes apart.
__global__ void far(char *memory, size_t step)
{
    memory[threadIdx.x * step + threadIdx.x * threadIdx.x] = 1;
}

__global__ void staged(const float *from, float *to)
{
    __shared__ float part[THREADS];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    __pipeline_memcpy_async(part + threadIdx.x, from + i, sizeof *from);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    to[i] = part[THREADS - 1 - threadIdx.x];
}

__device__ float table[N];
__global__ void fill_table(void)
{
    table[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

__global__ void fault(float *nowhere)
{
    nowhere[threadIdx.x] = 1;
}

__global__ void spin(volatile float *data, long long cycles)
{
    const long long start = clock64();
    float sum = 0;
    while (clock64() - start < cycles) sum += data[threadIdx.x];
    data[threadIdx.x] = sum;
}

static float *make(size_t n = N)
{
    float *memory;
    CHECK(cudaMalloc(&memory, n * sizeof *memory));
    CHECK(cudaMemset(memory, 0, n * sizeof *memory));
    return memory;
}

static void plain(void)
{
    float *const a = make(), *const b = make();
    copy<<<N / THREADS, THREADS>>>(a, b);
    CHECK(cudaDeviceSynchronize());
    expect("launches", 1);
    expect("memset", 2);
    expect("device sync", 1);
    expect("accesses", 2 * N);
    expect("records", 2 * N / 32);
}

static void patterns(void)
{
    float *const a = make(), *const b = make(), *const c = make();
    unsigned *counters;
    CHECK(cudaMalloc(&counters, 64));
    CHECK(cudaMemset(counters, 0, 64));
    shapes<<<1, dim3(16, 16)>>>(a, b, c);
    count<<<2, 128>>>(counters);
    CHECK(cudaDeviceSynchronize());
    expect("launches", 2);
    expect("accesses", 4 * 256 + 256);
}

static void far_lanes(void)
{
    const size_t step = (size_t)3 << 29; // 1.5 GiB: 32 lanes need 48
    char *memory;
    CHECK(cudaMalloc(&memory, 32 * step + 4096));
    far<<<1, 32>>>(memory, step);
    CHECK(cudaDeviceSynchronize());
    expect("accesses", 32);
}

static void async_copies(void)
{
    float *const a = make(), *const b = make();
    staged<<<N / THREADS, THREADS>>>(a, b);
    CHECK(cudaDeviceSynchronize());
    expect("accesses", 4 * N); // global load, shared store, shared load, global store
    expect("global accesses", 2 * N);
}

static void streams(void)
{
    cudaStream_t s[4];
    cudaEvent_t events[4];
    float *const a = make(), *const b = make();
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 4; i++) {
        CHECK(cudaStreamCreateWithFlags(&s[i], i % 2 ? cudaStreamNonBlocking : cudaStreamDefault));
        CHECK(cudaEventCreateWithFlags(&events[i], cudaEventDisableTiming));
    }
    for (int i = 0; i < 4; i++) {
        if (i) CHECK(cudaStreamWaitEvent(s[i], events[i - 1], 0));
        copy<<<N / THREADS, THREADS, 0, s[i]>>>(i % 2 ? b : a, i % 2 ? a : b);
        CHECK(cudaEventRecord(events[i], s[i]));
    }
    CHECK(cudaEventSynchronize(events[3]));
    CHECK(cudaStreamSynchronize(s[3]));
    while (cudaStreamQuery(s[0]) == cudaErrorNotReady) {
    }
    for (int i = 0; i < 4; i++) CHECK(cudaStreamDestroy(s[i]));
    expect("launches", 4);
    expect("streams", 4);
    expect("event record", 4);
    expect("stream wait", 3);
    expect("event sync", 1);
    expect("stream sync", 1);
    expect("accesses", 8 * N);
}

static void memory_kinds(void)
{
    float *device, *pooled, *managed, *pinned, *mapped, *pitched, *host = new float[N]();
    size_t pitch;
    CHECK(cudaMalloc(&device, N * sizeof(float)));
    CHECK(cudaMallocAsync((void **)&pooled, N * sizeof(float), 0));
    CHECK(cudaMallocManaged(&managed, N * sizeof(float)));
    CHECK(cudaMallocHost((void **)&pinned, N * sizeof(float)));
    CHECK(cudaHostAlloc((void **)&mapped, N * sizeof(float), cudaHostAllocMapped));
    CHECK(cudaMallocPitch((void **)&pitched, &pitch, 100, 10));
    CHECK(cudaMemcpy(device, host, N * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyAsync(pooled, pinned, N * sizeof(float), cudaMemcpyHostToDevice, 0));
    CHECK(cudaMemcpy(managed, device, N * sizeof(float), cudaMemcpyDefault));
    CHECK(cudaMemcpy(pooled, device, N * sizeof(float), cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy2D(pitched, pitch, host, 100, 100, 10, cudaMemcpyHostToDevice));
    CHECK(cudaMemset2D(pitched, pitch, 1, 100, 10));
    CHECK(cudaMemset(device, 1, 1000));
    copy<<<N / THREADS, THREADS>>>(managed, mapped);
    fill_table<<<N / THREADS, THREADS>>>();
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host, device, N * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFreeAsync(pooled, 0));
    CHECK(cudaFree(device));
    expect("allocation device", 3);
    expect("allocation managed", 1);
    expect("allocation pinned", 1);
    expect("allocation mapped", 1);
    expect("memset", 2);
    expect("DtoH", 1);
    expect("accesses", 3 * N);
    expect("memset bytes", 100 * 10 + 1000);
    expect("2D bytes", 100 * 10);
}

static void graph(void)
{
    cudaStream_t s;
    cudaGraph_t g;
    cudaGraphExec_t exec;
    float *const a = make(), *const b = make();
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < 3; i++) copy<<<N / THREADS, THREADS, 0, s>>>(a, b);
    CHECK(cudaMemsetAsync(a, 0, 4096, s));
    CHECK(cudaStreamEndCapture(s, &g));
    CHECK(cudaGraphInstantiate(&exec, g, 0));
    for (int i = 0; i < 2; i++) CHECK(cudaGraphLaunch(exec, s));
    CHECK(cudaStreamSynchronize(s));
    expect("launches", 6);
    expect("accesses", 6 * 2 * N);
    expect("memset", 2 + 2);
}

// All the card's memory but a little: patched code has a stack, for all threads of the device at
// once. SPARE_MIB: what is left; STACK_BYTES: cudaLimitStackSize.
static void full(void)
{
    const char *const spare = getenv("SPARE_MIB"), *const stack = getenv("STACK_BYTES");
    if (stack) CHECK(cudaDeviceSetLimit(cudaLimitStackSize, (size_t)atoi(stack)));
    size_t free_bytes, total_bytes;
    float *const a = make(), *const b = make();
    CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
    char *rest;
    CHECK(cudaMalloc(&rest, free_bytes - ((size_t)(spare ? atoi(spare) : SPARE_MIB) << 20)));
    copy<<<N / THREADS, THREADS>>>(a, b);
    CHECK(cudaDeviceSynchronize());
    expect("accesses", 2 * N);
}

static void many(void)
{
    float *const a = make(), *const b = make();
    for (int i = 0; i < 70000; i++) copy<<<1, 32>>>(a, b);
    CHECK(cudaDeviceSynchronize());
    expect("launches", 70000);
    expect("accesses", 70000l * 64);
}

static void trap(void)
{
    float *const a = make(), *const b = make();
    copy<<<N / THREADS, THREADS>>>(a, b);
    CHECK(cudaDeviceSynchronize());
    fault<<<1, 32>>>((float *)0x10);
    expect("accesses at least", 2 * N);
    fflush(stdout);
    CHECK(cudaDeviceSynchronize());
}

static void no_sync(void)
{
    float *const a = make(), *const b = make();
    for (int i = 0; i < 20; i++) copy<<<N / THREADS, THREADS>>>(a, b);
    expect("launches", 20);
    expect("accesses", 20 * 2 * N);
}

static void killed(void)
{
    float *const a = make(), *const b = make();
    copy<<<N / THREADS, THREADS>>>(a, b);
    CHECK(cudaDeviceSynchronize());
    expect("accesses at least", 2 * N);
    fflush(stdout);
    usleep(1500000);
    spin<<<1, 32>>>(a, 1ll << 40);
    usleep(200000);
    kill(getpid(), SIGKILL);
}

static bool is_ended(cudaEvent_t event)
{
    const cudaError_t status = cudaEventQuery(event);
    if (status != cudaErrorNotReady) CHECK(status);
    return status == cudaSuccess;
}

// Launches of many sizes, a synchronisation now and then, and after the last one SIGKILL at once.
// How the program learns that its launches have ended depends on `seed`, as all else does.
static void kept(int seed)
{
    static const char *const ways[] = {"device",  "stream", "event",
                                       "queries", "copy",   "other stream"};
    enum { WAYS = sizeof ways / sizeof *ways, MOST = 1 << 20 };
    const char *const way = ways[seed % WAYS];
    float *const a = make(MOST), *const b = make(MOST), *const c = make(), host[1] = {0};
    cudaStream_t own, other;
    cudaEvent_t event;
    const bool by_copy = !strcmp(way, "copy");
    CHECK(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    const cudaStream_t stream = by_copy ? nullptr : own;
    unsigned random = seed * 2654435761u + 1;
    const int launches = 1 + seed * 7 % 60;
    long accesses = 0;
    if (!strcmp(way, "other stream")) {
        // A kernel's first launch loads its code, which waits for all that runs.
        copy<<<1, THREADS, 0, stream>>>(a, b);
        accesses += 2l * THREADS;
        CHECK(cudaStreamSynchronize(stream));
        spin<<<1, 32, 0, other>>>(c, 1ll << 35); // 20 s: still runs at the end
    }
    for (int i = 0; i < launches; i++) {
        random = random * 1664525u + 1013904223u;
        const int ctas = 1 << (random >> 8) % (i == launches - 1 ? 13 : 9);
        copy<<<ctas, THREADS, 0, stream>>>(a, b);
        accesses += 2l * ctas * THREADS;
        if (i < launches - 1 && random >> 28 == 0) CHECK(cudaStreamSynchronize(stream));
    }
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(event, stream));
    printf("kept launches %d accesses %ld way %s\n", launches + !strcmp(way, "other stream"),
           accesses, way);
    fflush(stdout);
    if (!strcmp(way, "device"))
        CHECK(cudaDeviceSynchronize());
    else if (!strcmp(way, "event"))
        CHECK(cudaEventSynchronize(event));
    else if (!strcmp(way, "queries"))
        while (!is_ended(event)) {
        }
    else if (by_copy)
        CHECK(cudaMemcpy(host, b, sizeof host, cudaMemcpyDeviceToHost));
    else
        CHECK(cudaStreamSynchronize(stream));
    kill(getpid(), SIGKILL);
}

static void reset(void)
{
    for (int i = 0; i < 2; i++) {
        float *const a = make(), *const b = make();
        copy<<<N / THREADS, THREADS>>>(a, b);
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaDeviceReset());
    }
    expect("launches", 2);
    expect("accesses", 2 * 2 * N);
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "kept")) return kept(atoi(argv[2])), 0;
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {
        {"plain", plain},        {"patterns", patterns}, {"far", far_lanes},
        {"async", async_copies}, {"streams", streams},   {"memory", memory_kinds},
        {"graph", graph},        {"full", full},         {"many", many},
        {"trap", trap},          {"no-sync", no_sync},   {"killed", killed},
        {"reset", reset},
    };
    for (const auto &one : cases)
        if (argv[1] && !strcmp(argv[1], one.name)) return one.run(), 0;
    return 2;
}
