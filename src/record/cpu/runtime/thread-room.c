#include "thread-room.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct block {
    struct block *next;
    void **room;
    _Alignas(max_align_t) unsigned char bytes[];
};

static pthread_key_t thread_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_key;

/* A destructor that runs after this one may ask again: then this one runs once more. */
static void free_blocks(void *argument)
{
    struct block *next;
    for (struct block *block = argument; block; block = next) {
        next = block->next;
        *block->room = NULL;
        free(block);
    }
}

static void make_key(void)
{
    has_key = pthread_key_create(&thread_end, free_blocks) == 0;
}

static void *new_block(void **room, size_t bytes)
{
    struct block *const block = calloc(1, sizeof *block + bytes);
    if (!block) return NULL;
    block->room = room;
    pthread_once(&once, make_key);
    if (has_key) { /* without one it stays until the process ends */
        block->next = pthread_getspecific(thread_end);
        pthread_setspecific(thread_end, block);
    }
    return *room = block->bytes;
}

void *cts_thread_room(void **room, size_t bytes)
{
    return *room ? *room : new_block(room, bytes);
}
