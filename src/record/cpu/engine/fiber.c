/* Stacks of fibers, in slabs of 64: one mapping, each stack with an inaccessible page below it.
 *
 *     | guard | stack 0 ... | guard | stack 1 ... | ...
 *
 * Stacks of the same size put the same depth of every fiber into the same cache set; a *colour* (a
 * few lines, different from stack to stack) at the top spreads them. When the system's limit on
 * mappings is reached, a slab goes without guards: a grid of 100 000 live threads still runs, and
 * only loses the naming of a stack overflow. */
#include "record/cpu/engine/fiber.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SLAB_STACKS = 64, COLOUR_BYTES = 64, COLOURS = 32 };

struct cts_stack_slab {
    struct cts_stack_slab *next;
    char *memory;
    size_t size_bytes;
    struct cts_stack stacks[SLAB_STACKS];
};

size_t cts_page_bytes(void)
{
    static size_t bytes; /* the same value whoever writes it first */
    size_t known = __atomic_load_n(&bytes, __ATOMIC_RELAXED);
    if (!known) {
        known = (size_t)sysconf(_SC_PAGESIZE);
        __atomic_store_n(&bytes, known, __ATOMIC_RELAXED);
    }
    return known;
}

struct cts_stack *cts_stacks_grow(struct cts_stacks *stacks)
{
    const size_t page = cts_page_bytes();
    const size_t pitch = stacks->size_bytes + page;
    const unsigned count = stacks->size_bytes > (1 << 20) / 2 ? 1 : SLAB_STACKS;
    struct cts_stack_slab *const slab = calloc(1, sizeof *slab);
    if (!slab) return NULL;
    slab->size_bytes = pitch * count;
    slab->memory = mmap(NULL, slab->size_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (slab->memory == MAP_FAILED) {
        free(slab);
        return NULL;
    }
    for (unsigned i = count; i-- > 0;) {
        struct cts_stack *const stack = &slab->stacks[i];
        char *const guard = slab->memory + i * pitch;
        (void)mprotect(guard, page, PROT_NONE); /* without it when there are too many mappings */
        stack->low = guard + page;
        stack->size_bytes = stacks->size_bytes;
        stack->top = stack->low + stack->size_bytes - (size_t)(i % COLOURS) * COLOUR_BYTES;
        stack->next = stacks->free;
        stacks->free = stack;
    }
    slab->next = stacks->slabs;
    stacks->slabs = slab;
    return stacks->free;
}

void cts_stacks_release(struct cts_stacks *stacks)
{
    while (stacks->slabs) {
        struct cts_stack_slab *const slab = stacks->slabs;
        stacks->slabs = slab->next;
#ifdef CTS_ENGINE_TSAN
        for (unsigned i = 0; i < SLAB_STACKS; i++)
            if (slab->stacks[i].fiber) __tsan_destroy_fiber(slab->stacks[i].fiber);
#endif
        munmap(slab->memory, slab->size_bytes);
        free(slab);
    }
    stacks->free = NULL;
}

void *cts_fiber_new(struct cts_stack *stack, void (*entry)(void *argument), void *argument)
{
#ifdef CTS_ENGINE_TSAN
    /* A fiber that is left for good never returns from its functions, which fills the sanitizer's
     * own stack of it; a new one each time is slow. */
    if (stack->fiber && stack->use_count++ % 1000 == 999) {
        __tsan_destroy_fiber(stack->fiber);
        stack->fiber = NULL;
    }
    if (!stack->fiber) stack->fiber = __tsan_create_fiber(0);
#endif
#ifdef CTS_ENGINE_ASAN
    __asan_unpoison_memory_region(stack->low, stack->size_bytes); /* a fiber that was abandoned */
#endif
    /* The frame that cts_fiber_swap() pops. */
#if defined(__x86_64__)
    void **const frame = (void **)stack->top - 9; /* 7 words, 16 bytes of air for the alignment */
    frame[0] = frame[1] = frame[2] = NULL;        /* r15 r14 r13 */
    frame[3] = argument;                          /* r12 */
    frame[4] = (void *)entry;                     /* rbx */
    frame[5] = NULL;                              /* rbp */
    frame[6] = (void *)cts_fiber_begin;
#elif defined(__aarch64__)
    void **const frame = (void **)stack->top - 20;
    memset(frame, 0, 160);
    frame[0] = (void *)entry; /* x19 */
    frame[1] = argument;      /* x20 */
    frame[11] = (void *)cts_fiber_begin;
#else
#error "fibers: no switch for this architecture; write fiber-ARCH.S"
#endif
    return frame;
}

void cts_fiber_home(struct cts_stack *home)
{
#ifdef CTS_ENGINE_ASAN
    pthread_attr_t attributes;
    void *low;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &low, &home->size_bytes);
        home->low = low;
        pthread_attr_destroy(&attributes);
    }
#endif
#ifdef CTS_ENGINE_TSAN
    home->fiber = __tsan_get_current_fiber();
#endif
    (void)home;
}
