/* The alignment of CUDA's vectors. See vector-copies.c. */
#ifndef CTS_INSTRUMENT_VECTOR_COPIES_H
#define CTS_INSTRUMENT_VECTOR_COPIES_H

#include "record/instrument/ir.h"

/* For the define pass. */
void cts_align_vectors(struct cts_ir *ir);

#endif
