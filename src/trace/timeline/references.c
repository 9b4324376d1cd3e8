/* References of an archive (any numbers) to indices of our arrays. */
#include <string.h>

#include "common/search.h"
#include "trace/timeline/timeline-private.h"

bool cts_timeline_grow(void **items, size_t count, size_t *capacity, size_t item_bytes)
{
    if (count < *capacity) return true;
    const size_t wanted = *capacity ? *capacity * 2 : 16;
    void *const grown = reallocarray(*items, wanted, item_bytes);
    if (!grown) return false;
    *items = grown;
    *capacity = wanted;
    return true;
}

bool cts_references_add(struct cts_references *references, uint64_t reference, uint32_t index)
{
    void *items = references->entries;
    if (!cts_timeline_grow(&items, references->count, &references->capacity,
                           sizeof *references->entries))
        return false;
    references->entries = items;
    references->entries[references->count++] = (struct cts_reference){reference, index};
    return true;
}

static int by_reference(const void *left, const void *right)
{
    const struct cts_reference *const a = left, *const b = right;
    if (a->reference != b->reference) return a->reference < b->reference ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

bool cts_references_settle(struct cts_references *references)
{
    if (!references->count) return true;
    qsort(references->entries, references->count, sizeof *references->entries, by_reference);
    const uint64_t largest = references->entries[references->count - 1].reference;
    const uint64_t table_max = 4 * (uint64_t)references->count + 4096;
    uint64_t table_count = largest < table_max ? largest + 1 : 0;
    if (!table_count) return true;
    references->table = malloc(table_count * sizeof *references->table);
    if (!references->table) return false;
    memset(references->table, 0xff, table_count * sizeof *references->table);
    references->table_count = table_count;
    for (size_t i = references->count; i-- > 0;) /* of two with one reference the first counts */
        references->table[references->entries[i].reference] = references->entries[i].index;
    return true;
}

uint32_t cts_references_search(const struct cts_references *references, uint64_t reference)
{
    const size_t at =
        CTS_SEARCH(references->count, i, references->entries[i].reference < reference);
    if (at == references->count || references->entries[at].reference != reference)
        return CTS_TIMELINE_NONE;
    return references->entries[at].index;
}

void cts_references_release(struct cts_references *references)
{
    free(references->entries);
    free(references->table);
    *references = (struct cts_references){0};
}
