/* What the reader's and the writer's files share. */
#ifndef CTS_TRACE_TIMELINE_PRIVATE_H
#define CTS_TRACE_TIMELINE_PRIVATE_H

#include <otf2/otf2.h>
#include <stdlib.h>

#include "trace/timeline/timeline.h"

/* ---- references of an archive to indices of our arrays ---- */

/* Filled with cts_references_add(), then settled, then looked up. Small references (the rule) are
 * a table, others are searched for. */
struct cts_references {
    struct cts_reference {
        uint64_t reference;
        uint32_t index;
    } *entries;
    size_t count, capacity;
    uint32_t *table;
    uint64_t table_count;
};

bool cts_references_add(struct cts_references *references, uint64_t reference, uint32_t index);
bool cts_references_settle(struct cts_references *references); /* false: no memory */
void cts_references_release(struct cts_references *references);
uint32_t cts_references_search(const struct cts_references *references, uint64_t reference);

static inline uint32_t cts_references_find(const struct cts_references *references,
                                           uint64_t reference)
{
    if (reference < references->table_count) return references->table[reference];
    return cts_references_search(references, reference);
}

/* Room for one more item in an array that doubles; false: no memory, nothing changed. */
bool cts_timeline_grow(void **items, size_t count, size_t *capacity, size_t item_bytes);

/* ---- words ---- */

enum cts_paradigm cts_paradigm_of_otf2(OTF2_Paradigm paradigm);
OTF2_Paradigm cts_paradigm_to_otf2(enum cts_paradigm paradigm);
enum cts_region_role cts_role_of_otf2(OTF2_RegionRole role);
OTF2_RegionRole cts_role_to_otf2(enum cts_region_role role);

/* ---- shapes of launches (shapes.c) ---- */

enum { CTS_SHAPE_TEXT_MAX = 200 };
void cts_shape_describe(const struct cts_timeline_shape *shape, char *text, size_t text_bytes);
/* Of a description; false, and nothing changed: it is another one. */
bool cts_shape_parse(const char *text, struct cts_timeline_shape *shape);
/* An ENTER's attributes as the archive has them, where its region has a shape; and back. */
void cts_shape_leave_out(const struct cts_timeline_shape *shape,
                         struct cts_event_attributes *attributes);
void cts_shape_fill_in(const struct cts_timeline_shape *shape,
                       struct cts_event_attributes *attributes);

/* ---- errors ---- */

/* Makes the library tell us, not the terminal, what went wrong; the text is kept per thread. */
void cts_otf2_catch_errors(void);
/* `code`, or what was caught on this thread: where the library closes a file, it keeps to itself
 * that the rest of it could not be written. */
OTF2_ErrorCode cts_otf2_caught(OTF2_ErrorCode code);
/* Fails with what the library said first on this thread since cts_otf2_catch_errors(), or its text
 * for `code`; returns CTS_MEMORY or CTS_IO where that is what it met, else `status`. */
enum cts_status cts_otf2_fail(struct cts_error *error, enum cts_status status, OTF2_ErrorCode code,
                              const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Pthread locks for an archive that several threads read or write. */
/* Properties of an archive, each with a line on what it lacks: a prefix, then a number. */
#define CTS_OTF2_MISSING "CTASCOPE::MISSING_"

OTF2_ErrorCode cts_otf2_lock_reader(OTF2_Reader *reader);
OTF2_ErrorCode cts_otf2_lock_archive(OTF2_Archive *archive);

/* ---- reading ---- */

struct cts_timeline_private {
    OTF2_Reader *reader;
    OTF2_EvtReaderCallbacks *callbacks;
    char *anchor;    /* path of the anchor file */
    char *directory; /* of the local files: "PATH/traces" */
    char **strings;  /* everything that definitions point to */
    size_t string_count, string_capacity;
    size_t warning_capacity;
    struct cts_references locations, groups, regions, communicators, windows;
    struct cts_references communicator_groups; /* a group's reference to the communicator of it */
    struct cts_references attributes;          /* to enum cts_attribute */
    bool *has_clock_offsets;                   /* per location */
    struct cts_timeline_damage {
        _Atomic(char *) text; /* the first that any reading met; NULL: none */
        bool is_named;        /* in the timeline's gaps */
    } *damages;               /* per location */
    uint64_t location_count;  /* of these */
};

/* Keeps a copy of `text` as long as the timeline lives; NULL: no memory. */
const char *cts_timeline_keep(struct cts_timeline_private *private, const char *text);
void cts_timeline_warn(struct cts_timeline *timeline, uint64_t count, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Reads the global definitions into `timeline`, whose private data has an open reader. */
CTS_MUST_CHECK enum cts_status cts_timeline_read_definitions(struct cts_timeline *timeline,
                                                             struct cts_error *error);
/* A location's file of `kind` "def" or "evt": whether it is there, as a regular file; if not, what
 * it is: "missing" or "not a regular file". */
bool cts_timeline_has_local_file(const struct cts_timeline_private *private, uint64_t reference,
                                 const char *kind);
const char *cts_timeline_absence(const struct cts_timeline_private *private, uint64_t reference,
                                 const char *kind);
/* CTS_FORMAT when a location's events are in something that could be waited for without end, such
 * as a pipe: asked before the library opens it. */
CTS_MUST_CHECK enum cts_status cts_timeline_check_events(const struct cts_timeline_private *private,
                                                         uint64_t reference,
                                                         struct cts_error *error);
/* Keeps what reading a location's events met, for cts_timeline_name_damage(). Several threads may
 * do so at once. */
void cts_timeline_note_damage(const struct cts_timeline_private *private, uint32_t location,
                              const struct cts_error *error);
void cts_timeline_release_damages(struct cts_timeline_private *private);
/* The callbacks of all events, made once per archive; NULL: no memory. */
OTF2_EvtReaderCallbacks *cts_timeline_event_callbacks(void);

#endif
