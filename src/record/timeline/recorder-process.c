/* The process as the recorder sees it: opened by the environment, claims its rank in the run, keeps
 * the log of definitions, ends with the program, starts anew in a forked child.
 *
 * The rank is claimed through the run directory (trace/rank-claim.h), so that whoever records the
 * process's memory gets the same. */
#include "record/timeline/recorder-process.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/own-rights.h"
#include "common/private-files.h"
#include "common/proc.h"
#include "trace/failures.h"
#include "trace/rank-claim.h"

enum { RESERVE_WORDS = 160 }; /* of the definitions' segment, for messages when the disk is full */

struct cts_recorder_process cts_recorder_process = {.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void cts_recorder_hold(struct cts_recorder_hold *hold)
{
    sigset_t all;
    hold->errnum = errno;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &hold->signals);
    pthread_mutex_lock(&cts_recorder_process.lock);
}

void cts_recorder_release(const struct cts_recorder_hold *hold)
{
    pthread_mutex_unlock(&cts_recorder_process.lock);
    pthread_sigmask(SIG_SETMASK, &hold->signals, NULL);
    errno = hold->errnum;
}

/* ---- definitions ---- */

struct cts_definition *cts_definition_begin(void)
{
    struct cts_recorder_process *const p = &cts_recorder_process;
    if (p->making_count == CTS_DEFINITIONS_NESTED) abort(); /* our mistake */
    struct cts_definition *const definition = &p->making[p->making_count++];
    definition->count = 1;
    return definition;
}

void cts_definition_word(struct cts_definition *definition, uint64_t word)
{
    definition->words[definition->count++] = word;
}

void cts_definition_text(struct cts_definition *definition, const char *text)
{
    const uint32_t left = CTS_LOG_RECORD_WORDS_MAX - definition->count;
    if (!left) return;
    uint64_t *const at = definition->words + definition->count;
    if (!text) {
        *at = UINT32_MAX;
        definition->count++;
        return;
    }
    size_t bytes = strlen(text);
    if (bytes > CTS_LOG_TEXT_BYTES_MAX) bytes = CTS_LOG_TEXT_BYTES_MAX;
    if (bytes > (size_t)(left - 1) * 8) bytes = (size_t)(left - 1) * 8;
    const uint32_t words = (uint32_t)((bytes + 7) / 8);
    *at = bytes;
    memset(at + 1, 0, words * sizeof *at);
    memcpy(at + 1, text, bytes);
    definition->count += 1 + words;
}

static void append(const uint64_t *words, uint32_t count, uint32_t reserve)
{
    struct cts_log *const log = &cts_recorder_process.definitions;
    uint64_t *at = log->at;
    if (!at || (size_t)(log->end - at) < count + reserve) at = cts_recorder_room(log, count);
    if (!at) return;
    memcpy(at + 1, words + 1, (count - 1) * sizeof *at);
    cts_log_commit(log, at, words[0], count);
}

static void keep(const uint64_t *words, uint32_t count)
{
    struct cts_recorder_process *const p = &cts_recorder_process;
    if (p->kept_capacity - p->kept_count < count) {
        const size_t capacity = p->kept_capacity * 2 + count + 1024;
        uint64_t *const grown = realloc(p->kept, capacity * sizeof *grown);
        if (!grown) {
            cts_recorder_fail("no memory for what forked processes need to know; events from here "
                              "on are lost");
            return;
        }
        p->kept = grown;
        p->kept_capacity = capacity;
    }
    memcpy(p->kept + p->kept_count, words, count * sizeof *words);
    p->kept_count += count;
}

void cts_definition_write(struct cts_definition *definition, unsigned type, uint32_t high,
                          bool kept)
{
    definition->words[0] = cts_log_word(type, definition->count, false, high);
    const bool last_words =
        type == CTS_RECORD_MESSAGE || type == CTS_RECORD_LOST || type == CTS_RECORD_FINISH;
    if (kept) keep(definition->words, definition->count);
    append(definition->words, definition->count, last_words ? 0 : RESERVE_WORDS);
    cts_recorder_process.making_count--;
}

void cts_recorder_fail(const char *format, ...)
{
    struct cts_recorder_process *const p = &cts_recorder_process;
    struct cts_recorder_hold hold;
    cts_recorder_hold(&hold);
    int expected = CTS_ON;
    if (atomic_compare_exchange_strong(&p->state, &expected, CTS_OFF) || expected == CTS_UNOPENED) {
        char text[500];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
        if (!*p->failure) memcpy(p->failure, text, sizeof text);
        struct cts_definition *const message = cts_definition_begin();
        cts_definition_text(message, text);
        cts_definition_write(message, CTS_RECORD_MESSAGE, 2, false);
        atomic_store(&p->state, CTS_OFF);
    }
    cts_recorder_release(&hold);
}

uint64_t *cts_recorder_room(struct cts_log *log, uint32_t words)
{
    struct cts_error error;
    const bool on = atomic_load(&cts_recorder_process.state) == CTS_ON;
    if (on && !log->closed && words <= CTS_LOG_RECORD_WORDS_MAX) {
        if (!cts_log_next_segment(log, &error)) return log->at;
        /* The segment stays mapped: the definitions' one has room for what is said now. */
        cts_recorder_fail("%s; events from here on are lost", error.text);
    }
    atomic_fetch_add(&log->lost_count, 1);
    return NULL;
}

/* ---- opening ---- */

/* Makes rank-N/timeline. One that is there is of the program that this process was before an
 * exec(): then the process takes another rank. */
static enum cts_status make_directory(const char *run_path, struct cts_error *error)
{
    struct cts_recorder_process *const p = &cts_recorder_process;
    for (int attempt = 0; attempt < 2; attempt++) {
        uint32_t rank = 0;
        const enum cts_status status = cts_rank_claim(run_path, attempt > 0, &rank, error);
        if (status) return status;
        const int length =
            snprintf(p->directory, sizeof p->directory, "%s/rank-%u/timeline", run_path, rank);
        if (length < 0 || (size_t)length >= sizeof p->directory)
            return cts_fail(error, CTS_LIMIT, "the path '%.100s...' is too long", run_path);
        if (cts_make_directory(p->directory) == 0) return CTS_OK;
        if (errno != EEXIST) break;
    }
    return cts_fail_errno(error, errno, "cannot make '%s'", p->directory);
}

/* What needs a descriptor, in the thread that has its own. */
struct opening {
    const char *run_path;
    enum cts_status status;
    struct cts_error error;
    char boot[64], program[PATH_MAX], arguments[2048];
};

static void open_now(void *argument)
{
    struct opening *const opening = argument;
    opening->status = make_directory(opening->run_path, &opening->error);
    if (opening->status) return;
    const ssize_t length =
        readlink("/proc/self/exe", opening->program, sizeof opening->program - 1);
    opening->program[length < 0 ? 0 : length] = 0;
    cts_proc_text("/proc/sys/kernel/random/boot_id", opening->boot, sizeof opening->boot);
    cts_proc_text("/proc/self/cmdline", opening->arguments, sizeof opening->arguments);
}

static void describe_process(const struct opening *opening)
{
    struct cts_definition *const d = cts_definition_begin();
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    cts_definition_word(d, clock_ns(CLOCK_MONOTONIC));
    cts_definition_word(d, clock_ns(CLOCK_REALTIME));
    cts_definition_text(d, host);
    cts_definition_text(d, opening->boot);
    cts_definition_text(d, opening->program);
    cts_definition_text(d, opening->arguments);
    cts_definition_write(d, CTS_RECORD_PROCESS, (uint32_t)getpid(), false);
}

static bool open_process(void)
{
    struct cts_recorder_process *const p = &cts_recorder_process;
    const char *const wanted = getenv("CTASCOPE_TIMELINE");
    const char *const run_path = getenv("CTASCOPE_RUN");
    const char *const session = getenv("CTASCOPE_SESSION");
    const char *const limit = getenv("CTASCOPE_MAX_SIZE");
    if (!wanted || strcmp(wanted, "1") != 0 || !run_path || !session || !*session) return false;
    cts_private_files_begin();     /* and no end: logs are written until the process is gone */
    static struct opening opening; /* a thread of the program's may have a small stack */
    opening.run_path = run_path;
    cts_private_files_do(open_now, &opening);
    if (opening.status) {
        cts_failure_leave(run_path, CTS_FAILURE_TIMELINE, opening.error.text);
        return false;
    }
    p->process = getpid();
    p->failure[0] = 0;
    p->max_size_bytes = limit ? strtoull(limit, NULL, 10) : 0;
    p->log_count = p->refused_count = 0;
    atomic_store(&p->size_bytes, 0);
    p->definitions = (struct cts_log){0};
    atomic_store(&p->state, CTS_ON);
    if (cts_log_create(&p->definitions, CTS_LOG_DEFINITIONS, 0, &opening.error)) {
        cts_recorder_fail("%s; events from here on are lost", opening.error.text);
        cts_failure_leave(run_path, CTS_FAILURE_TIMELINE, p->failure);
        rmdir(p->directory);
        return false;
    }
    describe_process(&opening);
    for (size_t at = 0; at < p->kept_count;) {
        const uint32_t count = p->kept[at] >> 8 & 0xffff;
        append(p->kept + at, count, RESERVE_WORDS);
        at += count;
    }
    return atomic_load(&p->state) == CTS_ON;
}

enum cts_recorder_state cts_recorder_open(void)
{
    struct cts_recorder_process *const p = &cts_recorder_process;
    struct cts_recorder_hold hold;
    cts_recorder_hold(&hold);
    if (atomic_load(&p->state) == CTS_UNOPENED && !open_process()) atomic_store(&p->state, CTS_OFF);
    const int state = atomic_load(&p->state);
    cts_recorder_release(&hold);
    return (enum cts_recorder_state)state;
}
