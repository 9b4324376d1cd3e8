/* PTX memory, barriers and warp instructions as IR: see lower-ptx.c. Accesses become ordinary
 * loads, stores and atomics, which the device pass then sees; the rest become calls of nvvm-abi.h.
 */
#include "record/instrument/device-events.h"
#include "record/instrument/lower-ptx.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- addresses ---- */

static bool find_space(const struct ptx_statement *statement, unsigned *space)
{
    static const struct {
        const char *name;
        int space;
    } spaces[] = {{"global", 1}, {"shared", 3}, {"shared::cta", 3},     {"const", 4},
                  {"local", 0},  {"param", -1}, {"shared::cluster", 3}, {"param::entry", -1}};
    *space = 0;
    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++) {
        if (!ptx_has(statement, spaces[i].name)) continue;
        if (spaces[i].space < 0) return false;
        *space = (unsigned)spaces[i].space;
        return true;
    }
    return true;
}

/* A pointer in the space; integers of shared memory are offsets (retarget-shared.c). */
LLVMValueRef ptx_pointer(struct ptx *ptx, const struct ptx_operand *address, unsigned space)
{
    const struct cts_ir *const ir = ptx->ir;
    LLVMValueRef base = address->reg ? address->reg->value : address->value;
    if (!base) base = cts_u64(ir, 0);
    const bool narrow = LLVMGetIntTypeWidth(LLVMTypeOf(base)) < 64;
    if (narrow && space != 3) {
        ptx_fail(ptx, "a 32-bit address that is not in shared memory");
        space = 3;
    }
    base = LLVMBuildIntCast2(ir->builder, base, ir->i64, 0, "");
    LLVMValueRef pointer =
        LLVMBuildIntToPtr(ir->builder, base, LLVMPointerTypeInContext(ir->context, space), "");
    if (!address->offset) return pointer;
    LLVMValueRef offset = cts_u64(ir, (uint64_t)address->offset);
    return LLVMBuildGEP2(ir->builder, ir->i8, pointer, &offset, 1, "");
}

LLVMValueRef ptx_dummy(struct ptx *ptx)
{
    enum { LARGEST_BYTES = 32 };
    if (!ptx->dummy) {
        ptx->dummy = ptx_local(ptx, LLVMArrayType2(ptx->ir->i64, LARGEST_BYTES / 8));
        LLVMSetAlignment(ptx->dummy, LARGEST_BYTES);
    }
    return ptx->dummy;
}

/* The address of an access; a local variable when the guard says no. */
static LLVMValueRef guarded_pointer(struct ptx *ptx, const struct ptx_statement *statement,
                                    const struct ptx_operand *address, unsigned space)
{
    const struct cts_ir *const ir = ptx->ir;
    LLVMValueRef pointer = ptx_pointer(ptx, address, space);
    if (!statement->guard) return pointer;
    return LLVMBuildSelect(ir->builder, statement->guard, cts_generic(ir, pointer), ptx_dummy(ptx),
                           "");
}

/* ---- loads and stores ---- */

static unsigned vector_count(const struct ptx_statement *statement)
{
    return ptx_has(statement, "v8")   ? 8
           : ptx_has(statement, "v4") ? 4
           : ptx_has(statement, "v2") ? 2
                                      : 1;
}

/* How the memory model's words order an access on the host. */
static LLVMAtomicOrdering ordering_of(const struct ptx_statement *statement, bool is_load)
{
    if (ptx_has(statement, "acquire") && is_load) return LLVMAtomicOrderingAcquire;
    if (ptx_has(statement, "release") && !is_load) return LLVMAtomicOrderingRelease;
    if (ptx_has(statement, "relaxed")) return LLVMAtomicOrderingMonotonic;
    return LLVMAtomicOrderingNotAtomic;
}

static void describe_access(const struct ptx_statement *statement, LLVMValueRef access,
                            unsigned bytes, bool is_load)
{
    LLVMSetAlignment(access, bytes);
    if (ptx_has(statement, "volatile")) LLVMSetVolatile(access, 1);
    const LLVMAtomicOrdering ordering = ordering_of(statement, is_load);
    if (ordering != LLVMAtomicOrderingNotAtomic && vector_count(statement) == 1)
        LLVMSetOrdering(access, ordering);
}

/* The access as one IR value: a scalar or a vector of integers. */
static LLVMTypeRef access_type(const struct cts_ir *ir, struct ptx_type type, unsigned count)
{
    LLVMTypeRef element = LLVMIntTypeInContext(ir->context, type.bits);
    return count == 1 ? element : LLVMVectorType(element, count);
}

static bool lower_load(struct ptx *ptx, struct ptx_statement *statement)
{
    const struct cts_ir *const ir = ptx->ir;
    const struct ptx_type type = ptx_type_at(statement, -1);
    const unsigned count = vector_count(statement);
    unsigned space;
    struct ptx_operand *const to = &statement->operands[0];
    if (statement->operand_count < 2 || statement->operands[1].kind != PTX_ADDRESS || !type.bits)
        return ptx_fail(ptx, "unknown form of a load");
    if (!find_space(statement, &space)) return ptx_fail(ptx, "unknown state space");
    LLVMValueRef pointer = guarded_pointer(ptx, statement, &statement->operands[1], space);
    LLVMValueRef load = LLVMBuildLoad2(ir->builder, access_type(ir, type, count), pointer, "");
    describe_access(statement, load, type.bits / 8 * count, true);
    const struct ptx_type bits = {
        .kind = type.kind == 's' ? 's' : 'b', .bits = type.bits, .lanes = 1};
    if (count == 1) return to->kind == PTX_SINK || ptx_write(ptx, statement, to->reg, load, bits);
    if (to->kind != PTX_VECTOR || to->count != count)
        return ptx_fail(ptx, "unknown form of a load");
    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef element = LLVMBuildExtractElement(ir->builder, load, cts_u32(ir, i), "");
        if (to->elements[i] && !ptx_write(ptx, statement, to->elements[i], element, bits))
            return false;
    }
    return true;
}

static LLVMValueRef stored_element(struct ptx *ptx, const struct ptx_operand *from, unsigned index,
                                   struct ptx_type type)
{
    const struct ptx_operand element = {
        .kind = from->elements[index] ? PTX_REGISTER : PTX_VALUE,
        .reg = from->elements[index],
        .value = from->element_values[index] ? from->element_values[index] : cts_u64(ptx->ir, 0),
        .is_integer = true};
    return ptx_read(ptx, &element, type);
}

static bool lower_store(struct ptx *ptx, struct ptx_statement *statement)
{
    const struct cts_ir *const ir = ptx->ir;
    const struct ptx_type type = ptx_type_at(statement, -1);
    const struct ptx_type bits = {.kind = 'b', .bits = type.bits, .lanes = 1};
    const unsigned count = vector_count(statement);
    unsigned space;
    if (statement->operand_count < 2 || statement->operands[0].kind != PTX_ADDRESS || !type.bits)
        return ptx_fail(ptx, "unknown form of a store");
    if (!find_space(statement, &space)) return ptx_fail(ptx, "unknown state space");
    const struct ptx_operand *const from = &statement->operands[1];
    LLVMValueRef value;
    if (count == 1) {
        value = ptx_read(ptx, from, type.kind == 'f' ? type : bits);
    } else {
        if (from->kind != PTX_VECTOR || from->count != count)
            return ptx_fail(ptx, "unknown form of a store");
        value = LLVMGetUndef(access_type(ir, type, count));
        for (unsigned i = 0; i < count; i++)
            value = LLVMBuildInsertElement(ir->builder, value, stored_element(ptx, from, i, bits),
                                           cts_u32(ir, i), "");
    }
    LLVMValueRef pointer = guarded_pointer(ptx, statement, &statement->operands[0], space);
    LLVMValueRef store = LLVMBuildStore(ir->builder, value, pointer);
    describe_access(statement, store, type.bits / 8 * count, false);
    return true;
}

/* ---- atomics ---- */

static bool find_operation(const struct ptx_statement *statement, struct ptx_type type,
                           LLVMAtomicRMWBinOp *operation)
{
    const bool is_signed = type.kind == 's', is_float = type.kind == 'f';
    const struct {
        const char *name;
        LLVMAtomicRMWBinOp operation;
    } known[] = {
        {"add", is_float ? LLVMAtomicRMWBinOpFAdd : LLVMAtomicRMWBinOpAdd},
        {"min", is_float    ? LLVMAtomicRMWBinOpFMin
                : is_signed ? LLVMAtomicRMWBinOpMin
                            : LLVMAtomicRMWBinOpUMin},
        {"max", is_float    ? LLVMAtomicRMWBinOpFMax
                : is_signed ? LLVMAtomicRMWBinOpMax
                            : LLVMAtomicRMWBinOpUMax},
        {"and", LLVMAtomicRMWBinOpAnd},
        {"or", LLVMAtomicRMWBinOpOr},
        {"xor", LLVMAtomicRMWBinOpXor},
        {"exch", LLVMAtomicRMWBinOpXchg},
        {"inc", LLVMAtomicRMWBinOpUIncWrap},
        {"dec", LLVMAtomicRMWBinOpUDecWrap},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (!ptx_has(statement, known[i].name)) continue;
        *operation = known[i].operation;
        return true;
    }
    return false;
}

/* atom.OP.T d, [a], b{, c} and red.OP.T [a], b */
static bool lower_atomic(struct ptx *ptx, struct ptx_statement *statement)
{
    const struct cts_ir *const ir = ptx->ir;
    const bool gives = strcmp(statement->parts[0], "atom") == 0;
    const unsigned at = gives ? 1 : 0;
    const struct ptx_type type = ptx_type_at(statement, -1);
    unsigned space;
    if (statement->operand_count < at + 2 || statement->operands[at].kind != PTX_ADDRESS ||
        type.lanes != 1 || vector_count(statement) != 1)
        return ptx_fail(ptx, "unknown form of an atomic");
    if (!find_space(statement, &space)) return ptx_fail(ptx, "unknown state space");
    LLVMValueRef value = ptx_read(ptx, &statement->operands[at + 1], type), result;
    LLVMValueRef pointer = guarded_pointer(ptx, statement, &statement->operands[at], space);
    const LLVMAtomicOrdering ordering = LLVMAtomicOrderingSequentiallyConsistent;
    if (ptx_has(statement, "cas")) {
        if (statement->operand_count < at + 3) return ptx_fail(ptx, "too few operands");
        LLVMValueRef with = ptx_read(ptx, &statement->operands[at + 2], type);
        result = LLVMBuildAtomicCmpXchg(ir->builder, pointer, value, with, ordering, ordering, 0);
        result = LLVMBuildExtractValue(ir->builder, result, 0, "");
    } else {
        LLVMAtomicRMWBinOp operation;
        if (!find_operation(statement, type, &operation))
            return ptx_fail(ptx, "unknown atomic operation");
        result = LLVMBuildAtomicRMW(ir->builder, operation, pointer, value, ordering, 0);
    }
    struct ptx_operand *const to = &statement->operands[0];
    return !gives || to->kind == PTX_SINK || ptx_write(ptx, statement, to->reg, result, type);
}

/* ---- address conversion ---- */

/* cvta{.to}.SPACE.u64 d, a */
static bool lower_cvta(struct ptx *ptx, struct ptx_statement *statement)
{
    const struct cts_ir *const ir = ptx->ir;
    const struct ptx_type type = ptx_type_at(statement, -1);
    unsigned space;
    if (!find_space(statement, &space)) return ptx_fail(ptx, "unknown state space");
    LLVMValueRef value = ptx_read(ptx, &statement->operands[1], type);
    if (space == 3) {
        LLVMTypeRef shared = LLVMPointerTypeInContext(ir->context, 3);
        const bool to_shared = ptx_has(statement, "to");
        value = LLVMBuildIntToPtr(ir->builder, value, to_shared ? ir->pointer : shared, "");
        value = LLVMBuildAddrSpaceCast(ir->builder, value, to_shared ? shared : ir->pointer, "");
        value = LLVMBuildPtrToInt(ir->builder, value, ptx_ir_type(ir, type), "");
    }
    return ptx_write(ptx, statement, statement->operands[0].reg, value, type);
}

static bool lower_isspacep(struct ptx *ptx, struct ptx_statement *statement)
{
    struct cts_ir *const ir = ptx->ir;
    const char *space = statement->part_count > 1 ? statement->parts[1] : "";
    if (cts_starts_with(space, "shared")) space = "shared";
    if (strcmp(space, "global") != 0 && strcmp(space, "shared") != 0 &&
        strcmp(space, "const") != 0 && strcmp(space, "local") != 0)
        return ptx_fail(ptx, "unknown state space");
    char name[96];
    snprintf(name, sizeof name, "__cts_nvvm_isspacep_%s", space);
    const struct ptx_type u64 = {.kind = 'u', .bits = 64, .lanes = 1};
    LLVMValueRef address = LLVMBuildIntToPtr(
        ir->builder, ptx_read(ptx, &statement->operands[1], u64), ir->pointer, "");
    LLVMValueRef is = cts_ir_call(ir, name, ir->i32, 1, &address);
    is = LLVMBuildTrunc(ir->builder, is, ir->i1, "");
    return ptx_write(ptx, statement, statement->operands[0].reg, is,
                     (struct ptx_type){.kind = 'p', .bits = 1, .lanes = 1});
}

/* ---- warps ---- */

static LLVMValueRef read_u32(struct ptx *ptx, const struct ptx_operand *operand)
{
    return ptx_read(ptx, operand, (struct ptx_type){.kind = 'u', .bits = 32, .lanes = 1});
}

static LLVMValueRef read_predicate_u32(struct ptx *ptx, const struct ptx_operand *operand)
{
    return LLVMBuildZExt(ptx->ir->builder, ptx_read_i1(ptx, operand), ptx->ir->i32, "");
}

static const struct ptx_type ptx_u32 = {.kind = 'u', .bits = 32, .lanes = 1};
static const struct ptx_type ptx_predicate = {.kind = 'p', .bits = 1, .lanes = 1};

/* shfl.sync.MODE.b32 d{|p}, a, b, c, mask; before Volta without .sync and mask */
static bool lower_shuffle(struct ptx *ptx, struct ptx_statement *statement)
{
    struct cts_ir *const ir = ptx->ir;
    const bool sync = ptx_has(statement, "sync");
    const unsigned wanted = sync ? 5 : 4;
    const char *mode = NULL;
    static const char *const modes[] = {"up", "down", "bfly", "idx"};
    for (size_t i = 0; i < 4; i++)
        if (ptx_has(statement, modes[i])) mode = modes[i];
    if (!mode || statement->operand_count != wanted) return ptx_fail(ptx, "unknown form of shfl");
    const struct ptx_operand *const operands = statement->operands;
    LLVMValueRef arguments[5];
    unsigned count = 0;
    if (sync) arguments[count++] = read_u32(ptx, &operands[4]);
    for (unsigned i = 1; i <= 3; i++) arguments[count++] = read_u32(ptx, &operands[i]);
    char name[64];
    snprintf(name, sizeof name, "__cts_nvvm_shfl_%s%s_i32%s", sync ? "sync_" : "", mode,
             operands[0].second ? "p" : "");
    LLVMValueRef local = NULL;
    if (operands[0].second) arguments[count++] = local = ptx_local(ptx, ir->i32);
    LLVMValueRef value = cts_ir_call(ir, name, ir->i32, count, arguments);
    if (operands[0].second) {
        LLVMValueRef predicate = LLVMBuildTrunc(
            ir->builder, LLVMBuildLoad2(ir->builder, ir->i32, local, ""), ir->i1, "");
        if (!ptx_write(ptx, statement, operands[0].second, predicate, ptx_predicate)) return false;
    }
    return operands[0].kind == PTX_SINK ||
           ptx_write(ptx, statement, operands[0].reg, value, ptx_u32);
}

/* vote.sync.MODE.pred d, {!}a, mask */
static bool lower_vote(struct ptx *ptx, struct ptx_statement *statement)
{
    struct cts_ir *const ir = ptx->ir;
    const bool sync = ptx_has(statement, "sync");
    const char *mode = NULL;
    static const char *const modes[] = {"all", "any", "uni", "ballot"};
    for (size_t i = 0; i < 4; i++)
        if (ptx_has(statement, modes[i])) mode = modes[i];
    if (!mode || statement->operand_count != (sync ? 3u : 2u))
        return ptx_fail(ptx, "unknown form of vote");
    LLVMValueRef arguments[2];
    unsigned count = 0;
    if (sync) arguments[count++] = read_u32(ptx, &statement->operands[2]);
    arguments[count++] = read_predicate_u32(ptx, &statement->operands[1]);
    char name[64];
    snprintf(name, sizeof name, "__cts_nvvm_vote_%s%s", mode, sync ? "_sync" : "");
    LLVMValueRef value = cts_ir_call(ir, name, ir->i32, count, arguments);
    if (strcmp(mode, "ballot") == 0)
        return ptx_write(ptx, statement, statement->operands[0].reg, value, ptx_u32);
    value = LLVMBuildTrunc(ir->builder, value, ir->i1, "");
    return ptx_write(ptx, statement, statement->operands[0].reg, value, ptx_predicate);
}

static bool lower_activemask(struct ptx *ptx, struct ptx_statement *statement)
{
    LLVMValueRef value = cts_ir_call(ptx->ir, "__cts_nvvm_activemask", ptx->ir->i32, 0, NULL);
    return ptx_write(ptx, statement, statement->operands[0].reg, value, ptx_u32);
}

/* match.any.sync.T d, a, mask; match.all.sync.T d{|p}, a, mask */
static bool lower_match(struct ptx *ptx, struct ptx_statement *statement)
{
    struct cts_ir *const ir = ptx->ir;
    const struct ptx_type type = ptx_type_at(statement, -1);
    const bool all = ptx_has(statement, "all");
    if (statement->operand_count != 3 || (type.bits != 32 && type.bits != 64))
        return ptx_fail(ptx, "unknown form of match");
    LLVMValueRef arguments[3] = {read_u32(ptx, &statement->operands[2]),
                                 ptx_read(ptx, &statement->operands[1], type)};
    if (all) arguments[2] = ptx_local(ptx, ir->i32);
    char name[64];
    snprintf(name, sizeof name, "__cts_nvvm_match_%s_sync_i%u%s", all ? "all" : "any", type.bits,
             all ? "p" : "");
    LLVMValueRef value = cts_ir_call(ir, name, ir->i32, all ? 3 : 2, arguments);
    struct ptx_register *const second = statement->operands[0].second;
    if (second) {
        LLVMValueRef predicate = LLVMBuildTrunc(
            ir->builder, LLVMBuildLoad2(ir->builder, ir->i32, arguments[2], ""), ir->i1, "");
        if (!ptx_write(ptx, statement, second, predicate, ptx_predicate)) return false;
    }
    return ptx_write(ptx, statement, statement->operands[0].reg, value, ptx_u32);
}

/* redux.sync.OP.T d, a, mask */
static bool lower_redux(struct ptx *ptx, struct ptx_statement *statement)
{
    static const char *const operations[] = {"add", "min", "max", "and", "or", "xor"};
    const struct ptx_type type = ptx_type_at(statement, -1);
    const char *operation = NULL;
    for (size_t i = 0; i < 6; i++)
        if (ptx_has(statement, operations[i])) operation = operations[i];
    if (!operation || statement->operand_count != 3 || type.kind == 'f')
        return ptx_fail(ptx, "unknown form of redux");
    const bool is_order = operation[0] == 'm';
    char name[64];
    snprintf(name, sizeof name, "__cts_nvvm_redux_sync_%s%s",
             is_order && type.kind == 'u' ? "u" : "", operation);
    LLVMValueRef arguments[] = {read_u32(ptx, &statement->operands[1]),
                                read_u32(ptx, &statement->operands[2])};
    LLVMValueRef value = cts_ir_call(ptx->ir, name, ptx->ir->i32, 2, arguments);
    return ptx_write(ptx, statement, statement->operands[0].reg, value, ptx_u32);
}

/* ---- barriers ---- */

/* bar{.warp}.sync, barrier{.cta}.sync{.aligned}, bar.arrive, bar.red */
static bool lower_barrier(struct ptx *ptx, struct ptx_statement *statement)
{
    struct cts_ir *const ir = ptx->ir;
    LLVMValueRef arguments[2];
    const unsigned count = statement->operand_count;
    if (count > 2 || ptx_has(statement, "red") || ptx_has(statement, "cluster"))
        return ptx_fail(ptx, "unknown form of a barrier");
    for (unsigned i = 0; i < count; i++) arguments[i] = read_u32(ptx, &statement->operands[i]);
    const char *name = NULL;
    if (ptx_has(statement, "warp"))
        name = count == 1 ? "__cts_nvvm_bar_warp_sync" : NULL;
    else if (ptx_has(statement, "arrive"))
        name = count == 2 ? "__cts_nvvm_barrier_arrive_cnt" : NULL;
    else if (ptx_has(statement, "sync"))
        name = count == 2   ? "__cts_nvvm_barrier_sync_cnt"
               : count == 1 ? "__cts_nvvm_barrier_sync"
                            : NULL;
    if (!name) return ptx_fail(ptx, "unknown form of a barrier");
    cts_ir_call(ir, name, ir->nothing, count, arguments);
    return true;
}

/* Also the fence that an access with .release or .acquire has in it. */
static bool lower_fence(struct ptx *ptx, struct ptx_statement *statement)
{
    const bool is_cta = ptx_has(statement, "cta") || ptx_has(statement, "cluster");
    const bool is_gpu = ptx_has(statement, "gl") || ptx_has(statement, "gpu");
    cts_event_set(ptx->ir->context,
                  LLVMBuildFence(ptx->ir->builder, LLVMAtomicOrderingSequentiallyConsistent, 0, ""),
                  CTS_EVENT_SCOPE,
                  is_cta   ? CTS_FENCE_CTA
                  : is_gpu ? CTS_FENCE_GPU
                           : CTS_FENCE_SYSTEM);
    return true;
}

static bool lower_nanosleep(struct ptx *ptx, struct ptx_statement *statement)
{
    LLVMValueRef ns = read_u32(ptx, &statement->operands[0]);
    cts_ir_call(ptx->ir, "__cts_nvvm_nanosleep", ptx->ir->nothing, 1, &ns);
    return true;
}

static bool lower_end(struct ptx *ptx, struct ptx_statement *statement)
{
    const bool traps = strcmp(statement->parts[0], "trap") == 0;
    cts_ir_call(ptx->ir, traps ? "__cts_dev_trap" : "__cts_dev_exit", ptx->ir->nothing, 0, NULL);
    return true;
}

/* cp.async.{ca,cg}.shared.global [to], [from], bytes{, source bytes}; groups and waits */
static bool lower_copy(struct ptx *ptx, struct ptx_statement *statement)
{
    struct cts_ir *const ir = ptx->ir;
    if (ptx_has(statement, "commit_group")) {
        cts_ir_call(ir, CTS_EVENT_ASYNC_COMMIT, ir->nothing, 0, NULL);
        return true;
    }
    if (ptx_has(statement, "wait_group") || ptx_has(statement, "wait_all")) {
        LLVMValueRef groups = ptx_has(statement, "wait_group") && statement->operand_count
                                  ? read_u32(ptx, &statement->operands[0])
                                  : cts_u32(ir, 0);
        cts_ir_call(ir, CTS_EVENT_ASYNC_WAIT, ir->nothing, 1, &groups);
        return true;
    }
    const struct ptx_operand *const operands = statement->operands;
    if (!ptx_has(statement, "async") || ptx_has(statement, "bulk") ||
        statement->operand_count < 3 || operands[0].kind != PTX_ADDRESS ||
        operands[1].kind != PTX_ADDRESS)
        return ptx_fail(ptx, "unknown form of cp");
    LLVMValueRef bytes = read_u32(ptx, &operands[2]);
    if (!LLVMIsAConstantInt(bytes)) return ptx_fail(ptx, "the size of cp.async is not a constant");
    const unsigned width = (unsigned)LLVMConstIntGetZExtValue(bytes);
    LLVMValueRef to = guarded_pointer(ptx, statement, &operands[0], 3);
    LLVMValueRef from = guarded_pointer(ptx, statement, &operands[1], 1);
    LLVMValueRef length = cts_u64(ir, width);
    if (statement->operand_count > 3) {
        LLVMValueRef zeros =
            LLVMBuildMemSet(ir->builder, to, LLVMConstInt(ir->i8, 0, 0), length, width);
        cts_event_set(ir->context, zeros, CTS_EVENT_ASYNC, 1);
        length = LLVMBuildZExt(ir->builder, read_u32(ptx, &operands[3]), ir->i64, "");
    }
    cts_event_set(ir->context, LLVMBuildMemCpy(ir->builder, to, width, from, width, length),
                  CTS_EVENT_ASYNC, 1);
    return true;
}

static bool lower_nothing(struct ptx *ptx, struct ptx_statement *statement)
{
    (void)ptx;
    (void)statement;
    return true;
}

/* ---- the table ---- */

bool ptx_memory_statement(struct ptx *ptx, struct ptx_statement *statement, bool *known)
{
    static const struct {
        const char *name;
        bool (*lower)(struct ptx *, struct ptx_statement *);
        bool may_be_guarded;
        unsigned operands_min;
    } table[] = {
        {"ld", lower_load, true, 2},
        {"ldu", lower_load, true, 2},
        {"st", lower_store, true, 2},
        {"atom", lower_atomic, true, 3},
        {"red", lower_atomic, true, 2},
        {"cvta", lower_cvta, true, 2},
        {"isspacep", lower_isspacep, true, 2},
        {"shfl", lower_shuffle, false, 4},
        {"vote", lower_vote, false, 2},
        {"activemask", lower_activemask, false, 1},
        {"match", lower_match, false, 3},
        {"redux", lower_redux, false, 3},
        {"bar", lower_barrier, false, 1},
        {"barrier", lower_barrier, false, 1},
        {"membar", lower_fence, false, 0},
        {"fence", lower_fence, false, 0},
        {"nanosleep", lower_nanosleep, false, 1},
        {"trap", lower_end, false, 0},
        {"exit", lower_end, false, 0},
        {"cp", lower_copy, true, 0},
        {"prefetch", lower_nothing, true, 0},
        {"prefetchu", lower_nothing, true, 0},
        {"discard", lower_nothing, true, 0},
        {"applypriority", lower_nothing, true, 0},
        {"pmevent", lower_nothing, true, 0},
        {"brkpt", lower_nothing, true, 0},
        {"griddepcontrol", lower_nothing, true, 0},
        {"nop", lower_nothing, true, 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (strcmp(table[i].name, statement->parts[0]) != 0) continue;
        *known = true;
        if (statement->guard && !table[i].may_be_guarded)
            return ptx_fail(ptx, "a guard (@p) before an instruction that cannot be skipped");
        if (statement->operand_count < table[i].operands_min)
            return ptx_fail(ptx, "too few operands");
        const bool is_fence = table[i].lower == lower_fence;
        const bool is_strong = ptx_has(statement, "acq_rel") && !is_fence;
        if (is_strong || ptx_has(statement, "release")) (void)lower_fence(ptx, statement);
        const bool done = table[i].lower(ptx, statement);
        if (is_strong || ptx_has(statement, "acquire")) (void)lower_fence(ptx, statement);
        return done;
    }
    return true;
}
