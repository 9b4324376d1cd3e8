/* Works: what a stream can be asked to do. A plain value that can be copied into a graph's node and
 * back; cts_work_release() frees what it owns. */
#ifndef CTS_CPU_WORK_H
#define CTS_CPU_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "registry.h"
#include "runtime.h"

enum cts_work_kind {
    CTS_WORK_NOTHING, /* waits for its dependencies */
    CTS_WORK_LAUNCH,
    CTS_WORK_COPY,
    CTS_WORK_MEMSET,
    CTS_WORK_HOST,
    CTS_WORK_CALLBACK,
    CTS_WORK_EVENT,
};

/* Rows of `width_bytes`, `height` of them in a plane, `depth` planes. */
struct cts_geometry {
    uint64_t destination, source;
    uint64_t width_bytes, height, depth;
    uint64_t destination_pitch, source_pitch; /* bytes from row to row */
    uint64_t destination_slice, source_slice; /* bytes from plane to plane */
};

/* When an event was recorded; shared by the event and the work that records it. */
struct cts_mark {
    _Atomic uint32_t references;
    _Atomic uint64_t time_ns; /* 0: not yet */
};
struct cts_mark *cts_mark_new(void);
struct cts_mark *cts_mark_retain(struct cts_mark *mark);
void cts_mark_release(struct cts_mark *mark);

struct cts_launch_work {
    struct cts_cpu_kernel *kernel;
    const void *function; /* the host's stub */
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared_bytes;
    bool cooperative;
    void **args;               /* owned: pointers and copies of the values in one block */
    const uint32_t *cta_order; /* the caller's, longer-lived: CTAs in the order in which they begin;
                                  NULL: by their index */
};

struct cts_work {
    enum cts_work_kind kind;
    union {
        struct cts_launch_work launch;
        struct {
            struct cts_geometry geometry;
            const char *kind;  /* as in the catalogue: "HtoD", ... */
            void *staging;     /* owned copy of pageable source memory, tightly packed, or NULL */
            bool asynchronous; /* the host does not wait for it */
        } copy;
        struct {
            struct cts_geometry geometry; /* destination alone */
            uint32_t value, element_bytes;
        } memset;
        struct {
            cudaHostFn_t function;
            void *data;
        } host;
        struct {
            cudaStreamCallback_t function;
            void *data;
        } callback;
        struct {
            struct cts_mark *mark; /* owned reference */
            uint64_t handle;
        } event;
    };
};

void cts_work_release(struct cts_work *work);
/* A copy that owns its own; false without memory, and of what is gone. */
bool cts_work_clone(const struct cts_work *work, struct cts_work *copy);

/* Whether a work runs code of an image, or reads or writes memory of it. */
bool cts_work_needs(const struct cts_work *work, const struct cts_image *image);
/* Whether a work is a launch of a library that was unloaded: its kernel is no longer there. */
bool cts_work_is_gone(const struct cts_work *work);

/* The values of a kernel's parameters, copied into one block; NULL without memory. A kernel without
 * parameters gives an empty block. */
void **cts_work_copy_args(const struct cts_kernel_desc *kernel, void *const *args);

/* A launch, checked as cudaLaunchKernel checks it (launch-api.c); the work owns copies of the
 * values.
 */
struct cts_launch_shape {
    const void *function;
    dim3 grid, block;
    size_t dynamic_shared_bytes;
    bool cooperative;
};
cudaError_t cts_work_launch(const struct cts_launch_shape *shape, void **args,
                            struct cts_work *work);

void cts_geometry_copy(const struct cts_geometry *geometry);

struct CUstream_st;
struct cts_trace;
/* Does the work in the calling thread and writes its row. */
void cts_work_run(struct cts_work *work, struct CUstream_st *stream, struct cts_trace *trace);

#endif
