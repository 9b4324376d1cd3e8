/* Shared windows; see worker.h.
 *
 *     | guard | not used | window | guard |
 *
 * The window ends where the guard behind it begins, to the 128 bytes in which a GPU allots shared
 * memory (to more, if a variable asks for a larger alignment). Before it, what is left of its first
 * page is accessible; a GPU keeps 1 KiB of its own there. The guards are as large as the range of
 * shared addresses on a GPU, 16 MiB, and all windows lie far from everything else, so that a wrong
 * index meets nothing that is mapped. */
#include "record/cpu/engine/worker.h"

#include <stdatomic.h>
#include <sys/mman.h>

enum { WINDOW_LEAST_BYTES = 48 << 10, GUARD_BYTES = 16 << 20 };

/* Where the next mapping is asked for; the system may choose another place. */
static const uint64_t first_place = 0x400000000000;
static _Atomic uint64_t next_place = 0x400000000000;

static size_t round_up(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

bool cts_window_is_apart(uint64_t address)
{
    return address >= first_place && address < atomic_load(&next_place);
}

void cts_window_release(struct cts_shared_window *window)
{
    if (window->memory)
        munmap(window->memory - GUARD_BYTES, window->memory_bytes + 2 * GUARD_BYTES);
    *window = (struct cts_shared_window){0};
}

static bool reserve(struct cts_shared_window *window, size_t bytes)
{
    const size_t all_bytes = bytes + 2 * (size_t)GUARD_BYTES;
    void *const place = (void *)(uintptr_t)atomic_fetch_add(&next_place, all_bytes);
    char *const memory =
        mmap(place, all_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    *window = (struct cts_shared_window){.memory = memory + GUARD_BYTES, .memory_bytes = bytes};
    return true;
}

/* Makes the last `bytes` of the memory accessible, and no more. */
static bool open_part(struct cts_shared_window *window, size_t bytes)
{
    char *const end = window->memory + window->memory_bytes;
    if (bytes > window->open_bytes) {
        if (mprotect(end - bytes, bytes - window->open_bytes, PROT_READ | PROT_WRITE) != 0)
            return false;
    } else if (bytes < window->open_bytes) {
        (void)mprotect(end - window->open_bytes, window->open_bytes - bytes, PROT_NONE);
    }
    window->open_bytes = bytes;
    return true;
}

char *cts_window_get(struct cts_shared_window *window, size_t size_bytes, size_t align_bytes)
{
    const size_t page = cts_page_bytes();
    const size_t needed = round_up(size_bytes ? size_bytes : 1, align_bytes);
    if (needed > window->memory_bytes) {
        cts_window_release(window);
        const size_t least = needed < WINDOW_LEAST_BYTES ? WINDOW_LEAST_BYTES : needed;
        if (!reserve(window, round_up(least, page))) return NULL;
    }
    if (!open_part(window, round_up(needed, page))) return NULL;
    return window->memory + (window->memory_bytes - needed);
}
