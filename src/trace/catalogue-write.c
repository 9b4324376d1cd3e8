/* The writer: many threads add rows to the journal of their process (journal.h), under one lock. A
 * row is safe when the call returns; nothing is written to run.db here. That is done when the
 * process has ended: by `ctascope record`, or, in a process that nobody watches, at close.
 *
 * After a failure the catalogue stays a prefix of what was added: rows are dropped and counted from
 * then on, but for ranks, messages and keys, which say what happened and are tried still.
 *
 * A fork()ed child shares nothing of this: a generation count that the child increases makes every
 * call a no-op there, before it touches a lock that another thread of the parent may have held. */
#include "trace/catalogue.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/private-files.h"
#include "trace/catalogue-open.h"
#include "trace/catalogue-sql.h"
#include "trace/id-claim.h"
#include "trace/journal.h"

enum { ID_BLOCK = 16384 }; /* ids of frequent kinds are claimed in blocks */

struct id_block {
    uint32_t next, end;
};

struct cts_catalogue_writer {
    char *run_path;
    uint32_t rank;
    bool is_watched; /* `ctascope record` folds the journal when we have ended */
    unsigned fork_generation;
    struct cts_self self;
    _Atomic uint64_t next_op;

    pthread_mutex_t lock; /* of the next three */
    struct cts_journal journal;
    struct cts_error failure;
    atomic_bool failed;

    pthread_mutex_t id_lock;
    struct id_block ids[CTS_ID_KIND_COUNT];
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
    cts_catalogue_note_failure(writer, error->text);
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

/* ---- what is counted in place ---- */

void cts_catalogue_note_failure(struct cts_catalogue_writer *writer, const char *text)
{
    if (is_inherited(writer) || *writer->journal.header->failure) return;
    snprintf(writer->journal.header->failure, sizeof writer->journal.header->failure, "%.*s",
             (int)sizeof writer->journal.header->failure - 1, text);
}

void cts_catalogue_note_written(struct cts_catalogue_writer *writer,
                                const struct cts_access_file_row *chunk)
{
    if (is_inherited(writer)) return;
    struct cts_journal_header *const header = writer->journal.header;
    if (chunk->file < CTS_JOURNAL_FILES_MAX) {
        struct cts_journal_file *const file = &header->files[chunk->file];
        atomic_fetch_add(&file->chunks, chunk->chunks);
        atomic_fetch_add(&file->records, chunk->records);
        atomic_fetch_add(&file->accesses, chunk->accesses);
        atomic_store(&file->size_bytes, chunk->size_bytes);
    }
    atomic_fetch_add(&header->records, chunk->records);
    atomic_fetch_add(&header->accesses, chunk->accesses);
}

void cts_catalogue_note_dropped(struct cts_catalogue_writer *writer, uint64_t records,
                                uint64_t accesses)
{
    if (is_inherited(writer)) return;
    atomic_fetch_add(&writer->journal.header->dropped_records, records);
    atomic_fetch_add(&writer->journal.header->dropped_accesses, accesses);
}

void cts_catalogue_note_exit(struct cts_catalogue_writer *writer)
{
    if (!is_inherited(writer)) atomic_store(&writer->journal.header->is_exit, 1);
}

/* ---- adding ---- */

struct operation {
    enum cts_journal_kind kind;
    enum cts_table_id table;
    const void *row;         /* CTS_JOURNAL_ROW */
    const char *key, *value; /* CTS_JOURNAL_KEY */
    uint64_t id, op;         /* the others */
};

/* What outlives a failure: it says what happened and refers to nothing that may be missing. */
static bool is_essential(const struct operation *operation)
{
    return operation->kind == CTS_JOURNAL_KEY ||
           (operation->kind == CTS_JOURNAL_ROW &&
            (operation->table == CTS_TABLE_RANKS || operation->table == CTS_TABLE_MESSAGES));
}

static enum cts_status add_locked(struct cts_catalogue_writer *writer,
                                  const struct operation *operation, struct cts_error *error)
{
    struct cts_journal *const journal = &writer->journal;
    switch (operation->kind) {
    case CTS_JOURNAL_ROW:
        return cts_journal_add_row(journal, operation->table, operation->row,
                                   is_essential(operation), error);
    case CTS_JOURNAL_KEY:
        return cts_journal_add_key(journal, operation->key, operation->value, error);
    default:
        return cts_journal_add_end(journal, operation->kind, operation->id, operation->op, error);
    }
}

/* False when the row is lost. */
static bool add(struct cts_catalogue_writer *writer, const struct operation *operation)
{
    if (is_inherited(writer)) return false;
    struct cts_error error;
    enum cts_status status = CTS_OK;
    const int errnum = errno;
    pthread_mutex_lock(&writer->lock);
    const bool skip = writer->failure.status && !is_essential(operation);
    if (!skip) status = add_locked(writer, operation, &error);
    if (skip || status) atomic_fetch_add(&writer->journal.header->rows_lost, 1);
    if (status) {
        cts_context(&error, "cannot keep a row of the catalogue");
        keep_failure_locked(writer, &error);
    }
    pthread_mutex_unlock(&writer->lock);
    errno = errnum;
    return !skip && !status;
}

static bool add_row(struct cts_catalogue_writer *writer, enum cts_table_id table, const void *row)
{
    return add(writer, &(struct operation){.kind = CTS_JOURNAL_ROW, .table = table, .row = row});
}

/* ---- life ---- */

static void free_writer(struct cts_catalogue_writer *writer)
{
    pthread_mutex_destroy(&writer->lock);
    pthread_mutex_destroy(&writer->id_lock);
    free(writer->run_path);
    free(writer);
}

struct opening {
    struct cts_catalogue_writer *writer;
    struct cts_error *error;
    enum cts_status status;
};

/* In the thread of private files, where nothing that is opened is in the program's way. */
static void open_now(void *argument)
{
    struct opening *const opening = argument;
    struct cts_catalogue_writer *const writer = opening->writer;
    opening->status =
        cts_catalogue_join(writer->run_path, &writer->rank, &writer->is_watched, opening->error);
    if (opening->status) return;
    cts_self_describe(&writer->self, writer->rank);
    opening->status =
        cts_journal_create(&writer->journal, writer->run_path, &writer->self.row, opening->error);
}

enum cts_status cts_catalogue_create(const char *run_path, struct cts_catalogue_writer **out,
                                     struct cts_error *error)
{
    *out = NULL;
    pthread_once(&fork_once, watch_forks);
    struct cts_catalogue_writer *const writer = calloc(1, sizeof *writer);
    if (!writer) return cts_fail(error, CTS_MEMORY, "no memory for the catalogue's writer");
    pthread_mutex_init(&writer->lock, NULL);
    pthread_mutex_init(&writer->id_lock, NULL);
    writer->fork_generation = atomic_load(&fork_generation);
    writer->run_path = strdup(run_path);
    struct opening opening = {.writer = writer, .error = error};
    cts_private_files_begin();
    if (writer->run_path)
        cts_private_files_do(open_now, &opening);
    else
        opening.status = cts_fail(error, CTS_MEMORY, "no memory for a path");
    if (opening.status) {
        cts_private_files_end();
        free_writer(writer);
        return opening.status;
    }
    add_row(writer, CTS_TABLE_RANKS, &writer->self.row);
    *out = writer;
    if (!writer->failure.status) return CTS_OK;
    *out = NULL;
    return cts_catalogue_close(writer, error);
}

enum cts_status cts_catalogue_flush(struct cts_catalogue_writer *writer, struct cts_error *error)
{
    if (is_inherited(writer)) return CTS_OK;
    pthread_mutex_lock(&writer->lock);
    const enum cts_status status = writer->failure.status;
    if (status && error) *error = writer->failure;
    pthread_mutex_unlock(&writer->lock);
    return status;
}

enum cts_status cts_catalogue_close(struct cts_catalogue_writer *writer, struct cts_error *error)
{
    if (!writer || is_inherited(writer)) return CTS_OK;
    struct cts_error failure = writer->failure;
    enum cts_status status = failure.status;
    const enum cts_status closed =
        cts_journal_close(&writer->journal, false, status ? NULL : &failure);
    if (!status) status = closed;
    cts_private_files_end(); /* lets the lock go */
    if (!writer->is_watched) {
        const enum cts_status folded =
            cts_catalogue_tidy(writer->run_path, status ? NULL : &failure);
        if (!status) status = folded;
        const char *const session = getenv("CTASCOPE_SESSION"); /* with one, others may join yet */
        if (!(session && *session) && !cts_journals_exist(writer->run_path))
            cts_ids_forget(writer->run_path);
    }
    free_writer(writer);
    if (status && error) *error = failure;
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

/* Only the ids of the one-row-a-call kinds come in blocks: their tables may have gaps. */
static uint32_t ids_to_claim(enum cts_id_kind kind, uint32_t count)
{
    const bool frequent = kind == CTS_ID_LAUNCH || kind == CTS_ID_COPY || kind == CTS_ID_ALLOCATION;
    return frequent && count < ID_BLOCK ? ID_BLOCK : count;
}

struct claim {
    const char *run_path;
    enum cts_id_kind kind;
    uint32_t count, first;
    enum cts_status status;
    struct cts_error error;
};

static void claim_now(void *argument)
{
    struct claim *const claim = argument;
    claim->status =
        cts_ids_claim(claim->run_path, claim->kind, claim->count, &claim->first, &claim->error);
}

uint32_t cts_catalogue_reserve(struct cts_catalogue_writer *writer, enum cts_id_kind kind,
                               uint32_t count)
{
    if (is_inherited(writer)) return 0;
    pthread_mutex_lock(&writer->id_lock);
    struct id_block *const block = &writer->ids[kind];
    if (block->end - block->next < count) {
        struct claim claim = {
            .run_path = writer->run_path, .kind = kind, .count = ids_to_claim(kind, count)};
        claim.status = atomic_load(&writer->failed) ? CTS_IO : CTS_OK;
        if (!claim.status) {
            cts_private_files_do(claim_now, &claim);
            if (claim.status) keep_failure(writer, &claim.error);
        }
        if (claim.status) claim.first = block->end; /* no row with it will be written */
        if (claim.first != block->end) block->next = claim.first; /* another process came between */
        block->end = claim.first + claim.count;
    }
    const uint32_t id = block->next;
    block->next += count;
    pthread_mutex_unlock(&writer->id_lock);
    return id;
}

/* ---- rows ---- */

void cts_catalogue_set(struct cts_catalogue_writer *writer, const char *key, const char *value)
{
    add(writer, &(struct operation){
                    .kind = CTS_JOURNAL_KEY, .table = CTS_TABLE_NONE, .key = key, .value = value});
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
ADD(cts_catalogue_add_fault, cts_launch_fault, CTS_TABLE_FAULTS)
ADD(cts_catalogue_add_skipped, cts_skipped, CTS_TABLE_SKIPPED)
ADD(cts_catalogue_add_stream, cts_cuda_stream, CTS_TABLE_STREAMS)
ADD(cts_catalogue_add_copy, cts_copy, CTS_TABLE_COPIES)
ADD(cts_catalogue_add_allocation, cts_allocation, CTS_TABLE_ALLOCATIONS)
ADD(cts_catalogue_add_sync, cts_sync, CTS_TABLE_SYNCS)
ADD(cts_catalogue_add_host_access, cts_host_access, CTS_TABLE_HOST_ACCESSES)
ADD(cts_catalogue_add_call, cts_host_call, CTS_TABLE_CALLS)
ADD(cts_catalogue_add_host_function, cts_host_function, CTS_TABLE_HOST_FUNCTIONS)
ADD(cts_catalogue_add_thread_edge, cts_thread_edge, CTS_TABLE_THREAD_ORDER)
ADD(cts_catalogue_add_graph_node, cts_graph_node, CTS_TABLE_GRAPH_NODES)
ADD(cts_catalogue_add_graph_edge, cts_graph_edge, CTS_TABLE_GRAPH_EDGES)
ADD(cts_catalogue_add_cta_sm, cts_cta_sm, CTS_TABLE_CTA_SMS)
ADD(cts_catalogue_add_cluster, cts_cluster, CTS_TABLE_CLUSTERS)
ADD(cts_catalogue_add_launch_pointer, cts_launch_pointer, CTS_TABLE_LAUNCH_POINTERS)
ADD(cts_catalogue_add_tensor_map, cts_tensor_map, CTS_TABLE_TENSOR_MAPS)
ADD(cts_catalogue_add_padded_type, cts_padded_type, CTS_TABLE_PADDED_TYPES)
ADD(cts_catalogue_add_fingerprint, cts_fingerprint, CTS_TABLE_FINGERPRINTS)
#undef ADD

/* What is asked for is counted first, what is complete last: whenever the process ends, a launch
 * that is not known to be complete is known to have been asked for. */
void cts_catalogue_add_launch(struct cts_catalogue_writer *writer, const struct cts_launch *row)
{
    if (is_inherited(writer)) return;
    struct cts_journal_header *const header = writer->journal.header;
    if (!row->end_ns) atomic_fetch_add(&header->launches_asked, 1);
    if (!add_row(writer, CTS_TABLE_LAUNCHES, row) || !row->end_ns) return;
    atomic_store(&header->last_ns, row->end_ns);
    atomic_fetch_add(&header->launches_complete, 1);
}

void cts_catalogue_update_launch(struct cts_catalogue_writer *writer, const struct cts_launch *row)
{
    if (!is_inherited(writer)) add_row(writer, CTS_TABLE_LAUNCHES, row);
}

void cts_catalogue_add_message(struct cts_catalogue_writer *writer, const char *severity,
                               const char *text)
{
    const struct cts_message row = {.rank = writer->rank, .severity = severity, .text = text};
    add_row(writer, CTS_TABLE_MESSAGES, &row);
}

void cts_catalogue_free_allocation(struct cts_catalogue_writer *writer, uint32_t allocation,
                                   uint64_t freed_op)
{
    add(writer, &(struct operation){.kind = CTS_JOURNAL_FREE_ALLOCATION,
                                    .table = CTS_TABLE_ALLOCATIONS,
                                    .id = allocation,
                                    .op = freed_op});
}

void cts_catalogue_destroy_stream(struct cts_catalogue_writer *writer, uint32_t stream,
                                  uint64_t destroyed_op)
{
    add(writer, &(struct operation){.kind = CTS_JOURNAL_DESTROY_STREAM,
                                    .table = CTS_TABLE_STREAMS,
                                    .id = stream,
                                    .op = destroyed_op});
}
