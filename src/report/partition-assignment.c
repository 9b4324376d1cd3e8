/* Which CTA goes where, in every mapping: a row per mapping, launch and CTA. */
#include <inttypes.h>

#include "report/partition-report.h"

struct row {
    const char *mapping;
    uint32_t launch, position[3], partition;
};

static void print_csv(FILE *file, const struct row *row, bool first)
{
    if (first) fprintf(file, "mapping,launch,x,y,z,partition\n");
    fprintf(file, "%s,%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 "\n", row->mapping,
            row->launch, row->position[0], row->position[1], row->position[2], row->partition);
}

static void print_json(FILE *file, const struct row *row, bool first)
{
    fprintf(file,
            "%s    {\"mapping\": \"%s\", \"launch\": %" PRIu32 ", \"x\": %" PRIu32
            ", \"y\": %" PRIu32 ", \"z\": %" PRIu32 ", \"partition\": %" PRIu32 "}",
            first ? "" : ",\n", row->mapping, row->launch, row->position[0], row->position[1],
            row->position[2], row->partition);
}

enum cts_status cts_partition_write_assignment(const struct cts_partition_report *report,
                                               FILE *file, bool as_json, struct cts_error *error)
{
    const struct cts_partition *const p = report->partition;
    bool first = true;
    if (as_json)
        fprintf(file,
                "{\n  \"format\": \"ctascope-assignment\",\n  \"version\": 1,\n  \"rows\": [\n");
    for (size_t s = 0; s < p->scale_count; s++) {
        const struct cts_partition_scale *const scale = &p->scales[s];
        for (size_t i = 0; i < p->launch_count; i++) {
            const struct cts_partition_launch *const from = &p->launches[i];
            const struct cts_launch *const launch = &report->catalogue->launches[from->index];
            for (uint32_t cta = 0; from->counted && cta < from->cta_count; cta++) {
                const struct row row = {
                    .mapping = p->mappings[scale->mapping],
                    .launch = launch->launch,
                    .position = {cta % launch->grid[0], cta / launch->grid[0] % launch->grid[1],
                                 cta / launch->grid[0] / launch->grid[1]},
                    .partition = scale->assignment[from->first_place + cta],
                };
                (as_json ? print_json : print_csv)(file, &row, first);
                first = false;
            }
        }
    }
    if (as_json) fprintf(file, "\n  ]\n}\n");
    if (ferror(file)) return cts_fail(error, CTS_IO, "cannot write the assignment");
    return CTS_OK;
}
