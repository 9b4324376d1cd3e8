/* The source of events for the path analysis: an archive, lists of a test, or a stretch. */
#ifndef CTS_ANALYZE_PATH_SOURCE_H
#define CTS_ANALYZE_PATH_SOURCE_H

#include "common/asker.h"
#include "trace/timeline/timeline.h"

struct cts_path_source {
    const struct cts_timeline *timeline; /* definitions; event_count of a location may be 0 */
    const void *state;
    /* As cts_timeline_read(); called by several threads at once, for different locations. */
    enum cts_status (*read)(const void *state, uint32_t location, cts_timeline_visit visit,
                            void *visit_state, struct cts_error *error);
    /* Event by event, for stretches; NULL: cannot. As cts_timeline_reader_...(). */
    enum cts_status (*open)(const void *state, uint32_t location, void **reader,
                            struct cts_error *error);
    bool (*next)(void *reader, const struct cts_timeline_event **event,
                 const struct cts_event_attributes **attributes);
    enum cts_status (*end)(void *reader, struct cts_error *error); /* after the last */
    void (*close)(void *reader);
};

/* Like source->read(), for callers that run after the analysis, which has already reported damage:
 * a damaged location ends at the damage without an error. CTS_IO, CTS_MEMORY: it could not be read.
 */
CTS_MUST_CHECK enum cts_status cts_path_source_read(const struct cts_path_source *source,
                                                    uint32_t location, cts_timeline_visit visit,
                                                    void *visit_state, struct cts_error *error);

/* Events for somebody who may go: reading a location then ends with CTS_IO. Event by event they are
 * read to their end. Must outlive the source that is made of it. */
struct cts_path_asked {
    struct cts_path_source source;
    const struct cts_asker *asker;
};
struct cts_path_source cts_path_source_asked(const struct cts_path_asked *asked);

/* The events of an opened archive, which must outlive the source. */
struct cts_path_source cts_path_source_of(const struct cts_timeline *timeline);

#endif
