/* What operations of streams on a GPU come after: the same rules as on the CPU device, told by
 * handles. */
#ifndef CTS_RECORD_TRY_GPU_ORDER_H
#define CTS_RECORD_TRY_GPU_ORDER_H

#include "record/try/cuda/gpu-driver.h"
#include "trace/trial/trial.h"

/* At most one operation of each stream, the latest. */
struct cts_gpu_places {
    struct cts_gpu_place {
        uint32_t stream, op;
    } *items;
    size_t count, capacity;
};
void cts_gpu_places_release(struct cts_gpu_places *places);

/* The stream's number in the stretch; `*ordinal` (or NULL): the index of its next launch. */
uint32_t cts_gpu_order_stream(CUstream stream, bool is_per_thread, uint32_t *ordinal);
/* Adds what the next thing in the stream comes after. */
bool cts_gpu_order_before(uint32_t stream, struct cts_gpu_places *places);
/* The operation is the last one in the stream. */
bool cts_gpu_order_add(uint32_t stream, uint32_t op);
bool cts_gpu_order_record(CUevent event, uint32_t stream);
bool cts_gpu_order_wait(uint32_t stream, CUevent event);
bool cts_gpu_order_event(CUevent event, struct cts_gpu_places *places);
bool cts_gpu_order_all(struct cts_gpu_places *places);
/* What came before does not count any more; launches stay counted. */
void cts_gpu_order_clear(void);

#endif
