/* A session keeps the unchanged plan: each trial is measured and explained against it. */
#include "record/try/try-session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/array.h"
#include "record/try/try-replay.h"
#include "trace/trial/trial-message.h"

int cts_try_connect(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) return -1;
    memcpy(address.sun_path, path, strlen(path));
    const int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection < 0) return -1;
    if (connect(connection, (const struct sockaddr *)(const void *)&address, sizeof address) == 0)
        return connection;
    close(connection);
    return -1;
}

/* ---- one trial ---- */

struct trial {
    const struct cts_try_session *session;
    const struct cts_trial_plan *plain; /* NULL: the trial is the baseline */
    struct cts_try_replay replay;
    struct cts_trial_result result;
    uint64_t *durations; /* by step, then repeat */
    uint8_t **seen;      /* by region: bytes that differed in an earlier replay */
};

static void use_plan(struct trial *trial, const struct cts_trial_plan *plan)
{
    trial->replay.plan = plan;
    trial->session->memory->unused = plan->unused;
    trial->session->memory->unused_count = plan->unused_count;
    trial->session->memory->dead = plan->dead;
    trial->session->memory->dead_count = plan->dead_count;
}

/* One replay of the plan at hand; sets the result's fault if it failed. */
static enum cts_status replay_once(struct trial *trial, struct cts_trial_time *time,
                                   struct cts_error *error)
{
    const enum cts_status status = cts_try_run(&trial->replay, time, error);
    if (!status && trial->replay.fault[0]) trial->result.fault = trial->replay.fault;
    return status;
}

static void keep_durations(struct trial *trial, const struct cts_trial_plan *plan, size_t repeat)
{
    for (size_t i = 0; i < plan->step_count; i++) {
        const struct cts_try_span *const span = &trial->replay.spans[i];
        trial->durations[i * plan->repeats + repeat] =
            span->end_ns > span->start_ns ? span->end_ns - span->start_ns : 0;
    }
}

static enum cts_status repeat_once(struct trial *trial, const struct cts_trial_plan *plan,
                                   struct cts_error *error)
{
    struct cts_trial_result *const result = &trial->result;
    const struct cts_try_session *const session = trial->session;
    const size_t repeat = result->repeats;
    enum cts_status status = CTS_OK;
    if (trial->plain) {
        use_plan(trial, trial->plain);
        status = replay_once(trial, &result->plain[repeat], error);
    }
    use_plan(trial, plan);
    trial->replay.follows_unchanged = plan->is_baseline && !trial->plain;
    if (!status && !*result->fault) status = replay_once(trial, &result->changed[repeat], error);
    if (status || *result->fault) return status;
    keep_durations(trial, plan, repeat);
    result->repeats++;
    if (plan->is_baseline) return cts_try_learn(session->memory, session->device, !repeat, error);
    return cts_try_compare(session->memory, session->device, trial->seen, result, error);
}

static int by_value(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static void take_medians(struct trial *trial, const struct cts_trial_plan *plan)
{
    const size_t count = trial->result.repeats;
    for (size_t i = 0; i < plan->step_count && count; i++) {
        uint64_t *const row = &trial->durations[i * plan->repeats];
        qsort(row, count, sizeof *row, by_value);
        trial->result.step_ns[i] = row[count / 2];
    }
}

static enum cts_status make_room(struct trial *trial, const struct cts_trial_plan *plan,
                                 struct cts_error *error)
{
    size_t steps = plan->step_count;
    if (trial->plain && trial->plain->step_count > steps) steps = trial->plain->step_count;
    struct cts_trial_result *const result = &trial->result;
    trial->replay.spans = cts_array_zeroed(steps, sizeof *trial->replay.spans, error);
    trial->durations =
        cts_array_zeroed(plan->step_count * plan->repeats, sizeof *trial->durations, error);
    trial->seen = cts_array_zeroed(trial->session->memory->count, sizeof *trial->seen, error);
    result->changed = cts_array_zeroed(plan->repeats, sizeof *result->changed, error);
    if (trial->plain) result->plain = cts_array_zeroed(plan->repeats, sizeof *result->plain, error);
    result->step_ns = cts_array_zeroed(plan->step_count, sizeof *result->step_ns, error);
    result->step_count = result->step_ns ? plan->step_count : 0;
    const bool good = trial->replay.spans && trial->durations && trial->seen && result->changed &&
                      result->step_ns && (result->plain || !trial->plain);
    return good ? CTS_OK : CTS_MEMORY;
}

static void release_trial(struct trial *trial)
{
    for (size_t i = 0; trial->seen && i < trial->session->memory->count; i++) free(trial->seen[i]);
    free(trial->seen);
    free(trial->replay.spans);
    free(trial->durations);
    cts_trial_result_release(&trial->result);
}

/* ---- which operation made the difference ---- */

enum { PROBES_MAX = 16 };

/* The first operation, in the order of the stretch, after which the values of a probe differ. */
static uint32_t first_different(const uint8_t *plain, const uint8_t *changed, size_t op_count,
                                size_t stride)
{
    for (size_t op = 0; op < op_count; op++)
        if (memcmp(plain + op * stride, changed + op * stride, CTS_TRIAL_VALUE_BYTES) != 0)
            return (uint32_t)op;
    return CTS_TRIAL_NONE;
}

/* Replays both plans, an operation at a time, and looks at what differed in the end. */
static enum cts_status find_origins(struct trial *trial, const struct cts_trial_plan *plan,
                                    struct cts_error *error)
{
    struct cts_trial_result *const result = &trial->result;
    struct cts_try_probe probes[PROBES_MAX];
    const size_t op_count = trial->session->stretch->op_count;
    size_t count = 0;
    for (; count < result->difference_count && count < PROBES_MAX; count++) {
        const struct cts_trial_difference *const d = &result->differences[count];
        const struct cts_try_region *const region = &trial->session->memory->items[d->region];
        const uint64_t left = region->size_bytes - d->first_offset;
        probes[count] = (struct cts_try_probe){
            region->address + d->first_offset,
            left < CTS_TRIAL_VALUE_BYTES ? (size_t)left : CTS_TRIAL_VALUE_BYTES};
    }
    const size_t stride = count * CTS_TRIAL_VALUE_BYTES;
    uint8_t *const plain = cts_array_zeroed(op_count * stride, 2, error);
    if (!plain) return CTS_MEMORY;
    uint8_t *const changed = plain + op_count * stride;
    use_plan(trial, trial->plain);
    enum cts_status status = cts_try_run_probed(&trial->replay, probes, count, plain, error);
    use_plan(trial, plan);
    if (!status) status = cts_try_run_probed(&trial->replay, probes, count, changed, error);
    for (size_t i = 0; i < count && !status; i++)
        result->differences[i].origin =
            first_different(plain + i * CTS_TRIAL_VALUE_BYTES, changed + i * CTS_TRIAL_VALUE_BYTES,
                            op_count, stride);
    free(plain);
    return status;
}

static enum cts_status run_trial(struct trial *trial, const struct cts_trial_plan *plan,
                                 struct cts_error *error)
{
    struct cts_trial_result *const result = &trial->result;
    result->fault = "";
    enum cts_status status = cts_trial_plan_check(plan, trial->session->stretch, error);
    if (!status) status = make_room(trial, plan, error);
    for (uint32_t i = 0; i < plan->repeats && !status && !*result->fault; i++)
        status = repeat_once(trial, plan, error);
    if (status || *result->fault) return status;
    take_medians(trial, plan);
    if (trial->replay.issue_count)
        result->issue_ns = trial->replay.issue_ns / trial->replay.issue_count;
    if (plan->is_baseline) {
        struct cts_try_edge edge = {0};
        const struct cts_try_device *const device = trial->session->device;
        if (device->measure_edge) device->measure_edge(device->state, &edge);
        result->edge_ns = edge.latency_ns;
        result->edge_issue_ns = edge.issue_ns;
        return cts_try_sum_up(trial->session->memory, result, error);
    }
    return result->difference_count ? find_origins(trial, plan, error) : CTS_OK;
}

/* ---- the talk ---- */

static enum cts_status answer(const struct cts_try_session *session,
                              const struct cts_trial_plan *plain, const struct cts_trial_plan *plan,
                              struct cts_error *error)
{
    struct trial trial = {.session = session,
                          .plain = plan->is_baseline ? NULL : plain,
                          .replay = {.device = session->device, .memory = session->memory}};
    struct cts_error why = {0};
    struct cts_buffer message = {0};
    const enum cts_status failed = run_trial(&trial, plan, &why);
    if (failed) { /* an answer like any other */
        trial.result.is_refused = failed == CTS_USAGE;
        snprintf(trial.replay.fault, sizeof trial.replay.fault, "%.390s", why.text);
        trial.result.fault = trial.replay.fault;
    }
    enum cts_status status = cts_trial_put_result(&message, &trial.result, error);
    if (!status) status = cts_trial_send(session->socket, &message, error);
    cts_buffer_release(&message);
    release_trial(&trial);
    return status;
}

static enum cts_status send_stretch(const struct cts_try_session *session, struct cts_error *error)
{
    struct cts_buffer message = {0};
    enum cts_status status = cts_trial_put_stretch(&message, session->stretch, error);
    if (!status) status = cts_trial_send(session->socket, &message, error);
    cts_buffer_release(&message);
    return status;
}

void cts_try_converse(struct cts_try_session *session)
{
    struct cts_error error;
    struct cts_buffer message = {0};
    struct cts_trial_plan plain = {0}, plan;
    enum cts_trial_message kind = CTS_TRIAL_FINISH;
    bool has_baseline = false;
    enum cts_status status = send_stretch(session, &error);
    while (!status) {
        status = cts_trial_receive(session->socket, &message, &kind, &error);
        if (status || kind != CTS_TRIAL_PLAN) break;
        status = cts_trial_get_plan(&message, &plan, &error);
        if (status) break;
        if (!plan.is_baseline && !has_baseline) break;
        status = answer(session, &plain, &plan, &error);
        if (plan.is_baseline && !has_baseline) {
            plain = plan;
            has_baseline = true;
        } else {
            cts_trial_plan_release(&plan);
        }
    }
    session->memory->unused_count = session->memory->dead_count = 0;
    if (has_baseline) cts_try_memory_restore(session->memory, session->device, true);
    cts_trial_plan_release(&plain);
    cts_buffer_release(&message);
}
