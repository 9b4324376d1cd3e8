/* Pairs of launches: sums over their transfers, and what shape the transfers have together. */
#include <stdlib.h>
#include <string.h>

#include "analyze/communication/comm-model.h"

const char *cts_comm_shape_text(enum cts_comm_shape shape)
{
    static const char *const texts[] = {
#define X(name, text) text,
        CTS_COMM_SHAPES(X)
#undef X
    };
    return (unsigned)shape < CTS_COMM_SHAPE_COUNT ? texts[shape] : "?";
}

/* ---- while transfers come ---- */

static const uint32_t *grid_of(const struct cts_comm_model *model, size_t launch)
{
    return model->catalogue->launches[model->result->launches[launch].index].grid;
}

void cts_comm_pair_use(struct cts_comm_worker *worker, size_t writer)
{
    struct cts_comm_pair_sum *const pair = &worker->pairs.by_writer[writer];
    if (pair->used) return;
    const uint32_t *const from = grid_of(worker->model, writer);
    const uint32_t *const to = grid_of(worker->model, worker->model->launch);
    *pair = (struct cts_comm_pair_sum){
        .used = true,
        .sum = {.writer = writer,
                .reader = worker->model->launch,
                .same_grid = from[0] == to[0] && from[1] == to[1] && from[2] == to[2]}};
    for (unsigned d = 0; d < 3; d++) {
        if (from[d] > 1 || to[d] > 1) pair->sum.bisection_dimensions |= (uint8_t)(1u << d);
        pair->sum.offset_min[d] = INT64_MAX;
        pair->sum.offset_max[d] = INT64_MIN;
    }
    worker->pairs.used[worker->pairs.used_count++] = writer;
}

static void locate(const uint32_t *grid, uint32_t cta, uint32_t index[3])
{
    const bool is_row = grid[1] == 1 && grid[2] == 1;
    index[0] = is_row ? cta : cta % grid[0];
    index[1] = is_row ? 0 : cta / grid[0] % grid[1];
    index[2] = is_row ? 0 : cta / grid[0] / grid[1];
}

/* floor(2i / n) for i below n */
static bool is_upper_half(uint32_t i, uint32_t n)
{
    return 2 * (uint64_t)i >= n;
}

void cts_comm_pair_add(struct cts_comm_worker *worker, size_t writer,
                       const struct cts_comm_transfer *transfer)
{
    struct cts_comm_pair_sum *const pair = &worker->pairs.by_writer[writer];
    cts_comm_pair_use(worker, writer);
    if (!pair->cta_degree++) worker->pairs.of_cta[worker->pairs.of_cta_count++] = writer;
    struct cts_comm_pair *const sum = &pair->sum;
    sum->transfers++;
    sum->bytes += transfer->bytes;
    sum->access_bytes += transfer->access_bytes;
    sum->accesses += transfer->accesses;
    const uint32_t *const from = grid_of(worker->model, writer);
    const uint32_t *const to = grid_of(worker->model, worker->model->launch);
    uint32_t a[3], b[3];
    locate(from, transfer->writer_cta, a);
    locate(to, transfer->reader_cta, b);
    for (unsigned d = 0; d < 3; d++) {
        if (is_upper_half(a[d], from[d]) != is_upper_half(b[d], to[d]))
            sum->bisection_bytes[d] += transfer->bytes;
        const int64_t offset = (int64_t)b[d] - (int64_t)a[d];
        if (offset < sum->offset_min[d]) sum->offset_min[d] = offset;
        if (offset > sum->offset_max[d]) sum->offset_max[d] = offset;
    }
}

void cts_comm_pairs_end_cta(struct cts_comm_worker *worker)
{
    for (size_t i = 0; i < worker->pairs.of_cta_count; i++) {
        struct cts_comm_pair_sum *const pair = &worker->pairs.by_writer[worker->pairs.of_cta[i]];
        pair->sum.receivers++;
        if (pair->cta_degree > pair->sum.largest_in_degree)
            pair->sum.largest_in_degree = pair->cta_degree;
        pair->cta_degree = 0;
    }
    worker->pairs.of_cta_count = 0;
}

/* ---- at the end of a launch ---- */

void cts_comm_pair_combine(struct cts_comm_pair *sum, const struct cts_comm_pair *more)
{
    sum->transfers += more->transfers;
    sum->bytes += more->bytes;
    sum->access_bytes += more->access_bytes;
    sum->accesses += more->accesses;
    sum->distinct_bytes += more->distinct_bytes;
    sum->senders += more->senders;
    sum->receivers += more->receivers;
    sum->bisection_dimensions |= more->bisection_dimensions;
    sum->same_grid &= more->same_grid;
    sum->unordered |= more->unordered;
    if (more->largest_in_degree > sum->largest_in_degree)
        sum->largest_in_degree = more->largest_in_degree;
    if (more->largest_out_degree > sum->largest_out_degree)
        sum->largest_out_degree = more->largest_out_degree;
    for (unsigned d = 0; d < 3; d++) {
        sum->bisection_bytes[d] += more->bisection_bytes[d];
        if (more->offset_min[d] < sum->offset_min[d]) sum->offset_min[d] = more->offset_min[d];
        if (more->offset_max[d] > sum->offset_max[d]) sum->offset_max[d] = more->offset_max[d];
    }
}

/* What was counted by writing node becomes sums of the pair, and the node's own. All processes know
 * all senders: the first of them counts. */
static void count_senders(struct cts_comm_model *model, const uint32_t *nodes, size_t count)
{
    struct cts_comm_worker *const first = &model->workers[0];
    const bool counts = cts_comm_is_first(model);
    size_t hint = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t writer = cts_comm_launch_of(model->result, nodes[i], &hint);
        uint32_t *const degree = &model->launch_out_degrees[nodes[i] - CTS_WRITER_FIRST_NODE];
        if (!*degree) continue; /* another process named it, too */
        cts_comm_pair_use(first, writer);
        struct cts_comm_pair *const pair = &first->pairs.by_writer[writer].sum;
        if (counts) pair->senders++;
        if (*degree > pair->largest_out_degree) pair->largest_out_degree = *degree;
        model->out_degrees[nodes[i] - CTS_WRITER_FIRST_NODE] += *degree;
        *degree = 0;
    }
}

static int by_index(const void *left, const void *right)
{
    const size_t a = *(const size_t *)left, b = *(const size_t *)right;
    return (a > b) - (a < b);
}

enum cts_status cts_comm_pairs_gather(struct cts_comm_model *model, struct cts_error *error)
{
    struct cts_comm_worker *const first = &model->workers[0];
    struct cts_comm *const result = model->result;
    for (unsigned i = 1; i < model->worker_count; i++) {
        struct cts_comm_worker *const worker = &model->workers[i];
        for (size_t k = 0; k < worker->pairs.used_count; k++) {
            const size_t writer = worker->pairs.used[k];
            cts_comm_pair_use(first, writer);
            cts_comm_pair_combine(&first->pairs.by_writer[writer].sum,
                                  &worker->pairs.by_writer[writer].sum);
            worker->pairs.by_writer[writer].used = false;
        }
        worker->pairs.used_count = 0;
    }
    for (unsigned i = 0; i < model->worker_count; i++) {
        count_senders(model, model->workers[i].senders.items, model->workers[i].senders.count);
        model->workers[i].senders.count = 0;
    }
    qsort(first->pairs.used, first->pairs.used_count, sizeof *first->pairs.used, by_index);
    if (CTS_ARRAY_RESERVE(&model->pairs, model->pairs.count + first->pairs.used_count, error))
        return CTS_MEMORY;
    for (size_t i = 0; i < first->pairs.used_count; i++) {
        struct cts_comm_pair_sum *const pair = &first->pairs.by_writer[first->pairs.used[i]];
        pair->sum.unordered =
            !cts_order_precedes(&model->plan.order, result->launches[pair->sum.writer].index,
                                result->launches[pair->sum.reader].index);
        model->pairs.items[model->pairs.count++] = pair->sum;
        pair->used = false;
    }
    first->pairs.used_count = 0;
    return CTS_OK;
}

/* ---- shapes ---- */

static bool offsets_are(const struct cts_comm_pair *pair, int64_t least, int64_t most)
{
    for (unsigned d = 0; d < 3; d++)
        if (pair->offset_min[d] < least || pair->offset_max[d] > most) return false;
    return true;
}

static bool is_one_offset(const struct cts_comm_pair *pair)
{
    return !memcmp(pair->offset_min, pair->offset_max, sizeof pair->offset_min);
}

/* The rule of docs/communication.md, first match. */
static void cts_comm_pair_judge(struct cts_comm_pair *pair)
{
    const bool one_sender = pair->largest_in_degree == 1;
    const bool one_receiver = pair->largest_out_degree == 1;
    if (one_sender && one_receiver && pair->same_grid && offsets_are(pair, 0, 0))
        pair->shape = CTS_COMM_SHAPE_SAME_CTA;
    else if (one_sender && one_receiver && pair->same_grid && is_one_offset(pair) &&
             pair->transfers > 1)
        pair->shape = CTS_COMM_SHAPE_SHIFT;
    else if (one_sender && one_receiver)
        pair->shape = CTS_COMM_SHAPE_POINT_TO_POINT;
    else if (one_sender)
        pair->shape =
            pair->distinct_bytes == pair->bytes ? CTS_COMM_SHAPE_SCATTER : CTS_COMM_SHAPE_MULTICAST;
    else if (one_receiver)
        pair->shape = CTS_COMM_SHAPE_GATHER;
    else if ((unsigned __int128)pair->senders * pair->receivers == pair->transfers)
        pair->shape = CTS_COMM_SHAPE_ALL_TO_ALL;
    else if (pair->same_grid && offsets_are(pair, -1, 1))
        pair->shape = CTS_COMM_SHAPE_HALO;
    else
        pair->shape = CTS_COMM_SHAPE_MIXED;
}

/* ---- the result ---- */

static int by_kernel_id(const void *left, const void *right)
{
    const struct cts_comm_kernel *const a = left, *const b = right;
    return (a->kernel > b->kernel) - (a->kernel < b->kernel);
}

static uint32_t kernel_id(const struct cts_comm_model *model, size_t launch)
{
    return model->catalogue->launches[model->result->launches[launch].index].kernel;
}

size_t cts_comm_kernel_index(const struct cts_comm *result, uint32_t kernel)
{
    const struct cts_comm_kernel key = {.kernel = kernel};
    const struct cts_comm_kernel *const found =
        bsearch(&key, result->kernels, result->kernel_count, sizeof key, by_kernel_id);
    return (size_t)(found - result->kernels);
}

static enum cts_status sum_kernels(struct cts_comm_model *model, struct cts_error *error)
{
    struct cts_comm *const result = model->result;
    result->kernels = cts_array_zeroed(result->launch_count, sizeof *result->kernels, error);
    if (!result->kernels) return CTS_MEMORY;
    for (size_t i = 0; i < result->launch_count; i++)
        result->kernels[i].kernel = kernel_id(model, i);
    qsort(result->kernels, result->launch_count, sizeof *result->kernels, by_kernel_id);
    for (size_t i = 0; i < result->launch_count; i++)
        if (i == 0 || result->kernels[i].kernel != result->kernels[i - 1].kernel)
            result->kernels[result->kernel_count++] = result->kernels[i];
    for (size_t i = 0; i < result->launch_count; i++) {
        const struct cts_comm_launch *const launch = &result->launches[i];
        struct cts_comm_kernel *const kernel =
            &result->kernels[cts_comm_kernel_index(result, kernel_id(model, i))];
        kernel->launch_count++;
        cts_comm_counts_add(&kernel->counts, &launch->counts);
        cts_comm_counts_add(&result->total, &launch->counts);
        kernel->communicated_out_access_bytes += launch->communicated_out_access_bytes;
        result->communicated_out_access_bytes += launch->communicated_out_access_bytes;
    }
    return CTS_OK;
}

static int by_writer_reader(const void *left, const void *right)
{
    const struct cts_comm_pair *const a = left, *const b = right;
    if (a->writer != b->writer) return a->writer < b->writer ? -1 : 1;
    return (a->reader > b->reader) - (a->reader < b->reader);
}

static enum cts_status pair_kernels(struct cts_comm_model *model, struct cts_error *error)
{
    struct cts_comm *const result = model->result;
    result->kernel_pairs =
        cts_array_zeroed(result->launch_pair_count, sizeof *result->kernel_pairs, error);
    if (!result->kernel_pairs) return CTS_MEMORY;
    for (size_t i = 0; i < result->launch_pair_count; i++) {
        struct cts_comm_pair *const pair = &result->kernel_pairs[i];
        *pair = result->launch_pairs[i];
        pair->writer = cts_comm_kernel_index(result, kernel_id(model, pair->writer));
        pair->reader = cts_comm_kernel_index(result, kernel_id(model, pair->reader));
    }
    qsort(result->kernel_pairs, result->launch_pair_count, sizeof *result->kernel_pairs,
          by_writer_reader);
    for (size_t i = 0; i < result->launch_pair_count; i++) {
        const struct cts_comm_pair pair = result->kernel_pairs[i];
        struct cts_comm_pair *const last = result->kernel_pairs + result->kernel_pair_count - 1;
        if (!result->kernel_pair_count || by_writer_reader(last, &pair)) {
            result->kernel_pairs[result->kernel_pair_count++] = pair;
            continue;
        }
        cts_comm_pair_combine(last, &pair);
        if (last->shape != pair.shape) last->shape = CTS_COMM_SHAPE_MIXED;
    }
    return CTS_OK;
}

/* ---- distances and evolution ---- */

/* How many launches of its stream came before each launch. */
static enum cts_status count_in_streams(const struct cts_comm_model *model, uint32_t *ordinals,
                                        struct cts_error *error)
{
    const struct cts_comm *const result = model->result;
    struct cts_map next = {0};
    for (size_t i = 0; i < result->launch_count; i++) {
        const struct cts_launch *const row = &model->catalogue->launches[result->launches[i].index];
        uint64_t *const ordinal = cts_map_at(&next, (uint64_t)row->rank << 32 | row->stream, error);
        if (!ordinal) {
            cts_map_release(&next);
            return CTS_MEMORY;
        }
        ordinals[i] = (uint32_t)(*ordinal)++;
    }
    cts_map_release(&next);
    return CTS_OK;
}

static uint32_t stream_of(const struct cts_comm_model *model, size_t launch)
{
    return model->catalogue->launches[model->result->launches[launch].index].stream;
}

static int by_distance(const void *left, const void *right)
{
    const struct cts_comm_distance *const a = left, *const b = right;
    return (a->distance > b->distance) - (a->distance < b->distance);
}

static void join_distances(struct cts_comm *result, size_t count)
{
    qsort(result->distances, count, sizeof *result->distances, by_distance);
    for (size_t i = 0; i < count; i++) {
        const struct cts_comm_distance row = result->distances[i];
        struct cts_comm_distance *const last = result->distances + result->distance_count - 1;
        if (!result->distance_count || last->distance != row.distance) {
            result->distances[result->distance_count++] = row;
            continue;
        }
        last->transfers += row.transfers;
        last->bytes += row.bytes;
        last->access_bytes += row.access_bytes;
        last->distinct_bytes += row.distinct_bytes;
    }
}

static enum cts_status measure_distances(struct cts_comm_model *model, struct cts_error *error)
{
    struct cts_comm *const result = model->result;
    const bool per_stream = model->options.per_stream;
    uint32_t *const ordinals = cts_array_zeroed(result->launch_count, sizeof *ordinals, error);
    result->distances =
        cts_array_zeroed(result->launch_pair_count, sizeof *result->distances, error);
    enum cts_status status = ordinals && result->distances ? CTS_OK : CTS_MEMORY;
    if (!status && per_stream) status = count_in_streams(model, ordinals, error);
    for (size_t i = 0; !status && !per_stream && i < result->launch_count; i++)
        ordinals[i] = result->launches[i].ordinal;
    size_t count = 0;
    for (size_t i = 0; !status && i < result->launch_pair_count; i++) {
        const struct cts_comm_pair *const pair = &result->launch_pairs[i];
        if (per_stream && stream_of(model, pair->writer) != stream_of(model, pair->reader))
            continue;
        result->distances[count++] = (struct cts_comm_distance){
            .distance = ordinals[pair->reader] - ordinals[pair->writer] - 1,
            .transfers = pair->transfers,
            .bytes = pair->bytes,
            .access_bytes = pair->access_bytes,
            .distinct_bytes = pair->distinct_bytes};
    }
    if (!status) join_distances(result, count);
    free(ordinals);
    return status;
}

static enum cts_status follow_evolution(struct cts_comm_model *model, struct cts_error *error)
{
    struct cts_comm *const result = model->result;
    const bool per_stream = model->options.per_stream;
    result->evolution = cts_array_zeroed(result->launch_count, sizeof *result->evolution, error);
    if (!result->evolution) return CTS_MEMORY;
    result->evolution_count = result->launch_count;
    for (size_t i = 0; i < result->launch_count; i++) {
        const struct cts_comm_launch *const launch = &result->launches[i];
        result->evolution[i] = (struct cts_comm_evolution){
            .launch = i,
            .store_bytes = launch->counts.communicated_out_bytes,
            .store_access_bytes = per_stream ? 0 : launch->communicated_out_access_bytes};
    }
    for (size_t i = 0; i < result->launch_pair_count; i++) {
        const struct cts_comm_pair *const pair = &result->launch_pairs[i];
        if (per_stream && stream_of(model, pair->writer) != stream_of(model, pair->reader))
            continue;
        result->evolution[pair->reader].load_bytes += pair->bytes;
        result->evolution[pair->reader].load_access_bytes += pair->access_bytes;
    }
    return CTS_OK;
}

enum cts_status cts_comm_pairs_conclude(struct cts_comm_model *model, struct cts_error *error)
{
    struct cts_comm *const result = model->result;
    result->launch_pairs = model->pairs.items;
    result->launch_pair_count = model->pairs.count;
    model->pairs.items = NULL;
    for (size_t i = 0; i < result->launch_pair_count; i++) {
        struct cts_comm_pair *const pair = &result->launch_pairs[i];
        cts_comm_pair_judge(pair);
        result->launches[pair->writer].counts.sent_transfers += pair->transfers;
        result->launches[pair->writer].counts.sent_bytes += pair->bytes;
        result->bisection_dimensions |= pair->bisection_dimensions;
        for (unsigned d = 0; d < 3; d++) result->bisection_bytes[d] += pair->bisection_bytes[d];
        if (!pair->unordered) continue;
        result->unordered_transfers += pair->transfers;
        result->unordered_bytes += pair->bytes;
    }
    enum cts_status status = sum_kernels(model, error);
    if (!status) status = pair_kernels(model, error);
    if (!status) status = measure_distances(model, error);
    if (!status) status = follow_evolution(model, error);
    return status;
}
