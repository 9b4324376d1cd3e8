/* What callbacks write into the run. */
#include "memory-run.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "record/wrappers/thread-rows.h"

struct cts_memory_run cts_memory_run;

static _Atomic bool is_over;

void cts_memory_run_end(void)
{
    atomic_store(&is_over, true);
}

bool cts_memory_run_is_over(void)
{
    return atomic_load_explicit(&is_over, memory_order_relaxed);
}

/* ---- operations ---- */

static __thread struct {
    const char *api; /* NULL: in none that is followed */
    CUcontext context;
} call;

void cts_memory_api_begin(const char *name, CUcontext context)
{
    if (call.api) return;
    call.api = name;
    call.context = context;
}

void cts_memory_api_end(const char *name)
{
    if (call.api != name) return;
    call.api = NULL;
    call.context = NULL;
}

CUcontext cts_memory_api_context(void)
{
    return call.context;
}

/* Callbacks run on the thread that called. */
uint32_t cts_memory_thread(void)
{
    static _Atomic uint32_t threads;
    static __thread uint32_t thread; /* + 1 */
    if (!thread) {
        thread = atomic_fetch_add(&threads, 1) + 1;
        cts_thread_rows_attach(thread - 1);
    }
    return thread - 1;
}

uint64_t cts_memory_op_in(uint32_t device, uint32_t stream)
{
    const struct cts_host_call row = {.rank = cts_memory_run.rank,
                                      .op = cts_catalogue_next_op(cts_memory_run.catalogue),
                                      .thread = cts_memory_thread(),
                                      .device = device,
                                      .stream = stream,
                                      .api = call.api};
    cts_catalogue_add_call(cts_memory_run.catalogue, &row);
    cts_thread_rows_begin(row.thread, row.op);
    return row.op;
}

uint64_t cts_memory_op(uint32_t device)
{
    return cts_memory_op_in(device, CTS_NONE);
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
