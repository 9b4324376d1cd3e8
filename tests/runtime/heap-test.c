/* The heap alone: addresses, limits, reuse, guards. */
#include "kernels.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/cpu/runtime/heap.h"

enum { MIB = 1 << 20 };

static struct cts_heap *new_heap(void)
{
    struct cts_heap *const heap = cts_heap_create(0, (uint64_t)1024 * MIB, 256 * MIB);
    assert_non_null(heap);
    return heap;
}

static void addresses_are_aligned_and_apart(void **state)
{
    (void)state;
    struct cts_heap *const heap = new_heap();
    uint64_t addresses[200], sizes[200];
    for (unsigned i = 0; i < 200; i++) {
        sizes[i] = 1 + i * i * 7 % 20000;
        addresses[i] = cts_heap_allocate(heap, sizes[i]);
        assert_int_not_equal(addresses[i], 0);
        assert_int_equal(addresses[i] % 512, 0);
        assert_true(cts_heap_contains(heap, addresses[i]));
        for (unsigned k = 0; k < i; k++)
            assert_true(addresses[i] >= addresses[k] + sizes[k] ||
                        addresses[k] >= addresses[i] + sizes[i]);
        memset((void *)addresses[i], 0xFF, sizes[i]);
    }
    for (unsigned i = 0; i < 200; i += 2) cts_heap_free(heap, addresses[i], sizes[i]);
    for (unsigned i = 0; i < 200; i += 2) {
        const uint64_t again = cts_heap_allocate(heap, sizes[i]);
        for (uint64_t k = 0; k < sizes[i]; k++) assert_int_equal(((char *)again)[k], 0);
    }
    cts_heap_destroy(heap);
}

static void freed_memory_is_reused_lowest_first(void **state)
{
    (void)state;
    struct cts_heap *const heap = new_heap();
    const uint64_t a = cts_heap_allocate(heap, MIB), b = cts_heap_allocate(heap, MIB);
    const uint64_t c = cts_heap_allocate(heap, MIB);
    assert_true(a < b && b < c);
    cts_heap_free(heap, b, MIB);
    cts_heap_free(heap, a, MIB);
    assert_int_equal(cts_heap_allocate(heap, 2 * MIB), a); /* the two have become one */
    assert_int_equal(cts_heap_used_bytes(heap), 3 * MIB);
    cts_heap_destroy(heap);
}

static void the_limit_holds(void **state)
{
    (void)state;
    struct cts_heap *const heap = new_heap();
    const uint64_t most = cts_heap_allocate(heap, 256 * MIB);
    assert_int_not_equal(most, 0);
    assert_int_equal(cts_heap_allocate(heap, 1), 0);
    cts_heap_free(heap, most, 256 * MIB);
    assert_int_equal(cts_heap_used_bytes(heap), 0);
    assert_int_equal(cts_heap_allocate(heap, 256 * MIB + 1), 0);
    assert_int_equal(cts_heap_allocate(heap, UINT64_MAX), 0);
    assert_int_not_equal(cts_heap_allocate(heap, 256 * MIB), 0);
    cts_heap_destroy(heap);
}

static int signal_of_store(uint64_t address)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        *(volatile char *)address = 1;
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? SIGSEGV : 0;
}

static void leaving_an_allocation_faults(void **state)
{
    (void)state;
    struct cts_heap *const heap = new_heap();
    const uint64_t a = cts_heap_allocate(heap, 8192), b = cts_heap_allocate(heap, 8192);
    assert_int_equal(signal_of_store(a + 8191), 0);
    assert_int_equal(signal_of_store(a + 8192), SIGSEGV);
    cts_heap_free(heap, b, 8192);
    assert_int_equal(signal_of_store(b), SIGSEGV);
    cts_heap_destroy(heap);
}

static void many_allocations_share_slabs(void **state)
{
    (void)state;
    struct cts_heap *const heap = new_heap();
    enum { COUNT = 20000 };
    uint64_t *const addresses = calloc(COUNT, sizeof *addresses);
    for (unsigned i = 0; i < COUNT; i++) {
        addresses[i] = cts_heap_allocate(heap, 5000);
        assert_int_not_equal(addresses[i], 0);
        *(uint64_t *)addresses[i] = i;
    }
    for (unsigned i = 0; i < COUNT; i++) assert_int_equal(*(uint64_t *)addresses[i], i);
    for (unsigned i = 0; i < COUNT; i++) cts_heap_free(heap, addresses[i], 5000);
    assert_int_equal(cts_heap_used_bytes(heap), 0);
    assert_int_equal(cts_heap_allocate(heap, 128 * MIB), addresses[0]);
    free(addresses);
    cts_heap_destroy(heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_aligned_and_apart),
        cmocka_unit_test(freed_memory_is_reused_lowest_first),
        cmocka_unit_test(the_limit_holds),
        cmocka_unit_test(leaving_an_allocation_faults),
        cmocka_unit_test(many_allocations_share_slabs),
    };
    return cmocka_run_group_tests_name("heap", tests, NULL, NULL);
}
