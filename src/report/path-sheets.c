/* The lists of the path analysis: activities, patterns, the worst instances of each, devices. */
#include <math.h>
#include <string.h>

#include "report/path.h"

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

/* Without parameters; long names keep their begin and their end: templates differ there. */
static const char *shortened(const char *name, char *buffer, size_t size)
{
    const size_t length = (size_t)cts_kernel_name_length(name);
    const size_t tail = size / 3, head = size - 1 - tail - 2;
    if (length < size)
        snprintf(buffer, size, "%.*s", (int)length, name);
    else
        snprintf(buffer, size, "%.*s..%.*s", (int)head, name, (int)tail, name + length - tail);
    return buffer;
}

static const char *name_in_table(const struct cts_path_report *report, uint32_t region,
                                 char *buffer, size_t size)
{
    if (report->full_names) return report->result->names.full[region];
    return cts_short_name_fitted(&report->result->names, region, buffer, size);
}

/* "main > solve", the immediate caller last. */
static const char *callers_of(const struct cts_path_report *report,
                              const struct cts_path_stay *stay, char *buffer, size_t size)
{
    size_t length = 0;
    buffer[0] = 0;
    for (uint32_t i = stay->depth; i-- > 0 && length < size;) {
        const int written = snprintf(buffer + length, size - length, "%s%s", length ? " > " : "",
                                     report->result->names.short_form[stay->callers[i]]);
        length += written > 0 ? (size_t)written : 0;
    }
    return buffer;
}

/* ---- activities ---- */

static const struct cts_column activity_columns[] = {
    {"activity", NULL, CTS_CELL_TEXT, false},
    {"name", "activity", CTS_CELL_TEXT, true},
    {"where", "where", CTS_CELL_TEXT, false},
    {"calls", "calls", CTS_CELL_COUNT, false},
    {"inclusive_ns", "inclusive", CTS_CELL_TIME, false},
    {"exclusive_ns", "exclusive", CTS_CELL_TIME, false},
    {"path_ns", "on path", CTS_CELL_TIME, false},
    {"path_share", "path%", CTS_CELL_FRACTION, false},
    {"blame_ns", "blame", CTS_CELL_TIME, false},
    {"blame_share", "blame%", CTS_CELL_FRACTION, false},
    {"rating", "rating", CTS_CELL_RATING, false},
    {"rank_least_ns", "least", CTS_CELL_TIME, false},
    {"rank_least", "rank", CTS_CELL_ID, false},
    {"rank_mean_ns", "mean", CTS_CELL_TIME, false},
    {"rank_most_ns", "most", CTS_CELL_TIME, false},
    {"rank_most", "rank", CTS_CELL_ID, false},
    {"longest_ns", NULL, CTS_CELL_TIME, false},
    {"longest_begin_ns", NULL, CTS_CELL_TIME, false},
    {"longest_location", NULL, CTS_CELL_TEXT, false},
    {"longest_callers", NULL, CTS_CELL_TEXT, false},
    {"short_name", NULL, CTS_CELL_TEXT, false},
    {"file", NULL, CTS_CELL_TEXT, false},
    {"line", NULL, CTS_CELL_ID, false},
    /* where a run directory knows more of the kernels */
    {"occupancy", "occup.", CTS_CELL_FRACTION, false},
    {"memory_efficiency", "mem.eff", CTS_CELL_FRACTION, false},
};
enum { KERNEL_COLUMNS = 2 };

static void activity_row(const void *state, size_t index, union cts_cell *cells)
{
    const struct cts_path_report *const report = state;
    const struct cts_path_row *const row = &report->result->rows[index];
    static _Thread_local char name[NAME_IN_TABLE + 1], location[96], callers[1024];
    cells[0].text = report->result->region_names[row->region];
    cells[1].text = name_in_table(report, row->region, name, sizeof name);
    cells[2].text = where_names[row->where];
    cells[3].number = row->calls;
    cells[4].number = row->inclusive_ns;
    cells[5].number = row->exclusive_ns;
    cells[6].number = row->path_ns;
    cells[7].real = row->path_share;
    cells[8].number = row->blame_ns;
    cells[9].real = row->blame_share;
    cells[10].real = row->rating;
    cells[11].number = row->least_ns;
    cells[12].number = row->calls ? row->least_rank : UINT64_MAX;
    cells[13].number = row->exclusive_ns / report->result->process_count;
    cells[14].number = row->most_ns;
    cells[15].number = row->calls ? row->most_rank : UINT64_MAX;
    const struct cts_path_stay *const stay = &row->stay;
    cells[16].number = stay->ns;
    cells[17].number = stay->begin_ns;
    cells[18].text =
        stay->ns ? cts_path_location_name(report, stay->location, location, sizeof location) : NULL;
    cells[19].text = stay->depth ? callers_of(report, stay, callers, sizeof callers) : NULL;
    const struct cts_timeline *const timeline = report->result->timeline;
    const bool known = row->region < timeline->region_count;
    cells[20].text = report->result->names.short_form[row->region];
    cells[21].text = known ? timeline->regions[row->region].file : NULL;
    cells[22].number = known ? timeline->regions[row->region].begin_line : 0;
    if (!report->kernels) return;
    const bool kernel = row->region < report->kernels->region_count;
    cells[23].real = kernel ? report->kernels->by_region[row->region].occupancy : NAN;
    cells[24].real = kernel ? report->kernels->by_region[row->region].memory_efficiency : NAN;
}

/* ---- patterns ---- */

static const struct cts_column pattern_columns[] = {
    {"pattern", "pattern", CTS_CELL_TEXT, false},
    {"count", "waits", CTS_CELL_COUNT, false},
    {"time_ns", "time", CTS_CELL_TIME, false},
    {"share", "share", CTS_CELL_FRACTION, false},
    {"longest_ns", "longest", CTS_CELL_TIME, false},
    {"meaning", "what it is", CTS_CELL_TEXT, false},
};

static bool is_pattern(enum cts_path_pattern pattern)
{
    return pattern < CTS_PATH_WAITS_END;
}

static size_t pattern_count(void)
{
    return CTS_PATH_WAITS_END;
}

static void pattern_row(const void *state, size_t index, union cts_cell *cells)
{
    const struct cts_path_report *const report = state;
    const struct cts_path_pattern_row *const row = &report->result->patterns[index];
    const uint64_t all_ns = report->result->wait_ns;
    cells[0].text = cts_path_pattern_names[row->pattern];
    cells[1].number = row->count;
    cells[2].number = row->time_ns;
    cells[3].real = all_ns ? (double)row->time_ns / (double)all_ns : 0;
    cells[4].number = row->worst_count ? row->worst[0].end_ns - row->worst[0].begin_ns : 0;
    cells[5].text = cts_path_pattern_texts[row->pattern];
}

/* ---- instances ---- */

static const struct cts_column instance_columns[] = {
    {"pattern", "pattern", CTS_CELL_TEXT, false},  {"duration_ns", "waited", CTS_CELL_TIME, false},
    {"begin_ns", "from", CTS_CELL_TIME, false},    {"end_ns", NULL, CTS_CELL_TIME, false},
    {"location", NULL, CTS_CELL_TEXT, false},      {"culprit", NULL, CTS_CELL_TEXT, false},
    {"blamed", NULL, CTS_CELL_TEXT, false},        {"blamed_activity", NULL, CTS_CELL_TEXT, false},
    {"blamed_ns", NULL, CTS_CELL_TIME, false},     {"where", "where", CTS_CELL_TEXT, true},
    {"for", "waits for", CTS_CELL_TEXT, true},     {"to_blame", "to blame", CTS_CELL_TEXT, true},
    {"running", "which ran", CTS_CELL_TEXT, true},
};

static size_t instance_count(const struct cts_path *result)
{
    size_t count = 0;
    for (unsigned p = 0; p < CTS_PATH_PATTERN_COUNT; p++)
        if (is_pattern((enum cts_path_pattern)p)) count += result->patterns[p].worst_count;
    return count;
}

/* In a table the rank stands for its first thread, as Score-P and we name it. */
static const char *short_location(const char *name, char *buffer, size_t size)
{
    static const char master[] = ": Master thread";
    const char *const tail = name ? strstr(name, master) : NULL;
    if (!tail || tail[sizeof master - 1]) return name ? shortened(name, buffer, size) : NULL;
    snprintf(buffer, size, "%.*s", (int)(tail - name), name);
    return buffer;
}

const struct cts_path_instance *cts_path_instance_at(const struct cts_path *result, size_t row,
                                                     enum cts_path_pattern *pattern)
{
    unsigned at = 0;
    while (row >= result->patterns[at].worst_count) row -= result->patterns[at++].worst_count;
    *pattern = (enum cts_path_pattern)at;
    return &result->patterns[at].worst[row];
}

static void instance_row(const void *state, size_t index, union cts_cell *cells)
{
    const struct cts_path_report *const report = state;
    enum cts_path_pattern pattern;
    const struct cts_path_instance *const instance =
        cts_path_instance_at(report->result, index, &pattern);
    static _Thread_local char where[96], culprit[96], blamed[96], name[RUNNING_IN_TABLE + 1];
    static _Thread_local char short_where[LOCATION_IN_TABLE + 1];
    static _Thread_local char short_culprit[LOCATION_IN_TABLE + 1];
    static _Thread_local char short_blamed[LOCATION_IN_TABLE + 1];
    cells[0].text = cts_path_pattern_names[pattern];
    cells[1].number = instance->end_ns - instance->begin_ns;
    cells[2].number = instance->begin_ns;
    cells[3].number = instance->end_ns;
    cells[4].text = cts_path_location_name(report, instance->location, where, sizeof where);
    cells[5].text = cts_path_location_name(report, instance->culprit, culprit, sizeof culprit);
    cells[6].text = cts_path_location_name(report, instance->blamed, blamed, sizeof blamed);
    cells[7].text = instance->blamed_region < report->result->region_count
                        ? report->result->region_names[instance->blamed_region]
                        : NULL;
    cells[8].number = instance->blamed_ns;
    cells[9].text = short_location(cells[4].text, short_where, sizeof short_where);
    cells[10].text = short_location(cells[5].text, short_culprit, sizeof short_culprit);
    cells[11].text = short_location(cells[6].text, short_blamed, sizeof short_blamed);
    cells[12].text =
        cells[7].text ? name_in_table(report, instance->blamed_region, name, sizeof name) : NULL;
}

/* ---- devices ---- */

static const struct cts_column device_columns[] = {
    {"rank", NULL, CTS_CELL_ID, false},
    {"device", NULL, CTS_CELL_TEXT, false},
    {"name", "device", CTS_CELL_TEXT, true},
    {"streams", "streams", CTS_CELL_COUNT, false},
    {"activities", "activities", CTS_CELL_COUNT, false},
    {"startup_ns", "start-up", CTS_CELL_TIME, false},
    {"span_ns", "in use for", CTS_CELL_TIME, false},
    {"idle_ns", NULL, CTS_CELL_TIME, false},
    {"idle_share", "idle", CTS_CELL_FRACTION, false},
    {"one_ns", NULL, CTS_CELL_TIME, false},
    {"one_share", "1 runs", CTS_CELL_FRACTION, false},
    {"two_ns", NULL, CTS_CELL_TIME, false},
    {"two_share", "2 run", CTS_CELL_FRACTION, false},
    {"more_ns", NULL, CTS_CELL_TIME, false},
    {"more_share", "3+ run", CTS_CELL_FRACTION, false},
    {"copy_ns", "copies", CTS_CELL_TIME, false},
    {"copy_alone_ns", "alone", CTS_CELL_TIME, false},
    {"copy_missed_ns", "missed", CTS_CELL_TIME, false},
    {"copy_missed_count", NULL, CTS_CELL_COUNT, false},
};

static void device_row(const void *state, size_t index, union cts_cell *cells)
{
    const struct cts_path_report *const report = state;
    const struct cts_path_device_row *const row = &report->result->devices[index];
    const double span_ns = row->span_ns ? (double)row->span_ns : 1;
    static _Thread_local char device[16], name[48];
    cells[0].number = row->rank;
    cells[1].text = row->device == CTS_TIMELINE_NONE ? NULL : device;
    snprintf(device, sizeof device, "%u", row->device);
    cells[2].text = name;
    snprintf(name, sizeof name, "rank %u: %s%s", row->rank,
             cells[1].text ? "device " : "its device", cells[1].text ? device : "");
    cells[3].number = row->stream_count;
    cells[4].number = row->activity_count;
    cells[5].number = row->startup_ns;
    cells[6].number = row->span_ns;
    const uint64_t times_ns[] = {row->idle_ns, row->busy_ns[0], row->busy_ns[1], row->busy_ns[2]};
    for (size_t i = 0; i < sizeof times_ns / sizeof *times_ns; i++) {
        cells[7 + 2 * i].number = times_ns[i];
        cells[8 + 2 * i].real = (double)times_ns[i] / span_ns;
    }
    cells[15].number = row->copy_ns;
    cells[16].number = row->copy_alone_ns;
    cells[17].number = row->copy_missed_ns;
    cells[18].number = row->copy_missed_count;
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
        return CTS_SHEET("devices", device_columns, result->device_count, device_row, report);
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

static bool is_among(const char *key, const char *keys)
{
    const char *const found = strstr(keys, key);
    return found && (found == keys || found[-1] == ' ') && strchr(" ", found[strlen(key)]);
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
    };
    static const char with_kernels[] = "name calls path_share blame_share rating occupancy "
                                       "memory_efficiency";
    static _Thread_local struct cts_column columns[CTS_PATH_SHEET_COUNT][CTS_SHEET_COLUMNS_MAX];
    struct cts_sheet sheet = cts_path_sheet(report, which);
    const bool kernels = which == CTS_PATH_SHEET_ACTIVITY && knows_kernels(report);
    for (size_t i = 0; i < sheet.column_count; i++) {
        columns[which][i] = sheet.columns[i];
        if (!is_among(sheet.columns[i].key, kernels ? with_kernels : keys[which]))
            columns[which][i].title = NULL;
    }
    sheet.columns = columns[which];
    return sheet;
}
