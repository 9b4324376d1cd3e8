/* An archive as a source of events. */
#include "analyze/path/source.h"

#include "trace/timeline/reader.h"

static enum cts_status read_timeline(const void *state, uint32_t location, cts_timeline_visit visit,
                                     void *visit_state, struct cts_error *error)
{
    return cts_timeline_read(state, location, visit, visit_state, error);
}

static enum cts_status open_reader(const void *state, uint32_t location, void **reader,
                                   struct cts_error *error)
{
    struct cts_timeline_reader *opened = NULL;
    const enum cts_status status = cts_timeline_reader_open(state, location, &opened, error);
    *reader = opened;
    return status;
}

static bool next_event(void *reader, const struct cts_timeline_event **event,
                       const struct cts_event_attributes **attributes)
{
    return cts_timeline_reader_next(reader, event, attributes);
}

static enum cts_status end_of(void *reader, struct cts_error *error)
{
    return cts_timeline_reader_end(reader, error);
}

static void close_reader(void *reader)
{
    cts_timeline_reader_close(reader);
}

struct cts_path_source cts_path_source_of(const struct cts_timeline *timeline)
{
    return (struct cts_path_source){.timeline = timeline,
                                    .state = timeline,
                                    .read = read_timeline,
                                    .open = open_reader,
                                    .next = next_event,
                                    .end = end_of,
                                    .close = close_reader};
}

enum cts_status cts_path_source_read(const struct cts_path_source *source, uint32_t location,
                                     cts_timeline_visit visit, void *visit_state,
                                     struct cts_error *error)
{
    struct cts_error problem;
    const enum cts_status status =
        source->read(source->state, location, visit, visit_state, &problem);
    if (status != CTS_IO && status != CTS_MEMORY) return CTS_OK;
    return cts_fail(error, status, "%s", problem.text);
}
