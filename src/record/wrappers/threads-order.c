#include "record/wrappers/threads-order.h"

#include <errno.h>
#include <limits.h>
#include <link.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "common/hash.h"
#include "record/wrappers/threads-known.h"

enum { THREAD_NUMBERS = 1 << 16, THREAD_BITS = 10, OBJECT_BITS = 14, OWN_MAX = 16 };

struct cts_watched {
    struct cts_watched *next; /* in its bucket */
    pthread_t id;
    struct cts_threads_start start;
    uint32_t number;          /* UINT32_MAX: it has made no call */
    uint64_t end;             /* of its own ops; 0: none */
    struct cts_known pending; /* acquired since its last op */
    struct cts_known seen;    /* all that it ever acquired directly */
    unsigned references;      /* of the thread, of the table, of whoever holds it */
    bool is_in_table, is_detached, is_ended;
    unsigned destructor_rounds;
    _Atomic uint64_t end_release;
};

struct object {
    struct object *next; /* in its bucket */
    uintptr_t address;
    uint32_t kind;
    struct cts_known known;
    const struct cts_watched *writer;          /* CTS_THREADS_LOCK of readers and writers */
    unsigned barrier_threads, barrier_entered; /* CTS_THREADS_POSTS of a barrier */
};
/* The barrier's phases take turns. */
enum { KIND_BARRIER = CTS_THREADS_POSTS + 1, KIND_PHASE, KIND_END = KIND_PHASE + 2 };

static const struct cts_thread_watcher *_Atomic watcher;
static atomic_uint busy_threads; /* in the slow part */
static atomic_bool is_forked;
static __thread bool is_inside;
static __thread struct cts_watched *own_thread;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all below */
static struct cts_watched *numbered[THREAD_NUMBERS];
static struct cts_watched *threads[1 << THREAD_BITS];
static struct object *objects[1 << OBJECT_BITS];

static pthread_key_t thread_end;
static bool has_thread_end;

/* ---- code that is not the program's ---- */

static struct {
    uintptr_t start, end;
} own_code[OWN_MAX];
static unsigned own_count;

static int add_own_code(struct dl_phdr_info *info, size_t size, void *state)
{
    (void)size, (void)state;
    if (!strstr(info->dlpi_name, "/libctascope_") || own_count == OWN_MAX) return 0;
    uintptr_t start = UINTPTR_MAX, end = 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *const part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD) continue;
        const uintptr_t first = info->dlpi_addr + part->p_vaddr;
        if (first < start) start = first;
        if (first + part->p_memsz > end) end = first + part->p_memsz;
    }
    own_code[own_count].start = start;
    own_code[own_count++].end = end;
    return 0;
}

static bool is_own(const void *caller)
{
    const uintptr_t address = (uintptr_t)caller;
    for (unsigned i = 0; i < own_count; i++)
        if (address >= own_code[i].start && address < own_code[i].end) return true;
    return false;
}

/* ---- in and out ---- */

struct visit {
    int errnum, cancel_state;
    const struct cts_thread_watcher *watcher;
};

static void leave(const struct visit *visit)
{
    atomic_fetch_sub(&busy_threads, 1);
    is_inside = false;
    pthread_setcancelstate(visit->cancel_state, NULL);
    errno = visit->errnum;
}

/* `watched`: only if somebody watches. What follows is no place to be cancelled. */
static bool enter(struct visit *visit, bool watched)
{
    if (is_inside || atomic_load_explicit(&is_forked, memory_order_relaxed)) return false;
    visit->errnum = errno;
    is_inside = true;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &visit->cancel_state);
    atomic_fetch_add(&busy_threads, 1);
    visit->watcher = atomic_load(&watcher);
    if (visit->watcher || !watched) return true;
    leave(visit);
    return false;
}

static bool enter_locks(struct visit *visit, const void *caller)
{
    const struct cts_thread_watcher *const now =
        atomic_load_explicit(&watcher, memory_order_relaxed);
    return now && now->with_locks && !is_own(caller) && enter(visit, true);
}

/* ---- threads ---- */

static size_t thread_bucket(pthread_t id)
{
    return cts_hash((uintptr_t)id) >> (64 - THREAD_BITS);
}

static void let_go(struct cts_watched *thread)
{
    if (--thread->references) return;
    if (thread->number < THREAD_NUMBERS && numbered[thread->number] == thread)
        numbered[thread->number] = NULL;
    cts_known_release(&thread->pending);
    cts_known_release(&thread->seen);
    cts_threads_give(thread, sizeof *thread);
}

static struct cts_watched **place_in_table(pthread_t id)
{
    struct cts_watched **place = &threads[thread_bucket(id)];
    while (*place && !pthread_equal((*place)->id, id)) place = &(*place)->next;
    return place;
}

static void take_out(struct cts_watched *thread)
{
    if (!thread->is_in_table) return;
    struct cts_watched **place = &threads[thread_bucket(thread->id)];
    while (*place != thread) place = &(*place)->next;
    *place = thread->next;
    thread->is_in_table = false;
    let_go(thread);
}

/* Whoever had the number before has ended, unseen. */
static void put_in(struct cts_watched *thread, pthread_t id)
{
    struct cts_watched *const before = *place_in_table(id);
    if (before) take_out(before);
    thread->id = id;
    thread->next = threads[thread_bucket(id)];
    threads[thread_bucket(id)] = thread;
    thread->is_in_table = true;
    thread->references++;
}

static struct cts_watched *new_thread(void)
{
    struct cts_watched *const thread = cts_threads_take(sizeof *thread);
    if (!thread) return NULL;
    thread->number = UINT32_MAX;
    thread->references = 1;
    return thread;
}

static void adopt(struct cts_watched *thread)
{
    own_thread = thread;
    if (!thread->is_in_table && !thread->is_ended) put_in(thread, pthread_self());
    if (has_thread_end) pthread_setspecific(thread_end, thread);
}

/* NULL: no memory. */
static struct cts_watched *self(void)
{
    if (own_thread) return own_thread;
    struct cts_watched *const thread = new_thread();
    if (thread) adopt(thread);
    return thread;
}

/* In the last round of destructors: others may lock, and access memory. */
static void end_thread(void *argument)
{
    struct cts_watched *const thread = argument;
    struct visit visit;
    if (own_thread != thread) return;
    if (++thread->destructor_rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
        pthread_setspecific(thread_end, thread);
        return;
    }
    if (!enter(&visit, false)) return;
    if (visit.watcher) visit.watcher->book();
    pthread_mutex_lock(&lock);
    own_thread = NULL;
    thread->is_ended = true;
    if (thread->is_detached) take_out(thread);
    let_go(thread);
    pthread_mutex_unlock(&lock);
    leave(&visit);
}

/* ---- what is known ---- */

static void learn(struct cts_watched *thread, uint32_t other, uint64_t end)
{
    if (other != thread->number && cts_known_add(&thread->seen, other, end))
        cts_known_add(&thread->pending, other, end);
}

static void learn_all(struct cts_watched *thread, const struct cts_known *known)
{
    for (uint32_t i = 0; i < known->count; i++)
        learn(thread, known->items[i].thread, known->items[i].end);
}

static bool has_news(const struct cts_watched *thread, const struct cts_known *known)
{
    for (uint32_t i = 0; i < known->count; i++)
        if (!thread || (known->items[i].thread != thread->number &&
                        cts_known_of(&thread->seen, known->items[i].thread) < known->items[i].end))
            return true;
    return false;
}

static void learn_thread(struct cts_watched *thread, const struct cts_watched *other)
{
    learn_all(thread, &other->pending);
    if (other->end) learn(thread, other->number, other->end);
}

static void tell(const struct cts_watched *thread, struct cts_known *known)
{
    for (uint32_t i = 0; i < thread->pending.count; i++)
        cts_known_add(known, thread->pending.items[i].thread, thread->pending.items[i].end);
    if (thread->end) cts_known_add(known, thread->number, thread->end);
}

/* ---- objects ---- */

static size_t object_bucket(uintptr_t address)
{
    return cts_hash(address) >> (64 - OBJECT_BITS);
}

static struct object *find_object(const void *address, uint32_t kind)
{
    struct object *object = objects[object_bucket((uintptr_t)address)];
    while (object && (object->address != (uintptr_t)address || object->kind != kind))
        object = object->next;
    return object;
}

/* NULL: no memory. */
static struct object *object_at(const void *address, uint32_t kind)
{
    struct object *object = find_object(address, kind);
    if (object || !(object = cts_threads_take(sizeof *object))) return object;
    struct object **const bucket = &objects[object_bucket((uintptr_t)address)];
    object->address = (uintptr_t)address;
    object->kind = kind;
    object->next = *bucket;
    *bucket = object;
    return object;
}

static void forget_locked(const void *address)
{
    struct object **place = &objects[object_bucket((uintptr_t)address)];
    while (*place) {
        struct object *const object = *place;
        if (object->address != (uintptr_t)address) {
            place = &object->next;
            continue;
        }
        *place = object->next;
        cts_known_release(&object->known);
        cts_threads_give(object, sizeof *object);
    }
}

/* What the thread has done so far gets its op before it learns something: that orders what comes
 * after only. */
static void acquire(const struct visit *visit, const void *address, uint32_t kind)
{
    pthread_mutex_lock(&lock);
    const struct object *object = find_object(address, kind);
    const bool is_new = object && has_news(own_thread, &object->known);
    pthread_mutex_unlock(&lock);
    if (!is_new || !visit->watcher->book()) return;
    pthread_mutex_lock(&lock);
    struct cts_watched *const thread = self();
    object = find_object(address, kind);
    if (object && thread) learn_all(thread, &object->known);
    pthread_mutex_unlock(&lock);
}

static void release(const void *address, uint32_t kind)
{
    const struct cts_watched *const thread = own_thread;
    if (!thread || (!thread->end && !thread->pending.count)) return;
    struct object *const object = object_at(address, kind);
    if (!object) return;
    if (kind == CTS_THREADS_LOCK) object->known.count = 0; /* the thread has acquired all of it */
    tell(thread, &object->known);
}

/* ---- the interface for wrappers ---- */

void cts_threads_acquire(const void *address, enum cts_threads_kind kind, const void *caller)
{
    struct visit visit;
    if (!enter_locks(&visit, caller)) return;
    acquire(&visit, address, kind);
    leave(&visit);
}

void cts_threads_release(const void *address, enum cts_threads_kind kind, const void *caller)
{
    struct visit visit;
    if (!enter_locks(&visit, caller)) return;
    if (visit.watcher->book()) {
        pthread_mutex_lock(&lock);
        release(address, kind);
        pthread_mutex_unlock(&lock);
    }
    leave(&visit);
}

void cts_threads_acquire_writer(const void *address, const void *caller)
{
    struct visit visit;
    if (!enter_locks(&visit, caller)) return;
    acquire(&visit, address, CTS_THREADS_LOCK);
    acquire(&visit, address, CTS_THREADS_SHARED);
    pthread_mutex_lock(&lock);
    struct object *const object = object_at(address, CTS_THREADS_LOCK);
    if (object) object->writer = self();
    pthread_mutex_unlock(&lock);
    leave(&visit);
}

void cts_threads_release_any(const void *address, const void *caller)
{
    struct visit visit;
    if (!enter_locks(&visit, caller)) return;
    if (visit.watcher->book()) {
        pthread_mutex_lock(&lock);
        struct object *const object = find_object(address, CTS_THREADS_LOCK);
        const bool is_writer = object && object->writer && object->writer == own_thread;
        if (is_writer) object->writer = NULL;
        release(address, is_writer ? CTS_THREADS_LOCK : CTS_THREADS_SHARED);
        pthread_mutex_unlock(&lock);
    }
    leave(&visit);
}

void cts_threads_forget(const void *address, const void *caller)
{
    struct visit visit;
    if (!enter_locks(&visit, caller)) return;
    pthread_mutex_lock(&lock);
    forget_locked(address);
    pthread_mutex_unlock(&lock);
    leave(&visit);
}

/* ---- barriers ---- */

void cts_threads_barrier(const void *address, unsigned count, const void *caller)
{
    struct visit visit;
    if (is_own(caller) || !enter(&visit, false)) return;
    pthread_mutex_lock(&lock);
    forget_locked(address);
    struct object *const object = object_at(address, KIND_BARRIER);
    if (object) object->barrier_threads = count;
    pthread_mutex_unlock(&lock);
    leave(&visit);
}

/* When the first thread enters a phase, all have left the one before the last. */
unsigned cts_threads_arrive(const void *address, const void *caller)
{
    struct visit visit;
    unsigned phase = 0;
    if (is_own(caller) || !enter(&visit, false)) return phase;
    const bool is_booked = visit.watcher && visit.watcher->with_locks && visit.watcher->book();
    pthread_mutex_lock(&lock);
    struct object *const object = find_object(address, KIND_BARRIER);
    if (object && object->barrier_threads) {
        const unsigned turn = object->barrier_entered / object->barrier_threads % 2;
        const bool is_first = object->barrier_entered % object->barrier_threads == 0;
        object->barrier_entered = (object->barrier_entered + 1) % (2 * object->barrier_threads);
        struct object *const posts = find_object(address, KIND_PHASE + turn);
        if (is_first && posts) posts->known.count = 0;
        if (is_booked) release(address, KIND_PHASE + turn);
        phase = turn + 1;
    }
    pthread_mutex_unlock(&lock);
    leave(&visit);
    return phase;
}

void cts_threads_leave(const void *address, unsigned phase, const void *caller)
{
    struct visit visit;
    if (!phase || !enter_locks(&visit, caller)) return;
    acquire(&visit, address, KIND_PHASE + phase - 1);
    leave(&visit);
}

/* ---- threads come and go ---- */

struct cts_watched *cts_threads_create(bool is_detached, const struct cts_threads_start *start,
                                       const void *caller)
{
    struct visit visit;
    if (is_own(caller) || !enter(&visit, false)) return NULL;
    const bool is_booked = visit.watcher && visit.watcher->book();
    pthread_mutex_lock(&lock);
    struct cts_watched *const thread = new_thread();
    if (thread) {
        thread->references++; /* the creator's, until cts_threads_created() */
        thread->is_detached = is_detached;
        thread->start = *start;
        if (is_booked && own_thread) learn_thread(thread, own_thread);
    }
    pthread_mutex_unlock(&lock);
    leave(&visit);
    return thread;
}

struct cts_threads_start cts_threads_begin(struct cts_watched *thread)
{
    const struct cts_threads_start start = thread->start;
    struct visit visit;
    if (!enter(&visit, false)) return start;
    pthread_mutex_lock(&lock);
    adopt(thread);
    pthread_mutex_unlock(&lock);
    leave(&visit);
    return start;
}

void cts_threads_ended(uint64_t release)
{
    if (own_thread) atomic_store(&own_thread->end_release, release);
}

uint64_t cts_threads_end_of(const struct cts_watched *thread)
{
    return thread ? atomic_load(&thread->end_release) : 0;
}

void cts_threads_created(struct cts_watched *thread, const pthread_t *id)
{
    struct visit visit;
    if (!thread || !enter(&visit, false)) return;
    pthread_mutex_lock(&lock);
    const bool has_begun = thread->is_in_table || thread->is_ended;
    if (id && !has_begun) put_in(thread, *id);
    if (!id) let_go(thread); /* the thread's own */
    let_go(thread);
    pthread_mutex_unlock(&lock);
    leave(&visit);
}

struct cts_watched *cts_threads_find(pthread_t id)
{
    struct visit visit;
    if (!enter(&visit, false)) return NULL;
    pthread_mutex_lock(&lock);
    struct cts_watched *const thread = *place_in_table(id);
    if (thread) thread->references++;
    pthread_mutex_unlock(&lock);
    leave(&visit);
    return thread;
}

void cts_threads_joined(struct cts_watched *thread, bool is_done, const void *caller)
{
    struct visit visit;
    if (!thread || !enter(&visit, false)) return;
    const bool is_booked = is_done && visit.watcher && !is_own(caller) && visit.watcher->book_all();
    pthread_mutex_lock(&lock);
    if (is_booked && self()) learn_thread(self(), thread);
    if (is_done) take_out(thread);
    let_go(thread);
    pthread_mutex_unlock(&lock);
    leave(&visit);
}

void cts_threads_detached(struct cts_watched *thread, bool is_done)
{
    struct visit visit;
    if (!thread || !enter(&visit, false)) return;
    pthread_mutex_lock(&lock);
    if (is_done) thread->is_detached = true;
    if (is_done && thread->is_ended) take_out(thread);
    let_go(thread);
    pthread_mutex_unlock(&lock);
    leave(&visit);
}

/* ---- the interface for recorders ---- */

static void watch(const struct cts_thread_watcher *now)
{
    if (now) {
        own_count = 0;
        dl_iterate_phdr(add_own_code, NULL);
    }
    atomic_store(&watcher, now);
    const unsigned own = is_inside ? 1 : 0;
    while (!now && atomic_load(&busy_threads) > own) sched_yield();
}

/* Both come from book(), too, and so may be inside. */
static void attach(uint32_t number)
{
    const bool was_inside = is_inside;
    if (number >= THREAD_NUMBERS || !atomic_load(&watcher) || atomic_load(&is_forked)) return;
    is_inside = true;
    pthread_mutex_lock(&lock);
    struct cts_watched *const thread = self();
    if (thread) {
        thread->number = number;
        numbered[number] = thread;
    }
    pthread_mutex_unlock(&lock);
    is_inside = was_inside;
}

static void begin_op(uint32_t number, uint64_t op)
{
    const struct cts_thread_watcher *const now = atomic_load(&watcher);
    const bool was_inside = is_inside;
    if (number >= THREAD_NUMBERS || !now || atomic_load(&is_forked)) return;
    is_inside = true;
    pthread_mutex_lock(&lock);
    struct cts_watched *const thread = numbered[number];
    if (thread) {
        for (uint32_t i = 0; i < thread->pending.count; i++)
            now->follows(op, thread->pending.items[i].end - 1);
        thread->pending.count = 0;
        if (thread->end <= op) thread->end = op + 1;
    }
    pthread_mutex_unlock(&lock);
    is_inside = was_inside;
}

static void after_fork_in_child(void)
{
    atomic_store(&is_forked, true);
}

__attribute__((constructor)) static void start(void)
{
    has_thread_end = pthread_key_create(&thread_end, end_thread) == 0;
    pthread_atfork(NULL, NULL, after_fork_in_child);
}

cts_thread_order_get ctascope_thread_order __attribute__((visibility("default")));
const struct cts_thread_order *ctascope_thread_order(void)
{
    static const struct cts_thread_order order = {CTS_THREAD_ORDER_VERSION, watch, attach,
                                                  begin_op};
    return &order;
}
