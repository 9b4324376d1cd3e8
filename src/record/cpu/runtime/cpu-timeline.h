/* The timeline: what the host calls and what streams do, for the process's recorder
 * (record/timeline/recorder.h). Off, it costs one predicted branch per call. */
#ifndef CTS_CPU_TIMELINE_H
#define CTS_CPU_TIMELINE_H

#include <stdint.h>

#include "record.h"
#include "runtime.h"

struct CUstream_st;
struct cts_work;

/* Loads the recorder if the environment asks for a timeline. The dynamic linker waits for a thread
 * that loads a library and runs its constructors: nothing may be held that a constructor can come
 * to wait for, pthread_once() included. */
void cts_cpu_timeline_load(void);
/* Opens the recorder that was loaded; from process.c, once. */
void cts_cpu_timeline_start(void);
/* All work has ended, or as much of it as ever will. */
void cts_cpu_timeline_finish(void);

/* ---- what calls tell of themselves; no effect outside of one ---- */

/* A work is queued, in the order of the stream's ops: the call's ENTER names the stream and gets
 * the correlation that the work will have. With the streams' lock held. */
void cts_cpu_timeline_queued(const struct cts_work *work, struct CUstream_st *stream,
                             struct cts_trace *trace);
/* The call concerns this stream without queueing work. */
void cts_cpu_timeline_names(const struct CUstream_st *stream);
/* The call is about to wait: who is killed while it does has entered it. */
void cts_cpu_timeline_waits(void);
/* What a synchronisation came to, for the call's LEAVE. `stream` NULL, `event` 0: none. */
void cts_cpu_timeline_synchronised(enum cts_sync_kind kind, const struct CUstream_st *stream,
                                   uint64_t event, cudaError_t result);

/* ---- what streams do ---- */

void cts_cpu_timeline_stream(struct CUstream_st *stream);
void cts_cpu_timeline_stream_end(const struct CUstream_st *stream);
/* A work has run, when `trace` says. Works that are no activities (events, waits) are left out. */
void cts_cpu_timeline_done(const struct cts_work *work, const struct cts_trace *trace);

#endif
