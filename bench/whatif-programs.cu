// More shapes for bench/whatif-cases: programs as people write them. Queues between threads, events
// between streams, host functions, graphs with branches, managed memory, copies beside kernels,
// loops that test for convergence, tasks, thousands of small launches, halo exchange. Most kernels
// here compute, so that they share what a device has. With -DCASES_MPI the shapes whose names begin
// with "mpi" are there, and only these. Needs -fopenmp.
#include "whatif-shapes.h"
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

enum { FIXED_US = 2000, BYTES = 1 << 20, FLOATS = BYTES / sizeof(float) };
#ifndef __CTASCOPE__
enum { STEPS_PER_US = 500 }; // of the loop below, about
enum { DEEP = 1500, TINY = 1000, TINY_PARTS = 4 * TINY };
#else
// The CPU device has fewer cores than the grid has threads, and needs 40 us for an empty kernel.
enum { STEPS_PER_US = 16 };
enum { DEEP = 60, TINY = 40, TINY_PARTS = TINY / 2 };
#endif

#ifndef CASES_GRID
#define CASES_GRID 4 // CTAs of a kernel that computes
#endif

// A kernel that computes: as much per thread as `steps` says.
__global__ void first_kernel(float *values, long steps)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = (float)i;
    for (long step = 0; step < steps; step++) value = value * 0.999f + 1.0f;
    values[i % FLOATS] = value;
}

__global__ void count_up(int *count)
{
    ++*count;
}

static void first(const Work &work, cudaStream_t stream, int part = 1)
{
    first_kernel<<<1, 1, 0, stream>>>((unsigned long long)work.kernel_us * 1000 / part);
}

static void compute(const Work &work, cudaStream_t stream, float *values, int part = 1)
{
    first_kernel<<<CASES_GRID, 32, 0, stream>>>(values, work.kernel_us * STEPS_PER_US / part);
}

static void second(cudaStream_t stream, long us = FIXED_US)
{
    second_kernel<<<1, 1, 0, stream>>>((unsigned long long)us * 1000);
}

struct Stream {
    cudaStream_t handle;
    Stream() { CHECK(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking)); }
    ~Stream() { cudaStreamDestroy(handle); }
    operator cudaStream_t() const { return handle; }
    void wait() const { CHECK(cudaStreamSynchronize(handle)); }
};

struct Event {
    cudaEvent_t handle;
    Event() { CHECK(cudaEventCreateWithFlags(&handle, cudaEventDisableTiming)); }
    ~Event() { cudaEventDestroy(handle); }
    operator cudaEvent_t() const { return handle; }
};

template <class T> struct Device {
    T *data;
    explicit Device(size_t count)
    {
        CHECK(cudaMalloc(&data, count * sizeof(T)));
        CHECK(cudaMemset(data, 0, count * sizeof(T)));
    }
    ~Device() { cudaFree(data); }
};

template <class T> struct Pinned {
    T *data;
    explicit Pinned(size_t count) { CHECK(cudaMallocHost(&data, count * sizeof(T))); }
    ~Pinned() { cudaFreeHost(data); }
};

static void after(cudaStream_t stream, cudaEvent_t event, cudaStream_t other)
{
    CHECK(cudaEventRecord(event, other));
    CHECK(cudaStreamWaitEvent(stream, event, 0));
}

#ifndef CASES_MPI
// A thread prepares items and puts them into a queue of two; this one takes them out and computes.
struct Queue {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<int> items;

    void put(int item)
    {
        std::unique_lock<std::mutex> held(mutex);
        changed.wait(held, [&] { return items.size() < 2; });
        items.push_back(item);
        changed.notify_all();
    }
    int take()
    {
        std::unique_lock<std::mutex> held(mutex);
        changed.wait(held, [&] { return !items.empty(); });
        const int item = items.front();
        items.pop_front();
        changed.notify_all();
        return item;
    }
};

static void bounded_queue(const Work &work)
{
    Queue queue;
    Stream stream;
    std::thread producer([&] {
        for (int i = 0; i < 2 * work.turns; i++) {
            host_work(work.host_us);
            queue.put(i);
        }
        queue.put(-1);
    });
    while (queue.take() >= 0) {
        first(work, stream, 2);
        stream.wait();
    }
    producer.join();
}

static void stream_ping_pong(const Work &work)
{
    Stream one, two;
    Event event;
    for (int turn = 0; turn < work.turns; turn++) {
        host_work(work.host_us);
        for (int i = 0; i < 3; i++) {
            first(work, one, 3);
            after(two, event, one);
            second(two, FIXED_US / 4);
            after(one, event, two);
        }
        one.wait();
    }
}

static void CUDART_CB work_of_stream(void *argument)
{
    host_work(((const Work *)argument)->host_us);
}

static void host_function(const Work &work)
{
    Stream stream;
    for (int turn = 0; turn < work.turns; turn++) {
        first(work, stream);
        CHECK(cudaLaunchHostFunc(stream, work_of_stream, (void *)&work));
        second(stream);
    }
    stream.wait();
}

// first -> {first, second twice} -> second
static cudaGraphExec_t branches_of(const Work &work, const Stream &one, const Stream &two)
{
    Event event;
    cudaGraph_t graph;
    cudaGraphExec_t made;
    CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
    first(work, one, 4);
    after(two, event, one);
    first(work, two, 2);
    second(one);
    second(one);
    after(one, event, two);
    second(one);
    CHECK(cudaStreamEndCapture(one, &graph));
    CHECK(cudaGraphInstantiate(&made, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    return made;
}

static void graph_branches(const Work &work)
{
    Stream one, two;
    const cudaGraphExec_t graph = branches_of(work, one, two);
    for (int turn = 0; turn < work.turns; turn++) {
        CHECK(cudaGraphLaunch(graph, one));
        host_work(work.host_us / 2);
        CHECK(cudaGraphLaunch(graph, one));
        one.wait();
        host_work(work.host_us / 2);
    }
    CHECK(cudaGraphExecDestroy(graph));
}

static void prefetch(float *data, bool to_device, cudaStream_t stream)
{
#if CUDART_VERSION >= 13000
    const cudaMemLocation place = {to_device ? cudaMemLocationTypeDevice : cudaMemLocationTypeHost,
                                   0};
    CHECK(cudaMemPrefetchAsync(data, BYTES, place, 0, stream));
#else
    CHECK(cudaMemPrefetchAsync(data, BYTES, to_device ? 0 : cudaCpuDeviceId, stream));
#endif
}

static void managed_memory(const Work &work)
{
    Stream stream;
    float *data, sum = 0;
    CHECK(cudaMallocManaged(&data, BYTES));
    for (int turn = 0; turn < work.turns; turn++) {
        for (int i = 0; i < FLOATS; i++) data[i] = (float)i;
        prefetch(data, true, stream);
        compute(work, stream, data);
        prefetch(data, false, stream);
        stream.wait();
        for (int i = 0; i < FLOATS; i++) sum += data[i];
        host_work(work.host_us);
    }
    CHECK(cudaFree(data));
    if (sum == 1) puts("");
}

// Two buffers go through a stream that copies in, one that computes, one that copies out.
static void copies_beside_kernels(const Work &work)
{
    enum { CHUNKS = 4, LARGE = 8 << 20 };
    Stream in, run, out;
    Event copied[2], computed[2], drained[2];
    Device<float> first_half(LARGE / sizeof(float)), other_half(LARGE / sizeof(float));
    float *const buffers[2] = {first_half.data, other_half.data};
    Pinned<float> source(LARGE / sizeof(float)), target(LARGE / sizeof(float));
    for (int turn = 0; turn < work.turns; turn++) {
        for (int i = 0; i < CHUNKS; i++) {
            const int half = i % 2;
            CHECK(cudaStreamWaitEvent(in, drained[half], 0));
            CHECK(cudaMemcpyAsync(buffers[half], source.data, LARGE, cudaMemcpyHostToDevice, in));
            after(run, copied[half], in);
            compute(work, run, buffers[half], CHUNKS);
            after(out, computed[half], run);
            CHECK(cudaMemcpyAsync(target.data, buffers[half], LARGE, cudaMemcpyDeviceToHost, out));
            CHECK(cudaEventRecord(drained[half], out));
        }
        out.wait();
        host_work(work.host_us);
    }
}

// Until what the device counts has reached the number of turns; the host polls for the count.
static void convergence(const Work &work)
{
    Stream stream;
    Event event;
    Device<int> count(1);
    Device<float> values(FLOATS);
    Pinned<int> seen(1);
    for (*seen.data = 0; *seen.data < work.turns; host_work(work.host_us)) {
        compute(work, stream, values.data);
        count_up<<<1, 1, 0, stream>>>(count.data);
        CHECK(cudaMemcpyAsync(seen.data, count.data, sizeof(int), cudaMemcpyDeviceToHost, stream));
        CHECK(cudaEventRecord(event, stream));
        while (cudaEventQuery(event) == cudaErrorNotReady) host_spin_ms(0.02);
    }
}

// The threads of a team have different amounts of work; then one kernel.
static void openmp_team(const Work &work)
{
    Stream stream;
    for (int turn = 0; turn < work.turns; turn++) {
#pragma omp parallel for num_threads(3) schedule(static, 1)
        for (int i = 0; i < 3; i++) host_work(work.host_us * (i + 1) / 3);
        first(work, stream);
        stream.wait();
    }
}

// Workers take tasks from a list: host work, then a kernel of their own stream.
struct Pool {
    const Work &work;
    std::mutex mutex;
    std::condition_variable added, finished;
    int tasks = 0, running = 0;
    bool ends = false;
    std::vector<std::thread> workers;

    Pool(const Work &the_work, int count) : work(the_work)
    {
        for (int i = 0; i < count; i++) workers.emplace_back([this] { serve(); });
    }
    void serve()
    {
        Stream stream;
        std::unique_lock<std::mutex> held(mutex);
        for (;;) {
            added.wait(held, [&] { return tasks || ends; });
            if (!tasks) return;
            tasks--;
            running++;
            held.unlock();
            host_work(work.host_us / 2);
            first(work, stream, 2);
            stream.wait();
            held.lock();
            running--;
            if (!tasks && !running) finished.notify_one();
        }
    }
    void run(int count)
    {
        std::unique_lock<std::mutex> held(mutex);
        tasks = count;
        added.notify_all();
        finished.wait(held, [&] { return !tasks && !running; });
    }
    ~Pool()
    {
        std::unique_lock<std::mutex> held(mutex);
        ends = true;
        added.notify_all();
        held.unlock();
        for (std::thread &worker : workers) worker.join();
    }
};

static void thread_pool(const Work &work)
{
    Pool pool(work, 2);
    for (int turn = 0; turn < work.turns; turn++) pool.run(4);
}

// Work of low priority fills the device; a kernel of high priority is waited for.
static void priorities(const Work &work)
{
    int least, greatest;
    cudaStream_t low, high;
    Device<float> values(FLOATS);
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(cudaStreamCreateWithPriority(&low, cudaStreamNonBlocking, least));
    CHECK(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, greatest));
    for (int turn = 0; turn < work.turns; turn++) {
        host_work(work.host_us);
        compute(work, low, values.data, 2);
        compute(work, low, values.data, 2);
        second(high);
        CHECK(cudaStreamSynchronize(high));
        host_work(work.host_us / 4);
        CHECK(cudaStreamSynchronize(low));
    }
    CHECK(cudaStreamDestroy(low));
    CHECK(cudaStreamDestroy(high));
}

// Eight items of work, with a query after each; then the rest of the kernel.
static void query_between(const Work &work)
{
    Stream stream;
    int ready = 0;
    for (int turn = 0; turn < work.turns; turn++) {
        first(work, stream);
        for (int i = 0; i < 8; i++) {
            host_work(work.host_us / 8);
            ready += cudaStreamQuery(stream) == cudaSuccess;
        }
        stream.wait();
    }
    if (ready < 0) puts("");
}

// More launches than a stream's queue holds, and host work between them.
static void deep_queue(const Work &work)
{
    Stream stream;
    Device<float> values(FLOATS);
    for (int turn = 0; turn < work.turns; turn++) {
        for (int i = 0; i < DEEP; i++) compute(work, stream, values.data, DEEP / 2);
        host_work(work.host_us);
    }
    stream.wait();
}

static void tiny_kernels(const Work &work)
{
    Stream stream;
    Device<float> values(FLOATS);
    for (int turn = 0; turn < work.turns; turn++) {
        host_work(work.host_us);
        for (int i = 0; i < TINY; i++) compute(work, stream, values.data, TINY_PARTS);
        stream.wait();
    }
}

// A library's own thread has the device too, and says nothing until it ends.
static void library_thread(const Work &work)
{
    std::thread library([&] {
        Stream own;
        for (int i = 0; i < 2 * work.turns; i++) {
            second(own, FIXED_US / 2);
            first(work, own, 4);
            own.wait();
        }
    });
    Stream stream;
    for (int turn = 0; turn < work.turns; turn++) {
        host_work(work.host_us);
        first(work, stream, 2);
        stream.wait();
    }
    library.join();
}

static void futures(const Work &work)
{
    Stream one, two;
    for (int turn = 0; turn < work.turns; turn++) {
        std::future<int> other = std::async(std::launch::async, [&] {
            first(work, one);
            one.wait();
            return turn;
        });
        host_work(work.host_us);
        second(two, FIXED_US / (1 + other.get() % 2));
        two.wait();
    }
}

// The host is one frame ahead of the device.
static void frames_in_flight(const Work &work)
{
    Stream stream;
    Event done[2];
    Device<float> values(FLOATS);
    for (int turn = 0; turn < 2 * work.turns; turn++) {
        CHECK(cudaEventSynchronize(done[turn % 2]));
        host_work(work.host_us / 2);
        compute(work, stream, values.data);
        CHECK(cudaEventRecord(done[turn % 2], stream));
    }
    stream.wait();
}

// Copies of pageable memory, which block as long as the runtime likes.
static void pageable_copies(const Work &work)
{
    Stream one;
    Device<float> values(FLOATS);
    Pinned<float> target(FLOATS);
    std::vector<float> pageable(FLOATS);
    for (int turn = 0; turn < work.turns; turn++) {
        compute(work, one, values.data);
        CHECK(cudaMemcpyAsync(pageable.data(), values.data, BYTES, cudaMemcpyDeviceToHost, one));
        host_work(work.host_us);
        CHECK(cudaMemcpy(values.data, pageable.data(), BYTES, cudaMemcpyHostToDevice));
        second(one);
        CHECK(cudaMemcpyAsync(target.data, values.data, BYTES, cudaMemcpyDeviceToHost, one));
        one.wait();
    }
}
#else
struct Neighbours {
    int rank, ranks, before, behind;
    Neighbours()
    {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
        before = (rank + ranks - 1) % ranks;
        behind = (rank + 1) % ranks;
    }
};

// Halos travel while the interior is computed and the host works.
static void mpi_halo(const Work &work)
{
    enum { HALO = 4096 };
    const Neighbours all;
    Stream stream;
    Device<float> field(FLOATS);
    std::vector<float> sent(HALO), left(HALO), right(HALO);
    for (int turn = 0; turn < work.turns; turn++) {
        MPI_Request requests[4];
        CHECK(cudaMemcpy(sent.data(), field.data, HALO * sizeof(float), cudaMemcpyDeviceToHost));
        MPI_Irecv(left.data(), HALO, MPI_FLOAT, all.before, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(right.data(), HALO, MPI_FLOAT, all.behind, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(sent.data(), HALO, MPI_FLOAT, all.behind, 0, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(sent.data(), HALO, MPI_FLOAT, all.before, 1, MPI_COMM_WORLD, &requests[3]);
        first(work, stream);
        host_work(work.host_us * (1 + all.rank) / all.ranks);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        stream.wait();
        CHECK(cudaMemcpy(field.data, left.data(), HALO * sizeof(float), cudaMemcpyHostToDevice));
        second(stream, FIXED_US / 2);
        stream.wait();
    }
}

// Ranks with more of the kernel have less work on the host.
static void mpi_imbalance(const Work &work)
{
    const Neighbours all;
    Stream stream;
    for (int turn = 0; turn < work.turns; turn++) {
        double mine = turn, sum;
        host_work(work.host_us * (all.ranks - all.rank) / all.ranks);
        first({work.kernel_us * (1 + all.rank) / all.ranks, 0, 0}, stream);
        stream.wait();
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

// Each rank waits for the one before it: a wave goes through the ranks.
static void mpi_wave(const Work &work)
{
    const Neighbours all;
    Stream stream;
    for (int turn = 0; turn < work.turns; turn++) {
        double value = turn;
        if (all.rank)
            MPI_Recv(&value, 1, MPI_DOUBLE, all.before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        first(work, stream, 2);
        host_work(work.host_us / 2);
        stream.wait();
        if (all.rank + 1 < all.ranks)
            MPI_Send(&value, 1, MPI_DOUBLE, all.behind, 0, MPI_COMM_WORLD);
    }
}

// Rank 0 hands out tasks to whoever asks.
static void mpi_tasks(const Work &work)
{
    const Neighbours all;
    Stream stream;
    int task = 0;
    if (all.rank == 0) {
        for (int left = all.ranks - 1, next = 1; left;) {
            MPI_Status from;
            MPI_Recv(&task, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &from);
            const int given = next <= 2 * work.turns ? next++ : 0;
            left -= !given;
            MPI_Send(&given, 1, MPI_INT, from.MPI_SOURCE, 1, MPI_COMM_WORLD);
        }
        return;
    }
    for (;;) {
        MPI_Send(&task, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        MPI_Recv(&task, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!task) return;
        host_work(work.host_us / 2);
        first(work, stream);
        stream.wait();
    }
}

// A reduction that goes on while the next kernel runs.
static void mpi_overlap(const Work &work)
{
    const Neighbours all;
    Stream stream;
    double mine = 1, sum = 0;
    for (int turn = 0; turn < work.turns; turn++) {
        MPI_Request request;
        host_work(work.host_us * (1 + all.rank % 2) / 2);
        MPI_Iallreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
        first({work.kernel_us * (2 - all.rank % 2) / 2, 0, 0}, stream);
        stream.wait();
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}
#endif

static const Shape shapes[] = {
#ifdef CASES_MPI
    {"mpi-halo", mpi_halo},   {"mpi-imbalance", mpi_imbalance}, {"mpi-wave", mpi_wave},
    {"mpi-tasks", mpi_tasks}, {"mpi-overlap", mpi_overlap},
#else
    {"bounded-queue", bounded_queue},
    {"stream-ping-pong", stream_ping_pong},
    {"host-function", host_function},
    {"graph-branches", graph_branches},
    {"managed-memory", managed_memory},
    {"copies-beside", copies_beside_kernels},
    {"convergence", convergence},
    {"openmp-team", openmp_team},
    {"thread-pool", thread_pool},
    {"priorities", priorities},
    {"query-between", query_between},
    {"deep-queue", deep_queue},
    {"tiny-kernels", tiny_kernels},
    {"library-thread", library_thread},
    {"futures", futures},
    {"frames-in-flight", frames_in_flight},
    {"pageable-copies", pageable_copies},
#endif
};

int main(int argc, char **argv)
{
    return run_shapes(shapes, argc, argv);
}
