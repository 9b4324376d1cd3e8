/* Analyses whose answer nobody wants any more: they end with one failure wherever they are, also
 * between two reads, and how much is done between two looks is bounded. What is counted are
 * looks and reads, not time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/access/access-analysis.h"
#include "analyze/communication/communication.h"
#include "analyze/partition/partition.h"
#include "count.h"
#include "record-fixture.h"

/* Launch 0 stores each word once, launches 1 and 2 update it: scattered, and not once within reads
 * of one CTA. */
enum { LAUNCHES = 3, CTAS = 16, RECORDS = 128, LANES = CTAS * RECORDS * 32, STEP_BYTES = 1032 };
static const uint64_t base = UINT64_C(0x7f0000000000);

struct asker {
    atomic_size_t reads, looks, reads_after, looks_after;
    size_t gone_at; /* this look finds nobody */
};

static bool is_given_up(const void *state)
{
    struct asker *const asker = (struct asker *)(uintptr_t)state;
    const size_t look = atomic_fetch_add(&asker->looks, 1);
    if (look < asker->gone_at) return false;
    atomic_fetch_add(&asker->looks_after, 1);
    return true;
}

static enum cts_status read_chunk(const void *state, const struct cts_acc_chunk *chunk,
                                  struct cts_acc_batch *batch, struct cts_error *error)
{
    struct asker *const asker = (struct asker *)(uintptr_t)state;
    atomic_fetch_add(&asker->reads, 1);
    if (atomic_load(&asker->looks) > asker->gone_at) atomic_fetch_add(&asker->reads_after, 1);
    if (batch_start(batch, chunk, error)) return CTS_MEMORY;
    for (uint32_t i = 0; i < RECORDS; i++) {
        uint32_t offsets[32];
        for (uint32_t k = 0; k < 32; k++) {
            const uint64_t lane = (chunk->first_cta * RECORDS + i) * UINT64_C(32) + k;
            offsets[k] = STEP_BYTES * (uint32_t)((lane * 1000003 + chunk->launch * 77) % LANES);
        }
        const struct cts_access record = {.cta = chunk->first_cta,
                                          .site = chunk->launch != 0,
                                          .mask = UINT32_MAX,
                                          .warp = (uint16_t)(i % 32),
                                          .space = CTS_SPACE_GLOBAL,
                                          .pattern = CTS_PATTERN_LIST,
                                          .base = base,
                                          .offsets = offsets};
        batch_put(batch, &record);
    }
    return CTS_OK;
}

typedef enum cts_status analysis(const struct cts_catalogue *catalogue,
                                 const struct cts_access_source *source, unsigned threads,
                                 struct cts_error *error);

static enum cts_status access_analysis(const struct cts_catalogue *catalogue,
                                       const struct cts_access_source *source, unsigned threads,
                                       struct cts_error *error)
{
    const struct cts_access_options options = {.threads = threads};
    struct cts_access_result result;
    const enum cts_status status = cts_access_analyze(catalogue, source, &options, &result, error);
    if (!status) cts_access_release(&result);
    return status;
}

static enum cts_status communication(const struct cts_catalogue *catalogue,
                                     const struct cts_access_source *source, unsigned threads,
                                     struct cts_error *error)
{
    const struct cts_comm_options options = {.threads = threads};
    struct cts_comm result;
    const enum cts_status status = cts_comm_analyze(catalogue, source, &options, &result, error);
    if (!status) cts_comm_release(&result);
    return status;
}

static enum cts_status partition(const struct cts_catalogue *catalogue,
                                 const struct cts_access_source *source, unsigned threads,
                                 struct cts_error *error)
{
    uint32_t counts[] = {2};
    const struct cts_partition_options options = {.counts = counts,
                                                  .count_count = 1,
                                                  .mappings = cts_mappings,
                                                  .mapping_count = 1,
                                                  .threads = threads};
    struct cts_partition result;
    const enum cts_status status =
        cts_partition_analyze(catalogue, source, &options, &result, error);
    if (!status) cts_partition_release(&result);
    return status;
}

static enum cts_status run(analysis *analyze, struct asker *asker, unsigned threads,
                           struct cts_error *error)
{
    struct cts_acc_chunk chunks[LAUNCHES * CTAS];
    for (uint32_t i = 0; i < LAUNCHES * CTAS; i++)
        chunks[i] = (struct cts_acc_chunk){.launch = i / CTAS,
                                           .offset_bytes = i,
                                           .first_cta = i % CTAS,
                                           .last_cta = i % CTAS,
                                           .record_count = RECORDS};
    struct cts_site sites[] = {
        {.site = 0, .operation = CTS_STORE, .space = CTS_SPACE_GLOBAL, .width_bytes = 4},
        {.site = 1, .operation = CTS_ATOMIC_ADD, .space = CTS_SPACE_GLOBAL, .width_bytes = 4}};
    struct cts_launch launches[LAUNCHES];
    for (uint32_t i = 0; i < LAUNCHES; i++)
        launches[i] = (struct cts_launch){.launch = i,
                                          .op = 1 + i,
                                          .grid = {CTAS, 1, 1},
                                          .block = {1024, 1, 1},
                                          .recorded = "all",
                                          .start_ns = 1 + i,
                                          .end_ns = 2 + i};
    struct cts_kernel kernel = {.kernel = 0, .name = "k"};
    const struct cts_catalogue catalogue = {.launches = launches,
                                            .launch_count = LAUNCHES,
                                            .sites = sites,
                                            .site_count = 2,
                                            .kernels = &kernel,
                                            .kernel_count = 1};
    const struct cts_access_source source = {.chunks = chunks,
                                             .chunk_count = LAUNCHES * CTAS,
                                             .state = asker,
                                             .read = read_chunk,
                                             .release = cts_acc_batch_release,
                                             .is_given_up = is_given_up};
    return analyze(&catalogue, &source, threads, error);
}

static void try_analysis(analysis *analyze)
{
    enum { THREADS = 2 };
    struct asker whole = {.gone_at = SIZE_MAX};
    struct cts_error error = {0};
    if (run(analyze, &whole, 1, &error)) fail_msg("%s", error.text);
    const size_t looks = atomic_load(&whole.looks);
    /* Of each lane of each launch something is done after the reads. */
    assert_true(looks >= (size_t)LAUNCHES * LANES / (2 * CTS_ACCESS_SOURCE_PAUSE));
    for (unsigned threads = 1; threads <= THREADS; threads++)
        for (size_t at = 0; at < looks; at += 1 + looks / cts_test_count(5, 300)) {
            struct asker asker = {.gone_at = at};
            error = (struct cts_error){0};
            const enum cts_status status = run(analyze, &asker, threads, &error);
            if (threads > 1 && !status) continue; /* it may look less often, and be done */
            assert_int_equal(status, CTS_IO);
            assert_non_null(strstr(error.text, "the request was cancelled"));
            assert_true(atomic_load(&asker.looks_after) <= threads);
            /* A thread may be in the middle of CTAs that it has begun. */
            assert_true(atomic_load(&asker.reads_after) <= (threads - 1) * CTAS);
        }
}

static void access_ends(void **state)
{
    (void)state;
    try_analysis(access_analysis);
}

static void communication_ends(void **state)
{
    (void)state;
    try_analysis(communication);
}

static void partition_ends(void **state)
{
    (void)state;
    try_analysis(partition);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(access_ends),
        cmocka_unit_test(communication_ends),
        cmocka_unit_test(partition_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
