/* Stretches and results as they grow. */
#include "trace/trial/trial.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"

/* Room for one more item behind `count`. */
#define ROOM(items, count, capacity, error)                                                        \
    ((count) < (capacity)                                                                          \
         ? CTS_OK                                                                                  \
         : cts_array_grow((void **)&(items), &(capacity), (count) + 1, sizeof *(items), (error)))

void cts_stretch_release(struct cts_stretch *stretch)
{
    free(stretch->ops);
    free(stretch->afters);
    free(stretch->regions);
    free(stretch->links);
    free(stretch->storage);
    *stretch = (struct cts_stretch){0};
}

enum cts_status cts_stretch_add_op(struct cts_stretch *stretch, const struct cts_trial_op *op,
                                   struct cts_error *error)
{
    if (ROOM(stretch->ops, stretch->op_count, stretch->op_capacity, error)) return CTS_MEMORY;
    struct cts_trial_op *const added = &stretch->ops[stretch->op_count++];
    *added = *op;
    added->after_first = (uint32_t)stretch->after_count;
    added->after_count = 0;
    return CTS_OK;
}

enum cts_status cts_stretch_add_after(struct cts_stretch *stretch, uint32_t op,
                                      struct cts_error *error)
{
    assert(stretch->op_count && op < stretch->op_count - 1);
    if (ROOM(stretch->afters, stretch->after_count, stretch->after_capacity, error))
        return CTS_MEMORY;
    stretch->afters[stretch->after_count++] = op;
    stretch->ops[stretch->op_count - 1].after_count++;
    return CTS_OK;
}

enum cts_status cts_stretch_add_region(struct cts_stretch *stretch,
                                       const struct cts_trial_region *region,
                                       struct cts_error *error)
{
    if (ROOM(stretch->regions, stretch->region_count, stretch->region_capacity, error))
        return CTS_MEMORY;
    stretch->regions[stretch->region_count++] = *region;
    return CTS_OK;
}

static enum cts_status add_link(struct cts_stretch *stretch, uint32_t op, uint32_t region,
                                struct cts_error *error)
{
    for (size_t i = stretch->link_count; i && stretch->links[i - 1].op == op; i--)
        if (stretch->links[i - 1].region == region) return CTS_OK;
    if (ROOM(stretch->links, stretch->link_count, stretch->link_capacity, error)) return CTS_MEMORY;
    stretch->links[stretch->link_count++] = (struct cts_trial_link){op, region};
    return CTS_OK;
}

enum cts_status cts_stretch_add_links(struct cts_stretch *stretch, uint32_t op,
                                      const void *argument, size_t size_bytes,
                                      struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (size_t at = 0; at + 8 <= size_bytes && !status; at += 8) {
        uint64_t value;
        memcpy(&value, (const char *)argument + at, sizeof value);
        for (uint32_t i = 0; i < stretch->region_count && !status; i++)
            if (value - stretch->regions[i].address < stretch->regions[i].size_bytes)
                status = add_link(stretch, op, i, error);
    }
    return status;
}

void cts_trial_result_release(struct cts_trial_result *result)
{
    free(result->differences);
    free(result->plain);
    free(result->changed);
    free(result->step_ns);
    free(result->storage);
    *result = (struct cts_trial_result){0};
}

enum cts_status cts_trial_result_add(struct cts_trial_result *result,
                                     const struct cts_trial_difference *difference,
                                     struct cts_error *error)
{
    if (ROOM(result->differences, result->difference_count, result->difference_capacity, error))
        return CTS_MEMORY;
    result->differences[result->difference_count++] = *difference;
    return CTS_OK;
}
