/* The location of a CUDA stream, for wrappers of libraries that are given one. */
#ifndef CTS_RECORD_WRAPPERS_STREAM_IDS_H
#define CTS_RECORD_WRAPPERS_STREAM_IDS_H

#include "record/timeline/recorder.h"

/* The location that the stream's kernels are recorded on. NULL: no driver, or it does not know the
 * stream. */
struct cts_log *cts_stream_log(const struct cts_recorder *recorder, void *stream);

#endif
