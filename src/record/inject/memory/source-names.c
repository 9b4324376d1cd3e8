/* Names of functions and files, as the user has them. */
#include "source-names.h"

#include <dlfcn.h>
#include <string.h>

/* nvcc puts what is static into a namespace of the file, _INTERNAL_..., that sources do not show.
 */
static void remove_internal(char *text)
{
    char *at;
    while ((at = strstr(text, "_INTERNAL_")) != NULL) {
        const size_t length = strspn(at, "_0123456789abcdefghijklmnopqrstuvwxyz"
                                         "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        if (strncmp(at + length, "::", 2) != 0) return;
        memmove(at, at + length + 2, strlen(at + length + 2) + 1);
    }
}

char *cts_memory_demangled(const char *name)
{
    static char *(*demangle)(const char *, char *, size_t *, int *);
    if (!demangle) { /* the same for every thread */
        void *const library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
        if (library) *(void **)&demangle = dlsym(library, "__cxa_demangle");
    }
    int status = 0;
    char *const text =
        demangle && strncmp(name, "_Z", 2) == 0 ? demangle(name, NULL, NULL, &status) : NULL;
    if (!text) return strdup(name);
    /* the name of a template begins with what it returns, which sources do not show */
    if (strncmp(text, "void ", 5) == 0) memmove(text, text + 5, strlen(text + 5) + 1);
    remove_internal(text);
    return text;
}

bool cts_memory_is_of_toolkit(const char *path)
{
    return strstr(path, "/cuda") && strstr(path, "/include/");
}
