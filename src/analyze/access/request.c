/* The cost of a request, lane by lane over a sorted copy of its addresses. */
#include "analyze/access/request.h"

#include <string.h>

#include "common/hash.h"

const char *cts_lane_layout_text(enum cts_lane_layout layout)
{
    static const char *const texts[] = {
#define X(name, text) text,
        CTS_LANE_LAYOUTS(X)
#undef X
    };
    return layout < CTS_LAYOUT_COUNT ? texts[layout] : "?";
}

static void insert_lanes(const uint64_t *lanes, unsigned count, uint64_t *sorted)
{
    for (unsigned i = 0; i < count; i++) {
        unsigned place = i;
        for (; place && sorted[place - 1] > lanes[i]; place--) sorted[place] = sorted[place - 1];
        sorted[place] = lanes[i];
    }
}

/* Addresses from `least` on, less than 2 GiB apart: each goes to where as many as are smaller leave
 * it. Equal ones go to one place, and leave the places behind it to be filled. Comparing all with
 * all has no branches that scattered addresses could mislead. */
static void rank_lanes(const uint64_t *lanes, unsigned count, uint64_t least, uint64_t *sorted)
{
    int32_t keys[CTS_WARP_LANES], ranks[CTS_WARP_LANES] = {0};
    bool is_filled[CTS_WARP_LANES] = {false};
    for (unsigned i = 0; i < CTS_WARP_LANES; i++)
        keys[i] = i < count ? (int32_t)(lanes[i] - least) : INT32_MAX;
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; k < CTS_WARP_LANES; k++) ranks[k] += keys[i] < keys[k];
    for (unsigned i = 0; i < count; i++) {
        sorted[ranks[i]] = lanes[i];
        is_filled[ranks[i]] = true;
    }
    for (unsigned i = 1; i < count; i++)
        if (!is_filled[i]) sorted[i] = sorted[i - 1];
}

/* The addresses of the active lanes, ascending. */
static unsigned sort_lanes(const uint64_t addresses[CTS_WARP_LANES], uint32_t mask,
                           uint64_t sorted[CTS_WARP_LANES])
{
    uint64_t lanes[CTS_WARP_LANES], least = UINT64_MAX, greatest = 0;
    unsigned count = 0;
    bool is_sorted = true;
    for (; mask; mask &= mask - 1) {
        const uint64_t address = addresses[__builtin_ctz(mask)];
        is_sorted &= address >= greatest;
        least = address < least ? address : least;
        greatest = address > greatest ? address : greatest;
        lanes[count++] = address;
    }
    if (is_sorted)
        memcpy(sorted, lanes, count * sizeof *sorted);
    else if (greatest - least < INT32_MAX)
        rank_lanes(lanes, count, least, sorted);
    else
        insert_lanes(lanes, count, sorted);
    return count;
}

/* Whether every access is aligned to its width, a power of two. */
static bool are_aligned(const uint64_t *sorted, unsigned count, uint32_t width_bytes)
{
    uint64_t any = 0;
    for (unsigned i = 0; i < count; i++) any |= sorted[i];
    return width_bytes && !(width_bytes & (width_bytes - 1)) && !(any & (width_bytes - 1));
}

/* Without branches that scattered addresses could mislead. */
static unsigned different_units(const uint64_t *sorted, unsigned count, unsigned unit_bits)
{
    unsigned units = count > 0;
    for (unsigned i = 1; i < count; i++)
        units += sorted[i] >> unit_bits != sorted[i - 1] >> unit_bits;
    return units;
}

/* Units of `1 << unit_bits` bytes that [a, a + width) of any address touches. */
static uint32_t units_touched(const uint64_t *sorted, unsigned count, uint32_t width_bytes,
                              unsigned unit_bits)
{
    if (are_aligned(sorted, count, width_bytes)) {
        const unsigned width_bits = (unsigned)__builtin_ctz(width_bytes);
        if (width_bits <= unit_bits) return different_units(sorted, count, unit_bits);
        return different_units(sorted, count, width_bits) << (width_bits - unit_bits);
    }
    uint64_t next = 0; /* the first unit that has not been counted */
    unsigned units = 0;
    for (unsigned i = 0; i < count; i++) {
        uint64_t first = sorted[i] >> unit_bits;
        const uint64_t last = (sorted[i] + width_bytes - 1) >> unit_bits;
        if (i && first < next) first = next;
        if (last < first) continue;
        units += (unsigned)(last - first + 1);
        next = last + 1;
    }
    return units;
}

static uint8_t most_at_one(const uint64_t *sorted, unsigned count)
{
    unsigned most = 1, run = 1;
    for (unsigned i = 1; i < count; i++) {
        run = sorted[i] == sorted[i - 1] ? run + 1 : 1;
        if (run > most) most = run;
    }
    return (uint8_t)most;
}

/* ---- shared memory ---- */

/* Distinct words of a phase: how many, and of the bank that has the most. */
struct phase_words {
    unsigned count, worst;
};

static struct phase_words words_of_phase(const uint64_t *sorted, unsigned count,
                                         uint32_t width_bytes, unsigned bank_bytes)
{
    uint8_t banks[CTS_BANKS] = {0};
    uint64_t next = 0;
    struct phase_words words = {0};
    for (unsigned i = 0; i < count; i++) {
        uint64_t word = sorted[i] / bank_bytes;
        const uint64_t last = (sorted[i] + width_bytes - 1) / bank_bytes;
        if (i && word < next) word = next;
        for (; word <= last; word++) {
            const unsigned bank = (unsigned)(word % CTS_BANKS);
            banks[bank]++;
            if (banks[bank] > words.worst) words.worst = banks[bank];
            words.count++;
        }
        if (last + 1 > next) next = last + 1;
    }
    return words;
}

/* Whether active lanes whose numbers differ by `step`, a power of two, have one address. */
static bool in_pairs(const uint64_t addresses[CTS_WARP_LANES], uint32_t mask, unsigned step)
{
    for (unsigned lane = 0; lane < CTS_WARP_LANES; lane++) {
        const bool both = mask >> lane & 1 && mask >> (lane | step) & 1;
        if (both && addresses[lane] != addresses[lane | step]) return false;
    }
    return true;
}

struct phase_shape {
    unsigned lanes, bank_bytes;
};

static unsigned lanes_of_phase(const uint64_t addresses[CTS_WARP_LANES], uint32_t mask,
                               uint32_t width_bytes, unsigned bank_bytes, bool loads)
{
    if (width_bytes <= 4) return 32;
    const unsigned lanes = width_bytes <= 8 ? 16 : 8;
    const bool paired =
        loads && bank_bytes == 4 && (in_pairs(addresses, mask, 1) || in_pairs(addresses, mask, 2));
    return paired ? 2 * lanes : lanes;
}

/* Adds the phases of a request, each of `lanes` lanes. */
static void shared_cost(const uint64_t addresses[CTS_WARP_LANES], uint32_t mask,
                        uint32_t width_bytes, const struct phase_shape *shape,
                        struct cts_request_cost *cost)
{
    const unsigned lanes = shape->lanes;
    for (unsigned first = 0; first < CTS_WARP_LANES; first += lanes) {
        const uint32_t part =
            mask & (lanes == 32 ? UINT32_MAX : ((UINT32_C(1) << lanes) - 1) << first);
        uint64_t sorted[CTS_WARP_LANES];
        if (!part) continue;
        const unsigned count = sort_lanes(addresses, part, sorted);
        const struct phase_words words =
            words_of_phase(sorted, count, width_bytes, shape->bank_bytes);
        cost->wavefronts += (uint16_t)words.worst;
        cost->ideal_wavefronts += (uint16_t)((words.count + CTS_BANKS - 1) / CTS_BANKS);
        if (words.worst > cost->ways) cost->ways = (uint16_t)words.worst;
    }
}

/* ---- local memory ---- */

enum { LANES_PER_SECTOR = CTS_SECTOR_BYTES / CTS_LOCAL_WORD_BYTES };

/* Offsets in the frames of the lanes, ascending. A word of all lanes is a line, and a quarter of
 * the lanes shares a sector of it: so each quarter moves as many sectors as it touches words. */
static void find_local_units(const uint64_t offsets[CTS_WARP_LANES], uint32_t mask,
                             uint32_t width_bytes, struct cts_request_cost *cost)
{
    const unsigned word_bits = __builtin_ctz(CTS_LOCAL_WORD_BYTES);
    const uint32_t quarter = (UINT32_C(1) << LANES_PER_SECTOR) - 1;
    uint64_t sorted[CTS_WARP_LANES];
    unsigned count = sort_lanes(offsets, mask, sorted);
    cost->lines = (uint16_t)units_touched(sorted, count, width_bytes, word_bits);
    for (unsigned first = 0; first < CTS_WARP_LANES; first += LANES_PER_SECTOR) {
        count = sort_lanes(offsets, mask & quarter << first, sorted);
        cost->sectors += (uint16_t)units_touched(sorted, count, width_bytes, word_bits);
    }
}

/* Each lane has bytes of its own. Lanes at one offset lie side by side, word by word. */
static void find_local_cost(const struct cts_access *access, const uint64_t offsets[CTS_WARP_LANES],
                            uint32_t width_bytes, struct cts_request_cost *cost)
{
    const bool is_one_offset = cost->same_address == cost->lanes;
    cost->distinct_bytes = cost->lanes * width_bytes;
    cost->same_address = 1;
    find_local_units(offsets, access->mask, width_bytes, cost);
    cost->layout = is_one_offset ? CTS_LAYOUT_DENSE : CTS_LAYOUT_IRREGULAR;
    if (is_one_offset && width_bytes < CTS_LOCAL_WORD_BYTES) {
        cost->layout = CTS_LAYOUT_STRIDED;
        cost->stride_bytes = CTS_LOCAL_WORD_BYTES;
    }
    cost->is_gapped = cost->layout == CTS_LAYOUT_DENSE;
}

/* ---- layouts ---- */

/* From the addresses alone, so that it does not matter how a recorder wrote them down. A row is
 * strided if one distance per lane explains all lanes. */
static void find_layout(const struct cts_access *access, const uint64_t addresses[CTS_WARP_LANES],
                        uint32_t width_bytes, struct cts_request_cost *cost)
{
    const uint32_t mask = access->mask;
    const unsigned first = (unsigned)__builtin_ctz(mask);
    const uint32_t rest = mask & (mask - 1);
    cost->layout = CTS_LAYOUT_UNIFORM;
    if (!rest || cost->same_address == cost->lanes) return;
    const unsigned second = (unsigned)__builtin_ctz(rest);
    const int64_t distance = (int64_t)(addresses[second] - addresses[first]);
    const int64_t lanes = second - first;
    bool constant = distance % lanes == 0;
    const int64_t stride = distance / lanes;
    for (uint32_t left = rest; left && constant; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        constant =
            (int64_t)(addresses[lane] - addresses[first]) == stride * (int64_t)(lane - first);
    }
    if (!constant) {
        const bool rows = access->pattern == CTS_PATTERN_TWO_LEVEL;
        if (rows && access->s1 == 0) { /* each row the same bytes: as if there were one */
            const bool dense =
                access->s0 == (int32_t)width_bytes || access->s0 == -(int32_t)width_bytes;
            cost->layout = dense ? CTS_LAYOUT_DENSE : CTS_LAYOUT_STRIDED;
            cost->stride_bytes = access->s0;
            return;
        }
        cost->layout = rows ? CTS_LAYOUT_TWO_LEVEL : CTS_LAYOUT_IRREGULAR;
        if (!rows) return;
        cost->row_is_uniform = access->s0 == 0;
        if (cost->row_is_uniform || access->s0 == (int32_t)width_bytes ||
            access->s0 == -(int32_t)width_bytes) {
            cost->row_lanes = access->row_lanes;
            cost->row_pitch_bytes = access->s1;
        } else {
            cost->stride_bytes = access->s0;
        }
        return;
    }
    const bool dense = stride == (int64_t)width_bytes || stride == -(int64_t)width_bytes;
    cost->layout = dense ? CTS_LAYOUT_DENSE : CTS_LAYOUT_STRIDED;
    cost->stride_bytes = stride;
    const unsigned lanes_before = stride > 0 ? first : CTS_WARP_LANES - 1 - first;
    cost->is_gapped =
        dense && (addresses[first] - (uint64_t)lanes_before * width_bytes) % CTS_SECTOR_BYTES == 0;
}

/* What a request's cost depends on, apart from its addresses. */
struct judging {
    uint32_t width_bytes;
    unsigned bank_bytes;
    bool loads;
};

static void find_units(const uint64_t *sorted, uint32_t width_bytes, struct cts_request_cost *cost)
{
    cost->sectors =
        (uint16_t)units_touched(sorted, cost->lanes, width_bytes, __builtin_ctz(CTS_SECTOR_BYTES));
    cost->lines =
        (uint16_t)units_touched(sorted, cost->lanes, width_bytes, __builtin_ctz(CTS_LINE_BYTES));
}

/* Also the addresses, ascending. */
static struct cts_request_cost cost_of(const struct cts_access *access, struct judging judging,
                                       uint64_t sorted[CTS_WARP_LANES])
{
    const uint32_t width_bytes = judging.width_bytes;
    uint64_t addresses[CTS_WARP_LANES];
    struct cts_request_cost cost = {.lanes = (uint8_t)__builtin_popcount(access->mask)};
    cts_access_addresses(access, addresses);
    const unsigned count = sort_lanes(addresses, access->mask, sorted);
    cost.same_address = most_at_one(sorted, count);
    if (access->space == CTS_SPACE_LOCAL) {
        find_local_cost(access, addresses, width_bytes, &cost);
        return cost;
    }
    cost.distinct_bytes = units_touched(sorted, count, width_bytes, 0);
    find_layout(access, addresses, width_bytes, &cost);
    cost.is_compact = cost.layout == CTS_LAYOUT_IRREGULAR &&
                      cost.distinct_bytes == sorted[count - 1] + width_bytes - sorted[0];
    if (access->space == CTS_SPACE_SHARED) {
        const struct phase_shape shape = {
            lanes_of_phase(addresses, access->mask, width_bytes, judging.bank_bytes, judging.loads),
            judging.bank_bytes};
        shared_cost(addresses, access->mask, width_bytes, &shape, &cost);
    } else {
        find_units(sorted, width_bytes, &cost);
    }
    return cost;
}

struct cts_request_cost cts_request_cost(const struct cts_access *access, uint32_t width_bytes,
                                         unsigned bank_bytes, bool loads)
{
    uint64_t sorted[CTS_WARP_LANES];
    return cost_of(access, (struct judging){width_bytes, bank_bytes, loads}, sorted);
}

/* The same list elsewhere, as one index reads several arrays: only sectors and lines may differ. */
static void move_list(struct cts_cost_list *last, uint64_t base)
{
    uint64_t sorted[CTS_WARP_LANES];
    for (unsigned i = 0; i < last->cost.lanes; i++) sorted[i] = base + last->sorted[i];
    find_units(sorted, last->width_bytes, &last->cost);
    last->base = base;
}

static bool is_far_from_end(uint64_t base)
{
    return base < UINT64_MAX - ((uint64_t)UINT32_MAX << 1);
}

static struct cts_request_cost list_cost(struct cts_cost_list *last,
                                         const struct cts_access *access, uint32_t width_bytes,
                                         unsigned bank_bytes, bool loads)
{
    const size_t count = (size_t)__builtin_popcount(access->mask);
    const bool is_shared = access->space == CTS_SPACE_SHARED;
    if (last->used && last->mask == access->mask && last->width_bytes == width_bytes &&
        last->space == access->space && (last->loads == loads || !is_shared) &&
        !memcmp(last->offsets, access->offsets, count * sizeof *access->offsets)) {
        if (last->base == access->base) return last->cost;
        if (!is_shared && access->space != CTS_SPACE_LOCAL && is_far_from_end(last->base) &&
            is_far_from_end(access->base)) {
            move_list(last, access->base);
            return last->cost;
        }
    }
    *last = (struct cts_cost_list){.used = true,
                                   .loads = loads,
                                   .space = access->space,
                                   .mask = access->mask,
                                   .width_bytes = width_bytes,
                                   .base = access->base};
    last->cost = cost_of(access, (struct judging){width_bytes, bank_bytes, loads}, last->sorted);
    for (size_t i = 0; i < count; i++) last->sorted[i] -= access->base;
    memcpy(last->offsets, access->offsets, count * sizeof *access->offsets);
    return last->cost;
}

struct cts_request_cost cts_request_cost_remembered(struct cts_cost_memory *memory,
                                                    const struct cts_access *access,
                                                    uint32_t width_bytes, unsigned bank_bytes,
                                                    bool loads)
{
    if (access->pattern == CTS_PATTERN_LIST)
        return list_cost(&memory->list, access, width_bytes, bank_bytes, loads);
    if (width_bytes > CTS_WIDTH_MAX)
        return cts_request_cost(access, width_bytes, bank_bytes, loads);
    /* Banks and lines repeat after this much. */
    const uint64_t period = CTS_BANKS * 8;
    const uint64_t key[3] = {
        access->mask | (access->base % period) << 32 | (uint64_t)access->pattern << 40 |
            (uint64_t)access->row_lanes << 44 | (uint64_t)width_bytes << 50 |
            (uint64_t)(access->space == CTS_SPACE_SHARED) << 58 | (uint64_t)loads << 59 |
            (uint64_t)(access->space == CTS_SPACE_LOCAL) << 60,
        (uint32_t)access->s0, (uint32_t)access->s1};
    const uint64_t hash = cts_hash(cts_hash_fold(0, key[0] ^ key[1] << 17 ^ key[2] << 41));
    struct cts_cost_slot *const slot = &memory->slots[hash >> (64 - 12)];
    if (slot->used && memcmp(slot->key, key, sizeof key) == 0) return slot->cost;
    slot->cost = cts_request_cost(access, width_bytes, bank_bytes, loads);
    memcpy(slot->key, key, sizeof key);
    slot->used = true;
    return slot->cost;
}
