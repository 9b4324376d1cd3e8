/* The transfers of a launch: the largest, and the first of all in the order of who received them.
 */
#include <stdlib.h>

#include "analyze/communication/comm-model.h"

/* The largest transfers are kept in a heap whose top is the least of them. */
bool cts_comm_is_less(const struct cts_comm_transfer *a, const struct cts_comm_transfer *b)
{
    if (a->bytes != b->bytes) return a->bytes < b->bytes;
    if (a->reader_launch != b->reader_launch) return a->reader_launch > b->reader_launch;
    if (a->reader_cta != b->reader_cta) return a->reader_cta > b->reader_cta;
    if (a->writer_launch != b->writer_launch) return a->writer_launch > b->writer_launch;
    return a->writer_cta > b->writer_cta;
}

static void keep_top(struct cts_comm_transfer_sums *sums, size_t most,
                     const struct cts_comm_transfer *transfer)
{
    struct cts_comm_transfer *const heap = sums->top;
    if (sums->top_count < most) {
        size_t i = sums->top_count++;
        for (; i > 0 && cts_comm_is_less(transfer, &heap[(i - 1) / 2]); i = (i - 1) / 2)
            heap[i] = heap[(i - 1) / 2];
        heap[i] = *transfer;
        return;
    }
    if (!most || !cts_comm_is_less(&heap[0], transfer)) return;
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < most; i = child) {
        if (child + 1 < most && cts_comm_is_less(&heap[child + 1], &heap[child])) child++;
        if (!cts_comm_is_less(&heap[child], transfer)) break;
        heap[i] = heap[child];
    }
    heap[i] = *transfer;
}

/* The order of cts_comm.transfers. */
static int by_reader(const void *left, const void *right)
{
    const struct cts_comm_transfer *const a = left, *const b = right;
    if (a->reader_launch != b->reader_launch) return a->reader_launch < b->reader_launch ? -1 : 1;
    if (a->reader_cta != b->reader_cta) return a->reader_cta < b->reader_cta ? -1 : 1;
    if (a->writer_launch != b->writer_launch) return a->writer_launch < b->writer_launch ? -1 : 1;
    return (a->writer_cta > b->writer_cta) - (a->writer_cta < b->writer_cta);
}

void cts_comm_transfers_cut(struct cts_comm_transfers *list, size_t most, uint64_t *left_out)
{
    qsort(list->items, list->count, sizeof *list->items, by_reader);
    if (list->count <= most) return;
    *left_out += list->count - most;
    list->count = most;
}

/* The list of a launch holds twice what the result has room for, then only the first of it. */
static enum cts_status list_transfer(struct cts_comm_worker *worker,
                                     const struct cts_comm_transfer *transfer)
{
    struct cts_comm_transfers *const list = &worker->transfers.kept;
    const size_t room = worker->model->transfer_room;
    if (list->count >= 2 * room + 1024)
        cts_comm_transfers_cut(list, room, &worker->transfers.left_out);
    if (CTS_ARRAY_RESERVE(list, list->count + 1, &worker->error)) return CTS_MEMORY;
    list->items[list->count++] = *transfer;
    return CTS_OK;
}

enum cts_status cts_comm_keep_transfer(struct cts_comm_worker *worker,
                                       const struct cts_comm_transfer *transfer)
{
    uint64_t *const same_size =
        cts_map_at(&worker->transfers.sizes, transfer->bytes, &worker->error);
    if (!same_size) return CTS_MEMORY;
    ++*same_size;
    cts_comm_density_count(&worker->transfers.density, transfer->writer_cta, transfer->reader_cta,
                           transfer->bytes);
    keep_top(&worker->transfers, worker->model->options.top_count, transfer);
    return worker->model->options.keep_transfers ? list_transfer(worker, transfer) : CTS_OK;
}
