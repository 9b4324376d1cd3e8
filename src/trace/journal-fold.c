/* Folding: the entries of a journal become statements on a database, in one transaction, and what
 * its header counts becomes what is known of the process's end.
 *
 * Nothing of the journal is trusted: sizes and checksums are checked before anything is used, and a
 * table or column that we do not know is passed over. Damage ends a journal; what stands before it
 * is kept, and the run says so. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/cursor.h"
#include "trace/acc-finish.h"
#include "trace/acc-format.h"
#include "trace/catalogue-sql.h"
#include "trace/journal.h"
#include "trace/numbered.h"

enum { VALUES_MAX = 64, READ_BYTES = 1 << 18 };

struct value {
    enum cts_journal_value type;
    uint64_t number;
    const char *text; /* of `number` bytes */
};

/* A table as the journal describes it. */
struct described_table {
    sqlite3_stmt *insert;      /* NULL: not known to us */
    uint8_t value_count;       /* of a row */
    uint8_t place[VALUES_MAX]; /* of each value among the statement's; 0: not known to us */
};

struct fold {
    sqlite3 *db;
    uint32_t rank;
    char directory[4096]; /* rank-N */
    char path[4160];
    int fd;
    uint64_t size_bytes; /* when it was opened: who reads a live one does not run after it */
    bool is_live;
    struct cts_journal_header *header; /* a copy */
    struct cts_buffer bytes;           /* read, from `at_bytes` of the file */
    size_t used_bytes;
    uint64_t at_bytes; /* of the next entry */
    bool is_damaged;
    struct described_table tables[256];
    sqlite3_stmt *statements[CTS_JOURNAL_KIND_COUNT];
};

/* ---- the file ---- */

/* Makes `byte_count` more bytes available at bytes.data + used_bytes; false at the file's end. */
static enum cts_status fill(struct fold *f, size_t byte_count, bool *found, struct cts_error *error)
{
    *found = true;
    if (f->bytes.size_bytes - f->used_bytes >= byte_count) return CTS_OK;
    if (f->used_bytes) /* before the first reading there is no buffer */
        memmove(f->bytes.data, f->bytes.data + f->used_bytes, f->bytes.size_bytes - f->used_bytes);
    f->bytes.size_bytes -= f->used_bytes;
    f->used_bytes = 0;
    const size_t most = f->size_bytes < READ_BYTES ? (size_t)f->size_bytes : READ_BYTES;
    const size_t wanted = byte_count > most ? byte_count : most;
    const enum cts_status status =
        cts_buffer_reserve(&f->bytes, wanted - f->bytes.size_bytes, error);
    if (status) return status;
    while (f->bytes.size_bytes < byte_count) {
        const ssize_t got =
            read(f->fd, f->bytes.data + f->bytes.size_bytes, wanted - f->bytes.size_bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return cts_fail_errno(error, errno, "cannot read '%s'", f->path);
        if (got == 0) {
            *found = false;
            return CTS_OK;
        }
        f->bytes.size_bytes += (size_t)got;
    }
    return CTS_OK;
}

/* The next entry's payload; `found` false at the end, or at damage. */
static enum cts_status next_entry(struct fold *f, struct cts_cursor *payload, bool *found,
                                  struct cts_error *error)
{
    *found = f->at_bytes < f->size_bytes;
    enum cts_status status = CTS_OK;
    if (*found) status = fill(f, CTS_JOURNAL_ENTRY_BYTES, found, error);
    if (status || !*found) return status;
    const uint32_t size_bytes = cts_get_u32(f->bytes.data + f->used_bytes);
    const uint32_t crc = cts_get_u32(f->bytes.data + f->used_bytes + 4);
    *found = size_bytes != 0;
    if (!size_bytes) return CTS_OK;
    f->is_damaged = size_bytes > CTS_JOURNAL_PAYLOAD_MAX_BYTES;
    *found = !f->is_damaged;
    if (f->is_damaged) return CTS_OK;
    const size_t entry_bytes = CTS_JOURNAL_ENTRY_BYTES + ((size_t)size_bytes + 7) / 8 * 8;
    status = fill(f, entry_bytes, found, error);
    if (status) return status;
    const uint8_t *const at = f->bytes.data + f->used_bytes + CTS_JOURNAL_ENTRY_BYTES;
    f->is_damaged = !*found || cts_acc_crc32c(0, at, size_bytes) != crc;
    *found = !f->is_damaged;
    if (f->is_damaged) return CTS_OK;
    *payload = cts_cursor_of(at, size_bytes);
    f->used_bytes += entry_bytes;
    f->at_bytes += entry_bytes;
    return CTS_OK;
}

/* ---- entries ---- */

static bool read_value(struct cts_cursor *payload, struct value *value)
{
    const uint8_t type = cts_cursor_u8(payload);
    *value = (struct value){.type = type};
    if (type == CTS_JOURNAL_NULL) return !payload->overflow;
    value->number = cts_cursor_u64(payload);
    if (type == CTS_JOURNAL_TEXT)
        value->text = (const char *)cts_cursor_bytes(payload, (size_t)value->number);
    return type <= CTS_JOURNAL_TEXT && !payload->overflow;
}

static void bind(sqlite3_stmt *statement, int place, const struct value *value)
{
    if (value->type == CTS_JOURNAL_NULL)
        sqlite3_bind_null(statement, place);
    else if (value->type == CTS_JOURNAL_TEXT)
        sqlite3_bind_text64(statement, place, value->text, value->number, SQLITE_STATIC,
                            SQLITE_UTF8);
    else
        sqlite3_bind_int64(statement, place, (sqlite3_int64)value->number);
}

static bool is_text(const struct value *value, const char *text)
{
    return value->type == CTS_JOURNAL_TEXT && strlen(text) == value->number &&
           memcmp(text, value->text, (size_t)value->number) == 0;
}

static enum cts_status step(struct fold *f, sqlite3_stmt *statement, const char *what,
                            struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    if (!statement || sqlite3_step(statement) != SQLITE_DONE)
        status = cts_sql_fail(f->db, error, "cannot write to the catalogue (table '%s')", what);
    sqlite3_reset(statement);
    return status;
}

static const struct cts_table *find_table(const struct value *name)
{
    for (unsigned t = 0; t < CTS_TABLE_COUNT; t++)
        if (is_text(name, cts_tables[t].name)) return &cts_tables[t];
    return NULL;
}

static bool is_column(const struct cts_table *table, const struct value *name)
{
    for (unsigned i = 0; i < table->column_count; i++)
        if (is_text(name, table->columns[i].name)) return true;
    return false;
}

/* From a table's description the statement that inserts its rows. */
static enum cts_status describe(struct fold *f, unsigned number, const struct value *values,
                                unsigned value_count, struct cts_error *error)
{
    struct described_table *const described = &f->tables[number];
    const struct cts_table *const table = value_count ? find_table(&values[0]) : NULL;
    sqlite3_finalize(described->insert);
    *described = (struct described_table){.value_count = (uint8_t)(value_count - 1)};
    if (!table) return CTS_OK;
    unsigned place = 0;
    sqlite3_str *const sql = sqlite3_str_new(f->db);
    sqlite3_str_appendf(sql, "INSERT OR REPLACE INTO %s (", table->name);
    for (unsigned i = 1; i < value_count; i++) {
        if (!is_column(table, &values[i])) continue;
        sqlite3_str_appendf(sql, "%s\"%.*s\"", place ? ", " : "", (int)values[i].number,
                            values[i].text);
        described->place[i - 1] = (uint8_t)++place;
    }
    sqlite3_str_appendall(sql, ") VALUES (");
    for (unsigned i = 0; i < place; i++) sqlite3_str_appendall(sql, i ? ", ?" : "?");
    sqlite3_str_appendall(sql, ")");
    char *const text = sqlite3_str_finish(sql);
    if (text && place) sqlite3_prepare_v2(f->db, text, -1, &described->insert, NULL);
    sqlite3_free(text);
    if (described->insert || !place) return CTS_OK;
    return cts_sql_fail(f->db, error, "cannot write to the catalogue (table '%s')", table->name);
}

static enum cts_status insert(struct fold *f, unsigned number, const struct value *values,
                              unsigned value_count, struct cts_error *error)
{
    const struct described_table *const described = &f->tables[number];
    if (!described->insert || described->value_count != value_count) return CTS_OK;
    for (unsigned i = 0; i < value_count; i++)
        if (described->place[i]) bind(described->insert, described->place[i], &values[i]);
    return step(f, described->insert, "of a journal", error);
}

static enum cts_status update(struct fold *f, enum cts_journal_kind kind,
                              const struct value *values, struct cts_error *error)
{
    static const char *const sql[CTS_JOURNAL_KIND_COUNT] = {
        [CTS_JOURNAL_KEY] = "INSERT OR REPLACE INTO run (key, value) VALUES (?1, ?2)",
        [CTS_JOURNAL_FREE_ALLOCATION] =
            "UPDATE allocations SET freed_op = ?2 WHERE allocation = ?1",
        [CTS_JOURNAL_DESTROY_STREAM] = "UPDATE streams SET destroyed_op = ?2 WHERE stream = ?1",
    };
    if (!f->statements[kind]) sqlite3_prepare_v2(f->db, sql[kind], -1, &f->statements[kind], NULL);
    for (int i = 0; f->statements[kind] && i < 2; i++) bind(f->statements[kind], i + 1, &values[i]);
    return step(f, f->statements[kind], "run", error);
}

static enum cts_status apply(struct fold *f, struct cts_cursor *payload, struct cts_error *error)
{
    struct value values[VALUES_MAX];
    const unsigned kind = cts_cursor_u8(payload);
    const unsigned number = cts_cursor_u8(payload);
    const unsigned value_count = cts_cursor_u8(payload);
    (void)cts_cursor_u8(payload);
    f->is_damaged = value_count > VALUES_MAX || kind >= CTS_JOURNAL_KIND_COUNT;
    for (unsigned i = 0; !f->is_damaged && i < value_count; i++)
        f->is_damaged = !read_value(payload, &values[i]);
    if (!f->is_damaged && kind == CTS_JOURNAL_TABLE)
        for (unsigned i = 0; i < value_count; i++)
            f->is_damaged |= values[i].type != CTS_JOURNAL_TEXT;
    f->is_damaged |= kind >= CTS_JOURNAL_KEY && value_count != 2;
    f->is_damaged |= kind == CTS_JOURNAL_TABLE && value_count < 2;
    if (f->is_damaged) return CTS_OK;
    if (kind == CTS_JOURNAL_TABLE) return describe(f, number, values, value_count, error);
    if (kind == CTS_JOURNAL_ROW) return insert(f, number, values, value_count, error);
    return update(f, kind, values, error);
}

/* ---- the header ---- */

static enum cts_status read_header(struct fold *f, bool *found, struct cts_error *error)
{
    const enum cts_status status = fill(f, CTS_JOURNAL_HEADER_BYTES, found, error);
    if (status || !*found) return status;
    memcpy(f->header, f->bytes.data, sizeof *f->header);
    f->header->failure[sizeof f->header->failure - 1] = 0;
    f->used_bytes = CTS_JOURNAL_HEADER_BYTES;
    f->at_bytes = CTS_JOURNAL_HEADER_BYTES;
    if (memcmp(f->header->magic, CTS_JOURNAL_MAGIC, sizeof f->header->magic) != 0)
        *found = false; /* killed before it had begun */
    else if (f->header->version > CTS_JOURNAL_VERSION)
        return cts_fail(error, CTS_VERSION,
                        "'%s' has format version %u; this ctascope reads up to version %d", f->path,
                        f->header->version, CTS_JOURNAL_VERSION);
    return CTS_OK;
}

static const struct cts_process_end *find_end(const struct fold *f, const struct cts_fold *options)
{
    for (size_t i = 0; i < options->end_count; i++)
        if (options->ends[i].pid == f->header->pid) return &options->ends[i];
    return NULL;
}

/* SQL's integers have a sign; nobody counts so far. */
static sqlite3_int64 counted(_Atomic uint64_t *count)
{
    const uint64_t number = atomic_load(count);
    return number > INT64_MAX ? INT64_MAX : (sqlite3_int64)number;
}
/* A statement and what is bound to its parameters: numbers, then a text if there is one. */
struct bound {
    const char *sql;
    const sqlite3_int64 *numbers;
    int number_count;
    const char *text;
};

static enum cts_status run_bound(struct fold *f, const struct bound *bound, struct cts_error *error)
{
    sqlite3_stmt *statement = NULL;
    sqlite3_prepare_v2(f->db, bound->sql, -1, &statement, NULL);
    for (int i = 0; statement && i < bound->number_count; i++)
        sqlite3_bind_int64(statement, i + 1, bound->numbers[i]);
    if (statement && bound->text)
        sqlite3_bind_text(statement, bound->number_count + 1, bound->text, -1, SQLITE_STATIC);
    const enum cts_status status = step(f, statement, "endings", error);
    sqlite3_finalize(statement);
    return status;
}

struct judgement {
    const char *how;
    sqlite3_int64 status; /* -1: unknown */
    bool is_complete;
};

static struct judgement judge(struct fold *f, const struct cts_process_end *end)
{
    struct cts_journal_header *const h = f->header;
    struct judgement j = {.how = "unknown", .status = end ? (sqlite3_int64)end->status : -1};
    const bool is_killed = end && end->is_signal && end->status == SIGKILL; /* even at the last */
    if (atomic_load(&h->state) == CTS_JOURNAL_CLOSED && !is_killed)
        j.how = "closed";
    else if (end && end->is_signal)
        j.how = "signal";
    else if (end || atomic_load(&h->is_exit))
        j.how = "exit";
    j.is_complete = (strcmp(j.how, "closed") == 0 || strcmp(j.how, "exit") == 0) &&
                    !atomic_load(&h->rows_lost) && !f->is_damaged &&
                    atomic_load(&h->launches_asked) <= atomic_load(&h->launches_complete);
    return j;
}

/* The rank's row, where the process did not write its last one. */
static enum cts_status complete_rank(struct fold *f, const struct judgement *j,
                                     struct cts_error *error)
{
    struct cts_journal_header *const h = f->header;
    const uint64_t last_ns = atomic_load(&h->last_ns);
    const sqlite3_int64 end_ns = (sqlite3_int64)(last_ns > h->start_ns ? last_ns : h->start_ns);
    const sqlite3_int64 first[] = {f->rank, h->pid, (sqlite3_int64)h->start_ns};
    const sqlite3_int64 numbers[] = {f->rank,
                                     counted(&h->records),
                                     counted(&h->accesses),
                                     counted(&h->dropped_records),
                                     counted(&h->dropped_accesses),
                                     j->is_complete ? end_ns : 0};
    enum cts_status status = run_bound(
        f,
        &(struct bound){.sql =
                            "INSERT OR IGNORE INTO ranks (rank, pid, start_ns, unix_start_ns, "
                            "records, accesses, "
                            "dropped_records, dropped_accesses) VALUES (?1, ?2, ?3, 0, 0, 0, 0, 0)",
                        .numbers = first,
                        .number_count = 3,
                        .text = NULL},
        error);
    if (!status && atomic_load(&h->state) != CTS_JOURNAL_CLOSED)
        status = run_bound(
            f,
            &(struct bound){
                .sql = "UPDATE ranks SET records = ?2, accesses = ?3, dropped_records = ?4, "
                       "dropped_accesses = ?5, end_ns = nullif(?6, 0), "
                       "failure = coalesce(failure, ?7) WHERE rank = ?1",
                .numbers = numbers,
                .number_count = 6,
                .text = *h->failure ? h->failure : NULL},
            error);
    else if (!status && !j->is_complete)
        status =
            run_bound(f,
                      &(struct bound){
                          .sql = "UPDATE ranks SET end_ns = NULL, failure = coalesce(failure, ?2) "
                                 "WHERE rank = ?1",
                          .numbers = first,
                          .number_count = 1,
                          .text = *h->failure ? h->failure : NULL},
                      error);
    return status;
}

static enum cts_status write_files(struct fold *f, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (unsigned i = 0; !status && i < CTS_JOURNAL_FILES_MAX; i++) {
        struct cts_journal_file *const file = &f->header->files[i];
        if (!atomic_load(&file->size_bytes)) continue;
        const sqlite3_int64 numbers[] = {f->rank,
                                         i,
                                         counted(&file->chunks),
                                         counted(&file->records),
                                         counted(&file->accesses),
                                         counted(&file->size_bytes)};
        status = run_bound(
            f,
            &(struct bound){.sql =
                                "INSERT OR REPLACE INTO access_files (rank, file, chunks, records, "
                                "accesses, size_bytes) VALUES (?, ?, ?, ?, ?, ?)",
                            .numbers = numbers,
                            .number_count = 6,
                            .text = NULL},
            error);
    }
    return status;
}

static enum cts_status write_ending(struct fold *f, const struct cts_process_end *end,
                                    struct cts_error *error)
{
    struct cts_journal_header *const h = f->header;
    const struct judgement j = judge(f, end);
    const sqlite3_int64 asked = counted(&h->launches_asked);
    const sqlite3_int64 complete =
        counted(&h->launches_complete); /* some add a launch at its end */
    const sqlite3_int64 numbers[] = {f->rank, j.status, asked > complete ? asked : complete,
                                     complete, counted(&h->rows_lost)};
    enum cts_status status = complete_rank(f, &j, error);
    if (!status)
        status = run_bound(
            f,
            &(struct bound){.sql = "INSERT OR REPLACE INTO endings (rank, status, launches_asked, "
                                   "launches_complete, rows_lost, how) "
                                   "VALUES (?, nullif(?, -1), ?, ?, ?, ?)",
                            .numbers = numbers,
                            .number_count = 5,
                            .text = j.how},
            error);
    return status;
}

static enum cts_status note_damage(struct fold *f, struct cts_error *error)
{
    char text[5000];
    const sqlite3_int64 rank = f->rank;
    snprintf(text, sizeof text, "'%s' is damaged at byte %llu: the rows after it are lost", f->path,
             (unsigned long long)f->at_bytes);
    return run_bound(
        f,
        &(struct bound){.sql =
                            "INSERT INTO messages (rank, severity, text) VALUES (?1, 'error', ?2)",
                        .numbers = &rank,
                        .number_count = 1,
                        .text = text},
        error);
}

/* ---- one journal ---- */

/* Whether an earlier fold had the journal, and could not remove it, or just has it. What cannot be
 * told is an error: rows that are folded twice count twice. */
static enum cts_status find_folded(sqlite3 *db, uint32_t rank, const char *what, bool *is_folded,
                                   struct cts_error *error)
{
    sqlite3_stmt *statement = NULL;
    enum cts_status status = CTS_OK;
    int code = sqlite3_prepare_v2(db, "SELECT 1 FROM endings WHERE rank = ?", -1, &statement, NULL);
    if (!code) code = sqlite3_bind_int64(statement, 1, rank);
    if (!code) code = sqlite3_step(statement);
    *is_folded = code == SQLITE_ROW;
    if (code != SQLITE_ROW && code != SQLITE_DONE) status = cts_sql_fail(db, error, "%s", what);
    sqlite3_finalize(statement);
    return status;
}

static enum cts_status replay_entries(struct fold *f, const struct cts_fold *options,
                                      struct cts_error *error)
{
    struct cts_cursor payload;
    bool found = true;
    enum cts_status status = CTS_OK;
    while (!status && !f->is_damaged) {
        status = next_entry(f, &payload, &found, error);
        if (status || !found) break;
        status = apply(f, &payload, error);
    }
    if (!status && f->is_damaged) status = note_damage(f, error);
    if (!status) status = write_files(f, error);
    if (!status && !f->is_live) status = write_ending(f, find_end(f, options), error);
    return status;
}

static enum cts_status replay(struct fold *f, const struct cts_fold *options,
                              struct cts_error *error)
{
    bool is_folded = false;
    static const char what[] = "cannot write the catalogue";
    enum cts_status status = cts_sql_run(f->db, "BEGIN IMMEDIATE", what, error);
    if (status) return status;
    status = find_folded(f->db, f->rank, what, &is_folded, error);
    if (!status && !is_folded) status = replay_entries(f, options, error);
    if (!status) status = cts_sql_run(f->db, "COMMIT", what, error);
    if (status) sqlite3_exec(f->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

/* What the process left open of its access files; those that it closed stay as they are. */
static void finish_files(const struct fold *f)
{
    struct cts_buffer numbers = {0};
    if (!cts_list_numbers(f->directory, "", ".acc", &numbers, NULL))
        for (size_t i = 0; i < numbers.size_bytes / sizeof(uint32_t); i++) {
            char path[4200];
            snprintf(path, sizeof path, "%s/%u.acc", f->directory,
                     ((const uint32_t *)(const void *)numbers.data)[i]);
            cts_acc_finish(path);
        }
    cts_buffer_release(&numbers);
}

/* Whether the process that writes a journal lives and has not closed it: it holds a lock, or, where
 * it could not, the process id tells. */
static bool is_live(int fd, bool is_locked, bool is_closed, int64_t pid)
{
    if (!is_locked && is_closed) return false;
    if (is_locked) {
        if (flock(fd, LOCK_EX | LOCK_NB) != 0) return errno == EWOULDBLOCK;
        flock(fd, LOCK_UN);
        return false;
    }
    return pid > 0 && pid <= INT32_MAX && (kill((pid_t)pid, 0) == 0 || errno == EPERM);
}

static bool is_old(int fd)
{
    struct stat info;
    return fstat(fd, &info) == 0 && time(NULL) - info.st_mtime > 60;
}

static enum cts_status fold_open(struct fold *f, const struct cts_fold *options,
                                 struct cts_error *error)
{
    bool found = false;
    struct stat info;
    f->size_bytes = fstat(f->fd, &info) == 0 ? (uint64_t)info.st_size : 0;
    f->header = calloc(1, sizeof *f->header);
    if (!f->header) return cts_fail(error, CTS_MEMORY, "no memory to read '%s'", f->path);
    enum cts_status status = read_header(f, &found, error);
    f->is_live =
        found && is_live(f->fd, f->header->is_locked,
                         atomic_load(&f->header->state) == CTS_JOURNAL_CLOSED, f->header->pid);
    if (f->is_live && options->remove) return status;
    if (!status && !found && !is_old(f->fd) && !(options->remove && !options->only_known))
        return CTS_OK; /* it may just be being made */
    const bool known = found && (!options->only_known || find_end(f, options) ||
                                 atomic_load(&f->header->state) == CTS_JOURNAL_CLOSED);
    if (status || (found && !known)) return status;
    if (found) status = replay(f, options, error);
    if (!status && options->remove) {
        finish_files(f);
        unlink(f->path);
    }
    return status;
}

static void release(struct fold *f)
{
    for (unsigned i = 0; i < sizeof f->tables / sizeof *f->tables; i++)
        sqlite3_finalize(f->tables[i].insert);
    for (unsigned i = 0; i < CTS_JOURNAL_KIND_COUNT; i++) sqlite3_finalize(f->statements[i]);
    cts_buffer_release(&f->bytes);
    free(f->header);
    if (f->fd >= 0) close(f->fd);
    free(f);
}

/* A rank that was claimed, and has neither a row nor a timeline: the process was killed before it
 * could say more. */
static enum cts_status note_stillborn(struct fold *f, const struct cts_fold *options,
                                      struct cts_error *error)
{
    const sqlite3_int64 rank = f->rank;
    char timeline[4160];
    snprintf(timeline, sizeof timeline, "%s/timeline", f->directory);
    if (!options->remove || options->only_known || access(timeline, F_OK) == 0) return CTS_OK;
    enum cts_status status =
        run_bound(f,
                  &(struct bound){
                      .sql = "INSERT OR IGNORE INTO ranks (rank, pid, start_ns, unix_start_ns, "
                             "records, accesses, "
                             "dropped_records, dropped_accesses) VALUES (?1, 0, 0, 0, 0, 0, 0, 0)",
                      .numbers = &rank,
                      .number_count = 1,
                      .text = NULL},
                  error);
    if (!status)
        status = run_bound(
            f,
            &(struct bound){.sql = "INSERT OR IGNORE INTO endings (rank, launches_asked, "
                                   "launches_complete, rows_lost, how) VALUES (?1, 0, 0, 0, ?2)",
                            .numbers = &rank,
                            .number_count = 1,
                            .text = "unknown"},
            error);
    return status;
}

/* Of a rank without a journal: nothing, if it has been folded. */
static enum cts_status fold_rank(sqlite3 *db, const char *run_path, uint32_t rank,
                                 const struct cts_fold *options, struct cts_error *error)
{
    struct fold *const f = calloc(1, sizeof *f);
    if (!f) return cts_fail(error, CTS_MEMORY, "no memory for a journal");
    f->db = db;
    f->rank = rank;
    snprintf(f->directory, sizeof f->directory, "%s/rank-%u", run_path, rank);
    snprintf(f->path, sizeof f->path, "%s/" CTS_JOURNAL_NAME, f->directory);
    f->fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    enum cts_status status = CTS_OK;
    if (f->fd >= 0)
        status = fold_open(f, options, error);
    else if (errno != ENOENT && errno != ENOTDIR)
        status = cts_fail_errno(error, errno, "cannot read '%s'", f->path);
    if (!status && !f->is_live && options->end_count) status = note_stillborn(f, options, error);
    release(f);
    return status;
}

/* ---- all of a run ---- */

enum cts_status cts_journals_fold(sqlite3 *db, const char *run_path, const struct cts_fold *fold,
                                  struct cts_error *error)
{
    struct cts_buffer ranks = {0};
    enum cts_status status = cts_list_numbers(run_path, "rank-", "", &ranks, error);
    const size_t count = ranks.size_bytes / sizeof(uint32_t);
    for (size_t i = 0; !status && i < count; i++)
        status =
            fold_rank(db, run_path, ((const uint32_t *)(const void *)ranks.data)[i], fold, error);
    cts_buffer_release(&ranks);
    return status;
}

/* Calls `see` with an open journal of each rank that has one, until it returns true. */
static bool any_journal(const char *run_path, bool (*see)(int fd, int64_t *pid), int64_t *pid)
{
    struct cts_buffer ranks = {0};
    bool seen = false;
    if (!cts_list_numbers(run_path, "rank-", "", &ranks, NULL))
        for (size_t i = 0; !seen && i < ranks.size_bytes / sizeof(uint32_t); i++) {
            char path[4200];
            snprintf(path, sizeof path, "%s/rank-%u/" CTS_JOURNAL_NAME, run_path,
                     ((const uint32_t *)(const void *)ranks.data)[i]);
            const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
            if (fd < 0) continue;
            seen = see(fd, pid);
            close(fd);
        }
    cts_buffer_release(&ranks);
    return seen;
}

static bool see_any(int fd, int64_t *pid)
{
    (void)fd, (void)pid;
    return true;
}

static bool see_live(int fd, int64_t *pid)
{
    uint8_t bytes[64];
    if (pread(fd, bytes, sizeof bytes, 0) != sizeof bytes) return false;
    if (memcmp(bytes, CTS_JOURNAL_MAGIC, sizeof CTS_JOURNAL_MAGIC - 1) != 0) return false;
    const int64_t writer = (int64_t)cts_get_u64(bytes + offsetof(struct cts_journal_header, pid));
    if (pid) *pid = writer;
    return is_live(fd, cts_get_u32(bytes + offsetof(struct cts_journal_header, is_locked)),
                   cts_get_u32(bytes + offsetof(struct cts_journal_header, state)) ==
                       CTS_JOURNAL_CLOSED,
                   writer);
}

bool cts_journals_exist(const char *run_path)
{
    return any_journal(run_path, see_any, NULL);
}

bool cts_journals_are_live(const char *run_path, int64_t *pid)
{
    return any_journal(run_path, see_live, pid);
}
