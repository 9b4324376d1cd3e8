/* What the callbacks of a location's events share (read-events.c). */
#ifndef CTS_TRACE_TIMELINE_READ_EVENTS_H
#define CTS_TRACE_TIMELINE_READ_EVENTS_H

#include <string.h>

#include "trace/timeline/timeline-private.h"

/* One reading of a location. */
struct pass {
    const struct cts_timeline *timeline;
    const struct cts_timeline_private *private;
    uint64_t global_offset, ticks_per_second;
    uint32_t location;
    cts_timeline_visit visit;
    void *state;
    bool stopped, went_back;
    bool has_clock_offsets;
    uint64_t last_ns;
    uint64_t before_offset; /* events before the global offset: given as time 0 */
    struct cts_timeline_event event;
    struct cts_event_attributes attributes;
};

enum { NS_PER_S = 1000000000 };

static inline uint64_t time_ns(struct pass *pass, OTF2_TimeStamp time)
{
    if (time < pass->global_offset) {
        pass->before_offset++;
        return 0;
    }
    const uint64_t ticks = time - pass->global_offset;
    if (pass->ticks_per_second == NS_PER_S) return ticks;
    const unsigned __int128 ns = (unsigned __int128)ticks * NS_PER_S / pass->ticks_per_second;
    return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

/* Those of the pass that we know; NULL: none. */
const struct cts_event_attributes *cts_gather_attributes(struct pass *pass,
                                                         const OTF2_AttributeList *list);

/* A launch's attributes with those that its kernel's region says. */
static inline const struct cts_event_attributes *
with_shape(struct pass *pass, const struct cts_event_attributes *attributes)
{
    const uint32_t region = pass->event.region;
    if (region >= pass->timeline->region_count) return attributes;
    const struct cts_timeline_shape *const shape = &pass->timeline->regions[region].shape;
    if (!shape->values[0]) return attributes;
    if (!attributes) pass->attributes.present = 0;
    cts_shape_fill_in(shape, &pass->attributes);
    return pass->attributes.present ? &pass->attributes : NULL;
}

static inline OTF2_CallbackCode give(struct pass *pass, enum cts_timeline_event_kind kind,
                                     OTF2_TimeStamp time, const OTF2_AttributeList *list)
{
    pass->event.kind = kind;
    pass->event.time_ns = time_ns(pass, time);
    if (__builtin_expect(pass->event.time_ns < pass->last_ns, 0)) {
        if (!pass->has_clock_offsets) {
            pass->went_back = true;
            return OTF2_CALLBACK_INTERRUPT;
        }
        pass->event.time_ns = pass->last_ns;
    }
    pass->last_ns = pass->event.time_ns;
    const struct cts_event_attributes *attributes =
        list && OTF2_AttributeList_GetNumberOfElements(list) ? cts_gather_attributes(pass, list)
                                                             : NULL;
    if (kind == CTS_EVENT_ENTER) attributes = with_shape(pass, attributes);
    if (pass->visit(pass->state, pass->location, &pass->event, attributes))
        return OTF2_CALLBACK_SUCCESS;
    pass->stopped = true;
    return OTF2_CALLBACK_INTERRUPT;
}

static inline uint32_t communicator(const struct pass *pass, OTF2_CommRef reference)
{
    return cts_references_find(&pass->private->communicators, reference);
}

static inline uint32_t window(const struct pass *pass, OTF2_RmaWinRef reference)
{
    return cts_references_find(&pass->private->windows, reference);
}

/* Root as a rank; what stands for none or self is NONE. */
static inline uint32_t root_rank(uint32_t root)
{
    return root >= OTF2_COLLECTIVE_ROOT_THIS_GROUP ? CTS_TIMELINE_NONE : root;
}

/* ---- a callback ---- */

#define EVENT(name, ...)                                                                           \
    static OTF2_CallbackCode on_##name(OTF2_LocationRef ref, OTF2_TimeStamp time,                  \
                                       uint64_t position, void *user, OTF2_AttributeList *list,    \
                                       ##__VA_ARGS__)
#define BEGIN                                                                                      \
    struct pass *const pass = user;                                                                \
    struct cts_timeline_event *const e = &pass->event;                                             \
    (void)ref, (void)position, (void)e

#define PLAIN(name, kind)                                                                          \
    EVENT(name)                                                                                    \
    {                                                                                              \
        BEGIN;                                                                                     \
        return give(pass, kind, time, list);                                                       \
    }

/* Each file sets its own. */
void cts_set_one_sided_callbacks(OTF2_EvtReaderCallbacks *callbacks);
void cts_set_thread_callbacks(OTF2_EvtReaderCallbacks *callbacks);
void cts_set_counted_callbacks(OTF2_EvtReaderCallbacks *callbacks);

#endif
