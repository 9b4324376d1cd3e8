/* The public API's timelines: definitions as they are, events as activities in columns. */
#include <stdio.h>
#include <stdlib.h>

#include "common/array.h"
#include "trace/api/api-private.h"
#include "trace/timeline/timeline.h"

struct cts_archive {
    struct cts_timeline timeline;
};

enum cts_result cts_archive_open(const char *path, struct cts_archive **out, char *error,
                                 size_t error_bytes)
{
    struct cts_error failure = {.status = CTS_MEMORY, .text = "out of memory"};
    struct cts_archive *const archive = calloc(1, sizeof *archive);
    *out = NULL;
    if (!archive || cts_timeline_open(path, &archive->timeline, &failure)) {
        free(archive);
        return cts_api_give(&failure, error, error_bytes);
    }
    *out = archive;
    return CTS_RESULT_OK;
}

void cts_archive_close(struct cts_archive *archive)
{
    if (!archive) return;
    cts_timeline_close(&archive->timeline);
    free(archive);
}

size_t cts_archive_location_count(const struct cts_archive *archive)
{
    return archive->timeline.location_count;
}

enum cts_result cts_archive_location(const struct cts_archive *archive, size_t location,
                                     struct cts_location_info *info)
{
    if (location >= archive->timeline.location_count) return CTS_RESULT_USAGE;
    const struct cts_timeline_location *const row = &archive->timeline.locations[location];
    const struct cts_timeline_group *const process = row->process < archive->timeline.group_count
                                                         ? &archive->timeline.groups[row->process]
                                                         : NULL;
    const struct cts_location_info full = {
        .location = (uint32_t)location,
        .is_stream = row->kind == CTS_LOCATION_STREAM,
        .rank = process ? process->rank : CTS_UNKNOWN,
        .name = row->name,
        .process = process ? process->name : NULL,
        .events = row->event_count,
        .is_missing = row->missing,
    };
    return cts_api_deliver(info, &full, sizeof full);
}

size_t cts_archive_region_count(const struct cts_archive *archive)
{
    return archive->timeline.region_count;
}

enum cts_result cts_archive_region(const struct cts_archive *archive, size_t region,
                                   struct cts_region_info *info)
{
    if (region >= archive->timeline.region_count) return CTS_RESULT_USAGE;
    const struct cts_timeline_region *const row = &archive->timeline.regions[region];
    const struct cts_region_info full = {
        .region = (uint32_t)region,
        .name = row->name,
        .path = row->file,
        .line = row->begin_line,
    };
    return cts_api_deliver(info, &full, sizeof full);
}

/* ---- activities ---- */

struct matching {
    const struct cts_activity_columns *columns;
    uint64_t count, last_ns;
    struct {
        uint64_t *items;
        size_t capacity;
    } open; /* the activities that are open, outermost first, by their places */
    size_t depth;
    struct cts_error *failure;
};

static void close_innermost(struct matching *m, uint64_t end_ns)
{
    const uint64_t place = m->open.items[--m->depth];
    if (place < m->columns->capacity && m->columns->ends_ns) m->columns->ends_ns[place] = end_ns;
}

static void begin_activity(struct matching *m, const struct cts_timeline_event *event)
{
    const struct cts_activity_columns *const columns = m->columns;
    if (CTS_ARRAY_RESERVE(&m->open, m->depth + 1, m->failure)) return;
    if (m->count < columns->capacity) {
        if (columns->starts_ns) columns->starts_ns[m->count] = event->time_ns;
        if (columns->regions) columns->regions[m->count] = event->region;
        if (columns->depths) columns->depths[m->count] = (uint32_t)m->depth;
    }
    m->open.items[m->depth++] = m->count++;
}

static bool match(void *state, uint32_t location, const struct cts_timeline_event *event,
                  const struct cts_event_attributes *attributes)
{
    struct matching *const m = state;
    (void)location;
    (void)attributes;
    m->last_ns = event->time_ns;
    if (event->kind == CTS_EVENT_ENTER)
        begin_activity(m, event);
    else if (event->kind == CTS_EVENT_LEAVE && m->depth > 0)
        close_innermost(m, event->time_ns);
    return !m->failure->status;
}

enum cts_result cts_archive_activities(const struct cts_archive *archive, size_t location,
                                       const struct cts_activity_columns *columns, uint64_t *count,
                                       char *error, size_t error_bytes)
{
    struct cts_error failure = {0};
    *count = 0;
    if (location >= archive->timeline.location_count || columns->struct_size < sizeof *columns) {
        cts_fail(&failure, CTS_USAGE, "no such location, or struct_size of the columns is not set");
        return cts_api_give(&failure, error, error_bytes);
    }
    struct matching matching = {.columns = columns, .failure = &failure};
    const enum cts_status status =
        cts_timeline_read(&archive->timeline, (uint32_t)location, match, &matching, &failure);
    while (matching.depth > 0) close_innermost(&matching, matching.last_ns);
    free(matching.open.items);
    if (status || failure.status) return cts_api_give(&failure, error, error_bytes);
    *count = matching.count;
    return CTS_RESULT_OK;
}
