#include "cli/info-timeline.h"

#include "common/progress.h"
#include "common/text-table.h"
#include "common/wrapped-text.h"
#include "report/gaps-report.h"

static uint32_t count_kind(const struct cts_timeline *t, enum cts_location_kind kind)
{
    uint32_t count = 0;
    for (size_t i = 0; i < t->location_count; i++) count += t->locations[i].kind == kind;
    return count;
}

static uint32_t process_count(const struct cts_timeline *t)
{
    uint32_t count = 0;
    for (size_t i = 0; i < t->group_count; i++) count += !t->groups[i].accelerator;
    return count;
}

static enum cts_status print_kinds(const struct cts_timeline_counts *counts,
                                   struct cts_error *error)
{
    struct cts_text_table table = {.indent = 2};
    cts_text_table_column(&table, "event", CTS_LEFT);
    cts_text_table_column(&table, "count", CTS_RIGHT);
    for (int kind = 0; kind < CTS_EVENT_KIND_COUNT; kind++) {
        if (!counts->kinds[kind]) continue;
        cts_text_table_cell(&table, "%s", cts_timeline_event_names[kind]);
        cts_text_table_cell(&table, "%s", cts_count_text(counts->kinds[kind]).text);
    }
    const enum cts_status status = cts_text_table_print(&table, stdout, error);
    cts_text_table_release(&table);
    return status;
}

/* Counts, and names what turns out damaged meanwhile. */
static enum cts_status count(struct cts_timeline *t, struct cts_timeline_counts *counts,
                             struct cts_gaps *damage, struct cts_error *error)
{
    const struct cts_gaps before = t->gaps;
    const enum cts_status status = cts_cli_count_timeline(t, counts, error);
    cts_timeline_name_damage(t);
    *damage = cts_gaps_since(&t->gaps, &before);
    return status;
}

enum cts_status cts_info_timeline_table(struct cts_timeline *t, struct cts_error *error)
{
    struct cts_timeline_counts counts;
    struct cts_gaps damage;
    const enum cts_status status = count(t, &counts, &damage, error);
    if (status) return status;
    printf("\nTimeline\n");
    printf("  %-13s %s\n", "duration", cts_time_text(counts.last_ns - counts.first_ns).text);
    cts_print_paragraph(
        stdout, 16, "  %-13s %u, with %s and %s", "processes", process_count(t),
        cts_counted_text(count_kind(t, CTS_LOCATION_THREAD), "thread", "threads").text,
        cts_counted_text(count_kind(t, CTS_LOCATION_STREAM), "stream", "streams").text);
    printf("  %-13s %s\n", "events", cts_count_text(counts.events).text);
    if (t->creator && *t->creator) {
        printf("  %-13s ", "written by");
        cts_print_plain(stdout, t->creator);
        putchar('\n');
    }
    for (size_t i = 0; i < t->warning_count; i++) {
        printf("  %-13s ", "WARNING");
        cts_print_plain(stdout, t->warnings[i].text);
        printf(" (%s)\n", cts_count_text(t->warnings[i].count).text);
    }
    cts_print_gaps(&damage, "  DAMAGED       ", stdout);
    return print_kinds(&counts, error);
}

enum cts_status cts_info_timeline_json(struct cts_timeline *t, struct cts_json *json,
                                       struct cts_error *error)
{
    struct cts_timeline_counts counts;
    struct cts_gaps damage;
    const enum cts_status status = count(t, &counts, &damage, error);
    if (status) return status;
    cts_json_key(json, "timeline");
    cts_json_open_object(json);
    cts_json_member_string(json, "creator", t->creator);
    cts_json_member_u64(json, "processes", process_count(t));
    cts_json_member_u64(json, "locations", t->location_count);
    cts_json_member_u64(json, "threads", count_kind(t, CTS_LOCATION_THREAD));
    cts_json_member_u64(json, "streams", count_kind(t, CTS_LOCATION_STREAM));
    cts_json_member_u64(json, "events", counts.events);
    cts_json_member_u64(json, "first_ns", counts.first_ns);
    cts_json_member_u64(json, "last_ns", counts.last_ns);
    cts_json_member_u64(json, "damaged_locations", counts.damaged_locations);
    cts_json_key(json, "damaged");
    cts_json_open_array(json);
    cts_json_gap_lines(json, &damage);
    cts_json_close_array(json);
    cts_json_key(json, "kinds");
    cts_json_open_object(json);
    for (int kind = 0; kind < CTS_EVENT_KIND_COUNT; kind++)
        if (counts.kinds[kind])
            cts_json_member_u64(json, cts_timeline_event_names[kind], counts.kinds[kind]);
    cts_json_close_object(json);
    cts_json_key(json, "warnings");
    cts_json_open_array(json);
    for (size_t i = 0; i < t->warning_count; i++) {
        cts_json_open_object_row(json);
        cts_json_member_string(json, "text", t->warnings[i].text);
        cts_json_member_u64(json, "count", t->warnings[i].count);
        cts_json_close_object(json);
    }
    cts_json_close_array(json);
    cts_json_close_object(json);
    return CTS_OK;
}
