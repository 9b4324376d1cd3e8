/* Which CTAs of a launch read what which CTAs of another one stored: docs/flow.md, 'Edges'. */
#ifndef CTS_FLOW_MAP_H
#define CTS_FLOW_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/flow/flow-touch.h"

/* Name, text, and what to do to make one kernel of two. */
#define CTS_FLOW_MAPS(X)                                                                           \
    X(OTHER, "other", "")                                                                          \
    X(SAME_CTA, "same CTA",                                                                        \
      "make one kernel of the two: each CTA reads what the CTA of the same number stores")         \
    X(NEIGHBOUR, "neighbour",                                                                      \
      "make one kernel of the two, by tiles with a halo: CTAs read what CTAs next to them store")  \
    X(REDUCTION, "reduction",                                                                      \
      "let the first kernel do the reduction at its end: each of its CTAs has one reader")

enum cts_flow_map {
#define X(name, text, advice) CTS_FLOW_MAP_##name,
    CTS_FLOW_MAPS(X)
#undef X
};

/* Two launches (indices in the catalogue) and what passes between them. */
struct cts_flow_pair {
    size_t from, to;
    uint64_t raw_bytes;  /* that `to` reads and `from` stored last */
    bool has_overwrites; /* `to` stores what `from` touched */
};

/* What the CTAs of the two have to do with each other. */
struct cts_flow_mapping {
    enum cts_flow_map map;
    /* That both launches load, and `from` does not store: in the same CTA, or, if the map is that
     * of neighbours, in CTAs that are neighbours. */
    uint64_t shared_bytes;
    bool is_too_much; /* not mapped: too many runs of bytes, or CTAs */
};

/* CTS_FLOW_MAP_OTHER: broadcast, all-to-all, irregular; bytes that atomics carry; overwrites of
 * what other CTAs touched; or not mapped. `at_a_time`: of how many runs of bytes memory may be
 * taken; 0: 8 Mi. CTS_FORMAT, CTS_IO, CTS_MEMORY. */
CTS_MUST_CHECK enum cts_status cts_flow_map_pair(struct cts_flow_toucher *toucher, size_t at_a_time,
                                                 const struct cts_flow_pair *pair,
                                                 struct cts_flow_mapping *mapping,
                                                 struct cts_error *error);

#endif
