/* A process's place in a run: the directory rank-N. */
#ifndef CTS_TRACE_RANK_CLAIM_H
#define CTS_TRACE_RANK_CLAIM_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

/* Claims rank-N for a process of its own, making the directory: the MPI rank when the environment
 * names one and it is free, else the lowest free number that is no MPI rank. */
CTS_MUST_CHECK enum cts_status cts_rank_claim_new(const char *run_path, uint32_t *rank,
                                                  struct cts_error *error);

/* The rank of this process, claimed now when it has none yet: whatever records in a process (its
 * memory, its timeline) gets the same. `again`: the process has become another program, and takes
 * a new one. A link .process-* in the run says which process has which rank. */
CTS_MUST_CHECK enum cts_status cts_rank_claim(const char *run_path, bool again, uint32_t *rank,
                                              struct cts_error *error);

/* Removes the links, when all processes have ended. */
void cts_rank_claims_forget(const char *run_path);

#endif
