/* Fibers: stacks, and the switch from one to another within a thread. A fiber never moves to
 * another thread.
 *
 * A suspended fiber is one pointer: its stack pointer, below which nothing is in use and above
 * which lie the callee-saved registers and the address to go on at. The scheduler (cta.c) decides
 * who runs; this file only knows how. */
#ifndef CTS_ENGINE_FIBER_H
#define CTS_ENGINE_FIBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define CTS_ENGINE_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define CTS_ENGINE_TSAN 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define CTS_ENGINE_ASAN 1
#endif
#ifdef __SANITIZE_THREAD__
#define CTS_ENGINE_TSAN 1
#endif
#ifdef CTS_ENGINE_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef CTS_ENGINE_TSAN
#include <sanitizer/tsan_interface.h>
#endif

struct cts_stack {
    struct cts_stack *next; /* in a list of free stacks */
    char *low;              /* lowest byte that may be used; the guard page ends here */
    char *top;              /* where a fiber begins: the highest byte + 1, less the colour */
    size_t size_bytes;      /* from low to top without the colour */
#ifdef CTS_ENGINE_TSAN
    void *fiber;
    unsigned use_count;
#endif
};

/* The base of a thread's local memory: an address in a fiber's stack, less this, is the offset
 * that records hold. The same for every fiber at the same depth, whatever stack it has. */
static inline uint64_t cts_stack_local_base(const struct cts_stack *stack)
{
    return (uint64_t)(uintptr_t)stack->top - stack->size_bytes;
}

static inline bool cts_stack_contains(const struct cts_stack *stack, uint64_t address)
{
    return address - (uint64_t)(uintptr_t)stack->low < stack->size_bytes;
}

/* Stacks of one size, taken and given back by one thread. Zero-initialise with size_bytes set (a
 * multiple of the page size). Freed by cts_stacks_release(). */
struct cts_stacks {
    size_t size_bytes;
    struct cts_stack *free;
    struct cts_stack_slab *slabs;
};
struct cts_stack *cts_stacks_grow(struct cts_stacks *stacks); /* NULL: out of memory */
void cts_stacks_release(struct cts_stacks *stacks);
size_t cts_page_bytes(void);

static inline struct cts_stack *cts_stacks_take(struct cts_stacks *stacks)
{
    struct cts_stack *const stack = stacks->free ? stacks->free : cts_stacks_grow(stacks);
    if (stack) stacks->free = stack->next;
    return stack;
}

/* The calling fiber may give back the stack it runs on when the next thing it does is to leave
 * for good: nothing else of this thread runs before that. */
static inline void cts_stacks_give(struct cts_stacks *stacks, struct cts_stack *stack)
{
    stack->next = stacks->free;
    stacks->free = stack;
}

/* In fiber-*.S. */
void cts_fiber_swap(void **save, void *to);
void cts_fiber_swap_last(void **save, void *to);
_Noreturn void cts_fiber_jump(void *to);
void cts_fiber_begin(void);

/* A new fiber on `stack`: the stack pointer to switch to. entry(argument) must not return. */
void *cts_fiber_new(struct cts_stack *stack, void (*entry)(void *argument), void *argument);

/* The thread's own stack, as seen by the sanitizers; nothing otherwise. */
void cts_fiber_home(struct cts_stack *home);

/* Leaves the running fiber, which can be found at *save, and goes on with `to`, on to_stack. */
static inline void cts_fiber_switch(void **save, void *to, struct cts_stack *to_stack)
{
#ifdef CTS_ENGINE_ASAN
    void *fake_stack = NULL;
    __sanitizer_start_switch_fiber(&fake_stack, to_stack->low, to_stack->size_bytes);
#endif
#ifdef CTS_ENGINE_TSAN
    __tsan_switch_to_fiber(to_stack->fiber, 0);
#endif
    (void)to_stack;
    cts_fiber_swap(save, to);
#ifdef CTS_ENGINE_ASAN
    __sanitizer_finish_switch_fiber(fake_stack, NULL, NULL);
#endif
}

/* The same as the last thing that a function does which device code called. The other fiber mostly
 * goes on elsewhere in device code than this one: a return would be predicted to go where this one
 * was called from, a jump is predicted to go where the fiber before went. */
static inline void cts_fiber_switch_last(void **save, void *to, struct cts_stack *to_stack)
{
#if defined(CTS_ENGINE_ASAN) || defined(CTS_ENGINE_TSAN)
    cts_fiber_switch(save, to, to_stack);
#else
    (void)to_stack;
    cts_fiber_swap_last(save, to);
#endif
}

/* Leaves the running fiber for good. */
static inline _Noreturn void cts_fiber_leave(void *to, struct cts_stack *to_stack)
{
#ifdef CTS_ENGINE_ASAN
    __sanitizer_start_switch_fiber(NULL, to_stack->low, to_stack->size_bytes);
#endif
#ifdef CTS_ENGINE_TSAN
    __tsan_switch_to_fiber(to_stack->fiber, 0);
#endif
    (void)to_stack;
    cts_fiber_jump(to);
}

/* The first thing that a fiber's entry does. */
static inline void cts_fiber_entered(void)
{
#ifdef CTS_ENGINE_ASAN
    __sanitizer_finish_switch_fiber(NULL, NULL, NULL);
#endif
}

#endif
