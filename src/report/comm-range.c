/* Operations on a range of addresses: rows by launch, CTA and memory instruction. */
#include <string.h>

#include "common/text-table.h"
#include "report/comm.h"

#define COLUMNS(COLUMN)                                                                            \
    COLUMN(launch, "launch", ID, q->launch)                                                        \
    COLUMN(kernel, "kernel", KERNEL,                                                               \
           launch ? cts_catalogue_kernel_name(catalogue, launch->kernel) : NULL)                   \
    COLUMN(cta, "CTA", ID, q->cta)                                                                 \
    COLUMN(operation, "operation", TEXT, cts_operation_text(site->operation))                      \
    COLUMN(accesses, "accesses", COUNT, q->accesses)                                               \
    COLUMN(bytes, "bytes", BYTES, q->bytes)                                                        \
    COLUMN(site, "site", ID, q->site)                                                              \
    COLUMN(variable, "variable", TEXT, site->variable)                                             \
    COLUMN(path, NULL, TEXT,                                                                       \
           site->source < catalogue->source_count ? catalogue->sources[site->source].path : NULL)  \
    COLUMN(line, "line", ID, site->line)
CTS_SHEET_COLUMNS(columns, COLUMNS);

static void fill_row(const void *state, size_t row, struct cts_sheet_row *cells)
{
    const struct cts_comm_range_report *const r = state;
    const struct cts_catalogue *const catalogue = r->catalogue;
    const struct cts_query_row *const q = &r->query->rows[row];
    const struct cts_site *const site = &catalogue->sites[q->site];
    const struct cts_launch *const launch = cts_catalogue_launch(catalogue, q->launch);
    CTS_SHEET_FILL(cells, COLUMNS);
}

struct cts_sheet cts_comm_range_sheet(const struct cts_comm_range_report *report)
{
    return CTS_SHEET("operations", columns, report->query->row_count, fill_row, report);
}

enum cts_status cts_comm_print_range(const struct cts_comm_range_report *report,
                                     const struct cts_sheet_rows *rows, FILE *file,
                                     struct cts_error *error)
{
    const struct cts_query *const q = report->query;
    const struct cts_sheet sheet = cts_comm_range_sheet(report);
    fprintf(file, "Operations on [0x%llx, 0x%llx) in '%s'\n", (unsigned long long)report->start,
            (unsigned long long)report->end, report->run_path);
    const enum cts_status status = cts_sheet_table(&sheet, rows, file, error);
    if (status) return status;
    if (rows->count < rows->found)
        fprintf(file, "  %zu of %zu rows: --limit 0 shows all\n", rows->count, rows->found);
    if (q->rows_left_out)
        fprintf(file, "Note: %s left out of the list; the totals include them\n",
                cts_counted_text(q->rows_left_out, "row", "rows").text);
    fprintf(file, "read %s in %s, written %s in %s\n", cts_bytes_text(q->read_bytes).text,
            cts_counted_text(q->reads, "access", "accesses").text,
            cts_bytes_text(q->written_bytes).text,
            cts_counted_text(q->writes, "access", "accesses").text);
    return CTS_OK;
}

enum cts_status cts_comm_print_range_json(const struct cts_comm_range_report *report,
                                          const struct cts_sheet_rows *rows, FILE *file,
                                          struct cts_error *error)
{
    const struct cts_query *const q = report->query;
    const struct cts_sheet sheet = cts_comm_range_sheet(report);
    struct cts_json json;
    cts_json_begin(&json, file);
    cts_json_open_object(&json);
    cts_json_member_string(&json, "format", "ctascope-comm-address");
    cts_json_member_u64(&json, "version", 1);
    cts_json_member_string(&json, "run", report->run_path);
    cts_json_member_u64(&json, "start", report->start);
    cts_json_member_u64(&json, "end", report->end);
    cts_json_member_u64(&json, "read_accesses", q->reads);
    cts_json_member_u64(&json, "read_bytes", q->read_bytes);
    cts_json_member_u64(&json, "write_accesses", q->writes);
    cts_json_member_u64(&json, "written_bytes", q->written_bytes);
    cts_json_member_u64(&json, "rows_left_out", q->rows_left_out);
    cts_sheet_json(&sheet, rows, &json);
    cts_json_close_object(&json);
    return cts_json_end(&json, error);
}
