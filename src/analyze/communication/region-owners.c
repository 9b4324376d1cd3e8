/* Regions, and how processes come to follow them.
 *
 * Before a launch is read, each process looks through the records of its CTAs for the regions they
 * touch; what it will read and does not follow it asks for. A region that nobody owns is known to
 * all: one of those who ask becomes its owner. Else the owner sends what the shadow memory has
 * there. A program whose CTAs keep to their part of memory soon has regions with one follower each,
 * and a few at the seams. */
#include "analyze/communication/region-owners.h"

#include <stdlib.h>

#include "analyze/communication/comm-model.h"

/* ---- the table ---- */

static void cts_comm_region_follow(struct cts_comm_regions *regions, size_t index,
                                   unsigned process);

/* The region of `key`, made with this owner (who follows it) where there is none. */
static enum cts_status cts_comm_region_make(struct cts_comm_regions *regions, uint64_t key,
                                            unsigned owner, size_t *index, struct cts_error *error)
{
    uint64_t *const known = cts_map_at(&regions->known, key, error);
    if (!known) return CTS_MEMORY;
    if (!*known) {
        regions->words = (regions->processes->count + 63) / 64;
        const size_t needed = (regions->count + 1) * regions->words;
        if (CTS_ARRAY_RESERVE(regions, regions->count + 1, error)) return CTS_MEMORY;
        if (needed > regions->follower_capacity &&
            cts_array_grow((void **)&regions->followers, &regions->follower_capacity, needed,
                           sizeof *regions->followers, error))
            return CTS_MEMORY;
        regions->items[regions->count] = (struct cts_comm_region){.key = key, .owner = owner};
        memset(&regions->followers[regions->count * regions->words], 0,
               regions->words * sizeof *regions->followers);
        *known = ++regions->count;
        cts_comm_region_follow(regions, regions->count - 1, owner);
    }
    *index = (size_t)*known - 1;
    return CTS_OK;
}

static void cts_comm_region_follow(struct cts_comm_regions *regions, size_t index, unsigned process)
{
    uint64_t *const word = &regions->followers[index * regions->words + process / 64];
    struct cts_comm_region *const region = &regions->items[index];
    if (*word >> (process % 64) & 1) return;
    *word |= UINT64_C(1) << (process % 64);
    region->follower_count++;
    region->followed |= process == regions->processes->rank;
}

void cts_comm_regions_clear(struct cts_comm_regions *regions)
{
    cts_map_release(&regions->known);
    regions->count = 0;
}

void cts_comm_regions_release(struct cts_comm_regions *regions)
{
    cts_map_release(&regions->known);
    free(regions->items);
    free(regions->followers);
    *regions = (struct cts_comm_regions){.processes = regions->processes};
}

/* ---- which regions a launch touches ---- */

#define NOT_ONE UINT64_MAX
enum { READS = 1, WRITES = 2, SEEN_BITS = 8, FAR = 1 << 22 };

struct scan {
    const struct cts_walk_site *sites;
    struct cts_error *error;
    unsigned use, bits;
    uint64_t width;
    struct cts_map *touched;       /* key -> READS, WRITES */
    uint64_t *last_keys;           /* by site: the region of its last record */
    uint64_t seen[1 << SEEN_BITS]; /* the last ones: key * 4 + use */
};

static enum cts_status note(struct scan *s, uint64_t low, uint64_t high)
{
    if (high > UINT64_MAX - s->width) return CTS_OK; /* the reading will say so */
    const uint64_t last = (high + s->width - 1) >> s->bits;
    for (uint64_t key = low >> s->bits; key <= last; key++) {
        uint64_t *const seen = &s->seen[key & ((1 << SEEN_BITS) - 1)];
        if (*seen >> 2 == key && (*seen & s->use) == s->use) continue;
        uint64_t *const use = cts_map_at(s->touched, key, s->error);
        if (!use) return CTS_MEMORY;
        *use |= s->use;
        *seen = key << 2 | *use;
    }
    return CTS_OK;
}

/* Lanes of `mask` at base + stride * lane; what lies between lanes that are not far from each other
 * counts as touched. */
static enum cts_status note_row(struct scan *s, uint64_t base, int64_t stride, uint32_t mask)
{
    if (!mask) return CTS_OK;
    const int first = __builtin_ctz(mask), last = 31 - __builtin_clz(mask);
    const uint64_t a = base + (uint64_t)(stride * first), b = base + (uint64_t)(stride * last);
    const uint64_t low = stride < 0 ? b : a, high = stride < 0 ? a : b;
    if (high - low <= FAR) return note(s, low, high);
    for (; mask; mask &= mask - 1) {
        const uint64_t at = base + (uint64_t)(stride * __builtin_ctz(mask));
        if (note(s, at, at)) return CTS_MEMORY;
    }
    return CTS_OK;
}

static enum cts_status note_lanes(struct scan *s, const struct cts_acc_batch *batch, size_t i)
{
    const uint64_t base = batch->base[i];
    const uint32_t mask = batch->mask[i];
    const unsigned lanes = batch->row_lanes[i];
    enum cts_status status = CTS_OK;
    switch (batch->pattern[i]) {
    case CTS_PATTERN_UNIFORM:
        return note(s, base, base);
    case CTS_PATTERN_AFFINE:
        return note_row(s, base, batch->s0[i], mask);
    case CTS_PATTERN_TWO_LEVEL:
        for (unsigned row = 0; !status && lanes && row * lanes < CTS_WARP_LANES; row++)
            status =
                note_row(s, base + (uint64_t)((int64_t)batch->s1[i] * (int64_t)row), batch->s0[i],
                         mask >> (row * lanes) & (uint32_t)((UINT64_C(1) << lanes) - 1));
        return status;
    case CTS_PATTERN_LIST:
        for (int k = __builtin_popcount(mask); !status && k-- > 0;) {
            const uint64_t at = base + batch->offsets[batch->offset_start[i] + (unsigned)k];
            status = note(s, at, at);
        }
        return status;
    default:
        return CTS_OK;
    }
}

/* The distance from the base to the farthest lane, active or not, where no lane is below the base;
 * else UINT64_MAX. */
static inline uint64_t extent_of(const struct cts_acc_batch *batch, size_t i)
{
    const int64_t s0 = batch->s0[i], s1 = batch->s1[i], lanes = batch->row_lanes[i];
    switch (batch->pattern[i]) {
    case CTS_PATTERN_UNIFORM:
        return 0;
    case CTS_PATTERN_AFFINE:
        return s0 < 0 ? UINT64_MAX : (uint64_t)(s0 * (CTS_WARP_LANES - 1));
    case CTS_PATTERN_TWO_LEVEL:
        if (s0 < 0 || s1 < 0 || lanes < 1) return UINT64_MAX;
        return (uint64_t)(s0 * (lanes - 1) + s1 * ((CTS_WARP_LANES - 1) / lanes));
    default:
        return UINT64_MAX;
    }
}

/* The one region that record i lies in, NOT_ONE when it is not plain that there is one. */
static inline uint64_t only_key(const struct scan *s, const struct cts_acc_batch *batch, size_t i,
                                uint32_t width)
{
    const uint64_t base = batch->base[i], extent = extent_of(batch, i);
    uint64_t end;
    if (extent == UINT64_MAX || __builtin_add_overflow(base, extent + width, &end)) return NOT_ONE;
    return base >> s->bits == (end - 1) >> s->bits ? base >> s->bits : NOT_ONE;
}

/* Most records lie in the region of their site's last one. */
static enum cts_status scan_run(void *state, unsigned thread, void *cta_state,
                                const struct cts_walk_run *run, struct cts_error *error)
{
    static const unsigned uses[] = {
        [CTS_SITE_READ] = READS, [CTS_SITE_STORE] = WRITES, [CTS_SITE_ATOMIC] = READS | WRITES};
    struct scan *const s = &((struct scan *)state)[thread];
    const struct cts_acc_batch *const batch = run->batch;
    (void)cta_state;
    for (size_t i = run->begin; i < run->end; i++) {
        const uint32_t site = batch->site[i];
        if (batch->space[i] != CTS_SPACE_GLOBAL) continue;
        s->width = s->sites[site].width_bytes;
        const uint64_t key = only_key(s, batch, i, (uint32_t)s->width);
        if (key != NOT_ONE && s->last_keys[site] == key) continue;
        s->use = uses[s->sites[site].class];
        s->last_keys[site] = key;
        s->error = error;
        if (note_lanes(s, batch, i)) return CTS_MEMORY;
    }
    return CTS_OK;
}

static enum cts_status scan_walk(struct cts_comm_model *model, struct cts_error *error)
{
    static const struct cts_walk_ops ops = {.takes_parts = true, .record = scan_run};
    const struct cts_walk_options options = {.source = model->source,
                                             .sites = &model->plan.sites,
                                             .ops = &ops,
                                             .threads = model->worker_count};
    return model->region_walk ? CTS_OK : cts_walk_new(&options, &model->region_walk, error);
}

/* The regions that the launch touches, in the threads' `touched`. */
static enum cts_status scan_launch(struct cts_comm_model *model, struct cts_error *error)
{
    const size_t site_count = model->plan.sites.count;
    struct cts_walk_scope scope = model->scope;
    struct scan *const scans = cts_array_zeroed(model->worker_count, sizeof *scans, error);
    enum cts_status status = scans ? scan_walk(model, error) : CTS_MEMORY;
    for (unsigned i = 0; !status && i < model->worker_count; i++) {
        scans[i] = (struct scan){.sites = model->plan.sites.items,
                                 .bits = model->regions.bits,
                                 .touched = &model->workers[i].touched};
        scans[i].last_keys = cts_array_zeroed(site_count, sizeof *scans[i].last_keys, error);
        if (!scans[i].last_keys) status = CTS_MEMORY;
        memset(scans[i].seen, 0xff, sizeof scans[i].seen);
        if (!status) memset(scans[i].last_keys, 0xff, site_count * sizeof *scans[i].last_keys);
    }
    scope.progress = NULL;
    if (!status) status = cts_walk_launch(model->region_walk, &scope, scans, error);
    for (unsigned i = 0; scans && i < model->worker_count; i++) free(scans[i].last_keys);
    free(scans);
    return status;
}

/* ---- asking for regions ---- */

struct request {
    uint64_t key, process;
};

struct requests {
    struct request *items;
    size_t count, capacity;
};

static enum cts_status ask(const struct cts_comm_regions *regions, const struct cts_map *touched,
                           struct requests *requests, struct cts_error *error)
{
    for (size_t i = 0; i < touched->capacity; i++) {
        if (!touched->used[i]) continue;
        const struct cts_map_entry *const entry = &touched->entries[i];
        const struct cts_comm_region *const region = cts_comm_region_of_key(regions, entry->key);
        if (region && (region->followed || !(entry->value & READS))) continue;
        if (CTS_ARRAY_RESERVE(requests, requests->count + 1, error)) return CTS_MEMORY;
        requests->items[requests->count++] = (struct request){entry->key, regions->processes->rank};
    }
    return CTS_OK;
}

static int by_key(const void *left, const void *right)
{
    const struct request *const a = left, *const b = right;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    return (a->process > b->process) - (a->process < b->process);
}

static int by_process(const void *left, const void *right)
{
    const struct request *const a = left, *const b = right;
    if (a->process != b->process) return a->process < b->process ? -1 : 1;
    return (a->key > b->key) - (a->key < b->key);
}

/* What goes to other processes, one after the other. */
struct parcels {
    struct cts_set_item *items;
    size_t count, capacity;
};

static enum cts_status add_parcel(struct parcels *parcels, uint64_t start, uint64_t end,
                                  uint32_t writer, struct cts_error *error)
{
    while (start < end) {
        const uint64_t left = end - start, most = UINT64_C(1) << 31;
        const uint32_t length_bytes = (uint32_t)(left < most ? left : most);
        if (CTS_ARRAY_RESERVE(parcels, parcels->count + 1, error)) return CTS_MEMORY;
        parcels->items[parcels->count++] = (struct cts_set_item){start, length_bytes, writer};
        start += length_bytes;
    }
    return CTS_OK;
}

/* What the shadow memory has in a region. */
static enum cts_status copy_region(struct cts_comm_model *model, uint64_t key, struct parcels *to,
                                   struct cts_error *error)
{
    struct cts_shadow_view *const view = &model->workers[0].view;
    const uint64_t start = key << model->regions.bits;
    const uint64_t last = cts_comm_region_last(&model->regions, start);
    const uint64_t stop = last == UINT64_MAX ? last : last + 1;
    if (view->shadow != model->shadow) *view = (struct cts_shadow_view){.shadow = model->shadow};
    for (uint64_t at = start, end; at < stop; at = end) {
        uint32_t writer;
        end = cts_shadow_run(view, at, stop, &writer);
        const enum cts_status status = add_parcel(to, at, end, writer, error);
        if (status) return status;
    }
    return CTS_OK;
}

/* Owners send regions to those who follow them from now on: all processes have the same list. */
static enum cts_status send_regions(struct cts_comm_model *model, struct requests *wanted,
                                    enum cts_status status, struct cts_error *error)
{
    const struct cts_processes *const processes = model->options.processes;
    struct parcels out = {0};
    size_t *const sizes = cts_array_zeroed(processes->count, sizeof *sizes, error);
    if (!sizes) status = CTS_MEMORY;
    if (wanted->count) qsort(wanted->items, wanted->count, sizeof *wanted->items, by_process);
    for (size_t i = 0; !status && i < wanted->count; i++) {
        const struct request *const request = &wanted->items[i];
        const struct cts_comm_region *const region =
            cts_comm_region_of_key(&model->regions, request->key);
        if (!region || region->owner != processes->rank) continue;
        const size_t before = out.count;
        status = copy_region(model, request->key, &out, error);
        sizes[request->process] += (out.count - before) * sizeof *out.items;
    }
    void *received = NULL;
    size_t *offsets = NULL;
    if (cts_processes_agree(processes, &status, error))
        status = cts_processes_all_to_all(processes, (struct cts_sent_blocks){out.items, sizes},
                                          &received, &offsets, error);
    const struct cts_set_item *const items = received;
    const size_t count = status ? 0 : offsets[processes->count] / sizeof *items;
    for (size_t i = 0; !status && i < count; i++)
        status = cts_shadow_fill(model->shadow, items[i].start,
                                 items[i].start + items[i].length_bytes, items[i].node, error);
    free(received);
    free(offsets);
    free(sizes);
    free(out.items);
    return status;
}

/* Everybody's requests, in order: who asks follows; `wanted` has what is to be sent. */
static enum cts_status answer(struct cts_comm_regions *regions, struct requests *all,
                              struct requests *wanted, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    if (all->count) qsort(all->items, all->count, sizeof *all->items, by_key);
    for (size_t begin = 0, end; !status && begin < all->count; begin = end) {
        const uint64_t key = all->items[begin].key;
        for (end = begin + 1; end < all->count && all->items[end].key == key;) end++;
        const bool is_owned = cts_comm_region_of_key(regions, key);
        const uint64_t owner = all->items[begin + key % (end - begin)].process;
        size_t index = 0;
        status = cts_comm_region_make(regions, key, (unsigned)owner, &index, error);
        for (size_t i = begin; !status && i < end; i++) {
            cts_comm_region_follow(regions, index, (unsigned)all->items[i].process);
            const bool is_again = i > begin && !by_key(&all->items[i], &all->items[i - 1]);
            if (!is_owned || is_again) continue; /* two threads may ask for one region */
            status = CTS_ARRAY_RESERVE(wanted, wanted->count + 1, error);
            if (!status) wanted->items[wanted->count++] = all->items[i];
        }
    }
    return status;
}

static enum cts_status gather_requests(struct cts_comm_model *model, struct requests *mine,
                                       struct cts_error *error)
{
    const struct cts_processes *const processes = model->options.processes;
    struct requests all = {0}, wanted = {0};
    size_t *offsets = NULL;
    void *received = NULL;
    enum cts_status status = cts_processes_all_gather(
        processes, (struct cts_sent_block){mine->items, mine->count * sizeof *mine->items},
        &received, &offsets, error);
    if (!status) {
        all.items = received;
        all.count = offsets[processes->count] / sizeof *all.items;
        status = answer(&model->regions, &all, &wanted, error);
    }
    if (cts_processes_agree(processes, &status, error) && wanted.count)
        status = send_regions(model, &wanted, status, error);
    free(received);
    free(offsets);
    free(wanted.items);
    return status;
}

enum cts_status cts_comm_follow_launch(struct cts_comm_model *model, enum cts_status status,
                                       struct cts_error *error)
{
    struct requests mine = {0};
    if (!status) status = scan_launch(model, error);
    for (unsigned i = 0; i < model->worker_count; i++) {
        if (!status) status = ask(&model->regions, &model->workers[i].touched, &mine, error);
        cts_map_release(&model->workers[i].touched);
    }
    if (cts_processes_agree(model->options.processes, &status, error)) {
        uint64_t count = mine.count;
        cts_processes_reduce_u64(model->options.processes, &count, 1, CTS_REDUCE_SUM);
        if (count) status = gather_requests(model, &mine, error);
    }
    free(mine.items);
    return status;
}

enum cts_status cts_comm_follow_everywhere(struct cts_comm_model *model, uint64_t start,
                                           uint64_t end, enum cts_status status,
                                           struct cts_error *error)
{
    const struct cts_processes *const processes = model->options.processes;
    struct cts_comm_regions *const regions = &model->regions;
    struct requests wanted = {0};
    if (!cts_processes_agree(processes, &status, error)) return status;
    for (size_t i = 0; i < regions->count; i++) {
        const struct cts_comm_region *const region = &regions->items[i];
        if (region->key < start >> regions->bits || region->key > (end - 1) >> regions->bits)
            continue;
        for (unsigned p = 0; !status && p < processes->count; p++) {
            if (cts_comm_region_has(regions, region, p)) continue;
            status = CTS_ARRAY_RESERVE(&wanted, wanted.count + 1, error);
            if (status) break;
            wanted.items[wanted.count++] = (struct request){region->key, p};
            cts_comm_region_follow(regions, i, p);
        }
    }
    /* `wanted` is the same everywhere unless a process has no memory for it */
    if (cts_processes_agree(processes, &status, error) && wanted.count)
        status = send_regions(model, &wanted, status, error);
    free(wanted.items);
    return status;
}

enum cts_status cts_comm_own(struct cts_comm_model *model, uint64_t start, uint64_t end,
                             struct cts_error *error)
{
    const unsigned process_count = model->options.processes->count;
    const uint64_t last = (end - 1) >> model->regions.bits;
    for (uint64_t key = start >> model->regions.bits; key <= last; key++) {
        size_t index;
        if (cts_comm_region_of_key(&model->regions, key)) continue;
        const enum cts_status status = cts_comm_region_make(
            &model->regions, key, (unsigned)(key % process_count), &index, error);
        if (status) return status;
        for (unsigned p = 0; p < process_count; p++)
            cts_comm_region_follow(&model->regions, index, p);
    }
    return CTS_OK;
}
