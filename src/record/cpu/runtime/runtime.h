/* The runtime of the CPU device: what its files share.
 *
 * Words: a *range* is memory that the runtime knows (range.h); a *work* is something that a stream
 * can do (work.h); an *op* is a work that waits in a stream (stream.h); *op number* is the
 * catalogue's count of what the host asked for (record.h).
 *
 * Locks, in the order in which they may be taken: registry -> streams -> ranges. None is held while
 * work runs or a program's function is called. */
#ifndef CTS_CPU_RUNTIME_H
#define CTS_CPU_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the API headers declare is what the library exports; all else stays hidden. */
#pragma GCC visibility push(default)
#define CTS_RUNTIME_BUILD 1
#include "../include/ctascope_runtime_api.h"
void __cts_per_thread_default_stream(void);
cudaError_t __cts_runtime_version_13(int *runtimeVersion); /* CUDA 13's cudaRuntimeGetVersion */
#include "record/abi.h"
#pragma GCC visibility pop

#include "call.h"
#include "common/clock.h"
#include "environment.h"

enum {
    CTS_DEVICES_MAX = 16,
    CTS_THREADS_PER_CTA = 1024,
    CTS_THREADS_PER_SM = 2048,
    CTS_CTAS_PER_SM = 32,
    CTS_SHARED_DEFAULT_BYTES = 48 << 10, /* per CTA without opting in to more */
    CTS_COMPUTE_MAJOR = 9,
    CTS_COMPUTE_MINOR = 0,
};

/* ---- life of the process (process.c) ---- */

/* Every entry point begins with this: starts the runtime when this is the first use, and returns
 * the error that the call must return at once: after a fork, in a callback, after a fault. */
cudaError_t cts_enter(void);
/* The same for calls that answer even after a fault, and in callbacks. Most only ask for what is
 * known, and are not in timelines. */
cudaError_t cts_enter_lenient(void);
#define CTS_ENTER()                                                                                \
    CTS_CALL();                                                                                    \
    do {                                                                                           \
        const cudaError_t entered = cts_enter();                                                   \
        if (entered != cudaSuccess) return entered;                                                \
    } while (0)
#define CTS_ENTER_LENIENT()                                                                        \
    do {                                                                                           \
        const cudaError_t entered = cts_enter_lenient();                                           \
        if (entered != cudaSuccess) return entered;                                                \
    } while (0)

/* ---- what all files ask of the process (process-state.c) ---- */

/* As the runtime read it when it started; all 0 before. */
const struct cts_environment *cts_environment_get(void);
void cts_environment_use(const struct cts_environment *environment); /* for process.c */

/* A child of fork() must not use what its parent has started: once that is said to have started,
 * the child counts as forked. */
void cts_process_watch_forks(void);
void cts_process_set_started(void);
bool cts_process_has_started(void);
bool cts_process_is_forked(void);

/* Whether this thread runs a stream's callback: CUDA calls are not allowed there. */
extern __thread bool cts_in_callback;

/* One line on stderr, "ctascope: ..."; a single write, so that lines of threads do not mix. */
void cts_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- errors (runtime-error.c) ---- */

/* Keeps a failure as the thread's last error; returns it. Entry points end with it. */
cudaError_t cts_return(cudaError_t error);
/* The same for queries: that work is pending is an answer and no failure, so that cudaErrorNotReady
 * never becomes the last error. */
cudaError_t cts_return_query(cudaError_t error);
/* The thread's last error without a fault's, and putting it back: for code that is no call of the
 * runtime API's, although it makes some. */
cudaError_t cts_last_error(void);
void cts_restore_last_error(const cudaError_t *kept);
/* cudaErrorNotSupported, and one line that names the function and why, the first time. */
cudaError_t cts_refuse(const char *function, const char *why);
/* The error that poisons a device after a fault, cudaSuccess while it is sound. */
cudaError_t cts_sticky(int device);
void cts_set_sticky(int device, cudaError_t error);
void cts_clear_sticky(int device);

/* ---- devices (devices.c) ---- */

int cts_current_device(void);
void cts_set_current_device(int device);
int cts_device_count(void);
bool cts_device_is_valid(int device);
uint64_t cts_machine_memory_bytes(void); /* of the host, which all devices share */
uint64_t cts_device_memory_bytes(void);
uint32_t cts_shared_limit_bytes(void); /* per CTA, after opting in */

#endif
