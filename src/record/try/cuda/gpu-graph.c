/* Steps of a plan as a graph: the lane of the first step captures; the others fork from it and join
 * it. */
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "record/try/cuda/gpu-steps.h"

struct capturing {
    const struct cts_gpu_graph_part *part;
    CUstream origin;
    CUevent *events;    /* by step of the part, then one for the fork, then by lane */
    bool *has_forked;   /* by lane */
    size_t event_count; /* that exist */
    CUresult result;    /* the first that is not success */
};

static void keep(struct capturing *c, CUresult result)
{
    if (result != CUDA_SUCCESS && c->result == CUDA_SUCCESS) c->result = result;
}

static CUstream lane_of(const struct capturing *c, size_t step)
{
    return c->part->lanes[c->part->plan->steps[step].lane];
}

static void fork_lane(struct capturing *c, uint32_t lane)
{
    const struct cts_gpu_driver *const driver = cts_gpu_driver();
    const CUevent fork = c->events[c->part->last - c->part->first];
    if (c->has_forked[lane]) return;
    c->has_forked[lane] = true;
    keep(c, driver->stream_wait_event(c->part->lanes[lane], fork, 0));
}

static void join_lanes(struct capturing *c)
{
    const struct cts_gpu_driver *const driver = cts_gpu_driver();
    const CUevent *const joins = c->events + (c->part->last - c->part->first) + 1;
    const uint32_t own = c->part->plan->steps[c->part->first].lane;
    for (uint32_t i = 0; i < c->part->plan->lane_count; i++) {
        if (!c->has_forked[i] || i == own) continue;
        keep(c, driver->event_record(joins[i], c->part->lanes[i]));
        keep(c, driver->stream_wait_event(c->origin, joins[i], 0));
    }
}

static void add_step(struct capturing *c, size_t index)
{
    const struct cts_trial_plan *const plan = c->part->plan;
    const struct cts_trial_step *const step = &plan->steps[index];
    const struct cts_gpu_driver *const driver = cts_gpu_driver();
    fork_lane(c, step->lane);
    for (uint32_t i = 0; i < step->after_count; i++) {
        const size_t before = plan->afters[step->after_first + i];
        if (before >= c->part->first && plan->steps[before].lane != step->lane)
            keep(c, driver->stream_wait_event(lane_of(c, index), c->events[before - c->part->first],
                                              0));
    }
    if (step->delay_ns) keep(c, cts_gpu_pause(lane_of(c, index), step->delay_ns));
    keep(c, cts_gpu_step_execute(index, lane_of(c, index)));
    keep(c, driver->event_record(c->events[index - c->part->first], lane_of(c, index)));
}

static void capture(struct capturing *c, CUgraphExec *exec)
{
    CUgraph graph = NULL;
    const struct cts_gpu_driver *const driver = cts_gpu_driver();
    const size_t count = c->part->last - c->part->first;
    keep(c, driver->begin_capture(c->origin, CU_STREAM_CAPTURE_MODE_RELAXED));
    if (c->result != CUDA_SUCCESS) return;
    c->has_forked[c->part->plan->steps[c->part->first].lane] = true;
    keep(c, driver->event_record(c->events[count], c->origin));
    for (size_t i = c->part->first; i < c->part->last; i++) add_step(c, i);
    join_lanes(c);
    keep(c, driver->end_capture(c->origin, &graph));
    if (c->result == CUDA_SUCCESS) keep(c, driver->graph_instantiate(exec, graph, 0));
    if (graph) (void)driver->graph_destroy(graph);
}

static enum cts_status make_events(struct capturing *c, struct cts_error *error)
{
    const size_t count = c->part->last - c->part->first + 1 + c->part->plan->lane_count;
    c->events = cts_array_zeroed(count, sizeof *c->events, error);
    c->has_forked = cts_array_zeroed(c->part->plan->lane_count, sizeof *c->has_forked, error);
    if (!c->events || !c->has_forked) return CTS_MEMORY;
    while (c->event_count < count &&
           cts_gpu_driver()->event_create(&c->events[c->event_count], CU_EVENT_DISABLE_TIMING) ==
               CUDA_SUCCESS)
        c->event_count++;
    return c->event_count == count ? CTS_OK
                                   : cts_fail(error, CTS_IO, "cannot make %zu events", count);
}

enum cts_status cts_gpu_graph_make(const struct cts_gpu_graph_part *part, CUgraphExec *exec,
                                   struct cts_error *error)
{
    struct capturing c = {.part = part, .origin = part->lanes[part->plan->steps[part->first].lane]};
    *exec = NULL;
    enum cts_status status = make_events(&c, error);
    if (!status) capture(&c, exec);
    if (!status && c.result != CUDA_SUCCESS)
        status =
            cts_fail(error, CTS_USAGE, "the driver cannot make a graph of the stretch (error %d)",
                     (int)c.result);
    for (size_t i = 0; i < c.event_count; i++) (void)cts_gpu_driver()->event_destroy(c.events[i]);
    free(c.events);
    free(c.has_forked);
    return status;
}
