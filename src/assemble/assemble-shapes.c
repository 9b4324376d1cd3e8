/* The shapes of kernels, before events are written: a kernel's region has that of its first launch
 * in the logs, so that the archive is the same whichever location is written first, and launches
 * say what differs (trace/timeline/shapes.c). A process's streams are looked through until all of
 * its kernels have been met, which is as a rule soon. */
#include <string.h>

#include "assemble/assemble-private.h"

static bool wants_shape(const struct cts_timeline_region *region)
{
    return region->paradigm == CTS_PARADIGM_CUDA && !region->shape.values[0] && region->file &&
           strcmp(region->file, "CUDA_KERNEL") == 0;
}

static uint32_t count_wanted(const struct cts_assembler *a, const struct cts_log_process *p)
{
    uint32_t count = 0;
    for (size_t i = 0; i < p->region_map.count; i++)
        count += p->region_map.items[i] != CTS_TIMELINE_NONE &&
                 wants_shape(&a->timeline.regions[p->region_map.items[i]]);
    return count;
}

void cts_activity_shape(const uint64_t *w, struct cts_timeline_shape *shape)
{
    *shape = (struct cts_timeline_shape){
        .values = {(uint32_t)w[5], (uint32_t)(w[5] >> 32), (uint32_t)w[6], (uint32_t)(w[6] >> 32),
                   (uint32_t)w[7], (uint32_t)(w[7] >> 32), (uint32_t)(w[3] >> 32), (uint32_t)w[8],
                   (uint32_t)(w[8] >> 32)}};
}

/* True: the record gave a kernel its shape. */
static bool take_shape(struct cts_assembler *a, const struct cts_log_process *p, const uint64_t *w,
                       uint32_t count)
{
    const uint32_t local = (uint32_t)(w[0] >> 32);
    const bool says = (w[0] & 0xff) == CTS_RECORD_ACTIVITY && count >= CTS_ACTIVITY_SHAPED &&
                      w[3] >> CTS_ATTRIBUTE_GRID_X & 1 && local < p->region_map.count &&
                      p->region_map.items[local] != CTS_TIMELINE_NONE;
    struct cts_timeline_region *const region =
        says ? &a->timeline.regions[p->region_map.items[local]] : NULL;
    if (!region || !wants_shape(region)) return false;
    cts_activity_shape(w, &region->shape);
    return region->shape.values[0] != 0;
}

static enum cts_status look_through(struct cts_assembler *a, const struct cts_log_process *p,
                                    const char *path, uint32_t *wanted, struct cts_error *error)
{
    struct cts_log_reader reader;
    enum cts_status status = cts_log_open(path, &reader, error);
    if (status) return status;
    const uint64_t *words;
    uint32_t count;
    while (*wanted && (words = cts_log_next(&reader, &count, &status, error)))
        *wanted -= take_shape(a, p, words, count);
    cts_log_reader_close(&reader);
    return status == CTS_FORMAT ? CTS_OK : status; /* damage is told when events are read */
}

enum cts_status cts_find_shapes(struct cts_assembler *a, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < a->processes.count && !status; i++) {
        const struct cts_log_process *const p = &a->processes.items[i];
        uint32_t wanted = count_wanted(a, p);
        for (size_t k = 0; k < p->logs.count && wanted && !status; k++)
            if (p->logs.items[k].header.kind == CTS_LOG_STREAM)
                status = look_through(a, p, p->logs.items[k].path, &wanted, error);
    }
    return status;
}
