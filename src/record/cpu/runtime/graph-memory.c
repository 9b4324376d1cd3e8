#include "graph-memory.h"

#include <stdlib.h>

#include "stream.h"

struct block {
    uint64_t address;
    const struct cts_allocation_desc *hint;
    bool is_freed; /* by each launch */
};

struct cts_graph_memory {
    _Atomic unsigned holders;
    bool was_launched;
    struct block *blocks;
    size_t count;
};

bool cts_graph_memory_add(struct cts_graph_memory **memory, const struct cts_range *range,
                          const struct cts_allocation_desc *hint)
{
    if (!*memory) {
        *memory = calloc(1, sizeof **memory);
        if (!*memory) return false;
        (*memory)->holders = 1;
    }
    struct block *const grown = realloc((*memory)->blocks, ((*memory)->count + 1) * sizeof *grown);
    if (!grown) return false;
    (*memory)->blocks = grown;
    grown[(*memory)->count++] = (struct block){.address = range->address, .hint = hint};
    return true;
}

bool cts_graph_memory_free(struct cts_graph_memory *memory, const void *address)
{
    for (size_t i = 0; memory && i < memory->count; i++) {
        if (memory->blocks[i].address != (uint64_t)address || memory->blocks[i].is_freed) continue;
        memory->blocks[i].is_freed = true;
        return true;
    }
    return false;
}

struct cts_graph_memory *cts_graph_memory_hold(struct cts_graph_memory *memory)
{
    if (memory) memory->holders++;
    return memory;
}

void cts_graph_memory_release(struct cts_graph_memory *memory)
{
    if (!memory || --memory->holders) return;
    for (size_t i = 0; i < memory->count; i++) {
        struct cts_range range;
        if (!cts_range_remove((const void *)memory->blocks[i].address, 1u << CTS_RANGE_DEVICE,
                              &range))
            continue;
        if (memory->was_launched) cts_streams_wait_device(range.device);
        cts_record_free(&range, CTS_NONE);
        cts_range_release(&range);
    }
    free(memory->blocks);
    free(memory);
}

void cts_graph_memory_begin(struct cts_graph_memory *memory, uint32_t stream)
{
    for (size_t i = 0; memory && i < memory->count; i++) {
        struct cts_range range;
        if (!cts_range_find((const void *)memory->blocks[i].address, &range)) continue;
        if (range.allocation != CTS_NONE) continue; /* an earlier launch left it allocated */
        __cts_allocation_hint(memory->blocks[i].hint);
        cts_record_allocation(&range, "cudaMallocAsync", stream);
        cts_range_set((const void *)range.address, range.allocation, NULL);
    }
    if (memory) memory->was_launched = true;
}

void cts_graph_memory_end(struct cts_graph_memory *memory, uint32_t stream)
{
    for (size_t i = 0; memory && i < memory->count; i++) {
        struct cts_range range;
        if (!memory->blocks[i].is_freed ||
            !cts_range_find((const void *)memory->blocks[i].address, &range))
            continue;
        cts_record_free(&range, stream);
        cts_range_set((const void *)range.address, CTS_NONE, NULL);
    }
}
