/* Where lanes of a warp have to wait for each other although the program does not say so.
 *
 * Old programs rely on lockstep: in straight-line code all lanes of a warp have done one statement
 * before the first of them does the next one. Fibers run lane after lane instead, from one wait to
 * the next, so that of
 *
 *     n = count;                        // shared; all lanes read it
 *     if (threadIdx.x == 0) count = 0;  // then one writes it
 *
 * lane 0 would have written before lane 1 reads. So a lane gives way to the others of its CTA
 * before an access B of shared memory when an access A, on a path to B without a barrier, a
 * collective or another such place, may be of the same word in another lane, and the order matters:
 *
 *     write after read    A reads, B writes
 *     read after write    A writes, B reads, or both write the one word; not around a loop, where
 * it costs in every round
 *
 * "May be of the same word" is decided by form: a variable plus a constant, the same words; or the
 * same varying part, which depends on threadIdx, plus different constants, as in s[i] += s[i + 16].
 * Lanes take turns from the lowest up, so that with the latter only one direction matters. By the
 * book all of these are races. Kernels without such a pair are left as they are. */
#include <stdlib.h>

#include "record/instrument/loops.h"
#include "record/instrument/retarget.h"
#define CTS_NVVM_ABI_NO_PROTOTYPES
#include "record/instrument/nvvm-abi.h"

enum {
    TERMS_MAX = 6,
    DEPTH_MAX = 12,
    ACCESSES_MAX = 512, /* of a function; more are not looked at */
    WARP_LANES = 32,
    SHARED_SPACE = 3,
};

/* base + offset + sum of value * scale */
struct form {
    LLVMValueRef base;
    int64_t offset;
    struct {
        LLVMValueRef value;
        int64_t scale;
    } terms[TERMS_MAX];
    unsigned term_count;
};

struct access {
    LLVMValueRef instruction;
    struct form form;
    uint64_t size_bytes;
    int64_t lane_stride; /* bytes from lane to lane; 0: all lanes the same word */
    bool reads, writes, is_atomic;
};

struct search {
    const struct cts_retarget *retarget;
    struct cts_flow flow;
    struct cts_ir_map index_of; /* block -> index in flow.blocks + 1 */
    struct cts_ir_map access_of;
    struct access *accesses;
    size_t access_count;
    LLVMValueRef *places;
    size_t place_count, place_capacity;
};

/* ---- addresses ---- */

static bool is_thread_register(LLVMValueRef value)
{
    LLVMValueRef callee = LLVMIsAInstruction(value) ? cts_called_function(value) : NULL;
    return callee && cts_starts_with(cts_ir_name(callee), "llvm.nvvm.read.ptx.sreg.tid.");
}

static bool is_same(LLVMValueRef a, LLVMValueRef b)
{
    return a == b || (is_thread_register(a) && is_thread_register(b) &&
                      cts_called_function(a) == cts_called_function(b));
}

static bool depends_on_thread(LLVMValueRef value, unsigned depth)
{
    if (is_thread_register(value)) return true;
    if (!LLVMIsAInstruction(value) || depth == 0 || LLVMIsAPHINode(value)) return false;
    for (int i = 0; i < LLVMGetNumOperands(value); i++)
        if (depends_on_thread(LLVMGetOperand(value, (unsigned)i), depth - 1)) return true;
    return false;
}

static bool add_term(struct form *form, LLVMValueRef value, int64_t scale)
{
    for (unsigned i = 0; i < form->term_count; i++) {
        if (!is_same(form->terms[i].value, value)) continue;
        form->terms[i].scale += scale;
        return true;
    }
    if (form->term_count == TERMS_MAX) return false;
    form->terms[form->term_count].value = value;
    form->terms[form->term_count++].scale = scale;
    return true;
}

static bool constant_of(LLVMValueRef value, int64_t *constant)
{
    if (!LLVMIsAConstantInt(value) || LLVMGetIntTypeWidth(LLVMTypeOf(value)) > 64) return false;
    *constant = LLVMConstIntGetSExtValue(value);
    return true;
}

static bool add_value(struct form *form, LLVMValueRef value, int64_t scale, unsigned depth)
{
    int64_t constant;
    if (constant_of(value, &constant)) {
        form->offset += constant * scale;
        return true;
    }
    if (!LLVMIsAInstruction(value) || depth == 0) return add_term(form, value, scale);
    LLVMOpcode opcode = LLVMGetInstructionOpcode(value);
    if (opcode == LLVMOr && LLVMGetIsDisjoint(value)) opcode = LLVMAdd;
    switch (opcode) {
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc:
        return add_value(form, LLVMGetOperand(value, 0), scale, depth - 1);
    case LLVMAdd:
        return add_value(form, LLVMGetOperand(value, 0), scale, depth - 1) &&
               add_value(form, LLVMGetOperand(value, 1), scale, depth - 1);
    case LLVMSub:
        return add_value(form, LLVMGetOperand(value, 0), scale, depth - 1) &&
               add_value(form, LLVMGetOperand(value, 1), -scale, depth - 1);
    case LLVMShl:
        if (!constant_of(LLVMGetOperand(value, 1), &constant) || constant > 32) break;
        return add_value(form, LLVMGetOperand(value, 0), scale << constant, depth - 1);
    case LLVMMul:
        if (!constant_of(LLVMGetOperand(value, 1), &constant)) break;
        return add_value(form, LLVMGetOperand(value, 0), scale * constant, depth - 1);
    default:
        break;
    }
    return add_term(form, value, scale);
}

static bool add_indices(const struct search *search, struct form *form, LLVMValueRef gep)
{
    LLVMTargetDataRef layout = search->retarget->ir.layout;
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    for (int i = 1; i < LLVMGetNumOperands(gep); i++) {
        LLVMValueRef index = LLVMGetOperand(gep, (unsigned)i);
        if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
            if (!LLVMIsAConstantInt(index)) return false;
            const unsigned member = (unsigned)LLVMConstIntGetZExtValue(index);
            form->offset += (int64_t)LLVMOffsetOfElement(layout, type, member);
            type = LLVMStructGetTypeAtIndex(type, member);
            continue;
        }
        if (i > 1) {
            if (LLVMGetTypeKind(type) != LLVMArrayTypeKind) return false;
            type = LLVMGetElementType(type);
        }
        if (!add_value(form, index, (int64_t)LLVMABISizeOfType(layout, type), DEPTH_MAX))
            return false;
    }
    return true;
}

/* False: not shared memory of a known variable. */
static bool form_of(const struct search *search, LLVMValueRef pointer, struct form *form)
{
    *form = (struct form){0};
    for (;;) {
        if (LLVMIsAGlobalVariable(pointer)) {
            form->base = pointer;
            return cts_address_space(pointer) == SHARED_SPACE;
        }
        const bool is_constant = LLVMIsAConstantExpr(pointer) != NULL;
        if (!is_constant && !LLVMIsAInstruction(pointer)) return false;
        const LLVMOpcode opcode =
            is_constant ? LLVMGetConstOpcode(pointer) : LLVMGetInstructionOpcode(pointer);
        if (opcode == LLVMGetElementPtr) {
            if (!add_indices(search, form, pointer)) return false;
        } else if (opcode != LLVMAddrSpaceCast && opcode != LLVMBitCast) {
            return false;
        }
        pointer = LLVMGetOperand(pointer, 0);
    }
}

/* False: lanes' words follow no rule that is known here. Of several parts that vary, as in
 * s[threadIdx.x / 32][threadIdx.x % 32], the finest tells neighbouring lanes apart. */
static bool find_lane_stride(struct access *access)
{
    access->lane_stride = 0;
    for (unsigned i = 0; i < access->form.term_count; i++) {
        const int64_t scale = access->form.terms[i].scale;
        if (!depends_on_thread(access->form.terms[i].value, DEPTH_MAX)) continue;
        if (!access->lane_stride || llabs(scale) < llabs(access->lane_stride))
            access->lane_stride = scale;
    }
    return access->lane_stride || access->form.term_count == 0;
}

static bool read_access(const struct search *search, LLVMValueRef instruction,
                        struct access *access)
{
    const LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
    *access = (struct access){.instruction = instruction};
    access->is_atomic = opcode == LLVMAtomicRMW || opcode == LLVMAtomicCmpXchg;
    access->reads = opcode == LLVMLoad || access->is_atomic;
    access->writes = opcode == LLVMStore || access->is_atomic;
    if (!access->reads && !access->writes) return false;
    if (LLVMGetVolatile(instruction)) return false; /* gives way anyhow */
    LLVMTypeRef type = opcode == LLVMLoad
                           ? LLVMTypeOf(instruction)
                           : LLVMTypeOf(LLVMGetOperand(instruction, opcode == LLVMStore ? 0 : 1));
    access->size_bytes = LLVMStoreSizeOfType(search->retarget->ir.layout, type);
    LLVMValueRef pointer = LLVMGetOperand(instruction, opcode == LLVMStore ? 1 : 0);
    return form_of(search, pointer, &access->form) && find_lane_stride(access);
}

/* ---- pairs ---- */

static bool is_same_varying_part(const struct form *a, const struct form *b)
{
    if (a->term_count != b->term_count) return false;
    for (unsigned i = 0; i < a->term_count; i++) {
        unsigned j = 0;
        while (j < b->term_count && !is_same(a->terms[i].value, b->terms[j].value)) j++;
        if (j == b->term_count || a->terms[i].scale != b->terms[j].scale) return false;
    }
    return true;
}

/* Does a lane have to wait before `b` for what other lanes do in `a`? */
static bool order_matters(const struct access *a, const struct access *b)
{
    if (a->form.base != b->form.base || (a->is_atomic && b->is_atomic)) return false;
    if (!a->writes && !b->writes) return false;
    if (!is_same_varying_part(&a->form, &b->form)) return false;
    const int64_t stride = a->lane_stride, distance = b->form.offset - a->form.offset;
    if (stride == 0) return distance < (int64_t)a->size_bytes && -distance < (int64_t)b->size_bytes;
    if (!a->reads && !b->reads) return false; /* arrays are filled from several places */
    /* Lane l's word in b is lane l + lanes' word in a. Lower lanes have been there before. */
    if (distance == 0 || distance % stride) return false;
    const int64_t lanes = distance / stride;
    return lanes > 0 && lanes < WARP_LANES;
}

/* ---- paths ---- */

static bool separates(LLVMValueRef instruction)
{
    if (!cts_is_call(instruction)) return cts_is_shared_volatile(instruction);
    LLVMValueRef callee = cts_called_function(instruction);
    if (!callee) return true;
    if (cts_is_mark(callee) || LLVMGetIntrinsicID(callee)) return false;
    return !LLVMIsDeclaration(callee) || cts_external_waits(cts_ir_name(callee));
}

static bool is_place(const struct search *search, LLVMValueRef instruction)
{
    for (size_t i = 0; i < search->place_count; i++)
        if (search->places[i] == instruction) return true;
    return false;
}

static void add_place(struct search *search, LLVMValueRef instruction)
{
    search->places = cts_ir_grow(search->places, &search->place_capacity, search->place_count + 1,
                                 sizeof *search->places);
    search->places[search->place_count++] = instruction;
}

static const struct access *access_at(const struct search *search, LLVMValueRef instruction)
{
    const uintptr_t index = (uintptr_t)cts_map_get(&search->access_of, instruction);
    return index ? &search->accesses[index - 1] : NULL;
}

/* Follows a path through the rest of a block; false: it ends there. `around`: it has gone back in a
 * loop. */
static bool follow_block(struct search *search, const struct access *a, LLVMValueRef from,
                         bool around)
{
    for (LLVMValueRef i = from; i; i = LLVMGetNextInstruction(i)) {
        if (separates(i) || is_place(search, i)) return false;
        const struct access *const b = access_at(search, i);
        if (!b || !order_matters(a, b) || (around && !(a->reads && b->writes))) continue;
        add_place(search, i);
        return false;
    }
    return true;
}

struct step {
    uint32_t block;
    bool around;
};

/* Pushes the successors that were not visited in this way. */
static size_t push_successors(const struct search *search, struct step from, uint8_t *visited,
                              struct step *stack, size_t count)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(search->flow.blocks[from.block].block);
    for (unsigned s = 0; s < LLVMGetNumSuccessors(end); s++) {
        const uintptr_t index = (uintptr_t)cts_map_get(&search->index_of, LLVMGetSuccessor(end, s));
        if (!index) continue;
        const struct step next = {(uint32_t)(index - 1), from.around || index - 1 <= from.block};
        const uint8_t bit = next.around ? 2 : 1;
        if (visited[next.block] & (bit | 1)) continue;
        visited[next.block] |= bit;
        stack[count++] = next;
    }
    return count;
}

static void follow(struct search *search, const struct access *a)
{
    const size_t block_count = search->flow.block_count;
    LLVMBasicBlockRef block = LLVMGetInstructionParent(a->instruction);
    const uintptr_t index = (uintptr_t)cts_map_get(&search->index_of, block);
    if (!index) return;
    if (!follow_block(search, a, LLVMGetNextInstruction(a->instruction), false)) return;
    uint8_t *const visited = cts_ir_allocate(block_count, 1);
    struct step *const stack = cts_ir_allocate(2 * block_count + 1, sizeof *stack);
    size_t count =
        push_successors(search, (struct step){(uint32_t)(index - 1), false}, visited, stack, 0);
    while (count) {
        const struct step step = stack[--count];
        LLVMBasicBlockRef at = search->flow.blocks[step.block].block;
        if (follow_block(search, a, LLVMGetFirstInstruction(at), step.around))
            count = push_successors(search, step, visited, stack, count);
    }
    free(visited);
    free(stack);
}

/* ---- the whole ---- */

static void find_accesses(struct search *search)
{
    size_t capacity = 0;
    for (size_t b = 0; b < search->flow.block_count; b++) {
        CTS_EACH_IN_BLOCK(i, search->flow.blocks[b].block)
        {
            struct access access;
            if (search->access_count == ACCESSES_MAX) return;
            if (!read_access(search, i, &access)) continue;
            search->accesses = cts_ir_grow(search->accesses, &capacity, search->access_count + 1,
                                           sizeof *search->accesses);
            search->accesses[search->access_count++] = access;
            *cts_map_slot(&search->access_of, i) = (void *)(uintptr_t)search->access_count;
        }
    }
}

static bool has_shared_variable(LLVMModuleRef module)
{
    CTS_EACH_GLOBAL(g, module)
    if (cts_address_space(g) == SHARED_SPACE) return true;
    return false;
}

/* ---- loops ---- */

static bool is_in_loop(const struct search *search, uint32_t block, uint32_t loop)
{
    uint32_t at = search->flow.blocks[block].loop;
    while (at != CTS_NO_LOOP && at != loop) at = search->flow.loops[at].parent;
    return at == loop;
}

static size_t count_places(const struct search *search, uint32_t loop)
{
    size_t count = 0;
    for (size_t i = 0; i < search->place_count; i++) {
        LLVMBasicBlockRef block = LLVMGetInstructionParent(search->places[i]);
        const uintptr_t index = (uintptr_t)cts_map_get(&search->index_of, block);
        count += is_in_loop(search, (uint32_t)(index - 1), loop);
    }
    return count;
}

/* Lanes that begin another round of a loop would be taken for those that are behind. Where more
 * than one place lies in a loop, its ends are places, too, so that rounds keep apart. */
static void add_loop_ends(struct search *search, uint32_t loop)
{
    if (count_places(search, loop) < 2) return;
    for (uint32_t b = 0; b < search->flow.block_count; b++) {
        if (!is_in_loop(search, b, loop)) continue;
        LLVMValueRef end = LLVMGetBasicBlockTerminator(search->flow.blocks[b].block);
        for (unsigned s = 0; s < LLVMGetNumSuccessors(end); s++) {
            const uintptr_t next =
                (uintptr_t)cts_map_get(&search->index_of, LLVMGetSuccessor(end, s));
            if (!next || next - 1 > b || search->flow.blocks[next - 1].loop != loop) continue;
            if (!is_place(search, end)) add_place(search, end);
        }
    }
}

/* Into program order, which decides who goes first (engine/cta.c). */
static void sort_places(struct search *search)
{
    size_t count = 0;
    LLVMValueRef *const sorted = cts_ir_allocate(search->place_count, sizeof *sorted);
    for (size_t b = 0; b < search->flow.block_count; b++)
        CTS_EACH_IN_BLOCK(i, search->flow.blocks[b].block)
    if (is_place(search, i)) sorted[count++] = i;
    free(search->places);
    search->places = sorted;
}

size_t cts_find_lockstep(const struct cts_retarget *retarget, LLVMValueRef function,
                         LLVMValueRef **places)
{
    *places = NULL;
    if (!has_shared_variable(retarget->ir.module)) return 0;
    struct search search = {.retarget = retarget};
    cts_flow_find(&search.flow, function);
    for (size_t i = 0; i < search.flow.block_count; i++)
        *cts_map_slot(&search.index_of, search.flow.blocks[i].block) = (void *)(uintptr_t)(i + 1);
    find_accesses(&search);
    for (size_t i = 0; i < search.access_count; i++) follow(&search, &search.accesses[i]);
    for (size_t l = search.flow.loop_count; l-- > 0 && search.place_count;)
        add_loop_ends(&search, (uint32_t)l);
    sort_places(&search);
    cts_map_release(&search.index_of);
    cts_map_release(&search.access_of);
    cts_flow_release(&search.flow);
    free(search.accesses);
    *places = search.places;
    return search.place_count;
}
