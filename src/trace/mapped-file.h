/* A file that is written by storing into memory: what is stored is in the file however the process
 * ends, and no descriptor is open that the program could close, or take for its own.
 *
 * The file is mapped a window at a time. A window's disk space is allocated before it is mapped
 * (storing to a page that has no room on the disk would kill the program), and the file is opened
 * only for that, in the thread of common/private-files.h, and only if it is still the file that was
 * made. Behind what was committed there are zeros, until the file is closed. */
#ifndef CTS_TRACE_MAPPED_FILE_H
#define CTS_TRACE_MAPPED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct cts_mapped_file {
    char *path;
    uint64_t device, inode;
    uint64_t size_bytes; /* header and all that was committed */
    uint8_t *header;     /* mapped as long as the file is open; NULL: none */
    size_t header_bytes;
    uint8_t *window; /* NULL: none yet */
    uint64_t window_offset_bytes;
    size_t window_bytes;
    bool is_locked;   /* as long as the process lives */
    bool leaves_room; /* for others, on a disk that is nearly full */
};

/* Makes the file, which must not exist, with a header of header_bytes zeros (0, or a
 * multiple of 64 KiB). `lock`: the thread holds a shared lock (flock) on it until it ends. CTS_IO,
 * CTS_MEMORY. */
CTS_MUST_CHECK enum cts_status cts_mapped_file_create(struct cts_mapped_file *file,
                                                      const char *path, size_t header_bytes,
                                                      bool lock, struct cts_error *error);

/* Where the next `byte_count` bytes go; valid until the next call. After a failure the file is as
 * it was, and the next call tries again. */
CTS_MUST_CHECK enum cts_status cts_mapped_file_room(struct cts_mapped_file *file, size_t byte_count,
                                                    uint8_t **to, struct cts_error *error);
static inline void cts_mapped_file_commit(struct cts_mapped_file *file, size_t byte_count)
{
    file->size_bytes += byte_count;
}
/* How many bytes there is room for without asking the system. */
static inline uint64_t cts_mapped_file_left(const struct cts_mapped_file *file)
{
    return file->window ? file->window_offset_bytes + file->window_bytes - file->size_bytes : 0;
}

/* For files whose parts have sizes of their own: `byte_count` bytes from `offset_bytes` (a multiple
 * of 64 KiB) take the place of the window, all of their pages writable without a fault. After a
 * failure the window is as it was. Whoever maps so sets `size_bytes` before the file is closed. */
CTS_MUST_CHECK enum cts_status cts_mapped_file_map(struct cts_mapped_file *file,
                                                   uint64_t offset_bytes, size_t byte_count,
                                                   struct cts_error *error);

/* Removes a file that nothing was committed to, and frees. */
void cts_mapped_file_discard(struct cts_mapped_file *file);

/* Cuts what was not committed, and frees. `abandon`: frees only; for a child after fork(). */
enum cts_status cts_mapped_file_close(struct cts_mapped_file *file, bool abandon,
                                      struct cts_error *error);

#endif
