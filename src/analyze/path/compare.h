/* Two timed runs of a program, before and after a change (paper 001, figure 10): what became faster
 * or slower, and what moved to the critical path or left it. */
#ifndef CTS_ANALYZE_PATH_COMPARE_H
#define CTS_ANALYZE_PATH_COMPARE_H

#include "analyze/path/path.h"

enum cts_time_change {
    CTS_TIME_SAME,
    CTS_TIME_FASTER,
    CTS_TIME_SLOWER,
    CTS_TIME_WAITS_LESS, /* faster or slower, and more than half of it is waiting */
    CTS_TIME_WAITS_MORE,
    CTS_TIME_NEW,
    CTS_TIME_GONE
};
enum cts_path_move { CTS_PATH_STAYS, CTS_PATH_MOVES_ON, CTS_PATH_MOVES_OFF };

struct cts_time_side {
    uint64_t calls, exclusive_ns, wait_ns, path_ns, blame_ns; /* wait: of the exclusive time */
};

/* Activities of one name and place of both runs together. */
struct cts_time_row {
    const char *name, *short_name; /* of one of the results */
    enum cts_path_where where;
    bool polls; /* its calls ask again and again: a loop counts as one call and one wait */
    struct cts_time_side before, after;
    enum cts_time_change
        change; /* of the exclusive time, by more than 1%; polls: also of the run */
    /* On: more of it is on the path, by at least 1% of the run and by more than its own time grew;
     * off: the other way round. */
    enum cts_path_move move;
};

struct cts_time_diff {
    struct cts_time_row *rows; /* by how much time on the path changed, largest first */
    size_t row_count;
};

/* Borrows names from both results. Free with cts_time_diff_release(). */
CTS_MUST_CHECK enum cts_status cts_time_compare(const struct cts_path *before,
                                                const struct cts_path *after,
                                                struct cts_time_diff *diff,
                                                struct cts_error *error);
void cts_time_diff_release(struct cts_time_diff *diff);

#endif
