/* What this machine can record, and why not: the parts that there are, the recorders and whether
 * they work, and what to install for those that lack a part. */
#include <stdio.h>
#include <string.h>

#include "doctor/doctor.h"
#include "cli/verb.h"
#include "common/json.h"
#include "common/progress.h"
#include "common/text-table.h"
#include "cli/shared-options.h"

static void set_colours(struct cts_text_table *table)
{
    if (!cts_colours_wanted(stdout)) return;
    table->title_start = "\033[1m";
    table->title_end = "\033[0m";
}

static enum cts_status print_parts(const struct cts_doctor *doctor, struct cts_error *error)
{
    struct cts_text_table table = {0};
    set_colours(&table);
    cts_text_table_column(&table, "part", CTS_LEFT);
    cts_text_table_column(&table, "", CTS_LEFT);
    cts_text_table_column(&table, "for", CTS_LEFT);
    cts_text_table_column(&table, "version or place", CTS_LEFT);
    for (size_t i = 0; i < doctor->part_count; i++) {
        const struct cts_doctor_part *const part = &doctor->parts[i];
        cts_text_table_cell(&table, "%s", part->name);
        cts_text_table_cell(&table, "%s",
                            part->found    ? "found"
                            : part->needed ? "MISSING"
                                           : "absent");
        cts_text_table_cell(&table, "%s", part->purpose);
        cts_text_table_cell(&table, "%s", part->detail);
    }
    const enum cts_status status = cts_text_table_print(&table, stdout, error);
    cts_text_table_release(&table);
    return status;
}

static const char *verdict(const struct cts_doctor_recorder *recorder)
{
    return recorder->works      ? recorder->tested ? "works" : "possible"
           : recorder->possible ? "FAILS"
                                : "not here";
}

static enum cts_status print_recorders(const struct cts_doctor *doctor, struct cts_error *error)
{
    struct cts_text_table table = {0};
    set_colours(&table);
    putchar('\n');
    cts_text_table_column(&table, "recorder", CTS_LEFT);
    cts_text_table_column(&table, "", CTS_LEFT);
    cts_text_table_column(&table, "self-test", CTS_LEFT);
    for (size_t i = 0; i < doctor->recorder_count; i++) {
        const struct cts_doctor_recorder *const recorder = &doctor->recorders[i];
        cts_text_table_cell(&table, "%s", recorder->name);
        cts_text_table_cell(&table, "%s", verdict(recorder));
        cts_text_table_cell(&table, "%s", recorder->outcome);
    }
    const enum cts_status status = cts_text_table_print(&table, stdout, error);
    cts_text_table_release(&table);
    return status;
}

static enum cts_status print_remedies(const struct cts_doctor *doctor, struct cts_error *error)
{
    struct cts_text_table table = {.indent = 2};
    cts_text_table_column(&table, "absent", CTS_LEFT);
    cts_text_table_column(&table, "what it needs", CTS_LEFT);
    bool any = false;
    for (size_t i = 0; i < doctor->part_count; i++) {
        const struct cts_doctor_part *const part = &doctor->parts[i];
        if (part->found) continue;
        if (!any) printf("\nTo install the absent parts:\n");
        any = true;
        cts_text_table_cell(&table, "%s", part->name);
        cts_text_table_cell(&table, "%s", part->remedy);
    }
    const enum cts_status status = any ? cts_text_table_print(&table, stdout, error) : CTS_OK;
    cts_text_table_release(&table);
    return status;
}

static enum cts_status render_table(const struct cts_doctor *doctor, struct cts_error *error)
{
    enum cts_status status = print_parts(doctor, error);
    if (!status) status = print_recorders(doctor, error);
    return status ? status : print_remedies(doctor, error);
}

static void render_parts(const struct cts_doctor *doctor, struct cts_json *json)
{
    cts_json_key(json, "parts");
    cts_json_open_array(json);
    for (size_t i = 0; i < doctor->part_count; i++) {
        const struct cts_doctor_part *const part = &doctor->parts[i];
        cts_json_open_object_row(json);
        cts_json_member_string(json, "name", part->name);
        cts_json_member_bool(json, "found", part->found);
        cts_json_member_bool(json, "needed", part->needed);
        cts_json_member_string(json, "purpose", part->purpose);
        cts_json_member_string(json, "detail", part->detail);
        cts_json_member_string(json, "remedy", part->found ? NULL : part->remedy);
        cts_json_close_object(json);
    }
    cts_json_close_array(json);
}

static enum cts_status render_json(const struct cts_doctor *doctor, struct cts_error *error)
{
    struct cts_json json;
    cts_json_begin(&json, stdout);
    cts_json_open_object(&json);
    cts_json_member_string(&json, "ctascope_version", CTASCOPE_VERSION);
    render_parts(doctor, &json);
    cts_json_key(&json, "recorders");
    cts_json_open_array(&json);
    for (size_t i = 0; i < doctor->recorder_count; i++) {
        const struct cts_doctor_recorder *const recorder = &doctor->recorders[i];
        cts_json_open_object_row(&json);
        cts_json_member_string(&json, "name", recorder->name);
        cts_json_member_bool(&json, "possible", recorder->possible);
        cts_json_member_bool(&json, "tested", recorder->tested);
        cts_json_member_bool(&json, "works", recorder->works);
        cts_json_member_string(&json, "outcome", recorder->outcome);
        cts_json_close_object(&json);
    }
    cts_json_close_array(&json);
    cts_json_close_object(&json);
    return cts_json_end(&json, error);
}

/* Something can be recorded, and nothing fails whose parts are there. */
static int exit_status(const struct cts_doctor *doctor)
{
    bool any = false, fails = false;
    for (size_t i = 0; i < doctor->recorder_count; i++) {
        any = any || doctor->recorders[i].works;
        fails = fails || (doctor->recorders[i].possible && !doctor->recorders[i].works);
    }
    return any && !fails ? CTS_EXIT_OK : CTS_EXIT_MACHINE;
}

static int run_doctor(const struct cts_arguments *arguments)
{
    static struct cts_doctor doctor;
    struct cts_error error;
    cts_doctor_look(&doctor);
    cts_doctor_try(&doctor, !cts_argument_given(arguments, "no-test"));
    const char *const format = cts_argument(arguments, "format");
    const enum cts_status status = format && strcmp(format, "json") == 0
                                       ? render_json(&doctor, &error)
                                       : render_table(&doctor, &error);
    if (status) return cts_report_error(arguments, &error);
    return exit_status(&doctor);
}

static const struct cts_option doctor_options[] = {
    {.name = "no-test", .help = "look for the parts only; do not compile and record a kernel"},
    CTS_OPTION_FORMAT("table|json"),
    {0},
};

const struct cts_verb cts_verb_doctor = {
    .name = "doctor",
    .synopsis = "[--no-test] [--format table|json]",
    .summary = "Shows what this machine can record, and what is missing for the rest",
    .description =
        "Looks for the parts that recording needs and tests each recorder whose parts are there:\n"
        "it records a small kernel in a temporary directory, reads the recording back and checks\n"
        "it. Exits with 0 if at least one recorder works and no test fails, else with 4.",
    .options = doctor_options,
    .run = run_doctor,
};
