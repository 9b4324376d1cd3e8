/* What the parts of libctascope_cupti.so share: CUPTI's functions, found at run time, and the
 * recorder that they feed. Everything here is inside the recorded program. */
#ifndef CTS_RECORD_INJECT_H
#define CTS_RECORD_INJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cupti.h>

#include "record/timeline/recorder.h"

/* ---- CUPTI, loaded at run time (cupti-library.c) ---- */

#define CTS_CUPTI_FUNCTIONS(X)                                                                     \
    X(cuptiSubscribe)                                                                              \
    X(cuptiUnsubscribe)                                                                            \
    X(cuptiEnableCallback)                                                                         \
    X(cuptiEnableDomain)                                                                           \
    X(cuptiActivityRegisterCallbacks)                                                              \
    X(cuptiActivityEnable)                                                                         \
    X(cuptiActivityGetNextRecord)                                                                  \
    X(cuptiActivityGetNumDroppedRecords)                                                           \
    X(cuptiActivitySetAttribute)                                                                   \
    X(cuptiActivityFlushAll)                                                                       \
    X(cuptiGetStreamIdEx)                                                                          \
    X(cuptiGetDeviceId)                                                                            \
    X(cuptiGetContextId)                                                                           \
    X(cuptiGetResultString)                                                                        \
    X(cuptiGetVersion)                                                                             \
    X(cuptiSetThreadIdType)                                                                        \
    X(cuptiActivityRegisterTimestampCallback)

struct cts_cupti {
#define X(name) __typeof__(name) *name;
    CTS_CUPTI_FUNCTIONS(X)
#undef X
    uint32_t version;
    char path[512]; /* of the library */
};

/* The library that the program itself has loaded (PyTorch brings its own), else the toolkit's.
 * False with a reason. */
bool cts_cupti_open(struct cts_cupti *cupti, char *reason, size_t reason_bytes);

/* ---- shared by the parts below; set before the first callback ---- */

extern struct cts_cupti cts_cupti;
extern const struct cts_recorder *cts_inject_recorder;

/* ---- streams and contexts (inject-streams.c) ---- */

/* The location of a stream: by the handle that a call names, in the context it is called in, or by
 * the ids that records carry. NULL: it has none (no context yet). Any thread. */
struct cts_log *cts_stream_by_handle(CUcontext context, uint32_t context_id, CUstream handle,
                                     bool per_thread);
struct cts_log *cts_stream_by_id(uint32_t context_id, uint32_t stream_id, uint32_t device);
/* A stream of that context: its null stream. */
struct cts_log *cts_stream_of_context(uint32_t context_id, uint32_t device);

void cts_stream_created(CUcontext context, CUstream handle);
/* The flags that it was created with, once they are known. */
void cts_stream_flags(CUstream handle, unsigned flags);
void cts_stream_destroyed(CUstream handle);
void cts_context_destroyed(CUcontext context);
/* What records say of them; before the records that lie on them, where they come together. */
void cts_context_described(uint32_t context_id, uint32_t device, uint32_t null_stream_id);
void cts_stream_described(uint32_t context_id, uint32_t stream_id, bool null_stream,
                          bool non_blocking);
/* Whether a stream that the program uses still has work. */
bool cts_streams_are_busy(void);

/* ---- calls (calls.c) ---- */

/* Which calls become regions: CTASCOPE_CUDA_CALLS. */
enum cts_calls_choice {
    CTS_CALLS_BOTH,    /* the runtime's and, inside them, the driver's: those that matter to time */
    CTS_CALLS_DRIVER,  /* only the driver's */
    CTS_CALLS_RUNTIME, /* only the runtime's; programs that use the driver API show no calls */
    CTS_CALLS_ALL,     /* every call of both */
};
void cts_calls_enable(CUpti_SubscriberHandle subscriber, enum cts_calls_choice choice);
void CUPTIAPI cts_calls_callback(void *state, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                 const void *data);
void cts_calls_stop(void);
uint64_t cts_calls_launch_count(void);

/* ---- host functions (function-times.c) ---- */

struct cts_function_call {
    struct cts_log *stream; /* NULL: not known */
    uint64_t correlation;
    bool per_thread; /* no stream is the thread's default stream */
};
/* At the begin of the call: the function is replaced by one that tells when it began and ended. */
void cts_function_launched(const struct cts_function_call *call,
                           cuLaunchHostFunc_params *parameters);
void cts_callback_added(const struct cts_function_call *call,
                        cuStreamAddCallback_params *parameters);

/* ---- activities of the devices (activities.c) ---- */

/* Registers the buffers and enables the kinds of records. False with a reason. */
bool cts_activities_enable(char *reason, size_t reason_bytes);
/* How many buffers of 256 KiB CUPTI may have at once; what finds no room is dropped and counted.
 * Before they are enabled. */
void cts_activities_limit(size_t buffers);
/* Keeps buffers ready; from a thread that may wait for memory. */
void cts_activities_prepare(void);
uint64_t cts_activities_kernel_count(void);
/* Tells the recorder what was dropped, and what time CUPTI took for itself. At the end. */
void cts_activities_tell(void);

/* The region of a kernel by its mangled name (kernel-names.c). The caller holds one lock. */
uint32_t cts_kernel_region(const char *mangled);

/* One line to the run's messages (inject-messages.c). */
void cts_inject_say(const char *severity, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
