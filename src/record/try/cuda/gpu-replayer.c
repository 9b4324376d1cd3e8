/* A stream for each lane, and two events around each step: they give its time, and order lanes. */
#include "record/try/cuda/gpu-replayer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "record/try/cuda/gpu-activity.h"
#include "record/try/cuda/gpu-steps.h"

static struct cts_gpu_capture *capture;
static const struct cts_trial_plan *plan;
static CUstream *lanes;
static CUstream *urgent_lanes; /* by lane: with the highest priority; NULL: none yet */
static CUstream *used_lanes;   /* by lane of the present plan */
static size_t lane_count;
static CUgraphExec *graphs; /* by step: the graph that begins there; NULL: none */
static size_t graph_count;
static CUevent *events; /* two for each step, that of the beginning, and two with nothing between */
static size_t event_count;
static bool is_noted;     /* CUPTI notes when the device works */
static bool uses_events;  /* around each step, in a timed replay */
static bool cannot_match; /* what CUPTI noted did not match the steps: events have to do */
static bool *is_awaited;  /* by step: another lane, or the host, waits for it */

void cts_gpu_replayer_use(struct cts_gpu_capture *used)
{
    capture = used;
    cts_gpu_memory_use(used);
}

static void release_graphs(void)
{
    for (size_t i = 0; i < graph_count; i++)
        if (graphs[i]) (void)cts_gpu_driver()->graph_exec_destroy(graphs[i]);
    free(graphs);
    graphs = NULL;
    graph_count = 0;
}

void cts_gpu_replayer_release(void)
{
    const struct cts_gpu_driver *const driver = cts_gpu_driver();
    for (size_t i = 0; i < lane_count; i++) (void)driver->stream_destroy(lanes[i]);
    for (size_t i = 0; i < event_count; i++) (void)driver->event_destroy(events[i]);
    for (size_t i = 0; i < lane_count; i++)
        if (urgent_lanes[i]) (void)driver->stream_destroy(urgent_lanes[i]);
    free(lanes);
    free(urgent_lanes);
    free(used_lanes);
    used_lanes = NULL;
    free(events);
    free(is_awaited);
    is_awaited = NULL;
    release_graphs();
    cts_gpu_steps_release();
    lanes = urgent_lanes = NULL;
    events = NULL;
    lane_count = event_count = 0;
}

/* ---- a replay ---- */

static enum cts_status make_lanes(uint32_t count, struct cts_error *error)
{
    if (lane_count >= count) return CTS_OK;
    CUstream *const grown = realloc(lanes, count * sizeof *grown);
    if (grown) lanes = grown;
    CUstream *const urgent = realloc(urgent_lanes, count * sizeof *urgent);
    if (urgent) urgent_lanes = urgent;
    if (!grown || !urgent) return cts_fail(error, CTS_MEMORY, "no memory");
    while (lane_count < count && cts_gpu_driver()->stream_create(
                                     &lanes[lane_count], CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS)
        urgent_lanes[lane_count++] = NULL;
    return lane_count >= count ? CTS_OK : cts_fail(error, CTS_IO, "cannot make %u streams", count);
}

static bool is_urgent(uint32_t lane)
{
    for (size_t i = 0; i < plan->step_count; i++)
        if (plan->steps[i].op != CTS_TRIAL_NONE && plan->steps[i].lane == lane &&
            plan->steps[i].is_urgent)
            return true;
    return false;
}

/* `used`: by lane, the stream that the present plan uses. */
static enum cts_status choose_lanes(struct cts_error *error)
{
    int least = 0, greatest = 0;
    const struct cts_gpu_driver *const driver = cts_gpu_driver();
    free(used_lanes);
    used_lanes = cts_array_zeroed(plan->lane_count + 1, sizeof *used_lanes, error);
    if (!used_lanes) return CTS_MEMORY;
    used_lanes[0] = lanes[0];
    for (uint32_t i = 0; i < plan->lane_count; i++) {
        used_lanes[i] = lanes[i];
        if (!is_urgent(i)) continue;
        (void)driver->stream_priorities(&least, &greatest);
        if (greatest == least)
            return cts_fail(error, CTS_USAGE, "the device has no priorities of streams");
        if (!urgent_lanes[i])
            cts_gpu_note(
                driver->stream_create_urgent(&urgent_lanes[i], CU_STREAM_NON_BLOCKING, greatest));
        used_lanes[i] = urgent_lanes[i];
    }
    return CTS_OK;
}

static enum cts_status make_events(size_t count, struct cts_error *error)
{
    if (event_count >= count) return CTS_OK;
    CUevent *const grown = realloc(events, count * sizeof *grown);
    if (!grown) return cts_fail(error, CTS_MEMORY, "no memory");
    events = grown;
    while (event_count < count &&
           cts_gpu_driver()->event_create(&events[event_count], CU_EVENT_DEFAULT) == CUDA_SUCCESS)
        event_count++;
    return event_count >= count ? CTS_OK : cts_fail(error, CTS_IO, "cannot make %zu events", count);
}

static enum cts_status find_awaited(struct cts_error *error)
{
    free(is_awaited);
    is_awaited = cts_array_zeroed(plan->step_count, sizeof *is_awaited, error);
    for (size_t i = 0; is_awaited && i < plan->step_count; i++) {
        const struct cts_trial_step *const step = &plan->steps[i];
        is_awaited[i] |= step->host_waits != 0;
        for (uint32_t k = 0; k < step->after_count; k++) {
            const uint32_t before = plan->afters[step->after_first + k];
            if (step->op == CTS_TRIAL_NONE || plan->steps[before].lane != step->lane)
                is_awaited[before] = true;
        }
    }
    return is_awaited ? CTS_OK : CTS_MEMORY;
}

/* ---- graphs ---- */

static enum cts_status make_graphs(struct cts_error *error)
{
    release_graphs();
    if (!plan->is_graph) return CTS_OK;
    graphs = cts_array_zeroed(plan->step_count, sizeof *graphs, error);
    if (!graphs) return CTS_MEMORY;
    graph_count = plan->step_count;
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < plan->step_count && !status; i++) {
        if (plan->steps[i].op == CTS_TRIAL_NONE) continue;
        const size_t last = cts_try_graph_end(plan, i);
        status = cts_gpu_graph_make(&(struct cts_gpu_graph_part){plan, i, last, used_lanes},
                                    &graphs[i], error);
        if (!status) cts_gpu_note(cts_gpu_driver()->graph_upload(graphs[i], lanes[0]));
        i = last - 1;
    }
    return status;
}

/* All graphs go into one stream: each comes after the one before. */
static enum cts_status issue_graph(void *state, size_t first, size_t last, struct cts_error *error)
{
    (void)state, (void)error;
    const struct cts_gpu_driver *const driver = cts_gpu_driver();
    if (uses_events) cts_gpu_note(driver->event_record(events[2 * first], lanes[0]));
    cts_gpu_note(driver->graph_launch(graphs[first], lanes[0]));
    if (uses_events) cts_gpu_note(driver->event_record(events[2 * (last - 1) + 1], lanes[0]));
    return CTS_OK;
}

/* A launch of a graph of the program is several activities. */
static bool has_graph_launch(void)
{
    for (size_t i = 0; i < capture->operation_count; i++)
        if (capture->operations[i] && capture->operations[i]->kind == CTS_GPU_GRAPH) return true;
    return false;
}

static enum cts_status begin(void *state, const struct cts_trial_plan *asked, bool timed,
                             struct cts_error *error)
{
    (void)state;
    plan = asked;
    is_noted = false;
    uses_events = timed;
    cts_gpu_memory_changes();
    enum cts_status status = find_awaited(error);
    if (!status) status = cts_gpu_steps_prepare(capture, plan, error);
    if (!status) status = make_lanes(plan->lane_count ? plan->lane_count : 1, error);
    if (!status) status = choose_lanes(error);
    if (!status) status = make_events(2 * plan->step_count + 3, error);
    if (!status)
        cts_gpu_note(cts_gpu_driver()->event_record(events[2 * plan->step_count], lanes[0]));
    for (size_t i = 1; i < 3 && !status; i++)
        cts_gpu_note(cts_gpu_driver()->event_record(events[2 * plan->step_count + i], lanes[0]));
    if (!status) status = make_graphs(error);
    /* what restores memory returns before the bytes are there, and lanes do not wait for it */
    if (!status) cts_gpu_note(cts_gpu_driver()->ctx_synchronize());
    if (!status && timed) is_noted = cts_gpu_activity_start();
    if (is_noted) uses_events = cannot_match || has_graph_launch();
    return status;
}

static enum cts_status issue(void *state, size_t index, struct cts_error *error)
{
    (void)state;
    const struct cts_gpu_driver *const driver = cts_gpu_driver();
    const struct cts_trial_step *const step = &plan->steps[index];
    const CUstream lane = used_lanes[step->lane];
    if (!capture->operations[step->op])
        return cts_fail(error, CTS_FORMAT, "operation %u cannot be executed again", step->op);
    for (uint32_t i = 0; i < step->after_count; i++) {
        const uint32_t before = plan->afters[step->after_first + i];
        if (plan->steps[before].lane != step->lane)
            cts_gpu_note(driver->stream_wait_event(lane, events[2 * before + 1], 0));
    }
    if (step->delay_ns) cts_gpu_note(cts_gpu_pause(lane, step->delay_ns));
    if (uses_events) cts_gpu_note(driver->event_record(events[2 * index], lane));
    cts_gpu_note(cts_gpu_step_execute(index, lane));
    if (uses_events || is_awaited[index])
        cts_gpu_note(driver->event_record(events[2 * index + 1], lane));
    return CTS_OK;
}

static void wait(void *state, size_t index)
{
    (void)state;
    const CUstream lane = plan->is_graph ? lanes[0] : used_lanes[plan->steps[index].lane];
    if (plan->is_graph)
        cts_gpu_note(cts_gpu_driver()->stream_synchronize(lane));
    else if (uses_events || is_awaited[index])
        cts_gpu_note(cts_gpu_driver()->event_synchronize(events[2 * index + 1]));
    else
        cts_gpu_note(cts_gpu_driver()->stream_synchronize(lane));
}

static uint64_t time_of(CUevent event)
{
    float ms = 0;
    const CUevent start = events[2 * plan->step_count];
    if (cts_gpu_driver()->event_elapsed(&ms, start, event) != CUDA_SUCCESS || ms < 0) return 0;
    return (uint64_t)((double)ms * 1e6);
}

/* What two events measure that have nothing between them: each step's time has that, too. */
static uint64_t overhead_ns(void)
{
    const CUevent *const pair = &events[2 * plan->step_count + 1];
    const uint64_t first_ns = time_of(pair[0]), second_ns = time_of(pair[1]);
    return second_ns > first_ns ? second_ns - first_ns : 0;
}

static struct cts_try_span span_of(size_t first, size_t last, uint64_t overhead)
{
    const uint64_t start_ns = time_of(events[2 * first]), end_ns = time_of(events[2 * last + 1]);
    const uint64_t shorter_ns = end_ns > overhead ? end_ns - overhead : 0;
    return (struct cts_try_span){start_ns, shorter_ns > start_ns ? shorter_ns : start_ns};
}

/* Each step of a graph gets the time of the whole. Returns the last one. */
static size_t fill_graph_spans(struct cts_try_span *spans, size_t first, uint64_t overhead)
{
    const size_t last = cts_try_graph_end(plan, first) - 1;
    for (size_t i = first; i <= last; i++) spans[i] = span_of(first, last, overhead);
    return last;
}

/* Whether steps run one after the other, in their order. */
static bool is_sequence(void)
{
    uint32_t lane = CTS_TRIAL_NONE;
    bool waits = true, alone = true;
    for (size_t i = 0; i < plan->step_count; i++) {
        const struct cts_trial_step *const step = &plan->steps[i];
        if (step->op == CTS_TRIAL_NONE) continue;
        waits &= step->host_waits != 0;
        alone &= lane == CTS_TRIAL_NONE || lane == step->lane;
        lane = step->lane;
    }
    return waits || alone;
}

/* Of steps that run one after the other, each is one activity; of others, only their sum is known.
 */
static void match_activities(struct cts_try_span *spans, const struct cts_gpu_activities *noted)
{
    size_t count = 0;
    if (uses_events) return;
    for (size_t i = 0; i < plan->step_count; i++) {
        spans[i] = (struct cts_try_span){0};
        count += plan->steps[i].op != CTS_TRIAL_NONE;
    }
    if (!is_sequence()) return;
    cannot_match = count != noted->count;
    for (size_t i = 0, k = 0; i < plan->step_count && !cannot_match; i++)
        if (plan->steps[i].op != CTS_TRIAL_NONE) spans[i] = noted->items[k++];
}

static bool busy(void *state, uint64_t *busy_ns)
{
    (void)state;
    if (is_noted) *busy_ns = cts_gpu_activity_busy_ns();
    return is_noted;
}

static void fill_spans(struct cts_try_span *spans)
{
    const uint64_t overhead = overhead_ns();
    for (size_t i = 0; i < plan->step_count; i++)
        if (plan->steps[i].op != CTS_TRIAL_NONE && !plan->is_graph)
            spans[i] = span_of(i, i, overhead);
        else if (plan->steps[i].op != CTS_TRIAL_NONE)
            i = fill_graph_spans(spans, i, overhead);
}

static bool end(void *state, struct cts_try_span *spans, char fault[CTS_TRY_FAULT_BYTES])
{
    (void)state;
    for (size_t i = 0; i < plan->lane_count; i++)
        cts_gpu_note(cts_gpu_driver()->stream_synchronize(used_lanes[i]));
    if (plan->is_graph) cts_gpu_note(cts_gpu_driver()->stream_synchronize(lanes[0]));
    if (is_noted) match_activities(spans, cts_gpu_activity_stop());
    if (cts_gpu_failure() != CUDA_SUCCESS) {
        snprintf(fault, CTS_TRY_FAULT_BYTES, "the driver returns error %d", (int)cts_gpu_failure());
        return false;
    }
    if (uses_events) fill_spans(spans);
    return true;
}

static void measure_edge(void *state, struct cts_try_edge *edge)
{
    struct cts_error error;
    (void)state;
    if (!make_lanes(2, &error)) cts_gpu_measure_edge(lanes, edge);
}

const struct cts_try_device cts_gpu_device = {.times_cost = true,
                                              .begin = begin,
                                              .issue = issue,
                                              .issue_graph = issue_graph,
                                              .measure_edge = measure_edge,
                                              .busy = busy,
                                              .bring_back = cts_gpu_bring_back,
                                              .wait = wait,
                                              .end = end,
                                              .read = cts_gpu_read_memory,
                                              .write = cts_gpu_write_memory};
