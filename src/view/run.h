/* A run that is being viewed: what stood in its files when they were last looked at; private to
 * view/.
 *
 * A *snapshot* is opened once and then only read, by any number of requests. When the files have
 * changed a new one takes its place; the old one goes when the last request that uses it ends. */
#ifndef CTS_VIEW_RUN_H
#define CTS_VIEW_RUN_H

#include <pthread.h>

#include "analyze/access/access-analysis.h"
#include "view/selection/selection.h"
#include "trace/recording.h"

/* A launch or copy on the timeline. */
struct cts_view_activity {
    uint64_t start_ns, end_ns; /* from the run's begin */
    uint32_t id;
    uint32_t kernel; /* CTS_NONE: a copy */
    uint32_t index;  /* in catalogue->launches or copies */
};
/* Those of a stream, by start. */
struct cts_view_row {
    uint32_t rank, device, stream;
    size_t first, count; /* in activities */
    uint64_t longest_ns;
};

/* The access analysis of one launch. */
struct cts_view_analysis {
    bool is_there;
    size_t launch; /* index in catalogue->launches */
    uint64_t used; /* when, counted in questions */
    struct cts_access_result result;
};
enum { CTS_VIEW_ANALYSES = 8 };

struct cts_view_snapshot {
    struct cts_recording recording; /* its gaps say what is missing or could not be read */
    struct cts_access_source source;
    struct cts_selection *selection;
    struct {
        uint64_t record_count, access_count;
    } *launches; /* what the access files hold, by index in catalogue->launches */
    size_t recorded_launch_count;
    uint64_t access_count;
    struct cts_view_activity *activities;
    size_t activity_count;
    struct cts_view_row *rows;
    size_t row_count;
    uint64_t begin_ns, end_ns; /* on the wall; of all activities, from there */
    bool is_growing;
    uint64_t serial; /* of how many states of the run this one is the next */

    pthread_mutex_t analysing; /* of what is made at first demand */
    bool has_access;
    struct cts_access_result access;       /* of the whole run */
    char *communication, *findings, *flow; /* JSON; NULL: not made yet */
    pthread_mutex_t looking;               /* of the launches analysed last, while they are used */
    struct cts_view_analysis analyses[CTS_VIEW_ANALYSES];
    uint64_t analysis_clock;

    unsigned users; /* guarded by the run's lock */
};

struct cts_view_run;

struct cts_view_run_options {
    const char *path;
    uint64_t memory_bytes;
    unsigned threads;
};
CTS_MUST_CHECK enum cts_status cts_view_run_open(const struct cts_view_run_options *options,
                                                 struct cts_view_run **run,
                                                 struct cts_error *error);
void cts_view_run_close(struct cts_view_run *run);
const char *cts_view_run_path(const struct cts_view_run *run);

/* The newest snapshot, given back with cts_view_run_leave(). */
struct cts_view_snapshot *cts_view_run_enter(struct cts_view_run *run);
void cts_view_run_leave(struct cts_view_run *run, struct cts_view_snapshot *snapshot);
/* Why the newest files could not be opened, though older ones were; false: they could. */
bool cts_view_run_trouble(struct cts_view_run *run, struct cts_error *error);

/* Times of a launch, from the run's begin. */
struct cts_view_times {
    uint64_t start_ns, end_ns;
};
struct cts_view_times cts_view_launch_times(const struct cts_view_snapshot *snapshot,
                                            const struct cts_launch *launch);

#endif
