/* One access file while it is written. Private to the collector. */
#ifndef CTS_COLLECTOR_ACCESS_FILE_H
#define CTS_COLLECTOR_ACCESS_FILE_H

#include "common/buffer.h"
#include "trace/acc-format.h"

struct cts_access_file {
    char *path;
    int fd;
    uint64_t size_bytes;      /* of the file header and the whole chunks */
    bool is_torn;             /* it may end with a part of a chunk */
    struct cts_buffer chunks; /* struct cts_acc_chunk, for the footer */
    size_t chunk_count;
};

/* Makes the file, which must not exist. CTS_IO. */
CTS_MUST_CHECK enum cts_status cts_access_file_create(struct cts_access_file *file,
                                                      const char *path, uint32_t rank,
                                                      uint32_t stream, struct cts_error *error);

/* Appends a chunk; on failure the file is as it was. */
CTS_MUST_CHECK enum cts_status cts_access_file_append(struct cts_access_file *file,
                                                      const void *bytes,
                                                      const struct cts_acc_chunk_header *header,
                                                      struct cts_error *error);

/* Writes the footer, unless `abandon` is set, and closes. The file is readable without. */
CTS_MUST_CHECK enum cts_status cts_access_file_close(struct cts_access_file *file, bool abandon,
                                                     struct cts_error *error);

#endif
