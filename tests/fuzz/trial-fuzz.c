/* Feeds messages between `ctascope try` and the program to their readers. The first byte chooses
 * which message it is. What is accepted must hold together, and be the same after it was sent
 * again; of a stretch, plans can be made that the program accepts, and projected. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/try/try-judge.h"
#include "common/array.h"
#include "trace/trial/trial-message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OPS_MAX = 64 }; /* of stretches that are projected */

static void project(const struct cts_stretch *stretch, const struct cts_try_change *change)
{
    struct cts_error error;
    struct cts_trial_plan plan;
    uint64_t elapsed_ns = 0;
    const struct cts_try_plan_options options = {.stretch = stretch, .repeats = 10};
    uint64_t *const durations = cts_array_zeroed(stretch->op_count, sizeof *durations, &error);
    if (!durations) return;
    const enum cts_status status = cts_try_plan(&options, change, change != NULL, &plan, &error);
    assert(!status || status == CTS_USAGE || status == CTS_MEMORY);
    if (!status) {
        assert(cts_trial_plan_check(&plan, stretch, &error) == CTS_OK);
        const struct cts_try_costs costs = {.duration_ns = durations, .issue_ns = 1};
        assert(cts_try_foretell(stretch, &plan, &costs, &elapsed_ns, &error) == CTS_OK);
        cts_trial_plan_release(&plan);
    }
    free(durations);
}

static void check_stretch(const struct cts_stretch *stretch)
{
    for (size_t i = 0; i < stretch->op_count; i++) {
        const struct cts_trial_op *const op = &stretch->ops[i];
        for (uint32_t k = 0; k < op->after_count; k++)
            assert(stretch->afters[op->after_first + k] < i);
        (void)strlen(op->name);
    }
    for (size_t i = 0; i < stretch->region_count; i++)
        (void)(strlen(stretch->regions[i].variable) + strlen(stretch->regions[i].kind));
    if (stretch->op_count > OPS_MAX || *stretch->refusal) return;
    const struct cts_try_change serial = {
        .kind = CTS_TRY_SERIAL, .op = CTS_TRIAL_NONE, .other = CTS_TRIAL_NONE};
    const struct cts_try_change graph = {
        .kind = CTS_TRY_GRAPH, .op = CTS_TRIAL_NONE, .other = CTS_TRIAL_NONE};
    project(stretch, NULL);
    project(stretch, &serial);
    project(stretch, &graph);
}

/* A message that was accepted, sent again, is the same. */
static void check_again(const struct cts_buffer *sent, const struct cts_buffer *again)
{
    enum { HEADER_BYTES = 24 };
    assert(sent->size_bytes == again->size_bytes);
    assert(memcmp(sent->data + HEADER_BYTES, again->data + HEADER_BYTES,
                  sent->size_bytes - HEADER_BYTES) == 0);
}

static void read_stretch(const struct cts_buffer *message, struct cts_buffer *again)
{
    struct cts_error error;
    struct cts_stretch stretch;
    if (cts_trial_get_stretch(message, &stretch, &error)) return;
    check_stretch(&stretch);
    assert(cts_trial_put_stretch(again, &stretch, &error) == CTS_OK);
    check_again(message, again);
    cts_stretch_release(&stretch);
}

static void read_absence(const struct cts_buffer *message, struct cts_buffer *again)
{
    struct cts_error error;
    struct cts_trial_absence absence;
    if (cts_trial_get_absence(message, &absence, &error)) return;
    assert(cts_trial_put_absence(again, &absence, &error) == CTS_OK);
    check_again(message, again);
    cts_trial_absence_release(&absence);
}

/* Against a stretch of four launches of two CTAs. */
static void read_plan(const struct cts_buffer *message, struct cts_buffer *again)
{
    struct cts_error error;
    struct cts_trial_plan plan;
    struct cts_trial_op ops[4];
    for (uint32_t i = 0; i < 4; i++)
        ops[i] = (struct cts_trial_op){.kind = CTS_TRIAL_LAUNCH, .grid = {2, 1, 1}, .name = "k"};
    const struct cts_stretch stretch = {.ops = ops, .op_count = 4};
    if (cts_trial_get_plan(message, &plan, &error)) return;
    assert(cts_trial_put_plan(again, &plan, &error) == CTS_OK);
    check_again(message, again);
    if (!cts_trial_plan_check(&plan, &stretch, &error))
        for (size_t i = 0; i < plan.step_count; i++) {
            const struct cts_trial_step *const step = &plan.steps[i];
            assert(step->op == CTS_TRIAL_NONE || step->op < 4);
            for (uint32_t k = 0; k < step->cta_count; k++)
                assert(plan.ctas[step->cta_first + k] < 2);
        }
    cts_trial_plan_release(&plan);
}

static void read_result(const struct cts_buffer *message, struct cts_buffer *again)
{
    struct cts_error error;
    struct cts_trial_result result;
    struct cts_try_baseline baseline;
    struct cts_try_verdict verdict;
    struct cts_trial_region regions[2] = {{.op = CTS_TRIAL_NONE, .is_live = 1},
                                          {.op = CTS_TRIAL_NONE}};
    const struct cts_stretch stretch = {.regions = regions, .region_count = 2};
    if (cts_trial_get_result(message, &result, &error)) return;
    cts_try_judge_baseline(&stretch, &result, &baseline);
    cts_try_judge(&stretch, &baseline, &result, &verdict);
    assert(!verdict.first || verdict.first->region < stretch.region_count);
    assert(verdict.origin == CTS_TRIAL_NONE);
    assert(cts_trial_put_result(again, &result, &error) == CTS_OK);
    check_again(message, again);
    cts_trial_result_release(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cts_error error;
    struct cts_buffer message = {.ceiling_bytes = 1 << 24}, again = {0};
    if (!size || cts_buffer_append(&message, data + 1, size - 1, &error)) return 0;
    void (*const readers[])(const struct cts_buffer *, struct cts_buffer *) = {
        read_stretch, read_absence, read_plan, read_result};
    readers[data[0] % 4](&message, &again);
    cts_buffer_release(&again);
    cts_buffer_release(&message);
    return 0;
}
