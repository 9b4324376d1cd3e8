/* What the engine of the CPU device costs, in nanoseconds of one core: a switch between fibers, a
 * barrier, a shuffle, a thread that never waits, an access that is logged and merged. Best of 5.
 *
 *     fiber-bench
 *
 * The collector is replaced by one that only counts, so that the figures are the engine's own. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "record/cpu/engine.h"
#include "record/cpu/engine/fiber.h"
#include "record/cpu/engine/log.h"
#include "record/instrument/nvvm-abi.h"

enum { REPEATS = 5 };

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now); /* other programs do not count */
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* ---- The collector ---- */

static struct cts_stream_counts counts;

void cts_collector_fail(struct cts_collector *collector, const struct cts_error *error)
{
    (void)collector, (void)error;
}

enum cts_status cts_collector_stream(struct cts_collector *collector, struct cts_stream **stream,
                                     struct cts_error *error)
{
    (void)error;
    *stream = (struct cts_stream *)collector;
    return CTS_OK;
}

void cts_stream_begin_cta(struct cts_stream *stream, uint32_t launch, uint32_t cta)
{
    (void)stream;
    (void)launch;
    (void)cta;
}

void cts_stream_end_cta(struct cts_stream *stream)
{
    (void)stream;
}

void cts_stream_flush(struct cts_stream *stream)
{
    (void)stream;
}

void cts_stream_add(struct cts_stream *stream, const struct cts_stream_row *row)
{
    (void)stream;
    counts.records++;
    counts.accesses += (uint64_t)__builtin_popcount(row->mask);
    __asm__ volatile("" ::"r"(row->addresses) : "memory");
}

void cts_stream_add_rows(struct cts_stream *stream, const struct cts_row_batch *batch)
{
    (void)stream;
    (void)batch;
}

struct cts_stream_counts cts_stream_take_counts(struct cts_stream *stream)
{
    const struct cts_stream_counts taken = counts;
    (void)stream;
    counts = (struct cts_stream_counts){0};
    return taken;
}

/* ---- A bare switch ---- */

static void *ping_sp, *pong_sp;

static void pong(void *unused)
{
    (void)unused;
    cts_fiber_entered();
    for (;;) cts_fiber_swap(&pong_sp, ping_sp);
}

static void bench_switch(void)
{
    enum { ROUNDS = 1000000 };
    struct cts_stacks stacks = {.size_bytes = 64 << 10};
    struct cts_stack *const stack = cts_stacks_take(&stacks);
    double best = 1e30;
    if (!stack) exit(1);
    pong_sp = cts_fiber_new(stack, pong, NULL);
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        const double start = now_ns();
        for (int i = 0; i < ROUNDS; i++) cts_fiber_swap(&ping_sp, pong_sp);
        const double each = (now_ns() - start) / (2.0 * ROUNDS);
        if (each < best) best = each;
    }
    printf("switch between two fibers               %6.1f ns\n", best);
    cts_stacks_release(&stacks);
}

/* ---- Kernels ---- */

enum { BARRIERS = 100, SHUFFLES = 100, TRIPS = 1000 };
static uint32_t cells[1 << 16];
static uint64_t slot_base;

static void empty_thread(void **args, struct cts_thread_context *c)
{
    (void)args;
    cells[c->tid[0]]++;
}

static void barrier_thread(void **args, struct cts_thread_context *c)
{
    (void)args;
    (void)c;
    for (int i = 0; i < BARRIERS; i++) __cts_nvvm_barrier0();
}

static void shuffle_thread(void **args, struct cts_thread_context *c)
{
    (void)args;
    uint32_t value = c->tid[0];
    for (int i = 0; i < SHUFFLES; i++)
        value += __cts_nvvm_shfl_sync_bfly_i32(UINT32_MAX, value, 1, 0x1F);
    cells[c->tid[0]] = value;
}

static inline void log_access(struct cts_thread_context *c, uint64_t site, const void *address)
{
    *c->log = slot_base + (site << 48) + ((uint64_t)(uintptr_t)address & 0xFFFFFFFFFFFF);
    c->log += 32;
    if (c->log >= c->log_end) __cts_log_full(c);
}

static void loop_thread(void **args, struct cts_thread_context *c)
{
    (void)args;
    for (uint32_t i = 0; i < TRIPS; i++) {
        log_access(c, 0, &cells[(i * 32 + c->tid[0]) & 0xFFFF]);
        log_access(c, 1, &cells[(i * 64 + c->tid[0]) & 0xFFFF]);
    }
}

static void diverged_thread(void **args, struct cts_thread_context *c)
{
    (void)args;
    uint32_t state = c->tid[0] * 2654435761u + 1;
    for (uint32_t i = 0; i < TRIPS; i++) {
        state = state * 1664525u + 1013904223u;
        if (state >> 31) log_access(c, 0, &cells[state >> 16]);
        log_access(c, 1, &cells[(i * 32 + c->tid[0]) & 0xFFFF]);
    }
}

static const struct cts_site_desc sites[2] = {{.width_bytes = 4, .operation = 1, .space = 1},
                                              {.width_bytes = 4, .operation = 2, .space = 1}};
static const struct cts_loop_desc loop = {.parent = UINT32_MAX};
static const struct cts_file_desc desc = {
    .sites = sites, .loops = &loop, .site_count = 2, .loop_count = 1, .shared_bytes = 4096};
static struct cts_loaded_file file = {.desc = &desc};

/* Best time of a launch on one worker; *result is the last one's. */
static double run(void (*thread)(void **, struct cts_thread_context *), uint32_t cta_count,
                  uint32_t threads, bool record, struct cts_launch_result *result)
{
    const struct cts_kernel_desc kernel = {.name = "bench",
                                           .display_name = "bench",
                                           .thread = thread,
                                           .thread_rec = thread,
                                           .flags = CTS_KERNEL_FIBERS};
    const struct cts_launch_request request = {.kernel = &kernel,
                                               .file = &file,
                                               .grid = {cta_count, 1, 1},
                                               .block = {threads, 1, 1},
                                               .record = record,
                                               .cta_sample = 1,
                                               .collector = (struct cts_collector *)&counts};
    double best = 1e30;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        const double start = now_ns();
        cts_engine_run(&request, result);
        const double time = now_ns() - start;
        if (time < best) best = time;
        if (result->fault != CTS_FAULT_NONE) {
            fprintf(stderr, "%s\n", result->text);
            exit(1);
        }
    }
    return best;
}

/* ---- The merge alone: a log that is full, merged again and again ---- */

static void bench_merge(const char *name, bool diverged)
{
    enum { ROUNDS = 2000 };
    static uint64_t log[CTS_LOG_ROWS_ALL * CTS_WARP_LANES] __attribute__((aligned(64)));
    uint32_t full[CTS_WARP_LANES];
    struct cts_log_state state = {0};
    for (uint32_t lane = 0; lane < CTS_WARP_LANES; lane++) {
        uint32_t row = 0, random = lane * 2654435761u + 1;
        while (row + 1 < CTS_LOG_ROWS) {
            random = random * 1664525u + 1013904223u;
            if (!diverged || random >> 31)
                log[row++ * CTS_WARP_LANES + lane] = slot_base + lane * 4;
            log[row++ * CTS_WARP_LANES + lane] = slot_base + (1ull << 48) + lane * 4;
        }
        full[lane] = row;
    }
    double best = 1e30;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        counts = (struct cts_stream_counts){0};
        const double start = now_ns();
        for (int i = 0; i < ROUNDS; i++) {
            uint32_t rows[CTS_WARP_LANES];
            memcpy(rows, full, sizeof rows);
            struct cts_log_merge merge = {.log = log, .row_count = rows};
            cts_log_state_reset(&state);
            cts_log_merge(&merge, &state);
        }
        const double time = now_ns() - start;
        if (time < best) best = time;
    }
    printf("merge, %-24s          %6.2f ns   %.1f lanes a record, %.0f ns each\n", name,
           best / (double)counts.accesses, (double)counts.accesses / (double)counts.records,
           best / (double)counts.records);
}

int main(void)
{
    struct cts_error error;
    struct cts_launch_result result;
    bench_switch();
    if (cts_engine_start(&(struct cts_engine_options){.deterministic = true}, &error) != CTS_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    file.first_slot = cts_engine_add_sites(&desc, 0);
    slot_base = (uint64_t)file.first_slot << 48;
    static const uint32_t sizes[] = {32, 256, 1024};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const uint32_t threads = sizes[i], ctas = 16384 / threads;
        printf("thread that never waits, CTA of %4u     %6.1f ns\n", threads,
               run(empty_thread, ctas * 8, threads, false, &result) / (16384.0 * 8));
        printf("barrier, per thread, CTA of %4u         %6.1f ns\n", threads,
               run(barrier_thread, ctas, threads, false, &result) / (16384.0 * BARRIERS));
        printf("shuffle, per thread, CTA of %4u         %6.1f ns\n", threads,
               run(shuffle_thread, ctas, threads, false, &result) / (16384.0 * SHUFFLES));
    }
    double time = run(loop_thread, 16, 256, true, &result);
    printf("logged access, lanes in step             %6.2f ns   %.1f lanes a record\n",
           time / (double)result.accesses, (double)result.accesses / (double)result.records);
    time = run(diverged_thread, 16, 256, true, &result);
    printf(
        "logged access, lanes diverged            %6.2f ns   %.1f lanes a record, %.0f ns each\n",
        time / (double)result.accesses, (double)result.accesses / (double)result.records,
        time / (double)result.records);
    bench_merge("lanes in step", false);
    bench_merge("lanes diverged", true);
    cts_engine_stop();
    return 0;
}
