/* Opening what is readable of a run, and noticing that its files have changed: names, sizes and
 * times of run.db, its log and the access files, looked at now and then, and the more seldom the
 * longer opening took. */
#include "view/run.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/array.h"
#include "common/clock.h"
#include "common/hash.h"

enum { LOOK_EVERY_NS = 1000000000, REST_FACTOR = 10 };

struct cts_view_run {
    char *path;
    struct cts_view_run_options options;
    pthread_mutex_t lock;
    pthread_mutex_t opening; /* held by the one who looks at the files */
    struct cts_view_snapshot *current;
    uint64_t fingerprint, next_look_ns;
    bool has_trouble;
    struct cts_error trouble;
};

/* ---- times ---- */

/* When a rank's clock showed `ns`, on the clock that all ranks share. */
static uint64_t wall_ns(const struct cts_catalogue *catalogue, uint32_t rank, uint64_t ns)
{
    const struct cts_rank *const row = cts_catalogue_find_rank(catalogue, rank);
    return row && row->unix_start_ns ? ns - row->start_ns + row->unix_start_ns : ns;
}

static uint64_t begin_ns(const struct cts_catalogue *catalogue)
{
    uint64_t begin = UINT64_MAX;
    for (size_t i = 0; i < catalogue->rank_count; i++) {
        const struct cts_rank *const rank = &catalogue->ranks[i];
        const uint64_t start = wall_ns(catalogue, rank->rank, rank->start_ns);
        if (start < begin) begin = start;
    }
    return begin == UINT64_MAX ? 0 : begin;
}

static struct cts_view_times times_of(const struct cts_view_snapshot *snapshot, uint32_t rank,
                                      uint64_t call_ns, uint64_t start_ns, uint64_t end_ns)
{
    const struct cts_catalogue *const catalogue = &snapshot->recording.catalogue;
    const uint64_t begin = snapshot->begin_ns;
    const uint64_t start = wall_ns(catalogue, rank, start_ns ? start_ns : call_ns);
    const uint64_t end = end_ns ? wall_ns(catalogue, rank, end_ns) : start;
    struct cts_view_times times = {.start_ns = start > begin ? start - begin : 0};
    times.end_ns = end > begin ? end - begin : 0;
    if (times.end_ns < times.start_ns) times.end_ns = times.start_ns;
    return times;
}

struct cts_view_times cts_view_launch_times(const struct cts_view_snapshot *snapshot,
                                            const struct cts_launch *launch)
{
    return times_of(snapshot, launch->rank, launch->call_ns, launch->start_ns, launch->end_ns);
}

/* ---- rows of the timeline ---- */

struct sorting {
    struct cts_view_activity activity;
    uint32_t rank, device, stream;
};

static int by_row(const void *a, const void *b)
{
    const struct sorting *const x = a, *const y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    if (x->device != y->device) return x->device < y->device ? -1 : 1;
    if (x->stream != y->stream) return x->stream < y->stream ? -1 : 1;
    if (x->activity.start_ns != y->activity.start_ns)
        return x->activity.start_ns < y->activity.start_ns ? -1 : 1;
    return (x->activity.id > y->activity.id) - (x->activity.id < y->activity.id);
}

static void take_activities(const struct cts_view_snapshot *snapshot, struct sorting *all)
{
    const struct cts_catalogue *const catalogue = &snapshot->recording.catalogue;
    size_t count = 0;
    for (size_t i = 0; i < catalogue->launch_count; i++) {
        const struct cts_launch *const it = &catalogue->launches[i];
        const struct cts_view_times times =
            times_of(snapshot, it->rank, it->call_ns, it->start_ns, it->end_ns);
        all[count++] =
            (struct sorting){{times.start_ns, times.end_ns, it->launch, it->kernel, (uint32_t)i},
                             it->rank,
                             it->device,
                             it->stream};
    }
    for (size_t i = 0; i < catalogue->copy_count; i++) {
        const struct cts_copy *const it = &catalogue->copies[i];
        const struct cts_view_times times =
            times_of(snapshot, it->rank, it->call_ns, it->start_ns, it->end_ns);
        all[count++] =
            (struct sorting){{times.start_ns, times.end_ns, it->copy, CTS_NONE, (uint32_t)i},
                             it->rank,
                             it->device,
                             it->stream};
    }
}

static enum cts_status make_rows(struct cts_view_snapshot *snapshot, struct cts_error *error)
{
    const struct cts_catalogue *const catalogue = &snapshot->recording.catalogue;
    const size_t count = catalogue->launch_count + catalogue->copy_count;
    struct sorting *const all = cts_array_zeroed(count, sizeof *all, error);
    snapshot->activities = cts_array_zeroed(count, sizeof *snapshot->activities, error);
    snapshot->rows = cts_array_zeroed(catalogue->stream_count + 64, sizeof *snapshot->rows, error);
    if (!all || !snapshot->activities || !snapshot->rows) {
        free(all);
        return CTS_MEMORY;
    }
    snapshot->begin_ns = begin_ns(catalogue);
    take_activities(snapshot, all);
    if (count > 1) qsort(all, count, sizeof *all, by_row);
    size_t room = catalogue->stream_count + 64;
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < count && !status; i++) {
        const struct cts_view_activity *const it = &all[i].activity;
        struct cts_view_row *row =
            snapshot->row_count ? &snapshot->rows[snapshot->row_count - 1] : NULL;
        snapshot->activities[i] = *it;
        if (it->end_ns > snapshot->end_ns) snapshot->end_ns = it->end_ns;
        if (!row || row->rank != all[i].rank || row->device != all[i].device ||
            row->stream != all[i].stream) {
            if (snapshot->row_count == room)
                status = cts_array_grow((void **)&snapshot->rows, &room, room + 1,
                                        sizeof *snapshot->rows, error);
            if (status) break;
            row = &snapshot->rows[snapshot->row_count++];
            *row = (struct cts_view_row){
                .rank = all[i].rank, .device = all[i].device, .stream = all[i].stream, .first = i};
        }
        row->count++;
        if (it->end_ns - it->start_ns > row->longest_ns)
            row->longest_ns = it->end_ns - it->start_ns;
    }
    snapshot->activity_count = count;
    free(all);
    return status;
}

/* ---- snapshots ---- */

static enum cts_status count_accesses(struct cts_view_snapshot *snapshot, struct cts_error *error)
{
    const struct cts_catalogue *const catalogue = &snapshot->recording.catalogue;
    snapshot->launches =
        cts_array_zeroed(catalogue->launch_count, sizeof *snapshot->launches, error);
    if (!snapshot->launches) return CTS_MEMORY;
    for (size_t k = 0; k < snapshot->source.chunk_count; k++) {
        const struct cts_acc_chunk *const chunk = &snapshot->source.chunks[k];
        const struct cts_launch *const launch = cts_catalogue_launch(catalogue, chunk->launch);
        if (!launch) continue; /* ahead of the catalogue of a killed program */
        const size_t i = (size_t)(launch - catalogue->launches);
        snapshot->recorded_launch_count += !snapshot->launches[i].record_count;
        snapshot->launches[i].record_count += chunk->record_count;
        snapshot->launches[i].access_count += chunk->access_count;
        snapshot->access_count += chunk->access_count;
    }
    return CTS_OK;
}

static void snapshot_free(struct cts_view_snapshot *snapshot)
{
    if (!snapshot) return;
    cts_selection_close(snapshot->selection);
    if (snapshot->has_access) cts_access_release(&snapshot->access);
    cts_recording_close(&snapshot->recording);
    free(snapshot->launches);
    free(snapshot->activities);
    free(snapshot->rows);
    free(snapshot->communication);
    free(snapshot->findings);
    free(snapshot->flow);
    for (size_t i = 0; i < CTS_VIEW_ANALYSES; i++)
        if (snapshot->analyses[i].is_there) cts_access_release(&snapshot->analyses[i].result);
    pthread_mutex_destroy(&snapshot->analysing);
    pthread_mutex_destroy(&snapshot->looking);
    free(snapshot);
}

static enum cts_status snapshot_open(const struct cts_view_run_options *options,
                                     struct cts_view_snapshot **out, struct cts_error *error)
{
    struct cts_view_snapshot *const snapshot = cts_array_zeroed(1, sizeof *snapshot, error);
    if (!snapshot) return CTS_MEMORY;
    enum cts_status status = cts_recording_open(options->path, &snapshot->recording, error);
    if (status) {
        free(snapshot);
        return status;
    }
    pthread_mutex_init(&snapshot->analysing, NULL);
    pthread_mutex_init(&snapshot->looking, NULL);
    snapshot->source = cts_access_source_of(snapshot->recording.reader);
    const struct cts_selection_options selection = {.memory_bytes = options->memory_bytes,
                                                    .threads = options->threads};
    status = cts_selection_open(&snapshot->recording.catalogue, &snapshot->source, &selection,
                                &snapshot->selection, error);
    if (!status) status = count_accesses(snapshot, error);
    if (!status) status = make_rows(snapshot, error);
    for (size_t i = 0; i < snapshot->recording.catalogue.rank_count; i++)
        snapshot->is_growing |= !snapshot->recording.catalogue.ranks[i].end_ns;
    if (status)
        snapshot_free(snapshot);
    else
        *out = snapshot;
    return status;
}

/* ---- the files ---- */

static uint64_t mix_file(uint64_t hash, const char *folder, const char *name)
{
    char *path = NULL;
    struct stat stat_of = {0};
    if (asprintf(&path, "%s/%s", folder, name) < 0) return hash;
    if (stat(path, &stat_of) == 0) {
        hash = cts_hash_fold(hash, (uint64_t)stat_of.st_size);
        hash = cts_hash_fold(hash, (uint64_t)stat_of.st_ino);
        hash = cts_hash_fold(hash, (uint64_t)stat_of.st_mtim.tv_sec * 1000000000 +
                                       (uint64_t)stat_of.st_mtim.tv_nsec);
    }
    free(path);
    return hash;
}

/* Sums, since directories are not listed in order. */
static uint64_t fingerprint_of_rank(const char *run_path, const char *rank)
{
    char *path = NULL;
    uint64_t sum = 0;
    if (asprintf(&path, "%s/%s", run_path, rank) < 0) return 0;
    DIR *const directory = opendir(path);
    for (const struct dirent *entry; directory && (entry = readdir(directory));)
        if (strstr(entry->d_name, ".acc")) sum += mix_file(1, path, entry->d_name);
    if (directory) closedir(directory);
    free(path);
    return sum;
}

static uint64_t fingerprint_of(const char *run_path)
{
    uint64_t sum = mix_file(2, run_path, "run.db") + mix_file(3, run_path, "run.db-wal");
    DIR *const directory = opendir(run_path);
    for (const struct dirent *entry; directory && (entry = readdir(directory));)
        if (!strncmp(entry->d_name, "rank-", 5))
            sum += fingerprint_of_rank(run_path, entry->d_name);
    if (directory) closedir(directory);
    return sum;
}

/* Opens the run anew if its files have changed; one thread at a time, others go on with the old. */
static void look(struct cts_view_run *run)
{
    if (pthread_mutex_trylock(&run->opening) != 0) return;
    const uint64_t begin = cts_clock_ns();
    if (begin >= run->next_look_ns) {
        const uint64_t fingerprint = fingerprint_of(run->path);
        if (fingerprint != run->fingerprint) {
            struct cts_view_snapshot *snapshot = NULL, *old = NULL;
            struct cts_error error = {0};
            const enum cts_status status = snapshot_open(&run->options, &snapshot, &error);
            pthread_mutex_lock(&run->lock);
            run->has_trouble = status != CTS_OK;
            run->trouble = error;
            if (!status) {
                snapshot->serial = run->current->serial + 1;
                old = run->current->users ? NULL : run->current;
                run->current = snapshot;
            }
            pthread_mutex_unlock(&run->lock);
            snapshot_free(old);
            run->fingerprint = fingerprint;
        }
        const uint64_t end = cts_clock_ns(), rest = REST_FACTOR * (end - begin);
        run->next_look_ns = end + (rest > LOOK_EVERY_NS ? rest : LOOK_EVERY_NS);
    }
    pthread_mutex_unlock(&run->opening);
}

/* ---- the run ---- */

static enum cts_status refuse_archive(const char *path, struct cts_error *error)
{
    const size_t length = strlen(path);
    if (length < 5 || strcmp(path + length - 5, ".otf2") != 0) return CTS_OK;
    return cts_fail(error, CTS_FORMAT,
                    "'%s' is an OTF2 archive, which holds no accesses; by itself, 'ctascope view' "
                    "and 'ctascope report' show its timeline",
                    path);
}

enum cts_status cts_view_run_open(const struct cts_view_run_options *options,
                                  struct cts_view_run **out, struct cts_error *error)
{
    if (refuse_archive(options->path, error)) return CTS_FORMAT;
    struct cts_view_run *const run = cts_array_zeroed(1, sizeof *run, error);
    if (!run) return CTS_MEMORY;
    run->path = strdup(options->path);
    run->options = *options;
    run->options.path = run->path;
    pthread_mutex_init(&run->lock, NULL);
    pthread_mutex_init(&run->opening, NULL);
    if (run->path) run->fingerprint = fingerprint_of(run->path);
    const enum cts_status status = run->path ? snapshot_open(&run->options, &run->current, error)
                                             : cts_fail(error, CTS_MEMORY, "no memory for a path");
    run->next_look_ns = cts_clock_ns() + LOOK_EVERY_NS;
    if (status)
        cts_view_run_close(run);
    else
        *out = run;
    return status;
}

void cts_view_run_close(struct cts_view_run *run)
{
    if (!run) return;
    snapshot_free(run->current);
    pthread_mutex_destroy(&run->lock);
    pthread_mutex_destroy(&run->opening);
    free(run->path);
    free(run);
}

const char *cts_view_run_path(const struct cts_view_run *run)
{
    return run->path;
}

struct cts_view_snapshot *cts_view_run_enter(struct cts_view_run *run)
{
    look(run);
    pthread_mutex_lock(&run->lock);
    struct cts_view_snapshot *const snapshot = run->current;
    snapshot->users++;
    pthread_mutex_unlock(&run->lock);
    return snapshot;
}

void cts_view_run_leave(struct cts_view_run *run, struct cts_view_snapshot *snapshot)
{
    pthread_mutex_lock(&run->lock);
    const bool is_over = --snapshot->users == 0 && snapshot != run->current;
    pthread_mutex_unlock(&run->lock);
    if (is_over) snapshot_free(snapshot);
}

bool cts_view_run_trouble(struct cts_view_run *run, struct cts_error *error)
{
    pthread_mutex_lock(&run->lock);
    const bool has_trouble = run->has_trouble;
    *error = run->trouble;
    pthread_mutex_unlock(&run->lock);
    return has_trouble;
}
