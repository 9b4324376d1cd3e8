/* What replays on a GPU are made of, for gpu-replayer.c. */
#ifndef CTS_RECORD_TRY_GPU_STEPS_H
#define CTS_RECORD_TRY_GPU_STEPS_H

#include "record/try/cuda/gpu-capture.h"

/* ---- gpu-steps.c ---- */

/* The first result of the driver that is not success is the replay's fault. */
void cts_gpu_note(CUresult result);
CUresult cts_gpu_failure(void);
/* The lane pauses. */
CUresult cts_gpu_pause(CUstream lane, uint64_t ns);
/* A replay of the plan is about to begin. CTS_USAGE: the device cannot make what it changes. */
CTS_MUST_CHECK enum cts_status cts_gpu_steps_prepare(struct cts_gpu_capture *used,
                                                     const struct cts_trial_plan *asked,
                                                     struct cts_error *error);
void cts_gpu_steps_release(void);
CUresult cts_gpu_step_execute(size_t step, CUstream lane);
void cts_gpu_bring_back(void *state);

/* ---- gpu-graph.c ---- */

struct cts_gpu_graph_part {
    const struct cts_trial_plan *plan;
    size_t first, last;    /* steps [first, last), which name operations */
    const CUstream *lanes; /* by lane of the plan */
};
/* The steps as a graph: what their lanes and their `after` order. The caller destroys it.
 * CTS_USAGE: the driver cannot put one of them into a graph. */
CTS_MUST_CHECK enum cts_status cts_gpu_graph_make(const struct cts_gpu_graph_part *part,
                                                  CUgraphExec *graph, struct cts_error *error);

/* ---- gpu-edge.c ---- */

/* In two idle lanes. */
void cts_gpu_measure_edge(const CUstream lanes[2], struct cts_try_edge *edge);

/* ---- gpu-memory.c ---- */

void cts_gpu_memory_use(struct cts_gpu_capture *used); /* NULL: no more */
void cts_gpu_memory_changes(void);
void cts_gpu_read_memory(void *state, uint64_t address, void *to, size_t size_bytes);
void cts_gpu_write_memory(void *state, uint64_t address, const void *from, size_t size_bytes);

#endif
