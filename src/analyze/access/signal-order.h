/* What the CTAs of a launch hand on to each other by words of global memory (flags, locks,
 * counters), from the order in which volatile accesses and atomics took place (CTS_BARRIER_ORDER).
 *
 * A store or atomic to such a word *releases*: it tells what its CTA has done. A load or atomic
 * *acquires*: its warp knows what was released by that word before it, and by whatever those knew
 * (vector clocks over CTAs). A use of a byte comes before another CTA's use if that CTA knows a
 * release that tells it. Two uses race if neither comes before the other, one of them writes, and
 * one of them is neither an atomic nor volatile. A volatile store that races with volatile accesses
 * or atomics alone is no race if the word orders uses of other words: it is a flag. */
#ifndef CTS_ACCESS_SIGNAL_ORDER_H
#define CTS_ACCESS_SIGNAL_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

enum { CTS_RELEASE_NONE = UINT32_MAX };

/* One thread's access to a word that orders. */
struct cts_signal_event {
    uint64_t number; /* its place among all events; all differ */
    uint64_t word;   /* address / 4 */
    uint32_t cta;
    uint32_t release; /* the how-manieth release of its CTA, from 1; 0: it acquires */
    uint32_t phase;   /* barriers of the CTA before it */
    uint16_t warp;
    uint8_t operation; /* enum cts_operation */
};

/* A warp's use of bytes that may race. */
struct cts_signal_use {
    uint64_t number; /* it follows the events up to this one */
    uint64_t word;
    uint32_t cta;
    uint32_t release; /* the first release of its CTA that tells it; CTS_RELEASE_NONE: none */
    uint32_t phase;
    uint32_t epoch; /* barriers of the grid before it */
    uint16_t warp;
    uint8_t bytes; /* of the word, a mask */
    bool stores;   /* not by an atomic */
    bool is_atomic, is_volatile;
    uint32_t site;
};

enum cts_signal_how {
    CTS_ORDERED_BY_GRID,
    CTS_ORDERED_BY_LOCK,
    CTS_ORDERED_BY_COUNTER,
    CTS_ORDERED_BY_FLAG
};

/* What was found of a word's bytes. */
struct cts_signal_verdict {
    uint64_t word;
    uint8_t raced, ordered; /* masks; ordered: uses of several CTAs conflict, and none race */
    uint8_t how;            /* enum cts_signal_how, of those that are ordered */
};

struct cts_signal_input {
    struct cts_signal_event *events; /* sorted by the call */
    size_t event_count;
    struct cts_signal_use *uses; /* sorted by the call */
    size_t use_count;
};

/* Fills *verdicts (one a word that is used, ascending; the caller frees it). *is_too_much: there is
 * too much to be told, and no verdict. */
CTS_MUST_CHECK enum cts_status cts_signal_order(const struct cts_signal_input *input,
                                                struct cts_signal_verdict **verdicts, size_t *count,
                                                bool *is_too_much, struct cts_error *error);

#endif
