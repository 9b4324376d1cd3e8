#include "report/try-words.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/text-table.h"

static const char *const kind_words[] = {[CTS_TRIAL_LAUNCH] = "launch",
                                         [CTS_TRIAL_COPY] = "copy",
                                         [CTS_TRIAL_MEMSET] = "memset",
                                         [CTS_TRIAL_WAIT] = "wait"};
static const char *const plural_words[] = {[CTS_TRIAL_LAUNCH] = "launches",
                                           [CTS_TRIAL_COPY] = "copies",
                                           [CTS_TRIAL_MEMSET] = "memsets",
                                           [CTS_TRIAL_WAIT] = "waits"};

void cts_try_op_words(const struct cts_stretch *stretch, uint32_t op, char *text, size_t bytes)
{
    const struct cts_trial_op *const o = &stretch->ops[op];
    if (o->number == CTS_TRIAL_NONE)
        snprintf(text, bytes, "the wait in %.60s", o->name);
    else
        snprintf(text, bytes, "%s %u", kind_words[o->kind], o->number);
}

/* "out", "allocation:3" */
static void region_words(const struct cts_trial_region *region, char *text, size_t bytes)
{
    if (*region->variable)
        snprintf(text, bytes, "%.60s", region->variable);
    else if (region->number != CTS_TRIAL_NONE)
        snprintf(text, bytes, "allocation:%u", region->number);
    else
        snprintf(text, bytes, "0x%" PRIx64, region->address);
}

static const char *change_word(enum cts_try_change_kind kind)
{
    static const char *const words[] = {
#define X(name, word, does) word,
        CTS_TRY_CHANGES(X)
#undef X
    };
    return words[kind];
}

static void one_change(const struct cts_stretch *stretch, const struct cts_try_change *change,
                       char *text, size_t bytes)
{
    char op[80] = "", other[80] = "", name[100];
    if (change->op != CTS_TRIAL_NONE) cts_try_op_words(stretch, change->op, op, sizeof op);
    if (change->other != CTS_TRIAL_NONE)
        cts_try_op_words(stretch, change->other, other, sizeof other);
    switch (change->kind) {
    case CTS_TRY_DELAY:
        snprintf(text, bytes, "delay %s by %s", op, cts_time_text(change->delay_ns).text);
        return;
    case CTS_TRY_SWAP:
    case CTS_TRY_OVERLAP:
        snprintf(text, bytes, "%s %s and %s", change_word(change->kind), op, other);
        return;
    case CTS_TRY_STREAMS:
        snprintf(text, bytes, "%u streams, order needed", change->streams);
        return;
    case CTS_TRY_ORDER:
        snprintf(text, bytes, "order %s", change->raw_only ? "true" : "needed");
        return;
    case CTS_TRY_SECOND_BUFFER:
        region_words(&stretch->regions[change->region], name, sizeof name);
        snprintf(text, bytes, "second buffer for %s", name);
        return;
    case CTS_TRY_CTA_ORDER:
        snprintf(text, bytes, "CTAs of %s by %.80s", *op ? op : "all launches",
                 change->cta_order->name);
        return;
    default:
        snprintf(text, bytes, "%s%s%s", change_word(change->kind), *op ? " " : "", op);
    }
}

/* Whether all changes are of one kind, of operations of one kind. */
static bool are_alike(const struct cts_stretch *stretch, const struct cts_try_trial *trial)
{
    for (size_t i = 0; i < trial->change_count; i++) {
        const struct cts_try_change *const a = &trial->changes[0], *const b = &trial->changes[i];
        if (a->kind != b->kind || a->op == CTS_TRIAL_NONE || b->op == CTS_TRIAL_NONE ||
            stretch->ops[a->op].kind != stretch->ops[b->op].kind)
            return false;
    }
    return true;
}

void cts_try_change_words(const struct cts_stretch *stretch, const struct cts_try_trial *trial,
                          char *text, size_t bytes)
{
    size_t used = 0;
    *text = '\0';
    if (trial->change_count > 2 && are_alike(stretch, trial)) {
        const struct cts_try_change *const first = &trial->changes[0];
        const bool is_pair = first->kind == CTS_TRY_OVERLAP || first->kind == CTS_TRY_SWAP;
        snprintf(text, bytes, "%s %zu %s", change_word(first->kind), trial->change_count,
                 is_pair ? "pairs" : plural_words[stretch->ops[first->op].kind]);
        return;
    }
    for (size_t i = 0; i < trial->change_count && used + 2 < bytes; i++) {
        if (i) used += (size_t)snprintf(text + used, bytes - used, ", ");
        if (used + 1 >= bytes) return;
        one_change(stretch, &trial->changes[i], text + used, bytes - used);
        used = strlen(text);
    }
}

void cts_try_place_words(const struct cts_stretch *stretch,
                         const struct cts_trial_difference *difference, char *text, size_t bytes)
{
    const struct cts_trial_region *const region = &stretch->regions[difference->region];
    const uint64_t element =
        region->element_bytes ? difference->first_offset / region->element_bytes : 0;
    char op[80] = "";
    if (region->op != CTS_TRIAL_NONE) cts_try_op_words(stretch, region->op, op, sizeof op);
    const char *const from = *op ? " as " : "", *const brings = *op ? " brings it to the host" : "";
    if (*region->variable && region->element_bytes)
        snprintf(text, bytes, "%.60s[%" PRIu64 "]%s%s%s", region->variable, element, from, op,
                 brings);
    else if (*region->variable)
        snprintf(text, bytes, "byte %" PRIu64 " of %.60s%s%s%s", difference->first_offset,
                 region->variable, from, op, brings);
    else if (*op)
        snprintf(text, bytes, "byte %" PRIu64 " that %s brings to the host",
                 difference->first_offset, op);
    else if (region->number != CTS_TRIAL_NONE)
        snprintf(text, bytes, "byte %" PRIu64 " of allocation:%u (%s memory at 0x%" PRIx64 ")",
                 difference->first_offset, region->number, region->kind, region->address);
    else
        snprintf(text, bytes, "byte %" PRIu64 " of the %s memory at 0x%" PRIx64,
                 difference->first_offset, region->kind, region->address);
}

void cts_try_verdict_words(const struct cts_try_report *report, const struct cts_try_trial *trial,
                           char *text, size_t bytes)
{
    const struct cts_stretch *const stretch = report->outcome->stretch;
    const struct cts_try_verdict *const v = &trial->verdict;
    char place[200] = "", op[80] = "";
    if (*trial->untried) {
        snprintf(text, bytes, "not tried: %s", trial->untried);
        return;
    }
    switch (v->kind) {
    case CTS_TRY_SAME:
        snprintf(text, bytes, "same result");
        if (report->outcome->baseline.masked_bytes)
            snprintf(text, bytes, "same result in all but %s that differ without the change, too",
                     cts_bytes_text(report->outcome->baseline.masked_bytes).text);
        return;
    case CTS_TRY_FAILS:
        snprintf(text, bytes, "fails: %s", trial->result.fault);
        return;
    case CTS_TRY_CANNOT_JUDGE:
        snprintf(text, bytes, "cannot judge the result");
        return;
    case CTS_TRY_DIFFERS:
        break;
    }
    cts_try_place_words(stretch, v->first, place, sizeof place);
    if (v->origin != CTS_TRIAL_NONE) cts_try_op_words(stretch, v->origin, op, sizeof op);
    snprintf(text, bytes, "differs at %s%s%s", place, *op ? ", first after " : "", op);
    const size_t used = strlen(text);
    if (v->first->replays < trial->result.repeats && used < bytes)
        snprintf(text + used, bytes - used, " (in %u of %zu replays)", v->first->replays,
                 trial->result.repeats);
}

void cts_try_gain_words(const struct cts_try_estimate *gain, char *text, size_t bytes)
{
    if (gain->low <= 0 && gain->high >= 0) {
        snprintf(text, bytes, "no measurable gain (%.1f%% to %.1f%%)", 100 * gain->low,
                 100 * gain->high);
        return;
    }
    const double spread = fmax(gain->high - gain->median, gain->median - gain->low);
    snprintf(text, bytes, "%.1f%% +- %.1f%% %s", 100 * fabs(gain->median), 100 * spread,
             gain->median >= 0 ? "faster" : "slower");
}
