/* The arena is one stretch of addresses, reserved once, so that a block is known by its address:
 *
 *     base                                                                          base + RESERVED
 *     | block | hole | block | ...                          | reserved, nothing mapped            |
 *
 * A block lies at the same offset of the file as of the stretch. A hole has no pages: what is taken
 * again is zero. Blocks are few, since they are large: a list of holes is enough. */
#include "common/memory-limit.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "common/temporary.h"

enum {
    UNIT_BYTES = 1 << 16, /* blocks of the arena are multiples */
    HEAD_BYTES = 1 << 12, /* before a block: its size */
    BLOCK_BYTES = 1 << 18,
    COPY_BYTES = 1 << 22,  /* between two looks while a block is moved */
    SMALL_BYTES = 1 << 12, /* allocations that still succeed beyond the limit: messages need some */
    HOLES_MAX = 1 << 14,
    LOOK_US_MAX = 50000,
};
#define RESERVED_BYTES  (UINT64_C(1) << 42)
#define GROWTH_BYTES_US UINT64_C(8000) /* faster no process becomes resident */
#define RESERVE_LEAST   (UINT64_C(12) << 20)

struct head {
    uint64_t offset, size_bytes; /* of the whole, in the arena */
};

struct hole {
    uint64_t offset, size_bytes;
};

bool cts_memory_has_arena;

static struct {
    struct cts_memory_options options;
    bool active, watching;
    bool is_over; /* what is not in the arena passes the limit */
    long page_bytes;
    int statm;
    uint64_t plain_bytes; /* of large blocks outside the arena */
    uint64_t needed_bytes;
    pthread_mutex_t lock; /* of what follows */
    int file;
    char *base;
    uint64_t end, held, peak; /* in the arena */
    struct hole holes[HOLES_MAX];
    size_t hole_count;
} memory = {.statm = -1, .file = -1, .lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- what is resident ---- */

static uint64_t resident_bytes(void)
{
    char text[128];
    const ssize_t length = memory.statm < 0 ? -1 : pread(memory.statm, text, sizeof text - 1, 0);
    if (length <= 0) return 0;
    text[length] = 0;
    const char *const second = strchr(text, ' ');
    return second ? strtoull(second, NULL, 10) * (uint64_t)memory.page_bytes : 0;
}

/* Kept free: between two looks memory becomes resident. */
static uint64_t reserve_bytes(void)
{
    const uint64_t part = memory.options.limit_bytes / 8;
    return part > RESERVE_LEAST ? part : RESERVE_LEAST;
}

static uint64_t upper_bytes(void)
{
    return memory.options.limit_bytes - reserve_bytes();
}

static void evict(void)
{
    pthread_mutex_lock(&memory.lock);
    if (memory.end) (void)madvise(memory.base, memory.end, MADV_DONTNEED);
    pthread_mutex_unlock(&memory.lock);
}

/* Looks, and does what is to be done; returns what is resident then. */
static uint64_t look(void)
{
    uint64_t resident = resident_bytes();
    const uint64_t upper = upper_bytes();
    if (resident > upper) {
        evict();
        resident = resident_bytes();
        if (resident > upper) {
            malloc_trim(0);
            resident = resident_bytes();
        }
    }
    const bool is_over = resident > upper + reserve_bytes() / 2;
    __atomic_store_n(&memory.is_over, is_over, __ATOMIC_RELAXED);
    return resident;
}

void cts_memory_look(void)
{
    if (__atomic_load_n(&memory.active, __ATOMIC_RELAXED)) (void)look();
}

/* Looks again before the limit can be reached. */
static void *watch(void *state)
{
    (void)state;
    for (;;) {
        const uint64_t resident = look(), upper = upper_bytes();
        const uint64_t left = resident < upper ? upper - resident : 0;
        uint64_t pause_us = left / GROWTH_BYTES_US;
        if (pause_us < 1000) pause_us = 1000;
        if (pause_us > LOOK_US_MAX) pause_us = LOOK_US_MAX;
        const struct timespec pause = {.tv_nsec = (long)pause_us * 1000};
        (void)nanosleep(&pause, NULL);
    }
    return NULL;
}

/* Without the thread only polls and allocations look. */
static void start_watching(void)
{
    pthread_t thread;
    sigset_t all, before;
    if (__atomic_exchange_n(&memory.watching, true, __ATOMIC_RELAXED)) return;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    if (pthread_create(&thread, NULL, watch, NULL) == 0) pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- the arena; callers hold the lock ---- */

static bool is_ours(const void *block)
{
    return memory.base && (const char *)block >= memory.base &&
           (const char *)block < memory.base + RESERVED_BYTES;
}

static struct head *head_of(void *block)
{
    return (struct head *)(void *)((char *)block - HEAD_BYTES);
}

static bool open_arena(void)
{
    struct cts_error ignored;
    if (memory.base) return true;
    if (memory.file < 0) memory.file = cts_temporary_file(&ignored);
    if (memory.file < 0) return false;
    void *const base =
        mmap(NULL, RESERVED_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) return false;
    memory.base = base;
    return true;
}

/* The place of a new block: the first hole that has room, or the end. */
static bool find_place(uint64_t size_bytes, uint64_t *offset)
{
    for (size_t i = 0; i < memory.hole_count; i++) {
        struct hole *const hole = &memory.holes[i];
        if (hole->size_bytes < size_bytes) continue;
        *offset = hole->offset;
        hole->offset += size_bytes;
        hole->size_bytes -= size_bytes;
        if (!hole->size_bytes) *hole = memory.holes[--memory.hole_count];
        return true;
    }
    if (memory.end > RESERVED_BYTES - size_bytes) return false;
    *offset = memory.end;
    memory.end += size_bytes;
    return true;
}

/* Notes a hole; where there are too many, its addresses are not used again. */
static void add_hole(uint64_t offset, uint64_t size_bytes)
{
    for (size_t i = 0; i < memory.hole_count;) { /* at most two touch it */
        const struct hole hole = memory.holes[i];
        if (hole.offset + hole.size_bytes != offset && offset + size_bytes != hole.offset) {
            i++;
            continue;
        }
        if (hole.offset < offset) offset = hole.offset;
        size_bytes += hole.size_bytes;
        memory.holes[i] = memory.holes[--memory.hole_count];
    }
    if (memory.hole_count < HOLES_MAX)
        memory.holes[memory.hole_count++] = (struct hole){offset, size_bytes};
}

static bool map_block(uint64_t offset, uint64_t size_bytes)
{
    /* Claimed first: a full disk is an error here, not a signal later. */
    if (posix_fallocate(memory.file, (off_t)offset, (off_t)size_bytes)) return false;
    if (mmap(memory.base + offset, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
             memory.file, (off_t)offset) == MAP_FAILED)
        return false;
    /* Else one fault makes 2 MiB resident. */
    (void)madvise(memory.base + offset, size_bytes, MADV_NOHUGEPAGE);
    return true;
}

static void unmap_block(uint64_t offset, uint64_t size_bytes)
{
    (void)mmap(memory.base + offset, size_bytes, PROT_NONE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    (void)fallocate(memory.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
                    (off_t)size_bytes);
}

static void *take_block(size_t size_bytes)
{
    const uint64_t whole =
        ((uint64_t)size_bytes + HEAD_BYTES + UNIT_BYTES - 1) / UNIT_BYTES * UNIT_BYTES;
    uint64_t offset;
    if (size_bytes > RESERVED_BYTES / 2 || !open_arena() || !find_place(whole, &offset))
        return NULL;
    if (!map_block(offset, whole)) {
        unmap_block(offset, whole);
        add_hole(offset, whole);
        return NULL;
    }
    *(struct head *)(void *)(memory.base + offset) = (struct head){offset, whole};
    memory.held += whole;
    if (memory.held > memory.peak) memory.peak = memory.held;
    __atomic_store_n(&cts_memory_has_arena, true, __ATOMIC_RELAXED);
    return memory.base + offset + HEAD_BYTES;
}

static void *take(size_t size_bytes)
{
    const int errnum = errno;
    pthread_mutex_lock(&memory.lock);
    void *const block = take_block(size_bytes);
    pthread_mutex_unlock(&memory.lock);
    errno = block ? errnum : ENOMEM;
    return block;
}

static void drop(void *block)
{
    const int errnum = errno;
    pthread_mutex_lock(&memory.lock);
    const struct head head = *head_of(block);
    unmap_block(head.offset, head.size_bytes);
    add_hole(head.offset, head.size_bytes);
    memory.held -= head.size_bytes;
    pthread_mutex_unlock(&memory.lock);
    errno = errnum;
}

/* ---- allocating ---- */

static bool is_large(size_t size_bytes)
{
    return size_bytes >= memory.options.block_bytes;
}

static void *refuse(size_t size_bytes, uint64_t resident)
{
    const uint64_t limit = memory.options.limit_bytes, upper = upper_bytes();
    const uint64_t needed = (resident + size_bytes) / 15 * 16 + (limit - upper);
    if (needed > memory.needed_bytes) memory.needed_bytes = needed;
    errno = ENOMEM;
    return NULL;
}

/* Whether a large block goes to the arena: what is plain keeps to half of the limit. */
static bool wants_arena(size_t size_bytes)
{
    if (memory.options.all_to_arena) return true;
    const uint64_t resident = resident_bytes(), half = memory.options.limit_bytes / 2;
    const uint64_t plain = __atomic_load_n(&memory.plain_bytes, __ATOMIC_RELAXED);
    const uint64_t held = resident > plain ? resident : plain;
    if (held > half / 2) start_watching();
    return held + size_bytes > half;
}

static void count_plain(void *block)
{
    const size_t size_bytes = block ? malloc_usable_size(block) : 0;
    if (is_large(size_bytes)) __atomic_fetch_add(&memory.plain_bytes, size_bytes, __ATOMIC_RELAXED);
}

static void forget_plain(void *block)
{
    const size_t size_bytes = block ? malloc_usable_size(block) : 0;
    if (is_large(size_bytes)) __atomic_fetch_sub(&memory.plain_bytes, size_bytes, __ATOMIC_RELAXED);
}

/* Beyond the limit: an allocation that is not small fails. */
static bool is_refused(size_t size_bytes)
{
    if (!__atomic_load_n(&memory.is_over, __ATOMIC_RELAXED) || size_bytes < SMALL_BYTES)
        return false;
    const uint64_t resident = look();
    if (!__atomic_load_n(&memory.is_over, __ATOMIC_RELAXED)) return false;
    (void)refuse(size_bytes, resident);
    return true;
}

void *cts_memory_allocate(size_t size_bytes, bool zeroed)
{
    if (is_refused(size_bytes)) return NULL;
    if (is_large(size_bytes) && wants_arena(size_bytes)) return take(size_bytes);
    void *const block = zeroed ? memory.options.plain->calloc(1, size_bytes)
                               : memory.options.plain->malloc(size_bytes);
    if (is_large(size_bytes)) count_plain(block);
    return block;
}

void *cts_memory_allocate_aligned(size_t alignment, size_t size_bytes)
{
    if (is_refused(size_bytes)) return NULL;
    if (is_large(size_bytes) && alignment <= HEAD_BYTES && wants_arena(size_bytes))
        return take(size_bytes);
    void *const block = memory.options.plain->aligned_alloc(alignment, size_bytes);
    if (is_large(size_bytes)) count_plain(block);
    return block;
}

void cts_memory_give_back(void *block)
{
    if (is_ours(block)) {
        drop(block);
    } else {
        forget_plain(block);
        memory.options.plain->free(block);
    }
}

/* Copies piece by piece: both blocks become resident. */
static void copy(char *to, const char *from, size_t size_bytes)
{
    for (size_t done = 0; done < size_bytes; done += COPY_BYTES) {
        const size_t left = size_bytes - done;
        memcpy(to + done, from + done, left < COPY_BYTES ? left : COPY_BYTES);
        cts_memory_poll();
    }
}

static size_t room_of(void *block)
{
    return is_ours(block) ? (size_t)(head_of(block)->size_bytes - HEAD_BYTES)
                          : malloc_usable_size(block);
}

void *cts_memory_resize(void *block, size_t size_bytes)
{
    if (!block) return cts_memory_allocate(size_bytes, false);
    const size_t room = room_of(block);
    const bool is_arena = is_ours(block);
    if (is_arena && size_bytes <= room && size_bytes > room / 2) return block;
    if (!is_arena && !is_large(size_bytes) && !is_large(room)) {
        if (size_bytes > room && is_refused(size_bytes)) return NULL;
        return memory.options.plain->realloc(block, size_bytes);
    }
    if (!is_arena && !(is_large(size_bytes) && wants_arena(size_bytes))) {
        if (size_bytes > room && is_refused(size_bytes)) return NULL;
        forget_plain(block);
        void *const grown = memory.options.plain->realloc(block, size_bytes);
        count_plain(grown ? grown : block);
        return grown;
    }
    void *const moved = cts_memory_allocate(size_bytes, false);
    if (!moved) return NULL;
    copy(moved, block, room < size_bytes ? room : size_bytes);
    cts_memory_give_back(block);
    return moved;
}

uint64_t cts_memory_arena_bytes(uint64_t *peak_bytes)
{
    pthread_mutex_lock(&memory.lock);
    const uint64_t held = memory.held;
    *peak_bytes = memory.peak;
    pthread_mutex_unlock(&memory.lock);
    return held;
}

/* ---- the limit ---- */

uint64_t cts_memory_limit_default(void)
{
    uint64_t bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    char text[64] = "";
    const int file = open("/sys/fs/cgroup/memory.max", O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        const ssize_t length = read(file, text, sizeof text - 1);
        if (length > 0) text[length] = 0;
        close(file);
    }
    const uint64_t group = strtoull(text, NULL, 10); /* "max": 0 */
    if (group && group < bytes) bytes = group;
    return bytes / 2;
}

bool cts_memory_is_limited(void)
{
    return memory.active;
}

uint64_t cts_memory_limit_bytes(void)
{
    return memory.active ? memory.options.limit_bytes : 0;
}

uint64_t cts_memory_limit_needed(void)
{
    return memory.needed_bytes;
}

enum cts_status cts_memory_limit_begin(const struct cts_memory_options *options,
                                       struct cts_error *error)
{
    memory.options = *options;
    memory.page_bytes = sysconf(_SC_PAGESIZE);
    if (!memory.options.block_bytes) memory.options.block_bytes = BLOCK_BYTES;
    memory.statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    const uint64_t least = resident_bytes() * 2 + 2 * RESERVE_LEAST;
    if (options->limit_bytes < least) {
        const uint64_t mib = (least + (1 << 20) - 1) >> 20;
        return cts_fail(error, CTS_LIMIT,
                        "a memory limit of %llu bytes is too small: at least %lluM",
                        (unsigned long long)options->limit_bytes, (unsigned long long)mib);
    }
    memory.active = true;
    if (options->watches) { /* what is given back leaves the process */
        mallopt(M_MMAP_THRESHOLD, BLOCK_BYTES);
        mallopt(M_TRIM_THRESHOLD, BLOCK_BYTES);
        start_watching();
    }
    return CTS_OK;
}
