/* Matching: calls by communicator, then by process, then in their order; each communicator by
 * itself. */
#include "trace/collectives/collective-kernels.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/hash.h"
#include "trace/collectives/sequence.h"

/* A stream's operations end within so much of each other on all members, and within a part of the
 * time between two operations: else the streams are no members of one communicator. */
enum { TOGETHER_NS = 50000, TOGETHER_PART = 8 };

struct matching {
    const struct cts_nccl_kernel *calls;
    size_t count;
    uint32_t *order; /* by communicator, process, stream where no communicator is known, begin */
    struct cts_collective_match *match;
    struct cts_error *error;
};

struct range {
    size_t first, end; /* in `order` */
};

/* ---- order ---- */

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_sequence(const void *left, const void *right, void *state)
{
    const struct cts_nccl_kernel *const calls = state;
    const uint32_t l = *(const uint32_t *)left, r = *(const uint32_t *)right;
    const struct cts_nccl_kernel *const a = &calls[l], *const b = &calls[r];
    int order = compare(a->communicator, b->communicator);
    if (!order) order = compare(a->process, b->process);
    if (!order && !a->communicator) order = compare(a->stream, b->stream);
    if (!order) order = compare(a->begin_ns, b->begin_ns);
    return order ? order : compare(l, r);
}

static bool same_sequence(const struct cts_nccl_kernel *a, const struct cts_nccl_kernel *b)
{
    return a->communicator == b->communicator && a->process == b->process &&
           (a->communicator || a->stream == b->stream);
}

static const struct cts_nccl_kernel *at(const struct matching *m, size_t place)
{
    return &m->calls[m->order[place]];
}

static struct range next_sequence(const struct matching *m, size_t first, size_t end)
{
    struct range range = {first, first + 1};
    while (range.end < end && same_sequence(at(m, first), at(m, range.end))) range.end++;
    return range;
}

/* ---- operations ---- */

static void set_operation(struct matching *m, size_t place, uint32_t operation)
{
    m->match->operation[m->order[place]] = operation;
}

/* ---- by number ---- */

struct numbered {
    uint64_t number;
    uint32_t process, repeat; /* repeat: of several calls of a process with this number */
    size_t place;
};

static int by_number(const void *left, const void *right)
{
    const struct numbered *const a = left, *const b = right;
    int order = compare(a->number, b->number);
    if (!order) order = compare(a->repeat, b->repeat);
    return order ? order : compare(a->place, b->place);
}

static bool is_numbered(const struct matching *m, struct range range)
{
    for (size_t i = range.first; i < range.end; i++)
        if (at(m, i)->number == CTS_COLLECTIVE_NUMBER) return false;
    return true;
}

static int by_process(const void *left, const void *right)
{
    const struct numbered *const a = left, *const b = right;
    int order = compare(a->number, b->number);
    if (!order) order = compare(a->process, b->process);
    return order ? order : compare(a->place, b->place);
}

static enum cts_status match_numbers(struct matching *m, struct range range)
{
    const size_t count = range.end - range.first;
    struct numbered *const list = cts_array_zeroed(count, sizeof *list, m->error);
    if (!list) return CTS_MEMORY;
    for (size_t i = 0; i < count; i++)
        list[i] = (struct numbered){.number = at(m, range.first + i)->number,
                                    .process = at(m, range.first + i)->process,
                                    .place = range.first + i};
    qsort(list, count, sizeof *list, by_process);
    for (size_t i = 1; i < count; i++)
        if (list[i].number == list[i - 1].number && list[i].process == list[i - 1].process)
            list[i].repeat = list[i - 1].repeat + 1;
    qsort(list, count, sizeof *list, by_number);
    uint32_t *const operations = &m->match->operation_count;
    for (size_t i = 0; i < count; i++) {
        const bool is_new =
            !i || list[i].number != list[i - 1].number || list[i].repeat != list[i - 1].repeat;
        *operations += is_new;
        set_operation(m, list[i].place, *operations - 1);
    }
    free(list);
    return CTS_OK;
}

/* ---- by order ---- */

static struct cts_collective_sequence sequence_of(const struct matching *m, struct range range)
{
    return (struct cts_collective_sequence){m->calls, m->order + range.first,
                                            range.end - range.first};
}

/* A sequence and where it lies: its call i is number i + shift of its cluster, in which the first
 * sequence has shift 0. */
struct placed {
    struct range range;
    size_t cluster;
    ptrdiff_t shift;
};

struct placement {
    struct placed *items;
    size_t count;
};

static enum cts_status list_sequences(const struct matching *m, struct range range,
                                      struct placement *placement)
{
    placement->items =
        cts_array_zeroed(range.end - range.first, sizeof *placement->items, m->error);
    placement->count = 0;
    if (!placement->items) return CTS_MEMORY;
    for (size_t i = range.first; i < range.end;) {
        struct placed *const placed = &placement->items[placement->count];
        placed->range = next_sequence(m, i, range.end);
        placed->cluster = placement->count++;
        i = placed->range.end;
    }
    return CTS_OK;
}

/* The numbers of a cluster become operations, whichever sequences reach them. */
static void open_cluster(struct matching *m, const struct placement *placement, size_t cluster)
{
    ptrdiff_t least = 0, most = 0;
    for (size_t i = 0; i < placement->count; i++) {
        const struct placed *const placed = &placement->items[i];
        const ptrdiff_t end = placed->shift + (ptrdiff_t)(placed->range.end - placed->range.first);
        if (placed->cluster != cluster) continue;
        if (placed->shift < least) least = placed->shift;
        if (end > most) most = end;
    }
    const uint32_t first = m->match->operation_count;
    for (size_t i = 0; i < placement->count; i++) {
        const struct placed *const placed = &placement->items[i];
        for (size_t k = placed->range.first; placed->cluster == cluster && k < placed->range.end;
             k++)
            set_operation(
                m, k,
                first + (uint32_t)((ptrdiff_t)(k - placed->range.first) + placed->shift - least));
    }
    m->match->operation_count += (uint32_t)(most - least);
}

static size_t longest(const struct placement *placement)
{
    size_t found = 0;
    for (size_t i = 1; i < placement->count; i++)
        if (placement->items[i].range.end - placement->items[i].range.first >
            placement->items[found].range.end - placement->items[found].range.first)
            found = i;
    return found;
}

/* The longest sequence is the one that all others are laid beside. */
static enum cts_status match_order(struct matching *m, struct range range)
{
    struct placement placement;
    if (list_sequences(m, range, &placement)) return CTS_MEMORY;
    const size_t first = longest(&placement);
    const struct cts_collective_sequence other = sequence_of(m, placement.items[first].range);
    for (size_t i = 0; i < placement.count; i++) {
        struct placed *const placed = &placement.items[i];
        const struct cts_collective_sequence one = sequence_of(m, placed->range);
        struct cts_collective_shift shift;
        if (i == first) continue;
        cts_collective_lay(&one, &other, &shift);
        placed->shift = shift.shift;
        placed->cluster = shift.found && shift.is_sure ? first : SIZE_MAX;
        if (placed->cluster == SIZE_MAX)
            m->match->ambiguous += placed->range.end - placed->range.first;
    }
    open_cluster(m, &placement, first);
    free(placement.items);
    return CTS_OK;
}

/* ---- a communicator ---- */

/* More processes than it has members: several communicators have one name. */
static bool is_crowded(const struct matching *m, struct range range)
{
    uint32_t processes = 0, members = UINT32_MAX;
    for (size_t i = range.first; i < range.end; i++) {
        processes += i == range.first || at(m, i)->process != at(m, i - 1)->process;
        if (at(m, i)->member_count && at(m, i)->member_count < members)
            members = at(m, i)->member_count;
    }
    return processes > members;
}

static enum cts_status match_communicator(struct matching *m, struct range range)
{
    if (is_crowded(m, range)) {
        m->match->ambiguous += range.end - range.first;
        return CTS_OK;
    }
    if (is_numbered(m, range)) return match_numbers(m, range);
    return match_order(m, range);
}

/* ---- streams of no known communicator ---- */

static bool ends_together(const struct matching *m, const struct cts_collective_shift *shift,
                          struct range range)
{
    const struct cts_collective_sequence one = sequence_of(m, range);
    const double part = (double)cts_collective_pace(&one) / TOGETHER_PART;
    return shift->found && shift->is_sure && one.count > 1 &&
           (shift->spread_ns <= part || part <= 0) && shift->spread_ns <= TOGETHER_NS;
}

static bool is_in(const struct matching *m, const struct placement *placement, size_t until,
                  size_t cluster)
{
    const uint32_t process = at(m, placement->items[until].range.first)->process;
    for (size_t i = 0; i < until; i++)
        if (placement->items[i].cluster == cluster &&
            at(m, placement->items[i].range.first)->process == process)
            return true;
    return false;
}

/* Beside which of the sequences before it, each the first of its cluster, it ends best. */
static void find_cluster(const struct matching *m, const struct placement *placement, size_t index)
{
    struct placed *const placed = &placement->items[index];
    const struct cts_collective_sequence one = sequence_of(m, placed->range);
    double best_ns = 0;
    for (size_t c = 0; c < index; c++) {
        struct cts_collective_shift here;
        if (placement->items[c].cluster != c || is_in(m, placement, index, c)) continue;
        const struct cts_collective_sequence other = sequence_of(m, placement->items[c].range);
        cts_collective_lay(&one, &other, &here);
        if (!ends_together(m, &here, placed->range)) continue;
        if (placed->cluster != index && here.spread_ns >= best_ns) continue;
        placed->cluster = c;
        placed->shift = here.shift;
        best_ns = here.spread_ns;
    }
}

static enum cts_status match_streams(struct matching *m, struct range range)
{
    struct placement placement;
    if (list_sequences(m, range, &placement)) return CTS_MEMORY;
    for (size_t i = 0; i < placement.count; i++) find_cluster(m, &placement, i);
    for (size_t i = 0; i < placement.count; i++)
        if (placement.items[i].cluster == i) open_cluster(m, &placement, i);
    free(placement.items);
    return CTS_OK;
}

/* ---- what came of it ---- */

struct tally {
    uint32_t calls, members; /* members: 0 not known */
    uint64_t kind, first_ns;
    bool contradicts;
    uint32_t number; /* among those that remain, by begin */
};

static void tally_calls(const struct matching *m, struct tally *tallies)
{
    for (size_t i = 0; i < m->count; i++) {
        const struct cts_nccl_kernel *const call = &m->calls[i];
        if (m->match->operation[i] == CTS_COLLECTIVE_NONE) continue;
        struct tally *const tally = &tallies[m->match->operation[i]];
        if (!tally->calls++) {
            tally->kind = call->kind;
            tally->first_ns = call->begin_ns;
        }
        tally->contradicts |= tally->kind != call->kind;
        if (call->member_count > tally->members) tally->members = call->member_count;
        if (call->begin_ns < tally->first_ns) tally->first_ns = call->begin_ns;
    }
}

struct ranked {
    uint64_t first_ns;
    uint32_t operation;
};

static int by_first(const void *left, const void *right)
{
    const struct ranked *const a = left, *const b = right;
    const int order = compare(a->first_ns, b->first_ns);
    return order ? order : compare(a->operation, b->operation);
}

/* Numbers those that remain by their first begin. */
static enum cts_status number_operations(struct matching *m, struct tally *tallies)
{
    const uint32_t count = m->match->operation_count;
    struct ranked *const list = cts_array_zeroed(count, sizeof *list, m->error);
    uint32_t kept = 0;
    if (!list) return CTS_MEMORY;
    for (uint32_t o = 0; o < count; o++) {
        const struct tally *const tally = &tallies[o];
        tallies[o].number = CTS_COLLECTIVE_NONE;
        if (tally->contradicts)
            m->match->ambiguous += tally->calls;
        else if (tally->calls < 2)
            m->match->alone += tally->calls;
        else
            list[kept++] = (struct ranked){tally->first_ns, o};
    }
    qsort(list, kept, sizeof *list, by_first);
    for (uint32_t i = 0; i < kept; i++) {
        struct tally *const tally = &tallies[list[i].operation];
        tally->number = i;
        m->match->matched += tally->calls;
        m->match->partial += tally->members > tally->calls;
    }
    m->match->operation_count = kept;
    free(list);
    return CTS_OK;
}

static enum cts_status settle(struct matching *m)
{
    struct tally *const tallies =
        cts_array_zeroed(m->match->operation_count, sizeof *tallies, m->error);
    if (!tallies) return CTS_MEMORY;
    tally_calls(m, tallies);
    const enum cts_status status = number_operations(m, tallies);
    for (size_t i = 0; i < m->count && !status; i++) {
        uint32_t *const operation = &m->match->operation[i];
        if (*operation != CTS_COLLECTIVE_NONE) *operation = tallies[*operation].number;
    }
    free(tallies);
    return status;
}

enum cts_status cts_collectives_match(const struct cts_nccl_kernel *calls, size_t count,
                                      struct cts_collective_match *match, struct cts_error *error)
{
    struct matching m = {.calls = calls, .count = count, .match = match, .error = error};
    *match = (struct cts_collective_match){.operation_count = 0};
    if (count >= CTS_COLLECTIVE_NONE)
        return cts_fail(error, CTS_LIMIT, "too many kernels of collectives: %zu", count);
    m.order = cts_array_zeroed(count, sizeof *m.order, error);
    match->operation = cts_array_zeroed(count, sizeof *match->operation, error);
    enum cts_status status = m.order && match->operation ? CTS_OK : CTS_MEMORY;
    for (size_t i = 0; i < count && !status; i++) {
        m.order[i] = (uint32_t)i;
        match->operation[i] = CTS_COLLECTIVE_NONE;
    }
    if (!status) qsort_r(m.order, count, sizeof *m.order, by_sequence, (void *)(uintptr_t)calls);
    for (size_t i = 0; i < count && !status;) {
        struct range range = {i, i + 1};
        while (range.end < count && at(&m, range.end)->communicator == at(&m, i)->communicator)
            range.end++;
        status = at(&m, i)->communicator ? match_communicator(&m, range) : match_streams(&m, range);
        i = range.end;
    }
    if (!status) status = settle(&m);
    free(m.order);
    return status;
}

void cts_collective_match_release(struct cts_collective_match *match)
{
    free(match->operation);
    *match = (struct cts_collective_match){.operation_count = 0};
}
