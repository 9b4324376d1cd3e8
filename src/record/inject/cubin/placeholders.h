/* Uniform registers of the caller, for a patch: the compiler has no name for them, so the patch
 * loads numbers in their place, CTS_PLACEHOLDER + n, and the instructions that do become reads of
 * uniform register n. */
#ifndef CTS_RECORD_PLACEHOLDERS_H
#define CTS_RECORD_PLACEHOLDERS_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

#define CTS_PLACEHOLDER 0xC0DE0000u
enum { CTS_PLACEHOLDER_COUNT = 63 }; /* uniform registers 0 to 62 */

/* Fills the placeholders of a cubin of compute capability 9.0 in place. CTS_FORMAT: it has not each
 * of them exactly once, in an instruction of a known form. */
CTS_MUST_CHECK enum cts_status cts_placeholders_fill(void *image, size_t bytes,
                                                     struct cts_error *error);

#endif
