/* Findings that a person knows already: those of a baseline run, and those that a file suppresses
 * (docs/flow.md, 'Continuous integration'). They leave the result and are counted in it. */
#ifndef CTS_FLOW_FLOW_KNOWN_H
#define CTS_FLOW_FLOW_KNOWN_H

#include "analyze/flow/flow.h"

/* The kernel, or what kind of copy; NULL: neither. */
const char *cts_flow_subject(const struct cts_flow_result *flow, uint32_t node);

/* One entry of a file of suppressions. A pattern of NULL fits everything; in others `*` stands for
 * any text. */
struct cts_flow_suppression {
    enum cts_flow_finding_kind kind;
    char *first, *second, *variable, *reason;
    unsigned line;     /* in the file, of its heading */
    uint64_t findings; /* that it suppressed */
    uint64_t times;    /* of them */
};

struct cts_flow_suppressions {
    struct cts_flow_suppression *items;
    size_t count, capacity;
};

/* Reads a file of suppressions; the caller releases it, also after a failure. CTS_IO; CTS_USAGE
 * with file, line and reason; CTS_MEMORY. */
CTS_MUST_CHECK enum cts_status cts_flow_suppressions_read(const char *path,
                                                          struct cts_flow_suppressions *all,
                                                          struct cts_error *error);
void cts_flow_suppressions_release(struct cts_flow_suppressions *all);

/* The first entry that fits a finding suppresses it. */
void cts_flow_suppress(struct cts_flow_result *flow, struct cts_flow_suppressions *all);

/* Drops the findings that the baseline has, too: of the same kind about the same kernels and
 * variable. What is certain there covers what is possible here, not the other way round. */
void cts_flow_drop_known(struct cts_flow_result *flow, const struct cts_flow_result *baseline);

#endif
