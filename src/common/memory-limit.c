/* The arena is one stretch of addresses, reserved once, so that a block is known by its address:
 *
 *     base                                                                          base + RESERVED
 *     | block | hole | block | ...                          | reserved, nothing mapped            |
 *
 * A block lies at the same offset of the file as of the stretch, and is a multiple of a window
 * (common/memory-windows.h), of which as many are open as there is room for:
 *
 *     limit = outside + open windows + spare
 *
 * What is *outside* the arena is known before it is resident: what our code has asked for, or what
 * is resident, if that is more (libraries, stacks), and the program itself. Spare is for what comes
 * between two looks: a thread looks when it has asked for ASKED_BYTES, and for each large block.
 *
 * A hole has no pages: what is taken again is zero. Blocks are few, since they are large: a list of
 * holes is enough. */
#include "common/memory-limit.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/memory-windows.h"
#include "common/temporary.h"

enum {
    HEAD_BYTES = 1 << 12, /* before a block: its size */
    BLOCK_BYTES = 1 << 18,
    WINDOW_LEAST = 1 << 16,
    WINDOW_MOST = 1 << 18,
    WINDOW_PARTS = 1 << 13, /* a window is about this part of the limit */
    SMALL_BYTES = 1 << 12, /* allocations that still succeed beyond the limit: messages need some */
    HOLES_MAX = 1 << 14,
    ASKED_BYTES = 1 << 18, /* of a thread, between two looks */
    LOOK_NS = 20000000,    /* libraries allocate without asking */
    STRIPES = 64,
};
#define RESERVED_BYTES (UINT64_C(1) << 42)
#define SPARE_LEAST    (UINT64_C(8) << 20)

struct head {
    uint64_t offset, size_bytes; /* of the whole, in the arena */
};

struct hole {
    uint64_t offset, size_bytes;
};

static struct {
    struct cts_memory_options options;
    bool active, watching;
    bool is_over; /* what is outside the arena passes the limit */
    long page_bytes;
    int statm;
    uint64_t first_bytes;   /* resident without a file at the beginning */
    uint64_t program_bytes; /* resident of files that are not the arena's */
    uint64_t needed_bytes;
    struct {
        int64_t bytes; /* asked for, outside the arena */
        char alone[56];
    } stripes[STRIPES];   /* each thread counts in one */
    pthread_mutex_t lock; /* of what follows */
    int file;
    char *base;
    uint64_t end, held, peak; /* in the arena */
    struct hole holes[HOLES_MAX];
    size_t hole_count;
} memory = {.statm = -1, .file = -1, .lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- what is outside the arena ---- */

struct resident {
    uint64_t bytes, of_files_bytes;
};

static struct resident resident(void)
{
    char text[128];
    const ssize_t length = memory.statm < 0 ? -1 : pread(memory.statm, text, sizeof text - 1, 0);
    if (length <= 0) return (struct resident){0};
    text[length] = 0;
    char *at = text;
    (void)strtoull(at, &at, 10);
    const uint64_t all = strtoull(at, &at, 10), of_files = strtoull(at, NULL, 10);
    const uint64_t page_bytes = (uint64_t)memory.page_bytes;
    return (struct resident){all * page_bytes, of_files * page_bytes};
}

static void count(int64_t bytes)
{
    static unsigned threads;
    static _Thread_local unsigned own; /* 0: none yet */
    if (!own) own = 1 + __atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED) % STRIPES;
    __atomic_fetch_add(&memory.stripes[own - 1].bytes, bytes, __ATOMIC_RELAXED);
}

static uint64_t asked_bytes(void)
{
    int64_t sum = 0;
    for (unsigned i = 0; i < STRIPES; i++)
        sum += __atomic_load_n(&memory.stripes[i].bytes, __ATOMIC_RELAXED);
    return sum > 0 ? (uint64_t)sum : 0;
}

static uint64_t outside_bytes(void)
{
    const struct resident now = resident();
    const uint64_t asked = asked_bytes() + memory.first_bytes;
    const uint64_t anonymous = now.bytes - now.of_files_bytes;
    return (anonymous > asked ? anonymous : asked) +
           __atomic_load_n(&memory.program_bytes, __ATOMIC_RELAXED);
}

static uint64_t spare_bytes(void)
{
    const uint64_t part = memory.options.limit_bytes / 16;
    return part > SPARE_LEAST ? part : SPARE_LEAST;
}

/* The most that may be outside. */
static uint64_t upper_bytes(void)
{
    return memory.options.limit_bytes - spare_bytes() - CTS_WINDOWS_LEAST * cts_windows_bytes();
}

/* Gives the arena what is left of the limit; returns what is outside. */
static uint64_t look(void)
{
    const uint64_t outside = outside_bytes(), room = memory.options.limit_bytes - spare_bytes();
    __atomic_store_n(&memory.is_over, outside > upper_bytes(), __ATOMIC_RELAXED);
    cts_windows_set_room(outside < room ? room - outside : 0);
    return outside;
}

/* Also what malloc() keeps of what was freed. */
static uint64_t look_again(void)
{
    const uint64_t outside = look();
    if (outside <= upper_bytes()) return outside;
    malloc_trim(0);
    return look();
}

/* With nothing of the arena resident, what is resident of files is the program's. Runs in a handler
 * of a signal. */
static void note_program(void)
{
    __atomic_store_n(&memory.program_bytes, resident().of_files_bytes, __ATOMIC_RELAXED);
    (void)look();
}

static void *watch(void *state)
{
    const struct timespec pause = {.tv_nsec = LOOK_NS};
    (void)state;
    for (;;) {
        (void)look();
        (void)nanosleep(&pause, NULL);
    }
    return NULL;
}

/* Without the thread only allocations look. */
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

bool cts_memory_is_in_arena(const void *block)
{
    const char *const base = __atomic_load_n(&memory.base, __ATOMIC_ACQUIRE);
    return base && (const char *)block >= base && (const char *)block < base + RESERVED_BYTES;
}

bool cts_memory_has_arena(void)
{
    return __atomic_load_n(&memory.base, __ATOMIC_ACQUIRE) != NULL;
}

bool cts_memory_hold(const void *bytes, size_t byte_count)
{
    if (!cts_memory_is_in_arena(bytes)) return false;
    cts_windows_hold((uint64_t)((const char *)bytes - memory.base), byte_count);
    return true;
}

void cts_memory_let_go(void)
{
    cts_windows_let_go();
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
    if (memory.file < 0 || !cts_windows_begin(RESERVED_BYTES, note_program)) return false;
    __atomic_store_n(&memory.program_bytes, resident().of_files_bytes, __ATOMIC_RELAXED);
    __atomic_store_n(&memory.base, cts_windows_base(), __ATOMIC_RELEASE);
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
    return !posix_fallocate(memory.file, (off_t)offset, (off_t)size_bytes) &&
           cts_windows_map(memory.file, offset, size_bytes);
}

static void unmap_block(uint64_t offset, uint64_t size_bytes)
{
    cts_windows_unmap(offset, size_bytes);
    (void)fallocate(memory.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
                    (off_t)size_bytes);
}

static void *take_block(size_t size_bytes)
{
    const uint64_t unit = cts_windows_bytes();
    const uint64_t whole = ((uint64_t)size_bytes + HEAD_BYTES + unit - 1) / unit * unit;
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

static void *refuse(size_t size_bytes, uint64_t outside)
{
    const uint64_t needed =
        (outside + size_bytes) / 15 * 16 + (memory.options.limit_bytes - upper_bytes());
    if (needed > memory.needed_bytes) memory.needed_bytes = needed;
    errno = ENOMEM;
    return NULL;
}

/* Whether a large block, or so much more of one, has its place outside the arena: what is outside
 * keeps to half of the limit. It counts from here on, before anything of it is resident. */
static bool claim(size_t size_bytes)
{
    if (memory.options.all_to_arena) return false;
    const uint64_t half = memory.options.limit_bytes / 2;
    count((int64_t)size_bytes);
    const uint64_t outside = look();
    if (outside > half / 2) start_watching();
    if (outside <= half) return true;
    count(-(int64_t)size_bytes);
    return false;
}

/* Beyond the limit: an allocation that is not small fails. */
static bool is_refused(size_t size_bytes)
{
    static _Thread_local size_t asked;
    asked += size_bytes;
    if (asked >= ASKED_BYTES) {
        asked = 0;
        (void)look();
    }
    if (!__atomic_load_n(&memory.is_over, __ATOMIC_RELAXED) || size_bytes < SMALL_BYTES)
        return false;
    const uint64_t outside = look_again();
    if (outside <= upper_bytes()) return false;
    (void)refuse(size_bytes, outside);
    return true;
}

/* A block of the C library's is counted; `claimed` bytes of it are already. */
static void *counted(void *block, size_t claimed_bytes)
{
    count((int64_t)(block ? malloc_usable_size(block) : 0) - (int64_t)claimed_bytes);
    return block;
}

void *cts_memory_allocate(size_t size_bytes, bool zeroed)
{
    const bool large = is_large(size_bytes);
    if (large && !claim(size_bytes)) return take(size_bytes);
    if (!large && is_refused(size_bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return counted(zeroed ? memory.options.plain->calloc(1, size_bytes)
                          : memory.options.plain->malloc(size_bytes),
                   large ? size_bytes : 0);
}

void *cts_memory_allocate_aligned(size_t alignment, size_t size_bytes)
{
    const bool large = is_large(size_bytes) && alignment <= HEAD_BYTES;
    if (large && !claim(size_bytes)) return take(size_bytes);
    if (!large && is_refused(size_bytes)) return NULL;
    return counted(memory.options.plain->aligned_alloc(alignment, size_bytes),
                   large ? size_bytes : 0);
}

void cts_memory_give_back(void *block)
{
    if (!block) return;
    if (cts_memory_is_in_arena(block)) {
        drop(block);
    } else {
        count(-(int64_t)malloc_usable_size(block));
        memory.options.plain->free(block);
    }
}

static size_t room_of(void *block)
{
    return cts_memory_is_in_arena(block) ? (size_t)(head_of(block)->size_bytes - HEAD_BYTES)
                                         : malloc_usable_size(block);
}

static void *resize_plain(void *block, size_t room, size_t size_bytes, size_t claimed_bytes)
{
    void *const grown = memory.options.plain->realloc(block, size_bytes);
    if (grown) count((int64_t)malloc_usable_size(grown) - (int64_t)room - (int64_t)claimed_bytes);
    if (!grown) count(-(int64_t)claimed_bytes);
    return grown;
}

void *cts_memory_resize(void *block, size_t size_bytes)
{
    if (!block) return cts_memory_allocate(size_bytes, false);
    const size_t room = room_of(block);
    const bool is_arena = cts_memory_is_in_arena(block), large = is_large(size_bytes);
    if (is_arena && size_bytes <= room && size_bytes > room / 2) return block;
    if (!is_arena && (!large || size_bytes <= room)) {
        if (size_bytes > room && is_refused(size_bytes)) return NULL;
        return resize_plain(block, room, size_bytes, 0);
    }
    const size_t more = size_bytes > room ? size_bytes - room : 0;
    if (!is_arena && claim(more)) return resize_plain(block, room, size_bytes, more);
    void *const moved = cts_memory_allocate(size_bytes, false);
    if (!moved) return NULL;
    memcpy(moved, block, room < size_bytes ? room : size_bytes);
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
    if (options->limit_bytes < CTS_MEMORY_LIMIT_LEAST) {
        const uint64_t mib = CTS_MEMORY_LIMIT_LEAST >> 20;
        return cts_fail(error, CTS_LIMIT,
                        "a memory limit of %llu bytes is too small: at least %lluM",
                        (unsigned long long)options->limit_bytes, (unsigned long long)mib);
    }
    size_t window_bytes = WINDOW_LEAST;
    while (window_bytes < WINDOW_MOST && window_bytes < options->limit_bytes / WINDOW_PARTS)
        window_bytes *= 2;
    cts_windows_init(window_bytes);
    const struct resident now = resident();
    memory.first_bytes = now.bytes - now.of_files_bytes;
    memory.program_bytes = now.of_files_bytes;
    memory.active = true;
    if (options->watches) { /* what is given back leaves the process */
        mallopt(M_MMAP_THRESHOLD, BLOCK_BYTES);
        mallopt(M_TRIM_THRESHOLD, BLOCK_BYTES);
        start_watching();
    }
    return CTS_OK;
}
