/* What the recorder's files share: the process and its logs. */
#ifndef CTS_RECORD_TIMELINE_PROCESS_H
#define CTS_RECORD_TIMELINE_PROCESS_H

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "trace/log/log-format.h"
#include "trace/mapped-file.h"
#include "record/timeline/recorder.h"

#define CTS_LIKELY(x) __builtin_expect(!!(x), 1)

/* The log of a location. `at` .. `end` is what is left of the mapped segment. A thread's log is
 * written by that thread alone; a stream's under its lock. Logs are never freed: others may hold
 * them. */
struct cts_log {
    uint64_t *at, *end;
    struct cts_mapped_file file; /* its window is the segment */
    bool busy; /* a record is being written: a signal handler's event is lost, not mixed in */
    bool closed;
    enum cts_log_kind kind;
    uint32_t index; /* K */
    _Atomic uint64_t lost_count;
    pthread_mutex_t lock; /* streams */
    struct cts_recorder_stream stream;
    bool destroyed;
    struct cts_log *next; /* of all logs of the process */
};

/* A definition while it is made. */
struct cts_definition {
    uint64_t words[CTS_LOG_RECORD_WORDS_MAX];
    uint32_t count;
};
enum { CTS_DEFINITIONS_NESTED = 3 }; /* one, and what is said when it cannot be written */

enum cts_recorder_state { CTS_UNOPENED, CTS_ON, CTS_OFF };

struct cts_recorder_process {
    _Atomic int state; /* enum cts_recorder_state */
    pid_t process;     /* that opened it; 0: none */
    char directory[PATH_MAX];
    uint64_t max_size_bytes;
    _Atomic uint64_t size_bytes; /* allocated by all logs */
    pthread_mutex_t lock;        /* of definitions, opening and all below */
    struct cts_log definitions;
    uint64_t *kept; /* definitions that a forked child needs as well */
    size_t kept_count, kept_capacity;
    uint32_t log_count, refused_count; /* logs made; locations that had to do without one */
    struct cts_log *_Atomic logs;
    struct cts_log *forgotten; /* of the process that forked this one: others may hold them */
    /* Too large for the stack of a thread of the program's. */
    char failure[500]; /* the first; empty: none */
    struct cts_definition making[CTS_DEFINITIONS_NESTED];
    unsigned making_count;
};
extern struct cts_recorder_process cts_recorder_process;

/* The process's lock. No handler of the program's runs in the thread that has it, which would find
 * everything half done; errno stays as it was. */
struct cts_recorder_hold {
    sigset_t signals;
    int errnum;
};
void cts_recorder_hold(struct cts_recorder_hold *hold);
void cts_recorder_release(const struct cts_recorder_hold *hold);

/* Opens the process's recording when the environment asks for it; the state then. */
enum cts_recorder_state cts_recorder_open(void);
/* Ends the recording: "error" `text` goes to the run's messages. */
void cts_recorder_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- a log's file (log-write.c), which knows nothing of what is written to it ---- */

/* A log with its first segment. Called with the process's lock held. */
CTS_MUST_CHECK enum cts_status cts_log_create(struct cts_log *log, enum cts_log_kind kind,
                                              uint32_t index, struct cts_error *error);
/* Maps the next segment in place of the one that is full, which stays where this fails. */
CTS_MUST_CHECK enum cts_status cts_log_next_segment(struct cts_log *log, struct cts_error *error);
/* Cuts the file to its length and lets go of it. */
void cts_log_close(struct cts_log *log);
/* In a forked child: what the parent's log maps is let go of, nothing is written to it again. */
void cts_log_forget(struct cts_log *log);

/* ---- records ---- */

/* Room for `words` in the next segment. Where there is none, the recording ends: NULL, and the
 * record counts as lost. */
uint64_t *cts_recorder_room(struct cts_log *log, uint32_t words);

static inline uint64_t *cts_log_room(struct cts_log *log, uint32_t words)
{
    if (CTS_LIKELY(log->at && (size_t)(log->end - log->at) >= words)) return log->at;
    return cts_recorder_room(log, words);
}

/* Stores word 0 last, so that a record is there whole or not at all. */
static inline void cts_log_commit(struct cts_log *log, uint64_t *at, uint64_t word, uint32_t words)
{
    __atomic_store_n(at, word, __ATOMIC_RELEASE);
    log->at = at + words;
}

/* Definitions, under the process's lock: begin one, add to it, write it. The first word is set when
 * it is written. */
struct cts_definition *cts_definition_begin(void);
void cts_definition_word(struct cts_definition *definition, uint64_t word);
void cts_definition_text(struct cts_definition *definition, const char *text);
/* Appends the definition; `kept`: forked children get it, too. */
void cts_definition_write(struct cts_definition *definition, unsigned type, uint32_t high,
                          bool kept);

#endif
