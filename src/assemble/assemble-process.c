/* One process from its logs: the definitions, and which locations there are. A log of definitions
 * that is damaged somewhere gives what stands before, as one of a killed process does. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "assemble/assemble-private.h"

/* More is damage. */
enum { NUMBERS_MAX = 1 << 24, RANKS_MAX = 1 << 16 };

/* Room for the definition of `number`. */
#define NUMBERED(process, list, number)                                                            \
    ((number) < (process)->number_limit ? ITEM((process)->list, (number), NULL) : NULL)

/* Room for item `number` of a list that is indexed by number; NULL: no memory or damage. */
#define ITEM(list, number, error)                                                                  \
    (check_number((number), (error)) || CTS_ARRAY_RESERVE(&(list), (size_t)(number) + 1, (error))  \
         ? NULL                                                                                    \
         : item_of((list).items, &(list).count, sizeof *(list).items, (number)))

static enum cts_status check_number(uint32_t number, struct cts_error *error)
{
    return number < NUMBERS_MAX
               ? CTS_OK
               : cts_fail(error, CTS_FORMAT, "definition %u is out of range", number);
}

/* The list has room; what stands before a new item is zero. */
static void *item_of(void *items, size_t *count, size_t item_bytes, uint32_t number)
{
    uint8_t *const bytes = items;
    if (*count <= number) {
        memset(bytes + *count * item_bytes, 0, ((size_t)number + 1 - *count) * item_bytes);
        *count = (size_t)number + 1;
    }
    return bytes + number * item_bytes;
}

/* ---- one definition each; false: the record makes no sense ---- */

static bool take_process(struct cts_log_process *p, const uint64_t *w, uint32_t count)
{
    if (count < 3 || p->host) return false;
    uint32_t at = 3;
    p->pid = (uint32_t)(w[0] >> 32);
    p->start_ns = w[1];
    p->unix_start_ns = w[2];
    return cts_log_take_text(w, count, &at, &p->host) &&
           cts_log_take_text(w, count, &at, &p->boot) &&
           cts_log_take_text(w, count, &at, &p->program) &&
           cts_log_take_text(w, count, &at, &p->arguments);
}

static bool take_region(struct cts_log_process *p, const uint64_t *w, uint32_t count)
{
    if (count < 3 || (uint32_t)w[1] > CTS_PARADIGM_OTHER || w[1] >> 32 > CTS_ROLE_OTHER)
        return false;
    struct cts_timeline_region *const region = NUMBERED(p, regions, (uint32_t)(w[0] >> 32));
    if (!region || region->name) return false;
    char *name, *canonical, *file = NULL;
    uint32_t at = 3;
    const bool sound = cts_log_take_text(w, count, &at, &name) && name;
    if (!sound) return false;
    region->name = name;
    if (!cts_log_take_text(w, count, &at, &canonical)) return false;
    region->canonical_name = canonical;
    if (!cts_log_take_text(w, count, &at, &file)) return false;
    region->file = file;
    region->begin_line = (uint32_t)w[2];
    region->end_line = (uint32_t)(w[2] >> 32);
    region->paradigm = (enum cts_paradigm)(uint32_t)w[1];
    region->role = (enum cts_region_role)(w[1] >> 32);
    return true;
}

static bool take_communicator(struct cts_log_process *p, const uint64_t *w, uint32_t count)
{
    if (count < 5) return false;
    struct cts_local_communicator *const c = NUMBERED(p, communicators, (uint32_t)(w[0] >> 32));
    if (!c) return false;
    char *name;
    uint32_t at = 4;
    if (!cts_log_take_text(w, count, &at, &name)) return false;
    c->creator = (uint32_t)w[1];
    c->number = (uint32_t)(w[1] >> 32);
    c->parent_creator = (uint32_t)w[2];
    c->parent_number = (uint32_t)(w[2] >> 32);
    if (name && !c->name)
        c->name = name;
    else
        free(name);
    c->group = w[3] >> 32 == 1;
    const uint32_t member_count = (uint32_t)w[3];
    if (member_count && !c->members && member_count <= RANKS_MAX && w[3] >> 32 <= 1) {
        c->members = malloc(member_count * sizeof *c->members);
        if (!c->members) return false;
        memset(c->members, 0xff, member_count * sizeof *c->members);
        c->member_count = member_count;
    }
    return true;
}

static bool take_members(struct cts_log_process *p, const uint64_t *w, uint32_t count)
{
    const uint32_t number = (uint32_t)(w[0] >> 32);
    if (count < 2 || number >= p->communicators.count) return false;
    struct cts_local_communicator *const c = &p->communicators.items[number];
    const uint32_t first = (uint32_t)w[1], part = (uint32_t)(w[1] >> 32);
    if (part > c->member_count || first > c->member_count - part || (part + 1) / 2 > count - 2)
        return false;
    for (uint32_t i = 0; i < part; i++)
        c->members[first + i] = (uint32_t)(w[2 + i / 2] >> (i % 2 ? 32 : 0));
    return true;
}

static bool take_window(struct cts_log_process *p, const uint64_t *w, uint32_t count)
{
    if (count < 3) return false;
    struct cts_local_window *const window = NUMBERED(p, windows, (uint32_t)(w[0] >> 32));
    uint32_t at = 2;
    if (!window || window->name) return false;
    window->communicator = (uint32_t)w[1];
    return cts_log_take_text(w, count, &at, &window->name);
}

static bool take_named(struct cts_log_process *p, const uint64_t *w, uint32_t count)
{
    const uint32_t high = (uint32_t)(w[0] >> 32);
    char *text;
    uint32_t at = 1;
    if (!cts_log_take_text(w, count, &at, &text) || !text) return false;
    const unsigned type = w[0] & 0xff;
    if (type == CTS_RECORD_MESSAGE) {
        struct cts_process_message *const message =
            ITEM(p->messages, (uint32_t)p->messages.count, NULL);
        if (message) *message = (struct cts_process_message){.level = high, .text = text};
        return message;
    }
    if (type == CTS_RECORD_DEVICE) {
        struct cts_process_device *const device =
            ITEM(p->devices, (uint32_t)p->devices.count, NULL);
        char *kind = NULL;
        const bool is_cpu =
            cts_log_take_text(w, count, &at, &kind) && kind && strcmp(kind, "cpu") == 0;
        free(kind);
        if (device)
            *device = (struct cts_process_device){.device = high, .name = text, .is_cpu = is_cpu};
        return device;
    }
    const uint64_t *const log = cts_map_find(&p->log_of_index, high);
    char **const name = log && *log ? &p->logs.items[*log - 1].name : NULL;
    if (!name) {
        free(text);
        return true; /* the thread's own log was not made */
    }
    free(*name);
    *name = text;
    return true;
}

static bool take_lost(struct cts_log_process *p, const uint64_t *w, uint32_t count)
{
    char *what, *line = NULL;
    uint32_t at = 2;
    if (count < 3 || !cts_log_take_text(w, count, &at, &what) || !what) return false;
    p->lost_count += w[1];
    struct cts_process_message *const message =
        ITEM(p->messages, (uint32_t)p->messages.count, NULL);
    if (message && asprintf(&line, "lost: %s: %llu", what, (unsigned long long)w[1]) > 0)
        *message = (struct cts_process_message){.level = 1, .text = line};
    free(what);
    return message && line;
}

static bool take_definition(struct cts_log_process *p, const uint64_t *w, uint32_t count)
{
    switch (w[0] & 0xff) {
    case CTS_RECORD_PROCESS:
        return take_process(p, w, count);
    case CTS_RECORD_REGION:
        return take_region(p, w, count);
    case CTS_RECORD_COMMUNICATOR:
        return take_communicator(p, w, count);
    case CTS_RECORD_MEMBERS:
        return take_members(p, w, count);
    case CTS_RECORD_WINDOW:
        return take_window(p, w, count);
    case CTS_RECORD_THREAD_NAME:
    case CTS_RECORD_DEVICE:
    case CTS_RECORD_MESSAGE:
        return take_named(p, w, count);
    case CTS_RECORD_LOST:
        return take_lost(p, w, count);
    case CTS_RECORD_MPI:
        if (count < 2 || w[1] > RANKS_MAX || w[0] >> 32 >= w[1]) return false;
        p->is_mpi = true;
        p->mpi_rank = (uint32_t)(w[0] >> 32);
        p->mpi_count = (uint32_t)w[1];
        return true;
    case CTS_RECORD_CLOCK: {
        struct cts_clock_reading *const reading =
            count < 3 ? NULL : ITEM(p->clock, (uint32_t)p->clock.count, NULL);
        if (reading) *reading = (struct cts_clock_reading){w[1], (int64_t)w[2]};
        return reading;
    }
    case CTS_RECORD_FINISH:
        if (count >= 2) p->finish_ns = w[1];
        return count >= 2;
    default:
        return false;
    }
}

/* ---- the directory ---- */

static enum cts_status add_log(struct cts_log_process *p, const char *name, struct cts_error *error)
{
    struct cts_location_log log = {.location = CTS_TIMELINE_NONE};
    if (asprintf(&log.path, "%s/%s", p->directory, name) < 0)
        return cts_fail(error, CTS_MEMORY, "out of memory");
    struct cts_log_reader reader;
    enum cts_status status = cts_log_open(log.path, &reader, error);
    if (!status) {
        log.header = reader.header;
        cts_log_reader_close(&reader);
        if (log.header.kind == CTS_LOG_DEFINITIONS)
            status = cts_fail(error, CTS_FORMAT, "'%s' is not a timeline log", log.path);
    } else if (status == CTS_FORMAT) {
        free(log.path);
        struct cts_process_message *const message =
            ITEM(p->messages, (uint32_t)p->messages.count, error);
        if (!message) return CTS_MEMORY;
        *message = (struct cts_process_message){.level = 2, .text = strdup(error->text)};
        return CTS_OK; /* killed before the header was there, or damaged: nothing to read */
    }
    if (!status) status = CTS_ARRAY_RESERVE(&p->logs, p->logs.count + 1, error);
    if (status) {
        free(log.path);
        return status;
    }
    p->logs.items[p->logs.count++] = log;
    uint64_t *const place = cts_map_at(&p->log_of_index, log.header.index, error);
    if (!place) return CTS_MEMORY;
    *place = p->logs.count;
    return CTS_OK;
}

static int by_index(const void *left, const void *right)
{
    const struct cts_location_log *const a = left, *const b = right;
    if (a->header.kind != b->header.kind) return a->header.kind < b->header.kind ? -1 : 1;
    if (a->header.kind == CTS_LOG_STREAM) {
        if (a->header.device != b->header.device)
            return a->header.device < b->header.device ? -1 : 1;
        if (a->header.ordinal != b->header.ordinal)
            return a->header.ordinal < b->header.ordinal ? -1 : 1;
    }
    return a->header.index < b->header.index ? -1 : a->header.index > b->header.index;
}

/* Threads in the order of their first event, then streams by device and ordinal. */
static enum cts_status find_logs(struct cts_log_process *p, struct cts_error *error)
{
    DIR *const directory = opendir(p->directory);
    if (!directory) return cts_fail_errno(error, errno, "cannot read '%s'", p->directory);
    enum cts_status status = CTS_OK;
    struct dirent *entry;
    while (!status && (entry = readdir(directory))) {
        char *end;
        strtoul(entry->d_name, &end, 10);
        if (end != entry->d_name && strcmp(end, ".log") == 0)
            status = add_log(p, entry->d_name, error);
    }
    closedir(directory);
    if (status) return status;
    if (p->logs.count) qsort(p->logs.items, p->logs.count, sizeof *p->logs.items, by_index);
    for (size_t i = 0; i < p->logs.count; i++) {
        uint64_t *const place = cts_map_at(&p->log_of_index, p->logs.items[i].header.index, error);
        if (!place) return CTS_MEMORY;
        *place = i + 1;
    }
    return CTS_OK;
}

static enum cts_status read_definitions(struct cts_log_process *p, struct cts_error *error)
{
    char *path = NULL;
    struct cts_log_reader reader;
    if (asprintf(&path, "%s/definitions.log", p->directory) < 0)
        return cts_fail(error, CTS_MEMORY, "out of memory");
    enum cts_status status = cts_log_open(path, &reader, error);
    free(path);
    if (status) return status;
    struct stat file;
    const bool is_known = fstat(reader.file, &file) == 0 && file.st_size / 8 < NUMBERS_MAX;
    p->number_limit = is_known ? (uint32_t)(file.st_size / 8) : NUMBERS_MAX;
    const uint64_t *words;
    uint32_t count;
    bool sound = true;
    int problem = 0;
    while (sound && (words = cts_log_next(&reader, &count, &status, error))) {
        errno = 0;
        sound = take_definition(p, words, count);
        problem = errno;
    }
    cts_log_reader_close(&reader);
    if (!sound && problem == ENOMEM) /* no damage: the log stays for another try */
        return cts_fail(error, CTS_MEMORY, "out of memory");
    if (!sound || status == CTS_FORMAT) {
        struct cts_process_message *const message =
            ITEM(p->messages, (uint32_t)p->messages.count, error);
        if (!message) return CTS_MEMORY;
        *message = (struct cts_process_message){
            .level = 2,
            .text =
                strdup("the log of definitions is damaged: everything after the damage is lost")};
        status = CTS_OK;
    }
    return status;
}

enum cts_status cts_read_process(const char *directory, uint32_t rank,
                                 struct cts_log_process *process, struct cts_error *error)
{
    *process = (struct cts_log_process){.catalogue_rank = rank, .cuda_window = CTS_TIMELINE_NONE};
    process->directory = strdup(directory);
    if (!process->directory) return cts_fail(error, CTS_MEMORY, "out of memory");
    enum cts_status status = find_logs(process, error);
    if (!status) status = read_definitions(process, error);
    return status;
}

void cts_log_process_release(struct cts_log_process *p)
{
    for (size_t i = 0; i < p->regions.count; i++) {
        free((char *)(uintptr_t)p->regions.items[i].name);
        free((char *)(uintptr_t)p->regions.items[i].canonical_name);
        free((char *)(uintptr_t)p->regions.items[i].file);
    }
    for (size_t i = 0; i < p->communicators.count; i++) {
        free(p->communicators.items[i].name);
        free(p->communicators.items[i].members);
    }
    for (size_t i = 0; i < p->windows.count; i++) free(p->windows.items[i].name);
    for (size_t i = 0; i < p->logs.count; i++) {
        free(p->logs.items[i].path);
        free(p->logs.items[i].name);
    }
    for (size_t i = 0; i < p->messages.count; i++) free(p->messages.items[i].text);
    for (size_t i = 0; i < p->devices.count; i++) free(p->devices.items[i].name);
    free(p->clock.items);
    free(p->regions.items);
    free(p->region_map.items);
    free(p->communicators.items);
    free(p->windows.items);
    free(p->logs.items);
    free(p->messages.items);
    free(p->devices.items);
    cts_map_release(&p->log_of_index);
    free(p->host);
    free(p->boot);
    free(p->program);
    free(p->arguments);
    free(p->directory);
    *p = (struct cts_log_process){0};
}
