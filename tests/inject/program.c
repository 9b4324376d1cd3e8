/* Plays CUDA for the GPU recorder: loads it as the driver does, and gives it calls and records
 * through a CUPTI that is none. Says what it did as the programs of tests/gpu do. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fake-cupti.h"

#define CONTEXT(n) ((CUcontext)(uintptr_t)(n))
#define STREAM(n)  ((CUstream)(uintptr_t)((n) * 4096))
#define DRIVER(name, site, parameters, result, correlation)                                        \
    fake_call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_##name, CUPTI_API_##site,        \
              parameters, result, CONTEXT(1), correlation)
#define RUNTIME(name, site, parameters, result, correlation)                                       \
    fake_call(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_##name, CUPTI_API_##site,      \
              parameters, result, CONTEXT(1), correlation)

static _Atomic uint32_t correlation;
static char kernel_name[] = "_Z5firstPf";

static void expect(const char *key, int count)
{
    printf("expect %s %d\n", key, count);
}

/* ---- calls ---- */

static uint32_t launch(CUstream stream)
{
    const cudaLaunchKernel_v7000_params runtime = {.stream = (cudaStream_t)stream};
    const cuLaunchKernel_params driver = {.hStream = stream};
    const uint32_t own = ++correlation;
    RUNTIME(cudaLaunchKernel_v7000, ENTER, &runtime, 0, own);
    DRIVER(cuLaunchKernel, ENTER, &driver, 0, own);
    DRIVER(cuLaunchKernel, EXIT, &driver, 0, own);
    RUNTIME(cudaLaunchKernel_v7000, EXIT, &runtime, 0, own);
    return own;
}

static void create_stream(CUstream stream, uint32_t id, unsigned flags)
{
    CUstream made = stream;
    const cudaStreamCreateWithFlags_v5000_params runtime = {.pStream = (cudaStream_t *)&made,
                                                            .flags = flags};
    const cuStreamCreate_params parameters = {.phStream = &made, .Flags = flags};
    RUNTIME(cudaStreamCreateWithFlags_v5000, ENTER, &runtime, 0, 0);
    DRIVER(cuStreamCreate, ENTER, &parameters, 0, 0);
    fake_name_stream(stream, id);
    fake_resource(CUPTI_CBID_RESOURCE_STREAM_CREATED, CONTEXT(1), stream);
    DRIVER(cuStreamCreate, EXIT, &parameters, 0, 0);
    RUNTIME(cudaStreamCreateWithFlags_v5000, EXIT, &runtime, 0, 0);
}

static void query_event(int result)
{
    const cuEventQuery_params parameters = {.hEvent = (CUevent)(uintptr_t)0x5000};
    DRIVER(cuEventQuery, ENTER, &parameters, 0, 0);
    DRIVER(cuEventQuery, EXIT, &parameters, result, 0);
}

static uint32_t copy_call(void)
{
    const cudaMemcpy_v3020_params runtime = {0};
    const cuMemcpyHtoD_v2_params parameters = {0};
    correlation++;
    RUNTIME(cudaMemcpy_v3020, ENTER, &runtime, 0, correlation);
    DRIVER(cuMemcpyHtoD_v2, ENTER, &parameters, 0, correlation);
    DRIVER(cuMemcpyHtoD_v2, EXIT, &parameters, 0, correlation);
    RUNTIME(cudaMemcpy_v3020, EXIT, &runtime, 0, correlation);
    return correlation;
}

/* ---- records ---- */

static void kernel(uint32_t stream_id, uint32_t of_call, uint64_t start_ns, uint64_t end_ns)
{
    const CUpti_ActivityKernel9 record = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                          .start = start_ns,
                                          .end = end_ns,
                                          .contextId = 1,
                                          .streamId = stream_id,
                                          .correlationId = of_call,
                                          .gridX = 3,
                                          .gridY = 2,
                                          .gridZ = 1,
                                          .blockX = 64,
                                          .blockY = 1,
                                          .blockZ = 1,
                                          .registersPerThread = 20,
                                          .staticSharedMemory = 512,
                                          .dynamicSharedMemory = 1024,
                                          .name = kernel_name};
    fake_record(&record);
}

/* One that has run when this returns. */
static void launched_kernel(uint32_t stream_id, CUstream stream)
{
    const uint32_t of_call = launch(stream);
    const uint64_t start_ns = fake_time();
    kernel(stream_id, of_call, start_ns, start_ns + 1);
}

static void copy(uint8_t kind, uint64_t bytes, uint32_t of_call, uint64_t start_ns)
{
    const CUpti_ActivityMemcpy5 record = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
                                          .copyKind = kind,
                                          .bytes = bytes,
                                          .start = start_ns,
                                          .end = start_ns + 100,
                                          .contextId = 1,
                                          .streamId = 107,
                                          .correlationId = of_call};
    fake_record(&record);
}

/* ---- programs ---- */

/* Two streams and the null stream; records in the reverse order. */
static void plain(void)
{
    enum { LAUNCHES = 300 };
    static uint32_t of_call[LAUNCHES];
    static uint64_t start_ns[LAUNCHES];
    static const uint32_t ids[] = {13, 14, 107};
    static const uint8_t kinds[] = {
        CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, CUPTI_ACTIVITY_MEMCPY_KIND_HTOA,
        CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, CUPTI_ACTIVITY_MEMCPY_KIND_ATOH,
        CUPTI_ACTIVITY_MEMCPY_KIND_DTOD, CUPTI_ACTIVITY_MEMCPY_KIND_ATOA};
    const CUstream streams[] = {STREAM(1), STREAM(2), NULL};
    create_stream(STREAM(1), 13, CU_STREAM_DEFAULT);
    create_stream(STREAM(2), 14, CU_STREAM_NON_BLOCKING);
    for (int i = 0; i < LAUNCHES; i++) {
        of_call[i] = launch(streams[i % 3]);
        start_ns[i] = fake_time();
    }
    for (int i = LAUNCHES - 1; i >= 0; i--)
        kernel(ids[i % 3], of_call[i], start_ns[i], start_ns[i] + 1);
    for (size_t i = 0; i < sizeof kinds; i++) {
        const uint32_t call = copy_call();
        copy(kinds[i], 1000, call, fake_time());
    }
    query_event(CUDA_ERROR_NOT_READY);
    query_event(CUDA_ERROR_NOT_READY);
    query_event(0);
    expect("kernel first(float*)", LAUNCHES);
    expect("shape first(float*) 3 2 1 64 1 1 512 1024", LAUNCHES);
    expect("copy host-to-device", 2);
    expect("bytes host-to-device", 2000);
    expect("copy device-to-host", 2);
    expect("copy device-to-device", 2);
    expect("calls cuLaunchKernel", LAUNCHES);
    expect("calls cudaLaunchKernel", LAUNCHES);
    expect("calls cuEventQuery", 3);
    expect("failed cuEventQuery", 2);
    expect("streams", 3);
    expect("null streams", 1);
    expect("non-blocking streams", 1);
}

/* A handle that is given out again is another stream; a name's address another kernel. */
static void reuse(void)
{
    const cuStreamDestroy_v2_params parameters = {.hStream = STREAM(1)};
    create_stream(STREAM(1), 13, CU_STREAM_DEFAULT);
    launched_kernel(13, STREAM(1));
    DRIVER(cuStreamDestroy_v2, ENTER, &parameters, 0, 0);
    fake_resource(CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING, CONTEXT(1), STREAM(1));
    DRIVER(cuStreamDestroy_v2, EXIT, &parameters, 0, 0);
    nanosleep(&(struct timespec){.tv_nsec = 250000000}, NULL); /* the records are read */
    memcpy(kernel_name, "_Z5otherPf", sizeof kernel_name);
    create_stream(STREAM(1), 21, CU_STREAM_NON_BLOCKING);
    launched_kernel(21, STREAM(1));
    expect("kernel first(float*)", 1);
    expect("kernel other(float*)", 1);
    expect("streams", 2);
    expect("non-blocking streams", 1);
}

/* A stream that only records know, such as those of graphs: its record may come after its kernels'.
 */
static void internal_stream(void)
{
    const CUpti_ActivityStream record = {.kind = CUPTI_ACTIVITY_KIND_STREAM,
                                         .contextId = 1,
                                         .streamId = 55,
                                         .flag = CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING};
    const cuGraphLaunch_params parameters = {.hStream = STREAM(1)};
    create_stream(STREAM(1), 13, CU_STREAM_DEFAULT);
    DRIVER(cuGraphLaunch, ENTER, &parameters, 0, ++correlation);
    DRIVER(cuGraphLaunch, EXIT, &parameters, 0, correlation);
    for (int i = 0; i < 3; i++) {
        const uint64_t start_ns = fake_time();
        kernel(i % 2 ? 55 : 13, correlation, start_ns, start_ns + 1);
    }
    fake_record(&record);
    expect("kernel first(float*)", 3);
    expect("streams", 2);
    expect("null streams", 0);
    expect("non-blocking streams", 1);
}

/* The stream of each thread, and the null stream, by their several handles. */
static void default_streams(void)
{
    const cuLaunchKernel_params own = {.hStream = NULL};
    launched_kernel(107, NULL);
    launched_kernel(107, CU_STREAM_LEGACY);
    launched_kernel(190, CU_STREAM_PER_THREAD);
    DRIVER(cuLaunchKernel_ptsz, ENTER, &own, 0, ++correlation);
    DRIVER(cuLaunchKernel_ptsz, EXIT, &own, 0, correlation);
    const uint64_t start_ns = fake_time();
    kernel(190, correlation, start_ns, start_ns + 1);
    expect("kernel first(float*)", 4);
    expect("streams", 2);
    expect("null streams", 1);
}

static void peer(void)
{
    CUpti_ActivityMemcpyPtoP4 record = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY2,
                                        .copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP,
                                        .bytes = 4096,
                                        .contextId = 1,
                                        .streamId = 13,
                                        .srcDeviceId = 1,
                                        .srcContextId = 2,
                                        .dstContextId = 1};
    const cuMemcpyPeerAsync_params parameters = {.hStream = STREAM(1)};
    create_stream(STREAM(1), 13, CU_STREAM_DEFAULT);
    /* the other context is known since something was launched in it */
    fake_call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_API_ENTER,
              &(cuLaunchKernel_params){0}, 0, CONTEXT(2), ++correlation);
    fake_call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_API_EXIT,
              &(cuLaunchKernel_params){0}, 0, CONTEXT(2), correlation);
    DRIVER(cuMemcpyPeerAsync, ENTER, &parameters, 0, ++correlation);
    record.correlationId = correlation;
    record.start = fake_time();
    DRIVER(cuMemcpyPeerAsync, EXIT, &parameters, 0, correlation);
    record.end = fake_time();
    fake_record(&record);
    expect("copy device-to-device", 1);
    expect("bytes device-to-device", 4096);
}

static unsigned ran;

static void CUDA_CB host_function(void *user)
{
    ran += *(const unsigned *)user;
}

static void CUDA_CB host_callback(CUstream stream, CUresult result, void *user)
{
    if (stream == STREAM(1) && result == CUDA_SUCCESS) ran += *(const unsigned *)user;
}

/* What the driver does: it calls what stands in the parameters after the callback. A function that
 * is captured (stream 2, as the driver that is none says) stays the program's own. */
static void host_functions(void)
{
    unsigned one = 1, ten = 10, hundred = 100;
    cuLaunchHostFunc_params function = {
        .hStream = STREAM(1), .fn = host_function, .userData = &one};
    cuLaunchHostFunc_params captured = {
        .hStream = STREAM(2), .fn = host_function, .userData = &hundred};
    cuStreamAddCallback_params callback = {
        .hStream = STREAM(1), .callback = host_callback, .userData = &ten};
    create_stream(STREAM(1), 13, CU_STREAM_DEFAULT);
    create_stream(STREAM(2), 14, CU_STREAM_DEFAULT);
    DRIVER(cuLaunchHostFunc, ENTER, &function, 0, ++correlation);
    DRIVER(cuLaunchHostFunc, EXIT, &function, 0, correlation);
    function.fn(function.userData);
    DRIVER(cuStreamAddCallback, ENTER, &callback, 0, ++correlation);
    DRIVER(cuStreamAddCallback, EXIT, &callback, 0, correlation);
    callback.callback(STREAM(1), CUDA_SUCCESS, callback.userData);
    DRIVER(cuLaunchHostFunc, ENTER, &captured, 0, ++correlation);
    DRIVER(cuLaunchHostFunc, EXIT, &captured, 0, correlation);
    if (captured.fn != host_function || captured.userData != &hundred) exit(3);
    if (function.fn == host_function || ran != 11) exit(4);
    launched_kernel(13, STREAM(1));
    expect("calls cuLaunchHostFunc", 2);
    expect("kernel host function", 2);
}

static void overhead_and_unended(void)
{
    const CUpti_ActivityOverhead record = {.kind = CUPTI_ACTIVITY_KIND_OVERHEAD,
                                           .overheadKind = CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE,
                                           .start = 1000,
                                           .end = 3001000};
    fake_record(&record);
    const uint32_t first_call = launch(NULL), second_call = launch(NULL);
    const uint64_t start_ns = fake_time();
    kernel(107, first_call, start_ns, start_ns + 1);
    kernel(107, second_call, fake_time(), 0);
    expect("kernel first(float*)", 1);
}

static void without_records(void)
{
    for (int i = 0; i < 12; i++) launch(NULL);
    expect("calls cuLaunchKernel", 12);
}

static void many(void)
{
    enum { LAUNCHES = 10000 };
    for (int i = 0; i < LAUNCHES; i++) launched_kernel(107, NULL);
    expect("kernel first(float*)", LAUNCHES);
}

/* Threads with streams of their own, while records are delivered. */
static void *launch_many(void *index)
{
    enum { LAUNCHES = 500, PAUSE_NS = 100000 };
    const uintptr_t number = (uintptr_t)index;
    for (int i = 0; i < LAUNCHES; i++) {
        launched_kernel((uint32_t)(13 + number), STREAM(1 + number));
        if (i % 10 == 0) nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    }
    return NULL;
}

static void threads(void)
{
    enum { THREADS = 4 };
    pthread_t running[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        create_stream(STREAM(1 + i), (uint32_t)(13 + i), CU_STREAM_NON_BLOCKING);
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&running[i], NULL, launch_many, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(running[i], NULL);
    expect("kernel first(float*)", 2000);
    expect("streams", THREADS);
    expect("non-blocking streams", THREADS);
    expect("threads", 1 + THREADS);
}

/* The child does not touch CUPTI, whose threads it has not. */
static void forks(void)
{
    launched_kernel(107, NULL);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        launch(NULL);
        exit(fake_forced_flushes() ? 1 : 7);
    }
    int status;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 7) exit(1);
    launched_kernel(107, NULL);
    expect("kernel first(float*)", 2);
    expect("processes", 1);
}

/* ns a call, the runtime's and the driver's with all that is between */
static void speed(void)
{
    enum { CALLS = 1000000, NS_PER_S = 1000000000 };
    struct timespec start, end;
    create_stream(STREAM(1), 13, CU_STREAM_DEFAULT);
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int i = 0; i < CALLS; i++) launch(STREAM(1));
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%.1f ns a launch\n", ((double)(end.tv_sec - start.tv_sec) * NS_PER_S +
                                  (double)(end.tv_nsec - start.tv_nsec)) /
                                     CALLS);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } programs[] = {{"plain", plain},
                    {"reuse", reuse},
                    {"internal-stream", internal_stream},
                    {"default-streams", default_streams},
                    {"peer", peer},
                    {"host-functions", host_functions},
                    {"overhead", overhead_and_unended},
                    {"without-records", without_records},
                    {"many", many},
                    {"forks", forks},
                    {"threads", threads},
                    {"speed", speed}};
    const char *const injected = getenv("CUDA_INJECTION64_PATH");
    void *const library = injected ? dlopen(injected, RTLD_NOW) : NULL;
    int (*initialise)(void) = NULL;
    if (library) *(void **)&initialise = dlsym(library, "InitializeInjection");
    if (!initialise || initialise() != 1 || initialise() != 1) return 2;
    for (size_t i = 0; argc > 1 && i < sizeof programs / sizeof *programs; i++)
        if (strcmp(argv[1], programs[i].name) == 0) {
            programs[i].run();
            return 0;
        }
    return 2;
}
