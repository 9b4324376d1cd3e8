/* Whether each track of a device is one stream. Some tracers write several streams to one location:
 * then nothing says which work follows which, and neither the path nor blame can be told.
 *
 *     one stream       A A A A             A A A A A A            A
 *                            B B B B           B B              (range)
 *                      B begins before A   B is within A, and only one of them
 *                      has ended           was launched
 *
 * Kernels of one stream may overlap at their ends (programmatic dependent launches), and a region
 * may enclose kernels. Work that was launched does not end within work that was launched before it
 * on the same stream, though; and where the trace does not say that a track is a stream, work that
 * overlaps is of several. */
#include <stdlib.h>

#include "analyze/path/steps.h"

struct span {
    uint64_t begin_ns, end_ns;
    bool launched;
};

static struct span span_of(const struct cts_path_location *at, size_t index)
{
    const struct cts_path_activity *const activity = &at->activities.items[index];
    return (struct span){at->time_ns[activity->begin], at->time_ns[activity->end],
                         activity->host != CTS_PATH_NONE};
}

/* `later` began while `earlier` ran. */
static bool are_mixed(const struct span *earlier, const struct span *later, bool is_stream)
{
    const bool within = later->end_ns <= earlier->end_ns;
    if (within) return earlier->launched && later->launched;
    return !is_stream;
}

/* A region around kernels: only they were launched. */
static bool encloses(const struct span *span, const struct cts_path_location *at, size_t next)
{
    const struct span inner = span_of(at, next);
    return !span->launched && inner.launched && inner.begin_ns < span->end_ns &&
           inner.end_ns <= span->end_ns;
}

static enum cts_status watch_track(const struct cts_path_graph *graph, uint32_t location,
                                   struct cts_path_tracks *track, struct cts_error *error)
{
    const struct cts_path_location *const at = &graph->locations[location];
    const bool is_stream = graph->system->timeline->locations[location].stream != CTS_TIMELINE_NONE;
    CTS_PATH_LIST(struct span, open) = {0};
    uint64_t busy_to_ns = 0, mixed_to_ns = 0;
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < at->activities.count && !status; i++) {
        const struct span span = span_of(at, i);
        uint64_t mixed_end_ns = 0;
        size_t kept = 0;
        if (span.begin_ns == span.end_ns) continue;
        for (size_t k = 0; k < open.count; k++) {
            if (open.items[k].end_ns <= span.begin_ns) continue;
            if (are_mixed(&open.items[k], &span, is_stream) && open.items[k].end_ns > mixed_end_ns)
                mixed_end_ns = open.items[k].end_ns;
            open.items[kept++] = open.items[k];
        }
        open.count = kept;
        track->mixed += mixed_end_ns > 0;
        if (i + 1 < at->activities.count && encloses(&span, at, i + 1))
            track->enclosing_ns += span.end_ns - span.begin_ns;
        if (mixed_end_ns > span.end_ns) mixed_end_ns = span.end_ns;
        const uint64_t mixed_from_ns = span.begin_ns > mixed_to_ns ? span.begin_ns : mixed_to_ns;
        const uint64_t busy_from_ns = span.begin_ns > busy_to_ns ? span.begin_ns : busy_to_ns;
        if (mixed_end_ns > mixed_from_ns) {
            track->mixed_ns += mixed_end_ns - mixed_from_ns;
            mixed_to_ns = mixed_end_ns;
        }
        if (span.end_ns > busy_from_ns) {
            track->busy_ns += span.end_ns - busy_from_ns;
            busy_to_ns = span.end_ns;
        }
        status = CTS_ARRAY_RESERVE(&open, open.count + 1, error);
        if (!status) open.items[open.count++] = span;
    }
    free(open.items);
    return status;
}

static void add(uint64_t *sum, uint64_t value)
{
    __atomic_fetch_add(sum, value, __ATOMIC_RELAXED);
}

enum cts_status cts_path_watch_tracks(struct cts_path_graph *graph, uint32_t process,
                                      struct cts_error *error)
{
    struct cts_path_tracks *const all = &graph->matched.tracks;
    const uint32_t end = graph->system->process_first[process + 1];
    enum cts_status status = CTS_OK;
    for (uint32_t p = graph->system->process_first[process]; p < end && !status; p++) {
        const uint32_t location = graph->system->by_process[p];
        if (!graph->system->who[location].stream) continue;
        struct cts_path_tracks track = {0};
        status = watch_track(graph, location, &track, error);
        add(&all->busy_ns, track.busy_ns);
        add(&all->mixed_ns, track.mixed_ns);
        add(&all->mixed, track.mixed);
        add(&all->enclosing_ns, track.enclosing_ns);
    }
    return status;
}

enum cts_status cts_path_check_tracks(struct cts_path_graph *graph, struct cts_error *error)
{
    const struct cts_path_tracks *const own = &graph->matched.tracks;
    cts_path_warn(graph, CTS_PATH_WARNING_MIXED_TRACK, own->mixed);
    uint64_t sums[] = {own->busy_ns, own->mixed_ns, own->mixed};
    cts_processes_reduce_u64(graph->system->processes, sums, 3, CTS_REDUCE_SUM);
    if (sums[1] <= sums[0] / 100) return CTS_OK;
    return cts_fail(error, CTS_FORMAT,
                    "the trace has work of several streams on one device location: %llu of its "
                    "activities overlap others (%.1f%% of the device time), and nothing shows "
                    "which work follows which; record each stream as a location of its own",
                    (unsigned long long)sums[2], 100 * (double)sums[1] / (double)sums[0]);
}
