/* Launches: which are recorded, their numbers in the ring, and their rows.
 *
 * A launch that is recorded gets a number, which its records carry. There are NUMBERS of them, used
 * again and again: when half of them has been used up, what ran with the other half is waited for,
 * so that no record is ever taken for another launch's.
 *
 * A row is written at the launch, when a consumer tells counts, and at the end of the program or of
 * its number. A launch is known to have ended when the host has waited for it. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "memory.h"

enum { NUMBERS = 1 << 16, HALF = NUMBERS / 2, DRAIN_TIMEOUT_MS = 600000 };

struct entry {
    struct cts_launch row;
    CUcontext context;
    Sanitizer_StreamHandle stream;
    bool is_used, by_warp;
    struct cts_stack_room room; /* for its patches' stack */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t turning = PTHREAD_MUTEX_INITIALIZER;
static struct entry *entries[NUMBERS / 256]; /* of 256 each, made when they are needed */
static uint32_t begun;                       /* recorded launches so far */
static uint32_t first_open;                  /* all before it have ended */
static uint64_t matched;                     /* launches that --kernel-name lets through */
static _Atomic bool is_on;

static struct {
    uint64_t count;
    struct cts_stack_room room; /* of the first */
} unpatched;                    /* launches that ran so since there was no room */

static int (*is_in_range)(void); /* of NVTX, that was chosen; NULL: nobody watches ranges */

void cts_launches_switch(bool on)
{
    atomic_store(&is_on, on);
}

void cts_launches_watch_ranges(void)
{
    void *const library = cts_library_beside("libctascope_nvtx.so");
    if (library) *(void **)&is_in_range = dlsym(library, "ctascope_nvtx_included");
}

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
    const struct cts_launch *const row = &entry->row;
    if (entry->room.is_short && row->end_ns && !row->records && !row->dropped_accesses) {
        entry->row.recorded = "none";
        if (!unpatched.count++) unpatched.room = entry->room;
    }
    cts_catalogue_add_launch(cts_memory.catalogue, row);
}

/* Waits for the launches of a half and writes their rows; their numbers are free then. */
static void retire_half(uint32_t first)
{
    for (uint32_t n = first; n < first + HALF; n++) {
        pthread_mutex_lock(&lock);
        const struct entry *const entry = entry_of(n);
        const bool is_open = entry && entry->is_used && !entry->row.end_ns;
        const Sanitizer_StreamHandle stream = is_open ? entry->stream : NULL;
        const CUcontext context = is_open ? entry->context : NULL;
        const uint32_t id = is_open ? entry->row.stream : 0, upto = begun;
        pthread_mutex_unlock(&lock);
        if (is_open && cts_sanitizer.sanitizerStreamSynchronize(stream) == SANITIZER_SUCCESS)
            cts_launches_ended(context, id, upto);
    }
    if (!cts_ring_drain(cts_memory.consumers, DRAIN_TIMEOUT_MS))
        cts_memory_say("warning", "records are taken out too slowly; some may be lost");
    pthread_mutex_lock(&lock);
    for (uint32_t n = first; n < first + HALF; n++) {
        struct entry *const entry = entry_of(n);
        if (entry && entry->is_used) write_last_row(entry);
        if (entry) entry->is_used = false;
    }
    pthread_mutex_unlock(&lock);
}

/* The next number, filled in; false: no memory. */
static bool take_number(const struct entry *entry, uint32_t *number)
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
        *entry_of(*number) = *entry;
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
        *launch = entry->row.launch;
        *by_warp = entry->by_warp;
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
        entry->row.records += counts->records;
        entry->row.accesses += counts->accesses;
        entry->row.dropped_accesses += counts->dropped_accesses;
        cts_catalogue_update_launch(cts_memory.catalogue, &entry->row);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- ends ---- */

static void end_entry(struct entry *entry, uint64_t time_ns)
{
    if (entry->is_used && !entry->row.end_ns) entry->row.end_ns = time_ns;
}

/* Numbers count on and on here: `number` is one of begun's. */
void cts_launches_ended(CUcontext context, uint32_t stream, uint32_t number)
{
    const uint64_t time_ns = cts_memory_now_ns();
    bool all_before = true;
    pthread_mutex_lock(&lock);
    if (begun - first_open > NUMBERS) first_open = begun - NUMBERS;
    for (uint32_t n = first_open; (int32_t)(number - n) > 0; n++) {
        struct entry *const entry = entry_of(n);
        if (entry && entry->context == context &&
            (stream == CTS_NONE || entry->row.stream == stream))
            end_entry(entry, time_ns);
        all_before = all_before && (!entry || !entry->is_used || entry->row.end_ns);
        if (all_before) first_open = n + 1;
    }
    pthread_mutex_unlock(&lock);
}

void cts_launches_finish(bool complete)
{
    const uint64_t time_ns = cts_memory_now_ns();
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

/* ---- the launch ---- */

static bool is_wanted(const struct cts_memory_kernel *kernel)
{
    const struct cts_environment *const environment = &cts_memory.environment;
    if (!kernel->is_selected || !atomic_load(&is_on)) return false;
    if (environment->nvtx_include && !(is_in_range && is_in_range())) return false;
    pthread_mutex_lock(&lock);
    const uint64_t number = matched++;
    pthread_mutex_unlock(&lock);
    return number >= environment->launch_skip &&
           number - environment->launch_skip < environment->launch_count;
}

static struct cts_launch row_of(const Sanitizer_LaunchData *data,
                                const struct cts_launch_extras *shape, uint32_t kernel,
                                bool is_node)
{
    const CUcontext context = is_node ? data->apiContext : data->context;
    const uint32_t stream =
        is_node ? cts_memory_stream(data->apiContext, data->apiStream, data->hApiStream)
                : cts_memory_stream(context, data->stream, data->hStream);
    const uint64_t time_ns = cts_memory_now_ns();
    return (struct cts_launch){
        .launch = cts_catalogue_reserve(cts_memory.catalogue, CTS_ID_LAUNCH, 1),
        .rank = cts_memory.rank,
        .op = cts_memory_op(),
        .device = cts_context_device(data->context),
        .stream = stream,
        .ordinal = cts_memory_stream_ordinal(stream),
        .kernel = kernel,
        .grid = {data->gridDim_x, data->gridDim_y, data->gridDim_z},
        .block = {data->blockDim_x, data->blockDim_y, data->blockDim_z},
        .dynamic_shared_bytes = shape->dynamic_shared_bytes,
        .cooperative = shape->cooperative,
        .call_ns = time_ns,
        .start_ns = time_ns,
    };
}

/* The driver tells those of the kernel's own code, of launch attributes and of nodes alike. */
static void keep_cluster(const Sanitizer_LaunchData *data, uint32_t launch)
{
    const struct cts_cluster row = {
        .launch = launch, .ctas = {data->clusterDim_x, data->clusterDim_y, data->clusterDim_z}};
    if (row.ctas[0] > 1 || row.ctas[1] > 1 || row.ctas[2] > 1)
        cts_catalogue_add_cluster(cts_memory.catalogue, &row);
}

static void set_user(const Sanitizer_LaunchData *data, uint64_t user)
{
    const SanitizerResult result = cts_sanitizer.sanitizerSetLaunchCallbackData(
        data->hLaunch, data->function, data->hStream, (const void *)(uintptr_t)user);
    if (result != SANITIZER_SUCCESS)
        cts_memory_say("error", "a launch of '%s' cannot be recorded: %s", data->functionName,
                       cts_sanitizer_text(result));
}

/* What the patches are given, less the launch's number. */
static uint64_t user_of(const Sanitizer_LaunchData *data)
{
    const uint64_t ctas = (uint64_t)data->gridDim_x * data->gridDim_y * data->gridDim_z;
    const uint64_t user = cts_context_user(data->context);
    return user && ctas >> 31 ? user | CTS_MEMORY_UNUSUAL : user;
}

/* The same for all nodes of a kernel, also for those that are not recorded. */
static uint64_t user_of_node(const Sanitizer_LaunchData *data)
{
    const uint64_t user = cts_context_user(data->context);
    return user ? user | CTS_MEMORY_BY_GRID : 0;
}

void cts_launch_begin(const Sanitizer_LaunchData *data, const struct cts_launch_extras *shape,
                      bool is_node)
{
    const struct cts_memory_kernel kernel = cts_module_kernel(data);
    if (kernel.id == CTS_NONE) return; /* no memory */
    struct entry entry = {.row = row_of(data, shape, kernel.id, is_node),
                          .context = is_node ? data->apiContext : data->context,
                          .stream = is_node ? data->hApiStream : data->hStream,
                          .is_used = true,
                          .by_warp = kernel.by_warp};
    if (!kernel.is_instrumented && !cts_memory.discard) entry.room = cts_api_call.room;
    uint32_t number = 0;
    const bool wanted = is_wanted(&kernel);
    const bool patched = wanted || !cts_memory.defer ? cts_module_patch(data->module, true)
                                                     : !cts_module_patch(data->module, false);
    const uint64_t user = wanted && patched ? user_of(data) : 0;
    const bool recorded = user && take_number(&entry, &number);
    entry.row.recorded = !recorded                               ? "none"
                         : cts_memory.environment.cta_sample > 1 ? "sample"
                                                                 : "all";
    if (recorded) {
        pthread_mutex_lock(&lock);
        entry_of(number)->row.recorded = entry.row.recorded;
        pthread_mutex_unlock(&lock);
    } else {
        entry.row.end_ns = entry.row.start_ns;
    }
    cts_catalogue_add_launch(cts_memory.catalogue, &entry.row);
    keep_cluster(data, entry.row.launch);
    const bool by_grid = kernel.is_instrumented || is_node;
    if (by_grid && !cts_memory.empty)
        cts_grids_tell(data, entry.stream, recorded ? number : CTS_NONE);
    if (kernel.is_instrumented || !patched || cts_memory.empty) return;
    if (is_node)
        set_user(data, user_of_node(data));
    else
        set_user(data, recorded ? user + number : 0);
}
