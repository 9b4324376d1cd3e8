/* Copies and fills for the other files of the runtime. */
#ifndef CTS_CPU_COPY_H
#define CTS_CPU_COPY_H

#include "runtime.h"
#include "work.h"

/* How the program asks for a copy. */
struct cts_copy_call {
    enum cudaMemcpyKind kind;
    bool asynchronous; /* one of the Async calls */
    cudaStream_t stream;
};

/* Memory that is gone through in rows. */
struct cts_pitched {
    const void *pointer;
    size_t pitch_bytes; /* from row to row */
};

/* Checks both sides against the call's kind and queues the copy. */
cudaError_t cts_copy_queue(const struct cts_geometry *geometry, struct cts_copy_call call);

/* The source side of `geometry` is not used. */
cudaError_t cts_fill(const struct cts_geometry *geometry, uint32_t value, uint32_t element_bytes,
                     cudaStream_t stream);

/* The geometry of a cudaMemcpy3D; false when it makes no sense. Arrays must be known. */
bool cts_copy_geometry_3d(const struct cudaMemcpy3DParms *parameters,
                          struct cts_geometry *geometry);

#endif
