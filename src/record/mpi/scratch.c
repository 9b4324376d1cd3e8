#include "record/mpi/scratch.h"

#include <pthread.h>
#include <stdlib.h>

static __thread struct array {
    void *items;
    size_t capacity;
} arrays[CTS_SCRATCH_COUNT];
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void free_arrays(void *unused)
{
    (void)unused;
    for (int i = 0; i < CTS_SCRATCH_COUNT; i++) {
        free(arrays[i].items);
        arrays[i] = (struct array){0};
    }
}

static void make_key(void)
{
    pthread_key_create(&key, free_arrays);
}

void *cts_scratch(enum cts_scratch which, size_t count, size_t item_bytes)
{
    struct array *const array = &arrays[which];
    if (count <= array->capacity && array->items) return array->items;
    pthread_once(&once, make_key);
    pthread_setspecific(key, arrays);
    const size_t capacity = (count + 8) * 2;
    void *const larger = realloc(array->items, capacity * item_bytes);
    if (!larger) return NULL;
    *array = (struct array){larger, capacity};
    return larger;
}
