/* The list is made from what the two analyses found; the join between them is by name, as the
 * columns of `path` that tell of kernels (path-kernels.c). */
#include "report/run-findings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"

struct finding_kernel {            /* of the catalogue */
    const struct cts_path_row *on; /* its row of the path; NULL: it is not on the timeline */
    bool is_analysed;              /* its accesses are known */
};

struct collection {
    const struct cts_run_material *material;
    struct cts_run_findings *findings;
    struct finding_kernel *kernels; /* [catalogue->kernel_count] */
    double cost;                    /* of the run's accesses */
};

/* ---- kernels ---- */

static bool is_named(const struct cts_kernel *kernel, const char *name)
{
    return (kernel->name && !strcmp(name, kernel->name)) ||
           (kernel->mangled && !strcmp(name, kernel->mangled));
}

/* The row of a kernel of the timeline, or NULL. */
static const struct cts_path_row *row_of(const struct cts_path *path,
                                         const struct cts_kernel *kernel)
{
    const struct cts_timeline *const timeline = path->timeline;
    for (size_t i = 0; i < path->row_count; i++) {
        const struct cts_path_row *const row = &path->rows[i];
        if (row->where != CTS_PATH_ON_DEVICE || row->region >= timeline->region_count) continue;
        const char *const name = timeline->regions[row->region].name;
        if (name && is_named(kernel, name)) return row;
    }
    return NULL;
}

static enum cts_status find_kernels(struct collection *collection, struct cts_error *error)
{
    const struct cts_run_material *const of = collection->material;
    const size_t count = of->catalogue ? of->catalogue->kernel_count : 0;
    collection->kernels = cts_array_zeroed(count + 1, sizeof *collection->kernels, error);
    if (!collection->kernels) return CTS_MEMORY;
    for (size_t i = 0; i < count && of->path; i++)
        collection->kernels[i].on = row_of(of->path, &of->catalogue->kernels[i]);
    for (size_t i = 0; of->access && i < of->access->site_count; i++) {
        const struct cts_access_site *const site = &of->access->sites[i];
        if (site->kernel < count) collection->kernels[site->kernel].is_analysed = true;
        collection->cost += cts_access_cost(&site->counts);
    }
    return CTS_OK;
}

static bool is_analysed(const struct collection *collection, const struct cts_path_row *row)
{
    const struct cts_catalogue *const catalogue = collection->material->catalogue;
    for (size_t i = 0; catalogue && i < catalogue->kernel_count; i++)
        if (collection->kernels[i].on == row && collection->kernels[i].is_analysed) return true;
    return false;
}

/* ---- gains ---- */

static bool is_at(const struct cts_catalogue *catalogue, const struct cts_access_site *a,
                  const struct cts_access_site *b)
{
    const struct cts_site *const x = &catalogue->sites[a->site];
    const struct cts_site *const y = &catalogue->sites[b->site];
    return x->source == y->source && x->line == y->line && x->operation == y->operation;
}

/* The share of the path of the finding's kernel. A finding of several instances of a template has
 * more requests than its kernel has there: then of all that access at that place. */
static double path_share(const struct collection *collection, const struct cts_finding *finding)
{
    const struct cts_run_material *const of = collection->material;
    const struct cts_access_site *const worst = &of->access->sites[finding->site];
    uint64_t requests = 0;
    uint32_t counted = CTS_NONE; /* sites are by kernel */
    double own = 0, all = 0;
    for (size_t i = 0; i < of->access->site_count; i++) {
        const struct cts_access_site *const site = &of->access->sites[i];
        const bool is_own = site->kernel == worst->kernel;
        if (!is_at(of->catalogue, site, worst)) continue;
        if (is_own) requests += site->counts.requests;
        const struct cts_path_row *const row = collection->kernels[site->kernel].on;
        if (!row || site->kernel == counted) continue;
        counted = site->kernel;
        all += row->path_share;
        if (is_own) own = row->path_share;
    }
    return finding->counts.requests > requests && all < 1 ? all : own;
}

static double gain_of(const struct collection *collection, const struct cts_finding *finding)
{
    if (cts_finding_is_fault(finding->kind)) return NAN;
    const double gain = collection->findings->by_time
                            ? path_share(collection, finding) * finding->share
                            : finding->waste / collection->cost;
    return gain < 1 ? gain : 1;
}

/* ---- the list ---- */

static void add(struct collection *collection, const struct cts_run_finding *finding)
{
    collection->findings->items[collection->findings->count++] = *finding;
}

static void add_accesses(struct collection *collection)
{
    const struct cts_access_result *const access = collection->material->access;
    for (size_t i = 0; access && i < access->finding_count; i++) {
        const struct cts_finding *const it = &access->findings[i];
        add(collection, &(struct cts_run_finding){.order = cts_finding_is_fault(it->kind)
                                                               ? CTS_RUN_FINDING_FAULT
                                                               : CTS_RUN_FINDING_CHANGE,
                                                  .access = it,
                                                  .gain = gain_of(collection, it)});
    }
}

static void add_faults(struct collection *collection)
{
    const struct cts_catalogue *const catalogue = collection->material->catalogue;
    for (size_t i = 0; catalogue && i < catalogue->fault_count; i++)
        add(collection, &(struct cts_run_finding){.order = CTS_RUN_FINDING_FAULT,
                                                  .fault = &catalogue->faults[i],
                                                  .gain = NAN});
}

static void add_activities(struct collection *collection)
{
    const struct cts_path *const path = collection->material->path;
    for (size_t i = 0; path && i < path->row_count; i++) {
        const struct cts_path_row *const row = &path->rows[i];
        const bool is_elsewhere = row->frame || is_analysed(collection, row);
        if (!row->path_ns) continue;
        add(collection, &(struct cts_run_finding){.order = is_elsewhere ? CTS_RUN_FINDING_ELSEWHERE
                                                                        : CTS_RUN_FINDING_CHANGE,
                                                  .activity = row,
                                                  .gain = row->path_share});
    }
}

/* Faults stay as the analysis has ordered them. */
static int by_gain(const void *left, const void *right)
{
    const struct cts_run_finding *const a = left, *const b = right;
    if (a->order != b->order) return a->order < b->order ? -1 : 1;
    if (a->order != CTS_RUN_FINDING_FAULT && a->gain > b->gain) return -1;
    if (a->order != CTS_RUN_FINDING_FAULT && a->gain < b->gain) return 1;
    if (!a->access != !b->access) return a->access ? 1 : -1;
    if (a->access) return (a->access > b->access) - (a->access < b->access);
    if (a->fault) return (a->fault > b->fault) - (a->fault < b->fault);
    return (a->activity > b->activity) - (a->activity < b->activity);
}

enum cts_status cts_run_findings_find(const struct cts_run_material *material,
                                      struct cts_run_findings *findings, struct cts_error *error)
{
    struct collection collection = {.material = material, .findings = findings};
    const size_t most = (material->access ? material->access->finding_count : 0) +
                        (material->path ? material->path->row_count : 0) +
                        (material->catalogue ? material->catalogue->fault_count : 0);
    *findings = (struct cts_run_findings){.by_time = material->path != NULL};
    findings->items = cts_array_zeroed(most + 1, sizeof *findings->items, error);
    if (!findings->items) return CTS_MEMORY;
    const enum cts_status status = find_kernels(&collection, error);
    if (!status) {
        add_faults(&collection);
        add_accesses(&collection);
        add_activities(&collection);
        qsort(findings->items, findings->count, sizeof *findings->items, by_gain);
    }
    free(collection.kernels);
    return status;
}

void cts_run_findings_release(struct cts_run_findings *findings)
{
    free(findings->items);
    *findings = (struct cts_run_findings){0};
}
