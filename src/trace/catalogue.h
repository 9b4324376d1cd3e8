/* The catalogue of a run (run.db, src/trace/schema.sql): one struct per table, one writer, one
 * reader. Field names are the columns'; strings are UTF-8, borrowed for the call by the writer,
 * owned by the reader's arena otherwise; NULL strings are SQL NULL. Ids that the writer hands out
 * count from 0 and are unique in the run. */
#ifndef CTS_TRACE_CATALOGUE_H
#define CTS_TRACE_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/gaps.h"

enum { CTS_CATALOGUE_VERSION = 1 };
#define CTS_NONE UINT32_MAX /* an id or index that is none */

struct cts_rank {
    uint32_t rank;
    int64_t pid;
    const char *host, *program, *arguments, *directory, *recorder;
    uint64_t start_ns, end_ns, unix_start_ns; /* end 0: did not exit normally */
    uint64_t records, accesses, dropped_records, dropped_accesses;
    const char *failure;
};
struct cts_device {
    uint32_t rank, device;
    const char *name, *kind;
    uint32_t sm_count, compute_major, compute_minor;
    uint64_t memory_bytes;
};
struct cts_module {
    uint32_t module, rank;
    const char *name, *checksum;
    uint32_t flags;
};
struct cts_source {
    uint32_t source, module;
    const char *path, *text;
};
struct cts_kernel {
    uint32_t kernel, module;
    const char *name, *mangled;
    uint32_t source, line, static_shared_bytes, max_threads, registers;
    bool instrumented;
};
struct cts_site {
    uint32_t site, module;
    const char *function;
    uint8_t operation, space; /* enum cts_operation, enum cts_space */
    uint32_t width_bytes, source, line, column;
    const char *inlined_at, *type, *variable;
    bool is_volatile;
    uint32_t loop_depth;
};
struct cts_variable {
    uint32_t variable, module;
    const char *name, *mangled, *type, *kind;
    uint64_t address, size_bytes; /* shared: the offset in the window */
    const char *function;
    uint32_t source, line;
};
struct cts_padded_type { /* ranges of bytes as "1-3,18-23"; NULL: none */
    uint32_t module;
    const char *type;
    uint64_t size_bytes;
    const char *padding, *alternatives;
};
struct cts_fingerprint { /* trace/value-hash.h */
    uint32_t launch;
    uint64_t hash, accesses;
};
struct cts_skipped {
    uint32_t module;
    const char *what, *reason;
    uint32_t source, line;
    uint64_t count;
};
struct cts_cuda_stream {
    uint32_t stream, rank, device;
    uint64_t handle;
    const char *kind;
    int32_t priority;
    uint64_t created_op, destroyed_op; /* destroyed: UINT64_MAX while alive */
    /* In no table: counts the streams of a device but its default stream, from 1 (stream-name.h).
     */
    uint32_t number;
};
struct cts_launch {
    uint32_t launch, rank;
    uint64_t op;
    uint32_t device, stream, ordinal, kernel;
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared_bytes;
    bool cooperative;
    const char *recorded; /* "all", "sample", "none" */
    uint64_t call_ns, start_ns, end_ns;
    uint64_t records, accesses, dropped_accesses;
    /* In no table: what the row counts and the access files do not hold (trace/recording.h). */
    uint64_t missing_records, missing_accesses;
};
struct cts_copy {
    uint32_t copy, rank;
    uint64_t op;
    uint32_t device, stream;
    const char *kind;
    uint64_t destination, source;
    uint64_t width_bytes, height, depth;
    uint64_t destination_pitch, source_pitch, destination_slice, source_slice;
    bool asynchronous;
    uint64_t call_ns, start_ns, end_ns;
};
struct cts_allocation {
    uint32_t allocation, rank;
    uint64_t op, freed_op; /* freed: UINT64_MAX while alive */
    uint32_t device;
    uint64_t address, size_bytes;
    const char *kind, *call, *variable, *type;
    uint32_t element_bytes;
    const char *path;
    uint32_t line, column;
    const char *function;
};
struct cts_sync {
    uint32_t rank;
    uint64_t op;
    const char *kind;
    uint32_t stream; /* CTS_NONE: NULL */
    uint64_t event;  /* 0: NULL */
    int32_t result;
    uint64_t start_ns, end_ns;
};
struct cts_host_access {
    uint32_t rank;
    uint64_t op;
    bool is_store;
    uint64_t address, size_bytes;
};
/* Who asked for op: one row per op. */
struct cts_host_call {
    uint32_t rank;
    uint64_t op;
    uint32_t thread, device;
    uint32_t stream; /* of stream-ordered allocations and frees; else CTS_NONE */
    const char *api;
};
/* A function of the host in the order of a stream: requested with `op`, run by `thread`; what the
 * thread did meanwhile has ops between begin_op and end_op. end_op UINT64_MAX: when it ran is not
 * known. */
struct cts_host_function {
    uint32_t rank;
    uint64_t op;
    uint32_t stream, thread;
    uint64_t begin_op, end_op;
};
/* Host threads synchronised: the thread of `after` was past that op before op began, so that all
 * that it did up to and with `after` precedes all that op's thread does from op on. */
struct cts_thread_edge {
    uint32_t rank;
    uint64_t op, after;
};
/* The launch, copy or host function `op` is a node of an executable graph. */
struct cts_graph_node {
    uint32_t rank;
    uint64_t op;
    uint32_t graph;
    uint64_t launch_op;
    uint32_t node;
};
/* In each launch of the graph `node` begins when `after` has ended; after < node. Nodes without a
 * row in graph_nodes do nothing. */
struct cts_graph_edge {
    uint32_t rank, graph, node, after;
};
/* Where a CTA ran; recorders that do not know write no rows. */
struct cts_cta_sm {
    uint32_t launch, cta, sm;
};
/* CTAs of a cluster in each dimension; launches of single CTAs have no row. */
struct cts_cluster {
    uint32_t launch, ctas[3];
};
/* A word of a launch's arguments that may be an address. Recorders that know arguments write them
 * for launches of which not all stores are recorded. */
struct cts_launch_pointer {
    uint32_t launch;
    uint64_t address;
};
/* A tensor that a launch's kernel may copy to or from by TMA: a map among its parameters, decoded.
 * A launch without rows has no such map, or the recorder did not see its parameters. */
struct cts_tensor_map {
    uint32_t launch, parameter_bytes; /* offset in the kernel's parameters */
    uint64_t address;
    const char *element_type; /* "u8", "f16", "bf16" and so on */
    uint32_t element_bytes, dimensions;
    uint64_t size[5];         /* elements per dimension, innermost first; 1 where there is none */
    uint64_t stride_bytes[5]; /* [0]: element_bytes; 0 where there is no dimension */
    uint32_t box[5];          /* elements that one copy moves (not of im2col maps: 1) */
    uint32_t swizzle_bytes;   /* 0, 32, 64, 128 */
    bool interleaved, im2col; /* interleaved: size and stride do not tell the end */
    bool may_load, may_store; /* whether the kernel has such instructions */
};
/* How the process of a rank ended. All that it recorded is there if it did not end by a signal or
 * unknown, if all launches asked for are complete, and no row was lost: only then the rank has an
 * end_ns, whatever `how` says. */
struct cts_ending {
    uint32_t rank;
    const char *how; /* "closed": the recorder closed the run; "exit": the process ended by itself
                        before that (_exit, quick_exit, exec and the new program's end);
                        "signal"; "unknown" */
    uint32_t status; /* of the exit, or the signal; CTS_NONE: not known */
    uint64_t launches_asked, launches_complete; /* complete: ran, and all its records written or
                                                   counted as dropped */
    uint64_t rows_lost;                         /* rows that could not be kept */
};
/* What whoever waited for a process knows of its end. */
struct cts_process_end {
    int64_t pid;
    bool is_signal;
    uint32_t status; /* of the exit, or the signal */
};
/* What the process of a rank wrote into rank-N/K.acc. */
/* A launch that ended in an error of the device. */
struct cts_launch_fault {
    uint32_t rank, launch;
    const char *kind;           /* as in schema.sql */
    uint32_t cta[3], thread[3]; /* CTS_NONE: not known */
    uint64_t address;           /* 0: none, or not known */
    const char *path;           /* of the instruction's source; NULL: not known */
    uint32_t line;
    uint32_t allocation; /* that has the address or is nearest to it; CTS_NONE: none */
    const char *text;    /* one line: kernel, place, what happened */
};

struct cts_access_file_row {
    uint32_t rank, file;
    uint64_t chunks, records, accesses;
    uint64_t size_bytes; /* of header and chunks, without the footer */
};
struct cts_message {
    uint32_t rank;
    const char *severity, *text; /* severity: "note", "warning", "error" */
};
/* A file of the run when it was sealed (trace/seal.h). */
struct cts_run_file {
    const char *path; /* below the run */
    uint64_t size_bytes;
    uint32_t checksum; /* of a timeline's file; CTS_NONE: not kept */
    uint64_t chunks, records, accesses;
};
/* What a table held when the run was sealed. */
struct cts_checksum {
    const char *name, *columns;
    uint64_t rows;
    const char *checksum;
};

/* ---- writing: used inside the traced program, by importers and by tests ----
 *
 * Rows are stored into a mapped file, so that a call costs well under a microsecond and a row is
 * kept from then on, however the process ends. Failures are kept (first one wins) and returned by
 * close and by cts_catalogue_failure(). All functions are thread-safe. Several processes may write
 * to one catalogue file. */
struct cts_catalogue_writer;

/* Opens or creates `run_path`/run.db and claims a rank, making `run_path`/rank-N: the MPI rank when
 * the environment names one and it is free, else the lowest free one. The directory must be absent,
 * empty, or a run that this process belongs to: the environment's CTASCOPE_SESSION is the one
 * that `ctascope record` gave the run, or, without a session, another process that records into it
 * still lives. Writes the run's keys (docs/catalogue.md) and a first row for the rank. */
CTS_MUST_CHECK enum cts_status cts_catalogue_create(const char *run_path,
                                                    struct cts_catalogue_writer **writer,
                                                    struct cts_error *error);
/* Writes what is left and frees the writer (NULL: nothing). In a child that inherited the writer
 * through fork() this and the two below do nothing. */
enum cts_status cts_catalogue_close(struct cts_catalogue_writer *writer, struct cts_error *error);
/* The first failure so far: rows themselves are kept when they are added. */
enum cts_status cts_catalogue_flush(struct cts_catalogue_writer *writer, struct cts_error *error);
/* Whether anything failed so far; then `error` (may be NULL) says what failed first. */
bool cts_catalogue_failure(struct cts_catalogue_writer *writer, struct cts_error *error);
/* Counted at once, so that they are known however the process ends: a chunk that was written (file,
 * its records and accesses, chunks 1, the file's size with it), what was dropped, the first
 * failure, and that the process is about to end by itself without closing. */
void cts_catalogue_note_written(struct cts_catalogue_writer *writer,
                                const struct cts_access_file_row *chunk);
void cts_catalogue_note_dropped(struct cts_catalogue_writer *writer, uint64_t records,
                                uint64_t accesses);
void cts_catalogue_note_failure(struct cts_catalogue_writer *writer, const char *text);
void cts_catalogue_note_exit(struct cts_catalogue_writer *writer);
/* The rank that was claimed. */
uint32_t cts_catalogue_rank(const struct cts_catalogue_writer *writer);

/* Makes an empty run (directory and run.db) that processes with CTASCOPE_SESSION=`session` may
 * join, and notes `command`. A run of the same session is left as it is. Any other run is replaced
 * when `replace`, else refused; a directory that is not empty and not a run is always refused, and
 * so is a run that holds somebody else's files (run-files.h). */
CTS_MUST_CHECK enum cts_status cts_catalogue_prepare(const char *run_path, const char *session,
                                                     const char *command, bool replace,
                                                     struct cts_error *error);
/* What makes a run, and whether it may take the place of a finished one. */
struct cts_run_start {
    const char *session;
    const char *command;
    bool replace;
    bool asks_timeline; /* stored as key CTS_TIMELINE_ASKED_KEY of table run */
};
#define CTS_TIMELINE_ASKED_KEY "timeline_asked"

/* The same, and holds the run (run-lock.h) from the moment that it is prepared. */
CTS_MUST_CHECK enum cts_status cts_catalogue_prepare_and_hold(const char *run_path,
                                                              const struct cts_run_start *start,
                                                              int *held, struct cts_error *error);
/* Writes into run.db what processes that have ended left in their journals and in the write-ahead
 * log, and closes their access files. `ends`: how some of them ended; `only_known`: leaves the
 * others to somebody who knows. Harmless at any time. */
enum cts_status cts_catalogue_fold(const char *run_path, const struct cts_process_end *ends,
                                   size_t end_count, bool only_known, struct cts_error *error);
/* The same, with nothing known. */
enum cts_status cts_catalogue_tidy(const char *run_path, struct cts_error *error);
/* Deletes a run that holds nothing but what cts_catalogue_prepare() made. */
void cts_catalogue_discard_empty(const char *run_path);

/* The next number of `op`, see schema.sql. */
uint64_t cts_catalogue_next_op(struct cts_catalogue_writer *writer);

/* Reserve `count` consecutive ids of a table, unique over all processes; returns the first. */
enum cts_id_kind {
    CTS_ID_MODULE,
    CTS_ID_SOURCE,
    CTS_ID_KERNEL,
    CTS_ID_SITE,
    CTS_ID_VARIABLE,
    CTS_ID_STREAM,
    CTS_ID_LAUNCH,
    CTS_ID_COPY,
    CTS_ID_ALLOCATION,
    CTS_ID_KIND_COUNT
};
uint32_t cts_catalogue_reserve(struct cts_catalogue_writer *writer, enum cts_id_kind kind,
                               uint32_t count);

/* Rows and their texts are copied. They are written (INSERT OR REPLACE by primary key) when added:
 * add a launch at its call with end_ns = 0 and again when it has ended. */
void cts_catalogue_set(struct cts_catalogue_writer *writer, const char *key, const char *value);
void cts_catalogue_add_rank(struct cts_catalogue_writer *writer, const struct cts_rank *row);
void cts_catalogue_add_device(struct cts_catalogue_writer *writer, const struct cts_device *row);
void cts_catalogue_add_module(struct cts_catalogue_writer *writer, const struct cts_module *row);
void cts_catalogue_add_source(struct cts_catalogue_writer *writer, const struct cts_source *row);
void cts_catalogue_add_kernel(struct cts_catalogue_writer *writer, const struct cts_kernel *row);
void cts_catalogue_add_site(struct cts_catalogue_writer *writer, const struct cts_site *row);
void cts_catalogue_add_variable(struct cts_catalogue_writer *writer,
                                const struct cts_variable *row);
void cts_catalogue_add_fault(struct cts_catalogue_writer *writer,
                             const struct cts_launch_fault *row);
void cts_catalogue_add_skipped(struct cts_catalogue_writer *writer, const struct cts_skipped *row);
void cts_catalogue_add_stream(struct cts_catalogue_writer *writer,
                              const struct cts_cuda_stream *row);
void cts_catalogue_add_launch(struct cts_catalogue_writer *writer, const struct cts_launch *row);
/* More is known of a launch that was added and whose end comes later, or is known already. */
void cts_catalogue_update_launch(struct cts_catalogue_writer *writer, const struct cts_launch *row);
void cts_catalogue_add_copy(struct cts_catalogue_writer *writer, const struct cts_copy *row);
void cts_catalogue_add_allocation(struct cts_catalogue_writer *writer,
                                  const struct cts_allocation *row);
void cts_catalogue_add_sync(struct cts_catalogue_writer *writer, const struct cts_sync *row);
void cts_catalogue_add_host_access(struct cts_catalogue_writer *writer,
                                   const struct cts_host_access *row);
void cts_catalogue_add_call(struct cts_catalogue_writer *writer, const struct cts_host_call *row);
void cts_catalogue_add_host_function(struct cts_catalogue_writer *writer,
                                     const struct cts_host_function *row);
void cts_catalogue_add_thread_edge(struct cts_catalogue_writer *writer,
                                   const struct cts_thread_edge *row);
void cts_catalogue_add_graph_node(struct cts_catalogue_writer *writer,
                                  const struct cts_graph_node *row);
void cts_catalogue_add_graph_edge(struct cts_catalogue_writer *writer,
                                  const struct cts_graph_edge *row);
void cts_catalogue_add_cta_sm(struct cts_catalogue_writer *writer, const struct cts_cta_sm *row);
void cts_catalogue_add_cluster(struct cts_catalogue_writer *writer, const struct cts_cluster *row);
void cts_catalogue_add_launch_pointer(struct cts_catalogue_writer *writer,
                                      const struct cts_launch_pointer *row);
void cts_catalogue_add_tensor_map(struct cts_catalogue_writer *writer,
                                  const struct cts_tensor_map *row);
void cts_catalogue_add_padded_type(struct cts_catalogue_writer *writer,
                                   const struct cts_padded_type *row);
void cts_catalogue_add_fingerprint(struct cts_catalogue_writer *writer,
                                   const struct cts_fingerprint *row);
void cts_catalogue_add_message(struct cts_catalogue_writer *writer, const char *severity,
                               const char *text);
/* Fill in the end of a row that was added: the number of the operation that ended it. */
void cts_catalogue_free_allocation(struct cts_catalogue_writer *writer, uint32_t allocation,
                                   uint64_t freed_op);
void cts_catalogue_destroy_stream(struct cts_catalogue_writer *writer, uint32_t stream,
                                  uint64_t destroyed_op);

/* ---- reading ---- */

/* Everything but the accesses, in memory: arrays ordered by id (launches, copies, syncs by rank
 * and op). Arrays and strings live until cts_catalogue_release().
 *
 * modules, sources, kernels, sites and streams may be indexed by id: rows[i].id == i. An id that a
 * killed process reserved and never wrote is a row of zeros, NULL and CTS_NONE (a site of operation
 * 0 and width 0). Every id that a row names is CTS_NONE, where the column may be NULL, or that
 * of a row that exists. Access files may be ahead of the catalogue of a killed program by a few
 * launches: look up what a record names with cts_catalogue_launch() and compare with site_count. */
struct cts_catalogue {
    struct cts_rank *ranks;
    size_t rank_count;
    struct cts_device *devices;
    size_t device_count;
    struct cts_module *modules;
    size_t module_count;
    struct cts_source *sources;
    size_t source_count; /* text NULL: not the user's, or not kept */
    struct cts_kernel *kernels;
    size_t kernel_count;
    struct cts_site *sites;
    size_t site_count; /* sites[i].site == i */
    struct cts_variable *variables;
    size_t variable_count;
    struct cts_skipped *skipped;
    size_t skipped_count;
    struct cts_cuda_stream *streams;
    size_t stream_count;
    struct cts_launch *launches;
    size_t launch_count; /* by rank, op */
    struct cts_copy *copies;
    size_t copy_count;
    struct cts_allocation *allocations;
    size_t allocation_count;
    struct cts_sync *syncs;
    size_t sync_count;
    struct cts_host_access *host_accesses;
    size_t host_access_count;
    struct cts_host_call
        *calls; /* by rank, op; none in runs of earlier versions, as the next four */
    size_t call_count;
    struct cts_host_function *host_functions;
    size_t host_function_count;
    struct cts_thread_edge *thread_edges; /* by rank, op */
    size_t thread_edge_count;
    struct cts_graph_node *graph_nodes;
    size_t graph_node_count;
    struct cts_graph_edge *graph_edges; /* as written */
    size_t graph_edge_count;
    struct cts_cta_sm *cta_sms; /* as written; may name launches and CTAs that do not exist */
    size_t cta_sm_count;
    struct cts_cluster *clusters; /* as written; may name launches that do not exist */
    size_t cluster_count;
    struct cts_launch_pointer *launch_pointers; /* likewise */
    size_t launch_pointer_count;
    struct cts_tensor_map *tensor_maps; /* likewise */
    size_t tensor_map_count;
    struct cts_padded_type *padded_types; /* none in runs of earlier versions */
    size_t padded_type_count;
    struct cts_fingerprint
        *fingerprints; /* likewise; as written, may name launches without a row */
    size_t fingerprint_count;
    struct cts_ending *endings; /* none in runs of earlier versions */
    size_t ending_count;
    struct cts_launch_fault *faults; /* likewise */
    size_t fault_count;
    struct cts_access_file_row *access_files; /* likewise */
    size_t access_file_count;
    struct cts_message *messages;
    size_t message_count;
    struct cts_run_file *files; /* none in a run that was not sealed: its recording ended early */
    size_t file_count;
    struct cts_checksum *checksums;
    size_t checksum_count;
    struct cts_gaps gaps; /* in run.db itself, and what cts_recording_open() finds missing */
    struct cts_catalogue_private *private_data;
};

/* Reads `run_path`/run.db. CTS_FORMAT for a directory that is no run (and says what it is),
 * CTS_VERSION for a newer one. Ids out of range and negative sizes are refused here, so that
 * analyses may index by them. */
CTS_MUST_CHECK enum cts_status
cts_catalogue_read(const char *run_path, struct cts_catalogue *catalogue, struct cts_error *error);
void cts_catalogue_release(struct cts_catalogue *catalogue);

/* How the process of a rank ended if it did so by itself (not by a signal); else NULL. */
const struct cts_ending *cts_catalogue_own_end(const struct cts_catalogue *catalogue,
                                               uint32_t rank);

/* Whether loads of constant memory are missing: the recorder of unmodified GPU programs sees none
 * (the Sanitizer has no callback for them), and compiled-in recorders leave those of __constant__
 * variables out. */
bool cts_catalogue_lacks_constants(const struct cts_catalogue *catalogue);

/* The error in which a launch (by id) ended; NULL: none. */
const struct cts_launch_fault *cts_catalogue_fault_of(const struct cts_catalogue *catalogue,
                                                      uint32_t launch);
/* The same, but nothing except the keys, the files and the checksums of the seal. */
CTS_MUST_CHECK enum cts_status cts_catalogue_read_seal(const char *run_path,
                                                       struct cts_catalogue *catalogue,
                                                       struct cts_error *error);

/* The launch with an id, or NULL; a binary search. */
const struct cts_launch *cts_catalogue_launch(const struct cts_catalogue *catalogue,
                                              uint32_t launch);
/* The name of a kernel; NULL for an id that is none, or whose row was never written. */
const char *cts_catalogue_kernel_name(const struct cts_catalogue *catalogue, uint32_t kernel);
/* The rank with that number, or NULL. */
const struct cts_rank *cts_catalogue_find_rank(const struct cts_catalogue *catalogue,
                                               uint32_t rank);

/* The keys of table `run`, ordered by key. */
size_t cts_catalogue_key_count(const struct cts_catalogue *catalogue);
const char *cts_catalogue_key(const struct cts_catalogue *catalogue, size_t i, const char **value);

/* The value of a key of table `run`, or NULL. */
const char *cts_catalogue_get(const struct cts_catalogue *catalogue, const char *key);
/* False when the run was imported from a trace that knew nothing of what the host did. */
bool cts_catalogue_knows_host(const struct cts_catalogue *catalogue);
/* Whether access files may know launches and sites that the catalogue does not: it is written a
 * moment later than they are, and the program may have ended early, still run, or have failed to
 * write all of it. */
bool cts_catalogue_may_be_behind(const struct cts_catalogue *catalogue);

#endif
