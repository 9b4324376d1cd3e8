/* The walk over the accesses that are exported. */
#include "import/select.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum cts_status cts_export_no_launch(const struct cts_catalogue *catalogue, struct cts_error *error)
{
    if (catalogue->launch_count) return cts_fail(error, CTS_USAGE, "the options select no launch");
    return cts_fail(error, CTS_FORMAT, "the run holds no launch of a kernel");
}

enum cts_status cts_export_rank(const struct cts_catalogue *catalogue, uint32_t wanted,
                                uint32_t *rank, struct cts_error *error)
{
    *rank = wanted;
    if (wanted != CTS_NONE && !cts_catalogue_find_rank(catalogue, wanted))
        return cts_fail(error, CTS_USAGE, "the run has no rank %u", wanted);
    if (wanted == CTS_NONE && catalogue->rank_count > 1)
        return cts_fail(
            error, CTS_USAGE,
            "the run has %zu ranks with separate address spaces: choose one with --rank",
            catalogue->rank_count);
    if (wanted == CTS_NONE && catalogue->rank_count) *rank = catalogue->ranks[0].rank;
    return CTS_OK;
}

/* ---- the walk ---- */

struct walk {
    const struct cts_catalogue *catalogue;
    const struct cts_acc_reader *reader;
    const struct cts_export_selection *selection;
    const struct cts_export_visitor *visitor;
    struct cts_progress *progress;
    struct cts_export_result *result;
    struct cts_error *error;
    struct cts_acc_batch batch;
};

static unsigned kind_of(const struct cts_site *site)
{
    return site->operation == CTS_LOAD    ? CTS_EXPORT_LOADS
           : site->operation == CTS_STORE ? CTS_EXPORT_STORES
                                          : CTS_EXPORT_ATOMICS;
}

static bool is_selected(const struct cts_export_selection *s, const struct cts_access *access,
                        const struct cts_site *site)
{
    return access->cta >= s->first_cta && access->cta <= s->last_cta &&
           (s->site == CTS_NONE || access->site == s->site) &&
           (!s->kinds || s->kinds & kind_of(site)) && (!s->space || access->space == s->space);
}

static enum cts_status visit_batch(struct walk *w, const struct cts_launch *launch)
{
    const uint64_t ctas = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    for (size_t i = 0; i < w->batch.record_count; i++) {
        const struct cts_access access = cts_acc_record(&w->batch, i);
        const struct cts_site *const site =
            access.site < w->catalogue->site_count ? &w->catalogue->sites[access.site] : NULL;
        if (!site || !site->width_bytes || site->operation < CTS_LOAD)
            return cts_fail(w->error, CTS_FORMAT, "a record names site %u, which the catalogue %s",
                            access.site,
                            site ? "gives no usable operation and width" : "does not have");
        if (access.cta >= ctas)
            return cts_fail(w->error, CTS_FORMAT,
                            "a record names CTA %u of launch %u, which has "
                            "fewer",
                            access.cta, launch->launch);
        if (!is_selected(w->selection, &access, site)) continue;
        w->result->accesses += (uint64_t)__builtin_popcount(access.mask);
        const enum cts_status status =
            w->visitor->record(w->visitor->state, launch, &access, site, w->error);
        if (status) return status;
    }
    return CTS_OK;
}

static enum cts_status visit_launch(struct walk *w, const struct cts_launch *launch)
{
    size_t chunk_count;
    const struct cts_acc_chunk *const chunks = cts_acc_chunks(w->reader, &chunk_count);
    const struct cts_export_selection *const s = w->selection;
    enum cts_status status = w->visitor->begin(w->visitor->state, launch, w->error);
    for (size_t i = cts_acc_first_chunk(chunks, chunk_count, launch->launch);
         !status && i < chunk_count && chunks[i].launch == launch->launch; i++) {
        if (w->progress) cts_progress_add(w->progress, chunks[i].access_count);
        if (chunks[i].first_cta > s->last_cta || chunks[i].last_cta < s->first_cta) continue;
        status = cts_acc_read(w->reader, &chunks[i], &w->batch, w->error);
        if (!status) status = visit_batch(w, launch);
        if (status)
            return cts_context(w->error, "'%s': chunk at byte %llu",
                               cts_acc_file_path(w->reader, chunks[i].file),
                               (unsigned long long)chunks[i].offset_bytes);
    }
    return status ? status : w->visitor->end(w->visitor->state, launch, w->error);
}

enum cts_status cts_export_walk(const struct cts_catalogue *catalogue,
                                const struct cts_acc_reader *reader,
                                const struct cts_export_text_options *options,
                                const struct cts_export_visitor *visitor, struct cts_error *error)
{
    const struct cts_export_selection *const selection = &options->selection;
    struct cts_export_result *const result = visitor->result;
    struct walk w = {.catalogue = catalogue,
                     .reader = reader,
                     .selection = selection,
                     .visitor = visitor,
                     .progress = options->progress,
                     .result = result,
                     .error = error};
    uint32_t rank;
    enum cts_status status = cts_export_rank(catalogue, selection->rank, &rank, error);
    if (!status && selection->site != CTS_NONE && selection->site >= catalogue->site_count)
        status = cts_fail(error, CTS_USAGE, "the run has no site %u", selection->site);
    for (size_t i = 0; i < catalogue->launch_count && !status; i++) {
        const struct cts_launch *const launch = &catalogue->launches[i];
        if (launch->rank != rank || launch->launch < selection->first_launch ||
            launch->launch > selection->last_launch ||
            (selection->stream != CTS_NONE && launch->stream != selection->stream))
            continue;
        result->launches++;
        result->dropped_accesses += launch->dropped_accesses;
        result->unrecorded_launches += launch->recorded && strcmp(launch->recorded, "all") != 0;
        status = visit_launch(&w, launch);
    }
    cts_acc_batch_release(&w.batch);
    if (!status && !result->launches) status = cts_export_no_launch(catalogue, error);
    return status;
}
