/* Recorded launches: their numbers in the ring, and their rows.
 *
 * A launch that is recorded gets a number, which its records carry. There are NUMBERS of them, used
 * again and again: when half of them has been used up, what ran with the other half is waited for,
 * so that no record is ever taken for another launch's.
 *
 * A row is written at the launch, when a consumer tells counts, and a last time when the launch is
 * known to have ended and all that it recorded has been taken out of the ring: when the host has
 * waited for it, or at the end of the program or of its number. */
#include "launches.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "common/array.h"
#include "common/clock.h"
#include "library.h"
#include "rings.h"
#include "memory-run.h"

enum { NUMBERS = 1 << 16, HALF = NUMBERS / 2, DRAIN_TIMEOUT_MS = 600000, KEEP_TIMEOUT_MS = 10000 };

struct entry {
    struct cts_memory_launch launch;
    bool is_used, is_last_written;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t turning = PTHREAD_MUTEX_INITIALIZER;
static struct entry *entries[NUMBERS / 256]; /* of 256 each, made when they are needed */
static uint32_t begun;                       /* recorded launches so far */
static uint32_t first_open;                  /* all before it have ended */

/* Launches that have ended and whose last row is not written. */
struct ended {
    uint32_t number, launch;
};
struct ended_list {
    struct ended *items;
    size_t count, capacity;
};
static struct ended_list ended;
static uint32_t open_count; /* that have not ended */

static struct {
    uint64_t count;
    struct cts_stack_room room; /* of the first */
} unpatched;                    /* launches that ran so since there was no room */

static struct entry *entry_of(uint32_t number)
{
    number %= NUMBERS;
    struct entry *const block = entries[number / 256];
    return block ? block + number % 256 : NULL;
}

uint32_t cts_launches_begun(void)
{
    pthread_mutex_lock(&lock);
    const uint32_t count = begun;
    pthread_mutex_unlock(&lock);
    return count;
}

uint64_t cts_launches_recorded(void)
{
    return cts_launches_begun();
}

/* ---- numbers ---- */

/* Under the lock, when all that a launch has recorded is there. */
static void write_last_row(struct entry *entry)
{
    const struct cts_launch *const row = &entry->launch.row;
    if (entry->is_last_written) return;
    entry->is_last_written = row->end_ns != 0;
    if (entry->launch.room.is_short && row->end_ns && !row->records && !row->dropped_accesses) {
        entry->launch.row.recorded = "none";
        if (!unpatched.count++) unpatched.room = entry->launch.room;
    }
    cts_catalogue_add_launch(cts_memory_run.catalogue, row);
}

/* Waits for the launches of a half and writes their rows; their numbers are free then. */
static void retire_half(uint32_t first)
{
    for (uint32_t n = first; n < first + HALF; n++) {
        pthread_mutex_lock(&lock);
        const struct entry *const entry = entry_of(n);
        const bool is_open = entry && entry->is_used && !entry->launch.row.end_ns;
        const Sanitizer_StreamHandle stream = is_open ? entry->launch.stream : NULL;
        const CUcontext context = is_open ? entry->launch.context : NULL;
        const uint32_t id = is_open ? entry->launch.row.stream : 0, upto = begun;
        pthread_mutex_unlock(&lock);
        if (is_open && cts_sanitizer.sanitizerStreamSynchronize(stream) == SANITIZER_SUCCESS)
            cts_launches_ended(context, id, upto);
    }
    if (!cts_memory_rings_drain(DRAIN_TIMEOUT_MS))
        cts_memory_say("warning", "records are taken out too slowly; some may be lost");
    pthread_mutex_lock(&lock);
    for (uint32_t n = first; n < first + HALF; n++) {
        struct entry *const entry = entry_of(n);
        if (!entry || !entry->is_used) continue;
        write_last_row(entry);
        if (!entry->launch.row.end_ns) open_count--;
        entry->is_used = false;
    }
    pthread_mutex_unlock(&lock);
}

bool cts_launches_add(const struct cts_memory_launch *launch, uint32_t *number)
{
    pthread_mutex_lock(&turning); /* one thread waits, the others wait for it */
    pthread_mutex_lock(&lock);
    const uint32_t next = begun;
    pthread_mutex_unlock(&lock);
    if (next % HALF == 0 && next >= HALF) retire_half((next / HALF + 1) % 2 * HALF);
    pthread_mutex_lock(&lock);
    *number = next % NUMBERS;
    struct entry **const block = &entries[*number / 256];
    if (!*block) *block = calloc(256, sizeof **block);
    const bool done = *block != NULL;
    if (done) {
        *entry_of(*number) = (struct entry){.launch = *launch, .is_used = true};
        begun++;
        open_count++;
    }
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&turning);
    return done;
}

bool cts_launch_of_number(void *unused, uint32_t number, uint32_t *launch, bool *by_warp)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    const struct entry *const entry = number < NUMBERS ? entry_of(number) : NULL;
    const bool known = entry && entry->is_used;
    if (known) {
        *launch = entry->launch.row.launch;
        *by_warp = entry->launch.by_warp;
    }
    pthread_mutex_unlock(&lock);
    return known;
}

void cts_launch_counts(void *unused, uint32_t number, const struct cts_stream_counts *counts)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    struct entry *const entry = entry_of(number);
    if (entry && entry->is_used) {
        entry->launch.row.records += counts->records;
        entry->launch.row.accesses += counts->accesses;
        entry->launch.row.dropped_accesses += counts->dropped_accesses;
        cts_catalogue_update_launch(cts_memory_run.catalogue, &entry->launch.row);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- ends ---- */

static bool end_entry(struct entry *entry, uint64_t time_ns)
{
    if (!entry->is_used || entry->launch.row.end_ns) return false;
    entry->launch.row.end_ns = time_ns;
    open_count--;
    return true;
}

/* Without memory for it, its last row is written at the end of the program. */
static void add_ended(struct ended one)
{
    if (CTS_ARRAY_RESERVE(&ended, ended.count + 1, NULL) == CTS_OK)
        ended.items[ended.count++] = one;
}

/* Numbers count on and on here: `number` is one of begun's. */
void cts_launches_ended(CUcontext context, uint32_t stream, uint32_t number)
{
    const uint64_t time_ns = cts_clock_ns();
    bool all_before = true;
    pthread_mutex_lock(&lock);
    if (begun - first_open > NUMBERS) first_open = begun - NUMBERS;
    for (uint32_t n = first_open; (int32_t)(number - n) > 0; n++) {
        struct entry *const entry = entry_of(n);
        if (entry && entry->launch.context == context &&
            (stream == CTS_NONE || entry->launch.row.stream == stream) && end_entry(entry, time_ns))
            add_ended((struct ended){n % NUMBERS, entry->launch.row.launch});
        all_before = all_before && (!entry || !entry->is_used || entry->launch.row.end_ns);
        if (all_before) first_open = n + 1;
    }
    pthread_mutex_unlock(&lock);
}

/* One thread at a time: what another one takes has been kept when this one returns. */
static void keep_ended(void)
{
    static pthread_mutex_t keeping = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&keeping);
    pthread_mutex_lock(&lock);
    struct ended_list taken = ended;
    ended = (struct ended_list){0};
    const bool others_run = open_count != 0;
    pthread_mutex_unlock(&lock);
    const bool kept = taken.count && cts_memory_rings_deliver(others_run, KEEP_TIMEOUT_MS);
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < taken.count; i++) {
        struct entry *const entry = entry_of(taken.items[i].number);
        if (!entry->is_used || entry->launch.row.launch != taken.items[i].launch) continue;
        if (kept)
            write_last_row(entry);
        else
            add_ended(taken.items[i]);
    }
    pthread_mutex_unlock(&lock);
    free(taken.items);
    pthread_mutex_unlock(&keeping);
}

/* A signal's handler that ends the program would wait at the end for locks that its own thread
 * holds here; nor may the thread be cancelled. */
void cts_launches_keep_ended(void)
{
    sigset_t every, before;
    int cancelling;
    const int errnum = errno;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
    keep_ended();
    pthread_setcancelstate(cancelling, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = errnum;
}

void cts_launches_finish(bool complete)
{
    const uint64_t time_ns = cts_clock_ns();
    pthread_mutex_lock(&lock);
    for (uint32_t n = 0; n < NUMBERS; n++) {
        struct entry *const entry = entry_of(n);
        if (!entry || !entry->is_used) continue;
        if (complete) (void)end_entry(entry, time_ns);
        write_last_row(entry);
    }
    const uint64_t count = unpatched.count;
    const struct cts_stack_room room = unpatched.room;
    pthread_mutex_unlock(&lock);
    if (count)
        cts_memory_say("error",
                       "%llu launches left no record while %u MiB of device memory were free: the "
                       "stack of patched code takes about %u MiB, and without room for it the "
                       "driver runs kernels unpatched",
                       (unsigned long long)count, room.free_mib, room.needed_mib);
}
