// The producer's recognition (src/record/cuda/recognise.h) on the CPU device, against brute force:
// warps with random masks access random addresses of all patterns, alone and in groups; every
// record in the ring is taken apart, and must say lane by lane what was accessed, in order, and no
// more.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "record/cuda/recognise.h"

#define GROUPS     6000
#define SLOTS_LOG2 10

struct access_case {
    uint64_t addresses[CTS_GROUP][32];
    uint32_t mask, count; // lanes, accesses
    uint32_t slots;       // that the records take, if all lanes are active
    uint32_t spaces;      // of the accesses; all global unless is_near or two_spaces
    bool is_near;         // addresses of 32 bits, shared memory
    bool two_spaces;      // global and shared in one group
    bool wants_shared;    // it is recorded
    bool is_mixed;        // lanes at sites of their own come together
    bool has_gap;         // the number after the fourth site is another's
};
struct taken {
    uint32_t site, mask, space;
    uint64_t addresses[32];
};

__device__ cts_ring_bin bin;
__device__ uint64_t tail;

template <uint32_t count> __device__ void produce(const access_case *c, const cts_producer &p)
{
    const uint32_t sites[] = {10, 11, 12, 13, 14, 15, 16, 17},
                   gap[] = {10, 11, 12, 13, 15, 16, 17, 18};
    const uint32_t lane = threadIdx.x;
    uint64_t addresses[CTS_GROUP] = {0};
    for (uint32_t i = 0; i < count; i++) addresses[i] = c->addresses[i][lane];
    cts_produce(p, {c->has_gap ? gap : sites, c->spaces, addresses, count});
}

__global__ void access(const access_case *c, uint32_t *slots)
{
    bin.slots = (uint64_t)slots;
    bin.tail = (uint64_t)&tail;
    const uint32_t wants = c->wants_shared ? 1u << CTS_RING_SHARED : 0;
    const cts_producer p = {(uint64_t)&bin, SLOTS_LOG2,
                            5 | 3u << CTS_PRODUCER_WARP_SHIFT | wants << CTS_PRODUCER_SPACES_SHIFT,
                            77, 100};
    if (!(c->mask >> threadIdx.x & 1)) return;
    const uint32_t own = threadIdx.x % c->count;
    if (c->is_mixed)
        cts_produce_other(p, {10 + own, CTS_RING_GLOBAL}, c->addresses[own][threadIdx.x]);
    else if (c->count == 1)
        produce<1>(c, p);
    else if (c->count == 2)
        produce<2>(c, p);
    else if (c->count == 3)
        produce<3>(c, p);
    else if (c->count == 4)
        produce<4>(c, p);
    else if (c->count == 5)
        produce<5>(c, p);
    else
        produce<8>(c, p);
}

// Takes the records from position `from` on; how many slots there were, or 0 for a wrong one.
__global__ void take(const uint32_t *slots, uint32_t from, uint32_t to, taken *out, uint32_t *count)
{
    *count = 0;
    while (from < to) {
        cts_ring_words words;
        cts_ring_record r;
        const uint32_t parity = cts_ring_parity(from, SLOTS_LOG2);
        for (int i = 0; i < 8; i++) words.w[i] = slots[(from & ((1u << SLOTS_LOG2) - 1)) * 8 + i];
        for (int i = 0; i < 8; i++)
            if ((words.w[i] & CTS_RING_PARITY) != parity) return;
        const uint32_t repeats = cts_ring_count_of(words.w);
        cts_ring_unpack(&words, &r);
        if (repeats > 1) r.mask = UINT32_MAX;
        const int64_t distance = repeats > 1 ? (int32_t)cts_ring_mask_of(words.w) : 0;
        const bool is_list = r.pattern == CTS_RING_LIST;
        if (r.cta != 77 || r.launch != 5 || r.warp != 3 || r.space > CTS_RING_SHARED ||
            r.operation != CTS_RING_AS_SITE || !r.mask)
            return;
        uint32_t k = 0;
        if (repeats > 8 || (is_list && repeats > 1)) return;
        for (uint32_t i = 0; i < repeats; i++) {
            out[*count + i].site = r.pc + i;
            out[*count + i].mask = r.mask;
            out[*count + i].space = r.space;
        }
        for (uint32_t lane = 0; lane < 32; lane++) {
            if (!(r.mask >> lane & 1)) continue;
            const int64_t w = r.row_lanes ? r.row_lanes : 32, l = lane;
            int64_t offset = r.pattern == CTS_RING_UNIFORM  ? 0
                             : r.pattern == CTS_RING_AFFINE ? r.s0 * l
                                                            : r.s0 * (l % w) + r.s1 * (l / w);
            if (is_list) {
                const uint32_t at = (from + 1 + k / 8) & ((1u << SLOTS_LOG2) - 1);
                offset = cts_ring_unpack_offset(slots[at * 8 + k % 8]);
            }
            for (uint32_t i = 0; i < repeats; i++)
                out[*count + i].addresses[lane] = r.base + (uint64_t)(offset + distance * i);
            k++;
        }
        from += cts_ring_slots(is_list ? k : 0);
        *count += repeats;
    }
}

static uint64_t random_bits()
{
    static uint64_t x = 88172645463325252u;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return x;
}
static uint64_t below(uint64_t n)
{
    return random_bits() % n;
}

// Addresses of a kind; the slots that a whole warp's record takes.
static uint32_t make_addresses(uint64_t *addresses, uint32_t kind, bool is_near)
{
    const uint64_t base =
        is_near ? below(1 << 24) + (1 << 28) : below((uint64_t)1 << 46) + ((uint64_t)1 << 36);
    const int64_t s0 = (int64_t)below(1 << 20) - (1 << 19),
                  s1 = (int64_t)below(1 << 20) - (1 << 19);
    const uint32_t width = 2u << below(4); // 2, 4, 8, 16
    for (uint32_t l = 0; l < 32; l++) switch (kind) {
        case 0:
            addresses[l] = base;
            break;
        case 1:
            addresses[l] = base + (uint64_t)(s0 * l);
            break;
        case 2:
            addresses[l] = base + (uint64_t)(s0 * (l % width) + s1 * (l / width));
            break;
        case 3:
            addresses[l] = base + below(1 << 28);
            break;
        case 4:
            addresses[l] = base + below((uint64_t)1 << 34);
            break; // farther than a list reaches
        case 5:
            addresses[l] = base + (uint64_t)(s0 * (l % 12) + s1 * (l / 12));
            break;
        case 6:
            addresses[l] = (base | 0xffffffff) + 4 * l - 60;
            break; // over a boundary of 4 GiB
        default:
            addresses[l] = base + ((uint64_t)(l & 1) << 32);
            break; // alike in the low half
        }
    return kind < 3 || kind == 6 ? 1 : kind == 3 ? 5 : kind == 5 ? 1 : 0;
}

static uint32_t space_of(const access_case *c, uint32_t i)
{
    return c->spaces >> 2 * i & 3;
}

// Slots that are saved: runs of accesses that are equally far apart in all lanes. By brute force.
static uint32_t saved_slots(const access_case *c, const uint32_t *slots)
{
    uint32_t saved = 0, run = 1;
    int64_t distance = 0;
    for (uint32_t i = 1; i < c->count; i++) {
        bool joins = slots[i] == 1 && slots[i - 1] == 1 && !(c->has_gap && i == 4) &&
                     space_of(c, i) == space_of(c, i - 1);
        const int64_t apart = (int64_t)(c->addresses[i][0] - c->addresses[i - 1][0]);
        for (uint32_t l = 0; l < 32; l++)
            if (c->addresses[i][l] - c->addresses[i - 1][l] != (uint64_t)apart) joins = false;
        joins = joins && apart == (int32_t)apart && (run == 1 || apart == distance);
        run = joins ? run + 1 : 1;
        distance = apart;
        saved += joins && (space_of(c, i) == CTS_RING_GLOBAL || c->wants_shared);
    }
    return saved;
}

static void fail(const char *text, int at)
{
    printf("case %d: %s\n", at, text);
    exit(1);
}

int main()
{
    uint32_t *slots, *count, position = 0;
    access_case *c;
    taken *records;
    cudaMallocManaged(&slots, (size_t)32 << SLOTS_LOG2);
    cudaMallocManaged(&c, sizeof *c);
    cudaMallocManaged(&records, 4096 * sizeof *records);
    cudaMallocManaged(&count, sizeof *count);
    for (size_t i = 0; i < (size_t)8 << SLOTS_LOG2; i++) slots[i] = 0;
    for (int g = 0; g < GROUPS; g++) {
        c->count = 1 + (uint32_t)below(6);
        if (c->count == 6) c->count = 8;
        c->mask = below(2)   ? UINT32_MAX
                  : below(4) ? (uint32_t)random_bits() | 1u << below(32)
                             : 1u << below(32);
        c->slots = 0;
        bool known = c->mask == UINT32_MAX;
        const bool alike = below(2);
        c->is_near = below(4) == 0;
        c->is_mixed = below(8) == 0;
        c->has_gap = !c->is_near && !c->is_mixed && below(4) == 0;
        c->two_spaces = !c->is_near && !c->is_mixed && below(3) == 0;
        c->wants_shared = !c->two_spaces || below(2);
        c->spaces = c->is_mixed     ? 0
                    : c->is_near    ? 0x5555
                    : c->two_spaces ? (uint32_t)random_bits() & 0x5555
                                    : 0;
        uint32_t kind = 0, here[CTS_GROUP] = {0};
        const uint32_t repeating = 1 + (uint32_t)below(4); // of four
        int64_t distance = 16;
        for (uint32_t i = 0; i < c->count; i++) {
            if (i && below(4) < repeating) {
                if (below(3) == 0) // another one
                    distance = (int64_t)below(c->is_near ? 1000 : (uint64_t)1 << 33) - 500;
                if (below(8) == 0) distance = below(2) ? INT32_MAX : (int64_t)INT32_MIN;
                if (c->is_near) distance %= 4096;
                if (c->two_spaces) distance %= 1 << 20;
                for (uint32_t l = 0; l < 32; l++)
                    c->addresses[i][l] = c->addresses[i - 1][l] + (uint64_t)distance;
                here[i] = here[i - 1];
                if (below(8) == 0) { // but for a lane
                    c->addresses[i][below(32)] += 4;
                    here[i] = 0;
                }
            } else {
                kind = (uint32_t)(alike ? below(3) : below(c->is_near || c->two_spaces ? 4 : 8));
                here[i] = make_addresses(c->addresses[i], kind, c->is_near || c->two_spaces);
            }
            if (space_of(c, i) == CTS_RING_GLOBAL || c->wants_shared) c->slots += here[i];
            known = known && !c->is_mixed && here[i] && (kind != 5 || c->count == 1);
        }
        if (known && c->count > 1) c->slots -= saved_slots(c, here);
        access<<<1, 32>>>(c, slots);
        uint64_t seen = (uint64_t)position, state = 0;
        cudaDeviceSynchronize();
        cudaMemcpyFromSymbol(&state, bin, sizeof state); // head and tail that is known
        const uint32_t head = (uint32_t)(state >> 32);
        take<<<1, 1>>>(slots, position, head, records, count);
        cudaDeviceSynchronize();
        if (known && head - (uint32_t)seen != c->slots) fail("records take too many slots", g);
        uint32_t left[CTS_GROUP], last[32] = {0};
        for (uint32_t i = 0; i < CTS_GROUP; i++) {
            left[i] = 0;
            for (uint32_t l = 0; l < 32; l++)
                if (!c->is_mixed || l % c->count == i) left[i] |= c->mask & 1u << l;
        }
        for (uint32_t r = 0; r < *count; r++) {
            uint32_t i = records[r].site - 110;
            if (c->has_gap && i == 4) fail("a site that is another's", g);
            if (c->has_gap && i > 4) i--;
            if (i < c->count && records[r].space != space_of(c, i)) fail("another space", g);
            if (i >= c->count) fail("a record of no site", g);
            if (records[r].mask & ~left[i]) fail("a lane twice, or one that is not active", g);
            left[i] &= ~records[r].mask;
            for (uint32_t l = 0; l < 32; l++) {
                if (!(records[r].mask >> l & 1)) continue;
                if (records[r].addresses[l] != c->addresses[i][l]) fail("another address", g);
                if (i < last[l]) fail("a lane's records are not in order", g);
                last[l] = i;
            }
        }
        for (uint32_t i = 0; i < c->count; i++) {
            const bool wanted = space_of(c, i) == CTS_RING_GLOBAL || c->wants_shared;
            const uint32_t all_lanes = c->is_mixed ? left[i] : c->mask;
            if (left[i] != (wanted ? 0 : all_lanes)) fail("a lane is missing, or is unwanted", g);
        }
        position = head;
        const uint64_t taken_to = position;
        cudaMemcpyToSymbol(tail, &taken_to, sizeof taken_to);
    }
    printf("%u slots, %u laps\n", position, position >> SLOTS_LOG2);
    return position >> SLOTS_LOG2 ? 0 : 1; // the parity's turn has to be seen
}
