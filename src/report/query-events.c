/* Tables events (as the archive has them) and activities (from an ENTER to its LEAVE), location
 * after location. A query with location = N reads only that one's. */
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "report/query-tables.h"
#include "trace/timeline/reader.h"

struct activity {
    uint32_t region;
    uint64_t start_ns;
};

struct event_cursor {
    const struct cts_timeline *timeline;
    size_t location, end_location; /* the one at hand + 1, while its reader is open */
    struct cts_timeline_reader *reader;
    const struct cts_timeline_event *event;
    struct activity *items; /* entered */
    size_t count, capacity;
    struct activity done; /* the row of activities */
};

enum { EVENT_LOCATION, EVENT_NAME, EVENT_TIME, EVENT_KIND, EVENT_REGION, EVENT_PEER, EVENT_BYTES };
enum {
    ACTIVITY_LOCATION,
    ACTIVITY_NAME,
    ACTIVITY_REGION,
    ACTIVITY_START,
    ACTIVITY_END,
    ACTIVITY_DURATION,
    ACTIVITY_DEPTH
};

static const struct {
    const char *name, *type;
} event_columns[] = {{"location", "INTEGER"}, {"location_name", "TEXT"}, {"time_ns", "INTEGER"},
                     {"event", "TEXT"},       {"region", "TEXT"},        {"peer", "INTEGER"},
                     {"bytes", "INTEGER"}},
  activity_columns[] = {{"location", "INTEGER"}, {"location_name", "TEXT"},
                        {"region", "TEXT"},      {"start_ns", "INTEGER"},
                        {"end_ns", "INTEGER"},   {"duration_ns", "INTEGER"},
                        {"depth", "INTEGER"}};

static void declare_events(const struct cts_query_table *table, const struct cts_query_state *state,
                           FILE *file)
{
    (void)table;
    (void)state;
    for (size_t i = 0; i < sizeof event_columns / sizeof *event_columns; i++)
        cts_query_declare(file, event_columns[i].name, event_columns[i].type, i == 0);
}

static void declare_activities(const struct cts_query_table *table,
                               const struct cts_query_state *state, FILE *file)
{
    (void)table;
    (void)state;
    for (size_t i = 0; i < sizeof activity_columns / sizeof *activity_columns; i++)
        cts_query_declare(file, activity_columns[i].name, activity_columns[i].type, i == 0);
}

static enum cts_status begin(struct cts_query_state *state, const struct cts_query_table *table,
                             void *own, const int64_t *key, struct cts_error *error)
{
    struct event_cursor *const cursor = own;
    (void)table;
    const enum cts_status status =
        state->run->open_timeline(state->run->state, &cursor->timeline, error);
    if (status) return status;
    cursor->end_location = cursor->timeline->location_count;
    if (key && (*key < 0 || (uint64_t)*key >= cursor->end_location)) cursor->end_location = 0;
    if (key && cursor->end_location) {
        cursor->location = (size_t)*key;
        cursor->end_location = cursor->location + 1;
    }
    return CTS_OK;
}

/* The next event of this location or of the next one that has any. */
static bool next_event(struct cts_query_state *state, struct event_cursor *cursor,
                       enum cts_status *status, struct cts_error *error)
{
    const struct cts_event_attributes *attributes;
    for (;;) {
        if (cursor->reader && cts_timeline_reader_next(cursor->reader, &cursor->event, &attributes))
            return true;
        if (cursor->reader) *status = cts_timeline_reader_end(cursor->reader, error);
        if (cursor->reader) cts_timeline_reader_close(cursor->reader);
        cursor->reader = NULL;
        cursor->count = 0;
        if (*status == CTS_FORMAT) *status = CTS_OK; /* damage ends a location: it is told apart */
        if (*status || cursor->location >= cursor->end_location) return false;
        if (cts_query_is_late(state)) return false;
        if (cursor->timeline->locations[cursor->location++].missing) continue;
        *status = cts_timeline_reader_open(cursor->timeline, (uint32_t)cursor->location - 1,
                                           &cursor->reader, error);
        if (*status == CTS_FORMAT) *status = CTS_OK;
        if (*status) return false;
    }
}

static bool next_of_events(struct cts_query_state *state, const struct cts_query_table *table,
                           void *own, enum cts_status *status, struct cts_error *error)
{
    (void)table;
    return next_event(state, own, status, error);
}

static bool next_activity(struct cts_query_state *state, const struct cts_query_table *table,
                          void *own, enum cts_status *status, struct cts_error *error)
{
    struct event_cursor *const cursor = own;
    (void)table;
    while (next_event(state, cursor, status, error)) {
        const struct cts_timeline_event *const e = cursor->event;
        if (e->kind == CTS_EVENT_ENTER) {
            *status = CTS_ARRAY_RESERVE(cursor, cursor->count + 1, error);
            if (*status) return false;
            cursor->items[cursor->count++] = (struct activity){e->region, e->time_ns};
        }
        if (e->kind != CTS_EVENT_LEAVE || !cursor->count) continue;
        cursor->done = cursor->items[--cursor->count];
        return true;
    }
    return false;
}

static void result_text(sqlite3_context *context, const char *text)
{
    sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

static const char *region_name(const struct cts_timeline *timeline, uint32_t region)
{
    return region < timeline->region_count ? timeline->regions[region].name : NULL;
}

/* Both tables begin with the location. */
static bool result_location(const struct event_cursor *cursor, int column, sqlite3_context *context)
{
    if (column == EVENT_LOCATION)
        sqlite3_result_int64(context, (int64_t)cursor->location - 1);
    else if (column == EVENT_NAME)
        result_text(context, cursor->timeline->locations[cursor->location - 1].name);
    return column <= EVENT_NAME;
}

static bool has_peer(enum cts_timeline_event_kind kind)
{
    return kind == CTS_EVENT_MPI_SEND || kind == CTS_EVENT_MPI_RECV ||
           kind == CTS_EVENT_MPI_ISEND || kind == CTS_EVENT_MPI_IRECV;
}

static void column_of_event(const struct cts_query_state *state,
                            const struct cts_query_table *table, void *own, int column,
                            sqlite3_context *context)
{
    const struct event_cursor *const cursor = own;
    const struct cts_timeline_event *const e = cursor->event;
    (void)state;
    (void)table;
    if (result_location(cursor, column, context)) return;
    if (column == EVENT_TIME)
        sqlite3_result_int64(context, (int64_t)e->time_ns);
    else if (column == EVENT_KIND)
        result_text(context, cts_timeline_event_names[e->kind]);
    else if (column == EVENT_REGION && (e->kind == CTS_EVENT_ENTER || e->kind == CTS_EVENT_LEAVE))
        result_text(context, region_name(cursor->timeline, e->region));
    else if (column == EVENT_PEER && has_peer(e->kind))
        sqlite3_result_int64(context, e->message.peer);
    else if (column == EVENT_BYTES && has_peer(e->kind))
        sqlite3_result_int64(context, (int64_t)e->message.bytes);
    else
        sqlite3_result_null(context);
}

static void column_of_activity(const struct cts_query_state *state,
                               const struct cts_query_table *table, void *own, int column,
                               sqlite3_context *context)
{
    const struct event_cursor *const cursor = own;
    const uint64_t start_ns = cursor->done.start_ns, end_ns = cursor->event->time_ns;
    (void)state;
    (void)table;
    if (result_location(cursor, column, context)) return;
    if (column == ACTIVITY_REGION)
        result_text(context, region_name(cursor->timeline, cursor->done.region));
    else
        sqlite3_result_int64(context, column == ACTIVITY_START      ? (int64_t)start_ns
                                      : column == ACTIVITY_END      ? (int64_t)end_ns
                                      : column == ACTIVITY_DURATION ? (int64_t)(end_ns - start_ns)
                                                                    : (int64_t)cursor->count);
}

static void end(void *own)
{
    struct event_cursor *const cursor = own;
    if (cursor->reader) cts_timeline_reader_close(cursor->reader);
    free(cursor->items);
}

#define EVENTS(name_, declare_, next_, column_)                                                    \
    {.name = name_,                                                                                \
     .declare = declare_,                                                                          \
     .cursor_bytes = sizeof(struct event_cursor),                                                  \
     .keyed_column = EVENT_LOCATION,                                                               \
     .begin = begin,                                                                               \
     .next = next_,                                                                                \
     .column = column_,                                                                            \
     .end = end}
const struct cts_query_table cts_query_events[] = {
    EVENTS("events", declare_events, next_of_events, column_of_event),
    EVENTS("activities", declare_activities, next_activity, column_of_activity),
    {.name = NULL},
};
