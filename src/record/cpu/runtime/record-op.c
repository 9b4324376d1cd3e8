/* Numbers of ops: what the host asks for, in the order of its calls, each with its row. They are
 * given out while a recording is open. */
#include "record-op.h"

#include <stdatomic.h>

#include "record/wrappers/thread-rows.h"
#include "runtime.h"

__thread unsigned cts_record_depth;

static struct cts_catalogue_writer *catalogue;
static uint32_t rank;
static _Atomic bool is_open;

void cts_record_open(struct cts_catalogue_writer *writer)
{
    catalogue = writer;
    rank = cts_catalogue_rank(writer);
    atomic_store_explicit(&is_open, true, memory_order_release);
}

void cts_record_close(void)
{
    atomic_store(&is_open, false);
}

bool cts_record_is_on(void)
{
    return atomic_load_explicit(&is_open, memory_order_acquire);
}

uint32_t cts_record_thread(void)
{
    static _Atomic uint32_t threads;
    static __thread uint32_t number; /* + 1 */
    if (!number) {
        number = atomic_fetch_add(&threads, 1) + 1;
        cts_thread_rows_attach(number - 1);
    }
    return number - 1;
}

uint64_t cts_record_op_of(uint32_t thread, uint32_t stream)
{
    cts_record_depth++;
    const struct cts_host_call row = {.rank = rank,
                                      .op = cts_catalogue_next_op(catalogue),
                                      .thread = thread,
                                      .device = (uint32_t)cts_current_device(),
                                      .stream = stream,
                                      .api = cts_call_api};
    cts_catalogue_add_call(catalogue, &row);
    cts_thread_rows_begin(thread, row.op);
    cts_record_depth--;
    return row.op;
}

void cts_record_message(const char *severity, const char *text)
{
    if (cts_record_is_on()) cts_catalogue_add_message(catalogue, severity, text);
}
