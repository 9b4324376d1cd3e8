/* Preloaded into a process whose calls of the system are to fail: the n-th of one class does, once.
 *
 *   FAULT_PROGRAM  name of the program in whose processes calls are counted; others are left alone
 *   FAULT_CLASS    allocate, open, read, write, map, sync, thread
 *   FAULT_FIRST    which call of the class, from 1
 *   FAULT_ERRNO    what it fails with: a number, or "short": a read or write of one byte
 *   FAULT_REPORT   a file: a line with the call, and where it was called from, if one failed; with
 *                  FAULT_FIRST 0, how many calls of the class there were
 *   FAULT_TRACE    set: the report has the whole stack
 *   FAULT_SERVE    set: the process is started once, and forked before main() for each number that
 *                  comes in on its standard input (struct reply is what it answers); the children
 *                  write to FAULT_SERVE.out and FAULT_SERVE.err
 *   FAULT_PARTS    a file: lines "LIBRARY FIRST LAST KIND" with the addresses of a library's parts;
 *                  KIND r: a recorder, o or t: something else, c: used by both, -: passed over.
 * Then only the calls of recorders are counted: those whose innermost part on the stack, c left
 * out, is r FAULT_OTHERS a file: the places in parts of kind o that called, each once
 *
 * Streams of C are counted as well, since a library's own calls of read() and write() cannot be
 * seen from here. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#pragma GCC visibility push(default)

extern const char __cts_takes_calls;
const char __cts_takes_calls = 1; /* src/record/libc */

enum { PASS, FAIL, SHORT, STACK_MAX = 60 };

static struct {
    const char *class, *report;
    long first;
    int number;
    bool is_short, with_stack;
} wanted; /* .class NULL: count nothing */
static atomic_long calls;
static atomic_bool is_ready;
static struct reply {
    int status; /* of waitpid() */
    char report[60];
} *shared; /* with the children that are served; NULL: the report is a file */
static atomic_int full_file = -1; /* of a stream that met a full device, which stays full */

static void read_parts(const char *path);

/* What one child is: a process that has just been started. */
static void become_case(const char *outputs)
{
    static const char *const suffixes[] = {".out", ".err"};
    char path[4096];
    setsid();
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s%s", outputs, suffixes[i]);
        const int file =
            (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (file < 0 || dup2(file, 1 + i) < 0) _exit(99);
        syscall(SYS_close, file);
    }
    const int nothing = (int)syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY);
    if (nothing < 0 || dup2(nothing, 0) < 0) _exit(99);
    syscall(SYS_close, nothing);
    unsetenv("FAULT_SERVE");
}

/* Returns in the children alone. */
static void serve(const char *outputs)
{
    long first;
    shared = (struct reply *)syscall(SYS_mmap, NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                                     MAP_SHARED | MAP_ANONYMOUS, -1, (off_t)0);
    while (syscall(SYS_read, 0, &first, sizeof first) == sizeof first) {
        *shared = (struct reply){0};
        const pid_t child = fork();
        if (child < 0) _exit(99);
        if (!child) {
            wanted.first = first;
            become_case(outputs);
            return;
        }
        syscall(SYS_write, 1, &child, sizeof child);
        waitpid(child, &shared->status, 0);
        syscall(SYS_write, 1, shared, sizeof *shared);
    }
    _exit(0);
}

__attribute__((constructor)) static void start(void)
{
    const char *const program = getenv("FAULT_PROGRAM"), *const first = getenv("FAULT_FIRST");
    const char *const number = getenv("FAULT_ERRNO");
    void *stack[STACK_MAX];
    if (!program || !first || !number || strcmp(program, program_invocation_short_name) != 0)
        return;
    backtrace(stack, STACK_MAX); /* loads what it needs */
    wanted.class = getenv("FAULT_CLASS");
    wanted.report = getenv("FAULT_REPORT");
    wanted.first = strtol(first, NULL, 10);
    wanted.is_short = strcmp(number, "short") == 0;
    wanted.number = (int)strtol(number, NULL, 10);
    wanted.with_stack = getenv("FAULT_TRACE");
    if (getenv("FAULT_PARTS")) read_parts(getenv("FAULT_PARTS"));
    if (getenv("FAULT_SERVE")) serve(getenv("FAULT_SERVE"));
    atomic_store(&is_ready, wanted.class && wanted.report);
}

static void report(const char *call, long number)
{
    char line[100];
    void *stack[STACK_MAX];
    if (shared) {
        snprintf(shared->report, sizeof shared->report, "%s %ld", call, number);
        return;
    }
    const int file = (int)syscall(SYS_openat, AT_FDCWD, wanted.report,
                                  O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0) return;
    const int length = snprintf(line, sizeof line, "%s %ld\n", call, number);
    syscall(SYS_write, file, line, (size_t)length);
    if (wanted.with_stack) backtrace_symbols_fd(stack, backtrace(stack, STACK_MAX), file);
    syscall(SYS_close, file);
}

__attribute__((destructor)) static void end(void)
{
    if (atomic_load(&is_ready) && !wanted.first) report("calls", atomic_load(&calls));
}

/* ---- who calls ---- */

enum { PARTS_MAX = 6000, OTHERS_MAX = 4000, LIBRARY_BYTES = 40 };

static struct part {
    char library[LIBRARY_BYTES], kind;
    unsigned long first, last;
} parts[PARTS_MAX];
static unsigned part_count;
static int others_file = -1;
static unsigned long others[OTHERS_MAX];
static atomic_uint other_count;
static __thread bool is_looking __attribute__((tls_model("initial-exec")));

static void read_parts(const char *path)
{
    FILE *const file = fopen(path, "r");
    while (file && part_count < PARTS_MAX) {
        struct part *const part = &parts[part_count];
        if (fscanf(file, "%39s %lx %lx %c", part->library, &part->first, &part->last,
                   &part->kind) != 4)
            break;
        part_count++;
    }
    if (file) fclose(file);
    const char *const to = getenv("FAULT_OTHERS");
    if (to) others_file = open(to, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

/* '-': of a library without parts, through which a recorder may have called; 0: of the program. */
static char kind_of(const char *library, unsigned long place)
{
    static const char *const passed[] = {"libc.so",    "libsqlite3", "libzstd",
                                         "fault-shim", "ld-linux",   "libpthread"};
    for (unsigned i = 0; i < sizeof passed / sizeof *passed; i++)
        if (!strncmp(library, passed[i], strlen(passed[i]))) return '-';
    for (unsigned i = 0; i < part_count; i++)
        if (place >= parts[i].first && place <= parts[i].last && !strcmp(library, parts[i].library))
            return parts[i].kind;
    return 0;
}

static void note_other(unsigned long place)
{
    char line[40];
    const unsigned count = atomic_load(&other_count);
    for (unsigned i = 0; i < count; i++)
        if (others[i] == place) return;
    if (count == OTHERS_MAX) return;
    others[atomic_fetch_add(&other_count, 1)] = place;
    const int length = snprintf(line, sizeof line, "%lx\n", place);
    syscall(SYS_write, others_file, line, (size_t)length);
}

static bool is_of_recorder(void)
{
    void *stack[STACK_MAX];
    bool is_common = false;
    if (is_looking) return false;
    is_looking = true;
    const int depth = backtrace(stack, STACK_MAX);
    char kind = 0;
    for (int i = 0; i < depth; i++) {
        Dl_info info;
        if (!dladdr((char *)stack[i] - 1, &info) || !info.dli_fname) break;
        const char *const slash = strrchr(info.dli_fname, '/');
        const unsigned long place = (unsigned long)((char *)stack[i] - 1 - (char *)info.dli_fbase);
        kind = kind_of(slash ? slash + 1 : info.dli_fname, place);
        if (kind == 'c') is_common = true;
        if (kind == 'o' && others_file >= 0) note_other(place);
        if (kind != 'c' && kind != '-') break;
    }
    is_looking = false;
    return kind == 'r' || (is_common && kind != 'o' && kind != 't');
}

/* What is to become of this call. Reports no second time: only one call has the number. */
static int fate(const char *class, const char *call)
{
    if (!atomic_load_explicit(&is_ready, memory_order_relaxed) || strcmp(class, wanted.class) != 0)
        return PASS;
    if (part_count && !is_of_recorder()) return PASS;
    if (atomic_fetch_add(&calls, 1) + 1 != wanted.first) return PASS;
    report(call, wanted.first);
    if (wanted.is_short) return SHORT;
    errno = wanted.number;
    return FAIL;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* ---- memory: without dlsym(), which allocates ---- */

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

void *malloc(size_t bytes)
{
    return fate("allocate", "malloc") ? NULL : __libc_malloc(bytes);
}
void *calloc(size_t count, size_t bytes)
{
    return fate("allocate", "calloc") ? NULL : __libc_calloc(count, bytes);
}
void *realloc(void *old, size_t bytes)
{
    return fate("allocate", "realloc") ? NULL : __libc_realloc(old, bytes);
}
void *aligned_alloc(size_t alignment, size_t bytes)
{
    return fate("allocate", "aligned_alloc") ? NULL : __libc_memalign(alignment, bytes);
}
int posix_memalign(void **made, size_t alignment, size_t bytes)
{
    if (fate("allocate", "posix_memalign")) return ENOMEM;
    *made = __libc_memalign(alignment, bytes);
    return *made ? 0 : ENOMEM;
}

static void *map_next(void *at, size_t bytes, int protection, int flags, int file, off_t offset)
{
    return (void *)syscall(SYS_mmap, at, bytes, protection, flags, file, offset);
}
void *mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset)
{
    if (fate("map", "mmap")) return MAP_FAILED;
    return map_next(at, bytes, protection, flags, file, offset);
}
void *mmap64(void *at, size_t bytes, int protection, int flags, int file, off_t offset)
{
    return mmap(at, bytes, protection, flags, file, offset);
}
void *mremap(void *old, size_t old_bytes, size_t bytes, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    void *const to = flags & MREMAP_FIXED ? va_arg(arguments, void *) : NULL;
    va_end(arguments);
    if (fate("map", "mremap")) return MAP_FAILED;
    return (void *)syscall(SYS_mremap, old, old_bytes, bytes, flags, to);
}

/* ---- opening ---- */

#define MODE(flags, mode)                                                                          \
    va_list arguments;                                                                             \
    va_start(arguments, flags);                                                                    \
    const mode_t mode =                                                                            \
        (flags) & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY)) ? va_arg(arguments, mode_t) : 0;          \
    va_end(arguments)

int openat(int directory, const char *path, int flags, ...)
{
    MODE(flags, mode);
    if (fate("open", "openat")) return -1;
    return (int)syscall(SYS_openat, directory, path, flags, mode);
}
int openat64(int directory, const char *path, int flags, ...)
{
    MODE(flags, mode);
    return openat(directory, path, flags, mode);
}
int open(const char *path, int flags, ...)
{
    MODE(flags, mode);
    return openat(AT_FDCWD, path, flags, mode);
}
int open64(const char *path, int flags, ...)
{
    MODE(flags, mode);
    return openat(AT_FDCWD, path, flags, mode);
}
int __open_2(const char *path, int flags)
{
    return openat(AT_FDCWD, path, flags);
}
int __open64_2(const char *path, int flags)
{
    return openat(AT_FDCWD, path, flags);
}
FILE *fopen(const char *path, const char *mode)
{
    return fate("open", "fopen") ? NULL : NEXT(fopen)(path, mode);
}
FILE *fopen64(const char *path, const char *mode)
{
    return fopen(path, mode);
}
DIR *opendir(const char *path)
{
    return fate("open", "opendir") ? NULL : NEXT(opendir)(path);
}
int scandir(const char *path, struct dirent ***entries, int (*filter)(const struct dirent *),
            int (*compare)(const struct dirent **, const struct dirent **))
{
    return fate("open", "scandir") ? -1 : NEXT(scandir)(path, entries, filter, compare);
}

/* ---- reading and writing ---- */

static size_t shortened(int fate, size_t bytes)
{
    return fate == SHORT && bytes > 1 ? 1 : bytes;
}

ssize_t read(int file, void *bytes, size_t count)
{
    const int f = fate("read", "read");
    return f == FAIL ? -1 : syscall(SYS_read, file, bytes, shortened(f, count));
}
ssize_t __read_chk(int file, void *bytes, size_t count, size_t room)
{
    (void)room;
    return read(file, bytes, count);
}
ssize_t pread(int file, void *bytes, size_t count, off_t offset)
{
    const int f = fate("read", "pread");
    return f == FAIL ? -1 : syscall(SYS_pread64, file, bytes, shortened(f, count), offset);
}
ssize_t pread64(int file, void *bytes, size_t count, off_t offset)
{
    return pread(file, bytes, count, offset);
}
ssize_t __pread_chk(int file, void *bytes, size_t count, off_t offset, size_t room)
{
    (void)room;
    return pread(file, bytes, count, offset);
}
/* In memory, or with functions that call write() themselves. */
static bool is_without_file(FILE *file)
{
    return file->_fileno < 0;
}

/* The C library leaves the number as malloc() gave it. */
FILE *open_memstream(char **text, size_t *text_bytes)
{
    FILE *const memory = NEXT(open_memstream)(text, text_bytes);
    if (memory) memory->_fileno = -1;
    return memory;
}

/* What the C library does after read() has failed: it came short, and there is an error. */
size_t fread(void *items, size_t item_bytes, size_t count, FILE *file)
{
    if (fate("read", "fread") != FAIL) return NEXT(fread)(items, item_bytes, count, file);
    file->_flags |= 0x20;
    return 0;
}
/* A stream whose write failed. */
static void spoil(FILE *file)
{
    file->_flags |= 0x20;
    if (wanted.number == ENOSPC) atomic_store(&full_file, file->_fileno);
}
ssize_t write(int file, const void *bytes, size_t count)
{
    if (file >= 0 && file == atomic_load(&full_file)) {
        errno = ENOSPC;
        return -1;
    }
    const int f = fate("write", "write");
    return f == FAIL ? -1 : syscall(SYS_write, file, bytes, shortened(f, count));
}
ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset)
{
    const int f = fate("write", "pwrite");
    return f == FAIL ? -1 : syscall(SYS_pwrite64, file, bytes, shortened(f, count), offset);
}
ssize_t pwrite64(int file, const void *bytes, size_t count, off_t offset)
{
    return pwrite(file, bytes, count, offset);
}
size_t fwrite(const void *items, size_t item_bytes, size_t count, FILE *file)
{
    if (is_without_file(file) || fate("write", "fwrite") != FAIL)
        return NEXT(fwrite)(items, item_bytes, count, file);
    spoil(file);
    errno = wanted.number;
    return 0;
}
int fflush(FILE *file)
{
    if (!file || is_without_file(file) || fate("write", "fflush") != FAIL)
        return NEXT(fflush)(file);
    spoil(file);
    errno = wanted.number;
    return EOF;
}
int fclose(FILE *file)
{
    const int f = is_without_file(file) ? PASS : fate("write", "fclose"), number = errno;
    const int code = NEXT(fclose)(file);
    if (f == FAIL) errno = number;
    return f == FAIL ? EOF : code;
}
int ftruncate(int file, off_t bytes)
{
    return fate("write", "ftruncate") == FAIL ? -1 : (int)syscall(SYS_ftruncate, file, bytes);
}
int ftruncate64(int file, off_t bytes)
{
    return ftruncate(file, bytes);
}
int posix_fallocate(int file, off_t offset, off_t bytes)
{
    return fate("write", "posix_fallocate") == FAIL ? wanted.number
                                                    : NEXT(posix_fallocate)(file, offset, bytes);
}

/* ---- the rest ---- */

int fsync(int file)
{
    return fate("sync", "fsync") ? -1 : (int)syscall(SYS_fsync, file);
}
int fdatasync(int file)
{
    return fate("sync", "fdatasync") ? -1 : (int)syscall(SYS_fdatasync, file);
}
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument)
{
    if (fate("thread", "pthread_create")) return wanted.number;
    return NEXT(pthread_create)(thread, attributes, run, argument);
}
