/* Fuzz target of the reader of catalogues (run.db). The first byte chooses what the others are:
 *
 *   0 modulo 2    a file as it is: SQLite's own reader is in the way of most that it can hold
 *   1 modulo 2    changes to a catalogue that holds a row of each table, 12 bytes each: table, row,
 *                 column, kind of value (enum kind), a number of 8 bytes; so that hostile values of
 * a sound database reach our reader
 *
 * Whatever is read holds what catalogue.h promises: an id that a row names is none or that of a
 * row. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "catalogue-rows.h"
#include "fuzz/catalogue-touch.h"
#include "fuzz/in-place.h"
#include "fuzz/sqlite-fast.h"
#include "trace/catalogue.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PATH_BYTES = 80, TABLES_MAX = 32, COLUMNS_MAX = 64, CHANGE_BYTES = 12 };
enum kind { AS_INTEGER, AS_REAL, AS_TEXT, AS_BLOB, AS_NULL, AS_NEW_ROW, AS_NO_ROW, KINDS };

static struct {
    char folder[PATH_BYTES], database[PATH_BYTES + 16];
    char *tables[TABLES_MAX], *columns[TABLES_MAX][COLUMNS_MAX];
    unsigned table_count, column_counts[TABLES_MAX];
    sqlite3 *good; /* in memory; each input's changes are taken back */
    sqlite3_stmt *updates[TABLES_MAX][COLUMNS_MAX], *inserts[TABLES_MAX][COLUMNS_MAX];
    sqlite3_stmt *deletes[TABLES_MAX];
} place;

static void die(const char *what)
{
    fprintf(stderr, "catalogue-fuzz: %s\n", what);
    abort();
}

/* What SQLite has put beside the database. */
static void remove_logs(void)
{
    char path[PATH_BYTES + 32];
    static const char *const suffixes[] = {"-wal", "-shm", "-journal"};
    for (unsigned i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        snprintf(path, sizeof path, "%s%s", place.database, suffixes[i]);
        unlink(path);
    }
}

static void remove_folder(void)
{
    char rank[PATH_BYTES + 16];
    snprintf(rank, sizeof rank, "%s/rank-0", place.folder);
    remove_logs();
    unlink(place.database);
    rmdir(rank);
    rmdir(place.folder);
    for (unsigned t = 0; t < place.table_count; t++) {
        for (unsigned c = 0; c < place.column_counts[t]; c++) {
            sqlite3_finalize(place.updates[t][c]);
            sqlite3_finalize(place.inserts[t][c]);
            free(place.columns[t][c]);
        }
        sqlite3_finalize(place.deletes[t]);
        free(place.tables[t]);
    }
    sqlite3_close(place.good);
}

/* Names of tables, and of their columns. */
static int note_column(void *unused, int count, char **texts, char **names)
{
    (void)unused, (void)count, (void)names;
    unsigned t = place.table_count;
    if (!t || strcmp(place.tables[t - 1], texts[0])) {
        if (t == TABLES_MAX) die("more tables than expected");
        place.tables[place.table_count++] = strdup(texts[0]);
    }
    t = place.table_count - 1;
    if (place.column_counts[t] == COLUMNS_MAX) die("more columns than expected");
    place.columns[t][place.column_counts[t]++] = strdup(texts[1]);
    return 0;
}

static int count_row(void *count, int column_count, char **texts, char **names)
{
    (void)column_count, (void)texts, (void)names;
    ++*(int *)count;
    return 0;
}

static void copy_database(sqlite3 *to, sqlite3 *from)
{
    sqlite3_backup *const backup = sqlite3_backup_init(to, "main", from, "main");
    if (!backup || sqlite3_backup_step(backup, -1) != SQLITE_DONE || sqlite3_backup_finish(backup))
        die("cannot copy the catalogue");
}

static int write_rows(const char *run)
{
    struct cts_catalogue_writer *writer = NULL;
    if (cts_catalogue_create(run, &writer, NULL)) return 1;
    add_one_of_each(writer);
    return cts_catalogue_close(writer, NULL) ? 1 : 0;
}

/* A catalogue by our own writer, kept in memory; and a folder for what is read. */
static void prepare(void)
{
    if (place.good) return;
    if (!make_sqlite_fast()) die("SQLite is in use");
    snprintf(place.folder, sizeof place.folder, "%s/catalogue-fuzz-XXXXXX",
             access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    if (!mkdtemp(place.folder)) die("cannot make a directory");
    snprintf(place.database, sizeof place.database, "%s/run.db", place.folder);
    struct cts_error error = {0};
    sqlite3 *file = NULL;
    int status = 0;
    const pid_t writer = fork(); /* rows leave the journal when their process has ended */
    if (writer == 0) _exit(write_rows(place.folder));
    if (writer < 0 || waitpid(writer, &status, 0) != writer || status) die("cannot write rows");
    if (cts_catalogue_tidy(place.folder, &error)) die(error.text);
    if (sqlite3_open(":memory:", &place.good) || sqlite3_open(place.database, &file))
        die("cannot open the catalogue");
    if (sqlite3_exec(file, "PRAGMA page_size = 1024; VACUUM", NULL, NULL, NULL))
        die("cannot make the catalogue smaller");
    copy_database(place.good, file);
    sqlite3_close(file);
    int launches = 0;
    sqlite3_exec(place.good, "SELECT * FROM launches", count_row, &launches, NULL);
    if (launches != 1) die("the catalogue does not hold the rows that were written");
    if (sqlite3_exec(place.good,
                     "PRAGMA writable_schema = ON;"
                     "SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c "
                     "WHERE m.type = 'table' ORDER BY m.name, c.cid",
                     note_column, NULL, NULL))
        die("cannot list the columns");
    if (atexit(remove_folder)) die("cannot tidy up");
}

static void write_file(const uint8_t *bytes, size_t size)
{
    const struct iovec all = {(void *)(uintptr_t)bytes, size};
    if (!write_in_place(place.database, (struct iovec){0}, all)) die("cannot write");
}

static void bind(sqlite3_stmt *statement, enum kind kind, int64_t number)
{
    static const char text[] = "0123456789\x1b[31m\xff\xfe%s%n../../etc/passwd";
    double real;
    memcpy(&real, &number, sizeof real);
    const int bytes = (int)((uint64_t)number % sizeof text);
    if (kind == AS_INTEGER || kind == AS_NEW_ROW) sqlite3_bind_int64(statement, 1, number);
    if (kind == AS_REAL) sqlite3_bind_double(statement, 1, real);
    if (kind == AS_TEXT) sqlite3_bind_text(statement, 1, text, bytes, SQLITE_STATIC);
    if (kind == AS_BLOB) sqlite3_bind_blob(statement, 1, text, bytes, SQLITE_STATIC);
}

/* NULL: the schema forbids it. Prepared once for each column. */
static sqlite3_stmt *statement_of(unsigned t, unsigned c, enum kind kind)
{
    const char *const table = place.tables[t], *const column = place.columns[t][c];
    sqlite3_stmt **const statement = kind == AS_NO_ROW    ? &place.deletes[t]
                                     : kind == AS_NEW_ROW ? &place.inserts[t][c]
                                                          : &place.updates[t][c];
    char sql[512];
    if (*statement) return *statement;
    if (kind == AS_NO_ROW)
        snprintf(sql, sizeof sql,
                 "DELETE FROM \"%s\" WHERE rowid = (SELECT rowid FROM \"%s\" LIMIT 1 OFFSET ?2)",
                 table, table);
    else if (kind == AS_NEW_ROW)
        snprintf(sql, sizeof sql, "INSERT OR REPLACE INTO \"%s\" (\"%s\") VALUES (?1)", table,
                 column);
    else
        snprintf(sql, sizeof sql,
                 "UPDATE OR REPLACE \"%s\" SET \"%s\" = ?1 WHERE rowid = "
                 "(SELECT rowid FROM \"%s\" LIMIT 1 OFFSET ?2)",
                 table, column, table);
    sqlite3_prepare_v3(place.good, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
    return *statement;
}

static void change(const uint8_t *bytes)
{
    const unsigned t = bytes[0] % place.table_count;
    const enum kind kind = bytes[3] % KINDS;
    int64_t number;
    memcpy(&number, bytes + 4, sizeof number);
    sqlite3_stmt *const statement = statement_of(t, bytes[2] % place.column_counts[t], kind);
    if (!statement) return;
    bind(statement, kind, number);
    sqlite3_bind_int64(statement, 2, bytes[1] % 4);
    sqlite3_step(statement); /* what the schema forbids is not done */
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
}

/* Changed in memory, and written as one file. */
static void write_changed(const uint8_t *data, size_t size)
{
    sqlite3_exec(place.good, "BEGIN", NULL, NULL, NULL);
    for (unsigned i = 0; size >= CHANGE_BYTES && i < 64; i++) {
        change(data);
        data += CHANGE_BYTES, size -= CHANGE_BYTES;
    }
    sqlite3_int64 bytes = 0;
    unsigned char *const image = sqlite3_serialize(place.good, "main", &bytes, 0);
    if (!image) die("no memory");
    write_file(image, (size_t)bytes);
    sqlite3_free(image);
    sqlite3_exec(place.good, "ROLLBACK", NULL, NULL, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size) return 0;
    prepare();
    if (data[0] % 2)
        write_changed(data + 1, size - 1);
    else
        write_file(data + 1, size - 1);
    struct cts_catalogue catalogue;
    struct cts_error error = {0};
    if (!cts_catalogue_read(place.folder, &catalogue, &error)) {
        check_catalogue(&catalogue);
        cts_catalogue_release(&catalogue);
    } else if (!*error.text) {
        die("refused without a word");
    }
    remove_logs();
    return 0;
}
