/* Where one sequence lies beside another. Candidates are the shifts by which at least half of the
 * shorter sequence has a counterpart of the same kind, without exception. Of these the ones with
 * the fewest differences in bytes remain. All members of an operation end together, so that with
 * the true shift the distances between ends are the same in both up to some us, whatever the
 * clocks show; with a wrong one they differ as the work between operations does. If that decides
 * nothing, as in a program that repeats itself to the ns, clocks decide that agree well enough to
 * tell the candidates apart. */
#include "trace/collectives/sequence.h"

#include <math.h>
#include <stdlib.h>

enum {
    SAMPLES_MAX = 512,         /* pairs that a shift is judged by */
    FLOOR_NS = 1000,           /* ends of one operation differ by as much anyway */
    CLOCKS_AGREE_NS = 5000000, /* clocks of machines that are kept in time */
    CLEARLY = 2,               /* so many times better is better */
};

struct candidate {
    ptrdiff_t shift;
    size_t byte_differences;
    double spread_ns, offset_ns; /* offset: mean distance of the ends themselves */
};

struct laying {
    const struct cts_collective_sequence *one, *other;
    struct candidate best, second; /* by spread */
    struct candidate nearest;      /* by offset */
    double next_offset_ns;         /* of the candidate behind the nearest */
    size_t candidate_count;
};

static const struct cts_nccl_kernel *call_of(const struct cts_collective_sequence *sequence,
                                             size_t index)
{
    return &sequence->calls[sequence->order[index]];
}

struct overlap {
    size_t first, count; /* in `one` */
};

static struct overlap overlap_of(const struct laying *l, ptrdiff_t shift)
{
    const ptrdiff_t one = (ptrdiff_t)l->one->count, other = (ptrdiff_t)l->other->count;
    const ptrdiff_t first = shift < 0 ? -shift : 0;
    const ptrdiff_t end = one < other - shift ? one : other - shift;
    return (struct overlap){(size_t)first, end > first ? (size_t)(end - first) : 0};
}

static double end_difference(const struct laying *l, size_t index, ptrdiff_t shift)
{
    const uint64_t one = call_of(l->one, index)->end_ns;
    const uint64_t other = call_of(l->other, (size_t)((ptrdiff_t)index + shift))->end_ns;
    return one > other ? (double)(one - other) : -(double)(other - one);
}

/* False: a kind differs, of every `step`-th pair. */
static bool agrees(const struct laying *l, struct overlap overlap, size_t step,
                   struct candidate *candidate)
{
    for (size_t i = overlap.first; i < overlap.first + overlap.count; i += step) {
        const struct cts_nccl_kernel *const a = call_of(l->one, i);
        const struct cts_nccl_kernel *const b =
            call_of(l->other, (size_t)((ptrdiff_t)i + candidate->shift));
        if (a->kind != b->kind) return false;
        candidate->byte_differences += a->bytes && b->bytes && a->bytes != b->bytes;
    }
    return true;
}

/* Over neighbours: constant offsets of clocks do not count, drifts hardly. */
static void measure(const struct laying *l, struct overlap overlap, struct candidate *candidate)
{
    const size_t step = overlap.count / SAMPLES_MAX + 1;
    double spread = 0, offset = 0;
    size_t pairs = 0, ends = 0;
    for (size_t i = overlap.first; i < overlap.first + overlap.count; i += step) {
        const double here = end_difference(l, i, candidate->shift);
        offset += here;
        ends++;
        if (i + 1 == overlap.first + overlap.count) break;
        spread += fabs(end_difference(l, i + 1, candidate->shift) - here);
        pairs++;
    }
    candidate->offset_ns = offset / (double)ends;
    candidate->spread_ns = pairs ? spread / (double)pairs : 0;
}

static bool is_better(const struct candidate *a, const struct candidate *b)
{
    if (a->byte_differences != b->byte_differences)
        return a->byte_differences < b->byte_differences;
    if (a->spread_ns < b->spread_ns || b->spread_ns < a->spread_ns)
        return a->spread_ns < b->spread_ns;
    return fabs(a->offset_ns) < fabs(b->offset_ns);
}

static void note(struct laying *l, const struct candidate *candidate)
{
    const bool fewer = l->candidate_count && candidate->byte_differences < l->best.byte_differences;
    if (l->candidate_count && candidate->byte_differences > l->best.byte_differences) return;
    if (fewer) l->candidate_count = 0;
    if (!l->candidate_count++) {
        l->best = l->nearest = *candidate;
        l->next_offset_ns = HUGE_VAL;
        return;
    }
    if (is_better(candidate, &l->best)) {
        l->second = l->best;
        l->best = *candidate;
    } else if (l->candidate_count == 2 || is_better(candidate, &l->second)) {
        l->second = *candidate;
    }
    const double offset = fabs(candidate->offset_ns), nearest = fabs(l->nearest.offset_ns);
    if (offset < nearest) {
        l->next_offset_ns = nearest;
        l->nearest = *candidate;
    } else if (offset < l->next_offset_ns) {
        l->next_offset_ns = offset;
    }
}

static void try_shift(struct laying *l, ptrdiff_t shift)
{
    const size_t shorter = l->one->count < l->other->count ? l->one->count : l->other->count;
    const struct overlap overlap = overlap_of(l, shift);
    struct candidate candidate = {.shift = shift};
    if (!overlap.count || overlap.count < (shorter + 1) / 2) return;
    if (!agrees(l, overlap, overlap.count / SAMPLES_MAX + 1, &candidate)) return;
    measure(l, overlap, &candidate);
    note(l, &candidate);
}

static bool decide(const struct laying *l, struct candidate *chosen)
{
    *chosen = l->best;
    if (l->candidate_count == 1) return true;
    const bool is_paired = l->one->count > 1 && l->other->count > 1;
    if (is_paired && CLEARLY * l->best.spread_ns + FLOOR_NS < l->second.spread_ns) return true;
    const bool is_near =
        fabs(l->nearest.offset_ns) < CLOCKS_AGREE_NS &&
        CLEARLY * CLEARLY * fabs(l->nearest.offset_ns) + FLOOR_NS < l->next_offset_ns;
    if (is_near && (!is_paired || l->nearest.spread_ns <= CLEARLY * l->best.spread_ns + FLOOR_NS)) {
        *chosen = l->nearest;
        return true;
    }
    return false;
}

void cts_collective_lay(const struct cts_collective_sequence *one,
                        const struct cts_collective_sequence *other,
                        struct cts_collective_shift *result)
{
    struct laying l = {.one = one, .other = other};
    *result = (struct cts_collective_shift){.shift = 0};
    if (!one->count || !other->count) return;
    for (ptrdiff_t shift = -(ptrdiff_t)one->count + 1; shift < (ptrdiff_t)other->count; shift++)
        try_shift(&l, shift);
    if (!l.candidate_count) return;
    struct candidate chosen;
    result->is_sure = decide(&l, &chosen);
    result->found = agrees(&l, overlap_of(&l, chosen.shift), 1, &chosen);
    result->shift = chosen.shift;
    result->spread_ns = chosen.spread_ns;
}

static int by_value(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

uint64_t cts_collective_pace(const struct cts_collective_sequence *sequence)
{
    uint64_t distances[SAMPLES_MAX];
    size_t count = 0;
    const size_t step = sequence->count / SAMPLES_MAX + 1;
    for (size_t i = 1; i < sequence->count && count < SAMPLES_MAX; i += step) {
        const uint64_t before = call_of(sequence, i - 1)->end_ns,
                       end = call_of(sequence, i)->end_ns;
        distances[count++] = end > before ? end - before : 0;
    }
    if (!count) return 0;
    qsort(distances, count, sizeof *distances, by_value);
    return distances[count / 2];
}
