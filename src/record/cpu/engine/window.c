/* Shared windows; see worker.h. The window ends where the guard begins, but for the rounding. */
#include "record/cpu/engine/worker.h"

#include <sys/mman.h>

enum { WINDOW_ALIGN_BYTES = 1024, WINDOW_LEAST_BYTES = 48 << 10 };

static size_t round_up(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

void cts_window_release(struct cts_shared_window *window)
{
    if (window->memory) munmap(window->memory, window->memory_bytes + cts_page_bytes());
    window->memory = NULL;
    window->memory_bytes = 0;
}

char *cts_window_get(struct cts_shared_window *window, size_t size_bytes)
{
    const size_t page = cts_page_bytes();
    const size_t needed = round_up(size_bytes ? size_bytes : 1, WINDOW_ALIGN_BYTES);
    if (needed > window->memory_bytes) {
        cts_window_release(window);
        const size_t bytes =
            round_up(needed < WINDOW_LEAST_BYTES ? WINDOW_LEAST_BYTES : needed, page);
        char *const memory = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) return NULL;
        (void)mprotect(memory + bytes, page, PROT_NONE); /* without it: no guard, nothing worse */
        window->memory = memory;
        window->memory_bytes = bytes;
    }
    return window->memory + (window->memory_bytes - needed);
}
