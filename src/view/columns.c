/* Little-endian: what runs this is (static assertion below), so that columns are written as they
 * stand in memory. */
#include "view/columns.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "columns are written as they are");

enum { HEADER_BYTES = 16, COLUMN_BYTES = 16 };

static size_t column_bytes(const struct cts_view_column *column)
{
    static const uint8_t sizes[] = {
        [CTS_VIEW_U8] = 1, [CTS_VIEW_U16] = 2, [CTS_VIEW_U32] = 4, [CTS_VIEW_F64] = 8};
    return (column->count * sizes[column->type] + 7) / 8 * 8;
}

enum cts_status cts_view_columns_make(struct cts_buffer *answer, const struct cts_view_table *table,
                                      struct cts_error *error)
{
    const double *const numbers = table->numbers;
    struct cts_view_column *const columns = table->columns;
    const size_t number_count = table->number_count, column_count = table->column_count;
    size_t size_bytes = HEADER_BYTES + number_count * sizeof *numbers + column_count * COLUMN_BYTES;
    size_t at = size_bytes;
    for (size_t c = 0; c < column_count; c++) size_bytes += column_bytes(&columns[c]);
    if (cts_buffer_reserve(answer, size_bytes, error)) return error ? error->status : CTS_MEMORY;
    uint8_t *const bytes = answer->data;
    memset(bytes, 0, size_bytes);
    const uint32_t counts[2] = {(uint32_t)number_count, (uint32_t)column_count};
    memcpy(bytes, "CTSVIEW1", 8);
    memcpy(bytes + 8, counts, sizeof counts);
    memcpy(bytes + HEADER_BYTES, numbers, number_count * sizeof *numbers);
    uint8_t *entry = bytes + HEADER_BYTES + number_count * sizeof *numbers;
    for (size_t c = 0; c < column_count; c++, entry += COLUMN_BYTES) {
        const uint32_t type = columns[c].type;
        const uint64_t count = columns[c].count;
        memcpy(entry, &type, sizeof type);
        memcpy(entry + 8, &count, sizeof count);
        columns[c].items = bytes + at;
        at += column_bytes(&columns[c]);
    }
    answer->size_bytes = size_bytes;
    return CTS_OK;
}
