/* Which launch a grid belongs to, for those that find out by themselves: kernels that record by
 * themselves, and the patches in nodes of graphs (the Sanitizer gives all nodes of one kernel in a
 * graph the same user data).
 *
 * The *grids* are a table of each context, in its memory: before a launch, and in its stream, an
 * entry is written by the grid's id, which the kernel can read of itself (record/cuda/module.h). A
 * graph's node has the same id in every replay, and replays follow one another; so an entry that a
 * launch in another stream may still need is waited for, and that happens only to ids
 * CTS_CUDA_GRIDS apart. */
#include "grids.h"

#include <pthread.h>
#include <stdlib.h>

#include "common/array.h"
#include "library.h"
#include "record/cuda/module.h"
#include "memory-run.h"
#include "stream-table.h"

enum { STREAMS_MAX = 256 };

struct owner {
    uint64_t entry; /* as the device has it */
    Sanitizer_StreamHandle stream;
};

/* Of a context. */
struct grids {
    CUcontext context;
    uint64_t address;
    struct owner *owners; /* CTS_CUDA_GRIDS */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    struct grids *items;
    size_t count, capacity;
} all;

/* Under the lock. */
static struct grids *find(CUcontext context)
{
    for (size_t i = 0; i < all.count; i++)
        if (all.items[i].context == context) return all.items + i;
    return NULL;
}

/* All entries are nobody's at first. */
static SanitizerResult make(CUcontext context, struct grids *grids)
{
    const size_t byte_count = CTS_CUDA_GRIDS * sizeof(uint64_t);
    void *device = NULL, *const zeros = calloc(1, byte_count);
    *grids =
        (struct grids){.context = context, .owners = calloc(CTS_CUDA_GRIDS, sizeof *grids->owners)};
    SanitizerResult result = SANITIZER_ERROR_OUT_OF_MEMORY;
    if (zeros && grids->owners) result = cts_sanitizer.sanitizerAlloc(context, &device, byte_count);
    grids->address = (uintptr_t)device;
    if (result == SANITIZER_SUCCESS)
        result = cts_sanitizer_write(grids->address, zeros, byte_count);
    if (result != SANITIZER_SUCCESS) free(grids->owners);
    free(zeros);
    return result;
}

SanitizerResult cts_grids_make(CUcontext context, uint64_t *address)
{
    struct grids made;
    *address = cts_grids_address(context);
    if (*address) return SANITIZER_SUCCESS;
    const SanitizerResult result = make(context, &made);
    if (result != SANITIZER_SUCCESS) return result;
    pthread_mutex_lock(&lock);
    const bool kept = CTS_ARRAY_RESERVE(&all, all.count + 1, NULL) == CTS_OK;
    if (kept) all.items[all.count++] = made;
    pthread_mutex_unlock(&lock);
    if (!kept) {
        free(made.owners);
        return SANITIZER_ERROR_OUT_OF_MEMORY;
    }
    *address = made.address;
    return SANITIZER_SUCCESS;
}

uint64_t cts_grids_address(CUcontext context)
{
    pthread_mutex_lock(&lock);
    const struct grids *const grids = find(context);
    const uint64_t address = grids ? grids->address : 0;
    pthread_mutex_unlock(&lock);
    return address;
}

void cts_grids_forget(CUcontext context)
{
    pthread_mutex_lock(&lock);
    struct grids *const grids = find(context);
    if (grids) {
        free(grids->owners);
        *grids = all.items[--all.count];
    }
    pthread_mutex_unlock(&lock);
}

static bool is_alive(Sanitizer_StreamHandle stream)
{
    struct cts_memory_stream streams[STREAMS_MAX];
    const size_t count = cts_memory_streams(streams, STREAMS_MAX);
    for (size_t i = 0; i < count; i++)
        if (streams[i].unique == stream) return true;
    return false;
}

void cts_grids_tell(const Sanitizer_LaunchData *launch, Sanitizer_StreamHandle stream,
                    uint32_t number)
{
    const uint32_t at = launch->gridId % CTS_CUDA_GRIDS;
    const uint64_t id = launch->gridId << CTS_CUDA_NUMBER_BITS;
    uint64_t entry = number == CTS_NONE ? 0 : id | number, address = 0;
    struct owner before = {0};
    pthread_mutex_lock(&lock);
    struct grids *const grids = find(launch->context);
    if (grids) {
        before = grids->owners[at];
        address = grids->address + at * sizeof entry;
        const bool is_own = before.entry >> CTS_CUDA_NUMBER_BITS == id >> CTS_CUDA_NUMBER_BITS;
        if (entry || is_own) /* else the entry is another launch's */
            grids->owners[at] = (struct owner){entry, stream};
        else
            address = 0;
    }
    pthread_mutex_unlock(&lock);
    if (!address || before.entry == entry) return;
    if (before.entry && before.stream != stream && is_alive(before.stream))
        (void)cts_sanitizer.sanitizerStreamSynchronize(before.stream);
    const SanitizerResult result = cts_sanitizer.sanitizerMemcpyHostToDeviceAsync(
        (void *)(uintptr_t)address, &entry, sizeof entry, stream);
    if (result != SANITIZER_SUCCESS)
        cts_memory_say("error", "a launch of '%s' cannot be recorded: %s", launch->functionName,
                       cts_sanitizer_text(result));
}
