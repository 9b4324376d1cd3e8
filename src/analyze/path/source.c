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

/* ---- for an asker ---- */

enum { LOOK_EVERY = 1 << 14 };

struct listening {
    const struct cts_asker *asker;
    cts_timeline_visit visit;
    void *state;
    uint32_t event_count; /* since the last look */
    bool is_over;
};

static bool listen_on(void *state, uint32_t location, const struct cts_timeline_event *event,
                      const struct cts_event_attributes *attributes)
{
    struct listening *const listening = state;
    if (++listening->event_count == LOOK_EVERY) {
        listening->event_count = 0;
        listening->is_over = cts_asker_is_gone(listening->asker);
        if (listening->is_over) return false;
    }
    return listening->visit(listening->state, location, event, attributes);
}

static enum cts_status read_asked(const void *state, uint32_t location, cts_timeline_visit visit,
                                  void *visit_state, struct cts_error *error)
{
    const struct cts_path_asked *const asked = state;
    struct listening listening = {.asker = asked->asker, .visit = visit, .state = visit_state};
    enum cts_status status = cts_asker_check(asked->asker, error);
    if (status) return status;
    status = asked->source.read(asked->source.state, location, listen_on, &listening, error);
    return listening.is_over ? cts_asker_check(asked->asker, error) : status;
}

static enum cts_status open_asked(const void *state, uint32_t location, void **reader,
                                  struct cts_error *error)
{
    const struct cts_path_asked *const asked = state;
    const enum cts_status status = cts_asker_check(asked->asker, error);
    return status ? status : asked->source.open(asked->source.state, location, reader, error);
}

struct cts_path_source cts_path_source_asked(const struct cts_path_asked *asked)
{
    struct cts_path_source source = asked->source;
    source.state = asked;
    source.read = read_asked;
    if (source.open) source.open = open_asked;
    return source;
}
