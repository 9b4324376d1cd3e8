/* Tells the runtime what the source calls an allocation: before each call of an allocating function
 * of the runtime or driver API comes __cts_allocation_hint() with the name and element type of the
 * variable that the first argument is the address of, and the position of the call.
 *
 * The runtime header's typed overloads (template <class T> cudaMalloc(T **, size_t)) are calls of
 * functions of that name, at the user's position; the call inside them gets no hint, since it is
 * in a header.
 *
 * A program that was compiled for an NVIDIA GPU may be linked without the recorder: there the hint
 * is a weak symbol, and where it is missing a function that does nothing is called. */
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Target.h>

#include "record/abi.h"
#include "record/instrument/host-helpers.h"
#include "record/instrument/host-pass.h"
#include "record/instrument/address-names.h"

struct hint_pass {
    LLVMModuleRef module;
    LLVMContextRef context;
    LLVMBuilderRef builder;
    LLVMTypeRef pointer, i32, hint_type;
    LLVMValueRef hint, no_hint;
    struct cts_debug debug;
    struct cts_namer namer;
    struct cts_pointer_map is_allocating; /* function -> enum allocating */
    const struct cts_plugin_options *options;
    bool is_changed;
};

/* What is known of one allocation; texts may be NULL. */
struct allocation {
    char *variable, *type_name;
    uint32_t element_bytes;
};

enum allocating {
    NOT_ALLOCATING = 1,
    SETS_POINTER, /* its first argument is the address of a pointer to the elements */
    SETS_HANDLE,  /* ... of a CUdeviceptr */
    SETS_ARRAY,   /* ... of an array's handle */
    SETS_PITCHED, /* ... of a cudaPitchedPtr */
};

static enum allocating allocating_by_name(const char *name)
{
    static const struct {
        const char *name;
        enum allocating kind;
    } known[] = {
        {"cudaMalloc", SETS_POINTER},
        {"cudaMallocManaged", SETS_POINTER},
        {"cudaMallocHost", SETS_POINTER},
        {"cudaHostAlloc", SETS_POINTER},
        {"cudaMallocPitch", SETS_POINTER},
        {"cudaMallocAsync", SETS_POINTER},
        {"cudaMallocFromPoolAsync", SETS_POINTER},
        {"cudaMalloc3D", SETS_PITCHED},
        {"cudaMallocArray", SETS_ARRAY},
        {"cudaMalloc3DArray", SETS_ARRAY},
        {"cudaMallocMipmappedArray", SETS_ARRAY},
        {"cuMemAlloc", SETS_HANDLE},
        {"cuMemAlloc_v2", SETS_HANDLE},
        {"cuMemAllocManaged", SETS_HANDLE},
        {"cuMemAllocPitch", SETS_HANDLE},
        {"cuMemAllocPitch_v2", SETS_HANDLE},
        {"cuMemAllocAsync", SETS_HANDLE},
        {"cuMemAllocFromPoolAsync", SETS_HANDLE},
        {"cuMemAllocHost", SETS_POINTER},
        {"cuMemAllocHost_v2", SETS_POINTER},
        {"cuMemHostAlloc", SETS_POINTER},
    };
    size_t length = strcspn(name, "<(");
    /* with one default stream per thread */
    if (length > 5 &&
        (!memcmp(name + length - 5, "_ptsz", 5) || !memcmp(name + length - 5, "_ptds", 5)))
        length -= 5;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].name) == length && !memcmp(known[i].name, name, length))
            return known[i].kind;
    return NOT_ALLOCATING;
}

static enum allocating allocating_kind(struct hint_pass *pass, LLVMValueRef function)
{
    uint64_t *kind = cts_pointer_map_insert(&pass->is_allocating, function);
    if (!*kind) *kind = allocating_by_name(cts_debug_function_name(&pass->debug, function));
    return (enum allocating)(*kind);
}

static bool is_allocating(struct hint_pass *pass, LLVMValueRef function)
{
    return allocating_kind(pass, function) != NOT_ALLOCATING;
}

static bool is_call(LLVMValueRef instruction)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
    return opcode == LLVMCall || opcode == LLVMInvoke;
}

static bool is_allocating_function(void *user, LLVMValueRef function)
{
    return is_allocating(user, function);
}

static bool is_users_function(void *user, LLVMValueRef function)
{
    struct hint_pass *const pass = user;
    LLVMMetadataRef info = LLVMGetSubprogram(function);
    const uint32_t source =
        info ? cts_debug_source(&pass->debug, LLVMDIScopeGetFile(info)) : CTS_NO_SOURCE;
    return source != CTS_NO_SOURCE && pass->debug.sources[source].is_users;
}

static LLVMValueRef text_constant(struct hint_pass *pass, const char *text)
{
    return LLVMBuildGlobalStringPtr(pass->builder, text ? text : "", "cts.text");
}

/* A struct cts_allocation_desc. */
static LLVMValueRef describe(struct hint_pass *pass, const struct allocation *allocation,
                             const char *path, const char *function, LLVMMetadataRef location)
{
    _Static_assert(offsetof(struct cts_allocation_desc, variable) == 0 &&
                       offsetof(struct cts_allocation_desc, type_name) == 8 &&
                       offsetof(struct cts_allocation_desc, path) == 16 &&
                       offsetof(struct cts_allocation_desc, function) == 24 &&
                       offsetof(struct cts_allocation_desc, line) == 32 &&
                       offsetof(struct cts_allocation_desc, column) == 36 &&
                       offsetof(struct cts_allocation_desc, element_bytes) == 40,
                   "the constant below is written in this order");
    uint32_t line = location ? LLVMDILocationGetLine(location) : 0;
    uint32_t column = location ? LLVMDILocationGetColumn(location) : 0;
    LLVMValueRef fields[] = {
        text_constant(pass, allocation->variable),
        text_constant(pass, allocation->type_name),
        text_constant(pass, path),
        text_constant(pass, function),
        LLVMConstInt(pass->i32, line, 0),
        LLVMConstInt(pass->i32, column, 0),
        LLVMConstInt(pass->i32, allocation->element_bytes, 0),
    };
    LLVMValueRef content = LLVMConstStructInContext(pass->context, fields, 7, 0);
    LLVMValueRef desc = LLVMAddGlobal(pass->module, LLVMTypeOf(content), "cts.allocation");
    LLVMSetInitializer(desc, content);
    LLVMSetLinkage(desc, LLVMPrivateLinkage);
    LLVMSetGlobalConstant(desc, 1);
    return desc;
}

/* "float" of "cudaMalloc<float>(float**, unsigned long)"; NULL without a template argument. */
static char *type_of_template(const char *name)
{
    const char *open = strchr(name, '<');
    int depth = 0;
    if (!open) return NULL;
    for (const char *c = open; *c; c++) {
        depth += (*c == '<') - (*c == '>');
        if (!depth) return cts_plugin_text("%.*s", (int)(c - open - 1), open + 1);
    }
    return NULL;
}

/* ---- whom a helper allocates for (host-helpers.h) ----
 *
 * The walk goes outwards, from the address that the allocating function gets to what the caller of
 * the helper gave, or does with the result, as long as that has a name. */

enum { LEVELS_MAX = 8, STEPS_MAX = 32 };

struct level {
    LLVMMetadataRef frame; /* where it is, seen from the source */
    LLVMValueRef value;    /* an address in it */
    struct cts_memory_object place;
};

/* The slot of a parameter of an inlined helper that the address lies behind, or of a variable that
 * one returns; NULL: it is neither. */
static LLVMValueRef helper_slot(LLVMValueRef value)
{
    for (int i = 0; i < STEPS_MAX; i++) {
        if (cts_has_mark(value, CTS_HELPER_RETURNED)) return value;
        if (LLVMIsALoadInst(value)) {
            value = LLVMGetOperand(value, 0);
            if (cts_has_mark(value, CTS_HELPER_PARAMETER)) return value;
            value = cts_only_value_in(value);
            if (!value) return NULL;
        } else if (LLVMIsAGetElementPtrInst(value) || LLVMIsACastInst(value)) {
            value = LLVMGetOperand(value, 0);
        } else {
            return NULL;
        }
    }
    return NULL;
}

static bool is_variable(const struct hint_pass *pass, LLVMValueRef slot)
{
    return cts_pointer_map_find(&pass->namer.first_of, slot) != NULL;
}

static LLVMValueRef first_argument(LLVMValueRef call, LLVMValueRef other)
{
    const bool is_call = LLVMIsACallInst(call) || LLVMIsAInvokeInst(call);
    if (!is_call || LLVMGetNumArgOperands(call) < 2) return NULL;
    LLVMValueRef first = LLVMGetOperand(call, 0);
    return first != other && LLVMGetTypeKind(LLVMTypeOf(first)) == LLVMPointerTypeKind ? first
                                                                                       : NULL;
}

/* The object whose member function takes what a slot without a name holds. */
static LLVMValueRef taker_of(LLVMValueRef slot)
{
    for (LLVMUseRef use = LLVMGetFirstUse(slot); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef found = first_argument(LLVMGetUser(use), slot);
        if (found) return found;
    }
    return slot;
}

/* Where the caller at `frame` keeps a value: the address that it is stored to, or the object whose
 * member function takes it. */
static LLVMValueRef keeper_of(struct hint_pass *pass, LLVMValueRef value, LLVMMetadataRef frame,
                              int depth)
{
    if (depth > 6) return NULL;
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use), found = NULL;
        LLVMMetadataRef at = LLVMIsAInstruction(user) ? LLVMInstructionGetDebugLoc(user) : NULL;
        const bool is_there =
            at && LLVMDILocationGetInlinedAt(at) == LLVMDILocationGetInlinedAt(frame);
        if (LLVMIsACastInst(user) || (LLVMIsALoadInst(user) && LLVMIsAAllocaInst(value))) {
            found = keeper_of(pass, user, frame, depth + 1);
        } else if (LLVMIsAStoreInst(user) && LLVMGetOperand(user, 0) == value) {
            LLVMValueRef to = LLVMGetOperand(user, 1);
            if (cts_has_mark(to, CTS_HELPER_RESULT) || cts_has_mark(to, CTS_HELPER_RETURNED))
                found = keeper_of(pass, to, frame, depth + 1);
            else if (is_there)
                found = LLVMIsAAllocaInst(to) && !is_variable(pass, to) ? taker_of(to) : to;
        } else if (is_there) {
            found = first_argument(user, value);
        }
        if (found) return found;
    }
    return NULL;
}

/* Goes outwards to the frame that keeps the value. */
static LLVMValueRef find_keeper(struct hint_pass *pass, LLVMValueRef value, LLVMMetadataRef *frame)
{
    LLVMValueRef keeper = NULL;
    for (LLVMMetadataRef at = *frame; at && !keeper; at = LLVMDILocationGetInlinedAt(at)) {
        keeper = keeper_of(pass, value, at, 0);
        if (keeper) *frame = at;
    }
    return keeper;
}

/* Bytes of what the variable in a slot points to: the object that a helper works on. */
static uint64_t pointee_bytes(struct hint_pass *pass, LLVMValueRef slot, LLVMMetadataRef frame)
{
    struct cts_memory_object place;
    if (!cts_namer_find(&pass->namer, slot, frame, &place)) return 0;
    return cts_type_bytes(cts_type_plain(cts_type_base(cts_type_plain(place.type))));
}

/* The next level outwards; false: there is none. */
static bool go_out(struct hint_pass *pass, struct level *level)
{
    enum { POINTER_BYTES = 8 };
    LLVMMetadataRef frame = level->frame ? LLVMDILocationGetInlinedAt(level->frame) : NULL;
    LLVMValueRef slot = helper_slot(level->value);
    if (!frame || !slot) return false;
    const bool is_parameter = cts_has_mark(slot, CTS_HELPER_PARAMETER);
    const uint64_t bytes = is_parameter ? pointee_bytes(pass, slot, level->frame) : POINTER_BYTES;
    LLVMValueRef value = is_parameter ? cts_only_value_in(slot) : find_keeper(pass, slot, &frame);
    if (!value) return false;
    struct level outer = {.frame = frame, .value = value};
    if (!cts_namer_find(&pass->namer, value, frame, &outer.place) && is_parameter) {
        outer.value = find_keeper(pass, value, &outer.frame); /* of `new`, or of another call */
        if (!outer.value)
            outer = (struct level){.frame = frame, .value = value};
        else
            (void)cts_namer_find(&pass->namer, outer.value, outer.frame, &outer.place);
    }
    if (bytes && outer.place.name[0]) cts_place_descend(&pass->namer, &outer.place, bytes);
    *level = outer;
    return true;
}

/* Calls of allocating functions in one inlined copy of a helper. */
static unsigned allocations_in(struct hint_pass *pass, LLVMValueRef function,
                               LLVMMetadataRef inlined_at)
{
    unsigned count = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            LLVMValueRef callee = is_call(i) ? LLVMGetCalledValue(i) : NULL;
            LLVMMetadataRef at = LLVMInstructionGetDebugLoc(i);
            if (!callee || !LLVMIsAFunction(callee) || !is_allocating(pass, callee)) continue;
            for (int k = 0; at && k < LEVELS_MAX; k++, at = LLVMDILocationGetInlinedAt(at))
                if (LLVMDILocationGetInlinedAt(at) == inlined_at) {
                    count++;
                    break;
                }
        }
    return count;
}

/* "data" of "this->data": what tells the allocations of one object apart. */
static const char *member_of(const char *name)
{
    return strncmp(name, "this->", 6) ? "" : name + 6;
}

/* The type of a helper that returns `void *` is that of its caller's pointer. */
static void take_type(struct allocation *allocation, LLVMMetadataRef type)
{
    type = cts_type_plain(type);
    if (allocation->element_bytes || !cts_type_is_pointer(type)) return;
    free(allocation->type_name);
    allocation->type_name = cts_type_name(cts_type_base(type));
    allocation->element_bytes = (uint32_t)cts_type_bytes(cts_type_plain(cts_type_base(type)));
}

/* Replaces the name by that of the outermost variable that the helpers allocate for; where a helper
 * allocates several, the member is added and the line stays. */
static void name_for_caller(struct hint_pass *pass, LLVMValueRef call,
                            struct allocation *allocation, LLVMMetadataRef *location)
{
    struct level level = {.frame = *location, .value = LLVMGetOperand(call, 0)};
    bool moves_line = true;
    for (int i = 0; i < LEVELS_MAX; i++) {
        LLVMMetadataRef inlined_at = level.frame ? LLVMDILocationGetInlinedAt(level.frame) : NULL;
        if (!go_out(pass, &level)) return;
        char *const name = level.place.name;
        char *const internal = strstr(name, "._M_"); /* a member of a container of libstdc++ */
        if (internal) *internal = 0;
        if (!*name || !strcmp(name, "this")) continue;
        const bool is_one =
            allocations_in(pass, LLVMGetBasicBlockParent(LLVMGetInstructionParent(call)),
                           inlined_at) == 1;
        const char *const inner = allocation->variable ? allocation->variable : "";
        const char *const member = is_one ? "" : member_of(inner);
        char *const text = cts_plugin_text("%s%s%s", name, *member ? "." : "", member);
        moves_line &= is_one || !*member;
        free(allocation->variable);
        allocation->variable = text;
        take_type(allocation, level.place.type);
        if (moves_line) *location = level.frame;
    }
}

static struct allocation find_allocation(struct hint_pass *pass, LLVMValueRef call,
                                         LLVMMetadataRef location)
{
    struct allocation allocation = {0};
    struct cts_memory_object place;
    LLVMValueRef callee = LLVMGetCalledValue(call);
    if (LLVMGetNumArgOperands(call) &&
        cts_namer_find(&pass->namer, LLVMGetOperand(call, 0), location, &place)) {
        enum allocating kind = allocating_kind(pass, callee);
        enum { PITCHED_BYTES = 32 };
        if (kind == SETS_PITCHED) {
            cts_place_descend(&pass->namer, &place, PITCHED_BYTES);
        } else if (cts_place_to_pointer(&pass->namer, &place) && kind == SETS_POINTER) {
            LLVMMetadataRef element = cts_type_base(place.type);
            allocation.type_name = cts_type_name(element);
            allocation.element_bytes = (uint32_t)cts_type_bytes(cts_type_plain(element));
        }
        allocation.variable = cts_plugin_text("%s%s", place.is_pointee ? "*" : "", place.name);
    }
    if (!allocation.type_name || !*allocation.type_name) {
        free(allocation.type_name);
        allocation.type_name = type_of_template(cts_debug_function_name(&pass->debug, callee));
    }
    return allocation;
}

static LLVMValueRef no_hint(struct hint_pass *pass)
{
    if (pass->no_hint) return pass->no_hint;
    pass->no_hint = LLVMAddFunction(pass->module, "cts.no_hint", pass->hint_type);
    LLVMSetLinkage(pass->no_hint, LLVMInternalLinkage);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(pass->context);
    LLVMPositionBuilderAtEnd(builder,
                             LLVMAppendBasicBlockInContext(pass->context, pass->no_hint, ""));
    LLVMBuildRetVoid(builder);
    LLVMDisposeBuilder(builder);
    return pass->no_hint;
}

static LLVMValueRef hint_function(struct hint_pass *pass)
{
    static const char name[] = "__cts_allocation_hint";
    if (!pass->hint) pass->hint = LLVMGetNamedFunction(pass->module, name);
    if (!pass->hint) {
        pass->hint = LLVMAddFunction(pass->module, name, pass->hint_type);
        if (!pass->options->for_cpu) LLVMSetLinkage(pass->hint, LLVMExternalWeakLinkage);
    }
    return pass->hint;
}

static void add_hint(struct hint_pass *pass, LLVMValueRef function, LLVMValueRef call)
{
    LLVMMetadataRef location = LLVMInstructionGetDebugLoc(call);
    const char *path = "", *name = cts_debug_function_name(&pass->debug, function);
    struct allocation allocation = {0};
    if (location) {
        LLVMMetadataRef file = LLVMDIScopeGetFile(LLVMDILocationGetScope(location));
        uint32_t source = cts_debug_source(&pass->debug, file);
        if (source != CTS_NO_SOURCE && !pass->debug.sources[source].is_users) return;
        allocation = find_allocation(pass, call, location);
        if (LLVMGetNumArgOperands(call)) name_for_caller(pass, call, &allocation, &location);
        source =
            cts_debug_source(&pass->debug, LLVMDIScopeGetFile(LLVMDILocationGetScope(location)));
        if (source != CTS_NO_SOURCE) path = pass->debug.sources[source].path;
        if (LLVMDILocationGetInlinedAt(location))
            name = cts_debug_subprogram_name(&pass->debug, cts_location_subprogram(location));
    } else if (is_allocating(pass, function)) {
        return;
    } else {
        allocation = find_allocation(pass, call, NULL);
    }
    LLVMPositionBuilderBefore(pass->builder, call);
    LLVMValueRef desc = describe(pass, &allocation, path, name, location);
    LLVMValueRef hint = hint_function(pass);
    if (!pass->options->for_cpu) {
        LLVMValueRef is_there = LLVMBuildIsNotNull(pass->builder, hint, "");
        hint = LLVMBuildSelect(pass->builder, is_there, hint, no_hint(pass), "");
    }
    LLVMBuildCall2(pass->builder, pass->hint_type, hint, &desc, 1, "");
    if (pass->options->print_notes)
        fprintf(stderr, "allocation '%s' type='%s' element=%u function='%s' line=%u\n",
                allocation.variable ? allocation.variable : "",
                allocation.type_name ? allocation.type_name : "", allocation.element_bytes, name,
                location ? LLVMDILocationGetLine(location) : 0);
    free(allocation.variable);
    free(allocation.type_name);
    pass->is_changed = true;
}

static void hint_in_function(struct hint_pass *pass, LLVMValueRef function)
{
    bool is_entered = false;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            LLVMValueRef callee = is_call(i) ? LLVMGetCalledValue(i) : NULL;
            if (!callee || !LLVMIsAFunction(callee) || !is_allocating(pass, callee)) continue;
            /* The recorder for GPUs is told nothing of arrays: the next allocation would take it.
             */
            if (!pass->options->for_cpu && allocating_kind(pass, callee) == SETS_ARRAY) continue;
            if (!is_entered) cts_namer_enter(&pass->namer, function);
            is_entered = true;
            add_hint(pass, function, i);
        }
    }
}

/* Most files allocate nothing: saves the walk over their code. */
static bool has_allocating_function(struct hint_pass *pass)
{
    size_t length;
    for (LLVMValueRef f = LLVMGetFirstFunction(pass->module); f; f = LLVMGetNextFunction(f)) {
        const char *name = LLVMGetValueName2(f, &length);
        if ((strstr(name, "cuda") || strstr(name, "cuMem")) && is_allocating(pass, f)) return true;
    }
    return false;
}

bool cts_host_hint_allocations(LLVMModuleRef module, const struct cts_plugin_options *options)
{
    LLVMContextRef context = LLVMGetModuleContext(module);
    struct hint_pass pass = {
        .module = module,
        .context = context,
        .builder = LLVMCreateBuilderInContext(context),
        .pointer = LLVMPointerTypeInContext(context, 0),
        .i32 = LLVMInt32TypeInContext(context),
        .options = options,
    };
    pass.hint_type = LLVMFunctionType(LLVMVoidTypeInContext(context), &pass.pointer, 1, 0);
    pass.namer = (struct cts_namer){
        .debug = &pass.debug, .layout = LLVMGetModuleDataLayout(module), .with_indices = true};
    if (has_allocating_function(&pass)) {
        pass.is_changed |=
            cts_host_inline_helpers(module, is_allocating_function, is_users_function, &pass);
        for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
            if (!LLVMIsDeclaration(f)) hint_in_function(&pass, f);
    }
    cts_namer_release(&pass.namer);
    cts_debug_release(&pass.debug);
    cts_pointer_map_release(&pass.is_allocating);
    LLVMDisposeBuilder(pass.builder);
    return pass.is_changed;
}
