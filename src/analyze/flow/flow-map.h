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

/* What the CTAs of the two have to do with each other. CTS_FLOW_MAP_OTHER: broadcast, all-to-all,
 * irregular, more than 8 M runs of bytes; bytes that atomics carry; or overwrites of what other
 * CTAs touched. CTS_FORMAT, CTS_IO, CTS_MEMORY. */
CTS_MUST_CHECK enum cts_status cts_flow_map_pair(struct cts_flow_toucher *toucher,
                                                 const struct cts_catalogue *catalogue,
                                                 const struct cts_flow_pair *pair,
                                                 enum cts_flow_map *map, struct cts_error *error);

#endif
