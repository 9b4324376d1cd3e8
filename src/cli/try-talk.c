#include "cli/try-talk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/try/try-regions.h"
#include "common/array.h"
#include "trace/trial/trial-message.h"

/* A race shows if the first of the two begins this much later than it would: longer than the whole
 * stretch. */
enum { DELAY_LEAST_NS = 2 * 1000 * 1000 };

/* ---- names ---- */

bool cts_try_read_name(const char *text, struct cts_try_name *name)
{
    static const char *const words[] = {[CTS_TRIAL_LAUNCH] = "launch",
                                        [CTS_TRIAL_COPY] = "copy",
                                        [CTS_TRIAL_MEMSET] = "memset",
                                        [CTS_TRIAL_WAIT] = "wait"};
    char *end;
    name->kind = CTS_TRIAL_LAUNCH;
    for (uint32_t i = 0; i < CTS_TRIAL_KINDS; i++) {
        const size_t length = strlen(words[i]);
        if (strncmp(text, words[i], length) != 0 || (text[length] != ':' && text[length] != ' '))
            continue;
        name->kind = i;
        text += length + 1;
        break;
    }
    if (*text < '0' || *text > '9') return false;
    const unsigned long long number = strtoull(text, &end, 10);
    name->number = (uint32_t)number;
    return !*end && number < CTS_TRIAL_NONE;
}

static const char *kind_word(uint32_t kind)
{
    static const char *const words[] = {"launch", "copy", "memset", "wait"};
    return words[kind];
}

static enum cts_status find_op(const struct cts_stretch *stretch, const struct cts_try_name *name,
                               uint32_t *op, struct cts_error *error)
{
    uint32_t least = CTS_TRIAL_NONE, most = 0;
    for (uint32_t i = 0; i < stretch->op_count; i++) {
        const struct cts_trial_op *const o = &stretch->ops[i];
        if (o->kind != name->kind || o->number == CTS_TRIAL_NONE) continue;
        if (o->number == name->number) {
            *op = i;
            return CTS_OK;
        }
        if (o->number < least) least = o->number;
        if (o->number > most) most = o->number;
    }
    if (least == CTS_TRIAL_NONE)
        return cts_fail(error, CTS_USAGE, "%s %u is not in the stretch, which has none",
                        kind_word(name->kind), name->number);
    return cts_fail(error, CTS_USAGE, "%s %u is not in the stretch, which has numbers %u to %u",
                    kind_word(name->kind), name->number, least, most);
}

/* ---- what is tried ---- */

static enum cts_status add_trials(struct cts_try_talk *talk, size_t count, struct cts_error *error)
{
    talk->outcome.trials = cts_array_zeroed(count, sizeof *talk->outcome.trials, error);
    if (talk->outcome.trials) talk->outcome.trial_count = count;
    return talk->outcome.trials ? CTS_OK : CTS_MEMORY;
}

static enum cts_status make_wishes(struct cts_try_talk *talk, struct cts_error *error)
{
    enum cts_status status = talk->wish_count ? add_trials(talk, 1, error) : CTS_OK;
    for (size_t i = 0; i < talk->wish_count && !status; i++) {
        const struct cts_try_wish *const wish = &talk->wishes[i];
        struct cts_try_change *const change = &talk->changes[i];
        *change = (struct cts_try_change){.kind = wish->kind,
                                          .op = CTS_TRIAL_NONE,
                                          .other = CTS_TRIAL_NONE,
                                          .delay_ns = wish->delay_ns,
                                          .streams = wish->streams,
                                          .raw_only = wish->raw_only,
                                          .region = CTS_TRIAL_NONE,
                                          .cta_order = &wish->cta_order};
        if (wish->memory)
            status = cts_try_find_region(&talk->stretch, wish->memory, &change->region, error);
        if (wish->name_count && !status)
            status = find_op(&talk->stretch, &wish->op, &change->op, error);
        if (wish->name_count > 1 && !status)
            status = find_op(&talk->stretch, &wish->other, &change->other, error);
    }
    if (!status && talk->wish_count)
        talk->outcome.trials[0] =
            (struct cts_try_trial){.changes = talk->changes, .change_count = talk->wish_count};
    return status;
}

static enum cts_status make_findings(struct cts_try_talk *talk, struct cts_error *error)
{
    uint64_t delay_ns = 2 * talk->stretch.elapsed_ns;
    if (delay_ns < DELAY_LEAST_NS) delay_ns = DELAY_LEAST_NS;
    enum cts_status status = cts_try_findings_make(&talk->match, delay_ns, &talk->findings, error);
    if (!status) status = add_trials(talk, talk->findings.count, error);
    for (size_t i = 0; i < talk->outcome.trial_count && !status; i++) {
        const struct cts_try_finding *const finding = &talk->findings.items[i];
        struct cts_try_trial *const trial = &talk->outcome.trials[i];
        *trial = (struct cts_try_trial){
            .changes = finding->changes, .change_count = finding->change_count, .finding = finding};
        if (!finding->untried) continue;
        snprintf(trial->untried, sizeof trial->untried, "%s", finding->untried);
        trial->is_done = true;
    }
    return status;
}

/* The first execution of the program says what there is to try. */
static enum cts_status prepare(struct cts_try_talk *talk, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    if (*talk->stretch.refusal)
        return cts_fail(error, CTS_UNSUPPORTED, "the stretch cannot be replayed: %s",
                        talk->stretch.refusal);
    if (talk->flow) status = cts_try_match_make(talk->flow, &talk->stretch, &talk->match, error);
    if (!status && talk->flow) status = cts_try_needs_make(&talk->match, &talk->needs, error);
    if (!status && talk->flow) cts_try_name_regions(&talk->match, &talk->stretch);
    if (!status && talk->live)
        status = cts_try_dead_but(&talk->stretch, talk->live, &talk->dead, error);
    else if (!status && talk->flow)
        status = cts_try_dead_make(&talk->match, &talk->dead, error);
    if (!status && talk->flow && !(talk->bytes = cts_try_bytes_of(&talk->match, error)))
        status = CTS_MEMORY;
    talk->outcome.bytes = talk->bytes;
    talk->outcome.dead = talk->dead.items;
    talk->outcome.dead_count = talk->dead.count;
    talk->outcome.stretch = &talk->stretch;
    talk->outcome.needs = &talk->needs;
    talk->outcome.keeps_gaps = talk->keeps_gaps;
    talk->outcome.repeats = talk->repeats;
    if (!status)
        status = talk->all_findings ? make_findings(talk, error) : make_wishes(talk, error);
    return status;
}

/* Whether a later execution asks for the same. */
static enum cts_status compare(const struct cts_stretch *before, const struct cts_stretch *now,
                               struct cts_error *error)
{
    bool same = before->op_count == now->op_count && before->region_count == now->region_count;
    for (size_t i = 0; same && i < now->op_count; i++)
        same = before->ops[i].kind == now->ops[i].kind &&
               before->ops[i].number == now->ops[i].number &&
               strcmp(before->ops[i].name, now->ops[i].name) == 0;
    for (size_t i = 0; same && i < now->region_count; i++)
        same = before->regions[i].op != CTS_TRIAL_NONE ||
               before->regions[i].address == now->regions[i].address;
    if (same) return CTS_OK;
    return cts_fail(
        error, CTS_USAGE,
        "the program asks for other operations, or has other memory, when it is executed "
        "again");
}

/* ---- the socket ---- */

static enum cts_status execute(void *state, const struct cts_trial_plan *plan,
                               struct cts_trial_result *result, struct cts_error *error)
{
    const int socket = *(const int *)state;
    struct cts_buffer message = {0};
    enum cts_trial_message kind = 0;
    enum cts_status status = cts_trial_put_plan(&message, plan, error);
    if (!status) status = cts_trial_send(socket, &message, error);
    if (!status) status = cts_trial_receive(socket, &message, &kind, error);
    if (!status && kind != CTS_TRIAL_RESULT)
        status = cts_fail(error, CTS_IO, "the program ended in the middle");
    if (!status) status = cts_trial_get_result(&message, result, error);
    cts_buffer_release(&message);
    return status;
}

/* On a GPU, a fault ends all use of the device by the process. */
static bool is_broken(struct cts_try_talk *talk, const struct cts_try_trial *trial)
{
    talk->needs_restart = !*trial->untried && trial->result.fault && *trial->result.fault &&
                          strcmp(talk->stretch.device, "ctascope CPU device") != 0;
    return talk->needs_restart;
}

static enum cts_status run_trials(struct cts_try_talk *talk,
                                  const struct cts_try_executor *executor, struct cts_error *error)
{
    enum cts_status status = cts_try_measure_baseline(&talk->outcome, executor, error);
    for (size_t i = 0; i < talk->outcome.trial_count && !status; i++) {
        if (talk->outcome.trials[i].is_done) continue;
        if (*talk->outcome.baseline.fault) break;
        talk->current = i;
        status = cts_try_measure(&talk->outcome, &talk->outcome.trials[i], executor, error);
        if (!status && is_broken(talk, &talk->outcome.trials[i])) break;
    }
    return status;
}

static void finish(int socket)
{
    struct cts_error error;
    struct cts_buffer message = {0};
    if (!cts_trial_put_finish(&message, &error)) (void)!cts_trial_send(socket, &message, &error);
    cts_buffer_release(&message);
}

void cts_try_talk_over(void *state, int socket, const struct cts_buffer *message)
{
    struct cts_try_talk *const talk = state;
    struct cts_stretch stretch;
    const struct cts_try_executor executor = {execute, &socket};
    const bool is_first = !talk->has_stretch;
    talk->current = SIZE_MAX;
    talk->is_lost = talk->needs_restart = false;
    talk->status = cts_trial_get_stretch(message, &stretch, &talk->error);
    if (talk->status) return;
    if (is_first) {
        talk->stretch = stretch;
        talk->has_stretch = true;
        talk->status = prepare(talk, &talk->error);
    } else {
        talk->status = compare(&talk->stretch, &stretch, &talk->error);
        cts_stretch_release(&stretch);
    }
    if (!talk->status) talk->status = run_trials(talk, &executor, &talk->error);
    talk->is_lost = talk->status == CTS_IO;
    finish(socket);
}

static bool has_more(const struct cts_try_talk *talk)
{
    bool has = false;
    for (size_t i = 0; i < talk->outcome.trial_count; i++) has |= !talk->outcome.trials[i].is_done;
    return has;
}

bool cts_try_talk_goes_on(struct cts_try_talk *talk, const char *how_it_ended)
{
    if (talk->needs_restart && !talk->status) return has_more(talk);
    if (!talk->is_lost || talk->current >= talk->outcome.trial_count) return false;
    struct cts_try_trial *const trial = &talk->outcome.trials[talk->current];
    cts_trial_result_release(&trial->result);
    snprintf(trial->untried, sizeof trial->untried, "the program ended in it (%.200s)",
             how_it_ended);
    trial->is_done = true;
    talk->status = CTS_OK;
    return has_more(talk);
}

void cts_try_talk_release(struct cts_try_talk *talk)
{
    cts_try_outcome_release(&talk->outcome);
    cts_try_findings_release(&talk->findings);
    cts_try_match_release(&talk->match);
    cts_try_needs_release(&talk->needs);
    for (size_t i = 0; i < talk->wish_count; i++) free(talk->wishes[i].cta_order.ctas);
    free(talk->dead.items);
    free(talk->bytes);
    talk->bytes = NULL;
    talk->dead = (struct cts_try_ranges){0};
    if (talk->has_stretch) cts_stretch_release(&talk->stretch);
    talk->has_stretch = false;
}
