/* The access analysis: its sheets, the screenful and JSON. */
#include "report/access-report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/short-names.h"
#include "common/text-table.h"
#include "common/wrapped-text.h"
#include "report/faults-report.h"
#include "report/gaps-report.h"

/* ---- names ---- */

enum { NAME_BYTES = 40 };

const char *cts_access_place(const struct cts_catalogue *catalogue, uint32_t site, char *text,
                             size_t text_bytes)
{
    const struct cts_site *const row = &catalogue->sites[site];
    const char *path = row->source != CTS_NONE ? catalogue->sources[row->source].path : NULL;
    if (!path) return row->function;
    if (strrchr(path, '/')) path = strrchr(path, '/') + 1;
    snprintf(text, text_bytes, "%s:%u", path, row->line);
    return text;
}

static const char *place_cell(const struct cts_access_report *report, uint32_t site,
                              struct cts_sheet_row *cells)
{
    return cts_access_place(report->catalogue, site, cts_sheet_room(cells, CTS_ACCESS_PLACE_BYTES),
                            CTS_ACCESS_PLACE_BYTES);
}

/* Whether a site's function is its kernel itself, whose name recorders may have cut. */
static bool is_of_kernel(const char *function, const char *kernel)
{
    enum { CUT_BYTES = 100 };
    const size_t length = strlen(function);
    if (!kernel || strncmp(function, kernel, length) != 0) return false;
    return !kernel[length] || kernel[length] == '(' || length >= CUT_BYTES;
}

/* Where a site is, for people who have read its kernel's name: NULL if it says no more than that.
 */
static const char *where_text(const struct cts_access_report *report,
                              const struct cts_access_site *site, char *text, size_t text_bytes)
{
    const struct cts_catalogue *const catalogue = report->catalogue;
    const struct cts_site *const row = &catalogue->sites[site->site];
    struct cts_short_names names = {0};
    struct cts_error ignored;
    if (report->full_names || cts_access_has_line(catalogue, site->site))
        return cts_access_place(catalogue, site->site, text, text_bytes);
    if (row->source != CTS_NONE) {
        snprintf(text, text_bytes, "instruction %u", row->line);
        return text;
    }
    if (!row->function ||
        is_of_kernel(row->function, cts_catalogue_kernel_name(catalogue, site->kernel)))
        return NULL;
    if (cts_short_names_make(&row->function, 1, &names, &ignored))
        snprintf(text, text_bytes, "%s", row->function);
    else
        cts_short_name_fitted(&names, 0, text, NAME_BYTES < text_bytes ? NAME_BYTES : text_bytes);
    cts_short_names_release(&names);
    return text;
}

static const char *where_cell(const struct cts_access_report *report,
                              const struct cts_access_site *site, struct cts_sheet_row *cells)
{
    return where_text(report, site, cts_sheet_room(cells, CTS_ACCESS_PLACE_BYTES),
                      CTS_ACCESS_PLACE_BYTES);
}

static const char *layout_of(const struct cts_access_counts *counts)
{
    struct cts_access_counts sums = *counts;
    enum cts_lane_layout most = CTS_LAYOUT_UNIFORM;
    for (enum cts_lane_layout i = most; i < CTS_LAYOUT_COUNT; i++)
        if (*cts_access_requests_of(&sums, i) > *cts_access_requests_of(&sums, most)) most = i;
    return cts_lane_layout_text(most);
}

static double ratio(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : NAN;
}

/* ---- findings ---- */

static const char *evidence_cell(const struct cts_access_report *report,
                                 const struct cts_finding *finding, struct cts_sheet_row *cells)
{
    char *const text = cts_sheet_room(cells, CTS_EVIDENCE_BYTES);
    cts_finding_evidence(report->catalogue, report->result, finding, text, CTS_EVIDENCE_BYTES);
    return text;
}

static uint64_t fault_allocation(const struct cts_catalogue *catalogue,
                                 const struct cts_access_fault *fault)
{
    return fault->allocation < catalogue->allocation_count
               ? catalogue->allocations[fault->allocation].allocation
               : UINT64_MAX;
}

static const char *variable_cell(const struct cts_access_report *report,
                                 const struct cts_finding *finding, struct cts_sheet_row *cells)
{
    return cts_finding_variable(report->catalogue, report->result, finding,
                                cts_sheet_room(cells, CTS_VARIABLE_BYTES), CTS_VARIABLE_BYTES);
}

/* From `fault` on: what is known of a finding that makes results wrong; of others nothing. */
#define FINDING_COLUMNS(COLUMN)                                                                    \
    COLUMN(finding, "finding", TEXT, cts_finding_text(finding->kind))                              \
    COLUMN(kernel, "kernel", KERNEL, cts_catalogue_kernel_name(report->catalogue, site->kernel))   \
    COLUMN(place, NULL, TEXT, place_cell(report, site->site, cells))                               \
    COLUMN(where, "where", TABLE_TEXT, where_cell(report, site, cells))                            \
    COLUMN(variable, "variable", TEXT, variable_cell(report, finding, cells))                      \
    COLUMN(operation, "operation", TEXT, cts_operation_text(words->operation))                     \
    COLUMN(space, NULL, TEXT, cts_space_text(site->space))                                         \
    COLUMN(share, "up to", FRACTION, is_fault ? NAN : finding->share)                              \
    COLUMN(waste, NULL, REAL, finding->waste)                                                      \
    COLUMN(system, NULL, TEXT, is_fault ? NULL : cts_access_system_text(finding->system))          \
    COLUMN(site, NULL, ID, site->site)                                                             \
    COLUMN(site_count, "sites", COUNT, finding->site_count)                                        \
    COLUMN(struct_bytes, NULL, COUNT, finding->struct_bytes)                                       \
    COLUMN(field_bytes, NULL, COUNT, finding->field_bytes)                                         \
    COLUMN(used_bytes, NULL, COUNT, finding->used_bytes)                                           \
    COLUMN(evidence, NULL, TEXT, evidence_cell(report, finding, cells))                            \
    COLUMN(remedy, NULL, TEXT, cts_finding_remedy(finding))                                        \
    COLUMN(fault, NULL, FLAG, is_fault)                                                            \
    COLUMN(race_between, NULL, TEXT, is_race ? cts_race_scope_text(fault->scope) : NULL)           \
    COLUMN(fault_bytes, "bytes", COUNT, fault->bytes)                                              \
    COLUMN(fault_accesses, NULL, COUNT, fault->accesses)                                           \
    COLUMN(fault_launches, NULL, COUNT, fault->launch_count)                                       \
    COLUMN(launch, NULL, ID,                                                                       \
           known ? report->catalogue->launches[example->launch].launch : UINT64_MAX)               \
    COLUMN(cta, NULL, ID, known ? example->cta : UINT64_MAX)                                       \
    COLUMN(thread, NULL, ID, known ? example->thread : UINT64_MAX)                                 \
    COLUMN(address, NULL, TEXT,                                                                    \
           known ? cts_sheet_text(cells, 20, "0x%llx", (unsigned long long)example->address)       \
                 : NULL)                                                                           \
    COLUMN(other_cta, NULL, ID, other_known ? other->cta : UINT64_MAX)                             \
    COLUMN(other_thread, NULL, ID, other_known ? other->thread : UINT64_MAX)                       \
    COLUMN(other_place, NULL, TEXT, other_known ? place_cell(report, other->site, cells) : NULL)   \
    COLUMN(allocation, NULL, ID, known ? fault_allocation(report->catalogue, fault) : UINT64_MAX)
CTS_SHEET_COLUMNS(finding_columns, FINDING_COLUMNS);

static void finding_row(const void *state, size_t row, struct cts_sheet_row *cells)
{
    const struct cts_access_report *const report = state;
    const struct cts_finding *const finding = &report->result->findings[row];
    const struct cts_access_site *const site = &report->result->sites[finding->site];
    const struct cts_site *const words = &report->catalogue->sites[site->site];
    const struct cts_access_fault *const fault = &finding->fault;
    const struct cts_access_example *const example = &fault->example, *const other = &fault->other;
    const bool is_fault = cts_finding_is_fault(finding->kind);
    const bool is_race = is_fault && finding->kind >= CTS_FINDING_RACE;
    const bool known = is_fault && example->known, other_known = known && other->known;
    CTS_SHEET_FILL(cells, FINDING_COLUMNS);
}

/* ---- sites ---- */

#define SITE_COLUMNS(COLUMN)                                                                       \
    COLUMN(kernel, "kernel", KERNEL, cts_catalogue_kernel_name(report->catalogue, site->kernel))   \
    COLUMN(launch, NULL, ID, all ? UINT64_MAX : report->catalogue->launches[site->launch].launch)  \
    COLUMN(site, NULL, ID, site->site)                                                             \
    COLUMN(place, NULL, TEXT, place_cell(report, site->site, cells))                               \
    COLUMN(where, "where", TABLE_TEXT, where_cell(report, site, cells))                            \
    COLUMN(variable, "variable", TEXT, words->variable)                                            \
    COLUMN(operation, "operation", TEXT, cts_operation_text(words->operation))                     \
    COLUMN(space, "space", TEXT, cts_space_text(site->space))                                      \
    COLUMN(width_bytes, "width", COUNT, words->width_bytes)                                        \
    COLUMN(layout, "lanes", TEXT, layout_of(counts))                                               \
    COLUMN(sectors_per_request, "sectors", REAL,                                                   \
           shared ? NAN : ratio(counts->sectors, counts->requests))                                \
    COLUMN(ideal_sectors_per_request, "ideal", REAL,                                               \
           shared ? NAN : ratio(counts->ideal_sectors, counts->requests))                          \
    COLUMN(wavefronts_per_request, "wavefronts", REAL,                                             \
           shared ? ratio(counts->wavefronts, counts->requests) : NAN)                             \
    COLUMN(ideal_wavefronts_per_request, NULL, REAL,                                               \
           shared ? ratio(counts->ideal_wavefronts, counts->requests) : NAN)                       \
    COLUMN(active_share, "active", FRACTION, ratio(counts->accesses, counts->live_lanes))          \
    COLUMN(used_share, "used", FRACTION,                                                           \
           shared ? NAN : ratio(counts->distinct_bytes, counts->sectors *CTS_SECTOR_BYTES))        \
    COLUMN(warp_reuse, NULL, REAL, ratio(counts->requested_bytes, counts->warp_distinct_bytes))    \
    COLUMN(cta_reuse, NULL, REAL, ratio(counts->requested_bytes, counts->cta_distinct_bytes))      \
    COLUMN(launch_reuse, "reuse", REAL,                                                            \
           ratio(counts->requested_bytes, counts->launch_distinct_bytes))                          \
    COLUMN(worst_ways, NULL, COUNT, site->worst_ways)                                              \
    COLUMN(stride_bytes, NULL, REAL, site->stride_requests ? (double)site->stride_bytes : NAN)     \
    COLUMN(stride_requests, NULL, COUNT, site->stride_requests)                                    \
    COLUMN(cost, NULL, REAL, cts_access_cost(counts))                                              \
    COLUMN##_EACH(CTS_ACCESS_FIELDS, counts)
CTS_SHEET_COLUMNS(site_columns, SITE_COLUMNS);

static void site_row(const void *state, size_t row, struct cts_sheet_row *cells)
{
    const struct cts_access_report *const report = state;
    const struct cts_access_site *const site = &report->result->sites[row];
    const struct cts_access_counts *const counts = &site->counts;
    const struct cts_site *const words = &report->catalogue->sites[site->site];
    const bool all = site->launch == SIZE_MAX;
    const bool shared = site->space == CTS_SPACE_SHARED;
    CTS_SHEET_FILL(cells, SITE_COLUMNS);
}

/* ---- allocations ---- */

#define ALLOCATION_COLUMNS(COLUMN)                                                                 \
    COLUMN(launch, "launch", ID, launch->launch)                                                   \
    COLUMN(kernel, "kernel", KERNEL, cts_catalogue_kernel_name(report->catalogue, launch->kernel)) \
    COLUMN(allocation, "allocation", ID, words ? words->allocation : UINT64_MAX)                   \
    COLUMN(variable, "variable", TEXT, words ? words->variable : NULL)                             \
    COLUMN(size_bytes, "size", BYTES, words ? words->size_bytes : 0)                               \
    COLUMN(accesses, "accesses", COUNT, a->accesses)                                               \
    COLUMN(requested_bytes, "requested", BYTES, a->requested_bytes)                                \
    COLUMN(launch_distinct_bytes, "distinct", BYTES, a->launch_distinct_bytes)                     \
    COLUMN(read_bytes, "read", BYTES, a->read_bytes)                                               \
    COLUMN(written_bytes, "written", BYTES, a->written_bytes)                                      \
    COLUMN(request_reuse, NULL, REAL, ratio(a->requested_bytes, a->request_distinct_bytes))        \
    COLUMN(cta_reuse, "CTA reuse", REAL, ratio(a->requested_bytes, a->cta_distinct_bytes))         \
    COLUMN(launch_reuse, "reuse", REAL, ratio(a->requested_bytes, a->launch_distinct_bytes))       \
    COLUMN(request_distinct_bytes, NULL, BYTES, a->request_distinct_bytes)                         \
    COLUMN(cta_distinct_bytes, NULL, BYTES, a->cta_distinct_bytes)
CTS_SHEET_COLUMNS(allocation_columns, ALLOCATION_COLUMNS);

static void allocation_row(const void *state, size_t row, struct cts_sheet_row *cells)
{
    const struct cts_access_report *const report = state;
    const struct cts_access_allocation *const a = &report->result->allocations[row];
    const struct cts_launch *const launch = &report->catalogue->launches[a->launch];
    const struct cts_allocation *const words =
        a->allocation == SIZE_MAX ? NULL : &report->catalogue->allocations[a->allocation];
    CTS_SHEET_FILL(cells, ALLOCATION_COLUMNS);
}

struct cts_sheet cts_access_sheet(const struct cts_access_report *report,
                                  enum cts_access_sheet which)
{
    if (which == CTS_ACCESS_SHEET_FINDING)
        return CTS_SHEET("findings", finding_columns, report->result->finding_count, finding_row,
                         report);
    if (which == CTS_ACCESS_SHEET_ALLOCATION)
        return CTS_SHEET("allocations", allocation_columns, report->result->allocation_count,
                         allocation_row, report);
    return CTS_SHEET("sites", site_columns, report->result->site_count, site_row, report);
}

/* ---- the screenful ---- */

/* What orders bytes that several CTAs use. */
static void print_order(const struct cts_access_result *r, FILE *file)
{
    const struct {
        uint64_t bytes;
        const char *by;
    } parts[] = {{r->grid_bytes, "grid barriers"},
                 {r->lock_bytes, "locks"},
                 {r->counter_bytes, "atomic counters (the last CTA, tickets)"},
                 {r->flag_bytes, "flags"}};
    char text[300];
    size_t length = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].bytes && length < sizeof text)
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%s: %s",
                                       length ? ", " : "", parts[i].by,
                                       cts_counted_text(parts[i].bytes, "byte", "bytes").text);
    if (length)
        cts_print_paragraph(file, 2,
                            "Note: several CTAs access the same bytes in turn, ordered by %s: no "
                            "race%s",
                            text,
                            r->fences_unknown
                                ? ", provided that the program has fences, which were "
                                  "not recorded"
                                : "");
    if (r->untold_race_launches)
        cts_print_paragraph(
            file, 2,
            "Note: some races between warps or CTAs were not checked in %s: barriers "
            "were not recorded (unmodified GPU programs: record --spaces "
            "global,shared,barriers), or too many words order other accesses",
            cts_counted_text(r->untold_race_launches, "launch", "launches").text);
}

void cts_access_print_notes(const struct cts_access_report *report, FILE *file)
{
    const struct cts_access_result *const r = report->result;
    if (r->packed_lanes)
        cts_print_paragraph(
            file, 2,
            "Note: imported trace: its lanes are not threads, so layouts, sectors and conflicts "
            "are meaningless and there are no findings");
    if (r->unseen_allocations)
        cts_print_paragraph(
            file, 2, "Note: host writes to %s were not recorded: reads there count as initialised",
            cts_counted_text(r->unseen_allocations, "managed, pinned or mapped allocation",
                             "managed, pinned or mapped allocations")
                .text);
    if (r->imported_allocations)
        cts_print_paragraph(
            file, 2,
            "Note: %s may be written by other processes or through other addresses, which was "
            "not recorded: reads there count as initialised",
            cts_counted_text(r->imported_allocations, "imported or mapped allocation",
                             "imported or mapped allocations")
                .text);
    if (r->unwatched_launches && !r->no_allocations && !r->packed_lanes)
        cts_print_paragraph(
            file, 2,
            "Note: uninitialised reads were not checked in %s: not all of their stores are "
            "known",
            cts_counted_text(r->unwatched_launches, "launch", "launches").text);
    if (r->unknown_allocations && !r->no_allocations && !r->packed_lanes)
        cts_print_paragraph(
            file, 2,
            "Note: launches with unrecorded stores may have written %s: later reads there "
            "count as initialised",
            cts_counted_text(r->unknown_allocations, "allocation", "allocations").text);
    print_order(r, file);
    if (r->no_allocations && !r->packed_lanes)
        cts_print_paragraph(
            file, 2,
            "Note: allocations are unknown: accesses outside of allocations and uninitialised "
            "reads were not checked");
    if (r->foreign_bytes)
        cts_print_paragraph(
            file, 2,
            "Note: %s accessed far from every allocation: memory that kernels allocated "
            "themselves, or host memory",
            cts_counted_text(r->foreign_bytes, "byte was", "bytes were").text);
    const struct cts_losses losses = {.is_lower_bound = r->lower_bound,
                                      .unrecorded_launches = r->unrecorded_launches,
                                      .dropped_accesses = r->dropped_accesses,
                                      .incomplete_files = r->incomplete_files};
    cts_print_losses(&losses, &report->catalogue->gaps, file);
}

static bool is_chosen(const struct cts_access_report *report, const struct cts_finding *finding)
{
    return !report->site || report->result->sites[finding->site].site == *report->site;
}

static const char *kernel_of(const struct cts_access_report *report,
                             const struct cts_finding *finding)
{
    return cts_catalogue_kernel_name(report->catalogue,
                                     report->result->sites[finding->site].kernel);
}

static void print_finding(const struct cts_access_report *report, size_t number,
                          const struct cts_finding *finding, const char *kernel, FILE *file)
{
    const struct cts_access_site *const site = &report->result->sites[finding->site];
    const struct cts_site *const words = &report->catalogue->sites[site->site];
    char evidence[CTS_EVIDENCE_BYTES], place_text[CTS_ACCESS_PLACE_BYTES];
    const char *const place = where_text(report, site, place_text, sizeof place_text);
    char name[CTS_VARIABLE_BYTES];
    const char *const variable =
        cts_finding_variable(report->catalogue, report->result, finding, name, sizeof name);
    const bool is_sum =
        finding->site_count > 1 && !cts_access_has_line(report->catalogue, site->site);
    struct cts_counted instructions = {""};
    if (is_sum) instructions = cts_counted_text(finding->site_count, "", "instructions");
    cts_finding_evidence(report->catalogue, report->result, finding, evidence, sizeof evidence);
    cts_print_paragraph(file, 5, "%3zu. %s: %s%s%s in %s%s%s%s%s", number,
                        cts_finding_text(finding->kind), cts_operation_text(words->operation),
                        variable ? " of " : "", variable ? variable : "", kernel ? kernel : "?",
                        place && !is_sum ? ", " : "", place && !is_sum ? place : "",
                        is_sum ? ", " : "", instructions.text);
    cts_print_paragraph(file, 5, "     %s.", evidence);
    if (cts_finding_is_fault(finding->kind))
        cts_print_paragraph(file, 5, "     Fix: %s.", cts_finding_remedy(finding));
    else
        cts_print_paragraph(file, 5, "     Could save up to %.1f%% of the kernel's %s. Fix: %s.",
                            100 * finding->share, cts_access_system_text(finding->system),
                            cts_finding_remedy(finding));
}

/* Faults end their launches, whose other accesses are not judged: they come before all findings. */
static size_t print_faults(const struct cts_access_report *report, FILE *file)
{
    enum { SHOWN = 5 };
    const struct cts_catalogue *const catalogue = report->catalogue;
    if (!report->result->faulted_launches) return 0;
    for (size_t i = 0; i < catalogue->fault_count && i < SHOWN; i++)
        fprintf(file,
                "%3zu. fault: %s.\n     Launch %u ended there; its other accesses were not "
                "analysed. Fix: correct the access or the condition.\n",
                i + 1, catalogue->faults[i].text ? catalogue->faults[i].text : "?",
                catalogue->faults[i].launch);
    if (catalogue->fault_count > SHOWN)
        fprintf(file, "     ... and %zu more: ctascope dump --table faults\n",
                catalogue->fault_count - SHOWN);
    return catalogue->fault_count < SHOWN ? catalogue->fault_count : SHOWN;
}

/* A run without accesses has nothing that could be judged. */
static void print_no_finding(const struct cts_access_report *report, size_t faults, FILE *file)
{
    if (report->result->record_count || faults)
        cts_print_paragraph(
            file, 5, "  No %sfinding above 1%% of a kernel's sectors, wavefronts or updates.",
            faults ? "other " : "");
    else
        cts_print_paragraph(
            file, 5, "  Nothing to analyse: the run has %s, and no memory accesses are recorded.",
            cts_counted_text(report->catalogue->launch_count, "launch", "launches").text);
}

/* Some of either sort, so that a program with many faults still shows what is slow. */
static void print_findings(const struct cts_access_report *report,
                           const struct cts_short_names *kernels, FILE *file)
{
    enum { FAULTS_SHOWN = 5, SHOWN = 8 };
    const struct cts_access_result *const r = report->result;
    char name[NAME_BYTES];
    const size_t first = print_faults(report, file);
    size_t faults = 0, shown = 0, left = 0;
    for (size_t i = 0; i < r->finding_count; i++) {
        const bool is_fault = cts_finding_is_fault(r->findings[i].kind);
        if (!is_chosen(report, &r->findings[i])) continue;
        if (shown == SHOWN || (is_fault && faults == FAULTS_SHOWN)) {
            left++;
            continue;
        }
        faults += is_fault;
        print_finding(report, first + ++shown, &r->findings[i],
                      report->full_names || !kernel_of(report, &r->findings[i])
                          ? kernel_of(report, &r->findings[i])
                          : cts_short_name_fitted(kernels, i, name, sizeof name),
                      file);
    }
    if (left) cts_print_paragraph(file, 5, "     ... and %zu more: --per finding", left);
    if (!shown) print_no_finding(report, first, file);
    if (r->library_kernels)
        cts_print_paragraph(
            file, 5,
            "  %s to ctascope's replacements of NVIDIA libraries; the efficiency of their accesses "
            "was not analysed.",
            cts_counted_text(r->library_kernels, "kernel belongs", "kernels belong").text);
    if (r->small_findings && !report->site)
        cts_print_paragraph(
            file, 5,
            "  %s below 1%% of a kernel's memory traffic, together %.1f%% of the run's memory "
            "cost.",
            cts_counted_text(r->small_findings, "finding is", "findings are").text,
            100 * r->small_share);
}

/* The short names of the findings' kernels, by finding. */
static enum cts_status name_kernels(const struct cts_access_report *report,
                                    struct cts_short_names *kernels, struct cts_error *error)
{
    const size_t count = report->result->finding_count;
    const char **const names = cts_array_zeroed(count + 1, sizeof *names, error);
    *kernels = (struct cts_short_names){0};
    if (!names) return CTS_MEMORY;
    for (size_t i = 0; i < count; i++) names[i] = kernel_of(report, &report->result->findings[i]);
    const enum cts_status status = cts_short_names_make(names, count, kernels, error);
    free(names);
    return status;
}

void cts_access_choose_site(const struct cts_access_report *report, struct cts_sheet_choice *choice)
{
    if (!report->site) return;
    choice->only_column = choice->or_column = "site";
    choice->only_value = *report->site;
}

enum cts_status cts_access_print_summary(const struct cts_access_report *report, FILE *file,
                                         struct cts_error *error)
{
    cts_print_paragraph(file, 2, "Memory accesses in '%s': %s in %s", report->run_path,
                        cts_counted_text(report->result->access_count, "access", "accesses").text,
                        cts_counted_text(report->result->record_count, "request", "requests").text);
    fputs("\nFindings\n", file);
    struct cts_short_names kernels;
    enum cts_status status = name_kernels(report, &kernels, error);
    if (!status) print_findings(report, &kernels, file);
    cts_short_names_release(&kernels);
    if (status) return status;
    struct cts_sheet sheet = cts_access_sheet(report, CTS_ACCESS_SHEET_SITE);
    sheet.full_names = report->full_names;
    struct cts_sheet_choice choice = {.sort = "cost", .limit = 15};
    cts_access_choose_site(report, &choice);
    status = cts_sheet_part(&sheet, "Sites, by cost; sectors and wavefronts per request", &choice,
                            file, error);
    if (status) return status;
    fputc('\n', file);
    cts_access_print_notes(report, file);
    cts_print_paragraph(file, 6,
                        "More: --per finding, site, launch, allocation; --format json or csv");
    return status;
}

enum cts_status cts_access_print_json(const struct cts_access_report *report,
                                      const struct cts_sheet_choice *choice, FILE *file,
                                      struct cts_error *error)
{
    const struct cts_access_result *const r = report->result;
    const struct cts_sheet findings = cts_access_sheet(report, CTS_ACCESS_SHEET_FINDING);
    const struct cts_sheet sites = cts_access_sheet(report, CTS_ACCESS_SHEET_SITE);
    const struct cts_sheet allocations = cts_access_sheet(report, CTS_ACCESS_SHEET_ALLOCATION);
    const struct cts_sheet_rows places = cts_sheet_all(&allocations);
    struct cts_sheet_choice chosen_site = {0};
    struct cts_sheet_rows rows, chosen;
    cts_access_choose_site(report, &chosen_site);
    enum cts_status status = cts_sheet_choose(&sites, choice, &rows, error);
    if (status) return status;
    status = cts_sheet_choose(&findings, &chosen_site, &chosen, error);
    if (status) {
        free(rows.rows);
        return status;
    }
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
    cts_json_member_bool(&json, "lower_bound", r->lower_bound);
    cts_json_gaps(&json, &report->catalogue->gaps);
    cts_json_member_u64(&json, "unseen_allocations", r->unseen_allocations);
    cts_json_member_u64(&json, "imported_allocations", r->imported_allocations);
    cts_json_member_u64(&json, "unwatched_launches", r->unwatched_launches);
    cts_json_member_u64(&json, "unknown_allocations", r->unknown_allocations);
    cts_json_member_u64(&json, "faulted_launches", r->faulted_launches);
    cts_json_member_u64(&json, "ordered_bytes", r->ordered_bytes);
    cts_json_member_u64(&json, "ordered_by_grid_bytes", r->grid_bytes);
    cts_json_member_u64(&json, "ordered_by_lock_bytes", r->lock_bytes);
    cts_json_member_u64(&json, "ordered_by_counter_bytes", r->counter_bytes);
    cts_json_member_u64(&json, "ordered_by_flag_bytes", r->flag_bytes);
    cts_json_member_bool(&json, "fences_unknown", r->fences_unknown);
    cts_json_member_u64(&json, "untold_race_launches", r->untold_race_launches);
    cts_json_member_u64(&json, "foreign_bytes", r->foreign_bytes);
    cts_json_member_bool(&json, "no_allocations", r->no_allocations);
    cts_json_close_object(&json);
    cts_json_member_u64(&json, "findings_below_1_percent", r->small_findings);
    cts_json_member_double(&json, "findings_below_1_percent_share", r->small_share);
    cts_json_member_u64(&json, "library_kernels", r->library_kernels);
    cts_json_faults(&json, report->catalogue);
    cts_sheet_json(&findings, &chosen, &json);
    cts_sheet_json(&sites, &rows, &json);
    if (report->lists_allocations) cts_sheet_json(&allocations, &places, &json);
    cts_json_close_object(&json);
    free(rows.rows);
    free(chosen.rows);
    return cts_json_end(&json, error);
}
