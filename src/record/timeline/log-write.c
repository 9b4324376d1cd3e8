/* Segments of a log: allocated on the disk, then mapped, one at a time. A file is open only while
 * that happens: a program with many threads needs its file descriptors. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/timeline/process.h"

static bool log_path(const struct cts_log *log, char *path, size_t path_bytes)
{
    const char *const directory = cts_recorder_process.directory;
    const int length = log->kind == CTS_LOG_DEFINITIONS
                           ? snprintf(path, path_bytes, "%s/definitions.log", directory)
                           : snprintf(path, path_bytes, "%s/%u.log", directory, log->index);
    return length > 0 && (size_t)length < path_bytes;
}

static void unmap(struct cts_log *log)
{
    if (log->segment) munmap(log->segment, log->segment_bytes);
    log->segment = log->at = log->end = NULL;
}

/* Allocates [offset, its segment's end) and maps it. All pages are made writable at once:
 * populating a shared mapping only reads them, and then the first event on each page takes a fault
 * of some 3 us, inside of the call that it times. 0 or an errno value. */
static int map_segment(struct cts_log *log, int file, uint64_t offset)
{
    const uint64_t bytes = cts_log_segment_end(offset) - offset;
    const int errnum = posix_fallocate(file, (off_t)offset, (off_t)bytes);
    if (errnum) return errnum;
    void *const segment =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)offset);
    if (segment == MAP_FAILED) return errno;
    (void)madvise(segment, bytes, MADV_POPULATE_WRITE); /* before Linux 5.14: page by page */
    log->segment = segment;
    log->segment_offset = offset;
    log->segment_bytes = bytes;
    log->at = segment;
    log->end = log->at + bytes / sizeof *log->at;
    return 0;
}

static bool take_size(uint64_t bytes)
{
    struct cts_recorder_process *const p = &cts_recorder_process;
    const uint64_t before = atomic_fetch_add(&p->size_bytes, bytes);
    if (!p->max_size_bytes || before + bytes <= p->max_size_bytes) return true;
    cts_recorder_fail("the timeline reached its size limit of %llu bytes; events from here on are "
                      "lost",
                      (unsigned long long)p->max_size_bytes);
    return false;
}

static void write_header(struct cts_log *log)
{
    uint8_t *const header = (uint8_t *)log->segment;
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
    log->at = log->segment + CTS_LOG_HEADER_BYTES / sizeof *log->at;
}

/* What the program sees of us must be nothing: no cancellation inside, errno as it was. */
struct caller {
    int cancel_state, errnum;
};

static struct caller enter_slow(void)
{
    struct caller caller = {.errnum = errno};
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &caller.cancel_state);
    return caller;
}

static void leave_slow(struct caller caller)
{
    int ignored;
    pthread_setcancelstate(caller.cancel_state, &ignored);
    errno = caller.errnum;
}

bool cts_log_create(struct cts_log *log, enum cts_log_kind kind, uint32_t index)
{
    char path[PATH_MAX];
    log->kind = kind;
    log->index = index;
    if (!take_size(CTS_LOG_FIRST_BYTES)) return false;
    const struct caller caller = enter_slow();
    int problem = ENAMETOOLONG;
    if (log_path(log, path, sizeof path)) {
        const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        problem = file < 0 ? errno : map_segment(log, file, 0);
        if (file >= 0) close(file);
        if (!problem) write_header(log);
        if (problem && file >= 0) unlink(path);
    }
    if (problem) {
        char text[100];
        cts_recorder_fail("cannot make '%s': %s; events from here on are lost", path,
                          strerror_r(problem, text, sizeof text));
        log->closed = true;
    }
    leave_slow(caller);
    return !problem;
}

uint64_t *cts_log_next_segment(struct cts_log *log, uint32_t words)
{
    struct cts_recorder_process *const p = &cts_recorder_process;
    const bool on = atomic_load(&p->state) == CTS_ON;
    if (!on || log->closed || words > CTS_LOG_RECORD_WORDS_MAX) {
        atomic_fetch_add(&log->lost_count, 1);
        return NULL;
    }
    char path[PATH_MAX];
    const uint64_t offset = log->segment_offset + log->segment_bytes;
    if (!take_size(cts_log_segment_end(offset) - offset)) {
        atomic_fetch_add(&log->lost_count, 1);
        return NULL;
    }
    const struct caller caller = enter_slow();
    uint64_t *const before = log->segment;
    const uint64_t before_bytes = log->segment_bytes;
    int problem = ENAMETOOLONG;
    if (log_path(log, path, sizeof path)) {
        const int file = open(path, O_RDWR | O_CLOEXEC);
        problem = file < 0 ? errno : map_segment(log, file, offset);
        if (file >= 0) close(file);
    }
    if (problem) {
        char text[100];
        /* The segment stays mapped: the definitions' one has room for what is said now. */
        cts_recorder_fail("cannot write '%s': %s; events from here on are lost", path,
                          strerror_r(problem, text, sizeof text));
        atomic_fetch_add(&log->lost_count, 1);
    } else {
        munmap(before, before_bytes);
    }
    leave_slow(caller);
    return problem ? NULL : log->at;
}

void cts_log_close(struct cts_log *log)
{
    char path[PATH_MAX];
    if (log->closed || !log->segment) return;
    const struct caller caller = enter_slow();
    const uint64_t length =
        log->segment_offset + (uint64_t)((uint8_t *)log->at - (uint8_t *)log->segment);
    log->closed = true;
    unmap(log);
    if (log_path(log, path, sizeof path) && truncate(path, (off_t)length) == 0)
        atomic_fetch_sub(&cts_recorder_process.size_bytes,
                         log->segment_offset + log->segment_bytes - length);
    leave_slow(caller);
}

void cts_log_forget(struct cts_log *log)
{
    log->closed = true;
    unmap(log);
}
