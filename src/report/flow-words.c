#include "report/flow-words.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "common/text-table.h"
#include "report/run-findings.h"

enum { SENTENCE_BYTES = 300 };

/* ---- names ---- */

void cts_flow_name_node(const struct cts_flow_result *flow, uint32_t node, char *text, size_t bytes)
{
    const struct cts_catalogue *const c = flow->catalogue;
    const struct cts_flow_node *const n = cts_flow_node_at(flow, node);
    switch ((enum cts_flow_node_kind)n->kind) {
    case CTS_FLOW_LAUNCH:
        snprintf(text, bytes, "launch %u", c->launches[n->index].launch);
        return;
    case CTS_FLOW_COPY:
        snprintf(text, bytes, "copy %u", c->copies[n->index].copy);
        return;
    case CTS_FLOW_MEMSET:
        snprintf(text, bytes, "memset %u", c->copies[n->index].copy);
        return;
    case CTS_FLOW_HOST_LOAD:
    case CTS_FLOW_HOST_STORE:
        snprintf(text, bytes, "CPU %s, op %" PRIu64,
                 n->kind == CTS_FLOW_HOST_LOAD ? "load" : "store", c->host_accesses[n->index].op);
        return;
    case CTS_FLOW_ALLOCATION:
        snprintf(text, bytes, "allocation %u", c->allocations[n->index].allocation);
        return;
    case CTS_FLOW_FREE:
        break;
    }
    snprintf(text, bytes, "free of allocation %u", c->allocations[n->index].allocation);
}

void cts_flow_name_fully(const struct cts_flow_result *flow, uint32_t node,
                         const struct cts_short_names *kernels, char *text, size_t bytes)
{
    const struct cts_catalogue *const c = flow->catalogue;
    char name[CTS_FLOW_NODE_BYTES], buffer[CTS_KERNEL_NAME_SIZE];
    const char *what = cts_flow_subject(flow, node);
    cts_flow_name_node(flow, node, name, sizeof name);
    if (cts_flow_node_at(flow, node)->kind == CTS_FLOW_LAUNCH) {
        const uint32_t kernel = c->launches[cts_flow_node_at(flow, node)->index].kernel;
        size_t i = 0;
        while (i < c->kernel_count && c->kernels[i].kernel != kernel) i++;
        if (i < c->kernel_count) what = cts_short_name_fitted(kernels, i, buffer, sizeof buffer);
    }
    snprintf(text, bytes, "%s%s%s%s", name, what ? " (" : "", what ? what : "", what ? ")" : "");
}

/* ---- sentences ---- */

struct teller {
    cts_flow_tell *tell;
    void *state;
};

static void say(const struct teller *teller, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void say(const struct teller *teller, const char *format, ...)
{
    char text[SENTENCE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    teller->tell(teller->state, text);
}

static void say_races(const struct cts_flow_result *flow, const struct teller *teller)
{
    if (flow->race_pairs || flow->possible_pairs)
        say(teller, "Races: %s certain, %s possible; %s the same bytes %s ordered.",
            cts_count_text(flow->race_pairs).text, cts_count_text(flow->possible_pairs).text,
            cts_counted_text(flow->ordered_pairs, "other pair that accesses",
                             "other pairs that access")
                .text,
            flow->ordered_pairs == 1 ? "is" : "are");
    else
        say(teller, "No races: %s the same bytes, all ordered.",
            cts_counted_text(flow->ordered_pairs, "pair accesses", "pairs access").text);
    if (flow->unjudged_pairs)
        say(teller, "%s could not be judged: %s not fully recorded.",
            cts_counted_text(flow->unjudged_pairs, "pair", "pairs").text,
            cts_counted_text(flow->hiding_launches, "launch is", "launches are").text);
}

static void say_chain(const struct cts_flow_result *flow, const struct teller *teller)
{
    if (!flow->longest_enforced) return;
    const bool is_all = flow->longest_needed == flow->longest_enforced;
    char without_reuse[80] = "";
    if (flow->longest_raw < flow->longest_needed)
        snprintf(without_reuse, sizeof without_reuse, ", but only %s without reuse of memory",
                 cts_count_text(flow->longest_raw).text);
    say(teller, "Longest chain of ordered launches, copies and memsets: %s. Data requires %s%s.",
        cts_count_text(flow->longest_enforced).text,
        is_all ? "all of this order" : cts_count_text(flow->longest_needed).text, without_reuse);
}

static void say_waits(const struct cts_flow_result *flow, const struct teller *teller)
{
    const uint64_t waits = flow->needed_waits + flow->needless_waits;
    if (!waits) return;
    say(teller,
        "Host waits (device, stream and event synchronisations): %s. Data requires %s of them.",
        cts_count_text(waits).text,
        !flow->needed_waits    ? "none"
        : flow->needless_waits ? cts_count_text(flow->needed_waits).text
                               : "all");
}

void cts_flow_tell_counts(const struct cts_flow_result *flow, cts_flow_tell *tell, void *state)
{
    const struct teller teller = {tell, state};
    say_races(flow, &teller);
    say(&teller, "Device memory: at most %s allocated, at most %s of it live.",
        cts_bytes_text(flow->allocated_peak_bytes).text,
        cts_bytes_text(flow->live_peak_bytes).text);
    say_chain(flow, &teller);
    say_waits(flow, &teller);
}

static void say_known(const struct cts_flow_result *flow, const struct teller *teller)
{
    if (flow->suppressed_findings)
        say(teller, "Suppressed: %s.",
            cts_counted_text(flow->suppressed_findings, "finding", "findings").text);
    if (flow->known_findings)
        say(teller, "Not new: the baseline has %s of this run, too.",
            cts_counted_text(flow->known_findings, "finding", "findings").text);
}

void cts_flow_tell_notes(const struct cts_flow_result *flow, cts_flow_tell *tell, void *state)
{
    const struct teller teller = {tell, state};
    if (flow->unmapped_pairs)
        say(&teller, "Not checked for fusion: %s of launches with too many runs of bytes or CTAs.",
            cts_counted_text(flow->unmapped_pairs, "pair", "pairs").text);
    if (flow->lower_bound)
        tell(state, "LOWER BOUND: the run is incomplete; there may be more findings.");
    if (!flow->knows_threads)
        tell(state, "This run does not record host threads: all calls are assumed to follow each "
                    "other.");
    if (!flow->knows_calls)
        tell(state, "This run does not record graphs and stream-ordered frees: the nodes of a "
                    "graph are assumed to follow each other, and frees to wait.");
    if (flow->host_seen)
        tell(state, "CPU accesses are recorded in .cu files compiled with --host-accesses only: "
                    "races with other CPU code are not found.");
    if (!flow->host_seen && flow->catalogue->allocation_count)
        tell(state, "CPU accesses are not recorded (--host-accesses): races with the CPU are not "
                    "checked.");
    if (!flow->values_seen && flow->catalogue->launch_count > 1)
        tell(state,
             "Values are neither recorded nor hashed (--values, --hash): repeated launches are "
             "not found.");
    say_known(flow, &(const struct teller){tell, state});
}

void cts_flow_tell_small(const struct cts_flow_result *flow, cts_flow_tell *tell, void *state)
{
    const struct teller teller = {tell, state};
    if (!flow->small_findings) return;
    say(&teller, "Not listed: %s that would each save less than %s, less than a launch costs.",
        cts_counted_text(flow->small_findings, "finding", "findings").text,
        cts_bytes_text(flow->least_bytes).text);
}
