/* Reading one location: what load.c and the files that it calls share.
 *
 * A stack of open regions gives each node the activity that runs after it. With `scan` set nothing
 * is kept but what is counted: the same reading then finds where a long timeline can be cut. */
#ifndef CTS_ANALYZE_PATH_LOAD_H
#define CTS_ANALYZE_PATH_LOAD_H

#include "analyze/path/profile.h"
#include "analyze/path/raw.h"
#include "common/map.h"

enum { TEAM_DEPTH_MAX = 64 };

struct frame {
    uint64_t enter_ns, child_ns;
    uint64_t matching;     /* of a copy */
    uint64_t reference;    /* of an API call: event or correlation */
    uint64_t communicator; /* that a call names; 0: none */
    uint32_t node, region;
    uint32_t stream;
    uint32_t activity; /* on a device stream */
    bool copy, failed;
    bool parallel; /* a parallel region with an id */
};

struct team_frame {
    uint32_t team;
    uint32_t barriers;
};

/* The groups of the post and start that are open on a window: communicators, or NONE. */
struct epoch {
    uint32_t window, posted, started;
};

struct cts_path_scan;

struct load {
    const struct cts_path_system *system;
    const struct cts_path_who *who;
    struct cts_path_location *location; /* gets nodes and activities; of a scan: stays empty */
    struct cts_path_raw *raw;
    struct cts_path_scan *scan; /* NULL: keep what is read */
    uint32_t id;
    CTS_PATH_LIST(struct frame, stack);
    struct team_frame teams[TEAM_DEPTH_MAX];
    unsigned team_depth;
    uint32_t probe; /* enter node of the last probe that no receive has followed; NONE */
    struct cts_map requests;
    uint64_t request_count; /* open */
    CTS_PATH_LIST(struct epoch, epochs);
    uint32_t *open;                 /* per region: how often it is on the stack */
    struct cts_path_profile counts; /* of this location, without rank_ns */
    uint32_t last_call; /* enter node of the last call of the device's API that has ended */
    uint8_t last_api;
    bool has_call;
    uint64_t last_ns; /* of the last event */
    bool has_event;
    enum cts_status status;
    struct cts_error *error;
};

static inline struct frame *cts_load_top(struct load *load)
{
    return load->stack.count ? &load->stack.items[load->stack.count - 1] : NULL;
}

static inline uint32_t cts_load_top_node(struct load *load)
{
    const struct frame *const frame = cts_load_top(load);
    return frame ? frame->node : CTS_PATH_NONE;
}

/* Appends to a list of `raw`; false: no memory. A scan appends nothing. */
#define APPEND(load, list, ...)                                                                    \
    ((load)->scan ? true                                                                           \
     : CTS_ARRAY_RESERVE(&(load)->raw->list, (load)->raw->list.count + 1, (load)->error)           \
         ? ((load)->status = CTS_MEMORY, false)                                                    \
         : ((load)->raw->list.items[(load)->raw->list.count++] = __VA_ARGS__, true))

/* load-nodes.c: the stack, nodes, activities of streams */
bool cts_load_reserve(struct load *load, size_t needed);
struct frame *cts_load_enter(struct load *load, uint64_t time_ns, uint32_t region);
bool cts_load_leave(struct load *load, size_t index, uint64_t time_ns);
void cts_load_begin_activity(struct load *load, struct frame *frame,
                             const struct cts_event_attributes *attributes);
void cts_load_begin_copy(struct load *load, const struct cts_timeline_event *event,
                         uint64_t time_ns, const struct cts_event_attributes *attributes);
void cts_load_end_copy(struct load *load, const struct cts_timeline_event *event, uint64_t time_ns);

/* load-calls.c: regions entered and left, calls of the device's API, teams of threads */
void cts_load_on_enter(struct load *load, const struct cts_timeline_event *event, uint64_t time_ns,
                       const struct cts_event_attributes *attributes);
void cts_load_on_leave(struct load *load, const struct cts_timeline_event *event, uint64_t time_ns,
                       const struct cts_event_attributes *attributes);
bool cts_load_leave_top(struct load *load, uint64_t time_ns);
void cts_load_begin_team(struct load *load, uint64_t time_ns, uint64_t id, uint32_t communicator,
                         uint32_t node);
void cts_load_end_team(struct load *load, uint64_t time_ns);

/* load-messages.c: MPI's messages and collectives; load-windows.c: its windows */
void cts_load_message(struct load *load, const struct cts_timeline_event *event);
void cts_load_add_send(struct load *load, const struct cts_path_send *send);
void cts_load_add_receive(struct load *load, const struct cts_path_receive *receive);
void cts_load_add_member(struct load *load, const struct cts_path_member *member);
bool cts_load_is_own(const struct load *load, uint32_t communicator);
void cts_load_window(struct load *load, const struct cts_timeline_event *event);

/* load.c: all of it */
/* Reads all events of this process's locations: nodes and raw lists into `graph`, calls and times
 * into the profile. */
CTS_MUST_CHECK enum cts_status cts_path_load(const struct cts_path_reading *reading,
                                             struct cts_path_graph *graph, struct cts_error *error);
/* Without keeping anything: counts calls and times, and finds cuts (scan.c). */
CTS_MUST_CHECK enum cts_status cts_path_scan_location(const struct cts_path_reading *reading,
                                                      uint32_t id, struct cts_path_scan *scan,
                                                      struct cts_error *error);

#endif
