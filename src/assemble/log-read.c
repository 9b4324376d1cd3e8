#include "assemble/log-read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "logs are little-endian");

/* Reads what the file holds of the segment that begins at `offset`. */
static enum cts_status load_segment(struct cts_log_reader *reader, uint64_t offset,
                                    struct cts_error *error)
{
    const size_t whole = cts_log_segment_end(offset) - offset;
    const size_t wanted = whole < reader->segment_bytes ? whole : reader->segment_bytes;
    uint8_t *const bytes = (uint8_t *)reader->segment;
    size_t have = 0;
    while (have < wanted) {
        const ssize_t got =
            pread(reader->file, bytes + have, wanted - have, (off_t)(offset + have));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return cts_fail_errno(error, errno, "cannot read '%s'", reader->path);
        if (got == 0) break;
        have += (size_t)got;
    }
    reader->offset = offset;
    reader->word_count = have / sizeof *reader->segment;
    reader->at = offset ? 0 : CTS_LOG_HEADER_BYTES / sizeof *reader->segment;
    return CTS_OK;
}

static enum cts_status read_header(struct cts_log_reader *reader, struct cts_error *error)
{
    const uint8_t *const bytes = (const uint8_t *)reader->segment;
    if (reader->word_count < reader->at || memcmp(bytes, CTS_LOG_MAGIC, 8) != 0)
        return cts_fail(error, CTS_FORMAT, "'%s' is not a timeline log", reader->path);
    uint32_t fields[7];
    memcpy(fields, bytes + 8, sizeof fields);
    if (fields[0] < CTS_LOG_DEFINITIONS || fields[0] > CTS_LOG_STREAM)
        return cts_fail(error, CTS_FORMAT, "'%s': byte 8: unknown kind %u", reader->path,
                        fields[0]);
    reader->header = (struct cts_log_header){
        .kind = (enum cts_log_kind)fields[0],
        .index = fields[1],
        .pid = fields[2],
        .tid = fields[3],
        .device = fields[4],
        .ordinal = fields[5],
        .flags = fields[6],
    };
    return CTS_OK;
}

enum cts_status cts_log_open(const char *path, struct cts_log_reader *reader,
                             struct cts_error *error)
{
    struct stat info;
    /* without O_NONBLOCK a pipe in its place would be waited for */
    *reader =
        (struct cts_log_reader){.file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
    if (reader->file < 0) return cts_fail_errno(error, errno, "cannot read '%s'", path);
    if (fstat(reader->file, &info) || !S_ISREG(info.st_mode)) {
        cts_log_reader_close(reader);
        return cts_fail(error, CTS_FORMAT, "'%s' is not a regular file", path);
    }
    reader->path = strdup(path);
    /* Most logs of many short processes are much shorter than a segment may be. */
    reader->segment_bytes = info.st_size < CTS_LOG_SEGMENT_BYTES - 8
                                ? (size_t)info.st_size / 8 * 8 + 8
                                : CTS_LOG_SEGMENT_BYTES;
    reader->segment = malloc(reader->segment_bytes);
    enum cts_status status = CTS_OK;
    if (!reader->path || !reader->segment) status = cts_fail(error, CTS_MEMORY, "out of memory");
    if (!status) status = load_segment(reader, 0, error);
    if (!status) status = read_header(reader, error);
    if (status) cts_log_reader_close(reader);
    return status;
}

void cts_log_reader_close(struct cts_log_reader *reader)
{
    if (reader->file >= 0) close(reader->file);
    free(reader->path);
    free(reader->segment);
    *reader = (struct cts_log_reader){.file = -1};
}

enum cts_status cts_log_rewind(struct cts_log_reader *reader, struct cts_error *error)
{
    return load_segment(reader, 0, error);
}

const uint64_t *cts_log_next(struct cts_log_reader *reader, uint32_t *count,
                             enum cts_status *status, struct cts_error *error)
{
    *status = CTS_OK;
    for (;;) {
        const uint64_t first = reader->at < reader->word_count ? reader->segment[reader->at] : 0;
        if (first) break;
        const uint64_t next = cts_log_segment_end(reader->offset);
        if (reader->word_count < (next - reader->offset) / sizeof first) return NULL;
        *status = load_segment(reader, next, error);
        if (*status || !reader->word_count || !reader->segment[0]) return NULL;
    }
    const uint64_t *const words = reader->segment + reader->at;
    const uint32_t type = words[0] & 0xff;
    *count = words[0] >> 8 & 0xffff;
    if (*count > reader->word_count - reader->at || !*count || type >= CTS_RECORD_TYPE_COUNT) {
        *status = cts_fail(error, CTS_FORMAT,
                           "'%s': record at byte %llu: invalid type %u with %u words", reader->path,
                           (unsigned long long)(reader->offset + reader->at * sizeof *words), type,
                           *count);
        return NULL;
    }
    reader->at += *count;
    return words;
}

bool cts_log_take_text(const uint64_t *words, uint32_t count, uint32_t *at, char **text)
{
    *text = NULL;
    if (*at >= count) return false;
    const uint64_t bytes = words[(*at)++];
    if (bytes == UINT32_MAX) return true;
    if (bytes > (uint64_t)(count - *at) * 8) return false;
    *text = strndup((const char *)(words + *at), bytes);
    *at += (uint32_t)((bytes + 7) / 8);
    return *text != NULL;
}
