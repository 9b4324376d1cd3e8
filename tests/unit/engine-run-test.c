/* The engine runs CTAs: straight ones on a pool, and threads that wait for each other as fibers. */
#include "engine-fixture.h"

#include <stdatomic.h>
#include <unistd.h>

static const struct cts_file_desc fixture_desc = {.shared_bytes = 16384};
static const struct cts_loaded_file fixture_file = {.desc = &fixture_desc, .first_site = 100};

/* ---- Straight kernels ---- */

static void iota_cta(void **args, struct cts_thread_context *c)
{
    uint32_t *const out = ARGUMENT(uint32_t *, 0);
    const uint32_t threads = c->ntid[0] * c->ntid[1] * c->ntid[2];
    for (uint32_t i = 0; i < threads; i++)
        out[linear_cta(c) * threads + i] += linear_cta(c) * threads + i;
}

static void iota_thread(void **args, struct cts_thread_context *c)
{
    uint32_t *const out = ARGUMENT(uint32_t *, 0);
    const uint32_t at = linear_cta(c) * c->ntid[0] * c->ntid[1] * c->ntid[2] + linear_tid(c);
    out[at] += at;
}

static const struct cts_kernel_desc iota = {
    .name = "iota", .display_name = "iota(unsigned *)", .cta = iota_cta, .thread = iota_thread};
static const struct cts_kernel_desc iota_fibers = {.name = "iota",
                                                   .display_name = "iota(unsigned *)",
                                                   .thread = iota_thread,
                                                   .flags = CTS_KERNEL_FIBERS};

static void run_iota(const struct cts_kernel_desc *kernel, const uint32_t grid[3],
                     const uint32_t block[3])
{
    const uint32_t n = grid[0] * grid[1] * grid[2] * block[0] * block[1] * block[2];
    uint32_t *const out = calloc(n, sizeof *out);
    struct cts_launch_request request = {
        .kernel = kernel, .file = &fixture_file, .args = (void *[]){(void *)&out}};
    memcpy(request.grid, grid, sizeof request.grid);
    memcpy(request.block, block, sizeof request.block);
    const struct cts_launch_result result = fixture_run(&request);
    ASSERT_RAN(result);
    for (uint32_t i = 0; i < n; i++) assert_int_equal(out[i], i);
    free(out);
}

static void every_thread_runs_once(void **state)
{
    (void)state;
    static const uint32_t shapes[][6] = {
        {1, 1, 1, 1, 1, 1},     {1000, 1, 1, 32, 1, 1}, {7, 5, 3, 16, 16, 1},
        {100, 2, 1, 33, 3, 2},  {3, 1, 1, 1024, 1, 1},  {2, 2, 2, 4, 4, 64},
        {20000, 1, 1, 1, 1, 1},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        run_iota(&iota, shapes[i], shapes[i] + 3);
        run_iota(&iota_fibers, shapes[i], shapes[i] + 3);
    }
}

static void empty_grid_does_nothing(void **state)
{
    (void)state;
    run_iota(&iota, (const uint32_t[]){0, 1, 1}, (const uint32_t[]){32, 1, 1});
}

static void *launch_many(void *unused)
{
    (void)unused;
    for (int i = 0; i < 20; i++) {
        run_iota(&iota, (const uint32_t[]){300, 1, 1}, (const uint32_t[]){64, 1, 1});
        run_iota(&iota_fibers, (const uint32_t[]){50, 1, 1}, (const uint32_t[]){64, 1, 1});
    }
    return NULL;
}

static void several_threads_launch_at_once(void **state)
{
    (void)state;
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, launch_many, NULL), 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
}

/* ---- Barriers ---- */

static void rotate_thread(void **args, struct cts_thread_context *c)
{
    uint32_t *const out = ARGUMENT(uint32_t *, 0);
    const uint32_t rounds = ARGUMENT(uint32_t, 1);
    uint32_t *const cells = (uint32_t *)c->shared;
    const uint32_t me = linear_tid(c), n = c->ntid[0] * c->ntid[1] * c->ntid[2];
    uint32_t value = me;
    for (uint32_t i = 0; i < rounds; i++) {
        cells[me] = value;
        __cts_nvvm_barrier0();
        value = cells[(me + 1) % n] + 1;
        __cts_nvvm_barrier0();
    }
    if (linear_tid(__cts_current) != me) abort();
    out[linear_cta(c) * n + me] = value;
}

static const struct cts_kernel_desc rotate = {.name = "rotate",
                                              .display_name = "rotate(unsigned *, unsigned)",
                                              .thread = rotate_thread,
                                              .flags = CTS_KERNEL_FIBERS};

static void barriers_order_shared_memory(void **state)
{
    (void)state;
    static uint32_t values[40 * 1024];
    static const uint32_t blocks[][3] = {
        {1024, 1, 1}, {33, 1, 1}, {16, 16, 2}, {1, 1, 1}, {5, 7, 3}};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        uint32_t *out = values;
        uint32_t rounds = 9;
        const struct cts_launch_request request = {
            .kernel = &rotate,
            .file = &fixture_file,
            .grid = {40, 1, 1},
            .block = {blocks[i][0], blocks[i][1], blocks[i][2]},
            .args = (void *[]){(void *)&out, &rounds}};
        const struct cts_launch_result result = fixture_run(&request);
        ASSERT_RAN(result);
        const uint32_t n = blocks[i][0] * blocks[i][1] * blocks[i][2];
        for (uint32_t t = 0; t < 40 * n; t++)
            assert_int_equal(values[t], (t % n + rounds) % n + rounds);
    }
}

static void early_exit_thread(void **args, struct cts_thread_context *c)
{
    uint32_t *const out = ARGUMENT(uint32_t *, 0);
    const uint32_t me = c->tid[0];
    if (me % 3 == 0) return;
    if (me % 3 == 1 && me > 64) __cts_dev_exit();
    out[me] = __cts_nvvm_barrier0_popc(me % 2);
    if (me % 5 == 0) return;
    out[1024 + me] = __cts_nvvm_barrier0_and(me % 5 != 0);
    out[2048 + me] = __cts_nvvm_barrier0_or(me == 2);
    out[3072 + me] = __cts_nvvm_barrier0_or(0);
}

static const struct cts_kernel_desc early_exit = {
    .name = "early_exit", .thread = early_exit_thread, .flags = CTS_KERNEL_FIBERS};

static void threads_that_ended_are_not_waited_for(void **state)
{
    (void)state;
    static uint32_t values[4096];
    uint32_t *out = values;
    const struct cts_launch_request request = {.kernel = &early_exit,
                                               .file = &fixture_file,
                                               .grid = {1, 1, 1},
                                               .block = {200, 1, 1},
                                               .args = (void *[]){(void *)&out}};
    const struct cts_launch_result result = fixture_run(&request);
    ASSERT_RAN(result);
    uint32_t odd = 0;
    for (uint32_t i = 0; i < 200; i++)
        if (i % 3 == 2 || (i % 3 == 1 && i <= 64)) odd += i % 2;
    for (uint32_t i = 0; i < 200; i++) {
        const bool first = i % 3 == 2 || (i % 3 == 1 && i <= 64);
        assert_int_equal(values[i], first ? odd : 0);
        assert_int_equal(values[1024 + i], first && i % 5 != 0);
        assert_int_equal(values[2048 + i], first && i % 5 != 0);
        assert_int_equal(values[3072 + i], 0);
    }
}

/* Warp 0 produces, warps 1 and 2 consume, by named barriers of 96 threads; warp 3 does not care. */
static void producer_thread(void **args, struct cts_thread_context *c)
{
    uint32_t *const out = ARGUMENT(uint32_t *, 0);
    uint32_t *const buffer = (uint32_t *)c->shared;
    const uint32_t warp = c->tid[0] / 32;
    if (warp == 3) return;
    for (uint32_t i = 0; i < 10; i++) {
        if (warp == 0) {
            __cts_nvvm_barrier_sync_cnt(2, 96); /* empty */
            buffer[c->tid[0]] = i * 100 + c->tid[0];
            __cts_nvvm_barrier_arrive_cnt(1, 96); /* full */
        } else {
            __cts_nvvm_barrier_arrive_cnt(2, 96);
            __cts_nvvm_barrier(1, 96);
            out[c->tid[0]] += buffer[c->tid[0] % 32];
        }
    }
}

static const struct cts_kernel_desc producer = {
    .name = "producer", .thread = producer_thread, .flags = CTS_KERNEL_FIBERS};

static void named_barriers_join_some_warps(void **state)
{
    (void)state;
    static uint32_t values[128];
    uint32_t *out = values;
    const struct cts_launch_request request = {.kernel = &producer,
                                               .file = &fixture_file,
                                               .grid = {1, 1, 1},
                                               .block = {128, 1, 1},
                                               .args = (void *[]){(void *)&out}};
    const struct cts_launch_result result = fixture_run(&request);
    ASSERT_RAN(result);
    for (uint32_t i = 32; i < 96; i++) assert_int_equal(values[i], 4500 + 10 * (i % 32));
}

/* ---- Collectives ---- */

static void collectives_thread(void **args, struct cts_thread_context *c)
{
    uint32_t *const out = ARGUMENT(uint32_t *, 0) + linear_tid(c) * 40;
    const uint32_t full = UINT32_MAX, lane = linear_tid(c) % 32;
    const uint32_t upper = lane >= 16 ? 0xFFFF0000 : 0xFFFF;
    uint32_t predicate, k = 0;
    out[k++] = __cts_nvvm_shfl_sync_idx_i32(full, lane * 10, 5, 0x1F);
    out[k++] = __cts_nvvm_shfl_sync_idx_i32(full, lane * 10, 1, 0x181F);        /* width 8 */
    out[k++] = __cts_nvvm_shfl_sync_up_i32p(full, lane, 3, 0x1000, &predicate); /* width 16 */
    out[k++] = predicate;
    out[k++] = __cts_nvvm_shfl_sync_down_i32p(full, lane, 5, 0x1F, &predicate);
    out[k++] = predicate;
    out[k++] = __cts_nvvm_shfl_sync_bfly_i32(full, lane, 1, 0x1F);
    out[k++] = (uint32_t)(2 * __cts_nvvm_shfl_sync_down_f32(full, (float)lane + 0.5f, 1, 0x1F));
    out[k++] = __cts_nvvm_vote_ballot_sync(full, lane % 3 == 0);
    out[k++] = __cts_nvvm_vote_all_sync(upper, lane < 16);
    out[k++] = __cts_nvvm_vote_any_sync(upper, lane == 31);
    out[k++] = __cts_nvvm_vote_uni_sync(upper, lane >= 16 || lane == 3);
    out[k++] = __cts_nvvm_match_any_sync_i32(full, lane / 4);
    out[k++] = __cts_nvvm_match_any_sync_i64(full, (uint64_t)(lane % 2) << 40);
    out[k++] = __cts_nvvm_match_all_sync_i32p(upper, lane / 16, &predicate);
    out[k++] = predicate;
    out[k++] = __cts_nvvm_match_all_sync_i64p(full, (uint64_t)(lane / 16) << 33, &predicate);
    out[k++] = predicate;
    out[k++] = __cts_nvvm_redux_sync_add(lane, full);
    out[k++] = __cts_nvvm_redux_sync_umin(lane - 7, full);
    out[k++] = __cts_nvvm_redux_sync_min(lane - 7, full);
    out[k++] = __cts_nvvm_redux_sync_umax(lane - 7, full);
    out[k++] = __cts_nvvm_redux_sync_max(lane - 7, full);
    out[k++] = __cts_nvvm_redux_sync_and(lane | 64, full);
    out[k++] = __cts_nvvm_redux_sync_or(1u << lane, upper);
    out[k++] = __cts_nvvm_redux_sync_xor(lane == 9 ? 77 : 0, full);
    out[k++] = __cts_nvvm_shfl_up_i32(lane, 1, 0);
    out[k++] = __cts_nvvm_vote_ballot(lane > 20);
    if (lane % 4 == 1) {
        __asm__ volatile("# the two calls are not to become one" ::: "memory");
        out[k++] = __cts_nvvm_activemask();
        out[k++] = __cts_nvvm_redux_sync_add(lane, 0x22222222);
    } else {
        out[k++] = __cts_nvvm_activemask();
        out[k++] = 0;
    }
    __cts_nvvm_bar_warp_sync(full);
}

static const struct cts_kernel_desc collectives = {
    .name = "collectives", .thread = collectives_thread, .flags = CTS_KERNEL_FIBERS};

static void collectives_of_a_warp(void **state)
{
    (void)state;
    static uint32_t values[128 * 40];
    uint32_t *out = values;
    const struct cts_launch_request request = {.kernel = &collectives,
                                               .file = &fixture_file,
                                               .grid = {1, 1, 1},
                                               .block = {64, 2, 1},
                                               .args = (void *[]){(void *)&out}};
    const struct cts_launch_result result = fixture_run(&request);
    ASSERT_RAN(result);
    for (uint32_t t = 0; t < 128; t++) {
        const uint32_t lane = t % 32, *v = values + (size_t)t * 40, high = lane >= 16;
        const uint32_t expected[] = {
            50,
            (lane / 8 * 8 + 1) * 10,
            lane % 16 >= 3 ? lane - 3 : lane,
            lane % 16 >= 3,
            lane + 5 < 32 ? lane + 5 : lane,
            lane + 5 < 32,
            lane ^ 1,
            lane < 31 ? 2 * lane + 3 : 63,
            0x49249249,
            !high,
            high,
            high,
            0xFu << lane / 4 * 4,
            lane % 2 ? 0xAAAAAAAA : 0x55555555,
            high ? 0xFFFF0000 : 0xFFFF,
            1,
            0,
            0,
            496,
            0,
            (uint32_t)-7,
            UINT32_MAX,
            24,
            64,
            high ? 0xFFFF0000 : 0xFFFF,
            77,
            lane ? lane - 1 : 0,
            0xFFE00000,
            lane % 4 == 1 ? 0x22222222 : 0xDDDDDDDD,
            lane % 4 == 1 ? 120 : 0,
        };
        for (size_t k = 0; k < sizeof expected / sizeof expected[0]; k++)
            if (v[k] != expected[k])
                fail_msg("thread %u, value %zu: 0x%x instead of 0x%x", t, k, v[k], expected[k]);
    }
}

/* A partial last warp, and lanes that end: masks with lanes that are not there. */
static void partial_thread(void **args, struct cts_thread_context *c)
{
    uint32_t *const out = ARGUMENT(uint32_t *, 0);
    const uint32_t me = c->tid[0];
    if (me == 35) return;
    out[me] = __cts_nvvm_redux_sync_add(1, UINT32_MAX);
}

static const struct cts_kernel_desc partial = {
    .name = "partial", .thread = partial_thread, .flags = CTS_KERNEL_FIBERS};

static void absent_lanes_are_not_waited_for(void **state)
{
    (void)state;
    static uint32_t values[40];
    uint32_t *out = values;
    const struct cts_launch_request request = {.kernel = &partial,
                                               .file = &fixture_file,
                                               .grid = {1, 1, 1},
                                               .block = {40, 1, 1},
                                               .args = (void *[]){(void *)&out}};
    const struct cts_launch_result result = fixture_run(&request);
    ASSERT_RAN(result);
    for (uint32_t i = 0; i < 40; i++) assert_int_equal(values[i], i < 32 ? 32 : i == 35 ? 0 : 7);
}

/* ---- Spinning ---- */

/* The reduction of before Volta: every step relies on lock-step, which __cts_yield() gives. */
static void volatile_thread(void **args, struct cts_thread_context *c)
{
    uint32_t *const out = ARGUMENT(uint32_t *, 0);
    volatile uint32_t *const cells = (volatile uint32_t *)c->shared;
    const uint32_t me = c->tid[0];
    cells[me] = me;
    cells[me + 32] = 0;
    __cts_nvvm_barrier0();
    for (uint32_t step = 16; step > 0; step /= 2) {
        __cts_yield(c);
        const uint32_t mine = cells[me];
        __cts_yield(c);
        const uint32_t other = cells[me + step];
        __cts_yield(c);
        cells[me] = mine + other;
    }
    __cts_yield(c);
    if (me == 0) out[c->ctaid[0]] = cells[0];
}

static const struct cts_kernel_desc volatile_sum = {
    .name = "volatile_sum", .thread = volatile_thread, .flags = CTS_KERNEL_FIBERS};

static void yields_keep_lanes_in_step(void **state)
{
    (void)state;
    static uint32_t values[8];
    uint32_t *out = values;
    const struct cts_launch_request request = {.kernel = &volatile_sum,
                                               .file = &fixture_file,
                                               .grid = {8, 1, 1},
                                               .block = {32, 1, 1},
                                               .args = (void *[]){(void *)&out}};
    const struct cts_launch_result result = fixture_run(&request);
    ASSERT_RAN(result);
    for (int i = 0; i < 8; i++) assert_int_equal(values[i], 496);
}

/* CTA i waits for CTA i+1: the last one must get to run while all others spin. */
static void chain_thread(void **args, struct cts_thread_context *c)
{
    _Atomic uint32_t *const flags = ARGUMENT(_Atomic uint32_t *, 0);
    const uint32_t cta = c->ctaid[0];
    if (c->tid[0] == 0) {
        while (cta + 1 < c->nctaid[0] && atomic_load(&flags[cta + 1]) == 0) __cts_yield(c);
        atomic_store(&flags[cta], 1);
    }
    __cts_nvvm_barrier0();
}

static const struct cts_kernel_desc chain = {
    .name = "chain", .thread = chain_thread, .flags = CTS_KERNEL_FIBERS};

static void ctas_that_are_waited_for_get_to_run(void **state)
{
    (void)state;
    static _Atomic uint32_t flags[60];
    memset((void *)flags, 0, sizeof flags);
    _Atomic uint32_t *pointer = flags;
    const struct cts_launch_request request = {.kernel = &chain,
                                               .file = &fixture_file,
                                               .grid = {60, 1, 1},
                                               .block = {32, 1, 1},
                                               .args = (void *[]){(void *)&pointer}};
    const struct cts_launch_result result = fixture_run(&request);
    ASSERT_RAN(result);
    for (int i = 0; i < 60; i++) assert_int_equal(flags[i], 1);
}

static void forever_thread(void **args, struct cts_thread_context *c)
{
    (void)args;
    for (;;) __cts_yield(c);
}

static const struct cts_kernel_desc forever = {.name = "forever",
                                               .display_name = "forever()",
                                               .thread = forever_thread,
                                               .flags = CTS_KERNEL_FIBERS};

static void endless_spinning_is_a_deadlock(void **state)
{
    (void)state;
    const struct cts_launch_request request = {
        .kernel = &forever, .file = &fixture_file, .grid = {3, 1, 1}, .block = {2, 1, 1}};
    const struct cts_launch_result result = fixture_run(&request);
    assert_int_equal(result.fault, CTS_FAULT_DEADLOCK);
    assert_non_null(strstr(result.text, "kernel 'forever()': CTA ("));
}

/* ---- Grids ---- */

static void grid_thread(void **args, struct cts_thread_context *c)
{
    uint32_t *const cells = ARGUMENT(uint32_t *, 0);
    const uint32_t n = c->nctaid[0] * c->ntid[0], me = c->ctaid[0] * c->ntid[0] + c->tid[0];
    uint32_t value = me;
    if (c->ctaid[0] == 1 && c->tid[0] > 0) return; /* these do not take part */
    for (int i = 0; i < 6; i++) {
        cells[me] = value;
        __cts_grid_sync();
        value = cells[(me + c->ntid[0]) % n / c->ntid[0] * c->ntid[0]] + 1;
        __cts_grid_sync();
    }
    cells[me] = value;
}

static const struct cts_kernel_desc grid_sum = {.name = "grid_sum",
                                                .display_name = "grid_sum(unsigned *)",
                                                .thread = grid_thread,
                                                .flags = CTS_KERNEL_FIBERS | CTS_KERNEL_GRID_SYNC};

static void grid_barriers_join_all_ctas(void **state)
{
    (void)state;
    static uint32_t values[70 * 48];
    uint32_t *cells = values;
    struct cts_launch_request request = {.kernel = &grid_sum,
                                         .file = &fixture_file,
                                         .grid = {70, 1, 1},
                                         .block = {48, 1, 1},
                                         .cooperative = true,
                                         .args = (void *[]){(void *)&cells}};
    for (int repeat = 0; repeat < 10; repeat++) {
        const struct cts_launch_result result = fixture_run(&request);
        ASSERT_RAN(result);
        for (uint32_t cta = 0; cta < 70; cta++)
            assert_int_equal(values[cta * 48], (cta + 6) % 70 * 48 + 6);
    }
    request.cooperative = false;
    const struct cts_launch_result result = fixture_run(&request);
    assert_int_equal(result.fault, CTS_FAULT_BARRIER);
    assert_non_null(strstr(result.text, "not cooperative"));
}

/* ---- printf and the heap ---- */

static void print_thread(void **args, struct cts_thread_context *c)
{
    (void)args;
    struct {
        int32_t width, number;
        int64_t wide;
        double real;
        const char *text;
        uint32_t letter, hex;
        void *pointer;
        uint64_t size;
    } buffer = {6, -42, 1ll << 40, 3.14159, "text", 'x', 0xBEEF, (void *)0x1234, 99};
    if (c->tid[0] != 3) return;
    const int count =
        __cts_dev_vprintf("[%*d|%lld|%8.3f|%-6s|%c|%#x|%p|%zu] 100%% \n", (const char *)&buffer);
    if (count != 9) abort();
}

static const struct cts_kernel_desc print = {
    .name = "print", .thread = print_thread, .flags = CTS_KERNEL_FIBERS};

static void printf_formats_as_in_c(void **state)
{
    (void)state;
    int ends[2];
    char text[256] = "";
    fflush(stdout);
    assert_int_equal(pipe(ends), 0);
    const int kept = dup(1);
    dup2(ends[1], 1);
    const struct cts_launch_request request = {
        .kernel = &print, .file = &fixture_file, .grid = {1, 1, 1}, .block = {32, 1, 1}};
    const struct cts_launch_result result = fixture_run(&request);
    fflush(stdout);
    dup2(kept, 1);
    close(kept);
    close(ends[1]);
    const ssize_t length = read(ends[0], text, sizeof text - 1);
    close(ends[0]);
    ASSERT_RAN(result);
    assert_true(length > 0);
    assert_string_equal(text, "[   -42|1099511627776|   3.142|text  |x|0xbeef|0x1234|99] 100% \n");
}

static void heap_thread(void **args, struct cts_thread_context *c)
{
    uint32_t *const out = ARGUMENT(uint32_t *, 0);
    if (c->ntid[0] > 32) {
        if (c->tid[0] == 40) __cts_dev_free(out + 8);
        return;
    }
    uint32_t *const mine = __cts_dev_malloc(64);
    char *const too_large = __cts_dev_malloc((size_t)1 << 40);
    if (!mine || too_large) return;
    mine[3] = c->tid[0];
    __cts_nvvm_barrier0();
    out[c->tid[0]] = mine[3] + 1;
    __cts_dev_free(mine);
}

static const struct cts_kernel_desc heap = {
    .name = "heap", .thread = heap_thread, .flags = CTS_KERNEL_FIBERS};

static void device_heap_has_a_limit(void **state)
{
    (void)state;
    static uint32_t values[64];
    uint32_t *out = values;
    struct cts_launch_request request = {.kernel = &heap,
                                         .file = &fixture_file,
                                         .grid = {1, 1, 1},
                                         .block = {32, 1, 1},
                                         .args = (void *[]){(void *)&out}};
    struct cts_launch_result result = fixture_run(&request);
    ASSERT_RAN(result);
    for (uint32_t i = 0; i < 32; i++) assert_int_equal(values[i], i + 1);
    request.block[0] = 64;
    result = fixture_run(&request);
    assert_int_equal(result.fault, CTS_FAULT_ADDRESS);
    assert_non_null(strstr(result.text, "thread (40,0,0): free of"));
}

/* ---- Spaces ---- */

static int constant_cell, global_cell;

static void spaces_thread(void **args, struct cts_thread_context *c)
{
    uint32_t *const out = ARGUMENT(uint32_t *, 0) + c->tid[0] * 4;
    volatile int local = 1;
    const void *const at[] = {c->shared_dynamic + 8, (const void *)&local, &constant_cell,
                              &global_cell};
    for (int i = 0; i < 4; i++)
        out[i] = __cts_nvvm_isspacep_shared(at[i]) | __cts_nvvm_isspacep_local(at[i]) << 1 |
                 __cts_nvvm_isspacep_const(at[i]) << 2 | __cts_nvvm_isspacep_global(at[i]) << 3;
    if (c->shared_dynamic != c->shared + 16384 || (uintptr_t)c->shared % 1024) abort();
    memset(c->shared_dynamic, 1, c->dynamic_shared_bytes);
}

static void spaces_cta(void **args, struct cts_thread_context *c)
{
    for (c->tid[0] = 0; c->tid[0] < c->ntid[0]; c->tid[0]++) spaces_thread(args, c);
}

static void address_spaces_are_told_apart(void **state)
{
    (void)state;
    static uint32_t values[4 * 40];
    const struct cts_variable_desc variable = {.address = &constant_cell,
                                               .size_bytes = sizeof constant_cell,
                                               .kind = CTS_VARIABLE_CONSTANT};
    const struct cts_file_desc file = {.variables = &variable, .variable_count = 1};
    cts_engine_add_sites(&file, 0);
    const struct cts_kernel_desc kernels[] = {
        {.name = "spaces", .thread = spaces_thread, .cta = spaces_cta},
        {.name = "spaces", .thread = spaces_thread, .flags = CTS_KERNEL_FIBERS}};
    for (int k = 0; k < 2; k++) {
        uint32_t *out = values;
        const struct cts_launch_request request = {.kernel = &kernels[k],
                                                   .file = &fixture_file,
                                                   .grid = {1, 1, 1},
                                                   .block = {40, 1, 1},
                                                   .dynamic_shared_bytes = 200000,
                                                   .args = (void *[]){(void *)&out}};
        memset(values, 0, sizeof values);
        const struct cts_launch_result result = fixture_run(&request);
        ASSERT_RAN(result);
        for (int i = 0; i < 160; i++) assert_int_equal(values[i], 1 << i % 4);
    }
}

/* ---- Order ---- */

static uint32_t order[400];
static _Atomic uint32_t order_count;

static void order_cta(void **args, struct cts_thread_context *c)
{
    (void)args;
    order[atomic_fetch_add(&order_count, 1)] = linear_cta(c);
}

static const struct cts_kernel_desc order_kernel = {.name = "order", .cta = order_cta};

static void deterministic_is_in_order(void **state)
{
    (void)state;
    const struct cts_launch_request request = {
        .kernel = &order_kernel, .file = &fixture_file, .grid = {10, 20, 2}, .block = {32, 1, 1}};
    order_count = 0;
    const struct cts_launch_result result = fixture_run(&request);
    ASSERT_RAN(result);
    assert_int_equal(cts_engine_worker_count(), 1);
    for (uint32_t i = 0; i < 400; i++) assert_int_equal(order[i], i);
}

static int start_many(void **state)
{
    (void)state;
    fixture_start(&(struct cts_engine_options){.worker_count = 5});
    return 0;
}

/* For what never goes on: beside load, what does may pause for longer. */
static int start_impatient(void **state)
{
    (void)state;
    fixture_start(&(struct cts_engine_options){.worker_count = 5, .spin_limit_ns = 200000000});
    return 0;
}

static int start_deterministic(void **state)
{
    (void)state;
    fixture_start(&(struct cts_engine_options){.deterministic = true});
    return 0;
}

static int stop(void **state)
{
    (void)state;
    cts_engine_stop();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_thread_runs_once),
        cmocka_unit_test(empty_grid_does_nothing),
        cmocka_unit_test(several_threads_launch_at_once),
        cmocka_unit_test(barriers_order_shared_memory),
        cmocka_unit_test(threads_that_ended_are_not_waited_for),
        cmocka_unit_test(named_barriers_join_some_warps),
        cmocka_unit_test(collectives_of_a_warp),
        cmocka_unit_test(absent_lanes_are_not_waited_for),
        cmocka_unit_test(yields_keep_lanes_in_step),
        cmocka_unit_test(ctas_that_are_waited_for_get_to_run),
        cmocka_unit_test(grid_barriers_join_all_ctas),
        cmocka_unit_test(printf_formats_as_in_c),
        cmocka_unit_test(device_heap_has_a_limit),
        cmocka_unit_test(address_spaces_are_told_apart),
    };
    const struct CMUnitTest endless_tests[] = {
        cmocka_unit_test(endless_spinning_is_a_deadlock),
    };
    const struct CMUnitTest deterministic_tests[] = {
        cmocka_unit_test(deterministic_is_in_order),
        cmocka_unit_test(barriers_order_shared_memory),
        cmocka_unit_test(ctas_that_are_waited_for_get_to_run),
        cmocka_unit_test(grid_barriers_join_all_ctas),
        cmocka_unit_test(several_threads_launch_at_once),
    };
    return cmocka_run_group_tests_name("workers", tests, start_many, stop) +
           cmocka_run_group_tests_name("endless", endless_tests, start_impatient, stop) +
           cmocka_run_group_tests_name("deterministic", deterministic_tests, start_deterministic,
                                       stop);
}
