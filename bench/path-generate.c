/* Writes a timeline such as Score-P makes, of any size, for path-bench.
 *
 *     path-generate MODE EVENTS RANKS DIRECTORY
 *
 * Every rank has a host thread and two device streams and repeats one iteration until there are
 * about EVENTS events in all:
 *   drain     launches on both streams, synchronisation with the device, MPI_Allreduce
 *   across    the same, but kernels are never waited for at the collective: the host synchronises
 *             by events of the iteration before, a kernel runs across every collective
 *   free      launches and stream synchronisations, no MPI between MPI_Init and MPI_Finalize
 *   messages  a ring of MPI_Irecv, MPI_Isend, MPI_Waitall around a kernel and a blocking copy
 * Durations vary by a fixed pseudo-random sequence, so that two runs write the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/timeline/timeline.h"

enum { STREAMS = 2, PER_RANK = 1 + STREAMS };
enum region {
    MAIN,
    INIT,
    FINALIZE,
    COMPUTE,
    LAUNCH,
    SYNC_CTX,
    SYNC_STREAM,
    SYNC_EVENT,
    RECORD,
    ALLREDUCE,
    IRECV,
    ISEND,
    WAITALL,
    COPY,
    KERNEL_A,
    KERNEL_B,
    REGION_COUNT
};
static struct {
    const char *name;
    enum cts_paradigm paradigm;
} regions[REGION_COUNT] = {
    [MAIN] = {"main", CTS_PARADIGM_USER},
    [INIT] = {"MPI_Init", CTS_PARADIGM_MPI},
    [FINALIZE] = {"MPI_Finalize", CTS_PARADIGM_MPI},
    [COMPUTE] = {"compute", CTS_PARADIGM_USER},
    [LAUNCH] = {"cuLaunchKernel", CTS_PARADIGM_CUDA},
    [SYNC_CTX] = {"cuCtxSynchronize", CTS_PARADIGM_CUDA},
    [SYNC_STREAM] = {"cuStreamSynchronize", CTS_PARADIGM_CUDA},
    [SYNC_EVENT] = {"cuEventSynchronize", CTS_PARADIGM_CUDA},
    [RECORD] = {"cuEventRecord", CTS_PARADIGM_CUDA},
    [ALLREDUCE] = {"MPI_Allreduce", CTS_PARADIGM_MPI},
    [IRECV] = {"MPI_Irecv", CTS_PARADIGM_MPI},
    [ISEND] = {"MPI_Isend", CTS_PARADIGM_MPI},
    [WAITALL] = {"MPI_Waitall", CTS_PARADIGM_MPI},
    [COPY] = {"cuMemcpyDtoH_v2", CTS_PARADIGM_CUDA},
    [KERNEL_A] = {"stencil_kernel", CTS_PARADIGM_CUDA},
    [KERNEL_B] = {"reduce_kernel", CTS_PARADIGM_CUDA},
};

struct rank {
    uint64_t now_ns, stream_end_ns[STREAMS], event_end_ns[2];
    uint64_t events, requests, random;
    uint64_t enter_ns; /* of the collective or ring at hand */
};

struct generator {
    struct cts_timeline_writer *writer;
    struct rank *ranks;
    uint32_t rank_count;
    uint64_t written;
    struct cts_error error;
};

static void stop(const struct generator *g)
{
    fprintf(stderr, "path-generate: %s\n", g->error.text);
    exit(1);
}

static uint64_t vary(struct rank *rank, uint64_t limit_ns)
{
    rank->random = rank->random * 6364136223846793005ull + 1442695040888963407ull;
    return 1 + (rank->random >> 33) % limit_ns;
}

static uint32_t host_of(uint32_t rank)
{
    return rank * PER_RANK;
}
static uint32_t stream_of(uint32_t rank, unsigned s)
{
    return rank * PER_RANK + 1 + s;
}

static void write_event(struct generator *g, uint32_t location,
                        const struct cts_timeline_event *event,
                        const struct cts_event_attributes *attributes)
{
    if (cts_timeline_write(g->writer, location, event, attributes, &g->error)) stop(g);
    g->written++;
}

static void enter(struct generator *g, uint32_t location, uint64_t time_ns, enum region region)
{
    write_event(
        g, location,
        &(struct cts_timeline_event){.time_ns = time_ns, .kind = CTS_EVENT_ENTER, .region = region},
        NULL);
}

static void leave_with(struct generator *g, uint32_t location, uint64_t time_ns, enum region region,
                       const struct cts_event_attributes *attributes)
{
    write_event(
        g, location,
        &(struct cts_timeline_event){.time_ns = time_ns, .kind = CTS_EVENT_LEAVE, .region = region},
        attributes);
}

static void call(struct generator *g, uint32_t location, uint64_t begin_ns, uint64_t end_ns,
                 enum region region)
{
    enter(g, location, begin_ns, region);
    leave_with(g, location, end_ns, region, NULL);
}

static struct cts_event_attributes stream_attribute(uint32_t stream)
{
    struct cts_event_attributes attributes = {.present = 1u << CTS_ATTRIBUTE_STREAM_REF};
    attributes.values[CTS_ATTRIBUTE_STREAM_REF] = stream;
    return attributes;
}

static void launch(struct generator *g, uint32_t id, unsigned s, uint64_t duration_ns)
{
    struct rank *const rank = &g->ranks[id];
    const struct cts_event_attributes attributes = stream_attribute(stream_of(id, s));
    write_event(g, host_of(id),
                &(struct cts_timeline_event){
                    .time_ns = rank->now_ns, .kind = CTS_EVENT_ENTER, .region = LAUNCH},
                &attributes);
    rank->now_ns += 3000 + vary(rank, 500);
    leave_with(g, host_of(id), rank->now_ns, LAUNCH, NULL);
    uint64_t begin_ns = rank->now_ns + 1500;
    if (rank->stream_end_ns[s] + 800 > begin_ns) begin_ns = rank->stream_end_ns[s] + 800;
    rank->stream_end_ns[s] = begin_ns + duration_ns + vary(rank, duration_ns / 4);
    call(g, stream_of(id, s), begin_ns, rank->stream_end_ns[s], s ? KERNEL_B : KERNEL_A);
    rank->now_ns += 100;
}

static void synchronise(struct generator *g, uint32_t id, enum region region, uint64_t until_ns,
                        const struct cts_event_attributes *attributes)
{
    struct rank *const rank = &g->ranks[id];
    enter(g, host_of(id), rank->now_ns, region);
    if (until_ns > rank->now_ns) rank->now_ns = until_ns;
    rank->now_ns += 1000 + vary(rank, 300);
    leave_with(g, host_of(id), rank->now_ns, region, attributes);
    rank->now_ns += 100;
}

static void compute(struct generator *g, uint32_t id, uint64_t about_ns)
{
    struct rank *const rank = &g->ranks[id];
    const uint64_t end_ns = rank->now_ns + vary(rank, about_ns);
    call(g, host_of(id), rank->now_ns, end_ns, COMPUTE);
    rank->now_ns = end_ns + 50;
}

static void collective(struct generator *g)
{
    uint64_t last_ns = 0;
    for (uint32_t r = 0; r < g->rank_count; r++)
        if (g->ranks[r].now_ns > last_ns) last_ns = g->ranks[r].now_ns;
    for (uint32_t r = 0; r < g->rank_count; r++) {
        struct rank *const rank = &g->ranks[r];
        enter(g, host_of(r), rank->now_ns, ALLREDUCE);
        write_event(g, host_of(r),
                    &(struct cts_timeline_event){.time_ns = rank->now_ns,
                                                 .kind = CTS_EVENT_MPI_COLLECTIVE_BEGIN},
                    NULL);
        rank->now_ns = last_ns + 2000 + vary(rank, 1000);
        write_event(g, host_of(r),
                    &(struct cts_timeline_event){.time_ns = rank->now_ns,
                                                 .kind = CTS_EVENT_MPI_COLLECTIVE_END,
                                                 .collective = {.operation = 11,
                                                                .communicator = 0,
                                                                .root = CTS_TIMELINE_NONE,
                                                                .sent_bytes = 8,
                                                                .received_bytes = 8}},
                    NULL);
        leave_with(g, host_of(r), rank->now_ns, ALLREDUCE, NULL);
        rank->now_ns += 100;
    }
}

static void message(struct generator *g, uint32_t id, enum cts_timeline_event_kind kind,
                    uint32_t peer, uint64_t request)
{
    write_event(g, host_of(id),
                &(struct cts_timeline_event){.time_ns = g->ranks[id].now_ns,
                                             .kind = kind,
                                             .message = {.peer = peer,
                                                         .communicator = 0,
                                                         .tag = 1,
                                                         .bytes = 65536,
                                                         .request = request}},
                NULL);
}

/* All post, send, and wait for the left neighbour's. */
static void ring(struct generator *g)
{
    const uint32_t count = g->rank_count;
    for (uint32_t r = 0; r < count; r++) {
        struct rank *const rank = &g->ranks[r];
        enter(g, host_of(r), rank->now_ns, IRECV);
        message(g, r, CTS_EVENT_MPI_IRECV_REQUEST, 0, 2 * rank->requests);
        leave_with(g, host_of(r), rank->now_ns + 400, IRECV, NULL);
        rank->now_ns += 500;
        rank->enter_ns = rank->now_ns;
        enter(g, host_of(r), rank->now_ns, ISEND);
        message(g, r, CTS_EVENT_MPI_ISEND, (r + 1) % count, 2 * rank->requests + 1);
        leave_with(g, host_of(r), rank->now_ns + 600, ISEND, NULL);
        rank->now_ns += 700;
    }
    for (uint32_t r = 0; r < count; r++) {
        struct rank *const rank = &g->ranks[r];
        const uint32_t left = (r + count - 1) % count;
        enter(g, host_of(r), rank->now_ns, WAITALL);
        if (g->ranks[left].enter_ns > rank->now_ns) rank->now_ns = g->ranks[left].enter_ns;
        rank->now_ns += 3000 + vary(rank, 800);
        message(g, r, CTS_EVENT_MPI_IRECV, left, 2 * rank->requests);
        message(g, r, CTS_EVENT_MPI_ISEND_COMPLETE, 0, 2 * rank->requests + 1);
        leave_with(g, host_of(r), rank->now_ns, WAITALL, NULL);
        rank->now_ns += 100;
        rank->requests++;
    }
}

static void copy(struct generator *g, uint32_t id)
{
    struct rank *const rank = &g->ranks[id];
    const uint32_t stream = stream_of(id, 0);
    const struct cts_event_attributes attributes = stream_attribute(stream);
    write_event(g, host_of(id),
                &(struct cts_timeline_event){
                    .time_ns = rank->now_ns, .kind = CTS_EVENT_ENTER, .region = COPY},
                &attributes);
    uint64_t begin_ns = rank->now_ns + 1500;
    if (rank->stream_end_ns[0] + 800 > begin_ns) begin_ns = rank->stream_end_ns[0] + 800;
    rank->stream_end_ns[0] = begin_ns + 4000;
    const struct cts_timeline_event begin = {
        .time_ns = begin_ns,
        .kind = CTS_EVENT_RMA_PUT,
        .rma = {.window = 0, .remote = 0, .bytes = 65536, .matching = 42}};
    struct cts_timeline_event end = begin;
    end.time_ns = rank->stream_end_ns[0];
    end.kind = CTS_EVENT_RMA_OP_COMPLETE_BLOCKING;
    write_event(g, stream, &begin, NULL);
    write_event(g, stream, &end, NULL);
    rank->now_ns = rank->stream_end_ns[0] + 1000;
    leave_with(g, host_of(id), rank->now_ns, COPY, NULL);
    rank->now_ns += 100;
}

static void event_call(struct generator *g, uint32_t id, enum region region, unsigned event,
                       uint64_t until_ns)
{
    struct cts_event_attributes attributes = stream_attribute(stream_of(id, 0));
    attributes.present |= 1u << CTS_ATTRIBUTE_EVENT_REF;
    attributes.values[CTS_ATTRIBUTE_EVENT_REF] = event + 1;
    synchronise(g, id, region, until_ns, &attributes);
}

/* Kernels always outlast the collective: the host only waits for those of the round before. */
static void round_across(struct generator *g, uint64_t round)
{
    const unsigned event = (unsigned)(round % 2);
    for (uint32_t r = 0; r < g->rank_count; r++) {
        struct rank *const rank = &g->ranks[r];
        launch(g, r, 0, 40000);
        rank->event_end_ns[event] = rank->stream_end_ns[0];
        event_call(g, r, RECORD, event, 0);
        launch(g, r, 1, 30000);
        compute(g, r, 20000);
        if (round) event_call(g, r, SYNC_EVENT, !event, rank->event_end_ns[!event]);
    }
    collective(g);
}

static void round_drain(struct generator *g)
{
    for (uint32_t r = 0; r < g->rank_count; r++) {
        struct rank *const rank = &g->ranks[r];
        launch(g, r, 0, 40000);
        launch(g, r, 1, 30000);
        compute(g, r, 20000);
        const uint64_t a_ns = rank->stream_end_ns[0], b_ns = rank->stream_end_ns[1];
        synchronise(g, r, SYNC_CTX, a_ns > b_ns ? a_ns : b_ns, NULL);
    }
    collective(g);
}

static void round_free(struct generator *g)
{
    for (uint32_t r = 0; r < g->rank_count; r++) {
        launch(g, r, 0, 20000);
        launch(g, r, 1, 10000);
        compute(g, r, 5000);
        const struct cts_event_attributes attributes = stream_attribute(stream_of(r, 0));
        synchronise(g, r, SYNC_STREAM, g->ranks[r].stream_end_ns[0], &attributes);
    }
}

static void round_messages(struct generator *g)
{
    for (uint32_t r = 0; r < g->rank_count; r++) {
        launch(g, r, 0, 20000);
        compute(g, r, 8000);
        copy(g, r);
    }
    ring(g);
}

/* For tests of tables: names as PyTorch's kernels have them. */
static void name_kernels_as_pytorch(void)
{
#define ELEMENTWISE(functor)                                                                       \
    "void at::native::vectorized_elementwise_kernel<4, at::native::" functor                       \
    "<float>, std::array<char*, 3ul> >(int, at::native::" functor "<float>, std::array<char*, "    \
    "3ul>, at::native::detail::memory::LoadWithCast<2>, "                                          \
    "at::native::detail::memory::StoreWithCast<1>, OffsetCalculator<2, unsigned int, false>, "     \
    "TrivialOffsetCalculator<1, unsigned int>)"
    regions[KERNEL_A].name = ELEMENTWISE("CUDAFunctor_add");
    regions[KERNEL_B].name = ELEMENTWISE("binary_internal::MulFunctor");
#undef ELEMENTWISE
}

static void generate(struct generator *g, const char *mode, uint64_t event_count)
{
    for (uint32_t r = 0; r < g->rank_count; r++) {
        g->ranks[r] = (struct rank){.now_ns = 1000 + 10 * r, .random = r + 1};
        enter(g, host_of(r), g->ranks[r].now_ns, MAIN);
        call(g, host_of(r), g->ranks[r].now_ns + 100, 60000, INIT);
        g->ranks[r].now_ns = 60100;
    }
    for (uint64_t round = 0; g->written + 4ull * g->rank_count < event_count; round++) {
        if (!strcmp(mode, "drain")) round_drain(g);
        if (!strcmp(mode, "across")) round_across(g, round);
        if (!strcmp(mode, "free")) round_free(g);
        if (!strcmp(mode, "messages")) round_messages(g);
    }
    uint64_t last_ns = 0;
    for (uint32_t r = 0; r < g->rank_count; r++)
        if (g->ranks[r].now_ns > last_ns) last_ns = g->ranks[r].now_ns;
    for (uint32_t r = 0; r < g->rank_count; r++) {
        call(g, host_of(r), g->ranks[r].now_ns, last_ns + 1000, FINALIZE);
        leave_with(g, host_of(r), last_ns + 1100, MAIN, NULL);
    }
}

int main(int argument_count, char **arguments)
{
    if (argument_count != 5 || !strstr("drain across free messages", arguments[1])) {
        fprintf(stderr, "usage: path-generate drain|across|free|messages EVENTS RANKS DIRECTORY\n");
        return 2;
    }
    if (getenv("PATH_GENERATE_LONG_NAMES")) name_kernels_as_pytorch();
    const uint64_t event_count = strtoull(arguments[2], NULL, 10);
    struct generator g = {.rank_count = (uint32_t)strtoul(arguments[3], NULL, 10)};
    if (!g.rank_count || g.rank_count > 4096) return 2;
    const uint32_t location_count = g.rank_count * PER_RANK;
    struct cts_timeline timeline = {.ticks_per_second = 1000000000,
                                    .creator = "path-generate",
                                    .location_count = location_count,
                                    .group_count = g.rank_count,
                                    .region_count = REGION_COUNT,
                                    .communicator_count = 2,
                                    .window_count = 1,
                                    .world = 0};
    timeline.locations = calloc(location_count, sizeof *timeline.locations);
    timeline.groups = calloc(g.rank_count, sizeof *timeline.groups);
    timeline.regions = calloc(REGION_COUNT, sizeof *timeline.regions);
    g.ranks = calloc(g.rank_count, sizeof *g.ranks);
    uint32_t *const masters = calloc(g.rank_count, sizeof *masters);
    uint32_t device[2] = {0, 1};
    struct cts_timeline_communicator communicators[2] = {{.name = "MPI_COMM_WORLD",
                                                          .paradigm = CTS_PARADIGM_MPI,
                                                          .parent = CTS_TIMELINE_NONE,
                                                          .ranks = masters,
                                                          .rank_count = g.rank_count},
                                                         {.name = "CUDA",
                                                          .paradigm = CTS_PARADIGM_CUDA,
                                                          .parent = CTS_TIMELINE_NONE,
                                                          .ranks = device,
                                                          .rank_count = 2}};
    struct cts_timeline_window window = {"CUDA_WINDOW", 1};
    if (!timeline.locations || !timeline.groups || !timeline.regions || !g.ranks || !masters)
        return 1;
    timeline.communicators = communicators;
    timeline.windows = &window;
    static const char *const stream_names[STREAMS] = {"CUDA[0:13]", "CUDA[0:14]"};
    for (uint32_t l = 0; l < location_count; l++) {
        const uint32_t r = l / PER_RANK, at = l % PER_RANK;
        timeline.locations[l] =
            (struct cts_timeline_location){.reference = (uint64_t)at << 32 | r,
                                           .name = at ? stream_names[at - 1] : "Master thread",
                                           .kind = at ? CTS_LOCATION_STREAM : CTS_LOCATION_THREAD,
                                           .group = r,
                                           .process = r,
                                           .device = at ? 0 : CTS_TIMELINE_NONE,
                                           .stream = at ? 12 + at : CTS_TIMELINE_NONE};
    }
    for (uint32_t r = 0; r < g.rank_count; r++) {
        static char names[4096][24];
        snprintf(names[r], sizeof names[r], "MPI Rank %u", r);
        timeline.groups[r] = (struct cts_timeline_group){.reference = r,
                                                         .name = names[r],
                                                         .creator = CTS_TIMELINE_NONE,
                                                         .rank = r,
                                                         .master = host_of(r)};
        masters[r] = host_of(r);
    }
    for (unsigned i = 0; i < REGION_COUNT; i++)
        timeline.regions[i] = (struct cts_timeline_region){
            .name = regions[i].name, .paradigm = regions[i].paradigm, .role = CTS_ROLE_FUNCTION};
    const struct cts_timeline_writer_options options = {.directory = arguments[4],
                                                        .name = "traces"};
    if (cts_timeline_create(&options, &timeline, &g.writer, &g.error)) stop(&g);
    generate(&g, arguments[1], event_count);
    for (uint32_t l = 0; l < location_count; l++)
        if (cts_timeline_end_location(g.writer, l, &g.error)) stop(&g);
    if (cts_timeline_finish(g.writer, &g.error)) stop(&g);
    printf("%llu events\n", (unsigned long long)g.written);
    free(timeline.locations);
    free(timeline.groups);
    free(timeline.regions);
    free(g.ranks);
    free(masters);
    return 0;
}
