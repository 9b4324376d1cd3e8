/* SQLite as a fuzz target wants it. An execution opens databases of some kilobytes, and most of its
 * time goes into thousands of small allocations, which the address sanitizer makes expensive, and
 * into locks that one thread does not need. Here blocks come from lists by their size. A sanitizer
 * still sees what reads behind a block, or in one that was freed: only no longer where it was
 * allocated. Call make_sqlite_fast() before anything else of SQLite's. */
#ifndef CTS_TESTS_SQLITE_FAST_H
#define CTS_TESTS_SQLITE_FAST_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FAST_HAS_SHADOW
#include <sanitizer/asan_interface.h>
#endif
#endif

/* Called a thousand times for an input, which need not know that. */
#ifdef __clang__
#define FAST_STATIC __attribute__((no_sanitize("address", "undefined", "coverage"))) static inline
#else
#define FAST_STATIC static inline
#endif

enum {
    FAST_STEP_BYTES = 64,
    FAST_LISTS = 160,        /* blocks of up to 10 KiB; larger ones are malloc()'s */
    FAST_GAP_BYTES = 16,     /* that nobody may touch, behind each block */
    FAST_LOT_BYTES = 1 << 20 /* of malloc()'s at a time, for ever */
};

/* Before each block. */
struct fast_block {
    _Alignas(16) size_t size_bytes;
    struct fast_block *next; /* while it is free */
};
static struct fast_block *fast_free[FAST_LISTS];
static char *fast_lot;
static size_t fast_left_bytes;

/* Lets the program touch the first `size_bytes` of a block, and nothing of its other bytes. The
 * sanitizer's shadow has a byte for 8 of the program's: 0, all may be touched; up to 7, so many;
 * 0xf7, none. It is written here, since the sanitizer's own functions take longer than SQLite with
 * the block. */
FAST_STATIC void fast_allow(void *bytes, size_t list, size_t size_bytes)
{
#ifdef FAST_HAS_SHADOW
    enum { NONE_BYTE = 0xf7 };
    static size_t scale, offset;
    if (!offset) __asan_get_shadow_mapping(&scale, &offset);
    if (scale != 3) abort();
    typedef volatile uint64_t __attribute__((aligned(1), may_alias)) words;
    words *const shadow = (words *)(((uintptr_t)bytes >> 3) + offset);
    const uint64_t none = UINT64_MAX / UINT8_MAX * NONE_BYTE;
    for (size_t i = 0; i <= list; i++) {
        const size_t begin = i * FAST_STEP_BYTES;
        const size_t allowed = size_bytes > begin ? size_bytes - begin : 0;
        const size_t bits =
            allowed / 8 * 8; /* of the word, for bytes of which all may be touched */
        uint64_t word = allowed >= FAST_STEP_BYTES ? 0 : none << bits;
        if (bits < 64 && allowed % 8) word ^= (NONE_BYTE ^ allowed % 8) << bits;
        shadow[i] = word;
    }
#else
    (void)bytes, (void)list, (void)size_bytes;
#endif
}

/* The list, and FAST_LISTS if it is malloc()'s. */
FAST_STATIC size_t fast_list(size_t size_bytes)
{
    const size_t list = (size_bytes + FAST_GAP_BYTES) / FAST_STEP_BYTES;
    return list < FAST_LISTS ? list : FAST_LISTS;
}

FAST_STATIC struct fast_block *fast_new(size_t list)
{
    const size_t bytes = sizeof(struct fast_block) + (list + 1) * FAST_STEP_BYTES;
    if (fast_left_bytes < bytes) {
        fast_lot = malloc(FAST_LOT_BYTES);
        fast_left_bytes = fast_lot ? FAST_LOT_BYTES : 0;
        if (!fast_lot) return NULL;
    }
    struct fast_block *const block = (struct fast_block *)(void *)fast_lot;
    fast_lot += bytes;
    fast_left_bytes -= bytes;
    return block;
}

FAST_STATIC void *fast_malloc(int size)
{
    const size_t size_bytes = (size_t)size, list = fast_list(size_bytes);
    struct fast_block *block;
    if (list == FAST_LISTS) {
        block = malloc(sizeof *block + size_bytes);
    } else if ((block = fast_free[list])) {
        fast_free[list] = block->next;
    } else {
        block = fast_new(list);
    }
    if (!block) return NULL;
    block->size_bytes = size_bytes;
    if (list < FAST_LISTS) fast_allow(block + 1, list, size_bytes);
    return block + 1;
}

FAST_STATIC int fast_size(void *bytes)
{
    return bytes ? (int)((struct fast_block *)bytes - 1)->size_bytes : 0;
}

FAST_STATIC void fast_release(void *bytes)
{
    if (!bytes) return;
    struct fast_block *const block = (struct fast_block *)bytes - 1;
    const size_t list = fast_list(block->size_bytes);
    if (list == FAST_LISTS) {
        free(block);
        return;
    }
    fast_allow(bytes, list, 0);
    block->next = fast_free[list];
    fast_free[list] = block;
}

FAST_STATIC void *fast_realloc(void *bytes, int size)
{
    void *const other = fast_malloc(size);
    if (!other) return NULL;
    const int old = fast_size(bytes);
    if (bytes) memcpy(other, bytes, (size_t)(old < size ? old : size));
    fast_release(bytes);
    return other;
}

FAST_STATIC int fast_round(int size)
{
    return (size + 7) / 8 * 8;
}

FAST_STATIC int fast_begin(void *unused)
{
    (void)unused;
    return SQLITE_OK;
}

FAST_STATIC void fast_end(void *unused)
{
    (void)unused;
}

/* Whether the sanitizer sees just a block's bytes as the program's, and none after it was freed. */
FAST_STATIC bool is_fast_guarded(void)
{
    bool is_right = true;
#ifdef FAST_HAS_SHADOW
    for (int size = 1; is_right && size <= 200; size++) {
        char *const bytes = fast_malloc(size);
        for (int i = 0; is_right && bytes && i < size + FAST_GAP_BYTES; i++)
            is_right = __asan_address_is_poisoned(bytes + i) == (i >= size);
        fast_release(bytes);
        is_right &=
            __asan_address_is_poisoned(bytes) && __asan_address_is_poisoned(bytes + size - 1);
    }
#endif
    return is_right;
}

FAST_STATIC bool make_sqlite_fast(void)
{
    static const sqlite3_mem_methods methods = {fast_malloc, fast_release, fast_realloc, fast_size,
                                                fast_round,  fast_begin,   fast_end,     NULL};
    return is_fast_guarded() && sqlite3_config(SQLITE_CONFIG_SINGLETHREAD) == SQLITE_OK &&
           sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) == SQLITE_OK &&
           sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) == SQLITE_OK;
}

#endif
