/* An event of a profiler's trace as importers give it to the rank that it belongs to
 * (profile-rank.h). The model is Kineto's: each member is named by its key there; other importers
 * fill the members that they have. Private to import/. */
#ifndef CTS_IMPORT_PROFILE_EVENT_H
#define CTS_IMPORT_PROFILE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

/* Times are in units of 10^-9 ns, so that sums of us with fractions are exact. */
enum { CTS_KINETO_US_SCALE = 12 };
#define CTS_PROFILE_UNITS_PER_NS 1000000000

/* Members of an event, and of its args: symbol, key, kind. A TEXT may be given as a number and the
 * other way; a TRIPLE is an array or a text with three numbers. */
#define CTS_PROFILE_FIELDS(X)                                                                      \
    X(PHASE, "ph", TEXT)                                                                           \
    X(CATEGORY, "cat", TEXT)                                                                       \
    X(NAME, "name", TEXT)                                                                          \
    X(PID, "pid", TEXT)                                                                            \
    X(TID, "tid", TEXT)                                                                            \
    X(START, "ts", TIME)                                                                           \
    X(DURATION, "dur", TIME)                                                                       \
    X(ARGS, "args", MAP)
#define CTS_PROFILE_ARGUMENTS(X)                                                                   \
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
    X(SEQUENCE, "Seq", NUMBER)                                                                     \
    X(SOURCE_RANK, "Src Rank", NUMBER)                                                             \
    X(TARGET_RANK, "Dst Rank", NUMBER)                                                             \
    X(ARGUMENT_NAME, "name", TEXT)

enum cts_profile_field {
#define X(symbol, key, kind) CTS_PROFILE_##symbol,
    CTS_PROFILE_FIELDS(X) CTS_PROFILE_ARGUMENTS(X)
#undef X
        CTS_PROFILE_FIELD_COUNT
};
enum { CTS_PROFILE_FIRST_ARGUMENT = CTS_PROFILE_ARGS + 1 };

struct cts_profile_event {
    uint32_t present; /* bit per enum cts_profile_field; what is absent reads as 0 or "" */
    struct cts_profile_value {
        __int128 time;      /* TIME */
        int64_t number;     /* NUMBER; of TRIPLE the numbers below */
        uint32_t triple[3]; /* TRIPLE */
        uint32_t text_at;   /* TEXT: in texts */
    } values[CTS_PROFILE_FIELD_COUNT];
    const char *texts; /* NUL-terminated each; not checked to be UTF-8 */
};

static inline bool cts_profile_has(const struct cts_profile_event *event,
                                   enum cts_profile_field field)
{
    return event->present >> field & 1;
}

static inline const char *cts_profile_text(const struct cts_profile_event *event,
                                           enum cts_profile_field field)
{
    return cts_profile_has(event, field) ? event->texts + event->values[field].text_at : "";
}

static inline int64_t cts_profile_number(const struct cts_profile_event *event,
                                         enum cts_profile_field field)
{
    return cts_profile_has(event, field) ? event->values[field].number : 0;
}

/* ---- the file ---- */

/* What the file says outside its events, and what was wrong with it. */
struct cts_profile_file {
    const char *program; /* what to call a process without a name */
    bool has_rank, has_base;
    int64_t rank, world_size, base_ns; /* world_size 0: not said; base_ns: times are from then */
    struct cts_profile_device {
        uint32_t number;
        char *name;
    } *devices;
    size_t device_count, device_capacity;
    bool has_events;         /* the list of events was found */
    bool is_cut;             /* the file ends before the JSON does */
    bool has_trailing;       /* something follows the JSON, and was not read */
    uint64_t bytes;          /* unpacked */
    uint64_t broken_values;  /* of a wrong kind, such as nan: taken as absent */
    uint64_t duplicate_keys; /* in an event: the last one counts */
    uint64_t damaged_events; /* that the JSON breaks off in; the cut one included */
    char damage[200];        /* the first of these, with its place; empty: none */
};

typedef enum cts_status cts_profile_take(void *state, const struct cts_profile_event *event,
                                         struct cts_error *error);

/* A device without a name, numbered by its place; NULL: no memory. */
struct cts_profile_device *cts_profile_file_add_device(struct cts_profile_file *file,
                                                       struct cts_error *error);
void cts_profile_file_release(struct cts_profile_file *file);

#endif
