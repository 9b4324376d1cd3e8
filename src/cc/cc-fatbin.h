/* Fat binaries: what a program carries its device code in, and the CUDA runtime takes. Here, one
 * image of PTX, not compressed. */
#ifndef CTS_CC_FATBIN_H
#define CTS_CC_FATBIN_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buffer.h"
#include "common/error.h"

/* Appends the fat binary of a module's PTX for `architecture`, "sm_75" or "sm_90a". CTS_FORMAT:
 * the text is no PTX, or the architecture no such name. */
CTS_MUST_CHECK enum cts_status cc_fatbin(const char *ptx, const char *architecture,
                                         struct cts_buffer *fatbin, struct cts_error *error);

/* The first function that a module of PTX calls, and neither defines nor finds in the driver. */
bool cc_ptx_missing(const char *ptx, char *name, size_t name_bytes);

#endif
