// More of what a memory recorder has to cope with: memory_more CASE. As memory_cases does, each
// case says on stdout what it did ("expect KEY COUNT"); 77: this device, or its number, does not do
// it.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cooperative_groups.h>
#include <ctascope/record.h>
#include <cuda.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

enum { SKIPPED = 77, N = 1 << 16, THREADS = 256 };

static void check(cudaError_t status, int line)
{
    if (status == cudaSuccess) return;
    fprintf(stderr, "memory_more: line %d: %s\n", line, cudaGetErrorString(status));
    exit(3);
}
#define CHECK(call)  check(call, __LINE__)
#define DRIVER(call) check((call) ? cudaErrorUnknown : cudaSuccess, __LINE__)

static void expect(const char *key, long count)
{
    printf("expect %s %ld\n", key, count);
}

__global__ void copy(const float *from, float *to)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[i];
}

static float *make(size_t n = N)
{
    float *memory;
    CHECK(cudaMalloc(&memory, n * sizeof *memory));
    CHECK(cudaMemset(memory, 0, n * sizeof *memory));
    return memory;
}

static int capability(void)
{
    int major;
    CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    return major;
}

// ---- sites ----

__global__ void atomics(unsigned *u, int *i, float *f, unsigned long long *l)
{
    const int k = threadIdx.x;
    atomicAdd(u + k, i[k]);
    atomicSub(u + 32 + k, 1u);
    atomicExch(u + 64 + k, 1u);
    atomicMin(i + k, k);
    atomicMax(i + 32 + k, k);
    atomicInc(u + 96 + k, 7u);
    atomicDec(u + 128 + k, 7u);
    i[64 + k] = atomicCAS(u + 160 + k, 0u, 1u);
    atomicAnd(u + 192 + k, 3u);
    atomicOr(u + 224 + k, 3u);
    atomicXor(u + 256 + k, 3u);
    atomicAdd(f + k, 1.0f);
    atomicMax(l + k, 5ull);
}

static void run_atomics(void)
{
    unsigned *const u = (unsigned *)make();
    atomics<<<1, 32>>>(u, (int *)make(), make(), (unsigned long long *)make());
    CHECK(cudaDeviceSynchronize());
    expect("operation 3", 3); // add: of u, u again (a subtraction) and f
    expect("operation 5", 1);
    expect("operation 6", 1);
    expect("operation 7", 2);
    expect("operation 8", 1);
    expect("operation 9", 1);
    expect("operation 10", 1);
    expect("operation 11", 1);
    expect("operation 12", 1);
    expect("operation 13", 1);
    expect("operation 14", 0);
    expect("accesses", 32 * 15);
}

static __device__ __forceinline__ float inner(const float *p, int i)
{
    return p[i];
}
static __device__ __forceinline__ float outer(const float *p, int i)
{
    return inner(p, i) + inner(p, i + 32);
}
__global__ void inlined(const float *from, float *to)
{
    to[threadIdx.x] = outer(from, threadIdx.x);
}

static void run_inlined(void)
{
    inlined<<<1, 32>>>(make(), make());
    CHECK(cudaDeviceSynchronize());
    expect("accesses", 96);
    expect("calls outer inlined", 2);
    expect("calls", 1);
}

// ---- launches ----

__global__ void with_shared(const float *from, float *to)
{
    extern __shared__ float part[];
    part[threadIdx.x] = from[threadIdx.x];
    __syncthreads();
    to[threadIdx.x] = part[blockDim.x - 1 - threadIdx.x];
}

__global__ void with_grid(float *to)
{
    to[blockIdx.x * blockDim.x + threadIdx.x] = 1;
    cg::this_grid().sync();
    to[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

static void run_shapes(void)
{
    float *const a = make(), *const b = make();
    cudaStream_t s;
    cudaGraph_t g;
    cudaGraphExec_t exec;
    with_shared<<<1, 64, 4096>>>(a, b);
    with_shared<<<1, 64, 512>>>(a, b);
    void *arguments[] = {(void *)&a};
    CHECK(cudaLaunchCooperativeKernel((void *)with_grid, dim3(4), dim3(64), arguments, 0, 0));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    with_shared<<<1, 64, 1024, s>>>(a, b);
    CHECK(cudaStreamEndCapture(s, &g));
    CHECK(cudaGraphInstantiate(&exec, g, 0));
    CHECK(cudaGraphDestroy(g));
    for (int i = 0; i < 2; i++) CHECK(cudaGraphLaunch(exec, s));
    CHECK(cudaStreamSynchronize(s));
    expect("launches", 5);
    expect("dynamic shared 4096", 1);
    expect("dynamic shared 512", 1);
    expect("dynamic shared 1024", 2);
    expect("cooperative", 1);
}

// ---- Hopper ----

__global__ void __cluster_dims__(2, 1, 1) remote(float *to)
{
#if __CUDA_ARCH__ >= 900
    __shared__ float own[32];
    cg::cluster_group cluster = cg::this_cluster();
    own[threadIdx.x] = threadIdx.x;
    cluster.sync();
    float *const other = cluster.map_shared_rank(own, cluster.block_rank() ^ 1);
    to[blockIdx.x * 32 + threadIdx.x] = other[31 - threadIdx.x];
    cluster.sync();
#endif
}

// Clusters by the kernel's own code; by an attribute of the launch, and so in a graph; and none.
static void run_cluster(void)
{
    if (capability() < 9) exit(SKIPPED);
    float *const a = make(), *const b = make();
    cudaStream_t s;
    cudaGraph_t g;
    cudaGraphExec_t exec;
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = {};
    remote<<<2, 32>>>(a);
    CHECK(cudaStreamCreate(&s));
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = attribute.val.clusterDim.y = 2;
    attribute.val.clusterDim.z = 1;
    config.gridDim = dim3(4, 4);
    config.blockDim = dim3(32);
    config.stream = s;
    config.attrs = &attribute;
    config.numAttrs = 1;
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaLaunchKernelEx(&config, copy, (const float *)a, b));
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    CHECK(cudaLaunchKernelEx(&config, copy, (const float *)a, b));
    CHECK(cudaStreamEndCapture(s, &g));
    CHECK(cudaGraphInstantiate(&exec, g, 0));
    CHECK(cudaGraphLaunch(exec, s));
    copy<<<2, 32, 0, s>>>(a, b);
    CHECK(cudaStreamSynchronize(s));
    expect("launches", 4);
    expect("accesses", 2 * 96 + 2 * 2 * 16 * 32 + 2 * 64);
    expect("global accesses", 2 * 32 + 2 * 2 * 16 * 32 + 2 * 64);
    expect("shared sites", 2);
    expect("clusters", 3);
    expect("cluster of 2 1 1", 1);
    expect("cluster of 2 2 1", 2);
}

__global__ void bulk(const float *from, float *to)
{
#if __CUDA_ARCH__ >= 900
    __shared__ alignas(128) float part[256];
    __shared__ alignas(8) unsigned long long barrier;
    const unsigned at = (unsigned)__cvta_generic_to_shared(part);
    const unsigned bar = (unsigned)__cvta_generic_to_shared(&barrier);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar));
        asm volatile("fence.proxy.async;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 1024;" ::"r"(bar) : "memory");
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], "
            "1024, [%2];" ::"r"(at),
            "l"(__cvta_generic_to_global(from)), "r"(bar)
            : "memory");
        asm volatile("{ .reg .pred p;\n"
                     "again: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n"
                     "@!p bra again; }" ::"r"(bar)
                     : "memory");
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;" ::"l"(
                         __cvta_generic_to_global(to)),
                     "r"(at)
                     : "memory");
        asm volatile(
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], 512;" ::"l"(
                __cvta_generic_to_global(to + 1024)),
            "r"(at)
            : "memory");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
    }
#endif
}

static void run_bulk(void)
{
    if (capability() < 9) exit(SKIPPED);
    bulk<<<1, 32>>>(make(), make());
    CHECK(cudaDeviceSynchronize());
    // lanes of 16 bytes: 64 each of the copies, 32 of the reduction, on both sides
    expect("global accesses", 64 + 64 + 32);
    expect("global bytes read", 1024 + 512);
    expect("global bytes written", 1024 + 512);
    expect("shared lanes of 16 bytes", 64 + 64 + 32);
}

__global__ void tensor(const __grid_constant__ CUtensorMap map, float *to)
{
#if __CUDA_ARCH__ >= 900
    __shared__ alignas(128) float part[64];
    __shared__ alignas(8) unsigned long long barrier;
    const unsigned at = (unsigned)__cvta_generic_to_shared(part);
    const unsigned bar = (unsigned)__cvta_generic_to_shared(&barrier);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar));
        asm volatile("fence.proxy.async;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" ::"r"(bar) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::"
                     "bytes [%0], "
                     "[%1, {%2, %3}], [%4];" ::"r"(at),
                     "l"(&map), "r"(0), "r"(0), "r"(bar)
                     : "memory");
    }
    __syncthreads();
    asm volatile("{ .reg .pred p;\n"
                 "more: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n"
                 "@!p bra more; }" ::"r"(bar)
                 : "memory");
    to[threadIdx.x] = part[threadIdx.x];
#endif
}

static void run_tensor(void)
{
    if (capability() < 9) exit(SKIPPED);
    CUtensorMap map;
    const cuuint64_t extents[] = {64, 64}, pitches[] = {64 * sizeof(float)};
    const cuuint32_t box[] = {8, 8}, steps[] = {1, 1};
    DRIVER(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, make(), extents,
                                  pitches, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                  CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    tensor<<<1, 64>>>(map, make());
    CHECK(cudaDeviceSynchronize());
    expect("accesses at least", 64);
    expect("skipped tensor loads", 0); // a box of 8 rows of 32 bytes
    expect("global bytes read", 256);
    expect("global bytes written", 256);
    expect("loaded map of 64 by 64 f32", 1);
}

// Stores a tile of 8 x 8 by TMA.
__global__ void tensor_store(const __grid_constant__ CUtensorMap map)
{
#if __CUDA_ARCH__ >= 900
    __shared__ alignas(128) float part[64];
    part[threadIdx.x] = threadIdx.x;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile(
            "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(
                &map),
            "r"(8 * (int)blockIdx.x), "r"(8 * (int)blockIdx.y),
            "r"((unsigned)__cvta_generic_to_shared(part))
            : "memory");
        asm volatile("cp.async.bulk.commit_group;");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
#endif
}

__global__ void read_both(const float *stored, const float *aside, float *to)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = stored[i] + aside[i]; // nobody has written aside
}

static void run_tensor_store(void)
{
    if (capability() < 9) exit(SKIPPED);
    enum { SIDE = 64 };
    float *stored, *aside, *to;
    CUtensorMap map;
    const cuuint64_t extents[] = {SIDE, SIDE}, pitches[] = {SIDE * sizeof(float)};
    const cuuint32_t box[] = {8, 8}, steps[] = {1, 1};
    CHECK(cudaMalloc(&stored, SIDE * SIDE * sizeof *stored));
    CHECK(cudaMalloc(&aside, SIDE * SIDE * sizeof *aside));
    CHECK(cudaMalloc(&to, SIDE * SIDE * sizeof *to));
    DRIVER(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, stored, extents,
                                  pitches, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                  CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    tensor_store<<<dim3(SIDE / 8, SIDE / 8), 64>>>(map);
    read_both<<<SIDE * SIDE / 256, 256>>>(stored, aside, to);
    CHECK(cudaDeviceSynchronize());
    expect("skipped tensor stores", 0);
    expect("global bytes written", 2 * SIDE * SIDE * 4);
    expect("stored map of 64 by 64 f32", 1);
}

__global__ void fetch(cudaTextureObject_t texture, float *to)
{
    to[threadIdx.x] = tex1Dfetch<float>(texture, threadIdx.x);
}

static void run_texture(void)
{
    cudaResourceDesc resource = {};
    cudaTextureDesc description = {};
    cudaTextureObject_t texture;
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = make();
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = N * sizeof(float);
    CHECK(cudaCreateTextureObject(&texture, &resource, &description, NULL));
    fetch<<<1, 32>>>(texture, make());
    CHECK(cudaDeviceSynchronize());
    expect("accesses", 32);
    expect("skipped texture", 1);
}

// ---- devices, contexts, processes ----

static void run_contexts(void)
{
    CUcontext contexts[2];
    CUdevice device;
    DRIVER(cuInit(0));
    DRIVER(cuDeviceGet(&device, 0));
    for (int c = 0; c < 2; c++) {
#if CUDA_VERSION >= 13000
        DRIVER(cuCtxCreate(&contexts[c], NULL, 0, device));
#else
        DRIVER(cuCtxCreate(&contexts[c], 0, device));
#endif
        float *const a = make(), *const b = make();
        cudaStream_t s;
        CHECK(cudaStreamCreate(&s));
        copy<<<N / THREADS, THREADS, 0, s>>>(a, b);
        inlined<<<1, 32, 0, s>>>(a, b);
        CHECK(cudaStreamSynchronize(s));
    }
    for (int c = 0; c < 2; c++) DRIVER(cuCtxDestroy(contexts[c]));
    expect("launches", 4);
    expect("accesses", 2 * (2 * N + 96));
    expect("sites of inlined", 2 * 3);
    expect("sites of copy", 2 * 2);
}

// Each device copies in streams of its own; then device 0 reads what lies on device 1.
static void run_devices(void)
{
    const int large = 1 << 26;
    const char *const steps = getenv("STEPS");
    const int count = steps ? (int)strtol(steps, NULL, 10) : 1;
    float *memory[2];
    int devices;
    CHECK(cudaGetDeviceCount(&devices));
    if (devices < 2) exit(SKIPPED);
    for (int d = 0; d < 2; d++) {
        cudaStream_t s;
        CHECK(cudaSetDevice(d));
        memory[d] = make(large);
        CHECK(cudaStreamCreate(&s));
        if (d == 0)
            inlined<<<1, 32, 0, s>>>(memory[d], memory[d] + 1024);
        else
            copy<<<1, 32, 0, s>>>(memory[d], memory[d] + 1024);
        CHECK(cudaStreamSynchronize(s));
    }
    CHECK(cudaSetDevice(0));
    CHECK(cudaDeviceEnablePeerAccess(1, 0));
    for (int i = 0; i < count; i++) copy<<<large / THREADS, THREADS>>>(memory[1], memory[0]);
    CHECK(cudaDeviceSynchronize());
    expect("launches", 2 + count);
    expect("devices", 2);
    expect("accesses", 96 + 64 + 2l * large * count);
    expect("remote bytes read 0 of 1", (long)large * 4);
    expect("remote bytes written 0 of 1", 0);
    expect("sites of inlined", 3);
    expect("sites of copy", 2 * 2); // a module per device
}

static void run_plain(void)
{
    copy<<<N / THREADS, THREADS>>>(make(), make());
    CHECK(cudaDeviceSynchronize());
}

// A child that is forked before CUDA, one that becomes another program, and the parent.
static void run_children(const char *self)
{
    for (int i = 0; i < 2; i++) {
        const pid_t child = fork();
        if (child == 0) {
            if (i == 0) {
                run_plain();
                exit(0);
            }
            execl(self, self, "plain", (char *)NULL);
            _exit(9);
        }
        int status;
        waitpid(child, &status, 0);
        if (status) exit(4);
    }
    run_plain();
    const pid_t late = fork(); // cannot use CUDA, and must not harm the run
    if (late == 0) exit(0);
    waitpid(late, NULL, 0);
    expect("launches", 3);
    expect("processes", 3);
    expect("accesses", 3 * 2 * N);
}

// ---- the recorder is in the way of others ----

// The library comes when CUDA works already.
static void run_late(void)
{
    char path[4096];
    const char *const library = getenv("CUDA_INJECTION64_PATH");
    snprintf(path, sizeof path, "%s", library ? library : "none");
    unsetenv("CUDA_INJECTION64_PATH");
    CHECK(cudaFree(0));
    void *const recorder = dlopen(path, RTLD_NOW);
    int (*const start)(void) =
        recorder ? (int (*)(void))dlsym(recorder, "InitializeInjection") : NULL;
    if (start) start();
    run_plain();
    expect("launches at least", 0);
}

static void nothing(void *, int, unsigned, const void *) {}

// A subscriber of the program's own is there first.
static void run_subscriber(void)
{
    void *const sanitizer =
        dlopen("/usr/local/cuda/compute-sanitizer/libsanitizer-public.so", RTLD_NOW);
    typedef int subscribe(void **, void (*)(void *, int, unsigned, const void *), void *);
    subscribe *const function =
        sanitizer ? (subscribe *)dlsym(sanitizer, "sanitizerSubscribe") : NULL;
    void *handle;
    if (!function) exit(SKIPPED);
    fprintf(stderr, "subscribed: %d\n", function(&handle, nothing, NULL));
    run_plain();
    expect("launches at least", 0);
}

// A module that comes, goes, and comes again while the program runs.
static void run_modules(void)
{
    static const char text[] = ".version 6.3\n"
                               ".target sm_75\n"
                               ".address_size 64\n"
                               ".visible .entry stamp(.param .u64 to) {\n"
                               "  .reg .u64 a, o;\n"
                               "  .reg .u32 i;\n"
                               "  ld.param.u64 a, [to];\n"
                               "  mov.u32 i, %tid.x;\n"
                               "  mul.wide.u32 o, i, 4;\n"
                               "  add.u64 a, a, o;\n"
                               "  st.global.u32 [a], i;\n"
                               "  ret;\n"
                               "}\n";
    float *memory = make();
    void *arguments[] = {&memory};
    for (int i = 0; i < 3; i++) {
        CUmodule module;
        CUfunction function;
        DRIVER(cuModuleLoadData(&module, text));
        DRIVER(cuModuleGetFunction(&function, module, "stamp"));
        DRIVER(cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL));
        CHECK(cudaDeviceSynchronize());
        DRIVER(cuModuleUnload(module));
    }
    expect("launches", 3);
    expect("accesses", 3 * 64);
    expect("records", 3 * 2);
}

__global__ void stop_short(void)
{
    asm volatile("trap;");
}

static void run_device_trap(void)
{
    run_plain();
    stop_short<<<1, 32>>>();
    expect("accesses", 2 * N);
    fflush(stdout);
    CHECK(cudaDeviceSynchronize());
}

static void run_crash(void)
{
    run_plain();
    expect("accesses at least", 2 * N);
    fflush(stdout);
    usleep(500000);
    raise(SIGSEGV);
}

__global__ void wait_for(volatile int *flag, int *seen, long long cycles)
{
    const long long start = clock64();
    while (!*flag && clock64() - start < cycles) {
    }
    *seen = *flag;
}

__global__ void raise_flag(volatile int *flag)
{
    *flag = 1;
}

// A kernel that waits for another one, which is launched first while it runs: whoever waits for the
// device in between never ends, or here, after a while.
static void run_beside(void)
{
    int *const flag = (int *)make(), *const seen = flag + 1024, result = 0;
    cudaStream_t streams[2];
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, raise_flag)); // is loaded
    for (int i = 0; i < 2; i++)
        CHECK(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
    CHECK(cudaDeviceSynchronize());
    wait_for<<<1, 1, 0, streams[0]>>>(flag, seen, 1ll << 34);
    usleep(100000);
    raise_flag<<<1, 1, 0, streams[1]>>>(flag);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&result, seen, sizeof result, cudaMemcpyDeviceToHost));
    if (!result) exit(4);
    expect("launches", 2);
    expect("accesses at least", 4);
}

__global__ void forever(volatile float *data)
{
    while (data[0] == 0) data[1] += 1;
}

static void run_hang(void)
{
    run_plain();
    expect("accesses at least", 2 * N);
    fflush(stdout);
    usleep(500000);
    forever<<<1, 1>>>(make());
    CHECK(cudaDeviceSynchronize());
}

static void run_exit(void)
{
    run_plain();
    expect("accesses at least", 2 * N);
    fflush(stdout);
    usleep(500000);
    _exit(5);
}

static void run_switch(void)
{
    cts_stop(); // before CUDA is there
    run_plain();
    cts_start();
    run_plain();
    run_plain();
    cts_stop();
    run_plain();
    expect("launches", 2);
    expect("accesses", 2 * 2 * N);
}

static void run_profiler(void)
{
    run_plain();
    CHECK(cudaProfilerStart());
    run_plain();
    run_plain();
    CHECK(cudaProfilerStop());
    run_plain();
    expect("launches", 2);
    expect("accesses", 2 * 2 * N);
}

int main(int, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {
        {"atomics", run_atomics},
        {"inlined", run_inlined},
        {"shapes", run_shapes},
        {"cluster", run_cluster},
        {"bulk", run_bulk},
        {"tensor", run_tensor},
        {"tensor-store", run_tensor_store},
        {"texture", run_texture},
        {"contexts", run_contexts},
        {"devices", run_devices},
        {"plain", run_plain},
        {"late", run_late},
        {"subscriber", run_subscriber},
        {"hang", run_hang},
        {"exit", run_exit},
        {"switch", run_switch},
        {"modules", run_modules},
        {"beside", run_beside},
        {"device-trap", run_device_trap},
        {"crash", run_crash},
        {"profiler", run_profiler},
    };
    for (const auto &one : cases)
        if (argv[1] && !strcmp(argv[1], one.name)) return one.run(), 0;
    if (argv[1] && !strcmp(argv[1], "children")) return run_children(argv[0]), 0;
    return 2;
}
