// Host threads that order each other in one way each. A *mark* is a memset of as many bytes as its
// number; what is printed says which marks are ordered: "before A B", "apart A B" (neither way).
// `stress` prints for each mark, by thread, how many marks precede it.
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <queue>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>
#include <climits>
#include <pthread.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cuda_runtime.h>

static char *memory;
static std::atomic<int> steps;

static void mark(int number)
{
    cudaMemset(memory, 0, number);
}
static void before(int a, int b)
{
    printf("before %d %d\n", a, b);
}
static void apart(int a, int b)
{
    printf("apart %d %d\n", a, b);
}
static void check(bool good, const char *what)
{
    if (good) return;
    printf("wrong: %s\n", what);
    exit(1);
}
// Waits in a way that nobody sees.
static void await(int step)
{
    while (steps < step) usleep(100);
}
static void sleep_a_little()
{
    usleep(20000);
}

static void create_join()
{
    mark(1);
    std::thread a([] { mark(2); }), b([] { mark(3); });
    mark(4);
    a.join();
    mark(5);
    b.join();
    mark(6);
    before(1, 2), before(1, 3), before(2, 5), before(3, 6);
    apart(2, 3), apart(2, 4), apart(3, 5);
}
static void chain()
{
    mark(1);
    std::thread outer([] { // makes no call of its own
        std::thread inner([] { mark(2); });
        inner.join();
    });
    outer.join();
    mark(3);
    before(1, 2), before(2, 3);
}
static void detached()
{
    mark(1);
    std::thread([] {
        mark(2);
        steps = 1;
    }).detach();
    await(1);
    sleep_a_little();
    mark(3);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t id;
    pthread_create(
        &id, &attributes,
        [](void *) -> void * {
            mark(4);
            steps = 2;
            return nullptr;
        },
        nullptr);
    await(2);
    sleep_a_little();
    mark(5);
    before(1, 2), before(3, 4);
    apart(2, 3), apart(4, 5), apart(2, 4);
}
static void many()
{
    for (int i = 0; i < 300; i++) { // numbers of threads come again
        std::thread one([i] { mark(2 * i + 1); });
        if (i % 3) {
            one.join();
            mark(2 * i + 2);
            before(2 * i + 1, 2 * i + 2);
        } else {
            one.detach();
            mark(2 * i + 2);
            apart(2 * i + 1, 2 * i + 2);
        }
    }
    sleep_a_little();
}
static void pool()
{
    std::mutex mutex;
    std::condition_variable more, done;
    std::queue<int> jobs;
    int finished = 0;
    bool end = false;
    std::vector<std::thread> workers;
    for (int i = 0; i < 4; i++)
        workers.emplace_back([&] {
            for (;;) {
                std::unique_lock<std::mutex> lock(mutex);
                more.wait(lock, [&] { return end || !jobs.empty(); });
                if (jobs.empty()) return;
                const int job = jobs.front();
                jobs.pop();
                lock.unlock();
                mark(1000 + job);
                lock.lock();
                finished++;
                done.notify_one();
            }
        });
    for (int job = 1; job <= 40; job++) {
        mark(job);
        std::lock_guard<std::mutex> lock(mutex);
        jobs.push(job);
        more.notify_one();
        before(job, 1000 + job);
        before(1000 + job, 500);
    }
    {
        std::unique_lock<std::mutex> lock(mutex);
        done.wait(lock, [&] { return finished == 40; });
    }
    mark(500);
    {
        std::lock_guard<std::mutex> lock(mutex);
        end = true;
    }
    more.notify_all();
    for (std::thread &worker : workers) worker.join();
}
static void futures()
{
    mark(1);
    std::future<int> value = std::async(std::launch::async, [] {
        mark(2);
        return 7;
    });
    check(value.get() == 7, "the future's value");
    value = {};
    std::timed_mutex mutex;
    mutex.lock();
    std::thread other([&] {
        check(mutex.try_lock_for(std::chrono::seconds(60)), "a timed lock");
        mark(4);
        mutex.unlock();
    });
    mark(3);
    mutex.unlock();
    other.join();
    before(1, 2), before(3, 4);
}
static void readers()
{
    std::shared_mutex mutex;
    std::vector<std::thread> threads;
    mutex.lock();
    mark(1);
    for (int i = 0; i < 2; i++)
        threads.emplace_back([&, i] {
            while (steps < 1) usleep(100);
            mutex.lock_shared();
            mark(2 + i);
            mutex.unlock_shared();
            steps++;
            await(3);
            mutex.lock_shared(); // the other reader's end is none that it waits for
            mark(4 + i);
            mutex.unlock_shared();
            steps++;
        });
    mark(10);
    mutex.unlock();
    steps = 1;
    await(5);
    mutex.lock();
    mark(6);
    mutex.unlock();
    for (std::thread &thread : threads) thread.join();
    before(10, 2), before(10, 3), before(2, 6), before(5, 6);
    apart(2, 3), apart(2, 5), apart(3, 4);
}
static void semaphores()
{
    static sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    std::thread other([] {
        while (sem_wait(&semaphore) && errno == EINTR) {
        }
        mark(2);
    });
    std::thread third([] { mark(3); });
    mark(1);
    sem_post(&semaphore);
    other.join();
    third.join();
    before(1, 2);
    apart(1, 3), apart(2, 3);
    sem_destroy(&semaphore);
}
static void barriers()
{
    static pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, nullptr, 2);
    std::thread other([] {
        for (int phase = 0; phase < 6; phase++) {
            mark(10 * phase + 1);
            pthread_barrier_wait(&barrier);
            sleep_a_little(); // main is in the next phase, and perhaps at its end
        }
        mark(100);
    });
    for (int phase = 0; phase < 6; phase++) {
        mark(10 * phase + 2);
        pthread_barrier_wait(&barrier);
        apart(10 * phase + 1, 10 * phase + 2);
        if (phase)
            before(10 * (phase - 1) + 1, 10 * phase + 2), before(10 * phase - 8, 10 * phase + 1);
    }
    mark(200);
    other.join();
    apart(100, 200);
    pthread_barrier_destroy(&barrier);
}
static void spins()
{
    static pthread_spinlock_t lock;
    pthread_spin_init(&lock, 0);
    pthread_spin_lock(&lock);
    std::thread other([] {
        pthread_spin_lock(&lock);
        mark(2);
        pthread_spin_unlock(&lock);
    });
    mark(1);
    pthread_spin_unlock(&lock);
    other.join();
    before(1, 2);
}
static void destroyed()
{
    alignas(16) static char place[sizeof(pthread_mutex_t)];
    pthread_mutex_t *const mutex = reinterpret_cast<pthread_mutex_t *>(place);
    std::thread other([mutex] {
        await(1);
        pthread_mutex_init(mutex, nullptr); // another mutex in the same place
        pthread_mutex_lock(mutex);
        mark(2);
        pthread_mutex_unlock(mutex);
    });
    pthread_mutex_init(mutex, nullptr);
    mark(1);
    pthread_mutex_lock(mutex);
    pthread_mutex_unlock(mutex);
    pthread_mutex_destroy(mutex);
    steps = 1;
    other.join();
    apart(1, 2);
}
static sem_t signalled;
static void post(int)
{
    sem_post(&signalled);
}
static void handler()
{
    sem_init(&signalled, 0, 0);
    signal(SIGUSR1, post);
    std::thread other([] {
        for (int i = 0; i < 200; i++)
            while (sem_wait(&signalled) && errno == EINTR) {
            }
        mark(2);
    });
    const pthread_t self = pthread_self();
    std::thread sender([self] {
        for (int i = 0; i < 200; i++) {
            pthread_kill(self, SIGUSR1);
            usleep(200);
        }
        steps = 1;
    });
    std::mutex mutex;
    for (int i = 0; steps < 1; i++) { // in calls, in locks, in the recorder
        std::lock_guard<std::mutex> lock(mutex);
        mark(1);
    }
    sender.join();
    for (int i = 0; i < 200; i++) post(0); // signals that came together were one
    other.join();
}
static void *give(void *value)
{
    return value;
}
static void *leave(void *value)
{
    mark(2);
    pthread_exit(value);
}
static void *stay(void *)
{
    mark(4);
    steps = 1;
    for (;;) pause();
}
static void ends() // all is as it is without us
{
    pthread_attr_t attributes;
    pthread_t id;
    void *value;
    int seven = 7;
    pthread_attr_init(&attributes);
    // the runtime's thread-local data are on it, too
    check(pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN + (16 << 10)) == 0,
          "a small stack");
    errno = 1234;
    for (int i = 0; i < 50; i++) {
        check(pthread_create(&id, &attributes, give, &seven) == 0, "a thread with a small stack");
        check(pthread_join(id, &value) == 0 && value == &seven, "its value");
    }
    check(errno == 1234, "errno");
    mark(1);
    check(pthread_create(&id, nullptr, leave, &seven) == 0, "a thread that exits");
    check(pthread_join(id, &value) == 0 && value == &seven, "the value of its exit");
    mark(3);
    check(pthread_create(&id, nullptr, stay, nullptr) == 0, "a thread that is cancelled");
    await(1);
    check(pthread_tryjoin_np(id, &value) == EBUSY, "a thread that runs");
    check(pthread_cancel(id) == 0 && pthread_join(id, &value) == 0, "a cancelled thread");
    check(value == PTHREAD_CANCELED, "that it was cancelled");
    mark(5);
    static pthread_mutex_t mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    check(pthread_mutex_unlock(&mutex) == EPERM, "unlocking what is not locked");
    check(pthread_mutex_lock(&mutex) == 0 && pthread_mutex_lock(&mutex) == EDEADLK &&
              pthread_mutex_trylock(&mutex) == EBUSY,
          "a second lock");
    timespec now = {};
    check(pthread_mutex_timedlock(&mutex, &now) != 0, "a lock with a limit");
    pthread_mutex_unlock(&mutex);
    sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    errno = 0;
    check(sem_trywait(&semaphore) == -1 && errno == EAGAIN, "a semaphore of 0");
    before(1, 2), before(2, 3), before(4, 5);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        static std::mutex own;
        std::thread thread([] { std::lock_guard<std::mutex> lock(own); });
        thread.join();
        _exit(0);
    }
    int status;
    check(waitpid(child, &status, 0) == child && status == 0, "a child with threads");
}

enum { THREADS = 64, ROUNDS = 16, LOCKS = 12 };
typedef std::vector<int> clock_of;
static void join(clock_of &a, const clock_of &b)
{
    for (size_t i = 0; i < a.size(); i++) a[i] = std::max(a[i], b[i]);
}
static void stress()
{
    static std::mutex locks[LOCKS];
    static std::vector<clock_of> lock_clocks(LOCKS, clock_of(THREADS + 1));
    static std::vector<std::vector<clock_of>> marks(THREADS + 1);
    static std::vector<clock_of> clocks(THREADS + 1, clock_of(THREADS + 1));
    const auto step = [](int thread) {
        marks[thread].push_back(clocks[thread]);
        mark(++clocks[thread][thread] * 100 + thread);
    };
    std::vector<std::thread> threads;
    for (int t = 1; t <= THREADS; t++) {
        step(0);
        clocks[t] = clocks[0];
        threads.emplace_back([t, step] {
            unsigned random = t * 2654435761u;
            for (int round = 0; round < ROUNDS; round++) {
                random = random * 1664525 + 1013904223;
                const int inner = random >> 8 & 1 ? -1 : (random >> 16) % LOCKS;
                const int outer = (random >> 20) % (inner < 0 ? LOCKS : inner + 1);
                locks[outer].lock();
                join(clocks[t], lock_clocks[outer]);
                if (inner > outer) {
                    locks[inner].lock();
                    join(clocks[t], lock_clocks[inner]);
                    if (random >> 12 & 1) step(t);
                    lock_clocks[inner] = clocks[t];
                    locks[inner].unlock();
                }
                step(t);
                lock_clocks[outer] = clocks[t];
                locks[outer].unlock();
                if (random >> 13 & 1) step(t);
            }
        });
    }
    for (int t = 1; t <= THREADS; t++) {
        threads[t - 1].join();
        join(clocks[0], clocks[t]);
        step(0);
    }
    for (int t = 0; t <= THREADS; t++)
        for (size_t i = 0; i < marks[t].size(); i++) {
            printf("mark %zu", (i + 1) * 100 + t);
            for (int other : marks[t][i]) printf(" %d", other);
            putchar('\n');
        }
}

int main(int, char **arguments)
{
    static const std::map<std::string, void (*)()> all = {{"create-join", create_join},
                                                          {"chain", chain},
                                                          {"detached", detached},
                                                          {"many", many},
                                                          {"pool", pool},
                                                          {"futures", futures},
                                                          {"readers", readers},
                                                          {"semaphores", semaphores},
                                                          {"barriers", barriers},
                                                          {"spins", spins},
                                                          {"destroyed", destroyed},
                                                          {"handler", handler},
                                                          {"ends", ends},
                                                          {"stress", stress}};
    cudaMalloc(&memory, 1 << 20);
    all.at(arguments[1])();
    return 0;
}
