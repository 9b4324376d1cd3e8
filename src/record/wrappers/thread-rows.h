/* A recorder's side of thread-calls.h: what libctascope_threads.so sees becomes rows of
 * thread_order. Where that is not preloaded, nothing happens. */
#ifndef CTS_RECORD_WRAPPERS_THREAD_ROWS_H
#define CTS_RECORD_WRAPPERS_THREAD_ROWS_H

#include "record/wrappers/thread-calls.h"
#include "trace/catalogue.h"

/* `watcher`: without follows(). The catalogue stays open until stop() has returned. */
void cts_thread_rows_start(struct cts_catalogue_writer *catalogue,
                           const struct cts_thread_watcher *watcher);
void cts_thread_rows_stop(void);

/* The calling thread has got its number. */
void cts_thread_rows_attach(uint32_t thread);
/* `thread` begins op. */
void cts_thread_rows_begin(uint32_t thread, uint64_t op);

#endif
