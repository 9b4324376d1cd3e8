/* API calls as the timeline sees them. CTS_CALL() at the top of a public function makes it an ENTER
 * and a LEAVE under its own name, whichever way it returns; CTS_ENTER() contains it. Of functions
 * that are written in terms of each other only the outermost, the one that the program called, is
 * recorded. */
#ifndef CTS_CPU_CALL_H
#define CTS_CPU_CALL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum cts_cpu_timeline_state {
    CTS_TIMELINE_OFF,
    CTS_TIMELINE_UNKNOWN, /* before the first call */
    CTS_TIMELINE_ON,
};
extern _Atomic int cts_cpu_timeline_state;

struct cts_log;
struct cts_call {
    struct cts_log *thread; /* NULL: not recorded */
    uint64_t start_ns, correlation, event;
    struct cts_log *stream;
    uint32_t region, leave_present; /* bits of enum cts_attribute */
    int result;
    bool is_entered;   /* ENTER has been written */
    bool is_outermost; /* cts_call_api names it */
};

/* The API function that the program called on this thread; NULL outside of calls. */
extern __thread const char *cts_call_api;

/* process.c: starts the runtime if this is the first call, then begins it. */
void cts_call_open(struct cts_call *call, const char *function, _Atomic uint32_t *region);
/* cpu-timeline.c. `start_ns`: when the call began, if that was before the recorder was there; else
 * 0.
 */
void cts_call_begin(struct cts_call *call, const char *function, _Atomic uint32_t *region,
                    uint64_t start_ns);
void cts_call_leave(struct cts_call *call);
/* The call fails; the outermost call's LEAVE says so. */
void cts_call_failed(int error);

static inline void cts_call_end(struct cts_call *call)
{
    if (__builtin_expect(call->thread != NULL, 0)) cts_call_leave(call);
    if (call->is_outermost) cts_call_api = NULL;
}

#define CTS_CALL()                                                                                 \
    static _Atomic uint32_t cts_call_region;                                                       \
    struct cts_call cts_this_call __attribute__((cleanup(cts_call_end)));                          \
    cts_this_call.thread = NULL;                                                                   \
    cts_this_call.is_outermost = !cts_call_api;                                                    \
    if (cts_this_call.is_outermost) cts_call_api = __func__;                                       \
    if (__builtin_expect(atomic_load_explicit(&cts_cpu_timeline_state, memory_order_acquire) !=    \
                             CTS_TIMELINE_OFF,                                                     \
                         0))                                                                       \
    cts_call_open(&cts_this_call, __func__, &cts_call_region)

#endif
