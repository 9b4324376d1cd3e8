/* Host accesses: the host pass calls __cts_host_access() before loads and stores that may touch
 * managed, mapped or pinned memory. Each thread keeps a few open ranges, apart for loads and
 * stores, and grows them as long as accesses touch or follow them: a loop over an array is one
 * range.
 *
 * Before the next op number is given out, all threads' ranges are written: each thread's carry a
 * number of their own, so that they lie between the ops before and behind them. A thread that fills
 * its table writes early. */
#include "hosts.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "range.h"
#include "record-op.h"
#include "runtime.h"

enum { OPEN_RANGES = 64 };

struct open_range {
    uint64_t start, end;
    bool is_store;
};

struct notes {
    struct notes *next;
    pthread_mutex_t lock; /* its thread and whoever flushes */
    struct open_range ranges[OPEN_RANGES];
    unsigned count, last;
    uint32_t thread; /* its number */
    bool is_free;    /* its thread has ended */
};

static struct cts_catalogue_writer *catalogue;
static _Atomic bool is_on;
static _Atomic bool is_told;   /* the run knows that CPU accesses are recorded */
static _Atomic uint64_t noted; /* ranges waiting; 0 makes a flush cheap */
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct notes *all_notes;
static __thread struct notes *own_notes;
static pthread_key_t thread_end;

static void end_thread(void *argument)
{
    struct notes *const notes = argument;
    pthread_mutex_lock(&list_lock);
    notes->is_free = true;
    pthread_mutex_unlock(&list_lock);
    own_notes = NULL;
}

/* What the thread that had it noted has been written. */
static bool is_reusable(struct notes *notes)
{
    if (!notes->is_free) return false;
    pthread_mutex_lock(&notes->lock);
    const bool is_empty = notes->count == 0;
    pthread_mutex_unlock(&notes->lock);
    return is_empty;
}

void cts_hosts_start(struct cts_catalogue_writer *writer)
{
    catalogue = writer;
    pthread_key_create(&thread_end, end_thread);
    atomic_store(&is_on, true);
}

static struct notes *new_notes(void)
{
    pthread_mutex_lock(&list_lock);
    struct notes *notes = all_notes;
    while (notes && !is_reusable(notes)) notes = notes->next;
    if (notes) {
        notes->is_free = false;
    } else if ((notes = calloc(1, sizeof *notes))) {
        pthread_mutex_init(&notes->lock, NULL);
        notes->next = all_notes;
        all_notes = notes;
    }
    pthread_mutex_unlock(&list_lock);
    if (notes) notes->thread = cts_record_thread();
    if (notes) pthread_setspecific(thread_end, notes);
    own_notes = notes;
    return notes;
}

/* Grows a range that the access touches or follows. */
static bool grow(struct open_range *range, uint64_t start, uint64_t end, bool is_store)
{
    if (range->is_store != is_store || start > range->end || end < range->start) return false;
    if (start < range->start) range->start = start;
    if (end > range->end) range->end = end;
    return true;
}

static bool note(struct notes *notes, uint64_t start, uint64_t end, bool is_store)
{
    if (notes->count && grow(&notes->ranges[notes->last], start, end, is_store)) return true;
    for (unsigned i = 0; i < notes->count; i++)
        if (grow(&notes->ranges[i], start, end, is_store)) {
            notes->last = i;
            return true;
        }
    if (notes->count == OPEN_RANGES) return false;
    notes->last = notes->count++;
    notes->ranges[notes->last] = (struct open_range){start, end, is_store};
    atomic_fetch_add(&noted, 1);
    return true;
}

uint64_t cts_hosts_op(uint32_t stream)
{
    cts_hosts_flush();
    return cts_record_op_of(cts_record_thread(), stream);
}

static void note_access(uint64_t start, uint64_t size_bytes, bool is_store)
{
    struct notes *const notes = own_notes ? own_notes : new_notes();
    if (!notes) return;
    pthread_mutex_lock(&notes->lock);
    const bool done = note(notes, start, start + size_bytes, is_store);
    pthread_mutex_unlock(&notes->lock);
    if (done || !cts_record_is_on()) return;
    (void)cts_hosts_op(CTS_NONE); /* writes all ranges */
    pthread_mutex_lock(&notes->lock);
    note(notes, start, start + size_bytes, is_store);
    pthread_mutex_unlock(&notes->lock);
}

/* That CPU accesses are recorded, even if none is to memory that the device can use. */
static void tell(void)
{
    if (!cts_record_is_on() || atomic_exchange(&is_told, true)) return;
    cts_record_depth++;
    cts_catalogue_set(catalogue, "host_accesses", "1");
    cts_record_depth--;
}

void __cts_host_access(const void *address, uint64_t size_bytes, int is_store)
{
    if (!atomic_load_explicit(&is_on, memory_order_relaxed)) return;
    if (!atomic_load_explicit(&is_told, memory_order_relaxed)) tell();
    if (size_bytes == 0 || !cts_range_is_shared_with_host(address)) return;
    cts_record_depth++;
    note_access((uint64_t)address, size_bytes, is_store != 0);
    cts_record_depth--;
}

static void flush_notes(struct notes *notes)
{
    pthread_mutex_lock(&notes->lock);
    const uint64_t op = notes->count ? cts_record_op_of(notes->thread, CTS_NONE) : 0;
    for (unsigned i = 0; i < notes->count; i++) {
        const struct cts_host_access row = {.rank = cts_catalogue_rank(catalogue),
                                            .op = op,
                                            .is_store = notes->ranges[i].is_store,
                                            .address = notes->ranges[i].start,
                                            .size_bytes =
                                                notes->ranges[i].end - notes->ranges[i].start};
        cts_catalogue_add_host_access(catalogue, &row);
    }
    atomic_fetch_sub(&noted, notes->count);
    notes->count = 0;
    pthread_mutex_unlock(&notes->lock);
}

void cts_hosts_flush(void)
{
    if (!atomic_load_explicit(&is_on, memory_order_relaxed) || atomic_load(&noted) == 0) return;
    cts_record_depth++;
    pthread_mutex_lock(&list_lock);
    for (struct notes *notes = all_notes; notes; notes = notes->next) flush_notes(notes);
    pthread_mutex_unlock(&list_lock);
    cts_record_depth--;
}

static bool is_inside(void)
{
    return cts_record_depth || cts_call_api || !cts_record_is_on();
}

bool cts_hosts_book(void)
{
    if (is_inside()) return false;
    if (!own_notes || atomic_load(&noted) == 0) return true;
    cts_record_depth++;
    flush_notes(own_notes);
    cts_record_depth--;
    return true;
}

bool cts_hosts_book_all(void)
{
    if (is_inside()) return false;
    cts_hosts_flush();
    return true;
}
