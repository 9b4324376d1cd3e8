/* From an address in optimised code to a name in the source.
 *
 * The walk goes from the address towards its origin and stops at the first value that debug
 * information calls a variable of the user's: a local pointer, a parameter, an array. On the way it
 * adds up constant offsets, so that the variable's type tells which member is meant; where a
 * pointer was loaded from a named object, the object's member is its name:
 *
 *     %n = load ptr, (p + 8)       p: node *, next at 8        %n is "p->next"
 *     load float, (%n + 16 + 4i)   v: float[4] at 16           "p->next->v", a float
 *
 * Variable indices are not followed (an element of an array is called by the array's name), except
 * for the host's allocations, where "d_a[i]" is of use. Where several origins meet (phi, select)
 * and disagree, there is no name. The walk has a budget, so that a site costs bounded work. */
#include "record/instrument/address-names.h"

#include <stdlib.h>
#include <string.h>

enum {
    STEPS_MAX = 48,
    INCOMING_MAX = 8,
    MEETINGS_MAX = 8, /* phis that the walk is inside of */
    DESCENTS_MAX = 32,
};

struct walk {
    struct cts_namer *namer;
    LLVMMetadataRef subprogram, inlined_at; /* of the frame that asks */
    int steps_left;
    LLVMValueRef meetings[MEETINGS_MAX];
    int meeting_count;
};

/* --- Names that debug information gives to values --- */

static void note_variable(void *user, const struct cts_debug_variable *seen)
{
    struct cts_namer *namer = user;
    uint64_t *first = cts_pointer_map_insert(&namer->first_of, seen->value);
    uint32_t at = (uint32_t)*first, steps = 0;
    /* The same variable is bound to a value again after each piece of control flow. */
    for (; at; at = namer->named[at - 1].next) {
        const struct cts_debug_variable *known = &namer->named[at - 1].seen;
        if (known->variable == seen->variable && known->offset_bytes == seen->offset_bytes) return;
        if (++steps == 16) return;
    }
    namer->named = cts_plugin_grow(namer->named, namer->named_count, &namer->named_capacity,
                                   sizeof *namer->named);
    namer->named[namer->named_count++] =
        (struct cts_named_value){.seen = *seen, .next = (uint32_t)*first};
    *first = namer->named_count;
}

void cts_namer_enter(struct cts_namer *namer, LLVMValueRef function)
{
    namer->named_count = 0;
    cts_pointer_map_release(&namer->first_of);
    cts_each_debug_variable(function, note_variable, namer);
}

void cts_namer_release(struct cts_namer *namer)
{
    free(namer->named);
    namer->named = NULL;
    namer->named_count = namer->named_capacity = 0;
    cts_pointer_map_release(&namer->first_of);
}

/* How well a variable suits the frame that asks: 0 not at all, since it belongs to a header's
 * function that was inlined. */
static int rank_of(const struct walk *walk, const struct cts_debug_variable *seen)
{
    LLVMMetadataRef position = seen->position;
    if (!position) return 1;
    if (cts_location_subprogram(position) == walk->subprogram)
        return LLVMDILocationGetInlinedAt(position) == walk->inlined_at ? 3 : 2;
    uint32_t source =
        cts_debug_source(walk->namer->debug, LLVMDIScopeGetFile(LLVMDILocationGetScope(position)));
    return source != CTS_NO_SOURCE && walk->namer->debug->sources[source].is_users;
}

static void set_name(struct cts_memory_object *place, const char *name, size_t length)
{
    snprintf(place->name, sizeof place->name, "%.*s", (int)length, name);
}

static void append(struct cts_memory_object *place, const char *separator, const char *name,
                   size_t length)
{
    size_t used = strlen(place->name);
    snprintf(place->name + used, sizeof place->name - used, "%s%.*s", separator, (int)length, name);
}

static bool cts_place_follow(const struct cts_namer *namer, struct cts_memory_object *place);

static bool take_variable(const struct cts_namer *namer, const struct cts_debug_variable *seen,
                          struct cts_memory_object *place)
{
    size_t length;
    const char *name = cts_debug_text(seen->variable, CTS_OPERAND_VARIABLE_NAME, &length);
    if (!name) return false;
    *place = (struct cts_memory_object){
        .type = cts_metadata_operand(seen->variable, CTS_OPERAND_VARIABLE_TYPE),
        .offset = seen->offset_bytes,
    };
    set_name(place, name, length);
    return seen->is_address || cts_place_follow(namer, place);
}

static bool find_variable(const struct walk *walk, LLVMValueRef value,
                          struct cts_memory_object *place)
{
    const struct cts_namer *namer = walk->namer;
    const uint64_t *first = cts_pointer_map_find(&namer->first_of, value);
    int best = 0;
    for (uint32_t at = first ? (uint32_t)*first : 0; at; at = namer->named[at - 1].next) {
        const struct cts_debug_variable *seen = &namer->named[at - 1].seen;
        int rank = rank_of(walk, seen);
        struct cts_memory_object candidate;
        /* The list runs backwards; of equals the first in the program wins. */
        if (rank && rank >= best && take_variable(namer, seen, &candidate)) {
            *place = candidate;
            best = rank;
        }
    }
    return best > 0;
}

/* --- Globals --- */

LLVMMetadataRef cts_global_variable_info(LLVMValueRef global)
{
    size_t count;
    LLVMMetadataRef info = NULL;
    LLVMValueMetadataEntry *entries = LLVMGlobalCopyAllMetadata(global, &count);
    for (size_t i = 0; i < count && !info; i++) {
        LLVMMetadataRef node = LLVMValueMetadataEntriesGetMetadata(entries, (unsigned)i);
        if (LLVMGetMetadataKind(node) == LLVMDIGlobalVariableExpressionMetadataKind)
            info = LLVMDIGlobalVariableExpressionGetVariable(node);
    }
    LLVMDisposeValueMetadataEntries(entries);
    return info;
}

char *cts_global_name(LLVMValueRef global)
{
    size_t length;
    LLVMMetadataRef info = cts_global_variable_info(global);
    const char *name = info ? cts_debug_text(info, CTS_OPERAND_VARIABLE_NAME, &length) : NULL;
    if (name) return cts_plugin_text("%.*s", (int)length, name);
    /* Of "k(float*)::tile" the part that the source says. */
    char *full = cts_demangle(cts_source_symbol(global));
    const char *last = strrchr(full, ':');
    char *text = cts_plugin_text("%s", last ? last + 1 : full);
    free(full);
    return text;
}

static bool find_global(LLVMValueRef global, struct cts_memory_object *place)
{
    LLVMMetadataRef info = cts_global_variable_info(global);
    if (!info && LLVMGetLinkage(global) == LLVMPrivateLinkage) return false; /* the compiler's */
    char *name = cts_global_name(global);
    *place = (struct cts_memory_object){
        .type = info ? cts_metadata_operand(info, CTS_OPERAND_VARIABLE_TYPE) : NULL};
    set_name(place, name, strlen(name));
    free(name);
    return true;
}

/* --- The walk --- */

static bool find_place(struct walk *walk, LLVMValueRef value, struct cts_memory_object *place);
static bool append_index(const struct cts_namer *namer, struct cts_memory_object *place,
                         int64_t index, bool always);
static void descend(const struct cts_namer *namer, struct cts_memory_object *place,
                    uint64_t width_bytes, bool to_pointer);

static LLVMOpcode opcode_of(LLVMValueRef value)
{
    if (LLVMIsAInstruction(value)) return LLVMGetInstructionOpcode(value);
    if (LLVMIsAConstantExpr(value)) return LLVMGetConstOpcode(value);
    return 0;
}

/* The source's name of an index: the variable that it is, or was loaded from. */
static void name_index(struct walk *walk, LLVMValueRef index, struct cts_memory_object *place)
{
    struct cts_namer *namer = walk->namer;
    for (int i = 0; i < 4; i++) {
        const uint64_t *first = cts_pointer_map_find(&namer->first_of, index);
        if (first && *first) {
            size_t length;
            const struct cts_debug_variable *seen = &namer->named[*first - 1].seen;
            const char *name = cts_debug_text(seen->variable, CTS_OPERAND_VARIABLE_NAME, &length);
            snprintf(place->index, sizeof place->index, "%.*s", (int)length, name ? name : "");
            return;
        }
        LLVMOpcode opcode = opcode_of(index);
        if (opcode != LLVMSExt && opcode != LLVMZExt && opcode != LLVMLoad && opcode != LLVMTrunc)
            break;
        index = LLVMGetOperand(index, 0);
    }
    snprintf(place->index, sizeof place->index, "...");
}

/* Adds up the constant part of an address computation. */
static void add_offsets(struct walk *walk, LLVMValueRef gep, struct cts_memory_object *place)
{
    LLVMTargetDataRef layout = walk->namer->layout;
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    int count = LLVMGetNumOperands(gep);
    for (int i = 1; i < count; i++) {
        LLVMValueRef index = LLVMGetOperand(gep, (unsigned)i);
        bool is_constant = LLVMIsAConstantInt(index) != NULL;
        int64_t number = is_constant ? LLVMConstIntGetSExtValue(index) : 0;
        uint64_t stride = 0;
        if (i == 1) {
            stride = LLVMABISizeOfType(layout, type);
        } else if (LLVMGetTypeKind(type) == LLVMStructTypeKind) {
            if (!is_constant) return;
            place->offset += (int64_t)LLVMOffsetOfElement(layout, type, (unsigned)number);
            type = LLVMStructGetTypeAtIndex(type, (unsigned)number);
            continue;
        } else {
            type = LLVMGetElementType(type);
            stride = LLVMABISizeOfType(layout, type);
        }
        if (is_constant)
            place->offset = (int64_t)((uint64_t)place->offset + (uint64_t)number * stride);
        else if (walk->namer->with_indices)
            name_index(walk, index, place);
    }
}

/* One of the origins that meet in a phi or select; false when it contradicts the others. */
static bool find_incoming(struct walk *walk, LLVMValueRef value, struct cts_memory_object *place)
{
    struct cts_memory_object other;
    if (!find_place(walk, value, &other)) return false;
    if (!other.name[0]) return true; /* around the loop that is being looked at */
    if (place->name[0]) return !strcmp(place->name, other.name) && place->type == other.type;
    *place = other;
    return true;
}

static bool find_meeting(struct walk *walk, LLVMValueRef value, struct cts_memory_object *place)
{
    bool is_phi = LLVMIsAPHINode(value) != NULL, agree = true;
    unsigned count = is_phi ? LLVMCountIncoming(value) : 2;
    if (walk->meeting_count == MEETINGS_MAX || count > INCOMING_MAX) return false;
    walk->meetings[walk->meeting_count++] = value;
    for (unsigned i = 0; i < count && agree; i++)
        agree = find_incoming(
            walk, is_phi ? LLVMGetIncomingValue(value, i) : LLVMGetOperand(value, i + 1), place);
    walk->meeting_count--;
    return agree && place->name[0];
}

static bool is_inside_meeting(const struct walk *walk, LLVMValueRef value)
{
    for (int i = 0; i < walk->meeting_count; i++)
        if (walk->meetings[i] == value) return true;
    return false;
}

/* What a stack slot without a name of its own holds, if it is stored to only once: a parameter of
 * a header's function that was inlined into code that is not optimised. NULL when it is not. */
static LLVMValueRef only_value_in(LLVMValueRef slot)
{
    LLVMValueRef value = NULL;
    int looks_left = 16;
    if (!LLVMIsAAllocaInst(slot)) return NULL;
    for (LLVMUseRef use = LLVMGetFirstUse(slot); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (!looks_left--) return NULL;
        if (!LLVMIsAStoreInst(user)) continue;
        if (value || LLVMGetOperand(user, 0) == slot) return NULL;
        value = LLVMGetOperand(user, 0);
    }
    return value;
}

/* A texel's or surface element's address, which our headers ask the device library for: called by
 * the name of the texture, the first argument. */
static bool find_texel(struct walk *walk, LLVMValueRef call, struct cts_memory_object *place)
{
    size_t length;
    LLVMValueRef callee = LLVMGetCalledValue(call);
    const char *name = LLVMIsAFunction(callee) ? LLVMGetValueName2(callee, &length) : "";
    if (strncmp(name, "__cts_texel", 11) != 0 && strncmp(name, "__cts_surface", 13) != 0)
        return false;
    LLVMValueRef handle = LLVMGetOperand(call, 0);
    const struct cts_namer *namer = walk->namer;
    const uint64_t *first = cts_pointer_map_find(&namer->first_of, handle);
    for (uint32_t at = first ? (uint32_t)*first : 0; at; at = namer->named[at - 1].next) {
        const struct cts_debug_variable *seen = &namer->named[at - 1].seen;
        const char *text = cts_debug_text(seen->variable, CTS_OPERAND_VARIABLE_NAME, &length);
        if (text && rank_of(walk, seen)) set_name(place, text, length);
    }
    if (place->name[0]) return true;
    /* A texture reference: its handle is loaded, or asked of llvm.nvvm.texsurf.handle. */
    if ((opcode_of(handle) != LLVMLoad && opcode_of(handle) != LLVMCall) ||
        !find_place(walk, LLVMGetOperand(handle, 0), place))
        return false;
    if (!LLVMIsAGlobalVariable(LLVMGetOperand(handle, 0))) descend(namer, place, 0, true);
    place->type = NULL;
    return true;
}

/* On the host, where nothing is inlined yet: what a container's operator[] or at() returns is its
 * element, of the type that the function says it returns a reference to. */
static bool find_element(struct walk *walk, LLVMValueRef call, struct cts_memory_object *place)
{
    enum { OPERAND_TYPE = 4, OPERAND_TYPES = 3 };
    LLVMValueRef callee = LLVMGetCalledValue(call);
    LLVMMetadataRef info = LLVMIsAFunction(callee) ? LLVMGetSubprogram(callee) : NULL;
    size_t length = 0;
    const char *name = info ? cts_debug_text(info, CTS_OPERAND_NAME, &length) : NULL;
    bool is_element = name && ((length == 10 && !memcmp(name, "operator[]", 10)) ||
                               (length == 2 && !memcmp(name, "at", 2)));
    if (!is_element || LLVMGetNumArgOperands(call) != 2 ||
        !find_place(walk, LLVMGetOperand(call, 0), place))
        return false;
    LLVMMetadataRef signature = cts_metadata_operand(info, OPERAND_TYPE);
    LLVMMetadataRef types = cts_metadata_operand(signature, OPERAND_TYPES);
    LLVMMetadataRef result = cts_type_plain(cts_metadata_operand(types, 0));
    LLVMValueRef index = LLVMGetOperand(call, 1);
    if (LLVMIsAConstantInt(index))
        snprintf(place->index, sizeof place->index, "%lld", LLVMConstIntGetSExtValue(index));
    else
        name_index(walk, index, place);
    append_index(walk->namer, place, 0, true);
    place->type = cts_type_is_pointer(result) ? cts_type_base(result) : NULL;
    place->offset = 0;
    place->is_pointee = false;
    return true;
}

static bool find_loaded(struct walk *walk, LLVMValueRef address, struct cts_memory_object *place)
{
    if (find_place(walk, address, place))
        return !place->name[0] || cts_place_follow(walk->namer, place);
    LLVMValueRef value = only_value_in(address);
    return value && LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind &&
           find_place(walk, value, place);
}

/* A pointer that went through an integer: inline PTX takes addresses so. */
static bool find_integer(struct walk *walk, LLVMValueRef integer, struct cts_memory_object *place)
{
    uint64_t offset = 0;
    for (int i = 0; i < 4; i++) {
        LLVMOpcode opcode = opcode_of(integer);
        if (opcode == LLVMPtrToInt) {
            if (!find_place(walk, LLVMGetOperand(integer, 0), place)) return false;
            place->offset = (int64_t)((uint64_t)place->offset + offset);
            return true;
        }
        if (opcode != LLVMAdd && opcode != LLVMZExt && opcode != LLVMTrunc) return false;
        LLVMValueRef added = opcode == LLVMAdd ? LLVMGetOperand(integer, 1) : NULL;
        if (added && LLVMIsAConstantInt(added)) offset += (uint64_t)LLVMConstIntGetSExtValue(added);
        integer = LLVMGetOperand(integer, 0);
    }
    return false;
}

static bool find_place(struct walk *walk, LLVMValueRef value, struct cts_memory_object *place)
{
    *place = (struct cts_memory_object){0};
    if (--walk->steps_left < 0) return false;
    if (is_inside_meeting(walk, value)) return true; /* nameless: agrees with anything */
    if (find_variable(walk, value, place)) return true;
    if (LLVMIsAGlobalVariable(value)) return find_global(value, place);
    switch (opcode_of(value)) {
    case LLVMGetElementPtr:
        if (!find_place(walk, LLVMGetOperand(value, 0), place)) return false;
        add_offsets(walk, value, place);
        return true;
    case LLVMAddrSpaceCast:
    case LLVMBitCast:
    case LLVMFreeze:
        return find_place(walk, LLVMGetOperand(value, 0), place);
    case LLVMLoad:
        return find_loaded(walk, LLVMGetOperand(value, 0), place);
    case LLVMIntToPtr:
        return find_integer(walk, LLVMGetOperand(value, 0), place);
    case LLVMPHI:
    case LLVMSelect:
        return find_meeting(walk, value, place);
    case LLVMCall:
    case LLVMInvoke:
        return find_texel(walk, value, place) ||
               (walk->namer->with_indices && find_element(walk, value, place));
    default:
        return false;
    }
}

bool cts_namer_find(struct cts_namer *namer, LLVMValueRef address, LLVMMetadataRef frame,
                    struct cts_memory_object *place)
{
    struct walk walk = {.namer = namer, .steps_left = STEPS_MAX};
    if (frame) {
        walk.subprogram = cts_location_subprogram(frame);
        walk.inlined_at = LLVMDILocationGetInlinedAt(frame);
    }
    return find_place(&walk, address, place) && place->name[0];
}

/* --- Members and elements --- */

/* Takes whole objects of `size` bytes off the offset; returns how many. */
static int64_t take_whole(struct cts_memory_object *place, uint64_t size)
{
    if (!size || size > INT64_MAX) return 0;
    int64_t rest = place->offset % (int64_t)size;
    if (rest < 0) rest += (int64_t)size;
    int64_t count = (place->offset - rest) / (int64_t)size;
    place->offset = rest;
    return count;
}

/* Returns whether the place is an element now rather than what a pointer points to. */
static bool append_index(const struct cts_namer *namer, struct cts_memory_object *place,
                         int64_t index, bool always)
{
    char text[48];
    if (!namer->with_indices || (!always && !index && !place->index[0])) return false;
    if (place->index[0])
        snprintf(text, sizeof text, "[%s]", place->index);
    else
        snprintf(text, sizeof text, "[%lld]", (long long)index);
    place->index[0] = 0;
    append(place, "", text, strlen(text));
    return true;
}

static bool is_nameless(LLVMMetadataRef record)
{
    size_t length;
    const char *name = cts_debug_text(record, CTS_OPERAND_NAME, &length);
    return !name || (length >= 7 && !memcmp(name, "(lambda", 7));
}

/* Into the member at the offset; false when there is none that holds all of the access. */
static bool enter_member(struct cts_memory_object *place, LLVMMetadataRef record,
                         uint64_t width_bytes)
{
    LLVMMetadataRef member = cts_type_member_at(record, (uint64_t)place->offset);
    size_t length;
    if (!member || cts_type_bytes(cts_type_plain(member)) < width_bytes) return false;
    const char *name = cts_type_tag(member) == CTS_TAG_MEMBER
                           ? cts_debug_text(member, CTS_OPERAND_NAME, &length)
                           : NULL;
    if (name && !strcmp(place->name, "this") && is_nameless(record))
        set_name(place, name, length); /* a lambda's captured variable */
    else if (name)
        append(place, place->is_pointee ? "->" : ".", name, length);
    place->offset -= (int64_t)(LLVMDITypeGetOffsetInBits(member) / 8);
    place->type = cts_type_base(member);
    if (name) place->is_pointee = false;
    return true;
}

static void descend(const struct cts_namer *namer, struct cts_memory_object *place,
                    uint64_t width_bytes, bool to_pointer)
{
    for (int i = 0; i < DESCENTS_MAX; i++) {
        LLVMMetadataRef type = cts_type_plain(place->type);
        uint64_t size = cts_type_bytes(type);
        if (place->is_pointee) {
            int64_t index = take_whole(place, size);
            if (cts_type_tag(type) != CTS_TAG_ARRAY && append_index(namer, place, index, false))
                place->is_pointee = false;
        }
        if (cts_type_tag(type) == CTS_TAG_ARRAY) {
            uint64_t size_of_element = cts_type_bytes(cts_type_plain(cts_type_base(type)));
            append_index(namer, place, take_whole(place, size_of_element), true);
            place->type = cts_type_base(type);
            place->is_pointee = false;
            continue;
        }
        if (!cts_type_is_record(type) || place->offset < 0) return;
        if (!to_pointer && place->offset == 0 && size <= width_bytes) return;
        if (!enter_member(place, type, to_pointer ? 0 : width_bytes)) return;
    }
}

void cts_place_descend(const struct cts_namer *namer, struct cts_memory_object *place,
                       uint64_t width_bytes)
{
    descend(namer, place, width_bytes, false);
}

bool cts_place_to_pointer(const struct cts_namer *namer, struct cts_memory_object *place)
{
    descend(namer, place, 0, true);
    place->type = cts_type_plain(place->type);
    return cts_type_is_pointer(place->type);
}

/* From a pointer object to what it points to; false when the object is no pointer. */
static bool cts_place_follow(const struct cts_namer *namer, struct cts_memory_object *place)
{
    if (!cts_place_to_pointer(namer, place)) return false;
    bool is_reference = cts_type_tag(place->type) != CTS_TAG_POINTER;
    place->type = cts_type_base(place->type);
    place->offset = 0;
    place->is_pointee = !is_reference;
    return true;
}
