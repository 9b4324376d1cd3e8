/* Private to flow: each kind of finding has a file. */
#ifndef CTS_FLOW_FINDINGS_H
#define CTS_FLOW_FINDINGS_H

#include "analyze/flow/flow.h"

/* What several kinds ask of a run. */
struct cts_flow_facts {
    size_t *from_begin, *from_edges; /* by node: its outgoing edges, indices in walk.edges */
    bool has_gaps;                   /* rows are missing */
    bool is_unfinished;              /* the end of the run is missing */
};
CTS_MUST_CHECK enum cts_status cts_flow_facts_make(const struct cts_flow_result *flow,
                                                   struct cts_flow_facts *facts,
                                                   struct cts_error *error);
void cts_flow_facts_release(struct cts_flow_facts *facts);

CTS_MUST_CHECK enum cts_status cts_flow_add(struct cts_flow_result *flow,
                                            const struct cts_flow_finding *finding,
                                            struct cts_error *error);

/* Whether a launch that is not fully recorded may read (or store) what a node wrote. */
bool cts_flow_is_hidden_after(const struct cts_flow_result *flow, uint32_t node, bool stores);

CTS_MUST_CHECK enum cts_status cts_flow_find_races(struct cts_flow_result *flow,
                                                   const struct cts_flow_facts *facts,
                                                   struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_flow_find_dead_work(struct cts_flow_result *flow,
                                                       const struct cts_flow_facts *facts,
                                                       struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_flow_find_copies(struct cts_flow_result *flow,
                                                    const struct cts_flow_facts *facts,
                                                    struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_flow_find_memory(struct cts_flow_result *flow,
                                                    const struct cts_flow_facts *facts,
                                                    struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_flow_find_needless_order(struct cts_flow_result *flow,
                                                            const struct cts_flow_facts *facts,
                                                            struct cts_error *error);

#endif
