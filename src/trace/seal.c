/* A table's checksum is the sum, modulo 2^64, of a hash of each of its rows, so that it does not
 * depend on their order: 16 hexadecimal digits. A row's hash takes each column in turn: its type,
 * its length and its bytes. The seal names the columns that it took, so that a reader that knows
 * more or fewer of them computes the same. */
#include "trace/seal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/array.h"
#include "common/read-file.h"
#include "trace/acc-format.h"
#include "trace/catalogue-sql.h"
#include "trace/catalogue-tables.h"
#include "trace/seal-private.h"

enum { COLUMNS_TEXT_BYTES = 600, DEPTH_MAX = 3, READ_BYTES = 1 << 18 };

static const char seal_key[] = "sealed";

/* ---- checksums of tables ---- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t mix_bytes(uint64_t hash, const void *bytes, size_t byte_count)
{
    const uint8_t *at = bytes;
    uint64_t word;
    hash = mix(hash, byte_count);
    for (; byte_count >= sizeof word; at += sizeof word, byte_count -= sizeof word) {
        memcpy(&word, at, sizeof word);
        hash = mix(hash, word);
    }
    word = 0;
    if (byte_count) memcpy(&word, at, byte_count);
    return mix(hash, word);
}

static uint64_t hash_row(sqlite3_stmt *statement)
{
    uint64_t hash = 1;
    const int count = sqlite3_column_count(statement);
    for (int i = 0; i < count; i++) {
        const int type = sqlite3_column_type(statement, i);
        hash = mix(hash, (uint64_t)type);
        if (type == SQLITE_INTEGER) {
            hash = mix(hash, (uint64_t)sqlite3_column_int64(statement, i));
        } else if (type != SQLITE_NULL) {
            const void *const bytes = sqlite3_column_blob(statement, i);
            hash = mix_bytes(hash, bytes, bytes ? (size_t)sqlite3_column_bytes(statement, i) : 0);
        }
    }
    return hash;
}

struct table_sum {
    uint64_t rows, sum;
};

/* SQLITE_ERROR where the table or one of its columns is not there. */
static int sum_table(sqlite3 *db, const char *name, const char *columns, struct table_sum *sum)
{
    sqlite3_stmt *statement = NULL;
    char *const sql = sqlite3_mprintf("SELECT %s FROM \"%w\"", columns, name);
    int code = sql ? sqlite3_prepare_v2(db, sql, -1, &statement, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    *sum = (struct table_sum){0};
    if (code) return code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        sum->rows++;
        sum->sum += hash_row(statement);
    }
    sqlite3_finalize(statement);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static bool is_summed(unsigned table)
{
    return table != CTS_TABLE_CHECKSUMS;
}

static const char *name_of(unsigned table)
{
    return table == CTS_TABLE_COUNT ? "run" : cts_tables[table].name;
}

/* "a", "b": the columns that this program knows. */
static void columns_of(unsigned table, char *text, size_t text_bytes)
{
    if (table == CTS_TABLE_COUNT) {
        snprintf(text, text_bytes, "\"key\",\"value\"");
        return;
    }
    size_t length = 0;
    for (unsigned i = 0; i < cts_tables[table].column_count && length < text_bytes; i++)
        length += (size_t)snprintf(text + length, text_bytes - length, "%s\"%s\"", i ? "," : "",
                                   cts_tables[table].columns[i].name);
    if (length >= text_bytes) abort(); /* our mistake: a table has grown */
}

static bool has_table(sqlite3 *db, const char *name)
{
    sqlite3_stmt *statement = NULL;
    bool found = false;
    if (sqlite3_prepare_v2(db, "SELECT 1 FROM sqlite_schema WHERE name = ? AND type = 'table'", -1,
                           &statement, NULL) == SQLITE_OK) {
        sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
        found = sqlite3_step(statement) == SQLITE_ROW;
    }
    sqlite3_finalize(statement);
    return found;
}

static enum cts_status store_sums(sqlite3 *db, struct cts_error *error)
{
    static const char what[] = "cannot seal the run";
    sqlite3_stmt *insert = NULL;
    enum cts_status status = CTS_OK;
    if (sqlite3_prepare_v2(db,
                           "INSERT INTO checksums (name, columns, rows, checksum) VALUES "
                           "(?,?,?,?)",
                           -1, &insert, NULL))
        return cts_sql_fail(db, error, what);
    for (unsigned t = 0; !status && t <= CTS_TABLE_COUNT; t++) {
        struct table_sum sum;
        char columns[COLUMNS_TEXT_BYTES], text[20];
        if (!is_summed(t) || !has_table(db, name_of(t))) continue;
        columns_of(t, columns, sizeof columns);
        const int code = sum_table(db, name_of(t), columns, &sum);
        snprintf(text, sizeof text, "%016" PRIx64, sum.sum);
        sqlite3_bind_text(insert, 1, name_of(t), -1, SQLITE_STATIC);
        sqlite3_bind_text(insert, 2, columns, -1, SQLITE_STATIC);
        sqlite3_bind_int64(insert, 3, (sqlite3_int64)sum.rows);
        sqlite3_bind_text(insert, 4, text, -1, SQLITE_STATIC);
        if (code || sqlite3_step(insert) != SQLITE_DONE) status = cts_sql_fail(db, error, what);
        sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    return status;
}

/* ---- the files ---- */

/* Reads a whole file; what it cannot read is an error. */
static enum cts_status checksum_file(const char *path, uint32_t *checksum, uint64_t *size_bytes,
                                     struct cts_error *error)
{
    uint8_t *const bytes = malloc(READ_BYTES);
    if (!bytes) return cts_fail(error, CTS_MEMORY, "no memory to read '%s'", path);
    const int file = cts_open_file(path, O_RDONLY | O_NONBLOCK, 0);
    ssize_t got = file < 0 ? -1 : READ_BYTES;
    *checksum = 0;
    *size_bytes = 0;
    while (got == READ_BYTES && (got = cts_read_file(file, bytes, READ_BYTES)) > 0) {
        *checksum = cts_acc_crc32c(*checksum, bytes, (size_t)got);
        *size_bytes += (uint64_t)got;
    }
    const enum cts_status status =
        got < 0 ? cts_fail_errno(error, errno, "cannot read '%s'", path) : CTS_OK;
    if (file >= 0) close(file);
    free(bytes);
    if (*checksum == CTS_NONE) *checksum = 0; /* which means that there is none */
    return status;
}

static enum cts_status store_file(sqlite3_stmt *insert, const struct cts_run_file *file,
                                  struct cts_error *error)
{
    sqlite3_bind_text(insert, 1, file->path, -1, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 2, (sqlite3_int64)file->size_bytes);
    if (file->checksum == CTS_NONE)
        sqlite3_bind_null(insert, 3);
    else
        sqlite3_bind_int64(insert, 3, file->checksum);
    sqlite3_bind_int64(insert, 4, (sqlite3_int64)file->chunks);
    sqlite3_bind_int64(insert, 5, (sqlite3_int64)file->records);
    sqlite3_bind_int64(insert, 6, (sqlite3_int64)file->accesses);
    const int code = sqlite3_step(insert);
    sqlite3_reset(insert);
    return code == SQLITE_DONE
               ? CTS_OK
               : cts_sql_fail(sqlite3_db_handle(insert), error, "cannot seal the run");
}

/* Damaged files do not seal themselves away: what is wrong with them stays for readers to find. */
static void ignore_damage(void *state, const struct cts_error *error)
{
    (void)state, (void)error;
}

static enum cts_status store_access_files(sqlite3_stmt *insert, const char *run_path,
                                          struct cts_error *error)
{
    struct cts_acc_reader *reader;
    enum cts_status status = cts_acc_open_readable(run_path, &reader, ignore_damage, NULL, error);
    if (status) return status;
    size_t chunk_count;
    const struct cts_acc_chunk *const chunks = cts_acc_chunks(reader, &chunk_count);
    const size_t file_count = cts_acc_file_count(reader);
    struct cts_run_file *const files = cts_array_zeroed(file_count, sizeof *files, error);
    if (!files) status = CTS_MEMORY;
    for (size_t i = 0; files && i < chunk_count; i++) {
        files[chunks[i].file].chunks++;
        files[chunks[i].file].records += chunks[i].record_count;
        files[chunks[i].file].accesses += chunks[i].access_count;
    }
    for (size_t i = 0; !status && i < file_count; i++) {
        files[i].path = cts_acc_file_path(reader, (uint32_t)i) + strlen(run_path) + 1;
        files[i].size_bytes = cts_acc_file_size(reader, (uint32_t)i);
        files[i].checksum = CTS_NONE;
        status = store_file(insert, &files[i], error);
    }
    free(files);
    cts_acc_close(reader);
    return status;
}

static enum cts_status store_folder(sqlite3_stmt *insert, const char *run_path, const char *below,
                                    int depth, struct cts_error *error);

static enum cts_status store_entry(sqlite3_stmt *insert, const char *run_path, const char *below,
                                   const char *entry, int depth, struct cts_error *error)
{
    char name[PATH_MAX], path[PATH_MAX];
    struct stat info;
    if ((size_t)snprintf(name, sizeof name, "%s/%s", below, entry) >= sizeof name ||
        (size_t)snprintf(path, sizeof path, "%s/%s", run_path, name) >= sizeof path ||
        lstat(path, &info))
        return CTS_OK; /* none of ours */
    if (S_ISDIR(info.st_mode) && depth < DEPTH_MAX)
        return store_folder(insert, run_path, name, depth + 1, error);
    if (!S_ISREG(info.st_mode)) return CTS_OK;
    struct cts_run_file file = {.path = name};
    const enum cts_status status = checksum_file(path, &file.checksum, &file.size_bytes, error);
    return status ? status : store_file(insert, &file, error);
}

/* All files below a folder of the run; `below` is its path in the run. */
static enum cts_status store_folder(sqlite3_stmt *insert, const char *run_path, const char *below,
                                    int depth, struct cts_error *error)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", run_path, below);
    struct dirent **entries = NULL;
    int count;
    do {
        count = scandir(path, &entries, NULL, alphasort);
    } while (count < 0 && errno == EINTR);
    if (count < 0 && errno == ENOENT) return CTS_OK;
    if (count < 0) return cts_fail_errno(error, errno, "cannot read directory '%s'", path);
    enum cts_status status = CTS_OK;
    for (int i = 0; i < count; i++) {
        if (!status && entries[i]->d_name[0] != '.')
            status = store_entry(insert, run_path, below, entries[i]->d_name, depth, error);
        free(entries[i]);
    }
    free(entries);
    return status;
}

static enum cts_status store_files(sqlite3 *db, const char *run_path, struct cts_error *error)
{
    sqlite3_stmt *insert = NULL;
    if (sqlite3_prepare_v2(db,
                           "INSERT INTO files (path, size_bytes, checksum, chunks, records, "
                           "accesses) VALUES (?,?,?,?,?,?)",
                           -1, &insert, NULL))
        return cts_sql_fail(db, error, "cannot seal the run");
    enum cts_status status = store_access_files(insert, run_path, error);
    if (!status) status = store_folder(insert, run_path, "timeline", 0, error);
    sqlite3_finalize(insert);
    return status;
}

/* ---- sealing ---- */

enum cts_status cts_seal_write(const char *run_path, struct cts_error *error)
{
    static const char begin[] = "BEGIN IMMEDIATE; DELETE FROM files; DELETE FROM checksums";
    sqlite3 *db = NULL;
    enum cts_status status = cts_catalogue_open_database(run_path, &db, error);
    if (!status && (!has_table(db, "files") || !has_table(db, "checksums"))) {
        cts_catalogue_close_database(db); /* of an earlier version */
        return CTS_OK;
    }
    if (!status) status = cts_sql_run(db, begin, "cannot seal the run", error);
    if (!status) status = store_files(db, run_path, error);
    if (!status) status = cts_catalogue_store_key(db, seal_key, "1", true, error);
    if (!status) status = store_sums(db, error);
    if (!status) status = cts_sql_run(db, "COMMIT", "cannot seal the run", error);
    if (db && !sqlite3_get_autocommit(db)) sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    cts_catalogue_close_database(db);
    return status ? cts_context(error, "'%s'", run_path) : CTS_OK;
}

/* ---- looking ---- */

bool cts_seal_is_there(const struct cts_catalogue *catalogue)
{
    return cts_catalogue_get(catalogue, seal_key) || catalogue->checksum_count;
}

static const struct cts_checksum *find_checksum(const struct cts_catalogue *catalogue,
                                                const char *name)
{
    for (size_t i = 0; i < catalogue->checksum_count; i++)
        if (strcmp(catalogue->checksums[i].name, name) == 0) return &catalogue->checksums[i];
    return NULL;
}

/* Names of columns go into SQL: nothing but what columns_of() writes may. */
static bool is_column_list(const char *text)
{
    return *text && text[strspn(text, "abcdefghijklmnopqrstuvwxyz_0123456789\",")] == 0;
}

enum cts_status cts_seal_check_tables(sqlite3 *db, struct cts_catalogue *catalogue,
                                      struct cts_error *error)
{
    if (!cts_seal_is_there(catalogue)) return CTS_OK;
    for (unsigned t = 0; t <= CTS_TABLE_COUNT; t++) {
        const char *const name = name_of(t);
        struct table_sum sum = {0};
        char text[20];
        if (!is_summed(t) || !has_table(db, name)) continue;
        const struct cts_checksum *const sealed = find_checksum(catalogue, name);
        if (!sealed) {
            cts_gaps_add(&catalogue->gaps, "run.db has lost the checksum of table '%s'", name);
            continue;
        }
        const int code = is_column_list(sealed->columns)
                             ? sum_table(db, name, sealed->columns, &sum)
                             : SQLITE_ERROR;
        if (code == SQLITE_NOMEM || (code & 0xff) == SQLITE_IOERR)
            return cts_sql_fail(db, error, "table '%s'", name);
        snprintf(text, sizeof text, "%016" PRIx64, sum.sum);
        if (code || sum.rows < sealed->rows)
            cts_gaps_add(&catalogue->gaps,
                         "run.db: table '%s' had %" PRIu64 " rows and has %" PRIu64, name,
                         sealed->rows, sum.rows);
        else if (sum.rows != sealed->rows || strcmp(text, sealed->checksum) != 0)
            cts_gaps_add(&catalogue->gaps,
                         "run.db: table '%s' is not as it was recorded: its checksum differs; "
                         "what is made from it may be wrong",
                         name);
    }
    return CTS_OK;
}

const struct cts_run_file *cts_seal_file(const struct cts_catalogue *catalogue, const char *path)
{
    for (size_t i = 0; i < catalogue->file_count; i++)
        if (strcmp(catalogue->files[i].path, path) == 0) return &catalogue->files[i];
    return NULL;
}

/* The seal may be anybody's: a path that leaves the run is none of its files. */
static bool is_below(const char *path, const char *folder)
{
    return strncmp(path, folder, strlen(folder)) == 0 && !strstr(path, "..");
}

static void add_missing(const struct cts_run_file *file, struct cts_gaps *gaps)
{
    if (file->records)
        cts_gaps_add(gaps, "'%s' is missing: %" PRIu64 " records, %" PRIu64 " accesses", file->path,
                     file->records, file->accesses);
    else
        cts_gaps_add(gaps, "'%s' is missing", file->path);
}

static void check_file(const char *run_path, const struct cts_run_file *file,
                       enum cts_seal_part part, struct cts_gaps *gaps)
{
    char path[PATH_MAX];
    struct stat info;
    struct cts_error error;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", run_path, file->path) >= sizeof path) return;
    if (stat(path, &info)) {
        if (errno == ENOENT || errno == ENOTDIR)
            add_missing(file, gaps);
        else
            cts_gaps_add(gaps, "'%s' cannot be read: %s", file->path, strerror(errno));
        return;
    }
    if ((uint64_t)info.st_size != file->size_bytes) {
        cts_gaps_add(gaps, "'%s' had %" PRIu64 " bytes and has %" PRIu64, file->path,
                     file->size_bytes, (uint64_t)info.st_size);
        return;
    }
    uint32_t checksum = 0;
    uint64_t size_bytes;
    if (part != CTS_SEAL_TIMELINE || file->checksum == CTS_NONE) return;
    if (checksum_file(path, &checksum, &size_bytes, &error))
        cts_gaps_add(gaps, "%s", error.text);
    else if (checksum != file->checksum)
        cts_gaps_add(gaps, "'%s' is not as it was recorded: its checksum differs", file->path);
}

void cts_seal_check_files(const char *run_path, const struct cts_catalogue *catalogue,
                          enum cts_seal_part part, struct cts_gaps *gaps)
{
    const char *const folder = part == CTS_SEAL_ACCESSES ? "rank-" : "timeline/";
    for (size_t i = 0; i < catalogue->file_count; i++)
        if (is_below(catalogue->files[i].path, folder))
            check_file(run_path, &catalogue->files[i], part, gaps);
}
