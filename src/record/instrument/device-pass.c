/* The device pass: puts a mark at each memory access of device code and describes it.
 *
 *   kernels and filters    which functions are instrumented        device-kernels.c
 *   origins                which memory a pointer points to        origins.c
 *   accesses               what an instruction reads and writes    device-access.c, device-ptx.c
 *   names, types, places   how the source calls it                 debuginfo.c, address-names.c
 *   notes                  the named metadata that says all this   notes.c
 *
 * Sites are numbered in program order within a function, functions one after the other, so that of
 * two sites the smaller one comes first.
 *
 * What is not recorded: local memory (unless asked for), by-value arguments of kernels, constant
 * memory (the GPU serves it from its own cache, and no kernel can write it), and tables that the
 * compiler or a library keeps for itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/abi.h"
#include "record/instrument/device-access.h"
#include "record/instrument/device-barriers.h"
#include "record/instrument/device-events.h"
#include "record/instrument/device-kernels.h"
#include "record/instrument/device-order.h"
#include "record/instrument/device-producer.h"
#include "record/instrument/device-values.h"
#include "record/instrument/device-variables.h"
#include "record/instrument/loops.h"
#include "record/instrument/marks.h"
#include "record/instrument/notes.h"
#include "record/instrument/padding.h"
#include "record/instrument/origins.h"
#include "record/instrument/address-names.h"

struct device_pass {
    LLVMModuleRef module;
    LLVMContextRef context;
    LLVMTargetDataRef layout;
    LLVMBuilderRef builder;
    LLVMTypeRef i32, i64, pointer;
    LLVMValueRef access_mark, range_mark, event_mark;
    LLVMTypeRef access_mark_type, range_mark_type, event_mark_type;
    struct cts_value_marker values;
    struct cts_plugin_options options;
    struct cts_debug debug;
    struct cts_notes notes;
    struct cts_pointer_map padded_types; /* whether a type was noted */
    struct cts_namer namer;
    struct cts_kernels kernels;
    struct cts_origins *origins;
    struct cts_pointer_map textures;
    bool has_barriers; /* of libcu++ */
    struct cts_orderer orderer;
    uint32_t *left_out; /* per source: accesses that the source filter left out */
    size_t left_out_count;
};

/* The function at work. */
struct function_state {
    LLVMValueRef function;
    const char *name;
    struct cts_flow flow;
    uint32_t *noted_loops; /* per loop of the flow: its number in the notes + 1 */
    uint32_t loop;
};

static LLVMValueRef declare_mark(struct device_pass *pass, const char *name, LLVMTypeRef type)
{
    LLVMValueRef mark = LLVMGetNamedFunction(pass->module, name);
    return mark ? mark : LLVMAddFunction(pass->module, name, type);
}

static void declare_marks(struct device_pass *pass)
{
    LLVMTypeRef nothing = LLVMVoidTypeInContext(pass->context);
    LLVMTypeRef access[] = {pass->i32, pass->pointer};
    LLVMTypeRef range[] = {pass->i32, pass->pointer, pass->i64};
    LLVMTypeRef value[] = {pass->i32, pass->i64};
    pass->access_mark_type = LLVMFunctionType(nothing, access, 2, 0);
    pass->range_mark_type = LLVMFunctionType(nothing, range, 3, 0);
    pass->event_mark_type = LLVMFunctionType(nothing, value, 2, 0);
    pass->event_mark = declare_mark(pass, CTS_MARK_EVENT, pass->event_mark_type);
    pass->access_mark = declare_mark(pass, CTS_MARK_ACCESS, pass->access_mark_type);
    pass->range_mark = declare_mark(pass, CTS_MARK_ACCESS_RANGE, pass->range_mark_type);
    pass->values = (struct cts_value_marker){
        .context = pass->context,
        .layout = pass->layout,
        .builder = pass->builder,
        .mark_type = LLVMFunctionType(nothing, value, 2, 0),
    };
    if (pass->options.record_values)
        pass->values.mark = declare_mark(pass, CTS_MARK_VALUE, pass->values.mark_type);
}

/* --- Positions --- */

static bool is_mark(const struct device_pass *pass, LLVMValueRef instruction)
{
    if (!LLVMIsACallInst(instruction)) return false;
    LLVMValueRef callee = LLVMGetCalledValue(instruction);
    return callee == pass->access_mark || callee == pass->range_mark ||
           callee == pass->event_mark || callee == pass->values.mark;
}

/* The location of an instruction that uses `value`, if one has any; looks at a few only. */
static LLVMMetadataRef location_of_user(const struct device_pass *pass, LLVMValueRef value)
{
    int looks_left = 16;
    if (!LLVMIsAInstruction(value) && !LLVMIsAArgument(value)) return NULL;
    for (LLVMUseRef use = LLVMGetFirstUse(value); use && looks_left--; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (!LLVMIsAInstruction(user) || is_mark(pass, user)) continue;
        LLVMMetadataRef location = LLVMInstructionGetDebugLoc(user);
        if (location && LLVMDILocationGetLine(location)) return location;
    }
    return NULL;
}

/* Where the access is in the source. An instruction that was moved out of a loop has lost its
 * position; another access of the same address, or what uses the result, tells it then. */
static LLVMMetadataRef location_of(const struct device_pass *pass, LLVMValueRef instruction,
                                   LLVMValueRef pointer)
{
    LLVMMetadataRef own = LLVMInstructionGetDebugLoc(instruction), other = NULL;
    if (own && LLVMDILocationGetLine(own)) return own;
    if (LLVMIsAInstruction(pointer)) other = location_of_user(pass, pointer);
    if (!other) other = location_of_user(pass, instruction);
    return other ? other : own;
}

static struct cts_note_position position_of_frame(struct device_pass *pass, LLVMMetadataRef frame)
{
    if (!frame) return (struct cts_note_position){.source = CTS_NO_SOURCE};
    LLVMMetadataRef file = LLVMDIScopeGetFile(LLVMDILocationGetScope(frame));
    return (struct cts_note_position){
        .source = cts_debug_source(&pass->debug, file),
        .line = LLVMDILocationGetLine(frame),
        .column = LLVMDILocationGetColumn(frame),
    };
}

/* A function's own position; also the last resort for an access without one. */
static struct cts_note_position position_of_function(struct device_pass *pass,
                                                     LLVMValueRef function)
{
    LLVMMetadataRef subprogram = LLVMGetSubprogram(function);
    if (!subprogram) return (struct cts_note_position){.source = CTS_NO_SOURCE};
    return (struct cts_note_position){
        .source = cts_debug_source(&pass->debug, LLVMDIScopeGetFile(subprogram)),
        .line = LLVMDISubprogramGetLine(subprogram),
    };
}

static bool is_filtered_source(struct device_pass *pass, struct cts_note_position at)
{
    if (!pass->options.has_sources || at.source == CTS_NO_SOURCE) return false;
    if (cts_plugin_wants_source(&pass->options, pass->debug.sources[at.source].path)) return false;
    while (pass->left_out_count <= at.source) {
        size_t capacity = pass->left_out_count;
        pass->left_out =
            cts_plugin_grow(pass->left_out, pass->left_out_count, &capacity, sizeof(uint32_t));
        memset(pass->left_out + pass->left_out_count, 0,
               (capacity - pass->left_out_count) * sizeof(uint32_t));
        pass->left_out_count = capacity;
    }
    pass->left_out[at.source]++;
    return true;
}

/* --- What is recorded --- */

/* A constant that no source variable stands for (tables of the mathematical library and such), or
 * a texture reference, whose content is a handle. */
static bool is_private_table(const struct device_pass *pass, LLVMValueRef pointer)
{
    for (int i = 0; i < 64; i++) {
        if (LLVMIsAGlobalVariable(pointer))
            return cts_pointer_map_find(&pass->textures, pointer) ||
                   (LLVMIsGlobalConstant(pointer) && !cts_global_variable_info(pointer));
        bool has_base = LLVMIsAGetElementPtrInst(pointer) || LLVMIsAAddrSpaceCastInst(pointer) ||
                        LLVMIsABitCastInst(pointer) || LLVMIsAConstantExpr(pointer);
        if (!has_base) return false;
        pointer = LLVMGetOperand(pointer, 0);
    }
    return false;
}

/* The space to record the access in; false when it is not recorded. */
static bool choose_space(const struct device_pass *pass, const struct cts_memory_access *access,
                         enum cts_space *space)
{
    enum {
        OWN = CTS_ORIGIN_LOCAL | CTS_ORIGIN_PARAMETER,
        ELSEWHERE = CTS_ORIGIN_GLOBAL | CTS_ORIGIN_SHARED | CTS_ORIGIN_UNKNOWN,
    };
    unsigned set;
    if (LLVMGetTypeKind(LLVMTypeOf(access->pointer)) == LLVMPointerTypeKind) {
        set = cts_origins_of(pass->origins, access->pointer);
        if (access->integer_space == 1) set = CTS_ORIGIN_GLOBAL;
        if (access->integer_space == 3) set = CTS_ORIGIN_SHARED;
    } else {
        set = access->integer_space == 1   ? CTS_ORIGIN_GLOBAL
              : access->integer_space == 3 ? CTS_ORIGIN_SHARED
              : access->integer_space == 5 ? CTS_ORIGIN_LOCAL
                                           : CTS_ORIGIN_UNKNOWN;
    }
    *space = cts_origins_space(set);
    if (set == CTS_ORIGIN_PARAMETER) return false;
    if (!(set & ELSEWHERE)) return pass->options.record_locals && (set & OWN);
    return !is_private_table(pass, access->pointer);
}

/* The address as a generic pointer, made where the builder stands. */
static LLVMValueRef generic_pointer(struct device_pass *pass,
                                    const struct cts_memory_access *access)
{
    LLVMValueRef pointer = access->pointer;
    if (LLVMGetTypeKind(LLVMTypeOf(pointer)) != LLVMPointerTypeKind) {
        LLVMTypeRef type = LLVMPointerTypeInContext(pass->context, access->integer_space);
        pointer = LLVMBuildIntToPtr(pass->builder, pointer, type, "");
    }
    if (access->offset_bytes) {
        LLVMValueRef offset = LLVMConstInt(pass->i64, (uint64_t)access->offset_bytes, 1);
        LLVMTypeRef byte = LLVMInt8TypeInContext(pass->context);
        pointer = LLVMBuildGEP2(pass->builder, byte, pointer, &offset, 1, "");
    }
    if (LLVMGetPointerAddressSpace(LLVMTypeOf(pointer)))
        pointer = LLVMBuildAddrSpaceCast(pass->builder, pointer, pass->pointer, "");
    return pointer;
}

/* --- Sites --- */

static uint32_t noted_loop(struct device_pass *pass, struct function_state *state, uint32_t loop)
{
    if (loop == CTS_NO_LOOP) return CTS_NO_LOOP;
    if (!state->noted_loops[loop]) {
        uint32_t parent = noted_loop(pass, state, state->flow.loops[loop].parent);
        state->noted_loops[loop] = cts_notes_add_loop(&pass->notes, parent) + 1;
    }
    return state->noted_loops[loop] - 1;
}

/* The source's name of the element type where its size agrees with the access, else LLVM's. */
static char *element_type_name(const struct cts_memory_access *access,
                               const struct cts_memory_object *place)
{
    uint64_t size = cts_type_bytes(cts_type_plain(place->type));
    bool is_record = cts_type_is_record(cts_type_plain(place->type));
    bool fits = place->type && (size == access->width_bytes || access->length || !access->type);
    if (fits || (is_record && size)) {
        char *name = cts_type_name(place->type);
        if (*name) return name;
        free(name);
    }
    return access->type ? cts_type_name_of_llvm(access->type) : cts_plugin_text("%s", "");
}
/* Where an access stands: as the debugger has it, and its place in the module. */
struct site_place {
    LLVMMetadataRef frame;
    struct cts_note_position at;
};

static uint32_t add_site(struct device_pass *pass, struct function_state *state,
                         const struct cts_memory_access *access, enum cts_space space,
                         struct site_place where)
{
    struct cts_memory_object place = {0};
    if (LLVMGetTypeKind(LLVMTypeOf(access->pointer)) == LLVMPointerTypeKind &&
        cts_namer_find(&pass->namer, access->pointer, where.frame, &place)) {
        cts_note_padding(&pass->notes, &pass->padded_types, place.type);
        cts_place_descend(&pass->namer, &place, access->width_bytes);
        cts_note_padding(&pass->notes, &pass->padded_types, place.type);
    }
    char *type_name = element_type_name(access, &place);
    char *inlined_at = cts_debug_inlined_at(&pass->debug, where.frame);
    struct cts_note_site site = {
        .at = where.at,
        .width_bytes = (uint32_t)access->width_bytes,
        .operation = access->operation,
        .space = space,
        .is_volatile = access->is_volatile,
        .loop = noted_loop(pass, state, state->loop),
        .loop_depth = state->loop == CTS_NO_LOOP ? 0 : state->flow.loops[state->loop].depth,
        .function = state->name,
        .type_name = type_name,
        .variable = place.name,
        .inlined_at = inlined_at,
    };
    if (site.loop_depth > UINT8_MAX) site.loop_depth = UINT8_MAX;
    if (access->length) site.width_bytes = 16;
    uint32_t index = cts_notes_add_site(&pass->notes, &site);
    if (access->length) {
        site.width_bytes = 1;
        cts_notes_add_site(&pass->notes, &site);
    }
    free(type_name);
    free(inlined_at);
    return index;
}

/* With values, a mark and its values stand together: where the values are known only after an
 * instruction of several accesses, or one that may make marks of its own, the mark comes after it.
 */
static bool is_marked_after(const struct device_pass *pass, const struct cts_memory_access *access)
{
    if (!pass->options.record_values) return false;
    return access->value_source == CTS_VALUE_OF_MEMORY ||
           (access->length && access->operation == CTS_STORE);
}

static void add_mark(struct device_pass *pass, LLVMValueRef instruction,
                     const struct cts_memory_access *access, uint32_t site)
{
    bool is_after = is_marked_after(pass, access);
    LLVMPositionBuilderBefore(pass->builder,
                              is_after ? LLVMGetNextInstruction(instruction) : instruction);
    LLVMValueRef address = generic_pointer(pass, access);
    LLVMValueRef arguments[3] = {LLVMConstInt(pass->i32, site, 0), address};
    if (access->length) {
        arguments[2] = LLVMBuildIntCast2(pass->builder, access->length, pass->i64, 0, "");
        LLVMBuildCall2(pass->builder, pass->range_mark_type, pass->range_mark, arguments, 3, "");
        return;
    }
    LLVMBuildCall2(pass->builder, pass->access_mark_type, pass->access_mark, arguments, 2, "");
    if (pass->options.record_values)
        cts_mark_values(&pass->values, instruction, access, address, site);
}

static void mark_access(struct device_pass *pass, struct function_state *state,
                        LLVMValueRef instruction, const struct cts_memory_access *access)
{
    enum cts_space space;
    if ((!access->width_bytes && !access->length) || !choose_space(pass, access, &space)) return;
    LLVMMetadataRef location = location_of(pass, instruction, access->pointer);
    LLVMMetadataRef frame = cts_debug_user_frame(&pass->debug, location);
    struct cts_note_position at =
        frame ? position_of_frame(pass, frame) : position_of_function(pass, state->function);
    if (is_filtered_source(pass, at)) return;
    add_mark(pass, instruction, access,
             add_site(pass, state, access, space, (struct site_place){frame, at}));
}

/* What an instruction does is marked in front of `next`, it or the one after. Not left to the
 * filter of sources: without its barriers the rest would race. */
static void mark_event(struct device_pass *pass, struct function_state *state,
                       LLVMValueRef instruction, LLVMValueRef next, const struct cts_event *event)
{
    LLVMMetadataRef frame =
        cts_debug_user_frame(&pass->debug, LLVMInstructionGetDebugLoc(instruction));
    char *const inlined_at = cts_debug_inlined_at(&pass->debug, frame);
    struct cts_note_site site = {
        .at = frame ? position_of_frame(pass, frame) : position_of_function(pass, state->function),
        .operation = (enum cts_operation)event->operation,
        .space = CTS_SPACE_BARRIER,
        .loop = noted_loop(pass, state, state->loop),
        .loop_depth = state->loop == CTS_NO_LOOP ? 0 : state->flow.loops[state->loop].depth,
        .function = state->name,
        .type_name = "",
        .variable = "",
        .inlined_at = inlined_at,
    };
    if (site.loop_depth > UINT8_MAX) site.loop_depth = UINT8_MAX;
    LLVMPositionBuilderBefore(pass->builder, next);
    LLVMValueRef arguments[] = {LLVMConstInt(pass->i32, cts_notes_add_site(&pass->notes, &site), 0),
                                cts_event_argument(pass->builder, pass->i64, event)};
    LLVMBuildCall2(pass->builder, pass->event_mark_type, pass->event_mark, arguments, 2, "");
    free(inlined_at);
}

static void mark_order(struct device_pass *pass, struct function_state *state,
                       LLVMValueRef instruction, LLVMValueRef next)
{
    LLVMPositionBuilderBefore(pass->builder, next);
    mark_event(pass, state, instruction, next,
               &(struct cts_event){.operation = CTS_BARRIER_ORDER,
                                   .constant = next == instruction ? 0 : CTS_ORDER_AFTER,
                                   .value = cts_order_now(&pass->orderer, pass->builder)});
}

/* `access`: the only one that the instruction makes; NULL: it makes none or several. */
static struct cts_order_moments find_order(struct device_pass *pass, LLVMValueRef instruction,
                                           const struct cts_memory_access *access)
{
    enum cts_space space;
    if (!pass->orderer.function || !access || !choose_space(pass, access, &space) ||
        (space != CTS_SPACE_GLOBAL && space != CTS_SPACE_GENERIC))
        return (struct cts_order_moments){false, false};
    return cts_order_of(instruction, access);
}

static void note_skipped(struct device_pass *pass, struct function_state *state,
                         LLVMValueRef instruction, const char *reason)
{
    LLVMMetadataRef frame =
        cts_debug_user_frame(&pass->debug, LLVMInstructionGetDebugLoc(instruction));
    LLVMValueRef callee = LLVMGetCalledValue(instruction);
    size_t length;
    char *what;
    if (LLVMIsAInlineAsm(callee)) {
        const char *text = LLVMGetInlineAsmAsmString(callee, &length);
        what = cts_plugin_text("inline PTX '%.*s' in %s", (int)length, text, state->name);
    } else {
        what = cts_plugin_text("'%s' in %s", LLVMGetValueName2(callee, &length), state->name);
    }
    cts_notes_add_skipped(&pass->notes, what, reason,
                          frame ? position_of_frame(pass, frame)
                                : position_of_function(pass, state->function));
    free(what);
}

/* Inside a barrier of libcu++ there are fences, and warps that elect a lane: a GPU has neither. */
static void leave_out_own_events(struct cts_events *events)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < events->count; i++)
        if (events->items[i].operation != CTS_BARRIER_FENCE &&
            events->items[i].operation != CTS_BARRIER_WARP_SYNC)
            events->items[kept++] = events->items[i];
    events->count = kept;
}

static void mark_instruction(struct device_pass *pass, struct function_state *state,
                             LLVMValueRef instruction)
{
    struct cts_memory_accesses accesses;
    struct cts_events events;
    LLVMValueRef next = LLVMGetNextInstruction(instruction); /* behind all marks */
    const bool is_inside = pass->has_barriers && cts_is_in_barrier(instruction);
    events.count = 0;
    if (!pass->options.leave_out_barriers) cts_find_events(instruction, &events);
    if (is_inside) leave_out_own_events(&events);
    for (unsigned i = 0; i < events.count; i++)
        mark_event(pass, state, instruction, instruction, &events.items[i]);
    if (is_inside) return;
    cts_find_accesses(pass->layout, instruction, &accesses);
    const struct cts_order_moments order =
        find_order(pass, instruction, accesses.count == 1 ? &accesses.items[0] : NULL);
    if (order.before) mark_order(pass, state, instruction, instruction);
    for (unsigned i = 0; i < accesses.count; i++)
        mark_access(pass, state, instruction, &accesses.items[i]);
    if (order.after) mark_order(pass, state, instruction, next);
    if (accesses.skipped_reason) note_skipped(pass, state, instruction, accesses.skipped_reason);
}

static void mark_function(struct device_pass *pass, LLVMValueRef function)
{
    struct function_state state = {.function = function};
    state.name = cts_debug_function_name(&pass->debug, function);
    cts_flow_find(&state.flow, function);
    state.noted_loops = cts_plugin_allocate(state.flow.loop_count, sizeof *state.noted_loops);
    cts_namer_enter(&pass->namer, function);
    for (size_t i = 0; i < state.flow.block_count; i++) {
        LLVMValueRef next = LLVMGetFirstInstruction(state.flow.blocks[i].block);
        state.loop = state.flow.blocks[i].loop;
        while (next) {
            LLVMValueRef instruction = next;
            next = LLVMGetNextInstruction(instruction); /* marks go in between */
            mark_instruction(pass, &state, instruction);
        }
    }
    free(state.noted_loops);
    cts_flow_release(&state.flow);
}

static bool is_instrumented(const struct device_pass *pass, LLVMValueRef function)
{
    size_t length;
    const char *name = LLVMGetValueName2(function, &length);
    if (LLVMIsDeclaration(function) || cts_kernels_is_left_out(&pass->kernels, function))
        return false;
    if (!strncmp(name, "__nv_", 5) || !strncmp(name, "__cts_", 6)) return false;
    return cts_kernels_wants_function(&pass->kernels, function);
}

/* Kinds of attributes: of a function itself, and of its arguments. */
struct attribute_kinds {
    const unsigned *own;
    unsigned own_count;
    const unsigned *argument;
    unsigned argument_kind_count;
};

/* --- The rest of the module --- */

static void remove_attributes(LLVMValueRef value, bool is_call, unsigned argument_count,
                              const struct attribute_kinds *kinds)
{
    for (unsigned k = 0; k < kinds->own_count; k++) {
        if (is_call)
            LLVMRemoveCallSiteEnumAttribute(value, LLVMAttributeFunctionIndex, kinds->own[k]);
        else
            LLVMRemoveEnumAttributeAtIndex(value, LLVMAttributeFunctionIndex, kinds->own[k]);
    }
    for (unsigned i = 1; i <= argument_count; i++)
        for (unsigned k = 0; k < kinds->argument_kind_count; k++) {
            if (is_call)
                LLVMRemoveCallSiteEnumAttribute(value, i, kinds->argument[k]);
            else
                LLVMRemoveEnumAttributeAtIndex(value, i, kinds->argument[k]);
        }
}

/* Functions with marks, and whatever calls them, no longer are what the optimiser found them to be
 * ("reads its arguments only"). Finding out which keep a promise is not worth it: all lose it. */
static void remove_broken_promises(struct device_pass *pass)
{
    static const char *const own_names[] = {"memory",     "nosync",    "nofree",
                                            "willreturn", "norecurse", "speculatable"};
    static const char *const argument_names[] = {"readonly", "writeonly", "readnone", "nocapture"};
    enum { OWN = 6, ARGUMENT = 4 };
    unsigned own[OWN], argument[ARGUMENT];
    for (int i = 0; i < OWN; i++)
        own[i] = LLVMGetEnumAttributeKindForName(own_names[i], strlen(own_names[i]));
    for (int i = 0; i < ARGUMENT; i++)
        argument[i] = LLVMGetEnumAttributeKindForName(argument_names[i], strlen(argument_names[i]));
    for (LLVMValueRef f = LLVMGetFirstFunction(pass->module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f)) continue;
        remove_attributes(f, false, LLVMCountParams(f),
                          &(struct attribute_kinds){.own = own,
                                                    .own_count = OWN,
                                                    .argument = argument,
                                                    .argument_kind_count = ARGUMENT});
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                if (!LLVMIsACallInst(i)) continue;
                LLVMValueRef callee = LLVMGetCalledValue(i);
                if (LLVMIsAInlineAsm(callee) ||
                    (LLVMIsAFunction(callee) && LLVMIsDeclaration(callee)))
                    continue;
                remove_attributes(i, true, LLVMGetNumArgOperands(i),
                                  &(struct attribute_kinds){.own = own,
                                                            .own_count = OWN,
                                                            .argument = argument,
                                                            .argument_kind_count = ARGUMENT});
            }
    }
}

static void note_kernels(struct device_pass *pass)
{
    for (size_t i = 0; i < pass->kernels.count; i++) {
        LLVMValueRef kernel = pass->kernels.items[i];
        bool is_left_out = cts_kernels_is_left_out(&pass->kernels, kernel);
        cts_notes_add_kernel(&pass->notes,
                             &(struct cts_note_kernel){
                                 .symbol = cts_source_symbol(kernel),
                                 .display_name = cts_debug_function_name(&pass->debug, kernel),
                                 .at = position_of_function(pass, kernel),
                                 .flags = is_left_out ? CTS_KERNEL_UNINSTRUMENTED : 0,
                             });
    }
}

static void note_left_out_sources(struct device_pass *pass)
{
    for (uint32_t i = 0; i < pass->left_out_count; i++) {
        if (!pass->left_out[i]) continue;
        char *what =
            cts_plugin_text("%u accesses in '%s'", pass->left_out[i], pass->debug.sources[i].path);
        cts_notes_add_skipped(&pass->notes, what, "left out by the filter of source files",
                              (struct cts_note_position){.source = i});
        free(what);
    }
}

/* The CPU device has one object for a managed variable; clang made the device's side of it. */
static void unite_managed(struct device_pass *pass)
{
    struct cts_pointer_map managed = {0};
    cts_find_managed(pass->module, &managed);
    for (size_t i = 0; i < managed.capacity; i++) {
        LLVMValueRef variable = (LLVMValueRef)(uintptr_t)managed.entries[i].key;
        if (variable) cts_unite_managed(variable, pass->options.unit);
    }
    cts_pointer_map_release(&managed);
}

static void pass_init(struct device_pass *pass, LLVMModuleRef module)
{
    pass->module = module;
    pass->context = LLVMGetModuleContext(module);
    pass->layout = LLVMGetModuleDataLayout(module);
    pass->builder = LLVMCreateBuilderInContext(pass->context);
    pass->i32 = LLVMInt32TypeInContext(pass->context);
    pass->i64 = LLVMInt64TypeInContext(pass->context);
    pass->pointer = LLVMPointerTypeInContext(pass->context, 0);
    pass->notes = (struct cts_notes){.module = module,
                                     .context = pass->context,
                                     .debug = &pass->debug,
                                     .is_printing = pass->options.print_notes};
    pass->has_barriers = LLVMGetNamedFunction(module, CTS_EVENT_MBARRIER_ARRIVE) ||
                         LLVMGetNamedFunction(module, CTS_EVENT_MBARRIER_WAIT);
    pass->namer = (struct cts_namer){.debug = &pass->debug, .layout = pass->layout};
}

static void pass_release(struct device_pass *pass)
{
    cts_namer_release(&pass->namer);
    cts_origins_free(pass->origins);
    cts_kernels_release(&pass->kernels);
    cts_pointer_map_release(&pass->textures);
    cts_pointer_map_release(&pass->padded_types);
    cts_debug_release(&pass->debug);
    LLVMDisposeBuilder(pass->builder);
    free(pass->left_out);
}

/* Marks that nothing calls would be undefined symbols of an object without accesses. */
static void remove_unused_mark(LLVMValueRef mark)
{
    if (mark && !LLVMGetFirstUse(mark)) LLVMDeleteFunction(mark);
}

/* Without a producer that marks could call, only what was found is kept. */
static void drop_marks(LLVMValueRef mark)
{
    LLVMUseRef use;
    while (mark && (use = LLVMGetFirstUse(mark))) LLVMInstructionEraseFromParent(LLVMGetUser(use));
}

/* The device library comes in when what is recorded is marked: its own accesses are not. */
static void link_library(LLVMModuleRef module, const char *path)
{
    char *problem = NULL;
    if (cts_link_needed(module, path, &problem)) {
        char *const text = cts_plugin_text("the device library cannot be linked: %s", problem);
        cts_error_at(module, NULL, text);
        free(text);
    }
    free(problem);
}

int cts_device_pass(LLVMModuleRef module)
{
    struct device_pass pass = {0};
    if (!cts_plugin_options_read(&pass.options, module)) {
        cts_drop_event_calls(module);
        cts_plugin_options_release(&pass.options);
        return 0;
    }
    if (!LLVMIsNewDbgInfoFormat(module)) LLVMSetIsNewDbgInfoFormat(module, 1);
    pass_init(&pass, module);
    declare_marks(&pass);
    cts_find_textures(module, &pass.textures);
    cts_kernels_find(&pass.kernels, module, &pass.debug, &pass.options);
    pass.origins = cts_origins_find(module, &pass.kernels.is_kernel, pass.options.separate_units);
    if (pass.options.for_cpu && !pass.options.leave_out_barriers)
        cts_orderer_init(&pass.orderer, module, pass.options.separate_units);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        if (is_instrumented(&pass, f)) mark_function(&pass, f);
    if (pass.notes.site_count) remove_broken_promises(&pass);
    note_kernels(&pass);
    cts_note_variables(&pass.notes);
    note_left_out_sources(&pass);
    if (pass.options.for_cpu) unite_managed(&pass);
    cts_notes_finish(&pass.notes, (pass.options.record_values ? CTS_FILE_VALUES : 0) |
                                      (pass.options.record_locals ? CTS_FILE_LOCALS : 0) |
                                      (pass.options.leave_out_barriers
                                           ? 0
                                           : CTS_FILE_BARRIERS | CTS_FILE_FENCES |
                                                 (pass.options.for_cpu ? CTS_FILE_ORDER : 0)));
    cts_drop_event_calls(module);
    if (pass.options.drop_marks) {
        drop_marks(pass.access_mark);
        drop_marks(pass.range_mark);
        drop_marks(pass.event_mark);
        drop_marks(pass.values.mark);
    }
    if (pass.options.library && !pass.options.for_cpu) link_library(module, pass.options.library);
    if (pass.options.producer && !pass.options.for_cpu) {
        drop_marks(pass.values.mark);
        cts_producer_add(module, pass.options.producer);
        cts_device_table_add(module, pass.options.unit);
    }
    remove_unused_mark(pass.access_mark);
    remove_unused_mark(pass.range_mark);
    remove_unused_mark(pass.event_mark);
    remove_unused_mark(pass.values.mark);
    pass_release(&pass);
    cts_plugin_options_release(&pass.options);
    return 1;
}
