/* Teams of threads that nothing records: OpenMP's, or a library's own. Only functions of the
 * program show what such threads do, beside those of the main thread:
 *
 *     main   [call]=[ work ]==..............=[call]
 *     one           [ work ]
 *     two           [ work ][ work ][ work ]
 *                   |                      e -|
 *
 * What a thread does between two calls of the main thread is a *row*. A thread is of a team if it
 * makes no call, lies mostly in rows that neither call cuts, and has a row after whose end e the
 * main thread, which did nothing recorded meanwhile, makes its next call promptly; or if its rows
 * begin with those of such a thread. Its rows follow the main thread, and the call at e follows the
 * rows before it. */
#include <stdlib.h>

#include "analyze/path/api.h"
#include "analyze/path/raw.h"
#include "analyze/path/steps.h"

enum { PROMPT_NS = 200000, PROMPT_PART = 8 };

struct gap { /* of the main thread: nodes; it makes no call between them */
    uint32_t first, last;
};

struct row {
    uint32_t thread, gap, first, last;
};

struct team {
    struct cts_path_graph *graph;
    struct cts_path_location *main;
    uint32_t main_id;
    CTS_PATH_LIST(struct gap, gaps);
    CTS_PATH_LIST(struct row, rows); /* by gap */
};

static bool is_call(const struct cts_path_graph *graph, uint32_t region)
{
    const struct cts_path_region *const r = &graph->system->regions[region];
    return r->kind != CTS_PATH_PLAIN ||
           (r->paradigm != CTS_PARADIGM_UNKNOWN && r->paradigm != CTS_PARADIGM_USER &&
            r->paradigm != CTS_PARADIGM_COMPILER);
}

static enum cts_status find_gaps(struct team *team, struct cts_error *error)
{
    const struct cts_path_location *const main = team->main;
    for (uint32_t first = 0; first + 1 < main->count; first++) {
        if (is_call(team->graph, cts_path_region_after(team->graph, main, first))) continue;
        uint32_t last = first + 1;
        while (last + 1 < main->count &&
               !is_call(team->graph, cts_path_region_after(team->graph, main, last)))
            last++;
        if (CTS_ARRAY_RESERVE(&team->gaps, team->gaps.count + 1, error)) return CTS_MEMORY;
        team->gaps.items[team->gaps.count++] = (struct gap){first, last};
        first = last;
    }
    return CTS_OK;
}

/* ---- whose rows ---- */

/* Whether nothing says how a thread hands over, and it launches nothing. */
static bool is_untold(const struct cts_path_location *at)
{
    const struct cts_path_raw *const raw = at->raw;
    return raw && at->count && !raw->handovers.count && !raw->functions.count &&
           !raw->teams.count && !raw->thread_events.count && !raw->forks.count && !raw->ops.count &&
           !raw->members.count;
}

static bool is_prompt(uint64_t from_ns, uint64_t to_ns, uint64_t row_ns)
{
    const uint64_t part_ns = row_ns / PROMPT_PART;
    return to_ns - from_ns <= (part_ns > PROMPT_NS ? part_ns : PROMPT_NS);
}

/* Whether the main thread did nothing recorded when a row ended, and went on promptly. */
static bool is_awaited(const struct team *team, const struct cts_path_location *at,
                       const struct row *row)
{
    const struct gap *const gap = &team->gaps.items[row->gap];
    const uint64_t end_ns = at->time_ns[row->last];
    if (gap->last + 1 >= team->main->count && team->main->region[gap->last] & CTS_PATH_LEAVE)
        return false;
    return end_ns > team->main->time_ns[gap->last - 1] &&
           is_prompt(end_ns, team->main->time_ns[gap->last], end_ns - at->time_ns[row->first]);
}

static uint64_t busy_ns(const struct cts_path_location *at, uint32_t first, uint32_t last)
{
    uint64_t sum_ns = 0;
    for (uint32_t node = first; node < last; node++)
        if (at->active[node] != CTS_PATH_NONE) sum_ns += at->time_ns[node + 1] - at->time_ns[node];
    return sum_ns;
}

/* The rows of a thread, unless calls of the main thread cut what it does. */
static enum cts_status add_thread(struct team *team, uint32_t id, struct cts_error *error)
{
    const struct cts_path_location *const at = &team->graph->locations[id];
    const size_t before = team->rows.count;
    uint64_t within_ns = 0;
    uint32_t node = 0;
    for (uint32_t g = 0; g < team->gaps.count && node < at->count; g++) {
        const uint64_t begin_ns = team->main->time_ns[team->gaps.items[g].first];
        const uint64_t end_ns = team->main->time_ns[team->gaps.items[g].last];
        while (node < at->count && at->time_ns[node] < begin_ns) node++;
        const uint32_t first = node;
        while (node < at->count && at->time_ns[node] <= end_ns) node++;
        if (node <= first + 1 || at->active[node - 1] != CTS_PATH_NONE ||
            (first && at->active[first - 1] != CTS_PATH_NONE))
            continue; /* nothing, or cut */
        const struct row row = {id, g, first, node - 1};
        if (CTS_ARRAY_RESERVE(&team->rows, team->rows.count + 1, error)) return CTS_MEMORY;
        team->rows.items[team->rows.count++] = row;
        within_ns += busy_ns(at, first, node - 1);
    }
    if (within_ns < busy_ns(at, 0, (uint32_t)at->count - 1) / 2) team->rows.count = before;
    return CTS_OK;
}

static int by_gap(const void *left, const void *right)
{
    const struct row *const a = left, *const b = right;
    if (a->gap != b->gap) return a->gap < b->gap ? -1 : 1;
    return (a->thread > b->thread) - (a->thread < b->thread);
}

static size_t count_of_gap(const struct team *team, size_t first)
{
    size_t end = first;
    while (end < team->rows.count && team->rows.items[end].gap == team->rows.items[first].gap)
        end++;
    return end - first;
}

/* Whether a row begins with one of a thread that is awaited. */
static bool has_mate(const struct team *team, const bool *awaited, const struct row *rows,
                     size_t count, const struct row *row)
{
    const struct cts_path_location *const at = &team->graph->locations[row->thread];
    const uint64_t begin_ns = at->time_ns[row->first], row_ns = at->time_ns[row->last] - begin_ns;
    for (size_t i = 0; i < count; i++) {
        const uint64_t mate_ns = team->graph->locations[rows[i].thread].time_ns[rows[i].first];
        if (awaited[rows[i].thread] && (mate_ns < begin_ns ? is_prompt(mate_ns, begin_ns, row_ns)
                                                           : is_prompt(begin_ns, mate_ns, row_ns)))
            return true;
    }
    return false;
}

/* Keeps the rows of threads that are awaited, and of those that begin with them more often than
 * not. */
static enum cts_status keep_members(struct team *team, struct cts_error *error)
{
    const uint32_t count = team->graph->system->location_count;
    bool *const awaited = cts_array_zeroed(count, sizeof *awaited, error);
    int64_t *const mates = cts_array_zeroed(count, sizeof *mates, error); /* rows with, without */
    size_t kept = 0;
    for (size_t i = 0; awaited && mates && i < team->rows.count; i++) {
        const struct row *const row = &team->rows.items[i];
        awaited[row->thread] |= is_awaited(team, &team->graph->locations[row->thread], row);
    }
    for (size_t i = 0, rows; awaited && mates && i < team->rows.count; i += rows) {
        rows = count_of_gap(team, i);
        for (size_t k = i; k < i + rows; k++)
            mates[team->rows.items[k].thread] +=
                has_mate(team, awaited, &team->rows.items[i], rows, &team->rows.items[k]) ? 1 : -1;
    }
    for (size_t i = 0; awaited && mates && i < team->rows.count; i++) {
        const struct row row = team->rows.items[i];
        if (awaited[row.thread] || mates[row.thread] > 0) team->rows.items[kept++] = row;
    }
    team->rows.count = kept;
    const bool failed = !awaited || !mates;
    free(awaited);
    free(mates);
    return failed ? CTS_MEMORY : CTS_OK;
}

/* ---- what follows what ---- */

static enum cts_status follow(struct cts_path_location *at, uint32_t node,
                              struct cts_path_edge before, struct cts_error *error)
{
    return cts_path_add_dependency(
        at,
        &(struct cts_path_dependency){
            .edge = before, .call = node, .pool = CTS_PATH_NONE, .pattern = CTS_PATH_PATTERN_FORK},
        error);
}

static enum cts_status begin_row(struct team *team, const struct row *row, struct cts_error *error)
{
    struct cts_path_location *const at = &team->graph->locations[row->thread];
    const uint64_t begin_ns = at->time_ns[row->first];
    return follow(
        at, row->first,
        (struct cts_path_edge){begin_ns, team->main_id, cts_path_node_at(team->main, begin_ns)},
        error);
}

/* The call behind a gap follows the rows in it. */
static enum cts_status end_rows(struct team *team, const struct row *rows, size_t count,
                                struct cts_path_edges *edges, struct cts_error *error)
{
    const struct gap *const gap = &team->gaps.items[rows->gap];
    const uint32_t region = team->main->active[gap->last - 1];
    uint64_t latest_ns = 0;
    enum cts_status status = CTS_ARRAY_RESERVE(edges, count, error);
    for (size_t i = 0; i < count && !status; i++) {
        const struct cts_path_location *const at = &team->graph->locations[rows[i].thread];
        edges->items[i] =
            (struct cts_path_edge){at->time_ns[rows[i].last], rows[i].thread, rows[i].last};
        if (edges->items[i].source_ns > latest_ns) latest_ns = edges->items[i].source_ns;
        if (region == CTS_PATH_NONE) status = follow(team->main, gap->last, edges->items[i], error);
    }
    if (status || region == CTS_PATH_NONE) return status;
    const struct cts_path_wait wait = {.begin_ns = team->main->time_ns[gap->last - 1],
                                       .end_ns = latest_ns,
                                       .call = region,
                                       .leave = cts_path_leave_of(team->main, region),
                                       .pattern = CTS_PATH_PATTERN_THREAD_JOIN,
                                       .flags = CTS_PATH_HOST_HOST};
    return cts_path_add_wait(team->main, &wait, edges->items, count, error);
}

static enum cts_status place(struct team *team, struct cts_error *error)
{
    struct cts_path_edges edges = {0};
    enum cts_status status = CTS_OK;
    uint64_t awaited = 0;
    for (size_t i = 0, count; i < team->rows.count && !status; i += count) {
        const struct row *const rows = &team->rows.items[i];
        bool is_last = false;
        count = count_of_gap(team, i);
        for (size_t k = 0; k < count && !status; k++) {
            is_last |= is_awaited(team, &team->graph->locations[rows[k].thread], &rows[k]);
            status = begin_row(team, &rows[k], error);
        }
        if (is_last && !status) status = end_rows(team, rows, count, &edges, error);
        awaited += is_last;
    }
    free(edges.items);
    cts_path_warn(team->graph, CTS_PATH_WARNING_TEAM_INFERRED, awaited);
    return status;
}

enum cts_status cts_path_infer_teams(struct cts_path_graph *graph, uint32_t process,
                                     struct cts_error *error)
{
    const struct cts_path_system *const system = graph->system;
    const uint32_t first = system->process_first[process], end = system->process_first[process + 1];
    if (first + 1 >= end) return CTS_OK;
    struct team team = {.graph = graph, .main_id = system->by_process[first]};
    team.main = &graph->locations[team.main_id];
    if (system->who[team.main_id].stream || !team.main->raw || team.main->count < 2) return CTS_OK;
    for (size_t i = 0; i < team.main->raw->ops.count; i++)
        if (team.main->raw->ops.items[i].api == CTS_PATH_API_LAUNCH_HOST) return CTS_OK;
    enum cts_status status = find_gaps(&team, error);
    for (uint32_t i = first + 1; i < end && !status; i++) {
        const uint32_t id = system->by_process[i];
        if (!system->who[id].stream && is_untold(&graph->locations[id]))
            status = add_thread(&team, id, error);
    }
    if (team.rows.count && !status) {
        qsort(team.rows.items, team.rows.count, sizeof *team.rows.items, by_gap);
        status = keep_members(&team, error);
    }
    if (!status) status = place(&team, error);
    free(team.gaps.items);
    free(team.rows.items);
    return status;
}
