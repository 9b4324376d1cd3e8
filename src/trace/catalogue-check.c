#include "trace/catalogue-check.h"

#include "trace/access.h"

enum { CTA_THREADS_MAX = 1024, WIDTH_MAX_BYTES = 65536 };
static const uint64_t COPY_MAX_BYTES = (uint64_t)1
                                       << 48; /* more than any memory; rows of pitch 0 */

static bool extent_fits(uint64_t address, uint64_t size_bytes)
{
    uint64_t end;
    return !__builtin_add_overflow(address, size_bytes, &end);
}

static enum cts_status check_extent(const char *column, uint64_t address, uint64_t size_bytes,
                                    struct cts_error *error)
{
    if (extent_fits(address, size_bytes)) return CTS_OK;
    return cts_fail(error, CTS_FORMAT,
                    "column '%s': %llu bytes from 0x%llx extend past the address space", column,
                    (unsigned long long)size_bytes, (unsigned long long)address);
}

static enum cts_status check_site(const struct cts_site *site, struct cts_error *error)
{
    if (cts_operation_is_barrier(site->operation)) {
        if (site->space == CTS_SPACE_BARRIER && !site->width_bytes) return CTS_OK;
        return cts_fail(error, CTS_FORMAT, "a %s with space %u and width %u",
                        cts_operation_text(site->operation), site->space, site->width_bytes);
    }
    if (site->operation < CTS_LOAD || site->operation > CTS_OPERATION_LAST)
        return cts_fail(error, CTS_FORMAT, "column 'operation': %u is not an operation",
                        site->operation);
    switch (site->space) {
    case CTS_SPACE_GENERIC:
    case CTS_SPACE_GLOBAL:
    case CTS_SPACE_SHARED:
    case CTS_SPACE_CONSTANT:
    case CTS_SPACE_LOCAL:
        break;
    default:
        return cts_fail(error, CTS_FORMAT, "column 'space': %u is not an address space",
                        site->space);
    }
    if (site->width_bytes < 1 || site->width_bytes > WIDTH_MAX_BYTES)
        return cts_fail(error, CTS_FORMAT, "column 'width_bytes': %u is not in 1..%d",
                        site->width_bytes, WIDTH_MAX_BYTES);
    return CTS_OK;
}

static enum cts_status check_extents(const uint32_t extents[3], const char *name, uint64_t limit,
                                     struct cts_error *error)
{
    uint64_t product = 1;
    for (int i = 0; i < 3; i++) {
        if (extents[i] == 0)
            return cts_fail(error, CTS_FORMAT, "column '%s_%c': an extent of 0", name, "xyz"[i]);
        if (__builtin_mul_overflow(product, (uint64_t)extents[i], &product)) product = UINT64_MAX;
    }
    if (product > limit)
        return cts_fail(error, CTS_FORMAT, "column '%s_x': %u x %u x %u is more than %llu", name,
                        extents[0], extents[1], extents[2], (unsigned long long)limit);
    return CTS_OK;
}

static enum cts_status check_launch(const struct cts_launch *launch, struct cts_error *error)
{
    const enum cts_status status = check_extents(launch->grid, "grid", UINT32_MAX, error);
    return status ? status : check_extents(launch->block, "block", CTA_THREADS_MAX, error);
}

/* One side of a copy: rows of its width, `pitch` apart, in planes `slice` apart. */
struct copy_side {
    const char *column;
    uint64_t address, pitch, slice;
};

/* One side of a copy: rows of width bytes, `pitch` apart, in planes `slice` apart. */
static enum cts_status check_copy_side(const struct cts_copy *copy, const struct copy_side *side,
                                       struct cts_error *error)
{
    if (!copy->width_bytes || !copy->height || !copy->depth) return CTS_OK;
    uint64_t rows, planes, span;
    if (!__builtin_mul_overflow(copy->height - 1, side->pitch, &rows) &&
        !__builtin_mul_overflow(copy->depth - 1, side->slice, &planes) &&
        !__builtin_add_overflow(rows, planes, &span) &&
        !__builtin_add_overflow(span, copy->width_bytes, &span) && extent_fits(side->address, span))
        return CTS_OK;
    return cts_fail(error, CTS_FORMAT, "column '%s': the copy extends past the address space",
                    side->column);
}

static enum cts_status check_copy(const struct cts_copy *copy, struct cts_error *error)
{
    uint64_t total;
    if (__builtin_mul_overflow(copy->width_bytes, copy->height, &total) ||
        __builtin_mul_overflow(total, copy->depth, &total) || total > COPY_MAX_BYTES)
        return cts_fail(error, CTS_FORMAT,
                        "column 'width_bytes': %llu x %llu x %llu is more than %llu",
                        (unsigned long long)copy->width_bytes, (unsigned long long)copy->height,
                        (unsigned long long)copy->depth, (unsigned long long)COPY_MAX_BYTES);
    const enum cts_status status =
        check_copy_side(copy,
                        &(struct copy_side){.column = "destination",
                                            .address = copy->destination,
                                            .pitch = copy->destination_pitch,
                                            .slice = copy->destination_slice},
                        error);
    if (status) return status;
    return check_copy_side(copy,
                           &(struct copy_side){.column = "source",
                                               .address = copy->source,
                                               .pitch = copy->source_pitch,
                                               .slice = copy->source_slice},
                           error);
}

enum cts_status cts_catalogue_check_row(enum cts_table_id table, const void *row,
                                        struct cts_error *error)
{
    switch (table) {
    case CTS_TABLE_SITES:
        return check_site(row, error);
    case CTS_TABLE_LAUNCHES:
        return check_launch(row, error);
    case CTS_TABLE_COPIES:
        return check_copy(row, error);
    case CTS_TABLE_ALLOCATIONS: {
        const struct cts_allocation *const a = row;
        return check_extent("size_bytes", a->address, a->size_bytes, error);
    }
    case CTS_TABLE_VARIABLES: {
        const struct cts_variable *const v = row;
        return check_extent("size_bytes", v->address, v->size_bytes, error);
    }
    case CTS_TABLE_HOST_ACCESSES: {
        const struct cts_host_access *const h = row;
        return check_extent("size_bytes", h->address, h->size_bytes, error);
    }
    default:
        return CTS_OK;
    }
}

static bool names_a_row(const struct cts_catalogue *catalogue, enum cts_table_id table, uint64_t id)
{
    if (table == CTS_TABLE_RANKS) return cts_catalogue_find_rank(catalogue, (uint32_t)id);
    return id < cts_catalogue_row_count(catalogue, table); /* the others are dense */
}

/* The number by which messages name row i: its id where the table has one. */
static uint64_t row_name(const struct cts_table *table, const void *row, size_t i)
{
    const bool has_id = table->columns[0].reference == CTS_TABLE_NONE;
    return has_id ? cts_column_number(&table->columns[0], row) : i + 1;
}

static enum cts_status check_column(const struct cts_catalogue *catalogue, enum cts_table_id table,
                                    const struct cts_table_column *column, struct cts_error *error)
{
    const size_t count = cts_catalogue_row_count(catalogue, table);
    for (size_t i = 0; i < count; i++) {
        const void *const row = cts_catalogue_row(catalogue, table, i);
        const uint64_t id = cts_column_number(column, row);
        if (id == CTS_NONE || names_a_row(catalogue, column->reference, id)) continue;
        cts_fail(error, CTS_FORMAT, "column '%s': %llu names no row of table '%s'", column->name,
                 (unsigned long long)id, cts_tables[column->reference].name);
        return cts_catalogue_row_context(table, row_name(&cts_tables[table], row, i), error);
    }
    return CTS_OK;
}

enum cts_status cts_catalogue_check_references(const struct cts_catalogue *catalogue,
                                               struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (unsigned t = 0; !status && t < CTS_TABLE_COUNT; t++)
        for (unsigned c = 0; !status && c < cts_tables[t].column_count; c++)
            if (cts_tables[t].columns[c].reference != CTS_TABLE_NONE)
                status = check_column(catalogue, t, &cts_tables[t].columns[c], error);
    return status;
}
