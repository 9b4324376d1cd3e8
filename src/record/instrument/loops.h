/* A function's blocks in program order, and the loops around each. */
#ifndef CTS_INSTRUMENT_LOOPS_H
#define CTS_INSTRUMENT_LOOPS_H

#include <stddef.h>
#include <stdint.h>

#include <llvm-c/Core.h>

enum { CTS_NO_LOOP = UINT32_MAX };

struct cts_flow_loop {
    uint32_t parent; /* index into loops, smaller than its own, or CTS_NO_LOOP */
    uint32_t depth;  /* 1: outermost */
};

struct cts_flow_block {
    LLVMBasicBlockRef block;
    uint32_t loop; /* the innermost around it, or CTS_NO_LOOP */
};

struct cts_flow {
    struct cts_flow_block *blocks; /* those that can be reached, in program order */
    struct cts_flow_loop *loops;
    size_t block_count, loop_count;
};

/* Never fails; takes any graph, irreducible ones too. */
void cts_flow_find(struct cts_flow *flow, LLVMValueRef function);
void cts_flow_release(struct cts_flow *flow);

#endif
