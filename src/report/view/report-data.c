/* The data of the report's communication and partition part, made at first demand and kept. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/figures.h"
#include "report/page.h"
#include "report/view/answers.h"

enum { DENSITY_BINS = 128 };

static enum cts_status analyse_partitions(const struct cts_view_snapshot *snapshot,
                                          struct cts_partition *partition, struct cts_error *error)
{
    static const uint32_t counts[] = {2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
    enum { MAPPINGS_MAX = 32 };
    const struct cts_mapping *mappings[MAPPINGS_MAX];
    size_t mapping_count = 0;
    while (cts_mappings[mapping_count] && mapping_count < MAPPINGS_MAX) {
        mappings[mapping_count] = cts_mappings[mapping_count];
        mapping_count++;
    }
    const struct cts_partition_options options = {
        .counts = counts,
        .count_count = sizeof counts / sizeof *counts,
        .mappings = mappings,
        .mapping_count = mapping_count,
    };
    return cts_partition_analyze(&snapshot->catalogue, &snapshot->source, &options, partition,
                                 error);
}

static enum cts_status write_page(const struct cts_view_request *request,
                                  const struct cts_page *page, char **text, struct cts_error *error)
{
    size_t text_bytes = 0;
    FILE *const memory = open_memstream(text, &text_bytes);
    (void)request;
    if (!memory) return cts_fail_errno(error, errno, "cannot make the figures");
    enum cts_status status = cts_page_write_data(page, memory, error);
    if (fclose(memory) && !status) status = cts_fail(error, CTS_MEMORY, "no memory for figures");
    if (status) {
        free(*text);
        *text = NULL;
    }
    return status;
}

static enum cts_status make(const struct cts_view_request *request,
                            const struct cts_access_result *access, char **text,
                            struct cts_error *error)
{
    const struct cts_view_snapshot *const snapshot = request->snapshot;
    const struct cts_comm_options options = {.density_bins = DENSITY_BINS};
    struct cts_comm comm = {0};
    struct cts_partition partition = {0};
    struct cts_figures figures = {0};
    const struct cts_page page = {
        .run_path = cts_view_run_path(request->run),
        .catalogue = &snapshot->catalogue,
        .comm = &comm,
        .access = access,
        .partition = &partition,
        .figures = &figures,
    };
    enum cts_status status =
        cts_comm_analyze(&snapshot->catalogue, &snapshot->source, &options, &comm, error);
    if (!status) status = analyse_partitions(snapshot, &partition, error);
    if (!status) status = cts_figures_of_comm(&figures, &comm, error);
    if (!status) status = cts_figures_of_comm_where(&figures, &snapshot->catalogue, &comm, error);
    if (!status) status = cts_figures_of_partition(&figures, &partition, error);
    if (!status) status = write_page(request, &page, text, error);
    cts_figures_release(&figures);
    cts_partition_release(&partition);
    cts_comm_release(&comm);
    return status;
}

enum cts_status cts_view_fill_communication(const struct cts_view_request *request,
                                            struct cts_buffer *answer, struct cts_error *error)
{
    struct cts_view_snapshot *const snapshot = request->snapshot;
    const struct cts_access_result *access;
    if (!snapshot->source.chunk_count)
        return cts_fail(error, CTS_UNSUPPORTED, "the run holds no accesses");
    enum cts_status status = cts_view_access(request, &access, error);
    if (status) return status;
    pthread_mutex_lock(&snapshot->analysing);
    if (!snapshot->communication) status = make(request, access, &snapshot->communication, error);
    if (!status)
        status = cts_buffer_append(answer, snapshot->communication, strlen(snapshot->communication),
                                   error);
    pthread_mutex_unlock(&snapshot->analysing);
    return status;
}
