/* The join goes stream by stream: of each rank and device the streams with kernels, the legacy
 * default stream first and the others in the order of their creation, in the timeline and in the
 * catalogue. (Numbers differ: a timeline's null stream is 0, a catalogue's rows come with the first
 * use.) What is not the same is told, and nothing is guessed over it. */
#include "report/path-kernels.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"

enum { NONE = UINT32_MAX };

/* ---- occupancy ---- */

struct limits { /* of a multiprocessor; registers: 65536 each */
    uint32_t major, minor, warps, ctas, shared_kib, reserved_bytes;
};
/* CUDA C++ programming guide, technical specifications per compute capability. */
static const struct limits limits[] = {{7, 0, 64, 32, 96, 0},      {7, 2, 64, 32, 96, 0},
                                       {7, 5, 32, 16, 64, 0},      {8, 0, 64, 32, 164, 1024},
                                       {8, 6, 48, 16, 100, 1024},  {8, 7, 48, 16, 164, 1024},
                                       {8, 9, 48, 24, 100, 1024},  {9, 0, 64, 32, 228, 1024},
                                       {10, 0, 64, 32, 228, 1024}, {12, 0, 48, 24, 100, 1024}};

static uint64_t rounded_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

double cts_occupancy(uint32_t compute_major, uint32_t compute_minor, uint32_t threads,
                     uint32_t registers, uint64_t shared_bytes)
{
    enum { REGISTERS = 65536, PARTITIONS = 4, REGISTER_UNIT = 256, SHARED_UNIT = 128, WARP = 32 };
    const struct limits *of = NULL;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (limits[i].major == compute_major && limits[i].minor == compute_minor) of = &limits[i];
    if (!of || !threads) return NAN;
    const uint64_t warps = rounded_up(threads, WARP) / WARP;
    uint64_t ctas = of->warps / warps;
    if (of->ctas < ctas) ctas = of->ctas;
    if (registers) { /* given to warps, by a quarter of the multiprocessor each */
        const uint64_t of_warp = rounded_up((uint64_t)registers * WARP, REGISTER_UNIT);
        const uint64_t fit = REGISTERS / PARTITIONS / of_warp * PARTITIONS / warps;
        if (fit < ctas) ctas = fit;
    }
    const uint64_t shared = rounded_up(shared_bytes + of->reserved_bytes, SHARED_UNIT);
    if (shared && of->shared_kib * 1024ull / shared < ctas)
        ctas = of->shared_kib * 1024ull / shared;
    return ctas ? (double)(ctas * warps) / of->warps : NAN;
}

/* ---- the timeline's launches ---- */

struct launch {
    uint64_t begin_ns, time_ns;
    uint64_t shared_bytes;
    uint32_t region, grid[3], threads, registers;
    bool has_grid;
};

struct stream {
    uint32_t location, rank, device, number; /* number: by creation */
    bool is_null;
    struct launch *items;
    size_t count, capacity;
};

struct reading {
    const struct cts_timeline *timeline;
    struct stream *stream;
    struct cts_error *error;
    enum cts_status status;
};

static uint32_t value(const struct cts_event_attributes *attributes, unsigned name, uint32_t other)
{
    return attributes && attributes->present & 1u << name ? (uint32_t)attributes->values[name]
                                                          : other;
}

static bool is_kernel(const struct cts_timeline *timeline, uint32_t region, bool has_grid)
{
    if (region >= timeline->region_count || !timeline->regions[region].name) return false;
    return has_grid || (timeline->regions[region].role == CTS_ROLE_FUNCTION &&
                        !strstr(timeline->regions[region].name, "emset"));
}

static bool on_event(void *state, uint32_t location, const struct cts_timeline_event *event,
                     const struct cts_event_attributes *attributes)
{
    struct reading *const reading = state;
    struct stream *const stream = reading->stream;
    (void)location;
    if (event->kind == CTS_EVENT_LEAVE) { /* the last one of that region that is open */
        for (size_t i = stream->count; i-- > 0 && i + 64 > stream->count;)
            if (stream->items[i].region == event->region && !stream->items[i].time_ns) {
                stream->items[i].time_ns = event->time_ns - stream->items[i].begin_ns;
                break;
            }
        return true;
    }
    const bool has_grid = attributes && attributes->present & 1u << CTS_ATTRIBUTE_GRID_X;
    if (event->kind != CTS_EVENT_ENTER || !is_kernel(reading->timeline, event->region, has_grid))
        return true;
    if (CTS_ARRAY_RESERVE(stream, stream->count + 1, reading->error)) {
        reading->status = CTS_MEMORY;
        return false;
    }
    struct launch *const launch = &stream->items[stream->count++];
    *launch = (struct launch){.begin_ns = event->time_ns,
                              .region = event->region,
                              .has_grid = has_grid,
                              .threads = has_grid ? 1 : 0,
                              .registers = value(attributes, CTS_ATTRIBUTE_REGISTERS, 0)};
    for (unsigned d = 0; d < 3; d++) {
        launch->grid[d] = value(attributes, CTS_ATTRIBUTE_GRID_X + d, 1);
        launch->threads *= value(attributes, CTS_ATTRIBUTE_BLOCK_X + d, 1);
    }
    launch->shared_bytes = (uint64_t)value(attributes, CTS_ATTRIBUTE_STATIC_SHARED, 0) +
                           value(attributes, CTS_ATTRIBUTE_DYNAMIC_SHARED, 0);
    return true;
}

static int by_number(const void *left, const void *right)
{
    const struct stream *const a = left, *const b = right;
    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    if (a->device != b->device) return a->device < b->device ? -1 : 1;
    if (a->is_null != b->is_null) return a->is_null ? -1 : 1;
    if (a->number != b->number) return a->number < b->number ? -1 : 1;
    return (a->location > b->location) - (a->location < b->location);
}

/* Streams with kernels, as by_number() has them. */
static enum cts_status read_streams(const struct cts_path_source *source, struct stream **streams,
                                    size_t *count, struct cts_error *error)
{
    const struct cts_timeline *const timeline = source->timeline;
    *streams = cts_array_zeroed(timeline->location_count, sizeof **streams, error);
    if (!*streams) return CTS_MEMORY;
    for (uint32_t l = 0; l < timeline->location_count; l++) {
        const struct cts_timeline_location *const location = &timeline->locations[l];
        if (location->kind != CTS_LOCATION_STREAM || location->process >= timeline->group_count)
            continue;
        struct stream *const stream = &(*streams)[*count];
        *stream = (struct stream){.location = l,
                                  .rank = timeline->groups[location->process].rank,
                                  .device = location->device,
                                  .number = location->stream,
                                  .is_null = location->null_stream};
        struct reading reading = {timeline, stream, error, CTS_OK};
        const enum cts_status status = cts_path_source_read(source, l, on_event, &reading, error);
        if (status && !reading.status) reading.status = status;
        if (stream->count || reading.status) (*count)++;
        if (reading.status) return reading.status;
    }
    if (*count) qsort(*streams, *count, sizeof **streams, by_number);
    return CTS_OK;
}

/* ---- joining ---- */

struct join {
    const struct cts_timeline *timeline;
    const struct cts_catalogue *catalogue;
    const struct stream *streams;
    size_t stream_count;
    struct cts_path_kernels *kernels;
    uint32_t *region_of; /* [kernel]: the timeline's; NONE */
    bool *unfit;         /* [region] */
    uint64_t *launch_ns; /* [launch]; NULL: not wanted */
};

struct recorded { /* launches of one stream, by ordinal */
    const struct cts_launch **items;
    size_t count, capacity;
    uint32_t rank, device, stream; /* stream: its id, which grows with each creation */
    bool is_null;
};

static void mismatch(struct join *join, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void mismatch(struct join *join, const char *format, ...)
{
    if (join->kernels->mismatches++) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(join->kernels->first_mismatch, sizeof join->kernels->first_mismatch, format,
              arguments);
    va_end(arguments);
}

static int by_ordinal(const void *left, const void *right)
{
    const struct cts_launch *const a = *(const struct cts_launch *const *)left;
    const struct cts_launch *const b = *(const struct cts_launch *const *)right;
    return (a->ordinal > b->ordinal) - (a->ordinal < b->ordinal);
}

static int by_stream(const void *left, const void *right)
{
    const struct recorded *const a = left, *const b = right;
    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    if (a->device != b->device) return a->device < b->device ? -1 : 1;
    if (a->is_null != b->is_null) return a->is_null ? -1 : 1;
    return (a->stream > b->stream) - (a->stream < b->stream);
}

static bool is_null_stream(const struct cts_cuda_stream *stream)
{
    return stream->kind && strcmp(stream->kind, "legacy default") == 0;
}

static enum cts_status group_launches(const struct cts_catalogue *catalogue,
                                      struct recorded **streams, size_t *count,
                                      struct cts_error *error)
{
    *streams = cts_array_zeroed(catalogue->stream_count, sizeof **streams, error);
    struct recorded *const by_id = cts_array_zeroed(catalogue->stream_count, sizeof *by_id, error);
    enum cts_status status = *streams && by_id ? CTS_OK : CTS_MEMORY;
    for (size_t i = 0; i < catalogue->launch_count && !status; i++) {
        const struct cts_launch *const launch = &catalogue->launches[i];
        if (launch->stream >= catalogue->stream_count) continue;
        struct recorded *const stream = &by_id[launch->stream];
        stream->rank = launch->rank;
        stream->device = launch->device;
        stream->stream = launch->stream;
        stream->is_null = is_null_stream(&catalogue->streams[launch->stream]);
        status = CTS_ARRAY_RESERVE(stream, stream->count + 1, error);
        if (!status) stream->items[stream->count++] = launch;
    }
    for (size_t i = 0; by_id && i < catalogue->stream_count; i++) {
        if (!by_id[i].count || status) {
            free(by_id[i].items);
            continue;
        }
        qsort(by_id[i].items, by_id[i].count, sizeof *by_id[i].items, by_ordinal);
        (*streams)[(*count)++] = by_id[i];
    }
    free(by_id);
    if (*count) qsort(*streams, *count, sizeof **streams, by_stream);
    return status;
}

/* Demangled names of templates begin with what they return, which for kernels is void; some
 * recorders leave it out. */
static bool is_same_name(const char *left, const char *right)
{
    static const char result[] = "void ";
    if (!right) return false;
    if (!strncmp(left, result, sizeof result - 1)) left += sizeof result - 1;
    if (!strncmp(right, result, sizeof result - 1)) right += sizeof result - 1;
    return !strcmp(left, right);
}

static bool same(const struct join *join, const struct launch *launch, const struct cts_launch *row)
{
    const struct cts_kernel *const kernel = &join->catalogue->kernels[row->kernel];
    const char *const name = join->timeline->regions[launch->region].name;
    if (!is_same_name(name, kernel->name) && !is_same_name(name, kernel->mangled)) return false;
    return !launch->has_grid || !memcmp(launch->grid, row->grid, sizeof launch->grid);
}

static void spoil(struct join *join, const struct stream *stream, size_t from)
{
    for (size_t i = from; i < stream->count; i++) join->unfit[stream->items[i].region] = true;
}

static void join_stream(struct join *join, const struct stream *stream,
                        const struct recorded *recorded, unsigned ordinal)
{
    size_t at = 0;
    for (; at < stream->count && at < recorded->count; at++) {
        const struct launch *const launch = &stream->items[at];
        const struct cts_launch *const row = recorded->items[at];
        if (!same(join, launch, row)) {
            const struct cts_kernel *const kernel = &join->catalogue->kernels[row->kernel];
            mismatch(join,
                     "rank %u, stream %u with kernels, launch %zu: '%s' %ux%ux%u in the timeline, "
                     "'%s' %ux%ux%u in the memory recording",
                     stream->rank, ordinal, at, join->timeline->regions[launch->region].name,
                     launch->grid[0], launch->grid[1], launch->grid[2],
                     kernel->name ? kernel->name : "?", row->grid[0], row->grid[1], row->grid[2]);
            spoil(join, stream, at);
            return;
        }
        if (join->launch_ns) join->launch_ns[row - join->catalogue->launches] = launch->time_ns;
        uint32_t *const region = &join->region_of[row->kernel];
        if (*region == NONE) *region = launch->region;
        if (*region != launch->region) join->unfit[launch->region] = true;
    }
    if (stream->count == recorded->count) return;
    mismatch(join,
             "rank %u, stream %u with kernels: %zu launches in the timeline, %zu in the "
             "memory recording",
             stream->rank, ordinal, stream->count, recorded->count);
    spoil(join, stream, at);
}

/* The streams of one rank. */
static void join_rank(struct join *join, const struct stream *streams, size_t count,
                      const struct recorded *recorded, size_t recorded_count)
{
    if (count != recorded_count) {
        mismatch(join,
                 "rank %u: %zu streams with kernels in the timeline, %zu in the memory recording",
                 streams->rank, count, recorded_count);
        for (size_t i = 0; i < count; i++) spoil(join, &streams[i], 0);
        return;
    }
    for (size_t i = 0; i < count; i++) join_stream(join, &streams[i], &recorded[i], (unsigned)i);
}

static enum cts_status join_all(struct join *join, struct cts_error *error)
{
    struct recorded *recorded = NULL;
    size_t count = 0;
    const enum cts_status status = group_launches(join->catalogue, &recorded, &count, error);
    for (size_t from = 0, to; from < join->stream_count && !status; from = to) {
        const uint32_t rank = join->streams[from].rank;
        size_t first = 0, end;
        for (to = from; to < join->stream_count && join->streams[to].rank == rank;) to++;
        while (first < count && recorded[first].rank < rank) first++;
        for (end = first; end < count && recorded[end].rank == rank;) end++;
        join_rank(join, &join->streams[from], to - from, &recorded[first], end - first);
    }
    for (size_t i = 0; i < count; i++) free(recorded[i].items);
    free(recorded);
    return status;
}

static enum cts_status find_efficiency(struct join *join, const struct cts_access_result *access,
                                       struct cts_error *error)
{
    const size_t regions = join->kernels->region_count;
    uint64_t(*const sums)[2] = cts_array_zeroed(regions, sizeof *sums, error);
    if (!sums) return CTS_MEMORY;
    for (size_t i = 0; i < access->site_count; i++) {
        const struct cts_access_site *const site = &access->sites[i];
        if (site->kernel >= join->catalogue->kernel_count) continue;
        const uint32_t region = join->region_of[site->kernel];
        if (region == NONE || join->unfit[region]) continue;
        sums[region][0] += site->counts.ideal_sectors;
        sums[region][1] += site->counts.sectors;
    }
    for (size_t i = 0; i < regions; i++)
        if (sums[i][1])
            join->kernels->by_region[i].memory_efficiency = (double)sums[i][0] / (double)sums[i][1];
    free(sums);
    return CTS_OK;
}

/* ---- */

static const struct cts_device *device_of(const struct cts_catalogue *catalogue, uint32_t rank,
                                          uint32_t device)
{
    const struct cts_device *any = NULL;
    for (size_t i = 0; i < catalogue->device_count; i++) {
        const struct cts_device *const row = &catalogue->devices[i];
        if (row->rank == rank && row->device == device) return row;
        if (row->rank == rank && device == CTS_TIMELINE_NONE) any = row;
    }
    return any;
}

static enum cts_status find_occupancy(const struct cts_catalogue *catalogue,
                                      const struct stream *streams, size_t count,
                                      struct cts_path_kernels *kernels, struct cts_error *error)
{
    double(*const sums)[2] = cts_array_zeroed(kernels->region_count, sizeof *sums, error);
    if (!sums) return CTS_MEMORY;
    for (size_t s = 0; s < count; s++) {
        const struct cts_device *const device =
            device_of(catalogue, streams[s].rank, streams[s].device);
        for (size_t i = 0; device && i < streams[s].count; i++) {
            const struct launch *const launch = &streams[s].items[i];
            const double occupancy =
                cts_occupancy(device->compute_major, device->compute_minor, launch->threads,
                              launch->registers, launch->shared_bytes);
            if (isnan(occupancy)) continue;
            sums[launch->region][0] += occupancy * (double)(launch->time_ns + 1);
            sums[launch->region][1] += (double)(launch->time_ns + 1);
        }
    }
    for (size_t i = 0; i < kernels->region_count; i++)
        if (sums[i][1] > 0) kernels->by_region[i].occupancy = sums[i][0] / sums[i][1];
    free(sums);
    return CTS_OK;
}

static enum cts_status begin_join(struct join *join, struct stream **streams,
                                  const struct cts_path_source *source, struct cts_error *error)
{
    const size_t regions = source->timeline->region_count;
    *join->kernels = (struct cts_path_kernels){.region_count = regions};
    join->timeline = source->timeline;
    join->kernels->by_region = cts_array_zeroed(regions, sizeof *join->kernels->by_region, error);
    join->region_of =
        cts_array_zeroed(join->catalogue->kernel_count, sizeof *join->region_of, error);
    join->unfit = cts_array_zeroed(regions, sizeof *join->unfit, error);
    if (!join->kernels->by_region || !join->region_of || !join->unfit) return CTS_MEMORY;
    for (size_t i = 0; i < regions; i++)
        join->kernels->by_region[i] = (struct cts_path_kernel){NAN, NAN};
    for (size_t i = 0; i < join->catalogue->kernel_count; i++) join->region_of[i] = NONE;
    const enum cts_status status = read_streams(source, streams, &join->stream_count, error);
    join->streams = *streams;
    return status;
}

static void end_join(struct join *join, struct stream *streams, enum cts_status status)
{
    for (size_t i = 0; streams && i < join->timeline->location_count; i++) free(streams[i].items);
    free(streams);
    free(join->region_of);
    free(join->unfit);
    if (status) cts_path_kernels_release(join->kernels);
}

enum cts_status cts_path_kernels_find(const struct cts_path_source *source,
                                      const struct cts_catalogue *catalogue,
                                      const struct cts_access_result *access,
                                      struct cts_path_kernels *kernels, struct cts_error *error)
{
    struct stream *streams = NULL;
    struct join join = {.catalogue = catalogue, .kernels = kernels};
    enum cts_status status = begin_join(&join, &streams, source, error);
    if (!status) status = find_occupancy(catalogue, streams, join.stream_count, kernels, error);
    if (!status && access) status = join_all(&join, error);
    if (!status && access) status = find_efficiency(&join, access, error);
    end_join(&join, streams, status);
    return status;
}

enum cts_status cts_path_launch_times(const struct cts_path_source *source,
                                      const struct cts_catalogue *catalogue, uint64_t *launch_ns,
                                      struct cts_path_kernels *kernels, struct cts_error *error)
{
    struct stream *streams = NULL;
    struct join join = {.catalogue = catalogue, .kernels = kernels, .launch_ns = launch_ns};
    enum cts_status status = begin_join(&join, &streams, source, error);
    if (!status) status = join_all(&join, error);
    end_join(&join, streams, status);
    return status;
}

void cts_path_kernels_release(struct cts_path_kernels *kernels)
{
    free(kernels->by_region);
    *kernels = (struct cts_path_kernels){0};
}
