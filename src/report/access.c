/* The access analysis: its sheets, the screenful and JSON. */
#include "report/access.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/text-table.h"

/* ---- names ---- */

static const char *kernel_name(const struct cts_access_report *report, uint32_t kernel)
{
    return kernel < report->catalogue->kernel_count ? report->catalogue->kernels[kernel].name
                                                    : NULL;
}

/* "file.cu:12", or the function where there are no lines. Lives until the next but three. */
static const char *place_text(const struct cts_access_report *report, uint32_t site)
{
    static _Thread_local char texts[4][120];
    static _Thread_local unsigned next;
    const struct cts_site *const row = &report->catalogue->sites[site];
    const char *path =
        row->source != CTS_NONE ? report->catalogue->sources[row->source].path : NULL;
    if (!path) return row->function;
    if (strrchr(path, '/')) path = strrchr(path, '/') + 1;
    char *const text = texts[next++ % 4];
    snprintf(text, sizeof texts[0], "%s:%u", path, row->line);
    return text;
}

static const char *layout_of(const struct cts_access_counts *counts)
{
    const uint64_t *const requests = &counts->uniform_requests;
    unsigned most = 0;
    for (unsigned i = 1; i < CTS_LAYOUT_COUNT; i++)
        if (requests[i] > requests[most]) most = i;
    return cts_lane_layout_text((enum cts_lane_layout)most);
}

static double ratio(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : NAN;
}

/* ---- findings ---- */

static const struct cts_column finding_columns[] = {
    {"finding", "finding", CTS_CELL_TEXT, false},
    {"kernel", "kernel", CTS_CELL_KERNEL, false},
    {"place", "where", CTS_CELL_TEXT, false},
    {"variable", "variable", CTS_CELL_TEXT, false},
    {"operation", "operation", CTS_CELL_TEXT, false},
    {"space", NULL, CTS_CELL_TEXT, false},
    {"share", "at most", CTS_CELL_FRACTION, false},
    {"waste", NULL, CTS_CELL_REAL, false},
    {"site", NULL, CTS_CELL_ID, false},
    {"site_count", "sites", CTS_CELL_COUNT, false},
    {"struct_bytes", NULL, CTS_CELL_COUNT, false},
    {"field_bytes", NULL, CTS_CELL_COUNT, false},
    {"used_bytes", NULL, CTS_CELL_COUNT, false},
    {"evidence", NULL, CTS_CELL_TEXT, false},
    {"remedy", NULL, CTS_CELL_TEXT, false},
};

static void finding_row(const void *state, size_t row, union cts_cell *cells)
{
    static _Thread_local char evidence[300];
    const struct cts_access_report *const report = state;
    const struct cts_finding *const finding = &report->result->findings[row];
    const struct cts_access_site *const site = &report->result->sites[finding->site];
    const struct cts_site *const words = &report->catalogue->sites[site->site];
    cts_finding_evidence(report->catalogue, report->result, finding, evidence, sizeof evidence);
    *cells++ = (union cts_cell){.text = cts_finding_text(finding->kind)};
    *cells++ = (union cts_cell){.text = kernel_name(report, site->kernel)};
    *cells++ = (union cts_cell){.text = place_text(report, site->site)};
    *cells++ = (union cts_cell){.text = words->variable};
    *cells++ = (union cts_cell){.text = cts_operation_text(words->operation)};
    *cells++ = (union cts_cell){.text = cts_space_text(site->space)};
    *cells++ = (union cts_cell){.real = finding->share};
    *cells++ = (union cts_cell){.real = finding->waste};
    *cells++ = (union cts_cell){.number = site->site};
    *cells++ = (union cts_cell){.number = finding->site_count};
    *cells++ = (union cts_cell){.number = finding->struct_bytes};
    *cells++ = (union cts_cell){.number = finding->field_bytes};
    *cells++ = (union cts_cell){.number = finding->used_bytes};
    *cells++ = (union cts_cell){.text = evidence};
    *cells++ = (union cts_cell){.text = cts_finding_remedy(finding)};
}

/* ---- sites ---- */

#define X(name) {#name, NULL, CTS_CELL_COUNT, false},
static const struct cts_column site_columns[] = {
    {"kernel", "kernel", CTS_CELL_KERNEL, false},
    {"launch", NULL, CTS_CELL_ID, false},
    {"site", NULL, CTS_CELL_ID, false},
    {"place", "where", CTS_CELL_TEXT, false},
    {"variable", "variable", CTS_CELL_TEXT, false},
    {"operation", "operation", CTS_CELL_TEXT, false},
    {"space", "space", CTS_CELL_TEXT, false},
    {"width_bytes", "width", CTS_CELL_COUNT, false},
    {"layout", "lanes", CTS_CELL_TEXT, false},
    {"sectors_per_request", "sectors", CTS_CELL_REAL, false},
    {"ideal_sectors_per_request", "ideal", CTS_CELL_REAL, false},
    {"wavefronts_per_request", "wavefronts", CTS_CELL_REAL, false},
    {"ideal_wavefronts_per_request", NULL, CTS_CELL_REAL, false},
    {"active_share", "active", CTS_CELL_FRACTION, false},
    {"used_share", "used", CTS_CELL_FRACTION, false},
    {"worst_ways", NULL, CTS_CELL_COUNT, false},
    {"stride_bytes", NULL, CTS_CELL_REAL, false},
    {"stride_requests", NULL, CTS_CELL_COUNT, false},
    {"cost", NULL, CTS_CELL_REAL, false},
    CTS_ACCESS_FIELDS(X)};
#undef X

static void site_row(const void *state, size_t row, union cts_cell *cells)
{
    const struct cts_access_report *const report = state;
    const struct cts_access_site *const site = &report->result->sites[row];
    const struct cts_access_counts *const counts = &site->counts;
    const struct cts_site *const words = &report->catalogue->sites[site->site];
    const bool all = site->launch == SIZE_MAX;
    *cells++ = (union cts_cell){.text = kernel_name(report, site->kernel)};
    *cells++ = (union cts_cell){.number = all ? UINT64_MAX
                                              : report->catalogue->launches[site->launch].launch};
    *cells++ = (union cts_cell){.number = site->site};
    *cells++ = (union cts_cell){.text = place_text(report, site->site)};
    *cells++ = (union cts_cell){.text = words->variable};
    *cells++ = (union cts_cell){.text = cts_operation_text(words->operation)};
    *cells++ = (union cts_cell){.text = cts_space_text(site->space)};
    *cells++ = (union cts_cell){.number = words->width_bytes};
    *cells++ = (union cts_cell){.text = layout_of(counts)};
    const bool shared = site->space == CTS_SPACE_SHARED;
    *cells++ = (union cts_cell){.real = shared ? NAN : ratio(counts->sectors, counts->requests)};
    *cells++ =
        (union cts_cell){.real = shared ? NAN : ratio(counts->ideal_sectors, counts->requests)};
    *cells++ = (union cts_cell){.real = shared ? ratio(counts->wavefronts, counts->requests) : NAN};
    *cells++ =
        (union cts_cell){.real = shared ? ratio(counts->ideal_wavefronts, counts->requests) : NAN};
    *cells++ = (union cts_cell){.real = ratio(counts->accesses, counts->live_lanes)};
    *cells++ = (union cts_cell){
        .real = shared ? NAN : ratio(counts->distinct_bytes, counts->sectors * CTS_SECTOR_BYTES)};
    *cells++ = (union cts_cell){.number = site->worst_ways};
    *cells++ = (union cts_cell){.real = site->stride_requests ? (double)site->stride_bytes : NAN};
    *cells++ = (union cts_cell){.number = site->stride_requests};
    *cells++ = (union cts_cell){.real = cts_access_cost(counts)};
    for (size_t i = 0; i < CTS_ACCESS_FIELD_COUNT; i++)
        *cells++ = (union cts_cell){.number = cts_access_field(counts, i)};
}

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

struct cts_sheet cts_access_sheet(const struct cts_access_report *report,
                                  enum cts_access_sheet which)
{
    if (which == CTS_ACCESS_SHEET_FINDING)
        return (struct cts_sheet){.name = "findings",
                                  .columns = finding_columns,
                                  .column_count = COUNT_OF(finding_columns),
                                  .row_count = report->result->finding_count,
                                  .row = finding_row,
                                  .state = report};
    return (struct cts_sheet){.name = "sites",
                              .columns = site_columns,
                              .column_count = COUNT_OF(site_columns),
                              .row_count = report->result->site_count,
                              .row = site_row,
                              .state = report};
}

/* ---- the screenful ---- */

void cts_access_print_notes(const struct cts_access_report *report, FILE *file)
{
    const struct cts_access_result *const r = report->result;
    if (r->packed_lanes)
        fprintf(file,
                "Note: imported trace: its lanes are no threads, so that layouts, sectors and "
                "conflicts mean nothing; no findings are made\n");
    if (r->unrecorded_launches)
        fprintf(file, "Note: %s not recorded in full\n",
                cts_counted_text(r->unrecorded_launches, "launch was", "launches were").text);
    if (r->dropped_accesses)
        fprintf(file, "Note: %s dropped by the recorder\n",
                cts_counted_text(r->dropped_accesses, "access was", "accesses were").text);
    if (r->incomplete_files)
        fprintf(file, "Note: %s too early: the program was killed, or still runs\n",
                cts_counted_text(r->incomplete_files, "access file ends", "access files end").text);
}

static void print_findings(const struct cts_access_report *report, FILE *file)
{
    enum { SHOWN = 8 };
    const struct cts_access_result *const r = report->result;
    if (!r->finding_count) {
        fprintf(file, "  No finding above 1%% of a kernel's memory traffic.\n");
        return;
    }
    for (size_t i = 0; i < r->finding_count && i < SHOWN; i++) {
        const struct cts_finding *const finding = &r->findings[i];
        const struct cts_access_site *const site = &r->sites[finding->site];
        const struct cts_site *const words = &report->catalogue->sites[site->site];
        const char *const place = place_text(report, site->site);
        const char *const kernel = kernel_name(report, site->kernel);
        char evidence[300];
        cts_finding_evidence(report->catalogue, r, finding, evidence, sizeof evidence);
        fprintf(file, "%3zu. %s: %s%s%s in %.*s, %s\n", i + 1, cts_finding_text(finding->kind),
                cts_operation_text(words->operation), words->variable ? " of " : "",
                words->variable ? words->variable : "", kernel ? cts_kernel_name_length(kernel) : 1,
                kernel ? kernel : "?", place ? place : "?");
        fprintf(file, "     %s.\n", evidence);
        fprintf(file, "     At most %.1f%% of the kernel's memory traffic: %s.\n",
                100 * finding->share, cts_finding_remedy(finding));
    }
    if (r->finding_count > SHOWN)
        fprintf(file, "     ... and %zu more: --per finding\n", r->finding_count - SHOWN);
}

enum cts_status cts_access_print_summary(const struct cts_access_report *report, FILE *file,
                                         struct cts_error *error)
{
    fprintf(file, "Memory accesses in '%s': %s in %s requests\n\nFindings\n", report->run_path,
            cts_counted_text(report->result->access_count, "access", "accesses").text,
            cts_count_text(report->result->record_count).text);
    print_findings(report, file);
    const struct cts_sheet sheet = cts_access_sheet(report, CTS_ACCESS_SHEET_SITE);
    const struct cts_sheet_choice choice = {.sort = "cost", .limit = 15};
    struct cts_sheet_rows rows;
    enum cts_status status = cts_sheet_choose(&sheet, &choice, &rows, error);
    if (status) return status;
    fprintf(file, "\nSites, by cost; sectors and wavefronts per request\n");
    status = cts_sheet_table(&sheet, &rows, file, error);
    if (!status && rows.count < rows.found)
        fprintf(file, "  ... and %zu more\n", rows.found - rows.count);
    free(rows.rows);
    fputc('\n', file);
    cts_access_print_notes(report, file);
    fprintf(file, "More: --per finding, site, launch; --format json or csv\n");
    return status;
}

enum cts_status cts_access_print_json(const struct cts_access_report *report,
                                      const struct cts_sheet_choice *choice, FILE *file,
                                      struct cts_error *error)
{
    const struct cts_access_result *const r = report->result;
    const struct cts_sheet findings = cts_access_sheet(report, CTS_ACCESS_SHEET_FINDING);
    const struct cts_sheet sites = cts_access_sheet(report, CTS_ACCESS_SHEET_SITE);
    const struct cts_sheet_rows all = cts_sheet_all(&findings);
    struct cts_sheet_rows rows;
    enum cts_status status = cts_sheet_choose(&sites, choice, &rows, error);
    if (status) return status;
    struct cts_json json;
    cts_json_begin(&json, file);
    cts_json_open_object(&json);
    cts_json_member_string(&json, "run", report->run_path);
    cts_json_member_u64(&json, "requests", r->record_count);
    cts_json_member_u64(&json, "accesses", r->access_count);
    cts_json_key(&json, "soundness");
    cts_json_open_object(&json);
    cts_json_member_bool(&json, "packed_lanes", r->packed_lanes);
    cts_json_member_u64(&json, "unrecorded_launches", r->unrecorded_launches);
    cts_json_member_u64(&json, "dropped_accesses", r->dropped_accesses);
    cts_json_member_u64(&json, "incomplete_files", r->incomplete_files);
    cts_json_close_object(&json);
    cts_sheet_json(&findings, &all, &json);
    cts_sheet_json(&sites, &rows, &json);
    cts_json_close_object(&json);
    free(rows.rows);
    return cts_json_end(&json, error);
}
