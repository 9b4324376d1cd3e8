/* The engine records: rows of straight kernels, logs of kernels with loops and barriers. */
#include "engine-fixture.h"

#include <stdatomic.h>

enum { FIRST_SITE = 100, LAUNCH = 7 };

static uint64_t slot_base;
static struct cts_collector *const collector = (struct cts_collector *)&slot_base; /* any */

static const struct cts_site_desc sites[] = {
    {.width_bytes = 4, .operation = CTS_LOAD, .space = CTS_SPACE_GLOBAL, .loop = UINT32_MAX},
    {.width_bytes = 4, .operation = CTS_LOAD, .space = CTS_SPACE_SHARED, .loop = 0},
    {.width_bytes = 4, .operation = CTS_STORE, .space = CTS_SPACE_GENERIC, .loop = 0},
    {.width_bytes = 16, .operation = CTS_STORE, .space = CTS_SPACE_GLOBAL, .loop = UINT32_MAX},
    {.width_bytes = 1, .operation = CTS_STORE, .space = CTS_SPACE_GLOBAL, .loop = UINT32_MAX},
    {.width_bytes = 4, .operation = CTS_STORE, .space = CTS_SPACE_LOCAL, .loop = UINT32_MAX},
};
static const struct cts_loop_desc loops[] = {{.parent = UINT32_MAX}};
static struct cts_file_desc desc = {
    .sites = sites, .loops = loops, .site_count = 6, .loop_count = 1, .shared_bytes = 8192};
static struct cts_loaded_file file = {.desc = &desc, .first_site = FIRST_SITE};

static void log_entry(struct cts_thread_context *c, uint64_t site, const void *address)
{
    *c->log = slot_base + (site << 48) + ((uint64_t)(uintptr_t)address & 0xFFFFFFFFFFFF);
    c->log += 32;
    if (c->log >= c->log_end) __cts_log_full(c);
}

/* ---- Looking at records ---- */

static void clear_records(void)
{
    for (struct cts_stream *stream = fake_streams; stream; stream = stream->next) {
        assert_int_equal(stream->flushed, stream->count);
        stream->count = stream->flushed = 0;
    }
}

static size_t count_records(void)
{
    size_t count = 0;
    for (struct cts_stream *stream = fake_streams; stream; stream = stream->next)
        count += stream->count;
    return count;
}

/* The accesses of one lane, in order. */
struct access {
    uint32_t site, space;
    uint64_t address;
};
static size_t lane_accesses(uint32_t cta, uint32_t thread, struct access *list, size_t capacity)
{
    size_t count = 0;
    for (struct cts_stream *stream = fake_streams; stream; stream = stream->next)
        for (size_t i = 0; i < stream->count; i++) {
            const struct fake_record *const record = &stream->records[i];
            if (record->cta != cta || record->warp != thread / 32) continue;
            if (!(record->mask >> thread % 32 & 1)) continue;
            assert_int_equal(record->launch, LAUNCH);
            assert_true(count < capacity);
            list[count++] = (struct access){.site = record->site - FIRST_SITE,
                                            .space = record->space,
                                            .address = record->addresses[thread % 32]};
        }
    return count;
}

/* Runs and records a launch of `file`, every CTA where the request names no sample; only this
 * launch's records are there then. */
static struct cts_launch_result run_recorded(struct cts_launch_request request)
{
    request.file = &file;
    request.record = true;
    request.launch = LAUNCH;
    request.collector = collector;
    if (!request.cta_sample) request.cta_sample = 1;
    clear_records();
    const struct cts_launch_result result = fixture_run(&request);
    ASSERT_RAN(result);
    return result;
}

/* ---- Rows ---- */

static uint32_t in[1 << 16], out[1 << 16];

static void copy_cta(void **args, struct cts_thread_context *c)
{
    (void)args;
    const uint32_t threads = c->ntid[0] * c->ntid[1] * c->ntid[2];
    for (uint32_t i = 0; i < threads; i++) {
        const uint32_t at = linear_cta(c) * threads + i;
        if (i % 7 != 3) out[at] = in[at] + 1;
    }
}

static void copy_rows(void **args, struct cts_thread_context *c, uint32_t x0, uint32_t y,
                      uint32_t z, uint32_t n, uint64_t *lanes)
{
    (void)args;
    const uint32_t threads = c->ntid[0] * c->ntid[1] * c->ntid[2];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t local[1] = {0};
        const uint32_t linear = x0 + i + c->ntid[0] * (y + c->ntid[1] * z);
        const uint32_t at = linear_cta(c) * threads + linear;
        if (linear % 7 == 3) continue;
        lanes[i] = (uint64_t)(uintptr_t)&in[at];
        lanes[32 + i] = (uint64_t)(uintptr_t)(c->shared + linear * 4);
        lanes[64 + i] = linear % 2 ? (uint64_t)(uintptr_t)&out[at] : (uint64_t)(uintptr_t)local;
        out[at] = in[at] + 1;
    }
}

static const uint32_t copy_row_sites[] = {0, 1, 2};
static const struct cts_kernel_desc copy = {.name = "copy",
                                            .cta = copy_cta,
                                            .row_rec = copy_rows,
                                            .row_sites = copy_row_sites,
                                            .row_site_count = 3};

static void check_copy(const uint32_t block[3], uint32_t cta_count, uint32_t sample)
{
    const uint32_t threads = block[0] * block[1] * block[2];
    memset(out, 0, sizeof out);
    const struct cts_launch_result result =
        run_recorded((struct cts_launch_request){.kernel = &copy,
                                                 .grid = {cta_count, 1, 1},
                                                 .block = {block[0], block[1], block[2]},
                                                 .cta_sample = sample});
    assert_int_equal(result.records, count_records());
    uint64_t accesses = 0;
    for (uint32_t cta = 0; cta < cta_count; cta++)
        for (uint32_t t = 0; t < threads; t++) {
            struct access list[4];
            const bool on = t % 7 != 3 && cta % sample == 0;
            const uint32_t at = cta * threads + t;
            assert_int_equal(out[at], t % 7 != 3 ? in[at] + 1 : 0);
            assert_int_equal(lane_accesses(cta, t, list, 4), on ? 3 : 0);
            if (!on) continue;
            accesses += 3;
            for (uint32_t i = 0; i < 3; i++) /* order may differ between the spaces of one row */
                for (uint32_t j = i + 1; j < 3; j++)
                    if (list[j].site < list[i].site) {
                        const struct access swap = list[i];
                        list[i] = list[j];
                        list[j] = swap;
                    }
            assert_int_equal(list[0].address, (uintptr_t)&in[at]);
            assert_int_equal(list[1].space, CTS_SPACE_SHARED);
            assert_int_equal(list[1].address, t * 4);
            assert_int_equal(list[2].space, t % 2 ? CTS_SPACE_GENERIC : CTS_SPACE_LOCAL);
            if (t % 2) assert_int_equal(list[2].address, (uintptr_t)&out[at]);
        }
    assert_int_equal(result.accesses, accesses);
}

static void rows_of_blocks_of_any_shape(void **state)
{
    (void)state;
    check_copy((const uint32_t[]){64, 1, 1}, 100, 1);
    check_copy((const uint32_t[]){16, 16, 1}, 20, 1);
    check_copy((const uint32_t[]){33, 3, 2}, 10, 1);
    check_copy((const uint32_t[]){5, 1, 1}, 30, 1);
    check_copy((const uint32_t[]){64, 1, 1}, 50, 7);
}

/* ---- Logs ---- */

/* load; for (...) { shared load; generic store if odd; [barrier] }  with trips by thread */
static uint32_t trips_of(uint32_t cta, uint32_t thread)
{
    return 40 + (cta * 31 + thread * 17) % 97;
}

static void loop_thread(void **args, struct cts_thread_context *c)
{
    const uint32_t barriers = ARGUMENT(uint32_t, 0);
    const uint32_t me = linear_tid(c), cta = linear_cta(c);
    log_entry(c, 0, &in[me]);
    for (uint32_t i = 0; i < trips_of(cta, me); i++) {
        log_entry(c, 1, c->shared + (me + i) % 512 * 4);
        if (i % 2) log_entry(c, 2, i % 4 == 1 ? (void *)&out[i] : (void *)(c->shared + i * 4));
        if (barriers && i % 8 == 0 && i < 40) __cts_nvvm_barrier0();
        if (barriers && i % 9 == 0 && i < 40) __cts_nvvm_bar_warp_sync(UINT32_MAX);
    }
}

static void loop_thread_plain(void **args, struct cts_thread_context *c)
{
    const uint32_t barriers = ARGUMENT(uint32_t, 0);
    for (uint32_t i = 0; i < trips_of(linear_cta(c), linear_tid(c)); i++) {
        if (barriers && i % 8 == 0 && i < 40) __cts_nvvm_barrier0();
        if (barriers && i % 9 == 0 && i < 40) __cts_nvvm_bar_warp_sync(UINT32_MAX);
    }
}

static const struct cts_kernel_desc loop_kernel = {.name = "loop",
                                                   .thread = loop_thread_plain,
                                                   .thread_rec = loop_thread,
                                                   .flags = CTS_KERNEL_FIBERS};

static void check_loop(uint32_t barriers, uint32_t threads, uint32_t cta_count, uint32_t sample)
{
    const struct cts_launch_result result =
        run_recorded((struct cts_launch_request){.kernel = &loop_kernel,
                                                 .grid = {cta_count, 1, 1},
                                                 .block = {threads, 1, 1},
                                                 .args = (void *[]){&barriers},
                                                 .cta_sample = sample});
    assert_int_equal(result.dropped_accesses, 0);
    uint64_t accesses = 0;
    for (uint32_t cta = 0; cta < cta_count; cta++)
        for (uint32_t t = 0; t < threads; t++) {
            struct access list[400];
            const size_t count = lane_accesses(cta, t, list, 400);
            accesses += count;
            if (cta % sample) {
                assert_int_equal(count, 0);
                continue;
            }
            size_t k = 0;
            assert_int_equal(list[k].site, 0);
            assert_int_equal(list[k++].address, (uintptr_t)&in[t]);
            for (uint32_t i = 0; i < trips_of(cta, t); i++) {
                assert_true(k < count);
                assert_int_equal(list[k].site, 1);
                assert_int_equal(list[k].space, CTS_SPACE_SHARED);
                assert_int_equal(list[k++].address, (t + i) % 512 * 4);
                if (i % 2 == 0) continue;
                assert_int_equal(list[k].site, 2);
                assert_int_equal(list[k].space, i % 4 == 1 ? CTS_SPACE_GLOBAL : CTS_SPACE_SHARED);
                assert_int_equal(list[k++].address, i % 4 == 1 ? (uintptr_t)&out[i] : i * 4);
            }
            assert_int_equal(k, count);
        }
    assert_int_equal(result.accesses, accesses);
}

static void logs_keep_every_access_in_order(void **state)
{
    (void)state;
    check_loop(0, 96, 12, 1);
    check_loop(0, 40, 9, 3);
}

static void logs_of_kernels_with_barriers(void **state)
{
    (void)state;
    check_loop(1, 96, 12, 1);
    check_loop(1, 256, 5, 2);
}

/* The first 32 records of a warp in which all lanes do the same are full. */
static void barrier_kernels_give_full_masks(void **state)
{
    (void)state;
    uint32_t barriers = 1;
    run_recorded((struct cts_launch_request){.kernel = &loop_kernel,
                                             .grid = {1, 1, 1},
                                             .block = {64, 1, 1},
                                             .args = (void *[]){&barriers}});
    size_t full = 0;
    for (struct cts_stream *stream = fake_streams; stream; stream = stream->next)
        for (size_t i = 0; i < stream->count; i++) full += stream->records[i].mask == UINT32_MAX;
    /* 1 + 40 trips of 1.5 accesses that every thread makes, two warps, at least */
    assert_true(full >= 2 * 61);
}

/* ---- Ranges and spinning lanes ---- */

static char bytes[2][64 * 64] __attribute__((aligned(16)));

static void range_thread(void **args, struct cts_thread_context *c)
{
    (void)args;
    __cts_log_range(c, &slot_base, 3, bytes[0] + c->tid[0] * 64 + 5, 59);
    volatile uint32_t local[4];
    local[2] = c->tid[0];
    log_entry(c, 5, (const void *)&local[2]);
}

static const struct cts_kernel_desc range_kernel = {.name = "range",
                                                    .thread = range_thread,
                                                    .thread_rec = range_thread,
                                                    .flags = CTS_KERNEL_FIBERS};

static void ranges_are_logged_as_wide_and_single_accesses(void **state)
{
    (void)state;
    run_recorded((struct cts_launch_request){
        .kernel = &range_kernel, .grid = {1, 1, 1}, .block = {64, 1, 1}});
    uint64_t local_offset = 0;
    for (uint32_t t = 0; t < 64; t++) {
        struct access list[100];
        const size_t count = lane_accesses(0, t, list, 100);
        assert_int_equal(count, 11 + 3 + 1); /* 5..15, 3 times 16, the local store */
        for (uint32_t i = 0; i < 11; i++) {
            assert_int_equal(list[i].site, 4);
            assert_int_equal(list[i].address, (uintptr_t)(bytes[0] + t * 64 + 5 + i));
        }
        for (uint32_t i = 0; i < 3; i++) {
            assert_int_equal(list[11 + i].site, 3);
            assert_int_equal(list[11 + i].address, (uintptr_t)(bytes[0] + t * 64 + 16 + 16 * i));
        }
        assert_int_equal(list[14].space, CTS_SPACE_LOCAL);
        if (t == 0) local_offset = list[14].address;
        assert_int_equal(list[14].address, local_offset); /* every thread's frame is alike */
    }
}

/* A lock that lane 0 holds while its log fills up; the others spin, and log as they do. */
static void lock_thread(void **args, struct cts_thread_context *c)
{
    _Atomic uint32_t *const lock = ARGUMENT(_Atomic uint32_t *, 0);
    uint32_t *const sum = ARGUMENT(uint32_t *, 1);
    for (;;) {
        uint32_t expected = 0;
        __cts_yield(c);
        log_entry(c, 1, c->shared);
        if (atomic_compare_exchange_strong(lock, &expected, 1)) break;
    }
    for (uint32_t i = 0; i < 200; i++) log_entry(c, 2, &out[i]);
    ++*sum;
    atomic_store(lock, 0);
    log_entry(c, 0, in);
}

static const struct cts_kernel_desc lock_kernel = {
    .name = "lock", .thread = lock_thread, .thread_rec = lock_thread, .flags = CTS_KERNEL_FIBERS};

static void a_lock_holder_with_a_full_log_goes_on(void **state)
{
    (void)state;
    static _Atomic uint32_t lock;
    uint32_t sum = 0;
    _Atomic uint32_t *lock_pointer = &lock;
    uint32_t *sum_pointer = &sum;
    run_recorded((struct cts_launch_request){
        .kernel = &lock_kernel,
        .grid = {6, 1, 1},
        .block = {70, 1, 1},
        .args = (void *[]){(void *)&lock_pointer, (void *)&sum_pointer}});
    assert_int_equal(sum, 6 * 70);
    uint64_t stores = 0, ends = 0;
    for (struct cts_stream *stream = fake_streams; stream; stream = stream->next)
        for (size_t i = 0; i < stream->count; i++) {
            const uint32_t site = stream->records[i].site - FIRST_SITE;
            const uint32_t lanes = (uint32_t)__builtin_popcount(stream->records[i].mask);
            stores += site == 2 ? lanes : 0;
            ends += site == 0 ? lanes : 0;
        }
    assert_int_equal(stores, 6 * 70 * 200);
    assert_int_equal(ends, 6 * 70);
}

/* ---- A grid barrier: the records of several CTAs alternate in one stream ---- */

static void grid_thread(void **args, struct cts_thread_context *c)
{
    (void)args;
    for (uint32_t i = 0; i < 5; i++) {
        log_entry(c, 0, &in[linear_cta(c) * 64 + i]);
        __cts_grid_sync();
    }
}

static const struct cts_kernel_desc grid_kernel = {.name = "grid",
                                                   .thread = grid_thread,
                                                   .thread_rec = grid_thread,
                                                   .flags =
                                                       CTS_KERNEL_FIBERS | CTS_KERNEL_GRID_SYNC};

static void cooperative_launches_are_recorded(void **state)
{
    (void)state;
    const struct cts_launch_result result = run_recorded((struct cts_launch_request){
        .kernel = &grid_kernel, .grid = {30, 1, 1}, .block = {40, 1, 1}, .cooperative = true});
    assert_int_equal(result.records, 30 * 2 * 5);
    for (uint32_t cta = 0; cta < 30; cta++) {
        struct access list[8];
        assert_int_equal(lane_accesses(cta, 33, list, 8), 5);
        for (uint32_t i = 0; i < 5; i++)
            assert_int_equal(list[i].address, (uintptr_t)&in[cta * 64 + i]);
    }
}

static int start(void **state)
{
    (void)state;
    fixture_start(&(struct cts_engine_options){.worker_count = 4});
    file.first_slot = cts_engine_add_sites(&desc, FIRST_SITE);
    slot_base = (uint64_t)file.first_slot << 48;
    for (uint32_t i = 0; i < sizeof in / sizeof in[0]; i++) in[i] = i * 3;
    return 0;
}

static int stop(void **state)
{
    (void)state;
    cts_engine_forget_collector(collector);
    cts_engine_stop();
    while (fake_streams) {
        struct cts_stream *const stream = fake_streams;
        fake_streams = stream->next;
        free(stream->records);
        free(stream);
    }
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_blocks_of_any_shape),
        cmocka_unit_test(logs_keep_every_access_in_order),
        cmocka_unit_test(logs_of_kernels_with_barriers),
        cmocka_unit_test(barrier_kernels_give_full_masks),
        cmocka_unit_test(ranges_are_logged_as_wide_and_single_accesses),
        cmocka_unit_test(a_lock_holder_with_a_full_log_goes_on),
        cmocka_unit_test(cooperative_launches_are_recorded),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
