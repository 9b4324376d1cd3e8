// Threads that wait for each other, each way once. What releases a wait happens when the waiting
// thread sleeps, however slow the machine is. threads HOW
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

__global__ void work(int *data)
{
    data[threadIdx.x] = 1;
}

static int *device;
static std::atomic<long> waiting{0}; // the thread that is about to wait

static void about_to_wait()
{
    waiting = syscall(SYS_gettid);
}

static char state_of(long thread)
{
    char path[64], text[256] = "";
    snprintf(path, sizeof path, "/proc/self/task/%ld/stat", thread);
    const int file = open(path, O_RDONLY);
    const ssize_t length = file < 0 ? 0 : read(file, text, sizeof text - 1);
    if (file >= 0) close(file);
    const char *const end = length > 0 ? strrchr(text, ')') : nullptr;
    return end ? end[2] : 'X';
}

// The other thread sleeps, ten times in a row.
static void until_it_waits()
{
    for (int asleep = 0; asleep < 10; usleep(1000))
        asleep = waiting && state_of(waiting) == 'S' ? asleep + 1 : 0;
    waiting = 0;
}

static void launch()
{
    work<<<1, 32>>>(device);
    cudaDeviceSynchronize();
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER, never = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t both = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore, ready;
static pthread_barrier_t barrier;
static std::atomic<int> turn{0};

static int told; // a pipe's end

extern "C" void *polls(void *)
{
    char byte;
    struct pollfd wanted = {told, POLLIN, 0};
    about_to_wait();
    while (poll(&wanted, 1, -1) < 1) {
    }
    return read(told, &byte, 1) == 1 ? nullptr : &told;
}

// The thread polls a pipe until main tells it to end, which then joins it.
static void poll_a_pipe()
{
    int ends[2];
    pthread_t thread;
    if (pipe(ends)) return;
    told = ends[0];
    launch();
    pthread_create(&thread, nullptr, polls, nullptr);
    until_it_waits();
    usleep(1000000); // longer than it waits for a processor
    if (write(ends[1], "", 1) != 1) return;
    pthread_join(thread, nullptr);
}

extern "C" void *releases(void *how)
{
    const char *const name = static_cast<const char *>(how);
    launch();
    if (!strcmp(name, "mutex")) pthread_mutex_lock(&mutex);
    if (!strcmp(name, "readers")) pthread_rwlock_wrlock(&both);
    sem_post(&ready);
    until_it_waits();
    if (!strcmp(name, "join")) return nullptr;
    if (!strcmp(name, "exit")) pthread_exit(nullptr);
    if (!strcmp(name, "mutex")) pthread_mutex_unlock(&mutex);
    if (!strcmp(name, "readers")) pthread_rwlock_unlock(&both);
    if (!strcmp(name, "semaphore")) sem_post(&semaphore);
    if (!strcmp(name, "barrier")) pthread_barrier_wait(&barrier);
    if (!strcmp(name, "signal") || !strcmp(name, "broadcast")) {
        pthread_mutex_lock(&mutex);
        turn = 1;
        name[0] == 's' ? pthread_cond_signal(&condition) : pthread_cond_broadcast(&condition);
        pthread_mutex_unlock(&mutex);
    }
    return nullptr;
}

static void wait_for(const char *name, pthread_t thread)
{
    about_to_wait();
    if (!strcmp(name, "join") || !strcmp(name, "exit")) pthread_join(thread, nullptr);
    if (!strcmp(name, "mutex")) pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex);
    if (!strcmp(name, "readers")) pthread_rwlock_rdlock(&both), pthread_rwlock_unlock(&both);
    if (!strcmp(name, "semaphore")) sem_wait(&semaphore);
    if (!strcmp(name, "barrier")) pthread_barrier_wait(&barrier);
    if (!strcmp(name, "signal") || !strcmp(name, "broadcast")) {
        pthread_mutex_lock(&mutex);
        while (!turn) pthread_cond_wait(&condition, &mutex);
        pthread_mutex_unlock(&mutex);
    }
}

// Whoever waits is the first thread; until the other one is ready it polls.
static void one_way(const char *name)
{
    pthread_t thread;
    pthread_create(&thread, nullptr, releases, const_cast<char *>(name));
    while (sem_trywait(&ready)) usleep(1000);
    wait_for(name, thread);
    launch();
    if (strcmp(name, "join") && strcmp(name, "exit")) pthread_join(thread, nullptr);
}

// C++: a condition variable; and that many locks that nobody else wants.
static void in_cpp()
{
    std::mutex lock;
    std::condition_variable changed;
    bool done = false;
    std::thread thread([&] {
        launch();
        until_it_waits();
        std::lock_guard<std::mutex> held(lock);
        done = true;
        changed.notify_one();
    });
    about_to_wait();
    {
        std::unique_lock<std::mutex> held(lock);
        changed.wait(held, [&] { return done; });
    }
    for (int i = 0; i < 1000; i++) std::lock_guard<std::mutex> held(lock);
    thread.join();
}

static void *sleeps(void *)
{
    launch();
    pthread_mutex_lock(&mutex);
    about_to_wait();
    pthread_cond_wait(&condition, &mutex); // for ever
    return nullptr;
}

// A thread that is cancelled in its wait leaves nothing behind, nor does one whose time is up.
static void for_nothing()
{
    pthread_t thread;
    timespec end;
    pthread_create(&thread, nullptr, sleeps, nullptr);
    until_it_waits();
    pthread_cancel(thread);
    pthread_join(thread, nullptr);
    pthread_mutex_unlock(&mutex); // it had it again when it was cancelled
    for (int i = 0; i < 100; i++) pthread_cond_signal(&condition);
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec = (end.tv_nsec + 20000000) % 1000000000;
    end.tv_sec += end.tv_nsec < 20000000;
    pthread_mutex_lock(&mutex);
    pthread_cond_timedwait(&condition, &mutex, &end);
    pthread_mutex_unlock(&mutex);
    launch();
}

// The program ends as soon as the other thread has let it go on, which then waits for ever.
static void at_the_end()
{
    pthread_t thread;
    pthread_mutex_lock(&mutex);
    pthread_create(
        &thread, nullptr,
        [](void *) -> void * {
            launch();
            until_it_waits();
            pthread_mutex_lock(&mutex);
            turn = 1;
            pthread_cond_signal(&condition);
            for (;;) pthread_cond_wait(&never, &mutex);
        },
        nullptr);
    about_to_wait();
    while (!turn) pthread_cond_wait(&condition, &mutex);
}

// A pool's thread waits since before the first call of CUDA, until it is told to end.
static void *waits_early(void *)
{
    pthread_mutex_lock(&mutex);
    about_to_wait();
    while (!turn) pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    return nullptr;
}

static void with_a_pool()
{
    pthread_t thread;
    pthread_create(&thread, nullptr, waits_early, nullptr);
    until_it_waits();
    cudaMalloc(&device, 32 * sizeof *device);
    launch();
    pthread_mutex_lock(&mutex);
    turn = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, nullptr);
    launch();
}

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    if (!strcmp(argv[1], "pool")) return with_a_pool(), 0;
    sem_init(&semaphore, 0, 0);
    sem_init(&ready, 0, 0);
    pthread_barrier_init(&barrier, nullptr, 2);
    cudaMalloc(&device, 32 * sizeof *device);
    if (!strcmp(argv[1], "cpp"))
        in_cpp();
    else if (!strcmp(argv[1], "end"))
        at_the_end();
    else if (!strcmp(argv[1], "nothing"))
        for_nothing();
    else if (!strcmp(argv[1], "polls"))
        poll_a_pipe();
    else
        one_way(argv[1]);
}
