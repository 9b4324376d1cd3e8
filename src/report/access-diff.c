/* The comparison of two runs: its sheets, the screenful and JSON. */
#include "report/access-diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/text-table.h"
#include "common/wrapped-text.h"
#include "report/access-report.h"

/* ---- findings ---- */

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

static const char *place_cell(const struct cts_diff_side *side, const struct cts_finding *finding,
                              struct cts_sheet_row *cells)
{
    return place_of(side, finding, cts_sheet_room(cells, CTS_ACCESS_PLACE_BYTES),
                    CTS_ACCESS_PLACE_BYTES);
}

static const char *evidence_cell(const struct cts_diff_side *side,
                                 const struct cts_finding *finding, struct cts_sheet_row *cells)
{
    return evidence_of(side, finding, cts_sheet_room(cells, CTS_EVIDENCE_BYTES),
                       CTS_EVIDENCE_BYTES);
}

#define FINDING_COLUMNS(COLUMN)                                                                    \
    COLUMN(change, "change", TEXT, cts_diff_change_text(f->change))                                \
    COLUMN(finding, "finding", TEXT, cts_finding_text(finding->kind))                              \
    COLUMN(kernel, "kernel", KERNEL, cts_catalogue_kernel_name(side->catalogue, site->kernel))     \
    COLUMN(place, "where", TEXT, place_cell(side, finding, cells))                                 \
    COLUMN(place_before, NULL, TEXT, place_cell(report->before, f->before, cells))                 \
    COLUMN(variable, "variable", TEXT, words->variable)                                            \
    COLUMN(operation, "operation", TEXT, cts_operation_text(words->operation))                     \
    COLUMN(space, NULL, TEXT, cts_space_text(site->space))                                         \
    COLUMN(fault, NULL, FLAG, cts_finding_is_fault(finding->kind))                                 \
    COLUMN(amount_before, "before", REAL, f->before ? f->before_amount : NAN)                      \
    COLUMN(amount_after, "after", REAL, f->after ? f->after_amount : NAN)                          \
    COLUMN(share_before, NULL, FRACTION, share_of(f->before))                                      \
    COLUMN(share_after, "up to", FRACTION, share_of(f->after))                                     \
    COLUMN(evidence_before, NULL, TEXT, evidence_cell(report->before, f->before, cells))           \
    COLUMN(evidence_after, NULL, TEXT, evidence_cell(report->after, f->after, cells))              \
    COLUMN(remedy, NULL, TEXT, cts_finding_remedy(finding))
CTS_SHEET_COLUMNS(finding_columns, FINDING_COLUMNS);

static void finding_row(const void *state, size_t row, struct cts_sheet_row *cells)
{
    const struct cts_diff_report *const report = state;
    const struct cts_diff_finding *const f = &report->diff->findings[row];
    const struct cts_diff_side *const side = f->after ? report->after : report->before;
    const struct cts_finding *const finding = f->after ? f->after : f->before;
    const struct cts_access_site *const site = site_of(side, finding);
    const struct cts_site *const words = &side->catalogue->sites[site->site];
    CTS_SHEET_FILL(cells, FINDING_COLUMNS);
}

/* ---- kernels ---- */

#define BOTH_COLUMNS(COLUMN, name)                                                                 \
    COLUMN(name##_before, NULL, COUNT, k->before.name)                                             \
    COLUMN(name##_after, NULL, COUNT, k->after.name)
#define KERNEL_COLUMNS(COLUMN)                                                                     \
    COLUMN(kernel, "kernel", KERNEL, k->name)                                                      \
    COLUMN(cost_before, "cost before", REAL, k->is_before ? cts_access_cost(&k->before) : NAN)     \
    COLUMN(cost_after, "after", REAL, k->is_after ? cts_access_cost(&k->after) : NAN)              \
    COLUMN(growth, "growth", FRACTION, isinf(growth) ? (double)NAN : growth)                       \
    COLUMN(sectors_before, "sectors before", COUNT, k->before.sectors)                             \
    COLUMN(sectors_after, "after", COUNT, k->after.sectors)                                        \
    COLUMN(wavefronts_before, "wavefronts before", COUNT, k->before.wavefronts)                    \
    COLUMN(wavefronts_after, "after", COUNT, k->after.wavefronts)                                  \
    COLUMN(requested_bytes_before, "bytes before", BYTES, k->before.requested_bytes)               \
    COLUMN(requested_bytes_after, "after", BYTES, k->after.requested_bytes)                        \
    COLUMN(launches_before, NULL, COUNT, k->before_launches)                                       \
    COLUMN(launches_after, NULL, COUNT, k->after_launches)                                         \
    BOTH_COLUMNS(COLUMN, requests)                                                                 \
    BOTH_COLUMNS(COLUMN, accesses)                                                                 \
    BOTH_COLUMNS(COLUMN, ideal_sectors)                                                            \
    BOTH_COLUMNS(COLUMN, ideal_wavefronts)
CTS_SHEET_COLUMNS(kernel_columns, KERNEL_COLUMNS);

static void kernel_row(const void *state, size_t row, struct cts_sheet_row *cells)
{
    const struct cts_diff_report *const report = state;
    const struct cts_diff_kernel *const k = &report->diff->kernels[row];
    const double growth =
        k->is_before && k->is_after ? cts_diff_growth(report->diff, k) : (double)NAN;
    CTS_SHEET_FILL(cells, KERNEL_COLUMNS);
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
        snprintf(text, text_bytes, "; %s beyond the ideal", cts_real_text(amount).text);
    return text;
}

static void print_finding(const struct cts_diff_report *report, const struct cts_diff_finding *f,
                          FILE *file)
{
    char place[CTS_ACCESS_PLACE_BYTES], text[CTS_EVIDENCE_BYTES], amount[64];
    const struct cts_diff_side *const side = f->after ? report->after : report->before;
    const struct cts_finding *const finding = f->after ? f->after : f->before;
    const struct cts_access_site *const site = site_of(side, finding);
    const struct cts_site *const words = &side->catalogue->sites[site->site];
    const char *const kernel = cts_catalogue_kernel_name(side->catalogue, site->kernel);
    const char *const where = place_of(side, finding, place, sizeof place);
    cts_print_paragraph(file, 5, "  %s: %s: %s%s%s in %.*s, %s", cts_diff_change_text(f->change),
                        cts_finding_text(finding->kind), cts_operation_text(words->operation),
                        words->variable ? " of " : "", words->variable ? words->variable : "",
                        kernel ? cts_kernel_name_length(kernel) : 1, kernel ? kernel : "?",
                        where ? where : "?");
    if (f->before && f->after) {
        cts_print_paragraph(file, 5, "     before: %s%s.",
                            evidence_of(report->before, f->before, text, sizeof text),
                            amount_of(f->before, f->before_amount, amount, sizeof amount));
        cts_print_paragraph(file, 5, "     now:    %s%s.",
                            evidence_of(report->after, f->after, text, sizeof text),
                            amount_of(f->after, f->after_amount, amount, sizeof amount));
        return;
    }
    cts_print_paragraph(file, 5, "     %s.", evidence_of(side, finding, text, sizeof text));
    if (f->after) cts_print_paragraph(file, 5, "     Fix: %s.", cts_finding_remedy(finding));
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
    char percent[32] = "";
    if (isfinite(growth)) snprintf(percent, sizeof percent, " (%+.1f%%)", 100 * growth);
    cts_print_paragraph(file, 2, "From '%s' to '%s': memory cost %s -> %s cycles of an SM%s",
                        report->before_path, report->after_path,
                        cts_real_text(cts_access_cost(&diff->before)).text,
                        cts_real_text(cts_access_cost(&diff->after)).text, percent);
    fputc('\n', file);
    cts_print_paragraph(file, 2, "Findings: %zu new, %zu changed, %zu gone, %zu the same",
                        diff->counts[CTS_DIFF_NEW], diff->counts[CTS_DIFF_CHANGED],
                        diff->counts[CTS_DIFF_GONE], diff->counts[CTS_DIFF_SAME]);
    print_findings(report, file);
    const enum cts_status status = cts_sheet_part(&sheet, "Kernels, by cost", &choice, file, error);
    fputc('\n', file);
    cts_print_paragraph(file, 6, "More: --per finding, kernel; --format json or csv");
    return status;
}

/* ---- JSON ---- */

static enum cts_status cts_diff_json_members(const struct cts_diff_report *report,
                                             const struct cts_sheet_choice *choice,
                                             struct cts_json *json, struct cts_error *error)
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
