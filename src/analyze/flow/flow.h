/* What passes between kernels, copies and the host: the whole analysis. docs/flow.md defines it. */
#ifndef CTS_FLOW_FLOW_H
#define CTS_FLOW_FLOW_H

#include "analyze/flow/flow-edges.h"
#include "analyze/flow/flow-map.h"

/* The one change of a stretch by which `ctascope try` measures a finding; else why there is none.
 */
enum cts_flow_change {
    CTS_FLOW_CHANGE_SOURCE, /* only a change of the source can show it */
    CTS_FLOW_CHANGE_MEMORY, /* it concerns memory, not time */
    CTS_FLOW_CHANGE_DROP,
    CTS_FLOW_CHANGE_DROP_OTHER, /* the second of the two */
    CTS_FLOW_CHANGE_DROP_WAIT,
    CTS_FLOW_CHANGE_COPY_AWAY,
    CTS_FLOW_CHANGE_OVERLAP,
    CTS_FLOW_CHANGE_DELAY /* the first of the two: the second overtakes it */
};

/* Name, what a person reads, what to do, when that is legal, and the change that tries it. */
#define CTS_FLOW_FINDINGS(X)                                                                       \
    X(RACE, "race",                                                                                \
      "order the two: record an event after the first and wait for it before the "                 \
      "second",                                                                                    \
      "in any case: it only adds order", DELAY)                                                    \
    X(POSSIBLE_RACE, "possible race", "check what orders the two",                                 \
      "in any case: it only adds order, which the program may have in a way that was not "         \
      "recorded",                                                                                  \
      DELAY)                                                                                       \
    X(DEAD_WORK, "dead work", "remove it: no byte that it writes reaches the host",                \
      "if no other input, later step or process reads what it writes", DROP)                       \
    X(DEAD_BYTES, "dead bytes", "write only what is read",                                         \
      "if no other input, later step or process reads the other bytes", SOURCE)                    \
    X(OVERWRITTEN_MEMSET, "overwritten memset",                                                    \
      "do not memset bytes that a kernel or copy overwrites first",                                \
      "if these bytes are overwritten before any read with every input", DROP)                     \
    X(AVOIDABLE_COPY, "avoidable copy",                                                            \
      "read from the source instead: it does not change "                                          \
      "before the reads",                                                                          \
      "if, with every input, nothing writes the source or the copy before the copy's last reader", \
      COPY_AWAY)                                                                                   \
    X(REPEATED_COPY, "repeated copy", "remove it: the destination already holds these bytes",      \
      "if, with every input, nothing writes the source or the destination between the two copies", \
      DROP)                                                                                        \
    X(ROUND_TRIP, "round trip", "copy on the device: the host returns the bytes unchanged",        \
      "if no code of the CPU changes the bytes, also none that is not recorded", SOURCE)           \
    X(OVERSIZED_COPY, "oversized copy", "copy only what is read",                                  \
      "if no other input, later step or process reads the other bytes", SOURCE)                    \
    X(UNREAD_COPY, "unread copy", "remove it: the CPU does not load these bytes",                  \
      "if no code of the CPU loads the bytes, also none that is not recorded", DROP)               \
    X(REPEATED_LAUNCH, "repeated launch",                                                          \
      "launch it once: the second loads and stores the same values at the same addresses",         \
      "if its inputs are the same both times with every input of the program", DROP_OTHER)         \
    X(STALE_READ, "stale read",                                                                    \
      "initialise the memory first: it holds data of an earlier "                                  \
      "allocation",                                                                                \
      "in any case", MEMORY)                                                                       \
    X(UNUSED_ALLOCATION, "unused allocation", "remove it: nothing accesses it",                    \
      "if no other input accesses it", MEMORY)                                                     \
    X(LATE_FREE, "late free", "free it after its last use: it counts towards the memory peak",     \
      "if no other input accesses it later", MEMORY)                                               \
    X(NEEDLESS_ORDER, "needless order",                                                            \
      "let the two execute at the same time (two streams, or branches of a graph): neither uses "  \
      "what the other writes",                                                                     \
      "if, with every input, neither writes what the other reads or writes", OVERLAP)              \
    X(REUSE_ORDER, "order by reuse",                                                               \
      "give the second memory of its own: only reused memory orders the two",                      \
      "if whatever reads the second's result takes it from the new memory", SOURCE)                \
    X(NEEDLESS_WAIT, "needless wait", "remove the wait between the two",                           \
      "if the CPU does not use what the wait guards, also in code that is not recorded",           \
      DROP_WAIT)                                                                                   \
    X(FUSION, "fusion", "make one kernel of the two",                                              \
      "if, with every input, nothing else writes or reads what passes between the two", SOURCE)

enum cts_flow_finding_kind {
#define X(name, text, advice, legal, change) CTS_FLOW_##name,
    CTS_FLOW_FINDINGS(X)
#undef X
        CTS_FLOW_FINDING_KINDS
};

/* Why a finding is only possible. */
#define CTS_FLOW_REASONS(X)                                                                        \
    X(CERTAIN, "")                                                                                 \
    X(ROWS, "rows of the run are missing")                                                         \
    X(GRAPHS, "the run does not record graphs and stream-ordered frees")                           \
    X(THREADS, "host threads may have synchronised")                                               \
    X(CALLS, "a call may have waited, as cudaFree does")                                           \
    X(TOLD, "a kernel or host function may have signalled the host that it ended")                 \
    X(FUNCTION, "a host function may have waited")                                                 \
    X(SIGNAL, "atomics or volatile accesses may order the two")                                    \
    X(HIDDEN, "some launches are not fully recorded")                                              \
    X(HOST, "the CPU may access it in code that is not instrumented")                              \
    X(SOME, "other executions of it are needed")                                                   \
    X(NO_HOST, "nothing goes to the host")                                                         \
    X(PROCESSES, "another process may read it")                                                    \
    X(ENDED, "a longer run may read it: the memory was read before")                               \
    X(DATA, "the data may decide what a kernel loads and stores")                                  \
    X(REPLACED, "its result is overwritten in between: keep a copy of it")

enum cts_flow_reason {
#define X(name, text) CTS_FLOW_REASON_##name,
    CTS_FLOW_REASONS(X)
#undef X
        CTS_FLOW_REASON_COUNT
};

/* Findings of one kind about the same kernels or calls, the same allocation's source line and the
 * same reason are one; node, other and addresses are the first's. */
struct cts_flow_finding {
    enum cts_flow_finding_kind kind;
    enum cts_flow_reason reason;
    uint32_t node;         /* index; CTS_NONE: about an allocation */
    uint32_t other;        /* the second node of a pair; CTS_NONE: none */
    uint32_t allocation;   /* index in the catalogue; CTS_NONE: none, or several */
    enum cts_flow_map map; /* fusion */
    uint32_t sync;         /* needless wait: index in the catalogue */
    uint64_t times;
    uint64_t bytes;         /* the evidence and the ceiling, summed over all times */
    uint64_t traffic_bytes; /* that a fix spares at most in device memory (round trips: between
                               device and host), summed over all times: what is not read and what is
                               not written */
    uint64_t saved_ns;      /* that a fix saves at most, summed over all times; 0: not known */
    uint64_t saved_bytes; /* of one time: what a fix spares, as far as findings can be too small */
    uint64_t first, end;  /* addresses; 0: not said */
};

/* A copy or memset of less takes as long as one of nothing: its launch. */
#define CTS_FLOW_LEAST_BYTES UINT64_C(1024)

/* A launch that touches less may find it in the L2 cache: it does not show the memory's rate. */
#define CTS_FLOW_RATE_BYTES (UINT64_C(256) << 20)

/* A work is on the longest chain of the program's order, or of true dependences and what the host
 * waited for. */
enum { CTS_FLOW_ON_ENFORCED = 1, CTS_FLOW_ON_TRUE = 2 };

struct cts_flow_options {
    uint64_t least_bytes; /* findings that save less each time are counted only */
    unsigned threads;
    size_t runs_at_a_time;     /* of bytes, to map a pair of launches; 0: 8 Mi */
    const uint64_t *launch_ns; /* how long each launch of the catalogue takes; 0: not known. NULL:
                                  none is. It must outlive the result */
    bool each; /* findings about the same kernels are not one: each has its own node and other */
    struct cts_progress *progress;
};

struct cts_flow_result {
    const struct cts_catalogue *catalogue;
    struct cts_flow_order order; /* CTS_FLOW_SURE */
    struct cts_flow_walk walk;
    /* Races; what spares traffic, the certain ones first; the rest. Each by what it spares, then by
     * kind, then by bytes; the largest first. */
    struct cts_flow_finding *findings;
    size_t finding_count, finding_capacity;
    uint64_t least_bytes, small_findings; /* findings below the first are the second, each time */
    /* Findings that are not listed because a file suppresses them, or because the baseline has
     * them, too: flow-known.h. */
    uint64_t suppressed_findings, known_findings;
    uint64_t ordered_pairs; /* of nodes that conflict */
    uint64_t race_pairs, possible_pairs;
    uint64_t unjudged_pairs; /* of a launch that is not fully recorded and what it is not ordered
                                with */
    uint64_t hiding_launches;
    uint64_t unmapped_pairs;   /* that may be fusions, but have too many runs of bytes or CTAs */
    const uint64_t *launch_ns; /* as in the options */
    double bytes_per_ns;       /* the largest rate of a launch of CTS_FLOW_RATE_BYTES; 0: none */
    uint32_t rate_node;        /* that launch */
    uint64_t allocated_peak_bytes, live_peak_bytes; /* device memory */
    /* Works on the longest chain of nodes that follow each other: in the order of the program, by
     * data, by true dependences. 0: not judged, as the run has host functions. */
    uint32_t longest_enforced, longest_needed, longest_raw;
    uint8_t *chain_marks;   /* by node: CTS_FLOW_ON_..., of one such chain each; NULL: not judged */
    bool *is_needless_wait; /* by index of the synchronisation; NULL: not judged */
    uint64_t needed_waits, needless_waits; /* of host threads; not those that wait for nothing */
    uint32_t peak_node; /* the allocation at which the first is reached; CTS_NONE: none */
    bool host_seen;     /* CPU accesses were recorded */
    bool values_seen;   /* values were recorded or hashed, of some accesses */
    bool knows_threads; /* the run has the host thread of each call */
    bool knows_calls;   /* and the functions, graphs and stream-ordered frees */
    bool lower_bound;   /* something is missing */
};

/* Catalogue and source must outlive the result. */
CTS_MUST_CHECK enum cts_status cts_flow_analyze(const struct cts_catalogue *catalogue,
                                                const struct cts_access_source *source,
                                                const struct cts_flow_options *options,
                                                struct cts_flow_result *flow,
                                                struct cts_error *error);
void cts_flow_release(struct cts_flow_result *flow);

const char *cts_flow_finding_text(enum cts_flow_finding_kind kind);
const char *cts_flow_finding_advice(enum cts_flow_finding_kind kind);
/* When the advice can be followed: "in any case", "if no other input reads it". */
const char *cts_flow_finding_legal(enum cts_flow_finding_kind kind);
enum cts_flow_change cts_flow_finding_change(enum cts_flow_finding_kind kind);
const char *cts_flow_reason_text(enum cts_flow_reason reason);
const char *cts_flow_map_text(enum cts_flow_map map);
const char *cts_flow_map_advice(enum cts_flow_map map);

#endif
