/* Contexts that the recorder knows. */
#ifndef CTS_MEMORY_CONTEXTS_H
#define CTS_MEMORY_CONTEXTS_H

#include <stdbool.h>
#include <stdint.h>

#include <sanitizer.h>

enum { CTS_MEMORY_CONTEXTS_MAX = 64 };

/* The creation of a context begins; and something happens in one, which so becomes known. When a
 * creation has ended the Sanitizer would tell, too, but then every launch takes 2 us longer. */
void cts_context_begun(void);
void cts_context_seen(CUcontext context);
/* It is destroyed, and another one may get its handle. */
void cts_context_forget(CUcontext context);
/* Of contexts that were made before the recorder was there nothing is known. */
bool cts_context_is_known(CUcontext context);
uint32_t cts_context_device(CUcontext context);
/* True once per context: the patches have to be loaded into it. */
bool cts_context_wants_patches(CUcontext context);

/* The same for the patch of tensor copies. */
bool cts_context_wants_tensor_patches(CUcontext handle);

#endif
