/* Answers in binary: numbers, then columns (docs/view-protocol.md); private to view/. */
#ifndef CTS_VIEW_COLUMNS_H
#define CTS_VIEW_COLUMNS_H

#include "common/buffer.h"

enum cts_view_column_type {
    CTS_VIEW_U8 = 1,
    CTS_VIEW_U16 = 2,
    CTS_VIEW_U32 = 3,
    CTS_VIEW_F64 = 4,
};

struct cts_view_column {
    enum cts_view_column_type type;
    size_t count;
    void *items; /* where the caller writes them, once cts_view_columns_make() has returned */
};

struct cts_view_table {
    const double *numbers;
    size_t number_count;
    struct cts_view_column *columns;
    size_t column_count;
};

/* Makes the answer: header, numbers, and zeroed columns, whose `items` are set. */
CTS_MUST_CHECK enum cts_status cts_view_columns_make(struct cts_buffer *answer,
                                                     const struct cts_view_table *table,
                                                     struct cts_error *error);

#endif
