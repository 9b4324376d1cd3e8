/* Questions to a catalogue in memory. */
#include <stdlib.h>
#include <string.h>

#include "common/search.h"
#include "common/promise.h"
#include "trace/catalogue-check.h"
#include "trace/catalogue-rows.h"

/* ---- launches by id ---- */

static int compare_launch_ids(const void *a, const void *b, void *launches_argument)
{
    const struct cts_launch *const launches = launches_argument;
    const uint32_t x = launches[*(const uint32_t *)a].launch;
    const uint32_t y = launches[*(const uint32_t *)b].launch;
    return (x > y) - (x < y);
}

enum cts_status cts_catalogue_index_launches(struct cts_catalogue *catalogue,
                                             struct cts_error *error)
{
    struct cts_catalogue_private *const p = catalogue->private_data;
    const size_t count = catalogue->launch_count;
    p->launch_order = calloc(count + 1, sizeof *p->launch_order);
    if (!p->launch_order) return cts_catalogue_no_memory(error);
    for (size_t i = 0; i < count; i++) p->launch_order[i] = (uint32_t)i;
    qsort_r(p->launch_order, count, sizeof *p->launch_order, compare_launch_ids,
            catalogue->launches);
    for (size_t i = 1; i < count; i++) {
        const uint32_t id = catalogue->launches[p->launch_order[i]].launch;
        if (id != catalogue->launches[p->launch_order[i - 1]].launch) continue;
        cts_fail(error, CTS_FORMAT, "column 'launch': duplicate");
        return cts_catalogue_row_context(CTS_TABLE_LAUNCHES, id, error);
    }
    return CTS_OK;
}

const struct cts_launch *cts_catalogue_launch(const struct cts_catalogue *catalogue,
                                              uint32_t launch)
{
    const struct cts_catalogue_private *const p = catalogue->private_data;
    if (!p) { /* made in memory: in no known order */
        for (size_t i = 0; i < catalogue->launch_count; i++)
            if (catalogue->launches[i].launch == launch) return &catalogue->launches[i];
        return NULL;
    }
    const size_t at = CTS_SEARCH(catalogue->launch_count, i,
                                 catalogue->launches[p->launch_order[i]].launch < launch);
    if (at == catalogue->launch_count) return NULL;
    const struct cts_launch *const row = &catalogue->launches[p->launch_order[at]];
    return row->launch == launch ? row : NULL;
}

const struct cts_ending *cts_catalogue_own_end(const struct cts_catalogue *catalogue, uint32_t rank)
{
    for (size_t i = 0; i < catalogue->ending_count; i++) {
        const struct cts_ending *const ending = &catalogue->endings[i];
        if (ending->rank == rank && ending->how &&
            (!strcmp(ending->how, "closed") || !strcmp(ending->how, "exit")))
            return ending;
    }
    return NULL;
}

bool cts_catalogue_lacks_constants(const struct cts_catalogue *catalogue)
{
    for (size_t i = 0; i < catalogue->rank_count; i++) {
        const char *const recorder = catalogue->ranks[i].recorder;
        if (recorder && !strcmp(recorder, "inject")) return true;
        if (recorder && !strcmp(recorder, "import")) return false;
    }
    for (size_t i = 0; i < catalogue->variable_count; i++) {
        const char *const kind = catalogue->variables[i].kind;
        if (kind && !strcmp(kind, "constant")) return true;
    }
    return false;
}

const struct cts_launch_fault *cts_catalogue_fault_of(const struct cts_catalogue *catalogue,
                                                      uint32_t launch)
{
    for (size_t i = 0; i < catalogue->fault_count; i++)
        if (catalogue->faults[i].launch == launch) return &catalogue->faults[i];
    return NULL;
}

const char *cts_catalogue_kernel_name(const struct cts_catalogue *catalogue, uint32_t kernel)
{
    return kernel < catalogue->kernel_count ? catalogue->kernels[kernel].name : NULL;
}

const struct cts_rank *cts_catalogue_find_rank(const struct cts_catalogue *catalogue, uint32_t rank)
{
    const size_t at = CTS_SEARCH(catalogue->rank_count, i, catalogue->ranks[i].rank < rank);
    return at < catalogue->rank_count && catalogue->ranks[at].rank == rank ? &catalogue->ranks[at]
                                                                           : NULL;
}

/* ---- the file ---- */

size_t cts_catalogue_key_count(const struct cts_catalogue *catalogue)
{
    return catalogue->private_data->key_count;
}

const char *cts_catalogue_key(const struct cts_catalogue *catalogue, size_t i, const char **value)
{
    assert(i < catalogue->private_data->key_count);
    const struct cts_run_entry *const key = &catalogue->private_data->keys[i];
    if (value) *value = key->value;
    return key->key;
}

const char *cts_catalogue_get(const struct cts_catalogue *catalogue, const char *key)
{
    const struct cts_catalogue_private *const p = catalogue->private_data;
    for (size_t i = 0; p && i < p->key_count; i++) /* a catalogue made by hand has no keys */
        if (strcmp(p->keys[i].key, key) == 0) return p->keys[i].value;
    return NULL;
}

bool cts_catalogue_knows_host(const struct cts_catalogue *catalogue)
{
    const char *const host = cts_catalogue_get(catalogue, "host_activity");
    return !host || strcmp(host, "unknown") != 0;
}

bool cts_catalogue_may_be_behind(const struct cts_catalogue *catalogue)
{
    for (size_t i = 0; i < catalogue->rank_count; i++)
        if (!catalogue->ranks[i].end_ns || catalogue->ranks[i].failure) return true;
    return false;
}
