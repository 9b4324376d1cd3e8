/* From a question's name to its answer: a table. */
#include "view/answers.h"
#include "common/text-stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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
    {"source", NULL, fill_source, "text/plain; charset=utf-8"},
    {"lines", cts_view_write_lines, NULL, NULL},
    {"findings", cts_view_write_findings, NULL, NULL},
    {"diff", cts_view_write_diff, NULL, NULL},
    {"run-findings", NULL, cts_view_fill_run_findings, "application/json"},
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
    cts_json_close_object(&json);
    const enum cts_status written = cts_json_end(&json, status ? NULL : error);
    if (!status) status = written;
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

/* ---- words ---- */

void cts_view_member_id(struct cts_json *json, const char *key, uint32_t id)
{
    cts_json_key(json, key);
    if (id == CTS_NONE)
        cts_json_null(json);
    else
        cts_json_u64(json, id);
}

void cts_view_member_line(struct cts_json *json, const char *key, uint32_t line)
{
    cts_json_key(json, key);
    if (line && line != CTS_NONE)
        cts_json_u64(json, line);
    else
        cts_json_null(json);
}

const char *cts_view_kind_text(unsigned operation)
{
    if (operation == CTS_STORE) return "store";
    return cts_operation_is_atomic(operation) ? "atomic" : "load";
}

const char *cts_view_space_text(uint8_t space)
{
    return space == CTS_SPACE_SHARED ? "shared" : space == CTS_SPACE_LOCAL ? "local" : "global";
}

enum cts_status cts_view_question_of(const struct cts_view_request *request,
                                     struct cts_view_question *question, struct cts_error *error)
{
    uint64_t launch = UINT64_MAX;
    *question = (struct cts_view_question){0};
    enum cts_status status =
        cts_view_query_number(&request->query, "launch", UINT32_MAX - 1, &launch, error);
    if (!status) status = cts_view_query_filter(&request->query, &question->filter, error);
    if (status) return status;
    question->question = (struct cts_selection_question){
        .launch = (uint32_t)launch,
        .filter = &question->filter.filter,
        .is_given_up = request->is_given_up,
        .state = request->state,
    };
    return CTS_OK;
}

void cts_view_question_release(struct cts_view_question *question)
{
    cts_view_filter_release(&question->filter);
}

/* ---- requests that nobody waits for ---- */

static bool is_given_up(const struct cts_view_request *request)
{
    return request->is_given_up && request->is_given_up(request->state);
}

static enum cts_status give_up(struct cts_error *error)
{
    return cts_fail(error, CTS_IO, "the request was cancelled");
}

static enum cts_status read_chunk(const void *state, const struct cts_acc_chunk *chunk,
                                  struct cts_acc_batch *batch, struct cts_error *error)
{
    const struct cts_view_request *const request = state;
    const struct cts_access_source *const source = &request->snapshot->source;
    if (is_given_up(request)) return give_up(error);
    return source->read(source->state, chunk, batch, error);
}

static const char *file_path(const void *state, uint32_t file)
{
    const struct cts_view_request *const request = state;
    const struct cts_access_source *const source = &request->snapshot->source;
    return source->path ? source->path(source->state, file) : "";
}

struct cts_access_source cts_view_source(const struct cts_view_request *request)
{
    struct cts_access_source source = request->snapshot->source;
    source.state = request;
    source.read = read_chunk;
    source.path = file_path;
    return source;
}

enum cts_status cts_view_lock(const struct cts_view_request *request, pthread_mutex_t *lock,
                              struct cts_error *error)
{
    enum { LOOK_EVERY_NS = 100000000 };
    for (;;) {
        struct timespec next;
        clock_gettime(CLOCK_MONOTONIC, &next);
        next.tv_nsec += LOOK_EVERY_NS;
        next.tv_sec += next.tv_nsec / 1000000000;
        next.tv_nsec %= 1000000000;
        if (is_given_up(request)) return give_up(error);
        if (pthread_mutex_clocklock(lock, CLOCK_MONOTONIC, &next) == 0) return CTS_OK;
    }
}
