/* Timelines made in memory, event by event, for tests of the path analysis; and several processes
 * of an analysis as threads of one. */
#ifndef CTS_TESTS_PATH_FIXTURE_H
#define CTS_TESTS_PATH_FIXTURE_H

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/path/path.h"

enum { TRACE_LOCATIONS_MAX = 256, TRACE_REGIONS_MAX = 64, TRACE_GROUPS_MAX = 64 };

struct trace_event {
    struct cts_timeline_event event;
    struct cts_event_attributes attributes;
};

struct trace {
    struct cts_timeline timeline;
    struct cts_timeline_location locations[TRACE_LOCATIONS_MAX];
    struct cts_timeline_group groups[TRACE_GROUPS_MAX];
    struct cts_timeline_region regions[TRACE_REGIONS_MAX];
    struct cts_timeline_communicator world, team;
    struct cts_timeline_communicator communicators[2 + TRACE_GROUPS_MAX];
    uint32_t world_ranks[TRACE_GROUPS_MAX], team_ranks[TRACE_LOCATIONS_MAX];
    struct cts_timeline_window window;
    struct {
        struct trace_event *items;
        size_t count, capacity;
    } events[TRACE_LOCATIONS_MAX];
};

static inline struct trace *trace_new(void)
{
    struct trace *const trace = calloc(1, sizeof *trace);
    assert_non_null(trace);
    trace->timeline.locations = trace->locations;
    trace->timeline.groups = trace->groups;
    trace->timeline.regions = trace->regions;
    trace->timeline.communicators = trace->communicators;
    trace->timeline.communicator_count = 2;
    trace->timeline.windows = &trace->window;
    trace->timeline.window_count = 1;
    trace->communicators[0] = (struct cts_timeline_communicator){.name = "MPI_COMM_WORLD",
                                                                 .paradigm = CTS_PARADIGM_MPI,
                                                                 .parent = CTS_TIMELINE_NONE,
                                                                 .ranks = trace->world_ranks};
    trace->communicators[1] = (struct cts_timeline_communicator){.name = "team",
                                                                 .paradigm = CTS_PARADIGM_OPENMP,
                                                                 .parent = CTS_TIMELINE_NONE,
                                                                 .ranks = trace->team_ranks};
    return trace;
}

static inline void trace_free(struct trace *trace)
{
    for (size_t i = 0; i < TRACE_LOCATIONS_MAX; i++) free(trace->events[i].items);
    free(trace);
}

static inline uint32_t trace_location(struct trace *trace, const char *name,
                                      enum cts_location_kind kind, uint32_t group)
{
    const uint32_t id = (uint32_t)trace->timeline.location_count++;
    assert_true(id < TRACE_LOCATIONS_MAX);
    trace->locations[id] = (struct cts_timeline_location){.reference = id,
                                                          .name = name,
                                                          .kind = kind,
                                                          .group = group,
                                                          .process = group,
                                                          .device = CTS_TIMELINE_NONE,
                                                          .stream = CTS_TIMELINE_NONE};
    return id;
}

/* A process; returns its master thread. */
static inline uint32_t trace_rank(struct trace *trace)
{
    const uint32_t group = (uint32_t)trace->timeline.group_count++;
    const uint32_t id = trace_location(trace, "Master thread", CTS_LOCATION_THREAD, group);
    trace->groups[group] = (struct cts_timeline_group){
        .name = "MPI Rank", .creator = CTS_TIMELINE_NONE, .rank = group, .master = id};
    trace->world_ranks[group] = id;
    trace->communicators[0].rank_count = group + 1;
    return id;
}

static inline uint32_t trace_stream(struct trace *trace, uint32_t master, uint32_t number)
{
    const uint32_t id =
        trace_location(trace, "CUDA[0:x]", CTS_LOCATION_STREAM, trace->locations[master].group);
    trace->locations[id].device = 0;
    trace->locations[id].stream = number;
    return id;
}

static inline uint32_t trace_region_of(struct trace *trace, const char *name,
                                       enum cts_paradigm paradigm, enum cts_region_role role)
{
    for (uint32_t i = 0; i < trace->timeline.region_count; i++)
        if (!strcmp(trace->regions[i].name, name) && trace->regions[i].paradigm == paradigm)
            return i;
    const uint32_t id = (uint32_t)trace->timeline.region_count++;
    assert_true(id < TRACE_REGIONS_MAX);
    trace->regions[id] =
        (struct cts_timeline_region){.name = name, .paradigm = paradigm, .role = role};
    return id;
}

/* By name: MPI_..., cu..., "!$omp ...barrier...", "!$omp
 * offloading overhead" (which has a barrier's role) and kernels ("...kernel") are known. */
static inline uint32_t trace_region(struct trace *trace, const char *name)
{
    if (!strncmp(name, "MPI_", 4))
        return trace_region_of(trace, name, CTS_PARADIGM_MPI, CTS_ROLE_FUNCTION);
    if (!strncmp(name, "cu", 2))
        return trace_region_of(trace, name, CTS_PARADIGM_CUDA, CTS_ROLE_WRAPPER);
    if (strstr(name, "kernel") || !strncmp(name, "nccl", 4))
        return trace_region_of(trace, name, CTS_PARADIGM_CUDA, CTS_ROLE_FUNCTION);
    if (strstr(name, "barrier") || strstr(name, "offloading overhead"))
        return trace_region_of(trace, name, CTS_PARADIGM_OPENMP, CTS_ROLE_IMPLICIT_BARRIER);
    return trace_region_of(trace, name, CTS_PARADIGM_USER, CTS_ROLE_FUNCTION);
}

static inline struct trace_event *trace_add(struct trace *trace, uint32_t location,
                                            uint64_t time_ns, enum cts_timeline_event_kind kind)
{
    if (trace->events[location].count == trace->events[location].capacity) {
        const size_t capacity = trace->events[location].capacity * 2 + 16;
        trace->events[location].items =
            realloc(trace->events[location].items, capacity * sizeof(struct trace_event));
        assert_non_null(trace->events[location].items);
        trace->events[location].capacity = capacity;
    }
    struct trace_event *const event =
        &trace->events[location].items[trace->events[location].count++];
    *event = (struct trace_event){.event = {.time_ns = time_ns, .kind = kind}};
    return event;
}

static inline void trace_set(struct trace_event *event, enum cts_attribute attribute,
                             uint64_t value)
{
    event->attributes.present |= 1u << attribute;
    event->attributes.values[attribute] = value;
}

static inline struct trace_event *trace_enter(struct trace *trace, uint32_t location,
                                              uint64_t time_ns, const char *region)
{
    struct trace_event *const event = trace_add(trace, location, time_ns, CTS_EVENT_ENTER);
    event->event.region = trace_region(trace, region);
    return event;
}

static inline struct trace_event *trace_leave(struct trace *trace, uint32_t location,
                                              uint64_t time_ns, const char *region)
{
    struct trace_event *const event = trace_add(trace, location, time_ns, CTS_EVENT_LEAVE);
    event->event.region = trace_region(trace, region);
    return event;
}

/* A call: enter and leave; the leave, for attributes. */
static inline struct trace_event *trace_call(struct trace *trace, uint32_t location,
                                             uint64_t begin_ns, uint64_t end_ns, const char *region)
{
    trace_enter(trace, location, begin_ns, region);
    return trace_leave(trace, location, end_ns, region);
}

static inline void trace_launch(struct trace *trace, uint32_t host, uint64_t begin_ns,
                                uint64_t end_ns, uint32_t stream)
{
    trace_set(trace_enter(trace, host, begin_ns, "cuLaunchKernel"), CTS_ATTRIBUTE_STREAM_REF,
              stream);
    trace_leave(trace, host, end_ns, "cuLaunchKernel");
}

static inline void trace_message(struct trace *trace, uint32_t location, uint64_t time_ns,
                                 enum cts_timeline_event_kind kind, uint32_t peer, uint32_t tag,
                                 uint64_t request)
{
    struct trace_event *const event = trace_add(trace, location, time_ns, kind);
    event->event.message.peer = peer;
    event->event.message.communicator = 0;
    event->event.message.tag = tag;
    event->event.message.request = request;
}

static inline void trace_send(struct trace *trace, uint32_t location, uint64_t begin_ns,
                              uint64_t end_ns, uint32_t peer, uint32_t tag)
{
    trace_enter(trace, location, begin_ns, "MPI_Send");
    trace_message(trace, location, begin_ns, CTS_EVENT_MPI_SEND, peer, tag, 0);
    trace_leave(trace, location, end_ns, "MPI_Send");
}

static inline void trace_receive(struct trace *trace, uint32_t location, uint64_t begin_ns,
                                 uint64_t end_ns, uint32_t peer, uint32_t tag)
{
    trace_enter(trace, location, begin_ns, "MPI_Recv");
    trace_message(trace, location, end_ns, CTS_EVENT_MPI_RECV, peer, tag, 0);
    trace_leave(trace, location, end_ns, "MPI_Recv");
}

/* Operations are numbered as OTF2 does: 0 barrier, 1 bcast, 11 allreduce, 12 reduce. */
static inline void trace_collective(struct trace *trace, uint32_t location, uint64_t begin_ns,
                                    uint64_t end_ns, uint32_t operation, uint32_t root)
{
    const char *const name = operation == 0    ? "MPI_Barrier"
                             : operation == 1  ? "MPI_Bcast"
                             : operation == 12 ? "MPI_Reduce"
                                               : "MPI_Allreduce";
    trace_enter(trace, location, begin_ns, name);
    trace_add(trace, location, begin_ns, CTS_EVENT_MPI_COLLECTIVE_BEGIN);
    struct trace_event *const event =
        trace_add(trace, location, end_ns, CTS_EVENT_MPI_COLLECTIVE_END);
    event->event.collective.operation = operation;
    event->event.collective.communicator = 0;
    event->event.collective.root = root;
    trace_leave(trace, location, end_ns, name);
}

/* The group of one rank: index in communicators. */
static inline uint32_t trace_group(struct trace *trace, uint32_t rank)
{
    for (uint32_t i = 2; i < trace->timeline.communicator_count; i++)
        if (trace->communicators[i].ranks == &trace->world_ranks[rank]) return i;
    const uint32_t id = (uint32_t)trace->timeline.communicator_count++;
    trace->communicators[id] =
        (struct cts_timeline_communicator){.name = "group",
                                           .paradigm = CTS_PARADIGM_MPI,
                                           .parent = CTS_TIMELINE_NONE,
                                           .ranks = &trace->world_ranks[rank],
                                           .rank_count = 1};
    return id;
}

/* MPI_Win_post, _start, _complete or _wait of window 0 with one other rank. */
static inline void trace_window(struct trace *trace, uint32_t location, uint64_t begin_ns,
                                uint64_t end_ns, const char *name, uint32_t rank)
{
    trace_enter(trace, location, begin_ns, name);
    struct trace_event *const event = trace_add(trace, location, end_ns, CTS_EVENT_RMA_GROUP_SYNC);
    event->event.rma.window = 0;
    event->event.rma.level = rank == CTS_TIMELINE_NONE ? rank : trace_group(trace, rank);
    trace_leave(trace, location, end_ns, name);
}

/* MPI_Win_lock (lock: 0 exclusive, 1 shared) and MPI_Win_unlock (2) of window 0. */
static inline void trace_lock(struct trace *trace, uint32_t location, uint64_t begin_ns,
                              uint64_t end_ns, unsigned lock, uint32_t rank)
{
    const char *const name = lock < 2 ? "MPI_Win_lock" : "MPI_Win_unlock";
    trace_enter(trace, location, begin_ns, name);
    struct trace_event *const event =
        trace_add(trace, location, end_ns,
                  lock < 2 ? CTS_EVENT_RMA_ACQUIRE_LOCK : CTS_EVENT_RMA_RELEASE_LOCK);
    event->event.rma.window = 0;
    event->event.rma.remote = rank;
    event->event.rma.operation = lock;
    trace_leave(trace, location, end_ns, name);
}

static inline enum cts_status trace_read(const void *state, uint32_t location,
                                         cts_timeline_visit visit, void *visit_state,
                                         struct cts_error *error)
{
    const struct trace *const trace = state;
    (void)error;
    for (size_t i = 0; i < trace->events[location].count; i++) {
        const struct trace_event *const event = &trace->events[location].items[i];
        if (!visit(visit_state, location, &event->event,
                   event->attributes.present ? &event->attributes : NULL))
            break;
    }
    return CTS_OK;
}

/* The events of one location one by one. */
struct trace_reader {
    const struct trace *trace;
    uint32_t location;
    size_t next;
};
static inline enum cts_status trace_open(const void *state, uint32_t location, void **reader,
                                         struct cts_error *error)
{
    struct trace_reader *const opened = calloc(1, sizeof *opened);
    (void)error;
    assert_non_null(opened);
    *opened = (struct trace_reader){state, location, 0};
    *reader = opened;
    return CTS_OK;
}
static inline bool trace_next(void *state, const struct cts_timeline_event **event,
                              const struct cts_event_attributes **attributes)
{
    struct trace_reader *const reader = state;
    if (reader->next == reader->trace->events[reader->location].count) return false;
    const struct trace_event *const item =
        &reader->trace->events[reader->location].items[reader->next++];
    *event = &item->event;
    *attributes = item->attributes.present ? &item->attributes : NULL;
    return true;
}

static inline enum cts_status trace_end(void *reader, struct cts_error *error)
{
    (void)reader, (void)error;
    return CTS_OK;
}

static inline struct cts_path_source trace_source(struct trace *trace)
{
    for (uint32_t i = 0; i < trace->timeline.location_count; i++)
        trace->locations[i].event_count = trace->events[i].count;
    return (struct cts_path_source){.timeline = &trace->timeline,
                                    .state = trace,
                                    .read = trace_read,
                                    .open = trace_open,
                                    .next = trace_next,
                                    .end = trace_end,
                                    .close = free};
}

/* ---- several processes as threads ---- */

struct fake_board {
    pthread_barrier_t barrier;
    unsigned count;
    const void *data[16];
    const size_t *sizes[16];
    uint64_t *values[16];
    uint64_t *result;
};
struct fake_process {
    struct fake_board *board;
    unsigned rank;
};

static inline void fake_close(void *state)
{
    (void)state;
}
static inline void fake_barrier(void *state)
{
    pthread_barrier_wait(&((struct fake_process *)state)->board->barrier);
}
static inline void fake_reduce(void *state, uint64_t *values, size_t count,
                               enum cts_reduction reduction)
{
    struct fake_process *const self = state;
    struct fake_board *const board = self->board;
    board->values[self->rank] = values;
    pthread_barrier_wait(&board->barrier);
    if (self->rank == 0) {
        board->result = malloc((count ? count : 1) * sizeof *values);
        for (size_t i = 0; i < count; i++) {
            uint64_t value = board->values[0][i];
            for (unsigned p = 1; p < board->count; p++) {
                const uint64_t other = board->values[p][i];
                if (reduction == CTS_REDUCE_SUM) value += other;
                if (reduction == CTS_REDUCE_MIN && other < value) value = other;
                if (reduction == CTS_REDUCE_MAX && other > value) value = other;
                if (reduction == CTS_REDUCE_OR) value |= other;
            }
            board->result[i] = value;
        }
    }
    pthread_barrier_wait(&board->barrier);
    if (count) memcpy(values, board->result, count * sizeof *values);
    pthread_barrier_wait(&board->barrier);
    if (self->rank == 0) free(board->result);
}
static inline void fake_broadcast(void *state, void *data, size_t size, unsigned root)
{
    struct fake_process *const self = state;
    self->board->data[self->rank] = data;
    pthread_barrier_wait(&self->board->barrier);
    if (self->rank != root) memcpy(data, self->board->data[root], size);
    pthread_barrier_wait(&self->board->barrier);
}
static inline void fake_all_gather(void *state, const void *mine, void *all, const size_t *sizes)
{
    struct fake_process *const self = state;
    self->board->data[self->rank] = mine;
    pthread_barrier_wait(&self->board->barrier);
    size_t at = 0;
    for (unsigned p = 0; p < self->board->count; p++) {
        if (sizes[p]) memcpy((char *)all + at, self->board->data[p], sizes[p]);
        at += sizes[p];
    }
    pthread_barrier_wait(&self->board->barrier);
}
static inline void fake_all_to_all(void *state, const void *send, const size_t *send_sizes,
                                   void *receive, const size_t *receive_sizes)
{
    struct fake_process *const self = state;
    self->board->data[self->rank] = send;
    self->board->sizes[self->rank] = send_sizes;
    pthread_barrier_wait(&self->board->barrier);
    size_t at = 0;
    for (unsigned p = 0; p < self->board->count; p++) {
        size_t from = 0;
        for (unsigned i = 0; i < self->rank; i++) from += self->board->sizes[p][i];
        if (receive_sizes[p])
            memcpy((char *)receive + at, (const char *)self->board->data[p] + from,
                   receive_sizes[p]);
        at += receive_sizes[p];
    }
    pthread_barrier_wait(&self->board->barrier);
}
static const struct cts_processes_operations fake_operations = {
    .version = CTS_PROCESSES_VERSION,
    .close = fake_close,
    .barrier = fake_barrier,
    .reduce_u64 = fake_reduce,
    .broadcast = fake_broadcast,
    .all_gather = fake_all_gather,
    .all_to_all = fake_all_to_all,
};

struct fake_run {
    struct fake_process process;
    struct cts_path_source source;
    struct cts_path_options options;
    struct cts_path result;
    struct cts_error error;
    enum cts_status status;
    pthread_t thread;
};

static inline void *fake_thread(void *state)
{
    struct fake_run *const run = state;
    const struct cts_processes processes = {.rank = run->process.rank,
                                            .count = run->process.board->count,
                                            .state = &run->process,
                                            .operations = &fake_operations};
    run->options.processes = &processes;
    run->status = cts_path_analyze(&run->source, &run->options, &run->result, &run->error);
    return NULL;
}

static inline void assert_same_result(const struct cts_path *a, const struct cts_path *b)
{
    assert_int_equal(a->path_ns, b->path_ns);
    assert_int_equal(a->wait_ns, b->wait_ns);
    assert_int_equal(a->blame_ns, b->blame_ns);
    assert_int_equal(a->event_count, b->event_count);
    assert_int_equal(a->path_jumps, b->path_jumps);
    assert_int_equal(a->path_crossings, b->path_crossings);
    assert_int_equal(a->row_count, b->row_count);
    for (size_t i = 0; i < a->row_count; i++)
        assert_memory_equal(&a->rows[i], &b->rows[i], sizeof a->rows[i]);
    assert_memory_equal(a->warnings, b->warnings, sizeof a->warnings);
    for (unsigned p = 0; p < CTS_PATH_PATTERN_COUNT; p++) {
        assert_int_equal(a->patterns[p].count, b->patterns[p].count);
        assert_int_equal(a->patterns[p].time_ns, b->patterns[p].time_ns);
        assert_int_equal(a->patterns[p].worst_count, b->patterns[p].worst_count);
        for (size_t i = 0; i < a->patterns[p].worst_count; i++) {
            const struct cts_path_instance *const x = &a->patterns[p].worst[i];
            const struct cts_path_instance *const y = &b->patterns[p].worst[i];
            assert_int_equal(x->begin_ns, y->begin_ns);
            assert_int_equal(x->end_ns, y->end_ns);
            assert_int_equal(x->location, y->location);
            assert_int_equal(x->culprit, y->culprit);
            assert_int_equal(x->blamed, y->blamed);
            assert_int_equal(x->blamed_region, y->blamed_region);
            assert_int_equal(x->blamed_ns, y->blamed_ns);
        }
    }
    assert_int_equal(a->process_count, b->process_count);
    for (uint64_t i = 0; i < a->process_count; i++) {
        assert_int_equal(a->ranks[i].delayed_ns, b->ranks[i].delayed_ns);
        assert_int_equal(a->ranks[i].waited_ns, b->ranks[i].waited_ns);
        assert_int_equal(a->ranks[i].longer_ns, b->ranks[i].longer_ns);
        assert_int_equal(a->ranks[i].longer_region, b->ranks[i].longer_region);
    }
    assert_int_equal(a->devices.count, b->devices.count);
    if (a->devices.count)
        assert_memory_equal(a->devices.items, b->devices.items,
                            a->devices.count * sizeof *a->devices.items);
    assert_int_equal(a->kept.segments.count, b->kept.segments.count);
    if (a->kept.segments.count)
        assert_memory_equal(a->kept.segments.items, b->kept.segments.items,
                            a->kept.segments.count * sizeof *a->kept.segments.items);
}

/* What each activity of this process's ranks has to answer for, if that was kept. */
static inline uint64_t kept_blame_ns(const struct cts_path *result)
{
    uint64_t sum_ns = 0;
    for (uint32_t l = 0; l < result->location_count && result->kept.blames; l++)
        for (size_t i = 0; i < result->kept.blames[l].count; i++)
            sum_ns += result->kept.blames[l].items[i].blame_ns;
    return sum_ns;
}

/* The same analysis by `count` processes gives the same result on each. */
static inline void assert_same_on_processes(const struct cts_path_source *source,
                                            const struct cts_path_options *options, unsigned count,
                                            const struct cts_path *expected)
{
    struct fake_board board = {.count = count};
    struct fake_run runs[16] = {0};
    pthread_barrier_init(&board.barrier, NULL, count);
    for (unsigned p = 0; p < count; p++) {
        runs[p].process = (struct fake_process){&board, p};
        runs[p].source = *source;
        runs[p].options = *options;
        pthread_create(&runs[p].thread, NULL, fake_thread, &runs[p]);
    }
    for (unsigned p = 0; p < count; p++) pthread_join(runs[p].thread, NULL);
    uint64_t blame_ns = 0;
    for (unsigned p = 0; p < count; p++) {
        if (runs[p].status) fail_msg("process %u: %s", p, runs[p].error.text);
        assert_same_result(expected, &runs[p].result);
        blame_ns += kept_blame_ns(&runs[p].result);
        cts_path_release(&runs[p].result);
    }
    if (options->keep_blames) assert_int_equal(blame_ns, expected->blame_ns);
    pthread_barrier_destroy(&board.barrier);
}

/* What every result must hold. */
static inline void assert_invariants(const struct cts_path *result)
{
    uint64_t path_ns = 0, blame_ns = 0, pattern_ns = 0;
    for (size_t i = 0; i < result->row_count; i++) {
        path_ns += result->rows[i].path_ns;
        blame_ns += result->rows[i].blame_ns;
    }
    for (unsigned p = 0; p < CTS_PATH_PATTERN_COUNT; p++) pattern_ns += result->patterns[p].time_ns;
    assert_int_equal(path_ns, result->part_end_ns - result->part_begin_ns);
    assert_int_equal(result->path_ns, path_ns);
    assert_int_equal(blame_ns, result->wait_ns);
    assert_int_equal(pattern_ns, result->wait_ns);
    assert_int_equal(result->blame_ns, result->wait_ns);
    uint64_t delayed_ns = 0, waited_ns = 0;
    for (uint64_t i = 0; i < result->process_count; i++) {
        delayed_ns += result->ranks[i].delayed_ns;
        waited_ns += result->ranks[i].waited_ns;
    }
    assert_int_equal(delayed_ns, waited_ns);
    assert_true(waited_ns <= result->wait_ns);
}

/* The analysis in stretches that are as short as can be gives the same; how many there were. Only
 * the copies that nothing ran beside are looked for within a stretch. */
static inline uint64_t assert_same_in_stretches(const struct cts_path_source *source,
                                                struct cts_path_options options,
                                                const struct cts_path *expected)
{
    struct cts_path whole = *expected, result;
    struct cts_error error;
    options.keep_segments = options.keep_blames = options.keep_waits = false;
    options.window_events = 1;
    whole.kept.segments.count = 0;
    if (cts_path_analyze(source, &options, &result, &error)) fail_msg("%s", error.text);
    for (size_t i = 0; i < result.devices.count && i < whole.devices.count; i++) {
        assert_true(result.devices.items[i].copy_missed_ns <=
                    whole.devices.items[i].copy_missed_ns);
        result.devices.items[i].copy_missed_ns = whole.devices.items[i].copy_missed_ns;
        result.devices.items[i].copy_missed_count = whole.devices.items[i].copy_missed_count;
    }
    assert_same_result(&whole, &result);
    assert_int_equal(whole.node_count, result.node_count);
    assert_int_equal(whole.init_ns, result.init_ns);
    assert_int_equal(whole.mpi_path_ns, result.mpi_path_ns);
    const uint64_t count = result.stretch_count;
    cts_path_release(&result);
    if (count < 2) return count;
    if (cts_path_analyze(source, &options, &result, &error)) fail_msg("%s", error.text);
    assert_same_on_processes(source, &options, 2, &result);
    assert_same_on_processes(source, &options, 4, &result);
    cts_path_release(&result);
    return count;
}

/* Analyses on one process, checks the invariants, and that 2 and 4 processes and other numbers of
 * threads agree. */
static inline void trace_analyze_whole(struct trace *trace, struct cts_path_options options,
                                       struct cts_path *result)
{
    const struct cts_path_source source = trace_source(trace);
    struct cts_error error;
    options.keep_segments = options.keep_blames = true;
    options.threads = 1;
    if (cts_path_analyze(&source, &options, result, &error)) fail_msg("%s", error.text);
    assert_invariants(result);
    assert_int_equal(kept_blame_ns(result), result->blame_ns);
    options.threads = 3;
    struct cts_path again;
    if (cts_path_analyze(&source, &options, &again, &error)) fail_msg("%s", error.text);
    assert_same_result(result, &again);
    cts_path_release(&again);
    assert_same_on_processes(&source, &options, 2, result);
    assert_same_on_processes(&source, &options, 4, result);
}

/* The same, and stretches agree. */
static inline void trace_analyze(struct trace *trace, struct cts_path_options options,
                                 struct cts_path *result)
{
    trace_analyze_whole(trace, options, result);
    const struct cts_path_source source = trace_source(trace);
    (void)assert_same_in_stretches(&source, options, result);
}

static inline void finish(struct trace *trace, struct cts_path *result)
{
    cts_path_release(result);
    trace_free(trace);
}

static inline void expect_warning(const struct cts_path *result, enum cts_path_warning warning,
                                  uint64_t count)
{
    if (result->warnings[warning] != count)
        fail_msg("%llu %s", (unsigned long long)result->warnings[warning],
                 cts_path_warning_texts[warning]);
}

static inline void expect_no_warnings(const struct cts_path *result)
{
    for (unsigned i = 0; i < CTS_PATH_WARNING_COUNT; i++)
        expect_warning(result, (enum cts_path_warning)i, 0);
}

static inline struct cts_path_row row_named(const struct cts_path *result, const char *name)
{
    for (size_t i = 0; i < result->row_count; i++)
        if (!strcmp(result->region_names[result->rows[i].region], name)) return result->rows[i];
    return (struct cts_path_row){0};
}

static inline void expect_pattern(const struct cts_path *result, enum cts_path_pattern pattern,
                                  uint64_t count, uint64_t time_ns)
{
    if (result->patterns[pattern].count != count || result->patterns[pattern].time_ns != time_ns)
        fail_msg("%s: %llu waits of %llu ns, not %llu of %llu", cts_path_pattern_names[pattern],
                 (unsigned long long)result->patterns[pattern].count,
                 (unsigned long long)result->patterns[pattern].time_ns, (unsigned long long)count,
                 (unsigned long long)time_ns);
}

static inline void expect_row(const struct cts_path *result, const char *name, uint64_t path_ns,
                              uint64_t blame_ns)
{
    const struct cts_path_row row = row_named(result, name);
    if (row.path_ns != path_ns || row.blame_ns != blame_ns)
        fail_msg("'%s': path %llu, blame %llu, not %llu, %llu", name,
                 (unsigned long long)row.path_ns, (unsigned long long)row.blame_ns,
                 (unsigned long long)path_ns, (unsigned long long)blame_ns);
}

#endif
