#include "report/flow-page.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/flow/flow-picture.h"
#include "common/array.h"
#include "report/flow-report.h"
#include "report/flow-words.h"
#include "trace/stream-name.h"

enum { PLACES_MAX = 5000, LINKS_MAX = 8000, PARTS_MAX = 12, FINDINGS_MAX = 500 };

struct flow_page {
    const struct cts_flow_result *flow;
    const struct cts_flow_picture *picture;
    struct cts_json *json;
};

static void write_id(struct cts_json *json, const char *key, uint32_t id)
{
    cts_json_key(json, key);
    if (id == CTS_NONE)
        cts_json_null(json);
    else
        cts_json_u64(json, id);
}

static uint32_t launch_of(const struct cts_flow_result *flow, uint32_t node)
{
    const struct cts_flow_node *const n = cts_flow_node_at(flow, node);
    return n->kind == CTS_FLOW_LAUNCH ? flow->catalogue->launches[n->index].launch : CTS_NONE;
}

/* ---- sentences ---- */

static void write_sentence(void *state, const char *sentence)
{
    cts_json_string(state, sentence);
}

static void write_sentences(const struct flow_page *page)
{
    cts_json_key(page->json, "summary");
    cts_json_open_array(page->json);
    cts_flow_tell_counts(page->flow, write_sentence, page->json);
    cts_json_close_array(page->json);
    cts_json_key(page->json, "notes");
    cts_json_open_array(page->json);
    cts_flow_tell_notes(page->flow, write_sentence, page->json);
    cts_flow_tell_small(page->flow, write_sentence, page->json);
    cts_json_close_array(page->json);
}

/* ---- findings ---- */

/* The place of a finding's node and of the other one; -1: none. */
static void write_finding_places(const struct flow_page *page, size_t count)
{
    struct cts_json *const json = page->json;
    cts_json_key(json, "finding_places");
    cts_json_open_array(json);
    for (size_t i = 0; i < count; i++) {
        const uint32_t nodes[2] = {page->flow->findings[i].node, page->flow->findings[i].other};
        cts_json_open_array_row(json);
        for (unsigned k = 0; k < 2; k++) {
            const uint32_t place =
                nodes[k] == CTS_NONE ? CTS_NONE : page->picture->place_of[nodes[k]];
            cts_json_i64(json, place == CTS_NONE ? -1 : (int64_t)place);
        }
        cts_json_close_array(json);
    }
    cts_json_close_array(json);
}

static enum cts_status write_findings(const struct flow_page *page, struct cts_error *error)
{
    const struct cts_flow_report report = {.flow = page->flow};
    const struct cts_sheet sheet = cts_flow_sheet(&report, CTS_FLOW_SHEET_FINDING);
    const struct cts_sheet_choice choice = {.limit = FINDINGS_MAX};
    struct cts_sheet_rows rows;
    const enum cts_status status = cts_sheet_choose(&sheet, &choice, &rows, error);
    if (status) return status;
    cts_sheet_json(&sheet, &rows, page->json);
    cts_json_member_u64(page->json, "findings_left_out", rows.found - rows.count);
    write_finding_places(page, rows.count);
    free(rows.rows);
    return CTS_OK;
}

/* ---- places ---- */

static const char *const node_kinds[] = {
    [CTS_FLOW_LAUNCH] = "launch",
    [CTS_FLOW_COPY] = "copy",
    [CTS_FLOW_MEMSET] = "memset",
    [CTS_FLOW_HOST_LOAD] = "CPU load",
    [CTS_FLOW_HOST_STORE] = "CPU store",
    [CTS_FLOW_ALLOCATION] = "allocation",
    [CTS_FLOW_FREE] = "free",
};

static void write_place(const struct flow_page *page, const struct cts_flow_place *place)
{
    struct cts_json *const json = page->json;
    const struct cts_flow_node *const n = cts_flow_node_at(page->flow, place->node);
    char name[CTS_FLOW_NODE_BYTES];
    cts_flow_name_node(page->flow, place->node, name, sizeof name);
    cts_json_open_object_row(json);
    cts_json_member_string(json, "node", name);
    cts_json_member_string(json, "kind", node_kinds[n->kind]);
    cts_json_member_string(json, "name", cts_flow_subject(page->flow, place->node));
    write_id(json, "launch", launch_of(page->flow, place->node));
    cts_json_member_u64(json, "rank", n->rank);
    write_id(json, "stream", n->is_in_stream ? n->stream : CTS_NONE);
    char stream[CTS_STREAM_NAME_BYTES];
    cts_json_member_string(
        json, "stream_name",
        n->is_in_stream ? cts_cuda_stream_name(page->flow->catalogue, n->stream, stream) : NULL);
    cts_json_member_u64(json, "thread", n->thread);
    cts_json_member_u64(json, "times", place->times);
    cts_json_member_u64(json, "read_bytes", place->read_bytes);
    cts_json_member_u64(json, "written_bytes", place->written_bytes);
    cts_json_member_u64(json, "dead_bytes", place->dead_bytes);
    cts_json_member_u64(json, "on_enforced", place->on_enforced);
    cts_json_member_u64(json, "on_true", place->on_true);
    cts_json_close_object(json);
}

static void write_places(const struct flow_page *page)
{
    struct cts_json *const json = page->json;
    const struct cts_flow_fold *const fold = &page->picture->fold;
    const uint32_t shown = fold->place_count < PLACES_MAX ? fold->place_count : PLACES_MAX;
    cts_json_key(json, "places");
    cts_json_open_array(json);
    for (uint32_t i = 0; i < shown; i++) write_place(page, &page->picture->places[i]);
    cts_json_close_array(json);
    cts_json_member_u64(json, "places_left_out", fold->place_count - shown);
    cts_json_key(json, "loops");
    cts_json_open_array(json);
    for (size_t i = 0; i < fold->loop_count; i++) {
        const struct cts_flow_fold_loop *const loop = &fold->loops[i];
        if (loop->last >= shown) continue;
        cts_json_open_object_row(json);
        cts_json_member_u64(json, "first", loop->first);
        cts_json_member_u64(json, "last", loop->last);
        cts_json_member_u64(json, "times", loop->times);
        cts_json_close_object(json);
    }
    cts_json_close_array(json);
}

/* ---- links ---- */

static uint64_t weight_of(const struct cts_flow_sums *sums)
{
    return sums->raw_bytes + sums->war_bytes + sums->waw_bytes + sums->commuting_bytes +
           sums->race_bytes;
}

static void write_sums(struct cts_json *json, const struct cts_flow_sums *sums)
{
    cts_json_member_u64(json, "edges", sums->edges);
    cts_json_member_u64(json, "raw_bytes", sums->raw_bytes);
    cts_json_member_u64(json, "possible_raw_bytes", sums->possible_raw_bytes);
    cts_json_member_u64(json, "war_bytes", sums->war_bytes);
    cts_json_member_u64(json, "waw_bytes", sums->waw_bytes);
    cts_json_member_u64(json, "commuting_bytes", sums->commuting_bytes);
    cts_json_member_u64(json, "race_bytes", sums->race_bytes);
}

static void write_part(const struct flow_page *page, const struct cts_flow_part *part)
{
    struct cts_json *const json = page->json;
    const struct cts_allocation *const row =
        part->allocation == CTS_NONE ? NULL : &page->flow->catalogue->allocations[part->allocation];
    char name[CTS_FLOW_NODE_BYTES];
    cts_json_open_object_row(json);
    write_id(json, "allocation", row ? row->allocation : CTS_NONE);
    cts_json_member_string(json, "variable", row ? row->variable : NULL);
    cts_json_member_string(json, "path", row ? row->path : NULL);
    write_id(json, "line", row && row->path ? row->line : CTS_NONE);
    cts_flow_name_node(page->flow, part->from, name, sizeof name);
    cts_json_member_string(json, "from", name);
    write_id(json, "from_launch", launch_of(page->flow, part->from));
    cts_flow_name_node(page->flow, part->to, name, sizeof name);
    cts_json_member_string(json, "to", name);
    write_id(json, "to_launch", launch_of(page->flow, part->to));
    cts_json_member_hex(json, "first", part->first);
    cts_json_member_hex(json, "end", part->end);
    write_sums(json, &part->sums);
    cts_json_close_object(json);
}

static void write_link(const struct flow_page *page, const struct cts_flow_link *link)
{
    struct cts_json *const json = page->json;
    const size_t count = link->part_end - link->part_begin;
    const size_t shown = count < PARTS_MAX ? count : PARTS_MAX;
    cts_json_open_object_row(json);
    cts_json_member_u64(json, "from", link->from);
    cts_json_member_u64(json, "to", link->to);
    cts_json_member_bool(json, "carried", link->is_carried);
    write_sums(json, &link->sums);
    cts_json_key(json, "parts");
    cts_json_open_array(json);
    for (size_t i = 0; i < shown; i++)
        write_part(page, &page->picture->parts[link->part_begin + i]);
    cts_json_close_array(json);
    cts_json_member_u64(json, "parts_left_out", count - shown);
    cts_json_close_object(json);
}

struct weighed {
    uint64_t weight;
    size_t link;
};

static int by_weight(const void *left, const void *right)
{
    const struct weighed *const a = left, *const b = right;
    if (a->weight != b->weight) return a->weight > b->weight ? -1 : 1;
    return (a->link > b->link) - (a->link < b->link);
}

/* Links between places that are written, the heaviest first. */
static enum cts_status write_links(const struct flow_page *page, struct cts_error *error)
{
    const struct cts_flow_picture *const picture = page->picture;
    struct weighed *const all = cts_array_zeroed(picture->link_count, sizeof *all, error);
    size_t count = 0;
    if (!all) return CTS_MEMORY;
    for (size_t i = 0; i < picture->link_count; i++)
        if (picture->links[i].from < PLACES_MAX && picture->links[i].to < PLACES_MAX)
            all[count++] = (struct weighed){weight_of(&picture->links[i].sums), i};
    if (count > 1) qsort(all, count, sizeof *all, by_weight);
    if (count > LINKS_MAX) count = LINKS_MAX;
    cts_json_key(page->json, "links");
    cts_json_open_array(page->json);
    for (size_t i = 0; i < count; i++) write_link(page, &picture->links[all[i].link]);
    cts_json_close_array(page->json);
    cts_json_member_u64(page->json, "links_left_out", picture->link_count - count);
    free(all);
    return CTS_OK;
}

/* ---- the matrix ---- */

static void write_matrix(const struct flow_page *page)
{
    struct cts_json *const json = page->json;
    const struct cts_flow_picture *const picture = page->picture;
    const size_t bins = picture->bin_count;
    cts_json_key(json, "matrix");
    cts_json_open_object(json);
    cts_json_member_u64(json, "works", picture->work_count);
    cts_json_member_u64(json, "bin_size", picture->bin_size);
    cts_json_member_u64(json, "bins", bins);
    cts_json_key(json, "cells"); /* row, column, bytes */
    cts_json_open_array_row(json);
    for (size_t i = 0; i < bins * bins; i++) {
        if (!picture->matrix[i]) continue;
        cts_json_u64(json, i / bins);
        cts_json_u64(json, i % bins);
        cts_json_u64(json, picture->matrix[i]);
    }
    cts_json_close_array(json);
    cts_json_key(json, "labels"); /* of the first work of each bin */
    cts_json_open_array_row(json);
    uint64_t work = 0;
    for (uint32_t i = 0; i < page->flow->order.node_count; i++) {
        char name[CTS_FLOW_NODE_BYTES];
        if (page->flow->order.nodes[i].kind > CTS_FLOW_MEMSET) continue;
        if (work++ % picture->bin_size) continue;
        cts_flow_name_node(page->flow, i, name, sizeof name);
        cts_json_string(json, name);
    }
    cts_json_close_array(json);
    cts_json_close_object(json);
}

enum cts_status cts_flow_page_json(const struct cts_flow_result *flow, struct cts_json *json,
                                   struct cts_error *error)
{
    struct cts_flow_picture picture;
    enum cts_status status = cts_flow_picture_make(flow, &picture, error);
    if (status) return status;
    const struct flow_page page = {.flow = flow, .picture = &picture, .json = json};
    write_sentences(&page);
    cts_json_member_bool(json, "chains_judged", flow->longest_enforced > 0);
    cts_json_member_u64(json, "longest_chain", flow->longest_enforced);
    cts_json_member_u64(json, "longest_needed_chain", flow->longest_needed);
    cts_json_member_u64(json, "longest_raw_chain", flow->longest_raw);
    status = write_findings(&page, error);
    if (!status) {
        write_places(&page);
        status = write_links(&page, error);
    }
    if (!status) write_matrix(&page);
    cts_flow_picture_release(&picture);
    return status;
}
