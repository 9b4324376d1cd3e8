/* Two launches of a million CTAs in which every CTA reads from several far away: sums and degrees
 * stay exact, memory stays small, and the density map is binned. Records are made when they are
 * asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/communication/communication.h"
#include "count.h"
#include "record-fixture.h"

/* The sanitizers see the same in an eighth. */
#if defined(CTS_TESTS_UNDER_TSAN) || defined(CTS_TESTS_UNDER_ASAN)
enum { SCALE = 1 << 17 };
#else
enum { SCALE = 1 << 20 };
#endif
enum { CTAS = SCALE, READ = 4, CHUNK_CTAS = 1 << 14, CHUNKS = CTAS / CHUNK_CTAS, BINS = 64 };
static const uint64_t base = UINT64_C(0x7f0000000000);

static uint32_t source_of(uint32_t cta, uint32_t k)
{
    return (cta * 5 + k * (CTAS / READ) + 77) % CTAS; /* 5 is odd: every CTA has READ readers */
}

/* Launch 0: CTA c stores word c. Launch 1: CTA c loads READ words of others. */
static enum cts_status read_chunk(const void *state, const struct cts_acc_chunk *chunk,
                                  struct cts_acc_batch *batch, struct cts_error *error)
{
    (void)state;
    if (batch_start(batch, chunk, error)) return CTS_MEMORY;
    for (uint32_t cta = chunk->first_cta; cta <= chunk->last_cta; cta++) {
        uint32_t offsets[READ];
        for (uint32_t k = 0; k < READ; k++) offsets[k] = 4 * source_of(cta, k);
        const bool loads = chunk->launch == 1;
        const struct cts_access record = {.cta = cta,
                                          .site = chunk->launch,
                                          .mask = loads ? (1u << READ) - 1 : 1,
                                          .space = CTS_SPACE_GLOBAL,
                                          .pattern = loads ? CTS_PATTERN_LIST : CTS_PATTERN_UNIFORM,
                                          .base = base + (loads ? 0 : 4 * (uint64_t)cta),
                                          .offsets = offsets};
        batch_put(batch, &record);
    }
    return CTS_OK;
}

static void a_million_ctas_with_partners_everywhere(void **state)
{
    (void)state;
    static struct cts_acc_chunk chunks[2 * CHUNKS];
    for (uint32_t i = 0; i < 2 * CHUNKS; i++)
        chunks[i] = (struct cts_acc_chunk){.launch = i / CHUNKS,
                                           .offset_bytes = i,
                                           .first_cta = i % CHUNKS * CHUNK_CTAS,
                                           .last_cta = i % CHUNKS * CHUNK_CTAS + CHUNK_CTAS - 1,
                                           .record_count = CHUNK_CTAS};
    struct cts_site sites[] = {
        {.site = 0, .operation = CTS_STORE, .space = CTS_SPACE_GLOBAL, .width_bytes = 4},
        {.site = 1, .operation = CTS_LOAD, .space = CTS_SPACE_GLOBAL, .width_bytes = 4}};
    struct cts_launch launches[2];
    for (uint32_t i = 0; i < 2; i++)
        launches[i] = (struct cts_launch){.launch = i,
                                          .op = 1 + i,
                                          .grid = {1024, CTAS / 1024, 1},
                                          .block = {32, 1, 1},
                                          .recorded = "all",
                                          .start_ns = 1 + i,
                                          .end_ns = 2 + i};
    const struct cts_catalogue catalogue = {
        .launches = launches, .launch_count = 2, .sites = sites, .site_count = 2};
    const struct cts_access_source source = {.chunks = chunks,
                                             .chunk_count = 2 * CHUNKS,
                                             .read = read_chunk,
                                             .release = cts_acc_batch_release};
    const struct cts_comm_options options = {
        .threads = 2, .density_bins = BINS, .keep_transfers = true, .transfer_max = 1000};
    struct cts_comm c;
    struct cts_error error = {0};
    if (cts_comm_analyze(&catalogue, &source, &options, &c, &error)) fail_msg("%s", error.text);
    const uint64_t transfers = (uint64_t)CTAS * READ;
    assert_int_equal(c.total.received_transfers, transfers);
    assert_int_equal(c.total.received_bytes, 4 * transfers);
    assert_int_equal(c.total.communicated_out_bytes, 4 * (uint64_t)CTAS);
    assert_int_equal(c.transfer_count, 1000);
    assert_int_equal(c.transfers_left_out, transfers - 1000);
    assert_int_equal(c.launches[1].in_degree.smallest, READ);
    assert_int_equal(c.launches[1].in_degree.largest, READ);
    assert_int_equal(c.launches[0].out_degree.smallest, READ);
    assert_int_equal(c.launches[0].out_degree.largest, READ);
    assert_int_equal(c.launch_pair_count, 1);
    assert_int_equal(c.launch_pairs[0].senders, CTAS);
    assert_int_equal(c.launch_pairs[0].distinct_bytes, 4 * (uint64_t)CTAS);
    assert_int_equal(c.launch_pairs[0].shape, CTS_COMM_SHAPE_MIXED);
    assert_int_equal(c.density.bin_count, BINS);
    uint64_t sum = 0, bytes = 0;
    for (unsigned i = 0; i < BINS * BINS; i++) {
        sum += c.density.cells[2 * i];
        bytes += c.density.cells[2 * i + 1];
    }
    assert_int_equal(sum, transfers);
    assert_int_equal(bytes, 4 * transfers);
    assert_true(c.peak_shadow_bytes < 3 * 4 * (uint64_t)CTAS);
    assert_true(c.peak_set_bytes < 200 * (uint64_t)CTAS);
    cts_comm_release(&c);
}

/* ---- scattered words that several CTAs write ---- */

enum { WORDS = SCALE / 4 * 5, WRITERS = 3, ATOMIC_SITE = 0, STORE_SITE = 1 };

/* The words whose number is `remainder` by `step`, in an order without rhyme, 8 bytes apart. */
static void put_words(struct cts_acc_batch *batch, uint32_t cta, uint32_t site, uint32_t step,
                      uint32_t remainder)
{
    const uint32_t count = WORDS / step;
    for (uint32_t first = 0; first < count; first += 32) {
        uint32_t offsets[32];
        for (uint32_t k = 0; k < 32; k++)
            offsets[k] =
                8 * ((uint32_t)((first + k) * UINT64_C(1000003) % count) * step + remainder);
        const struct cts_access record = {.cta = cta,
                                          .site = site,
                                          .mask = UINT32_MAX,
                                          .space = CTS_SPACE_GLOBAL,
                                          .pattern = CTS_PATTERN_LIST,
                                          .base = base,
                                          .offsets = offsets};
        batch_put(batch, &record);
    }
}

/* CTAs 0 and 1 update all words, 1 also stores each fourth, and 2 stores the ones after them. */
static enum cts_status read_writers(const void *state, const struct cts_acc_chunk *chunk,
                                    struct cts_acc_batch *batch, struct cts_error *error)
{
    const uint32_t cta = chunk->first_cta;
    (void)state;
    if (batch_start(batch, chunk, error)) return CTS_MEMORY;
    if (cta < 2) put_words(batch, cta, ATOMIC_SITE, 1, 0);
    if (cta > 0) put_words(batch, cta, STORE_SITE, 4, cta - 1);
    return CTS_OK;
}

/* Over a million words are contended, none beside another: work on them grows no faster than their
 * number, else this test would not end. */
static void a_million_contended_words(void **state)
{
    (void)state;
    struct cts_acc_chunk chunks[WRITERS];
    for (uint32_t i = 0; i < WRITERS; i++)
        chunks[i] = (struct cts_acc_chunk){
            .offset_bytes = i,
            .first_cta = i,
            .last_cta = i,
            .record_count = ((i < 2 ? WORDS : 0) + (i > 0 ? WORDS / 4 : 0)) / 32};
    struct cts_site sites[] = {
        {.site = 0, .operation = CTS_ATOMIC_ADD, .space = CTS_SPACE_GLOBAL, .width_bytes = 4},
        {.site = 1, .operation = CTS_STORE, .space = CTS_SPACE_GLOBAL, .width_bytes = 4}};
    struct cts_launch launch = {.op = 1,
                                .grid = {WRITERS, 1, 1},
                                .block = {32, 1, 1},
                                .recorded = "all",
                                .start_ns = 1,
                                .end_ns = 2};
    const struct cts_catalogue catalogue = {
        .launches = &launch, .launch_count = 1, .sites = sites, .site_count = 2};
    const struct cts_access_source source = {.chunks = chunks,
                                             .chunk_count = WRITERS,
                                             .read = read_writers,
                                             .release = cts_acc_batch_release};
    const struct cts_comm_options options = {.threads = 2};
    struct cts_comm c;
    struct cts_error error = {0};
    if (cts_comm_analyze(&catalogue, &source, &options, &c, &error)) fail_msg("%s", error.text);
    assert_int_equal(c.total.global_atomic_accesses, 2 * WORDS);
    assert_int_equal(c.total.conflict_bytes, 4 * WORDS / 2);
    assert_int_equal(c.total.atomic_shared_bytes, 4 * WORDS / 2);
    cts_comm_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_million_ctas_with_partners_everywhere),
                                       cmocka_unit_test(a_million_contended_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
