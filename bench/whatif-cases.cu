// Shapes of programs for bench/whatif-cases: each waits for the device, or for other ranks, in its
// own way. Kernels and host work last as long as the clock says, so that half the work is half the
// time. whatif-shapes.h has the arguments. With -DCASES_MPI the shapes whose names begin with "mpi"
// are there, and only these.
#include "whatif-shapes.h"
#include <condition_variable>
#include <mutex>
#include <pthread.h>
#include <semaphore.h>
#include <thread>

struct Case {
    unsigned long long kernel_ns;
    long host_us;
    int *device, *pinned;
    int pageable[1024];
    cudaStream_t one, two;
    cudaEvent_t event;
    cudaGraphExec_t graph;
};

enum { BYTES = 1024 * sizeof(int), FIXED_NS = 20000000 };

static void launch_first(Case &c, cudaStream_t stream)
{
    first_kernel<<<1, 1, 0, stream>>>(c.kernel_ns);
}

// A kernel that no change touches.
static void launch_second(cudaStream_t stream)
{
    second_kernel<<<1, 1, 0, stream>>>(FIXED_NS);
}

static void sync_device(Case &c)
{
    launch_first(c, 0);
    CHECK(cudaDeviceSynchronize());
}

static void sync_stream(Case &c)
{
    launch_first(c, c.one);
    CHECK(cudaStreamSynchronize(c.one));
}

static void sync_event(Case &c)
{
    launch_first(c, c.one);
    CHECK(cudaEventRecord(c.event, c.one));
    CHECK(cudaEventSynchronize(c.event));
}

static void copy_to_host(Case &c)
{
    launch_first(c, 0);
    CHECK(cudaMemcpy(c.pageable, c.device, BYTES, cudaMemcpyDeviceToHost));
}

static void copy_other_stream(Case &c)
{
    launch_first(c, c.one); // the null stream's copy waits for it
    CHECK(cudaMemcpy(c.pinned, c.device, BYTES, cudaMemcpyDeviceToHost));
}

static void copy_to_device(Case &c)
{
    launch_first(c, 0);
    CHECK(cudaMemcpy(c.device, c.pageable, BYTES, cudaMemcpyHostToDevice));
}

static void copy_async(Case &c)
{
    launch_first(c, c.one);
    CHECK(cudaMemcpyAsync(c.pinned, c.device, BYTES, cudaMemcpyDeviceToHost, c.one));
    CHECK(cudaStreamSynchronize(c.one));
}

static void memset_then_sync(Case &c)
{
    launch_first(c, 0);
    CHECK(cudaMemset(c.device, 0, BYTES));
    CHECK(cudaDeviceSynchronize());
}

static void malloc_free(Case &c)
{
    int *memory;
    CHECK(cudaMalloc(&memory, BYTES));
    launch_first(c, 0);
    CHECK(cudaFree(memory));
}

static void stream_wait(Case &c)
{
    launch_first(c, c.one);
    CHECK(cudaEventRecord(c.event, c.one));
    CHECK(cudaStreamWaitEvent(c.two, c.event, 0));
    launch_second(c.two);
    CHECK(cudaStreamSynchronize(c.two));
}

static void null_stream(Case &c)
{
    launch_first(c, c.one);
    launch_second(0);
    launch_second(c.two);
    CHECK(cudaStreamSynchronize(c.two));
}

static void poll_event(Case &c)
{
    launch_first(c, c.one);
    CHECK(cudaEventRecord(c.event, c.one));
    while (cudaEventQuery(c.event) == cudaErrorNotReady) host_spin_ms(0.05);
}

static void poll_stream(Case &c)
{
    launch_first(c, c.one);
    while (cudaStreamQuery(c.one) == cudaErrorNotReady) host_spin_ms(0.05);
}

// Slices of work between two queries, of which the kernel decides how many there are.
extern "C" __attribute__((noinline)) void host_slice()
{
    host_spin_ms(1);
}

static void poll_slices(Case &c)
{
    launch_first(c, c.one);
    while (cudaStreamQuery(c.one) == cudaErrorNotReady) host_slice();
}

// Two stages: an event, then the stream with a second kernel.
static void poll_two_stages(Case &c)
{
    launch_first(c, c.one);
    CHECK(cudaEventRecord(c.event, c.one));
    launch_second(c.one);
    while (cudaEventQuery(c.event) == cudaErrorNotReady) host_slice();
    while (cudaStreamQuery(c.one) == cudaErrorNotReady) host_slice();
}

// A fixed number of slices, with queries until one succeeds.
static void poll_fixed(Case &c)
{
    const long slices = 40;
    bool done = false;
    launch_first(c, c.one);
    for (long i = 0; i < slices; i++) {
        host_slice();
        if (!done) done = cudaStreamQuery(c.one) == cudaSuccess;
    }
    CHECK(cudaStreamSynchronize(c.one));
}

static void queue_of_kernels(Case &c)
{
    for (int i = 0; i < 3; i++) launch_first(c, c.one);
    launch_second(c.one);
    CHECK(cudaStreamSynchronize(c.one));
}

static void two_streams(Case &c)
{
    launch_first(c, c.one);
    launch_second(c.two);
    CHECK(cudaDeviceSynchronize());
}

static void graph(Case &c)
{
    if (!c.graph) {
        cudaGraph_t made;
        CHECK(cudaStreamBeginCapture(c.one, cudaStreamCaptureModeGlobal));
        launch_first(c, c.one);
        launch_second(c.one);
        CHECK(cudaStreamEndCapture(c.one, &made));
        CHECK(cudaGraphInstantiate(&c.graph, made, 0));
    }
    CHECK(cudaGraphLaunch(c.graph, c.one));
    CHECK(cudaStreamSynchronize(c.one));
}

// The host works while the device does; only what is longer counts.
static void overlapped(Case &c)
{
    launch_first(c, c.one);
    host_work(c.host_us);
    CHECK(cudaStreamSynchronize(c.one));
}

// ---- several threads: another one than the first launches and waits for the device ----

static void thread_join(Case &c)
{
    std::thread worker([&c] { sync_stream(c); });
    worker.join();
}

// The first thread works while the other one waits for its kernel.
static void thread_overlapped(Case &c)
{
    std::thread worker([&c] { sync_stream(c); });
    host_work(c.host_us);
    worker.join();
}

// A thread that lives as long as the program, and gets one turn after the other.
struct Server {
    std::mutex mutex;
    std::condition_variable changed;
    int asked = 0, done = 0;
    std::thread thread;

    void serve(Case &c)
    {
        for (int next = 1;; next++) {
            std::unique_lock<std::mutex> held(mutex);
            changed.wait(held, [&] { return asked != done; });
            if (asked < 0) return;
            held.unlock();
            sync_stream(c);
            held.lock();
            done = next;
            changed.notify_all();
        }
    }
    void tell(int value)
    {
        std::lock_guard<std::mutex> held(mutex);
        asked = value;
        changed.notify_all();
    }
    ~Server()
    {
        if (!thread.joinable()) return;
        tell(-1);
        thread.join();
    }
};

static void thread_condition(Case &c)
{
    static Server server;
    if (!server.thread.joinable()) server.thread = std::thread([&c] { server.serve(c); });
    const int turn = server.done + 1;
    server.tell(turn);
    std::unique_lock<std::mutex> held(server.mutex);
    server.changed.wait(held, [&] { return server.done == turn; });
}

static void thread_semaphore(Case &c)
{
    sem_t done;
    sem_init(&done, 0, 0);
    std::thread worker([&] {
        sync_stream(c);
        sem_post(&done);
        host_work(c.host_us / 4);
    });
    while (sem_wait(&done)) {
    }
    worker.join();
    sem_destroy(&done);
}

// Both work, and meet before they go on.
static void thread_barrier(Case &c)
{
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, nullptr, 2);
    std::thread worker([&] {
        sync_stream(c);
        pthread_barrier_wait(&barrier);
        launch_second(c.two);
        CHECK(cudaStreamSynchronize(c.two));
    });
    host_work(c.host_us / 2);
    pthread_barrier_wait(&barrier);
    worker.join();
    pthread_barrier_destroy(&barrier);
}

// The other thread has the lock as long as its kernel runs.
static void thread_lock(Case &c)
{
    static std::mutex mutex;
    std::unique_lock<std::mutex> held(mutex);
    std::thread worker([&] {
        std::lock_guard<std::mutex> mine(mutex);
        sync_stream(c);
    });
    held.unlock();
    host_spin_ms(5); // the worker has it by now
    held.lock();
    host_work(c.host_us / 4);
    held.unlock();
    worker.join();
}

#ifdef CASES_MPI
// The others wait for its rank, on as few cores as there may be.
static void kernel_on_first(Case &c)
{
    if (rank_of() == 0) sync_stream(c);
}

static void mpi_send(Case &c) // to the odd rank, which waits
{
    int value = 1;
    const int rank = rank_of();
    kernel_on_first(c);
    if (rank % 2 == 0)
        MPI_Send(&value, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
    else
        MPI_Recv(&value, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void mpi_waitall(Case &c)
{
    int sent = 1, received;
    MPI_Request requests[2];
    const int rank = rank_of();
    kernel_on_first(c);
    MPI_Irecv(&received, 1, MPI_INT, rank ^ 1, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&sent, 1, MPI_INT, rank ^ 1, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void mpi_barrier(Case &c)
{
    kernel_on_first(c);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void mpi_allreduce(Case &c)
{
    int mine = 1, sum;
    kernel_on_first(c);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}
#endif

// What the turns need, with nothing in it that a run with other work has left.
static Case &prepared(const Work &work)
{
    static Case c;
    if (!c.device) {
        CHECK(cudaMalloc(&c.device, BYTES));
        CHECK(cudaMallocHost(&c.pinned, BYTES));
        CHECK(cudaStreamCreate(&c.one));
        CHECK(cudaStreamCreate(&c.two));
        CHECK(cudaEventCreateWithFlags(&c.event, cudaEventDisableTiming));
    }
    if (c.graph) CHECK(cudaGraphExecDestroy(c.graph));
    c.graph = nullptr;
    c.kernel_ns = (unsigned long long)work.kernel_us * 1000;
    c.host_us = work.host_us;
    return c;
}

template <void (*TURN)(Case &)> static void turns_of(const Work &work)
{
    Case &c = prepared(work);
    for (int i = 0; i < work.turns; i++) {
        host_work(c.host_us);
        TURN(c);
    }
}

static const Shape shapes[] = {
#ifdef CASES_MPI
    {"mpi-send", turns_of<mpi_send>},
    {"mpi-waitall", turns_of<mpi_waitall>},
    {"mpi-barrier", turns_of<mpi_barrier>},
    {"mpi-allreduce", turns_of<mpi_allreduce>},
#else
    {"sync-device", turns_of<sync_device>},
    {"sync-stream", turns_of<sync_stream>},
    {"sync-event", turns_of<sync_event>},
    {"copy-to-host", turns_of<copy_to_host>},
    {"copy-other-stream", turns_of<copy_other_stream>},
    {"copy-to-device", turns_of<copy_to_device>},
    {"copy-async", turns_of<copy_async>},
    {"memset-then-sync", turns_of<memset_then_sync>},
    {"malloc-free", turns_of<malloc_free>},
    {"stream-wait", turns_of<stream_wait>},
    {"null-stream", turns_of<null_stream>},
    {"poll-event", turns_of<poll_event>},
    {"poll-stream", turns_of<poll_stream>},
    {"poll-slices", turns_of<poll_slices>},
    {"poll-two-stages", turns_of<poll_two_stages>},
    {"poll-fixed", turns_of<poll_fixed>},
    {"queue-of-kernels", turns_of<queue_of_kernels>},
    {"two-streams", turns_of<two_streams>},
    {"graph", turns_of<graph>},
    {"overlapped", turns_of<overlapped>},
    {"thread-join", turns_of<thread_join>},
    {"thread-overlapped", turns_of<thread_overlapped>},
    {"thread-condition", turns_of<thread_condition>},
    {"thread-semaphore", turns_of<thread_semaphore>},
    {"thread-barrier", turns_of<thread_barrier>},
    {"thread-lock", turns_of<thread_lock>},
#endif
};

int main(int argc, char **argv)
{
    return run_shapes(shapes, argc, argv);
}
