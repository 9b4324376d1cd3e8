/* The memory accesses that one instruction of device code makes. */
#ifndef CTS_INSTRUMENT_DEVICE_ACCESS_H
#define CTS_INSTRUMENT_DEVICE_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

#include "trace/access.h"

/* Where the value that an access reads or writes is found, for recordings with values. */
enum cts_value_source {
    CTS_VALUE_OF_RESULT,  /* the instruction's result: a load, an atomic's old value */
    CTS_VALUE_OF_OPERAND, /* `value`, known before the instruction */
    CTS_VALUE_OF_MEMORY,  /* the memory at `pointer` after the instruction */
    CTS_VALUE_OF_SOURCE,  /* the memory at `value` before the instruction: copies */
    CTS_VALUE_OF_BYTE,    /* the byte `value`, over and over: memset */
};

struct cts_memory_access {
    LLVMValueRef pointer; /* in any address space; or an integer, with the space below */
    LLVMValueRef length;  /* bytes, when they are known at run time only; else NULL */
    LLVMValueRef value;
    LLVMTypeRef type; /* of the element; NULL when the instruction does not say */
    uint64_t width_bytes;
    enum cts_operation operation;
    enum cts_value_source value_source;
    int64_t offset_bytes;   /* to be added to `pointer` */
    unsigned integer_space; /* LLVM address space that an integer `pointer` is an address in */
    bool is_volatile;
};

enum { CTS_ACCESSES_PER_INSTRUCTION = 8 };

struct cts_memory_accesses {
    struct cts_memory_access items[CTS_ACCESSES_PER_INSTRUCTION];
    unsigned count;
    /* Set when the instruction touches memory in a way that is not understood. */
    const char *skipped_reason;
};

void cts_find_accesses(LLVMTargetDataRef layout, LLVMValueRef instruction,
                       struct cts_memory_accesses *accesses);

/* Those of an inline PTX call: device-ptx.c. */
void cts_find_ptx_accesses(LLVMValueRef call, struct cts_memory_accesses *accesses);

#endif
