/* A recorder lives in programs that may define functions of the C library's names: a mkdir() of the
 * program's own would be called by every library of the process, also by the recorder. So a
 * recorder has functions of these names, which nobody else sees (libc-calls.S), and which call
 * those of the C library, looked up in it alone.
 *
 * Left to the program are: memory (malloc and its kin, memcpy and its kin), threads (pthread_*),
 * signals, and the dynamic linker. A program that replaces these means them for all its libraries.
 *
 * Whoever exports __cts_takes_calls takes these calls nevertheless: tests let calls fail with it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

#define CALL(name) #name,
static const char *const names[] = {
#include "record/libc/names.inc"
};
#undef CALL

enum { NAME_COUNT = sizeof names / sizeof *names };

extern void *cts_libc_calls[NAME_COUNT];

void cts_libc_find(void);

/* Before whatever else the recorder does when it is loaded. Threads that come here at once write
 * the same. */
__attribute__((constructor(101))) void cts_libc_find(void)
{
    const int saved = errno;
    void *handle = RTLD_DEFAULT;
    if (!dlsym(RTLD_DEFAULT, "__cts_takes_calls"))
        handle = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    for (unsigned i = 0; i < NAME_COUNT; i++) {
        void *const call = dlsym(handle, names[i]);
        __atomic_store_n(&cts_libc_calls[i], call ? call : (void *)abort, __ATOMIC_RELEASE);
    }
    errno = saved;
}
