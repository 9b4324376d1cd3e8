/* Which launch a grid belongs to. */
#ifndef CTS_MEMORY_GRIDS_H
#define CTS_MEMORY_GRIDS_H

#include <stdint.h>

#include <sanitizer.h>

/* Makes a context's table, if there is none. */
SanitizerResult cts_grids_make(CUcontext context, uint64_t *address);
uint64_t cts_grids_address(CUcontext context); /* 0: it has none */
/* It is destroyed, and another one may get its handle. */
void cts_grids_forget(CUcontext context);
/* Before the launch, in its stream: `number` in the ring, or CTS_NONE for one that is not
 * recorded. */
void cts_grids_tell(const Sanitizer_LaunchData *launch, Sanitizer_StreamHandle stream,
                    uint32_t number);

#endif
