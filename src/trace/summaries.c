/* A set is a blob: for each interval the distance from the end of the one before (from 0 for the
 * first) and its length, each as a LEB128 number: seven bits a byte, lowest first, bit 7 set on all
 * bytes but the last. */
#include "trace/summaries.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/array.h"
#include "common/buffer.h"
#include "common/promise.h"
#include "trace/catalogue-sql.h"

static const char tables[] =
    "CREATE TABLE IF NOT EXISTS summaries (launch INTEGER, cta INTEGER, accesses INTEGER,"
    " read_bytes INTEGER, written_bytes INTEGER, read_intervals INTEGER,"
    " written_intervals INTEGER, reads BLOB, writes BLOB,"
    " PRIMARY KEY (launch, cta)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS summary_blocks (rank INTEGER, block INTEGER, launch INTEGER,"
    " first_cta INTEGER, last_cta INTEGER, PRIMARY KEY (rank, block, launch)) WITHOUT ROWID;"
    "DELETE FROM summaries; DELETE FROM summary_blocks;";

struct cts_summaries_writer {
    sqlite3 *db;
    sqlite3_stmt *add, *add_block;
    struct cts_buffer reads, writes;
};

enum cts_status cts_summaries_create(const char *run_path, struct cts_summaries_writer **writer,
                                     struct cts_error *error)
{
    struct cts_summaries_writer *const w = cts_array_zeroed(1, sizeof *w, error);
    if (!w) return CTS_MEMORY;
    enum cts_status status = cts_catalogue_open_database(run_path, &w->db, error);
    if (!status) status = cts_sql_run(w->db, "BEGIN", "cannot store summaries", error);
    if (!status) status = cts_sql_run(w->db, tables, "cannot store summaries", error);
    if (!status &&
        (sqlite3_prepare_v2(w->db, "INSERT INTO summaries VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9)", -1,
                            &w->add, NULL) != SQLITE_OK ||
         sqlite3_prepare_v2(w->db, "INSERT INTO summary_blocks VALUES (?1,?2,?3,?4,?5)", -1,
                            &w->add_block, NULL) != SQLITE_OK))
        status = cts_sql_fail(w->db, error, "cannot store summaries");
    *writer = w;
    if (!status) return CTS_OK;
    struct cts_error ignored;
    (void)cts_summaries_close(w, false, &ignored);
    *writer = NULL;
    return status;
}

static enum cts_status put_number(struct cts_buffer *buffer, uint64_t value,
                                  struct cts_error *error)
{
    uint8_t bytes[10];
    size_t count = 0;
    do {
        bytes[count++] = (uint8_t)((value & 127) | (value > 127 ? 128 : 0));
        value >>= 7;
    } while (value);
    return cts_buffer_append(buffer, bytes, count, error);
}

static enum cts_status pack(struct cts_buffer *buffer, const struct cts_summary_set *set,
                            uint64_t *bytes, struct cts_error *error)
{
    CTS_ASSERT_EACH(i, set->interval_count, set->bounds[2 * i] < set->bounds[2 * i + 1]);
    CTS_ASSERT_ORDER(i, set->interval_count, set->bounds[2 * i - 1] < set->bounds[2 * i]);
    uint64_t end = 0;
    enum cts_status status = CTS_OK;
    cts_buffer_clear(buffer);
    *bytes = 0;
    for (size_t i = 0; !status && i < set->interval_count; i++) {
        const uint64_t start = set->bounds[2 * i], length = set->bounds[2 * i + 1] - start;
        status = put_number(buffer, start - end, error);
        if (!status) status = put_number(buffer, length, error);
        end = start + length;
        *bytes += length;
    }
    return status;
}

static enum cts_status step(sqlite3 *db, sqlite3_stmt *statement, struct cts_error *error)
{
    const int code = sqlite3_step(statement);
    sqlite3_reset(statement);
    return code == SQLITE_DONE ? CTS_OK : cts_sql_fail(db, error, "cannot store summaries");
}

enum cts_status cts_summaries_add(struct cts_summaries_writer *w, const struct cts_summary_row *row,
                                  struct cts_error *error)
{
    uint64_t read_bytes, written_bytes;
    enum cts_status status = pack(&w->reads, &row->reads, &read_bytes, error);
    if (!status) status = pack(&w->writes, &row->writes, &written_bytes, error);
    if (status) return status;
    sqlite3_bind_int64(w->add, 1, row->launch);
    sqlite3_bind_int64(w->add, 2, row->cta);
    sqlite3_bind_int64(w->add, 3, (sqlite3_int64)row->accesses);
    sqlite3_bind_int64(w->add, 4, (sqlite3_int64)read_bytes);
    sqlite3_bind_int64(w->add, 5, (sqlite3_int64)written_bytes);
    sqlite3_bind_int64(w->add, 6, (sqlite3_int64)row->reads.interval_count);
    sqlite3_bind_int64(w->add, 7, (sqlite3_int64)row->writes.interval_count);
    sqlite3_bind_blob64(w->add, 8, w->reads.data ? (const void *)w->reads.data : "",
                        w->reads.size_bytes, SQLITE_STATIC);
    sqlite3_bind_blob64(w->add, 9, w->writes.data ? (const void *)w->writes.data : "",
                        w->writes.size_bytes, SQLITE_STATIC);
    return step(w->db, w->add, error);
}

enum cts_status cts_summaries_add_block(struct cts_summaries_writer *w,
                                        const struct cts_summary_block *added,
                                        struct cts_error *error)
{
    sqlite3_bind_int64(w->add_block, 1, added->rank);
    sqlite3_bind_int64(w->add_block, 2, (sqlite3_int64)added->block);
    sqlite3_bind_int64(w->add_block, 3, added->launch);
    sqlite3_bind_int64(w->add_block, 4, added->first_cta);
    sqlite3_bind_int64(w->add_block, 5, added->last_cta);
    return step(w->db, w->add_block, error);
}

enum cts_status cts_summaries_close(struct cts_summaries_writer *w, bool keep,
                                    struct cts_error *error)
{
    if (!w) return CTS_OK;
    sqlite3_finalize(w->add);
    sqlite3_finalize(w->add_block);
    enum cts_status status = CTS_OK;
    if (w->db && !sqlite3_get_autocommit(w->db))
        status = cts_sql_run(w->db, keep ? "COMMIT" : "ROLLBACK", "cannot store summaries", error);
    if (w->db) cts_catalogue_close_database(w->db);
    cts_buffer_release(&w->reads);
    cts_buffer_release(&w->writes);
    free(w);
    return status;
}

/* ---- who touches an address ---- */

static bool get_number(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
        const uint8_t byte = *(*at)++;
        if (shift == 63 && byte > 1) return false;
        *value |= (uint64_t)(byte & 127) << shift;
        if (!(byte & 128)) return true;
    }
    return false;
}

/* Whether a packed set has the address; -1: damaged. */
static int packed_has(const uint8_t *at, size_t size, uint64_t address)
{
    const uint8_t *const end = at + size;
    uint64_t start = 0, gap, length;
    while (at < end) {
        if (!get_number(&at, end, &gap) || !get_number(&at, end, &length) ||
            __builtin_add_overflow(start, gap, &start))
            return -1;
        if (address < start) return 0;
        if (address - start < length) return 1;
        if (__builtin_add_overflow(start, length, &start)) return -1;
    }
    return 0;
}

struct found {
    struct cts_toucher *items;
    size_t count, capacity;
};

static int column_has(sqlite3_stmt *statement, int column, uint64_t address)
{
    const void *const blob = sqlite3_column_blob(statement, column);
    const int size = sqlite3_column_bytes(statement, column);
    return blob ? packed_has(blob, (size_t)size, address) : 0;
}

static enum cts_status collect(sqlite3 *db, sqlite3_stmt *statement, uint64_t address,
                               struct found *found, struct cts_error *error)
{
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        const int reads = column_has(statement, 3, address);
        const int writes = column_has(statement, 4, address);
        const uint32_t launch = (uint32_t)sqlite3_column_int64(statement, 1);
        const uint32_t cta = (uint32_t)sqlite3_column_int64(statement, 2);
        if (reads < 0 || writes < 0)
            return cts_fail(error, CTS_FORMAT, "the summary of CTA %u of launch %u is damaged", cta,
                            launch);
        if (!reads && !writes) continue;
        if (CTS_ARRAY_RESERVE(found, found->count + 1, error)) return CTS_MEMORY;
        found->items[found->count++] = (struct cts_toucher){
            (uint32_t)sqlite3_column_int64(statement, 0), launch, cta, reads > 0, writes > 0};
    }
    return code == SQLITE_DONE ? CTS_OK : cts_sql_fail(db, error, "cannot read summaries");
}

enum cts_status cts_summaries_find(const char *run_path, uint64_t address,
                                   struct cts_toucher **touchers, size_t *count,
                                   struct cts_error *error)
{
    char path[4096];
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    struct found found = {0};
    snprintf(path, sizeof path, "%s/run.db", run_path);
    enum cts_status status = CTS_OK;
    if (sqlite3_open_v2(path, &db, cts_catalogue_read_flags(path), NULL) != SQLITE_OK)
        status = cts_sql_fail(db, error, "cannot read '%s'", path);
    else if (sqlite3_prepare_v2(db,
                                "SELECT b.rank, s.launch, s.cta, s.reads, s.writes "
                                "FROM summary_blocks b JOIN summaries s ON s.launch = b.launch AND "
                                "s.cta BETWEEN b.first_cta AND b.last_cta WHERE b.block = ?1 AND "
                                "b.rank IN (SELECT rank FROM ranks) "
                                "ORDER BY b.rank, s.launch, s.cta",
                                -1, &statement, NULL) != SQLITE_OK)
        status =
            cts_fail(error, CTS_USAGE,
                     "'%s' has no summaries: make them with 'ctascope partition --store-summaries'",
                     run_path);
    if (!status) {
        sqlite3_bind_int64(statement, 1, (sqlite3_int64)(address >> CTS_SUMMARY_BLOCK_BITS));
        status = collect(db, statement, address, &found, error);
    }
    sqlite3_finalize(statement);
    sqlite3_close(db);
    if (status) {
        free(found.items);
        return status;
    }
    *touchers = found.items;
    *count = found.count;
    return CTS_OK;
}
