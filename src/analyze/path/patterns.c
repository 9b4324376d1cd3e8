/* Waits by pattern: how many, how long, and the worst of each, with who is to blame for them. */
#include "analyze/path/patterns.h"

#include <stdlib.h>

#include "analyze/path/culprits.h"

/* Longer first; then the earlier; then by location. */
static bool worse(const struct cts_path_graph *graph, const struct cts_path_instance *a,
                  const struct cts_path_instance *b)
{
    const uint64_t a_ns = a->end_ns - a->begin_ns, b_ns = b->end_ns - b->begin_ns;
    if (a_ns != b_ns) return a_ns > b_ns;
    if (a->begin_ns != b->begin_ns) return a->begin_ns < b->begin_ns;
    return graph->system->who[a->location].order < graph->system->who[b->location].order;
}

static void keep_worst(const struct cts_path_graph *graph, struct cts_path_sums *sums,
                       unsigned pattern, const struct cts_path_instance *instance)
{
    struct cts_path_instance *const list = sums->worst[pattern];
    size_t *const count = &sums->worst_count[pattern];
    if (*count == sums->keep && !worse(graph, instance, &list[*count - 1])) return;
    if (*count < sums->keep) (*count)++;
    size_t at = *count - 1;
    for (; at > 0 && worse(graph, instance, &list[at - 1]); at--) list[at] = list[at - 1];
    list[at] = *instance;
}

/* A wait, or those of a loop of polls: of these, the longest that leave no time between them. */
struct together {
    const struct cts_path_wait *last; /* of the loop; NULL: none yet */
    uint64_t begin_ns, end_ns;        /* the last ones that leave no time */
    uint64_t best_begin_ns, best_end_ns;
    bool counted;
};

/* Nothing more belongs to it: it may be one of the worst. */
static void close_wait(const struct cts_path_graph *graph, struct cts_path_sums *sums,
                       uint32_t location, struct together *together)
{
    const struct cts_path_wait *const wait = together->last;
    if (!wait) return;
    together->last = NULL;
    struct cts_path_instance instance = {.begin_ns = together->best_begin_ns,
                                         .end_ns = together->best_end_ns,
                                         .location = location,
                                         .culprit = CTS_PATH_NONE,
                                         .blamed = CTS_PATH_NONE,
                                         .blamed_region = CTS_PATH_NONE};
    const size_t count = sums->worst_count[wait->pattern];
    if (count == sums->keep && !worse(graph, &instance, &sums->worst[wait->pattern][count - 1]))
        return;
    const struct cts_path_edge *const edge = cts_path_binding(graph, location, wait);
    if (edge) instance.culprit = edge->location;
    keep_worst(graph, sums, wait->pattern, &instance);
}

/* [begin_ns, end_ns) of a wait. */
static void add_piece(struct together *together, const struct cts_path_wait *wait,
                      uint64_t begin_ns, uint64_t end_ns)
{
    if (!together->last || together->end_ns != begin_ns) together->begin_ns = begin_ns;
    if (!together->last) together->best_begin_ns = together->best_end_ns = begin_ns;
    together->end_ns = end_ns;
    together->last = wait;
    if (end_ns - together->begin_ns <= together->best_end_ns - together->best_begin_ns) return;
    together->best_begin_ns = together->begin_ns;
    together->best_end_ns = end_ns;
}

static void add_wait(const struct cts_path_graph *graph, struct cts_path_sums *sums,
                     uint32_t location, const struct cts_path_wait *wait, struct together *together)
{
    uint64_t begin_ns = wait->begin_ns, end_ns = wait->end_ns;
    const bool continues = wait->flags & CTS_PATH_CONTINUES;
    if (begin_ns >= end_ns) return;
    if (!continues) {
        close_wait(graph, sums, location, together);
        together->counted = false;
    }
    if (end_ns <= graph->first_ns) return; /* the stretch before has it */
    if (!cts_path_clip(graph->system, &begin_ns, &end_ns)) return;
    const uint64_t time_ns = end_ns - begin_ns;
    sums->counts[wait->pattern] += !together->counted;
    together->counted = true;
    sums->times_ns[wait->pattern] += time_ns;
    const bool on_stream = graph->system->who[location].stream;
    *(on_stream ? &sums->device_ns : &sums->host_ns) += time_ns;
    if (!on_stream && wait->call != CTS_PATH_NONE)
        sums->calls_ns[graph->locations[location].region[wait->call] & ~CTS_PATH_LEAVE] += time_ns;
    add_piece(together, wait, begin_ns, end_ns);
}

static enum cts_status open_worst(const struct cts_path_graph *graph, struct cts_path_sums *sums,
                                  struct cts_error *error)
{
    sums->keep = graph->system->options->worst ? graph->system->options->worst : 5;
    for (unsigned p = 0; p < CTS_PATH_PATTERN_COUNT; p++) {
        sums->worst[p] = cts_array_zeroed(sums->keep, sizeof *sums->worst[p], error);
        if (!sums->worst[p]) return CTS_MEMORY;
    }
    return CTS_OK;
}

static void sum_patterns(const struct cts_path_graph *graph, struct cts_path_sums *sums)
{
    for (uint32_t i = 0; i < graph->system->location_count; i++) {
        const uint32_t id = graph->system->by_process[i];
        if (!cts_path_is_mine(graph->system, id)) continue;
        const struct cts_path_waits *const waits = &graph->locations[id].waits;
        struct together together = {0}, loop = {0};
        for (size_t w = 0; w < waits->count; w++) {
            const struct cts_path_wait *const wait = &waits->items[w];
            const bool polls = wait->pattern == CTS_PATH_PATTERN_EVENT_QUERY ||
                               wait->pattern == CTS_PATH_PATTERN_STREAM_QUERY;
            add_wait(graph, sums, id, wait, polls ? &loop : &together);
        }
        close_wait(graph, sums, id, &together);
        close_wait(graph, sums, id, &loop);
        for (size_t k = 0; k < graph->locations[id].repeats.count; k++) {
            const struct cts_path_repeats *const item = &graph->locations[id].repeats.items[k];
            sums->repeats[item->region] += item->count;
            sums->gaps_ns[item->region] += item->gap_ns;
        }
    }
}

/* The worst of all processes. */
static enum cts_status share_worst(const struct cts_path_graph *graph, struct cts_path_sums *sums,
                                   unsigned pattern, struct cts_error *error)
{
    void *all = NULL;
    size_t *offsets = NULL;
    const size_t size = sizeof(struct cts_path_instance);
    enum cts_status status = cts_processes_all_gather(
        graph->system->processes,
        (struct cts_sent_block){sums->worst[pattern], sums->worst_count[pattern] * size}, &all,
        &offsets, error);
    if (status) return status;
    const unsigned total = graph->system->processes ? graph->system->processes->count : 1;
    sums->worst_count[pattern] = 0;
    const struct cts_path_instance *const list = all;
    for (size_t i = 0; i < offsets[total] / size; i++) keep_worst(graph, sums, pattern, &list[i]);
    free(all);
    free(offsets);
    return CTS_OK;
}

/* The worst of a stretch that are among the worst of all get their culprits: its graph goes. */
static enum cts_status add_worst(const struct cts_path_graph *graph, struct cts_path_sums *all,
                                 struct cts_path_sums *sums, unsigned pattern,
                                 struct cts_error *error)
{
    struct cts_path_instance *const list = sums->worst[pattern];
    const bool full = all->worst_count[pattern] == all->keep;
    size_t count = 0; /* those that may stay are the first: both lists are sorted */
    while (count < sums->worst_count[pattern] &&
           (!full || worse(graph, &list[count], &all->worst[pattern][all->keep - 1])))
        count++;
    const enum cts_status status = cts_path_find_culprits(graph, list, count, error);
    for (size_t i = 0; i < count && !status; i++) keep_worst(graph, all, pattern, &list[i]);
    return status;
}

enum cts_status cts_path_sum_patterns(const struct cts_path_graph *graph, struct cts_path_sums *all,
                                      struct cts_error *error)
{
    struct cts_path_sums sums = {
        .calls_ns = all->calls_ns, .repeats = all->repeats, .gaps_ns = all->gaps_ns};
    enum cts_status status = open_worst(graph, &sums, error);
    if (!status && !all->worst[0]) status = open_worst(graph, all, error);
    if (!cts_processes_agree(graph->system->processes, &status, error)) goto out;
    sum_patterns(graph, &sums);
    for (unsigned p = 0; p < CTS_PATH_PATTERN_COUNT && !status; p++) {
        status = share_worst(graph, &sums, p, error);
        if (!status) status = add_worst(graph, all, &sums, p, error);
        all->counts[p] += sums.counts[p];
        all->times_ns[p] += sums.times_ns[p];
    }
    all->host_ns += sums.host_ns;
    all->device_ns += sums.device_ns;
out:
    cts_path_sums_release(&sums);
    return status;
}

void cts_path_give_patterns(const struct cts_path_system *system, struct cts_path_sums *sums,
                            uint64_t first_ns, struct cts_path *result)
{
    cts_processes_reduce_u64(system->processes, sums->counts, CTS_PATH_PATTERN_COUNT,
                             CTS_REDUCE_SUM);
    cts_processes_reduce_u64(system->processes, sums->times_ns, CTS_PATH_PATTERN_COUNT,
                             CTS_REDUCE_SUM);
    uint64_t where[2] = {sums->host_ns, sums->device_ns};
    cts_processes_reduce_u64(system->processes, where, 2, CTS_REDUCE_SUM);
    result->host_wait_ns = where[0];
    result->device_wait_ns = where[1];
    result->wait_ns = where[0] + where[1];
    for (unsigned p = 0; p < CTS_PATH_PATTERN_COUNT; p++) {
        struct cts_path_pattern_row *const row = &result->patterns[p];
        *row = (struct cts_path_pattern_row){.pattern = (enum cts_path_pattern)p,
                                             .count = sums->counts[p],
                                             .time_ns = sums->times_ns[p],
                                             .worst = sums->worst[p],
                                             .worst_count = sums->worst_count[p]};
        sums->worst[p] = NULL;
        for (size_t i = 0; i < row->worst_count; i++) {
            row->worst[i].begin_ns -= first_ns;
            row->worst[i].end_ns -= first_ns;
        }
    }
}

void cts_path_sums_release(struct cts_path_sums *sums)
{
    for (unsigned p = 0; p < CTS_PATH_PATTERN_COUNT; p++) free(sums->worst[p]);
}
