#include "trace/log/log-file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/promise.h"

enum { BUFFER_BYTES = 1 << 16 };

enum cts_status cts_log_file_create(struct cts_log_file *log, const char *path,
                                    const struct cts_log_start *start, struct cts_error *error)
{
    uint8_t header[CTS_LOG_HEADER_BYTES] = {0};
    const uint32_t fields[] = {start->kind,   start->index,   start->pid,  start->tid,
                               start->device, start->ordinal, start->flags};
    memcpy(header, CTS_LOG_MAGIC, 8);
    memcpy(header + 8, fields, sizeof fields);
    *log = (struct cts_log_file){.path = strdup(path)};
    if (!log->path) return cts_fail(error, CTS_MEMORY, "no memory");
    log->file = fopen(path, "wxe");
    if (!log->file) {
        const enum cts_status status = cts_fail_errno(error, errno, "cannot make '%s'", path);
        free(log->path);
        *log = (struct cts_log_file){0};
        return status;
    }
    (void)setvbuf(log->file, NULL, _IOFBF, BUFFER_BYTES);
    fwrite(header, sizeof header, 1, log->file);
    log->offset = sizeof header;
    return CTS_OK;
}

/* Zeros up to the end of the segment. */
static void pad(struct cts_log_file *log, uint64_t end)
{
    static const uint8_t zeros[4096];
    while (log->offset < end) {
        const size_t part = end - log->offset < sizeof zeros ? end - log->offset : sizeof zeros;
        fwrite(zeros, part, 1, log->file);
        log->offset += part;
    }
}

void cts_log_file_write(struct cts_log_file *log, const uint64_t *words)
{
    const uint32_t count = words[0] >> 8 & 0xffff;
    assert(count && count <= CTS_LOG_RECORD_WORDS_MAX);
    const uint64_t bytes = count * sizeof *words, end = cts_log_segment_end(log->offset);
    if (bytes > end - log->offset) pad(log, end);
    fwrite(words, bytes, 1, log->file);
    log->offset += bytes;
}

enum cts_status cts_log_file_close(struct cts_log_file *log, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    if (!log->file) return CTS_OK;
    const bool failed = ferror(log->file) || fflush(log->file);
    if (failed) status = cts_fail_errno(error, errno ? errno : EIO, "cannot write '%s'", log->path);
    if (fclose(log->file) && !status)
        status = cts_fail_errno(error, errno, "cannot write '%s'", log->path);
    free(log->path);
    *log = (struct cts_log_file){0};
    return status;
}

uint32_t cts_log_put_text(uint64_t *words, uint32_t count, const char *text)
{
    if (!text) {
        words[count] = UINT32_MAX;
        return count + 1;
    }
    size_t bytes = strlen(text);
    if (bytes > CTS_LOG_TEXT_BYTES_MAX) {
        bytes = CTS_LOG_TEXT_BYTES_MAX;
        while (bytes && ((uint8_t)text[bytes] & 0xc0) == 0x80) bytes--; /* inside a character */
    }
    const uint32_t used = (uint32_t)((bytes + 7) / 8);
    words[count] = bytes;
    memset(words + count + 1, 0, used * sizeof *words);
    memcpy(words + count + 1, text, bytes);
    return count + 1 + used;
}
