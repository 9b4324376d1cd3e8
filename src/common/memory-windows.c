/* Which windows are mapped and which are open is noted in two sets of bits, under a lock that a
 * signal handler can take: its holder touches no window. All open windows are closed together, in
 * two system calls: each window costs about one fault for each time round, and what is used all the
 * time comes back at once. */
#include "common/memory-windows.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

/* Each open window can split a mapping in two, of which a process has 65,530. */
enum { OPEN_MAX = 16384, WORD_BITS = 64, IN_VAIN_MAX = 1000 };

static struct {
    char *base;
    uint64_t stretch_bytes, used_bytes; /* used: up to the end of what was ever mapped */
    size_t window_bytes;
    void (*all_closed)(void);
    struct sigaction before;
    bool locked; /* what follows */
    uint64_t *mapped, *open;
    size_t open_count, open_max;
    unsigned held; /* while somebody holds what is open, all of it stays */
} windows;

static void lock(void)
{
    while (__atomic_test_and_set(&windows.locked, __ATOMIC_ACQUIRE)) sched_yield();
}

static void unlock(void)
{
    __atomic_clear(&windows.locked, __ATOMIC_RELEASE);
}

static bool get(const uint64_t *bits, size_t i)
{
    return bits[i / WORD_BITS] >> i % WORD_BITS & 1;
}

static void set(uint64_t *bits, size_t i, bool value)
{
    const uint64_t bit = UINT64_C(1) << i % WORD_BITS;
    bits[i / WORD_BITS] = value ? bits[i / WORD_BITS] | bit : bits[i / WORD_BITS] & ~bit;
}

/* The caller holds the lock. */
static void close_all(void)
{
    if (!windows.open_count || windows.held) return;
    (void)mprotect(windows.base, windows.used_bytes, PROT_NONE);
    (void)madvise(windows.base, windows.used_bytes, MADV_DONTNEED);
    const size_t count = windows.used_bytes / windows.window_bytes;
    memset(windows.open, 0, (count + WORD_BITS - 1) / WORD_BITS * sizeof *windows.open);
    __atomic_store_n(&windows.open_count, 0, __ATOMIC_RELAXED);
    windows.all_closed();
}

/* Whether somebody may touch the window now. That it is open already is no surprise, since another
 * thread may have opened it; again and again it means that this access faults in open ones, too (a
 * jump to it). */
static bool open_window(size_t i)
{
    static _Thread_local unsigned in_vain;
    lock();
    const bool is_mapped = get(windows.mapped, i), was_open = is_mapped && get(windows.open, i);
    bool is_open = was_open;
    if (is_mapped && !was_open) {
        char *const at = windows.base + i * windows.window_bytes;
        if (windows.open_count >= windows.open_max) close_all();
        is_open = mprotect(at, windows.window_bytes, PROT_READ | PROT_WRITE) == 0;
        if (!is_open) { /* too many mappings */
            close_all();
            is_open = mprotect(at, windows.window_bytes, PROT_READ | PROT_WRITE) == 0;
        }
        set(windows.open, i, is_open);
        __atomic_store_n(&windows.open_count, windows.open_count + is_open, __ATOMIC_RELAXED);
    }
    unlock();
    in_vain = was_open ? in_vain + 1 : 0;
    return is_open && in_vain < IN_VAIN_MAX;
}

/* A fault that is not ours takes its course: the instruction faults again, with the handler that
 * was there before. What somebody has sent is sent again. */
static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)context;
    const int errnum = errno;
    const uint64_t offset = (uint64_t)((char *)info->si_addr - windows.base);
    const bool is_ours = info->si_code == SEGV_ACCERR && (char *)info->si_addr >= windows.base &&
                         offset < windows.stretch_bytes;
    if (!is_ours || !open_window(offset / windows.window_bytes)) {
        (void)sigaction(number, &windows.before, NULL);
        if (info->si_code <= 0) (void)raise(number);
    }
    errno = errnum;
}

/* Again if somebody else has taken the signal since. */
static bool catch_faults(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_RESTART}, now;
    sigfillset(&action.sa_mask); /* another handler may touch a window, too */
    if (sigaction(SIGSEGV, NULL, &now)) return false;
    if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_fault) return true;
    windows.before = now;
    return sigaction(SIGSEGV, &action, NULL) == 0;
}

static void *reserve(uint64_t size_bytes, int protection)
{
    void *const at =
        mmap(NULL, size_bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

void cts_windows_init(size_t window_bytes)
{
    windows.window_bytes = window_bytes;
    windows.open_max = CTS_WINDOWS_LEAST;
}

bool cts_windows_begin(uint64_t stretch_bytes, void (*all_closed)(void))
{
    const uint64_t bits_bytes = stretch_bytes / windows.window_bytes / 8;
    char *const base = reserve(stretch_bytes, PROT_NONE);
    windows.mapped = reserve(bits_bytes, PROT_READ | PROT_WRITE);
    windows.open = reserve(bits_bytes, PROT_READ | PROT_WRITE);
    windows.stretch_bytes = stretch_bytes;
    windows.all_closed = all_closed;
    windows.base = base;
    if (base && windows.mapped && windows.open && catch_faults()) return true;
    if (base) (void)munmap(base, stretch_bytes);
    if (windows.mapped) (void)munmap(windows.mapped, bits_bytes);
    if (windows.open) (void)munmap(windows.open, bits_bytes);
    windows.base = NULL;
    return false;
}

char *cts_windows_base(void)
{
    return windows.base;
}

size_t cts_windows_bytes(void)
{
    return windows.window_bytes;
}

/* The caller holds the lock. */
static void note_mapped(uint64_t offset, uint64_t size_bytes, bool is_mapped)
{
    const size_t first = offset / windows.window_bytes;
    size_t were_open = 0;
    for (size_t i = first; i < first + size_bytes / windows.window_bytes; i++) {
        were_open += get(windows.open, i);
        set(windows.open, i, false);
        set(windows.mapped, i, is_mapped);
    }
    __atomic_store_n(&windows.open_count, windows.open_count - were_open, __ATOMIC_RELAXED);
    const uint64_t end = offset + size_bytes;
    if (windows.used_bytes < end) windows.used_bytes = end;
}

bool cts_windows_map(int file, uint64_t offset, uint64_t size_bytes)
{
    char *const at = windows.base + offset;
    lock();
    const bool is_mapped = catch_faults() && mmap(at, size_bytes, PROT_NONE, MAP_SHARED | MAP_FIXED,
                                                  file, (off_t)offset) != MAP_FAILED;
    /* Else one fault makes 2 MiB resident. */
    if (is_mapped) (void)madvise(at, size_bytes, MADV_NOHUGEPAGE);
    note_mapped(offset, size_bytes, is_mapped);
    unlock();
    return is_mapped;
}

void cts_windows_unmap(uint64_t offset, uint64_t size_bytes)
{
    lock();
    (void)mmap(windows.base + offset, size_bytes, PROT_NONE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    note_mapped(offset, size_bytes, false);
    unlock();
}

void cts_windows_hold(uint64_t offset, uint64_t size_bytes)
{
    const size_t first = offset / windows.window_bytes;
    const size_t end = (offset + size_bytes + windows.window_bytes - 1) / windows.window_bytes;
    lock();
    windows.held++;
    for (size_t i = first; i < end; i++) {
        if (!get(windows.mapped, i) || get(windows.open, i)) continue;
        if (mprotect(windows.base + i * windows.window_bytes, windows.window_bytes,
                     PROT_READ | PROT_WRITE))
            break;
        set(windows.open, i, true);
        __atomic_store_n(&windows.open_count, windows.open_count + 1, __ATOMIC_RELAXED);
    }
    unlock();
}

void cts_windows_let_go(void)
{
    lock();
    windows.held--;
    if (windows.open_count > windows.open_max) close_all();
    unlock();
}

void cts_windows_set_room(uint64_t bytes)
{
    size_t most = bytes / windows.window_bytes;
    if (most < CTS_WINDOWS_LEAST) most = CTS_WINDOWS_LEAST;
    if (most > OPEN_MAX) most = OPEN_MAX;
    __atomic_store_n(&windows.open_max, most, __ATOMIC_RELAXED);
    if (__atomic_load_n(&windows.open_count, __ATOMIC_RELAXED) <= most) return;
    lock();
    if (windows.open_count > windows.open_max) close_all();
    unlock();
}
