/* Whether an archive is what it should be: times, nesting, references, and every message with both
 * of its ends. Sends and receives match in order per (communicator, sender, receiver, tag); what is
 * kept of each is its key and a time, 32 bytes. */
#include <stdlib.h>
#include <string.h>

#include "cli/run-timeline.h"
#include "common/array.h"
#include "common/hash.h"
#include "common/map.h"

/* One end of a message. */
struct end {
    uint32_t communicator, tag, sender, receiver; /* sender, receiver: processes' groups */
    uint64_t time_ns;                             /* send: of the ENTER; receive: of the record */
    uint64_t ordinal;
};
struct ends {
    struct end *items;
    size_t count, capacity;
};

struct checking {
    const struct cts_timeline *timeline;
    struct cts_timeline_check *check;
    struct ends sends, receives;
    struct {
        uint32_t *items;
        size_t count, capacity;
    } open;
    struct cts_map requests;
    uint64_t last_ns, enter_ns;
    bool no_memory;
};

static uint32_t process_of_rank(const struct checking *c, uint32_t communicator, uint32_t rank,
                                uint32_t self)
{
    const struct cts_timeline *const t = c->timeline;
    if (communicator >= t->communicator_count) return CTS_TIMELINE_NONE;
    const struct cts_timeline_communicator *const comm = &t->communicators[communicator];
    if (comm->self) return rank == 0 ? self : CTS_TIMELINE_NONE;
    const uint32_t *ranks = comm->ranks;
    uint32_t count = comm->rank_count;
    if (comm->remote_ranks) { /* peers are in the group that we are not in */
        bool mine = false;
        for (uint32_t i = 0; i < count && !mine; i++)
            mine = ranks[i] < t->location_count && t->locations[ranks[i]].process == self;
        if (mine) {
            ranks = comm->remote_ranks;
            count = comm->remote_count;
        }
    }
    if (rank >= count || ranks[rank] >= t->location_count) return CTS_TIMELINE_NONE;
    return t->locations[ranks[rank]].process;
}

static void add_end(struct checking *c, struct ends *ends, const struct cts_timeline_event *e,
                    uint32_t self, uint64_t time_ns)
{
    const bool is_send = ends == &c->sends;
    const uint32_t peer = process_of_rank(c, e->message.communicator, e->message.peer, self);
    if (peer == CTS_TIMELINE_NONE) {
        c->check->bad_references++;
        return;
    }
    if (CTS_ARRAY_RESERVE(ends, ends->count + 1, NULL)) {
        c->no_memory = true;
        return;
    }
    ends->items[ends->count] = (struct end){
        .communicator = e->message.communicator,
        .tag = e->message.tag,
        .sender = is_send ? self : peer,
        .receiver = is_send ? peer : self,
        .time_ns = time_ns,
        .ordinal = ends->count,
    };
    ends->count++;
}

/* What was begun less what was completed; threads of a process complete each other's. */
static void add_request(struct checking *c, uint32_t self, uint64_t request, int64_t amount)
{
    const uint64_t key = request ^ cts_hash(self + 1);
    uint64_t *const balance = cts_map_at(&c->requests, key, NULL);
    if (balance)
        *balance += (uint64_t)amount;
    else
        c->no_memory = true;
}

static void check_region(struct checking *c, const struct cts_timeline_event *e)
{
    if (e->region >= c->timeline->region_count) c->check->bad_references++;
    if (e->kind == CTS_EVENT_ENTER) {
        c->enter_ns = e->time_ns;
        if (CTS_ARRAY_RESERVE(&c->open, c->open.count + 1, NULL))
            c->no_memory = true;
        else
            c->open.items[c->open.count++] = e->region;
        return;
    }
    if (c->open.count && c->open.items[c->open.count - 1] == e->region)
        c->open.count--;
    else
        c->check->unmatched++;
}

static bool check_event(void *state, uint32_t location, const struct cts_timeline_event *e,
                        const struct cts_event_attributes *attributes)
{
    struct checking *const c = state;
    const uint32_t self = c->timeline->locations[location].process;
    (void)attributes;
    if (e->time_ns < c->last_ns) c->check->backwards++;
    c->last_ns = e->time_ns;
    switch (e->kind) {
    case CTS_EVENT_ENTER:
    case CTS_EVENT_LEAVE:
        check_region(c, e);
        break;
    case CTS_EVENT_MPI_ISEND:
        add_request(c, self, e->message.request, 1);
        add_end(c, &c->sends, e, self, c->enter_ns);
        break;
    case CTS_EVENT_MPI_SEND:
        add_end(c, &c->sends, e, self, c->enter_ns);
        break;
    case CTS_EVENT_MPI_IRECV:
        add_request(c, self, e->message.request, -1);
        add_end(c, &c->receives, e, self, e->time_ns);
        break;
    case CTS_EVENT_MPI_RECV:
        add_end(c, &c->receives, e, self, e->time_ns);
        break;
    case CTS_EVENT_MPI_IRECV_REQUEST:
        add_request(c, self, e->message.request, 1);
        break;
    case CTS_EVENT_MPI_ISEND_COMPLETE:
    case CTS_EVENT_MPI_REQUEST_CANCELLED:
        add_request(c, self, e->message.request, -1);
        break;
    case CTS_EVENT_NON_BLOCKING_COLLECTIVE_REQUEST:
        add_request(c, self, e->collective.request, 1);
        break;
    case CTS_EVENT_NON_BLOCKING_COLLECTIVE_COMPLETE:
        add_request(c, self, e->collective.request, -1);
        break;
    default:
        break;
    }
    return !c->no_memory;
}

static int compare_keys(const struct end *a, const struct end *b)
{
    if (a->communicator != b->communicator) return a->communicator < b->communicator ? -1 : 1;
    if (a->sender != b->sender) return a->sender < b->sender ? -1 : 1;
    if (a->receiver != b->receiver) return a->receiver < b->receiver ? -1 : 1;
    return a->tag < b->tag ? -1 : a->tag > b->tag;
}

static int compare_ends(const void *left, const void *right)
{
    const struct end *const a = left, *const b = right;
    const int order = compare_keys(a, b);
    if (order) return order;
    return a->ordinal < b->ordinal ? -1 : a->ordinal > b->ordinal;
}

static void match_messages(struct checking *c)
{
    size_t s = 0, r = 0;
    if (c->sends.count) qsort(c->sends.items, c->sends.count, sizeof *c->sends.items, compare_ends);
    if (c->receives.count)
        qsort(c->receives.items, c->receives.count, sizeof *c->receives.items, compare_ends);
    while (s < c->sends.count || r < c->receives.count) {
        const int order = s == c->sends.count ? 1
                          : r == c->receives.count
                              ? -1
                              : compare_keys(&c->sends.items[s], &c->receives.items[r]);
        if (order) {
            c->check->lost_messages++;
            s += order < 0;
            r += order > 0;
            continue;
        }
        c->check->messages++;
        c->check->early_receives += c->receives.items[r++].time_ns < c->sends.items[s++].time_ns;
    }
}

static void end_requests(struct checking *c)
{
    for (size_t i = 0; i < c->requests.capacity; i++)
        if (c->requests.used[i] && c->requests.entries[i].value) c->check->open_requests++;
    cts_map_release(&c->requests);
}

enum cts_status cts_cli_check_timeline(const struct cts_timeline *timeline,
                                       struct cts_timeline_check *check, struct cts_error *error)
{
    struct checking c = {.timeline = timeline, .check = check};
    enum cts_status status = CTS_OK;
    *check = (struct cts_timeline_check){0};
    for (uint32_t i = 0; i < timeline->location_count && !status; i++) {
        c.last_ns = c.enter_ns = 0;
        c.open.count = 0;
        status = cts_timeline_read(timeline, i, check_event, &c, error);
        check->unmatched += c.open.count;
    }
    end_requests(&c);
    if (!status && c.no_memory) status = cts_fail(error, CTS_MEMORY, "out of memory");
    if (!status) match_messages(&c);
    free(c.sends.items);
    free(c.receives.items);
    free(c.open.items);
    return status;
}
