/* The data of the page: what the plots show, small enough for a browser whatever the run's size.
 * Long lists are cut, which the page says (fields `..._left_out`). */
#include "report/page.h"

#include <stdlib.h>

#include "common/json.h"
#include "common/text-stream.h"
#include "report/comm.h"
#include "report/flow-page.h"
#include "report/partition-report.h"
#include "report/path-report.h"
#include "report/run-findings.h"
#include "report/timeline-page.h"

enum { PAIRS_MAX = 1000, ACTIVITIES_MAX = 2000 };

static void write_run(struct cts_json *json, const struct cts_page *page)
{
    static const struct cts_catalogue none;
    const struct cts_catalogue *const catalogue = page->catalogue ? page->catalogue : &none;
    cts_json_key(json, "run");
    cts_json_open_object(json);
    cts_json_member_string(json, "path", page->run_path);
    cts_json_member_string(json, "version", CTASCOPE_VERSION);
    cts_json_member_string(json, "created", cts_catalogue_get(catalogue, "created"));
    const struct cts_rank *const rank = catalogue->rank_count ? &catalogue->ranks[0] : NULL;
    cts_json_member_string(json, "program", rank ? rank->program : NULL);
    cts_json_member_string(json, "arguments", rank ? rank->arguments : NULL);
    cts_json_member_string(json, "host", rank ? rank->host : NULL);
    cts_json_member_string(json, "recorder", rank ? rank->recorder : NULL);
    cts_json_member_u64(json, "ranks", catalogue->rank_count);
    cts_json_member_string(json, "device",
                           catalogue->device_count ? catalogue->devices[0].name : NULL);
    cts_json_close_object(json);
}

/* The short forms of the kernels' names, which the page shows in place of the full ones. */
static enum cts_status write_names(struct cts_json *json, const struct cts_page *page,
                                   struct cts_error *error)
{
    struct cts_short_names names;
    char text[CTS_KERNEL_NAME_SIZE];
    const enum cts_status status = cts_kernel_names(page->catalogue, &names, error);
    cts_json_key(json, "kernel_names");
    cts_json_open_array(json);
    for (size_t i = 0; i < names.count && !status; i++) {
        cts_json_open_object_row(json);
        cts_json_member_string(json, "name",
                               cts_catalogue_kernel_name(page->catalogue, (uint32_t)i));
        cts_json_member_string(json, "short", cts_short_name_fitted(&names, i, text, sizeof text));
        cts_json_close_object(json);
    }
    cts_json_close_array(json);
    cts_short_names_release(&names);
    return status;
}

static void write_counts(struct cts_json *json, const struct cts_comm_counts *counts)
{
    for (size_t field = 0; field < CTS_COMM_FIELD_COUNT; field++)
        cts_json_member_u64(json, cts_comm_field_names[field], cts_comm_field(counts, field));
    cts_json_member_u64(json, "ratio_written_bytes", cts_comm_ratio_written(counts));
    cts_json_member_u64(json, "ratio_communicated_bytes", cts_comm_ratio_communicated(counts));
}

static void write_totals(struct cts_json *json, const struct cts_comm *comm)
{
    cts_json_key(json, "totals");
    cts_json_open_object(json);
    cts_json_member_u64(json, "supersteps", comm->superstep_count);
    cts_json_member_u64(json, "launches", comm->launch_count);
    cts_json_member_u64(json, "copies", comm->copy_count);
    cts_json_member_u64(json, "memsets", comm->memset_count);
    cts_json_member_u64(json, "nodes", comm->node_count);
    cts_json_member_u64(json, "records", comm->record_count);
    write_counts(json, &comm->total);
    cts_json_close_object(json);
}

static void write_kernels(struct cts_json *json, const struct cts_page *page)
{
    cts_json_key(json, "kernels");
    cts_json_open_array(json);
    for (size_t i = 0; i < page->comm->kernel_count; i++) {
        const struct cts_comm_kernel *const kernel = &page->comm->kernels[i];
        cts_json_open_object_row(json);
        cts_json_member_string(json, "name",
                               cts_catalogue_kernel_name(page->catalogue, kernel->kernel));
        cts_json_member_u64(json, "launches", kernel->launch_count);
        write_counts(json, &kernel->counts);
        cts_json_close_object(json);
    }
    cts_json_close_array(json);
}

static void write_pairs(struct cts_json *json, const struct cts_page *page)
{
    const struct cts_comm *const comm = page->comm;
    const size_t count = comm->kernel_pair_count < PAIRS_MAX ? comm->kernel_pair_count : PAIRS_MAX;
    cts_json_member_u64(json, "kernel_pairs_left_out", comm->kernel_pair_count - count);
    cts_json_key(json, "kernel_pairs");
    cts_json_open_array(json);
    for (size_t i = 0; i < count; i++) {
        const struct cts_comm_pair *const pair = &comm->kernel_pairs[i];
        cts_json_open_object_row(json);
        cts_json_member_string(
            json, "writer",
            cts_catalogue_kernel_name(page->catalogue, comm->kernels[pair->writer].kernel));
        cts_json_member_string(
            json, "reader",
            cts_catalogue_kernel_name(page->catalogue, comm->kernels[pair->reader].kernel));
        cts_json_member_u64(json, "transfers", pair->transfers);
        cts_json_member_u64(json, "bytes", pair->bytes);
        cts_json_member_u64(json, "access_bytes", pair->access_bytes);
        cts_json_close_object(json);
    }
    cts_json_close_array(json);
}

/* What to do about partitions, in the words of `ctascope partition`. */
static enum cts_status write_answer(struct cts_json *json, const struct cts_page *page,
                                    struct cts_error *error)
{
    const struct cts_partition_answer answer =
        cts_partition_answer(page->partition, page->catalogue);
    const struct cts_partition_report report = {.run_path = page->run_path,
                                                .catalogue = page->catalogue,
                                                .partition = page->partition,
                                                .answer = &answer};
    struct cts_text_stream stream;
    char *text = NULL;
    FILE *const memory = cts_text_stream_open(&stream);
    if (memory) {
        const enum cts_status status = cts_partition_print_answer(&report, memory, error);
        text = cts_text_stream_close(&stream, NULL);
        if (status) {
            free(text);
            return status;
        }
    }
    if (!text) return cts_fail(error, CTS_MEMORY, "no memory for the report");
    cts_json_member_string(json, "partition_answer", text);
    free(text);
    return CTS_OK;
}

static enum cts_status write_memory(struct cts_json *json, const struct cts_page *page,
                                    struct cts_error *error)
{
    cts_json_member_bool(json, "paper_model", page->comm->paper_model);
    cts_comm_json_soundness(json, page->comm, &page->catalogue->gaps);
    write_totals(json, page->comm);
    write_kernels(json, page);
    write_pairs(json, page);
    const enum cts_status status = write_answer(json, page, error);
    cts_figures_json(page->figures, json);
    return status;
}

static enum cts_status write_flow(struct cts_json *json, const struct cts_page *page,
                                  struct cts_error *error)
{
    cts_json_key(json, "flow");
    cts_json_open_object(json);
    const enum cts_status status = cts_flow_page_json(page->flow, json, error);
    cts_json_close_object(json);
    return status;
}

static enum cts_status write_time(struct cts_json *json, const struct cts_page *page,
                                  struct cts_error *error)
{
    const struct cts_path_report report = {
        .path = page->run_path, .result = page->path, .kernels = page->kernels};
    const struct cts_sheet_choice choice = {.limit = ACTIVITIES_MAX};
    cts_json_key(json, "path");
    cts_json_open_object(json);
    const enum cts_status status = cts_path_json_members(&report, &choice, json, error);
    cts_json_close_object(json);
    if (status) return status;
    return cts_timeline_page_write(json, page->source, page->path, error);
}

static enum cts_status write_run_findings(struct cts_json *json, const struct cts_page *page,
                                          struct cts_error *error)
{
    const struct cts_run_material material = {.catalogue = page->catalogue,
                                              .access = page->comm ? page->access : NULL,
                                              .path = page->path};
    cts_json_key(json, "run_findings");
    cts_json_open_object(json);
    const enum cts_status status = cts_run_findings_json(&material, json, error);
    cts_json_close_object(json);
    return status;
}

enum cts_status cts_page_write_data(const struct cts_page *page, FILE *file,
                                    struct cts_error *error)
{
    struct cts_json json;
    enum cts_status status = CTS_OK;
    cts_json_begin(&json, file);
    cts_json_open_object(&json);
    cts_json_member_u64(&json, "format", 1);
    write_run(&json, page);
    status = write_names(&json, page, error);
    if (!status) status = write_run_findings(&json, page, error);
    if (page->comm && !status) status = write_memory(&json, page, error);
    if (page->comm && page->flow && !status) status = write_flow(&json, page, error);
    if (page->path && !status) status = write_time(&json, page, error);
    if (!status) cts_json_close_object(&json);
    return cts_json_end_after(&json, status, error);
}
