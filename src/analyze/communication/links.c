/* Links of a CTA by writer: a list in the order of first use, and a hash into it. A CTA mostly
 * reads from few nodes, several times in a row: the last one is tried first. */
#include <stdlib.h>
#include <string.h>

#include "analyze/communication/comm-model.h"

static inline size_t slot_of(const struct cts_comm_links *links, uint32_t writer)
{
    return (writer * 0x9e3779b1u >> 7) & (links->slot_count - 1);
}

static enum cts_status grow_slots(struct cts_comm_links *links, struct cts_error *error)
{
    const size_t slot_count = links->slot_count ? links->slot_count * 2 : 32;
    uint32_t *const slots = cts_array_zeroed(slot_count, sizeof *slots, error);
    if (!slots) return CTS_MEMORY;
    free(links->slots);
    links->slots = slots;
    links->slot_count = slot_count;
    for (size_t i = 0; i < links->count; i++) {
        size_t slot = slot_of(links, links->items[i].writer);
        while (slots[slot]) slot = (slot + 1) & (slot_count - 1);
        slots[slot] = (uint32_t)i + 1;
    }
    return CTS_OK;
}

struct cts_comm_link *cts_comm_link_of(struct cts_comm_links *links, uint32_t writer,
                                       struct cts_error *error)
{
    if (links->count && links->items[links->last].writer == writer)
        return &links->items[links->last];
    if (links->count * 2 >= links->slot_count && grow_slots(links, error)) return NULL;
    size_t slot = slot_of(links, writer);
    while (links->slots[slot] && links->items[links->slots[slot] - 1].writer != writer)
        slot = (slot + 1) & (links->slot_count - 1);
    if (!links->slots[slot]) {
        if (CTS_ARRAY_RESERVE(links, links->count + 1, error)) return NULL;
        links->items[links->count++] = (struct cts_comm_link){.writer = writer};
        links->slots[slot] = (uint32_t)links->count;
    }
    links->last = links->slots[slot] - 1;
    return &links->items[links->last];
}

void cts_comm_links_clear(struct cts_comm_links *links)
{
    if (links->count * 8 < links->slot_count) {
        for (size_t i = 0; i < links->count; i++) {
            size_t slot = slot_of(links, links->items[i].writer);
            while (links->slots[slot] != i + 1) slot = (slot + 1) & (links->slot_count - 1);
            links->items[i].bytes = slot; /* slots are emptied when all have been found */
        }
        for (size_t i = 0; i < links->count; i++) links->slots[links->items[i].bytes] = 0;
    } else if (links->slot_count) {
        memset(links->slots, 0, links->slot_count * sizeof *links->slots);
    }
    links->count = links->last = 0;
}

void cts_comm_links_release(struct cts_comm_links *links)
{
    free(links->items);
    free(links->slots);
    *links = (struct cts_comm_links){0};
}
