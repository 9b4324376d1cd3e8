/* Recognises what orders accesses: NVVM's intrinsics or, on the CPU device, the functions that the
 * lower pass has made of them, fences, and the calls of headers that copy at once what a GPU copies
 * asynchronously. */
#include "record/instrument/device-events.h"

#include <string.h>

static bool has_prefix(const char *text, const char *prefix)
{
    return !strncmp(text, prefix, strlen(prefix));
}

/* What the operands of a call say. */
enum operands {
    NOTHING,
    NUMBER,       /* of a barrier */
    NUMBER_COUNT, /* and its threads */
    VALUE,        /* the argument itself */
    VALUE_AND_1,
};

/* By the name behind "llvm.nvvm." or "__cts_nvvm_", with dots; a name that ends in '*' is the
 * beginning of one. */
static const struct {
    const char *name;
    enum cts_barrier_operation operation;
    enum operands operands;
    uint64_t constant;
} known[] = {
    {"barrier0", CTS_BARRIER_CTA_SYNC, NOTHING, 1},
    {"barrier0.popc", CTS_BARRIER_CTA_SYNC, NOTHING, 1},
    {"barrier0.and", CTS_BARRIER_CTA_SYNC, NOTHING, 1},
    {"barrier0.or", CTS_BARRIER_CTA_SYNC, NOTHING, 1},
    {"barrier.n", CTS_BARRIER_CTA_SYNC, NUMBER, 1},
    {"barrier", CTS_BARRIER_CTA_SYNC, NUMBER_COUNT, 1},
    {"bar.sync", CTS_BARRIER_CTA_SYNC, NUMBER, 1},
    {"barrier.sync", CTS_BARRIER_CTA_SYNC, NUMBER, 1},
    {"barrier.sync.cnt", CTS_BARRIER_CTA_SYNC, NUMBER_COUNT, 1},
    {"barrier.arrive.cnt", CTS_BARRIER_CTA_ARRIVE, NUMBER_COUNT, 1},
    {"bar.warp.sync", CTS_BARRIER_WARP_SYNC, VALUE, 0},
    {"barrier.cluster.arrive*", CTS_BARRIER_CLUSTER_ARRIVE, NOTHING, 1},
    {"barrier.cluster.wait*", CTS_BARRIER_CLUSTER_WAIT, NOTHING, 1},
    {"mbarrier.arrive*", CTS_BARRIER_MBARRIER_ARRIVE, VALUE_AND_1, 1},
    {"membar.cta", CTS_BARRIER_FENCE, NOTHING, CTS_FENCE_CTA},
    {"membar.gl", CTS_BARRIER_FENCE, NOTHING, CTS_FENCE_GPU},
    {"membar.sys", CTS_BARRIER_FENCE, NOTHING, CTS_FENCE_SYSTEM},
    {"fence.sc.cluster", CTS_BARRIER_FENCE, NOTHING, CTS_FENCE_CTA},
    {"cp.async.ca.shared.global.*", CTS_BARRIER_ASYNC_COPY, NOTHING, 1},
    {"cp.async.cg.shared.global.*", CTS_BARRIER_ASYNC_COPY, NOTHING, 1},
    {"cp.async.commit.group", CTS_BARRIER_ASYNC_COMMIT, NOTHING, 1},
    {"cp.async.wait.all", CTS_BARRIER_ASYNC_WAIT, NOTHING, 1},
    {"cp.async.wait.group", CTS_BARRIER_ASYNC_WAIT, VALUE_AND_1, 1},
};

static bool is_name(const char *name, const char *pattern)
{
    const size_t length = strlen(pattern);
    if (pattern[length - 1] == '*') return !strncmp(name, pattern, length - 1);
    return !strcmp(name, pattern);
}

static void find_by_name(LLVMValueRef call, const char *name, struct cts_events *events)
{
    const unsigned count = (unsigned)LLVMGetNumArgOperands(call);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const enum operands operands = known[i].operands;
        const unsigned needed = operands == NUMBER_COUNT ? 2 : operands != NOTHING;
        if (!is_name(name, known[i].name) || count < needed) continue;
        cts_add_event(events, (struct cts_event){
                                  .operation = known[i].operation,
                                  .constant = known[i].constant,
                                  .value = needed ? LLVMGetOperand(call, 0) : NULL,
                                  .count = needed == 2 ? LLVMGetOperand(call, 1) : NULL,
                              });
        return;
    }
}

/* "__cts_nvvm_bar_warp_sync" is "bar.warp.sync". */
static void find_lowered(LLVMValueRef call, const char *name, struct cts_events *events)
{
    char dotted[64];
    size_t n = 0;
    for (name += strlen("__cts_nvvm_"); *name && n + 1 < sizeof dotted; name++)
        dotted[n++] = *name == '_' ? '.' : *name;
    dotted[n] = 0;
    find_by_name(call, dotted, events);
}

static bool metadata_of(LLVMValueRef instruction, const char *kind, uint32_t *value)
{
    const unsigned id = LLVMGetMDKindIDInContext(LLVMGetTypeContext(LLVMTypeOf(instruction)), kind,
                                                 (unsigned)strlen(kind));
    LLVMValueRef node = LLVMGetMetadata(instruction, id), operand = NULL;
    if (!node || LLVMGetMDNodeNumOperands(node) != 1) return false;
    LLVMGetMDNodeOperands(node, &operand);
    if (!operand || !LLVMIsAConstantInt(operand)) return false;
    *value = (uint32_t)LLVMConstIntGetZExtValue(operand);
    return true;
}

void cts_event_set(LLVMContextRef context, LLVMValueRef instruction, const char *kind,
                   uint32_t value)
{
    LLVMMetadataRef number =
        LLVMValueAsMetadata(LLVMConstInt(LLVMInt32TypeInContext(context), value, 0));
    LLVMMetadataRef node = LLVMMDNodeInContext2(context, &number, 1);
    LLVMSetMetadata(instruction, LLVMGetMDKindIDInContext(context, kind, (unsigned)strlen(kind)),
                    LLVMMetadataAsValue(context, node));
}

static void find_in_call(LLVMValueRef call, struct cts_events *events)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    size_t length;
    uint32_t value;
    if (LLVMIsAInlineAsm(callee)) {
        cts_find_ptx_events(call, events);
        return;
    }
    if (!LLVMIsAFunction(callee)) return;
    const char *const name = LLVMGetValueName2(callee, &length);
    if (has_prefix(name, "llvm.nvvm."))
        find_by_name(call, name + strlen("llvm.nvvm."), events);
    else if (has_prefix(name, "__cts_nvvm_"))
        find_lowered(call, name, events);
    else if (!strcmp(name, "__cts_grid_sync"))
        cts_add_event(events,
                      (struct cts_event){.operation = CTS_BARRIER_GRID_SYNC, .constant = 1});
    else if (!strcmp(name, CTS_EVENT_ASYNC_COPY) || metadata_of(call, CTS_EVENT_ASYNC, &value))
        cts_add_event(events,
                      (struct cts_event){.operation = CTS_BARRIER_ASYNC_COPY, .constant = 1});
    else if (!strcmp(name, CTS_EVENT_ASYNC_COMMIT))
        cts_add_event(events,
                      (struct cts_event){.operation = CTS_BARRIER_ASYNC_COMMIT, .constant = 1});
    else if (!strcmp(name, CTS_EVENT_MBARRIER_ARRIVE) || !strcmp(name, CTS_EVENT_MBARRIER_WAIT))
        cts_add_event(events, (struct cts_event){.operation = strcmp(name, CTS_EVENT_MBARRIER_WAIT)
                                                                  ? CTS_BARRIER_MBARRIER_ARRIVE
                                                                  : CTS_BARRIER_MBARRIER_WAIT,
                                                 .constant = 1,
                                                 .value = LLVMGetOperand(call, 0)});
    else if (!strcmp(name, CTS_EVENT_ASYNC_WAIT) && LLVMGetNumArgOperands(call) == 1)
        cts_add_event(events, (struct cts_event){.operation = CTS_BARRIER_ASYNC_WAIT,
                                                 .constant = 1,
                                                 .value = LLVMGetOperand(call, 0)});
}

/* A store that comes after all before it: the same as a fence and the store. Atomics that also read
 * say nothing: those of CUDA have no order, and clang gives them the strongest. */
static bool releases(LLVMValueRef instruction)
{
    if (!LLVMIsAStoreInst(instruction)) return false;
    const LLVMAtomicOrdering ordering = LLVMGetOrdering(instruction);
    return ordering == LLVMAtomicOrderingRelease ||
           ordering == LLVMAtomicOrderingSequentiallyConsistent;
}

void cts_find_events(LLVMValueRef instruction, struct cts_events *events)
{
    events->count = 0;
    if (LLVMIsACallInst(instruction)) {
        find_in_call(instruction, events);
    } else if (releases(instruction)) {
        cts_add_event(events, (struct cts_event){.operation = CTS_BARRIER_FENCE,
                                                 .constant = CTS_FENCE_SYSTEM});
    } else if (LLVMIsAFenceInst(instruction) && !LLVMIsAtomicSingleThread(instruction)) {
        uint32_t scope = CTS_FENCE_SYSTEM;
        (void)metadata_of(instruction, CTS_EVENT_SCOPE, &scope);
        cts_add_event(events,
                      (struct cts_event){.operation = CTS_BARRIER_FENCE, .constant = scope});
    }
}

void cts_drop_event_calls(LLVMModuleRef module)
{
    static const char *const names[] = {CTS_EVENT_ASYNC_COPY, CTS_EVENT_ASYNC_COMMIT,
                                        CTS_EVENT_ASYNC_WAIT, CTS_EVENT_MBARRIER_ARRIVE,
                                        CTS_EVENT_MBARRIER_WAIT};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        LLVMValueRef function = LLVMGetNamedFunction(module, names[i]);
        LLVMUseRef use;
        if (!function) continue;
        while ((use = LLVMGetFirstUse(function)) && LLVMIsACallInst(LLVMGetUser(use)))
            LLVMInstructionEraseFromParent(LLVMGetUser(use));
        if (!LLVMGetFirstUse(function)) LLVMDeleteFunction(function);
    }
}
