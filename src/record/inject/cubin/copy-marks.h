/* Markers before tensor copies. The Sanitizer calls no patch at a tensor copy, so a cubin gets an
 * instruction before each that it does patch: a shuffle of nothing. The copy becomes a branch to
 * code behind the function,
 *
 *     [branch to the copy, unless the copy's predicate holds]
 *     shuffle                  the marker
 *     the copy itself
 *     branch back
 *
 * which needs no register and moves no other instruction. Copies in im2col mode stay as they are.
 */
#ifndef CTS_RECORD_MARKS_H
#define CTS_RECORD_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "record/inject/cubin/tensor-copy.h"

/* A cubin with markers; the caller frees the image. */
struct cts_marked {
    uint8_t *image; /* NULL: there is no copy to be marked */
    size_t bytes;
    uint32_t copies;
};

/* Marks the copies of a cubin, and checks the result against the original. CTS_UNSUPPORTED: another
 * compute capability, or code that cannot be moved; CTS_FORMAT: no cubin, or the check failed. */
CTS_MUST_CHECK enum cts_status cts_marks_put(const void *image, size_t bytes,
                                             struct cts_marked *marked, struct cts_error *error);

/* Whether `marked` is `image` but for markers, as described above: every other instruction and
 * section the same. */
CTS_MUST_CHECK enum cts_status cts_marks_check(const void *image, size_t bytes,
                                               const struct cts_marked *marked,
                                               struct cts_error *error);

#endif
