/* Replays on a GPU. */
#ifndef CTS_RECORD_TRY_GPU_REPLAYER_H
#define CTS_RECORD_TRY_GPU_REPLAYER_H

#include "record/try/cuda/gpu-capture.h"

extern const struct cts_try_device cts_gpu_device;
void cts_gpu_replayer_use(struct cts_gpu_capture *capture);
void cts_gpu_replayer_release(void);

#endif
