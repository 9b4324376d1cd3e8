/* What the catalogue's tables look like in memory: for each table its columns, for each column the
 * field of the row's struct that it is. Writer, reader and `ctascope dump` all go by this
 * description, so that a column is added in schema.sql, in the struct and here, and nowhere else.
 */
#ifndef CTS_TRACE_CATALOGUE_TABLES_H
#define CTS_TRACE_CATALOGUE_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/catalogue.h"

enum cts_table_id {
    CTS_TABLE_RANKS,
    CTS_TABLE_DEVICES,
    CTS_TABLE_MODULES,
    CTS_TABLE_SOURCES,
    CTS_TABLE_KERNELS,
    CTS_TABLE_SITES,
    CTS_TABLE_VARIABLES,
    CTS_TABLE_SKIPPED,
    CTS_TABLE_STREAMS,
    CTS_TABLE_LAUNCHES,
    CTS_TABLE_COPIES,
    CTS_TABLE_ALLOCATIONS,
    CTS_TABLE_SYNCS,
    CTS_TABLE_CALLS,
    CTS_TABLE_HOST_FUNCTIONS,
    CTS_TABLE_THREAD_ORDER,
    CTS_TABLE_GRAPH_NODES,
    CTS_TABLE_GRAPH_EDGES,
    CTS_TABLE_HOST_ACCESSES,
    CTS_TABLE_CTA_SMS,
    CTS_TABLE_CLUSTERS,
    CTS_TABLE_LAUNCH_POINTERS,
    CTS_TABLE_TENSOR_MAPS,
    CTS_TABLE_PADDED_TYPES,
    CTS_TABLE_FINGERPRINTS,
    CTS_TABLE_ENDINGS,
    CTS_TABLE_FAULTS,
    CTS_TABLE_ACCESS_FILES,
    CTS_TABLE_MESSAGES,
    CTS_TABLE_FILES,
    CTS_TABLE_CHECKSUMS,
    CTS_TABLE_COUNT,
    CTS_TABLE_NONE = CTS_TABLE_COUNT
};

enum cts_column_type {
    CTS_COLUMN_U8,
    CTS_COLUMN_U32,
    CTS_COLUMN_U64,
    CTS_COLUMN_I32,
    CTS_COLUMN_I64,
    CTS_COLUMN_BOOL,
    CTS_COLUMN_TEXT
};

/* What SQL's NULL is in memory. */
enum cts_column_null {
    CTS_NULL_REFUSED,    /* the column always has a value */
    CTS_NULL_IS_NULL,    /* text: a NULL pointer */
    CTS_NULL_IS_ZERO,    /* 0 */
    CTS_NULL_IS_ALL_ONES /* CTS_NONE, UINT64_MAX */
};

/* What a number means to people. */
enum cts_column_unit {
    CTS_UNIT_NUMBER,
    CTS_UNIT_BYTES,
    CTS_UNIT_NS,
    CTS_UNIT_ADDRESS, /* all 64 bits, so that SQL may show it as negative; printed in hex */
    CTS_UNIT_OPERATION,
    CTS_UNIT_SPACE
};

struct cts_table_column {
    const char *name;
    const char *const *words; /* text: the words it may be, ended by NULL; NULL: any */
    uint16_t offset;          /* of the field in the row's struct */
    uint8_t type;             /* enum cts_column_type */
    uint8_t null;             /* enum cts_column_null */
    uint8_t unit;             /* enum cts_column_unit */
    uint8_t reference;        /* enum cts_table_id of what it names, or CTS_TABLE_NONE */
};

/* How the reader orders a table. */
enum cts_table_order {
    CTS_ORDER_DENSE,   /* by id, rows[i].id == i: ids that a killed process reserved and never
                          wrote become rows of zeros, CTS_NONE and NULL */
    CTS_ORDER_ID,      /* by id, the first column */
    CTS_ORDER_RANK_OP, /* by rank, then op */
    CTS_ORDER_RANK,    /* by rank, then device */
    CTS_ORDER_WRITTEN  /* as written */
};

struct cts_table {
    const char *name;
    const struct cts_table_column *columns;
    uint8_t column_count;
    uint8_t order;                      /* enum cts_table_order */
    bool optional;                      /* runs of earlier versions may lack it */
    uint16_t row_bytes;                 /* sizeof the row's struct */
    uint16_t rows_offset, count_offset; /* in struct cts_catalogue */
};

extern const struct cts_table cts_tables[CTS_TABLE_COUNT];

/* A field as 64 bits (sign-extended), or its text. */
uint64_t cts_column_number(const struct cts_table_column *column, const void *row);
const char *cts_column_text(const struct cts_table_column *column, const void *row);
/* Whether a field stands for SQL's NULL. */
bool cts_column_is_null(const struct cts_table_column *column, const void *row);

/* Row i of a table that was read. */
const void *cts_catalogue_row(const struct cts_catalogue *catalogue, enum cts_table_id table,
                              size_t i);
size_t cts_catalogue_row_count(const struct cts_catalogue *catalogue, enum cts_table_id table);

/* Puts "table 't', launch 5: " (or "row 3", counted from 1) in front of the error. */
enum cts_status cts_catalogue_row_context(enum cts_table_id table, uint64_t id_or_row,
                                          struct cts_error *error);

CTS_MUST_CHECK enum cts_status cts_catalogue_no_memory(struct cts_error *error);

#endif
