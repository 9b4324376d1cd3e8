/* Accesses as a table: a line per thread and access, in the order of the files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/packing/packed-output.h"
#include "common/text-table.h"
#include "import/select.h"

struct exporting {
    const struct cts_catalogue *catalogue;
    FILE *file;
    struct cts_export_result *result;
    uint64_t record; /* of the launch */
};

static enum cts_status begin_launch(void *state, const struct cts_launch *launch,
                                    struct cts_error *error)
{
    struct exporting *const e = state;
    (void)launch, (void)error;
    e->record = 0;
    return CTS_OK;
}

/* What all lanes of a record have in common, behind their own. */
static void put_site(struct exporting *e, const struct cts_access *access,
                     const struct cts_site *site)
{
    const struct cts_source *const source =
        site->source < e->catalogue->source_count ? &e->catalogue->sources[site->source] : NULL;
    fprintf(e->file, ",%u,%s,%s,%u,", access->site, cts_operation_text(site->operation),
            cts_space_text(access->space), site->width_bytes);
    cts_csv_field(e->file, site->type);
    fputc(',', e->file);
    cts_csv_field(e->file, site->variable);
    fputc(',', e->file);
    cts_csv_field(e->file, source ? source->path : NULL);
    fprintf(e->file, ",%u\n", site->line);
}

static enum cts_status put_record(void *state, const struct cts_launch *launch,
                                  const struct cts_access *access, const struct cts_site *site,
                                  struct cts_error *error)
{
    struct exporting *const e = state;
    (void)error;
    const uint64_t row = launch->block[0] ? launch->block[0] : 1;
    const uint64_t plane = row * (launch->block[1] ? launch->block[1] : 1);
    const uint32_t grid_plane = launch->grid[0] * launch->grid[1];
    const uint32_t words = access->value_words;
    uint64_t addresses[CTS_WARP_LANES];
    const uint64_t *value = access->values;
    cts_access_addresses(access, addresses);
    for (uint32_t mask = access->mask; mask; mask &= mask - 1, e->result->entries++) {
        const uint32_t lane = (uint32_t)__builtin_ctz(mask);
        const uint64_t thread = (uint64_t)access->warp * CTS_WARP_LANES + lane;
        fprintf(e->file, "%u,", launch->launch);
        cts_csv_field(e->file, e->catalogue->kernels[launch->kernel].name);
        fprintf(e->file, ",%llu,%u,%u,%u,%u,%u,%llu,%llu,%llu,0x%llx,",
                (unsigned long long)e->record, access->cta % launch->grid[0],
                access->cta % grid_plane / launch->grid[0], access->cta / grid_plane, access->warp,
                lane, (unsigned long long)(thread % row),
                (unsigned long long)(thread % plane / row), (unsigned long long)(thread / plane),
                (unsigned long long)addresses[lane]);
        if (value) fputs("0x", e->file);
        for (uint32_t i = words; value && i-- > 0;) /* the most significant word first */
            fprintf(e->file, i == words - 1 ? "%llx" : "%016llx", (unsigned long long)value[i]);
        if (value) value += words;
        put_site(e, access, site);
    }
    e->record++;
    return CTS_OK;
}

static enum cts_status end_launch(void *state, const struct cts_launch *launch,
                                  struct cts_error *error)
{
    (void)state, (void)launch, (void)error;
    return CTS_OK;
}

enum cts_status cts_export_csv(const struct cts_catalogue *catalogue,
                               const struct cts_acc_reader *reader,
                               const struct cts_export_text_options *options,
                               struct cts_export_result *result, struct cts_error *error)
{
    *result = (struct cts_export_result){0};
    struct exporting e = {.catalogue = catalogue, .result = result};
    struct cts_packed_output output;
    enum cts_status status = cts_packed_output_open(options->path, options->packed, &output, error);
    if (status) return status;
    e.file = output.file;
    fputs(
        "launch,kernel,record,block_x,block_y,block_z,warp,lane,thread_x,thread_y,thread_z,address,"
        "value,site,operation,space,size,type,variable,file,line\n",
        e.file);
    const struct cts_export_visitor visitor = {.state = &e,
                                               .result = result,
                                               .begin = begin_launch,
                                               .record = put_record,
                                               .end = end_launch};
    status = cts_export_walk(catalogue, reader, options, &visitor, error);
    return cts_packed_output_close(&output, status, error);
}
