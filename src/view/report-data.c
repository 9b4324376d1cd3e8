/* What the whole run says, made at first demand and kept: its findings, what passes between its
 * launches, and the data of the report's communication and partition part. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/flow-page.h"
#include "report/page.h"
#include "report/run-findings.h"
#include "common/text-stream.h"
#include "view/answers.h"

static enum cts_status write_page(const struct cts_view_request *request,
                                  const struct cts_page *page, char **text, struct cts_error *error)
{
    struct cts_text_stream stream;
    FILE *const memory = cts_text_stream_open(&stream);
    (void)request;
    if (!memory) return cts_fail(error, CTS_MEMORY, "no memory for figures");
    enum cts_status status = cts_page_write_data(page, memory, error);
    *text = cts_text_stream_close(&stream, NULL);
    if (!*text && !status) status = cts_fail(error, CTS_MEMORY, "no memory for figures");
    if (status) {
        free(*text);
        *text = NULL;
    }
    return status;
}

static enum cts_status make(const struct cts_view_request *request,
                            const struct cts_access_result *access, char **text,
                            struct cts_error *error)
{
    const struct cts_view_snapshot *const snapshot = request->snapshot;
    const struct cts_page_options options = {0};
    const struct cts_access_source source = cts_view_source(request);
    struct cts_page_analyses analyses = {0};
    const struct cts_page page = {
        .run_path = cts_view_run_path(request->run),
        .catalogue = &snapshot->recording.catalogue,
        .comm = &analyses.comm,
        .access = access,
        .partition = &analyses.partition,
        .figures = &analyses.figures,
    };
    enum cts_status status =
        cts_page_analyze(&snapshot->recording.catalogue, &source, &options, &analyses, error);
    if (!status) status = write_page(request, &page, text, error);
    cts_page_analyses_release(&analyses);
    return status;
}

enum cts_status cts_view_fill_communication(const struct cts_view_request *request,
                                            struct cts_buffer *answer, struct cts_error *error)
{
    struct cts_view_snapshot *const snapshot = request->snapshot;
    const struct cts_access_result *access;
    if (!snapshot->source.chunk_count)
        return cts_fail(error, CTS_UNSUPPORTED, "the run holds no accesses");
    enum cts_status status = cts_view_access(request, &access, error);
    if (!status) status = cts_view_lock(request, &snapshot->analysing, error);
    if (status) return status;
    if (!snapshot->communication) status = make(request, access, &snapshot->communication, error);
    if (!status)
        status = cts_buffer_append(answer, snapshot->communication, strlen(snapshot->communication),
                                   error);
    pthread_mutex_unlock(&snapshot->analysing);
    return status;
}

/* ---- findings ---- */

static enum cts_status write_findings(const struct cts_view_request *request,
                                      const struct cts_access_result *access, struct cts_json *json,
                                      struct cts_error *error)
{
    const struct cts_run_material material = {.catalogue = &request->snapshot->recording.catalogue,
                                              .access = access};
    const struct cts_asker asker = {request->is_given_up, request->state};
    return request->write_findings
               ? request->write_findings(request->time_state, &asker, &material, json, error)
               : cts_run_findings_json(&material, json, error);
}

/* Members of one object. */
typedef enum cts_status write_members(const struct cts_view_request *request,
                                      const struct cts_access_result *access, struct cts_json *json,
                                      struct cts_error *error);

static enum cts_status make_object(write_members *write, const struct cts_view_request *request,
                                   const struct cts_access_result *access, char **text,
                                   struct cts_error *error)
{
    struct cts_text_stream stream;
    struct cts_json json;
    FILE *const memory = cts_text_stream_open(&stream);
    if (!memory) return cts_fail(error, CTS_MEMORY, "no memory for an answer");
    cts_json_begin(&json, memory);
    cts_json_open_object(&json);
    enum cts_status status = write(request, access, &json, error);
    if (!status) cts_json_close_object(&json);
    status = cts_json_end_after(&json, status, error);
    *text = cts_text_stream_close(&stream, NULL);
    if (!*text && !status) status = cts_fail(error, CTS_MEMORY, "no memory for an answer");
    if (!status) return CTS_OK;
    free(*text);
    *text = NULL;
    return status;
}

enum cts_status cts_view_fill_run_findings(const struct cts_view_request *request,
                                           struct cts_buffer *answer, struct cts_error *error)
{
    struct cts_view_snapshot *const snapshot = request->snapshot;
    const struct cts_access_result *access = NULL;
    enum cts_status status = CTS_OK;
    if (snapshot->source.chunk_count) status = cts_view_access(request, &access, error);
    if (!status) status = cts_view_lock(request, &snapshot->analysing, error);
    if (status) return status;
    if (!snapshot->findings)
        status = make_object(write_findings, request, access, &snapshot->findings, error);
    if (!status)
        status = cts_buffer_append(answer, snapshot->findings, strlen(snapshot->findings), error);
    pthread_mutex_unlock(&snapshot->analysing);
    return status;
}

/* ---- between launches ---- */

static enum cts_status write_flow(const struct cts_view_request *request,
                                  const struct cts_access_result *access, struct cts_json *json,
                                  struct cts_error *error)
{
    const struct cts_access_source source = cts_view_source(request);
    const struct cts_flow_options options = {.least_bytes = CTS_FLOW_LEAST_BYTES};
    struct cts_flow_result flow;
    (void)access;
    enum cts_status status =
        cts_flow_analyze(&request->snapshot->recording.catalogue, &source, &options, &flow, error);
    if (status) return status;
    status = cts_flow_page_json(&flow, json, error);
    cts_flow_release(&flow);
    return status;
}

enum cts_status cts_view_fill_flow(const struct cts_view_request *request,
                                   struct cts_buffer *answer, struct cts_error *error)
{
    struct cts_view_snapshot *const snapshot = request->snapshot;
    if (!snapshot->source.chunk_count)
        return cts_fail(error, CTS_UNSUPPORTED, "the run holds no accesses");
    enum cts_status status = cts_view_lock(request, &snapshot->analysing, error);
    if (status) return status;
    if (!snapshot->flow) status = make_object(write_flow, request, NULL, &snapshot->flow, error);
    if (!status) status = cts_buffer_append(answer, snapshot->flow, strlen(snapshot->flow), error);
    pthread_mutex_unlock(&snapshot->analysing);
    return status;
}
