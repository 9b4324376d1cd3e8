#include "report/gaps-report.h"

#include "common/text-table.h"
#include "common/wrapped-text.h"

/* The line of totals; false: there is none. */
static bool totals_text(const struct cts_gaps *gaps, char *text, size_t text_bytes)
{
    if (!gaps->records && !gaps->accesses) return false;
    snprintf(text, text_bytes, "%s with %s of %s were recorded but are missing",
             cts_counted_text(gaps->records, "record", "records").text,
             cts_counted_text(gaps->accesses, "access", "accesses").text,
             cts_counted_text(gaps->launches, "launch", "launches").text);
    return true;
}

static bool more_text(const struct cts_gaps *gaps, char *text, size_t text_bytes)
{
    if (gaps->count == gaps->named_count) return false;
    snprintf(text, text_bytes, "%s more",
             cts_counted_text(gaps->count - gaps->named_count, "thing", "things").text);
    return true;
}

void cts_print_gaps(const struct cts_gaps *gaps, const char *prefix, FILE *file)
{
    char text[400];
    for (size_t i = 0; i < gaps->named_count; i++) {
        fputs(prefix, file);
        cts_print_plain(file, gaps->texts[i]);
        fputc('\n', file);
    }
    if (more_text(gaps, text, sizeof text)) fprintf(file, "%s%s\n", prefix, text);
    if (totals_text(gaps, text, sizeof text)) fprintf(file, "%s%s\n", prefix, text);
}

void cts_print_losses(const struct cts_losses *losses, const struct cts_gaps *gaps, FILE *file)
{
    if (losses->unrecorded_launches)
        cts_print_paragraph(
            file, 2, "%s: %s not fully recorded%s", losses->is_lower_bound ? "LOWER BOUND" : "Note",
            cts_counted_text(losses->unrecorded_launches, "launch was", "launches were").text,
            losses->is_lower_bound && losses->hides_writers ? ", so last writers may be missing"
                                                            : "");
    else if (losses->is_lower_bound)
        cts_print_paragraph(file, 2, "LOWER BOUND: recorded data is missing or damaged");
    cts_print_gaps(gaps, "Missing: ", file);
    if (losses->dropped_accesses)
        cts_print_paragraph(
            file, 2, "Note: %s dropped by the recorder",
            cts_counted_text(losses->dropped_accesses, "access was", "accesses were").text);
    if (losses->incomplete_files)
        cts_print_paragraph(
            file, 2, "Note: %s truncated: %sthe program ended early or is still running",
            cts_counted_text(losses->incomplete_files, "access file is", "access files are").text,
            losses->dropped_accesses ? "the recorder had no room for more, or " : "");
}

void cts_print_attribution(bool is_paper_model, bool knows_host, FILE *file)
{
    if (is_paper_model)
        cts_print_paragraph(file, 2,
                            "Note: paper model: copies and frees are ignored; data that no kernel "
                            "wrote is attributed to the host");
    if (!knows_host)
        cts_print_paragraph(file, 2,
                            "Note: imported trace: copies and allocations are unknown; data "
                            "without a known writer may be the host's");
}

void cts_json_gap_lines(struct cts_json *json, const struct cts_gaps *gaps)
{
    char text[400];
    for (size_t i = 0; i < gaps->named_count; i++) cts_json_string(json, gaps->texts[i]);
    if (more_text(gaps, text, sizeof text)) cts_json_string(json, text);
    if (totals_text(gaps, text, sizeof text)) cts_json_string(json, text);
}

void cts_json_gaps(struct cts_json *json, const struct cts_gaps *gaps)
{
    cts_json_key(json, "missing");
    cts_json_open_array(json);
    cts_json_gap_lines(json, gaps);
    cts_json_close_array(json);
}
