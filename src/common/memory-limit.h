/* The bound of a process's resident memory: one for the process, whatever module allocates.
 *
 * Large blocks come from the C library while half of the limit is enough for them, then from an
 * *arena*: a temporary file without a name (common/temporary.h) that is mapped as it grows. Of the
 * arena as much is resident as the limit leaves room for: before a page of it becomes resident,
 * others leave (common/memory-windows.h). Their contents stay with the file, so that whoever needs
 * them finds them again, a page fault later. When memory outside the arena nears the limit,
 * allocations fail: an analysis then ends as it does where the machine has no more, and
 * cts_memory_limit_needed() says how much it would have taken.
 *
 * A program allocates so if its malloc() and its kin are these functions (common/wrap).
 * Any thread may call them that does not block SIGSEGV. */
#ifndef CTS_COMMON_MEMORY_LIMIT_H
#define CTS_COMMON_MEMORY_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

/* The C library's own, to which what is wrapped cannot be had by name. */
struct cts_memory_plain {
    void *(*malloc)(size_t size_bytes);
    void *(*calloc)(size_t count, size_t size_bytes);
    void *(*realloc)(void *block, size_t size_bytes);
    void *(*aligned_alloc)(size_t alignment, size_t size_bytes);
    void (*free)(void *block);
};

struct cts_memory_options {
    const struct cts_memory_plain *plain; /* borrowed for good */
    uint64_t limit_bytes;                 /* of resident memory */
    size_t block_bytes; /* blocks from this size on may lie in the arena; 0: 256 KiB */
    bool all_to_arena;  /* these blocks always do: for tests */
    bool watches;       /* a thread looks at what libraries allocate from the start, not only when
                           there is much */
};

/* Below this there is no room for the program and what comes between two looks. */
#define CTS_MEMORY_LIMIT_LEAST (UINT64_C(64) << 20)

/* Once in a process, before it has other threads. CTS_LIMIT: the limit is below the least one. */
CTS_MUST_CHECK enum cts_status cts_memory_limit_begin(const struct cts_memory_options *options,
                                                      struct cts_error *error);

/* Half of the memory that the process may use: the machine's, or its control group's. */
uint64_t cts_memory_limit_default(void);

/* The limit that an allocation which failed for it would have needed at least, in bytes; 0: none
 * has. */
uint64_t cts_memory_limit_needed(void);
uint64_t cts_memory_limit_bytes(void); /* 0: none */

/* As malloc() and its kin; only where there is a limit. */
bool cts_memory_is_limited(void);
void *cts_memory_allocate(size_t size_bytes, bool zeroed);
void *cts_memory_allocate_aligned(size_t alignment, size_t size_bytes);
void *cts_memory_resize(void *block, size_t size_bytes);
void cts_memory_give_back(void *block);

/* The kernel cannot be given such memory: system calls that fill or read it fail. */
bool cts_memory_is_in_arena(const void *block);
bool cts_memory_has_arena(void);

/* From cts_memory_hold() until cts_memory_let_go() it can, and the bytes are resident: for
 * libraries that exchange memory with others. True: they lie in the arena and are to be let go. */
bool cts_memory_hold(const void *bytes, size_t byte_count);
void cts_memory_let_go(void);

/* What lies in the arena, and the most that did. */
uint64_t cts_memory_arena_bytes(uint64_t *peak_bytes);

#endif
