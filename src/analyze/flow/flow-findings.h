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

/* Traffic of device memory that a fix saves at most, one time. */
uint64_t cts_flow_traffic(const struct cts_flow_result *flow,
                          const struct cts_flow_finding *finding);
/* At which rate launches move bytes: bytes_per_ns and rate_node, from launch_ns. */
void cts_flow_find_rate(struct cts_flow_result *flow);
/* The time of traffic_bytes, or of the launch that goes; 0: unknown. */
uint64_t cts_flow_saved_ns(const struct cts_flow_result *flow,
                           const struct cts_flow_finding *finding);

/* Whether a node may touch, or tell, what the run does not show: it needs all order that it has. */
bool cts_flow_is_unknown(const struct cts_flow_result *flow, uint32_t node);
/* Whether u has to stay before v, two works, whatever data they use: one is unknown, the host knew
 * u to have ended when it requested v, or they may have waited for each other. */
bool cts_flow_is_required(const struct cts_flow_result *flow, uint32_t u, uint32_t v);
/* Whether data orders the two ends of an edge. */
static inline bool cts_flow_has_data(const struct cts_flow_edge *edge)
{
    return edge->is_ordered &&
           (edge->raw_bytes || edge->war_bytes || edge->waw_bytes || edge->end_bytes);
}
/* Whether u's value may show through where v stores: nobody had read it, and v, a launch that
 * loads, may have decided by data where it stores. Its order is data's. */
static inline bool cts_flow_shows_through(const struct cts_flow_result *flow,
                                          const struct cts_flow_edge *edge)
{
    return edge->is_ordered && edge->unread_waw_bytes &&
           flow->order.nodes[edge->to].kind == CTS_FLOW_LAUNCH &&
           flow->walk.uses[edge->to].read_bytes;
}
/* Read and written. */
uint64_t cts_flow_touched_bytes(const struct cts_flow_result *flow, uint32_t node);

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
CTS_MUST_CHECK enum cts_status cts_flow_find_needless_waits(struct cts_flow_result *flow,
                                                            const struct cts_flow_facts *facts,
                                                            struct cts_error *error);
/* `options`: how to read the launches again. */
CTS_MUST_CHECK enum cts_status cts_flow_find_fusion(struct cts_flow_result *flow,
                                                    const struct cts_flow_facts *facts,
                                                    const struct cts_flow_touch_options *options,
                                                    struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_flow_find_repeats(struct cts_flow_result *flow,
                                                     const struct cts_flow_facts *facts,
                                                     const struct cts_flow_touch_options *options,
                                                     struct cts_error *error);

#endif
