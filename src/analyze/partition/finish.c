/* From the cells of a launch to the scales of the result, and what is made of whole runs.
 *
 * The time of a launch's memory traffic is that of its slowest partition: bytes of its own memory
 * over the local bandwidth, and the larger of what comes in and goes out over the link's; one after
 * the other, or all at once. */
#include <math.h>

#include "analyze/partition/partition-model.h"

static uint64_t largest(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Running sums of what each partition touched, up to the current launch. */
static void add_footprints(struct cts_partition_model *model, struct cts_partition_task *task,
                           const uint64_t *cells)
{
    enum { RING = CTS_PARTITION_DISTANCES + 2 };
    const size_t t = model->launch;
    uint64_t *const now = task->footprints + t % RING * task->p;
    const uint64_t *const before = task->footprints + (t + RING - 1) % RING * task->p;
    for (uint32_t q = 0; q < task->p; q++) {
        const uint64_t *const cell = cells ? cells + (size_t)q * CTS_CELLS_PER_PART : NULL;
        now[q] = (t ? before[q] : 0) + (cell ? cell[CTS_CELL_READ] + cell[CTS_CELL_WRITTEN] : 0);
    }
}

/* Bytes that a partition reads again and whose last reading lies not farther back than the cache is
 * large: all that it touched from that launch on, both launches included, fits. */
static uint64_t held_bytes(const struct cts_partition_model *model,
                           const struct cts_partition_task *task)
{
    enum { RING = CTS_PARTITION_DISTANCES + 2 };
    const size_t t = model->launch;
    const uint64_t *const now = task->footprints + t % RING * task->p;
    uint64_t held = 0;
    for (unsigned r = 0; r < model->thread_count; r++) {
        const struct cts_launch_pattern *const pattern = model->regions[r].pattern;
        const uint64_t *fetches = pattern->fetches + task->part_offset * pattern->distance_count;
        for (uint32_t d = 0; d < pattern->distance_count; d++, fetches += task->p) {
            const size_t back = (size_t)pattern->distances[d] + 1;
            const uint64_t *const before =
                back > t ? NULL : task->footprints + (t - back) % RING * task->p;
            for (uint32_t q = 0; q < task->p; q++)
                if (now[q] - (before ? before[q] : 0) <= model->options.l2_bytes)
                    held += fetches[q];
        }
    }
    return held;
}

static void book_task(struct cts_partition_model *model, struct cts_partition_task *task,
                      const uint32_t *shares, uint64_t duration_ns)
{
    const struct cts_partition *const result = model->result;
    const struct cts_partition_options *const options = &model->options;
    const uint64_t *const cells = model->cells + task->cell_offset;
    const uint64_t *scalars = cells + (size_t)task->p * CTS_CELLS_PER_PART;
    struct cts_partition_scale *const scale = &task->scale;
    double slowest = 0, slowest_overlapped = 0, link = 0;
    uint64_t traffic = 0;
    for (uint32_t q = 0; q < task->p; q++) {
        const uint64_t *const cell = cells + (size_t)q * CTS_CELLS_PER_PART;
        const uint64_t in = cell[CTS_CELL_IN], out = cell[CTS_CELL_OUT];
        const uint64_t local = cell[CTS_CELL_READ] + cell[CTS_CELL_WRITTEN] - in;
        struct cts_partition_part *const part = &scale->parts[q];
        part->read_bytes += cell[CTS_CELL_READ];
        part->written_bytes += cell[CTS_CELL_WRITTEN];
        part->in_bytes += in;
        part->out_bytes += out;
        traffic += in;
        const double computing = shares ? (double)duration_ns * 1e-9 * shares[q] /
                                              (double)model->plan.launches[model->launch].cta_count
                                        : 0;
        const double at_home = (double)local / options->local_bytes_per_s;
        const double on_link = (double)largest(in, out) / options->link_bytes_per_s;
        if (computing + at_home + on_link > slowest) {
            slowest = computing + at_home + on_link;
            link = on_link;
        }
        slowest_overlapped = fmax(slowest_overlapped, fmax(computing, fmax(at_home, on_link)));
    }
    scale->time.launch_s += options->launch_s;
    scale->time.link_s += link;
    task->no_overlap_s += options->launch_s + slowest;
    task->full_overlap_s += options->launch_s + slowest_overlapped;
    scale->traffic_bytes += traffic;
    scale->launch_bytes[model->launch] = traffic;
    scale->replica_bytes += traffic - scalars[CTS_SCALAR_REFETCH];
    scale->shared_bytes += scalars[CTS_SCALAR_SHARED];
    scale->owner_remote_write_bytes += scalars[CTS_SCALAR_OWNER_WRITE];
    scale->touch_remote_read_bytes += scalars[CTS_SCALAR_TOUCH_READ];
    scale->touch_remote_write_bytes += scalars[CTS_SCALAR_TOUCH_WRITE];
    scalars += CTS_SCALAR_COUNT;
    for (size_t i = 0; i < result->kernel_count; i++) scale->kernel_bytes[i] += scalars[i];
    scalars += result->kernel_count;
    for (size_t i = 0; i < result->place_count; i++) scale->allocation_bytes[i] += scalars[i];
}

/* How many CTAs of a shape each partition has. */
static void count_ctas(const struct cts_partition_task *task,
                       const struct cts_partition_shape *shape, const uint16_t *parts,
                       uint32_t *counts)
{
    memset(counts, 0, task->p * sizeof *counts);
    for (uint32_t i = 0; i < shape->grid.cta_count; i++) counts[parts[shape->first_place + i]]++;
}

static const uint16_t *parts_of(const struct cts_partition_model *model,
                                const struct cts_partition_task *task)
{
    if (task->parts) return task->parts;
    cts_partition_assign(model, task, model->threads[0].parts);
    return model->threads[0].parts;
}

static uint64_t duration_of(const struct cts_partition_model *model)
{
    const struct cts_launch *const row =
        &model->catalogue->launches[model->plan.launches[model->launch].index];
    return model->options.launch_times && row->end_ns > row->start_ns ? row->end_ns - row->start_ns
                                                                      : 0;
}

enum cts_status cts_partition_book(struct cts_partition_model *model, struct cts_error *error)
{
    const bool counted = model->plan.launches[model->launch].counted;
    const struct cts_partition_shape *const shape = &model->shapes[model->shape_of[model->launch]];
    const uint64_t duration_ns = duration_of(model);
    uint32_t *shares = NULL;
    if (counted && model->process_count > 1)
        cts_processes_reduce_u64(model->processes, model->cells, model->cell_count, CTS_REDUCE_SUM);
    if (counted && duration_ns) {
        shares = cts_array_zeroed(CTS_PARTITIONS_MAX, sizeof *shares, error);
        if (!shares) return CTS_MEMORY;
    }
    for (size_t i = 0; i < model->task_count; i++) {
        struct cts_partition_task *const task = &model->tasks[i];
        if (counted && shares) count_ctas(task, shape, parts_of(model, task), shares);
        if (counted) book_task(model, task, shares, duration_ns);
        if (!task->footprints) continue;
        add_footprints(model, task, counted ? model->cells + task->cell_offset : NULL);
        model->held[i] = counted ? held_bytes(model, task) : 0;
    }
    free(shares);
    if (!counted || !model->options.l2_bytes) return CTS_OK;
    cts_processes_reduce_u64(model->processes, model->held, model->task_count, CTS_REDUCE_SUM);
    for (size_t i = 0; i < model->task_count; i++)
        model->tasks[i].scale.held_bytes += model->held[i];
    return CTS_OK;
}

/* ---- whole runs ---- */

static enum cts_status add_work(struct cts_partition_model *model, struct cts_partition_task *task,
                                struct cts_error *error)
{
    struct cts_partition_scale *const scale = &task->scale;
    uint32_t *const counts = cts_array_zeroed(task->p, sizeof *counts, error);
    if (!counts) return CTS_MEMORY;
    const uint16_t *const parts = parts_of(model, task);
    for (size_t s = 0; s < model->shape_count; s++) {
        const struct cts_partition_shape *const shape = &model->shapes[s];
        count_ctas(task, shape, parts, counts);
        for (uint32_t q = 0; q < task->p; q++) {
            scale->parts[q].ctas += counts[q] * shape->launch_count;
            if (!counts[q]) scale->idle_slots += shape->launch_count;
        }
    }
    for (uint32_t i = 0; i < model->place_count; i++)
        scale->parts[parts[i]].accesses += model->place_accesses[i];
    free(counts);
    return CTS_OK;
}

static enum cts_status keep_assignment(const struct cts_partition_model *model,
                                       struct cts_partition_task *task, struct cts_error *error)
{
    const size_t bytes = model->place_count * sizeof *task->scale.assignment;
    task->scale.assignment = cts_array_zeroed(bytes, 1, error);
    if (!task->scale.assignment) return CTS_MEMORY;
    memcpy(task->scale.assignment, parts_of(model, task), bytes);
    return CTS_OK;
}

static double imbalance(uint64_t most, uint64_t sum, uint32_t p)
{
    return sum ? (double)most * p / (double)sum : 1;
}

static void judge_balance(struct cts_partition_scale *scale)
{
    uint64_t ctas = 0, accesses = 0, bytes = 0, most_ctas = 0, most_accesses = 0, most_bytes = 0;
    for (uint32_t q = 0; q < scale->partition_count; q++) {
        const struct cts_partition_part *const part = &scale->parts[q];
        const uint64_t touched = part->read_bytes + part->written_bytes;
        ctas += part->ctas;
        accesses += part->accesses;
        bytes += touched;
        most_ctas = largest(most_ctas, part->ctas);
        most_accesses = largest(most_accesses, part->accesses);
        most_bytes = largest(most_bytes, touched);
        if (!part->ctas) scale->idle_partitions++;
    }
    scale->cta_imbalance = imbalance(most_ctas, ctas, scale->partition_count);
    scale->access_imbalance = imbalance(most_accesses, accesses, scale->partition_count);
    scale->byte_imbalance = imbalance(most_bytes, bytes, scale->partition_count);
}

enum cts_status cts_partition_finish_tasks(struct cts_partition_model *model,
                                           struct cts_error *error)
{
    const struct cts_partition *const result = model->result;
    const size_t count = result->launch_count;
    uint64_t *const values = cts_array_zeroed(count, sizeof *values, error);
    uint64_t *const scratch = cts_array_zeroed(count, sizeof *scratch, error);
    enum cts_status status = values && scratch ? CTS_OK : CTS_MEMORY;
    for (size_t i = 0; !status && i < model->task_count; i++) {
        struct cts_partition_task *const task = &model->tasks[i];
        size_t counted = 0;
        for (size_t k = 0; k < count; k++)
            if (cts_partition_can_have_traffic(&result->launches[k]))
                values[counted++] = task->scale.launch_bytes[k];
        task->scale.box = cts_partition_box_of(values, counted, scratch);
        task->scale.time.no_overlap_s = task->no_overlap_s;
        task->scale.time.full_overlap_s = task->full_overlap_s;
        status = add_work(model, task, error);
        if (!status && model->options.keep_assignments)
            status = keep_assignment(model, task, error);
        if (!status) judge_balance(&task->scale);
    }
    free(values);
    free(scratch);
    return status;
}
