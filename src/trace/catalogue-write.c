/* The writer: many threads add rows, one thread writes them.
 *
 *   add_launch() ... --encode--> queue --swap--> batch --one transaction--> run.db
 *   (any thread)        [lock]           (writer thread)      [db_lock]
 *
 * A queued operation is one byte of kind, one of table, then its values: 8 bytes for a number, a
 * length and bytes for a text, a byte in front that says whether it is NULL. The thread waits for
 * the first row, gathers for a tenth of a second (or until the queue is large, or somebody waits in
 * flush), and writes what is there in one transaction. A young catalogue is written sooner, so that
 * a program that soon crashes loses at most about an eighth of what it did.
 *
 * After a failure the catalogue stays a prefix of what was added: rows are dropped from then on,
 * but for ranks, messages and keys, which say what happened and are tried still.
 *
 * A fork()ed child shares nothing of this: a generation count that the child increases makes every
 * call a no-op there, before it touches a lock that another thread of the parent may have held. */
#include "trace/catalogue.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/buffer.h"
#include "common/cursor.h"
#include "trace/catalogue-open.h"
#include "trace/catalogue-sql.h"
#include "trace/catalogue-tables.h"

enum {
    GATHER_NS = 100 * 1000 * 1000,
    GATHER_FIRST_NS = 1000 * 1000,
    GATHER_SHARE = 8,
    HURRY_BYTES = 1 << 20,  /* write now, do not gather */
    STALL_BYTES = 64 << 20, /* callers wait until the thread has caught up */
    ID_BLOCK = 16384        /* ids of frequent kinds are claimed in blocks */
};

enum operation_kind { OP_ROW, OP_SET, OP_FREE_ALLOCATION, OP_DESTROY_STREAM, OP_KIND_COUNT };

static const char *const update_sql[OP_KIND_COUNT] = {
    [OP_SET] = "INSERT OR REPLACE INTO run (key, value) VALUES (?, ?)",
    [OP_FREE_ALLOCATION] = "UPDATE allocations SET freed_op = ?2 WHERE allocation = ?1",
    [OP_DESTROY_STREAM] = "UPDATE streams SET destroyed_op = ?2 WHERE stream = ?1",
};

static const char *const id_names[CTS_ID_KIND_COUNT] = {
    [CTS_ID_MODULE] = "modules",         [CTS_ID_SOURCE] = "sources",
    [CTS_ID_KERNEL] = "kernels",         [CTS_ID_SITE] = "sites",
    [CTS_ID_VARIABLE] = "variables",     [CTS_ID_STREAM] = "streams",
    [CTS_ID_LAUNCH] = "launches",        [CTS_ID_COPY] = "copies",
    [CTS_ID_ALLOCATION] = "allocations",
};

struct id_block {
    uint32_t next, end;
};

struct cts_catalogue_writer {
    uint32_t rank;
    unsigned fork_generation;
    struct cts_self self;
    _Atomic uint64_t next_op;

    pthread_mutex_t lock; /* of the next six */
    pthread_cond_t work, done;
    struct cts_buffer queue;
    uint64_t queued, written; /* operations since the beginning */
    bool hurry, stopping;
    struct cts_error failure;
    atomic_bool failed;

    pthread_t thread;
    struct cts_buffer batch; /* the thread's */

    pthread_mutex_t id_lock;
    struct id_block ids[CTS_ID_KIND_COUNT];

    pthread_mutex_t db_lock; /* taken after id_lock, never together with lock */
    sqlite3 *db;
    sqlite3_stmt *inserts[CTS_TABLE_COUNT];
    sqlite3_stmt *updates[OP_KIND_COUNT];
    sqlite3_stmt *claim_ids;
};

/* ---- fork ---- */

static atomic_uint fork_generation;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void after_fork_in_child(void)
{
    atomic_fetch_add(&fork_generation, 1);
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, after_fork_in_child);
}

static bool is_inherited(const struct cts_catalogue_writer *writer)
{
    return writer->fork_generation != atomic_load_explicit(&fork_generation, memory_order_relaxed);
}

/* ---- failures ---- */

static void keep_failure_locked(struct cts_catalogue_writer *writer, const struct cts_error *error)
{
    if (writer->failure.status) return;
    writer->failure = *error;
    atomic_store(&writer->failed, true);
}

static void keep_failure(struct cts_catalogue_writer *writer, const struct cts_error *error)
{
    pthread_mutex_lock(&writer->lock);
    keep_failure_locked(writer, error);
    pthread_mutex_unlock(&writer->lock);
}

bool cts_catalogue_failure(struct cts_catalogue_writer *writer, struct cts_error *error)
{
    if (is_inherited(writer) || !atomic_load(&writer->failed)) return false;
    pthread_mutex_lock(&writer->lock);
    if (error) *error = writer->failure;
    pthread_mutex_unlock(&writer->lock);
    return true;
}

/* ---- the queue: encoding ---- */

/* What outlives a failure: it says what happened and refers to nothing that may be missing. */
static bool is_essential(enum operation_kind kind, unsigned table)
{
    return kind == OP_SET ||
           (kind == OP_ROW && (table == CTS_TABLE_RANKS || table == CTS_TABLE_MESSAGES));
}

static enum cts_status put_number(struct cts_buffer *queue, bool null, uint64_t number,
                                  struct cts_error *error)
{
    uint8_t bytes[9] = {null};
    for (unsigned i = 0; i < 8; i++) bytes[1 + i] = (uint8_t)(number >> (8 * i));
    return cts_buffer_append(queue, bytes, null ? 1 : sizeof bytes, error);
}

static enum cts_status put_text(struct cts_buffer *queue, const char *text, struct cts_error *error)
{
    if (!text) return put_number(queue, true, 0, error);
    const size_t length = strlen(text);
    enum cts_status status = put_number(queue, false, length, error);
    if (!status) status = cts_buffer_append(queue, text, length, error);
    return status;
}

static enum cts_status put_row(struct cts_buffer *queue, const struct cts_table *table,
                               const void *row, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (unsigned i = 0; !status && i < table->column_count; i++) {
        const struct cts_column *const column = &table->columns[i];
        if (column->type == CTS_COLUMN_TEXT)
            status = put_text(queue, cts_column_text(column, row), error);
        else
            status = put_number(queue, cts_column_is_null(column, row),
                                cts_column_number(column, row), error);
    }
    return status;
}

struct operation {
    enum operation_kind kind;
    enum cts_table_id table;
    const void *row;         /* OP_ROW */
    const char *key, *value; /* OP_SET */
    uint64_t id, op;         /* the others */
};

static enum cts_status put_operation(struct cts_buffer *queue, const struct operation *operation,
                                     struct cts_error *error)
{
    const uint8_t head[2] = {(uint8_t)operation->kind, (uint8_t)operation->table};
    enum cts_status status = cts_buffer_append(queue, head, sizeof head, error);
    if (status) return status;
    switch (operation->kind) {
    case OP_ROW:
        return put_row(queue, &cts_tables[operation->table], operation->row, error);
    case OP_SET:
        status = put_text(queue, operation->key, error);
        return status ? status : put_text(queue, operation->value, error);
    default:
        status = put_number(queue, false, operation->id, error);
        return status ? status : put_number(queue, false, operation->op, error);
    }
}

static void add(struct cts_catalogue_writer *writer, const struct operation *operation)
{
    if (is_inherited(writer)) return;
    if (atomic_load_explicit(&writer->failed, memory_order_relaxed) &&
        !is_essential(operation->kind, operation->table))
        return;
    pthread_mutex_lock(&writer->lock);
    while (writer->queue.size_bytes > STALL_BYTES && !writer->failure.status)
        pthread_cond_wait(&writer->done, &writer->lock);
    const size_t size_before = writer->queue.size_bytes;
    struct cts_error error;
    if (put_operation(&writer->queue, operation, &error)) {
        writer->queue.size_bytes = size_before;
        cts_context(&error, "cannot keep a row of the catalogue");
        keep_failure_locked(writer, &error);
    } else {
        writer->queued++;
        const bool large = writer->queue.size_bytes > HURRY_BYTES && size_before <= HURRY_BYTES;
        if (size_before == 0 || large) pthread_cond_signal(&writer->work);
    }
    pthread_mutex_unlock(&writer->lock);
}

static void add_row(struct cts_catalogue_writer *writer, enum cts_table_id table, const void *row)
{
    add(writer, &(struct operation){.kind = OP_ROW, .table = table, .row = row});
}

/* ---- the thread: decoding and writing ---- */

static sqlite3_stmt *insert_statement(struct cts_catalogue_writer *writer, unsigned table)
{
    if (writer->inserts[table]) return writer->inserts[table];
    const struct cts_table *const t = &cts_tables[table];
    sqlite3_str *const sql = sqlite3_str_new(writer->db);
    sqlite3_str_appendf(sql, "INSERT OR REPLACE INTO %s (", t->name);
    for (unsigned i = 0; i < t->column_count; i++)
        sqlite3_str_appendf(sql, "%s\"%s\"", i ? ", " : "", t->columns[i].name);
    sqlite3_str_appendall(sql, ") VALUES (");
    for (unsigned i = 0; i < t->column_count; i++) sqlite3_str_appendall(sql, i ? ", ?" : "?");
    sqlite3_str_appendall(sql, ")");
    char *const text = sqlite3_str_finish(sql);
    if (text) sqlite3_prepare_v2(writer->db, text, -1, &writer->inserts[table], NULL);
    sqlite3_free(text);
    return writer->inserts[table];
}

static sqlite3_stmt *update_statement(struct cts_catalogue_writer *writer, enum operation_kind kind)
{
    if (!writer->updates[kind])
        sqlite3_prepare_v2(writer->db, update_sql[kind], -1, &writer->updates[kind], NULL);
    return writer->updates[kind];
}

/* Binds (or, without a statement, skips) one queued value. */
static void bind_value(struct cts_cursor *cursor, sqlite3_stmt *statement, int index, bool is_text)
{
    const bool null = cts_cursor_u8(cursor);
    const uint64_t number = null ? 0 : cts_cursor_u64(cursor);
    const uint8_t *const text = is_text && !null ? cts_cursor_bytes(cursor, number) : NULL;
    if (!statement) return;
    if (null)
        sqlite3_bind_null(statement, index);
    else if (is_text)
        sqlite3_bind_text64(statement, index, (const char *)text, number, SQLITE_STATIC,
                            SQLITE_UTF8);
    else
        sqlite3_bind_int64(statement, index, (int64_t)number);
}

/* Does the next operation of the batch, or only passes over it. */
static enum cts_status replay_one(struct cts_catalogue_writer *writer, struct cts_cursor *cursor,
                                  bool essential_only, struct cts_error *error)
{
    const enum operation_kind kind = cts_cursor_u8(cursor);
    const unsigned table = cts_cursor_u8(cursor);
    const bool skip = essential_only && !is_essential(kind, table);
    sqlite3_stmt *const statement = skip             ? NULL
                                    : kind == OP_ROW ? insert_statement(writer, table)
                                                     : update_statement(writer, kind);
    if (kind == OP_ROW) {
        const struct cts_table *const t = &cts_tables[table];
        for (unsigned i = 0; i < t->column_count; i++)
            bind_value(cursor, statement, (int)i + 1, t->columns[i].type == CTS_COLUMN_TEXT);
    } else {
        for (int i = 1; i <= 2; i++) bind_value(cursor, statement, i, kind == OP_SET);
    }
    if (skip) return CTS_OK;
    const char *const name = kind == OP_ROW ? cts_tables[table].name : "run";
    if (!statement || sqlite3_step(statement) != SQLITE_DONE) {
        const enum cts_status status =
            cts_sql_fail(writer->db, error, "cannot write to the catalogue (table '%s')", name);
        sqlite3_reset(statement);
        return status;
    }
    sqlite3_reset(statement);
    return CTS_OK;
}

static enum cts_status replay(struct cts_catalogue_writer *writer, bool essential_only,
                              struct cts_error *error)
{
    static const char what[] = "cannot write to the catalogue";
    enum cts_status status = cts_sql_run(writer->db, "BEGIN IMMEDIATE", what, error);
    if (status) return status;
    struct cts_cursor cursor = cts_cursor_of(writer->batch.data, writer->batch.size_bytes);
    while (!status && cts_cursor_left(&cursor))
        status = replay_one(writer, &cursor, essential_only, error);
    if (!status) status = cts_sql_run(writer->db, "COMMIT", what, error);
    if (status) sqlite3_exec(writer->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

static void write_batch(struct cts_catalogue_writer *writer)
{
    struct cts_error error;
    pthread_mutex_lock(&writer->db_lock);
    const bool failed_before = atomic_load(&writer->failed);
    enum cts_status status = replay(writer, failed_before, &error);
    if (status) keep_failure(writer, &error);
    if (status && !failed_before) status = replay(writer, true, &error); /* what happened */
    pthread_mutex_unlock(&writer->db_lock);
}

static long gather_ns(const struct cts_catalogue_writer *writer, const struct timespec *now)
{
    const uint64_t now_ns = (uint64_t)now->tv_sec * 1000000000u + (uint64_t)now->tv_nsec;
    const uint64_t age_ns = now_ns - writer->self.row.start_ns;
    if (age_ns / GATHER_SHARE < GATHER_FIRST_NS) return GATHER_FIRST_NS;
    return age_ns / GATHER_SHARE < GATHER_NS ? (long)(age_ns / GATHER_SHARE) : GATHER_NS;
}

/* With the lock: waits until there is something to write and it is time to. */
static void wait_for_work(struct cts_catalogue_writer *writer)
{
    while (!writer->queue.size_bytes && !writer->stopping)
        pthread_cond_wait(&writer->work, &writer->lock);
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += gather_ns(writer, &until);
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    while (!writer->hurry && !writer->stopping && writer->queue.size_bytes <= HURRY_BYTES)
        if (pthread_cond_timedwait(&writer->work, &writer->lock, &until) == ETIMEDOUT) break;
    writer->hurry = false;
}

static void *writer_thread(void *argument)
{
    struct cts_catalogue_writer *const writer = argument;
    pthread_mutex_lock(&writer->lock);
    for (;;) {
        wait_for_work(writer);
        if (!writer->queue.size_bytes) break; /* stopping */
        const struct cts_buffer full = writer->queue;
        writer->queue = writer->batch;
        writer->batch = full;
        const uint64_t queued = writer->queued;
        pthread_mutex_unlock(&writer->lock);
        write_batch(writer);
        cts_buffer_clear(&writer->batch);
        pthread_mutex_lock(&writer->lock);
        writer->written = queued;
        pthread_cond_broadcast(&writer->done);
    }
    pthread_mutex_unlock(&writer->lock);
    return NULL;
}

/* The thread takes none of the program's signals. */
static int start_thread(struct cts_catalogue_writer *writer)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int errnum = pthread_create(&writer->thread, NULL, writer_thread, writer);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!errnum) pthread_setname_np(writer->thread, "cts-catalogue");
    return errnum;
}

/* What is done to the database in a thread of the program must not kill it where files may not grow
 * further: SIGXFSZ is held back meanwhile, and swallowed. */
static void hold_size_signal(sigset_t *before)
{
    sigset_t size_signal;
    sigemptyset(&size_signal);
    sigaddset(&size_signal, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &size_signal, before);
}

static void release_size_signal(const sigset_t *before)
{
    sigset_t size_signal;
    const struct timespec now = {0};
    sigemptyset(&size_signal);
    sigaddset(&size_signal, SIGXFSZ);
    if (!sigismember(before, SIGXFSZ)) (void)!sigtimedwait(&size_signal, NULL, &now);
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* ---- life ---- */

static void init_locks(struct cts_catalogue_writer *writer)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&writer->lock, NULL);
    pthread_mutex_init(&writer->id_lock, NULL);
    pthread_mutex_init(&writer->db_lock, NULL);
    pthread_cond_init(&writer->work, &monotonic);
    pthread_cond_init(&writer->done, NULL);
    pthread_condattr_destroy(&monotonic);
}

static void free_writer(struct cts_catalogue_writer *writer)
{
    if (!writer) return;
    for (unsigned i = 0; i < CTS_TABLE_COUNT; i++) sqlite3_finalize(writer->inserts[i]);
    for (unsigned i = 0; i < OP_KIND_COUNT; i++) sqlite3_finalize(writer->updates[i]);
    sqlite3_finalize(writer->claim_ids);
    cts_catalogue_close_database(writer->db);
    cts_buffer_release(&writer->queue);
    cts_buffer_release(&writer->batch);
    pthread_cond_destroy(&writer->work);
    pthread_cond_destroy(&writer->done);
    pthread_mutex_destroy(&writer->lock);
    pthread_mutex_destroy(&writer->id_lock);
    pthread_mutex_destroy(&writer->db_lock);
    free(writer);
}

enum cts_status cts_catalogue_create(const char *run_path, struct cts_catalogue_writer **out,
                                     struct cts_error *error)
{
    *out = NULL;
    pthread_once(&fork_once, watch_forks);
    struct cts_catalogue_writer *const writer = calloc(1, sizeof *writer);
    if (!writer) return cts_fail(error, CTS_MEMORY, "no memory for the catalogue's writer");
    init_locks(writer);
    writer->fork_generation = atomic_load(&fork_generation);
    sigset_t signals;
    hold_size_signal(&signals);
    enum cts_status status = cts_catalogue_join(run_path, &writer->db, &writer->rank, error);
    release_size_signal(&signals);
    if (!status) {
        const int errnum = start_thread(writer);
        if (errnum) status = cts_fail_errno(error, errnum, "cannot start the catalogue's thread");
    }
    if (status) {
        free_writer(writer);
        return status;
    }
    cts_self_describe(&writer->self, writer->rank);
    add_row(writer, CTS_TABLE_RANKS, &writer->self.row);
    *out = writer;
    status = cts_catalogue_flush(writer, error);
    if (!status) return CTS_OK;
    *out = NULL;
    cts_catalogue_close(writer, NULL);
    return status;
}

enum cts_status cts_catalogue_flush(struct cts_catalogue_writer *writer, struct cts_error *error)
{
    if (is_inherited(writer)) return CTS_OK;
    pthread_mutex_lock(&writer->lock);
    const uint64_t wanted = writer->queued;
    while (writer->written < wanted) {
        writer->hurry = true;
        pthread_cond_signal(&writer->work);
        pthread_cond_wait(&writer->done, &writer->lock);
    }
    const enum cts_status status = writer->failure.status;
    if (status && error) *error = writer->failure;
    pthread_mutex_unlock(&writer->lock);
    return status;
}

enum cts_status cts_catalogue_close(struct cts_catalogue_writer *writer, struct cts_error *error)
{
    if (!writer || is_inherited(writer)) return CTS_OK;
    pthread_mutex_lock(&writer->lock);
    writer->stopping = true;
    pthread_cond_signal(&writer->work);
    pthread_mutex_unlock(&writer->lock);
    pthread_join(writer->thread, NULL);
    const enum cts_status status = writer->failure.status;
    if (status && error) *error = writer->failure;
    sigset_t signals;
    hold_size_signal(&signals);
    free_writer(writer); /* the last connection to close writes the log back */
    release_size_signal(&signals);
    return status;
}

uint32_t cts_catalogue_rank(const struct cts_catalogue_writer *writer)
{
    return writer->rank;
}

/* ---- ids ---- */

uint64_t cts_catalogue_next_op(struct cts_catalogue_writer *writer)
{
    return atomic_fetch_add(&writer->next_op, 1);
}

/* Claims `count` ids from the database; false (and a kept failure) when it does not work. */
static bool claim_from_database(struct cts_catalogue_writer *writer, enum cts_id_kind kind,
                                uint32_t count, uint32_t *first)
{
    static const char sql[] =
        "INSERT INTO counters (name, next) VALUES (?1, ?2) ON CONFLICT (name) "
        "DO UPDATE SET next = next + ?2 RETURNING next - ?2";
    sigset_t signals;
    hold_size_signal(&signals);
    pthread_mutex_lock(&writer->db_lock);
    if (!writer->claim_ids) sqlite3_prepare_v2(writer->db, sql, -1, &writer->claim_ids, NULL);
    sqlite3_stmt *const statement = writer->claim_ids;
    struct cts_error error;
    int64_t id = -1;
    if (statement) {
        sqlite3_bind_text(statement, 1, id_names[kind], -1, SQLITE_STATIC);
        sqlite3_bind_int64(statement, 2, count);
        if (sqlite3_step(statement) == SQLITE_ROW) {
            id = sqlite3_column_int64(statement, 0);
            if (sqlite3_step(statement) != SQLITE_DONE) id = -1; /* it was not committed */
        }
    }
    const bool claimed = id >= 0 && id + count < CTS_NONE;
    if (claimed)
        *first = (uint32_t)id;
    else if (id >= 0)
        cts_fail(&error, CTS_LIMIT, "the catalogue has no more ids for table '%s'", id_names[kind]);
    else
        cts_sql_fail(writer->db, &error, "cannot claim ids in the catalogue");
    sqlite3_reset(statement);
    pthread_mutex_unlock(&writer->db_lock);
    release_size_signal(&signals);
    if (!claimed) keep_failure(writer, &error);
    return claimed;
}

/* Only the ids of the one-row-a-call kinds come in blocks: their tables may have gaps. */
static uint32_t ids_to_claim(enum cts_id_kind kind, uint32_t count)
{
    const bool frequent = kind == CTS_ID_LAUNCH || kind == CTS_ID_COPY || kind == CTS_ID_ALLOCATION;
    return frequent && count < ID_BLOCK ? ID_BLOCK : count;
}

uint32_t cts_catalogue_reserve(struct cts_catalogue_writer *writer, enum cts_id_kind kind,
                               uint32_t count)
{
    if (is_inherited(writer)) return 0;
    pthread_mutex_lock(&writer->id_lock);
    struct id_block *const block = &writer->ids[kind];
    if (block->end - block->next < count) {
        const uint32_t claim = ids_to_claim(kind, count);
        uint32_t first = 0;
        if (atomic_load(&writer->failed) || !claim_from_database(writer, kind, claim, &first))
            first = block->end; /* no row with it will be written; it only has to be a number */
        if (first != block->end) block->next = first; /* another process came in between */
        block->end = first + claim;
    }
    const uint32_t id = block->next;
    block->next += count;
    pthread_mutex_unlock(&writer->id_lock);
    return id;
}

/* ---- rows ---- */

void cts_catalogue_set(struct cts_catalogue_writer *writer, const char *key, const char *value)
{
    add(writer,
        &(struct operation){.kind = OP_SET, .table = CTS_TABLE_NONE, .key = key, .value = value});
}

/* What the caller leaves open of its rank, the writer knows. */
void cts_catalogue_add_rank(struct cts_catalogue_writer *writer, const struct cts_rank *given)
{
    const struct cts_rank *const self = &writer->self.row;
    struct cts_rank row = *given;
    if (!row.pid) row.pid = self->pid;
    if (!row.host) row.host = self->host;
    if (!row.program) row.program = self->program;
    if (!row.arguments) row.arguments = self->arguments;
    if (!row.directory) row.directory = self->directory;
    if (!row.start_ns) row.start_ns = self->start_ns;
    if (!row.unix_start_ns) row.unix_start_ns = self->unix_start_ns;
    add_row(writer, CTS_TABLE_RANKS, &row);
}

#define ADD(FUNCTION, STRUCT, TABLE)                                                               \
    void FUNCTION(struct cts_catalogue_writer *writer, const struct STRUCT *row)                   \
    {                                                                                              \
        add_row(writer, TABLE, row);                                                               \
    }
ADD(cts_catalogue_add_device, cts_device, CTS_TABLE_DEVICES)
ADD(cts_catalogue_add_module, cts_module, CTS_TABLE_MODULES)
ADD(cts_catalogue_add_source, cts_source, CTS_TABLE_SOURCES)
ADD(cts_catalogue_add_kernel, cts_kernel, CTS_TABLE_KERNELS)
ADD(cts_catalogue_add_site, cts_site, CTS_TABLE_SITES)
ADD(cts_catalogue_add_variable, cts_variable, CTS_TABLE_VARIABLES)
ADD(cts_catalogue_add_skipped, cts_skipped, CTS_TABLE_SKIPPED)
ADD(cts_catalogue_add_stream, cts_cuda_stream, CTS_TABLE_STREAMS)
ADD(cts_catalogue_add_launch, cts_launch, CTS_TABLE_LAUNCHES)
ADD(cts_catalogue_add_copy, cts_copy, CTS_TABLE_COPIES)
ADD(cts_catalogue_add_allocation, cts_allocation, CTS_TABLE_ALLOCATIONS)
ADD(cts_catalogue_add_sync, cts_sync, CTS_TABLE_SYNCS)
ADD(cts_catalogue_add_host_access, cts_host_access, CTS_TABLE_HOST_ACCESSES)
ADD(cts_catalogue_add_cta_sm, cts_cta_sm, CTS_TABLE_CTA_SMS)
ADD(cts_catalogue_add_cluster, cts_cluster, CTS_TABLE_CLUSTERS)
#undef ADD

void cts_catalogue_add_message(struct cts_catalogue_writer *writer, const char *severity,
                               const char *text)
{
    const struct cts_message row = {.rank = writer->rank, .severity = severity, .text = text};
    add_row(writer, CTS_TABLE_MESSAGES, &row);
}

void cts_catalogue_free_allocation(struct cts_catalogue_writer *writer, uint32_t allocation,
                                   uint64_t freed_op)
{
    add(writer, &(struct operation){.kind = OP_FREE_ALLOCATION,
                                    .table = CTS_TABLE_ALLOCATIONS,
                                    .id = allocation,
                                    .op = freed_op});
}

void cts_catalogue_destroy_stream(struct cts_catalogue_writer *writer, uint32_t stream,
                                  uint64_t destroyed_op)
{
    add(writer, &(struct operation){.kind = OP_DESTROY_STREAM,
                                    .table = CTS_TABLE_STREAMS,
                                    .id = stream,
                                    .op = destroyed_op});
}
