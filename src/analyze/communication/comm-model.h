/* The state of a communication analysis, shared by the files of this directory.
 *
 * Words: a *link* is what a CTA read of one writer; a *mark* says that bytes were read by a later
 * node, a *claim* that a node wrote them. While the records of a launch are read, the shadow memory
 * stays as it was before the launch; marks and claims are collected and applied at its end. */
#ifndef CTS_COMMUNICATION_COMM_MODEL_H
#define CTS_COMMUNICATION_COMM_MODEL_H

#include "analyze/communication/addresses.h"
#include "analyze/communication/communication.h"
#include "analyze/communication/region-owners.h"
#include "analyze/sets.h"
#include "analyze/bits.h"
#include "analyze/shadow.h"
#include "analyze/interval.h"
#include "analyze/places.h"
#include "analyze/summary/summary.h"

enum cts_comm_class {
    CTS_COMM_READ = CTS_SITE_READ,
    CTS_COMM_STORE = CTS_SITE_STORE,
    CTS_COMM_ATOMIC = CTS_SITE_ATOMIC,
    CTS_COMM_CLASS_COUNT
};

/* What a pass over the records is for. */
enum cts_comm_mode {
    CTS_COMM_FORWARD, /* the analysis itself */
    CTS_COMM_RETRACE, /* backwards: which stores were read later */
    CTS_COMM_WINNERS  /* who wrote the contended bytes of a launch */
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
    struct cts_intervals own_first;           /* bytes whose first access was a store */
    struct cts_grain read_grain, write_grain; /* of global memory */
    struct cts_comm_links links;
    uint64_t accesses[CTS_COMM_SPACE_COUNT][CTS_COMM_CLASS_COUNT];
    uint64_t access_bytes[CTS_COMM_SPACE_COUNT][CTS_COMM_CLASS_COUNT];
};

/* Sums over the transfers of a launch by writer launch. */
struct cts_comm_pair_sum {
    struct cts_comm_pair sum;
    uint32_t cta_degree; /* senders of this launch to the CTA at hand */
    bool used;
};

/* What the sites of a launch wrote, by site. */
struct cts_comm_written {
    uint64_t accesses, access_bytes;
};

/* What a launch stored, until it is known what of it was read later. */
struct cts_comm_stores {
    struct cts_map_entry *strides[2]; /* kinds STORE_LANE, STORE_ADDRESS */
    size_t stride_counts[2];
    struct cts_comm_site_sum *sites; /* accesses and access_bytes count */
    size_t site_count;
    uint64_t written_bytes, access_bytes; /* the first: unique per node, added up */
    bool contended;                       /* several CTAs wrote a byte */
    bool carried;                         /* copies carry writers in this address space */
    bool dropped;                         /* more strides than are kept here */
};

struct cts_comm_transfers {
    struct cts_comm_transfer *items;
    size_t count, capacity;
};

/* The kinds of sets that a launch leaves. */
enum cts_comm_set {
    CTS_COMM_MARKS,   /* read for the first time */
    CTS_COMM_REREADS, /* read again */
    CTS_COMM_STORES,
    CTS_COMM_ATOMICS,
    CTS_COMM_SET_COUNT
};

/* What a thread sums of transfers, each by the files that are named. */
struct cts_comm_pair_sums {              /* pairs.c */
    struct cts_comm_pair_sum *by_writer; /* launch */
    size_t *used;
    size_t used_count;
    size_t *of_cta; /* the CTA at hand */
    size_t of_cta_count;
};
struct cts_comm_place_sums {          /* place-sums.c */
    struct cts_comm_allocation *sums; /* by allocation; one more: outside of all */
    struct cts_map pairs;
    size_t hint;
    uint64_t pair_key, pair_bytes; /* not yet in pairs */
};
struct cts_comm_transfer_sums { /* transfers.c */
    struct cts_map sizes;
    struct cts_comm_density density;
    struct cts_comm_transfer *top; /* a heap with the least on top */
    size_t top_count;
    struct cts_comm_transfers kept; /* of the current launch */
    uint64_t left_out;
};

/* A thread of the analysis. */
struct cts_comm_worker {
    struct cts_comm_model *model;
    unsigned index;
    enum cts_status status;
    struct cts_error error;
    struct cts_shadow_view view;
    struct cts_shadow_view winner_view; /* retracing: on model->winners */
    uint32_t node;                      /* whose records are read */
    uint64_t live_access_bytes;         /* retracing: stored, and read later */
    struct cts_spans sorting;
    struct cts_intervals scratch[4];
    /* of the current launch */
    struct cts_comm_counts counts;
    struct cts_comm_degree in_degree;
    struct cts_comm_pair_sums pairs;
    struct {
        uint32_t *items;
        size_t count, capacity;
    } senders;                        /* nodes that sent something to this launch */
    struct cts_comm_written *written; /* by site, of this launch */
    uint32_t *written_sites;          /* those that are not 0 */
    size_t written_site_count;
    struct cts_strides strides[CTS_STRIDE_KIND_COUNT];
    uint64_t node_written_bytes, node_written_access_bytes; /* in global memory */
    struct cts_sets sets[CTS_COMM_SET_COUNT];
    struct cts_bits contended; /* CTS_CONTENDED_: bytes that several CTAs wrote */
    /* of the run */
    struct cts_comm_site_sum *site_sums; /* by site */
    struct cts_comm_place_sums places;
    struct cts_comm_device_sum *device_sums; /* see comm-devices.c */
    struct cts_comm_transfer_sums transfers;
    struct cts_map in_degrees;
    uint64_t record_count;
    size_t last_launch;     /* of a node that was looked up */
    struct cts_map touched; /* regions of the current launch (region-owners.c) */
};

/* Planes of the bytes that several CTAs of a launch wrote. */
enum {
    CTS_CONTENDED_SHARED,   /* atomically, as far as was seen */
    CTS_CONTENDED_CONFLICT, /* at least one of them not */
    CTS_CONTENDED_COUNT
};

/* Sets of another process; they lie in the block of the model's parcels. */
struct cts_comm_remote {
    const struct cts_set_item *items[CTS_COMM_SET_COUNT];
    size_t counts[CTS_COMM_SET_COUNT];
};

/* Sets for another process. */
struct cts_comm_outgoing {
    struct {
        struct cts_set_item *items;
        size_t count, capacity;
    } sets[CTS_COMM_SET_COUNT];
};

/* What processes tell each other of the launch at hand (exchange.c). */
struct cts_comm_parcels {
    void *block;                        /* of what came in */
    struct cts_comm_remote *remotes;    /* what other processes found, by process; NULL: none */
    struct cts_comm_outgoing *outgoing; /* the other way */
};

/* Where CTAs ran (sms.c). */
struct cts_comm_sm_rows {
    uint32_t *of_nodes; /* by node: its row in result->sms + 1; NULL: unknown */
    uint32_t *order;    /* the catalogue's rows by launch and CTA */
};

struct cts_comm_model {
    const struct cts_catalogue *catalogue;
    const struct cts_access_source *source;
    struct cts_comm_options options;
    struct cts_comm *result;
    struct cts_summary_plan plan; /* its launches are the result's, one by one */
    struct cts_shadow *shadow;
    enum cts_comm_mode mode;
    uint32_t *out_degrees;        /* by node, from CTS_WRITER_FIRST_NODE */
    uint32_t *launch_out_degrees; /* the same, towards the current launch */
    struct cts_comm_sm_rows sms;
    struct cts_comm_stores *stores;                              /* by launch of the result */
    struct cts_strides (*kernel_strides)[CTS_STRIDE_KIND_COUNT]; /* by kernel id */
    size_t kernel_limit;                                         /* above all kernel ids */
    uint32_t device_limit;    /* above all devices; 0: too many to be counted */
    uint32_t *place_memories; /* by allocation: a column of device_sums */
    bool restricted;          /* only what a launch of the same stream reads counts as read later */
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
    size_t launch;               /* in result->launches */
    bool retraces;               /* what this launch stored is looked at (retrace.c) */
    struct cts_shadow *winners;  /* retracing a launch with contended bytes: who won them */
    struct cts_walk_scope scope; /* its records; this process's CTAs */
    struct cts_comm_parcels parcels;
    struct cts_comm_regions regions; /* of the current rank; unused where there is one process */
    struct cts_places places;        /* of the launch at hand */
    struct cts_intervals unseen;     /* memory that the CPU may have written unseen */
    struct cts_bits_pool pool;
    struct cts_walk *walk;
    struct cts_walk *region_walk; /* region-owners.c; NULL: not made yet */
};

/* comm-cta.c: records of one CTA. */
CTS_MUST_CHECK enum cts_status cts_comm_read_records(struct cts_comm_worker *worker,
                                                     struct cts_comm_state *state,
                                                     const struct cts_walk_run *run);

/* cta-sums.c: the CTA's records are complete: its sets and links go into the launch's sums. */
CTS_MUST_CHECK enum cts_status cts_comm_finish_cta(struct cts_comm_worker *worker,
                                                   struct cts_comm_state *state);

/* settle.c. Folds the spans so far into the sets, to bound memory. */
CTS_MUST_CHECK enum cts_status cts_comm_settle(struct cts_comm_worker *worker,
                                               struct cts_comm_state *state);
CTS_MUST_CHECK enum cts_status cts_comm_settle_space(struct cts_comm_worker *worker,
                                                     struct cts_comm_state *state, unsigned space,
                                                     bool more_comes);
bool cts_comm_has_spans(const struct cts_comm_state *state, unsigned space);
/* own = the bytes of `both` that a store touched before any load or atomic. */
CTS_MUST_CHECK enum cts_status cts_comm_find_own_first(struct cts_comm_worker *worker,
                                                       const struct cts_comm_state *state,
                                                       const struct cts_intervals *both,
                                                       struct cts_intervals *own);
/* Ready for another CTA. */
void cts_comm_state_clear(struct cts_comm_state *state);
/* Frees what a struct cts_comm_state holds. */
void cts_comm_state_release(void *state);

/* transfers.c: counts a transfer of the worker's launch by size and place, and keeps it if wanted.
 */
CTS_MUST_CHECK enum cts_status cts_comm_keep_transfer(struct cts_comm_worker *worker,
                                                      const struct cts_comm_transfer *transfer);
/* Puts the transfers of a launch in order and keeps the first `most`. */
void cts_comm_transfers_cut(struct cts_comm_transfers *list, size_t most, uint64_t *left_out);
/* The order of cts_comm.top: whether `a` comes after `b`. */
bool cts_comm_is_less(const struct cts_comm_transfer *a, const struct cts_comm_transfer *b);

/* comm-launch.c */
CTS_MUST_CHECK enum cts_status cts_comm_walk_set_up(struct cts_comm_model *model,
                                                    struct cts_error *error);
/* A whole launch, result->launches[model->launch]. */
CTS_MUST_CHECK enum cts_status cts_comm_run_launch(struct cts_comm_model *model,
                                                   enum cts_status status, struct cts_error *error);

/* apply.c: the marks and claims of all workers in the worker's share of the address space. */
void cts_comm_apply(void *model, unsigned worker_index);
/* The same for retrace.c: who wrote what; which bytes are live. */
void cts_comm_apply_winners(void *model, unsigned worker_index);
void cts_comm_apply_retrace(void *model, unsigned worker_index);

/* comm-host.c: copies, memsets, frees and CPU accesses. */
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

/* Processes: before cts_comm_copy() all of them learn what a copy will carry. */
CTS_MUST_CHECK enum cts_status cts_comm_follow_source(struct cts_comm_model *model,
                                                      const struct cts_copy *copy,
                                                      enum cts_status status,
                                                      struct cts_error *error);

/* comm-launch.c, for passes of other kinds: the records of the launch are read by all threads. */
CTS_MUST_CHECK enum cts_status
cts_comm_read_launch(struct cts_comm_model *model, enum cts_status status, struct cts_error *error);
enum cts_status cts_comm_first_failure(const struct cts_comm_model *model, struct cts_error *error);

/* place-sums.c: where the allocations lie that are alive at a launch. */
CTS_MUST_CHECK enum cts_status cts_comm_find_places(struct cts_comm_model *model,
                                                    const struct cts_launch *row,
                                                    struct cts_error *error);
/* The place of an address (index in place_sums), and where it ends. */
size_t cts_comm_place_of(struct cts_comm_worker *worker, uint64_t address, uint64_t *end);
CTS_MUST_CHECK enum cts_status cts_comm_place_read(struct cts_comm_worker *worker, uint64_t start,
                                                   uint64_t end, uint32_t writer);
void cts_comm_place_written(struct cts_comm_worker *worker, const struct cts_intervals *set);
CTS_MUST_CHECK enum cts_status cts_comm_places_flush(struct cts_comm_place_sums *places,
                                                     struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_comm_places_conclude(struct cts_comm_model *model,
                                                        struct cts_error *error);

/* comm-devices.c */
CTS_MUST_CHECK enum cts_status cts_comm_devices_set_up(struct cts_comm_model *model,
                                                       struct cts_error *error);
size_t cts_comm_device_cells(const struct cts_comm_model *model);
/* The sum that an access of the model's launch to a place belongs to; NULL: none. */
struct cts_comm_device_sum *cts_comm_device_sum(struct cts_comm_worker *worker, size_t place);
CTS_MUST_CHECK enum cts_status cts_comm_devices_conclude(struct cts_comm_model *model,
                                                         struct cts_error *error);

/* sms.c */
CTS_MUST_CHECK enum cts_status cts_comm_sms_set_up(struct cts_comm_model *model,
                                                   struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_comm_sms_find(struct cts_comm_model *model,
                                                 struct cts_error *error);

/* Adds to a row of result->sms (counted from 1; 0: none); from any thread. */
void cts_comm_sm_add(struct cts_comm_model *model, uint32_t row,
                     const struct cts_comm_counts *counts);

/* pairs.c: pairs of launches and of kernels. */
void cts_comm_pair_add(struct cts_comm_worker *worker, size_t writer,
                       const struct cts_comm_transfer *transfer);
void cts_comm_pair_use(struct cts_comm_worker *worker, size_t writer);
void cts_comm_pairs_end_cta(struct cts_comm_worker *worker);
CTS_MUST_CHECK enum cts_status cts_comm_pairs_gather(struct cts_comm_model *model,
                                                     struct cts_error *error);
void cts_comm_pair_combine(struct cts_comm_pair *sum, const struct cts_comm_pair *more);
CTS_MUST_CHECK enum cts_status cts_comm_pairs_conclude(struct cts_comm_model *model,
                                                       struct cts_error *error);
size_t cts_comm_kernel_index(const struct cts_comm *result, uint32_t kernel);

/* stores.c: what launches stored, until it is known what was read. */
CTS_MUST_CHECK enum cts_status cts_comm_stores_gather(struct cts_comm_model *model,
                                                      struct cts_error *error);
/* Books the stores of launches that were read wholly or not at all; the others, by launch of the
 * result, become `wanted`: they are to be retraced. All processes return the same. */
CTS_MUST_CHECK enum cts_status cts_comm_stores_resolve(struct cts_comm_model *model, bool *wanted,
                                                       struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_comm_strides_conclude(struct cts_comm_model *model,
                                                         struct cts_error *error);
void cts_comm_stores_release(struct cts_comm_model *model);

/* retrace.c: a walk backwards that finds which stores of the launches marked in `wanted` (by launch
 * of the result) were read later. */
CTS_MUST_CHECK enum cts_status cts_comm_retrace(struct cts_comm_model *model, const bool *wanted,
                                                struct cts_error *error);

/* live.c: a CTA that is read for what of its stores is read later. */
CTS_MUST_CHECK enum cts_status cts_comm_retrace_finish_cta(struct cts_comm_worker *worker,
                                                           struct cts_comm_state *state);

struct cts_address_filter cts_comm_live_filter(struct cts_comm_worker *worker);

/* comm-host.c, backwards: what a copy, a free or a CPU access does to bytes that are read later. */
CTS_MUST_CHECK enum cts_status
cts_comm_untake(struct cts_comm_model *model, const struct cts_step *step, struct cts_error *error);

/* region-owners.c; `status` as in cts_comm_run_launch. Follows what this process's CTAs of the
 * launch, in model->scope, will read. */
CTS_MUST_CHECK enum cts_status cts_comm_follow_launch(struct cts_comm_model *model,
                                                      enum cts_status status,
                                                      struct cts_error *error);
/* All processes follow all regions of [start, end) that have an owner. */
CTS_MUST_CHECK enum cts_status cts_comm_follow_everywhere(struct cts_comm_model *model,
                                                          uint64_t start, uint64_t end,
                                                          enum cts_status status,
                                                          struct cts_error *error);
/* Regions of [start, end) without an owner, of which all processes know alike, get one. */
CTS_MUST_CHECK enum cts_status cts_comm_own(struct cts_comm_model *model, uint64_t start,
                                            uint64_t end, struct cts_error *error);

/* exchange.c: a process reads the records of its CTAs; what they wrote and read those get to know
 * who follow the regions. */
CTS_MUST_CHECK enum cts_status cts_comm_exchange(struct cts_comm_model *model,
                                                 struct cts_error *error);
void cts_comm_exchange_release(struct cts_comm_model *model);

/* comm-processes.c: the results of all processes, together. */
CTS_MUST_CHECK enum cts_status cts_comm_merge(struct cts_comm_model *model,
                                              struct cts_error *error);

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
        if ((model)->sms.of_nodes)                                                                 \
            CTS_COMM_SM_ADD(model, (model)->sms.of_nodes[(node) - CTS_WRITER_FIRST_NODE], field,   \
                            amount);                                                               \
    } while (0)
#define CTS_COMM_SM_ADD(model, row, field, amount)                                                 \
    do {                                                                                           \
        if (row)                                                                                   \
            __atomic_fetch_add(&(model)->result->sms[(row) - 1].counts.field, (amount),            \
                               __ATOMIC_RELAXED);                                                  \
    } while (0)

/* Whether processes follow regions: backwards all of them know all. */
static inline bool cts_comm_has_regions(const struct cts_comm_model *model)
{
    return model->options.processes && model->mode == CTS_COMM_FORWARD;
}

/* Whether this process counts what all of them know alike. */
static inline bool cts_comm_is_first(const struct cts_comm_model *model)
{
    return !model->options.processes || model->options.processes->rank == 0;
}

#endif
