/* Where pointers come from.
 *
 * A pointer's type says its space only when it is not generic; most are. So each pointer value of
 * the module gets a set of origins, and sets flow along edges until nothing changes:
 *
 *   operand  -> cast, address computation, phi, select, ...   as it is
 *   argument of a call -> parameter; returned value -> call   as it is
 *   stored pointer -> content of the stack slot -> load       as it is (code that is not optimised)
 *   address -> pointer loaded from it                         see loaded_from()
 *
 * Each set grows at most six times, so the work is linear in the size of the module.
 *
 * A kernel's pointer arguments are global: the host has no other memory to pass. A pointer that is
 * loaded from global or constant memory or from a by-value argument is taken as global for the same
 * reason; one loaded from shared memory or from an unknown place may point anywhere (a CTA may keep
 * pointers to its shared memory there), so it is left for the run time to find out. */
#include "record/instrument/origins.h"

#include <stdlib.h>
#include <string.h>

enum { EDGE_COPY, EDGE_LOAD };
enum { STRIP_LIMIT = 64 };

struct edge {
    uint32_t from, to;
    int kind;
};

struct cts_origins {
    struct cts_pointer_map values;  /* pointer value -> node + 1 */
    struct cts_pointer_map slots;   /* alloca -> node of its content + 1 */
    struct cts_pointer_map returns; /* function -> node of what it returns + 1 */
    uint8_t *sets;
    struct edge *edges;
    size_t node_count, node_capacity, edge_count, edge_capacity;
};

static uint32_t node_in(struct cts_origins *origins, struct cts_pointer_map *map, const void *key)
{
    uint64_t *slot = cts_pointer_map_insert(map, key);
    if (!*slot) {
        origins->sets =
            cts_plugin_grow(origins->sets, origins->node_count, &origins->node_capacity, 1);
        origins->sets[origins->node_count++] = 0;
        *slot = origins->node_count;
    }
    return (uint32_t)*slot - 1;
}

/* (Numbering a node may move the sets, so the two are never one expression.) */
static void add_to(struct cts_origins *origins, uint32_t node, unsigned set)
{
    origins->sets[node] |= (uint8_t)set;
}

static void add_edge(struct cts_origins *origins, uint32_t from, uint32_t to, int kind)
{
    origins->edges = cts_plugin_grow(origins->edges, origins->edge_count, &origins->edge_capacity,
                                     sizeof *origins->edges);
    origins->edges[origins->edge_count++] = (struct edge){.from = from, .to = to, .kind = kind};
}

static unsigned loaded_from(unsigned address)
{
    unsigned set = 0;
    if (address & (CTS_ORIGIN_GLOBAL | CTS_ORIGIN_CONSTANT | CTS_ORIGIN_PARAMETER))
        set |= CTS_ORIGIN_GLOBAL;
    if (address & (CTS_ORIGIN_SHARED | CTS_ORIGIN_LOCAL | CTS_ORIGIN_UNKNOWN))
        set |= CTS_ORIGIN_UNKNOWN;
    return set;
}

static unsigned apply(int kind, unsigned set)
{
    return kind == EDGE_LOAD ? loaded_from(set) : set;
}

static bool is_pointer(LLVMValueRef value)
{
    return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind;
}

/* NVPTX's numbers of address spaces; 0 is generic. */
static unsigned set_of_type(LLVMTypeRef type)
{
    switch (LLVMGetPointerAddressSpace(type)) {
    case 0:
        return 0;
    case 1:
        return CTS_ORIGIN_GLOBAL;
    case 3:
        return CTS_ORIGIN_SHARED;
    case 4:
        return CTS_ORIGIN_CONSTANT;
    case 5:
        return CTS_ORIGIN_LOCAL;
    case 101:
        return CTS_ORIGIN_PARAMETER;
    default:
        return CTS_ORIGIN_UNKNOWN;
    }
}

static LLVMOpcode opcode_of(LLVMValueRef value)
{
    if (LLVMIsAInstruction(value)) return LLVMGetInstructionOpcode(value);
    if (LLVMIsAConstantExpr(value)) return LLVMGetConstOpcode(value);
    return 0;
}

static unsigned set_of_constant(LLVMValueRef value)
{
    for (int i = 0; i < STRIP_LIMIT; i++) {
        if (is_pointer(value) && set_of_type(LLVMTypeOf(value)))
            return set_of_type(LLVMTypeOf(value));
        if (LLVMIsAGlobalVariable(value)) return CTS_ORIGIN_GLOBAL;
        if (LLVMIsNull(value) || LLVMIsUndef(value)) return 0; /* points nowhere */
        if (!LLVMIsAConstantExpr(value)) break;
        value = LLVMGetOperand(value, 0);
    }
    return CTS_ORIGIN_UNKNOWN;
}

/* The stack slot that an address lies in, if casts and address computations show it. */
static LLVMValueRef slot_of(LLVMValueRef address)
{
    for (int i = 0; i < STRIP_LIMIT; i++) {
        switch (opcode_of(address)) {
        case LLVMAlloca:
            return address;
        case LLVMGetElementPtr:
        case LLVMAddrSpaceCast:
        case LLVMBitCast:
            address = LLVMGetOperand(address, 0);
            break;
        default:
            return NULL;
        }
    }
    return NULL;
}

/* `to` receives what `value` may point to. */
static void flow_value(struct cts_origins *origins, LLVMValueRef value, uint32_t to, int kind)
{
    if (LLVMIsAInstruction(value) || LLVMIsAArgument(value))
        add_edge(origins, node_in(origins, &origins->values, value), to, kind);
    else
        add_to(origins, to, apply(kind, set_of_constant(value)));
}

/* An integer that becomes a pointer: from a pointer that became an integer, plus or minus. */
static void flow_integer(struct cts_origins *origins, LLVMValueRef integer, uint32_t to)
{
    for (int i = 0; i < STRIP_LIMIT; i++) {
        switch (opcode_of(integer)) {
        case LLVMPtrToInt:
            flow_value(origins, LLVMGetOperand(integer, 0), to, EDGE_COPY);
            return;
        case LLVMAdd:
        case LLVMSub:
        case LLVMAnd:
        case LLVMOr:
        case LLVMZExt:
        case LLVMTrunc:
            integer = LLVMGetOperand(integer, 0);
            continue;
        default:
            break;
        }
        break;
    }
    add_to(origins, to, CTS_ORIGIN_UNKNOWN);
}

static void flow_load(struct cts_origins *origins, LLVMValueRef address, uint32_t to)
{
    LLVMValueRef slot = slot_of(address);
    if (slot)
        add_edge(origins, node_in(origins, &origins->slots, slot), to, EDGE_COPY);
    else
        flow_value(origins, address, to, EDGE_LOAD);
}

static bool has_prefix(const char *text, const char *prefix)
{
    return !strncmp(text, prefix, strlen(prefix));
}

static bool has_any_prefix(const char *name, const char *const *prefixes)
{
    for (; *prefixes; prefixes++)
        if (has_prefix(name, *prefixes)) return true;
    return false;
}

static void flow_call_result(struct cts_origins *origins, LLVMValueRef call, uint32_t to)
{
    /* The device heap, cached loads, and the addresses of texels that our headers ask for. */
    static const char *const global[] = {
        "llvm.nvvm.ldg.", "llvm.nvvm.ldu.", "malloc", "__cts_dev_malloc",
        "__cts_texel",    "__cts_surface",  NULL};
    static const char *const same[] = {"llvm.nvvm.ptr.",
                                       "llvm.ptr.annotation",
                                       "llvm.ptrmask",
                                       "llvm.launder.",
                                       "llvm.strip.",
                                       "llvm.threadlocal.",
                                       NULL};
    LLVMValueRef callee = LLVMGetCalledValue(call);
    if (!LLVMIsAFunction(callee)) {
        add_to(origins, to, CTS_ORIGIN_UNKNOWN);
        return;
    }
    size_t length;
    const char *name = LLVMGetValueName2(callee, &length);
    if (!LLVMIsDeclaration(callee))
        add_edge(origins, node_in(origins, &origins->returns, callee), to, EDGE_COPY);
    else if (has_any_prefix(name, global))
        add_to(origins, to, CTS_ORIGIN_GLOBAL);
    else if (has_any_prefix(name, same))
        flow_value(origins, LLVMGetOperand(call, 0), to, EDGE_COPY);
    else
        add_to(origins, to, CTS_ORIGIN_UNKNOWN);
}

/* What an instruction whose result is a pointer receives. */
static void flow_result(struct cts_origins *origins, LLVMValueRef instruction)
{
    uint32_t to = node_in(origins, &origins->values, instruction);
    unsigned known = set_of_type(LLVMTypeOf(instruction));
    if (known) {
        add_to(origins, to, known);
        return;
    }
    switch (LLVMGetInstructionOpcode(instruction)) {
    case LLVMAlloca:
        add_to(origins, to, CTS_ORIGIN_LOCAL);
        break;
    case LLVMGetElementPtr:
    case LLVMAddrSpaceCast:
    case LLVMBitCast:
    case LLVMFreeze:
        flow_value(origins, LLVMGetOperand(instruction, 0), to, EDGE_COPY);
        break;
    case LLVMIntToPtr:
        flow_integer(origins, LLVMGetOperand(instruction, 0), to);
        break;
    case LLVMSelect:
        flow_value(origins, LLVMGetOperand(instruction, 1), to, EDGE_COPY);
        flow_value(origins, LLVMGetOperand(instruction, 2), to, EDGE_COPY);
        break;
    case LLVMPHI:
        for (unsigned i = 0; i < LLVMCountIncoming(instruction); i++)
            flow_value(origins, LLVMGetIncomingValue(instruction, i), to, EDGE_COPY);
        break;
    case LLVMLoad:
    case LLVMAtomicRMW:
        flow_load(origins, LLVMGetOperand(instruction, 0), to);
        break;
    case LLVMExtractValue: {
        LLVMValueRef whole = LLVMGetOperand(instruction, 0);
        LLVMOpcode opcode = opcode_of(whole);
        if (opcode == LLVMLoad || opcode == LLVMAtomicCmpXchg)
            flow_load(origins, LLVMGetOperand(whole, 0), to);
        else
            add_to(origins, to, CTS_ORIGIN_UNKNOWN);
        break;
    }
    case LLVMCall:
        flow_call_result(origins, instruction, to);
        break;
    default:
        add_to(origins, to, CTS_ORIGIN_UNKNOWN);
        break;
    }
}

static void flow_copy(struct cts_origins *origins, LLVMValueRef copy)
{
    size_t length;
    const char *name = LLVMGetValueName2(LLVMGetCalledValue(copy), &length);
    LLVMValueRef to = slot_of(LLVMGetOperand(copy, 0));
    if (to && !has_prefix(name, "llvm.memset"))
        flow_load(origins, LLVMGetOperand(copy, 1), node_in(origins, &origins->slots, to));
}

/* Arguments of a direct call flow into the parameters. A stack slot that is passed on may be
 * written by anyone. */
static void flow_call(struct cts_origins *origins, LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    if (LLVMIsAFunction(callee) && LLVMGetIntrinsicID(callee)) {
        size_t length;
        if (has_prefix(LLVMGetValueName2(callee, &length), "llvm.mem")) flow_copy(origins, call);
        return;
    }
    bool is_known = LLVMIsAFunction(callee) && !LLVMIsDeclaration(callee);
    unsigned parameter_count = is_known ? LLVMCountParams(callee) : 0;
    unsigned argument_count = LLVMGetNumArgOperands(call);
    for (unsigned i = 0; i < argument_count; i++) {
        LLVMValueRef argument = LLVMGetOperand(call, i);
        if (!is_pointer(argument)) continue;
        LLVMValueRef slot = slot_of(argument);
        if (slot) add_to(origins, node_in(origins, &origins->slots, slot), CTS_ORIGIN_UNKNOWN);
        if (i < parameter_count && is_pointer(LLVMGetParam(callee, i)))
            flow_value(origins, argument,
                       node_in(origins, &origins->values, LLVMGetParam(callee, i)), EDGE_COPY);
    }
}

static void flow_store(struct cts_origins *origins, LLVMValueRef value, LLVMValueRef address)
{
    if (!is_pointer(value)) return;
    LLVMValueRef slot = slot_of(address), kept = slot_of(value);
    if (slot) flow_value(origins, value, node_in(origins, &origins->slots, slot), EDGE_COPY);
    /* The slot's own address is kept somewhere: others may write to it. */
    if (kept) add_to(origins, node_in(origins, &origins->slots, kept), CTS_ORIGIN_UNKNOWN);
}

/* Slots whose address goes where the above does not follow it. */
static void flow_escapes(struct cts_origins *origins, LLVMValueRef instruction)
{
    int count = LLVMGetNumOperands(instruction);
    for (int i = 0; i < count; i++) {
        LLVMValueRef operand = LLVMGetOperand(instruction, (unsigned)i);
        if (!is_pointer(operand)) continue;
        LLVMValueRef slot = slot_of(operand);
        if (slot) add_to(origins, node_in(origins, &origins->slots, slot), CTS_ORIGIN_UNKNOWN);
    }
}

static void flow_instruction(struct cts_origins *origins, LLVMValueRef function,
                             LLVMValueRef instruction)
{
    if (is_pointer(instruction)) flow_result(origins, instruction);
    switch (LLVMGetInstructionOpcode(instruction)) {
    case LLVMStore:
        flow_store(origins, LLVMGetOperand(instruction, 0), LLVMGetOperand(instruction, 1));
        break;
    case LLVMAtomicRMW:
        flow_store(origins, LLVMGetOperand(instruction, 1), LLVMGetOperand(instruction, 0));
        break;
    case LLVMAtomicCmpXchg:
        flow_store(origins, LLVMGetOperand(instruction, 2), LLVMGetOperand(instruction, 0));
        break;
    case LLVMCall:
        flow_call(origins, instruction);
        break;
    case LLVMRet:
        if (LLVMGetNumOperands(instruction) == 1 && is_pointer(LLVMGetOperand(instruction, 0)))
            flow_value(origins, LLVMGetOperand(instruction, 0),
                       node_in(origins, &origins->returns, function), EDGE_COPY);
        break;
    case LLVMPHI:
    case LLVMSelect:
    case LLVMPtrToInt:
        flow_escapes(origins, instruction);
        break;
    default:
        break;
    }
}

/* Whether something but the direct calls in this module may call the function. */
static bool has_unknown_callers(LLVMValueRef function, bool separate_units)
{
    LLVMLinkage linkage = LLVMGetLinkage(function);
    if (separate_units && linkage != LLVMInternalLinkage && linkage != LLVMPrivateLinkage)
        return true;
    for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (!LLVMIsACallInst(user) || LLVMGetCalledValue(user) != function) return true;
        unsigned argument_count = LLVMGetNumArgOperands(user);
        for (unsigned i = 0; i < argument_count; i++)
            if (LLVMGetOperand(user, i) == function) return true;
    }
    return false;
}

static void seed_parameters(struct cts_origins *origins, LLVMValueRef function, bool is_kernel,
                            bool separate_units)
{
    unsigned byval = LLVMGetEnumAttributeKindForName("byval", 5);
    bool is_open = !is_kernel && has_unknown_callers(function, separate_units);
    for (unsigned i = 0; i < LLVMCountParams(function); i++) {
        LLVMValueRef parameter = LLVMGetParam(function, i);
        if (!is_pointer(parameter)) continue;
        uint32_t node = node_in(origins, &origins->values, parameter);
        bool is_copy = LLVMGetEnumAttributeAtIndex(function, i + 1, byval) != NULL;
        unsigned known = set_of_type(LLVMTypeOf(parameter));
        if (known)
            add_to(origins, node, known);
        else if (is_kernel)
            add_to(origins, node, is_copy ? CTS_ORIGIN_PARAMETER : CTS_ORIGIN_GLOBAL);
        else if (is_copy)
            add_to(origins, node, CTS_ORIGIN_LOCAL);
        else if (is_open)
            add_to(origins, node, CTS_ORIGIN_UNKNOWN);
    }
}

/* Lets the sets flow until nothing changes. `first[n]` .. `first[n + 1]` are the edges of node n.
 */
static void propagate(struct cts_origins *origins)
{
    size_t node_count = origins->node_count, edge_count = origins->edge_count;
    uint32_t *first = cts_plugin_allocate(node_count + 2, sizeof *first);
    struct edge *sorted = cts_plugin_allocate(edge_count, sizeof *sorted);
    uint32_t *queue = cts_plugin_allocate(node_count + 1, sizeof *queue);
    bool *is_queued = cts_plugin_allocate(node_count + 1, sizeof *is_queued);
    for (size_t i = 0; i < edge_count; i++) first[origins->edges[i].from + 2]++;
    for (size_t i = 2; i < node_count + 2; i++) first[i] += first[i - 1];
    for (size_t i = 0; i < edge_count; i++)
        sorted[first[origins->edges[i].from + 1]++] = origins->edges[i];
    size_t queued = 0;
    for (uint32_t i = 0; i < node_count; i++)
        if (origins->sets[i]) is_queued[queue[queued++] = i] = true;
    while (queued) {
        uint32_t from = queue[--queued];
        is_queued[from] = false;
        for (uint32_t e = first[from]; e < first[from + 1]; e++) {
            uint32_t to = sorted[e].to;
            unsigned set = origins->sets[to] | apply(sorted[e].kind, origins->sets[from]);
            if (set == origins->sets[to]) continue;
            origins->sets[to] = (uint8_t)set;
            if (!is_queued[to]) is_queued[queue[queued++] = to] = true;
        }
    }
    free(first);
    free(sorted);
    free(queue);
    free(is_queued);
}

struct cts_origins *cts_origins_find(LLVMModuleRef module, const struct cts_pointer_map *kernels,
                                     bool separate_units)
{
    struct cts_origins *origins = cts_plugin_allocate(1, sizeof *origins);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f)) continue;
        seed_parameters(origins, f, cts_pointer_map_find(kernels, f) != NULL, separate_units);
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                flow_instruction(origins, f, i);
    }
    propagate(origins);
    return origins;
}

void cts_origins_free(struct cts_origins *origins)
{
    if (!origins) return;
    cts_pointer_map_release(&origins->values);
    cts_pointer_map_release(&origins->slots);
    cts_pointer_map_release(&origins->returns);
    free(origins->sets);
    free(origins->edges);
    free(origins);
}

unsigned cts_origins_of(const struct cts_origins *origins, LLVMValueRef pointer)
{
    unsigned set = set_of_type(LLVMTypeOf(pointer));
    if (set) return set;
    const uint64_t *node = cts_pointer_map_find(&origins->values, pointer);
    if (node)
        set = origins->sets[*node - 1];
    else
        set = set_of_constant(pointer);
    return set ? set : CTS_ORIGIN_UNKNOWN;
}

enum cts_space cts_origins_space(unsigned set)
{
    switch (set) {
    case CTS_ORIGIN_GLOBAL:
        return CTS_SPACE_GLOBAL;
    case CTS_ORIGIN_SHARED:
        return CTS_SPACE_SHARED;
    case CTS_ORIGIN_CONSTANT:
        return CTS_SPACE_CONSTANT;
    case CTS_ORIGIN_LOCAL:
    case CTS_ORIGIN_PARAMETER:
    case CTS_ORIGIN_LOCAL | CTS_ORIGIN_PARAMETER:
        return CTS_SPACE_LOCAL;
    default:
        return CTS_SPACE_GENERIC;
    }
}
