/* Conflicts of a whole launch take longest of all questions, and are what the view asks first: of
 * the launch that was asked about last they are kept, for each space. Two who ask at once wait for
 * one answer. */
#include "view/selection/conflict.h"
#include "view/selection/selection-scan.h"

enum { REMEMBERED_MAX = 1000 };

/* Whether the filter lets everything in that space through. */
static bool is_all_of(const struct cts_selection_filter *filter, uint8_t space)
{
    if (!filter) return true;
    struct cts_selection_filter rest = *filter;
    if (rest.space && view_space(rest.space) == view_space(space)) rest.space = 0;
    return cts_selection_filter_is_empty(&rest);
}

enum cts_status cts_selection_conflicts_find(struct cts_selection *selection,
                                             const struct cts_selection_question *question,
                                             struct cts_selection_ranges ranges,
                                             struct cts_selection_conflicts *conflicts,
                                             struct cts_error *error)
{
    if (!is_all_of(question->filter, ranges.space) || ranges.count > REMEMBERED_MAX)
        return cts_conflict_answer(selection, question, ranges, conflicts, error);
    struct conflict_memory *const memory = &selection->conflicts[view_space(ranges.space)];
    enum cts_status status = CTS_OK;
    *conflicts = (struct cts_selection_conflicts){0};
    pthread_mutex_lock(&memory->lock);
    if (!memory->is_there || memory->launch != question->launch) {
        cts_selection_conflicts_release(&memory->answer);
        struct cts_selection_question all = *question;
        all.filter = NULL;
        const struct cts_selection_ranges most = {ranges.space, REMEMBERED_MAX};
        status = cts_conflict_answer(selection, &all, most, &memory->answer, error);
        memory->is_there = !status;
        memory->launch = question->launch;
    }
    if (!status) status = cts_conflict_copy(&memory->answer, ranges.count, conflicts, error);
    pthread_mutex_unlock(&memory->lock);
    if (status) cts_selection_conflicts_release(conflicts);
    return status;
}
