/* What comments promise, checked: an assertion says that we made a mistake, and ends the program.
 * Never of input. Builds with tests have them (CTS_ASSERTS); what is installed has not. Functions
 * that run for each access or event have none: figures are measured with those builds. */
#ifndef CTS_COMMON_PROMISE_H
#define CTS_COMMON_PROMISE_H

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Somebody holds the mutex, which is not recursive: "the caller holds the lock". */
#define CTS_ASSERT_HELD(mutex) assert(pthread_mutex_trylock(mutex) != 0)

/* An expression of the index `i` is true of all i below `count`, or of all from 1 on, where it
 * compares an item with the one before it: "ascending", "disjoint", "each once". */
#define CTS_ASSERT_EACH(i, count, is_true)                                                         \
    assert(__extension__({                                                                         \
        size_t i = 0;                                                                              \
        while (i < (size_t)(count) && (is_true)) i++;                                              \
        i == (size_t)(count);                                                                      \
    }))
#define CTS_ASSERT_ORDER(i, count, is_true)                                                        \
    assert(__extension__({                                                                         \
        size_t i = 1;                                                                              \
        while (i < (size_t)(count) && (is_true)) i++;                                              \
        i >= (size_t)(count);                                                                      \
    }))

static inline bool cts_is_power_of_two(size_t number)
{
    return number && !(number & (number - 1));
}

#endif
