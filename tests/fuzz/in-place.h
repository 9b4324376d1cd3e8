/* Files of an input, written over those of the one before: the pages of a new file take longer to
 * make than to fill. */
#ifndef CTS_TESTS_IN_PLACE_H
#define CTS_TESTS_IN_PLACE_H

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>
#include <unistd.h>

/* The file holds `head` and then `bytes`, and no more. */
static inline bool write_in_place(const char *path, struct iovec head, struct iovec bytes)
{
    const struct iovec parts[] = {head, bytes};
    const size_t size = head.iov_len + bytes.iov_len;
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    const bool is_written =
        fd >= 0 && pwritev(fd, parts, 2, 0) == (ssize_t)size && !ftruncate(fd, (off_t)size);
    if (fd >= 0) close(fd);
    return is_written;
}

#endif
