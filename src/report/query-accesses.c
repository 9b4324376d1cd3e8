/* Tables requests (a row per warp record) and accesses (a row per lane of one), read chunk by chunk
 * in the order of the files. A query with launch = N reads only that launch's. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/query-tables.h"
#include "trace/acc.h"
#include "trace/access.h"

struct access_cursor {
    const struct cts_access_source *source;
    uint64_t only; /* a launch; UINT64_MAX: all */
    size_t chunk;  /* the next one */
    struct cts_acc_batch batch;
    size_t record;    /* the next one of the batch */
    uint64_t request; /* of the record at hand, counted in its launch */
    uint32_t launch;  /* of that */
    bool has_begun;
    struct cts_access access;
    uint64_t addresses[CTS_WARP_LANES];
    int lane; /* of the row at hand; -1: the record is at its begin */
};

/* Name and type. Both tables begin with the same columns. */
#define ACCESS_COLUMNS(X)                                                                          \
    X(LAUNCH, "launch", "INTEGER")                                                                 \
    X(REQUEST, "request", "INTEGER")                                                               \
    X(CTA, "cta", "INTEGER")                                                                       \
    X(WARP, "warp", "INTEGER")                                                                     \
    X(SITE, "site", "INTEGER")                                                                     \
    X(OPERATION, "operation", "TEXT")                                                              \
    X(SPACE, "space", "TEXT")                                                                      \
    X(WIDTH, "width_bytes", "INTEGER")
enum access_column {
#define X(name, text, type) COLUMN_##name,
    ACCESS_COLUMNS(X)
#undef X
        COLUMN_FIRST_OWN /* mask, active_lanes, first_address; or lane, address, value */
};

static void declare(const struct cts_query_table *table, const struct cts_query_state *state,
                    FILE *file)
{
    (void)state;
#define X(name, text, type) cts_query_declare(file, text, type, COLUMN_##name == 0);
    ACCESS_COLUMNS(X)
#undef X
    const bool by_lane = table->of != NULL;
    cts_query_declare(file, by_lane ? "lane" : "mask", "INTEGER", false);
    cts_query_declare(file, by_lane ? "address" : "active_lanes", "INTEGER", false);
    if (by_lane)
        cts_query_declare(file, "value", "TEXT", false);
    else
        cts_query_declare(file, "first_address", "INTEGER", false);
}

static enum cts_status begin(struct cts_query_state *state, const struct cts_query_table *table,
                             void *own, const int64_t *key, struct cts_error *error)
{
    (void)table;
    (void)error;
    *(struct access_cursor *)own = (struct access_cursor){
        .source = &state->source, .only = key ? (uint64_t)*key : UINT64_MAX, .launch = CTS_NONE};
    return CTS_OK;
}

/* Reads the next chunk that is wanted; false: there is none. */
static bool next_chunk(struct access_cursor *cursor, enum cts_status *status,
                       struct cts_error *error)
{
    const struct cts_access_source *const source = cursor->source;
    while (cursor->chunk < source->chunk_count && cursor->only != UINT64_MAX &&
           source->chunks[cursor->chunk].launch != cursor->only)
        cursor->chunk++;
    if (cursor->chunk >= source->chunk_count) return false;
    const struct cts_acc_chunk *const chunk = &source->chunks[cursor->chunk++];
    *status = source->read(source->state, chunk, &cursor->batch, error);
    if (*status) return false;
    if (cursor->launch != chunk->launch || !cursor->has_begun)
        cursor->request = UINT64_MAX; /* the first one is 0 */
    cursor->launch = chunk->launch;
    cursor->has_begun = true;
    cursor->record = 0;
    return true;
}

static bool next_record(struct access_cursor *cursor, enum cts_status *status,
                        struct cts_error *error)
{
    while (!cursor->has_begun || cursor->record >= cursor->batch.record_count)
        if (!next_chunk(cursor, status, error)) return false;
    cursor->access = cts_acc_record(&cursor->batch, cursor->record++);
    cursor->request++;
    cts_access_addresses(&cursor->access, cursor->addresses);
    cursor->lane = -1;
    return true;
}

static int next_lane(uint32_t mask, int lane)
{
    for (lane++; lane < CTS_WARP_LANES; lane++)
        if (mask >> lane & 1) return lane;
    return -1;
}

static bool next(struct cts_query_state *state, const struct cts_query_table *table, void *own,
                 enum cts_status *status, struct cts_error *error)
{
    struct access_cursor *const cursor = own;
    (void)state;
    if (table->of && cursor->has_begun) {
        cursor->lane = next_lane(cursor->access.mask, cursor->lane);
        if (cursor->lane >= 0) return true;
    }
    if (!next_record(cursor, status, error)) return false;
    cursor->lane = next_lane(cursor->access.mask, -1);
    return true;
}

static void result_value(const struct access_cursor *cursor, sqlite3_context *context)
{
    const struct cts_access *const access = &cursor->access;
    char text[16 * 20] = "";
    if (!access->values) {
        sqlite3_result_null(context);
        return;
    }
    const unsigned active =
        (unsigned)__builtin_popcount(access->mask & ((UINT32_C(1) << cursor->lane) - 1));
    for (unsigned i = 0; i < access->value_words && i < 16; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s0x%" PRIx64, i ? " " : "",
                 access->values[active * access->value_words + i]);
    sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

static void own_column(const struct access_cursor *cursor, bool by_lane, int column,
                       sqlite3_context *context)
{
    const uint32_t mask = cursor->access.mask;
    const uint64_t address = cursor->addresses[cursor->lane];
    if (column == 0)
        sqlite3_result_int64(context, by_lane ? (int64_t)cursor->lane : (int64_t)mask);
    else if (column == 1)
        sqlite3_result_int64(context, by_lane ? (int64_t)address : __builtin_popcount(mask));
    else if (by_lane)
        result_value(cursor, context);
    else
        sqlite3_result_int64(context, (int64_t)address);
}

static void column_of(const struct cts_query_state *state, const struct cts_query_table *table,
                      void *own, int column, sqlite3_context *context)
{
    static const struct cts_site unknown;
    const struct access_cursor *const cursor = own;
    const struct cts_access *const access = &cursor->access;
    const struct cts_catalogue *const catalogue = state->run->catalogue;
    const struct cts_site *const site =
        access->site < catalogue->site_count ? &catalogue->sites[access->site] : &unknown;
    switch (column) {
    case COLUMN_LAUNCH:
        sqlite3_result_int64(context, access->launch);
        return;
    case COLUMN_REQUEST:
        sqlite3_result_int64(context, (int64_t)cursor->request);
        return;
    case COLUMN_CTA:
        sqlite3_result_int64(context, access->cta);
        return;
    case COLUMN_WARP:
        sqlite3_result_int64(context, access->warp);
        return;
    case COLUMN_SITE:
        sqlite3_result_int64(context, access->site);
        return;
    case COLUMN_OPERATION:
        sqlite3_result_text(context, cts_operation_text(site->operation), -1, SQLITE_STATIC);
        return;
    case COLUMN_SPACE:
        sqlite3_result_text(context, cts_space_text(access->space), -1, SQLITE_STATIC);
        return;
    case COLUMN_WIDTH:
        sqlite3_result_int64(context, site->width_bytes);
        return;
    default:
        own_column(cursor, table->of != NULL, column - COLUMN_FIRST_OWN, context);
    }
}

static void end(void *own)
{
    struct access_cursor *const cursor = own;
    if (cursor->source) cursor->source->release(&cursor->batch);
}

#define ACCESSES(name_, by_lane)                                                                   \
    {.name = name_,                                                                                \
     .of = (by_lane) ? "" : NULL,                                                                  \
     .declare = declare,                                                                           \
     .cursor_bytes = sizeof(struct access_cursor),                                                 \
     .keyed_column = COLUMN_LAUNCH,                                                                \
     .begin = begin,                                                                               \
     .next = next,                                                                                 \
     .column = column_of,                                                                          \
     .end = end}
const struct cts_query_table cts_query_accesses[] = {
    ACCESSES("requests", false),
    ACCESSES("accesses", true),
    {.name = NULL},
};
