/* The recording: the collector's life and the rows of the catalogue. Every function returns at once
 * while nothing is recorded. */
#ifndef CTS_CPU_RECORD_H
#define CTS_CPU_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "range.h"
#include "record-op.h"
#include "record/cpu/engine.h"
#include "registry.h"
#include "runtime.h"
#include "trace/catalogue.h"

struct CUstream_st;
struct cts_try_mark;
struct cts_work;

/* What is remembered of a work from its call to its end. */
struct cts_trace {
    bool is_on;
    bool records_accesses; /* a launch that the filters let through */
    uint64_t op, call_ns;
    uint64_t start_ns, end_ns; /* once it has run: by the catalogue's clock */
    uint32_t id;               /* of the launch or copy */
    uint32_t ordinal;          /* of a launch in its stream */
    /* for the timeline (cpu-timeline.h) */
    struct cts_log *log;        /* of the stream; NULL: off */
    struct cts_log *source_log; /* of a copy between devices: some stream of the one it reads */
    uint64_t correlation;
    struct cts_try_mark *mark; /* of `try` (try-hooks.h); NULL: none */
};

void cts_record_start(void);
/* `idle`: no work runs any more. */
void cts_record_finish(bool idle);
/* Whether launches from now on are recorded. */
void cts_record_switch(bool on);

/* A file's modules, kernels, sites, ... get their ids and rows. */
void cts_record_file(struct cts_file *file);
/* Writes the rows so far. Access files name sites at once, the catalogue is up to a tenth of a
 * second behind: called after files have been loaded, so that a program that is killed leaves no
 * access whose site is not known. */
void cts_record_settle(void);
void cts_record_stream(struct CUstream_st *stream);
void cts_record_stream_end(const struct CUstream_st *stream);
/* What the host pass said of the next allocation of this thread, or NULL; it is used up. */
const struct cts_allocation_desc *cts_record_take_hint(void);

/* Uses up the thread's allocation hint. `call`: the API function; `stream`: of a stream-ordered
 * allocation or free, else CTS_NONE. */
void cts_record_allocation(struct cts_range *range, const char *call, uint32_t stream);
void cts_record_free(const struct cts_range *range, uint32_t stream);

/* Around a function of the host that a stream runs. */
uint64_t cts_record_host_begin(void);
void cts_record_host_end(const struct CUstream_st *stream, const struct cts_trace *trace,
                         uint64_t begin_op);

/* An executable graph gets a number; 0 while nothing is recorded. */
uint32_t cts_record_graph(void);
void cts_record_graph_edge(uint32_t graph, uint32_t node, uint32_t after);
/* The launch of a graph: its op. What the thread submits from now on is that node of it. */
uint64_t cts_record_graph_launch(void);
void cts_record_graph_step(uint32_t graph, uint64_t launch_op, uint32_t node); /* graph 0: none */

/* A work at its call (in the order of the stream's ops) and at its end. */
void cts_record_call(const struct cts_work *work, struct CUstream_st *stream,
                     struct cts_trace *trace);
void cts_record_launch_end(const struct cts_work *work, const struct CUstream_st *stream,
                           const struct cts_trace *trace, const struct cts_launch_result *result);
/* A launch ended in a fault; `allocation`: that has the address, or is nearest; or CTS_NONE. */
void cts_record_fault(const struct cts_trace *trace, const struct cts_launch_result *result,
                      uint32_t allocation);
void cts_record_copy_end(const struct cts_work *work, const struct CUstream_st *stream,
                         const struct cts_trace *trace);
struct cts_collector *cts_record_collector(void);
uint32_t cts_record_cta_sample(void);

/* Synchronisations: begin before waiting, end with the result, which timelines get too. `stream`
 * may be NULL. */
enum cts_sync_kind {
    CTS_SYNC_DEVICE,
    CTS_SYNC_STREAM,
    CTS_SYNC_STREAM_QUERY,
    CTS_SYNC_STREAM_WAIT,
    CTS_SYNC_EVENT,
    CTS_SYNC_EVENT_QUERY,
    CTS_SYNC_EVENT_RECORD,
};
struct cts_sync_trace {
    bool is_on;
    uint64_t op, start_ns;
};
struct cts_sync_trace cts_record_sync_begin(void);
void cts_record_sync_end(const struct cts_sync_trace *trace, enum cts_sync_kind kind,
                         const struct CUstream_st *stream, uint64_t event, cudaError_t result);

#endif
