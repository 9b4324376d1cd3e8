/* One access file while it is written. Private to the collector. */
#ifndef CTS_COLLECTOR_ACCESS_FILE_H
#define CTS_COLLECTOR_ACCESS_FILE_H

#include "common/buffer.h"
#include "trace/acc-format.h"
#include "trace/mapped-file.h"

struct cts_access_file {
    char *path;
    uint32_t rank, stream;
    struct cts_mapped_file mapped; /* path NULL: not made yet, or it could not be */
    struct cts_buffer chunks;      /* struct cts_acc_chunk, for the footer */
    size_t chunk_count;
};

/* Names the file, and tries to make it. It must not exist. When that fails, appending tries again.
 * CTS_MEMORY alone is a failure of this function's; CTS_IO says why the file is not there yet. */
CTS_MUST_CHECK enum cts_status cts_access_file_create(struct cts_access_file *file,
                                                      const char *path, uint32_t rank,
                                                      uint32_t stream, struct cts_error *error);

/* Of header and whole chunks. */
static inline uint64_t cts_access_file_bytes(const struct cts_access_file *file)
{
    return file->mapped.size_bytes;
}

/* Appends a chunk; on failure the file is as it was. */
CTS_MUST_CHECK enum cts_status cts_access_file_append(struct cts_access_file *file,
                                                      const void *bytes,
                                                      const struct cts_acc_chunk_header *header,
                                                      struct cts_error *error);

/* Writes the footer, unless `abandon` is set, and closes. The file is readable without. */
CTS_MUST_CHECK enum cts_status cts_access_file_close(struct cts_access_file *file, bool abandon,
                                                     struct cts_error *error);

#endif
