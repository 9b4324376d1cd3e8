/* Which ops of a process's host threads are ordered, as seen from outside: libctascope_threads.so
 * is preloaded into recorded programs, stands in front of the functions with which threads create,
 * join, lock and wait, and tells the recorder of the process what follows what.
 *
 * An *op* is what the recorder numbers (docs/catalogue.md); a thread's *number* is the recorder's,
 * too. */
#ifndef CTS_RECORD_WRAPPERS_THREADS_H
#define CTS_RECORD_WRAPPERS_THREADS_H

#include <stdbool.h>
#include <stdint.h>

enum { CTS_THREAD_ORDER_VERSION = 1 };

/* What the recorder does when asked. Calls come from any thread of the program. */
struct cts_thread_watcher {
    /* Locks, semaphores and barriers count, too; otherwise only the begin and end of threads: where
     * code that is no part of the program (a driver) takes locks that order nothing. */
    bool with_locks;
    /* Gives an op to what the calling thread has done and has no op yet. False: this thread is
     * inside the recorder (a signal's handler asks), or nothing is recorded any more. */
    bool (*book)(void);
    /* The same for all threads. */
    bool (*book_all)(void);
    /* All that `after`'s thread did up to `after` happened before op. */
    void (*follows)(uint64_t op, uint64_t after);
};

struct cts_thread_order {
    uint32_t version;
    /* Begins, with a watcher that lives on; NULL ends, and returns when no other thread is in the
     * watcher's functions. */
    void (*watch)(const struct cts_thread_watcher *watcher);
    /* The calling thread has this number. */
    void (*attach)(uint32_t number);
    /* The thread of this number begins op; may be called from another one. Calls follows(). */
    void (*begin_op)(uint32_t number, uint64_t op);
};

/* By its name, "ctascope_thread_order", where the library is preloaded. */
typedef const struct cts_thread_order *cts_thread_order_get(void);

#endif
