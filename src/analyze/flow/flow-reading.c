#include "analyze/flow/flow-reading.h"

enum cts_status cts_flow_reading_begin(struct cts_flow_reading *reading,
                                       const struct cts_flow_touch_options *options,
                                       const struct cts_walk_ops *ops, struct cts_error *error)
{
    *reading = (struct cts_flow_reading){.options = *options};
    const enum cts_status status = cts_walk_sites_make(options->catalogue, &reading->sites, error);
    if (status) return status;
    const struct cts_walk_options walk = {.source = options->source,
                                          .sites = &reading->sites,
                                          .ops = ops,
                                          .threads = options->threads};
    return cts_walk_new(&walk, &reading->walk, error);
}

void cts_flow_reading_release(struct cts_flow_reading *reading)
{
    cts_walk_free(reading->walk);
    cts_walk_sites_release(&reading->sites);
    *reading = (struct cts_flow_reading){.walk = NULL};
}

enum cts_status cts_flow_read(struct cts_flow_reading *reading, size_t launch, void *state,
                              struct cts_error *error)
{
    const struct cts_launch *const row = &reading->options.catalogue->launches[launch];
    uint64_t cta_count;
    const enum cts_status status = cts_walk_count_ctas(row, &cta_count, error);
    if (status) return status;
    struct cts_walk_scope scope =
        cts_walk_scope_of(reading->options.source, row->launch, cta_count);
    if (scope.chunk_begin == scope.chunk_end) return CTS_OK;
    scope.progress = reading->options.progress;
    return cts_walk_launch(reading->walk, &scope, state, error);
}
