// Values and launches that are known in advance: memory_values CASE. Lines on stdout say what;
// tests/ gpu/memory.py compares them with the run.
//
// In the case `values` what stands at byte o of a buffer is o * 7 + 3, or its complement in
// results, so that the address tells the value. In the case `nodes` each launch has addresses of
// its own.
#include <cstdio>
#include <cstdlib>
#include <cstring>

static void check(cudaError_t status, int line)
{
    if (status == cudaSuccess) return;
    fprintf(stderr, "memory_values: line %d: %s\n", line, cudaGetErrorString(status));
    exit(3);
}
#define CHECK(call) check(call, __LINE__)

// ---- values ----

enum { THREADS = 64, CTAS = 3, COUNT = THREADS * CTAS, FIRST = 1000 };

template <typename T> __device__ T complement(T value)
{
    T result;
    const char *const from = (const char *)&value;
    char *const to = (char *)&result;
    for (size_t i = 0; i < sizeof value; i++) to[i] = ~from[i];
    return result;
}

// Whole warps, backwards out of shared memory, by some lanes, and as lists.
template <typename T> __global__ void move(const T *in, T *out)
{
    __shared__ T part[THREADS];
    const int t = threadIdx.x, first = blockIdx.x * THREADS;
    part[t] = in[first + t];
    __syncthreads();
    const int back = THREADS - 1 - t;
    out[first + back] = complement(part[back]);
    __syncthreads();
    const int square = t * t % THREADS;
    if (t % 3 == 0) out[first + square] = complement(in[first + square]);
}

__global__ void count(unsigned *narrow, unsigned long long *wide)
{
    __shared__ unsigned own[THREADS];
    const int t = threadIdx.x, i = blockIdx.x * THREADS + t;
    own[t] = FIRST + t;
    __syncthreads();
    atomicAdd(own + t, 5u);
    if (t % 2) atomicAdd(narrow + i, 1u);
    if (atomicMax(wide + i, 7ull) == 0) narrow[i] = 0;
    __syncthreads();
    narrow[i] = own[t];
}

__global__ void keep(int *out, int step)
{
    int own[16];
    for (int i = 0; i < 16; i++) own[i * step & 15] = i * 100 + threadIdx.x;
    int sum = 0;
    for (int i = 0; i < 16; i++) sum += own[(i + threadIdx.x) & 15];
    out[threadIdx.x] = sum;
}

static unsigned char *buffer(const char *what, size_t width)
{
    unsigned char *memory, *const host = new unsigned char[COUNT * width];
    for (size_t o = 0; o < COUNT * width; o++) host[o] = (unsigned char)(o * 7 + 3);
    CHECK(cudaMalloc(&memory, COUNT * width));
    CHECK(cudaMemcpy(memory, host, COUNT * width, cudaMemcpyHostToDevice));
    printf("buffer %s %zu 0x%llx %zu\n", what, width, (unsigned long long)memory, COUNT * width);
    delete[] host;
    return memory;
}

template <typename T> static void move_all(void)
{
    const T *const in = (const T *)buffer("in", sizeof(T));
    move<<<CTAS, THREADS>>>(in, (T *)buffer("out", sizeof(T)));
    CHECK(cudaDeviceSynchronize());
}

static void values(void)
{
    move_all<unsigned char>();
    move_all<unsigned short>();
    move_all<unsigned>();
    move_all<uint2>();
    move_all<uint4>();
    unsigned host[COUNT], *narrow;
    unsigned long long wide_host[COUNT], *wide;
    for (int i = 0; i < COUNT; i++) {
        host[i] = FIRST + i;
        wide_host[i] = (unsigned long long)(FIRST + i) << 33;
    }
    CHECK(cudaMalloc(&narrow, sizeof host));
    CHECK(cudaMalloc(&wide, sizeof wide_host));
    CHECK(cudaMemcpy(narrow, host, sizeof host, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(wide, wide_host, sizeof wide_host, cudaMemcpyHostToDevice));
    count<<<CTAS, THREADS>>>(narrow, wide);
    printf("atomics 4 0x%llx\natomics 8 0x%llx\n", (unsigned long long)narrow,
           (unsigned long long)wide);
    keep<<<1, THREADS>>>((int *)buffer("any", 4), 3);
    CHECK(cudaDeviceSynchronize());
}

// ---- launches of one kernel that are in flight together ----

enum { BLOCK = 128, DATA = 8 * BLOCK };

__global__ void copy(const float *from, float *to)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    to[i] = from[i];
}

// Part of each warp, so that records go the rarer way.
__global__ void copy_some(const float *from, float *to)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (threadIdx.x % 5 != 1) to[i] = from[i];
}

enum attribute { PLAIN, COOPERATIVE, CLUSTER };
struct work {
    const float *from;
    float *to;
    unsigned ctas;
};

static bool is_quiet; // while a graph is captured nothing is launched

static void tell(const struct work &w, bool some)
{
    const int lanes = some ? BLOCK - (BLOCK + 3) / 5 : BLOCK;
    printf("launch %u 0x%llx 0x%llx\n", w.ctas * lanes, (unsigned long long)w.from,
           (unsigned long long)w.to);
}

static void launch(const struct work &w, attribute kind, cudaStream_t stream, bool some)
{
    cudaLaunchAttribute attributes[1] = {};
    cudaLaunchConfig_t config = {};
    config.gridDim = w.ctas;
    config.blockDim = BLOCK;
    config.stream = stream;
    config.attrs = attributes;
    config.numAttrs = kind != PLAIN;
    if (kind == COOPERATIVE) {
        attributes[0].id = cudaLaunchAttributeCooperative;
        attributes[0].val.cooperative = 1;
    } else {
        attributes[0].id = cudaLaunchAttributeClusterDimension;
        attributes[0].val.clusterDim.x = 2;
        attributes[0].val.clusterDim.y = attributes[0].val.clusterDim.z = 1;
    }
    CHECK(cudaLaunchKernelEx(&config, some ? copy_some : copy, w.from, w.to));
    if (!is_quiet) tell(w, some);
}

static cudaGraphExec_t graph_of(const struct work &a, const struct work &b, attribute kind,
                                cudaStream_t s, bool some)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    is_quiet = true;
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    launch(a, kind, s, some);
    launch(b, kind, s, some);
    CHECK(cudaStreamEndCapture(s, &graph));
    is_quiet = false;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    return exec;
}

static void replay(cudaGraphExec_t exec, const struct work &a, const struct work &b, cudaStream_t s,
                   bool some)
{
    CHECK(cudaGraphLaunch(exec, s));
    tell(a, some);
    tell(b, some);
}

static struct work work_of(unsigned ctas)
{
    struct work w = {nullptr, nullptr, ctas};
    CHECK(cudaMalloc((void **)&w.from, DATA * sizeof(float)));
    CHECK(cudaMalloc((void **)&w.to, DATA * sizeof(float)));
    CHECK(cudaMemset((void *)w.from, 0, DATA * sizeof(float)));
    return w;
}

static void in_flight(attribute kind, bool some)
{
    cudaStream_t s, other;
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    const struct work a = work_of(8), b = work_of(4), c = work_of(6);
    CHECK(cudaDeviceSynchronize());
    const cudaGraphExec_t ab = graph_of(a, b, kind, s, some), ba = graph_of(b, a, kind, s, some);
    launch(c, kind, s, some);
    for (int i = 0; i < 3; i++) replay(ab, a, b, s, some);
    launch(c, kind, other, some);
    for (int i = 0; i < 3; i++) replay(ba, b, a, s, some);
    launch(a, kind, s, some);
    launch(b, kind, other, some);
    replay(ab, a, b, other, some);
    launch(c, kind, s, some);
    CHECK(cudaDeviceSynchronize());
}

static void nodes(void)
{
    int major;
    CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    for (int some = 0; some < 2; some++) {
        in_flight(PLAIN, some);
        in_flight(COOPERATIVE, some);
        if (major >= 9) in_flight(CLUSTER, some);
    }
}

int main(int, char **argv)
{
    if (argv[1] && !strcmp(argv[1], "values")) return values(), 0;
    if (argv[1] && !strcmp(argv[1], "nodes")) return nodes(), 0;
    return 2;
}
