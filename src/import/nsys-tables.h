/* Tables of Nsight Systems' exports that become events, and how they are asked. Private to the
 * reader. */
#ifndef CTS_IMPORT_NSYS_TABLES_H
#define CTS_IMPORT_NSYS_TABLES_H

#include "import/nsys-read.h"

enum cts_nsys_column {
    CTS_NSYS_START,
    CTS_NSYS_END,
    CTS_NSYS_OWNER, /* globalPid or globalTid */
    CTS_NSYS_CORRELATION,
    CTS_NSYS_DEVICE,
    CTS_NSYS_STREAM,
    CTS_NSYS_BYTES,
    CTS_NSYS_KIND, /* the runtime or the driver, the copy's kind, the kind of event */
    CTS_NSYS_REGISTERS,
    CTS_NSYS_STATIC_SHARED,
    CTS_NSYS_DYNAMIC_SHARED,
    CTS_NSYS_GRID_X,
    CTS_NSYS_GRID_Y,
    CTS_NSYS_GRID_Z,
    CTS_NSYS_BLOCK_X,
    CTS_NSYS_BLOCK_Y,
    CTS_NSYS_BLOCK_Z,
    CTS_NSYS_END_OWNER, /* the thread in which a range ends */
    CTS_NSYS_NAME,      /* in StringIds */
    CTS_NSYS_SHORT_NAME,
    CTS_NSYS_TEXT, /* a name that stands in the table itself */
    CTS_NSYS_GRAPH,
    CTS_NSYS_COLUMN_COUNT
};

struct cts_nsys_plan {
    const char *name;
    bool is_cuda;         /* its processes are those that are imported */
    const char *category; /* Kineto's, for the rank (profile-take.c) */
    const char *columns[CTS_NSYS_COLUMN_COUNT];
};

enum { CTS_NSYS_TABLE_COUNT = 7 };
extern const struct cts_nsys_plan cts_nsys_tables[CTS_NSYS_TABLE_COUNT];

/* A table that keeps its rows in the file: no view, and none of a module. Where it could not be
 * asked, false, and cts_nsys_check() fails. */
bool cts_nsys_has_table(struct cts_nsys *nsys, const char *name);
bool cts_nsys_has_column(struct cts_nsys *nsys, const char *table, const char *column);
/* After a question that could not be asked: the first such failure is kept for cts_nsys_check(). */
void cts_nsys_failed(struct cts_nsys *nsys);
/* Fails if any question could not be asked. */
enum cts_status cts_nsys_check(const struct cts_nsys *nsys, struct cts_error *error);

#endif
