/* A rank's journal, rank-N/rows.journal: the rows of the catalogue while a process records, in a
 * mapped file, so that they outlive the process however it ends; docs/format.md specifies it. What
 * it says is folded into run.db when the process has ended. Private to the catalogue. */
#ifndef CTS_TRACE_JOURNAL_H
#define CTS_TRACE_JOURNAL_H

#include <sqlite3.h>
#include <stdatomic.h>

#include "common/buffer.h"
#include "trace/catalogue-tables.h"
#include "trace/catalogue.h"
#include "trace/mapped-file.h"

#define CTS_JOURNAL_MAGIC "CTSROWS\n"
#define CTS_JOURNAL_NAME  "rows.journal"
enum {
    CTS_JOURNAL_VERSION = 1,
    CTS_JOURNAL_HEADER_BYTES = 64 << 10,
    CTS_JOURNAL_ENTRY_BYTES = 8, /* before the payload: its size, its crc */
    CTS_JOURNAL_FILES_MAX = 1000,
    CTS_JOURNAL_PAYLOAD_MAX_BYTES = 256 << 20
};

/* What an entry's payload begins with. */
enum cts_journal_kind {
    CTS_JOURNAL_TABLE, /* a table's number: its name, the names of its columns */
    CTS_JOURNAL_ROW,   /* a row of a table that was so described */
    CTS_JOURNAL_KEY,   /* of table run */
    CTS_JOURNAL_FREE_ALLOCATION,
    CTS_JOURNAL_DESTROY_STREAM,
    CTS_JOURNAL_KIND_COUNT
};
enum cts_journal_value { CTS_JOURNAL_NUMBER, CTS_JOURNAL_NULL, CTS_JOURNAL_TEXT };

enum cts_journal_state { CTS_JOURNAL_OPEN = 1, CTS_JOURNAL_CLOSED };

/* The header as it is mapped; the fields that are atomic change while the process records. */
struct cts_journal_header {
    char magic[8];
    uint32_t version, rank;
    int64_t pid;
    uint64_t start_ns;
    _Atomic uint32_t state;   /* enum cts_journal_state */
    _Atomic uint32_t is_exit; /* 1: the process said that it ends by itself (_exit, quick_exit) */
    uint32_t is_locked;       /* 1: the process holds a shared lock on the file while it lives */
    uint32_t reserved;
    _Atomic uint64_t launches_asked, launches_complete, rows_lost;
    _Atomic uint64_t last_ns; /* when the last launch ended */
    _Atomic uint64_t records, accesses, dropped_records, dropped_accesses;
    char failure[912]; /* the first failure, ended by a NUL */
    struct cts_journal_file {
        _Atomic uint64_t chunks, records, accesses, size_bytes;
        uint64_t reserved[4];
    } files[CTS_JOURNAL_FILES_MAX]; /* access file K; size_bytes 0: there is none */
};
_Static_assert(offsetof(struct cts_journal_header, files) == 1024, "the header is a file's");
_Static_assert(sizeof(struct cts_journal_header) <= CTS_JOURNAL_HEADER_BYTES, "it fits");

/* ---- writing: one thread at a time ---- */

struct cts_journal {
    struct cts_mapped_file file;
    struct cts_journal_header *header;
    struct cts_buffer scratch; /* an entry while it is put together */
    bool described[CTS_TABLE_COUNT];
};

CTS_MUST_CHECK enum cts_status cts_journal_create(struct cts_journal *journal, const char *run_path,
                                                  const struct cts_rank *self,
                                                  struct cts_error *error);
/* `essential`: may use what is kept back for the last words, on a full disk. */
CTS_MUST_CHECK enum cts_status cts_journal_add_row(struct cts_journal *journal,
                                                   enum cts_table_id table, const void *row,
                                                   bool essential, struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_journal_add_key(struct cts_journal *journal, const char *key,
                                                   const char *value, struct cts_error *error);
/* CTS_JOURNAL_FREE_ALLOCATION, CTS_JOURNAL_DESTROY_STREAM. */
CTS_MUST_CHECK enum cts_status cts_journal_add_end(struct cts_journal *journal,
                                                   enum cts_journal_kind kind, uint64_t id,
                                                   uint64_t op, struct cts_error *error);
enum cts_status cts_journal_close(struct cts_journal *journal, bool abandon,
                                  struct cts_error *error);

/* ---- reading ---- */

/* Whether any rank-N of the run has a journal. */
bool cts_journals_exist(const char *run_path);
/* Whether a process holds a journal of the run open; then `pid` (may be NULL) names one. */
bool cts_journals_are_live(const char *run_path, int64_t *pid);

struct cts_fold {
    const struct cts_process_end *ends; /* what is known of processes that have ended */
    size_t end_count;
    bool remove;     /* when they are folded: the journals of processes that have ended, and what
                        these left open of their access files is closed */
    bool only_known; /* leave those of processes that `ends` does not know */
};
/* Applies the journals to an open database, in one transaction each. */
CTS_MUST_CHECK enum cts_status cts_journals_fold(sqlite3 *db, const char *run_path,
                                                 const struct cts_fold *fold,
                                                 struct cts_error *error);

#endif
