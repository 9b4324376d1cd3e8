/* What device code calls for a warp: shuffles, votes, matches, reductions, __syncwarp and
 * __activemask. Who meets whom: collective-state.c. */
#include "record/cpu/engine/worker.h"

#include <string.h>

#include "record/instrument/nvvm-abi.h"

/* ---- Meeting ---- */

static struct cts_cta *begin(enum cts_wait_kind kind, uint64_t value, uint32_t extra)
{
    struct cts_cta *const cta = cts_cta_current();
    if (!cta->fibers)
        cts_raise(cta, CTS_FAULT_BARRIER, "a warp collective in a kernel compiled without one");
    const uint32_t lane = cta->lane;
    cta->wait[lane] = (uint8_t)kind;
    cta->wait_value[lane] = value;
    cta->wait_extra[lane] = extra;
    cta->warp->meeting |= 1u << lane % CTS_WARP_LANES;
    return cta;
}

/* Meeting adds to the log of a lane. */
static void wait_for_lanes(struct cts_cta *cta)
{
    cts_lane_wait(cta);
    if (cta->logs && cta->context.log >= cta->context.log_end) __cts_log_full(&cta->context);
}

/* The result of the running lane is in wait_value[] and wait_extra[] afterwards. */
static struct cts_cta *meet(enum cts_wait_kind kind, uint32_t mask, uint64_t value, uint32_t extra)
{
    struct cts_cta *const cta = begin(kind, value, extra);
    const uint32_t bit = 1u << cta->lane % CTS_WARP_LANES;
    cta->wait_mask[cta->lane] = mask | bit;
    if (cts_collective_try_to_meet(cta, cta->warp, cta->lane) && (mask & cta->warp->live) == bit) {
        cta->warp->ready &= ~bit; /* met nobody but itself */
        return cta;
    }
    wait_for_lanes(cta);
    return cta;
}

static struct cts_cta *meet_loose(enum cts_wait_kind kind, uint64_t value, uint32_t extra,
                                  const void *place)
{
    struct cts_cta *const cta = begin(kind, value, extra);
    cta->wait_place[cta->lane] = place;
    cta->wait_mask[cta->lane] = 0;
    cta->warp->loose |= 1u << cta->lane % CTS_WARP_LANES;
    wait_for_lanes(cta);
    return cta;
}

/* ---- Entry points ---- */

CTS_EXPORT void __cts_nvvm_bar_warp_sync(uint32_t mask)
{
    meet(CTS_WAIT_SYNC, mask, 0, 0);
}

/* The source lane of a shuffle, and whether it is in range. b: the distance, lane or mask; c: the
 * clamp in bits 0-4, the mask of the segment in bits 8-12. */
enum shuffle { SHUFFLE_idx, SHUFFLE_up, SHUFFLE_down, SHUFFLE_bfly };
static inline uint32_t source_lane(enum shuffle mode, uint32_t lane, uint32_t b, uint32_t c,
                                   uint32_t *in_range)
{
    const int segment = (int)(c >> 8 & 31), clamp = (int)(c & 31), distance = (int)(b & 31);
    const int me = (int)lane, first = me & segment, last = first | (clamp & ~segment);
    int source = me;
    bool good = false;
    switch (mode) {
    case SHUFFLE_idx:
        source = first | (distance & ~segment);
        good = source <= last;
        break;
    case SHUFFLE_up: /* the clamp is 0: `last` is the first lane of the segment */
        source = me - distance;
        good = source >= last;
        break;
    case SHUFFLE_down:
        source = me + distance;
        good = source <= last;
        break;
    case SHUFFLE_bfly:
        source = me ^ distance;
        good = source <= last;
        break;
    }
    *in_range = good;
    return (uint32_t)(good ? source : me);
}

static uint32_t running_lane(void)
{
    return cts_cta_current()->lane % CTS_WARP_LANES;
}

/* Which lane a shuffle reads: its mode, and PTX's operands b and c. */
struct shuffle_source {
    enum shuffle mode;
    uint32_t b, c;
};

static inline uint32_t shuffle(struct shuffle_source from, uint32_t mask, uint32_t value,
                               uint32_t *in_range)
{
    const uint32_t source = source_lane(from.mode, running_lane(), from.b, from.c, in_range);
    const struct cts_cta *const cta = meet(CTS_WAIT_SHUFFLE, mask, value, source);
    return (uint32_t)cta->wait_value[cta->lane];
}

static inline uint32_t shuffle_loose(struct shuffle_source from, uint32_t value, uint32_t *in_range,
                                     const void *place)
{
    const uint32_t source = source_lane(from.mode, running_lane(), from.b, from.c, in_range);
    const struct cts_cta *const cta = meet_loose(CTS_WAIT_SHUFFLE, value, source, place);
    return (uint32_t)cta->wait_value[cta->lane];
}

static inline uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#define PLACE __builtin_return_address(0)
#define DEFINE_SHUFFLES(mode)                                                                      \
    CTS_EXPORT uint32_t __cts_nvvm_shfl_sync_##mode##_i32(uint32_t mask, uint32_t value,           \
                                                          uint32_t b, uint32_t c)                  \
    {                                                                                              \
        uint32_t in_range;                                                                         \
        return shuffle((struct shuffle_source){SHUFFLE_##mode, b, c}, mask, value, &in_range);     \
    }                                                                                              \
    CTS_EXPORT float __cts_nvvm_shfl_sync_##mode##_f32(uint32_t mask, float value, uint32_t b,     \
                                                       uint32_t c)                                 \
    {                                                                                              \
        uint32_t in_range;                                                                         \
        return float_of(shuffle((struct shuffle_source){SHUFFLE_##mode, b, c}, mask,               \
                                bits_of(value), &in_range));                                       \
    }                                                                                              \
    CTS_EXPORT uint32_t __cts_nvvm_shfl_sync_##mode##_i32p(                                        \
        uint32_t mask, uint32_t value, uint32_t b, uint32_t c, uint32_t *predicate)                \
    {                                                                                              \
        return shuffle((struct shuffle_source){SHUFFLE_##mode, b, c}, mask, value, predicate);     \
    }                                                                                              \
    CTS_EXPORT float __cts_nvvm_shfl_sync_##mode##_f32p(uint32_t mask, float value, uint32_t b,    \
                                                        uint32_t c, uint32_t *predicate)           \
    {                                                                                              \
        return float_of(shuffle((struct shuffle_source){SHUFFLE_##mode, b, c}, mask,               \
                                bits_of(value), predicate));                                       \
    }                                                                                              \
    CTS_EXPORT uint32_t __cts_nvvm_shfl_##mode##_i32(uint32_t value, uint32_t b, uint32_t c)       \
    {                                                                                              \
        uint32_t in_range;                                                                         \
        return shuffle_loose((struct shuffle_source){SHUFFLE_##mode, b, c}, value, &in_range,      \
                             PLACE);                                                               \
    }                                                                                              \
    CTS_EXPORT float __cts_nvvm_shfl_##mode##_f32(float value, uint32_t b, uint32_t c)             \
    {                                                                                              \
        uint32_t in_range;                                                                         \
        return float_of(shuffle_loose((struct shuffle_source){SHUFFLE_##mode, b, c},               \
                                      bits_of(value), &in_range, PLACE));                          \
    }                                                                                              \
    CTS_EXPORT uint32_t __cts_nvvm_shfl_##mode##_i32p(uint32_t value, uint32_t b, uint32_t c,      \
                                                      uint32_t *predicate)                         \
    {                                                                                              \
        return shuffle_loose((struct shuffle_source){SHUFFLE_##mode, b, c}, value, predicate,      \
                             PLACE);                                                               \
    }                                                                                              \
    CTS_EXPORT float __cts_nvvm_shfl_##mode##_f32p(float value, uint32_t b, uint32_t c,            \
                                                   uint32_t *predicate)                            \
    {                                                                                              \
        return float_of(shuffle_loose((struct shuffle_source){SHUFFLE_##mode, b, c},               \
                                      bits_of(value), predicate, PLACE));                          \
    }

DEFINE_SHUFFLES(idx)
DEFINE_SHUFFLES(up)
DEFINE_SHUFFLES(down)
DEFINE_SHUFFLES(bfly)

#define DEFINE_VOTE(name, kind)                                                                    \
    CTS_EXPORT uint32_t __cts_nvvm_vote_##name##_sync(uint32_t mask, uint32_t predicate)           \
    {                                                                                              \
        const struct cts_cta *const cta = meet(kind, mask, predicate != 0, 0);                     \
        return (uint32_t)cta->wait_value[cta->lane];                                               \
    }                                                                                              \
    CTS_EXPORT uint32_t __cts_nvvm_vote_##name(uint32_t predicate)                                 \
    {                                                                                              \
        const struct cts_cta *const cta = meet_loose(kind, predicate != 0, 0, PLACE);              \
        return (uint32_t)cta->wait_value[cta->lane];                                               \
    }

DEFINE_VOTE(all, CTS_WAIT_ALL)
DEFINE_VOTE(any, CTS_WAIT_ANY)
DEFINE_VOTE(uni, CTS_WAIT_UNI)
DEFINE_VOTE(ballot, CTS_WAIT_BALLOT)

CTS_EXPORT uint32_t __cts_nvvm_activemask(void)
{
    const struct cts_cta *const cta = meet_loose(CTS_WAIT_ACTIVE, 0, 0, PLACE);
    return (uint32_t)cta->wait_value[cta->lane];
}

#define DEFINE_MATCH(bits, type)                                                                   \
    CTS_EXPORT uint32_t __cts_nvvm_match_any_sync_i##bits(uint32_t mask, type value)               \
    {                                                                                              \
        const struct cts_cta *const cta = meet(CTS_WAIT_MATCH_ANY, mask, value, 0);                \
        return (uint32_t)cta->wait_value[cta->lane];                                               \
    }                                                                                              \
    CTS_EXPORT uint32_t __cts_nvvm_match_all_sync_i##bits##p(uint32_t mask, type value,            \
                                                             uint32_t *predicate)                  \
    {                                                                                              \
        const struct cts_cta *const cta = meet(CTS_WAIT_MATCH_ALL, mask, value, 0);                \
        *predicate = cta->wait_extra[cta->lane];                                                   \
        return (uint32_t)cta->wait_value[cta->lane];                                               \
    }

DEFINE_MATCH(32, uint32_t)
DEFINE_MATCH(64, uint64_t)

#define DEFINE_REDUCTION(name, kind)                                                               \
    CTS_EXPORT uint32_t __cts_nvvm_redux_sync_##name(uint32_t value, uint32_t mask)                \
    {                                                                                              \
        const struct cts_cta *const cta = meet(kind, mask, value, 0);                              \
        return (uint32_t)cta->wait_value[cta->lane];                                               \
    }

DEFINE_REDUCTION(add, CTS_WAIT_ADD)
DEFINE_REDUCTION(umin, CTS_WAIT_UMIN)
DEFINE_REDUCTION(umax, CTS_WAIT_UMAX)
DEFINE_REDUCTION(min, CTS_WAIT_MIN)
DEFINE_REDUCTION(max, CTS_WAIT_MAX)
DEFINE_REDUCTION(and, CTS_WAIT_AND)
DEFINE_REDUCTION(or, CTS_WAIT_OR)
DEFINE_REDUCTION(xor, CTS_WAIT_XOR)
