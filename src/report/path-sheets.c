/* The lists of the path analysis: activities, patterns, the worst instances of each, devices. */
#include <math.h>
#include <string.h>

#include "report/path-report.h"

enum { NAME_IN_TABLE = 26, RUNNING_IN_TABLE = 18, LOCATION_IN_TABLE = 20 };

static const char *const where_names[] = {
    [CTS_PATH_ON_HOST] = "host",
    [CTS_PATH_ON_DEVICE] = "device",
    [CTS_PATH_IN_MPI] = "MPI",
    [CTS_PATH_LATENCY] = "latency",
};

enum cts_path_sheet cts_path_sheet_named(const char *text)
{
    static const char *const names[] = {
#define X(name, text) [CTS_PATH_SHEET_##name] = text,
        CTS_PATH_SHEETS(X)
#undef X
    };
    for (unsigned i = 0; i < CTS_PATH_SHEET_COUNT; i++)
        if (!strcmp(names[i], text)) return (enum cts_path_sheet)i;
    return CTS_PATH_SHEET_COUNT;
}

const char *cts_path_location_name(const struct cts_path_report *report, uint32_t location,
                                   char *buffer, size_t size)
{
    const struct cts_timeline *const timeline = report->result->timeline;
    if (location >= timeline->location_count) return NULL;
    const struct cts_timeline_location *const l = &timeline->locations[location];
    const char *const name = l->name && *l->name ? l->name : "?";
    if (l->process < timeline->group_count && report->result->process_count > 1)
        snprintf(buffer, size, "rank %u: %s", timeline->groups[l->process].rank, name);
    else
        snprintf(buffer, size, "%s", name);
    return buffer;
}

static const char *location_cell(const struct cts_path_report *report, uint32_t location,
                                 struct cts_sheet_row *cells)
{
    enum { BYTES = 96 };
    return cts_path_location_name(report, location, cts_sheet_room(cells, BYTES), BYTES);
}

/* Without parameters; long names keep their begin and their end: templates differ there. */
static const char *shortened(const char *name, int columns, struct cts_sheet_row *cells)
{
    const size_t room = (size_t)columns + 1;
    const int length = cts_kernel_name_length(name), tail = (columns + 1) / 3,
              head = columns - tail - 2;
    if (length <= columns) return cts_sheet_text(cells, room, "%.*s", length, name);
    return cts_sheet_text(cells, room, "%.*s..%.*s", head, name, tail, name + length - tail);
}

static const char *name_in_table(const struct cts_path_report *report, uint32_t region,
                                 struct cts_sheet_row *cells, size_t columns)
{
    if (report->full_names) return report->result->names.full[region];
    return cts_short_name_fitted(&report->result->names, region, cts_sheet_room(cells, columns + 1),
                                 columns + 1);
}

/* "main > solve", the immediate caller last. */
static const char *callers_of(const struct cts_path_report *report,
                              const struct cts_path_stay *stay, struct cts_sheet_row *cells)
{
    enum { BYTES = 1024 };
    char *const text = cts_sheet_room(cells, BYTES);
    size_t length = 0;
    for (uint32_t i = stay->depth; i-- > 0 && length < BYTES;) {
        const int written = snprintf(text + length, BYTES - length, "%s%s", length ? " > " : "",
                                     report->result->names.short_form[stay->callers[i]]);
        length += written > 0 ? (size_t)written : 0;
    }
    return text;
}

/* ---- activities ---- */

#define ACTIVITY_COLUMNS(COLUMN)                                                                   \
    COLUMN(activity, NULL, TEXT, report->result->region_names[row->region])                        \
    COLUMN(name, "activity", TABLE_TEXT, name_in_table(report, row->region, cells, NAME_IN_TABLE)) \
    COLUMN(where, "where", TEXT, where_names[row->where])                                          \
    COLUMN(calls, "calls", COUNT_IF, row->calls)                                                   \
    COLUMN(inclusive_ns, "inclusive", TIME_IF, row->inclusive_ns)                                  \
    COLUMN(exclusive_ns, "exclusive", TIME_IF, row->exclusive_ns)                                  \
    COLUMN(path_ns, "on path", TIME, row->path_ns)                                                 \
    COLUMN(path_share, "path%", FRACTION, row->path_share)                                         \
    COLUMN(blame_ns, "blame", TIME, row->blame_ns)                                                 \
    COLUMN(blame_share, "blame%", FRACTION, row->blame_share)                                      \
    COLUMN(rating, "rating", RATING, row->rating)                                                  \
    COLUMN(rank_least_ns, "least", TIME, row->least_ns)                                            \
    COLUMN(rank_least, "rank", ID, row->calls ? row->least_rank : UINT64_MAX)                      \
    COLUMN(rank_mean_ns, "mean", TIME, row->exclusive_ns / report->result->process_count)          \
    COLUMN(rank_most_ns, "most", TIME, row->most_ns)                                               \
    COLUMN(rank_most, "rank", ID, row->calls ? row->most_rank : UINT64_MAX)                        \
    COLUMN(longest_ns, NULL, TIME, stay->ns)                                                       \
    COLUMN(longest_begin_ns, NULL, TIME, stay->begin_ns)                                           \
    COLUMN(longest_location, NULL, TEXT,                                                           \
           stay->ns ? location_cell(report, stay->location, cells) : NULL)                         \
    COLUMN(longest_callers, NULL, TEXT, stay->depth ? callers_of(report, stay, cells) : NULL)      \
    COLUMN(short_name, NULL, TEXT, report->result->names.short_form[row->region])                  \
    COLUMN(file, NULL, TEXT, known ? timeline->regions[row->region].file : NULL)                   \
    COLUMN(line, NULL, ID, known ? timeline->regions[row->region].begin_line : 0)                  \
    COLUMN(startup, NULL, FLAG, row->frame)                                                        \
    COLUMN(occupancy, "occup.", FRACTION, kernel ? kernel->occupancy : NAN)                        \
    COLUMN(memory_efficiency, "mem.eff", FRACTION, kernel ? kernel->memory_efficiency : NAN)
CTS_SHEET_COLUMNS(activity_columns, ACTIVITY_COLUMNS);
enum { KERNEL_COLUMNS = 2 };

static void activity_row(const void *state, size_t index, struct cts_sheet_row *cells)
{
    const struct cts_path_report *const report = state;
    const struct cts_path_row *const row = &report->result->rows[index];
    const struct cts_path_stay *const stay = &row->stay;
    const struct cts_timeline *const timeline = report->result->timeline;
    const bool known = row->region < timeline->region_count;
    const struct cts_path_kernel *const kernel =
        report->kernels && row->region < report->kernels->region_count
            ? &report->kernels->by_region[row->region]
            : NULL;
    CTS_SHEET_FILL(cells, ACTIVITY_COLUMNS);
}

/* ---- patterns ---- */

#define PATTERN_COLUMNS(COLUMN)                                                                    \
    COLUMN(pattern, "pattern", TEXT, cts_path_pattern_names[row->pattern])                         \
    COLUMN(count, "waits", COUNT, row->count)                                                      \
    COLUMN(time_ns, "time", TIME, row->time_ns)                                                    \
    COLUMN(share, "share", FRACTION, all_ns ? (double)row->time_ns / (double)all_ns : 0)           \
    COLUMN(longest_ns, "longest", TIME,                                                            \
           row->worst_count ? row->worst[0].end_ns - row->worst[0].begin_ns : 0)                   \
    COLUMN(meaning, "what it is", TEXT, cts_path_pattern_texts[row->pattern])
CTS_SHEET_COLUMNS(pattern_columns, PATTERN_COLUMNS);

static bool is_pattern(enum cts_path_pattern pattern)
{
    return pattern < CTS_PATH_WAITS_END;
}

static size_t pattern_count(void)
{
    return CTS_PATH_WAITS_END;
}

static void pattern_row(const void *state, size_t index, struct cts_sheet_row *cells)
{
    const struct cts_path_report *const report = state;
    const struct cts_path_pattern_row *const row = &report->result->patterns[index];
    const uint64_t all_ns = report->result->wait_ns;
    CTS_SHEET_FILL(cells, PATTERN_COLUMNS);
}

/* ---- instances ---- */

#define INSTANCE_COLUMNS(COLUMN)                                                                   \
    COLUMN(pattern, "pattern", TEXT, cts_path_pattern_names[pattern])                              \
    COLUMN(duration_ns, "waited", TIME, instance->end_ns - instance->begin_ns)                     \
    COLUMN(begin_ns, "from", TIME, instance->begin_ns)                                             \
    COLUMN(end_ns, NULL, TIME, instance->end_ns)                                                   \
    COLUMN(location, NULL, TEXT, where)                                                            \
    COLUMN(waits_for, NULL, TEXT, culprit)                                                         \
    COLUMN(blamed, NULL, TEXT, blamed)                                                             \
    COLUMN(blamed_activity, NULL, TEXT,                                                            \
           ran ? report->result->region_names[instance->blamed_region] : NULL)                     \
    COLUMN(blamed_ns, NULL, TIME, instance->blamed_ns)                                             \
    COLUMN(blamed_short_name, NULL, TEXT,                                                          \
           ran ? report->result->names.short_form[instance->blamed_region] : NULL)                 \
    COLUMN(where, "where", TABLE_TEXT, short_location(where, cells))                               \
    COLUMN(for, "waits for", TABLE_TEXT, short_location(culprit, cells))                           \
    COLUMN(to_blame, "to blame", TABLE_TEXT, short_location(blamed, cells))                        \
    COLUMN(running, "which ran", TABLE_TEXT,                                                       \
           ran ? name_in_table(report, instance->blamed_region, cells, RUNNING_IN_TABLE) : NULL)
CTS_SHEET_COLUMNS(instance_columns, INSTANCE_COLUMNS);

static size_t instance_count(const struct cts_path *result)
{
    size_t count = 0;
    for (unsigned p = 0; p < CTS_PATH_PATTERN_COUNT; p++)
        if (is_pattern((enum cts_path_pattern)p)) count += result->patterns[p].worst_count;
    return count;
}

/* In a table the rank stands for its first thread, as Score-P and we name it. */
static const char *short_location(const char *name, struct cts_sheet_row *cells)
{
    static const char master[] = ": Master thread";
    const char *const tail = name ? strstr(name, master) : NULL;
    if (!tail || tail[sizeof master - 1])
        return name ? shortened(name, LOCATION_IN_TABLE, cells) : NULL;
    return cts_sheet_text(cells, LOCATION_IN_TABLE + 1, "%.*s", (int)(tail - name), name);
}

const struct cts_path_instance *cts_path_instance_at(const struct cts_path *result, size_t row,
                                                     enum cts_path_pattern *pattern)
{
    unsigned at = 0;
    while (row >= result->patterns[at].worst_count) row -= result->patterns[at++].worst_count;
    *pattern = (enum cts_path_pattern)at;
    return &result->patterns[at].worst[row];
}

static void instance_row(const void *state, size_t index, struct cts_sheet_row *cells)
{
    const struct cts_path_report *const report = state;
    enum cts_path_pattern pattern;
    const struct cts_path_instance *const instance =
        cts_path_instance_at(report->result, index, &pattern);
    const char *const where = location_cell(report, instance->location, cells);
    const char *const culprit = location_cell(report, instance->culprit, cells);
    const char *const blamed = location_cell(report, instance->blamed, cells);
    const bool ran = instance->blamed_region < report->result->region_count;
    CTS_SHEET_FILL(cells, INSTANCE_COLUMNS);
}

/* ---- devices ---- */

static double share_of_span(const struct cts_path_device_row *row, uint64_t time_ns)
{
    return (double)time_ns / (row->span_ns ? (double)row->span_ns : 1);
}

#define DEVICE_COLUMNS(COLUMN)                                                                     \
    COLUMN(rank, NULL, ID, row->rank)                                                              \
    COLUMN(device, NULL, TEXT, device)                                                             \
    COLUMN(name, "device", TABLE_TEXT,                                                             \
           cts_sheet_text(cells, 48, "rank %u: %s%s", row->rank,                                   \
                          device ? "device " : "its device", device ? device : ""))                \
    COLUMN(streams, "streams", COUNT, row->stream_count)                                           \
    COLUMN(activities, "activities", COUNT, row->activity_count)                                   \
    COLUMN(startup_ns, "start-up", TIME, row->startup_ns)                                          \
    COLUMN(span_ns, "in use for", TIME, row->span_ns)                                              \
    COLUMN(idle_ns, NULL, TIME, row->idle_ns)                                                      \
    COLUMN(idle_share, "idle", FRACTION, share_of_span(row, row->idle_ns))                         \
    COLUMN(one_ns, NULL, TIME, row->busy_ns[0])                                                    \
    COLUMN(one_share, "1 runs", FRACTION, share_of_span(row, row->busy_ns[0]))                     \
    COLUMN(two_ns, NULL, TIME, row->busy_ns[1])                                                    \
    COLUMN(two_share, "2 run", FRACTION, share_of_span(row, row->busy_ns[1]))                      \
    COLUMN(more_ns, NULL, TIME, row->busy_ns[2])                                                   \
    COLUMN(more_share, "3+ run", FRACTION, share_of_span(row, row->busy_ns[2]))                    \
    COLUMN(copy_ns, "copies", TIME, row->copy_ns)                                                  \
    COLUMN(copy_alone_ns, "alone", TIME, row->copy_alone_ns)                                       \
    COLUMN(copy_missed_ns, "missed", TIME, row->copy_missed_ns)                                    \
    COLUMN(copy_missed_count, NULL, COUNT, row->copy_missed_count)
CTS_SHEET_COLUMNS(device_columns, DEVICE_COLUMNS);

static void device_row(const void *state, size_t index, struct cts_sheet_row *cells)
{
    const struct cts_path_report *const report = state;
    const struct cts_path_device_row *const row = &report->result->devices.items[index];
    const char *const device =
        row->device == CTS_TIMELINE_NONE ? NULL : cts_sheet_text(cells, 16, "%u", row->device);
    CTS_SHEET_FILL(cells, DEVICE_COLUMNS);
}

/* ---- ranks ---- */

#define RANK_COLUMNS(COLUMN)                                                                       \
    COLUMN(rank, "rank", ID, row->rank)                                                            \
    COLUMN(delayed_ns, "others wait", TIME, row->delayed_ns)                                       \
    COLUMN(delayed_count, "waits", COUNT, row->delayed_count)                                      \
    COLUMN(waited_ns, "it waits", TIME, row->waited_ns)                                            \
    COLUMN(longer_activity, NULL, TEXT, longer)                                                    \
    COLUMN(longer_ns, "longer by", TIME, row->longer_ns)                                           \
    COLUMN(longer_name, "in", TABLE_TEXT,                                                          \
           longer ? name_in_table(report, row->longer_region, cells, NAME_IN_TABLE) : NULL)
CTS_SHEET_COLUMNS(rank_columns, RANK_COLUMNS);

static void rank_row(const void *state, size_t index, struct cts_sheet_row *cells)
{
    const struct cts_path_report *const report = state;
    const struct cts_path_rank_row *const row = &report->result->ranks[index];
    const char *const longer =
        row->longer_ns ? report->result->region_names[row->longer_region] : NULL;
    CTS_SHEET_FILL(cells, RANK_COLUMNS);
}

struct cts_sheet cts_path_sheet(const struct cts_path_report *report, enum cts_path_sheet which)
{
    const struct cts_path *const result = report->result;
    switch (which) {
    case CTS_PATH_SHEET_PATTERN:
        return CTS_SHEET("patterns", pattern_columns, pattern_count(), pattern_row, report);
    case CTS_PATH_SHEET_INSTANCE:
        return CTS_SHEET("instances", instance_columns, instance_count(result), instance_row,
                         report);
    case CTS_PATH_SHEET_DEVICE:
        return CTS_SHEET("devices", device_columns, result->devices.count, device_row, report);
    case CTS_PATH_SHEET_RANK:
        return CTS_SHEET("ranks", rank_columns, result->process_count, rank_row, report);
    default: {
        struct cts_sheet sheet =
            CTS_SHEET("activities", activity_columns, result->row_count, activity_row, report);
        if (!report->kernels) sheet.column_count -= KERNEL_COLUMNS;
        return sheet;
    }
    }
}

/* ---- what fits a terminal ---- */

static bool knows_kernels(const struct cts_path_report *report)
{
    for (uint32_t i = 0; report->kernels && i < report->kernels->region_count; i++)
        if (!isnan(report->kernels->by_region[i].occupancy) ||
            !isnan(report->kernels->by_region[i].memory_efficiency))
            return true;
    return false;
}

struct cts_sheet cts_path_brief_sheet(const struct cts_path_report *report,
                                      enum cts_path_sheet which)
{
    static const char *const keys[CTS_PATH_SHEET_COUNT] = {
        [CTS_PATH_SHEET_ACTIVITY] = "name where calls inclusive_ns path_share blame_share rating",
        [CTS_PATH_SHEET_PATTERN] = "pattern count time_ns meaning",
        [CTS_PATH_SHEET_INSTANCE] = "pattern duration_ns begin_ns where to_blame running",
        [CTS_PATH_SHEET_DEVICE] = ("name activities startup_ns span_ns idle_share copy_ns "
                                   "copy_missed_ns"),
        [CTS_PATH_SHEET_RANK] = "rank delayed_ns delayed_count waited_ns longer_ns longer_name",
    };
    static const char with_kernels[] = "name calls path_share blame_share rating occupancy "
                                       "memory_efficiency";
    struct cts_sheet sheet = cts_path_sheet(report, which);
    const bool kernels = which == CTS_PATH_SHEET_ACTIVITY && knows_kernels(report);
    sheet.shown = kernels ? with_kernels : keys[which];
    return sheet;
}
