/* The events of a Kineto trace (JSON of PyTorch's profiler), one after the other, as they stand in
 * the file. Nothing but the event at hand is kept. Private to import/. */
#ifndef CTS_IMPORT_KINETO_READ_H
#define CTS_IMPORT_KINETO_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

/* ---- numbers ---- */

/* A decimal number times 10^scale, exactly down to a unit of the result, below which it is cut.
 * False: it is no number, or too large. */
bool cts_kineto_decimal(const char *text, size_t length, int scale, __int128 *value);

/* Times are in units of 10^-9 ns, so that sums of us with fractions are exact. */
enum { CTS_KINETO_US_SCALE = 12 };
#define CTS_KINETO_UNITS_PER_NS 1000000000

/* ---- events ---- */

/* Members of an event, and of its args: symbol, key, kind. A TEXT may be given as a number and the
 * other way; a TRIPLE is an array or a text with three numbers. */
#define CTS_KINETO_FIELDS(X)                                                                       \
    X(PHASE, "ph", TEXT)                                                                           \
    X(CATEGORY, "cat", TEXT)                                                                       \
    X(NAME, "name", TEXT)                                                                          \
    X(PID, "pid", TEXT)                                                                            \
    X(TID, "tid", TEXT)                                                                            \
    X(START, "ts", TIME)                                                                           \
    X(DURATION, "dur", TIME)                                                                       \
    X(ARGS, "args", MAP)
#define CTS_KINETO_ARGUMENTS(X)                                                                    \
    X(CORRELATION, "correlation", NUMBER)                                                          \
    X(STREAM, "stream", NUMBER)                                                                    \
    X(DEVICE, "device", NUMBER)                                                                    \
    X(BYTES, "bytes", NUMBER)                                                                      \
    X(REGISTERS, "registers per thread", NUMBER)                                                   \
    X(SHARED, "shared memory", NUMBER)                                                             \
    X(GRID, "grid", TRIPLE)                                                                        \
    X(BLOCK, "block", TRIPLE)                                                                      \
    X(WAIT_STREAM, "wait_on_stream", NUMBER)                                                       \
    X(WAIT_RECORD, "wait_on_cuda_event_record_corr_id", NUMBER)                                    \
    X(COLLECTIVE, "Collective name", TEXT)                                                         \
    X(IN_ELEMENTS, "In msg nelems", NUMBER)                                                        \
    X(OUT_ELEMENTS, "Out msg nelems", NUMBER)                                                      \
    X(GROUP_SIZE, "Group size", NUMBER)                                                            \
    X(DTYPE, "dtype", TEXT)                                                                        \
    X(GROUP_NAME, "Process Group Name", TEXT)                                                      \
    X(GROUP_RANKS, "Process Group Ranks", TEXT)                                                    \
    X(ARGUMENT_NAME, "name", TEXT)

enum cts_kineto_field {
#define X(symbol, key, kind) CTS_KINETO_##symbol,
    CTS_KINETO_FIELDS(X) CTS_KINETO_ARGUMENTS(X)
#undef X
        CTS_KINETO_FIELD_COUNT
};
enum { CTS_KINETO_FIRST_ARGUMENT = CTS_KINETO_ARGS + 1 };

struct cts_kineto_event {
    uint32_t present; /* bit per enum cts_kineto_field; what is absent reads as 0 or "" */
    struct cts_kineto_value {
        __int128 time;      /* TIME */
        int64_t number;     /* NUMBER; of TRIPLE the numbers below */
        uint32_t triple[3]; /* TRIPLE */
        uint32_t text_at;   /* TEXT: in texts */
    } values[CTS_KINETO_FIELD_COUNT];
    const char *texts; /* NUL-terminated each; not checked to be UTF-8 */
};

static inline bool cts_kineto_has(const struct cts_kineto_event *event, enum cts_kineto_field field)
{
    return event->present >> field & 1;
}

static inline const char *cts_kineto_text(const struct cts_kineto_event *event,
                                          enum cts_kineto_field field)
{
    return cts_kineto_has(event, field) ? event->texts + event->values[field].text_at : "";
}

static inline int64_t cts_kineto_number(const struct cts_kineto_event *event,
                                        enum cts_kineto_field field)
{
    return cts_kineto_has(event, field) ? event->values[field].number : 0;
}

/* ---- the file ---- */

/* What the file says outside its events, and what was wrong with it. */
struct cts_kineto_file {
    bool has_rank, has_base;
    int64_t rank, world_size, base_ns; /* world_size 0: not said; base_ns: times are from then */
    struct cts_kineto_device {
        uint32_t number;
        char *name;
    } *devices;
    size_t device_count, device_capacity;
    bool has_events;         /* the list of events was found */
    bool is_cut;             /* the file ends before the JSON does */
    bool has_trailing;       /* something follows the JSON, and was not read */
    uint64_t bytes;          /* unpacked */
    uint64_t broken_values;  /* that are no JSON, such as nan: taken as absent */
    uint64_t duplicate_keys; /* in an event: the last one counts */
    uint64_t damaged_events; /* that the JSON breaks off in; the cut one included */
    char damage[200];        /* the first of these, with its place; empty: none */
};

typedef enum cts_status cts_kineto_take(void *state, const struct cts_kineto_event *event,
                                        struct cts_error *error);

/* Reads what can be read and gives each event to `take`. CTS_FORMAT: there is no event to be found;
 * CTS_IO, CTS_MEMORY, or what `take` returned. `file` is to be released in any case. */
CTS_MUST_CHECK enum cts_status cts_kineto_read(const char *path, struct cts_kineto_file *file,
                                               cts_kineto_take *take, void *state,
                                               struct cts_error *error);
void cts_kineto_file_release(struct cts_kineto_file *file);

/* Whether the file's beginning looks like such a trace, or the directory holds one; CTS_IO,
 * CTS_MEMORY: it could not be read. */
CTS_MUST_CHECK enum cts_status cts_kineto_is_trace(const char *path, bool *is_own,
                                                   struct cts_error *error);

#endif
