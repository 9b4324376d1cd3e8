/* Lists of words and the pool that owns their texts. A driver that has no memory left has nothing
 * to save: it ends. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cc/cc.h"

void *cc_grow(void *array, size_t *capacity, size_t count, size_t size_bytes)
{
    if (count <= *capacity) return array;
    *capacity = *capacity ? *capacity * 2 : 16;
    array = reallocarray(array, *capacity, size_bytes);
    if (!array) {
        fputs("ctascope cc: out of memory\n", stderr);
        abort();
    }
    return array;
}

const char *cc_text(struct cc_pool *pool, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = NULL;
    if (vasprintf(&text, format, arguments) < 0) abort();
    va_end(arguments);
    pool->texts = cc_grow(pool->texts, &pool->capacity, pool->count + 1, sizeof *pool->texts);
    pool->texts[pool->count++] = text;
    return text;
}

void cc_list_add(struct cc_list *list, const char *text)
{
    list->items = cc_grow(list->items, &list->capacity, list->count + 2, sizeof *list->items);
    list->items[list->count++] = text;
    list->items[list->count] = NULL;
}

void cc_list_add_all(struct cc_list *list, const struct cc_list *more)
{
    for (size_t i = 0; i < more->count; i++) cc_list_add(list, more->items[i]);
}

void cc_list_release(struct cc_list *list)
{
    free(list->items);
    *list = (struct cc_list){0};
}

void cc_pool_release(struct cc_pool *pool)
{
    for (size_t i = 0; i < pool->count; i++) free(pool->texts[i]);
    free(pool->texts);
    *pool = (struct cc_pool){0};
}
