/* Segments of a log: allocated on the disk, then mapped, one at a time, by the thread that opens
 * our files (common/private-files.h): a log takes no descriptor of the program's. */
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/timeline/recorder-process.h"

static bool log_path(const struct cts_log *log, char *path, size_t path_bytes)
{
    const char *const directory = cts_recorder_process.directory;
    const int length = log->kind == CTS_LOG_DEFINITIONS
                           ? snprintf(path, path_bytes, "%s/definitions.log", directory)
                           : snprintf(path, path_bytes, "%s/%u.log", directory, log->index);
    return length > 0 && (size_t)length < path_bytes;
}

/* Allocates [offset, its segment's end) and maps it. */
static enum cts_status map_segment(struct cts_log *log, uint64_t offset, struct cts_error *error)
{
    const uint64_t bytes = cts_log_segment_end(offset) - offset;
    const enum cts_status status = cts_mapped_file_map(&log->file, offset, bytes, error);
    if (status) return status;
    log->at = (uint64_t *)(void *)log->file.window;
    log->end = log->at + bytes / sizeof *log->at;
    return CTS_OK;
}

static enum cts_status take_size(uint64_t bytes, struct cts_error *error)
{
    struct cts_recorder_process *const p = &cts_recorder_process;
    const uint64_t before = atomic_fetch_add(&p->size_bytes, bytes);
    if (!p->max_size_bytes || before + bytes <= p->max_size_bytes) return CTS_OK;
    return cts_fail(error, CTS_LIMIT, "the timeline reached its size limit of %llu bytes",
                    (unsigned long long)p->max_size_bytes);
}

static void write_header(struct cts_log *log)
{
    uint8_t *const header = log->file.window;
    const uint32_t flags = (log->stream.null_stream ? CTS_LOG_NULL_STREAM : 0) |
                           (log->stream.non_blocking ? CTS_LOG_NON_BLOCKING : 0);
    const uint32_t fields[] = {log->kind,
                               log->index,
                               (uint32_t)getpid(),
                               (uint32_t)syscall(SYS_gettid),
                               log->stream.device,
                               log->stream.ordinal,
                               flags};
    memcpy(header + 8, fields, sizeof fields);
    memcpy(header, CTS_LOG_MAGIC, 8);
    log->at += CTS_LOG_HEADER_BYTES / sizeof *log->at;
}

enum cts_status cts_log_create(struct cts_log *log, enum cts_log_kind kind, uint32_t index,
                               struct cts_error *error)
{
    char path[PATH_MAX];
    log->kind = kind;
    log->index = index;
    enum cts_status status = take_size(CTS_LOG_FIRST_BYTES, error);
    if (status) return status;
    status = log_path(log, path, sizeof path)
                 ? cts_mapped_file_create(&log->file, path, 0, false, error)
                 : cts_fail(error, CTS_LIMIT, "cannot make '%s': the path is too long", path);
    if (!status && (status = map_segment(log, 0, error))) cts_mapped_file_discard(&log->file);
    if (status)
        log->closed = true;
    else
        write_header(log);
    return status;
}

enum cts_status cts_log_next_segment(struct cts_log *log, struct cts_error *error)
{
    const uint64_t offset = log->file.window_offset_bytes + log->file.window_bytes;
    const enum cts_status status = take_size(cts_log_segment_end(offset) - offset, error);
    return status ? status : map_segment(log, offset, error);
}

void cts_log_close(struct cts_log *log)
{
    struct cts_mapped_file *const file = &log->file;
    if (log->closed || !file->window) return;
    const uint64_t mapped_bytes = file->window_offset_bytes + file->window_bytes;
    const uint64_t length =
        file->window_offset_bytes + (uint64_t)((uint8_t *)log->at - file->window);
    file->size_bytes = length;
    log->closed = true;
    log->at = log->end = NULL;
    if (!cts_mapped_file_close(file, false, NULL))
        atomic_fetch_sub(&cts_recorder_process.size_bytes, mapped_bytes - length);
}

void cts_log_forget(struct cts_log *log)
{
    log->closed = true;
    log->at = log->end = NULL;
    (void)cts_mapped_file_close(&log->file, true, NULL);
}
