/* The arrays that the program has made. */
#include <pthread.h>

#include "array-table.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cudaArray *arrays;

bool cts_array_is_known(const struct cudaArray *array)
{
    pthread_mutex_lock(&lock);
    const struct cudaArray *known = arrays;
    while (known && known != array) known = known->next;
    pthread_mutex_unlock(&lock);
    return !array || known;
}

void cts_array_insert(struct cudaArray *array)
{
    pthread_mutex_lock(&lock);
    array->next = arrays;
    arrays = array;
    pthread_mutex_unlock(&lock);
}

bool cts_array_take(const struct cudaArray *array)
{
    pthread_mutex_lock(&lock);
    struct cudaArray **place = &arrays;
    while (*place && *place != array) place = &(*place)->next;
    const bool known = *place != NULL;
    if (known) *place = array->next;
    pthread_mutex_unlock(&lock);
    return known;
}
