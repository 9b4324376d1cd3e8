// More small programs in pairs, written from docs/flow.md and CUDA's programming guide alone: with
// a defect (the second argument is 1) and mended (0). The comment above each says what `ctascope
// flow` has to find; in the mended one it finds nothing. Solvers, pipelines, pools, graphs, host
// threads.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <thread>
#include <vector>
#include <cuda_runtime.h>

enum { W = 64, H = 64, CELLS = W * H, BYTES = CELLS * sizeof(int) };

static bool defect;
static long long sum;

// ---- kernels ----

__global__ void start(int *grid, int value)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    grid[y * W + x] = value + x * y;
}
__global__ void start_rows(int *grid, int first, int rows, int value)
{
    for (int y = first + blockIdx.x; y < first + rows; y += gridDim.x)
        for (int x = threadIdx.x; x < W; x += blockDim.x) grid[y * W + x] = value + y;
}
__global__ void relax(int *to, const int *from, int first, int rows)
{
    const int y = first + blockIdx.x;
    if (blockIdx.x >= rows) return;
    for (int x = threadIdx.x; x < W; x += blockDim.x) {
        const int above = y > 0 ? from[(y - 1) * W + x] : 0;
        const int below = y + 1 < H ? from[(y + 1) * W + x] : 0;
        to[y * W + x] = above + from[y * W + x] + below;
    }
}
__global__ void sum_rows(int *totals, const int *grid)
{
    __shared__ int part[W];
    part[threadIdx.x] = grid[blockIdx.x * W + threadIdx.x];
    __syncthreads();
    for (int half = W / 2; half; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) totals[blockIdx.x] = part[0];
}
__global__ void histogram(unsigned *bins, const int *grid)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < CELLS; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[grid[i] & 31], 1u);
}
__global__ void scale_bins(int *out, const unsigned *bins)
{
    out[threadIdx.x] = 2 * bins[threadIdx.x];
}
__global__ void transpose(int *to, const int *from)
{
    __shared__ int tile[16][17];
    const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = from[y * W + x];
    __syncthreads();
    to[(blockIdx.x * 16 + threadIdx.y) * W + blockIdx.y * 16 + threadIdx.x] =
        tile[threadIdx.x][threadIdx.y];
}
__global__ void gather(int *to, const int *from, const int *index)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[index[i]];
}
__global__ void increment(int *grid, int by)
{
    grid[blockIdx.x * blockDim.x + threadIdx.x] += by;
}
__global__ void set_bytes(unsigned char *flags, int first, int step)
{
    flags[first + step * (blockIdx.x * blockDim.x + threadIdx.x)] = 1;
}
__global__ void set_words(unsigned *flags, int shift)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    flags[i] |= 1u << shift;
}
__global__ void take_work(int *out, int *next, int count)
{
    for (;;) {
        const int i = atomicAdd(next, 1);
        if (i >= count) return;
        out[i] = i * i;
    }
}
struct particle {
    float4 place;
    float4 speed;
};
__global__ void move_particles(particle *p, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    p[i].place.x += p[i].speed.x;
    p[i].place.y += p[i].speed.y;
}
__global__ void push_particles(particle *p, int n, float by)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i].speed = make_float4(by, by, 0, 0);
}
__global__ void energies(float *e, const particle *p, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) e[i] = p[i].place.x * p[i].place.x;
}
__device__ int settings[4];
__global__ void use_settings(int *out)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = settings[threadIdx.x % 4];
}

// ---- helpers ----

struct streams {
    cudaStream_t compute, copy, side;
    cudaEvent_t first, second, third;
    streams()
    {
        cudaStreamCreateWithFlags(&compute, cudaStreamNonBlocking);
        cudaStreamCreateWithFlags(&copy, cudaStreamNonBlocking);
        cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
        for (cudaEvent_t *e : {&first, &second, &third})
            cudaEventCreateWithFlags(e, cudaEventDisableTiming);
    }
};
static int *device_array(int count = CELLS)
{
    int *a;
    cudaMalloc(&a, count * sizeof(int));
    return a;
}
static int *pinned_array(int count = CELLS)
{
    int *a;
    cudaMallocHost(&a, count * sizeof(int));
    return a;
}
static void follow(cudaStream_t waiting, cudaStream_t other, cudaEvent_t event)
{
    cudaEventRecord(event, other);
    cudaStreamWaitEvent(waiting, event, 0);
}
static void fetch(const int *a, int count = CELLS)
{
    std::vector<int> host(count);
    cudaDeviceSynchronize();
    cudaMemcpy(host.data(), a, count * sizeof(int), cudaMemcpyDeviceToHost);
    for (const int value : host) sum += value;
}

// ---- races ----

// race: the upper half of a solver's grid does not wait for the row that the lower half left
static void halo_rows()
{
    streams s;
    int *a = device_array(), *b = device_array();
    start<<<dim3(1, H), W, 0, s.compute>>>(a, 1);
    follow(s.side, s.compute, s.first);
    for (int i = 0; i < 4; i++) {
        relax<<<H / 2, W, 0, s.compute>>>(b, a, 0, H / 2);
        relax<<<H / 2, W, 0, s.side>>>(b, a, H / 2, H / 2);
        if (!defect) follow(s.compute, s.side, s.second);
        follow(s.side, s.compute, s.third);
        int *const other = a;
        a = b;
        b = other;
    }
    follow(s.compute, s.side, s.first);
    fetch(a);
}
// race: the stream waits for an event before it is recorded again: for the work of the round before
static void stale_event()
{
    streams s;
    int *a = device_array(), *b = device_array();
    cudaEventRecord(s.first, s.compute);
    for (int i = 0; i < 3; i++) {
        if (i) cudaStreamWaitEvent(s.compute, s.second, 0);
        if (defect) cudaStreamWaitEvent(s.side, s.first, 0);
        start<<<dim3(1, H), W, 0, s.compute>>>(a, i);
        cudaEventRecord(s.first, s.compute);
        if (!defect) cudaStreamWaitEvent(s.side, s.first, 0);
        relax<<<H, W, 0, s.side>>>(b, a, 0, H);
        cudaEventRecord(s.second, s.side);
        fetch(b);
    }
}
// race: two buffers and two events, the events swapped
static void swapped_events()
{
    streams s;
    int *in[2] = {device_array(), device_array()}, *out[2] = {device_array(), device_array()};
    cudaEvent_t ready[2] = {s.first, s.second};
    cudaStream_t readers[2] = {s.copy, s.side};
    for (int k = 0; k < 2; k++) {
        start<<<dim3(1, H), W, 0, s.compute>>>(in[k], k);
        cudaEventRecord(ready[k], s.compute);
    }
    for (int k = 0; k < 2; k++) {
        cudaStreamWaitEvent(readers[k], ready[defect ? 0 : k], 0);
        relax<<<H, W, 0, readers[k]>>>(out[k], in[k], 0, H);
    }
    fetch(out[0]);
    fetch(out[1]);
}
// race: scratch memory that two streams use for their sums
static void shared_scratch()
{
    streams s;
    int *a = device_array(), *b = device_array(), *scratch[2], *out[2];
    for (int k = 0; k < 2; k++) {
        scratch[k] = k && defect ? scratch[0] : device_array(H);
        out[k] = device_array(32);
    }
    start<<<dim3(1, H), W, 0, s.compute>>>(a, 1);
    start<<<dim3(1, H), W, 0, s.side>>>(b, 2);
    sum_rows<<<H, W, 0, s.compute>>>(scratch[0], a);
    scale_bins<<<1, 32, 0, s.compute>>>(out[0], (unsigned *)scratch[0]);
    sum_rows<<<H, W, 0, s.side>>>(scratch[1], b);
    scale_bins<<<1, 32, 0, s.side>>>(out[1], (unsigned *)scratch[1]);
    for (int k = 0; k < 2; k++) {
        fetch(out[k], 32);
        fetch(scratch[k], H);
    }
}
// race: bins are cleared for the next round while the last one still counts
static void cleared_bins()
{
    streams s;
    int *a = device_array(), *out = device_array(32), *h = pinned_array(64);
    unsigned *bins;
    cudaMalloc(&bins, 32 * sizeof *bins);
    start<<<dim3(1, H), W, 0, s.compute>>>(a, 1);
    for (int i = 0; i < 2; i++) {
        cudaMemsetAsync(bins, 0, 32 * sizeof *bins, s.side);
        follow(s.compute, s.side, s.first);
        histogram<<<4, 128, 0, s.compute>>>(bins, a);
        scale_bins<<<1, 32, 0, s.compute>>>(out, bins);
        if (!defect) follow(s.side, s.compute, s.second);
        cudaMemcpyAsync(h + 32 * i, out, 32 * sizeof(int), cudaMemcpyDeviceToHost, s.compute);
    }
    cudaDeviceSynchronize();
    for (int i = 0; i < 64; i++) sum += h[i];
}
// race: bins are read while they are still counted
static void early_bins()
{
    streams s;
    int *a = device_array(), *out = device_array(32);
    unsigned *bins;
    cudaMalloc(&bins, 32 * sizeof *bins);
    cudaMemsetAsync(bins, 0, 32 * sizeof *bins, s.compute);
    start<<<dim3(1, H), W, 0, s.compute>>>(a, 1);
    follow(s.side, s.compute, s.first);
    histogram<<<4, 128, 0, s.compute>>>(bins, a);
    if (!defect) follow(s.side, s.compute, s.second);
    scale_bins<<<1, 32, 0, s.side>>>(out, bins);
    fetch(out, 32);
}
// race: a matrix is transposed by blocks of 16 while another stream still fills its last rows
static void last_rows()
{
    streams s;
    int *a = device_array(), *b = device_array();
    start_rows<<<8, W, 0, s.compute>>>(a, 0, H - 2, 1);
    start_rows<<<2, W, 0, s.side>>>(a, H - 2, 2, 1);
    follow(s.compute, defect ? s.copy : s.side, s.first);
    transpose<<<dim3(W / 16, H / 16), dim3(16, 16), 0, s.compute>>>(b, a);
    fetch(b);
}
// race: a table of indices is uploaded while a gather uses the old one
static void new_indices()
{
    streams s;
    int *a = device_array(), *b = device_array(), *index = device_array(), *h = pinned_array();
    for (int i = 0; i < CELLS; i++) h[i] = CELLS - 1 - i;
    start<<<dim3(1, H), W, 0, s.compute>>>(a, 1);
    cudaMemcpyAsync(index, h, BYTES, cudaMemcpyHostToDevice, s.copy);
    follow(s.compute, s.copy, s.first);
    gather<<<CELLS / 128, 128, 0, s.compute>>>(b, a, index);
    if (!defect) follow(s.copy, s.compute, s.second);
    cudaMemcpyAsync(index, h, BYTES / 2, cudaMemcpyHostToDevice, s.copy);
    follow(s.compute, s.copy, s.third);
    gather<<<CELLS / 128, 128, 0, s.compute>>>(a, b, index);
    fetch(a);
}
// race: flags of one byte lie in words that another stream reads and writes whole
static void bytes_in_words()
{
    streams s;
    unsigned char *flags;
    cudaMalloc(&flags, BYTES);
    cudaMemsetAsync(flags, 0, BYTES, s.compute);
    follow(s.side, s.compute, s.first);
    set_bytes<<<CELLS / 128, 128, 0, s.compute>>>(flags, 0, 4);
    if (defect)
        set_words<<<CELLS / 128, 128, 0, s.side>>>((unsigned *)flags, 16);
    else
        set_bytes<<<CELLS / 128, 128, 0, s.side>>>(flags, 2, 4);
    fetch((int *)flags);
}
// race: particles' places and speeds lie in one array; a stream sets speeds that the other reads
static void members()
{
    streams s;
    particle *p;
    float *e, *before;
    const int n = 1000;
    cudaMalloc(&p, n * sizeof *p);
    cudaMalloc(&e, n * sizeof *e);
    cudaMalloc(&before, n * sizeof *before);
    cudaMemsetAsync(p, 0, n * sizeof *p, s.compute);
    follow(s.side, s.compute, s.first);
    if (defect)
        move_particles<<<8, 128, 0, s.compute>>>(p, n);
    else
        energies<<<8, 128, 0, s.compute>>>(before, p, n);
    push_particles<<<8, 128, 0, s.side>>>(p, n, 1.f);
    follow(s.compute, s.side, s.second);
    move_particles<<<8, 128, 0, s.compute>>>(p, n);
    energies<<<8, 128, 0, s.compute>>>(e, p, n);
    if (!defect) fetch((int *)before, n);
    fetch((int *)e, n);
}
// race: a queue's counter is reset while kernels still take work from it
static void queue_reset()
{
    streams s;
    int *out = device_array(256), *next = device_array(1);
    cudaMemsetAsync(next, 0, sizeof(int), s.compute);
    take_work<<<2, 32, 0, s.compute>>>(out, next, 200);
    if (!defect) follow(s.side, s.compute, s.first);
    cudaMemsetAsync(next, 0, sizeof(int), s.side);
    follow(s.compute, s.side, s.second);
    fetch(out, 200);
    fetch(next, 1);
}
// race: a blocking copy waits for its own stream, not for one that does not block
static void blocking_copy()
{
    streams s;
    int *a = device_array(), host[CELLS];
    start<<<dim3(1, H), W, 0, s.compute>>>(a, 1);
    if (!defect) cudaStreamSynchronize(s.compute);
    cudaMemcpy(host, a, BYTES, cudaMemcpyDeviceToHost);
    for (const int value : host) sum += value;
}
// race: the stream of this thread is not ordered with streams that do not block
static void thread_stream()
{
    streams s;
    int *a = device_array(), *b = device_array();
    start<<<dim3(1, H), W, 0, cudaStreamPerThread>>>(a, 1);
    if (!defect) follow(s.compute, cudaStreamPerThread, s.first);
    relax<<<H, W, 0, s.compute>>>(b, a, 0, H);
    fetch(b);
}
// race: memory from a pool is given back in one stream and taken again in another
static void pool_streams()
{
    streams s;
    int *a, *b = device_array();
    cudaMallocAsync(&a, BYTES, s.compute);
    start<<<dim3(1, H), W, 0, s.compute>>>(a, 1);
    follow(s.side, s.compute, s.first);
    relax<<<H, W, 0, s.side>>>(b, a, 0, H);
    cudaFreeAsync(a, defect ? s.compute : s.side);
    fetch(b);
}
// race: memory is used after it was given back in stream order
static void use_after_free()
{
    streams s;
    int *a, *b = device_array();
    cudaMallocAsync(&a, BYTES, s.compute);
    start<<<dim3(1, H), W, 0, s.compute>>>(a, 1);
    cudaEventRecord(s.first, s.compute);
    cudaStreamWaitEvent(s.side, s.first, 0);
    if (defect) cudaFreeAsync(a, s.compute);
    relax<<<H, W, 0, s.side>>>(b, a, 0, H);
    if (!defect) cudaFreeAsync(a, s.side);
    fetch(b);
}
// race: an arena hands a part out again that a stream still reads
static void arena()
{
    streams s;
    int *const memory = device_array(2 * CELLS), *out = device_array(2 * CELLS);
    int *first = memory, *second = defect ? memory + CELLS / 2 : memory + CELLS;
    start<<<dim3(1, H), W, 0, s.compute>>>(first, 1);
    follow(s.side, s.compute, s.first);
    relax<<<H, W, 0, s.side>>>(out, first, 0, H);
    start<<<dim3(1, H), W, 0, s.compute>>>(second, 2);
    relax<<<H, W, 0, s.compute>>>(out + CELLS, second, 0, H);
    follow(s.compute, s.side, s.second);
    fetch(out, 2 * CELLS);
}
// race: two graphs that two streams launch share a buffer
static void two_graphs()
{
    streams s;
    int *scratch[2], *out[2];
    cudaGraphExec_t exec[2];
    for (int k = 0; k < 2; k++) {
        scratch[k] = k && defect ? scratch[0] : device_array();
        out[k] = device_array();
        cudaGraph_t g;
        cudaStreamBeginCapture(s.copy, cudaStreamCaptureModeThreadLocal);
        start<<<dim3(1, H), W, 0, s.copy>>>(scratch[k], k);
        relax<<<H, W, 0, s.copy>>>(out[k], scratch[k], 0, H);
        cudaStreamEndCapture(s.copy, &g);
        cudaGraphInstantiate(&exec[k], g, 0);
    }
    cudaGraphLaunch(exec[0], s.compute);
    cudaGraphLaunch(exec[1], s.side);
    fetch(out[0]);
    fetch(out[1]);
}
// race: a kernel in another stream does not wait for a graph's launch
static void beside_graph()
{
    streams s;
    int *a = device_array(), *b = device_array();
    cudaGraph_t g;
    cudaGraphExec_t exec;
    cudaStreamBeginCapture(s.compute, cudaStreamCaptureModeThreadLocal);
    start<<<dim3(1, H), W, 0, s.compute>>>(a, 3);
    increment<<<CELLS / 128, 128, 0, s.compute>>>(a, 1);
    cudaStreamEndCapture(s.compute, &g);
    cudaGraphInstantiate(&exec, g, 0);
    cudaGraphLaunch(exec, s.compute);
    if (!defect) follow(s.side, s.compute, s.first);
    relax<<<H, W, 0, s.side>>>(b, a, 0, H);
    fetch(b);
}
// race: two branches that were captured from two streams write one array
static void branches()
{
    streams s;
    int *a = device_array();
    cudaGraph_t g;
    cudaGraphExec_t exec;
    cudaStreamBeginCapture(s.compute, cudaStreamCaptureModeThreadLocal);
    cudaEventRecord(s.first, s.compute);
    cudaStreamWaitEvent(s.side, s.first, 0);
    start_rows<<<8, W, 0, s.compute>>>(a, 0, H / 2, 1);
    start_rows<<<8, W, 0, s.side>>>(a, H / 2 - (defect ? 1 : 0), H / 2, 2);
    cudaEventRecord(s.second, s.side);
    cudaStreamWaitEvent(s.compute, s.second, 0);
    cudaStreamEndCapture(s.compute, &g);
    cudaGraphInstantiate(&exec, g, 0);
    cudaGraphLaunch(exec, s.compute);
    fetch(a, (H - 1) * W);
}
// race: rows of a pitched array that one stream copies are still written by another
static void pitched()
{
    streams s;
    int *a, *b = device_array();
    size_t pitch;
    cudaMallocPitch(&a, &pitch, W * sizeof(int), H);
    cudaMemset2DAsync(a, pitch, 1, W * sizeof(int), H, s.compute);
    if (!defect) follow(s.copy, s.compute, s.first);
    cudaMemcpy2DAsync(b, W * sizeof(int), a, pitch, W * sizeof(int), H, cudaMemcpyDeviceToDevice,
                      s.copy);
    increment<<<CELLS / 128, 128, 0, s.copy>>>(b, 1);
    fetch(b);
}
// race: settings change while a kernel of another stream reads them
static void new_settings()
{
    streams s;
    int *out = device_array(), *h = pinned_array(8);
    for (int i = 0; i < 8; i++) h[i] = i;
    cudaMemcpyToSymbolAsync(settings, h, sizeof settings, 0, cudaMemcpyHostToDevice, s.compute);
    use_settings<<<CELLS / 128, 128, 0, s.compute>>>(out);
    if (!defect) follow(s.copy, s.compute, s.first);
    cudaMemcpyToSymbolAsync(settings, h + 4, sizeof settings, 0, cudaMemcpyHostToDevice, s.copy);
    follow(s.compute, s.copy, s.second);
    increment<<<CELLS / 128, 128, 0, s.compute>>>(out, 1);
    fetch(out);
    use_settings<<<CELLS / 128, 128, 0, s.compute>>>(out);
    fetch(out);
}
// race: the host reads results through mapped memory before the kernel has ended
static void mapped()
{
    streams s;
    int *host, *device;
    cudaHostAlloc(&host, BYTES, cudaHostAllocMapped);
    cudaHostGetDevicePointer((void **)&device, host, 0);
    start<<<dim3(1, H), W, 0, s.compute>>>(device, 1);
    if (!defect) cudaStreamSynchronize(s.compute);
    for (int i = 0; i < CELLS; i++) sum += host[i];
}
// race: the host polls one stream and reads what another copies
static void wrong_poll()
{
    streams s;
    int *a = device_array(), *h = pinned_array();
    start<<<dim3(1, H), W, 0, s.compute>>>(a, 1);
    follow(s.copy, s.compute, s.first);
    cudaMemcpyAsync(h, a, BYTES, cudaMemcpyDeviceToHost, s.copy);
    while (cudaStreamQuery(defect ? s.compute : s.copy) == cudaErrorNotReady) {
    }
    for (int i = 0; i < CELLS; i++) sum += h[i];
}
// race: the event that the host waits for comes before the copy
static void event_before_copy()
{
    streams s;
    int *a = device_array(), *h = pinned_array();
    start<<<dim3(1, H), W, 0, s.compute>>>(a, 1);
    if (defect) cudaEventRecord(s.first, s.compute);
    cudaMemcpyAsync(h, a, BYTES, cudaMemcpyDeviceToHost, s.compute);
    if (!defect) cudaEventRecord(s.first, s.compute);
    cudaEventSynchronize(s.first);
    for (int i = 0; i < CELLS; i++) sum += h[i];
}
// race: a staging buffer is filled again before its copy has read it
static void staging()
{
    streams s;
    int *a = device_array(4 * CELLS), *stage = pinned_array();
    for (int part = 0; part < 4; part++) {
        if (part && !defect) cudaEventSynchronize(s.first);
        for (int i = 0; i < CELLS; i++) stage[i] = part * i;
        cudaMemcpyAsync(a + part * CELLS, stage, BYTES, cudaMemcpyHostToDevice, s.copy);
        cudaEventRecord(s.first, s.copy);
    }
    fetch(a, 4 * CELLS);
}
// race: the program waits for another device than the one that works
static void other_device()
{
    int *h = pinned_array(), *a;
    cudaStream_t stream;
    cudaSetDevice(1);
    cudaMalloc(&a, BYTES);
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    start<<<dim3(1, H), W, 0, stream>>>(a, 1);
    cudaMemcpyAsync(h, a, BYTES, cudaMemcpyDeviceToHost, stream);
    if (defect) cudaSetDevice(0);
    cudaDeviceSynchronize();
    for (int i = 0; i < CELLS; i++) sum += h[i];
}
// race: std::async returns when its kernel was launched, not when it has ended
static void async_result()
{
    streams s;
    int *const a = device_array(), *b = device_array();
    const cudaStream_t stream = s.side;
    std::async(std::launch::async, [=] {
        start<<<dim3(1, H), W, 0, stream>>>(a, 1);
        if (!defect) cudaStreamSynchronize(stream);
    }).get();
    relax<<<H, W, 0, s.compute>>>(b, a, 0, H);
    fetch(b);
}
// possible race: two threads that are told by atomics take turns with one array
static void spinning_threads()
{
    int *const a = device_array();
    int *const second = defect ? a : device_array();
    std::atomic<bool> is_ready{false};
    std::thread other([&] {
        cudaStream_t own;
        cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
        start<<<dim3(1, H), W, 0, own>>>(a, 1);
        cudaStreamSynchronize(own);
        is_ready = true;
    });
    while (!is_ready) std::this_thread::yield();
    cudaStream_t own;
    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    start<<<dim3(1, H), W, 0, own>>>(second, 2);
    other.join();
    fetch(a);
    if (!defect) fetch(second);
}
// race: three stages in three streams; the last does not wait for the middle one
static void three_stages()
{
    streams s;
    int *a = device_array(), *b = device_array(), *totals = device_array(H);
    start<<<dim3(1, H), W, 0, s.compute>>>(a, 1);
    follow(s.side, s.compute, s.first);
    relax<<<H, W, 0, s.side>>>(b, a, 0, H);
    follow(s.copy, defect ? s.compute : s.side, s.second);
    sum_rows<<<H, W, 0, s.copy>>>(totals, b);
    fetch(totals, H);
}
// race: a copy within one array overlaps the part that another stream copies
static void moved_within()
{
    streams s;
    int *a = device_array();
    start_rows<<<8, W, 0, s.compute>>>(a, 0, H / 2, 1);
    follow(s.copy, s.compute, s.first);
    cudaMemcpyAsync(a + CELLS / 2, a, BYTES / 4 + (defect ? 4 : 0), cudaMemcpyDeviceToDevice,
                    s.compute);
    cudaMemcpyAsync(a + 3 * CELLS / 4, a + CELLS / 4, BYTES / 4, cudaMemcpyDeviceToDevice, s.copy);
    fetch(a);
}

// ---- others ----

// possible dead work: a grid is cleared for each step, and each step fills all of it
static void cleared_grid()
{
    streams s;
    int *a = device_array(), *b = device_array();
    start<<<dim3(1, H), W, 0, s.compute>>>(a, 1);
    if (defect) cudaMemsetAsync(b, 0, BYTES, s.compute);
    relax<<<H, W, 0, s.compute>>>(b, a, 0, H);
    fetch(b);
}
// needless wait: the host waits between two kernels of one stream
static void wait_per_step()
{
    streams s;
    int *a = device_array(), *b = device_array();
    start<<<dim3(1, H), W, 0, s.compute>>>(a, 1);
    if (defect) cudaStreamSynchronize(s.compute);
    relax<<<H, W, 0, s.compute>>>(b, a, 0, H);
    cudaStreamSynchronize(s.compute);
    fetch(b);
}
// avoidable copy: the solver copies its grid back instead of swapping pointers
static void copied_back()
{
    streams s;
    int *a = device_array(), *b = device_array(), *c = device_array();
    start<<<dim3(1, H), W, 0, s.compute>>>(a, 1);
    relax<<<H, W, 0, s.compute>>>(b, a, 0, H);
    if (defect) cudaMemcpyAsync(a, b, BYTES, cudaMemcpyDeviceToDevice, s.compute);
    relax<<<H, W, 0, s.compute>>>(c, defect ? a : b, 0, H);
    fetch(c);
}
// oversized copy: only every fourth row of an upload is used
static void every_fourth()
{
    streams s;
    int *a = device_array(), *totals = device_array(H), *h = pinned_array();
    for (int i = 0; i < CELLS; i++) h[i] = i;
    cudaMemcpyAsync(a, h, BYTES, cudaMemcpyHostToDevice, s.compute);
    sum_rows<<<defect ? H / 4 : H, W, 0, s.compute>>>(totals, a);
    fetch(totals, defect ? H / 4 : H);
}
// unused allocation: a buffer of a variant that does not run
static void variant()
{
    streams s;
    int *a = device_array(), *b = device_array();
    start<<<dim3(1, H), W, 0, s.compute>>>(a, 1);
    if (!defect) relax<<<H, W, 0, s.compute>>>(b, a, 0, H);
    fetch(defect ? a : b);
}
// stale read: a block of a pool is read before it is written, and holds what its last user left
static void stale_block()
{
    int *a = device_array(), *b = device_array();
    start<<<dim3(1, H), W>>>(a, 1);
    fetch(a);
    cudaFree(a);
    int *again = device_array();
    if (!defect || again != a) start<<<dim3(1, H), W>>>(again, 2);
    relax<<<H, W>>>(b, again, 0, H);
    fetch(b);
}
// needless order: two independent sums follow each other in one stream
static void two_sums()
{
    streams s;
    int *a = device_array(), *b = device_array(), *first = device_array(H),
        *second = device_array(H);
    start<<<dim3(1, H), W, 0, s.compute>>>(a, 1);
    start<<<dim3(1, H), W, 0, s.side>>>(b, 2);
    follow(s.compute, s.side, s.second);
    follow(s.side, s.compute, s.third);
    const cudaStream_t other = defect ? s.compute : s.side;
    sum_rows<<<H, W, 0, s.compute>>>(first, a);
    sum_rows<<<H, W, 0, other>>>(second, b);
    fetch(first, H);
    fetch(second, H);
}

// ---- the program ----

static const struct {
    const char *name;
    void (*run)();
} programs[] = {
#define PROGRAM(name) {#name, name}
    PROGRAM(halo_rows),      PROGRAM(stale_event),
    PROGRAM(swapped_events), PROGRAM(shared_scratch),
    PROGRAM(cleared_bins),   PROGRAM(early_bins),
    PROGRAM(last_rows),      PROGRAM(new_indices),
    PROGRAM(bytes_in_words), PROGRAM(members),
    PROGRAM(queue_reset),    PROGRAM(blocking_copy),
    PROGRAM(thread_stream),  PROGRAM(pool_streams),
    PROGRAM(use_after_free), PROGRAM(arena),
    PROGRAM(two_graphs),     PROGRAM(beside_graph),
    PROGRAM(branches),       PROGRAM(pitched),
    PROGRAM(new_settings),   PROGRAM(mapped),
    PROGRAM(wrong_poll),     PROGRAM(event_before_copy),
    PROGRAM(staging),        PROGRAM(other_device),
    PROGRAM(async_result),   PROGRAM(spinning_threads),
    PROGRAM(three_stages),   PROGRAM(moved_within),
    PROGRAM(cleared_grid),   PROGRAM(wait_per_step),
    PROGRAM(copied_back),    PROGRAM(every_fourth),
    PROGRAM(variant),        PROGRAM(stale_block),
    PROGRAM(two_sums),
};

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    defect = atoi(argv[2]) != 0;
    for (auto &program : programs) {
        if (strcmp(program.name, argv[1])) continue;
        program.run();
        cudaDeviceSynchronize();
        const cudaError_t error = cudaGetLastError();
        if (error != cudaSuccess) fprintf(stderr, "%s\n", cudaGetErrorString(error));
        printf("%lld\n", sum);
        return error != cudaSuccess;
    }
    return 2;
}
