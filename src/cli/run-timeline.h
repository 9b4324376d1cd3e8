/* Timelines as verbs need them: made when they are not there yet, and in numbers. */
#ifndef CTS_CLI_TIMELINE_H
#define CTS_CLI_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "assemble/assemble.h"
#include "trace/timeline/timeline.h"

/* Makes the archive of a run whose `record` was killed, if it is a run directory with logs and
 * nobody records into it; then opens the timeline. `path` may be an anchor file, too. */
CTS_MUST_CHECK enum cts_status
cts_cli_open_timeline(const char *path, struct cts_timeline *timeline, struct cts_error *error);
/* The same, for whoever says himself what is missing: `timeline->gaps`. */
CTS_MUST_CHECK enum cts_status cts_cli_open_timeline_quietly(const char *path,
                                                             struct cts_timeline *timeline,
                                                             struct cts_error *error);

/* After an analysis has read the events: names the files that turned out damaged in
 * `timeline->gaps`, and on stderr as cts_cli_open_timeline() names those that are missing. */
void cts_cli_tell_damage(const char *path, struct cts_timeline *timeline);

/* Whether the path is that of an OTF2 archive (its anchor file), by its name. */
bool cts_cli_is_archive(const char *path);

/* Whether a run directory holds a timeline of its own, or logs to make it of. */
bool cts_cli_has_timeline(const char *path);
/* Adds to `gaps` why a run directory has no timeline of its own: it holds that of another run, or
 * the timeline that was asked for is lost. Adds nothing otherwise. */
void cts_cli_name_lost_timeline(const char *run_path, struct cts_gaps *gaps);

struct cts_timeline_counts {
    uint64_t kinds[CTS_EVENT_KIND_COUNT];
    uint64_t events, first_ns, last_ns;
    uint32_t damaged_locations; /* cts_timeline_name_damage() names them */
};
/* Reads all events once, on all processors. Damage is counted; CTS_IO, CTS_MEMORY: could not be
 * read. */
CTS_MUST_CHECK enum cts_status cts_cli_count_timeline(const struct cts_timeline *timeline,
                                                      struct cts_timeline_counts *counts,
                                                      struct cts_error *error);

/* What should hold of an archive, counted where it does not. */
struct cts_timeline_check {
    uint64_t backwards;      /* events earlier than the one before them in their location */
    uint64_t unmatched;      /* LEAVEs of what was not entered last, and ENTERs without one */
    uint64_t lost_messages;  /* sends without a receive, and receives without a send */
    uint64_t early_receives; /* receives that ended before their send began */
    uint64_t open_requests;  /* non-blocking operations that were never completed */
    uint64_t bad_references; /* events that name regions, communicators or ranks out of range */
    uint64_t messages;       /* matched */
};
CTS_MUST_CHECK enum cts_status cts_cli_check_timeline(const struct cts_timeline *timeline,
                                                      struct cts_timeline_check *check,
                                                      struct cts_error *error);

#endif
