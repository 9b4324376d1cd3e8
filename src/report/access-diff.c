/* The comparison of two runs: its sheets, the screenful and JSON. */
#include "report/access-diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/text-table.h"
#include "report/access.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* ---- findings ---- */

static const struct cts_column finding_columns[] = {
    {"change", "change", CTS_CELL_TEXT, false},
    {"finding", "finding", CTS_CELL_TEXT, false},
    {"kernel", "kernel", CTS_CELL_KERNEL, false},
    {"place", "where", CTS_CELL_TEXT, false},
    {"place_before", NULL, CTS_CELL_TEXT, false},
    {"variable", "variable", CTS_CELL_TEXT, false},
    {"operation", "operation", CTS_CELL_TEXT, false},
    {"space", NULL, CTS_CELL_TEXT, false},
    {"fault", NULL, CTS_CELL_FLAG, false},
    {"amount_before", "before", CTS_CELL_REAL, false},
    {"amount_after", "after", CTS_CELL_REAL, false},
    {"share_before", NULL, CTS_CELL_FRACTION, false},
    {"share_after", "up to", CTS_CELL_FRACTION, false},
    {"evidence_before", NULL, CTS_CELL_TEXT, false},
    {"evidence_after", NULL, CTS_CELL_TEXT, false},
    {"remedy", NULL, CTS_CELL_TEXT, false},
};

static const struct cts_access_site *site_of(const struct cts_diff_side *side,
                                             const struct cts_finding *finding)
{
    return &side->result->sites[finding->site];
}

static const char *place_of(const struct cts_diff_side *side, const struct cts_finding *finding,
                            char *text, size_t text_bytes)
{
    if (!finding) return NULL;
    return cts_access_place(side->catalogue, site_of(side, finding)->site, text, text_bytes);
}

static const char *evidence_of(const struct cts_diff_side *side, const struct cts_finding *finding,
                               char *text, size_t text_bytes)
{
    if (!finding) return NULL;
    cts_finding_evidence(side->catalogue, side->result, finding, text, text_bytes);
    return text;
}

static double share_of(const struct cts_finding *finding)
{
    return finding && !cts_finding_is_fault(finding->kind) ? finding->share : NAN;
}

static void finding_row(const void *state, size_t row, union cts_cell *cells)
{
    static _Thread_local char places[2][120], evidence[2][500];
    const struct cts_diff_report *const report = state;
    const struct cts_diff_finding *const f = &report->diff->findings[row];
    const struct cts_diff_side *const side = f->after ? report->after : report->before;
    const struct cts_finding *const finding = f->after ? f->after : f->before;
    const struct cts_access_site *const site = site_of(side, finding);
    const struct cts_site *const words = &side->catalogue->sites[site->site];
    *cells++ = (union cts_cell){.text = cts_diff_change_text(f->change)};
    *cells++ = (union cts_cell){.text = cts_finding_text(finding->kind)};
    *cells++ = (union cts_cell){.text = cts_catalogue_kernel_name(side->catalogue, site->kernel)};
    *cells++ = (union cts_cell){.text = place_of(side, finding, places[0], sizeof places[0])};
    *cells++ =
        (union cts_cell){.text = place_of(report->before, f->before, places[1], sizeof places[1])};
    *cells++ = (union cts_cell){.text = words->variable};
    *cells++ = (union cts_cell){.text = cts_operation_text(words->operation)};
    *cells++ = (union cts_cell){.text = cts_space_text(site->space)};
    *cells++ = (union cts_cell){.number = cts_finding_is_fault(finding->kind)};
    *cells++ = (union cts_cell){.real = f->before ? f->before_amount : NAN};
    *cells++ = (union cts_cell){.real = f->after ? f->after_amount : NAN};
    *cells++ = (union cts_cell){.real = share_of(f->before)};
    *cells++ = (union cts_cell){.real = share_of(f->after)};
    *cells++ = (union cts_cell){
        .text = evidence_of(report->before, f->before, evidence[0], sizeof evidence[0])};
    *cells++ = (union cts_cell){
        .text = evidence_of(report->after, f->after, evidence[1], sizeof evidence[1])};
    *cells++ = (union cts_cell){.text = cts_finding_remedy(finding)};
}

/* ---- kernels ---- */

#define BOTH(name)                                                                                 \
    {name "_before", NULL, CTS_CELL_COUNT, false},                                                 \
    {                                                                                              \
        name "_after", NULL, CTS_CELL_COUNT, false                                                 \
    }
static const struct cts_column kernel_columns[] = {
    {"kernel", "kernel", CTS_CELL_KERNEL, false},
    {"cost_before", "cost before", CTS_CELL_REAL, false},
    {"cost_after", "after", CTS_CELL_REAL, false},
    {"growth", "growth", CTS_CELL_FRACTION, false},
    {"sectors_before", "sectors before", CTS_CELL_COUNT, false},
    {"sectors_after", "after", CTS_CELL_COUNT, false},
    {"wavefronts_before", "wavefronts before", CTS_CELL_COUNT, false},
    {"wavefronts_after", "after", CTS_CELL_COUNT, false},
    {"requested_bytes_before", "bytes before", CTS_CELL_BYTES, false},
    {"requested_bytes_after", "after", CTS_CELL_BYTES, false},
    BOTH("launches"),
    BOTH("requests"),
    BOTH("accesses"),
    BOTH("ideal_sectors"),
    BOTH("ideal_wavefronts"),
};
#undef BOTH

static void kernel_row(const void *state, size_t row, union cts_cell *cells)
{
    const struct cts_diff_report *const report = state;
    const struct cts_diff_kernel *const k = &report->diff->kernels[row];
    const double growth =
        k->is_before && k->is_after ? cts_diff_growth(report->diff, k) : (double)NAN;
    *cells++ = (union cts_cell){.text = k->name};
    *cells++ = (union cts_cell){.real = k->is_before ? cts_access_cost(&k->before) : NAN};
    *cells++ = (union cts_cell){.real = k->is_after ? cts_access_cost(&k->after) : NAN};
    *cells++ = (union cts_cell){.real = isinf(growth) ? (double)NAN : growth};
    const uint64_t numbers[] = {
        k->before.sectors,         k->after.sectors,          k->before.wavefronts,
        k->after.wavefronts,       k->before.requested_bytes, k->after.requested_bytes,
        k->before_launches,        k->after_launches,         k->before.requests,
        k->after.requests,         k->before.accesses,        k->after.accesses,
        k->before.ideal_sectors,   k->after.ideal_sectors,    k->before.ideal_wavefronts,
        k->after.ideal_wavefronts,
    };
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        *cells++ = (union cts_cell){.number = numbers[i]};
}

struct cts_sheet cts_diff_sheet(const struct cts_diff_report *report, enum cts_diff_sheet which)
{
    if (which == CTS_DIFF_SHEET_FINDING)
        return CTS_SHEET("findings", finding_columns, report->diff->finding_count, finding_row,
                         report);
    return CTS_SHEET("kernels", kernel_columns, report->diff->kernel_count, kernel_row, report);
}

/* ---- the screenful ---- */

/* "; 63,488 beyond the ideal", which is what a finding may have changed in alone; of faults the
 * evidence says it. */
static const char *amount_of(const struct cts_finding *finding, double amount, char *text,
                             size_t text_bytes)
{
    *text = 0;
    if (!cts_finding_is_fault(finding->kind))
        snprintf(text, text_bytes, "; %.4g beyond the ideal", amount);
    return text;
}

static void print_finding(const struct cts_diff_report *report, const struct cts_diff_finding *f,
                          FILE *file)
{
    char place[120], text[500], amount[40];
    const struct cts_diff_side *const side = f->after ? report->after : report->before;
    const struct cts_finding *const finding = f->after ? f->after : f->before;
    const struct cts_access_site *const site = site_of(side, finding);
    const struct cts_site *const words = &side->catalogue->sites[site->site];
    const char *const kernel = cts_catalogue_kernel_name(side->catalogue, site->kernel);
    const char *const where = place_of(side, finding, place, sizeof place);
    fprintf(file, "  %s: %s: %s%s%s in %.*s, %s\n", cts_diff_change_text(f->change),
            cts_finding_text(finding->kind), cts_operation_text(words->operation),
            words->variable ? " of " : "", words->variable ? words->variable : "",
            kernel ? cts_kernel_name_length(kernel) : 1, kernel ? kernel : "?",
            where ? where : "?");
    if (f->before && f->after) {
        fprintf(file, "     before: %s%s.\n",
                evidence_of(report->before, f->before, text, sizeof text),
                amount_of(f->before, f->before_amount, amount, sizeof amount));
        fprintf(file, "     now:    %s%s.\n",
                evidence_of(report->after, f->after, text, sizeof text),
                amount_of(f->after, f->after_amount, amount, sizeof amount));
        return;
    }
    fprintf(file, "     %s.\n", evidence_of(side, finding, text, sizeof text));
    if (f->after) fprintf(file, "     Fix: %s.\n", cts_finding_remedy(finding));
}

static void print_findings(const struct cts_diff_report *report, FILE *file)
{
    enum { SHOWN = 10 };
    const struct cts_access_diff *const diff = report->diff;
    const size_t differing = diff->finding_count - diff->counts[CTS_DIFF_SAME];
    if (!differing) fprintf(file, "  No finding is new, changed or gone.\n");
    for (size_t i = 0; i < differing && i < SHOWN; i++)
        print_finding(report, &diff->findings[i], file);
    if (differing > SHOWN) fprintf(file, "  ... and %zu more: --per finding\n", differing - SHOWN);
}

enum cts_status cts_diff_print_summary(const struct cts_diff_report *report, FILE *file,
                                       struct cts_error *error)
{
    const struct cts_access_diff *const diff = report->diff;
    const struct cts_sheet sheet = cts_diff_sheet(report, CTS_DIFF_SHEET_KERNEL);
    const struct cts_sheet_choice choice = {.limit = 15};
    const double growth = cts_diff_growth(diff, NULL);
    fprintf(file, "From '%s' to '%s': memory traffic %.4g -> %.4g", report->before_path,
            report->after_path, cts_access_cost(&diff->before), cts_access_cost(&diff->after));
    if (isfinite(growth)) fprintf(file, " (%+.1f%%)", 100 * growth);
    fprintf(file, "\n\nFindings: %zu new, %zu changed, %zu gone, %zu the same\n",
            diff->counts[CTS_DIFF_NEW], diff->counts[CTS_DIFF_CHANGED], diff->counts[CTS_DIFF_GONE],
            diff->counts[CTS_DIFF_SAME]);
    print_findings(report, file);
    const enum cts_status status = cts_sheet_part(&sheet, "Kernels, by cost", &choice, file, error);
    fprintf(file, "\nMore: --per finding, kernel; --format json or csv\n");
    return status;
}

/* ---- JSON ---- */

enum cts_status cts_diff_json_members(const struct cts_diff_report *report,
                                      const struct cts_sheet_choice *choice, struct cts_json *json,
                                      struct cts_error *error)
{
    const struct cts_access_diff *const diff = report->diff;
    const struct cts_sheet findings = cts_diff_sheet(report, CTS_DIFF_SHEET_FINDING);
    const struct cts_sheet kernels = cts_diff_sheet(report, CTS_DIFF_SHEET_KERNEL);
    const struct cts_sheet_rows all = cts_sheet_all(&kernels);
    struct cts_sheet_rows rows;
    const enum cts_status status = cts_sheet_choose(&findings, choice, &rows, error);
    if (status) return status;
    const double growth = cts_diff_growth(diff, NULL);
    cts_json_member_string(json, "before", report->before_path);
    cts_json_member_string(json, "after", report->after_path);
    cts_json_member_double(json, "cost_before", cts_access_cost(&diff->before));
    cts_json_member_double(json, "cost_after", cts_access_cost(&diff->after));
    cts_json_member_double(json, "growth", isfinite(growth) ? growth : (double)NAN);
    for (unsigned i = 0; i < CTS_DIFF_CHANGE_COUNT; i++)
        cts_json_member_u64(json, cts_diff_change_text((enum cts_diff_change)i), diff->counts[i]);
    cts_sheet_json(&findings, &rows, json);
    cts_sheet_json(&kernels, &all, json);
    free(rows.rows);
    return CTS_OK;
}

enum cts_status cts_diff_print_json(const struct cts_diff_report *report,
                                    const struct cts_sheet_choice *choice, FILE *file,
                                    struct cts_error *error)
{
    struct cts_json json;
    cts_json_begin(&json, file);
    cts_json_open_object(&json);
    const enum cts_status status = cts_diff_json_members(report, choice, &json, error);
    if (status) return status;
    cts_json_close_object(&json);
    return cts_json_end(&json, error);
}
