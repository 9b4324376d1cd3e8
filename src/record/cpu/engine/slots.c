/* The program-wide table of slots, and the ranges of __constant__ variables. */
#include "record/cpu/engine/slots.h"

#include <pthread.h>
#include <stdlib.h>

#include "record/cpu/engine.h"
#include "trace/access.h"
#include "common/promise.h"

struct cts_log_slot cts_slots[CTS_SLOT_LIMIT + 1];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t slot_count;

/* Grows by one block when full; old blocks stay, so that readers need no lock. */
struct constant_range {
    uint64_t first, size_bytes;
    struct constant_range *next;
};
static struct constant_range *constants;

bool cts_slots_is_constant(uint64_t address)
{
    const struct constant_range *range = __atomic_load_n(&constants, __ATOMIC_ACQUIRE);
    for (; range; range = range->next)
        if (address - range->first < range->size_bytes) return true;
    return false;
}

static bool add_constants(const struct cts_file_desc *file)
{
    CTS_ASSERT_HELD(&lock);
    for (uint32_t i = 0; i < file->variable_count; i++) {
        const struct cts_variable_desc *const variable = &file->variables[i];
        if (variable->kind != CTS_VARIABLE_CONSTANT || !variable->address) continue;
        struct constant_range *const range = malloc(sizeof *range);
        if (!range) return false; /* a generic access to it would count as global */
        range->first = (uint64_t)(uintptr_t)variable->address;
        range->size_bytes = variable->size_bytes;
        range->next = constants;
        __atomic_store_n(&constants, range, __ATOMIC_RELEASE);
    }
    return true;
}

/* The lowest site in each loop, or in a loop inside it. */
static uint32_t *first_site_of_loops(const struct cts_file_desc *file)
{
    uint32_t *const first = malloc((file->loop_count + 1) * sizeof *first);
    if (!first) return NULL;
    for (uint32_t i = 0; i < file->loop_count; i++) first[i] = UINT32_MAX;
    for (uint32_t i = 0; i < file->site_count; i++) {
        uint32_t loop = file->sites[i].loop;
        for (uint32_t n = 0; loop < file->loop_count && n <= file->loop_count; n++) {
            if (i < first[loop]) first[loop] = i;
            loop = file->loops[loop].parent;
        }
    }
    return first;
}

static void fill_loops(struct cts_log_slot *slot, const struct cts_file_desc *file,
                       uint32_t innermost, const uint32_t *first_sites, uint32_t first_slot)
{
    CTS_ASSERT_HELD(&lock);
    uint32_t depth = 0;
    for (uint32_t loop = innermost; loop < file->loop_count && depth <= file->loop_count;
         loop = file->loops[loop].parent)
        depth++;
    slot->loop_count = (uint8_t)(depth < CTS_SLOT_LOOPS_MAX ? depth : CTS_SLOT_LOOPS_MAX);
    uint32_t loop = innermost;
    for (uint32_t level = depth; level-- > 0; loop = file->loops[loop].parent)
        if (level < CTS_SLOT_LOOPS_MAX)
            slot->loops[level] = (uint16_t)(first_slot + first_sites[loop]);
}

uint32_t cts_engine_slots_left(void)
{
    pthread_mutex_lock(&lock);
    const uint32_t left = CTS_SLOT_MEETING - slot_count;
    pthread_mutex_unlock(&lock);
    return left;
}

uint32_t cts_engine_add_sites(const struct cts_file_desc *file, uint32_t first_site)
{
    pthread_mutex_lock(&lock);
    uint32_t first = CTS_SLOT_LIMIT;
    uint32_t *const first_sites = add_constants(file) ? first_site_of_loops(file) : NULL;
    if (first_sites && file->site_count <= CTS_SLOT_MEETING - slot_count) {
        first = slot_count;
        slot_count += file->site_count;
        for (uint32_t i = 0; i < file->site_count; i++) {
            const struct cts_site_desc *const site = &file->sites[i];
            struct cts_log_slot *const slot = &cts_slots[first + i];
            slot->site = first_site + i;
            slot->space = site->space;
            if (file->flags & CTS_FILE_VALUES)
                slot->value_words = (uint8_t)cts_slot_value_words(site->width_bytes);
            slot->is_mbarrier = site->operation == CTS_BARRIER_MBARRIER_ARRIVE ||
                                site->operation == CTS_BARRIER_MBARRIER_WAIT;
            fill_loops(slot, file, site->loop, first_sites, first);
            slot->valid = true;
        }
    }
    free(first_sites);
    pthread_mutex_unlock(&lock);
    return first;
}
