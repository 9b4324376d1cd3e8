/* How kernels use memory: the cost of every request against its ideal, by static instruction, and
 * what is wrong with it (docs/access.md).
 *
 * Sums are by kernel and site (and, on request, by launch): a site in a function that several
 * kernels call has a row for each. All counts are exact and do not depend on the number of threads.
 */
#ifndef CTS_ACCESS_H
#define CTS_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/access/request.h"
#include "analyze/source.h"
#include "common/error.h"
#include "common/map.h"
#include "common/progress.h"
#include "trace/catalogue.h"

#define CTS_ACCESS_FIELDS(X)                                                                       \
    X(requests)             /* executions by a warp */                                             \
    X(accesses)             /* by a lane */                                                        \
    X(live_lanes)           /* lanes that the requests' warps have */                              \
    X(partial_requests)     /* with fewer active lanes than that */                                \
    X(requested_bytes)      /* accesses times width */                                             \
    X(distinct_bytes)       /* of each request, added up */                                        \
    X(sectors)              /* global and local memory: of 32 bytes, */                            \
    X(ideal_sectors)        /*   and as few as the distinct bytes fit into */                      \
    X(lines)                /*   of 128 bytes */                                                   \
    X(dense_excess_sectors) /* beyond the ideal, of requests whose lanes lie side by side */       \
    X(wavefronts)           /* shared memory */                                                    \
    X(ideal_wavefronts)                                                                            \
    X(conflict_requests)  /* with a bank of which two words are wanted */                          \
    X(same_address_lanes) /* atomics: lanes beyond the first at the busiest address */             \
    X(uniform_requests)   /* by enum cts_lane_layout, in its order */                              \
    X(dense_requests)                                                                              \
    X(strided_requests)                                                                            \
    X(two_level_requests)                                                                          \
    X(irregular_requests)

struct cts_access_counts {
#define X(name) uint64_t name;
    CTS_ACCESS_FIELDS(X)
#undef X
};
enum { CTS_ACCESS_FIELD_COUNT = sizeof(struct cts_access_counts) / sizeof(uint64_t) };
extern const char *const cts_access_field_names[CTS_ACCESS_FIELD_COUNT];
void cts_access_counts_add(struct cts_access_counts *sum, const struct cts_access_counts *more);
uint64_t cts_access_field(const struct cts_access_counts *counts, size_t field);

struct cts_access_site {
    uint32_t kernel, site; /* catalogue ids */
    size_t launch;         /* index in catalogue->launches; SIZE_MAX: all of the kernel's */
    uint8_t space;         /* found at run time */
    struct cts_access_counts counts;
    uint32_t worst_ways;
    int64_t stride_bytes;     /* the most frequent one of strided requests */
    uint64_t stride_requests; /* how many have it; 0: none is strided */
};

/* Cost in one unit, to compare memories: wavefronts of shared memory; for others a quarter of the
 * sectors, since a wavefront moves up to four. */
double cts_access_cost(const struct cts_access_counts *counts);

#define CTS_FINDINGS(X)                                                                            \
    X(BANK_CONFLICT, "bank conflicts")                                                             \
    X(STRUCT_STRIDE, "array of structs")                                                           \
    X(STRIDED, "strided access")                                                                   \
    X(SCATTERED, "scattered access")                                                               \
    X(MISALIGNED, "misaligned access")                                                             \
    X(FEW_LANES, "few active lanes")                                                               \
    X(ATOMIC_CONTENTION, "atomics on one address")                                                 \
    X(LOCAL_MEMORY, "local memory")

enum cts_finding_kind {
#define X(name, text) CTS_FINDING_##name,
    CTS_FINDINGS(X)
#undef X
        CTS_FINDING_KIND_COUNT
};
const char *cts_finding_text(enum cts_finding_kind kind);

/* Sites of one kernel and line that do the same to the same variable (of an unrolled loop, say) are
 * one finding. */
struct cts_finding {
    enum cts_finding_kind kind;
    size_t site; /* in cts_access_result.sites: the worst of them */
    uint32_t site_count;
    double waste;                    /* cost beyond the ideal, as cts_access_cost() counts */
    double share;                    /* of its kernel's cost: what is to be gained at most */
    struct cts_access_counts counts; /* of its sites together */
    uint32_t worst_ways;
    uint32_t field_bytes, struct_bytes, used_bytes; /* array of structs; used: by all sites of the
                                                       kernel that walk the variable alike */
};

struct cts_access_options {
    bool per_launch;     /* sites of each launch apart */
    unsigned bank_bytes; /* 4 or 8; 0: 4 */
    unsigned threads;    /* 0: one per processor */
    struct cts_progress *progress;
};

struct cts_access_result {
    struct cts_access_site *sites; /* by kernel, launch, site, space */
    size_t site_count;
    struct cts_finding *findings; /* by waste, largest first; none with per_launch */
    size_t finding_count;
    uint64_t record_count, access_count;
    uint64_t dropped_accesses, incomplete_files, unrecorded_launches;
    bool packed_lanes; /* imported: lanes are no threads, so that nothing of this means anything */
};

CTS_MUST_CHECK enum cts_status cts_access_analyze(const struct cts_catalogue *catalogue,
                                                  const struct cts_access_source *source,
                                                  const struct cts_access_options *options,
                                                  struct cts_access_result *result,
                                                  struct cts_error *error);
void cts_access_release(struct cts_access_result *result);

/* findings.c: fills result->findings from result->sites. */
CTS_MUST_CHECK enum cts_status cts_access_find(const struct cts_catalogue *catalogue,
                                               struct cts_access_result *result,
                                               struct cts_error *error);

/* A finding's evidence and remedy, one sentence each. */
void cts_finding_evidence(const struct cts_access_result *result, const struct cts_finding *finding,
                          char *text, size_t text_bytes);
const char *cts_finding_remedy(const struct cts_finding *finding);

#endif
