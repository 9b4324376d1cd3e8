#include "analyze/selection/scan.h"
enum cts_status cts_selection_conflicts(struct cts_selection *selection,
                                        const struct cts_selection_question *question,
                                        uint8_t space, size_t count,
                                        struct cts_selection_conflicts *conflicts,
                                        struct cts_error *error)
{
    (void)selection;
    (void)question;
    (void)space;
    (void)count;
    (void)conflicts;
    return cts_fail(error, CTS_UNSUPPORTED, "not yet");
}
void cts_selection_conflicts_release(struct cts_selection_conflicts *conflicts)
{
    (void)conflicts;
}
