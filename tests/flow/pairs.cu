// Small programs in pairs: with a defect (the second argument is 1) and mended (0). The comment
// above each says what `ctascope flow` has to find; in the mended one it finds nothing.
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <cuda_runtime.h>

enum { N = 4096, BYTES = N * sizeof(float), BLOCK = 256 };

__device__ float scale[N];

__global__ void fill(float *a, int n, float value)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = value + i;
}
__global__ void add(float *a, int n, float value)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] += value;
}
__global__ void move(float *to, const float *from, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = 2 * from[i];
}
__global__ void mirror(float *to, const float *from, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = 2 * from[n - 1 - i];
}
__global__ void blur(float *to, const float *from, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = (i ? from[i - 1] : 0) + (i + 1 < n ? from[i + 1] : 0);
}
__global__ void total(float *to, const float *from, int n)
{
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += from[i];
    atomicAdd(&to[blockIdx.x], sum);
}
__global__ void accumulate(float *to, const float *from, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] += from[i];
}
__global__ void both(float *a, float *b, const float *from, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        a[i] = from[i];
        b[i] = -from[i];
    }
}
__global__ void count(int *bins, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[i % 64], 1);
}
__global__ void use_scale(float *a, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] *= scale[i];
}
__global__ void verify(const float *a, int n, float expected, int *bad)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && a[i] != expected) atomicExch(bad, 1);
}
__global__ void mark(float *flags, const float *from, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && from[i] > 0) flags[i] = 1;
}
struct order {
    double price;
    int count;
    char side; /* three bytes of padding follow */
};
struct record {
    float used[8], unused[8];
};
template <typename T> __global__ void clone(T *to, const T *from, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i];
}
__global__ void use_orders(float *to, const order *from, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i].side == 'B' ? from[i].price * from[i].count : 0;
}
__global__ void use_records(float *to, const record *from, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 8 && i < n; k++) sum += from[i].used[k];
    if (i < n) to[i] = sum;
}
__constant__ float constants[64];
__global__ void use_constants(float *a, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = constants[i % 64];
}

static bool defect;
static cudaStream_t s, t;
static cudaEvent_t e, f;
static float sum;

static float *make(int n = N)
{
    float *a;
    cudaMalloc(&a, n * sizeof(float));
    return a;
}
static float *pin()
{
    float *a;
    cudaMallocHost(&a, BYTES);
    return a;
}
template <typename... Arguments>
static void run(void (*kernel)(Arguments...), cudaStream_t stream, Arguments... arguments)
{
    kernel<<<N / BLOCK, BLOCK, 0, stream>>>(arguments...);
}
static void wait_for(cudaStream_t waiting, cudaStream_t other, cudaEvent_t event)
{
    cudaEventRecord(event, other);
    cudaStreamWaitEvent(waiting, event, 0);
}
// All work is over; what is in `a` goes to the host.
static void take(const float *a, int n = N)
{
    static float host[N];
    cudaDeviceSynchronize();
    cudaMemcpy(host, a, n * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) sum += host[i];
}

// race: the reader's stream does not wait for the writer's
static void missing_event()
{
    float *a = make(), *b = make();
    run(fill, s, a, (int)N, 1.f);
    if (!defect) wait_for(t, s, e);
    run(move, t, b, (const float *)a, (int)N);
    take(b);
}
// race: the event is recorded before the kernel that it should follow
static void early_event()
{
    float *a = make(), *b = make();
    if (defect) cudaEventRecord(e, s);
    run(fill, s, a, (int)N, 1.f);
    if (!defect) cudaEventRecord(e, s);
    cudaStreamWaitEvent(t, e, 0);
    run(move, t, b, (const float *)a, (int)N);
    take(b);
}
// race: the event is recorded in the waiting stream
static void wrong_stream()
{
    float *a = make(), *b = make();
    run(fill, s, a, (int)N, 1.f);
    cudaEventRecord(e, defect ? t : s);
    cudaStreamWaitEvent(t, e, 0);
    run(move, t, b, (const float *)a, (int)N);
    take(b);
}
// race: the host reads before the copy has ended
static void download()
{
    float *a = make(), *h = pin();
    run(fill, s, a, (int)N, 1.f);
    cudaMemcpyAsync(h, a, BYTES, cudaMemcpyDeviceToHost, s);
    if (!defect) cudaStreamSynchronize(s);
    for (int i = 0; i < N; i++) sum += h[i];
}
// race: the host waits for another stream
static void other_stream()
{
    float *a = make(), *h = pin();
    run(fill, s, a, (int)N, 1.f);
    cudaMemcpyAsync(h, a, BYTES, cudaMemcpyDeviceToHost, s);
    cudaStreamSynchronize(defect ? t : s);
    for (int i = 0; i < N; i++) sum += h[i];
}
// race: the host writes a pinned buffer that a copy still has to read
static void upload()
{
    float *a = make(), *b = make(), *h = pin();
    for (int i = 0; i < N; i++) h[i] = i;
    cudaMemcpyAsync(a, h, BYTES, cudaMemcpyHostToDevice, s);
    if (!defect) cudaStreamSynchronize(s);
    for (int i = 0; i < N; i++) h[i] = -i;
    cudaMemcpyAsync(b, h, BYTES, cudaMemcpyHostToDevice, s);
    take(a);
    take(b);
}
// race: the legacy default stream does not order non-blocking streams
static void default_stream()
{
    float *a = make(), *b = make();
    cudaStream_t blocking;
    cudaStreamCreate(&blocking);
    run(fill, (cudaStream_t)0, a, (int)N, 1.f);
    run(move, defect ? t : blocking, b, (const float *)a, (int)N);
    take(b);
}
// race: the halves that two streams fill overlap by one element
static void halves()
{
    float *a = make();
    run(fill, s, a, N / 2 + (defect ? 1 : 0), 1.f);
    run(fill, t, a + N / 2, N / 2, 1.f);
    take(a);
}
// race: columns that two streams copy overlap; the rows alternate in memory
static void columns()
{
    float *a = make(), *b = make();
    run(fill, s, a, (int)N, 1.f);
    wait_for(t, s, e);
    const size_t pitch = 64 * sizeof(float);
    cudaMemcpy2DAsync(b, pitch, a, pitch, pitch / 2 + (defect ? 4 : 0), N / 64,
                      cudaMemcpyDeviceToDevice, s);
    cudaMemcpy2DAsync(b + 32, pitch, a + 32, pitch, pitch / 2, N / 64, cudaMemcpyDeviceToDevice, t);
    take(b);
}
// race: the producer does not wait until the buffer is consumed
static void double_buffer()
{
    float *buffer[2] = {make(), make()}, *out = make();
    cudaEvent_t full[2], empty[2];
    for (int i = 0; i < 2; i++) {
        cudaEventCreate(&full[i]);
        cudaEventCreate(&empty[i]);
    }
    for (int i = 0; i < 5; i++) {
        const int k = i % 2;
        if (i >= 2 && !defect) cudaStreamWaitEvent(s, empty[k], 0);
        run(fill, s, buffer[k], (int)N, (float)i);
        cudaEventRecord(full[k], s);
        cudaStreamWaitEvent(t, full[k], 0);
        run(i ? accumulate : move, t, out, (const float *)buffer[k], (int)N);
        cudaEventRecord(empty[k], t);
    }
    take(out);
}
// race: the host reads managed memory before the kernel has ended
static void managed()
{
    float *a;
    cudaMallocManaged(&a, BYTES);
    run(fill, s, a, (int)N, 1.f);
    if (!defect) cudaDeviceSynchronize();
    for (int i = 0; i < N; i++) sum += a[i];
}
// race: a graph lacks an edge
static void graph()
{
    float *a = make(), *b = make();
    int n = N;
    float one = 1;
    void *fill_arguments[] = {&a, &n, &one}, *move_arguments[] = {&b, &a, &n};
    cudaKernelNodeParams p = {};
    p.gridDim = dim3(N / BLOCK);
    p.blockDim = dim3(BLOCK);
    cudaGraph_t g;
    cudaGraphExec_t exec;
    cudaGraphNode_t first, second;
    cudaGraphCreate(&g, 0);
    p.func = (void *)fill;
    p.kernelParams = fill_arguments;
    cudaGraphAddKernelNode(&first, g, NULL, 0, &p);
    p.func = (void *)move;
    p.kernelParams = move_arguments;
    cudaGraphAddKernelNode(&second, g, &first, defect ? 0 : 1, &p);
    cudaGraphInstantiate(&exec, g, 0);
    cudaGraphLaunch(exec, s);
    take(b);
    cudaGraphLaunch(exec, s);
    take(b);
}
// race: a captured branch joins too late
static void capture()
{
    float *a = make(), *b = make();
    cudaGraph_t g;
    cudaGraphExec_t exec;
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    wait_for(t, s, e);
    run(fill, t, a, (int)N, 1.f);
    cudaEventRecord(f, t);
    if (!defect) cudaStreamWaitEvent(s, f, 0);
    run(move, s, b, (const float *)a, (int)N);
    if (defect) cudaStreamWaitEvent(s, f, 0);
    cudaStreamEndCapture(s, &g);
    cudaGraphInstantiate(&exec, g, 0);
    cudaGraphLaunch(exec, s);
    take(b);
}
static cudaGraphNode_t add_fill(cudaGraph_t g, float *a)
{
    int n = N;
    float one = 1;
    void *arguments[] = {&a, &n, &one};
    cudaKernelNodeParams p = {};
    p.func = (void *)fill;
    p.gridDim = dim3(N / BLOCK);
    p.blockDim = dim3(BLOCK);
    p.kernelParams = arguments;
    cudaGraphNode_t node;
    cudaGraphAddKernelNode(&node, g, NULL, 0, &p);
    return node;
}
static cudaGraphNode_t add_move(cudaGraph_t g, const cudaGraphNode_t *after, float *b, float *a)
{
    int n = N;
    void *arguments[] = {&b, &a, &n};
    cudaKernelNodeParams p = {};
    p.func = (void *)move;
    p.gridDim = dim3(N / BLOCK);
    p.blockDim = dim3(BLOCK);
    p.kernelParams = arguments;
    cudaGraphNode_t node;
    cudaGraphAddKernelNode(&node, g, after, after ? 1 : 0, &p);
    return node;
}
// The graph is gone when its instance is launched.
static void launch(cudaGraph_t g, cudaStream_t stream)
{
    cudaGraphExec_t exec;
    cudaGraphInstantiate(&exec, g, 0);
    cudaGraphDestroy(g);
    cudaGraphLaunch(exec, stream);
}
// race: a graph to which the reader is added before the writer lacks their edge
static void reversed_graph()
{
    float *a = make(), *b = make();
    cudaGraph_t g;
    cudaGraphCreate(&g, 0);
    const cudaGraphNode_t reader = add_move(g, NULL, b, a), writer = add_fill(g, a);
#if CUDART_VERSION >= 13000
    if (!defect) cudaGraphAddDependencies(g, &writer, &reader, NULL, 1);
#else
    if (!defect) cudaGraphAddDependencies(g, &writer, &reader, 1);
#endif
    launch(g, s);
    take(b);
}
// race: a copy in a graph does not wait for the child graph that makes its source
static void child_graph()
{
    float *a = make(), *b = make(), *c = make();
    cudaGraph_t g, child;
    cudaGraphNode_t node, copy;
    cudaGraphCreate(&g, 0);
    cudaGraphCreate(&child, 0);
    const cudaGraphNode_t writer = add_fill(child, a);
    add_move(child, &writer, b, a);
    cudaGraphAddChildGraphNode(&node, g, NULL, 0, child);
    cudaGraphAddMemcpyNode1D(&copy, g, &node, defect ? 0 : 1, c, b, BYTES,
                             cudaMemcpyDeviceToDevice);
    launch(g, s);
    cudaDeviceSynchronize();
    run(add, s, b, (int)N, 1.f);
    take(b);
    take(c);
}
// race: cudaMalloc's memory is freed in the order of a stream that does not wait for its reader
static void freed_in_stream()
{
    float *a = make(), *b = make();
    run(fill, t, a, (int)N, 1.f);
    run(move, t, b, (const float *)a, (int)N);
    if (!defect) wait_for(s, t, e);
    cudaFreeAsync(a, s);
    take(b);
}
// race: a kernel reads a __device__ variable that another writes by its address
static void symbol_address()
{
    float *a = make(), *address;
    cudaGetSymbolAddress((void **)&address, scale);
    run(fill, s, a, (int)N, 1.f);
    cudaStreamSynchronize(s);
    run(fill, s, address, (int)N, 2.f);
    if (!defect) wait_for(t, s, e);
    run(use_scale, t, a, (int)N);
    take(a);
}
// race: a copy between devices does not wait for the kernel that writes its source
static void peer()
{
    float *a = make(), *b;
    cudaStream_t other;
    cudaSetDevice(1);
    cudaMalloc(&b, BYTES);
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    cudaSetDevice(0);
    run(fill, s, a, (int)N, 1.f);
    if (!defect) wait_for(other, s, e);
    cudaMemcpyPeerAsync(b, 1, a, 0, BYTES, other);
    cudaSetDevice(1);
    cudaDeviceSynchronize();
    cudaSetDevice(0);
    take(b);
}
// race: a memset in another stream overlaps what a kernel writes
static void memset_overlap()
{
    float *a = make();
    run(fill, s, a, (int)N, 1.f);
    if (!defect) wait_for(t, s, e);
    cudaMemsetAsync(a + N - 1, 0, sizeof(float), t);
    take(a);
}
// race: a kernel reads counters that another updates; in the mended one both update them
static void atomics()
{
    int *bins;
    float *b = defect ? make() : NULL;
    cudaMalloc(&bins, BYTES);
    cudaMemsetAsync(bins, 0, BYTES, s);
    wait_for(t, s, e);
    run(count, s, bins, (int)N);
    if (defect)
        run(move, t, b, (const float *)bins, (int)N);
    else
        run(count, t, bins, (int)N);
    take((float *)bins);
    if (defect) take(b);
}
// race: a device-to-device copy reads what a kernel still writes
static void device_copy()
{
    float *a = make(), *b = make();
    run(fill, s, a, (int)N, 1.f);
    if (!defect) wait_for(t, s, e);
    cudaMemcpyAsync(b, a, BYTES, cudaMemcpyDeviceToDevice, t);
    cudaDeviceSynchronize();
    run(add, t, a, (int)N, 1.f);
    take(b);
    take(a);
}
// race: a stream overwrites what another still reads
static void overwrite()
{
    float *a = make(), *b = make();
    run(fill, s, a, (int)N, 1.f);
    wait_for(t, s, e);
    run(move, t, b, (const float *)a, (int)N);
    if (!defect) wait_for(s, t, f);
    run(fill, s, a, (int)N, 3.f);
    take(b);
    take(a);
}
// race: memory goes back to its pool while another stream reads it
static void pool()
{
    float *p, *b = make();
    cudaMallocAsync(&p, BYTES, s);
    run(fill, s, p, (int)N, 1.f);
    wait_for(t, s, e);
    run(move, t, b, (const float *)p, (int)N);
    if (!defect) wait_for(s, t, f);
    cudaFreeAsync(p, s);
    cudaMallocAsync(&p, BYTES, s);
    run(fill, s, p, (int)N, 2.f);
    take(p);
    take(b);
}
// race: a stream uses memory that another allocates in its order
static void pool_allocation()
{
    float *p;
    cudaMallocAsync(&p, BYTES, s);
    if (!defect) wait_for(t, s, e);
    run(fill, t, p, (int)N, 1.f);
    take(p);
}
static void store(void *h)
{
    for (int i = 0; i < N; i++) ((float *)h)[i] = i;
}
// possible race: a copy in another stream does not wait for the host function that fills its source
static void host_function()
{
    float *a = make(), *h = pin();
    cudaLaunchHostFunc(s, store, h);
    cudaMemcpyAsync(a, h, BYTES, cudaMemcpyHostToDevice, defect ? t : s);
    take(a);
}
// race: a __device__ variable is set while a kernel reads it
static void symbol()
{
    float *a = make(), *h = pin(), *other = pin();
    for (int i = 0; i < N; i++) h[i] = other[i] = i;
    cudaMemcpyToSymbolAsync(scale, h, BYTES, 0, cudaMemcpyHostToDevice, s);
    run(fill, s, a, (int)N, 1.f);
    run(use_scale, s, a, (int)N);
    if (!defect) wait_for(t, s, e);
    cudaMemcpyToSymbolAsync(scale, other, BYTES, 0, cudaMemcpyHostToDevice, t);
    if (!defect) wait_for(s, t, f);
    cudaDeviceSynchronize();
    run(use_scale, s, a, (int)N);
    take(a);
}
// race: the last stage waits for one of two streams only
static void stages()
{
    float *a = make(), *b = make();
    run(fill, s, a, N / 2, 1.f);
    run(fill, t, a + N / 2, N / 2, 2.f);
    if (!defect) wait_for(s, t, e);
    run(move, s, b, (const float *)a, (int)N);
    take(b);
}

// possible race: two host threads fill one array in streams of their own
static void threads()
{
    float *const first = make(), *const second = defect ? first : make();
    std::thread others[2];
    for (int i = 0; i < 2; i++)
        others[i] = std::thread([a = i ? second : first] {
            static thread_local float host[N];
            cudaStream_t own;
            cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
            run(fill, own, a, (int)N, 1.f);
            cudaStreamSynchronize(own);
            cudaMemcpyAsync(host, a, BYTES, cudaMemcpyDeviceToHost, own);
            cudaStreamSynchronize(own);
        });
    for (auto &other : others) other.join();
}

// race: a thread hands its array over under a lock, before its kernel has ended
static void handover()
{
    float *const a = make(), *const b = make();
    std::mutex lock;
    std::condition_variable changed;
    bool is_ready = false;
    std::thread other([&] {
        cudaStream_t own;
        cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
        run(fill, own, a, (int)N, 1.f);
        if (!defect) cudaStreamSynchronize(own);
        const std::lock_guard<std::mutex> guard(lock);
        is_ready = true;
        changed.notify_one();
    });
    {
        std::unique_lock<std::mutex> guard(lock);
        changed.wait(guard, [&] { return is_ready; });
    }
    run(move, t, b, (const float *)a, (int)N);
    other.join();
    take(b);
}
// race: two threads add to an array in turns, each in a stream of its own
static void turns()
{
    float *const a = make();
    std::mutex lock;
    std::condition_variable changed;
    int turn = 0;
    cudaMemset(a, 0, BYTES);
    cudaDeviceSynchronize(); // a memset may return before it is done
    std::thread others[2];
    for (int i = 0; i < 2; i++)
        others[i] = std::thread([&, i] {
            cudaStream_t own;
            cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
            for (int k = i; k < 6; k += 2) {
                std::unique_lock<std::mutex> guard(lock);
                changed.wait(guard, [&] { return turn == k; });
                run(add, own, a, (int)N, 1.f);
                if (!defect) cudaStreamSynchronize(own);
                turn++;
                changed.notify_all();
            }
        });
    for (auto &other : others) other.join();
    take(a);
}
// race: the array of a thread that was joined is used, but its kernel was not waited for
static void joined()
{
    float *const a = make(), *const b = make();
    std::thread other([a] {
        cudaStream_t own;
        cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
        run(fill, own, a, (int)N, 1.f);
        if (!defect) cudaStreamSynchronize(own);
    });
    other.join();
    run(move, t, b, (const float *)a, (int)N);
    take(b);
}

// dead work: a kernel's result is stored over before anybody reads it
static void dead_launch()
{
    float *a = make();
    run(fill, s, a, (int)N, 1.f);
    if (defect)
        cudaMemsetAsync(a, 0, BYTES, s);
    else
        run(add, s, a, (int)N, 2.f);
    take(a);
}
// possible dead work: what a kernel makes of another's result is never read
static void dead_chain()
{
    float *a = make(), *b = make(), *c = make();
    run(fill, s, a, (int)N, 1.f);
    run(move, s, b, (const float *)a, (int)N);
    run(move, s, c, (const float *)b, (int)N);
    take(defect ? a : c);
}
// possible dead work: a kernel runs after the last download
static void dead_end()
{
    float *a = make();
    run(fill, s, a, (int)N, 1.f);
    if (!defect) run(add, s, a, (int)N, 2.f);
    take(a);
    if (defect) run(add, s, a, (int)N, 1.f);
}
// dead work: a variable is set and never read (and constants, whose loads are not recorded, are)
static void dead_symbol()
{
    static float h[N];
    float *a = make();
    if (defect)
        cudaMemcpyToSymbolAsync(scale, h, sizeof(scale), 0, cudaMemcpyHostToDevice, s);
    else
        cudaMemcpyToSymbolAsync(constants, h, sizeof(constants), 0, cudaMemcpyHostToDevice, s);
    run(use_constants, s, a, (int)N);
    take(a);
}
// possible dead work: only the last of several frames is read
static void frames()
{
    float *a = make();
    for (int i = 0; i < 3; i++) {
        run(fill, s, a, (int)N, (float)i);
        if (!defect || i == 2) take(a);
    }
}
// dead work: what is uploaded is stored over
static void dead_upload()
{
    float *a = make();
    static float h[N];
    cudaMemcpyAsync(a, h, BYTES, cudaMemcpyHostToDevice, s);
    if (defect)
        run(fill, s, a, (int)N, 1.f);
    else
        run(add, s, a, (int)N, 1.f);
    take(a);
}
// dead work: nobody reads an array; in the mended one a kernel that stores nothing checks it
static void self_check()
{
    float *a = make(), *b = make();
    int *bad, host;
    cudaMalloc(&bad, sizeof *bad);
    cudaMemsetAsync(bad, 0, sizeof *bad, s);
    cudaMemsetAsync(a, 0, BYTES, s);
    run(fill, s, b, (int)N, 0.f);
    run(verify, s, (const float *)(defect ? b : a), (int)N, 0.f, bad);
    cudaStreamSynchronize(s);
    cudaMemcpy(&host, bad, sizeof host, cudaMemcpyDeviceToHost);
    take(b);
}
// possible dead work: what the last step leaves is unread, but what earlier ones left was read
static void last_step()
{
    float *a = make(), *b = make();
    cudaMemsetAsync(a, 0, BYTES, s);
    for (int i = 0; i < 3; i++) {
        run(move, s, b, (const float *)a, (int)N);
        take(b);
        run(fill, s, a, (int)N, (float)i);
    }
    if (!defect) take(a);
}
// possible dead bytes: half of what a kernel writes is unused; in the mended one only padding is
static void padding()
{
    float *out = make();
    if (defect) {
        record *a, *b;
        cudaMalloc(&a, N * sizeof *a);
        cudaMalloc(&b, N * sizeof *b);
        cudaMemsetAsync(a, 0, N * sizeof *a, s);
        run(clone<record>, s, b, (const record *)a, (int)N);
        run(use_records, s, out, (const record *)b, (int)N);
    } else {
        order *a, *b;
        cudaMalloc(&a, N * sizeof *a);
        cudaMalloc(&b, N * sizeof *b);
        cudaMemsetAsync(a, 0, N * sizeof *a, s);
        run(clone<order>, s, b, (const order *)a, (int)N);
        run(use_orders, s, out, (const order *)b, (int)N);
    }
    take(out);
}
// overwritten memset: as above; in the mended one it is too small to matter
static void small_memset()
{
    const int n = defect ? N : 64;
    float *a = make();
    cudaMemsetAsync(a, 0, n * sizeof *a, s);
    run(fill, s, a, n - 16, 1.f);
    take(a, n);
}
// dead bytes: one of two arrays that a kernel writes is never read
static void dead_half()
{
    float *a = make(), *b = make(), *c = make();
    run(fill, s, a, (int)N, 1.f);
    run(both, s, b, c, (const float *)a, (int)N);
    take(b);
    if (!defect) take(c);
}
// overwritten memset: a kernel stores over most of a memset
static void memset_first()
{
    float *a = make();
    cudaMemsetAsync(a, 0, BYTES, s);
    if (defect)
        run(fill, s, a, N - 64, 1.f);
    else
        run(add, s, a, N - 64, 1.f);
    take(a);
}
// oversized copy: a quarter of what is uploaded is read
static void oversized()
{
    float *a = make(), *b = make();
    static float h[N];
    cudaMemcpyAsync(a, h, BYTES, cudaMemcpyHostToDevice, s);
    run(move, s, b, (const float *)a, defect ? N / 4 : N);
    take(b, defect ? N / 4 : N);
}
// avoidable copy: the source does not change until the copy has been read
static void avoidable()
{
    float *a = make(), *b = make(), *c = make();
    run(fill, s, a, (int)N, 1.f);
    cudaMemcpyAsync(b, a, BYTES, cudaMemcpyDeviceToDevice, s);
    if (!defect) run(add, s, a, (int)N, 1.f);
    run(move, s, c, (const float *)b, (int)N);
    take(c);
    take(a);
}
// repeated copy: source and destination are as the first copy left them
static void repeated()
{
    float *a = make(), *b = make(), *c = make();
    run(fill, s, a, (int)N, 1.f);
    for (int i = 0; i < 2; i++) {
        cudaMemcpyAsync(b, a, BYTES, cudaMemcpyDeviceToDevice, s);
        if (!defect || i) run(add, s, a, (int)N, 1.f);
        run(move, s, c, (const float *)b, (int)N);
        take(c);
    }
    take(a);
}
// possible repeated copy: the host did not change the pinned buffer
static void repeated_upload()
{
    float *a = make(), *c = make(), *h = pin();
    for (int i = 0; i < N; i++) h[i] = i;
    for (int i = 0; i < 2; i++) {
        cudaMemcpyAsync(a, h, BYTES, cudaMemcpyHostToDevice, s);
        run(move, s, c, (const float *)a, (int)N);
        take(c);
        for (int k = 0; !defect && k < N; k++) h[k] = -k;
    }
}
// possible round trip: bytes come back from the host unchanged
static void round_trip()
{
    float *a = make(), *b = make(), *h = pin();
    run(fill, s, a, (int)N, 1.f);
    cudaMemcpyAsync(h, a, BYTES, cudaMemcpyDeviceToHost, s);
    cudaStreamSynchronize(s);
    for (int i = 0; i < N; i++) sum += h[i];
    for (int i = 0; !defect && i < N; i++) h[i] = sum;
    cudaMemcpyAsync(b, h, BYTES, cudaMemcpyHostToDevice, s);
    take(b);
}
// possible unread copy: the host does not look at what it gets
static void unread()
{
    float *a = make(), *h = pin();
    h[0] = 0;
    run(fill, s, a, (int)N, 1.f);
    cudaMemcpyAsync(h, a, BYTES, cudaMemcpyDeviceToHost, s);
    cudaStreamSynchronize(s);
    for (int i = 0; !defect && i < N; i++) sum += h[i];
    take(a);
}
// unused allocation: nothing touches it
static void unused()
{
    float *a = make(), *b = make();
    run(fill, s, a, (int)N, 1.f);
    take(a);
    if (!defect) {
        run(fill, s, b, (int)N, 1.f);
        take(b);
    }
}
// unused allocation: a graph allocates memory that it does not use; in the mended one its nodes do
static void graph_memory()
{
    float *a = make(), *b = make(), *p;
    cudaGraph_t g;
    cudaGraphExec_t exec;
    run(fill, s, a, (int)N, 1.f);
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    cudaMallocAsync(&p, BYTES, s);
    run(move, s, defect ? b : p, (const float *)a, (int)N);
    if (!defect) run(move, s, b, (const float *)p, (int)N);
    cudaFreeAsync(p, s);
    cudaStreamEndCapture(s, &g);
    cudaGraphInstantiate(&exec, g, 0);
    cudaGraphDestroy(g);
    for (int i = 0; i < 2; i++) {
        cudaGraphLaunch(exec, s);
        take(b);
    }
    cudaGraphExecDestroy(exec);
}
// late free: memory that is not used any more is held at the peak
static void late_free()
{
    float *a = make();
    run(fill, s, a, (int)N, 1.f);
    take(a);
    if (!defect) cudaFree(a);
    float *b = make();
    run(fill, s, b, (int)N, 1.f);
    take(b);
    if (defect) cudaFree(a);
}
// stale read: what an earlier allocation left is read
static void stale()
{
    float *p, *b = make();
    cudaMallocAsync(&p, BYTES, s);
    run(fill, s, p, (int)N, 1.f);
    run(move, s, b, (const float *)p, (int)N);
    cudaFreeAsync(p, s);
    cudaMallocAsync(&p, BYTES, s);
    if (!defect) cudaMemsetAsync(p, 0, BYTES, s);
    run(add, s, p, (int)N, 1.f);
    take(p);
    take(b);
}

// needless order: two arrays are filled in one stream
static void two_fills()
{
    float *a = make(), *b = make();
    run(fill, s, a, (int)N, 1.f);
    run(fill, defect ? s : t, b, (int)N, 2.f);
    if (!defect) wait_for(s, t, e);
    run(accumulate, s, a, (const float *)b, (int)N);
    take(a);
}
// needless order: the halves of one array, one after the other
static void two_halves()
{
    float *a = make();
    for (int i = 0; i < 2; i++) {
        const cudaStream_t stream = i && !defect ? t : s;
        fill<<<N / 2 / BLOCK, BLOCK, 0, stream>>>(a + i * N / 2, N / 2, 1.f);
        add<<<N / 2 / BLOCK, BLOCK, 0, stream>>>(a + i * N / 2, N / 2, 2.f);
    }
    take(a);
}
// needless order: an upload waits for a kernel that does not use it
static void late_upload()
{
    static float h[N];
    float *a = make(), *b = make();
    run(fill, s, a, (int)N, 1.f);
    cudaMemcpyAsync(b, h, BYTES, cudaMemcpyHostToDevice, defect ? s : t);
    if (!defect) wait_for(s, t, e);
    run(accumulate, s, a, (const float *)b, (int)N);
    take(a);
}
// needless order: an event makes one stream wait for another without need
static void needless_event()
{
    float *a = make(), *b = make();
    run(fill, s, a, (int)N, 1.f);
    if (defect) wait_for(t, s, e);
    run(fill, t, b, (int)N, 2.f);
    wait_for(s, t, f);
    run(accumulate, s, a, (const float *)b, (int)N);
    take(a);
}
// needless order: a graph captured from one stream has no branches
static void straight_graph()
{
    float *a = make(), *b = make();
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    if (!defect) wait_for(t, s, e);
    run(fill, s, a, (int)N, 1.f);
    run(fill, defect ? s : t, b, (int)N, 2.f);
    if (!defect) wait_for(s, t, f);
    run(accumulate, s, a, (const float *)b, (int)N);
    cudaStreamEndCapture(s, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, s);
    take(a);
}
// order by reuse: two computations use one buffer
static void one_buffer()
{
    float *a = make(), *b = make(), *c = make(), *d = defect ? c : make();
    run(fill, s, c, (int)N, 1.f);
    run(move, s, a, (const float *)c, (int)N);
    run(fill, defect ? s : t, d, (int)N, 2.f);
    run(move, defect ? s : t, b, (const float *)d, (int)N);
    take(a);
    take(b);
}
// order by reuse: a kernel stores over a memset; in the mended one the data decide where
static void reset()
{
    float *a = make(), *flags = make();
    cudaMemsetAsync(a, 0, BYTES, s);
    run(fill, s, a, 100, 1.f);
    cudaMemsetAsync(flags, 0, BYTES, s);
    if (defect)
        run(fill, s, flags, (int)N, 1.f);
    else
        run(mark, s, flags, (const float *)a, (int)N);
    take(flags);
}
// order by reuse: memory of a pool goes from one computation to the other
static void one_block()
{
    float *a = make(), *b = make(), *c, *d;
    cudaMallocAsync(&c, BYTES, s);
    if (!defect) cudaMallocAsync(&d, BYTES, t);
    run(fill, s, c, (int)N, 1.f);
    run(move, s, a, (const float *)c, (int)N);
    cudaFreeAsync(c, s);
    if (defect) cudaMallocAsync(&d, BYTES, s);
    run(fill, defect ? s : t, d, (int)N, 2.f);
    run(move, defect ? s : t, b, (const float *)d, (int)N);
    cudaFreeAsync(d, defect ? s : t);
    take(a);
    take(b);
}

// repeated launch: a table that does not change is filled for each use
static void refilled()
{
    float *table = make(), *a = make();
    run(fill, s, table, (int)N, 1.f);
    run(fill, s, a, (int)N, 0.f);
    for (int i = 0; i < 3; i++) {
        if (i) run(fill, s, table, (int)N, defect ? 1.f : 1.f + i);
        run(accumulate, s, a, (const float *)table, (int)N);
    }
    take(a);
}
// repeated launch: the second product is the first one again; in the mended one its input changed
static void same_input()
{
    float *a = make(), *b = make(), *c = make();
    run(fill, s, a, (int)N, 1.f);
    run(move, s, b, (const float *)a, (int)N);
    run(move, s, c, (const float *)b, (int)N);
    if (!defect) run(add, s, a, (int)N, 1.f);
    run(move, s, b, (const float *)a, (int)N);
    take(b);
    take(c);
}
// possible repeated launch: the memory of the result serves something else in between
static void shared_result()
{
    float *a = make(), *b = make(), *c = make();
    run(fill, s, a, (int)N, 1.f);
    run(fill, s, c, (int)N, 0.f);
    for (int i = 0; i < 2; i++) {
        run(move, s, b, (const float *)a, (int)N);
        run(accumulate, s, c, (const float *)b, (int)N);
        run(fill, s, b, (int)N, 5.f + i);
        run(accumulate, s, c, (const float *)b, (int)N);
        if (!defect && !i) run(add, s, a, (int)N, 1.f);
    }
    take(c);
}
// fusion: each CTA reads what the CTA with its number wrote
static void element_wise()
{
    float *a = make(), *b = make();
    run(fill, s, a, (int)N, 1.f);
    run(defect ? move : mirror, s, b, (const float *)a, (int)N);
    take(b);
}
// fusion: CTAs read what their neighbours wrote
static void halo()
{
    float *a = make(), *b = make();
    run(fill, s, a, (int)N, 1.f);
    run(defect ? blur : mirror, s, b, (const float *)a, (int)N);
    take(b);
}
// fusion: one CTA sums what many wrote; in the mended one, all read all
static void reduction()
{
    float *a = make(), *b = make();
    run(fill, s, a, (int)N, 1.f);
    if (defect)
        total<<<1, BLOCK, 0, s>>>(b, a, N);
    else
        total<<<N / BLOCK, BLOCK, 0, s>>>(b, a, N);
    take(b, N / BLOCK);
}

// needless wait: one stream orders the kernels; the host waits between them
static void wait_between()
{
    float *a = make();
    for (int i = 0; i < 3; i++) {
        run(add, s, a, (int)N, 1.f);
        if (defect) cudaDeviceSynchronize();
    }
    take(a);
}
// needless wait: two streams that share nothing wait for each other by the host
static void wait_apart()
{
    float *a = make(), *b = make();
    run(fill, s, a, (int)N, 1.f);
    if (defect) cudaStreamSynchronize(s);
    run(fill, t, b, (int)N, 2.f);
    take(a);
    take(b);
}
// needless wait: an event's order is enough, and the host waits as well
static void wait_twice()
{
    float *a = make(), *b = make();
    run(fill, s, a, (int)N, 1.f);
    wait_for(t, s, e);
    if (defect) cudaStreamSynchronize(s);
    run(move, t, b, (const float *)a, (int)N);
    take(b);
}
// needless wait: a kernel is waited for; in the mended one a copy to memory that only the CPU uses
static void pageable()
{
    static float h[N];
    float *a = make(), *b = make();
    for (int i = 0; i < 2; i++) {
        run(fill, s, a, (int)N, 1.f + sum);
        if (!defect) cudaMemcpyAsync(h, a, BYTES, cudaMemcpyDeviceToHost, s);
        cudaStreamSynchronize(s);
        if (!defect) sum = h[i];
        run(move, s, b, (const float *)a, (int)N);
        take(b);
    }
}
// needless wait: the first of two waits; the second is the one that orders
static void wait_early()
{
    float *a = make(), *b = make(), *c = make();
    run(fill, s, a, (int)N, 1.f);
    if (defect) cudaStreamSynchronize(s);
    run(fill, s, b, (int)N, 2.f);
    cudaStreamSynchronize(s);
    run(move, t, c, (const float *)a, (int)N);
    run(accumulate, t, c, (const float *)b, (int)N);
    take(c);
}
static const struct {
    const char *name;
    void (*run)();
} programs[] = {
#define PROGRAM(name) {#name, name}
    PROGRAM(missing_event),
    PROGRAM(early_event),
    PROGRAM(wrong_stream),
    PROGRAM(download),
    PROGRAM(other_stream),
    PROGRAM(upload),
    PROGRAM(default_stream),
    PROGRAM(halves),
    PROGRAM(columns),
    PROGRAM(double_buffer),
    PROGRAM(managed),
    PROGRAM(graph),
    PROGRAM(capture),
    PROGRAM(peer),
    PROGRAM(memset_overlap),
    PROGRAM(atomics),
    PROGRAM(device_copy),
    PROGRAM(overwrite),
    PROGRAM(pool),
    PROGRAM(pool_allocation),
    PROGRAM(host_function),
    PROGRAM(symbol),
    PROGRAM(stages),
    PROGRAM(dead_launch),
    PROGRAM(dead_chain),
    PROGRAM(graph_memory),
    PROGRAM(pageable),
    PROGRAM(self_check),
    PROGRAM(last_step),
    PROGRAM(padding),
    PROGRAM(small_memset),
    PROGRAM(reset),
    PROGRAM(dead_end),
    PROGRAM(dead_symbol),
    PROGRAM(dead_upload),
    PROGRAM(dead_half),
    PROGRAM(memset_first),
    PROGRAM(oversized),
    PROGRAM(avoidable),
    PROGRAM(repeated),
    PROGRAM(repeated_upload),
    PROGRAM(round_trip),
    PROGRAM(unread),
    PROGRAM(unused),
    PROGRAM(threads),
    PROGRAM(handover),
    PROGRAM(turns),
    PROGRAM(joined),
    PROGRAM(frames),
    PROGRAM(late_free),
    PROGRAM(stale),
    PROGRAM(two_fills),
    PROGRAM(two_halves),
    PROGRAM(late_upload),
    PROGRAM(needless_event),
    PROGRAM(straight_graph),
    PROGRAM(one_buffer),
    PROGRAM(one_block),
    PROGRAM(refilled),
    PROGRAM(same_input),
    PROGRAM(shared_result),
    PROGRAM(element_wise),
    PROGRAM(halo),
    PROGRAM(reduction),
    PROGRAM(wait_between),
    PROGRAM(wait_apart),
    PROGRAM(wait_twice),
    PROGRAM(wait_early),
    PROGRAM(reversed_graph),
    PROGRAM(child_graph),
    PROGRAM(freed_in_stream),
    PROGRAM(symbol_address),
};

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    defect = atoi(argv[2]) != 0;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    cudaEventCreate(&e);
    cudaEventCreate(&f);
    for (auto &program : programs) {
        if (strcmp(program.name, argv[1])) continue;
        program.run();
        cudaDeviceSynchronize();
        const cudaError_t error = cudaGetLastError();
        if (error != cudaSuccess) fprintf(stderr, "%s\n", cudaGetErrorString(error));
        printf("%g\n", sum);
        return error != cudaSuccess;
    }
    return 2;
}
