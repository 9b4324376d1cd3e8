/* The few machine instructions that a recorder has to tell apart. */
#ifndef CTS_RECORD_SASS_H
#define CTS_RECORD_SASS_H

#include <stdint.h>

enum { CTS_SASS_BYTES = 16 }; /* from compute capability 7.0 on */

enum cts_sass_kind {
    CTS_SASS_OTHER,
    CTS_SASS_ATOMIC,
    CTS_SASS_BARRIER, /* of the CTA, or of a part of it */
    /* these access memory, and nobody tells the addresses */
    CTS_SASS_TENSOR_LOAD,
    CTS_SASS_TENSOR_STORE,
    CTS_SASS_TENSOR_REDUCTION,
    CTS_SASS_TENSOR_MAP_CHANGE, /* none itself: tensor copies use maps that the device made */
    CTS_SASS_WARPGROUP_MATRIX,
    CTS_SASS_TENSOR_MATRIX,
    CTS_SASS_TEXTURE,
    CTS_SASS_SURFACE,
    CTS_SASS_MARKED_COPY, /* is recorded: a tensor copy's marker (copy-marks.h), and the copy with
                             it */
    CTS_SASS_KIND_COUNT
};

struct cts_sass {
    uint8_t kind;      /* enum cts_sass_kind */
    uint8_t operation; /* of an atomic or a copy: enum cts_operation; of a barrier: enum
                          cts_barrier_operation */
};

/* What an instruction is, from its two words. */
struct cts_sass cts_sass_of(uint64_t low, uint64_t high);

/* What instructions of a kind do that is not recorded, and why; NULL: it is recorded. */
const char *cts_sass_unrecorded(enum cts_sass_kind kind, const char **reason);

#endif
