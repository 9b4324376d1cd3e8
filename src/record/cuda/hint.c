/* Names of allocations, in a program that `ctascope cc --device=cuda` links: its host code calls
 * __cts_allocation_hint() before each allocation (instrument/host-allocations.c). Where the program
 * is recorded, the driver is going to load the recorder, which has a function of that name; it is
 * loaded here already, since the first hint comes before the driver's start. Elsewhere nothing
 * happens. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "record/abi.h"

typedef void hint_function(const struct cts_allocation_desc *allocation);
static hint_function *recorder;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find_recorder(void)
{
    const char *const path = getenv("CUDA_INJECTION64_PATH");
    const char *const slash = path ? strrchr(path, '/') : NULL;
    if (!slash || strcmp(slash, "/libctascope_memory.so") != 0) return;
    void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *const function = library ? dlsym(library, "__cts_allocation_hint") : NULL;
    memcpy(&recorder, &function, sizeof recorder);
}

void __cts_allocation_hint(const struct cts_allocation_desc *allocation)
{
    pthread_once(&once, find_recorder);
    if (recorder) recorder(allocation);
}
