/* The program's malloc() and its kin: the linker puts these in place of the C library's
 * (--wrap), for our own code and not for the libraries. What our code gives to a
 * library to free, it gives with a function that frees; what a library gives to us, is freed as it
 * should be. Sanitizers have a malloc() of their own: there none of this is linked. */
#include "memory-wrap.h"

#include <errno.h>
#include <stdlib.h>

#include "common/memory-limit.h"

void *__real_malloc(size_t size_bytes);
void *__real_calloc(size_t count, size_t size_bytes);
void *__real_realloc(void *block, size_t size_bytes);
void *__real_aligned_alloc(size_t alignment, size_t size_bytes);
void __real_free(void *block);
void *__wrap_malloc(size_t size_bytes);
void *__wrap_calloc(size_t count, size_t size_bytes);
void *__wrap_realloc(void *block, size_t size_bytes);
void *__wrap_reallocarray(void *block, size_t count, size_t size_bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t size_bytes);
void __wrap_free(void *block);

void *__wrap_malloc(size_t size_bytes)
{
    return cts_memory_is_limited() ? cts_memory_allocate(size_bytes, false)
                                   : __real_malloc(size_bytes);
}

void *__wrap_calloc(size_t count, size_t size_bytes)
{
    size_t all;
    if (__builtin_mul_overflow(count, size_bytes, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return cts_memory_is_limited() ? cts_memory_allocate(all, true) : __real_calloc(1, all);
}

void *__wrap_realloc(void *block, size_t size_bytes)
{
    return cts_memory_is_limited() ? cts_memory_resize(block, size_bytes)
                                   : __real_realloc(block, size_bytes);
}

void *__wrap_reallocarray(void *block, size_t count, size_t size_bytes)
{
    size_t all;
    if (__builtin_mul_overflow(count, size_bytes, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return __wrap_realloc(block, all);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size_bytes)
{
    return cts_memory_is_limited() ? cts_memory_allocate_aligned(alignment, size_bytes)
                                   : __real_aligned_alloc(alignment, size_bytes);
}

void __wrap_free(void *block)
{
    if (cts_memory_is_limited())
        cts_memory_give_back(block);
    else
        __real_free(block);
}

const struct cts_memory_plain cts_memory_plain = {.malloc = __real_malloc,
                                                  .calloc = __real_calloc,
                                                  .realloc = __real_realloc,
                                                  .aligned_alloc = __real_aligned_alloc,
                                                  .free = __real_free};
