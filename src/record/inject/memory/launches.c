/* Recorded launches: their numbers in the ring, and their rows.
 *
 * A launch that is recorded gets a number, which its records carry. There are NUMBERS of them, used
 * again and again: when half of them has been used up, what ran with the other half is waited for,
 * so that no record is ever taken for another launch's.
 *
 * A row is written at the launch, when a consumer tells counts, and at the end of the program or of
 * its number. A launch is known to have ended when the host has waited for it. */
#include "launches.h"

#include <pthread.h>
#include <stdlib.h>

#include "common/clock.h"
#include "library.h"
#include "rings.h"
#include "memory-run.h"

enum { NUMBERS = 1 << 16, HALF = NUMBERS / 2, DRAIN_TIMEOUT_MS = 600000 };

struct entry {
    struct cts_memory_launch launch;
    bool is_used;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t turning = PTHREAD_MUTEX_INITIALIZER;
static struct entry *entries[NUMBERS / 256]; /* of 256 each, made when they are needed */
static uint32_t begun;                       /* recorded launches so far */
static uint32_t first_open;                  /* all before it have ended */

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
        if (entry && entry->is_used) write_last_row(entry);
        if (entry) entry->is_used = false;
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

static void end_entry(struct entry *entry, uint64_t time_ns)
{
    if (entry->is_used && !entry->launch.row.end_ns) entry->launch.row.end_ns = time_ns;
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
            (stream == CTS_NONE || entry->launch.row.stream == stream))
            end_entry(entry, time_ns);
        all_before = all_before && (!entry || !entry->is_used || entry->launch.row.end_ns);
        if (all_before) first_open = n + 1;
    }
    pthread_mutex_unlock(&lock);
}

void cts_launches_finish(bool complete)
{
    const uint64_t time_ns = cts_clock_ns();
    pthread_mutex_lock(&lock);
    for (uint32_t n = 0; n < NUMBERS; n++) {
        struct entry *const entry = entry_of(n);
        if (!entry || !entry->is_used) continue;
        if (complete) end_entry(entry, time_ns);
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
