#include "cli/run-summary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/read-file.h"
#include "trace/acc.h"

/* Sizes of the files below a directory; what has gone meanwhile, or is a link, counts as nothing.
 */
static enum cts_status add_sizes(int parent, const char *name, int depth,
                                 struct cts_run_summary *summary, struct cts_error *error)
{
    const int directory = cts_open_file_at(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    DIR *const stream = directory >= 0 ? fdopendir(directory) : NULL;
    if (!stream) {
        const int problem = errno;
        if (directory >= 0) close(directory);
        if (problem == ENOENT || problem == ELOOP || problem == ENOTDIR) return CTS_OK;
        return cts_fail_errno(error, problem, "cannot read directory '%s'", name);
    }
    enum cts_status status = CTS_OK;
    struct dirent *entry;
    while (!status && (entry = readdir(stream))) {
        struct stat info;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (fstatat(directory, entry->d_name, &info, AT_SYMLINK_NOFOLLOW)) continue;
        if (S_ISDIR(info.st_mode) && depth < 4)
            status = add_sizes(directory, entry->d_name, depth + 1, summary, error);
        if (!S_ISREG(info.st_mode)) continue;
        const size_t length = strlen(entry->d_name);
        summary->disk_bytes += (uint64_t)info.st_size;
        if (length > 4 && strcmp(entry->d_name + length - 4, ".acc") == 0)
            summary->access_bytes += (uint64_t)info.st_size;
    }
    closedir(stream);
    return status;
}

static void add_launch(struct cts_run_summary *summary, struct cts_kernel_summary *kernel,
                       const struct cts_launch *launch, bool instrumented)
{
    const bool recorded = strcmp(launch->recorded, "none") != 0;
    if (kernel->launches == 0) {
        memcpy(kernel->grid, launch->grid, sizeof kernel->grid);
        memcpy(kernel->block, launch->block, sizeof kernel->block);
    } else if (memcmp(kernel->grid, launch->grid, sizeof kernel->grid) ||
               memcmp(kernel->block, launch->block, sizeof kernel->block)) {
        kernel->several_shapes = true;
    }
    kernel->launches++;
    kernel->recorded_launches += recorded;
    kernel->records += launch->records;
    kernel->accesses += launch->accesses;
    kernel->dropped_accesses += launch->dropped_accesses;
    if (launch->end_ns > launch->start_ns && launch->start_ns)
        kernel->time_ns += launch->end_ns - launch->start_ns;
    summary->launches++;
    summary->recorded_launches += recorded;
    summary->sampled_launches += strcmp(launch->recorded, "sample") == 0;
    summary->unfinished_launches += launch->end_ns == 0;
    summary->uninstrumented_launches += !instrumented;
    summary->records += launch->records;
    summary->accesses += launch->accesses;
    summary->dropped_accesses += launch->dropped_accesses;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_kernel(const struct cts_catalogue *catalogue, uint32_t a, uint32_t b)
{
    const struct cts_kernel *const x = &catalogue->kernels[a], *const y = &catalogue->kernels[b];
    const char *const x_path = x->source == CTS_NONE ? NULL : catalogue->sources[x->source].path;
    const char *const y_path = y->source == CTS_NONE ? NULL : catalogue->sources[y->source].path;
    return x->line == y->line && x->instrumented == y->instrumented &&
           same_text(x->mangled, y->mangled) && same_text(x->name, y->name) &&
           same_text(x_path, y_path);
}

/* The place of a kernel's summary: of the same kernel of another rank, or a new one. */
static size_t find_summary(const struct cts_catalogue *catalogue, struct cts_run_summary *summary,
                           uint32_t kernel)
{
    for (size_t i = 0; i < summary->kernel_count; i++)
        if (same_kernel(catalogue, summary->kernels[i].kernel, kernel)) return i;
    summary->kernels[summary->kernel_count].kernel = kernel;
    return summary->kernel_count++;
}

static enum cts_status add_launches(const struct cts_catalogue *catalogue,
                                    struct cts_run_summary *summary, struct cts_error *error)
{
    size_t *const place = calloc(catalogue->kernel_count + 1, sizeof *place); /* + 1; 0: none yet */
    summary->kernels = calloc(catalogue->kernel_count + 1, sizeof *summary->kernels);
    if (!place || !summary->kernels) {
        free(place);
        return cts_fail(error, CTS_MEMORY, "no memory for a summary");
    }
    for (size_t i = 0; i < catalogue->launch_count; i++) {
        const struct cts_launch *const launch = &catalogue->launches[i];
        if (!place[launch->kernel])
            place[launch->kernel] = find_summary(catalogue, summary, launch->kernel) + 1;
        add_launch(summary, &summary->kernels[place[launch->kernel] - 1], launch,
                   catalogue->kernels[launch->kernel].instrumented);
    }
    free(place);
    return CTS_OK;
}

/* A rank's own totals are there when it ended in an orderly way, and count what launches do not. */
static void add_ranks(const struct cts_catalogue *catalogue, struct cts_run_summary *summary)
{
    uint64_t records = 0, accesses = 0, dropped = 0, first_ns = UINT64_MAX, last_ns = 0;
    for (size_t i = 0; i < catalogue->rank_count; i++) {
        const struct cts_rank *const rank = &catalogue->ranks[i];
        records += rank->records;
        accesses += rank->accesses;
        dropped += rank->dropped_accesses;
        summary->dropped_records += rank->dropped_records;
        summary->unfinished_ranks += rank->end_ns == 0;
        summary->cut_off_ranks +=
            rank->end_ns == 0 && !cts_catalogue_own_end(catalogue, rank->rank);
        if (rank->start_ns < first_ns) first_ns = rank->start_ns;
        if (rank->end_ns > last_ns) last_ns = rank->end_ns;
        if (!summary->failure) summary->failure = rank->failure;
    }
    if (records > summary->records) summary->records = records;
    if (accesses > summary->accesses) summary->accesses = accesses;
    if (dropped > summary->dropped_accesses) summary->dropped_accesses = dropped;
    if (last_ns > first_ns) summary->duration_ns = last_ns - first_ns;
}

/* The rows of a program that ended early, or is still running, do not count all records of its
 * access files. */
static enum cts_status count_records(const char *run_path, struct cts_run_summary *summary,
                                     struct cts_error *error)
{
    struct cts_acc_reader *reader;
    const enum cts_status status = cts_acc_open(run_path, &reader, error);
    if (status == CTS_MEMORY || status == CTS_IO) return status;
    if (status) return CTS_OK; /* who reads accesses says what is wrong */
    size_t chunk_count;
    const struct cts_acc_chunk *const chunks = cts_acc_chunks(reader, &chunk_count);
    uint64_t records = 0, accesses = 0;
    for (size_t i = 0; i < chunk_count; i++) {
        records += chunks[i].record_count;
        accesses += chunks[i].access_count;
    }
    if (records > summary->records) summary->records = records;
    if (accesses > summary->accesses) summary->accesses = accesses;
    cts_acc_close(reader);
    return CTS_OK;
}

struct size_event {
    uint32_t rank;
    uint64_t op;
    uint64_t add_bytes, sub_bytes;
};

static int compare_events(const void *a, const void *b)
{
    const struct size_event *const x = a, *const y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return (x->op > y->op) - (x->op < y->op);
}

/* The most that was allocated at a time, the sum over ranks of each one's most. */
static enum cts_status add_allocations(const struct cts_catalogue *catalogue,
                                       struct cts_run_summary *summary, struct cts_error *error)
{
    const size_t count = catalogue->allocation_count;
    struct size_event *const events = calloc(2 * count + 1, sizeof *events);
    if (!events) return cts_fail(error, CTS_MEMORY, "no memory for a summary");
    size_t event_count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct cts_allocation *const a = &catalogue->allocations[i];
        summary->allocations++;
        summary->allocated_bytes += a->size_bytes;
        events[event_count++] = (struct size_event){a->rank, a->op, a->size_bytes, 0};
        if (a->freed_op != UINT64_MAX)
            events[event_count++] = (struct size_event){a->rank, a->freed_op, 0, a->size_bytes};
    }
    qsort(events, event_count, sizeof *events, compare_events);
    uint64_t held = 0, peak = 0;
    for (size_t i = 0; i < event_count; i++) {
        if (i && events[i].rank != events[i - 1].rank) {
            summary->peak_bytes += peak;
            held = peak = 0;
        }
        held += events[i].add_bytes - events[i].sub_bytes;
        if (held > peak) peak = held;
    }
    summary->peak_bytes += peak;
    free(events);
    return CTS_OK;
}

enum cts_status cts_run_summarise(const char *run_path, const struct cts_catalogue *catalogue,
                                  struct cts_run_summary *summary, struct cts_error *error)
{
    *summary = (struct cts_run_summary){0};
    enum cts_status status = add_launches(catalogue, summary, error);
    if (!status) status = add_allocations(catalogue, summary, error);
    add_ranks(catalogue, summary);
    for (size_t i = 0; i < catalogue->copy_count; i++) {
        const struct cts_copy *const copy = &catalogue->copies[i];
        summary->copies++;
        summary->copied_bytes += copy->width_bytes * copy->height * copy->depth;
    }
    for (size_t i = 0; i < catalogue->skipped_count; i++)
        summary->skipped += catalogue->skipped[i].count ? catalogue->skipped[i].count : 1;
    if (!status) status = add_sizes(AT_FDCWD, run_path, 0, summary, error);
    if (!status && summary->unfinished_ranks) status = count_records(run_path, summary, error);
    if (status) cts_run_summary_release(summary);
    return status;
}

bool cts_run_lacks_values(const struct cts_catalogue *catalogue)
{
    bool on_gpu = false;
    for (size_t i = 0; i < catalogue->rank_count; i++)
        on_gpu |= catalogue->ranks[i].recorder && !strcmp(catalogue->ranks[i].recorder, "inject");
    return on_gpu && !cts_catalogue_get(catalogue, "values");
}

void cts_run_summary_release(struct cts_run_summary *summary)
{
    free(summary->kernels);
    *summary = (struct cts_run_summary){0};
}
