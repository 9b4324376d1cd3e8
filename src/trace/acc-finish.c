#include "trace/acc-finish.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/buffer.h"
#include "trace/acc-format.h"

static bool read_at(int fd, uint64_t offset, uint8_t *bytes, size_t byte_count)
{
    while (byte_count) {
        const ssize_t got = pread(fd, bytes, byte_count, (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        bytes += got;
        offset += (uint64_t)got;
        byte_count -= (size_t)got;
    }
    return true;
}

static bool write_at(int fd, uint64_t offset, const uint8_t *bytes, size_t byte_count)
{
    while (byte_count) {
        const ssize_t done = pwrite(fd, bytes, byte_count, (off_t)offset);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        bytes += done;
        offset += (uint64_t)done;
        byte_count -= (size_t)done;
    }
    return true;
}

/* The chunks up to the first zeros; false when something else ends them. */
static bool walk(int fd, uint64_t size_bytes, struct cts_buffer *chunks, uint64_t *end_bytes)
{
    uint64_t at = CTS_ACC_HEADER_BYTES;
    while (at < size_bytes) {
        uint8_t bytes[CTS_ACC_CHUNK_HEADER_BYTES] = {0};
        const uint64_t left = size_bytes - at;
        struct cts_acc_chunk_header header;
        if (!read_at(fd, at, bytes, left < sizeof bytes ? (size_t)left : sizeof bytes))
            return false;
        if (cts_get_u32(bytes) == 0) break;
        if (left < sizeof bytes || cts_acc_get_chunk_header(bytes, &header, NULL) ||
            header.size_bytes > left)
            return false;
        const struct cts_acc_chunk chunk = cts_acc_chunk_of(&header, at);
        if (cts_buffer_append(chunks, &chunk, sizeof chunk, NULL)) return false;
        at += header.size_bytes;
    }
    *end_bytes = at;
    return true;
}

static void finish(int fd, uint64_t size_bytes, struct cts_buffer *chunks,
                   struct cts_buffer *footer)
{
    uint64_t end_bytes;
    if (!walk(fd, size_bytes, chunks, &end_bytes)) return;
    const uint64_t count = chunks->size_bytes / sizeof(struct cts_acc_chunk);
    const size_t footer_bytes = (size_t)cts_acc_footer_bytes(count);
    if (cts_buffer_reserve(footer, footer_bytes, NULL)) return;
    cts_acc_put_footer(footer->data, (const struct cts_acc_chunk *)(const void *)chunks->data,
                       count, end_bytes);
    if (ftruncate(fd, (off_t)end_bytes) != 0) return;
    if (!write_at(fd, end_bytes, footer->data, footer_bytes))
        (void)!ftruncate(fd, (off_t)end_bytes);
}

void cts_acc_finish(const char *path)
{
    struct stat info;
    struct cts_acc_file_header header;
    uint8_t bytes[CTS_ACC_HEADER_BYTES], magic[4];
    struct cts_buffer chunks = {0}, footer = {0};
    const int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size >= CTS_ACC_HEADER_BYTES &&
        read_at(fd, 0, bytes, sizeof bytes) && !cts_acc_get_file_header(bytes, &header, NULL) &&
        read_at(fd, (uint64_t)info.st_size - 4, magic, sizeof magic) &&
        cts_get_u32(magic) != CTS_ACC_TRAILER_MAGIC)
        finish(fd, (uint64_t)info.st_size, &chunks, &footer);
    cts_buffer_release(&chunks);
    cts_buffer_release(&footer);
    close(fd);
}
