#include "record/wrappers/thread-rows.h"

#include <dlfcn.h>
#include <stddef.h>

static struct cts_catalogue_writer *catalogue;
static struct cts_thread_watcher watcher;
static const struct cts_thread_order *order; /* NULL: the library is not preloaded */

/* Looked up while nothing of ours is held: the dynamic linker waits for a thread that loads a
 * library, and whose constructor may be waiting for our start. */
static cts_thread_order_get *get_order;
static bool has_thread_sanitizer;

__attribute__((constructor)) static void find(void)
{
    *(void **)(void *)&get_order = dlsym(RTLD_DEFAULT, "ctascope_thread_order");
    has_thread_sanitizer = dlsym(RTLD_DEFAULT, "__tsan_init") != NULL;
}

static void follows(uint64_t op, uint64_t after)
{
    const struct cts_thread_edge row = {cts_catalogue_rank(catalogue), op, after};
    cts_catalogue_add_thread_edge(catalogue, &row);
}

void cts_thread_rows_start(struct cts_catalogue_writer *writer,
                           const struct cts_thread_watcher *given)
{
    const struct cts_thread_order *const found = get_order ? get_order() : NULL;
    if (!found || found->version != CTS_THREAD_ORDER_VERSION) return;
    catalogue = writer;
    watcher = *given;
    watcher.follows = follows;
    /* All calls seem to come from the thread sanitizer, our own, too. */
    if (has_thread_sanitizer) watcher.with_locks = false;
    order = found;
    order->watch(&watcher);
}

void cts_thread_rows_stop(void)
{
    if (order) order->watch(NULL);
}

void cts_thread_rows_attach(uint32_t thread)
{
    if (order) order->attach(thread);
}

void cts_thread_rows_begin(uint32_t thread, uint64_t op)
{
    if (order) order->begin_op(thread, op);
}
