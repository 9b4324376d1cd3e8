/* Where this process stands with MPI and with the recording, and entering and leaving a call.
 *
 *   UNKNOWN --first call--> THROUGH   no recording, another MPI, or nothing to record any more
 *                       \-> READY     recording; MPI is not initialised
 *                              \----> RUNS    --MPI_Finalize--> THROUGH
 *
 * MPI's functions are looked for behind this library, then (a program that loads MPI itself, as
 * Python does) in the loaded libraries by name. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "record/mpi/wrap.h"
#include "record/wrappers/loader.h"

struct cts_mpi_real cts_real;
struct cts_mpi_handles cts_handles;
struct cts_mpi_process cts_mpi;

enum state { UNKNOWN, THROUGH, READY, RUNS };
static _Atomic int state;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread bool in_call; /* MPI calls its own functions, and some of those are wrapped */

static const struct function {
    const char *name;
    enum cts_region_role role;
} functions[] = {
#define X(name, role) {"MPI_" #name, CTS_ROLE_##role},
    CTS_MPI_FUNCTIONS(X)
#undef X
};
static _Atomic uint32_t regions[CTS_MPI_FUNCTION_COUNT]; /* region + 1; 0: not defined yet */

static const struct real_name {
    const char *name, *wrapper;
    size_t offset;
} real_names[] = {
#define X(name) {"PMPI_" #name, "MPI_" #name, offsetof(struct cts_mpi_real, name)},
    CTS_MPI_REAL_NAMES(X)
#undef X
};

void *cts_mpi_function_address(const char *name)
{
    return cts_function_behind(name, "libmpi");
}

void *cts_mpi_variable_address(const char *name)
{
    return cts_variable_address(name, "libmpi");
}

#ifdef OPEN_MPI
static bool find_handles(void)
{
    cts_handles = (struct cts_mpi_handles){
        .comm_world = cts_mpi_variable_address("ompi_mpi_comm_world"),
        .comm_self = cts_mpi_variable_address("ompi_mpi_comm_self"),
        .comm_null = cts_mpi_variable_address("ompi_mpi_comm_null"),
        .byte = cts_mpi_variable_address("ompi_mpi_byte"),
        .group_null = cts_mpi_variable_address("ompi_mpi_group_null"),
        .errors_are_fatal = cts_mpi_variable_address("ompi_mpi_errors_are_fatal"),
        .message_null = cts_mpi_variable_address("ompi_message_null"),
        .message_no_proc = cts_mpi_variable_address("ompi_message_no_proc"),
    };
    return cts_handles.comm_world != NULL;
}
#else
static bool find_handles(void)
{
    cts_handles = (struct cts_mpi_handles){
        .comm_world = MPI_COMM_WORLD,
        .comm_self = MPI_COMM_SELF,
        .comm_null = MPI_COMM_NULL,
        .byte = MPI_BYTE,
        .group_null = MPI_GROUP_NULL,
        .errors_are_fatal = MPI_ERRORS_ARE_FATAL,
        .message_null = MPI_MESSAGE_NULL,
        .message_no_proc = MPI_MESSAGE_NO_PROC,
    };
    return !cts_mpi_variable_address("ompi_mpi_comm_world");
}
#endif

static void find_functions(void)
{
    const bool ours = find_handles();
    for (size_t i = 0; i < sizeof(real_names) / sizeof(*real_names); i++) {
        /* Of another MPI: the wrappers that were made for it stand behind this library. */
        void *address = cts_mpi_function_address(ours ? real_names[i].name : real_names[i].wrapper);
        memcpy((char *)&cts_real + real_names[i].offset, &address, sizeof(address));
    }
    cts_mpi.recorder = ours ? cts_recorder_load() : NULL;
    const bool on = cts_mpi.recorder && cts_mpi.recorder->is_on();
    atomic_store_explicit(&state, on ? READY : THROUGH, memory_order_release);
}

/* MPI was initialised before its first wrapped call: recording starts in the middle. */
static void attach_late(void)
{
    pthread_mutex_lock(&lock);
    if (atomic_load(&state) == READY) {
        cts_mpi.recorder->message(
            "warning",
            "MPI was initialised before its calls were recorded: the recording of MPI starts here, "
            "without messages on communicators that already exist (except MPI_COMM_WORLD)");
        cts_comm_begin();
        atomic_store_explicit(&state, RUNS, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
}

/* Whether a call is recorded while the state is not RUNS. */
static bool prepare(enum cts_mpi_function function)
{
    if (atomic_load_explicit(&state, memory_order_acquire) == UNKNOWN)
        pthread_once(&once, find_functions);
    if (atomic_load_explicit(&state, memory_order_acquire) != READY)
        return atomic_load_explicit(&state, memory_order_acquire) == RUNS;
    if (function == CTS_MPI_Init || function == CTS_MPI_Init_thread) return true;
    int initialised = 0;
    if (cts_real.Initialized && cts_real.Initialized(&initialised) == MPI_SUCCESS && initialised)
        attach_late();
    return true;
}

static uint32_t region_of(enum cts_mpi_function function)
{
    const uint32_t known = atomic_load_explicit(&regions[function], memory_order_relaxed);
    if (known) return known - 1;
    const uint32_t region = cts_mpi.recorder->region(&(struct cts_timeline_region){
        .name = functions[function].name,
        .file = "MPI",
        .paradigm = CTS_PARADIGM_MPI,
        .role = functions[function].role,
    });
    atomic_store_explicit(&regions[function], region + 1, memory_order_relaxed);
    return region;
}

bool cts_call_enter(struct cts_mpi_call *call, enum cts_mpi_function function)
{
    if (in_call) return false;
    if (atomic_load_explicit(&state, memory_order_acquire) != RUNS) {
        const int saved_errno = errno;
        const bool recorded = prepare(function);
        errno = saved_errno;
        if (!recorded) return false;
    }
    call->log = cts_mpi.recorder->this_thread();
    if (!call->log) return false;
    in_call = true;
    call->region = region_of(function);
    call->start_ns = cts_mpi.recorder->now_ns();
    call->end_ns = 0;
    call->began = false;
    const struct cts_timeline_event event = {
        .time_ns = call->start_ns, .kind = CTS_EVENT_ENTER, .region = call->region};
    cts_mpi.recorder->event(call->log, &event, NULL);
    return true;
}

void cts_call_leave(struct cts_mpi_call *call)
{
    const struct cts_timeline_event event = {
        .time_ns = cts_call_end_ns(call), .kind = CTS_EVENT_LEAVE, .region = call->region};
    cts_mpi.recorder->event(call->log, &event, NULL);
    in_call = false;
}

void cts_mpi_initialised(void)
{
    pthread_mutex_lock(&lock);
    if (atomic_load(&state) == READY) {
        cts_comm_begin();
        cts_clocks_begin();
        cts_clocks_read();
        atomic_store_explicit(&state, RUNS, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
}

void cts_mpi_finalizing(void)
{
    if (atomic_load(&state) == RUNS) cts_clocks_read();
}

void cts_mpi_finalized(struct cts_mpi_call *call)
{
    cts_call_end_ns(call);
    atomic_store_explicit(&state, THROUGH, memory_order_release);
}
