/* A device's room and the kernels that occupy it. The recording is measured and replayed with the
 * same code, so that both agree. */
#ifndef CTS_ANALYZE_PATH_WHATIF_ROOM_H
#define CTS_ANALYZE_PATH_WHATIF_ROOM_H

#include "analyze/path/whatif-plan.h"

struct cts_whatif_running {
    uint32_t kernel;
    uint32_t grant; /* of the room that it wants */
    uint32_t rate;  /* 0: not begun */
    bool begun;
    uint64_t done; /* work so far */
};

struct cts_whatif_room {
    uint32_t interference, overtaking; /* as struct cts_whatif_shared_device has them */
    uint64_t now_ns;
    uint64_t version; /* counts changes of rates */
    uint32_t free;
    CTS_PATH_LIST(struct cts_whatif_running, running); /* in the order of getting room */
    CTS_PATH_LIST(uint32_t, queue);                    /* kernels that wait for room */
};

/* Progress up to now. */
void cts_whatif_room_advance(struct cts_whatif_room *room, uint64_t now_ns);
/* Hands the room out anew: those that came first have what they want. */
void cts_whatif_room_grant(struct cts_whatif_room *room, const struct cts_whatif_plan *plan);
CTS_MUST_CHECK enum cts_status cts_whatif_room_admit(struct cts_whatif_room *room, uint32_t kernel,
                                                     bool begun, struct cts_error *error);
/* The running one that is this kernel; NULL. */
struct cts_whatif_running *cts_whatif_room_find(struct cts_whatif_room *room, uint32_t kernel);
void cts_whatif_room_remove(struct cts_whatif_room *room, size_t index);
bool cts_whatif_room_unqueue(struct cts_whatif_room *room, uint32_t kernel);
/* Empty again; the parameters stay. */
void cts_whatif_room_release(struct cts_whatif_room *room);

/* Events in the order of time, kind, id. Kernels that are ready at once come in the order in which
 * they began in the recording, which that of their indices is. */
enum cts_whatif_event_kind {
    CTS_WHATIF_DEVICE,  /* the next kernel of a device is done; id: device */
    CTS_WHATIF_TRIGGER, /* a queued kernel begins; id: kernel */
    CTS_WHATIF_BEGIN,   /* a kernel begins: in the recording */
    CTS_WHATIF_READY,   /* a kernel joins the queue if there is no room */
    CTS_WHATIF_ASK      /* a query; id: location */
};
struct cts_whatif_event {
    uint64_t time_ns;
    uint64_t version; /* DEVICE, TRIGGER: of the room's; outdated ones are left out */
    uint32_t kind, id;
};
struct cts_whatif_events { /* a heap */
    struct cts_whatif_event *items;
    size_t count, capacity;
};
CTS_MUST_CHECK enum cts_status cts_whatif_push(struct cts_whatif_events *events,
                                               struct cts_whatif_event event,
                                               struct cts_error *error);
struct cts_whatif_event cts_whatif_pop(struct cts_whatif_events *events);

#endif
