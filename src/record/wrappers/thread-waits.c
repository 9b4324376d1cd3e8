#include "record/wrappers/thread-waits.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/hash.h"
#include "common/image.h"
#include "record/wrappers/loader.h"
#include "record/wrappers/symbols.h"

enum {
    BUCKET_BITS = 12,
    CALLER_BITS = 8,
    LOCK_LEAST_NS = 1000, /* shorter waits for locks are not told */
    SPINS_MAX = 100000
};

static const struct cts_recorder *recorder; /* NULL: no timeline is recorded */
static _Atomic uint64_t last_release;

static struct bucket {
    atomic_uint count;
    atomic_flag lock;
    struct cts_linked_wait *first;
} buckets[1 << BUCKET_BITS];

enum belongs { UNKNOWN, PROGRAM, OTHERS };
static __thread struct {
    enum belongs belongs;
    bool is_busy; /* inside: what the recorder itself locks is not told */
    bool has_region;
    struct cts_thread_origin origin;
    uint64_t begin_ns;
    uint32_t region;
} self;

/* ---- whose code, whose thread ---- */

/* What works for the program behind its back. */
static bool is_of_others(const char *path)
{
    static const char *const names[] = {
        "libctascope_", "libcuda",     "libcudnn", "libcublas",     "libcufft", "libcurand",
        "libcusolver",  "libcusparse", "libcupti", "libnv",         "libnccl",  "libmpi",
        "libopen-",     "libpmi",      "libprrte", "libuc",         "libevent", "libhwloc",
        "libfabric",    "libpsm",      "libibv",   "librdmacm",     "libmlx",   "mca_",
        "libgomp",      "libomp",      "libiomp",  "libpthread.so", "ld-linux", "libc.so"};
    const char *const slash = strrchr(path, '/');
    const char *const name = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0) return true;
    return false;
}

/* Faster than looking through all images; NULL before glibc 2.35. */
static int (*find_object)(void *address, struct dl_find_object *found);

static const char *module_of(const void *address)
{
    struct cts_image image;
    struct dl_find_object found;
    if (find_object)
        return find_object((void *)(uintptr_t)address, &found) == 0 ? found.dlfo_link_map->l_name
                                                                    : NULL;
    return cts_image_find(address, &image) ? image.path : NULL;
}

/* Few places call: the last ones are kept, with the verdict in the lowest bit. */
static bool is_own_code(const void *caller)
{
    static _Atomic uintptr_t known[1 << CALLER_BITS];
    const uintptr_t address = (uintptr_t)caller << 1;
    _Atomic uintptr_t *const place = &known[cts_hash(address) >> (64 - CALLER_BITS)];
    const uintptr_t found = atomic_load_explicit(place, memory_order_relaxed);
    if ((found & ~(uintptr_t)1) == address && address) return found & 1;
    const char *const path = module_of(caller);
    const bool is_own = path && !is_of_others(path);
    atomic_store_explicit(place, address | is_own, memory_order_relaxed);
    return is_own;
}

static bool is_own_thread(void)
{
    if (self.belongs == UNKNOWN)
        self.belongs = getpid() == (pid_t)syscall(SYS_gettid) ? PROGRAM : OTHERS;
    return self.belongs == PROGRAM;
}

static bool is_recorded(void)
{
    return recorder && !self.is_busy && recorder->is_open();
}

bool cts_waits_are_own(const void *caller)
{
    return is_own_thread() && is_own_code(caller);
}

/* ---- what is waited for ---- */

static struct bucket *bucket_of(const volatile void *object)
{
    return &buckets[cts_hash((uintptr_t)object) >> (64 - BUCKET_BITS)];
}

/* False: a signal's handler has interrupted the one that has it. */
static bool lock_bucket(struct bucket *bucket)
{
    for (unsigned i = 0; i < SPINS_MAX; i++) {
        if (!atomic_flag_test_and_set_explicit(&bucket->lock, memory_order_acquire)) return true;
        if (i > 100) sched_yield();
    }
    return false;
}

static void unlock_bucket(struct bucket *bucket)
{
    atomic_flag_clear_explicit(&bucket->lock, memory_order_release);
}

/* With the bucket's lock. The release, if there was anything to release; `given`: it has a number
 * already. */
static uint64_t give(struct bucket *bucket, uintptr_t object, enum cts_released which,
                     uint64_t given)
{
    for (struct cts_linked_wait *wait = bucket->first; wait; wait = wait->next) {
        if (wait->object != object || (which == CTS_RELEASE_ONE && wait->release)) continue;
        if (!given) given = atomic_fetch_add(&last_release, 1) + 1;
        wait->release = given;
        if (which == CTS_RELEASE_ONE) break;
    }
    return given;
}

/* A signal went to this wait, and the thread of another one took it. */
static uint64_t take_from_another(const struct bucket *bucket, const struct cts_linked_wait *mine)
{
    for (struct cts_linked_wait *wait = bucket->first; wait; wait = wait->next) {
        if (wait == mine || wait->object != mine->object || !wait->release) continue;
        const uint64_t release = wait->release;
        wait->release = 0;
        return release;
    }
    return 0;
}

/* ---- calls ---- */

bool cts_waits_begin(struct cts_thread_call *call, const char *name, const void *caller)
{
    call->is_on = false;
    if (!recorder || self.is_busy || !cts_waits_are_own(caller)) return false;
    *call = (struct cts_thread_call){.name = name, .begin_ns = recorder->now_ns(), .is_on = true};
    return true;
}

void cts_waits_link(struct cts_thread_call *call, const volatile void *object,
                    enum cts_wait_way how)
{
    struct cts_linked_wait *const wait = call->on[0].object ? &call->on[1] : &call->on[0];
    struct bucket *const bucket = bucket_of(object);
    if (!call->is_on || !lock_bucket(bucket)) return;
    if (how == CTS_ARRIVES)
        call->release = give(bucket, (uintptr_t)object, CTS_RELEASE_ALL, call->release);
    *wait = (struct cts_linked_wait){.object = (uintptr_t)object, .how = how};
    struct cts_linked_wait **last = &bucket->first;
    while (*last) last = &(*last)->next;
    *last = wait;
    atomic_fetch_add(&bucket->count, 1);
    unlock_bucket(bucket);
}

static void unlink_wait(struct cts_linked_wait *wait, bool done)
{
    if (!wait->object) return;
    struct bucket *const bucket = bucket_of((const void *)wait->object);
    while (!lock_bucket(bucket)) sched_yield();
    struct cts_linked_wait **place = &bucket->first;
    while (*place != wait) place = &(*place)->next;
    if (done && !wait->release && wait->how == CTS_AWAITS_ONE)
        wait->release = take_from_another(bucket, wait);
    *place = wait->next;
    atomic_fetch_sub(&bucket->count, 1);
    unlock_bucket(bucket);
}

static void release(struct cts_thread_call *call, const volatile void *object,
                    enum cts_released which)
{
    struct bucket *const bucket = bucket_of(object);
    if (!call->is_on || !atomic_load(&bucket->count) || !lock_bucket(bucket)) return;
    call->release = give(bucket, (uintptr_t)object, which, call->release);
    unlock_bucket(bucket);
}

static bool has_waits(const volatile void *object)
{
    struct bucket *const bucket = bucket_of(object);
    bool found = false;
    if (!lock_bucket(bucket)) return false;
    for (const struct cts_linked_wait *wait = bucket->first; wait && !found; wait = wait->next)
        found = wait->object == (uintptr_t)object;
    unlock_bucket(bucket);
    return found;
}

uint64_t cts_waits_number(struct cts_thread_call *call)
{
    if (!call->is_on || !is_recorded()) return 0;
    if (!call->release) call->release = atomic_fetch_add(&last_release, 1) + 1;
    return call->release;
}

void cts_waits_released_by(struct cts_thread_call *call, uint64_t release)
{
    call->on[0].release = release;
}

/* What is said of an event; 0: nothing. */
enum { RELEASES, RELEASED_BY, CPU_TIME_NS, NUMBER_COUNT };

static void say(struct cts_log *log, enum cts_timeline_event_kind kind, uint64_t time_ns,
                uint32_t region, const uint64_t numbers[NUMBER_COUNT])
{
    static const enum cts_attribute ids[NUMBER_COUNT] = {[RELEASES] = CTS_ATTRIBUTE_RELEASE,
                                                         [RELEASED_BY] = CTS_ATTRIBUTE_RELEASED_BY,
                                                         [CPU_TIME_NS] = CTS_ATTRIBUTE_CPU_TIME};
    struct cts_event_attributes attributes = {0};
    for (unsigned i = 0; i < NUMBER_COUNT; i++) {
        if (!numbers[i]) continue;
        const enum cts_attribute id = ids[i];
        attributes.present |= 1u << id;
        attributes.values[id] = numbers[i];
    }
    recorder->event(
        log, &(struct cts_timeline_event){.time_ns = time_ns, .kind = kind, .region = region},
        attributes.present ? &attributes : NULL);
}

static enum cts_region_role role_of(const char *name)
{
    if (strcmp(name, "pthread_create") == 0) return CTS_ROLE_THREAD_CREATE;
    const bool locks = strstr(name, "lock") && !strstr(name, "unlock");
    return locks || strstr(name, "wait") || strstr(name, "join") ? CTS_ROLE_THREAD_WAIT
                                                                 : CTS_ROLE_OTHER;
}

static void record(const struct cts_thread_call *call, uint64_t end_ns, bool done)
{
    struct cts_log *const log = recorder->this_thread();
    if (!log) return;
    const uint32_t region = recorder->region(&(struct cts_timeline_region){
        .name = call->name, .paradigm = CTS_PARADIGM_PTHREAD, .role = role_of(call->name)});
    /* Of a condition and its mutex the later one. */
    const uint64_t first = call->on[0].release, second = call->on[1].release;
    const uint64_t by = !done ? 0 : first > second ? first : second;
    say(log, CTS_EVENT_ENTER, call->begin_ns, region,
        (uint64_t[NUMBER_COUNT]){[RELEASES] = call->release});
    say(log, CTS_EVENT_LEAVE, end_ns, region, (uint64_t[NUMBER_COUNT]){[RELEASED_BY] = by});
}

static void end(struct cts_thread_call *call, bool done, uint64_t least_ns)
{
    if (!call->is_on) return;
    const int errnum = errno;
    self.is_busy = true;
    for (unsigned i = 0; i < 2; i++) unlink_wait(&call->on[i], done);
    const uint64_t end_ns = recorder->now_ns();
    if (end_ns - call->begin_ns >= least_ns && recorder->is_open()) record(call, end_ns, done);
    self.is_busy = false;
    errno = errnum;
}

void cts_waits_abandon(void *state)
{
    struct cts_thread_call *const call = state;
    for (unsigned i = 0; call && i < 2; i++) unlink_wait(&call->on[i], false);
}

void cts_waits_end(struct cts_thread_call *call, bool done)
{
    end(call, done, 0);
}

void cts_waits_end_lock(struct cts_thread_call *call, bool done)
{
    end(call, done, LOCK_LEAST_NS);
}

void cts_waits_record_release(const volatile void *object, enum cts_released which,
                              const char *name)
{
    if (!atomic_load(&bucket_of(object)->count) || !is_recorded() || !is_own_thread() ||
        !has_waits(object))
        return;
    struct cts_thread_call call = {.name = name, .begin_ns = recorder->now_ns(), .is_on = true};
    release(&call, object, which);
    cts_waits_end(&call, true);
}

/* ---- threads ---- */

static uint32_t define_thread(uintptr_t routine)
{
    struct cts_symbol symbol;
    char name[200] = "thread";
    const char *const module = module_of((const void *)routine);
    if (module && !strstr(module, "libstdc++") && !strstr(module, "libc++") &&
        cts_symbol_of(routine, &symbol)) {
        char *const readable = cts_symbol_readable(symbol.name);
        snprintf(name, sizeof name, "thread %s", readable ? readable : symbol.name);
        free(readable);
    }
    return recorder->region(&(struct cts_timeline_region){
        .name = name, .paradigm = CTS_PARADIGM_PTHREAD, .role = CTS_ROLE_FUNCTION});
}

/* The region that a thread's own function is, named after it. Finding its name takes long. */
static uint32_t region_of_thread(uintptr_t routine)
{
    enum { KEPT = 64 };
    static struct {
        uintptr_t routine;
        uint32_t region;
    } kept[KEPT];
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const size_t at = cts_hash(routine) % KEPT;
    pthread_mutex_lock(&lock);
    if (kept[at].routine != routine) {
        kept[at].region = define_thread(routine);
        kept[at].routine = routine;
    }
    const uint32_t region = kept[at].region;
    pthread_mutex_unlock(&lock);
    return region;
}

/* In the creator, since who loads a library may wait there for the thread. */
void cts_waits_name_thread(const struct cts_thread_origin *origin)
{
    const bool was_busy = self.is_busy;
    self.is_busy = true;
    (void)region_of_thread(origin->routine);
    self.is_busy = was_busy;
}

/* The first event of a thread's log is the begin of its function, however late it comes. */
static void on_log(struct cts_log *log)
{
    if (self.belongs != PROGRAM || !self.origin.is_own || self.has_region) return;
    const bool was_busy = self.is_busy;
    self.is_busy = true;
    self.has_region = true;
    self.region = region_of_thread(self.origin.routine);
    say(log, CTS_EVENT_ENTER, self.begin_ns, self.region,
        (uint64_t[NUMBER_COUNT]){[RELEASED_BY] = self.origin.release});
    self.is_busy = was_busy;
}

void cts_waits_thread_begins(const struct cts_thread_origin *origin)
{
    self.belongs = origin->is_own ? PROGRAM : OTHERS;
    self.origin = *origin;
    if (!recorder || !origin->is_own) return;
    self.begin_ns = recorder->now_ns();
    if (is_recorded()) (void)recorder->this_thread();
}

/* How long the calling thread was ready to run and had to wait for a processor; 0: unknown. */
static uint64_t queued_ns(void)
{
    char text[128], *end = text;
    const int file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    const ssize_t length = file < 0 ? 0 : read(file, text, sizeof text - 1);
    if (file >= 0) close(file);
    if (length <= 0) return 0;
    text[length] = '\0';
    (void)strtoull(text, &end, 10); /* the time on a processor */
    return strtoull(end, NULL, 10);
}

/* Of the calling thread, since it was created. A thread that used little waited for something that
 * need not be recorded, but not one for which others left no processor. */
static uint64_t cpu_time_ns(void)
{
    struct timespec used;
    const int errnum = errno;
    const bool known = clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) == 0;
    const uint64_t ready_ns = queued_ns();
    errno = errnum;
    return known ? (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec + ready_ns : 0;
}

uint64_t cts_waits_thread_ends(void)
{
    if (!is_recorded() || !self.origin.is_own) return 0;
    struct cts_log *const log = recorder->this_thread();
    if (!log || !self.has_region) return 0;
    const uint64_t release = atomic_fetch_add(&last_release, 1) + 1;
    self.is_busy = true;
    say(log, CTS_EVENT_LEAVE, recorder->now_ns(), self.region,
        (uint64_t[NUMBER_COUNT]){[RELEASES] = release, [CPU_TIME_NS] = cpu_time_ns()});
    self.is_busy = false;
    self.origin.is_own = false;
    return release;
}

/* The child has one thread, which waits for nothing. */
static void after_fork_in_child(void)
{
    memset(buckets, 0, sizeof buckets);
    self.belongs = UNKNOWN;
    self.origin.is_own = false;
}

/* Sanitizers call in the name of all. */
__attribute__((constructor)) static void start(void)
{
    const char *const wanted = getenv("CTASCOPE_TIMELINE");
    if (!wanted || strcmp(wanted, "1") != 0 || dlsym(RTLD_DEFAULT, "__tsan_init") ||
        dlsym(RTLD_DEFAULT, "__asan_init"))
        return;
    *(void **)(void *)&find_object = dlsym(RTLD_DEFAULT, "_dl_find_object");
    recorder = cts_recorder_load();
    if (!recorder) return;
    pthread_atfork(NULL, NULL, after_fork_in_child);
    recorder->on_thread(on_log);
}
