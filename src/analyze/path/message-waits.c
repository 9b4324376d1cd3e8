/* Point to point: the i-th send of a channel (communicator, source, destination, tag) meets the
 * i-th receive posted for it; so do the posts and completes of windows. Source and destination are
 * processes: where several threads of one send or receive, their calls count in the order of time.
 * Sends travel to the process that holds the receiver, where they are matched; what became of them
 * travels back. The rules say what waited. */
#include <stdlib.h>
#include <string.h>

#include "analyze/path/offer.h"
#include "analyze/path/steps.h"
#include "common/map.h"
#include "common/promise.h"

struct wire_send {
    uint64_t enter_ns;
    uint32_t call, source, communicator, tag, index;
    uint32_t target; /* home of the receiver */
};

struct wire_match {
    uint64_t post_ns;
    uint32_t source, index; /* whose send */
    uint32_t target, post;
};

static unsigned owner_of(const struct cts_path_graph *graph, uint32_t location)
{
    return graph->system->process_owner[graph->system->who[location].process];
}

static unsigned process_total(const struct cts_path_graph *graph)
{
    return graph->system->processes ? graph->system->processes->count : 1;
}

/* ---- matching at one receiving process ---- */

struct channel {
    uint32_t head, tail; /* positions in the sends, NONE */
};

struct matching {
    struct cts_path_graph *graph;
    struct wire_send *sends;    /* of all receivers here, grouped by their homes */
    size_t *first;              /* [location + 1] */
    struct wire_match *matches; /* per send; post NONE: unmatched */
    uint32_t *next;             /* per send */
};

struct channels { /* of a receiving process */
    struct cts_map pairs, tags;
    CTS_PATH_LIST(struct channel, list);
    uint64_t last_key[2];
    uint32_t last;
    uint64_t unmatched; /* receives that found no send */
};

static struct channel *channel_of(struct channels *channels, uint32_t source, uint32_t communicator,
                                  uint32_t tag, struct cts_error *error)
{
    const uint64_t key[2] = {(uint64_t)source << 32 | communicator, tag};
    if (channels->list.count && key[0] == channels->last_key[0] && key[1] == channels->last_key[1])
        return &channels->list.items[channels->last];
    uint64_t *const pair = cts_map_at(&channels->pairs, key[0], error);
    if (!pair) return NULL;
    if (!*pair) *pair = channels->pairs.count;
    uint64_t *const slot = cts_map_at(&channels->tags, *pair << 32 | tag, error);
    if (!slot) return NULL;
    if (!*slot) {
        if (CTS_ARRAY_RESERVE(&channels->list, channels->list.count + 1, error)) return NULL;
        channels->list.items[channels->list.count++] =
            (struct channel){CTS_PATH_NONE, CTS_PATH_NONE};
        *slot = channels->list.count;
    }
    memcpy(channels->last_key, key, sizeof key);
    channels->last = (uint32_t)*slot - 1;
    return &channels->list.items[channels->last];
}

/* A receive of a location meets the first send that is left in its channel. */
static enum cts_status take(struct matching *m, uint32_t id, const struct cts_path_receive *receive,
                            struct channels *channels, struct cts_error *error)
{
    if (receive->peer == CTS_PATH_NONE) return CTS_OK;
    struct cts_path_location *const at = &m->graph->locations[id];
    struct channel *const channel =
        channel_of(channels, cts_path_home(m->graph->system, receive->peer), receive->communicator,
                   receive->tag, error);
    if (!channel) return CTS_MEMORY;
    if (channel->head == CTS_PATH_NONE) {
        channels->unmatched++;
        return CTS_OK;
    }
    const size_t found = m->first[cts_path_home(m->graph->system, id)] + channel->head;
    channel->head = m->next[found];
    const struct wire_send *const send = &m->sends[found];
    m->matches[found].target = id;
    m->matches[found].post = receive->post;
    m->matches[found].post_ns = at->time_ns[receive->post];
    const struct cts_path_message message = {.graph = m->graph,
                                             .at = at,
                                             .receive = receive,
                                             .sent = {send->enter_ns, send->source, send->call},
                                             .window = send->communicator & CTS_PATH_WINDOW,
                                             .tag = send->tag};
    return CTS_PATH_OFFER(message, &message, error);
}

/* A receive of one of several threads. */
struct posted {
    uint64_t post_ns;
    uint32_t location, index;
};

static int by_post(const void *left, const void *right)
{
    const struct posted *const a = left, *const b = right;
    if (a->post_ns != b->post_ns) return a->post_ns < b->post_ns ? -1 : 1;
    if (a->location != b->location) return a->location < b->location ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static enum cts_status take_of_threads(struct matching *m, uint32_t process, size_t count,
                                       struct channels *channels, struct cts_error *error)
{
    const struct cts_path_graph *const graph = m->graph;
    struct posted *const posted = cts_array_zeroed(count, sizeof *posted, error);
    if (!posted) return CTS_MEMORY;
    size_t at = 0;
    for (uint32_t p = graph->system->process_first[process];
         p < graph->system->process_first[process + 1]; p++) {
        const uint32_t id = graph->system->by_process[p];
        const struct cts_path_raw *const raw = graph->locations[id].raw;
        for (size_t i = 0; raw && i < raw->receives.count; i++)
            posted[at++] = (struct posted){
                graph->locations[id].time_ns[raw->receives.items[i].post], id, (uint32_t)i};
    }
    qsort(posted, count, sizeof *posted, by_post);
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < count && !status; i++) {
        const uint32_t id = posted[i].location;
        status = take(m, id, &graph->locations[id].raw->receives.items[posted[i].index], channels,
                      error);
    }
    free(posted);
    return status;
}

/* All receives of a process. */
static enum cts_status take_all(struct matching *m, uint32_t process, struct channels *channels,
                                struct cts_error *error)
{
    struct cts_path_graph *const graph = m->graph;
    uint32_t threads = 0, last = CTS_PATH_NONE;
    size_t count = 0;
    for (uint32_t p = graph->system->process_first[process];
         p < graph->system->process_first[process + 1]; p++) {
        const struct cts_path_raw *const raw = graph->locations[graph->system->by_process[p]].raw;
        if (!raw || !raw->receives.count) continue;
        threads++;
        last = graph->system->by_process[p];
        count += raw->receives.count;
    }
    enum cts_status status = CTS_OK;
    if (threads > 1) status = take_of_threads(m, process, count, channels, error);
    for (size_t i = 0; threads == 1 && i < count && !status; i++)
        status = take(m, last, &graph->locations[last].raw->receives.items[i], channels, error);
    cts_path_warn(graph, CTS_PATH_WARNING_UNMATCHED_RECEIVE, channels->unmatched);
    return status;
}

static int by_source_and_time(const void *left, const void *right, void *state)
{
    const struct cts_path_graph *const graph = state;
    const struct wire_send *const a = left, *const b = right;
    const uint32_t a_home = cts_path_home(graph->system, a->source),
                   b_home = cts_path_home(graph->system, b->source);
    if (a_home != b_home) return a_home < b_home ? -1 : 1;
    if (a->enter_ns != b->enter_ns) return a->enter_ns < b->enter_ns ? -1 : 1;
    if (a->source != b->source) return a->source < b->source ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* Those of one process come thread by thread: several threads' are put in order. */
static void order_sends(const struct matching *m, struct wire_send *sends, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (sends[i].source != sends[i - 1].source &&
            cts_path_home(m->graph->system, sends[i].source) ==
                cts_path_home(m->graph->system, sends[i - 1].source)) {
            qsort_r(sends, count, sizeof *sends, by_source_and_time, m->graph);
            return;
        }
}

static enum cts_status match_process(void *state, size_t index, struct cts_error *error)
{
    struct matching *const m = state;
    const uint32_t process = (uint32_t)index;
    if (m->graph->system->process_first[process] == m->graph->system->process_first[process + 1])
        return CTS_OK;
    const uint32_t id = m->graph->system->by_process[m->graph->system->process_first[process]];
    if (!cts_path_is_mine(m->graph->system, id)) return CTS_OK;
    const size_t first = m->first[id], count = m->first[id + 1] - first;
    struct channels channels = {0};
    enum cts_status status = CTS_OK;
    order_sends(m, m->sends + first, count);
    for (size_t i = 0; i < count && !status; i++) {
        const struct wire_send *const send = &m->sends[first + i];
        m->next[first + i] = CTS_PATH_NONE;
        m->matches[first + i] = (struct wire_match){
            .source = send->source, .index = send->index, .target = id, .post = CTS_PATH_NONE};
        struct channel *const channel =
            channel_of(&channels, cts_path_home(m->graph->system, send->source), send->communicator,
                       send->tag, error);
        if (!channel)
            status = CTS_MEMORY;
        else if (channel->head == CTS_PATH_NONE)
            channel->head = channel->tail = (uint32_t)i;
        else
            channel->tail = m->next[first + channel->tail] = (uint32_t)i;
    }
    if (!status) status = take_all(m, process, &channels, error);
    free(channels.list.items);
    cts_map_release(&channels.pairs);
    cts_map_release(&channels.tags);
    return status;
}

/* ---- travelling ---- */

/* Sends of all locations here, packed by the process of the receiver. */
static struct wire_send *pack_sends(struct cts_path_graph *graph, size_t *sizes,
                                    struct cts_error *error)
{
    const unsigned total = process_total(graph);
    size_t *const at = cts_array_zeroed(total + 1, sizeof *at, error);
    if (!at) return NULL;
    for (uint32_t l = 0; l < graph->system->location_count; l++) {
        const struct cts_path_raw *const raw = graph->locations[l].raw;
        for (size_t i = 0; raw && i < raw->sends.count; i++)
            if (raw->sends.items[i].peer != CTS_PATH_NONE)
                at[owner_of(graph, raw->sends.items[i].peer) + 1]++;
    }
    for (unsigned i = 0; i < total; i++) {
        sizes[i] = at[i + 1] * sizeof(struct wire_send);
        at[i + 1] += at[i];
    }
    struct wire_send *const sends = cts_array_zeroed(at[total], sizeof *sends, error);
    for (uint32_t l = 0; sends && l < graph->system->location_count; l++) {
        const struct cts_path_location *const location = &graph->locations[l];
        for (size_t i = 0; location->raw && i < location->raw->sends.count; i++) {
            const struct cts_path_send *const send = &location->raw->sends.items[i];
            if (send->peer == CTS_PATH_NONE) continue;
            sends[at[owner_of(graph, send->peer)]++] =
                (struct wire_send){.enter_ns = location->time_ns[send->call],
                                   .call = send->call,
                                   .source = l,
                                   .target = cts_path_home(graph->system, send->peer),
                                   .communicator = send->communicator,
                                   .tag = send->tag,
                                   .index = (uint32_t)i};
        }
    }
    free(at);
    return sends;
}

/* Groups what came by receiver, keeping the order: senders came in the order of locations only
 * within a process, but a channel has one sender. */
static struct wire_send *group_sends(const struct cts_path_graph *graph,
                                     const struct wire_send *sends, size_t count, size_t *first,
                                     struct cts_error *error)
{
    CTS_ASSERT_EACH(i, count, sends[i].target < graph->system->location_count);
    for (size_t i = 0; i < count; i++) first[sends[i].target + 1]++;
    for (uint32_t l = 0; l < graph->system->location_count; l++) first[l + 1] += first[l];
    struct wire_send *const grouped = cts_array_zeroed(count, sizeof *grouped, error);
    if (!grouped) return NULL;
    for (size_t i = 0; i < count; i++) grouped[first[sends[i].target]++] = sends[i];
    for (uint32_t l = graph->system->location_count; l > 0; l--) first[l] = first[l - 1];
    first[0] = 0;
    return grouped;
}

static struct wire_match *pack_matches(const struct cts_path_graph *graph,
                                       const struct wire_match *matches, size_t count,
                                       size_t *sizes, struct cts_error *error)
{
    const unsigned total = process_total(graph);
    size_t *const at = cts_array_zeroed(total + 1, sizeof *at, error);
    struct wire_match *const packed = at ? cts_array_zeroed(count, sizeof *packed, error) : NULL;
    if (!packed) goto out;
    for (size_t i = 0; i < count; i++)
        if (matches[i].post != CTS_PATH_NONE) at[owner_of(graph, matches[i].source) + 1]++;
    for (unsigned i = 0; i < total; i++) {
        sizes[i] = at[i + 1] * sizeof *packed;
        at[i + 1] += at[i];
    }
    for (size_t i = 0; i < count; i++)
        if (matches[i].post != CTS_PATH_NONE)
            packed[at[owner_of(graph, matches[i].source)]++] = matches[i];
out:
    free(at);
    return packed;
}

/* A send whose receive was posted while it was under way may have waited for it. */
static enum cts_status settle_sends(struct cts_path_graph *graph, const struct wire_match *matches,
                                    size_t count, struct cts_error *error)
{
    CTS_ASSERT_EACH(i, count, matches[i].source < graph->system->location_count);
    for (size_t i = 0; i < count; i++) {
        const struct wire_match *const match = &matches[i];
        struct cts_path_location *const at = &graph->locations[match->source];
        const struct cts_path_send *const send = &at->raw->sends.items[match->index];
        if (send->done == CTS_PATH_NONE || match->post_ns <= at->time_ns[send->done] ||
            send->communicator & CTS_PATH_WINDOW)
            continue;
        const struct cts_path_answer answer = {
            .graph = graph,
            .at = at,
            .send = send,
            .posted = {match->post_ns, match->target, match->post}};
        const enum cts_status status = CTS_PATH_OFFER(answer, &answer, error);
        if (status) return status;
    }
    return CTS_OK;
}

static void drop_lists(struct cts_path_graph *graph)
{
    for (uint32_t l = 0; l < graph->system->location_count; l++) {
        struct cts_path_raw *const raw = graph->locations[l].raw;
        if (!raw) continue;
        free(raw->sends.items);
        free(raw->receives.items);
        raw->sends.items = NULL;
        raw->receives.items = NULL;
        raw->sends.count = raw->sends.capacity = raw->receives.count = raw->receives.capacity = 0;
    }
}

enum cts_status cts_path_match_messages(struct cts_path_graph *graph, struct cts_error *error)
{
    const unsigned total = process_total(graph);
    struct matching m = {.graph = graph};
    void *came = NULL;
    size_t *offsets = NULL;
    struct wire_send *grouped = NULL;
    struct wire_match *packed = NULL;
    size_t *const sizes = cts_array_zeroed(total, sizeof *sizes, error);
    struct wire_send *const sends = sizes ? pack_sends(graph, sizes, error) : NULL;
    enum cts_status status = sends ? CTS_OK : CTS_MEMORY;
    if (!status)
        status = cts_processes_all_to_all(graph->system->processes,
                                          (struct cts_sent_blocks){sends, sizes}, &came, &offsets,
                                          error);
    free(sends);
    if (status) goto out;
    const size_t count = offsets[total] / sizeof(struct wire_send);
    m.first = cts_array_zeroed((size_t)graph->system->location_count + 1, sizeof *m.first, error);
    m.matches = cts_array_zeroed(count, sizeof *m.matches, error);
    m.next = cts_array_zeroed(count, sizeof *m.next, error);
    grouped = m.first ? group_sends(graph, came, count, m.first, error) : NULL;
    free(came);
    free(offsets);
    came = NULL;
    offsets = NULL;
    if (!m.first || !m.matches || !m.next || !grouped) {
        status = CTS_MEMORY;
        goto out;
    }
    m.sends = grouped;
    status =
        cts_path_for_each(graph->system, graph->system->process_count, match_process, &m, error);
    free(grouped);
    grouped = NULL;
    if (status) goto out;
    uint64_t unmatched = 0;
    for (size_t i = 0; i < count; i++) unmatched += m.matches[i].post == CTS_PATH_NONE;
    cts_path_warn(graph, CTS_PATH_WARNING_UNMATCHED_SEND, unmatched);
    packed = pack_matches(graph, m.matches, count, sizes, error);
    free(m.matches);
    m.matches = NULL;
    if (!packed) {
        status = CTS_MEMORY;
        goto out;
    }
    status = cts_processes_all_to_all(
        graph->system->processes, (struct cts_sent_blocks){packed, sizes}, &came, &offsets, error);
    if (!status)
        status = settle_sends(graph, came, offsets[total] / sizeof(struct wire_match), error);
    drop_lists(graph);
out:
    free(came);
    free(offsets);
    free(grouped);
    free(packed);
    free(m.first);
    free(m.matches);
    free(m.next);
    free(sizes);
    return status;
}
