/* The state of a partition analysis, shared by the files of this directory.
 *
 * Words: a *shape* is a kernel with a grid; launches of one shape are split alike. A *place* is a
 * CTA of a shape: what a mapping gives a partition. A *region* is a share of the address space
 * (every n-th block of 2 MiB) with shadow memories of its own: regions know nothing of each
 * other, and all results are sums over them, so that threads and processes take regions.
 *
 * In a region, a launch is cut into *segments*: bytes that the same CTAs read (or write) and that
 * have the same last writer. Segments become *groups*, sums of bytes by (writer, set of readers);
 * the groups of a launch are its *pattern*. The traffic of any mapping follows from the pattern
 * alone, and most launches of a program repeat a pattern that was evaluated before. */
#ifndef CTS_PARTITION_PARTITION_MODEL_H
#define CTS_PARTITION_PARTITION_MODEL_H

#include "analyze/interval.h"
#include "analyze/partition/partition.h"
#include "analyze/shadow.h"
#include "analyze/summary/summary.h"
#include "common/array.h"
#include "common/hash.h"
#include "common/map.h"

#define CTS_NO_PLACE UINT32_MAX
enum {
    CTS_PARTITION_DISTANCES = 64, /* launches back that a cache is looked into */
    CTS_PARTITION_PLACES = 1024,  /* allocations told apart; the rest is 'others' */
    CTS_PARTITION_KEPT_CELLS = 8, /* patterns whose results a region keeps */
};

/* ---- sets of places (place-sets.c) ---- */

/* A set is known by two 64-bit sums over its members: sums do not depend on the order, and take
 * one addition for a member that comes or goes. */
struct cts_set_key {
    uint64_t sum1, sum2;
    uint32_t count;
};

struct cts_place_set {
    struct cts_set_key key;
    uint32_t first;  /* in members */
    uint32_t local;  /* its number in the current launch, if */
    uint32_t serial; /*   this is the region's serial number */
    bool live;       /* used while tidying */
};

struct cts_place_sets {
    struct {
        struct cts_place_set *items;
        size_t count, capacity;
    } sets;
    struct {
        uint32_t *items; /* places, ascending within a set */
        size_t count, capacity;
    } members;
    uint32_t *slots; /* index + 1 */
    size_t slot_count;
    uint32_t free; /* index + 1 of a dead set, linked by `first` */
};

/* The set of `places` (any order, distinct), made when it is new. UINT32_MAX: no memory. */
uint32_t cts_place_sets_find(struct cts_place_sets *sets, const struct cts_set_key *key,
                             const uint32_t *places, uint32_t base, struct cts_error *error);
bool cts_place_sets_includes(const struct cts_place_sets *sets, uint32_t outer, uint32_t inner);
/* Drops the sets that are not live; the ids of the others stay. */
enum cts_status cts_place_sets_tidy(struct cts_place_sets *sets, struct cts_error *error);
void cts_place_sets_release(struct cts_place_sets *sets);

/* ---- groups (byte-groups.c) ---- */

struct cts_byte_group {
    uint32_t place, set, third;
    uint64_t bytes;
};

struct cts_groups {
    struct cts_byte_group *items;
    size_t count, capacity;
    uint32_t *slots; /* index + 1 */
    size_t slot_count;
    size_t last; /* used last */
};

/* The group of (place, set, third), new ones with 0 bytes; valid until the next call. */
struct cts_byte_group *cts_groups_at(struct cts_groups *groups, uint32_t place, uint32_t set,
                                     uint32_t third, struct cts_error *error);
void cts_groups_clear(struct cts_groups *groups);
void cts_groups_release(struct cts_groups *groups);

/* ---- histories ---- */

/* Who read a byte since it was written: `set` in `launch` (ordinal of the plan), and `older`. An
 * entry leaves out what a later one has. Index 0: nobody. */
struct cts_history {
    uint32_t older, launch, set;
    bool live;
};

/* ---- patterns (pattern.c, evaluate.c) ---- */

struct cts_pattern_reading {
    uint32_t distance; /* index in distances; UINT32_MAX: too far back for a cache */
    uint32_t set;
};

struct cts_launch_pattern {
    uint64_t hash1, hash2;
    uint32_t set_count, history_count, distance_count;
    uint32_t *set_begin; /* [set_count + 1] in members */
    uint32_t *members;
    struct cts_byte_group *reads; /* by writer, readers, third: kernel << 16 | allocation's place */
    struct cts_byte_group *refetches;                /* by writer, readers, history */
    struct cts_byte_group *home_reads, *home_writes; /* by home of the page, readers or writers */
    size_t read_count, refetch_count, home_read_count, home_write_count;
    uint32_t *history_begin; /* [history_count + 1] in readings */
    struct cts_pattern_reading *readings;
    uint32_t *distances; /* in launches, ascending */
    size_t size_bytes;
    /* results for the current tasks; NULL when they are not kept */
    uint64_t *cells;
    uint64_t *fetches; /* with --l2-size: fetched again, by task, distance, partition */
    uint64_t used;     /* when, for choosing whose results to drop */
    uint64_t launches; /* that have this pattern */
};
void cts_pattern_free(struct cts_launch_pattern *pattern);

/* ---- tasks: a mapping with a number of partitions ---- */

enum cts_traffic_cell {
    CTS_CELL_READ,
    CTS_CELL_WRITTEN,
    CTS_CELL_IN,
    CTS_CELL_OUT,
    CTS_CELLS_PER_PART
};
enum cts_scalar {
    CTS_SCALAR_OWNER_WRITE,
    CTS_SCALAR_TOUCH_READ,
    CTS_SCALAR_TOUCH_WRITE,
    CTS_SCALAR_REFETCH,
    CTS_SCALAR_SHARED, /* written bytes that another partition reads for the first time */
    CTS_SCALAR_COUNT
};

struct cts_partition_task {
    uint32_t p;
    const struct cts_mapping *mapping; /* NULL: `assigned` */
    size_t line;                       /* index in model->lines */
    uint16_t *assigned;                /* by place, of a found mapping */
    uint16_t *parts;                   /* by place, when all are kept; else NULL */
    size_t cell_offset;                /* in cells: p * CTS_CELLS_PER_PART, then scalars, kernels,
                                          allocation places */
    size_t part_offset;                /* sum of p of the tasks before */
    const char *label;                 /* of a found mapping */
    double no_overlap_s, full_overlap_s;
    uint64_t *footprints; /* with --l2-size: [CTS_PARTITION_DISTANCES + 2][p], running sums */
    struct cts_partition_scale scale;
};

/* A mapping's line over all shapes. */
struct cts_partition_line {
    const struct cts_mapping *mapping;
    uint64_t *positions; /* by place */
    uint64_t *lengths;   /* by shape */
};

struct cts_partition_shape {
    uint32_t kernel; /* index in result->kernels */
    struct cts_mapping_grid grid;
    uint32_t extents[3];
    uint32_t first_place;
    uint64_t launch_count; /* that were counted */
};

/* Where a place stands in the graph: its shape and its place on the shape's Hilbert curve. */
struct cts_partition_graph_places {
    uint32_t *first; /* by place: the first place of its shape */
    uint32_t *rank;  /* by place */
};

/* ---- regions ---- */

struct cts_touch {
    uint64_t start;
    uint32_t length_bytes; /* within a block of the shadow */
    uint32_t cta;
};
struct cts_touches {
    struct cts_touch *items;
    size_t count, capacity;
};

struct cts_partition_region {
    struct cts_partition_model *model;
    unsigned index; /* of all regions of all processes */
    struct cts_shadow *writers, *histories;
    struct cts_shadow_view writer_view, history_view;
    struct cts_map homes; /* page -> (launch + 1) << 32 | CTA that touched it first */
    struct cts_place_sets sets;
    struct {
        struct cts_history *items; /* [0] is nobody */
        size_t count, capacity;
    } history;
    uint32_t free_history;                  /* index of a dead entry, linked by `older`; 0: none */
    size_t tidy_at;                         /* histories at which the next tidying is due */
    struct cts_intervals gpu_set, host_set; /* of the rank */
    struct cts_intervals gpu_fresh, host_fresh; /* since the last merge, of single launches */
    struct cts_partition_sets run_sets;         /* of the ranks before */
    uint32_t serial;                            /* of launches swept, from 1 */
    /* of the current launch */
    struct cts_touches reads, writes, sorted, scratch;
    uint32_t *local_sets; /* ids by local number */
    size_t local_count, local_capacity;
    struct cts_groups group_reads, group_refetches, group_home_reads, group_home_writes;
    struct cts_groups memo; /* (history, set) -> history after reading; in bytes */
    struct cts_intervals launch_gpu, launch_host;
    uint32_t *active, *active_at, *active_count; /* sweeping: CTAs, by CTA: where and how often */
    size_t active_capacity;
    size_t launch_hint, allocation_hint;
    struct cts_partition_launch_sums sums;
    struct cts_launch_pattern *pattern;
    /* of the run */
    struct cts_map pattern_index; /* hash1 -> index + 1 */
    struct {
        struct cts_launch_pattern **items;
        size_t count, capacity;
    } patterns;
    size_t pattern_bytes;
    uint64_t clock, fresh_patterns;
    struct cts_launch_pattern **launch_patterns; /* by launch; for the second look */
    struct cts_map edges;                        /* best found: vertex << 32 | vertex -> bytes */
    unsigned edge_shift;
    enum cts_status status;
    struct cts_error error;
};

/* Where an allocation lies, while it lives. */
struct cts_partition_extent {
    uint64_t start, end;
    uint32_t place;
};

struct cts_partition_thread {
    uint16_t *parts; /* by place */
    uint64_t *masks; /* of the pattern at hand */
    size_t mask_words;
    struct cts_touches *reads, *writes; /* by region of all processes */
    struct cts_error error;
};

struct cts_partition_model {
    const struct cts_catalogue *catalogue;
    struct cts_partition_options options;
    const struct cts_processes *processes;
    unsigned process_count, process_rank;
    struct cts_partition *result;
    struct cts_summary_plan plan;
    unsigned thread_count;                /* also the regions of this process */
    unsigned region_count;                /* of all processes */
    struct cts_partition_region *regions; /* of this process */
    struct cts_partition_thread *threads;
    struct cts_summary_reader *reader;
    unsigned page_bits;
    struct cts_partition_shape *shapes;
    uint32_t *shape_of; /* by launch */
    size_t shape_count;
    uint32_t place_count;
    uint64_t *place_accesses; /* by place */
    struct cts_partition_line *lines;
    size_t line_count;
    struct cts_partition_task *tasks;
    size_t task_count;
    size_t cell_count, part_count; /* of all tasks */
    uint64_t *cells;               /* of the current launch, all regions */
    uint64_t *held;                /* by task, of the current launch */
    bool second_look;              /* patterns come from the first one */
    bool keeps_patterns;           /* so far none was dropped */
    bool wants_edges;
    struct cts_partition_graph_places *graph; /* best found: places on the Hilbert curve */
    uint32_t *previous;         /* by launch: the launch before it (in its stream), + 1 */
    uint32_t *allocation_place; /* by catalogue allocation */
    struct {
        struct cts_partition_extent *items; /* alive in the current launch, by address */
        size_t count, capacity;
    } extents;
    uint64_t extents_low_op, extents_high_op; /* ops for which they hold */
    bool extents_known;
    uint32_t extents_rank;
    size_t launch; /* current, in plan.launches */
};

static inline uint64_t cts_partition_block(uint64_t address)
{
    return address >> CTS_SHADOW_BLOCK_BITS;
}
/* The region, of all processes, that an address belongs to. */
static inline unsigned cts_partition_region_of(const struct cts_partition_model *model,
                                               uint64_t address)
{
    return (unsigned)(cts_partition_block(address) % model->region_count);
}
static inline struct cts_partition_region *
cts_partition_own_region(const struct cts_partition_model *model, uint64_t address)
{
    const unsigned region = cts_partition_region_of(model, address);
    return region / model->thread_count == model->process_rank
               ? &model->regions[region % model->thread_count]
               : NULL;
}

/* partition-region.c */
CTS_MUST_CHECK enum cts_status cts_region_open(struct cts_partition_region *region,
                                               struct cts_partition_model *model, unsigned index,
                                               struct cts_error *error);
void cts_region_release(struct cts_partition_region *region);
/* The current launch in one region: groups, sums, and last writers as they are after it. */
enum cts_status cts_region_run(struct cts_partition_region *region);
/* In pattern.c: the number of a set in the current launch; UINT32_MAX: no memory. */
uint32_t cts_region_local_set(struct cts_partition_region *region, uint32_t set);
/* A rank ends (or the run): its address space is forgotten. */
enum cts_status cts_region_end_rank(struct cts_partition_region *region);

/* Calls `act` for runs of bytes that the same CTAs touch, ascending; `set` is their id. */
enum cts_status cts_region_sweep(struct cts_partition_region *region, struct cts_touches *touches,
                                 uint32_t first_place,
                                 enum cts_status (*act)(struct cts_partition_region *region,
                                                        uint64_t start, uint64_t end,
                                                        uint32_t set));

/* history.c: the history of bytes that had `history` and are now read by `set`; UINT32_MAX: none */
uint32_t cts_history_after(struct cts_partition_region *region, uint32_t history, uint32_t set);
/* Forgets histories and sets that no byte has. */
enum cts_status cts_history_tidy(struct cts_partition_region *region);

/* pattern.c: the pattern of the launch that the region has just swept. */
enum cts_status cts_pattern_take(struct cts_partition_region *region);
/* Makes room for results of the current tasks; true when the pattern has them already. */
enum cts_status cts_pattern_prepare(struct cts_partition_region *region, bool *has_results);

/* evaluate.c: the current task list over the regions' patterns, into model->cells. */
CTS_MUST_CHECK enum cts_status cts_partition_evaluate(struct cts_partition_model *model,
                                                      struct cts_error *error);
/* Partitions of all places under a task. */
void cts_partition_assign(const struct cts_partition_model *model,
                          const struct cts_partition_task *task, uint16_t *parts);

/* partition-host.c: copies, memsets, frees and CPU accesses. */
CTS_MUST_CHECK enum cts_status cts_partition_copy(struct cts_partition_model *model,
                                                  const struct cts_copy *copy,
                                                  struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_partition_free(struct cts_partition_model *model,
                                                  const struct cts_allocation *allocation,
                                                  struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_partition_host_access(struct cts_partition_model *model,
                                                         const struct cts_host_access *access,
                                                         struct cts_error *error);

/* setup.c */
CTS_MUST_CHECK enum cts_status cts_partition_set_up(struct cts_partition_model *model,
                                                    struct cts_error *error);
void cts_partition_tear_down(struct cts_partition_model *model);
/* Offsets, memory for results; with the tasks in place. */
CTS_MUST_CHECK enum cts_status cts_partition_prepare_tasks(struct cts_partition_model *model,
                                                           struct cts_error *error);
void cts_partition_release_tasks(struct cts_partition_model *model);
void cts_partition_scale_release(struct cts_partition_scale *scale);
/* extents of the current launch */
CTS_MUST_CHECK enum cts_status cts_partition_find_extents(struct cts_partition_model *model,
                                                          struct cts_error *error);

/* finish.c: the launch's cells go into the tasks' scales; then what is made of whole runs. */
CTS_MUST_CHECK enum cts_status cts_partition_book(struct cts_partition_model *model,
                                                  struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_partition_finish_tasks(struct cts_partition_model *model,
                                                          struct cts_error *error);

/* cta-graph.c: who communicates with whom, for the best mapping found. */
CTS_MUST_CHECK enum cts_status cts_partition_graph_begin(struct cts_partition_model *model,
                                                         struct cts_error *error);
void cts_partition_graph_end(struct cts_partition_model *model);
enum cts_status cts_partition_add_edges(struct cts_partition_region *region,
                                        const struct cts_launch_pattern *pattern);

/* The graph as METIS takes it: vertices are 2^shift neighbours on a shape's curve. */
struct cts_partition_graph {
    unsigned shift;
    uint32_t vertex_count, constraint_count;
    uint32_t *vertex_of; /* by place */
    uint32_t *shape_of;  /* by vertex */
    uint32_t *ctas;      /* by vertex */
    int32_t *weights;    /* by vertex, constraint */
    int32_t *begin;      /* [vertex_count + 1] in edges */
    int32_t *edges, *edge_weights;
};
CTS_MUST_CHECK enum cts_status cts_partition_graph_make(struct cts_partition_model *model,
                                                        struct cts_partition_graph *graph,
                                                        struct cts_error *error);
void cts_partition_graph_release(struct cts_partition_graph *graph);

/* found.c */
CTS_MUST_CHECK enum cts_status cts_partition_find_best(struct cts_partition_model *model,
                                                       struct cts_error *error);
/* partition-steps.c: the walk over all launches, for model->tasks. */
CTS_MUST_CHECK enum cts_status cts_partition_walk(struct cts_partition_model *model,
                                                  struct cts_error *error);
void cts_partition_launch_sums_add(struct cts_partition_launch_sums *sum,
                                   const struct cts_partition_launch_sums *more);

#endif
