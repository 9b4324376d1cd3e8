/* The enriched timeline: each location's events once more, and between them the values of three
 * metrics where they change. What changes when is known from the analysis, by location and time, so
 * that a location is one pass over its events beside three lists. Locations are written by several
 * threads at once; each holds a location's share of the path (16 bytes a stay) and no events. */
#include "report/path-otf2.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/array.h"
#include "common/output-file.h"
#include "common/parallel.h"
#include "common/read-file.h"
#include "common/remove-folder.h"
#include "common/search.h"
#include "common/unfinished.h"

enum { METRIC_PATH, METRIC_BLAME, METRIC_WAIT, METRIC_COUNT };

static const struct cts_timeline_metric metrics[METRIC_COUNT] = {
    [METRIC_PATH] = {"Critical Path", "#", "1 while the location is on the critical path", false},
    [METRIC_BLAME] = {"Blame", "ns", "Waiting time caused by what begins here", false},
    [METRIC_WAIT] = {"Wait State", "#", "1 while the location waits", false},
};

/* ---- stays on the path, by location ---- */

struct stay {
    uint64_t begin_ns, end_ns;
};

struct stays {
    struct stay *items; /* by location, then by time */
    size_t *first;      /* [location + 1] */
};

static void release_stays(struct stays *stays)
{
    free(stays->items);
    free(stays->first);
}

static bool is_mine(const struct cts_path *result, uint32_t location)
{
    return location < result->location_count && result->kept.blames[location].mine;
}

/* Segments come last first; a latency counts for the location that it leads to. */
static enum cts_status sort_stays(const struct cts_path *result, struct stays *stays,
                                  struct cts_error *error)
{
    const size_t locations = result->location_count;
    stays->first = cts_array_zeroed(locations + 2, sizeof *stays->first, error);
    if (!stays->first) return CTS_MEMORY;
    for (size_t i = 0; i < result->kept.segments.count; i++)
        if (is_mine(result, result->kept.segments.items[i].location))
            stays->first[result->kept.segments.items[i].location + 2]++;
    for (size_t l = 0; l < locations; l++) stays->first[l + 2] += stays->first[l + 1];
    stays->items = cts_array_zeroed(stays->first[locations + 1], sizeof *stays->items, error);
    if (!stays->items) return CTS_MEMORY;
    for (size_t i = result->kept.segments.count; i-- > 0;) {
        const struct cts_path_segment *const segment = &result->kept.segments.items[i];
        if (is_mine(result, segment->location))
            stays->items[stays->first[segment->location + 1]++] =
                (struct stay){segment->begin_ns, segment->end_ns};
    }
    return CTS_OK;
}

/* ---- one location ---- */

struct enriching {
    const struct cts_path_source *source;
    const struct cts_path *result;
    struct cts_timeline_writer *writer;
    struct stays stays;
    atomic_ullong event_count, metric_count, left_out_count;
};

/* Intervals that become a metric of 1 and 0; those that touch are one. */
struct level {
    size_t next, end;
    bool on;
};

struct pass {
    struct enriching *all;
    uint32_t location;
    bool stream;
    struct level path, wait;
    const struct cts_path_blames *blames;
    size_t next_blame;
    uint64_t blame_ns; /* when the metric was last above 0 */
    bool has_blame;
    struct {
        size_t *items; /* waits that have begun and whose activity has not ended */
        size_t count, capacity;
    } open;
    size_t next_wait;
    uint64_t last_ns;
    uint64_t event_count, metric_count, left_out_count;
    enum cts_status status;
    struct cts_error *error;
};

static bool put(struct pass *pass, unsigned metric, uint64_t time_ns, uint64_t value)
{
    if (pass->status) return false;
    pass->status = cts_timeline_write_metric(
        pass->all->writer, pass->location,
        (struct cts_metric_value){time_ns, metric, (double)value}, pass->error);
    pass->metric_count++;
    return !pass->status;
}

/* Interval `index` of a metric, as times of the archive. */
static struct stay interval_of(const struct pass *pass, unsigned metric, size_t index)
{
    if (metric == METRIC_PATH) return pass->all->stays.items[index];
    const struct cts_path_kept_wait *const wait = &pass->all->result->kept.waits[index];
    const uint64_t first_ns = pass->all->result->first_ns;
    return (struct stay){wait->begin_ns + first_ns, wait->end_ns + first_ns};
}

static uint64_t change_ns(const struct pass *pass, unsigned metric, const struct level *level)
{
    if (level->next == level->end) return UINT64_MAX;
    const struct stay stay = interval_of(pass, metric, level->next);
    return level->on ? stay.end_ns : stay.begin_ns;
}

static void change(struct pass *pass, unsigned metric, struct level *level)
{
    const struct stay stay = interval_of(pass, metric, level->next);
    if (!level->on) {
        level->on = true;
        (void)put(pass, metric, stay.begin_ns, 1);
        return;
    }
    level->next++;
    if (level->next < level->end && interval_of(pass, metric, level->next).begin_ns <= stay.end_ns)
        return;
    level->on = false;
    (void)put(pass, metric, stay.end_ns, 0);
}

static uint64_t blame_change_ns(const struct pass *pass)
{
    if (pass->next_blame == pass->blames->count) return UINT64_MAX;
    return pass->blames->items[pass->next_blame].time_ns + pass->all->result->first_ns;
}

/* Activities that begin at one time share a value. */
static void change_blame(struct pass *pass)
{
    const uint64_t time_ns = blame_change_ns(pass);
    uint64_t blame_ns = 0;
    while (blame_change_ns(pass) == time_ns)
        blame_ns += pass->blames->items[pass->next_blame++].blame_ns;
    if (!blame_ns) return;
    pass->has_blame = true;
    pass->blame_ns = time_ns;
    (void)put(pass, METRIC_BLAME, time_ns, blame_ns);
}

/* All changes up to a time. */
static void catch_up(struct pass *pass, uint64_t until_ns)
{
    while (!pass->status) {
        const uint64_t path_ns = change_ns(pass, METRIC_PATH, &pass->path);
        const uint64_t wait_ns = change_ns(pass, METRIC_WAIT, &pass->wait);
        const uint64_t blame_ns = blame_change_ns(pass);
        uint64_t first_ns = path_ns < wait_ns ? path_ns : wait_ns;
        if (blame_ns < first_ns) first_ns = blame_ns;
        if (first_ns == UINT64_MAX || first_ns > until_ns) return;
        if (path_ns == first_ns)
            change(pass, METRIC_PATH, &pass->path);
        else if (wait_ns == first_ns)
            change(pass, METRIC_WAIT, &pass->wait);
        else
            change_blame(pass);
    }
}

/* ---- events ---- */

static bool begins_or_ends(const struct pass *pass, enum cts_timeline_event_kind kind)
{
    switch (kind) {
    case CTS_EVENT_ENTER:
    case CTS_EVENT_LEAVE:
    case CTS_EVENT_BUFFER_FLUSH:
        return true;
    case CTS_EVENT_RMA_GET:
    case CTS_EVENT_RMA_PUT:
    case CTS_EVENT_RMA_OP_COMPLETE_BLOCKING:
    case CTS_EVENT_RMA_OP_COMPLETE_NON_BLOCKING:
        return pass->stream;
    default:
        return false;
    }
}

/* Waiting of the activity that ends with this event. */
static uint64_t waited_ns(struct pass *pass, const struct cts_timeline_event *event,
                          uint64_t time_ns)
{
    const struct cts_path *const result = pass->all->result;
    const uint64_t now_ns = time_ns - result->first_ns;
    uint64_t sum_ns = 0;
    size_t kept = 0;
    const bool leaves = event->kind == CTS_EVENT_LEAVE;
    for (size_t i = 0; i < pass->open.count; i++) {
        const struct cts_path_kept_wait *const wait = &result->kept.waits[pass->open.items[i]];
        const bool copy = wait->region >= result->timeline->region_count;
        if (wait->leave_ns == now_ns && (leaves ? wait->region == event->region : copy))
            sum_ns += wait->end_ns - wait->begin_ns;
        else if (wait->leave_ns >= now_ns)
            pass->open.items[kept++] = pass->open.items[i];
    }
    pass->open.count = kept;
    return sum_ns;
}

static void open_waits(struct pass *pass, uint64_t time_ns)
{
    const struct cts_path *const result = pass->all->result;
    for (; pass->next_wait < pass->wait.end; pass->next_wait++) {
        const struct cts_path_kept_wait *const wait = &result->kept.waits[pass->next_wait];
        if (wait->begin_ns + result->first_ns > time_ns) return;
        if (wait->region == CTS_TIMELINE_NONE) continue;
        if (CTS_ARRAY_RESERVE(&pass->open, pass->open.count + 1, pass->error)) {
            pass->status = CTS_MEMORY;
            return;
        }
        pass->open.items[pass->open.count++] = pass->next_wait;
    }
}

static bool is_kept(const struct pass *pass, const struct cts_timeline_event *event)
{
    if (event->kind >= CTS_EVENT_OTHER) return false;
    return (event->kind != CTS_EVENT_ENTER && event->kind != CTS_EVENT_LEAVE) ||
           event->region < pass->all->result->timeline->region_count;
}

static bool visit(void *state, uint32_t location, const struct cts_timeline_event *event,
                  const struct cts_event_attributes *attributes)
{
    struct pass *const pass = state;
    if (!is_kept(pass, event)) {
        pass->left_out_count++;
        return true;
    }
    struct cts_timeline_event copy = *event;
    if (copy.time_ns < pass->last_ns) copy.time_ns = pass->last_ns; /* as the analysis took it */
    pass->last_ns = copy.time_ns;
    catch_up(pass, copy.time_ns);
    const bool node = begins_or_ends(pass, copy.kind);
    if (node && pass->has_blame && pass->blame_ns < copy.time_ns) {
        pass->has_blame = false;
        (void)put(pass, METRIC_BLAME, copy.time_ns, 0);
    }
    struct cts_event_attributes more;
    if (node && copy.kind != CTS_EVENT_ENTER) {
        open_waits(pass, copy.time_ns);
        const uint64_t time_ns = pass->open.count ? waited_ns(pass, &copy, copy.time_ns) : 0;
        if (time_ns) {
            more = attributes ? *attributes : (struct cts_event_attributes){0};
            more.present |= 1u << CTS_ATTRIBUTE_WAITING_TIME;
            more.values[CTS_ATTRIBUTE_WAITING_TIME] = time_ns;
            attributes = &more;
        }
    }
    if (copy.kind == CTS_EVENT_BUFFER_FLUSH && copy.flush.end_ns > pass->last_ns)
        pass->last_ns = copy.flush.end_ns;
    if (!pass->status)
        pass->status =
            cts_timeline_write(pass->all->writer, location, &copy, attributes, pass->error);
    pass->event_count++;
    return !pass->status;
}

/* The waits of a location among all, which are by location and begin. */
static size_t first_wait(const struct cts_path *result, uint32_t location)
{
    return CTS_SEARCH(result->kept.wait_count, i, result->kept.waits[i].location < location);
}

static enum cts_status write_location(struct enriching *all, uint32_t location,
                                      struct cts_error *error)
{
    const struct cts_path *const result = all->result;
    struct pass pass = {
        .all = all,
        .location = location,
        .stream = result->timeline->locations[location].kind == CTS_LOCATION_STREAM,
        .blames = &result->kept.blames[location],
        .path = {all->stays.first[location], all->stays.first[location + 1], false},
        .wait = {first_wait(result, location), first_wait(result, location + 1), false},
        .error = error};
    pass.next_wait = pass.wait.next;
    const enum cts_status status = cts_path_source_read(all->source, location, visit, &pass, error);
    if (status && !pass.status) pass.status = status;
    catch_up(&pass, UINT64_MAX);
    free(pass.open.items);
    atomic_fetch_add(&all->event_count, pass.event_count);
    atomic_fetch_add(&all->metric_count, pass.metric_count);
    atomic_fetch_add(&all->left_out_count, pass.left_out_count);
    if (pass.status) return pass.status;
    return cts_timeline_end_location(all->writer, location, error);
}

static enum cts_status write_mine(void *state, unsigned thread, size_t location,
                                  struct cts_error *error)
{
    struct enriching *const all = state;
    (void)thread;
    if (!is_mine(all->result, (uint32_t)location)) return CTS_OK;
    return write_location(all, (uint32_t)location, error);
}

/* ---- all ---- */

/* The library writes over what is there: a failure would leave neither the old archive nor a new
 * one. */
static enum cts_status check_place(const char *directory, bool *is_there, struct cts_error *error)
{
    DIR *const stream = cts_open_directory(directory);
    const struct dirent *entry;
    bool is_empty = true;
    *is_there = stream != NULL;
    if (!stream && errno == ENOENT) return cts_output_check(directory, error);
    if (!stream) return cts_fail_errno(error, errno, "cannot write into '%s'", directory);
    while (is_empty && (entry = readdir(stream)))
        is_empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
    closedir(stream);
    return is_empty
               ? cts_output_check(directory, error)
               : cts_fail(error, CTS_USAGE,
                          "'%s' is not empty: the enriched trace needs a new directory", directory);
}

/* What a failure leaves would be taken for the whole. */
static void remove_part(const char *directory)
{
    static const char *const names[] = {"traces.otf2", "traces.def"};
    const int folder = cts_open_file(directory, O_RDONLY | O_DIRECTORY, 0);
    if (folder < 0) return;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) (void)unlinkat(folder, names[i], 0);
    cts_remove_folder(folder, "traces");
    close(folder);
    (void)rmdir(directory);
}

static enum cts_status write_all(struct enriching *all, const char *directory, unsigned threads,
                                 const struct cts_processes *processes, struct cts_error *error)
{
    const struct cts_timeline_writer_options options = {.directory = directory,
                                                        .name = "traces",
                                                        .metrics = metrics,
                                                        .metric_count = METRIC_COUNT,
                                                        .processes = processes};
    enum cts_status status = sort_stays(all->result, &all->stays, error);
    if (!cts_processes_agree(processes, &status, error)) return status;
    status = cts_timeline_create(&options, all->result->timeline, &all->writer, error);
    if (!cts_processes_agree(processes, &status, error)) return status;
    status = cts_for_each(all->result->location_count, cts_thread_count(threads), write_mine, all,
                          error);
    struct cts_error late = {0};
    const enum cts_status finished = cts_timeline_finish(all->writer, &late);
    if (!status && finished) *error = late;
    return status ? status : finished;
}

enum cts_status cts_path_write_enriched(const struct cts_path_enriching *what,
                                        struct cts_path_enriched *counts, struct cts_error *error)
{
    const struct cts_processes *const processes = what->processes;
    struct enriching all = {.source = what->source, .result = what->result};
    enum cts_status status = CTS_OK;
    bool is_there = false;
    if (processes->rank == 0) status = check_place(what->directory, &is_there, error);
    if (!cts_processes_agree(processes, &status, error)) return status;
    const int unfinished =
        processes->rank == 0
            ? cts_unfinished_add(is_there ? CTS_UNFINISHED_ARCHIVE : CTS_UNFINISHED_FOLDER,
                                 what->directory, NULL)
            : -1;
    status = write_all(&all, what->directory, what->threads, processes, error);
    release_stays(&all.stays);
    const bool is_whole = cts_processes_agree(processes, &status, error);
    if (!is_whole && processes->rank == 0) remove_part(what->directory);
    cts_unfinished_done(unfinished);
    if (!is_whole) return status;
    uint64_t sums[] = {all.event_count, all.metric_count, all.left_out_count};
    cts_processes_reduce_u64(processes, sums, 3, CTS_REDUCE_SUM);
    *counts = (struct cts_path_enriched){sums[0], sums[1], sums[2]};
    return CTS_OK;
}
