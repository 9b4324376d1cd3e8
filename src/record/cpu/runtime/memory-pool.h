/* Memory in the order of streams: cudaMallocAsync and its pools. */
#ifndef CTS_CPU_POOL_H
#define CTS_CPU_POOL_H

#include "runtime.h"

/* Frees memory that came from a pool; `stream` NULL: at once. */
cudaError_t cts_pool_free(const void *pointer, struct CUstream_st *stream);

/* Gives back what the device's pools keep and no stream needs any more; waits for those streams. */
void cts_pools_trim(int device);

#endif
