/* Fuzz target of the reader of journals (rank-N/rows.journal). The first byte chooses what the
 * others are:
 *
 *   0 modulo 2    a journal as it is: checksums are in the way of most that it can hold
 *   1 modulo 2    changes to a journal that holds a row of each table, 8 bytes each: entry, kind
 *                 (enum kind), place in its payload (2 bytes), a number (4 bytes); sizes and
 *                 checksums are made anew, so that hostile values reach the reader
 *
 * The journal is folded into a database in memory, which is open for all inputs, and that is read.
 * Some of the inputs (sparse.h) are read as a run is, which opens run.db and copies it, and a few
 * are folded into run.db. Whatever is read holds what catalogue.h promises. */
#include <stdint.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "catalogue-rows.h"
#include "fuzz/catalogue-touch.h"
#include "fuzz/in-place.h"
#include "fuzz/sparse.h"
#include "fuzz/sqlite-fast.h"
#include "trace/acc-format.h"
#include "trace/catalogue-rows.h"
#include "trace/journal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    PATH_BYTES = 200,
    ENTRIES_MAX = 256,
    CHANGE_BYTES = 8,
    CHANGES_MAX = 64,
    EMPTY_MAX = CTS_TABLE_COUNT + 4
};
enum kind { SET_BYTE, SET_NUMBER, CUT, LEAVE_OUT, TWICE, SET_HEADER, KINDS };

struct text {
    uint8_t *bytes;
    size_t size;
};
static struct {
    char folder[PATH_BYTES], database[PATH_BYTES + 16], rank[PATH_BYTES + 16],
        journal[PATH_BYTES + 40];
    struct text good_database, good_journal;
    struct text entries[ENTRIES_MAX]; /* payloads, in good_journal */
    unsigned entry_count;
    sqlite3 *memory;                /* of good_database's rows */
    sqlite3_stmt *empty[EMPTY_MAX]; /* takes back what was folded into it */
    unsigned empty_count;
} place;

static void die(const char *what)
{
    fprintf(stderr, "journal-fuzz: %s\n", what);
    abort();
}

static struct text read_whole(const char *path)
{
    struct text text = {0};
    struct stat facts;
    FILE *const file = fopen(path, "rb");
    if (!file || fstat(fileno(file), &facts)) die("cannot read what was written");
    text.size = (size_t)facts.st_size;
    text.bytes = malloc(text.size + 1);
    if (!text.bytes || fread(text.bytes, 1, text.size, file) != text.size) die("cannot read");
    fclose(file);
    return text;
}

static void write_whole(const char *path, const uint8_t *bytes, size_t size)
{
    const struct iovec all = {(void *)(uintptr_t)bytes, size};
    if (!write_in_place(path, (struct iovec){0}, all)) die("cannot write");
}

static void remove_database(void)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    char path[PATH_BYTES + 40];
    for (unsigned i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        snprintf(path, sizeof path, "%s%s", place.database, suffixes[i]);
        unlink(path);
    }
}

/* Small pages: there is less to copy for an input. */
static void make_smaller(void)
{
    sqlite3 *db = NULL;
    if (sqlite3_open(place.database, &db) ||
        sqlite3_exec(db, "PRAGMA page_size = 1024; VACUUM", NULL, NULL, NULL) || sqlite3_close(db))
        die("cannot make the catalogue smaller");
}

static void remove_folder(void)
{
    remove_database();
    unlink(place.journal);
    rmdir(place.rank);
    rmdir(place.folder);
    for (unsigned i = 0; i < place.empty_count; i++) sqlite3_finalize(place.empty[i]);
    sqlite3_close(place.memory);
    free(place.good_database.bytes);
    free(place.good_journal.bytes);
}

/* A process that ends without closing its journal. */
static void leave_journal(void)
{
    struct cts_catalogue_writer *writer = NULL;
    if (cts_catalogue_create(place.folder, &writer, NULL)) _exit(1);
    add_one_of_each(writer);
    _exit(0);
}

static void find_entries(void)
{
    const struct text *const j = &place.good_journal;
    size_t at = CTS_JOURNAL_HEADER_BYTES;
    while (at + CTS_JOURNAL_ENTRY_BYTES < j->size && place.entry_count < ENTRIES_MAX) {
        const uint32_t size = cts_get_u32(j->bytes + at);
        if (!size || size > j->size - at) break;
        at += CTS_JOURNAL_ENTRY_BYTES;
        place.entries[place.entry_count++] = (struct text){j->bytes + at, size};
        at += (size + 7) / 8 * 8;
    }
    if (place.entry_count < 10) die("the journal does not hold the rows that were written");
}

static void run_sql(const char *sql)
{
    if (sqlite3_exec(place.memory, sql, NULL, NULL, NULL)) die(sql);
}

static void prepare_empty(const char *sql)
{
    sqlite3_stmt **const statement = &place.empty[place.empty_count++];
    if (sqlite3_prepare_v3(place.memory, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL))
        die(sql);
}

/* good_database in memory, and what makes it anew. */
static void prepare_memory(void)
{
    sqlite3 *file = NULL;
    if (sqlite3_open(":memory:", &place.memory) || sqlite3_open(place.database, &file))
        die("cannot open the catalogue");
    sqlite3_backup *const backup = sqlite3_backup_init(place.memory, "main", file, "main");
    if (!backup || sqlite3_backup_step(backup, -1) != SQLITE_DONE || sqlite3_backup_finish(backup))
        die("cannot copy the catalogue");
    sqlite3_close(file);
    run_sql("CREATE TEMP TABLE good_keys AS SELECT * FROM run");
    prepare_empty("BEGIN");
    for (unsigned t = 0; t < CTS_TABLE_COUNT; t++) {
        char sql[80];
        snprintf(sql, sizeof sql, "DELETE FROM main.\"%s\"", cts_tables[t].name);
        prepare_empty(sql);
    }
    prepare_empty("DELETE FROM main.run");
    prepare_empty("INSERT INTO main.run SELECT * FROM good_keys");
    prepare_empty("COMMIT");
}

static void prepare(void)
{
    if (place.entry_count) return;
    if (!make_sqlite_fast()) die("SQLite is in use");
    int status = 0;
    snprintf(place.folder, sizeof place.folder, "%s/journal-fuzz-XXXXXX",
             access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    if (!mkdtemp(place.folder)) die("cannot make a directory");
    snprintf(place.database, sizeof place.database, "%s/run.db", place.folder);
    snprintf(place.rank, sizeof place.rank, "%s/rank-0", place.folder);
    snprintf(place.journal, sizeof place.journal, "%s/" CTS_JOURNAL_NAME, place.rank);
    const pid_t writer = fork();
    if (writer == 0) leave_journal();
    if (writer < 0 || waitpid(writer, &status, 0) != writer || status) die("cannot write rows");
    make_smaller();
    place.good_database = read_whole(place.database);
    place.good_journal = read_whole(place.journal);
    find_entries();
    char ids[PATH_BYTES + 16];
    snprintf(ids, sizeof ids, "%s/.ids", place.folder);
    unlink(ids);
    if (atexit(remove_folder)) die("cannot tidy up");
    prepare_memory();
}

static void add_entry(struct cts_buffer *to, const uint8_t *payload, size_t size)
{
    static const uint8_t zeros[8];
    uint8_t head[CTS_JOURNAL_ENTRY_BYTES];
    cts_put_u32(head, (uint32_t)size);
    cts_put_u32(head + 4, cts_acc_crc32c(0, payload, size));
    if (cts_buffer_append(to, head, sizeof head, NULL) ||
        cts_buffer_append(to, payload, size, NULL) ||
        cts_buffer_append(to, zeros, (8 - size % 8) % 8, NULL))
        die("no memory");
}

/* One entry as the changes make it. */
static void add_changed(struct cts_buffer *to, unsigned entry, const uint8_t *changes, size_t count)
{
    const struct text good = place.entries[entry];
    uint8_t *const payload = malloc(good.size + 8);
    size_t size = good.size, times = 1;
    if (!payload) die("no memory");
    memcpy(payload, good.bytes, size);
    for (size_t i = 0; i < count; i++) {
        const uint8_t *const c = changes + i * CHANGE_BYTES;
        const uint32_t number = cts_get_u32(c + 4);
        if (c[0] % place.entry_count != entry || !size) continue;
        const size_t at = (size_t)(c[2] | c[3] << 8) % size;
        switch (c[1] % KINDS) {
        case SET_BYTE:
            payload[at] = (uint8_t)number;
            break;
        case SET_NUMBER:
            if (size - at >= 4) cts_put_u32(payload + at, number);
            break;
        case CUT:
            size = at;
            break;
        case LEAVE_OUT:
            times = 0;
            break;
        case TWICE:
            times = 2;
            break;
        default:
            break;
        }
    }
    while (times--) add_entry(to, payload, size);
    free(payload);
}

static void write_changed(const uint8_t *data, size_t size)
{
    static struct cts_buffer journal; /* keeps its memory */
    journal.size_bytes = 0;
    size_t count = size / CHANGE_BYTES;
    if (count > CHANGES_MAX) count = CHANGES_MAX;
    if (cts_buffer_append(&journal, place.good_journal.bytes, CTS_JOURNAL_HEADER_BYTES, NULL))
        die("no memory");
    for (size_t i = 0; i < count; i++) {
        const uint8_t *const c = data + i * CHANGE_BYTES;
        if (c[1] % KINDS == SET_HEADER) /* its fields, then a few files' */
            cts_put_u32(journal.data + (size_t)(c[2] | c[3] << 8) % 2048 / 4 * 4,
                        cts_get_u32(c + 4));
    }
    for (unsigned i = 0; i < place.entry_count; i++) add_changed(&journal, i, data, count);
    write_whole(place.journal, journal.data, journal.size_bytes);
}

static void check_read(enum cts_status status, struct cts_catalogue *catalogue,
                       const struct cts_error *error)
{
    if (status && !*error->text) die("refused without a word");
    if (status) return;
    check_catalogue(catalogue);
    cts_catalogue_release(catalogue);
}

static void read_run(void)
{
    struct cts_catalogue catalogue;
    struct cts_error error = {0};
    const enum cts_status status = cts_catalogue_read(place.folder, &catalogue, &error);
    check_read(status, &catalogue, &error);
}

/* The folding is undone by `empty`: it commits, so that no transaction could take it back. */
static void read_folded(void)
{
    struct cts_catalogue catalogue;
    struct cts_error error = {0};
    enum cts_status status =
        cts_journals_fold(place.memory, place.folder, &(struct cts_fold){0}, &error);
    if (status && !*error.text) die("failed without a word");
    if (!status) {
        status = cts_catalogue_read_open(place.memory, &catalogue, &error);
        check_read(status, &catalogue, &error);
        if (!sqlite3_get_autocommit(place.memory)) run_sql("ROLLBACK");
    }
    for (unsigned i = 0; i < place.empty_count; i++) {
        sqlite3_step(place.empty[i]);
        if (sqlite3_reset(place.empty[i])) die("cannot empty a table");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size) return 0;
    prepare();
    if (data[0] % 2)
        write_changed(data + 1, size - 1);
    else
        write_whole(place.journal, data + 1, size - 1);
    read_folded();
    if (is_one_of(16, data, size)) read_run();
    if (is_one_of(64, data, size)) {
        struct cts_error error = {0};
        if (cts_catalogue_tidy(place.folder, &error) && !*error.text) die("failed without a word");
        read_run();
        remove_database();
        write_whole(place.database, place.good_database.bytes, place.good_database.size);
    }
    return 0;
}
