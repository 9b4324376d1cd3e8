/* Every field of every table, and on request every warp record.
 *
 * The catalogue's part goes by the same description of tables that writer and reader use, so that
 * a column cannot be forgotten. Records are printed as they are decoded, chunk by chunk. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/walk.h"
#include "cli/dump-timeline.h"
#include "cli/open-recording.h"
#include "cli/shared-options.h"
#include "cli/verb.h"
#include "common/json.h"
#include "common/progress.h"
#include "common/text-table.h"
#include "trace/access.h"
#include "trace/box.h"
#include "trace/catalogue-tables.h"

enum form { FORM_TABLE, FORM_JSON, FORM_CSV };

enum { CELL_COLUMNS_MAX = 120 }; /* of a text in a table; JSON and CSV have all of it */

/* ---- the catalogue's tables ---- */

/* A number as people read it; in JSON and CSV sizes and times stay plain numbers. */
static void number_text(const struct cts_table_column *column, const void *row, char *text,
                        size_t text_bytes)
{
    const uint64_t number = cts_column_number(column, row);
    switch ((enum cts_column_unit)column->unit) {
    case CTS_UNIT_ADDRESS:
        snprintf(text, text_bytes, "0x%" PRIx64, number);
        return;
    case CTS_UNIT_OPERATION:
        snprintf(text, text_bytes, "%s", number ? cts_operation_text((unsigned)number) : "");
        return;
    case CTS_UNIT_SPACE:
        snprintf(text, text_bytes, "%s", cts_space_text((unsigned)number));
        return;
    case CTS_UNIT_NUMBER:
    case CTS_UNIT_BYTES:
    case CTS_UNIT_NS:
        break;
    }
    if (column->type == CTS_COLUMN_I32 || column->type == CTS_COLUMN_I64)
        snprintf(text, text_bytes, "%" PRId64, (int64_t)number);
    else
        snprintf(text, text_bytes, "%" PRIu64, number);
}

static bool is_word(const struct cts_table_column *column)
{
    return column->unit == CTS_UNIT_ADDRESS || column->unit == CTS_UNIT_OPERATION ||
           column->unit == CTS_UNIT_SPACE;
}

static void table_cell(struct cts_text_table *out, const struct cts_table_column *column,
                       const void *row)
{
    char text[32];
    if (cts_column_is_null(column, row)) {
        cts_text_table_cell(out, "-");
    } else if (column->type != CTS_COLUMN_TEXT) {
        number_text(column, row, text, sizeof text);
        cts_text_table_cell(out, "%s", text);
    } else {
        const char *const value = cts_column_text(column, row);
        const size_t length = strlen(value);
        if (length <= CELL_COLUMNS_MAX && !strchr(value, '\n'))
            cts_text_table_cell(out, "%s", value);
        else
            cts_text_table_cell(out, "%.*s... (%zu bytes)",
                                (int)(strcspn(value, "\n") < 40 ? strcspn(value, "\n") : 40), value,
                                length);
    }
}

static enum cts_status dump_as_table(const struct cts_catalogue *catalogue, enum cts_table_id table,
                                     uint64_t limit, struct cts_error *error)
{
    const struct cts_table *const t = &cts_tables[table];
    const size_t count = cts_catalogue_row_count(catalogue, table);
    struct cts_text_table out = {.indent = 2};
    if (cts_colours_wanted(stdout)) {
        out.title_start = "\033[1m";
        out.title_end = "\033[0m";
    }
    for (unsigned c = 0; c < t->column_count; c++)
        cts_text_table_column(&out, t->columns[c].name,
                              t->columns[c].type == CTS_COLUMN_TEXT ||
                                      t->columns[c].unit == CTS_UNIT_OPERATION ||
                                      t->columns[c].unit == CTS_UNIT_SPACE
                                  ? CTS_LEFT
                                  : CTS_RIGHT);
    for (size_t i = 0; i < count && i < limit; i++)
        for (unsigned c = 0; c < t->column_count; c++)
            table_cell(&out, &t->columns[c], cts_catalogue_row(catalogue, table, i));
    printf("%s: %s\n", t->name, cts_counted_text(count, "row", "rows").text);
    const enum cts_status status = count ? cts_text_table_print(&out, stdout, error) : CTS_OK;
    if (count > limit) printf("  ... %zu more\n", count - (size_t)limit);
    cts_text_table_release(&out);
    return status;
}

static void json_value(struct cts_json *json, const struct cts_table_column *column,
                       const void *row)
{
    char text[32];
    if (cts_column_is_null(column, row)) {
        cts_json_null(json);
    } else if (column->type == CTS_COLUMN_TEXT) {
        cts_json_string(json, cts_column_text(column, row));
    } else if (column->type == CTS_COLUMN_BOOL) {
        cts_json_bool(json, cts_column_number(column, row) != 0);
    } else if (is_word(column)) {
        number_text(column, row, text, sizeof text);
        cts_json_string(json, text);
    } else if (column->type == CTS_COLUMN_I32 || column->type == CTS_COLUMN_I64) {
        cts_json_i64(json, (int64_t)cts_column_number(column, row));
    } else {
        cts_json_u64(json, cts_column_number(column, row));
    }
}

static void dump_as_json(struct cts_json *json, const struct cts_catalogue *catalogue,
                         enum cts_table_id table, uint64_t limit)
{
    const struct cts_table *const t = &cts_tables[table];
    const size_t count = cts_catalogue_row_count(catalogue, table);
    cts_json_key(json, t->name);
    cts_json_open_array(json);
    for (size_t i = 0; i < count && i < limit; i++) {
        cts_json_open_object_row(json);
        for (unsigned c = 0; c < t->column_count; c++) {
            cts_json_key(json, t->columns[c].name);
            json_value(json, &t->columns[c], cts_catalogue_row(catalogue, table, i));
        }
        cts_json_close_object(json);
    }
    cts_json_close_array(json);
}

static void dump_as_csv(const struct cts_catalogue *catalogue, enum cts_table_id table,
                        uint64_t limit)
{
    const struct cts_table *const t = &cts_tables[table];
    const size_t count = cts_catalogue_row_count(catalogue, table);
    for (unsigned c = 0; c < t->column_count; c++) printf("%s%s", c ? "," : "", t->columns[c].name);
    putchar('\n');
    for (size_t i = 0; i < count && i < limit; i++) {
        const void *const row = cts_catalogue_row(catalogue, table, i);
        for (unsigned c = 0; c < t->column_count; c++) {
            const struct cts_table_column *const column = &t->columns[c];
            char text[32];
            if (c) putchar(',');
            if (cts_column_is_null(column, row)) continue;
            if (column->type == CTS_COLUMN_TEXT) {
                cts_csv_field(stdout, cts_column_text(column, row));
            } else {
                number_text(column, row, text, sizeof text);
                fputs(text, stdout);
            }
        }
        putchar('\n');
    }
}

/* ---- the keys of table run ---- */

static void dump_keys(const struct cts_catalogue *catalogue, enum form form, struct cts_json *json)
{
    const size_t count = cts_catalogue_key_count(catalogue);
    if (form == FORM_TABLE) printf("run: %s\n", cts_counted_text(count, "row", "rows").text);
    if (form == FORM_CSV) puts("key,value");
    if (form == FORM_JSON) {
        cts_json_key(json, "run");
        cts_json_open_object(json);
    }
    for (size_t i = 0; i < count; i++) {
        const char *value;
        const char *const key = cts_catalogue_key(catalogue, i, &value);
        if (form == FORM_TABLE) {
            printf("  %-18s ", key);
            cts_print_plain(stdout, value);
            putchar('\n');
        } else if (form == FORM_JSON) {
            cts_json_member_string(json, key, value);
        } else {
            cts_csv_field(stdout, key);
            putchar(',');
            cts_csv_field(stdout, value);
            putchar('\n');
        }
    }
    if (form == FORM_JSON) cts_json_close_object(json);
}

static enum cts_status dump_catalogue(const struct cts_arguments *arguments,
                                      const struct cts_catalogue *catalogue, enum form form,
                                      uint64_t limit, struct cts_error *error)
{
    const char *const only = cts_argument(arguments, "table");
    struct cts_json json;
    enum cts_status status = CTS_OK;
    cts_json_begin(&json, stdout);
    if (form == FORM_JSON) cts_json_open_object(&json);
    if (!only || strcmp(only, "run") == 0) {
        if (form == FORM_CSV && !only) puts("# run");
        dump_keys(catalogue, form, &json);
    }
    for (unsigned t = 0; !status && t < CTS_TABLE_COUNT; t++) {
        if (only && strcmp(only, cts_tables[t].name) != 0) continue;
        if (form == FORM_CSV && !only) printf("\n# %s\n", cts_tables[t].name);
        if (form == FORM_CSV) dump_as_csv(catalogue, t, limit);
        if (form == FORM_JSON) dump_as_json(&json, catalogue, t, limit);
        if (form == FORM_TABLE) {
            if (!only) putchar('\n');
            status = dump_as_table(catalogue, t, limit, error);
        }
    }
    if (form == FORM_JSON) {
        cts_json_close_object(&json);
        if (!status) status = cts_json_end(&json, error);
    }
    return status;
}

/* ---- warp records ---- */

struct record_dump {
    const struct cts_catalogue *catalogue;
    enum form form;
    bool lanes; /* a line per lane instead of per record */
    bool has_launch, has_cta;
    uint64_t launch, cta;
    uint64_t limit, printed;
    struct cts_json json;
};

static const char *const pattern_texts[] = {
    [CTS_PATTERN_UNIFORM] = "uniform",
    [CTS_PATTERN_AFFINE] = "affine",
    [CTS_PATTERN_TWO_LEVEL] = "two-level",
    [CTS_PATTERN_LIST] = "list",
};

static const struct cts_site *site_of(const struct cts_catalogue *catalogue, uint32_t site)
{
    static const struct cts_site unknown = {0};
    return site < catalogue->site_count ? &catalogue->sites[site] : &unknown;
}

static const char *operation_of(const struct cts_site *site)
{
    return site->operation ? cts_operation_text(site->operation) : "?";
}

static void record_heading(const struct record_dump *dump)
{
    const bool csv = dump->form == FORM_CSV;
    fputs(csv ? "launch,cta,warp,site,operation,space,width_bytes"
              : "launch     cta  warp   site  operation    space     width",
          stdout);
    if (dump->lanes)
        puts(csv ? ",lane,address,value" : "  lane  address         value");
    else
        puts(csv ? ",mask,pattern,base,s0,s1,row_lanes,offsets"
                 : "  mask        pattern    base                s0      s1  row_lanes  offsets");
}

/* What a record and each of its lanes begin with. */
static void record_head(const struct record_dump *dump, const struct cts_access *access,
                        const struct cts_site *site)
{
    if (dump->form == FORM_CSV)
        printf("%u,%u,%u,%u,%s,%s,%u", access->launch, access->cta, access->warp, access->site,
               operation_of(site), cts_space_text(access->space), site->width_bytes);
    else
        printf("%6u  %6u  %4u  %5u  %-11s  %-8s  %5u", access->launch, access->cta, access->warp,
               access->site, operation_of(site), cts_space_text(access->space), site->width_bytes);
}

static void print_record_line(const struct record_dump *dump, const struct cts_access *access,
                              const struct cts_site *site)
{
    record_head(dump, access, site);
    if (dump->form == FORM_CSV)
        printf(",0x%08x,%s,0x%" PRIx64 ",%d,%d,%u,", access->mask, pattern_texts[access->pattern],
               access->base, access->s0, access->s1, access->row_lanes);
    else
        printf("  0x%08x  %-9s  0x%-12" PRIx64 "  %6d  %6d  %9u%s", access->mask,
               pattern_texts[access->pattern], access->base, access->s0, access->s1,
               access->row_lanes, access->offsets ? "  " : "");
    const int lanes = __builtin_popcount(access->mask);
    for (int i = 0; access->offsets && i < lanes; i++)
        printf("%s%u", i ? " " : "", access->offsets[i]);
    putchar('\n');
}

/* "extents x ... rows", and how far they are apart. */
static void print_box_line(const struct record_dump *dump, const struct cts_access *access,
                           const struct cts_site *site)
{
    const struct cts_box box = cts_box_get(access->box_words);
    record_head(dump, access, site);
    if (dump->form == FORM_CSV)
        printf(",0x%08x,box,0x%" PRIx64 ",0,0,0,", UINT32_C(1) << access->box_lane, access->base);
    else
        printf("  0x%08x  %-9s  0x%-12" PRIx64 "  %6d  %6d  %9u  ", UINT32_C(1) << access->box_lane,
               "box", access->base, 0, 0, 0);
    for (unsigned d = 0; d < CTS_BOX_DIMENSIONS; d++)
        printf("%s%u*%" PRIu64, d ? " " : "", box.extents[d], box.strides[d]);
    if (box.multicast) printf(" multicast 0x%x", box.multicast);
    putchar('\n');
}

static void print_value(const uint64_t *words, unsigned word_count)
{
    for (unsigned w = 0; w < word_count; w++) printf("%s0x%" PRIx64, w ? " " : "", words[w]);
}

static void print_lane_lines(struct record_dump *dump, const struct cts_access *access,
                             const struct cts_site *site)
{
    uint64_t addresses[CTS_WARP_LANES];
    cts_access_addresses(access, addresses);
    unsigned active = 0;
    for (unsigned lane = 0; lane < CTS_WARP_LANES && dump->printed < dump->limit; lane++) {
        if (!(access->mask >> lane & 1)) continue;
        record_head(dump, access, site);
        printf(dump->form == FORM_CSV ? ",%u,0x%" PRIx64 "," : "  %4u  0x%-12" PRIx64, lane,
               addresses[lane]);
        if (access->values && dump->form != FORM_CSV) fputs("  ", stdout);
        if (access->values)
            print_value(access->values + active * access->value_words, access->value_words);
        putchar('\n');
        active++;
        dump->printed++;
    }
}

static void json_lanes(struct cts_json *json, const struct cts_access *access)
{
    uint64_t addresses[CTS_WARP_LANES];
    cts_access_addresses(access, addresses);
    cts_json_key(json, "lanes");
    cts_json_open_array(json);
    unsigned active = 0;
    for (unsigned lane = 0; lane < CTS_WARP_LANES; lane++) {
        if (!(access->mask >> lane & 1)) continue;
        cts_json_open_object(json);
        cts_json_member_u64(json, "lane", lane);
        cts_json_member_hex(json, "address", addresses[lane]);
        if (access->values) {
            cts_json_key(json, "value");
            cts_json_open_array(json);
            for (unsigned w = 0; w < access->value_words; w++)
                cts_json_hex(json, access->values[active * access->value_words + w]);
            cts_json_close_array(json);
        }
        cts_json_close_object(json);
        active++;
    }
    cts_json_close_array(json);
}

static void json_box(struct cts_json *json, const struct cts_access *access)
{
    const struct cts_box box = cts_box_get(access->box_words);
    cts_json_key(json, "extents");
    cts_json_open_array(json);
    for (unsigned d = 0; d < CTS_BOX_DIMENSIONS; d++) cts_json_u64(json, box.extents[d]);
    cts_json_close_array(json);
    cts_json_key(json, "strides");
    cts_json_open_array(json);
    for (unsigned d = 0; d < CTS_BOX_DIMENSIONS; d++) cts_json_u64(json, box.strides[d]);
    cts_json_close_array(json);
    if (box.multicast) cts_json_member_hex(json, "multicast", box.multicast);
}

static void print_record_json(struct record_dump *dump, const struct cts_access *access,
                              const struct cts_site *site)
{
    struct cts_json *const json = &dump->json;
    cts_json_open_object_row(json);
    cts_json_member_u64(json, "launch", access->launch);
    cts_json_member_u64(json, "cta", access->cta);
    cts_json_member_u64(json, "warp", access->warp);
    cts_json_member_u64(json, "site", access->site);
    cts_json_member_string(json, "operation", operation_of(site));
    cts_json_member_string(json, "space", cts_space_text(access->space));
    cts_json_member_u64(json, "width_bytes", site->width_bytes);
    const bool is_box = access->box && !dump->lanes;
    cts_json_member_u64(json, "mask", is_box ? UINT32_C(1) << access->box_lane : access->mask);
    cts_json_member_string(json, "pattern", is_box ? "box" : pattern_texts[access->pattern]);
    cts_json_member_hex(json, "base", access->base);
    if (is_box) {
        json_box(json, access);
    } else {
        cts_json_member_i64(json, "s0", access->s0);
        cts_json_member_i64(json, "s1", access->s1);
        cts_json_member_u64(json, "row_lanes", access->row_lanes);
    }
    if (access->offsets) {
        cts_json_key(json, "offsets");
        cts_json_open_array(json);
        const int lanes = __builtin_popcount(access->mask);
        for (int i = 0; i < lanes; i++) cts_json_u64(json, access->offsets[i]);
        cts_json_close_array(json);
    }
    if (dump->lanes) json_lanes(json, access);
    cts_json_close_object(json);
}

static enum cts_status dump_run(void *state, unsigned thread, void *cta_state,
                                const struct cts_walk_run *run, struct cts_error *error)
{
    struct record_dump *const dump = state;
    (void)thread;
    (void)cta_state;
    (void)error;
    for (size_t i = run->begin; i < run->end && dump->printed < dump->limit; i++) {
        const struct cts_access access = cts_acc_record(run->batch, i);
        const struct cts_site *const site = site_of(dump->catalogue, access.site);
        if (access.box == CTS_BOX_CONTINUES && !dump->lanes) continue; /* its first record tells */
        if (dump->form != FORM_JSON && dump->lanes) {
            print_lane_lines(dump, &access, site);
            continue;
        }
        if (dump->form == FORM_JSON)
            print_record_json(dump, &access, site);
        else if (access.box)
            print_box_line(dump, &access, site);
        else
            print_record_line(dump, &access, site);
        dump->printed++;
    }
    return CTS_OK;
}

static bool has_printed_enough(const void *state)
{
    const struct record_dump *const dump = state;
    return dump->printed >= dump->limit;
}

/* A launch that the catalogue does not have may have any CTAs. */
static enum cts_status dump_launch(struct record_dump *dump, struct cts_walk *walk,
                                   const struct cts_access_source *source, uint32_t launch,
                                   struct cts_error *error)
{
    const struct cts_launch *const row = cts_catalogue_launch(dump->catalogue, launch);
    uint64_t cta_count = UINT64_C(1) << 32;
    if (row && cts_walk_count_ctas(row, &cta_count, error)) return error->status;
    struct cts_walk_scope scope = cts_walk_scope_of(source, launch, cta_count);
    if (dump->has_cta) {
        scope.first_cta = dump->cta;
        scope.end_cta = dump->cta + 1;
    }
    return cts_walk_launch(walk, &scope, dump, error);
}

static enum cts_status dump_launches(struct record_dump *dump, const struct cts_acc_reader *reader,
                                     struct cts_error *error)
{
    static const struct cts_walk_ops ops = {
        .takes_parts = true, .record = dump_run, .is_enough = has_printed_enough};
    const struct cts_access_source source = cts_access_source_of(reader);
    const struct cts_walk_options options = {.source = &source, .ops = &ops, .threads = 1};
    struct cts_walk *walk;
    enum cts_status status = cts_walk_new(&options, &walk, error);
    for (size_t i = 0, end; !status && i < source.chunk_count; i = end) {
        const uint32_t launch = source.chunks[i].launch;
        for (end = i + 1; end < source.chunk_count && source.chunks[end].launch == launch;) end++;
        if (dump->has_launch && launch != dump->launch) continue;
        status = dump_launch(dump, walk, &source, launch, error);
    }
    cts_walk_free(walk);
    return status;
}

static enum cts_status dump_records(struct record_dump *dump, const struct cts_acc_reader *reader,
                                    struct cts_error *error)
{
    cts_json_begin(&dump->json, stdout);
    if (dump->form == FORM_JSON)
        cts_json_open_array(&dump->json);
    else
        record_heading(dump);
    enum cts_status status = dump_launches(dump, reader, error);
    if (dump->form == FORM_JSON) {
        cts_json_close_array(&dump->json);
        if (!status) status = cts_json_end(&dump->json, error);
    }
    const size_t incomplete = cts_acc_incomplete_count(reader);
    if (!status && incomplete)
        fprintf(stderr, "ctascope dump: %s incomplete: the program ended early\n",
                cts_counted_text(incomplete, "access file is", "access files are").text);
    return status;
}

/* ---- the verb ---- */

static bool optional_number(const struct cts_arguments *arguments, const char *name, bool *given,
                            uint64_t *value)
{
    *given = cts_argument_given(arguments, name);
    return !*given || cts_argument_u64(arguments, name, value);
}

static int run_dump(const struct cts_arguments *arguments)
{
    const char *const run_path = arguments->positional[0];
    const char *const format = cts_argument(arguments, "format");
    struct cts_recording recording;
    struct cts_error error;
    const struct cts_catalogue *const catalogue = &recording.catalogue;
    struct record_dump dump = {.catalogue = catalogue, .limit = UINT64_MAX};
    bool has_limit;
    if (cts_argument_given(arguments, "timeline")) return cts_dump_timeline(arguments);
    if (cts_argument_given(arguments, "check") || cts_argument_given(arguments, "location"))
        return cts_usage_error(arguments, "--check and --location need --timeline");
    if (format) dump.form = format[0] == 'j' ? FORM_JSON : format[0] == 'c' ? FORM_CSV : FORM_TABLE;
    dump.lanes = cts_argument_given(arguments, "lanes");
    if (!optional_number(arguments, "limit", &has_limit, &dump.limit) ||
        !optional_number(arguments, "launch", &dump.has_launch, &dump.launch) ||
        !optional_number(arguments, "cta", &dump.has_cta, &dump.cta))
        return CTS_EXIT_USAGE;
    if (!dump.limit) dump.limit = UINT64_MAX;
    const bool accesses = cts_argument_given(arguments, "accesses");
    if (!accesses && (dump.lanes || dump.has_launch || dump.has_cta))
        return cts_usage_error(arguments, "--launch, --cta and --lanes need --accesses");
    enum cts_status status = cts_recording_open(run_path, &recording, &error);
    if (status) return cts_report_error(arguments, &error);
    if (accesses && dump.has_launch &&
        (dump.launch > UINT32_MAX || !cts_catalogue_launch(catalogue, (uint32_t)dump.launch)))
        status = cts_fail(&error, CTS_USAGE, "'%s' has no launch %" PRIu64, run_path, dump.launch);
    else if (accesses && !(status = cts_recording_need_accesses(&recording, &error)))
        status = dump_records(&dump, recording.reader, &error);
    else if (!accesses)
        status = dump_catalogue(arguments, catalogue, dump.form, dump.limit, &error);
    if (!status) cts_cli_tell_gaps(arguments->verb, run_path, &catalogue->gaps);
    cts_recording_close(&recording);
    return status ? cts_report_error(arguments, &error) : CTS_EXIT_OK;
}

static const struct cts_option dump_options[] = {
    {.name = "table",
     .argument = "run|ranks|devices|modules|sources|kernels|sites|variables|skipped|streams|"
                 "launches|copies|allocations|syncs|calls|host_functions|"
                 "thread_order|graph_nodes|graph_edges|host_accesses|cta_sms|clusters|"
                 "launch_pointers|tensor_maps|padded_types|fingerprints|endings|faults|access_"
                 "files|messages|"
                 "files|checksums",
     .help = "print one table of the catalogue"},
    {.name = "accesses", .help = "print the warp records instead of the catalogue"},
    {.name = "launch",
     .argument = "N",
     .help = "with --accesses: print only this launch (its id; default: all)"},
    {.name = "cta",
     .argument = "N",
     .help = "with --accesses: print only this CTA (its linear index; default: all)"},
    {.name = "lanes", .help = "with --accesses: print the address (and value) of every lane"},
    {.name = "timeline",
     .help = "print the events of the timeline, of a run or of an .otf2 file (TRACE)"},
    {.name = "location",
     .argument = "N",
     .help = "with --timeline: print only this location (its index; default: all)"},
    {.name = "check", .help = "with --timeline: check times, nesting and messages"},
    {.name = "limit",
     .argument = "N",
     .help = "print at most N rows of a table, records, lanes or events; 0: all (default: all)"},
    CTS_OPTION_FORMAT("table|json|csv"),
    CTS_OPTION_MEMORY_LIMIT,
    {0},
};

const struct cts_verb cts_verb_dump = {
    .name = "dump",
    .synopsis = "RUN|TRACE [--table NAME | --accesses | --timeline [--check]] [OPTIONS]",
    .summary = "Prints every field of a run",
    .description =
        "Without --accesses, prints the tables of the catalogue; docs/catalogue.md explains the\n"
        "columns. With --accesses, prints the warp records: the mask of active lanes and their\n"
        "addresses as a pattern, which --lanes expands. Tables truncate long text; JSON and CSV "
        "have\n"
        "everything. Sizes are in bytes, times in ns.",
    .options = dump_options,
    .positional_min = 1,
    .positional_max = 1,
    .run = run_dump,
};
