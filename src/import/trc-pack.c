/* From single accesses to warp records.
 *
 * A trace has no warps, and its CTAs take turns. Up to 32 accesses that follow one another in a
 * CTA's own sequence and agree in operation and size become one warp record; lanes are the order in
 * the file. The records of a launch are held back, in chains of *blocks* per CTA, and written CTA
 * after CTA:
 *
 *     table  CTA 0: first, last      arena  [site, 32 addresses] -> [site, 7 addresses] -> ...
 *            CTA 1: first, last
 *
 * since CTAs that do the same one after the other cost next to nothing in an access file, and
 * little to analyse. A launch that is larger than the arena is written in several rounds: a CTA
 * then has several pieces in the file. */
#include "import/trc-pack.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/array.h"
#include "common/hash.h"

#define NONE UINT32_MAX

enum {
    FIRST_SLOTS = 4096,
    SHARED_ACCESSES = 1 << 18, /* a launch of so many is split among the workers */
    CLUSTER = 16,              /* neighbouring CTAs whose slots are neighbours */
    PROGRESS_GROUPS = 1 << 14,
};

struct block {
    uint32_t next; /* of the same CTA; NONE: the last */
    uint32_t site; /* of the catalogue */
    uint32_t count, unused;
    uint64_t addresses[CTS_WARP_LANES];
};

struct slot {
    uint32_t cta;
    uint32_t first, last; /* blocks; first NONE: an empty slot */
};

struct packer {
    const struct cts_trc_packing *packing;
    struct cts_stream *stream;
    struct cts_error *error;
    struct block *blocks; /* the arena */
    uint32_t block_count, block_capacity;
    struct slot *slots;
    size_t slot_capacity, slot_count; /* capacity: a power of two */
    struct slot *sorted;              /* of slot_capacity */
    /* the launch */
    const struct cts_trc_launch *launch;
    struct cts_trc_output *output;
    enum cts_trc_format format;
    uint64_t first_cta, end_cta; /* this worker's */
    bool has_sms, has_rounds;    /* has_rounds: some of it was written already */
    struct cts_map placed;       /* with rounds: CTAs whose SM has been told */
    /* the group before */
    uint64_t descriptor;
    uint32_t site; /* NONE: its accesses are left out */
};

/* ---- slots ---- */

static size_t slot_index(const struct packer *p, uint32_t cta)
{
    const size_t mask = p->slot_capacity - 1;
    const uint64_t cluster = cts_hash(cta / CLUSTER);
    size_t index = ((size_t)(cluster >> 32) * CLUSTER + cta % CLUSTER) & mask;
    while (p->slots[index].first != NONE && p->slots[index].cta != cta) index = (index + 1) & mask;
    return index;
}

static enum cts_status make_slots(struct packer *p, size_t capacity)
{
    struct slot *const slots = cts_array_zeroed(capacity, sizeof *slots, p->error);
    struct slot *const sorted = cts_array_zeroed(capacity, sizeof *sorted, p->error);
    if (!slots || !sorted) {
        free(slots);
        free(sorted);
        return CTS_MEMORY;
    }
    memset(slots, 0xff, capacity * sizeof *slots);
    struct slot *const before = p->slots;
    const size_t before_capacity = p->slot_capacity;
    p->slots = slots;
    p->slot_capacity = capacity;
    for (size_t i = 0; i < before_capacity; i++)
        if (before[i].first != NONE) slots[slot_index(p, before[i].cta)] = before[i];
    free(before);
    free(p->sorted);
    p->sorted = sorted;
    return CTS_OK;
}

/* ---- rounds ---- */

static int by_cta(const void *left, const void *right)
{
    const struct slot *const a = left, *const b = right;
    return (a->cta > b->cta) - (a->cta < b->cta);
}

static void write_cta(struct packer *p, const struct slot *slot)
{
    cts_stream_begin_cta(p->stream, p->output->launch, slot->cta);
    for (uint32_t i = slot->first; i != NONE; i = p->blocks[i].next) {
        const struct block *const block = &p->blocks[i];
        const uint32_t mask = UINT32_MAX >> (CTS_WARP_LANES - block->count);
        cts_stream_add(p->stream, &(struct cts_stream_row){.site = block->site,
                                                           .space = CTS_SPACE_GLOBAL,
                                                           .warp = 0,
                                                           .mask = mask,
                                                           .addresses = block->addresses,
                                                           .value_words = 0,
                                                           .values = NULL});
    }
    cts_stream_end_cta(p->stream);
}

/* Writes what is held back, and forgets it. */
static void write_round(struct packer *p)
{
    size_t count = 0;
    if (!p->slot_count) return;
    for (size_t i = 0; i < p->slot_capacity; i++)
        if (p->slots[i].first != NONE) p->sorted[count++] = p->slots[i];
    qsort(p->sorted, count, sizeof *p->sorted, by_cta);
    for (size_t i = 0; i < count; i++) write_cta(p, &p->sorted[i]);
    memset(p->slots, 0xff, p->slot_capacity * sizeof *p->slots);
    p->slot_count = p->block_count = 0;
}

static enum cts_status end_round(struct packer *p)
{
    for (size_t i = 0; p->has_sms && i < p->slot_capacity; i++)
        if (p->slots[i].first != NONE && !cts_map_at(&p->placed, p->slots[i].cta, p->error))
            return CTS_MEMORY;
    p->has_rounds = true;
    write_round(p);
    const struct cts_error *const failure = cts_collector_failure(p->packing->collector);
    return failure ? cts_fail(p->error, failure->status, "%s", failure->text) : CTS_OK;
}

/* ---- adding ---- */

static void tell_sm(struct packer *p, uint32_t cta)
{
    if (!p->has_sms || (p->has_rounds && cts_map_find(&p->placed, cta))) return;
    const struct cts_cta_sm row = {p->output->launch, cta, cts_trc_sm(p->descriptor)};
    cts_catalogue_add_cta_sm(cts_collector_catalogue(p->packing->collector), &row);
}

/* The last block of a CTA; a new CTA gets one, for which there must be room. */
static enum cts_status last_block(struct packer *p, uint32_t cta, struct slot **slot)
{
    if (p->slot_count * 2 >= p->slot_capacity) {
        const enum cts_status status = make_slots(p, p->slot_capacity * 2);
        if (status) return status;
    }
    *slot = &p->slots[slot_index(p, cta)];
    if ((*slot)->first != NONE) return CTS_OK;
    const uint32_t block = p->block_count++;
    p->blocks[block].next = NONE;
    p->blocks[block].site = p->site;
    p->blocks[block].count = 0;
    **slot = (struct slot){cta, block, block};
    p->slot_count++;
    tell_sm(p, cta);
    return CTS_OK;
}

/* A block of the CTA with room for an access of the site at hand. */
static inline enum cts_status open_block(struct packer *p, uint32_t cta, struct slot **slot,
                                         struct block **block)
{
    if (*slot) {
        *block = &p->blocks[(*slot)->last];
        if ((*block)->site == p->site && (*block)->count < CTS_WARP_LANES) return CTS_OK;
    }
    enum cts_status status = CTS_OK;
    if (p->block_count + 2 > p->block_capacity) {
        *slot = NULL;
        status = end_round(p);
    }
    if (!status && !*slot) status = last_block(p, cta, slot);
    if (status) return status;
    *block = &p->blocks[(*slot)->last];
    if ((*block)->site == p->site && (*block)->count < CTS_WARP_LANES) return CTS_OK;
    const uint32_t next = p->block_count++;
    (*block)->next = (*slot)->last = next;
    *block = &p->blocks[next];
    (*block)->next = NONE;
    (*block)->site = p->site;
    (*block)->count = 0;
    return CTS_OK;
}

/* A run: `count` accesses of `size_bytes`, side by side. */
static enum cts_status add_run(struct packer *p, uint32_t cta, uint64_t address,
                               uint32_t size_bytes, uint32_t count)
{
    struct slot *slot = NULL;
    while (count) {
        struct block *block;
        const enum cts_status status = open_block(p, cta, &slot, &block);
        if (status) return status;
        uint32_t n = CTS_WARP_LANES - block->count;
        if (n > count) n = count;
        for (uint32_t i = 0; i < n; i++)
            block->addresses[block->count + i] = address + (uint64_t)i * size_bytes;
        block->count += n;
        address += (uint64_t)n * size_bytes;
        count -= n;
    }
    return CTS_OK;
}

static enum cts_status add_records(struct packer *p, uint32_t cta,
                                   const struct cts_trc_group *group, uint32_t size_bytes)
{
    struct slot *slot = NULL;
    const uint8_t *at = group->addresses;
    for (size_t left = group->record_count; left;) {
        struct block *block;
        const enum cts_status status = open_block(p, cta, &slot, &block);
        if (status) return status;
        uint32_t count = block->count;
        for (; left && count < CTS_WARP_LANES; left--, at += group->stride_bytes) {
            const uint64_t address = cts_get_u64(at);
            block->addresses[count] = address;
            count += cts_trc_address_fits(address, size_bytes);
        }
        block->count = count;
    }
    return CTS_OK;
}

static void look_at_descriptor(struct packer *p, uint64_t descriptor)
{
    const uint32_t size_bytes = cts_trc_size_bytes(descriptor);
    const unsigned operation = cts_trc_operation(p->format, cts_trc_type(descriptor));
    p->descriptor = descriptor;
    p->site = operation && cts_trc_size_fits(size_bytes)
                  ? p->packing->first_site +
                        cts_trc_site_of(p->packing->scan, p->launch->kernel, operation, size_bytes)
                  : NONE;
}

/* Whether any record of the group is good: a CTA without is not to get a block. */
static bool is_good(const struct cts_trc_group *group, uint64_t record_bytes)
{
    for (size_t i = 0; i < group->record_count; i++)
        if (cts_trc_address_fits(cts_get_u64(group->addresses + i * group->stride_bytes),
                                 record_bytes))
            return true;
    return false;
}

static enum cts_status add_group(struct packer *p, const struct cts_trc_group *group)
{
    const uint32_t *const grid = p->output->grid;
    const uint64_t cta =
        cts_trc_cta_x(group->cta) +
        ((uint64_t)cts_trc_cta_y(group->cta) + (uint64_t)cts_trc_cta_z(group->cta) * grid[1]) *
            grid[0];
    if (cta < p->first_cta || cta >= p->end_cta) return CTS_OK;
    const uint32_t size_bytes = cts_trc_size_bytes(group->descriptor);
    if (!is_good(group, (uint64_t)size_bytes * group->run_length)) return CTS_OK;
    if (group->descriptor != p->descriptor) look_at_descriptor(p, group->descriptor);
    if (p->site == NONE) return CTS_OK;
    if (group->run_length == 1) return add_records(p, (uint32_t)cta, group, size_bytes);
    return add_run(p, (uint32_t)cta, cts_get_u64(group->addresses), size_bytes, group->run_length);
}

/* ---- launches ---- */

/* A table that a large launch has left behind would have to be gone through by each small one. */
static enum cts_status fit_slots(struct packer *p)
{
    size_t wanted = FIRST_SLOTS;
    while (wanted < 2 * p->launch->touched && wanted < p->slot_capacity) wanted *= 2;
    return p->slot_capacity > 16 * wanted ? make_slots(p, wanted) : CTS_OK;
}

static void begin_launch(struct packer *p, size_t index, unsigned worker)
{
    const struct cts_trc_packing *const packing = p->packing;
    const struct cts_trc_launch *const launch = &packing->scan->launches.items[index];
    p->launch = launch;
    p->output = &packing->outputs[index];
    p->format = packing->scan->files[launch->file].format;
    const uint32_t *const grid = p->output->grid;
    const uint64_t cta_count = (uint64_t)grid[0] * grid[1] * grid[2];
    p->first_cta = p->end_cta = 0;
    if (launch->accesses >= SHARED_ACCESSES) {
        p->first_cta = cta_count * worker / packing->worker_count;
        p->end_cta = cta_count * (worker + 1) / packing->worker_count;
    } else if (index % packing->worker_count == worker && launch->accesses) {
        p->end_cta = cta_count;
    }
    p->has_sms = launch->sm_count > 1;
    p->has_rounds = false;
    p->descriptor = 0;
    p->site = NONE; /* size 0 is none */
    cts_map_release(&p->placed);
}

/* All workers walk through a launch that they share. */
static void show_progress(struct packer *p, uint64_t byte_count)
{
    const bool shared = p->launch->accesses >= SHARED_ACCESSES;
    if (p->packing->progress)
        cts_progress_add(p->packing->progress,
                         byte_count / (shared ? p->packing->worker_count : 1));
}

static enum cts_status pack_launch(struct packer *p)
{
    const struct cts_trc_file *const file = &p->packing->scan->files[p->launch->file];
    struct cts_trc_walk walk = {.format = p->format,
                                .in_launch = true,
                                .at = file->bytes + p->launch->begin,
                                .end = file->bytes + p->launch->end};
    const uint8_t *shown = walk.at, *kept = walk.at;
    enum cts_status status = fit_slots(p);
    for (unsigned groups = 1; !status && cts_trc_next(&walk) == CTS_TRC_GROUP; groups++) {
        status = add_group(p, &walk.group);
        if (groups % PROGRESS_GROUPS) continue;
        show_progress(p, (uint64_t)(walk.at - shown));
        shown = walk.at;
        cts_trc_leave(&walk, &kept);
    }
    write_round(p);
    show_progress(p, (uint64_t)(walk.at - shown));
    const struct cts_stream_counts counts = cts_stream_take_counts(p->stream);
    p->output->records += counts.records;
    p->output->accesses += counts.accesses;
    p->output->dropped += counts.dropped_accesses;
    return status;
}

static enum cts_status make_arena(struct packer *p, size_t size_bytes)
{
    enum { BLOCKS_MIN = 16 };
    size_t count = size_bytes / sizeof(struct block);
    if (count < BLOCKS_MIN) count = BLOCKS_MIN;
    if (count > NONE / 2) count = NONE / 2;
    p->block_capacity = (uint32_t)count;
    void *const arena = mmap(NULL, count * sizeof(struct block), PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (arena == MAP_FAILED)
        return cts_fail(p->error, CTS_MEMORY, "no memory for %zu bytes", size_bytes);
    (void)!madvise(arena, count * sizeof(struct block), MADV_HUGEPAGE);
    p->blocks = arena;
    return CTS_OK;
}

enum cts_status cts_trc_pack(const struct cts_trc_packing *packing, unsigned worker,
                             struct cts_stream *stream, struct cts_error *error)
{
    struct packer packer = {.packing = packing, .stream = stream, .error = error};
    enum cts_status status = make_arena(&packer, packing->worker_bytes);
    if (!status) status = make_slots(&packer, FIRST_SLOTS);
    for (size_t i = 0; !status && i < packing->scan->launches.count; i++) {
        begin_launch(&packer, i, worker);
        if (packer.first_cta < packer.end_cta) status = pack_launch(&packer);
    }
    if (packer.blocks) munmap(packer.blocks, packer.block_capacity * sizeof(struct block));
    free(packer.slots);
    free(packer.sorted);
    cts_map_release(&packer.placed);
    return status;
}
