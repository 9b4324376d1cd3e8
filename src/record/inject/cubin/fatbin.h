/* Fat binaries: what a program has for several architectures in one piece, mostly compressed. */
#ifndef CTS_RECORD_FATBIN_H
#define CTS_RECORD_FATBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buffer.h"
#include "common/error.h"

/* The fat binary that a pointer of the driver's API leads to, perhaps by way of the compiler's
 * wrapper, and its size as it says; NULL: it is none. The program's own memory: trusted to be as
 * large as it says. */
const void *cts_fatbin_of(const void *image, size_t *bytes);

/* The cubin for a compute capability (10 times), decompressed into `cubin`. CTS_UNSUPPORTED: none,
 * or several, of which the driver takes one; or it does not decompress. */
CTS_MUST_CHECK enum cts_status cts_fatbin_cubin(const void *fatbin, size_t bytes,
                                                uint32_t capability, struct cts_buffer *cubin,
                                                struct cts_error *error);

#endif
