/* What a launch touches, as runs of bytes that are touched in the same ways: docs/flow.md, 'Touched
 * bytes'. */
#ifndef CTS_FLOW_TOUCH_H
#define CTS_FLOW_TOUCH_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/flow/flow-reading.h"
#include "common/error.h"
#include "trace/catalogue.h"

/* Ways, as bits. */
enum {
    CTS_WAY_READ = 1,
    CTS_WAY_OWN_READ = 2,
    CTS_WAY_STORE = 4,
    CTS_WAY_SIGNAL = 8,
    CTS_WAY_CROSS = 16,
    CTS_WAY_END = 32,        /* of allocations and frees: what was there before has ended */
    CTS_WAY_ATOMIC = 64,     /* the first operation's; one bit for each of CTS_WAY_ATOMICS */
    CTS_WAY_ATOMICS = 11,    /* add and sub, exch, min, max, inc, dec, cas, and, or, xor, other */
    CTS_WAY_STALE = 1 << 17, /* of CTS_WAY_END: an earlier tenant of the address wrote the byte */
    CTS_WAY_ANY_ATOMIC = ((1 << CTS_WAY_ATOMICS) - 1) * CTS_WAY_ATOMIC,
};

static inline bool cts_ways_write(uint32_t ways)
{
    return ways & (CTS_WAY_STORE | CTS_WAY_END | CTS_WAY_ANY_ATOMIC);
}
/* Both only use one and the same atomic operation. */
static inline bool cts_ways_commute(uint32_t a, uint32_t b)
{
    const uint32_t ways = (a | b) & ~(uint32_t)CTS_WAY_SIGNAL;
    return (a & CTS_WAY_ANY_ATOMIC) && (b & CTS_WAY_ANY_ATOMIC) &&
           !(ways & ~(uint32_t)CTS_WAY_ANY_ATOMIC) && !(ways & (ways - 1));
}
static inline bool cts_ways_conflict(uint32_t a, uint32_t b)
{
    return (cts_ways_write(a) || cts_ways_write(b)) && !cts_ways_commute(a, b);
}

struct cts_flow_toucher; /* memory and threads, kept from launch to launch */

/* Bytes [start, end) of one page of 4 KiB that a CTA stores, or that it loads before it has stored
 * them. */
struct cts_flow_cta_run {
    uint64_t start, end;
    uint32_t cta;
    bool is_store;
};
/* Gets them in no order, and is called by several threads at once. */
typedef enum cts_status (*cts_flow_take_cta_run)(void *state, const struct cts_flow_cta_run *run,
                                                 struct cts_error *error);

CTS_MUST_CHECK enum cts_status cts_flow_toucher_new(const struct cts_flow_touch_options *options,
                                                    struct cts_flow_toucher **toucher,
                                                    struct cts_error *error);
const struct cts_catalogue *cts_flow_toucher_catalogue(const struct cts_flow_toucher *toucher);
void cts_flow_toucher_free(struct cts_flow_toucher *toucher); /* NULL is fine */

/* Gets runs in ascending order: bytes [start, end) of one page of 4 KiB. */
typedef enum cts_status (*cts_flow_take_run)(void *state, uint64_t start, uint64_t end,
                                             uint32_t ways, struct cts_error *error);

/* Reads the records of a launch (index in the catalogue) and hands out what it touched in global
 * memory. */
CTS_MUST_CHECK enum cts_status cts_flow_touch(struct cts_flow_toucher *toucher, size_t launch,
                                              cts_flow_take_run take, void *state,
                                              struct cts_error *error);

/* Reads the records of a launch and hands out what each of its CTAs loads and stores in global
 * memory; atomics are left out. */
CTS_MUST_CHECK enum cts_status cts_flow_touch_ctas(struct cts_flow_toucher *toucher, size_t launch,
                                                   cts_flow_take_cta_run take, void *state,
                                                   struct cts_error *error);

#endif
