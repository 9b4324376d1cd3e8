/* Answers about one launch, as JSON. */
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "view/answers.h"

enum { GROUPS_MAX = 10000, TOUCHES_MAX = 10000, CONFLICTS_MAX = 1000 };

/* ---- the launch ---- */

static void write_declaration(struct cts_json *json, const struct cts_allocation *it)
{
    char text[400];
    const bool is_variable = it->kind && !strcmp(it->kind, "variable");
    cts_json_key(json, "declaration");
    if (!it->variable || !it->type) {
        cts_json_null(json);
        return;
    }
    const size_t length = strlen(it->type);
    const char *const between = is_variable || (length && it->type[length - 1] == '*') ? " " : " *";
    snprintf(text, sizeof text, "%s%s%s", it->type, is_variable ? " " : between, it->variable);
    cts_json_string(json, text);
}

static void write_allocations(struct cts_json *json, const struct cts_catalogue *catalogue,
                              const struct cts_selection_launch *launch)
{
    cts_json_key(json, "allocations");
    cts_json_open_array(json);
    for (size_t i = 0; i < launch->allocation_count; i++) {
        const struct cts_allocation *const it =
            &catalogue->allocations[launch->allocations[i].index];
        cts_json_open_object(json);
        cts_json_member_u64(json, "allocation", it->allocation);
        cts_json_member_u64(json, "address", it->address);
        cts_json_member_u64(json, "size", it->size_bytes);
        cts_json_member_string(json, "kind", it->kind ? it->kind : "?");
        cts_json_member_string(json, "variable", it->variable);
        write_declaration(json, it);
        cts_json_member_string(json, "type", it->type);
        cts_view_member_line(json, "elementBytes", it->element_bytes);
        cts_json_member_string(json, "path", it->path);
        cts_view_member_line(json, "line", it->line);
        cts_json_member_bool(json, "touched", launch->allocations[i].is_touched);
        cts_json_close_object(json);
    }
    cts_json_close_array(json);
}

static void write_use(struct cts_json *json, const struct cts_selection_launch *launch)
{
    cts_json_key(json, "sites");
    cts_json_open_array(json);
    for (size_t i = 0; i < launch->site_count; i++) {
        cts_json_open_object(json);
        cts_json_member_u64(json, "site", launch->sites[i].site);
        cts_json_member_u64(json, "records", launch->sites[i].record_count);
        cts_json_member_u64(json, "accesses", launch->sites[i].access_count);
        cts_json_close_object(json);
    }
    cts_json_close_array(json);
    cts_json_key(json, "spaces");
    cts_json_open_array(json);
    for (size_t i = 0; i < launch->space_count; i++) {
        cts_json_open_object(json);
        cts_json_member_string(json, "space", cts_view_space_text(launch->spaces[i].space));
        cts_json_member_u64(json, "first", launch->spaces[i].first);
        cts_json_member_u64(json, "last", launch->spaces[i].last);
        cts_json_member_u64(json, "accesses", launch->spaces[i].access_count);
        cts_json_close_object(json);
    }
    cts_json_close_array(json);
}

enum cts_status cts_view_write_launch(const struct cts_view_request *request, struct cts_json *json,
                                      struct cts_error *error)
{
    const struct cts_catalogue *const catalogue = &request->snapshot->recording.catalogue;
    struct cts_view_question question;
    struct cts_selection_launch launch;
    enum cts_status status = cts_view_question_of(request, &question, error);
    if (status) return status;
    status = cts_selection_launch(request->snapshot->selection, &question.question, &launch, error);
    const struct cts_launch *const row = cts_catalogue_launch(catalogue, question.question.launch);
    cts_view_question_release(&question);
    if (status) return status;
    const struct cts_kernel *const kernel =
        row->kernel < catalogue->kernel_count ? &catalogue->kernels[row->kernel] : NULL;
    const uint64_t threads = (uint64_t)row->block[0] * row->block[1] * row->block[2];
    cts_view_launch_members(json, request->snapshot, row);
    cts_json_member_string(json, "name", kernel && kernel->name ? kernel->name : "?");
    cts_json_member_u64(json, "warpsPerCta", (threads + CTS_WARP_LANES - 1) / CTS_WARP_LANES);
    cts_json_member_u64(json, "ctaCount", (uint64_t)row->grid[0] * row->grid[1] * row->grid[2]);
    cts_json_member_u64(json, "sharedBytes",
                        (uint64_t)row->dynamic_shared_bytes +
                            (kernel ? kernel->static_shared_bytes : 0));
    cts_json_member_u64(json, "bankBytes", 4);
    const uint64_t held =
        request->snapshot->launches[row - catalogue->launches].record_count + row->missing_records;
    const uint64_t read = launch.record_count + launch.unknown_count;
    cts_json_member_u64(json, "unreadable", held > read ? held - read : 0);
    write_allocations(json, catalogue, &launch);
    cts_view_write_shared(json, catalogue, row, &launch);
    write_use(json, &launch);
    cts_selection_launch_release(&launch);
    return CTS_OK;
}

enum cts_status cts_view_write_position(const struct cts_view_request *request,
                                        struct cts_json *json, struct cts_error *error)
{
    struct cts_view_question question;
    uint64_t index = UINT64_MAX;
    int64_t position;
    enum cts_status status =
        cts_view_query_number(&request->query, "index", UINT64_C(1) << 53, &index, error);
    if (!status) status = cts_view_question_of(request, &question, error);
    if (status) return status;
    status = cts_selection_position(request->snapshot->selection, &question.question, index,
                                    &position, error);
    cts_view_question_release(&question);
    if (!status) cts_json_member_i64(json, "position", position);
    return status;
}

/* ---- groups ---- */

static const char *file_name(const char *path)
{
    const char *const slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path ? path : "?";
}

/* "file.cu:12" of a line, or "?". */
static void line_text(const struct cts_catalogue *catalogue, uint32_t source, uint32_t line,
                      char *text, size_t text_bytes)
{
    if (source < catalogue->source_count)
        snprintf(text, text_bytes, "%s:%u", file_name(catalogue->sources[source].path), line);
    else
        snprintf(text, text_bytes, "no source line");
}

static void write_line_name(struct cts_json *json, const struct cts_catalogue *catalogue,
                            const uint32_t key[2])
{
    char text[300];
    snprintf(text, sizeof text, "%u:%u", key[0], key[1]);
    cts_json_member_string(json, "key", key[0] == CTS_NONE ? "" : text);
    line_text(catalogue, key[0], key[1], text, sizeof text);
    cts_json_member_string(json, "label", text);
}

static void write_site_name(struct cts_json *json, const struct cts_catalogue *catalogue,
                            uint32_t key)
{
    const struct cts_site *const site = &catalogue->sites[key];
    char number[16], place[300], text[400];
    snprintf(number, sizeof number, "%u", key);
    line_text(catalogue, site->source, site->line, place, sizeof place);
    snprintf(text, sizeof text, "%s %s%s%s", place, cts_operation_text(site->operation),
             site->variable ? " " : "", site->variable ? site->variable : "");
    cts_json_member_string(json, "key", number);
    cts_json_member_string(json, "label", text);
}

static void write_allocation_name(struct cts_json *json, const struct cts_catalogue *catalogue,
                                  uint32_t key)
{
    char number[24], text[300];
    if (key >= catalogue->allocation_count) {
        const bool is_shared = key == CTS_SELECTION_PLACE_SHARED;
        const bool is_local = key == CTS_SELECTION_PLACE_LOCAL;
        cts_json_member_string(json, "key", is_shared ? "shared" : is_local ? "local" : "outside");
        cts_json_member_string(json, "label",
                               is_shared  ? "shared memory"
                               : is_local ? "local memory"
                                          : "outside every allocation");
        return;
    }
    const struct cts_allocation *const it = &catalogue->allocations[key];
    snprintf(number, sizeof number, "%u", it->allocation);
    cts_json_member_string(json, "key", number);
    snprintf(text, sizeof text, "%s at 0x%llx", it->kind ? it->kind : "allocation",
             (unsigned long long)it->address);
    cts_json_member_string(json, "label", it->variable ? it->variable : text);
}

static void write_group_name(struct cts_json *json, const struct cts_catalogue *catalogue,
                             enum cts_selection_grouping by, const uint32_t key[2])
{
    char number[16], text[32];
    snprintf(number, sizeof number, "%u", key[0]);
    switch (by) {
    case CTS_SELECTION_BY_LINE:
        write_line_name(json, catalogue, key);
        return;
    case CTS_SELECTION_BY_SITE:
        write_site_name(json, catalogue, key[0]);
        return;
    case CTS_SELECTION_BY_ALLOCATION:
        write_allocation_name(json, catalogue, key[0]);
        return;
    case CTS_SELECTION_BY_OPERATION:
        cts_json_member_string(json, "key", cts_operation_text(key[0]));
        cts_json_member_string(json, "label", cts_operation_text(key[0]));
        return;
    default:
        snprintf(text, sizeof text, "%s %u", by == CTS_SELECTION_BY_WARP ? "warp" : "CTA", key[0]);
        cts_json_member_string(json, "key", number);
        cts_json_member_string(json, "label", text);
    }
}

enum cts_status cts_view_write_groups(const struct cts_view_request *request, struct cts_json *json,
                                      struct cts_error *error)
{
    static const char *const names[] = {
#define X(name, text) text,
        CTS_SELECTION_GROUPINGS(X)
#undef X
            NULL};
    struct cts_view_question question;
    struct cts_selection_groups groups;
    unsigned by;
    uint64_t count = 100;
    enum cts_status status = cts_view_query_word(&request->query, "by", names, &by, error);
    if (!status)
        status = cts_view_query_number(&request->query, "count", GROUPS_MAX, &count, error);
    if (!status) status = cts_view_question_of(request, &question, error);
    if (status) return status;
    status =
        cts_selection_groups(request->snapshot->selection, &question.question,
                             (struct cts_selection_ranking){by, (size_t)count}, &groups, error);
    cts_view_question_release(&question);
    if (status) return status;
    cts_json_member_u64(json, "total", groups.total);
    cts_json_key(json, "rows");
    cts_json_open_array(json);
    for (size_t i = 0; i < groups.count; i++) {
        cts_json_open_object(json);
        write_group_name(json, &request->snapshot->recording.catalogue,
                         (enum cts_selection_grouping)by, groups.items[i].key);
        cts_view_write_sums(json, &groups.items[i].sums);
        cts_json_close_object(json);
    }
    cts_json_close_array(json);
    cts_selection_groups_release(&groups);
    return CTS_OK;
}

/* ---- who touches ---- */

static void write_touches(struct cts_json *json, const char *key,
                          const struct cts_selection_touch *touches, size_t count)
{
    cts_json_key(json, key);
    cts_json_open_array(json);
    for (size_t i = 0; i < count; i++) {
        cts_json_open_object(json);
        cts_json_member_u64(json, "index", touches[i].index);
        cts_json_member_u64(json, "lane", touches[i].lane);
        cts_json_member_u64(json, "address", touches[i].address);
        cts_json_member_u64(json, "cta", touches[i].cta);
        cts_json_member_u64(json, "warp", touches[i].warp);
        cts_json_member_u64(json, "site", touches[i].site);
        cts_json_close_object(json);
    }
    cts_json_close_array(json);
}

enum cts_status cts_view_write_touching(const struct cts_view_request *request,
                                        struct cts_json *json, struct cts_error *error)
{
    struct cts_view_question question;
    struct cts_selection_touches touches;
    uint8_t space;
    uint64_t first = UINT64_MAX, last = UINT64_MAX, count = 100;
    enum cts_status status = cts_view_query_space(&request->query, "space", &space, error);
    if (!status)
        status = cts_view_query_number(&request->query, "first", UINT64_MAX, &first, error);
    if (!status) status = cts_view_query_number(&request->query, "last", UINT64_MAX, &last, error);
    if (!status)
        status = cts_view_query_number(&request->query, "count", TOUCHES_MAX, &count, error);
    if (!status) status = cts_view_question_of(request, &question, error);
    if (status) return status;
    const struct cts_selection_bytes bytes = {space, first, last, (size_t)count};
    status = cts_selection_touching(request->snapshot->selection, &question.question, &bytes,
                                    &touches, error);
    cts_view_question_release(&question);
    if (status) return status;
    cts_json_member_u64(json, "total", touches.total);
    write_touches(json, "rows", touches.items, touches.count);
    cts_selection_touches_release(&touches);
    return CTS_OK;
}

static void write_conflict(struct cts_json *json, const struct cts_selection_conflict *it)
{
    cts_json_open_object(json);
    cts_json_member_u64(json, "first", it->first);
    cts_json_member_u64(json, "last", it->last);
    cts_json_member_u64(json, "warps", it->warp_count);
    cts_json_member_u64(json, "writers", it->writer_count);
    cts_json_member_bool(json, "atomic", it->is_atomic);
    write_touches(json, "touches", it->touches, it->touch_count);
    cts_json_member_u64(json, "touchCount", it->touch_total);
    cts_json_close_object(json);
}

enum cts_status cts_view_write_conflicts(const struct cts_view_request *request,
                                         struct cts_json *json, struct cts_error *error)
{
    struct cts_view_question question;
    struct cts_selection_conflicts conflicts;
    uint8_t space;
    uint64_t count = 100;
    enum cts_status status = cts_view_query_space(&request->query, "space", &space, error);
    if (!status)
        status = cts_view_query_number(&request->query, "count", CONFLICTS_MAX, &count, error);
    if (!status) status = cts_view_question_of(request, &question, error);
    if (status) return status;
    status = cts_selection_conflicts_find(request->snapshot->selection, &question.question,
                                          (struct cts_selection_ranges){space, (size_t)count},
                                          &conflicts, error);
    cts_view_question_release(&question);
    if (status) return status;
    cts_json_member_u64(json, "total", conflicts.total);
    cts_json_key(json, "rows");
    cts_json_open_array(json);
    for (size_t i = 0; i < conflicts.count; i++) write_conflict(json, &conflicts.items[i]);
    cts_json_close_array(json);
    cts_selection_conflicts_release(&conflicts);
    return CTS_OK;
}
