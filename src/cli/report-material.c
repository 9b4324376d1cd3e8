/* What the report's page is made from: each analysis of what there is. */
#include "cli/report-material.h"

#include "cli/open-recording.h"
#include "common/progress.h"

void cts_report_material_release(struct cts_report_material *material)
{
    cts_page_analyses_release(&material->analyses);
    cts_access_release(&material->access);
    cts_flow_release(&material->flow);
    cts_path_kernels_release(&material->kernels);
    if (material->path.rows) cts_path_release(&material->path);
    if (material->has_timeline) cts_timeline_close(&material->timeline);
    cts_recording_close(&material->recording);
}

static enum cts_status analyze(struct cts_report_material *material,
                               const struct cts_access_source *source,
                               const struct cts_report_options *of, struct cts_error *error)
{
    struct cts_progress progress;
    cts_progress_begin(&progress, stderr, "analysing", 0);
    const struct cts_page_options options = {.threads = of->threads, .progress = &progress};
    const struct cts_access_options access = {.threads = of->threads};
    enum cts_status status = cts_page_analyze(&material->recording.catalogue, source, &options,
                                              &material->analyses, error);
    if (!status && !of->only_figures)
        status = cts_access_analyze(&material->recording.catalogue, source, &access,
                                    &material->access, error);
    const struct cts_flow_options flow = {.least_bytes = CTS_FLOW_LEAST_BYTES,
                                          .threads = of->threads};
    if (!status && !of->only_figures)
        status =
            cts_flow_analyze(&material->recording.catalogue, source, &flow, &material->flow, error);
    cts_progress_end(&progress);
    return status;
}

static enum cts_status look_at_accesses(struct cts_report_material *material,
                                        const struct cts_report_options *options,
                                        struct cts_error *error)
{
    enum cts_status status;
    do {
        const struct cts_access_source source = cts_access_source_of(material->recording.reader);
        /* A run of time alone has nothing to say about memory. */
        material->has_accesses = source.chunk_count || !material->has_timeline;
        if (!material->has_accesses && !material->recording.catalogue.launch_count) return CTS_OK;
        status = cts_recording_need_accesses(&material->recording, error);
        if (status || !material->has_accesses) break;
        status = analyze(material, &source, options, error);
    } while (cts_cli_again(status, &material->recording));
    return status;
}

static enum cts_status look_at_time(struct cts_report_material *material,
                                    const struct cts_report_options *of, struct cts_error *error)
{
    const char *const path = of->path;
    enum cts_status status = cts_cli_open_timeline(path, &material->timeline, error);
    if (status) return status;
    material->has_timeline = true;
    material->asked = (struct cts_path_asked){cts_path_source_of(&material->timeline), of->asker};
    material->source = cts_path_source_asked(&material->asked);
    const struct cts_path_options options = {
        .threads = of->threads, .keep_segments = true, .keep_waits = true, .asker = of->asker};
    status = cts_path_analyze(&material->source, &options, &material->path, error);
    if (!status) cts_cli_tell_damage(path, &material->timeline);
    return status;
}

/* What the run says of the kernels of its timeline, as in `ctascope path`. */
static enum cts_status look_at_kernels(struct cts_report_material *material,
                                       struct cts_error *error)
{
    const struct cts_catalogue *const catalogue = &material->recording.catalogue;
    const struct cts_access_result *const access =
        material->has_accesses ? &material->access : NULL;
    return cts_path_kernels_find(&material->source, catalogue, access, &material->kernels, error);
}

static enum cts_status gather(struct cts_report_material *material,
                              const struct cts_report_options *options, struct cts_error *error)
{
    const char *const path = options->path;
    enum cts_status status = CTS_OK;
    if (options->only_figures && cts_cli_is_archive(path))
        return cts_fail(error, CTS_FORMAT,
                        "'%s' is a timeline; a comparison of runs needs memory accesses", path);
    if (cts_cli_is_archive(path)) return look_at_time(material, options, error);
    if ((status = cts_recording_open(path, &material->recording, error))) return status;
    material->has_run = true;
    cts_cli_name_lost_timeline(path, &material->recording.timeline_gaps);
    if (!options->only_figures && cts_cli_has_timeline(path) &&
        (status = look_at_time(material, options, error)))
        return status;
    if (!options->only_time) status = look_at_accesses(material, options, error);
    return status || !material->has_timeline ? status : look_at_kernels(material, error);
}

enum cts_status cts_report_material_gather(struct cts_report_material *material,
                                           const struct cts_report_options *options,
                                           struct cts_error *error)
{
    *material = (struct cts_report_material){0};
    const enum cts_status status = gather(material, options, error);
    material->page = (struct cts_page){
        .run_path = options->path,
        .catalogue = material->has_run ? &material->recording.catalogue : NULL,
        .comm = material->has_accesses ? &material->analyses.comm : NULL,
        .access = &material->access,
        .partition = &material->analyses.partition,
        .figures = &material->analyses.figures,
        .flow = &material->flow,
        .source = &material->source,
        .path = material->has_timeline ? &material->path : NULL,
        .kernels = material->kernels.by_region ? &material->kernels : NULL,
    };
    return status;
}
