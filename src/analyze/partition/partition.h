/* What a program would cost on several GPUs or dies: its CTAs are split over partitions, and the
 * bytes that then pass between them are counted (paper 004; docs/partition.md has the definitions).
 *
 * Words: the *GPU set* of a launch are the bytes that its CTAs read and a kernel wrote last, the
 * *host set* those read otherwise. *Traffic* of a launch counts each byte of the GPU set once for
 * every partition that reads it, but the one that wrote it last. A *scale* is one mapping with one
 * number of partitions. All byte counts are exact and do not depend on threads or processes. */
#ifndef CTS_PARTITION_H
#define CTS_PARTITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/partition/mapping.h"
#include "analyze/access-source.h"
#include "common/error.h"
#include "common/processes.h"
#include "common/progress.h"
#include "trace/catalogue.h"

struct cts_partition_options {
    const uint32_t *counts; /* numbers of partitions: ascending, distinct, 1 to 65535; 1 is always
                               analysed beside, for the time of a whole GPU */
    size_t count_count;
    const struct cts_mapping *const *mappings;
    size_t mapping_count;
    bool keep_assignments; /* which CTA goes where, in every scale: scale.assignment */
    bool best_found;       /* look for a mapping of the program's own, for each count */
    bool paper_model; /* no copies, no frees, no CPU accesses; host = never written by a kernel */
    bool per_stream;  /* critical sets within a stream */
    uint64_t block_ctas; /* of block-cyclic; 0: its default */
    uint64_t page_bytes; /* of first-touch placement: a power of two, 4 KiB to 2 MiB; 0: 64 KiB */
    uint64_t l2_bytes;   /* cache of a partition; 0: not asked for */
    double link_bytes_per_s, local_bytes_per_s; /* 0: those of an H200 pair */
    /* Fixed cost per launch in addition to its traffic; 0: an H200's; negative: none. */
    double launch_s;
    bool launch_times;                     /* recorded durations count as time of computation */
    unsigned threads;                      /* 0: one per processor */
    uint64_t pattern_bytes;                /* what is kept for a second look; 0: 256 MiB */
    const struct cts_processes *processes; /* NULL: alone */
    struct cts_progress *progress;         /* counts accesses; may be NULL */
};

#define CTS_PARTITION_LINK_BYTES_PER_S  0.374e12
#define CTS_PARTITION_LOCAL_BYTES_PER_S 4.38e12
#define CTS_PARTITION_LAUNCH_S          1.6e-6 /* an empty kernel after another */

/* Sets over the run: addresses, each counted once per rank. */
struct cts_partition_sets {
    uint64_t gpu_bytes, host_bytes, both_bytes, working_bytes;
};

/* What a launch has in any partitioning. Unions over its CTAs, unless it says otherwise. */
#define CTS_PARTITION_LAUNCH_FIELDS(X)                                                             \
    X(gpu_set_bytes)                                                                               \
    X(host_set_bytes)                                                                              \
    X(critical_bytes)      /* of the GPU set: written by the directly preceding launch */          \
    X(critical_base_bytes) /* what they are a share of: the GPU set (per stream: of its stream) */ \
    X(read_bytes)                                                                                  \
    X(written_bytes)                                                                               \
    X(read_unique_bytes)    /* bytes per CTA, added up */                                          \
    X(received_bytes)       /* of those: a kernel wrote them last */                               \
    X(written_unique_bytes) /* bytes per CTA, added up */                                          \
    X(conflict_bytes)       /* written by more than one CTA */                                     \
    X(accesses)             /* of threads, to global memory */

struct cts_partition_launch_sums {
#define X(name) uint64_t name;
    CTS_PARTITION_LAUNCH_FIELDS(X)
#undef X
};
enum {
    CTS_PARTITION_LAUNCH_FIELD_COUNT = sizeof(struct cts_partition_launch_sums) / sizeof(uint64_t)
};

struct cts_partition_launch {
    size_t index; /* in catalogue->launches */
    uint32_t superstep, ordinal;
    uint64_t cta_count;
    uint32_t first_place; /* of its CTAs in an assignment, which launches of a kernel with one grid
                             share; CTA i has place first_place + i */
    bool counted;         /* false: nothing was recorded of it */
    bool incomplete;      /* not all of it was recorded */
    bool has_critical;    /* its GPU set is not empty, so that its critical share means something */
    struct cts_partition_launch_sums sums;
};

/* Whether anything that the launch read was written by a kernel before: else no mapping gives it
 * traffic (the first launch of most programs), and distributions leave it out. */
static inline bool cts_partition_can_have_traffic(const struct cts_partition_launch *launch)
{
    return launch->counted && launch->sums.gpu_set_bytes > 0;
}

/* A distribution over the launches that can have traffic. Quartiles lie between neighbours where
 * they must (linear interpolation); whiskers reach the outermost values within 1.5 IQR of the box.
 */
struct cts_partition_box {
    uint64_t count, outliers;
    double least, low_whisker, quartile1, median, quartile3, high_whisker, most, mean;
};

/* One partition of a scale, over the run. */
#define CTS_PARTITION_PART_FIELDS(X)                                                               \
    X(ctas)       /* summed over launches */                                                       \
    X(accesses)   /* of their threads */                                                           \
    X(read_bytes) /* unions over its CTAs, launch by launch */                                     \
    X(written_bytes)                                                                               \
    X(in_bytes)  /* traffic into it, */                                                            \
    X(out_bytes) /* and out of it */
struct cts_partition_part {
#define X(name) uint64_t name;
    CTS_PARTITION_PART_FIELDS(X)
#undef X
};

/* Estimated time of the run's memory traffic and launches: see docs/partition.md. */
struct cts_partition_time {
    double no_overlap_s, full_overlap_s; /* local and remote one after the other; at once */
    double no_overlap_speedup, full_overlap_speedup; /* against one partition */
    double launch_s; /* of both: what launches take beside their traffic, on however many */
    double link_s;   /* of no overlap: what the slowest partition of each launch exchanges */
};

struct cts_partition_scale {
    size_t mapping; /* in cts_partition.mappings */
    uint32_t partition_count;
    uint64_t traffic_bytes;
    uint64_t replica_bytes; /* what is left if a fetched byte stays until it is written again */
    uint64_t shared_bytes;  /* written instances (launch, byte) that another partition reads at all:
                               at most the bytes that launches wrote */
    uint64_t held_bytes;    /* of traffic - replica: what a cache of l2_bytes surely holds */
    uint64_t owner_remote_write_bytes; /* owner-writes; its remote reads are the traffic */
    uint64_t touch_remote_read_bytes, touch_remote_write_bytes; /* first-touch */
    uint32_t idle_partitions;                                   /* without a CTA in the whole run */
    uint64_t idle_slots; /* partitions without a CTA, summed over launches */
    double cta_imbalance, access_imbalance, byte_imbalance; /* largest over mean, 1 is even */
    struct cts_partition_time time;
    struct cts_partition_box box;     /* of traffic per launch that can have any, bytes */
    uint64_t *launch_bytes;           /* traffic per launch of cts_partition.launches */
    struct cts_partition_part *parts; /* partition_count */
    uint64_t *kernel_bytes;           /* traffic by the kernel that wrote: cts_partition.kernels */
    uint64_t *allocation_bytes;       /* traffic by where it lies: cts_partition.places */
    uint16_t *assignment;             /* by place: the partition; NULL unless asked for */
    const char *found_from;           /* best found: what it was made from; else NULL */
};

/* Traffic of one mapping against p: both fits by least squares over the scales with p >= 2. */
struct cts_partition_fit {
    size_t mapping;
    size_t point_count;
    double linear_a, linear_b;                /* a + b * p */
    double limited_a, limited_b;              /* a - a / (b + p) */
    double linear_residual, limited_residual; /* root mean square of the errors / mean traffic */
    bool limited_is_better;
    bool is_known; /* false: fewer than three points or no traffic */
};

/* Allocations of the same variable at the same place of the source. */
struct cts_partition_place {
    uint32_t allocation; /* the first of them: index in catalogue->allocations; CTS_NONE: others */
};

struct cts_partition {
    struct cts_partition_options options; /* defaults filled in; its pointers are not kept */
    const char **mappings;                /* names; the last is "best-found" if it was wanted */
    size_t mapping_count;
    /* soundness */
    uint64_t unrecorded_launches, dropped_accesses, incomplete_files, unseen_allocations;
    uint64_t unordered_pairs;
    bool lower_bound;
    /* the run */
    struct cts_partition_launch *launches; /* in their order, rank after rank */
    size_t launch_count;
    uint64_t superstep_count, node_count, largest_grid;
    uint64_t empty_gpu_sets; /* launches without a critical share */
    struct cts_partition_sets sets;
    struct cts_partition_launch_sums total; /* of launches, added up */
    struct cts_partition_scale whole;       /* one partition */
    struct cts_partition_scale *scales;     /* by mapping, then partitions */
    size_t scale_count;
    struct cts_partition_fit *fits; /* per mapping */
    uint32_t *kernels;              /* ids of kernels that ran, ascending */
    size_t kernel_count;
    struct cts_partition_place *places;
    size_t place_count;
    /* how the work went */
    uint64_t pattern_count;  /* launches that no launch before resembled */
    uint64_t coarsened_ctas; /* best found: CTAs per vertex of its graph */
    uint64_t peak_pattern_bytes;
};

CTS_MUST_CHECK enum cts_status cts_partition_analyze(const struct cts_catalogue *catalogue,
                                                     const struct cts_access_source *source,
                                                     const struct cts_partition_options *options,
                                                     struct cts_partition *result,
                                                     struct cts_error *error);
void cts_partition_release(struct cts_partition *result);

/* The scale of a mapping and count, or NULL. */
const struct cts_partition_scale *cts_partition_find(const struct cts_partition *result,
                                                     size_t mapping, uint32_t partition_count);

/* ---- what it means ---- */

/* Numbers of partitions that are analysed where the user names none: 2, 3, 4, 6, 8, ... 64, as far
 * as the largest grid has CTAs. Returns how many; 0: no launch has two CTAs. */
enum { CTS_PARTITION_DEFAULT_COUNTS = 11 };
size_t cts_partition_default_counts(const struct cts_catalogue *catalogue,
                                    uint32_t counts[CTS_PARTITION_DEFAULT_COUNTS]);
/* CTAs of the largest grid; 0: no launch. */
uint64_t cts_partition_largest_grid(const struct cts_catalogue *catalogue);

enum cts_partition_verdict {
    CTS_PARTITION_NO_DATA,          /* no traffic and nothing read or written */
    CTS_PARTITION_NO_GAIN,          /* no number of partitions is faster by 5% or more */
    CTS_PARTITION_GAIN,             /* the recommended scale is, and efficient */
    CTS_PARTITION_INEFFICIENT_GAIN, /* a scale is, but none is efficient */
    CTS_PARTITION_NO_TRAFFIC_GAIN   /* so is it, and nothing passes between partitions */
};

/* What takes most of the time that a perfect split would not take. */
enum cts_partition_limit {
    CTS_PARTITION_LIMIT_LAUNCHES,
    CTS_PARTITION_LIMIT_TRAFFIC, /* between partitions */
    CTS_PARTITION_LIMIT_UNEVEN, /* the slowest partition moves more than its share, since partitions
                                   differ or read the same bytes */
};

struct cts_partition_answer {
    enum cts_partition_verdict verdict;
    enum cts_partition_limit limit;
    double limit_s;                          /* of `scale`, without overlap */
    const struct cts_partition_scale *scale; /* recommended; for no gain: the best of them */
    const struct cts_partition_scale *worst; /* same count, the most traffic */
    bool mapping_matters;                    /* the worst mapping has at least 5% more traffic */
    /* what dominates the traffic of `scale`; only where there is traffic */
    size_t kernel, reading_kernel; /* writing, reading: index in kernels */
    uint64_t kernel_bytes, reading_kernel_bytes;
    size_t place;
    uint64_t place_bytes;
    size_t launch;
    uint64_t launch_bytes;
    bool writes_dominate; /* first-touch: remote writes outweigh remote reads */
};

/* The least count whose speed-up (no overlap) is at least 90% of the best one's, with the mapping
 * of least time there; among the efficient scales, if one of them gains 5%, else among all. A scale
 * is efficient if each partition beyond the first adds at least half a speed-up: 1.5 on 2
 * partitions, 2.5 on 4. (At least half of what all p could give would be any speed-up at all on
 * 2.) */
struct cts_partition_answer cts_partition_answer(const struct cts_partition *result,
                                                 const struct cts_catalogue *catalogue);

/* ---- parts of it, for tests and renderers ---- */

struct cts_partition_box cts_partition_box_of(const uint64_t *values, size_t count,
                                              uint64_t *scratch);
void cts_partition_fit_points(const double *p, const double *y, size_t count,
                              struct cts_partition_fit *fit);

#endif
