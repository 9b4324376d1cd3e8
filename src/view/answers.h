/* Answers to the page's questions (docs/view-protocol.md), one function each; private to view/. */
#ifndef CTS_VIEW_ANSWERS_H
#define CTS_VIEW_ANSWERS_H

#include <stdio.h>

#include "common/buffer.h"
#include "common/json.h"
#include "view/query.h"
#include "view/run.h"
#include "view/server.h"

/* A question with all that it is asked about. */
struct cts_view_request {
    struct cts_view_query query;
    struct cts_view_run *run;
    struct cts_view_snapshot *snapshot;
    struct cts_view_run *other; /* the run that this one is compared with, or NULL */
    struct cts_view_snapshot *other_snapshot;
    bool has_time;                        /* there is also a page of time */
    cts_view_findings_fn *write_findings; /* NULL: of accesses alone */
    void *time_state;
    bool (*is_given_up)(void *state); /* whether the asker has gone; may be NULL */
    void *state;
};

/* Freed by cts_view_answer_release(). */
struct cts_view_answer {
    const char *content_type; /* static */
    uint8_t *bytes;
    size_t size_bytes;
};
void cts_view_answer_release(struct cts_view_answer *answer);

/* The question of a name ("records"); CTS_USAGE when it makes no sense, CTS_LIMIT for a name that
 * is none. */
CTS_MUST_CHECK enum cts_status cts_view_answer(const char *name,
                                               const struct cts_view_request *request,
                                               struct cts_view_answer *answer,
                                               struct cts_error *error);

/* ---- what the files behind it share ---- */

typedef enum cts_status cts_view_write(const struct cts_view_request *request,
                                       struct cts_json *json, struct cts_error *error);

/* run-answers.c */
cts_view_write cts_view_write_run, cts_view_write_timeline, cts_view_write_launches;
/* launch-answers.c */
cts_view_write cts_view_write_launch, cts_view_write_position, cts_view_write_groups,
    cts_view_write_touching, cts_view_write_conflicts, cts_view_write_lines;
/* findings-answers.c */
cts_view_write cts_view_write_findings, cts_view_write_diff;
/* byte-history.c */
cts_view_write cts_view_write_history;
/* column-answers.c */
typedef enum cts_status cts_view_fill(const struct cts_view_request *request,
                                      struct cts_buffer *answer, struct cts_error *error);
cts_view_fill cts_view_fill_records, cts_view_fill_density, cts_view_fill_order;
/* report-data.c */
cts_view_fill cts_view_fill_communication, cts_view_fill_run_findings, cts_view_fill_flow;

/* run-answers.c: members of a launch's row; the object stays open. */
void cts_view_launch_members(struct cts_json *json, const struct cts_view_snapshot *snapshot,
                             const struct cts_launch *launch);
/* shared-variables.c: member "shared": the variables of the launch's shared memory, as allocations
 * of a CTA's window.
 */
void cts_view_write_shared(struct cts_json *json, const struct cts_catalogue *catalogue,
                           const struct cts_launch *row, const struct cts_selection_launch *launch);
/* ---- words (answer-words.c) ---- */

/* Members records, accesses, bytes, sectors, idealSectors, wavefronts, idealWavefronts. */
void cts_view_write_sums(struct cts_json *json, const struct cts_selection_sums *sums);

/* A member that is null for CTS_NONE. */
void cts_view_member_id(struct cts_json *json, const char *key, uint32_t id);
/* A line of source or NULL, which 0 is. */
void cts_view_member_line(struct cts_json *json, const char *key, uint32_t line);
/* "load", "store" or "atomic"; "global", "shared" or "local". */
const char *cts_view_kind_text(unsigned operation);
const char *cts_view_space_text(uint8_t space);

/* ---- a request (question.c) ---- */

/* The launch that is asked about and its filter, ready for the engine. */
struct cts_view_question {
    struct cts_selection_question question;
    struct cts_view_filter filter;
};
CTS_MUST_CHECK enum cts_status cts_view_question_of(const struct cts_view_request *request,
                                                    struct cts_view_question *question,
                                                    struct cts_error *error);
void cts_view_question_release(struct cts_view_question *question);

/* The run's accesses, whose reading fails with CTS_IO as soon as the request was cancelled: an
 * analysis that is made for a request ends with it. The request must outlive the source. */
struct cts_access_source cts_view_source(const struct cts_view_request *request);
/* Locks what is made on first demand. CTS_IO: the asker has gone, and nothing is locked. */
CTS_MUST_CHECK enum cts_status cts_view_lock(const struct cts_view_request *request,
                                             pthread_mutex_t *lock, struct cts_error *error);

/* findings-answers.c: the access analysis of the whole run, made at first demand. */
CTS_MUST_CHECK enum cts_status cts_view_access(const struct cts_view_request *request,
                                               const struct cts_access_result **result,
                                               struct cts_error *error);

#endif
