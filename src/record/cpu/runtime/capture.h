/* Stream capture, as stream.c and event.c see it. All functions are called with the streams' lock
 * held. */
#ifndef CTS_CPU_CAPTURE_H
#define CTS_CPU_CAPTURE_H

#include <stdbool.h>

#include "range.h"
#include "stream.h"

/* When the stream is being captured (or the capture forbids the work): takes the work over, sets
 * *error to what the call returns, and returns true. */
bool cts_capture_takes(struct CUstream_st *stream, struct cts_work *work, enum cts_submission wait,
                       cudaError_t *error);

/* Whether the stream is being captured; its capture then takes the memory over. False as well if it
 * cannot, with *error set. */
bool cts_capture_allocates(struct CUstream_st *stream, const struct cts_range *range,
                           cudaError_t *error);
/* Whether the stream is being captured, and the memory at the address is its capture's. */
bool cts_capture_frees(struct CUstream_st *stream, const void *address);
bool cts_capture_is_on(struct CUstream_st *stream);

/* A call that a capture does not allow: invalidates it; returns the error. */
cudaError_t cts_capture_spoil(struct CUstream_st *stream);

/* The stream goes away in the middle of a capture. */
void cts_capture_drop(struct CUstream_st *stream);

/* An event recorded in a capturing stream stands for the nodes that the stream's next node would
 * depend on. Counted; NULL when the stream is not being captured. */
struct cts_capture_mark;
struct cts_capture_mark *cts_capture_record(struct CUstream_st *stream);
void cts_capture_mark_release(struct cts_capture_mark *mark);

/* cudaStreamWaitEvent on such an event: the stream joins the capture. */
cudaError_t cts_capture_wait(struct CUstream_st *stream, struct cts_capture_mark *mark);

#endif
