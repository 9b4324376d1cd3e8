/* The directory for temporary files. */
#ifndef CTS_COMMON_TEMPORARY_H
#define CTS_COMMON_TEMPORARY_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

/* TMPDIR, or /tmp; not the caller's. */
const char *cts_temporary_directory(void);

/* An empty file there without a name, for much, which goes when it is closed: in /var/tmp if TMPDIR
 * is not set and /tmp lies in memory. -1: *error says why. */
int cts_temporary_file(struct cts_error *error);

/* Maps bytes of such a file, whole pages from a page on, zeros where nothing was written; the
 * caller unmaps them. The space is claimed first: a full disk is an error here, not a signal later.
 * NULL: *error says why. */
void *cts_temporary_map(int file, uint64_t offset_bytes, size_t size_bytes,
                        struct cts_error *error);

#endif
