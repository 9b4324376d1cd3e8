/* Communication between CTAs: the model of docs/communication.md over a whole run.
 *
 * A *node* is an instance (launch, CTA). A *transfer* is all bytes that one node wrote last and a
 * node of a later launch read. Every number is exact unless `lower_bound` says otherwise; volumes
 * are bytes, *unique* ones count a byte once per node, *access* ones once per thread access. */
#ifndef CTS_COMMUNICATION_H
#define CTS_COMMUNICATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/communication/density.h"
#include "analyze/communication/strides.h"
#include "common/map.h"
#include "analyze/access-source.h"
#include "common/error.h"
#include "common/processes.h"
#include "common/progress.h"
#include "trace/catalogue.h"

/* What is counted of one space. Reads are loads and atomics, writes are stores and atomics. */
#define CTS_COMM_SPACE_FIELDS(X, space)                                                            \
    X(space##_load_accesses)                                                                       \
    X(space##_load_bytes)                                                                          \
    X(space##_store_accesses)                                                                      \
    X(space##_store_bytes)                                                                         \
    X(space##_atomic_accesses)                                                                     \
    X(space##_atomic_bytes)                                                                        \
    X(space##_read_unique_bytes)                                                                   \
    X(space##_written_unique_bytes)

/* Spaces in the order of enum cts_comm_space. */
#define CTS_COMM_SPACES(X)                                                                         \
    CTS_COMM_SPACE_FIELDS(X, global)                                                               \
    CTS_COMM_SPACE_FIELDS(X, shared)                                                               \
    CTS_COMM_SPACE_FIELDS(X, constant)                                                             \
    CTS_COMM_SPACE_FIELDS(X, local)

enum cts_comm_space {
    CTS_COMM_GLOBAL,
    CTS_COMM_SHARED,
    CTS_COMM_CONSTANT,
    CTS_COMM_LOCAL,
    CTS_COMM_SPACE_COUNT,
    CTS_COMM_FIELDS_PER_SPACE = 8
};

/* What is counted of a run, a kernel, a launch or a CTA (of global memory). */
#define CTS_COMM_FIELDS(X)                                                                         \
    CTS_COMM_SPACES(X)                                                                             \
    X(communicated_out_bytes) /* written, and read by a later node before overwritten */           \
    X(sent_transfers)         /* as writer; of a CTA: its out-degree */                            \
    X(sent_bytes)             /* of those transfers: a byte counts for each of its readers */      \
    X(received_transfers)     /* as reader; of a CTA: its in-degree */                             \
    X(received_bytes)         /* unique bytes read whose last writer is a node */                  \
    X(received_access_bytes)                                                                       \
    X(received_accesses) /* thread accesses per transfer, added up */                              \
    X(from_host_bytes)   /* unique bytes read whose last writer is the host */                     \
    X(from_host_access_bytes)                                                                      \
    X(from_nobody_bytes) /* unique bytes read that nobody was seen to write */                     \
    X(from_nobody_access_bytes)                                                                    \
    X(own_write_first_bytes)         /* of received_bytes: the CTA itself stored them before */    \
    X(host_read_bytes)               /* written bytes that copies or the CPU read, per reading */  \
    X(unseen_read_bytes)             /* unique bytes in memory whose host writes were not seen: */ \
    X(unseen_written_bytes)          /*   read, written, */                                        \
    X(unseen_communicated_out_bytes) /*   and of communicated_out_bytes */                         \
    X(conflict_bytes)                /* several CTAs of a launch wrote them, one not atomically */ \
    X(atomic_shared_bytes)           /* several CTAs of a launch wrote them, all atomically */

struct cts_comm_counts {
#define X(name) uint64_t name;
    CTS_COMM_FIELDS(X)
#undef X
};

void cts_comm_counts_add(struct cts_comm_counts *sum, const struct cts_comm_counts *more);

/* Names and values of all fields, for renderers: names[i] belongs to word i of the struct. */
enum { CTS_COMM_FIELD_COUNT = sizeof(struct cts_comm_counts) / sizeof(uint64_t) };
extern const char *const cts_comm_field_names[CTS_COMM_FIELD_COUNT];
uint64_t cts_comm_field(const struct cts_comm_counts *counts, size_t field);

/* Written bytes that the ratios refer to: those in memory whose host writes were seen. */
uint64_t cts_comm_ratio_written(const struct cts_comm_counts *counts);
uint64_t cts_comm_ratio_communicated(const struct cts_comm_counts *counts);

/* Degrees of all CTAs of a launch, zeros included. */
struct cts_comm_degree {
    uint64_t cta_count, sum, smallest, largest;
    unsigned __int128 sum_of_squares;
};
double cts_comm_degree_mean(const struct cts_comm_degree *degree);
double cts_comm_degree_deviation(const struct cts_comm_degree *degree); /* of the population */

struct cts_comm_launch {
    size_t index;                /* in catalogue->launches */
    uint32_t superstep, ordinal; /* in its rank */
    uint64_t cta_count;
    bool counted;    /* false: nothing was recorded of it, so that it has no degrees */
    bool incomplete; /* not all of it was recorded */
    uint64_t first_node;
    struct cts_comm_counts counts;
    uint64_t communicated_out_access_bytes; /* of what its thread accesses wrote, was read later */
    struct cts_comm_degree in_degree, out_degree;
};

struct cts_comm_kernel {
    uint32_t kernel; /* catalogue id */
    uint64_t launch_count;
    struct cts_comm_counts counts;
    uint64_t communicated_out_access_bytes;
};

/* What the transfers of a pair look like as one operation; docs/communication.md has the rule. */
#define CTS_COMM_SHAPES(X)                                                                         \
    X(SAME_CTA, "same CTA")                                                                        \
    X(SHIFT, "shift")                                                                              \
    X(POINT_TO_POINT, "point-to-point")                                                            \
    X(SCATTER, "scatter")                                                                          \
    X(MULTICAST, "multicast")                                                                      \
    X(GATHER, "gather")                                                                            \
    X(ALL_TO_ALL, "all-to-all")                                                                    \
    X(HALO, "halo")                                                                                \
    X(MIXED, "mixed")

enum cts_comm_shape {
#define X(name, text) CTS_COMM_SHAPE_##name,
    CTS_COMM_SHAPES(X)
#undef X
        CTS_COMM_SHAPE_COUNT
};
const char *cts_comm_shape_text(enum cts_comm_shape shape);

/* All transfers from CTAs of one launch to CTAs of another; `writer` and `reader` are indices in
 * cts_comm.launches, of pairs by kernel in cts_comm.kernels. */
struct cts_comm_pair {
    size_t writer, reader;
    uint64_t transfers, bytes, access_bytes, accesses;
    uint64_t distinct_bytes;      /* each byte once, however many CTAs read it */
    uint64_t bisection_bytes[3];  /* of transfers that change halves, by dimension */
    uint8_t bisection_dimensions; /* bit d: an extent in dimension d is above 1 */
    uint64_t senders, receivers;  /* CTAs with a transfer of the pair; of kernels: added up */
    uint64_t largest_out_degree;  /* receivers of one sender, */
    uint64_t largest_in_degree;   /* senders of one receiver */
    bool same_grid;               /* then offsets are those of CTA indices, reader - writer: */
    int64_t offset_min[3], offset_max[3];
    enum cts_comm_shape shape;
    bool unordered; /* nothing but the recorded start orders the two launches */
};

/* Volumes by superstep distance: launches between writer and reader. */
struct cts_comm_distance {
    uint64_t distance, transfers, bytes, access_bytes, distinct_bytes;
};

/* What one launch communicates, as a row of the evolution: loads at the reading superstep, stores
 * at the writing one. With per_stream, within a stream only. */
struct cts_comm_evolution {
    size_t launch;                            /* in cts_comm.launches */
    uint64_t load_bytes, load_access_bytes;   /* unique; per thread access */
    uint64_t store_bytes, store_access_bytes; /* the latter 0 with per_stream, not known */
};

/* What a static memory instruction carries, per thread access; global memory only. */
struct cts_comm_site_sum {
    uint32_t site; /* catalogue id */
    uint64_t accesses, access_bytes;
    uint64_t received_accesses, received_access_bytes; /* read from a node */
    uint64_t sent_accesses, sent_access_bytes;         /* written, and read by a later node */
};

/* What lies in an allocation; unique bytes per node, of those alive at a launch. */
struct cts_comm_allocation {
    size_t allocation; /* index in catalogue->allocations; SIZE_MAX: outside of all */
    uint64_t read_bytes, written_bytes;
    uint64_t received_bytes;         /* read from a node */
    uint64_t communicated_out_bytes; /* written, and read by a later node before overwritten */
};
/* The part of a pair of kernels that goes through an allocation. */
struct cts_comm_allocation_pair {
    size_t allocation;     /* as above */
    size_t writer, reader; /* in cts_comm.kernels */
    uint64_t bytes;        /* unique bytes received */
};

/* Whose memory kernels on a device access; unique bytes per node. */
struct cts_comm_device_sum {
    uint64_t read_bytes, written_bytes;
};
enum cts_comm_memory { CTS_COMM_MEMORY_DEVICE, CTS_COMM_MEMORY_HOST, CTS_COMM_MEMORY_MANAGED };
struct cts_comm_device_pair {
    uint32_t device; /* of the launches */
    enum cts_comm_memory memory;
    uint32_t memory_device; /* CTS_NONE: the host's, or managed */
    struct cts_comm_device_sum sum;
};

/* Global memory of the CTAs of a launch that ran on one multiprocessor. */
struct cts_comm_sm {
    uint32_t launch; /* index in cts_comm.launches */
    uint32_t sm, device;
    uint64_t cta_count;
    struct cts_comm_counts counts;
};

/* Strides of accesses that communicate, by kernel. */
struct cts_comm_kernel_strides {
    size_t kernel; /* in cts_comm.kernels; SIZE_MAX: all of them */
    struct cts_stride_entry *entries[CTS_STRIDE_KIND_COUNT]; /* by stride */
    size_t counts[CTS_STRIDE_KIND_COUNT];
    uint64_t totals[CTS_STRIDE_KIND_COUNT]; /* of the entries' counts */
};

struct cts_comm_transfer {
    uint32_t writer_launch, writer_cta, reader_launch, reader_cta; /* launches: in cts_comm */
    uint64_t bytes, access_bytes, accesses;
};

struct cts_comm_cta {
    uint32_t launch; /* index in cts_comm.launches */
    uint32_t cta;
    struct cts_comm_counts counts;
};

struct cts_comm_options {
    bool paper_model;   /* no copies, no frees, no CPU accesses; host = never written by a kernel */
    bool ignore_copies; /* the same, but frees end what was written */
    bool per_stream;    /* evolution and distances within a stream only */
    bool keep_ctas;     /* fill cts_comm.ctas */
    bool keep_transfers;   /* fill cts_comm.transfers, up to transfer_max */
    size_t transfer_max;   /* 0: CTS_COMM_TRANSFER_MAX */
    size_t top_count;      /* how many of the largest transfers to keep */
    uint32_t density_bins; /* maximum bins per side of the density map; 0: no map */
    unsigned threads;      /* 0: one per processor */
    unsigned region_bits;  /* processes share the shadow memory by 2^this bytes; 0: what is best */
    const struct cts_processes *processes; /* NULL: alone */
    struct cts_progress *progress;         /* counts accesses; may be NULL */
};
enum { CTS_COMM_TRANSFER_MAX = 1 << 22 };

struct cts_comm {
    bool paper_model, ignore_copies, per_stream;
    /* soundness */
    uint64_t unrecorded_launches;  /* launches with missing records */
    uint64_t dropped_accesses;     /* by the recorder, of the whole run */
    uint64_t incomplete_files;     /* access files that end too early */
    uint64_t skipped_instructions; /* that the instrumentation could not record */
    uint64_t unseen_allocations;   /* managed, pinned or mapped, and no CPU accesses recorded */
    uint64_t unordered_pairs;      /* of supersteps */
    uint64_t unordered_transfers, unordered_bytes; /* between launches that nothing orders */
    bool lower_bound; /* something is missing: last writers may be wrong */
    /* size */
    uint64_t superstep_count, copy_count, memset_count, node_count, record_count;
    uint64_t carried_bytes;     /* bytes whose node went along with a device-to-device copy */
    uint64_t retraced_launches; /* whose stores took a second look at the accesses */
    uint64_t peak_shadow_bytes, peak_set_bytes;

    struct cts_comm_counts total;
    uint64_t communicated_out_access_bytes;
    uint64_t bisection_bytes[3];      /* of all transfers; */
    uint8_t bisection_dimensions;     /* as of pairs */
    struct cts_comm_launch *launches; /* in their order, rank after rank */
    size_t launch_count;
    struct cts_comm_kernel *kernels; /* that ran, by id */
    size_t kernel_count;
    struct cts_comm_pair *launch_pairs; /* by reader, writer */
    size_t launch_pair_count;
    struct cts_comm_pair *kernel_pairs; /* by writer, reader */
    size_t kernel_pair_count;
    struct cts_map_entry *transfer_sizes; /* key bytes, value transfers; ascending */
    size_t transfer_size_count;
    struct cts_map_entry *in_degrees, *out_degrees; /* key degree, value CTAs; ascending */
    size_t in_degree_count, out_degree_count;
    struct cts_comm_transfer *top; /* by bytes, descending; then as `transfers` */
    size_t top_count;
    struct cts_comm_transfer *transfers; /* by reader launch, reader CTA, writer launch and CTA */
    size_t transfer_count;
    struct cts_comm_density density;
    struct cts_comm_distance *distances; /* ascending */
    size_t distance_count;
    struct cts_comm_evolution *evolution; /* as launches */
    size_t evolution_count;
    struct cts_comm_site_sum *sites; /* that were executed, by id */
    size_t site_count;
    struct cts_comm_allocation *allocations; /* that were touched, by index */
    size_t allocation_count;
    struct cts_comm_allocation_pair *allocation_pairs; /* by allocation, writer, reader */
    size_t allocation_pair_count;
    struct cts_comm_device_pair *device_pairs; /* by device, memory */
    size_t device_pair_count;
    struct cts_comm_sm *sms; /* where the catalogue says where CTAs ran: by launch, SM */
    size_t sm_count;
    struct cts_comm_kernel_strides *strides; /* all kernels together, then each as `kernels` */
    size_t stride_count;
    uint64_t transfers_left_out; /* beyond transfer_max: in every sum, not in the list */
    struct cts_comm_cta *ctas;   /* CTAs that touched memory, by launch and CTA */
    size_t cta_count;
};

CTS_MUST_CHECK enum cts_status cts_comm_analyze(const struct cts_catalogue *catalogue,
                                                const struct cts_access_source *source,
                                                const struct cts_comm_options *options,
                                                struct cts_comm *result, struct cts_error *error);
void cts_comm_release(struct cts_comm *result);

#endif
