/* Pages of 64 KiB hold runs: where each begins, and its state. The runs that a node touches in a
 * page are gathered and merged with the page's in one go. */
#include "analyze/flow/flow-memory.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/hash.h"
#include "common/map.h"
#include "common/promise.h"

enum { PAGE_BITS = 16, PAGE_BYTES = 1 << PAGE_BITS };
#define TOUCH_MAX_BYTES (UINT64_C(1) << 40) /* a terabyte: more is damage */

struct run {
    uint32_t start; /* in the page; up to the next run's, or the page's end */
    uint32_t state;
};

struct page {
    struct run *runs;
    uint32_t count, capacity;
};

/* Records of four numbers that are kept once. */
struct interned {
    struct four {
        uint32_t numbers[4];
    } *items;
    size_t count, capacity;
    uint32_t *slots; /* index; 0: free */
    size_t slot_count;
};

struct touched {
    uint32_t start, end, ways;
};

struct cts_flow_memory {
    struct interned cells, states;
    struct cts_map page_index; /* number -> index + 1 */
    struct {
        struct page *items;
        size_t count, capacity;
    } pages;
    /* the node at hand */
    cts_flow_next next;
    void *context;
    uint64_t page; /* number + 1; 0: none */
    struct {
        struct touched *items;
        size_t count, capacity;
    } touched;
    struct {
        struct run *items;
        size_t count, capacity;
    } merged;
    struct {
        struct cts_flow_met *items;
        size_t count, capacity;
    } met;
    uint32_t *met_slots; /* index + 1 */
    size_t met_slot_count;
    uint32_t last_met; /* index + 1 of the one met last */
};

/* ---- interning ---- */

static size_t hash_of(const uint32_t numbers[4])
{
    const uint64_t first = numbers[0] | (uint64_t)numbers[1] << 32;
    const uint64_t second = numbers[2] | (uint64_t)numbers[3] << 32;
    return cts_hash_fold(cts_hash_fold(CTS_HASH_START, first), second);
}

static size_t find_slot(const struct interned *set, const uint32_t numbers[4])
{
    size_t slot = hash_of(numbers) & (set->slot_count - 1);
    while (set->slots[slot] &&
           memcmp(set->items[set->slots[slot]].numbers, numbers, sizeof set->items->numbers))
        slot = (slot + 1) & (set->slot_count - 1);
    return slot;
}

static enum cts_status grow_set(struct interned *set, struct cts_error *error)
{
    const size_t wanted = set->slot_count ? 2 * set->slot_count : 256;
    uint32_t *const slots = cts_array_zeroed(wanted, sizeof *slots, error);
    if (!slots) return CTS_MEMORY;
    free(set->slots);
    set->slots = slots;
    set->slot_count = wanted;
    for (size_t i = 1; i < set->count; i++)
        set->slots[find_slot(set, set->items[i].numbers)] = (uint32_t)i;
    return CTS_OK;
}

static enum cts_status intern(struct interned *set, const uint32_t numbers[4], uint32_t *number,
                              struct cts_error *error)
{
    assert(!set->slot_count || cts_is_power_of_two(set->slot_count));
    if (2 * set->count >= set->slot_count && grow_set(set, error)) return CTS_MEMORY;
    const size_t slot = find_slot(set, numbers);
    *number = set->slots[slot];
    if (*number) return CTS_OK;
    if (set->count >= UINT32_MAX)
        return cts_fail(error, CTS_LIMIT, "the run's memory has too many states");
    if (CTS_ARRAY_RESERVE(set, set->count + 1, error)) return CTS_MEMORY;
    memcpy(set->items[set->count].numbers, numbers, sizeof set->items->numbers);
    *number = set->slots[slot] = (uint32_t)set->count++;
    return CTS_OK;
}

/* Item 0 stands for none and is not looked up. */
static enum cts_status start_set(struct interned *set, struct cts_error *error)
{
    if (CTS_ARRAY_RESERVE(set, 1, error)) return CTS_MEMORY;
    set->items[0] = (struct four){{0}};
    set->count = 1;
    return CTS_OK;
}

struct cts_flow_cell cts_flow_cell_at(const struct cts_flow_memory *memory, uint32_t cell)
{
    assert(cell && cell < memory->cells.count);
    const uint32_t *const n = memory->cells.items[cell].numbers;
    return (struct cts_flow_cell){n[0], n[1], n[2], n[3]};
}

struct cts_flow_state cts_flow_state_at(const struct cts_flow_memory *memory, uint32_t state)
{
    assert(state < memory->states.count);
    const uint32_t *const n = memory->states.items[state].numbers;
    return (struct cts_flow_state){n[0], n[1], n[2], n[3]};
}

enum cts_status cts_flow_cell(struct cts_flow_memory *memory, const struct cts_flow_cell *cell,
                              uint32_t *number, struct cts_error *error)
{
    const uint32_t numbers[4] = {cell->node, cell->ways, cell->last_reader, cell->next};
    return intern(&memory->cells, numbers, number, error);
}

enum cts_status cts_flow_state(struct cts_flow_memory *memory, const struct cts_flow_state *state,
                               uint32_t *number, struct cts_error *error)
{
    const uint32_t numbers[4] = {state->tenant, state->writers, state->readers, state->was_read};
    if (!state->tenant && !state->writers && !state->readers && !state->was_read) {
        *number = 0;
        return CTS_OK;
    }
    return intern(&memory->states, numbers, number, error);
}

/* ---- life ---- */

enum cts_status cts_flow_memory_new(struct cts_flow_memory **memory, struct cts_error *error)
{
    *memory = cts_array_zeroed(1, sizeof **memory, error);
    if (!*memory) return CTS_MEMORY;
    enum cts_status status = start_set(&(*memory)->cells, error);
    if (!status) status = start_set(&(*memory)->states, error);
    if (status) {
        cts_flow_memory_free(*memory);
        *memory = NULL;
    }
    return status;
}

void cts_flow_memory_free(struct cts_flow_memory *memory)
{
    if (!memory) return;
    for (size_t i = 0; i < memory->pages.count; i++) free(memory->pages.items[i].runs);
    free(memory->pages.items);
    cts_map_release(&memory->page_index);
    free(memory->cells.items);
    free(memory->cells.slots);
    free(memory->states.items);
    free(memory->states.slots);
    free(memory->touched.items);
    free(memory->merged.items);
    free(memory->met.items);
    free(memory->met_slots);
    free(memory);
}

/* ---- what a node meets ---- */

static size_t met_slot(const struct cts_flow_memory *memory, uint32_t state, uint32_t ways)
{
    const uint64_t key = (uint64_t)state << 32 | ways;
    size_t slot = cts_hash_fold(CTS_HASH_START, key) & (memory->met_slot_count - 1);
    for (uint32_t at; (at = memory->met_slots[slot]);
         slot = (slot + 1) & (memory->met_slot_count - 1))
        if (memory->met.items[at - 1].state == state && memory->met.items[at - 1].ways == ways)
            break;
    return slot;
}

static enum cts_status grow_met(struct cts_flow_memory *memory, struct cts_error *error)
{
    const size_t wanted = memory->met_slot_count ? 2 * memory->met_slot_count : 64;
    uint32_t *const slots = cts_array_zeroed(wanted, sizeof *slots, error);
    if (!slots) return CTS_MEMORY;
    free(memory->met_slots);
    memory->met_slots = slots;
    memory->met_slot_count = wanted;
    for (size_t i = 0; i < memory->met.count; i++)
        memory->met_slots[met_slot(memory, memory->met.items[i].state, memory->met.items[i].ways)] =
            (uint32_t)i + 1;
    return CTS_OK;
}

static enum cts_status meet(struct cts_flow_memory *memory, uint32_t state, uint32_t ways,
                            struct cts_flow_met **met, struct cts_error *error)
{
    if (memory->last_met) {
        *met = &memory->met.items[memory->last_met - 1];
        if ((*met)->state == state && (*met)->ways == ways) return CTS_OK;
    }
    if (2 * memory->met.count >= memory->met_slot_count && grow_met(memory, error))
        return CTS_MEMORY;
    const size_t slot = met_slot(memory, state, ways);
    if (!memory->met_slots[slot]) {
        if (CTS_ARRAY_RESERVE(&memory->met, memory->met.count + 1, error)) return CTS_MEMORY;
        struct cts_flow_met added = {.state = state, .ways = ways, .first = UINT64_MAX};
        const enum cts_status status =
            memory->next(memory->context, state, ways, &added.next, error);
        if (status) return status;
        memory->met.items[memory->met.count++] = added;
        memory->met_slots[slot] = (uint32_t)memory->met.count;
    }
    memory->last_met = memory->met_slots[slot];
    *met = &memory->met.items[memory->last_met - 1];
    return CTS_OK;
}

/* ---- pages ---- */

static enum cts_status page_at(struct cts_flow_memory *memory, uint64_t number, size_t *index,
                               struct cts_error *error)
{
    uint64_t *const place = cts_map_at(&memory->page_index, number, error);
    if (!place) return CTS_MEMORY;
    if (!*place) {
        if (CTS_ARRAY_RESERVE(&memory->pages, memory->pages.count + 1, error)) return CTS_MEMORY;
        memory->pages.items[memory->pages.count++] = (struct page){0};
        *place = memory->pages.count;
    }
    *index = *place - 1;
    return CTS_OK;
}

static void add_run(struct cts_flow_memory *memory, uint32_t start, uint32_t state)
{
    struct run *const runs = memory->merged.items;
    const size_t count = memory->merged.count;
    assert(start < PAGE_BYTES && (!count || runs[count - 1].start < start));
    if (count && runs[count - 1].state == state) return;
    runs[memory->merged.count++] = (struct run){start, state};
}

/* Where run i of a page begins and ends, also of one that has no runs yet. */
static struct run run_of(const struct page *page, uint32_t i, uint32_t *end)
{
    *end = i + 1 < page->count ? page->runs[i + 1].start : PAGE_BYTES;
    return page->count ? page->runs[i] : (struct run){0, 0};
}

/* A stretch of a page that has one state and is touched in one way. */
struct stretch {
    uint64_t page_start;
    uint32_t start, end; /* from there */
    uint32_t state, ways;
};

static enum cts_status change(struct cts_flow_memory *memory, const struct stretch *stretch,
                              struct cts_error *error)
{
    assert(stretch->start < stretch->end && stretch->end <= PAGE_BYTES);
    const uint64_t first = stretch->page_start + stretch->start;
    const uint64_t end = stretch->page_start + stretch->end;
    struct cts_flow_met *met;
    const enum cts_status status = meet(memory, stretch->state, stretch->ways, &met, error);
    if (status) return status;
    met->bytes += end - first;
    met->sector_bytes += cts_flow_sector_bytes(first, end);
    if (first < met->first) met->first = first;
    if (end > met->end) met->end = end;
    add_run(memory, stretch->start, met->next);
    return CTS_OK;
}

static enum cts_status merge(struct cts_flow_memory *memory, const struct page *page,
                             uint64_t page_start, struct cts_error *error)
{
    uint32_t i = 0, at = 0, end;
    struct run old = run_of(page, 0, &end);
    enum cts_status status = CTS_OK;
    size_t k = 0;
    while (at < PAGE_BYTES && !status) {
        const struct touched *const new =
            k < memory->touched.count ? &memory->touched.items[k] : NULL;
        const bool is_touched = new && new->start <= at;
        uint32_t stop = is_touched ? new->end : new ? new->start : PAGE_BYTES;
        if (stop > end) stop = end;
        if (is_touched)
            status = change(memory, &(struct stretch){page_start, at, stop, old.state, new->ways},
                            error);
        else
            add_run(memory, at, old.state);
        at = stop;
        if (is_touched && at == new->end) k++;
        if (at == end && at < PAGE_BYTES) old = run_of(page, ++i, &end);
    }
    return status;
}

static enum cts_status flush(struct cts_flow_memory *memory, struct cts_error *error)
{
    if (!memory->page) return CTS_OK;
    CTS_ASSERT_ORDER(i, memory->touched.count,
                     memory->touched.items[i - 1].end <= memory->touched.items[i].start);
    const uint64_t number = memory->page - 1;
    size_t index;
    enum cts_status status = page_at(memory, number, &index, error);
    if (status) return status;
    struct page *const page = &memory->pages.items[index];
    memory->merged.count = 0;
    if (CTS_ARRAY_RESERVE(&memory->merged, page->count + 2 * memory->touched.count + 2, error))
        return CTS_MEMORY;
    status = merge(memory, page, number << PAGE_BITS, error);
    if (status) return status;
    if (memory->merged.count > page->capacity) {
        struct run *const runs = cts_array_zeroed(memory->merged.count, sizeof *runs, error);
        if (!runs) return CTS_MEMORY;
        free(page->runs);
        page->runs = runs;
        page->capacity = (uint32_t)memory->merged.count;
    }
    memcpy(page->runs, memory->merged.items, memory->merged.count * sizeof *page->runs);
    page->count = (uint32_t)memory->merged.count;
    memory->touched.count = 0;
    memory->page = 0;
    return CTS_OK;
}

void cts_flow_memory_begin(struct cts_flow_memory *memory, cts_flow_next next, void *context)
{
    memory->next = next;
    memory->context = context;
    memory->page = 0;
    memory->touched.count = memory->met.count = 0;
    memory->last_met = 0;
    if (memory->met_slot_count)
        memset(memory->met_slots, 0, memory->met_slot_count * sizeof *memory->met_slots);
}

enum cts_status cts_flow_memory_touch(struct cts_flow_memory *memory, uint64_t start, uint64_t end,
                                      uint32_t ways, struct cts_error *error)
{
    assert(start <= end && ways && memory->next);
    if (end - start > TOUCH_MAX_BYTES)
        return cts_fail(error, CTS_LIMIT, "%llu bytes at 0x%llx are more than a node can touch",
                        (unsigned long long)(end - start), (unsigned long long)start);
    while (start < end) {
        const uint64_t number = start >> PAGE_BITS, rest = PAGE_BYTES - start % PAGE_BYTES;
        const uint64_t length = end - start < rest ? end - start : rest;
        if (memory->page != number + 1) {
            const enum cts_status status = flush(memory, error);
            if (status) return status;
            memory->page = number + 1;
        }
        if (CTS_ARRAY_RESERVE(&memory->touched, memory->touched.count + 1, error))
            return CTS_MEMORY;
        const uint32_t first = (uint32_t)(start % PAGE_BYTES);
        memory->touched.items[memory->touched.count++] =
            (struct touched){first, first + (uint32_t)length, ways};
        start += length;
    }
    return CTS_OK;
}

enum cts_status cts_flow_memory_end(struct cts_flow_memory *memory, const struct cts_flow_met **met,
                                    size_t *met_count, struct cts_error *error)
{
    const enum cts_status status = flush(memory, error);
    *met = memory->met.items;
    *met_count = memory->met.count;
    return status;
}

enum cts_status cts_flow_memory_each(const struct cts_flow_memory *memory,
                                     enum cts_status (*act)(void *context, uint32_t state,
                                                            const struct cts_flow_amount *amount,
                                                            struct cts_error *error),
                                     void *context, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (size_t p = 0; p < memory->pages.count; p++) {
        const struct page *const page = &memory->pages.items[p];
        for (uint32_t i = 0; i < page->count && !status; i++) {
            uint32_t end;
            const struct run run = run_of(page, i, &end);
            if (!run.state) continue;
            const struct cts_flow_amount amount = {end - run.start,
                                                   cts_flow_sector_bytes(run.start, end)};
            status = act(context, run.state, &amount, error);
        }
    }
    return status;
}
