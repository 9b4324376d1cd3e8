/* Device code that goes wrong stops its launch and is named; the next launch runs as if nothing had
 * been. */
#include "engine-fixture.h"
#include "record/cpu/engine/fiber.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* cmocka sets handlers of its own before each test: the engine starts inside of it. */
static void start(void)
{
    signal(SIGSEGV, SIG_DFL);
    fixture_start(&(struct cts_engine_options){.worker_count = 3});
}

static volatile int zero;

/* The compiler need not know where. */
static __attribute__((noinline)) void store_at(uint64_t address)
{
    volatile int *pointer;
    memcpy(&pointer, &address, sizeof pointer);
    *pointer = 1;
}
static volatile int sink;

__attribute__((no_sanitize("undefined"))) static void
poke(void **args, const struct cts_thread_context *c, uint32_t thread)
{
    const int what = ARGUMENT(int, 0);
    if (linear_cta(c) != 5 || thread != 37) return;
    if (what == 1) store_at(0x10);
    if (what == 2) sink = 7 / zero;
    if (what == 3) __builtin_trap();
    if (what == 4) __cts_dev_trap();
    if (what == 5) __cts_dev___assertfail("a < b", "file.cu", 12, "void f(int)", 1);
    if (what == 6) store_at(0x8000000000000000u);
    if (what == 7) *(volatile char *)(c->shared + 16384) = 1; /* behind the window */
}

static void poke_cta(void **args, struct cts_thread_context *c)
{
    for (uint32_t i = 0; i < c->ntid[0]; i++) poke(args, c, i);
}

static void poke_thread(void **args, struct cts_thread_context *c)
{
    poke(args, c, linear_tid(c));
}

static void poke_rows(void **args, struct cts_thread_context *c, uint32_t x0, uint32_t y,
                      uint32_t z, uint32_t n, uint64_t *lanes)
{
    (void)y;
    (void)z;
    for (uint32_t i = 0; i < n; i++) {
        lanes[i] = 0x1000;
        poke(args, c, x0 + i);
    }
}

/* Waits on both sides, so that fibers are suspended when the fault comes. */
static void poke_fiber(void **args, struct cts_thread_context *c)
{
    __cts_nvvm_barrier0();
    poke(args, c, linear_tid(c));
    __cts_nvvm_barrier0();
}

static const uint32_t row_site;
static const struct cts_site_desc site = {
    .width_bytes = 4, .operation = CTS_LOAD, .space = CTS_SPACE_GLOBAL, .loop = UINT32_MAX};
static struct cts_file_desc desc = {.sites = &site, .site_count = 1, .shared_bytes = 16384};
static struct cts_loaded_file file = {.desc = &desc, .first_slot = CTS_SLOT_LIMIT};

static const struct cts_kernel_desc straight = {.name = "poke",
                                                .display_name = "poke(int)",
                                                .cta = poke_cta,
                                                .thread = poke_thread,
                                                .row_rec = poke_rows,
                                                .row_sites = &row_site,
                                                .row_site_count = 1};
static const struct cts_kernel_desc fibers = {
    .name = "poke", .display_name = "poke(int)", .thread = poke_fiber, .flags = CTS_KERNEL_FIBERS};

static struct cts_launch_result run_poke(const struct cts_kernel_desc *kernel, int what,
                                         bool record)
{
    const struct cts_launch_request request = {.kernel = kernel,
                                               .file = &file,
                                               .grid = {3, 4, 1},
                                               .block = {64, 1, 1},
                                               .args = (void *[]){&what},
                                               .record = record,
                                               .cta_sample = 1,
                                               .collector = (struct cts_collector *)&desc};
    return fixture_run(&request);
}

static void faults_name_kernel_cta_and_thread(void **state)
{
    (void)state;
    start();
    static const struct {
        enum cts_fault_kind kind;
        const char *text;
    } expected[] = {
        {CTS_FAULT_NONE, ""},
        {CTS_FAULT_ADDRESS, "invalid address 0x10"},
        {CTS_FAULT_ARITHMETIC, "integer division by zero or overflow"},
        {CTS_FAULT_TRAP, "trap"},
        {CTS_FAULT_TRAP, "trap"},
        {CTS_FAULT_ASSERT, "assertion 'a < b' failed at file.cu:12 in void f(int)"},
        {CTS_FAULT_ADDRESS, "invalid address (beyond 48 bits)"},
        {CTS_FAULT_ADDRESS, "invalid address 0x"},
    };
    for (int what = 1; what < 8; what++)
        for (int how = 0; how < 3; how++) {
            const struct cts_launch_result result =
                run_poke(how == 2 ? &fibers : &straight, what, how == 1);
            char text[256];
            snprintf(text, sizeof text, "kernel 'poke(int)': CTA (2,1,0), thread (37,0,0): %s",
                     expected[what].text);
            if (result.fault != expected[what].kind ||
                strncmp(result.text, text, strlen(text)) != 0)
                fail_msg("fault %d, version %d: %d, %s", what, how, result.fault, result.text);
            const struct cts_launch_result again =
                run_poke(how == 2 ? &fibers : &straight, 0, how == 1);
            ASSERT_RAN(again);
            if (how == 1) assert_int_equal(again.accesses, 12 * 64);
        }
    cts_engine_stop();
}

/* ---- Faults that do not come again, stack overflow ---- */

static void once_cta(void **args, struct cts_thread_context *c)
{
    int *const armed = ARGUMENT(int *, 0);
    (void)c;
    if (!*armed) return;
    *armed = 0;
    store_at(0x20);
}

static const struct cts_kernel_desc once = {
    .name = "_Z4oncePi", .display_name = "", .cta = once_cta, .thread = once_cta};

static void unrepeatable_fault_names_the_cta_only(void **state)
{
    (void)state;
    start();
    int armed = 1, *pointer = &armed;
    const struct cts_launch_request request = {.kernel = &once,
                                               .file = &file,
                                               .grid = {1, 1, 1},
                                               .block = {8, 1, 1},
                                               .args = (void *[]){(void *)&pointer}};
    const struct cts_launch_result result = fixture_run(&request);
    assert_int_equal(result.fault, CTS_FAULT_ADDRESS);
    assert_string_equal(result.text, "kernel '_Z4oncePi': CTA (0,0,0), one of its threads: "
                                     "invalid address 0x20");
    cts_engine_stop();
}

static int recurse(int depth)
{
    volatile char local[512];
    local[depth % 512] = (char)depth;
    return depth == 1 << 30 ? 0 : recurse(depth + 1) + local[depth % 512];
}

static void deep_thread(void **args, struct cts_thread_context *c)
{
    (void)args;
    if (linear_tid(c) == 3) sink = recurse(0);
}

static void deep_cta(void **args, struct cts_thread_context *c)
{
    (void)args;
    for (uint32_t i = 0; i < c->ntid[0]; i++)
        if (i == 3) sink = recurse(0);
}

static const struct cts_kernel_desc deep_kernels[] = {
    {.name = "deep", .display_name = "deep()", .thread = deep_thread, .flags = CTS_KERNEL_FIBERS},
    {.name = "deep", .display_name = "deep()", .cta = deep_cta, .thread = deep_thread},
};

static void stack_overflow_is_named(void **state)
{
    (void)state;
    start();
    for (int i = 0; i < 2; i++) {
        const struct cts_launch_request request = {
            .kernel = &deep_kernels[i], .file = &file, .grid = {1, 1, 1}, .block = {32, 1, 1}};
        const struct cts_launch_result result = fixture_run(&request);
        assert_int_equal(result.fault, CTS_FAULT_STACK);
        assert_non_null(strstr(result.text, "thread (3,0,0): stack overflow"));
    }
    cts_engine_stop();
}

/* ---- Deadlocks ---- */

static void divergent_thread(void **args, struct cts_thread_context *c)
{
    const int what = ARGUMENT(int, 0);
    const bool first = c->tid[0] < 10;
    if (what == 0) {
        if (first)
            __cts_nvvm_barrier_sync(1);
        else
            __cts_nvvm_barrier0();
    } else if (what == 1) {
        if (first)
            __cts_nvvm_bar_warp_sync(UINT32_MAX);
        else
            __cts_nvvm_barrier0();
    } else if (what == 2) {
        if (first)
            __cts_nvvm_redux_sync_add(1, UINT32_MAX);
        else
            __cts_nvvm_redux_sync_xor(1, UINT32_MAX);
    } else {
        __cts_nvvm_barrier_sync_cnt(3, 128);
    }
}

static const struct cts_kernel_desc divergent = {.name = "divergent",
                                                 .display_name = "divergent(int)",
                                                 .thread = divergent_thread,
                                                 .flags = CTS_KERNEL_FIBERS};

static void divergent_barriers_are_described(void **state)
{
    (void)state;
    start();
    static const char *const texts[] = {
        "kernel 'divergent(int)': CTA (0,0,0), thread (0,0,0): waits forever at barrier 1 of the "
        "CTA (10 of 64 threads have arrived), while thread (10,0,0) waits at barrier 0 of the CTA "
        "(54 "
        "of 64 threads have arrived)",
        "kernel 'divergent(int)': CTA (0,0,0), thread (0,0,0): waits forever at __syncwarp with "
        "mask 0xffffffff, while thread (10,0,0) waits at barrier 0 of the CTA (54 of 64 threads "
        "have arrived)",
        "kernel 'divergent(int)': CTA (0,0,0), thread (0,0,0): waits forever at a reduction (add) "
        "with mask 0xffffffff, while thread (10,0,0) waits at a reduction (xor) with mask "
        "0xffffffff",
        ("kernel 'divergent(int)': CTA (0,0,0), thread (0,0,0): waits forever at barrier 3 of the "
         "CTA (64 of 128 threads have arrived)"),
    };
    for (int what = 0; what < 4; what++) {
        const struct cts_launch_request request = {.kernel = &divergent,
                                                   .file = &file,
                                                   .grid = {1, 1, 1},
                                                   .block = {64, 1, 1},
                                                   .args = (void *[]){&what}};
        const struct cts_launch_result result = fixture_run(&request);
        assert_int_equal(result.fault, what == 2 ? CTS_FAULT_DEADLOCK : CTS_FAULT_BARRIER);
        assert_string_equal(result.text, texts[what]);
    }
    cts_engine_stop();
}

/* ---- Not ours ---- */

static void faults_outside_of_device_code_end_the_process(void **state)
{
    (void)state;
    start();
    const pid_t child = fork();
    if (child == 0) {
        store_at(0x30);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGSEGV);
    cts_engine_stop();
}

int main(void)
{
    const struct CMUnitTest signal_tests[] = {
        cmocka_unit_test(faults_name_kernel_cta_and_thread),
        cmocka_unit_test(unrepeatable_fault_names_the_cta_only),
        cmocka_unit_test(stack_overflow_is_named),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(divergent_barriers_are_described),
        cmocka_unit_test(faults_outside_of_device_code_end_the_process),
    };
#ifdef CTS_ENGINE_TSAN
    const bool with_signals = false; /* its handling of them does not survive a fiber's end */
#else
    const bool with_signals = true;
#endif
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (with_signals ? cmocka_run_group_tests(signal_tests, NULL, NULL) : 0);
}
