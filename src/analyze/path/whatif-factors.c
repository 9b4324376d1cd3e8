/* Which activities a person means, and by how much each is altered: a factor per process and
 * region. A name that nothing has is told with what is near. */
#include <ctype.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/path/whatif-project.h"

enum { NEAR_MAX = 3 };

/* ---- names ---- */

/* A kernel's name may be given without its parameters. */
static bool is_named(const char *wanted, const char *name)
{
    if (!strcmp(wanted, name)) return true;
    if (strchr(wanted, '*')) return fnmatch(wanted, name, 0) == 0;
    const size_t length = strlen(wanted);
    return length && !strncmp(wanted, name, length) && name[length] == '(';
}

/* How unlike two names are: single letters to change, without regard to case. */
static unsigned distance(const char *a, const char *b)
{
    enum { LENGTH_MAX = 64 };
    unsigned row[LENGTH_MAX + 1];
    const size_t a_length = strnlen(a, LENGTH_MAX), b_length = strnlen(b, LENGTH_MAX);
    for (size_t k = 0; k <= b_length; k++) row[k] = (unsigned)k;
    for (size_t i = 1; i <= a_length; i++) {
        unsigned corner = row[0];
        row[0] = (unsigned)i;
        for (size_t k = 1; k <= b_length; k++) {
            const bool same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[k - 1]);
            unsigned best = corner + !same;
            corner = row[k];
            if (corner + 1 < best) best = corner + 1;
            if (row[k - 1] + 1 < best) best = row[k - 1] + 1;
            row[k] = best;
        }
    }
    return row[b_length];
}

static enum cts_status unknown_name(const struct cts_path_graph *graph, const char *wanted,
                                    struct cts_error *error)
{
    const char *near[NEAR_MAX] = {0};
    unsigned far[NEAR_MAX] = {0};
    for (uint32_t r = 0; r < graph->region_count; r++) {
        const char *const name = graph->regions[r].name;
        if (!graph->rows[r].calls) continue;
        unsigned d = distance(wanted, name);
        if (strcasestr(name, wanted)) d = 0;
        if (d > strlen(wanted) / 3 + 1) continue;
        unsigned at = NEAR_MAX;
        while (at > 0 && (!near[at - 1] || d < far[at - 1])) at--;
        if (at == NEAR_MAX) continue;
        memmove(&near[at + 1], &near[at], (NEAR_MAX - 1 - at) * sizeof *near);
        memmove(&far[at + 1], &far[at], (NEAR_MAX - 1 - at) * sizeof *far);
        near[at] = name;
        far[at] = d;
    }
    if (!near[0])
        return cts_fail(error, CTS_USAGE, "no activity is called '%s' ('ctascope path' lists all)",
                        wanted);
    return cts_fail(error, CTS_USAGE, "no activity is called '%s'; near it: '%s'%s%s%s%s%s%s",
                    wanted, near[0], near[1] ? ", '" : "", near[1] ? near[1] : "",
                    near[1] ? "'" : "", near[2] ? ", '" : "", near[2] ? near[2] : "",
                    near[2] ? "'" : "");
}

/* ---- factors ---- */

enum cts_status cts_whatif_open_factors(const struct cts_path_graph *graph,
                                        struct cts_whatif_factors *factors, struct cts_error *error)
{
    const size_t count = (size_t)graph->process_count * graph->region_count;
    factors->values = cts_array_zeroed(count, sizeof *factors->values, error);
    factors->lists = cts_array_zeroed(graph->process_count, sizeof *factors->lists, error);
    if (!factors->values || !factors->lists) return CTS_MEMORY;
    for (size_t i = 0; i < count; i++) factors->values[i] = 1;
    for (uint32_t p = 0; p < graph->process_count; p++)
        factors->lists[p] = factors->values + (size_t)p * graph->region_count;
    return CTS_OK;
}

void cts_whatif_close_factors(struct cts_whatif_factors *factors)
{
    free(factors->values);
    free(factors->lists);
}

uint32_t cts_whatif_rank_of(const struct cts_path_graph *graph, uint32_t process)
{
    return graph->timeline->groups[graph->process_group[process]].rank;
}

static bool runs_on(const struct cts_path_graph *graph, uint32_t process, uint32_t region)
{
    for (uint32_t i = graph->process_first[process]; i < graph->process_first[process + 1]; i++) {
        const struct cts_path_location *const at = &graph->locations[graph->by_process[i]];
        for (size_t n = 0; n < at->count; n++)
            if (at->region[n] == region) return true;
    }
    return false;
}

static bool can_change(const struct cts_path_graph *graph, uint32_t region)
{
    const uint32_t latency = region - graph->pseudo;
    return graph->rows[region].calls ||
           (region >= graph->pseudo &&
            (latency == CTS_PATH_LAUNCH_LATENCY || latency == CTS_PATH_MPI_TRANSFER ||
             latency == CTS_PATH_NO_REGION));
}

enum cts_status cts_whatif_apply_change(const struct cts_path_graph *graph,
                                        const struct cts_whatif_change *change,
                                        struct cts_whatif_factors *factors, struct cts_error *error)
{
    if (!(change->factor >= 0) || change->factor > 1e6)
        return cts_fail(error, CTS_USAGE,
                        "a factor is a number from 0 to 1000000, '%s' has another",
                        change->activity);
    bool known = false, rank_known = change->rank == CTS_WHATIF_ALL, found = false;
    for (uint32_t p = 0; p < graph->process_count; p++)
        rank_known |= cts_whatif_rank_of(graph, p) == change->rank;
    if (!rank_known) return cts_fail(error, CTS_USAGE, "the trace has no rank %u", change->rank);
    for (uint32_t r = 0; r < graph->region_count; r++) {
        if (!can_change(graph, r) || !is_named(change->activity, graph->regions[r].name)) continue;
        known = true;
        for (uint32_t p = 0; p < graph->process_count; p++) {
            if (change->rank != CTS_WHATIF_ALL && (cts_whatif_rank_of(graph, p) != change->rank ||
                                                   (!runs_on(graph, p, r) && graph->rows[r].calls)))
                continue;
            factors->values[(size_t)p * graph->region_count + r] = change->factor;
            found = true;
        }
    }
    if (!known) return unknown_name(graph, change->activity, error);
    if (!found)
        return cts_fail(error, CTS_USAGE, "'%s' does not run on rank %u", change->activity,
                        change->rank);
    return CTS_OK;
}
