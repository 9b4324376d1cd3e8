/* The data of the page: what the plots show, small enough for a browser whatever the run's size.
 * Long lists are cut, which the page says (fields `..._left_out`). */
#include "report/page.h"

#include "common/json.h"
#include "report/comm.h"

enum { LAUNCHES_MAX = 5000, PAIRS_MAX = 1000, SIZES_MAX = 20000 };

static const char *kernel_name(const struct cts_page *page, uint32_t kernel)
{
    const struct cts_catalogue *const catalogue = page->catalogue;
    for (size_t i = 0; i < catalogue->kernel_count; i++)
        if (catalogue->kernels[i].kernel == kernel) return catalogue->kernels[i].name;
    return NULL;
}

static void write_run(struct cts_json *json, const struct cts_page *page)
{
    const struct cts_catalogue *const catalogue = page->catalogue;
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
        cts_json_member_string(json, "name", kernel_name(page, kernel->kernel));
        cts_json_member_u64(json, "launches", kernel->launch_count);
        write_counts(json, &kernel->counts);
        cts_json_close_object(json);
    }
    cts_json_close_array(json);
}

static void write_launches(struct cts_json *json, const struct cts_page *page)
{
    const struct cts_comm *const comm = page->comm;
    const size_t count = comm->launch_count < LAUNCHES_MAX ? comm->launch_count : LAUNCHES_MAX;
    cts_json_member_u64(json, "launches_left_out", comm->launch_count - count);
    cts_json_key(json, "launches");
    cts_json_open_array(json);
    for (size_t i = 0; i < count; i++) {
        const struct cts_comm_launch *const launch = &comm->launches[i];
        const struct cts_launch *const row = &page->catalogue->launches[launch->index];
        cts_json_open_object_row(json);
        cts_json_member_u64(json, "launch", row->launch);
        cts_json_member_u64(json, "superstep", launch->superstep);
        cts_json_member_u64(json, "ordinal", launch->ordinal);
        cts_json_member_string(json, "kernel", kernel_name(page, row->kernel));
        cts_json_member_u64(json, "ctas", launch->cta_count);
        cts_json_member_bool(json, "counted", launch->counted);
        cts_json_member_u64(json, "read_bytes", launch->counts.global_read_unique_bytes);
        cts_json_member_u64(json, "written_bytes", launch->counts.global_written_unique_bytes);
        cts_json_member_u64(json, "received_bytes", launch->counts.received_bytes);
        cts_json_member_u64(json, "communicated_out_bytes", launch->counts.communicated_out_bytes);
        cts_json_member_double(json, "in_mean", cts_comm_degree_mean(&launch->in_degree));
        cts_json_member_double(json, "in_deviation", cts_comm_degree_deviation(&launch->in_degree));
        cts_json_member_double(json, "out_mean", cts_comm_degree_mean(&launch->out_degree));
        cts_json_member_double(json, "out_deviation",
                               cts_comm_degree_deviation(&launch->out_degree));
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
        cts_json_member_string(json, "writer",
                               kernel_name(page, comm->kernels[pair->writer].kernel));
        cts_json_member_string(json, "reader",
                               kernel_name(page, comm->kernels[pair->reader].kernel));
        cts_json_member_u64(json, "transfers", pair->transfers);
        cts_json_member_u64(json, "bytes", pair->bytes);
        cts_json_member_u64(json, "access_bytes", pair->access_bytes);
        cts_json_close_object(json);
    }
    cts_json_close_array(json);
}

/* [[key, value], ...]; of more than SIZES_MAX entries, runs of them are added up under the last
 * key, so that cumulative curves stay true at every key that is shown. */
static void write_entries(struct cts_json *json, const char *name,
                          const struct cts_map_entry *entries, size_t count)
{
    const size_t step = (count + SIZES_MAX - 1) / SIZES_MAX;
    uint64_t sum = 0;
    cts_json_key(json, name);
    cts_json_open_array_row(json);
    for (size_t i = 0; i < count; i++) {
        sum += entries[i].value;
        if ((i + 1) % step && i + 1 < count) continue;
        cts_json_open_array(json);
        cts_json_u64(json, entries[i].key);
        cts_json_u64(json, sum);
        cts_json_close_array(json);
        sum = 0;
    }
    cts_json_close_array(json);
}

static void write_density(struct cts_json *json, const struct cts_comm_density *density)
{
    cts_json_key(json, "density");
    cts_json_open_object(json);
    cts_json_member_u64(json, "bins", density->bin_count);
    cts_json_member_u64(json, "bin_ctas", density->bin_ctas);
    cts_json_member_u64(json, "cta_count", density->cta_count);
    cts_json_key(json, "cells");
    cts_json_open_array_row(json);
    for (uint64_t x = 0; x < density->bin_count; x++) {
        for (uint64_t y = 0; y < density->bin_count; y++) {
            const uint64_t *const cell = cts_comm_density_cell(density, x, y);
            if (!cell[0]) continue;
            cts_json_open_array(json);
            cts_json_u64(json, x);
            cts_json_u64(json, y);
            cts_json_u64(json, cell[0]);
            cts_json_u64(json, cell[1]);
            cts_json_close_array(json);
        }
    }
    cts_json_close_array(json);
    cts_json_close_object(json);
}

enum cts_status cts_page_write_data(const struct cts_page *page, FILE *file,
                                    struct cts_error *error)
{
    struct cts_json json;
    cts_json_begin(&json, file);
    cts_json_open_object(&json);
    cts_json_member_u64(&json, "format", 1);
    write_run(&json, page);
    cts_json_member_bool(&json, "paper_model", page->comm->paper_model);
    cts_comm_json_soundness(&json, page->comm);
    write_totals(&json, page->comm);
    write_kernels(&json, page);
    write_launches(&json, page);
    write_pairs(&json, page);
    write_entries(&json, "transfer_sizes", page->comm->transfer_sizes,
                  page->comm->transfer_size_count);
    write_entries(&json, "in_degrees", page->comm->in_degrees, page->comm->in_degree_count);
    write_entries(&json, "out_degrees", page->comm->out_degrees, page->comm->out_degree_count);
    write_density(&json, &page->comm->density);
    cts_json_close_object(&json);
    return cts_json_end(&json, error);
}
