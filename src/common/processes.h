/* The processes of one analysis: `mpirun -n N ctascope VERB` splits the work over N processes.
 * Alone (no mpirun), there is one process, nothing is loaded and every operation is a copy.
 *
 * ctascope itself does not link MPI, so that it runs where none is: under mpirun it loads the
 * bridge that was built for the MPI at hand (lib/ctascope/libctascope_processes_*.so), which fills
 * in the table below. All operations are collective over all processes, called in the same order by
 * one thread of each; blocks may exceed 2 GiB. An operation that fails ends every process: there is
 * no way on for the others. */
#ifndef CTS_COMMON_PROCESSES_H
#define CTS_COMMON_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct cts_processes {
    unsigned rank, count;
    void *state;
    const struct cts_processes_operations *operations; /* NULL: alone */
};

enum cts_reduction { CTS_REDUCE_SUM, CTS_REDUCE_MIN, CTS_REDUCE_MAX, CTS_REDUCE_OR };

/* What a bridge provides; sizes are bytes. */
struct cts_processes_operations {
    uint32_t version; /* CTS_PROCESSES_VERSION */
    void (*close)(void *state);
    void (*barrier)(void *state);
    void (*reduce_u64)(void *state, uint64_t *values, size_t count, enum cts_reduction reduction);
    void (*broadcast)(void *state, void *data, size_t size, unsigned root);
    /* sizes[i]: what process i sends; all processes know all sizes; `all` gets them in rank order
     */
    void (*all_gather)(void *state, const void *mine, void *all, const size_t *sizes);
    /* to process i: send_sizes[i] bytes; from process i: receive_sizes[i], both packed in order */
    void (*all_to_all)(void *state, const void *send, const size_t *send_sizes, void *receive,
                       const size_t *receive_sizes);
};
enum { CTS_PROCESSES_VERSION = 1 };

/* Joins the processes of this mpirun, or makes a lone one where there is no mpirun.
 * `library_directory`: where the bridges lie. CTS_UNSUPPORTED when mpirun's MPI has no bridge. */
CTS_MUST_CHECK enum cts_status cts_processes_open(const char *library_directory,
                                                  struct cts_processes *processes,
                                                  struct cts_error *error);
void cts_processes_close(struct cts_processes *processes);

/* The operations; alone they do what one process needs. `processes` NULL is alone, too. */
void cts_processes_barrier(const struct cts_processes *processes);
void cts_processes_reduce_u64(const struct cts_processes *processes, uint64_t *values, size_t count,
                              enum cts_reduction reduction);
void cts_processes_broadcast(const struct cts_processes *processes, void *data, size_t size,
                             unsigned root);
/* What this process gives. */
struct cts_sent_block {
    const void *bytes;
    size_t size_bytes;
};

/* A new block that holds every process's, in rank order; offsets[count + 1]. The caller frees both.
 */
CTS_MUST_CHECK enum cts_status cts_processes_all_gather(const struct cts_processes *processes,
                                                        struct cts_sent_block block, void **all,
                                                        size_t **offsets, struct cts_error *error);
/* What this process gives to each: blocks one after the other, and the size of each. */
struct cts_sent_blocks {
    const void *bytes;
    const size_t *sizes;
};

/* send_sizes[i] bytes to process i, packed; a new block of what came, by sender; offsets[count +
 * 1]. The caller frees both. */
CTS_MUST_CHECK enum cts_status cts_processes_all_to_all(const struct cts_processes *processes,
                                                        struct cts_sent_blocks blocks,
                                                        void **received, size_t **offsets,
                                                        struct cts_error *error);
/* True when all of them are CTS_OK; else false on every process, each keeping its own error or
 * learning that another failed: work goes on together or not at all. */
bool cts_processes_agree(const struct cts_processes *processes, enum cts_status *status,
                         struct cts_error *error);

#endif
