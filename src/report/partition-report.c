/* The partition analysis: the answer in words, the screenful, notes, and JSON. */
#include "report/partition-report.h"

#include <stdlib.h>
#include <string.h>

#include "common/short-names.h"
#include "common/text-table.h"
#include "common/wrapped-text.h"
#include "report/gaps-report.h"

/* ---- the answer ---- */

static const char *kernel_name(const struct cts_partition_report *r, size_t kernel)
{
    const char *const name = cts_catalogue_kernel_name(r->catalogue, r->partition->kernels[kernel]);
    return name ? name : "?";
}

/* " in 'variable'" with how much of the traffic goes there; nothing where that is not known. */
static const char *where_text(const struct cts_partition_report *r, char *text, size_t text_bytes)
{
    const struct cts_partition_answer *const a = r->answer;
    const uint32_t allocation = r->partition->places[a->place].allocation;
    *text = 0;
    if (allocation == CTS_NONE) return text;
    const char *const variable = r->catalogue->allocations[allocation].variable;
    snprintf(text, text_bytes, ", %s in '%s'",
             cts_percent_text(a->place_bytes, a->scale->traffic_bytes).text,
             variable ? variable : "?");
    return text;
}

static enum cts_status print_source(const struct cts_partition_report *r, FILE *file,
                                    struct cts_error *error)
{
    enum { NAME_BYTES = 61 };
    const struct cts_partition_answer *const a = r->answer;
    const uint64_t traffic = a->scale->traffic_bytes;
    const char *const list[] = {kernel_name(r, a->kernel), kernel_name(r, a->reading_kernel)};
    char writer[NAME_BYTES], reader[NAME_BYTES], where[300];
    struct cts_short_names names;
    const enum cts_status status = cts_short_names_make(list, 2, &names, error);
    if (!status)
        cts_print_paragraph(
            file, 4, "  Traffic: %s written by %s, %s read by %s%s",
            cts_percent_text(a->kernel_bytes, traffic).text,
            r->full_names ? list[0] : cts_short_name_fitted(&names, 0, writer, sizeof writer),
            cts_percent_text(a->reading_kernel_bytes, traffic).text,
            r->full_names ? list[1] : cts_short_name_fitted(&names, 1, reader, sizeof reader),
            where_text(r, where, sizeof where));
    cts_short_names_release(&names);
    if (!status)
        fprintf(file, "  Launch %u has the most: %s\n",
                r->catalogue->launches[r->partition->launches[a->launch].index].launch,
                cts_bytes_text(a->launch_bytes).text);
    return status;
}

struct speedup_text {
    char text[64];
};

/* "1.21x", or "1.21x to 1.35x" where traffic may overlap with itself. */
static struct speedup_text speedup_text(const struct cts_partition_time *time)
{
    struct speedup_text speedup;
    char low[24], high[24];
    snprintf(low, sizeof low, "%.2fx", time->no_overlap_speedup);
    snprintf(high, sizeof high, "%.2fx", time->full_overlap_speedup);
    snprintf(speedup.text, sizeof speedup.text, "%s%s%s", low, strcmp(low, high) ? " to " : "",
             strcmp(low, high) ? high : "");
    return speedup;
}

/* How much of the time splitting cannot shorten; where it is little, nothing. */
static void print_launches(const struct cts_partition *p, const struct cts_partition_scale *s,
                           FILE *file)
{
    const double share = s->time.launch_s / s->time.no_overlap_s;
    if (share < 0.05) return;
    fprintf(file, "  Launch overhead is %.1f%% of that time (%.3g us per launch)\n", 100 * share,
            p->options.launch_s * 1e6);
}

/* Why a split that is faster is not worth it. */
static void print_limit(const struct cts_partition *p, const struct cts_partition_answer *a,
                        FILE *file)
{
    const double percent = 100 * a->limit_s / a->scale->time.no_overlap_s;
    switch (a->limit) {
    case CTS_PARTITION_LIMIT_LAUNCHES:
        fprintf(file,
                "  Not recommended: launch overhead is %.1f%% of that time (%.3g us per launch)\n",
                percent, p->options.launch_s * 1e6);
        return;
    case CTS_PARTITION_LIMIT_TRAFFIC:
        fprintf(file, "  Not recommended: traffic between partitions is %.1f%% of that time\n",
                percent);
        break;
    case CTS_PARTITION_LIMIT_UNEVEN:
        fprintf(
            file,
            "  Not recommended: %.1f%% of that time is the slowest partition's work beyond an even "
            "share\n",
            percent);
        break;
    }
    print_launches(p, a->scale, file);
}

/* What splitting gains, and what limits it. What is counted is said where little is gained, too:
 * computation may be what takes the time. */
static void print_verdict(const struct cts_partition_report *r, FILE *file)
{
    const struct cts_partition_answer *const a = r->answer;
    const struct cts_partition *const p = r->partition;
    const struct cts_partition_scale *const s = a->scale;
    const char *const mapping = p->mappings[s->mapping];
    const double efficiency = s->time.no_overlap_speedup / s->partition_count;
    if (a->verdict == CTS_PARTITION_NO_GAIN)
        cts_print_paragraph(
            file, 2, "No gain expected: at best %.2fx on %u partitions (mapping %s): %s",
            s->time.no_overlap_speedup, s->partition_count, mapping,
            a->limit == CTS_PARTITION_LIMIT_LAUNCHES ? "launch overhead exceeds memory time"
            : a->limit == CTS_PARTITION_LIMIT_TRAFFIC
                ? "the traffic between partitions takes longer than splitting saves"
                : "the slowest partition moves nearly as much as the whole");
    else
        fprintf(file, "%s: %s on %u partitions (%.0f%% efficiency), mapping %s\n",
                r->asked_for_one                               ? "Speed-up"
                : a->verdict == CTS_PARTITION_INEFFICIENT_GAIN ? "Splitting scales poorly"
                                                               : "Worth splitting",
                speedup_text(&s->time).text, s->partition_count, 100 * efficiency, mapping);
    cts_print_paragraph(file, 2, "  Counted: memory traffic%s",
                        p->options.launch_times ? ", launch overhead and recorded computation"
                                                : " and launch overhead, no computation");
    if (a->verdict == CTS_PARTITION_INEFFICIENT_GAIN && !r->asked_for_one)
        print_limit(p, a, file);
    else if (a->verdict != CTS_PARTITION_NO_GAIN)
        print_launches(p, s, file);
}

static void print_traffic(const struct cts_partition *p, const struct cts_partition_scale *s,
                          FILE *file)
{
    cts_print_paragraph(
        file, 2,
        "  %s of traffic between partitions; other partitions read %s of the written bytes",
        cts_bytes_text(s->traffic_bytes).text,
        cts_percent_text(s->shared_bytes, p->total.written_bytes).text);
    if (s->replica_bytes < s->traffic_bytes)
        cts_print_paragraph(file, 2,
                            "  %s if each partition keeps fetched bytes until they are rewritten",
                            cts_bytes_text(s->replica_bytes).text);
    if (p->options.l2_bytes)
        cts_print_paragraph(file, 2, "  A cache of %s per partition holds at least %s of it",
                            cts_bytes_text(p->options.l2_bytes).text,
                            cts_bytes_text(s->held_bytes).text);
}

/* How much hangs on the mapping, and on who touches memory first. */
static void print_choices(const struct cts_partition *p, const struct cts_partition_answer *a,
                          FILE *file)
{
    const struct cts_partition_scale *const s = a->scale;
    if (a->mapping_matters)
        cts_print_paragraph(file, 2, "  The mapping matters: with %s it is %s",
                            p->mappings[a->worst->mapping],
                            cts_bytes_text(a->worst->traffic_bytes).text);
    else if (p->mapping_count > 1)
        cts_print_paragraph(file, 2, "  The mapping hardly matters");
    if (s->touch_remote_read_bytes + s->touch_remote_write_bytes > s->traffic_bytes)
        cts_print_paragraph(
            file, 2,
            "  First-touch placement costs more: %s of remote reads, %s of remote writes%s",
            cts_bytes_text(s->touch_remote_read_bytes).text,
            cts_bytes_text(s->touch_remote_write_bytes).text,
            a->writes_dominate ? "; writes dominate" : "");
}

enum cts_status cts_partition_print_answer(const struct cts_partition_report *r, FILE *file,
                                           struct cts_error *error)
{
    const struct cts_partition_answer *const a = r->answer;
    const struct cts_partition_scale *const s = a->scale;
    if (a->verdict == CTS_PARTITION_NO_DATA || !s) {
        cts_print_paragraph(file, 2, "No gain expected: the run reads and writes no global memory");
        return CTS_OK;
    }
    print_verdict(r, file);
    if (!s->traffic_bytes) {
        cts_print_paragraph(
            file, 2,
            "  No traffic between partitions from one launch to the next; what CTAs of one "
            "launch exchange is not counted");
    } else {
        print_traffic(r->partition, s, file);
        const enum cts_status status = print_source(r, file, error);
        if (status) return status;
    }
    print_choices(r->partition, a, file);
    return CTS_OK;
}

/* ---- notes ---- */

void cts_partition_print_notes(const struct cts_partition_report *report, FILE *file)
{
    const struct cts_partition *const p = report->partition;
    const struct cts_losses losses = {.is_lower_bound = p->lower_bound,
                                      .hides_writers = true,
                                      .unrecorded_launches = p->unrecorded_launches,
                                      .dropped_accesses = p->dropped_accesses,
                                      .incomplete_files = p->incomplete_files};
    cts_print_attribution(p->options.paper_model, cts_catalogue_knows_host(report->catalogue),
                          file);
    cts_print_losses(&losses, &report->catalogue->gaps, file);
    if (p->unseen_allocations)
        cts_print_paragraph(file, 2, "Note: host writes to %s were not recorded",
                            cts_counted_text(p->unseen_allocations,
                                             "managed, pinned or mapped allocation",
                                             "managed, pinned or mapped allocations")
                                .text);
    if (p->unordered_pairs)
        cts_print_paragraph(file, 2, "Note: %s ordered only by their start times",
                            cts_counted_text(p->unordered_pairs, "pair of launches and copies is",
                                             "pairs of launches and copies are")
                                .text);
    uint64_t without = 0;
    for (size_t i = 0; i < p->launch_count; i++)
        without += p->launches[i].counted && !cts_partition_can_have_traffic(&p->launches[i]);
    if (without)
        cts_print_paragraph(
            file, 2, "Note: distributions over launches exclude %s no data written by a kernel",
            cts_counted_text(without, "launch that reads", "launches that read").text);
    const struct cts_partition_scale *const s = report->answer->scale;
    if (s && s->idle_slots)
        cts_print_paragraph(file, 2, "Note: partitions without a CTA, summed over launches: %s",
                            cts_count_text(s->idle_slots).text);
    if (p->coarsened_ctas > 1)
        cts_print_paragraph(file, 2,
                            "Note: the graph for 'best-found' has %s neighbouring CTAs per vertex",
                            cts_count_text(p->coarsened_ctas).text);
}

/* ---- the screenful ---- */

static enum cts_status print_sheet(const struct cts_partition_report *report,
                                   enum cts_partition_sheet which,
                                   const struct cts_sheet_rows *rows, FILE *file,
                                   struct cts_error *error)
{
    static const char *const headings[] = {
        [CTS_PARTITION_SHEET_RUN] = "Bytes read over the run",
        [CTS_PARTITION_SHEET_SCALE] = "Traffic between partitions",
        [CTS_PARTITION_SHEET_FIT] = "Traffic against the number of partitions"};
    struct cts_sheet sheet = cts_partition_sheet(report, which);
    sheet.full_names = report->full_names;
    const struct cts_sheet_rows all = cts_sheet_all(&sheet);
    fprintf(file, "\n%s\n", headings[which]);
    return cts_sheet_table(&sheet, rows ? rows : &all, file, error);
}

/* The scales that people look at: powers of two of every mapping, or all when they are few. */
static size_t choose_scales(const struct cts_partition_report *report, size_t *rows)
{
    const struct cts_partition *const p = report->partition;
    const struct cts_partition_scale *const best = report->answer->scale;
    size_t count = 0;
    for (size_t i = 0; i < p->scale_count; i++) {
        const struct cts_partition_scale *const s = &p->scales[i];
        const uint32_t n = s->partition_count;
        const bool is_power = !(n & (n - 1));
        const bool same_mapping = best && s->mapping == best->mapping;
        const bool same_count = best && n == best->partition_count;
        if (p->scale_count <= 12 || same_count || (same_mapping && is_power)) rows[count++] = i;
    }
    return count;
}

enum cts_status cts_partition_print_summary(const struct cts_partition_report *report, FILE *file,
                                            struct cts_error *error)
{
    const struct cts_partition *const p = report->partition;
    fprintf(file, "Partitions of '%s'\n", report->run_path);
    enum cts_status status = cts_partition_print_answer(report, file, error);
    if (status) return status;
    status = print_sheet(report, CTS_PARTITION_SHEET_RUN, NULL, file, error);
    size_t *const rows = calloc(p->scale_count + 1, sizeof *rows);
    if (!rows) return cts_fail(error, CTS_MEMORY, "no memory for a table");
    const struct cts_sheet_rows chosen = {.rows = rows, .count = choose_scales(report, rows)};
    if (!status && chosen.count)
        status = print_sheet(report, CTS_PARTITION_SHEET_SCALE, &chosen, file, error);
    free(rows);
    bool any_fit = false;
    for (size_t i = 0; i < p->mapping_count; i++) any_fit |= p->fits[i].is_known;
    if (!status && any_fit)
        status = print_sheet(report, CTS_PARTITION_SHEET_FIT, NULL, file, error);
    fputc('\n', file);
    cts_print_paragraph(
        file, 7, "Times: link %s GB/s, local memory %s GB/s, %s us per launch, pages of %s",
        cts_real_text(p->options.link_bytes_per_s / 1e9).text,
        cts_real_text(p->options.local_bytes_per_s / 1e9).text,
        cts_real_text(p->options.launch_s * 1e6).text, cts_bytes_text(p->options.page_bytes).text);
    cts_partition_print_notes(report, file);
    cts_print_paragraph(
        file, 6, "More: --per scale, fit, launch, partition, kernel, allocation; --format json");
    return status;
}

/* ---- JSON ---- */

static void write_soundness(struct cts_json *json, const struct cts_partition_report *report)
{
    const struct cts_partition *const p = report->partition;
    cts_json_key(json, "soundness");
    cts_json_open_object(json);
    cts_json_member_bool(json, "lower_bound", p->lower_bound);
    cts_json_member_u64(json, "unrecorded_launches", p->unrecorded_launches);
    cts_json_member_u64(json, "dropped_accesses", p->dropped_accesses);
    cts_json_member_u64(json, "incomplete_files", p->incomplete_files);
    cts_json_gaps(json, &report->catalogue->gaps);
    cts_json_member_u64(json, "unseen_allocations", p->unseen_allocations);
    cts_json_member_u64(json, "unordered_pairs", p->unordered_pairs);
    cts_json_close_object(json);
}

static void write_answer(struct cts_json *json, const struct cts_partition_report *report)
{
    static const char *const verdicts[] = {"no data", "no gain", "gain", "inefficient gain",
                                           "gain without traffic"};
    static const char *const limits[] = {"launches", "traffic", "uneven partitions"};
    const struct cts_partition_answer *const a = report->answer;
    cts_json_key(json, "answer");
    cts_json_open_object(json);
    cts_json_member_string(json, "verdict", verdicts[a->verdict]);
    if (a->scale) {
        cts_json_member_string(json, "mapping", report->partition->mappings[a->scale->mapping]);
        cts_json_member_u64(json, "partitions", a->scale->partition_count);
        cts_json_member_double(json, "no_overlap_speedup", a->scale->time.no_overlap_speedup);
        cts_json_member_string(json, "limited_by", limits[a->limit]);
        cts_json_member_double(json, "limit_s", a->limit_s);
        cts_json_member_double(json, "full_overlap_speedup", a->scale->time.full_overlap_speedup);
        cts_json_member_bool(json, "mapping_matters", a->mapping_matters);
    }
    cts_json_close_object(json);
}

static void write_options(struct cts_json *json, const struct cts_partition_options *options)
{
    cts_json_key(json, "options");
    cts_json_open_object(json);
    cts_json_member_u64(json, "page_bytes", options->page_bytes);
    cts_json_member_u64(json, "l2_bytes", options->l2_bytes);
    cts_json_member_double(json, "link_bytes_per_s", options->link_bytes_per_s);
    cts_json_member_double(json, "local_bytes_per_s", options->local_bytes_per_s);
    cts_json_member_double(json, "launch_s", options->launch_s);
    cts_json_member_bool(json, "per_stream", options->per_stream);
    cts_json_member_bool(json, "launch_times", options->launch_times);
    cts_json_close_object(json);
}

enum cts_status cts_partition_print_json(const struct cts_partition_report *report, FILE *file,
                                         struct cts_error *error)
{
    struct cts_json json;
    cts_json_begin(&json, file);
    cts_json_open_object(&json);
    cts_json_member_string(&json, "format", "ctascope-partition");
    cts_json_member_u64(&json, "version", 1);
    cts_json_member_string(&json, "run", report->run_path);
    cts_json_member_string(&json, "model",
                           report->partition->options.paper_model ? "paper" : "default");
    cts_json_member_string(&json, "host_activity",
                           cts_catalogue_knows_host(report->catalogue) ? "known" : "unknown");
    write_options(&json, &report->partition->options);
    write_soundness(&json, report);
    write_answer(&json, report);
    for (int which = 0; which < CTS_PARTITION_SHEET_COUNT; which++) {
        const struct cts_sheet sheet = cts_partition_sheet(report, (enum cts_partition_sheet)which);
        const struct cts_sheet_rows rows = cts_sheet_all(&sheet);
        cts_sheet_json(&sheet, &rows, &json);
    }
    cts_json_close_object(&json);
    return cts_json_end(&json, error);
}
