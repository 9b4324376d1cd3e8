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
#include "trace/seal-tables.h"

enum { DEPTH_MAX = 3, READ_BYTES = 1 << 18 };

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

/* Damaged files do not seal themselves away: what is wrong with them stays for readers to find. One
 * that the system refused to read is perhaps whole: `state` keeps why. */
static void keep_refusal(void *state, const struct cts_error *error)
{
    struct cts_error *const refusal = state;
    const bool is_refusal = error->status == CTS_IO || error->status == CTS_MEMORY;
    if (is_refusal && !refusal->status) *refusal = *error;
}

static enum cts_status store_access_files(sqlite3_stmt *insert, const char *run_path,
                                          struct cts_error *error)
{
    struct cts_acc_reader *reader;
    struct cts_error refusal = {0};
    enum cts_status status =
        cts_acc_open_readable(run_path, &reader, keep_refusal, &refusal, error);
    if (status) return status;
    if (refusal.status) {
        cts_acc_close(reader);
        return cts_fail(error, refusal.status, "%s", refusal.text);
    }
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

/* A run, and the statement that stores a file of it. */
struct sealing {
    sqlite3_stmt *insert;
    const char *run_path;
};

static enum cts_status store_folder(const struct sealing *s, const char *below, int depth,
                                    struct cts_error *error);

static enum cts_status store_entry(const struct sealing *s, const char *below, const char *entry,
                                   int depth, struct cts_error *error)
{
    char name[PATH_MAX], path[PATH_MAX];
    struct stat info;
    if ((size_t)snprintf(name, sizeof name, "%s/%s", below, entry) >= sizeof name ||
        (size_t)snprintf(path, sizeof path, "%s/%s", s->run_path, name) >= sizeof path ||
        lstat(path, &info))
        return CTS_OK; /* none of ours */
    if (S_ISDIR(info.st_mode) && depth < DEPTH_MAX) return store_folder(s, name, depth + 1, error);
    if (!S_ISREG(info.st_mode)) return CTS_OK;
    struct cts_run_file file = {.path = name};
    const enum cts_status status = checksum_file(path, &file.checksum, &file.size_bytes, error);
    return status ? status : store_file(s->insert, &file, error);
}

/* All files below a folder of the run; `below` is its path in the run. */
static enum cts_status store_folder(const struct sealing *s, const char *below, int depth,
                                    struct cts_error *error)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", s->run_path, below);
    struct dirent **entries = NULL;
    int count;
    do {
        count = scandir(path, &entries, NULL, alphasort);
    } while (count < 0 && errno == EINTR);
    if (count < 0 && errno == ENOENT) return CTS_OK;
    if (count < 0) return cts_fail_errno(error, errno, "cannot read directory '%s'", path);
    enum cts_status status = CTS_OK;
    for (int i = 0; i < count; i++) {
        /* the list of logs that are still to be removed goes with them */
        if (!status && entries[i]->d_name[0] != '.' &&
            strcmp(entries[i]->d_name, "logs-to-remove") != 0)
            status = store_entry(s, below, entries[i]->d_name, depth, error);
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
    if (!status) status = store_folder(&(struct sealing){insert, run_path}, "timeline", 0, error);
    sqlite3_finalize(insert);
    return status;
}

/* ---- sealing ---- */

enum cts_status cts_seal_write(const char *run_path, struct cts_error *error)
{
    static const char begin[] = "BEGIN IMMEDIATE; DELETE FROM files; DELETE FROM checksums";
    sqlite3 *db = NULL;
    enum cts_status status = cts_catalogue_open_database(run_path, &db, error);
    if (!status && (!cts_seal_has_table(db, "files") || !cts_seal_has_table(db, "checksums"))) {
        if (cts_sql_has_failed(db)) status = cts_sql_fail(db, error, "cannot seal the run");
        cts_catalogue_close_database(db); /* of an earlier version, if nothing failed */
        return status ? cts_context(error, "'%s'", run_path) : CTS_OK;
    }
    if (!status) status = cts_sql_run(db, begin, "cannot seal the run", error);
    if (!status) status = store_files(db, run_path, error);
    if (!status) status = cts_catalogue_store_key(db, CTS_SEAL_KEY, "1", true, error);
    if (!status) status = cts_seal_store_tables(db, error);
    if (!status) status = cts_sql_run(db, "COMMIT", "cannot seal the run", error);
    if (db && !sqlite3_get_autocommit(db)) sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    cts_catalogue_close_database(db);
    return status ? cts_context(error, "'%s'", run_path) : CTS_OK;
}

/* ---- looking ---- */

bool cts_seal_is_there(const struct cts_catalogue *catalogue)
{
    return cts_catalogue_get(catalogue, CTS_SEAL_KEY) || catalogue->checksum_count;
}

/* The file of the seal with that path below the run; NULL: it names none. */
static const struct cts_run_file *seal_file(const struct cts_catalogue *catalogue, const char *path)
{
    for (size_t i = 0; i < catalogue->file_count; i++)
        if (strcmp(catalogue->files[i].path, path) == 0) return &catalogue->files[i];
    return NULL;
}

/* Whether the list of files is there: it names some, or was empty when the run was sealed. */
static bool is_listed(const struct cts_catalogue *catalogue)
{
    for (size_t i = 0; i < catalogue->checksum_count; i++)
        if (strcmp(catalogue->checksums[i].name, "files") == 0 && !catalogue->checksums[i].rows)
            return true;
    return catalogue->file_count;
}

bool cts_seal_leaves_out(const struct cts_catalogue *catalogue, const char *path)
{
    return cts_seal_is_there(catalogue) && is_listed(catalogue) && !seal_file(catalogue, path);
}

const char *cts_seal_why_foreign_timeline(const struct cts_catalogue *catalogue)
{
    if (!cts_seal_leaves_out(catalogue, "timeline/traces.otf2")) return NULL;
    return "the files of a timeline did not exist when the recording ended: they are ignored";
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
        cts_gaps_add(gaps, "'%s' has changed since it was recorded: its checksum differs",
                     file->path);
}

void cts_seal_check_files(const char *run_path, const struct cts_catalogue *catalogue,
                          enum cts_seal_part part, struct cts_gaps *gaps)
{
    const char *const folder = part == CTS_SEAL_ACCESSES ? "rank-" : "timeline/";
    for (size_t i = 0; i < catalogue->file_count; i++)
        if (is_below(catalogue->files[i].path, folder))
            check_file(run_path, &catalogue->files[i], part, gaps);
}
