/* When the device was busy, as CUPTI has it: the device's own times, which events around operations
 * are not. Where CUPTI is not found, or the program uses it, events have to do. */
#ifndef CTS_RECORD_TRY_GPU_ACTIVITY_H
#define CTS_RECORD_TRY_GPU_ACTIVITY_H

#include <stdbool.h>
#include <stddef.h>

#include "record/try/try-device.h"

/* From now on, kernels, copies and memsets are noted. False: nothing can be noted. */
bool cts_gpu_activity_start(void);

/* What was noted, by start; valid until the next start. The device is idle. */
struct cts_gpu_activities {
    struct cts_try_span *items;
    size_t count, capacity;
};
const struct cts_gpu_activities *cts_gpu_activity_stop(void);
/* The time in which at least one of them ran. */
uint64_t cts_gpu_activity_busy_ns(void);
void cts_gpu_activity_release(void);

#endif
