#include "record/wrappers/threads-known.h"

#include <string.h>
#include <sys/mman.h>

#include "common/search.h"

enum { SMALLEST_BYTES = 64, CLASS_COUNT = 26, CHUNK_BYTES = 256 << 10 };

struct free_piece {
    struct free_piece *next;
};

static struct free_piece *free_pieces[CLASS_COUNT];
static char *chunk;
static size_t chunk_left_bytes;

static unsigned class_of(size_t size_bytes)
{
    unsigned class = 0;
    while (((size_t)SMALLEST_BYTES << class) < size_bytes && class < CLASS_COUNT) class ++;
    return class;
}

static void *map(size_t size_bytes)
{
    void *const memory =
        mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void *cts_threads_take(size_t size_bytes)
{
    const unsigned class = class_of(size_bytes);
    if (class >= CLASS_COUNT) return NULL;
    const size_t piece_bytes = (size_t)SMALLEST_BYTES << class;
    struct free_piece *const piece = free_pieces[class];
    if (piece) {
        free_pieces[class] = piece->next;
        return memset(piece, 0, piece_bytes);
    }
    if (piece_bytes > CHUNK_BYTES) return map(piece_bytes);
    if (piece_bytes > chunk_left_bytes) {
        chunk = map(CHUNK_BYTES);
        chunk_left_bytes = chunk ? CHUNK_BYTES : 0;
        if (!chunk) return NULL;
    }
    void *const memory = chunk;
    chunk += piece_bytes;
    chunk_left_bytes -= piece_bytes;
    return memory;
}

void cts_threads_give(void *memory, size_t size_bytes)
{
    if (!memory) return;
    struct free_piece *const piece = memory;
    const unsigned class = class_of(size_bytes);
    piece->next = free_pieces[class];
    free_pieces[class] = piece;
}

void cts_known_release(struct cts_known *known)
{
    cts_threads_give(known->items, known->capacity * sizeof *known->items);
    *known = (struct cts_known){0};
}

/* Where `thread` is, or would be. */
static uint32_t place_of(const struct cts_known *known, uint32_t thread)
{
    return (uint32_t)CTS_SEARCH(known->count, i, known->items[i].thread < thread);
}

static bool grow(struct cts_known *known)
{
    const uint32_t capacity = known->capacity ? 2 * known->capacity : 4;
    struct cts_known_ops *const items = cts_threads_take(capacity * sizeof *items);
    if (!items) return false;
    if (known->count) memcpy(items, known->items, known->count * sizeof *items);
    cts_threads_give(known->items, known->capacity * sizeof *items);
    known->items = items;
    known->capacity = capacity;
    return true;
}

uint64_t cts_known_of(const struct cts_known *known, uint32_t thread)
{
    const uint32_t at = place_of(known, thread);
    return at < known->count && known->items[at].thread == thread ? known->items[at].end : 0;
}

bool cts_known_add(struct cts_known *known, uint32_t thread, uint64_t end)
{
    const uint32_t at = place_of(known, thread);
    if (at < known->count && known->items[at].thread == thread) {
        if (known->items[at].end >= end) return false;
        known->items[at].end = end;
        return true;
    }
    if (known->count == known->capacity && !grow(known)) return false;
    memmove(known->items + at + 1, known->items + at, (known->count - at) * sizeof *known->items);
    known->items[at] = (struct cts_known_ops){end, thread};
    known->count++;
    return true;
}
