/* The words of OTF2 and ours, and the library's errors. */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <otf2/OTF2_Pthread_Locks.h>

#include "trace/timeline/timeline-private.h"

const char *const cts_attribute_names[CTS_ATTRIBUTE_COUNT] = {
#define X(name, text, type) [CTS_ATTRIBUTE_##name] = text,
    CTS_ATTRIBUTE_MAP(X)
#undef X
};

const char *const cts_timeline_event_names[CTS_EVENT_KIND_COUNT] = {
    [CTS_EVENT_ENTER] = "ENTER",
    [CTS_EVENT_LEAVE] = "LEAVE",
    [CTS_EVENT_MPI_SEND] = "MPI_SEND",
    [CTS_EVENT_MPI_RECV] = "MPI_RECV",
    [CTS_EVENT_MPI_ISEND] = "MPI_ISEND",
    [CTS_EVENT_MPI_ISEND_COMPLETE] = "MPI_ISEND_COMPLETE",
    [CTS_EVENT_MPI_IRECV_REQUEST] = "MPI_IRECV_REQUEST",
    [CTS_EVENT_MPI_IRECV] = "MPI_IRECV",
    [CTS_EVENT_MPI_REQUEST_TEST] = "MPI_REQUEST_TEST",
    [CTS_EVENT_MPI_REQUEST_CANCELLED] = "MPI_REQUEST_CANCELLED",
    [CTS_EVENT_MPI_COLLECTIVE_BEGIN] = "MPI_COLLECTIVE_BEGIN",
    [CTS_EVENT_MPI_COLLECTIVE_END] = "MPI_COLLECTIVE_END",
    [CTS_EVENT_NON_BLOCKING_COLLECTIVE_REQUEST] = "NON_BLOCKING_COLLECTIVE_REQUEST",
    [CTS_EVENT_NON_BLOCKING_COLLECTIVE_COMPLETE] = "NON_BLOCKING_COLLECTIVE_COMPLETE",
    [CTS_EVENT_RMA_WIN_CREATE] = "RMA_WIN_CREATE",
    [CTS_EVENT_RMA_WIN_DESTROY] = "RMA_WIN_DESTROY",
    [CTS_EVENT_RMA_COLLECTIVE_BEGIN] = "RMA_COLLECTIVE_BEGIN",
    [CTS_EVENT_RMA_COLLECTIVE_END] = "RMA_COLLECTIVE_END",
    [CTS_EVENT_RMA_GROUP_SYNC] = "RMA_GROUP_SYNC",
    [CTS_EVENT_RMA_SYNC] = "RMA_SYNC",
    [CTS_EVENT_RMA_REQUEST_LOCK] = "RMA_REQUEST_LOCK",
    [CTS_EVENT_RMA_ACQUIRE_LOCK] = "RMA_ACQUIRE_LOCK",
    [CTS_EVENT_RMA_RELEASE_LOCK] = "RMA_RELEASE_LOCK",
    [CTS_EVENT_RMA_PUT] = "RMA_PUT",
    [CTS_EVENT_RMA_GET] = "RMA_GET",
    [CTS_EVENT_RMA_ATOMIC] = "RMA_ATOMIC",
    [CTS_EVENT_RMA_OP_COMPLETE_BLOCKING] = "RMA_OP_COMPLETE_BLOCKING",
    [CTS_EVENT_RMA_OP_COMPLETE_NON_BLOCKING] = "RMA_OP_COMPLETE_NON_BLOCKING",
    [CTS_EVENT_RMA_OP_COMPLETE_REMOTE] = "RMA_OP_COMPLETE_REMOTE",
    [CTS_EVENT_THREAD_FORK] = "THREAD_FORK",
    [CTS_EVENT_THREAD_JOIN] = "THREAD_JOIN",
    [CTS_EVENT_THREAD_TEAM_BEGIN] = "THREAD_TEAM_BEGIN",
    [CTS_EVENT_THREAD_TEAM_END] = "THREAD_TEAM_END",
    [CTS_EVENT_THREAD_ACQUIRE_LOCK] = "THREAD_ACQUIRE_LOCK",
    [CTS_EVENT_THREAD_RELEASE_LOCK] = "THREAD_RELEASE_LOCK",
    [CTS_EVENT_THREAD_TASK_CREATE] = "THREAD_TASK_CREATE",
    [CTS_EVENT_THREAD_TASK_SWITCH] = "THREAD_TASK_SWITCH",
    [CTS_EVENT_THREAD_TASK_COMPLETE] = "THREAD_TASK_COMPLETE",
    [CTS_EVENT_THREAD_CREATE] = "THREAD_CREATE",
    [CTS_EVENT_THREAD_BEGIN] = "THREAD_BEGIN",
    [CTS_EVENT_THREAD_WAIT] = "THREAD_WAIT",
    [CTS_EVENT_THREAD_END] = "THREAD_END",
    [CTS_EVENT_BUFFER_FLUSH] = "BUFFER_FLUSH",
    [CTS_EVENT_MEASUREMENT_ON_OFF] = "MEASUREMENT_ON_OFF",
    [CTS_EVENT_OTHER] = "OTHER",
};

/* ---- paradigms and roles ---- */

static const OTF2_Paradigm paradigms[] = {
    [CTS_PARADIGM_UNKNOWN] = OTF2_PARADIGM_UNKNOWN,
    [CTS_PARADIGM_USER] = OTF2_PARADIGM_USER,
    [CTS_PARADIGM_COMPILER] = OTF2_PARADIGM_COMPILER,
    [CTS_PARADIGM_OPENMP] = OTF2_PARADIGM_OPENMP,
    [CTS_PARADIGM_MPI] = OTF2_PARADIGM_MPI,
    [CTS_PARADIGM_CUDA] = OTF2_PARADIGM_CUDA,
    [CTS_PARADIGM_OPENCL] = OTF2_PARADIGM_OPENCL,
    [CTS_PARADIGM_PTHREAD] = OTF2_PARADIGM_PTHREAD,
    [CTS_PARADIGM_MEASUREMENT] = OTF2_PARADIGM_MEASUREMENT_SYSTEM,
    [CTS_PARADIGM_SHMEM] = OTF2_PARADIGM_SHMEM,
};

enum cts_paradigm cts_paradigm_of_otf2(OTF2_Paradigm paradigm)
{
    for (size_t i = 0; i < sizeof paradigms / sizeof *paradigms; i++)
        if (paradigms[i] == paradigm) return (enum cts_paradigm)i;
    return CTS_PARADIGM_OTHER;
}

OTF2_Paradigm cts_paradigm_to_otf2(enum cts_paradigm paradigm)
{
    return (size_t)paradigm < sizeof paradigms / sizeof *paradigms ? paradigms[paradigm]
                                                                   : OTF2_PARADIGM_UNKNOWN;
}

static const OTF2_RegionRole roles[] = {
    [CTS_ROLE_UNKNOWN] = OTF2_REGION_ROLE_UNKNOWN,
    [CTS_ROLE_FUNCTION] = OTF2_REGION_ROLE_FUNCTION,
    [CTS_ROLE_WRAPPER] = OTF2_REGION_ROLE_WRAPPER,
    [CTS_ROLE_LOOP] = OTF2_REGION_ROLE_LOOP,
    [CTS_ROLE_CODE] = OTF2_REGION_ROLE_CODE,
    [CTS_ROLE_PARALLEL] = OTF2_REGION_ROLE_PARALLEL,
    [CTS_ROLE_BARRIER] = OTF2_REGION_ROLE_BARRIER,
    [CTS_ROLE_IMPLICIT_BARRIER] = OTF2_REGION_ROLE_IMPLICIT_BARRIER,
    [CTS_ROLE_COLL_ONE2ALL] = OTF2_REGION_ROLE_COLL_ONE2ALL,
    [CTS_ROLE_COLL_ALL2ONE] = OTF2_REGION_ROLE_COLL_ALL2ONE,
    [CTS_ROLE_COLL_ALL2ALL] = OTF2_REGION_ROLE_COLL_ALL2ALL,
    [CTS_ROLE_COLL_OTHER] = OTF2_REGION_ROLE_COLL_OTHER,
    [CTS_ROLE_POINT2POINT] = OTF2_REGION_ROLE_POINT2POINT,
    [CTS_ROLE_RMA] = OTF2_REGION_ROLE_RMA,
    [CTS_ROLE_DATA_TRANSFER] = OTF2_REGION_ROLE_DATA_TRANSFER,
    [CTS_ROLE_ARTIFICIAL] = OTF2_REGION_ROLE_ARTIFICIAL,
    [CTS_ROLE_THREAD_CREATE] = OTF2_REGION_ROLE_THREAD_CREATE,
    [CTS_ROLE_THREAD_WAIT] = OTF2_REGION_ROLE_THREAD_WAIT,
};

enum cts_region_role cts_role_of_otf2(OTF2_RegionRole role)
{
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (roles[i] == role) return (enum cts_region_role)i;
    return CTS_ROLE_OTHER;
}

OTF2_RegionRole cts_role_to_otf2(enum cts_region_role role)
{
    return (size_t)role < sizeof roles / sizeof *roles ? roles[role] : OTF2_REGION_ROLE_UNKNOWN;
}

/* ---- errors ---- */

static __thread char last_error[400];
static __thread OTF2_ErrorCode last_code;

static OTF2_ErrorCode keep_error(void *user, const char *file, uint64_t line, const char *function,
                                 OTF2_ErrorCode code, const char *format, va_list arguments)
{
    (void)user, (void)file, (void)line, (void)function;
    if (!last_code) {
        vsnprintf(last_error, sizeof last_error, format, arguments);
        last_code = code;
    }
    return code;
}

void cts_otf2_catch_errors(void)
{
    last_error[0] = 0;
    last_code = OTF2_SUCCESS;
    OTF2_Error_RegisterCallback(keep_error, NULL);
}

OTF2_ErrorCode cts_otf2_caught(OTF2_ErrorCode code)
{
    return code ? code : last_code;
}

/* Refusals of the system, which are not damage. */
static const struct {
    OTF2_ErrorCode code;
    int errnum;
} refusals[] = {
#define X(name) {OTF2_ERROR_##name, name}
    X(EACCES), X(EAGAIN), X(EBUSY),  X(EDQUOT), X(EFBIG), X(EINTR), X(EIO),    X(EMFILE),
    X(ENFILE), X(ENODEV), X(ENOSPC), X(ENXIO),  X(EPERM), X(EROFS), X(ESTALE), X(ETIMEDOUT),
#undef X
};

static int errnum_of(OTF2_ErrorCode code)
{
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (refusals[i].code == code) return refusals[i].errnum;
    return 0;
}

/* A lock is all that needs memory in the functions that the library calls. */
static bool is_no_memory(OTF2_ErrorCode code)
{
    return code == OTF2_ERROR_MEM_FAULT || code == OTF2_ERROR_MEM_ALLOC_FAILED ||
           code == OTF2_ERROR_LOCKING_CALLBACK || code == OTF2_ERROR_ENOMEM;
}

enum cts_status cts_otf2_fail(struct cts_error *error, enum cts_status status, OTF2_ErrorCode code,
                              const char *format, ...)
{
    char what[500];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    if (last_code) code = last_code;
    const char *reason = last_error;
    if (!*reason) reason = code ? OTF2_Error_GetDescription(code) : "damaged";
    for (char *c = last_error; *c; c++)
        if (*c == '\n') *c = ' ';
    if (is_no_memory(code))
        status = cts_fail(error, CTS_MEMORY, "%s: out of memory", what);
    else if (errnum_of(code))
        status = cts_fail_errno(error, errnum_of(code), "%s", what);
    else
        (void)cts_fail(error, status, "%s: OTF2 says: %s", what, reason);
    last_error[0] = 0;
    last_code = OTF2_SUCCESS;
    return status;
}

/* The library keeps what it is given also where it finds no memory for the lock, and frees it when
 * the archive is closed; OTF2_Pthread_Reader_SetLockingCallbacks() frees it as well. */
OTF2_ErrorCode cts_otf2_lock_reader(OTF2_Reader *reader)
{
    OTF2_Pthread_UserData *const data = calloc(1, sizeof *data);
    if (!data) return OTF2_ERROR_MEM_ALLOC_FAILED;
    return OTF2_Reader_SetLockingCallbacks(reader, &otf2_pthread_locking_callbacks, data);
}

OTF2_ErrorCode cts_otf2_lock_archive(OTF2_Archive *archive)
{
    OTF2_Pthread_UserData *const data = calloc(1, sizeof *data);
    if (!data) return OTF2_ERROR_MEM_ALLOC_FAILED;
    return OTF2_Archive_SetLockingCallbacks(archive, &otf2_pthread_locking_callbacks, data);
}
