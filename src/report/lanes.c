/* See lanes.h. Intervals are gathered until a chunk is full. What is still open when a chunk begins
 * (main(), a long wait) is written into it once more, at its head, so that each chunk can be drawn
 * alone; these repeats have starts before the chunk's. */
#include "report/lanes.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "common/array.h"

/* The kinds that fill a bin, the few largest: enough to know which one wins in all but contrived
 * bins, in bounded memory. */
enum { BIN_KINDS = 6 };
struct bin {
    uint32_t kinds[BIN_KINDS];
    uint64_t times[BIN_KINDS];
    uint64_t covered_ns; /* by intervals of whatever kind */
};

struct cts_lane_writer {
    struct cts_json *json;
    struct cts_lane_interval *intervals; /* of the chunk at hand */
    size_t count;
    struct {
        struct cts_lane_interval *items;
        size_t count, capacity;
    } open; /* that reach beyond the chunk at hand, by start */
    struct {
        uint8_t *items;
        size_t count, capacity;
    } bytes, packed;
    char *text;
    size_t text_capacity;
    struct bin *bins;
};

struct cts_lane_writer *cts_lane_begin(struct cts_json *json, struct cts_error *error)
{
    struct cts_lane_writer *const lane = cts_array_zeroed(1, sizeof *lane, error);
    if (!lane) return NULL;
    lane->json = json;
    lane->intervals = cts_array_zeroed(CTS_LANE_CHUNK, sizeof *lane->intervals, error);
    lane->bins = cts_array_zeroed(CTS_LANE_BINS, sizeof *lane->bins, error);
    if (!lane->intervals || !lane->bins) {
        free(lane->intervals);
        free(lane->bins);
        free(lane);
        return NULL;
    }
    cts_json_key(json, "chunks");
    cts_json_open_array(json);
    return lane;
}

/* ---- the overview ---- */

static void bin_add(struct bin *bin, uint32_t kind, uint64_t time_ns)
{
    size_t least = 0;
    bin->covered_ns += time_ns;
    for (size_t i = 0; i < BIN_KINDS; i++) {
        if (bin->times[i] && bin->kinds[i] == kind) {
            bin->times[i] += time_ns;
            return;
        }
        if (bin->times[i] < bin->times[least]) least = i;
    }
    if (bin->times[least] > time_ns) return;
    bin->kinds[least] = kind;
    bin->times[least] = time_ns;
}

static uint32_t bin_winner(const struct bin *bin)
{
    size_t most = 0;
    for (size_t i = 1; i < BIN_KINDS; i++)
        if (bin->times[i] > bin->times[most]) most = i;
    return bin->times[most] ? bin->kinds[most] + 1 : 0;
}

struct sweep {
    struct bin *bins;
    uint64_t start_ns, span_ns;
};

/* Bin b holds the instants t with floor((t - start) * BINS / span) = b. */
static uint64_t bin_start_ns(const struct sweep *sweep, uint64_t bin)
{
    const unsigned __int128 product = (unsigned __int128)bin * sweep->span_ns;
    return sweep->start_ns + (uint64_t)((product + CTS_LANE_BINS - 1) / CTS_LANE_BINS);
}

/* Kind `kind` from `from` to `to`, over the bins that they touch. */
static void sweep_add(const struct sweep *sweep, uint32_t kind, uint64_t from, uint64_t to)
{
    if (from < sweep->start_ns) from = sweep->start_ns;
    if (to > sweep->start_ns + sweep->span_ns) to = sweep->start_ns + sweep->span_ns;
    while (from < to) {
        const uint64_t bin =
            (unsigned __int128)(from - sweep->start_ns) * CTS_LANE_BINS / sweep->span_ns;
        const uint64_t next = bin_start_ns(sweep, bin + 1), end = next < to ? next : to;
        bin_add(&sweep->bins[bin], kind, end - from);
        from = end;
    }
}

/* Walks over the intervals with the stack of those that are open: at each instant the innermost one
 * counts. */
static void fill_bins(const struct sweep *sweep, const struct cts_lane_interval *intervals,
                      size_t count)
{
    enum { STACK_MAX = 256 };
    const struct cts_lane_interval *stack[STACK_MAX];
    size_t depth = 0;
    uint64_t now = 0;
    for (size_t i = 0; i <= count; i++) {
        const uint64_t next = i < count ? intervals[i].start_ns : UINT64_MAX;
        while (depth && stack[depth - 1]->end_ns <= next) {
            const struct cts_lane_interval *const top = stack[--depth];
            if (now < top->end_ns) sweep_add(sweep, top->kind, now, top->end_ns);
            if (now < top->end_ns) now = top->end_ns;
        }
        if (i == count) break;
        if (depth && now < next) sweep_add(sweep, stack[depth - 1]->kind, now, next);
        if (now < next) now = next;
        if (depth < STACK_MAX) stack[depth++] = &intervals[i];
    }
}

static void write_bins(struct cts_lane_writer *lane, uint64_t start_ns, uint64_t end_ns)
{
    const struct sweep sweep = {lane->bins, start_ns, end_ns > start_ns ? end_ns - start_ns : 1};
    const size_t bins = lane->count < CTS_LANE_OVERVIEW_MIN ? 0 : CTS_LANE_BINS;
    if (bins) {
        memset(lane->bins, 0, CTS_LANE_BINS * sizeof *lane->bins);
        fill_bins(&sweep, lane->intervals, lane->count);
    }
    cts_json_key(lane->json, "bins");
    cts_json_open_array(lane->json);
    for (size_t i = 0; i < bins;) {
        const uint32_t kind = bin_winner(&lane->bins[i]);
        const uint64_t covered_ns = lane->bins[i].covered_ns;
        size_t same = i + 1;
        while (same < CTS_LANE_BINS && lane->bins[same].covered_ns == covered_ns &&
               bin_winner(&lane->bins[same]) == kind)
            same++;
        cts_json_u64(lane->json, kind);
        cts_json_u64(lane->json, covered_ns);
        cts_json_u64(lane->json, same - i);
        i = same;
    }
    cts_json_close_array(lane->json);
}

/* ---- the intervals themselves ---- */

static void put_number(struct cts_lane_writer *lane, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        lane->bytes.items[lane->bytes.count++] = (uint8_t)(value | 0x80);
    lane->bytes.items[lane->bytes.count++] = (uint8_t)value;
}

static enum cts_status encode(struct cts_lane_writer *lane, struct cts_error *error)
{
    enum { NUMBERS = 5, NUMBER_BYTES_MAX = 10 };
    lane->bytes.count = 0;
    if (CTS_ARRAY_RESERVE(&lane->bytes, lane->count * NUMBERS * NUMBER_BYTES_MAX, error))
        return error->status;
    uint64_t before = 0;
    for (size_t i = 0; i < lane->count; i++) {
        const struct cts_lane_interval *const it = &lane->intervals[i];
        put_number(lane, it->start_ns - before);
        put_number(lane, it->end_ns - it->start_ns);
        put_number(lane, it->kind);
        put_number(lane, it->place);
        put_number(lane, ((uint64_t)it->link_ns << 1) ^ (uint64_t)(it->link_ns >> 63));
        before = it->start_ns;
    }
    return CTS_OK;
}

static enum cts_status pack(struct cts_lane_writer *lane, struct cts_error *error)
{
    uLongf size = compressBound(lane->bytes.count);
    if (CTS_ARRAY_RESERVE(&lane->packed, size, error)) return error->status;
    if (compress2(lane->packed.items, &size, lane->bytes.items, lane->bytes.count, 6) != Z_OK)
        return cts_fail(error, CTS_MEMORY, "no memory to compress a timeline");
    lane->packed.count = size;
    return CTS_OK;
}

static enum cts_status write_base64(struct cts_lane_writer *lane, struct cts_error *error)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *const bytes = lane->packed.items;
    const size_t count = lane->packed.count, needed = (count + 2) / 3 * 4 + 1;
    if (lane->text_capacity < needed) {
        char *const text = realloc(lane->text, needed);
        if (!text) return cts_fail(error, CTS_MEMORY, "no memory for a timeline");
        lane->text = text;
        lane->text_capacity = needed;
    }
    char *out = lane->text;
    for (size_t i = 0; i < count; i += 3) {
        const uint32_t second = i + 1 < count ? bytes[i + 1] : 0;
        const uint32_t third = i + 2 < count ? bytes[i + 2] : 0;
        const uint32_t word = (uint32_t)bytes[i] << 16 | second << 8 | third;
        *out++ = digits[word >> 18];
        *out++ = digits[word >> 12 & 63];
        *out++ = i + 1 < count ? digits[word >> 6 & 63] : '=';
        *out++ = i + 2 < count ? digits[word & 63] : '=';
    }
    *out = 0;
    cts_json_member_string(lane->json, "data", lane->text);
    return CTS_OK;
}

/* ---- chunks ---- */

/* Writes the chunk at hand; the next one begins with what is still open at `next_ns`. */
static enum cts_status flush(struct cts_lane_writer *lane, uint64_t next_ns,
                             struct cts_error *error)
{
    uint64_t start_ns = UINT64_MAX, end_ns = 0;
    const size_t repeats = lane->open.count;
    for (size_t i = 0; i < lane->count; i++) {
        const struct cts_lane_interval *const it = &lane->intervals[i];
        if (i >= repeats && it->start_ns < start_ns) start_ns = it->start_ns;
        if (it->end_ns > end_ns) end_ns = it->end_ns;
    }
    if (end_ns > next_ns) end_ns = next_ns; /* the rest is the next chunk's */
    if (end_ns < start_ns) end_ns = start_ns;
    cts_json_open_object_row(lane->json);
    cts_json_member_u64(lane->json, "start", start_ns);
    cts_json_member_u64(lane->json, "end", end_ns);
    cts_json_member_u64(lane->json, "count", lane->count);
    write_bins(lane, start_ns, end_ns);
    enum cts_status status = encode(lane, error);
    if (!status) status = pack(lane, error);
    if (!status) status = write_base64(lane, error);
    cts_json_close_object(lane->json);
    if (status) return status;
    lane->open.count = 0;
    for (size_t i = 0; i < lane->count; i++) {
        if (lane->intervals[i].end_ns <= next_ns) continue;
        if (CTS_ARRAY_RESERVE(&lane->open, lane->open.count + 1, error)) return error->status;
        lane->open.items[lane->open.count++] = lane->intervals[i];
    }
    /* So many at once are no stack of calls; those that are left out are drawn once. */
    if (lane->open.count > CTS_LANE_CHUNK / 2) lane->open.count = CTS_LANE_CHUNK / 2;
    if (lane->open.count)
        memcpy(lane->intervals, lane->open.items, lane->open.count * sizeof *lane->intervals);
    lane->count = lane->open.count;
    return CTS_OK;
}

enum cts_status cts_lane_add(struct cts_lane_writer *lane, const struct cts_lane_interval *interval,
                             struct cts_error *error)
{
    if (lane->count == CTS_LANE_CHUNK) {
        const enum cts_status status = flush(lane, interval->start_ns, error);
        if (status) return status;
    }
    lane->intervals[lane->count++] = *interval;
    return CTS_OK;
}

enum cts_status cts_lane_end(struct cts_lane_writer *lane, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    if (lane->count > lane->open.count) status = flush(lane, UINT64_MAX, error);
    cts_json_close_array(lane->json);
    free(lane->intervals);
    free(lane->open.items);
    free(lane->bytes.items);
    free(lane->packed.items);
    free(lane->text);
    free(lane->bins);
    free(lane);
    return status;
}
