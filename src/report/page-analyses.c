/* The analyses that the report's page and the view's tab of it are made from. */
#include "report/figures.h"
#include "report/page.h"

enum { DENSITY_BINS = 128 };

static enum cts_status analyze_partitions(const struct cts_catalogue *catalogue,
                                          const struct cts_access_source *source, unsigned threads,
                                          struct cts_partition *partition, struct cts_error *error)
{
    uint32_t counts[CTS_PARTITION_DEFAULT_COUNTS];
    const struct cts_partition_options options = {
        .counts = counts,
        .count_count = cts_partition_default_counts(catalogue, counts),
        .mappings = cts_mappings,
        .mapping_count = CTS_MAPPING_COUNT,
        .threads = threads,
    };
    return cts_partition_analyze(catalogue, source, &options, partition, error);
}

enum cts_status cts_page_analyze(const struct cts_catalogue *catalogue,
                                 const struct cts_access_source *source,
                                 const struct cts_page_options *options,
                                 struct cts_page_analyses *analyses, struct cts_error *error)
{
    const struct cts_comm_options comm = {
        .density_bins = DENSITY_BINS, .threads = options->threads, .progress = options->progress};
    enum cts_status status = cts_comm_analyze(catalogue, source, &comm, &analyses->comm, error);
    if (!status)
        status =
            analyze_partitions(catalogue, source, options->threads, &analyses->partition, error);
    if (!status) status = cts_figures_of_comm(&analyses->figures, &analyses->comm, error);
    if (!status)
        status = cts_figures_of_comm_where(&analyses->figures, catalogue, &analyses->comm, error);
    if (!status) status = cts_figures_of_partition(&analyses->figures, &analyses->partition, error);
    return status;
}

void cts_page_analyses_release(struct cts_page_analyses *analyses)
{
    cts_figures_release(&analyses->figures);
    cts_partition_release(&analyses->partition);
    cts_comm_release(&analyses->comm);
}
