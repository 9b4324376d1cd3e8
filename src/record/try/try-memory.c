#include "record/try/try-memory.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"

enum { PART_BYTES = 1 << 20 };

static size_t page_count(const struct cts_try_region *region)
{
    return (size_t)((region->size_bytes + CTS_TRY_PAGE_BYTES - 1) / CTS_TRY_PAGE_BYTES);
}

static void release_region(struct cts_try_region *region)
{
    for (size_t i = 0; region->first && i < page_count(region); i++) free(region->first[i]);
    free(region->first);
    free(region->begin);
    free(region->end);
    free(region->mask);
}

void cts_try_memory_release(struct cts_try_memory *memory)
{
    for (size_t i = 0; i < memory->count; i++) release_region(&memory->items[i]);
    free(memory->items);
    *memory = (struct cts_try_memory){.limit_bytes = memory->limit_bytes};
}

/* Room for a copy of a region. */
static uint8_t *room(struct cts_try_memory *memory, uint64_t size_bytes, struct cts_error *error)
{
    memory->saved_bytes += size_bytes;
    if (memory->limit_bytes && memory->saved_bytes > memory->limit_bytes) {
        (void)cts_fail(error, CTS_LIMIT,
                       "saving the memory takes more than %llu MiB (--memory-limit)",
                       (unsigned long long)(memory->limit_bytes >> 20));
        return NULL;
    }
    uint8_t *const bytes = malloc(size_bytes ? size_bytes : 1);
    if (!bytes)
        (void)cts_fail(error, CTS_MEMORY, "no memory to save %llu bytes",
                       (unsigned long long)size_bytes);
    return bytes;
}

static struct cts_try_region *add(struct cts_try_memory *memory, struct cts_trial_range range,
                                  struct cts_error *error)
{
    if (CTS_ARRAY_RESERVE(memory, memory->count + 1, error)) return NULL;
    struct cts_try_region *const region = &memory->items[memory->count++];
    *region = (struct cts_try_region){.address = range.address, .size_bytes = range.size_bytes};
    return region;
}

enum cts_status cts_try_memory_add(struct cts_try_memory *memory,
                                   const struct cts_try_device *device,
                                   struct cts_trial_range range, struct cts_error *error)
{
    struct cts_try_region *const region = add(memory, range, error);
    if (!region) return CTS_MEMORY;
    region->begin = room(memory, range.size_bytes, error);
    if (!region->begin) return error->status;
    device->read(device->state, range.address, region->begin, range.size_bytes);
    return CTS_OK;
}

enum cts_status cts_try_memory_add_payload(struct cts_try_memory *memory,
                                           struct cts_trial_range range, const void *content,
                                           struct cts_error *error)
{
    struct cts_try_region *const region = add(memory, range, error);
    if (!region) return CTS_MEMORY;
    region->end = room(memory, range.size_bytes, error);
    if (!region->end) return error->status;
    memcpy(region->end, content, range.size_bytes);
    return CTS_OK;
}

enum cts_status cts_try_memory_close(struct cts_try_memory *memory,
                                     const struct cts_try_device *device, struct cts_error *error)
{
    for (size_t i = 0; i < memory->count; i++) {
        struct cts_try_region *const region = &memory->items[i];
        if (region->end) continue;
        region->end = room(memory, region->size_bytes, error);
        if (!region->end) return error->status;
        device->read(device->state, region->address, region->end, region->size_bytes);
        region->stays = memcmp(region->begin, region->end, region->size_bytes) == 0;
    }
    return CTS_OK;
}

enum cts_status cts_try_memory_exclude(struct cts_try_memory *memory, size_t index,
                                       struct cts_trial_range range, struct cts_error *error)
{
    struct cts_try_region *const region = &memory->items[index];
    const uint64_t region_end = region->address + region->size_bytes;
    const uint64_t first = range.address > region->address ? range.address : region->address;
    const uint64_t end = range.address + range.size_bytes < region_end
                             ? range.address + range.size_bytes
                             : region_end;
    if (first >= end) return CTS_OK;
    if (!region->mask) region->mask = calloc(1, region->size_bytes / 8 + 1);
    if (!region->mask) return cts_fail(error, CTS_MEMORY, "no memory");
    for (uint64_t at = first - region->address; at < end - region->address; at++) {
        region->excluded_bytes += !cts_try_is_masked(region, at);
        region->mask[at / 8] |= (uint8_t)(1u << (at % 8));
    }
    return CTS_OK;
}

/* ---- restoring ---- */

/* What the program left there, inverted: a copy that is left out cannot look as if it had come. */
static void spoil_payload(const struct cts_try_region *region, const struct cts_try_device *device)
{
    uint8_t part[CTS_TRY_PAGE_BYTES];
    for (uint64_t at = 0; at < region->size_bytes; at += sizeof part) {
        const uint64_t left = region->size_bytes - at;
        const size_t size = left < sizeof part ? (size_t)left : sizeof part;
        for (size_t i = 0; i < size; i++) part[i] = (uint8_t)~region->end[at + i];
        device->write(device->state, region->address + at, part, size);
    }
}

static void spoil(struct cts_trial_range range, const struct cts_try_device *device)
{
    uint8_t part[CTS_TRY_PAGE_BYTES];
    memset(part, CTS_TRY_SPOILT, sizeof part);
    for (uint64_t at = 0; at < range.size_bytes; at += sizeof part) {
        const uint64_t left = range.size_bytes - at;
        device->write(device->state, range.address + at, part,
                      left < sizeof part ? (size_t)left : sizeof part);
    }
}

static bool is_inside(struct cts_trial_range range, const struct cts_try_region *region)
{
    return range.address >= region->address && range.size_bytes <= region->size_bytes &&
           range.address - region->address <= region->size_bytes - range.size_bytes;
}

static void restore(const struct cts_try_memory *memory, const struct cts_try_device *device,
                    bool to_end, bool only_changed)
{
    for (size_t i = 0; i < memory->count; i++) {
        const struct cts_try_region *const region = &memory->items[i];
        const uint8_t *const content = to_end ? region->end : region->begin;
        if (only_changed && region->stays) continue;
        if (content && (region->begin || !to_end))
            device->write(device->state, region->address, content, region->size_bytes);
        else if (!region->begin && region->end && !to_end)
            spoil_payload(region, device);
    }
    for (size_t i = 0; i < memory->unused_count && !to_end; i++)
        for (size_t k = 0; k < memory->count; k++)
            if (is_inside(memory->unused[i], &memory->items[k])) spoil(memory->unused[i], device);
}

void cts_try_memory_restore(const struct cts_try_memory *memory,
                            const struct cts_try_device *device, bool to_end)
{
    restore(memory, device, to_end, false);
}

void cts_try_memory_restore_changed(const struct cts_try_memory *memory,
                                    const struct cts_try_device *device)
{
    restore(memory, device, false, true);
}
