#include "report/gaps.h"

#include "common/text-table.h"

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
