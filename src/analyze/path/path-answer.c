#include "analyze/path/path-answer.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/path/ranks.h"

/* What it is made of. */
struct answer {
    const struct cts_path_system *system;
    const struct cts_path_profile *profile;
    const struct cts_path_totals *totals;
};

/* ---- rows ---- */

static enum cts_path_where where_of(const struct cts_path_system *system,
                                    const struct cts_path_profile *profile, uint32_t region)
{
    if (region >= system->pseudo) {
        switch (region - system->pseudo) {
        case CTS_PATH_COPY_HTOD:
        case CTS_PATH_COPY_DTOH:
        case CTS_PATH_COPY_DTOD:
            return CTS_PATH_ON_DEVICE;
        case CTS_PATH_FLUSH:
        case CTS_PATH_NO_REGION: /* code of the host that nobody named */
            return CTS_PATH_ON_HOST;
        default:
            return CTS_PATH_LATENCY;
        }
    }
    if (profile->times[region].on_device) return CTS_PATH_ON_DEVICE;
    return system->regions[region].paradigm == CTS_PARADIGM_MPI ? CTS_PATH_IN_MPI
                                                                : CTS_PATH_ON_HOST;
}

/* Sums over processes: numbers of 128 bits travel as three limbs whose sums cannot overflow. */
static enum cts_status add_up(const struct cts_path_system *system,
                              struct cts_path_profile *profile, struct cts_path_totals *totals,
                              struct cts_error *error)
{
    enum { LIMBS = 10 };
    uint64_t *const path_ns = totals->path_ns;
    unsigned __int128 *const blame = totals->blamed.blame;
    const uint32_t count = system->region_count;
    uint64_t *const limbs = cts_array_zeroed((size_t)count * LIMBS, sizeof *limbs, error);
    enum cts_status status = limbs ? CTS_OK : CTS_MEMORY;
    if (!cts_processes_agree(system->processes, &status, error)) {
        free(limbs);
        return status;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t *const limb = &limbs[(size_t)i * LIMBS];
        limb[0] = path_ns[i];
        limb[1] = (uint32_t)blame[i];
        limb[2] = (uint32_t)(blame[i] >> 32);
        limb[3] = (uint64_t)(blame[i] >> 64);
        limb[4] = profile->times[i].calls;
        limb[5] = profile->times[i].inclusive_ns;
        limb[6] = profile->times[i].exclusive_ns;
        limb[7] = totals->sums.calls_ns[i];
        limb[8] = totals->sums.repeats[i];
        limb[9] = totals->sums.gaps_ns[i];
    }
    cts_processes_reduce_u64(system->processes, limbs, (size_t)count * LIMBS, CTS_REDUCE_SUM);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t *const limb = &limbs[(size_t)i * LIMBS];
        path_ns[i] = limb[0];
        blame[i] =
            limb[1] + ((unsigned __int128)limb[2] << 32) + ((unsigned __int128)limb[3] << 64);
        profile->times[i].calls = limb[4];
        profile->times[i].inclusive_ns = limb[5];
        profile->times[i].exclusive_ns = limb[6];
        totals->sums.calls_ns[i] = limb[7];
        totals->sums.repeats[i] = limb[8];
        totals->sums.gaps_ns[i] = limb[9];
    }
    for (uint32_t i = 0; i < count; i++) limbs[i] = profile->times[i].on_device;
    cts_processes_reduce_u64(system->processes, limbs, count, CTS_REDUCE_OR);
    for (uint32_t i = 0; i < count; i++)
        if (limbs[i]) profile->times[i].on_device = true;
    cts_processes_reduce_u64(system->processes, profile->warnings, CTS_PATH_WARNING_COUNT,
                             CTS_REDUCE_SUM);
    free(limbs);
    return CTS_OK;
}

static int by_rating(const void *left, const void *right)
{
    const struct cts_path_row *const a = left, *const b = right;
    if (a->rating != b->rating) return a->rating > b->rating ? -1 : 1;
    if (a->exclusive_ns != b->exclusive_ns) return a->exclusive_ns > b->exclusive_ns ? -1 : 1;
    return (a->region > b->region) - (a->region < b->region);
}

/* Blame in whole ns: what all rows up to here have, less what those before were given. */
static enum cts_status make_rows(const struct answer *answer, const struct cts_path_spread *spread,
                                 struct cts_path *result, struct cts_error *error)
{
    const struct cts_path_system *const system = answer->system;
    const struct cts_path_profile *const profile = answer->profile;
    const struct cts_path_totals *const totals = answer->totals;
    assert(system->region_count >= system->pseudo);
    const struct cts_path_options *const options = system->options;
    const bool plain = options->path_weight == 0 && options->blame_weight == 0;
    const double path_weight = plain ? 1 : options->path_weight;
    const double blame_weight = plain ? 1 : options->blame_weight;
    result->rows = cts_array_zeroed(system->region_count, sizeof *result->rows, error);
    if (!result->rows) return CTS_MEMORY;
    unsigned __int128 sum = 0;
    for (uint32_t i = 0; i < system->region_count; i++) {
        const uint64_t before_ns = (uint64_t)(sum >> 32);
        sum += totals->blamed.blame[i];
        struct cts_path_row row = {.region = i,
                                   .where = where_of(system, profile, i),
                                   .frame = system->regions[i].kind == CTS_PATH_ALL ||
                                            i == system->pseudo + CTS_PATH_START,
                                   .calls = profile->times[i].calls,
                                   .inclusive_ns = profile->times[i].inclusive_ns,
                                   .exclusive_ns = profile->times[i].exclusive_ns,
                                   .wait_ns = totals->sums.calls_ns[i],
                                   .repeats = totals->sums.repeats[i],
                                   .gaps_ns = totals->sums.gaps_ns[i],
                                   .path_ns = totals->path_ns[i],
                                   .blame_ns = (uint64_t)(sum >> 32) - before_ns,
                                   .least_ns = spread[i].least_ns,
                                   .most_ns = spread[i].most_ns,
                                   .least_rank = spread[i].least_rank,
                                   .most_rank = spread[i].most_rank,
                                   .stay = totals->stays[i]};
        result->blame_ns += row.blame_ns;
        if (row.stay.ns) row.stay.begin_ns -= profile->first_ns;
        result->path_where_ns[row.where] += row.path_ns;
        if (!row.frame) result->program_path_ns += row.path_ns;
        if (!row.frame) result->program_blame_ns += row.blame_ns;
        if (result->path_ns) row.path_share = (double)row.path_ns / (double)result->path_ns;
        if (result->wait_ns) row.blame_share = (double)row.blame_ns / (double)result->wait_ns;
        row.rating = path_weight * row.path_share + blame_weight * row.blame_share;
        if (row.calls || row.path_ns || row.blame_ns) result->rows[result->row_count++] = row;
    }
    qsort(result->rows, result->row_count, sizeof *result->rows, by_rating);
    return CTS_OK;
}

/* ---- the rest ---- */

/* First enter of MPI_Init and last leave of MPI_Finalize. */
static void find_mpi_span(const struct cts_path_system *system,
                          const struct cts_path_profile *profile, struct cts_path *result)
{
    uint64_t init_ns = profile->mpi_begin_ns, finalize_ns = profile->mpi_end_ns;
    cts_processes_reduce_u64(system->processes, &init_ns, 1, CTS_REDUCE_MIN);
    cts_processes_reduce_u64(system->processes, &finalize_ns, 1, CTS_REDUCE_MAX);
    if (init_ns >= finalize_ns) return;
    result->init_ns = init_ns;
    result->finalize_ns = finalize_ns;
    if (cts_path_clip(system, &init_ns, &finalize_ns))
        result->mpi_path_ns = finalize_ns - init_ns; /* the path is at every time somewhere */
}

/* Counts and times of the whole. */
static void count_all(const struct answer *answer, struct cts_path *result)
{
    const struct cts_path_system *const system = answer->system;
    const struct cts_path_profile *const profile = answer->profile;
    const struct cts_path_totals *const totals = answer->totals;
    uint64_t counts[4] = {profile->event_count, profile->node_count, totals->jumps,
                          totals->crossings};
    for (uint32_t l = 0; l < system->location_count; l++)
        result->stream_count += system->who[l].stream;
    cts_processes_reduce_u64(system->processes, counts, 4, CTS_REDUCE_SUM);
    result->event_count = counts[0];
    result->node_count = counts[1];
    result->path_jumps = counts[2];
    result->path_crossings = counts[3];
    result->location_count = system->location_count;
    result->process_count = system->process_count;
    result->first_ns = profile->first_ns;
    result->last_ns = profile->last_ns;
    result->part_begin_ns = profile->first_ns;
    result->part_end_ns = profile->last_ns;
    if (!cts_path_clip(system, &result->part_begin_ns, &result->part_end_ns))
        result->part_end_ns = result->part_begin_ns;
    result->path_ns = result->part_end_ns - result->part_begin_ns;
    uint64_t starts[] = {totals->starts.count, totals->starts.late_count, totals->starts.start_ns,
                         totals->starts.work_ns};
    cts_processes_reduce_u64(system->processes, starts, 4, CTS_REDUCE_SUM);
    result->starts = (struct cts_path_starts){starts[0], starts[1], starts[2], starts[3]};
    const struct cts_path_blocked *const own = &totals->blocked;
    uint64_t blocked[] = {own->count, own->cpu_ns, own->time_ns};
    uint64_t first = own->count ? own->location : UINT64_MAX;
    cts_processes_reduce_u64(system->processes, blocked, 3, CTS_REDUCE_SUM);
    cts_processes_reduce_u64(system->processes, &first, 1, CTS_REDUCE_MIN);
    result->blocked = (struct cts_path_blocked){blocked[0], blocked[1], blocked[2], first};
    result->stretch_count = totals->stretch_count;
    memcpy(result->warnings, profile->warnings, sizeof result->warnings);
}

static enum cts_status name_regions(const struct cts_path_system *system, struct cts_path *result,
                                    struct cts_error *error)
{
    result->timeline = system->timeline;
    result->region_count = system->region_count;
    result->start_region = system->pseudo + CTS_PATH_START;
    const char **const names = cts_array_zeroed(system->region_count, sizeof *names, error);
    if (!names) return CTS_MEMORY;
    for (uint32_t i = 0; i < system->region_count; i++) names[i] = system->regions[i].name;
    const enum cts_status status =
        cts_short_names_make(names, system->region_count, &result->names, error);
    result->region_names = result->names.full;
    free(names);
    return status;
}

/* Lists that the questions made. */
static void take_lists(struct cts_path_totals *totals, struct cts_path *result)
{
    result->devices = totals->devices;
    result->kept.segments = totals->segments;
    result->kept.blames = totals->blamed.kept;
    totals->devices = (struct cts_path_devices){0};
    totals->segments = (struct cts_path_segments){0};
    totals->blamed.kept = NULL;
}

enum cts_status cts_path_answer(const struct cts_path_system *system,
                                struct cts_path_profile *profile, struct cts_path_totals *totals,
                                struct cts_path *result, struct cts_error *error)
{
    const struct answer answer = {system, profile, totals};
    struct cts_path_spread *const spread =
        cts_array_zeroed(system->region_count, sizeof *spread, error);
    enum cts_status status = spread ? CTS_OK : CTS_MEMORY;
    result->location_count = system->location_count;
    take_lists(totals, result);
    cts_path_give_patterns(system, &totals->sums, profile->first_ns, result);
    profile->warnings[CTS_PATH_WARNING_WAIT_CIRCLE] += totals->blamed.circles;
    if (cts_processes_agree(system->processes, &status, error))
        status = add_up(system, profile, totals, error);
    if (cts_processes_agree(system->processes, &status, error))
        status = cts_path_list_ranks(system, profile, totals->ranks, &result->ranks, error);
    if (!status) status = cts_path_share_stays(system, totals->stays, error);
    if (!status) status = cts_path_spread_ranks(system, profile, spread, error);
    if (!status) {
        count_all(&answer, result);
        find_mpi_span(system, profile, result);
        status = name_regions(system, result, error);
    }
    if (!status) status = make_rows(&answer, spread, result, error);
    free(spread);
    return status;
}

/* ---- kept ---- */

/* A poll whose wait begins where that of the poll before ends: they are one. */
static bool goes_on(const struct cts_path_graph *graph, uint32_t location,
                    const struct cts_path_wait *wait, struct cts_path_kept *kept)
{
    if (!(wait->flags & CTS_PATH_CONTINUES) || !kept->wait_count) return false;
    struct cts_path_kept_wait *const last = &kept->waits[kept->wait_count - 1];
    if (last->location != location || last->pattern != wait->pattern ||
        last->end_ns != wait->begin_ns - graph->first_ns)
        return false;
    last->end_ns = wait->end_ns - graph->first_ns;
    last->leave_ns = graph->locations[location].time_ns[wait->leave] - graph->first_ns;
    last->region = graph->locations[location].region[wait->call] & ~CTS_PATH_LEAVE;
    return true;
}

/* For those who draw them. */
enum cts_status cts_path_keep_waits(const struct cts_path_graph *graph, struct cts_path_kept *kept,
                                    struct cts_error *error)
{
    size_t count = 0;
    if (!graph->system->options->keep_waits) return CTS_OK;
    for (uint32_t i = 0; i < graph->system->location_count; i++)
        count += graph->locations[i].waits.count;
    kept->waits = cts_array_zeroed(count, sizeof *kept->waits, error);
    if (!kept->waits) return CTS_MEMORY;
    for (uint32_t i = 0; i < graph->system->location_count; i++) {
        if (!cts_path_is_mine(graph->system, i)) continue;
        const struct cts_path_waits *const waits = &graph->locations[i].waits;
        for (size_t w = 0; w < waits->count; w++) {
            const struct cts_path_wait *const wait = &waits->items[w];
            if (wait->begin_ns >= wait->end_ns || wait->pattern == CTS_PATH_PATTERN_FORK) continue;
            if (goes_on(graph, i, wait, kept)) continue;
            const struct cts_path_edge *const edge = cts_path_binding(graph, i, wait);
            kept->waits[kept->wait_count++] = (struct cts_path_kept_wait){
                .begin_ns = wait->begin_ns - graph->first_ns,
                .end_ns = wait->end_ns - graph->first_ns,
                .culprit_ns = edge && edge->source_ns > graph->first_ns
                                  ? edge->source_ns - graph->first_ns
                                  : 0,
                .location = i,
                .pattern = wait->pattern,
                .culprit = edge ? edge->location : CTS_PATH_NONE,
                .region = CTS_PATH_NONE,
            };
            if (wait->call == CTS_PATH_NONE) continue;
            struct cts_path_kept_wait *const last = &kept->waits[kept->wait_count - 1];
            last->region = graph->locations[i].region[wait->call] & ~CTS_PATH_LEAVE;
            last->leave_ns = graph->locations[i].time_ns[wait->leave] - graph->first_ns;
        }
    }
    return CTS_OK;
}
