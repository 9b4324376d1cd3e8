/* What callbacks write into the run. */
#include "memory-run.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "record/wrappers/thread-rows.h"

struct cts_memory_run cts_memory_run;

/* Callbacks run on the thread that called. Its device and the function's name are not known here.
 */
uint64_t cts_memory_op(void)
{
    static _Atomic uint32_t threads;
    static __thread uint32_t thread; /* + 1 */
    if (!thread) {
        thread = atomic_fetch_add(&threads, 1) + 1;
        cts_thread_rows_attach(thread - 1);
    }
    const struct cts_host_call row = {.rank = cts_memory_run.rank,
                                      .op = cts_catalogue_next_op(cts_memory_run.catalogue),
                                      .thread = thread - 1,
                                      .stream = CTS_NONE};
    cts_catalogue_add_call(cts_memory_run.catalogue, &row);
    cts_thread_rows_begin(row.thread, row.op);
    return row.op;
}

/* What threads do has its op at once. */
static bool have_booked(void)
{
    return true;
}

/* The driver's and the runtime's own locks, which order nothing that the program may rely on, look
 * like the program's. */
void cts_memory_run_watch_threads(void)
{
    static const struct cts_thread_watcher watcher = {
        .with_locks = false, .book = have_booked, .book_all = have_booked};
    cts_thread_rows_start(cts_memory_run.catalogue, &watcher);
}

void cts_memory_say(const char *severity, const char *format, ...)
{
    char text[900];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cts_catalogue_add_message(cts_memory_run.catalogue, severity, text);
    if (strcmp(severity, "error") != 0) return;
    struct cts_error error;
    cts_fail(&error, CTS_UNSUPPORTED, "%s", text);
    cts_collector_fail(cts_memory_run.collector, &error);
}
