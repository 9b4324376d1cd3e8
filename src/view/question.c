/* What a request asks, and what is read for it: nothing more once nobody waits for the answer. */
#include <time.h>

#include "view/answers.h"

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

static bool is_given_up_of(const void *state)
{
    return is_given_up(state);
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
    source.is_given_up = is_given_up_of;
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
