/* Lanes: what is unpacked from the JSON is what was added (and, at the head of later chunks, what
 * was still open); an overview shows in every bin the kind that fills most of it, counted ns by ns.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "report/lanes.h"
#include "random.h"

static char *write_lane(const struct cts_lane_interval *intervals, size_t count)
{
    char *text = NULL;
    size_t text_bytes = 0;
    FILE *const file = open_memstream(&text, &text_bytes);
    struct cts_json json;
    struct cts_error error = {0};
    cts_json_begin(&json, file);
    cts_json_open_object(&json);
    struct cts_lane_writer *const lane = cts_lane_begin(&json, &error);
    assert_non_null(lane);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(cts_lane_add(lane, &intervals[i], &error), CTS_OK);
    assert_int_equal(cts_lane_end(lane, &error), CTS_OK);
    cts_json_close_object(&json);
    assert_int_equal(cts_json_end(&json, &error), CTS_OK);
    fclose(file);
    return text;
}

struct chunk {
    uint64_t start, end, count;
    uint64_t bins[CTS_LANE_BINS], covered_ns[CTS_LANE_BINS];
    bool has_bins;
    struct cts_lane_interval *intervals;
};

static uint64_t number_after(const char *text, const char *key)
{
    const char *const place = strstr(text, key);
    assert_non_null(place);
    return strtoull(place + strlen(key), NULL, 10);
}

static uint64_t take(const uint8_t *bytes, size_t *at)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        const uint8_t byte = bytes[(*at)++];
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return value;
    }
}

static size_t undo_base64(const char *text, uint8_t *bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t count = 0;
    for (; *text != '"'; text += 4) {
        uint32_t word = 0, pads = 0;
        for (int i = 0; i < 4; i++) {
            pads += text[i] == '=';
            word = word << 6 | (text[i] == '=' ? 0 : (uint32_t)(strchr(digits, text[i]) - digits));
        }
        for (uint32_t i = 0; i < 3 - pads; i++) bytes[count++] = (uint8_t)(word >> (16 - 8 * i));
    }
    return count;
}

/* Reads the next chunk behind *place. */
static bool read_chunk(const char **place, struct chunk *chunk)
{
    const char *const start = strstr(*place, "\"start\":");
    if (!start) return false;
    chunk->start = number_after(start, "\"start\":");
    chunk->end = number_after(start, "\"end\":");
    chunk->count = number_after(start, "\"count\":");
    char *bins = strchr(strstr(start, "\"bins\":"), '[') + 1;
    chunk->has_bins = *bins != ']';
    for (size_t bin = 0; chunk->has_bins && bin < CTS_LANE_BINS; bins++) {
        const uint64_t kind = strtoull(bins, &bins, 10);
        const uint64_t covered_ns = strtoull(bins + 1, &bins, 10);
        for (uint64_t many = strtoull(bins + 1, &bins, 10); many; many--, bin++) {
            chunk->bins[bin] = kind;
            chunk->covered_ns[bin] = covered_ns;
        }
    }
    const char *data = strstr(start, "\"data\":");
    data = strchr(data + 7, '"') + 1;
    uint8_t *const packed = malloc(strlen(data));
    uLongf size = chunk->count * 50 + 1;
    uint8_t *const bytes = malloc(size);
    assert_int_equal(uncompress(bytes, &size, packed, undo_base64(data, packed)), Z_OK);
    chunk->intervals = calloc(chunk->count + 1, sizeof *chunk->intervals);
    uint64_t before = 0;
    size_t at = 0;
    for (size_t i = 0; i < chunk->count; i++) {
        struct cts_lane_interval *const it = &chunk->intervals[i];
        it->start_ns = before += take(bytes, &at);
        it->end_ns = it->start_ns + take(bytes, &at);
        it->kind = (uint32_t)take(bytes, &at);
        it->place = (uint32_t)take(bytes, &at);
        const uint64_t folded = take(bytes, &at);
        it->link_ns = (int64_t)(folded >> 1) ^ -(int64_t)(folded & 1);
    }
    assert_int_equal(at, size);
    free(packed);
    free(bytes);
    *place = data;
    return true;
}

/* Nested calls at random: each interval lies within the one it is inside of. */
static size_t nest(struct cts_lane_interval *intervals, size_t room, uint64_t start, uint64_t end,
                   uint32_t depth)
{
    size_t count = 0;
    uint64_t now = start;
    while (count < room && now + 4 < end) {
        const uint64_t from = now + below(3);
        uint64_t to = from + 1 + below(depth ? 40 : 4000);
        if (to > end) to = end;
        if (from >= to) break;
        intervals[count++] = (struct cts_lane_interval){from, to, (uint32_t)below(5), depth,
                                                        (int64_t)below(1000) - 500};
        if (depth < 4 && below(3))
            count += nest(intervals + count, room - count, from, to, depth + 1);
        now = to;
    }
    return count;
}

/* Ns by ns: inner intervals come later and paint over outer ones. */
static void check_bins(const struct chunk *chunk)
{
    enum { KINDS = 5 };
    const uint64_t span = chunk->end - chunk->start;
    uint8_t *const painted = calloc(span + 1, 1);
    uint64_t(*times)[KINDS + 1] = calloc(CTS_LANE_BINS, sizeof *times);
    for (size_t i = 0; i < chunk->count; i++) {
        const struct cts_lane_interval *const it = &chunk->intervals[i];
        for (uint64_t t = it->start_ns; t < it->end_ns && t < chunk->end; t++)
            if (t >= chunk->start) painted[t - chunk->start] = (uint8_t)(it->kind + 1);
    }
    for (uint64_t t = 0; t < span; t++) times[t * CTS_LANE_BINS / span][painted[t]]++;
    for (size_t bin = 0; bin < CTS_LANE_BINS; bin++) {
        uint64_t most = 0, covered_ns = 0;
        for (size_t kind = 1; kind <= KINDS; kind++) {
            covered_ns += times[bin][kind];
            if (times[bin][kind] > most) most = times[bin][kind];
        }
        const uint64_t shown = chunk->bins[bin];
        assert_int_equal(chunk->covered_ns[bin], covered_ns);
        assert_int_equal(shown != 0, most != 0);
        if (shown) assert_int_equal(times[bin][shown], most);
    }
    free(times);
    free(painted);
}

static void check_one(const struct cts_lane_interval *intervals, size_t count)
{
    char *const text = write_lane(intervals, count);
    const char *place = text;
    struct chunk chunk = {0};
    assert_true(read_chunk(&place, &chunk));
    assert_int_equal(chunk.count, count);
    assert_memory_equal(chunk.intervals, intervals, count * sizeof *intervals);
    assert_int_equal(chunk.start, intervals[0].start_ns);
    assert_int_equal(chunk.has_bins, count >= CTS_LANE_OVERVIEW_MIN);
    if (chunk.has_bins) check_bins(&chunk);
    free(chunk.intervals);
    free(text);
}

enum { MANY = 3 * CTS_LANE_OVERVIEW_MIN };

static void test_overview(void **unused)
{
    (void)unused;
    static struct cts_lane_interval intervals[MANY];
    for (unsigned round = 0; round < 20; round++) {
        const size_t room = round < 5 ? 1 + below(400) : MANY;
        check_one(intervals, nest(intervals, room, below(100), 200000, 0));
    }
}

/* Waits, which never overlap, with gaps of all lengths: a bin is as full as the time in it, also
 * where a bin has less than a ns or one wait covers several. */
static void test_fill(void **unused)
{
    (void)unused;
    static struct cts_lane_interval intervals[MANY];
    for (unsigned round = 0; round < 30; round++) {
        const uint64_t gap = 1 + below(round % 3 ? 200 : 2), wait = 1 + below(round % 2 ? 300 : 1);
        uint64_t now = below(1000);
        for (size_t i = 0; i < MANY; i++) {
            const uint64_t begin = now + below(gap), end = begin + 1 + below(wait);
            intervals[i] = (struct cts_lane_interval){begin, end, (uint32_t)below(5), 0, 0};
            now = end;
        }
        check_one(intervals, CTS_LANE_OVERVIEW_MIN + below(MANY - CTS_LANE_OVERVIEW_MIN));
    }
}

static void test_chunks(void **unused)
{
    (void)unused;
    enum { COUNT = 3 * CTS_LANE_CHUNK };
    struct cts_lane_interval *const intervals = calloc(COUNT, sizeof *intervals);
    intervals[0] = (struct cts_lane_interval){5, 10000000000, 1, 0, 0}; /* main() */
    const size_t count = 1 + nest(intervals + 1, COUNT - 1, 10, 9000000000, 1);
    assert_int_equal(count, COUNT);
    char *const text = write_lane(intervals, count);
    const char *place = text;
    struct chunk chunk = {0};
    size_t chunks = 0, next = 0;
    uint64_t last_end = 0;
    while (read_chunk(&place, &chunk)) {
        size_t i = 0;
        if (chunks) assert_int_equal(chunk.intervals[0].end_ns, 10000000000); /* still open */
        while (i < chunk.count && chunk.intervals[i].start_ns <= chunk.start &&
               memcmp(&chunk.intervals[i], &intervals[next], sizeof *intervals) != 0) {
            assert_true(chunk.intervals[i].end_ns > chunk.start); /* a repeat */
            i++;
        }
        for (; i < chunk.count; i++, next++)
            assert_memory_equal(&chunk.intervals[i], &intervals[next], sizeof *intervals);
        if (chunk.has_bins) { /* main() fills what the others leave */
            uint64_t covered_ns = 0;
            for (size_t bin = 0; bin < CTS_LANE_BINS; bin++) covered_ns += chunk.covered_ns[bin];
            assert_int_equal(covered_ns, chunk.end - chunk.start);
        }
        assert_true(chunk.start >= last_end && chunk.end >= chunk.start);
        last_end = chunk.end;
        chunks++;
        free(chunk.intervals);
    }
    assert_int_equal(next, count);
    assert_in_range(chunks, 3, 5);
    free(intervals);
    free(text);
}

static void test_nothing(void **unused)
{
    (void)unused;
    char *const text = write_lane(NULL, 0);
    assert_non_null(strstr(text, "\"chunks\": []"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_overview), cmocka_unit_test(test_fill),
                                       cmocka_unit_test(test_chunks),
                                       cmocka_unit_test(test_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
