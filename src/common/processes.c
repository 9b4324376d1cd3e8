/* Finding the other processes.
 *
 * A launcher leaves its mark in the environment of what it starts. Open MPI's sets OMPI_COMM_WORLD_
 * variables; MPICH's (and other launchers that speak PMI) PMI_RANK and PMI_SIZE; PMIx alone, as
 * under srun, PMIX_RANK, which both understand. The mark says which bridge to load. The bridges
 * hold all that needs MPI and are loaded with their own MPI behind them, so that one ctascope runs
 * under either and without any. */
#include "common/processes.h"
#include "common/promise.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory-limit.h"

/* What a bridge exports. */
typedef enum cts_status (*open_function)(struct cts_processes *processes, struct cts_error *error);
#define OPEN_FUNCTION "cts_processes_bridge_open"

static bool is_set(const char *name)
{
    const char *const value = getenv(name);
    return value && *value;
}

/* The bridges to try, in order, ended by NULL; none when nobody started several processes. */
static const char *const *bridges_at_hand(void)
{
    static const char *const none[] = {NULL};
    static const char *const openmpi[] = {"openmpi", NULL};
    static const char *const mpich[] = {"mpich", NULL};
    static const char *const either[] = {"openmpi", "mpich", NULL};
    if (is_set("OMPI_COMM_WORLD_SIZE")) return openmpi;
    if (is_set("PMI_SIZE") || is_set("PMI_FD") || is_set("PMI_PORT")) return mpich;
    return is_set("PMIX_RANK") ? either : none;
}

static void *load(const char *library_directory, const char *name, struct cts_error *error)
{
    char path[PATH_MAX];
    const int length =
        snprintf(path, sizeof path, "%s/libctascope_processes_%s.so", library_directory, name);
    if (length < 0 || (size_t)length >= sizeof path) {
        cts_fail(error, CTS_UNSUPPORTED, "the path '%s' is too long", library_directory);
        return NULL;
    }
    /* The MPI behind it looks for its own parts by name: they must find its symbols. */
    void *const library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!library)
        cts_fail(error, CTS_UNSUPPORTED,
                 "started by mpirun, but there is no bridge to its MPI (%s): %s", name, dlerror());
    return library;
}

enum cts_status cts_processes_open(const char *library_directory, struct cts_processes *processes,
                                   struct cts_error *error)
{
    *processes = (struct cts_processes){.count = 1};
    const char *const *names = bridges_at_hand();
    if (!*names) return CTS_OK;
    void *library = NULL;
    for (; *names && !library; names++) library = load(library_directory, *names, error);
    if (!library) return CTS_UNSUPPORTED;
    open_function open;
    *(void **)(void *)&open = dlsym(library, OPEN_FUNCTION);
    if (!open)
        return cts_fail(error, CTS_UNSUPPORTED, "the bridge to MPI has no '%s'", OPEN_FUNCTION);
    const enum cts_status status = open(processes, error);
    if (!status && processes->operations->version != CTS_PROCESSES_VERSION)
        return cts_fail(error, CTS_UNSUPPORTED, "the bridge to MPI has version %u, not %d",
                        processes->operations->version, CTS_PROCESSES_VERSION);
    return status;
}

void cts_processes_close(struct cts_processes *processes)
{
    if (processes->operations) processes->operations->close(processes->state);
    *processes = (struct cts_processes){.count = 1};
}

static bool is_alone(const struct cts_processes *processes)
{
    return !processes || !processes->operations;
}

static unsigned count_of(const struct cts_processes *processes)
{
    return is_alone(processes) ? 1 : processes->count;
}

void cts_processes_barrier(const struct cts_processes *processes)
{
    if (!is_alone(processes)) processes->operations->barrier(processes->state);
}

/* MPI gives buffers to the kernel, or to another process. */
static unsigned hold(const void *bytes, size_t byte_count)
{
    return byte_count && cts_memory_hold(bytes, byte_count);
}

static void let_go(unsigned count)
{
    while (count--) cts_memory_let_go();
}

void cts_processes_reduce_u64(const struct cts_processes *processes, uint64_t *values, size_t count,
                              enum cts_reduction reduction)
{
    if (is_alone(processes) || !count) return;
    const unsigned held = hold(values, count * sizeof *values);
    processes->operations->reduce_u64(processes->state, values, count, reduction);
    let_go(held);
}

void cts_processes_broadcast(const struct cts_processes *processes, void *data, size_t size,
                             unsigned root)
{
    assert(root < count_of(processes));
    if (is_alone(processes) || !size) return;
    const unsigned held = hold(data, size);
    processes->operations->broadcast(processes->state, data, size, root);
    let_go(held);
}

/* Room for blocks of these sizes, one after the other; offsets[i] is where the i-th begins. The
 * processes learn together whether all of them have it. */
static enum cts_status make_room(const struct cts_processes *processes, const size_t *sizes,
                                 void **all, size_t **offsets, struct cts_error *error)
{
    assert(sizes && all && offsets);
    const unsigned count = count_of(processes);
    enum cts_status status = CTS_OK;
    *all = NULL;
    *offsets = malloc((count + 1) * sizeof **offsets);
    size_t total = 0;
    for (unsigned i = 0; *offsets && i < count; i++) {
        (*offsets)[i] = total;
        if (__builtin_add_overflow(total, sizes[i], &total)) total = SIZE_MAX;
    }
    if (*offsets) {
        (*offsets)[count] = total;
        *all = malloc(total ? total : 1);
    }
    if (!*all)
        status =
            cts_fail(error, CTS_MEMORY, "no memory for %zu bytes from %u processes", total, count);
    if (cts_processes_agree(processes, &status, error)) return CTS_OK;
    free(*all);
    free(*offsets);
    *all = NULL;
    *offsets = NULL;
    return status;
}

enum cts_status cts_processes_all_gather(const struct cts_processes *processes,
                                         struct cts_sent_block block, void **all, size_t **offsets,
                                         struct cts_error *error)
{
    const unsigned count = count_of(processes);
    uint64_t *const words = calloc(count, sizeof *words);
    size_t *const sizes = calloc(count, sizeof *sizes);
    enum cts_status status = CTS_OK;
    if (!words || !sizes) status = cts_fail(error, CTS_MEMORY, "no memory for %u sizes", count);
    if (cts_processes_agree(processes, &status, error)) {
        words[is_alone(processes) ? 0 : processes->rank] = block.size_bytes;
        cts_processes_reduce_u64(processes, words, count, CTS_REDUCE_SUM);
        for (unsigned i = 0; i < count; i++) sizes[i] = (size_t)words[i];
        status = make_room(processes, sizes, all, offsets, error);
        if (!status && !is_alone(processes)) {
            const unsigned held =
                hold(block.bytes, block.size_bytes) + hold(*all, (*offsets)[count]);
            processes->operations->all_gather(processes->state, block.bytes, *all, sizes);
            let_go(held);
        } else if (!status && block.size_bytes) {
            memcpy(*all, block.bytes, block.size_bytes);
        }
    }
    free(words);
    free(sizes);
    return status;
}

/* table[sender * count + receiver] = bytes */
static void share_sizes(const struct cts_processes *processes, const size_t *send_sizes,
                        uint64_t *table, size_t *receive_sizes)
{
    const unsigned count = count_of(processes);
    const unsigned rank = is_alone(processes) ? 0 : processes->rank;
    for (unsigned i = 0; i < count; i++) table[(size_t)rank * count + i] = send_sizes[i];
    cts_processes_reduce_u64(processes, table, (size_t)count * count, CTS_REDUCE_SUM);
    for (unsigned i = 0; i < count; i++) receive_sizes[i] = (size_t)table[(size_t)i * count + rank];
}

enum cts_status cts_processes_all_to_all(const struct cts_processes *processes,
                                         struct cts_sent_blocks blocks, void **received,
                                         size_t **offsets, struct cts_error *error)
{
    const unsigned count = count_of(processes);
    uint64_t *const table = calloc((size_t)count * count, sizeof *table);
    size_t *const receive_sizes = calloc(count, sizeof *receive_sizes);
    enum cts_status status = CTS_OK;
    if (!table || !receive_sizes)
        status = cts_fail(error, CTS_MEMORY, "no memory for the sizes of %u processes", count);
    if (cts_processes_agree(processes, &status, error)) {
        share_sizes(processes, blocks.sizes, table, receive_sizes);
        status = make_room(processes, receive_sizes, received, offsets, error);
        if (!status && !is_alone(processes)) {
            size_t sent_bytes = 0;
            for (unsigned i = 0; i < count; i++) sent_bytes += blocks.sizes[i];
            const unsigned held =
                hold(blocks.bytes, sent_bytes) + hold(*received, (*offsets)[count]);
            processes->operations->all_to_all(processes->state, blocks.bytes, blocks.sizes,
                                              *received, receive_sizes);
            let_go(held);
        } else if (!status && blocks.sizes[0]) {
            memcpy(*received, blocks.bytes, blocks.sizes[0]);
        }
    }
    free(table);
    free(receive_sizes);
    return status;
}

bool cts_processes_agree(const struct cts_processes *processes, enum cts_status *status,
                         struct cts_error *error)
{
    if (is_alone(processes)) return !*status;
    uint64_t first = *status ? processes->rank : processes->count; /* that failed */
    cts_processes_reduce_u64(processes, &first, 1, CTS_REDUCE_MIN);
    if (first == processes->count) return true;
    struct cts_error theirs = {0};
    if (first == processes->rank && error) theirs = *error;
    if (first == processes->rank) theirs.status = *status;
    cts_processes_broadcast(processes, &theirs, sizeof theirs, (unsigned)first);
    if (!*status)
        *status = cts_fail(error, theirs.status, "process %u: %s", (unsigned)first, theirs.text);
    return false;
}
