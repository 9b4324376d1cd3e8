/* The state of a communication analysis, shared by the files of this directory.
 *
 * Words: a *link* is what a CTA read of one writer; a *mark* says that bytes were read by a later
 * node, a *claim* that a node wrote them. While the records of a launch are read, the shadow memory
 * stays as it was before the launch; marks and claims are collected and applied at its end. */
#ifndef CTS_COMMUNICATION_MODEL_H
#define CTS_COMMUNICATION_MODEL_H

#include "analyze/communication/communication.h"
#include "analyze/communication/sets.h"
#include "analyze/shadow.h"
#include "analyze/interval.h"
#include "analyze/order.h"

enum cts_comm_class { CTS_COMM_READ, CTS_COMM_STORE, CTS_COMM_ATOMIC, CTS_COMM_CLASS_COUNT };

/* What a site's records have in common. */
struct cts_comm_site {
    uint32_t width_bytes; /* 0: no site that can be analysed */
    uint8_t class;        /* enum cts_comm_class */
    uint8_t shift;        /* width = 1 << shift, or 255 */
};

struct cts_comm_link {
    uint32_t writer;
    uint64_t last_lane; /* serial number of the last thread access that was counted here */
    uint64_t bytes, access_bytes, accesses;
};

struct cts_comm_links {
    struct cts_comm_link *items;
    size_t count, capacity;
    uint32_t *slots; /* hash of writer -> index + 1 */
    size_t slot_count;
    size_t last; /* index of the link used last */
};

/* A CTA whose records are being read. */
struct cts_comm_state {
    uint32_t cta;
    uint32_t moment;                /* of the next record */
    uint64_t lane_serial;           /* of the next record's first lane, from 1 */
    uint32_t last_read, last_store; /* moments of the last records of these kinds */
    bool settled;                   /* the interval sets hold something already */
    struct cts_spans spans[CTS_COMM_SPACE_COUNT][CTS_COMM_CLASS_COUNT];
    struct cts_intervals sets[CTS_COMM_SPACE_COUNT][CTS_COMM_CLASS_COUNT];
    struct cts_intervals own_first; /* bytes whose first access was a store */
    struct cts_comm_links links;
    uint64_t accesses[CTS_COMM_SPACE_COUNT][CTS_COMM_CLASS_COUNT];
    uint64_t access_bytes[CTS_COMM_SPACE_COUNT][CTS_COMM_CLASS_COUNT];
};

/* Sums over the transfers of a launch by writer launch. */
struct cts_comm_pair_sum {
    uint64_t transfers, bytes, access_bytes, accesses;
};

struct cts_comm_transfers {
    struct cts_comm_transfer *items;
    size_t count, capacity;
};

/* A thread of the analysis. */
struct cts_comm_worker {
    struct cts_comm_model *model;
    unsigned index;
    enum cts_status status;
    struct cts_error error;
    struct cts_shadow_view view;
    struct cts_acc_batch batch;
    /* CTAs at work: one, or more where a file mixes them */
    struct cts_comm_state **open;
    size_t open_count, open_capacity, open_index;
    struct cts_comm_state **spare;
    size_t spare_count, spare_capacity;
    struct cts_spans sorting;
    struct cts_intervals scratch[4];
    /* of the current launch */
    struct cts_comm_counts counts;
    struct cts_comm_degree in_degree;
    struct cts_comm_pair_sum *pairs; /* by writer launch */
    size_t *pairs_used;
    size_t pairs_used_count;
    struct cts_sets marks, stores, atomics;
    struct cts_intervals shared, conflicts; /* bytes that several CTAs wrote */
    /* of the run */
    struct cts_map transfer_sizes, in_degrees;
    struct cts_comm_density density;
    struct cts_comm_transfer *top; /* a heap with the least on top */
    size_t top_count;
    struct cts_comm_transfers transfers; /* of the current launch */
    uint64_t transfers_left_out;
    uint64_t record_count;
    size_t last_launch; /* of a node that was looked up */
};

struct cts_comm_range {
    uint32_t first, last; /* inclusive; first > last: none */
};

struct cts_comm_model {
    const struct cts_catalogue *catalogue;
    const struct cts_access_source *source;
    struct cts_comm_options options;
    struct cts_comm *result;
    struct cts_order order;
    struct cts_shadow *shadow;
    struct cts_comm_site *sites;
    size_t *chunk_begin; /* by index in catalogue->launches: its chunks in the source */
    size_t *chunk_end;
    uint32_t *out_degrees;               /* by node, from CTS_WRITER_FIRST_NODE */
    struct cts_comm_counts **cta_counts; /* by launch of the result: per CTA; with keep_ctas */
    struct cts_comm_worker *workers;
    unsigned worker_count;
    struct {
        struct cts_comm_pair *items;
        size_t count, capacity;
    } pairs;
    struct cts_comm_transfers transfers;
    size_t transfer_room; /* how many more of them are wanted */
    bool host_seen;       /* CPU accesses were recorded */
    /* of the current launch */
    size_t launch;                 /* in result->launches */
    struct cts_intervals unseen;   /* memory that the CPU may have written unseen */
    struct cts_comm_group *groups; /* of chunks; a CTA belongs to one of them */
    size_t group_count, group_capacity, next_group;
    const struct cts_acc_chunk **chunks;
    size_t chunk_count, chunk_capacity;
    struct cts_comm_range *after; /* per chunk: the CTAs that come after it in its file */
    size_t after_capacity;
    uint8_t *done; /* bit per CTA: its records have been read */
    size_t done_bytes;
};

struct cts_comm_group {
    size_t begin, end;  /* in model->chunks */
    uint64_t skipped;   /* a CTA that began in the group before; UINT64_MAX: none */
    uint64_t continued; /* a CTA that goes on in the chunks after; UINT64_MAX: none */
};

/* cta.c: records of a batch from `begin` to `end`, all of one CTA. */
CTS_MUST_CHECK enum cts_status cts_comm_read_records(struct cts_comm_worker *worker,
                                                     struct cts_comm_state *state, size_t begin,
                                                     size_t end);

/* settle.c: the CTA's records are complete: its sets and links go into the launch's sums. */
CTS_MUST_CHECK enum cts_status cts_comm_finish_cta(struct cts_comm_worker *worker,
                                                   struct cts_comm_state *state);
/* Folds the spans so far into the sets, to bound memory. */
CTS_MUST_CHECK enum cts_status cts_comm_settle(struct cts_comm_worker *worker,
                                               struct cts_comm_state *state);
void cts_comm_state_release(struct cts_comm_state *state);
/* Puts the transfers of a launch in order and keeps the first `most`. */
void cts_comm_transfers_cut(struct cts_comm_transfers *list, size_t most, uint64_t *left_out);
/* The order of cts_comm.top: whether `a` comes after `b`. */
bool cts_comm_is_less(const struct cts_comm_transfer *a, const struct cts_comm_transfer *b);

/* launch.c: a whole launch, result->launches[model->launch]. */
CTS_MUST_CHECK enum cts_status cts_comm_run_launch(struct cts_comm_model *model,
                                                   struct cts_error *error);

/* apply.c: the marks and claims of all workers in the worker's share of the address space. */
void cts_comm_apply(void *model, unsigned worker_index);

/* host.c: copies, memsets, frees and CPU accesses. */
CTS_MUST_CHECK enum cts_status cts_comm_copy(struct cts_comm_model *model,
                                             const struct cts_copy *copy, struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_comm_free(struct cts_comm_model *model,
                                             const struct cts_allocation *allocation,
                                             struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_comm_host_access(struct cts_comm_model *model,
                                                    const struct cts_host_access *access,
                                                    struct cts_error *error);

/* Whether the CPU can write the allocation without a copy. */
bool cts_comm_is_host_visible(const struct cts_allocation *allocation);

/* links.c */
struct cts_comm_link *cts_comm_link_of(struct cts_comm_links *links, uint32_t writer,
                                       struct cts_error *error);
void cts_comm_links_clear(struct cts_comm_links *links);
void cts_comm_links_release(struct cts_comm_links *links);

/* counts.c */
void cts_comm_degree_add(struct cts_comm_degree *sum, const struct cts_comm_degree *more);

/* The launch (index in result->launches) of a node; `hint` is looked at first and updated. */
size_t cts_comm_launch_of(const struct cts_comm *result, uint32_t node, size_t *hint);

/* Adds to a CTA's own counts, when they are kept; from any thread. */
#define CTS_COMM_CTA_ADD(model, launch_index, node, field, amount)                                 \
    do {                                                                                           \
        if ((model)->cta_counts)                                                                   \
            __atomic_fetch_add(                                                                    \
                &(model)                                                                           \
                     ->cta_counts[launch_index]                                                    \
                                 [(node) - (model)->result->launches[launch_index].first_node]     \
                     .field,                                                                       \
                (amount), __ATOMIC_RELAXED);                                                       \
    } while (0)

#endif
