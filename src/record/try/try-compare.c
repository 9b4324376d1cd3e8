/* Comparing memory with what the program itself left in it, byte by byte where a page differs. */
#include <stdlib.h>
#include <string.h>

#include "common/search.h"
#include "record/try/try-memory.h"

/* A page of a region, and what it holds now. */
struct page {
    const struct cts_try_region *region;
    uint64_t offset;
    size_t size_bytes;
    uint8_t now[CTS_TRY_PAGE_BYTES];
};

static void read_page(struct page *page, const struct cts_try_device *device)
{
    const uint64_t left = page->region->size_bytes - page->offset;
    page->size_bytes = left < CTS_TRY_PAGE_BYTES ? (size_t)left : CTS_TRY_PAGE_BYTES;
    device->read(device->state, page->region->address + page->offset, page->now, page->size_bytes);
}

static bool is_dead(const struct cts_try_memory *memory, uint64_t address)
{
    const size_t i = CTS_SEARCH(memory->dead_count, k,
                                memory->dead[k].address + memory->dead[k].size_bytes <= address);
    return i < memory->dead_count && memory->dead[i].address <= address;
}

static bool set_bit(uint8_t *bits, uint64_t at)
{
    const bool was_set = bits[at / 8] >> (at % 8) & 1;
    bits[at / 8] |= (uint8_t)(1u << (at % 8));
    return was_set;
}

/* ---- a replay and the program ---- */

static void note_value(struct cts_trial_difference *difference, const struct page *page, size_t at)
{
    const size_t left = page->size_bytes - at;
    const size_t size = left < CTS_TRIAL_VALUE_BYTES ? left : CTS_TRIAL_VALUE_BYTES;
    difference->first_offset = page->offset + at;
    memset(difference->expected, 0, sizeof difference->expected);
    memset(difference->found, 0, sizeof difference->found);
    memcpy(difference->expected, page->region->end + page->offset + at, size);
    memcpy(difference->found, page->now + at, size);
}

/* A byte that is read later counts; the first of them is the one that is shown. */
static void count_byte(const struct cts_try_memory *memory, const struct page *page, size_t at,
                       struct cts_trial_difference *difference)
{
    const bool is_first = !difference->byte_count || page->offset + at < difference->first_offset;
    if (is_dead(memory, page->region->address + page->offset + at)) {
        if (!difference->byte_count && !difference->dead_count) note_value(difference, page, at);
        difference->dead_count++;
        return;
    }
    if (is_first) note_value(difference, page, at);
    difference->byte_count++;
}

/* Counts the page's bytes that differ and were not seen to before; whether any differs. */
static bool count_page(const struct cts_try_memory *memory, const struct page *page, uint8_t *seen,
                       struct cts_trial_difference *difference)
{
    bool differs = false;
    for (size_t i = 0; i < page->size_bytes; i++) {
        const uint64_t at = page->offset + i;
        if (page->now[i] == page->region->end[at] || cts_try_is_masked(page->region, at)) continue;
        differs = true;
        if (!set_bit(seen, at)) count_byte(memory, page, i, difference);
    }
    return differs;
}

/* The index of the region's entry in the result, or the count of entries. */
static size_t entry_of(const struct cts_trial_result *result, uint32_t region)
{
    size_t i = 0;
    while (i < result->difference_count && result->differences[i].region != region) i++;
    return i;
}

static enum cts_status compare_region(const struct cts_try_memory *memory, uint32_t index,
                                      const struct cts_try_device *device, uint8_t **seen,
                                      struct cts_trial_difference *difference)
{
    const struct cts_try_region *const region = &memory->items[index];
    struct page page = {.region = region};
    bool differs = false;
    for (; page.offset < region->size_bytes; page.offset += CTS_TRY_PAGE_BYTES) {
        read_page(&page, device);
        if (memcmp(page.now, region->end + page.offset, page.size_bytes) == 0) continue;
        if (!*seen && !(*seen = calloc(1, region->size_bytes / 8 + 1))) return CTS_MEMORY;
        differs |= count_page(memory, &page, *seen, difference);
    }
    difference->replays += differs;
    return CTS_OK;
}

enum cts_status cts_try_compare(const struct cts_try_memory *memory,
                                const struct cts_try_device *device, uint8_t **seen,
                                struct cts_trial_result *result, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < memory->count && !status; i++) {
        const size_t entry = entry_of(result, (uint32_t)i);
        const bool is_new = entry == result->difference_count;
        struct cts_trial_difference found = {.region = (uint32_t)i, .origin = CTS_TRIAL_NONE};
        if (!is_new) found = result->differences[entry];
        if (compare_region(memory, (uint32_t)i, device, &seen[i], &found))
            status = cts_fail(error, CTS_MEMORY, "no memory");
        else if (found.replays && is_new)
            status = cts_trial_result_add(result, &found, error);
        else if (found.replays)
            result->differences[entry] = found;
    }
    return status;
}

/* ---- unchanged replays among themselves ---- */

static enum cts_status keep_first(struct cts_try_region *region, const struct page *page)
{
    const size_t pages = (size_t)(region->size_bytes / CTS_TRY_PAGE_BYTES) + 1;
    if (!region->first && !(region->first = calloc(pages, sizeof *region->first)))
        return CTS_MEMORY;
    uint8_t *const copy = malloc(CTS_TRY_PAGE_BYTES);
    if (!copy) return CTS_MEMORY;
    memcpy(copy, page->now, page->size_bytes);
    region->first[page->offset / CTS_TRY_PAGE_BYTES] = copy;
    return CTS_OK;
}

/* As the first unchanged replay left the page. */
static const uint8_t *first_of(const struct cts_try_region *region, uint64_t offset)
{
    const uint8_t *const page = region->first ? region->first[offset / CTS_TRY_PAGE_BYTES] : NULL;
    return page ? page : region->end + offset;
}

static enum cts_status mask_page(struct cts_try_region *region, const struct page *page)
{
    const uint8_t *const first = first_of(region, page->offset);
    if (memcmp(page->now, first, page->size_bytes) == 0) return CTS_OK;
    if (!region->mask && !(region->mask = calloc(1, region->size_bytes / 8 + 1))) return CTS_MEMORY;
    for (size_t i = 0; i < page->size_bytes; i++)
        if (page->now[i] != first[i]) (void)set_bit(region->mask, page->offset + i);
    return CTS_OK;
}

enum cts_status cts_try_learn(struct cts_try_memory *memory, const struct cts_try_device *device,
                              bool is_first, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < memory->count && !status; i++) {
        struct cts_try_region *const region = &memory->items[i];
        struct page page = {.region = region};
        for (; page.offset < region->size_bytes && !status; page.offset += CTS_TRY_PAGE_BYTES) {
            read_page(&page, device);
            const bool as_program =
                memcmp(page.now, region->end + page.offset, page.size_bytes) == 0;
            region->stays &= as_program;
            if (!is_first)
                status = mask_page(region, &page);
            else if (!as_program)
                status = keep_first(region, &page);
        }
    }
    return status ? cts_fail(error, status, "no memory") : CTS_OK;
}

/* What differs from the program in every unchanged replay. */
static void sum_page(struct page *page, struct cts_trial_difference *difference)
{
    const struct cts_try_region *const region = page->region;
    memcpy(page->now, first_of(region, page->offset), page->size_bytes);
    for (size_t i = 0; i < page->size_bytes; i++) {
        const uint64_t at = page->offset + i;
        if (cts_try_is_masked(region, at)) continue;
        if (page->now[i] == region->end[at]) continue;
        if (!difference->byte_count) note_value(difference, page, i);
        difference->byte_count++;
    }
}

static uint64_t count_masked(const struct cts_try_region *region)
{
    uint64_t count = 0;
    for (uint64_t i = 0; region->mask && i < region->size_bytes / 8 + 1; i++)
        count += (uint64_t)__builtin_popcount(region->mask[i]);
    return count - region->excluded_bytes;
}

/* Of a payload, all. Masked bytes count: the stretch changes them. */
static uint64_t count_changed(const struct cts_try_region *region)
{
    uint64_t count = 0;
    if (!region->begin) return region->size_bytes;
    if (memcmp(region->begin, region->end, region->size_bytes) == 0) return count_masked(region);
    for (uint64_t i = 0; i < region->size_bytes; i++)
        count += region->begin[i] != region->end[i] || cts_try_is_masked(region, i);
    return count - region->excluded_bytes;
}

enum cts_status cts_try_sum_up(const struct cts_try_memory *memory, struct cts_trial_result *result,
                               struct cts_error *error)
{
    for (size_t i = 0; i < memory->count; i++) {
        const struct cts_try_region *const region = &memory->items[i];
        struct cts_trial_difference sum = {
            .region = (uint32_t)i, .origin = CTS_TRIAL_NONE, .masked_count = count_masked(region)};
        struct page page = {.region = region};
        for (; region->first && page.offset < region->size_bytes;
             page.offset += CTS_TRY_PAGE_BYTES) {
            const uint64_t left = region->size_bytes - page.offset;
            page.size_bytes = left < CTS_TRY_PAGE_BYTES ? (size_t)left : CTS_TRY_PAGE_BYTES;
            if (region->first[page.offset / CTS_TRY_PAGE_BYTES]) sum_page(&page, &sum);
        }
        sum.replays = sum.byte_count ? (uint32_t)result->repeats : 0;
        result->changed_bytes += count_changed(region);
        if ((sum.byte_count || sum.masked_count) && cts_trial_result_add(result, &sum, error))
            return CTS_MEMORY;
    }
    return CTS_OK;
}
