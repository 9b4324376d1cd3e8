/* What device code asks of its surroundings: clocks, the SM, address spaces, the heap, assertions,
 * the end of a thread, and memory operations of run-time length in the log. */
#include "record/cpu/engine/worker.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "record/instrument/nvvm-abi.h"

/* ---- Clocks ---- */

CTS_EXPORT uint64_t __cts_nvvm_read_ptx_sreg_clock64(void)
{
    if (cts_engine_limits.deterministic) return cts_worker_current->clock += 16;
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return cts_clock_ns();
#endif
}

CTS_EXPORT uint32_t __cts_nvvm_read_ptx_sreg_clock(void)
{
    return (uint32_t)__cts_nvvm_read_ptx_sreg_clock64();
}

CTS_EXPORT uint64_t __cts_nvvm_read_ptx_sreg_globaltimer(void)
{
    struct timespec now;
    if (cts_engine_limits.deterministic) return cts_worker_current->clock += 32;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Others first; no real time passes, as a sleeping warp costs a GPU nothing. */
CTS_EXPORT void __cts_nvvm_nanosleep(uint32_t ns)
{
    (void)ns;
    __cts_yield(__cts_current);
}

/* ---- The launch ---- */

static _Atomic uint32_t sm_count = 132;

uint32_t cts_engine_sm_count(void)
{
    return atomic_load_explicit(&sm_count, memory_order_relaxed);
}

void cts_engine_set_sm_count(uint32_t count)
{
    atomic_store_explicit(&sm_count, count ? count : 1, memory_order_relaxed);
}

/* By CTA and not by worker, so that it does not change from run to run. */
CTS_EXPORT uint32_t __cts_nvvm_read_ptx_sreg_smid(void)
{
    return (uint32_t)(cts_cta_current()->index % cts_engine_sm_count());
}

CTS_EXPORT uint32_t __cts_nvvm_read_ptx_sreg_nsmid(void)
{
    return cts_engine_sm_count();
}

/* Taken before a store to a word and after a load of it: a load that sees the store has the greater
 * number. */
CTS_EXPORT uint64_t __cts_order(void)
{
    static uint64_t last;
    return __atomic_add_fetch(&last, 1, __ATOMIC_SEQ_CST);
}

CTS_EXPORT uint32_t __cts_nvvm_read_ptx_sreg_gridid(void)
{
    return cts_cta_current()->launch->request->launch;
}

CTS_EXPORT void __cts_dev_exit(void)
{
    struct cts_cta *const cta = cts_cta_current();
    if (!cta->fibers) cts_raise(cta, CTS_FAULT_TRAP, "exit in a kernel compiled without it");
    cts_lane_exit(cta);
}

/* ---- Address spaces ---- */

static bool is_shared(const struct cts_cta *cta, const void *address)
{
    return (uint64_t)((const char *)address - cta->context.shared) < cta->launch->shared_bytes;
}

static bool is_local(const struct cts_cta *cta, const void *address)
{
    const struct cts_stack *const stack =
        cta->fibers ? cta->stack[cta->lane] : cta->worker->straight_stack;
    return cts_stack_contains(stack, (uint64_t)(uintptr_t)address);
}

CTS_EXPORT uint32_t __cts_nvvm_isspacep_shared(const void *address)
{
    return is_shared(cts_cta_current(), address);
}

CTS_EXPORT uint32_t __cts_nvvm_isspacep_local(const void *address)
{
    return is_local(cts_cta_current(), address);
}

CTS_EXPORT uint32_t __cts_nvvm_isspacep_const(const void *address)
{
    return cts_slots_is_constant((uint64_t)(uintptr_t)address);
}

CTS_EXPORT uint32_t __cts_nvvm_isspacep_global(const void *address)
{
    const struct cts_cta *const cta = cts_cta_current();
    return address && !is_shared(cta, address) && !is_local(cta, address) &&
           !cts_slots_is_constant((uint64_t)(uintptr_t)address);
}

/* ---- The device heap: malloc with a limit ---- */

struct heap_block {
    uint64_t size_bytes, mark;
};
static const uint64_t heap_mark = 0x6374732068656170, heap_freed = 0x6374732066726565;
static _Atomic uint64_t heap_used, heap_limit = 8 << 20;

uint64_t cts_engine_heap_limit(void)
{
    return atomic_load(&heap_limit);
}

void cts_engine_set_heap_limit(uint64_t limit_bytes)
{
    atomic_store(&heap_limit, limit_bytes);
}

/* A fault in malloc() is not the device code's: the heap may be locked. */
static bool leave_device(void)
{
    struct cts_worker *const worker = cts_worker_current;
    const bool was = worker && worker->in_device;
    if (worker) worker->in_device = false;
    return was;
}

CTS_EXPORT void *__cts_dev_malloc(size_t size_bytes)
{
    const uint64_t limit = atomic_load(&heap_limit);
    if (size_bytes == 0 || size_bytes > limit) return NULL;
    if (atomic_fetch_add(&heap_used, size_bytes) + size_bytes > limit) {
        atomic_fetch_sub(&heap_used, size_bytes);
        return NULL;
    }
    const bool in_device = leave_device();
    struct heap_block *const block = malloc(sizeof *block + size_bytes);
    if (in_device) cts_worker_current->in_device = true;
    if (!block) {
        atomic_fetch_sub(&heap_used, size_bytes);
        return NULL;
    }
    *block = (struct heap_block){.size_bytes = size_bytes, .mark = heap_mark};
    return block + 1;
}

CTS_EXPORT void __cts_dev_free(void *memory)
{
    if (!memory) return;
    struct heap_block *const block = (struct heap_block *)memory - 1;
    if (block->mark != heap_mark) {
        CTS_FAULT_HERE(cts_cta_current());
        cts_raise(cts_cta_current(), CTS_FAULT_ADDRESS, "free of %p: %s", memory,
                  block->mark == heap_freed ? "freed before" : "not from the device's malloc");
    }
    block->mark = heap_freed;
    atomic_fetch_sub(&heap_used, block->size_bytes);
    const bool in_device = leave_device();
    free(block);
    if (in_device) cts_worker_current->in_device = true;
}

/* ---- Ends ---- */

CTS_EXPORT void __cts_dev_check_divisor(uint32_t is_zero)
{
    if (!is_zero) return;
    CTS_FAULT_HERE(cts_cta_current());
    cts_raise(cts_cta_current(), CTS_FAULT_ARITHMETIC, "integer division by zero");
}

CTS_EXPORT void __cts_dev_trap(void)
{
    CTS_FAULT_HERE(cts_cta_current());
    cts_raise(cts_cta_current(), CTS_FAULT_TRAP, "trap");
}

CTS_EXPORT void __cts_dev___assertfail(const char *message, const char *file, uint32_t line,
                                       const char *function, size_t char_size_bytes)
{
    (void)char_size_bytes; /* always 1 */
    cts_raise(cts_cta_current(), CTS_FAULT_ASSERT, "assertion '%.100s' failed at %.80s:%u in %.40s",
              message ? message : "", file ? file : "", line, function ? function : "");
}

/* ---- The log ---- */

static void log_access(struct cts_thread_context *context, uint64_t slot, const char *address,
                       uint32_t width_bytes)
{
    const uint64_t mask = ((uint64_t)1 << CTS_SLOT_SHIFT) - 1;
    const uint32_t words = cts_slots[slot >> CTS_SLOT_SHIFT].value_words;
    *context->log = slot | ((uint64_t)(uintptr_t)address & mask);
    context->log += CTS_WARP_LANES;
    for (uint32_t i = 0; i < words; i++) {
        uint64_t word = 0; /* what is there before the operation */
        const uint32_t left = width_bytes - i * 8;
        memcpy(&word, address + i * 8, left < 8 ? left : 8);
        *context->log = word;
        context->log += CTS_WARP_LANES;
    }
    if (context->log >= context->log_end) __cts_log_full(context);
}

static uint64_t range_slot(uint64_t base, uint64_t site)
{
    const uint64_t slot = (base >> CTS_SLOT_SHIFT) + site;
    return (slot < CTS_SLOT_LIMIT ? slot : CTS_SLOT_LIMIT) << CTS_SLOT_SHIFT;
}

CTS_EXPORT void __cts_log_range(struct cts_thread_context *context, const uint64_t *slot_base,
                                uint32_t wide, const void *address, uint64_t size_bytes)
{
    const uint64_t wide_slot = range_slot(*slot_base, wide);
    const uint64_t byte_slot = range_slot(*slot_base, (uint64_t)wide + 1);
    const char *at = address;
    if (!context->recording) return;
    while (size_bytes > 0) {
        const bool is_wide = size_bytes >= 16 && (uintptr_t)at % 16 == 0;
        const uint32_t width_bytes = is_wide ? 16 : 1;
        log_access(context, is_wide ? wide_slot : byte_slot, at, width_bytes);
        at += width_bytes;
        size_bytes -= width_bytes;
    }
}
