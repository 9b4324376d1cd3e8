/* What the access analysis says, by line and as findings. The whole run is analysed once, at first
 * demand; so is a launch alone, whose analysis reads the launch alone, and those of the launches
 * looked at last are kept. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/access/diff.h"
#include "common/array.h"
#include "view/answers.h"

enum { FINDINGS_MAX = 1000, LINES_MAX = 100000 };

enum cts_status cts_view_access(const struct cts_view_request *request,
                                const struct cts_access_result **result, struct cts_error *error)
{
    struct cts_view_snapshot *const snapshot = request->snapshot;
    enum cts_status status = cts_view_lock(request, &snapshot->analysing, error);
    if (status) return status;
    if (!snapshot->has_access) {
        const struct cts_access_options options = {0};
        const struct cts_access_source source = cts_view_source(request);
        status = cts_access_analyze(&snapshot->recording.catalogue, &source, &options,
                                    &snapshot->access, error);
        snapshot->has_access = !status;
    }
    pthread_mutex_unlock(&snapshot->analysing);
    *result = &snapshot->access;
    return status;
}

/* The index of the launch that is asked about; SIZE_MAX: none is, the whole run is. */
static enum cts_status launch_of(const struct cts_view_request *request, size_t *index,
                                 struct cts_error *error)
{
    const struct cts_catalogue *const catalogue = &request->snapshot->recording.catalogue;
    uint64_t launch = CTS_NONE;
    *index = SIZE_MAX;
    const enum cts_status status =
        cts_view_query_number(&request->query, "launch", CTS_NONE, &launch, error);
    if (status || launch == CTS_NONE) return status;
    const struct cts_launch *const row = cts_catalogue_launch(catalogue, (uint32_t)launch);
    if (!row) return cts_fail(error, CTS_USAGE, "there is no launch %u", (unsigned)launch);
    *index = (size_t)(row - catalogue->launches);
    return CTS_OK;
}

/* A place for the analysis of a launch: its own, or that of the one looked at longest ago. */
static struct cts_view_analysis *place_for(struct cts_view_snapshot *snapshot, size_t launch)
{
    struct cts_view_analysis *place = &snapshot->analyses[0];
    for (size_t i = 0; i < CTS_VIEW_ANALYSES; i++) {
        struct cts_view_analysis *const it = &snapshot->analyses[i];
        if (it->is_there && it->launch == launch) return it;
        if (it->used < place->used) place = it;
    }
    return place;
}

static enum cts_status analyse_launch(const struct cts_view_request *request, size_t launch,
                                      const struct cts_access_result **result,
                                      struct cts_error *error)
{
    struct cts_view_snapshot *const snapshot = request->snapshot;
    struct cts_view_analysis *const place = place_for(snapshot, launch);
    place->used = ++snapshot->analysis_clock;
    *result = &place->result;
    if (place->is_there && place->launch == launch) return CTS_OK;
    if (place->is_there) cts_access_release(&place->result);
    place->is_there = false;
    bool *const wanted =
        cts_array_zeroed(snapshot->recording.catalogue.launch_count, sizeof *wanted, error);
    if (!wanted) return CTS_MEMORY;
    wanted[launch] = true;
    const struct cts_access_options options = {.wanted = wanted};
    const struct cts_access_source source = cts_view_source(request);
    const enum cts_status status = cts_access_analyze(&snapshot->recording.catalogue, &source,
                                                      &options, &place->result, error);
    free(wanted);
    place->launch = launch;
    place->is_there = !status;
    return status;
}

/* The analysis of the launch or of the run, until leave_analysis(). */
static enum cts_status enter_analysis(const struct cts_view_request *request, size_t launch,
                                      const struct cts_access_result **result,
                                      struct cts_error *error)
{
    if (launch == SIZE_MAX) return cts_view_access(request, result, error);
    enum cts_status status = cts_view_lock(request, &request->snapshot->looking, error);
    if (status) return status;
    status = analyse_launch(request, launch, result, error);
    if (status) pthread_mutex_unlock(&request->snapshot->looking);
    return status;
}

static void leave_analysis(const struct cts_view_request *request, size_t launch)
{
    if (launch != SIZE_MAX) pthread_mutex_unlock(&request->snapshot->looking);
}

/* ---- findings ---- */

static void write_example(struct cts_json *json, const struct cts_catalogue *catalogue,
                          const struct cts_access_example *example)
{
    cts_json_key(json, "example");
    if (!example->known) {
        cts_json_null(json);
        return;
    }
    cts_json_open_object(json);
    cts_json_member_u64(json, "launch", catalogue->launches[example->launch].launch);
    cts_json_member_u64(json, "cta", example->cta);
    cts_json_member_u64(json, "warp", example->thread / CTS_WARP_LANES);
    cts_json_member_u64(json, "address", example->address);
    cts_json_close_object(json);
}

static void write_place(struct cts_json *json, const struct cts_catalogue *catalogue,
                        const struct cts_site *site)
{
    char text[300];
    const char *path =
        site->source < catalogue->source_count ? catalogue->sources[site->source].path : NULL;
    if (path && strrchr(path, '/')) path = strrchr(path, '/') + 1;
    snprintf(text, sizeof text, "%s:%u", path ? path : "", site->line);
    cts_json_member_string(json, "place", path ? text : site->function);
}

static void write_finding(struct cts_json *json, const struct cts_catalogue *catalogue,
                          const struct cts_access_result *result, const struct cts_finding *finding,
                          size_t launch)
{
    char evidence[500];
    const struct cts_access_site *const row = &result->sites[finding->site];
    const struct cts_site *const site = &catalogue->sites[row->site];
    const char *const kernel = cts_catalogue_kernel_name(catalogue, row->kernel);
    cts_finding_evidence(catalogue, result, finding, evidence, sizeof evidence);
    cts_json_open_object(json);
    cts_json_member_string(json, "finding", cts_finding_text(finding->kind));
    cts_json_member_string(json, "kernel", kernel);
    cts_view_member_id(json, "launch",
                       launch == SIZE_MAX ? CTS_NONE : catalogue->launches[launch].launch);
    cts_json_member_u64(json, "site", row->site);
    cts_view_member_id(json, "source", site->source);
    cts_view_member_line(json, "line", site->line);
    write_place(json, catalogue, site);
    cts_json_member_string(json, "variable", site->variable);
    cts_json_member_string(json, "operation", cts_operation_text(site->operation));
    cts_json_member_double(json, "share",
                           cts_finding_is_fault(finding->kind) ? (double)NAN : finding->share);
    cts_json_member_string(
        json, "system",
        cts_finding_is_fault(finding->kind) ? NULL : cts_access_system_text(finding->system));
    cts_json_member_string(json, "evidence", evidence);
    cts_json_member_string(json, "remedy", cts_finding_remedy(finding));
    write_example(json, catalogue, &finding->fault.example);
    cts_json_close_object(json);
}

enum cts_status cts_view_write_findings(const struct cts_view_request *request,
                                        struct cts_json *json, struct cts_error *error)
{
    const struct cts_catalogue *const catalogue = &request->snapshot->recording.catalogue;
    const struct cts_access_result *result;
    size_t launch;
    enum cts_status status = launch_of(request, &launch, error);
    if (!status) status = enter_analysis(request, launch, &result, error);
    if (status) return status;
    cts_json_member_u64(json, "total", result->finding_count);
    cts_json_key(json, "rows");
    cts_json_open_array(json);
    for (size_t i = 0; i < result->finding_count && i < FINDINGS_MAX; i++)
        write_finding(json, catalogue, result, &result->findings[i], launch);
    cts_json_close_array(json);
    leave_analysis(request, launch);
    return CTS_OK;
}

/* ---- lines ---- */

struct line {
    uint32_t line;
    struct cts_selection_sums sums;
};

static int by_line(const void *a, const void *b)
{
    const struct line *const x = a, *const y = b;
    return (x->line > y->line) - (x->line < y->line);
}

static void write_line(struct cts_json *json, const struct cts_catalogue *catalogue,
                       const struct cts_access_result *result, uint32_t source,
                       const struct line *line)
{
    cts_json_open_object(json);
    cts_json_member_u64(json, "line", line->line);
    cts_view_write_sums(json, &line->sums);
    cts_json_key(json, "findings");
    cts_json_open_array(json);
    for (size_t i = 0; i < result->finding_count && i < FINDINGS_MAX; i++) {
        const struct cts_site *const site =
            &catalogue->sites[result->sites[result->findings[i].site].site];
        if (site->source == source && site->line == line->line) cts_json_u64(json, i);
    }
    cts_json_close_array(json);
    cts_json_close_object(json);
}

/* Sums of the sites of one source, by line, in an array that the caller frees. */
static struct line *sum_lines(const struct cts_catalogue *catalogue,
                              const struct cts_access_result *result, uint32_t source,
                              size_t *count, struct cts_error *error)
{
    struct line *const lines = cts_array_zeroed(result->site_count, sizeof *lines, error);
    size_t found = 0, end = 0;
    if (!lines) return NULL;
    for (size_t i = 0; i < result->site_count; i++) {
        const struct cts_site *const site = &catalogue->sites[result->sites[i].site];
        const struct cts_access_counts *const counts = &result->sites[i].counts;
        if (site->source != source) continue;
        lines[found++] = (struct line){
            .line = site->line,
            .sums = {counts->requests, counts->accesses, counts->requested_bytes, counts->sectors,
                     counts->ideal_sectors, counts->wavefronts, counts->ideal_wavefronts}};
    }
    if (found > 1) qsort(lines, found, sizeof *lines, by_line);
    for (size_t i = 0; i < found; i++) {
        if (!end || lines[end - 1].line != lines[i].line) {
            lines[end++] = lines[i];
            continue;
        }
        cts_selection_sums_add(&lines[end - 1].sums, &lines[i].sums);
    }
    *count = end;
    return lines;
}

enum cts_status cts_view_write_lines(const struct cts_view_request *request, struct cts_json *json,
                                     struct cts_error *error)
{
    const struct cts_catalogue *const catalogue = &request->snapshot->recording.catalogue;
    const struct cts_access_result *result;
    size_t launch, count = 0;
    uint64_t source = UINT64_MAX;
    enum cts_status status = launch_of(request, &launch, error);
    if (!status)
        status = cts_view_query_number(&request->query, "source", UINT32_MAX, &source, error);
    if (!status && source >= catalogue->source_count)
        status = cts_fail(error, CTS_USAGE, "there is no source %llu", (unsigned long long)source);
    if (!status) status = enter_analysis(request, launch, &result, error);
    if (status) return status;
    struct line *const lines = sum_lines(catalogue, result, (uint32_t)source, &count, error);
    cts_json_key(json, "rows");
    cts_json_open_array(json);
    for (size_t i = 0; i < count && i < LINES_MAX; i++)
        write_line(json, catalogue, result, (uint32_t)source, &lines[i]);
    cts_json_close_array(json);
    leave_analysis(request, launch);
    free(lines);
    return lines ? CTS_OK : CTS_MEMORY;
}

/* ---- two runs ---- */

static void write_side(struct cts_json *json, const char *key, bool is_there,
                       const struct cts_access_counts *counts, uint64_t launches)
{
    cts_json_key(json, key);
    if (!is_there) {
        cts_json_null(json);
        return;
    }
    cts_json_open_object(json);
    cts_json_member_u64(json, "launches", launches);
    cts_json_member_double(json, "cost", cts_access_cost(counts));
    for (size_t field = 0; field < CTS_ACCESS_FIELD_COUNT; field++)
        cts_json_member_u64(json, cts_access_field_names[field], cts_access_field(counts, field));
    cts_json_close_object(json);
}

static void write_evidence(struct cts_json *json, const char *key, const struct cts_diff_side *side,
                           const struct cts_finding *finding)
{
    char text[500];
    if (finding) cts_finding_evidence(side->catalogue, side->result, finding, text, sizeof text);
    cts_json_member_string(json, key, finding ? text : NULL);
}

static void write_amount(struct cts_json *json, const char *key, const struct cts_finding *finding,
                         double amount)
{
    const bool is_cost = finding && !cts_finding_is_fault(finding->kind);
    cts_json_member_double(json, key, is_cost ? amount : (double)NAN);
}

static void write_change(struct cts_json *json, const struct cts_diff_side sides[2],
                         const struct cts_diff_finding *it)
{
    const struct cts_diff_side *const side = &sides[it->after != NULL];
    const struct cts_finding *const finding = it->after ? it->after : it->before;
    const struct cts_access_site *const row = &side->result->sites[finding->site];
    const struct cts_site *const site = &side->catalogue->sites[row->site];
    cts_json_open_object(json);
    cts_json_member_string(json, "change", cts_diff_change_text(it->change));
    cts_json_member_string(json, "finding", cts_finding_text(finding->kind));
    cts_json_member_string(json, "kernel", cts_catalogue_kernel_name(side->catalogue, row->kernel));
    write_place(json, side->catalogue, site);
    cts_json_member_string(json, "variable", site->variable);
    write_evidence(json, "before", &sides[0], it->before);
    write_evidence(json, "after", &sides[1], it->after);
    write_amount(json, "amountBefore", it->before, it->before_amount);
    write_amount(json, "amountAfter", it->after, it->after_amount);
    cts_view_member_id(json, "source", it->after ? site->source : CTS_NONE);
    cts_view_member_line(json, "line", it->after ? site->line : 0);
    cts_json_close_object(json);
}

static void write_diff(struct cts_json *json, const struct cts_diff_side sides[2],
                       const struct cts_access_diff *diff)
{
    cts_json_key(json, "rows");
    cts_json_open_array(json);
    for (size_t i = 0; i < diff->finding_count && i < FINDINGS_MAX; i++)
        write_change(json, sides, &diff->findings[i]);
    cts_json_close_array(json);
    cts_json_key(json, "kernels");
    cts_json_open_array(json);
    for (size_t i = 0; i < diff->kernel_count && i < FINDINGS_MAX; i++) {
        const struct cts_diff_kernel *const kernel = &diff->kernels[i];
        cts_json_open_object(json);
        cts_json_member_string(json, "kernel", kernel->name ? kernel->name : "?");
        write_side(json, "before", kernel->is_before, &kernel->before, kernel->before_launches);
        write_side(json, "after", kernel->is_after, &kernel->after, kernel->after_launches);
        cts_json_close_object(json);
    }
    cts_json_close_array(json);
}

enum cts_status cts_view_write_diff(const struct cts_view_request *request, struct cts_json *json,
                                    struct cts_error *error)
{
    if (!request->other)
        return cts_fail(error, CTS_UNSUPPORTED, "there is no other run to compare with");
    struct cts_view_request other = *request;
    other.run = request->other;
    other.snapshot = request->other_snapshot;
    /* The run that is looked at is the one after. */
    struct cts_diff_side sides[2] = {{.catalogue = &other.snapshot->recording.catalogue},
                                     {.catalogue = &request->snapshot->recording.catalogue}};
    struct cts_access_diff diff;
    enum cts_status status = cts_view_access(&other, &sides[0].result, error);
    if (!status) status = cts_view_access(request, &sides[1].result, error);
    if (!status) status = cts_access_diff(&sides[0], &sides[1], &diff, error);
    if (status) return status;
    write_diff(json, sides, &diff);
    cts_access_diff_release(&diff);
    return CTS_OK;
}
