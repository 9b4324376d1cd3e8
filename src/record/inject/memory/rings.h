/* The ring of each context, and the threads that empty all of them. */
#ifndef CTS_MEMORY_RINGS_H
#define CTS_MEMORY_RINGS_H

#include <stdbool.h>
#include <stdint.h>

#include <sanitizer.h>

#include "common/error.h"
#include "control.h"
#include "record/ring/consumer.h"

/* Starts the threads. */
CTS_MUST_CHECK enum cts_status cts_memory_rings_start(const struct cts_ring_names *names,
                                                      struct cts_error *error);
/* As cts_ring_drain(), of all rings. */
bool cts_memory_rings_drain(uint32_t timeout_ms);
/* As cts_ring_deliver(), of all rings; false also when the threads have ended. */
bool cts_memory_rings_deliver(bool others_write, uint32_t timeout_ms);
/* As cts_ring_stop(). */
void cts_memory_rings_stop(uint64_t *lost);

/* What patches are given for launch number 0 of a context (control.h); its ring is made at the
 * first call. 0: there is none. */
uint64_t cts_memory_ring_user(CUcontext context);
/* The address of the bins of a context's ring, and what its control says; 0: there is none. */
uint64_t cts_memory_ring_bins(CUcontext context, struct cts_memory_control *control);
/* Its context is destroyed. */
void cts_memory_ring_forget(CUcontext context);

#endif
