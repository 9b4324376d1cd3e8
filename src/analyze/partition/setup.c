/* Before the walk: shapes and places, lines of mappings, names of allocations, threads, tasks. */
#include <string.h>

#include "analyze/partition/partition-model.h"
#include "common/parallel.h"
#include "common/search.h"
#include "common/sort.h"

enum { PARTS_KEPT_BYTES = 256 << 20, REGIONS_MAX = 256 };

/* ---- kernels and shapes ---- */

static const struct cts_launch *row_of(const struct cts_partition_model *model, size_t launch)
{
    return &model->catalogue->launches[model->plan.launches[launch].index];
}

static enum cts_status list_kernels(struct cts_partition_model *model, struct cts_error *error)
{
    struct cts_partition *const result = model->result;
    const size_t count = model->plan.launch_count;
    result->kernels = cts_array_zeroed(count, sizeof *result->kernels, error);
    if (!result->kernels) return CTS_MEMORY;
    for (size_t i = 0; i < count; i++) result->kernels[i] = row_of(model, i)->kernel;
    result->kernel_count = cts_sort_distinct_u32(result->kernels, count);
    if (result->kernel_count > UINT16_MAX)
        return cts_fail(error, CTS_LIMIT, "too many kernels: %zu", result->kernel_count);
    return CTS_OK;
}

static uint32_t kernel_index(const struct cts_partition *result, uint32_t kernel)
{
    return (uint32_t)CTS_SEARCH(result->kernel_count, i, result->kernels[i] < kernel);
}

static enum cts_status find_shapes(struct cts_partition_model *model, struct cts_error *error)
{
    struct cts_map known = {0}; /* hash of kernel and grid -> shape + 1 of the last such */
    const size_t count = model->plan.launch_count;
    model->shapes = cts_array_zeroed(count, sizeof *model->shapes, error);
    model->shape_of = cts_array_zeroed(count, sizeof *model->shape_of, error);
    enum cts_status status = model->shapes && model->shape_of ? CTS_OK : CTS_MEMORY;
    uint64_t place_count = 0;
    for (size_t i = 0; !status && i < count; i++) {
        if (!model->plan.launches[i].counted) continue;
        const struct cts_launch *const row = row_of(model, i);
        uint64_t key = cts_hash_draw(row->kernel);
        for (unsigned d = 0; d < 3; d++) key = cts_hash_draw(key ^ row->grid[d]);
        uint64_t *const at = cts_map_at(&known, key, error);
        if (!at) {
            status = CTS_MEMORY;
            break;
        }
        if (!*at) {
            struct cts_partition_shape *const shape = &model->shapes[model->shape_count++];
            *shape =
                (struct cts_partition_shape){.kernel = kernel_index(model->result, row->kernel),
                                             .grid = cts_mapping_grid_of(row->grid),
                                             .first_place = (uint32_t)place_count};
            memcpy(shape->extents, row->grid, sizeof shape->extents);
            place_count += shape->grid.cta_count;
            *at = model->shape_count;
        }
        model->shape_of[i] = (uint32_t)*at - 1;
        model->result->launches[i].first_place = model->shapes[*at - 1].first_place;
        model->shapes[*at - 1].launch_count++;
        if (place_count >= CTS_NO_PLACE)
            status = cts_fail(error, CTS_LIMIT, "the kernels' grids have too many CTAs together");
    }
    cts_map_release(&known);
    model->place_count = (uint32_t)place_count;
    if (status) return status;
    model->place_accesses = cts_array_zeroed(place_count, sizeof *model->place_accesses, error);
    return model->place_accesses ? CTS_OK : CTS_MEMORY;
}

/* ---- launches ---- */

static enum cts_status describe_launches(struct cts_partition_model *model, struct cts_error *error)
{
    struct cts_partition *const result = model->result;
    const struct cts_summary_plan *const plan = &model->plan;
    struct cts_map last = {0}; /* rank and stream -> launch + 1 */
    result->launches = cts_array_zeroed(plan->launch_count, sizeof *result->launches, error);
    model->previous = cts_array_zeroed(plan->launch_count, sizeof *model->previous, error);
    if (!result->launches || !model->previous) return CTS_MEMORY;
    result->launch_count = plan->launch_count;
    for (size_t i = 0; i < plan->launch_count; i++) {
        const struct cts_summary_launch *const from = &plan->launches[i];
        const uint32_t stream = model->options.per_stream ? row_of(model, i)->stream : 0;
        result->launches[i] = (struct cts_partition_launch){.index = from->index,
                                                            .superstep = from->superstep,
                                                            .ordinal = from->ordinal,
                                                            .cta_count = from->cta_count,
                                                            .counted = from->counted,
                                                            .incomplete = from->incomplete};
        if (from->counted && from->cta_count > result->largest_grid)
            result->largest_grid = from->cta_count;
        uint64_t *const before = cts_map_at(&last, (uint64_t)from->rank << 32 | stream, error);
        if (!before) {
            cts_map_release(&last);
            return CTS_MEMORY;
        }
        model->previous[i] = (uint32_t)*before;
        *before = i + 1;
    }
    cts_map_release(&last);
    result->superstep_count = plan->order.superstep_count;
    result->unordered_pairs = plan->order.unordered_pairs;
    result->node_count = plan->node_count;
    result->unrecorded_launches = plan->unrecorded_launches;
    result->dropped_accesses = plan->dropped_accesses;
    result->incomplete_files = plan->incomplete_files;
    result->unseen_allocations = plan->unseen_allocations;
    result->lower_bound = plan->lower_bound;
    return CTS_OK;
}

/* ---- allocations ---- */

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; text && *text; text++) hash = cts_hash_draw(hash ^ (uint8_t)*text);
    return cts_hash_draw(hash);
}

/* Allocations of one variable at one line are one place; place 0 is for all others. */
static enum cts_status find_places(struct cts_partition_model *model, struct cts_error *error)
{
    const struct cts_catalogue *const catalogue = model->catalogue;
    struct cts_partition *const result = model->result;
    struct cts_map known = {0};
    result->places = cts_array_zeroed(CTS_PARTITION_PLACES, sizeof *result->places, error);
    model->allocation_place =
        cts_array_zeroed(catalogue->allocation_count, sizeof *model->allocation_place, error);
    enum cts_status status = result->places && model->allocation_place ? CTS_OK : CTS_MEMORY;
    if (!status) result->places[result->place_count++].allocation = CTS_NONE;
    for (size_t i = 0; !status && i < catalogue->allocation_count; i++) {
        const struct cts_allocation *const a = &catalogue->allocations[i];
        uint64_t key = hash_text(hash_text(hash_text(1, a->variable), a->path), a->function);
        key = cts_hash_draw(key ^ ((uint64_t)a->line << 32 | a->column));
        uint64_t *const at = cts_map_at(&known, key, error);
        if (!at) status = CTS_MEMORY;
        if (!status && !*at && result->place_count < CTS_PARTITION_PLACES) {
            *at = result->place_count;
            result->places[result->place_count++].allocation = (uint32_t)i;
        }
        if (!status) model->allocation_place[i] = (uint32_t)*at;
    }
    cts_map_release(&known);
    return status;
}

static int by_start(const void *left, const void *right)
{
    const struct cts_partition_extent *const a = left, *const b = right;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    return (a->end > b->end) - (a->end < b->end);
}

/* Which allocations live during the launch, and for which other ops that holds. */
enum cts_status cts_partition_find_extents(struct cts_partition_model *model,
                                           struct cts_error *error)
{
    const struct cts_catalogue *const catalogue = model->catalogue;
    const struct cts_launch *const row = row_of(model, model->launch);
    const uint64_t op = row->op;
    if (model->extents_known && model->extents_rank == row->rank && op > model->extents_low_op &&
        op < model->extents_high_op)
        return CTS_OK;
    uint64_t low = 0, high = UINT64_MAX;
    bool any_low = false;
    model->extents.count = 0;
    for (size_t i = 0; i < catalogue->allocation_count; i++) {
        const struct cts_allocation *const a = &catalogue->allocations[i];
        if (a->rank != row->rank || a->size_bytes > UINT64_MAX - a->address) continue;
        const uint64_t ends[2] = {a->op, a->freed_op};
        for (unsigned k = 0; k < 2; k++) {
            if (ends[k] < op && (!any_low || ends[k] > low)) low = ends[k], any_low = true;
            if (ends[k] >= op && ends[k] < high) high = ends[k];
        }
        if (a->op >= op || a->freed_op <= op || !a->size_bytes) continue;
        if (CTS_ARRAY_RESERVE(&model->extents, model->extents.count + 1, error)) return CTS_MEMORY;
        model->extents.items[model->extents.count++] = (struct cts_partition_extent){
            a->address, a->address + a->size_bytes, model->allocation_place[i]};
    }
    struct cts_partition_extent *const items = model->extents.items;
    if (model->extents.count) qsort(items, model->extents.count, sizeof *items, by_start);
    size_t kept = 0; /* where allocations overlap, the lower one has the bytes */
    for (size_t i = 0; i < model->extents.count; i++) {
        struct cts_partition_extent extent = items[i];
        if (kept && extent.start < items[kept - 1].end) extent.start = items[kept - 1].end;
        if (extent.start < extent.end) items[kept++] = extent;
    }
    model->extents.count = kept;
    model->extents_low_op = low;
    model->extents_high_op = high;
    model->extents_rank = row->rank;
    model->extents_known = any_low;
    return CTS_OK;
}

/* ---- mappings ---- */

static enum cts_status make_line(struct cts_partition_model *model,
                                 const struct cts_mapping *mapping, struct cts_partition_line *line,
                                 struct cts_error *error)
{
    line->mapping = mapping;
    line->positions = cts_array_zeroed(model->place_count, sizeof *line->positions, error);
    line->lengths = cts_array_zeroed(model->shape_count, sizeof *line->lengths, error);
    if (!line->positions || !line->lengths) return CTS_MEMORY;
    for (size_t s = 0; s < model->shape_count; s++) {
        const struct cts_partition_shape *const shape = &model->shapes[s];
        const enum cts_status status = cts_mapping_lay_out(
            mapping, &shape->grid, line->positions + shape->first_place, &line->lengths[s], error);
        if (status) return status;
    }
    return CTS_OK;
}

static enum cts_status make_lines(struct cts_partition_model *model, struct cts_error *error)
{
    const bool all = model->options.best_found; /* the seeds are all that there are */
    model->lines = cts_array_zeroed(CTS_MAPPING_COUNT + model->options.mapping_count,
                                    sizeof *model->lines, error);
    if (!model->lines) return CTS_MEMORY;
    for (size_t i = 0; i < model->options.mapping_count; i++) {
        const enum cts_status status =
            make_line(model, model->options.mappings[i], &model->lines[model->line_count++], error);
        if (status) return status;
    }
    for (size_t i = 0; all && i < CTS_MAPPING_COUNT; i++) {
        bool known = false;
        for (size_t k = 0; k < model->line_count; k++)
            known |= model->lines[k].mapping == cts_mappings[i];
        const enum cts_status status =
            known ? CTS_OK
                  : make_line(model, cts_mappings[i], &model->lines[model->line_count++], error);
        if (status) return status;
    }
    return CTS_OK;
}

/* ---- threads ---- */

static unsigned page_bits(uint64_t page_bytes)
{
    return page_bytes ? (unsigned)__builtin_ctzll(page_bytes) : 16;
}

static enum cts_status make_threads(struct cts_partition_model *model, struct cts_error *error)
{
    uint64_t threads = cts_thread_count(model->options.threads);
    if (threads > REGIONS_MAX) threads = REGIONS_MAX;
    cts_processes_reduce_u64(model->processes, &threads, 1, CTS_REDUCE_MIN);
    model->thread_count = (unsigned)threads;
    model->region_count = model->thread_count * model->process_count;
    model->page_bits = page_bits(model->options.page_bytes);
    model->regions = cts_array_zeroed(threads, sizeof *model->regions, error);
    model->threads = cts_array_zeroed(threads, sizeof *model->threads, error);
    if (!model->regions || !model->threads) return CTS_MEMORY;
    if (cts_summary_reader_new(&model->plan, model->thread_count, &model->reader, error))
        return CTS_MEMORY;
    for (unsigned i = 0; i < model->thread_count; i++) {
        struct cts_partition_thread *const thread = &model->threads[i];
        thread->parts = cts_array_zeroed(model->place_count, sizeof *thread->parts, error);
        thread->reads = cts_array_zeroed(model->region_count, sizeof *thread->reads, error);
        thread->writes = cts_array_zeroed(model->region_count, sizeof *thread->writes, error);
        if (!thread->parts || !thread->reads || !thread->writes) return CTS_MEMORY;
        const enum cts_status status = cts_region_open(
            &model->regions[i], model, model->process_rank * model->thread_count + i, error);
        if (status) return status;
    }
    return CTS_OK;
}

enum cts_status cts_partition_set_up(struct cts_partition_model *model, struct cts_error *error)
{
    enum cts_status status = list_kernels(model, error);
    if (!status) status = describe_launches(model, error);
    if (!status) status = find_shapes(model, error);
    if (!status) status = find_places(model, error);
    if (!status) status = make_lines(model, error);
    if (!status && model->options.best_found) status = cts_partition_graph_begin(model, error);
    if (!status) status = make_threads(model, error);
    return status;
}

void cts_partition_tear_down(struct cts_partition_model *model)
{
    for (unsigned i = 0; model->regions && i < model->thread_count; i++)
        cts_region_release(&model->regions[i]);
    for (unsigned i = 0; model->threads && i < model->thread_count; i++) {
        struct cts_partition_thread *const thread = &model->threads[i];
        free(thread->parts);
        free(thread->masks);
        for (unsigned r = 0; r < model->region_count; r++) {
            if (thread->reads) free(thread->reads[r].items);
            if (thread->writes) free(thread->writes[r].items);
        }
        free(thread->reads);
        free(thread->writes);
    }
    cts_summary_reader_free(model->reader);
    for (size_t i = 0; i < model->line_count; i++) {
        free(model->lines[i].positions);
        free(model->lines[i].lengths);
    }
    free(model->lines);
    free(model->regions);
    free(model->threads);
    free(model->shapes);
    free(model->shape_of);
    free(model->place_accesses);
    free(model->previous);
    free(model->allocation_place);
    free(model->extents.items);
    cts_partition_graph_end(model);
    cts_summary_plan_release(&model->plan);
}

/* ---- tasks ---- */

enum cts_status cts_partition_prepare_tasks(struct cts_partition_model *model,
                                            struct cts_error *error)
{
    const struct cts_partition *const result = model->result;
    model->cell_count = model->part_count = 0;
    const bool keeps =
        (uint64_t)model->place_count * sizeof(uint16_t) * model->task_count <= PARTS_KEPT_BYTES;
    for (size_t i = 0; i < model->task_count; i++) {
        struct cts_partition_task *const task = &model->tasks[i];
        struct cts_partition_scale *const scale = &task->scale;
        task->cell_offset = model->cell_count;
        task->part_offset = model->part_count;
        model->cell_count += (size_t)task->p * CTS_CELLS_PER_PART + CTS_SCALAR_COUNT +
                             result->kernel_count + result->place_count;
        model->part_count += task->p;
        scale->partition_count = task->p;
        scale->launch_bytes =
            cts_array_zeroed(result->launch_count, sizeof *scale->launch_bytes, error);
        scale->parts = cts_array_zeroed(task->p, sizeof *scale->parts, error);
        scale->kernel_bytes =
            cts_array_zeroed(result->kernel_count, sizeof *scale->kernel_bytes, error);
        scale->allocation_bytes =
            cts_array_zeroed(result->place_count, sizeof *scale->allocation_bytes, error);
        if (!scale->launch_bytes || !scale->parts || !scale->kernel_bytes ||
            !scale->allocation_bytes)
            return CTS_MEMORY;
        if (model->options.l2_bytes) {
            task->footprints = cts_array_zeroed((size_t)task->p * (CTS_PARTITION_DISTANCES + 2),
                                                sizeof *task->footprints, error);
            if (!task->footprints) return CTS_MEMORY;
        }
        if (!keeps || !task->mapping) continue;
        task->parts = cts_array_zeroed(model->place_count, sizeof *task->parts, error);
        if (!task->parts) return CTS_MEMORY;
        cts_partition_assign(model, task, task->parts);
    }
    free(model->cells);
    free(model->held);
    model->cells = cts_array_zeroed(model->cell_count, sizeof *model->cells, error);
    model->held = cts_array_zeroed(model->task_count, sizeof *model->held, error);
    return model->cells && model->held ? CTS_OK : CTS_MEMORY;
}

void cts_partition_scale_release(struct cts_partition_scale *scale)
{
    free(scale->launch_bytes);
    free(scale->parts);
    free(scale->kernel_bytes);
    free(scale->allocation_bytes);
    free(scale->assignment);
    *scale = (struct cts_partition_scale){0};
}

void cts_partition_release_tasks(struct cts_partition_model *model)
{
    for (size_t i = 0; i < model->task_count; i++) {
        free(model->tasks[i].parts);
        free(model->tasks[i].assigned);
        free(model->tasks[i].footprints);
        cts_partition_scale_release(&model->tasks[i].scale);
    }
    free(model->tasks);
    free(model->cells);
    free(model->held);
    model->tasks = NULL;
    model->cells = model->held = NULL;
    model->task_count = 0;
}
