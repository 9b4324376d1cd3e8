/* When a stretch of a program on a GPU opens and closes: CTASCOPE_TRY, as on the CPU device
 * (record/cpu/runtime/try-hooks.c). */
#ifndef CTS_RECORD_TRY_GPU_SESSION_H
#define CTS_RECORD_TRY_GPU_SESSION_H

#include <stdbool.h>

/* Whether calls are watched at all: false once the stretch is over. */
bool cts_gpu_is_watching(void);
/* What a call is about to do. */
enum cts_gpu_act {
    CTS_GPU_ACT_LAUNCH,
    CTS_GPU_ACT_COPY_TO_HOST,
    CTS_GPU_ACT_WAIT,
    CTS_GPU_ACT_OTHER
};
/* Opens or closes the stretch before a call, where it has to be. */
void cts_gpu_before(enum cts_gpu_act act);
void cts_gpu_profiler(bool starts);

#endif
