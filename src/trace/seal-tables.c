/* A table's checksum is the sum, modulo 2^64, of a hash of each of its rows, so that it does not
 * depend on their order: 16 hexadecimal digits. A row's hash takes each column in turn: its type,
 * its length and its bytes. The seal names the columns that it took, so that a reader that knows
 * more or fewer of them computes the same. */
#include "trace/seal-tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "trace/catalogue-sql.h"
#include "trace/catalogue-tables.h"

enum { COLUMNS_TEXT_BYTES = 600 };

static uint64_t mix_bytes(uint64_t hash, const void *bytes, size_t byte_count)
{
    const uint8_t *at = bytes;
    uint64_t word;
    hash = cts_hash_fold(hash, byte_count);
    for (; byte_count >= sizeof word; at += sizeof word, byte_count -= sizeof word) {
        memcpy(&word, at, sizeof word);
        hash = cts_hash_fold(hash, word);
    }
    word = 0;
    if (byte_count) memcpy(&word, at, byte_count);
    return cts_hash_fold(hash, word);
}

static uint64_t hash_row(sqlite3_stmt *statement)
{
    uint64_t hash = 1;
    const int count = sqlite3_column_count(statement);
    for (int i = 0; i < count; i++) {
        const int type = sqlite3_column_type(statement, i);
        hash = cts_hash_fold(hash, (uint64_t)type);
        if (type == SQLITE_INTEGER) {
            hash = cts_hash_fold(hash, (uint64_t)sqlite3_column_int64(statement, i));
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

bool cts_seal_has_table(sqlite3 *db, const char *name)
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

enum cts_status cts_seal_store_tables(sqlite3 *db, struct cts_error *error)
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
        if (!is_summed(t)) continue;
        if (!cts_seal_has_table(db, name_of(t))) {
            if (cts_sql_has_failed(db)) status = cts_sql_fail(db, error, what);
            continue;
        }
        columns_of(t, columns, sizeof columns);
        if (sum_table(db, name_of(t), columns, &sum)) {
            status = cts_sql_fail(db, error, what);
            break;
        }
        snprintf(text, sizeof text, "%016" PRIx64, sum.sum);
        sqlite3_bind_text(insert, 1, name_of(t), -1, SQLITE_STATIC);
        sqlite3_bind_text(insert, 2, columns, -1, SQLITE_STATIC);
        sqlite3_bind_int64(insert, 3, (sqlite3_int64)sum.rows);
        sqlite3_bind_text(insert, 4, text, -1, SQLITE_STATIC);
        if (sqlite3_step(insert) != SQLITE_DONE) status = cts_sql_fail(db, error, what);
        sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    return status;
}

static const struct cts_checksum *find_checksum(const struct cts_catalogue *catalogue,
                                                const char *name)
{
    for (size_t i = 0; i < catalogue->checksum_count; i++)
        if (strcmp(catalogue->checksums[i].name, name) == 0) return &catalogue->checksums[i];
    return NULL;
}

/* A table of which the seal has a checksum is there, also one that this program does not know; and
 * each has one checksum. */
static enum cts_status check_sealed_tables(sqlite3 *db, struct cts_catalogue *catalogue,
                                           struct cts_error *error)
{
    for (size_t i = 0; i < catalogue->checksum_count; i++) {
        const struct cts_checksum *const sealed = &catalogue->checksums[i];
        const bool is_there = cts_seal_has_table(db, sealed->name);
        if (!is_there && cts_sql_has_failed(db))
            return cts_sql_fail(db, error, "table '%s'", sealed->name);
        if (!is_there)
            cts_gaps_add(&catalogue->gaps,
                         "run.db lacks table '%s', which it had when the recording ended",
                         sealed->name);
        else if (find_checksum(catalogue, sealed->name) != sealed)
            cts_gaps_add(&catalogue->gaps, "run.db has two checksums of table '%s'", sealed->name);
    }
    return CTS_OK;
}

/* Names of columns go into SQL: nothing but what columns_of() writes may. */
static bool is_column_list(const char *text)
{
    return *text == '"' && text[strspn(text, "abcdefghijklmnopqrstuvwxyz_0123456789\",")] == 0;
}

enum cts_status cts_seal_check_tables(sqlite3 *db, struct cts_catalogue *catalogue,
                                      struct cts_error *error)
{
    char text[20];
    if (!catalogue->checksum_count && !cts_catalogue_load_key(db, CTS_SEAL_KEY, text, sizeof text))
        return cts_sql_has_failed(db) ? cts_sql_fail(db, error, "cannot read table 'run'") : CTS_OK;
    /* A column that is not there would be taken for a text that is the same in each row. */
    sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    const enum cts_status status = check_sealed_tables(db, catalogue, error);
    if (status) return status;
    for (unsigned t = 0; t <= CTS_TABLE_COUNT; t++) {
        const char *const name = name_of(t);
        struct table_sum sum = {0};
        if (!is_summed(t)) continue;
        if (!cts_seal_has_table(db, name)) {
            if (cts_sql_has_failed(db)) return cts_sql_fail(db, error, "table '%s'", name);
            continue;
        }
        const struct cts_checksum *const sealed = find_checksum(catalogue, name);
        if (!sealed) {
            cts_gaps_add(&catalogue->gaps, "run.db lacks the checksum of table '%s'", name);
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
            cts_gaps_add(
                &catalogue->gaps,
                "run.db: table '%s' has changed since it was recorded: its checksum differs; "
                "results from it may be wrong",
                name);
    }
    return CTS_OK;
}
