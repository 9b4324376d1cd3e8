#include "trace/recording.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/parallel.h"
#include "trace/failures-keep.h"
#include "trace/seal.h"

/* ---- launches ---- */

/* Whether access files may know launches that the catalogue does not: it is written a moment later
 * than they are, and the program may have ended early, still run, or have failed to write all. */
static bool may_be_behind(const struct cts_catalogue *catalogue)
{
    for (size_t i = 0; i < catalogue->rank_count; i++)
        if (!catalogue->ranks[i].end_ns || catalogue->ranks[i].failure) return true;
    return false;
}

/* What the launches' rows count and their chunks do not hold. */
static enum cts_status compare_launches(struct cts_recording *recording, struct cts_error *error)
{
    struct cts_catalogue *const catalogue = &recording->catalogue;
    struct cts_gaps *const gaps = &catalogue->gaps;
    struct {
        uint64_t records, accesses;
    } *const found = cts_array_zeroed(catalogue->launch_count, sizeof *found, error);
    if (!found) return CTS_MEMORY;
    size_t chunk_count;
    const struct cts_acc_chunk *const chunks = cts_acc_chunks(recording->reader, &chunk_count);
    for (size_t i = 0; i < chunk_count; i++) {
        const struct cts_launch *const launch = cts_catalogue_launch(catalogue, chunks[i].launch);
        if (!launch) continue;
        found[launch - catalogue->launches].records += chunks[i].record_count;
        found[launch - catalogue->launches].accesses += chunks[i].access_count;
    }
    gaps->launches = gaps->records = gaps->accesses = 0;
    for (size_t i = 0; i < catalogue->launch_count; i++) {
        struct cts_launch *const launch = &catalogue->launches[i];
        launch->missing_records =
            launch->records > found[i].records ? launch->records - found[i].records : 0;
        launch->missing_accesses =
            launch->accesses > found[i].accesses ? launch->accesses - found[i].accesses : 0;
        gaps->records += launch->missing_records;
        gaps->accesses += launch->missing_accesses;
        gaps->launches += launch->missing_records || launch->missing_accesses;
    }
    free(found);
    return CTS_OK;
}

/* ---- chunks that do not belong to it ---- */

struct strangers {
    struct cts_recording *recording;
    uint32_t file, launch; /* named last */
};

static const char *below(const struct cts_recording *recording, const char *path)
{
    const size_t length = strlen(recording->path);
    return strncmp(path, recording->path, length) == 0 ? path + length + 1 : path;
}

static bool is_of_other_recording(void *state, const struct cts_acc_chunk *chunk)
{
    struct strangers *const strangers = state;
    struct cts_recording *const recording = strangers->recording;
    const char *const path = below(recording, cts_acc_file_path(recording->reader, chunk->file));
    if (!cts_seal_leaves_out(&recording->catalogue, path)) return false;
    if (strangers->file != chunk->file)
        cts_gaps_add(&recording->catalogue.gaps,
                     "'%s' did not exist when the recording ended: it is ignored", path);
    strangers->file = chunk->file;
    return true;
}

static bool is_of_no_launch(void *state, const struct cts_acc_chunk *chunk)
{
    struct strangers *const strangers = state;
    struct cts_recording *const recording = strangers->recording;
    if (cts_catalogue_launch(&recording->catalogue, chunk->launch)) return false;
    if (strangers->launch != chunk->launch)
        cts_gaps_add(&recording->catalogue.gaps,
                     "'%s' has records of launch %u, which the catalogue does not contain",
                     below(recording, cts_acc_file_path(recording->reader, chunk->file)),
                     chunk->launch);
    strangers->launch = chunk->launch;
    return true;
}

static void leave_out_strangers(struct cts_recording *recording)
{
    struct strangers strangers = {.recording = recording, .file = CTS_NONE, .launch = CTS_NONE};
    cts_acc_leave_out(recording->reader, is_of_other_recording, &strangers);
    if (!may_be_behind(&recording->catalogue))
        cts_acc_leave_out(recording->reader, is_of_no_launch, &strangers);
}

/* ---- ranks ---- */

static bool has_file(const struct cts_recording *recording, const char *path)
{
    const size_t count = cts_acc_file_count(recording->reader);
    for (size_t i = 0; i < count; i++)
        if (!strcmp(below(recording, cts_acc_file_path(recording->reader, (uint32_t)i)), path))
            return true;
    return false;
}

/* A run without a seal says which files its processes wrote, or, of an earlier version, only that
 * they wrote records. */
static void name_missing_files(struct cts_recording *recording)
{
    struct cts_catalogue *const catalogue = &recording->catalogue;
    if (cts_seal_is_there(catalogue)) return;
    for (size_t i = 0; i < catalogue->access_file_count; i++) {
        const struct cts_access_file_row *const row = &catalogue->access_files[i];
        char path[40];
        snprintf(path, sizeof path, "rank-%u/%u.acc", row->rank, row->file);
        if (row->records && !has_file(recording, path))
            cts_gaps_add(&catalogue->gaps,
                         "'%s' is missing: %" PRIu64 " records, %" PRIu64 " accesses", path,
                         row->records, row->accesses);
    }
    for (size_t i = 0; i < catalogue->rank_count; i++) {
        char folder[32];
        const uint32_t rank = catalogue->ranks[i].rank;
        const size_t count = cts_acc_file_count(recording->reader);
        const size_t length = (size_t)snprintf(folder, sizeof folder, "rank-%u/", rank);
        bool found = false;
        for (size_t k = 0; k < count && !found; k++)
            found = !strncmp(below(recording, cts_acc_file_path(recording->reader, (uint32_t)k)),
                             folder, length);
        if (!found && catalogue->ranks[i].records)
            cts_gaps_add(&catalogue->gaps, "the access files of rank %u are missing", rank);
    }
}

/* A process that ended by itself: what is missing then was asked for too late, or its recorder
 * could not write it. */
static void name_lost_rows(const struct cts_ending *ending, struct cts_gaps *gaps)
{
    const uint64_t asked = ending->launches_asked, complete = ending->launches_complete;
    const uint64_t open = asked > complete ? asked - complete : 0;
    if (ending->rows_lost)
        cts_gaps_add(gaps,
                     "rank %u could not write %" PRIu64 " rows of its catalogue; %" PRIu64
                     " of %" PRIu64 " launches may be missing",
                     ending->rank, ending->rows_lost, open, asked);
    else
        cts_gaps_add(gaps,
                     "rank %u ended before its launches did: %" PRIu64 " of %" PRIu64
                     " may be missing",
                     ending->rank, open, asked);
}

/* Names ranks whose work cannot be counted: a process that ended early may have done more than its
 * rows and files show, and a process that never began to record left nothing. */
static void name_unfinished_ranks(struct cts_recording *recording)
{
    struct cts_catalogue *const catalogue = &recording->catalogue;
    if (!catalogue->rank_count) cts_gaps_add(&catalogue->gaps, "no process recorded into it");
    for (size_t i = 0; i < catalogue->rank_count; i++) {
        const uint32_t rank = catalogue->ranks[i].rank;
        const struct cts_ending *const ending = cts_catalogue_own_end(catalogue, rank);
        if (catalogue->ranks[i].end_ns) continue;
        if (ending && (ending->rows_lost || ending->launches_asked > ending->launches_complete))
            name_lost_rows(ending, &catalogue->gaps);
        else
            cts_gaps_add(&catalogue->gaps,
                         "rank %u did not exit normally: its last launches may be missing", rank);
    }
}

/* ---- opening ---- */

static void note_damage(void *state, const struct cts_error *error)
{
    struct cts_recording *const recording = state;
    cts_gaps_add(&recording->catalogue.gaps, "%s", error->text);
}

static enum cts_status open_accesses(struct cts_recording *recording, struct cts_error *error)
{
    struct cts_catalogue *const catalogue = &recording->catalogue;
    enum cts_status status =
        cts_acc_open_readable(recording->path, &recording->reader, note_damage, recording, error);
    if (status) return status;
    cts_acc_chunks(recording->reader, &recording->found_chunks);
    cts_seal_check_files(recording->path, catalogue, CTS_SEAL_ACCESSES, &catalogue->gaps);
    cts_seal_check_files(recording->path, catalogue, CTS_SEAL_TIMELINE_NAMES,
                         &recording->timeline_gaps);
    leave_out_strangers(recording);
    status = compare_launches(recording, error);
    if (status) return status;
    name_missing_files(recording);
    cts_failures_list(recording->path, CTS_FAILURE_MEMORY, CTS_FAILURE_NO_MEMORY, &catalogue->gaps);
    cts_failures_list(recording->path, CTS_FAILURE_TIMELINE, CTS_FAILURE_NO_TIMELINE,
                      &recording->timeline_gaps);
    cts_failures_recall(catalogue, &recording->timeline_gaps);
    name_unfinished_ranks(recording);
    return CTS_OK;
}

enum cts_status cts_recording_open(const char *path, struct cts_recording *recording,
                                   struct cts_error *error)
{
    *recording = (struct cts_recording){.path = strdup(path)};
    if (!recording->path) return cts_fail(error, CTS_MEMORY, "no memory to read '%s'", path);
    enum cts_status status = cts_catalogue_read(path, &recording->catalogue, error);
    if (!status) {
        status = open_accesses(recording, error);
        if (status) cts_catalogue_release(&recording->catalogue);
    }
    if (!status) return CTS_OK;
    cts_acc_close(recording->reader);
    cts_gaps_release(&recording->timeline_gaps);
    free(recording->path);
    *recording = (struct cts_recording){0};
    return status;
}

void cts_recording_close(struct cts_recording *recording)
{
    if (!recording->path) return;
    cts_acc_close(recording->reader);
    cts_catalogue_release(&recording->catalogue);
    cts_gaps_release(&recording->timeline_gaps);
    free(recording->path);
    *recording = (struct cts_recording){0};
}

/* Whether the run is one of time alone: its recorders write no accesses. */
static bool is_of_time_alone(const struct cts_catalogue *catalogue)
{
    for (size_t i = 0; i < catalogue->rank_count; i++) {
        const char *const recorder = catalogue->ranks[i].recorder;
        if (!recorder || strcmp(recorder, "timeline") != 0) return false;
    }
    return catalogue->rank_count && !catalogue->launch_count;
}

bool cts_recording_has_accesses(const struct cts_recording *recording)
{
    const struct cts_catalogue *const catalogue = &recording->catalogue;
    bool any = recording->found_chunks != 0;
    for (size_t i = 0; i < catalogue->launch_count; i++)
        any |= catalogue->launches[i].accesses || catalogue->launches[i].dropped_accesses;
    for (size_t i = 0; i < catalogue->rank_count; i++)
        any |= catalogue->ranks[i].accesses || catalogue->ranks[i].dropped_accesses;
    return any;
}

enum cts_status cts_recording_need_accesses(const struct cts_recording *recording,
                                            struct cts_error *error)
{
    const struct cts_gaps *const gaps = &recording->catalogue.gaps;
    size_t chunk_count;
    cts_acc_chunks(recording->reader, &chunk_count);
    if (!chunk_count && is_of_time_alone(&recording->catalogue))
        return cts_fail(error, CTS_FORMAT,
                        "run '%s' holds no memory accesses: record it without --timeline",
                        recording->path);
    if (chunk_count || !gaps->count) return CTS_OK;
    if (!gaps->accesses && !recording->found_chunks) return CTS_OK;
    if (!gaps->accesses)
        return cts_fail(error, CTS_FORMAT, "nothing is left of the accesses recorded in '%s': %s",
                        recording->path,
                        gaps->named_count ? gaps->texts[0] : "their launches are missing");
    return cts_fail(error, CTS_FORMAT,
                    "nothing is left of the %" PRIu64 " accesses recorded in '%s': %s",
                    gaps->accesses, recording->path,
                    gaps->named_count ? gaps->texts[0] : "its access files are missing");
}

/* ---- damage ---- */

struct damage_search {
    struct cts_recording *recording;
    const struct cts_acc_chunk *chunks;
    size_t chunk_count;
    bool *is_damaged;              /* per chunk */
    struct cts_acc_batch *batches; /* per thread */
    pthread_mutex_t naming;
};

static enum cts_status search_damage(void *state, unsigned thread, size_t i,
                                     struct cts_error *error)
{
    struct damage_search *const search = state;
    (void)error; /* damage is no failure */
    struct cts_error damage;
    const enum cts_status status = cts_acc_read(search->recording->reader, &search->chunks[i],
                                                &search->batches[thread], &damage);
    if (!status || status == CTS_MEMORY) return CTS_OK;
    search->is_damaged[i] = true;
    pthread_mutex_lock(&search->naming);
    note_damage(search->recording, &damage);
    pthread_mutex_unlock(&search->naming);
    return CTS_OK;
}

static bool is_marked(void *state, const struct cts_acc_chunk *chunk)
{
    const struct damage_search *const search = state;
    return search->is_damaged[chunk - search->chunks];
}

uint64_t cts_recording_access_bytes(const struct cts_recording *recording)
{
    uint64_t size_bytes = 0;
    const size_t count = cts_acc_file_count(recording->reader);
    for (size_t i = 0; i < count; i++)
        size_bytes += cts_acc_file_size(recording->reader, (uint32_t)i);
    return size_bytes;
}

bool cts_recording_leave_out_damage(struct cts_recording *recording)
{
    struct damage_search search = {.recording = recording, .naming = PTHREAD_MUTEX_INITIALIZER};
    struct cts_error ignored;
    search.chunks = cts_acc_chunks(recording->reader, &search.chunk_count);
    search.is_damaged = cts_array_zeroed(search.chunk_count, sizeof *search.is_damaged, &ignored);
    const unsigned threads = cts_thread_count(0);
    search.batches = cts_array_zeroed(threads, sizeof *search.batches, &ignored);
    if (!search.is_damaged || !search.batches ||
        cts_for_each(search.chunk_count, threads, search_damage, &search, &ignored)) {
        free(search.is_damaged);
        free(search.batches);
        return false;
    }
    for (unsigned i = 0; i < threads; i++) cts_acc_batch_release(&search.batches[i]);
    free(search.batches);
    bool *const marked = search.is_damaged;
    const bool any = search.chunk_count && memchr(marked, true, search.chunk_count);
    if (any) cts_acc_leave_out(recording->reader, is_marked, &search);
    free(marked);
    return any && !compare_launches(recording, &ignored);
}
