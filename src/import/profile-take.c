/* The first half: events become items. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/hash.h"
#include "import/profile-collective.h"
#include "import/profile-rank.h"

enum { HOST_ITEMS = 256 << 10, DEVICE_ITEMS = 64 << 10, CATEGORIES_MAX = 200 };

/* ---- order ---- */

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

int cts_profile_by_nesting(const void *left, const void *right)
{
    const struct cts_profile_host_item *const a = left, *const b = right;
    int order = compare(a->track, b->track);
    if (!order) order = compare(a->start_ns, b->start_ns);
    if (!order) order = compare(b->end_ns, a->end_ns);
    return order ? order : compare(a->order, b->order);
}

static int by_stream(const void *left, const void *right)
{
    const struct cts_profile_device_item *const a = left, *const b = right;
    int order = compare(a->stream, b->stream);
    if (!order) order = compare(a->start_ns, b->start_ns);
    if (!order) order = compare(a->end_ns, b->end_ns);
    return order ? order : compare(a->order, b->order);
}

void cts_profile_rank_begin(struct cts_profile_rank *rank, const char *const spill_paths[2])
{
    *rank = (struct cts_profile_rank){.first_ns = UINT64_MAX};
    cts_spill_begin(&rank->host, &(const struct cts_spill_options){
                                     .item_bytes = sizeof(struct cts_profile_host_item),
                                     .items_in_memory = HOST_ITEMS,
                                     .compare = cts_profile_by_nesting,
                                     .path = spill_paths[0]});
    cts_spill_begin(&rank->device, &(const struct cts_spill_options){
                                       .item_bytes = sizeof(struct cts_profile_device_item),
                                       .items_in_memory = DEVICE_ITEMS,
                                       .compare = by_stream,
                                       .path = spill_paths[1]});
}

/* ---- names ---- */

static enum cts_status no_memory(struct cts_error *error)
{
    return cts_fail(error, CTS_MEMORY, "no memory");
}

/* A copy that lives as long as the rank; NULL: no memory. */
static const char *keep(struct cts_profile_rank *rank, const char *text, struct cts_error *error)
{
    if (CTS_ARRAY_RESERVE(&rank->names, rank->names.count + 1, error)) return NULL;
    char *const copy = strdup(text);
    if (!copy)
        (void)no_memory(error);
    else
        rank->names.items[rank->names.count++] = copy;
    return copy;
}

/* The value of a text that may be new; NULL: no memory. */
static uint64_t *value_of(struct cts_profile_rank *rank, struct cts_text_map *map, const char *text,
                          struct cts_error *error)
{
    const size_t before = map->count;
    uint64_t *const value = cts_text_map_at(map, text, error);
    if (!value || map->count == before) return value;
    const char *const kept = keep(rank, text, error);
    if (kept) map->items[before].text = kept;
    return kept ? value : NULL;
}

static bool append(struct cts_profile_rank *rank, const char *text, struct cts_error *error)
{
    const size_t length = strlen(text);
    if (CTS_ARRAY_RESERVE(&rank->scratch, rank->scratch.count + length + 1, error)) return false;
    memcpy(rank->scratch.items + rank->scratch.count, text, length + 1);
    rank->scratch.count += length;
    return true;
}

/* Where a Python function is: "train.py(83): step". */
static void place_python(struct cts_profile_region *region)
{
    const char *const open = strchr(region->name, '('), *const colon = strstr(region->name, "): ");
    if (!open || !colon || open == region->name || open > colon) return;
    char *end;
    const unsigned long line = strtoul(open + 1, &end, 10);
    if (end != colon || line > UINT32_MAX) return;
    region->file = strndup(region->name, (size_t)(open - region->name));
    region->line = (uint32_t)line;
}

/* What a new region is called stands in the scratch: a letter, the name, a newline, what it is. */
static uint32_t add_region(struct cts_profile_rank *rank, enum cts_profile_class class,
                           struct cts_error *error)
{
    if (CTS_ARRAY_RESERVE(&rank->regions, rank->regions.count + 1, error)) return CTS_TIMELINE_NONE;
    struct cts_profile_region *const region = &rank->regions.items[rank->regions.count];
    const char *const name = rank->scratch.items + 1, *const end = strrchr(name, '\n');
    *region = (struct cts_profile_region){.key = strdup(rank->scratch.items),
                                          .name = strndup(name, (size_t)(end - name)),
                                          .canonical_name = end[1] ? strdup(end + 1) : NULL,
                                          .class = class};
    rank->regions.count++;
    if (!region->key || !region->name || (end[1] && !region->canonical_name)) {
        (void)no_memory(error);
        return CTS_TIMELINE_NONE;
    }
    if (class == CTS_PROFILE_PYTHON) place_python(region);
    return (uint32_t)rank->regions.count - 1;
}

static bool append_collective(struct cts_profile_rank *rank, const struct cts_profile_event *e,
                              struct cts_error *error)
{
    char text[600];
    snprintf(text, sizeof text, " %.100s\ngroup '%.200s', %lld ranks, %.100s",
             cts_profile_text(e, CTS_PROFILE_COLLECTIVE),
             cts_profile_text(e, CTS_PROFILE_GROUP_NAME),
             (long long)cts_profile_number(e, CTS_PROFILE_GROUP_SIZE),
             cts_profile_text(e, CTS_PROFILE_DTYPE));
    return append(rank, text, error);
}

/* The region's number; NONE: no memory. */
static uint32_t find_region(struct cts_profile_rank *rank, const struct cts_profile_event *e,
                            enum cts_profile_class class, struct cts_error *error)
{
    const char letter[] = {(char)('A' + (int)class), 0};
    const bool is_collective =
        class == CTS_PROFILE_OPERATOR && cts_profile_has(e, CTS_PROFILE_COLLECTIVE);
    rank->scratch.count = 0;
    const char *const name =
        class == CTS_PROFILE_MEMSET ? "cuMemset" : cts_profile_text(e, CTS_PROFILE_NAME);
    if (!append(rank, letter, error) || !append(rank, *name ? name : "?", error) ||
        !(is_collective ? append_collective(rank, e, error) : append(rank, "\n", error)))
        return CTS_TIMELINE_NONE;
    const size_t before = rank->region_of_key.count;
    uint64_t *const place = cts_text_map_at(&rank->region_of_key, rank->scratch.items, error);
    if (!place) return CTS_TIMELINE_NONE;
    if (rank->region_of_key.count == before) return (uint32_t)*place;
    const uint32_t number = add_region(rank, class, error);
    if (number == CTS_TIMELINE_NONE) return number;
    rank->region_of_key.items[before].text = rank->regions.items[number].key;
    *place = number;
    return number;
}

/* ---- threads and streams ---- */

static bool name_key(struct cts_profile_rank *rank, const struct cts_profile_event *e,
                     struct cts_error *error)
{
    rank->scratch.count = 0;
    return append(rank, cts_profile_text(e, CTS_PROFILE_PID), error) && append(rank, "/", error) &&
           append(rank, cts_profile_text(e, CTS_PROFILE_TID), error);
}

static uint32_t find_track(struct cts_profile_rank *rank, const struct cts_profile_event *e,
                           struct cts_error *error)
{
    if (!name_key(rank, e, error)) return CTS_TIMELINE_NONE;
    uint64_t *const place = value_of(rank, &rank->track_of_key, rank->scratch.items, error);
    if (!place) return CTS_TIMELINE_NONE;
    if (*place) return (uint32_t)(*place - 1);
    if (CTS_ARRAY_RESERVE(&rank->tracks, rank->tracks.count + 1, error)) return CTS_TIMELINE_NONE;
    rank->tracks.items[rank->tracks.count] = (struct cts_profile_track){
        .key = rank->names.items[rank->names.count - 1],
        .pid = strtoull(cts_profile_text(e, CTS_PROFILE_PID), NULL, 10),
        .tid = strtoull(cts_profile_text(e, CTS_PROFILE_TID), NULL, 10),
    };
    *place = ++rank->tracks.count;
    return (uint32_t)(*place - 1);
}

static uint32_t find_stream(struct cts_profile_rank *rank, uint32_t device, uint32_t number,
                            struct cts_error *error)
{
    uint64_t *const place =
        cts_map_at(&rank->stream_of_number, (uint64_t)device << 32 | number, error);
    if (!place) return CTS_TIMELINE_NONE;
    if (*place) return (uint32_t)(*place - 1);
    if (CTS_ARRAY_RESERVE(&rank->streams, rank->streams.count + 1, error)) return CTS_TIMELINE_NONE;
    rank->streams.items[rank->streams.count] =
        (struct cts_profile_stream){.device = device, .number = number};
    *place = ++rank->streams.count;
    return (uint32_t)(*place - 1);
}

static bool is_number(int64_t number)
{
    return number >= 0 && number < CTS_TIMELINE_NONE;
}

/* ---- times ---- */

/* Integer ns of both ends, rounded after they are added, so that what was nested stays nested. */
static bool take_times(const struct cts_profile_event *e, uint64_t *start_ns, uint64_t *end_ns)
{
    const __int128 unit = CTS_PROFILE_UNITS_PER_NS, most = (__int128)(INT64_MAX / 4) * unit;
    if (!cts_profile_has(e, CTS_PROFILE_START) || !cts_profile_has(e, CTS_PROFILE_DURATION))
        return false;
    const __int128 start = e->values[CTS_PROFILE_START].time;
    const __int128 duration = e->values[CTS_PROFILE_DURATION].time;
    if (start < 0 || start > most || duration < 0 || duration > most) return false;
    *start_ns = (uint64_t)((start + unit / 2) / unit);
    *end_ns = (uint64_t)((start + duration + unit / 2) / unit);
    return true;
}

static void widen(struct cts_profile_rank *rank, uint64_t start_ns, uint64_t end_ns)
{
    if (start_ns < rank->first_ns) rank->first_ns = start_ns;
    if (end_ns > rank->last_ns) rank->last_ns = end_ns;
}

/* ---- events ---- */

static enum cts_status take_host(struct cts_profile_rank *rank, const struct cts_profile_event *e,
                                 enum cts_profile_class class, struct cts_error *error)
{
    struct cts_profile_host_item item = {.order = (uint64_t)class << 56 | rank->ordinal++};
    enum cts_status status = CTS_OK;
    if (!take_times(e, &item.start_ns, &item.end_ns)) {
        rank->untimed++;
        return CTS_OK;
    }
    item.track = find_track(rank, e, error);
    item.region = item.track == CTS_TIMELINE_NONE ? item.track : find_region(rank, e, class, error);
    if (item.region == CTS_TIMELINE_NONE) return CTS_MEMORY;
    const bool is_call = class == CTS_PROFILE_RUNTIME || class == CTS_PROFILE_DRIVER;
    if (is_call) item.correlation = (uint64_t)cts_profile_number(e, CTS_PROFILE_CORRELATION);
    if (class == CTS_PROFILE_OPERATOR)
        status = cts_profile_take_collective(rank, e, &item.collective, error);
    if (status) return status;
    rank->tracks.items[item.track].items++;
    rank->tracks.items[item.track].calls += is_call;
    rank->counts[class]++;
    widen(rank, item.start_ns, item.end_ns);
    return cts_spill_add(&rank->host, &item, error);
}

static uint32_t copy_kind(const char *name)
{
    static const struct {
        const char *word;
        enum cts_recorder_copy_kind kind;
    } words[] = {
        {"HtoD", CTS_COPY_HOST_TO_DEVICE},         {"DtoH", CTS_COPY_DEVICE_TO_HOST},
        {"HtoH", CTS_COPY_HOST_TO_HOST},           {"PtoP", CTS_COPY_PEER},
        {"HtoA", CTS_COPY_HOST_TO_DEVICE},         {"AtoH", CTS_COPY_DEVICE_TO_HOST},
        {"HostToDevice", CTS_COPY_HOST_TO_DEVICE}, {"DeviceToHost", CTS_COPY_DEVICE_TO_HOST},
        {"HostToHost", CTS_COPY_HOST_TO_HOST}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(name, words[i].word)) return words[i].kind;
    return CTS_COPY_DEVICE_TO_DEVICE;
}

/* The device and the stream that an event names, else those of its place in the viewer. */
static bool place_on_stream(const struct cts_profile_event *e, int64_t *device, int64_t *stream)
{
    char *device_end, *stream_end;
    const char *const pid = cts_profile_text(e, CTS_PROFILE_PID);
    const char *const tid = cts_profile_text(e, CTS_PROFILE_TID);
    const long long pid_number = strtoll(pid, &device_end, 10);
    const long long tid_number = strtoll(tid, &stream_end, 10);
    *device = cts_profile_has(e, CTS_PROFILE_DEVICE) ? cts_profile_number(e, CTS_PROFILE_DEVICE)
              : device_end != pid                    ? pid_number
                                                     : -1;
    *stream = cts_profile_has(e, CTS_PROFILE_STREAM) ? cts_profile_number(e, CTS_PROFILE_STREAM)
              : stream_end != tid                    ? tid_number
                                                     : -1;
    return is_number(*device) && is_number(*stream);
}

static enum cts_status note_work(struct cts_profile_rank *rank, uint64_t correlation,
                                 uint32_t stream, struct cts_error *error)
{
    if (!correlation) return CTS_OK;
    uint64_t *const place = cts_map_at(&rank->work, correlation, error);
    if (!place) return CTS_MEMORY;
    *place = (uint64_t)stream + 1;
    return CTS_OK;
}

static void take_shape(struct cts_profile_device_item *item, const struct cts_profile_event *e)
{
    const int64_t registers = cts_profile_number(e, CTS_PROFILE_REGISTERS);
    const int64_t shared = cts_profile_number(e, CTS_PROFILE_SHARED);
    item->has_shape = cts_profile_has(e, CTS_PROFILE_GRID) && cts_profile_has(e, CTS_PROFILE_BLOCK);
    if (item->has_shape) {
        memcpy(item->grid, e->values[CTS_PROFILE_GRID].triple, sizeof item->grid);
        memcpy(item->block, e->values[CTS_PROFILE_BLOCK].triple, sizeof item->block);
    }
    item->registers = is_number(registers) ? (uint32_t)registers : 0;
    item->shared_bytes = is_number(shared) ? (uint32_t)shared : 0;
}

static enum cts_status take_device(struct cts_profile_rank *rank, const struct cts_profile_event *e,
                                   enum cts_profile_class class, struct cts_error *error)
{
    struct cts_profile_device_item item = {.order = rank->ordinal++,
                                           .is_copy = class == CTS_PROFILE_COPY};
    int64_t device, stream;
    const bool is_placed = place_on_stream(e, &device, &stream);
    if (!is_placed || !take_times(e, &item.start_ns, &item.end_ns)) {
        rank->untimed += is_placed;
        rank->unplaced += !is_placed;
        return CTS_OK;
    }
    item.stream = find_stream(rank, (uint32_t)device, (uint32_t)stream, error);
    if (item.stream == CTS_TIMELINE_NONE) return CTS_MEMORY;
    item.region = item.is_copy ? copy_kind(cts_profile_text(e, CTS_PROFILE_NAME))
                               : find_region(rank, e, class, error);
    if (item.region == CTS_TIMELINE_NONE) return CTS_MEMORY;
    item.correlation = (uint64_t)cts_profile_number(e, CTS_PROFILE_CORRELATION);
    const int64_t bytes = cts_profile_number(e, CTS_PROFILE_BYTES);
    item.bytes = bytes > 0 ? (uint64_t)bytes : 0;
    if (class == CTS_PROFILE_KERNEL) take_shape(&item, e);
    enum cts_status status = note_work(rank, item.correlation, item.stream, error);
    if (!status && class == CTS_PROFILE_KERNEL)
        status = cts_profile_take_collective(rank, e, &item.collective, error);
    if (status) return status;
    rank->counts[class]++;
    widen(rank, item.start_ns, item.end_ns);
    return cts_spill_add(&rank->device, &item, error);
}

/* What a synchronisation waits for stands on the call, which has the same correlation. */
static enum cts_status take_sync(struct cts_profile_rank *rank, const struct cts_profile_event *e,
                                 struct cts_error *error)
{
    const uint64_t correlation = (uint64_t)cts_profile_number(e, CTS_PROFILE_CORRELATION);
    const int64_t waits_for = cts_profile_number(e, CTS_PROFILE_WAIT_STREAM);
    const int64_t record = cts_profile_number(e, CTS_PROFILE_WAIT_RECORD);
    int64_t device, stream;
    enum cts_status status = CTS_OK;
    rank->counts[CTS_PROFILE_SYNC]++;
    const bool is_placed = place_on_stream(e, &device, &stream) && correlation;
    if (is_placed) {
        const uint32_t place = find_stream(rank, (uint32_t)device, (uint32_t)stream, error);
        status =
            place == CTS_TIMELINE_NONE ? CTS_MEMORY : note_work(rank, correlation, place, error);
    }
    if (record <= 0 && cts_profile_has(e, CTS_PROFILE_WAIT_STREAM)) rank->waits_without_record++;
    if (status || record <= 0 || !correlation) return status;
    uint64_t *const waited = cts_map_at(&rank->waited, correlation, error);
    if (waited) *waited = (uint64_t)record;
    uint64_t *const recorded = waited ? cts_map_at(&rank->waited, (uint64_t)record, error) : NULL;
    if (!recorded) return CTS_MEMORY;
    *recorded = (uint64_t)record;
    if (!is_number(waits_for) || !cts_profile_has(e, CTS_PROFILE_WAIT_STREAM)) return CTS_OK;
    const uint32_t place =
        find_stream(rank, is_number(device) ? (uint32_t)device : 0, (uint32_t)waits_for, error);
    return place == CTS_TIMELINE_NONE ? CTS_MEMORY
                                      : note_work(rank, (uint64_t)record, place, error);
}

static enum cts_profile_class class_of(const char *category)
{
    static const struct {
        const char *name;
        enum cts_profile_class class;
    } names[] = {
        {"cpu_op", CTS_PROFILE_OPERATOR},
        {"python_function", CTS_PROFILE_PYTHON},
        {"cuda_runtime", CTS_PROFILE_RUNTIME},
        {"kernel", CTS_PROFILE_KERNEL},
        {"cuda_driver", CTS_PROFILE_DRIVER},
        {"gpu_memcpy", CTS_PROFILE_COPY},
        {"gpu_memset", CTS_PROFILE_MEMSET},
        {"cuda_sync", CTS_PROFILE_SYNC},
        {"user_annotation", CTS_PROFILE_ANNOTATION},
        {"gpu_user_annotation", CTS_PROFILE_GPU_ANNOTATION},
        {"Trace", CTS_PROFILE_SPAN},
        {"overhead", CTS_PROFILE_SPAN},
        {"os_runtime", CTS_PROFILE_SYSTEM}, /* Nsight Systems */
        /* before PyTorch 1.13 */
        {"Operator", CTS_PROFILE_OPERATOR},
        {"operator", CTS_PROFILE_OPERATOR},
        {"Runtime", CTS_PROFILE_RUNTIME},
        {"Kernel", CTS_PROFILE_KERNEL},
        {"Memcpy", CTS_PROFILE_COPY},
        {"Memset", CTS_PROFILE_MEMSET},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i].name, category)) return names[i].class;
    return CTS_PROFILE_UNKNOWN;
}

/* "cpu_op"; of what has no duration also the phase: "ac2g s", "M". */
static enum cts_status count_category(struct cts_profile_rank *rank, const char *category,
                                      const char *phase, struct cts_error *error)
{
    rank->scratch.count = 0;
    const bool is_duration = !strcmp(phase, "X");
    if (!append(rank, category, error) ||
        !append(rank, *category && !is_duration ? " " : "", error) ||
        !append(rank, is_duration && *category ? "" : phase, error))
        return CTS_MEMORY;
    const char *const text =
        rank->count_of_category.count < CATEGORIES_MAX ? rank->scratch.items : "others";
    uint64_t *const count = value_of(rank, &rank->count_of_category, *text ? text : "?", error);
    if (!count) return CTS_MEMORY;
    ++*count;
    return CTS_OK;
}

static enum cts_status take_name(struct cts_profile_rank *rank, const struct cts_profile_event *e,
                                 struct cts_error *error)
{
    const char *const what = cts_profile_text(e, CTS_PROFILE_NAME);
    const char *const name = cts_profile_text(e, CTS_PROFILE_ARGUMENT_NAME);
    if (!*name || (strcmp(what, "thread_name") && strcmp(what, "process_name"))) return CTS_OK;
    if (!name_key(rank, e, error)) return CTS_MEMORY;
    if (!strcmp(what, "process_name")) {
        char *const slash = strchr(rank->scratch.items, '/');
        if (slash) *slash = 0;
    }
    uint64_t *const place = value_of(rank, &rank->name_of_key, rank->scratch.items, error);
    const char *const kept = place ? keep(rank, name, error) : NULL;
    if (!kept) return CTS_MEMORY;
    *place = rank->names.count;
    return CTS_OK;
}

static enum cts_status take_other(struct cts_profile_rank *rank, const struct cts_profile_event *e,
                                  const char *phase, struct cts_error *error)
{
    const char letter = strlen(phase) == 1 ? *phase : 0;
    if (letter == 'M') return take_name(rank, e, error);
    if (letter == 's' || letter == 'f' || letter == 't')
        rank->flows++;
    else if (letter == 'i' || letter == 'I' || letter == 'C')
        rank->memory_events += !strcmp(cts_profile_text(e, CTS_PROFILE_NAME), "[memory]");
    else
        rank->unknown_phases++;
    return CTS_OK;
}

enum cts_status cts_profile_rank_take(void *state, const struct cts_profile_event *e,
                                      struct cts_error *error)
{
    struct cts_profile_rank *const rank = state;
    const char *const phase = cts_profile_text(e, CTS_PROFILE_PHASE);
    const char *const category = cts_profile_text(e, CTS_PROFILE_CATEGORY);
    rank->event_count++;
    const enum cts_status status = count_category(rank, category, phase, error);
    if (status) return status;
    if (strcmp(phase, "X")) return take_other(rank, e, phase, error);
    const enum cts_profile_class class = class_of(category);
    if (class < CTS_PROFILE_KERNEL) return take_host(rank, e, class, error);
    if (class < CTS_PROFILE_SYNC) return take_device(rank, e, class, error);
    if (class == CTS_PROFILE_SYNC) return take_sync(rank, e, error);
    rank->counts[class]++;
    return CTS_OK;
}

void cts_profile_rank_release(struct cts_profile_rank *rank)
{
    for (size_t i = 0; i < rank->regions.count; i++) {
        free(rank->regions.items[i].key);
        free(rank->regions.items[i].name);
        free(rank->regions.items[i].canonical_name);
        free(rank->regions.items[i].file);
    }
    for (size_t i = 0; i < rank->names.count; i++) free(rank->names.items[i]);
    cts_spill_release(&rank->host);
    cts_spill_release(&rank->device);
    cts_text_map_release(&rank->track_of_key);
    cts_text_map_release(&rank->region_of_key);
    cts_text_map_release(&rank->name_of_key);
    cts_text_map_release(&rank->count_of_category);
    cts_map_release(&rank->stream_of_number);
    cts_map_release(&rank->work);
    cts_map_release(&rank->waited);
    free(rank->tracks.items);
    free(rank->streams.items);
    free(rank->regions.items);
    free(rank->collectives.items);
    free(rank->names.items);
    free(rank->scratch.items);
    *rank = (struct cts_profile_rank){0};
}

struct cts_profile_device *cts_profile_file_add_device(struct cts_profile_file *file,
                                                       struct cts_error *error)
{
    void *devices = file->devices;
    if (file->device_count == file->device_capacity &&
        cts_array_grow(&devices, &file->device_capacity, file->device_count + 1,
                       sizeof *file->devices, error))
        return NULL;
    file->devices = devices;
    file->devices[file->device_count] =
        (struct cts_profile_device){.number = (uint32_t)file->device_count};
    return &file->devices[file->device_count++];
}

void cts_profile_file_release(struct cts_profile_file *file)
{
    for (size_t i = 0; i < file->device_count; i++) free(file->devices[i].name);
    free(file->devices);
    *file = (struct cts_profile_file){0};
}
