/* A table of paths that the handler of a signal reads. The handler calls what POSIX allows in one,
 * and getdents64(), which is a system call and nothing else. It runs on the first thread, which
 * would otherwise go on and report that its files are gone; other threads may go on writing, so
 * that a folder is emptied until it can be removed. */
#include "common/unfinished.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SLOTS = 8, DEPTH_MAX = 4, PASSES = 100 };

static struct slot {
    _Atomic bool is_used; /* what follows is complete */
    enum cts_unfinished_kind kind;
    char path[PATH_MAX], home[PATH_MAX];
} slots[SLOTS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned used_count;
static pid_t owner; /* not a child that has yet to call exec */
static _Atomic bool is_ended;

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
enum { NUMBER_COUNT = sizeof numbers / sizeof *numbers };
static struct sigaction before[NUMBER_COUNT];

/* ---- in the handler ---- */

struct entry { /* as the kernel writes it */
    uint64_t inode;
    int64_t next;
    uint16_t bytes;
    uint8_t type;
    char name[];
};

static void remove_tree(int parent, const char *name, int depth);

static void empty(int folder, int depth)
{
    _Alignas(struct entry) char entries[2048];
    long count;
    while ((count = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0)
        for (long at = 0; at < count;) {
            const struct entry *const entry = (const struct entry *)(const void *)(entries + at);
            at += entry->bytes;
            if (!strcmp(entry->name, ".") || !strcmp(entry->name, "..")) continue;
            if (unlinkat(folder, entry->name, 0) && depth)
                remove_tree(folder, entry->name, depth - 1);
        }
}

static void remove_tree(int parent, const char *name, int depth)
{
    const int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) return;
    for (int pass = 0; pass < PASSES; pass++) {
        (void)lseek(folder, 0, SEEK_SET);
        empty(folder, depth);
        if (!unlinkat(parent, name, AT_REMOVEDIR)) break;
    }
    close(folder);
}

/* Where the new run has not begun to exist; half of its catalogue is nothing. */
static void give_back(const struct slot *run)
{
    static const char *const names[] = {"run.db", "run.db-wal", "run.db-shm", "run.db-journal"};
    if (!rename(run->path, run->home) || (errno != ENOTEMPTY && errno != EEXIST)) return;
    const int folder = open(run->home, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    for (size_t i = 0; folder >= 0 && i < sizeof names / sizeof *names; i++)
        (void)unlinkat(folder, names[i], 0);
    if (folder >= 0) close(folder);
    (void)!rename(run->path, run->home);
}

/* Others may have put something beside it. */
static void remove_archive(const char *path)
{
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;
    remove_tree(folder, "traces", DEPTH_MAX);
    (void)unlinkat(folder, "traces.def", 0);
    (void)unlinkat(folder, "traces.otf2", 0);
    close(folder);
}

static void clean(const struct slot *slot)
{
    switch (slot->kind) {
    case CTS_UNFINISHED_FILE:
        (void)unlink(slot->path);
        break;
    case CTS_UNFINISHED_FOLDER:
        remove_tree(AT_FDCWD, slot->path, DEPTH_MAX);
        break;
    case CTS_UNFINISHED_ARCHIVE:
        remove_archive(slot->path);
        break;
    case CTS_UNFINISHED_RUN:
        give_back(slot);
        break;
    }
}

static void on_signal(int number)
{
    const int errnum = errno;
    const pid_t process = getpid();
    if (process == owner && (pid_t)syscall(SYS_gettid) != process) {
        (void)syscall(SYS_tgkill, process, process, number);
        errno = errnum;
        return;
    }
    if (process == owner) {
        atomic_store(&is_ended, true);
        for (size_t i = 0; i < SLOTS; i++)
            if (atomic_load(&slots[i].is_used)) clean(&slots[i]);
    }
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    sigset_t this_one;
    sigemptyset(&this_one);
    sigaddset(&this_one, number);
    sigaction(number, &usual, NULL);
    (void)syscall(SYS_tgkill, process, syscall(SYS_gettid), number);
    pthread_sigmask(SIG_UNBLOCK, &this_one, NULL);
    _exit(128 + number); /* not reached */
}

/* ---- the table ---- */

static void watch(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    for (size_t i = 0; i < NUMBER_COUNT; i++) sigaddset(&action.sa_mask, numbers[i]);
    for (size_t i = 0; i < NUMBER_COUNT; i++)
        if (!sigaction(numbers[i], NULL, &before[i]) && before[i].sa_handler == SIG_DFL)
            sigaction(numbers[i], &action, NULL);
}

static void unwatch(void)
{
    for (size_t i = 0; i < NUMBER_COUNT; i++)
        if (before[i].sa_handler == SIG_DFL) sigaction(numbers[i], &before[i], NULL);
}

int cts_unfinished_add(enum cts_unfinished_kind kind, const char *path, const char *home)
{
    int number = -1;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < SLOTS && number < 0; i++)
        if (!atomic_load(&slots[i].is_used)) number = i;
    struct slot *const slot = number < 0 ? NULL : &slots[number];
    if (!slot || (size_t)snprintf(slot->path, sizeof slot->path, "%s", path) >= sizeof slot->path ||
        (size_t)snprintf(slot->home, sizeof slot->home, "%s", home ? home : "") >=
            sizeof slot->home)
        number = -1;
    if (number >= 0) {
        owner = getpid();
        if (!used_count++) watch();
        slot->kind = kind;
        atomic_store(&slot->is_used, true);
    }
    pthread_mutex_unlock(&lock);
    return number;
}

void cts_unfinished_made(void)
{
    if (!atomic_load(&is_ended)) return;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < SLOTS; i++)
        if (atomic_load(&slots[i].is_used)) clean(&slots[i]);
    static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    for (;;) pthread_cond_wait(&never, &lock); /* the first thread is ending the process */
}

void cts_unfinished_done(int number)
{
    if (number < 0) return;
    pthread_mutex_lock(&lock);
    atomic_store(&slots[number].is_used, false);
    if (!--used_count) unwatch();
    pthread_mutex_unlock(&lock);
}

/* ---- what others have left ---- */

static bool is_gone(const char *digits)
{
    char *end;
    errno = 0;
    const long process = strtol(digits, &end, 10);
    if (!isdigit((unsigned char)*digits) || *end || errno || process <= 0 || process > INT_MAX)
        return false;
    return kill((pid_t)process, 0) != 0 && errno == ESRCH;
}

/* The part of a name that the mark and the number of a process that is gone follow; 0: they do not.
 */
static size_t base_length(const char *name, const char *mark)
{
    const char *last = NULL;
    for (const char *at = name; (at = strstr(at, mark)); at++) last = at;
    return last && is_gone(last + strlen(mark)) ? (size_t)(last - name) : 0;
}

void cts_unfinished_sweep(const char *target, const char *mark, cts_unfinished_found *found)
{
    static char clean[PATH_MAX]; /* the last folder and mark where nothing had been left */
    const int errnum = errno;
    char folder[PATH_MAX], path[PATH_MAX];
    const char *const slash = strrchr(target, '/'), *const base = slash ? slash + 1 : target;
    if ((size_t)snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash + 1 - target) : 2,
                         slash ? target : "./") >= sizeof folder)
        return;
    if ((size_t)snprintf(path, sizeof path, "%s%s", folder, mark) >= sizeof path) return;
    pthread_mutex_lock(&lock);
    const bool is_clean = strcmp(path, clean) == 0;
    pthread_mutex_unlock(&lock);
    DIR *const stream = is_clean ? NULL : opendir(folder);
    const struct dirent *entry;
    bool any = false;
    while (stream && (entry = readdir(stream))) {
        const size_t length = base_length(entry->d_name, mark);
        if (!length) continue;
        any = true;
        if (length == strlen(base) && strncmp(entry->d_name, base, length) == 0 &&
            (size_t)snprintf(path, sizeof path, "%s%s", folder, entry->d_name) < sizeof path)
            found(dirfd(stream), entry->d_name, path);
    }
    if (stream && !any) {
        pthread_mutex_lock(&lock);
        snprintf(clean, sizeof clean, "%s%s", folder, mark);
        pthread_mutex_unlock(&lock);
    }
    if (stream) closedir(stream);
    errno = errnum;
}
