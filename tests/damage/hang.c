/* Preloaded: stops a verb in the HANG_AT-th call of the function HANG_IN, after it has made the
 * file HANG_MARK. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *enter(const char *name)
{
    static int calls;
    const char *const wanted = getenv("HANG_IN"), *const at = getenv("HANG_AT");
    if (wanted && strcmp(wanted, name) == 0 && ++calls == (at ? atoi(at) : 1)) {
        close(open(getenv("HANG_MARK"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
        for (;;) pause();
    }
    return dlsym(RTLD_NEXT, name);
}

#define HOOK(name, parameters, arguments)                                                          \
    int name parameters                                                                            \
    {                                                                                              \
        int(*next) parameters;                                                                     \
        *(void **)&next = enter(#name);                                                            \
        return next arguments;                                                                     \
    }

HOOK(rename, (const char *from, const char *to), (from, to))
HOOK(unlinkat, (int folder, const char *name, int flags), (folder, name, flags))
HOOK(sqlite3_open_v2, (const char *path, void **db, int flags, const char *vfs),
     (path, db, flags, vfs))
HOOK(sqlite3_close, (void *db), (db))
HOOK(OTF2_Archive_Close, (void *archive), (archive))
