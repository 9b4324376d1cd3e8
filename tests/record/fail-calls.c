/* Preloaded into a program that is recorded: system calls that a recorder makes fail.
 *
 *   FAIL_CALL   open, fallocate, map, truncate, thread, flock, pwrite
 *   FAIL_PATH   open: only of files whose path holds this
 *   FAIL_FIRST  the first call that fails, from 1
 *   FAIL_COUNT  how many fail from there
 *   FAIL_ERRNO  a number */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#pragma GCC visibility push(default)
extern const char __cts_takes_calls;
const char __cts_takes_calls = 1; /* src/record/libc */
static atomic_int calls;

static long number(const char *name, long otherwise)
{
    const char *const text = getenv(name);
    return text ? strtol(text, NULL, 10) : otherwise;
}

static int fails(const char *call)
{
    const char *const wanted = getenv("FAIL_CALL");
    if (!wanted || strcmp(wanted, call) != 0) return 0;
    const long now = atomic_fetch_add(&calls, 1) + 1, first = number("FAIL_FIRST", 1);
    if (now < first || now - first >= number("FAIL_COUNT", 1)) return 0;
    errno = (int)number("FAIL_ERRNO", EIO);
    return 1;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int open_fails(const char *path)
{
    const char *const part = getenv("FAIL_PATH");
    return part && strstr(path, part) && fails("open");
}

int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return open_fails(path) ? -1 : NEXT(open)(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return open_fails(path) ? -1 : NEXT(open)(path, flags, mode);
}

int posix_fallocate(int fd, off_t offset, off_t length)
{
    return fails("fallocate") ? errno : NEXT(posix_fallocate)(fd, offset, length);
}

void *mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset)
{
    if ((flags & MAP_SHARED) && fd >= 0 && fails("map")) return MAP_FAILED;
    return NEXT(mmap)(at, length, protection, flags, fd, offset);
}

int ftruncate(int fd, off_t length)
{
    return fails("truncate") ? -1 : NEXT(ftruncate)(fd, length);
}

int flock(int fd, int operation)
{
    return fails("flock") ? -1 : NEXT(flock)(fd, operation);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset)
{
    return fails("pwrite") ? -1 : NEXT(pwrite)(fd, bytes, count, offset);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument)
{
    if (fails("thread")) return errno;
    return NEXT(pthread_create)(thread, attributes, run, argument);
}
