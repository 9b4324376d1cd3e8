/* The engine with the real collector: what a cooperative launch on several workers records, where
 * the CTAs of a worker take turns, is what the reader gives back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "record/cpu/engine.h"
#include "record/instrument/nvvm-abi.h"
#include "trace/acc.h"

enum { CTAS = 37, THREADS = 80, PHASES = 6, FIRST_SITE = 0, LAUNCH = 1 };

static uint32_t data[CTAS * THREADS * PHASES];
static uint64_t slot_base;

static void phases_thread(void **args, struct cts_thread_context *c)
{
    (void)args;
    for (uint32_t i = 0; i < PHASES; i++) {
        const uint32_t *const at = &data[(c->ctaid[0] * PHASES + i) * THREADS + c->tid[0]];
        *c->log = slot_base | ((uint64_t)(uintptr_t)at & 0xFFFFFFFFFFFF);
        c->log += CTS_WARP_LANES;
        if (c->log >= c->log_end) __cts_log_full(c);
        __cts_grid_sync();
    }
}

static const struct cts_site_desc site = {.source = UINT32_MAX,
                                          .width_bytes = 4,
                                          .operation = CTS_LOAD,
                                          .space = CTS_SPACE_GLOBAL,
                                          .loop = 0};
static const struct cts_loop_desc loop = {.parent = UINT32_MAX};
static const struct cts_file_desc desc = {
    .sites = &site, .loops = &loop, .site_count = 1, .loop_count = 1};
static const struct cts_kernel_desc phases = {.name = "phases",
                                              .display_name = "phases()",
                                              .thread = phases_thread,
                                              .thread_rec = phases_thread,
                                              .flags = CTS_KERNEL_FIBERS | CTS_KERNEL_GRID_SYNC};

static void record(const char *path)
{
    struct cts_collector *collector;
    struct cts_error error;
    struct cts_loaded_file file = {.desc = &desc, .first_site = FIRST_SITE};
    struct cts_launch_result result;
    if (cts_collector_open(&(struct cts_collector_options){.run_path = path}, &collector, &error))
        fail_msg("%s", error.text);
    if (cts_engine_start(&(struct cts_engine_options){.worker_count = 4}, &error))
        fail_msg("%s", error.text);
    file.first_slot = cts_engine_add_sites(&desc, FIRST_SITE);
    slot_base = (uint64_t)file.first_slot << CTS_SLOT_SHIFT;
    const struct cts_launch_request request = {.kernel = &phases,
                                               .file = &file,
                                               .grid = {CTAS, 1, 1},
                                               .block = {THREADS, 1, 1},
                                               .cooperative = true,
                                               .record = true,
                                               .launch = LAUNCH,
                                               .cta_sample = 1,
                                               .collector = collector};
    cts_engine_run(&request, &result);
    if (result.fault) fail_msg("%s", result.text);
    assert_int_equal(result.records, CTAS * PHASES * 3); /* 80 threads: 3 warps */
    assert_int_equal(result.accesses, CTAS * PHASES * THREADS);
    assert_int_equal(result.dropped_accesses, 0);
    cts_engine_forget_collector(collector);
    if (cts_collector_close(collector, &error)) fail_msg("%s", error.text);
    cts_engine_stop();
}

static uint32_t phase_of[CTAS][THREADS]; /* how many accesses of a thread have been read */

static void check(const struct cts_access *access)
{
    uint64_t addresses[CTS_WARP_LANES];
    assert_int_equal(access->launch, LAUNCH);
    assert_true(access->cta < CTAS);
    assert_int_equal(access->space, CTS_SPACE_GLOBAL);
    cts_access_addresses(access, addresses);
    for (uint32_t lane = 0; lane < CTS_WARP_LANES; lane++) {
        if (!(access->mask >> lane & 1)) continue;
        const uint32_t thread = access->warp * CTS_WARP_LANES + lane;
        assert_true(thread < THREADS);
        const uint32_t phase = phase_of[access->cta][thread]++;
        assert_int_equal(addresses[lane],
                         (uintptr_t)&data[(access->cta * PHASES + phase) * THREADS + thread]);
    }
}

static void what_is_recorded_is_read(void **state)
{
    (void)state;
    char path[] = "/tmp/engine-collector-XXXXXX", command[64];
    struct cts_acc_reader *reader;
    struct cts_acc_batch batch = {0};
    struct cts_error error;
    size_t chunk_count;
    assert_non_null(mkdtemp(path));
    record(path);
    if (cts_acc_open(path, &reader, &error)) fail_msg("%s", error.text);
    const struct cts_acc_chunk *const chunks = cts_acc_chunks(reader, &chunk_count);
    assert_true(chunk_count > 0);
    for (size_t i = 0; i < chunk_count; i++) {
        if (cts_acc_read(reader, &chunks[i], &batch, &error)) fail_msg("%s", error.text);
        for (size_t k = 0; k < batch.record_count; k++) {
            const struct cts_access access = cts_acc_record(&batch, k);
            check(&access);
        }
    }
    for (uint32_t cta = 0; cta < CTAS; cta++)
        for (uint32_t thread = 0; thread < THREADS; thread++)
            assert_int_equal(phase_of[cta][thread], PHASES);
    cts_acc_batch_release(&batch);
    cts_acc_close(reader);
    snprintf(command, sizeof command, "rm -r %s", path);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_recorded_is_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
