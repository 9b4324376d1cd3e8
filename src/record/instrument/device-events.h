/* Barriers, fences and asynchronous copies: what orders accesses (CTS_BARRIER_MAP in
 * trace/access.h). */
#ifndef CTS_INSTRUMENT_DEVICE_EVENTS_H
#define CTS_INSTRUMENT_DEVICE_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Core.h>

#include "trace/access.h"

/* Metadata that the lower pass leaves: the scope of a fence (enum cts_fence_scope), and copies that
 * are asynchronous on a GPU. */
#define CTS_EVENT_SCOPE "cts.scope"
#define CTS_EVENT_ASYNC "cts.async"

/* What headers and the lower pass call where asynchronous copies are done at once; the device pass
 * takes the calls away. */
#define CTS_EVENT_ASYNC_COPY   "__cts_async_copy"
#define CTS_EVENT_ASYNC_COMMIT "__cts_async_commit"
#define CTS_EVENT_ASYNC_WAIT   "__cts_async_wait"
/* What the define pass calls in libcu++'s barriers: address of the barrier + CTS_MBARRIER_ODD. */
#define CTS_EVENT_MBARRIER_ARRIVE "__cts_mbarrier_arrive"
#define CTS_EVENT_MBARRIER_WAIT   "__cts_mbarrier_wait"

/* One event: its argument is `constant` + value + count << 8. */
struct cts_event {
    enum cts_barrier_operation operation;
    uint64_t constant;
    LLVMValueRef value, count; /* integers or, of an mbarrier, a pointer; NULL: 0 */
};

enum { CTS_EVENTS_PER_INSTRUCTION = 4 };
struct cts_events {
    struct cts_event items[CTS_EVENTS_PER_INSTRUCTION];
    unsigned count;
};

/* device-event-list.c: adds an event where there is room for one more. */
void cts_add_event(struct cts_events *events, struct cts_event event);
/* The argument as an i64, made where the builder stands. */
LLVMValueRef cts_event_argument(LLVMBuilderRef builder, LLVMTypeRef i64,
                                const struct cts_event *event);

/* What an instruction does, in its order; it happens before the instruction's accesses. */
void cts_find_events(LLVMValueRef instruction, struct cts_events *events);
/* Those of inline PTX: device-ptx.c. */
void cts_find_ptx_events(LLVMValueRef call, struct cts_events *events);

/* Takes away the calls that only say what happens. */
void cts_drop_event_calls(LLVMModuleRef module);

/* For the lower pass: puts the scope on a fence. */
void cts_event_set(LLVMContextRef context, LLVMValueRef instruction, const char *kind,
                   uint32_t value);

#endif
