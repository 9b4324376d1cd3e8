/* libcu++'s barrier of a block: who arrives and who has waited. See device-barriers.c. */
#ifndef CTS_INSTRUMENT_DEVICE_BARRIERS_H
#define CTS_INSTRUMENT_DEVICE_BARRIERS_H

#include <stdbool.h>

#include <llvm-c/Core.h>

#include "record/instrument/ir.h"

/* For the define pass: puts the calls in (CTS_EVENT_MBARRIER_ARRIVE, ..._WAIT). */
void cts_tell_barriers(struct cts_ir *ir);

/* Whether an instruction comes from a function of the barrier or of a pipeline. */
bool cts_is_in_barrier(LLVMValueRef instruction);

#endif
