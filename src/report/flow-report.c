#include "report/flow-report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/flow/flow-picture.h"
#include "common/array.h"
#include "common/short-names.h"
#include "common/text-table.h"
#include "common/utf8.h"
#include "common/wrapped-text.h"
#include "report/flow-trial.h"
#include "report/flow-words.h"
#include "report/gaps-report.h"
#include "report/run-findings.h"
#include "trace/stream-name.h"

enum { NODE_BYTES = CTS_FLOW_NODE_BYTES, PLACE_BYTES = 300, ADVICE_BYTES = 300 };

/* ---- names ---- */

static const char *node_cell(const struct cts_flow_report *r, uint32_t node,
                             struct cts_sheet_row *cells)
{
    if (node == CTS_NONE) return NULL;
    char *const text = cts_sheet_room(cells, NODE_BYTES);
    cts_flow_name_node(r->flow, node, text, NODE_BYTES);
    return text;
}

static uint64_t stream_cell(const struct cts_flow_report *r, uint32_t node)
{
    if (node == CTS_NONE || cts_flow_node_at(r->flow, node)->stream == CTS_NONE) return UINT64_MAX;
    return cts_flow_node_at(r->flow, node)->stream;
}

static const char *stream_name_cell(const struct cts_flow_report *r, uint32_t node,
                                    struct cts_sheet_row *cells)
{
    const uint64_t stream = stream_cell(r, node);
    if (stream == UINT64_MAX) return NULL;
    return cts_cuda_stream_cell(r->flow->catalogue, (uint32_t)stream,
                                cts_sheet_room(cells, CTS_STREAM_NAME_BYTES));
}

static const struct cts_allocation *allocation_at(const struct cts_flow_report *r,
                                                  uint32_t allocation)
{
    return allocation == CTS_NONE ? NULL : &r->flow->catalogue->allocations[allocation];
}

static const char *source_cell(const struct cts_allocation *row, struct cts_sheet_row *cells)
{
    if (!row || !row->path) return NULL;
    const char *const slash = strrchr(row->path, '/');
    return cts_sheet_text(cells, PLACE_BYTES, "%.250s:%u", slash ? slash + 1 : row->path,
                          row->line);
}

static const char *address_cell(uint64_t address, struct cts_sheet_row *cells)
{
    return address ? cts_sheet_text(cells, 20, "0x%" PRIx64, address) : NULL;
}

/* ---- edges ---- */

#define EDGE_COLUMNS(COLUMN)                                                                       \
    COLUMN(from, "from", TEXT, node_cell(r, e->from, cells))                                       \
    COLUMN(from_name, "kernel", KERNEL, cts_flow_subject(r->flow, e->from))                        \
    COLUMN(from_stream, NULL, ID, stream_cell(r, e->from))                                         \
    COLUMN(from_stream_name, "stream", TEXT, stream_name_cell(r, e->from, cells))                  \
    COLUMN(from_op, NULL, ID, cts_flow_node_at(r->flow, e->from)->op)                              \
    COLUMN(to, "to", TEXT, node_cell(r, e->to, cells))                                             \
    COLUMN(to_name, "kernel", KERNEL, cts_flow_subject(r->flow, e->to))                            \
    COLUMN(to_stream, NULL, ID, stream_cell(r, e->to))                                             \
    COLUMN(to_stream_name, "stream", TEXT, stream_name_cell(r, e->to, cells))                      \
    COLUMN(to_op, NULL, ID, cts_flow_node_at(r->flow, e->to)->op)                                  \
    COLUMN(allocation, NULL, ID, row ? row->allocation : UINT64_MAX)                               \
    COLUMN(variable, "variable", TEXT, row ? row->variable : NULL)                                 \
    COLUMN(raw_bytes, "RAW", BYTES, e->raw_bytes)                                                  \
    COLUMN(possible_raw_bytes, "possible", BYTES, e->possible_raw_bytes)                           \
    COLUMN(war_bytes, "WAR", BYTES, e->war_bytes)                                                  \
    COLUMN(waw_bytes, "WAW", BYTES, e->waw_bytes)                                                  \
    COLUMN(commuting_bytes, NULL, BYTES, e->commuting_bytes)                                       \
    COLUMN(race_bytes, "race", BYTES, e->race_bytes)                                               \
    COLUMN(ordered, "ordered", FLAG, e->is_ordered)                                                \
    COLUMN(implied, "implied", FLAG, e->is_implied)                                                \
    COLUMN(first_address, NULL, TEXT, address_cell(e->first, cells))                               \
    COLUMN(end_address, NULL, TEXT, address_cell(e->end, cells))
CTS_SHEET_COLUMNS(edge_columns, EDGE_COLUMNS);

static void edge_row(const void *state, size_t row_index, struct cts_sheet_row *cells)
{
    const struct cts_flow_report *const r = state;
    const struct cts_flow_edge *const e = &r->flow->walk.edges[r->edges[row_index]];
    const struct cts_allocation *const row = allocation_at(r, e->allocation);
    CTS_SHEET_FILL(cells, EDGE_COLUMNS);
}

/* ---- findings ---- */

static bool is_step_of(const struct cts_flow_report *r, uint32_t node, uint64_t *launch_op)
{
    const struct cts_catalogue *const c = r->flow->catalogue;
    for (size_t i = 0; i < c->graph_node_count; i++)
        if (c->graph_nodes[i].rank == cts_flow_node_at(r->flow, node)->rank &&
            c->graph_nodes[i].op == cts_flow_node_at(r->flow, node)->op) {
            *launch_op = c->graph_nodes[i].launch_op;
            return true;
        }
    return false;
}

/* The order that a race lacks, in terms of calls. */
static void advise_order(const struct cts_flow_report *r, const struct cts_flow_finding *f,
                         char *text, size_t bytes)
{
    const struct cts_flow_node *const u = cts_flow_node_at(r->flow, f->node), *const v =
                                                                                  cts_flow_node_at(
                                                                                      r->flow,
                                                                                      f->other);
    char from[NODE_BYTES], to[NODE_BYTES], first[CTS_STREAM_NAME_BYTES],
        second[CTS_STREAM_NAME_BYTES];
    const struct cts_catalogue *const c = r->flow->catalogue;
    uint64_t a, b;
    cts_flow_name_node(r->flow, f->node, from, sizeof from);
    cts_flow_name_node(r->flow, f->other, to, sizeof to);
    if (is_step_of(r, f->node, &a) && is_step_of(r, f->other, &b) && a == b)
        snprintf(text, bytes, "let the node of %s depend on the node of %s in the graph", to, from);
    else if (u->is_in_stream && v->is_in_stream)
        snprintf(text, bytes, "record an event after %s in %s and let %s wait for it before %s",
                 from, cts_cuda_stream_name(c, u->stream, first),
                 cts_cuda_stream_name(c, v->stream, second), to);
    else if (u->is_in_stream)
        snprintf(text, bytes, "synchronise with %s after %s and before %s",
                 cts_cuda_stream_name(c, u->stream, first), from, to);
    else if (v->is_in_stream && u->thread == v->thread)
        snprintf(text, bytes, "%s must come after %s: call it later", to, from);
    else
        snprintf(text, bytes, "let host thread %u wait for host thread %u before %s", v->thread,
                 u->thread, to);
}

static const char *wait_call(const struct cts_flow_report *r, const struct cts_flow_finding *f)
{
    const char *const kind = r->flow->catalogue->syncs[f->sync].kind;
    return kind[0] == 'd'   ? "cudaDeviceSynchronize"
           : kind[0] == 's' ? "cudaStreamSynchronize"
                            : "cudaEventSynchronize";
}

static const char *wait_cell(const struct cts_flow_report *r, const struct cts_flow_finding *f)
{
    return f->kind == CTS_FLOW_NEEDLESS_WAIT ? r->flow->catalogue->syncs[f->sync].kind : NULL;
}

/* Where the wait stands, and what else the program may want it for. */
static void advise_wait(const struct cts_flow_report *r, const struct cts_flow_finding *f,
                        char *text, size_t bytes)
{
    char from[NODE_BYTES] = "", to[NODE_BYTES] = "";
    if (f->node != CTS_NONE) cts_flow_name_node(r->flow, f->node, from, sizeof from);
    if (f->other != CTS_NONE) cts_flow_name_node(r->flow, f->other, to, sizeof to);
    snprintf(text, bytes,
             "remove the %s%s%s%s%s%s, unless the program needs its status or measures time there",
             wait_call(r, f), *from ? " after " : "", from, *from && *to ? " and" : "",
             *to ? " before " : "", to);
}

static const char *advice_cell(const struct cts_flow_report *r, const struct cts_flow_finding *f,
                               struct cts_sheet_row *cells)
{
    if (f->kind == CTS_FLOW_FUSION) return cts_flow_map_advice(f->map);
    if (f->kind == CTS_FLOW_NEEDLESS_WAIT) {
        char *const wait = cts_sheet_room(cells, ADVICE_BYTES);
        advise_wait(r, f, wait, ADVICE_BYTES);
        return wait;
    }
    if (f->kind != CTS_FLOW_RACE && f->kind != CTS_FLOW_POSSIBLE_RACE)
        return cts_flow_finding_advice(f->kind);
    char *const text = cts_sheet_room(cells, ADVICE_BYTES);
    advise_order(r, f, text, ADVICE_BYTES);
    return text;
}

static const char *trial_cell(const struct cts_flow_report *r, const struct cts_flow_finding *f,
                              struct cts_sheet_row *cells)
{
    char *const text = cts_sheet_room(cells, CTS_FLOW_TRIAL_BYTES);
    return cts_flow_trial_options(r->flow, f, text, CTS_FLOW_TRIAL_BYTES) ? text : NULL;
}

#define FINDING_COLUMNS(COLUMN)                                                                    \
    COLUMN(finding, "finding", TEXT, cts_flow_finding_text(f->kind))                               \
    COLUMN(certain, "certain", FLAG, f->reason == CTS_FLOW_REASON_CERTAIN)                         \
    COLUMN(node, "node", TEXT, node_cell(r, f->node, cells))                                       \
    COLUMN(name, "kernel", KERNEL, cts_flow_subject(r->flow, f->node))                             \
    COLUMN(stream, NULL, ID, stream_cell(r, f->node))                                              \
    COLUMN(stream_name, "stream", TEXT, stream_name_cell(r, f->node, cells))                       \
    COLUMN(other, "and", TEXT, node_cell(r, f->other, cells))                                      \
    COLUMN(other_name, "kernel", KERNEL, cts_flow_subject(r->flow, f->other))                      \
    COLUMN(other_stream, NULL, ID, stream_cell(r, f->other))                                       \
    COLUMN(other_stream_name, "stream", TEXT, stream_name_cell(r, f->other, cells))                \
    COLUMN(allocation, NULL, ID, row ? row->allocation : UINT64_MAX)                               \
    COLUMN(variable, "variable", TEXT, row ? row->variable : NULL)                                 \
    COLUMN(allocated_at, "allocated at", TEXT, source_cell(row, cells))                            \
    COLUMN(bytes, "bytes", BYTES, f->bytes)                                                        \
    COLUMN(traffic_bytes, NULL, BYTES, f->traffic_bytes)                                           \
    COLUMN(saved_ns, NULL, TIME_IF, f->saved_ns)                                                   \
    COLUMN(times, "times", COUNT, f->times)                                                        \
    COLUMN(map, "map", TEXT, f->map ? cts_flow_map_text(f->map) : NULL)                            \
    COLUMN(wait, NULL, TEXT, wait_cell(r, f))                                                      \
    COLUMN(first_address, NULL, TEXT, address_cell(f->first, cells))                               \
    COLUMN(end_address, NULL, TEXT, address_cell(f->end, cells))                                   \
    COLUMN(reason, "possible, for", TEXT, f->reason ? cts_flow_reason_text(f->reason) : NULL)      \
    COLUMN(advice, "what to do", TEXT, advice_cell(r, f, cells))                                   \
    COLUMN(legal, "legal", TEXT, cts_flow_finding_legal(f->kind))                                  \
    COLUMN(trial, "try with", TEXT, trial_cell(r, f, cells))
CTS_SHEET_COLUMNS(finding_columns, FINDING_COLUMNS);

static void finding_row(const void *state, size_t row_index, struct cts_sheet_row *cells)
{
    const struct cts_flow_report *const r = state;
    const struct cts_flow_finding *const f = &r->flow->findings[row_index];
    const struct cts_allocation *const row = allocation_at(r, f->allocation);
    CTS_SHEET_FILL(cells, FINDING_COLUMNS);
}

/* ---- allocations and launches ---- */

static uint64_t op_cell(const struct cts_flow_report *r, uint32_t node)
{
    return node == CTS_NONE ? UINT64_MAX : cts_flow_node_at(r->flow, node)->op;
}

#define ALLOCATION_COLUMNS(COLUMN)                                                                 \
    COLUMN(allocation, "allocation", ID, row->allocation)                                          \
    COLUMN(variable, "variable", TEXT, row->variable)                                              \
    COLUMN(allocated_at, "allocated at", TEXT, source_cell(row, cells))                            \
    COLUMN(kind, "kind", TEXT, row->kind)                                                          \
    COLUMN(size_bytes, "size", BYTES, row->size_bytes)                                             \
    COLUMN(op, "op", ID, row->op)                                                                  \
    COLUMN(first_op, "first use", ID, op_cell(r, u->first_node))                                   \
    COLUMN(last_op, "last use", ID, op_cell(r, u->last_node))                                      \
    COLUMN(freed_op, "freed", ID, row->freed_op)                                                   \
    COLUMN(nodes, "users", COUNT, u->nodes)                                                        \
    COLUMN(launches, "launches", COUNT, u->launches)                                               \
    COLUMN(touched_bytes, "touched", BYTES, u->touched_bytes)
CTS_SHEET_COLUMNS(allocation_columns, ALLOCATION_COLUMNS);

static void allocation_row(const void *state, size_t row_index, struct cts_sheet_row *cells)
{
    const struct cts_flow_report *const r = state;
    const struct cts_allocation *const row = &r->flow->catalogue->allocations[row_index];
    const struct cts_flow_allocation_use *const u = &r->flow->walk.allocations[row_index];
    CTS_SHEET_FILL(cells, ALLOCATION_COLUMNS);
}

#define LAUNCH_COLUMNS(COLUMN)                                                                     \
    COLUMN(node, "node", TEXT, node_cell(r, node, cells))                                          \
    COLUMN(name, "kernel", KERNEL, cts_flow_subject(r->flow, node))                                \
    COLUMN(op, "op", ID, cts_flow_node_at(r->flow, node)->op)                                      \
    COLUMN(stream, NULL, ID, stream_cell(r, node))                                                 \
    COLUMN(stream_name, "stream", TEXT, stream_name_cell(r, node, cells))                          \
    COLUMN(thread, NULL, ID, cts_flow_node_at(r->flow, node)->thread)                              \
    COLUMN(read_bytes, "read", BYTES, u->read_bytes)                                               \
    COLUMN(written_bytes, "written", BYTES, u->written_bytes)                                      \
    COLUMN(overwritten_bytes, "overwritten", BYTES, u->overwritten_bytes)                          \
    COLUMN(freed_bytes, "freed", BYTES, u->freed_bytes)                                            \
    COLUMN(left_bytes, "left", BYTES, u->left_bytes)                                               \
    COLUMN(stale_bytes, NULL, BYTES, u->stale_bytes)                                               \
    COLUMN(hidden_loads, NULL, FLAG, u->hides_loads)                                               \
    COLUMN(hidden_stores, "not all recorded", FLAG, u->hides_stores)
CTS_SHEET_COLUMNS(launch_columns, LAUNCH_COLUMNS);

static void launch_row(const void *state, size_t row_index, struct cts_sheet_row *cells)
{
    const struct cts_flow_report *const r = state;
    const uint32_t node = (uint32_t)r->works[row_index];
    const struct cts_flow_use *const u = &r->flow->walk.uses[node];
    CTS_SHEET_FILL(cells, LAUNCH_COLUMNS);
}

struct cts_sheet cts_flow_sheet(const struct cts_flow_report *report, enum cts_flow_sheet sheet)
{
    struct cts_sheet made;
    switch (sheet) {
    case CTS_FLOW_SHEET_EDGE:
        made = CTS_SHEET("edges", edge_columns, report->edge_count, edge_row, report);
        break;
    case CTS_FLOW_SHEET_FINDING:
        made = CTS_SHEET("findings", finding_columns, report->flow->finding_count, finding_row,
                         report);
        break;
    case CTS_FLOW_SHEET_ALLOCATION:
        made = CTS_SHEET("allocations", allocation_columns,
                         report->flow->catalogue->allocation_count, allocation_row, report);
        break;
    default:
        made = CTS_SHEET("launches", launch_columns, report->work_count, launch_row, report);
        break;
    }
    made.full_names = report->full_names;
    return made;
}

/* ---- which ---- */

static uint32_t launch_id(const struct cts_flow_result *flow, uint32_t node)
{
    const struct cts_flow_node *const n = &flow->order.nodes[node];
    return n->kind == CTS_FLOW_LAUNCH ? flow->catalogue->launches[n->index].launch : CTS_NONE;
}

static bool is_chosen(const struct cts_flow_result *flow, const struct cts_flow_edge *e,
                      const uint32_t between[2])
{
    if (!cts_flow_carries(e)) return false;
    if (between[0] == CTS_NONE) return true;
    const uint32_t from = launch_id(flow, e->from), to = launch_id(flow, e->to);
    return (from == between[0] && to == between[1]) || (from == between[1] && to == between[0]);
}

enum cts_status cts_flow_choose(const struct cts_flow_result *flow, const uint32_t between[2],
                                struct cts_flow_report *report, struct cts_error *error)
{
    size_t *const edges = cts_array_zeroed(flow->walk.edge_count, sizeof *edges, error);
    size_t *const works =
        edges ? cts_array_zeroed(flow->order.node_count, sizeof *works, error) : NULL;
    if (!works) {
        free(edges);
        return CTS_MEMORY;
    }
    report->edge_count = report->work_count = 0;
    for (size_t e = 0; e < flow->walk.edge_count; e++)
        if (is_chosen(flow, &flow->walk.edges[e], between)) edges[report->edge_count++] = e;
    for (size_t i = 0; i < flow->order.node_count; i++)
        if (flow->order.nodes[i].kind <= CTS_FLOW_MEMSET) works[report->work_count++] = i;
    report->edges = edges;
    report->works = works;
    return CTS_OK;
}

/* ---- the screenful ---- */

static void print_sentence(void *state, const char *text)
{
    cts_print_paragraph(state, 2, "%s", text);
}

void cts_flow_print_notes(const struct cts_flow_report *report, FILE *file)
{
    cts_flow_tell_notes(report->flow, print_sentence, file);
}

/* ", launch 4 (scale) and copy 2 (DtoH)": what a sentence is about that does not name it itself. */
static void name_subjects(const struct cts_flow_report *r, const struct cts_flow_finding *f,
                          const struct cts_short_names *kernels, char *text, size_t bytes)
{
    const struct cts_allocation *const row = allocation_at(r, f->allocation);
    char first[ADVICE_BYTES / 2] = "", second[ADVICE_BYTES / 2] = "";
    *text = '\0';
    if (f->kind == CTS_FLOW_RACE || f->kind == CTS_FLOW_POSSIBLE_RACE ||
        f->kind == CTS_FLOW_NEEDLESS_WAIT)
        return;
    if (f->node != CTS_NONE) cts_flow_name_fully(r->flow, f->node, kernels, first, sizeof first);
    if (f->other != CTS_NONE)
        cts_flow_name_fully(r->flow, f->other, kernels, second, sizeof second);
    if (f->node != CTS_NONE)
        snprintf(text, bytes, ", %s%s%s", first, *second ? " and " : "", second);
    else if (row && row->variable)
        snprintf(text, bytes, ", '%.100s'", row->variable);
    else if (row)
        snprintf(text, bytes, ", allocation %u", row->allocation);
}

static void print_trial(const struct cts_flow_report *report, const struct cts_flow_finding *f,
                        FILE *file)
{
    char options[CTS_FLOW_TRIAL_BYTES];
    if (cts_flow_trial_options(report->flow, f, options, sizeof options))
        cts_print_paragraph(file, 5, "   ctascope try --run %s %s -- PROGRAM", report->run_path,
                            options);
}

/* " Saves at most 185 us.": where times are known. */
static const char *time_cell(const struct cts_flow_finding *f, struct cts_sheet_row *cells)
{
    if (!f->saved_ns) return "";
    return cts_sheet_text(cells, 60, " Saves at most %s.", cts_time_text(f->saved_ns).text);
}

static enum cts_status print_advice(const struct cts_flow_report *report, FILE *file,
                                    struct cts_error *error)
{
    const struct cts_flow_result *const flow = report->flow;
    struct cts_short_names kernels;
    const enum cts_status status = cts_kernel_names(flow->catalogue, &kernels, error);
    for (size_t i = 0; i < flow->finding_count && i < 5 && !status; i++) {
        struct cts_sheet_row cells = {.text_bytes = 0};
        const struct cts_flow_finding *const f = &flow->findings[i];
        char subjects[ADVICE_BYTES];
        name_subjects(report, f, &kernels, subjects, sizeof subjects);
        cts_print_paragraph(file, 3, "%zu. %s%s: %s.%s%s%s%s Legal %s.", i + 1,
                            cts_flow_finding_text(f->kind), subjects,
                            advice_cell(report, f, &cells), f->reason ? " Only possible: " : "",
                            f->reason ? cts_flow_reason_text(f->reason) : "", f->reason ? "." : "",
                            time_cell(f, &cells), cts_flow_finding_legal(f->kind));
        print_trial(report, f, file);
    }
    cts_short_names_release(&kernels);
    return status;
}

enum cts_status cts_flow_print_summary(const struct cts_flow_report *report, FILE *file,
                                       struct cts_error *error)
{
    const struct cts_flow_result *const flow = report->flow;
    fprintf(file, "%s; %s\n",
            cts_counted_text(report->work_count, "launch, copy or memset",
                             "launches, copies and memsets")
                .text,
            cts_counted_text(report->edge_count, "edge", "edges").text);
    cts_flow_tell_counts(flow, print_sentence, file);
    cts_flow_print_notes(report, file);
    cts_flow_tell_small(flow, print_sentence, file);
    if (!flow->finding_count) {
        fprintf(file, "No findings.\n");
        return CTS_OK;
    }
    struct cts_sheet sheet = cts_flow_sheet(report, CTS_FLOW_SHEET_FINDING);
    struct cts_sheet_choice choice = {.limit = 15, .limit_option = "--per finding"};
    sheet.shown = "finding certain node name other other_name variable bytes times";
    const enum cts_status status = cts_sheet_part(&sheet, "Findings", &choice, file, error);
    if (status) return status;
    fputc('\n', file);
    return print_advice(report, file, error);
}

/* ---- JSON ---- */

static void json_suppressions(const struct cts_flow_report *report, struct cts_json *json)
{
    const struct cts_flow_suppressions *const all = report->suppressions;
    cts_json_key(json, "suppressions");
    cts_json_open_array(json);
    for (size_t i = 0; all && i < all->count; i++) {
        const struct cts_flow_suppression *const s = &all->items[i];
        cts_json_open_object_row(json);
        cts_json_member_u64(json, "line", s->line);
        cts_json_member_string(json, "finding", cts_flow_finding_text(s->kind));
        cts_json_member_string(json, "reason", s->reason);
        cts_json_member_u64(json, "findings", s->findings);
        cts_json_member_u64(json, "times", s->times);
        cts_json_close_object(json);
    }
    cts_json_close_array(json);
}

static void json_counts(const struct cts_flow_report *report, struct cts_json *json)
{
    const struct cts_flow_result *const flow = report->flow;
    cts_json_member_string(json, "run", report->run_path);
    cts_json_member_bool(json, "lower_bound", flow->lower_bound);
    cts_json_gaps(json, &flow->catalogue->gaps);
    cts_json_member_bool(json, "host_accesses_recorded", flow->host_seen);
    cts_json_member_bool(json, "values_recorded", flow->values_seen);
    cts_json_member_bool(json, "threads_recorded", flow->knows_threads);
    cts_json_member_bool(json, "calls_recorded", flow->knows_calls);
    cts_json_member_u64(json, "small_findings", flow->small_findings);
    cts_json_member_u64(json, "suppressed_findings", flow->suppressed_findings);
    json_suppressions(report, json);
    cts_json_member_u64(json, "baseline_findings", flow->known_findings);
    cts_json_member_u64(json, "ordered_pairs", flow->ordered_pairs);
    cts_json_member_u64(json, "race_pairs", flow->race_pairs);
    cts_json_member_u64(json, "possible_race_pairs", flow->possible_pairs);
    cts_json_member_u64(json, "unjudged_pairs", flow->unjudged_pairs);
    cts_json_member_u64(json, "unmapped_pairs", flow->unmapped_pairs);
    if (flow->bytes_per_ns > 0)
        cts_json_member_double(json, "memory_rate_bytes_per_ns", flow->bytes_per_ns);
    cts_json_member_u64(json, "incomplete_launches", flow->hiding_launches);
    cts_json_member_u64(json, "longest_chain", flow->longest_enforced);
    cts_json_member_u64(json, "longest_needed_chain", flow->longest_needed);
    cts_json_member_u64(json, "longest_raw_chain", flow->longest_raw);
    if (flow->is_needless_wait) {
        cts_json_member_u64(json, "needed_waits", flow->needed_waits);
        cts_json_member_u64(json, "needless_waits", flow->needless_waits);
    }
    cts_json_member_u64(json, "allocated_peak_bytes", flow->allocated_peak_bytes);
    cts_json_member_u64(json, "live_peak_bytes", flow->live_peak_bytes);
}

enum cts_status cts_flow_print_json(const struct cts_flow_report *report,
                                    const bool sheets[CTS_FLOW_SHEET_COUNT],
                                    const struct cts_sheet_choice *choice, FILE *file,
                                    struct cts_error *error)
{
    struct cts_json json;
    cts_json_begin(&json, file);
    cts_json_open_object(&json);
    json_counts(report, &json);
    enum cts_status status = CTS_OK;
    for (unsigned i = 0; i < CTS_FLOW_SHEET_COUNT && !status; i++) {
        if (!sheets[i]) continue;
        const struct cts_sheet sheet = cts_flow_sheet(report, (enum cts_flow_sheet)i);
        struct cts_sheet_rows rows;
        status = cts_sheet_choose(&sheet, choice, &rows, error);
        if (status) break;
        cts_sheet_json(&sheet, &rows, &json);
        free(rows.rows);
    }
    cts_json_close_object(&json);
    fputc('\n', file);
    return status;
}

/* ---- DOT ---- */

static void dot_text(const char *text, FILE *file)
{
    while (*text) {
        const size_t size = cts_utf8_length(text);
        if (*text == '"' || *text == '\\') fputc('\\', file);
        if (size && cts_utf8_is_plain(text))
            fwrite(text, 1, size, file);
        else
            fputc('?', file);
        text += size ? size : 1;
    }
}

static void dot_node(const struct cts_flow_report *r, uint32_t node, FILE *file)
{
    char name[NODE_BYTES];
    const char *const what = cts_flow_subject(r->flow, node);
    cts_flow_name_node(r->flow, node, name, sizeof name);
    fprintf(file, "  n%u [label=\"%s\\n", node, name);
    dot_text(what ? what : "", file);
    char stream[CTS_STREAM_NAME_BYTES];
    if (cts_flow_node_at(r->flow, node)->stream != CTS_NONE)
        fprintf(file, "\\n%s",
                cts_cuda_stream_name(r->flow->catalogue, cts_flow_node_at(r->flow, node)->stream,
                                     stream));
    fprintf(file, "\"%s];\n", cts_flow_node_at(r->flow, node)->is_in_stream ? "" : ", shape=box");
}

enum cts_status cts_flow_print_dot(const struct cts_flow_report *report, FILE *file,
                                   struct cts_error *error)
{
    const struct cts_flow_result *const flow = report->flow;
    bool *const used = cts_array_zeroed(flow->order.node_count, sizeof *used, error);
    if (!used) return CTS_MEMORY;
    fprintf(file, "digraph flow {\n");
    for (size_t i = 0; i < report->edge_count; i++) {
        const struct cts_flow_edge *const e = &flow->walk.edges[report->edges[i]];
        used[e->from] = used[e->to] = true;
    }
    for (size_t i = 0; i < flow->order.node_count; i++)
        if (used[i]) dot_node(report, (uint32_t)i, file);
    for (size_t i = 0; i < report->edge_count; i++) {
        const struct cts_flow_edge *const e = &flow->walk.edges[report->edges[i]];
        const bool is_true = e->raw_bytes > 0;
        const bool is_possible = is_true && e->possible_raw_bytes == e->raw_bytes;
        const uint64_t bytes = is_true         ? e->raw_bytes
                               : e->waw_bytes  ? e->waw_bytes
                               : e->war_bytes  ? e->war_bytes
                               : e->race_bytes ? e->race_bytes
                                               : e->commuting_bytes;
        fprintf(file, "  n%u -> n%u [label=\"%s %" PRIu64 " B\"%s%s];\n", e->from, e->to,
                is_true        ? "RAW"
                : e->waw_bytes ? "WAW"
                : e->war_bytes ? "WAR"
                               : "",
                bytes,
                is_possible ? ", style=dashed"
                : is_true   ? ""
                            : ", style=dotted",
                e->race_bytes ? ", color=red" : "");
    }
    fprintf(file, "}\n");
    free(used);
    return CTS_OK;
}
