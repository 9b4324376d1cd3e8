/* A trace's requests as warp records: sorted by CTA and time, lanes put into their warps. The flat
 * lists of early versions name every thread's access by itself; those that agree in all but thread
 * and address are one request again. */
#include "import/folder-order.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"

static uint32_t cts_folder_cta(const struct cts_folder_trace *trace, const uint32_t cta[3])
{
    return cta[0] + trace->grid[0] * (cta[1] + trace->grid[1] * cta[2]);
}

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* By CTA, time, and, of flat lists, what makes a request. */
static int same_request(const struct cts_folder_trace *trace, const struct cts_folder_request *a,
                        const struct cts_folder_request *b)
{
    int order = compare(cts_folder_cta(trace, a->cta), cts_folder_cta(trace, b->cta));
    if (!order) order = compare(a->timestamp, b->timestamp);
    if (!trace->is_flat) return order;
    if (!order) order = compare((uint32_t)a->place, (uint32_t)b->place);
    if (!order) order = compare(a->kind, b->kind);
    if (!order) order = compare(a->space, b->space);
    if (!order) order = compare(a->width_bytes, b->width_bytes);
    return order ? order : compare((uint32_t)a->type_index, (uint32_t)b->type_index);
}

static int by_time(const void *left, const void *right, void *state)
{
    const struct cts_folder_trace *const trace = state;
    const size_t i = *(const size_t *)left, k = *(const size_t *)right;
    const int order = same_request(trace, &trace->requests.items[i], &trace->requests.items[k]);
    return order ? order : compare(i, k);
}

/* ---- a request under construction ---- */

struct warps {
    const struct cts_folder_order *order;
    struct cts_folder_record records[CTS_FOLDER_WARPS_MAX];
    uint64_t used[CTS_FOLDER_WARPS_MAX / 64 + 1]; /* which have lanes */
    const struct cts_folder_request *request;
};

static enum cts_status hand_on(struct warps *w, unsigned warp)
{
    struct cts_folder_record *const record = &w->records[warp];
    if (!record->mask) return CTS_OK;
    record->request = w->request;
    record->cta = cts_folder_cta(w->order->trace, w->request->cta);
    record->warp = (uint16_t)warp;
    const enum cts_status status = w->order->take(w->order->state, record, w->order->error);
    record->mask = 0;
    return status;
}

static enum cts_status hand_on_all(struct warps *w)
{
    for (unsigned i = 0; i < sizeof w->used / sizeof *w->used; i++) {
        for (uint64_t left = w->used[i]; left; left &= left - 1) {
            const enum cts_status status = hand_on(w, i * 64 + (unsigned)__builtin_ctzll(left));
            if (status) return status;
        }
        w->used[i] = 0;
    }
    return CTS_OK;
}

static enum cts_status add_lane(struct warps *w, const struct cts_folder_lane *lane)
{
    const uint32_t *const block = w->order->trace->block;
    const uint32_t thread =
        lane->thread[0] + block[0] * (lane->thread[1] + block[1] * lane->thread[2]);
    const unsigned warp = thread / 32, bit = thread % 32;
    struct cts_folder_record *const record = &w->records[warp];
    if (record->mask >> bit & 1) { /* the same thread once more: another execution */
        const enum cts_status status = hand_on(w, warp);
        if (status) return status;
    }
    if (!record->mask) record->value_words = lane->value_words;
    record->mask |= 1u << bit;
    record->addresses[bit] = lane->address;
    record->values[bit] = lane->value;
    if (record->value_words != lane->value_words) record->value_words = 0;
    w->used[warp / 64] |= 1ull << warp % 64;
    return CTS_OK;
}

enum cts_status cts_folder_in_order(const struct cts_folder_order *order)
{
    const struct cts_folder_trace *const trace = order->trace;
    size_t *const sorted = cts_array_zeroed(trace->requests.count, sizeof *sorted, order->error);
    struct warps *const w = cts_array_zeroed(1, sizeof *w, order->error);
    enum cts_status status = sorted && w ? CTS_OK : CTS_MEMORY;
    if (!status) {
        for (size_t i = 0; i < trace->requests.count; i++) sorted[i] = i;
        qsort_r(sorted, trace->requests.count, sizeof *sorted, by_time, (void *)(uintptr_t)trace);
        w->order = order;
    }
    for (size_t i = 0; i < trace->requests.count && !status; i++) {
        const struct cts_folder_request *const request = &trace->requests.items[sorted[i]];
        const bool goes_on =
            trace->is_flat && w->request && same_request(trace, w->request, request) == 0;
        if (!goes_on && w->request) status = hand_on_all(w);
        w->request = request;
        for (size_t k = 0; k < request->lane_count && !status; k++)
            status = add_lane(w, &trace->lanes.items[request->first_lane + k]);
    }
    if (!status && w->request) status = hand_on_all(w);
    free(sorted);
    free(w);
    return status;
}
