/* Facts about functions that decide how a kernel may run: does it, or anything it may call, wait
 * for other threads (then its threads are fibers), record accesses (then it gets an instrumented
 * version), find its thread through the context?
 *
 * Each function is looked at once; what it calls is then added until nothing changes. A call
 * through a pointer may reach every function of the file whose address is taken; with separate
 * translation units it may reach anything, and so may a call of a function of another unit.
 *
 * Spinning: a loop whose end depends on what a read of unchanging address sees can only end when
 * another thread writes there. A compare-and-swap whose expected value changes from round to round
 * (the usual retry loop) or an addition (a queue's counter) makes progress by itself and does not
 * count. */
#include "record/instrument/retarget.h"

#include <stdlib.h>

#include "record/instrument/loops.h"
#define CTS_NVVM_ABI_NO_PROTOTYPES
#include "record/instrument/nvvm-abi.h"

struct cts_facts *cts_facts_get(const struct cts_retarget *retarget, LLVMValueRef function)
{
    return cts_map_get(&retarget->facts_of, function);
}

/* ---- spinning ---- */

struct spin_search {
    struct cts_flow flow;
    struct cts_ir_map loop_of; /* block -> index of its innermost loop + 1 */
    LLVMValueRef *found;
    size_t found_count, found_capacity;
};

static uint32_t loop_of_block(const struct spin_search *search, LLVMBasicBlockRef block)
{
    const uintptr_t index = (uintptr_t)cts_map_get(&search->loop_of, block);
    return index ? (uint32_t)(index - 1) : CTS_NO_LOOP;
}

static bool block_in_loop(const struct spin_search *search, LLVMBasicBlockRef block, uint32_t loop)
{
    uint32_t at = loop_of_block(search, block);
    while (at != CTS_NO_LOOP && at != loop) at = search->flow.loops[at].parent;
    return at == loop;
}

static bool in_loop(const struct spin_search *search, LLVMValueRef value, uint32_t loop)
{
    return LLVMIsAInstruction(value) &&
           block_in_loop(search, LLVMGetInstructionParent(value), loop);
}

/* Can the value differ from round to round? Any phi, read or call within the loop can. */
static bool varies(const struct spin_search *search, LLVMValueRef value, uint32_t loop,
                   unsigned depth)
{
    if (!in_loop(search, value, loop)) return false;
    if (depth == 0 || LLVMIsAPHINode(value) || LLVMIsALoadInst(value) || cts_is_call(value) ||
        LLVMIsAAtomicRMWInst(value) || LLVMIsAAtomicCmpXchgInst(value))
        return true;
    for (int i = 0; i < LLVMGetNumOperands(value); i++)
        if (varies(search, LLVMGetOperand(value, (unsigned)i), loop, depth - 1)) return true;
    return false;
}

static bool makes_progress(const struct spin_search *search, LLVMValueRef instruction,
                           uint32_t loop)
{
    if (LLVMIsAAtomicCmpXchgInst(instruction))
        return varies(search, LLVMGetOperand(instruction, 1), loop, 16);
    if (!LLVMIsAAtomicRMWInst(instruction)) return false;
    LLVMValueRef operand = LLVMGetOperand(instruction, 1);
    switch (LLVMGetAtomicRMWBinOp(instruction)) {
    case LLVMAtomicRMWBinOpAdd:
    case LLVMAtomicRMWBinOpSub:
    case LLVMAtomicRMWBinOpFAdd:
    case LLVMAtomicRMWBinOpFSub:
        return !LLVMIsNull(operand);
    case LLVMAtomicRMWBinOpUIncWrap:
    case LLVMAtomicRMWBinOpUDecWrap:
        return true;
    default:
        return false;
    }
}

/* Does `value` depend on `source` through instructions of the loop (and, at a phi, through the
 * branches that lead to it)? */
static bool depends(const struct spin_search *search, LLVMValueRef value, LLVMValueRef source,
                    uint32_t loop, struct cts_ir_map *seen)
{
    if (value == source) return true;
    if (!in_loop(search, value, loop)) return false;
    void **const slot = cts_map_slot(seen, value);
    if (*slot) return false;
    *slot = seen;
    if (!LLVMIsAPHINode(value)) {
        for (int i = 0; i < LLVMGetNumOperands(value); i++)
            if (depends(search, LLVMGetOperand(value, (unsigned)i), source, loop, seen))
                return true;
        return false;
    }
    for (unsigned i = 0; i < LLVMCountIncoming(value); i++) {
        if (depends(search, LLVMGetIncomingValue(value, i), source, loop, seen)) return true;
        LLVMBasicBlockRef from = LLVMGetIncomingBlock(value, i);
        if (!block_in_loop(search, from, loop)) continue;
        LLVMValueRef end = LLVMGetBasicBlockTerminator(from);
        if (LLVMIsABranchInst(end) && LLVMIsConditional(end) &&
            depends(search, LLVMGetCondition(end), source, loop, seen))
            return true;
    }
    return false;
}

static bool leaves_loop(const struct spin_search *search, LLVMValueRef end, uint32_t loop)
{
    for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++)
        if (!block_in_loop(search, LLVMGetSuccessor(end, i), loop)) return true;
    return false;
}

static bool decides_end(const struct spin_search *search, LLVMValueRef source, uint32_t loop)
{
    for (size_t i = 0; i < search->flow.block_count; i++) {
        LLVMBasicBlockRef block = search->flow.blocks[i].block;
        if (!block_in_loop(search, block, loop)) continue;
        LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
        if (LLVMGetNumSuccessors(end) < 2 || !leaves_loop(search, end, loop)) continue;
        struct cts_ir_map seen = {0};
        const bool yes = depends(search, LLVMGetOperand(end, 0), source, loop, &seen);
        cts_map_release(&seen);
        if (yes) return true;
    }
    return false;
}

static bool may_spin(LLVMValueRef instruction)
{
    switch (LLVMGetInstructionOpcode(instruction)) {
    case LLVMAtomicCmpXchg:
    case LLVMAtomicRMW:
    case LLVMLoad:
        return true;
    default:
        return false;
    }
}

/* A plain load that the loop repeats at one address was kept in the loop by a fence, an atomic or
 * a call. */
static bool spins_in(const struct spin_search *search, LLVMValueRef instruction, uint32_t loop)
{
    return !varies(search, LLVMGetOperand(instruction, 0), loop, 16) &&
           !makes_progress(search, instruction, loop) && decides_end(search, instruction, loop);
}

static bool loop_synchronises(LLVMValueRef function)
{
    CTS_EACH_INSTRUCTION(i, function)
    {
        const LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
        if (opcode == LLVMFence || opcode == LLVMAtomicRMW || opcode == LLVMAtomicCmpXchg)
            return true;
        if (opcode == LLVMLoad && LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic) return true;
    }
    return false;
}

size_t cts_find_spins(LLVMValueRef function, LLVMValueRef **spins)
{
    *spins = NULL;
    if (!loop_synchronises(function)) return 0;
    struct spin_search search = {0};
    cts_flow_find(&search.flow, function);
    for (size_t i = 0; i < search.flow.block_count; i++)
        if (search.flow.blocks[i].loop != CTS_NO_LOOP)
            *cts_map_slot(&search.loop_of, search.flow.blocks[i].block) =
                (void *)(uintptr_t)(search.flow.blocks[i].loop + 1);
    CTS_EACH_INSTRUCTION(i, function)
    {
        if (!may_spin(i)) continue;
        uint32_t loop = loop_of_block(&search, LLVMGetInstructionParent(i));
        while (loop != CTS_NO_LOOP && !spins_in(&search, i, loop))
            loop = search.flow.loops[loop].parent;
        if (loop == CTS_NO_LOOP) continue;
        search.found = cts_ir_grow(search.found, &search.found_capacity, search.found_count + 1,
                                   sizeof(LLVMValueRef));
        search.found[search.found_count++] = i;
    }
    cts_map_release(&search.loop_of);
    cts_flow_release(&search.flow);
    *spins = search.found;
    return search.found_count;
}

/* ---- one function ---- */

static void add_callee(struct cts_facts *facts, LLVMValueRef callee)
{
    for (size_t i = 0; i < facts->callee_count; i++)
        if (facts->callees[i] == callee) return;
    facts->callees = cts_ir_grow(facts->callees, &facts->callee_capacity, facts->callee_count + 1,
                                 sizeof(LLVMValueRef));
    facts->callees[facts->callee_count++] = callee;
}

static void note_undefined_callee(struct cts_facts *facts, LLVMValueRef callee)
{
    const char *const name = cts_ir_name(callee);
    if (cts_starts_with(name, "__ctsdev_")) {
        facts->waits_for = "a function of another translation unit";
        facts->marks = facts->reads_context = true;
        return;
    }
    if (cts_external_waits(name)) facts->waits_for = "a barrier or a warp collective";
    if (cts_starts_with(name, "__cts")) facts->reads_context = true;
    if (strcmp(name, "__cts_grid_sync") == 0) facts->grid_sync = true;
}

static void note_call(struct cts_facts *facts, LLVMValueRef instruction)
{
    LLVMValueRef callee = cts_called_function(instruction);
    if (!callee) {
        if (!LLVMIsAInlineAsm(LLVMGetCalledValue(instruction)))
            facts->calls_indirectly = facts->reads_context = true;
    } else if (cts_is_mark(callee)) {
        facts->marks = true;
    } else if (LLVMGetIntrinsicID(callee)) {
        if (cts_starts_with(cts_ir_name(callee), "llvm.nvvm.read.ptx.sreg") && !facts->is_kernel)
            facts->reads_context = true;
    } else if (LLVMIsDeclaration(callee)) {
        note_undefined_callee(facts, callee);
    } else {
        add_callee(facts, callee);
    }
}

static void look_at(const struct cts_retarget *retarget, struct cts_facts *facts)
{
    CTS_EACH_INSTRUCTION(i, facts->function)
    {
        if (cts_is_call(i)) note_call(facts, i);
        if (cts_is_shared_volatile(i)) facts->waits_for = "volatile memory";
    }
    LLVMValueRef *spins, *places;
    if (cts_find_spins(facts->function, &spins)) facts->waits_for = "a loop on shared memory";
    free(spins);
    if (cts_find_lockstep(retarget, facts->function, &places)) facts->waits_for = "lockstep";
    free(places);
    if (facts->waits_for) facts->reads_context = true;
}

/* ---- all functions ---- */

static bool is_used_as_value(LLVMValueRef function)
{
    for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (!LLVMIsAInstruction(user) || !cts_is_call(user)) return true;
        for (unsigned i = 0; i < LLVMGetNumArgOperands(user); i++)
            if (LLVMGetOperand(user, i) == function) return true;
    }
    return false;
}

static bool add_to(bool *fact, bool more)
{
    const bool changes = more && !*fact;
    *fact |= more;
    return changes;
}

static bool inherit(struct cts_facts *facts, const struct cts_facts *callee)
{
    bool changes = false;
    if (callee->waits_for && !facts->waits_for) {
        facts->waits_for = callee->waits_for;
        changes = true;
    }
    changes |= add_to(&facts->marks, callee->marks);
    changes |= add_to(&facts->reads_context, callee->reads_context || callee->waits_for);
    changes |= add_to(&facts->grid_sync, callee->grid_sync);
    return changes;
}

static bool inherit_from_pointers(struct cts_retarget *retarget, struct cts_facts *facts)
{
    bool changes = false;
    if (retarget->separate_units && !facts->waits_for) {
        facts->waits_for = "a call through a pointer";
        changes = true;
    }
    for (size_t i = 0; i < retarget->facts_count; i++)
        if (retarget->facts[i]->address_taken) changes |= inherit(facts, retarget->facts[i]);
    return changes;
}

static bool propagate(struct cts_retarget *retarget)
{
    bool changes = false;
    for (size_t i = 0; i < retarget->facts_count; i++) {
        struct cts_facts *const facts = retarget->facts[i];
        for (size_t c = 0; c < facts->callee_count; c++) {
            const struct cts_facts *const callee = cts_facts_get(retarget, facts->callees[c]);
            if (callee) changes |= inherit(facts, callee);
        }
        if (facts->calls_indirectly) changes |= inherit_from_pointers(retarget, facts);
    }
    return changes;
}

static struct cts_facts *facts_add(struct cts_retarget *retarget, LLVMValueRef function)
{
    retarget->facts = cts_ir_grow(retarget->facts, &retarget->facts_capacity,
                                  retarget->facts_count + 1, sizeof *retarget->facts);
    struct cts_facts *const facts = cts_ir_allocate(1, sizeof *facts);
    facts->function = function;
    facts->address_taken = is_used_as_value(function);
    retarget->facts[retarget->facts_count++] = facts;
    *cts_map_slot(&retarget->facts_of, function) = facts;
    return facts;
}

void cts_facts_find(struct cts_retarget *retarget)
{
    CTS_EACH_FUNCTION(f, retarget->ir.module)
    if (!LLVMIsDeclaration(f)) facts_add(retarget, f);
    for (size_t i = 0; i < retarget->kernel_count; i++) {
        struct cts_retarget_kernel *const kernel = &retarget->kernels[i];
        kernel->facts = cts_facts_get(retarget, kernel->shell);
        if (kernel->facts) kernel->facts->is_kernel = true;
    }
    for (size_t i = 0; i < retarget->facts_count; i++) look_at(retarget, retarget->facts[i]);
    while (propagate(retarget)) {
    }
}

void cts_facts_release(struct cts_retarget *retarget)
{
    for (size_t i = 0; i < retarget->facts_count; i++) {
        free(retarget->facts[i]->callees);
        free(retarget->facts[i]);
    }
    free(retarget->facts);
    cts_map_release(&retarget->facts_of);
}
