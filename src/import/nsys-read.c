/* Rows of an export become events. Every value is checked for its type: what a column holds is up
 * to whoever wrote the file. */
#include "import/nsys-read.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "import/nsys-tables.h"
#include "trace/catalogue-sql.h"
#include "trace/log/log-format.h"

/* Of NVTX_EVENTS. */
enum { EVENT_PUSH_POP = 59, EVENT_START_END = 60, EVENT_PUSH_POP_2 = 70, EVENT_START_END_2 = 71 };
/* Of CUPTI_ACTIVITY_KIND_SYNCHRONIZATION. */
enum { SYNC_EVENT = 1, SYNC_STREAM_WAIT_EVENT = 2 };
/* Of TARGET_INFO_CUDA_STREAM. */
enum { STREAM_DEFAULT = 1, STREAM_NON_BLOCKING = 2 };

#define TIMES_AND(owner_name)                                                                      \
    [CTS_NSYS_START] = "start", [CTS_NSYS_END] = "end", [CTS_NSYS_OWNER] = owner_name
#define ON_DEVICE                                                                                  \
    TIMES_AND("globalPid"), [CTS_NSYS_CORRELATION] = "correlationId",                              \
                            [CTS_NSYS_DEVICE] = "deviceId", [CTS_NSYS_STREAM] = "streamId"

const struct cts_nsys_plan cts_nsys_tables[CTS_NSYS_TABLE_COUNT] = {
    {"CUPTI_ACTIVITY_KIND_RUNTIME",
     true,
     "cuda_runtime",
     {TIMES_AND("globalTid"), [CTS_NSYS_CORRELATION] = "correlationId", [CTS_NSYS_NAME] = "nameId",
      [CTS_NSYS_KIND] = "eventClass"}},
    {"CUPTI_ACTIVITY_KIND_KERNEL",
     true,
     "kernel",
     {ON_DEVICE, [CTS_NSYS_NAME] = "demangledName", [CTS_NSYS_SHORT_NAME] = "shortName",
      [CTS_NSYS_REGISTERS] = "registersPerThread", [CTS_NSYS_STATIC_SHARED] = "staticSharedMemory",
      [CTS_NSYS_DYNAMIC_SHARED] = "dynamicSharedMemory", [CTS_NSYS_GRID_X] = "gridX",
      [CTS_NSYS_GRID_Y] = "gridY", [CTS_NSYS_GRID_Z] = "gridZ", [CTS_NSYS_BLOCK_X] = "blockX",
      [CTS_NSYS_BLOCK_Y] = "blockY", [CTS_NSYS_BLOCK_Z] = "blockZ"}},
    {"CUPTI_ACTIVITY_KIND_MEMCPY",
     true,
     "gpu_memcpy",
     {ON_DEVICE, [CTS_NSYS_BYTES] = "bytes", [CTS_NSYS_KIND] = "copyKind"}},
    {"CUPTI_ACTIVITY_KIND_MEMSET", true, "gpu_memset", {ON_DEVICE, [CTS_NSYS_BYTES] = "bytes"}},
    {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", true, "kernel", {ON_DEVICE, [CTS_NSYS_GRAPH] = "graphId"}},
    {"NVTX_EVENTS",
     false,
     "user_annotation",
     {TIMES_AND("globalTid"), [CTS_NSYS_KIND] = "eventType", [CTS_NSYS_TEXT] = "text",
      [CTS_NSYS_NAME] = "textId", [CTS_NSYS_END_OWNER] = "endGlobalTid"}},
    {"OSRT_API", false, "os_runtime", {TIMES_AND("globalTid"), [CTS_NSYS_NAME] = "nameId"}},
};

struct reading {
    struct cts_nsys *nsys;
    const struct cts_nsys_process *process;
    struct cts_profile_rank *rank;
    struct cts_profile_file *file;
    const struct cts_nsys_plan *plan;
    sqlite3_stmt *row;
    struct cts_profile_event event;
    CTS_PROFILE_LIST(char) texts;
    struct cts_error *error;
    enum cts_status status; /* the first failure */
};

/* ---- an event ---- */

static void set_text(struct reading *r, enum cts_profile_field field, const char *text)
{
    const size_t length = strlen(text), at = r->texts.count;
    if (CTS_ARRAY_RESERVE(&r->texts, at + length + 1, r->error)) {
        r->status = CTS_MEMORY;
        return;
    }
    memcpy(r->texts.items + at, text, length + 1);
    r->texts.count += length + 1;
    r->event.texts = r->texts.items;
    r->event.values[field].text_at = (uint32_t)at;
    r->event.present |= 1u << field;
}

static void set_number(struct reading *r, enum cts_profile_field field, int64_t number)
{
    r->event.values[field].number = number;
    r->event.present |= 1u << field;
}

static void set_time(struct reading *r, enum cts_profile_field field, __int128 time_ns)
{
    r->event.values[field].time = time_ns * CTS_PROFILE_UNITS_PER_NS;
    r->event.present |= 1u << field;
}

static void begin_event(struct reading *r, const char *phase)
{
    r->event.present = 0;
    r->texts.count = 0;
    set_text(r, CTS_PROFILE_PHASE, phase);
}

static void give_event(struct reading *r)
{
    if (!r->status) r->status = cts_profile_rank_take(r->rank, &r->event, r->error);
}

/* ---- a row ---- */

/* False: NULL, or no integer, which is counted. */
static bool get(struct reading *r, unsigned column, int64_t *number)
{
    const int type = sqlite3_column_type(r->row, column);
    if (type != SQLITE_NULL && type != SQLITE_INTEGER) r->file->broken_values++;
    if (type != SQLITE_INTEGER) return false;
    *number = sqlite3_column_int64(r->row, column);
    return true;
}

static const char *get_text(struct reading *r, unsigned column)
{
    const int type = sqlite3_column_type(r->row, column);
    if (type != SQLITE_NULL && type != SQLITE_TEXT) r->file->broken_values++;
    return type == SQLITE_TEXT ? (const char *)sqlite3_column_text(r->row, column) : NULL;
}

static void put_times(struct reading *r)
{
    int64_t start, end;
    if (!get(r, CTS_NSYS_START, &start)) return;
    set_time(r, CTS_PROFILE_START, start);
    if (get(r, CTS_NSYS_END, &end)) set_time(r, CTS_PROFILE_DURATION, (__int128)end - start);
}

static void put_thread(struct reading *r, int64_t thread)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu32, r->process->pid);
    set_text(r, CTS_PROFILE_PID, text);
    snprintf(text, sizeof text, "%" PRId64, thread & 0xffffff);
    set_text(r, CTS_PROFILE_TID, text);
}

static void put_numbers(struct reading *r)
{
    static const struct {
        enum cts_nsys_column column;
        enum cts_profile_field field;
    } numbers[] = {{CTS_NSYS_CORRELATION, CTS_PROFILE_CORRELATION},
                   {CTS_NSYS_DEVICE, CTS_PROFILE_DEVICE},
                   {CTS_NSYS_STREAM, CTS_PROFILE_STREAM},
                   {CTS_NSYS_BYTES, CTS_PROFILE_BYTES},
                   {CTS_NSYS_REGISTERS, CTS_PROFILE_REGISTERS}};
    int64_t number;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (get(r, numbers[i].column, &number)) set_number(r, numbers[i].field, number);
}

static void put_triple(struct reading *r, enum cts_profile_field field, enum cts_nsys_column first)
{
    for (unsigned i = 0; i < 3; i++) {
        int64_t number;
        if (!get(r, first + i, &number) || number < 0 || number > UINT32_MAX) return;
        r->event.values[field].triple[i] = (uint32_t)number;
    }
    r->event.present |= 1u << field;
}

/* "cudaLaunchKernel_ptsz_v7000" is cudaLaunchKernel. */
static void cut_version(char *name)
{
    char *const version = strrchr(name, '_');
    if (version && version[1] == 'v' && version[2] &&
        !version[2 + strspn(version + 2, "0123456789")])
        *version = 0;
    const size_t length = strlen(name);
    if (length > 5 && (!strcmp(name + length - 5, "_ptsz") || !strcmp(name + length - 5, "_ptds")))
        name[length - 5] = 0;
}

/* PyTorch's emit_nvtx() numbers its ranges: "aten::add, op_id = 17, seq = 3". True: it is one. */
static bool cut_operator(char *name)
{
    static const char *const marks[] = {", op_id = ", ", seq = "};
    bool is_one = !strncmp(name, "aten::", 6);
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        char *const mark = strstr(name, marks[i]);
        if (!mark) continue;
        *mark = 0;
        is_one = true;
    }
    return is_one;
}

static const char *copy_name(int64_t kind)
{
    static const char *const names[] = {NULL,   "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD",
                                        "DtoA", "DtoD", "HtoH", "PtoP", "HtoD", "DtoH", "DtoD"};
    const char *const name =
        kind > 0 && (size_t)kind < sizeof names / sizeof *names ? names[kind] : NULL;
    return name ? name : "DtoD";
}

/* The name, and the category where it depends on the row. */
static void put_name(struct reading *r)
{
    const char *category = r->plan->category, *text = get_text(r, CTS_NSYS_TEXT);
    int64_t number, kind = 0;
    (void)get(r, CTS_NSYS_KIND, &kind);
    if (!text || !*text) text = get_text(r, CTS_NSYS_NAME);
    if (!text || !*text) text = get_text(r, CTS_NSYS_SHORT_NAME);
    char graph[40];
    if (!text && get(r, CTS_NSYS_GRAPH, &number)) {
        snprintf(graph, sizeof graph, "CUDA graph %" PRId64, number);
        text = graph;
    }
    if (!strcmp(category, "gpu_memcpy")) text = copy_name(kind);
    set_text(r, CTS_PROFILE_NAME, text ? text : "?");
    if (r->status) return;
    char *const name = r->texts.items + r->event.values[CTS_PROFILE_NAME].text_at;
    if (!strcmp(category, "cuda_runtime")) {
        cut_version(name);
        if (kind == 1) category = "cuda_driver";
    } else if (!strcmp(category, "user_annotation") && cut_operator(name)) {
        category = "cpu_op";
    }
    set_text(r, CTS_PROFILE_CATEGORY, category);
}

/* Marks, names and domains are rows of NVTX_EVENTS, too. */
static bool is_range(struct reading *r)
{
    int64_t kind;
    if (strcmp(r->plan->name, "NVTX_EVENTS") || !get(r, CTS_NSYS_KIND, &kind)) return true;
    return kind == EVENT_PUSH_POP || kind == EVENT_START_END || kind == EVENT_PUSH_POP_2 ||
           kind == EVENT_START_END_2;
}

static void take_row(struct reading *r)
{
    int64_t owner = 0;
    if (!is_range(r)) return;
    begin_event(r, "X");
    put_times(r);
    put_numbers(r);
    put_name(r);
    if (get(r, CTS_NSYS_OWNER, &owner) || !r->plan->is_cuda) put_thread(r, owner);
    if (r->plan->columns[CTS_NSYS_GRID_X]) {
        int64_t fixed = 0, dynamic = 0;
        put_triple(r, CTS_PROFILE_GRID, CTS_NSYS_GRID_X);
        put_triple(r, CTS_PROFILE_BLOCK, CTS_NSYS_BLOCK_X);
        (void)get(r, CTS_NSYS_STATIC_SHARED, &fixed);
        (void)get(r, CTS_NSYS_DYNAMIC_SHARED, &dynamic);
        if (fixed >= 0 && fixed < INT32_MAX && dynamic >= 0 && dynamic < INT32_MAX)
            set_number(r, CTS_PROFILE_SHARED, fixed + dynamic);
    }
    give_event(r);
}

/* ---- questions ---- */

/* Runs a query, whose only parameter is the process, and gives each row to `take`. */
static void ask(struct reading *r, const char *sql, const char *table,
                void (*take)(struct reading *r))
{
    sqlite3 *const db = r->nsys->db;
    if (r->status) return;
    int code = sqlite3_prepare_v2(db, sql, -1, &r->row, NULL);
    if (code == SQLITE_OK && sqlite3_bind_parameter_count(r->row))
        code = sqlite3_bind_int64(r->row, 1, r->process->id);
    while (!r->status && code == SQLITE_OK && (code = sqlite3_step(r->row)) == SQLITE_ROW) {
        take(r);
        code = SQLITE_OK;
    }
    if (!r->status && code != SQLITE_DONE)
        r->status =
            cts_sql_fail(db, r->error, "cannot read table %s of '%s'", table, r->nsys->path);
    sqlite3_finalize(r->row);
    r->row = NULL;
}

/* Names of tables and columns are ours, so the queries fit. */
enum { QUERY_BYTES = 3000 };

static void put_column(char *sql, const struct cts_nsys_plan *plan, unsigned number, bool is_there)
{
    const bool is_name = number == CTS_NSYS_NAME || number == CTS_NSYS_SHORT_NAME;
    const char *const column = plan->columns[number];
    const size_t length = strlen(sql);
    if (!is_there)
        snprintf(sql + length, QUERY_BYTES - length, "%sNULL", number ? ", " : "");
    else if (is_name)
        snprintf(sql + length, QUERY_BYTES - length,
                 "%s(SELECT value FROM StringIds WHERE id = t.\"%s\")", number ? ", " : "", column);
    else
        snprintf(sql + length, QUERY_BYTES - length, "%st.\"%s\"", number ? ", " : "", column);
}

static void read_table(struct reading *r, const struct cts_nsys_plan *plan)
{
    char sql[QUERY_BYTES] = "SELECT ";
    const char *const owner = plan->columns[CTS_NSYS_OWNER];
    if (!cts_nsys_has_table(r->nsys, plan->name)) return;
    for (unsigned i = 0; i < CTS_NSYS_COLUMN_COUNT; i++)
        put_column(sql, plan, i,
                   plan->columns[i] && cts_nsys_has_column(r->nsys, plan->name, plan->columns[i]));
    size_t length = strlen(sql);
    snprintf(sql + length, sizeof sql - length, " FROM \"%s\" t", plan->name);
    length = strlen(sql);
    if (cts_nsys_has_column(r->nsys, plan->name, owner))
        snprintf(sql + length, sizeof sql - length, " WHERE t.\"%s\" >> 24 = ?", owner);
    assert(strlen(sql) < sizeof sql - 1);
    r->plan = plan;
    ask(r, sql, plan->name, take_row);
}

/* ---- synchronisation ---- */

enum { SYNC_DEVICE, SYNC_STREAM, SYNC_CORRELATION, SYNC_KIND, SYNC_RECORD, SYNC_RECORD_STREAM };

static void take_sync_row(struct reading *r)
{
    int64_t number, kind = 0;
    begin_event(r, "X");
    set_text(r, CTS_PROFILE_CATEGORY, "cuda_sync");
    if (get(r, SYNC_DEVICE, &number)) set_number(r, CTS_PROFILE_DEVICE, number);
    if (get(r, SYNC_STREAM, &number)) set_number(r, CTS_PROFILE_STREAM, number);
    if (get(r, SYNC_CORRELATION, &number)) set_number(r, CTS_PROFILE_CORRELATION, number);
    (void)get(r, SYNC_KIND, &kind);
    if (kind == SYNC_EVENT || kind == SYNC_STREAM_WAIT_EVENT) {
        set_number(r, CTS_PROFILE_WAIT_STREAM, -1);
        if (get(r, SYNC_RECORD_STREAM, &number)) set_number(r, CTS_PROFILE_WAIT_STREAM, number);
        if (get(r, SYNC_RECORD, &number)) set_number(r, CTS_PROFILE_WAIT_RECORD, number);
    }
    give_event(r);
}

static void read_syncs(struct reading *r)
{
    static const char table[] = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION";
    char sql[1000];
    if (!cts_nsys_has_table(r->nsys, table) || !cts_nsys_has_column(r->nsys, table, "syncType"))
        return;
    const bool has_owner = cts_nsys_has_column(r->nsys, table, "globalPid");
    const bool has_records = r->nsys->has_event_records && has_owner;
    snprintf(sql, sizeof sql,
             "SELECT s.deviceId, s.streamId, s.correlationId, s.syncType, %s FROM %s s %s %s",
             has_records ? "e.correlationId, e.streamId" : "NULL, NULL", table,
             has_records ? "LEFT JOIN CUPTI_ACTIVITY_KIND_CUDA_EVENT e ON e.eventSyncId = "
                           "s.eventSyncId AND e.globalPid = s.globalPid"
                         : "",
             has_owner ? "WHERE s.globalPid >> 24 = ?" : "");
    ask(r, sql, table, take_sync_row);
}

/* ---- names, devices, streams, clock ---- */

static void take_thread_name(struct reading *r)
{
    const char *const name = get_text(r, 1);
    int64_t thread;
    if (!name || !*name || !get(r, 0, &thread)) return;
    begin_event(r, "M");
    put_thread(r, thread);
    set_text(r, CTS_PROFILE_NAME, "thread_name");
    set_text(r, CTS_PROFILE_ARGUMENT_NAME, name);
    give_event(r);
}

static void take_process_name(struct reading *r)
{
    const char *const name = get_text(r, 0);
    if (!name || !*name) return;
    begin_event(r, "M");
    put_thread(r, 0);
    set_text(r, CTS_PROFILE_NAME, "process_name");
    set_text(r, CTS_PROFILE_ARGUMENT_NAME, name);
    give_event(r);
}

static void take_device(struct reading *r)
{
    int64_t number;
    const char *const name = get_text(r, 1);
    if (!name || !get(r, 0, &number) || number < 0 || number > UINT16_MAX) return;
    struct cts_profile_device *const device = cts_profile_file_add_device(r->file, r->error);
    if (device) device->name = strdup(name);
    if (!device || !device->name) {
        r->status = cts_fail(r->error, CTS_MEMORY, "no memory");
        return;
    }
    device->number = (uint32_t)number;
}

static void take_clock(struct reading *r)
{
    int64_t unix_ns, system_ns = 0;
    if (!get(r, 0, &unix_ns) || unix_ns < 0) return;
    (void)get(r, 1, &system_ns);
    if (system_ns < 0 || system_ns > unix_ns) system_ns = 0;
    r->file->has_base = true;
    r->file->base_ns = unix_ns - system_ns;
}

static void read_around(struct reading *r)
{
    if (cts_nsys_has_column(r->nsys, "ThreadNames", "globalTid"))
        ask(r,
            "SELECT globalTid, (SELECT value FROM StringIds WHERE id = nameId) FROM ThreadNames "
            "WHERE globalTid >> 24 = ?",
            "ThreadNames", take_thread_name);
    if (cts_nsys_has_column(r->nsys, "PROCESSES", "globalPid"))
        ask(r, "SELECT name FROM PROCESSES WHERE globalPid >> 24 = ? LIMIT 1", "PROCESSES",
            take_process_name);
    if (cts_nsys_has_column(r->nsys, "TARGET_INFO_GPU", "name"))
        ask(r, "SELECT id, name FROM TARGET_INFO_GPU", "TARGET_INFO_GPU", take_device);
    if (cts_nsys_has_column(r->nsys, "TARGET_INFO_SESSION_START_TIME", "systemClockNs"))
        ask(r, "SELECT utcEpochNs, systemClockNs FROM TARGET_INFO_SESSION_START_TIME LIMIT 1",
            "TARGET_INFO_SESSION_START_TIME", take_clock);
    else if (cts_nsys_has_column(r->nsys, "TARGET_INFO_SESSION_START_TIME", "utcEpochNs"))
        ask(r, "SELECT utcEpochNs, NULL FROM TARGET_INFO_SESSION_START_TIME LIMIT 1",
            "TARGET_INFO_SESSION_START_TIME", take_clock);
}

/* ---- streams ---- */

/* Number of the device's stream -> the context that work on it names; -1: none. */
static int64_t context_of(struct reading *r, const struct cts_profile_stream *stream)
{
    int64_t context = -1;
    for (size_t i = 0; i < CTS_NSYS_TABLE_COUNT && context < 0; i++) {
        const char *const table = cts_nsys_tables[i].name;
        char sql[400];
        sqlite3_stmt *row = NULL;
        if (!cts_nsys_tables[i].columns[CTS_NSYS_STREAM] ||
            !cts_nsys_has_column(r->nsys, table, "contextId") ||
            !cts_nsys_has_column(r->nsys, table, "globalPid"))
            continue;
        snprintf(sql, sizeof sql,
                 "SELECT contextId FROM \"%s\" WHERE streamId = %" PRIu32 " AND deviceId = %" PRIu32
                 " AND globalPid >> 24 = %" PRId64 " LIMIT 1",
                 table, stream->number, stream->device, r->process->id);
        int code = sqlite3_prepare_v2(r->nsys->db, sql, -1, &row, NULL);
        if (code == SQLITE_OK) code = sqlite3_step(row);
        if (code == SQLITE_ROW)
            context = sqlite3_column_int64(row, 0);
        else if (code != SQLITE_DONE)
            cts_nsys_failed(r->nsys);
        sqlite3_finalize(row);
    }
    return context;
}

/* The file lists the streams that a program makes, each with its flag; a stream that it does not
 * list is its context's null stream. */
static void find_stream_kinds(struct reading *r)
{
    for (size_t i = 0; i < r->rank->streams.count && r->nsys->has_stream_kinds; i++) {
        struct cts_profile_stream *const stream = &r->rank->streams.items[i];
        sqlite3_stmt *row = NULL;
        char sql[300];
        snprintf(sql, sizeof sql,
                 "SELECT flag FROM TARGET_INFO_CUDA_STREAM WHERE streamId = %" PRIu32
                 " AND processId = %" PRIu32 " AND contextId = %" PRId64 " LIMIT 1",
                 stream->number, r->process->pid, context_of(r, stream));
        int code = sqlite3_prepare_v2(r->nsys->db, sql, -1, &row, NULL);
        if (code == SQLITE_OK) code = sqlite3_step(row);
        stream->has_flags = code == SQLITE_ROW || code == SQLITE_DONE;
        if (!stream->has_flags) cts_nsys_failed(r->nsys);
        const int flag = code == SQLITE_ROW ? sqlite3_column_int(row, 0) : 0;
        stream->flags = flag == STREAM_DEFAULT        ? 0
                        : flag == STREAM_NON_BLOCKING ? CTS_LOG_NON_BLOCKING
                                                      : CTS_LOG_NULL_STREAM;
        sqlite3_finalize(row);
    }
}

enum cts_status cts_nsys_read(struct cts_nsys *nsys, size_t process, struct cts_profile_rank *rank,
                              struct cts_profile_file *file, struct cts_error *error)
{
    struct reading r = {.nsys = nsys,
                        .process = &nsys->processes[process],
                        .rank = rank,
                        .file = file,
                        .error = error};
    *file = (struct cts_profile_file){.program = "program",
                                      .has_events = true,
                                      .has_rank = r.process->has_rank,
                                      .rank = r.process->rank};
    for (size_t i = 0; i < CTS_NSYS_TABLE_COUNT && !r.status; i++)
        read_table(&r, &cts_nsys_tables[i]);
    read_syncs(&r);
    read_around(&r);
    if (!r.status) find_stream_kinds(&r);
    if (!r.status) r.status = cts_nsys_check(nsys, error);
    free(r.texts.items);
    return r.status;
}
