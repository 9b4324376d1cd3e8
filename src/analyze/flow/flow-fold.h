/* Repetitions of a sequence, folded: the iterations of a solver or a training loop become one with
 * a count.
 *
 *     items    i a b b c a b b c a b b c e        loops  [1,3] 3 times, [2,2] twice
 *     places   0 1 2 2 3 1 2 2 3 1 2 2 3 4
 *
 * From the left: where an item's sequence repeats at least three times in a row, the repetition
 * that covers most items is a loop, of several the one with the shortest body; then its body is
 * folded. O(n log n) for regular sequences; the work is bounded, what is left then stays as it is.
 */
#ifndef CTS_FLOW_FOLD_H
#define CTS_FLOW_FOLD_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

enum { CTS_FLOW_LOOP_LEAST = 3 }; /* repetitions */

struct cts_flow_fold_loop {
    uint32_t first, last; /* places, inclusive */
    uint32_t times;       /* in each execution of the loop around it */
};

struct cts_flow_fold {
    uint32_t *places; /* by item */
    uint32_t place_count;
    struct cts_flow_fold_loop *loops; /* by first place, outer before inner */
    size_t loop_count, loop_capacity;
};

/* Items are alike if their numbers are equal. */
CTS_MUST_CHECK enum cts_status cts_flow_fold_make(const uint64_t *items, size_t count,
                                                  struct cts_flow_fold *fold,
                                                  struct cts_error *error);
void cts_flow_fold_release(struct cts_flow_fold *fold);

#endif
