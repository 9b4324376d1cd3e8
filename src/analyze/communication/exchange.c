/* How processes share a launch.
 *
 * Each process walks its share of a launch's CTAs (cts_walk_share()).
 * It looks them up in its shadow memory, which is right in the regions that it follows
 * (region-owners.h), and sends what its CTAs wrote and read to those who follow the regions: sets
 * of intervals. Each process then brings its shadow memory up to date. So what costs time, a
 * look-up per access and the keeping of the shadow memory, is shared out, and little is sent where
 * CTAs keep to their part of memory. */
#include <stdlib.h>
#include <string.h>

#include "analyze/communication/comm-model.h"

static unsigned process_count(const struct cts_comm_model *model)
{
    return model->options.processes ? model->options.processes->count : 1;
}

/* ---- what goes to whom ---- */

struct router {
    const struct cts_comm_model *model;
    enum cts_comm_set kind;
    uint64_t key; /* of the last region */
    const struct cts_comm_region *region;
};

static const struct cts_comm_region *region_of(struct router *router, uint64_t address)
{
    const uint64_t key = address >> router->model->regions.bits;
    if (!router->region || router->key != key) {
        router->region = cts_comm_region_find(&router->model->regions, address);
        router->key = key;
    }
    return router->region;
}

/* Whether the process wants to know of the item. What is read again only the owner counts. */
static bool is_for(struct router *router, const struct cts_set_item *item, unsigned process)
{
    const struct cts_comm_model *const model = router->model;
    const uint64_t last = item->start + item->length_bytes - 1;
    if (model->mode != CTS_COMM_FORWARD) return true;
    for (uint64_t at = item->start;;) {
        const struct cts_comm_region *const region = region_of(router, at);
        if (region &&
            (region->owner == process || (router->kind != CTS_COMM_REREADS &&
                                          cts_comm_region_has(&model->regions, region, process))))
            return true;
        at = cts_comm_region_last(&model->regions, at);
        if (at >= last) return false;
        at++;
    }
}

/* Whether nobody else can want it: the usual case. */
static bool is_for_nobody(struct router *router, const struct cts_set_item *item)
{
    if (router->model->mode != CTS_COMM_FORWARD ||
        cts_comm_region_last(&router->model->regions, item->start) <
            item->start + item->length_bytes - 1)
        return false;
    const struct cts_comm_region *const region = region_of(router, item->start);
    return !region || (region->followed && region->follower_count == 1);
}

static enum cts_status route(struct cts_comm_model *model, const struct cts_set_item *items,
                             size_t count, enum cts_comm_set kind, struct cts_error *error)
{
    struct router router = {.model = model, .kind = kind};
    for (size_t i = 0; i < count; i++) {
        if (is_for_nobody(&router, &items[i])) continue;
        for (unsigned p = 0; p < model->options.processes->count; p++) {
            if (p == model->options.processes->rank || !is_for(&router, &items[i], p)) continue;
            struct cts_comm_outgoing *const out = &model->parcels.outgoing[p];
            if (CTS_ARRAY_RESERVE(&out->sets[kind], out->sets[kind].count + 1, error))
                return CTS_MEMORY;
            out->sets[kind].items[out->sets[kind].count++] = items[i];
        }
    }
    return CTS_OK;
}

static enum cts_status route_all(struct cts_comm_model *model, struct cts_error *error)
{
    const unsigned count = model->options.processes->count;
    if (!model->parcels.outgoing)
        model->parcels.outgoing = cts_array_zeroed(count, sizeof *model->parcels.outgoing, error);
    if (!model->parcels.outgoing) return CTS_MEMORY;
    for (unsigned p = 0; p < count; p++)
        for (unsigned kind = 0; kind < CTS_COMM_SET_COUNT; kind++)
            model->parcels.outgoing[p].sets[kind].count = 0;
    for (unsigned i = 0; i < model->worker_count; i++) {
        for (unsigned kind = 0; kind < CTS_COMM_SET_COUNT; kind++) {
            const struct cts_sets *const sets = &model->workers[i].sets[kind];
            struct cts_sets_place place = {0};
            const struct cts_set_item *items;
            for (size_t item_count; (item_count = cts_sets_next(sets, &place, &items));) {
                const enum cts_status status = route(model, items, item_count, kind, error);
                if (status) return status;
            }
        }
    }
    return CTS_OK;
}

/* ---- exchanging what a launch did ---- */

enum { HEADER_WORDS = 6 };

struct sender {
    uint32_t node, degree;
};

/* header: how many items of each kind, and senders; then the items; then the senders. */
static size_t block_bytes(const struct cts_comm_outgoing *out, size_t sender_count)
{
    size_t items = 0;
    for (unsigned kind = 0; kind < CTS_COMM_SET_COUNT; kind++) items += out->sets[kind].count;
    return HEADER_WORDS * sizeof(uint64_t) + items * sizeof(struct cts_set_item) +
           (sender_count + 1) / 2 * 2 * sizeof(struct sender);
}

static void pack(const struct cts_comm_model *model, const struct cts_comm_outgoing *out,
                 size_t sender_count, char *at)
{
    uint64_t header[HEADER_WORDS] = {[CTS_COMM_SET_COUNT] = sender_count};
    for (unsigned kind = 0; kind < CTS_COMM_SET_COUNT; kind++) header[kind] = out->sets[kind].count;
    memcpy(at, header, sizeof header);
    at += sizeof header;
    for (unsigned kind = 0; kind < CTS_COMM_SET_COUNT; kind++) {
        const size_t size_bytes = out->sets[kind].count * sizeof *out->sets[kind].items;
        if (size_bytes) memcpy(at, out->sets[kind].items, size_bytes);
        at += size_bytes;
    }
    for (unsigned i = 0; i < model->worker_count; i++) {
        for (size_t k = 0; k < model->workers[i].senders.count; k++) {
            const uint32_t node = model->workers[i].senders.items[k];
            const struct sender sender = {node,
                                          model->launch_out_degrees[node - CTS_WRITER_FIRST_NODE]};
            memcpy(at, &sender, sizeof sender);
            at += sizeof sender;
        }
    }
}

/* A block for every other process, one after the other. */
static char *pack_all(const struct cts_comm_model *model, size_t *sizes, struct cts_error *error)
{
    const struct cts_processes *const processes = model->options.processes;
    size_t sender_count = 0, total = 0;
    for (unsigned i = 0; i < model->worker_count; i++)
        sender_count += model->workers[i].senders.count;
    for (unsigned p = 0; p < processes->count; p++) {
        sizes[p] =
            p == processes->rank ? 0 : block_bytes(&model->parcels.outgoing[p], sender_count);
        total += sizes[p];
    }
    char *const blocks = cts_array_zeroed(total, 1, error), *at = blocks;
    for (unsigned p = 0; blocks && p < processes->count; p++) {
        if (p != processes->rank) pack(model, &model->parcels.outgoing[p], sender_count, at);
        at += sizes[p];
    }
    return blocks;
}

static enum cts_status unpack(struct cts_comm_model *model, unsigned process, const char *block,
                              struct cts_error *error)
{
    struct cts_comm_remote *const remote = &model->parcels.remotes[process];
    struct cts_comm_worker *const first = &model->workers[0];
    const uint64_t *const header = (const uint64_t *)(const void *)block;
    const char *at = block + HEADER_WORDS * sizeof *header;
    for (unsigned kind = 0; kind < CTS_COMM_SET_COUNT; kind++) {
        remote->items[kind] = (const struct cts_set_item *)(const void *)at;
        remote->counts[kind] = (size_t)header[kind];
        at += header[kind] * sizeof(struct cts_set_item);
    }
    const struct sender *const senders = (const struct sender *)(const void *)at;
    for (uint64_t i = 0; i < header[CTS_COMM_SET_COUNT]; i++) {
        uint32_t *const degree =
            &model->launch_out_degrees[senders[i].node - CTS_WRITER_FIRST_NODE];
        if (!*degree) {
            if (CTS_ARRAY_RESERVE(&first->senders, first->senders.count + 1, error))
                return CTS_MEMORY;
            first->senders.items[first->senders.count++] = senders[i].node;
        }
        *degree += senders[i].degree;
    }
    return CTS_OK;
}

enum cts_status cts_comm_exchange(struct cts_comm_model *model, struct cts_error *error)
{
    const struct cts_processes *const processes = model->options.processes;
    if (process_count(model) == 1) return CTS_OK;
    size_t *const sizes = cts_array_zeroed(processes->count, sizeof *sizes, error);
    size_t *offsets = NULL;
    char *mine = NULL;
    enum cts_status status = sizes ? route_all(model, error) : CTS_MEMORY;
    if (!status && !(mine = pack_all(model, sizes, error))) status = CTS_MEMORY;
    free(model->parcels.block);
    model->parcels.block = NULL;
    if (!model->parcels.remotes)
        model->parcels.remotes =
            cts_array_zeroed(processes->count, sizeof *model->parcels.remotes, error);
    if (!model->parcels.remotes) status = CTS_MEMORY;
    if (cts_processes_agree(processes, &status, error))
        status = cts_processes_all_to_all(processes, (struct cts_sent_blocks){mine, sizes},
                                          &model->parcels.block, &offsets, error);
    free(mine);
    free(sizes);
    for (unsigned i = 0; !status && i < processes->count; i++)
        if (i != processes->rank)
            status = unpack(model, i, (const char *)model->parcels.block + offsets[i], error);
    free(offsets);
    return status;
}

void cts_comm_exchange_release(struct cts_comm_model *model)
{
    for (unsigned p = 0; model->parcels.outgoing && p < process_count(model); p++)
        for (unsigned kind = 0; kind < CTS_COMM_SET_COUNT; kind++)
            free(model->parcels.outgoing[p].sets[kind].items);
    free(model->parcels.outgoing);
    free(model->parcels.remotes);
    free(model->parcels.block);
    cts_comm_regions_release(&model->regions);
}
