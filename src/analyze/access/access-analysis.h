/* How kernels use memory: the cost of every request against its ideal, by static instruction, how
 * often bytes are asked for again, and what is wrong with it (docs/access.md).
 *
 * Sums are by kernel and site (and, on request, by launch): a site in a function that several
 * kernels call has a row for each. All counts are exact and do not depend on the number of threads.
 *
 * Distinct bytes, of the accesses of a site: `distinct_bytes` counts a byte once a request, the
 * others once a warp, CTA or launch; each is added up over all of those. Shared memory is a CTA's
 * own and local memory a thread's, so that a launch's distinct bytes are those of its CTAs. */
#ifndef CTS_ACCESS_H
#define CTS_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/access/request.h"
#include "analyze/access-source.h"
#include "common/error.h"
#include "common/map.h"
#include "common/progress.h"
#include "trace/catalogue.h"

#define CTS_ACCESS_FIELDS(X)                                                                       \
    X(requests)              /* executions by a warp */                                            \
    X(accesses)              /* by a lane */                                                       \
    X(live_lanes)            /* lanes that the requests' warps have */                             \
    X(partial_requests)      /* with fewer active lanes than that */                               \
    X(requested_bytes)       /* accesses times width */                                            \
    X(distinct_bytes)        /* of each request, added up */                                       \
    X(warp_distinct_bytes)   /* of each warp, */                                                   \
    X(cta_distinct_bytes)    /* each CTA */                                                        \
    X(launch_distinct_bytes) /* and each launch */                                                 \
    X(sectors)               /* global and local memory: of 32 bytes, */                           \
    X(ideal_sectors)         /*   and as few as the distinct bytes fit into */                     \
    X(lines)                 /*   of 128 bytes */                                                  \
    X(dense_excess_sectors)  /* beyond the ideal, of requests whose lanes lie side by side */      \
    X(gap_excess_sectors)    /* likewise, were it not for inactive lanes between them */           \
    X(row_excess_sectors)    /* likewise of requests whose lanes lie side by side in rows */       \
    X(wavefronts)            /* shared memory */                                                   \
    X(ideal_wavefronts)                                                                            \
    X(atomic_requests)                                                                             \
    X(conflict_requests)  /* that need two words of one bank */                                    \
    X(same_address_lanes) /* atomics: lanes beyond the first at the busiest address */             \
    X(uniform_requests)   /* by enum cts_lane_layout */                                            \
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
/* Those of `counts` whose lanes are laid out so. */
uint64_t *cts_access_requests_of(struct cts_access_counts *counts, enum cts_lane_layout layout);

struct cts_access_site {
    uint32_t kernel, site; /* catalogue ids */
    size_t launch;         /* index in catalogue->launches; SIZE_MAX: all of the kernel's */
    uint8_t space;         /* found at run time */
    struct cts_access_counts counts;
    uint32_t worst_ways;
    int64_t stride_bytes;     /* the most frequent one of strided requests */
    uint64_t stride_requests; /* how many have it; 0: none is strided */
    uint32_t row_lanes;       /* of rows of lanes: the most frequent length, in lanes, */
    bool row_is_uniform;      /*   all at one address, */
    int64_t row_pitch_bytes;  /*   with the distance from row to row, */
    uint64_t row_requests;    /*   and how many requests have it; 0: none has such rows */
};

/* The parts of a GPU that a request may be waiting for, each with its own ceiling. */
#define CTS_ACCESS_SYSTEMS(X)                                                                      \
    X(SECTORS, "global-memory sectors")                                                            \
    X(WAVEFRONTS, "shared-memory wavefronts")                                                      \
    X(UPDATES, "atomic updates")                                                                   \
    X(L1, "L1 sectors")

enum cts_access_system {
#define X(name, text) CTS_SYSTEM_##name,
    CTS_ACCESS_SYSTEMS(X)
#undef X
        CTS_SYSTEM_COUNT
};
const char *cts_access_system_text(enum cts_access_system system);
/* What a kernel or site asks of a system, in its own unit: sectors of 32 bytes, wavefronts, updates
 * of the busiest address of a request (1 where no two lanes meet). */
double cts_access_load(const struct cts_access_counts *counts, enum cts_access_system system);

/* Cycles of an SM that a unit of a system takes, to rank findings of different systems: an H200's
 * SM has 18.9 bytes of DRAM a cycle (4.38 TB/s over 132 SMs at 1.755 GHz), so that a sector
 * takes 1.7; a wavefront and an update take one, a sector that L1 holds a quarter. */
double cts_access_cycles(enum cts_access_system system);
/* The sum over sectors, wavefronts and updates, in those cycles. */
double cts_access_cost(const struct cts_access_counts *counts);

/* Those that make results wrong come first. */
#define CTS_FINDINGS(X)                                                                            \
    X(OUTSIDE, "access outside allocations")                                                       \
    X(UNINITIALISED, "uninitialised read")                                                         \
    X(RACE, "possible race")                                                                       \
    X(LOCKSTEP, "race in a warp")                                                                  \
    X(BANK_CONFLICT, "bank conflicts")                                                             \
    X(STRUCT_STRIDE, "array of structs")                                                           \
    X(BLOCKED, "blocked arrangement")                                                              \
    X(STRIDED, "strided access")                                                                   \
    X(ROWS, "rows across sectors")                                                                 \
    X(SCATTERED, "scattered access")                                                               \
    X(MISALIGNED, "misaligned access")                                                             \
    X(FEW_LANES, "few active lanes")                                                               \
    X(ATOMIC_CONTENTION, "atomics on one address")                                                 \
    X(LOCAL_MEMORY, "local memory")                                                                \
    X(REPEATED, "repeated loads")

enum cts_finding_kind {
#define X(name, text) CTS_FINDING_##name,
    CTS_FINDINGS(X)
#undef X
        CTS_FINDING_KIND_COUNT
};
const char *cts_finding_text(enum cts_finding_kind kind);
/* Whether a site lies on a line of a program's source. Of others there is an instruction at most:
 * each line of a disassembly is one. */
bool cts_access_has_line(const struct cts_catalogue *catalogue, uint32_t site);
/* Whether a finding of this kind makes results wrong, and not only slow: it has no share. */
static inline bool cts_finding_is_fault(enum cts_finding_kind kind)
{
    return kind <= CTS_FINDING_LOCKSTEP;
}

enum { CTS_NULL_PAGE_BYTES = 1 << 16 }; /* what lies below is a null pointer's */

/* One access by one thread. */
struct cts_access_example {
    bool known;
    size_t launch;        /* index in catalogue->launches */
    uint32_t cta, thread; /* x fastest; thread: in its CTA */
    uint32_t site;        /* catalogue id */
    uint64_t address;
};

/* Who races. */
enum cts_race_scope {
    CTS_RACE_OF_CTAS,  /* of one launch */
    CTS_RACE_OF_WARPS, /* of one CTA */
    CTS_RACE_OF_LANES, /* of one warp */
    CTS_RACE_OF_COPY,  /* threads of a CTA, one of them by an asynchronous copy */
};

/* "CTAs", "warps", "lanes", "a copy". */
const char *cts_race_scope_text(enum cts_race_scope scope);

/* What a finding that makes results wrong consists of, summed over launches. */
struct cts_access_fault {
    uint64_t accesses, bytes;  /* thread accesses to such bytes; such bytes, each once a launch. Of
                                  a race inside CTAs: those CTAs; bytes, each once a CTA */
    enum cts_race_scope scope; /* of a race */
    uint64_t launch_count;
    struct cts_access_example example; /* of the first such launch: the lowest address, then CTA */
    struct cts_access_example other;   /* race: of the lowest other CTA that touches the byte */
    size_t allocation; /* that has the byte, index in catalogue->allocations, or is nearest to it
                          (outside); SIZE_MAX: none */
    int64_t distance_bytes; /* outside: from the end of the allocation on (0 at its end), negative:
                               before its start */
    bool is_freed;          /* outside: it had been freed; no distance */
    bool has_whole; /* uninitialised: some access reads no other bytes, which padding is not */
};

/* Sites of one kernel and line that do the same to the same variable (of an unrolled loop, say) are
 * one finding, as are those of a kernel without source lines that do the same. */
struct cts_finding {
    enum cts_finding_kind kind;
    size_t site; /* in cts_access_result.sites: the worst of them */
    uint32_t site_count;
    enum cts_access_system system;
    double waste;  /* cost beyond the ideal, in cycles as cts_access_cycles() counts */
    bool is_small; /* below the cut */
    double share;  /* of its kernel's load of the system: what is to be gained at most */
    struct cts_access_counts counts;  /* of its sites together */
    uint32_t worst_ways, width_bytes; /* of the worst site's accesses */
    bool row_is_uniform;              /* rows across sectors: its lanes have one address */
    bool is_shared;                   /* its sites' space is shared memory */
    bool has_members; /* array of structs: its sites are of several members, on any lines */
    uint32_t field_bytes, struct_bytes, used_bytes; /* array of structs, blocked arrangement;
                                                       used: by all sites of the
                                                       kernel that walk the structs alike */
    struct cts_access_fault fault;                  /* of kinds that make results wrong */
};

/* What a launch did to an allocation of global memory; each byte counts for the allocation that it
 * lies in. */
struct cts_access_allocation {
    size_t launch;     /* index in catalogue->launches */
    size_t allocation; /* in catalogue->allocations; SIZE_MAX: outside of all */
    uint64_t accesses, requested_bytes;
    uint64_t request_distinct_bytes, cta_distinct_bytes;       /* added up, as of sites */
    uint64_t launch_distinct_bytes, read_bytes, written_bytes; /* distinct in the launch */
};

struct cts_access_options {
    bool per_launch;     /* sites of each launch apart; no findings */
    bool costs_only;     /* requests alone: no reuse, no allocations, no faults */
    const bool *wanted;  /* by index in catalogue->launches; NULL: all. Others are not read, */
    bool history;        /*   but, with this, for what they write: else reads of memory that nobody
                              wrote are not looked for, since others may have written it */
    unsigned bank_bytes; /* 4 or 8; 0: 4 */
    unsigned threads;    /* 0: one per processor */
    struct cts_progress *progress;
    uint32_t late_ranges; /* sets of at least this many ranges are painted late (cta-sets.c); 0:
                             those for which it is faster. Results are the same. */
};

struct cts_access_result {
    struct cts_access_site *sites; /* by kernel, launch, site, space */
    size_t site_count;
    struct cts_finding *findings; /* by waste, largest first; none with per_launch */
    size_t finding_count;
    uint64_t library_kernels; /* of ctascope's own libraries: what they lose is no finding */
    uint64_t small_findings; /* left out: below 1% of their kernel's load of the system, or cost; */
    double small_share;      /*   their waste together, over the cost of the run */
    struct cts_access_allocation *allocations; /* by launch, allocation */
    size_t allocation_count;
    uint64_t record_count, access_count;
    uint64_t dropped_accesses, incomplete_files, unrecorded_launches;
    bool lower_bound;              /* something is missing: counts may be too small */
    uint64_t unseen_allocations;   /* managed, pinned or mapped, whose host writes were not seen:
                                      their reads count as initialised */
    uint64_t imported_allocations; /* of other processes, or of pages that may be mapped elsewhere:
                                      their reads count as initialised */
    uint64_t unwatched_launches;  /* in which reads of memory that nobody wrote were not looked for,
                                     since not all of their stores are known */
    uint64_t unknown_allocations; /* into which such a launch may have stored: reads after it count
                                     as initialised */
    uint64_t faulted_launches;    /* that ended in an error of the device (the catalogue's table
                                     `faults`): nothing is concluded of them */
    uint64_t foreign_bytes;       /* touched far from every allocation: the device's heap, or memory
                                     of the host; distinct in each launch */
    uint64_t ordered_bytes;       /* that CTAs hand on: no race; each once a launch. Of them */
    uint64_t lock_bytes, counter_bytes, flag_bytes, grid_bytes; /* by what */
    bool fences_unknown;           /* what orders them may lack fences: they are not recorded */
    uint64_t untold_race_launches; /* in which races inside CTAs are not told, since barriers were
                                      not recorded or there is too much to be kept */
    bool no_allocations;           /* imported: accesses outside of them are not looked for */
    uint64_t peak_set_bytes;       /* of bit sets and shadow memory */
    bool packed_lanes; /* imported: lanes are no threads, so that nothing of this means anything */
};

CTS_MUST_CHECK enum cts_status cts_access_analyze(const struct cts_catalogue *catalogue,
                                                  const struct cts_access_source *source,
                                                  const struct cts_access_options *options,
                                                  struct cts_access_result *result,
                                                  struct cts_error *error);
void cts_access_release(struct cts_access_result *result);

/* How much of a variable's name is that of its structs: "p" of "p->x". */
size_t cts_struct_name_length(const char *variable);
/* What a finding is about: the variable of its worst site ("b->x"), or the structs of several
 * members ("b"); NULL: not known. In `text` if need be. */
enum { CTS_VARIABLE_BYTES = 200 };
const char *cts_finding_variable(const struct cts_catalogue *catalogue,
                                 const struct cts_access_result *result,
                                 const struct cts_finding *finding, char *text, size_t bytes);
/* A finding's evidence and remedy, one sentence each. */
void cts_finding_evidence(const struct cts_catalogue *catalogue,
                          const struct cts_access_result *result, const struct cts_finding *finding,
                          char *text, size_t text_bytes);
const char *cts_finding_remedy(const struct cts_finding *finding);

#endif
