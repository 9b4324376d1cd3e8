/* From a question's name to its answer: a table. */
#include "view/answers.h"
#include "common/text-stream.h"

#include <stdlib.h>
#include <string.h>

static enum cts_status fill_source(const struct cts_view_request *request,
                                   struct cts_buffer *answer, struct cts_error *error)
{
    const struct cts_catalogue *const catalogue = &request->snapshot->recording.catalogue;
    uint64_t source = UINT64_MAX;
    const enum cts_status status =
        cts_view_query_number(&request->query, "source", UINT32_MAX, &source, error);
    if (status) return status;
    if (source >= catalogue->source_count || !catalogue->sources[source].text)
        return cts_fail(error, CTS_USAGE, "the run does not contain the text of source %llu",
                        (unsigned long long)source);
    const char *const text = catalogue->sources[source].text;
    return cts_buffer_append(answer, text, strlen(text), error);
}

static const struct question {
    const char *name;
    cts_view_write *write; /* JSON, or */
    cts_view_fill *fill;   /* bytes of */
    const char *type;      /*   this type */
} questions[] = {
    {"run", cts_view_write_run, NULL, NULL},
    {"timeline", cts_view_write_timeline, NULL, NULL},
    {"launches", cts_view_write_launches, NULL, NULL},
    {"launch", cts_view_write_launch, NULL, NULL},
    {"records", NULL, cts_view_fill_records, "application/octet-stream"},
    {"position", cts_view_write_position, NULL, NULL},
    {"groups", cts_view_write_groups, NULL, NULL},
    {"density", NULL, cts_view_fill_density, "application/octet-stream"},
    {"order", NULL, cts_view_fill_order, "application/octet-stream"},
    {"touching", cts_view_write_touching, NULL, NULL},
    {"conflicts", cts_view_write_conflicts, NULL, NULL},
    {"history", cts_view_write_history, NULL, NULL},
    {"source", NULL, fill_source, "text/plain; charset=utf-8"},
    {"lines", cts_view_write_lines, NULL, NULL},
    {"findings", cts_view_write_findings, NULL, NULL},
    {"diff", cts_view_write_diff, NULL, NULL},
    {"run-findings", NULL, cts_view_fill_run_findings, "application/json"},
    {"flow", NULL, cts_view_fill_flow, "application/json"},
    {"communication", NULL, cts_view_fill_communication, "application/json"},
};

void cts_view_answer_release(struct cts_view_answer *answer)
{
    free(answer->bytes);
    *answer = (struct cts_view_answer){0};
}

static enum cts_status write_json(cts_view_write *write, const struct cts_view_request *request,
                                  struct cts_view_answer *answer, struct cts_error *error)
{
    struct cts_text_stream stream;
    size_t text_bytes = 0;
    struct cts_json json;
    FILE *const memory = cts_text_stream_open(&stream);
    if (!memory) return cts_fail(error, CTS_MEMORY, "no memory for an answer");
    cts_json_begin(&json, memory);
    cts_json_open_object_row(&json);
    enum cts_status status = write(request, &json, error);
    if (!status) cts_json_close_object(&json);
    status = cts_json_end_after(&json, status, error);
    char *const text = cts_text_stream_close(&stream, &text_bytes);
    if (!text && !status) status = cts_fail(error, CTS_MEMORY, "no memory for an answer");
    if (status) {
        free(text);
        return status;
    }
    *answer = (struct cts_view_answer){
        .content_type = "application/json", .bytes = (uint8_t *)text, .size_bytes = text_bytes};
    return CTS_OK;
}

enum cts_status cts_view_answer(const char *name, const struct cts_view_request *request,
                                struct cts_view_answer *answer, struct cts_error *error)
{
    const struct question *question = NULL;
    for (size_t i = 0; i < sizeof questions / sizeof *questions && !question; i++)
        if (!strcmp(questions[i].name, name)) question = &questions[i];
    *answer = (struct cts_view_answer){0};
    if (!question) return cts_fail(error, CTS_LIMIT, "unknown question '%.40s'", name);
    if (question->write) return write_json(question->write, request, answer, error);
    struct cts_buffer buffer = {0};
    const enum cts_status status = question->fill(request, &buffer, error);
    if (status) {
        cts_buffer_release(&buffer);
        return status;
    }
    *answer = (struct cts_view_answer){
        .content_type = question->type, .bytes = buffer.data, .size_bytes = buffer.size_bytes};
    return CTS_OK;
}
