#include "cli/run-timeline.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/open-recording.h"
#include "common/array.h"
#include "common/parallel.h"
#include "common/text-table.h"
#include "trace/run-lock.h"
#include "trace/seal.h"

static bool is_directory(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* A run says which files its timeline has; a run.db that cannot say so is a gap itself. */
static void compare_with_seal(const char *run_path, struct cts_timeline *timeline)
{
    struct cts_catalogue seal;
    struct cts_error error;
    if (cts_catalogue_read_seal(run_path, &seal, &error)) {
        cts_gaps_add(&timeline->gaps, "the list of its files cannot be read: %s", error.text);
        return;
    }
    cts_seal_check_files(run_path, &seal, CTS_SEAL_TIMELINE, &timeline->gaps);
    cts_catalogue_release(&seal);
}

static bool has_archive(const char *run_path)
{
    char anchor[PATH_MAX];
    const int length = snprintf(anchor, sizeof anchor, "%s/timeline/traces.otf2", run_path);
    return length > 0 && (size_t)length < sizeof anchor && access(anchor, F_OK) == 0;
}

/* Why a run directory has no timeline of its own, as a sentence about the run; NULL: it has one,
 * none was asked for, or nothing tells. */
static const char *why_no_timeline(const char *run_path)
{
    const bool is_there = has_archive(run_path) || cts_timeline_has_logs(run_path);
    struct cts_catalogue seal;
    struct cts_error ignored;
    const char *why = NULL;
    if (cts_catalogue_read_seal(run_path, &seal, &ignored)) return NULL;
    if (is_there) why = cts_seal_why_foreign_timeline(&seal);
    if (!is_there && !cts_seal_is_there(&seal) &&
        cts_catalogue_get(&seal, CTS_TIMELINE_ASKED_KEY) && !cts_run_is_held(run_path))
        why = "its timeline is missing, and the logs to make it of ('rank-*/timeline') too";
    cts_catalogue_release(&seal);
    return why;
}

void cts_cli_name_lost_timeline(const char *run_path, struct cts_gaps *gaps)
{
    const char *const why = why_no_timeline(run_path);
    if (why) cts_gaps_add(gaps, "%s", why);
}

enum cts_status cts_cli_open_timeline_quietly(const char *path, struct cts_timeline *timeline,
                                              struct cts_error *error)
{
    struct cts_assembly assembly = {0};
    const char *const why = is_directory(path) ? why_no_timeline(path) : NULL;
    if (why)
        return cts_fail(error, CTS_FORMAT, "run '%s' has no timeline of its own: %s", path, why);
    if (is_directory(path) && cts_timeline_has_logs(path)) {
        if (cts_run_is_held(path))
            return cts_fail(error, CTS_IO,
                            "'%s' is still being recorded; its timeline is made at the end", path);
        const struct cts_assembly_options options = {0};
        const enum cts_status status = cts_timeline_assemble(path, &options, &assembly, error);
        if (status) return status;
    }
    const enum cts_status status = cts_timeline_open(path, timeline, error);
    if (status) return status;
    if (assembly.left_over_count)
        cts_gaps_add(&timeline->gaps,
                     "the timeline was made without the logs of %s ('rank-*/timeline'), which are "
                     "not counted",
                     cts_counted_text(assembly.left_over_count, "process", "processes").text);
    if (is_directory(path)) compare_with_seal(path, timeline);
    return CTS_OK;
}

enum cts_status cts_cli_open_timeline(const char *path, struct cts_timeline *timeline,
                                      struct cts_error *error)
{
    const enum cts_status status = cts_cli_open_timeline_quietly(path, timeline, error);
    if (!status) cts_cli_tell_gaps(NULL, path, &timeline->gaps);
    return status;
}

void cts_cli_tell_damage(const char *path, struct cts_timeline *timeline)
{
    const struct cts_gaps before = timeline->gaps;
    cts_timeline_name_damage(timeline);
    const struct cts_gaps damage = cts_gaps_since(&timeline->gaps, &before);
    cts_cli_tell_gaps(NULL, path, &damage);
}

bool cts_cli_is_archive(const char *path)
{
    const size_t length = strlen(path);
    return length > 5 && strcmp(path + length - 5, ".otf2") == 0;
}

bool cts_cli_has_timeline(const char *path)
{
    return is_directory(path) && (has_archive(path) || cts_timeline_has_logs(path)) &&
           !why_no_timeline(path);
}

/* ---- counts ---- */

struct counting {
    const struct cts_timeline *timeline;
    struct cts_timeline_counts *parts; /* per thread */
};

static bool count_event(void *state, uint32_t location, const struct cts_timeline_event *event,
                        const struct cts_event_attributes *attributes)
{
    struct cts_timeline_counts *const part = state;
    (void)location, (void)attributes;
    part->kinds[event->kind]++;
    part->events++;
    if (event->time_ns < part->first_ns) part->first_ns = event->time_ns;
    if (event->time_ns > part->last_ns) part->last_ns = event->time_ns;
    return true;
}

static enum cts_status count_location(void *state, unsigned thread, size_t location,
                                      struct cts_error *error)
{
    struct counting *const counting = state;
    struct cts_timeline_counts *const part = &counting->parts[thread];
    const enum cts_status status =
        cts_timeline_read(counting->timeline, (uint32_t)location, count_event, part, error);
    if (!status || status == CTS_MEMORY || status == CTS_IO) return status;
    part->damaged_locations++;
    return CTS_OK;
}

enum cts_status cts_cli_count_timeline(const struct cts_timeline *timeline,
                                       struct cts_timeline_counts *counts, struct cts_error *error)
{
    const unsigned threads = cts_thread_count(0);
    *counts = (struct cts_timeline_counts){.first_ns = UINT64_MAX};
    struct counting counting = {.timeline = timeline,
                                .parts = cts_array_zeroed(threads, sizeof *counting.parts, error)};
    if (!counting.parts) return CTS_MEMORY;
    for (unsigned i = 0; i < threads; i++) counting.parts[i].first_ns = UINT64_MAX;
    const enum cts_status status =
        cts_for_each(timeline->location_count, threads, count_location, &counting, error);
    for (unsigned i = 0; i < threads; i++) {
        const struct cts_timeline_counts *const part = &counting.parts[i];
        for (int kind = 0; kind < CTS_EVENT_KIND_COUNT; kind++)
            counts->kinds[kind] += part->kinds[kind];
        counts->events += part->events;
        if (part->first_ns < counts->first_ns) counts->first_ns = part->first_ns;
        if (part->last_ns > counts->last_ns) counts->last_ns = part->last_ns;
        counts->damaged_locations += part->damaged_locations;
    }
    if (!counts->events) counts->first_ns = 0;
    free(counting.parts);
    return status;
}
