/* Tensor maps among a launch's parameters: what its tensor copies (TMA), which the Sanitizer does
 * not tell of, may read and write. */
#ifndef CTS_MEMORY_LAUNCH_TENSORS_H
#define CTS_MEMORY_LAUNCH_TENSORS_H

#include <stdbool.h>
#include <stdint.h>

#include <cuda.h>

/* What a kernel's tensor copies can do; neither: it has none whose maps could be known. */
struct cts_tensor_use {
    bool may_load, may_store;
};
/* The parameters of the launch that the calling thread makes, as its call has them: one of both is
 * NULL. */
struct cts_launch_parameters {
    const void *function; /* a CUfunction or CUkernel */
    void **values, **packed;
};
/* At the call's begin: keeps a copy of the parameters, unless the function is known to have no
 * tensor copies. */
void cts_launch_tensors_take(const struct cts_launch_parameters *parameters);
/* At the launch: rows for the maps among them. */
void cts_launch_tensors_add(uint32_t launch, struct cts_tensor_use use);
/* At the call's end. */
void cts_launch_tensors_drop(void);

#endif
