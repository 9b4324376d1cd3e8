/* What the files of the retarget pass share. The pass as a whole is told in retarget.c. */
#ifndef CTS_INSTRUMENT_RETARGET_H
#define CTS_INSTRUMENT_RETARGET_H

#include <llvm-c/DebugInfo.h>

#include "record/abi.h"
#include "record/instrument/ir.h"
#include "record/instrument/marks.h"

/* A device function has up to three versions. */
enum cts_function_version {
    CTS_VERSION_PLAIN, /* no recording */
    CTS_VERSION_LOG,   /* marks append to the log */
    CTS_VERSION_ROW,   /* marks store into the lane buffers; kernels only */
    CTS_VERSION_COUNT
};

/* What is known of a defined function, itself and all that it may call. */
struct cts_facts {
    LLVMValueRef function;
    const char *waits_for; /* why its threads need fibers: a static text; NULL: they do not */
    bool marks;            /* accesses are recorded in it */
    bool reads_context;    /* finds its thread through __cts_current, or calls what may */
    bool grid_sync;
    bool calls_indirectly;
    bool address_taken;
    bool is_kernel;
    bool uses_exit;
    LLVMValueRef *callees; /* defined functions that it calls directly */
    size_t callee_count, callee_capacity;
    LLVMValueRef versions[CTS_VERSION_COUNT]; /* of functions that are not kernels */
    bool *uses_shared;                        /* per shared variable; NULL: none */
    bool visited;
};

/* The parameters that a kernel's body has behind the kernel's own. */
enum cts_body_parameter {
    CTS_BODY_TID,        /* 3 */
    CTS_BODY_NTID = 3,   /* 3 */
    CTS_BODY_CTAID = 6,  /* 3 */
    CTS_BODY_NCTAID = 9, /* 3 */
    CTS_BODY_CONTEXT = 12,
    CTS_BODY_SHARED,
    CTS_BODY_SHARED_DYNAMIC,
    CTS_BODY_LANES, /* row version; else null */
    CTS_BODY_LANE,  /* row version: i64 index of the lane; else 0 */
    CTS_BODY_PARAMETERS
};

struct cts_retarget_kernel {
    LLVMValueRef shell; /* the NVPTX function; empty once the body has its blocks */
    char *name;         /* mangled */
    struct cts_facts *facts;
    LLVMTypeRef body_type;
    LLVMValueRef body[CTS_VERSION_COUNT]; /* inlined into the entry points */
    unsigned parameter_count;
    LLVMValueRef cta, thread, row_rec, thread_rec; /* the entry points of abi.h; NULL: none */
    uint32_t row_sites[CTS_ROW_SLOTS_MAX];
    uint32_t row_site_count;
    uint32_t flags; /* enum cts_kernel_flags */
    uint32_t static_shared_bytes;
    uint32_t max_threads, min_ctas;
    struct cts_alignment_desc *alignments;
    size_t alignment_count, alignment_capacity;
};

struct cts_alignment_test {
    LLVMValueRef instruction;
    unsigned operand; /* the address */
    uint32_t align_bytes;
    bool of_parameter;
};

struct cts_shared_variable {
    LLVMValueRef global;
    uint64_t offset, size_bytes;
    bool is_dynamic;
};

struct cts_retarget {
    struct cts_ir ir;
    const char *unit; /* CTS_TU */
    bool separate_units;
    bool values; /* CTS_FILE_VALUES of !cts.options */
    struct cts_retarget_kernel *kernels;
    size_t kernel_count, kernel_capacity;
    struct cts_facts **facts; /* of all defined functions */
    size_t facts_count, facts_capacity;
    struct cts_ir_map facts_of; /* function -> struct cts_facts * */
    struct cts_ir_map kernel_of_body;
    struct cts_shared_variable *shared;
    size_t shared_count, shared_capacity;
    uint64_t shared_bytes;
    uint32_t shared_align_bytes; /* of the most aligned variable; 0: there is none */
    struct cts_alignment_test *tests;
    size_t test_count, test_capacity;
    LLVMValueRef current;   /* the thread-local __cts_current */
    LLVMValueRef slot_base; /* the file's cts_file_desc.slot_base */
};

/* retarget-arithmetic.c */
void cts_arithmetic_settle(struct cts_retarget *retarget);

/* retarget-alignment.c */
void cts_alignment_find(struct cts_retarget *retarget); /* before cts_bodies_make() */
void cts_alignment_test(struct cts_retarget *retarget); /* before cts_versions_make() */
bool cts_is_alignment_test(LLVMValueRef function);
/* Drops the tests that the runtime makes at launch, in a version that needs no others. */
void cts_alignment_drop(LLVMValueRef function);

/* retarget-context.c */
LLVMValueRef cts_body_parameter(const struct cts_retarget_kernel *kernel, LLVMValueRef body,
                                enum cts_body_parameter which);
/* The context, or a member of it, within `function`: a body's parameter or loaded at its entry. */
LLVMValueRef cts_context_of(struct cts_retarget *retarget, LLVMValueRef function);
LLVMValueRef cts_context_member(struct cts_retarget *retarget, LLVMValueRef context,
                                size_t offset_bytes, LLVMTypeRef type);

/* retarget-instructions.c */
/* May a call of this function end up waiting for other threads? For undefined ones. */
bool cts_external_waits(const char *name);
bool cts_is_mark(LLVMValueRef function);
/* Whether a call takes a number for a mark (device-order.h). */
bool cts_is_order(LLVMValueRef call);
/* A volatile access that other threads may see? (Not to the thread's own variables.) */
bool cts_is_shared_volatile(LLVMValueRef instruction);

/* retarget-facts.c */
void cts_facts_find(struct cts_retarget *retarget);
void cts_facts_release(struct cts_retarget *retarget);
struct cts_facts *cts_facts_get(const struct cts_retarget *retarget, LLVMValueRef function);
/* The instructions of a function at which it waits in a loop for what another thread writes. */
size_t cts_find_spins(LLVMValueRef function, LLVMValueRef **spins);

/* retarget-lockstep.c: the accesses of shared memory before which lanes have to let the others
 * catch up, in program order. The caller frees *places. */
size_t cts_find_lockstep(const struct cts_retarget *retarget, LLVMValueRef function,
                         LLVMValueRef **places);

/* retarget-shared.c */
void cts_shared_layout(struct cts_retarget *retarget);
void cts_shared_rewrite(struct cts_retarget *retarget, LLVMValueRef function);
const struct cts_shared_variable *cts_shared_find(const struct cts_retarget *retarget,
                                                  LLVMValueRef global);
/* With separate translation units, as constants that the linker computes: where the file's layout
 * begins in the program's (NULL: at 0), and the size of all layouts. */
LLVMValueRef cts_shared_file_offset(struct cts_retarget *retarget);
LLVMValueRef cts_shared_program_bytes(struct cts_retarget *retarget);

/* Is the memory behind a pointer only read? */
bool cts_is_only_read(LLVMValueRef value, unsigned depth);

/* retarget-body.c: bodies, special registers, waits; then the entry points */
void cts_bodies_make(struct cts_retarget *retarget);
void cts_registers_rewrite(struct cts_retarget *retarget, LLVMValueRef function);
void cts_waits_rewrite(struct cts_retarget *retarget, LLVMValueRef function);

/* retarget-parallel.c: puts the accesses of a body into a group (NULL: it cannot), and says of the
 * loop that `branch` closes that accesses of the group are independent */
LLVMValueRef cts_parallel_group(struct cts_retarget *retarget, LLVMValueRef body);
void cts_parallel_loop(struct cts_retarget *retarget, LLVMValueRef branch, LLVMValueRef group);

/* retarget-entry.c */
void cts_entries_make(struct cts_retarget *retarget);

/* retarget-versions.c: copies of functions, the calls between them, marks */
void cts_versions_make(struct cts_retarget *retarget);
/* For a recording version: it is a copy of what the first compile has optimised. */
void cts_make_lean(const struct cts_ir *ir, LLVMValueRef function);

/* retarget-marks.c */
void cts_marks_drop(LLVMValueRef function);
void cts_marks_to_row(struct cts_retarget *retarget, struct cts_retarget_kernel *kernel);
bool cts_row_is_possible(struct cts_retarget *retarget, const struct cts_retarget_kernel *kernel);

/* retarget-log.c */
void cts_marks_to_log(struct cts_retarget *retarget, LLVMValueRef function);

/* tables.c */
void cts_tables_make(struct cts_retarget *retarget);
LLVMValueRef cts_tables_slot_base(struct cts_retarget *retarget);
/* !cts.kernels' flags of a kernel: enum cts_kernel_flags as far as the device pass knows them */
uint32_t cts_tables_kernel_flags(const struct cts_retarget *retarget, const char *name);

#endif
