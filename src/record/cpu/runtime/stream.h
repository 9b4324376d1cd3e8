/* Streams: queues of works, each with a thread that does them in order. */
#ifndef CTS_CPU_STREAM_H
#define CTS_CPU_STREAM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "record.h"
#include "runtime.h"
#include "work.h"

/* A place in a stream's order: reached when the stream has done `sequence` ops. */
struct cts_point {
    struct CUstream_st *stream; /* a reference */
    uint64_t sequence;
};

enum cts_stream_kind {
    CTS_STREAM_LEGACY,
    CTS_STREAM_PER_THREAD,
    CTS_STREAM_BLOCKING,
    CTS_STREAM_NON_BLOCKING,
};

struct cts_op;
struct cts_capture;
struct CUstream_st {
    struct CUstream_st *next; /* all streams that are open or have work */
    uint32_t references;      /* the list, its thread, points */
    int device;
    enum cts_stream_kind kind;
    int priority;
    uint32_t id; /* catalogue id */
    unsigned long long number;
    struct cts_log *log; /* in the timeline; NULL without one */
    uint32_t launch_count;
    bool is_open; /* the program may use it */
    bool is_running, has_thread, waits;
    struct cts_op *head, **tail;
    const struct cts_work *running; /* NULL: none */
    uint64_t issued, done;          /* sequence numbers */
    pthread_cond_t wake;
    struct cts_capture *capture;
};

enum cts_submission { CTS_ASYNCHRONOUS, CTS_WAIT_UNTIL_DONE };

/* submit.c: queues a work (taking over what it owns, also on failure). With CTS_WAIT_UNTIL_DONE the
 * work is done when the call returns, in the calling thread where the stream has nothing else to
 * do. */
cudaError_t cts_stream_submit(cudaStream_t handle, struct cts_work *work, enum cts_submission wait);

/* Waits for all work so far of a stream, or of all streams of a device. */
cudaError_t cts_stream_wait(cudaStream_t handle);
void cts_streams_wait_device(int device);

/* What a copy needs to know: a stream with nothing to do needs no staging of pageable sources, one
 * that is being captured must not have any. */
enum cts_stream_state { CTS_STREAM_IDLE, CTS_STREAM_BUSY, CTS_STREAM_CAPTURING };
enum cts_stream_state cts_stream_state(cudaStream_t handle);

/* At the end of the process: waits as long as works end. False when some did not. */
bool cts_streams_drain(void);

/* Before the code and the variables of an image go: waits until no work is left that needs them.
 * What is queued behind other work waits as long as that makes progress, and is not run later. */
void cts_streams_wait_image(const struct cts_image *image);

/* For cudaDeviceReset(): closes all streams that the program made. */
void cts_streams_reset(int device);

/* ---- for stream-api.c, event.c and capture.c, which hold the lock ---- */

void cts_streams_lock(void);
void cts_streams_unlock(void);
struct CUstream_st *cts_stream_open(enum cts_stream_kind kind, int device, int priority);
/* Takes a stream from the program: what is queued is still done. */
void cts_stream_close(struct CUstream_st *stream);
/* The open stream behind a handle, or NULL. */
struct CUstream_st *cts_stream_resolve(cudaStream_t handle);
struct cts_point cts_point_here(struct CUstream_st *stream);
void cts_point_release(struct cts_point *point);
bool cts_point_is_reached(const struct cts_point *point);
void cts_point_wait(const struct cts_point *point); /* gives the lock up meanwhile */
/* Appends a work with more dependencies (borrowed) than the stream's own. */
cudaError_t cts_stream_append(struct CUstream_st *stream, struct cts_work *work,
                              const struct cts_point *more, size_t more_count,
                              enum cts_submission wait);

#endif
