/* Names and sentences of `flow`, which the terminal and the page share. */
#ifndef CTS_REPORT_FLOW_WORDS_H
#define CTS_REPORT_FLOW_WORDS_H

#include "analyze/flow/flow-known.h"
#include "common/short-names.h"

enum { CTS_FLOW_NODE_BYTES = 40 };

static inline const struct cts_flow_node *cts_flow_node_at(const struct cts_flow_result *flow,
                                                           uint32_t node)
{
    return &flow->order.nodes[node];
}

/* "launch 4", "copy 2", "free of allocation 1", "CPU store, op 7" */
void cts_flow_name_node(const struct cts_flow_result *flow, uint32_t node, char *text,
                        size_t bytes);
/* "launch 4 (scale)", "copy 2 (DtoH)"; `kernels` has the short names of the catalogue's kernels. */
void cts_flow_name_fully(const struct cts_flow_result *flow, uint32_t node,
                         const struct cts_short_names *kernels, char *text, size_t bytes);

/* What the result says as a whole, one sentence a call: the counts; what they depend on; findings
 * that are not listed. */
typedef void cts_flow_tell(void *state, const char *sentence);
void cts_flow_tell_counts(const struct cts_flow_result *flow, cts_flow_tell *tell, void *state);
void cts_flow_tell_notes(const struct cts_flow_result *flow, cts_flow_tell *tell, void *state);
void cts_flow_tell_small(const struct cts_flow_result *flow, cts_flow_tell *tell, void *state);

#endif
