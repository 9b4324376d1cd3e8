/* Nsight Systems' exports to SQLite (`nsys export --type sqlite`): one process after the other, as
 * events of profile-event.h. Columns differ between versions: what a file lacks is absent. Private
 * to import/. */
#ifndef CTS_IMPORT_NSYS_READ_H
#define CTS_IMPORT_NSYS_READ_H

#include <sqlite3.h>

#include "import/profile-rank.h"

struct cts_nsys_process {
    int64_t id; /* globalPid and globalTid without their lowest 24 bits */
    uint32_t pid;
    bool has_rank; /* of MPI */
    int64_t rank;
};

/* A table with times that is not imported. */
struct cts_nsys_table {
    char *name;
    uint64_t row_count;
};

struct cts_nsys {
    sqlite3 *db;
    char *path;
    struct cts_error failure;           /* of the first question that could not be asked */
    struct cts_nsys_process *processes; /* those with CUDA, by pid; if there is none, all others */
    size_t process_count;
    size_t other_count;     /* processes that have neither calls of CUDA nor work on a device */
    bool has_stream_kinds;  /* the file lists streams and their flags */
    bool has_event_records; /* it says which call recorded the event that is waited for */
    struct cts_nsys_table *ignored;
    size_t ignored_count;
};

/* Whether the file is such an export, by its tables. A database that cannot be read is none. */
CTS_MUST_CHECK enum cts_status cts_nsys_is_export(const char *path, bool *is_own,
                                                  struct cts_error *error);

/* CTS_FORMAT: no such export, damaged, or with changes that are still in a log next to it. `nsys`
 * is to be closed in any case. */
CTS_MUST_CHECK enum cts_status cts_nsys_open(const char *path, struct cts_nsys *nsys,
                                             struct cts_error *error);
void cts_nsys_close(struct cts_nsys *nsys);

/* Gives all events of a process to `rank`, and what is known outside of events to `file`, which is
 * to be released in any case. CTS_FORMAT: the database is damaged. */
CTS_MUST_CHECK enum cts_status cts_nsys_read(struct cts_nsys *nsys, size_t process,
                                             struct cts_profile_rank *rank,
                                             struct cts_profile_file *file,
                                             struct cts_error *error);

#endif
