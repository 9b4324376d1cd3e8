/* Marks for the values that an access reads or writes. */
#ifndef CTS_INSTRUMENT_DEVICE_VALUES_H
#define CTS_INSTRUMENT_DEVICE_VALUES_H

#include "record/instrument/device-access.h"

struct cts_value_marker {
    LLVMContextRef context;
    LLVMTargetDataRef layout;
    LLVMBuilderRef builder;
    LLVMValueRef mark; /* __cts_value */
    LLVMTypeRef mark_type;
};

/* Puts ceil(width / 8) marks, at most CTS_LOG_VALUE_WORDS_MAX: for the result or an operand of the
 * instruction right after it, for others where the builder stands, behind the access's own mark.
 * `address` is the access's generic pointer. */
void cts_mark_values(const struct cts_value_marker *marker, LLVMValueRef instruction,
                     const struct cts_memory_access *access, LLVMValueRef address, uint32_t site);

#endif
