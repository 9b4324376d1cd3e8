/* Events one by one: the library gives them in batches, which wait here until they are asked for.
 */
#include "trace/timeline/reader.h"

#include "trace/timeline/read-events.h"

enum { BATCH = 64 };

struct cts_timeline_reader {
    struct pass pass;
    OTF2_EvtReader *reader;
    struct cts_timeline_event events[BATCH];
    struct cts_event_attributes attributes[BATCH];
    bool has_attributes[BATCH];
    unsigned count, next;
    uint64_t read;
    bool ended;
    struct cts_error end; /* .status CTS_OK: at the end of the file */
};

static bool keep(void *state, uint32_t location, const struct cts_timeline_event *event,
                 const struct cts_event_attributes *attributes)
{
    struct cts_timeline_reader *const reader = state;
    (void)location;
    if (reader->count == BATCH) return false;
    reader->events[reader->count] = *event;
    reader->has_attributes[reader->count] = attributes != NULL;
    if (attributes) reader->attributes[reader->count] = *attributes;
    reader->count++;
    return true;
}

enum cts_status cts_timeline_reader_open(const struct cts_timeline *timeline, uint32_t location,
                                         struct cts_timeline_reader **opened,
                                         struct cts_error *error)
{
    const struct cts_timeline_private *const p = timeline->private_data;
    const struct cts_timeline_location *const l = &timeline->locations[location];
    *opened = NULL;
    struct cts_timeline_reader *const reader = calloc(1, sizeof *reader);
    if (!reader) return cts_fail(error, CTS_MEMORY, "out of memory");
    reader->pass = (struct pass){.timeline = timeline,
                                 .private = p,
                                 .global_offset = timeline->global_offset,
                                 .ticks_per_second = timeline->ticks_per_second,
                                 .location = location,
                                 .has_clock_offsets = p->has_clock_offsets[location],
                                 .visit = keep,
                                 .state = reader};
    *opened = reader;
    reader->ended = l->missing && !l->event_count;
    if (reader->ended) return CTS_OK;
    cts_otf2_catch_errors();
    OTF2_ErrorCode code = OTF2_SUCCESS;
    enum cts_status status = cts_timeline_check_events(p, l->reference, error);
    if (!status) reader->reader = OTF2_Reader_GetEvtReader(p->reader, l->reference);
    if (reader->reader)
        code = OTF2_Reader_RegisterEvtCallbacks(p->reader, reader->reader, p->callbacks,
                                                &reader->pass);
    if (reader->reader && !code) return CTS_OK;
    if (status)
        (void)cts_context(error, "cannot read '%s/%llu.evt'", p->directory,
                          (unsigned long long)l->reference);
    else
        status = cts_otf2_fail(error, CTS_FORMAT, code, "'%s/%llu.evt' cannot be opened",
                               p->directory, (unsigned long long)l->reference);
    cts_timeline_reader_close(reader);
    *opened = NULL;
    if (status == CTS_FORMAT) cts_timeline_note_damage(p, location, error);
    return status;
}

/* In the words of cts_timeline_read(). */
static void note_end(struct cts_timeline_reader *reader, OTF2_ErrorCode code)
{
    const struct pass *const pass = &reader->pass;
    const unsigned long long count = pass->timeline->locations[pass->location].event_count,
                             read = reader->read;
    if (pass->went_back)
        (void)cts_fail(&reader->end, CTS_FORMAT,
                       "event %llu of %llu is earlier than the one before it", read, count);
    else if (code)
        (void)cts_otf2_fail(&reader->end, CTS_FORMAT, code, "event %llu of %llu cannot be read",
                            read, count);
    else if (read < count)
        (void)cts_fail(&reader->end, CTS_FORMAT, "it ends after %llu of %llu events", read, count);
}

bool cts_timeline_reader_next(struct cts_timeline_reader *reader,
                              const struct cts_timeline_event **event,
                              const struct cts_event_attributes **attributes)
{
    if (reader->next == reader->count && !reader->ended) {
        uint64_t count = 0;
        reader->next = reader->count = 0;
        cts_otf2_catch_errors();
        const OTF2_ErrorCode code = OTF2_Reader_ReadLocalEvents(reader->pass.private->reader,
                                                                reader->reader, BATCH, &count);
        reader->read += reader->count;
        reader->ended = code || count < BATCH || reader->pass.went_back;
        if (reader->ended) note_end(reader, code);
    }
    if (reader->next == reader->count) return false;
    const unsigned at = reader->next++;
    *event = &reader->events[at];
    *attributes = reader->has_attributes[at] ? &reader->attributes[at] : NULL;
    return true;
}

enum cts_status cts_timeline_reader_end(const struct cts_timeline_reader *reader,
                                        struct cts_error *error)
{
    if (!reader->end.status) return CTS_OK;
    const struct pass *const pass = &reader->pass;
    const enum cts_status status = cts_fail(
        error, reader->end.status, "cannot read '%s/%llu.evt': %s", pass->private->directory,
        (unsigned long long)pass->timeline->locations[pass->location].reference, reader->end.text);
    if (status == CTS_FORMAT) cts_timeline_note_damage(pass->private, pass->location, error);
    return status;
}

void cts_timeline_reader_close(struct cts_timeline_reader *reader)
{
    if (reader->reader) OTF2_Reader_CloseEvtReader(reader->pass.private->reader, reader->reader);
    free(reader);
}
