/* What is known of a run without its accesses: names, the timeline, launches. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "report/gaps-report.h"
#include "trace/stream-name.h"
#include "view/answers.h"
#include "common/search.h"

enum { BINS_MAX = 10000, ITEMS_MAX = 2000, LAUNCHES_MAX = 1000 };

/* ---- the run ---- */

static void write_devices(struct cts_json *json, const struct cts_catalogue *catalogue)
{
    cts_json_key(json, "devices");
    cts_json_open_array(json);
    for (size_t i = 0; i < catalogue->device_count; i++) {
        const struct cts_device *const it = &catalogue->devices[i];
        cts_json_open_object(json);
        cts_json_member_u64(json, "rank", it->rank);
        cts_json_member_u64(json, "device", it->device);
        cts_json_member_string(json, "name", it->name ? it->name : "?");
        cts_json_member_u64(json, "sms", it->sm_count);
        cts_json_close_object(json);
    }
    cts_json_close_array(json);
    char text[CTS_STREAM_NAME_BYTES];
    cts_json_key(json, "streams");
    cts_json_open_array(json);
    for (size_t i = 0; i < catalogue->stream_count; i++) {
        const struct cts_cuda_stream *const it = &catalogue->streams[i];
        cts_json_open_object(json);
        cts_json_member_u64(json, "stream", i);
        cts_json_member_u64(json, "rank", it->rank);
        cts_json_member_u64(json, "device", it->device);
        cts_json_member_string(json, "kind", it->kind ? it->kind : "?");
        cts_json_member_string(json, "name", cts_cuda_stream_name(catalogue, (uint32_t)i, text));
        cts_json_close_object(json);
    }
    cts_json_close_array(json);
}

static void write_kernels(struct cts_json *json, const struct cts_catalogue *catalogue,
                          const struct cts_short_names *names)
{
    char text[CTS_KERNEL_NAME_SIZE];
    cts_json_key(json, "kernels");
    cts_json_open_array(json);
    for (size_t i = 0; i < catalogue->kernel_count; i++) {
        const struct cts_kernel *const it = &catalogue->kernels[i];
        cts_json_open_object(json);
        cts_json_member_u64(json, "kernel", i);
        cts_json_member_string(json, "name", it->name ? it->name : "?");
        cts_json_member_string(json, "short", cts_short_name_fitted(names, i, text, sizeof text));
        cts_view_member_id(json, "source", it->name ? it->source : CTS_NONE);
        cts_view_member_line(json, "line", it->line);
        cts_json_close_object(json);
    }
    cts_json_close_array(json);
    cts_json_key(json, "sources");
    cts_json_open_array(json);
    for (size_t i = 0; i < catalogue->source_count; i++) {
        const struct cts_source *const it = &catalogue->sources[i];
        cts_json_open_object(json);
        cts_json_member_u64(json, "source", i);
        cts_json_member_string(json, "path", it->path ? it->path : "?");
        cts_json_member_bool(json, "hasText", it->text != NULL);
        cts_json_close_object(json);
    }
    cts_json_close_array(json);
}

static void write_sites(struct cts_json *json, const struct cts_catalogue *catalogue)
{
    cts_json_key(json, "sites");
    cts_json_open_array(json);
    for (size_t i = 0; i < catalogue->site_count; i++) {
        const struct cts_site *const it = &catalogue->sites[i];
        if (it->space == CTS_SPACE_BARRIER) continue;
        const bool is_global = it->space == CTS_SPACE_GLOBAL || it->space == CTS_SPACE_CONSTANT;
        cts_json_open_object(json);
        cts_json_member_u64(json, "site", i);
        cts_json_member_string(json, "function", it->function ? it->function : "?");
        cts_json_member_string(json, "operation", cts_operation_text(it->operation));
        cts_json_member_string(json, "kind", cts_view_kind_text(it->operation));
        cts_json_member_string(json, "space", is_global ? "global" : cts_space_text(it->space));
        cts_json_member_u64(json, "width", it->width_bytes);
        cts_view_member_id(json, "source", it->function ? it->source : CTS_NONE);
        cts_view_member_line(json, "line", it->line);
        cts_view_member_line(json, "column", it->column);
        cts_json_member_string(json, "inlinedAt", it->inlined_at);
        cts_json_member_string(json, "type", it->type);
        cts_json_member_string(json, "variable", it->variable);
        cts_json_close_object(json);
    }
    cts_json_close_array(json);
}

__attribute__((format(printf, 2, 3))) static void write_warning(struct cts_json *json,
                                                                const char *format, ...)
{
    char text[1200];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cts_json_string(json, text);
}

static void write_recorder_warnings(struct cts_json *json, const struct cts_catalogue *catalogue)
{
    enum { MESSAGES_MAX = 100 };
    uint64_t dropped = 0, sampled = 0, messages = 0;
    for (size_t i = 0; i < catalogue->rank_count; i++) {
        dropped += catalogue->ranks[i].dropped_accesses;
        if (catalogue->ranks[i].failure)
            write_warning(json, "rank %u: %s", catalogue->ranks[i].rank,
                          catalogue->ranks[i].failure);
    }
    if (dropped)
        write_warning(json, "the recorder dropped %llu accesses", (unsigned long long)dropped);
    for (size_t i = 0; i < catalogue->launch_count; i++)
        sampled +=
            catalogue->launches[i].recorded && !strcmp(catalogue->launches[i].recorded, "sample");
    if (sampled)
        write_warning(json, "of %llu launches only a sample of the CTAs was recorded",
                      (unsigned long long)sampled);
    for (size_t i = 0; i < catalogue->message_count && messages < MESSAGES_MAX; i++) {
        const struct cts_message *const it = &catalogue->messages[i];
        if (!it->text || !it->severity || !strcmp(it->severity, "note")) continue;
        write_warning(json, "%s", it->text);
        messages++;
    }
}

static void write_warnings(struct cts_json *json, const struct cts_view_request *request)
{
    const struct cts_view_snapshot *const snapshot = request->snapshot;
    struct cts_error error;
    cts_json_key(json, "warnings");
    cts_json_open_array(json);
    if (cts_view_run_trouble(request->run, &error))
        write_warning(json,
                      "the run has changed and cannot be read now; this is its older state: %s",
                      error.text);
    if (snapshot->is_growing)
        write_warning(json, "the program did not exit normally, or still runs: "
                            "what it has recorded so far is shown");
    cts_json_gap_lines(json, &snapshot->recording.catalogue.gaps);
    if (snapshot->source.incomplete_count)
        write_warning(json, "%zu access files end early", snapshot->source.incomplete_count);
    const size_t damaged = cts_selection_damage(snapshot->selection, &error);
    if (damaged)
        write_warning(json, "%zu chunks of records cannot be read and are left out; the first: %s",
                      damaged, error.text);
    write_recorder_warnings(json, &snapshot->recording.catalogue);
    cts_json_close_array(json);
}

enum cts_status cts_view_write_run(const struct cts_view_request *request, struct cts_json *json,
                                   struct cts_error *error)
{
    const struct cts_view_snapshot *const snapshot = request->snapshot;
    const struct cts_catalogue *const catalogue = &snapshot->recording.catalogue;
    const struct cts_rank *const rank = catalogue->rank_count ? &catalogue->ranks[0] : NULL;
    const char *const values = cts_catalogue_get(catalogue, "values");
    struct cts_short_names names;
    const enum cts_status status = cts_kernel_names(catalogue, &names, error);
    if (status) {
        cts_short_names_release(&names);
        return status;
    }
    cts_json_member_string(json, "path", cts_view_run_path(request->run));
    cts_json_member_string(json, "version", CTASCOPE_VERSION);
    cts_json_member_string(json, "program", rank ? rank->program : NULL);
    cts_json_member_string(json, "arguments", rank ? rank->arguments : NULL);
    cts_json_member_string(json, "host", rank ? rank->host : NULL);
    cts_json_member_string(json, "recorder", rank ? rank->recorder : NULL);
    write_devices(json, catalogue);
    write_kernels(json, catalogue, &names);
    cts_short_names_release(&names);
    write_sites(json, catalogue);
    cts_json_member_u64(json, "launchCount", catalogue->launch_count);
    cts_json_member_u64(json, "recordedLaunchCount", snapshot->recorded_launch_count);
    cts_json_member_u64(json, "accessCount", snapshot->access_count);
    cts_json_member_bool(json, "hasValues", values && strcmp(values, "0") != 0);
    write_warnings(json, request);
    cts_json_member_string(json, "sampled", NULL);
    cts_json_member_bool(json, "hasCommunication", snapshot->source.chunk_count > 0);
    cts_json_member_bool(json, "hasTime", request->has_time);
    cts_json_member_string(json, "otherRun",
                           request->other ? cts_view_run_path(request->other) : NULL);
    return CTS_OK;
}

/* ---- the timeline ---- */

struct window {
    uint64_t from_ns, to_ns; /* half-open */
    uint32_t bins;
};

static const char *activity_name(const struct cts_catalogue *catalogue,
                                 const struct cts_view_activity *it)
{
    if (it->kernel == CTS_NONE) {
        const bool is_copy =
            it->index < catalogue->copy_count && catalogue->copies[it->index].copy == it->id;
        const char *const kind = is_copy ? catalogue->copies[it->index].kind : NULL;
        return kind ? kind : "copy";
    }
    const char *const name = cts_catalogue_kernel_name(catalogue, it->kernel);
    return name ? name : "?";
}

static void write_item(struct cts_json *json, const struct cts_view_snapshot *snapshot,
                       const struct cts_view_activity *it)
{
    const bool is_launch = it->kernel != CTS_NONE;
    cts_json_open_object(json);
    cts_json_member_string(json, "kind", is_launch ? "launch" : "copy");
    cts_json_member_u64(json, "id", it->id);
    cts_json_member_string(json, "name", activity_name(&snapshot->recording.catalogue, it));
    cts_json_member_u64(json, "start", it->start_ns);
    cts_json_member_u64(json, "end", it->end_ns);
    cts_json_member_bool(json, "recorded",
                         is_launch && snapshot->launches[it->index].record_count > 0);
    cts_json_close_object(json);
}

struct bin {
    uint64_t count, busy_ns, most_ns;
    uint32_t kernel; /* of the longest in it */
};

/* Adds an activity to the bins that it lies in; one without length to the one that it starts in. */
static void fill_bins(struct bin *bins, const struct window *window,
                      const struct cts_view_activity *it)
{
    const double width = (double)(window->to_ns - window->from_ns) / window->bins;
    const uint64_t start = it->start_ns > window->from_ns ? it->start_ns : window->from_ns;
    const uint64_t end = it->end_ns < window->to_ns ? it->end_ns : window->to_ns;
    size_t bin = (size_t)((double)(start - window->from_ns) / width);
    if (bin >= window->bins) bin = window->bins - 1;
    bins[bin].count++;
    for (uint64_t at = start; bin < window->bins; bin++) {
        const double edge = (double)window->from_ns + (double)(bin + 1) * width;
        const uint64_t stop = (double)end < edge ? end : (uint64_t)edge;
        const uint64_t part = stop > at ? stop - at : 0;
        bins[bin].busy_ns += part;
        if (part >= bins[bin].most_ns && it->kernel != CTS_NONE) {
            bins[bin].most_ns = part;
            bins[bin].kernel = it->kernel;
        }
        at = stop > at ? stop : at;
        if (at >= end) return;
    }
}

static void write_bins(struct cts_json *json, const struct window *window, const struct bin *bins)
{
    const double width = (double)(window->to_ns - window->from_ns) / window->bins;
    cts_json_key(json, "bins");
    cts_json_open_array(json);
    for (size_t b = 0; b < window->bins; b++) {
        const double busy = (double)bins[b].busy_ns / width;
        cts_json_open_object(json);
        cts_json_member_u64(json, "count", bins[b].count);
        cts_json_member_double(json, "busy", busy < 1 ? busy : 1);
        cts_json_member_i64(json, "kernel",
                            bins[b].kernel == CTS_NONE ? -1 : (int64_t)bins[b].kernel);
        cts_json_close_object(json);
    }
    cts_json_close_array(json);
}

static bool is_in(const struct window *window, const struct cts_view_activity *it)
{
    return it->start_ns < window->to_ns &&
           (it->end_ns > window->from_ns || it->start_ns >= window->from_ns);
}

/* The activities of a row that may lie in the window: by start, from the first that could still
 * run. */
static void candidates(const struct cts_view_snapshot *snapshot, const struct cts_view_row *row,
                       const struct window *window, size_t *first, size_t *end)
{
    const struct cts_view_activity *const all = snapshot->activities + row->first;
    const uint64_t from = window->from_ns > row->longest_ns ? window->from_ns - row->longest_ns : 0;
    *first = CTS_SEARCH(row->count, i, all[i].start_ns < from);
    *end = CTS_SEARCH(row->count, i, all[i].start_ns < window->to_ns);
    if (*end < *first) *end = *first;
}

static enum cts_status write_row(struct cts_json *json, const struct cts_view_snapshot *snapshot,
                                 const struct cts_view_row *row, const struct window *window,
                                 struct bin *bins)
{
    const struct cts_view_activity *const all = snapshot->activities + row->first;
    size_t first, end, count = 0;
    candidates(snapshot, row, window, &first, &end);
    for (size_t i = first; i < end && count <= ITEMS_MAX; i++) count += is_in(window, &all[i]);
    cts_json_open_object(json);
    cts_json_member_u64(json, "rank", row->rank);
    cts_json_member_u64(json, "device", row->device);
    cts_json_member_i64(json, "stream", row->stream == CTS_NONE ? -1 : (int64_t)row->stream);
    cts_json_key(json, "items");
    if (count <= ITEMS_MAX) {
        cts_json_open_array(json);
        for (size_t i = first; i < end; i++)
            if (is_in(window, &all[i])) write_item(json, snapshot, &all[i]);
        cts_json_close_array(json);
        cts_json_key(json, "bins");
        cts_json_null(json);
    } else {
        cts_json_null(json);
        for (size_t b = 0; b < window->bins; b++) bins[b] = (struct bin){.kernel = CTS_NONE};
        for (size_t i = first; i < end; i++)
            if (is_in(window, &all[i])) fill_bins(bins, window, &all[i]);
        write_bins(json, window, bins);
    }
    cts_json_close_object(json);
    return CTS_OK;
}

enum cts_status cts_view_write_timeline(const struct cts_view_request *request,
                                        struct cts_json *json, struct cts_error *error)
{
    const struct cts_view_snapshot *const snapshot = request->snapshot;
    const uint64_t most = UINT64_C(1) << 53, end_ns = snapshot->end_ns;
    uint64_t from = 0, to = end_ns + 1, bins = 512;
    enum cts_status status = cts_view_query_number(&request->query, "from", most, &from, error);
    if (!status) status = cts_view_query_number(&request->query, "to", most, &to, error);
    if (!status) status = cts_view_query_number(&request->query, "bins", BINS_MAX, &bins, error);
    if (status) return status;
    if (to <= from || !bins)
        return cts_fail(error, CTS_USAGE, "invalid time range: %llu to %llu in %llu bins",
                        (unsigned long long)from, (unsigned long long)to, (unsigned long long)bins);
    if (to > end_ns + 1 && from <= end_ns) to = end_ns + 1; /* bins are of what there is */
    const struct window window = {from, to, (uint32_t)bins};
    struct bin *const room = cts_array_zeroed(bins, sizeof *room, error);
    if (!room) return CTS_MEMORY;
    cts_json_member_u64(json, "begin", 0);
    cts_json_member_u64(json, "end", end_ns);
    cts_json_key(json, "rows");
    cts_json_open_array(json);
    for (size_t r = 0; r < snapshot->row_count && !status; r++)
        status = write_row(json, snapshot, &snapshot->rows[r], &window, room);
    cts_json_close_array(json);
    free(room);
    return status;
}

/* ---- launches ---- */

static void write_triple(struct cts_json *json, const char *key, const uint32_t triple[3])
{
    cts_json_key(json, key);
    cts_json_open_array(json);
    for (unsigned i = 0; i < 3; i++) cts_json_u64(json, triple[i]);
    cts_json_close_array(json);
}

void cts_view_launch_members(struct cts_json *json, const struct cts_view_snapshot *snapshot,
                             const struct cts_launch *launch)
{
    const size_t i = (size_t)(launch - snapshot->recording.catalogue.launches);
    const struct cts_view_times times = cts_view_launch_times(snapshot, launch);
    const bool is_sample = launch->recorded && !strcmp(launch->recorded, "sample");
    const bool has_records = snapshot->launches[i].record_count > 0;
    const bool is_all = launch->recorded && !strcmp(launch->recorded, "all");
    cts_json_member_u64(json, "launch", launch->launch);
    cts_json_member_i64(json, "kernel", launch->kernel == CTS_NONE ? -1 : (int64_t)launch->kernel);
    cts_json_member_u64(json, "rank", launch->rank);
    cts_json_member_u64(json, "device", launch->device);
    cts_json_member_i64(json, "stream", launch->stream == CTS_NONE ? -1 : (int64_t)launch->stream);
    cts_json_member_u64(json, "ordinal", launch->ordinal);
    write_triple(json, "grid", launch->grid);
    write_triple(json, "block", launch->block);
    cts_json_member_u64(json, "start", times.start_ns);
    cts_json_member_u64(json, "end", times.end_ns);
    /* with what is in no file any more: it was recorded */
    cts_json_member_u64(json, "records",
                        snapshot->launches[i].record_count + launch->missing_records);
    cts_json_member_u64(json, "accesses",
                        snapshot->launches[i].access_count + launch->missing_accesses);
    cts_json_member_string(json, "recorded",
                           is_sample               ? "sample"
                           : is_all || has_records ? "all"
                                                   : "none");
}

/* Which kernels' names hold the text, in whatever case; all of them for an empty one. */
static bool *matching_kernels(const struct cts_catalogue *catalogue, const char *search,
                              struct cts_error *error)
{
    bool *const matches = cts_array_zeroed(catalogue->kernel_count, sizeof *matches, error);
    for (size_t k = 0; matches && k < catalogue->kernel_count; k++)
        matches[k] = catalogue->kernels[k].name && strcasestr(catalogue->kernels[k].name, search);
    return matches;
}

/* "12" and "#12" are launch 12; anything else is none. */
static uint32_t launch_number(const char *search)
{
    uint64_t number = 0;
    if (*search == '#') search++;
    if (!*search) return CTS_NONE;
    for (; *search; search++) {
        if (*search < '0' || *search > '9') return CTS_NONE;
        number = number * 10 + (uint64_t)(*search - '0');
        if (number >= CTS_NONE) return CTS_NONE;
    }
    return (uint32_t)number;
}

/* Of "beside", a launch: it, and those before and after it, in place of `from` and `count`. */
static enum cts_status read_beside(const struct cts_view_request *request, uint64_t *from,
                                   uint64_t *count, struct cts_error *error)
{
    const struct cts_catalogue *const catalogue = &request->snapshot->recording.catalogue;
    uint64_t number = UINT64_MAX;
    if (!request->query.get(request->query.state, "beside")) return CTS_OK;
    const enum cts_status status =
        cts_view_query_number(&request->query, "beside", UINT32_MAX - 1, &number, error);
    if (status) return status;
    const struct cts_launch *const launch = cts_catalogue_launch(catalogue, (uint32_t)number);
    if (!launch)
        return cts_fail(error, CTS_USAGE, "there is no launch %llu", (unsigned long long)number);
    const uint64_t index = (uint64_t)(launch - catalogue->launches);
    *from = index ? index - 1 : 0;
    *count = index ? 3 : 2;
    return CTS_OK;
}

/* A launch that was found, by what the list is sorted. */
struct found_launch {
    uint64_t value;
    size_t index; /* in catalogue->launches */
};

static int by_value(const void *left, const void *right)
{
    const struct found_launch *const a = left, *const b = right;
    if (a->value != b->value) return a->value > b->value ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

enum launch_order { BY_LAUNCH, BY_TIME, BY_ACCESSES };

static enum cts_status read_order(const struct cts_view_request *request, enum launch_order *order,
                                  struct cts_error *error)
{
    static const char *const names[] = {"launch", "time", "accesses"};
    const char *const text = request->query.get(request->query.state, "sort");
    *order = BY_LAUNCH;
    if (!text) return CTS_OK;
    for (unsigned i = 0; i <= BY_ACCESSES; i++)
        if (!strcmp(text, names[i])) {
            *order = (enum launch_order)i;
            return CTS_OK;
        }
    return cts_fail(error, CTS_USAGE, "unknown sort '%.40s' (one of: launch, time, accesses)",
                    text);
}

static uint64_t value_of(const struct cts_view_snapshot *snapshot, size_t index,
                         enum launch_order order)
{
    const struct cts_launch *const launch = &snapshot->recording.catalogue.launches[index];
    const struct cts_view_times times = cts_view_launch_times(snapshot, launch);
    if (order == BY_TIME) return times.end_ns > times.start_ns ? times.end_ns - times.start_ns : 0;
    return order == BY_ACCESSES ? snapshot->launches[index].access_count : 0;
}

/* Those whose kernel or number is asked for, in the order asked for. */
static enum cts_status find_launches(const struct cts_view_request *request,
                                     struct found_launch **found, size_t *total,
                                     struct cts_error *error)
{
    const struct cts_view_snapshot *const snapshot = request->snapshot;
    const struct cts_catalogue *const catalogue = &snapshot->recording.catalogue;
    const char *search = request->query.get(request->query.state, "search");
    enum launch_order order;
    const enum cts_status status = read_order(request, &order, error);
    if (status) return status;
    if (!search) search = "";
    bool *const matches = matching_kernels(catalogue, search, error);
    *found = matches ? cts_array_zeroed(catalogue->launch_count + 1, sizeof **found, error) : NULL;
    const uint32_t number = launch_number(search);
    for (size_t i = 0; *found && i < catalogue->launch_count; i++) {
        const struct cts_launch *const launch = &catalogue->launches[i];
        if (!*search || launch->launch == number ||
            (launch->kernel < catalogue->kernel_count && matches[launch->kernel]))
            (*found)[(*total)++] = (struct found_launch){value_of(snapshot, i, order), i};
    }
    free(matches);
    if (!*found) return CTS_MEMORY;
    if (order != BY_LAUNCH) qsort(*found, *total, sizeof **found, by_value);
    return CTS_OK;
}

enum cts_status cts_view_write_launches(const struct cts_view_request *request,
                                        struct cts_json *json, struct cts_error *error)
{
    const struct cts_view_snapshot *const snapshot = request->snapshot;
    const struct cts_catalogue *const catalogue = &snapshot->recording.catalogue;
    struct found_launch *found = NULL;
    uint64_t from = 0, count = 100;
    size_t total = 0;
    enum cts_status status =
        cts_view_query_number(&request->query, "from", UINT32_MAX, &from, error);
    if (!status)
        status = cts_view_query_number(&request->query, "count", LAUNCHES_MAX, &count, error);
    if (!status) status = read_beside(request, &from, &count, error);
    if (!status) status = find_launches(request, &found, &total, error);
    if (status) return status;
    cts_json_key(json, "rows");
    cts_json_open_array(json);
    for (size_t i = from; i < total && i - from < count; i++) {
        cts_json_open_object(json);
        cts_view_launch_members(json, snapshot, &catalogue->launches[found[i].index]);
        cts_json_close_object(json);
    }
    cts_json_close_array(json);
    cts_json_member_u64(json, "total", total);
    free(found);
    return CTS_OK;
}
